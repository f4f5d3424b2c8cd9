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

mod compare;
mod diff;
mod hash;
mod location;
mod pairing;
mod scope;

use crate::func::Function;
use crate::ids::{BodyId, InstId};
use crate::program::Program;
use compare::FunctionComparer;
use scope::Scope;

pub use diff::{Change, Difference, diff, diff_bodies, diff_functions, diff_insts};
pub use hash::{HASH_VERSION, hash, hash_body, hash_function, hash_inst, inst_hashes};
pub use location::{Location, Mismatch, Reason};

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
    let (left, right) = ((a, Scope::Body(a.body())), (b, Scope::Body(b.body())));
    FunctionComparer::new(left, right, mode).compare_functions().err().map(|found| *found)
}

/// Returns the first mismatch between two bodies.
#[must_use]
pub fn first_mismatch_bodies(
    (a, left): (&Function, BodyId),
    (b, right): (&Function, BodyId),
    mode: Mode,
) -> Option<Mismatch> {
    let sides = ((a, Scope::Body(left)), (b, Scope::Body(right)));
    FunctionComparer::new(sides.0, sides.1, mode)
        .compare_bodies(left, right)
        .err()
        .map(|found| *found)
}

/// Returns the first mismatch between two instructions with their regions.
#[must_use]
pub fn first_mismatch_insts(
    (a, left): (&Function, InstId),
    (b, right): (&Function, InstId),
    mode: Mode,
) -> Option<Mismatch> {
    let sides = ((a, Scope::Inst(left)), (b, Scope::Inst(right)));
    FunctionComparer::new(sides.0, sides.1, mode)
        .compare_insts(left, right)
        .err()
        .map(|found| *found)
}
