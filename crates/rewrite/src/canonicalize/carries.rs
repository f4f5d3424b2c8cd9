//! Which carried values of a loop matter.

use rustc_hash::FxHashSet;
use sapwood_ptir::{BodyId, InstId, ValueDef, ValueId};
use smallvec::SmallVec;

use crate::pattern::{MovedRegion, Rewrite};

/// What hangs on a carried value is followed this many steps. One that more hangs on is taken to matter, so that the
/// loops of a nest do not each look at all that is inside of them.
const MOST_STEPS: usize = 4096;

/// A region that loses parameters, values in their place, and yields.
pub(super) fn narrowed(body: BodyId, params: &[(usize, ValueId)], gone: &[usize]) -> MovedRegion {
    let moved = MovedRegion::new(body);
    let moved = params.iter().fold(moved, |m, &(n, value)| m.replace_param(n, value));
    gone.iter().fold(moved, |m, &n| m.drop_result(n))
}

/// How many carried values are followed from one to the next before all of them are looked at.
const MAX_CHAIN: usize = 32;

/// The carried values of a loop that are what they start as in every step: the body yields that, or a carried value that
/// starts the same and stays as well. `may_go` says which of them could be left out. Of a loop that carries many, only
/// those are looked at that changed since the last time.
pub(super) fn invariant_carries(
    rw: &Rewrite<'_>,
    body: BodyId,
    inits: &[ValueId],
    may_go: impl Fn(usize) -> bool,
) -> Vec<usize> {
    let (f, yields) = (rw.function(), rw.yields(body));
    let next = |n: usize| match f.value_def(yields[n]) {
        _ if !may_go(n) => Next::Changes,
        _ if yields[n] == inits[n] => Next::Stays,
        ValueDef::Param(of, m) if of == body && inits.get(m) == Some(&inits[n]) => Next::On(m),
        _ => Next::Changes,
    };
    let Some(changed) = rw.changed_carries(inits.len()) else { return all_that_stay(inits, next) };
    let mut stay: Vec<usize> = Vec::new();
    for n in changed.into_iter().filter(|&n| n < inits.len()) {
        let mut chain: SmallVec<[usize; 8]> = SmallVec::new();
        let mut at = n;
        let stays = loop {
            if chain.contains(&at) {
                break true;
            }
            if chain.len() == MAX_CHAIN {
                return all_that_stay(inits, next);
            }
            chain.push(at);
            match next(at) {
                Next::Stays => break true,
                Next::On(m) => at = m,
                Next::Changes => break false,
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

// What a carried value is after a step.
enum Next {
    Stays,
    // What another one was, or itself.
    On(usize),
    Changes,
}

// All that may stay, less those that hang on one that does not.
fn all_that_stay(inits: &[ValueId], next: impl Fn(usize) -> Next) -> Vec<usize> {
    let mut stays = vec![true; inits.len()];
    let mut hang_on: Vec<(usize, usize)> = Vec::new();
    for (n, stays) in stays.iter_mut().enumerate() {
        match next(n) {
            Next::On(m) if m != n => hang_on.push((m, n)),
            Next::Stays | Next::On(_) => {}
            Next::Changes => *stays = false,
        }
    }
    hang_on.sort_unstable();
    let mut struck: Vec<usize> = match hang_on.is_empty() {
        true => Vec::new(),
        false => (0..inits.len()).filter(|&n| !stays[n]).collect(),
    };
    while let Some(m) = struck.pop() {
        let first = hang_on.partition_point(|&(on, _)| on < m);
        for &(_, n) in hang_on[first..].iter().take_while(|&&(on, _)| on == m) {
            if std::mem::replace(&mut stays[n], false) {
                struck.push(n);
            }
        }
    }
    (0..inits.len()).filter(|&n| stays[n]).collect()
}

/// For each of the first `carried` parameters of a loop's body, whether the loop's results or something ordered depend on
/// it. `wanted` says which yields matter for themselves.
pub(super) fn live_carries(
    rw: &Rewrite<'_>,
    body: BodyId,
    carried: usize,
    wanted: &[bool],
) -> Vec<bool> {
    let params = rw.params(body);
    let mut live: Vec<bool> = wanted[..carried].to_vec();
    // Per carried value, the yields that depend on it.
    let mut reached: Vec<Vec<usize>> = vec![Vec::new(); carried];
    for n in (0..carried).filter(|&n| !wanted[n]) {
        match yields_reached(rw, body, params[n]) {
            Some(yields) => reached[n] = yields,
            None => live[n] = true,
        }
    }
    // What a live one depends on is live.
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

// The yields of a body that depend on a value. `None` if something ordered does, or too much.
fn yields_reached(rw: &Rewrite<'_>, body: BodyId, from: ValueId) -> Option<Vec<usize>> {
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
            if steps > MOST_STEPS || rw.is_ordered(inst) {
                return None;
            }
            if seen.insert(inst) {
                todo.extend(f.inst_results(inst));
            }
        }
    }
    Some(yields)
}
