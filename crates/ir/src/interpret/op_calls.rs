//! Calls of registered ops.

use sapwood_ptir::{TensorType, ValueType};
use sapwood_types::Span;

use super::scalar::Scalar;
use super::{IdMap, Interpreter, RunError, RunValue};
use crate::nodes::{Callee, ExprRef, Type, TypeRef};
use crate::ops::{as_declared, evaluate_op};
use crate::print::expr_prefix;
use crate::verify::display_type;

impl Interpreter<'_, '_> {
    /// Evaluates a call of a registered op on its operands.
    pub(super) fn run_op(
        &mut self,
        callee: &Callee,
        args: &[ExprRef],
        operands: Vec<RunValue>,
        ty: &TypeRef,
        vars: &IdMap<RunValue>,
        span: Span,
    ) -> Result<RunValue, RunError> {
        let name = callee.name();
        let unknown = || RunError::NoOperation { name: name.to_owned(), span };
        if self.registry.by_name(name).is_none() {
            return Err(unknown());
        }
        let declared = self.declared_type(name, ty, vars, span)?;
        let operands: Vec<(RunValue, TypeRef)> =
            operands.into_iter().zip(args).map(|(value, arg)| (value, arg.ty().clone())).collect();
        let registry = self.registry.clone();
        let value = evaluate_op(&registry, name, callee.attrs(), &operands, declared.clone());
        let value = value.ok_or_else(unknown)?;
        let value = value.map_err(|message| RunError::Operands {
            message: format!("{name}: {message}"),
            span,
        })?;
        let value = as_declared(value, ty);
        let extents = declared.as_ref().and_then(|ty| ty.as_tensor()?.known_shape());
        if !has_type(&value, ty, extents.as_deref()) {
            let (found, ty) = (value.describe(), display_type(ty));
            let message = format!("{name} returns {found}, but the call has the type {ty}");
            return Err(RunError::Operands { message, span });
        }
        Ok(value)
    }

    /// Returns the stated type of a call with the extents of this run; none for types other than tensors, or with other dims.
    fn declared_type(
        &mut self,
        name: &str,
        ty: &TypeRef,
        vars: &IdMap<RunValue>,
        span: Span,
    ) -> Result<Option<ValueType>, RunError> {
        let (dtype, shape) = match &**ty {
            Type::Scalar { dtype, .. } => return Ok(Some(TensorType::scalar(*dtype).into())),
            Type::Tensor { dtype, shape, .. } => (*dtype, shape),
            _ => return Ok(None),
        };
        let mut dims: Vec<u64> = Vec::with_capacity(shape.len());
        for dim in shape {
            match self.eval_expr(dim, vars) {
                Ok(RunValue::Scalar(Scalar::Int(_, extent))) => match u64::try_from(extent) {
                    Ok(extent) => dims.push(extent),
                    Err(_) => {
                        let dim = expr_prefix(dim, 80);
                        let message = format!("{name}: the dim {dim} of its result is {extent}");
                        return Err(RunError::Operands { message, span });
                    }
                },
                Ok(_) | Err(RunError::NoValue { .. }) => return Ok(None),
                Err(other) => return Err(other),
            }
        }
        Ok(Some(TensorType::new(dtype, dims).into()))
    }
}

/// Returns whether a result has the stated type. The dims of a tensor that are not constants are compared if their `extents` are known.
fn has_type(value: &RunValue, ty: &TypeRef, extents: Option<&[u64]>) -> bool {
    match (value, &**ty) {
        (_, Type::Unknown { .. }) => true,
        (RunValue::Scalar(scalar), Type::Scalar { dtype, .. }) => scalar.dtype() == *dtype,
        (RunValue::Tensor(found, elements), Type::Tensor { dtype, shape, .. }) => {
            let extent = |axis: usize, dim: &ExprRef| match extents {
                Some(extents) => extents.get(axis).map(|&extent| i128::from(extent)),
                None => dim.as_int(),
            };
            let mut dims = found.iter().zip(shape).enumerate();
            elements.first().is_none_or(|first| first.dtype() == *dtype)
                && found.len() == shape.len()
                && dims.all(|(axis, (&found, dim))| {
                    extent(axis, dim).is_none_or(|extent| extent == i128::from(found))
                })
        }
        (RunValue::Tuple(elements), Type::Tuple { types, .. }) => {
            elements.len() == types.len()
                && elements.iter().zip(types).all(|(element, ty)| has_type(element, ty, None))
        }
        _ => false,
    }
}
