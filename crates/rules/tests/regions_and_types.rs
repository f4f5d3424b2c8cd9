//! The check of rules with regions, left sides that no program can have, and axes from the end on the right side.

use std::fs;

use sapwood_ptir::{Function, InstId, Registry, ValueId, parse};
use sapwood_rules::{Rule, RuleCheckOptions, RuleVerdict, Vocabulary, check_rule, rules_from};
use sapwood_testing::repository;
use sapwood_types::{Diagnostics, Source};

fn read(text: &str) -> Result<Vec<Rule>, Diagnostics> {
    rules_from(&Source::new("r.rules", text), &Registry::builtin(), &Vocabulary::builtin())
}

fn verdict(text: &str) -> RuleVerdict {
    let rule = read(text).unwrap_or_else(|p| panic!("{p}")).remove(0);
    check_rule(&rule, &Registry::builtin(), &RuleCheckOptions::default())
}

#[test]
fn rules_with_regions_are_checked() {
    for text in [
        "rule sum: reduce(x, 0, axes = a) { (p, q) => add(p, q) } where integer(x) => reduce_sum(x, axes = a)",
        "rule same: cond(p) { neg(x) } { neg(x) } => neg(x)",
    ] {
        assert_eq!(verdict(text), RuleVerdict::Holds(100), "{text}");
    }
    for text in [
        "rule max: reduce(x, 0, axes = a) { (p, q) => add(p, q) } where integer(x) => reduce_max(x, axes = a)",
        "rule first: cond(p) { neg(x) } { x } => neg(x)",
    ] {
        assert!(matches!(verdict(text), RuleVerdict::Wrong(_)), "{text}");
    }
}

#[test]
fn axes_from_the_end_mean_the_same_on_both_sides() {
    for text in [
        "rule sum: reduce_sum(neg(x), axes = [-1], keepdims = false) where integer(x) => neg(reduce_sum(x, axes = [-1]))",
        "rule join: concat(concat(x, y, axis = -1), z, axis = -1) => concat(x, y, z, axis = -1)",
    ] {
        assert_eq!(verdict(text), RuleVerdict::Holds(100), "{text}");
    }
}

#[test]
fn left_sides_that_no_program_has_are_refused() {
    for (text, wanted) in [
        ("pattern p: add(x: [3], y: [3, 4])", "the rank of `x` would be both 2 and 1"),
        ("pattern p: exp(mul(x: f32[.., 3], y: [n, 4]))", "a dim would be both 3 and 4"),
        ("pattern p: exp(x: [3]) where rank(x, 2)", "the rank of `x` would be both 1 and 2"),
        (
            "rule r: reduce(x, i) { (a, b) => add(a, b) } => neg(a)",
            "`a` exists only inside of the region",
        ),
        (
            "pattern p:\n  let s = neg(x)\n  (exp | abs)(x), s",
            "the first output is not computed from `s`",
        ),
        (
            "pattern p:\n  let s = neg(x)\n  add(s, y) | mul(x, y), s",
            "`s` is only bound in some of the alternatives",
        ),
    ] {
        let found = read(text).err().map(|p| p.to_string()).unwrap_or_default();
        assert!(found.contains(wanted), "{text}\n{found}");
    }
}

// Returns an instruction as a pattern with the types of its values, with or without their element types, or without any.
fn typed_pattern(f: &Function, inst: InstId, with_dtypes: Option<bool>) -> Option<String> {
    let ty = |value: ValueId| {
        let tensor = f.value_type(value).as_tensor()?;
        let dims: Vec<String> = tensor.known_shape()?.iter().map(ToString::to_string).collect();
        let dtype = if with_dtypes == Some(true) { tensor.dtype.short_name() } else { "" };
        Some(format!("{dtype}[{}]", dims.join(", ")))
    };
    let result = f.value_of(inst)?;
    let def = f.op_def(inst).filter(|def| def.regions.is_empty() && !def.name.contains('.'))?;
    let mut arguments = Vec::new();
    for (n, &operand) in f.operands(inst).iter().enumerate() {
        arguments.push(match with_dtypes {
            Some(_) => format!("a{n}: {}", ty(operand)?),
            None => format!("a{n}"),
        });
    }
    for (row, attr) in def.attrs.iter().zip(f.attrs(inst).iter()) {
        let text = sapwood_rules::show_attr(attr);
        if !["none", "\"", "{"].iter().any(|start| text.starts_with(start)) {
            arguments.push(format!("{} = {text}", row.name));
        }
    }
    if def.attrs.iter().any(|row| row.kind == sapwood_ptir::AttrKind::ResultType) {
        arguments
            .push(format!("shape = {}", ty(result)?.trim_start_matches(char::is_alphanumeric)));
    }
    let op = format!("{}({})", def.name, arguments.join(", "));
    Some(match with_dtypes {
        Some(_) => format!("pattern p:\n  let r = {op}\n  my.user(r: {})", ty(result)?),
        None => format!("pattern p: {op}"),
    })
}

#[test]
fn types_of_a_program_are_not_refused() {
    let mut count = 0;
    for entry in fs::read_dir(repository().join("tests/golden/patterns")).unwrap() {
        let path = entry.unwrap().path();
        let Ok(program) = parse(&fs::read_to_string(&path).unwrap_or_default()) else { continue };
        for f in program.functions() {
            for inst in f.walk_body(f.body()) {
                for with_dtypes in [None, Some(false), Some(true)] {
                    let Some(text) = typed_pattern(f, inst, with_dtypes) else { continue };
                    let why = read(&text).err().map(|p| p.to_string()).unwrap_or_default();
                    let refused = ["contradicts", "no program", "has this"];
                    assert!(
                        !refused.iter().any(|r| why.contains(r)),
                        "{}\n{text}\n{why}",
                        path.display()
                    );
                    count += usize::from(why.is_empty());
                }
            }
        }
    }
    assert!(count > 3000, "{count}");
}

// Returns the instructions of a function as a pattern, with types whose dims are numbers or names. Equal dims have the same name.
fn typed_function(f: &Function, names: usize) -> Option<String> {
    let ty = |value: ValueId| {
        let shape = f.value_type(value).as_tensor()?.known_shape()?;
        let dim = |(axis, n): (usize, &u64)| match (axis + value.index()) % names {
            0 => n.to_string(),
            _ => format!("d{n}"),
        };
        let dims: Vec<String> = shape.iter().enumerate().map(dim).collect();
        Some(format!("[{}]", dims.join(", ")))
    };
    let named = |value: ValueId| Some(format!("v{}: {}", value.index(), ty(value)?));
    let (mut text, mut users) = ("pattern p:\n".to_owned(), Vec::new());
    let mut count = 0;
    for inst in f.body_insts(f.body()) {
        let (Some(result), Some(def)) = (f.value_of(inst), f.op_def(inst)) else { continue };
        let attrs: Vec<(&str, String)> = def
            .attrs
            .iter()
            .zip(f.attrs(inst).iter())
            .map(|(row, attr)| (row.name, sapwood_rules::show_attr(attr)))
            .collect();
        let is_plain =
            |(_, text): &(&str, String)| !text.starts_with('"') && !text.starts_with('{');
        let of_op = def.regions.is_empty()
            && !def.name.contains('.')
            && def.name != "constant"
            && attrs.iter().all(is_plain);
        if of_op {
            let operands =
                f.operands(inst).iter().map(|&v| named(v)).collect::<Option<Vec<_>>>()?;
            let attrs = attrs.iter().filter(|(_, text)| !text.starts_with("none"));
            let attrs = attrs.map(|(name, text)| format!("{name} = {text}"));
            let all: Vec<String> = operands.into_iter().chain(attrs).collect();
            let (op, result) = (def.name, result.index());
            text.push_str(&format!("  let v{result} = {op}({})\n", all.join(", ")));
            count += 1;
        }
        users.push(named(result)?);
    }
    text.push_str(&format!("  my.user({})", users.join(", ")));
    (count > 1).then_some(text)
}

#[test]
fn dims_of_a_program_do_not_contradict_each_other() {
    let mut count = 0;
    for entry in fs::read_dir(repository().join("tests/golden/patterns")).unwrap() {
        let path = entry.unwrap().path();
        let Ok(program) = parse(&fs::read_to_string(&path).unwrap_or_default()) else { continue };
        for f in program.functions() {
            // All dims have names, or every second or third is a number.
            for names in [1, 2, 3, 1000] {
                let Some(text) = typed_function(f, names) else { continue };
                let why = read(&text).err().map(|p| p.to_string()).unwrap_or_default();
                let refused = ["contradicts", "no program"];
                let found = refused.iter().find(|words| why.contains(**words));
                assert!(found.is_none(), "{}\n{text}\n{why}", path.display());
                count += usize::from(why.is_empty());
            }
        }
    }
    assert!(count > 1000, "{count}");
}

#[test]
fn long_patterns_with_optional_ops_are_checked_in_time() {
    const LONGEST: std::time::Duration = std::time::Duration::from_secs(10);
    let mut text = "pattern p:\n  let v0 = transpose(x: [a, b], perm = [1, 0])\n".to_owned();
    for n in 1..2000 {
        let op = match n < 1994 {
            true => format!("transpose(v{}, perm = [1, 0])", n - 1),
            false => format!("exp?(v{})", n - 1),
        };
        text.push_str(&format!("  let v{n} = {op}\n"));
    }
    text.push_str("  exp(v1999)");
    let start = std::time::Instant::now();
    assert!(read(&text).is_ok());
    assert!(start.elapsed() < LONGEST, "{:?}", start.elapsed());
}

#[test]
fn bounds_that_floats_round_are_not_refused() {
    let text = "pattern p: add(x, const c) where c > 9007199254740992, c < 9007199254740994";
    assert!(read(text).is_ok());
}

#[test]
fn element_types_of_products_are_not_refused() {
    for dtype in ["bf16", "f16", "f32", "f64", "i8", "u8", "i64", "c128"] {
        for name in ["accumulate", "out"] {
            let axes = "lhs_batch = [], rhs_batch = [], lhs_contract = [1], rhs_contract = [0]";
            let text = format!("pattern p: dot_general(x, y, {axes}, {name} = {dtype})");
            assert!(read(&text).is_ok(), "{text}");
        }
    }
}
