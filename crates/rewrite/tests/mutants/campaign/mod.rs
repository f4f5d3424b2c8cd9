//! The campaign: runs every mutant on the programs that reach it, until the check has caught it.

pub(crate) mod cases;
pub(crate) mod page;
pub(crate) mod search;

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock};

use sapwood_check::Verdict;
use sapwood_ptir::Program;

use self::cases::{Case, Flaw};
use self::search::Reference;
use crate::mutant::{Mutant, recording};

/// The bytes of a thread's stack. A mutant may recurse until its queries are used up.
const STACK_SIZE: usize = 256 << 20;

/// The thoroughness of a campaign.
#[derive(Clone, Copy)]
pub(crate) struct Effort {
    /// The number of inputs that are drawn per program to separate mutants.
    pub(crate) draws: u64,
    /// The maximum number of programs on which a mutant is tried.
    pub(crate) programs: usize,
    /// True to continue after a mutant is caught, to count how many of its wrong programs are caught.
    pub(crate) all: bool,
}

/// The answer of the check for one program.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Answer {
    /// The programs compute different results.
    Different,
    /// They could not be compared, which counts as a failed check.
    NotChecked,
    /// The check succeeds, with this verdict.
    Passes(Verdict),
}

/// The outcome of one mutant.
#[derive(Clone, Default, Debug)]
pub(crate) struct Outcome {
    /// The number of programs on which it was tried.
    pub(crate) tried: usize,
    /// The number of programs whose simplification it changes.
    pub(crate) changed: usize,
    /// The first flaw that shows without a check.
    pub(crate) flaw: Option<Flaw>,
    /// The number of programs that become wrong: an input separates them.
    pub(crate) wrong: usize,
    /// The number of wrong programs that fail the check, and of those that fail as not checked.
    pub(crate) found: usize,
    pub(crate) not_checked: usize,
    /// The first wrong program that passes the check, with an input and the verdict.
    pub(crate) passed: Option<(usize, String, Verdict)>,
}

impl Outcome {
    /// Returns true if an input separates the mutant from the correct program.
    pub(crate) fn counts(&self) -> bool {
        self.wrong > 0
    }

    pub(crate) fn is_caught(&self) -> bool {
        self.found > 0
    }
}

/// The programs, with their simplification without a mutant.
pub(crate) struct Campaign {
    pub(crate) cases: Vec<Case>,
    pub(crate) mutants: &'static [Mutant],
    /// The number of the first mutant.
    first_mutant: usize,
    pub(crate) effort: Effort,
    right: Vec<Right>,
    // By mutant: the programs that reach it.
    reached: Vec<Vec<usize>>,
    judged: Mutex<HashMap<(usize, String), Judgement>>,
}

struct Right {
    program: Program,
    text: String,
    reference: OnceLock<Reference>,
    answer: OnceLock<Answer>,
}

#[derive(Clone)]
struct Judgement {
    separated: Option<String>,
    answer: Answer,
}

impl Campaign {
    /// Simplifies all programs without a mutant. The number of the first mutant is given.
    pub(crate) fn new(
        cases: Vec<Case>,
        (first_mutant, mutants): (usize, &'static [Mutant]),
        effort: Effort,
    ) -> Self {
        let mut right = Vec::new();
        let mut reached = vec![Vec::new(); mutants.len()];
        for (n, case) in cases.iter().enumerate() {
            let (done, asked) =
                recording(first_mutant..first_mutant + mutants.len(), || case.simplified(None));
            assert_eq!(done.flaw, None, "{} without a mutant", case.name);
            let text = done.program.to_string();
            right.push(Right {
                program: done.program,
                text,
                reference: OnceLock::new(),
                answer: OnceLock::new(),
            });
            for (mutant, _) in asked.iter().enumerate().filter(|(_, asked)| **asked) {
                reached[mutant].push(n);
            }
        }
        Self { cases, mutants, first_mutant, effort, right, reached, judged: Mutex::default() }
    }

    /// Runs all mutants, on all cores of the machine.
    pub(crate) fn run(&self) -> Vec<Outcome> {
        let next = AtomicUsize::new(0);
        let outcomes = Mutex::new(vec![Outcome::default(); self.mutants.len()]);
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        std::thread::scope(|scope| {
            for _ in 0..threads {
                let work = || {
                    loop {
                        let mutant = next.fetch_add(1, Ordering::Relaxed);
                        if mutant >= self.mutants.len() {
                            break;
                        }
                        let outcome = self.outcome(mutant);
                        outcomes.lock().expect("no thread panics")[mutant] = outcome;
                    }
                };
                let thread = std::thread::Builder::new().stack_size(STACK_SIZE);
                thread.spawn_scoped(scope, work).expect("a thread can be started");
            }
        });
        outcomes.into_inner().expect("no thread panics")
    }

    fn outcome(&self, mutant: usize) -> Outcome {
        let mut outcome = Outcome::default();
        for &n in self.reached[mutant].iter().take(self.effort.programs) {
            outcome.tried += 1;
            let done = self.cases[n].simplified(Some((self.first_mutant + mutant) as u32));
            outcome.flaw = outcome.flaw.or(done.flaw);
            if done.flaw.is_some_and(|flaw| flaw != Flaw::DoesNotConverge) {
                continue;
            }
            let text = done.program.to_string();
            if text == self.right[n].text {
                continue;
            }
            outcome.changed += 1;
            let Judgement { separated, answer } = self.judge(n, &done.program, text);
            let Some(input) = separated else { continue };
            outcome.wrong += 1;
            match answer {
                Answer::Passes(verdict) => {
                    outcome.passed.get_or_insert((n, input, verdict));
                }
                Answer::Different => outcome.found += 1,
                Answer::NotChecked => {
                    outcome.found += 1;
                    outcome.not_checked += 1;
                }
            }
            if outcome.is_caught() && !self.effort.all {
                break;
            }
        }
        outcome
    }

    // Judges a changed simplification: searches for an input on which it differs, and runs the check.
    fn judge(&self, n: usize, after: &Program, text: String) -> Judgement {
        let key = (n, text);
        if let Some(known) = self.judged.lock().expect("no thread panics").get(&key) {
            return known.clone();
        }
        let (case, right) = (&self.cases[n], &self.right[n]);
        let reference = right.reference.get_or_init(|| {
            let draws = self.effort.draws;
            Reference::new(&case.before, &right.program, case.function, case.floats(), draws)
        });
        let separated = reference.separate(after);
        // A program that no input separates does not count, whatever the check answers.
        let answer = match separated {
            Some(_) => self.checked(n, after),
            None => Answer::Passes(Verdict::Same),
        };
        let judgement = Judgement { separated, answer };
        self.judged.lock().expect("no thread panics").insert(key, judgement.clone());
        judgement
    }

    // Returns the answer of the check. If it cannot check the correct program either, it has not found an error.
    fn checked(&self, n: usize, after: &Program) -> Answer {
        let (case, right) = (&self.cases[n], &self.right[n]);
        let usual = *right.answer.get_or_init(|| crate::check(case, &right.program));
        assert_ne!(usual, Answer::Different, "{}: the check refuses what is right", case.name);
        match crate::check(case, after) {
            Answer::NotChecked if usual == Answer::NotChecked => {
                Answer::Passes(Verdict::NotChecked)
            }
            answer => answer,
        }
    }
}
