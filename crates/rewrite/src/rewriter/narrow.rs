//! Types with more known dims: a value gets one, and the types that follow from it.

use sapwood_ptir::{Dim, Function, InstId, TensorType, ValueId, ValueType};

use super::{EditEvent, ProgramRewriter, RewriteError};

impl ProgramRewriter<'_> {
    /// Gives a value a type with more known dims, and its users the types that inference finds with it. Parameters of regions keep their types,
    /// as do the declared results of the function.
    ///
    /// # Errors
    /// If an instruction does not accept the new types. The caller must roll back the edits then.
    pub(crate) fn narrow_type(
        &mut self,
        value: ValueId,
        ty: &ValueType,
    ) -> Result<(), RewriteError> {
        let mut open = vec![(value, ty.clone())];
        while let Some((value, ty)) = open.pop() {
            if self.function.value_type(value) == &ty {
                continue;
            }
            self.function.set_type(value, &ty)?;
            if let Some(inst) = self.function.inst_of(value) {
                self.notify(EditEvent::Changed(inst));
            }
            for user in self.function.users_of(value) {
                self.notify(EditEvent::Affected(user));
                if let Some(user) = user_with_types(self.function, user) {
                    narrower_results(self.function, user, &mut open)?;
                }
            }
        }
        Ok(())
    }

    /// Gives the results of an instruction the types that inference finds, as [`narrow_type`](Self::narrow_type) does.
    pub(crate) fn narrow_results(&mut self, inst: InstId) -> Result<(), RewriteError> {
        let mut found = Vec::new();
        narrower_results(self.function, inst, &mut found)?;
        self.notify(EditEvent::Changed(inst));
        found.iter().try_for_each(|(result, ty)| self.narrow_type(*result, ty))
    }
}

// Infers the types of an instruction, and adds the results for which they are more specific.
fn narrower_results(
    f: &Function,
    inst: InstId,
    found: &mut Vec<(ValueId, ValueType)>,
) -> Result<(), RewriteError> {
    let op = f.op_name(inst);
    let inferred = f.infer(inst).map_err(|error| RewriteError::Op { op, error })?;
    for (result, inferred) in f.inst_results(inst).zip(&inferred) {
        let known = f.value_type(result);
        let narrowed = narrower_type(known, inferred).ok_or_else(|| {
            let (expected, found) = (Box::new(known.clone()), Box::new(inferred.clone()));
            RewriteError::ResultType { op, expected, found }
        })?;
        if *known != narrowed {
            found.push((result, narrowed));
        }
    }
    Ok(())
}

// Returns the instruction whose results depend on the types of a user: the owner of the region that the user ends, or the user itself.
fn user_with_types(f: &Function, user: InstId) -> Option<InstId> {
    if f.op_def(user).is_some_and(|def| def.terminator) {
        return f.body_owner(f.body_of(user)?);
    }
    f.op_def(user).map(|_| user)
}

/// Returns whether a type has at least the known dims of another, and agrees with it in all others.
pub fn refines(ty: &ValueType, other: &ValueType) -> bool {
    match (ty, other) {
        (ValueType::Tensor(a), ValueType::Tensor(b)) => {
            a.dtype == b.dtype
                && a.rank() == b.rank()
                && a.dims.iter().zip(&b.dims).all(|(a, b)| a == b || *b == Dim::Unknown)
        }
        _ => ty == other,
    }
}

// Returns the more specific of two types of one value: a number for an expression, and an expression for an unknown dim.
fn narrower_type(known: &ValueType, inferred: &ValueType) -> Option<ValueType> {
    match (known, inferred) {
        (ValueType::Tensor(a), ValueType::Tensor(b)) => {
            if a.dtype != b.dtype || a.rank() != b.rank() {
                return None;
            }
            let dims = a.dims.iter().zip(&b.dims).map(|(&a, &b)| a.unify(b));
            let dims = dims.collect::<Option<_>>()?;
            Some(TensorType { dtype: a.dtype, dims }.into())
        }
        _ => known.compatible(inferred).then(|| known.clone()),
    }
}
