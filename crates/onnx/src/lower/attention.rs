//! Attention and rotary embeddings.

use sapwood_ptir::Dim;
use sapwood_ptir::eval::DataType;
use sapwood_ptir::ops::Direction;

use super::builder::V;
use super::context::Cx;
use super::normalization::softmax;
use super::shape::reshape_ints;

// Splits the last axis of `[batch, length, heads * size]` into heads: `[batch, heads, length, size]`.
fn split_heads<'b>(x: V<'b>, heads: i64) -> V<'b> {
    let [b, s, d] = [x.extent(0), x.extent(1), x.extent(2)];
    reshape_ints(x, &[b, s, heads.max(1), d / heads.max(1)]).transpose(&[0, 2, 1, 3])
}

pub(super) fn attention<'b>(cx: &Cx<'b>) -> Vec<V<'b>> {
    let is_flat = cx.x(0).rank() == 3;
    let (q_heads, kv_heads) = (cx.int("q_num_heads", 1), cx.int("kv_num_heads", 1));
    let split = |x: V<'b>, heads| if is_flat { split_heads(x, heads) } else { x };
    let (q, mut k, mut v) =
        (split(cx.x(0), q_heads), split(cx.x(1), kv_heads), split(cx.x(2), kv_heads));
    if [q.rank(), k.rank(), v.rank()] != [4; 3] {
        return vec![cx.fail("the operands do not have rank 4")];
    }
    let past = cx.opt(4).map_or(0, |past| past.extent(2));
    if let (Some(past_k), Some(past_v)) = (cx.opt(4), cx.opt(5)) {
        (k, v) = (cx.b.concat(&[past_k, k], 2), cx.b.concat(&[past_v, v], 2));
    }
    let present = (k, v);
    let [b, hq, sq, dim] = [q.extent(0), q.extent(1), q.extent(2), q.extent(3)];
    let [hk, sk] = [k.extent(1), k.extent(2)];
    if hq != hk && hk > 0 {
        let repeat = |x: V<'b>| {
            let d = x.extent(3);
            let wide = [b, hk, hq / hk, sk, d].map(|n| Dim::Known(n as u64));
            reshape_ints(x.unsqueeze(&[2]).expand(&wide), &[b, hq, sk, d])
        };
        (k, v) = (repeat(k), repeat(v));
    }
    let dtype = q.dtype();
    // Sums of bf16 are computed in single precision.
    let wide_sums = |x: V<'b>| if dtype == DataType::Bf16 { x.cast(DataType::F32) } else { x };
    let (q, k, v) = (wide_sums(q), wide_sums(k), wide_sums(v));
    let scale = cx.float("scale", 1.0 / (dim as f64).sqrt());
    let root =
        if cx.attr("scale").is_some() { scale.sqrt() } else { 1.0 / (dim as f64).sqrt().sqrt() };
    let scores = (q * root).dot(k * root, (&[0, 1], &[0, 1]), (&[3], &[3]));
    let low = scores.number(f64::NEG_INFINITY);
    let mut bias = scores.number(0.0).expand(&scores.dims());
    if let Some(mask) = cx.opt(3) {
        let mut mask = mask;
        if mask.rank() == 0 {
            return vec![cx.fail("the mask is a scalar")];
        }
        let given = mask.extent(mask.rank() - 1);
        let is_bool = mask.dtype() == DataType::Bool;
        if given < sk {
            let rank = mask.rank();
            let mut high = vec![0; rank];
            high[rank - 1] = sk - given;
            let fill = if is_bool { mask.number(0.0) } else { mask.number(f64::NEG_INFINITY) };
            mask = mask.pad(fill, &vec![0; rank], &high);
        }
        bias = match is_bool {
            true => mask.select(scores.number(0.0), low).expand(&scores.dims()),
            false => (scores.number(0.0) + mask.cast(scores.dtype())).expand(&scores.dims()),
        };
    }
    let dims = scores.dims();
    let row = cx.b.iota(DataType::I64, &dims, 2);
    let column = cx.b.iota(DataType::I64, &dims, 3);
    let lengths =
        cx.opt(6).map(|n| n.reshape(&[n.dim(0), Dim::Known(1), Dim::Known(1), Dim::Known(1)]));
    // The position of a query among the keys.
    let position = match lengths {
        Some(n) if cx.opt(4).is_none() => row + n - sq as f64,
        _ => row + past as f64,
    };
    if cx.flag("is_causal", false) {
        bias = column.compare(position, Direction::Gt).select(low, bias);
    }
    let window = |name: &str| cx.int(name, -1);
    if window("left_window_size") >= 0 {
        let first = position - window("left_window_size") as f64;
        bias = column.compare(first, Direction::Lt).select(low, bias);
    }
    if window("right_window_size") >= 0 {
        let last = position + window("right_window_size") as f64;
        bias = column.compare(last, Direction::Gt).select(low, bias);
    }
    if let Some(n) = lengths {
        bias = column.compare(n, Direction::Ge).select(low, bias);
    }
    let softcap = cx.float("softcap", 0.0);
    let cap = |x: V<'b>| if softcap > 0.0 { (x / softcap).unary("tanh") * softcap } else { x };
    let capped = cap(scores);
    let biased = capped + bias;
    let wide = match cx.dtype("softmax_precision", DataType::F32) {
        precision if cx.attr("softmax_precision").is_some() => precision,
        _ => scores.dtype(),
    };
    let all = softmax(biased.cast(wide), &[3], false).cast(scores.dtype());
    // A row without any key gives zeros.
    let none = biased.reduce("reduce_max", &[3], true).compare(low, Direction::Eq);
    let probabilities = none.select(all.number(0.0), all);
    let mut result = probabilities.dot(v, (&[0, 1], &[0, 1]), (&[3], &[2]));
    if is_flat {
        let d = v.extent(3);
        result = reshape_ints(result.transpose(&[0, 2, 1, 3]), &[b, sq, hq * d]);
    }
    let inner = match cx.int("qk_matmul_output_mode", 0) {
        0 => scores,
        1 => capped,
        2 => biased,
        _ => probabilities,
    };
    vec![result.cast(dtype), present.0, present.1, inner.cast(dtype)]
}

pub(super) fn rotary_embedding<'b>(cx: &Cx<'b>) -> V<'b> {
    let x = cx.x(0);
    let is_flat = x.rank() == 3;
    let heads = cx.int("num_heads", 0);
    // [batch, length, heads, size]
    let y = match is_flat {
        true => {
            let [b, s, d] = [x.extent(0), x.extent(1), x.extent(2)];
            reshape_ints(x, &[b, s, heads.max(1), d / heads.max(1)])
        }
        false => x.transpose(&[0, 2, 1, 3]),
    };
    let [b, s, n, size] = [y.extent(0), y.extent(1), y.extent(2), y.extent(3)];
    let rotated = match cx.int("rotary_embedding_dim", 0) {
        0 => size,
        n => n,
    };
    let half = rotated / 2;
    let table = |i: usize| {
        let cache = cx.x(i);
        let rows = match cx.opt(3) {
            Some(ids) => cache.gather_slices(ids.cast(DataType::I64).unsqueeze(&[2]), 1),
            None => cache,
        };
        reshape_ints(rows.slice_axis(2, 0, half), &[b, s, 1, half])
    };
    let (cos, sin) = (table(1), table(2));
    let (part, rest) = (y.slice_axis(3, 0, rotated), y.slice_axis(3, rotated, size));
    let turned = if cx.flag("interleaved", false) {
        let pairs = reshape_ints(part, &[b, s, n, half, 2]);
        let (a, c) = (pairs.at(4, 0), pairs.at(4, 1));
        let (real, imag) = (cos * a - sin * c, sin * a + cos * c);
        let both = cx.b.concat(&[real.unsqueeze(&[4]), imag.unsqueeze(&[4])], 4);
        reshape_ints(both, &[b, s, n, rotated])
    } else {
        let (a, c) = (part.slice_axis(3, 0, half), part.slice_axis(3, half, rotated));
        cx.b.concat(&[cos * a - sin * c, sin * a + cos * c], 3)
    };
    let joined = if rotated == size { turned } else { cx.b.concat(&[turned, rest], 3) };
    match is_flat {
        true => reshape_ints(joined, &[b, s, n * size]),
        false => joined.transpose(&[0, 2, 1, 3]),
    }
}

/// Runs the recurrence of linear attention, unrolled over a known number of steps.
pub(super) fn linear_attention<'b>(cx: &Cx<'b>) -> Vec<V<'b>> {
    let (q, k, v) = (cx.x(0), cx.x(1), cx.x(2));
    let (q_heads, heads) = (cx.int("q_num_heads", 1).max(1), cx.int("kv_num_heads", 1).max(1));
    if [q.rank(), k.rank(), v.rank()] != [3; 3] {
        return vec![cx.fail("the operands do not have rank 3")];
    }
    let dtype = q.dtype();
    let wide = if dtype == DataType::F64 { DataType::F64 } else { DataType::F32 };
    let [b, t] = [q.extent(0), q.extent(1)];
    let (dk, dv) = (k.extent(2) / heads, v.extent(2) / heads);
    let group = q_heads / heads;
    if t > 4096 {
        return vec![cx.fail("the sequence is too long")];
    }
    let rule = cx.text("update_rule", "gated_delta");
    let scale = match cx.float("scale", 0.0) {
        0.0 => 1.0 / (dk as f64).sqrt(),
        scale => scale,
    };
    // [batch, time, heads, size]
    let split = |x: V<'b>, heads: i64| {
        let size = x.extent(2) / heads;
        reshape_ints(x.cast(wide), &[b, t, heads, size])
    };
    let queries = reshape_ints(q.cast(wide), &[b, t, heads, group, dk]);
    let (keys, values) = (split(k, heads), split(v, heads));
    let decay =
        cx.opt(4).filter(|_| rule.starts_with("gated")).map(|g| split(g, heads).unary("exp"));
    let beta = cx.opt(5).filter(|_| rule.ends_with("delta")).map(|x| x.cast(wide).unsqueeze(&[3]));
    let mut state = match cx.opt(3) {
        Some(past) => past.cast(wide),
        None => cx.b.filled(wide, &[b as u64, heads as u64, dk as u64, dv as u64], 0.0),
    };
    let mut outputs = Vec::new();
    for step in 0..t {
        let (key, value) = (keys.at(1, step), values.at(1, step));
        if let Some(decay) = decay {
            state = decay.at(1, step).unsqueeze(&[3]) * state;
        }
        let mut update = value;
        if rule.ends_with("delta") {
            let seen = (state * key.unsqueeze(&[3])).sum(&[2], false);
            update = value - seen;
            if let Some(beta) = beta {
                update = beta.at(1, step) * update;
            }
        }
        state = state + key.unsqueeze(&[3]) * update.unsqueeze(&[2]);
        let read = queries.at(1, step).dot(state, (&[0, 1], &[0, 1]), (&[3], &[2])) * scale;
        outputs.push(reshape_ints(read, &[b, 1, q_heads * dv]));
        if cx.b.has_failed() {
            break;
        }
    }
    let output = match outputs.is_empty() {
        true => cx.b.filled(wide, &[b as u64, 0, (q_heads * dv) as u64], 0.0),
        false => cx.b.concat(&outputs, 1),
    };
    let kept = cx.opt(3).map_or(dtype, V::dtype);
    vec![output.cast(dtype), state.cast(kept)]
}

// Repeats heads of keys or values so that there is one for each head of the queries.
fn repeat_heads<'b>(x: V<'b>, heads: i64) -> V<'b> {
    let [b, own, s, d] = [x.extent(0), x.extent(1), x.extent(2), x.extent(3)];
    if own == heads || own == 0 {
        return x;
    }
    let wide = [b, own, heads / own, s, d].map(|n| Dim::Known(n as u64));
    reshape_ints(x.unsqueeze(&[2]).expand(&wide), &[b, heads, s, d])
}

/// Returns the scores of `FlexAttention`, in the precision of its softmax.
pub(super) fn flex_scores<'b>(cx: &Cx<'b>) -> Vec<V<'b>> {
    let (q, k) = (cx.x(0), cx.x(1));
    if [q.rank(), k.rank(), cx.x(2).rank()] != [4; 3] {
        return vec![cx.fail("the operands do not have rank 4")];
    }
    let scale = cx.float("scale", 1.0 / (q.extent(3) as f64).sqrt());
    let root = f64::from((scale as f32).sqrt());
    let k = repeat_heads(k, q.extent(1));
    let scores = (q * root).dot(k * root, (&[0, 1], &[0, 1]), (&[3], &[3]));
    let narrow = q.dtype().bit_width() < 32;
    let default = if narrow { DataType::F32 } else { q.dtype() };
    vec![scores.cast(cx.dtype("softmax_precision", default))]
}

/// Returns the probabilities of `FlexAttention` from its scores.
pub(super) fn flex_probabilities<'b>(cx: &Cx<'b>) -> Vec<V<'b>> {
    vec![softmax(cx.x(0), &[3], false)]
}

/// Returns the results of `FlexAttention` from its probabilities and values.
pub(super) fn flex_results<'b>(cx: &Cx<'b>) -> Vec<V<'b>> {
    let (probabilities, values) = (cx.x(0), cx.x(1));
    let wide = repeat_heads(values, probabilities.extent(1)).cast(probabilities.dtype());
    let product = probabilities.dot(wide, (&[0, 1], &[0, 1]), (&[3], &[2]));
    vec![product.cast(values.dtype())]
}
