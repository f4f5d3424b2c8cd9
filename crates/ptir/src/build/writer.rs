//! Building a function in bulk, for what translates whole programs: instructions are appended body by body and put in
//! order once, at the end, so that the cost is linear however deep regions nest.

use std::sync::Arc;

use sapwood_types::{Diagnostic, Diagnostics, Span};

use crate::func::{Function, Place};
use crate::ids::{BodyId, InstId, ValueId};
use crate::literal::TensorLiteral;
use crate::name::Name;
use crate::op::{OpError, OpParts, Registry};
use crate::types::ValueType;

/// A function under construction, without the safety net of [`PtirGraph`](crate::PtirGraph): whether a value is
/// available where it is used is only checked by [`finish`](Self::finish).
///
/// ```
/// use sapwood_ptir::prelude::*;
/// use sapwood_ptir::FunctionWriter;
/// use sapwood_types::Span;
///
/// let mut writer = FunctionWriter::new("f", &Registry::builtin());
/// let ty = ValueType::from(TensorType::new(DataType::F32, [4u64]));
/// let body = writer.function().body();
/// let x = writer.param(body, &ty);
/// let y = writer.append(body, &Exp { input: x }.into_parts(), Span::unknown())?;
/// let values = writer.function().inst_results(y).collect();
/// writer.append(body, &Return { values }.into_parts(), Span::unknown())?;
/// let function = writer.finish(&[ty]).map_err(|problems| problems.to_string())?;
/// assert_eq!(function.num_insts(), 2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct FunctionWriter {
    function: Function,
    last_constant: Option<InstId>,
}

impl FunctionWriter {
    /// An empty function of this name.
    #[must_use]
    pub fn new(name: impl Into<Name>, registry: &Arc<Registry>) -> Self {
        Self { function: Function::new(name, registry.clone()), last_constant: None }
    }

    /// The function as far as it is written. Its order keys are not: "before" and "dominates" mean nothing yet.
    #[must_use]
    pub fn function(&self) -> &Function {
        &self.function
    }

    /// Says where the function was written.
    pub fn set_span(&mut self, span: Span) {
        self.function.set_span(span);
    }

    /// Names a value.
    pub fn set_hint(&mut self, value: ValueId, name: &str) {
        self.function.set_hint(value, name);
    }

    /// A body without parameters that is to become a region of an instruction.
    pub fn new_body(&mut self) -> BodyId {
        self.function.create_body()
    }

    /// Drops a body that is to become nothing, and all bodies made after it that are regions of no instruction: what is
    /// left when building a region fails halfway. A body that is a region stays.
    pub fn abandon(&mut self, body: BodyId) {
        let f = &mut self.function;
        for body in (body.index()..f.body_capacity()).rev().map(BodyId::new) {
            if body != f.body() && f.is_live_body(body) && f.body_owner(body).is_none() {
                f.discard_body(body);
            }
        }
    }

    /// Adds a parameter to a body.
    pub fn param(&mut self, body: BodyId, ty: &ValueType) -> ValueId {
        self.function.push_param(body, ty)
    }

    /// The value of a literal: a `constant` at the start of the function, one for each literal.
    pub fn constant(&mut self, literal: &TensorLiteral, span: Span) -> ValueId {
        let count = self.function.inst_capacity();
        let place = match self.last_constant {
            Some(last) => Place::After(last),
            None => Place::Start(self.function.body()),
        };
        let value = self.function.constant_unlabelled(literal, span, place, |_, _| true);
        if self.function.inst_capacity() > count {
            self.last_constant = Some(InstId::new(count));
        }
        value
    }

    /// Infers the result types of an instruction and appends it to a body. Bodies that it takes as regions must be
    /// ended; nothing is appended to a body that is.
    ///
    /// # Errors
    /// If operands, attributes or regions do not fit. Then nothing is changed.
    pub fn append(&mut self, body: BodyId, parts: &OpParts, span: Span) -> Result<InstId, OpError> {
        let f = &self.function;
        if !f.is_live_body(body) {
            return Err(OpError::new(format!("{body} is not a body of this function")));
        }
        if f.terminator(body).is_some() {
            return Err(OpError::new(format!("{body} is ended, nothing goes after its end")));
        }
        for (i, &region) in parts.regions.iter().enumerate() {
            if !f.is_live_body(region) || region == f.body() || f.terminator(region).is_none() {
                return Err(OpError::new(format!("{region} is not a body with an end")));
            }
            if f.body_owner(region).is_some() || parts.regions[..i].contains(&region) {
                return Err(OpError::new(format!("{region} is already a region")));
            }
        }
        let mut spec = f.resolve(parts)?;
        spec.span = span;
        let inst = self.function.create(&spec);
        self.function.link(inst, Place::End(body));
        Ok(inst)
    }

    /// The function, put in order and verified. `results` are the types that it states.
    ///
    /// # Errors
    /// With all problems found.
    pub fn finish(mut self, results: &[ValueType]) -> Result<Function, Diagnostics> {
        let f = &mut self.function;
        let loose = (1..f.body_capacity())
            .map(BodyId::new)
            .find(|&b| f.is_live_body(b) && f.body_owner(b).is_none());
        if let Some(body) = loose {
            let message = format!("{body} of @{} is a region of no instruction", f.name());
            return Err(Diagnostic::error(f.span(), message).into());
        }
        f.set_result_types(results);
        f.renumber(f.body());
        crate::verify::verify_function(f)?;
        Ok(self.function)
    }
}
