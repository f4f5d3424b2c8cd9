//! Which variables something may read later, and which a loop changes.
//!
//! Statements are counted in the order of the text. A variable may be read after a statement if its
//! last read stands after it, or anywhere in a loop around it that the variable was bound before: the
//! next trip comes by there.

use sapwood_structural::Facts;

use super::{Map, Set};
use crate::interpret::implicit_results;
use crate::nodes::{ExprRef, FunctionRef, Stmt, StmtRef, TypeRef, Var};

type Pairs = hashbrown::HashSet<(usize, usize), rustc_hash::FxBuildHasher>;

/// What is known of the variables of a function.
#[derive(Default)]
pub(super) struct Live {
    /// The last place that reads each variable.
    last: Map<usize>,
    /// The first place that binds each variable.
    first: Map<usize>,
    /// Where each statement begins and ends.
    places: Map<(usize, usize)>,
    /// Whether a statement with others inside stands in several places: of those, the first is known.
    shared: bool,
    /// What each loop changes that had a value before it, and may be read once more.
    changed: Map<Vec<Var>>,
}

impl Live {
    pub(super) fn of(function: &FunctionRef) -> Self {
        let mut survey = Survey::default();
        function.params.iter().for_each(|param| survey.bind(param.id()));
        survey.body(&function.body);
        for var in implicit_results(function) {
            survey.expr(var.expr(), usize::MAX);
        }
        function.return_types.iter().for_each(|ty| survey.ty(ty, usize::MAX));
        let Survey { reads, first, places, shared, .. } = survey;
        let last = reads.into_last();
        let mut live = Self { last, first, places, shared, changed: Map::default() };
        live.find_changed(function);
        live
    }

    /// What a loop changes, in the order of the text.
    pub(super) fn changed(&self, stmt: usize) -> &[Var] {
        self.changed.get(&stmt).map_or(&[], Vec::as_slice)
    }

    /// Where a statement begins.
    pub(super) fn begin(&self, stmt: usize) -> usize {
        self.places.get(&stmt).map_or(0, |place| place.0)
    }

    /// Whether something may read a variable after a statement, around which loops began in these
    /// places.
    pub(super) fn after(&self, stmt: usize, var: usize, loops: &[usize]) -> bool {
        let Some(&last) = self.last.get(&var) else { return false };
        if self.shared {
            // The places of loops need not be in order.
            return true;
        }
        let first = self.first.get(&var).copied().unwrap_or(0);
        let around = loops.partition_point(|&began| began <= first);
        let end = loops.get(around).copied();
        last > end.unwrap_or_else(|| self.places.get(&stmt).map_or(0, |place| place.1))
    }

    /// Takes every binding to the loops around it, from the innermost outwards. It stops at the first
    /// that began before the variable was bound: the loops around that one did so, too.
    fn find_changed(&mut self, function: &FunctionRef) {
        // By the place of a loop and the variable; and by the loop, which may stand in several places.
        let mut seen = Pairs::default();
        let mut listed = Pairs::default();
        // Open loops: which, and where each began.
        let mut loops: Vec<(usize, usize)> = Vec::new();
        each_place(&function.body, |stmt, at, ends| {
            let id = stmt.node().id();
            let is_loop = matches!(&**stmt, Stmt::For { .. } | Stmt::While { .. });
            if is_loop && ends {
                loops.pop();
            } else if is_loop {
                loops.push((id, at));
            }
            let bound: &[Var] = match (&**stmt, ends) {
                (Stmt::Assign { var, .. }, false) => std::slice::from_ref(var),
                (Stmt::For { loop_var, .. }, false) => std::slice::from_ref(loop_var),
                (other, true) => other.return_vars(),
                (_, false) => &[],
            };
            for var in bound {
                let known = (self.last.get(&var.id()), self.first.get(&var.id()));
                let (Some(&last), Some(&first)) = known else { continue };
                let around = loops.partition_point(|&(_, began)| began <= first);
                let read = loops.get(around).is_some_and(|&(_, began)| last > began);
                for &(inner, began) in loops[around..].iter().rev().filter(|_| read) {
                    if !seen.insert((began, var.id())) {
                        break;
                    }
                    if listed.insert((inner, var.id())) {
                        self.changed.entry(inner).or_default().push(var.clone());
                    }
                }
            }
        });
    }
}

/// Calls `f` with every statement, its place, and whether it ends there; each is met twice.
fn each_place<'a>(body: &'a StmtRef, mut f: impl FnMut(&'a StmtRef, usize, bool)) {
    let mut at = 0;
    let mut todo: Vec<(&StmtRef, bool)> = vec![(body, false)];
    while let Some((stmt, ends)) = todo.pop() {
        at += 1;
        f(stmt, at, ends);
        if !ends {
            todo.push((stmt, true));
            todo.extend(stmt.children().into_iter().rev().map(|child| (child, false)));
        }
    }
}

#[derive(Default)]
struct Survey {
    reads: Reads,
    /// The first place that binds each variable.
    first: Map<usize>,
    places: Map<(usize, usize)>,
    shared: bool,
    at: usize,
}

impl Survey {
    fn bind(&mut self, var: usize) {
        self.first.entry(var).or_insert(self.at);
    }

    fn expr(&mut self, expr: &ExprRef, at: usize) {
        self.reads.expr(expr, at);
    }

    fn ty(&mut self, ty: &TypeRef, at: usize) {
        self.reads.ty(ty, at);
    }

    fn body(&mut self, body: &StmtRef) {
        each_place(body, |stmt, at, ends| {
            self.at = at;
            if ends {
                if let Some(place) = self.places.get_mut(&stmt.node().id()) {
                    place.1 = if place.1 == 0 { at } else { place.1 };
                }
                for var in stmt.return_vars() {
                    self.bind(var.id());
                    self.ty(var.expr().ty(), at);
                }
                return;
            }
            let before = self.places.try_insert(stmt.node().id(), (at, 0)).is_err();
            self.shared |= before && !stmt.children().is_empty();
            // The condition of a loop is read again on every trip.
            let place = at + usize::from(matches!(&**stmt, Stmt::While { .. }));
            for expr in stmt.expressions() {
                self.expr(expr, place);
            }
            stmt.iter_args().iter().for_each(|arg| self.ty(arg.expr().ty(), at));
            if let Stmt::Assign { var, .. } | Stmt::For { loop_var: var, .. } = &**stmt {
                self.bind(var.id());
                self.ty(var.expr().ty(), at);
            }
        });
    }
}

/// Where parts of expressions are read last. Only the outermost are noted on the way; what lies
/// below them is told at the end, once for each part.
#[derive(Default)]
struct Reads {
    last: Map<usize>,
    /// Every part, those below before those above.
    parts: Vec<ExprRef>,
    types: Vec<TypeRef>,
    seen: Set,
}

impl Reads {
    fn note(&mut self, part: usize, at: usize) {
        let last = self.last.entry(part).or_default();
        *last = at.max(*last);
    }

    fn expr(&mut self, root: &ExprRef, at: usize) {
        self.note(root.node().id(), at);
        let mut todo: Vec<(&ExprRef, bool)> = vec![(root, false)];
        while let Some((expr, ready)) = todo.pop() {
            if ready {
                self.parts.push(expr.clone());
            } else if self.seen.insert(expr.node().id()) {
                self.see_type(expr.ty());
                todo.push((expr, true));
                todo.extend(expr.operands().map(|operand| (operand, false)));
            }
        }
    }

    fn see_type(&mut self, ty: &TypeRef) {
        if ty.node().facts().any(Facts::VAR) && self.seen.insert(ty.node().id()) {
            self.types.push(ty.clone());
        }
    }

    fn ty(&mut self, ty: &TypeRef, at: usize) {
        if ty.node().facts().any(Facts::VAR) {
            self.see_type(ty);
            self.note(ty.node().id(), at);
        }
    }

    fn into_last(mut self) -> Map<usize> {
        for part in std::mem::take(&mut self.parts).iter().rev() {
            let Some(&at) = self.last.get(&part.node().id()) else { continue };
            part.operands().for_each(|operand| self.note(operand.node().id(), at));
            if part.ty().node().facts().any(Facts::VAR) {
                self.note(part.ty().node().id(), at);
            }
        }
        for ty in std::mem::take(&mut self.types) {
            let Some(&at) = self.last.get(&ty.node().id()) else { continue };
            for var in sapwood_structural::free_variables(&ty) {
                self.note(var.node().id(), at);
            }
        }
        self.last
    }
}
