//! Branches: instructions that all branches have in common, and neighbours with one condition.

use hashbrown::{HashMap, HashSet};
use rustc_hash::FxBuildHasher;
use sapwood_ptir::ops::{Case, Cond};
use sapwood_ptir::{
    AttrId, BodyId, Effects, Function, InsertPoint, InstId, OpKey, TypeId, ValueId,
};
use smallvec::SmallVec;

use super::invariant::binds_symbols;
use crate::pattern::{Pattern, PatternEntry, PatternList, Roots};
use crate::rewriter::ProgramRewriter;

/// The patterns of this file.
pub static LIST: PatternList = PatternList {
    family: "branches",
    entries: &[
        PatternEntry {
            name: COMMON_OUT_OF_BRANCHES,
            add: |set| {
                set.add(CommonOutOfBranches);
            },
        },
        PatternEntry {
            name: NEIGHBOURING_BRANCHES,
            add: |set| {
                set.add(NeighbouringBranches);
            },
        },
    ],
};

/// The name of the pattern that moves common instructions.
pub(super) const COMMON_OUT_OF_BRANCHES: &str = "common_out_of_branches";

/// The name of the pattern that merges neighbours.
pub(super) const NEIGHBOURING_BRANCHES: &str = "neighbouring_branches";

/// The number of instructions of a branch that are examined, those in nested regions included.
const MAX_BRANCH_INSTS: usize = 256;

/// The number of uses of a condition among which another branch on it is looked for. A condition with more uses has its neighbour among the
/// [`MAX_BRANCH_INSTS`] instructions before the branch. The order of uses tells how the program was made, so that only all of them may decide.
const MAX_USES: usize = 16;

/// The number of results of merged branches: each merge copies the list.
const MAX_RESULTS: usize = 64;

fn branch_roots() -> Roots {
    Roots::all([Roots::of::<Cond>(), Roots::of::<Case>()])
}

/// `cond(p, … f(x) …, … f(x) …)` computes `f(x)` once, before it; also for `case`.
///
/// `f` has no effects, and `x` comes from outside.
///
/// Floats: exact.
struct CommonOutOfBranches;

impl Pattern for CommonOutOfBranches {
    fn name(&self) -> &str {
        COMMON_OUT_OF_BRANCHES
    }

    fn roots(&self) -> Roots {
        branch_roots()
    }

    fn hops(&self) -> u8 {
        1
    }

    fn match_and_rewrite(&self, root: InstId, rw: &mut ProgramRewriter<'_>) -> bool {
        let regions: SmallVec<[BodyId; 4]> = SmallVec::from_slice(rw.function().regions(root));
        let Some((&first, rest)) = regions.split_first().filter(|(_, rest)| !rest.is_empty())
        else {
            return false;
        };
        let insts: Vec<InstId> = rw.function().body_insts(first).take(MAX_BRANCH_INSTS).collect();
        let mut others: Vec<BranchIndex> = Vec::new();
        let mut is_changed = false;
        for inst in insts {
            if !may_leave(rw.function(), root, inst) {
                continue;
            }
            // Operands change with each instruction that leaves.
            if others.is_empty() {
                others = rest.iter().map(|&body| index_branch(rw.function(), body)).collect();
            }
            let key = Computation::of(rw.function(), inst);
            let equal: Option<SmallVec<[InstId; 4]>> =
                others.iter().map(|index| index.get(&key).copied()).collect();
            let Some(equal) = equal else { continue };
            if rw.move_inst(inst, InsertPoint::Before(root)).is_err() {
                return false;
            }
            let values: Vec<ValueId> = rw.function().inst_results(inst).collect();
            if !equal.into_iter().all(|other| rw.replace_inst(other, &values).is_ok()) {
                return false;
            }
            others.clear();
            is_changed = true;
        }
        is_changed
    }
}

/// Everything that the results of an instruction without regions depend on.
#[derive(PartialEq, Eq, Hash)]
struct Computation {
    key: OpKey,
    attrs: AttrId,
    operands: SmallVec<[ValueId; 4]>,
    types: SmallVec<[TypeId; 2]>,
}

impl Computation {
    fn of(f: &Function, inst: InstId) -> Self {
        Self {
            key: f.op_key(inst),
            attrs: f.attr_id(inst),
            operands: SmallVec::from_slice(f.operands(inst)),
            types: f.inst_results(inst).map(|v| f.type_id(v)).collect(),
        }
    }
}

type BranchIndex = HashMap<Computation, InstId, FxBuildHasher>;

// Returns the first instruction of each computation in a branch.
fn index_branch(f: &Function, body: BodyId) -> BranchIndex {
    let mut index = BranchIndex::default();
    for inst in f.body_insts(body).take(MAX_BRANCH_INSTS) {
        if f.regions(inst).is_empty() {
            index.entry(Computation::of(f, inst)).or_insert(inst);
        }
    }
    index
}

// Returns true if an instruction may be computed before the branches that contain it.
fn may_leave(f: &Function, root: InstId, inst: InstId) -> bool {
    !f.operands(inst).is_empty()
        && f.regions(inst).is_empty()
        && f.own_effects(inst) == Effects::Pure
        && !f.op_def(inst).is_none_or(|def| def.terminator)
        && f.operands(inst).iter().all(|&value| f.is_available_to(value, root))
        && !binds_symbols(f, inst)
}

/// `cond(p, f, g), cond(p, h, k) = cond(p, f and h, g and k)`; also for `case`.
///
/// Both are in one body, the second has no effects, and it needs nothing that is computed between them.
///
/// Floats: exact.
struct NeighbouringBranches;

impl Pattern for NeighbouringBranches {
    fn name(&self) -> &str {
        NEIGHBOURING_BRANCHES
    }

    fn roots(&self) -> Roots {
        branch_roots()
    }

    fn hops(&self) -> u8 {
        1
    }

    fn match_and_rewrite(&self, root: InstId, rw: &mut ProgramRewriter<'_>) -> bool {
        merge_into_neighbour(root, rw).is_some()
    }
}

fn merge_into_neighbour(root: InstId, rw: &mut ProgramRewriter<'_>) -> Option<()> {
    let f = rw.function();
    let &asked = f.operands(root).first()?;
    let is_neighbour = |inst: InstId| {
        inst != root
            && f.op_key(inst) == f.op_key(root)
            && f.operands(inst).first() == Some(&asked)
            && f.body_of(inst) == f.body_of(root)
            && f.regions(inst).len() == f.regions(root).len()
            && f.inst_results(inst).len() + f.inst_results(root).len() <= MAX_RESULTS
            && f.is_before(inst, root)
    };
    let users: SmallVec<[InstId; MAX_USES]> =
        f.uses(asked).take(MAX_USES + 1).map(|one| one.user).collect();
    // The last one before the root, whatever the order of the uses.
    let first = match users.len() <= MAX_USES {
        true => {
            users.into_iter().filter(|&user| is_neighbour(user)).max_by_key(|&i| f.order_key(i))?
        }
        false => std::iter::successors(f.prev_inst(root), |&inst| f.prev_inst(inst))
            .take(MAX_BRANCH_INSTS)
            .find(|&inst| is_neighbour(inst))?,
    };
    if rw.is_ordered(root) || !needs_nothing_after(f, root, first) {
        return None;
    }
    let mut parts = f.parts_of(first);
    let own = f.inst_results(first).len();
    parts.result_types.extend(f.inst_results(root).map(|v| f.value_type(v).clone()));
    let span = f.inst_span(first);
    let from: SmallVec<[BodyId; 4]> = SmallVec::from_slice(f.regions(root));
    let into: SmallVec<[BodyId; 4]> = SmallVec::from_slice(f.regions(first));
    for (&body, &more) in into.iter().zip(&from) {
        let end = rw.function().terminator(body)?;
        let mut yields = rw.function().body_results(body).to_vec();
        yields.extend(rw.inline_body(more, &[], InsertPoint::Before(end)).ok()?);
        rw.set_yields(end, &yields).ok()?;
    }
    let merged = rw.insert_with_regions_of(first, &parts, span).ok()?;
    let results: Vec<ValueId> = rw.function().inst_results(merged).collect();
    let (old, new) = results.split_at(own);
    rw.replace_inst(first, old).ok()?;
    rw.replace_inst(root, new).ok()
}

// Returns true if everything that the regions of an instruction use from outside is available to an earlier one.
fn needs_nothing_after(f: &Function, inst: InstId, earlier: InstId) -> bool {
    let mut inside: HashSet<ValueId, FxBuildHasher> = HashSet::default();
    let mut count = 0;
    for &region in f.regions(inst) {
        for one in f.walk_body(region) {
            count += 1;
            if count > MAX_BRANCH_INSTS {
                return false;
            }
            inside.extend(f.inst_results(one));
            for &nested in f.regions(one) {
                inside.extend(f.body_params(nested).iter().copied());
            }
        }
    }
    let mut uses = f.regions(inst).iter().flat_map(|&region| f.walk_body(region));
    uses.all(|one| {
        let mut operands = f.operands(one).iter();
        operands.all(|&value| inside.contains(&value) || f.is_available_to(value, earlier))
    })
}
