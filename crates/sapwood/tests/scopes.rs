//! The scopes of a JAX program, `programs/scopes.mlir`, after passes: in the program, the written file, PTIR text and the page.

use sapwood::explorer::{PageOptions, graph_page};
use sapwood::ptir::{Program, from_json, parse, to_json};
use sapwood::rewrite::PassManager;
use sapwood::{Source, stablehlo};

/// Returns the op and the scope of each instruction of a function's body.
fn scopes(program: &Program) -> Vec<(&'static str, Option<String>)> {
    let f = program.function("main").expect("the program has @main");
    f.body_insts(f.body()).map(|i| (f.op_name(i), f.inst_span(i).loc().scope())).collect()
}

#[test]
fn scopes_survive_inlining_and_simplification() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../programs/scopes.mlir");
    let source = Source::new("scopes.mlir", std::fs::read_to_string(path).unwrap());
    let mut module = stablehlo::read(&source).unwrap();
    PassManager::parse("inline,simplify").unwrap().run(&mut module.program).unwrap();
    let expected = scopes(&module.program);
    for scope in ["layer_0/dot_general", "layer_1/jit(relu)/max", "head/exp", "head/div"] {
        let whole = format!("jit(scopes)/{scope}");
        let found = expected.iter().any(|(_, scope)| scope.as_deref() == Some(&*whole));
        assert!(found, "{whole} in {expected:#?}");
    }
    // Rewrites may create constants of their own, which several instructions share.
    let known = |(op, scope): &(&str, Option<String>)| *op == "constant" || scope.is_some();
    assert!(expected.iter().all(known), "{expected:#?}");

    let written = stablehlo::write(&module).unwrap();
    assert!(written.contains("callsite("), "{written}");
    let again = stablehlo::read(&Source::new("again.mlir", written.as_str())).unwrap();
    // StableHLO has other ops in places, so that one instruction is read back as two.
    let in_order = |program: &Program| {
        let mut list: Vec<_> = scopes(program).into_iter().map(|(_, scope)| scope).collect();
        list.dedup();
        list
    };
    assert_eq!(in_order(&again.program), in_order(&module.program));
    assert_eq!(stablehlo::write(&again).unwrap(), written);
    assert_eq!(scopes(&parse(&module.program.to_string()).unwrap()), expected);
    assert_eq!(scopes(&from_json(&to_json(&module.program)).unwrap()), expected);

    let page = graph_page(&module.program, &PageOptions::new("scopes").source(&source));
    assert!(page.contains("jit(scopes)/layer_1/jit(relu)/max"));
}
