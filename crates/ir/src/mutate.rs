//! Visitors and mutators with a method per node type.
//!
//! | to | use |
//! | --- | --- |
//! | visit every node of any type | [`sapwood_structural::NodeWalk`] |
//! | visit expressions, statements or types, by family or node type | [`Visit`] |
//! | replace nodes of any type | [`sapwood_structural::map`] |
//! | replace expressions, statements or types, by family or node type | [`Mutate`] |
//! | substitute variables | [`substitute`] |
//!
//! Each distinct node is visited once, at its first occurrence. A node that does not change keeps its identity. A replaced
//! variable is replaced everywhere, also in types.

use std::ops::ControlFlow;

use sapwood_structural::{AnyRef, Field, MapError, Node, NodeWalk, Ref, Value, Visitor};

use crate::nodes::{
    Callee, CalleeRef, Expr, ExprRef, Function, FunctionRef, Program, ProgramRef, Stmt, StmtRef,
    Type, TypeRef, Var,
};

/// The single list of node types: each family with its methods, and its nodes with theirs.
///
/// A node type that is missing here is a compile error.
macro_rules! node_types {
    ($with:ident) => {
        $with! {
            Expr ExprRef visit_expr mutate_expr "an expression" {
                Var visit_var mutate_var;
                IterArg visit_iter_arg mutate_iter_arg;
                ConstInt visit_const_int mutate_const_int;
                ConstFloat visit_const_float mutate_const_float;
                ConstBool visit_const_bool mutate_const_bool;
                Add visit_add mutate_add;
                Sub visit_sub mutate_sub;
                Mul visit_mul mutate_mul;
                FloorDiv visit_floor_div mutate_floor_div;
                FloorMod visit_floor_mod mutate_floor_mod;
                FloatDiv visit_float_div mutate_float_div;
                Min visit_min mutate_min;
                Max visit_max mutate_max;
                Pow visit_pow mutate_pow;
                Eq visit_eq mutate_eq;
                Ne visit_ne mutate_ne;
                Lt visit_lt mutate_lt;
                Le visit_le mutate_le;
                Gt visit_gt mutate_gt;
                Ge visit_ge mutate_ge;
                And visit_and mutate_and;
                Or visit_or mutate_or;
                Xor visit_xor mutate_xor;
                BitAnd visit_bit_and mutate_bit_and;
                BitOr visit_bit_or mutate_bit_or;
                BitXor visit_bit_xor mutate_bit_xor;
                BitShiftLeft visit_bit_shift_left mutate_bit_shift_left;
                BitShiftRight visit_bit_shift_right mutate_bit_shift_right;
                Abs visit_abs mutate_abs;
                Neg visit_neg mutate_neg;
                Not visit_not mutate_not;
                BitNot visit_bit_not mutate_bit_not;
                Cast visit_cast mutate_cast;
                Call visit_call mutate_call;
                TupleGetItemExpr visit_tuple_get_item_expr mutate_tuple_get_item_expr;
                MakeTuple visit_make_tuple mutate_make_tuple;
            }
            Callee CalleeRef visit_callee mutate_callee "what a call calls" {
                Op visit_op mutate_op;
                GlobalVar visit_global_var mutate_global_var;
            }
            Stmt StmtRef visit_stmt mutate_stmt "a statement" {
                Assign visit_assign_stmt mutate_assign_stmt;
                If visit_if_stmt mutate_if_stmt;
                For visit_for_stmt mutate_for_stmt;
                While visit_while_stmt mutate_while_stmt;
                Yield visit_yield_stmt mutate_yield_stmt;
                Return visit_return_stmt mutate_return_stmt;
                Eval visit_eval_stmt mutate_eval_stmt;
                Seq visit_seq_stmts mutate_seq_stmts;
                Ops visit_op_stmts mutate_op_stmts;
            }
            Type TypeRef visit_type mutate_type "a type" {
                Scalar visit_scalar_type mutate_scalar_type;
                Tensor visit_tensor_type mutate_tensor_type;
                Tuple visit_tuple_type mutate_tuple_type;
                Function visit_function_type mutate_function_type;
                Unknown visit_unknown_type mutate_unknown_type;
            }
        }
    };
}

macro_rules! visitor {
    ($($family:ident $ref:ident $of_family:ident $change:ident $what:literal {
        $($node:ident $of_node:ident $change_node:ident;)*
    })*) => {
        /// A visitor of the nodes of a graph, children before parents.
        ///
        /// There is a method per node type. Its default calls the method of the family, whose default does nothing.
        ///
        /// ```
        /// use sapwood_ir::{Expr, Visit, visit};
        /// use sapwood_types::{DataType, Span};
        ///
        /// #[derive(Default)]
        /// struct Count { sums: usize, others: usize }
        ///
        /// impl Visit for Count {
        ///     fn visit_add(&mut self, _: &Expr) {
        ///         self.sums += 1;
        ///     }
        ///     fn visit_expr(&mut self, _: &Expr) {
        ///         self.others += 1;
        ///     }
        /// }
        ///
        /// let span = Span::unknown();
        /// let sum = Expr::add(&Expr::dim(1), &Expr::dim(2), DataType::I64, span);
        /// let mut count = Count::default();
        /// visit(&sum, &mut count);
        /// assert_eq!((count.sums, count.others), (1, 2));
        /// ```
        pub trait Visit {
            $(
                #[doc = concat!("Any node that is ", $what, " and has no method of its own.")]
                fn $of_family(&mut self, _node: &$family) {}
                $(
                    #[doc = concat!("[`", stringify!($family), "::", stringify!($node), "`].")]
                    fn $of_node(&mut self, node: &$family) {
                        self.$of_family(node);
                    }
                )*
            )*
            /// Visits a function.
            fn visit_function(&mut self, _function: &Function) {}
            /// Visits a program.
            fn visit_program(&mut self, _program: &Program) {}
        }

        fn visit_node<V: Visit>(visitor: &mut V, node: sapwood_structural::NodeRef<'_>) {
            $(
                if let Some(node) = node.downcast::<$family>() {
                    return match node {
                        $($family::$node { .. } => visitor.$of_node(node),)*
                    };
                }
            )*
            if let Some(function) = node.downcast::<Function>() {
                visitor.visit_function(function);
            } else if let Some(program) = node.downcast::<Program>() {
                visitor.visit_program(program);
            }
        }
    };
}
node_types!(visitor);

/// Visits every node reachable from `root`, each distinct node once.
pub fn visit(root: &impl Field, visitor: &mut impl Visit) {
    /// An adapter from [`Visit`] to the visitor of the structural engine.
    struct VisitAdapter<'v, V>(&'v mut V);
    impl<'a, V: Visit> Visitor<'a> for VisitAdapter<'_, V> {
        type Break = ();

        fn leave(&mut self, at: &sapwood_structural::WalkedNode<'_, 'a>) -> ControlFlow<()> {
            visit_node(self.0, at.node());
            ControlFlow::Continue(())
        }
    }
    let _ = NodeWalk::of(root).run(&mut VisitAdapter(visitor));
}

macro_rules! mutator {
    ($($family:ident $ref:ident $visit:ident $of_family:ident $what:literal {
        $($node:ident $visit_node:ident $of_node:ident;)*
    })*) => {
        /// A mutator of the nodes of a graph, children before parents.
        ///
        /// A method gets a node whose children are already replaced. It returns the replacement, or none to keep the node.
        ///
        /// There is a method per node type. Its default calls the method of the family, whose default keeps the node.
        ///
        /// ```
        /// use sapwood_ir::{Expr, ExprRef, Mutate, mutate};
        /// use sapwood_types::{DataType, Span};
        ///
        /// /// Replaces x + y by x - y.
        /// struct Subtract;
        ///
        /// impl Mutate for Subtract {
        ///     fn mutate_add(&mut self, sum: &ExprRef) -> Option<ExprRef> {
        ///         let (_, left, right) = sum.as_binary()?;
        ///         Some(Expr::sub(left, right, sum.ty(), sum.span()))
        ///     }
        /// }
        ///
        /// let sum = Expr::add(&Expr::dim(1), &Expr::dim(2), DataType::I64, Span::unknown());
        /// let changed = mutate(&sum, &mut Subtract)?;
        /// assert_eq!(sapwood_ir::print_expr(&changed), "1 - 2");
        /// # Ok::<(), Box<dyn std::error::Error>>(())
        /// ```
        pub trait Mutate {
            $(
                #[doc = concat!("Any node that is ", $what, " and has no method of its own.")]
                fn $of_family(&mut self, _node: &$ref) -> Option<$ref> {
                    None
                }
                $(
                    #[doc = concat!("[`", stringify!($family), "::", stringify!($node), "`].")]
                    fn $of_node(&mut self, node: &$ref) -> Option<$ref> {
                        self.$of_family(node)
                    }
                )*
            )*
            /// Replaces a function, or keeps it.
            fn mutate_function(&mut self, _function: &FunctionRef) -> Option<FunctionRef> {
                None
            }
        }

        fn mutate_node<M: Mutate>(mutator: &mut M, node: &AnyRef) -> Option<Value> {
            $(
                if let Some(node) = downcast_node::<$family>(node) {
                    let new = match &*node {
                        $($family::$node { .. } => mutator.$of_node(&node),)*
                    };
                    return new.map(Value::from);
                }
            )*
            let function = downcast_node::<Function>(node)?;
            mutator.mutate_function(&function).map(Value::from)
        }
    };
}
node_types!(mutator);

fn downcast_node<T: Node>(node: &AnyRef) -> Option<Ref<T>> {
    node.downcast_ref::<T>()?;
    node.clone().downcast().ok()
}

/// Returns the graph with its nodes replaced by the mutator.
///
/// # Errors
/// Fails if a node cannot hold the replacement of a child: a variable that is bound somewhere cannot become a number.
pub fn mutate<T: Field>(
    root: &T,
    mutator: &mut impl Mutate,
) -> Result<T, MapError<std::convert::Infallible>> {
    sapwood_structural::map(root, |node| mutate_node(mutator, node))
}

/// The reason why variables could not be replaced.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SubstituteError {
    /// A node cannot hold the replacement of a variable.
    #[error(transparent)]
    Replace(#[from] sapwood_structural::SubstituteError),
    /// The field type of the root cannot hold the result.
    #[error(transparent)]
    Field(sapwood_structural::BuildError),
}

/// Replaces free variables by expressions, simultaneously and without capture.
///
/// A loop whose initial values change gets new iteration arguments, and their uses are updated.
///
/// # Errors
/// Fails if a node cannot hold the replacement of a variable.
pub fn substitute<T: Field>(
    root: &T,
    replacements: &[(Var, ExprRef)],
) -> Result<T, SubstituteError> {
    let pairs =
        replacements.iter().map(|(var, by)| (var.expr().as_any().clone(), by.clone().into()));
    let changed = sapwood_structural::substitute(root, pairs)?;
    // The substitution replaced the initial values of loops, but not those of their iteration arguments.
    match classify_root(&changed) {
        LoopContainer::Stmt(stmt) => into_field(&crate::passes::refresh_iter_args(&stmt)),
        LoopContainer::Function(function) => into_field(&refresh_function(&function)),
        LoopContainer::Program(program) => {
            let fresh: Vec<FunctionRef> = program.functions().map(refresh_function).collect();
            if program.functions().zip(&fresh).all(|(old, new)| old.same(new)) {
                return Ok(changed);
            }
            // The function names did not change, so this cannot fail.
            program.with_functions(fresh).map_or(Ok(changed), |program| into_field(&program))
        }
        LoopContainer::Other => Ok(changed),
    }
}

/// A root node, classified by whether it can contain loops.
enum LoopContainer {
    Stmt(StmtRef),
    Function(FunctionRef),
    Program(ProgramRef),
    Other,
}

fn classify_root(root: &impl Field) -> LoopContainer {
    let Value::Node(node) = Value::of(root.view()) else { return LoopContainer::Other };
    if let Some(stmt) = downcast_node(&node) {
        LoopContainer::Stmt(stmt)
    } else if let Some(function) = downcast_node(&node) {
        LoopContainer::Function(function)
    } else {
        downcast_node(&node).map_or(LoopContainer::Other, LoopContainer::Program)
    }
}

fn refresh_function(function: &FunctionRef) -> FunctionRef {
    let body = crate::passes::refresh_iter_args(&function.body);
    crate::passes::with_body(function, &body)
}

fn into_field<T: Field, N: Node>(node: &Ref<N>) -> Result<T, SubstituteError> {
    T::from_value(Value::from(node.clone())).map_err(SubstituteError::Field)
}
