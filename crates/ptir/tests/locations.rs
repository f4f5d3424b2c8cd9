//! Locations of instructions through text, JSON and edits.

use sapwood_ptir::structural::{self, Mode};
use sapwood_ptir::testing::{RandomProgramConfig, random_program};
use sapwood_ptir::{
    Function, InstId, ParseOptions, PrintOptions, Program, from_json, parse, parse_with,
    print_with, to_json,
};
use sapwood_testing::cases;
use sapwood_types::{Loc, LocKind, Rng, Span};

fn random_loc(rng: &mut Rng, known: &mut Vec<Loc>) -> Loc {
    let pick = |rng: &mut Rng, known: &[Loc]| rng.pick(known).unwrap_or_default();
    let names = ["jit(f)/add", "a \"b\" \\", "layer_3", "", "größe\n", "#loc1", "// x"];
    let name = rng.pick(&names).unwrap_or_default();
    let loc = match rng.below(6) {
        0 => Loc::UNKNOWN,
        1 => {
            let range = [1, 2, 1 + rng.below(2) as u32, 2 + rng.below(2) as u32];
            Loc::new(LocKind::File { file: "model.py".into(), range })
        }
        2 => Loc::new(LocKind::Name { name, child: pick(rng, known) }),
        3 => {
            let (callee, caller) = (pick(rng, known), pick(rng, known));
            Loc::new(LocKind::CallSite { callee, caller })
        }
        4 => {
            let locs = [pick(rng, known), pick(rng, known)];
            Loc::new(LocKind::Fused { metadata: "\"x > y\"", locs: &locs })
        }
        _ => pick(rng, known),
    };
    known.push(loc);
    loc
}

fn locs(program: &Program) -> Vec<Loc> {
    let of = |f: &Function| {
        let insts: Vec<InstId> = f.walk().collect();
        let spans = insts.into_iter().map(|inst| f.inst_span(inst)).chain([f.span()]);
        spans.map(Span::loc).collect::<Vec<_>>()
    };
    program.functions().iter().flat_map(|f| of(f)).collect()
}

#[test]
fn text_and_json_keep_locations() {
    let mut known = Vec::new();
    for seed in 0..u64::from(cases(300, 20_000)) {
        let plain = random_program(seed, &RandomProgramConfig::default());
        let mut program = plain.clone();
        let mut rng = Rng::new(seed);
        let names: Vec<_> = program.functions().iter().map(|f| f.name()).collect();
        for name in names {
            let Some(f) = program.function_mut(name) else { continue };
            for inst in f.walk().collect::<Vec<_>>() {
                f.set_inst_span(inst, Span::unknown().with_loc(random_loc(&mut rng, &mut known)));
            }
            f.set_span(Span::unknown().with_loc(random_loc(&mut rng, &mut known)));
        }
        let expected = locs(&program);
        let text = program.to_string();
        let read = parse(&text).unwrap_or_else(|e| panic!("seed {seed}: {e}\n{text}"));
        assert_eq!(locs(&read), expected, "seed {seed}\n{text}");
        assert_eq!(read.to_string(), text, "seed {seed}");
        let json = to_json(&program);
        let read = from_json(&json).unwrap_or_else(|e| panic!("seed {seed}: {e}\n{json}"));
        assert_eq!(locs(&read), expected, "seed {seed}\n{json}");
        assert_eq!(to_json(&read), json, "seed {seed}");
        for mode in [Mode::Ordered, Mode::DataFlow] {
            assert!(structural::equal(&program, &plain, mode), "seed {seed}");
            assert_eq!(structural::hash(&program, mode), structural::hash(&plain, mode));
        }
        let without = print_with(&program, &PrintOptions::new().locs(false));
        assert_eq!(without, plain.to_string(), "seed {seed}");
    }
}

#[test]
fn a_rollback_restores_locations() {
    let text = "ptir 1 func @f(%x: f32[]) -> f32[] { %y = neg %x : f32[] loc(\"a\") return %y }";
    let mut program = parse(text).unwrap();
    let f = program.function_mut("f").unwrap();
    let inst = f.walk().next().unwrap();
    f.open_journal();
    f.set_inst_span(inst, Span::unknown());
    assert!(!f.has_locs());
    f.rollback_journal();
    assert_eq!(f.inst_span(inst).loc().scope().as_deref(), Some("a"));
}

#[test]
fn errors_are_at_their_place() {
    let body = |loc: &str, end: &str| {
        format!("ptir 1\nfunc @f(%x: f32[]) -> f32[] {{\n  return %x {loc}\n}}\n{end}")
    };
    let cases = [
        (body("loc(nowhere)", ""), "a.ptir:3:17: error: expected a location"),
        (body("loc(\"a\"", ""), "error: expected `)` after a location"),
        (body("loc(#x)", ""), "a.ptir:3:17: error: the location `#x` is not defined"),
        (
            body("loc(#x)", "#x = loc(#x)\n"),
            "a.ptir:5:10: error: the location `#x` contains itself",
        ),
        (body("loc(\n\"a\")", ""), "a.ptir:3:16: error: a location is on one line"),
        (body("", "#x = nothing\n"), "a.ptir:5:6: error: expected `loc(…)`"),
        (body("", "#x loc(\"a\")\n"), "a.ptir:5:4: error: expected `=`"),
        (body("", "#x = loc(\"a\":1)\n"), "a.ptir:5:15: error: expected `:` and a column"),
        (
            body("loc(#x)", "#x = loc(\"a\")\n  #x = loc(\"b\")\n"),
            "a.ptir:6:3: error: the location `#x` is defined twice",
        ),
        (
            body("loc(#x)", "#x = loc(fused<\"a\\\n\">[\"b\"])\n"),
            "a.ptir:5:16: error: a string is not closed",
        ),
    ];
    assert!(parse(&body("loc(#x)", "\t #x = loc(\"a\")\n")).is_ok());
    for (text, message) in cases {
        let problems = parse_with(&text, ParseOptions::new().file("a.ptir")).unwrap_err();
        assert!(problems.to_string().contains(message), "{text}\n{problems}");
    }
    let json = to_json(&parse(&body("loc(\"a\")", "")).unwrap());
    for (from, to, message) in [
        ("\\\"a\\\"", "a", "locs[0]: expected a location"),
        ("\\\"a\\\"", "\\\"a\\\") x", "locs[0]: expected one location"),
        ("\\\"a\\\"", "#loc0", "locs[0]: the location `#loc0` is not defined"),
        ("\"loc\":0", "\"loc\":7", "location 7 is out of range, there are 1"),
    ] {
        assert!(json.contains(from), "{json}");
        let problems = from_json(&json.replace(from, to)).unwrap_err();
        assert!(problems.to_string().contains(message), "{problems}");
    }
}
