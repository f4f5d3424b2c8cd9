//! Legality of a match: whether it can be replaced by one instruction.

use hashbrown::HashSet;
use rustc_hash::FxBuildHasher;
use sapwood_ptir::{BodyId, Function, InstId, InstPrinter, Name, Program, ValueDef, ValueId};

use crate::cut_symbols::CutSymbols;
use crate::effects::CallEffects;
use crate::graph::PatternGraph;
use crate::matcher::Match;

/// The reason why a match cannot be replaced.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum IllegalMatch {
    /// Two instructions are in different bodies.
    Bodies(InstId, InstId),
    /// A value that is not an output is used outside of the match.
    Used {
        /// The value.
        value: ValueId,
        /// Its user.
        user: InstId,
    },
    /// The match itself computes an input.
    Input {
        /// The parameter of the pattern.
        param: String,
        /// The value.
        value: ValueId,
    },
    /// A path leaves the match and returns to it.
    Path {
        /// The instruction outside that uses an output.
        through: InstId,
        /// The instruction of the match that depends on it.
        back: InstId,
    },
    /// Two effects would change their order.
    Effect {
        /// The effect that would move.
        effect: InstId,
        /// The effect that it would cross.
        other: InstId,
    },
    /// No value outside of the match that a call could pass on determines a symbol.
    Dim {
        /// The symbol.
        dim: Name,
        /// An instruction whose attributes or types have it.
        inst: InstId,
    },
    /// A constant of the match is no longer one, since an earlier extraction replaced it.
    Constant {
        /// The value.
        value: ValueId,
    },
}

/// The place of the replacement of a match.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct ReplacementPlace {
    /// The last instruction of the match; the call replaces it.
    pub(crate) last: InstId,
    /// Earlier instructions that use outputs, in program order; they move after the call.
    pub(crate) moved: Vec<InstId>,
}

/// Checks whether a match of a program can be replaced.
///
/// # Errors
/// With the reason, if it cannot be replaced.
pub fn legality(
    program: &Program,
    patterns: &[PatternGraph],
    found: &Match,
) -> Result<(), IllegalMatch> {
    check_match(program, patterns, found, &CallEffects::default())
}

/// Checks whether each of several matches of a program can be replaced on its own.
#[must_use]
pub fn legalities(
    program: &Program,
    patterns: &[PatternGraph],
    matches: &[Match],
) -> Vec<Result<(), IllegalMatch>> {
    let calls = CallEffects::default();
    matches.iter().map(|found| check_match(program, patterns, found, &calls)).collect()
}

pub(crate) fn check_match(
    program: &Program,
    patterns: &[PatternGraph],
    found: &Match,
    calls: &CallEffects,
) -> Result<(), IllegalMatch> {
    let Some(f) = program.function(found.function) else { return Ok(()) };
    replacement_place(program, f, &patterns[found.pattern], found, calls).map(|_| ())
}

/// Returns the place of the replacement of a match.
pub(crate) fn replacement_place(
    program: &Program,
    f: &Function,
    pattern: &PatternGraph,
    found: &Match,
    calls: &CallEffects,
) -> Result<ReplacementPlace, IllegalMatch> {
    let body = common_body(f, found)?;
    let matched = MatchedSet::new(f, body, found);
    let outputs = found.outputs(pattern);
    check_inner_values(f, &matched, found, &outputs)?;
    check_inputs(f, &matched, pattern, found)?;
    CutSymbols::new(f, pattern, found)?;
    let last = matched.last;
    let moved = instructions_to_move(f, &matched, &outputs)?;
    check_effect_order(f, &matched, &moved, &|i| calls.ordered(program, f, i))?;
    Ok(ReplacementPlace { last, moved })
}

/// Returns whether the binding of a match to its instructions can be replaced. If not, another binding of the same instructions
/// may be. All other legality conditions are the same for every binding that passes: the values used outside are then all
/// outputs, and only these decide which instructions move.
///
/// Takes a step per operand and per instruction in a region, as finding the match did, however often its values are
/// used outside.
pub(crate) fn is_legal_binding(f: &Function, pattern: &PatternGraph, found: &Match) -> bool {
    let Ok(body) = common_body(f, found) else { return false };
    let matched = MatchedSet::new(f, body, found);
    first_escaping_value(f, &matched, found, &found.outputs(pattern)).is_none()
        && check_inputs(f, &matched, pattern, found).is_ok()
        && CutSymbols::new(f, pattern, found).is_ok()
}

fn common_body(f: &Function, found: &Match) -> Result<BodyId, IllegalMatch> {
    let first = found.ops[0];
    let body = f.body_of(first);
    match found.ops.iter().find(|&&i| f.body_of(i) != body) {
        Some(&other) => Err(IllegalMatch::Bodies(first, other)),
        None => Ok(body.unwrap_or(f.body())),
    }
}

/// The instructions of a match.
pub(crate) struct MatchedSet<'a> {
    f: &'a Function,
    body: BodyId,
    sorted: Vec<InstId>,
    last: InstId,
    any_regions: bool,
}

impl<'a> MatchedSet<'a> {
    pub(crate) fn new(f: &'a Function, body: BodyId, found: &Match) -> Self {
        let mut sorted = found.ops.clone();
        sorted.sort_unstable();
        let last = found.ops.iter().copied().max_by_key(|&i| f.order_key(i));
        let any_regions = sorted.iter().any(|&i| !f.regions(i).is_empty());
        Self { f, body, last: last.unwrap_or(found.ops[0]), sorted, any_regions }
    }

    fn contains(&self, inst: InstId) -> bool {
        self.sorted.binary_search(&inst).is_ok()
    }

    // Returns whether an instruction belongs to the match or is in a region of one that does.
    pub(crate) fn contains_nested(&self, inst: InstId) -> bool {
        if self.contains(inst) {
            return true;
        }
        self.any_regions && self.enclosing_inst(inst).is_some_and(|outer| self.contains(outer))
    }

    // Returns the instruction of the match's body that is or contains this one.
    fn enclosing_inst(&self, mut inst: InstId) -> Option<InstId> {
        while let Some(body) = self.f.body_of(inst) {
            if body == self.body {
                return Some(inst);
            }
            inst = self.f.body_owner(body)?;
        }
        None
    }
}

// Checks that only outputs are used outside.
fn check_inner_values(
    f: &Function,
    matched: &MatchedSet<'_>,
    found: &Match,
    outputs: &[ValueId],
) -> Result<(), IllegalMatch> {
    let Some(value) = first_escaping_value(f, matched, found, outputs) else { return Ok(()) };
    let outside = f.uses(value).map(|u| u.user).filter(|&u| !matched.contains_nested(u));
    match outside.min_by_key(|&i| f.order_key(i)) {
        Some(user) => Err(IllegalMatch::Used { value, user }),
        None => Ok(()),
    }
}

// Returns the first value that is not an output and is used outside.
fn first_escaping_value(
    f: &Function,
    matched: &MatchedSet<'_>,
    found: &Match,
    outputs: &[ValueId],
) -> Option<ValueId> {
    let inner = found.ops.iter().flat_map(|&i| f.inst_results(i)).filter(|v| !outputs.contains(v));
    inner.into_iter().find(|&v| f.uses(v).any(|u| !matched.contains_nested(u.user)))
}

// Checks that no input is a result of the match.
fn check_inputs(
    f: &Function,
    matched: &MatchedSet<'_>,
    pattern: &PatternGraph,
    found: &Match,
) -> Result<(), IllegalMatch> {
    let lists = found.lists.iter().flatten().flatten().map(|&v| (None, v));
    let params = pattern.params.iter().filter_map(|&p| Some((Some(p), found.values[p]?)));
    for (param, value) in params.chain(lists) {
        if let ValueDef::Result(inst, _) = f.value_def(value)
            && matched.contains(inst)
        {
            let param = param.map_or_else(|| "..".into(), |p| pattern.values[p].name.clone());
            return Err(IllegalMatch::Input { param, value });
        }
    }
    Ok(())
}

// Returns the instructions before the last one of the match that depend on outputs, directly or not. The match must not depend
// on them.
fn instructions_to_move(
    f: &Function,
    matched: &MatchedSet<'_>,
    outputs: &[ValueId],
) -> Result<Vec<InstId>, IllegalMatch> {
    let end = f.order_key(matched.last);
    let mut seen: HashSet<InstId, FxBuildHasher> = HashSet::default();
    let mut moved: Vec<InstId> = Vec::new();
    let mut open: Vec<(ValueId, Option<InstId>)> = outputs.iter().map(|&v| (v, None)).collect();
    while let Some((value, from)) = open.pop() {
        for u in f.uses(value) {
            if f.order_key(u.user) >= end {
                // The last instruction itself, or one in its regions, completes no later than it.
                if u.user == matched.last
                    && let Some(through) = from
                {
                    return Err(IllegalMatch::Path { through, back: u.user });
                }
                continue;
            }
            let Some(outer) = matched.enclosing_inst(u.user) else { continue };
            if matched.contains(outer) {
                match from {
                    Some(through) => return Err(IllegalMatch::Path { through, back: outer }),
                    None => continue,
                }
            }
            if seen.insert(outer) {
                moved.push(outer);
                open.extend(f.inst_results(outer).map(|v| (v, Some(outer))));
            }
        }
    }
    moved.sort_unstable_by_key(|&i| f.order_key(i));
    Ok(moved)
}

// Checks that effects keep their order: instructions that stay come before the match, those that move come after it.
fn check_effect_order(
    f: &Function,
    matched: &MatchedSet<'_>,
    moved: &[InstId],
    ordered: &dyn Fn(InstId) -> bool,
) -> Result<(), IllegalMatch> {
    let candidates = matched.sorted.iter().chain(moved).copied().filter(|&i| ordered(i));
    let Some(first) = candidates.min_by_key(|&i| f.order_key(i)) else { return Ok(()) };
    // 0: stays, 1: in the match, 2: moves. The sequence must not decrease.
    let rank = |i: InstId| {
        if matched.contains(i) {
            1
        } else if moved.binary_search_by_key(&f.order_key(i), |&m| f.order_key(m)).is_ok() {
            2
        } else {
            0
        }
    };
    let mut highest = (rank(first), first);
    let mut at = Some(first);
    while let Some(inst) = at {
        if ordered(inst) {
            let own = rank(inst);
            if own < highest.0 {
                return Err(IllegalMatch::Effect { effect: inst, other: highest.1 });
            }
            highest = (own, inst);
        }
        if inst == matched.last {
            break;
        }
        at = f.next_inst(inst);
    }
    Ok(())
}

impl IllegalMatch {
    /// Describes the reason with the value names of the printed program.
    #[must_use]
    pub fn describe(&self, names: &mut InstPrinter<'_>) -> String {
        match self {
            Self::Constant { value } => {
                format!(
                    "{} is no longer a constant: an earlier match has replaced it",
                    names.value(*value)
                )
            }
            Self::Bodies(a, b) => {
                format!("`{}` and `{}` are in different bodies", names.print(*a), names.print(*b))
            }
            Self::Used { value, user } => format!(
                "{} is not an output of the pattern, but `{}` uses it",
                names.value(*value),
                names.print(*user)
            ),
            Self::Input { param, value } => format!(
                "the input {param} is {}, which the match itself computes",
                names.value(*value)
            ),
            Self::Path { through, back } => format!(
                "`{}` needs an output, and `{}` of the match depends on it",
                names.print(*through),
                names.print(*back)
            ),
            Self::Effect { effect, other } => format!(
                "`{}` comes after `{}`, and effects keep their order",
                names.print(*effect),
                names.print(*other)
            ),
            Self::Dim { dim, inst } => {
                format!("no input determines ?{dim} of `{}`", names.print(*inst))
            }
        }
    }
}
