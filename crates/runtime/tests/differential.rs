//! Comparison of the fast kernels with the fixed-order kernels.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use sapwood_check::{NumberTolerance, elements_as_f64};
use sapwood_ptir::eval::{
    self, DataType, EvalCx, Evaluate, Kernels, Results, RunOptions, Tensor, Value,
};
use sapwood_ptir::testing::{RandomProgramConfig, Rng, random_program};
use sapwood_ptir::{OpKey, Registry, TensorType, ValueType};

use sapwood_runtime::{FastKernels, Tolerance};
use sapwood_testing::cases;

fn options(fast: bool, threads: usize) -> RunOptions {
    RunOptions {
        kernels: fast.then(|| Arc::new(FastKernels) as Arc<dyn Kernels>),
        threads,
        max_steps: Some(1 << 20),
        ..RunOptions::default()
    }
}

fn floats(rng: &mut Rng, shape: &[usize], special: bool) -> Value {
    let len = shape.iter().product();
    let element = |rng: &mut Rng| match if special { rng.below(12) } else { 99 } {
        0 => f32::NAN,
        1 => f32::INFINITY,
        2 => f32::NEG_INFINITY,
        3 => -0.0,
        4 => 1e-40,
        _ => rng.below(4001) as f32 / 1000.0 - 2.0,
    };
    let elements: Vec<f32> = (0..len).map(|_| element(rng)).collect();
    Tensor::new(DataType::F32, shape, elements).into()
}

fn agree(text: &str, inputs: &[Value], allowed: NumberTolerance) {
    let program = sapwood_ptir::parse(text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    let exact = eval::run(&program, "f", inputs, &options(false, 1)).unwrap();
    for threads in [1, 2] {
        let fast = eval::run(&program, "f", inputs, &options(true, threads)).unwrap();
        assert_eq!(exact.len(), fast.len());
        for (a, b) in exact.iter().zip(&fast) {
            if let Some(found) = allowed.first_difference(a, b) {
                panic!("{threads} threads: {found:?} in\n{text}");
            }
        }
    }
}

#[test]
fn every_fast_kernel_is_a_registered_op() {
    for (key, _) in FastKernels::ops() {
        assert!(Registry::builtin().get(key).is_some(), "{} is not an op", key.name());
        assert!(FastKernels.kernel(key).is_some());
    }
}

#[test]
fn elementwise_functions_agree() {
    let mut rng = Rng::new(1);
    let allowed = NumberTolerance { relative: 5e-7, absolute: 1e-44 };
    for op in ["exp", "log", "logistic", "tanh", "sqrt", "rsqrt"] {
        for shape in [&[0][..], &[1], &[7], &[3, 5], &[100_003]] {
            let ty = format!("f32{shape:?}");
            let text =
                format!("ptir 1 func @f(%x: {ty}) -> {ty} {{ %y = {op} %x : {ty} return %y }}");
            agree(&text, &[floats(&mut rng, shape, true)], allowed);
        }
    }
    for op in ["add", "sub", "mul", "div"] {
        for shape in [&[0][..], &[1], &[9], &[70_001]] {
            let ty = format!("f32{shape:?}");
            let text = format!(
                "ptir 1 func @f(%x: {ty}, %y: {ty}) -> ({ty}, {ty}) {{
                   %z = {op} %x, %y : {ty}
                   %c = constant 1.5 : {ty}
                   %d = {op} %c, %z : {ty}
                   return %z, %d }}"
            );
            let inputs = [floats(&mut rng, shape, true), floats(&mut rng, shape, true)];
            agree(&text, &inputs, NumberTolerance::SAME);
        }
    }
}

#[test]
fn products_agree_for_every_order_of_axes() {
    let mut rng = Rng::new(2);
    let allowed = NumberTolerance { relative: 1e-5, absolute: 1e-5 };
    // [batch, rows, contracted] and [batch, contracted, columns], their axes in every order.
    let orders = [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]];
    for [batch, m, k, n] in
        [[2, 3, 4, 5], [1, 1, 7, 1], [3, 64, 33, 17], [2, 0, 3, 4], [2, 3, 0, 4]]
    {
        for left in orders {
            for right in orders {
                let (a, b) = ([batch, m, k], [batch, k, n]);
                let place =
                    |order: [usize; 3], axis| order.iter().position(|&o| o == axis).unwrap();
                let (ls, rs) = (left.map(|o| a[o]), right.map(|o| b[o]));
                let text = format!(
                    "ptir 1 func @f(%a: f32{ls:?}, %b: f32{rs:?}) -> f32[{batch}, {m}, {n}] {{
                       %c = dot_general %a, %b {{lhs_batch = [{}], rhs_batch = [{}], lhs_contract = [{}],
                         rhs_contract = [{}]}} : f32[{batch}, {m}, {n}]
                       return %c }}",
                    place(left, 0),
                    place(right, 0),
                    place(left, 2),
                    place(right, 1),
                );
                agree(
                    &text,
                    &[floats(&mut rng, &ls, false), floats(&mut rng, &rs, false)],
                    allowed,
                );
            }
        }
    }
}

#[test]
fn reductions_and_broadcasts_agree() {
    let mut rng = Rng::new(3);
    for (shape, axes) in [
        (&[4, 5, 6][..], &[0][..]),
        (&[4, 5, 6], &[1]),
        (&[4, 5, 6], &[2]),
        (&[4, 5, 6], &[1, 2]),
        (&[4, 5, 6], &[0, 2]),
        (&[300, 1000], &[1]),
        (&[300, 1000], &[0]),
        (&[3, 0, 2], &[1]),
        (&[5, 1, 3], &[1]),
        (&[7], &[]),
    ] {
        let kept: Vec<usize> =
            (0..shape.len()).map(|a| if axes.contains(&a) { 1 } else { shape[a] }).collect();
        for op in ["reduce_sum", "reduce_max", "reduce_min"] {
            if shape.contains(&0) && op == "reduce_sum" {
                continue;
            }
            let text = format!(
                "ptir 1 func @f(%x: f32{shape:?}) -> (f32{kept:?}, f32{shape:?}) {{
                   %r = {op} %x {{axes = {axes:?}, keepdims = true}} : f32{kept:?}
                   %b = broadcast_to %r : f32{shape:?}
                   return %r, %b }}"
            );
            // The error of a sum is relative to the size of its terms, which may cancel.
            let absolute = if op == "reduce_sum" { 1e-3 } else { 0.0 };
            let allowed = NumberTolerance { relative: 1e-5, absolute };
            agree(&text, &[floats(&mut rng, shape, false)], allowed);
            if op != "reduce_sum" {
                agree(&text, &[floats(&mut rng, shape, true)], allowed);
            }
        }
    }
}

/// Kernels that run each op on its fast kernel and in the fixed order on the same operands, compare both, and return the latter, so that
/// errors do not accumulate along a program.
struct ComparingKernels {
    compared: Arc<AtomicUsize>,
}

impl Kernels for ComparingKernels {
    fn kernel(&self, op: OpKey) -> Option<Arc<Evaluate>> {
        let fast = FastKernels.kernel(op)?;
        let tolerance = FastKernels::ops().into_iter().find(|(key, _)| *key == op)?.1;
        let compared = self.compared.clone();
        Some(Arc::new(move |cx: &mut EvalCx<'_>| {
            let args: Vec<Value> = cx.args().to_vec();
            let exact = cx.def().evaluation().cloned().expect("what has a fast kernel has its own");
            let found = fast(cx)?;
            let sizes = match tolerance {
                Tolerance::Sum => {
                    cx.put_args(args.iter().map(size_of_elements));
                    Some(exact(cx)?)
                }
                _ => None,
            };
            cx.put_args(args.iter().cloned());
            let expected = exact(cx)?;
            let terms = args.iter().map(|a| a.as_tensor().map_or(0, Tensor::len)).max();
            check(cx.def().name, tolerance, &expected[0], &found[0], sizes, terms.unwrap_or(0));
            compared.fetch_add(1, Ordering::Relaxed);
            Ok(expected)
        }))
    }
}

// Returns the absolute values of a float tensor; only floats have a tolerance.
fn size_of_elements(value: &Value) -> Value {
    let Some(t) = value.as_tensor() else { return value.clone() };
    if let Some(all) = t.elements::<f32>() {
        let sizes = all.iter().map(|x| x.abs()).collect();
        return Tensor::new(t.dtype(), t.shape(), sizes).into();
    }
    if let Some(all) = t.elements::<f64>() {
        let sizes = all.iter().map(|x| x.abs()).collect();
        return Tensor::new(t.dtype(), t.shape(), sizes).into();
    }
    value.clone()
}

fn check(
    op: &str,
    tolerance: Tolerance,
    expected: &Value,
    found: &Value,
    sizes: Option<Results>,
    terms: usize,
) {
    assert_eq!(expected.ty(), found.ty(), "{op}");
    let (a, b) = (expected.as_tensor().unwrap(), found.as_tensor().unwrap());
    let unit = match a.dtype() {
        DataType::F64 => f64::EPSILON,
        DataType::F32 => f64::from(f32::EPSILON),
        _ => 0.0,
    };
    let sizes = sizes.and_then(|s| Some(elements_as_f64(s.first()?.as_tensor()?)));
    for (at, (x, y)) in elements_as_f64(a).into_iter().zip(elements_as_f64(b)).enumerate() {
        let allowed = match (tolerance, &sizes) {
            (Tolerance::SameNumbers, _) => NumberTolerance::SAME,
            (Tolerance::Ulps(n), _) => {
                NumberTolerance { relative: f64::from(n) * unit, absolute: f64::from(n) * 1e-45 }
            }
            // If the sum of absolute values overflows, only the kind of the result is fixed.
            (Tolerance::Sum, Some(sizes)) if sizes[at].is_finite() => NumberTolerance {
                relative: 0.0,
                absolute: sizes[at].abs() * unit * terms as f64 + 1e-40,
            },
            (Tolerance::Sum, _) => continue,
        };
        assert!(allowed.allows(x, y), "{op}: element {at} is {y}, in the fixed order {x}");
    }
}

#[test]
fn random_programs_agree_at_every_op() {
    let compared = Arc::new(AtomicUsize::new(0));
    let only = FastKernels::ops().iter().map(|(key, _)| key.name()).collect();
    let config = RandomProgramConfig { only, ..RandomProgramConfig::default() };
    for seed in 0..u64::from(cases(400, 20_000)) {
        let program = random_program(seed, &config);
        let Some(f) = program.functions().last() else { continue };
        let mut rng = Rng::new(seed);
        let inputs: Option<Vec<Value>> =
            f.params().iter().map(|&p| input(&mut rng, f.value_type(p))).collect();
        let Some(inputs) = inputs else { continue };
        let kernels = Arc::new(ComparingKernels { compared: compared.clone() });
        let options = RunOptions { kernels: Some(kernels), threads: 2, ..options(false, 2) };
        // Conflicting dims and limits are errors; the ops before them are compared all the same.
        let _ = eval::run(&program, f.name().as_str(), &inputs, &options);
    }
    let compared = compared.load(Ordering::Relaxed);
    assert!(compared > 1000, "{compared}");
}

fn input(rng: &mut Rng, ty: &ValueType) -> Option<Value> {
    let tensor = ty.as_tensor()?;
    let dims = tensor.dims.iter().map(|d| d.known().unwrap_or(3));
    let literal = sapwood_ptir::testing::random_literal(rng, &TensorType::new(tensor.dtype, dims))?;
    Tensor::from_literal(&literal).ok().map(Value::Tensor)
}

#[test]
fn products_are_converted_to_the_type_that_is_asked_for() {
    let mut rng = Rng::new(11);
    for out in ["f64", "f16", "bf16", "f32"] {
        let text = format!(
            "ptir 1 func @f(%a: f32[3, 4], %b: f32[4, 5]) -> {out}[3, 5] {{
               %c = dot_general %a, %b {{lhs_contract = [1], rhs_contract = [0], out = {out}}} : {out}[3, 5]
               return %c }}"
        );
        let inputs = [floats(&mut rng, &[3, 4], false), floats(&mut rng, &[4, 5], false)];
        agree(&text, &inputs, NumberTolerance { relative: 1e-5, absolute: 1e-5 });
    }
}

fn fast_fault(text: &str, inputs: &[Value]) -> String {
    let program = sapwood_ptir::parse(text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    let fault = |fast| eval::run(&program, "f", inputs, &options(fast, 2)).unwrap_err().fault;
    assert_eq!(fault(true), fault(false));
    fault(true).to_string()
}

#[test]
fn products_of_nothing_are_counted() {
    let none =
        |shape: [usize; 2]| Value::from(Tensor::new(DataType::F32, shape, Vec::<f32>::new()));
    let text = "ptir 1 func @f(%a: f32[4294967296, 0], %b: f32[0, 4294967296]) -> f32[4294967296, 4294967296] {
      %c = dot_general %a, %b {lhs_contract = [1], rhs_contract = [0]} : f32[4294967296, 4294967296]
      return %c }";
    let found = fast_fault(text, &[none([1 << 32, 0]), none([0, 1 << 32])]);
    assert!(found.contains("more elements than can be counted"), "{found}");
    // Many empty batches take no time.
    let text = "ptir 1 func @f(%a: f32[1099511627776, 0], %b: f32[1099511627776, 0]) -> f32[1099511627776, 0, 0] {
      %c = dot_general %a, %b {lhs_batch = [0], rhs_batch = [0]} : f32[1099511627776, 0, 0]
      return %c }";
    agree(text, &[none([1 << 40, 0]), none([1 << 40, 0])], NumberTolerance::SAME);
}

#[test]
fn products_count_all_their_steps() {
    let text = "ptir 1 func @f(%a: f32[256, 256], %b: f32[256, 256]) -> f32[256, 256] {
      %c = dot_general %a, %b {lhs_contract = [1], rhs_contract = [0]} : f32[256, 256]
      return %c }";
    let program = sapwood_ptir::parse(text).unwrap();
    let mut rng = Rng::new(12);
    let inputs = [floats(&mut rng, &[256, 256], false), floats(&mut rng, &[256, 256], false)];
    let limited = |fast, steps| {
        let options = RunOptions { max_steps: Some(steps), ..options(fast, 1) };
        eval::run(&program, "f", &inputs, &options).is_ok()
    };
    // 2^24 products.
    for fast in [false, true] {
        assert!(!limited(fast, 1 << 12), "fast: {fast}");
        assert!(limited(fast, 1 << 13), "fast: {fast}");
    }
}

#[test]
fn long_and_short_columns_agree() {
    let mut rng = Rng::new(13);
    for shape in [[1, 7, 5000], [700, 9, 3], [3, 1030, 1025], [50_000, 2, 2]] {
        let kept = [shape[0], shape[2]];
        for op in ["reduce_sum", "reduce_max"] {
            let text = format!(
                "ptir 1 func @f(%x: f32{shape:?}) -> f32{kept:?} {{
                   %r = {op} %x {{axes = [1]}} : f32{kept:?}
                   return %r }}"
            );
            // Columns are summed in the fixed order.
            agree(&text, &[floats(&mut rng, &shape, false)], NumberTolerance::SAME);
        }
    }
}

#[test]
fn convolutions_agree() {
    let mut rng = Rng::new(14);
    let allowed = NumberTolerance { relative: 1e-5, absolute: 1e-4 };
    // [batch, height, width, features], [height, width] of the kernel, result features, attributes, groups, [height, width] of the result.
    let cases = [
        ([1, 5, 6, 3], [3, 3], 4, "pads = [[1, 1], [1, 1]]", 1, [5, 6]),
        ([2, 9, 8, 5], [3, 2], 7, "strides = [2, 3]", 1, [4, 3]),
        ([1, 4, 4, 8], [1, 1], 16, "", 1, [4, 4]),
        ([3, 4, 5, 2], [1, 1], 3, "strides = [2, 2]", 1, [2, 3]),
        ([1, 6, 6, 4], [3, 3], 2, "kernel_dilation = [2, 1], pads = [[2, 2], [0, 2]]", 1, [6, 6]),
        ([2, 3, 4, 3], [2, 2], 5, "input_dilation = [2, 2]", 1, [4, 6]),
        ([1, 4, 5, 2], [3, 2], 3, "reversal = [1, 0]", 1, [2, 4]),
        ([1, 40, 40, 16], [3, 3], 32, "pads = [[1, 1], [1, 1]]", 1, [40, 40]),
        ([2, 7, 7, 9], [3, 3], 9, "pads = [[1, 1], [1, 1]], strides = [2, 1]", 9, [4, 7]),
        ([1, 40, 40, 64], [5, 5], 64, "pads = [[2, 2], [2, 2]], reversal = [1, 1]", 64, [40, 40]),
        // Groups of several features run in the fixed order.
        ([1, 5, 5, 4], [2, 2], 6, "", 2, [4, 4]),
    ];
    for (input, [kh, kw], outs, attrs, groups, [height, width]) in cases {
        let kernel = [kh, kw, input[3] / groups, outs];
        let result = [input[0], height, width, outs];
        let comma = if attrs.is_empty() { "" } else { ", " };
        let text = format!(
            "ptir 1 func @f(%x: f32{input:?}, %k: f32{kernel:?}) -> f32{result:?} {{
               %y = convolution %x, %k {{input_dims = [0, 3, 1, 2], kernel_dims = [2, 3, 0, 1],
                 output_dims = [0, 3, 1, 2], feature_groups = {groups}{comma}{attrs}}} : f32{result:?}
               return %y }}"
        );
        let inputs = [floats(&mut rng, &input, false), floats(&mut rng, &kernel, false)];
        agree(&text, &inputs, allowed);
    }
}

#[test]
fn transposes_agree() {
    let mut rng = Rng::new(15);
    for (shape, perm) in [
        (&[70, 90][..], &[1, 0][..]),
        (&[1000, 17], &[1, 0]),
        (&[5, 33, 40], &[0, 2, 1]),
        (&[5, 33, 40], &[2, 1, 0]),
        (&[5, 33, 40], &[2, 0, 1]),
        (&[5, 33, 40], &[1, 0, 2]),
        (&[6, 7, 8, 20], &[3, 1, 0, 2]),
        (&[6, 7, 8, 20], &[0, 2, 1, 3]),
        (&[6, 1, 800], &[2, 1, 0]),
        (&[5000, 1], &[1, 0]),
    ] {
        let to: Vec<usize> = perm.iter().map(|&axis| shape[axis]).collect();
        let text = format!(
            "ptir 1 func @f(%x: f32{shape:?}) -> f32{to:?} {{
               %y = transpose %x {{perm = {perm:?}}} : f32{to:?}
               return %y }}"
        );
        agree(&text, &[floats(&mut rng, shape, true)], NumberTolerance::SAME);
    }
}

#[test]
fn products_of_narrow_floats_agree() {
    let mut rng = Rng::new(16);
    for ty in ["bf16", "f16"] {
        let text = format!(
            "ptir 1 func @f(%a: f32[20, 33], %b: f32[33, 9]) -> {ty}[20, 9] {{
               %x = cast %a : {ty}[20, 33]
               %y = cast %b : {ty}[33, 9]
               %c = dot_general %x, %y {{lhs_contract = [1], rhs_contract = [0]}} : {ty}[20, 9]
               return %c }}"
        );
        let inputs = [floats(&mut rng, &[20, 33], false), floats(&mut rng, &[33, 9], false)];
        agree(&text, &inputs, NumberTolerance { relative: 0.01, absolute: 0.01 });
    }
}

fn indices(rng: &mut Rng, shape: &[usize], most: usize) -> Value {
    // Some are out of range.
    let all = (0..shape.iter().product()).map(|_| rng.below(most + 6) as i32 - 3).collect();
    Tensor::new::<i32>(DataType::I32, shape, all).into()
}

#[test]
fn slices_are_gathered_and_scattered() {
    let mut rng = Rng::new(21);
    for (n, inner, count) in [(5, 1, 3), (40, 8, 100), (3, 64, 1), (1000, 33, 700)] {
        let text = format!(
            "ptir 1 func @f(%x: f32[{n}, {inner}], %i: i32[{count}, 1], %u: f32[{count}, {inner}]) -> (f32[{count}, {inner}], f32[{n}, {inner}], f32[{n}, {inner}], f32[{n}, {inner}]) {{
               %y = gather %x, %i {{offset_dims = [1], collapsed_dims = [0], start_index_map = [0], index_vector_dim = 1, slice_sizes = [1, {inner}]}} : f32[{count}, {inner}]
               %s = scatter %x, %i, %u {{update_window_dims = [1], inserted_window_dims = [0], scatter_dims = [0], index_vector_dim = 1}}
                 (%v: f32[], %w: f32[]) {{ %z = add %v, %w : f32[] yield %z }} : f32[{n}, {inner}]
               %c = neg %x : f32[{n}, {inner}]
               %t = scatter %c, %i, %u {{update_window_dims = [1], inserted_window_dims = [0], scatter_dims = [0], index_vector_dim = 1}}
                 (%v2: f32[], %w2: f32[]) {{ %z2 = add %v2, %w2 : f32[] yield %z2 }} : f32[{n}, {inner}]
               %r = scatter %x, %i, %u {{update_window_dims = [1], inserted_window_dims = [0], scatter_dims = [0], index_vector_dim = 1}}
                 (%v3: f32[], %w3: f32[]) {{ yield %w3 }} : f32[{n}, {inner}]
               return %y, %s, %t, %r }}"
        );
        for inside in [false, true] {
            let at = match inside {
                true => Tensor::splat(DataType::I32, [count, 1], n as i32 - 1).into(),
                false => indices(&mut rng, &[count, 1], n),
            };
            let x = floats(&mut rng, &[n, inner], true);
            let u = floats(&mut rng, &[count, inner], true);
            agree(&text, &[x, at, u], NumberTolerance::SAME);
        }
    }
    // Two starts, and slices of several rows.
    let text = "ptir 1 func @f(%x: f32[6, 9, 8], %i: i32[10, 2]) -> f32[10, 2, 4, 8] {
      %y = gather %x, %i {offset_dims = [1, 2, 3], collapsed_dims = [], start_index_map = [1, 0], index_vector_dim = 1, slice_sizes = [2, 4, 8]} : f32[10, 2, 4, 8]
      return %y }";
    let inputs = [floats(&mut rng, &[6, 9, 8], true), indices(&mut rng, &[10, 2], 9)];
    agree(text, &inputs, NumberTolerance::SAME);
}

#[test]
fn updates_replace_slices() {
    let mut rng = Rng::new(23);
    // As JAX writes a `dynamic_update_slice` of a batch: one index vector, and windows of all axes. Also rows of one element.
    for ty in ["f32", "f64", "i32", "u32", "i64", "bool", "i8"] {
        for (shape, size) in
            [([3, 5, 4], [3, 1, 4]), ([3, 5, 4], [3, 2, 1]), ([2, 7, 1], [2, 1, 1])]
        {
            let (x, u) = (format!("{ty}{shape:?}"), format!("{ty}{size:?}"));
            let text = format!(
                "ptir 1 func @f(%p: f32{shape:?}, %q: f32{size:?}, %i: i32[2]) -> ({x}, {x}) {{
                   %x = cast %p : {x}
                   %u = cast %q : {u}
                   %y = scatter %x, %i, %u {{update_window_dims = [0, 1, 2], scatter_dims = [1, 2], index_vector_dim = 0}}
                     (%a: {ty}[], %b: {ty}[]) {{ yield %b }} : {x}
                   %z = scatter %y, %i, %u {{update_window_dims = [0, 1, 2], scatter_dims = [1, 2], index_vector_dim = 0}}
                     (%c: {ty}[], %d: {ty}[]) {{ yield %c }} : {x}
                   return %y, %z }}"
            );
            for start in [[0, 0], [shape[1] - size[1], shape[2] - size[2]], [1, -1], [4, 4]] {
                let start = Tensor::new::<i32>(DataType::I32, [2], start.to_vec()).into();
                let inputs = [
                    floats(&mut rng, &to_usize(shape), false),
                    floats(&mut rng, &to_usize(size), false),
                    start,
                ];
                agree(&text, &inputs, NumberTolerance::SAME);
            }
        }
    }
}

fn to_usize(shape: [i32; 3]) -> [usize; 3] {
    shape.map(|n| n as usize)
}

#[test]
fn sorts_agree() {
    let mut rng = Rng::new(22);
    for (rows, columns, axis) in
        [(1, 2, 1), (3, 7, 0), (5, 1000, 1), (700, 3, 0), (40, 193, 1), (18, 1300, 1), (3, 2500, 1)]
    {
        for direction in ["lt", "gt", "le"] {
            for (ty, order) in [("f32", "total"), ("f32", "partial"), ("i32", "partial")] {
                let shape = [rows, columns];
                let t = format!("{ty}{shape:?}");
                let text = format!(
                    "ptir 1 func @f(%x: {t}) -> ({t}, i32{shape:?}, {t}) {{
                       %i = iota {{axis = {axis}}} : i32{shape:?}
                       %y, %j = sort %x, %i {{axis = {axis}}} (%a: {ty}[], %b: {ty}[], %c: i32[], %d: i32[]) {{
                         %p = compare %a, %b {{direction = {direction}, order = {order}}} : bool[] yield %p }} : {t}, i32{shape:?}
                       %z = sort %x {{axis = {axis}}} (%e: {ty}[], %g: {ty}[]) {{
                         %q = compare %g, %e {{direction = {direction}, order = {order}}} : bool[] yield %q }} : {t}
                       return %y, %j, %z }}"
                );
                for special in [false, true] {
                    let x = match ty {
                        "f32" => floats(&mut rng, &shape, special),
                        _ => indices(&mut rng, &shape, 20),
                    };
                    agree(&text, &[x], NumberTolerance::SAME);
                }
            }
        }
    }
}

#[test]
fn cumulative_sums_agree() {
    let mut rng = Rng::new(23);
    for (shape, axis) in
        [([1, 1, 5], 2), ([3, 4, 1], 1), ([9, 70, 6], 1), ([70, 1, 500], 2), ([400, 3, 5], 0)]
    {
        for (pad, start) in [(0, "0.0"), (0, "1.0"), (1, "0.0")] {
            let mut window = [1; 3];
            window[axis] = shape[axis] + pad;
            let mut pads = [[0, 0]; 3];
            pads[axis] = [window[axis] - 1, 0];
            let t = format!("f32{shape:?}");
            let text = format!(
                "ptir 1 func @f(%x: {t}) -> {t} {{
                   %zero = constant {start} : f32[]
                   %y = reduce_window %x, %zero {{window = {window:?}, pads = {pads:?}}} (%a: f32[], %b: f32[]) {{
                     %z = add %a, %b : f32[] yield %z }} : {t}
                   return %y }}"
            );
            let allowed = NumberTolerance { relative: 1e-5, absolute: 1e-4 };
            agree(&text, &[floats(&mut rng, &shape, false)], allowed);
            agree(&text, &[floats(&mut rng, &shape, true)], allowed);
        }
    }
}

#[test]
fn reductions_with_a_region_of_one_op_agree() {
    let mut rng = Rng::new(24);
    for shape in [[4, 1, 6], [3, 40, 50], [64, 5, 1]] {
        for axes in [&[0][..], &[1], &[2], &[1, 2], &[0, 2], &[0, 1, 2]] {
            let kept: Vec<usize> = (0..3).filter(|a| !axes.contains(a)).map(|a| shape[a]).collect();
            for (op, start) in [
                ("add", "0.0"),
                ("add", "2.5"),
                ("max", "-inf"),
                ("max", "0.5"),
                ("min", "inf"),
                ("min", "0.0"),
                ("mul", "1.0"),
            ] {
                let (t, r) = (format!("f32{shape:?}"), format!("f32{kept:?}"));
                let text = format!(
                    "ptir 1 func @f(%x: {t}) -> ({r}, {r}) {{
                       %s = constant {start} : f32[]
                       %y = reduce %x, %s {{axes = {axes:?}}} (%a: f32[], %b: f32[]) {{ %z = {op} %a, %b : f32[] yield %z }} : {r}
                       %n = neg %y : {r}
                       return %y, %n }}"
                );
                let allowed = NumberTolerance { relative: 2e-4, absolute: 1e-3 };
                agree(&text, &[floats(&mut rng, &shape, false)], allowed);
                if op == "max" || op == "min" {
                    agree(&text, &[floats(&mut rng, &shape, true)], NumberTolerance::SAME);
                }
            }
            let (t, r) = (format!("f32{shape:?}"), format!("bool{kept:?}"));
            let text = format!(
                "ptir 1 func @f(%x: {t}) -> ({r}, {r}) {{
                   %c = constant 1.9 : {t}
                   %p = compare %x, %c {{direction = lt}} : bool{shape:?}
                   %f = constant false : bool[]
                   %g = constant true : bool[]
                   %y = reduce %p, %f {{axes = {axes:?}}} (%a: bool[], %b: bool[]) {{ %z = or %a, %b : bool[] yield %z }} : {r}
                   %n = reduce %p, %g {{axes = {axes:?}}} (%d: bool[], %e: bool[]) {{ %w = and %e, %d : bool[] yield %w }} : {r}
                   return %y, %n }}"
            );
            agree(&text, &[floats(&mut rng, &shape, true)], NumberTolerance::SAME);
        }
    }
}
