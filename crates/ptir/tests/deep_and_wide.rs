//! Deep and wide programs: a million levels, a million operands, on a small stack.

use sapwood_ptir::structural::{self, Mode};
use sapwood_ptir::{
    Function, ParseOptions, Program, from_json, parse, parse_with, to_json, verify,
};
use sapwood_testing::{cases, on_small_stack};

const N: usize = 1_000_000;

fn round_trip(text: &str) -> Program {
    let program = parse(text).unwrap_or_else(|p| panic!("{}", p.iter().next().unwrap()));
    let printed = program.to_string();
    assert!(printed == text, "printed otherwise: {} and {} bytes", printed.len(), text.len());
    verify(&program).unwrap();
    program
}

fn nested(levels: usize) -> String {
    let mut text = String::from("ptir 1\n\nfunc @f(%p: bool[], %x: f32[]) -> f32[] {\n");
    let pad = |level: usize| "  ".repeat((level + 1).min(32));
    for level in 0..levels {
        text += &format!("{}%{level} = cond %p () {{\n", pad(level));
    }
    text += &format!("{}yield %x\n", pad(levels));
    for level in (0..levels).rev() {
        text += &format!("{0}}} () {{\n{1}yield %x\n{0}}} : f32[]\n", pad(level), pad(level + 1));
        if level > 0 {
            text += &format!("{}yield %{level}\n", pad(level));
        }
    }
    text + "  return %0\n}\n"
}

#[test]
fn a_million_levels_of_regions() {
    on_small_stack(|| {
        let program = round_trip(&nested(N));
        let f: &Function = &program.functions()[0];
        f.check_indices().unwrap();
        let copy = program.clone();
        for mode in [Mode::Ordered, Mode::DataFlow] {
            assert!(structural::equal(&program, &parse(&program.to_string()).unwrap(), mode));
            let _ = structural::hash(&copy, mode);
        }
        let json = to_json(&program);
        assert!(to_json(&from_json(&json).unwrap()) == json);
        // Erasing the outermost instruction erases all others.
        let mut f = f.clone();
        let first = f.first_inst(f.body()).unwrap();
        let (value, x) = (f.value_of(first).unwrap(), f.params()[1]);
        f.replace_all_uses(value, x).unwrap();
        f.erase(first).unwrap();
        assert_eq!(f.num_insts(), 1);
    });
}

#[test]
fn a_million_instructions_in_a_chain() {
    on_small_stack(|| {
        let mut text =
            String::from("ptir 1\n\nfunc @f(%x: f32[4]) -> f32[4] {\n  %0 = exp %x : f32[4]\n");
        for i in 1..N {
            text += &format!("  %{i} = add %{}, %{} : f32[4]\n", i - 1, i - 1);
        }
        text += &format!("  return %{}\n}}\n", N - 1);
        let program = round_trip(&text);
        for mode in [Mode::Ordered, Mode::DataFlow] {
            assert!(structural::equal(&program, &program, mode));
            let _ = structural::hash(&program, mode);
        }
        let per_inst = program.functions()[0].memory_bytes() as f64 / N as f64;
        assert!(per_inst <= 250.0, "{per_inst} bytes per instruction");
    });
}

#[test]
fn a_million_operands_results_and_hints() {
    on_small_stack(|| {
        let list = vec!["%x"; N].join(", ");
        let types = vec!["f32[]"; N].join(", ");
        let mut names = String::from("%x_0");
        for i in 1..N {
            names += &format!(", %x_{i}");
        }
        let text = format!(
            "ptir 1\n\nfunc @f(%x: f32[]) -> f32[] {{\n  {names} = optimization_barrier {list} : {types}\n  return %x_7\n}}\n"
        );
        round_trip(&text);
    });
}

#[test]
fn deep_brackets_are_refused_in_time() {
    on_small_stack(|| {
        for open in ["[", "{a = ", "("] {
            let deep = open.repeat(N);
            for text in [
                format!("ptir 1\nfunc @f() {{ d.x {{a = {deep}"),
                format!("ptir 1\nfunc @f() {{ %a = constant {deep}"),
                format!("ptir 1\nfunc @f(%a: {deep}"),
            ] {
                assert!(parse(&text).is_err());
            }
        }
        let deep = "tuple<".repeat(N);
        assert!(parse(&format!("ptir 1\nfunc @f(%a: {deep}")).is_err());
        let unclosed = nested(N).replace('}', "");
        assert!(parse(&unclosed).is_err());
    });
}

#[test]
fn many_inserts_at_one_place_stay_ordered() {
    use sapwood_ptir::prelude::*;
    use sapwood_ptir::{InsertPoint, OpParts};
    use sapwood_types::Span;
    let mut f = Function::new("f", Registry::builtin());
    let x = f.push_param(f.body(), &TensorSpec::scalar(DataType::F32).into());
    let mut parts = OpParts::new(Exp::key());
    parts.operands.push(x);
    let parts = f.resolve_parts(&parts).unwrap();
    let mut last = f.insert(InsertPoint::End(f.body()), &parts, Span::unknown()).unwrap();
    let anchor = last;
    for i in 0..200_000 {
        let place = match i % 3 {
            0 => InsertPoint::Before(last),
            1 => InsertPoint::After(anchor),
            _ => InsertPoint::Start(f.body()),
        };
        last = f.insert(place, &parts, Span::unknown()).unwrap();
    }
    f.check_indices().unwrap();
}

#[test]
fn a_million_problems_are_counted_in_time() {
    let mut text = String::from("ptir 1\nfunc @f(%x: f32[4]) {\n");
    for i in 0..N / 4 {
        text += &format!("  %a{i} = expp %x : f32[4]\n  %b{i} = exp %zz{i} : f32[4]\n");
        text += &format!("  %c{i} = exp %x : f32[5]\n  %d{i} = add %x : f32[4]\n");
    }
    let problems = parse(&(text + "  return\n}\n")).unwrap_err();
    assert_eq!(problems.error_count(), N);
    assert!(problems.iter().count() <= 100 && problems.dropped() > 0);
    let wide = vec!["1"; 1000].join(", ");
    let message =
        parse(&format!("ptir 1\nfunc @f(%x: f32[{wide}]) {{ return }}")).unwrap_err().to_string();
    assert!(message.contains("at most 255 dims, found 1000"), "{message}");
}

#[test]
fn a_huge_text_is_read_or_refused_in_bounded_memory() {
    let size = (cases(4, 1024) as usize) << 20;
    let head = "ptir 1\nfunc @f(%x: f32[4]) -> f32[4] {\n";
    let fill = |piece: &str, end: &str| {
        let mut text = String::with_capacity(size + 100);
        text.push_str(head);
        while text.len() < size {
            text.push_str(piece);
        }
        text + end
    };
    // One literal with all the bytes is read.
    let digits = (size - head.len()) / 8 * 8;
    let mut text = format!("{head}%a = constant hex \"");
    (0..digits / 8).for_each(|i| text += &format!("{i:08x}"));
    text += &format!("\" : f32[{}] return %x }}", digits / 8);
    assert_eq!(parse(&text).unwrap().num_insts(), 2);
    // A text that takes many times its own memory is refused, without errors about the parts that were not read.
    for (piece, end) in [
        ("{", ""),
        ("d.a(){", ""),
        ("d.a\n", "return %x }"),
        ("return %x } func @g(%x: f32[4]) -> f32[4] {", ""),
        ("d.a {k = [[1], [1]]} ", "return %x }"),
    ] {
        let text = fill(piece, end);
        let options = ParseOptions::new().memory(size as u64);
        let problems = parse_with(&text, &options).unwrap_err();
        let limit = format!("reading this takes more than {size} bytes of memory");
        assert!(problems.iter().any(|p| p.message == limit), "{piece}: {problems}");
    }
}
