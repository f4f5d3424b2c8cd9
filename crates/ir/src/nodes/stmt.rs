//! Statements.

use sapwood_structural::{Node, Ref};
use sapwood_types::Span;

use super::compact::ThinList;
use super::expr::ExprRef;
use super::vars::{IterArg, Var};

/// A shared pointer to a statement.
pub type StmtRef = Ref<Stmt>;

/// A statement.
#[derive(Node)]
pub enum Stmt {
    /// An assignment `var = value`.
    #[node(key = "ir.AssignStmt")]
    Assign {
        /// The source span.
        #[node(ignore)]
        span: Span,
        /// The assigned variable.
        #[node(def)]
        var: Var,
        /// The assigned value.
        value: ExprRef,
    },
    /// A conditional statement.
    #[node(key = "ir.IfStmt")]
    If {
        /// The source span.
        #[node(ignore)]
        span: Span,
        /// The condition.
        condition: ExprRef,
        /// The body that runs if the condition is true.
        then_body: StmtRef,
        /// The body that runs if the condition is false; none differs from an empty body.
        else_body: Option<StmtRef>,
        /// The variables that receive the yielded values, or variables that both bodies assign.
        #[node(def)]
        return_vars: ThinList<Var>,
    },
    /// A loop over a range.
    #[node(key = "ir.ForStmt")]
    For {
        /// The source span.
        #[node(ignore)]
        span: Span,
        /// The initial values of the iteration arguments; compared here, not in the arguments.
        init_values: ThinList<ExprRef>,
        /// The loop variable.
        #[node(def)]
        loop_var: Var,
        /// The first value of the loop variable.
        start: ExprRef,
        /// The exclusive end of the range.
        stop: ExprRef,
        /// The step of the range.
        step: ExprRef,
        /// The variables that receive the yielded values of the previous trip.
        #[node(def)]
        iter_args: ThinList<IterArg>,
        /// The body, which runs for each value of the loop variable.
        body: StmtRef,
        /// The variables that receive the final iteration arguments, or variables that the body assigns.
        #[node(def)]
        return_vars: ThinList<Var>,
    },
    /// A loop with a condition.
    #[node(key = "ir.WhileStmt")]
    While {
        /// The source span.
        #[node(ignore)]
        span: Span,
        /// The initial values of the iteration arguments; compared here, not in the arguments.
        init_values: ThinList<ExprRef>,
        /// The variables that receive the yielded values of the previous trip.
        #[node(def)]
        iter_args: ThinList<IterArg>,
        /// The condition, evaluated before each trip; it may read the iteration arguments.
        condition: ExprRef,
        /// The body, which runs while the condition is true.
        body: StmtRef,
        /// The variables that receive the final iteration arguments, or variables that the body assigns.
        #[node(def)]
        return_vars: ThinList<Var>,
    },
    /// The end of a body, with the values for the enclosing statement.
    #[node(key = "ir.YieldStmt")]
    Yield {
        /// The source span.
        #[node(ignore)]
        span: Span,
        /// The yielded values.
        values: Box<[ExprRef]>,
    },
    /// The end of a function, with its results.
    #[node(key = "ir.ReturnStmt")]
    Return {
        /// The source span.
        #[node(ignore)]
        span: Span,
        /// The returned values.
        values: Box<[ExprRef]>,
    },
    /// An expression statement, evaluated for its effects.
    #[node(key = "ir.EvalStmt")]
    Eval {
        /// The source span.
        #[node(ignore)]
        span: Span,
        /// The expression.
        expr: ExprRef,
    },
    /// A sequence of statements.
    #[node(key = "ir.SeqStmts")]
    Seq {
        /// The source span.
        #[node(ignore)]
        span: Span,
        /// The statements.
        stmts: Box<[StmtRef]>,
    },
    /// A sequence of assignments.
    #[node(key = "ir.OpStmts")]
    Ops {
        /// The source span.
        #[node(ignore)]
        span: Span,
        /// The assignments.
        stmts: Box<[StmtRef]>,
    },
}

fn init_values(iter_args: &[IterArg]) -> ThinList<ExprRef> {
    iter_args.iter().map(|arg| arg.init_value().clone()).collect()
}

impl Stmt {
    /// Creates an assignment `var = value`.
    #[must_use]
    pub fn assign(var: &Var, value: &ExprRef, span: Span) -> StmtRef {
        Ref::new(Self::Assign { span, var: var.clone(), value: value.clone() })
    }

    /// Creates an `if`.
    #[must_use]
    pub fn if_(
        condition: &ExprRef,
        then_body: &StmtRef,
        else_body: Option<&StmtRef>,
        return_vars: impl IntoIterator<Item = Var>,
        span: Span,
    ) -> StmtRef {
        Ref::new(Self::If {
            span,
            condition: condition.clone(),
            then_body: then_body.clone(),
            else_body: else_body.cloned(),
            return_vars: return_vars.into_iter().collect(),
        })
    }

    /// Creates a `for` over `[start, stop, step]`.
    #[must_use]
    pub fn for_(
        loop_var: &Var,
        range: [&ExprRef; 3],
        iter_args: impl IntoIterator<Item = IterArg>,
        body: &StmtRef,
        return_vars: impl IntoIterator<Item = Var>,
        span: Span,
    ) -> StmtRef {
        let iter_args: ThinList<IterArg> = iter_args.into_iter().collect();
        let [start, stop, step] = range.map(ExprRef::clone);
        Ref::new(Self::For {
            span,
            init_values: init_values(&iter_args),
            loop_var: loop_var.clone(),
            start,
            stop,
            step,
            iter_args,
            body: body.clone(),
            return_vars: return_vars.into_iter().collect(),
        })
    }

    /// Creates a `while`.
    #[must_use]
    pub fn while_(
        iter_args: impl IntoIterator<Item = IterArg>,
        condition: &ExprRef,
        body: &StmtRef,
        return_vars: impl IntoIterator<Item = Var>,
        span: Span,
    ) -> StmtRef {
        let iter_args: ThinList<IterArg> = iter_args.into_iter().collect();
        Ref::new(Self::While {
            span,
            init_values: init_values(&iter_args),
            iter_args,
            condition: condition.clone(),
            body: body.clone(),
            return_vars: return_vars.into_iter().collect(),
        })
    }

    /// Creates a `yield`.
    #[must_use]
    pub fn yield_(values: impl IntoIterator<Item = ExprRef>, span: Span) -> StmtRef {
        Ref::new(Self::Yield { span, values: values.into_iter().collect() })
    }

    /// Creates a `return`.
    #[must_use]
    pub fn return_(values: impl IntoIterator<Item = ExprRef>, span: Span) -> StmtRef {
        Ref::new(Self::Return { span, values: values.into_iter().collect() })
    }

    /// Creates an expression statement.
    #[must_use]
    pub fn eval(expr: &ExprRef, span: Span) -> StmtRef {
        Ref::new(Self::Eval { span, expr: expr.clone() })
    }

    /// Creates a sequence of statements.
    #[must_use]
    pub fn seq(stmts: impl IntoIterator<Item = StmtRef>, span: Span) -> StmtRef {
        Ref::new(Self::Seq { span, stmts: stmts.into_iter().collect() })
    }

    /// Creates a sequence of assignments.
    #[must_use]
    pub fn ops(stmts: impl IntoIterator<Item = StmtRef>, span: Span) -> StmtRef {
        Ref::new(Self::Ops { span, stmts: stmts.into_iter().collect() })
    }

    /// Creates a body from a list: a single statement is returned as it is, any other number becomes a sequence.
    #[must_use]
    pub fn block(stmts: impl IntoIterator<Item = StmtRef>, span: Span) -> StmtRef {
        let mut stmts: Vec<StmtRef> = stmts.into_iter().collect();
        match stmts.len() {
            1 => stmts.remove(0),
            _ => Self::seq(stmts, span),
        }
    }

    /// Returns the name of the node type: `AssignStmt`.
    #[must_use]
    pub fn type_name(&self) -> &'static str {
        super::expr::key_without_prefix(self.type_info())
    }

    /// Returns the source span.
    #[must_use]
    pub fn span(&self) -> Span {
        match self {
            Self::Assign { span, .. }
            | Self::If { span, .. }
            | Self::For { span, .. }
            | Self::While { span, .. }
            | Self::Yield { span, .. }
            | Self::Return { span, .. }
            | Self::Eval { span, .. }
            | Self::Seq { span, .. }
            | Self::Ops { span, .. } => *span,
        }
    }

    /// Returns the nested statements in order.
    #[must_use]
    pub fn children(&self) -> Vec<&StmtRef> {
        match self {
            Self::Seq { stmts, .. } | Self::Ops { stmts, .. } => stmts.iter().collect(),
            Self::If { then_body, else_body, .. } => {
                std::iter::once(then_body).chain(else_body).collect()
            }
            Self::For { body, .. } | Self::While { body, .. } => vec![body],
            Self::Assign { .. } | Self::Yield { .. } | Self::Return { .. } | Self::Eval { .. } => {
                Vec::new()
            }
        }
    }

    /// Returns the expressions that the statement itself holds, in source order, without those of nested statements.
    #[must_use]
    pub fn expressions(&self) -> Vec<&ExprRef> {
        match self {
            Self::Assign { value, .. } => vec![value],
            Self::If { condition, .. } => vec![condition],
            Self::For { init_values, start, stop, step, .. } => {
                [start, stop, step].into_iter().chain(init_values).collect()
            }
            Self::While { init_values, condition, .. } => {
                init_values.iter().chain([condition]).collect()
            }
            Self::Yield { values, .. } | Self::Return { values, .. } => values.iter().collect(),
            Self::Eval { expr, .. } => vec![expr],
            Self::Seq { .. } | Self::Ops { .. } => Vec::new(),
        }
    }

    /// Returns the iteration arguments of a loop.
    #[must_use]
    pub fn iter_args(&self) -> &[IterArg] {
        match self {
            Self::For { iter_args, .. } | Self::While { iter_args, .. } => iter_args,
            _ => &[],
        }
    }

    /// Returns the initial values of the iteration arguments of a loop.
    #[must_use]
    pub fn init_values(&self) -> &[ExprRef] {
        match self {
            Self::For { init_values, .. } | Self::While { init_values, .. } => init_values,
            _ => &[],
        }
    }

    /// Returns whether the initial values of a loop equal those of its iteration arguments, compared by `same`.
    ///
    /// Returns true for other statements.
    pub(crate) fn init_values_agree(&self, same: impl Fn(&ExprRef, &ExprRef) -> bool) -> bool {
        let (args, values) = (self.iter_args(), self.init_values());
        args.len() == values.len()
            && args.iter().zip(values).all(|(arg, value)| same(arg.init_value(), value))
    }

    /// Returns the result variables of an `if` or a loop.
    #[must_use]
    pub fn return_vars(&self) -> &[Var] {
        match self {
            Self::If { return_vars, .. }
            | Self::For { return_vars, .. }
            | Self::While { return_vars, .. } => return_vars,
            _ => &[],
        }
    }
}
