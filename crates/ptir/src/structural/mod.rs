//! Structural comparison of programs: values are variables bound where they are defined, bodies and functions are
//! scopes, spans and names of values are ignored, named dims are renamed consistently.
//!
//! Two modes: [`Mode::Ordered`] compares instruction lists as they stand; [`Mode::DataFlow`] compares from the
//! terminators and the ordered effects inwards, so that the order of independent instructions and dead pure ones do not
//! matter.
//!
//! Each verb works on programs, functions, bodies and single instructions. A body or an instruction sees values from
//! outside of it: captures, operands. Two parts of one function see the same values, so there a value from outside, and a
//! named dim, stands for itself. Parts of two functions, a copy included, have none in common: there values from outside are paired
//! one to one, of the same type, in the order in which they are met. Hashes count them by that order, so what is equal
//! either way has the same hash.

mod compare;
mod diff;
mod hash;
mod location;
mod pairing;
mod scope;

use crate::func::Function;
use crate::ids::{BodyId, InstId};
use crate::program::Program;
use compare::Comparison;
use scope::Scope;

pub use diff::{Change, Difference, diff, diff_bodies, diff_functions, diff_insts};
pub use hash::{HASH_VERSION, hash, hash_body, hash_function, hash_inst, inst_hashes};
pub use location::{Location, Mismatch, Reason};

/// What counts as the same.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mode {
    /// Lists as they stand.
    Ordered,
    /// What is computed, in whatever order independent instructions stand; functions in whatever order too.
    DataFlow,
}

/// Whether two programs are the same up to renaming.
#[must_use]
pub fn equal(a: &Program, b: &Program, mode: Mode) -> bool {
    first_mismatch(a, b, mode).is_none()
}

/// Whether two functions are the same up to renaming; their own names count.
#[must_use]
pub fn equal_functions(a: &Function, b: &Function, mode: Mode) -> bool {
    first_mismatch_functions(a, b, mode).is_none()
}

/// Whether two bodies are the same up to renaming.
#[must_use]
pub fn equal_bodies(a: (&Function, BodyId), b: (&Function, BodyId), mode: Mode) -> bool {
    first_mismatch_bodies(a, b, mode).is_none()
}

/// Whether two instructions with their regions are the same up to renaming.
#[must_use]
pub fn equal_insts(a: (&Function, InstId), b: (&Function, InstId), mode: Mode) -> bool {
    first_mismatch_insts(a, b, mode).is_none()
}

/// Where two programs first differ, and why.
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

/// Where two functions first differ, and why.
#[must_use]
pub fn first_mismatch_functions(a: &Function, b: &Function, mode: Mode) -> Option<Mismatch> {
    let (left, right) = ((a, Scope::Body(a.body())), (b, Scope::Body(b.body())));
    Comparison::new(left, right, mode).functions().err().map(|found| *found)
}

/// Where two bodies first differ, and why.
#[must_use]
pub fn first_mismatch_bodies(
    (a, left): (&Function, BodyId),
    (b, right): (&Function, BodyId),
    mode: Mode,
) -> Option<Mismatch> {
    let sides = ((a, Scope::Body(left)), (b, Scope::Body(right)));
    Comparison::new(sides.0, sides.1, mode).bodies(left, right).err().map(|found| *found)
}

/// Where two instructions with their regions differ, and why.
#[must_use]
pub fn first_mismatch_insts(
    (a, left): (&Function, InstId),
    (b, right): (&Function, InstId),
    mode: Mode,
) -> Option<Mismatch> {
    let sides = ((a, Scope::Inst(left)), (b, Scope::Inst(right)));
    Comparison::new(sides.0, sides.1, mode).insts(left, right).err().map(|found| *found)
}
