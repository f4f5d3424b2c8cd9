//! The builder: documented examples and refused calls.

use sapwood_ptir::prelude::*;
use sapwood_ptir::structural::{Mode, first_mismatch_functions};
use sapwood_ptir::verify_function;

fn softmax(g: &mut PtirGraph<'_>, x: &PtirValue, axis: usize) -> Result<PtirValue, GraphError> {
    let max = x.reduce_max(g, [axis], true)?;
    let max_broadcast = max.broadcast_like(g, x)?;
    let shifted = x.sub(g, &max_broadcast)?;
    let exp = shifted.exp(g)?;
    let sum = exp.reduce_sum(g, [axis], true, None)?;
    let sum_broadcast = sum.broadcast_like(g, x)?;
    exp.div(g, &sum_broadcast)
}

fn layer_norm(
    g: &mut PtirGraph<'_>,
    x: &PtirValue,
    scale: &PtirValue,
    shift: &PtirValue,
) -> Result<PtirValue, GraphError> {
    let last = x.rank() - 1;
    let mean = x.mean(g, [last], true)?.broadcast_like(g, x)?;
    let centred = x.sub(g, &mean)?;
    let square = centred.mul(g, &centred)?;
    let variance = square.mean(g, [last], true)?;
    let epsilon = variance.fill_like(g, 1e-5)?;
    let factor = variance.add(g, &epsilon)?.rsqrt(g)?.broadcast_like(g, x)?;
    let (scale, shift) = (scale.broadcast_like(g, x)?, shift.broadcast_like(g, x)?);
    centred.mul(g, &factor)?.mul(g, &scale)?.add(g, &shift)
}

fn attention(
    g: &mut PtirGraph<'_>,
    q: &PtirValue,
    k: &PtirValue,
    v: &PtirValue,
) -> Result<PtirValue, GraphError> {
    let scores =
        q.dot_general(g, k, &DotDims::new(axes![0], axes![2], axes![2]), &DotAttrs::default())?;
    let factor = scores.fill_like(g, 0.125)?;
    let weights = scores.mul(g, &factor)?;
    let weights = softmax(g, &weights, 2)?;
    weights.dot_general(g, v, &DotDims::new(axes![0], axes![2], axes![1]), &DotAttrs::default())
}

fn gelu(g: &mut PtirGraph<'_>, x: &PtirValue) -> Result<PtirValue, GraphError> {
    let root = x.fill_like(g, std::f64::consts::FRAC_1_SQRT_2)?;
    let erf = x.mul(g, &root)?.erf(g)?;
    let one = x.fill_like(g, 1.0)?;
    let half = x.fill_like(g, 0.5)?;
    erf.add(g, &one)?.mul(g, x)?.mul(g, &half)
}

fn f32s(dims: &[u64]) -> TensorSpec {
    TensorSpec::new(DataType::F32, dims.iter().copied())
}

fn built(
    params: &[(&str, TensorSpec)],
    build: impl FnOnce(&mut PtirGraph<'_>, &[PtirValue]) -> Result<PtirValue, GraphError>,
) -> Function {
    let mut builder = GraphBuilder::new("f", &Registry::builtin());
    let mut g = PtirGraph::new(&mut builder);
    let values: Vec<PtirValue> =
        params.iter().map(|(name, spec)| g.parameter(name, spec.clone())).collect();
    let result = build(&mut g, &values).unwrap().id();
    let f = builder.finish(&[result]).unwrap();
    f.check_indices().unwrap();
    verify_function(&f).unwrap();
    let text = format!("ptir 1\n\n{f:?}");
    assert_eq!(sapwood_ptir::parse(&text).unwrap().to_string(), text);
    f
}

#[test]
fn softmax_is_seven_instructions() {
    let f = built(&[("x", f32s(&[4, 8]))], |g, v| softmax(g, &v[0], 1));
    assert_eq!(f.num_insts(), 7 + 1, "seven and the return:\n{f:?}");
}

#[test]
fn common_model_blocks_build_and_verify() {
    built(&[("x", f32s(&[4, 8])), ("a", f32s(&[8])), ("b", f32s(&[8]))], |g, v| {
        layer_norm(g, &v[0], &v[1], &v[2])
    });
    let qkv = f32s(&[2, 16, 64]);
    built(&[("q", qkv.clone()), ("k", qkv.clone()), ("v", qkv)], |g, v| {
        attention(g, &v[0], &v[1], &v[2])
    });
    built(&[("x", f32s(&[4, 8]))], |g, v| gelu(g, &v[0]));
    built(&[("x", f32s(&[2, 3]))], |g, v| v[0].tile(g, &[2, 5]));
    built(&[("x", f32s(&[2, 3]))], |g, v| v[0].cumulative_sum(g, 1));
    let indices = ("i", TensorSpec::new(DataType::I32, [5u64, 6]));
    let f = built(&[("x", f32s(&[2, 3, 4])), indices], |g, v| v[0].take(g, &v[1], 1));
    assert_eq!(f.result_types()[0].to_string(), "f32[2, 5, 6, 4]");
}

// Returns the program of a golden file whose expected values come from NumPy.
fn golden(name: &str) -> Function {
    let path = format!("tests/golden/run/examples/{name}.ptir");
    let file = std::fs::read_to_string(sapwood_testing::repository().join(path)).unwrap();
    let lines =
        file.lines().skip_while(|l| l.starts_with("//!")).take_while(|l| !l.starts_with("//<"));
    let text = lines.collect::<Vec<_>>().join("\n");
    let program = sapwood_ptir::parse(&text).unwrap_or_else(|e| panic!("{name}: {e}"));
    Function::clone(program.function("f").unwrap())
}

#[test]
fn common_model_blocks_equal_the_golden_files_with_numpy_values() {
    let qkv = f32s(&[2, 3, 4]);
    let blocks = [
        ("softmax", built(&[("x", f32s(&[3, 5]))], |g, v| softmax(g, &v[0], 1))),
        (
            "layer_norm",
            built(&[("x", f32s(&[3, 8])), ("a", f32s(&[8])), ("b", f32s(&[8]))], |g, v| {
                layer_norm(g, &v[0], &v[1], &v[2])
            }),
        ),
        (
            "attention",
            built(&[("q", qkv.clone()), ("k", qkv.clone()), ("v", qkv)], |g, v| {
                attention(g, &v[0], &v[1], &v[2])
            }),
        ),
        ("gelu", built(&[("x", f32s(&[2, 5]))], |g, v| gelu(g, &v[0]))),
    ];
    for (name, block) in blocks {
        let other = golden(name);
        if let Some(found) = first_mismatch_functions(&block, &other, Mode::DataFlow) {
            panic!("{name}: {found}\n{block:?}\n{other:?}");
        }
    }
}

#[test]
fn control_flow_with_captures() {
    let i32s = TensorSpec::scalar(DataType::I32);
    let f = built(&[("n", i32s.clone()), ("x", f32s(&[4]))], |g, v| {
        let zero = v[0].fill_like(g, 0.0)?;
        let params = [ValueType::from(i32s.clone()), f32s(&[4]).into()];
        let cond = g.region(&params, |g, a| {
            Ok::<_, GraphError>(vec![a[0].compare(
                g,
                &v[0],
                Direction::Lt,
                CompareOrder::Partial,
            )?])
        })?;
        let body = g.region(&params, |g, a| {
            let one = a[0].fill_like(g, 1.0)?;
            Ok::<_, GraphError>(vec![a[0].add(g, &one)?, a[1].mul(g, &v[1])?])
        })?;
        g.while_loop(&[zero, v[1].clone()], cond, body)?.tuple_element(1)
    });
    assert!(f.num_insts() > 5);
}

#[test]
fn refused_calls_report_both_numbers_and_change_nothing() {
    let mut builder = GraphBuilder::new("f", &Registry::builtin());
    let mut g = PtirGraph::new(&mut builder);
    let x = g.parameter("x", f32s(&[4, 8]));
    let y = g.parameter("y", TensorSpec::new(DataType::F16, [4u64, 8]));
    let z = g.parameter("z", f32s(&[3, 8, 5]));
    let w = g.parameter("w", f32s(&[2, 5, 8]));
    let bytes = g.parameter("bytes", TensorSpec::new(DataType::I8, [1000u64]));
    let flags = g.parameter("flags", TensorSpec::new(DataType::Bool, [1u64]));
    let before = format!("{:?}", g.function());
    let says = |result: Result<PtirValue, GraphError>, words: &[&str]| {
        let message = result.unwrap_err().to_string();
        for word in words {
            assert!(message.contains(word), "{message} lacks {word}");
        }
    };
    says(x.reduce_max(&mut g, [2usize], true), &["reduce_max", "`axes` is 2", "rank 2"]);
    says(x.reduce_max(&mut g, [0usize, 0], true), &["axis 0 is repeated"]);
    says(x.add(&mut g, &y), &["add", "f32", "f16"]);
    says(x.add(&mut g, &z), &["rank 2", "rank 3"]);
    says(
        z.dot_general(
            &mut g,
            &w,
            &DotDims::new(axes![0], axes![2], axes![1]),
            &DotAttrs::default(),
        ),
        &["batch axis 0", "is 3", "and 2"],
    );
    says(
        z.dot_general(&mut g, &w, &DotDims::new(axes![], axes![0], axes![1]), &DotAttrs::default()),
        &["contracted axis 0", "3", "5"],
    );
    says(x.broadcast_like(&mut g, &z), &["axis 0", "4", "8"]);
    says(x.concat_with(&mut g, &z), &["rank"]);
    says(x.reshape_to(&mut g, &[33]), &["elements differs", "32 in", "33 in"]);
    says(bytes.mean(&mut g, [0usize], false), &["mean: ", "1000 does not fit i8"]);
    says(flags.mean(&mut g, [0usize], false), &["mean: ", "bool"]);
    says(x.mean(&mut g, [2usize], false), &["mean: ", "rank 2"]);
    says(x.mean(&mut g, [1usize, 1], false), &["mean: ", "axis 1 is repeated"]);
    says(x.tile(&mut g, &[1 << 40, 1 << 40]), &["more than 2^64 - 1"]);
    let mut other_builder = GraphBuilder::new("g", &Registry::builtin());
    let mut other = PtirGraph::new(&mut other_builder);
    says(x.exp(&mut other), &["another graph"]);
    assert_eq!(format!("{:?}", g.function()), before);
    g.function().check_indices().unwrap();
    // A region that fails, or whose op is refused, is dropped.
    let failed = g.region(&[], |g, _| {
        x.exp(g)?;
        Err::<Vec<PtirValue>, GraphError>(x.add(g, &y).unwrap_err())
    });
    assert!(failed.is_err());
    let fine = g.region(&[], |g, _| Ok::<_, GraphError>(vec![x.exp(g)?])).unwrap();
    assert!(x.cond(&mut g, fine.clone(), fine).is_err());
    assert_eq!(format!("{:?}", g.function()), before);
    g.function().check_indices().unwrap();
}

#[test]
fn extents_above_the_limit_are_refused() {
    use sapwood_ptir::MAX_EXTENT;
    let limit = MAX_EXTENT.to_string();
    let mut builder = GraphBuilder::new("f", &Registry::builtin());
    let mut g = PtirGraph::new(&mut builder);
    let x = g.parameter("x", f32s(&[0]));
    let any = g.parameter("any", TensorSpec::new(DataType::F32, [Dim::Unknown]));
    let before = format!("{:?}", g.function());
    let huge = f32s(&[0, MAX_EXTENT + 1]);
    for extent in [MAX_EXTENT + 1, u64::MAX] {
        let error = x.reshape_to(&mut g, &[0, extent]).unwrap_err().to_string();
        assert!(error.contains(&limit) && error.contains(&extent.to_string()), "{error}");
        let error = g.import_spec("any", any.id(), f32s(&[extent])).unwrap_err().to_string();
        assert!(error.contains(&limit) && error.contains(&extent.to_string()), "{error}");
    }
    let region = g.region(&[huge.clone().into()], |_, args| Ok::<_, GraphError>(args.to_vec()));
    assert!(region.unwrap_err().to_string().contains(&limit));
    assert!(TensorLiteral::new(DataType::F32, &[0, u64::MAX], &[]).is_err());
    assert_eq!(format!("{:?}", g.function()), before);
    x.reshape_to(&mut g, &[0, MAX_EXTENT]).unwrap();
    // A parameter is refused when the function is finished, and by the verifier.
    let y = g.parameter("y", huge);
    y.exp(&mut g).unwrap_err();
    let problems = verify_function(builder.function()).unwrap_err().to_string();
    assert!(problems.contains("a parameter of @f") && problems.contains(&limit), "{problems}");
    let error = builder.finish(&[x.id()]).err().unwrap().to_string();
    assert!(error.contains(&limit), "{error}");
}

#[test]
fn ranks_have_a_limit() {
    let wide = TensorSpec::new(DataType::F32, vec![1u64; 256]);
    let limit = "a tensor has at most 255 dims, found 256";
    let mut builder = GraphBuilder::new("f", &Registry::builtin());
    let mut g = PtirGraph::new(&mut builder);
    let x = g.parameter("x", TensorSpec::scalar(DataType::F32));
    let before = format!("{:?}", g.function());
    let yields = |_: &mut PtirGraph<'_>, a: &[PtirValue]| Ok::<_, GraphError>(a.to_vec());
    let error = g.region(&[wide.clone().into()], yields).unwrap_err().to_string();
    assert_eq!(error, limit);
    assert_eq!(g.import_spec("x", x.id(), wide.clone()).unwrap_err().to_string(), limit);
    let mut parts = sapwood_ptir::OpParts::new(sapwood_ptir::OpKey::of("demo.wide"));
    parts.result_types.push(wide.clone().into());
    assert!(g.record_parts(&parts).unwrap_err().to_string().contains(limit));
    assert!(TensorLiteral::filled(DataType::F32, &[1; 256], 0.0).is_err());
    assert_eq!(format!("{:?}", g.function()), before);
    g.parameter("y", ValueType::Tuple([wide.into()].into()));
    let problems = verify_function(builder.function()).unwrap_err().to_string();
    assert!(problems.contains("a parameter of @f") && problems.contains(limit), "{problems}");
    assert_eq!(builder.finish(&[x.id()]).err().unwrap().to_string(), limit);
}

#[test]
fn a_failed_helper_leaves_no_constant() {
    let mut builder = GraphBuilder::new("f", &Registry::builtin());
    let mut g = PtirGraph::new(&mut builder);
    let flags = g.parameter("p", TensorSpec::new(DataType::Bool, [4u64]));
    let before = format!("{:?}", g.function());
    let error = flags.cumulative_sum(&mut g, 0).unwrap_err().to_string();
    assert_eq!(error, "cumulative_sum: the operand has element type bool, expected numbers");
    for dtype in DataType::ALL.iter().copied() {
        let x = g.parameter("x", TensorSpec::new(dtype, [4u64]));
        let count = g.function().num_insts();
        if x.cumulative_sum(&mut g, 0).is_err() {
            assert_eq!(g.function().num_insts(), count, "{dtype}");
        }
    }
    assert!(format!("{:?}", g.function()).starts_with(before.split(')').next().unwrap()));
    g.function().check_indices().unwrap();
}

#[test]
fn a_failed_region_is_dropped_and_its_error_returned() {
    #[derive(Debug, PartialEq)]
    struct CustomError;
    impl From<GraphError> for CustomError {
        fn from(error: GraphError) -> Self {
            panic!("{error}")
        }
    }
    let mut builder = GraphBuilder::new("f", &Registry::builtin());
    let mut g = PtirGraph::new(&mut builder);
    let x = g.parameter("x", f32s(&[4]));
    let before = format!("{:?}", g.function());
    let ty = [ValueType::from(f32s(&[4]))];
    let error: Result<_, CustomError> = g.region(&ty, |g, args| {
        let then = g.region(&[], |g, _| {
            let two = args[0].fill_like(g, 2.0)?;
            Ok::<_, CustomError>(vec![args[0].mul(g, &two)?])
        })?;
        let other = g.region(&[], |_, _| Err::<Vec<PtirValue>, _>(CustomError))?;
        unreachable!("{then:?} {other:?}")
    });
    assert_eq!(error.unwrap_err(), CustomError);
    assert_eq!(format!("{:?}", g.function()), before);
    g.function().check_indices().unwrap();
    // Regions that no instruction took are dropped when the function is finished.
    let kept = g.region(&ty, |g, args| {
        let _ = g.region(&[], |_, _| Ok::<_, GraphError>(vec![args[0].clone()]))?;
        Ok::<_, GraphError>(vec![args[0].clone()])
    });
    assert!(kept.is_ok());
    let f = builder.finish(&[x.id()]).unwrap();
    f.check_indices().unwrap();
    assert_eq!(f.num_insts(), 1);
}

#[test]
fn a_call_with_a_wrong_number_of_results_is_dropped() {
    let mut builder = GraphBuilder::new("f", &Registry::builtin());
    let mut g = PtirGraph::new(&mut builder);
    let x = g.parameter("x", f32s(&[4]));
    let before = format!("{:?}", g.function());
    let op = TopK { input: x.id(), k: Int(2), order: CompareOrder::Partial };
    let error = g.record::<_, PtirValue>(op).unwrap_err();
    assert!(matches!(error, GraphError::Count { expected: 1, found: 2 }), "{error}");
    assert_eq!(format!("{:?}", g.function()), before);
}

#[test]
fn attributes_of_unregistered_ops_must_be_canonical() {
    use sapwood_ptir::{Attr, Name, OpKey, OpParts};
    let mut builder = GraphBuilder::new("f", &Registry::builtin());
    let mut g = PtirGraph::new(&mut builder);
    let mut fails = |attr: Attr| {
        let mut parts = OpParts::new(OpKey::of("demo.a"));
        parts.attrs.push(attr);
        g.record_parts(&parts).unwrap_err().to_string()
    };
    let entry = |name: &str, attr: Attr| (Name::new(name), attr);
    let dict = |attr: Attr| Attr::Dict([entry("k", attr)].into());
    let deep = (0..100).fold(Attr::Bool(true), |attr, _| dict(attr));
    assert!(fails(deep).contains("at most 48 deep"));
    assert!(fails(dict(Attr::List([Attr::Int(1)].into()))).contains("not in its one form"));
    let unsorted = [entry("b", Attr::Unit), entry("a", Attr::Unit)];
    assert!(fails(Attr::Dict(unsorted.into())).contains("not sorted"));
}

trait ConcatWith {
    fn concat_with(
        &self,
        g: &mut PtirGraph<'_>,
        other: &PtirValue,
    ) -> Result<PtirValue, GraphError>;
}

impl ConcatWith for PtirValue {
    fn concat_with(
        &self,
        g: &mut PtirGraph<'_>,
        other: &PtirValue,
    ) -> Result<PtirValue, GraphError> {
        g.concat(&[self.clone(), other.clone()], 0)
    }
}

#[test]
fn snippets() {
    use sapwood_ptir::{SnippetError, ptir, ptir_snippet};
    static TWO: Snippet = ptir_snippet!(
        "func @two(%x: f32[?N], %k: f32[?N]) -> (f32[?N], f32[]) {
           %y = add %x, %k : f32[?N]
           %s = reduce_sum %y {axes = [{{axis}}]} : f32[]
           return %y, %s
         }"
    );
    let mut builder = GraphBuilder::new("f", &Registry::builtin());
    let mut g = PtirGraph::new(&mut builder);
    let x = g.parameter("x", f32s(&[4]));
    let y = g.parameter("y", f32s(&[5]));
    let results = TWO.record(&mut g, &[("x", &x), ("k", &x)], &[("axis", "0")]).unwrap();
    assert_eq!(results.len(), 2);
    assert_eq!(results.tuple_element(0).unwrap().ty().to_string(), "f32[4]");
    assert!(results.tuple_element(2).is_err());
    assert!(results.into_value().is_err());
    let before = format!("{:?}", g.function());
    let mut fails = |params: &[(&str, &PtirValue)], holes: &[(&str, &str)]| {
        let error = TWO.record(&mut g, params, holes).unwrap_err();
        let GraphError::Snippet(error) = error else { panic!("{error}") };
        error
    };
    assert_eq!(
        fails(&[("x", &x), ("k", &x)], &[]),
        SnippetError::UnboundPlaceholder("axis".into())
    );
    assert_eq!(
        fails(&[("x", &x), ("k", &x)], &[("axis", "0"), ("b", "1")]),
        SnippetError::UnknownPlaceholder("b".into())
    );
    assert_eq!(fails(&[("x", &x)], &[("axis", "0")]), SnippetError::UnboundParameter("k".into()));
    assert_eq!(
        fails(&[("x", &x), ("k", &x), ("z", &x)], &[("axis", "0")]),
        SnippetError::UnknownParameter("z".into())
    );
    let clash = fails(&[("x", &x), ("k", &y)], &[("axis", "0")]);
    assert!(clash.to_string().contains("axis 0 is 5, not 4"), "{clash}");
    let text = fails(&[("x", &x), ("k", &x)], &[("axis", "7")]);
    assert!(text.to_string().contains("`axes` is 7, out of range for rank 1"), "{text}");
    assert_eq!(format!("{:?}", g.function()), before);
    // Both branches use a value of the snippet; the second branch does not fit.
    static BRANCHES: Snippet = ptir_snippet!(
        "func @b(%p: bool[], %m: f32[?N], %n: f32[?M]) -> f32[?N] {
           %e = exp %m : f32[?N]
           %y = cond %p () { %k = mul %e, 2.0:f32[4] : f32[?N] yield %k } () { %s = add %e, %n : f32[?N] yield %s } : f32[?N]
           return %y
         }"
    );
    let p = g.parameter("p", TensorSpec::scalar(DataType::Bool));
    let before = format!("{:?}", g.function());
    BRANCHES.record(&mut g, &[("p", &p), ("m", &x), ("n", &y)], &[]).unwrap_err();
    assert_eq!(format!("{:?}", g.function()), before);
    g.function().check_indices().unwrap();
    let neg =
        ptir!(&mut g, "func @n(%a: f32[4]) -> f32[4] { %b = neg %a : f32[4] return %b }", a = &x)
            .unwrap();
    assert_eq!(neg.into_value().unwrap().rank(), 1);
}
