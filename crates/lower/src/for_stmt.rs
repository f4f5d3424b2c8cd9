//! `for` becomes `scan` where the number of trips is written down, and `while` elsewhere.
//!
//! The loop variable is Python's: it never passes the end of its type. Where counting up to `stop` cannot wrap around,
//! the loop compares the variable with `stop`; elsewhere it counts its trips, whose number is computed before.

use sapwood_ir::{Expr, ExprRef, Stmt, StmtRef, UnaryOp};
use sapwood_ptir::ops::{Abs, Add, And, Direction, Div, Or, Scan, Select, Sub, While};
use sapwood_ptir::{Op, TensorType, ValueId, ValueType};
use sapwood_types::{DataType, Span};

use crate::function::Lowering;
use crate::scope::Val;

/// How a loop knows when to stop.
enum Trips {
    /// This many.
    Static(i64),
    /// While the variable is below, or above, `stop`.
    Until(Direction),
    /// Counted down from a number that is computed.
    Counted,
}

struct Range {
    start: ValueId,
    stop: ValueId,
    step: ValueId,
    dtype: DataType,
}

impl<'a> Lowering<'a> {
    /// A loop over a range. It stops when the function has returned.
    pub(crate) fn for_stmt(&mut self, stmt: &'a StmtRef, may_return: bool) {
        let Stmt::For {
            init_values,
            loop_var,
            start,
            stop,
            step,
            iter_args,
            body,
            return_vars,
            ..
        } = &**stmt
        else {
            return;
        };
        let span = self.span;
        let trips = trips([start, stop, step], may_return);
        // A scan counts by itself; its variable goes round only if somebody reads it.
        let fixed = matches!(trips, Trips::Static(_));
        let reads = !fixed || self.survey.is_read(loop_var.expr());
        let stop = if fixed { start } else { stop };
        let step = if reads { step } else { start };
        let values = [start, stop, step].map(|expr| self.expr(expr));
        let inits = self.exprs(init_values);
        let range = self.range(values, span);
        let round = self.round(iter_args, inits, body, Some(loop_var));
        let counted = matches!(trips, Trips::Counted);
        let count = range.as_ref().filter(|_| counted).and_then(|r| self.count(r, span));
        let mut counters: Vec<Val> = Vec::new();
        let mut types: Vec<ValueType> = Vec::new();
        if let Some(range) = &range {
            let ty = ValueType::from(TensorType::scalar(range.dtype));
            if counted {
                counters.push(count);
                types.push(TensorType::scalar(unsigned(range.dtype)).into());
            }
            if reads {
                counters.push(Some(range.start));
                types.push(ty);
            }
        }
        let name = reads.then(|| loop_var.name());
        let cond = match (&trips, &range) {
            (Trips::Static(_), _) | (_, None) => None,
            (trips, Some(range)) => {
                let region = self.enter(&types, name, &round);
                let mut goes_on = self.goes_on(trips, &region.counters, range, span);
                if may_return {
                    goes_on = self.goes_on_unless_returned(goes_on, span);
                }
                self.leave(&region, vec![goes_on])
            }
        };
        let region = self.enter(&types, name, &round);
        let at = region.counters.last().copied().filter(|_| reads);
        self.bind(loop_var.expr(), at);
        let next = self.loop_body(body, &round);
        self.span = span;
        let mut yielded = match &range {
            Some(range) => self.advance(&region.counters, counted, reads, range, span),
            None => Vec::new(),
        };
        yielded.extend(next);
        let body = self.leave(&region, yielded);
        let first = self.first_values(&counters, &round);
        let results = range.and(first.zip(body)).and_then(|(inits, body)| {
            let parts = match trips {
                Trips::Static(count) => Scan {
                    carried: inits.len().into(),
                    args: inits.into_iter().collect(),
                    body,
                    length: Some(count.into()),
                    reverse: false,
                }
                .into_parts(),
                _ => While { inits: inits.into_iter().collect(), cond: cond?, body }.into_parts(),
            };
            self.append(&parts, span)
        });
        if let Some(results) = &results
            && reads
        {
            self.name(results.get(counters.len() - 1).copied(), loop_var.name());
        }
        self.after_loop(results.as_deref(), counters.len(), &round, return_vars);
    }

    fn range(&mut self, values: [Val; 3], span: Span) -> Option<Range> {
        let [start, stop, step] = values;
        let (start, stop, step) = (start?, stop?, step?);
        let ty = self.tensor(start, "the start of a loop", span)?;
        if ty.rank() > 0 || !ty.dtype.is_integer() {
            let message = format!("the start of a loop is {ty}, expected an integer scalar");
            self.problem(span, message);
            return None;
        }
        for (what, value) in [("stop", stop), ("step", step)] {
            let found = self.tensor(value, "a range", span)?;
            if found != ty {
                let message = format!("the start of a loop is {ty} and its {what} {found}");
                self.problem_with_help(span, message, "cast one of them");
                return None;
            }
        }
        Some(Range { start, stop, step, dtype: ty.dtype })
    }

    fn goes_on(&mut self, trips: &Trips, counters: &[ValueId], range: &Range, span: Span) -> Val {
        match trips {
            Trips::Until(direction) => {
                self.compare(*direction, *counters.last()?, range.stop, span)
            }
            _ => {
                let zero = self.int(0, unsigned(range.dtype), span)?;
                self.compare(Direction::Ne, *counters.first()?, zero, span)
            }
        }
    }

    /// The counters of the next trip.
    fn advance(
        &mut self,
        counters: &[ValueId],
        counted: bool,
        reads: bool,
        range: &Range,
        span: Span,
    ) -> Vec<Val> {
        let mut next = Vec::new();
        if counted {
            let one = self.int(1, unsigned(range.dtype), span);
            next.push(one.and_then(|rhs| self.emit(Sub { lhs: counters[0], rhs }, span)));
        }
        if let Some(&lhs) = counters.last().filter(|_| reads) {
            next.push(self.emit(Add { lhs, rhs: range.step }, span));
        }
        next
    }

    /// The number of trips: `(distance - 1) / |step| + 1` in the direction of the step, 0 if there is nothing.
    fn count(&mut self, range: &Range, span: Span) -> Val {
        let &Range { start, stop, step, dtype } = range;
        let wide = unsigned(dtype);
        let zero = self.int(0, dtype, span)?;
        let rises = self.compare(Direction::Lt, start, stop, span)?;
        let counts_up = self.compare(Direction::Gt, step, zero, span)?;
        let up = self.emit(And { lhs: rises, rhs: counts_up }, span)?;
        let ahead = self.emit(Sub { lhs: stop, rhs: start }, span)?;
        let (goes, distance, size) = if dtype.is_unsigned_integer() {
            (up, ahead, step)
        } else {
            let falls = self.compare(Direction::Gt, start, stop, span)?;
            let counts_down = self.compare(Direction::Lt, step, zero, span)?;
            let down = self.emit(And { lhs: falls, rhs: counts_down }, span)?;
            let back = self.emit(Sub { lhs: start, rhs: stop }, span)?;
            let distance = self.emit(Select { pred: up, on_true: ahead, on_false: back }, span)?;
            let size = self.emit(Abs { input: step }, span)?;
            let goes = self.emit(Or { lhs: up, rhs: down }, span)?;
            (goes, self.cast(distance, wide, span)?, self.cast(size, wide, span)?)
        };
        let (one, none) = (self.int(1, wide, span)?, self.int(0, wide, span)?);
        let before_last = self.emit(Sub { lhs: distance, rhs: one }, span)?;
        let steps = self.emit(Div { lhs: before_last, rhs: size }, span)?;
        let on_true = self.emit(Add { lhs: steps, rhs: one }, span)?;
        self.emit(Select { pred: goes, on_true, on_false: none }, span)
    }
}

/// The unsigned type of the same width.
fn unsigned(dtype: DataType) -> DataType {
    match dtype {
        DataType::I4 => DataType::U4,
        DataType::I8 => DataType::U8,
        DataType::I16 => DataType::U16,
        DataType::I32 => DataType::U32,
        DataType::I64 | DataType::Index => DataType::U64,
        other => other,
    }
}

/// A number that is written down.
fn number(expr: &ExprRef) -> Option<i128> {
    match expr.as_unary() {
        Some((UnaryOp::Neg, operand)) => {
            let (_, max) = expr.ty().as_scalar()?.integer_range()?;
            operand
                .as_int()
                .filter(|&n| {
                    0 <= n && n <= max && expr.ty().as_scalar().is_some_and(DataType::is_signed)
                })
                .map(|n| -n)
        }
        _ => match &**expr {
            Expr::ConstInt { value, .. } => Some(value.get()),
            _ => None,
        },
    }
}

/// How a loop over a range knows when to stop; one that may stop before has no fixed number of trips.
fn trips(range: [&ExprRef; 3], may_stop: bool) -> Trips {
    let [start, stop, step] = range.map(number);
    let Some(step) = step.filter(|&step| step != 0) else { return Trips::Counted };
    if let (Some(start), Some(stop)) = (start, stop) {
        let distance = if step > 0 { stop - start } else { start - stop };
        let count = if distance <= 0 { 0 } else { (distance - 1) / step.abs() + 1 };
        if let Ok(count) = i64::try_from(count)
            && !may_stop
        {
            return Trips::Static(count);
        }
    }
    let direction = if step > 0 { Direction::Lt } else { Direction::Gt };
    // The last trip starts before `stop`, so its end is at most `stop - 1 + step`.
    let limits = range[0].ty().as_scalar().and_then(DataType::integer_range);
    let fits = match (stop, limits) {
        _ if step.abs() == 1 => true,
        (Some(stop), Some((min, max))) => {
            if step > 0 {
                stop - 1 + step <= max
            } else {
                stop + 1 + step >= min
            }
        }
        _ => false,
    };
    if fits { Trips::Until(direction) } else { Trips::Counted }
}
