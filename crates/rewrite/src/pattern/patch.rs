//! A patch: the instructions that a pattern stages, inserted only if the pattern matches.

use std::cell::Cell;

use sapwood_ptir::{
    BodyId, Function, InstId, OpParts, TensorLiteral, ValueDef, ValueId, ValueType,
};
use sapwood_types::counted;
use smallvec::SmallVec;

use super::moved_region::MovedRegion;
use super::patch_builder::BuiltGraph;
use crate::FloatMode;
use crate::rewriter::{ProgramRewriter, RewriteError, refines};

/// The instructions to insert before a root. Their results have provisional ids, above all ids of the function.
#[derive(Default)]
pub(crate) struct Patch {
    base: usize,
    staged: Vec<StagedInst>,
    types: Vec<ValueType>,
    // The bodies that will be spliced in before the root, so that their values may be used.
    inlined: Vec<BodyId>,
    // If the root stays: the values of the root or of its regions whose uses become uses of others.
    forwards: Vec<(ValueId, ValueId)>,
    // If the root stays: parameters of its regions, with types that have more known dims.
    narrowings: Vec<(ValueId, ValueType)>,
    // The instruction before which the staged ones are inserted, if that is not the root.
    place: Option<InstId>,
    // Other instructions with one result that are replaced too, and their replacements.
    also: Vec<(InstId, ValueId)>,
    // True if the pattern ended its search early.
    pub(crate) search_ended_early: bool,
    // True if the float mode, if it were freer, might have changed the result of the pattern.
    pub(crate) asked_float_mode: Cell<bool>,
    // The float mode that the pattern needs at a place where it matches in every other respect.
    pub(crate) needed_float_mode: Option<FloatMode>,
    // The last instruction that the pattern could not stage.
    pub(crate) refused: Option<Box<RefusedInst>>,
}

/// An instruction that a pattern could not stage.
pub(crate) struct RefusedInst {
    /// Its op; `None` if it is one that the builder DSL recorded.
    pub(crate) op: Option<&'static str>,
    /// The reason.
    pub(crate) reason: String,
}

enum StagedInst {
    Op(Box<OpParts>, SmallVec<[MovedRegion; 0]>),
    Constant(TensorLiteral),
    // A body with the arguments that replace its parameters.
    Inline(BodyId, SmallVec<[ValueId; 4]>),
    Built(Box<BuiltGraph>),
}

/// The reason why a patch cannot be applied.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
pub(crate) enum PatchError {
    #[error("it returns {found} value(s) for {expected} result(s)")]
    Count { expected: usize, found: usize },
    #[error("it returns a value of type {found} for a result of type {expected}")]
    Type { expected: Box<ValueType>, found: Box<ValueType> },
    #[error("it returns a value of type {found} for a parameter of type {expected}")]
    ParamType { expected: Box<ValueType>, found: Box<ValueType> },
    #[error("it replaces `{0}` by itself")]
    ReplacesItself(&'static str),
    #[error("it replaces `{0}`, which is a terminator and cannot be erased")]
    Terminator(&'static str),
    #[error("it emits `{0}` before the root, but `{0}` can only end a body")]
    StagedTerminator(&'static str),
    #[error("it uses {0}, which is not available at the root")]
    NotAvailable(ValueId),
    #[error("it takes {0}, which is not a region of the root or is taken already")]
    Region(BodyId),
    #[error(
        "it forwards {0}, which is neither a result of the root nor a parameter of its regions"
    )]
    Forward(ValueId),
    #[error("its value has dims that a user of the result does not accept")]
    Narrowing,
    #[error("it removes a parameter or result that the region does not have")]
    NoSuchParamOrResult,
    #[error(transparent)]
    Edit(#[from] RewriteError),
}

impl PatchError {
    /// Returns true if types differ only in the dims that are known. That depends on the program, not on the pattern, so the
    /// pattern does not match there.
    pub(crate) fn differs_only_in_dims(&self) -> bool {
        match self {
            Self::Type { expected, found } | Self::ParamType { expected, found } => {
                expected.compatible(found)
            }
            Self::Narrowing => true,
            _ => false,
        }
    }
}

impl StagedInst {
    fn operands(&self) -> &[ValueId] {
        match self {
            Self::Op(parts, _) => &parts.operands,
            Self::Inline(_, args) => args,
            Self::Built(built) => built.args(),
            Self::Constant(_) => &[],
        }
    }
}

impl Patch {
    /// Empties the patch for another attempt.
    pub(crate) fn reset(&mut self, f: &Function) {
        self.base = f.value_capacity();
        self.staged.clear();
        self.types.clear();
        self.inlined.clear();
        self.forwards.clear();
        self.narrowings.clear();
        self.place = None;
        self.also.clear();
        self.search_ended_early = false;
        self.asked_float_mode.set(false);
        self.needed_float_mode = None;
        self.refused = None;
    }

    /// Records that an instruction does not fit.
    pub(super) fn refuse<T>(&mut self, op: Option<&'static str>, reason: String) -> Option<T> {
        self.refused = Some(Box::new(RefusedInst { op, reason }));
        None
    }

    /// Stages replacements of other instructions, each with one result. All staged instructions are inserted before `place`.
    pub(super) fn replace_also(&mut self, place: InstId, also: Vec<(InstId, ValueId)>) {
        self.place = Some(place);
        self.also = also;
    }

    /// Stages forwarding: the root stays, and uses of the first value of each pair become uses of the second.
    pub(super) fn forward(&mut self, pairs: impl Iterator<Item = (ValueId, ValueId)>) -> bool {
        self.forwards.extend(pairs);
        !self.forwards.is_empty()
    }

    /// Stages narrowing: the root stays, and parameters of its regions get types with more known dims.
    pub(super) fn narrow(&mut self, types: Vec<(ValueId, ValueType)>) -> bool {
        self.narrowings = types;
        !self.narrowings.is_empty()
    }

    /// Returns the other instructions that the patch replaces.
    pub(crate) fn also_replaced(&self) -> &[(InstId, ValueId)] {
        &self.also
    }

    /// Returns true if the patch only inserts instructions without regions and replaces the root: then it cannot fail once it is checked.
    pub(crate) fn has_no_regions(&self) -> bool {
        self.also.is_empty() && self.inserts_no_regions()
    }

    /// Returns true if the patch inserts instructions without regions, and does nothing else except replacing instructions.
    pub(crate) fn inserts_no_regions(&self) -> bool {
        let simple = |staged: &StagedInst| match staged {
            StagedInst::Op(parts, _) => parts.regions.is_empty(),
            StagedInst::Constant(_) => true,
            StagedInst::Inline(..) | StagedInst::Built(_) => false,
        };
        self.forwards.is_empty() && self.narrowings.is_empty() && self.staged.iter().all(simple)
    }

    /// Returns the type of a value, provisional or not.
    pub(crate) fn type_of<'a>(&'a self, f: &'a Function, value: ValueId) -> Option<&'a ValueType> {
        match value.index().checked_sub(self.base) {
            Some(n) => self.types.get(n),
            None => f.is_live_value(value).then(|| f.value_type(value)),
        }
    }

    /// Returns the values of the function that the staged instructions and the replacement values use, sorted.
    pub(crate) fn uses(&self, values: &[ValueId]) -> Vec<ValueId> {
        let operands = self.staged.iter().flat_map(StagedInst::operands);
        let mut uses: Vec<ValueId> = operands.chain(values).copied().collect();
        uses.retain(|&value| !self.is_provisional(value));
        uses.sort_unstable();
        uses.dedup();
        uses
    }

    /// Returns the staged instructions that are not constants.
    pub(crate) fn staged_ops(&self) -> impl Iterator<Item = &OpParts> {
        self.staged.iter().filter_map(|staged| match staged {
            StagedInst::Op(parts, _) => Some(&**parts),
            _ => None,
        })
    }

    /// Returns the literals of the staged constants.
    pub(crate) fn staged_constants(&self) -> impl Iterator<Item = &TensorLiteral> {
        self.staged.iter().filter_map(|staged| match staged {
            StagedInst::Constant(literal) => Some(literal),
            _ => None,
        })
    }

    pub(crate) fn is_provisional(&self, value: ValueId) -> bool {
        value.index() >= self.base
    }

    fn new_provisional(&mut self, ty: ValueType) -> ValueId {
        let id = ValueId::from_index(self.base + self.types.len());
        self.types.push(ty);
        id
    }

    /// Returns the literal of a staged constant.
    pub(crate) fn constant_of(&self, value: ValueId) -> Option<&TensorLiteral> {
        let mut at = value.index().checked_sub(self.base)?;
        for staged in &self.staged {
            let count = match staged {
                StagedInst::Op(parts, _) => parts.result_types.len(),
                StagedInst::Constant(literal) if at == 0 => return Some(literal),
                StagedInst::Constant(_) => 1,
                StagedInst::Inline(..) => 0,
                StagedInst::Built(built) => built.result_types().len(),
            };
            at = at.checked_sub(count)?;
        }
        None
    }

    /// Stages an instruction, if its parts fit together and, where `count` is given, it has that number of results. Otherwise
    /// nothing is staged, and the reason is recorded.
    pub(crate) fn emit(
        &mut self,
        f: &Function,
        parts: OpParts,
        moved: &[MovedRegion],
        count: Option<usize>,
    ) -> Option<SmallVec<[ValueId; 4]>> {
        let mut parts = Box::new(parts);
        if let Err(error) = f.normalize_attrs(&mut parts) {
            return self.refuse(Some(parts.key.name()), error.message);
        }
        let region_signature = |b| {
            let edited = moved.iter().find(|m| m.body() == b);
            let sig = || edited.map_or_else(|| f.region_signature(b), |m| m.new_signature(f));
            f.is_live_body(b).then(sig)
        };
        parts.result_types = match f.infer_parts(&parts, |v| self.type_of(f, v), region_signature) {
            Ok(types) if count.is_none_or(|count| count == types.len()) => types,
            Ok(types) => {
                let reason = format!("it has {}, expected one", counted(types.len(), "result"));
                return self.refuse(Some(parts.key.name()), reason);
            }
            Err(error) => return self.refuse(Some(parts.key.name()), error.message),
        };
        let results = parts.result_types.clone().into_iter().map(|ty| self.new_provisional(ty));
        let results = results.collect();
        self.staged.push(StagedInst::Op(parts, moved.iter().cloned().collect()));
        Some(results)
    }

    pub(crate) fn stage_constant(&mut self, literal: TensorLiteral) -> ValueId {
        let value = self.new_provisional(literal.ty().into());
        self.staged.push(StagedInst::Constant(literal));
        value
    }

    /// Stages the instructions of a built graph before the root, and returns its results.
    pub(super) fn stage_graph(&mut self, built: BuiltGraph) -> SmallVec<[ValueId; 4]> {
        let types = built.result_types();
        self.staged.push(StagedInst::Built(Box::new(built)));
        types.into_iter().map(|ty| self.new_provisional(ty)).collect()
    }

    /// Stages the instructions of a region of the root before it, and returns the yielded values.
    pub(crate) fn inline(
        &mut self,
        f: &Function,
        root: InstId,
        body: BodyId,
        args: &[ValueId],
    ) -> Option<SmallVec<[ValueId; 4]>> {
        let params = f.body_params(body);
        if f.body_owner(body) != Some(root) || params.len() != args.len() {
            return None;
        }
        let same = |(p, a): (&ValueId, &ValueId)| {
            self.type_of(f, *a).is_some_and(|ty| ty == f.value_type(*p))
        };
        if self.inlined.contains(&body) || !params.iter().zip(args).all(same) {
            return None;
        }
        // Of several regions, one that would not have run is inlined too.
        let stops = |&body: &BodyId| f.body_insts(body).any(|inst| f.may_stop(inst));
        if !self.inlined.is_empty() && (stops(&body) || self.inlined.iter().any(stops)) {
            return None;
        }
        let yielded = f.operands(f.terminator(body)?);
        let through = |v: &ValueId| match f.value_def(*v) {
            ValueDef::Param(of, n) if of == body => args[n],
            _ => *v,
        };
        self.inlined.push(body);
        self.staged.push(StagedInst::Inline(body, SmallVec::from_slice(args)));
        Some(yielded.iter().map(through).collect())
    }

    /// Checks everything that [`apply`](Self::apply) needs to succeed. Returns whether a value has more known dims than the result that it
    /// replaces: then the users of the result may still refuse the type.
    pub(crate) fn check(
        &self,
        f: &Function,
        root: InstId,
        values: &[ValueId],
    ) -> Result<bool, PatchError> {
        let mut narrows = false;
        let results = f.inst_results(root);
        if f.op_def(root).is_some_and(|def| def.terminator) {
            return Err(PatchError::Terminator(f.op_name(root)));
        }
        let own = |v: ValueId| !self.is_provisional(v) && f.inst_of(v) == Some(root);
        // The root stays, and so do its results.
        let edits_root = !self.forwards.is_empty() || !self.narrowings.is_empty();
        let stays = edits_root && values.is_empty();
        if results.len() != values.len() && !stays {
            return Err(PatchError::Count { expected: results.len(), found: values.len() });
        }
        for (result, &value) in results.clone().zip(values) {
            let Some(found) = self.type_of(f, value) else {
                return Err(PatchError::NotAvailable(value));
            };
            let expected = f.value_type(result);
            if found != expected && refines(found, expected) {
                narrows = true;
            } else if found != expected {
                let (expected, found) = (Box::new(expected.clone()), Box::new(found.clone()));
                return Err(PatchError::Type { expected, found });
            }
            // A result may replace itself if the root stays, or if it is unused.
            let itself = || f.unused(result) && !self.staged.is_empty();
            if value == result && (!self.forwards.is_empty() || itself()) {
                continue;
            }
            if own(value) {
                return Err(PatchError::ReplacesItself(f.op_name(root)));
            }
        }
        let ends_body = |staged: &StagedInst| match staged {
            StagedInst::Op(parts, _) => f.registry().get(parts.key).filter(|def| def.terminator),
            StagedInst::Constant(_) | StagedInst::Inline(..) | StagedInst::Built(_) => None,
        };
        if let Some(def) = self.staged.iter().find_map(ends_body) {
            return Err(PatchError::StagedTerminator(def.name));
        }
        let regions = self.staged.iter().flat_map(|staged| match staged {
            StagedInst::Op(parts, _) => &parts.regions[..],
            StagedInst::Constant(_) | StagedInst::Inline(..) | StagedInst::Built(_) => &[],
        });
        for (n, &body) in regions.clone().enumerate() {
            let twice = regions.clone().take(n).any(|&b| b == body);
            if f.body_owner(body) != Some(root) || twice || self.inlined.contains(&body) {
                return Err(PatchError::Region(body));
            }
        }
        if self.rebuilds_root(f, root, values) {
            return Err(PatchError::ReplacesItself(f.op_name(root)));
        }
        let operands = self.staged.iter().flat_map(StagedInst::operands);
        let edits = self.staged.iter().flat_map(|staged| match staged {
            StagedInst::Op(_, moved) => &moved[..],
            StagedInst::Inline(..) | StagedInst::Constant(_) | StagedInst::Built(_) => &[],
        });
        edits.clone().try_for_each(|m| m.check(f, |v| self.type_of(f, v)))?;
        self.check_forwards(f, root)?;
        // A parameter or result of the root may also become another of the same region, or of the root.
        let is_sibling = |from: ValueId, to: ValueId| match (f.value_def(from), f.value_def(to)) {
            (ValueDef::Param(a, _), ValueDef::Param(b, _)) => a == b,
            (ValueDef::Result(a, _), ValueDef::Result(b, _)) => a == b,
            _ => false,
        };
        let forwards = self
            .forwards
            .iter()
            .filter(|&&(from, to)| self.is_provisional(to) || !is_sibling(from, to));
        let forwards = forwards.map(|&(_, to)| to);
        let replacing = edits.flat_map(|m| m.replacements(f)).chain(forwards);
        let values = values.iter().filter(|v| !own(**v));
        let place = self.place.unwrap_or(root);
        for &(inst, value) in &self.also {
            let found = self.type_of(f, value).ok_or(PatchError::NotAvailable(value))?;
            let Some(result) = f.value_of(inst) else {
                return Err(PatchError::Count { expected: f.inst_results(inst).len(), found: 1 });
            };
            let expected = f.value_type(result);
            if found != expected {
                let (expected, found) = (Box::new(expected.clone()), Box::new(found.clone()));
                return Err(PatchError::Type { expected, found });
            }
        }
        let others = self.also.iter().map(|&(_, value)| value);
        for value in operands.chain(values).copied().chain(replacing).chain(others) {
            if !self.is_provisional(value) && !self.is_available(f, place, value) {
                return Err(PatchError::NotAvailable(value));
            }
        }
        Ok(narrows)
    }

    fn check_forwards(&self, f: &Function, root: InstId) -> Result<(), PatchError> {
        for &(from, to) in &self.forwards {
            let owner = match f.value_def(from) {
                ValueDef::Result(inst, _) => Some(inst),
                ValueDef::Param(body, _) => f.body_owner(body),
            };
            if owner != Some(root) {
                return Err(PatchError::Forward(from));
            }
            let found = self.type_of(f, to).ok_or(PatchError::NotAvailable(to))?;
            let expected = f.value_type(from);
            if found != expected {
                let (expected, found) = (Box::new(expected.clone()), Box::new(found.clone()));
                return Err(PatchError::Type { expected, found });
            }
        }
        Ok(())
    }

    fn is_available(&self, f: &Function, root: InstId, value: ValueId) -> bool {
        f.is_live_value(value)
            && (f.is_available_to(value, root)
                || f.inst_of(value)
                    .and_then(|i| f.body_of(i))
                    .is_some_and(|b| self.inlined.contains(&b)))
    }

    // Returns true if the patch only rebuilds the root.
    fn rebuilds_root(&self, f: &Function, root: InstId, values: &[ValueId]) -> bool {
        let [StagedInst::Op(parts, moved)] = &self.staged[..] else { return false };
        parts.key == f.op_key(root)
            && parts.operands[..] == *f.operands(root)
            && parts.attrs[..] == f.attrs(root)[..]
            && parts.regions[..] == *f.regions(root)
            && moved.iter().all(|m| *m == MovedRegion::new(m.body()))
            && values.iter().enumerate().all(|(n, v)| v.index() == self.base + n)
    }

    /// Inserts the instructions and replaces the results of the root by the values, or forwards the staged pairs.
    pub(crate) fn apply(
        &mut self,
        rw: &mut ProgramRewriter<'_>,
        root: InstId,
        values: &[ValueId],
    ) -> Result<(), PatchError> {
        let mut real: SmallVec<[ValueId; 8]> = SmallVec::new();
        let base = self.base;
        let place = sapwood_ptir::InsertPoint::Before(self.place.unwrap_or(root));
        for staged in self.staged.drain(..) {
            let resolve = |v: &mut ValueId, real: &[ValueId]| {
                if let Some(&known) = v.index().checked_sub(base).and_then(|n| real.get(n)) {
                    *v = known;
                }
            };
            match staged {
                StagedInst::Constant(literal) => real.push(rw.materialize_constant(root, &literal)),
                StagedInst::Op(mut parts, moved) => {
                    parts.operands.iter_mut().for_each(|v| resolve(v, &real));
                    for mut region in moved {
                        region.map_values(|v| resolve(v, &real));
                        region.apply(rw)?;
                    }
                    let span = rw.function().inst_span(root);
                    let inst = match parts.regions.is_empty() {
                        true => rw.insert_resolved(place, &parts, span)?,
                        false => rw.insert_with_regions_of(root, &parts, span)?,
                    };
                    real.extend(rw.function().inst_results(inst));
                }
                StagedInst::Built(mut built) => {
                    built.args_mut().iter_mut().for_each(|v| resolve(v, &real));
                    real.extend(built.apply(rw, root)?);
                }
                StagedInst::Inline(body, mut args) => {
                    args.iter_mut().for_each(|v| resolve(v, &real));
                    rw.inline_body(body, &args, place)?;
                }
            }
        }
        let value = |v: &ValueId| match v.index().checked_sub(base) {
            Some(n) => real[n],
            None => *v,
        };
        if !self.forwards.is_empty() {
            for (from, to) in self.forwards.drain(..) {
                rw.forward_uses(root, from, value(&to))?;
            }
            return Ok(());
        }
        if !self.narrowings.is_empty() {
            for (param, ty) in self.narrowings.drain(..) {
                rw.narrow_type(param, &ty).map_err(|_| PatchError::Narrowing)?;
            }
            return rw.narrow_results(root).map_err(|_| PatchError::Narrowing);
        }
        let values: SmallVec<[ValueId; 4]> = values.iter().map(value).collect();
        let f = rw.function();
        let results: SmallVec<[ValueId; 4]> = f.inst_results(root).collect();
        for (result, &value) in results.into_iter().zip(&values) {
            let f = rw.function();
            if f.type_id(result) != f.type_id(value) {
                let ty = f.value_type(value).clone();
                rw.narrow_type(result, &ty).map_err(|_| PatchError::Narrowing)?;
            }
        }
        for (inst, by) in self.also.drain(..) {
            rw.replace_inst(inst, &[value(&by)])?;
        }
        rw.replace_inst(root, &values)?;
        Ok(())
    }
}
