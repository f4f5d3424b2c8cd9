//! Matchers in Rust and patterns of rules: forty patterns written both ways find the same values.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use sapwood_ptir::testing::{RandomProgramConfig, random_program};
use sapwood_ptir::{Axes, Function, Program, Registry, Value, parse};
use sapwood_rewrite::matchers as m;
use sapwood_rules::{FindOptions, PatternGraph, Rule, Vocabulary, find_matches, rules_from};
use sapwood_testing::{is_full, repository};
use sapwood_types::Source;

/// A pattern of a rule, and a function that tests if a value matches it.
type Pair = (&'static str, fn(&Function, Value) -> bool);

macro_rules! pairs {
    ($($rule:literal, |$($slot:ident),*| $matcher:expr;)*) => {
        &[$(($rule, |f, v| {
            $(let $slot = m::slot();)*
            m::matches(f, v, $matcher).is_some()
        }),)*]
    };
}

const PAIRS: &[Pair] = pairs! {
    "exp(x)", |x| m::exp(m::any(&x));
    "neg(neg(x))", |x| m::neg(m::neg(m::any(&x)));
    "exp(neg(x))", |x| m::exp(m::neg(m::any(&x)));
    "mul(x, x)", |x| m::mul(m::any(&x), m::same(&x)).commutative();
    "add(x, x)", |x| m::add(m::any(&x), m::same(&x)).commutative();
    "mul(x, 2)", |x| m::mul(m::any(&x), m::splat(2.0)).commutative();
    "mul(x, 0.5)", |x| m::mul(m::any(&x), m::splat(0.5)).commutative();
    "add(x, 1)", |x| m::add(m::any(&x), m::one()).commutative();
    "add(x, 0)", |x| m::add(m::any(&x), m::zero()).commutative();
    "sub(1, x)", |x| m::sub(m::one(), m::any(&x));
    "sub(x, y)", |x, y| m::sub(m::any(&x), m::any(&y));
    "div(1, x)", |x| m::div(m::one(), m::any(&x));
    "div(x, y)", |x, y| m::div(m::any(&x), m::any(&y));
    "max(x, 0)", |x| m::max(m::any(&x), m::zero()).commutative();
    "min(max(x, a), b)", |x, a, b| {
        m::min(m::max(m::any(&x), m::any(&a)).commutative(), m::any(&b)).commutative()
    };
    "exp(sub(x, y))", |x, y| m::exp(m::sub(m::any(&x), m::any(&y)));
    "div(x, sqrt(y))", |x, y| m::div(m::any(&x), m::sqrt(m::any(&y)));
    "mul(x, rsqrt(y))", |x, y| m::mul(m::any(&x), m::rsqrt(m::any(&y))).commutative();
    "rsqrt(add(x, y))", |x, y| m::rsqrt(m::add(m::any(&x), m::any(&y)).commutative());
    "mul(x, logistic(x))", |x| m::mul(m::any(&x), m::logistic(m::same(&x))).commutative();
    "mul(x, tanh(y))", |x, y| m::mul(m::any(&x), m::tanh(m::any(&y))).commutative();
    "mul(mul(x, x), x)", |x| {
        m::mul(m::mul(m::any(&x), m::same(&x)).commutative(), m::same(&x)).commutative()
    };
    "add(x, mul(x, y))", |x, y| {
        m::add(m::any(&x), m::mul(m::same(&x), m::any(&y)).commutative()).commutative()
    };
    "add(mul(x, y), mul(x, z))", |x, y, z| {
        let first = m::mul(m::any(&x), m::any(&y)).commutative();
        m::add(first, m::mul(m::same(&x), m::any(&z)).commutative()).commutative()
    };
    "add(mul(x, y), y)", |x, y| {
        m::add(m::mul(m::any(&x), m::any(&y)).commutative(), m::same(&y)).commutative()
    };
    "add(mul(x, y), z)", |x, y, z| {
        m::add(m::mul(m::any(&x), m::any(&y)).commutative(), m::any(&z)).commutative()
    };
    "sub(x, mul(y, z))", |x, y, z| {
        m::sub(m::any(&x), m::mul(m::any(&y), m::any(&z)).commutative())
    };
    "add(neg(x), y)", |x, y| m::add(m::neg(m::any(&x)), m::any(&y)).commutative();
    "transpose(transpose(x))", |x| m::transpose(m::transpose(m::any(&x)));
    "transpose(x, perm = [1, 0])", |x| {
        m::transpose(m::any(&x)).attr("perm", Axes::from([1, 0]))
    };
    "reshape(reshape(x))", |x| m::reshape(m::reshape(m::any(&x)));
    "reshape(transpose(x))", |x| m::reshape(m::transpose(m::any(&x)));
    "cast(cast(x))", |x| m::cast(m::cast(m::any(&x)));
    "broadcast_in_dim(reshape(x))", |x| m::broadcast_in_dim(m::reshape(m::any(&x)));
    "reduce_sum(mul(x, y))", |x, y| {
        m::reduce_sum(m::mul(m::any(&x), m::any(&y)).commutative())
    };
    "reduce_max(x, axes = [1])", |x| m::reduce_max(m::any(&x)).attr("axes", Axes::from([1]));
    "select(p, x, 0)", |p, x| m::select(m::any(&p), m::any(&x), m::zero());
    "select(p, x, x)", |p, x| m::select(m::any(&p), m::any(&x), m::same(&x));
    "compare(x, y, direction = lt)", |x, y| {
        let is_lt = |attr: &sapwood_ptir::Attr| attr.as_word() == Some("lt");
        m::compare(m::any(&x), m::any(&y)).attr_where("direction", is_lt)
    };
    "dot_general(transpose(x), y)", |x, y| m::dot_general(m::transpose(m::any(&x)), m::any(&y));
    "log(add(exp(x), exp(y)))", |x, y| {
        m::log(m::add(m::exp(m::any(&x)), m::exp(m::any(&y))).commutative())
    };
};

fn patterns() -> Vec<PatternGraph> {
    let texts = PAIRS.iter().enumerate();
    let text: String = texts.map(|(n, (rule, _))| format!("pattern p{n}: {rule}\n")).collect();
    let rules =
        rules_from(&Source::new("pairs.rules", text), &Registry::builtin(), &Vocabulary::builtin());
    let rules = rules.unwrap_or_else(|problems| panic!("{problems}"));
    rules.into_iter().map(Rule::into_pattern).collect()
}

// Compares the values that each pattern finds in a program. Returns how many there are, by pattern.
fn compare(name: &str, program: &Program, patterns: &[PatternGraph]) -> Vec<usize> {
    let options = FindOptions {
        share_ops: true,
        steps: Some(u64::MAX),
        matches: Some(usize::MAX),
        ..FindOptions::default()
    };
    let report = find_matches(program, patterns, &options);
    assert!(report.exhausted.is_empty(), "{name}");
    let mut counts = vec![0; patterns.len()];
    for f in program.functions() {
        let values: Vec<Value> = f.walk().flat_map(|inst| f.inst_results(inst)).collect();
        for (n, (rule, is_match)) in PAIRS.iter().enumerate() {
            let by_matcher: BTreeSet<Value> =
                values.iter().copied().filter(|&value| is_match(f, value)).collect();
            let of_pattern =
                report.matches.iter().filter(|m| m.pattern == n && m.function == f.name());
            let by_rule: BTreeSet<Value> =
                of_pattern.flat_map(|m| m.outputs(&patterns[n])).collect();
            assert_eq!(by_matcher, by_rule, "{name}: `{rule}` in @{}", f.name());
            counts[n] += by_rule.len();
        }
    }
    counts
}

// Returns the programs of the repository, and those of a corpus next to it in the second tier.
fn files() -> Vec<PathBuf> {
    let mut folders =
        vec![repository().join("programs"), repository().join("examples/patterns/programs")];
    let given = std::env::var_os("SAPWOOD_CORPUS").map(PathBuf::from);
    let corpus = given.unwrap_or_else(|| repository().join("../shared/corpus/stablehlo"));
    if is_full() && corpus.is_dir() {
        folders.push(corpus);
    }
    let mut files = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|e| e == "ptir" || e == "mlir") {
                files.push(path);
            }
        }
    }
    files.sort();
    files
}

fn read(path: &Path) -> Option<Program> {
    let text = fs::read_to_string(path).ok()?;
    match path.extension().is_some_and(|e| e == "mlir") {
        true => {
            let source = Source::new(&path.to_string_lossy(), text);
            Some(sapwood_stablehlo::read(&source).ok()?.program)
        }
        false => parse(&text).ok(),
    }
}

#[test]
fn matchers_and_rules_find_the_same_values() {
    assert!(PAIRS.len() >= 40);
    let patterns = patterns();
    let mut found = vec![0; PAIRS.len()];
    let mut add =
        |counts: Vec<usize>| found.iter_mut().zip(counts).for_each(|(n, more)| *n += more);
    for path in files() {
        if let Some(program) = read(&path) {
            add(compare(&path.display().to_string(), &program, &patterns));
        }
    }
    let only = "add sub mul div neg exp log max min sqrt rsqrt tanh logistic transpose reshape cast select compare reduce_sum reduce_max dot_general";
    let config = RandomProgramConfig {
        insts: 60,
        only: only.split(' ').collect(),
        ..RandomProgramConfig::default()
    };
    for seed in 0..sapwood_testing::cases(200, 5_000) {
        let program = random_program(seed as u64, &config);
        add(compare(&format!("random program {seed}"), &program, &patterns));
    }
    // Most patterns occur.
    let absent: Vec<&str> =
        PAIRS.iter().zip(&found).filter(|(_, n)| **n == 0).map(|((rule, _), _)| *rule).collect();
    assert!(absent.len() <= 6, "no match of {absent:?}");
}
