//! Spellings here of functions that NumPy, PyTorch and Python have under other names, for help texts.

use sapwood_ptir::Registry;
use sapwood_types::did_you_mean;

use super::regions::is_callable;

/// Names in other libraries, and the expression that computes the same.
const OTHER_NAMES: [(&[&str], &str); 29] = [
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
    (
        &["softmax"],
        "`e = pi.op.exp(x)` and `e / pi.op.broadcast_to(pi.op.reduce_sum(e, axes=[…], keepdims=True), shape=[…])`",
    ),
    (&["stack"], "`pi.op.concat(x, y, axis=0)` of parts with one more axis, from `pi.op.reshape`"),
    (&["sum"], "`pi.op.reduce_sum(x, axes=[…])`"),
    (&["where"], "`pi.op.select(condition, x, y)`"),
];

/// Returns the expression for a function that is known by this name elsewhere, or for an op of this name.
pub(crate) fn spelling(name: &str) -> Option<String> {
    let other = OTHER_NAMES.iter().find(|(names, _)| names.contains(&name));
    if let Some((_, spelling)) = other {
        return Some((*spelling).to_owned());
    }
    let registry = Registry::builtin();
    let def = registry.by_name(name).filter(|def| is_callable(def))?;
    Some(format!("`pi.op.{}(…)`", def.name))
}

/// Returns a correction of the name of an op that is not registered, as a clause: another spelling, or an op with a similar name, or with a
/// name that contains this one as a word.
#[must_use]
pub fn correction(registry: &Registry, name: &str) -> Option<String> {
    if let Some(spelling) = spelling(name) {
        return Some(format!("write {spelling}"));
    }
    let names = || registry.defs().filter(|def| is_callable(def)).map(|def| def.name);
    let name = name.to_lowercase();
    let contains = |op: &&str| op.split('_').any(|word| word == name);
    let similar = names()
        .find(|op| *op == name)
        .or_else(|| names().find(contains))
        .or_else(|| did_you_mean(&name, names()));
    similar.map(|op| format!("did you mean `{op}`?"))
}

/// Returns the end of a message about an unknown op: its correction, or nothing.
pub(crate) fn correction_suffix(name: &str) -> String {
    let correction = correction(&Registry::builtin(), name);
    correction.map(|correction| format!("; {correction}")).unwrap_or_default()
}
