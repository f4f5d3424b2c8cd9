//! Tests that limits hold in every kernel: long windows, empty results, scratch memory.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use sapwood_ptir::eval::{self, DataType, Fault, RunOptions, StopCheck, Tensor, Value};
use sapwood_ptir::parse;

fn run_with(text: &str, inputs: &[Value], options: &RunOptions) -> Result<Vec<Value>, Fault> {
    let program = parse(text).unwrap_or_else(|e| panic!("{text}: {e}"));
    eval::run(&program, "main", inputs, options).map_err(|e| e.fault)
}

fn run(text: &str, inputs: &[Value]) -> Result<Vec<Value>, Fault> {
    run_with(text, inputs, &RunOptions::default())
}

fn ty(text: &str, inputs: &[Value]) -> String {
    let found = run(text, inputs).unwrap_or_else(|e| panic!("{text}: {e}"));
    found[0].ty().to_string()
}

const LONG: &str = "window = [262144, 262144, 262144, 262144], \
    pads = [[262143, 0], [262143, 0], [262143, 0], [262143, 0]]";

// Windows with 2^72 positions over one element.
fn long_windows() -> [String; 4] {
    let scalars = "(%x: f32[], %y: f32[])";
    let add = format!("{scalars} {{ %s = add %x, %y : f32[] yield %s }}");
    let twice = format!("{scalars} {{ %s = add %x, %y : f32[] %t = neg %s : f32[] yield %t }}");
    let ge = "(%p: f32[], %q: f32[]) { %g = compare %p, %q {direction = ge} : bool[] yield %g }";
    let function = |inst: String| {
        format!(
            "ptir 1 func @main(%a: f32[1, 1, 1, 1], %z: f32[]) -> f32[1, 1, 1, 1] {{
               %r = {inst} : f32[1, 1, 1, 1]
               return %r
             }}"
        )
    };
    [
        function(format!("reduce_window %a, %z {{{LONG}}} {add}")),
        function(format!("reduce_window %a, %z {{{LONG}}} {twice}")),
        function(format!("select_and_scatter %a, %a, %z {{{LONG}}} {ge} {add}")),
        function(format!("select_and_scatter %a, %a, %z {{{LONG}}} {ge} {twice}")),
    ]
}

#[test]
fn windows_end_at_the_limits() {
    let a = Tensor::new(DataType::F32, [1, 1, 1, 1], vec![2f32]);
    let inputs = [a.into(), Tensor::scalar(0f32).into()];
    for text in long_windows() {
        let options = RunOptions { max_steps: Some(1000), ..RunOptions::default() };
        assert_eq!(run_with(&text, &inputs, &options).err(), Some(Fault::Steps { limit: 1000 }));
        let limit = Duration::from_millis(5);
        let options = RunOptions { time_limit: Some(limit), ..RunOptions::default() };
        assert_eq!(run_with(&text, &inputs, &options).err(), Some(Fault::Time { limit }));
    }
}

#[test]
fn a_stop_check_ends_a_run() {
    let text = "ptir 1 func @main(%x: i32[]) -> i32[] {
      %r = while %x (%a: i32[]) { %t = constant true : bool[] yield %t } (%b: i32[]) { yield %b } : i32[]
      return %r
    }";
    let asked = Arc::new(AtomicUsize::new(0));
    let count = asked.clone();
    let stop: StopCheck = Arc::new(move || count.fetch_add(1, Ordering::Relaxed) == 9);
    let options = RunOptions { stop: Some(stop), ..RunOptions::default() };
    let inputs = [Tensor::scalar(1i32).into()];
    assert_eq!(run_with(text, &inputs, &options).err(), Some(Fault::Stopped));
    assert_eq!(asked.load(Ordering::Relaxed), 10);
}

#[test]
fn a_window_as_long_as_the_axis_takes_no_table() {
    // A running sum: 3,000 windows of 3,000 within a few hundred kilobytes.
    let text = "ptir 1 func @main(%x: i32[3000]) -> i32[3000] {
      %z = constant 0 : i32[]
      %r = reduce_window %x, %z {window = [3000], pads = [[2999, 0]]} (%a: i32[], %b: i32[]) {
        %s = add %a, %b : i32[] yield %s
      } : i32[3000]
      return %r
    }";
    let x = Tensor::new(DataType::I32, [3000], vec![1i32; 3000]);
    let options = RunOptions { max_bytes: 200_000, ..RunOptions::default() };
    let found = run_with(text, &[x.into()], &options).unwrap_or_else(|e| panic!("{e}"));
    let expected: Vec<i32> = (1..=3000).collect();
    assert_eq!(found[0].as_tensor().unwrap().elements::<i32>().unwrap(), expected);
}

#[test]
fn running_sums_take_one_addition_each_in_the_same_order() {
    let program = |shape: &str, window: &str, pads: &str, init: &str| {
        format!(
            "ptir 1 func @main(%x: f32[{shape}]) -> f32[{shape}] {{
               %z = constant {init} : f32[]
               %r = reduce_window %x, %z {{window = [{window}], pads = [{pads}]}} (%a: f32[], %b: f32[]) {{
                 %s = add %a, %b : f32[] yield %s
               }} : f32[{shape}]
               return %r
             }}"
        )
    };
    // Numbers whose sum depends on the order.
    let number = |n: usize| [1e8f32, 1.0, -1e8, 0.1, -0.0][n % 5] * (1 + n % 7) as f32;
    let check = |text: &str, dims: [usize; 3], start: fn(usize) -> f32, options: &RunOptions| {
        let [outer, n, inner] = dims;
        let all: Vec<f32> = (0..outer * n * inner).map(number).collect();
        let mut expected = all.clone();
        for row in 0..outer * inner {
            let at = |k: usize| (row / inner) * n * inner + k * inner + row % inner;
            for k in 0..n {
                expected[at(k)] = (0..=k).fold(start(n - 1 - k), |sum, j| sum + all[at(j)]);
            }
        }
        let shape = if outer * inner == 1 { &dims[1..2] } else { &dims[..] };
        let x = Tensor::new(DataType::F32, shape, all);
        let found = run_with(text, &[x.into()], options).unwrap_or_else(|e| panic!("{e}\n{text}"));
        let found = found[0].as_tensor().unwrap().elements::<f32>().unwrap().to_vec();
        let bits = |list: &[f32]| list.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
        assert_eq!(bits(&found), bits(&expected), "{text}");
    };
    // 20,000 additions, not 4 * 10^8.
    let few = RunOptions { max_steps: Some(100), ..RunOptions::default() };
    let long = program("20000", "20000", "[19999, 0]", "0.0");
    let x = Tensor::new(DataType::F32, [20_000], vec![1f32; 20_000]);
    let sums = run_with(&long, &[x.into()], &few).unwrap_or_else(|e| panic!("{e}"));
    let sums = sums[0].as_tensor().unwrap().elements::<f32>().unwrap().to_vec();
    assert!(sums.iter().enumerate().all(|(n, &sum)| sum == (n + 1) as f32));
    check(&program("33", "33", "[32, 0]", "0.0"), [1, 33, 1], |_| 0.0, &few);
    check(&program("33", "33", "[32, 0]", "-0.0"), [1, 33, 1], |_| -0.0, &few);
    let middle = "[0, 0], [8, 0], [0, 0]";
    check(&program("3, 9, 5", "1, 9, 1", middle, "0.0"), [3, 9, 5], |_| 0.0, &few);
    // Padding with a start value that is not neutral counts: the start is added once for each padded element.
    let padded = |pads: usize| (0..pads).fold(1.0, |sum: f32, _| sum + 1.0);
    check(&program("3, 9, 5", "1, 9, 1", middle, "1.0"), [3, 9, 5], padded, &few);
    // A window longer than the axis.
    check(&program("7", "9", "[8, 0]", "0.0"), [1, 7, 1], |_| 0.0, &few);
}

#[test]
fn elements_drawn_far_apart_are_found() {
    let text = "ptir 1 func @main(%x: i32[3]) -> i32[3] {
      %z = constant 0 : i32[]
      %r = reduce_window %x, %z {window = [1], strides = [6000000000000000000], base_dilation = [6000000000000000000]}
        (%a: i32[], %b: i32[]) { %s = add %a, %b : i32[] yield %s } : i32[3]
      return %r
    }";
    let x = Tensor::new(DataType::I32, [3], vec![5i32, 6, 7]);
    let found = run(text, &[x.into()]).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(found[0].to_string(), "[5, 6, 7] : i32[3]");
}

fn nothing(shape: &[usize]) -> Value {
    Tensor::new(DataType::F32, shape, Vec::<f32>::new()).into()
}

#[test]
fn nothing_takes_no_time_however_large_it_is() {
    let text = "ptir 1 func @main(%x: f32[1099511627776, 0]) -> (f32[1099511627776, 0], i32[1099511627776, 0]) {
      %v, %i = top_k %x {k = 0} : f32[1099511627776, 0], i32[1099511627776, 0]
      return %v, %i
    }";
    assert_eq!(ty(text, &[nothing(&[1 << 40, 0])]), "f32[1099511627776, 0]");
    let text =
        "ptir 1 func @main(%x: f32[0, 4294967296, 4294967296]) -> f32[0, 4294967296, 4294967296] {
      %r = cholesky %x : f32[0, 4294967296, 4294967296]
      return %r
    }";
    let x = nothing(&[0, 1 << 32, 1 << 32]);
    assert_eq!(ty(text, &[x]), "f32[0, 4294967296, 4294967296]");
    let big = "f32[1099511627776, 1099511627776, 0]";
    let x = nothing(&[1 << 40, 1 << 40, 0]);
    for (inst, result) in [
        ("concat %x, %x {axis = 2}", big),
        ("iota {axis = 0}", big),
        ("reverse %x {axes = [0, 1]}", big),
    ] {
        let text = format!(
            "ptir 1 func @main(%x: {big}) -> {result} {{ %r = {inst} : {result} return %r }}"
        );
        assert_eq!(ty(&text, std::slice::from_ref(&x)), result, "{inst}");
    }
}

#[test]
fn results_whose_count_overflows_are_rejected() {
    let x = nothing(&[0, 1 << 40, 1 << 40]);
    for inst in ["reduce_sum %x {axes = [0]}", "reduce_max %x {axes = [0]}"] {
        let text = format!(
            "ptir 1 func @main(%x: f32[0, 1099511627776, 1099511627776]) -> f32[1099511627776, 1099511627776] {{
               %r = {inst} : f32[1099511627776, 1099511627776]
               return %r
             }}"
        );
        let found = run(&text, std::slice::from_ref(&x)).unwrap_err();
        assert!(matches!(found, Fault::TooLarge { .. }), "{inst}: {found}");
    }
}

#[test]
fn a_gather_of_a_splat_or_of_nothing_takes_no_memory() {
    let text = "ptir 1 func @main(%i: i32[0, 1]) -> f32[0, 1125899906842624] {
      %x = constant 1.0 : f32[1125899906842624]
      %r = gather %x, %i {offset_dims = [1], start_index_map = [0], index_vector_dim = 1,
        slice_sizes = [1125899906842624]} : f32[0, 1125899906842624]
      return %r
    }";
    let none = Tensor::new(DataType::I32, [0, 1], Vec::<i32>::new());
    assert_eq!(ty(text, &[none.into()]), "f32[0, 1125899906842624]");
    let text = text.replace("[0, 1", "[2, 1");
    let two = Tensor::new(DataType::I32, [2, 1], vec![0i32, 0]);
    assert_eq!(ty(&text, &[two.into()]), "f32[2, 1125899906842624]");
}

#[test]
fn scratch_of_one_kernel_adds_up() {
    // The offsets, the packed operands and the expanded operands would each fit alone.
    let text = "ptir 1 func @main() -> f32[] {
      %x = constant 1.0 : f32[100000]
      %r = dot_general %x, %x {lhs_contract = [0], rhs_contract = [0]} : f32[]
      return %r
    }";
    let limited =
        |max_bytes| run_with(text, &[], &RunOptions { max_bytes, ..RunOptions::default() });
    assert_eq!(limited(10_000_000).unwrap()[0].to_string(), "100000.0 : f32[]");
    let found = limited(4_000_000).unwrap_err();
    assert!(matches!(found, Fault::Memory { used: 1.., .. }), "{found}");
    // Groups and batches reuse the same memory one after the other.
    let text = "ptir 1 func @main() -> f32[1000, 10, 10] {
      %x = constant 1.0 : f32[1000, 10, 10]
      %r = dot_general %x, %x {lhs_batch = [0], rhs_batch = [0], lhs_contract = [2], rhs_contract = [1]}
        : f32[1000, 10, 10]
      return %r
    }";
    let options = RunOptions { max_bytes: 1_300_000, ..RunOptions::default() };
    assert!(run_with(text, &[], &options).is_ok());
}

#[test]
fn solving_checks_the_limits() {
    let text = "ptir 1 func @main(%a: f32[400, 400]) -> f32[400, 400] {
      %r = triangular_solve %a, %a : f32[400, 400]
      return %r
    }";
    let a = Tensor::new(DataType::F32, [400, 400], vec![1f32; 160_000]);
    let options = RunOptions { max_steps: Some(1000), ..RunOptions::default() };
    let found = run_with(text, &[a.clone().into()], &options);
    assert_eq!(found.err(), Some(Fault::Steps { limit: 1000 }));
    // Half of the square is solved: 400 * 401 / 2 * 400 operations.
    let options = RunOptions { max_steps: Some(8100), ..RunOptions::default() };
    assert!(run_with(text, &[a.into()], &options).is_ok());
}

#[test]
fn ops_with_shape_operands_refuse_large_shapes_before_they_allocate() {
    let list = |numbers: &[i64]| {
        Value::from(Tensor::new(DataType::I64, [numbers.len()], numbers.to_vec()))
    };
    let scalar = || Value::from(Tensor::scalar(1f32));
    let vector =
        |n: usize| Value::from(Tensor::new(DataType::F32, [n], (0..n).map(|i| i as f32).collect()));
    let ones = |shape: [usize; 3]| {
        Value::from(Tensor::new(DataType::F32, shape, vec![1f32; shape.iter().product()]))
    };
    let million = [1_000_000, 1_000_000];
    let function = |params: &str, inst: &str, ty: &str| {
        format!("ptir 1 func @main({params}) -> {ty} {{ %r = {inst} : {ty} return %r }}")
    };
    let conv = "{input_dims = [0, 1, 2], kernel_dims = [0, 1, 2], output_dims = [0, 1, 2]}";
    let huge = Tensor::new(DataType::I64, [1, 2], vec![1i64 << 40, 0]);
    let cases: Vec<(String, Vec<Value>)> = vec![
        (
            // The result would be stored as one element.
            function(
                "%x: f32[], %s: i64[2]",
                "dynamic_broadcast_in_dim %x, %s {dims = []}",
                "f32[?, ?]",
            ),
            vec![scalar(), list(&million)],
        ),
        (
            function(
                "%x: f32[3], %s: i64[2]",
                "dynamic_broadcast_in_dim %x, %s {dims = [1]}",
                "f32[?, 3]",
            ),
            vec![vector(3), list(&[1_000_000_000_000, 3])],
        ),
        (function("%s: i64[2]", "dynamic_iota %s {axis = 0}", "i32[?, ?]"), vec![list(&million)]),
        (
            function(
                "%x: f32[3], %v: f32[], %l: i64[1], %h: i64[1], %i: i64[1]",
                "dynamic_pad %x, %v, %l, %h, %i",
                "f32[?]",
            ),
            vec![vector(3), scalar(), list(&[1 << 40]), list(&[0]), list(&[0])],
        ),
        (
            function(
                "%x: f32[3], %v: f32[], %l: i64[1], %h: i64[1], %i: i64[1]",
                "dynamic_pad %x, %v, %l, %h, %i",
                "f32[?]",
            ),
            vec![vector(3), scalar(), list(&[0]), list(&[0]), list(&[1 << 40])],
        ),
        (
            function(
                "%x: f32[1, 1, 2], %k: f32[1, 1, 2], %p: i64[1, 2]",
                &format!("dynamic_conv %x, %k, %p {conv}"),
                "f32[1, 1, ?]",
            ),
            vec![ones([1, 1, 2]), ones([1, 1, 2]), huge.into()],
        ),
    ];
    let options = RunOptions { max_bytes: 1 << 16, ..RunOptions::default() };
    for (text, inputs) in &cases {
        let found = run_with(text, inputs, &options);
        assert!(matches!(found, Err(Fault::Memory { limit: 65536, .. })), "{text}: {found:?}");
        // The default limit refuses them as well.
        let found = run(text, inputs);
        assert!(matches!(found, Err(Fault::Memory { .. })), "{text}: {found:?}");
    }
    // Shapes that fit are not refused.
    let text = &cases[0].0;
    assert_eq!(ty(text, &[scalar(), list(&[100, 100])]), "f32[100, 100]");
    let found = run_with(text, &[scalar(), list(&[100, 100])], &options).unwrap();
    assert_eq!(found[0].ty().to_string(), "f32[100, 100]");
}
