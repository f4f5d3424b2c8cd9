//! The kernels of `compare`, `select` and `clamp`.

use std::cmp::Ordering;

use sapwood_types::DataType;

use super::cast::{CHUNK, Wide, widen};
use super::elementwise::{no_kernel, same_shape, take_pair, view, zip_to};
use crate::eval::context::{EvalCx, EvalResult, one};
use crate::eval::error::Fault;
use crate::eval::native::{Cplx, Float, Native, Num};
use crate::eval::tensor::{Tensor, View};
use crate::{with_complex, with_computed, with_float, with_native};

pub(crate) fn compare(cx: &mut EvalCx<'_>) -> EvalResult {
    let (direction, total) = (cx.word("direction")?, cx.word("order")? == "total");
    let dtype = cx.tensor(0)?.dtype();
    if dtype.is_complex() {
        let same = direction == "eq";
        return with_complex!(dtype, T => zip_to(cx, DataType::Bool, |x: T, y: T| {
            let equal = x.re().number() == y.re().number() && x.im().number() == y.im().number();
            equal == same
        }), _ => no_kernel(dtype));
    }
    if dtype.is_float() && total {
        return with_float!(dtype, T => {
            ordered(cx, direction, |x: T| x.order_key())
        }, _ => no_kernel(dtype));
    }
    // The most frequent types have their own loops; the others share one that compares keys.
    match dtype {
        DataType::F32 => ordered(cx, direction, |x: f32| x),
        DataType::F64 => ordered(cx, direction, |x: f64| x),
        DataType::I32 => ordered(cx, direction, |x: i32| x),
        DataType::I64 | DataType::Index => ordered(cx, direction, |x: i64| x),
        _ => by_keys(cx, direction),
    }
}

/// The outcomes of an ordering for which a comparison is true.
#[derive(Clone, Copy)]
struct Outcomes {
    less: bool,
    equal: bool,
    greater: bool,
    unordered: bool,
}

impl Outcomes {
    fn of(direction: &str) -> Result<Self, Fault> {
        if !matches!(direction, "eq" | "ne" | "lt" | "le" | "gt" | "ge") {
            return Err(Fault::op(format!("`direction` is {direction}")));
        }
        Ok(Self {
            less: matches!(direction, "lt" | "le" | "ne"),
            equal: matches!(direction, "eq" | "le" | "ge"),
            greater: matches!(direction, "gt" | "ge" | "ne"),
            unordered: direction == "ne",
        })
    }
}

fn ordered<T: Native, K: PartialOrd>(
    cx: &mut EvalCx<'_>,
    direction: &str,
    key: fn(T) -> K,
) -> EvalResult {
    let Outcomes { less, equal, greater, unordered } = Outcomes::of(direction)?;
    zip_to(cx, DataType::Bool, |x, y| {
        let (x, y) = (key(x), key(y));
        let (lt, eq, gt) = (x < y, x == y, x > y);
        less & lt | equal & eq | greater & gt | unordered & !(lt | eq | gt)
    })
}

// Compares elements by their keys, a few at a time, to save memory.
fn by_keys(cx: &mut EvalCx<'_>, direction: &str) -> EvalResult {
    let asked = Outcomes::of(direction)?;
    let (a, b) = take_pair(cx)?;
    let splat = a.is_splat() && b.is_splat();
    let len = if splat { 1 } else { a.len() };
    let mut out: Vec<bool> = cx.alloc_result(len)?;
    let mut keys = [[Wide::Signed(0); CHUNK]; 2];
    while out.len() < len {
        let now = (len - out.len()).min(CHUNK);
        for (keys, tensor) in keys.iter_mut().zip([&a, &b]) {
            widen(tensor, out.len(), &mut keys[..now])?;
        }
        let [left, right] = &keys;
        out.extend(left[..now].iter().zip(right).map(|(x, y)| match x.compare(*y) {
            Some(Ordering::Less) => asked.less,
            Some(Ordering::Equal) => asked.equal,
            Some(Ordering::Greater) => asked.greater,
            None => asked.unordered,
        }));
    }
    one(match out[..] {
        [x] if splat => Tensor::splat(DataType::Bool, a.shape(), x),
        _ => Tensor::new(DataType::Bool, a.shape(), out),
    })
}

pub(crate) fn select(cx: &mut EvalCx<'_>) -> EvalResult {
    let (pred, yes, no) = (cx.take_tensor(0)?, cx.take_tensor(1)?, cx.take_tensor(2)?);
    same_shape(&yes, &no)?;
    let chosen = match view::<bool>(&pred)? {
        View::Splat(true) => return one(yes),
        View::Splat(false) => return one(no),
        View::Dense(chosen) => chosen,
    };
    if pred.shape() != yes.shape() {
        return Err(Fault::op(format!("`pred` is {}, the choices are {}", pred.ty(), yes.ty())));
    }
    let dtype = yes.dtype();
    with_native!(dtype, T => {
        let (yes_all, no_all) = (view::<T>(&yes)?, view::<T>(&no)?);
        let mut out = cx.alloc_result(chosen.len())?;
        match (yes_all, no_all) {
            (View::Dense(a), View::Dense(b)) => {
                let pairs = a.iter().zip(b);
                out.extend(chosen.iter().zip(pairs).map(|(&c, (&a, &b))| if c { a } else { b }));
            }
            (a, b) => {
                let choose = |(i, &c): (usize, &bool)| if c { a.get(i) } else { b.get(i) };
                out.extend(chosen.iter().enumerate().map(choose));
            }
        }
        one(Tensor::new(dtype, yes.shape(), out))
    })
}

pub(crate) fn clamp(cx: &mut EvalCx<'_>) -> EvalResult {
    let (low, input, high) = (cx.take_tensor(0)?, cx.take_tensor(1)?, cx.take_tensor(2)?);
    for bound in [&low, &high] {
        if !bound.shape().is_empty() {
            same_shape(bound, &input)?;
        }
    }
    let dtype = input.dtype();
    with_computed!(dtype, T => {
        let (lows, all, highs) = (view::<T>(&low)?, view::<T>(&input)?, view::<T>(&high)?);
        let clamp = |low: T, x: T, high: T| Num::smaller(Num::larger(x, low), high);
        if let (View::Splat(low), View::Splat(x), View::Splat(high)) = (lows, all, highs) {
            return one(Tensor::splat(dtype, input.shape(), clamp(low, x, high)));
        }
        let mut out = cx.alloc_result(input.len())?;
        match (lows, all, highs) {
            (View::Splat(low), View::Dense(all), View::Splat(high)) => {
                out.extend(all.iter().map(|&x| clamp(low, x, high)));
            }
            _ => out.extend((0..input.len()).map(|i| clamp(lows.get(i), all.get(i), highs.get(i)))),
        }
        one(Tensor::new(dtype, input.shape(), out))
    }, _ => no_kernel(dtype))
}
