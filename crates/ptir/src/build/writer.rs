//! Building a function in bulk, for what translates whole programs: instructions are appended body by body and put in
//! order once, at the end, so that the cost is linear however deep regions nest.

use std::sync::Arc;

use sapwood_types::{DataType, Diagnostic, Diagnostics, Span};
use smallvec::SmallVec;

use crate::attr::{Attr, AttrList};
use crate::func::{Function, PARAM_BIT, Place, RawInst, ValueDef};
use crate::ids::{AttrId, BodyId, InstId, TypeId, ValueId};
use crate::literal::TensorLiteral;
use crate::name::Name;
use crate::op::{InferCx, Op as _, OpDef, OpError, OpKey, OpParts, Registry, infer_checked};
use crate::ops::Constant;
use crate::types::ValueType;

/// How many instructions the regions of an instruction may have for [`FunctionWriter::append_like`] to repeat them.
const MAX_REPEATED: usize = 8;

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
    // A body was changed after inference saw it.
    stale: bool,
    fitted: Fitted,
    // Instructions of which it is not known yet that their operands are available where they stand.
    unproved: Vec<InstId>,
}

/// Instructions that inference found right, by what it sees of them: one that is like another in this is as right.
///
/// A table of a power of two, in which a later instruction takes the place of an earlier one.
struct Fitted(Vec<InstId>);

/// How many are kept in mind at least and at most.
const FITTED: [usize; 2] = [16, 256];

impl Fitted {
    // Where an instruction like this one would be.
    #[inline]
    fn slot(&self, f: &Function, raw: &RawInst<'_>) -> usize {
        let hash = mix(raw.key.index() as u64, raw.attrs.index());
        let ty = |v: &ValueId| f.values[v.index()].ty;
        let types = raw.operands.iter().map(ty).chain(raw.types.iter().copied());
        let hash = types.fold(hash, |hash, ty| mix(hash, ty.index()));
        (hash >> 32) as usize & (self.0.len() - 1)
    }

    #[inline]
    fn has(&self, slot: usize, f: &Function, raw: &RawInst<'_>) -> bool {
        let Some(like) = self.0[slot].some() else { return false };
        let data = &f.insts[like.index()];
        if data.key != raw.key
            || data.attrs != raw.attrs
            || data.operand_len as usize != raw.operands.len()
            || data.result_len as usize != raw.types.len()
            || data.region_len as usize != raw.regions.len()
        {
            return false;
        }
        let ty = |v: ValueId| f.values[v.index()].ty;
        let same = |(&a, &b): (&ValueId, &ValueId)| ty(a) == ty(b);
        f.operands(like).iter().zip(raw.operands).all(same)
            && raw.types.iter().zip(data.results as usize..).all(|(&t, v)| f.values[v].ty == t)
            && f.regions(like).iter().zip(raw.regions).all(|(&a, &b)| same_signature(f, a, b))
    }
}

// Whether two bodies take and yield values of the same types.
fn same_signature(f: &Function, a: BodyId, b: BodyId) -> bool {
    let same = |a: &[ValueId], b: &[ValueId]| alike(a, b, |a, b| f.type_id(a) == f.type_id(b));
    same(f.body_params(a), f.body_params(b)) && same(f.body_results(a), f.body_results(b))
}

// A hash of one more word.
#[inline]
fn mix(hash: u64, word: usize) -> u64 {
    (hash ^ word as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

impl FunctionWriter {
    /// An empty function of this name.
    #[must_use]
    pub fn new(name: impl Into<Name>, registry: &Arc<Registry>) -> Self {
        Self::with_room(name, registry, 0)
    }

    /// An empty function of this name with room for so many instructions.
    #[must_use]
    pub fn with_room(name: impl Into<Name>, registry: &Arc<Registry>, insts: usize) -> Self {
        let kept = insts.next_power_of_two().clamp(FITTED[0], FITTED[1]);
        Self {
            function: Function::with_room(name.into(), registry.clone(), insts),
            last_constant: None,
            stale: false,
            fitted: Fitted(vec![InstId::NONE; kept]),
            unproved: Vec::new(),
        }
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
        let ty = self.function.types.intern(ty);
        self.param_typed(body, ty)
    }

    /// Adds a parameter of a type with this [number](Self::type_id) to a body.
    pub fn param_typed(&mut self, body: BodyId, ty: TypeId) -> ValueId {
        self.stale |= self.function.bodies[body.index()].owner.some().is_some();
        self.function.push_param_id(body, ty)
    }

    /// The number that values of this type have here.
    pub fn type_id(&mut self, ty: &ValueType) -> TypeId {
        self.function.types.intern(ty)
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
        self.check_open(body)?;
        self.check_regions(&parts.regions)?;
        let f = &self.function;
        // Most attributes have the form that is kept: then nothing is made for them.
        let checked: AttrList;
        let attrs = match f.registry().get(parts.key) {
            Some(def) if def.holds(&parts.attrs) => &parts.attrs[..],
            def => {
                if def.is_none() {
                    crate::verify::check_unregistered(parts.key.name())?;
                }
                checked = f.checked_attrs(parts)?;
                &checked
            }
        };
        let value_type = |v| f.is_live_value(v).then(|| f.value_type(v));
        let region_sig = |b| f.is_live_body(b).then(|| f.region_sig(b));
        let inferred = f.infer_parts(parts, attrs, value_type, region_sig)?;
        let f = &mut self.function;
        let mut types: SmallVec<[TypeId; 2]> = SmallVec::new();
        for ty in &inferred {
            // Many results have the type of an operand, which is found faster.
            let like = parts.operands.iter().rev().find(|v| f.value_type(**v) == ty);
            types.push(match like {
                Some(value) => f.type_id(*value),
                None => f.types.intern(ty),
            });
        }
        let attrs = f.attrs.intern_slice(attrs);
        let (operands, regions) = (&parts.operands[..], &parts.regions[..]);
        let raw = RawInst { key: parts.key, attrs, operands, regions, types: &types, span };
        let inst = put(f, body, &raw);
        self.unproved.push(inst);
        Ok(inst)
    }

    /// Appends an instruction without regions whose result types are known by their [numbers](Self::type_id). Less is
    /// made for it than for [`append`](Self::append), and one that is like another is not inferred again.
    ///
    /// `None` if the body is ended, the attributes are not in the form in which they are kept, operands and attributes do
    /// not fit, or inference gives other types. Then nothing is changed, and `append` says why.
    #[inline]
    pub fn append_typed<const N: usize>(
        &mut self,
        body: BodyId,
        key: OpKey,
        attrs: [Attr; N],
        operands: &[ValueId],
        types: &[TypeId],
        span: Span,
    ) -> Option<InstId> {
        let attrs = self.function.attrs.intern_array(attrs);
        self.append_kind(body, &RawInst { key, attrs, operands, regions: &[], types, span })
    }

    /// The number that lists of these attributes have here, for [`append_numbered`](Self::append_numbered).
    pub fn attr_list<const N: usize>(&mut self, attrs: [Attr; N]) -> AttrId {
        self.function.attrs.intern_array(attrs)
    }

    /// The same for a list of any length.
    pub fn attr_slice(&mut self, attrs: &[Attr]) -> AttrId {
        self.function.attrs.intern_slice(attrs)
    }

    /// The same for a list of another function, which both have then.
    pub fn shared_attrs(&mut self, attrs: &AttrList) -> AttrId {
        self.function.attrs.intern(attrs)
    }

    /// The same as [`append_typed`](Self::append_typed) with the [number](Self::attr_list) of the attributes, and with
    /// regions.
    #[inline]
    pub fn append_numbered(
        &mut self,
        body: BodyId,
        (key, attrs): (OpKey, AttrId),
        operands: &[ValueId],
        regions: &[BodyId],
        types: &[TypeId],
        span: Span,
    ) -> Option<InstId> {
        self.append_kind(body, &RawInst { key, attrs, operands, regions, types, span })
    }

    fn append_kind(&mut self, body: BodyId, raw: &RawInst<'_>) -> Option<InstId> {
        if !raw.regions.is_empty() {
            self.check_regions(raw.regions).ok()?;
        }
        let f = &mut self.function;
        if !is_open(f, body) {
            return None;
        }
        // What stands before it in its own body is available.
        let mut near = raw.regions.is_empty();
        let mut one_type = near && raw.types.len() == 1;
        for &value in raw.operands {
            let data = f.values.get(value.index())?;
            one_type &= raw.types.first() == Some(&data.ty);
            if data.index & PARAM_BIT == 0 {
                let def = f.insts.get(data.def as usize).filter(|def| def.live)?;
                near &= def.parent == body;
            } else if f.is_live_value(value) {
                near &= data.def as usize == body.index();
            } else {
                return None;
            }
        }
        let dtype = if one_type { dtype_alone(f, raw) } else { None };
        let def = f.registry().get(raw.key)?;
        let known = dtype.is_some_and(|dtype| def.keeps(dtype, raw.operands.len()));
        let slot = if known { None } else { Some(self.fitted.slot(f, raw)) };
        if let Some(slot) = slot
            && !self.fitted.has(slot, f, raw)
        {
            if !fits(f, def, raw) {
                return None;
            }
            if let Some(dtype) = dtype {
                def.kept_once(dtype);
            }
        }
        let inst = put(f, body, raw);
        if let Some(slot) = slot {
            self.fitted.0[slot] = inst;
        }
        if !near {
            self.unproved.push(inst);
        }
        Some(inst)
    }

    // Bodies that are to become regions of one instruction: ended, and regions of none.
    fn check_regions(&self, regions: &[BodyId]) -> Result<(), OpError> {
        let f = &self.function;
        for (i, &region) in regions.iter().enumerate() {
            if !f.is_live_body(region) || region == f.body() || f.terminator(region).is_none() {
                return Err(OpError::new(format!("{region} is not a body with an end")));
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
            true => format!("{body} is ended, nothing goes after its end"),
            false => format!("{body} is not a body of this function"),
        }))
    }

    /// Appends an instruction like one that was appended before: op, attributes, result types and regions are the same,
    /// operands are these. What inference sees is the same, so it is not run again.
    ///
    /// `None` if the operands are not of the types of those of the other one, the body is ended, or the regions are more
    /// than a few instructions that use nothing from around them. Then nothing is changed.
    pub fn append_like(
        &mut self,
        body: BodyId,
        like: InstId,
        operands: &[ValueId],
        span: Span,
    ) -> Option<InstId> {
        let f = &mut self.function;
        if !is_open(f, body) {
            return None;
        }
        let data = f.insts.get(like.index()).filter(|data| data.live)?;
        let (key, attrs, results) = (data.key, data.attrs, data.result_len as usize);
        let same = |a, b| f.is_live_value(a) && f.type_id(a) == f.type_id(b);
        if !alike(operands, f.operands(like), same) {
            return None;
        }
        let regions = match f.regions(like).is_empty() {
            true => SmallVec::new(),
            false => self.repeat_regions(like, span)?,
        };
        let f = &mut self.function;
        let mut types: SmallVec<[TypeId; 4]> = SmallVec::with_capacity(results);
        f.inst_results(like).for_each(|v| types.push(f.type_id(v)));
        let raw = RawInst { key, attrs, operands, regions: &regions, types: &types, span };
        let inst = put(f, body, &raw);
        self.unproved.push(inst);
        Some(inst)
    }

    /// The same as [`append_like`](Self::append_like) for an instruction of another function that was verified. It must
    /// have no regions.
    pub fn append_like_in(
        &mut self,
        body: BodyId,
        other: &Function,
        like: InstId,
        operands: &[ValueId],
        span: Span,
    ) -> Option<InstId> {
        let f = &mut self.function;
        if !is_open(f, body)
            || !other.is_live(like)
            || !other.regions(like).is_empty()
            || !Arc::ptr_eq(f.registry(), other.registry())
        {
            return None;
        }
        let same = |a, b| f.is_live_value(a) && f.value_type(a) == other.value_type(b);
        if !alike(operands, other.operands(like), same) {
            return None;
        }
        let mut types: SmallVec<[TypeId; 4]> = SmallVec::new();
        for value in other.inst_results(like) {
            types.push(f.types.intern(other.value_type(value)));
        }
        let attrs = f.attrs.intern(other.attrs(like));
        let key = other.op_key(like);
        let raw = RawInst { key, attrs, operands, regions: &[], types: &types, span };
        let inst = put(f, body, &raw);
        self.unproved.push(inst);
        Some(inst)
    }

    // Copies of small regions that use nothing from around them.
    fn repeat_regions(&mut self, like: InstId, span: Span) -> Option<SmallVec<[BodyId; 2]>> {
        let f = &self.function;
        let mut left = MAX_REPEATED;
        for &region in f.regions(like) {
            for inst in f.body_insts(region) {
                left = left.checked_sub(1)?;
                let inside = |&v: &ValueId| match f.value_def(v) {
                    ValueDef::Param(home, _) => home == region,
                    ValueDef::Result(def, _) => f.body_of(def) == Some(region),
                };
                if !f.regions(inst).is_empty() || !f.operands(inst).iter().all(inside) {
                    return None;
                }
            }
        }
        let regions: SmallVec<[BodyId; 2]> = SmallVec::from_slice(f.regions(like));
        Some(regions.into_iter().map(|region| self.repeat_region(region, span)).collect())
    }

    fn repeat_region(&mut self, region: BodyId, span: Span) -> BodyId {
        let f = &mut self.function;
        let body = f.create_body();
        let mut map: SmallVec<[(ValueId, ValueId); 8]> = SmallVec::new();
        for i in 0..f.body_params(region).len() {
            let param = f.body_params(region)[i];
            map.push((param, f.push_param_id(body, f.type_id(param))));
        }
        let mut at = f.first_inst(region);
        while let Some(inst) = at {
            let new =
                |v: &ValueId| map.iter().find(|(old, _)| old == v).map_or(*v, |(_, new)| *new);
            let operands: SmallVec<[ValueId; 4]> = f.operands(inst).iter().map(new).collect();
            let types: SmallVec<[TypeId; 2]> = f.inst_results(inst).map(|v| f.type_id(v)).collect();
            let (key, attrs) = (f.op_key(inst), f.attr_id(inst));
            let raw =
                RawInst { key, attrs, operands: &operands, regions: &[], types: &types, span };
            let copy = put(f, body, &raw);
            map.extend(f.inst_results(inst).zip(f.inst_results(copy)));
            at = f.next_inst(inst);
        }
        body
    }

    /// The function, put in order and verified: what [`append`](Self::append) saw of each instruction is not looked at
    /// again, where values are available and how bodies end is. `results` are the types that it states.
    ///
    /// # Errors
    /// With all problems found.
    pub fn finish(mut self, results: &[ValueType]) -> Result<Function, Diagnostics> {
        let results = results.iter().map(|ty| self.function.types.intern(ty)).collect();
        self.finish_typed(results)
    }

    /// The same with the [numbers](Self::type_id) of the types of results.
    ///
    /// # Errors
    /// With all problems found.
    pub fn finish_typed(mut self, results: Vec<TypeId>) -> Result<Function, Diagnostics> {
        let f = &mut self.function;
        let loose = (1..f.body_capacity())
            .map(BodyId::new)
            .find(|&b| f.is_live_body(b) && f.body_owner(b).is_none());
        if let Some(body) = loose {
            let message = format!("{body} of @{} is a region of no instruction", f.name());
            return Err(Diagnostic::error(f.span(), message).into());
        }
        f.set_result_ids(results);
        f.renumber(f.body());
        match self.stale {
            true => crate::verify::verify_function(f)?,
            false => crate::verify::verify_written(f, &self.unproved)?,
        }
        Ok(self.function)
    }
}

// Whether a body exists and has no end yet.
#[inline]
fn is_open(f: &Function, body: BodyId) -> bool {
    let Some(data) = f.bodies.get(body.index()).filter(|data| data.live) else { return false };
    let ends = |last: InstId| f.op_def(last).is_some_and(|def| def.terminator);
    !data.last.some().is_some_and(ends)
}

// Makes an instruction, the last one of a body.
#[inline]
fn put(f: &mut Function, body: BodyId, raw: &RawInst<'_>) -> InstId {
    let inst = f.create_raw(raw);
    f.link_last(inst, body);
    inst
}

// Whether there are as many operands as others, each the same as the other in its place.
fn alike(
    operands: &[ValueId],
    others: &[ValueId],
    same: impl Fn(ValueId, ValueId) -> bool,
) -> bool {
    operands.len() == others.len() && operands.iter().zip(others).all(|(&a, &b)| same(a, b))
}

// The element type of the only result of an instruction without attributes.
#[inline]
fn dtype_alone(f: &Function, raw: &RawInst<'_>) -> Option<DataType> {
    let tensor = f.types.get(*raw.types.first()?).as_tensor()?;
    f.attrs.get(raw.attrs).is_empty().then_some(tensor.dtype)
}

// Whether inference gives these result types.
fn fits(f: &Function, def: &OpDef, raw: &RawInst<'_>) -> bool {
    let attrs = &f.attrs.get(raw.attrs)[..];
    // A constant is of the type of what it holds.
    if let ([Attr::Literal(literal)], [], &[ty]) = (attrs, raw.operands, raw.types)
        && raw.key == Constant::key()
    {
        let tensor = f.types.get(ty).as_tensor();
        return raw.regions.is_empty() && tensor.is_some_and(|ty| literal.is_of(ty));
    }
    if !def.holds(attrs) {
        return false;
    }
    let mut cx = InferCx {
        def,
        attrs,
        operands: SmallVec::new(),
        regions: SmallVec::new(),
        given: SmallVec::new(),
    };
    raw.operands.iter().for_each(|&v| cx.operands.push(f.value_type(v)));
    raw.types.iter().for_each(|&ty| cx.given.push(f.types.get(ty)));
    raw.regions.iter().for_each(|&b| cx.regions.push(f.region_sig(b)));
    infer_checked(&cx).is_ok_and(|inferred| inferred.iter().eq(cx.given.iter().copied()))
}
