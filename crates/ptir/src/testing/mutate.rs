//! Mutations that make a program wrong, past all checks of the edits.

use sapwood_types::DataType;
use smallvec::SmallVec;

use crate::attr::{Attr, AttrKind, AttrList};
use crate::func::{Function, InstSpec, Place, ValueDef};
use crate::ids::{InstId, ValueId};
use crate::literal::TensorLiteral;
use crate::name::Name;
use crate::op::{Op, OpKey, OperandKind};
use crate::ops::{Call, Constant, Return, Yield};
use crate::types::{Dim, TensorType, ValueType};

/// A kind of mutation: its name, and what it does to an instruction. It gives the instruction the verifier must name,
/// or `None` if it does not apply (then nothing was changed).
#[derive(Clone, Copy)]
pub struct Mutation {
    /// What is done.
    pub name: &'static str,
    apply: fn(&mut Function, InstId) -> Option<InstId>,
}

impl Mutation {
    /// Applies it to an instruction.
    pub fn apply(&self, f: &mut Function, inst: InstId) -> Option<InstId> {
        (self.apply)(f, inst)
    }
}

macro_rules! mutations {
    ($($name:ident $apply:expr;)*) => {
        &[$(Mutation { name: stringify!($name), apply: $apply }),*]
    };
}

/// All kinds.
pub const MUTATIONS: &[Mutation] = mutations! {
    result_dtype |f, i| result_type(f, i, |t| { t.dtype = other_dtype(t.dtype); true });
    result_rank |f, i| result_type(f, i, |t| { t.dims.push(Dim::Known(1)); true });
    result_rank_less |f, i| result_type(f, i, |t| t.dims.pop().is_some());
    result_dim |f, i| result_type(f, i, |t| bump(&mut t.dims));
    result_token |f, i| replace_result(f, i, &ValueType::Token);
    result_tuple |f, i| replace_result(f, i, &ValueType::Tuple([].into()));
    operand_missing |f, i| operands(f, i, true, |list| list.pop().is_some());
    operand_extra |f, i| operands(f, i, true, |list| { let v = list[0]; list.push(v); true });
    operand_later operand_later;
    operand_itself |f, i| { let v = f.value_of(i)?; operands(f, i, false, |list| { list[0] = v; true }) };
    operand_from_inner operand_from_inner;
    operand_dtype |f, i| swap_operand(f, i, |t| { t.dtype = other_dtype(t.dtype); true });
    operand_rank |f, i| swap_operand(f, i, |t| { t.dims.push(Dim::Known(2)); true });
    operand_dim |f, i| swap_operand(f, i, |t| bump(&mut t.dims));
    operand_token |f, i| operand_type(f, i, &ValueType::Token);
    operand_tuple |f, i| operand_type(f, i, &ValueType::Tuple([ValueType::Token].into()));
    attrs_missing |f, i| attrs(f, i, |list| list.pop().is_some());
    attrs_extra |f, i| attrs(f, i, |list| { list.push(Attr::Bool(true)); true });
    attr_kind attr_kind;
    attr_word |f, i| kind_attr(f, i, |k| matches!(k, AttrKind::Word(_)), &Attr::word("sideways"));
    attr_unit attr_unit;
    axes_out_of_range |f, i| named(f, i, &["axes"], &Attr::Ints(SmallVec::from_slice(&[99])));
    axes_negative |f, i| named(f, i, &["axes"], &Attr::Ints(SmallVec::from_slice(&[-1])));
    axes_twice |f, i| { rank(f, i)?.checked_sub(1)?; named(f, i, &["axes"], &Attr::Ints(SmallVec::from_slice(&[0, 0]))) };
    axis_out_of_range |f, i| named(f, i, &["axis"], &Attr::Int(99));
    axis_negative |f, i| named(f, i, &["axis"], &Attr::Int(-1));
    perm_too_long |f, i| longer(f, i, "perm");
    perm_twice |f, i| { rank(f, i)?.checked_sub(2)?; named_with(f, i, "perm", |l| { l[0] = l[1]; }) };
    slice_limit |f, i| { rank(f, i)?.checked_sub(1)?; named_with(f, i, "limits", |l| l[0] = 1000) };
    slice_start |f, i| { rank(f, i)?.checked_sub(1)?; named_with(f, i, "starts", |l| if !l.is_empty() { l[0] = 1000 }) };
    stride_zero |f, i| { rank(f, i)?.checked_sub(1)?; named_with(f, i, "strides", |l| l[0] = 0) };
    pad_interior |f, i| { rank(f, i)?.checked_sub(1)?; named_with(f, i, "interior", |l| l[0] = -1) };
    pad_too_negative |f, i| { is(f, i, "pad")?; rank(f, i)?.checked_sub(1)?; named_with(f, i, "low", |l| l[0] = -1000) };
    contract_count |f, i| longer(f, i, "lhs_contract");
    batch_is_contracted |f, i| named(f, i, &["lhs_batch"], &Attr::Ints(SmallVec::from_slice(&[2])));
    accumulate_wrong |f, i| { let t = f.value_type(*f.operands(i).first()?).as_tensor()?; (!t.dtype.is_bool()).then_some(())?; named(f, i, &["accumulate"], &Attr::Type(DataType::Bool)) };
    top_k_too_many |f, i| { is(f, i, "top_k")?; named(f, i, &["k"], &Attr::Int(1000)) };
    top_k_negative |f, i| { is(f, i, "top_k")?; named(f, i, &["k"], &Attr::Int(-1)) };
    slice_sizes |f, i| named_with(f, i, "slice_sizes", |l| l[1] = 1000);
    sizes_too_many |f, i| longer(f, i, "sizes");
    index_vector_dim |f, i| named(f, i, &["index_vector_dim"], &Attr::Int(9));
    index_map_twice |f, i| named(f, i, &["start_index_map", "scatter_dims"], &Attr::Ints(SmallVec::from_slice(&[0, 0])));
    tuple_index |f, i| { is(f, i, "get_tuple_element")?; named(f, i, &["index"], &Attr::Int(99)) };
    exponent_bits |f, i| named(f, i, &["exponent_bits"], &Attr::Int(0));
    window_zero |f, i| { rank(f, i)?.checked_sub(1)?; named_with(f, i, "window", |l| l[0] = 0) };
    feature_groups |f, i| named(f, i, &["feature_groups"], &Attr::Int(0));
    layout_twice |f, i| named_with(f, i, "output_dims", |l| l[0] = l[1]);
    fft_lengths |f, i| named(f, i, &["lengths"], &Attr::Ints(SmallVec::new()));
    carried_too_many |f, i| named(f, i, &["carried"], &Attr::Int(99));
    rng_dtype |f, i| { let n = f.op_name(i); n.starts_with("rng_").then_some(())?; named(f, i, &["dtype"], &Attr::Type(DataType::Bool)) };
    rng_shape |f, i| { let n = f.op_name(i); n.starts_with("rng_").then_some(())?; named(f, i, &["shape"], &Attr::Ints(SmallVec::from_slice(&[-1]))) };
    constant_shape constant_shape;
    constant_dtype constant_dtype;
    callee_missing |f, i| f.is::<Call>(i).then_some(()).and_then(|()| named(f, i, &["callee"], &Attr::Func(Name::new("nowhere"))));
    call_arguments call_arguments;
    call_itself |f, i| { let me = f.name(); f.is::<Call>(i).then_some(())?; named(f, i, &["callee"], &Attr::Func(me)) };
    return_count |f, i| { f.is::<Return>(i).then_some(())?; let v = *f.params().first()?; push_operand(f, i, v) };
    return_is_yield |f, i| { f.is::<Return>(i).then_some(())?; f.insts[i.index()].key = Yield::key(); Some(i) };
    yield_is_return |f, i| { f.is::<Yield>(i).then_some(())?; let owner = owner(f, i)?; f.insts[i.index()].key = Return::key(); Some(owner) };
    yield_gone |f, i| { f.is::<Yield>(i).then_some(())?; let owner = owner(f, i)?; f.erase_unchecked(i); Some(owner) };
    yield_count |f, i| { f.is::<Yield>(i).then_some(())?; let owner = owner(f, i)?; f.op_def(owner)?; (f.op_name(owner) != "scan").then_some(())?; let v = *f.params().first()?; push_operand(f, i, v)?; Some(owner) };
    terminator_in_the_middle terminator_in_the_middle;
    region_missing |f, i| { let many = f.op_def(i)?.regions.iter().any(|r| r.kind == OperandKind::Regions); (!many && !f.regions(i).is_empty()).then_some(())?; f.take_regions(i).ok()?; Some(i) };
    region_parameter_extra |f, i| { f.op_def(i)?; let &body = f.regions(i).first()?; f.push_param(body, &ValueType::Token); Some(i) };
    region_parameter_type |f, i| { f.op_def(i)?; let &p = f.regions(i).iter().find_map(|&b| f.body_params(b).first())?; f.set_type(p, &ValueType::Token).ok()?; Some(i) };
    unregistered_without_dialect |f, i| { f.op_def(i).is_none().then_some(())?; f.insts[i.index()].key = OpKey::of("nodialect"); Some(i) };
    unregistered_without_dictionary |f, i| { f.op_def(i).is_none().then_some(())?; set(f, i, vec![Attr::Bool(true)]); Some(i) };
    op_of_another_arity |f, i| { (f.op_name(i) == "add").then_some(())?; f.insts[i.index()].key = OpKey::of("neg"); Some(i) };
    op_of_another_class |f, i| { (f.op_name(i) == "exp").then_some(())?; f.insts[i.index()].key = OpKey::of("popcnt"); Some(i) };
};

fn is(f: &Function, i: InstId, name: &str) -> Option<()> {
    (f.op_name(i) == name).then_some(())
}

fn other_dtype(dtype: DataType) -> DataType {
    if dtype == DataType::F32 { DataType::I32 } else { DataType::F32 }
}

fn bump(dims: &mut [Dim]) -> bool {
    match dims.iter_mut().find_map(|d| if let Dim::Known(n) = d { Some(n) } else { None }) {
        Some(n) => {
            *n += 7;
            true
        }
        None => false,
    }
}

// Whether the op says what its result is, whatever is stated.
fn infers(f: &Function, i: InstId) -> Option<()> {
    let def = f.op_def(i)?;
    let given = def.attrs.iter().any(|a| a.kind == AttrKind::ResultType);
    (!given && f.value_of(i).is_some()).then_some(())
}

fn result_type(
    f: &mut Function,
    i: InstId,
    change: impl Fn(&mut TensorType) -> bool,
) -> Option<InstId> {
    infers(f, i)?;
    let inferred = f.infer(i).ok()?;
    let mut ty = inferred.first()?.as_tensor()?.clone();
    change(&mut ty).then_some(())?;
    replace_result(f, i, &ty.into())
}

fn replace_result(f: &mut Function, i: InstId, ty: &ValueType) -> Option<InstId> {
    infers(f, i)?;
    let value = f.value_of(i)?;
    (f.value_type(value).depth() == 0 && *f.value_type(value) != ValueType::Token).then_some(())?;
    f.set_type(value, ty).ok()?;
    Some(i)
}

fn fixed_arity(f: &Function, i: InstId) -> Option<()> {
    let def = f.op_def(i)?;
    (!def.operands.is_empty() && def.operands.iter().all(|o| o.kind == OperandKind::One))
        .then_some(())
}

fn operands(
    f: &mut Function,
    i: InstId,
    fixed: bool,
    change: impl Fn(&mut Vec<ValueId>) -> bool,
) -> Option<InstId> {
    if fixed {
        fixed_arity(f, i)?;
    }
    let mut list = f.operands(i).to_vec();
    (!list.is_empty() && change(&mut list)).then_some(())?;
    f.set_operands_unchecked(i, &list);
    Some(i)
}

fn push_operand(f: &mut Function, i: InstId, v: ValueId) -> Option<InstId> {
    let mut list = f.operands(i).to_vec();
    list.push(v);
    f.set_operands_unchecked(i, &list);
    Some(i)
}

fn operand_later(f: &mut Function, i: InstId) -> Option<InstId> {
    let later = f.next_inst(i).and_then(|n| f.value_of(n))?;
    operands(f, i, false, |list| {
        list[0] = later;
        true
    })
}

// A value of a region that ended before.
fn operand_from_inner(f: &mut Function, i: InstId) -> Option<InstId> {
    let mut before = f.prev_inst(i);
    while let Some(p) = before {
        if let Some(&body) = f.regions(p).first() {
            let inner =
                f.body_params(body).first().copied().or_else(|| f.value_of(f.first_inst(body)?))?;
            return operands(f, i, false, |list| {
                list[0] = inner;
                true
            });
        }
        before = f.prev_inst(p);
    }
    None
}

// Of ops whose operands all have one type, the second becomes a parameter of another type.
fn swap_operand(
    f: &mut Function,
    i: InstId,
    change: impl Fn(&mut TensorType) -> bool,
) -> Option<InstId> {
    let def = f.op_def(i)?;
    (def.family == "binary").then_some(())?;
    let mut ty = f.value_type(*f.operands(i).get(1)?).as_tensor()?.clone();
    change(&mut ty).then_some(())?;
    operand_at(f, i, 1, &ty.into())
}

fn operand_type(f: &mut Function, i: InstId, ty: &ValueType) -> Option<InstId> {
    let def = f.op_def(i)?;
    matches!(def.family, "unary" | "binary" | "shape" | "reduce" | "compare" | "dot")
        .then_some(())?;
    operand_at(f, i, 0, ty)
}

fn operand_at(f: &mut Function, i: InstId, n: usize, ty: &ValueType) -> Option<InstId> {
    let mut list = f.operands(i).to_vec();
    (n < list.len()).then_some(())?;
    list[n] = f.push_param(f.body(), ty);
    f.set_operands_unchecked(i, &list);
    Some(i)
}

fn set(f: &mut Function, i: InstId, list: Vec<Attr>) {
    let list: AttrList = list.into();
    let _ = f.set_attrs(i, &list);
}

fn attrs(f: &mut Function, i: InstId, change: impl Fn(&mut Vec<Attr>) -> bool) -> Option<InstId> {
    f.op_def(i)?;
    let mut list = f.attrs(i).to_vec();
    (!list.is_empty() && change(&mut list)).then_some(())?;
    set(f, i, list);
    Some(i)
}

fn kind_attr(
    f: &mut Function,
    i: InstId,
    fits: impl Fn(AttrKind) -> bool,
    attr: &Attr,
) -> Option<InstId> {
    let at = f.op_def(i)?.attrs.iter().position(|a| fits(a.kind))?;
    attrs(f, i, |list| {
        list[at] = attr.clone();
        true
    })
}

fn attr_kind(f: &mut Function, i: InstId) -> Option<InstId> {
    let wrong = Attr::Str("wrong".into());
    kind_attr(f, i, |k| !matches!(k, AttrKind::ResultType | AttrKind::Str), &wrong)
}

fn attr_unit(f: &mut Function, i: InstId) -> Option<InstId> {
    let at = f
        .op_def(i)?
        .attrs
        .iter()
        .position(|a| a.kind != AttrKind::ResultType && a.default != Some(Attr::Unit))?;
    attrs(f, i, |list| {
        list[at] = Attr::Unit;
        true
    })
}

fn named(f: &mut Function, i: InstId, names: &[&str], attr: &Attr) -> Option<InstId> {
    let at = f.op_def(i)?.attrs.iter().position(|a| names.contains(&a.name))?;
    attrs(f, i, |list| {
        list[at] = attr.clone();
        true
    })
}

fn named_with(
    f: &mut Function,
    i: InstId,
    name: &str,
    change: impl Fn(&mut SmallVec<[i64; 4]>),
) -> Option<InstId> {
    let at = f.op_def(i)?.attrs.iter().position(|a| a.name == name)?;
    let mut list = f.attrs(i).get(at)?.as_ints().map(SmallVec::from_slice)?;
    change(&mut list);
    named(f, i, &[name], &Attr::Ints(list))
}

fn longer(f: &mut Function, i: InstId, name: &str) -> Option<InstId> {
    named_with(f, i, name, |list| list.push(0))
}

fn rank(f: &Function, i: InstId) -> Option<usize> {
    Some(f.value_type(*f.operands(i).first()?).as_tensor()?.rank())
}

fn owner(f: &Function, i: InstId) -> Option<InstId> {
    f.body_owner(f.body_of(i)?)
}

fn constant_shape(f: &mut Function, i: InstId) -> Option<InstId> {
    f.is::<Constant>(i).then_some(())?;
    let old = f.attrs(i).first()?.as_literal()?.clone();
    let mut shape = old.shape().to_vec();
    shape.push(2);
    let literal = TensorLiteral::filled(old.dtype(), &shape, 0.0).ok()?;
    named(f, i, &["value"], &Attr::Literal(literal))
}

fn constant_dtype(f: &mut Function, i: InstId) -> Option<InstId> {
    f.is::<Constant>(i).then_some(())?;
    let old = f.attrs(i).first()?.as_literal()?.clone();
    let literal = TensorLiteral::filled(other_dtype(old.dtype()), old.shape(), 0.0).ok()?;
    named(f, i, &["value"], &Attr::Literal(literal))
}

fn call_arguments(f: &mut Function, i: InstId) -> Option<InstId> {
    f.is::<Call>(i).then_some(())?;
    let v = *f.params().first()?;
    push_operand(f, i, v)
}

fn terminator_in_the_middle(f: &mut Function, i: InstId) -> Option<InstId> {
    f.next_inst(i)?;
    let span = f.inst_span(i);
    let spec = InstSpec {
        key: Return::key(),
        attrs: [].into(),
        operands: SmallVec::new(),
        regions: SmallVec::new(),
        result_types: SmallVec::new(),
        span,
    };
    let made = f.create(&spec);
    f.link(made, Place::Before(i));
    f.label_inserted(made);
    matches!(
        f.value_def(f.params().first().copied().unwrap_or(ValueId::new(0))),
        ValueDef::Param(..)
    )
    .then_some(made)
}
