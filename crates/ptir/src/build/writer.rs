//! Bulk construction of functions, for translators of whole programs: instructions are appended body by body and
//! labelled once at the end, so the cost is linear however deep regions nest.

use std::sync::Arc;

use sapwood_types::{Diagnostic, Diagnostics, Span};
use smallvec::SmallVec;

use crate::attr::Attr;
use crate::func::{Function, InsertPoint, PARAM_BIT};
use crate::ids::{AttrId, BodyId, InstId, TypeId, ValueId};
use crate::inference_memo::InferenceMemo;
use crate::literal::TensorLiteral;
use crate::name::Name;
use crate::op::{OpDef, OpError, OpKey, OpParts, Registry};
use crate::ops::Constant;
use crate::types::ValueType;

/// A function that is verified apart from its calls, for [`Program::add_verified`](crate::Program::add_verified).
#[derive(Debug)]
pub struct VerifiedFunction(pub(crate) Function);

impl VerifiedFunction {
    /// Returns the function.
    #[must_use]
    pub fn function(&self) -> &Function {
        &self.0
    }

    /// Sets the source span of the function.
    pub fn set_span(&mut self, span: Span) {
        self.0.set_span(span);
    }

    /// Returns the function, which a program verifies like any other.
    #[must_use]
    pub fn into_function(self) -> Function {
        self.0
    }
}

/// A function under construction that checks less than a [`PtirGraph`](crate::PtirGraph): only
/// [`finish`](Self::finish) checks that every value is available where it is used.
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
    // True if a body was changed after inference read its signature.
    stale: bool,
    inference: InferenceMemo,
    // Instructions whose operands are not yet known to be available at their position.
    unchecked: Vec<InstId>,
}

impl FunctionWriter {
    /// Creates a writer of an empty function with this name.
    #[must_use]
    pub fn new(name: impl Into<Name>, registry: &Arc<Registry>) -> Self {
        Self::with_capacity(name, registry, 0)
    }

    /// Creates a writer of an empty function with capacity for `insts` instructions.
    #[must_use]
    pub fn with_capacity(name: impl Into<Name>, registry: &Arc<Registry>, insts: usize) -> Self {
        Self {
            function: Function::with_capacity(name.into(), registry.clone(), insts),
            last_constant: None,
            stale: false,
            inference: InferenceMemo::new(insts),
            unchecked: Vec::new(),
        }
    }

    /// Returns the function written so far. Its instructions are not labelled yet, so order and dominance queries are
    /// meaningless.
    #[must_use]
    pub fn function(&self) -> &Function {
        &self.function
    }

    /// Sets the source span of the function.
    pub fn set_span(&mut self, span: Span) {
        self.function.set_span(span);
    }

    /// Sets whether the function is private.
    pub fn set_private(&mut self, private: bool) {
        self.function.set_private(private);
    }

    /// Sets the name of a value.
    pub fn set_hint(&mut self, value: ValueId, name: &str) {
        self.function.set_hint(value, name);
    }

    /// Creates a body without parameters that will become a region of an instruction.
    pub fn new_body(&mut self) -> BodyId {
        self.function.create_body()
    }

    /// Drops a body that will not become a region, and all later bodies that are regions of no instruction. For
    /// callers whose construction of a region failed halfway. A body that is already a region is kept.
    pub fn discard_body(&mut self, body: BodyId) {
        let f = &mut self.function;
        for body in (body.index()..f.body_capacity()).rev().map(BodyId::new) {
            if body != f.body() && f.is_live_body(body) && f.body_owner(body).is_none() {
                f.discard_body(body);
            }
        }
    }

    /// Adds a parameter to a body.
    pub fn param(&mut self, body: BodyId, ty: &ValueType) -> ValueId {
        let ty = self.function.dfg.types.intern(ty);
        self.param_typed(body, ty)
    }

    /// Adds a parameter to a body, with the [id](Self::intern_type) of its type.
    pub fn param_typed(&mut self, body: BodyId, ty: TypeId) -> ValueId {
        self.stale |= self.function.body_owner(body).is_some();
        self.function.push_param_id(body, ty)
    }

    /// Returns the id of a type in this function.
    pub fn intern_type(&mut self, ty: &ValueType) -> TypeId {
        self.function.dfg.types.intern(ty)
    }

    /// Returns the value of a literal: a `constant` at the start of the function, one per literal.
    pub fn constant(&mut self, literal: &TensorLiteral, span: Span) -> ValueId {
        let count = self.function.inst_capacity();
        let place = match self.last_constant {
            Some(last) => InsertPoint::After(last),
            None => InsertPoint::Start(self.function.body()),
        };
        let value = self.function.constant_unlabelled(literal, span, place, |_, _| true);
        if self.function.inst_capacity() > count {
            self.last_constant = Some(InstId::new(count));
        }
        value
    }

    /// Infers the result types of an instruction and appends it to a body. The bodies that become its regions must
    /// have terminators; the body that it is appended to must not.
    ///
    /// # Errors
    /// If operands, attributes or regions do not fit the op. The function is then unchanged.
    pub fn append(&mut self, body: BodyId, parts: &OpParts, span: Span) -> Result<InstId, OpError> {
        self.check_open(body)?;
        self.check_regions(&parts.regions)?;
        let f = &self.function;
        // Most attributes are already in canonical form; then nothing is copied.
        let mut normalized: OpParts;
        let parts = match f.registry().get(parts.key) {
            Some(def) if def.has_canonical_attrs(&parts.attrs) => parts,
            def => {
                if def.is_none() {
                    crate::verify::check_unregistered(parts.key.name())?;
                }
                normalized = parts.clone();
                f.normalize_attrs(&mut normalized)?;
                &normalized
            }
        };
        let value_type = |v| f.is_live_value(v).then(|| f.value_type(v));
        let region_signature = |b| f.is_live_body(b).then(|| f.region_signature(b));
        let inferred = f.infer_parts(parts, value_type, region_signature)?;
        let f = &mut self.function;
        let mut types: SmallVec<[TypeId; 2]> = SmallVec::new();
        for ty in &inferred {
            // Many results have the type of an operand, whose id is found without hashing.
            let like = parts.operands.iter().rev().find(|v| f.value_type(**v) == ty);
            types.push(match like {
                Some(value) => f.type_id(*value),
                None => f.dfg.types.intern(ty),
            });
        }
        let attrs = f.dfg.attrs.intern_slice(&parts.attrs);
        let inst = f.create_inst(parts.key, attrs, &parts.operands, &parts.regions, &types, span);
        f.layout.link_last(inst, body);
        self.unchecked.push(inst);
        Ok(inst)
    }

    /// Sets a registry that has the ops of the present one and more. Nothing happens if the function has an unregistered op that it defines.
    pub fn set_registry(&mut self, registry: &Arc<Registry>) {
        if !self.function.is_redefined_by(registry) {
            self.function.set_registry(registry);
        }
    }

    /// Returns the id of an attribute list in this function, for [`append_typed`](Self::append_typed).
    pub fn intern_attrs(&mut self, attrs: &[Attr]) -> AttrId {
        self.function.dfg.attrs.intern_slice(attrs)
    }

    /// Appends an instruction whose attributes and result types are known by their ids
    /// ([`intern_attrs`](Self::intern_attrs), [`intern_type`](Self::intern_type)). It allocates less than
    /// [`append`](Self::append), and an instruction with the inference inputs of an earlier one is not inferred again.
    ///
    /// Returns `None`, and changes nothing, if the body has a terminator, the attributes are not in canonical form,
    /// operands, attributes or regions do not fit, or inference gives other types. `append` then reports the reason.
    #[inline]
    pub fn append_typed(
        &mut self,
        body: BodyId,
        (key, attrs): (OpKey, AttrId),
        operands: &[ValueId],
        regions: &[BodyId],
        types: &[TypeId],
        span: Span,
    ) -> Option<InstId> {
        if !regions.is_empty() {
            self.check_regions(regions).ok()?;
        }
        let f = &mut self.function;
        if !is_open(f, body) {
            return None;
        }
        // Values defined earlier in the same body are available.
        let mut near = regions.is_empty();
        for &value in operands {
            let data = f.dfg.values.get(value.index())?;
            if data.index & PARAM_BIT == 0 {
                let def = InstId::new(data.def as usize);
                if !f.is_live(def) {
                    return None;
                }
                near &= f.body_of(def) == Some(body);
            } else if f.is_live_value(value) {
                near &= data.def as usize == body.index();
            } else {
                return None;
            }
        }
        f.registry().get(key)?;
        let inst = f.create_inst(key, attrs, operands, regions, types, span);
        let def = f.op_def(inst)?;
        if !self.inference.accepts(f, inst, || inference_agrees(f, def, inst)) {
            f.uncreate_inst(inst);
            return None;
        }
        f.layout.link_last(inst, body);
        if !near {
            self.unchecked.push(inst);
        }
        Some(inst)
    }

    // Checks that bodies can become the regions of one instruction: they have terminators and no owner.
    fn check_regions(&self, regions: &[BodyId]) -> Result<(), OpError> {
        let f = &self.function;
        for (i, &region) in regions.iter().enumerate() {
            if !f.is_live_body(region) || region == f.body() || f.terminator(region).is_none() {
                return Err(OpError::new(format!("{region} is not a body with a terminator")));
            }
            if f.body_owner(region).is_some() || regions[..i].contains(&region) {
                return Err(OpError::new(format!("{region} is already a region")));
            }
        }
        Ok(())
    }

    fn check_open(&self, body: BodyId) -> Result<(), OpError> {
        let f = &self.function;
        if is_open(f, body) {
            return Ok(());
        }
        Err(OpError::new(match f.is_live_body(body) {
            true => "the body has a terminator, so no instruction can be appended".to_owned(),
            false => format!("{body} is not a body of this function"),
        }))
    }

    /// Labels and verifies the function and returns it. The checks of [`append`](Self::append) are not repeated;
    /// availability of values and the terminators of bodies are checked. `results` are the declared result types.
    ///
    /// # Errors
    /// If the function is invalid, with all problems found.
    pub fn finish(mut self, results: &[ValueType]) -> Result<Function, Diagnostics> {
        let results = results.iter().map(|ty| self.function.dfg.types.intern(ty)).collect();
        self.finish_typed(results).map(|function| function.0)
    }

    /// Finishes the function like [`finish`](Self::finish), with the [ids](Self::intern_type) of the result types.
    ///
    /// # Errors
    /// If the function is invalid, with all problems found.
    pub fn finish_typed(mut self, results: Vec<TypeId>) -> Result<VerifiedFunction, Diagnostics> {
        let f = &mut self.function;
        let loose = (1..f.body_capacity())
            .map(BodyId::new)
            .find(|&b| f.is_live_body(b) && f.body_owner(b).is_none());
        if let Some(body) = loose {
            let message = format!("{body} of @{} is not a region of an instruction", f.name());
            return Err(Diagnostic::error(f.span(), message).into());
        }
        f.set_result_ids(results);
        f.layout.relabel_body(f.body());
        match self.stale {
            true => crate::verify::verify_function(f)?,
            false => crate::verify::verify_appended(f, &self.unchecked)?,
        }
        Ok(VerifiedFunction(self.function))
    }
}

// Returns whether a body exists and has no terminator yet.
#[inline]
fn is_open(f: &Function, body: BodyId) -> bool {
    f.is_live_body(body) && f.terminator(body).is_none()
}

// Returns whether inference gives the declared result types.
fn inference_agrees(f: &Function, def: &OpDef, inst: InstId) -> bool {
    let types = f.inst_results(inst).map(|v| f.value_type(v));
    // A constant has the type of its literal.
    if let [Attr::Literal(literal)] = &f.attrs(inst)[..]
        && f.is::<Constant>(inst)
    {
        let bare = f.operands(inst).is_empty() && f.regions(inst).is_empty();
        let is_literal_type = |ty: &ValueType| ty.as_tensor().is_some_and(|t| literal.has_type(t));
        return bare && types.len() == 1 && types.into_iter().all(is_literal_type);
    }
    def.has_canonical_attrs(f.attrs(inst)) && f.infer(inst).is_ok_and(|t| t.iter().eq(types))
}
