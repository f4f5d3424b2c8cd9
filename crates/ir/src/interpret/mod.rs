//! An interpreter for the front-end IR: small and simple, the reference for passes and lowering.
//!
//! Values are scalars, tuples and tensors (elementwise). Operators are total, see [`scalar`]. Failures are [`RunError`]s.
//! Steps are counted, so an endless loop is an error.

mod extents;
mod op_calls;
pub mod scalar;
mod tuple;

use std::rc::Rc;
use std::sync::Arc;

use rustc_hash::FxBuildHasher;
use sapwood_ptir::Registry;
use sapwood_types::{DataType, Span, counted};

use crate::nodes::{
    BinaryOp, Expr, ExprRef, FunctionRef, Program, Stmt, StmtRef, TypeRef, UnaryOp, Var,
};
pub(crate) use extents::contains_call;
use scalar::Scalar;
pub use tuple::TupleElements;

/// A value of the interpreter.
#[derive(Clone, Debug, PartialEq)]
pub enum RunValue {
    /// A number or a bool.
    Scalar(Scalar),
    /// A tuple.
    Tuple(TupleElements),
    /// A tensor: its shape and its elements in row-major order.
    Tensor(Rc<[i64]>, Rc<[Scalar]>),
}

impl RunValue {
    /// Returns an `INT64` value.
    #[must_use]
    pub fn int(value: i64) -> Self {
        Self::Scalar(Scalar::Int(DataType::I64, value.into()))
    }

    /// Converts a value of PTIR; returns none for complex numbers and tokens.
    #[must_use]
    pub fn from_value(value: &sapwood_ptir::eval::Value) -> Option<Self> {
        crate::ops::from_ptir(value)
    }

    /// Describes the type of the value for messages, without the value itself, which may be large.
    pub(crate) fn describe(&self) -> String {
        match self {
            Self::Scalar(value) => value.dtype().document_name().to_owned(),
            Self::Tuple(elements) => format!("a tuple of {}", elements.len()),
            Self::Tensor(shape, elements) => match elements.first() {
                Some(first) => format!("a tensor of {} {shape:?}", first.dtype().document_name()),
                None => format!("a tensor {shape:?}"),
            },
        }
    }
}

/// The reason why a run failed.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// The program has no function of this name.
    #[error("{span}: the program has no function called `{name}`")]
    NoFunction {
        /// The name of the function.
        name: String,
        /// The span of the call.
        span: Span,
    },
    /// No op has this name.
    #[error("{span}: unknown op `{name}`{}", crate::ops::correction_suffix(name))]
    NoOperation {
        /// The name of the op.
        name: String,
        /// The span of the call.
        span: Span,
    },
    /// A function ends without returning its results.
    #[error("{span}: `{name}` ends without a return of its {}", counted(*.wanted, "result"))]
    NoResults {
        /// The name of the function.
        name: String,
        /// The number of results of the function.
        wanted: usize,
        /// The span of the call.
        span: Span,
    },
    /// A variable without a value is used.
    #[error("{span}: `{name}` has no value")]
    NoValue {
        /// The name of the variable.
        name: String,
        /// The span of the use.
        span: Span,
    },
    /// The operands do not match the operator.
    #[error("{span}: {message}")]
    Operands {
        /// The description of the mismatch.
        message: String,
        /// The span of the expression.
        span: Span,
    },
    /// The shape of an argument does not match the type of its parameter.
    #[error("{span}: {message}")]
    Argument {
        /// The name of the parameter.
        parameter: String,
        /// The description of the mismatch.
        message: String,
        /// The span of the call.
        span: Span,
    },
    /// The limit of steps is reached.
    #[error("more than the allowed number of steps")]
    OutOfSteps,
    /// Calls nest deeper than [`MAX_CALL_DEPTH`].
    #[error("calls nest deeper than {MAX_CALL_DEPTH}")]
    TooManyCalls,
}

/// The maximum depth of nested calls.
pub const MAX_CALL_DEPTH: usize = 1000;

/// A function that evaluates an op by name, or returns none if it does not know the op.
type OpHandler<'o> = dyn FnMut(&str, &[RunValue]) -> Option<RunValue> + 'o;
type IdMap<V> = hashbrown::HashMap<usize, V, FxBuildHasher>;

/// An interpreter of one program.
pub struct Interpreter<'p, 'o> {
    program: &'p Program,
    ops: Option<&'o mut OpHandler<'o>>,
    registry: Arc<Registry>,
    steps_left: u64,
    call_depth: usize,
}

/// The way in which a statement ended.
enum StmtOutcome {
    FallsThrough,
    Yields(Vec<RunValue>),
    Returns(Vec<RunValue>),
}

impl<'p, 'o> Interpreter<'p, 'o> {
    /// Creates an interpreter that takes at most this number of steps: statements, loop trips and calls.
    #[must_use]
    pub fn new(program: &'p Program, steps: u64) -> Self {
        Self { program, ops: None, registry: Registry::builtin(), steps_left: steps, call_depth: 0 }
    }

    /// Sets the registry of the ops that the handler does not know; without it, these are the built-in ops.
    #[must_use]
    pub fn with_registry(mut self, registry: &Arc<Registry>) -> Self {
        self.registry = registry.clone();
        self
    }

    /// Sets the handler for calls of an `Op`, which comes before the registered ops.
    #[must_use]
    pub fn with_ops(mut self, ops: &'o mut OpHandler<'o>) -> Self {
        self.ops = Some(ops);
        self
    }

    /// Runs a function and returns its results.
    ///
    /// # Errors
    /// Fails if the shape of an argument does not match its parameter, a variable has no value, or the step limit is reached.
    pub fn run(&mut self, name: &str, args: &[RunValue]) -> Result<Vec<RunValue>, RunError> {
        self.call_function(name, args, Span::unknown())
    }

    /// Checks the arguments of a function, as [`run`](Self::run) does before it starts.
    ///
    /// # Errors
    /// Fails if the function does not exist, or the arguments do not match its parameters.
    pub fn check_arguments(&mut self, name: &str, args: &[RunValue]) -> Result<(), RunError> {
        self.bind_arguments(name, args, Span::unknown()).map(drop)
    }

    /// Finds a function and binds its parameters to arguments.
    fn bind_arguments(
        &mut self,
        name: &str,
        args: &[RunValue],
        span: Span,
    ) -> Result<(&'p FunctionRef, IdMap<RunValue>), RunError> {
        let no_function = || RunError::NoFunction { name: name.to_owned(), span };
        let function = self.program.get_function(name).ok_or_else(no_function)?;
        if function.params.len() != args.len() {
            let message = format!(
                "`{name}` takes {}, found {}",
                counted(function.params.len(), "argument"),
                args.len()
            );
            return Err(RunError::Operands { message, span });
        }
        let mut vars: IdMap<RunValue> = IdMap::default();
        for (param, arg) in function.params.iter().zip(args) {
            vars.insert(param.id(), arg.clone());
        }
        self.check_extents(function, args, &vars, span)?;
        Ok((function, vars))
    }

    fn call_function(
        &mut self,
        name: &str,
        args: &[RunValue],
        span: Span,
    ) -> Result<Vec<RunValue>, RunError> {
        let (function, mut vars) = self.bind_arguments(name, args, span)?;
        if self.call_depth >= MAX_CALL_DEPTH {
            return Err(RunError::TooManyCalls);
        }
        self.call_depth += 1;
        let flow = self.run_stmt(&function.body, &mut vars);
        self.call_depth -= 1;
        match flow? {
            StmtOutcome::Returns(values) | StmtOutcome::Yields(values) => Ok(values),
            StmtOutcome::FallsThrough => {
                let results = implicit_results(function);
                if results.is_empty() && !function.return_types.is_empty() {
                    let wanted = function.return_types.len();
                    return Err(RunError::NoResults { name: name.to_owned(), wanted, span });
                }
                results.iter().map(|var| value_of_var(&vars, var, function.span)).collect()
            }
        }
    }

    fn count_step(&mut self) -> Result<(), RunError> {
        self.steps_left = self.steps_left.checked_sub(1).ok_or(RunError::OutOfSteps)?;
        Ok(())
    }

    fn run_stmt(
        &mut self,
        stmt: &StmtRef,
        vars: &mut IdMap<RunValue>,
    ) -> Result<StmtOutcome, RunError> {
        stacker::maybe_grow(128 << 10, 4 << 20, || self.run_stmt_inner(stmt, vars))
    }

    fn run_stmt_inner(
        &mut self,
        stmt: &StmtRef,
        vars: &mut IdMap<RunValue>,
    ) -> Result<StmtOutcome, RunError> {
        self.count_step()?;
        match &**stmt {
            Stmt::Assign { var, value, .. } => {
                let value = self.eval_expr(value, vars)?;
                vars.insert(var.id(), value);
            }
            Stmt::Eval { expr, .. } => {
                self.eval_expr(expr, vars)?;
            }
            Stmt::Yield { values, .. } => {
                return Ok(StmtOutcome::Yields(self.eval_exprs(values, vars)?));
            }
            Stmt::Return { values, .. } => {
                return Ok(StmtOutcome::Returns(self.eval_exprs(values, vars)?));
            }
            Stmt::Seq { stmts, .. } | Stmt::Ops { stmts, .. } => {
                for stmt in stmts {
                    match self.run_stmt(stmt, vars)? {
                        StmtOutcome::FallsThrough => {}
                        flow => return Ok(flow),
                    }
                }
            }
            Stmt::If { condition, then_body, else_body, return_vars, span } => {
                let holds = self.eval_condition(condition, vars, *span)?;
                let body = if holds { Some(then_body) } else { else_body.as_ref() };
                if let Some(body) = body {
                    match self.run_stmt(body, vars)? {
                        StmtOutcome::FallsThrough => {}
                        StmtOutcome::Yields(values) => {
                            bind_results(vars, return_vars, values, *span)?;
                        }
                        returned @ StmtOutcome::Returns(_) => return Ok(returned),
                    }
                }
            }
            Stmt::For {
                loop_var, start, stop, step, iter_args, body, return_vars, span, ..
            } => {
                let [first, stop, step] =
                    [start, stop, step].map(|expr| self.eval_expr(expr, vars));
                let (mut at, dtype) = expect_integer(&first?, *span)?;
                let ((stop, _), (step, _)) =
                    (expect_integer(&stop?, *span)?, expect_integer(&step?, *span)?);
                let mut args = self.eval_exprs(stmt.init_values(), vars)?;
                while (step > 0 && at < stop) || (step < 0 && at > stop) {
                    self.count_step()?;
                    vars.insert(loop_var.id(), RunValue::Scalar(Scalar::Int(dtype, at)));
                    for (arg, value) in iter_args.iter().zip(&args) {
                        vars.insert(arg.id(), value.clone());
                    }
                    match self.run_stmt(body, vars)? {
                        StmtOutcome::FallsThrough => {}
                        StmtOutcome::Yields(values) => args = values,
                        returned @ StmtOutcome::Returns(_) => return Ok(returned),
                    }
                    at += step;
                }
                if !iter_args.is_empty() {
                    bind_results(vars, return_vars, args, *span)?;
                }
            }
            Stmt::While { init_values, iter_args, condition, body, return_vars, span } => {
                let mut args = self.eval_exprs(init_values, vars)?;
                loop {
                    self.count_step()?;
                    for (arg, value) in iter_args.iter().zip(&args) {
                        vars.insert(arg.id(), value.clone());
                    }
                    if !self.eval_condition(condition, vars, *span)? {
                        break;
                    }
                    match self.run_stmt(body, vars)? {
                        StmtOutcome::FallsThrough => {}
                        StmtOutcome::Yields(values) => args = values,
                        returned @ StmtOutcome::Returns(_) => return Ok(returned),
                    }
                }
                if !iter_args.is_empty() {
                    bind_results(vars, return_vars, args, *span)?;
                }
            }
        }
        Ok(StmtOutcome::FallsThrough)
    }

    fn eval_condition(
        &mut self,
        expr: &ExprRef,
        vars: &IdMap<RunValue>,
        span: Span,
    ) -> Result<bool, RunError> {
        match self.eval_expr(expr, vars)? {
            RunValue::Scalar(scalar) => Ok(scalar.is_true()),
            _ => Err(RunError::Operands {
                message: "the condition is not a scalar".to_owned(),
                span,
            }),
        }
    }

    fn eval_exprs(
        &mut self,
        exprs: &[ExprRef],
        vars: &IdMap<RunValue>,
    ) -> Result<Vec<RunValue>, RunError> {
        exprs.iter().map(|expr| self.eval_expr(expr, vars)).collect()
    }

    /// Evaluates an expression. Shared parts are computed once, but parts with calls once per occurrence.
    fn eval_expr(&mut self, root: &ExprRef, vars: &IdMap<RunValue>) -> Result<RunValue, RunError> {
        let mut memo: IdMap<RunValue> = IdMap::default();
        // Each value with a flag that is true if computing it made a call.
        let mut values: Vec<(RunValue, bool)> = Vec::new();
        // Each expression is popped twice: first to push its operands, then to compute it.
        let mut stack: Vec<(&ExprRef, bool)> = vec![(root, false)];
        while let Some((expr, ready)) = stack.pop() {
            if let Some(value) = eval_leaf(expr, vars)? {
                values.push((value, false));
            } else if ready {
                let mut called = matches!(&**expr, Expr::Call { .. });
                let first = values.len() - expr.operands().len();
                let operands = values.drain(first..).map(|(value, calls)| {
                    called |= calls;
                    value
                });
                let operands: Vec<RunValue> = operands.collect();
                let value = self.apply_operation(expr, operands, vars)?;
                if called {
                    self.count_step()?;
                } else if expr.node().owners() > 1 {
                    memo.insert(expr.node().id(), value.clone());
                }
                values.push((value, called));
            } else if let Some(value) = memo.get(&expr.node().id()) {
                values.push((value.clone(), false));
            } else {
                stack.push((expr, true));
                stack.extend(expr.operands().rev().map(|operand| (operand, false)));
            }
        }
        let nothing = RunError::Operands { message: "nothing".to_owned(), span: root.span() };
        values.pop().map(|(value, _)| value).ok_or(nothing)
    }

    fn apply_operation(
        &mut self,
        expr: &Expr,
        mut operands: Vec<RunValue>,
        vars: &IdMap<RunValue>,
    ) -> Result<RunValue, RunError> {
        let span = expr.span();
        let wrong = |message: String| RunError::Operands { message, span };
        if let Some((op, ..)) = expr.as_binary() {
            let [left, right] = &operands[..] else { return Err(wrong("two operands".to_owned())) };
            return apply_binary(op, left, right, expr.ty()).ok_or_else(|| {
                wrong(format!("{} of {} and {}", op.name(), left.describe(), right.describe()))
            });
        }
        if let Some((op, _)) = expr.as_unary() {
            let operand = &operands[0];
            return map_elements(operand, |value| match op {
                UnaryOp::Cast => match expr.ty().dtype() {
                    Some(dtype) => value.cast(dtype),
                    None => Some(value),
                },
                op => scalar::unary(op, value)
                    .and_then(|value| cast_if_predicate(op == UnaryOp::Not, value, expr.ty())),
            })
            .ok_or_else(|| wrong(format!("{} of {}", op.name(), operand.describe())));
        }
        match expr {
            Expr::MakeTuple { .. } => Ok(RunValue::Tuple(operands.into())),
            Expr::TupleGetItemExpr { index, .. } => match operands.pop() {
                Some(RunValue::Tuple(elements)) => elements
                    .get(*index as usize)
                    .cloned()
                    .ok_or_else(|| wrong(format!("element {index} of {}", elements.len()))),
                _ => Err(wrong("an element of a value that is not a tuple".to_owned())),
            },
            Expr::Call { callee, .. } if callee.is_global() => {
                let results = self.call_function(callee.name(), &operands, span)?;
                Ok(match <[RunValue; 1]>::try_from(results) {
                    Ok([one]) => one,
                    Err(several) => RunValue::Tuple(several.into()),
                })
            }
            Expr::Call { callee, args, r#type, .. } => {
                if let Some(ops) = self.ops.as_mut()
                    && let Some(value) = ops(callee.name(), &operands)
                {
                    return Ok(value);
                }
                self.run_op(callee, args, operands, r#type, vars, span)
            }
            _ => Err(wrong(format!("{} computes nothing", expr.type_name()))),
        }
    }
}

/// Casts the result of a predicate to the declared type; returns other values unchanged.
fn cast_if_predicate(truth: bool, value: Scalar, ty: &TypeRef) -> Option<Scalar> {
    match ty.dtype() {
        Some(dtype) if truth => value.cast(dtype),
        _ => Some(value),
    }
}

fn apply_binary(op: BinaryOp, left: &RunValue, right: &RunValue, ty: &TypeRef) -> Option<RunValue> {
    let both = |a, b| {
        scalar::binary(op, a, b).and_then(|value| cast_if_predicate(op.is_predicate(), value, ty))
    };
    match (left, right) {
        (RunValue::Scalar(a), RunValue::Scalar(b)) => both(*a, *b).map(RunValue::Scalar),
        (RunValue::Tensor(..), RunValue::Scalar(b)) => map_elements(left, |a| both(a, *b)),
        (RunValue::Scalar(a), RunValue::Tensor(..)) => map_elements(right, |b| both(*a, b)),
        (RunValue::Tensor(shape, a), RunValue::Tensor(other, b)) if shape == other => {
            let elements: Option<Rc<[Scalar]>> =
                a.iter().zip(&**b).map(|(a, b)| both(*a, *b)).collect();
            Some(RunValue::Tensor(shape.clone(), elements?))
        }
        _ => None,
    }
}

fn map_elements(value: &RunValue, f: impl Fn(Scalar) -> Option<Scalar>) -> Option<RunValue> {
    match value {
        RunValue::Scalar(value) => f(*value).map(RunValue::Scalar),
        RunValue::Tensor(shape, elements) => {
            let elements: Option<Rc<[Scalar]>> = elements.iter().map(|value| f(*value)).collect();
            Some(RunValue::Tensor(shape.clone(), elements?))
        }
        RunValue::Tuple(_) => None,
    }
}

fn eval_leaf(expr: &ExprRef, vars: &IdMap<RunValue>) -> Result<Option<RunValue>, RunError> {
    Ok(match &**expr {
        Expr::Var { .. } | Expr::IterArg { .. } => match vars.get(&expr.node().id()) {
            Some(value) => Some(value.clone()),
            None => {
                let name = expr.name().unwrap_or("").to_owned();
                return Err(RunError::NoValue { name, span: expr.span() });
            }
        },
        other => constant_value(other).map(RunValue::Scalar),
    })
}

/// Returns the value of a constant expression.
pub(crate) fn constant_value(expr: &Expr) -> Option<Scalar> {
    // A constant that was read from JSON may have a type that does not match it.
    let dtype = |class: fn(DataType) -> bool| expr.ty().as_scalar().filter(|&dtype| class(dtype));
    match expr {
        Expr::ConstInt { value, .. } => {
            Some(Scalar::int(dtype(DataType::is_integer)?, value.get()))
        }
        Expr::ConstFloat { value, .. } => Some(Scalar::float(dtype(DataType::is_float)?, *value)),
        Expr::ConstBool { value, .. } => Some(Scalar::Bool(*value)),
        _ => None,
    }
}

fn expect_integer(value: &RunValue, span: Span) -> Result<(i128, DataType), RunError> {
    match value {
        RunValue::Scalar(Scalar::Int(dtype, value)) => Ok((*value, *dtype)),
        _ => Err(RunError::Operands {
            message: "a bound of a range is not an integer".to_owned(),
            span,
        }),
    }
}

fn value_of_var(vars: &IdMap<RunValue>, var: &Var, span: Span) -> Result<RunValue, RunError> {
    let none = || RunError::NoValue { name: var.name().to_owned(), span };
    vars.get(&var.id()).cloned().ok_or_else(none)
}

fn bind_results(
    vars: &mut IdMap<RunValue>,
    targets: &[Var],
    values: Vec<RunValue>,
    span: Span,
) -> Result<(), RunError> {
    if targets.len() != values.len() {
        let message =
            format!("{} for {}", counted(values.len(), "value"), counted(targets.len(), "result"));
        return Err(RunError::Operands { message, span });
    }
    for (target, value) in targets.iter().zip(values) {
        vars.insert(target.id(), value);
    }
    Ok(())
}

/// Returns the implicit results of a function that ends without a `return`.
///
/// These are the variables that its last statement binds, or none if they do not match the result types.
pub(crate) fn implicit_results(function: &FunctionRef) -> Vec<Var> {
    let mut last = &function.body;
    let bound = loop {
        match &**last {
            Stmt::Seq { stmts, .. } | Stmt::Ops { stmts, .. } => match stmts.last() {
                Some(stmt) => last = stmt,
                None => return Vec::new(),
            },
            Stmt::Assign { var, .. } => break vec![var.clone()],
            other => break other.return_vars().to_vec(),
        }
    };
    let fit = bound.len() == function.return_types.len()
        && bound
            .iter()
            .zip(&function.return_types)
            .all(|(var, ty)| crate::verify::types_compatible(ty, var.ty()));
    if fit { bound } else { Vec::new() }
}
