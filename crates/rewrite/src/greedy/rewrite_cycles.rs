//! Detection of rewrite cycles: rewrites of an instruction that lead back to it.

use std::hash::{Hash, Hasher};

use hashbrown::HashMap;
use rustc_hash::{FxBuildHasher, FxHasher};
use sapwood_ptir::{Function, InstId, ValueDef};
use smallvec::SmallVec;

use crate::pattern::PatternId;

/// The number of times a lineage may return to an earlier instruction before it counts as a cycle.
const MAX_RETURNS: u32 = 8;

/// The number of patterns that fired last to be kept.
const MAX_RECENT_PATTERNS: usize = 8;

// The rewrites that led to an instruction, in the form of Brent's cycle detection.
#[derive(Clone, Default)]
struct RewriteLineage {
    steps: u32,
    limit: u32,
    mark: u64,
    returns: u32,
    recent: SmallVec<[PatternId; MAX_RECENT_PATTERNS]>,
}

/// The number of rewrites after which a lineage is tracked: most are shorter.
const MIN_TRACKED_DEPTH: u8 = 16;

/// The lineages of the instructions that patterns inserted or changed.
#[derive(Default)]
pub(super) struct RewriteLineages {
    // By instruction: the number of rewrites that led to it, up to `MIN_TRACKED_DEPTH`.
    depths: Vec<u8>,
    by_inst: HashMap<InstId, RewriteLineage, FxBuildHasher>,
}

impl RewriteLineages {
    /// Takes the lineage of a root that a pattern is about to rewrite.
    pub(super) fn take_root(&mut self, f: &Function, root: InstId) -> RootLineage {
        let depth = self.depths.get(root.index()).copied().unwrap_or(0);
        let tracked = (depth >= MIN_TRACKED_DEPTH).then(|| {
            self.by_inst.remove(&root).unwrap_or_else(|| RewriteLineage {
                limit: 1,
                mark: structure_hash(f, root),
                ..RewriteLineage::default()
            })
        });
        RootLineage { depth, tracked }
    }

    /// Records that the pattern inserted or changed an instruction. Returns the patterns of the cycle, if there is one.
    pub(super) fn record_rewrite(
        &mut self,
        f: &Function,
        parent: &RootLineage,
        inst: InstId,
        pattern: PatternId,
    ) -> Option<SmallVec<[PatternId; MAX_RECENT_PATTERNS]>> {
        if self.depths.len() < f.inst_capacity() {
            self.depths.resize(f.inst_capacity(), 0);
        }
        self.depths[inst.index()] = parent.depth.saturating_add(1).min(MIN_TRACKED_DEPTH);
        let mut lineage = parent.tracked.clone()?;
        lineage.steps += 1;
        if lineage.recent.len() == MAX_RECENT_PATTERNS {
            lineage.recent.remove(0);
        }
        lineage.recent.push(pattern);
        let content = structure_hash(f, inst);
        if content == lineage.mark {
            lineage.returns += 1;
        }
        if lineage.returns >= MAX_RETURNS {
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

/// The lineage of the root that is being rewritten.
pub(super) struct RootLineage {
    depth: u8,
    tracked: Option<RewriteLineage>,
}

/// The depth to which an instruction is hashed by structure and not by the ids of its operands: patterns that form a cycle
/// create new values each time.
const HASHED_LEVELS: usize = 4;

/// The number of operands per instruction that are hashed by structure.
const HASHED_OPERANDS: usize = 4;

fn structure_hash(f: &Function, inst: InstId) -> u64 {
    let mut hasher = FxHasher::default();
    add_structure(f, inst, HASHED_LEVELS, &mut hasher);
    hasher.finish()
}

fn add_structure(f: &Function, inst: InstId, levels: usize, hasher: &mut FxHasher) {
    f.op_key(inst).hash(hasher);
    f.attr_id(inst).hash(hasher);
    for result in f.inst_results(inst) {
        f.type_id(result).hash(hasher);
    }
    for (n, &value) in f.operands(inst).iter().enumerate() {
        match f.value_def(value) {
            ValueDef::Result(def, at) if levels > 1 && n < HASHED_OPERANDS => {
                at.hash(hasher);
                add_structure(f, def, levels - 1, hasher);
            }
            _ => value.hash(hasher),
        }
    }
}
