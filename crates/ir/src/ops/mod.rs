//! Ops of PTIR in the front-end IR: attributes, types and evaluation of their calls, all from PTIR's op tables.

mod attrs;
mod dims;
mod evaluate;
mod regions;
mod spelling;

use sapwood_ptir::{AttrKind, InferCx, OpError, Registry, infer_checked};
use sapwood_structural::{Map, Seq, Value};
use sapwood_types::Span;
use smallvec::SmallVec;

pub use attrs::{attr_dict, op_attrs};
pub(crate) use attrs::{named_values, sequence};
pub use dims::{DimSymbols, dim_vars, extent_vars};
pub(crate) use dims::{NumberedSymbols, are_same_tensor_types};
pub(crate) use evaluate::{as_declared, evaluate_op, from_ptir};
pub use regions::{NamedRegion, is_callable, op_regions};
pub use spelling::correction;
pub(crate) use spelling::{correction_suffix, spelling};

use crate::nodes::{Callee, ExprRef, Type, TypeRef};

/// Returns the type of a call of an op; none if the op is not registered, or if the type of an operand or a dim of the result is not known.
///
/// # Errors
/// Fails if operands and attributes do not fit the op, or if the op does not infer its type.
pub fn op_call_type(
    registry: &Registry,
    callee: &Callee,
    args: &[ExprRef],
) -> Result<Option<TypeRef>, OpError> {
    let Callee::Op { name, attrs, .. } = callee else { return Ok(None) };
    infer(registry, name, attrs.as_ref(), args)
}

fn infer(
    registry: &Registry,
    name: &str,
    attrs: Option<&Map>,
    args: &[ExprRef],
) -> Result<Option<TypeRef>, OpError> {
    let Some(def) = registry.by_name(name) else { return Ok(None) };
    let named = attrs;
    let attrs = op_attrs(def, named, None)?;
    let small = |arg: &ExprRef| crate::nodes::has_few_nodes(arg.ty());
    if def.attrs.iter().any(|attr| attr.kind == AttrKind::ResultType) {
        let message = "its type does not follow from its operands, so the call must state it";
        let help = "state it with `shape=[…]`, `dtype=…` or `type=…`, or with `pi.typed(…)`";
        return Err(OpError::new(message).with_help(help));
    }
    if !args.iter().all(small) {
        return Ok(None);
    }
    let mut symbols = NumberedSymbols::default();
    args.iter().for_each(|arg| symbols.add(arg.ty()));
    // An operand without a type leaves the result without one.
    let types = args.iter().map(|arg| symbols.symbols.convert(arg.ty()));
    let Ok(types) = types.collect::<Result<Vec<_>, String>>() else { return Ok(None) };
    let regions = op_regions(registry, def, named, &types.iter().collect::<Vec<_>>())?;
    let cx = InferCx {
        def,
        attrs: &attrs,
        operands: types.iter().collect(),
        regions: regions.iter().map(NamedRegion::signature).collect(),
        declared_types: SmallVec::new(),
    };
    let results = infer_checked(&cx)?;
    let results: Option<Vec<TypeRef>> = results.iter().map(|ty| symbols.restore(ty)).collect();
    Ok(results.map(|types| crate::verify::call_type(&types)))
}

/// Returns the attributes of `dot_general` for a product of matrices, vectors, or stacks of as many matrices; none for other ranks.
pub(crate) fn matmul_attrs(left: usize, right: usize) -> Option<Vec<(String, Value)>> {
    let batch = match (left, right) {
        (0, _) | (_, 0) => return None,
        (_, 1 | 2) => 0,
        (left, right) if left == right => left - 2,
        _ => return None,
    };
    let list = |axes: std::ops::Range<usize>| -> Value {
        axes.map(|axis| axis as i64).collect::<Seq>().into()
    };
    let contract = if right == 1 { 0 } else { right - 2 };
    let mut attrs = vec![
        ("lhs_contract".to_owned(), list(left - 1..left)),
        ("rhs_contract".to_owned(), list(contract..contract + 1)),
    ];
    if batch > 0 {
        attrs.push(("lhs_batch".to_owned(), list(0..batch)));
        attrs.push(("rhs_batch".to_owned(), list(0..batch)));
    }
    Some(attrs)
}

/// Returns whether a call is printed as `left @ right`.
pub(crate) fn is_matmul(callee: &Callee, args: &[ExprRef]) -> bool {
    let Callee::Op { name, attrs: Some(found), .. } = callee else { return false };
    let rank = |expr: &ExprRef| match &**expr.ty() {
        Type::Tensor { shape, .. } => Some(shape.len()),
        _ => None,
    };
    let [left, right] = args else { return false };
    if &**name != "dot_general" {
        return false;
    }
    let attrs = rank(left).zip(rank(right)).and_then(|(left, right)| matmul_attrs(left, right));
    let expected = attrs.map(|attrs| Callee::op_with_attrs(name, attrs, Span::unknown()));
    let expected = expected.as_ref().and_then(|callee| callee.attrs());
    expected.is_some_and(|expected| sapwood_structural::equal(expected, found).unwrap_or(false))
}
