//! Spellings here of functions that NumPy, PyTorch and Python have under other names, for help texts.

use sapwood_ptir::Registry;

use super::regions::is_callable;

/// Names in other libraries, and the expression that computes the same.
const OTHER_NAMES: [(&[&str], &str); 27] = [
    (&["all"], "`pi.op.reduce_and(x, axes=[…])`"),
    (&["amax"], "`pi.op.reduce_max(x, axes=[…])`"),
    (&["amin"], "`pi.op.reduce_min(x, axes=[…])`"),
    (&["any"], "`pi.op.reduce_or(x, axes=[…])`"),
    (&["arange"], "`pi.op.iota(axis=0, shape=[n], dtype=pi.INT32)`"),
    (&["argmax"], "`pi.op.arg_max(x, axis=0)`"),
    (&["argmin"], "`pi.op.arg_min(x, axis=0)`"),
    (&["argsort"], "`pi.op.sort(x, i, comparator=\"lt\", axis=0)`, where `i` are the indices"),
    (&["astype", "to"], "`pi.cast(x, pi.FP16)`"),
    (
        &["average", "mean"],
        "`pi.op.reduce_sum(x, axes=[…]) / n`, where `n` is the number of elements",
    ),
    (
        &["max_pool", "max_pool1d", "max_pool2d", "maxpool"],
        "`pi.op.reduce_window(x, pi.FP32(\"-inf\"), body=\"max\", window=[…])`",
    ),
    (
        &["bmm", "dot", "einsum", "mm", "tensordot"],
        "`a @ b`, or `pi.op.dot_general` for other axes",
    ),
    (&["cat", "concatenate", "hstack", "vstack"], "`pi.op.concat(x, y, axis=0)`"),
    (&["clip"], "`pi.op.clamp(low, x, high)`"),
    (&["conv", "conv1d", "conv2d", "conv3d"], "`pi.op.convolution`"),
    (
        &["cumprod", "cumsum"],
        "`pi.op.reduce_window` with a window as long as the axis, and padding before it",
    ),
    (&["embedding", "index_select", "take"], "`pi.op.gather`"),
    (
        &["expand", "full", "full_like", "ones", "ones_like", "zeros", "zeros_like"],
        "`pi.op.broadcast_to(0.0, shape=[…])`",
    ),
    (
        &["expand_dims", "flatten", "ravel", "squeeze", "unsqueeze", "view"],
        "`pi.op.reshape(x, shape=[…])`",
    ),
    (&["flip"], "`pi.op.reverse(x, axes=[…])`"),
    (&["len", "ndim", "shape", "size"], "the dims of the type of `x`: numbers and parameters"),
    (&["moveaxis", "permute", "swapaxes"], "`pi.op.transpose(x, perm=[…])`"),
    (&["prod"], "`pi.op.reduce_prod(x, axes=[…])`"),
    (&["relu"], "`max(x, 0)`"),
    (&["sigmoid"], "`pi.op.logistic(x)`"),
    (&["sum"], "`pi.op.reduce_sum(x, axes=[…])`"),
    (&["where"], "`pi.op.select(condition, x, y)`"),
];

/// Returns the expression for a function that is known by this name elsewhere, or for an op of this name.
#[must_use]
pub fn spelling(name: &str) -> Option<String> {
    let other = OTHER_NAMES.iter().find(|(names, _)| names.contains(&name));
    if let Some((_, spelling)) = other {
        return Some((*spelling).to_owned());
    }
    let registry = Registry::builtin();
    let def = registry.by_name(name).filter(|def| is_callable(def))?;
    Some(format!("`pi.op.{}(…)`", def.name))
}
