//! The loop.

use sapwood_ptir::ops::Constant;
use sapwood_ptir::{AttrList, Function, InstId, Op, OpKey, ValueId};
use smallvec::SmallVec;

use super::lineage::Lineages;
use super::merge::Merging;
use super::queue::{Queue, Readers};
use super::{GreedyConfig, GreedyStats, Limit, PatternStats};
use crate::fold::{FoldResult, FoldWork, Folded, evaluate, stored_elements};
use crate::pattern::{FrozenPatternSet, GATED, Patch, PatternId, Reach, TypeFacts};
use crate::rewriter::{Agenda, EffectIndex, ProgramRewriter, WIDE};

/// A value with more uses than this is replaced only after its operands are done, so that long uses lists are moved
/// few times.
pub(super) const MANY_USES: usize = 8;

/// Links of chains are among so many operands of the next one.
const LINK_OPERANDS: usize = 4;

/// What is to be looked at, and the op that waits for it.
type Waiting = (InstId, Option<OpKey>);

/// Folded constants have this many times the elements of the largest one at most, together.
const MOST_FOLDED: u64 = 256;

/// How many of the patterns that fired last are reported.
const LAST_FIRED: usize = 8;

/// What changed something: a pattern, or a registered fold that changes its instruction in place.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Fired {
    Pattern(PatternId),
    Fold(OpKey),
}

/// One run over one function.
pub(crate) struct Driver<'a> {
    pub(super) rw: ProgramRewriter<'a>,
    pub(super) set: &'a FrozenPatternSet,
    pub(super) config: &'a GreedyConfig,
    pub(super) stats: GreedyStats,
    pub(super) queue: Queue,
    pub(super) patch: Patch,
    pub(super) reach: Reach,
    pub(super) lineages: Lineages,
    // By pattern: it did not keep its word and is not tried again.
    pub(super) disabled: Vec<bool>,
    // Present if equal instructions are merged along the way.
    pub(super) merging: Option<Merging>,
    readers: Readers,
    types: TypeFacts,
    changed: Vec<InstId>,
    // Wide instructions that changed, or that own a region in which something changed: those that read them are queued when
    // nothing else is, so that many changes one after the other cost the number of their results once.
    wide: Vec<InstId>,
    fired: SmallVec<[Fired; LAST_FIRED]>,
    ranked: Vec<(u16, PatternId)>,
    budget: usize,
    // Whether nothing else is left to do in this round: patterns without benefit are tried.
    late: bool,
    // Elements of constants that were folded: their literals stay in memory even when they are folded on.
    folded: u64,
    fold_work: FoldWork,
    constant: OpKey,
}

impl<'a> Driver<'a> {
    pub(crate) fn new(
        function: &'a mut Function,
        set: &'a FrozenPatternSet,
        config: &'a GreedyConfig,
    ) -> Self {
        let insts = function.num_insts();
        let budget = config.max_rewrites.unwrap_or(insts.saturating_mul(16).saturating_add(4096));
        let capacity = function.inst_capacity();
        let mut rw = ProgramRewriter::new(function);
        rw.agenda = Agenda::enabled(capacity);
        rw.effects = EffectIndex::of(rw.function());
        let patterns = vec![PatternStats::default(); set.len()];
        Self {
            rw,
            set,
            config,
            stats: GreedyStats { patterns, converged: true, ..GreedyStats::default() },
            queue: Queue::default(),
            patch: Patch::default(),
            reach: Reach::default(),
            lineages: Lineages::default(),
            disabled: vec![false; set.len()],
            merging: None,
            readers: Readers::default(),
            types: TypeFacts::default(),
            changed: Vec::new(),
            wide: Vec::new(),
            fired: SmallVec::new(),
            ranked: Vec::new(),
            budget,
            late: false,
            folded: 0,
            fold_work: FoldWork::default(),
            constant: Constant::key(),
        }
    }

    pub(crate) fn rewriter(&mut self) -> &mut ProgramRewriter<'a> {
        &mut self.rw
    }

    /// Runs to the fixpoint, or until a limit is hit.
    pub(crate) fn run(mut self) -> GreedyStats {
        (self.stats.merged, self.stats.erased) = self.rw.unique_constants(self.config.enable_dce);
        self.fold_forward();
        if self.config.merge_equal {
            self.start_merging();
        }
        self.merge_changed();
        let constant = self.constant;
        let f = self.rw.function();
        self.queue = Queue::seed(f, |i| f.op_key(i) == constant, self.config.top_down);
        // What the constants changed is queued anyway.
        self.rw.agenda.take_changed(&mut self.changed);
        loop {
            if self.stats.rounds >= self.config.max_iterations {
                if self.queue.pop().is_some() {
                    self.stop(Limit::Rounds(self.config.max_iterations));
                }
                break;
            }
            self.stats.rounds += 1;
            if !self.round() {
                self.stop(Limit::Rewrites(self.budget));
                self.merge_changed();
                break;
            }
            self.merge_changed();
            self.merge_wide();
            self.check_table();
            self.requeue();
            if !self.next_round() {
                break;
            }
        }
        let hashed = self.merging.as_ref().map_or(0, Merging::hashed);
        self.stats.looked_at += self.rw.memo.looked_at() + hashed;
        self.stats.converged &= self.stats.cycles.is_empty() && self.stats.disabled.is_empty();
        self.stats
    }

    // What changed comes first, then what patterns without benefit wait for, then equal regions.
    fn next_round(&mut self) -> bool {
        self.late = false;
        if self.turn() {
            return true;
        }
        self.late = self.queue.turn_late(self.rw.function(), self.config.top_down);
        if self.late {
            return true;
        }
        if !self.merge_regions() {
            return false;
        }
        self.requeue();
        self.turn()
    }

    // Starts a round of what is queued, or else of those that read wide instructions. Whether there is any.
    fn turn(&mut self) -> bool {
        let top_down = self.config.top_down;
        if self.queue.turn(self.rw.function(), top_down) {
            return true;
        }
        if self.wide.is_empty() {
            return false;
        }
        self.requeue_readers_of_wide();
        self.queue.turn(self.rw.function(), top_down)
    }

    // A limit leaves something undone.
    fn stop(&mut self, by: Limit) {
        self.stats.converged = false;
        self.stats.stopped_by.get_or_insert(by);
    }

    // Looks at everything that is queued. Whether the budget lasted.
    fn round(&mut self) -> bool {
        let mut waiting: Vec<Waiting> = Vec::new();
        while let Some((inst, above)) =
            waiting.pop().or_else(|| self.queue.pop().map(|inst| (inst, None)))
        {
            if !self.queue.is_pending(inst) {
                continue;
            }
            if !self.rw.function().is_live(inst) {
                self.queue.visited(inst);
                continue;
            }
            if self.wait_for_operands(inst, above, &mut waiting) {
                continue;
            }
            if self.stats.rewrites + self.stats.folds >= self.budget {
                self.report_last_fired();
                return false;
            }
            self.queue.visited(inst);
            self.stats.visits += 1;
            self.visit(inst);
            self.drop_unused();
            self.follow_changes();
        }
        true
    }

    // Whether there are operands to be looked at before an instruction: all of one with many uses, and the first of a chain
    // of one op if it is used elsewhere. From the other end each such link would be rewritten again and again, and the
    // uses of each be moved to the next; one that nothing else uses goes with the first rewrite. What is waited for waits
    // in turn for the next link, of its own op or of the op that waits for it.
    fn wait_for_operands(
        &mut self,
        inst: InstId,
        above: Option<OpKey>,
        waiting: &mut Vec<Waiting>,
    ) -> bool {
        if self.config.top_down {
            return false;
        }
        let (f, queue) = (self.rw.function(), &self.queue);
        let mut looked = 0;
        let mut pending = |&v: &ValueId| {
            looked += 1;
            f.inst_of(v).filter(|&d| queue.is_pending(d))
        };
        let (key, mark) = (f.op_key(inst), waiting.len());
        waiting.push((inst, above));
        let mut results = f.inst_results(inst).take(WIDE);
        if results.any(|v| f.uses(v).nth(MANY_USES).is_some()) {
            waiting.extend(f.operands(inst).iter().filter_map(pending).map(|d| (d, Some(key))));
        } else if let Some(above) = above {
            let mut of_chain = f.operands(inst).iter().take(LINK_OPERANDS).filter_map(pending);
            let link = of_chain.find(|&d| f.op_key(d) == key || f.op_key(d) == above);
            waiting.extend(link.map(|link| (link, Some(key))));
        } else {
            let shared = f.operands(inst).first().filter(|&&v| f.uses(v).nth(1).is_some());
            let link = shared.and_then(&mut pending).filter(|&d| f.op_key(d) == key);
            waiting.extend(link.map(|link| (link, Some(key))));
        }
        self.stats.looked_at += looked;
        let waits = waiting.len() > mark + 1;
        if !waits {
            waiting.pop();
        }
        waits
    }

    fn visit(&mut self, inst: InstId) {
        if self.config.enable_dce && self.rw.is_dead(inst) {
            self.erase_dead(inst);
            return;
        }
        if self.fold(inst) {
            return;
        }
        self.try_patterns(inst);
    }

    fn erase_dead(&mut self, inst: InstId) {
        self.rw.step("dce", inst);
        if self.rw.erase_inst(inst).is_ok() {
            self.stats.erased += 1;
        }
    }

    // Definitions that lost their last use, and in turn theirs.
    pub(super) fn drop_unused(&mut self) {
        while let Some(inst) = self.rw.agenda.pop_unused() {
            if !self.rw.function().is_live(inst) {
                continue;
            }
            if self.config.enable_dce && self.rw.is_dead(inst) {
                self.erase_dead(inst);
            } else {
                // Nobody uses it, but it stays: its patterns may ask for that.
                self.rw.agenda.mark(inst);
            }
        }
    }

    // Folds constants once in the order of the program, where what an instruction uses is folded before itself. The
    // rounds go the other way and would take one for each level.
    fn fold_forward(&mut self) {
        if !self.config.enable_constant_fold {
            return;
        }
        let f = self.rw.function();
        let (constant, set) = (self.constant, self.set);
        let is_constant = |v: ValueId| f.inst_of(v).is_some_and(|i| f.op_key(i) == constant);
        // Whatever folds needs a constant to start from.
        let starts = |inst: InstId| f.operands(inst).iter().all(|&v| is_constant(v));
        let Some(first) = f.walk_post_order().position(|i| f.op_key(i) != constant && starts(i))
        else {
            return;
        };
        let order: Vec<InstId> = f.walk_post_order().skip(first).collect();
        for inst in order {
            let f = self.rw.function();
            if !f.is_live(inst) || f.op_key(inst) == constant || f.results_unused(inst) {
                continue;
            }
            if self.stats.rewrites + self.stats.folds >= self.budget {
                return;
            }
            // Registered folds come before evaluation; they wait for their turn.
            let registered = set.has_folds() && set.folds(f.op_key(inst)).next().is_some();
            if !registered && self.fold_constants(inst) {
                self.drop_unused();
            }
        }
    }

    /// Folds what a pattern made of constants, so that what is looked at next finds a constant.
    pub(super) fn fold_new(&mut self, first_new: usize) {
        let (constant, set) = (self.constant, self.set);
        for inst in (first_new..self.rw.function().inst_capacity()).map(InstId::from_index) {
            let f = self.rw.function();
            if !self.config.enable_constant_fold || !f.is_live(inst) || f.op_key(inst) == constant {
                continue;
            }
            let registered = set.has_folds() && set.folds(f.op_key(inst)).next().is_some();
            if !registered && self.fold_constants(inst) {
                self.drop_unused();
            }
        }
    }

    fn fold(&mut self, inst: InstId) -> bool {
        let key = self.rw.op_key(inst);
        if self.set.has_folds() {
            let set = self.set;
            for fold in set.folds(key) {
                let done = match self.call_fold(fold, inst) {
                    FoldResult::Nothing => false,
                    FoldResult::Results(results) => self.replace_folded(inst, &results),
                    FoldResult::InPlace { operands, attrs } => {
                        self.change_in_place(inst, &operands, &attrs)
                    }
                };
                if done {
                    return true;
                }
            }
        }
        self.config.enable_constant_fold && key != self.constant && self.fold_constants(inst)
    }

    // Evaluates an instruction whose operands are constants.
    fn fold_constants(&mut self, inst: InstId) -> bool {
        let f = self.rw.function();
        let is_constant = |v: &ValueId| f.inst_of(*v).is_some_and(|i| f.op_key(i) == self.constant);
        if !f.operands(inst).iter().all(is_constant) {
            return false;
        }
        let literals = evaluate(f, inst, &self.config.fold_limits, &mut self.fold_work);
        if let Some(most) = self.fold_work.refused {
            self.stop(Limit::FoldWork(most));
        }
        let Some(literals) = literals else { return false };
        let size: u64 = literals.iter().map(stored_elements).sum();
        let most = self.config.fold_limits.max_elements.saturating_mul(MOST_FOLDED);
        if size > 1 && self.folded.saturating_add(size) > most {
            self.stop(Limit::FoldedElements(most));
            return false;
        }
        self.folded += size;
        let results: SmallVec<[Folded; 1]> = literals.into_iter().map(Folded::Constant).collect();
        self.replace_folded(inst, &results)
    }

    fn replace_folded(&mut self, inst: InstId, results: &[Folded]) -> bool {
        let f = self.rw.function();
        let own = f.inst_results(inst);
        let fits = |(value, folded): (ValueId, &Folded)| match folded {
            Folded::Value(v) => {
                f.is_live_value(*v)
                    && f.type_id(*v) == f.type_id(value)
                    && f.is_available_to(*v, inst)
            }
            Folded::Constant(literal) => {
                f.value_type(value).as_tensor().is_some_and(|ty| literal.has_type(ty))
            }
        };
        if own.len() != results.len() || !own.zip(results).all(fits) {
            return false;
        }
        self.rw.step("fold", inst);
        if let [Folded::Constant(literal)] = results {
            let done = self.rw.replace_by_constant(inst, literal);
            self.stats.folds += usize::from(done);
            return done;
        }
        let mut values: SmallVec<[ValueId; 4]> = SmallVec::new();
        for folded in results {
            values.push(match folded {
                Folded::Value(v) => *v,
                Folded::Constant(literal) => self.rw.materialize_constant(inst, literal),
            });
        }
        let done = self.rw.replace_inst(inst, &values).is_ok();
        self.stats.folds += usize::from(done);
        done
    }

    // The same instruction with other operands and attributes. What does not fit is left.
    fn change_in_place(&mut self, inst: InstId, operands: &[ValueId], attrs: &AttrList) -> bool {
        let f = self.rw.function();
        if f.operands(inst) == operands && f.attrs(inst) == attrs {
            return false;
        }
        let before: SmallVec<[ValueId; 4]> = SmallVec::from_slice(f.operands(inst));
        let attrs_before = f.attr_id(inst);
        self.rw.begin();
        let mut done = self.rw.set_operands(inst, operands);
        if done.is_ok() && self.rw.function().attrs(inst) != attrs {
            done = self.rw.set_attrs(inst, attrs);
        }
        let f = self.rw.function();
        // Attributes are completed when they are set: only now it shows whether something changed.
        if done.is_err() || f.operands(inst) == &before[..] && f.attr_id(inst) == attrs_before {
            self.rw.take_back();
            return false;
        }
        self.rw.step("fold", inst);
        self.rw.keep();
        self.stats.folds += 1;
        let key = self.rw.op_key(inst);
        self.note_fired(Fired::Fold(key));
        true
    }

    fn try_patterns(&mut self, inst: InstId) {
        let set = self.set;
        let bucket = set.gated(self.rw.function(), inst);
        let f = self.rw.function();
        let mut open = bucket.gate.open(f, inst, &mut self.types, self.config.floats);
        if self.config.expensive_checks {
            self.check_gate(bucket, open, inst);
        }
        let mut ungated = bucket.ids.get(GATED..).unwrap_or_default();
        if self.late || bucket.soon < bucket.ids.len() {
            let (soon, late) =
                ungated.split_at(bucket.soon.saturating_sub(GATED).min(ungated.len()));
            let (open_soon, open_late) = (open & bucket.soon(), open & !bucket.soon());
            if !self.late && (open_late != 0 || !late.is_empty()) {
                self.queue.push_late(inst);
            }
            (open, ungated) = if self.late { (open_late, late) } else { (open_soon, soon) };
        }
        if let Some(model) = self.config.cost_model {
            let mut ranked = std::mem::take(&mut self.ranked);
            ranked.clear();
            let gated = (0..).zip(bucket.ids.iter().take(GATED));
            let gated = gated.filter(|(n, _)| open >> n & 1 != 0).map(|(_, id)| id);
            for &id in gated.chain(ungated) {
                let benefit = self.call_cost_model(model, inst, id);
                ranked.push((benefit.unwrap_or(set.entry(id).benefit), id));
            }
            ranked.sort_by_key(|&(benefit, id)| (std::cmp::Reverse(benefit), id));
            for &(_, id) in &ranked {
                if self.attempt(id, inst) {
                    break;
                }
            }
            self.ranked = ranked;
            return;
        }
        while open != 0 {
            let first = open.trailing_zeros();
            open &= open - 1;
            if self.attempt(bucket.ids[first as usize], inst) {
                return;
            }
        }
        for &id in ungated {
            if self.attempt(id, inst) {
                return;
            }
        }
    }

    pub(super) fn constant_key(&self) -> OpKey {
        self.constant
    }

    /// A pattern was applied.
    pub(super) fn fired(&mut self, id: PatternId) {
        self.stats.rewrites += 1;
        self.stats.patterns[id as usize].applied += 1;
        self.note_fired(Fired::Pattern(id));
    }

    fn note_fired(&mut self, fired: Fired) {
        if self.fired.last() == Some(&fired) {
            return;
        }
        if let Some(at) = self.fired.iter().position(|&f| f == fired) {
            self.fired.remove(at);
        } else if self.fired.len() == LAST_FIRED {
            self.fired.remove(0);
        }
        self.fired.push(fired);
    }

    fn report_last_fired(&mut self) {
        let name = |fired: &Fired| match *fired {
            Fired::Pattern(id) => self.set.name(id).to_owned(),
            Fired::Fold(key) => format!("fold of {}", key.name()),
        };
        self.stats.last_fired = self.fired.iter().rev().map(name).collect();
    }

    // Queues everything that may see what changed.
    fn requeue(&mut self) {
        for pure in self.rw.refresh_effects() {
            self.rw.agenda.mark(pure);
        }
        self.rw.agenda.take_changed(&mut self.changed);
        let f = self.rw.function();
        for &inst in &self.changed {
            self.fold_work.changed(f, inst);
        }
        let changed = std::mem::take(&mut self.changed);
        self.queue_readers(&changed, true);
        self.changed = changed;
    }

    fn requeue_readers_of_wide(&mut self) {
        let mut wide = std::mem::take(&mut self.wide);
        let f = self.rw.function();
        wide.retain(|&inst| f.is_live(inst));
        wide.sort_unstable();
        wide.dedup();
        self.queue_readers(&wide, false);
    }

    // Queues those that may have looked at what changed, now or, if they read it through a wide instruction, later.
    fn queue_readers(&mut self, changed: &[InstId], defer_wide: bool) {
        let f = self.rw.function();
        let (queue, constant, set) = (&mut self.queue, self.constant, self.set);
        let mut unused: SmallVec<[InstId; 8]> = SmallVec::new();
        let wide = defer_wide.then_some(&mut self.wide);
        self.readers.each(f, changed, set.hops(), wide, |inst, hops| {
            let key = f.op_key(inst);
            if key != constant {
                // Those of other ops may look further.
                if hops <= set.gated(f, inst).hops {
                    queue.push(inst);
                }
            } else if f.results_unused(inst) {
                // Made for a result that nothing uses.
                unused.push(inst);
            }
        });
        if self.config.enable_dce {
            unused.into_iter().for_each(|inst| self.erase_dead(inst));
        }
    }
}
