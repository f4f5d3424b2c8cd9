//! The state of a running `scan`.

use sapwood_types::counted;
use smallvec::SmallVec;

use super::bound_dims::{BoundDims, bind_dim};
use super::budget::Budget;
use super::context::Results;
use super::control::{Continuation, ControlAction};
use super::error::Fault;
use super::plan::PlanStep;
use super::tensor::{Shape, Tensor, Value, count};
use crate::attr::Attr;
use crate::func::Function;
use crate::types::ValueType;
use crate::with_native;

pub(crate) struct ScanState {
    carried: Results,
    num_carried: usize,
    scanned: SmallVec<[Tensor; 4]>,
    // Created when the first slice is known.
    stacks: SmallVec<[Option<Tensor>; 4]>,
    // The declared types of the stacks, for scans without iterations.
    types: SmallVec<[ValueType; 1]>,
    length: usize,
    done: usize,
    reverse: bool,
}

impl ScanState {
    pub(crate) fn new(
        f: &Function,
        step: &PlanStep,
        mut args: SmallVec<[Value; 4]>,
        dims: &BoundDims,
    ) -> Result<Self, Fault> {
        let int = |name: &str| f.attr(step.inst, name).and_then(Attr::as_int);
        let num_carried = int("carried").and_then(|n| usize::try_from(n).ok());
        let num_carried = num_carried.filter(|&n| n <= args.len());
        let num_carried = num_carried.ok_or_else(|| Fault::op("`carried` is out of range"))?;
        let mut length = int("length").and_then(|n| usize::try_from(n).ok());
        let mut scanned = SmallVec::new();
        for (i, value) in args.drain(num_carried..).enumerate() {
            let Value::Tensor(tensor) = value else {
                return Err(Fault::op("a scanned operand is not a tensor"));
            };
            let Some(&lead) = tensor.shape().first() else {
                return Err(Fault::op("a scanned operand has rank 0"));
            };
            if *length.get_or_insert(lead) != lead {
                return Err(Fault::op(format!(
                    "operand {} has {lead} slices, expected {}",
                    num_carried + i,
                    length.unwrap_or(lead)
                )));
            }
            scanned.push(tensor);
        }
        let known = |ty: &ValueType| ty.map_dims(&mut |d| bind_dim(dims, d));
        let types: SmallVec<[ValueType; 1]> =
            step.types.iter().skip(num_carried).map(known).collect();
        Ok(Self {
            carried: args.into_iter().collect(),
            num_carried,
            scanned,
            stacks: SmallVec::from_elem(None, types.len()),
            types,
            length: length.ok_or_else(|| Fault::op("nothing is scanned, so `length` is needed"))?,
            done: 0,
            reverse: matches!(f.attr(step.inst, "reverse"), Some(Attr::Bool(true))),
        })
    }

    fn index(&self) -> usize {
        if self.reverse { self.length - 1 - self.done } else { self.done }
    }

    /// Returns the next action: run the body on the next slices, or finish with the results.
    pub(crate) fn next_action(
        mut self: Box<Self>,
        budget: &Budget,
    ) -> Result<ControlAction, Fault> {
        let mut args = std::mem::take(&mut self.carried);
        if self.done == self.length {
            for (stack, ty) in self.stacks.iter_mut().zip(&self.types) {
                let stack = stack.take().map_or_else(|| empty_stack(ty), Ok)?;
                args.push(stack.into());
            }
            return Ok(ControlAction::Done(args));
        }
        let index = self.index();
        for tensor in &self.scanned {
            let shape = Shape::from_slice(&tensor.shape()[1..]);
            let size = count(&shape).unwrap_or(0);
            budget.check_memory(size as u64 * tensor.dtype().byte_size() as u64)?;
            args.push(tensor.part(index * size, shape).into());
        }
        Ok(ControlAction::Run { region: 0, args, then: Continuation::Scan(self) })
    }

    /// Stores the values that the body yielded.
    pub(crate) fn store_yielded(
        &mut self,
        mut values: Results,
        budget: &Budget,
    ) -> Result<(), Fault> {
        let index = self.index();
        if values.len() != self.num_carried + self.stacks.len() {
            return Err(Fault::op(format!(
                "the body yields {}, expected {}",
                counted(values.len(), "value"),
                self.num_carried + self.stacks.len()
            )));
        }
        for (i, value) in values.drain(self.num_carried..).enumerate() {
            let Value::Tensor(slice) = value else {
                return Err(Fault::op(format!("stacked result {i} is not a tensor")));
            };
            let stack = match &mut self.stacks[i] {
                Some(stack) => stack,
                none => none.insert(new_stack(&slice, self.length, budget)?),
            };
            let fits = stack.shape()[1..] == *slice.shape();
            if !fits || !stack.overwrite(index * slice.len(), &slice) {
                return Err(Fault::op(format!(
                    "stacked result {i} is {}, but the slices before made {}",
                    slice.ty(),
                    stack.ty()
                )));
            }
        }
        self.carried = values;
        self.done += 1;
        Ok(())
    }
}

fn new_stack(slice: &Tensor, length: usize, budget: &Budget) -> Result<Tensor, Fault> {
    let shape: Shape = std::iter::once(length).chain(slice.shape().iter().copied()).collect();
    let len = count(&shape).ok_or_else(|| Fault::TooLarge { shape: shape.to_vec() })?;
    let bytes = (len as u64).saturating_mul(slice.dtype().byte_size() as u64);
    budget.check_memory(bytes)?;
    with_native!(slice.dtype(), T => {
        let mut room: Vec<T> = Vec::new();
        room.try_reserve_exact(len).map_err(|_| Fault::OutOfMemory { needed: bytes })?;
        room.resize(len, T::default());
        let mut stack = Tensor::new(slice.dtype(), shape, room);
        stack.charge(budget.meter(), budget.pool());
        Ok(stack)
    })
}

// Returns the stack of a scan without iterations. Extents that are neither declared nor bound by name are zero.
fn empty_stack(ty: &ValueType) -> Result<Tensor, Fault> {
    let Some(ty) = ty.as_tensor() else { return Err(Fault::op("a stack is not a tensor")) };
    let extent =
        |d: &crate::types::Dim| d.known().and_then(|n| usize::try_from(n).ok()).unwrap_or(0);
    let mut shape: Shape = ty.dims.iter().map(extent).collect();
    if let Some(lead) = shape.first_mut() {
        *lead = 0;
    }
    with_native!(ty.dtype, T => Ok(Tensor::new::<T>(ty.dtype, shape, Vec::new())))
}
