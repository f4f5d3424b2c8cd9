//! The main loop of the greedy driver.

use rustc_hash::FxHashMap;
use sapwood_ptir::ops::Constant;
use sapwood_ptir::{Function, InstId, Op, OpKey, ValueId};
use sapwood_types::{Progress, ProgressCounter};
use smallvec::SmallVec;

use super::failure_cache::FailureCache;
use super::float_modes::ModeRetries;
use super::merge_equal::MergeState;
use super::rewrite_cycles::RewriteLineages;
use super::worklist::{ReaderSearch, Worklist};
use super::{GreedyConfig, GreedyStats, Limit, PatternStats, ProblemKind};
use crate::FloatMode;
use crate::canonicalize::constant::is_recognizable;
use crate::fold::FoldCost;
use crate::pattern::{
    FloatModes, FrozenPatternSet, MAX_GATED, Patch, PatternId, ReachCheck, TypeFactCache,
};
use crate::rewriter::{ChangeTracker, EffectIndex, ProgramRewriter, StepKind, WIDE_THRESHOLD};

/// A value with more uses than this is replaced only after its operands were visited, so that long lists of uses are moved
/// few times.
pub(super) const MANY_USES: usize = 8;

/// The number of operands of an instruction that are searched for the next link of a chain.
const MAX_LINK_OPERANDS: usize = 4;

/// An instruction to visit, and the op of the instruction that waits for it.
type PendingVisit = (InstId, Option<OpKey>);

/// The number of patterns that fired last to be reported.
const MAX_LAST_FIRED: usize = 8;

/// The rewrites per instruction after which everything is visited from the first instruction to the last. What patterns move down, such as transposes, moves by one instruction per round
/// in the usual order: the many of a chain follow each other without ever meeting. No program of the corpus needs one rewrite per instruction.
const SWEEP_REWRITES: usize = 4;

/// A pattern that fired, or a registered fold that changed its instruction in place.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum FiredRewrite {
    Pattern(PatternId),
    Fold(OpKey),
}

/// The state of one run over one function.
pub(crate) struct GreedyDriver<'a> {
    pub(super) rw: ProgramRewriter<'a>,
    pub(super) set: &'a FrozenPatternSet,
    pub(super) config: &'a GreedyConfig,
    pub(super) stats: GreedyStats,
    pub(super) worklist: Worklist,
    pub(super) patch: Patch,
    pub(super) reach: ReachCheck,
    pub(super) lineages: RewriteLineages,
    // By pattern: it violated its contract and is not tried again.
    pub(super) disabled: Vec<bool>,
    // The value table; present if equal instructions are merged along the way.
    pub(super) merging: Option<MergeState>,
    pub(super) failures: FailureCache,
    readers: ReaderSearch,
    types: TypeFactCache,
    changed: Vec<InstId>,
    // Wide instructions that changed, or that own a region in which something changed. Their readers are queued when nothing
    // else is left, so that many changes one after the other cost the number of their results once.
    changed_wide: Vec<InstId>,
    last_fired: SmallVec<[FiredRewrite; MAX_LAST_FIRED]>,
    ranked: Vec<(u16, PatternId)>,
    pub(super) budget: usize,
    // The number of rewrites after which a round visits everything from the first instruction to the last, and whether this is such a round.
    next_sweep: usize,
    in_sweep: bool,
    // True in a round for patterns without benefit, which runs when nothing else is left.
    in_late_round: bool,
    // A run starts in the exact mode. A freer mode starts from the fixpoint of the stricter one, so that more freedom never
    // leads to a worse fixpoint.
    pub(super) modes: FloatModes,
    // The instructions at which a freer mode may enable patterns, and these patterns.
    pub(super) waiting_for_mode: Vec<(InstId, ModeRetries)>,
    // The patterns to try in the current mode although they failed in the last one.
    pub(super) mode_retries: FxHashMap<InstId, ModeRetries>,
    // The number of changes when the operands were last ordered.
    pub(super) ordered_at: Option<usize>,
    // True if the last attempt failed in a way that depends on the float mode.
    pub(super) waits_for_float_mode: bool,
    // The elements of all folded constants: their literals stay in memory even when they are folded further.
    pub(super) folded_elements: u64,
    pub(super) fold_cost: FoldCost,
    constant_op: OpKey,
    // Counts the visited instructions.
    progress: ProgressCounter,
}

impl<'a> GreedyDriver<'a> {
    pub(crate) fn new(
        function: &'a mut Function,
        set: &'a FrozenPatternSet,
        config: &'a GreedyConfig,
    ) -> Self {
        let insts = function.num_insts();
        let budget = config.max_rewrites.unwrap_or(insts.saturating_mul(16).saturating_add(4096));
        let capacity = function.inst_capacity();
        let mut rw = ProgramRewriter::new(function);
        rw.changes = ChangeTracker::enabled(capacity);
        rw.effects = EffectIndex::of(rw.function());
        let patterns = vec![PatternStats::default(); set.len()];
        Self {
            rw,
            set,
            config,
            stats: GreedyStats { patterns, converged: true, ..GreedyStats::default() },
            worklist: Worklist::default(),
            patch: Patch::default(),
            reach: ReachCheck::default(),
            lineages: RewriteLineages::default(),
            disabled: vec![false; set.len()],
            merging: None,
            failures: FailureCache::new(config.failure_cache, capacity),
            readers: ReaderSearch::default(),
            types: TypeFactCache::default(),
            changed: Vec::new(),
            changed_wide: Vec::new(),
            last_fired: SmallVec::new(),
            ranked: Vec::new(),
            budget,
            next_sweep: insts.saturating_mul(SWEEP_REWRITES).saturating_add(1024),
            in_sweep: false,
            in_late_round: false,
            modes: FloatModes {
                now: if config.float_stages { FloatMode::Exact } else { config.floats },
                last: config.floats,
            },
            waiting_for_mode: Vec::new(),
            mode_retries: FxHashMap::default(),
            ordered_at: None,
            waits_for_float_mode: false,
            folded_elements: 0,
            fold_cost: FoldCost::default(),
            constant_op: Constant::key(),
            progress: Progress::expected_counter(insts as u64),
        }
    }

    pub(crate) fn rewriter(&mut self) -> &mut ProgramRewriter<'a> {
        &mut self.rw
    }

    /// Runs to the fixpoint, or until a limit is hit.
    pub(crate) fn run(mut self) -> GreedyStats {
        let order: Vec<InstId> = self.rw.function().walk_post_order().collect();
        (self.stats.merged, self.stats.erased) =
            self.rw.deduplicate_constants(&order, self.config.enable_dce);
        drop(order);
        self.fold_in_program_order();
        if self.config.merge_equal {
            self.start_merging();
        }
        self.merge_changed();
        let f = self.rw.function();
        let constant = self.constant_op;
        let visits_constants = self.set.has_patterns_on(constant);
        let skips =
            |i| f.op_key(i) == constant && !(visits_constants && is_recognizable_constant(f, i));
        self.worklist = Worklist::filled(f, skips, self.config.top_down);
        // Everything that the constants changed is in the worklist already.
        self.rw.changes.take_changed(&mut self.changed);
        loop {
            if self.stats.rounds >= self.config.max_iterations {
                if self.worklist.pop().is_some() {
                    self.record_limit(Limit::Rounds(self.config.max_iterations));
                }
                break;
            }
            self.stats.rounds += 1;
            if !self.run_round() {
                self.record_limit(Limit::Rewrites(self.budget));
                self.merge_changed();
                break;
            }
            self.merge_changed();
            self.merge_wide();
            self.check_value_table();
            self.requeue_changed();
            if !self.next_round() {
                break;
            }
            self.progress.expect(self.worklist.len() as u64);
        }
        let hashed = self.merging.as_ref().map_or(0, MergeState::hashed_wide_results);
        self.stats.examined += self.rw.memo.examined() + hashed;
        self.stats.converged &= self.stats.cycles.is_empty() && self.stats.disabled.is_empty();
        self.stats
    }

    // Starts the next round: changed instructions first, then those with patterns without benefit, then equal regions.
    fn next_round(&mut self) -> bool {
        self.in_late_round = false;
        if self.start_queued_round() {
            return true;
        }
        self.in_late_round =
            self.worklist.start_late_round(self.rw.function(), self.config.top_down);
        if self.in_late_round {
            return true;
        }
        if self.merge_regions() {
            self.requeue_changed();
            if self.start_queued_round() {
                return true;
            }
        }
        self.start_next_mode() || self.order_operands()
    }

    // Starts a round of the queued instructions, or else of the readers of wide ones. Returns false if there are none.
    pub(super) fn start_queued_round(&mut self) -> bool {
        self.in_sweep = self.stats.rewrites >= self.next_sweep
            && !self.config.top_down
            && self.worklist.has_next();
        if self.in_sweep {
            self.next_sweep = self.next_sweep.saturating_mul(2);
            let f = self.rw.function();
            f.walk_post_order().for_each(|inst| self.worklist.push(inst));
        }
        let top_down = self.config.top_down || self.in_sweep;
        if self.worklist.start_next_round(self.rw.function(), top_down) {
            return true;
        }
        if self.changed_wide.is_empty() {
            return false;
        }
        self.requeue_readers_of_wide();
        self.worklist.start_next_round(self.rw.function(), top_down)
    }

    // Records that a limit left something undone.
    pub(super) fn record_limit(&mut self, by: Limit) {
        self.stats.converged = false;
        self.stats.stopped_by.get_or_insert(by);
    }

    // Visits everything that is queued. Returns false if the limit on rewrites was reached.
    fn run_round(&mut self) -> bool {
        let mut waiting: Vec<PendingVisit> = Vec::new();
        while let Some((inst, above)) =
            waiting.pop().or_else(|| self.worklist.pop().map(|inst| (inst, None)))
        {
            if !self.worklist.is_pending(inst) {
                continue;
            }
            self.progress.tick();
            if !self.rw.function().is_live(inst) {
                self.worklist.mark_visited(inst);
                continue;
            }
            if self.wait_for_operands(inst, above, &mut waiting) {
                continue;
            }
            if self.stats.rewrites + self.stats.folds >= self.budget {
                self.report_last_fired();
                return false;
            }
            self.worklist.mark_visited(inst);
            self.stats.visits += 1;
            self.visit_inst(inst);
            self.erase_unused();
            self.update_value_table();
        }
        true
    }

    // Returns true if operands must be visited before an instruction: all operands of one with many uses, and the first operand
    // if it is a link of a chain of the same op that is used elsewhere. In the other order each such link would be
    // rewritten repeatedly, and its uses moved to the next link each time; a link that nothing else uses is erased by the
    // first rewrite. The operand waits in turn for the next link, of its own op or of the op that waits for it.
    fn wait_for_operands(
        &mut self,
        inst: InstId,
        above: Option<OpKey>,
        waiting: &mut Vec<PendingVisit>,
    ) -> bool {
        if self.config.top_down || self.in_sweep {
            return false;
        }
        let (f, worklist) = (self.rw.function(), &self.worklist);
        let mut looked = 0;
        let mut pending = |&v: &ValueId| {
            looked += 1;
            f.inst_of(v).filter(|&d| worklist.is_pending(d))
        };
        let (key, mark) = (f.op_key(inst), waiting.len());
        waiting.push((inst, above));
        let mut results = f.inst_results(inst).take(WIDE_THRESHOLD);
        if results.any(|v| f.uses(v).nth(MANY_USES).is_some()) {
            waiting.extend(f.operands(inst).iter().filter_map(pending).map(|d| (d, Some(key))));
        } else if let Some(above) = above {
            let mut of_chain = f.operands(inst).iter().take(MAX_LINK_OPERANDS).filter_map(pending);
            let link = of_chain.find(|&d| f.op_key(d) == key || f.op_key(d) == above);
            waiting.extend(link.map(|link| (link, Some(key))));
        } else {
            let shared = f.operands(inst).first().filter(|&&v| f.uses(v).nth(1).is_some());
            let link = shared.and_then(&mut pending).filter(|&d| f.op_key(d) == key);
            waiting.extend(link.map(|link| (link, Some(key))));
        }
        self.stats.examined += looked;
        let waits = waiting.len() > mark + 1;
        if !waits {
            waiting.pop();
        }
        waits
    }

    fn visit_inst(&mut self, inst: InstId) {
        if self.config.enable_dce && self.rw.is_dead(inst) {
            self.erase_dead(inst);
            return;
        }
        if self.fold_inst(inst) {
            return;
        }
        self.try_patterns(inst);
    }

    fn erase_dead(&mut self, inst: InstId) {
        self.rw.notify_step(StepKind::Dce, inst);
        if self.rw.erase_inst(inst).is_ok() {
            self.stats.erased += 1;
        }
    }

    // Erases definitions that lost their last use, and then theirs.
    pub(super) fn erase_unused(&mut self) {
        while let Some(inst) = self.rw.changes.pop_unused() {
            if !self.rw.function().is_live(inst) {
                continue;
            }
            if self.config.enable_dce && self.rw.is_dead(inst) {
                self.erase_dead(inst);
            } else {
                // It is unused but stays: its patterns may test for that.
                self.rw.changes.mark_changed(inst);
            }
        }
    }

    fn try_patterns(&mut self, inst: InstId) {
        let retries = self.try_enabled_patterns(inst);
        if retries.gated != 0 || retries.others {
            self.waiting_for_mode.push((inst, retries));
        }
    }

    // Returns the patterns that a freer float mode may enable.
    fn try_enabled_patterns(&mut self, inst: InstId) -> ModeRetries {
        let set = self.set;
        let bucket = set.bucket_at(self.rw.function(), inst);
        let f = self.rw.function();
        let enabled = bucket.gate.enabled_patterns(f, inst, &mut self.types, self.modes);
        let mut open = enabled.now;
        let mut later = ModeRetries { gated: enabled.later, others: false };
        let retries = match self.mode_retries.is_empty() {
            true => ModeRetries::default(),
            false => self.mode_retries.remove(&inst).unwrap_or_default(),
        };
        if self.config.expensive_checks {
            self.check_skipped(bucket, !open, inst, &ProblemKind::FiresOutsideGate);
        }
        let mut ungated = bucket.ids.get(MAX_GATED..).unwrap_or_default();
        if self.in_late_round || bucket.with_benefit < bucket.ids.len() {
            let (soon, late) =
                ungated.split_at(bucket.with_benefit.saturating_sub(MAX_GATED).min(ungated.len()));
            let (open_soon, open_late) =
                (open & bucket.with_benefit_mask(), open & !bucket.with_benefit_mask());
            if !self.in_late_round && (open_late != 0 || !late.is_empty()) {
                self.worklist.push_late(inst);
            }
            (open, ungated) =
                if self.in_late_round { (open_late, late) } else { (open_soon, soon) };
        }
        if open == 0 && ungated.is_empty() {
            return later;
        }
        // Patterns of fewer hops than this have failed, and nothing that they may read has changed. Late patterns are not
        // recorded: they are not tried in other rounds.
        let (mut retry_from, mut skipped) = (0, 0);
        if !self.in_late_round {
            retry_from = self.failures.distance_of_change(&self.rw, inst, bucket.hops);
            if retry_from > 0 {
                skipped = open & bucket.with_fewer_hops(retry_from) & !retries.gated;
                if self.config.expensive_checks {
                    self.check_skipped(bucket, skipped, inst, &ProblemKind::FiresAfterFailure);
                }
            }
        }
        if let Some(model) = self.config.cost_model {
            let mut ranked = std::mem::take(&mut self.ranked);
            ranked.clear();
            let gated = (0..).zip(bucket.ids.iter().take(MAX_GATED));
            let tried = open & !skipped;
            self.stats.attempts_saved += skipped.count_ones() as usize;
            let gated = gated.filter(|(n, _)| tried >> n & 1 != 0).map(|(_, id)| id);
            for &id in gated.chain(ungated) {
                let benefit = self.call_cost_model(model, inst, id);
                ranked.push((benefit.unwrap_or(set.entry(id).benefit), id));
            }
            ranked.sort_by_key(|&(benefit, id)| (std::cmp::Reverse(benefit), id));
            let mut retry = false;
            let fired = ranked.iter().any(|&(_, id)| self.attempt_in_mode(id, inst, &mut retry));
            self.ranked = ranked;
            if !fired && !self.in_late_round {
                self.failures.record(&self.rw, inst);
            }
            return ModeRetries {
                gated: if retry { u64::MAX } else { later.gated },
                others: retry,
            };
        }
        while open != 0 {
            let first = open.trailing_zeros();
            open &= open - 1;
            if skipped >> first & 1 != 0 {
                self.stats.attempts_saved += 1;
                continue;
            }
            let mut retry = false;
            if self.attempt_in_mode(bucket.ids[first as usize], inst, &mut retry) {
                return later;
            }
            later.gated |= u64::from(retry) << first;
        }
        for &id in ungated {
            if set.entry(id).hops < retry_from && !retries.others {
                self.stats.attempts_saved += 1;
            } else if self.attempt_in_mode(id, inst, &mut later.others) {
                return later;
            }
        }
        if !self.in_late_round {
            self.failures.record(&self.rw, inst);
        }
        later
    }

    pub(super) fn constant_op(&self) -> OpKey {
        self.constant_op
    }

    /// Counts a pattern that was applied.
    pub(super) fn count_applied(&mut self, id: PatternId) {
        self.stats.rewrites += 1;
        self.stats.patterns[id as usize].applied += 1;
        self.record_fired(FiredRewrite::Pattern(id));
    }

    pub(super) fn record_fired(&mut self, fired: FiredRewrite) {
        if self.last_fired.last() == Some(&fired) {
            return;
        }
        if let Some(at) = self.last_fired.iter().position(|&f| f == fired) {
            self.last_fired.remove(at);
        } else if self.last_fired.len() == MAX_LAST_FIRED {
            self.last_fired.remove(0);
        }
        self.last_fired.push(fired);
    }

    fn report_last_fired(&mut self) {
        let name = |fired: &FiredRewrite| match *fired {
            FiredRewrite::Pattern(id) => self.set.name(id).to_owned(),
            FiredRewrite::Fold(key) => format!("fold of {}", key.name()),
        };
        self.stats.last_fired = self.last_fired.iter().rev().map(name).collect();
    }

    // Queues everything whose patterns may read something that changed.
    pub(super) fn requeue_changed(&mut self) {
        for pure in self.rw.refresh_effects() {
            self.rw.changes.mark_changed(pure);
        }
        self.rw.changes.take_changed(&mut self.changed);
        let f = self.rw.function();
        for &inst in &self.changed {
            self.fold_cost.allow_retry(f, inst);
        }
        let changed = std::mem::take(&mut self.changed);
        self.queue_readers(&changed, true, true);
        self.changed = changed;
    }

    // Queues everything whose patterns may read instructions with swapped operands. Their results are the same, so that folds need no retry.
    pub(super) fn requeue_swapped(&mut self) {
        self.rw.changes.take_changed(&mut self.changed);
        let changed = std::mem::take(&mut self.changed);
        self.queue_readers(&changed, true, false);
        self.changed = changed;
    }

    fn requeue_readers_of_wide(&mut self) {
        let mut wide = std::mem::take(&mut self.changed_wide);
        let f = self.rw.function();
        wide.retain(|&inst| f.is_live(inst));
        wide.sort_unstable();
        wide.dedup();
        self.queue_readers(&wide, false, true);
    }

    // Queues the readers of changed instructions; those that read them through a wide instruction are queued later. If values changed, the
    // nearest readers may fold.
    fn queue_readers(&mut self, changed: &[InstId], defer_wide: bool, values_changed: bool) {
        let f = self.rw.function();
        let (worklist, constant, set) = (&mut self.worklist, self.constant_op, self.set);
        let (types, modes) = (&mut self.types, self.modes);
        let mut unused: SmallVec<[InstId; 8]> = SmallVec::new();
        let wide = defer_wide.then_some(&mut self.changed_wide);
        let visits_constants = set.has_patterns_on(constant);
        self.readers.for_each_reader(f, changed, set.hops(), wide, |inst, hops| {
            let key = f.op_key(inst);
            if key != constant {
                // The search reaches as far as the furthest pattern; the patterns that may match here may read less far.
                let bucket = set.bucket_at(f, inst);
                if values_changed && hops <= 1
                    || hops <= bucket.hops && bucket.reads(hops, f, inst, types, modes)
                {
                    worklist.push(inst);
                }
            } else if f.results_unused(inst) {
                // A constant inserted for a result that nothing uses.
                unused.push(inst);
            } else if visits_constants && hops == 0 && is_recognizable_constant(f, inst) {
                worklist.push(inst);
            }
        });
        if self.config.enable_dce {
            unused.into_iter().for_each(|inst| self.erase_dead(inst));
        }
    }
}

// Returns true for a constant that is large enough for the patterns on constants; the driver does not visit the others.
fn is_recognizable_constant(f: &Function, inst: InstId) -> bool {
    f.value_of(inst).and_then(|value| f.constant_of(value)).is_some_and(is_recognizable)
}
