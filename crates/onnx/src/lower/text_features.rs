//! Features of sequences of numbers that stand for words: counts of n-grams, and tables of labels.

use hashbrown::{HashMap, HashSet};
use rustc_hash::FxBuildHasher;
use sapwood_ptir::eval::{DataType, EvalCx, EvalResult, Fault, Tensor, one};
use sapwood_ptir::{Attr, Dim, TensorLiteral, TensorType, ValueType};

use super::NodeView;
use super::context::{floats_of, ints_of};

fn ints<'a>(cx: &EvalCx<'a>, name: &str) -> Result<&'a [i64], Fault> {
    Ok(cx.attr(name)?.as_ints().unwrap_or_default())
}

fn elements(x: &Tensor) -> Result<Vec<i64>, Fault> {
    let literal = x.to_literal().map_err(|e| Fault::op(e.to_string()))?;
    ints_of(&literal)
        .ok_or_else(|| Fault::op(format!("the input is {}, expected integers", x.ty())))
}

/// Infers one feature per entry of `ngram_indexes`, for each row.
pub(super) fn infer_tf_idf(view: &NodeView<'_>, types: &[&ValueType]) -> Option<Vec<ValueType>> {
    let x = types.first()?.as_tensor().filter(|x| x.rank() <= 2)?;
    let index = view.def.attrs.iter().position(|row| row.name == "ngram_indexes")?;
    let features = feature_count(view.attrs.get(index)?.as_ints()?)?;
    let rows = if x.rank() == 2 { Some(x.dims[0]) } else { None };
    let dims = rows.into_iter().chain([Dim::Known(features as u64)]).collect();
    Some(vec![TensorType { dtype: DataType::F32, dims }.into()])
}

fn feature_count(indexes: &[i64]) -> Option<usize> {
    const MAX_FEATURES: usize = 1 << 31;
    let last = indexes.iter().max().and_then(|&n| usize::try_from(n).ok())?;
    (last < MAX_FEATURES).then_some(last + 1)
}

/// The n-grams of a pool with the feature of each, and the lengths that occur.
struct Pool<'a> {
    features: HashMap<&'a [i64], usize, FxBuildHasher>,
    prefixes: HashSet<&'a [i64], FxBuildHasher>,
}

impl<'a> Pool<'a> {
    // N-grams of one length follow each other; `counts` has the start of each length.
    fn new(
        pool: &'a [i64],
        counts: &[i64],
        indexes: &[i64],
        lengths: std::ops::RangeInclusive<usize>,
    ) -> Result<Self, Fault> {
        let mut all = Self { features: HashMap::default(), prefixes: HashSet::default() };
        let wrong = || Fault::op("`ngram_counts` or `ngram_indexes` does not fit the pool");
        let start = |i: usize| match counts.get(i) {
            Some(&n) => usize::try_from(n).ok().filter(|&n| n <= pool.len()),
            None => Some(pool.len()),
        };
        let mut number = 0;
        for (i, length) in (0..counts.len()).zip(1usize..) {
            let (begin, end) = (start(i).ok_or_else(wrong)?, start(i + 1).ok_or_else(wrong)?);
            let part = pool.get(begin..end).ok_or_else(wrong)?;
            for gram in part.chunks_exact(length) {
                let index = indexes.get(number).and_then(|&n| usize::try_from(n).ok());
                number += 1;
                if lengths.contains(&length) {
                    all.features.entry(gram).or_insert(index.ok_or_else(wrong)?);
                    all.prefixes.extend((1..=length).map(|n| &gram[..n]));
                }
            }
        }
        Ok(all)
    }
}

/// Counts n-grams, whose items may have gaps, and weighs the counts.
pub(super) fn tf_idf(cx: &mut EvalCx<'_>) -> EvalResult {
    let size = |name: &str| -> Result<usize, Fault> {
        let n = usize::try_from(cx.int(name)?).ok();
        n.ok_or_else(|| Fault::op(format!("`{name}` is negative")))
    };
    let (least, most) = (size("min_gram_length")?.max(1), size("max_gram_length")?);
    let skips = size("max_skip_count")?;
    let indexes = ints(cx, "ngram_indexes")?;
    let pool = ints(cx, "pool_int64s")?;
    let pool = Pool::new(pool, ints(cx, "ngram_counts")?, indexes, least..=most)?;
    let features = feature_count(indexes).ok_or_else(|| Fault::op("there are no n-grams"))?;
    let x = cx.tensor(0)?;
    let (rows, columns) = match *x.shape() {
        [] => (1, 1),
        [columns] => (1, columns),
        [rows, columns] => (rows, columns),
        _ => return Err(Fault::op(format!("the input is {}, expected a matrix", x.ty()))),
    };
    let words = elements(x)?;
    let mut counts: Vec<f32> = cx.alloc(rows.saturating_mul(features))?;
    counts.resize(rows * features, 0.0);
    let mut gram = Vec::new();
    for row in 0..rows {
        let words = &words[row * columns..(row + 1) * columns];
        for gap in 1..=(skips + 1).min(columns.max(1)) {
            for start in 0..words.len() {
                gram.clear();
                for (&word, length) in words[start..].iter().step_by(gap).zip(1..=most) {
                    cx.work(1)?;
                    gram.push(word);
                    if !pool.prefixes.contains(&gram[..]) {
                        break;
                    }
                    // Gaps make no difference for single words.
                    if length == 1 && gap > 1 {
                        continue;
                    }
                    if let Some(&feature) = pool.features.get(&gram[..]) {
                        counts[row * features + feature] += 1.0;
                    }
                }
            }
        }
    }
    let weights: Vec<f64> = match cx.attr("weights")? {
        Attr::List(items) => items.iter().filter_map(Attr::as_float).collect(),
        _ => Vec::new(),
    };
    // Weights are in the order of n-grams.
    let mut by_feature: Vec<f32> = cx.alloc(features)?;
    by_feature.resize(features, 1.0);
    for (&weight, &index) in weights.iter().zip(indexes) {
        if let Some(slot) = usize::try_from(index).ok().and_then(|i| by_feature.get_mut(i)) {
            *slot = weight as f32;
        }
    }
    let mode = cx.attr("mode")?.as_str().unwrap_or("TF");
    if !matches!(mode, "TF" | "IDF" | "TFIDF") {
        return Err(Fault::op(format!("`mode` is {mode}, expected TF, IDF or TFIDF")));
    }
    for row in counts.chunks_mut(features) {
        for (count, &weight) in row.iter_mut().zip(&by_feature) {
            *count = match mode {
                "TF" => *count,
                "IDF" if *count > 0.0 => weight,
                "IDF" => 0.0,
                _ => *count * weight,
            };
        }
    }
    match x.shape().len() {
        2 => one(Tensor::new(DataType::F32, [rows, features], counts)),
        _ => one(Tensor::new(DataType::F32, [features], counts)),
    }
}

/// A list of keys or values of a label encoder.
enum Labels {
    Ints(Vec<i64>),
    Floats(Vec<f64>),
}

// Returns the keys or values that are numbers; `None` if they are strings.
fn labels(cx: &EvalCx<'_>, kind: &str) -> Result<Option<Labels>, Fault> {
    if let Attr::List(items) = cx.attr(&format!("{kind}_floats"))? {
        return Ok(items.iter().map(Attr::as_float).collect::<Option<_>>().map(Labels::Floats));
    }
    if let Attr::Ints(list) = cx.attr(&format!("{kind}_int64s"))? {
        return Ok(Some(Labels::Ints(list.to_vec())));
    }
    match cx.attr(&format!("{kind}_tensor"))? {
        Attr::Literal(literal) => Ok(labels_of(literal)),
        _ => Ok(None),
    }
}

fn labels_of(literal: &TensorLiteral) -> Option<Labels> {
    match literal.dtype().is_float() {
        true => floats_of(literal).map(Labels::Floats),
        false => ints_of(literal).map(Labels::Ints),
    }
}

/// Infers the type of the values for all elements of the input.
pub(super) fn infer_label_encoder(
    view: &NodeView<'_>,
    types: &[&ValueType],
) -> Option<Vec<ValueType>> {
    let x = types.first()?.as_tensor()?;
    let attr = |name: &str| {
        let index = view.def.attrs.iter().position(|row| row.name == name)?;
        view.attrs.get(index).filter(|attr| **attr != Attr::Unit)
    };
    let dtype = match (attr("values_floats"), attr("values_int64s"), attr("values_tensor")) {
        (Some(_), _, _) => DataType::F32,
        (_, Some(_), _) => DataType::I64,
        (_, _, Some(tensor)) => tensor.as_literal()?.dtype(),
        _ => return None,
    };
    Some(vec![x.with_dtype(dtype).into()])
}

/// Replaces each key of a table by its value.
pub(super) fn label_encoder(cx: &mut EvalCx<'_>) -> EvalResult {
    let strings = || Fault::op("labels that are strings are not supported");
    let keys = labels(cx, "keys")?.ok_or_else(strings)?;
    let values = labels(cx, "values")?.ok_or_else(strings)?;
    let x = cx.tensor(0)?;
    let literal = x.to_literal().map_err(|e| Fault::op(e.to_string()))?;
    // Keys are compared as bits of numbers; all NaNs are one key, and so are both zeros. No other number has the bits of a negative zero.
    let bits = |x: f64| match x {
        _ if x.is_nan() => i64::MIN,
        _ if x == 0.0 => 0,
        x => x.to_bits().cast_signed(),
    };
    let count = |labels: &Labels| match labels {
        Labels::Ints(list) => list.len(),
        Labels::Floats(list) => list.len(),
    };
    if count(&keys) != count(&values) {
        let (keys, values) = (count(&keys), count(&values));
        return Err(Fault::op(format!("there are {keys} keys and {values} values")));
    }
    let (keys, words): (Vec<i64>, Option<Vec<i64>>) = match keys {
        Labels::Ints(keys) => (keys, ints_of(&literal)),
        Labels::Floats(keys) => {
            let all = floats_of(&literal).filter(|_| x.dtype().is_float());
            let words = all.map(|all| all.into_iter().map(bits).collect());
            (keys.into_iter().map(bits).collect(), words)
        }
    };
    let words = words.ok_or_else(|| Fault::op("the keys have another type than the input"))?;
    let places: HashMap<i64, usize, FxBuildHasher> = keys.into_iter().zip(0..).collect();
    cx.work(words.len() as u64)?;
    let found = words.iter().map(|word| places.get(word).copied());
    let dtype = cx.result_dtype(0)?;
    let default = match cx.attr("default_tensor") {
        Ok(Attr::Literal(literal)) => labels_of(literal),
        _ => None,
    };
    let another = || Fault::op("the default has another type than the values");
    match values {
        Labels::Ints(values) => {
            let default = match default {
                Some(Labels::Ints(list)) => list.first().copied(),
                Some(Labels::Floats(_)) => return Err(another()),
                None => cx.attr("default_int64")?.as_int(),
            };
            let default = default.unwrap_or(-1);
            let value =
                |place: Option<usize>| place.and_then(|i| values.get(i)).unwrap_or(&default);
            let all: Vec<i64> = found.map(|place| *value(place)).collect();
            match dtype {
                DataType::I64 => one(Tensor::new(dtype, x.shape(), all)),
                DataType::I32 => {
                    let all: Vec<i32> = all.into_iter().map(|n| n as i32).collect();
                    one(Tensor::new(dtype, x.shape(), all))
                }
                DataType::I16 => {
                    let all: Vec<i16> = all.into_iter().map(|n| n as i16).collect();
                    one(Tensor::new(dtype, x.shape(), all))
                }
                other => {
                    Err(Fault::op(format!("labels of element type {other} are not supported")))
                }
            }
        }
        Labels::Floats(values) => {
            let default = match default {
                Some(Labels::Floats(list)) => list.first().copied(),
                Some(Labels::Ints(_)) => return Err(another()),
                None => cx.attr("default_float")?.as_float(),
            };
            let default = default.unwrap_or(-0.0);
            let value =
                |place: Option<usize>| place.and_then(|i| values.get(i)).unwrap_or(&default);
            let all: Vec<f64> = found.map(|place| *value(place)).collect();
            match dtype {
                DataType::F64 => one(Tensor::new(dtype, x.shape(), all)),
                DataType::F32 => {
                    let all: Vec<f32> = all.into_iter().map(|x| x as f32).collect();
                    one(Tensor::new(dtype, x.shape(), all))
                }
                other => {
                    Err(Fault::op(format!("labels of element type {other} are not supported")))
                }
            }
        }
    }
}
