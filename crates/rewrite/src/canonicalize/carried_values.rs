//! Liveness and invariance of the carried values of loops.

use rustc_hash::FxHashSet;
use sapwood_ptir::{BodyId, InstId, ValueDef, ValueId};
use smallvec::SmallVec;

use crate::pattern::{MovedRegion, Rewrite};

/// The number of steps for which the instructions that depend on a carried value are followed. A value with more dependents
/// is taken to be live, so that the loops of a nest do not each examine everything inside them.
const MAX_DEPENDENCE_STEPS: usize = 4096;

/// Returns a region with some parameters replaced by values and some results removed.
pub(super) fn narrowed_region(
    body: BodyId,
    params: &[(usize, ValueId)],
    gone: &[usize],
) -> MovedRegion {
    let moved = MovedRegion::new(body);
    let moved = params.iter().fold(moved, |m, &(n, value)| m.replace_param(n, value));
    gone.iter().fold(moved, |m, &n| m.drop_result(n))
}

/// The number of carried values that are followed from one to the next before all of them are examined.
const MAX_CARRY_CHAIN: usize = 32;

/// Returns the carried values of a loop that keep their initial value in every step: the body yields that value, or a carried
/// value that has the same initial value and keeps it. `may_remove` says which of them may be removed. In a loop with many
/// carried values, only those that changed since the last call are examined.
pub(super) fn invariant_carries(
    rw: &Rewrite<'_>,
    body: BodyId,
    inits: &[ValueId],
    may_remove: impl Fn(usize) -> bool,
) -> Vec<usize> {
    let (f, yields) = (rw.function(), rw.yields(body));
    let next = |n: usize| match f.value_def(yields[n]) {
        _ if !may_remove(n) => CarryStep::Changed,
        _ if yields[n] == inits[n] => CarryStep::Unchanged,
        ValueDef::Param(of, m) if of == body && inits.get(m) == Some(&inits[n]) => {
            CarryStep::CopyOf(m)
        }
        _ => CarryStep::Changed,
    };
    let Some(changed) = rw.changed_carries(inits.len()) else {
        return all_invariant_carries(inits, next);
    };
    let mut stay: Vec<usize> = Vec::new();
    for n in changed.into_iter().filter(|&n| n < inits.len()) {
        let mut chain: SmallVec<[usize; 8]> = SmallVec::new();
        let mut at = n;
        let stays = loop {
            if chain.contains(&at) {
                break true;
            }
            if chain.len() == MAX_CARRY_CHAIN {
                return all_invariant_carries(inits, next);
            }
            chain.push(at);
            match next(at) {
                CarryStep::Unchanged => break true,
                CarryStep::CopyOf(m) => at = m,
                CarryStep::Changed => break false,
            }
        };
        if stays {
            stay.extend(chain);
        }
    }
    stay.sort_unstable();
    stay.dedup();
    stay
}

// The value of a carried value after a step.
enum CarryStep {
    Unchanged,
    // The previous value of another carried value, or of itself.
    CopyOf(usize),
    Changed,
}

// Returns all carried values that may stay, except those that depend on one that does not.
fn all_invariant_carries(inits: &[ValueId], next: impl Fn(usize) -> CarryStep) -> Vec<usize> {
    let mut stays = vec![true; inits.len()];
    let mut depends_on: Vec<(usize, usize)> = Vec::new();
    for (n, stays) in stays.iter_mut().enumerate() {
        match next(n) {
            CarryStep::CopyOf(m) if m != n => depends_on.push((m, n)),
            CarryStep::Unchanged | CarryStep::CopyOf(_) => {}
            CarryStep::Changed => *stays = false,
        }
    }
    depends_on.sort_unstable();
    let mut worklist: Vec<usize> = match depends_on.is_empty() {
        true => Vec::new(),
        false => (0..inits.len()).filter(|&n| !stays[n]).collect(),
    };
    while let Some(m) = worklist.pop() {
        let first = depends_on.partition_point(|&(on, _)| on < m);
        for &(_, n) in depends_on[first..].iter().take_while(|&&(on, _)| on == m) {
            if std::mem::replace(&mut stays[n], false) {
                worklist.push(n);
            }
        }
    }
    (0..inits.len()).filter(|&n| stays[n]).collect()
}

/// Returns, for each of the first `carried` parameters of a loop's body, true if the loop's results or something ordered
/// depend on it. `wanted` says which yields are needed in any case.
pub(super) fn live_carries(
    rw: &Rewrite<'_>,
    body: BodyId,
    carried: usize,
    wanted: &[bool],
) -> Vec<bool> {
    let params = rw.params(body);
    let mut live: Vec<bool> = wanted[..carried].to_vec();
    // By carried value: the yields that depend on it.
    let mut reached: Vec<Vec<usize>> = vec![Vec::new(); carried];
    for n in (0..carried).filter(|&n| !wanted[n]) {
        match dependent_yields(rw, body, params[n]) {
            Some(yields) => reached[n] = yields,
            None => live[n] = true,
        }
    }
    // Everything that a live value depends on is live.
    let mut feeds: Vec<Vec<usize>> = vec![Vec::new(); carried];
    let mut todo: Vec<usize> = (0..carried).filter(|&n| live[n]).collect();
    for (n, yields) in reached.iter().enumerate() {
        for &m in yields {
            match feeds.get_mut(m) {
                Some(list) => list.push(n),
                None if wanted[m] => todo.push(n),
                None => {}
            }
        }
    }
    while let Some(n) = todo.pop() {
        live[n] = true;
        todo.extend(std::mem::take(&mut feeds[n]));
    }
    live
}

/// Returns the yields of a body that depend on a value. `None` if something ordered depends on it, or too much.
pub(super) fn dependent_yields(
    rw: &Rewrite<'_>,
    body: BodyId,
    from: ValueId,
) -> Option<Vec<usize>> {
    let f = rw.function();
    let end = f.terminator(body)?;
    let (mut yields, mut steps) = (Vec::new(), 0);
    let mut seen: FxHashSet<InstId> = FxHashSet::default();
    let mut todo = vec![from];
    while let Some(value) = todo.pop() {
        for used in f.uses(value) {
            if used.user == end {
                yields.push(used.index);
                continue;
            }
            // The instruction of the body itself that contains the user.
            let mut inst = used.user;
            loop {
                steps += 1;
                match f.body_of(inst)? {
                    home if home == body => break,
                    home => inst = f.body_owner(home)?,
                }
            }
            if steps > MAX_DEPENDENCE_STEPS || rw.is_ordered(inst) {
                return None;
            }
            if seen.insert(inst) {
                todo.extend(f.inst_results(inst));
            }
        }
    }
    Some(yields)
}
