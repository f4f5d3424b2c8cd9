//! Inference over expressions agrees with evaluation: an op with symbolic dims gives, at any extents, the shapes that it has when it runs with
//! these extents.

use std::collections::BTreeMap;

use sapwood_ptir::dims::DimExpr;
use sapwood_ptir::eval::{self, RunOptions, Tensor, Value};
use sapwood_ptir::testing::{RandomProgramConfig, Rng, random_literal, random_program};
use sapwood_ptir::{
    Dim, Function, InferCx, InferResult, InsertPoint, InstId, Name, Op, OpParts, Program, Registry,
    TensorType, ValueType, ops,
};
use sapwood_testing::cases;
use sapwood_types::{DataType, Span};

// Replaces extents by expressions that have these values: `?e3` is 3 in every test.
struct Symbolizer<'a> {
    rng: &'a mut Rng,
}

fn symbol(value: u64) -> DimExpr {
    DimExpr::symbol(Name::new(&format!("e{value}"))).unwrap()
}

fn value_of(name: Name) -> Option<u64> {
    name.as_str().strip_prefix('e')?.parse().ok()
}

impl Symbolizer<'_> {
    fn dim(&mut self, dim: Dim) -> Dim {
        let Some(n) = dim.known().filter(|&n| n <= 1000) else { return dim };
        let number = |n: u64| DimExpr::constant(n as i64).unwrap();
        let expr = match self.rng.below(6) {
            0 => return dim,
            1 if n > 0 => symbol(n - 1).checked_add(number(1)),
            2 if n % 2 == 0 => symbol(n / 2).checked_mul(number(2)),
            3 => symbol(2 * n + 1).floordiv(2),
            4 => symbol(n).max(number(n.saturating_sub(1))),
            _ => Some(symbol(n)),
        };
        Dim::from_expr(expr.unwrap())
    }

    fn ty(&mut self, ty: &ValueType) -> ValueType {
        ty.map_dims(&mut |dim| self.dim(dim))
    }
}

fn at_extents(ty: &ValueType) -> ValueType {
    ty.map_dims(&mut |dim| dim.evaluate(&value_of).map_or(dim, Dim::Known))
}

// Returns whether each dim of a type is unknown or that of the other type.
fn agrees(found: &ValueType, expected: &ValueType) -> bool {
    let (mut left, mut right) = (Vec::new(), Vec::new());
    at_extents(found).for_each_dim(&mut |dim| left.push(dim));
    expected.for_each_dim(&mut |dim| right.push(dim));
    left.len() == right.len()
        && left
            .iter()
            .zip(&right)
            .all(|(found, expected)| *found == Dim::Unknown || found == expected)
}

fn is_known(ty: &ValueType) -> bool {
    let mut known = true;
    ty.for_each_dim(&mut |dim| known &= dim.known().is_some());
    known
}

// The counts of one run of the test: a test that checks nothing fails.
#[derive(Default, Debug)]
struct Counts {
    inferred: usize,
    symbolic_dims: usize,
    ran: usize,
    ops: BTreeMap<&'static str, usize>,
    ran_ops: BTreeMap<&'static str, usize>,
}

// Infers an instruction with other types of operands and results.
fn infer_inst(
    f: &Function,
    inst: InstId,
    operands: &[ValueType],
    declared: &[ValueType],
) -> InferResult {
    let def = f.op_def(inst).unwrap();
    def.infer(&InferCx {
        def,
        attrs: f.attrs(inst),
        operands: operands.iter().collect(),
        regions: f.regions(inst).iter().map(|&b| f.region_signature(b)).collect(),
        declared_types: declared.iter().collect(),
    })
}

// Infers an instruction with known dims again with expressions, and compares.
fn check_inst(f: &Function, inst: InstId, rng: &mut Rng, counts: &mut Counts) {
    let Some(def) = f.op_def(inst) else { return };
    let operands: Vec<&ValueType> = f.operands(inst).iter().map(|&v| f.value_type(v)).collect();
    let results: Vec<&ValueType> = f.inst_results(inst).map(|v| f.value_type(v)).collect();
    if def.terminator || !operands.iter().chain(&results).all(|ty| is_known(ty)) {
        return;
    }
    let infer =
        |operands: &[ValueType], declared: &[ValueType]| infer_inst(f, inst, operands, declared);
    let owned = |types: &[&ValueType]| types.iter().map(|&ty| ty.clone()).collect::<Vec<_>>();
    let Ok(concrete) = infer(&owned(&operands), &owned(&results)) else { return };
    let mut symbolizer = Symbolizer { rng };
    let symbolic: Vec<ValueType> = operands.iter().map(|ty| symbolizer.ty(ty)).collect();
    let mut declared: Vec<ValueType> = results.iter().map(|ty| symbolizer.ty(ty)).collect();
    // The extents of this op are known.
    if f.is::<ops::DimValues>(inst) {
        declared = owned(&results);
    }
    // The op computes one extent of its result.
    if let (true, [ValueType::Tensor(ty)]) = (f.is::<ops::Reshape>(inst), &mut declared[..])
        && ty.rank() > 0
    {
        let axis = rng.below(ty.rank());
        ty.dims[axis] = Dim::Unknown;
    }
    let shown = || format!("{} {symbolic:?} -> {declared:?}", sapwood_ptir::print_function(f));
    let inferred = infer(&symbolic, &declared).unwrap_or_else(|e| panic!("{e}: {}", shown()));
    counts.inferred += 1;
    *counts.ops.entry(def.name).or_default() += 1;
    for (found, expected) in inferred.iter().zip(&concrete) {
        assert!(agrees(found, expected), "{found} is not {expected}: {}", shown());
        found.for_each_dim(&mut |dim| {
            counts.symbolic_dims += usize::from(matches!(dim, Dim::Expr(_)));
        });
    }
    let tensors = |types: &[ValueType]| types.iter().all(|ty| ty.as_tensor().is_some());
    let mut bound = Vec::new();
    symbolic.iter().for_each(|ty| ty.for_each_symbol(&mut |name| bound.push(name)));
    let mut runs = f.regions(inst).is_empty() && def.evaluation().is_some();
    inferred.iter().for_each(|ty| ty.for_each_symbol(&mut |name| runs &= bound.contains(&name)));
    if runs && tensors(&symbolic) && tensors(&inferred) {
        let ran = run_inst(f, inst, &symbolic, &inferred, &operands, &concrete, rng);
        counts.ran += usize::from(ran);
        *counts.ran_ops.entry(def.name).or_default() += usize::from(ran);
    }
}

// Runs the instruction alone with symbolic types. The evaluator itself checks the result against the type.
fn run_inst(
    f: &Function,
    inst: InstId,
    symbolic: &[ValueType],
    inferred: &[ValueType],
    operands: &[&ValueType],
    concrete: &[ValueType],
    rng: &mut Rng,
) -> bool {
    let mut function = Function::new("main", Registry::builtin());
    let body = function.body();
    let mut parts = f.parts_of(inst);
    parts.operands = symbolic.iter().map(|ty| function.push_param(body, ty)).collect();
    // The symbols of attributes get values, too, and a parameter that binds them.
    let mut of_attrs: Vec<Name> = Vec::new();
    for attr in &mut parts.attrs {
        attr.for_each_symbol(&mut |name| of_attrs.push(name));
        let rename = |name: Name| Some(symbol(name.as_str().len() as u64));
        *attr = attr.map_exprs(&mut |expr| expr.substitute(&rename)).unwrap();
    }
    of_attrs.sort_by_key(|name| name.as_str());
    of_attrs.dedup();
    let extents: Vec<u64> = of_attrs.iter().map(|name| name.as_str().len() as u64).collect();
    for &extent in &extents {
        let ty = TensorType::new(DataType::F32, [Dim::Expr(symbol(extent))]);
        function.push_param(body, &ty.into());
    }
    parts.result_types = inferred.iter().cloned().collect();
    let new = function.insert(InsertPoint::End(body), &parts, Span::unknown()).unwrap();
    let mut end = OpParts::new(ops::Return::key());
    end.operands = function.inst_results(new).collect();
    function.insert(InsertPoint::End(body), &end, Span::unknown()).unwrap();
    function.set_result_types(inferred);
    let mut program = Program::new(Registry::builtin());
    program.add(function).unwrap();
    // An expression that does not determine its symbols is refused; another case has one that does.
    if sapwood_ptir::verify(&program).is_err() {
        return false;
    }
    // Shapes that are operands are constants of the program.
    let input = |(n, ty): (usize, &&ValueType), rng: &mut Rng| {
        let literal = match f.constant_of(f.operands(inst)[n]) {
            Some(literal) => literal.clone(),
            None => random_literal(rng, ty.as_tensor()?)?,
        };
        Some(Value::from(Tensor::from_literal(&literal).ok()?))
    };
    let inputs: Option<Vec<Value>> =
        operands.iter().enumerate().map(|operand| input(operand, rng)).collect();
    let Some(mut inputs) = inputs else { return false };
    inputs.extend(
        extents.iter().map(|&n| {
            Value::from(Tensor::new(DataType::F32, [n as usize], vec![0f32; n as usize]))
        }),
    );
    let shown = || sapwood_ptir::print(&program);
    let found = eval::run(&program, "main", &inputs, &RunOptions::default())
        .unwrap_or_else(|e| panic!("{e}\n{}", shown()));
    for (value, expected) in found.iter().zip(concrete) {
        assert_eq!(value.ty(), *expected, "{}", shown());
    }
    true
}

#[test]
fn inferred_expressions_have_the_extents_of_evaluated_shapes() {
    let registry = Registry::builtin();
    let names: Vec<&'static str> =
        registry.defs().filter(|def| !def.terminator).map(|def| def.name).collect();
    let (mut rng, mut counts, mut seed) = (Rng::new(7), Counts::default(), 0);
    let wanted = cases(10_000, 1_000_000) as usize;
    while counts.inferred < wanted {
        let only = vec![names[seed as usize % names.len()]];
        let config = RandomProgramConfig { functions: 1, insts: 3, only, return_unused: true };
        let program = random_program(seed, &config);
        for function in program.functions() {
            for inst in function.walk() {
                check_inst(function, inst, &mut rng, &mut counts);
            }
        }
        seed += 1;
    }
    // Beyond the limit of expressions everything would be unknown, and agree.
    assert!(DimExpr::symbol(Name::new("one more")).is_some(), "too many expressions");
    assert!(counts.symbolic_dims > wanted / 4, "{counts:?}");
    assert!(counts.ran > wanted / 4, "{counts:?}");
    // These compute with extents.
    for name in
        ["concat", "pad", "reduce_window", "convolution", "reshape", "broadcast_to", "slice"]
    {
        assert!(counts.ops.get(name).is_some_and(|&n| n >= wanted / 1000), "{name}: {counts:?}");
    }
    // The shapes of these are operands or attributes.
    for name in registry.defs().filter(|def| def.family == "dims").map(|def| def.name) {
        assert!(counts.ran_ops.get(name).is_some_and(|&n| n > 0), "{name}: {counts:?}");
    }
}

// Returns the inferred type of an instruction in a function with these parameters.
fn infer(params: &str, inst: &str) -> String {
    let text = format!("ptir 1 func @main({params}) -> () {{ {inst} return }}");
    let text = text.replace(" -> ()", "");
    let program = sapwood_ptir::parse(&text).unwrap_or_else(|e| panic!("{e}"));
    let f = &program.functions()[0];
    let inst =
        f.walk().find(|&i| f.op_def(i).is_some_and(|d| !d.terminator && d.name != "constant"));
    f.infer(inst.unwrap()).unwrap()[0].to_string()
}

#[test]
fn extents_are_computed_as_expressions() {
    let check =
        |params: &str, inst: &str, expected: &str| assert_eq!(infer(params, inst), expected);
    check(
        "%x: f32[?A, 3], %y: f32[?B, 3]",
        "%z = concat %x, %y {axis = 0} : f32[?, 3]",
        "f32[?A + ?B, 3]",
    );
    check("%x: f32[?A], %y: f32[4]", "%z = concat %x, %y, %x {axis = 0} : f32[?]", "f32[2*?A + 4]");
    check(
        "%x: f32[?N], %v: f32[]",
        "%z = pad %x, %v {low = [1], high = [-3], interior = [2]} : f32[?]",
        "f32[?N + 2*max(?N - 1, 0) - 2]",
    );
    check("%x: f32[2, ?N, 6]", "%z = reshape %x : f32[?, 4]", "f32[3*?N, 4]");
    check("%x: f32[?N]", "%z = reshape %x : f32[?, 2]", "f32[floordiv(?N, 2), 2]");
    // The other extent may be zero, and then the quotient is not the result.
    check("%x: f32[?N, 2]", "%z = reshape %x : f32[?, ?N]", "f32[?, ?N]");
    check("%x: f32[?N]", "%z = broadcast_to %x : f32[3, ?]", "f32[3, ?N]");
    check(
        "%x: f32[1, ?N, 3], %k: f32[3, 5, 8]",
        "%z = convolution %x, %k {input_dims = [0, 2, 1], kernel_dims = [0, 2, 1], output_dims = [0, 2, 1], strides = [2], pads = [[2, 2]]} : f32[1, ?, 8]",
        "f32[1, floordiv(?N + 1, 2), 8]",
    );
}

#[test]
fn extents_beyond_the_limits_are_unknown() {
    let half = "9223372036854775807*?N";
    let concat = "%z = concat %x, %x {axis = 0} : f32[?]";
    assert_eq!(infer(&format!("%x: f32[{half}], %n: f32[?N]"), concat), "f32[?]");
    // One monomial more than the limit.
    let sum = |name: &str| (0..40).map(|n| format!("?{name}{n}")).collect::<Vec<_>>().join(" + ");
    let params = format!("%x: f32[{}], %y: f32[{}]", sum("a"), sum("b"));
    let bound = |name: &str| {
        (0..40).map(move |n| format!(", %{name}{n}: f32[?{name}{n}]")).collect::<String>()
    };
    let params = params + &bound("a") + &bound("b");
    assert_eq!(infer(&params, "%z = concat %x, %y {axis = 0} : f32[?]"), "f32[?]");
    // The largest number of elements of a run is checked when the extents are known.
    assert_eq!(infer("%x: f32[?N, ?N]", "%z = reshape %x : f32[?]"), "f32[?N*?N]");
}

#[test]
fn dims_that_cannot_be_equal_are_refused() {
    let text = "ptir 1 func @f(%x: f32[?N], %y: f32[?N + 1]) -> f32[?N] { %z = add %x, %y : f32[?N] return %z }";
    let error = sapwood_ptir::parse(text).unwrap_err().to_string();
    assert!(error.contains("axis 0 is ?N in operand 0 and ?N + 1 in operand 1"), "{error}");
    // Two symbols may be equal; the run compares them.
    let text = text.replace("?N + 1", "?M");
    let program = sapwood_ptir::parse(&text).unwrap();
    let input = |n: usize| Value::from(Tensor::new(DataType::F32, [n], vec![1f32; n]));
    assert!(eval::run(&program, "f", &[input(2), input(2)], &RunOptions::default()).is_ok());
    assert!(eval::run(&program, "f", &[input(2), input(3)], &RunOptions::default()).is_err());
}

#[test]
fn a_type_with_expressions_prints_and_reads_back() {
    for text in [
        "f32[?B, 4*?S + 1, floordiv(?S, 2), max(?S, 8)]",
        "i32[min(?a, ?b), mod(?n, 3)]",
        "f32[?\"odd name\" + 1]",
        "tuple<f32[2*?x], token>",
    ] {
        let ty: ValueType = text.parse().unwrap();
        assert_eq!(ty.to_string(), text);
    }
    let ty: ValueType = "f32[ ( ?a+ 1)*2 , 2*3]".parse().unwrap();
    assert_eq!(ty.to_string(), "f32[2*?a + 2, 6]");
    let tensor = TensorType::new(DataType::F32, [Dim::symbol(Name::new("a"))]);
    assert_eq!(tensor.to_string(), "f32[?a]");
    for (text, expected) in [
        ("f32[-3]", "-3 is not an extent"),
        ("f32[2 - 3]", "-1 is not an extent"),
        ("f32[2*]", "expected a number"),
        ("f32[floordiv(?a, 0)]", "the divisor of `floordiv` must be a number of at least 1"),
        ("f32[?a + ]", "expected a number"),
        ("f32[?a ?b]", "expected `,` or `]`"),
    ] {
        let error = text.parse::<ValueType>().unwrap_err();
        assert!(error.contains(expected), "{text}: {error}");
    }
}

// The result types of these are declared, or they have no extents.
const NOT_INFERRED: [&str; 5] =
    ["after_all", "custom_call", "rng_bits", "rng_normal", "rng_uniform"];

#[test]
fn the_inference_of_every_op_over_symbols_is_in_a_golden_file() {
    let path = sapwood_testing::repository().join("tests/golden/verify/symbolic_inference.ptir");
    let text = std::fs::read_to_string(path).unwrap();
    for def in Registry::builtin().defs().filter(|def| !def.terminator) {
        let has = |line: &str| {
            let op = line.trim_start().split_once(" = ").map_or(line.trim_start(), |(_, op)| op);
            op.split([' ', '{']).next() == Some(def.name)
        };
        let expected = !NOT_INFERRED.contains(&def.name);
        assert_eq!(text.lines().any(has), expected, "{}", def.name);
    }
}
