//! Random attributes that are likely to fit.

use sapwood_ptir::{Attr, AttrDef, AttrKind, Dim, OpDef, TensorType};
use sapwood_types::DataType;

use super::convolution::random_convolution_attr;
use super::instance::InstanceRng;

/// Draws an attribute of an op on operands of these types. `earlier` are the attributes before it in the op table.
pub(super) fn random_attr(
    random: &mut InstanceRng,
    def: &OpDef,
    row: &AttrDef,
    types: &[TensorType],
    earlier: &[Attr],
) -> Option<Attr> {
    if def.name == "convolution"
        && let Some(attr) = random_convolution_attr(random, def, row.name, types, earlier)
    {
        return Some(attr);
    }
    let first = types.first();
    let rank = first.map_or(0, TensorType::rank) as u64;
    let ints = |list: Vec<i64>| Some(Attr::Ints(list.into_iter().collect()));
    let extents: Vec<u64> =
        first.and_then(TensorType::known_shape).map_or(Vec::new(), |s| s.to_vec());
    match (row.name, row.kind) {
        ("perm", _) => ints(permutation(random, rank)),
        ("axes" | "dims", AttrKind::Ints) => {
            let mut axes = permutation(random, rank);
            if row.name == "axes" {
                axes.truncate(random.below(rank + 1) as usize);
            }
            axes.sort_unstable();
            ints(axes)
        }
        ("starts", _) => ints(extents.iter().map(|&n| random.below(n + 1) as i64).collect()),
        ("limits", _) => {
            let starts = earlier.iter().find_map(Attr::as_ints)?;
            let spans = extents.iter().zip(starts).map(|(&n, &start)| {
                let room = (n as i64).saturating_sub(start).saturating_add(1).max(1);
                start.saturating_add(random.below(room as u64) as i64)
            });
            ints(spans.collect())
        }
        ("strides", _) => ints(extents.iter().map(|_| 1 + random.below(3) as i64).collect()),
        ("low" | "high" | "interior", _) => {
            ints(extents.iter().map(|_| random.below(3) as i64).collect())
        }
        ("lhs_contract", _) => {
            let batch = named(def, earlier, "lhs_batch").and_then(Attr::as_ints);
            let free = |a: &i64| !batch.is_some_and(|b| b.contains(a));
            let axes: Vec<i64> = (0..rank as i64).filter(free).collect();
            // Mostly the last axis, as in matrix products.
            let axis = match random.below(3) {
                0 => axes.get(random.below(axes.len() as u64) as usize),
                _ => axes.last(),
            };
            ints(axis.copied().into_iter().collect())
        }
        ("rhs_contract", _) => {
            let contracted = named(def, earlier, "lhs_contract").and_then(Attr::as_ints)?;
            let Some(&axis) = contracted.first() else { return ints(Vec::new()) };
            let extent = first?.dims.get(usize::try_from(axis).ok()?)?;
            let batch = named(def, earlier, "rhs_batch").and_then(Attr::as_ints);
            let free = |a: &usize| !batch.is_some_and(|b| b.contains(&(*a as i64)));
            let second = types.get(1)?;
            let fits = |a: &usize| second.dims[*a] == *extent;
            let axes: Vec<usize> = (0..second.rank()).filter(free).filter(fits).collect();
            let axis = match random.below(3) {
                0 => axes.get(random.below(axes.len() as u64) as usize),
                _ => axes.first(),
            };
            ints(axis.map(|&a| a as i64).into_iter().collect())
        }
        ("lhs_batch", _) => {
            let second = types.get(1)?;
            let may = rank > 1 && second.rank() > 1 && second.dims[0] == first?.dims[0];
            ints(if may && random.below(2) == 0 { vec![0] } else { Vec::new() })
        }
        ("rhs_batch", _) => named(def, earlier, "lhs_batch").cloned(),
        ("feature_groups" | "batch_groups", _) => row.default.clone(),
        (_, AttrKind::Int) => Some(Attr::Int(random.below(rank.max(1)) as i64)),
        (_, AttrKind::Bool) => Some(Attr::Bool(random.below(2) == 0)),
        (_, AttrKind::Type) => Some(Attr::Type(match random.below(3) {
            0 => DataType::I32,
            1 => DataType::F32,
            _ => first.map_or(DataType::F32, |t| t.dtype),
        })),
        (_, AttrKind::Word(words)) => {
            Some(Attr::word(words.get(random.below(words.len() as u64) as usize)?))
        }
        (_, AttrKind::Float) => Some(Attr::float(random.below(5) as f64 / 2.0)),
        _ => row.default.clone().filter(|_| def.attrs.len() < 32),
    }
}

fn named<'a>(def: &OpDef, earlier: &'a [Attr], name: &str) -> Option<&'a Attr> {
    earlier.get(def.attrs.iter().position(|a| a.name == name)?)
}

/// Draws a permutation of the axes of this rank.
pub(super) fn permutation(random: &mut InstanceRng, rank: u64) -> Vec<i64> {
    let mut list: Vec<i64> = (0..rank as i64).collect();
    for n in (1..list.len()).rev() {
        list.swap(n, random.below(n as u64 + 1) as usize);
    }
    list
}

/// Draws a result type that an op with such an operand may declare.
pub(super) fn random_result_type(
    random: &mut InstanceRng,
    op: &str,
    from: &TensorType,
    attrs: &[Attr],
    shape: Option<Vec<i64>>,
    size: u64,
) -> Option<TensorType> {
    if let Some(shape) = shape {
        let dims: Vec<u64> = shape.iter().map(|&n| u64::try_from(n).ok()).collect::<Option<_>>()?;
        return Some(TensorType::new(from.dtype, dims));
    }
    let extents: Vec<u64> = from.known_shape()?.to_vec();
    let dims: Vec<u64> = match op {
        "reshape" => {
            let count = extents.iter().try_fold(1u64, |n, &d| n.checked_mul(d))?;
            let mut dims = vec![count];
            // Split a few times at divisors.
            for _ in 0..random.below(3) {
                let at = random.below(dims.len() as u64) as usize;
                let whole = dims[at];
                let divisor = 1 + random.below(whole.clamp(1, 6));
                if whole.is_multiple_of(divisor) && divisor > 0 {
                    dims[at] = whole / divisor;
                    dims.insert(at, divisor);
                }
            }
            dims
        }
        "broadcast_to" => {
            let more = random.below(3);
            let stretched = extents.iter().map(|&n| if n == 1 { random.extent(size) } else { n });
            let stretched: Vec<u64> = stretched.collect();
            (0..more).map(|_| random.extent(size)).chain(stretched).collect()
        }
        "broadcast_in_dim" => {
            let axes = attrs.iter().find_map(Attr::as_ints)?;
            let rank = axes.len() as u64 + random.below(2);
            let mut dims: Vec<u64> = (0..rank).map(|_| random.extent(size)).collect();
            for (axis, &to) in axes.iter().enumerate() {
                *dims.get_mut(usize::try_from(to).ok()?)? = *extents.get(axis)?;
            }
            dims
        }
        _ => extents,
    };
    Some(TensorType { dtype: from.dtype, dims: dims.into_iter().map(Dim::Known).collect() })
}
