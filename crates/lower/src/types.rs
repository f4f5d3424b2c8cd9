//! Conversion of types: a scalar becomes a tensor without dims; a dim is a number, an expression over parameters, or unknown.

use sapwood_ir::{BinaryOp, ExprRef, Function, Type, TypeRef, Var};
use sapwood_ptir::dims::{DimExpr, bound_symbols};
use sapwood_ptir::{
    Dim, Dims, MAX_EXTENT, MAX_TYPE_DEPTH, MAX_TYPE_SIZE, Name, TensorType, ValueType,
};

use crate::summary::{LoweringSummary, dim_vars};
use crate::{IdMap, IdSet};

/// The largest number of operators and operands of a dim; larger ones are unknown.
const MAX_DIM_NODES: usize = 256;

/// The symbols of a function: parameters that occur in dims of parameters and are never reassigned.
#[derive(Default)]
pub(crate) struct DimNames {
    names: IdMap<Name>,
    // The symbols that a parameter does not bind. A dim that contains one is unknown.
    unbound: Vec<Name>,
}

impl DimNames {
    pub(crate) fn new(function: &Function, summary: &LoweringSummary<'_>) -> Self {
        let params: IdSet = function.params.iter().map(Var::id).collect();
        let (mut names, mut listed) = (Self::default(), Vec::new());
        let mut taken: hashbrown::HashSet<Name, rustc_hash::FxBuildHasher> = Default::default();
        for param in &function.params {
            for var in dim_vars(param.ty()) {
                let id = var.node().id();
                if !params.contains(&id)
                    || summary.is_reassigned(var)
                    || names.names.contains_key(&id)
                {
                    continue;
                }
                let plain = var.name().filter(|name| !name.is_empty()).unwrap_or("d");
                let mut name = Name::new(plain);
                let mut count = 1;
                while !taken.insert(name) {
                    name = Name::new(&format!("{plain}_{count}"));
                    count += 1;
                }
                names.names.insert(id, name);
                listed.push(name);
            }
        }
        let types = function.params.iter().filter_map(|param| names.convert(param.ty()).ok());
        let types: Vec<ValueType> = types.collect();
        let bound = bound_symbols(types.iter());
        names.unbound = listed.into_iter().filter(|name| !bound.contains(name)).collect();
        names
    }

    // Returns the expression of a dim over the symbols, or `None` if it has other parts or is too large.
    fn expression(&self, dim: &ExprRef, left: &mut usize) -> Option<DimExpr> {
        *left = left.checked_sub(1)?;
        if let Some(&name) = self.names.get(&dim.node().id()) {
            return DimExpr::symbol(name).filter(|_| !self.unbound.contains(&name));
        }
        if let Some(number) = dim.as_int() {
            return DimExpr::constant(i64::try_from(number).ok()?);
        }
        let (op, lhs, rhs) = dim.as_binary()?;
        let (lhs, rhs) = (self.expression(lhs, left)?, self.expression(rhs, left)?);
        match op {
            BinaryOp::Add => lhs.checked_add(rhs),
            BinaryOp::Sub => lhs.checked_sub(rhs),
            BinaryOp::Mul => lhs.checked_mul(rhs),
            // Divisors are numbers of at least one.
            BinaryOp::FloorDiv => lhs.floordiv(rhs.as_constant()?),
            BinaryOp::FloorMod => lhs.modulo(rhs.as_constant()?),
            BinaryOp::Min => lhs.min(rhs),
            BinaryOp::Max => lhs.max(rhs),
            _ => None,
        }
    }

    fn convert_dim(&self, dim: &ExprRef) -> Dim {
        if let Some(expr) = self.expression(dim, &mut { MAX_DIM_NODES })
            && expr.as_constant().is_none()
        {
            return Dim::from_expr(expr);
        }
        let number = dim.as_int().or_else(|| {
            let folds = dim.operands().len() > 0;
            folds.then(|| sapwood_ir::passes::fold_expr(dim).ok()?.as_int()).flatten()
        });
        match number.and_then(|n| u64::try_from(n).ok()).filter(|&n| n <= MAX_EXTENT) {
            Some(n) => Dim::Known(n),
            None => Dim::Unknown,
        }
    }

    /// Converts a type to PTIR, or returns the reason why it cannot be converted.
    pub(crate) fn convert(&self, ty: &TypeRef) -> Result<ValueType, String> {
        check_type_size(ty)?;
        self.convert_checked(ty)
    }

    // Converts a type that nests at most `MAX_TYPE_DEPTH` deep.
    fn convert_checked(&self, ty: &TypeRef) -> Result<ValueType, String> {
        Ok(match &**ty {
            Type::Scalar { dtype } => TensorType::scalar(*dtype).into(),
            Type::Tensor { dtype, shape } => {
                let dims: Dims = shape.iter().map(|dim| self.convert_dim(dim)).collect();
                if let Some(big) = shape.iter().find_map(|dim| dim.as_int().filter(too_large)) {
                    return Err(format!("a dim is {big}, expected at most {MAX_EXTENT}"));
                }
                TensorType { dtype: *dtype, dims }.into()
            }
            Type::Tuple { types } => ValueType::Tuple(
                types.iter().map(|ty| self.convert_checked(ty)).collect::<Result<_, _>>()?,
            ),
            Type::Function { .. } => return Err("a function is not a value".to_owned()),
            Type::Unknown {} => return Err("the type is not known".to_owned()),
        })
    }
}

fn too_large(dim: &i128) -> bool {
    *dim > i128::from(MAX_EXTENT)
}

/// Rejects types that nest too deep or, through sharing, have too many parts.
fn check_type_size(root: &TypeRef) -> Result<(), String> {
    let mut sizes: IdMap<(u64, usize)> = IdMap::default();
    let mut worklist = vec![(root, false)];
    while let Some((ty, ready)) = worklist.pop() {
        let Type::Tuple { types } = &**ty else { continue };
        let id = ty.node().id();
        if sizes.contains_key(&id) {
            continue;
        }
        if !ready {
            worklist.push((ty, true));
            worklist.extend(types.iter().map(|ty| (ty, false)));
            continue;
        }
        let (mut parts, mut depth) = (1u64, 0);
        for ty in types {
            let (inner, levels) = sizes.get(&ty.node().id()).copied().unwrap_or((1, 0));
            parts = parts.saturating_add(inner);
            depth = depth.max(levels);
        }
        sizes.insert(id, (parts, depth + 1));
    }
    let (parts, depth) = sizes.get(&root.node().id()).copied().unwrap_or((1, 0));
    if depth > MAX_TYPE_DEPTH {
        return Err(format!("a tuple type nests {depth} deep, expected at most {MAX_TYPE_DEPTH}"));
    }
    if parts > MAX_TYPE_SIZE as u64 {
        return Err(format!("a tuple type has {parts} parts, expected at most {MAX_TYPE_SIZE}"));
    }
    Ok(())
}

/// Returns the type of a loop-carried value: that of its initial value, with unknown dims where the declared type has them.
pub(crate) fn widen_to_declared(first: &ValueType, declared: Option<&ValueType>) -> ValueType {
    match (first, declared) {
        (ValueType::Tensor(a), Some(ValueType::Tensor(b)))
            if a.dtype == b.dtype && a.rank() == b.rank() =>
        {
            let dims = a.dims.iter().zip(&b.dims).map(|(&first, &declared)| match declared {
                Dim::Known(_) => declared,
                _ if first == declared => declared,
                _ => Dim::Unknown,
            });
            TensorType { dtype: a.dtype, dims: dims.collect() }.into()
        }
        (ValueType::Tuple(a), Some(ValueType::Tuple(b))) if a.len() == b.len() => ValueType::Tuple(
            a.iter().zip(b.iter()).map(|(a, b)| widen_to_declared(a, Some(b))).collect(),
        ),
        _ => first.clone(),
    }
}
