//! Facts about a function that lowering needs in advance, collected in one visit of each node.

use std::rc::Rc;

use sapwood_ir::{Callee, Expr, ExprRef, Function, Stmt, StmtRef, Var};
use sapwood_types::Span;

use crate::early_return::EarlyReturnVars;
use crate::{IdMap, IdSet, with_grown_stack};

/// The largest ratio of statements with repeats to distinct statements that is lowered.
///
/// A shared statement is lowered once per occurrence, so sharing can make the output exponentially larger than the input.
const MAX_SHARING_FACTOR: u64 = 16;
/// The number of statements with repeats that is always lowered, whatever the ratio.
const UNCHECKED_STATEMENTS: u64 = 100_000;

/// The variables that a statement assigns, in the order of their first assignment.
pub(crate) type AssignedVars<'a> = Rc<[&'a ExprRef]>;

/// The facts about one function that lowering needs in advance.
pub(crate) struct LoweringSummary<'a> {
    /// The number of statements and expressions.
    nodes: u64,
    /// Statements whose every path ends in a `return`.
    always_return: IdSet,
    /// Variables that are bound more than once.
    reassigned: IdSet,
    /// Variables that an expression reads, or that are returned.
    read: IdSet,
    /// The called functions and ops, each once, in order, with the span of the first call.
    calls: Vec<(&'a Callee, Span)>,
    /// Statements that contain a `return`.
    with_return: IdSet,
    /// The variables that an early `return` assigns.
    pub(crate) return_vars: EarlyReturnVars,
}

impl<'a> LoweringSummary<'a> {
    /// Summarizes a function; fails with the number of statements if sharing makes them too many to be lowered.
    pub(crate) fn new(function: &'a Function) -> Result<Self, u64> {
        let mut summary = Self {
            nodes: 0,
            always_return: IdSet::default(),
            reassigned: IdSet::default(),
            read: IdSet::default(),
            calls: Vec::new(),
            with_return: IdSet::default(),
            return_vars: EarlyReturnVars::new(function.return_types.len()),
        };
        summary.summarize_body(&function.body)?;
        let mut exprs = ExprSummarizer {
            summary: &mut summary,
            seen: IdSet::default(),
            listed_callees: IdSet::default(),
        };
        for stmt in statements_with_repeats(&function.body) {
            let mut expr_span = stmt.span();
            if expr_span.is_unknown() {
                expr_span = function.span;
            }
            for expr in stmt.expressions() {
                exprs.visit(expr, expr_span);
            }
        }
        summary.find_reassigned(function);
        for var in summary.return_vars.vars() {
            summary.reassigned.insert(var.node().id());
            summary.read.insert(var.node().id());
        }
        // A function without a `return` returns the variables that its last statement binds.
        summary.read.extend(last_bound_vars(function).1.iter().map(|var| var.node().id()));
        Ok(summary)
    }

    /// Finds the statements that return, and counts the statements both once each and with repeats.
    fn summarize_body(&mut self, root: &'a StmtRef) -> Result<(), u64> {
        let mut counts: IdMap<u64> = IdMap::default();
        let mut worklist: Vec<(&'a StmtRef, bool)> = vec![(root, false)];
        while let Some((stmt, ready)) = worklist.pop() {
            let id = stmt.node().id();
            if counts.contains_key(&id) {
                continue;
            }
            let children = stmt.children();
            if !ready && !children.is_empty() {
                worklist.push((stmt, true));
                worklist.extend(children.into_iter().map(|child| (child, false)));
                continue;
            }
            let count = |child: &&StmtRef| counts.get(&child.node().id()).copied().unwrap_or(1);
            let with_repeats = children.iter().map(count).fold(1, u64::saturating_add);
            counts.insert(id, with_repeats);
            if self.stmt_always_returns(stmt) {
                self.always_return.insert(id);
            }
            let inside = |child: &&StmtRef| self.with_return.contains(&child.node().id());
            if matches!(**stmt, Stmt::Return { .. }) || children.iter().any(inside) {
                self.with_return.insert(id);
            }
        }
        self.nodes = counts.len() as u64;
        match counts.get(&root.node().id()) {
            Some(&n)
                if n > self.nodes.saturating_mul(MAX_SHARING_FACTOR).max(UNCHECKED_STATEMENTS) =>
            {
                Err(n)
            }
            _ => Ok(()),
        }
    }

    fn stmt_always_returns(&self, stmt: &StmtRef) -> bool {
        match &**stmt {
            Stmt::Return { .. } => true,
            Stmt::Seq { stmts, .. } => stmts.iter().any(|stmt| self.always_returns(stmt)),
            Stmt::If { then_body, else_body: Some(else_body), .. } => {
                self.always_returns(then_body) && self.always_returns(else_body)
            }
            // Loops are assumed to terminate, and only a `return` ends this one.
            Stmt::While { condition, body, .. } => {
                self.contains_return(body) && is_always_true(condition)
            }
            _ => false,
        }
    }

    fn find_reassigned(&mut self, function: &'a Function) {
        let mut bound = IdSet::default();
        let mut bind = |var: &ExprRef| {
            if !bound.insert(var.node().id()) {
                self.reassigned.insert(var.node().id());
            }
        };
        function.params.iter().for_each(|param| bind(param.expr()));
        for stmt in statements_with_repeats(&function.body) {
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

    /// Returns whether every path through a statement ends in a `return`.
    pub(crate) fn always_returns(&self, stmt: &StmtRef) -> bool {
        self.always_return.contains(&stmt.node().id())
    }

    /// Returns whether a statement contains a `return`.
    pub(crate) fn contains_return(&self, stmt: &StmtRef) -> bool {
        self.with_return.contains(&stmt.node().id())
    }

    /// Returns whether a variable is bound more than once.
    pub(crate) fn is_reassigned(&self, var: &ExprRef) -> bool {
        self.reassigned.contains(&var.node().id())
    }

    /// Returns whether an expression reads the variable or the function returns it.
    pub(crate) fn is_read(&self, var: &ExprRef) -> bool {
        self.read.contains(&var.node().id())
    }

    /// Returns the called functions and ops, each once.
    pub(crate) fn calls(&self) -> &[(&'a Callee, Span)] {
        &self.calls
    }

    /// Returns the number of operations that a function of this size may be lowered to.
    pub(crate) fn operation_limit(&self) -> u64 {
        self.nodes.saturating_mul(MAX_SHARING_FACTOR).max(10 * UNCHECKED_STATEMENTS)
    }

    /// Returns the variables that a body assigns, including results and loop variables, without those bound only once.
    ///
    /// `cache` keeps the result for each nested loop, since lowering that loop needs it too.
    pub(crate) fn assigned_vars(
        &'a self,
        body: &'a StmtRef,
        cache: &mut IdMap<AssignedVars<'a>>,
    ) -> AssignedVars<'a> {
        if let Some(cached) = cache.get(&body.node().id()) {
            return cached.clone();
        }
        let mut vars: Vec<&'a ExprRef> = Vec::new();
        let (mut seen, mut shared) = (IdSet::default(), IdSet::default());
        let mut note = |var: &'a ExprRef| {
            if self.is_reassigned(var) && seen.insert(var.node().id()) {
                vars.push(var);
            }
        };
        let mut worklist = vec![body];
        while let Some(stmt) = worklist.pop() {
            if stmt.node().owners() > 1 && !shared.insert(stmt.node().id()) {
                continue;
            }
            match &**stmt {
                Stmt::Assign { var, .. } => note(var.expr()),
                Stmt::Return { .. } => self.return_vars.vars().for_each(&mut note),
                Stmt::For { body, .. } | Stmt::While { body, .. } => {
                    if let Stmt::For { loop_var, .. } = &**stmt {
                        note(loop_var.expr());
                    }
                    with_grown_stack(|| self.assigned_vars(body, cache))
                        .iter()
                        .for_each(|&var| note(var));
                }
                _ => worklist.extend(stmt.children().into_iter().rev()),
            }
            stmt.return_vars().iter().for_each(|var| note(var.expr()));
        }
        let vars: AssignedVars<'a> = vars.into();
        cache.insert(body.node().id(), vars.clone());
        vars
    }
}

// Returns whether a condition is a constant that is true.
fn is_always_true(condition: &ExprRef) -> bool {
    match &**condition {
        Expr::ConstBool { value, .. } => *value,
        _ => condition.as_int().is_some_and(|value| value != 0),
    }
}

/// Returns the last statement of a function and the variables that it binds.
pub(crate) fn last_bound_vars(function: &Function) -> (&StmtRef, Vec<&ExprRef>) {
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

/// Iterates over all statements, a shared one once per occurrence, outer ones first.
fn statements_with_repeats(body: &StmtRef) -> impl Iterator<Item = &StmtRef> {
    let mut worklist = vec![body];
    std::iter::from_fn(move || {
        let stmt = worklist.pop()?;
        worklist.extend(stmt.children().into_iter().rev());
        Some(stmt)
    })
}

/// A visitor that adds the facts about expressions to a summary.
struct ExprSummarizer<'s, 'a> {
    summary: &'s mut LoweringSummary<'a>,
    seen: IdSet,
    /// The callees that are in `summary.calls`.
    listed_callees: IdSet,
}

impl<'a> ExprSummarizer<'_, 'a> {
    fn visit(&mut self, root: &'a ExprRef, span: Span) {
        let mut worklist = vec![root];
        while let Some(expr) = worklist.pop() {
            if expr.is_var() {
                self.summary.read.insert(expr.node().id());
                continue;
            }
            if expr.node().owners() > 1 && !self.seen.insert(expr.node().id()) {
                continue;
            }
            self.summary.nodes += 1;
            if let Expr::Call { callee, .. } = &**expr
                && self.listed_callees.insert(callee.node().id())
            {
                let own = expr.span();
                self.summary.calls.push((callee, if own.is_unknown() { span } else { own }));
            }
            worklist.extend(expr.operands().rev());
        }
    }
}
