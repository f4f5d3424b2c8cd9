//! Tests of the reference page of the text form: every example is parsed, verified and printed unchanged, and every node type
//! has an example and a golden file.

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use sapwood_ir::{
    Callee, Expr, Function, Program, Stmt, Type, VerifyLevel, parse_program, print_program, verify,
};
use sapwood_structural::{Node, NodeWalk, WalkAction};
use sapwood_types::Source;

fn node_types() -> Vec<&'static str> {
    let infos = [
        Expr::types(),
        Callee::types(),
        Type::types(),
        Stmt::types(),
        Function::types(),
        Program::types(),
    ];
    infos.concat().into_iter().map(|info| info.key().trim_start_matches("ir.")).collect()
}

fn snake(name: &str) -> String {
    let mut out = String::new();
    for c in name.chars() {
        if c.is_uppercase() && !out.is_empty() {
            out.push('_');
        }
        out.extend(c.to_lowercase());
    }
    out
}

#[test]
fn every_node_type_has_an_example_that_holds() {
    let page = sapwood_testing::repository().join("docs/reference/ir-text.md");
    let page = std::fs::read_to_string(page).unwrap();
    for name in node_types() {
        let heading = format!("\n### {name}\n");
        let at = page.find(&heading).unwrap_or_else(|| panic!("the page has no {name}"));
        let rest = &page[at + heading.len()..];
        let start = rest.find("```python\n").expect("an example") + "```python\n".len();
        let end = rest[start..].find("```").expect("the end of the example");
        let text = &rest[start..start + end];
        let source = Source::new(name, text);
        let program = parse_program(&source).unwrap_or_else(|e| panic!("{}", e.render(&source)));
        let problems = verify(&program, VerifyLevel::WellFormed);
        assert!(problems.is_empty(), "{}", problems.render(&source));
        assert_eq!(print_program(&program).unwrap(), text, "{name}");
        let mut keys = BTreeSet::new();
        let _ = NodeWalk::of(&program).pre_order(|at| {
            keys.insert(at.node().info().key());
            ControlFlow::<(), _>::Continue(WalkAction::Into)
        });
        assert!(keys.contains(format!("ir.{name}").as_str()), "the example shows no {name}");
    }
}

#[test]
fn every_node_type_has_its_golden_files() {
    let names: Vec<String> = node_types().into_iter().map(snake).collect();
    let folder = sapwood_testing::repository().join("tests/golden/ir");
    for kind in ["print", "verify"] {
        let names = names.iter().map(String::as_str);
        sapwood_testing::registry::check_files("node type", names, &folder.join(kind), "ir")
            .unwrap();
    }
    for name in &names {
        let file = std::fs::read_to_string(folder.join(format!("verify/{name}.ir"))).unwrap();
        let on_its_line = |line: &str| line.contains("#~ ") && line.contains("error: ");
        assert!(file.lines().any(on_its_line), "{name}: no message on its line");
    }
}

#[test]
fn every_pass_has_its_golden_file() {
    let folder = sapwood_testing::repository().join("tests/golden/ir/passes");
    let names = sapwood_ir::passes::PASSES.map(|(name, _)| name);
    sapwood_testing::registry::check_files("pass", names, &folder, "ir").unwrap();
}
