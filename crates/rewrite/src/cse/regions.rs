//! Regions by structure: hashes computed once, bottom-up, and comparison.

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;
use sapwood_ptir::{BodyId, Function, InstId, ValueDef, ValueId};

use super::key::{finish, head, mix, operands, same_head, same_operands};

#[derive(Clone, Copy, Default)]
struct Body {
    // Of the instructions so far, values of the body known by their position.
    structure: u64,
    count: u32,
    // The sum over all uses below of values from outside: what is used and defined inside cancels.
    free: u64,
}

/// The hashes of regions, in the making.
pub(super) struct Regions {
    bodies: Vec<Body>,
    // By instruction: its position in its body.
    positions: Vec<u32>,
}

impl Regions {
    pub(super) fn new(f: &Function) -> Self {
        let nested = f.body_capacity() > 1;
        Self {
            bodies: vec![Body::default(); f.body_capacity()],
            positions: vec![0; if nested { f.inst_capacity() } else { 0 }],
        }
    }

    /// The hash of an instruction; all in its regions were [`complete`](Self::complete)d.
    pub(super) fn hash(&self, f: &Function, inst: InstId) -> u64 {
        let mut hash = head(f, inst);
        for &body in f.regions(inst) {
            let body = &self.bodies[body.index()];
            hash = mix(mix(hash, body.structure), body.free);
        }
        finish(operands(f, inst, hash, |v| v.index() as u64))
    }

    /// The instruction stays: it becomes part of the hash of its body.
    pub(super) fn complete(&mut self, f: &Function, inst: InstId) {
        let Some(body) = f.body_of(inst).filter(|b| *b != f.body()) else { return };
        let mut hash = head(f, inst);
        let mut free = 0u64;
        for &region in f.regions(inst) {
            let region = self.bodies[region.index()];
            hash = mix(hash, region.structure);
            free = free.wrapping_add(region.free);
        }
        hash = operands(f, inst, hash, |value| self.code(f, body, value));
        for &value in f.operands(inst) {
            let home = home(f, value);
            if home != body {
                free = free.wrapping_add(word(value));
                let outer = &mut self.bodies[home.index()];
                outer.free = outer.free.wrapping_sub(word(value));
            }
        }
        let data = &mut self.bodies[body.index()];
        data.free = data.free.wrapping_add(free);
        data.structure = mix(data.structure, hash);
        self.positions[inst.index()] = data.count;
        data.count += 1;
    }

    /// The instruction goes, with all that its regions contain: with `wrapping_add` what those uses took from the sums
    /// of the bodies they come from is given back, with `wrapping_sub` taken again.
    pub(super) fn outside(&mut self, f: &Function, inst: InstId, apply: fn(u64, u64) -> u64) {
        for nested in f.regions(inst).iter().flat_map(|&b| f.walk_body(b)) {
            for &value in f.operands(nested) {
                let home = home(f, value);
                if Some(home) != f.body_of(nested) {
                    let outer = &mut self.bodies[home.index()];
                    outer.free = apply(outer.free, word(value));
                }
            }
        }
    }

    // Values of the body by position, others by type: which they are is in the sum.
    fn code(&self, f: &Function, body: BodyId, value: ValueId) -> u64 {
        match f.value_def(value) {
            ValueDef::Result(inst, n) if f.body_of(inst) == Some(body) => {
                mix(mix(1, u64::from(self.positions[inst.index()])), n as u64)
            }
            ValueDef::Param(of, n) if of == body => mix(2, n as u64),
            _ => mix(3, f.type_id(value).index() as u64),
        }
    }
}

// What a use of a value from outside adds to the sums.
fn word(value: ValueId) -> u64 {
    finish(mix(7, value.index() as u64))
}

fn home(f: &Function, value: ValueId) -> BodyId {
    match f.value_def(value) {
        ValueDef::Result(inst, _) => f.body_of(inst).unwrap_or(f.body()),
        ValueDef::Param(body, _) => body,
    }
}

/// Whether the regions of two instructions are equal up to renaming of what they define.
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
