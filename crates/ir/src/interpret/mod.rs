//! Running a program as it stands: small and simple, the reference for everything that changes
//! programs.
//!
//! Values are scalars, tuples and tensors (elementwise). Operators are total, see [`scalar`]; what can
//! go wrong is said by [`RunError`]. Steps are counted, so that a loop without end is an error.

mod extents;
pub mod scalar;
mod tuple;

use std::rc::Rc;

use rustc_hash::FxBuildHasher;
use sapwood_types::{DataType, Span, counted};

use crate::nodes::{
    BinaryOp, Expr, ExprRef, FunctionRef, Program, Stmt, StmtRef, TypeRef, UnaryOp, Var,
};
use scalar::Scalar;
pub use tuple::Elements;

/// A value.
#[derive(Clone, Debug, PartialEq)]
pub enum RunValue {
    /// A number or a truth value.
    Scalar(Scalar),
    /// Several values.
    Tuple(Elements),
    /// An array: its shape and its elements, row by row.
    Tensor(Rc<[i64]>, Rc<[Scalar]>),
}

impl RunValue {
    /// An `INT64`.
    #[must_use]
    pub fn int(value: i64) -> Self {
        Self::Scalar(Scalar::Int(DataType::I64, value.into()))
    }

    /// What kind of value it is, for messages: never the value itself, which may be large.
    fn kind(&self) -> String {
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

/// Why a program stopped.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// No function of this name.
    #[error("{span}: the program has no function called `{name}`")]
    NoFunction {
        /// The name.
        name: String,
        /// The call.
        span: Span,
    },
    /// An operation that the caller does not know.
    #[error("{span}: the operation `{name}` is not known here")]
    NoOperation {
        /// The name.
        name: String,
        /// The call.
        span: Span,
    },
    /// A function that ends without giving what it promises to return.
    #[error("{span}: `{name}` ends without a return of its {}", counted(*.wanted, "result"))]
    NoResults {
        /// The name.
        name: String,
        /// How many results it has.
        wanted: usize,
        /// The call.
        span: Span,
    },
    /// A variable without a value.
    #[error("{span}: `{name}` has no value")]
    NoValue {
        /// The variable.
        name: String,
        /// The use.
        span: Span,
    },
    /// Operands that the operator does not take.
    #[error("{span}: {what}")]
    Operands {
        /// What is wrong.
        what: String,
        /// The expression.
        span: Span,
    },
    /// An argument of a shape that the type of its parameter does not allow.
    #[error("{span}: {what}")]
    Argument {
        /// The parameter.
        parameter: String,
        /// What is wrong.
        what: String,
        /// The call.
        span: Span,
    },
    /// More steps than were allowed.
    #[error("more than the allowed number of steps")]
    OutOfSteps,
    /// Calls within calls.
    #[error("calls nest deeper than {MOST_CALLS}")]
    TooManyCalls,
}

/// How deep calls may nest.
pub const MOST_CALLS: usize = 1000;

type Ops<'o> = dyn FnMut(&str, &[RunValue]) -> Option<RunValue> + 'o;
type Map<V> = hashbrown::HashMap<usize, V, FxBuildHasher>;

/// Runs programs.
pub struct Interpreter<'p, 'o> {
    program: &'p Program,
    ops: Option<&'o mut Ops<'o>>,
    steps: u64,
    calls: usize,
}

/// How a statement ended.
enum Flow {
    Next,
    Yield(Vec<RunValue>),
    Return(Vec<RunValue>),
}

impl<'p, 'o> Interpreter<'p, 'o> {
    /// An interpreter that takes at most so many steps: statements and loop trips.
    #[must_use]
    pub fn new(program: &'p Program, steps: u64) -> Self {
        Self { program, ops: None, steps, calls: 0 }
    }

    /// With the operations that calls of an `Op` ask for.
    #[must_use]
    pub fn with_ops(mut self, ops: &'o mut Ops<'o>) -> Self {
        self.ops = Some(ops);
        self
    }

    /// What a function returns.
    ///
    /// # Errors
    /// If an argument has a shape that its parameter does not allow, something has no value, or the steps do not suffice.
    pub fn run(&mut self, name: &str, args: &[RunValue]) -> Result<Vec<RunValue>, RunError> {
        self.call(name, args, Span::unknown())
    }

    /// Checks the arguments of a function, as [`run`](Self::run) does before it begins.
    ///
    /// # Errors
    /// If there is no such function, or it does not take these arguments.
    pub fn check_arguments(&mut self, name: &str, args: &[RunValue]) -> Result<(), RunError> {
        self.enter(name, args, Span::unknown()).map(drop)
    }

    /// Finds a function and binds its parameters to arguments.
    fn enter(
        &mut self,
        name: &str,
        args: &[RunValue],
        span: Span,
    ) -> Result<(&'p FunctionRef, Map<RunValue>), RunError> {
        let no_function = || RunError::NoFunction { name: name.to_owned(), span };
        let function = self.program.get_function(name).ok_or_else(no_function)?;
        if function.params.len() != args.len() {
            let what = format!(
                "`{name}` takes {}, found {}",
                counted(function.params.len(), "argument"),
                args.len()
            );
            return Err(RunError::Operands { what, span });
        }
        let mut vars: Map<RunValue> = Map::default();
        for (param, arg) in function.params.iter().zip(args) {
            vars.insert(param.id(), arg.clone());
        }
        self.check_extents(function, args, &vars, span)?;
        Ok((function, vars))
    }

    fn call(
        &mut self,
        name: &str,
        args: &[RunValue],
        span: Span,
    ) -> Result<Vec<RunValue>, RunError> {
        let (function, mut vars) = self.enter(name, args, span)?;
        if self.calls >= MOST_CALLS {
            return Err(RunError::TooManyCalls);
        }
        self.calls += 1;
        let flow = self.stmt(&function.body, &mut vars);
        self.calls -= 1;
        match flow? {
            Flow::Return(values) | Flow::Yield(values) => Ok(values),
            Flow::Next => {
                let results = implicit_results(function);
                if results.is_empty() && !function.return_types.is_empty() {
                    let wanted = function.return_types.len();
                    return Err(RunError::NoResults { name: name.to_owned(), wanted, span });
                }
                results.iter().map(|var| value_of(&vars, var, function.span)).collect()
            }
        }
    }

    fn step(&mut self) -> Result<(), RunError> {
        self.steps = self.steps.checked_sub(1).ok_or(RunError::OutOfSteps)?;
        Ok(())
    }

    fn stmt(&mut self, stmt: &StmtRef, vars: &mut Map<RunValue>) -> Result<Flow, RunError> {
        stacker::maybe_grow(128 << 10, 4 << 20, || self.stmt_here(stmt, vars))
    }

    fn stmt_here(&mut self, stmt: &StmtRef, vars: &mut Map<RunValue>) -> Result<Flow, RunError> {
        self.step()?;
        match &**stmt {
            Stmt::Assign { var, value, .. } => {
                let value = self.expr(value, vars)?;
                vars.insert(var.id(), value);
            }
            Stmt::Eval { expr, .. } => {
                self.expr(expr, vars)?;
            }
            Stmt::Yield { values, .. } => return Ok(Flow::Yield(self.exprs(values, vars)?)),
            Stmt::Return { values, .. } => return Ok(Flow::Return(self.exprs(values, vars)?)),
            Stmt::Seq { stmts, .. } | Stmt::Ops { stmts, .. } => {
                for stmt in stmts {
                    match self.stmt(stmt, vars)? {
                        Flow::Next => {}
                        flow => return Ok(flow),
                    }
                }
            }
            Stmt::If { condition, then_body, else_body, return_vars, span } => {
                let holds = self.truth(condition, vars, *span)?;
                let body = if holds { Some(then_body) } else { else_body.as_ref() };
                if let Some(body) = body {
                    match self.stmt(body, vars)? {
                        Flow::Next => {}
                        Flow::Yield(values) => bind(vars, return_vars, values, *span)?,
                        returned @ Flow::Return(_) => return Ok(returned),
                    }
                }
            }
            Stmt::For {
                init_values,
                loop_var,
                start,
                stop,
                step,
                iter_args,
                body,
                return_vars,
                span,
            } => {
                let [first, stop, step] = [start, stop, step].map(|expr| self.expr(expr, vars));
                let (mut at, dtype) = integer(&first?, *span)?;
                let ((stop, _), (step, _)) = (integer(&stop?, *span)?, integer(&step?, *span)?);
                let mut args = self.exprs(init_values, vars)?;
                while (step > 0 && at < stop) || (step < 0 && at > stop) {
                    self.step()?;
                    vars.insert(loop_var.id(), RunValue::Scalar(Scalar::Int(dtype, at)));
                    for (arg, value) in iter_args.iter().zip(&args) {
                        vars.insert(arg.id(), value.clone());
                    }
                    match self.stmt(body, vars)? {
                        Flow::Next => {}
                        Flow::Yield(values) => args = values,
                        returned @ Flow::Return(_) => return Ok(returned),
                    }
                    at += step;
                }
                if !iter_args.is_empty() {
                    bind(vars, return_vars, args, *span)?;
                }
            }
            Stmt::While { init_values, iter_args, condition, body, return_vars, span } => {
                let mut args = self.exprs(init_values, vars)?;
                loop {
                    self.step()?;
                    for (arg, value) in iter_args.iter().zip(&args) {
                        vars.insert(arg.id(), value.clone());
                    }
                    if !self.truth(condition, vars, *span)? {
                        break;
                    }
                    match self.stmt(body, vars)? {
                        Flow::Next => {}
                        Flow::Yield(values) => args = values,
                        returned @ Flow::Return(_) => return Ok(returned),
                    }
                }
                if !iter_args.is_empty() {
                    bind(vars, return_vars, args, *span)?;
                }
            }
        }
        Ok(Flow::Next)
    }

    fn truth(
        &mut self,
        expr: &ExprRef,
        vars: &Map<RunValue>,
        span: Span,
    ) -> Result<bool, RunError> {
        match self.expr(expr, vars)? {
            RunValue::Scalar(scalar) => Ok(scalar.truth()),
            _ => Err(RunError::Operands { what: "the condition is no scalar".to_owned(), span }),
        }
    }

    fn exprs(
        &mut self,
        exprs: &[ExprRef],
        vars: &Map<RunValue>,
    ) -> Result<Vec<RunValue>, RunError> {
        exprs.iter().map(|expr| self.expr(expr, vars)).collect()
    }

    /// The value of an expression. Shared parts are computed once, except that a call is made
    /// wherever it stands: sharing is invisible.
    fn expr(&mut self, root: &ExprRef, vars: &Map<RunValue>) -> Result<RunValue, RunError> {
        let mut known: Map<RunValue> = Map::default();
        // With whether something was called on the way.
        let mut values: Vec<(RunValue, bool)> = Vec::new();
        // An expression is met twice: first to look at its operands, then to compute it.
        let mut todo: Vec<(&ExprRef, bool)> = vec![(root, false)];
        while let Some((expr, ready)) = todo.pop() {
            if let Some(value) = leaf(expr, vars)? {
                values.push((value, false));
            } else if ready {
                let mut called = matches!(&**expr, Expr::Call { .. });
                let first = values.len() - expr.operands().len();
                let operands = values.drain(first..).map(|(value, calls)| {
                    called |= calls;
                    value
                });
                let operands: Vec<RunValue> = operands.collect();
                let value = self.operation(expr, operands)?;
                if called {
                    self.step()?;
                } else if expr.node().owners() > 1 {
                    known.insert(expr.node().id(), value.clone());
                }
                values.push((value, called));
            } else if let Some(value) = known.get(&expr.node().id()) {
                values.push((value.clone(), false));
            } else {
                todo.push((expr, true));
                todo.extend(expr.operands().rev().map(|operand| (operand, false)));
            }
        }
        let nothing = RunError::Operands { what: "nothing".to_owned(), span: root.span() };
        values.pop().map(|(value, _)| value).ok_or(nothing)
    }

    fn operation(
        &mut self,
        expr: &Expr,
        mut operands: Vec<RunValue>,
    ) -> Result<RunValue, RunError> {
        let span = expr.span();
        let wrong = |what: String| RunError::Operands { what, span };
        if let Some((op, ..)) = expr.as_binary() {
            let [left, right] = &operands[..] else { return Err(wrong("two operands".to_owned())) };
            return binary(op, left, right, expr.ty()).ok_or_else(|| {
                wrong(format!("{} of {} and {}", op.name(), left.kind(), right.kind()))
            });
        }
        if let Some((op, _)) = expr.as_unary() {
            let operand = &operands[0];
            return map(operand, |value| match op {
                UnaryOp::Cast => match expr.ty().dtype() {
                    Some(dtype) => value.cast(dtype),
                    None => Some(value),
                },
                op => scalar::unary(op, value)
                    .and_then(|value| in_type(op == UnaryOp::Not, value, expr.ty())),
            })
            .ok_or_else(|| wrong(format!("{} of {}", op.name(), operand.kind())));
        }
        match expr {
            Expr::MakeTuple { .. } => Ok(RunValue::Tuple(operands.into())),
            Expr::TupleGetItemExpr { index, .. } => match operands.pop() {
                Some(RunValue::Tuple(elements)) => elements
                    .get(*index as usize)
                    .cloned()
                    .ok_or_else(|| wrong(format!("element {index} of {}", elements.len()))),
                _ => Err(wrong("an element of what is no tuple".to_owned())),
            },
            Expr::Call { callee, .. } if callee.is_global() => {
                let results = self.call(callee.name(), &operands, span)?;
                Ok(match <[RunValue; 1]>::try_from(results) {
                    Ok([one]) => one,
                    Err(several) => RunValue::Tuple(several.into()),
                })
            }
            Expr::Call { callee, .. } => {
                let unknown = || RunError::NoOperation { name: callee.name().to_owned(), span };
                let ops = self.ops.as_mut().ok_or_else(unknown)?;
                ops(callee.name(), &operands).ok_or_else(unknown)
            }
            _ => Err(wrong(format!("{} computes nothing", expr.type_name()))),
        }
    }
}

/// A truth value in the type that was asked for; other values are in theirs.
fn in_type(truth: bool, value: Scalar, ty: &TypeRef) -> Option<Scalar> {
    match ty.dtype() {
        Some(dtype) if truth => value.cast(dtype),
        _ => Some(value),
    }
}

fn binary(op: BinaryOp, left: &RunValue, right: &RunValue, ty: &TypeRef) -> Option<RunValue> {
    let both = |a, b| scalar::binary(op, a, b).and_then(|value| in_type(op.is_truth(), value, ty));
    match (left, right) {
        (RunValue::Scalar(a), RunValue::Scalar(b)) => both(*a, *b).map(RunValue::Scalar),
        (RunValue::Tensor(..), RunValue::Scalar(b)) => map(left, |a| both(a, *b)),
        (RunValue::Scalar(a), RunValue::Tensor(..)) => map(right, |b| both(*a, b)),
        (RunValue::Tensor(shape, a), RunValue::Tensor(other, b)) if shape == other => {
            let elements: Option<Rc<[Scalar]>> =
                a.iter().zip(&**b).map(|(a, b)| both(*a, *b)).collect();
            Some(RunValue::Tensor(shape.clone(), elements?))
        }
        _ => None,
    }
}

fn map(value: &RunValue, f: impl Fn(Scalar) -> Option<Scalar>) -> Option<RunValue> {
    match value {
        RunValue::Scalar(value) => f(*value).map(RunValue::Scalar),
        RunValue::Tensor(shape, elements) => {
            let elements: Option<Rc<[Scalar]>> = elements.iter().map(|value| f(*value)).collect();
            Some(RunValue::Tensor(shape.clone(), elements?))
        }
        RunValue::Tuple(_) => None,
    }
}

fn leaf(expr: &ExprRef, vars: &Map<RunValue>) -> Result<Option<RunValue>, RunError> {
    Ok(match &**expr {
        Expr::Var { .. } | Expr::IterArg { .. } => match vars.get(&expr.node().id()) {
            Some(value) => Some(value.clone()),
            None => {
                let name = expr.name().unwrap_or("").to_owned();
                return Err(RunError::NoValue { name, span: expr.span() });
            }
        },
        other => constant(other).map(RunValue::Scalar),
    })
}

/// The value of a constant.
pub(crate) fn constant(expr: &Expr) -> Option<Scalar> {
    // What is read from JSON may have a type that is not its own.
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

fn integer(value: &RunValue, span: Span) -> Result<(i128, DataType), RunError> {
    match value {
        RunValue::Scalar(Scalar::Int(dtype, value)) => Ok((*value, *dtype)),
        _ => Err(RunError::Operands { what: "a range of what is no integer".to_owned(), span }),
    }
}

fn value_of(vars: &Map<RunValue>, var: &Var, span: Span) -> Result<RunValue, RunError> {
    let none = || RunError::NoValue { name: var.name().to_owned(), span };
    vars.get(&var.id()).cloned().ok_or_else(none)
}

fn bind(
    vars: &mut Map<RunValue>,
    targets: &[Var],
    values: Vec<RunValue>,
    span: Span,
) -> Result<(), RunError> {
    if targets.len() != values.len() {
        let what =
            format!("{} for {}", counted(values.len(), "value"), counted(targets.len(), "result"));
        return Err(RunError::Operands { what, span });
    }
    for (target, value) in targets.iter().zip(values) {
        vars.insert(target.id(), value);
    }
    Ok(())
}

/// What a function without a `return` returns: the variables that its last statement binds, where
/// they fit the types it returns; nothing if they do not.
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
            .all(|(var, ty)| crate::verify::fits(ty, var.ty()));
    if fit { bound } else { Vec::new() }
}
