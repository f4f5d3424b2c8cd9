//! Bulk construction of functions: instructions that fit are appended, others are refused and change nothing.

use sapwood_ptir::ops::{Add, Cond, Exp, Neg, Reduce, Return, Yield};
use sapwood_ptir::{
    Attr, AttrDef, BodyId, Dim, FunctionWriter, InstId, Int, Op, OpDef, OpError, OpKey, OpParts,
    OperandKind, Registry, TensorLiteral, TensorType, TypeId, ValueId, ValueType, print_function,
};
use sapwood_types::{DataType, Span};

const NOWHERE: Span = Span::unknown();

fn writer() -> (FunctionWriter, BodyId) {
    let writer = FunctionWriter::new("f", &Registry::builtin());
    let body = writer.function().body();
    (writer, body)
}

fn scalar(dtype: DataType) -> ValueType {
    TensorType::scalar(dtype).into()
}

fn end(writer: &mut FunctionWriter, body: BodyId, value: ValueId) {
    let parts = Yield { values: [value].into_iter().collect() }.into_parts();
    writer.append(body, &parts, NOWHERE).unwrap();
}

// Appends an instruction without regions by the ids of its attributes and result types.
fn append_plain(
    writer: &mut FunctionWriter,
    body: BodyId,
    (key, attrs): (OpKey, &[Attr]),
    operands: &[ValueId],
    types: &[TypeId],
) -> Option<InstId> {
    let attrs = writer.intern_attrs(attrs);
    writer.append_typed(body, (key, attrs), operands, &[], types, NOWHERE)
}

fn ret(writer: &mut FunctionWriter, value: ValueId) {
    let body = writer.function().body();
    let parts = Return { values: [value].into_iter().collect() }.into_parts();
    writer.append(body, &parts, NOWHERE).unwrap();
}

#[test]
fn regions_come_before_their_owner_and_constants_first() {
    let (mut writer, body) = writer();
    let pred = writer.param(body, &scalar(DataType::Bool));
    let [then, otherwise] = [1i64, 2].map(|n| {
        let region = writer.new_body();
        let literal = writer.constant(&TensorLiteral::scalar(n), NOWHERE);
        assert_eq!(writer.constant(&TensorLiteral::scalar(n), NOWHERE), literal);
        end(&mut writer, region, literal);
        region
    });
    let cond = Cond { pred, then, otherwise }.into_parts();
    let cond = writer.append(body, &cond, NOWHERE).unwrap();
    let result = writer.function().value_of(cond).unwrap();
    ret(&mut writer, result);
    let function = writer.finish(&[scalar(DataType::I64)]).unwrap();
    assert_eq!(
        print_function(&function),
        "func @f(%0: bool[]) -> i64[] {\n  %1 = constant 1 : i64[]\n  %2 = constant 2 : i64[]\n  \
         %3 = cond %0 () {\n    yield %1\n  } () {\n    yield %2\n  } : i64[]\n  return %3\n}\n"
    );
}

#[test]
fn bodies_that_do_not_fit_are_refused() {
    let (mut writer, body) = writer();
    let pred = writer.param(body, &scalar(DataType::Bool));
    let cond = |writer: &mut FunctionWriter, then, otherwise| {
        let parts = Cond { pred, then, otherwise }.into_parts();
        writer.append(body, &parts, NOWHERE).map(drop).map_err(|error| error.message)
    };
    let (open, ended) = (writer.new_body(), writer.new_body());
    end(&mut writer, ended, pred);
    let not_ended = Err(format!("{open} is not a body with a terminator"));
    assert_eq!(cond(&mut writer, ended, open), not_ended);
    assert_eq!(cond(&mut writer, ended, ended), Err(format!("{ended} is already a region")));
    assert_eq!(
        cond(&mut writer, ended, body),
        Err(format!("{body} is not a body with a terminator"))
    );
    end(&mut writer, open, pred);
    assert_eq!(cond(&mut writer, ended, open), Ok(()));
    assert_eq!(cond(&mut writer, ended, open), Err(format!("{ended} is already a region")));
    let late = Yield { values: [pred].into_iter().collect() }.into_parts();
    let error = writer.append(open, &late, NOWHERE).unwrap_err();
    assert_eq!(error.message, "the body has a terminator, so no instruction can be appended");
}

#[test]
fn finish_reports_problems_of_the_whole_function() {
    // A body that is not a region of any instruction.
    let (mut first, body) = writer();
    let x = first.param(body, &scalar(DataType::I64));
    let region = first.new_body();
    end(&mut first, region, x);
    ret(&mut first, x);
    let problems = first.finish(&[scalar(DataType::I64)]).unwrap_err();
    assert!(problems.to_string().contains("is not a region of an instruction"), "{problems}");
    // A value of a region, used outside of it.
    let (mut second, body) = writer();
    let pred = second.param(body, &scalar(DataType::Bool));
    let x = second.param(body, &scalar(DataType::I64));
    let [then, otherwise] = [0, 1].map(|_| second.new_body());
    let sum = second.append(then, &Add { lhs: x, rhs: x }.into_parts(), NOWHERE).unwrap();
    let inside = second.function().value_of(sum).unwrap();
    end(&mut second, then, inside);
    end(&mut second, otherwise, x);
    second.append(body, &Cond { pred, then, otherwise }.into_parts(), NOWHERE).unwrap();
    ret(&mut second, inside);
    let problems = second.finish(&[scalar(DataType::I64)]).unwrap_err();
    assert!(problems.to_string().contains("does not dominate this use"), "{problems}");
    // No terminator.
    let problems = writer().0.finish(&[]).unwrap_err();
    assert!(problems.to_string().contains("must end in `return`"), "{problems}");
}

#[test]
fn finish_reports_bodies_changed_after_inference() {
    let (mut writer, body) = writer();
    let pred = writer.param(body, &scalar(DataType::Bool));
    let [then, otherwise] = [0, 1].map(|_| {
        let region = writer.new_body();
        end(&mut writer, region, pred);
        region
    });
    let cond = Cond { pred, then, otherwise }.into_parts();
    let cond = writer.append(body, &cond, NOWHERE).unwrap();
    let result = writer.function().value_of(cond).unwrap();
    ret(&mut writer, result);
    // Branches take no parameters.
    writer.param(then, &scalar(DataType::Bool));
    let problems = writer.finish(&[scalar(DataType::Bool)]).unwrap_err();
    assert!(problems.to_string().contains("cond: "), "{problems}");
}

#[test]
fn a_discarded_region_leaves_nothing() {
    let mut writer = FunctionWriter::new("f", &Registry::builtin());
    let ty = ValueType::from(TensorType::new(DataType::F32, [4u64]));
    let body = writer.function().body();
    let x = writer.param(body, &ty);
    let region = writer.new_body();
    let p = writer.param(region, &ty);
    let y = writer.append(region, &Exp { input: p }.into_parts(), Span::unknown()).unwrap();
    let nested = writer.new_body();
    let values = writer.function().inst_results(y).collect();
    writer.append(nested, &Yield { values }.into_parts(), Span::unknown()).unwrap();
    writer.discard_body(region);
    writer
        .append(body, &Return { values: [x].into_iter().collect() }.into_parts(), Span::unknown())
        .unwrap();
    let function = writer.finish(&[ty]).unwrap();
    assert_eq!(function.num_insts(), 1);
    function.check_indices().unwrap();
}

#[test]
fn append_typed_accepts_types_that_inference_gives() {
    let (mut writer, body) = writer();
    let [float, int] = [DataType::F32, DataType::I32].map(|d| writer.intern_type(&scalar(d)));
    let x = writer.param_typed(body, float);
    let reshape = sapwood_ptir::ops::Reshape::key();
    let refused = [
        append_plain(&mut writer, body, (Add::key(), &[]), &[x, x], &[int]),
        append_plain(&mut writer, body, (Add::key(), &[]), &[x, x], &[]),
        append_plain(&mut writer, body, (Add::key(), &[]), &[x], &[float]),
        append_plain(&mut writer, body, (Add::key(), &[Attr::Unit]), &[x, x], &[float]),
        append_plain(&mut writer, body, (reshape, &[]), &[x], &[float]),
        append_plain(&mut writer, body, (reshape, &[Attr::Bool(true)]), &[x], &[float]),
        append_plain(&mut writer, body, (Add::key(), &[]), &[x, ValueId::from_index(9)], &[float]),
    ];
    assert_eq!(refused, [None; 7]);
    assert_eq!(writer.function().inst_capacity(), 0, "nothing is changed");
    let mut last = x;
    for _ in 0..3 {
        let sum = append_plain(&mut writer, body, (Add::key(), &[]), &[last, x], &[float]);
        last = writer.function().value_of(sum.unwrap()).unwrap();
        let same = append_plain(&mut writer, body, (reshape, &[Attr::Unit]), &[last], &[float]);
        last = writer.function().value_of(same.unwrap()).unwrap();
    }
    assert!(append_plain(&mut writer, body, (Return::key(), &[]), &[last], &[]).is_some());
    let after_the_end = append_plain(&mut writer, body, (Add::key(), &[]), &[x, x], &[float]);
    assert_eq!(after_the_end, None);
    let function = writer.finish(&[scalar(DataType::F32)]).unwrap();
    assert_eq!(function.num_insts(), 7);
}

#[test]
fn finish_reports_values_of_another_region_on_every_append_path() {
    let (mut writer, body) = writer();
    let float = writer.intern_type(&scalar(DataType::F32));
    let pred = writer.param(body, &scalar(DataType::Bool));
    let x = writer.param_typed(body, float);
    let mut inner = x;
    let [then, otherwise] = [0, 1].map(|_| {
        let region = writer.new_body();
        // In the second iteration this is a value of the first region.
        let sum = append_plain(&mut writer, region, (Add::key(), &[]), &[inner, x], &[float]);
        inner = writer.function().value_of(sum.unwrap()).unwrap();
        append_plain(&mut writer, region, (Yield::key(), &[]), &[inner], &[]).unwrap();
        region
    });
    let cond = Cond { pred, then, otherwise }.into_parts();
    let cond = writer.append(body, &cond, NOWHERE).unwrap();
    let result = writer.function().value_of(cond).unwrap();
    ret(&mut writer, result);
    let problems = writer.finish(&[scalar(DataType::F32)]).unwrap_err().to_string();
    assert!(problems.contains("operand 0 does not dominate this use"), "{problems}");
}

#[test]
fn append_typed_accepts_regions_that_fit() {
    let (mut writer, body) = writer();
    let tensor = ValueType::from(TensorType::new(DataType::F32, [4u64]));
    let [vector, float, int] =
        [tensor, scalar(DataType::F32), scalar(DataType::I32)].map(|ty| writer.intern_type(&ty));
    let (x, init) = (writer.param_typed(body, vector), writer.param_typed(body, float));
    let region = |writer: &mut FunctionWriter, ty, ended: bool| {
        let region = writer.new_body();
        let (a, _) = (writer.param_typed(region, ty), writer.param_typed(region, ty));
        if ended {
            end(writer, region, a);
        }
        region
    };
    let axes = |writer: &mut FunctionWriter, axis: i64| {
        (Reduce::key(), writer.intern_attrs(&[Attr::Ints([axis].into_iter().collect())]))
    };
    let (kind, wrong) = (axes(&mut writer, 0), axes(&mut writer, 1));
    let add = |writer: &mut FunctionWriter, kind, operands: &[_], region, ty| {
        writer.append_typed(body, kind, operands, &[region], &[ty], NOWHERE)
    };
    for _ in 0..2 {
        let open = region(&mut writer, float, false);
        assert_eq!(add(&mut writer, kind, &[x, init], open, float), None, "it has no terminator");
        let ints = region(&mut writer, int, true);
        assert_eq!(add(&mut writer, kind, &[x, init], ints, float), None, "it takes integers");
        let fine = region(&mut writer, float, true);
        assert_eq!(add(&mut writer, wrong, &[x, init], fine, float), None, "axis 1 does not exist");
        assert_eq!(add(&mut writer, kind, &[x, init], fine, vector), None, "it gives a scalar");
        assert_eq!(add(&mut writer, kind, &[x], fine, float), None, "an operand is missing");
        let none = writer.append_typed(body, kind, &[x, init], &[], &[float], NOWHERE);
        assert_eq!(none, None, "a region is missing");
        assert!(add(&mut writer, kind, &[x, init], fine, float).is_some());
        assert_eq!(add(&mut writer, kind, &[x, init], fine, float), None, "it is a region already");
        writer.discard_body(open);
    }
    ret(&mut writer, init);
    let function = writer.finish_typed(vec![float]).unwrap().into_function();
    sapwood_ptir::verify_function(&function).unwrap();
    assert_eq!(print_function(&function).matches(" = reduce ").count(), 2);
}

#[test]
fn cached_inference_agrees_with_inference_for_other_types() {
    let registry = Registry::builtin();
    let shapes: [&[Dim]; 4] =
        [&[], &[Dim::Known(2), Dim::Known(3)], &[Dim::Unknown], &[Dim::Known(0)]];
    let (mut taken, mut refused) = (0, 0);
    for def in registry.defs().filter(|def| !def.terminator) {
        // Twice: the second time, the results for scalars are cached.
        for (dtype, count) in DataType::ALL.into_iter().flat_map(|d| [1, 2, 3, 2].map(|n| (d, n))) {
            for dims in shapes {
                let (mut writer, body) = writer();
                let ty: ValueType =
                    TensorType { dtype, dims: dims.iter().copied().collect() }.into();
                let id = writer.intern_type(&ty);
                let operands: Vec<ValueId> = (0..count).map(|_| writer.param(body, &ty)).collect();
                let parts = OpParts {
                    key: def.key,
                    attrs: Default::default(),
                    operands: operands.iter().copied().collect(),
                    regions: Default::default(),
                    result_types: [ty.clone()].into_iter().collect(),
                };
                let fast =
                    append_plain(&mut writer, body, (def.key, &[]), &operands, &[id]).is_some();
                let slow = writer.append(body, &parts, NOWHERE).is_ok_and(|inst| {
                    let f = writer.function();
                    f.inst_results(inst).map(|v| f.type_id(v)).eq([id])
                });
                // Only the slow path fills in omitted attributes.
                if def.attrs.is_empty() {
                    assert_eq!(fast, slow, "{} of {count} of type {ty}", def.name);
                } else {
                    assert!(!fast, "{} without attributes", def.name);
                }
                *(if fast { &mut taken } else { &mut refused }) += 1;
            }
        }
    }
    assert!(taken > 1000 && refused > 1000, "{taken} taken, {refused} refused");
}

#[test]
fn cached_inference_of_built_in_ops_does_not_apply_to_ops_derived_from_them() {
    let ranked = OpDef::new("rows", "test", &[], |cx| match cx.tensor(0)?.rank() {
        2 => cx.same_as(0),
        rank => Err(OpError::new(format!("rank {rank}, expected 2"))),
    });
    let ranked = ranked.operand("x", OperandKind::One).elementwise();
    let builtin = Registry::builtin();
    let mut wider = builtin.get(Exp::key()).unwrap().clone();
    (wider.name, wider.key) = ("my.exp", OpKey::of("my.exp"));
    let wider = wider.attr(AttrDef::new::<Int>("n", None, &[]));
    let (rows, my_exp) = (ranked.key, wider.key);
    let registry = builtin.with([ranked, wider]).unwrap();
    let mut writer = FunctionWriter::new("f", &registry);
    let body = writer.function().body();
    let types = [[2u64, 3].as_slice(), &[2, 3, 4]].map(|shape| {
        let ty = TensorType::new(DataType::F32, shape.iter().copied());
        writer.intern_type(&ty.into())
    });
    let values = types.map(|ty| writer.param_typed(body, ty));
    let mut append = |key, i: usize| {
        append_plain(&mut writer, body, (key, &[]), &[values[i]], &[types[i]]).is_some()
    };
    assert_eq!([append(rows, 0), append(rows, 1)], [true, false], "inference is asked each time");
    assert_eq!([append(Exp::key(), 0), append(Exp::key(), 1)], [true, true]);
    assert!(!append(my_exp, 0), "its attribute is missing");
}

#[test]
fn discarded_instructions_do_not_count_in_the_inference_memo() {
    let key = sapwood_ptir::ops::Transpose::key();
    let attrs = || [Attr::Ints([0].into_iter().collect())];
    let (mut writer, main) = writer();
    for n in 1..=64u64 {
        let ty = writer.intern_type(&TensorType::new(DataType::F32, [n]).into());
        let body = writer.new_body();
        let x = writer.param_typed(body, ty);
        assert!(append_plain(&mut writer, body, (key, &attrs()), &[x], &[ty]).is_some());
        writer.discard_body(body);
        assert_eq!(append_plain(&mut writer, main, (key, &attrs()), &[], &[ty]), None, "{n}");
    }
}

#[test]
fn a_refused_typed_append_changes_nothing() {
    let (mut writer, body) = writer();
    let ty: ValueType = TensorType::new(DataType::F32, [2u64]).into();
    let wrong = writer.intern_type(&TensorType::new(DataType::F32, [3u64]).into());
    let flag: ValueType = TensorType::scalar(DataType::Bool).into();
    let (x, pred) = (writer.param(body, &ty), writer.param(body, &flag));
    let regions = [writer.new_body(), writer.new_body()];
    for region in regions {
        writer
            .append(region, &Yield { values: [x].into_iter().collect() }.into_parts(), NOWHERE)
            .unwrap();
    }
    let before = (writer.function().inst_capacity(), writer.function().value_capacity());
    let none = writer.intern_attrs(&[]);
    let neg = (Neg::key(), none);
    assert_eq!(writer.append_typed(body, neg, &[x], &[], &[wrong], NOWHERE), None);
    let cond = (Cond::key(), none);
    assert_eq!(writer.append_typed(body, cond, &[pred], &regions, &[wrong], NOWHERE), None);
    let f = writer.function();
    assert_eq!((f.inst_capacity(), f.value_capacity()), before);
    assert_eq!(f.uses(x).count(), 2);
    assert_eq!(regions.map(|r| f.body_owner(r)), [None, None]);
    // The regions can still be used.
    let right = writer.intern_type(&ty);
    let made = writer.append_typed(body, cond, &[pred], &regions, &[right], NOWHERE).unwrap();
    let values = writer.function().inst_results(made).collect();
    writer.append(body, &Return { values }.into_parts(), NOWHERE).unwrap();
    writer.finish(&[ty]).unwrap().check_indices().unwrap();
}
