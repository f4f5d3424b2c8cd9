//! Visitors and mutators: generic ones over every node, and ones with a method per family.
//!
//! | to | use |
//! | --- | --- |
//! | look at every node of any type | [`sapwood_structural::Walk`] |
//! | look at expressions, statements, types by their enum | [`Visit`] |
//! | change nodes of any type | [`sapwood_structural::map`] |
//! | change expressions, statements, types by their enum | [`Mutate`] |
//! | replace variables | [`substitute`] |
//!
//! Each distinct node is visited once, where it is met first; what does not change keeps its
//! identity. A variable that is replaced is replaced everywhere, in types too.

use std::ops::ControlFlow;

use sapwood_structural::{AnyRef, Field, MapError, Next, Node, Ref, Value, Visitor, Walk};

use crate::nodes::{
    Callee, Expr, ExprRef, Function, IterArg, Program, Stmt, StmtRef, Type, TypeRef, Var,
};

/// Looks at the nodes of a graph, those below a node before it. All methods do nothing unless
/// they are written.
///
/// ```
/// use sapwood_ir::{Expr, Visit, visit};
/// use sapwood_types::{DataType, Span};
///
/// #[derive(Default)]
/// struct Constants(Vec<i128>);
///
/// impl Visit for Constants {
///     fn expr(&mut self, expr: &Expr) {
///         self.0.extend(expr.as_int());
///     }
/// }
///
/// let span = Span::unknown();
/// let sum = Expr::add(&Expr::dim(1), &Expr::dim(2), DataType::I64, span);
/// let mut constants = Constants::default();
/// visit(&sum, &mut constants);
/// assert_eq!(constants.0, [1, 2]);
/// ```
pub trait Visit {
    /// An expression.
    fn expr(&mut self, _expr: &Expr) {}
    /// What a call calls.
    fn callee(&mut self, _callee: &Callee) {}
    /// A statement.
    fn stmt(&mut self, _stmt: &Stmt) {}
    /// A type.
    fn ty(&mut self, _ty: &Type) {}
    /// A function.
    fn function(&mut self, _function: &Function) {}
    /// A program.
    fn program(&mut self, _program: &Program) {}
}

/// Walks over everything below `root`, each distinct node once.
pub fn visit(root: &impl Field, visitor: &mut impl Visit) {
    struct Families<'v, V>(&'v mut V);
    impl<'a, V: Visit> Visitor<'a> for Families<'_, V> {
        type Break = ();

        fn leave(&mut self, at: &sapwood_structural::At<'_, 'a>) -> ControlFlow<()> {
            let node = at.node();
            if let Some(expr) = node.downcast::<Expr>() {
                self.0.expr(expr);
            } else if let Some(ty) = node.downcast::<Type>() {
                self.0.ty(ty);
            } else if let Some(stmt) = node.downcast::<Stmt>() {
                self.0.stmt(stmt);
            } else if let Some(callee) = node.downcast::<Callee>() {
                self.0.callee(callee);
            } else if let Some(function) = node.downcast::<Function>() {
                self.0.function(function);
            } else if let Some(program) = node.downcast::<Program>() {
                self.0.program(program);
            }
            ControlFlow::Continue(())
        }
    }
    let _ = Walk::of(root).run(&mut Families(visitor));
}

/// Changes the nodes of a graph, those below a node before it. A method returns what to put in a
/// node's place, or nothing to keep it.
pub trait Mutate {
    /// An expression whose operands are changed already.
    fn expr(&mut self, _expr: &ExprRef) -> Option<ExprRef> {
        None
    }
    /// A statement whose parts are changed already.
    fn stmt(&mut self, _stmt: &StmtRef) -> Option<StmtRef> {
        None
    }
    /// A type whose parts are changed already.
    fn ty(&mut self, _ty: &TypeRef) -> Option<TypeRef> {
        None
    }
}

/// The same graph, changed.
///
/// # Errors
/// If a node cannot hold what a part of it became: a variable that is bound somewhere cannot become
/// a number.
pub fn mutate<T: Field>(
    root: &T,
    mutator: &mut impl Mutate,
) -> Result<T, MapError<std::convert::Infallible>> {
    fn typed<T: Node>(node: &AnyRef) -> Option<Ref<T>> {
        node.downcast_ref::<T>()?;
        node.clone().downcast().ok()
    }
    sapwood_structural::map(root, |node| {
        if let Some(expr) = typed::<Expr>(node) {
            mutator.expr(&expr).map(Value::from)
        } else if let Some(stmt) = typed::<Stmt>(node) {
            mutator.stmt(&stmt).map(Value::from)
        } else if let Some(ty) = typed::<Type>(node) {
            mutator.ty(&ty).map(Value::from)
        } else {
            None
        }
    })
}

/// Why variables could not be replaced.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SubstituteError {
    /// A node cannot hold what takes a variable's place.
    #[error(transparent)]
    Replace(#[from] sapwood_structural::SubstituteError),
    /// A loop cannot hold its new iteration arguments.
    #[error(transparent)]
    Arguments(#[from] MapError<std::convert::Infallible>),
}

/// Replaces free variables by expressions, all at once, without capture. A loop whose initial values
/// change gets iteration arguments of its own, and so do their uses.
///
/// # Errors
/// If a node cannot hold what takes a variable's place.
pub fn substitute<T: Field>(
    root: &T,
    replacements: &[(Var, ExprRef)],
) -> Result<T, SubstituteError> {
    let pairs =
        replacements.iter().map(|(var, by)| (var.expr().as_any().clone(), by.clone().into()));
    let mut changed = sapwood_structural::substitute(root, pairs)?;
    // Initial values are compared by the loop, and only those were replaced. Loops may hold
    // loops that depend on them, so this goes on until all agree.
    loop {
        let stale = stale_arguments(&changed);
        if stale.is_empty() {
            return Ok(changed);
        }
        changed = sapwood_structural::map(&changed, |node| {
            stale.get(&node.node().id()).map(|fresh| Value::from(fresh.expr().clone()))
        })?;
    }
}

type Arguments = hashbrown::HashMap<usize, IterArg, rustc_hash::FxBuildHasher>;

/// Iteration arguments whose initial value is not the one of their loop, and what to use instead.
fn stale_arguments(root: &impl Field) -> Arguments {
    let mut stale = Arguments::default();
    let _ = Walk::of(root).pre_order(|at| {
        if let Some(
            Stmt::For { iter_args, init_values, .. } | Stmt::While { iter_args, init_values, .. },
        ) = at.node().downcast::<Stmt>()
        {
            for (arg, init) in iter_args.iter().zip(init_values) {
                if !arg.init_value().same(init) {
                    let fresh = IterArg::new(arg.name(), arg.ty(), init, arg.span());
                    stale.insert(arg.id(), fresh);
                }
            }
        }
        ControlFlow::<(), _>::Continue(Next::Into)
    });
    stale
}
