//! Passes over programs. Each keeps what the program computes, and is a function of the program
//! alone.
//!
//! | pass | what it does |
//! | --- | --- |
//! | [`fold`](fn@fold) | computes constant expressions and applies identities of scalar arithmetic |
//! | [`to_ssa`](fn@to_ssa) | gives each definition a variable of its own; values leave loops and branches by results |
//! | [`inline`](fn@inline) | puts the bodies of functions where they are called |
//! | [`remove_dead_assignments`](fn@remove_dead_assignments) | drops assignments to variables that nothing reads |
//! | [`cse`](fn@cse) | computes an expression once that several assignments compute |
//! | [`infer_types`](fn@infer_types) | fills in unknown types from signatures and operands |

mod cse;
mod fold;
mod infer_types;
mod inline;
mod remove_dead_assignments;
mod rename;
mod to_ssa;

pub use cse::cse;
pub use fold::{fold, fold_expr};
pub use infer_types::infer_types;
pub use inline::inline;
pub use remove_dead_assignments::remove_dead_assignments;
pub use to_ssa::to_ssa;

use crate::error::IrError;
use crate::nodes::{ExprRef, Program, ProgramRef, Stmt, StmtRef};

type Map<V> = hashbrown::HashMap<usize, V, rustc_hash::FxBuildHasher>;
type Set = hashbrown::HashSet<usize, rustc_hash::FxBuildHasher>;

/// Why a pass could not be run.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PassError {
    /// Statements that are shared again and again: each of their places would need its own copy.
    #[error(
        "function `{function}`: its shared statements stand for {statements} statements, too many to take apart"
    )]
    TooShared {
        /// Where.
        function: String,
        /// How many.
        statements: u64,
    },
    /// A loop that is not well-formed.
    #[error("function `{function}`: a loop yields {found} values and carries {expected}")]
    Yield {
        /// Where.
        function: String,
        /// How many it carries.
        expected: usize,
        /// How many it yields.
        found: usize,
    },
    /// A node could not be made.
    #[error(transparent)]
    Node(#[from] IrError),
    /// A node cannot hold what became of its parts.
    #[error(transparent)]
    Rebuild(#[from] sapwood_structural::MapError<std::convert::Infallible>),
}

/// A pass.
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

/// Statements may stand for this many times as many, through sharing, before a pass gives up.
const MOST_TIMES: u64 = 16;
const ALWAYS_FINE: u64 = 100_000;

/// Refuses a body whose shared statements cannot be visited one by one.
fn check_sharing(function: &str, body: &StmtRef) -> Result<(), PassError> {
    let shape = crate::size::shape(body);
    if shape.unfolded > shape.nodes.saturating_mul(MOST_TIMES).max(ALWAYS_FINE) {
        return Err(PassError::TooShared {
            function: function.to_owned(),
            statements: shape.unfolded,
        });
    }
    Ok(())
}

/// Runs `work` with enough stack for one more level of statements.
fn deeper<T>(work: impl FnOnce() -> T) -> T {
    stacker::maybe_grow(128 << 10, 4 << 20, work)
}

/// Whether evaluating an expression calls something.
fn calls(expr: &ExprRef) -> bool {
    any_node(expr, |expr| matches!(expr, crate::nodes::Expr::Call { .. }))
}

/// Whether something holds of a node of an expression, its types left out. Each node is asked once.
fn any_node(root: &ExprRef, mut holds: impl FnMut(&crate::nodes::Expr) -> bool) -> bool {
    let mut seen = Set::default();
    let mut stack = vec![root];
    while let Some(expr) = stack.pop() {
        if expr.operands().len() > 0 && expr.node().owners() > 1 && !seen.insert(expr.node().id()) {
            continue;
        }
        if holds(expr) {
            return true;
        }
        stack.extend(expr.operands());
    }
    false
}

/// The variables that an expression reads, its types left out.
fn variables(root: &ExprRef) -> Vec<usize> {
    let (mut seen, mut vars) = (Set::default(), Vec::new());
    let mut stack = vec![root];
    while let Some(expr) = stack.pop() {
        let shared = expr.is_var() || expr.node().owners() > 1;
        if shared && !seen.insert(expr.node().id()) {
            continue;
        }
        if expr.is_var() {
            vars.push(expr.node().id());
        }
        stack.extend(expr.operands());
    }
    vars
}

/// Calls `f` with every statement of a body, as often as it stands there, outer ones first.
fn each_stmt<'a>(body: &'a StmtRef, mut f: impl FnMut(&'a StmtRef)) {
    let mut stack = vec![body];
    while let Some(stmt) = stack.pop() {
        f(stmt);
        let mut children = stmt.children();
        children.reverse();
        stack.extend(children);
    }
}

/// Whether a body ends in a `return` or a `yield`.
fn ends(body: &StmtRef) -> bool {
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

/// How often each variable is bound in a function, parameters included.
fn bindings(function: &crate::nodes::Function) -> Map<u32> {
    let mut counts: Map<u32> = Map::default();
    for param in &function.params {
        *counts.entry(param.id()).or_default() += 1;
    }
    each_stmt(&function.body, |stmt| match &**stmt {
        Stmt::Assign { var, .. } => *counts.entry(var.id()).or_default() += 1,
        Stmt::For { loop_var, iter_args, return_vars, .. } => {
            *counts.entry(loop_var.id()).or_default() += 1;
            iter_args.iter().for_each(|arg| *counts.entry(arg.id()).or_default() += 1);
            return_vars.iter().for_each(|var| *counts.entry(var.id()).or_default() += 1);
        }
        Stmt::While { iter_args, return_vars, .. } => {
            iter_args.iter().for_each(|arg| *counts.entry(arg.id()).or_default() += 1);
            return_vars.iter().for_each(|var| *counts.entry(var.id()).or_default() += 1);
        }
        other => {
            for var in other.return_vars() {
                *counts.entry(var.id()).or_default() += 1;
            }
        }
    });
    counts
}
