//! `MaxRoiPool`: the largest element of each part of a rectangle, whose place and extents are numbers of an operand.

use sapwood_ptir::eval::{DataType, EvalCx, EvalResult, Fault, Tensor, one};
use sapwood_ptir::{Attr, Dim, TensorType, ValueType};

use super::NodeView;

pub(super) fn infer(view: &NodeView<'_>, types: &[&ValueType]) -> Option<Vec<ValueType>> {
    let (x, rois) = (types.first()?.as_tensor()?, types.get(1)?.as_tensor()?);
    let row = view.def.attrs.iter().position(|row| row.name == "pooled_shape")?;
    let Attr::Ints(pooled) = view.attrs.get(row)? else { return None };
    let pooled = pooled.iter().map(|&n| Some(Dim::Known(u64::try_from(n).ok()?)));
    let first = [rois.dims.first().copied(), x.dims.get(1).copied()];
    let dims = first.into_iter().chain(pooled).collect::<Option<_>>()?;
    Some(vec![TensorType { dtype: x.dtype, dims }.into()])
}

pub(super) fn run(cx: &mut EvalCx<'_>) -> EvalResult {
    let (x, rois) = (cx.tensor(0)?.clone(), cx.tensor(1)?.clone());
    let (&[batches, channels, height, width], &[count, 5]) = (x.shape(), rois.shape()) else {
        return Err(Fault::op("the input needs 4 axes, and the regions 5 numbers each"));
    };
    let pooled = match cx.attr("pooled_shape")? {
        Attr::Ints(list) => list.iter().map(|&n| usize::try_from(n).ok()).collect(),
        _ => None,
    };
    let pooled: Vec<usize> = pooled.unwrap_or_default();
    let &[rows, columns] = &pooled[..] else {
        return Err(Fault::op("`pooled_shape` needs two numbers that are not negative"));
    };
    let scale = cx.attr("spatial_scale")?.as_float().unwrap_or(1.0) as f32;
    if x.dtype() != DataType::F32 {
        return Err(Fault::op(format!("elements of {} are not supported, only f32", x.dtype())));
    }
    let elements = cx.elements::<f32>(0)?.into_owned();
    let regions = cx.elements::<f32>(1)?.into_owned();
    let parts = count.saturating_mul(channels).saturating_mul(rows).saturating_mul(columns);
    let mut all = cx.alloc::<f32>(parts)?;
    // An extent of zero may have any others with it.
    let regions = if parts == 0 { &[] } else { &regions[..] };
    for region in regions.chunks_exact(5) {
        let batch = region[0] as usize;
        if region[0] < 0.0 || batch >= batches {
            return Err(Fault::op(format!("a region is in batch {}, of {batches}", region[0])));
        }
        let corner = |i: usize| f64::from((region[i] * scale).round());
        let (left, top) = (corner(1), corner(2));
        let size = |start: f64, end: f64, parts: usize| (end - start + 1.0).max(1.0) / parts as f64;
        let (part_width, part_height) =
            (size(left, corner(3), columns), size(top, corner(4), rows));
        // The positions of a part along an axis, within its extent.
        let range = |start: f64, part: usize, size: f64, extent: usize| {
            let place = |at: f64| (at + start).clamp(0.0, extent as f64) as usize;
            place((part as f64 * size).floor())..place(((part + 1) as f64 * size).ceil())
        };
        for channel in 0..channels {
            let plane = (batch * channels + channel) * height * width;
            for row in 0..rows {
                for column in 0..columns {
                    let lines = range(top, row, part_height, height);
                    let places = range(left, column, part_width, width);
                    cx.work((lines.len() * places.len()) as u64)?;
                    let line = |y: usize| {
                        let start = plane + y * width;
                        elements[start + places.start..start + places.end.max(places.start)].iter()
                    };
                    let largest = lines.flat_map(line).copied().reduce(f32::max);
                    // A part that is outside of the input is zero.
                    all.push(largest.unwrap_or(0.0));
                }
            }
        }
    }
    one(Tensor::new(DataType::F32, [count, channels, rows, columns], all))
}
