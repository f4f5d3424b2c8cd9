//! Dim expressions: the normal form keeps values, decided comparisons are never wrong, text round trips.

use proptest::prelude::*;
use sapwood_ptir::Name;
use sapwood_ptir::dims::{DimExpr, Facts, MAX_MONOMIALS, Verdict};
use sapwood_testing::cases;

/// An expression as a user writes it.
#[derive(Clone, Debug)]
enum Tree {
    Number(i64),
    Symbol(usize),
    Add(Box<Tree>, Box<Tree>),
    Sub(Box<Tree>, Box<Tree>),
    Mul(Box<Tree>, Box<Tree>),
    FloorDiv(Box<Tree>, i64),
    Mod(Box<Tree>, i64),
    Min(Box<Tree>, Box<Tree>),
    Max(Box<Tree>, Box<Tree>),
}

const SYMBOLS: [&str; 3] = ["A", "B", "a long name"];

fn trees() -> impl Strategy<Value = Tree> {
    let leaf = prop_oneof![
        (-9i64..10).prop_map(Tree::Number),
        (0..SYMBOLS.len()).prop_map(Tree::Symbol),
        (0..SYMBOLS.len()).prop_map(Tree::Symbol),
    ];
    leaf.prop_recursive(5, 24, 2, |inner| {
        let pair = (inner.clone(), inner.clone());
        let boxes = |(a, b): (Tree, Tree)| (Box::new(a), Box::new(b));
        prop_oneof![
            pair.clone().prop_map(move |p| {
                let (a, b) = boxes(p);
                Tree::Add(a, b)
            }),
            pair.clone().prop_map(move |p| {
                let (a, b) = boxes(p);
                Tree::Sub(a, b)
            }),
            pair.clone().prop_map(move |p| {
                let (a, b) = boxes(p);
                Tree::Mul(a, b)
            }),
            (inner.clone(), 1i64..7).prop_map(|(a, d)| Tree::FloorDiv(Box::new(a), d)),
            (inner, 1i64..7).prop_map(|(a, d)| Tree::Mod(Box::new(a), d)),
            pair.clone().prop_map(move |p| {
                let (a, b) = boxes(p);
                Tree::Min(a, b)
            }),
            pair.prop_map(move |p| {
                let (a, b) = boxes(p);
                Tree::Max(a, b)
            }),
        ]
    })
}

fn bindings() -> impl Strategy<Value = [i64; 3]> {
    let value = prop_oneof![Just(0i64), Just(1), 0i64..20, 0i64..1000];
    [value.clone(), value.clone(), value]
}

impl Tree {
    fn build(&self) -> Option<DimExpr> {
        match self {
            Self::Number(n) => DimExpr::constant(*n),
            Self::Symbol(s) => DimExpr::symbol(Name::new(SYMBOLS[*s])),
            Self::Add(a, b) => a.build()?.checked_add(b.build()?),
            Self::Sub(a, b) => a.build()?.checked_sub(b.build()?),
            Self::Mul(a, b) => a.build()?.checked_mul(b.build()?),
            Self::FloorDiv(a, d) => a.build()?.floordiv(*d),
            Self::Mod(a, d) => a.build()?.modulo(*d),
            Self::Min(a, b) => a.build()?.min(b.build()?),
            Self::Max(a, b) => a.build()?.max(b.build()?),
        }
    }

    fn value(&self, values: &[i64; 3]) -> Option<i64> {
        Some(match self {
            Self::Number(n) => *n,
            Self::Symbol(s) => values[*s],
            Self::Add(a, b) => a.value(values)?.checked_add(b.value(values)?)?,
            Self::Sub(a, b) => a.value(values)?.checked_sub(b.value(values)?)?,
            Self::Mul(a, b) => a.value(values)?.checked_mul(b.value(values)?)?,
            Self::FloorDiv(a, d) => a.value(values)?.div_euclid(*d),
            Self::Mod(a, d) => a.value(values)?.rem_euclid(*d),
            Self::Min(a, b) => a.value(values)?.min(b.value(values)?),
            Self::Max(a, b) => a.value(values)?.max(b.value(values)?),
        })
    }
}

fn lookup(values: [i64; 3]) -> impl Fn(Name) -> Option<i64> {
    move |name| SYMBOLS.iter().position(|s| *s == name.as_str()).map(|index| values[index])
}

fn config() -> ProptestConfig {
    ProptestConfig { cases: cases(10_000, 1_000_000), ..sapwood_testing::properties() }
}

// The number of cases that one process checks. Expressions are never freed, and their number is limited: when the limit is reached, the
// properties hold because nothing is known.
const CASES_PER_PROCESS: u32 = 100_000;

// Runs a property, in several processes if there are many cases. The name is that of the test.
fn in_processes(name: &str, property: fn()) {
    let mut left = config().cases;
    if left <= CASES_PER_PROCESS {
        property();
        assert!(DimExpr::symbol(Name::new("one more")).is_some(), "{name}: too many expressions");
        return;
    }
    let program = std::env::current_exe().unwrap();
    while left > 0 {
        let cases = left.min(CASES_PER_PROCESS);
        left -= cases;
        let mut command = std::process::Command::new(&program);
        command.args(["--exact", name]).env("SAPWOOD_CASES", cases.to_string());
        let output = command.output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success() && text.contains("1 passed"), "{text}");
    }
}

fn expr(text: &str) -> DimExpr {
    text.parse().unwrap_or_else(|error| panic!("{text}: {error}"))
}

#[test]
fn the_normal_form_keeps_values() {
    in_processes("dims::the_normal_form_keeps_values", check_the_normal_form_keeps_values);
}

#[test]
fn text_round_trips() {
    in_processes("dims::text_round_trips", check_text_round_trips);
}

#[test]
fn decided_comparisons_are_right() {
    in_processes("dims::decided_comparisons_are_right", check_decided_comparisons_are_right);
}

#[test]
fn substitution_and_evaluation_commute() {
    in_processes(
        "dims::substitution_and_evaluation_commute",
        check_substitution_and_evaluation_commute,
    );
}

#[test]
fn solutions_solve() {
    in_processes("dims::solutions_solve", check_solutions_solve);
}

#[test]
fn texts_never_panic() {
    in_processes("dims::texts_never_panic", check_texts_never_panic);
}

proptest! {
    #![proptest_config(config())]

    fn check_the_normal_form_keeps_values(tree in trees(), values in bindings()) {
        if let (Some(built), Some(value)) = (tree.build(), tree.value(&values))
            && let Some(found) = built.evaluate(&lookup(values))
        {
            prop_assert_eq!(found, value, "{}", built);
            let bounds = Facts::new().bounds(built);
            prop_assert!(bounds.lowest().is_none_or(|lowest| lowest <= value), "{} {:?}", built, bounds);
            prop_assert!(bounds.highest().is_none_or(|highest| highest >= value), "{} {:?}", built, bounds);
        }
    }

    fn check_text_round_trips(tree in trees()) {
        if let Some(built) = tree.build() {
            let text = built.to_string();
            prop_assert_eq!(text.parse::<DimExpr>().map_err(|e| e.to_string()), Ok(built), "{}", text);
        }
    }

    fn check_decided_comparisons_are_right(
        left in trees(),
        right in trees(),
        assumed in prop::collection::vec((trees(), any::<bool>()), 0..4),
        values in bindings(),
    ) {
        let (Some(a), Some(b)) = (left.build(), right.build()) else { return Ok(()) };
        let lookup = lookup(values);
        // Facts that are true for these values: each expression with its value subtracted, or a bound of it.
        let mut facts = Facts::new();
        for (tree, is_equation) in &assumed {
            let (Some(e), Some(value)) = (tree.build(), tree.value(&values)) else { continue };
            let Some(zero) = DimExpr::constant(value).and_then(|value| e.checked_sub(value)) else { continue };
            if zero.evaluate(&lookup) != Some(0) {
                continue;
            }
            let fact = if *is_equation { facts.assume_zero(zero) } else { facts.assume_at_least(zero) };
            prop_assert!(fact.is_ok(), "{:?} {:?}", fact, facts);
        }
        prop_assert_eq!(facts.hold(&lookup), Some(true));
        let (Some(x), Some(y)) = (a.evaluate(&lookup), b.evaluate(&lookup)) else { return Ok(()) };
        match facts.compare(a, b) {
            Verdict::Equal => prop_assert_eq!(x, y, "{} {} {:?}", a, b, facts),
            Verdict::Different => prop_assert_ne!(x, y, "{} {} {:?}", a, b, facts),
            Verdict::Unknown => {}
        }
        if let Some(simpler) = facts.simplify(a)
            && let Some(value) = simpler.evaluate(&lookup)
        {
            prop_assert_eq!(value, x, "{} is not {} {:?}", a, simpler, facts);
        }
        let bounds = facts.bounds(a);
        prop_assert!(bounds.lowest().is_none_or(|lowest| lowest <= x), "{} {:?} {:?}", a, bounds, facts);
        prop_assert!(bounds.highest().is_none_or(|highest| highest >= x), "{} {:?} {:?}", a, bounds, facts);
    }

    fn check_substitution_and_evaluation_commute(tree in trees(), with in trees(), values in bindings()) {
        let (Some(e), Some(with)) = (tree.build(), with.build()) else { return Ok(()) };
        let first = Name::new(SYMBOLS[0]);
        let Some(replaced) = e.substitute(&|name| (name == first).then_some(with)) else { return Ok(()) };
        let lookup = lookup(values);
        let Some(inner) = with.evaluate(&lookup).filter(|&value| value >= 0) else { return Ok(()) };
        let direct = e.evaluate(&|name| if name == first { Some(inner) } else { lookup(name) });
        if let (Some(direct), Some(replaced)) = (direct, replaced.evaluate(&lookup)) {
            prop_assert_eq!(direct, replaced, "{} with {}", e, with);
        }
    }

    fn check_solutions_solve(tree in trees(), values in bindings()) {
        let Some(e) = tree.build() else { return Ok(()) };
        let (symbol, lookup) = (Name::new(SYMBOLS[0]), lookup(values));
        let Some(result) = e.evaluate(&lookup) else { return Ok(()) };
        if let Some(solution) = e.solve(symbol, result, &lookup) {
            let again = e.evaluate(&|name| if name == symbol { Some(solution) } else { lookup(name) });
            prop_assert_eq!(again, Some(result), "{}", e);
        }
    }

    fn check_texts_never_panic(text in "[?AB0-9+*(), -]{0,40}|(floordiv|mod|min|max)[(][?]A, -?[0-9]{1,20}[)]") {
        let _ = text.parse::<DimExpr>();
    }
}

#[test]
fn every_rule_of_the_normal_form() {
    for (text, normal) in [
        ("?S + ?B", "?B + ?S"),
        ("?S - ?S", "0"),
        ("2*(?S + 3)*?S", "6*?S + 2*?S*?S"),
        // floordiv(d*q + r, d) = q + floordiv(r, d)
        ("floordiv(4*?S + 6, 4)", "?S + 1"),
        ("floordiv(4*?S + ?B, 4)", "?S + floordiv(?B, 4)"),
        ("floordiv(5*?S + 9, 4)", "?S + floordiv(?S + 1, 4) + 2"),
        ("floordiv(-?S, 2)", "-?S + floordiv(?S, 2)"),
        // floordiv(g*r + c, g*d) = floordiv(r + floordiv(c, g), d)
        ("floordiv(2*?S + 1, 4)", "floordiv(?S, 2)"),
        // floordiv(floordiv(e, a) + c, b) = floordiv(e + a*c, a*b)
        ("floordiv(floordiv(?S, 2) + 1, 3)", "floordiv(?S + 2, 6)"),
        ("floordiv(mod(?S, 4), 4)", "0"),
        ("mod(4*?S + 6, 4)", "2"),
        ("mod(mod(?S, 8), 4)", "mod(?S, 4)"),
        ("mod(mod(?S, 4), 8)", "mod(?S, 4)"),
        ("8*floordiv(?S, 8) + mod(?S, 8)", "?S"),
        ("?B*mod(?S, 8)", "mod(?S, 8)*?B"),
        // A symbol is at least zero.
        ("max(?S, 0)", "?S"),
        ("max(?S + 1, 0)", "?S + 1"),
        ("min(?S, 0)", "0"),
        ("max(?S, 8)", "max(?S, 8)"),
        ("max(8, ?S)", "max(?S, 8)"),
        ("min(8, ?S)", "min(?S, 8)"),
        ("max(?S - 8, 0)", "max(?S - 8, 0)"),
        ("max(2*?S, 8)", "2*max(?S, 4)"),
        ("max(?S + 4, ?B + 8)", "max(?B + 4, ?S) + 4"),
        ("max(?A, ?B) + min(?A, ?B)", "?A + ?B"),
        ("max(?A, ?A + ?B)", "?A + ?B"),
        ("min(min(?S, 8), 9)", "min(?S, 8)"),
        ("-1", "-1"),
        ("?\"a b\"*2", "2*?\"a b\""),
    ] {
        assert_eq!(expr(text).to_string(), normal, "{text}");
        assert_eq!(expr(normal), expr(text), "{text}");
    }
}

// The comment of a rule in the source has its name and its law: "// `name`: law".
#[test]
fn every_rule_that_the_source_names_is_in_the_golden_file() {
    let root = sapwood_testing::repository();
    let read = |path: &str| std::fs::read_to_string(root.join(path)).unwrap();
    let source = ["arith", "shorten"].map(|name| read(&format!("crates/ptir/src/dims/{name}.rs")));
    let source = source.concat();
    let name = |line| Some(str::trim_start(line).strip_prefix("// `")?.split_once("`: ")?.0);
    let rules: Vec<&str> = source.lines().filter_map(name).collect();
    assert_eq!(rules.len(), 16, "{rules:?}");
    let golden = read("tests/golden/text/dim_rules.ptir");
    for name in rules {
        assert!(golden.contains(&format!("\nfunc @{name}(")), "no golden file has `{name}`");
    }
}

#[test]
fn facts_decide() {
    let compare = |facts: &[&str], left: &str, right: &str| {
        let mut all = Facts::new();
        for fact in facts {
            let result = match fact.split_once(" == ") {
                Some((left, right)) => all.assume_zero(expr(&format!("{left} - ({right})"))),
                None => {
                    let (left, right) = fact.split_once(" >= ").expect("a comparison");
                    all.assume_at_least(expr(&format!("{left} - ({right})")))
                }
            };
            result.expect("no contradiction");
        }
        all.compare(expr(left), expr(right))
    };
    assert_eq!(compare(&[], "?S", "?S + 1"), Verdict::Different);
    assert_eq!(compare(&[], "2*?S", "2*?B + 1"), Verdict::Different);
    assert_eq!(compare(&[], "?S", "?B"), Verdict::Unknown);
    assert_eq!(compare(&[], "?S", "0"), Verdict::Unknown);
    assert_eq!(compare(&["?S >= 1"], "?S", "0"), Verdict::Different);
    assert_eq!(compare(&["?S >= 1", "1 >= ?S"], "?S", "1"), Verdict::Equal);
    assert_eq!(compare(&["?S == ?B"], "2*?S + ?B", "3*?B"), Verdict::Equal);
    assert_eq!(compare(&["2*?S == 3*?B"], "4*?S", "6*?B"), Verdict::Equal);
    assert_eq!(compare(&["mod(?S, 8) == 0"], "8*floordiv(?S, 8)", "?S"), Verdict::Equal);
    assert_eq!(compare(&["mod(?S, 8) == 0"], "?S", "8*?B + 3"), Verdict::Different);
    assert_eq!(compare(&["?S >= ?B + 1"], "?S", "?B"), Verdict::Different);
    assert_eq!(compare(&["?S >= ?B", "?B >= ?C + 1"], "?S", "?C"), Verdict::Different);
    assert_eq!(compare(&["?S >= 8"], "max(?S, 8)", "?S"), Verdict::Equal);
    assert_eq!(compare(&["7 >= ?S"], "floordiv(?S, 8)", "0"), Verdict::Equal);
}

#[test]
fn contradictions_are_refused_and_change_nothing() {
    let mut facts = Facts::new();
    facts.assume_at_least(expr("?S - 4")).expect("consistent");
    let error = facts.assume_at_least(expr("3 - ?S")).expect_err("a contradiction");
    assert_eq!(error.to_string(), "`?S <= 3` contradicts the facts before it");
    assert!(facts.assume_zero(expr("2*?S + 1")).is_err());
    assert!(facts.assume_zero(expr("?S - 3")).is_err());
    facts.assume_zero(expr("?S - 4")).expect("consistent");
    assert_eq!(
        facts.relations().map(|r| r.to_string()).collect::<Vec<_>>(),
        ["?S >= 4", "?S == 4"]
    );
    assert_eq!(facts.compare(expr("?S"), expr("4")), Verdict::Equal);
}

#[test]
fn growth_ends_at_the_limits() {
    // Squares double the degree, products of sums the number of monomials.
    let mut square = expr("?S + ?B + 1");
    let mut steps = 0;
    while let Some(next) = square.checked_mul(square) {
        square = next;
        steps += 1;
    }
    assert!((1..6).contains(&steps), "{steps}");
    // Each level contains the one before many times: the number of paths would be 16^8.
    let mut nested = expr("?S");
    let mut levels = 0;
    let grown = |inner: DimExpr| {
        let mut sum = inner;
        for divisor in 2..18 {
            let symbol = DimExpr::symbol(Name::new(&format!("s{divisor}")))?;
            sum = sum.checked_add(inner.checked_add(symbol)?.floordiv(divisor)?)?;
        }
        Some(sum)
    };
    while let Some(next) = grown(nested) {
        nested = next;
        levels += 1;
    }
    assert!((1..4).contains(&levels), "{levels}");
    let mut wide = expr("0");
    for index in 0..MAX_MONOMIALS {
        wide = wide.checked_add(expr(&format!("?w{index}"))).expect("within the limit");
    }
    assert_eq!(wide.checked_add(expr("?one_more")), None);
    let smallest = expr("-9223372036854775807*?S - ?S");
    assert!(smallest.floordiv(3).is_some());
    assert_eq!(smallest.max(expr("-?T")), None);
    assert_eq!(expr("9223372036854775807").checked_add(expr("1")), None);
    assert_eq!(expr("9223372036854775807*?S").checked_add(expr("?S")), None);
}

#[test]
fn errors_have_their_place() {
    for (text, message) in [
        (
            "",
            "expected a number, a symbol such as `?S`, `floordiv`, `mod`, `min`, `max` or `(`, at byte 0",
        ),
        (
            "?S +",
            "expected a number, a symbol such as `?S`, `floordiv`, `mod`, `min`, `max` or `(`, at byte 4",
        ),
        ("?S ?B", "expected `+`, `-`, `*` or the end of the expression, at byte 3"),
        ("?", "expected the name of a symbol after `?`, at byte 1"),
        ("floordiv(?S, 0)", "the divisor of `floordiv` must be a number of at least 1, at byte 13"),
        ("mod(?S, ?B)", "the divisor of `mod` must be a number of at least 1, at byte 8"),
        ("9223372036854775808", "the number does not fit 64 bits, at byte 0"),
        ("max(?S)", "expected `,`, at byte 6"),
    ] {
        assert_eq!(text.parse::<DimExpr>().expect_err(text).to_string(), message, "{text}");
    }
    let deep = "(".repeat(100_000);
    assert!(deep.parse::<DimExpr>().expect_err("too deep").message.contains("nested deeper"));
}

#[test]
fn symbols_and_solutions() {
    let e = expr("2*?S + ?B*?S + floordiv(?C, 2)");
    let names: Vec<_> = e.symbols().iter().map(|name| name.as_str()).collect();
    assert_eq!(names, ["B", "C", "S"]);
    let value = |name: Name| match name.as_str() {
        "B" => Some(3),
        "C" => Some(9),
        _ => None,
    };
    assert_eq!(e.solve(Name::new("S"), 24, &value), Some(4));
    assert_eq!(e.solve(Name::new("S"), 25, &value), None);
    assert_eq!(expr("?S*?S").solve(Name::new("S"), 25, &value), None);
    assert_eq!(expr("?S + floordiv(?S, 2)").solve(Name::new("S"), 25, &value), None);
}
