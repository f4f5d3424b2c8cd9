//! Structural comparison of programs. Values are variables bound where they are defined; bodies and functions are
//! scopes. Spans and value names are ignored, and named dims may be renamed consistently.
//!
//! There are two modes. [`Mode::Ordered`] compares instruction lists in their order. [`Mode::DataFlow`] compares from
//! the terminators and the ordered instructions backwards, so that the order of independent instructions and dead
//! pure instructions do not matter.
//!
//! Each function here has variants for programs, functions, bodies and single instructions. A body or an instruction
//! uses values from outside of it: captures, operands. Two parts of one function see the same values, so there a
//! value from outside, or a named dim, is only equal to itself. Parts of two functions, a copy included, share no
//! values: values from outside are paired one to one, by type, in the order in which they are encountered. Hashes
//! number them in that order, so parts that are equal either way have the same hash.
//!
//! One walk compares, whatever is asked. The answers to what counts as equal come from an [`Equivalence`]: the
//! functions above compare up to renaming; [`same_computation`] compares two instructions of one function by the
//! values that they compute, for passes that merge them; [`compare_regions`] takes an equivalence of the caller, such
//! as a pattern whose variables are bound on the way. Hashes are mixed in one place too, from codes that suit the
//! question: a [`hash`] is equal in every process, while a [`computation_hash`] uses ids of one function and is fast.

mod compare;
mod computation_hash;
mod diff;
mod equivalence;
mod hash;
mod location;
mod mismatch;
mod operand_order;
mod pairing;
mod renaming;
mod scope;

use crate::dims::Facts;
use crate::func::Function;
use crate::ids::{BodyId, InstId};
use crate::program::Program;
use compare::FunctionComparer;
use mismatch::type_reason;
use renaming::Renaming;
use scope::Scope;

pub use computation_hash::{RegionHashes, computation_hash};
pub use diff::{Change, Difference, diff, diff_bodies, diff_functions, diff_insts};
pub use equivalence::{Equivalence, compare_regions, same_computation};
pub use hash::{HASH_VERSION, hash, hash_body, hash_function, hash_inst, inst_hashes};
pub use location::{Location, Mismatch, Reason};
pub use mismatch::{BodyPart, InstPart, Unequal};
pub use operand_order::misordered_operands;

/// The equivalence that a comparison uses.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mode {
    /// Instructions are compared in their order.
    Ordered,
    /// Instructions are compared by data flow: the order of independent instructions, and of functions, does not
    /// matter.
    DataFlow,
}

/// Returns whether two programs are equal up to renaming.
#[must_use]
pub fn equal(a: &Program, b: &Program, mode: Mode) -> bool {
    first_mismatch(a, b, mode).is_none()
}

/// Returns whether two functions are equal up to renaming. The names of the functions count.
#[must_use]
pub fn equal_functions(a: &Function, b: &Function, mode: Mode) -> bool {
    first_mismatch_functions(a, b, mode).is_none()
}

/// Returns whether two bodies are equal up to renaming.
#[must_use]
pub fn equal_bodies(a: (&Function, BodyId), b: (&Function, BodyId), mode: Mode) -> bool {
    first_mismatch_bodies(a, b, mode).is_none()
}

/// Returns whether two instructions with their regions are equal up to renaming.
#[must_use]
pub fn equal_insts(a: (&Function, InstId), b: (&Function, InstId), mode: Mode) -> bool {
    first_mismatch_insts(a, b, mode).is_none()
}

/// Returns the first mismatch between two programs.
#[must_use]
pub fn first_mismatch(a: &Program, b: &Program, mode: Mode) -> Option<Mismatch> {
    let (left, right) = (a.functions(), b.functions());
    for (i, f) in left.iter().enumerate() {
        let other = match mode {
            Mode::Ordered => right.get(i),
            Mode::DataFlow => b.function(f.name()),
        };
        let Some(other) = other else {
            return Some(Mismatch::missing(f, true));
        };
        if let Some(found) = first_mismatch_functions(f, other, mode) {
            return Some(found);
        }
    }
    let extra = match mode {
        Mode::Ordered => right.get(left.len()),
        Mode::DataFlow => right.iter().find(|f| a.function(f.name()).is_none()),
    };
    extra.map(|f| Mismatch::missing(f, false))
}

/// Returns the first mismatch between two functions.
#[must_use]
pub fn first_mismatch_functions(a: &Function, b: &Function, mode: Mode) -> Option<Mismatch> {
    let mismatch = |left, right, reason| Some(Mismatch { left, right, reason });
    if a.name() != b.name() {
        let (left, right) = (format!("@{}", a.name()), format!("@{}", b.name()));
        let reason = Reason::Name { left, right };
        return mismatch(Location::function(a), Location::function(b), reason);
    }
    let (left, right) = ((a, Scope::Body(a.body())), (b, Scope::Body(b.body())));
    let mut renaming = Renaming::new(left, right);
    let mut comparer = FunctionComparer::new(left, right, mode, &mut renaming);
    if let Err(found) = comparer.pair_bodies(a.body(), b.body()) {
        return Some(found.describe(a, b));
    }
    let results = |f| Location::function(f).field("results");
    let (xs, ys) = (a.result_types(), b.result_types());
    if xs.len() != ys.len() {
        let reason = Reason::Length { what: "results", left: xs.len(), right: ys.len() };
        return mismatch(results(a), results(b), reason);
    }
    for (&x, &y) in xs.iter().zip(&ys) {
        if !comparer.equivalence.types_match(x, y) {
            return mismatch(results(a), results(b), type_reason(x, y));
        }
    }
    let facts =
        |f: &Function| -> Vec<_> { f.facts().into_iter().flat_map(Facts::relations).collect() };
    let (xs, ys) = (facts(a), facts(b));
    let place = |f| Location::function(f).field("where");
    if xs.len() != ys.len() {
        let reason = Reason::Length { what: "facts", left: xs.len(), right: ys.len() };
        return mismatch(place(a), place(b), reason);
    }
    for (x, y) in xs.into_iter().zip(ys) {
        if !comparer.equivalence.relations_match(x, y) {
            let reason = Reason::Name { left: x.to_string(), right: y.to_string() };
            return mismatch(place(a), place(b), reason);
        }
    }
    let found = comparer.compare_paired_bodies(&[(a.body(), b.body())]).err()?;
    Some(found.describe(a, b))
}

/// Returns the first mismatch between two bodies.
#[must_use]
pub fn first_mismatch_bodies(
    (a, x): (&Function, BodyId),
    (b, y): (&Function, BodyId),
    mode: Mode,
) -> Option<Mismatch> {
    let (left, right) = ((a, Scope::Body(x)), (b, Scope::Body(y)));
    let mut renaming = Renaming::new(left, right);
    let mut comparer = FunctionComparer::new(left, right, mode, &mut renaming);
    let paired = comparer.pair_bodies(x, y);
    let found = paired.and_then(|()| comparer.compare_paired_bodies(&[(x, y)])).err()?;
    Some(found.describe(a, b))
}

/// Returns the first mismatch between two instructions with their regions.
#[must_use]
pub fn first_mismatch_insts(
    (a, x): (&Function, InstId),
    (b, y): (&Function, InstId),
    mode: Mode,
) -> Option<Mismatch> {
    let (left, right) = ((a, Scope::Inst(x)), (b, Scope::Inst(y)));
    let mut renaming = Renaming::new(left, right);
    let comparer = FunctionComparer::new(left, right, mode, &mut renaming);
    Some(comparer.compare_insts(x, y).err()?.describe(a, b))
}

// Returns whether the first two operands of an instruction may be swapped without changing its results.
#[inline]
fn is_commutative(f: &Function, inst: InstId) -> bool {
    f.op_def(inst).is_some_and(|def| def.commutative)
}
