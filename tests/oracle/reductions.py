"""Reductions, windows, sorting.

NumPy in the documented order. JAX sums in an unspecified order and flushes denormals, so it cannot determine the bits. If it has
the op, its values must agree on small integers, which every order adds exactly.
"""

import itertools

import jax
import numpy as np

from contract import accumulation_dtype, add_rounded, multiply_rounded, draw_values, draw_accumulation
from elementwise import COMPARE, convert, draw_extreme, total_key
from shapes import ints, padded
from tensors import ANY, COMPLEX, INT, NUMPY, array, is_complex, is_float, is_int, integer_limits, op, single_op_case

REAL = [d for d in ANY if d not in COMPLEX]


def smallest(d):
    return False if d == "bool" else -np.inf if is_float(d) else integer_limits(d)[0]


def largest(d):
    return True if d == "bool" else np.inf if is_float(d) else integer_limits(d)[1]


STEP = {
    "sum": add_rounded, "prod": multiply_rounded, "max": draw_extreme(True), "min": draw_extreme(False),
    "and": lambda d, x, y: x & y, "or": lambda d, x, y: x | y, "xor": lambda d, x, y: x ^ y,
}


def initial_value(kind, d):
    if kind in ("sum", "or", "xor"):
        return NUMPY[d](0)
    if kind == "prod":
        return NUMPY[d](1)
    if kind == "and":
        return NUMPY[d](True) if d == "bool" else np.array(-1).astype(NUMPY[d])[()]
    return NUMPY[d](smallest(d) if kind == "max" else largest(d))


def fold(step, d, a, axes, init):
    """Folds the elements of the axes in row-major order, starting with init."""
    keep = [i for i in range(a.ndim) if i not in axes]
    shape = [a.shape[i] for i in keep]
    rows = a.transpose(keep + sorted(axes)).reshape(shape + [-1] if a.size else shape + [int(np.prod([a.shape[i] for i in axes], dtype=int))])
    total = np.full(shape, init, NUMPY[d])
    for i in range(rows.shape[-1]):
        total = np.asarray(step(d, total, rows[..., i]))
    return total


def register_named_reduction(kind, among, summed):
    name = f"reduce_{kind}"

    def make(draw):
        d = draw.dtype(among)
        shape = draw.shape()
        if not draw.golden and draw.chance(0.1):
            shape = (draw.int(30, 300), draw.int(1, 3))
        axes = [i for i in range(len(shape)) if draw.chance(0.6)]
        keep = draw.chance(0.4)
        a = draw_values(draw, d, shape) if summed else np.asarray(draw.tensor(d, shape))
        attribute = draw_accumulation(draw, d) if summed else None
        acc = accumulation_dtype(d, attribute) if summed else d
        want = convert(acc, d, fold(STEP[kind], acc, convert(d, acc, a), axes, initial_value(kind, acc)))
        if keep:
            want = want.reshape([1 if i in axes else n for i, n in enumerate(shape)])
        attributes = f"axes = {ints(axes)}" + (", keepdims = true" if keep else "") + (f", accumulate = {attribute}" if attribute else "")
        return single_op_case(name, [(d, a)], [(d, want)], attributes)

    op(name, golden=7, weight=2)(make)


register_named_reduction("sum", ANY, True)
register_named_reduction("prod", ANY, True)
register_named_reduction("max", REAL, False)
register_named_reduction("min", REAL, False)
register_named_reduction("and", INT + ["bool"], False)
register_named_reduction("or", INT + ["bool"], False)
register_named_reduction("xor", INT + ["bool"], False)


def register_arg_reduction(name, top):
    def make(draw):
        d = draw.dtype(REAL)
        shape = draw.shape(least_rank=1)
        axis = draw.int(0, len(shape) - 1)
        index = draw.any(["i32", "i64", "u8", "u32"])
        keep = draw.chance(0.3)
        a = np.asarray(draw.tensor(d, shape))
        if shape[axis] == 0:
            want = np.zeros([n for i, n in enumerate(shape) if i != axis], np.int64)
        else:
            # NumPy: the first of equal elements, NaN before all.
            want = (np.argmax if top else np.argmin)(a.astype(np.float64) if d in ("bf16", "f16") else a, axis)
        want = np.asarray(want).astype(NUMPY[index])
        if keep:
            want = np.expand_dims(want, axis)
        attributes = f"axis = {axis}" + (", keepdims = true" if keep else "") + (f", index = {index}" if index != "i32" else "")
        return single_op_case(name, [(d, a)], [(index, want)], attributes)

    op(name, weight=2)(make)


register_arg_reduction("arg_max", True)
register_arg_reduction("arg_min", False)

REGION_OP = {"sum": "add", "prod": "mul", "max": "max", "min": "min", "and": "and", "or": "or", "xor": "xor"}


def combiner_kinds(d):
    if d == "bool":
        return ["and", "or", "xor", "max"]
    return ["sum", "prod", "sum"] if is_complex(d) else ["sum", "max", "min", "prod"] + (["xor"] if is_int(d) else [])


def region(kind, d):
    return f"(%x: {d}[], %y: {d}[]) {{\n    %z = {REGION_OP[kind]} %x, %y : {d}[]\n    yield %z\n  }}"


def combiner_step(kind, d):
    """Returns one step of a region, in which every op rounds to its type, f16 and bf16 too."""
    return STEP[kind]


@op("reduce", golden=6, weight=4)
def reduce(draw):
    shape = draw.shape(most_rank=3)
    axes = [i for i in range(len(shape)) if draw.chance(0.6)]
    if draw.chance(0.3) or draw.turn == 3:
        return arg_reduce(draw, shape, axes)
    d = draw.dtype(ANY)
    kind = draw.any(combiner_kinds(d))
    a = draw_values(draw, d, shape) if kind in ("sum", "prod") else np.asarray(draw.tensor(d, shape))
    init = draw_values(draw, d, ()) if kind in ("sum", "prod") else np.asarray(draw.tensor(d, ()))
    want = fold(STEP[kind], d, a, axes, init[()])
    return single_op_case("reduce", [(d, a), (d, init)], [(d, want)], f"axes = {ints(axes)}", region(kind, d))


def arg_reduce(draw, shape, axes):
    """Returns the largest element and its index, by a region with two accumulators: the later one wins if it is larger."""
    d = draw.any(["f32", "i32", "u8", "f64"])
    a = np.asarray(draw.tensor(d, shape, special=not is_float(d)))
    i = draw.ints("i32", shape)
    x0, i0 = array(d, 1), array("i32", -1)
    keep = [k for k in range(a.ndim) if k not in axes]
    out = [a.shape[k] for k in keep]
    n = int(np.prod([a.shape[k] for k in axes], dtype=int))
    ar, ir = (z.transpose(keep + axes).reshape(out + [n]) for z in (a, i))
    best, at = np.full(out, x0, NUMPY[d]), np.full(out, i0, np.int32)
    for k in range(n):
        above = ar[..., k] > best
        best, at = np.where(above, ar[..., k], best), np.where(above, ir[..., k], at)
    body = (
        f"(%x: {d}[], %i: i32[], %y: {d}[], %j: i32[]) {{\n    %p = compare %y, %x {{direction = gt}} : bool[]\n"
        f"    %u = select %p, %y, %x : {d}[]\n    %v = select %p, %j, %i : i32[]\n    yield %u, %v\n  }}"
    )
    return single_op_case("reduce", [(d, a), ("i32", i), (d, x0), ("i32", i0)], [(d, best), ("i32", at)], f"axes = {ints(axes)}", body)


def window_attributes(window, strides, pads, base=(), dilation=()):
    words = [f"window = {ints(window)}"]
    if any(s != 1 for s in strides):
        words.append(f"strides = {ints(strides)}")
    if any(list(p) != [0, 0] for p in pads):
        words.append("pads = [" + ", ".join(ints(p) for p in pads) + "]")
    if any(b != 1 for b in base):
        words.append(f"base_dilation = {ints(base)}")
    if any(b != 1 for b in dilation):
        words.append(f"window_dilation = {ints(dilation)}")
    return ", ".join(words)


def window_draw(draw, shape, most_pad=2):
    window = [draw.int(1, 3) for _ in shape]
    strides = [draw.any([1, 1, 2]) for _ in shape]
    pads = [[draw.int(0, most_pad), draw.int(0, most_pad)] if draw.chance(0.5) else [0, 0] for _ in shape]
    return window, strides, pads


@op("reduce_window", golden=7, weight=6)
def reduce_window(draw):
    d = draw.dtype(ANY)
    kind = draw.any(combiner_kinds(d))
    shape = draw.shape(least_rank=1, most_rank=3, most=6) if not draw.golden else draw.pick([(5,), (3, 4), (4,), (0,), (2, 3)])
    window, strides, pads = window_draw(draw, shape)
    base = [draw.any([1, 1, 2]) for _ in shape]
    dilation = [draw.any([1, 1, 2]) for _ in shape]
    if draw.chance(0.3):
        pads = [[p[0] - 1, p[1]] if n > 1 else p for p, n in zip(pads, shape)]
    a = draw_values(draw, d, shape) if kind in ("sum", "prod") else np.asarray(draw.tensor(d, shape))
    identity = draw.chance(0.6)
    init = initial_value(kind, d) if identity else draw_values(draw, d, ())[()]
    wide = padded(a, init, [p[0] for p in pads], [p[1] for p in pads], [b - 1 for b in base])
    reach = [(w - 1) * t + 1 for w, t in zip(window, dilation)]
    out = [0 if n < r else (n - r) // s + 1 for n, r, s in zip(wide.shape, reach, strides)]
    want = np.full(out, init, NUMPY[d])
    if want.size:
        for at in itertools.product(*(range(w) for w in window)):
            cut = tuple(slice(i * t, i * t + (n - 1) * s + 1, s) for i, t, n, s in zip(at, dilation, out, strides))
            want = np.asarray(STEP[kind](d, want, wide[cut]))
        if identity and kind in ("sum", "max", "min") and d in ("f32", "i32") and not np.isnan(np.abs(a.astype(float)).sum()):
            function = {"sum": jax.lax.add, "max": jax.lax.max, "min": jax.lax.min}[kind]
            theirs = jax.lax.reduce_window(a, init, function, window, strides, pads, base, dilation)
            near = np.isfinite(want.astype(float)) & (np.abs(want.astype(float)) > 1e-30) if is_float(d) else np.full(want.shape, True)
            if kind != "sum" or is_int(d):
                assert np.array_equal(np.asarray(theirs)[near], want[near]), (theirs, want)
    attributes = window_attributes(window, strides, pads, base, dilation)
    return single_op_case("reduce_window", [(d, a), (d, array(d, init))], [(d, want)], attributes, region(kind, d))


@op("select_and_scatter", golden=5, weight=6)
def select_and_scatter(draw):
    d = draw.dtype([d for d in REAL if d != "bool"])
    shape = draw.shape(least_rank=1, most_rank=3, most=6, least=1) if not draw.golden else draw.pick([(6,), (4, 3), (5,)])
    window, strides, pads = window_draw(draw, shape, 1)
    direction = draw.any(["ge", "le", "gt"])
    combine = draw.any(["sum", "max"])
    out = [0 if n + sum(p) < w else (n + sum(p) - w) // s + 1 for n, p, w, s in zip(shape, pads, window, strides)]
    a = np.asarray(draw.tensor(d, shape, special=False))
    source = draw.whole(d, tuple(out))
    init = draw.whole(d, ())
    want = np.full(shape, init, NUMPY[d])
    for at in np.ndindex(*out):
        picked = None
        for inside in np.ndindex(*window):
            place = tuple(i * s + j - p[0] for i, s, j, p in zip(at, strides, inside, pads))
            if any(k < 0 or k >= n for k, n in zip(place, shape)):
                continue
            if picked is None or not COMPARE[direction](a[picked], a[place]):
                picked = place
        if picked is not None:
            want[picked] = STEP[combine](d, np.asarray(want[picked]), np.asarray(source[at]))
    select = f"(%x: {d}[], %y: {d}[]) {{\n    %p = compare %x, %y {{direction = {direction}}} : bool[]\n    yield %p\n  }}"
    scatter = f"(%u: {d}[], %v: {d}[]) {{\n    %w = {REGION_OP[combine]} %u, %v : {d}[]\n    yield %w\n  }}"
    return single_op_case(
        "select_and_scatter", [(d, a), (d, source), (d, init)], [(d, want)], window_attributes(window, strides, pads), select + " " + scatter
    )


def stable_order(keys):
    """Returns the stable order of Python keys."""
    return sorted(range(len(keys)), key=lambda i: keys[i])


@op("top_k", golden=6, weight=4)
def top_k(draw):
    d = draw.dtype(REAL)
    shape = draw.shape(least_rank=1, most_rank=3)
    k = draw.int(0, shape[-1])
    a = np.asarray(draw.tensor(d, shape))
    if draw.chance(0.4) and not is_float(d) and d != "bool":
        a = draw.whole(d, shape, 2)
    lead = shape[:-1]
    picked, at = np.zeros(lead + (k,), NUMPY[d]), np.zeros(lead + (k,), np.int32)
    for i in np.ndindex(lead):
        row = a[i].tolist() if d not in ("bf16",) else a[i].astype(float).tolist()
        order = stable_order([(0, 0) if x != x else (1, -x) for x in row])[:k]
        picked[i], at[i] = a[i][order], order
    return single_op_case("top_k", [(d, a)], [(d, picked), ("i32", at)], f"k = {k}")


@op("sort", golden=7, weight=6)
def sort(draw):
    d = draw.dtype(REAL)
    shape = draw.shape(least_rank=1, most_rank=3)
    if not draw.golden and draw.chance(0.1):
        shape = (draw.int(50, 300),)
    axis = draw.int(0, len(shape) - 1)
    down = draw.chance(0.4)
    second = draw.chance(0.5)
    total = is_float(d)
    a = np.asarray(draw.tensor(d, shape))
    if draw.chance(0.5):
        # Many equal elements, so that instability is visible.
        a = draw.whole(d, shape, 2)
    keys = total_key(a) if total else a.astype(object)
    b = draw.ints("i32", shape, extreme=False)
    rows = np.moveaxis(keys, axis, -1)
    order = np.zeros(rows.shape, np.int64)
    for i in np.ndindex(rows.shape[:-1]):
        order[i] = stable_order([-int(x) if down else int(x) for x in rows[i]])
    order = np.moveaxis(order, -1, axis)
    sorted_a, sorted_b = np.take_along_axis(a, order, axis), np.take_along_axis(b, order, axis)
    direction = "gt" if down else "lt"
    words = f"direction = {direction}" + (", order = total" if total else "")
    params = f"%x: {d}[], %y: {d}[]" + (", %u: i32[], %v: i32[]" if second else "")
    body = f"({params}) {{\n    %p = compare %x, %y {{{words}}} : bool[]\n    yield %p\n  }}"
    inputs, outputs = [(d, a)], [(d, sorted_a)]
    if second:
        inputs.append(("i32", b))
        outputs.append(("i32", sorted_b))
    return single_op_case("sort", inputs, outputs, f"axis = {axis}", body)

