//! Loops whose steps do not depend on each other: reductions and maps, written as loops.

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;
use sapwood_ptir::cost::{Amount, trip_count};
use sapwood_ptir::ops::{
    Add, Compare, Direction, DynamicSlice, DynamicUpdateSlice, Iota, Mul, Reshape, Scan, Select,
    While,
};
use sapwood_ptir::{
    BodyId, Dim, Function, InstId, Int, OpKey, TensorLiteral, TensorType, Value, ValueDef,
    ValueType, Values,
};
use sapwood_types::DataType;

use super::batch::{Batch, Lane};
use super::product_axes::{may_reorder, move_axis};
use crate::canonicalize::reducer::{named_reduction_of, neutral_element};
use crate::canonicalize::tensor_views::{NamedReduction, int_element_at, slice_rows};
use crate::pattern::{Binary, Rewrite, RootView, Roots};

crate::patterns! { "loops":
    loop_as_batch hops 1,
}

/// The largest number of instructions of a loop that becomes a batch.
const MAX_LOOP_INSTS: usize = 256;

/// The largest number of steps of a loop that becomes a batch.
const MAX_STEPS: u128 = 1 << 31;

/// A `while` or a `scan` with a known number of steps, at least one.
struct LoopView {
    root: InstId,
    body: BodyId,
    carried: usize,
    steps: u64,
}

impl RootView for LoopView {
    fn roots() -> Roots {
        Roots::all([Roots::of::<While>(), Roots::of::<Scan>()])
    }

    fn read(f: &Function, root: InstId) -> Option<Self> {
        let steps = match trip_count(f, root) {
            Amount::Known(steps @ 1..MAX_STEPS) => u64::try_from(steps).ok()?,
            _ => return None,
        };
        let inits = f.operands(root).len();
        let (body, carried) = match *f.regions(root) {
            [_, body] if f.is::<While>(root) => (body, inits),
            // A reverse scan reads and writes rows from the end, while its counters run forwards.
            [body] if f.view::<Scan>(root).is_some_and(|scan| !scan.reverse) => {
                let carried = f.attr(root, "carried")?.as_int()?;
                (body, usize::try_from(carried).ok()?)
            }
            _ => return None,
        };
        Some(Self { root, body, carried, steps })
    }
}

/// A carried value that starts at a number and grows by a number in each step.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Counter {
    start: i128,
    step: i128,
    dtype: DataType,
}

impl Counter {
    // Returns the smallest and the largest value in a number of steps, if the element type holds both.
    fn range(self, steps: u64) -> Option<(i128, i128)> {
        let last = self.start.checked_add(self.step.checked_mul(i128::from(steps) - 1)?)?;
        let (low, high) = (self.start.min(last), self.start.max(last));
        let (least, most) = self.dtype.integer_range()?;
        (least <= low && high <= most).then_some((low, high))
    }
}

/// The role of a carried value.
enum Carry {
    Counter(Counter),
    // The new value is a combination of the old one with a value of the step.
    Reduction { combine: OpKey, named: OpKey, element: Value },
    // The step overwrites one row of a tensor, from the first to the last.
    Rows { update: Value },
}

/// A loop whose steps do not depend on each other becomes operations on all steps at once: sums of values of the steps become reductions, rows that are written one by one
/// become one tensor.
///
/// The number of steps must be known.
///
/// Floats: exact; sums and products of floats need fast.
fn loop_as_batch(op: LoopView, rw: &mut Rewrite<'_>) -> Option<Values> {
    let f = rw.function();
    // Regions in the body are never batched. They are refused before anything looks into them, so that deep loops take linear time.
    let mut insts = f.body_insts(op.body).take(MAX_LOOP_INSTS + 1);
    let is_flat = insts.all(|inst| f.regions(inst).is_empty());
    let is_short = f.body_insts(op.body).nth(MAX_LOOP_INSTS).is_none();
    if !is_flat || !is_short || rw.is_ordered(op.root) || f.may_stop(op.root) {
        return None;
    }
    let results: Vec<Value> = f.inst_results(op.root).collect();
    let yields = rw.yields(op.body);
    let counters: Vec<Option<Counter>> = (0..op.carried).map(|n| op.counter(f, n)).collect();
    let mut carries = Vec::new();
    for (n, counter) in counters.iter().enumerate() {
        carries.push(match *counter {
            Some(counter) => Carry::Counter(counter),
            None => op.carry(rw, &counters, n)?,
        });
    }
    // A loop that only counts has a known result, which is not a matter of cost.
    if carries.len() == yields.len() && carries.iter().all(|c| matches!(c, Carry::Counter(_))) {
        return None;
    }
    let original = f.operands(op.root).iter().copied().chain(results.iter().copied());
    let mut steps = Steps {
        batch: Batch::new(rw, op.steps, original),
        view: &op,
        counters: &counters,
        lanes: HashMap::default(),
    };
    let wanted = carries.iter().filter_map(|carry| match *carry {
        Carry::Counter(_) => None,
        Carry::Reduction { element, .. } => Some(element),
        Carry::Rows { update } => Some(update),
    });
    let stacked = yields.get(op.carried..).unwrap_or_default();
    let wanted: Vec<Value> = wanted.chain(stacked.iter().copied()).collect();
    steps.evaluate(rw, &wanted)?;
    let mut values = Values::new();
    for (n, carry) in carries.iter().enumerate() {
        let init = f.operands(op.root)[n];
        values.push(match *carry {
            Carry::Counter(counter) => op.last_value(rw, counter)?,
            Carry::Reduction { combine, named, element } => {
                let lane = steps.lane(rw, element)?;
                let elements = steps.batch.tensor(rw, lane)?;
                reduce(rw, (combine, named), init, elements)?
            }
            Carry::Rows { update } => {
                let lane = steps.lane(rw, update)?;
                let rows = steps.batch.tensor(rw, lane)?;
                let ty = rw.tensor(init)?.clone();
                rw.emit(Reshape { input: rows, ty: ValueType::from(ty).into() })?
            }
        });
    }
    for &value in stacked {
        let lane = steps.lane(rw, value)?;
        values.push(steps.batch.tensor(rw, lane)?);
    }
    Some(values)
}

// Emits the combination of an initial value with all elements along the leading axis.
fn reduce(
    rw: &mut Rewrite<'_>,
    (combine, named): (OpKey, OpKey),
    init: Value,
    elements: Value,
) -> Option<Value> {
    let reduction = NamedReduction {
        key: named,
        input: elements,
        axes: smallvec::smallvec![0],
        keepdims: false,
        accumulate: None,
    };
    let total = rw.emit_parts(&reduction.with(elements, &[0]))?;
    let neutral = neutral_element(combine, rw.dtype(init)?);
    let is_neutral = neutral.is_some_and(|neutral| {
        rw.splat_of(init).is_some_and(|literal| literal.as_splat() == neutral.as_splat())
    });
    if is_neutral {
        return Some(total);
    }
    let op = Binary { key: combine, lhs: init, rhs: total, attrs: Default::default() };
    rw.emit_parts(&op.with(init, total))
}

impl LoopView {
    fn counter(&self, f: &Function, n: usize) -> Option<Counter> {
        let param = *f.body_params(self.body).get(n)?;
        let ty = f.value_type(param).as_tensor().filter(|ty| ty.rank() == 0)?;
        let integer = |value: Value| int_element_at(f.constant_of(value)?, 0);
        let next: Add = f.def(*f.body_results(self.body).get(n)?)?;
        let step = match () {
            () if next.lhs == param => integer(next.rhs)?,
            () if next.rhs == param => integer(next.lhs)?,
            () => return None,
        };
        let start = integer(*f.operands(self.root).get(n)?)?;
        Some(Counter { start, step, dtype: ty.dtype })
    }

    // Returns the value of a counter after the last step, which wraps as in the loop.
    fn last_value(&self, rw: &mut Rewrite<'_>, counter: Counter) -> Option<Value> {
        let value = counter.start.checked_add(counter.step.checked_mul(self.steps.into())?)?;
        let bytes = value.to_le_bytes();
        let size = counter.dtype.byte_size();
        Some(rw.constant(TensorLiteral::splat(counter.dtype, &[], bytes.get(..size)?).ok()?))
    }

    fn carry(&self, rw: &mut Rewrite<'_>, counters: &[Option<Counter>], n: usize) -> Option<Carry> {
        let f = rw.function();
        let param = *rw.params(self.body).get(n)?;
        let next = *rw.yields(self.body).get(n)?;
        // The old value must have no other use, in the condition neither.
        let asked = f.regions(self.root).iter().filter(|&&region| region != self.body);
        let is_asked = asked.into_iter().any(|&cond| !f.unused(f.body_params(cond)[n]));
        if is_asked || !f.one_use(param) || f.type_id(param) != f.type_id(f.operands(self.root)[n])
        {
            return None;
        }
        if let Some(rows) = f.def::<DynamicUpdateSlice>(next).filter(|op| op.input == param) {
            return self
                .writes_all_rows(rw, counters, &rows)
                .then_some(Carry::Rows { update: rows.update });
        }
        let op = Binary::read(f, f.inst_of(next)?)?;
        let element = if op.lhs == param { op.rhs } else { op.lhs };
        let is_sum = op.key == <Add as sapwood_ptir::Op>::key()
            || op.key == <Mul as sapwood_ptir::Op>::key();
        let may = !is_sum || may_reorder(rw, param);
        let named = named_reduction_of(op.key).filter(|_| may && f.one_use(next))?;
        // Narrow floats would be added in a wider type.
        let is_narrow = |dtype: DataType| dtype.is_float() && dtype.bit_width() < 32;
        let dtype = rw.dtype(param)?;
        let fits = !(is_sum && is_narrow(dtype)) && (op.lhs == param || op.rhs == param);
        fits.then_some(Carry::Reduction { combine: op.key, named, element })
    }

    // Returns true if the steps write the rows of a tensor from the first to the last.
    fn writes_all_rows(
        &self,
        rw: &mut Rewrite<'_>,
        counters: &[Option<Counter>],
        rows: &DynamicUpdateSlice,
    ) -> bool {
        let fits = |rw: &mut Rewrite<'_>| {
            let (shape, update) = (rw.shape(rows.input)?, rw.shape(rows.update)?);
            let counter = self.counter_of(rw.function(), counters, *rows.starts.first()?)?;
            let is_next =
                counter.start == 0 && counter.step == 1 && counter.range(self.steps).is_some();
            let is_row =
                *shape.first()? == self.steps && update[0] == 1 && shape[1..] == update[1..];
            Some(is_next && is_row)
        };
        // The other starts do not matter, because the update is as large as the tensor there.
        fits(rw) == Some(true)
    }

    // Returns a value as a counter: a carried one, or one with the wrap of negative indices around it, `select(i < 0, i + n, i)`.
    fn counter_of(
        &self,
        f: &Function,
        counters: &[Option<Counter>],
        value: Value,
    ) -> Option<Counter> {
        let at = match f.value_def(value) {
            ValueDef::Param(body, n) => return *counters.get(n).filter(|_| body == self.body)?,
            ValueDef::Result(inst, _) => inst,
        };
        let select = f.view::<Select>(at)?;
        let counter = self.counter_of_param(f, counters, select.on_false)?;
        let test: Compare = f.def(select.pred)?;
        let zero = f.constant_of(test.rhs).is_some_and(TensorLiteral::is_zero);
        let is_wrap = test.lhs == select.on_false && test.direction == Direction::Lt && zero;
        (is_wrap && counter.range(self.steps)?.0 >= 0).then_some(counter)
    }

    fn counter_of_param(
        &self,
        f: &Function,
        counters: &[Option<Counter>],
        value: Value,
    ) -> Option<Counter> {
        match f.value_def(value) {
            ValueDef::Param(body, n) if body == self.body => *counters.get(n)?,
            _ => None,
        }
    }
}

/// The values of a loop body in all steps.
struct Steps<'a> {
    batch: Batch,
    view: &'a LoopView,
    counters: &'a [Option<Counter>],
    lanes: HashMap<Value, Lane, FxBuildHasher>,
}

impl Steps<'_> {
    // Evaluates some values of the body and the values that they depend on, in the order of the body.
    fn evaluate(&mut self, rw: &mut Rewrite<'_>, wanted: &[Value]) -> Option<()> {
        let f = rw.function();
        let mut needed: HashMap<InstId, (), FxBuildHasher> = HashMap::default();
        let mut pending: Vec<Value> = wanted.to_vec();
        while let Some(value) = pending.pop() {
            let Some(inst) =
                f.inst_of(value).filter(|&inst| f.body_of(inst) == Some(self.view.body))
            else {
                continue;
            };
            if needed.insert(inst, ()).is_none() && self.row_of(rw, inst).is_none() {
                pending.extend(f.operands(inst).iter().copied());
            }
        }
        for inst in f.body_insts(self.view.body).filter(|inst| needed.contains_key(inst)) {
            let result = f.value_of(inst).filter(|_| f.inst_results(inst).len() == 1)?;
            let lane = self.step(rw, inst)?;
            self.lanes.insert(result, lane);
        }
        Some(())
    }

    fn step(&mut self, rw: &mut Rewrite<'_>, inst: InstId) -> Option<Lane> {
        let f = rw.function();
        if let Some(literal) = f.value_of(inst).and_then(|value| f.constant_of(value)) {
            return Some(Lane::Shared(rw.constant(literal.clone())));
        }
        if let Some((slice, axis, counter)) = self.row_of(rw, inst) {
            return self.emit_rows(rw, &slice, axis, counter).map(Lane::Batched);
        }
        let operands: Option<Vec<Lane>> =
            f.operands(inst).iter().map(|&value| self.lane(rw, value)).collect();
        self.batch.emit(rw, inst, &operands?)
    }

    // Returns a value of the body in all steps.
    fn lane(&mut self, rw: &mut Rewrite<'_>, value: Value) -> Option<Lane> {
        if let Some(&lane) = self.lanes.get(&value) {
            return Some(lane);
        }
        let f = rw.function();
        match f.value_def(value) {
            ValueDef::Param(body, n) if body == self.view.body => match self.counters.get(n) {
                Some(&counter) => self.emit_counter(rw, counter?).map(Lane::Batched),
                // A scanned value: its slices are the steps.
                None => Some(Lane::Batched(f.operands(self.view.root)[n])),
            },
            _ if f.is_available_to(value, self.view.root) => Some(Lane::Shared(value)),
            _ => None,
        }
    }

    // Emits the values of a counter in all steps.
    fn emit_counter(&self, rw: &mut Rewrite<'_>, counter: Counter) -> Option<Value> {
        counter.range(self.batch.count)?;
        let dims = std::iter::once(Dim::Known(self.batch.count)).collect();
        let ty = TensorType { dtype: counter.dtype, dims };
        if !self.batch.fits(&ty) {
            return None;
        }
        let mut value = rw.emit(Iota { axis: Int(0), ty: ValueType::from(ty.clone()).into() })?;
        if counter.step != 1 {
            let rhs = filled(rw, &ty, counter.step)?;
            value = rw.emit(Mul { lhs: value, rhs })?;
        }
        if counter.start != 0 {
            let rhs = filled(rw, &ty, counter.start)?;
            value = rw.emit(Add { lhs: value, rhs })?;
        }
        Some(value)
    }

    // Reads an instruction as the row of a tensor from outside whose index is a counter.
    fn row_of(&self, rw: &Rewrite<'_>, inst: InstId) -> Option<(DynamicSlice, usize, Counter)> {
        let f = rw.function();
        let op = f.view::<DynamicSlice>(inst)?;
        let shape = rw.shape(op.input).filter(|_| f.is_available_to(op.input, self.view.root))?;
        let counters: Vec<Option<Counter>> =
            op.starts.iter().map(|&start| self.view.counter_of(f, self.counters, start)).collect();
        let axis = counters.iter().position(Option::is_some)?;
        let counter = counters[axis]?;
        let (low, high) = counter.range(self.batch.count)?;
        // Along the other axes the slice is whole, so that its starts do not matter.
        let is_whole = |at: usize| at == axis || op.sizes[at] as u64 == shape[at];
        let fits = op.sizes[axis] == 1
            && counter.step == 1
            && low >= 0
            && high < i128::from(shape[axis])
            && (0..shape.len()).all(is_whole);
        fits.then_some((op, axis, counter))
    }

    // Emits the rows as one tensor with a leading axis.
    fn emit_rows(
        &self,
        rw: &mut Rewrite<'_>,
        op: &DynamicSlice,
        axis: usize,
        counter: Counter,
    ) -> Option<Value> {
        let start = u64::try_from(counter.start).ok()?;
        let positions = start..start.checked_add(self.batch.count)?;
        let rows = slice_rows(rw, op.input, axis, positions)?;
        let rows = move_axis(rw, rows, axis, 0)?;
        let sizes = op.sizes.iter().map(|&size| Dim::Known(size as u64)).collect();
        let ty = self.batch.batched_type(&TensorType { dtype: rw.dtype(rows)?, dims: sizes });
        rw.emit(Reshape { input: rows, ty: ValueType::from(ty).into() })
    }
}

fn filled(rw: &mut Rewrite<'_>, ty: &TensorType, number: i128) -> Option<Value> {
    let bytes = number.to_le_bytes();
    let element = bytes.get(..ty.dtype.byte_size())?;
    let literal = TensorLiteral::splat(ty.dtype, &ty.known_shape()?, element).ok()?;
    Some(rw.constant(literal))
}
