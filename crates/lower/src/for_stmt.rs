//! `for` statements, which become `scan` if the number of trips is a constant, and `while` otherwise.
//!
//! The loop variable never wraps around, as in Python. If counting up to `stop` cannot wrap around, the loop compares the
//! variable with `stop`. Otherwise it computes its number of trips in advance and counts them down.

use sapwood_ir::{Expr, ExprRef, Stmt, StmtRef, UnaryOp};
use sapwood_ptir::ops::{Abs, Add, And, Direction, Div, Or, Scan, Select, Sub, While};
use sapwood_ptir::{Op, TensorType, ValueId, ValueType};
use sapwood_types::{DataType, Span};

use crate::function::FunctionLowering;
use crate::scope::LoweredValue;

/// The way in which a loop decides when to stop.
enum TripCount {
    /// After a constant number of trips.
    Static(i64),
    /// When the comparison of the variable with `stop` fails.
    CompareWithStop(Direction),
    /// When a counter that starts at the computed number of trips reaches zero.
    CountedDown,
}

/// The lowered bounds of a `range`.
struct RangeValues {
    start: ValueId,
    stop: ValueId,
    step: ValueId,
    dtype: DataType,
}

impl<'a> FunctionLowering<'a> {
    /// Lowers a `for`; with `may_return` it also stops when the function has returned.
    pub(crate) fn lower_for(&mut self, stmt: &'a StmtRef, may_return: bool) {
        let Stmt::For { loop_var, start, stop, step, iter_args, body, return_vars, .. } = &**stmt
        else {
            return;
        };
        let span = self.span;
        let trips = trip_count([start, stop, step], may_return);
        // A scan counts by itself; it carries the loop variable only if an expression reads it.
        let is_static = matches!(trips, TripCount::Static(_));
        let carries_loop_var = !is_static || self.summary.is_read(loop_var.expr());
        let stop = if is_static { start } else { stop };
        let step = if carries_loop_var { step } else { start };
        let values = [start, stop, step].map(|expr| self.lower_expr(expr));
        let inits = self.lower_exprs(stmt.init_values());
        let range = self.check_range(values, span);
        let carries = self.loop_carries(iter_args, inits, body, Some(loop_var));
        let counts_down = matches!(trips, TripCount::CountedDown);
        let count =
            range.as_ref().filter(|_| counts_down).and_then(|r| self.emit_trip_count(r, span));
        let mut counters: Vec<LoweredValue> = Vec::new();
        let mut types: Vec<ValueType> = Vec::new();
        if let Some(range) = &range {
            let ty = ValueType::from(TensorType::scalar(range.dtype));
            if counts_down {
                counters.push(count);
                types.push(TensorType::scalar(unsigned_of_same_width(range.dtype)).into());
            }
            if carries_loop_var {
                counters.push(Some(range.start));
                types.push(ty);
            }
        }
        let name = carries_loop_var.then(|| loop_var.name());
        let cond = match (&trips, &range) {
            (TripCount::Static(_), _) | (_, None) => None,
            (trips, Some(range)) => {
                let region = self.open_loop_region(&types, name, &carries);
                let mut continues = self.loop_condition(trips, &region.counters, range, span);
                if may_return {
                    continues = self.continues_unless_returned(continues, span);
                }
                self.close_loop_region(&region, vec![continues])
            }
        };
        let region = self.open_loop_region(&types, name, &carries);
        let at = region.counters.last().copied().filter(|_| carries_loop_var);
        self.bind(loop_var.expr(), at);
        let next = self.lower_loop_body(body, &carries);
        self.span = span;
        let mut yielded = match &range {
            Some(range) => {
                self.next_counters(&region.counters, counts_down, carries_loop_var, range, span)
            }
            None => Vec::new(),
        };
        yielded.extend(next);
        let body = self.close_loop_region(&region, yielded);
        let first = self.initial_values(&counters, &carries);
        let results = range.and(first.zip(body)).and_then(|(inits, body)| {
            let parts = match trips {
                TripCount::Static(count) => Scan {
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
            && carries_loop_var
        {
            self.hint_name(results.get(counters.len() - 1).copied(), loop_var.name());
        }
        self.bind_loop_results(results.as_deref(), counters.len(), &carries, return_vars);
    }

    fn check_range(&mut self, values: [LoweredValue; 3], span: Span) -> Option<RangeValues> {
        let [start, stop, step] = values;
        let (start, stop, step) = (start?, stop?, step?);
        let ty = self.expect_tensor(start, "the start of a loop", span)?;
        if ty.rank() > 0 || !ty.dtype.is_integer() {
            let message = format!("the start of a loop is {ty}, expected an integer scalar");
            self.report(span, message);
            return None;
        }
        for (bound, value) in [("stop", stop), ("step", step)] {
            let found = self.expect_tensor(value, "a range", span)?;
            if found != ty {
                let message = format!("the start of a loop is {ty} and its {bound} is {found}");
                self.report_with_help(span, message, "cast one of them");
                return None;
            }
        }
        Some(RangeValues { start, stop, step, dtype: ty.dtype })
    }

    fn loop_condition(
        &mut self,
        trips: &TripCount,
        counters: &[ValueId],
        range: &RangeValues,
        span: Span,
    ) -> LoweredValue {
        match trips {
            TripCount::CompareWithStop(direction) => {
                self.emit_compare(*direction, *counters.last()?, range.stop, span)
            }
            _ => {
                let zero = self.int_constant(0, unsigned_of_same_width(range.dtype), span)?;
                self.emit_compare(Direction::Ne, *counters.first()?, zero, span)
            }
        }
    }

    /// Emits the counters of the next trip.
    fn next_counters(
        &mut self,
        counters: &[ValueId],
        counts_down: bool,
        carries_loop_var: bool,
        range: &RangeValues,
        span: Span,
    ) -> Vec<LoweredValue> {
        let mut next = Vec::new();
        if counts_down {
            let one = self.int_constant(1, unsigned_of_same_width(range.dtype), span);
            next.push(one.and_then(|rhs| self.emit(Sub { lhs: counters[0], rhs }, span)));
        }
        if let Some(&lhs) = counters.last().filter(|_| carries_loop_var) {
            next.push(self.emit(Add { lhs, rhs: range.step }, span));
        }
        next
    }

    /// Emits the number of trips: `(distance - 1) / |step| + 1` in the direction of the step, or 0 for an empty range.
    fn emit_trip_count(&mut self, range: &RangeValues, span: Span) -> LoweredValue {
        let &RangeValues { start, stop, step, dtype } = range;
        let wide = unsigned_of_same_width(dtype);
        let zero = self.int_constant(0, dtype, span)?;
        let rises = self.emit_compare(Direction::Lt, start, stop, span)?;
        let counts_up = self.emit_compare(Direction::Gt, step, zero, span)?;
        let up = self.emit(And { lhs: rises, rhs: counts_up }, span)?;
        let ahead = self.emit(Sub { lhs: stop, rhs: start }, span)?;
        let (goes, distance, size) = if dtype.is_unsigned_integer() {
            (up, ahead, step)
        } else {
            let falls = self.emit_compare(Direction::Gt, start, stop, span)?;
            let counts_down = self.emit_compare(Direction::Lt, step, zero, span)?;
            let down = self.emit(And { lhs: falls, rhs: counts_down }, span)?;
            let back = self.emit(Sub { lhs: start, rhs: stop }, span)?;
            let distance = self.emit(Select { pred: up, on_true: ahead, on_false: back }, span)?;
            let size = self.emit(Abs { input: step }, span)?;
            let goes = self.emit(Or { lhs: up, rhs: down }, span)?;
            (goes, self.emit_cast(distance, wide, span)?, self.emit_cast(size, wide, span)?)
        };
        let (one, none) = (self.int_constant(1, wide, span)?, self.int_constant(0, wide, span)?);
        let before_last = self.emit(Sub { lhs: distance, rhs: one }, span)?;
        let steps = self.emit(Div { lhs: before_last, rhs: size }, span)?;
        let on_true = self.emit(Add { lhs: steps, rhs: one }, span)?;
        self.emit(Select { pred: goes, on_true, on_false: none }, span)
    }
}

/// Returns the unsigned type of the same width.
fn unsigned_of_same_width(dtype: DataType) -> DataType {
    match dtype {
        DataType::I4 => DataType::U4,
        DataType::I8 => DataType::U8,
        DataType::I16 => DataType::U16,
        DataType::I32 => DataType::U32,
        DataType::I64 | DataType::Index => DataType::U64,
        other => other,
    }
}

/// Returns the value of an integer literal or a negated one.
fn literal_int(expr: &ExprRef) -> Option<i128> {
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

/// Chooses how a loop over a range stops; a loop that may stop early has no constant number of trips.
fn trip_count(range: [&ExprRef; 3], may_stop_early: bool) -> TripCount {
    let [start, stop, step] = range.map(literal_int);
    let Some(step) = step.filter(|&step| step != 0) else { return TripCount::CountedDown };
    if let (Some(start), Some(stop)) = (start, stop) {
        let distance = if step > 0 { stop - start } else { start - stop };
        let count = if distance <= 0 { 0 } else { (distance - 1) / step.abs() + 1 };
        if let Ok(count) = i64::try_from(count)
            && !may_stop_early
        {
            return TripCount::Static(count);
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
    if fits { TripCount::CompareWithStop(direction) } else { TripCount::CountedDown }
}
