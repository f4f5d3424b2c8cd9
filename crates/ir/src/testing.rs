//! Random well-formed programs, the same for the same seed.

use sapwood_types::{DataType, Span};

use crate::interpret::RunValue;
use crate::interpret::scalar::Scalar;
use crate::nodes::{
    BinaryOp, Callee, Expr, ExprRef, Function, FunctionRef, IterArg, Program, ProgramRef, Stmt,
    StmtRef, Type, TypeRef, UnaryOp, Var,
};

const DTYPES: [DataType; 7] = [
    DataType::I64,
    DataType::I32,
    DataType::U8,
    DataType::Bool,
    DataType::F32,
    DataType::F64,
    DataType::Bf16,
];

const NAMES: [&str; 12] = ["x", "y", "x", "s0", "c0", "x_1", "for", "a b", "größe", "i", "", "pi"];

/// A small random number generator (SplitMix64).
pub struct Random(u64);

impl Random {
    /// The one of this seed.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15))
    }

    /// Any number.
    pub fn number(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `limit`, which is not 0.
    pub fn below(&mut self, limit: usize) -> usize {
        (self.number() % limit.max(1) as u64) as usize
    }

    /// One of a list.
    pub fn pick<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        &items[self.below(items.len())]
    }

    fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }
}

/// A random well-formed program of a few functions with about `size` statements each. It calls
/// only functions of its own, and its loops end.
#[must_use]
pub fn program(seed: u64, size: usize) -> ProgramRef {
    let mut random = Random::new(seed);
    let mut functions: Vec<FunctionRef> = Vec::new();
    for index in 0..=random.below(3) {
        // Later functions call earlier ones.
        let name = *random.pick(&["f", "g", "main", "min", "not a name"]);
        let function = function(&mut random, &format!("{name}{index}"), &functions, size);
        functions.push(function);
    }
    let name = *random.pick(&["", "demo", "with \"quotes\"\n"]);
    match Program::new(functions, name, Span::unknown()) {
        Ok(program) => program,
        Err(error) => unreachable!("names differ: {error}"),
    }
}

/// Random arguments for a function.
#[must_use]
pub fn arguments(random: &mut Random, function: &Function) -> Vec<RunValue> {
    function.params.iter().map(|param| value(random, param.ty())).collect()
}

fn value(random: &mut Random, ty: &TypeRef) -> RunValue {
    match &**ty {
        Type::Tuple { types } => {
            RunValue::Tuple(types.iter().map(|ty| value(random, ty)).collect())
        }
        other => RunValue::Scalar(number(random, other.dtype().unwrap_or(DataType::I64))),
    }
}

fn number(random: &mut Random, dtype: DataType) -> Scalar {
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

fn ty(random: &mut Random, depth: usize) -> TypeRef {
    if depth > 0 && random.one_in(6) {
        let types: Vec<TypeRef> = (0..random.below(4)).map(|_| ty(random, depth - 1)).collect();
        return Type::tuple(types);
    }
    Type::scalar(*random.pick(&DTYPES))
}

fn function(random: &mut Random, name: &str, callees: &[FunctionRef], size: usize) -> FunctionRef {
    let params: Vec<Var> = (0..random.below(4)).map(|_| var(random, None)).collect();
    let mut writer = Writer { random, callees, vars: params.clone(), pool: Vec::new(), left: size };
    let mut stmts = Vec::new();
    writer.stmts(&mut stmts, 0);
    let return_types: Vec<TypeRef> =
        (0..writer.random.below(3)).map(|_| ty(writer.random, 1)).collect();
    let values: Vec<ExprRef> = return_types.iter().map(|ty| writer.expr(ty, 3)).collect();
    stmts.push(Stmt::return_(values, Span::unknown()));
    Function::new(name, params, return_types, &Stmt::block(stmts, Span::unknown()), Span::unknown())
}

fn var(random: &mut Random, of: Option<&TypeRef>) -> Var {
    let ty = of.cloned().unwrap_or_else(|| ty(random, 1));
    Var::new(NAMES[random.below(NAMES.len())], ty, Span::unknown())
}

struct Writer<'r> {
    random: &'r mut Random,
    callees: &'r [FunctionRef],
    /// Variables that have a value here.
    vars: Vec<Var>,
    /// Expressions that can be used again here.
    pool: Vec<ExprRef>,
    /// How many statements are still to be written.
    left: usize,
}

impl Writer<'_> {
    fn stmts(&mut self, out: &mut Vec<StmtRef>, depth: usize) {
        let count = 1 + self.random.below(6);
        for _ in 0..count {
            if self.left == 0 {
                break;
            }
            self.left -= 1;
            let stmt = self.stmt(depth);
            out.push(stmt);
        }
    }

    /// A body with what it defines forgotten afterwards; `values` are yielded at its end.
    fn body(
        &mut self,
        depth: usize,
        values: &[TypeRef],
        before: impl FnOnce(&mut Self),
    ) -> StmtRef {
        let (vars, pool) = (self.vars.len(), self.pool.len());
        before(self);
        let mut stmts = Vec::new();
        self.stmts(&mut stmts, depth + 1);
        if !values.is_empty() {
            let values: Vec<ExprRef> = values.iter().map(|ty| self.expr(ty, 3)).collect();
            stmts.push(Stmt::yield_(values, Span::unknown()));
        }
        self.vars.truncate(vars);
        self.pool.truncate(pool);
        if stmts.len() == 1 && self.random.one_in(3) && values.is_empty() {
            return Stmt::seq(stmts, Span::unknown());
        }
        Stmt::block(stmts, Span::unknown())
    }

    fn assign(&mut self) -> StmtRef {
        // Assigning an iteration argument is not allowed, any other variable is.
        let known = (!self.vars.is_empty() && self.random.one_in(3))
            .then(|| self.random.pick(&self.vars).clone())
            .filter(|var| !var.is_iter_arg());
        let var = known.clone().unwrap_or_else(|| var(self.random, None));
        let value = self.expr(var.ty(), 4);
        if known.is_none() {
            self.vars.push(var.clone());
        }
        Stmt::assign(&var, &value, Span::unknown())
    }

    fn stmt(&mut self, depth: usize) -> StmtRef {
        let span = Span::unknown();
        let kind = if depth > 3 { self.random.below(4) } else { self.random.below(12) };
        match kind {
            0..=3 => self.assign(),
            4 => Stmt::eval(&self.any_expr(3), span),
            5 => {
                let condition = self.condition();
                let then_body = self.body(depth, &[], |_| {});
                let else_body = self.random.one_in(2).then(|| self.body(depth, &[], |_| {}));
                Stmt::if_(&condition, &then_body, else_body.as_ref(), [], span)
            }
            6 => {
                let condition = self.condition();
                let types: Vec<TypeRef> =
                    (0..=self.random.below(2)).map(|_| ty(self.random, 1)).collect();
                let then_body = self.body(depth, &types, |_| {});
                let else_body = self.body(depth, &types, |_| {});
                let results: Vec<Var> = types.iter().map(|ty| var(self.random, Some(ty))).collect();
                self.vars.extend(results.iter().cloned());
                Stmt::if_(&condition, &then_body, Some(&else_body), results, span)
            }
            7 => {
                // Both branches assign a new variable.
                let condition = self.condition();
                let target = var(self.random, None);
                let [first, second] = [(), ()].map(|()| {
                    let value = self.expr(target.ty(), 3);
                    Stmt::assign(&target, &value, span)
                });
                self.vars.push(target.clone());
                let results = if self.random.one_in(2) { vec![target] } else { Vec::new() };
                Stmt::if_(&condition, &first, Some(&second), results, span)
            }
            8 | 9 => self.for_loop(depth),
            10 => self.while_loop(depth),
            _ => {
                let mut stmts = Vec::new();
                if self.random.one_in(2) {
                    stmts.extend((0..self.random.below(4)).map(|_| self.assign()));
                    Stmt::ops(stmts, span)
                } else {
                    self.stmts(&mut stmts, depth + 1);
                    Stmt::seq(stmts, span)
                }
            }
        }
    }

    fn for_loop(&mut self, depth: usize) -> StmtRef {
        let span = Span::unknown();
        let dtype = *self.random.pick(&[DataType::I64, DataType::I32, DataType::U8]);
        let int =
            |value: i64| Expr::const_int(value, dtype, span).unwrap_or_else(|_| Expr::dim(value));
        let up = !dtype.is_signed() || self.random.one_in(2);
        let (start, stop, step) = if up { (0, self.random.below(4) as i64, 1) } else { (3, 0, -2) };
        let loop_var = var(self.random, Some(&Type::scalar(dtype)));
        let args = self.iter_args();
        let types: Vec<TypeRef> = args.iter().map(|arg| arg.ty().clone()).collect();
        let inner: Vec<Var> =
            std::iter::once(loop_var.clone()).chain(args.iter().map(IterArg::var)).collect();
        let body = self.body(depth, &types, |writer| writer.vars.extend(inner));
        let results: Vec<Var> = types.iter().map(|ty| var(self.random, Some(ty))).collect();
        self.vars.extend(results.iter().cloned());
        Stmt::for_(&loop_var, [&int(start), &int(stop), &int(step)], args, &body, results, span)
    }

    fn iter_args(&mut self) -> Vec<IterArg> {
        let mut args = Vec::new();
        for _ in 0..self.random.below(3) {
            let ty = ty(self.random, 1);
            let init = self.expr(&ty, 2);
            args.push(IterArg::new(
                NAMES[self.random.below(NAMES.len())],
                ty,
                &init,
                Span::unknown(),
            ));
        }
        args
    }

    /// `n` counts up to a small number.
    fn while_loop(&mut self, depth: usize) -> StmtRef {
        let span = Span::unknown();
        let int64 = Type::scalar(DataType::I64);
        let count = IterArg::new("n", &int64, &Expr::dim(0), span);
        let limit = Expr::dim(self.random.below(4) as i64);
        let condition = Expr::lt(&count, &limit, DataType::Bool, span);
        let args = self.iter_args();
        let inner: Vec<Var> =
            std::iter::once(count.var()).chain(args.iter().map(IterArg::var)).collect();
        let types: Vec<TypeRef> = args.iter().map(|arg| arg.ty().clone()).collect();
        let (vars, pool) = (self.vars.len(), self.pool.len());
        self.vars.extend(inner);
        let mut stmts = Vec::new();
        self.stmts(&mut stmts, depth + 1);
        let next = Expr::add(&count, &Expr::dim(1), &int64, span);
        let values: Vec<ExprRef> = std::iter::once(next)
            .chain(types.iter().map(|ty| self.expr(ty, 2)).collect::<Vec<_>>())
            .collect();
        stmts.push(Stmt::yield_(values, span));
        self.vars.truncate(vars);
        self.pool.truncate(pool);
        let results: Vec<Var> =
            std::iter::once(&int64).chain(&types).map(|ty| var(self.random, Some(ty))).collect();
        self.vars.extend(results.iter().cloned());
        let body = Stmt::block(stmts, span);
        Stmt::while_(std::iter::once(count).chain(args), &condition, &body, results, span)
    }

    fn condition(&mut self) -> ExprRef {
        let dtype = *self.random.pick(&[DataType::Bool, DataType::I64, DataType::Bool]);
        self.expr(&Type::scalar(dtype), 3)
    }

    fn any_expr(&mut self, depth: usize) -> ExprRef {
        let ty = ty(self.random, 1);
        self.expr(&ty, depth)
    }

    /// An expression of a type over the variables that have a value.
    fn expr(&mut self, ty: &TypeRef, depth: usize) -> ExprRef {
        if self.random.one_in(4) {
            let again: Vec<&ExprRef> =
                self.pool.iter().filter(|expr| crate::nodes::types_match(expr.ty(), ty)).collect();
            if !again.is_empty() {
                return (*self.random.pick(&again)).clone();
            }
        }
        if depth == 0 || self.random.one_in(4) {
            let vars: Vec<&Var> =
                self.vars.iter().filter(|var| crate::nodes::types_match(var.ty(), ty)).collect();
            if !vars.is_empty() && !self.random.one_in(4) {
                return self.random.pick(&vars).expr().clone();
            }
            if let Type::Scalar { dtype } = &**ty {
                return constant(number(self.random, *dtype));
            }
        }
        let expr = match &**ty {
            Type::Tuple { types } => {
                let elements: Vec<ExprRef> =
                    types.iter().map(|ty| self.expr(ty, depth.saturating_sub(1))).collect();
                Expr::make_tuple(elements, Span::unknown())
            }
            other => self.scalar(other.dtype().unwrap_or(DataType::I64), depth),
        };
        self.pool.push(expr.clone());
        expr
    }

    fn scalar(&mut self, dtype: DataType, depth: usize) -> ExprRef {
        let (span, depth) = (Span::unknown(), depth.saturating_sub(1));
        let own = Type::scalar(dtype);
        match self.random.below(10) {
            0 => {
                let from = Type::scalar(*self.random.pick(&DTYPES));
                Expr::cast(&self.expr(&from, depth), dtype, span)
            }
            1 => {
                // An element of a tuple that is made right here.
                let other = ty(self.random, 0);
                let elements = [self.expr(&own, depth), self.expr(&other, depth)];
                let tuple = Expr::make_tuple(elements, span);
                Expr::tuple_get_item(&tuple, 0, span).unwrap_or(tuple)
            }
            2 => {
                let callees: Vec<&FunctionRef> = self
                    .callees
                    .iter()
                    .filter(|f| matches!(&*f.return_types, [one] if one.as_scalar() == Some(dtype)))
                    .collect();
                if callees.is_empty() {
                    return self.expr(&own, depth);
                }
                let callee = (*self.random.pick(&callees)).clone();
                let args: Vec<ExprRef> =
                    callee.params.iter().map(|param| self.expr(param.ty(), depth)).collect();
                Expr::call(&Callee::global_var(&callee.name), args, own, span)
            }
            3 if dtype.is_bool() || dtype.is_integer() => {
                // A truth value, also in an integer type.
                let operand = Type::scalar(*self.random.pick(&DTYPES));
                let op = *self.random.pick(&[BinaryOp::Eq, BinaryOp::Ne]);
                Expr::binary(
                    op,
                    &self.expr(&operand, depth),
                    &self.expr(&operand, depth),
                    dtype,
                    span,
                )
            }
            4 if !dtype.is_bool() => {
                let op = *self.random.pick(&[UnaryOp::Neg, UnaryOp::Abs]);
                Expr::unary(op, &self.expr(&own, depth), dtype, span)
            }
            _ => {
                let op = self.operator(dtype);
                let operand = if op.is_logical() {
                    Type::scalar(*self.random.pick(&[DataType::Bool, DataType::I64]))
                } else if op.is_comparison() {
                    Type::scalar(*self.random.pick(&[DataType::I64, DataType::F32, DataType::U8]))
                } else {
                    own
                };
                let (left, right) = (self.expr(&operand, depth), self.expr(&operand, depth));
                Expr::binary(op, &left, &right, dtype, span)
            }
        }
    }

    /// An operator whose result may be of this type.
    fn operator(&mut self, dtype: DataType) -> BinaryOp {
        loop {
            let op = *self.random.pick(&BinaryOp::ALL);
            let fits = if op.is_truth() {
                dtype.is_bool() || dtype.is_integer()
            } else if op.is_bitwise() {
                let shift = matches!(op, BinaryOp::BitShiftLeft | BinaryOp::BitShiftRight);
                dtype.is_integer() || (dtype.is_bool() && !shift)
            } else {
                !dtype.is_bool()
            };
            if fits {
                return op;
            }
        }
    }
}

fn constant(value: Scalar) -> ExprRef {
    let span = Span::unknown();
    let made = match value {
        Scalar::Bool(value) => Ok(Expr::const_bool(value, span)),
        Scalar::Int(dtype, value) => Expr::const_int(value, dtype, span),
        Scalar::Float(dtype, value) => Expr::const_float(value, dtype, span),
    };
    match made {
        Ok(expr) => expr,
        Err(error) => unreachable!("the type is that of the value: {error}"),
    }
}
