//! Run-time values: tensors, tuples and tokens.

use std::borrow::Cow;
use std::fmt;
use std::ops::Deref;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Weak};

use half::{bf16, f16};
use num_complex::Complex;
use sapwood_types::DataType;
use smallvec::SmallVec;

use super::native::{F8E4M3Fn, F8E5M2, I4, Native, StoredByte, U4};
use super::pool::BufferPool;
use crate::literal::{LiteralError, TensorLiteral};
use crate::types::{TensorType, ValueType};
use crate::with_native;

/// The extents of a tensor.
pub type Shape = SmallVec<[usize; 4]>;

/// A block of elements in memory, charged to the memory limit of the run that created it.
#[derive(Debug)]
pub struct Block<T: Native> {
    data: Vec<T>,
    charge: Option<Charge>,
    // The pool that gets the memory back. A result that outlives the prepared function does not keep the memory of the pool.
    pool: Option<Weak<BufferPool>>,
}

impl<T: Native> Drop for Block<T> {
    fn drop(&mut self) {
        if let Some(pool) = self.pool.as_ref().and_then(Weak::upgrade) {
            pool.put(std::mem::take(&mut self.data));
        }
    }
}

#[derive(Debug)]
struct Charge {
    meter: Arc<AtomicU64>,
    bytes: u64,
}

impl Drop for Charge {
    fn drop(&mut self) {
        self.meter.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

impl<T: Native> Deref for Block<T> {
    type Target = [T];
    fn deref(&self) -> &[T] {
        &self.data
    }
}

/// The shared, typed storage of all elements of a tensor, row-major.
#[derive(Clone, Debug)]
#[allow(
    missing_docs,
    reason = "one variant per element type; `index` uses `I64`, types without arithmetic `Stored`"
)]
pub enum Buffer {
    Bool(Arc<Block<bool>>),
    I4(Arc<Block<I4>>),
    I8(Arc<Block<i8>>),
    I16(Arc<Block<i16>>),
    I32(Arc<Block<i32>>),
    I64(Arc<Block<i64>>),
    U4(Arc<Block<U4>>),
    U8(Arc<Block<u8>>),
    U16(Arc<Block<u16>>),
    U32(Arc<Block<u32>>),
    U64(Arc<Block<u64>>),
    F16(Arc<Block<f16>>),
    Bf16(Arc<Block<bf16>>),
    F8E4M3Fn(Arc<Block<F8E4M3Fn>>),
    F8E5M2(Arc<Block<F8E5M2>>),
    Stored(Arc<Block<StoredByte>>),
    F32(Arc<Block<f32>>),
    F64(Arc<Block<f64>>),
    C64(Arc<Block<Complex<f32>>>),
    C128(Arc<Block<Complex<f64>>>),
}

/// A tensor: element type, extents, and elements that clones share. A splat, which has one element or repeats one, stores only
/// that element.
#[derive(Debug)]
pub struct Tensor {
    dtype: DataType,
    shape: Shape,
    data: Data,
}

impl Clone for Tensor {
    #[inline]
    fn clone(&self) -> Self {
        // A clone of the extents would copy them one by one.
        let shape = Shape::from_slice(&self.shape);
        Self { dtype: self.dtype, shape, data: self.data.clone() }
    }
}

#[derive(Clone, Debug)]
enum Data {
    // The bits of the element; the tensor is not empty.
    Splat([u64; 2]),
    Dense(Buffer),
}

/// A view of the elements of a tensor.
#[derive(Clone, Copy, Debug)]
pub enum View<'a, T> {
    /// Every element is this one.
    Splat(T),
    /// The elements in row-major order.
    Dense(&'a [T]),
}

impl<T: Copy> View<'_, T> {
    /// Returns the element at a row-major index.
    ///
    /// # Panics
    /// If the index is out of range for a dense tensor.
    #[inline]
    #[must_use]
    pub fn get(&self, index: usize) -> T {
        match self {
            Self::Splat(x) => *x,
            Self::Dense(all) => all[index],
        }
    }
}

fn split(bits: u128) -> [u64; 2] {
    [bits as u64, (bits >> 64) as u64]
}

fn joined([low, high]: [u64; 2]) -> u128 {
    u128::from(high) << 64 | u128::from(low)
}

/// Returns the number of elements for these extents; `None` on overflow.
#[must_use]
pub fn count(shape: &[usize]) -> Option<usize> {
    if shape.contains(&0) {
        return Some(0);
    }
    shape.iter().try_fold(1usize, |n, &d| n.checked_mul(d)).filter(|&n| n <= isize::MAX as usize)
}

impl Tensor {
    /// Builds a tensor from all elements, row-major. `dtype` must be stored as `T` (`i64` stores `index`, too).
    ///
    /// # Panics
    /// If the number of elements does not match the shape or `T` the element type: a bug in the kernel.
    #[must_use]
    pub fn new<T: Native>(dtype: DataType, shape: impl AsRef<[usize]>, elements: Vec<T>) -> Self {
        Self::of_elements(dtype, shape.as_ref(), elements)
    }

    // The part of `new` that needs only the type of the elements.
    fn of_elements<T: Native>(dtype: DataType, shape: &[usize], elements: Vec<T>) -> Self {
        let (len, first) = (elements.len(), elements.first().map(|x| x.pack()));
        Self::of_data(
            dtype,
            shape,
            T::DTYPE,
            len,
            match first {
                Some(one) if len == 1 => Data::Splat(split(one)),
                _ => Data::Dense(T::into_buffer(Arc::new(Block {
                    data: elements,
                    charge: None,
                    pool: None,
                }))),
            },
        )
    }

    // The part of `new` that does not depend on the type, so that it is compiled once.
    fn of_data(dtype: DataType, shape: &[usize], native: DataType, len: usize, data: Data) -> Self {
        assert_eq!(count(shape), Some(len), "{dtype}{shape:?}: wrong number of elements");
        assert!(is_kept_as(dtype, native), "{dtype} is not kept as {native}");
        Self { dtype, shape: Shape::from_slice(shape), data }
    }

    /// Builds a splat, which repeats one element.
    ///
    /// # Panics
    /// If the type of the element does not match the element type: a bug in the kernel.
    #[must_use]
    pub fn splat<T: Native>(dtype: DataType, shape: impl AsRef<[usize]>, element: T) -> Self {
        Self::splat_of_bits(dtype, shape.as_ref(), T::DTYPE, element.pack())
    }

    fn splat_of_bits(dtype: DataType, shape: &[usize], native: DataType, bits: u128) -> Self {
        assert!(is_kept_as(dtype, native), "{dtype} is not kept as {native}");
        let shape = Shape::from_slice(shape);
        if shape.contains(&0) {
            return empty(dtype, shape);
        }
        Self { dtype, shape, data: Data::Splat(split(bits)) }
    }

    /// Builds a scalar.
    #[must_use]
    pub fn scalar<T: Native>(element: T) -> Self {
        Self::splat(T::DTYPE, Shape::new(), element)
    }

    /// Returns the element type.
    #[must_use]
    pub fn dtype(&self) -> DataType {
        self.dtype
    }

    /// Returns the extents.
    #[must_use]
    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// Returns the type.
    #[must_use]
    pub fn ty(&self) -> TensorType {
        TensorType::new(self.dtype, self.shape.iter().map(|&n| n as u64))
    }

    /// Returns the number of elements.
    #[must_use]
    #[allow(clippy::len_without_is_empty, reason = "emptiness is a matter of the shape")]
    pub fn len(&self) -> usize {
        count(&self.shape).unwrap_or(usize::MAX)
    }

    /// Returns whether only one element is stored.
    #[must_use]
    pub fn is_splat(&self) -> bool {
        matches!(self.data, Data::Splat(_))
    }

    /// Returns the bytes of memory that the stored elements take.
    #[must_use]
    pub fn stored_bytes(&self) -> u64 {
        match self.data {
            Data::Splat(_) => 0,
            Data::Dense(_) => self.len() as u64 * self.dtype.byte_size() as u64,
        }
    }

    /// Returns a view of the elements, if they are of this type.
    #[must_use]
    pub fn view<T: Native>(&self) -> Option<View<'_, T>> {
        if !fits::<T>(self.dtype) {
            return None;
        }
        Some(match &self.data {
            Data::Splat(bits) => View::Splat(T::unpack(joined(*bits))),
            Data::Dense(buffer) => View::Dense(T::from_buffer(buffer)?),
        })
    }

    /// Returns all elements, if they are of this type: borrowed, or repeated for a splat. A splat may have more elements than there
    /// is memory for, and then this aborts; [`Self::view`] needs no memory.
    #[must_use]
    pub fn elements<T: Native>(&self) -> Option<Cow<'_, [T]>> {
        Some(match self.view::<T>()? {
            View::Splat(x) => Cow::Owned(vec![x; self.len()]),
            View::Dense(all) => Cow::Borrowed(all),
        })
    }

    /// Returns the element of a splat or scalar, if it is of this type.
    #[must_use]
    pub fn as_splat<T: Native>(&self) -> Option<T> {
        match self.view()? {
            View::Splat(x) => Some(x),
            View::Dense(_) => None,
        }
    }

    /// Returns the elements for mutation in place, if they are of this type and have no other owner.
    pub fn unique_mut<T: Native>(&mut self) -> Option<&mut [T]> {
        match &mut self.data {
            Data::Splat(_) => None,
            Data::Dense(buffer) => Some(&mut Arc::get_mut(T::from_buffer_mut(buffer)?)?.data),
        }
    }

    /// Returns the storage; `None` for a splat.
    #[must_use]
    pub fn buffer(&self) -> Option<&Buffer> {
        match &self.data {
            Data::Splat(_) => None,
            Data::Dense(buffer) => Some(buffer),
        }
    }

    /// Changes the extents and keeps the elements; `None` if the number of elements differs.
    #[must_use]
    pub fn reshaped(mut self, shape: impl AsRef<[usize]>) -> Option<Self> {
        let shape = Shape::from_slice(shape.as_ref());
        if count(&shape)? != self.len() {
            return None;
        }
        self.shape = shape;
        Some(self)
    }

    /// Changes the element type and keeps the bits; `None` unless both types have the same native type (`i64` and `index`).
    #[must_use]
    pub fn with_dtype(mut self, dtype: DataType) -> Option<Self> {
        if self.dtype == dtype
            || !dtype.is_storage_only() && with_native!(self.dtype, T => fits::<T>(dtype))
        {
            self.dtype = dtype;
            return Some(self);
        }
        None
    }

    /// Repeats the element of a splat for other extents; `None` if the tensor is not a splat.
    #[must_use]
    pub fn splat_to(&self, shape: impl AsRef<[usize]>) -> Option<Self> {
        let Data::Splat(bits) = &self.data else { return None };
        let shape = Shape::from_slice(shape.as_ref());
        if shape.contains(&0) {
            return Some(empty(self.dtype, shape));
        }
        Some(Self { dtype: self.dtype, shape, data: Data::Splat(*bits) })
    }

    /// Returns a tensor of this shape with the elements from the row-major index `start` on. A splat is not copied.
    ///
    /// # Panics
    /// If there are not enough elements.
    #[must_use]
    pub fn part(&self, start: usize, shape: impl AsRef<[usize]>) -> Self {
        let shape = Shape::from_slice(shape.as_ref());
        if self.is_splat() {
            return self.splat_to(shape).unwrap_or_else(|| self.clone());
        }
        let len = count(&shape).unwrap_or(usize::MAX);
        with_native!(self.dtype, T => match self.view::<T>() {
            Some(View::Dense(all)) => Self::new(self.dtype, shape, all[start..start + len].to_vec()),
            _ => self.clone(),
        })
    }

    /// Overwrites the elements from a row-major index on with those of a tensor of the same element type. Returns `false` if the
    /// elements are shared or out of range.
    pub fn overwrite(&mut self, start: usize, with: &Self) -> bool {
        let len = with.len();
        if with.dtype != self.dtype {
            return false;
        }
        if self.len() == len && start == 0 {
            self.data = with.data.clone();
            return true;
        }
        with_native!(self.dtype, T => {
            let place = self.unique_mut::<T>().and_then(|all| all.get_mut(start..start + len));
            match (place, with.view::<T>()) {
                (Some(place), Some(View::Splat(x))) => place.fill(x),
                (Some(place), Some(View::Dense(all))) => place.copy_from_slice(all),
                _ => return false,
            }
        });
        true
    }

    /// Charges the memory of the tensor to `meter` for its lifetime, if it is not charged yet. The pool gets it afterwards.
    pub(crate) fn charge(&mut self, meter: &Arc<AtomicU64>, pool: Option<&Arc<BufferPool>>) {
        let bytes = self.stored_bytes();
        if let Data::Dense(buffer) = &mut self.data {
            with_native!(self.dtype, T => {
                if let Some(block) = T::from_buffer_mut(buffer).and_then(Arc::get_mut)
                    && block.charge.is_none()
                {
                    meter.fetch_add(bytes, Ordering::Relaxed);
                    block.charge = Some(Charge { meter: meter.clone(), bytes });
                    block.pool = pool
                        .filter(|_| BufferPool::keeps::<T>(block.data.len()))
                        .map(Arc::downgrade);
                }
            });
        }
    }

    /// Converts a literal to a tensor: elements are copied once, a splat is not expanded.
    ///
    /// # Errors
    /// If the number of elements overflows on this machine.
    pub fn from_literal(literal: &TensorLiteral) -> Result<Self, LiteralError> {
        let too_large = || LiteralError::TooLarge(Box::new(literal.ty()));
        let shape = literal.shape().iter().map(|&n| usize::try_from(n).ok());
        let shape = shape.collect::<Option<Shape>>().ok_or_else(too_large)?;
        count(&shape).ok_or_else(too_large)?;
        let dtype = literal.dtype();
        Ok(with_native!(dtype, T => match literal.as_splat() {
            Some(bytes) => Self::splat(dtype, shape, T::from_bytes(bytes)),
            None => {
                let chunks = literal.stored_bytes().chunks_exact(dtype.byte_size());
                Self::new(dtype, shape, chunks.map(T::from_bytes).collect())
            }
        }))
    }

    /// Converts the tensor to a literal.
    ///
    /// # Errors
    /// If it has more elements than a literal may have.
    pub fn to_literal(&self) -> Result<TensorLiteral, LiteralError> {
        let shape: SmallVec<[u64; 4]> = self.shape.iter().map(|&n| n as u64).collect();
        let size = self.dtype.byte_size();
        let made = with_native!(self.dtype, T => match self.view::<T>() {
            Some(View::Splat(x)) => {
                let mut bytes = Vec::with_capacity(size);
                x.write_bytes(&mut bytes);
                Some(TensorLiteral::splat(self.dtype, &shape, &bytes))
            }
            Some(View::Dense(all)) => {
                let mut bytes = Vec::with_capacity(all.len() * size);
                for x in all {
                    x.write_bytes(&mut bytes);
                }
                Some(TensorLiteral::new(self.dtype, &shape, &bytes))
            }
            None => None,
        });
        made.unwrap_or_else(|| Err(LiteralError::TooLarge(Box::new(self.ty()))))
    }
}

fn fits<T: Native>(dtype: DataType) -> bool {
    is_kept_as(dtype, T::DTYPE)
}

// Returns whether elements of type `dtype` are stored in the Rust type of `native`.
fn is_kept_as(dtype: DataType, native: DataType) -> bool {
    dtype == native
        || dtype == DataType::Index && native == DataType::I64
        || dtype.is_storage_only() && native.is_storage_only()
}

fn empty(dtype: DataType, shape: Shape) -> Tensor {
    with_native!(dtype, T => Tensor::new::<T>(dtype, shape, Vec::new()))
}

/// A run-time value.
#[derive(Clone, Debug)]
pub enum Value {
    /// A tensor.
    Tensor(Tensor),
    /// A tuple.
    Tuple(Arc<[Value]>),
    /// A token, which only orders side effects.
    Token,
}

impl Value {
    /// Returns the type, with all extents known.
    #[must_use]
    pub fn ty(&self) -> ValueType {
        match self {
            Self::Tensor(t) => ValueType::Tensor(t.ty()),
            Self::Tuple(elements) => ValueType::Tuple(elements.iter().map(Self::ty).collect()),
            Self::Token => ValueType::Token,
        }
    }

    /// Returns the tensor, if the value is one.
    #[must_use]
    pub fn as_tensor(&self) -> Option<&Tensor> {
        if let Self::Tensor(t) = self { Some(t) } else { None }
    }

    /// Returns the value as a literal, if it is a tensor.
    #[must_use]
    pub fn to_literal(&self) -> Option<TensorLiteral> {
        self.as_tensor()?.to_literal().ok()
    }

    pub(crate) fn charge(&mut self, meter: &Arc<AtomicU64>, pool: Option<&Arc<BufferPool>>) {
        if let Self::Tensor(t) = self {
            t.charge(meter, pool);
        }
    }
}

impl From<Tensor> for Value {
    fn from(t: Tensor) -> Self {
        Self::Tensor(t)
    }
}

impl TryFrom<&TensorLiteral> for Value {
    type Error = LiteralError;
    fn try_from(literal: &TensorLiteral) -> Result<Self, LiteralError> {
        Tensor::from_literal(literal).map(Self::Tensor)
    }
}

impl fmt::Display for Value {
    /// Prints a literal of at most 64 elements in the text form; only the type of other values.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Token => f.write_str("token"),
            Self::Tuple(elements) => {
                f.write_str("(")?;
                for (i, element) in elements.iter().enumerate() {
                    write!(f, "{}{element}", if i > 0 { ", " } else { "" })?;
                }
                f.write_str(")")
            }
            Self::Tensor(t) => {
                let literal =
                    (t.is_splat() || t.len() <= 64).then(|| t.to_literal().ok()).flatten();
                if let Some(literal) = literal {
                    let mut text = String::new();
                    crate::text::write_literal(
                        &mut text,
                        &literal,
                        &mut crate::text::LongLiteralMode::Written,
                    );
                    write!(f, "{text} : ")?;
                }
                fmt::Display::fmt(&t.ty(), f)
            }
        }
    }
}
