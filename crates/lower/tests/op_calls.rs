//! Random calls of ops with attributes, in sequences, branches and loops: random PTIR programs are written as front-end programs, which
//! must keep their text and JSON form and compute the same when they are interpreted, transformed, lowered and simplified.

use std::collections::{BTreeMap, BTreeSet};

use sapwood_ir::interpret::{Interpreter, RunValue};
use sapwood_ir::passes::PASSES;
use sapwood_ir::{
    BinaryOp, Callee, Expr, ExprRef, Function, Program, ProgramRef, Stmt, StmtRef, Type, TypeRef,
    Var, VerifyLevel, from_json, parse_program, print_program, to_json, verify,
};
use sapwood_lower::lower;
use sapwood_ptir::eval::{self, RunOptions, Tensor};
use sapwood_ptir::testing::{RandomProgramConfig, random_literal, random_program};
use sapwood_ptir::{Attr, AttrKind, Registry, TensorType, ValueId, ValueType, with_float};
use sapwood_structural::{Seq, Value};
use sapwood_testing::cases;
use sapwood_types::{DataType, Rng, Source, Span};

const NOWHERE: Span = Span::unknown();

/// Returns the front-end form of an attribute; none if it has none.
fn attr_value(attr: &Attr) -> Option<Value> {
    Some(match attr {
        Attr::Bool(truth) => Value::Bool(*truth),
        Attr::Int(number) => Value::Int(*number),
        Attr::Float(number) => Value::Float(number.get()),
        Attr::Str(text) => Value::from(&**text),
        Attr::Word(word) => Value::from(word.as_str()),
        Attr::Type(dtype) => Value::from(dtype.document_name()),
        Attr::Ints(numbers) => numbers.iter().copied().collect::<Seq>().into(),
        Attr::List(items) => items.iter().map(attr_value).collect::<Option<Seq>>()?.into(),
        _ => return None,
    })
}

/// Returns the front-end form of a type with known dims and without complex numbers.
fn static_type(ty: &ValueType) -> Option<TypeRef> {
    let ty = ty.as_tensor().filter(|ty| !ty.dtype.is_complex())?;
    let dims: Vec<i64> = ty.known_shape()?.iter().map(|&dim| dim as i64).collect();
    Some(if dims.is_empty() {
        Type::scalar(ty.dtype)
    } else {
        Type::static_tensor(ty.dtype, &dims)
    })
}

/// Returns a word for a region; `has_bits` is false if an input consists of floats.
fn region_word(region: &str, has_bits: bool, choices: &mut Rng) -> &'static str {
    let words: &[&str] = match region {
        "comparator" => &["lt", "gt"],
        "select" => &["ge", "gt", "le", "lt"],
        _ if has_bits => &["add", "mul", "min", "max", "and", "or", "xor", "replace"],
        _ => &["add", "mul", "min", "max", "replace"],
    };
    words[choices.below(words.len())]
}

/// A front-end function under construction.
#[derive(Default)]
struct Writer {
    vars: BTreeMap<ValueId, Var>,
    params: Vec<Var>,
    param_types: Vec<TensorType>,
    stmts: Vec<StmtRef>,
}

impl Writer {
    fn var(&mut self, value: ValueId, ty: &TypeRef) -> Var {
        let var = Var::new(&format!("v{}", self.vars.len()), ty, NOWHERE);
        self.vars.insert(value, var.clone());
        var
    }

    /// Makes a value a parameter, if its type has a front-end form.
    fn param(&mut self, value: ValueId, ty: &ValueType) {
        if let (Some(own), Some(tensor)) = (static_type(ty), ty.as_tensor()) {
            let var = self.var(value, &own);
            self.params.push(var);
            self.param_types.push(tensor.clone());
        }
    }

    /// Returns the call of an instruction. Words chosen at random describe its regions.
    fn call(
        &self,
        f: &sapwood_ptir::Function,
        inst: sapwood_ptir::InstId,
        choices: &mut Rng,
    ) -> Option<ExprRef> {
        let def = f.op_def(inst)?;
        if !sapwood_ir::ops::is_callable(def)
            || ["bitcast", "call", "custom_call", "constant"].contains(&def.name)
        {
            return None;
        }
        let args: Option<Vec<ExprRef>> = f
            .operands(inst)
            .iter()
            .map(|value| self.vars.get(value).map(|var| var.expr().clone()))
            .collect();
        let mut attrs = Vec::new();
        for (row, attr) in def.attrs.iter().zip(f.attrs(inst).iter()) {
            if row.kind != AttrKind::ResultType && *attr != Attr::Unit {
                attrs.push((row.name.to_owned(), attr_value(attr)?));
            }
        }
        let types = f.operands(inst).iter().map(|&value| f.value_type(value).as_tensor());
        let has_bits = types.flatten().all(|ty| ty.dtype.is_integer() || ty.dtype.is_bool());
        for region in &def.regions {
            let word = region_word(region.name, has_bits, choices);
            attrs.push((region.name.to_owned(), Value::from(word)));
        }
        let types: Option<Vec<TypeRef>> =
            f.inst_results(inst).map(|value| static_type(f.value_type(value))).collect();
        let types = types?;
        let ty = match &types[..] {
            [one] => one.clone(),
            _ => Type::tuple(types),
        };
        let callee = Callee::op_with_attrs(def.name, attrs, NOWHERE);
        Some(Expr::call(&callee, args?, ty, NOWHERE))
    }
}

/// Puts a random part of the statements into both branches of an `if`, or repeats it in a loop. The result does not change, because
/// each statement assigns its own variable.
fn nest(mut stmts: Vec<StmtRef>, choices: &mut Rng, flag: &Var, trips: &Var) -> Vec<StmtRef> {
    for _ in 0..choices.below(3) {
        let start = choices.below(stmts.len());
        let end = start + 1 + choices.below(stmts.len() - start);
        let part: Vec<StmtRef> = stmts[start..end].to_vec();
        let body = Stmt::block(part.iter().cloned(), NOWHERE);
        if choices.below(2) == 0 {
            let branch = Stmt::if_(flag.expr(), &body, Some(&body), [], NOWHERE);
            stmts.splice(start..end, [branch]);
        } else {
            let (count, three) = (trips.expr(), Expr::dim(3));
            let count = Expr::binary(BinaryOp::FloorMod, count, &three, DataType::I64, NOWHERE);
            let i = Var::new("i", DataType::I64, NOWHERE);
            let range = [&Expr::dim(0), &count, &Expr::dim(1)];
            stmts.insert(end, Stmt::for_(&i, range, [], &body, [], NOWHERE));
        }
    }
    stmts
}

/// Writes the calls of a function as a front-end program, with the types of its parameters.
fn front_end(
    f: &sapwood_ptir::Function,
    ops: &mut BTreeSet<&'static str>,
    choices: &mut Rng,
) -> Option<(ProgramRef, Vec<TensorType>)> {
    let mut writer = Writer::default();
    let [flag, trips] =
        [("flag", DataType::Bool), ("trips", DataType::I64)].map(|(name, dtype)| {
            writer.param_types.push(TensorType::scalar(dtype));
            let var = Var::new(name, dtype, NOWHERE);
            writer.params.push(var.clone());
            var
        });
    for &param in f.params() {
        writer.param(param, f.value_type(param));
    }
    let mut last: Option<Var> = None;
    for inst in f.body_insts(f.body()) {
        let results: Vec<ValueId> = f.inst_results(inst).collect();
        let Some(call) = writer.call(f, inst, choices) else {
            for value in results {
                writer.param(value, f.value_type(value));
            }
            continue;
        };
        ops.insert(f.op_name(inst));
        if let [one] = results[..] {
            let var = writer.var(one, call.ty());
            writer.stmts.push(Stmt::assign(&var, &call, NOWHERE));
            last = Some(var);
        } else {
            let all = Var::new("all", call.ty(), NOWHERE);
            writer.stmts.push(Stmt::assign(&all, &call, NOWHERE));
            for (index, value) in results.into_iter().enumerate() {
                let element = Expr::tuple_get_item(all.expr(), index, NOWHERE).ok()?;
                let var = writer.var(value, element.ty());
                writer.stmts.push(Stmt::assign(&var, &element, NOWHERE));
                last = Some(var);
            }
        }
    }
    let last = last?;
    writer.stmts = nest(writer.stmts, choices, &flag, &trips);
    writer.stmts.push(Stmt::return_([last.expr().clone()], NOWHERE));
    let body = Stmt::seq(writer.stmts, NOWHERE);
    let function = Function::new("f", writer.params, [last.ty().clone()], &body, NOWHERE);
    Some((Program::new([function], "", NOWHERE).ok()?, writer.param_types))
}

/// Replaces NaN by a number. The interpreter has one NaN, but `compare` with a total order tells them apart.
fn without_nan(tensor: Tensor) -> Tensor {
    let dtype = tensor.dtype();
    with_float!(dtype, T => {
        let number = |element: &T| {
            let is_nan = eval::Float::number(*element).is_nan();
            if is_nan { <T as eval::Float>::nearest(0.5) } else { *element }
        };
        let elements: Vec<T> = tensor.elements::<T>().unwrap().iter().map(number).collect();
        Tensor::new(dtype, tensor.shape(), elements)
    }, _ => tensor)
}

// Two tests, so that they run at the same time.
#[test]
fn random_calls_keep_their_text_and_their_values() {
    check_programs(0);
}

#[test]
fn more_random_calls_keep_their_text_and_their_values() {
    check_programs(1 << 32);
}

/// Checks half of the programs, those of the seeds from the first one on. Each is compared by value.
fn check_programs(first_seed: u64) {
    let mut ops = BTreeSet::new();
    let (mut programs, mut compared) = (0, 0);
    let simplify = sapwood_rewrite::PassManager::parse("simplify").unwrap();
    for seed in first_seed.. {
        if compared >= cases(10_000, 100_000) {
            break;
        }
        let config =
            RandomProgramConfig { functions: 1, insts: 12, ..RandomProgramConfig::default() };
        let made = random_program(seed, &config);
        let Some(f) = made.functions().first().cloned() else { continue };
        let mut choices = Rng::new(!seed);
        let Some((program, types)) = front_end(&f, &mut ops, &mut choices) else { continue };
        programs += 1;
        let problems = verify(&program, VerifyLevel::WellFormed);
        assert!(problems.is_empty(), "seed {seed}: {problems}\n{program}");
        let text = print_program(&program).unwrap();
        let source = Source::new("f.py", text.as_str());
        let back =
            parse_program(&source).unwrap_or_else(|e| panic!("seed {seed}: {}", e.render(&source)));
        assert!(sapwood_structural::equal(&back, &program).unwrap(), "seed {seed}\n{text}");
        assert_eq!(print_program(&back).unwrap(), text, "seed {seed}");
        let json = from_json(&to_json(&program).unwrap()).unwrap();
        assert!(sapwood_structural::equal(&json, &program).unwrap(), "seed {seed}\n{text}");
        let lowered = lower(&program).unwrap_or_else(|e| panic!("seed {seed}: {e}\n{text}"));
        let mut rng = Rng::new(seed);
        let inputs: Option<Vec<eval::Value>> = types
            .iter()
            .map(|ty| {
                let tensor = Tensor::from_literal(&random_literal(&mut rng, ty)?).ok()?;
                Some(without_nan(tensor).into())
            })
            .collect();
        let Some(inputs) = inputs else { continue };
        let args: Vec<RunValue> =
            inputs.iter().map(|input| RunValue::from_value(input).unwrap()).collect();
        let interpreted = Interpreter::new(&program, 1_000_000).run("f", &args);
        let ran = eval::run(&lowered, "f", &inputs, &RunOptions::default());
        let (interpreted, ran) = match (interpreted, ran) {
            (Ok(interpreted), Ok(ran)) => (interpreted, ran),
            // An op may stop, for example for a length that its attributes do not allow.
            (Err(_), Err(_)) => continue,
            (interpreted, ran) => panic!("seed {seed}: {interpreted:?}\n{ran:?}\n{text}"),
        };
        let ran: Vec<RunValue> =
            ran.iter().map(|value| RunValue::from_value(value).unwrap()).collect();
        assert!(interpreted == ran, "seed {seed}: {interpreted:?}\n{ran:?}\n{text}");
        compared += 1;
        let (name, pass) = PASSES[seed as usize % PASSES.len()];
        let transformed = pass(&program).unwrap_or_else(|e| panic!("seed {seed}: {e}\n{text}"));
        let transformed = Interpreter::new(&transformed, 1_000_000).run("f", &args);
        assert!(transformed.as_ref() == Ok(&ran), "seed {seed}, {name}: {transformed:?}\n{text}");
        let mut simple = lowered.clone();
        simplify.run(&mut simple).unwrap();
        let simple = eval::run(&simple, "f", &inputs, &RunOptions::default()).unwrap();
        let simple: Vec<RunValue> =
            simple.iter().map(|value| RunValue::from_value(value).unwrap()).collect();
        assert!(simple == ran, "seed {seed}: {simple:?}\n{ran:?}\n{text}");
    }
    assert!(compared > programs / 2, "{compared} of {programs} programs ran to their ends");
    let registry = Registry::builtin();
    // Their operands or results are complex numbers, tuples or tokens, or their shapes are operands, or they are not called.
    let others = [
        "after_all",
        "bitcast",
        "call",
        "complex",
        "constant",
        "custom_call",
        "dims",
        "dynamic_broadcast_in_dim",
        "dynamic_conv",
        "dynamic_gather",
        "dynamic_iota",
        "dynamic_pad",
        "dynamic_reshape",
        "fft",
        "get_tuple_element",
        "imag",
        "real",
        "real_dynamic_slice",
        "refine",
        "tuple",
    ];
    let callable = registry.defs().filter(|def| sapwood_ir::ops::is_callable(def));
    let missing: Vec<&str> = callable
        .map(|def| def.name)
        .filter(|name| !ops.contains(name) && !others.contains(name))
        .collect();
    assert!(missing.is_empty(), "no random program calls {missing:?}");
}
