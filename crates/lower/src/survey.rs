//! What is known of a function before it is lowered, found in one look at each of its nodes.

use std::rc::Rc;

use sapwood_ir::{Callee, Expr, ExprRef, Function, Stmt, StmtRef, Type, TypeRef, Var};
use sapwood_types::Span;

use crate::early::Early;
use crate::{Map, Set, deeper};

/// Statements may stand for this many times as many, through sharing, before lowering gives up.
const MOST_TIMES: u64 = 16;
const ALWAYS_FINE: u64 = 100_000;

/// Variables that a statement assigns, in order of their first assignment.
pub(crate) type Assigned<'a> = Rc<[&'a ExprRef]>;

pub(crate) struct Survey<'a> {
    /// Number of statements and expressions.
    nodes: u64,
    /// Bodies whose every path ends in a `return`.
    ends: Set,
    /// Variables that are bound more than once.
    changing: Set,
    /// Variables that an expression reads, or that are returned.
    read: Set,
    /// Functions and ops that are called, each once, in order, with the first place.
    calls: Vec<(&'a Callee, Span)>,
    /// Statements with a `return` somewhere inside.
    returns: Set,
    /// What a `return` sets that other paths pass by.
    pub(crate) early: Early,
}

impl<'a> Survey<'a> {
    /// Looks at a function; fails with the number of statements if sharing makes them too many to be lowered.
    pub(crate) fn new(function: &'a Function) -> Result<Self, u64> {
        let mut survey = Self {
            nodes: 0,
            ends: Set::default(),
            changing: Set::default(),
            read: Set::default(),
            calls: Vec::new(),
            returns: Set::default(),
            early: Early::new(function.return_types.len()),
        };
        survey.fold_body(&function.body)?;
        let mut exprs =
            ExprWalk { survey: &mut survey, seen: Set::default(), named: Set::default() };
        for stmt in unfolded(&function.body) {
            let mut expr_span = stmt.span();
            if expr_span.is_unknown() {
                expr_span = function.span;
            }
            for expr in stmt.expressions() {
                exprs.walk(expr, expr_span);
            }
        }
        survey.bindings(function);
        for var in survey.early.vars() {
            survey.changing.insert(var.node().id());
            survey.read.insert(var.node().id());
        }
        // Without a return, what the last statement binds is returned.
        survey.read.extend(bound_last(function).1.iter().map(|var| var.node().id()));
        Ok(survey)
    }

    /// Which bodies end, and how many statements there are, shared ones counted once and wherever they stand.
    fn fold_body(&mut self, root: &'a StmtRef) -> Result<(), u64> {
        let mut known: Map<u64> = Map::default();
        let mut todo: Vec<(&'a StmtRef, bool)> = vec![(root, false)];
        while let Some((stmt, ready)) = todo.pop() {
            let id = stmt.node().id();
            if known.contains_key(&id) {
                continue;
            }
            let children = stmt.children();
            if !ready && !children.is_empty() {
                todo.push((stmt, true));
                todo.extend(children.into_iter().map(|child| (child, false)));
                continue;
            }
            let count = |child: &&StmtRef| known.get(&child.node().id()).copied().unwrap_or(1);
            let unfolded = children.iter().map(count).fold(1, u64::saturating_add);
            known.insert(id, unfolded);
            if self.stmt_ends(stmt) {
                self.ends.insert(id);
            }
            let inside = |child: &&StmtRef| self.returns.contains(&child.node().id());
            if matches!(**stmt, Stmt::Return { .. }) || children.iter().any(inside) {
                self.returns.insert(id);
            }
        }
        self.nodes = known.len() as u64;
        match known.get(&root.node().id()) {
            Some(&n) if n > self.nodes.saturating_mul(MOST_TIMES).max(ALWAYS_FINE) => Err(n),
            _ => Ok(()),
        }
    }

    fn stmt_ends(&self, stmt: &StmtRef) -> bool {
        match &**stmt {
            Stmt::Return { .. } => true,
            Stmt::Seq { stmts, .. } => stmts.iter().any(|stmt| self.ends(stmt)),
            Stmt::If { then_body, else_body: Some(else_body), .. } => {
                self.ends(then_body) && self.ends(else_body)
            }
            // Loops end, and nothing but a `return` ends this one.
            Stmt::While { condition, body, .. } => self.returns(body) && always(condition),
            _ => false,
        }
    }

    fn bindings(&mut self, function: &'a Function) {
        let mut bound = Set::default();
        let mut bind = |var: &ExprRef| {
            if !bound.insert(var.node().id()) {
                self.changing.insert(var.node().id());
            }
        };
        function.params.iter().for_each(|param| bind(param.expr()));
        for stmt in unfolded(&function.body) {
            match &**stmt {
                Stmt::Assign { var, .. } => bind(var.expr()),
                Stmt::For { loop_var, .. } => bind(loop_var.expr()),
                _ => {}
            }
            if let Stmt::For { iter_args, .. } | Stmt::While { iter_args, .. } = &**stmt {
                iter_args.iter().for_each(|arg| bind(arg.expr()));
            }
            stmt.return_vars().iter().for_each(|var| bind(var.expr()));
        }
    }

    /// Whether every path through a body ends in a `return`.
    pub(crate) fn ends(&self, body: &StmtRef) -> bool {
        self.ends.contains(&body.node().id())
    }

    /// Whether there is a `return` somewhere in a statement.
    pub(crate) fn returns(&self, stmt: &StmtRef) -> bool {
        self.returns.contains(&stmt.node().id())
    }

    /// Whether a variable has more than one binding.
    pub(crate) fn changes(&self, var: &ExprRef) -> bool {
        self.changing.contains(&var.node().id())
    }

    /// Whether an expression reads the variable, or it is returned.
    pub(crate) fn is_read(&self, var: &ExprRef) -> bool {
        self.read.contains(&var.node().id())
    }

    /// What is called, each once.
    pub(crate) fn calls(&self) -> &[(&'a Callee, Span)] {
        &self.calls
    }

    /// How many operations a function of this size may become before lowering gives up.
    pub(crate) fn most_operations(&self) -> u64 {
        self.nodes.saturating_mul(MOST_TIMES).max(10 * ALWAYS_FINE)
    }

    /// The variables that a body assigns, results and loop variables included, without those that are bound nowhere else.
    /// What loops in it assign is kept in `known`: it is asked for again when they are lowered.
    pub(crate) fn assigned(
        &'a self,
        body: &'a StmtRef,
        known: &mut Map<Assigned<'a>>,
    ) -> Assigned<'a> {
        if let Some(known) = known.get(&body.node().id()) {
            return known.clone();
        }
        let mut vars: Vec<&'a ExprRef> = Vec::new();
        let (mut seen, mut shared) = (Set::default(), Set::default());
        let mut note = |var: &'a ExprRef| {
            if self.changes(var) && seen.insert(var.node().id()) {
                vars.push(var);
            }
        };
        let mut todo = vec![body];
        while let Some(stmt) = todo.pop() {
            if stmt.node().owners() > 1 && !shared.insert(stmt.node().id()) {
                continue;
            }
            match &**stmt {
                Stmt::Assign { var, .. } => note(var.expr()),
                Stmt::Return { .. } => self.early.vars().for_each(&mut note),
                Stmt::For { body, .. } | Stmt::While { body, .. } => {
                    if let Stmt::For { loop_var, .. } = &**stmt {
                        note(loop_var.expr());
                    }
                    deeper(|| self.assigned(body, known)).iter().for_each(|&var| note(var));
                }
                _ => todo.extend(stmt.children().into_iter().rev()),
            }
            stmt.return_vars().iter().for_each(|var| note(var.expr()));
        }
        let vars: Assigned<'a> = vars.into();
        known.insert(body.node().id(), vars.clone());
        vars
    }
}

// Whether a condition is true whatever happens.
fn always(condition: &ExprRef) -> bool {
    match &**condition {
        Expr::ConstBool { value, .. } => *value,
        _ => condition.as_int().is_some_and(|value| value != 0),
    }
}

/// The last statement of a function, and the variables that it binds.
pub(crate) fn bound_last(function: &Function) -> (&StmtRef, Vec<&ExprRef>) {
    let mut last = &function.body;
    loop {
        let bound = match &**last {
            Stmt::Seq { stmts, .. } | Stmt::Ops { stmts, .. } => match stmts.last() {
                Some(stmt) => {
                    last = stmt;
                    continue;
                }
                None => Vec::new(),
            },
            Stmt::Assign { var, .. } => vec![var.expr()],
            other => other.return_vars().iter().map(Var::expr).collect(),
        };
        return (last, bound);
    }
}

/// All statements, as often as they stand there, outer ones first.
fn unfolded(body: &StmtRef) -> impl Iterator<Item = &StmtRef> {
    let mut todo = vec![body];
    std::iter::from_fn(move || {
        let stmt = todo.pop()?;
        todo.extend(stmt.children().into_iter().rev());
        Some(stmt)
    })
}

struct ExprWalk<'s, 'a> {
    survey: &'s mut Survey<'a>,
    seen: Set,
    /// Callees that are on the list.
    named: Set,
}

impl<'a> ExprWalk<'_, 'a> {
    fn walk(&mut self, root: &'a ExprRef, span: Span) {
        let mut todo = vec![root];
        while let Some(expr) = todo.pop() {
            if expr.is_var() {
                self.survey.read.insert(expr.node().id());
                continue;
            }
            if expr.node().owners() > 1 && !self.seen.insert(expr.node().id()) {
                continue;
            }
            self.survey.nodes += 1;
            if let Expr::Call { callee, .. } = &**expr
                && self.named.insert(callee.node().id())
            {
                let own = expr.span();
                self.survey.calls.push((callee, if own.is_unknown() { span } else { own }));
            }
            todo.extend(expr.operands().rev());
        }
    }
}

/// The variables that stand as dims in a type.
pub(crate) fn dim_vars(ty: &TypeRef) -> Vec<&ExprRef> {
    let (mut vars, mut seen) = (Vec::new(), Set::default());
    let mut todo = vec![ty];
    while let Some(ty) = todo.pop() {
        match &**ty {
            Type::Tensor { shape, .. } => vars.extend(shape.iter().filter(|dim| dim.is_var())),
            Type::Tuple { types } if seen.insert(ty.node().id()) => todo.extend(types.iter().rev()),
            _ => {}
        }
    }
    vars
}
