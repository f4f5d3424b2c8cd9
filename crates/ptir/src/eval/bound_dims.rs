//! The symbols of a frame: values bind them, and types and facts are checked with them.

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;
use smallvec::SmallVec;

use super::error::Fault;
use super::tensor::Value;
use crate::attr::Attr;
use crate::dims::{DimExpr, Facts, Relation, SolvingOrder, Unbound, only_unbound};
use crate::func::Function;
use crate::name::Name;
use crate::types::{Dim, TensorType, ValueType};

/// The extents of the symbols that are bound in a frame, in the order in which they were bound.
#[derive(Default)]
pub(crate) struct BoundDims {
    all: SmallVec<[(Name, u64); 2]>,
    // The positions of the symbols behind the first few. A short list is faster than a map, and sufficient for most functions.
    positions: HashMap<Name, usize, FxBuildHasher>,
}

// The number of symbols that are searched one by one.
const MAX_SEARCHED_DIMS: usize = 8;

impl BoundDims {
    pub(super) fn get(&self, name: Name) -> Option<u64> {
        let found = self.all.iter().take(MAX_SEARCHED_DIMS).find(|(d, _)| *d == name);
        match found {
            Some(&(_, n)) => Some(n),
            None if self.positions.is_empty() => None,
            None => self.positions.get(&name).map(|&position| self.all[position].1),
        }
    }

    fn insert(&mut self, name: Name, n: u64) {
        if self.all.len() >= MAX_SEARCHED_DIMS {
            self.positions.insert(name, self.all.len());
        }
        self.all.push((name, n));
    }

    pub(super) fn len(&self) -> usize {
        self.all.len()
    }

    // Unbinds the symbols that were bound last.
    pub(super) fn truncate(&mut self, len: usize) {
        while self.all.len() > len {
            if let Some((name, _)) = self.all.pop()
                && self.all.len() >= MAX_SEARCHED_DIMS
            {
                self.positions.remove(&name);
            }
        }
    }
}

// Returns whether a value has a type. The first value that contains a named dim binds it.
pub(super) fn check_type_and_bind_dims(
    dims: &mut BoundDims,
    ty: &ValueType,
    value: &Value,
) -> Result<bool, Fault> {
    match (ty, value) {
        (ValueType::Tensor(ty), Value::Tensor(t)) => {
            if ty.dtype != t.dtype() || ty.dims.len() != t.shape().len() {
                return Ok(false);
            }
            let mut expressions = false;
            for (axis, (dim, &n)) in ty.dims.iter().zip(t.shape()).enumerate() {
                let n = n as u64;
                match dim {
                    Dim::Known(known) if *known == n => {}
                    Dim::Known(_) => return Ok(false),
                    Dim::Unknown => {}
                    Dim::Expr(expr) => match expr.as_symbol() {
                        Some(name) => match dims.get(name) {
                            None => dims.insert(name, n),
                            Some(known) if known == n => {}
                            Some(known) => {
                                return Err(Fault::DimConflict {
                                    name,
                                    known,
                                    known_place: String::new(),
                                    found: n,
                                    place: format!("axis {axis}"),
                                });
                            }
                        },
                        None => expressions = true,
                    },
                }
            }
            if expressions {
                bind_expressions(dims, std::iter::once((ty, t.shape())));
                check_expressions(dims, ty, t.shape())?;
            }
            Ok(true)
        }
        (ValueType::Tuple(types), Value::Tuple(values)) => {
            if types.len() != values.len() {
                return Ok(false);
            }
            for (ty, value) in types.iter().zip(values.iter()) {
                if !check_type_and_bind_dims(dims, ty, value)? {
                    return Ok(false);
                }
            }
            Ok(true)
        }
        (ValueType::Token, Value::Token) | (ValueType::Opaque, _) => Ok(true),
        _ => Ok(false),
    }
}

/// Completes the places of a conflict, which was found in a value such as `input 1`.
pub(super) fn name_places(fault: Fault, f: &Function, value: &str) -> Fault {
    let Fault::DimConflict { name, known, found, place, .. } = fault else { return fault };
    // Dims that are symbols are bound first.
    let axis_of = |is_bound: &dyn Fn(Dim) -> bool| {
        f.params().iter().enumerate().find_map(|(input, &param)| {
            let ty = f.value_type(param).as_tensor()?;
            let axis = ty.dims.iter().position(|&dim| is_bound(dim))?;
            Some(format!("axis {axis} of input {input}"))
        })
    };
    let contains = |dim: Dim| matches!(dim, Dim::Expr(expr) if expr.symbols().contains(&name));
    let known_place = axis_of(&|dim| dim.as_symbol() == Some(name)).or_else(|| axis_of(&contains));
    let known_place = known_place.unwrap_or_default();
    Fault::DimConflict { name, known, known_place, found, place: format!("{place} of {value}") }
}

// Binds symbols by expressions in which they are the only ones that are not bound yet.
fn bind_expressions<'a>(
    dims: &mut BoundDims,
    tensors: impl Iterator<Item = (&'a TensorType, &'a [usize])>,
) {
    let mut expressions: Vec<(DimExpr, i64)> = Vec::new();
    for (dim, &n) in tensors.flat_map(|(ty, shape)| ty.dims.iter().zip(shape)) {
        if let Dim::Expr(expr) = *dim
            && !expr.symbols().iter().all(|&name| dims.get(name).is_some())
            && let Ok(n) = i64::try_from(n)
        {
            expressions.push((expr, n));
        }
    }
    if expressions.is_empty() {
        return;
    }
    let all = expressions.iter().map(|&(expr, _)| expr);
    let mut order = SolvingOrder::new(all, |name| dims.get(name).is_some());
    while let Some(position) = order.pop() {
        let (expr, n) = expressions[position];
        if let Unbound::One(name) = only_unbound(expr, |name| dims.get(name).is_some())
            && let Some(solution) = expr.solve(name, n, &|name| signed(dims.get(name)?))
        {
            dims.insert(name, solution as u64);
            order.bind(name);
        }
    }
}

// Checks the expressions whose symbols are all bound, and those that have no solution.
fn check_expressions(dims: &BoundDims, ty: &TensorType, shape: &[usize]) -> Result<(), Fault> {
    for (dim, &found) in ty.dims.iter().zip(shape) {
        let Dim::Expr(expr) = *dim else { continue };
        let expected = match only_unbound(expr, |name| dims.get(name).is_some()) {
            Unbound::Several => continue,
            Unbound::One(_) => None,
            Unbound::None => expr.evaluate(&|name| signed(dims.get(name)?)),
        };
        if expected != signed(found as u64) {
            let values = show_values(dims, expr);
            return Err(Fault::DimExpression { dim: *dim, values, expected, found: found as u64 });
        }
    }
    Ok(())
}

/// Checks the facts of a function whose parameters are bound.
pub(super) fn check_facts(facts: &Facts, dims: &BoundDims) -> Result<(), Fault> {
    let fails = |r: &Relation| r.holds(&|name| signed(dims.get(name)?)) != Some(true);
    match facts.relations().find(fails) {
        None => Ok(()),
        Some(relation) => {
            let (fact, values) = (relation.to_string(), show_values(dims, relation.expr));
            Err(Fault::Assumption { fact, values })
        }
    }
}

// Returns the values of the symbols of an expression: `?S = 3, ?B = 2`.
fn show_values(dims: &BoundDims, expr: DimExpr) -> String {
    let symbols = expr.symbols().iter();
    let values = symbols.filter_map(|&name| Some(format!("?{name} = {}", dims.get(name)?)));
    values.collect::<Vec<_>>().join(", ")
}

fn signed(extent: u64) -> Option<i64> {
    i64::try_from(extent).ok()
}

// Binds the symbols of the parameters of a body, so that an expression may come before the symbols that it needs.
pub(super) fn bind_parameters<'a>(
    dims: &mut BoundDims,
    args: impl Iterator<Item = (&'a ValueType, &'a Value)> + Clone,
) {
    let tensors = args.filter_map(|(ty, arg)| match (ty, arg) {
        (ValueType::Tensor(ty), Value::Tensor(t)) => Some((ty, t)),
        _ => None,
    });
    let has_expressions = |ty: &TensorType| {
        ty.dims.iter().any(|dim| matches!(dim, Dim::Expr(_)) && dim.as_symbol().is_none())
    };
    if !tensors.clone().any(|(ty, _)| has_expressions(ty)) {
        return;
    }
    for (ty, t) in tensors.clone() {
        for (dim, &n) in ty.dims.iter().zip(t.shape()) {
            if let Some(name) = dim.as_symbol()
                && dims.get(name).is_none()
            {
                dims.insert(name, n as u64);
            }
        }
    }
    bind_expressions(dims, tensors.map(|(ty, t)| (ty, t.shape())));
}

/// Replaces a dim over symbols that are bound by its extent.
pub(crate) fn bind_dim(dims: &BoundDims, dim: Dim) -> Dim {
    match dim {
        Dim::Expr(_) => dim.evaluate(&|name| dims.get(name)).map_or(dim, Dim::Known),
        Dim::Known(_) | Dim::Unknown => dim,
    }
}

/// Replaces the expressions in attributes by their values.
pub(super) fn bind_attrs(dims: &BoundDims, attrs: &[Attr]) -> Result<Vec<Attr>, Fault> {
    let value = |expr: DimExpr| expr.evaluate(&|name| signed(dims.get(name)?));
    let bind = |attr: &Attr| attr.map_exprs(&mut |expr| DimExpr::constant(value(expr)?));
    let not_bound = || Fault::op("a symbol of an attribute has no value, or its value overflows");
    attrs.iter().map(|attr| bind(attr).ok_or_else(not_bound)).collect()
}
