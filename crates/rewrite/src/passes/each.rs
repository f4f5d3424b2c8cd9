//! A pass that works on one function after the other, or on several at the same time, with the same result.

use std::fmt::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use sapwood_ptir::{Function, Program};
use sapwood_types::counted;

use super::{PassContext, PassError};
use crate::greedy::GreedyStats;
use crate::pattern::FrozenPatternSet;
use crate::trace::Listening;

/// Makes a type a pass that works on one function after the other: what it does to each, and how it states its options
/// if it has any. Its name is that of the `INFO` beside it.
macro_rules! function_pass {
    ($pass:ident, $work:path $(, options = $options:path)?) => {
        impl crate::passes::Pass for $pass {
            fn name(&self) -> &'static str {
                INFO.name
            }

            $(fn options(&self) -> Vec<(&'static str, String)> {
                $options(self)
            })?

            fn run_on_program(
                &self,
                program: &mut sapwood_ptir::Program,
                cx: &mut crate::passes::PassContext,
            ) -> Result<bool, crate::passes::PassError> {
                crate::passes::each_function(program, cx, |f, listener| $work(self, f, listener))
            }
        }
    };
}

pub(super) use function_pass;

/// What a pass did to one function.
#[derive(Default)]
pub(crate) struct Outcome {
    pub(crate) changed: bool,
    pub(crate) counters: Vec<(&'static str, usize)>,
    // With the patterns whose names are still to be put in.
    pub(crate) greedy: Option<(GreedyStats, Arc<FrozenPatternSet>)>,
}

impl Outcome {
    /// Of a pass that counts one thing, and changed the function if there was any.
    pub(crate) fn counted(name: &'static str, n: usize) -> Self {
        Self { changed: n > 0, counters: vec![(name, n)], greedy: None }
    }
}

/// What comes of one function.
pub(super) type Worked = Result<Outcome, PassError>;

type Done = Result<(Arc<Function>, Outcome), PassError>;

/// Runs over every function, with somebody to tell about edits if there is one. Functions that do not change stay shared with whoever else holds them.
pub(crate) fn each_function(
    program: &mut Program,
    cx: &mut PassContext,
    work: impl Fn(&mut Function, Listening<'_>) -> Worked + Sync,
) -> Result<bool, PassError> {
    let functions = program.take_functions();
    let results = match &cx.trace {
        None => run_all(functions, cx.threads, &|f: &mut Function| work(f, None)),
        // One after the other, so that events come in order.
        Some(trace) => run_all(functions, 1, &|f: &mut Function| work(f, Some(trace.listener()))),
    };
    let mut kept = Vec::with_capacity(results.len());
    let (mut changed, mut failed) = (false, None);
    for result in results {
        match result {
            Ok((function, outcome)) => {
                changed |= outcome.changed;
                report(cx, &function, outcome);
                kept.push(function);
            }
            Err(error) => {
                failed.get_or_insert(error);
            }
        }
    }
    // Names are those of before, so they are all different.
    let _ = program.set_functions(kept);
    failed.map_or(Ok(changed), Err)
}

fn report(cx: &mut PassContext, function: &Function, outcome: Outcome) {
    for (name, n) in outcome.counters {
        cx.count(name, n);
    }
    let Some((mut stats, patterns)) = outcome.greedy else { return };
    for problem in &stats.problems {
        cx.warnings.push(format!("@{}: {problem}", function.name()));
    }
    for cycle in &stats.cycles {
        let names = cycle.join("`, `");
        cx.warnings
            .push(format!("@{}: patterns take turns without end: `{names}`", function.name()));
    }
    if !stats.converged && stats.cycles.is_empty() {
        let mut text = format!(
            "@{}: not converged after {} and {}",
            function.name(),
            counted(stats.rounds, "round"),
            counted(stats.rewrites + stats.folds, "rewrite")
        );
        if let Some(limit) = &stats.stopped_by {
            let _ = write!(text, ": {limit}");
        }
        if !stats.last_fired.is_empty() {
            let _ =
                write!(text, "; the last patterns that fired: `{}`", stats.last_fired.join("`, `"));
        }
        cx.warnings.push(text);
    }
    match &mut cx.greedy {
        Some(all) => all.add(&stats),
        none => {
            stats.name_patterns(&patterns);
            *none = Some(stats);
        }
    }
}

fn run_all(
    functions: Vec<Arc<Function>>,
    threads: usize,
    work: &(impl Fn(&mut Function) -> Worked + Sync),
) -> Vec<Done> {
    let threads = threads.clamp(1, functions.len().max(1));
    if threads == 1 {
        return functions.into_iter().map(|f| run_one(f, work)).collect();
    }
    let slots: Vec<Mutex<Slot>> =
        functions.into_iter().map(|f| Mutex::new(Slot::Waiting(f))).collect();
    let next = AtomicUsize::new(0);
    let take = || {
        while let Some(slot) = slots.get(next.fetch_add(1, Ordering::Relaxed)) {
            let mut slot = slot.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            if let Slot::Waiting(function) = std::mem::replace(&mut *slot, Slot::Taken) {
                *slot = Slot::Done(Box::new(run_one(function, work)));
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..threads {
            scope.spawn(take);
        }
        take();
    });
    let done = slots.into_iter().filter_map(|slot| {
        match slot.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner) {
            Slot::Done(result) => Some(*result),
            Slot::Waiting(_) | Slot::Taken => None,
        }
    });
    done.collect()
}

enum Slot {
    Waiting(Arc<Function>),
    Taken,
    Done(Box<Done>),
}

fn run_one(mut function: Arc<Function>, work: &impl Fn(&mut Function) -> Worked) -> Done {
    let kept = (Arc::strong_count(&function) > 1).then(|| function.clone());
    let worked = catch_unwind(AssertUnwindSafe(|| work(Arc::make_mut(&mut function))));
    let outcome = match worked {
        Ok(outcome) => outcome?,
        Err(panic) => return Err(PassError::Panicked(crate::greedy::panic_message(&*panic))),
    };
    Ok((kept.filter(|_| !outcome.changed).unwrap_or(function), outcome))
}
