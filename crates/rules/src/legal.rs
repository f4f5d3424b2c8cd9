//! Whether a match can be replaced by one instruction, and if not, why.

use hashbrown::HashSet;
use rustc_hash::FxBuildHasher;
use sapwood_ptir::{
    BodyId, Dim, Function, InstId, InstPrinter, Name, Program, ValueDef, ValueId, ValueType,
};
use smallvec::SmallVec;

use crate::effects::CallEffects;
use crate::graph::PatternGraph;
use crate::matcher::Match;

/// Why a match cannot be replaced.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Illegal {
    /// Two instructions stand in different bodies.
    Bodies(InstId, InstId),
    /// A value that is no output is used outside.
    Used {
        /// The value.
        value: ValueId,
        /// What uses it.
        user: InstId,
    },
    /// An input is computed by the match itself.
    Input {
        /// The parameter of the pattern.
        param: String,
        /// The value.
        value: ValueId,
    },
    /// A path leaves the match and comes back.
    Path {
        /// The instruction outside that needs an output.
        through: InstId,
        /// The instruction of the match that needs it.
        back: InstId,
    },
    /// An effect would have to cross another.
    Effect {
        /// The effect.
        effect: InstId,
        /// The one it would cross.
        other: InstId,
    },
    /// A named dim that no input has.
    Dim {
        /// The dim.
        dim: Name,
        /// A value that has it.
        value: ValueId,
    },
}

/// Where the replacement of a match goes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Place {
    /// The last instruction of the match; the call takes its place.
    pub(crate) last: InstId,
    /// Instructions before it that need outputs, in program order; they move behind.
    pub(crate) moved: Vec<InstId>,
}

/// Whether a match of a program can be replaced.
///
/// # Errors
/// If not, with the reason.
pub fn legality(
    program: &Program,
    patterns: &[PatternGraph],
    found: &Match,
) -> Result<(), Illegal> {
    legal_in(program, patterns, found, &CallEffects::default())
}

/// Whether each of many matches of a program can be replaced, on its own.
#[must_use]
pub fn legalities(
    program: &Program,
    patterns: &[PatternGraph],
    matches: &[Match],
) -> Vec<Result<(), Illegal>> {
    let calls = CallEffects::default();
    matches.iter().map(|found| legal_in(program, patterns, found, &calls)).collect()
}

pub(crate) fn legal_in(
    program: &Program,
    patterns: &[PatternGraph],
    found: &Match,
    calls: &CallEffects,
) -> Result<(), Illegal> {
    let Some(f) = program.function(found.function) else { return Ok(()) };
    place_of(program, f, &patterns[found.pattern], found, calls).map(|_| ())
}

/// Where the replacement of a match would go.
pub(crate) fn place_of(
    program: &Program,
    f: &Function,
    pattern: &PatternGraph,
    found: &Match,
    calls: &CallEffects,
) -> Result<Place, Illegal> {
    let body = one_body(f, found)?;
    let matched = Matched::new(f, body, found);
    let outputs = found.outputs(pattern);
    inner_values(f, &matched, found, &outputs)?;
    inputs(f, &matched, pattern, found)?;
    dims(f, pattern, found)?;
    let last = matched.last;
    let moved = users_before(f, &matched, &outputs)?;
    effects(f, &matched, &moved, &|i| calls.ordered(program, f, i))?;
    Ok(Place { last, moved })
}

/// Whether a match is bound to its instructions in a way that can be replaced. If it is not, another binding of the same
/// instructions may be. All else that legality asks is the same for every binding that passes: the values used outside
/// are all outputs then, and only these decide which instructions move.
///
/// Takes a step per operand and per instruction in a region, as finding the match did, however often its values are
/// used outside.
pub(crate) fn is_legal_binding(f: &Function, pattern: &PatternGraph, found: &Match) -> bool {
    let Ok(body) = one_body(f, found) else { return false };
    let matched = Matched::new(f, body, found);
    escaping(f, &matched, found, &found.outputs(pattern)).is_none()
        && inputs(f, &matched, pattern, found).is_ok()
        && dims(f, pattern, found).is_ok()
}

fn one_body(f: &Function, found: &Match) -> Result<BodyId, Illegal> {
    let first = found.ops[0];
    let body = f.body_of(first);
    match found.ops.iter().find(|&&i| f.body_of(i) != body) {
        Some(&other) => Err(Illegal::Bodies(first, other)),
        None => Ok(body.unwrap_or(f.body())),
    }
}

/// The instructions of a match.
pub(crate) struct Matched<'a> {
    f: &'a Function,
    body: BodyId,
    sorted: Vec<InstId>,
    last: InstId,
    any_regions: bool,
}

impl<'a> Matched<'a> {
    pub(crate) fn new(f: &'a Function, body: BodyId, found: &Match) -> Self {
        let mut sorted = found.ops.clone();
        sorted.sort_unstable();
        let last = found.ops.iter().copied().max_by_key(|&i| f.order_key(i));
        let any_regions = sorted.iter().any(|&i| !f.regions(i).is_empty());
        Self { f, body, last: last.unwrap_or(found.ops[0]), sorted, any_regions }
    }

    fn has(&self, inst: InstId) -> bool {
        self.sorted.binary_search(&inst).is_ok()
    }

    // Whether an instruction is one of the match or stands in a region of one.
    pub(crate) fn holds(&self, inst: InstId) -> bool {
        if self.has(inst) {
            return true;
        }
        self.any_regions && self.around(inst).is_some_and(|outer| self.has(outer))
    }

    // The instruction of the match's body that is or holds this one.
    fn around(&self, mut inst: InstId) -> Option<InstId> {
        while let Some(body) = self.f.body_of(inst) {
            if body == self.body {
                return Some(inst);
            }
            inst = self.f.body_owner(body)?;
        }
        None
    }
}

// Only outputs are used outside.
fn inner_values(
    f: &Function,
    matched: &Matched<'_>,
    found: &Match,
    outputs: &[ValueId],
) -> Result<(), Illegal> {
    let Some(value) = escaping(f, matched, found, outputs) else { return Ok(()) };
    let outside = f.uses(value).map(|u| u.user).filter(|&u| !matched.holds(u));
    match outside.min_by_key(|&i| f.order_key(i)) {
        Some(user) => Err(Illegal::Used { value, user }),
        None => Ok(()),
    }
}

// The first value that is no output and is used outside.
fn escaping(
    f: &Function,
    matched: &Matched<'_>,
    found: &Match,
    outputs: &[ValueId],
) -> Option<ValueId> {
    let inner = found.ops.iter().flat_map(|&i| f.inst_results(i)).filter(|v| !outputs.contains(v));
    inner.into_iter().find(|&v| f.uses(v).any(|u| !matched.holds(u.user)))
}

// No input is a result of the match.
fn inputs(
    f: &Function,
    matched: &Matched<'_>,
    pattern: &PatternGraph,
    found: &Match,
) -> Result<(), Illegal> {
    let lists = found.lists.iter().flatten().flatten().map(|&v| (None, v));
    let params = pattern.params.iter().filter_map(|&p| Some((Some(p), found.values[p]?)));
    for (param, value) in params.chain(lists) {
        if let ValueDef::Result(inst, _) = f.value_def(value)
            && matched.has(inst)
        {
            let param = param.map_or_else(|| "..".into(), |p| pattern.values[p].name.clone());
            return Err(Illegal::Input { param, value });
        }
    }
    Ok(())
}

// A function knows the named dims of its parameters, and no others: not those of results, of what is in regions, or of
// the constants that are copied.
fn dims(f: &Function, pattern: &PatternGraph, found: &Match) -> Result<(), Illegal> {
    let mut known: Option<HashSet<Name, FxBuildHasher>> = None;
    let mut check = |value: ValueId| {
        for dim in named(f.value_type(value)) {
            let known = known.get_or_insert_with(|| {
                let lists = found.lists.iter().flatten().flatten().copied();
                let inputs = found.inputs(pattern).into_iter().chain(lists);
                inputs.flat_map(|v| named(f.value_type(v))).collect()
            });
            if !known.contains(&dim) {
                return Err(Illegal::Dim { dim, value });
            }
        }
        Ok(())
    };
    for &inst in &found.ops {
        f.inst_results(inst).try_for_each(&mut check)?;
        for &body in f.regions(inst) {
            f.body_params(body).iter().copied().try_for_each(&mut check)?;
            for nested in f.walk_body(body) {
                f.inst_results(nested).try_for_each(&mut check)?;
                for &inner in f.regions(nested) {
                    f.body_params(inner).iter().copied().try_for_each(&mut check)?;
                }
            }
        }
    }
    found.constants(f, pattern).into_iter().try_for_each(check)
}

fn named(ty: &ValueType) -> SmallVec<[Name; 2]> {
    let mut names = SmallVec::new();
    let _ = ty.map_dims(&mut |dim| {
        if let Dim::Named(name) = dim {
            names.push(name);
        }
        dim
    });
    names
}

// What needs outputs and stands before the last instruction of the match, directly or not. None of it may be needed by
// the match.
fn users_before(
    f: &Function,
    matched: &Matched<'_>,
    outputs: &[ValueId],
) -> Result<Vec<InstId>, Illegal> {
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
                    return Err(Illegal::Path { through, back: u.user });
                }
                continue;
            }
            let Some(outer) = matched.around(u.user) else { continue };
            if matched.has(outer) {
                match from {
                    Some(through) => return Err(Illegal::Path { through, back: outer }),
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

// Effects keep their order: what stays comes before the match, what moves behind it.
fn effects(
    f: &Function,
    matched: &Matched<'_>,
    moved: &[InstId],
    ordered: &dyn Fn(InstId) -> bool,
) -> Result<(), Illegal> {
    let candidates = matched.sorted.iter().chain(moved).copied().filter(|&i| ordered(i));
    let Some(first) = candidates.min_by_key(|&i| f.order_key(i)) else { return Ok(()) };
    // Stays: 0. Of the match: 1. Moves: 2. Must not fall.
    let rank = |i: InstId| {
        if matched.has(i) {
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
                return Err(Illegal::Effect { effect: inst, other: highest.1 });
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

impl Illegal {
    /// The reason for people, with the names the program is printed with.
    #[must_use]
    pub fn describe(&self, names: &mut InstPrinter<'_>) -> String {
        match self {
            Self::Bodies(a, b) => {
                format!("`{}` and `{}` stand in different bodies", names.print(*a), names.print(*b))
            }
            Self::Used { value, user } => format!(
                "{} is no output of the pattern, but `{}` uses it",
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
                "`{}` lies behind `{}`, and effects keep their order",
                names.print(*effect),
                names.print(*other)
            ),
            Self::Dim { dim, value } => {
                format!("no input says what ?{dim} in the type of {} is", names.value(*value))
            }
        }
    }
}
