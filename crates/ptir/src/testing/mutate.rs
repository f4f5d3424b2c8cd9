//! Mutations that make a program invalid, bypassing the checks of edits.

use sapwood_types::DataType;
use smallvec::SmallVec;

use crate::attr::{Attr, AttrKind, AttrList};
use crate::func::{Function, InsertPoint, ValueDef};
use crate::ids::{InstId, ValueId};
use crate::literal::TensorLiteral;
use crate::name::Name;
use crate::op::{Op, OpKey, OpParts, OperandKind};
use crate::ops::{Call, Constant, Return, Yield};
use crate::types::{Dim, TensorType, ValueType};

/// A mutation of an instruction. Applying it returns the instruction that the verifier must name, or `None` if it
/// does not apply; nothing is changed then.
#[derive(Clone, Copy)]
pub struct Mutation {
    /// The name of the mutation.
    pub name: &'static str,
    apply: fn(&mut Function, InstId) -> Option<InstId>,
}

impl Mutation {
    /// Applies the mutation to an instruction.
    pub fn apply(&self, f: &mut Function, inst: InstId) -> Option<InstId> {
        (self.apply)(f, inst)
    }
}

macro_rules! mutations {
    ($($name:ident $apply:expr;)*) => {
        &[$(Mutation { name: stringify!($name), apply: $apply }),*]
    };
}

/// All mutations.
pub const MUTATIONS: &[Mutation] = mutations! {
    result_dtype |f, i| edit_result_type(f, i, |t| { t.dtype = other_dtype(t.dtype); true });
    result_rank |f, i| edit_result_type(f, i, |t| { t.dims.push(Dim::Known(1)); true });
    result_rank_less |f, i| edit_result_type(f, i, |t| t.dims.pop().is_some());
    result_dim |f, i| edit_result_type(f, i, |t| change_extent(&mut t.dims));
    result_token |f, i| replace_result(f, i, &ValueType::Token);
    result_tuple |f, i| replace_result(f, i, &ValueType::Tuple([].into()));
    operand_missing |f, i| edit_operands(f, i, true, |list| list.pop().is_some());
    operand_extra |f, i| edit_operands(f, i, true, |list| { let v = list[0]; list.push(v); true });
    operand_later use_later_value;
    operand_itself |f, i| { let v = f.value_of(i)?; edit_operands(f, i, false, |list| { list[0] = v; true }) };
    operand_from_inner use_inner_value;
    operand_dtype |f, i| change_second_operand(f, i, |t| { t.dtype = other_dtype(t.dtype); true });
    operand_rank |f, i| change_second_operand(f, i, |t| { t.dims.push(Dim::Known(2)); true });
    operand_dim |f, i| change_second_operand(f, i, |t| change_extent(&mut t.dims));
    operand_token |f, i| replace_first_operand(f, i, &ValueType::Token);
    operand_tuple |f, i| replace_first_operand(f, i, &ValueType::Tuple([ValueType::Token].into()));
    attrs_missing |f, i| edit_attrs(f, i, |list| list.pop().is_some());
    attrs_extra |f, i| edit_attrs(f, i, |list| { list.push(Attr::Bool(true)); true });
    attr_kind set_attr_of_wrong_kind;
    attr_word |f, i| set_attr_of_kind(f, i, |k| matches!(k, AttrKind::Word(_)), &Attr::word("sideways"));
    attr_unit clear_required_attr;
    axes_out_of_range |f, i| set_named_attr(f, i, &["axes"], &Attr::Ints(SmallVec::from_slice(&[99])));
    axes_negative |f, i| set_named_attr(f, i, &["axes"], &Attr::Ints(SmallVec::from_slice(&[-1])));
    axes_twice |f, i| { operand_rank(f, i)?.checked_sub(1)?; set_named_attr(f, i, &["axes"], &Attr::Ints(SmallVec::from_slice(&[0, 0]))) };
    axis_out_of_range |f, i| set_named_attr(f, i, &["axis"], &Attr::Int(99));
    axis_negative |f, i| set_named_attr(f, i, &["axis"], &Attr::Int(-1));
    perm_too_long |f, i| append_named_int(f, i, "perm");
    perm_twice |f, i| { operand_rank(f, i)?.checked_sub(2)?; edit_named_ints(f, i, "perm", |l| { l[0] = l[1]; }) };
    slice_limit |f, i| { operand_rank(f, i)?.checked_sub(1)?; edit_named_ints(f, i, "limits", |l| l[0] = 1000) };
    slice_start |f, i| { operand_rank(f, i)?.checked_sub(1)?; edit_named_ints(f, i, "starts", |l| if !l.is_empty() { l[0] = 1000 }) };
    stride_zero |f, i| { operand_rank(f, i)?.checked_sub(1)?; edit_named_ints(f, i, "strides", |l| l[0] = 0) };
    pad_interior |f, i| { operand_rank(f, i)?.checked_sub(1)?; edit_named_ints(f, i, "interior", |l| l[0] = -1) };
    pad_too_negative |f, i| { require_op(f, i, "pad")?; operand_rank(f, i)?.checked_sub(1)?; edit_named_ints(f, i, "low", |l| l[0] = -1000) };
    contract_count |f, i| append_named_int(f, i, "lhs_contract");
    batch_is_contracted |f, i| set_named_attr(f, i, &["lhs_batch"], &Attr::Ints(SmallVec::from_slice(&[2])));
    accumulate_wrong |f, i| { let t = f.value_type(*f.operands(i).first()?).as_tensor()?; (!t.dtype.is_bool()).then_some(())?; set_named_attr(f, i, &["accumulate"], &Attr::Type(DataType::Bool)) };
    top_k_too_many |f, i| { require_op(f, i, "top_k")?; set_named_attr(f, i, &["k"], &Attr::Int(1000)) };
    top_k_negative |f, i| { require_op(f, i, "top_k")?; set_named_attr(f, i, &["k"], &Attr::Int(-1)) };
    slice_sizes |f, i| edit_named_ints(f, i, "slice_sizes", |l| l[1] = 1000);
    sizes_too_many |f, i| append_named_int(f, i, "sizes");
    index_vector_dim |f, i| set_named_attr(f, i, &["index_vector_dim"], &Attr::Int(9));
    index_map_twice |f, i| set_named_attr(f, i, &["start_index_map", "scatter_dims"], &Attr::Ints(SmallVec::from_slice(&[0, 0])));
    tuple_index |f, i| { require_op(f, i, "get_tuple_element")?; set_named_attr(f, i, &["index"], &Attr::Int(99)) };
    exponent_bits |f, i| set_named_attr(f, i, &["exponent_bits"], &Attr::Int(0));
    window_zero |f, i| { operand_rank(f, i)?.checked_sub(1)?; edit_named_ints(f, i, "window", |l| l[0] = 0) };
    feature_groups |f, i| set_named_attr(f, i, &["feature_groups"], &Attr::Int(0));
    layout_twice |f, i| edit_named_ints(f, i, "output_dims", |l| l[0] = l[1]);
    fft_lengths |f, i| set_named_attr(f, i, &["lengths"], &Attr::Ints(SmallVec::new()));
    carried_too_many |f, i| set_named_attr(f, i, &["carried"], &Attr::Int(99));
    rng_dtype |f, i| { let n = f.op_name(i); n.starts_with("rng_").then_some(())?; set_named_attr(f, i, &["dtype"], &Attr::Type(DataType::Bool)) };
    rng_shape |f, i| { let n = f.op_name(i); n.starts_with("rng_").then_some(())?; set_named_attr(f, i, &["shape"], &Attr::Ints(SmallVec::from_slice(&[-1]))) };
    constant_shape change_constant_shape;
    constant_dtype change_constant_dtype;
    callee_missing |f, i| f.is::<Call>(i).then_some(()).and_then(|()| set_named_attr(f, i, &["callee"], &Attr::Func(Name::new("nowhere"))));
    call_arguments add_call_argument;
    call_itself |f, i| { let me = f.name(); f.is::<Call>(i).then_some(())?; set_named_attr(f, i, &["callee"], &Attr::Func(me)) };
    return_count |f, i| { f.is::<Return>(i).then_some(())?; let v = *f.params().first()?; push_operand(f, i, v) };
    return_is_yield |f, i| { f.is::<Return>(i).then_some(())?; f.dfg.insts[i.index()].key = Yield::key(); Some(i) };
    yield_is_return |f, i| { f.is::<Yield>(i).then_some(())?; let owner = region_owner(f, i)?; f.dfg.insts[i.index()].key = Return::key(); Some(owner) };
    yield_gone |f, i| { f.is::<Yield>(i).then_some(())?; let owner = region_owner(f, i)?; f.erase_unchecked(i); Some(owner) };
    yield_count |f, i| { f.is::<Yield>(i).then_some(())?; let owner = region_owner(f, i)?; f.op_def(owner)?; (f.op_name(owner) != "scan").then_some(())?; let v = *f.params().first()?; push_operand(f, i, v)?; Some(owner) };
    terminator_in_the_middle insert_early_terminator;
    region_missing |f, i| { let many = f.op_def(i)?.regions.iter().any(|r| r.kind == OperandKind::Regions); (!many && !f.regions(i).is_empty()).then_some(())?; f.take_regions(i).ok()?; Some(i) };
    region_parameter_extra |f, i| { f.op_def(i)?; let &body = f.regions(i).first()?; f.push_param(body, &ValueType::Token); Some(i) };
    region_parameter_type |f, i| { f.op_def(i)?; let &p = f.regions(i).iter().find_map(|&b| f.body_params(b).first())?; f.set_type(p, &ValueType::Token).ok()?; Some(i) };
    unregistered_without_dialect |f, i| { f.op_def(i).is_none().then_some(())?; f.dfg.insts[i.index()].key = OpKey::of("nodialect"); Some(i) };
    unregistered_without_dictionary |f, i| { f.op_def(i).is_none().then_some(())?; set_attr_list(f, i, vec![Attr::Bool(true)]); Some(i) };
    op_of_another_arity |f, i| { (f.op_name(i) == "add").then_some(())?; f.dfg.insts[i.index()].key = OpKey::of("neg"); Some(i) };
    op_of_another_class |f, i| { (f.op_name(i) == "exp").then_some(())?; f.dfg.insts[i.index()].key = OpKey::of("popcnt"); Some(i) };
};

fn require_op(f: &Function, i: InstId, name: &str) -> Option<()> {
    (f.op_name(i) == name).then_some(())
}

fn other_dtype(dtype: DataType) -> DataType {
    if dtype == DataType::F32 { DataType::I32 } else { DataType::F32 }
}

fn change_extent(dims: &mut [Dim]) -> bool {
    match dims.iter_mut().find_map(|d| if let Dim::Known(n) = d { Some(n) } else { None }) {
        Some(n) => {
            *n += 7;
            true
        }
        None => false,
    }
}

// Requires an op that infers its result type, whatever type is declared.
fn require_inferred_result(f: &Function, i: InstId) -> Option<()> {
    let def = f.op_def(i)?;
    let given = def.attrs.iter().any(|a| a.kind == AttrKind::ResultType);
    (!given && f.value_of(i).is_some()).then_some(())
}

fn edit_result_type(
    f: &mut Function,
    i: InstId,
    change: impl Fn(&mut TensorType) -> bool,
) -> Option<InstId> {
    require_inferred_result(f, i)?;
    let inferred = f.infer(i).ok()?;
    let mut ty = inferred.first()?.as_tensor()?.clone();
    change(&mut ty).then_some(())?;
    replace_result(f, i, &ty.into())
}

fn replace_result(f: &mut Function, i: InstId, ty: &ValueType) -> Option<InstId> {
    require_inferred_result(f, i)?;
    let value = f.value_of(i)?;
    (f.value_type(value).depth() == 0 && *f.value_type(value) != ValueType::Token).then_some(())?;
    f.set_type(value, ty).ok()?;
    Some(i)
}

fn require_fixed_arity(f: &Function, i: InstId) -> Option<()> {
    let def = f.op_def(i)?;
    (!def.operands.is_empty() && def.operands.iter().all(|o| o.kind == OperandKind::One))
        .then_some(())
}

fn edit_operands(
    f: &mut Function,
    i: InstId,
    fixed: bool,
    change: impl Fn(&mut Vec<ValueId>) -> bool,
) -> Option<InstId> {
    if fixed {
        require_fixed_arity(f, i)?;
    }
    let mut list = f.operands(i).to_vec();
    (!list.is_empty() && change(&mut list)).then_some(())?;
    f.dfg.set_operands(i, &list);
    Some(i)
}

fn push_operand(f: &mut Function, i: InstId, v: ValueId) -> Option<InstId> {
    let mut list = f.operands(i).to_vec();
    list.push(v);
    f.dfg.set_operands(i, &list);
    Some(i)
}

fn use_later_value(f: &mut Function, i: InstId) -> Option<InstId> {
    let later = f.next_inst(i).and_then(|n| f.value_of(n))?;
    edit_operands(f, i, false, |list| {
        list[0] = later;
        true
    })
}

// Uses a value of a region that ended earlier.
fn use_inner_value(f: &mut Function, i: InstId) -> Option<InstId> {
    let mut before = f.prev_inst(i);
    while let Some(p) = before {
        if let Some(&body) = f.regions(p).first() {
            let inner =
                f.body_params(body).first().copied().or_else(|| f.value_of(f.first_inst(body)?))?;
            return edit_operands(f, i, false, |list| {
                list[0] = inner;
                true
            });
        }
        before = f.prev_inst(p);
    }
    None
}

// Replaces the second operand by a parameter of another type. For ops whose operands all have one type.
fn change_second_operand(
    f: &mut Function,
    i: InstId,
    change: impl Fn(&mut TensorType) -> bool,
) -> Option<InstId> {
    let def = f.op_def(i)?;
    (def.family == "binary").then_some(())?;
    let mut ty = f.value_type(*f.operands(i).get(1)?).as_tensor()?.clone();
    change(&mut ty).then_some(())?;
    replace_operand(f, i, 1, &ty.into())
}

fn replace_first_operand(f: &mut Function, i: InstId, ty: &ValueType) -> Option<InstId> {
    let def = f.op_def(i)?;
    matches!(def.family, "unary" | "binary" | "shape" | "reduce" | "compare" | "dot")
        .then_some(())?;
    replace_operand(f, i, 0, ty)
}

fn replace_operand(f: &mut Function, i: InstId, n: usize, ty: &ValueType) -> Option<InstId> {
    let mut list = f.operands(i).to_vec();
    (n < list.len()).then_some(())?;
    list[n] = f.push_param(f.body(), ty);
    f.dfg.set_operands(i, &list);
    Some(i)
}

fn set_attr_list(f: &mut Function, i: InstId, list: Vec<Attr>) {
    let list: AttrList = list.into();
    let _ = f.set_attrs(i, &list);
}

fn edit_attrs(
    f: &mut Function,
    i: InstId,
    change: impl Fn(&mut Vec<Attr>) -> bool,
) -> Option<InstId> {
    f.op_def(i)?;
    let mut list = f.attrs(i).to_vec();
    (!list.is_empty() && change(&mut list)).then_some(())?;
    set_attr_list(f, i, list);
    Some(i)
}

fn set_attr_of_kind(
    f: &mut Function,
    i: InstId,
    fits: impl Fn(AttrKind) -> bool,
    attr: &Attr,
) -> Option<InstId> {
    let at = f.op_def(i)?.attrs.iter().position(|a| fits(a.kind))?;
    edit_attrs(f, i, |list| {
        list[at] = attr.clone();
        true
    })
}

fn set_attr_of_wrong_kind(f: &mut Function, i: InstId) -> Option<InstId> {
    let wrong = Attr::Str("wrong".into());
    set_attr_of_kind(f, i, |k| !matches!(k, AttrKind::ResultType | AttrKind::Str), &wrong)
}

fn clear_required_attr(f: &mut Function, i: InstId) -> Option<InstId> {
    let at = f
        .op_def(i)?
        .attrs
        .iter()
        .position(|a| a.kind != AttrKind::ResultType && a.default != Some(Attr::Unit))?;
    edit_attrs(f, i, |list| {
        list[at] = Attr::Unit;
        true
    })
}

fn set_named_attr(f: &mut Function, i: InstId, names: &[&str], attr: &Attr) -> Option<InstId> {
    let at = f.op_def(i)?.attrs.iter().position(|a| names.contains(&a.name))?;
    edit_attrs(f, i, |list| {
        list[at] = attr.clone();
        true
    })
}

fn edit_named_ints(
    f: &mut Function,
    i: InstId,
    name: &str,
    change: impl Fn(&mut SmallVec<[i64; 4]>),
) -> Option<InstId> {
    let at = f.op_def(i)?.attrs.iter().position(|a| a.name == name)?;
    let mut list = f.attrs(i).get(at)?.as_ints().map(SmallVec::from_slice)?;
    change(&mut list);
    set_named_attr(f, i, &[name], &Attr::Ints(list))
}

fn append_named_int(f: &mut Function, i: InstId, name: &str) -> Option<InstId> {
    edit_named_ints(f, i, name, |list| list.push(0))
}

fn operand_rank(f: &Function, i: InstId) -> Option<usize> {
    Some(f.value_type(*f.operands(i).first()?).as_tensor()?.rank())
}

fn region_owner(f: &Function, i: InstId) -> Option<InstId> {
    f.body_owner(f.body_of(i)?)
}

fn change_constant_shape(f: &mut Function, i: InstId) -> Option<InstId> {
    f.is::<Constant>(i).then_some(())?;
    let old = f.attrs(i).first()?.as_literal()?.clone();
    let mut shape = old.shape().to_vec();
    shape.push(2);
    let literal = TensorLiteral::filled(old.dtype(), &shape, 0.0).ok()?;
    set_named_attr(f, i, &["value"], &Attr::Literal(literal))
}

fn change_constant_dtype(f: &mut Function, i: InstId) -> Option<InstId> {
    f.is::<Constant>(i).then_some(())?;
    let old = f.attrs(i).first()?.as_literal()?.clone();
    let literal = TensorLiteral::filled(other_dtype(old.dtype()), old.shape(), 0.0).ok()?;
    set_named_attr(f, i, &["value"], &Attr::Literal(literal))
}

fn add_call_argument(f: &mut Function, i: InstId) -> Option<InstId> {
    f.is::<Call>(i).then_some(())?;
    let v = *f.params().first()?;
    push_operand(f, i, v)
}

fn insert_early_terminator(f: &mut Function, i: InstId) -> Option<InstId> {
    f.next_inst(i)?;
    let span = f.inst_span(i);
    let made = f.create(&OpParts::new(Return::key()), span);
    f.layout.link(made, InsertPoint::Before(i));
    f.layout.label_inserted(made);
    matches!(
        f.value_def(f.params().first().copied().unwrap_or(ValueId::new(0))),
        ValueDef::Param(..)
    )
    .then_some(made)
}
