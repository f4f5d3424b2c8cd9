//! What is compared or hashed: a body or one instruction, and how it sees the values from outside of it.

use hashbrown::{HashMap, HashSet};
use rustc_hash::FxBuildHasher;
use smallvec::SmallVec;

use super::Mode;
use crate::func::{Function, ValueDef};
use crate::ids::{BodyId, InstId, ValueId};
use crate::op::Effects;

/// A part of a function.
#[derive(Clone, Copy)]
pub(super) enum Scope {
    Body(BodyId),
    Inst(InstId),
}

impl Scope {
    pub(super) fn is_whole(self, f: &Function) -> bool {
        matches!(self, Self::Body(body) if body == f.body())
    }

    /// The bodies right below it.
    pub(super) fn bodies(self, f: &Function) -> SmallVec<[BodyId; 2]> {
        match self {
            Self::Body(body) => SmallVec::from_slice(&[body]),
            Self::Inst(inst) => SmallVec::from_slice(f.regions(inst)),
        }
    }

    /// All instructions in it, in the order of the text.
    pub(super) fn walk(self, f: &Function) -> impl Iterator<Item = InstId> + '_ {
        let own = match self {
            Self::Body(_) => None,
            Self::Inst(inst) => Some(inst),
        };
        own.into_iter().chain(self.bodies(f).into_iter().flat_map(|b| f.walk_body(b)))
    }

    fn holds(self, f: &Function, body: BodyId) -> bool {
        match self {
            Self::Body(root) => root == body,
            Self::Inst(inst) => f.body_owner(body) == Some(inst),
        }
    }
}

/// Something for each index: a list for a whole function, a map for a part of one, so that small parts of large
/// functions cost little.
pub(super) enum Table<T> {
    Dense(Vec<T>, T),
    Sparse(HashMap<usize, T, FxBuildHasher>, T),
}

impl<T: Copy> Table<T> {
    pub(super) fn new(whole: bool, len: usize, default: T) -> Self {
        if whole {
            Self::Dense(vec![default; len], default)
        } else {
            Self::Sparse(HashMap::default(), default)
        }
    }

    pub(super) fn get(&self, index: usize) -> T {
        match self {
            Self::Dense(list, default) => list.get(index).copied().unwrap_or(*default),
            Self::Sparse(map, default) => map.get(&index).copied().unwrap_or(*default),
        }
    }

    pub(super) fn set(&mut self, index: usize, entry: T) -> T {
        match self {
            Self::Dense(list, default) => match list.get_mut(index) {
                Some(old) => std::mem::replace(old, entry),
                None => *default,
            },
            Self::Sparse(map, default) => map.insert(index, entry).unwrap_or(*default),
        }
    }
}

/// Which values come from outside of a scope.
pub(super) struct Inside {
    // Nothing: the scope is the whole function, and nothing is outside.
    bodies: Option<HashSet<BodyId, FxBuildHasher>>,
}

impl Inside {
    pub(super) fn new(f: &Function, scope: Scope) -> Self {
        if scope.is_whole(f) {
            return Self { bodies: None };
        }
        let mut bodies: HashSet<BodyId, FxBuildHasher> = scope.bodies(f).into_iter().collect();
        bodies.extend(scope.walk(f).flat_map(|inst| f.regions(inst)));
        Self { bodies: Some(bodies) }
    }

    pub(super) fn has(&self, f: &Function, value: ValueId) -> bool {
        let Some(bodies) = &self.bodies else { return true };
        match f.value_def(value) {
            ValueDef::Param(body, _) => bodies.contains(&body),
            ValueDef::Result(inst, _) => f.body_of(inst).is_some_and(|b| bodies.contains(&b)),
        }
    }
}

/// By index: whether an instruction is ordered, by itself or because of one in its regions. Terminators are not.
pub(super) fn ordered(f: &Function, scope: Scope) -> Table<bool> {
    let mut flags = Table::new(scope.is_whole(f), f.inst_capacity(), false);
    for inst in scope.walk(f) {
        let terminator = f.op_def(inst).is_some_and(|d| d.terminator);
        if terminator || f.own_effects(inst) != Effects::Ordered {
            continue;
        }
        let mut at = Some(inst);
        while let Some(i) = at {
            if flags.set(i.index(), true) {
                break;
            }
            let body = f.body_of(i).filter(|&b| !scope.holds(f, b));
            at = body.and_then(|b| f.body_owner(b));
        }
    }
    flags
}

/// What a body is compared by: its ordered instructions, then its terminator.
pub(super) fn roots(f: &Function, body: BodyId, ordered: &Table<bool>) -> Vec<InstId> {
    let effects = f.body_insts(body).filter(|i| ordered.get(i.index()));
    let mut list: Vec<InstId> = effects.collect();
    list.extend(f.terminator(body));
    list
}

/// The values from outside, in the order in which a walk meets them that only depends on what equal scopes share.
pub(super) fn captures(f: &Function, scope: Scope, mode: Mode) -> Vec<ValueId> {
    if scope.is_whole(f) {
        return Vec::new();
    }
    let mut walk =
        CaptureWalk { f, inside: Inside::new(f, scope), seen: HashSet::default(), met: Vec::new() };
    match mode {
        Mode::Ordered => {
            let operands = scope.walk(f).flat_map(|inst| f.operands(inst));
            operands.for_each(|&value| walk.meet(value));
        }
        Mode::DataFlow => walk.data_flow(scope),
    }
    walk.met
}

struct CaptureWalk<'a> {
    f: &'a Function,
    inside: Inside,
    seen: HashSet<ValueId, FxBuildHasher>,
    met: Vec<ValueId>,
}

impl CaptureWalk<'_> {
    fn meet(&mut self, value: ValueId) {
        if !self.inside.has(self.f, value) && self.seen.insert(value) {
            self.met.push(value);
        }
    }

    // From the roots inwards, depth first.
    fn data_flow(&mut self, scope: Scope) {
        enum Task {
            Body(BodyId),
            Inst(InstId),
            Operand(InstId, usize),
        }
        let f = self.f;
        let effects = ordered(f, scope);
        let mut done: HashSet<InstId, FxBuildHasher> = HashSet::default();
        let mut tasks: Vec<Task> = match scope {
            Scope::Body(body) => vec![Task::Body(body)],
            Scope::Inst(inst) => vec![Task::Inst(inst)],
        };
        while let Some(task) = tasks.pop() {
            match task {
                Task::Body(body) => {
                    tasks.extend(roots(f, body, &effects).into_iter().rev().map(Task::Inst));
                }
                Task::Inst(inst) => {
                    if done.insert(inst) {
                        tasks.extend(f.regions(inst).iter().rev().map(|&b| Task::Body(b)));
                        tasks.push(Task::Operand(inst, 0));
                    }
                }
                Task::Operand(inst, n) => {
                    let Some(&value) = f.operands(inst).get(n) else { continue };
                    tasks.push(Task::Operand(inst, n + 1));
                    self.meet(value);
                    if let Some(def) = f.inst_of(value).filter(|_| self.inside.has(f, value)) {
                        tasks.push(Task::Inst(def));
                    }
                }
            }
        }
    }
}
