//! Builders that write programs with closures; the spans are those of the calling Rust code.
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
    BinaryOp, CalleeRef, Expr, ExprRef, Function, FunctionRef, IntoType, IterArg, PackedInt, Stmt,
    StmtRef, Type, TypeRef, UnaryOp, Var, inferred_binary_type, predicate_type,
};

/// Returns the location of the caller in the Rust source.
#[track_caller]
fn caller_span() -> Span {
    let at = Location::caller();
    Span::new(at.file(), at.line(), at.column(), at.line(), at.column() + 1)
}

/// A builder of a list of statements.
#[derive(Default)]
pub struct BlockBuilder {
    stmts: Vec<StmtRef>,
}

/// A builder of a function: a block with parameters and results.
#[derive(Default)]
pub struct FunctionBuilder {
    block: BlockBuilder,
    params: Vec<Var>,
    return_types: Vec<TypeRef>,
}

impl FunctionBuilder {
    /// Builds the function that `write` writes.
    #[track_caller]
    pub fn build(name: &str, write: impl FnOnce(&mut Self)) -> FunctionRef {
        let span = caller_span();
        let mut builder = Self::default();
        write(&mut builder);
        let body = builder.block.into_stmt(span);
        Function::new(name, builder.params, builder.return_types, &body, span)
    }

    /// Adds a parameter.
    #[track_caller]
    pub fn param(&mut self, name: &str, ty: impl IntoType) -> Var {
        let var = Var::new(name, ty, caller_span());
        self.params.push(var.clone());
        var
    }

    /// Adds a result type.
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
        /// Constructors of binary operators whose type is inferred from the operands.
        impl BlockBuilder {
            $(
                #[doc = concat!("The operator [`BinaryOp::", stringify!($op), "`].")]
                #[must_use]
                #[track_caller]
                pub fn $name(&self, left: &ExprRef, right: &ExprRef) -> ExprRef {
                    binary(BinaryOp::$op, left, right, caller_span())
                }
            )*
        }
    };
}
all_operators!(operators);

fn binary(op: BinaryOp, left: &ExprRef, right: &ExprRef, span: Span) -> ExprRef {
    let ty = inferred_binary_type(op, left, right).unwrap_or_else(Type::unknown);
    Expr::binary(op, left, right, ty, span)
}

impl BlockBuilder {
    fn into_stmt(self, span: Span) -> StmtRef {
        Stmt::block(self.stmts, span)
    }

    #[track_caller]
    fn build_block(write: impl FnOnce(&mut Self)) -> StmtRef {
        let span = caller_span();
        let mut block = Self::default();
        write(&mut block);
        block.into_stmt(span)
    }

    /// Returns a unary operator whose type is inferred from the operand (for a cast see [`BlockBuilder::cast`]).
    #[must_use]
    #[track_caller]
    pub fn unary(&self, op: UnaryOp, operand: &ExprRef) -> ExprRef {
        let ty = match op {
            UnaryOp::Not => predicate_type(&[operand]),
            _ => Type::inferred(operand.ty()),
        };
        Expr::unary(op, operand, ty, caller_span())
    }

    /// Returns a cast of an operand to another type.
    #[must_use]
    #[track_caller]
    pub fn cast(&self, operand: &ExprRef, ty: impl IntoType) -> ExprRef {
        Expr::cast(operand, ty, caller_span())
    }

    /// Returns a tuple.
    #[must_use]
    #[track_caller]
    pub fn tuple(&self, elements: impl IntoIterator<Item = ExprRef>) -> ExprRef {
        Expr::make_tuple(elements, caller_span())
    }

    /// Returns an element of a tuple.
    ///
    /// # Errors
    /// Fails if the value is known not to be a tuple, or has too few elements.
    #[track_caller]
    pub fn get(&self, tuple: &ExprRef, index: usize) -> Result<ExprRef, IrError> {
        Expr::tuple_get_item(tuple, index, caller_span())
    }

    /// Returns a `BOOL` constant.
    #[must_use]
    #[track_caller]
    pub fn bool(&self, value: bool) -> ExprRef {
        Expr::const_bool(value, caller_span())
    }

    /// Returns a constant of an integer type.
    ///
    /// # Errors
    /// Fails if the data type is not an integer type.
    #[track_caller]
    pub fn const_int(&self, value: impl Into<i128>, dtype: DataType) -> Result<ExprRef, IrError> {
        Expr::const_int(value, dtype, caller_span())
    }

    /// Returns a constant of a float type, rounded to that type.
    ///
    /// # Errors
    /// Fails if the data type is not a float type.
    #[track_caller]
    pub fn const_float(&self, value: f64, dtype: DataType) -> Result<ExprRef, IrError> {
        Expr::const_float(value, dtype, caller_span())
    }

    /// Returns an `INT64` constant.
    #[must_use]
    #[track_caller]
    pub fn int(&self, value: i64) -> ExprRef {
        let (r#type, value) = (Type::scalar(DataType::I64), PackedInt::new(value.into()));
        Ref::new(Expr::ConstInt { span: caller_span(), r#type, value })
    }

    /// Returns an `FP32` constant.
    #[must_use]
    #[track_caller]
    pub fn float(&self, value: f32) -> ExprRef {
        let (r#type, value) = (Type::scalar(DataType::F32), f64::from(value));
        Ref::new(Expr::ConstFloat { span: caller_span(), r#type, value })
    }

    /// Returns a call.
    #[must_use]
    #[track_caller]
    pub fn call(
        &self,
        callee: &CalleeRef,
        args: impl IntoIterator<Item = ExprRef>,
        ty: impl IntoType,
    ) -> ExprRef {
        Expr::call(callee, args, ty, caller_span())
    }

    /// Adds an existing statement.
    pub fn push(&mut self, stmt: StmtRef) {
        self.stmts.push(stmt);
    }

    /// Adds an assignment to a new variable and returns the variable.
    #[track_caller]
    pub fn let_(&mut self, name: &str, value: &ExprRef) -> Var {
        let var = Var::new(name, value.ty(), caller_span());
        self.stmts.push(Stmt::assign(&var, value, caller_span()));
        var
    }

    /// Adds an assignment to an existing variable.
    #[track_caller]
    pub fn assign(&mut self, var: &Var, value: &ExprRef) {
        self.stmts.push(Stmt::assign(var, value, caller_span()));
    }

    /// Adds an expression statement.
    #[track_caller]
    pub fn eval(&mut self, expr: &ExprRef) {
        self.stmts.push(Stmt::eval(expr, caller_span()));
    }

    /// Adds a `yield`, which ends this body.
    #[track_caller]
    pub fn yield_(&mut self, values: impl IntoIterator<Item = ExprRef>) {
        self.stmts.push(Stmt::yield_(values, caller_span()));
    }

    /// Adds a `return`, which ends the function.
    #[track_caller]
    pub fn return_(&mut self, values: impl IntoIterator<Item = ExprRef>) {
        self.stmts.push(Stmt::return_(values, caller_span()));
    }

    /// Adds an `if` without `else`.
    #[track_caller]
    pub fn if_(&mut self, condition: &ExprRef, then: impl FnOnce(&mut Self)) {
        let span = caller_span();
        let then = Self::build_block(then);
        self.stmts.push(Stmt::if_(condition, &then, None, [], span));
    }

    /// Adds an `if` with `else` and returns its results; both branches yield one value for each name and type.
    #[track_caller]
    pub fn if_else(
        &mut self,
        condition: &ExprRef,
        results: &[(&str, TypeRef)],
        then: impl FnOnce(&mut Self),
        otherwise: impl FnOnce(&mut Self),
    ) -> Vec<Var> {
        let span = caller_span();
        let (then, otherwise) = (Self::build_block(then), Self::build_block(otherwise));
        let vars: Vec<Var> = results.iter().map(|(name, ty)| Var::new(name, ty, span)).collect();
        self.stmts.push(Stmt::if_(condition, &then, Some(&otherwise), vars.clone(), span));
        vars
    }

    /// Adds an `if` with `else` whose results are variables that both branches assign.
    #[track_caller]
    pub fn if_assigning(
        &mut self,
        condition: &ExprRef,
        results: &[Var],
        then: impl FnOnce(&mut Self),
        otherwise: impl FnOnce(&mut Self),
    ) {
        let span = caller_span();
        let (then, otherwise) = (Self::build_block(then), Self::build_block(otherwise));
        let results = results.iter().cloned();
        self.stmts.push(Stmt::if_(condition, &then, Some(&otherwise), results, span));
    }

    /// Adds a `for` over `[start, stop, step]` whose results are variables that its body assigns.
    #[track_caller]
    pub fn for_assigning(
        &mut self,
        name: &str,
        range: [&ExprRef; 3],
        results: &[Var],
        body: impl FnOnce(&mut Self, &Var),
    ) {
        let span = caller_span();
        let var = Var::new(name, range[0].ty(), span);
        let body = Self::build_block(|block| body(block, &var));
        self.stmts.push(Stmt::for_(&var, range, [], &body, results.iter().cloned(), span));
    }

    /// Adds a `while` whose results are variables that its body assigns.
    #[track_caller]
    pub fn while_assigning(
        &mut self,
        condition: &ExprRef,
        results: &[Var],
        body: impl FnOnce(&mut Self),
    ) {
        let span = caller_span();
        let body = Self::build_block(body);
        self.stmts.push(Stmt::while_([], condition, &body, results.iter().cloned(), span));
    }

    /// Adds a `for` over `[start, stop, step]` without iteration arguments.
    #[track_caller]
    pub fn for_(&mut self, name: &str, range: [&ExprRef; 3], body: impl FnOnce(&mut Self, &Var)) {
        let span = caller_span();
        let var = Var::new(name, range[0].ty(), span);
        let body = Self::build_block(|block| body(block, &var));
        self.stmts.push(Stmt::for_(&var, range, [], &body, [], span));
    }

    /// Adds a `for` over `[start, stop, step]` with named initial values; returns its results, which have the same names.
    #[track_caller]
    pub fn for_iter(
        &mut self,
        name: &str,
        range: [&ExprRef; 3],
        inits: &[(&str, &ExprRef)],
        body: impl FnOnce(&mut Self, &Var, &[IterArg]),
    ) -> Vec<Var> {
        let span = caller_span();
        let var = Var::new(name, range[0].ty(), span);
        let (args, results) = iter_args_and_results(inits, span);
        let body = Self::build_block(|block| body(block, &var, &args));
        self.stmts.push(Stmt::for_(&var, range, args, &body, results.clone(), span));
        results
    }

    /// Adds a `while` without iteration arguments.
    #[track_caller]
    pub fn while_(&mut self, condition: &ExprRef, body: impl FnOnce(&mut Self)) {
        let span = caller_span();
        let body = Self::build_block(body);
        self.stmts.push(Stmt::while_([], condition, &body, [], span));
    }

    /// Adds a `while` with named initial values; returns its results, which have the same names.
    #[track_caller]
    pub fn while_iter(
        &mut self,
        inits: &[(&str, &ExprRef)],
        condition: impl FnOnce(&Self, &[IterArg]) -> ExprRef,
        body: impl FnOnce(&mut Self, &[IterArg]),
    ) -> Vec<Var> {
        let span = caller_span();
        let (args, results) = iter_args_and_results(inits, span);
        let condition = condition(self, &args);
        let body = Self::build_block(|block| body(block, &args));
        self.stmts.push(Stmt::while_(args, &condition, &body, results.clone(), span));
        results
    }
}

fn iter_args_and_results(inits: &[(&str, &ExprRef)], span: Span) -> (Vec<IterArg>, Vec<Var>) {
    let arg = |(name, init): &(&str, &ExprRef)| IterArg::new(name, init.ty(), init, span);
    let result = |(name, init): &(&str, &ExprRef)| Var::new(name, init.ty(), span);
    (inits.iter().map(arg).collect(), inits.iter().map(result).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Program, VerifyLevel, verify};

    /// Uses a tuple, a cast, constants of every class, and results by assignment.
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
        let problems = verify(&program, VerifyLevel::WellFormed);
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
        let problems = verify(&program, VerifyLevel::Ssa);
        assert!(problems.is_empty(), "{problems:?}");
    }
}
