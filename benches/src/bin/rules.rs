//! Rules: many patterns on large programs, the growth of time, and the cost of matches that fail late.

use std::fmt::Write;
use std::time::Duration;

use sapwood_benches::programs::blocks;
use sapwood_benches::{Area, best, sizes};
use sapwood_ptir::{ParseOptions, Program, Registry, parse_with};
use sapwood_rules::{
    FindOptions, FindReport, PatternGraph, Rule, Vocabulary, find_matches, patterns_from,
    rules_from,
};
use sapwood_testing::exponent;
use sapwood_types::Source;
fn main() {
    let area = Area::new("rules");
    many_patterns(&area);
    late_failure(&area);
    one_pattern(&area);
    open_patterns(&area);
    open_growth(&area);
}

fn read(text: &str) -> Option<Program> {
    parse_with(text, ParseOptions::new().verify(false)).ok()
}

fn patterns(text: &str) -> Vec<PatternGraph> {
    patterns_from(&Source::new("bench.ptir", text), &Registry::builtin()).unwrap_or_default()
}

fn rules(text: &str) -> Vec<PatternGraph> {
    let source = Source::new("bench.rules", text);
    let rules = rules_from(&source, &Registry::builtin(), &Vocabulary::builtin());
    rules.unwrap_or_default().into_iter().map(Rule::into_pattern).collect()
}

fn find(program: &Program, patterns: &[PatternGraph]) -> FindReport {
    find_matches(program, patterns, &FindOptions::default())
}

/// Returns a hundred patterns: different chains of two to five ops of the blocks. Some match, most fail on the way.
fn hundred_patterns() -> String {
    const OPS: [&str; 7] =
        ["transpose", "reduce_max", "broadcast_to", "exp", "reduce_sum", "reshape", "neg"];
    let mut text = String::from("ptir 1\n");
    for n in 0..100usize {
        let t = "f32[1, 64, 64]";
        let _ = writeln!(text, "func @p{n}(%x: {t}, %y: {t}) -> {t} {{");
        let mut last = "%x".to_owned();
        let mut code = n;
        for i in 0..2 + n % 4 {
            // Some contain a difference, like softmax.
            let op = if i == 1 && n % 3 == 0 { "sub" } else { OPS[code % (OPS.len() - 1)] };
            let other = if op == "sub" { ", %y" } else { "" };
            let _ = writeln!(text, "  %v{i} = {op} {last}{other} : {t}");
            last = format!("%v{i}");
            code = code / 3 + 5 * i + n % 5;
        }
        let used =
            if text.rsplit("func").next().is_some_and(|f| f.contains(", %y :")) { "" } else { "y" };
        if used == "y" {
            let _ = writeln!(text, "  %z = add {last}, %y : {t}\n  return %z\n}}");
        } else {
            let _ = writeln!(text, "  return {last}\n}}");
        }
    }
    text
}

/// Measures a hundred patterns.
fn many_patterns(area: &Area) {
    let patterns = patterns(&hundred_patterns());
    if patterns.len() != 100 {
        area.failed("find/hundred/1e6", "the patterns are not a hundred");
        return;
    }
    let mut points = Vec::new();
    for &(size, ops) in sizes() {
        let Some(program) = read(&blocks(ops)) else {
            area.failed(&format!("find/hundred/{size}"), "the program does not parse");
            continue;
        };
        let time = best(if ops > 500_000 { 3 } else { 7 }, || find(&program, &patterns));
        area.millis(&format!("find/hundred/{size}"), time, ops as u64);
        points.push((ops as f64, time.as_secs_f64()));
    }
    area.row("exponent/find/hundred", exponent(&points), "power", 1);
}

/// Measures patterns of eight chained ops, of which one does not match the program: the last one to be compared, or the first.
fn late_failure(area: &Area) {
    let ops = 200_000;
    let op = |n: usize, axes: usize| match n % 2 {
        0 => format!("reverse %{n} {{axes = [{axes}]}} : f32[4]"),
        _ => format!("neg %{n} : f32[4]"),
    };
    let mut text = String::from("ptir 1\nfunc @main(%0: f32[4]) -> f32[4] {\n");
    for n in 0..ops {
        let _ = writeln!(text, "  %{} = {}", n + 1, op(n, 0));
    }
    let _ = writeln!(text, "  return %{ops}\n}}");
    let pattern = |wrong: usize| {
        let mut text = String::from("ptir 1\nfunc @p(%1: f32[4]) -> f32[4] {\n");
        // Nine values, eight ops; the outermost one is `neg` or `reverse`, as in the chain.
        for n in 1..9 {
            let axes = usize::from(n == wrong);
            let _ = writeln!(text, "  %{} = {}", n + 1, op(n, axes));
        }
        text + "  return %9\n}\n"
    };
    let Some(program) = read(&text) else {
        area.failed("late/last-to-first", "the program does not parse");
        return;
    };
    let time = |wrong: usize| -> Duration {
        let patterns = patterns(&pattern(wrong));
        best(15, || find(&program, &patterns))
    };
    // The search starts at the outermost op, number 8; the innermost `reverse` is number 2.
    let (first, last) = (time(8), time(2));
    area.millis("late/first", first, ops as u64);
    area.millis("late/last", last, ops as u64);
    area.row("late/last-to-first", last.as_secs_f64() / first.as_secs_f64(), "times", 8);
}

/// Measures one pattern that the peer's PDL can express too: a product of a sum, in a chain.
fn one_pattern(area: &Area) {
    let patterns = patterns(
        "ptir 1 func @p(%x: f32[64], %y: f32[64], %z: f32[64]) -> f32[64] {
           %a = add %x, %y : f32[64] %m = mul %a, %z : f32[64] return %m }",
    );
    for &(size, ops) in sizes() {
        let Some(program) = read(&sapwood_benches::programs::chain(ops)) else {
            area.failed(&format!("find/one/{size}"), "the program does not parse");
            continue;
        };
        let time = best(if ops > 500_000 { 5 } else { 9 }, || find(&program, &patterns));
        area.per_node(&format!("find/one/{size}"), time, ops as u64);
    }
}

/// Returns a hundred patterns in the rule language: chains of two to five ops of the blocks. If `open`, one op of each is one of three,
/// and all look through reshapes and broadcasts.
fn chain_rules(open: bool) -> String {
    const OPS: [&str; 6] = ["transpose", "reduce_max", "exp", "reduce_sum", "neg", "tanh"];
    let mut text = String::new();
    for n in 0..100usize {
        let length = 2 + n % 4;
        let mut chain = "x".to_owned();
        for i in 0..length {
            let op = OPS[(n / 4 + 5 * i + n * i) % OPS.len()];
            let (second, third) = (OPS[(n + i) % OPS.len()], OPS[(n + i + 3) % OPS.len()]);
            let different = second != op && third != op && second != third;
            chain = match open && i + 1 == length && different {
                true => format!("({op} | {second} | {third})({chain})"),
                false => format!("{op}({chain})"),
            };
        }
        let through = if open { " through [reshape, broadcast_to]" } else { "" };
        let _ = writeln!(text, "pattern p{n}{through}: sub({chain}, y)");
    }
    text
}

/// Measures a hundred patterns with alternatives and look-through against the same without them.
fn open_patterns(area: &Area) {
    let (plain, open) = (rules(&chain_rules(false)), rules(&chain_rules(true)));
    let ops = 1_000_000;
    let Some(program) = read(&blocks(ops)).filter(|_| plain.len() == 100 && open.len() == 100)
    else {
        area.failed("open/alternatives-to-plain", "the program or the patterns do not parse");
        return;
    };
    let plain = best(3, || find(&program, &plain));
    let open = best(3, || find(&program, &open));
    area.millis("open/plain", plain, ops as u64);
    area.millis("open/alternatives", open, ops as u64);
    area.row("open/alternatives-to-plain", open.as_secs_f64() / plain.as_secs_f64(), "times", 100);
}

/// Counts the steps of patterns with alternatives and look-through: at the users of one value, and along a chain.
fn open_growth(area: &Area) {
    let patterns = rules(
        "pattern gate through [reshape, cast]: mul((tanh | exp | logistic)(x), add?(x, const c))
         pattern scaled through [reshape]: mul(exp(x), const c) | div(exp(x), const c) | mul(neg(x), y)",
    );
    let wide = |ops: usize| {
        let mut text = String::from(
            "ptir 1\nfunc @main(%v: f32[4]) -> f32[4] {\n  %r = reshape %v : f32[4]\n",
        );
        for n in 0..ops / 2 {
            let op = ["tanh", "exp", "logistic", "neg"][n % 4];
            let _ = writeln!(text, "  %a{n} = {op} %r : f32[4]\n  %m{n} = mul %a{n}, %v : f32[4]");
        }
        text + "  return %m0\n}\n"
    };
    let deep = |ops: usize| {
        let mut text = String::from("ptir 1\nfunc @main(%v0: f32[4]) -> f32[4] {\n");
        for n in 0..ops / 2 {
            let (op, next) = (["reshape", "exp", "cast", "tanh"][n % 4], n + 1);
            let _ = writeln!(
                text,
                "  %a{n} = {op} %v{n} : f32[4]\n  %v{next} = mul %a{n}, %v{n} : f32[4]"
            );
        }
        let _ = writeln!(text, "  return %v{}\n}}", ops / 2);
        text
    };
    for (name, text) in [("fan-out", &wide as &dyn Fn(usize) -> String), ("depth", &deep)] {
        let row = format!("exponent/open/{name}");
        let mut points = Vec::new();
        for &(_, ops) in sizes() {
            let Some(program) = read(&text(ops)).filter(|_| patterns.len() == 2) else {
                area.failed(&row, "the program or the patterns do not parse");
                return;
            };
            points.push((ops as f64, find(&program, &patterns).steps as f64));
        }
        area.row(&row, exponent(&points), "power", 1);
    }
}
