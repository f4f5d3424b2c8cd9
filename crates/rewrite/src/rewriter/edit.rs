//! The edits of the rewriter.

use sapwood_ptir::{
    Attr, AttrList, BodyId, EditError, Function, InsertPoint, InstId, Op, OpError, OpParts,
    ValueId, ValueType,
};
use sapwood_types::Span;
use smallvec::SmallVec;

use super::{EditEvent, ProgramRewriter, RewriteError, StepKind};

type EditResult<T> = Result<T, RewriteError>;

impl ProgramRewriter<'_> {
    /// Inserts an instruction right before another and returns it with its first result.
    ///
    /// # Errors
    /// If the op is not in the function's registry, its parts do not fit together, it has no result, or an operand is not
    /// available there.
    pub fn insert_before<T: Op>(&mut self, at: InstId, op: T) -> EditResult<(InstId, ValueId)> {
        let parts = op.into_parts();
        let name = parts.key.name();
        if self.function.registry().get(parts.key).is_none() {
            let error = OpError::new("the registry of the function does not have this op");
            return Err(RewriteError::Op { op: name, error });
        }
        let parts = self.resolve(&parts)?;
        if parts.result_types.is_empty() {
            return Err(RewriteError::Count { op: name, expected: 1, found: 0 });
        }
        let inst = self.insert_resolved(InsertPoint::Before(at), &parts, Span::unknown())?;
        match self.function.value_of(inst) {
            Some(value) => Ok((inst, value)),
            None => unreachable!("{name} has one result per inferred type"),
        }
    }

    /// Inserts an instruction of any op at a place. Its result types are inferred.
    ///
    /// # Errors
    /// If the parts do not fit together, or an operand is not available there.
    pub fn insert_parts(&mut self, place: InsertPoint, parts: &OpParts) -> EditResult<InstId> {
        let parts = self.resolve(parts)?;
        self.insert_resolved(place, &parts, Span::unknown())
    }

    fn resolve(&self, parts: &OpParts) -> EditResult<OpParts> {
        let refused = |error| RewriteError::Op { op: parts.key.name(), error };
        self.function.resolve_parts(parts).map_err(refused)
    }

    // Inserts an instruction with the result types that its parts list.
    pub(crate) fn insert_resolved(
        &mut self,
        place: InsertPoint,
        parts: &OpParts,
        span: Span,
    ) -> EditResult<InstId> {
        let inst = self.function.insert(place, parts, span)?;
        self.notify(EditEvent::Inserted(inst));
        Ok(inst)
    }

    /// Inserts an instruction right before another one and moves the regions over. The other one must be replaced and erased next.
    pub(crate) fn insert_with_regions_of(
        &mut self,
        from: InstId,
        parts: &OpParts,
        span: Span,
    ) -> EditResult<InstId> {
        let f = &*self.function;
        let mut had = f.regions(from).iter();
        let moved: SmallVec<[BodyId; 2]> = match parts.regions[..] {
            _ if parts.regions.iter().all(|b| had.any(|h| h == b)) => SmallVec::new(),
            [a, b] if f.regions(from).len() == 2 => SmallVec::from_slice(&[f.smaller_body(a, b)]),
            _ => parts.regions.clone(),
        };
        let inst = self.function.insert_with_regions_of(from, parts, span)?;
        self.notify(EditEvent::Inserted(inst));
        if self.changes.is_logging() {
            let f = &*self.function;
            let inside: Vec<InstId> = moved.iter().flat_map(|&b| f.walk_body(b)).collect();
            for inst in inside {
                self.notify(EditEvent::Moved(inst));
            }
        }
        Ok(inst)
    }

    /// Replaces the values that a region yields. The owner of the region is about to be replaced by one that fits.
    pub(crate) fn set_yields(&mut self, end: InstId, yields: &[ValueId]) -> EditResult<()> {
        let old: SmallVec<[ValueId; 4]> = SmallVec::from_slice(self.function.operands(end));
        self.function.set_operands(end, yields)?;
        self.notify(EditEvent::Changed(end));
        for value in old {
            self.notify(EditEvent::UsesRemoved(value));
        }
        Ok(())
    }

    /// Removes unused parameters of a region. The owner of the region is about to be replaced by one that fits.
    pub(crate) fn drop_params(&mut self, body: BodyId, indices: &[usize]) -> EditResult<()> {
        Ok(self.function.remove_params(body, indices)?)
    }

    /// Replaces every use of one value by another, including uses in terminators and in nested regions.
    ///
    /// # Errors
    /// If the types differ or the value is not available at one of the uses.
    pub fn replace_all_uses(&mut self, from: ValueId, to: ValueId) -> EditResult<()> {
        if from == to && self.function.is_live_value(from) {
            return Ok(());
        }
        let mut users: SmallVec<[InstId; 8]> = SmallVec::new();
        if self.function.is_live_value(from) {
            self.function.uses(from).for_each(|u| users.push(u.user));
        }
        // The value table reads the changes in this order, and name hints are passed on in it. So it must be the order of the
        // program, not that of the list of uses, which depends on the history of edits.
        if self.changes.is_logging() {
            let f = &*self.function;
            users.sort_unstable_by_key(|&user| f.order_key(user));
        }
        // If the edit is refused, this is harmless: the recorded operands are examined once more.
        self.memo.before_uses_change(self.function, from);
        self.function.replace_all_uses(from, to)?;
        for user in users {
            self.notify(EditEvent::Affected(user));
        }
        self.notify(EditEvent::Replaced(from, to));
        self.notify(EditEvent::UsesRemoved(from));
        Ok(())
    }

    /// Replaces every use of a value that an instruction or its regions define; the instruction stays. The span and the name
    /// hint of a result move to the new value.
    pub(crate) fn forward_uses(
        &mut self,
        inst: InstId,
        from: ValueId,
        to: ValueId,
    ) -> EditResult<()> {
        if self.function.inst_of(from) == Some(inst) {
            self.inherit_metadata(inst, from, to);
        }
        self.replace_all_uses(from, to)
    }

    /// Replaces the results of an instruction by values, one each, and erases it. Its span and name hints move to the
    /// instructions that define the values, if those have none.
    ///
    /// # Errors
    /// If the number of values or a type differs, or a value is not available. Then nothing is changed.
    pub fn replace_inst(&mut self, inst: InstId, values: &[ValueId]) -> EditResult<()> {
        self.check_replace_inst(inst, values)?;
        self.replace_checked_inst(inst, values)
    }

    /// Replaces an instruction as [`replace_inst`](Self::replace_inst) does, as a step of its own. If the edit is refused, the listeners
    /// are not notified of the step.
    pub(crate) fn replace_inst_as_step(
        &mut self,
        kind: StepKind<'_>,
        inst: InstId,
        values: &[ValueId],
    ) -> EditResult<()> {
        self.check_replace_inst(inst, values)?;
        self.notify_step(kind, inst);
        self.replace_checked_inst(inst, values)
    }

    /// Checks that [`replace_inst`](Self::replace_inst) would succeed.
    pub(super) fn check_replace_inst(&self, inst: InstId, values: &[ValueId]) -> EditResult<()> {
        let f = &*self.function;
        if !f.is_live(inst) {
            return Err(EditError::NoSuchInst(inst).into());
        }
        let results = f.inst_results(inst);
        if results.len() != values.len() {
            let (expected, found) = (results.len(), values.len());
            return Err(RewriteError::Count { op: f.op_name(inst), expected, found });
        }
        let unused = |(result, v): &(ValueId, &ValueId)| *result == **v && f.unused(**v);
        let mut kept = results.clone().zip(values).filter(|pair| !unused(pair));
        let own = |v: ValueId| f.is_live_value(v) && f.inst_of(v) == Some(inst);
        if let Some((_, &own)) = kept.find(|(_, v)| own(**v)) {
            let uses = f.uses(own).count();
            return Err(EditError::StillUsed { op: f.op_name(inst), value: own, uses }.into());
        }
        self.check_replacements(inst, values)
    }

    // Replaces an instruction after `check_replace_inst`.
    fn replace_checked_inst(&mut self, inst: InstId, values: &[ValueId]) -> EditResult<()> {
        if self.can_skip_events() {
            return self.replace_inst_fast(inst, values);
        }
        let results = self.function.inst_results(inst);
        for (from, &to) in results.zip(values).filter(|(from, to)| from != *to) {
            self.inherit_metadata(inst, from, to);
            self.replace_all_uses(from, to)?;
        }
        self.erase_inst(inst)?;
        // A value that replaces an unused result may be new and unused too.
        for &value in values {
            if self.function.is_live_value(value) && self.function.unused(value) {
                self.notify(EditEvent::UsesRemoved(value));
            }
        }
        Ok(())
    }

    // Returns true if only the change tracker must be notified, and no transaction is open.
    pub(super) fn can_skip_events(&self) -> bool {
        self.listeners.is_empty() && !self.function.has_journal()
    }

    // The fast path of `replace_inst` after its checks: notifies only the change tracker.
    fn replace_inst_fast(&mut self, inst: InstId, values: &[ValueId]) -> EditResult<()> {
        self.changes.tick();
        for (from, &to) in self.function.inst_results(inst).zip(values) {
            if from == to {
                continue;
            }
            self.inherit_metadata(inst, from, to);
            if self.changes.is_logging() {
                // In program order, for the reason given in `replace_all_uses`.
                let f = &*self.function;
                let mut users: SmallVec<[InstId; 8]> = f.uses(from).map(|u| u.user).collect();
                users.sort_unstable_by_key(|&user| f.order_key(user));
                users.into_iter().for_each(|user| self.changes.mark_changed(user));
            } else if self.changes.is_enabled() {
                self.function.uses(from).for_each(|u| self.changes.mark_changed(u.user));
            }
            self.memo.before_uses_change(self.function, from);
            self.function.replace_all_uses(from, to)?;
        }
        self.erase_inst(inst)?;
        for &value in values {
            if self.function.is_live_value(value) && self.function.unused(value) {
                self.changes.mark_uses_removed(self.function, value);
            }
        }
        Ok(())
    }

    // The fast path of `erase_inst` for an instruction without regions: notifies only the change tracker.
    fn erase_inst_fast(&mut self, inst: InstId) -> EditResult<()> {
        let f = &mut *self.function;
        let operands: SmallVec<[ValueId; 4]> = SmallVec::from_slice(f.operands(inst));
        let (owner, before) = match f.body_of(inst) {
            Some(body) => (f.body_owner(body), f.prev_inst(inst)),
            None => (None, None),
        };
        self.effects.on_erased(f, inst);
        self.changes.tick();
        f.erase(inst)?;
        if self.last_leading_constant == Some(inst) {
            self.last_leading_constant = before;
        }
        if self.changes.is_enabled() {
            self.changes.log_only(inst);
            for value in operands {
                self.changes.mark_uses_removed(f, value);
            }
            if let Some(owner) = owner {
                self.changes.mark_changed(owner);
            }
        }
        Ok(())
    }

    fn check_replacements(&self, inst: InstId, values: &[ValueId]) -> EditResult<()> {
        let f = &*self.function;
        f.check_erasable(inst)?;
        for (from, &to) in f.inst_results(inst).zip(values) {
            if !f.is_live_value(to) {
                return Err(EditError::NoSuchValue(to).into());
            }
            if f.type_id(from) != f.type_id(to) {
                let expected = Box::new(f.value_type(from).clone());
                let found = Box::new(f.value_type(to).clone());
                return Err(EditError::Type { expected, found }.into());
            }
            // A value available to the instruction is available to all users of its results, unless some of them are in detached
            // bodies.
            if (f.num_detached_bodies() > 0 || !f.is_available_to(to, inst))
                && let Some(bad) = f.uses(from).find(|u| !f.is_available_to(to, u.user))
            {
                let user = f.op_name(bad.user);
                return Err(EditError::NotAvailable { value: to, user }.into());
            }
        }
        Ok(())
    }

    // Copies span, name hint and comment of the replaced instruction to a replacement that has none.
    fn inherit_metadata(&mut self, root: InstId, from: ValueId, to: ValueId) {
        let f = &mut *self.function;
        let Some(new) = f.inst_of(to) else { return };
        let span = f.inst_span(root);
        if f.inst_span(new) == Span::unknown() && span != Span::unknown() {
            f.set_inst_span(new, span);
        }
        if f.hint(to).is_none() && f.hint(from).is_some() {
            f.copy_hint(from, to);
        }
        if f.comment(new).is_none()
            && let Some(comment) = f.comment(root).map(str::to_owned)
        {
            f.set_comment(new, Some(&comment));
        }
    }

    /// Removes an instruction and its regions.
    ///
    /// # Errors
    /// If a result is used, or the instruction is a terminator or already erased.
    pub fn erase_inst(&mut self, inst: InstId) -> EditResult<()> {
        let f = &*self.function;
        if !f.is_live(inst) {
            return Err(EditError::NoSuchInst(inst).into());
        }
        if f.regions(inst).is_empty() && self.can_skip_events() {
            return self.erase_inst_fast(inst);
        }
        f.check_erasable(inst)?;
        if let Some(value) = f.inst_results(inst).find(|&v| !f.unused(v)) {
            let uses = f.uses(value).count();
            return Err(EditError::StillUsed { op: f.op_name(inst), value, uses }.into());
        }
        let mut operands: SmallVec<[ValueId; 8]> = SmallVec::from_slice(f.operands(inst));
        let mut inside: Vec<InstId> = Vec::new();
        for &body in f.regions(inst) {
            for nested in f.walk_body(body) {
                operands.extend_from_slice(f.operands(nested));
                inside.extend(self.changes.is_logging().then_some(nested));
            }
        }
        if self.last_leading_constant == Some(inst) {
            self.last_leading_constant = f.prev_inst(inst);
        }
        let owner = f.body_of(inst).and_then(|b| f.body_owner(b));
        if self.function.has_journal() {
            self.function.erase(inst)?;
            self.notify(EditEvent::Erased(inst));
        } else {
            self.notify(EditEvent::Erased(inst));
            self.function.erase(inst)?;
        }
        for nested in inside {
            self.notify(EditEvent::Moved(nested));
        }
        for value in operands {
            self.notify(EditEvent::UsesRemoved(value));
        }
        // Patterns on the owner of the region may look into it.
        if let Some(owner) = owner {
            self.notify(EditEvent::Affected(owner));
        }
        Ok(())
    }

    /// Replaces one operand.
    ///
    /// # Errors
    /// If the operand does not exist, the value is not available, or the op does not accept its type.
    pub fn set_operand(&mut self, inst: InstId, index: usize, value: ValueId) -> EditResult<()> {
        let f = &*self.function;
        if !f.is_live(inst) {
            return Err(EditError::NoSuchInst(inst).into());
        }
        let mut operands: SmallVec<[ValueId; 4]> = SmallVec::from_slice(f.operands(inst));
        let count = operands.len();
        let Some(slot) = operands.get_mut(index) else {
            return Err(EditError::Count { expected: count, found: index + 1 }.into());
        };
        let old = std::mem::replace(slot, value);
        if !f.is_live_value(value) {
            return Err(EditError::NoSuchValue(value).into());
        }
        if f.type_id(old) != f.type_id(value) {
            self.check_operands(inst, &operands)?;
        }
        self.function.set_operand(inst, index, value)?;
        self.notify(EditEvent::Changed(inst));
        self.notify(EditEvent::UsesRemoved(old));
        Ok(())
    }

    /// Replaces all operands; their number may change if the op allows it.
    ///
    /// # Errors
    /// If a value is not available, or the op does not accept them.
    pub fn set_operands(&mut self, inst: InstId, operands: &[ValueId]) -> EditResult<()> {
        if !self.function.is_live(inst) {
            return Err(EditError::NoSuchInst(inst).into());
        }
        self.check_operands(inst, operands)?;
        let old: SmallVec<[ValueId; 4]> = SmallVec::from_slice(self.function.operands(inst));
        self.function.set_operands(inst, operands)?;
        self.notify(EditEvent::Changed(inst));
        for value in old {
            self.notify(EditEvent::UsesRemoved(value));
        }
        Ok(())
    }

    /// Swaps the first two operands of an instruction whose results do not depend on their order.
    pub(crate) fn swap_equivalent_operands(&mut self, inst: InstId) -> EditResult<()> {
        let f = &*self.function;
        match *f.operands(inst) {
            [u, v, ..] if f.type_id(u) == f.type_id(v) => {
                self.function.swap_operands(inst)?;
                self.notify(EditEvent::Swapped(inst));
                Ok(())
            }
            // The op may accept operands of different types in one order only.
            [u, v, ref others @ ..] => {
                let swapped: SmallVec<[ValueId; 4]> =
                    [v, u].into_iter().chain(others.iter().copied()).collect();
                self.set_operands(inst, &swapped)
            }
            _ => Ok(()),
        }
    }

    /// Replaces the attributes, given in the order of the op's table.
    ///
    /// # Errors
    /// If one has the wrong form, or the result types would change.
    pub fn set_attrs(&mut self, inst: InstId, attrs: &AttrList) -> EditResult<()> {
        let f = &*self.function;
        if !f.is_live(inst) {
            return Err(EditError::NoSuchInst(inst).into());
        }
        let mut parts = f.parts_of(inst);
        parts.attrs = attrs.iter().cloned().collect();
        let checked = check_parts(f, inst, &parts)?;
        self.function.set_attrs(inst, &checked)?;
        self.notify(EditEvent::Changed(inst));
        Ok(())
    }

    // Checks that an instruction may have these operands and keep its result types. A terminator must keep the types of its
    // operands while its body is attached, since the owner's results depend on them.
    fn check_operands(&self, inst: InstId, operands: &[ValueId]) -> EditResult<()> {
        let f = &*self.function;
        if let Some(&gone) = operands.iter().find(|v| !f.is_live_value(**v)) {
            return Err(EditError::NoSuchValue(gone).into());
        }
        if f.op_def(inst).is_some_and(|d| d.terminator) {
            let attached =
                f.body_of(inst).is_some_and(|b| b == f.body() || f.body_owner(b).is_some());
            let old = f.operands(inst);
            if attached && old.len() != operands.len() {
                let (expected, found) = (old.len(), operands.len());
                return Err(RewriteError::Count { op: f.op_name(inst), expected, found });
            }
            let differs = |(a, b): &(&ValueId, &ValueId)| f.type_id(**a) != f.type_id(**b);
            if let Some((a, b)) = old.iter().zip(operands).find(differs).filter(|_| attached) {
                let expected = Box::new(f.value_type(*a).clone());
                let found = Box::new(f.value_type(*b).clone());
                return Err(EditError::Type { expected, found }.into());
            }
            return Ok(());
        }
        let mut parts = f.parts_of(inst);
        parts.operands = SmallVec::from_slice(operands);
        check_parts(f, inst, &parts).map(|_| ())
    }

    /// Moves an instruction with its regions to another place.
    ///
    /// # Errors
    /// If an operand is not available there, or a use would come before it.
    pub fn move_inst(&mut self, inst: InstId, place: InsertPoint) -> EditResult<()> {
        let owner = |f: &Function| f.body_of(inst).and_then(|b| f.body_owner(b));
        let from = if self.function.is_live(inst) { owner(self.function) } else { None };
        self.move_without_event(inst, place)?;
        let f = &*self.function;
        let mut touched: SmallVec<[InstId; 8]> = from.into_iter().chain(owner(f)).collect();
        touched.extend(f.regions(inst).iter().flat_map(|&b| f.walk_body(b)));
        self.notify(EditEvent::Changed(inst));
        for inst in touched {
            self.notify(EditEvent::Affected(inst));
        }
        Ok(())
    }

    /// Moves an instruction before an equal one that it is about to replace. It gets name, span and comment of the other, where
    /// that one has them.
    pub(crate) fn move_before_duplicate(&mut self, inst: InstId, of: InstId) -> EditResult<()> {
        self.move_inst(inst, InsertPoint::Before(of))?;
        let f = &mut *self.function;
        let span = f.inst_span(of);
        if span != Span::unknown() {
            f.set_inst_span(inst, span);
        }
        if let Some(comment) = f.comment(of).map(str::to_owned) {
            f.set_comment(inst, Some(&comment));
        }
        let results: SmallVec<[_; 4]> = f.inst_results(of).zip(f.inst_results(inst)).collect();
        for (from, to) in results {
            if f.hint(from).is_some() {
                f.copy_hint(from, to);
            }
        }
        Ok(())
    }

    /// Moves an instruction without an event. A constant needs no more: moving it changes nothing that other instructions
    /// see.
    pub(super) fn move_without_event(
        &mut self,
        inst: InstId,
        place: InsertPoint,
    ) -> EditResult<()> {
        let leads = self.last_leading_constant == Some(inst);
        let before = if leads { self.function.prev_inst(inst) } else { None };
        self.function.move_inst(inst, place)?;
        if leads {
            self.last_leading_constant = before;
        }
        Ok(())
    }

    /// Moves the instructions of a region to a place, with its parameters replaced by arguments, and returns the yielded values.
    /// The region stays behind empty; its owner must be erased next.
    ///
    /// # Errors
    /// If the arguments do not fit or are not available there.
    pub fn inline_body(
        &mut self,
        body: BodyId,
        args: &[ValueId],
        place: InsertPoint,
    ) -> EditResult<Vec<ValueId>> {
        let f = &*self.function;
        if !f.is_live_body(body) {
            return Err(EditError::NoSuchBody(body).into());
        }
        let moved: Vec<InstId> = f.body_insts(body).collect();
        let params = f.body_params(body).to_vec();
        let mut touched: Vec<InstId> =
            params.iter().flat_map(|&p| f.uses(p).map(|u| u.user)).collect();
        if self.changes.is_logging() {
            touched.sort_unstable_by_key(|&user| f.order_key(user));
        }
        let differs = |(p, a): &(&ValueId, &ValueId)| f.type_id(**p) != f.type_id(**a);
        let live = args.iter().all(|&a| f.is_live_value(a));
        if live && let Some((p, a)) = params.iter().zip(args).find(differs) {
            let expected = Box::new(f.value_type(*p).clone());
            let found = Box::new(f.value_type(*a).clone());
            return Err(EditError::Type { expected, found }.into());
        }
        let terminator = f.terminator(body);
        params.iter().for_each(|&param| self.memo.before_uses_change(f, param));
        let yielded = self.function.inline_body(body, args, place)?;
        for inst in moved.into_iter().chain(touched) {
            if Some(inst) != terminator {
                self.notify(EditEvent::Affected(inst));
            }
        }
        for &value in &yielded {
            self.notify(EditEvent::UsesRemoved(value));
        }
        Ok(yielded)
    }

    /// Takes the regions from an instruction; they become detached bodies for another. The instruction must be
    /// replaced and erased next.
    ///
    /// # Errors
    /// If the instruction does not exist any more.
    pub fn take_regions(&mut self, inst: InstId) -> EditResult<Vec<BodyId>> {
        let regions = self.function.take_regions(inst)?;
        self.notify(EditEvent::Changed(inst));
        Ok(regions)
    }

    /// Creates a detached body with parameters of these types, for an instruction to be inserted.
    pub fn new_body(&mut self, params: &[ValueType]) -> BodyId {
        self.function.new_body(params)
    }

    /// Removes an unused parameter of a detached body.
    ///
    /// # Errors
    /// If it is used or does not exist, or the body belongs to an instruction, whose signature this would break.
    pub fn remove_param(&mut self, body: BodyId, index: usize) -> EditResult<()> {
        let f = &*self.function;
        if f.is_live_body(body) && (body == f.body() || f.body_owner(body).is_some()) {
            return Err(EditError::Attached(body).into());
        }
        Ok(self.function.remove_param(body, index)?)
    }
}

// Checks that the parts fit together and have the result types of the instruction, and returns the completed attributes.
fn check_parts(f: &Function, inst: InstId, parts: &OpParts) -> EditResult<SmallVec<[Attr; 4]>> {
    let op = parts.key.name();
    let parts = f.resolve_parts(parts).map_err(|error| RewriteError::Op { op, error })?;
    let results = f.inst_results(inst);
    if results.len() != parts.result_types.len() {
        let (expected, found) = (results.len(), parts.result_types.len());
        return Err(RewriteError::Count { op, expected, found });
    }
    for (result, found) in results.zip(&parts.result_types) {
        let expected = f.value_type(result);
        if !expected.compatible(found) {
            let (expected, found) = (Box::new(expected.clone()), Box::new(found.clone()));
            return Err(RewriteError::ResultType { op, expected, found });
        }
    }
    Ok(parts.attrs)
}
