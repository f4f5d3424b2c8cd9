//! `sort` by one comparison of numbers: elements become unsigned keys with the same order, and lines of keys are sorted on several threads.
#![allow(
    clippy::needless_range_loop,
    reason = "the steps of joined iterators are not always inlined"
)]

use sapwood_ptir::eval::{
    DataType, EvalCx, EvalResult, Fault, Native, Results, Tensor, Value, View, one,
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
    /// Returns the element with a key in the total order.
    fn of_key(key: u32) -> Self;
    /// Returns whether another element has the same key, without the total order.
    fn shares_key(self) -> bool {
        false
    }
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
    #[inline(always)]
    fn of_key(key: u32) -> Self {
        let flip = ((!key.cast_signed() >> 31) as u32) | 0x8000_0000;
        Self::from_bits(key ^ flip)
    }
    #[inline(always)]
    fn shares_key(self) -> bool {
        self == 0.0 && self.is_sign_negative()
    }
}

impl SortKey for i32 {
    #[inline(always)]
    fn key(self, _total: bool) -> Option<u32> {
        Some(self.cast_unsigned() ^ 0x8000_0000)
    }
    #[inline(always)]
    fn of_key(key: u32) -> Self {
        (key ^ 0x8000_0000).cast_signed()
    }
}

impl SortKey for u32 {
    #[inline(always)]
    fn key(self, _total: bool) -> Option<u32> {
        Some(self)
    }
    #[inline(always)]
    fn of_key(key: u32) -> Self {
        key
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
    let invert = if by.descending { u32::MAX } else { 0 };
    let steps = u64::from(usize::BITS - n.leading_zeros());
    // Equal keys of one operand are equal elements, so their order does not matter.
    let has_key = |x: &T| x.key(by.total).is_some() && (by.total || !x.shares_key());
    if cx.args().len() == 1 && (by.total || elements.iter().all(has_key)) {
        cx.work((total as u64).saturating_mul(steps))?;
        let mut out = cx.buffer::<T>(total)?;
        sort_plain(cx.threads(), elements, &mut out, (n, inner), invert);
        return one(Tensor::new(sorted.dtype(), sorted.shape(), out));
    }
    // Each pair has the key of an element in its upper half, and the element's index along the axis in the lower.
    let mut pairs: Vec<u64> = cx.alloc(total)?;
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
    cx.work((total as u64).saturating_mul(steps))?;
    let lines = (super::parallel::CHUNK_ELEMENTS / n).max(1) * n;
    for_each_chunk_of_work(cx.threads(), total * 16, &mut pairs, lines, |_, chunk| {
        let mut spare = Vec::new();
        chunk
            .chunks_exact_mut(n)
            .for_each(|line| sort_line(line, &mut spare, |pair| (pair >> 32) as u32));
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

/// The number of lines that are sorted side by side.
const LANES: usize = 16;
/// The longest lines that are sorted side by side: the steps per element grow with the square of the logarithm.
const MAX_SIDE_BY_SIDE: usize = 2048;

// Sorts lines of one operand: `n` elements each, `inner` apart.
fn sort_plain<T: SortKey>(
    threads: usize,
    from: &[T],
    out: &mut [T],
    (n, inner): (usize, usize),
    invert: u32,
) {
    let key = |x: T| x.key(true).unwrap_or_default() ^ invert;
    let slab = n * inner;
    let side_by_side = n <= MAX_SIDE_BY_SIDE;
    let chunk = if inner == 1 { LANES * n } else { slab };
    for_each_chunk_of_work(threads, from.len() * 16, out, chunk, |first, out| {
        let from = &from[first..first + out.len()];
        // Within a chunk, element `k` of line `l` is at `l * line + k * inner`.
        let (lines, line) = if inner == 1 { (out.len() / n, n) } else { (inner, 1) };
        let (mut block, mut keys, mut spare) = (Vec::new(), Vec::new(), Vec::new());
        for start in (0..lines).step_by(LANES) {
            let now = LANES.min(lines - start);
            if side_by_side && now > 1 {
                // Rows beyond the end are the largest.
                block.resize(n.next_power_of_two(), [u32::MAX; LANES]);
                if now < LANES {
                    block.fill([u32::MAX; LANES]);
                }
                block[n..].fill([u32::MAX; LANES]);
                load_lines(&mut block[..n], &from[start * line..], now, (line, inner), key);
                sort_side_by_side(&mut block);
                store_lines(&block[..n], &mut out[start * line..], now, (line, inner), |key| {
                    T::of_key(key ^ invert)
                });
                continue;
            }
            for l in start..start + now {
                keys.clear();
                keys.extend((0..n).map(|k| key(from[l * line + k * inner])));
                sort_line(&mut keys, &mut spare, |key| key);
                for (k, &key) in keys.iter().enumerate() {
                    out[l * line + k * inner] = T::of_key(key ^ invert);
                }
            }
        }
    });
}

// Loads element `k` of line `l` from `l * line + k * step`.
fn load_lines<T: Copy>(
    block: &mut [[u32; LANES]],
    from: &[T],
    lines: usize,
    (line, step): (usize, usize),
    key: impl Fn(T) -> u32,
) {
    if lines == LANES && step == 1 {
        // By tiles: keys of adjacent elements are made together.
        for (tile, first) in block.chunks_mut(LANES).zip((0..).step_by(LANES)) {
            let mut keys = [[0; LANES]; LANES];
            for l in 0..LANES {
                let from = &from[l * line + first..][..tile.len()];
                for k in 0..from.len() {
                    keys[l][k] = key(from[k]);
                }
            }
            for k in 0..tile.len() {
                for l in 0..LANES {
                    tile[k][l] = keys[l][k];
                }
            }
        }
        return;
    }
    for (k, row) in block.iter_mut().enumerate() {
        for (l, y) in row[..lines].iter_mut().enumerate() {
            *y = key(from[l * line + k * step]);
        }
    }
}

fn store_lines<T: Copy>(
    block: &[[u32; LANES]],
    out: &mut [T],
    lines: usize,
    (line, step): (usize, usize),
    element: impl Fn(u32) -> T,
) {
    if step == 1 {
        // By tiles, whose rows are in the L1 cache for all lines.
        for (tile, first) in block.chunks(LANES).zip((0..).step_by(LANES)) {
            for l in 0..lines {
                let out = &mut out[l * line + first..][..tile.len()];
                for k in 0..tile.len() {
                    out[k] = element(tile[k][l]);
                }
            }
        }
        return;
    }
    for (k, row) in block.iter().enumerate() {
        for (l, &key) in row[..lines].iter().enumerate() {
            out[l * line + k * step] = element(key);
        }
    }
}

/// The number of rows that are sorted before they are merged with others: they fit the L1 cache.
const SORTED_ROWS: usize = 256;

// Sorts all lanes by a bitonic network of comparisons, which are the same for all of them. The number of rows is a power of two.
fn sort_side_by_side(block: &mut [[u32; LANES]]) {
    debug_assert!(block.len().is_power_of_two());
    pulp::Arch::new().dispatch(SortRows(block));
}

struct SortRows<'a>(&'a mut [[u32; LANES]]);

impl pulp::WithSimd for SortRows<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: pulp::Simd>(self, simd: S) {
        let (all, _) = S::as_mut_simd_u32s(self.0.as_flattened_mut());
        // The number of vectors in a row.
        let width = LANES / S::U32_LANES;
        for part in all.chunks_mut(SORTED_ROWS * width) {
            merge_runs(simd, part, width, 1);
        }
        merge_runs(simd, all, width, SORTED_ROWS);
    }
}

// Merges sorted runs of a number of rows until all rows are one run.
#[inline(always)]
fn merge_runs<S: pulp::Simd>(simd: S, all: &mut [S::u32s], width: usize, mut run: usize) {
    while run * width < all.len() {
        let mut distance = if run == 1 {
            1
        } else {
            compare_mirrored(simd, all, width, run);
            run / 4
        };
        while distance > 0 {
            match distance {
                1 => compare_at_distances::<S, 2>(simd, all, width),
                2 => compare_at_distances::<S, 4>(simd, all, width),
                _ => compare_at_distances::<S, 8>(simd, all, distance / 4 * width),
            }
            distance /= 8;
        }
        run *= 2;
    }
}

// Compares each row of a run with the row of the next run at the same distance from the border, and then rows at half the length of a run.
#[inline(always)]
fn compare_mirrored<S: pulp::Simd>(simd: S, all: &mut [S::u32s], width: usize, run: usize) {
    let half = run / 2 * width;
    for part in all.chunks_exact_mut(2 * run * width) {
        for row in 0..run / 2 {
            for lane in 0..width {
                let low = row * width + lane;
                let high = (2 * run - 1 - row) * width + lane;
                let (a, d) = in_order(simd, part[low], part[high]);
                let (b, c) = in_order(simd, part[low + half], part[high - half]);
                (part[low], part[low + half]) = in_order(simd, a, b);
                (part[high - half], part[high]) = in_order(simd, c, d);
            }
        }
    }
}

// Compares vectors at the distances `N / 2 * step`, half of that, and so on to `step`, with `N` of them in registers.
#[inline(always)]
fn compare_at_distances<S: pulp::Simd, const N: usize>(simd: S, all: &mut [S::u32s], step: usize) {
    for part in all.chunks_exact_mut(N * step) {
        for i in 0..step {
            let mut rows = [part[i]; N];
            for k in 1..N {
                rows[k] = part[i + k * step];
            }
            let mut distance = N / 2;
            while distance > 0 {
                for k in 0..N {
                    if k & distance == 0 {
                        let pair = in_order(simd, rows[k], rows[k + distance]);
                        (rows[k], rows[k + distance]) = pair;
                    }
                }
                distance /= 2;
            }
            for k in 0..N {
                part[i + k * step] = rows[k];
            }
        }
    }
}

// Returns the smaller and the larger elements of two vectors.
#[inline(always)]
fn in_order<S: pulp::Simd>(simd: S, x: S::u32s, y: S::u32s) -> (S::u32s, S::u32s) {
    let swap = simd.less_than_u32s(y, x);
    (simd.select_u32s(swap, y, x), simd.select_u32s(swap, x, y))
}

/// The least number of elements that are sorted by digits; fewer are sorted by comparisons.
const MIN_DIGIT_SORTED: usize = 192;

// Sorts elements by their keys. Elements with equal keys are in ascending order, and stay in it.
fn sort_line<K: Copy + Ord + Default>(line: &mut [K], spare: &mut Vec<K>, key: impl Fn(K) -> u32) {
    let n = line.len();
    if n < MIN_DIGIT_SORTED {
        line.sort_unstable();
        return;
    }
    let digit = |pair: K, place: usize| (key(pair) >> (8 * place)) as usize & 0xff;
    let mut counts = [[0u32; 256]; 4];
    for &pair in &*line {
        for (place, counts) in counts.iter_mut().enumerate() {
            counts[digit(pair, place)] += 1;
        }
    }
    spare.resize(n, K::default());
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_sorted_side_by_side() {
        let mut state = 1u32;
        let next = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            state >> 20
        };
        let numbers: Vec<u32> = std::iter::repeat_with(next).take(2048 * LANES).collect();
        for n in (0..12).map(|power| 1 << power) {
            let mut block: Vec<[u32; LANES]> =
                numbers.chunks_exact(LANES).take(n).map(|row| row.try_into().unwrap()).collect();
            let mut lines: Vec<Vec<u32>> =
                (0..LANES).map(|l| block.iter().map(|row| row[l]).collect()).collect();
            sort_side_by_side(&mut block);
            for (l, line) in lines.iter_mut().enumerate() {
                line.sort_unstable();
                assert!(block.iter().map(|row| row[l]).eq(line.iter().copied()), "{n} {l}");
            }
        }
    }

    #[test]
    fn keys_belong_to_one_element() {
        for x in
            [0.0, -0.0, 1.5, -1.5, f32::INFINITY, f32::NEG_INFINITY, 1e-45, f32::NAN, -f32::NAN]
        {
            assert_eq!(f32::of_key(x.key(true).unwrap()).to_bits(), x.to_bits());
        }
        for x in [0, 1, -1, i32::MIN, i32::MAX] {
            assert_eq!(i32::of_key(x.key(true).unwrap()), x);
        }
    }
}
