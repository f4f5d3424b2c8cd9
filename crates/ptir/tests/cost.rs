//! The cost of programs, against counts of runs and against simple definitions.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use sapwood_ptir::cost::{self, Amount, FunctionCost};
use sapwood_ptir::eval::{EvalCx, Evaluate, Kernels, Prepared, RunOptions, Tensor, Value};
use sapwood_ptir::testing::{RandomProgramConfig, Rng, random_inputs, random_program};
use sapwood_ptir::{Function, InstId, Name, OpKey, Registry, ValueId, parse};
use sapwood_testing::{cases, on_small_stack};

fn cost_of(text: &str) -> FunctionCost {
    let program = parse(text).unwrap_or_else(|problems| panic!("{problems}\n{text}"));
    cost::of_program(&program).into_iter().next_back().unwrap()
}

// The fixed-order kernels, counting the operations and bytes of each run.
struct CountingKernels {
    registry: Arc<Registry>,
    flops: Arc<AtomicU64>,
}

impl Kernels for CountingKernels {
    fn kernel(&self, op: OpKey) -> Option<Arc<Evaluate>> {
        let evaluate = Arc::clone(self.registry.get(op)?.evaluation()?);
        let flops = Arc::clone(&self.flops);
        let (elementwise, name) = (self.registry.get(op)?.elementwise, op.name());
        Some(Arc::new(move |cx: &mut EvalCx<'_>| {
            let before = count_from_operands(cx);
            let results = evaluate(cx)?;
            let elements = |value: &Value| match value {
                Value::Tensor(tensor) => tensor.len() as u64,
                Value::Tuple(_) | Value::Token => 0,
            };
            let is_reduction = name.starts_with("reduce_") || name.starts_with("arg_");
            let own = match (elementwise, is_reduction) {
                (true, _) => elements(&results[0]),
                (_, true) => before.saturating_sub(elements(&results[0])),
                (false, false) => before,
            };
            flops.fetch_add(own, Ordering::Relaxed);
            Ok(results)
        }))
    }
}

// Counts the operations of a few ops by walking over all indices.
fn count_from_operands(cx: &EvalCx<'_>) -> u64 {
    let tensor = |i: usize| cx.tensor(i).unwrap();
    match cx.def().name {
        "reduce_sum" | "reduce_prod" | "reduce_max" | "reduce_min" | "arg_max" | "arg_min"
        | "reduce_and" | "reduce_or" | "reduce_xor" => tensor(0).len() as u64,
        "dot_general" => count_dot(cx, tensor(0), tensor(1)),
        _ => 0,
    }
}

// Every pair of an element of the left and one of the right operand whose batch and contracted indices agree is a product and a sum.
fn count_dot(cx: &EvalCx<'_>, lhs: &Tensor, rhs: &Tensor) -> u64 {
    let axes = |name: &str, rank: usize| cx.axes(name, rank).unwrap();
    let (l, r) = (lhs.shape(), rhs.shape());
    let left: Vec<usize> =
        axes("lhs_batch", l.len()).into_iter().chain(axes("lhs_contract", l.len())).collect();
    let right: Vec<usize> =
        axes("rhs_batch", r.len()).into_iter().chain(axes("rhs_contract", r.len())).collect();
    let index = |mut flat: usize, shape: &[usize]| {
        let mut index = vec![0; shape.len()];
        for axis in (0..shape.len()).rev() {
            index[axis] = flat % shape[axis];
            flat /= shape[axis];
        }
        index
    };
    let mut count = 0;
    for a in 0..lhs.len() {
        let a = index(a, l);
        for b in 0..rhs.len() {
            let b = index(b, r);
            if left.iter().zip(&right).all(|(&x, &y)| a[x] == b[y]) {
                count += 2;
            }
        }
    }
    count
}

// The ops that `CountingKernels` counts, and ops that move elements.
const COUNTED: &[&str] = &[
    "add",
    "mul",
    "exp",
    "tanh",
    "select",
    "compare",
    "cast",
    "reduce_sum",
    "reduce_max",
    "arg_max",
    "dot_general",
    "reshape",
    "transpose",
    "slice",
    "concat",
    "pad",
    "broadcast_in_dim",
    "scan",
    "while",
    "cond",
    "call",
];

#[test]
fn operations_are_those_of_a_run() {
    let mut compared = 0;
    for seed in 0.. {
        if compared >= cases(500, 20_000) {
            return;
        }
        assert!(seed < 1_000_000, "only {compared} functions were compared");
        let config = RandomProgramConfig {
            functions: 2,
            insts: 16,
            only: COUNTED.to_vec(),
            return_unused: true,
        };
        let program = random_program(seed, &config);
        let costs = cost::of_program(&program);
        for (function, cost) in program.functions().iter().zip(&costs) {
            // The branch that runs may be a cheaper one, and open dims have no number.
            let has_branch = function
                .walk()
                .any(|i| matches!(function.op_name(i), "cond" | "case" | "call" | "refine"));
            let exact = !has_branch && cost.not_counted == 0 && cost.open_loops == 0;
            let (Some(known), true) = (cost.flops.known(), exact) else { continue };
            let Some(inputs) = random_inputs(&mut Rng::new(seed), function) else { continue };
            let inputs: Vec<Value> =
                inputs.iter().map(|l| Tensor::from_literal(l).unwrap().into()).collect();
            let flops = Arc::new(AtomicU64::new(0));
            let kernels = Arc::new(CountingKernels {
                registry: Arc::clone(program.registry()),
                flops: Arc::clone(&flops),
            });
            let name = function.name();
            let options = RunOptions {
                max_steps: Some(100_000),
                kernels: Some(kernels.clone()),
                ..RunOptions::default()
            };
            let prepared = Prepared::new(&program, name.as_str(), Some(&*kernels)).unwrap();
            if prepared.run(&inputs, &options).is_err() {
                continue;
            }
            let counted = u128::from(flops.load(Ordering::Relaxed));
            assert_eq!(counted, known, "seed {seed}, @{name}\n{program}");
            compared += 1;
        }
    }
}

#[test]
fn windows_of_convolutions_do_not_count_padding() {
    // Every combination of a few extents, against a loop over all positions.
    for (input, window, stride) in [(5i64, 3i64, 1i64), (5, 3, 2), (7, 2, 3), (1, 3, 1), (6, 1, 2)]
    {
        for (low, high) in [(0i64, 0i64), (1, 1), (2, 0), (0, 3), (-1, 2)] {
            for (base, dilation) in [(1i64, 1i64), (2, 1), (1, 2), (3, 2)] {
                let padded = (input - 1) * base + 1 + low + high;
                let span = (window - 1) * dilation + 1;
                if padded < span {
                    continue;
                }
                let output = (padded - span) / stride + 1;
                let mut reads = 0;
                for o in 0..output {
                    for k in 0..window {
                        let at = o * stride + k * dilation - low;
                        reads += i64::from(at >= 0 && at % base == 0 && at / base < input);
                    }
                }
                let text = format!(
                    "ptir 1\nfunc @f(%x: f32[2, 4, {input}], %k: f32[2, 6, {window}]) -> f32[2, 6, {output}] {{\n\
                     %y = convolution %x, %k {{input_dims = [0, 1, 2], kernel_dims = [0, 1, 2], output_dims = [0, 1, 2], \
                     strides = [{stride}], pads = [[{low}, {high}]], input_dilation = [{base}], \
                     kernel_dilation = [{dilation}], feature_groups = 2}} : f32[2, 6, {output}]\nreturn %y\n}}\n"
                );
                let expected = 2 * 2 * 6 * 2 * reads as u128;
                assert_eq!(cost_of(&text).flops, Amount::Known(expected), "{text}");
            }
        }
    }
}

#[test]
fn large_dilations_take_no_time() {
    // Of the positions 1 and after, every 100001st is an element of the input.
    let text = |input: u64, window: u64, low: i64, output: u64| {
        format!(
            "ptir 1\nfunc @f(%x: f32[1, 1, {input}], %k: f32[1, 1, {window}]) -> f32[1, 1, {output}] {{\n\
             %y = convolution %x, %k {{input_dims = [0, 1, 2], kernel_dims = [0, 1, 2], output_dims = [0, 1, 2], \
             pads = [[{low}, 0]], input_dilation = [100001]}} : f32[1, 1, {output}]\nreturn %y\n}}\n"
        )
    };
    assert_eq!(cost_of(&text(3, 1, -1, 200_002)).flops, Amount::Known(4));
    // Each of the 40000 positions of the window reads each of the two inner elements once, and some the others.
    let cost = cost_of(&text(3, 40_000, 0, 160_004)).flops.known().unwrap();
    assert!((2 * 40_000..=6 * 40_000).contains(&cost), "{cost}");
}

#[test]
fn symbolic_costs_are_those_of_bound_programs() {
    let text = "ptir 1
func @f(%x: f32[?B, 3, ?S], %k: f32[3, 4, 3], %w: f32[4, 5]) -> f32[?B, 5] {
  %y = convolution %x, %k {input_dims = [0, 1, 2], kernel_dims = [0, 1, 2], output_dims = [0, 1, 2], strides = [2], pads = [[1, 1]]} : f32[?B, 4, floordiv(?S + 1, 2)]
  %m = reduce_sum %y {axes = [2]} : f32[?B, 4]
  %d = dot_general %m, %w {lhs_contract = [1], rhs_contract = [0]} : f32[?B, 5]
  %t = tanh %d : f32[?B, 5]
  return %t
}
";
    let program = parse(text).unwrap_or_else(|problems| panic!("{problems}"));
    let symbolic = &cost::of_program(&program)[0];
    assert_eq!(symbolic.not_counted, 0, "{symbolic:?}");
    for (b, s) in [(0u64, 0u64), (1, 1), (2, 2), (3, 7), (16, 64)] {
        let mut bound = program.clone();
        bound.bind_symbols(&[(Name::new("B"), b), (Name::new("S"), s)]).unwrap();
        let known = &cost::of_program(&bound)[0];
        let value = |name: Name| Some(if name.as_str() == "B" { b } else { s });
        for (open, number) in [
            (symbolic.flops, known.flops),
            (symbolic.bytes, known.bytes),
            (symbolic.peak_memory, known.peak_memory),
        ] {
            assert_eq!(open.evaluate(&value), number.known(), "{open} at B={b}, S={s}");
        }
    }
}

#[test]
fn loops_count_as_often_as_they_run() {
    let counted = |start: i64, limit: i64, direction: &str, step: i64| {
        cost_of(&format!(
            "ptir 1
func @f(%x: f32[8]) -> f32[8] {{
  %start = constant {start} : i32[]
  %limit = constant {limit} : i32[]
  %step = constant {step} : i32[]
  %i, %y = while %start, %x (%a: i32[], %b: f32[8]) {{
    %c = compare %a, %limit {{direction = {direction}}} : bool[]
    yield %c
  }} (%a2: i32[], %b2: f32[8]) {{
    %n = add %a2, %step : i32[]
    %m = exp %b2 : f32[8]
    yield %n, %m
  }} : i32[], f32[8]
  return %y
}}
"
        ))
    };
    // Nine operations in each iteration, and one comparison more than iterations.
    for (start, limit, direction, step, trips) in [
        (0, 5, "lt", 1, Some(5u128)),
        (0, 5, "le", 2, Some(3)),
        (5, 0, "gt", -2, Some(3)),
        (5, 0, "ge", -1, Some(6)),
        (0, 6, "ne", 3, Some(2)),
        (0, 5, "ne", 3, None),
        (7, 5, "lt", 1, Some(0)),
        (0, 5, "lt", -1, None),
        (0, i64::from(i32::MAX), "le", 1, None),
    ] {
        let cost = counted(start, limit, direction, step);
        assert_eq!(cost.open_loops, usize::from(trips.is_none()), "{start} {direction} {limit}");
        let trips = trips.unwrap_or(1);
        assert_eq!(cost.flops, Amount::Known(9 * trips + trips + 1), "{start} {direction} {limit}");
    }
}

// The bytes of all values that are alive at each instruction, from the definition.
fn naive_peak(function: &Function) -> u128 {
    let insts: Vec<InstId> = function.body_insts(function.body()).collect();
    let bytes = |value: ValueId| Amount::bytes(function.value_type(value)).known().unwrap();
    let is_constant = |i: InstId| function.op_name(i) == "constant";
    let permanent: u128 = function.params().iter().map(|&p| bytes(p)).sum::<u128>()
        + insts
            .iter()
            .filter(|&&i| is_constant(i))
            .flat_map(|&i| function.inst_results(i))
            .map(bytes)
            .sum::<u128>();
    let mut peak = permanent;
    for at in 0..insts.len() {
        let mut live = permanent;
        for (defined, &inst) in insts.iter().enumerate().take(at + 1) {
            if is_constant(inst) {
                continue;
            }
            for value in function.inst_results(inst) {
                let last = insts.iter().rposition(|&user| function.operands(user).contains(&value));
                if last.unwrap_or(defined) >= at {
                    live += bytes(value);
                }
            }
        }
        peak = peak.max(live);
    }
    peak
}

#[test]
fn peak_memory_is_that_of_the_definition() {
    let mut compared = 0;
    let config = RandomProgramConfig {
        functions: 1,
        insts: 30,
        only: vec!["add", "mul", "exp", "reduce_sum", "dot_general", "concat", "transpose", "pad"],
        return_unused: false,
    };
    for seed in 0.. {
        if compared >= cases(300, 20_000) {
            return;
        }
        assert!(seed < 1_000_000, "only {compared} functions were compared");
        let program = random_program(seed, &config);
        let function = &program.functions()[0];
        let is_plain = function.walk().all(|i| {
            function.regions(i).is_empty()
                && !matches!(function.op_name(i), "reshape" | "bitcast" | "refine" | "call")
        });
        let cost = &cost::of_program(&program)[0];
        if let (true, Some(peak)) = (is_plain, cost.peak_memory.known()) {
            assert_eq!(peak, naive_peak(function), "seed {seed}\n{program}");
            compared += 1;
        }
    }
}

#[test]
fn views_and_regions_in_memory() {
    // The reshape needs no memory: x (parameter) and y.
    let cost = cost_of(
        "ptir 1\nfunc @f(%x: f32[4, 4]) -> f32[16] {\n%r = reshape %x : f32[16]\n\
         %y = exp %r : f32[16]\nreturn %y\n}\n",
    );
    assert_eq!(cost.peak_memory, Amount::Known(128));
    assert_eq!(cost.bytes, Amount::Known(128));
    // A branch that needs memory of its own: x, the predicate, and two values inside, of which one becomes the result.
    let cost = cost_of(
        "ptir 1\nfunc @f(%p: bool[], %x: f32[4]) -> f32[4] {\n%r = cond %p () {\n%a = exp %x : f32[4]\n\
         %b = exp %a : f32[4]\nyield %b\n} () {\nyield %x\n} : f32[4]\nreturn %r\n}\n",
    );
    assert_eq!(cost.peak_memory, Amount::Known(1 + 16 + 32));
    assert_eq!(cost.flops, Amount::Known(8));
}

#[test]
fn calls_count_their_callees() {
    let program = parse(
        "ptir 1
func @g(%x: f32[?N]) -> f32[?N] {
  %y = exp %x : f32[?N]
  %z = add %y, %y : f32[?N]
  return %z
}
func @f(%x: f32[3, ?M], %y: f32[2*?M]) -> f32[2*?M] {
  %z = call @g %y {has_side_effect = false} : f32[2*?M]
  %w = call @g %z {has_side_effect = false} : f32[2*?M]
  return %w
}
",
    )
    .unwrap_or_else(|problems| panic!("{problems}"));
    let costs = cost::of_program(&program);
    assert_eq!(costs[0].flops.to_string(), "2*?N");
    assert_eq!(costs[1].flops.to_string(), "8*?M");
    let insts = cost::CostAnalysis::new(&program).insts(&program.functions()[1]);
    assert_eq!(insts.len(), 2);
    assert_eq!(insts[0].cost.flops.to_string(), "4*?M");
}

#[test]
fn a_million_levels_and_instructions() {
    on_small_stack(|| {
        const N: usize = 1_000_000;
        let mut text = String::from("ptir 1\n\nfunc @f(%p: bool[], %x: f32[]) -> f32[] {\n");
        for level in 0..N {
            text += &format!("%{level} = cond %p () {{\n");
        }
        text += "yield %x\n";
        for level in (0..N).rev() {
            text += "} () {\nyield %x\n} : f32[]\n";
            if level > 0 {
                text += &format!("yield %{level}\n");
            }
        }
        let cost = cost_of(&(text + "return %0\n}\n"));
        assert_eq!(cost.flops, Amount::ZERO);
        assert_eq!(cost.peak_memory.known(), Some(1 + 4 + 4));

        let mut text = String::from("ptir 1\n\nfunc @f(%0: f32[?N]) -> f32[?N] {\n");
        for i in 0..N {
            text += &format!("%{} = exp %{i} : f32[?N]\n", i + 1);
        }
        let cost = cost_of(&format!("{text}return %{N}\n}}\n"));
        assert_eq!(cost.flops.to_string(), format!("{N}*?N"));
        assert_eq!(cost.peak_memory.to_string(), "12*?N");
    });
}

#[test]
fn many_symbolic_widths_have_a_known_peak() {
    // Tensors of 2, 3, … 40 times the extent: each is comparable with the others.
    let mut text = String::from("ptir 1\nfunc @f(%w1: f32[?B]) -> f32[40*?B] {\n");
    for width in 2..=40 {
        text +=
            &format!("%w{width} = concat %w{}, %w1 {{axis = 0}} : f32[{width}*?B]\n", width - 1);
    }
    let program =
        parse(&(text + "return %w40\n}\n")).unwrap_or_else(|problems| panic!("{problems}"));
    let peak = cost::of_program(&program)[0].peak_memory;
    // The parameter and the last two tensors.
    assert_eq!(peak.to_string(), "320*?B");
    let mut bound = program.clone();
    bound.bind_symbols(&[(Name::new("B"), 7)]).unwrap();
    let known = cost::of_program(&bound)[0].peak_memory;
    assert_eq!(peak.evaluate(&|_| Some(7)), known.known());
}

#[test]
fn layers_of_different_symbolic_widths_have_a_known_peak() {
    const LAYERS: usize = 7;
    let params: Vec<String> =
        (0..LAYERS).map(|n| format!("%w{n}: f32[?N{n}, ?N{}]", n + 1)).collect();
    let mut text = format!(
        "ptir 1\nfunc @f(%y0: f32[?B, ?N0], {}) -> f32[?B, ?N{LAYERS}] {{\n",
        params.join(", ")
    );
    for n in 0..LAYERS {
        let ty = format!("f32[?B, ?N{}]", n + 1);
        text += &format!(
            "%x{n} = dot_general %y{n}, %w{n} {{lhs_contract = [1], rhs_contract = [0]}} : {ty}\n\
             %y{} = tanh %x{n} : {ty}\n",
            n + 1
        );
    }
    let program = parse(&format!("{text}return %y{LAYERS}\n}}\n"))
        .unwrap_or_else(|problems| panic!("{problems}"));
    let peak = cost::of_program(&program)[0].peak_memory;
    // Which layer needs the most depends on the widths.
    let mut rng = Rng::new(3);
    for _ in 0..50 {
        let names: Vec<String> =
            (0..=LAYERS).map(|n| format!("N{n}")).chain(["B".into()]).collect();
        let extents: Vec<(Name, u64)> =
            names.iter().map(|name| (Name::new(name), rng.below(9) as u64)).collect();
        let mut bound = program.clone();
        bound.bind_symbols(&extents).unwrap();
        let value = |name: Name| extents.iter().find(|(n, _)| *n == name).map(|&(_, n)| n);
        let known = cost::of_program(&bound)[0].peak_memory.known();
        assert!(known.is_some() && peak.evaluate(&value) == known, "{peak} {extents:?} {known:?}");
    }
}

#[test]
fn a_reshape_to_a_run_time_shape_is_a_view() {
    let cost = cost_of(
        "ptir 1\nfunc @f(%x: f32[?B, 4], %s: i64[1]) -> f32[4*?B] {\n\
         %r = dynamic_reshape %x, %s : f32[4*?B]\n%y = exp %r : f32[4*?B]\nreturn %y\n}\n",
    );
    // The parameters and the result of `exp`.
    assert_eq!(cost.peak_memory.to_string(), "32*?B + 8");
}
