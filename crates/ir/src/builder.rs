//! Building programs with closures. Spans are those of the caller.
//!
//! ```
//! use sapwood_ir::{FunctionBuilder, Program, print_program};
//! use sapwood_types::{DataType, Span};
//!
//! let sum = FunctionBuilder::build("sum_to", |f| {
//!     let n = f.param("n", DataType::I64);
//!     f.returns(DataType::I64);
//!     let (zero, one) = (f.int(0), f.int(1));
//!     let results = f.for_iter("i", [&zero, &n, &one], &[("total", &zero)], |body, i, args| {
//!         let next = body.add(&args[0], i);
//!         body.yield_([next]);
//!     });
//!     f.return_([results[0].expr().clone()]);
//! });
//! let program = Program::new([sum], "", Span::unknown())?;
//! assert_eq!(
//!     print_program(&program)?,
//!     "def sum_to(n: pi.INT64) -> pi.INT64:
//!     for i, (total,) in pi.range(0, n, 1, init_values=[0]):
//!         pi.yield_(total + i)
//!     total_1: pi.INT64 = pi.result(0)
//!     return total_1
//! "
//! );
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::ops::{Deref, DerefMut};
use std::panic::Location;

use sapwood_structural::Ref;
use sapwood_types::{DataType, Span};

use crate::error::IrError;
use crate::nodes::operators::all_operators;
use crate::nodes::{
    BinaryOp, CalleeRef, Expr, ExprRef, Function, FunctionRef, Int, IntoType, IterArg, Stmt,
    StmtRef, Type, TypeRef, UnaryOp, Var, natural_binary, truth_type,
};

/// The place in the Rust source that calls.
#[track_caller]
fn here() -> Span {
    let at = Location::caller();
    Span::new(at.file(), at.line(), at.column(), at.line(), at.column() + 1)
}

/// Statements as they are written.
#[derive(Default)]
pub struct BlockBuilder {
    stmts: Vec<StmtRef>,
}

/// A function as it is written: a block with parameters and results.
#[derive(Default)]
pub struct FunctionBuilder {
    block: BlockBuilder,
    params: Vec<Var>,
    return_types: Vec<TypeRef>,
}

impl FunctionBuilder {
    /// The function that `write` writes.
    #[track_caller]
    pub fn build(name: &str, write: impl FnOnce(&mut Self)) -> FunctionRef {
        let span = here();
        let mut builder = Self::default();
        write(&mut builder);
        let body = builder.block.finish(span);
        Function::new(name, builder.params, builder.return_types, &body, span)
    }

    /// One more parameter.
    #[track_caller]
    pub fn param(&mut self, name: &str, ty: impl IntoType) -> Var {
        let var = Var::new(name, ty, here());
        self.params.push(var.clone());
        var
    }

    /// One more result.
    pub fn returns(&mut self, ty: impl IntoType) {
        self.return_types.push(ty.into_type());
    }
}

impl Deref for FunctionBuilder {
    type Target = BlockBuilder;

    fn deref(&self) -> &BlockBuilder {
        &self.block
    }
}

impl DerefMut for FunctionBuilder {
    fn deref_mut(&mut self) -> &mut BlockBuilder {
        &mut self.block
    }
}

macro_rules! operators {
    (
        binary {$(
            $(#[$doc:meta])* $op:ident, $name:ident, $spelling:ident($text:literal),
            $precedence:ident, $truth:literal, $class:ident;
        )*}
        unary { $($unary:tt)* }
    ) => {
        /// Operators with two operands, their types those of the operands.
        impl BlockBuilder {
            $(
                #[doc = concat!("The operator [`BinaryOp::", stringify!($op), "`].")]
                #[must_use]
                #[track_caller]
                pub fn $name(&self, left: &ExprRef, right: &ExprRef) -> ExprRef {
                    binary(BinaryOp::$op, left, right, here())
                }
            )*
        }
    };
}
all_operators!(operators);

fn binary(op: BinaryOp, left: &ExprRef, right: &ExprRef, span: Span) -> ExprRef {
    let ty = natural_binary(op, left, right).unwrap_or_else(Type::unknown);
    Expr::binary(op, left, right, ty, span)
}

impl BlockBuilder {
    fn finish(self, span: Span) -> StmtRef {
        Stmt::block(self.stmts, span)
    }

    #[track_caller]
    fn inner(write: impl FnOnce(&mut Self)) -> StmtRef {
        let span = here();
        let mut block = Self::default();
        write(&mut block);
        block.finish(span)
    }

    /// An operator with one operand, its type that of the operand (see [`BlockBuilder::cast`]).
    #[must_use]
    #[track_caller]
    pub fn unary(&self, op: UnaryOp, operand: &ExprRef) -> ExprRef {
        let ty = match op {
            UnaryOp::Not => truth_type(&[operand]),
            _ => operand.ty().clone(),
        };
        Expr::unary(op, operand, ty, here())
    }

    /// The value in another type.
    #[must_use]
    #[track_caller]
    pub fn cast(&self, operand: &ExprRef, ty: impl IntoType) -> ExprRef {
        Expr::cast(operand, ty, here())
    }

    /// A tuple.
    #[must_use]
    #[track_caller]
    pub fn tuple(&self, elements: impl IntoIterator<Item = ExprRef>) -> ExprRef {
        Expr::make_tuple(elements, here())
    }

    /// An element of a tuple.
    ///
    /// # Errors
    /// If the value is known not to be a tuple, or has too few elements.
    #[track_caller]
    pub fn get(&self, tuple: &ExprRef, index: usize) -> Result<ExprRef, IrError> {
        Expr::tuple_get_item(tuple, index, here())
    }

    /// A truth value.
    #[must_use]
    #[track_caller]
    pub fn bool(&self, value: bool) -> ExprRef {
        Expr::const_bool(value, here())
    }

    /// An integer of any integer type.
    ///
    /// # Errors
    /// If the data type is not one of integers.
    #[track_caller]
    pub fn const_int(&self, value: impl Into<i128>, dtype: DataType) -> Result<ExprRef, IrError> {
        Expr::const_int(value, dtype, here())
    }

    /// A float of any float type, rounded to what it can hold.
    ///
    /// # Errors
    /// If the data type is not one of floats.
    #[track_caller]
    pub fn const_float(&self, value: f64, dtype: DataType) -> Result<ExprRef, IrError> {
        Expr::const_float(value, dtype, here())
    }

    /// An `INT64` constant.
    #[must_use]
    #[track_caller]
    pub fn int(&self, value: i64) -> ExprRef {
        let (r#type, value) = (Type::scalar(DataType::I64), Int::new(value.into()));
        Ref::new(Expr::ConstInt { span: here(), r#type, value })
    }

    /// An `FP32` constant.
    #[must_use]
    #[track_caller]
    pub fn float(&self, value: f32) -> ExprRef {
        let (r#type, value) = (Type::scalar(DataType::F32), f64::from(value));
        Ref::new(Expr::ConstFloat { span: here(), r#type, value })
    }

    /// A call.
    #[must_use]
    #[track_caller]
    pub fn call(
        &self,
        callee: &CalleeRef,
        args: impl IntoIterator<Item = ExprRef>,
        ty: impl IntoType,
    ) -> ExprRef {
        Expr::call(callee, args, ty, here())
    }

    /// Adds a statement that was made elsewhere.
    pub fn push(&mut self, stmt: StmtRef) {
        self.stmts.push(stmt);
    }

    /// A new variable with this value.
    #[track_caller]
    pub fn let_(&mut self, name: &str, value: &ExprRef) -> Var {
        let var = Var::new(name, value.ty(), here());
        self.stmts.push(Stmt::assign(&var, value, here()));
        var
    }

    /// Another value for a variable.
    #[track_caller]
    pub fn assign(&mut self, var: &Var, value: &ExprRef) {
        self.stmts.push(Stmt::assign(var, value, here()));
    }

    /// An expression on its own.
    #[track_caller]
    pub fn eval(&mut self, expr: &ExprRef) {
        self.stmts.push(Stmt::eval(expr, here()));
    }

    /// Ends this body with values.
    #[track_caller]
    pub fn yield_(&mut self, values: impl IntoIterator<Item = ExprRef>) {
        self.stmts.push(Stmt::yield_(values, here()));
    }

    /// Ends the function with values.
    #[track_caller]
    pub fn return_(&mut self, values: impl IntoIterator<Item = ExprRef>) {
        self.stmts.push(Stmt::return_(values, here()));
    }

    /// `if` without `else`.
    #[track_caller]
    pub fn if_(&mut self, condition: &ExprRef, then: impl FnOnce(&mut Self)) {
        let span = here();
        let then = Self::inner(then);
        self.stmts.push(Stmt::if_(condition, &then, None, [], span));
    }

    /// `if` with `else`; both yield one value for each name and type.
    #[track_caller]
    pub fn if_else(
        &mut self,
        condition: &ExprRef,
        results: &[(&str, TypeRef)],
        then: impl FnOnce(&mut Self),
        otherwise: impl FnOnce(&mut Self),
    ) -> Vec<Var> {
        let span = here();
        let (then, otherwise) = (Self::inner(then), Self::inner(otherwise));
        let vars: Vec<Var> = results.iter().map(|(name, ty)| Var::new(name, ty, span)).collect();
        self.stmts.push(Stmt::if_(condition, &then, Some(&otherwise), vars.clone(), span));
        vars
    }

    /// `if` with `else`, whose results are variables that both assign.
    #[track_caller]
    pub fn if_assigning(
        &mut self,
        condition: &ExprRef,
        results: &[Var],
        then: impl FnOnce(&mut Self),
        otherwise: impl FnOnce(&mut Self),
    ) {
        let span = here();
        let (then, otherwise) = (Self::inner(then), Self::inner(otherwise));
        let results = results.iter().cloned();
        self.stmts.push(Stmt::if_(condition, &then, Some(&otherwise), results, span));
    }

    /// A loop over `[start, stop, step]`, whose results are variables that its body assigns.
    #[track_caller]
    pub fn for_assigning(
        &mut self,
        name: &str,
        range: [&ExprRef; 3],
        results: &[Var],
        body: impl FnOnce(&mut Self, &Var),
    ) {
        let span = here();
        let var = Var::new(name, range[0].ty(), span);
        let body = Self::inner(|block| body(block, &var));
        self.stmts.push(Stmt::for_(&var, range, [], &body, results.iter().cloned(), span));
    }

    /// A loop with a condition, whose results are variables that its body assigns.
    #[track_caller]
    pub fn while_assigning(
        &mut self,
        condition: &ExprRef,
        results: &[Var],
        body: impl FnOnce(&mut Self),
    ) {
        let span = here();
        let body = Self::inner(body);
        self.stmts.push(Stmt::while_([], condition, &body, results.iter().cloned(), span));
    }

    /// A loop over `[start, stop, step]` without iteration arguments.
    #[track_caller]
    pub fn for_(&mut self, name: &str, range: [&ExprRef; 3], body: impl FnOnce(&mut Self, &Var)) {
        let span = here();
        let var = Var::new(name, range[0].ty(), span);
        let body = Self::inner(|block| body(block, &var));
        self.stmts.push(Stmt::for_(&var, range, [], &body, [], span));
    }

    /// A loop over `[start, stop, step]` with named initial values; its results, named alike.
    #[track_caller]
    pub fn for_iter(
        &mut self,
        name: &str,
        range: [&ExprRef; 3],
        inits: &[(&str, &ExprRef)],
        body: impl FnOnce(&mut Self, &Var, &[IterArg]),
    ) -> Vec<Var> {
        let span = here();
        let var = Var::new(name, range[0].ty(), span);
        let (args, results) = iteration(inits, span);
        let body = Self::inner(|block| body(block, &var, &args));
        self.stmts.push(Stmt::for_(&var, range, args, &body, results.clone(), span));
        results
    }

    /// A loop without iteration arguments.
    #[track_caller]
    pub fn while_(&mut self, condition: &ExprRef, body: impl FnOnce(&mut Self)) {
        let span = here();
        let body = Self::inner(body);
        self.stmts.push(Stmt::while_([], condition, &body, [], span));
    }

    /// A loop with named initial values; its results, named alike.
    #[track_caller]
    pub fn while_iter(
        &mut self,
        inits: &[(&str, &ExprRef)],
        condition: impl FnOnce(&Self, &[IterArg]) -> ExprRef,
        body: impl FnOnce(&mut Self, &[IterArg]),
    ) -> Vec<Var> {
        let span = here();
        let (args, results) = iteration(inits, span);
        let condition = condition(self, &args);
        let body = Self::inner(|block| body(block, &args));
        self.stmts.push(Stmt::while_(args, &condition, &body, results.clone(), span));
        results
    }
}

fn iteration(inits: &[(&str, &ExprRef)], span: Span) -> (Vec<IterArg>, Vec<Var>) {
    let arg = |(name, init): &(&str, &ExprRef)| IterArg::new(name, init.ty(), init, span);
    let result = |(name, init): &(&str, &ExprRef)| Var::new(name, init.ty(), span);
    (inits.iter().map(arg).collect(), inits.iter().map(result).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Level, Program, verify};

    /// A tuple, a cast, constants of every class, and results by assignment.
    #[test]
    fn everything_can_be_built() {
        let function = FunctionBuilder::build("f", |f| {
            let x = f.param("x", DataType::I64);
            f.returns(DataType::F64);
            let half = f.const_float(0.5, DataType::F64).unwrap();
            let total = f.let_("total", &half);
            let three = f.const_int(3, DataType::I8).unwrap();
            let small = f.let_("small", &three);
            let both = f.tuple([small.expr().clone(), f.bool(true)]);
            let pair = f.let_("pair", &both);
            let condition = f.get(&pair, 1).unwrap();
            f.if_assigning(
                &condition,
                std::slice::from_ref(&total),
                |then| then.assign(&total, &then.cast(&x, DataType::F64)),
                |otherwise| otherwise.assign(&total, &otherwise.cast(&small, DataType::F64)),
            );
            let (zero, one) = (f.int(0), f.int(1));
            f.for_assigning("i", [&zero, &x, &one], std::slice::from_ref(&total), |body, _| {
                body.assign(&total, &body.add(&total, &total));
            });
            let large = f.const_float(1e6, DataType::F64).unwrap();
            let less = f.lt(&total, &large);
            f.while_assigning(&less, std::slice::from_ref(&total), |body| {
                body.assign(&total, &body.mul(&total, &total));
            });
            f.return_([total.expr().clone()]);
            assert!(f.get(&pair, 2).is_err() && f.const_int(1, DataType::F32).is_err());
        });
        let program = Program::new([function], "", Span::unknown()).unwrap();
        let problems = verify(&program, Level::WellFormed);
        assert!(problems.is_empty(), "{problems:?}");
        let text = crate::print_program(&program).unwrap();
        let source = sapwood_types::Source::new("built.ir", text.clone());
        let again = crate::parse_program(&source).unwrap();
        assert!(sapwood_structural::equal(&again, &program).unwrap(), "{text}");
    }

    #[test]
    fn branches_and_loops_verify_and_know_their_lines() {
        let function = FunctionBuilder::build("f", |f| {
            let x = f.param("x", DataType::I64);
            f.returns(DataType::I64);
            let zero = f.int(0);
            let positive = f.gt(&x, &zero);
            let line = line!() + 1;
            let chosen = f.if_else(
                &positive,
                &[("chosen", Type::scalar(DataType::I64))],
                |then| then.yield_([x.expr().clone()]),
                |otherwise| otherwise.yield_([zero.clone()]),
            );
            assert_eq!(chosen[0].span().begin_line(), line);
            assert!(chosen[0].span().filename().ends_with("builder.rs"));
            let done = f.while_iter(
                &[("n", &chosen[0])],
                |block, args| block.lt(&args[0], &x),
                |block, args| {
                    let next = block.add(&args[0], &block.int(1));
                    block.yield_([next]);
                },
            );
            f.return_([done[0].expr().clone()]);
        });
        let program = Program::new([function], "", Span::unknown()).unwrap();
        let problems = verify(&program, Level::Ssa);
        assert!(problems.is_empty(), "{problems:?}");
    }
}
