"""Ops that create, move and count elements, in NumPy."""

import numpy as np

from elementwise import convert
from tensors import Case, NUMPY, STORED, array, literal, op, single_op_case, type_text


def ints(xs):
    return "[" + ", ".join(str(int(x)) for x in xs) + "]"


@op("constant", golden=10)
def constant(draw):
    d = draw.dtype(STORED)
    shape = draw.shape()
    a = np.asarray(draw.tensor(d, shape))
    ty = type_text(d, shape)
    if draw.chance(0.3) and a.size:
        # A splat.
        one = a.ravel()[0]
        a, text = np.full(shape, one, NUMPY[d]), literal(d, one)
    else:
        text = literal(d, a)
    return Case(f"func @f() -> {ty} {{\n  %r = constant {text} : {ty}\n  return %r\n}}\n", [], [(d, a)])


@op("iota", golden=6)
def iota(draw):
    d = draw.dtype([d for d in STORED if d != "bool"])
    shape = draw.shape(least_rank=1)
    if not draw.golden and draw.chance(0.2):
        shape = (draw.int(200, 400),)
    axis = draw.int(0, len(shape) - 1)
    counts = convert("i64", d, np.arange(shape[axis], dtype=np.int64))
    index = [None] * len(shape)
    index[axis] = slice(None)
    return single_op_case("iota", [], [(d, np.broadcast_to(counts[tuple(index)], shape))], f"axis = {axis}")


def element_draw(draw):
    return draw.dtype(STORED)


@op("reshape", weight=2)
def reshape(draw):
    d = element_draw(draw)
    shape = draw.shape()
    n = int(np.prod(shape, dtype=int))
    if n == 0:
        new = draw.any([(0,), (3, 0), (0, 2, 5)])
    else:
        new, rest = [], n
        for f in [2, 3, 5, 7]:
            if rest % f == 0 and draw.chance(0.6):
                new.append(f)
                rest //= f
        new = tuple(new + ([rest] if rest != 1 or draw.chance(0.3) else []))
    a = np.asarray(draw.tensor(d, shape))
    return single_op_case("reshape", [(d, a)], [(d, a.reshape(new))])


@op("transpose", weight=2)
def transpose(draw):
    d = element_draw(draw)
    shape = draw.shape(least_rank=1, most_rank=4) if not draw.golden else draw.pick([(2, 3), (2, 1, 3), (0, 2), (3, 2, 2)])
    perm = [int(p) for p in draw.rng.permutation(len(shape))]
    a = np.asarray(draw.tensor(d, shape))
    return single_op_case("transpose", [(d, a)], [(d, a.transpose(perm))], f"perm = {ints(perm)}")


@op("broadcast_to", weight=2)
def broadcast_to(draw):
    d = element_draw(draw)
    to = draw.shape(most_rank=4) if not draw.golden else draw.pick([(2, 3), (2, 2, 2), (3, 0), (4,), (1, 3)])
    shape = [1 if draw.chance(0.4) else n for n in to]
    shape = tuple(shape[draw.int(0, len(to)) :])
    a = np.asarray(draw.tensor(d, shape))
    return single_op_case("broadcast_to", [(d, a)], [(d, np.broadcast_to(a, to))])


@op("broadcast_in_dim", weight=2)
def broadcast_in_dim(draw):
    d = element_draw(draw)
    to = draw.shape(most_rank=4) if not draw.golden else draw.pick([(2, 3), (2, 2, 2), (3, 0), (4,), (1, 3)])
    dims = [int(p) for p in draw.rng.permutation(len(to))][: draw.int(0, len(to))]
    shape = tuple(1 if draw.chance(0.3) else to[n] for n in dims)
    a = np.asarray(draw.tensor(d, shape))
    order = np.argsort(dims) if dims else []
    b = a.transpose([int(o) for o in order])
    full = [1] * len(to)
    for i, n in enumerate(sorted(dims)):
        full[n] = b.shape[i]
    return single_op_case("broadcast_in_dim", [(d, a)], [(d, np.broadcast_to(b.reshape(full), to))], f"dims = {ints(dims)}")


@op("slice", weight=2)
def slice_op(draw):
    d = element_draw(draw)
    shape = draw.shape(most_rank=3) if not draw.golden else draw.pick([(5,), (4, 3), (), (0,), (2, 5)])
    starts = [draw.int(0, n) for n in shape]
    ends = [draw.int(s, n) for s, n in zip(starts, shape)]
    strides = [draw.int(1, 3) for _ in shape]
    a = np.asarray(draw.tensor(d, shape))
    want = a[tuple(slice(s, e, t) for s, e, t in zip(starts, ends, strides))]
    attributes = f"starts = {ints(starts)}, limits = {ints(ends)}"
    if any(t != 1 for t in strides):
        attributes += f", strides = {ints(strides)}"
    return single_op_case("slice", [(d, a)], [(d, want)], attributes)


@op("concat", weight=2)
def concat(draw):
    d = element_draw(draw)
    shape = draw.shape(least_rank=1)
    axis = draw.int(0, len(shape) - 1)
    parts = []
    for _ in range(draw.int(1, 4)):
        one = list(shape)
        one[axis] = draw.int(0, 3)
        parts.append((d, np.asarray(draw.tensor(d, tuple(one)))))
    return single_op_case("concat", parts, [(d, np.concatenate([p for _, p in parts], axis))], f"axis = {axis}")


def padded(a, value, low, high, interior):
    """Pads the interior first, then the edges; negative edges remove elements."""
    for axis, (l, h, i) in enumerate(zip(low, high, interior)):
        n = a.shape[axis]
        size = n + max(n - 1, 0) * i
        wide = list(a.shape)
        wide[axis] = size
        out = np.full(wide, value, a.dtype)
        spread = [slice(None)] * a.ndim
        spread[axis] = slice(None, None, i + 1)
        if n:
            out[tuple(spread)] = a
        edges = [(0, 0)] * a.ndim
        edges[axis] = (max(l, 0), max(h, 0))
        out = np.pad(out, edges, constant_values=value)
        cut = [slice(None)] * a.ndim
        cut[axis] = slice(max(-l, 0), out.shape[axis] - max(-h, 0))
        a = out[tuple(cut)]
    return a


@op("pad", golden=8, weight=3)
def pad(draw):
    d = element_draw(draw)
    shape = draw.shape(most_rank=3)
    interior = [draw.any([0, 0, 1, 2]) for _ in shape]
    low, high = [], []
    for n, i in zip(shape, interior):
        size = n + max(n - 1, 0) * i
        l = draw.int(-min(size, 2), 3)
        high.append(draw.int(-min(size + min(l, 0), 2), 3))
        low.append(l)
    a, v = np.asarray(draw.tensor(d, shape)), np.asarray(draw.tensor(d, ()))
    attributes = f"low = {ints(low)}, high = {ints(high)}"
    if any(interior):
        attributes += f", interior = {ints(interior)}"
    return single_op_case("pad", [(d, a), (d, v)], [(d, padded(a, v[()], low, high, interior))], attributes)


@op("reverse")
def reverse(draw):
    d = element_draw(draw)
    shape = draw.shape()
    axes = [i for i in range(len(shape)) if draw.chance(0.6)]
    a = np.asarray(draw.tensor(d, shape))
    return single_op_case("reverse", [(d, a)], [(d, np.flip(a, axes) if axes else a)], f"axes = {ints(axes)}")


@op("get_dimension_size")
def get_dimension_size(draw):
    d = element_draw(draw)
    shape = draw.shape(least_rank=1)
    axis = draw.int(0, len(shape) - 1)
    a = np.asarray(draw.tensor(d, shape))
    return single_op_case("get_dimension_size", [(d, a)], [("i32", array("i32", shape[axis]))], f"axis = {axis}")


def slice_draw(draw):
    """Draws the element type and shape of an input, the type of the starts, and the extents of a slice."""
    d = element_draw(draw)
    shape = draw.shape(most_rank=3) if not draw.golden else draw.pick([(5,), (4, 3), (), (0,), (2, 5)])
    return d, shape, draw.any(["i32", "i64", "u8", "i8", "u64"]), [draw.int(0, n) for n in shape]


def starts_draw(draw, t, shape, sizes):
    """Draws starts, and returns them with the places of the slice, which is inside of the input."""
    starts = [draw.ints(t, (), low=-3, high=6) if draw.chance(0.8) else draw.ints(t, ()) for _ in shape]
    return starts, [max(0, min(int(s), n - k)) for s, n, k in zip(starts, shape, sizes)]


@op("dynamic_slice", weight=3)
def dynamic_slice(draw):
    d, shape, t, sizes = slice_draw(draw)
    a = np.asarray(draw.tensor(d, shape))
    starts, at = starts_draw(draw, t, shape, sizes)
    want = a[tuple(slice(s, s + k) for s, k in zip(at, sizes))]
    return single_op_case("dynamic_slice", [(d, a)] + [(t, s) for s in starts], [(d, want)], f"sizes = {ints(sizes)}")


@op("dynamic_update_slice", weight=3)
def dynamic_update_slice(draw):
    d, shape, t, sizes = slice_draw(draw)
    a, u = np.asarray(draw.tensor(d, shape)), np.asarray(draw.tensor(d, tuple(sizes)))
    starts, at = starts_draw(draw, t, shape, sizes)
    want = a.copy()
    want[tuple(slice(s, s + k) for s, k in zip(at, sizes))] = u
    return single_op_case("dynamic_update_slice", [(d, a), (d, u)] + [(t, s) for s in starts], [(d, want)])

