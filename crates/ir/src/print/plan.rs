//! The plan for printing: names of variables, and the expressions and types that get a name of their own.

use std::borrow::Cow;
use std::collections::VecDeque;

use sapwood_structural::Facts;

use crate::names::UniqueNames;
use crate::nodes::{
    Expr, ExprRef, FunctionRef, Program, Stmt, StmtRef, Type, TypeRef, UnaryOp, Var, cast_data_type,
};

type IdMap<V> = hashbrown::HashMap<usize, V, rustc_hash::FxBuildHasher>;

/// The largest number of nodes of a shared part that is repeated; a larger one is named.
const MAX_REPEATED_NODES: u32 = 8;
/// The height from which a part is named and written on its own line.
const MIN_NAMED_HEIGHT: u32 = 40;

/// The facts about a part that is shared or deep.
#[derive(Clone, Copy, Default)]
pub(super) struct PartInfo {
    uses: u32,
    nodes: u32,
    height: u32,
    is_deep: bool,
    /// One more than the number in its name, or 0 before it is defined.
    pub(super) written: u32,
}

impl PartInfo {
    pub(super) fn is_named(self) -> bool {
        self.is_deep || (self.uses > 1 && self.nodes > MAX_REPEATED_NODES)
    }
}

/// A variable with its name in the text.
pub(super) struct NamedVar<'a> {
    pub(super) name: Cow<'a, str>,
    /// True once the text has bound the variable.
    pub(super) declared: bool,
}

/// The part of the plan that belongs to one function.
#[derive(Default)]
pub(super) struct FunctionPlan<'a> {
    pub(super) vars: IdMap<NamedVar<'a>>,
    names: UniqueNames,
    /// The parts with variables.
    pub(super) parts: IdMap<PartInfo>,
}

/// The names and shared parts of a program, chosen before printing.
#[derive(Default)]
pub(super) struct PrintPlan<'a> {
    pub(super) local: FunctionPlan<'a>,
    /// The plans of the functions that are not written yet, in order.
    pending: VecDeque<FunctionPlan<'a>>,
    /// The names of variables that look like names of parts; parts must not use them.
    reserved_names: UniqueNames,
    /// The parts without variables, for the whole text.
    pub(super) closed_parts: IdMap<PartInfo>,
    /// True if any part has a name.
    pub(super) has_named_parts: bool,
    /// The program, whose signatures give the types of calls.
    pub(super) program: Option<&'a Program>,
    stack: Vec<PlanFrame<'a>>,
}

/// An expression or a type in the text.
#[derive(Clone, Copy)]
pub(super) enum PrintItem<'a> {
    Expr(&'a ExprRef),
    Type(&'a TypeRef),
}

impl<'a> PrintItem<'a> {
    pub(super) fn id(self) -> usize {
        match self {
            Self::Expr(expr) => expr.node().id(),
            Self::Type(ty) => ty.node().id(),
        }
    }

    fn owners(self) -> u32 {
        match self {
            Self::Expr(expr) => expr.node().owners(),
            Self::Type(ty) => ty.node().owners(),
        }
    }

    pub(super) fn is_closed(self) -> bool {
        let facts = match self {
            Self::Expr(expr) => expr.node().facts(),
            Self::Type(ty) => ty.node().facts(),
        };
        !facts.any(Facts::VAR)
    }

    pub(super) fn is_leaf(self) -> bool {
        match self {
            Self::Expr(expr) => expr.is_var() || expr.is_const(),
            Self::Type(ty) => matches!(&**ty, Type::Scalar { .. } | Type::Unknown { .. }),
        }
    }

    /// Returns the type that must be written in addition to the operands.
    pub(super) fn written_type(self, program: Option<&Program>) -> Option<&'a TypeRef> {
        match self {
            Self::Expr(expr) => is_type_written(expr, program).then(|| expr.ty()),
            Self::Type(_) => None,
        }
    }

    /// Returns the operand or element at `index`.
    pub(super) fn child(self, index: usize) -> Option<PrintItem<'a>> {
        match self {
            Self::Expr(expr) => match expr.as_binary() {
                Some((_, left, right)) => match index {
                    0 => Some(Self::Expr(left)),
                    1 => Some(Self::Expr(right)),
                    _ => None,
                },
                None => match &**expr {
                    Expr::Call { args, .. } => args.get(index).map(Self::Expr),
                    Expr::MakeTuple { elements, .. } => elements.get(index).map(Self::Expr),
                    other => other.operands().nth(index).map(Self::Expr),
                },
            },
            Self::Type(ty) => match &**ty {
                Type::Scalar { .. } | Type::Unknown { .. } => None,
                Type::Tensor { shape, .. } => shape.get(index).map(Self::Expr),
                Type::Tuple { types, .. } => types.get(index).map(Self::Type),
                Type::Function { params, results, .. } => {
                    params.get(index).or_else(|| results.get(index - params.len())).map(Self::Type)
                }
            },
        }
    }
}

/// An item whose children are being planned.
struct PlanFrame<'a> {
    item: PrintItem<'a>,
    next: u32,
    nodes: u32,
    height: u32,
    /// True if the type still has to be visited.
    type_pending: bool,
}

impl<'a> PrintPlan<'a> {
    /// Plans a function. All functions are planned before the first is written.
    pub(super) fn plan_function(&mut self, function: &'a FunctionRef) {
        for param in &function.params {
            self.plan_binding(param);
        }
        for ty in &function.return_types {
            self.plan_type(ty);
        }
        self.plan_stmt(&function.body);
        self.pending.push_back(std::mem::take(&mut self.local));
    }

    /// Makes the plan of the next function the current one.
    pub(super) fn next_function(&mut self) {
        self.local = self.pending.pop_front().unwrap_or_default();
    }

    pub(super) fn part_name_is_free(&self, name: &str) -> bool {
        !self.reserved_names.is_taken(name)
    }

    pub(super) fn plan_stmt(&mut self, stmt: &'a StmtRef) {
        match &**stmt {
            Stmt::Assign { var, value, .. } => {
                self.plan_binding(var);
                self.plan_expr(value);
            }
            Stmt::If { condition, then_body, else_body, return_vars, .. } => {
                self.plan_expr(condition);
                self.plan_stmt(then_body);
                else_body.iter().for_each(|body| self.plan_stmt(body));
                return_vars.iter().for_each(|var| self.plan_binding(var));
            }
            Stmt::For { body, return_vars, .. } | Stmt::While { body, return_vars, .. } => {
                if let Stmt::For { loop_var, .. } = &**stmt {
                    self.plan_binding(loop_var);
                }
                for arg in stmt.iter_args() {
                    self.name_var(arg.expr());
                    self.plan_type(arg.ty());
                }
                stmt.expressions().into_iter().for_each(|expr| self.plan_expr(expr));
                self.plan_stmt(body);
                return_vars.iter().for_each(|var| self.plan_binding(var));
            }
            Stmt::Yield { values, .. } | Stmt::Return { values, .. } => {
                values.iter().for_each(|expr| self.plan_expr(expr));
            }
            Stmt::Eval { expr, .. } => self.plan_expr(expr),
            Stmt::Seq { stmts, .. } | Stmt::Ops { stmts, .. } => {
                stmts.iter().for_each(|stmt| self.plan_stmt(stmt));
            }
        }
    }

    /// Plans a binding of a variable; at the first one its type is written too.
    fn plan_binding(&mut self, var: &'a Var) {
        if self.name_var(var.expr()) {
            self.plan_type(var.ty());
        }
    }

    /// Chooses the name of a variable; returns whether the variable is new.
    fn name_var(&mut self, var: &'a ExprRef) -> bool {
        let id = var.node().id();
        if self.local.vars.contains_key(&id) {
            return false;
        }
        let name = self.local.names.reserve(var.name().unwrap_or(""));
        // Only names of the form of a part's name can collide with one.
        let like_a_part = name.strip_prefix(['c', 's']).is_some_and(|n| n.parse::<u32>().is_ok());
        if like_a_part && !self.reserved_names.is_taken(&name) {
            self.reserved_names.reserve(&name);
        }
        self.local.vars.insert(id, NamedVar { name, declared: false });
        true
    }

    pub(super) fn plan_type(&mut self, ty: &'a TypeRef) {
        self.plan_item(PrintItem::Type(ty));
    }

    pub(super) fn plan_expr(&mut self, expr: &'a ExprRef) {
        self.plan_item(PrintItem::Expr(expr));
    }

    fn plan_item(&mut self, root: PrintItem<'a>) {
        if self.enter_item(root).is_some() {
            return;
        }
        while let Some(frame) = self.stack.last_mut() {
            let next = frame.item.child(frame.next as usize);
            let next = match next {
                Some(child) => {
                    frame.next += 1;
                    Some(child)
                }
                None if frame.type_pending => {
                    frame.type_pending = false;
                    frame.item.written_type(self.program).map(PrintItem::Type)
                }
                None => None,
            };
            let done = match next {
                Some(child) => self.enter_item(child),
                None => Some(self.leave_item()),
            };
            if let (Some((nodes, height)), Some(outer)) = (done, self.stack.last_mut()) {
                outer.nodes = outer.nodes.saturating_add(nodes);
                outer.height = outer.height.max(height);
            }
        }
    }

    /// Returns the size and height of a part that was visited before; otherwise pushes it on the stack.
    fn enter_item(&mut self, item: PrintItem<'a>) -> Option<(u32, u32)> {
        if item.is_leaf() {
            if let PrintItem::Expr(expr) = item
                && expr.is_var()
            {
                self.name_var(expr);
            }
            return Some((1, 0));
        }
        if item.owners() > 1 {
            let parts =
                if item.is_closed() { &mut self.closed_parts } else { &mut self.local.parts };
            if let Some(part) = parts.get_mut(&item.id()) {
                part.uses += 1;
                self.has_named_parts |= part.is_named();
                return Some((part.nodes, if part.is_deep { 0 } else { part.height }));
            }
        }
        let type_pending = match item {
            PrintItem::Expr(expr) => is_type_written(expr, self.program),
            PrintItem::Type(_) => false,
        };
        self.stack.push(PlanFrame {
            item,
            next: 0,
            nodes: 1 + u32::from(type_pending),
            height: 0,
            type_pending,
        });
        None
    }

    fn leave_item(&mut self) -> (u32, u32) {
        let Some(frame) = self.stack.pop() else { return (0, 0) };
        let height = frame.height + 1;
        let is_deep = height >= MIN_NAMED_HEIGHT;
        self.has_named_parts |= is_deep;
        if is_deep || frame.item.owners() > 1 {
            let parts =
                if frame.item.is_closed() { &mut self.closed_parts } else { &mut self.local.parts };
            let part = PartInfo { uses: 1, nodes: frame.nodes, height, is_deep, written: 0 };
            parts.insert(frame.item.id(), part);
        }
        (frame.nodes, if is_deep { 0 } else { height })
    }
}

/// Returns whether text has the type of an expression, as a type of its own, in addition to the operands.
fn is_type_written(expr: &Expr, program: Option<&Program>) -> bool {
    match expr.as_unary() {
        Some((UnaryOp::Cast, _)) => cast_data_type(expr).is_none(),
        _ => !expr.has_inferred_type(program),
    }
}
