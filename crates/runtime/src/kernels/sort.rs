//! `sort` by one comparison of numbers: elements become unsigned keys with the same order, and lines of keys are sorted on several threads.

use sapwood_ptir::eval::{
    DataType, EvalCx, EvalResult, Fault, Native, Results, Tensor, Value, View,
};
use sapwood_ptir::{Op as _, ops, with_native};

use super::evaluate_in_fixed_order;
use super::parallel::for_each_chunk_of_work;

/// A comparison of the elements of one operand.
#[derive(Clone, Copy)]
struct Comparison {
    operand: usize,
    descending: bool,
    total: bool,
}

// Returns the comparison that the region of a sort performs, if it is a strict one.
fn comparison(cx: &EvalCx<'_>) -> Option<Comparison> {
    let region = cx.simple_region(0).filter(|region| region.op == ops::Compare::key())?;
    let (&[left, right], [direction, order]) = (region.operands, region.attrs) else {
        return None;
    };
    if left / 2 != right / 2 || left == right {
        return None;
    }
    let descending = match direction.as_word()? {
        "lt" => !left.is_multiple_of(2),
        "gt" => left.is_multiple_of(2),
        _ => return None,
    };
    Some(Comparison { operand: left / 2, descending, total: order.as_word()? == "total" })
}

/// An element type with keys of 32 bits.
trait SortKey: Native {
    /// Returns the key, or `None` for a number without an order.
    fn key(self, total: bool) -> Option<u32>;
}

impl SortKey for f32 {
    #[inline(always)]
    fn key(self, total: bool) -> Option<u32> {
        // Without the total order, zeros are equal and NaN has no order.
        let x = if total || self != 0.0 { self } else { 0.0 };
        let bits = x.to_bits();
        let flip = ((bits.cast_signed() >> 31) as u32) | 0x8000_0000;
        (total || !x.is_nan()).then_some(bits ^ flip)
    }
}

impl SortKey for i32 {
    #[inline(always)]
    fn key(self, _total: bool) -> Option<u32> {
        Some(self.cast_unsigned() ^ 0x8000_0000)
    }
}

impl SortKey for u32 {
    #[inline(always)]
    fn key(self, _total: bool) -> Option<u32> {
        Some(self)
    }
}

pub(super) fn sort(cx: &mut EvalCx<'_>) -> EvalResult {
    let Some(by) = comparison(cx) else { return evaluate_in_fixed_order(cx) };
    match cx.tensor(by.operand)?.dtype() {
        DataType::F32 => sort_by::<f32>(cx, by),
        DataType::I32 => sort_by::<i32>(cx, by),
        DataType::U32 => sort_by::<u32>(cx, by),
        _ => evaluate_in_fixed_order(cx),
    }
}

fn sort_by<T: SortKey>(cx: &mut EvalCx<'_>, by: Comparison) -> EvalResult {
    let sorted = cx.tensor(by.operand)?;
    let Some(View::Dense(elements)) = sorted.view::<T>() else {
        return evaluate_in_fixed_order(cx);
    };
    let shape = sorted.shape();
    let axis = cx.axis("axis", shape.len())?;
    let (n, total) = (shape[axis], elements.len());
    let inner: usize = shape[axis + 1..].iter().product();
    if n < 2 || n > u32::MAX as usize || total == 0 {
        return evaluate_in_fixed_order(cx);
    }
    // Each pair has the key of an element in its upper half, and the element's index along the axis in the lower.
    let mut pairs: Vec<u64> = cx.alloc(total)?;
    let invert = if by.descending { u32::MAX } else { 0 };
    for line in 0..total / n {
        let start = line / inner * n * inner + line % inner;
        for k in 0..n {
            let Some(key) = elements[start + k * inner].key(by.total) else {
                drop(pairs);
                return evaluate_in_fixed_order(cx);
            };
            pairs.push(u64::from(key ^ invert) << 32 | k as u64);
        }
    }
    let steps = u64::from(usize::BITS - n.leading_zeros());
    cx.work((total as u64).saturating_mul(steps))?;
    let lines = (super::parallel::CHUNK_ELEMENTS / n).max(1) * n;
    for_each_chunk_of_work(cx.threads(), total * 16, &mut pairs, lines, |_, chunk| {
        let mut spare = Vec::new();
        chunk.chunks_exact_mut(n).for_each(|line| sort_line(line, &mut spare));
    });
    let mut results = Results::new();
    for number in 0..cx.args().len() {
        let tensor = cx.tensor(number)?;
        let dtype = tensor.dtype();
        results.push(with_native!(dtype, U => match tensor.view::<U>() {
            Some(View::Dense(all)) => {
                let mut out = cx.buffer::<U>(total)?;
                if inner == 1 {
                    let lines = out.chunks_exact_mut(n).zip(pairs.chunks_exact(n));
                    for ((out, line), from) in lines.zip(all.chunks_exact(n)) {
                        let element = |pair: &u64| from[(pair & 0xffff_ffff) as usize];
                        out.iter_mut().zip(line).for_each(|(y, pair)| *y = element(pair));
                    }
                } else {
                    for (line, order) in pairs.chunks_exact(n).enumerate() {
                        let start = line / inner * n * inner + line % inner;
                        for (k, pair) in order.iter().enumerate() {
                            let from = (pair & 0xffff_ffff) as usize;
                            out[start + k * inner] = all[start + from * inner];
                        }
                    }
                }
                Value::Tensor(Tensor::new(dtype, tensor.shape(), out))
            }
            Some(View::Splat(_)) => Value::Tensor(tensor.clone()),
            None => return Err(Fault::op("an operand has a wrong type")),
        }));
    }
    Ok(results)
}

/// The least number of elements that are sorted by digits; fewer are sorted by comparisons.
const MIN_DIGIT_SORTED: usize = 192;

// Sorts pairs. They are in the order of their lower halves, and equal keys stay in it.
fn sort_line(line: &mut [u64], spare: &mut Vec<u64>) {
    let n = line.len();
    if n < MIN_DIGIT_SORTED {
        line.sort_unstable();
        return;
    }
    let digit = |pair: u64, place: usize| (pair >> (32 + 8 * place)) as usize & 0xff;
    let mut counts = [[0u32; 256]; 4];
    for &pair in &*line {
        for (place, counts) in counts.iter_mut().enumerate() {
            counts[digit(pair, place)] += 1;
        }
    }
    spare.resize(n, 0);
    let (mut from, mut to) = (&mut *line, &mut spare[..n]);
    let mut moved = 0;
    for (place, counts) in counts.iter_mut().enumerate() {
        // A digit that all keys share changes nothing.
        if counts[digit(from[0], place)] as usize == n {
            continue;
        }
        let mut next = 0;
        for count in counts.iter_mut() {
            let first = next;
            next += *count;
            *count = first;
        }
        for &pair in &*from {
            let at = &mut counts[digit(pair, place)];
            to[*at as usize] = pair;
            *at += 1;
        }
        std::mem::swap(&mut from, &mut to);
        moved += 1;
    }
    if moved % 2 == 1 {
        line.copy_from_slice(&spare[..n]);
    }
}
