//! What an op's evaluation sees of its instruction.

use std::borrow::Cow;
use std::cell::Cell;
use std::ops::Range;

use sapwood_types::DataType;
use smallvec::SmallVec;

use super::budget::Budget;
use super::error::Fault;
use super::native::Native;
use super::tensor::{Shape, Tensor, Value, View, count};
use crate::attr::{Attr, Ints};
use crate::op::{InferCx, OpDef, OpKey};
use crate::types::{Dim, TensorType, ValueType};

/// What an evaluation gives: one value per result.
pub type EvalResult = Result<Results, Fault>;

/// The values of the results of an instruction or a region.
pub type Results = SmallVec<[Value; 1]>;

/// An evaluation.
pub type Evaluate = dyn Fn(&mut EvalCx<'_>) -> EvalResult + Send + Sync;

/// Runs regions for an evaluation.
pub(crate) trait Regions {
    fn call(&mut self, region: usize, args: &mut dyn Iterator<Item = Value>) -> EvalResult;
    fn simple(&self, region: usize) -> Option<SimpleRegion<'_>>;
    fn count(&self) -> usize;
}

/// A region that is just one op applied to its parameters, in order, whose results it yields. A kernel that knows
/// the op need not run the region once per element.
#[derive(Clone, Copy, Debug)]
pub struct SimpleRegion<'a> {
    /// The op.
    pub op: OpKey,
    /// Its attributes.
    pub attrs: &'a [Attr],
    /// Which parameter each operand is.
    pub operands: &'a [usize],
}

/// What an evaluation sees: operands, attributes, the types its results must have; and what it may do: take memory,
/// run regions.
pub struct EvalCx<'a> {
    pub(crate) def: &'a OpDef,
    pub(crate) attrs: &'a [Attr],
    pub(crate) args: SmallVec<[Value; 4]>,
    pub(crate) types: Cow<'a, [ValueType]>,
    pub(crate) budget: &'a Budget,
    pub(crate) regions: &'a mut (dyn Regions + 'a),
    pub(crate) threads: usize,
    // Bytes this evaluation has been given and not given back.
    pub(crate) granted: Cell<u64>,
}

impl<'a> EvalCx<'a> {
    /// The op.
    #[must_use]
    pub fn def(&self) -> &'a OpDef {
        self.def
    }

    /// How many threads may be used.
    #[must_use]
    pub fn threads(&self) -> usize {
        self.threads
    }

    /// The operands.
    #[must_use]
    pub fn args(&self) -> &[Value] {
        &self.args
    }

    /// The operands, taken out: those that nobody else uses may be changed in place.
    pub fn take_args(&mut self) -> SmallVec<[Value; 4]> {
        std::mem::take(&mut self.args)
    }

    /// Puts other operands in place of those there are, of the same types; what a kernel does that calls another one.
    pub fn put_args(&mut self, args: impl IntoIterator<Item = Value>) {
        self.args = args.into_iter().collect();
    }

    /// An operand.
    ///
    /// # Errors
    /// If there is no such operand.
    pub fn arg(&self, index: usize) -> Result<&Value, Fault> {
        self.args.get(index).ok_or_else(|| Fault::op(format!("operand {index} is missing")))
    }

    /// An operand that is a tensor.
    ///
    /// # Errors
    /// If it is not.
    pub fn tensor(&self, index: usize) -> Result<&Tensor, Fault> {
        let arg = self.arg(index)?;
        arg.as_tensor()
            .ok_or_else(|| Fault::op(format!("operand {index} is {}, expected a tensor", arg.ty())))
    }

    /// An operand that is a tensor, taken out: if nobody else uses it, it may be changed in place. A token stays
    /// where it was.
    ///
    /// # Errors
    /// If it is not a tensor.
    pub fn take_tensor(&mut self, index: usize) -> Result<Tensor, Fault> {
        self.tensor(index)?;
        match std::mem::replace(&mut self.args[index], Value::Token) {
            Value::Tensor(t) => Ok(t),
            other => Err(Fault::op(format!("operand {index} is {}", other.ty()))),
        }
    }

    /// The elements of an operand, which must be kept as `T`.
    ///
    /// # Errors
    /// If they are not.
    pub fn view<T: Native>(&self, index: usize) -> Result<View<'_, T>, Fault> {
        let tensor = self.tensor(index)?;
        tensor.view().ok_or_else(|| wrong_dtype::<T>(index, tensor))
    }

    /// All elements of an operand in a row, borrowed, or repeated if it is a splat.
    ///
    /// # Errors
    /// If they are not kept as `T`, or there is not enough memory to repeat.
    pub fn elements<T: Native>(&self, index: usize) -> Result<Cow<'_, [T]>, Fault> {
        match self.view::<T>(index)? {
            View::Dense(all) => Ok(Cow::Borrowed(all)),
            View::Splat(x) => {
                let len = self.tensor(index)?.len();
                let mut all = self.alloc(len)?;
                all.resize(len, x);
                Ok(Cow::Owned(all))
            }
        }
    }

    /// The element of a scalar operand.
    ///
    /// # Errors
    /// If it is not kept as `T` or has several.
    pub fn scalar<T: Native>(&self, index: usize) -> Result<T, Fault> {
        let tensor = self.tensor(index)?;
        tensor.as_splat().ok_or_else(|| wrong_dtype::<T>(index, tensor))
    }

    /// Room for so many elements, empty. Every kernel takes its memory here, so that the limit holds: what one
    /// evaluation takes adds up.
    ///
    /// # Errors
    /// If there is not enough.
    pub fn alloc<T>(&self, len: usize) -> Result<Vec<T>, Fault> {
        let bytes = (len as u64).saturating_mul(size_of::<T>() as u64);
        self.grant(len, bytes)?;
        let mut room = Vec::new();
        match room.try_reserve_exact(len) {
            Ok(()) => Ok(room),
            Err(_) => Err(Fault::Refused { needed: bytes }),
        }
    }

    // Counts memory and the work to fill it.
    fn grant(&self, len: usize, bytes: u64) -> Result<(), Fault> {
        self.budget.ask_beyond(self.granted.get(), bytes)?;
        self.budget.work(len as u64)?;
        self.granted.set(self.granted.get().saturating_add(bytes));
        Ok(())
    }

    /// Runs `f` and counts what it has taken as given back: for loops whose rounds take room and drop it.
    pub(crate) fn scratch<R>(&self, f: impl FnOnce() -> Result<R, Fault>) -> Result<R, Fault> {
        let before = self.granted.get();
        let result = f();
        self.granted.set(before);
        result
    }

    /// Counts element operations against the limits of steps and time. Kernels whose work is not in proportion to
    /// the memory they take say it here, before they do it, in pieces.
    ///
    /// # Errors
    /// If a limit is reached.
    pub fn work(&self, operations: u64) -> Result<(), Fault> {
        self.budget.work(operations)
    }

    /// How many results there are.
    #[must_use]
    pub fn num_results(&self) -> usize {
        self.types.len()
    }

    /// The type a result must have: all dims that the operands and the named dims tell are known.
    ///
    /// # Errors
    /// If there is no such result.
    pub fn result_type(&self, index: usize) -> Result<&ValueType, Fault> {
        self.types.get(index).ok_or_else(|| Fault::op(format!("there is no result {index}")))
    }

    /// The tensor type a result must have.
    ///
    /// # Errors
    /// If it is not a tensor.
    pub fn result_tensor(&self, index: usize) -> Result<&TensorType, Fault> {
        let ty = self.result_type(index)?;
        ty.as_tensor().ok_or_else(|| Fault::op(format!("result {index} is {ty}, not a tensor")))
    }

    /// The element type of a result.
    ///
    /// # Errors
    /// If it is not a tensor.
    pub fn result_dtype(&self, index: usize) -> Result<DataType, Fault> {
        Ok(self.result_tensor(index)?.dtype)
    }

    /// The extents of a result.
    ///
    /// # Errors
    /// If one cannot be told or they are too large.
    pub fn result_shape(&self, index: usize) -> Result<Shape, Fault> {
        let ty = self.result_tensor(index)?;
        let extent = |(axis, dim): (usize, &Dim)| match dim.known() {
            Some(n) => usize::try_from(n).map_err(|_| Fault::TooLarge { shape: vec![usize::MAX] }),
            None => Err(Fault::OpenDim { axis, ty: Box::new(ValueType::Tensor(ty.clone())) }),
        };
        let shape: Shape = ty.dims.iter().enumerate().map(extent).collect::<Result<_, _>>()?;
        match count(&shape) {
            Some(_) => Ok(shape),
            None => Err(Fault::TooLarge { shape: shape.to_vec() }),
        }
    }

    /// How many regions there are.
    #[must_use]
    pub fn num_regions(&self) -> usize {
        self.regions.count()
    }

    /// Runs a region.
    ///
    /// # Errors
    /// If something in it fails.
    pub fn call_region(
        &mut self,
        region: usize,
        args: impl IntoIterator<Item = Value>,
    ) -> EvalResult {
        self.regions.call(region, &mut args.into_iter())
    }

    /// The region as a single op, if it is one.
    #[must_use]
    pub fn simple_region(&self, region: usize) -> Option<SimpleRegion<'_>> {
        self.regions.simple(region)
    }

    /// Where the operands of a group stand.
    #[must_use]
    pub fn group(&self, name: &str) -> Range<usize> {
        self.def.operand_range(name, self.args.len())
    }

    fn table(&self) -> InferCx<'a> {
        InferCx {
            def: self.def,
            attrs: self.attrs,
            operands: SmallVec::new(),
            regions: SmallVec::new(),
            declared_types: SmallVec::new(),
        }
    }

    /// An attribute by name.
    ///
    /// # Errors
    /// If there is none.
    pub fn attr(&self, name: &str) -> Result<&'a Attr, Fault> {
        Ok(self.table().attr(name)?)
    }

    /// An integer attribute.
    ///
    /// # Errors
    /// If it is missing.
    pub fn int(&self, name: &str) -> Result<i64, Fault> {
        Ok(self.table().int(name)?)
    }

    /// A bool attribute.
    ///
    /// # Errors
    /// If it is missing.
    pub fn bool(&self, name: &str) -> Result<bool, Fault> {
        Ok(self.table().bool(name)?)
    }

    /// A list of integers.
    ///
    /// # Errors
    /// If it is missing.
    pub fn ints(&self, name: &str) -> Result<&'a [i64], Fault> {
        Ok(self.table().ints(name)?)
    }

    /// A list of integers, or `default` copies of one number when the attribute is left out.
    ///
    /// # Errors
    /// If it has another length.
    pub fn ints_or(&self, name: &str, default: i64, len: usize) -> Result<Ints, Fault> {
        Ok(self.table().ints_or(name, default, len)?)
    }

    /// Pairs of integers, or zeros when the attribute is left out.
    ///
    /// # Errors
    /// If it has another length.
    pub fn pairs_or_zero(&self, name: &str, len: usize) -> Result<Vec<[i64; 2]>, Fault> {
        Ok(self.table().pairs_or_zero(name, len)?)
    }

    /// A float attribute.
    ///
    /// # Errors
    /// If it is missing.
    pub fn float(&self, name: &str) -> Result<f64, Fault> {
        let wrong = || Fault::op(format!("attribute `{name}` must be a float"));
        self.attr(name)?.as_float().ok_or_else(wrong)
    }

    /// A word.
    ///
    /// # Errors
    /// If it is missing.
    pub fn word(&self, name: &str) -> Result<&'static str, Fault> {
        Ok(self.table().word(name)?)
    }

    /// An element type, if it is given.
    ///
    /// # Errors
    /// If it is something else.
    pub fn dtype(&self, name: &str) -> Result<Option<DataType>, Fault> {
        Ok(self.table().dtype(name)?)
    }

    /// An axis of a tensor of this rank.
    ///
    /// # Errors
    /// If it is out of range.
    pub fn axis(&self, name: &str, rank: usize) -> Result<usize, Fault> {
        Ok(self.table().axis(name, rank)?)
    }

    /// Different axes of a tensor of this rank.
    ///
    /// # Errors
    /// If one is out of range or stands twice.
    pub fn axes(&self, name: &str, rank: usize) -> Result<SmallVec<[usize; 4]>, Fault> {
        Ok(self.table().axes(name, rank)?)
    }
}

fn wrong_dtype<T: Native>(index: usize, tensor: &Tensor) -> Fault {
    Fault::op(format!("operand {index} is {}, expected elements kept as {}", tensor.ty(), T::DTYPE))
}

/// One result.
///
/// # Errors
/// Never; it is what evaluations return.
#[allow(clippy::unnecessary_wraps)]
pub fn one(value: impl Into<Value>) -> EvalResult {
    fn single(value: Value) -> EvalResult {
        let mut results = SmallVec::new();
        results.push(value);
        Ok(results)
    }
    single(value.into())
}
