//! Liveness: which variables may be read after a statement, and which a loop carries.
//!
//! Statements are numbered in source order. A variable may be read after a statement if its last read comes later. It may
//! also be read if its last read is anywhere in an enclosing loop that starts after the variable's first binding, because of the
//! next trip.

use sapwood_structural::Facts;

use super::{IdMap, IdSet};
use crate::interpret::implicit_results;
use crate::nodes::{ExprRef, FunctionRef, Stmt, StmtRef, TypeRef, Var};

type IdPairs = hashbrown::HashSet<(usize, usize), rustc_hash::FxBuildHasher>;

/// The liveness of the variables of a function.
#[derive(Default)]
pub(super) struct Liveness {
    /// The last position that reads each variable.
    last_reads: IdMap<usize>,
    /// The first position that binds each variable.
    first_bindings: IdMap<usize>,
    /// The positions at which each statement begins and ends.
    positions: IdMap<(usize, usize)>,
    /// True if a compound statement occurs several times; then only its first position is known.
    shared: bool,
    /// The variables that each loop assigns, that have a value before it, and that may be read afterwards.
    carried: IdMap<Vec<Var>>,
}

impl Liveness {
    pub(super) fn of(function: &FunctionRef) -> Self {
        let mut builder = LivenessBuilder::default();
        function.params.iter().for_each(|param| builder.bind(param.id()));
        builder.add_body(&function.body);
        for var in implicit_results(function) {
            builder.add_expr(var.expr(), usize::MAX);
        }
        function.return_types.iter().for_each(|ty| builder.add_type(ty, usize::MAX));
        let LivenessBuilder { reads, first_bindings, positions, shared, .. } = builder;
        let last_reads = reads.into_last_reads();
        let mut live =
            Self { last_reads, first_bindings, positions, shared, carried: IdMap::default() };
        live.find_carried(function);
        live
    }

    /// Returns the variables that a loop carries, in source order.
    pub(super) fn carried_by(&self, stmt: usize) -> &[Var] {
        self.carried.get(&stmt).map_or(&[], Vec::as_slice)
    }

    /// Returns the position at which a statement begins.
    pub(super) fn position_of(&self, stmt: usize) -> usize {
        self.positions.get(&stmt).map_or(0, |place| place.0)
    }

    /// Returns whether a variable may be read after a statement; `loops` are the start positions of the enclosing loops.
    pub(super) fn is_read_after(&self, stmt: usize, var: usize, loops: &[usize]) -> bool {
        let Some(&last) = self.last_reads.get(&var) else { return false };
        if self.shared {
            // The positions of loops need not be in order.
            return true;
        }
        let first = self.first_bindings.get(&var).copied().unwrap_or(0);
        let around = loops.partition_point(|&began| began <= first);
        let end = loops.get(around).copied();
        last > end.unwrap_or_else(|| self.positions.get(&stmt).map_or(0, |place| place.1))
    }

    /// Adds every bound variable to the enclosing loops, from the innermost outwards.
    ///
    /// This stops at the first loop that contains the variable's first binding, since all loops around it contain that too.
    fn find_carried(&mut self, function: &FunctionRef) {
        // By the position of a loop and the variable; and by the loop, which may occur at several positions.
        let mut seen = IdPairs::default();
        let mut listed = IdPairs::default();
        // The open loops with their start positions.
        let mut loops: Vec<(usize, usize)> = Vec::new();
        for_each_position(&function.body, |stmt, at, ends| {
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
                let known = (self.last_reads.get(&var.id()), self.first_bindings.get(&var.id()));
                let (Some(&last), Some(&first)) = known else { continue };
                let around = loops.partition_point(|&(_, began)| began <= first);
                let read = loops.get(around).is_some_and(|&(_, began)| last > began);
                for &(inner, began) in loops[around..].iter().rev().filter(|_| read) {
                    if !seen.insert((began, var.id())) {
                        break;
                    }
                    if listed.insert((inner, var.id())) {
                        self.carried.entry(inner).or_default().push(var.clone());
                    }
                }
            }
        });
    }
}

/// Calls `f` for the begin and the end of every statement, with the position and whether it is the end.
fn for_each_position<'a>(body: &'a StmtRef, mut f: impl FnMut(&'a StmtRef, usize, bool)) {
    let mut at = 0;
    let mut stack: Vec<(&StmtRef, bool)> = vec![(body, false)];
    while let Some((stmt, ends)) = stack.pop() {
        at += 1;
        f(stmt, at, ends);
        if !ends {
            stack.push((stmt, true));
            stack.extend(stmt.children().into_iter().rev().map(|child| (child, false)));
        }
    }
}

/// A collector of the positions of statements, bindings and reads.
#[derive(Default)]
struct LivenessBuilder {
    reads: LastReads,
    /// The first position that binds each variable.
    first_bindings: IdMap<usize>,
    positions: IdMap<(usize, usize)>,
    shared: bool,
    at: usize,
}

impl LivenessBuilder {
    fn bind(&mut self, var: usize) {
        self.first_bindings.entry(var).or_insert(self.at);
    }

    fn add_expr(&mut self, expr: &ExprRef, at: usize) {
        self.reads.add_expr(expr, at);
    }

    fn add_type(&mut self, ty: &TypeRef, at: usize) {
        self.reads.add_type(ty, at);
    }

    fn add_body(&mut self, body: &StmtRef) {
        for_each_position(body, |stmt, at, ends| {
            self.at = at;
            if ends {
                if let Some(place) = self.positions.get_mut(&stmt.node().id()) {
                    place.1 = if place.1 == 0 { at } else { place.1 };
                }
                for var in stmt.return_vars() {
                    self.bind(var.id());
                    self.add_type(var.expr().ty(), at);
                }
                return;
            }
            let before = self.positions.try_insert(stmt.node().id(), (at, 0)).is_err();
            self.shared |= before && !stmt.children().is_empty();
            // The condition of a loop is evaluated again on every trip.
            let place = at + usize::from(matches!(&**stmt, Stmt::While { .. }));
            for expr in stmt.expressions() {
                self.add_expr(expr, place);
            }
            stmt.iter_args().iter().for_each(|arg| self.add_type(arg.expr().ty(), at));
            if let Stmt::Assign { var, .. } | Stmt::For { loop_var: var, .. } = &**stmt {
                self.bind(var.id());
                self.add_type(var.expr().ty(), at);
            }
        });
    }
}

/// The last read of each expression and type.
///
/// While visiting, only roots are recorded; their parts get the positions at the end, once per part.
#[derive(Default)]
struct LastReads {
    last_reads: IdMap<usize>,
    /// All parts, children before parents.
    parts: Vec<ExprRef>,
    types: Vec<TypeRef>,
    seen: IdSet,
}

impl LastReads {
    fn record(&mut self, part: usize, at: usize) {
        let last = self.last_reads.entry(part).or_default();
        *last = at.max(*last);
    }

    fn add_expr(&mut self, root: &ExprRef, at: usize) {
        self.record(root.node().id(), at);
        let mut stack: Vec<(&ExprRef, bool)> = vec![(root, false)];
        while let Some((expr, ready)) = stack.pop() {
            if ready {
                self.parts.push(expr.clone());
            } else if self.seen.insert(expr.node().id()) {
                self.record_type(expr.ty());
                stack.push((expr, true));
                stack.extend(expr.operands().map(|operand| (operand, false)));
            }
        }
    }

    fn record_type(&mut self, ty: &TypeRef) {
        if ty.node().facts().any(Facts::VAR) && self.seen.insert(ty.node().id()) {
            self.types.push(ty.clone());
        }
    }

    fn add_type(&mut self, ty: &TypeRef, at: usize) {
        if ty.node().facts().any(Facts::VAR) {
            self.record_type(ty);
            self.record(ty.node().id(), at);
        }
    }

    fn into_last_reads(mut self) -> IdMap<usize> {
        for part in std::mem::take(&mut self.parts).iter().rev() {
            let Some(&at) = self.last_reads.get(&part.node().id()) else { continue };
            part.operands().for_each(|operand| self.record(operand.node().id(), at));
            if part.ty().node().facts().any(Facts::VAR) {
                self.record(part.ty().node().id(), at);
            }
        }
        for ty in std::mem::take(&mut self.types) {
            let Some(&at) = self.last_reads.get(&ty.node().id()) else { continue };
            for var in sapwood_structural::free_variables(&ty) {
                self.record(var.node().id(), at);
            }
        }
        self.last_reads
    }
}
