//! Checks of argument shapes against the types of the parameters.

use sapwood_types::Span;

use super::scalar::Scalar;
use super::{IdMap, Interpreter, RunError, RunValue};
use crate::nodes::{Expr, ExprRef, Function, Type, TypeRef, Var};
use crate::print::expr_prefix;
use crate::verify::display_type;

/// A dim that is not a constant, with the extent of the argument.
#[derive(Clone, Copy)]
struct DimCheck<'a> {
    tensor: TensorArgument<'a>,
    axis: usize,
    dim: &'a ExprRef,
    extent: i64,
}

/// A tensor argument, or a tensor element of a tuple argument.
#[derive(Clone, Copy)]
struct TensorArgument<'a> {
    param: &'a Var,
    /// True if the tensor is an element of a tuple.
    nested: bool,
    ty: &'a TypeRef,
    shape: &'a [i64],
    /// The span of the call.
    span: Span,
}

impl TensorArgument<'_> {
    /// Returns the error for a shape that the type does not allow; `why` adds details.
    fn shape_error(&self, why: &str) -> RunError {
        let element = if self.nested { "an element of " } else { "" };
        let (name, ty, shape) = (self.param.name(), display_type(self.ty), self.shape);
        let message = format!("{element}{name} is {ty}, found an array of shape {shape:?}{why}");
        RunError::Argument { parameter: name.to_owned(), message, span: self.span }
    }
}

impl DimCheck<'_> {
    /// Compares the extent with the value of the dim; `source` names the parameter that the value comes from.
    fn check_extent(&self, value: &RunValue, source: &str) -> Result<(), RunError> {
        let Self { axis, extent, .. } = self;
        let dim = || expr_prefix(self.dim, 80);
        let why = match value {
            RunValue::Scalar(Scalar::Int(_, wanted)) if *wanted == i128::from(*extent) => {
                return Ok(());
            }
            RunValue::Scalar(Scalar::Int(_, wanted)) => {
                format!("; dim {axis} is {}, which is {wanted}{source}, found {extent}", dim())
            }
            other => {
                format!("; dim {axis} is {}, which is {}, not an integer", dim(), other.describe())
            }
        };
        Err(self.tensor.shape_error(&why))
    }
}

impl Interpreter<'_, '_> {
    /// Checks the arguments of a call against the parameter types; `vars` has the parameters by id.
    ///
    /// A dim that is a constant or a parameter has that extent. Any other variable takes the extent of its first occurrence.
    /// A dim computed from these must match its value, unless it contains a call.
    pub(super) fn check_extents(
        &mut self,
        function: &Function,
        args: &[RunValue],
        vars: &IdMap<RunValue>,
        span: Span,
    ) -> Result<(), RunError> {
        let mut dims: Vec<DimCheck<'_>> = Vec::new();
        for (param, arg) in function.params.iter().zip(args) {
            collect_symbolic_dims(param, arg, span, &mut dims)?;
        }
        if dims.is_empty() {
            return Ok(());
        }
        let mut values = vars.clone();
        let mut met: IdMap<&Var> = IdMap::default();
        for dim in dims.iter().filter(|dim| dim.dim.is_var()) {
            let id = dim.dim.node().id();
            if let Some(value) = values.get(&id) {
                let source = met.get(&id).map(|var| format!(" in {}", var.name()));
                dim.check_extent(value, &source.unwrap_or_default())?;
            } else {
                values.insert(id, RunValue::int(dim.extent));
                met.insert(id, dim.tensor.param);
            }
        }
        for dim in dims.iter().filter(|dim| !dim.dim.is_var() && !contains_call(dim.dim)) {
            match self.eval_expr(dim.dim, &values) {
                Ok(value) => dim.check_extent(&value, "")?,
                // The dim uses a variable without a value, so it is not checked.
                Err(RunError::NoValue { .. }) => {}
                Err(other) => return Err(other),
            }
        }
        Ok(())
    }
}

/// Collects the dims that are not constants, and checks the constant ones.
fn collect_symbolic_dims<'a>(
    param: &'a Var,
    arg: &'a RunValue,
    span: Span,
    dims: &mut Vec<DimCheck<'a>>,
) -> Result<(), RunError> {
    let mut worklist: Vec<(&TypeRef, &RunValue)> = vec![(param.ty(), arg)];
    // Both the types and the values of tuples may be shared.
    let mut seen: hashbrown::HashSet<(usize, usize), rustc_hash::FxBuildHasher> =
        hashbrown::HashSet::default();
    while let Some((ty, value)) = worklist.pop() {
        match (&**ty, value) {
            (Type::Tuple { types, .. }, RunValue::Tuple(elements))
                if seen.insert((ty.node().id(), elements.as_ptr().addr())) =>
            {
                worklist.extend(types.iter().zip(elements.iter()).rev());
            }
            (Type::Tensor { shape: wanted, .. }, RunValue::Tensor(shape, _)) => {
                let nested = !ty.same(param.ty());
                let tensor = TensorArgument { param, nested, ty, shape, span };
                if wanted.len() != shape.len() {
                    return Err(tensor.shape_error(""));
                }
                for (axis, (dim, &extent)) in wanted.iter().zip(&**shape).enumerate() {
                    match dim.as_int() {
                        Some(wanted) if wanted == i128::from(extent) => {}
                        Some(_) => return Err(tensor.shape_error("")),
                        None => dims.push(DimCheck { tensor, axis, dim, extent }),
                    }
                }
            }
            _ => {}
        }
    }
    Ok(())
}

/// Returns whether an expression contains a call.
pub(crate) fn contains_call(root: &ExprRef) -> bool {
    let mut seen: hashbrown::HashSet<usize, rustc_hash::FxBuildHasher> =
        hashbrown::HashSet::default();
    let mut worklist = vec![root];
    while let Some(expr) = worklist.pop() {
        if matches!(**expr, Expr::Call { .. }) {
            return true;
        }
        if seen.insert(expr.node().id()) {
            worklist.extend(expr.operands());
        }
    }
    false
}
