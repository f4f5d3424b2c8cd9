//! Fast hashes of computations within one function, for tables of instructions that may be merged. Attributes, types
//! and values count by their ids. Regions are hashed by structure, once and bottom-up.

use super::hash::{HashCodes, mix_inst};
use super::is_commutative;
use crate::func::{Function, ValueDef};
use crate::ids::{BodyId, InstId, TypeId, ValueId};

const HASH_MULTIPLIER: u64 = 0x9e37_79b9_7f4a_7c15;

// The initial state of a hash, so that the first word is mixed before the second one is added.
pub(super) const HASH_SEED: u64 = 0x2545_f491_4f6c_dd1d;

#[inline]
pub(super) fn mix(hash: u64, word: u64) -> u64 {
    (hash ^ word).wrapping_mul(HASH_MULTIPLIER).rotate_left(29)
}

// Finishes a hash so that its high and low bits are both well distributed; never zero.
#[inline]
fn finish_hash(hash: u64) -> u64 {
    let hash = (hash ^ (hash >> 32)).wrapping_mul(HASH_MULTIPLIER);
    (hash ^ (hash >> 29)).max(1)
}

/// Returns the hash of the values that an instruction computes; never zero. Instructions without regions that are
/// equal by [`same_computation`](super::same_computation) have the same hash. Regions do not count.
#[must_use]
#[inline]
pub fn computation_hash(f: &Function, inst: InstId) -> u64 {
    let regions = |hash, _: InstId| hash;
    let mut codes = IdCodes { f, regions, value: |value: ValueId| value.index() as u64 };
    finish_hash(mix_inst(&mut codes, f, inst))
}

// The codes of one function: ids. Regions and values are coded as the question demands.
struct IdCodes<'a, R, V> {
    f: &'a Function,
    regions: R,
    value: V,
}

impl<R: FnMut(u64, InstId) -> u64, V: Fn(ValueId) -> u64> HashCodes for IdCodes<'_, R, V> {
    type State = u64;
    type Code = u64;

    #[inline]
    fn start(&mut self, inst: InstId) -> u64 {
        let hash = mix(HASH_SEED, self.f.op_key(inst).index() as u64);
        mix(hash, self.f.attr_id(inst).index() as u64)
    }

    #[inline]
    fn mix_type(&mut self, hash: u64, ty: TypeId) -> u64 {
        mix(hash, ty.index() as u64)
    }

    #[inline]
    fn mix_regions(&mut self, hash: u64, inst: InstId) -> u64 {
        (self.regions)(hash, inst)
    }

    #[inline]
    fn may_swap(&self, inst: InstId) -> bool {
        is_commutative(self.f, inst)
    }

    #[inline]
    fn value_code(&mut self, value: ValueId) -> u64 {
        (self.value)(value)
    }

    #[inline]
    fn mix_code(&self, hash: u64, code: u64) -> u64 {
        mix(hash, code)
    }
}

#[derive(Clone, Copy, Default)]
struct BodyHash {
    // The hash of the instructions so far, with values of the body identified by their position.
    structure: u64,
    count: u32,
    // The sum over all uses in nested bodies of values from outside; uses of values defined inside cancel out.
    outer_uses: u64,
}

/// The hashes of all regions of a function, computed while it is walked in post-order.
pub struct RegionHashes {
    bodies: Vec<BodyHash>,
    // By instruction: its position in its body.
    positions: Vec<u32>,
}

impl RegionHashes {
    /// Creates an empty table for the regions of a function.
    #[must_use]
    pub fn new(f: &Function) -> Self {
        let nested = f.body_capacity() > 1;
        Self {
            bodies: vec![BodyHash::default(); f.body_capacity()],
            positions: vec![0; if nested { f.inst_capacity() } else { 0 }],
        }
    }

    /// Returns the hash of the values that an instruction computes, regions included; never zero. Everything in its
    /// regions must have been [added](Self::add).
    #[must_use]
    pub fn hash(&self, f: &Function, inst: InstId) -> u64 {
        let mix_region = |hash, region: &BodyId| {
            let body = &self.bodies[region.index()];
            mix(mix(hash, body.structure), body.outer_uses)
        };
        let regions = |hash, inst| f.regions(inst).iter().fold(hash, mix_region);
        let mut codes = IdCodes { f, regions, value: |value: ValueId| value.index() as u64 };
        finish_hash(mix_inst(&mut codes, f, inst))
    }

    /// Adds an instruction to the hash of its body, after everything in its regions.
    pub fn add(&mut self, f: &Function, inst: InstId) {
        let Some(body) = f.body_of(inst).filter(|b| *b != f.body()) else { return };
        let mut outer = 0u64;
        let mut mix_region = |hash, region: &BodyId| {
            let region = self.bodies[region.index()];
            outer = outer.wrapping_add(region.outer_uses);
            mix(hash, region.structure)
        };
        let regions = |hash, inst| f.regions(inst).iter().fold(hash, &mut mix_region);
        let value = |value| self.value_code(f, body, value);
        let hash = mix_inst(&mut IdCodes { f, regions, value }, f, inst);
        for &value in f.operands(inst) {
            let home = defining_body(f, value);
            if home != body {
                outer = outer.wrapping_add(outer_use_code(value));
                let uses = &mut self.bodies[home.index()].outer_uses;
                *uses = uses.wrapping_sub(outer_use_code(value));
            }
        }
        let data = &mut self.bodies[body.index()];
        data.outer_uses = data.outer_uses.wrapping_add(outer);
        data.structure = mix(data.structure, hash);
        self.positions[inst.index()] = data.count;
        data.count += 1;
    }

    /// Removes the effect of everything in the regions of an instruction that is about to be erased, which has not
    /// been added itself.
    pub fn remove_regions(&mut self, f: &Function, inst: InstId) {
        self.update_outer_uses(f, inst, u64::wrapping_add);
    }

    /// Undoes [`remove_regions`](Self::remove_regions).
    pub fn restore_regions(&mut self, f: &Function, inst: InstId) {
        self.update_outer_uses(f, inst, u64::wrapping_sub);
    }

    fn update_outer_uses(&mut self, f: &Function, inst: InstId, apply: fn(u64, u64) -> u64) {
        for nested in f.regions(inst).iter().flat_map(|&b| f.walk_body(b)) {
            for &value in f.operands(nested) {
                let home = defining_body(f, value);
                if Some(home) != f.body_of(nested) {
                    let uses = &mut self.bodies[home.index()].outer_uses;
                    *uses = apply(*uses, outer_use_code(value));
                }
            }
        }
    }

    // Returns the code of a value: by position if the body defines it, else by type. The sum tells outer values apart.
    fn value_code(&self, f: &Function, body: BodyId, value: ValueId) -> u64 {
        match f.value_def(value) {
            ValueDef::Result(inst, n) if f.body_of(inst) == Some(body) => {
                mix(mix(1, u64::from(self.positions[inst.index()])), n as u64)
            }
            ValueDef::Param(of, n) if of == body => mix(2, n as u64),
            _ => mix(3, f.type_id(value).index() as u64),
        }
    }
}

// Returns the number that a use of a value from outside adds to the sums.
fn outer_use_code(value: ValueId) -> u64 {
    finish_hash(mix(7, value.index() as u64))
}

fn defining_body(f: &Function, value: ValueId) -> BodyId {
    match f.value_def(value) {
        ValueDef::Result(inst, _) => f.body_of(inst).unwrap_or(f.body()),
        ValueDef::Param(body, _) => body,
    }
}
