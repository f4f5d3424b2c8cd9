//! Random well-formed programs, reproducible from a seed or from a tape of choices.

mod choices;

use sapwood_types::{DataType, Span};

pub use choices::ChoiceSource;

use crate::interpret::RunValue;
use crate::interpret::scalar::Scalar;
use crate::nodes::{
    BinaryOp, Callee, Expr, ExprRef, Function, FunctionRef, IterArg, Program, ProgramRef, Stmt,
    StmtRef, Type, TypeRef, UnaryOp, Var,
};

/// The data types of generated values.
const DTYPES: [DataType; 7] = [
    DataType::I64,
    DataType::I32,
    DataType::U8,
    DataType::Bool,
    DataType::F32,
    DataType::F64,
    DataType::Bf16,
];

/// The names of generated variables, among them some that are not valid in text.
const NAMES: [&str; 12] = ["x", "y", "x", "s0", "c0", "x_1", "for", "a b", "größe", "i", "", "pi"];

/// The name of parameters that are used as dims.
const DIM: &str = "n";

/// Generates a well-formed program of a few functions with about `size` statements each.
///
/// It calls only its own functions and the op `emit`, and its loops terminate.
#[must_use]
pub fn program(seed: u64, size: usize) -> ProgramRef {
    program_from_choices(&mut ChoiceSource::new(seed), size)
}

/// Generates a program like [`program`], without early returns, function parameters, unknown types and calls of ops.
#[must_use]
pub fn plain_program(seed: u64, size: usize) -> ProgramRef {
    program_from_choices(&mut ChoiceSource::plain(seed), size)
}

/// Generates a program like [`program`] from the given choices.
#[must_use]
pub fn program_from_choices(random: &mut ChoiceSource, size: usize) -> ProgramRef {
    let mut functions: Vec<FunctionRef> = Vec::new();
    for index in 0..=random.below(3) {
        // Later functions call earlier ones.
        let name = *random.pick(&["f", "g", "main", "min", "not a name"]);
        let function = random_function(random, &format!("{name}{index}"), &functions, size);
        functions.push(function);
    }
    let name = *random.pick(&["", "demo", "with \"quotes\"\n"]);
    match Program::new(functions, name, Span::unknown()) {
        Ok(program) => program,
        Err(error) => unreachable!("names differ: {error}"),
    }
}

/// Implements the op `emit` of the generated programs: logs the call and returns the first argument.
pub fn emit(log: &mut Vec<String>, name: &str, args: &[RunValue]) -> Option<RunValue> {
    log.push(format!("{name} {args:?}"));
    args.first().cloned()
}

/// Generates arguments for a function. A dim that is a parameter has the extent that is passed for it.
#[must_use]
pub fn arguments(random: &mut ChoiceSource, function: &Function) -> Vec<RunValue> {
    let mut dims: Vec<(usize, i64)> = Vec::new();
    let mut args = Vec::with_capacity(function.params.len());
    for param in &function.params {
        let is_dim = |ty: &TypeRef| match &**ty {
            Type::Tensor { shape, .. } => shape.iter().any(|dim| dim.same(param.expr())),
            _ => false,
        };
        args.push(if function.params.iter().any(|other| is_dim(other.ty())) {
            let dim = random.below(4) as i64;
            dims.push((param.id(), dim));
            RunValue::int(dim)
        } else {
            random_value(random, param.ty(), &dims)
        });
    }
    args
}

fn random_value(random: &mut ChoiceSource, ty: &TypeRef, dims: &[(usize, i64)]) -> RunValue {
    match &**ty {
        Type::Tuple { types, .. } => {
            RunValue::Tuple(types.iter().map(|ty| random_value(random, ty, dims)).collect())
        }
        Type::Tensor { dtype, shape, .. } => {
            let dim = |dim: &ExprRef| match dim.as_int() {
                Some(dim) => dim as i64,
                None => {
                    dims.iter().find(|(id, _)| *id == dim.node().id()).map_or(1, |known| known.1)
                }
            };
            let shape: Vec<i64> = shape.iter().map(dim).collect();
            let count = shape.iter().product::<i64>();
            let elements: Vec<Scalar> = (0..count).map(|_| random_scalar(random, *dtype)).collect();
            RunValue::Tensor(shape.into(), elements.into())
        }
        other => RunValue::Scalar(random_scalar(random, other.dtype().unwrap_or(DataType::I64))),
    }
}

fn random_scalar(random: &mut ChoiceSource, dtype: DataType) -> Scalar {
    let small = random.below(9) as i128 - 4;
    if dtype.is_bool() {
        Scalar::Bool(small > 0)
    } else if dtype.is_integer() {
        let wide = i128::from(random.number()) - i128::from(random.number());
        Scalar::int(dtype, if random.one_in(4) { wide } else { small })
    } else {
        let wide = f64::from_bits(random.number());
        Scalar::float(dtype, if random.one_in(4) { wide } else { small as f64 / 2.0 })
    }
}

fn random_type(random: &mut ChoiceSource, depth: usize) -> TypeRef {
    if depth > 0 && random.one_in(6) {
        let types: Vec<TypeRef> =
            (0..random.below(4)).map(|_| random_type(random, depth - 1)).collect();
        return Type::tuple(types);
    }
    Type::scalar(*random.pick(&DTYPES))
}

/// Adds parameters of tensor types, with dims that are numbers or a parameter, and of a function type.
fn add_tensor_params(random: &mut ChoiceSource, params: &mut Vec<Var>) {
    let span = Span::unknown();
    if random.one_in(8) && !random.plain {
        let ty = Type::function([Type::scalar(DataType::I64)], [random_type(random, 1)]);
        params.push(Var::new("callback", ty, span));
    }
    if !random.one_in(3) {
        return;
    }
    let mut dim = Expr::dim(random.below(4) as i64);
    if random.one_in(2) {
        let n = Var::new(DIM, DataType::I64, span);
        dim = n.expr().clone();
        params.push(n);
    }
    let dtype = *random.pick(&DTYPES);
    let shape = if random.one_in(2) { vec![dim, Expr::dim(2)] } else { vec![dim] };
    for name in ["t", "u"] {
        params.push(Var::new(name, Type::tensor(dtype, shape.iter().cloned()), span));
    }
}

fn random_function(
    random: &mut ChoiceSource,
    name: &str,
    callees: &[FunctionRef],
    size: usize,
) -> FunctionRef {
    let span = Span::unknown();
    let mut params: Vec<Var> = (0..random.below(4)).map(|_| random_var(random, None)).collect();
    add_tensor_params(random, &mut params);
    let return_types: Vec<TypeRef> = (0..random.below(3)).map(|_| random_type(random, 1)).collect();
    let mut generator = FunctionGenerator {
        random,
        callees,
        returns: &return_types,
        vars: params.clone(),
        pool: Vec::new(),
        statements_left: size,
    };
    let mut stmts = Vec::new();
    generator.generate_stmts(&mut stmts, 0);
    generator.generate_end(&mut stmts);
    Function::new(name, params, return_types.clone(), &Stmt::block(stmts, span), span)
}

fn random_var(random: &mut ChoiceSource, of: Option<&TypeRef>) -> Var {
    let ty = of.cloned().unwrap_or_else(|| random_type(random, 1));
    Var::new(NAMES[random.below(NAMES.len())], ty, Span::unknown())
}

/// The state of generating one function.
struct FunctionGenerator<'r> {
    random: &'r mut ChoiceSource,
    callees: &'r [FunctionRef],
    /// The result types of the function.
    returns: &'r [TypeRef],
    /// The variables that have a value here.
    vars: Vec<Var>,
    /// The expressions that can be shared here.
    pool: Vec<ExprRef>,
    /// The number of statements still to be generated.
    statements_left: usize,
}

impl FunctionGenerator<'_> {
    fn generate_stmts(&mut self, out: &mut Vec<StmtRef>, depth: usize) {
        let count = 1 + self.random.below(6);
        for _ in 0..count {
            if self.statements_left == 0 {
                break;
            }
            self.statements_left -= 1;
            let stmt = self.generate_stmt(depth);
            out.push(stmt);
        }
    }

    /// Generates the end of a function, mostly a `return`.
    fn generate_end(&mut self, stmts: &mut Vec<StmtRef>) {
        let span = Span::unknown();
        let choice = if self.random.plain { 0 } else { self.random.below(10) };
        match choice {
            // The implicit results, if their types match, or none.
            8 => {}
            9 => match self.returns {
                [ty] if self.random.one_in(2) => {
                    let last = random_var(self.random, Some(ty));
                    let value = self.generate_expr(ty, 2);
                    stmts.push(Stmt::assign(&last, &value, span));
                }
                types => {
                    let values: Vec<ExprRef> =
                        types.iter().map(|ty| self.generate_expr(ty, 2)).collect();
                    stmts.push(Stmt::yield_(values, span));
                }
            },
            _ => stmts.push(self.generate_return()),
        }
    }

    /// Generates a body that yields values of these types; its definitions are not visible afterwards.
    fn generate_body(
        &mut self,
        depth: usize,
        values: &[TypeRef],
        before: impl FnOnce(&mut Self),
    ) -> StmtRef {
        let (vars, pool) = (self.vars.len(), self.pool.len());
        before(self);
        let mut stmts = Vec::new();
        self.generate_stmts(&mut stmts, depth + 1);
        if !values.is_empty() {
            let values: Vec<ExprRef> = values.iter().map(|ty| self.generate_expr(ty, 3)).collect();
            stmts.push(Stmt::yield_(values, Span::unknown()));
        }
        self.vars.truncate(vars);
        self.pool.truncate(pool);
        if stmts.len() == 1 && self.random.one_in(3) && values.is_empty() {
            return Stmt::seq(stmts, Span::unknown());
        }
        Stmt::block(stmts, Span::unknown())
    }

    fn generate_assign(&mut self) -> StmtRef {
        // An iteration argument must not be assigned, and a dim keeps its value.
        let known = (!self.vars.is_empty() && self.random.one_in(3))
            .then(|| self.random.pick(&self.vars).clone())
            .filter(|var| !var.is_iter_arg() && is_scalar_or_tuple(var.ty()) && var.name() != DIM);
        let var = known.clone().unwrap_or_else(|| random_var(self.random, None));
        let value = self.generate_expr(var.ty(), 4);
        if known.is_none() {
            self.vars.push(var.clone());
        }
        Stmt::assign(&var, &value, Span::unknown())
    }

    fn generate_stmt(&mut self, depth: usize) -> StmtRef {
        let span = Span::unknown();
        let kind = if depth > 3 { self.random.below(6) } else { self.random.below(18) };
        match kind {
            0..=2 => self.generate_assign(),
            3 | 15 if self.random.plain => self.generate_assign(),
            3 => self.generate_untyped_assign(),
            12 => self.generate_tensor_assign(),
            13 => self.generate_counting_while(depth),
            14 => self.generate_assigning_for(depth),
            15 => {
                // A branch that returns.
                let condition = self.generate_condition();
                let mut stmts = Vec::new();
                let (vars, pool) = (self.vars.len(), self.pool.len());
                self.generate_stmts(&mut stmts, depth + 1);
                stmts.push(self.generate_return());
                self.vars.truncate(vars);
                self.pool.truncate(pool);
                let body = Stmt::block(stmts, span);
                let other = self.random.one_in(2).then(|| self.generate_body(depth, &[], |_| {}));
                Stmt::if_(&condition, &body, other.as_ref(), [], span)
            }
            4 => Stmt::eval(&self.generate_any_expr(3), span),
            5 => {
                let condition = self.generate_condition();
                let then_body = self.generate_body(depth, &[], |_| {});
                let else_body =
                    self.random.one_in(2).then(|| self.generate_body(depth, &[], |_| {}));
                Stmt::if_(&condition, &then_body, else_body.as_ref(), [], span)
            }
            6 => {
                let condition = self.generate_condition();
                let types: Vec<TypeRef> =
                    (0..=self.random.below(2)).map(|_| random_type(self.random, 1)).collect();
                let then_body = self.generate_body(depth, &types, |_| {});
                let else_body = self.generate_body(depth, &types, |_| {});
                let results: Vec<Var> =
                    types.iter().map(|ty| random_var(self.random, Some(ty))).collect();
                self.vars.extend(results.iter().cloned());
                Stmt::if_(&condition, &then_body, Some(&else_body), results, span)
            }
            7 => {
                // Both branches assign a new variable.
                let condition = self.generate_condition();
                let target = random_var(self.random, None);
                let [first, second] = [(), ()].map(|()| {
                    let value = self.generate_expr(target.ty(), 3);
                    Stmt::assign(&target, &value, span)
                });
                self.vars.push(target.clone());
                let results = if self.random.one_in(2) { vec![target] } else { Vec::new() };
                Stmt::if_(&condition, &first, Some(&second), results, span)
            }
            8 | 9 => self.generate_for(depth),
            10 => self.generate_while(depth),
            _ => {
                let mut stmts = Vec::new();
                if self.random.one_in(2) {
                    stmts.extend((0..self.random.below(4)).map(|_| self.generate_assign()));
                    Stmt::ops(stmts, span)
                } else {
                    self.generate_stmts(&mut stmts, depth + 1);
                    Stmt::seq(stmts, span)
                }
            }
        }
    }

    fn generate_return(&mut self) -> StmtRef {
        let values: Vec<ExprRef> =
            self.returns.iter().map(|ty| self.generate_expr(ty, 3)).collect();
        Stmt::return_(values, Span::unknown())
    }

    /// Generates an assignment of a number to a variable of unknown type.
    fn generate_untyped_assign(&mut self) -> StmtRef {
        let dtype = *self.random.pick(&DTYPES);
        let value = self.generate_expr(&Type::scalar(dtype), 2);
        let var = random_var(self.random, Some(&Type::unknown()));
        self.vars.push(var.clone());
        Stmt::assign(&var, &value, Span::unknown())
    }

    /// Generates elementwise arithmetic of tensors, or another assignment if there are no tensors.
    fn generate_tensor_assign(&mut self) -> StmtRef {
        let span = Span::unknown();
        let tensors: Vec<Var> = self
            .vars
            .iter()
            .filter(|var| matches!(&**var.ty(), Type::Tensor { .. }))
            .cloned()
            .collect();
        if tensors.is_empty() {
            return self.generate_assign();
        }
        let left = self.random.pick(&tensors).clone();
        let Type::Tensor { dtype, shape, .. } = &**left.ty() else { return self.generate_assign() };
        let alike: Vec<&Var> = tensors
            .iter()
            .filter(|other| crate::nodes::small_types_equal(other.ty(), left.ty()))
            .collect();
        let right = if self.random.one_in(3) {
            self.generate_expr(&Type::scalar(*dtype), 2)
        } else {
            self.random.pick(&alike).expr().clone()
        };
        let value = match self.random.below(4) {
            0 => Expr::cast(&left, Type::tensor(DataType::F32, shape.iter().cloned()), span),
            1 => {
                let truth = Type::tensor(DataType::Bool, shape.iter().cloned());
                Expr::eq(&left, &right, truth, span)
            }
            _ => {
                let op = self.choose_operator(*dtype);
                if op.is_predicate() {
                    left.expr().clone()
                } else {
                    Expr::binary(op, &left, &right, left.ty(), span)
                }
            }
        };
        let var = random_var(self.random, Some(value.ty()));
        self.vars.push(var.clone());
        Stmt::assign(&var, &value, span)
    }

    /// Generates a loop that counts in an ordinary variable, which is readable afterwards.
    fn generate_counting_while(&mut self, depth: usize) -> StmtRef {
        let span = Span::unknown();
        let count = Var::new("k", DataType::I64, span);
        let limit = Expr::dim(self.random.below(4) as i64);
        let condition = Expr::lt(&count, &limit, DataType::Bool, span);
        // The counter is hidden from the body, so that nothing else assigns it.
        let inner = self.generate_body(depth, &[], |_| {});
        let next = Expr::add(&count, &Expr::dim(1), DataType::I64, span);
        let body = Stmt::seq([Stmt::assign(&count, &next, span), inner], span);
        let first = Stmt::assign(&count, &Expr::dim(0), span);
        self.vars.push(count);
        Stmt::seq([first, Stmt::while_([], &condition, &body, [], span)], span)
    }

    /// Generates a loop whose result is a variable that its body assigns.
    fn generate_assigning_for(&mut self, depth: usize) -> StmtRef {
        let span = Span::unknown();
        let target = random_var(self.random, None);
        let first = self.generate_expr(target.ty(), 2);
        let loop_var = random_var(self.random, Some(&Type::scalar(DataType::I64)));
        self.vars.push(target.clone());
        let (vars, pool) = (self.vars.len(), self.pool.len());
        self.vars.push(loop_var.clone());
        let mut stmts = Vec::new();
        self.generate_stmts(&mut stmts, depth + 1);
        let value = self.generate_expr(target.ty(), 3);
        stmts.push(Stmt::assign(&target, &value, span));
        self.vars.truncate(vars);
        self.pool.truncate(pool);
        let stop = Expr::dim(self.random.below(3) as i64);
        let range = [&Expr::dim(0), &stop, &Expr::dim(1)];
        let body = Stmt::block(stmts, span);
        let results = if self.random.one_in(2) { vec![target.clone()] } else { Vec::new() };
        let looping = Stmt::for_(&loop_var, range, [], &body, results, span);
        Stmt::seq([Stmt::assign(&target, &first, span), looping], span)
    }

    fn generate_for(&mut self, depth: usize) -> StmtRef {
        let span = Span::unknown();
        let dtype = *self.random.pick(&[DataType::I64, DataType::I32, DataType::U8]);
        let int =
            |value: i64| Expr::const_int(value, dtype, span).unwrap_or_else(|_| Expr::dim(value));
        let up = !dtype.is_signed() || self.random.one_in(2);
        let (start, stop, step) = if up { (0, self.random.below(4) as i64, 1) } else { (3, 0, -2) };
        let loop_var = random_var(self.random, Some(&Type::scalar(dtype)));
        let args = self.generate_iter_args();
        let types: Vec<TypeRef> = args.iter().map(|arg| arg.ty().clone()).collect();
        let inner: Vec<Var> =
            std::iter::once(loop_var.clone()).chain(args.iter().map(IterArg::var)).collect();
        let body = self.generate_body(depth, &types, |generator| generator.vars.extend(inner));
        let results: Vec<Var> = types.iter().map(|ty| random_var(self.random, Some(ty))).collect();
        self.vars.extend(results.iter().cloned());
        Stmt::for_(&loop_var, [&int(start), &int(stop), &int(step)], args, &body, results, span)
    }

    fn generate_iter_args(&mut self) -> Vec<IterArg> {
        let mut args = Vec::new();
        for _ in 0..self.random.below(3) {
            let ty = random_type(self.random, 1);
            let init = self.generate_expr(&ty, 2);
            args.push(IterArg::new(
                NAMES[self.random.below(NAMES.len())],
                ty,
                &init,
                Span::unknown(),
            ));
        }
        args
    }

    /// Generates a loop in which `count` counts up to a small number.
    fn generate_while(&mut self, depth: usize) -> StmtRef {
        let span = Span::unknown();
        let int64 = Type::scalar(DataType::I64);
        let count = IterArg::new("count", &int64, &Expr::dim(0), span);
        let limit = Expr::dim(self.random.below(4) as i64);
        let condition = Expr::lt(&count, &limit, DataType::Bool, span);
        let args = self.generate_iter_args();
        let inner: Vec<Var> =
            std::iter::once(count.var()).chain(args.iter().map(IterArg::var)).collect();
        let types: Vec<TypeRef> = args.iter().map(|arg| arg.ty().clone()).collect();
        let (vars, pool) = (self.vars.len(), self.pool.len());
        self.vars.extend(inner);
        let mut stmts = Vec::new();
        self.generate_stmts(&mut stmts, depth + 1);
        let next = Expr::add(&count, &Expr::dim(1), &int64, span);
        let values: Vec<ExprRef> = std::iter::once(next)
            .chain(types.iter().map(|ty| self.generate_expr(ty, 2)).collect::<Vec<_>>())
            .collect();
        stmts.push(Stmt::yield_(values, span));
        self.vars.truncate(vars);
        self.pool.truncate(pool);
        let results: Vec<Var> = std::iter::once(&int64)
            .chain(&types)
            .map(|ty| random_var(self.random, Some(ty)))
            .collect();
        self.vars.extend(results.iter().cloned());
        let body = Stmt::block(stmts, span);
        Stmt::while_(std::iter::once(count).chain(args), &condition, &body, results, span)
    }

    fn generate_condition(&mut self) -> ExprRef {
        let dtype = *self.random.pick(&[DataType::Bool, DataType::I64, DataType::Bool]);
        self.generate_expr(&Type::scalar(dtype), 3)
    }

    fn generate_any_expr(&mut self, depth: usize) -> ExprRef {
        let ty = random_type(self.random, 1);
        self.generate_expr(&ty, depth)
    }

    /// Generates an expression of a type over the variables that have a value.
    fn generate_expr(&mut self, ty: &TypeRef, depth: usize) -> ExprRef {
        if self.random.one_in(4) {
            let again: Vec<&ExprRef> = self
                .pool
                .iter()
                .filter(|expr| crate::nodes::small_types_equal(expr.ty(), ty))
                .collect();
            if !again.is_empty() {
                return (*self.random.pick(&again)).clone();
            }
        }
        if depth == 0 || self.random.one_in(4) {
            let vars: Vec<&Var> = self
                .vars
                .iter()
                .filter(|var| crate::nodes::small_types_equal(var.ty(), ty))
                .collect();
            if !vars.is_empty() && !self.random.one_in(4) {
                return self.random.pick(&vars).expr().clone();
            }
            if let Type::Scalar { dtype, .. } = &**ty {
                return constant_expr(random_scalar(self.random, *dtype));
            }
        }
        let expr = match &**ty {
            Type::Tuple { types, .. } => {
                let elements: Vec<ExprRef> = types
                    .iter()
                    .map(|ty| self.generate_expr(ty, depth.saturating_sub(1)))
                    .collect();
                Expr::make_tuple(elements, Span::unknown())
            }
            other => self.generate_scalar(other.dtype().unwrap_or(DataType::I64), depth),
        };
        self.pool.push(expr.clone());
        expr
    }

    fn generate_scalar(&mut self, dtype: DataType, depth: usize) -> ExprRef {
        let (span, depth) = (Span::unknown(), depth.saturating_sub(1));
        let own = Type::scalar(dtype);
        match self.random.below(12) {
            0 => {
                let unknown: Vec<&Var> =
                    self.vars.iter().filter(|var| var.ty().is_unknown()).collect();
                if !unknown.is_empty() && self.random.one_in(2) {
                    return Expr::cast(self.random.pick(&unknown).expr(), dtype, span);
                }
                let from = Type::scalar(*self.random.pick(&DTYPES));
                Expr::cast(&self.generate_expr(&from, depth), dtype, span)
            }
            10 if !self.random.plain => {
                Expr::call(&Callee::op("emit"), [self.generate_expr(&own, depth)], own, span)
            }
            11 if dtype.is_bool() || dtype.is_integer() => {
                let operand = Type::scalar(*self.random.pick(&[DataType::Bool, DataType::I64]));
                if self.random.one_in(2) {
                    Expr::unary(UnaryOp::BitNot, &self.generate_expr(&own, depth), dtype, span)
                } else {
                    Expr::unary(UnaryOp::Not, &self.generate_expr(&operand, depth), dtype, span)
                }
            }
            1 => {
                // An element of a new tuple.
                let other = random_type(self.random, 0);
                let elements = [self.generate_expr(&own, depth), self.generate_expr(&other, depth)];
                let tuple = Expr::make_tuple(elements, span);
                Expr::tuple_get_item(&tuple, 0, span).unwrap_or(tuple)
            }
            2 => {
                let callees: Vec<&FunctionRef> = self
                    .callees
                    .iter()
                    .filter(|f| matches!(&*f.return_types, [one] if one.as_scalar() == Some(dtype)))
                    // No expression has a tensor or function type.
                    .filter(|f| f.params.iter().all(|param| is_scalar_or_tuple(param.ty())))
                    .collect();
                if callees.is_empty() {
                    return self.generate_expr(&own, depth);
                }
                let callee = (*self.random.pick(&callees)).clone();
                let args: Vec<ExprRef> = callee
                    .params
                    .iter()
                    .map(|param| self.generate_expr(param.ty(), depth))
                    .collect();
                Expr::call(&Callee::global_var(&callee.name), args, own, span)
            }
            3 if dtype.is_bool() || dtype.is_integer() => {
                // A truth value, also in an integer type.
                let operand = Type::scalar(*self.random.pick(&DTYPES));
                let op = *self.random.pick(&[BinaryOp::Eq, BinaryOp::Ne]);
                Expr::binary(
                    op,
                    &self.generate_expr(&operand, depth),
                    &self.generate_expr(&operand, depth),
                    dtype,
                    span,
                )
            }
            4 if !dtype.is_bool() => {
                let op = *self.random.pick(&[UnaryOp::Neg, UnaryOp::Abs]);
                Expr::unary(op, &self.generate_expr(&own, depth), dtype, span)
            }
            _ => {
                let op = self.choose_operator(dtype);
                if op.is_logical() {
                    // Truth values and integers may be mixed.
                    let [left, right] = [(), ()].map(|()| {
                        let dtype = *self.random.pick(&[DataType::Bool, DataType::I64]);
                        self.generate_expr(&Type::scalar(dtype), depth)
                    });
                    return Expr::binary(op, &left, &right, dtype, span);
                }
                let operand = if op.is_comparison() {
                    Type::scalar(*self.random.pick(&[DataType::I64, DataType::F32, DataType::U8]))
                } else {
                    own
                };
                let (left, right) =
                    (self.generate_expr(&operand, depth), self.generate_expr(&operand, depth));
                Expr::binary(op, &left, &right, dtype, span)
            }
        }
    }

    /// Chooses an operator whose result may have this type.
    fn choose_operator(&mut self, dtype: DataType) -> BinaryOp {
        let fits = |op: &&BinaryOp| {
            if op.is_predicate() {
                dtype.is_bool() || dtype.is_integer()
            } else if op.is_bitwise() {
                let shift = matches!(op, BinaryOp::BitShiftLeft | BinaryOp::BitShiftRight);
                dtype.is_integer() || (dtype.is_bool() && !shift)
            } else {
                !dtype.is_bool()
            }
        };
        let fitting: Vec<BinaryOp> = BinaryOp::ALL.iter().filter(fits).copied().collect();
        *self.random.pick(&fitting)
    }
}

/// Returns whether a type is a scalar or a tuple of such types.
fn is_scalar_or_tuple(ty: &TypeRef) -> bool {
    match &**ty {
        Type::Scalar { .. } => true,
        Type::Tuple { types, .. } => types.iter().all(is_scalar_or_tuple),
        _ => false,
    }
}

fn constant_expr(value: Scalar) -> ExprRef {
    let span = Span::unknown();
    let expr = match value {
        Scalar::Bool(value) => Ok(Expr::const_bool(value, span)),
        Scalar::Int(dtype, value) => Expr::const_int(value, dtype, span),
        Scalar::Float(dtype, value) => Expr::const_float(value, dtype, span),
    };
    match expr {
        Ok(expr) => expr,
        Err(error) => unreachable!("the type is that of the value: {error}"),
    }
}
