//! The scope of a comparison or hash, a body or one instruction, and the values that it captures.

use hashbrown::{HashMap, HashSet};
use rustc_hash::FxBuildHasher;
use smallvec::SmallVec;

use super::Mode;
use crate::func::{Function, ValueDef};
use crate::ids::{BodyId, InstId, ValueId};
use crate::op::Effects;

/// The part of a function that is compared or hashed.
#[derive(Clone, Copy)]
pub(super) enum Scope {
    Body(BodyId),
    Inst(InstId),
}

impl Scope {
    pub(super) fn is_whole_function(self, f: &Function) -> bool {
        matches!(self, Self::Body(body) if body == f.body())
    }

    /// Returns the outermost bodies of the scope.
    pub(super) fn bodies(self, f: &Function) -> SmallVec<[BodyId; 2]> {
        match self {
            Self::Body(body) => SmallVec::from_slice(&[body]),
            Self::Inst(inst) => SmallVec::from_slice(f.regions(inst)),
        }
    }

    /// Iterates over all instructions of the scope, in the order of the text.
    pub(super) fn walk(self, f: &Function) -> impl Iterator<Item = InstId> + '_ {
        let own = match self {
            Self::Body(_) => None,
            Self::Inst(inst) => Some(inst),
        };
        own.into_iter().chain(self.bodies(f).into_iter().flat_map(|b| f.walk_body(b)))
    }

    fn contains_directly(self, f: &Function, body: BodyId) -> bool {
        match self {
            Self::Body(root) => root == body,
            Self::Inst(inst) => f.body_owner(body) == Some(inst),
        }
    }
}

/// A table by index: a list for a whole function, a map for a part of one, so that small parts of large functions
/// cost little.
pub(super) enum IndexTable<T> {
    Dense(Vec<T>, T),
    Sparse(HashMap<usize, T, FxBuildHasher>, T),
}

impl<T: Copy> IndexTable<T> {
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

/// The membership of values in a scope.
pub(super) struct ScopeMembership {
    // The bodies of the scope; `None` if it is the whole function, which contains every value.
    bodies: Option<HashSet<BodyId, FxBuildHasher>>,
}

impl ScopeMembership {
    pub(super) fn new(f: &Function, scope: Scope) -> Self {
        if scope.is_whole_function(f) {
            return Self { bodies: None };
        }
        let mut bodies: HashSet<BodyId, FxBuildHasher> = scope.bodies(f).into_iter().collect();
        bodies.extend(scope.walk(f).flat_map(|inst| f.regions(inst)));
        Self { bodies: Some(bodies) }
    }

    pub(super) fn contains(&self, f: &Function, value: ValueId) -> bool {
        let Some(bodies) = &self.bodies else { return true };
        match f.value_def(value) {
            ValueDef::Param(body, _) => bodies.contains(&body),
            ValueDef::Result(inst, _) => f.body_of(inst).is_some_and(|b| bodies.contains(&b)),
        }
    }
}

/// Returns, by index, whether an instruction is ordered, by itself or because of one in its regions. Terminators are
/// not.
pub(super) fn ordered_flags(f: &Function, scope: Scope) -> IndexTable<bool> {
    let mut flags = IndexTable::new(scope.is_whole_function(f), f.inst_capacity(), false);
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
            let body = f.body_of(i).filter(|&b| !scope.contains_directly(f, b));
            at = body.and_then(|b| f.body_owner(b));
        }
    }
    flags
}

/// Returns the instructions from which a body is compared by data flow: its ordered instructions, then its
/// terminator.
pub(super) fn comparison_roots(
    f: &Function,
    body: BodyId,
    ordered: &IndexTable<bool>,
) -> Vec<InstId> {
    let effects = f.body_insts(body).filter(|i| ordered.get(i.index()));
    let mut list: Vec<InstId> = effects.collect();
    list.extend(f.terminator(body));
    list
}

/// Returns the values captured by a scope, in an order that is the same for equal scopes.
pub(super) fn captured_values(f: &Function, scope: Scope, mode: Mode) -> Vec<ValueId> {
    if scope.is_whole_function(f) {
        return Vec::new();
    }
    let mut walk = CaptureCollector {
        f,
        inside: ScopeMembership::new(f, scope),
        seen: HashSet::default(),
        captured: Vec::new(),
    };
    match mode {
        Mode::Ordered => {
            let operands = scope.walk(f).flat_map(|inst| f.operands(inst));
            operands.for_each(|&value| walk.visit(value));
        }
        Mode::DataFlow => walk.collect_by_data_flow(scope),
    }
    walk.captured
}

struct CaptureCollector<'a> {
    f: &'a Function,
    inside: ScopeMembership,
    seen: HashSet<ValueId, FxBuildHasher>,
    captured: Vec<ValueId>,
}

impl CaptureCollector<'_> {
    fn visit(&mut self, value: ValueId) {
        if !self.inside.contains(self.f, value) && self.seen.insert(value) {
            self.captured.push(value);
        }
    }

    // Visits values depth first, from the comparison roots backwards.
    fn collect_by_data_flow(&mut self, scope: Scope) {
        enum CaptureTask {
            Body(BodyId),
            Inst(InstId),
            Operand(InstId, usize),
        }
        let f = self.f;
        let effects = ordered_flags(f, scope);
        let mut done: HashSet<InstId, FxBuildHasher> = HashSet::default();
        let mut tasks: Vec<CaptureTask> = match scope {
            Scope::Body(body) => vec![CaptureTask::Body(body)],
            Scope::Inst(inst) => vec![CaptureTask::Inst(inst)],
        };
        while let Some(task) = tasks.pop() {
            match task {
                CaptureTask::Body(body) => {
                    tasks.extend(
                        comparison_roots(f, body, &effects)
                            .into_iter()
                            .rev()
                            .map(CaptureTask::Inst),
                    );
                }
                CaptureTask::Inst(inst) => {
                    if done.insert(inst) {
                        tasks.extend(f.regions(inst).iter().rev().map(|&b| CaptureTask::Body(b)));
                        tasks.push(CaptureTask::Operand(inst, 0));
                    }
                }
                CaptureTask::Operand(inst, n) => {
                    let Some(&value) = f.operands(inst).get(n) else { continue };
                    tasks.push(CaptureTask::Operand(inst, n + 1));
                    self.visit(value);
                    if let Some(def) = f.inst_of(value).filter(|_| self.inside.contains(f, value)) {
                        tasks.push(CaptureTask::Inst(def));
                    }
                }
            }
        }
    }
}
