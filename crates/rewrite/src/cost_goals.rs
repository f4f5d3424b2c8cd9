//! The costs that a run of the greedy driver lowers, and the change of cost by one rewrite.

use std::fmt;
use std::str::FromStr;

use sapwood_ptir::cost::{self, Amount, Cost, Traffic};
use sapwood_ptir::{Function, InstId, ValueId, ValueType};
use smallvec::SmallVec;

use crate::pattern::Patch;
use crate::rewriter::{EffectIndex, one_user};

/// A cost that rewrites can lower.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CostGoal {
    /// Operations on elements.
    Flops,
    /// Bytes read and written.
    Bytes,
    /// The largest number of bytes that are alive at the same time.
    Memory,
}

impl CostGoal {
    const ALL: [Self; 3] = [Self::Flops, Self::Bytes, Self::Memory];

    /// Returns the name in the option `cost`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Flops => "flops",
            Self::Bytes => "bytes",
            Self::Memory => "memory",
        }
    }
}

/// The costs that a run must not raise. A rewrite applies only if it lowers one of them, or if it keeps all of them and saves bytes, operations or instructions.
/// Without any goal, every rewrite applies.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
pub struct CostGoals(u8);

impl CostGoals {
    /// No goal: every rewrite applies.
    pub const NONE: Self = Self(0);

    /// Returns true if there is no goal.
    #[must_use]
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Returns the goals with another one.
    #[must_use]
    pub fn with(self, goal: CostGoal) -> Self {
        Self(self.0 | 1 << goal as u8)
    }

    /// Returns true if a cost is one of the goals.
    #[must_use]
    pub fn contains(self, goal: CostGoal) -> bool {
        self.0 >> goal as u8 & 1 == 1
    }

    /// Returns the goals, in the order flops, bytes, memory.
    pub fn iter(self) -> impl Iterator<Item = CostGoal> {
        CostGoal::ALL.into_iter().filter(move |&goal| self.contains(goal))
    }

    /// Returns the first of the goals: the one that an exact search minimises.
    #[must_use]
    pub fn first(self) -> CostGoal {
        self.iter().next().unwrap_or(CostGoal::Flops)
    }
}

impl From<CostGoal> for CostGoals {
    fn from(goal: CostGoal) -> Self {
        Self::NONE.with(goal)
    }
}

impl fmt::Display for CostGoals {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.iter().map(CostGoal::name).collect();
        f.write_str(&names.join("|"))
    }
}

impl fmt::Debug for CostGoals {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for CostGoals {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        text.split('|').try_fold(Self::NONE, |goals, name| {
            let goal = CostGoal::ALL.into_iter().find(|goal| goal.name() == name);
            let goal =
                goal.ok_or("expected flops, bytes or memory, or several separated by `|`")?;
            Ok(goals.with(goal))
        })
    }
}

/// The costs of some instructions of one body. Memory is the sum of the bytes of their results: smaller values in place of larger ones cannot raise the peak, unless
/// operands are alive for longer; the pass compares the peaks of the whole function at the end.
#[derive(Clone, Copy)]
struct LocalCost {
    cost: Cost,
    memory: Amount,
    insts: usize,
}

impl LocalCost {
    const ZERO: Self = Self { cost: Cost::ZERO, memory: Amount::ZERO, insts: 0 };

    fn add(&mut self, cost: Cost, memory: Amount) {
        self.cost.flops = self.cost.flops.plus(cost.flops);
        self.cost.bytes = self.cost.bytes.plus(cost.bytes);
        self.memory = self.memory.plus(memory);
        self.insts += 1;
    }

    fn amount(&self, goal: CostGoal) -> Amount {
        match goal {
            CostGoal::Flops => self.cost.flops,
            CostGoal::Bytes => self.cost.bytes,
            CostGoal::Memory => self.memory,
        }
    }
}

/// The number of operands of an instruction among which an operand is looked for that occurs several times.
const MAX_REPEATED: usize = 8;

/// The number of uses of a value that several replaced instructions share.
const MAX_SHARED_USES: usize = 16;

fn is_less(new: Amount, old: Amount) -> bool {
    new.plus(Amount::ONE).at_most(old) == Some(true)
}

/// Returns true if a patch, applied at a root, reaches the goals: see [`CostGoals`]. The instructions that count as removed are the root and those that nothing else
/// uses, at most `hops` definitions away; other instructions that the patch replaces count like the root.
pub(crate) fn lowers_cost(
    goals: CostGoals,
    f: &Function,
    effects: &EffectIndex,
    (root, hops): (InstId, u8),
    patch: &Patch,
    values: &[ValueId],
) -> bool {
    let Some(after) = added_cost(f, patch) else { return false };
    let roots: SmallVec<[InstId; 8]> =
        std::iter::once(root).chain(patch.also_replaced().iter().map(|&(inst, _)| inst)).collect();
    let replacements: SmallVec<[ValueId; 8]> =
        values.iter().copied().chain(patch.also_replaced().iter().map(|&(_, by)| by)).collect();
    let before = removed_cost(f, effects, &roots, hops, &patch.uses(&replacements));
    let never_more = |goal| {
        let (new, old) = (after.amount(goal), before.amount(goal));
        new == old && new != Amount::Unknown || new.at_most(old) == Some(true)
    };
    let falls = |goal| is_less(after.amount(goal), before.amount(goal));
    if !goals.iter().all(never_more) {
        return false;
    }
    if goals.iter().any(falls) {
        return true;
    }
    // Memory alone has no second order: fewer bytes moved may need more values at the same time.
    let (flops, bytes) = (CostGoal::Flops, CostGoal::Bytes);
    let is_tie_broken = falls(bytes) || falls(flops) || after.insts < before.insts;
    !goals.contains(CostGoal::Memory) && never_more(bytes) && never_more(flops) && is_tie_broken
}

// Returns the cost of the instructions that a patch inserts, or `None` if it is not known.
fn added_cost(f: &Function, patch: &Patch) -> Option<LocalCost> {
    let mut added = LocalCost::ZERO;
    let type_of = |value: ValueId| patch.type_of(f, value);
    let is_complete = patch.inserts_no_regions();
    for parts in patch.staged_ops() {
        let memory = match f.registry().get(parts.key) {
            Some(def) if def.traffic == Traffic::View => Amount::ZERO,
            _ => sum_of_bytes(parts.result_types.iter()),
        };
        added.add(cost::of_parts(f.registry(), parts, type_of), memory);
    }
    for literal in patch.staged_constants() {
        added.memory = added.memory.plus(Amount::bytes(&literal.ty().into()));
    }
    let is_known = added.cost.flops != Amount::Unknown && added.cost.bytes != Amount::Unknown;
    (is_complete && is_known).then_some(added)
}

fn sum_of_bytes<'a>(types: impl Iterator<Item = &'a ValueType>) -> Amount {
    types.fold(Amount::ZERO, |sum, ty| sum.plus(Amount::bytes(ty)))
}

// Returns the cost of the roots, which are in one body, and of the instructions there that only serve them. An unknown cost counts as none.
fn removed_cost(
    f: &Function,
    effects: &EffectIndex,
    roots: &[InstId],
    hops: u8,
    kept: &[ValueId],
) -> LocalCost {
    let mut removed = LocalCost::ZERO;
    let body = roots.first().and_then(|&root| f.body_of(root));
    let mut pending: SmallVec<[(InstId, u8); 8]> = roots.iter().map(|&root| (root, 0)).collect();
    // The definitions that several roots share.
    let mut shared: SmallVec<[InstId; 4]> = SmallVec::new();
    while let Some((inst, distance)) = pending.pop() {
        let cost = cost::of_inst(f, inst);
        let known = |amount: Amount| if amount == Amount::Unknown { Amount::ZERO } else { amount };
        let cost = Cost { flops: known(cost.flops), bytes: known(cost.bytes) };
        let is_view = f.op_def(inst).is_some_and(|def| def.traffic == Traffic::View);
        let memory = match is_view {
            true => Amount::ZERO,
            false => sum_of_bytes(f.inst_results(inst).map(|v| f.value_type(v))),
        };
        removed.add(cost, known(memory));
        if distance == hops {
            continue;
        }
        let operands = f.operands(inst);
        for (n, &operand) in operands.iter().enumerate() {
            let Some(definition) = f.inst_of(operand) else { continue };
            // An operand that the instruction uses twice counts once.
            let is_first = || n < MAX_REPEATED && !operands[..n].contains(&operand);
            let serves_roots = || {
                distance == 0
                    && roots.len() > 1
                    && !shared.contains(&definition)
                    && f.uses(operand).take(MAX_SHARED_USES + 1).count() <= MAX_SHARED_USES
                    && f.uses(operand).all(|one| roots.contains(&one.user))
            };
            let is_shared = serves_roots();
            let dies = (f.one_use(operand) || one_user(f, operand) && is_first() || is_shared)
                && f.body_of(definition) == body
                && f.inst_results(definition).len() == 1
                && f.constant_of(operand).is_none()
                && kept.binary_search(&operand).is_err()
                && !effects.is_ordered(f, definition)
                && !effects.binds_dims(f, definition);
            if dies {
                if is_shared {
                    shared.push(definition);
                }
                pending.push((definition, distance + 1));
            }
        }
    }
    removed
}
