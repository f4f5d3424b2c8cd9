//! Inlining of functions with named dims.

use crate::meaning;
use sapwood_ptir::{Program, parse, verify};
use sapwood_rewrite::{FloatMode, PassManager};

fn inlined(text: &str) -> (Program, String) {
    let before = parse(text).unwrap();
    let mut after = before.clone();
    let manager = PassManager::parse("inline,symbol-dce{keep=main}").unwrap().verify_each(true);
    manager.run(&mut after).unwrap_or_else(|e| panic!("{e}"));
    verify(&after).unwrap();
    let runs = meaning::agree(&before, &after, "main".into(), FloatMode::Exact, 0..60)
        .unwrap_or_else(|e| panic!("{e}\n{after}"));
    assert!(runs > 5, "only {runs} runs");
    (before, after.to_string())
}

// The extent is bound by the type of a result.
const SPREAD: &str = "func @spread(%x: f32[?], %s: f32[]) -> f32[?] {
  %r = refine %x : f32[?n]
  %b = broadcast_to %s : f32[?n]
  %y = add %r, %b : f32[?n]
  %z = refine %y : f32[?]
  return %z
}";

#[test]
fn names_that_no_argument_tells_become_fresh_ones() {
    let (_, after) = inlined(&format!(
        "ptir 1\n{SPREAD}
        func @main(%x: f32[?], %y: f32[?], %s: f32[], %k: f32[?n]) -> (f32[?], f32[?], f32[?n]) {{
          %a = call @spread %x, %s : f32[?]
          %b = call @spread %y, %s : f32[?]
          return %a, %b, %k
        }}"
    ));
    assert!(!after.contains("call"), "{after}");
    // Three dims that need not be equal get three names.
    assert!(after.contains("broadcast_to %s : f32[?n_1]"), "{after}");
    assert!(after.contains("broadcast_to %s : f32[?n_2]"), "{after}");
}

#[test]
fn a_dim_that_an_argument_leaves_open_gets_a_name() {
    let (_, after) = inlined(
        "ptir 1
        func @like(%x: f32[?N], %s: f32[]) -> f32[?N] {
          %b = broadcast_to %s : f32[?N]
          %y = add %x, %b : f32[?N]
          return %y
        }
        func @main(%x: f32[?], %u: f32[3], %s: f32[]) -> (f32[?], f32[3]) {
          %a = call @like %x, %s : f32[?]
          %b = call @like %u, %s : f32[3]
          return %a, %b
        }",
    );
    assert!(!after.contains("call"), "{after}");
    assert!(after.contains("broadcast_to %s : f32[?N]"), "{after}");
    assert!(after.contains("broadcast_to %s : f32[3]"), "{after}");
}

#[test]
fn in_a_loop_whose_extents_may_change_such_a_call_stays() {
    let (_, after) = inlined(&format!(
        "ptir 1\n{SPREAD}
        func @main(%x: f32[?], %s: f32[]) -> f32[?] {{
          %i = constant 0 : i32[]
          %k, %r = while %i, %x (%a: i32[], %b: f32[?]) {{
            %c = compare %a, 3:i32[] {{direction = lt}} : bool[]
            yield %c
          }} (%d: i32[], %e: f32[?]) {{
            %n = add %d, 1:i32[] : i32[]
            %g = call @spread %e, %s : f32[?]
            %h = concat %g, %x {{axis = 0}} : f32[?]
            yield %n, %h
          }} : i32[], f32[?]
          return %r
        }}"
    ));
    assert!(after.contains("call @spread"), "{after}");
}

#[test]
fn a_call_that_can_only_fail_stays() {
    let text = "ptir 1
        func @four(%x: f32[?N]) -> f32[4] { %y = refine %x : f32[4] return %y }
        func @main(%x: f32[3], %y: f32[4]) -> (f32[4], f32[4]) {
          %a = call @four %x : f32[4]
          %b = call @four %y : f32[4]
          return %a, %b
        }";
    let mut program = parse(text).unwrap();
    let manager = PassManager::parse("inline").unwrap().verify_each(true);
    let report = manager.run(&mut program).unwrap();
    assert_eq!(program.to_string().matches("call @four").count(), 1, "{program}");
    assert!(report.to_string().contains("left"), "{report}");
}

#[test]
fn names_inside_of_tuples_are_seen() {
    let (_, after) = inlined(
        "ptir 1
        func @pair(%x: f32[?N], %s: f32[]) -> (f32[?N], f32[]) {
          %t = tuple %x, %s : tuple<f32[?N], f32[]>
          %a = get_tuple_element %t {index = 0} : f32[?N]
          %b = get_tuple_element %t {index = 1} : f32[]
          return %a, %b
        }
        func @main(%x: f32[?], %s: f32[]) -> (f32[?], f32[]) {
          %a, %b = call @pair %x, %s : f32[?], f32[]
          return %a, %b
        }",
    );
    assert!(!after.contains("call"), "{after}");
}

#[test]
fn symbol_dce_keeps_public_functions_unless_others_are_named() {
    let body = |op: &str| format!("{{ %y = {op} %x : f32[] return %y }}");
    let text = format!(
        "ptir 1
        func @helper(%x: f32[]) -> f32[] {{private = true}} {}
        func @unused(%x: f32[]) -> f32[] {{private = true}} {}
        func @step(%x: f32[]) -> f32[] {}
        func @main(%x: f32[]) -> f32[] {{private = true}} {}",
        body("neg"),
        body("exp"),
        body("call @helper"),
        body("exp")
    );
    let kept = |pipeline: &str| -> Vec<String> {
        let mut program = parse(&text).unwrap();
        PassManager::parse(pipeline).unwrap().run(&mut program).unwrap_or_else(|e| panic!("{e}"));
        program.functions().iter().map(|f| f.name().to_string()).collect()
    };
    assert_eq!(kept("symbol-dce"), ["helper", "step", "main"]);
    assert_eq!(kept("symbol-dce{keep=main}"), ["main"]);
}

#[test]
fn symbol_dce_does_not_remove_all_functions() {
    let text = "ptir 1 func @f(%x: f32[]) -> f32[] {private = true} { return %x }";
    let mut program = parse(text).unwrap();
    let failure = PassManager::parse("symbol-dce").unwrap().run(&mut program).unwrap_err();
    assert!(failure.to_string().contains("name those to keep in `keep`"), "{failure}");
    assert_eq!(program.functions().len(), 1);
}

#[test]
fn scopes_of_callers_and_callees_are_joined() {
    let text = "ptir 1
func @main(%x: f32[4]) -> f32[4] {
  %0 = call @relu %x : f32[4] loc(\"jit(f)/layer_0/jit(relu)\"(\"model.py\":3:4))
  %1 = tanh %0 : f32[4] loc(\"jit(f)/tanh\")
  %n = neg %1 : f32[4] loc(\"jit(f)/neg\")
  %2 = neg %n : f32[4] loc(\"jit(f)/neg_1\")
  %3 = call @relu %2 : f32[4] loc(\"jit(f)/layer_1/jit(relu)\")
  %4 = call @quiet %3 : f32[4] loc(\"jit(f)/quiet\")
  %5 = call @named %4 : f32[4]
  return %5 loc(\"jit(f)\")
}
func @relu(%x: f32[4]) -> f32[4] {private = true} {
  %zero = constant 0.0 : f32[4]
  %y = max %x, %zero : f32[4] loc(\"max\")
  return %y
}
func @quiet(%x: f32[4]) -> f32[4] {private = true} {
  %y = exp %x : f32[4]
  return %y
}
func @named(%x: f32[4]) -> f32[4] {private = true} {
  %y = sin %x : f32[4] loc(\"named/sin\")
  return %y
}
";
    let mut program = parse(text).unwrap();
    let pipeline = PassManager::parse("inline,simplify").unwrap();
    pipeline.run(&mut program).unwrap();
    let f = program.function("main").unwrap();
    let scopes: Vec<String> = f
        .walk()
        .map(|i| format!("{} {}", f.op_name(i), f.inst_span(i).loc().scope().unwrap_or_default()))
        .filter(|line| !line.starts_with("constant"))
        .collect();
    let expected = [
        "max jit(f)/layer_0/jit(relu)/max",
        "tanh jit(f)/tanh",
        "max jit(f)/layer_1/jit(relu)/max",
        "exp jit(f)/quiet",
        "sin named/sin",
        "return jit(f)",
    ];
    assert_eq!(scopes, expected, "{program}");
    let first = f.walk().find(|&i| f.op_name(i) == "max").unwrap();
    assert_eq!(
        f.inst_span(first).loc().to_string(),
        "callsite(\"max\" at \"jit(f)/layer_0/jit(relu)\"(\"model.py\":3:4))"
    );
}
