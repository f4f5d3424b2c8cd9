//! Passes that treat each function alone, one after the other or several at a time, with the same result.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use sapwood_ptir::{Function, Program};
use sapwood_types::{Progress, panic_message};

use super::{PassContext, PassError, add_count};
use crate::greedy::GreedyStats;
use crate::pass_trace::PassListener;
use crate::pattern::FrozenPatternSet;

/// Implements [`Pass`](crate::passes::Pass) for a type that treats each function alone. The first argument is the function
/// to call for each. The name of the pass is that of `INFO` in the same file.
macro_rules! function_pass {
    ($pass:ident, $work:path) => {
        impl crate::passes::Pass for $pass {
            crate::passes::shipped_pass_methods!();

            fn run_on_program(
                &self,
                program: &mut sapwood_ptir::Program,
                cx: &mut crate::passes::PassContext,
            ) -> Result<bool, crate::passes::PassError> {
                crate::passes::each_function(program, cx, &|f, listener| $work(self, f, listener))
            }
        }
    };
}

pub(super) use function_pass;

/// The effect of a pass on one function.
#[derive(Default)]
pub(crate) struct FunctionOutcome {
    pub(crate) changed: bool,
    // True if the pass edited the function. If it reports no change all the same, the pass manager compares the programs.
    pub(crate) edited: bool,
    pub(crate) counters: Vec<(&'static str, usize)>,
    // The statistics, with the patterns whose names are not filled in yet.
    pub(crate) greedy: Option<(GreedyStats, Arc<FrozenPatternSet>)>,
}

impl FunctionOutcome {
    /// Returns the outcome of a pass that counts one thing, and changed the function if the count is not zero.
    pub(crate) fn counted(name: &'static str, n: usize) -> Self {
        Self { changed: n > 0, counters: vec![(name, n)], ..Self::default() }
    }
}

/// The counters of a pass for one function: see [`PassContext::each_function`].
#[derive(Debug, Default)]
pub struct FunctionContext {
    counters: Vec<(&'static str, usize)>,
}

impl FunctionContext {
    /// Adds to a counter.
    pub fn count(&mut self, name: &'static str, n: usize) {
        add_count(&mut self.counters, name, n);
    }

    /// Returns true if a counter is not zero.
    #[must_use]
    pub fn has_counted(&self) -> bool {
        self.counters.iter().any(|(_, n)| *n > 0)
    }

    pub(super) fn outcome(self, changed: bool, edited: bool) -> FunctionOutcome {
        FunctionOutcome { changed, edited, counters: self.counters, greedy: None }
    }
}

/// The outcome for one function, or an error.
pub(super) type FunctionResult = Result<FunctionOutcome, PassError>;

type ProcessedFunction = Result<Arc<Function>, PassError>;

/// The sum over the functions that are done. Statistics are added as soon as a function is done: those of one function are
/// larger than a small function is.
#[derive(Default)]
struct FunctionTotals {
    changed: bool,
    counters: Vec<(&'static str, usize)>,
    greedy: Option<GreedyStats>,
    // By index of the function: everything reported in the order of the functions, whichever is done first. Most functions
    // have no entry.
    notes: Vec<(usize, GreedyStats, Vec<String>)>,
}

impl FunctionTotals {
    fn add(&mut self, n: usize, function: &Function, outcome: FunctionOutcome) {
        self.changed |= outcome.changed;
        for (name, count) in outcome.counters {
            add_count(&mut self.counters, name, count);
        }
        let Some((mut stats, patterns)) = outcome.greedy else { return };
        let warnings = warnings(function, &stats);
        if let Some(notes) = stats.take_all_but_counts() {
            self.notes.push((n, notes, warnings));
        }
        match &mut self.greedy {
            Some(all) => all.add(&stats),
            none => {
                stats.name_patterns(&patterns);
                *none = Some(stats);
            }
        }
    }

    fn report(mut self, cx: &mut PassContext) {
        for (name, count) in self.counters {
            cx.count(name, count);
        }
        let Some(mut stats) = self.greedy else { return };
        self.notes.sort_by_key(|&(n, ..)| n);
        for (_, notes, warnings) in self.notes {
            stats.add(&notes);
            cx.warnings.extend(warnings);
        }
        match &mut cx.greedy {
            Some(all) => all.add(&stats),
            none => *none = Some(stats),
        }
    }
}

/// Runs a pass on every function, with a listener for its edits if there is one. Functions that do not change stay shared
/// with other programs.
pub(crate) fn each_function(
    program: &mut Program,
    cx: &mut PassContext,
    work: &(dyn Fn(&mut Function, PassListener<'_>) -> FunctionResult + Sync),
) -> Result<bool, PassError> {
    let functions = program.take_functions();
    Progress::expect(functions.iter().map(|f| f.num_insts() as u64).sum());
    let (results, totals) = match &cx.trace {
        None => run_on_functions(functions, cx.threads, &|f: &mut Function| work(f, None)),
        // One after the other, so that the events are in order.
        Some(trace) => {
            run_on_functions(functions, 1, &|f: &mut Function| work(f, Some(trace.listener())))
        }
    };
    let changed = totals.changed;
    totals.report(cx);
    let mut kept = Vec::with_capacity(results.len());
    let mut failed = None;
    for result in results {
        match result {
            Ok(function) => kept.push(function),
            Err(error) => {
                failed.get_or_insert(error);
            }
        }
    }
    // The names are unchanged, so they are all different.
    let _ = program.set_functions(kept);
    failed.map_or(Ok(changed), Err)
}

fn warnings(function: &Function, stats: &GreedyStats) -> Vec<String> {
    let name = function.name();
    stats.warnings().into_iter().map(|warning| format!("@{name}: {warning}")).collect()
}

fn run_on_functions(
    functions: Vec<Arc<Function>>,
    threads: usize,
    work: &(dyn Fn(&mut Function) -> FunctionResult + Sync),
) -> (Vec<ProcessedFunction>, FunctionTotals) {
    let threads = threads.clamp(1, functions.len().max(1));
    let totals = Mutex::new(FunctionTotals::default());
    if threads == 1 {
        let one = |(n, f)| run_on_function(n, f, work, &totals);
        let done = functions.into_iter().enumerate().map(one).collect();
        return (done, into_unlocked(totals));
    }
    let slots: Vec<Mutex<FunctionSlot>> =
        functions.into_iter().map(|f| Mutex::new(FunctionSlot::Waiting(f))).collect();
    let next = AtomicUsize::new(0);
    let take = || {
        loop {
            let n = next.fetch_add(1, Ordering::Relaxed);
            let Some(slot) = slots.get(n) else { return };
            let mut slot = slot.lock().unwrap_or_else(PoisonError::into_inner);
            if let FunctionSlot::Waiting(function) =
                std::mem::replace(&mut *slot, FunctionSlot::Taken)
            {
                *slot = FunctionSlot::Done(run_on_function(n, function, work, &totals));
            }
        }
    };
    let progress = Progress::current();
    std::thread::scope(|scope| {
        for _ in 1..threads {
            scope.spawn(|| match &progress {
                Some(progress) => progress.observe(take),
                None => take(),
            });
        }
        take();
    });
    let done = slots.into_iter().filter_map(|slot| match into_unlocked(slot) {
        FunctionSlot::Done(result) => Some(result),
        FunctionSlot::Waiting(_) | FunctionSlot::Taken => None,
    });
    (done.collect(), into_unlocked(totals))
}

fn into_unlocked<T>(mutex: Mutex<T>) -> T {
    mutex.into_inner().unwrap_or_else(PoisonError::into_inner)
}

enum FunctionSlot {
    Waiting(Arc<Function>),
    Taken,
    Done(ProcessedFunction),
}

fn run_on_function(
    n: usize,
    mut function: Arc<Function>,
    work: &dyn Fn(&mut Function) -> FunctionResult,
    totals: &Mutex<FunctionTotals>,
) -> ProcessedFunction {
    let insts = function.num_insts();
    let kept = (Arc::strong_count(&function) > 1).then(|| function.clone());
    let worked = catch_unwind(AssertUnwindSafe(|| work(Arc::make_mut(&mut function))));
    let outcome = match worked {
        Ok(outcome) => outcome?,
        Err(panic) => return Err(PassError::Panicked(panic_message(&*panic))),
    };
    // The greedy driver counts the instructions itself.
    if outcome.greedy.is_none() {
        drop(Progress::expected_counter(insts as u64));
    }
    let result = kept.filter(|_| !outcome.changed && !outcome.edited).unwrap_or(function);
    totals.lock().unwrap_or_else(PoisonError::into_inner).add(n, &result, outcome);
    Ok(result)
}
