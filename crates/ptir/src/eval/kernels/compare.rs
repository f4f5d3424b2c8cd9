//! `compare`, `select`, `clamp`.

use sapwood_types::DataType;

use super::cast::cast;
use super::elementwise::{no_kernel, same_shape, view, zip_to};
use crate::eval::context::{EvalCx, EvalResult, one};
use crate::eval::error::Fault;
use crate::eval::native::{Cplx, Float, Native, Num};
use crate::eval::tensor::{Tensor, View};
use crate::{with_complex, with_float, with_native};

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
    // The most used types have loops of their own; the others are compared as a type that holds all their values.
    use DataType::{F32, F64, I32, I64, Index, U64};
    let wide = match dtype {
        F32 | F64 | I32 | I64 | U64 | Index => dtype,
        _ if dtype.is_float() => F64,
        _ => I64,
    };
    if wide != dtype {
        let (left, right) = (cx.take_tensor(0)?, cx.take_tensor(1)?);
        let operands = [cast(cx, left, wide)?.into(), cast(cx, right, wide)?.into()];
        cx.put_args(operands);
    }
    match wide {
        F32 => ordered(cx, direction, |x: f32| x),
        F64 => ordered(cx, direction, |x: f64| x),
        I32 => ordered(cx, direction, |x: i32| x),
        U64 => ordered(cx, direction, |x: u64| x),
        _ => ordered(cx, direction, |x: i64| x),
    }
}

fn ordered<T: Native, K: PartialOrd>(
    cx: &mut EvalCx<'_>,
    direction: &str,
    key: fn(T) -> K,
) -> EvalResult {
    // Which outcomes are asked for: less, equal, greater, and with NaN none of them.
    let asked: u8 = match direction {
        "eq" => 2,
        "ne" => 1 | 4 | 8,
        "lt" => 1,
        "le" => 1 | 2,
        "gt" => 4,
        "ge" => 2 | 4,
        _ => return Err(Fault::op(format!("`direction` is {direction}"))),
    };
    zip_to(cx, DataType::Bool, |x, y| {
        let (x, y) = (key(x), key(y));
        let (less, equal, greater) = (u8::from(x < y), u8::from(x == y), u8::from(x > y));
        let outcome = less | equal << 1 | greater << 2;
        asked & outcome != 0 || asked & 8 != 0 && outcome == 0
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
        let mut out = cx.alloc(chosen.len())?;
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
    with_native!(dtype, T => {
        let (lows, all, highs) = (view::<T>(&low)?, view::<T>(&input)?, view::<T>(&high)?);
        let clamp = |low: T, x: T, high: T| Num::smaller(Num::larger(x, low), high);
        if let (View::Splat(low), View::Splat(x), View::Splat(high)) = (lows, all, highs) {
            return one(Tensor::splat(dtype, input.shape(), clamp(low, x, high)));
        }
        let mut out = cx.alloc(input.len())?;
        match (lows, all, highs) {
            (View::Splat(low), View::Dense(all), View::Splat(high)) => {
                out.extend(all.iter().map(|&x| clamp(low, x, high)));
            }
            _ => out.extend((0..input.len()).map(|i| clamp(lows.get(i), all.get(i), highs.get(i)))),
        }
        one(Tensor::new(dtype, input.shape(), out))
    })
}
