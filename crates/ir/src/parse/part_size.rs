//! Sizes of parts of tensors: differences of bounds, in which equal terms cancel.

use sapwood_structural::equal;
use sapwood_types::{DataType, Span};

use crate::nodes::{BinaryOp, Expr, ExprRef, Type, TypeRef, UnaryOp};

type IdSet = hashbrown::HashSet<usize, rustc_hash::FxBuildHasher>;

/// The most operators of a bound that are read; a larger bound is one term.
const MAX_BOUND_NODES: usize = 256;

/// A sum of terms with integer factors. Nothing is assumed of the terms: they may be negative.
#[derive(Default)]
pub(super) struct LinearSum {
    terms: Vec<(ExprRef, i128)>,
    constant: i128,
}

impl LinearSum {
    /// Adds an expression times a factor; returns none if a number does not fit 128 bits.
    pub(super) fn add(&mut self, expr: &ExprRef, factor: i128) -> Option<()> {
        self.add_part(expr, factor, &mut { MAX_BOUND_NODES })
    }

    /// Adds a number; returns none if the sum does not fit 128 bits.
    pub(super) fn add_number(&mut self, number: i128) -> Option<()> {
        self.constant = self.constant.checked_add(number)?;
        Some(())
    }

    fn add_part(&mut self, expr: &ExprRef, factor: i128, left: &mut usize) -> Option<()> {
        if let Some(number) = expr.as_int() {
            return self.add_number(number.checked_mul(factor)?);
        }
        if *left > 0 {
            *left -= 1;
            match expr.as_binary() {
                Some((BinaryOp::Add, a, b)) => {
                    self.add_part(a, factor, left)?;
                    return self.add_part(b, factor, left);
                }
                Some((BinaryOp::Sub, a, b)) => {
                    self.add_part(a, factor, left)?;
                    return self.add_part(b, factor.checked_neg()?, left);
                }
                Some((BinaryOp::Mul, a, b)) => match (a.as_int(), b.as_int()) {
                    (Some(number), _) => {
                        return self.add_part(b, factor.checked_mul(number)?, left);
                    }
                    (_, Some(number)) => {
                        return self.add_part(a, factor.checked_mul(number)?, left);
                    }
                    _ => {}
                },
                Some(_) => {}
                None => {
                    if let Some((UnaryOp::Neg, operand)) = expr.as_unary() {
                        return self.add_part(operand, factor.checked_neg()?, left);
                    }
                }
            }
        }
        let is_same = |term: &ExprRef| term.same(expr) || equal(term, expr).unwrap_or(false);
        match self.terms.iter_mut().find(|(term, _)| is_same(term)) {
            Some((_, known)) => *known = known.checked_add(factor)?,
            None => self.terms.push((expr.clone(), factor)),
        }
        Some(())
    }

    /// Returns the sum as an expression, in the type of its terms if they have one type that holds its numbers, otherwise in `INT64`.
    ///
    /// Returns none if a number does not fit 64 bits.
    pub(super) fn to_expr(&self) -> Option<ExprRef> {
        let terms: Vec<&(ExprRef, i128)> =
            self.terms.iter().filter(|(_, factor)| *factor != 0).collect();
        let dtypes = || terms.iter().map(|(term, _)| term.ty().as_scalar());
        let first = dtypes().next().flatten();
        let numbers = terms.iter().map(|(_, factor)| factor.unsigned_abs());
        let numbers = numbers.chain([self.constant.unsigned_abs()]).max().unwrap_or(0);
        let holds = |dtype: DataType| {
            let range = dtype.integer_range();
            range.is_some_and(|(_, max)| i128::try_from(numbers).is_ok_and(|n| n <= max))
        };
        let dtype = first.filter(|&dtype| dtypes().all(|other| other == first) && holds(dtype));
        let dtype = dtype.unwrap_or(DataType::I64);
        let unknown = Span::unknown();
        let number = |number: i128| Expr::const_int(number, dtype, unknown).ok();
        let mut sum: Option<ExprRef> = None;
        if !terms.iter().any(|(_, factor)| *factor > 0) {
            sum = Some(number(self.constant)?);
        }
        let starts_with_number = sum.is_some();
        for is_positive in [true, false] {
            for (term, factor) in terms.iter().filter(|(_, factor)| (*factor > 0) == is_positive) {
                let term = match term.ty().as_scalar() == Some(dtype) {
                    true => term.clone(),
                    false => Expr::cast(term, dtype, unknown),
                };
                let size = i128::try_from(factor.unsigned_abs()).ok()?;
                let term = match size {
                    1 => term,
                    _ => Expr::binary(BinaryOp::Mul, &term, &number(size)?, dtype, unknown),
                };
                let op = if is_positive { BinaryOp::Add } else { BinaryOp::Sub };
                sum = Some(match sum {
                    Some(sum) => Expr::binary(op, &sum, &term, dtype, unknown),
                    None => term,
                });
            }
        }
        let sum = sum?;
        if self.constant == 0 || starts_with_number {
            return Some(sum);
        }
        let op = if self.constant > 0 { BinaryOp::Add } else { BinaryOp::Sub };
        let constant = number(i128::try_from(self.constant.unsigned_abs()).ok()?)?;
        Some(Expr::binary(op, &sum, &constant, dtype, unknown))
    }
}

/// Returns the variables in the dims of a tensor type, each once.
pub(super) fn vars_of_dims(ty: &TypeRef) -> Vec<ExprRef> {
    let mut vars = Vec::new();
    if let Type::Tensor { shape, .. } = &**ty {
        visit_parts(shape.iter(), |expr| {
            if expr.is_var() {
                vars.push(expr.clone());
            }
        });
    }
    vars
}

/// Visits each part of some expressions once.
fn visit_parts<'a>(
    roots: impl IntoIterator<Item = &'a ExprRef>,
    mut visit: impl FnMut(&'a ExprRef),
) {
    let mut seen = IdSet::default();
    let mut worklist: Vec<&ExprRef> = roots.into_iter().collect();
    worklist.reverse();
    while let Some(expr) = worklist.pop() {
        if seen.insert(expr.node().id()) {
            visit(expr);
            worklist.extend(expr.operands());
        }
    }
}
