//! Structural comparison of programs: values are variables bound where they are defined, bodies and functions are
//! scopes, spans and names of values are ignored, named dims are renamed consistently.
//!
//! Two modes: [`Mode::Ordered`] compares instruction lists as they stand; [`Mode::DataFlow`] compares from the
//! terminators and the ordered effects inwards, so that the order of independent instructions and dead pure ones do not
//! matter.

mod compare;
mod diff;
mod hash;
mod hasher;
mod path;

use crate::func::Function;
use crate::program::Program;

pub use diff::{Change, Difference, diff, diff_functions};
pub use hash::{HASH_VERSION, hash, hash_body, hash_function, hash_inst, inst_hashes};
pub use path::{Mismatch, Path, Reason};

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
    compare::Comparison::new(a, b).functions(mode).err().map(|found| *found)
}

/// Where two bodies first differ, and why. Values from outside of them must be the same parameters or results of the
/// bodies around: they are compared by where they are defined, so this is meant for bodies of one function.
#[must_use]
pub fn first_mismatch_bodies(
    (a, left): (&Function, crate::BodyId),
    (b, right): (&Function, crate::BodyId),
    mode: Mode,
) -> Option<Mismatch> {
    compare::Comparison::new(a, b).bodies(left, right, mode).err().map(|found| *found)
}

/// Where two instructions differ, their operands taken as given: op, attributes, types, regions.
#[must_use]
pub fn first_mismatch_insts(
    (a, left): (&Function, crate::InstId),
    (b, right): (&Function, crate::InstId),
    mode: Mode,
) -> Option<Mismatch> {
    compare::Comparison::new(a, b).insts(left, right, mode).err().map(|found| *found)
}
