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

mod arguments;
mod calls;
mod cse;
mod fold;
mod infer_types;
mod inline;
mod live;
mod remove_dead_assignments;
mod rename;
mod to_ssa;
mod walk;

pub(crate) use arguments::with_fresh_arguments;
pub use cse::cse;
pub use fold::{fold, fold_expr};
pub use infer_types::infer_types;
pub use inline::inline;
pub use remove_dead_assignments::remove_dead_assignments;
pub use to_ssa::to_ssa;

use sapwood_types::counted;

use crate::error::IrError;
use crate::interpret::implicit_results;
use crate::nodes::{
    Expr, ExprRef, Function, FunctionRef, IterArg, Program, ProgramRef, Stmt, StmtRef, Var,
};

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
    #[error("function `{function}`: a loop yields {} and carries {expected}", counted(*.found, "value"))]
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

/// Refuses a body whose shared statements cannot be visited one by one.
fn check_sharing(function: &str, body: &StmtRef) -> Result<(), PassError> {
    let shape = crate::size::shape(body);
    if shape.is_too_shared() {
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

/// The function with another body; itself if the body is its own.
pub(crate) fn with_body(function: &FunctionRef, body: &StmtRef) -> FunctionRef {
    if body.same(&function.body) {
        return function.clone();
    }
    let (params, types) = (function.params.iter().cloned(), function.return_types.iter().cloned());
    Function::new(&function.name, params, types, body, function.span)
}

/// The function with these statements as its body. What it gives at its end stays what it was:
/// `results` is what it returns because its last statement binds that; where it is empty, nothing is
/// returned because of what the last of the statements binds now.
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

/// Whether something holds of any node of an expression, its types left out. Parts that many
/// expressions share are asked once.
#[derive(Default)]
struct Anywhere {
    known: Map<bool>,
}

impl Anywhere {
    /// `test` must say the same of a node every time.
    fn holds(&mut self, root: &ExprRef, test: impl Fn(&ExprRef) -> bool) -> bool {
        let mut done: Vec<bool> = Vec::new();
        let mut todo: Vec<(&ExprRef, bool)> = vec![(root, false)];
        while let Some((expr, ready)) = todo.pop() {
            let operands = expr.operands().len();
            if operands == 0 {
                done.push(test(expr));
            } else if ready {
                let below = done.split_off(done.len() - operands).contains(&true);
                let holds = below || test(expr);
                if expr.node().owners() > 1 {
                    self.known.insert(expr.node().id(), holds);
                }
                done.push(holds);
            } else if let Some(&holds) = self.known.get(&expr.node().id()) {
                done.push(holds);
            } else {
                todo.push((expr, true));
                todo.extend(expr.operands().map(|operand| (operand, false)));
            }
        }
        done.pop().unwrap_or(false)
    }

    /// Whether evaluating an expression calls something.
    fn calls(&mut self, expr: &ExprRef) -> bool {
        self.holds(expr, |expr| matches!(&**expr, Expr::Call { .. }))
    }
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
fn bindings(function: &Function) -> Map<u32> {
    let mut counts: Map<u32> = Map::default();
    for param in &function.params {
        *counts.entry(param.id()).or_default() += 1;
    }
    each_stmt(&function.body, |stmt| match &**stmt {
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
