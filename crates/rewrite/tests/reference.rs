//! Checks that `docs/reference/patterns.md` agrees with the doc comments. `BLESS=1` writes it.

use std::fmt::Write;

use sapwood_rewrite::canonicalize;
use sapwood_testing::repository;

const MODES: &[&str] = &["exact", "nsz", "fast", "never"];

// Returns the doc comment of a function in three parts: the algebra, the remarks, the float mode.
fn documented(source: &str, name: &str) -> Result<(String, String, String), String> {
    let lines: Vec<&str> = source.lines().collect();
    let head = [format!("fn {name}("), format!("pub fn {name}("), format!("fn {name}<")];
    let at = lines
        .iter()
        .position(|l| head.iter().any(|h| l.starts_with(h.as_str())))
        .ok_or_else(|| format!("unknown function `{name}`"))?;
    let mut doc: Vec<&str> = Vec::new();
    for line in lines[..at].iter().rev() {
        if let Some(text) = line.strip_prefix("///") {
            doc.push(text.strip_prefix(' ').unwrap_or(text));
        } else if !line.starts_with("#[") {
            break;
        }
    }
    doc.reverse();
    let algebra = doc.first().copied().unwrap_or_default();
    if !algebra.starts_with('`') {
        return Err(format!("the first line of `{name}` has to state the algebra: `x + 0 = x`"));
    }
    let mode = doc.iter().find_map(|l| l.strip_prefix("Floats: "));
    let Some(mode) = mode.filter(|m| MODES.iter().any(|known| m.starts_with(known))) else {
        return Err(format!("`{name}` needs a line `Floats: exact`, `nsz`, `fast` or `never`"));
    };
    let rest = doc[1..].iter().filter(|l| !l.starts_with("Floats: ") && !l.is_empty());
    let rest: Vec<&str> = rest.copied().collect();
    Ok((algebra.to_owned(), rest.join(" "), mode.trim_end_matches('.').to_owned()))
}

fn page() -> String {
    let mut out = String::from(
        "# Patterns\n\nGenerated from the doc comments of the patterns; do not edit. A pattern has one name everywhere: here, in \
         statistics, in\n`--only`, in `tests/golden/patterns`. Laws hold for integers bit for bit. The last column is the \
         float mode that a law needs on\nfloats: `exact` always holds, `nsz` may change the sign of zero, `fast` may change more, `never` \
         is not applied to floats.\n",
    );
    for list in canonicalize::LISTS {
        let path = format!("crates/rewrite/src/canonicalize/{}.rs", list.family);
        let source = std::fs::read_to_string(repository().join(&path)).unwrap_or_default();
        let _ = write!(
            out,
            "\n## {}\n\n| pattern | law | floats |\n| --- | --- | --- |\n",
            list.family
        );
        for entry in list.entries {
            let (algebra, rest, mode) =
                documented(&source, entry.name).unwrap_or_else(|e| panic!("{path}: {e}"));
            let law = format!("{algebra} {rest}").trim().replace('|', "\\|");
            let _ = writeln!(out, "| `{}` | {law} | {mode} |", entry.name);
        }
    }
    out
}

fn check_fresh(name: &str, expected: &str) {
    let path = repository().join("docs/reference").join(name);
    if std::env::var_os("BLESS").is_some_and(|v| v == "1") {
        std::fs::write(&path, expected).unwrap();
    }
    let found = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(found == expected, "docs/reference/{name} is stale; run with BLESS=1");
}

#[test]
fn the_reference_of_patterns_is_fresh() {
    check_fresh("patterns.md", &page());
}

// One algebraic law counts once, for any number of ops. The golden files of patterns are checked for a case where each fires
// and one where it must not.
#[test]
fn at_least_eighty_laws_are_listed_each_with_its_golden_file() {
    let page = page();
    let rows = page.lines().filter_map(|line| line.strip_prefix("| `")?.split_once("` | "));
    let mut laws = std::collections::BTreeSet::new();
    for (name, law) in rows {
        let algebra = law.split('`').nth(1).unwrap_or_default();
        laws.insert(algebra.to_owned());
        let path = repository().join("tests/golden/patterns").join(format!("{name}.ptir"));
        let text = std::fs::read_to_string(&path).unwrap_or_default();
        for case in ["func @fires", "func @stays"] {
            assert!(text.contains(case), "{}: there is no `{case}`", path.display());
        }
    }
    assert!(laws.len() >= 80, "{} laws", laws.len());
}

#[test]
fn assumptions_name_patterns_and_can_be_switched_off() {
    let names: Vec<&str> =
        canonicalize::LISTS.iter().flat_map(|list| list.entries).map(|entry| entry.name).collect();
    for assumption in sapwood_rewrite::ASSUMPTIONS {
        for pattern in assumption.patterns {
            assert!(names.contains(pattern), "{}: `{pattern}` does not exist", assumption.name);
        }
        assert!(!names.contains(&assumption.name), "{} is a pattern", assumption.name);
        let pipeline = format!("simplify{{disable={}}}", assumption.name);
        assert!(sapwood_rewrite::PassManager::parse(&pipeline).is_ok(), "{pipeline}");
    }
}

#[test]
fn every_op_with_a_rule_for_shape_values_is_in_a_golden_file() {
    let folder = repository().join("tests/golden/patterns");
    let files = ["shape_value_as_dims", "decided_by_facts", "size_as_dims"];
    let texts =
        files.map(|name| std::fs::read_to_string(folder.join(format!("{name}.ptir"))).unwrap());
    // The lines that begin with `//>` are outputs.
    let programs: Vec<&str> = texts.iter().flat_map(|t| t.lines()).collect();
    // A `refine` of a shape is only evaluated when StableHLO is read; the programs of JAX contain it.
    for op in sapwood_ptir::eval::SHAPE_VALUE_OPS.iter().filter(|&&op| op != "refine") {
        let used = |line: &&str| !line.starts_with("//") && line.contains(&format!(" = {op} "));
        assert!(programs.iter().any(used), "no golden file has `{op}` as a shape value");
    }
}
