//! The kernels of random numbers: Threefry-2x32 with 20 rounds.

use sapwood_types::DataType;

use super::elementwise::no_kernel;
use crate::eval::context::{EvalCx, EvalResult, Results};
use crate::eval::error::Fault;
use crate::eval::math::special_functions;
use crate::eval::native::{Float, Int, Native};
use crate::eval::tensor::{Shape, Tensor, count};
use crate::{with_float, with_int};

/// The state of a random stream: a key and a counter.
struct Stream {
    key: [u32; 2],
    counter: u64,
    // The unused word of the last step.
    rest: Option<u32>,
}

impl Stream {
    fn new(cx: &EvalCx<'_>) -> Result<Self, Fault> {
        let state = cx.elements::<u64>(0)?;
        let [key, counter] = state[..] else { return Err(Fault::op("the state is not u64[2]")) };
        Ok(Self { key: words(key), counter, rest: None })
    }

    fn step(&mut self) -> [u32; 2] {
        let out = threefry(self.key, words(self.counter));
        self.counter = self.counter.wrapping_add(1);
        out
    }

    /// Returns an element of `width` bits: the low bits of one word, or two words, the low one first.
    fn bits(&mut self, width: u32) -> u64 {
        if width > 32 {
            let [low, high] = self.step();
            return u64::from(high) << 32 | u64::from(low);
        }
        let word = match self.rest.take() {
            Some(word) => word,
            None => {
                let [first, second] = self.step();
                self.rest = Some(second);
                first
            }
        };
        u64::from(word) & (u64::MAX >> (64 - width))
    }

    fn state(&self) -> Tensor {
        let key = u64::from(self.key[1]) << 32 | u64::from(self.key[0]);
        Tensor::new(DataType::U64, [2], vec![key, self.counter])
    }
}

// Splits a number into two words, the low one first.
fn words(n: u64) -> [u32; 2] {
    [n as u32, (n >> 32) as u32]
}

/// Computes Threefry-2x32 with 20 rounds, after Salmon and others, "Parallel random numbers: as easy as 1, 2, 3" (2011).
fn threefry(key: [u32; 2], counter: [u32; 2]) -> [u32; 2] {
    const ROTATIONS: [u32; 8] = [13, 15, 26, 6, 17, 29, 16, 24];
    let keys = [key[0], key[1], key[0] ^ key[1] ^ 0x1bd1_1bda];
    let mut x = [counter[0].wrapping_add(keys[0]), counter[1].wrapping_add(keys[1])];
    for round in 0..20 {
        x[0] = x[0].wrapping_add(x[1]);
        x[1] = x[1].rotate_left(ROTATIONS[round % 8]) ^ x[0];
        if round % 4 == 3 {
            let turn = round / 4 + 1;
            x[0] = x[0].wrapping_add(keys[turn % 3]);
            x[1] = x[1].wrapping_add(keys[(turn + 1) % 3]).wrapping_add(turn as u32);
        }
    }
    x
}

fn draw<T: Native>(
    cx: &EvalCx<'_>,
    dtype: DataType,
    mut next: impl FnMut(&mut Stream) -> T,
) -> EvalResult {
    let shape: Shape = cx.result_shape(1)?;
    let len = count(&shape).unwrap_or(0);
    let mut stream = Stream::new(cx)?;
    let mut out = cx.alloc_result(len)?;
    out.extend((0..len).map(|_| next(&mut stream)));
    let values = Tensor::new(dtype, shape, out);
    Ok(Results::from_iter([stream.state().into(), values.into()]))
}

pub(crate) fn rng_bits(cx: &mut EvalCx<'_>) -> EvalResult {
    let dtype = cx.result_dtype(1)?;
    with_int!(dtype, T => {
        draw(cx, dtype, |stream| T::wrap(stream.bits(T::BITS).into()))
    }, _ => no_kernel(dtype))
}

// Returns as many top bits as the fraction has.
fn top<T: Float>(stream: &mut Stream) -> u64 {
    stream.bits(T::WIDTH) >> (T::WIDTH - T::FRACTION)
}

fn power_of_two(exponent: i32) -> f64 {
    libm::scalbn(1.0, exponent)
}

pub(crate) fn rng_uniform(cx: &mut EvalCx<'_>) -> EvalResult {
    let dtype = cx.result_dtype(1)?;
    with_float!(dtype, T => {
        let unit = power_of_two(-(T::FRACTION as i32));
        draw(cx, dtype, |stream| T::nearest(top::<T>(stream) as f64 * unit))
    }, _ => no_kernel(dtype))
}

pub(crate) fn rng_normal(cx: &mut EvalCx<'_>) -> EvalResult {
    let dtype = cx.result_dtype(1)?;
    with_float!(dtype, T => {
        let unit = power_of_two(-(T::FRACTION as i32));
        // The midpoints of equal parts of (-1, 1): exact, symmetric, never an end point.
        let spread = |k: u64| (2 * k + 1) as f64 * unit - 1.0;
        let normal = |u: f64| std::f64::consts::SQRT_2 * special_functions::erf_inv(u);
        draw(cx, dtype, |stream| T::nearest(normal(spread(top::<T>(stream)))))
    }, _ => no_kernel(dtype))
}

#[cfg(test)]
mod tests {
    use super::threefry;

    #[test]
    fn the_published_examples() {
        let ones = u32::MAX;
        assert_eq!(threefry([0, 0], [0, 0]), [0x6b20_0159, 0x99ba_4efe]);
        assert_eq!(threefry([ones, ones], [ones, ones]), [0x1cb9_96fc, 0xbb00_2be7]);
        assert_eq!(
            threefry([0x1319_8a2e, 0x0370_7344], [0x243f_6a88, 0x85a3_08d3]),
            [0xc492_3a9c, 0x483d_f7a0]
        );
    }
}
