//! An exhaustive reference matcher for constants, regions and named dims, which shares only the IR with the matcher.

use std::collections::{BTreeMap, BTreeSet};

use sapwood_ptir::{Attr, Dim, Function, InstId, ValueId};

/// The bindings of the values of a pattern, its constants included, and of its named dims.
#[derive(Clone, Default)]
struct Bindings {
    values: BTreeMap<ValueId, ValueId>,
    constants: BTreeSet<ValueId>,
    dims: BTreeMap<&'static str, Dim>,
}

/// One binding of a pattern.
pub(crate) struct Way {
    /// The named dims that occur in no input.
    pub(crate) unknown: BTreeSet<&'static str>,
    /// Set if only outputs are used outside, and the match computes no input.
    pub(crate) closed: bool,
}

/// A program and a pattern, with typed or untyped matching.
pub(crate) struct Whole<'a>(pub(crate) &'a Function, pub(crate) &'a Function, pub(crate) bool);

impl Whole<'_> {
    /// Returns the sets of instructions that match, each with all its bindings.
    pub(crate) fn sets(&self) -> BTreeMap<Vec<InstId>, Vec<Way>> {
        let Self(f, p, _) = self;
        let literal = |&i: &InstId| p.value_of(i).and_then(|v| number(p, v)).is_some();
        let insts = p.body_insts(p.body()).filter(|&i| p.op_name(i) != "return");
        let ops: Vec<InstId> = insts.filter(|i| !literal(i)).collect();
        let mut found: BTreeMap<Vec<InstId>, Vec<Way>> = BTreeMap::new();
        let mut open: Vec<(Vec<InstId>, Bindings)> = vec![(Vec::new(), Bindings::default())];
        while let Some((set, bound)) = open.pop() {
            let Some(&op) = ops.get(set.len()) else {
                let inputs = p.params().iter().filter_map(|v| bound.values.get(v));
                let known: BTreeSet<&'static str> = inputs.flat_map(|&v| names(f, v)).collect();
                let all = bound.values.values().chain(&bound.constants).flat_map(|&v| names(f, v));
                let unknown = all.filter(|n| !known.contains(n)).collect();
                let set: BTreeSet<InstId> = set.into_iter().collect();
                let closed = self.closed(&set, &bound);
                found.entry(set.into_iter().collect()).or_default().push(Way { unknown, closed });
                continue;
            };
            for inst in f.walk().filter(|i| !set.contains(i)) {
                let swaps = f.op_def(inst).is_some_and(|d| d.commutative);
                for swapped in [false, true].into_iter().take(1 + usize::from(swaps)) {
                    let mut bound = bound.clone();
                    if self.same((op, inst), swapped, &mut bound) {
                        open.push((set.iter().copied().chain([inst]).collect(), bound));
                    }
                }
            }
        }
        found
    }

    // Returns whether only outputs of a match are used outside, and it computes no input.
    fn closed(&self, set: &BTreeSet<InstId>, bound: &Bindings) -> bool {
        let Self(f, p, _) = self;
        let mut inside = set.clone();
        inside.extend(set.iter().flat_map(|&i| f.regions(i)).flat_map(|&b| f.walk_body(b)));
        let outputs: Vec<&ValueId> = p.results().iter().map(|v| &bound.values[v]).collect();
        let mut inner = set.iter().flat_map(|&i| f.inst_results(i));
        let mut inputs = p.params().iter().filter_map(|v| f.inst_of(bound.values[v]));
        inner.all(|v| outputs.contains(&&v) || f.users_of(v).iter().all(|u| inside.contains(u)))
            && inputs.all(|def| !set.contains(&def))
    }

    fn same(&self, (op, inst): (InstId, InstId), swapped: bool, bound: &mut Bindings) -> bool {
        let Self(f, p, _) = self;
        let mut attrs = p.attrs(op).iter().zip(f.attrs(inst).iter());
        let (mut wanted, found) = (p.operands(op).to_vec(), f.operands(inst));
        let counts = (p.regions(op).len(), p.inst_results(op).len(), wanted.len());
        if swapped && wanted.len() > 1 {
            wanted.swap(0, 1);
        }
        p.op_key(op) == f.op_key(inst)
            && attrs.all(|(a, b)| *a == Attr::Unit || a == b)
            && counts == (f.regions(inst).len(), f.inst_results(inst).len(), found.len())
            && wanted.iter().zip(found).all(|(&a, &b)| self.value(a, b, bound))
            && p.inst_results(op).zip(f.inst_results(inst)).all(|(a, b)| self.value(a, b, bound))
            && p.regions(op).iter().zip(f.regions(inst)).all(|(&x, &y)| {
                p.body_insts(x).count() == f.body_insts(y).count()
                    && p.body_params(x).len() == f.body_params(y).len()
                    && p.body_insts(x).zip(f.body_insts(y)).all(|i| self.same(i, false, bound))
            })
    }

    fn value(&self, a: ValueId, b: ValueId, bound: &mut Bindings) -> bool {
        let Self(f, p, typed) = self;
        let dims = |f: &Function, v| f.value_type(v).as_tensor().map(|t| t.dims.to_vec());
        let (x, y) = (dims(p, a).unwrap_or_default(), dims(f, b).unwrap_or_default());
        let fits = |(x, y): (&Dim, &Dim)| match x.as_symbol() {
            Some(n) => *bound.dims.entry(n.as_str()).or_insert(*y) == *y,
            None => x == y,
        };
        if *typed && !(x.len() == y.len() && x.iter().zip(&y).all(fits)) {
            return false;
        }
        let Some(wanted) = number(p, a) else {
            return *bound.values.entry(a).or_insert(b) == b;
        };
        bound.constants.insert(b);
        number(f, b) == Some(wanted)
    }
}

// Returns the number of a constant or of a broadcast of one.
fn number(f: &Function, v: ValueId) -> Option<Vec<u8>> {
    let source = f.inst_of(v).filter(|&i| f.op_name(i) == "broadcast_to").map(|i| f.operands(i)[0]);
    Some(f.constant_of(source.unwrap_or(v))?.as_splat()?.to_vec())
}

fn names(f: &Function, v: ValueId) -> Vec<&'static str> {
    let dims = f.value_type(v).as_tensor().map_or(Vec::new(), |t| t.dims.to_vec());
    dims.into_iter().filter_map(|d| d.as_symbol().map(sapwood_ptir::Name::as_str)).collect()
}
