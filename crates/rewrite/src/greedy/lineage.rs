//! Finding patterns that take turns: an instruction whose rewriting leads back to itself.

use std::hash::{Hash, Hasher};

use hashbrown::HashMap;
use rustc_hash::{FxBuildHasher, FxHasher};
use sapwood_ptir::{Function, InstId, ValueDef};
use smallvec::SmallVec;

use crate::pattern::PatternId;

/// How often a lineage may come back to what it was before it counts as a cycle.
const MOST_RETURNS: u32 = 8;

/// How many of the patterns that fired last are kept.
const RECENT: usize = 8;

// What led to an instruction: Brent's cycle detection along the rewrites.
#[derive(Clone, Default)]
struct Lineage {
    steps: u32,
    limit: u32,
    mark: u64,
    returns: u32,
    recent: SmallVec<[PatternId; RECENT]>,
}

/// How many rewrites deep a lineage is before it is followed: most never are.
const FOLLOWED: u8 = 16;

/// The lineages of what patterns made.
#[derive(Default)]
pub(super) struct Lineages {
    // By instruction: how many rewrites led to it, up to `FOLLOWED`.
    depths: Vec<u8>,
    by_inst: HashMap<InstId, Lineage, FxBuildHasher>,
}

impl Lineages {
    /// Takes the lineage of a root that a pattern is about to rewrite.
    pub(super) fn before(&mut self, f: &Function, root: InstId) -> Parent {
        let depth = self.depths.get(root.index()).copied().unwrap_or(0);
        let followed = (depth >= FOLLOWED).then(|| {
            self.by_inst.remove(&root).unwrap_or_else(|| Lineage {
                limit: 1,
                mark: content(f, root),
                ..Lineage::default()
            })
        });
        Parent { depth, followed }
    }

    /// The pattern made or changed an instruction. Gives the patterns that took turns, if it has been here before.
    pub(super) fn after(
        &mut self,
        f: &Function,
        parent: &Parent,
        inst: InstId,
        pattern: PatternId,
    ) -> Option<SmallVec<[PatternId; RECENT]>> {
        if self.depths.len() < f.inst_capacity() {
            self.depths.resize(f.inst_capacity(), 0);
        }
        self.depths[inst.index()] = parent.depth.saturating_add(1).min(FOLLOWED);
        let mut lineage = parent.followed.clone()?;
        lineage.steps += 1;
        if lineage.recent.len() == RECENT {
            lineage.recent.remove(0);
        }
        lineage.recent.push(pattern);
        let content = content(f, inst);
        if content == lineage.mark {
            lineage.returns += 1;
        }
        if lineage.returns >= MOST_RETURNS {
            return Some(lineage.recent);
        }
        if lineage.steps >= lineage.limit {
            lineage.mark = content;
            lineage.limit *= 2;
        }
        self.by_inst.insert(inst, lineage);
        None
    }
}

/// The lineage of what is being rewritten.
pub(super) struct Parent {
    depth: u8,
    followed: Option<Lineage>,
}

/// How far down what an instruction computes is told apart by structure and not by which values it is made of: patterns
/// that take turns make new values each time.
const LEVELS: usize = 4;

/// How many operands are looked behind.
const LOOKED_BEHIND: usize = 4;

fn content(f: &Function, inst: InstId) -> u64 {
    let mut hasher = FxHasher::default();
    add_content(f, inst, LEVELS, &mut hasher);
    hasher.finish()
}

fn add_content(f: &Function, inst: InstId, levels: usize, hasher: &mut FxHasher) {
    f.op_key(inst).hash(hasher);
    f.attr_id(inst).hash(hasher);
    for result in f.inst_results(inst) {
        f.type_id(result).hash(hasher);
    }
    for (n, &value) in f.operands(inst).iter().enumerate() {
        match f.value_def(value) {
            ValueDef::Result(def, at) if levels > 1 && n < LOOKED_BEHIND => {
                at.hash(hasher);
                add_content(f, def, levels - 1, hasher);
            }
            _ => value.hash(hasher),
        }
    }
}
