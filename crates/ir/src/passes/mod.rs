//! Passes over programs. Each preserves the computed values, and its result depends only on the program.
//!
//! | pass | effect |
//! | --- | --- |
//! | [`fold`](fn@fold) | computes constant expressions and applies identities of scalar arithmetic |
//! | [`to_ssa`](fn@to_ssa) | gives each definition its own variable; values leave loops and branches as results |
//! | [`inline`](fn@inline) | replaces calls by the bodies of their callees |
//! | [`remove_dead_assignments`](fn@remove_dead_assignments) | removes assignments to variables that are never read |
//! | [`cse`](fn@cse) | computes an expression once if several assignments compute it |
//! | [`infer_types`](fn@infer_types) | fills in unknown types from signatures and operands |

mod call_graph;
mod cse;
mod fold;
mod infer_types;
mod inline;
mod iter_args;
mod liveness;
mod map_stmt;
mod remove_dead_assignments;
mod rename;
mod to_ssa;

pub use cse::cse;
pub use fold::{fold, fold_expr};
pub use infer_types::infer_types;
pub use inline::inline;
pub(crate) use iter_args::refresh_iter_args;
pub use remove_dead_assignments::remove_dead_assignments;
pub use to_ssa::to_ssa;

use sapwood_types::counted;

use crate::error::IrError;
use crate::interpret::implicit_results;
use crate::nodes::{
    Expr, ExprRef, Function, FunctionRef, IterArg, Program, ProgramRef, Stmt, StmtRef, Var,
};

type IdMap<V> = hashbrown::HashMap<usize, V, rustc_hash::FxBuildHasher>;
type IdSet = hashbrown::HashSet<usize, rustc_hash::FxBuildHasher>;

/// The reason why a pass failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PassError {
    /// Statements are shared so often that a copy per occurrence would be too large.
    #[error(
        "function `{function}` shares statements: written out they are {statements} statements, too many to transform"
    )]
    TooShared {
        /// The name of the function.
        function: String,
        /// The number of statements, shared ones counted once per occurrence.
        statements: u64,
    },
    /// A loop yields a wrong number of values.
    #[error("function `{function}`: a loop yields {} and carries {expected}", counted(*.found, "value"))]
    Yield {
        /// The name of the function.
        function: String,
        /// The number of values that the loop carries.
        expected: usize,
        /// The number of values that the loop yields.
        found: usize,
    },
    /// A node could not be constructed.
    #[error(transparent)]
    Node(#[from] IrError),
    /// A node cannot hold a replaced child.
    #[error(transparent)]
    Rebuild(#[from] sapwood_structural::MapError<std::convert::Infallible>),
}

/// A pass over a program.
pub type Pass = fn(&Program) -> Result<ProgramRef, PassError>;

/// All passes by name.
pub const PASSES: [(&str, Pass); 6] = [
    ("cse", cse),
    ("fold", fold),
    ("infer_types", infer_types),
    ("inline", inline),
    ("remove_dead_assignments", remove_dead_assignments),
    ("to_ssa", to_ssa),
];

/// Rejects a body whose shared statements have too many occurrences to visit each.
fn check_sharing(function: &str, body: &StmtRef) -> Result<(), PassError> {
    let size = crate::body_size::measure_body(body);
    if size.is_too_shared() {
        return Err(PassError::TooShared {
            function: function.to_owned(),
            statements: size.with_repeats,
        });
    }
    Ok(())
}

/// Runs `work` with enough stack for one more level of nested statements.
fn with_grown_stack<T>(work: impl FnOnce() -> T) -> T {
    stacker::maybe_grow(128 << 10, 4 << 20, work)
}

/// Returns the function with another body, or the same function if the body is the same.
pub(crate) fn with_body(function: &FunctionRef, body: &StmtRef) -> FunctionRef {
    if body.same(&function.body) {
        return function.clone();
    }
    let (params, types) = (function.params.iter().cloned(), function.return_types.iter().cloned());
    Function::new(&function.name, params, types, body, function.span)
}

/// Returns the function with these statements as its body and the same results as before.
///
/// If `results` is not empty, it contains the implicit results, and a `return` of them is appended. If it is empty and the new
/// last statement would add implicit results, an empty sequence is appended.
fn with_stmts(
    function: &FunctionRef,
    mut stmts: Vec<StmtRef>,
    results: Vec<ExprRef>,
) -> FunctionRef {
    let span = function.body.span();
    if !results.is_empty() {
        stmts.push(Stmt::return_(results, function.span));
        return with_body(function, &Stmt::block(stmts, span));
    }
    let new = with_body(function, &Stmt::block(stmts.iter().cloned(), span));
    if implicit_results(&new).is_empty() || !implicit_results(function).is_empty() {
        return new;
    }
    stmts.push(Stmt::seq([], span));
    with_body(function, &Stmt::seq(stmts, span))
}

/// A memo of whether any node of an expression satisfies a test. Types are not visited.
#[derive(Default)]
struct ExprPredicateMemo {
    memo: IdMap<bool>,
}

impl ExprPredicateMemo {
    /// Returns whether `test` holds for any node; `test` must always return the same for a node.
    fn any_node(&mut self, root: &ExprRef, test: impl Fn(&ExprRef) -> bool) -> bool {
        let mut done: Vec<bool> = Vec::new();
        let mut stack: Vec<(&ExprRef, bool)> = vec![(root, false)];
        while let Some((expr, ready)) = stack.pop() {
            let operands = expr.operands().len();
            if operands == 0 {
                done.push(test(expr));
            } else if ready {
                let below = done.split_off(done.len() - operands).contains(&true);
                let holds = below || test(expr);
                if expr.node().owners() > 1 {
                    self.memo.insert(expr.node().id(), holds);
                }
                done.push(holds);
            } else if let Some(&holds) = self.memo.get(&expr.node().id()) {
                done.push(holds);
            } else {
                stack.push((expr, true));
                stack.extend(expr.operands().map(|operand| (operand, false)));
            }
        }
        done.pop().unwrap_or(false)
    }

    /// Returns whether an expression contains a call.
    fn contains_call(&mut self, expr: &ExprRef) -> bool {
        self.any_node(expr, |expr| matches!(&**expr, Expr::Call { .. }))
    }
}

/// Calls `f` for every statement of a body, a shared one once per occurrence, outer ones first.
fn for_each_stmt<'a>(body: &'a StmtRef, mut f: impl FnMut(&'a StmtRef)) {
    let mut stack = vec![body];
    while let Some(stmt) = stack.pop() {
        f(stmt);
        let mut children = stmt.children();
        children.reverse();
        stack.extend(children);
    }
}

/// Returns whether a body ends in a `return` or a `yield`.
fn ends_in_return_or_yield(body: &StmtRef) -> bool {
    let mut last = body;
    loop {
        match &**last {
            Stmt::Return { .. } | Stmt::Yield { .. } => return true,
            Stmt::Seq { stmts, .. } => match stmts.last() {
                Some(stmt) => last = stmt,
                None => return false,
            },
            _ => return false,
        }
    }
}

/// Counts the bindings of each variable in a function, including parameters.
fn count_bindings(function: &Function) -> IdMap<u32> {
    let mut counts: IdMap<u32> = IdMap::default();
    for param in &function.params {
        *counts.entry(param.id()).or_default() += 1;
    }
    for_each_stmt(&function.body, |stmt| match &**stmt {
        Stmt::Assign { var, .. } => *counts.entry(var.id()).or_default() += 1,
        other => {
            let counter = match other {
                Stmt::For { loop_var, .. } => Some(loop_var.id()),
                _ => None,
            };
            let args = other.iter_args().iter().map(IterArg::id);
            for var in
                counter.into_iter().chain(args).chain(other.return_vars().iter().map(Var::id))
            {
                *counts.entry(var).or_default() += 1;
            }
        }
    });
    counts
}
