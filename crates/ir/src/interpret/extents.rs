//! Checks that arguments have the shapes that the types of their parameters state.

use sapwood_types::Span;

use super::scalar::Scalar;
use super::{Interpreter, Map, RunError, RunValue};
use crate::nodes::{Expr, ExprRef, Function, Type, TypeRef, Var};
use crate::print::start_of_expr;
use crate::verify::shown;

/// A dim that is no constant, and what the argument has there.
#[derive(Clone, Copy)]
struct Dim<'a> {
    tensor: Tensor<'a>,
    axis: usize,
    dim: &'a ExprRef,
    extent: i64,
}

/// An argument, or an element of one, where a tensor is wanted.
#[derive(Clone, Copy)]
struct Tensor<'a> {
    param: &'a Var,
    /// Whether it is inside a tuple.
    nested: bool,
    ty: &'a TypeRef,
    shape: &'a [i64],
    /// The call.
    span: Span,
}

impl Tensor<'_> {
    /// The error for a shape that the type does not allow; `why` is more than the shapes show.
    fn wrong(&self, why: &str) -> RunError {
        let element = if self.nested { "an element of " } else { "" };
        let (name, ty, shape) = (self.param.name(), shown(self.ty), self.shape);
        let what = format!("{element}{name} is {ty}, found an array of shape {shape:?}{why}");
        RunError::Argument { parameter: name.to_owned(), what, span: self.span }
    }
}

impl Dim<'_> {
    /// Compares the extent with the value that the dim has; `source` says where that is from.
    fn check(&self, value: &RunValue, source: &str) -> Result<(), RunError> {
        let Self { axis, extent, .. } = self;
        let dim = || start_of_expr(self.dim, 80);
        let why = match value {
            RunValue::Scalar(Scalar::Int(_, wanted)) if *wanted == i128::from(*extent) => {
                return Ok(());
            }
            RunValue::Scalar(Scalar::Int(_, wanted)) => {
                format!("; dim {axis} is {}, which is {wanted}{source}, found {extent}", dim())
            }
            other => format!("; dim {axis} is {}, which is {} and no integer", dim(), other.kind()),
        };
        Err(self.tensor.wrong(&why))
    }
}

impl Interpreter<'_, '_> {
    /// Checks the arguments of a call against the types of the parameters, `vars` being the parameters by id.
    ///
    /// A dim that is a constant or a parameter has that extent. Any other variable has the extent of the dim where it is
    /// first met. A dim that is computed from these has the extent that it comes to, unless it calls something.
    pub(super) fn check_extents(
        &mut self,
        function: &Function,
        args: &[RunValue],
        vars: &Map<RunValue>,
        span: Span,
    ) -> Result<(), RunError> {
        let mut dims: Vec<Dim<'_>> = Vec::new();
        for (param, arg) in function.params.iter().zip(args) {
            collect(param, arg, span, &mut dims)?;
        }
        if dims.is_empty() {
            return Ok(());
        }
        let mut known = vars.clone();
        let mut met: Map<&Var> = Map::default();
        for dim in dims.iter().filter(|dim| dim.dim.is_var()) {
            let id = dim.dim.node().id();
            if let Some(value) = known.get(&id) {
                let source = met.get(&id).map(|var| format!(" in {}", var.name()));
                dim.check(value, &source.unwrap_or_default())?;
            } else {
                known.insert(id, RunValue::int(dim.extent));
                met.insert(id, dim.tensor.param);
            }
        }
        for dim in dims.iter().filter(|dim| !dim.dim.is_var() && !calls(dim.dim)) {
            match self.expr(dim.dim, &known) {
                Ok(value) => dim.check(&value, "")?,
                // It is computed from a variable that no argument gives a value to.
                Err(RunError::NoValue { .. }) => {}
                Err(other) => return Err(other),
            }
        }
        Ok(())
    }
}

/// Finds the dims that are no constants, and checks the others.
fn collect<'a>(
    param: &'a Var,
    arg: &'a RunValue,
    span: Span,
    dims: &mut Vec<Dim<'a>>,
) -> Result<(), RunError> {
    let mut todo: Vec<(&TypeRef, &RunValue)> = vec![(param.ty(), arg)];
    // Tuples may be shared, on both sides.
    let mut seen: hashbrown::HashSet<(usize, usize), rustc_hash::FxBuildHasher> =
        hashbrown::HashSet::default();
    while let Some((ty, value)) = todo.pop() {
        match (&**ty, value) {
            (Type::Tuple { types }, RunValue::Tuple(elements))
                if seen.insert((ty.node().id(), elements.as_ptr().addr())) =>
            {
                todo.extend(types.iter().zip(elements.iter()).rev());
            }
            (Type::Tensor { shape: wanted, .. }, RunValue::Tensor(shape, _)) => {
                let nested = !ty.same(param.ty());
                let tensor = Tensor { param, nested, ty, shape, span };
                if wanted.len() != shape.len() {
                    return Err(tensor.wrong(""));
                }
                for (axis, (dim, &extent)) in wanted.iter().zip(&**shape).enumerate() {
                    match dim.as_int() {
                        Some(wanted) if wanted == i128::from(extent) => {}
                        Some(_) => return Err(tensor.wrong("")),
                        None => dims.push(Dim { tensor, axis, dim, extent }),
                    }
                }
            }
            _ => {}
        }
    }
    Ok(())
}

/// Whether an expression calls something.
fn calls(root: &ExprRef) -> bool {
    let mut seen: hashbrown::HashSet<usize, rustc_hash::FxBuildHasher> =
        hashbrown::HashSet::default();
    let mut todo = vec![root];
    while let Some(expr) = todo.pop() {
        if matches!(**expr, Expr::Call { .. }) {
            return true;
        }
        if seen.insert(expr.node().id()) {
            todo.extend(expr.operands());
        }
    }
    false
}
