//! Tests of execution: control flow, calls, captures, limits, errors, depth.

use std::fmt::Write;
use std::sync::Arc;
use std::time::Duration;

use sapwood_ptir::eval::{
    self, DataType, EvalError, Evaluate, FoldLimits, Kernels, RunOptions, Tensor, Value,
};
use sapwood_ptir::{OpKey, parse};
use sapwood_testing::on_small_stack;

fn f32s(values: &[f32]) -> Value {
    Tensor::new(DataType::F32, [values.len()], values.to_vec()).into()
}

fn i32s(value: i32) -> Value {
    Tensor::scalar(value).into()
}

fn run_with(text: &str, inputs: &[Value], options: &RunOptions) -> Result<Vec<Value>, EvalError> {
    let program = parse(text).unwrap_or_else(|e| panic!("{e}"));
    eval::run(&program, "main", inputs, options)
}

fn run(text: &str, inputs: &[Value]) -> Result<Vec<Value>, EvalError> {
    run_with(text, inputs, &RunOptions::default())
}

#[track_caller]
fn shows(text: &str, inputs: &[Value], expected: &[&str]) {
    let found = run(text, inputs).unwrap_or_else(|e| panic!("{e}"));
    let found: Vec<String> = found.iter().map(ToString::to_string).collect();
    assert_eq!(found, expected);
}

#[track_caller]
fn fails(text: &str, inputs: &[Value], expected: &str) {
    assert_eq!(run(text, inputs).unwrap_err().to_string(), expected);
}

const ADD: &str = "ptir 1 func @main(%x: f32[?N], %y: f32[?N]) -> f32[?N] { %z = add %x, %y : f32[?N] return %z }";

#[test]
fn inputs_are_checked() {
    shows(ADD, &[f32s(&[1.0, 2.0]), f32s(&[10.0, 20.0])], &["[11.0, 22.0] : f32[2]"]);
    let (two, one) = (f32s(&[1.0, 2.0]), f32s(&[10.0]));
    fails(
        ADD,
        &[two.clone(), one],
        "@main: dim ?N is 1 in axis 0 of input 1, but was 2 in axis 0 of input 0",
    );
    fails(ADD, std::slice::from_ref(&two), "@main: expected 2 inputs, found 1");
    fails(ADD, &[two.clone(), i32s(1)], "@main: input 1 is i32[], expected f32[?N]");
    fails(ADD, &[two, Value::Token], "@main: input 1 is token, expected f32[?N]");
    let program = parse(ADD).unwrap();
    let missing = eval::run(&program, "nowhere", &[], &RunOptions::default()).unwrap_err();
    assert_eq!(missing.to_string(), "@nowhere: there is no function @nowhere");
}

#[test]
fn unknown_dims_conflict_at_the_instruction() {
    let text = "ptir 1 func @main(%x: f32[?], %y: f32[?]) -> f32[?] { %z = add %x, %y : f32[?] return %z }";
    let (two, three) = (f32s(&[1.0, 2.0]), f32s(&[1.0, 2.0, 3.0]));
    fails(
        text,
        &[two.clone(), three.clone()],
        "@main: `%z = add %x, %y : f32[?]`: axis 0 is 2 in operand 0 and 3 in operand 1",
    );
    let refine = "ptir 1 func @main(%x: f32[?]) -> f32[3] { %y = refine %x : f32[3] return %y }";
    shows(refine, &[three], &["[1.0, 2.0, 3.0] : f32[3]"]);
    fails(
        refine,
        &[two],
        "@main: `%y = refine %x : f32[3]`: the operand is f32[2], which cannot be f32[3]",
    );
}

#[test]
fn branches_run_alone_and_see_the_values_around_them() {
    let text = "ptir 1 func @main(%p: bool[], %x: i32[]) -> i32[] {
      %one = constant 1 : i32[]
      %y = cond %p () { %a = add %x, %one : i32[] yield %a } () { %b = sub %x, %one : i32[] yield %b } : i32[]
      return %y
    }";
    shows(text, &[Tensor::scalar(true).into(), i32s(5)], &["6 : i32[]"]);
    shows(text, &[Tensor::scalar(false).into(), i32s(5)], &["4 : i32[]"]);
    let text = "ptir 1 func @main(%i: i32[]) -> i32[] {
      %y = case %i () { %a = constant 10 : i32[] yield %a } () { %b = constant 11 : i32[] yield %b } () { %c = constant 12 : i32[] yield %c } : i32[]
      return %y
    }";
    for (index, expected) in [(0, 10), (1, 11), (2, 12), (3, 12), (-1, 12), (i32::MIN, 12)] {
        shows(text, &[i32s(index)], &[&format!("{expected} : i32[]")]);
    }
}

const COUNT: &str = "ptir 1 func @main(%n: i32[]) -> (i32[], i32[]) {
      %zero = constant 0 : i32[]
      %one = constant 1 : i32[]
      %r, %sum = while %zero, %zero (%h: i32[], %q: i32[]) {
        %go = compare %h, %n {direction = lt} : bool[]
        yield %go
      } (%i: i32[], %s: i32[]) {
        %next = add %i, %one : i32[]
        %more = add %s, %next : i32[]
        yield %next, %more
      } : i32[], i32[]
      return %r, %sum
    }";

#[test]
fn loops_carry_values() {
    shows(COUNT, &[i32s(4)], &["4 : i32[]", "10 : i32[]"]);
    shows(COUNT, &[i32s(0)], &["0 : i32[]", "0 : i32[]"]);
    shows(COUNT, &[i32s(300_000)], &["300000 : i32[]", "2050477040 : i32[]"]);
}

#[test]
fn loops_end_at_the_limits() {
    let forever = COUNT.replace("direction = lt", "direction = ne");
    let options = RunOptions { max_steps: Some(1000), ..RunOptions::default() };
    let steps = run_with(&forever, &[i32s(-1)], &options).unwrap_err().to_string();
    assert!(steps.starts_with("@main: `%"), "{steps}");
    assert!(steps.ends_with(": the limit of 1000 steps is reached"), "{steps}");
    let options =
        RunOptions { time_limit: Some(Duration::from_millis(20)), ..RunOptions::default() };
    let time = run_with(&forever, &[i32s(-1)], &options).unwrap_err().to_string();
    assert!(time.ends_with("the time limit of 20ms is reached"), "{time}");
}

#[test]
fn memory_is_limited_and_given_back() {
    let text = "ptir 1 func @main() -> f32[] {
      %a = iota {axis = 0} : f32[1000000]
      %b = reverse %a {axes = [0]} : f32[1000000]
      %c = reverse %b {axes = [0]} : f32[1000000]
      %d = reverse %c {axes = [0]} : f32[1000000]
      %s = reduce_max %d {axes = [0]} : f32[]
      return %s
    }";
    let limited =
        |max_bytes| run_with(text, &[], &RunOptions { max_bytes, ..RunOptions::default() });
    // Two at a time are enough.
    assert_eq!(limited(8_100_000).unwrap()[0].to_string(), "999999.0 : f32[]");
    assert_eq!(
        limited(7_900_000).unwrap_err().to_string(),
        "@main: `%b = reverse %a {axes = [0]} : f32[1000000]`: 4000000 more bytes are needed, but 4000000 of at \
         most 7900000 are in use"
    );
    let huge = "ptir 1 func @main() -> i32[99999999999] { %a = iota {axis = 0} : i32[99999999999] return %a }";
    fails(
        huge,
        &[],
        "@main: `%a = iota {axis = 0} : i32[99999999999]`: 399999999996 more bytes are needed, but 0 of at most \
         8589934592 are in use",
    );
}

#[test]
fn splats_stay_splats() {
    let text = "ptir 1 func @main() -> (f32[1000000000000], f32[]) {
      %x = constant 2.0 : f32[1000000000000]
      %y = mul %x, %x : f32[1000000000000]
      %z = exp %y : f32[1000000000000]
      %m = reduce_max %y {axes = [0]} : f32[]
      return %z, %m
    }";
    shows(text, &[], &["54.59815 : f32[1000000000000]", "4.0 : f32[]"]);
}

#[test]
fn scans_carry_and_stack() {
    let text = "ptir 1 func @main(%x: f32[?N]) -> (f32[], f32[?N]) {
      %zero = constant 0.0 : f32[]
      %sum, %sums = scan %zero, %x {carried = 1, reverse = REVERSE} (%s: f32[], %e: f32[]) {
        %t = add %s, %e : f32[]
        yield %t, %t
      } : f32[], f32[?N]
      return %sum, %sums
    }";
    let (forth, back) = (text.replace("REVERSE", "false"), text.replace("REVERSE", "true"));
    let x = f32s(&[1.0, 2.0, 4.0]);
    shows(&forth, std::slice::from_ref(&x), &["7.0 : f32[]", "[1.0, 3.0, 7.0] : f32[3]"]);
    shows(&back, &[x], &["7.0 : f32[]", "[7.0, 6.0, 4.0] : f32[3]"]);
    shows(&forth, &[f32s(&[])], &["0.0 : f32[]", "[] : f32[0]"]);
    shows(&forth, &[f32s(&[5.0])], &["5.0 : f32[]", "5.0 : f32[1]"]);
}

#[test]
fn scans_of_nothing_know_the_dims_that_have_a_name() {
    let text = "ptir 1 func @main(%x: f32[?N, ?B]) -> f32[?N, ?B] {
      %ys = scan %x {carried = 0} (%e: f32[?B]) { %t = add %e, %e : f32[?B] yield %t } : f32[?N, ?B]
      return %ys
    }";
    let x = Tensor::new(DataType::F32, [0, 8], Vec::<f32>::new());
    let found = run(text, &[x.into()]).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(found[0].ty().to_string(), "f32[0, 8]");
}

#[test]
fn results_are_checked_against_the_signature() {
    let text = "ptir 1 func @main(%x: f32[?]) -> f32[4] { return %x }";
    fails(text, &[f32s(&[1.0, 2.0, 3.0])], "@main: result 0 is f32[3], expected f32[4]");
    let text = "ptir 1 func @main(%x: f32[?B], %y: f32[?]) -> f32[?B] { return %y }";
    let (one, two) = (f32s(&[1.0]), f32s(&[1.0, 2.0]));
    fails(
        text,
        &[one, two.clone()],
        "@main: dim ?B is 2 in axis 0 of result 0, but was 1 in axis 0 of input 0",
    );
    shows(text, &[two.clone(), two.clone()], &["[1.0, 2.0] : f32[2]"]);
    // For a callee, the error is at the call.
    let text = "ptir 1
    func @keep(%x: f32[?]) -> f32[4] { return %x }
    func @main(%x: f32[?]) -> f32[4] { %y = call @keep %x : f32[4] return %y }";
    fails(
        text,
        &[two],
        "@main: `%y = call @keep %x : f32[4]`: result 0 is f32[2], expected f32[4]",
    );
}

#[test]
fn a_reshape_with_two_unknown_dims_names_one() {
    let text =
        "ptir 1 func @main(%x: f32[?]) -> f32[?N, ?] { %y = reshape %x : f32[?N, ?] return %y }";
    if parse(text).is_ok() {
        let six = f32s(&[1.0; 6]);
        let found = run(text, &[six]).unwrap_err().to_string();
        assert!(!found.contains("36"), "{found}");
    }
}

#[test]
fn many_named_dims_are_distinguished() {
    const NAMES: usize = 40;
    let list = |f: &dyn Fn(usize) -> String| (0..NAMES).map(f).collect::<Vec<_>>().join(", ");
    let mut text = format!(
        "ptir 1 func @main({}, %last: f32[?]) -> ({}) {{ return {}, %last }}",
        list(&|i| format!("%x{i}: f32[?N{i}]")),
        list(&|i| format!("f32[?N{i}]")) + ", f32[?N30]",
        list(&|i| format!("%x{i}")),
    );
    let mut inputs: Vec<Value> = (0..NAMES).map(|i| f32s(&vec![1.0; i])).collect();
    inputs.push(f32s(&[1.0; 30]));
    assert_eq!(run(&text, &inputs).unwrap_or_else(|e| panic!("{e}")).len(), NAMES + 1);
    text = text.replace(", f32[?N30])", ", f32[?N31])");
    fails(
        &text,
        &inputs,
        "@main: dim ?N31 is 30 in axis 0 of result 40, but was 31 in axis 0 of input 31",
    );
}

#[test]
fn functions_call_functions_with_dims_of_their_own() {
    let text = "ptir 1
    func @double(%x: f32[?N]) -> f32[?N] { %y = add %x, %x : f32[?N] return %y }
    func @main(%x: f32[?A], %y: f32[?B]) -> (f32[?A], f32[?B]) {
      %a = call @double %x : f32[?A]
      %b = call @double %y : f32[?B]
      return %a, %b
    }";
    shows(text, &[f32s(&[1.0, 2.0]), f32s(&[4.0])], &["[2.0, 4.0] : f32[2]", "8.0 : f32[1]"]);
}

#[test]
fn ops_without_an_evaluation_are_errors() {
    let text = "ptir 1 func @main(%x: f32[]) -> f32[] { %y = demo.thing %x : f32[] return %y }";
    fails(
        text,
        &[Tensor::scalar(1f32).into()],
        "@main: `%y = demo.thing %x : f32[]`: op `demo.thing` has no evaluation",
    );
    let text =
        "ptir 1 func @main(%x: f32[]) -> f32[] { %y = custom_call \"mine\" %x : f32[] return %y }";
    fails(
        text,
        &[Tensor::scalar(1f32).into()],
        "@main: `%y = custom_call \"mine\" %x : f32[]`: nothing implements the custom call \"mine\"",
    );
}

struct CustomKernels;

impl Kernels for CustomKernels {
    fn kernel(&self, op: OpKey) -> Option<Arc<Evaluate>> {
        (op.name() == "exp")
            .then(|| -> Arc<Evaluate> { Arc::new(|_| eval::one(Tensor::scalar(42f32))) })
    }
    fn custom_call(&self, target: &str) -> Option<Arc<Evaluate>> {
        (target == "mine")
            .then(|| -> Arc<Evaluate> { Arc::new(|cx| Ok(cx.take_args().into_iter().collect())) })
    }
}

#[test]
fn kernels_can_be_replaced() {
    let options = RunOptions { kernels: Some(Arc::new(CustomKernels)), ..RunOptions::default() };
    let text = "ptir 1 func @main(%x: f32[SHAPE]) -> f32[SHAPE] {
      %y = custom_call \"mine\" %x : f32[SHAPE]
      %z = exp %y : f32[SHAPE]
      return %z
    }";
    let found = run_with(&text.replace("SHAPE", ""), &[Tensor::scalar(1f32).into()], &options);
    assert_eq!(found.unwrap()[0].to_string(), "42.0 : f32[]");
    let wrong = run_with(&text.replace("SHAPE", "2"), &[f32s(&[1.0, 2.0])], &options).unwrap_err();
    assert_eq!(
        wrong.to_string(),
        "@main: `%z = exp %y : f32[2]`: result 0 is f32[], expected f32[2]"
    );
}

#[test]
fn a_region_of_its_own_and_a_named_reduction_agree() {
    let text = "ptir 1 func @main(%x: f32[?N]) -> (f32[], f32[], f32[]) {
      %zero = constant 0.0 : f32[]
      %a = reduce_sum %x {axes = [0]} : f32[]
      %b = reduce %x, %zero {axes = [0]} (%s: f32[], %e: f32[]) { %t = add %s, %e : f32[] yield %t } : f32[]
      %c = reduce %x, %zero {axes = [0]} (%p: f32[], %q: f32[]) { %u = add %zero, %q : f32[] %v = add %p, %u : f32[] yield %v } : f32[]
      return %a, %b, %c
    }";
    let x: Vec<f32> = (0..1000).map(|i| 1.0 / (i as f32 + 0.7)).collect();
    let found = run(text, &[f32s(&x)]).unwrap();
    let sum = x.iter().fold(0f32, |s, x| s + x);
    for value in &found {
        assert_eq!(value.as_tensor().unwrap().as_splat::<f32>().unwrap().to_bits(), sum.to_bits());
    }
}

#[test]
fn depth_is_harmless() {
    const DEPTH: usize = 100_000;
    let mut text = String::from("ptir 1 func @main(%p: bool[], %x: i32[]) -> i32[] {\n");
    for i in 0..DEPTH {
        let _ = writeln!(text, "%v{i} = cond %p () {{");
    }
    text.push_str("yield %x\n");
    for i in (0..DEPTH).rev() {
        let _ = writeln!(text, "}} () {{ yield %x }} : i32[]");
        let _ = writeln!(text, "{} %v{i}", if i == 0 { "return" } else { "yield" });
    }
    text.push('}');
    on_small_stack(|| {
        shows(&text, &[Tensor::scalar(true).into(), i32s(7)], &["7 : i32[]"]);
        let program = parse(&text).unwrap();
        let f = program.function("main").unwrap();
        let outermost = f.body_insts(f.body()).next().unwrap();
        assert_eq!(eval::fold_inst(f, outermost, &FoldLimits::default()), None);
    });

    let mut text = String::from("ptir 1\n");
    for i in 0..DEPTH {
        let name = if i == 0 { "main".into() } else { format!("f{i}") };
        let _ = writeln!(
            text,
            "func @{name}(%x: i32[]) -> i32[] {{ %y = call @f{} %x : i32[] return %y }}",
            i + 1
        );
    }
    let _ = writeln!(
        text,
        "func @f{DEPTH}(%x: i32[]) -> i32[] {{ %y = add %x, %x : i32[] return %y }}"
    );
    on_small_stack(|| shows(&text, &[i32s(7)], &["14 : i32[]"]));
}

#[test]
fn reductions_nest_deep() {
    const DEPTH: usize = 20_000;
    let mut text = String::from("ptir 1 func @main(%x: i32[1], %z: i32[]) -> i32[] {\n");
    for i in 0..DEPTH {
        let _ =
            writeln!(text, "%v{i} = reduce %x, %z {{axes = [0]}} (%a{i}: i32[], %b{i}: i32[]) {{");
    }
    text.push_str("yield %z\n");
    for i in (0..DEPTH).rev() {
        let _ = writeln!(text, "}} : i32[]");
        let _ = writeln!(text, "{} %v{i}", if i == 0 { "return" } else { "yield" });
    }
    text.push('}');
    let x = Tensor::new(DataType::I32, [1], vec![3]);
    on_small_stack(|| shows(&text, &[x.clone().into(), i32s(7)], &["7 : i32[]"]));
    let program = parse(&text).unwrap();
    let options = RunOptions { max_bytes: 1 << 20, ..RunOptions::default() };
    let memory = eval::run(&program, "main", &[x.into(), i32s(7)], &options).unwrap_err();
    assert!(memory.to_string().ends_with("of at most 1048576 are in use"), "{memory}");
}

// A symbol that no parameter has is bound again in each iteration.
#[test]
fn a_symbol_of_a_loop_body_is_bound_in_each_iteration() {
    let text = "ptir 1 func @main(%x: f32[?], %n: i32[]) -> f32[?] {
      %one = constant 1 : i32[]
      %zero = constant 0 : i32[]
      %i, %y = while %zero, %x (%a: i32[], %b: f32[?]) {
        %more = compare %a, %n {direction = lt} : bool[]
        yield %more
      } (%c: i32[], %d: f32[?]) {
        %m = refine %d : f32[?m]
        %sum = add %m, %m : f32[?m]
        %longer = concat %m, %sum {axis = 0} : f32[?]
        %next = add %c, %one : i32[]
        yield %next, %longer
      } : i32[], f32[?]
      return %y
    }";
    shows(text, &[f32s(&[1.0]), i32s(2)], &["[1.0, 2.0, 2.0, 4.0] : f32[4]"]);
    // Within an iteration it is one number.
    let conflict = text.replace("refine %d : f32[?m]", "refine %x : f32[?m]").replace(
        "concat %m, %sum {axis = 0} : f32[?]",
        "concat %d, %sum {axis = 0} : f32[?] %k = refine %longer : f32[?m]",
    );
    let error = run(&conflict, &[f32s(&[1.0]), i32s(2)]).unwrap_err().to_string();
    assert!(error.contains("the operand is f32[2], which cannot be f32[1]"), "{error}");
}

// Ten symbols: those behind the first few are found by a map, and unbound with their body.
#[test]
fn many_symbols_of_a_body_are_unbound() {
    let mut body = String::new();
    for n in 0..10 {
        let _ = write!(body, "%r{n} = refine %d : f32[?m{n}] ");
    }
    let text = format!(
        "ptir 1 func @main(%x: f32[?]) -> f32[?] {{
           %y = scan %x {{carried = 1, length = 3}} (%d: f32[?]) {{
             {body} %l = concat %r0, %r9 {{axis = 0}} : f32[?] yield %l
           }} : f32[?]
           return %y
         }}"
    );
    shows(&text, &[f32s(&[1.0])], &["1.0 : f32[8]"]);
}
