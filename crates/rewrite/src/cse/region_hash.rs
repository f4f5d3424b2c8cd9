//! Hashing of regions by structure, once and bottom-up, and their comparison.

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;
use sapwood_ptir::{BodyId, Function, InstId, ValueDef, ValueId};

use super::inst_hash::{finish_hash, hash_head, hash_operands, mix, same_head, same_operands};

#[derive(Clone, Copy, Default)]
struct BodyHash {
    // The hash of the instructions so far, with values of the body identified by their position.
    structure: u64,
    count: u32,
    // The sum over all uses in nested bodies of values from outside; uses of values defined inside cancel out.
    outer_uses: u64,
}

/// The hashes of the regions of a function, computed while it is walked.
pub(super) struct RegionHashes {
    bodies: Vec<BodyHash>,
    // By instruction: its position in its body.
    positions: Vec<u32>,
}

impl RegionHashes {
    pub(super) fn new(f: &Function) -> Self {
        let nested = f.body_capacity() > 1;
        Self {
            bodies: vec![BodyHash::default(); f.body_capacity()],
            positions: vec![0; if nested { f.inst_capacity() } else { 0 }],
        }
    }

    /// Returns the hash of an instruction. Everything in its regions must have been [added](Self::add_to_body).
    pub(super) fn hash(&self, f: &Function, inst: InstId) -> u64 {
        let mut hash = hash_head(f, inst);
        for &body in f.regions(inst) {
            let body = &self.bodies[body.index()];
            hash = mix(mix(hash, body.structure), body.outer_uses);
        }
        finish_hash(hash_operands(f, inst, hash, |v| v.index() as u64))
    }

    /// Adds an instruction that stays to the hash of its body.
    pub(super) fn add_to_body(&mut self, f: &Function, inst: InstId) {
        let Some(body) = f.body_of(inst).filter(|b| *b != f.body()) else { return };
        let mut hash = hash_head(f, inst);
        let mut free = 0u64;
        for &region in f.regions(inst) {
            let region = self.bodies[region.index()];
            hash = mix(hash, region.structure);
            free = free.wrapping_add(region.outer_uses);
        }
        hash = hash_operands(f, inst, hash, |value| self.value_code(f, body, value));
        for &value in f.operands(inst) {
            let home = defining_body(f, value);
            if home != body {
                free = free.wrapping_add(outer_use_code(value));
                let outer = &mut self.bodies[home.index()];
                outer.outer_uses = outer.outer_uses.wrapping_sub(outer_use_code(value));
            }
        }
        let data = &mut self.bodies[body.index()];
        data.outer_uses = data.outer_uses.wrapping_add(free);
        data.structure = mix(data.structure, hash);
        self.positions[inst.index()] = data.count;
        data.count += 1;
    }

    /// Updates the sums of outer bodies for an instruction that is erased with its regions: `wrapping_add` undoes the effect of
    /// the uses inside it, `wrapping_sub` restores it.
    pub(super) fn update_outer_sums(
        &mut self,
        f: &Function,
        inst: InstId,
        apply: fn(u64, u64) -> u64,
    ) {
        for nested in f.regions(inst).iter().flat_map(|&b| f.walk_body(b)) {
            for &value in f.operands(nested) {
                let home = defining_body(f, value);
                if Some(home) != f.body_of(nested) {
                    let outer = &mut self.bodies[home.index()];
                    outer.outer_uses = apply(outer.outer_uses, outer_use_code(value));
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

/// Returns true if the regions of two instructions are equal up to renaming of the values they define.
pub(super) fn same_regions(f: &Function, a: InstId, b: InstId) -> bool {
    let mut values: HashMap<ValueId, ValueId, FxBuildHasher> = HashMap::default();
    let mut bodies: HashMap<BodyId, BodyId, FxBuildHasher> = HashMap::default();
    let pair = |a: InstId,
                b: InstId,
                values: &mut HashMap<ValueId, ValueId, FxBuildHasher>,
                bodies: &mut HashMap<BodyId, BodyId, FxBuildHasher>| {
        f.regions(a).iter().zip(f.regions(b)).all(|(&x, &y)| {
            let (params, others) = (f.body_params(x), f.body_params(y));
            bodies.insert(x, y);
            values.extend(params.iter().copied().zip(others.iter().copied()));
            params.len() == others.len()
                && params.iter().zip(others).all(|(p, q)| f.type_id(*p) == f.type_id(*q))
        })
    };
    if !pair(a, b, &mut values, &mut bodies) {
        return false;
    }
    for (&x, &y) in f.regions(a).iter().zip(f.regions(b)) {
        let (mut xs, mut ys) = (f.walk_body(x), f.walk_body(y));
        loop {
            match (xs.next(), ys.next()) {
                (None, None) => break,
                (Some(i), Some(j)) => {
                    let place = f.body_of(i).and_then(|b| bodies.get(&b).copied());
                    let map = |v: ValueId| values.get(&v).copied().unwrap_or(v);
                    if place != f.body_of(j)
                        || !same_head(f, i, j)
                        || !same_operands(f, i, j, map)
                        || !pair(i, j, &mut values, &mut bodies)
                    {
                        return false;
                    }
                    values.extend(f.inst_results(i).zip(f.inst_results(j)));
                }
                _ => return false,
            }
        }
    }
    true
}
