//! Statements.

use sapwood_structural::{Node, Ref};
use sapwood_types::Span;

use super::expr::ExprRef;
use super::thin::Thin;
use super::vars::{IterArg, Var};

/// A shared pointer to a statement.
pub type StmtRef = Ref<Stmt>;

/// A statement.
#[derive(Node)]
pub enum Stmt {
    /// `var = value`
    #[node(key = "ir.AssignStmt")]
    Assign {
        /// Where it was written.
        #[node(ignore)]
        span: Span,
        /// What is assigned to.
        #[node(def)]
        var: Var,
        /// What is assigned.
        value: ExprRef,
    },
    /// One of two bodies.
    #[node(key = "ir.IfStmt")]
    If {
        /// Where it was written.
        #[node(ignore)]
        span: Span,
        /// Which.
        condition: ExprRef,
        /// Run where the condition holds.
        then_body: StmtRef,
        /// Run where it does not; none differs from an empty one.
        else_body: Option<StmtRef>,
        /// What the bodies yield, or variables that both assign.
        #[node(def)]
        return_vars: Thin<Var>,
    },
    /// A loop over a range.
    #[node(key = "ir.ForStmt")]
    For {
        /// Where it was written.
        #[node(ignore)]
        span: Span,
        /// The initial values of the iteration arguments, which do not compare them themselves.
        init_values: Thin<ExprRef>,
        /// Counts.
        #[node(def)]
        loop_var: Var,
        /// From here,
        start: ExprRef,
        /// up to but not including this,
        stop: ExprRef,
        /// in these steps.
        step: ExprRef,
        /// Variables that a `yield` changes.
        #[node(def)]
        iter_args: Thin<IterArg>,
        /// Run for each number.
        body: StmtRef,
        /// What the iteration arguments are in the end, or variables that the body assigns.
        #[node(def)]
        return_vars: Thin<Var>,
    },
    /// A loop with a condition.
    #[node(key = "ir.WhileStmt")]
    While {
        /// Where it was written.
        #[node(ignore)]
        span: Span,
        /// The initial values of the iteration arguments, which do not compare them themselves.
        init_values: Thin<ExprRef>,
        /// Variables that a `yield` changes.
        #[node(def)]
        iter_args: Thin<IterArg>,
        /// Whether to go on; sees the iteration arguments.
        condition: ExprRef,
        /// Run as long as it holds.
        body: StmtRef,
        /// What the iteration arguments are in the end, or variables that the body assigns.
        #[node(def)]
        return_vars: Thin<Var>,
    },
    /// Ends a body and gives values to what is around it.
    #[node(key = "ir.YieldStmt")]
    Yield {
        /// Where it was written.
        #[node(ignore)]
        span: Span,
        /// The values.
        values: Box<[ExprRef]>,
    },
    /// Ends a function.
    #[node(key = "ir.ReturnStmt")]
    Return {
        /// Where it was written.
        #[node(ignore)]
        span: Span,
        /// What it returns.
        values: Box<[ExprRef]>,
    },
    /// An expression on its own, for what it does.
    #[node(key = "ir.EvalStmt")]
    Eval {
        /// Where it was written.
        #[node(ignore)]
        span: Span,
        /// The expression.
        expr: ExprRef,
    },
    /// Statements one after the other.
    #[node(key = "ir.SeqStmts")]
    Seq {
        /// Where it was written.
        #[node(ignore)]
        span: Span,
        /// The statements.
        stmts: Box<[StmtRef]>,
    },
    /// Assignments one after the other.
    #[node(key = "ir.OpStmts")]
    Ops {
        /// Where it was written.
        #[node(ignore)]
        span: Span,
        /// The assignments.
        stmts: Box<[StmtRef]>,
    },
}

fn init_values(iter_args: &[IterArg]) -> Thin<ExprRef> {
    iter_args.iter().map(|arg| arg.init_value().clone()).collect()
}

impl Stmt {
    /// `var = value`
    #[must_use]
    pub fn assign(var: &Var, value: &ExprRef, span: Span) -> StmtRef {
        Ref::new(Self::Assign { span, var: var.clone(), value: value.clone() })
    }

    /// One of two bodies.
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

    /// A loop over `[start, stop, step]`.
    #[must_use]
    pub fn for_(
        loop_var: &Var,
        range: [&ExprRef; 3],
        iter_args: impl IntoIterator<Item = IterArg>,
        body: &StmtRef,
        return_vars: impl IntoIterator<Item = Var>,
        span: Span,
    ) -> StmtRef {
        let iter_args: Thin<IterArg> = iter_args.into_iter().collect();
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

    /// A loop with a condition.
    #[must_use]
    pub fn while_(
        iter_args: impl IntoIterator<Item = IterArg>,
        condition: &ExprRef,
        body: &StmtRef,
        return_vars: impl IntoIterator<Item = Var>,
        span: Span,
    ) -> StmtRef {
        let iter_args: Thin<IterArg> = iter_args.into_iter().collect();
        Ref::new(Self::While {
            span,
            init_values: init_values(&iter_args),
            iter_args,
            condition: condition.clone(),
            body: body.clone(),
            return_vars: return_vars.into_iter().collect(),
        })
    }

    /// Ends a body and gives values to what is around it.
    #[must_use]
    pub fn yield_(values: impl IntoIterator<Item = ExprRef>, span: Span) -> StmtRef {
        Ref::new(Self::Yield { span, values: values.into_iter().collect() })
    }

    /// Ends a function.
    #[must_use]
    pub fn return_(values: impl IntoIterator<Item = ExprRef>, span: Span) -> StmtRef {
        Ref::new(Self::Return { span, values: values.into_iter().collect() })
    }

    /// An expression on its own.
    #[must_use]
    pub fn eval(expr: &ExprRef, span: Span) -> StmtRef {
        Ref::new(Self::Eval { span, expr: expr.clone() })
    }

    /// Statements one after the other.
    #[must_use]
    pub fn seq(stmts: impl IntoIterator<Item = StmtRef>, span: Span) -> StmtRef {
        Ref::new(Self::Seq { span, stmts: stmts.into_iter().collect() })
    }

    /// Assignments one after the other.
    #[must_use]
    pub fn ops(stmts: impl IntoIterator<Item = StmtRef>, span: Span) -> StmtRef {
        Ref::new(Self::Ops { span, stmts: stmts.into_iter().collect() })
    }

    /// A body from a list: a list of one is that statement, any other a sequence.
    #[must_use]
    pub fn block(stmts: impl IntoIterator<Item = StmtRef>, span: Span) -> StmtRef {
        let mut stmts: Vec<StmtRef> = stmts.into_iter().collect();
        match stmts.len() {
            1 => stmts.remove(0),
            _ => Self::seq(stmts, span),
        }
    }

    /// The name of the node: `AssignStmt`.
    #[must_use]
    pub fn type_name(&self) -> &'static str {
        super::expr::short_key(self.type_info())
    }

    /// Where it was written.
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

    /// The statements inside, in order.
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

    /// The expressions it holds itself, in the order of the text; not those inside other statements.
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

    /// The iteration arguments of a loop.
    #[must_use]
    pub fn iter_args(&self) -> &[IterArg] {
        match self {
            Self::For { iter_args, .. } | Self::While { iter_args, .. } => iter_args,
            _ => &[],
        }
    }

    /// Whether the initial values of a loop and those of its iteration arguments agree, told by `same`.
    /// True of other statements.
    pub(crate) fn init_values_agree(&self, same: impl Fn(&ExprRef, &ExprRef) -> bool) -> bool {
        match self {
            Self::For { iter_args, init_values, .. }
            | Self::While { iter_args, init_values, .. } => {
                iter_args.len() == init_values.len()
                    && iter_args
                        .iter()
                        .zip(init_values)
                        .all(|(arg, init)| same(arg.init_value(), init))
            }
            _ => true,
        }
    }

    /// What an `if` or a loop leaves behind.
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
