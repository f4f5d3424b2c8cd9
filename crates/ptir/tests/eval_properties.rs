//! Properties of evaluation: every random program gives results or a specific error, the same in two runs, and folding never fails.

use sapwood_ptir::eval::{self, EvalError, Fault, FoldLimits, Prepared, RunOptions, Tensor, Value};
use sapwood_ptir::testing::{RandomProgramConfig, Rng, random_literal, random_program};
use sapwood_ptir::{Dim, Program, TensorLiteral, TensorType, ValueType, parse};
use sapwood_testing::cases;

fn options() -> RunOptions {
    RunOptions { max_steps: Some(20_000), max_bytes: 64 << 20, ..RunOptions::default() }
}

// Returns a random value of a type; unknown dims are 2, so that named ones agree.
fn input(seed: u64, ty: &ValueType) -> Option<Value> {
    match ty {
        ValueType::Tensor(t) => {
            let shape: Vec<u64> = t.dims.iter().map(|d| d.known().unwrap_or(2)).collect();
            let ty = TensorType::new(t.dtype, shape);
            let literal = random_literal(&mut Rng::new(seed), &ty)?;
            Some(Tensor::from_literal(&literal).ok()?.into())
        }
        ValueType::Tuple(elements) => {
            let parts: Option<Vec<Value>> = elements.iter().map(|e| input(seed, e)).collect();
            Some(Value::Tuple(parts?.into()))
        }
        ValueType::Token => Some(Value::Token),
        ValueType::Opaque => None,
    }
}

fn run(seed: u64, program: &Program, name: &str) -> Option<Result<Vec<Value>, EvalError>> {
    let function = program.function(name).unwrap();
    let types = function.params().iter().map(|&p| function.value_type(p));
    let inputs: Option<Vec<Value>> = types.map(|ty| input(seed, ty)).collect();
    let prepared =
        Prepared::new(program, name, None).unwrap_or_else(|e| panic!("seed {seed}: {e}"));
    Some(prepared.run(&inputs?, &options()))
}

fn texts(values: &[Value]) -> Vec<String> {
    fn literals(value: &Value, out: &mut Vec<TensorLiteral>) {
        match value {
            Value::Tensor(t) => out.extend(t.to_literal()),
            Value::Tuple(elements) => elements.iter().for_each(|e| literals(e, out)),
            Value::Token => {}
        }
    }
    let mut all = Vec::new();
    values.iter().for_each(|v| literals(v, &mut all));
    all.iter().map(|l| format!("{l:?}")).collect()
}

// Runs all functions of a program and returns the number that ran to the end.
fn check(seed: u64, config: &RandomProgramConfig) -> usize {
    let program = random_program(seed, config);
    let mut ended = 0;
    for function in program.functions() {
        for inst in function.walk() {
            if let Some(literals) = eval::fold_inst(function, inst, &FoldLimits::default()) {
                let types = function.inst_results(inst).map(|v| function.value_type(v));
                for (literal, ty) in literals.iter().zip(types) {
                    let ty = ty.as_tensor().unwrap();
                    assert!(
                        ty.compatible(&literal.ty()),
                        "seed {seed}: {ty} folds to {}",
                        literal.ty()
                    );
                }
            }
        }
        let name = function.name();
        let Some(first) = run(seed, &program, name.as_str()) else { continue };
        match (&first, run(seed, &program, name.as_str())) {
            (Ok(a), Some(Ok(b))) => {
                assert_eq!(texts(a), texts(&b), "seed {seed}: two results\n{program}");
                let types = function.result_types();
                for (value, ty) in a.iter().zip(types) {
                    assert!(ty.compatible(&value.ty()), "seed {seed}: {} is not {ty}", value.ty());
                }
                ended += 1;
            }
            (Err(a), Some(Err(b))) => {
                assert_eq!(a.to_string(), b.to_string(), "seed {seed}");
                // Without unknown dims, only missing evaluations and limits can fail.
                let open = program.functions().iter().any(|f| has_open_dims(f));
                let allowed = matches!(
                    a.fault,
                    Fault::NoEvaluation { .. }
                        | Fault::UnknownCustomCall { .. }
                        | Fault::Steps { .. }
                        | Fault::Memory { .. }
                        | Fault::TooLarge { .. }
                );
                assert!(allowed || open, "seed {seed}: {a}\n{program}");
            }
            _ => panic!("seed {seed}: once results, once not\n{program}"),
        }
    }
    ended
}

fn has_open_dims(f: &sapwood_ptir::Function) -> bool {
    fn open(ty: &ValueType) -> bool {
        match ty {
            ValueType::Tensor(t) => t.dims.iter().any(|d| !matches!(d, Dim::Known(_))),
            ValueType::Tuple(elements) => elements.iter().any(open),
            ValueType::Token | ValueType::Opaque => false,
        }
    }
    let results = f.walk().flat_map(|i| f.inst_results(i));
    results.chain(f.params().iter().copied()).any(|v| open(f.value_type(v)))
}

#[test]
fn programs_run_to_results_or_to_an_error_with_a_name() {
    let mut ended = 0;
    for seed in 0..u64::from(cases(600, 40_000)) {
        ended += check(seed, &RandomProgramConfig { insts: 12, ..RandomProgramConfig::default() });
    }
    assert!(ended > 0);
}

#[test]
fn every_op_with_an_evaluation_runs() {
    let registry = sapwood_ptir::Registry::builtin();
    for def in registry.defs().filter(|d| d.evaluation().is_some() || d.control.is_some()) {
        if def.name == "custom_call" {
            continue;
        }
        let config = RandomProgramConfig {
            only: vec![def.name],
            insts: 3,
            ..RandomProgramConfig::default()
        };
        let ended: usize = (0..u64::from(cases(60, 2_000))).map(|seed| check(seed, &config)).sum();
        assert!(ended > 0, "no program with `{}` ran to the end", def.name);
    }
}

#[test]
fn copies_of_equal_elements_fold_to_what_the_evaluator_computes() {
    let ops = [
        ("[]", "broadcast_in_dim", "{dims = []} : TYPE[3, 4]"),
        ("[3]", "broadcast_in_dim", "{dims = [1]} : TYPE[2, 3]"),
        ("[1, 3]", "broadcast_in_dim", "{dims = [0, 1]} : TYPE[5, 3]"),
        ("[3, 0]", "broadcast_in_dim", "{dims = [1, 0]} : TYPE[0, 3]"),
        ("[]", "reshape", ": TYPE[1, 1]"),
        ("[2, 6]", "reshape", ": TYPE[3, 4]"),
        ("[0, 6]", "reshape", ": TYPE[3, 0]"),
        ("[2, 6]", "transpose", "{perm = [1, 0]} : TYPE[6, 2]"),
    ];
    let elements = [
        ("f32", "0x7fc00001"),
        ("f32", "-0.0"),
        ("i8", "-3"),
        ("bool", "true"),
        ("c64", "(1.5, -inf)"),
    ];
    for (shape, op, rest) in ops {
        for (dtype, element) in elements {
            let rest = rest.replace("TYPE", dtype);
            let result = rest.rsplit(": ").next().unwrap();
            let text = format!(
                "ptir 1\nfunc @folds() -> {result} {{ %x = constant {element} : {dtype}{shape} %y = {op} %x {rest} return %y }}\n\
                 func @runs(%x: {dtype}{shape}) -> {result} {{ %y = {op} %x {rest} return %y }}"
            );
            let program = parse(&text).unwrap_or_else(|problems| panic!("{text}\n{problems}"));
            let function = program.function("folds").unwrap();
            let insts: Vec<_> = function.walk().collect();
            let literal = function.constant_of(function.value_of(insts[0]).unwrap()).unwrap();
            let folded = eval::fold_inst(function, insts[1], &FoldLimits::default()).unwrap();
            let prepared = Prepared::new(&program, "runs", None).unwrap();
            let input = Tensor::from_literal(literal).unwrap().into();
            let computed = prepared.run(&[input], &options()).unwrap();
            let folded = folded.iter().map(|l| Tensor::from_literal(l).unwrap().into());
            assert_eq!(texts(&folded.collect::<Vec<Value>>()), texts(&computed), "{text}");
        }
    }
}
