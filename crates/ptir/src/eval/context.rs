//! The context of an op's evaluation.

use std::borrow::Cow;
use std::cell::Cell;
use std::ops::Range;

use sapwood_types::DataType;
use smallvec::SmallVec;

use super::budget::Budget;
use super::error::Fault;
use super::native::Native;
use super::pool::BufferPool;
use super::tensor::{Shape, Tensor, Value, View, count};
use crate::attr::{Attr, Ints};
use crate::op::{InferCx, OpDef, OpKey};
use crate::types::{TensorType, ValueType};

/// The least size of an allocation that is tried before it is made, because it may fail.
const MIN_CHECKED_BYTES: u64 = 1 << 20;

/// The outcome of an evaluation: one value per result.
pub type EvalResult = Result<Results, Fault>;

/// The values of the results of an instruction or a region.
pub type Results = SmallVec<[Value; 1]>;

/// The function that evaluates an op.
pub type Evaluate = dyn Fn(&mut EvalCx<'_>) -> EvalResult + Send + Sync;

/// The regions of an instruction, as its evaluation calls them.
pub(crate) trait Regions {
    fn call(&mut self, region: usize, args: &mut dyn Iterator<Item = Value>) -> EvalResult;
    fn simple(&self, region: usize) -> Option<SimpleRegion<'_>>;
    fn yielded_parameter(&self, region: usize) -> Option<usize>;
    fn count(&self) -> usize;
}

/// A region that applies one op to its parameters and yields its results. A kernel that recognizes the op need not run the
/// region once per element.
#[derive(Clone, Copy, Debug)]
pub struct SimpleRegion<'a> {
    /// The op.
    pub op: OpKey,
    /// The attributes of the op.
    pub attrs: &'a [Attr],
    /// The parameter index of each operand.
    pub operands: &'a [usize],
}

/// The context of an evaluation: the operands, attributes and result types of the instruction, and access to memory and
/// regions.
pub struct EvalCx<'a> {
    pub(crate) def: &'a OpDef,
    pub(crate) attrs: &'a [Attr],
    pub(crate) args: SmallVec<[Value; 4]>,
    pub(crate) types: Cow<'a, [ValueType]>,
    pub(crate) budget: &'a Budget,
    pub(crate) regions: &'a mut (dyn Regions + 'a),
    pub(crate) threads: usize,
    // The bytes that this evaluation has allocated and not released.
    pub(crate) granted: Cell<u64>,
}

impl<'a> EvalCx<'a> {
    /// Returns the definition of the op.
    #[must_use]
    pub fn def(&self) -> &'a OpDef {
        self.def
    }

    /// Returns the attributes, in the order of the definition.
    #[must_use]
    pub fn attrs(&self) -> &'a [Attr] {
        self.attrs
    }

    /// Returns the number of threads that may be used.
    #[must_use]
    pub fn threads(&self) -> usize {
        self.threads
    }

    /// Returns the operands.
    #[must_use]
    pub fn args(&self) -> &[Value] {
        &self.args
    }

    /// Takes the operands; those without another owner may be changed in place.
    pub fn take_args(&mut self) -> SmallVec<[Value; 4]> {
        std::mem::take(&mut self.args)
    }

    /// Replaces the operands by others of the same types, for a kernel that calls another kernel.
    pub fn put_args(&mut self, args: impl IntoIterator<Item = Value>) {
        self.args = args.into_iter().collect();
    }

    /// Returns an operand.
    ///
    /// # Errors
    /// If the operand does not exist.
    pub fn arg(&self, index: usize) -> Result<&Value, Fault> {
        self.args.get(index).ok_or_else(|| Fault::op(format!("operand {index} is missing")))
    }

    /// Returns an operand that is a tensor.
    ///
    /// # Errors
    /// If it is not.
    pub fn tensor(&self, index: usize) -> Result<&Tensor, Fault> {
        let arg = self.arg(index)?;
        arg.as_tensor()
            .ok_or_else(|| Fault::op(format!("operand {index} is {}, expected a tensor", arg.ty())))
    }

    /// Takes an operand that is a tensor, and leaves a token in its place. Without another owner, the tensor may be changed
    /// in place.
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

    /// Returns a view of the elements of an operand, which must be stored as `T`.
    ///
    /// # Errors
    /// If they are not.
    pub fn view<T: Native>(&self, index: usize) -> Result<View<'_, T>, Fault> {
        let tensor = self.tensor(index)?;
        tensor.view().ok_or_else(|| wrong_dtype::<T>(index, tensor))
    }

    /// Returns all elements of an operand, borrowed, or repeated if it is a splat.
    ///
    /// # Errors
    /// If they are not stored as `T`, or there is not enough memory to repeat them.
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

    /// Returns the element of a scalar operand.
    ///
    /// # Errors
    /// If it is not stored as `T` or there are several elements.
    pub fn scalar<T: Native>(&self, index: usize) -> Result<T, Fault> {
        let tensor = self.tensor(index)?;
        tensor.as_splat().ok_or_else(|| wrong_dtype::<T>(index, tensor))
    }

    /// Allocates an empty vector for `len` elements. Every kernel allocates its memory here, so that the limit applies to the sum of
    /// all allocations of one evaluation.
    ///
    /// # Errors
    /// If there is not enough memory.
    pub fn alloc<T>(&self, len: usize) -> Result<Vec<T>, Fault> {
        let bytes = (len as u64).saturating_mul(size_of::<T>() as u64);
        self.grant(len, bytes)?;
        self.reserved(len)
    }

    /// Returns a vector of `len` elements with any values, for kernels that write all of them. It comes from an earlier tensor of the run, if
    /// there is one of about this size.
    ///
    /// # Errors
    /// If there is not enough memory.
    pub fn buffer<T: Native>(&self, len: usize) -> Result<Vec<T>, Fault> {
        let bytes = (len as u64).saturating_mul(size_of::<T>() as u64);
        self.grant(len, bytes)?;
        if let Some(mut vector) = self.budget.take_pooled::<T>(self.granted.get(), len) {
            vector.truncate(len);
            vector.resize(len, T::default());
            return Ok(vector);
        }
        // Checks whether the system has enough memory.
        if bytes >= MIN_CHECKED_BYTES {
            drop(self.reserved::<T>(len)?);
        }
        Ok(vec![T::default(); len])
    }

    /// Allocates an empty vector for the `len` elements of a result like [`alloc`](Self::alloc). Its memory comes from an earlier tensor of the run,
    /// if there is one of about this size.
    ///
    /// # Errors
    /// If there is not enough memory.
    pub(crate) fn alloc_result<T: Native>(&self, len: usize) -> Result<Vec<T>, Fault> {
        if self.budget.pool().is_none() || !BufferPool::keeps::<T>(len) {
            return self.alloc(len);
        }
        self.grant(len, (len as u64).saturating_mul(size_of::<T>() as u64))?;
        match self.budget.take_pooled::<T>(self.granted.get(), len) {
            Some(mut vector) => {
                vector.clear();
                Ok(vector)
            }
            None => self.reserved(len),
        }
    }

    fn reserved<T>(&self, len: usize) -> Result<Vec<T>, Fault> {
        let needed = (len as u64).saturating_mul(size_of::<T>() as u64);
        let mut room = Vec::new();
        match room.try_reserve_exact(len) {
            Ok(()) => Ok(room),
            Err(_) => Err(Fault::OutOfMemory { needed }),
        }
    }

    // Counts memory and the work of filling it.
    fn grant(&self, len: usize, bytes: u64) -> Result<(), Fault> {
        self.budget.check_memory_beyond(self.granted.get(), bytes)?;
        self.budget.work(len as u64)?;
        self.granted.set(self.granted.get().saturating_add(bytes));
        Ok(())
    }

    /// Runs `f` and counts its allocations as released afterwards, for loops with temporary memory.
    pub(crate) fn scratch<R>(&self, f: impl FnOnce() -> Result<R, Fault>) -> Result<R, Fault> {
        let before = self.granted.get();
        let result = f();
        self.granted.set(before);
        result
    }

    /// Counts element operations against the limits of steps and time. Kernels whose work is not proportional to their memory
    /// report it here, in portions, before they do it.
    ///
    /// # Errors
    /// If a limit is reached.
    pub fn work(&self, operations: u64) -> Result<(), Fault> {
        self.budget.work(operations)
    }

    /// Returns the number of results.
    #[must_use]
    pub fn num_results(&self) -> usize {
        self.types.len()
    }

    /// Returns the required type of a result, with all dims known that follow from the operands and the named dims.
    ///
    /// # Errors
    /// If the result does not exist.
    pub fn result_type(&self, index: usize) -> Result<&ValueType, Fault> {
        self.types.get(index).ok_or_else(|| Fault::op(format!("there is no result {index}")))
    }

    /// Returns the required tensor type of a result.
    ///
    /// # Errors
    /// If it is not a tensor.
    pub fn result_tensor(&self, index: usize) -> Result<&TensorType, Fault> {
        let ty = self.result_type(index)?;
        ty.as_tensor().ok_or_else(|| Fault::op(format!("result {index} is {ty}, not a tensor")))
    }

    /// Returns the element type of a result.
    ///
    /// # Errors
    /// If it is not a tensor.
    pub fn result_dtype(&self, index: usize) -> Result<DataType, Fault> {
        Ok(self.result_tensor(index)?.dtype)
    }

    /// Returns the extents of a result.
    ///
    /// # Errors
    /// If an extent is unknown or the number of elements overflows.
    pub fn result_shape(&self, index: usize) -> Result<Shape, Fault> {
        let ty = self.result_tensor(index)?;
        let mut shape = Shape::new();
        for (axis, dim) in ty.dims.iter().enumerate() {
            shape.push(match dim.known() {
                Some(n) => {
                    usize::try_from(n).map_err(|_| Fault::TooLarge { shape: vec![usize::MAX] })?
                }
                None => {
                    let ty = Box::new(ValueType::Tensor(ty.clone()));
                    return Err(Fault::UnknownDim { axis, ty });
                }
            });
        }
        match count(&shape) {
            Some(_) => Ok(shape),
            None => Err(Fault::TooLarge { shape: shape.to_vec() }),
        }
    }

    /// Returns the number of regions.
    #[must_use]
    pub fn num_regions(&self) -> usize {
        self.regions.count()
    }

    /// Runs a region and returns the values it yields.
    ///
    /// # Errors
    /// If an instruction in it fails.
    pub fn call_region(
        &mut self,
        region: usize,
        args: impl IntoIterator<Item = Value>,
    ) -> EvalResult {
        self.regions.call(region, &mut args.into_iter())
    }

    /// Returns the region as a single op, if it consists of one.
    #[must_use]
    pub fn simple_region(&self, region: usize) -> Option<SimpleRegion<'_>> {
        self.regions.simple(region)
    }

    /// Returns the parameter that a region yields, if it yields one and has no instructions.
    #[must_use]
    pub fn yielded_parameter(&self, region: usize) -> Option<usize> {
        self.regions.yielded_parameter(region)
    }

    /// Returns the index range of the operands of a group.
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

    /// Returns an attribute by name.
    ///
    /// # Errors
    /// If the attribute does not exist.
    pub fn attr(&self, name: &str) -> Result<&'a Attr, Fault> {
        Ok(self.table().attr(name)?)
    }

    /// Returns an integer attribute.
    ///
    /// # Errors
    /// If it is missing.
    pub fn int(&self, name: &str) -> Result<i64, Fault> {
        Ok(self.table().int(name)?)
    }

    /// Returns a bool attribute.
    ///
    /// # Errors
    /// If it is missing.
    pub fn bool(&self, name: &str) -> Result<bool, Fault> {
        Ok(self.table().bool(name)?)
    }

    /// Returns an attribute that is a list of integers.
    ///
    /// # Errors
    /// If it is missing.
    pub fn ints(&self, name: &str) -> Result<&'a [i64], Fault> {
        Ok(self.table().ints(name)?)
    }

    /// Returns an attribute that is a list of integers, or `len` copies of `default` if it is absent.
    ///
    /// # Errors
    /// If it has another length.
    pub fn ints_or(&self, name: &str, default: i64, len: usize) -> Result<Ints, Fault> {
        Ok(self.table().ints_or(name, default, len)?)
    }

    /// Returns an attribute that is a list of pairs of integers, or zeros if it is absent.
    ///
    /// # Errors
    /// If it has another length.
    pub fn pairs_or_zero(&self, name: &str, len: usize) -> Result<Vec<[i64; 2]>, Fault> {
        Ok(self.table().pairs_or_zero(name, len)?)
    }

    /// Returns a float attribute.
    ///
    /// # Errors
    /// If it is missing.
    pub fn float(&self, name: &str) -> Result<f64, Fault> {
        let wrong = || Fault::op(format!("attribute `{name}` must be a float"));
        self.attr(name)?.as_float().ok_or_else(wrong)
    }

    /// Returns an attribute that is a word.
    ///
    /// # Errors
    /// If it is missing.
    pub fn word(&self, name: &str) -> Result<&'static str, Fault> {
        Ok(self.table().word(name)?)
    }

    /// Returns an attribute that is an element type, if it is present.
    ///
    /// # Errors
    /// If the attribute has another kind.
    pub fn dtype(&self, name: &str) -> Result<Option<DataType>, Fault> {
        Ok(self.table().dtype(name)?)
    }

    /// Returns an attribute that is an axis of a tensor of this rank.
    ///
    /// # Errors
    /// If it is out of range.
    pub fn axis(&self, name: &str, rank: usize) -> Result<usize, Fault> {
        Ok(self.table().axis(name, rank)?)
    }

    /// Returns an attribute that is a list of distinct axes of a tensor of this rank.
    ///
    /// # Errors
    /// If an axis is out of range or appears twice.
    pub fn axes(&self, name: &str, rank: usize) -> Result<SmallVec<[usize; 4]>, Fault> {
        Ok(self.table().axes(name, rank)?)
    }
}

fn wrong_dtype<T: Native>(index: usize, tensor: &Tensor) -> Fault {
    Fault::op(format!("operand {index} is {}, expected elements kept as {}", tensor.ty(), T::DTYPE))
}

/// Returns a single result, as evaluations return it.
///
/// # Errors
/// Never; the type is that of evaluations.
#[allow(clippy::unnecessary_wraps)]
pub fn one(value: impl Into<Value>) -> EvalResult {
    fn single(value: Value) -> EvalResult {
        let mut results = SmallVec::new();
        results.push(value);
        Ok(results)
    }
    single(value.into())
}
