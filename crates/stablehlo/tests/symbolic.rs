//! Programs that JAX exported with symbolic extents, by `tests/oracle/symbolic.py`: after simplification no op is left that only computes shapes, and the
//! values are the same.

use std::fs;

use sapwood_ptir::eval::{self, RunOptions, Tensor, Value, shape_value_len};
use sapwood_ptir::ops::{Constant, DimValues};
use sapwood_ptir::{Dim, Function, InstId, Name, Program};
use sapwood_rewrite::PassManager;
use sapwood_testing::repository;
use sapwood_types::{DataType, Source};

/// The extents of the symbols, in the order of their names. Facts may exclude some.
const EXTENTS: [[u64; 2]; 5] = [[1, 1], [1, 5], [2, 4], [4, 7], [3, 2]];

fn programs() -> Vec<(String, String)> {
    let folder = repository().join("tests/oracle/symbolic");
    let mut paths: Vec<_> = fs::read_dir(folder).unwrap().map(|e| e.unwrap().path()).collect();
    paths.sort();
    let name = |path: &std::path::PathBuf| path.file_stem().unwrap().to_string_lossy().into_owned();
    paths.iter().map(|path| (name(path), fs::read_to_string(path).unwrap())).collect()
}

fn read(name: &str, text: &str) -> Program {
    let module = sapwood_stablehlo::read(&Source::new(name, text));
    module.unwrap_or_else(|errors| panic!("{name}: {errors}")).program
}

fn simplified(name: &str, program: &Program) -> Program {
    let mut program = program.clone();
    let passes = PassManager::parse("inline,symbol-dce,simplify").unwrap();
    passes.run(&mut program).unwrap_or_else(|error| panic!("{name}: {error}"));
    sapwood_ptir::verify(&program).unwrap_or_else(|errors| panic!("{name}: {errors}"));
    program
}

/// Returns whether an instruction computes a shape: its shape is an operand, or it computes a small integer tensor from extents only.
fn computes_shape(f: &Function, inst: InstId) -> bool {
    let name = f.op_name(inst);
    let has_shape_operand = name.starts_with("dynamic_")
        && !matches!(name, "dynamic_slice" | "dynamic_update_slice")
        || matches!(name, "get_dimension_size" | "real_dynamic_slice" | "custom_call");
    let is_known = |v| f.inst_of(v).is_some_and(|i| f.is::<Constant>(i) || f.is::<DimValues>(i));
    let operands = f.operands(inst);
    let from_extents = !operands.is_empty()
        && operands.iter().all(|&v| is_known(v))
        && f.value_of(inst).is_some_and(|v| shape_value_len(f.value_type(v)).is_some());
    has_shape_operand || from_extents
}

fn inputs(f: &Function, extents: [u64; 2]) -> Option<Vec<Value>> {
    let mut names: Vec<Name> = Vec::new();
    for &param in f.params() {
        f.value_type(param).for_each_symbol(&mut |name| names.push(name));
    }
    names.sort_by_key(|name| name.as_str());
    names.dedup();
    let value = |name: Name| extents.get(names.iter().position(|&n| n == name)?).copied();
    let signed = |name: Name| i64::try_from(value(name)?).ok();
    if f.facts().is_some_and(|facts| facts.hold(&signed) != Some(true)) {
        return None;
    }
    let mut state = 1u32;
    let mut next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 8) as f32 / (1 << 23) as f32 - 1.0
    };
    let tensor = |&param| {
        let ty = f.value_type(param).as_tensor()?;
        let extent = |dim: &Dim| dim.evaluate(&value).map(|n| n as usize);
        let shape: Vec<usize> = ty.dims.iter().map(extent).collect::<Option<_>>()?;
        let count = shape.iter().product();
        let elements: Vec<f32> = (0..count).map(|_| next()).collect();
        Some(Value::Tensor(Tensor::new(DataType::F32, shape, elements)))
    };
    f.params().iter().map(tensor).collect()
}

fn assert_close(name: &str, left: &[Value], right: &[Value]) {
    assert_eq!(left.len(), right.len(), "{name}");
    for (left, right) in left.iter().zip(right) {
        let (left, right) = (left.as_tensor().unwrap(), right.as_tensor().unwrap());
        assert_eq!(left.shape(), right.shape(), "{name}");
        let (left, right) = (left.elements::<f32>().unwrap(), right.elements::<f32>().unwrap());
        for (a, b) in left.iter().zip(right.iter()) {
            assert!((a - b).abs() <= 1e-5 * b.abs().max(1.0), "{name}: {a} and {b}");
        }
    }
}

#[test]
fn no_op_that_only_computes_shapes_is_left() {
    let programs = programs();
    assert_eq!(programs.len(), 25);
    let mut problems = Vec::new();
    for (name, text) in &programs {
        let program = simplified(name, &read(name, text));
        let f = &program.functions()[0];
        let left: Vec<&str> =
            f.walk().filter(|&inst| computes_shape(f, inst)).map(|i| f.op_name(i)).collect();
        if !left.is_empty() {
            problems.push(format!("{name}: {left:?}"));
        }
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

#[test]
fn values_stay_the_same_at_several_extents() {
    for (name, text) in &programs() {
        let program = read(name, text);
        let simple = simplified(name, &program);
        let written = sapwood_stablehlo::write_program(&simple, &sapwood_stablehlo::Extras::new());
        let written = written.unwrap_or_else(|error| panic!("{name}: {error}"));
        let again = read(name, &written);
        let mut runs = 0;
        for extents in EXTENTS {
            let Some(inputs) = inputs(program.function("main").unwrap(), extents) else { continue };
            let run = |program: &Program| {
                eval::run(program, "main", &inputs, &RunOptions::default())
                    .unwrap_or_else(|error| panic!("{name} at {extents:?}: {error}"))
            };
            let expected = run(&program);
            assert_close(name, &run(&simple), &expected);
            assert_close(name, &run(&again), &expected);
            runs += 1;
        }
        assert!(runs >= 3, "{name} ran at {runs} bindings");
    }
}

// StableHLO's `reduce` has no form that keeps the reduced axes, and `reshape` none for extents that are not known.
#[test]
fn reductions_that_keep_their_axes_are_written() {
    for op in ["reduce_sum", "reduce_prod", "reduce_max", "reduce_min"] {
        for axes in ["1", "0, 2"] {
            let result = if axes == "1" { "f32[?B, 1, ?S]" } else { "f32[1, 2*?S, 1]" };
            let text = format!(
                "ptir 1 func @f(%x: f32[?B, 2*?S, ?S]) -> {result} {{ %r = {op} %x {{axes = [{axes}], keepdims = true}} : {result} return %r }}"
            );
            let program = sapwood_ptir::parse(&text).unwrap();
            let extras = sapwood_stablehlo::Extras::new();
            let written = sapwood_stablehlo::write_program(&program, &extras).unwrap();
            let again = read(op, &written);
            sapwood_ptir::verify(&again).unwrap_or_else(|errors| panic!("{written}\n{errors}"));
            for extents in EXTENTS {
                let inputs = inputs(&program.functions()[0], extents).unwrap();
                let run = |program: &Program| {
                    eval::run(program, "f", &inputs, &RunOptions::default()).unwrap()
                };
                assert_close(op, &run(&program), &run(&again));
            }
        }
    }
}

// Extents of which each needs the symbol of the next parameter.
#[test]
fn many_dependent_extents_are_written_soon() {
    let count = 10_000;
    let params: Vec<String> =
        (0..count).map(|n| format!("%x{n}: f32[?s{n} + ?s{}]", n + 1)).collect();
    let text = format!(
        "ptir 1 func @f({}, %z: f32[?s{count}]) -> f32[?s0] {{ %y = iota {{axis = 0}} : f32[?s0] return %y }}",
        params.join(", ")
    );
    let program = sapwood_ptir::parse(&text).unwrap();
    let start = std::time::Instant::now();
    let written =
        sapwood_stablehlo::write_program(&program, &sapwood_stablehlo::Extras::new()).unwrap();
    let time = start.elapsed();
    assert_eq!(written.matches("get_dimension_size").count(), count + 1);
    assert!(time.as_secs() < 20, "{time:?}");
}

/// Writes a `main` with one parameter per extent, and an assertion for each pair of neighbours.
fn with_assertions(count: usize, direction: &str, right: impl Fn(usize) -> String) -> String {
    let params: Vec<String> = (0..count).map(|n| format!("%a{n}: tensor<?xf32>")).collect();
    let mut body = String::from("    %c = stablehlo.constant dense<1> : tensor<i32>\n");
    for n in 0..count {
        body += &format!(
            "    %s{n} = stablehlo.get_dimension_size %a{n}, dim = 0 : (tensor<?xf32>) -> tensor<i32>\n"
        );
        if n > 0 {
            body += &format!(
                "    %t{n} = stablehlo.add %s{}, {} : tensor<i32>
    %p{n} = stablehlo.compare {direction}, %s{n}, %t{n}, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.custom_call @shape_assertion(%p{n}, %s{n}) {{api_version = 2 : i32, error_message = \"shapes\", has_side_effect = true}} : (tensor<i1>, tensor<i32>) -> ()\n",
                n - 1,
                right(n)
            );
        }
    }
    let params = params.join(", ");
    format!(
        "module {{\n  func.func public @main({params}) -> tensor<?xf32> {{\n{body}    return %a0 : tensor<?xf32>\n  }}\n}}\n"
    )
}

// Each assertion must not evaluate all others: with 5,000 of them these would be 10^8 evaluations, and as many substitutions.
#[test]
fn many_assertions_are_read_soon() {
    let count = 5_000;
    let program = read("equal", &with_assertions(count, "EQ", |_| "%c".to_owned()));
    let f = program.function("main").unwrap();
    let last = f.value_type(f.params()[count - 1]).to_string();
    assert_eq!(last, format!("f32[?d0 + {}]", count - 1));
    assert!(!f.walk().any(|inst| f.op_name(inst) == "custom_call"));

    let sums = with_assertions(count, "GE", |n| format!("%s{}", (n * 7) % n));
    let program = read("larger", &sums);
    let f = program.function("main").unwrap();
    assert!(!f.walk().any(|inst| f.op_name(inst) == "custom_call"));
    assert_eq!(f.facts().unwrap().relations().count(), count - 1);
}

// Functions that call the next one ten times: evaluated at each call, these would be 10^15 calls.
#[test]
fn calls_of_calls_are_evaluated_within_a_limit() {
    let depth = 15;
    let mut text = String::from(
        "module {
  func.func public @main(%a: tensor<?xf32>) -> tensor<?xf32> {
    %s = stablehlo.get_dimension_size %a, dim = 0 : (tensor<?xf32>) -> tensor<i32>
    %t = call @f0(%s) : (tensor<i32>) -> tensor<i32>
    %p = stablehlo.compare GE, %s, %t, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.custom_call @shape_assertion(%p, %s) {api_version = 2 : i32, has_side_effect = true} : (tensor<i1>, tensor<i32>) -> ()
    return %a : tensor<?xf32>
  }\n",
    );
    for n in 0..depth {
        text += &format!("  func.func private @f{n}(%x0: tensor<i32>) -> tensor<i32> {{\n");
        for i in 0..10 {
            text += &match n + 1 < depth {
                true => format!(
                    "    %x{} = call @f{}(%x{i}) : (tensor<i32>) -> tensor<i32>\n",
                    i + 1,
                    n + 1
                ),
                false => format!("    %x{} = stablehlo.add %x{i}, %x0 : tensor<i32>\n", i + 1),
            };
        }
        text += "    return %x10 : tensor<i32>\n  }\n";
    }
    text += "}\n";
    let program = read("calls", &text);
    let f = program.function("main").unwrap();
    assert!(f.walk().any(|inst| f.op_name(inst) == "custom_call"), "{program}");
}

#[test]
fn an_assertion_that_stops_every_run_is_a_warning() {
    let text = "module {
  func.func public @main(%a: tensor<?xf32>) -> tensor<?xf32> {
    %c = stablehlo.constant dense<3> : tensor<i32>
    %s = stablehlo.get_dimension_size %a, dim = 0 : (tensor<?xf32>) -> tensor<i32>
    %p = stablehlo.compare GE, %s, %c, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.custom_call @shape_assertion(%p, %s) {api_version = 2 : i32, has_side_effect = true} : (tensor<i1>, tensor<i32>) -> ()
    %q = stablehlo.compare LT, %s, %c, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.custom_call @shape_assertion(%q, %s) {api_version = 2 : i32, has_side_effect = true} : (tensor<i1>, tensor<i32>) -> ()
    return %a : tensor<?xf32>
  }
}\n";
    let module = sapwood_stablehlo::read(&Source::new("contradiction", text)).unwrap();
    let notes: Vec<String> = module.notes.iter().map(|note| note.message.clone()).collect();
    assert_eq!(notes, ["the assertion is false for all extents that those before it allow"]);
    let f = module.program.function("main").unwrap();
    assert_eq!(f.walk().filter(|&inst| f.op_name(inst) == "custom_call").count(), 1);
}
