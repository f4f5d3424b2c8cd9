//! Canonicalizations of large constants.

use sapwood_ptir::ops::{Constant, Iota};
use sapwood_ptir::{Int, TensorLiteral, Value};
use sapwood_types::DataType;

use super::iota::can_count_to;
use super::tensor_views::{AxisList, emit_broadcast};
use crate::pattern::Rewrite;

/// Constants with fewer bytes are not examined: an instruction is no smaller.
pub(crate) const MIN_RECOGNIZED_BYTES: usize = 4096;

crate::patterns! { "constant":
    constant_as_iota benefit 0,
    constant_as_broadcast benefit 0,
}

/// Returns true if a constant is large enough to be replaced by an instruction.
pub(crate) fn is_recognizable(literal: &TensorLiteral) -> bool {
    literal.stored_bytes().len() >= MIN_RECOGNIZED_BYTES
}

/// The elements of a tensor as blocks along one of its axes.
struct Blocks<'a> {
    bytes: &'a [u8],
    /// The number of bytes of a block, all of whose elements have one index along the axis.
    size: usize,
    /// The number of blocks of the axis.
    count: usize,
}

impl<'a> Blocks<'a> {
    fn along(shape: &[u64], axis: usize, bytes: &'a [u8], element: usize) -> Option<Self> {
        let inner: u64 = shape[axis + 1..].iter().product();
        let size = usize::try_from(inner).ok()?.checked_mul(element)?;
        Some(Self { bytes, size, count: usize::try_from(shape[axis]).ok()? })
    }

    // Returns the blocks with their index along the axis.
    fn numbered(&self) -> impl Iterator<Item = (usize, &'a [u8])> {
        let count = self.count;
        self.bytes.chunks_exact(self.size).enumerate().map(move |(n, block)| (n % count, block))
    }

    // Returns true if the elements do not depend on the index along the axis.
    fn all_equal(&self) -> bool {
        self.bytes
            .chunks_exact(self.size * self.count)
            .all(|all| all.chunks_exact(self.size).all(|block| block == &all[..self.size]))
    }

    // Returns the first block of each row of blocks.
    fn first(&self) -> Vec<u8> {
        let rows = self.bytes.chunks_exact(self.size * self.count);
        rows.flat_map(|row| &row[..self.size]).copied().collect()
    }
}

// Returns the bytes of an integer as an element.
fn number(dtype: DataType, n: usize) -> Option<TensorLiteral> {
    TensorLiteral::filled(dtype, &[], n as f64).ok()
}

/// `constant = iota` for a constant of at least 4096 bytes whose elements are their index along an axis.
///
/// It is tried when nothing else is left to do, so that patterns that read the elements come first.
///
/// Cost: the elements are computed, not stored.
///
/// Floats: exact.
fn constant_as_iota(op: Constant, rw: &mut Rewrite<'_>) -> Option<Value> {
    let (dtype, shape) = (op.value.dtype(), op.value.shape());
    let whole = dtype.is_integer() || dtype.is_float();
    if !whole || dtype.bit_width() < 8 || !is_recognizable(&op.value) {
        return None;
    }
    let bytes = op.value.stored_bytes();
    for axis in 0..shape.len() {
        let blocks = Blocks::along(shape, axis, bytes, dtype.byte_size())?;
        // The second block tells most constants apart.
        let second = number(dtype, 1)?;
        let counts = bytes.get(blocks.size..blocks.size + dtype.byte_size());
        if shape[axis] < 2 || counts != second.as_splat() || !can_count_to(dtype, shape[axis]) {
            continue;
        }
        let is_number = |(n, block): (usize, &[u8])| {
            number(dtype, n).is_some_and(|number| {
                let own = number.as_splat();
                block.chunks_exact(dtype.byte_size()).all(|element| Some(element) == own)
            })
        };
        if blocks.numbered().all(is_number) {
            return rw.emit(Iota { axis: Int::from(axis), ty: op.value.ty().into() });
        }
    }
    None
}

/// `constant = broadcast(constant)` for a constant of at least 4096 bytes whose elements repeat along an axis.
///
/// It is tried when nothing else is left to do, so that patterns that read the elements come first.
///
/// Cost: the elements are repeated, not stored.
///
/// Floats: exact.
fn constant_as_broadcast(op: Constant, rw: &mut Rewrite<'_>) -> Option<Value> {
    let (dtype, mut shape) = (op.value.dtype(), op.value.shape().to_vec());
    if dtype.bit_width() < 8 || !is_recognizable(&op.value) {
        return None;
    }
    let mut small: Option<Vec<u8>> = None;
    let mut kept = AxisList::new();
    for axis in 0..shape.len() {
        let bytes = small.as_deref().unwrap_or(op.value.stored_bytes());
        let blocks = Blocks::along(&shape, axis, bytes, dtype.byte_size())?;
        if shape[axis] < 2 || !blocks.all_equal() {
            kept.push(axis);
            continue;
        }
        small = Some(blocks.first());
        shape[axis] = 1;
    }
    let shape: Vec<u64> = kept.iter().map(|&axis| shape[axis]).collect();
    let small = TensorLiteral::new(dtype, &shape, &small?).ok()?;
    let small = rw.constant(small);
    emit_broadcast(rw, small, &kept, &op.value.ty())
}
