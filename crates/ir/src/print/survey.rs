//! The first walk: names for variables, and which expressions and types need a name of their own.

use std::borrow::Cow;
use std::collections::VecDeque;

use sapwood_structural::Facts;

use crate::names::UniqueNames;
use crate::nodes::{Expr, ExprRef, FunctionRef, Stmt, StmtRef, Type, TypeRef, UnaryOp, Var};

type Map<V> = hashbrown::HashMap<usize, V, rustc_hash::FxBuildHasher>;

/// A shared part with more nodes than this is written once and named.
const SMALL: u32 = 8;
/// A part this deep is written on a line of its own and named.
const DEEP: u32 = 40;

/// What is known of a part that is met more than once, or is deep.
#[derive(Clone, Copy, Default)]
pub(super) struct Part {
    edges: u32,
    weight: u32,
    height: u32,
    deep: bool,
    /// One more than the number in its name; 0 before it is written.
    pub(super) written: u32,
}

impl Part {
    pub(super) fn is_named(self) -> bool {
        self.deep || (self.edges > 1 && self.weight > SMALL)
    }
}

/// A variable and its name.
pub(super) struct Named<'a> {
    pub(super) name: Cow<'a, str>,
    /// Whether the text has bound it already.
    pub(super) declared: bool,
}

/// What belongs to one function.
#[derive(Default)]
pub(super) struct Local<'a> {
    pub(super) vars: Map<Named<'a>>,
    names: UniqueNames,
    /// Parts with variables.
    pub(super) parts: Map<Part>,
}

#[derive(Default)]
pub(super) struct Survey<'a> {
    pub(super) local: Local<'a>,
    /// Functions that were looked at, to be written in the same order.
    waiting: VecDeque<Local<'a>>,
    /// Names like those of parts that variables have anywhere; parts stay clear of them.
    all_names: UniqueNames,
    /// Parts without variables: of the whole text.
    pub(super) closed: Map<Part>,
    /// Whether any part at all has a name.
    pub(super) any_named: bool,
    stack: Vec<Frame<'a>>,
}

/// An expression or a type.
#[derive(Clone, Copy)]
pub(super) enum Item<'a> {
    Expr(&'a ExprRef),
    Type(&'a TypeRef),
}

impl<'a> Item<'a> {
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
            Self::Type(ty) => matches!(&**ty, Type::Scalar { .. } | Type::Unknown {}),
        }
    }

    /// The type that has to be written beside the operands.
    pub(super) fn written_type(self) -> Option<&'a TypeRef> {
        match self {
            Self::Expr(expr) => {
                let shown = matches!(&**expr, Expr::Cast { .. }) || !expr.has_natural_type();
                shown.then(|| expr.ty())
            }
            Self::Type(_) => None,
        }
    }

    /// The part at `index`, of those that are written.
    pub(super) fn child(self, index: usize) -> Option<Item<'a>> {
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
                Type::Scalar { .. } | Type::Unknown {} => None,
                Type::Tensor { shape, .. } => shape.get(index).map(Self::Expr),
                Type::Tuple { types } => types.get(index).map(Self::Type),
                Type::Function { params, results } => {
                    params.get(index).or_else(|| results.get(index - params.len())).map(Self::Type)
                }
            },
        }
    }
}

struct Frame<'a> {
    item: Item<'a>,
    next: u32,
    weight: u32,
    height: u32,
    /// The type is still to be looked at.
    typed: bool,
}

impl<'a> Survey<'a> {
    /// Looks at a whole function. All functions are looked at before the first is written.
    pub(super) fn function(&mut self, function: &'a FunctionRef) {
        for param in &function.params {
            self.binding(param);
        }
        for ty in &function.return_types {
            self.ty(ty);
        }
        self.stmt(&function.body);
        self.waiting.push_back(std::mem::take(&mut self.local));
    }

    /// Turns to the next function that was looked at.
    pub(super) fn next_function(&mut self) {
        self.local = self.waiting.pop_front().unwrap_or_default();
    }

    pub(super) fn part_name_is_free(&self, name: &str) -> bool {
        !self.all_names.is_taken(name)
    }

    pub(super) fn stmt(&mut self, stmt: &'a StmtRef) {
        match &**stmt {
            Stmt::Assign { var, value, .. } => {
                self.binding(var);
                self.expr(value);
            }
            Stmt::If { condition, then_body, else_body, return_vars, .. } => {
                self.expr(condition);
                self.stmt(then_body);
                else_body.iter().for_each(|body| self.stmt(body));
                return_vars.iter().for_each(|var| self.binding(var));
            }
            Stmt::For {
                init_values,
                loop_var,
                start,
                stop,
                step,
                iter_args,
                body,
                return_vars,
                ..
            } => {
                self.binding(loop_var);
                for arg in iter_args {
                    self.var(arg.expr());
                    self.ty(arg.ty());
                }
                for expr in [start, stop, step].into_iter().chain(init_values) {
                    self.expr(expr);
                }
                self.stmt(body);
                return_vars.iter().for_each(|var| self.binding(var));
            }
            Stmt::While { init_values, iter_args, condition, body, return_vars, .. } => {
                for arg in iter_args {
                    self.var(arg.expr());
                    self.ty(arg.ty());
                }
                init_values.iter().for_each(|expr| self.expr(expr));
                self.expr(condition);
                self.stmt(body);
                return_vars.iter().for_each(|var| self.binding(var));
            }
            Stmt::Yield { values, .. } | Stmt::Return { values, .. } => {
                values.iter().for_each(|expr| self.expr(expr));
            }
            Stmt::Eval { expr, .. } => self.expr(expr),
            Stmt::Seq { stmts, .. } | Stmt::Ops { stmts, .. } => {
                stmts.iter().for_each(|stmt| self.stmt(stmt));
            }
        }
    }

    /// A variable where it is bound: the first time, its type is written.
    fn binding(&mut self, var: &'a Var) {
        if self.var(var.expr()) {
            self.ty(var.ty());
        }
    }

    /// Names a variable; true if it is new.
    fn var(&mut self, var: &'a ExprRef) -> bool {
        let id = var.node().id();
        if self.local.vars.contains_key(&id) {
            return false;
        }
        let name = self.local.names.give(var.name().unwrap_or(""));
        // Only names that a part could have are in its way.
        let like_a_part = name.strip_prefix(['c', 's']).is_some_and(|n| n.parse::<u32>().is_ok());
        if like_a_part && !self.all_names.is_taken(&name) {
            self.all_names.give(&name);
        }
        self.local.vars.insert(id, Named { name, declared: false });
        true
    }

    pub(super) fn ty(&mut self, ty: &'a TypeRef) {
        self.item(Item::Type(ty));
    }

    pub(super) fn expr(&mut self, expr: &'a ExprRef) {
        self.item(Item::Expr(expr));
    }

    fn item(&mut self, root: Item<'a>) {
        if self.enter(root).is_some() {
            return;
        }
        while let Some(frame) = self.stack.last_mut() {
            let next = frame.item.child(frame.next as usize);
            let next = match next {
                Some(child) => {
                    frame.next += 1;
                    Some(child)
                }
                None if frame.typed => {
                    frame.typed = false;
                    frame.item.written_type().map(Item::Type)
                }
                None => None,
            };
            let done = match next {
                Some(child) => self.enter(child),
                None => Some(self.leave()),
            };
            if let (Some((weight, height)), Some(outer)) = (done, self.stack.last_mut()) {
                outer.weight = outer.weight.saturating_add(weight);
                outer.height = outer.height.max(height);
            }
        }
    }

    /// Weight and height of a part that is known; otherwise puts it on the stack.
    fn enter(&mut self, item: Item<'a>) -> Option<(u32, u32)> {
        if item.is_leaf() {
            if let Item::Expr(expr) = item
                && expr.is_var()
            {
                self.var(expr);
            }
            return Some((1, 0));
        }
        if item.owners() > 1 {
            let parts = if item.is_closed() { &mut self.closed } else { &mut self.local.parts };
            if let Some(part) = parts.get_mut(&item.id()) {
                part.edges += 1;
                self.any_named |= part.is_named();
                return Some((part.weight, if part.deep { 0 } else { part.height }));
            }
        }
        let typed = match item {
            Item::Expr(expr) => {
                matches!(expr.as_unary(), Some((UnaryOp::Cast, _))) || !expr.has_natural_type()
            }
            Item::Type(_) => false,
        };
        self.stack.push(Frame { item, next: 0, weight: 1 + u32::from(typed), height: 0, typed });
        None
    }

    fn leave(&mut self) -> (u32, u32) {
        let Some(frame) = self.stack.pop() else { return (0, 0) };
        let height = frame.height + 1;
        let deep = height >= DEEP;
        self.any_named |= deep;
        if deep || frame.item.owners() > 1 {
            let parts =
                if frame.item.is_closed() { &mut self.closed } else { &mut self.local.parts };
            let part = Part { edges: 1, weight: frame.weight, height, deep, written: 0 };
            parts.insert(frame.item.id(), part);
        }
        (frame.weight, if deep { 0 } else { height })
    }
}
