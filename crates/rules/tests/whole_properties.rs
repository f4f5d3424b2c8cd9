//! Properties of the matcher on constants, regions, named dims and lists: its matches are those of an exhaustive reference.

use crate::whole;
use std::collections::BTreeSet;
use std::sync::Arc;

use crate::whole::Way;
use sapwood_ptir::testing::Rng;
use sapwood_ptir::{Function, InstId, ParseOptions, Program, Registry, parse, parse_with, verify};
use sapwood_rules::{
    ExtractOptions, FindOptions, IllegalMatch, PatternGraph, Rule, Vocabulary, extract,
    find_matches, legality, patterns_from, rules_from,
};
use sapwood_types::Source;

const TYPE: &str = "f64[?n]";

// Random lines over a few ops, constants with and without broadcasts, and branches.
fn lines(rng: &mut Rng, count: usize, ty: &str, values: &mut Vec<String>) -> String {
    let mut body = String::new();
    for n in 0..count {
        let pick =
            |rng: &mut Rng| values[values.len() - 1 - rng.below(values.len().min(4))].clone();
        let (a, b, new) = (pick(rng), pick(rng), format!("%v{n}"));
        let constant = ["1.0", "2.0"][rng.below(2)];
        body += &match rng.below(10) {
            0..3 => format!("  {new} = add {a}, {b} : {ty}\n"),
            3 | 4 => format!("  {new} = sub {a}, {b} : {ty}\n"),
            5 => format!("  {new} = exp {a} : {ty}\n"),
            6 | 7 => format!(
                "  %c{n} = constant {constant} : f64[]\n  {new} = broadcast_to %c{n} : {ty}\n"
            ),
            8 => format!(
                "  {new} = cond %p () {{\n    %i{n} = sub {a}, {b} : {ty}\n    yield %i{n}\n  }} () {{\n    yield {a}\n  }} : {ty}\n"
            ),
            _ => format!(
                "  {new} = cond %p () {{\n    yield {a}\n  }} () {{\n    %i{n} = exp {a} : {ty}\n    %j{n} = sub %i{n}, {b} : {ty}\n    yield %j{n}\n  }} : {ty}\n"
            ),
        };
        values.push(new);
    }
    body
}

// Returns a body; a closed one computes from a constant, so that no input determines its dims.
fn function(rng: &mut Rng, name: &str, count: usize, ty: &str, closed: bool) -> String {
    let values = if closed { &["%k"][..] } else { &["%x", "%k", "%y"] };
    let mut values: Vec<String> = values.iter().map(ToString::to_string).collect();
    let body = lines(rng, count, ty, &mut values);
    let last = values.last().unwrap();
    format!(
        "func @{name}(%p: bool[], %x: {ty}, %y: {ty}) -> {ty} {{\n  %c = constant 1.0 : f64[]\n  %k = broadcast_to %c : {ty}\n{body}  return {last}\n}}\n"
    )
}

// Returns a function whose parameters are all used, as a pattern and as a function.
fn pattern(text: &str) -> Option<(PatternGraph, Arc<Function>)> {
    // A pattern has no unused parameters.
    let (head, body) = text.split_once(") ->")?;
    let (name, params) = head.split_once('(')?;
    let used = |p: &&str| {
        let word = p.split(':').next().unwrap_or_default().trim();
        body.split(|c: char| !(c.is_alphanumeric() || c == '%' || c == '_')).any(|w| w == word)
    };
    let params: Vec<&str> = params.split(", ").filter(used).collect();
    let text = format!("ptir 1\n{name}({}) ->{body}", params.join(", "));
    let graph = patterns_from(&Source::new("p.ptir", &*text), &Registry::builtin()).ok()?.pop()?;
    let options = ParseOptions::new().verify(false).open_attributes(true);
    Some((graph, parse_with(&text, &options).ok()?.functions()[0].clone()))
}

#[test]
fn constants_regions_and_named_dims_are_found_as_the_reference_finds_them() {
    let (mut cases, mut matches, mut unknown, mut typed_apart) = (0, 0, 0, 0);
    for seed in 0..u64::from(sapwood_testing::cases(12_000, 60_000)) {
        let mut rng = Rng::new(seed ^ 0x3c);
        let count = 3 + rng.below(6);
        let text = format!("ptir 1\n{}", function(&mut rng, "main", count, TYPE, false));
        let program = parse(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
        let count = 1 + rng.below(4);
        let ty = [TYPE, "f64[?m]", "f64[4]"][rng.below(3)];
        let closed = rng.below(3) == 0;
        let text_of = function(&mut rng, "p", count, ty, closed);
        let Some((graph, function)) = pattern(&text_of) else { continue };
        let options = FindOptions { typed: rng.below(3) == 0, ..FindOptions::default() };
        let patterns = [graph];
        let found = find_matches(&program, &patterns, &options);
        let main = &program.functions()[0];
        let expected = whole::Whole(main, &function, options.typed).sets();
        typed_apart += usize::from(options.typed && ty == "f64[4]");
        // A symbol that no input determines is passed on: a parameter of the function has it.
        let fits = |w: &Way| w.closed;
        let mut got: BTreeSet<Vec<InstId>> = BTreeSet::new();
        for m in &found.matches {
            let mut set = m.ops.clone();
            set.sort();
            let ways = expected.get(&set).unwrap_or_else(|| panic!("seed {seed}\n{text}"));
            match legality(&program, &patterns, m) {
                Ok(()) => {
                    assert!(ways.iter().any(fits), "seed {seed}\n{text}");
                    let needs_none = |w: &Way| fits(w) && w.unknown.is_empty();
                    unknown += usize::from(!ways.iter().any(needs_none));
                }
                Err(IllegalMatch::Dim { .. }) => panic!("seed {seed}\n{text}"),
                Err(IllegalMatch::Used { .. } | IllegalMatch::Input { .. }) => {
                    assert!(!ways.iter().any(fits), "seed {seed}\n{text}");
                }
                Err(_) => {}
            }
            assert!(got.insert(set), "one match per set of ops; seed {seed}");
            matches += 1;
        }
        let wanted: BTreeSet<Vec<InstId>> = expected.into_keys().collect();
        assert_eq!(got, wanted, "seed {seed}, typed {}\n{text}\n{function:?}", options.typed);
        let mut after = program.clone();
        let extracted = ExtractOptions { find: options, ..ExtractOptions::default() };
        extract(&mut after, &patterns, &extracted).unwrap();
        verify(&after).unwrap_or_else(|e| panic!("seed {seed}: {e}\n{after}"));
        cases += 1;
    }
    assert!(
        cases > 1000 && matches > 1000 && unknown > 10 && typed_apart > 50,
        "{cases} {matches} {unknown} {typed_apart}"
    );
}

fn rule(text: &str) -> Vec<PatternGraph> {
    let source = Source::new("r.rules", text);
    let rules = rules_from(&source, &Registry::builtin(), &Vocabulary::builtin()).unwrap();
    rules.into_iter().map(Rule::into_pattern).collect()
}

// Random chains of `concat` with any number of operands.
fn concats(rng: &mut Rng) -> Program {
    let mut body = String::new();
    let mut values: Vec<(String, usize)> = (0..3).map(|n| (format!("%p{n}"), 1)).collect();
    for n in 0..2 + rng.below(6) {
        let parts: Vec<(String, usize)> = (0..1 + rng.below(4))
            .map(|_| values[values.len() - 1 - rng.below(values.len().min(4))].clone())
            .collect();
        let size: usize = parts.iter().map(|(_, size)| size).sum();
        let names: Vec<&str> = parts.iter().map(|(name, _)| &**name).collect();
        body += &format!("  %v{n} = concat {} {{axis = 0}} : f64[{size}]\n", names.join(", "));
        values.push((format!("%v{n}"), size));
    }
    let (last, size) = values.last().unwrap();
    let text = format!(
        "ptir 1\nfunc @main(%p0: f64[1], %p1: f64[1], %p2: f64[1]) -> f64[{size}] {{\n{body}  return {last}\n}}\n"
    );
    parse(&text).unwrap_or_else(|e| panic!("{e}\n{text}"))
}

#[test]
fn lists_are_found_and_extraction_of_them_can_be_undone() {
    let patterns = rule(
        "pattern all: concat(xs.., axis = 0)
         pattern behind: concat(x, concat(y, ys..), xs.., axis = 0)
         pattern again: concat(concat(xs..), concat(xs..), axis = 0)",
    );
    let (mut total, mut calls) = (0, 0);
    for seed in 0..u64::from(sapwood_testing::cases(600, 20_000)) {
        let mut rng = Rng::new(seed ^ 0x715);
        let program = concats(&mut rng);
        let f = &program.functions()[0];
        let found = find_matches(&program, &patterns, &FindOptions::default());
        let concat = |v: &sapwood_ptir::ValueId| f.inst_of(*v);
        let insts: Vec<InstId> = f.walk().filter(|&i| f.op_name(i) == "concat").collect();
        let mut expected: BTreeSet<(usize, Vec<InstId>)> = BTreeSet::new();
        for &i in &insts {
            let operands = f.operands(i);
            expected.insert((0, vec![i]));
            if let Some(inner) = operands.get(1).and_then(concat) {
                expected.insert((1, vec![inner, i]));
            }
            if let [a, b] = operands
                && let (Some(a), Some(b)) = (concat(a), concat(b))
                && a != b
                && f.operands(a) == f.operands(b)
            {
                expected.insert((2, vec![a, b, i]));
            }
        }
        let got: BTreeSet<(usize, Vec<InstId>)> =
            found.matches.iter().map(|m| (m.pattern, m.ops.clone())).collect();
        assert_eq!(got, expected, "seed {seed}\n{program}");
        total += got.len();
        let mut after = program.clone();
        let report = extract(&mut after, &patterns[..1], &ExtractOptions::default()).unwrap();
        assert_eq!(report.calls.len(), insts.len(), "seed {seed}\n{program}");
        calls += report.calls.len();
        verify(&after).unwrap_or_else(|e| panic!("seed {seed}: {e}\n{after}"));
        let mut flat = after.clone();
        sapwood_rewrite::inline_calls(&mut flat, |_, _| true).unwrap();
        let (old, new) = (&program.functions()[0], flat.function("main").unwrap());
        let same = sapwood_ptir::structural::equal_bodies(
            (old, old.body()),
            (new, new.body()),
            sapwood_ptir::structural::Mode::DataFlow,
        );
        assert!(same, "seed {seed}\n{program}\n{flat}");
    }
    assert!(total > 1500 && calls > 1000, "{total} {calls}");
}
