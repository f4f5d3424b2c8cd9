//! Products of matrices, and convolutions.

use sapwood_ptir::dims::DimExpr;
use sapwood_ptir::eval::DataType;
use sapwood_ptir::ops::Direction;
use sapwood_ptir::{Dim, Dims, TensorType};

use super::builder::{ConvArgs, V, joined_dims};
use super::context::Cx;
use super::shape::reshape_ints;

pub(super) fn matmul_op<'b>(cx: &Cx<'b>) -> V<'b> {
    matmul(cx.x(0), cx.x(1))
}

/// Multiplies matrices by the rules of NumPy: leading axes are batches, vectors are rows or columns.
pub(super) fn matmul<'b>(a: V<'b>, b: V<'b>) -> V<'b> {
    let (ra, rb) = (a.rank(), b.rank());
    if ra == 0 || rb == 0 {
        return a.b.fail("an operand is a scalar");
    }
    if ra == 1 {
        let product = matmul(a.unsqueeze(&[0]), if rb == 1 { b.unsqueeze(&[1]) } else { b });
        let mut dims = product.dims();
        dims.remove(dims.len() - 2);
        if rb == 1 {
            dims.pop();
        }
        return product.reshape(&dims);
    }
    if rb == 1 {
        return a.dot(b, (&[], &[]), (&[ra - 1], &[0]));
    }
    if rb == 2 {
        // Leading axes of the left operand are rows.
        return a.dot(b, (&[], &[]), (&[ra - 1], &[0]));
    }
    let lead = |v: V<'b>| -> Dims { v.dims()[..v.rank() - 2].iter().copied().collect() };
    let batch = joined_dims(a.b, &[lead(a), lead(b)]);
    let with_batch = |v: V<'b>| {
        let dims: Dims =
            batch.iter().copied().chain(v.dims()[v.rank() - 2..].iter().copied()).collect();
        v.expand(&dims)
    };
    let (a, b) = (with_batch(a), with_batch(b));
    let n = batch.len();
    let axes: Vec<usize> = (0..n).collect();
    a.dot(b, (&axes, &axes), (&[n + 1], &[n]))
}

pub(super) fn gemm<'b>(cx: &Cx<'b>) -> V<'b> {
    let (a, b) = (cx.x(0), cx.x(1));
    let (ta, tb) = (cx.flag("transA", false), cx.flag("transB", false));
    let (alpha, beta) = (cx.float("alpha", 1.0), cx.float("beta", 1.0));
    let mut product = a.dot(b, (&[], &[]), (&[usize::from(!ta)], &[usize::from(tb)]));
    if alpha != 1.0 {
        product = scaled(product, alpha);
    }
    match cx.opt(2) {
        None => product,
        Some(c) if beta == 1.0 => product + c,
        Some(c) => product + scaled(c, beta),
    }
}

fn scaled<'b>(x: V<'b>, factor: f64) -> V<'b> {
    if x.dtype().is_float() { x * factor } else { x * factor.trunc() }
}

/// The window of a convolution or a pooling: extents, steps, pads.
pub(super) struct Window {
    pub(super) kernel: Vec<i64>,
    pub(super) strides: Vec<i64>,
    pub(super) dilations: Vec<i64>,
    pub(super) pads: Vec<[i64; 2]>,
}

/// Reads the window attributes; `auto_pad` needs the extents of the input.
pub(super) fn window(cx: &Cx<'_>, x: V<'_>, kernel: Vec<i64>) -> Window {
    let n = kernel.len();
    let strides = cx.ints_or("strides", 1, n);
    let dilations = cx.ints_or("dilations", 1, n);
    let pads = cx.ints_or("pads", 0, 2 * n);
    if strides.len() != n || dilations.len() != n || pads.len() != 2 * n || x.rank() != n + 2 {
        cx.fail(format!("the window has {n} axes, the attributes or the input do not fit"));
        return Window {
            kernel,
            strides: vec![1; n],
            dilations: vec![1; n],
            pads: vec![[0, 0]; n],
        };
    }
    let auto = cx.text("auto_pad", "NOTSET");
    let pads = (0..n)
        .map(|i| match auto {
            "SAME_UPPER" | "SAME_LOWER" => {
                let (size, step) = (x.extent(i + 2), strides[i].max(1));
                let reach = (kernel[i] - 1) * dilations[i] + 1;
                let total = (((size + step - 1) / step - 1) * step + reach - size).max(0);
                let (less, more) = (total / 2, total - total / 2);
                if auto == "SAME_UPPER" { [less, more] } else { [more, less] }
            }
            "VALID" => [0, 0],
            _ => [pads[i], pads[n + i]],
        })
        .collect();
    Window { kernel, strides, dilations, pads }
}

/// Returns the known spatial extents of a kernel.
fn kernel_shape(w: V<'_>) -> Vec<i64> {
    (2..w.rank()).map(|axis| w.extent(axis)).collect()
}

/// Infers the type of a convolution or a pooling whose pads depend on extents that are not known: with `auto_pad` SAME, the extents
/// are divided by the strides, rounded up. `channels` is the extent of axis 1.
pub(super) fn same_window_type(
    cx: &Cx<'_>,
    x: V<'_>,
    spatial: usize,
    channels: Dim,
) -> Option<TensorType> {
    let is_open = x.dims().iter().skip(2).any(|d| d.known().is_none());
    let is_same = matches!(cx.text("auto_pad", "NOTSET"), "SAME_UPPER" | "SAME_LOWER");
    let strides = cx.ints_or("strides", 1, spatial);
    if !cx.b.is_inference || !is_open || !is_same || x.rank() != spatial + 2 {
        return None;
    }
    let mut ty = x.ty();
    ty.dims[1] = channels;
    for (dim, &stride) in ty.dims.iter_mut().skip(2).zip(&strides) {
        let stride = stride.max(1);
        *dim = dim.map_expr(|n| n.checked_add(DimExpr::constant(stride - 1)?)?.floordiv(stride));
    }
    Some(ty)
}

pub(super) fn conv<'b>(cx: &Cx<'b>) -> V<'b> {
    let (x, w) = (cx.x(0), cx.x(1));
    if let Some(ty) = same_window_type(cx, x, w.rank().saturating_sub(2), w.dim(0)) {
        return x.number(0.0).pretend(ty);
    }
    let result = convolve(cx, cx.x(0), cx.x(1));
    match cx.opt(2) {
        Some(bias) => add_channels(result, bias),
        None => result,
    }
}

/// Convolves with the attributes of the node.
pub(super) fn convolve<'b>(cx: &Cx<'b>, x: V<'b>, w: V<'b>) -> V<'b> {
    let window = window(cx, x, kernel_shape(w));
    let groups = cx.int("group", 1);
    let n = window.kernel.len();
    x.convolve(
        w,
        ConvArgs {
            strides: window.strides,
            pads: window.pads,
            input_dilation: vec![1; n],
            kernel_dilation: window.dilations,
            groups,
        },
    )
}

/// Adds one number per channel, axis 1.
pub(super) fn add_channels<'b>(x: V<'b>, bias: V<'b>) -> V<'b> {
    x + along_channels(x, bias)
}

/// Gives a vector axes of extent one, so that it runs along axis 1 of another value.
pub(super) fn along_channels<'b>(x: V<'b>, vector: V<'b>) -> V<'b> {
    let rank = x.rank();
    let dims: Vec<Dim> =
        (1..rank).map(|axis| if axis == 1 { vector.dim(0) } else { Dim::Known(1) }).collect();
    vector.reshape(&dims)
}

pub(super) fn conv_transpose<'b>(cx: &Cx<'b>) -> V<'b> {
    let (x, w) = (cx.x(0), cx.x(1));
    let kernel = kernel_shape(w);
    let n = kernel.len();
    let strides = cx.ints_or("strides", 1, n);
    let dilations = cx.ints_or("dilations", 1, n);
    let extra = cx.ints_or("output_padding", 0, n);
    let pads = cx.ints_or("pads", 0, 2 * n);
    let auto = cx.text("auto_pad", "NOTSET");
    let wanted = cx.ints("output_shape");
    let groups = cx.int("group", 1).max(1);
    if [strides.len(), dilations.len(), extra.len()] != [n; 3]
        || pads.len() != 2 * n
        || x.rank() != n + 2
        || wanted.as_ref().is_some_and(|shape| shape.len() < n)
    {
        return cx.fail("the attributes do not fit the kernel");
    }
    if cx.b.is_inference && x.dims().iter().skip(2).any(|d| d.known().is_none()) {
        let mut ty = x.ty();
        ty.dims[1] = w.dim(1).times(Dim::Known(groups as u64));
        for i in 0..n {
            let added = (kernel[i] - 1) * dilations[i] + 1 + extra[i] - pads[i] - pads[n + i];
            let added = added.saturating_sub(strides[i]);
            ty.dims[i + 2] = match (&wanted, auto) {
                (None, "NOTSET") => ty.dims[i + 2].map_expr(|size| {
                    size.checked_mul(DimExpr::constant(strides[i])?)?
                        .checked_add(DimExpr::constant(added)?)
                }),
                _ => Dim::Unknown,
            };
        }
        return x.number(0.0).pretend(ty);
    }
    let mut edges = Vec::new();
    for i in 0..n {
        let size = x.extent(i + 2);
        let reach = (kernel[i] - 1) * dilations[i] + 1;
        let full = strides[i] * (size - 1) + extra[i] + reach;
        let output = match &wanted {
            Some(shape) => shape.get(shape.len() - n + i).copied(),
            None if auto.starts_with("SAME") => Some(size * strides[i]),
            None => None,
        };
        let [low, high] = match output {
            Some(output) => {
                let total = full - output;
                if total < 0 {
                    [0, total]
                } else if auto == "SAME_UPPER" {
                    [total / 2, total - total / 2]
                } else {
                    [total - total / 2, total / 2]
                }
            }
            None => [pads[i], pads[n + i]],
        };
        // The transposed convolution is a convolution of the spread input with the mirrored kernel.
        edges.push([reach - 1 - low, reach - 1 - high + extra[i]]);
    }
    // Kernel [C, M/g, …] becomes [M, C/g, …].
    let (c, m) = (w.extent(0), w.extent(1));
    let mut split = vec![groups, c / groups, m];
    split.extend(&kernel);
    let mut perm = vec![0, 2, 1];
    perm.extend(3..n + 3);
    let mut merged = vec![groups * m, c / groups];
    merged.extend(&kernel);
    let spatial: Vec<usize> = (2..n + 2).collect();
    let mirrored =
        reshape_ints(reshape_ints(w, &split).transpose(&perm), &merged).reverse(&spatial);
    let result = x.convolve(
        mirrored,
        ConvArgs {
            strides: vec![1; n],
            pads: edges,
            input_dilation: strides,
            kernel_dilation: dilations,
            groups,
        },
    );
    match cx.opt(2) {
        Some(bias) => add_channels(result, bias),
        None => result,
    }
}

pub(super) fn deform_conv<'b>(cx: &Cx<'b>) -> V<'b> {
    let (x, w, offset) = (cx.x(0), cx.x(1), cx.x(2));
    let window = window(cx, x, kernel_shape(w));
    let (groups, offset_groups) = (cx.int("group", 1).max(1), cx.int("offset_group", 1).max(1));
    if x.rank() != 4 || window.kernel.len() != 2 {
        return cx.fail("only images are supported");
    }
    let [n, c, h, wd] = [x.extent(0), x.extent(1), x.extent(2), x.extent(3)];
    let [kh, kw] = [window.kernel[0], window.kernel[1]];
    let [oh, ow] = [offset.extent(2), offset.extent(3)];
    let taps = kh * kw;
    // Offsets [n, groups, taps, 2, oh, ow] are added to the regular positions of the taps.
    let offsets = reshape_ints(offset, &[n, offset_groups, taps, 2, oh, ow]);
    let part = |k: i64| offsets.at(3, k);
    let grid = [n, offset_groups, taps, oh, ow];
    let dims: Vec<Dim> = grid.iter().map(|&k| Dim::Known(k as u64)).collect();
    let index = |axis: usize| cx.b.iota(DataType::I64, &dims, axis);
    let dtype = x.dtype();
    let regular = |out: usize, tap: V<'b>, d: usize| {
        let position = index(out) * window.strides[d] as f64 + tap * window.dilations[d] as f64;
        (position - window.pads[d][0] as f64).cast(dtype)
    };
    let ys = regular(3, index(2) / kw as f64, 0) + part(0);
    let xs = regular(4, index(2).binary("rem", index(2).number(kw as f64)), 1) + part(1);
    // Images by offset group: [n * groups, channels, h, w].
    let per_group = c / offset_groups;
    let images = reshape_ints(x, &[n * offset_groups, per_group, h, wd]);
    let points = |v: V<'b>| reshape_ints(v, &[n * offset_groups, taps * oh * ow]);
    let mut samples = super::resize::bilinear_zero(cx, images, points(ys), points(xs));
    samples = reshape_ints(samples, &[n, offset_groups, per_group, taps, oh * ow]);
    if let Some(mask) = cx.opt(4) {
        samples = samples * reshape_ints(mask, &[n, offset_groups, 1, taps, oh * ow]);
    }
    let m = w.extent(0);
    let columns = reshape_ints(samples, &[n, groups, (c / groups) * taps, oh * ow]);
    let weights = reshape_ints(w, &[groups, m / groups, (c / groups) * taps]);
    // [groups, m/g, n, oh*ow]
    let product = weights.dot(columns, (&[0], &[1]), (&[2], &[2]));
    let result = reshape_ints(product.transpose(&[2, 0, 1, 3]), &[n, m, oh, ow]);
    match cx.opt(3) {
        Some(bias) => add_channels(result, bias),
        None => result,
    }
}

pub(super) fn causal_conv_with_state<'b>(cx: &Cx<'b>) -> Vec<V<'b>> {
    let (x, w) = (cx.x(0), cx.x(1));
    if x.rank() != 3 || w.rank() != 3 {
        return vec![cx.fail("only sequences of vectors are supported")];
    }
    let (channels, width) = (x.extent(1), w.extent(2));
    let past = match cx.opt(3) {
        Some(past) => past,
        None => {
            let shape = [x.extent(0) as u64, channels as u64, (width - 1).max(0) as u64];
            cx.b.filled(x.dtype(), &shape, 0.0)
        }
    };
    let joined = cx.b.concat(&[past, x], 2);
    let args = ConvArgs {
        strides: vec![1],
        pads: vec![[0, 0]],
        input_dilation: vec![1],
        kernel_dilation: vec![1],
        groups: channels,
    };
    let mut result = joined.convolve(w, args);
    if let Some(bias) = cx.opt(2) {
        result = add_channels(result, bias);
    }
    if matches!(cx.text("activation", "none"), "silu" | "swish") {
        result = result * result.unary("logistic");
    }
    let length = joined.extent(2);
    vec![result, joined.slice_axis(2, length - (width - 1), length)]
}

pub(super) fn einsum<'b>(cx: &Cx<'b>) -> V<'b> {
    let equation: String = cx.text("equation", "").chars().filter(|c| !c.is_whitespace()).collect();
    let inputs = cx.all();
    let (left, right) = match equation.split_once("->") {
        Some((left, right)) => (left.to_owned(), Some(right.to_owned())),
        None => (equation.clone(), None),
    };
    let terms: Vec<&str> = left.split(',').collect();
    if terms.len() != inputs.len() {
        return cx.fail("the equation has another number of operands");
    }
    // An ellipsis stands for the leading axes of the longest one, which get digits as labels.
    let spare =
        |term: &str, rank: usize| rank.saturating_sub(term.replace("...", "").chars().count());
    let longest = terms
        .iter()
        .zip(&inputs)
        .filter(|(t, _)| t.contains("..."))
        .map(|(t, v)| spare(t, v.rank()))
        .max();
    let longest = longest.unwrap_or(0).min(10);
    let digits: String = (0..longest).map(|i| char::from(b'0' + i as u8)).collect();
    let mut labelled: Vec<(Vec<char>, V<'b>)> = Vec::new();
    for (term, &value) in terms.iter().zip(&inputs) {
        let own = spare(term, value.rank()).min(longest);
        let text = term.replace("...", &digits[longest - own..]);
        labelled.push((text.chars().collect(), value));
    }
    let output: Vec<char> = match right {
        Some(right) => right.replace("...", &digits).chars().collect(),
        None => {
            let all: Vec<char> = labelled.iter().flat_map(|(labels, _)| labels.clone()).collect();
            let mut once: Vec<char> = all
                .iter()
                .copied()
                .filter(|c| c.is_alphabetic() && all.iter().filter(|d| *d == c).count() == 1)
                .collect();
            once.sort_unstable();
            digits.chars().chain(once).collect()
        }
    };
    let mut acc: Option<(Vec<char>, V<'b>)> = None;
    let later: Vec<Vec<char>> = labelled.iter().map(|(labels, _)| labels.clone()).collect();
    for (i, (labels, value)) in labelled.into_iter().enumerate() {
        if labels.len() != value.rank() {
            return cx.fail("a term of the equation does not fit the rank of its operand");
        }
        let term = diagonals(labels, value);
        let is_needed =
            |l: char| output.contains(&l) || later[i + 1..].iter().any(|term| term.contains(&l));
        acc = Some(match acc {
            None => term,
            Some(product) => einsum_of_two(product, term, &is_needed),
        });
    }
    let Some((labels, value)) = acc else { return cx.fail("there are no operands") };
    let summed: Vec<usize> = (0..labels.len()).filter(|&i| !output.contains(&labels[i])).collect();
    let kept: Vec<char> = labels.into_iter().filter(|l| output.contains(l)).collect();
    let value = if summed.is_empty() { value } else { value.sum(&summed, false) };
    let perm: Option<Vec<usize>> =
        output.iter().map(|l| kept.iter().position(|k| k == l)).collect();
    match perm {
        Some(perm) => value.transpose(&perm),
        None => cx.fail("the output of the equation has an unknown label"),
    }
}

// Multiplies two terms and sums over the labels that are not needed any more.
fn einsum_of_two<'b>(
    (left, a): (Vec<char>, V<'b>),
    (right, b): (Vec<char>, V<'b>),
    is_needed: &dyn Fn(char) -> bool,
) -> (Vec<char>, V<'b>) {
    let axis = |labels: &[char], l: char| labels.iter().position(|&k| k == l).unwrap_or_default();
    let shared: Vec<char> = left.iter().copied().filter(|l| right.contains(l)).collect();
    let is_plain = |&l: &char| {
        let (m, n) = (a.dim(axis(&left, l)), b.dim(axis(&right, l)));
        m.certainly_equal(n)
    };
    if !shared.iter().all(is_plain) {
        // An axis of extent one is repeated: all labels of both, in one order, are multiplied with broadcasting.
        let mut union = left.clone();
        union.extend(right.iter().filter(|l| !left.contains(l)));
        let product = arrange(a, &left, &union) * arrange(b, &right, &union);
        return (union, product);
    }
    let alone = |labels: &[char]| -> Vec<usize> {
        let is_summed = |&i: &usize| !shared.contains(&labels[i]) && !is_needed(labels[i]);
        (0..labels.len()).filter(is_summed).collect()
    };
    let summed = |labels: Vec<char>, value: V<'b>| match &alone(&labels)[..] {
        [] => (labels, value),
        axes => {
            let kept = (0..labels.len()).filter(|i| !axes.contains(i)).map(|i| labels[i]).collect();
            (kept, value.sum(axes, false))
        }
    };
    let ((left, a), (right, b)) = (summed(left, a), summed(right, b));
    let (batch, contracted): (Vec<char>, Vec<char>) = shared.iter().partition(|&&l| is_needed(l));
    let axes = |labels: &[char], of: &[char]| -> Vec<usize> {
        of.iter().map(|&l| axis(labels, l)).collect()
    };
    let product = a.dot(
        b,
        (&axes(&left, &batch), &axes(&right, &batch)),
        (&axes(&left, &contracted), &axes(&right, &contracted)),
    );
    let free = |labels: &[char]| -> Vec<char> {
        labels.iter().copied().filter(|l| !shared.contains(l)).collect()
    };
    ([batch, free(&left), free(&right)].concat(), product)
}

// Replaces repeated labels by the diagonal.
fn diagonals<'b>(mut labels: Vec<char>, mut value: V<'b>) -> (Vec<char>, V<'b>) {
    while let Some((i, j)) = (0..labels.len()).find_map(|i| {
        let j = labels[i + 1..].iter().position(|l| *l == labels[i])? + i + 1;
        Some((i, j))
    }) {
        let dims = value.dims();
        let index = |axis| value.b.iota(DataType::I64, &dims, axis);
        let on_diagonal = index(i).compare(index(j), Direction::Eq);
        value = on_diagonal.select(value, value.number(0.0)).sum(&[j], false);
        labels.remove(j);
        if value.b.has_failed() {
            break;
        }
    }
    (labels, value)
}

fn arrange<'b>(value: V<'b>, labels: &[char], union: &[char]) -> V<'b> {
    let present: Vec<usize> =
        union.iter().filter_map(|l| labels.iter().position(|k| k == l)).collect();
    let missing: Vec<usize> = (0..union.len()).filter(|&i| !labels.contains(&union[i])).collect();
    value.transpose(&present).unsqueeze(&missing)
}

pub(super) fn det<'b>(cx: &Cx<'b>) -> V<'b> {
    let x = cx.x(0);
    let rank = x.rank();
    let n = x.extent(rank.saturating_sub(1));
    if rank < 2 || n > 64 {
        return cx.fail("only small matrices are supported");
    }
    // Elimination without a choice of rows would divide by zero: the rows are ordered by the pivot in each step.
    let lead: Vec<u64> = x.shape()[..rank - 2].to_vec();
    let count: u64 = lead.iter().product();
    let mut m = x.reshape_to(&[count, n as u64, n as u64]);
    let mut result = cx.b.filled(x.dtype(), &[count], 1.0);
    for size in (1..=n).rev() {
        let column = m.at(2, 0);
        let pivot_row = column.unary("abs").arg_extreme(true, 1, true);
        let rows = cx.b.iota(DataType::I64, &[Dim::Known(count), Dim::Known(size as u64)], 1);
        let is_pivot = rows.compare(pivot_row, Direction::Eq);
        let pick = is_pivot.unsqueeze(&[2]).select(m, m.number(0.0)).sum(&[1], true);
        let first = m.slice_axis(1, 0, 1);
        let swapped = is_pivot.unsqueeze(&[2]).select(first, m);
        let pivot = pick.slice_axis(2, 0, 1);
        let is_first = pivot_row.compare(pivot_row.number(0.0), Direction::Eq).reshape_to(&[count]);
        let sign = is_first.select(result.number(1.0), result.number(-1.0));
        result = result * pivot.reshape_to(&[count]) * sign;
        if size == 1 {
            break;
        }
        let rest = swapped.slice_axis(1, 1, size);
        let is_zero = pivot.compare(pivot.number(0.0), Direction::Eq);
        let safe = is_zero.select(pivot.number(1.0), pivot);
        let factor = rest.slice_axis(2, 0, 1) / safe;
        m = (rest - factor * pick).slice_axis(2, 1, size);
    }
    result.reshape_to(&lead)
}
