"""Sums of products, linear algebra and Fourier transforms.

Contractions are computed twice: in NumPy in the documented order and accumulation type, which determines the expected bits, and by
JAX, which must agree (exactly for integers, within rounding for floats), so that the interpretation of the attributes is confirmed.
"""

import itertools

import jax
import mpmath
import numpy as np

from elementwise import convert, without_warnings
from shapes import ints, padded
from tensors import ANY, NUMBER, NUMPY, is_complex, is_float, is_int, op, single_op_case

jax.config.update("jax_enable_x64", True)
jax.config.update("jax_platforms", "cpu")


def accumulation_dtype(d, attribute):
    return attribute or ("f32" if d in ("f16", "bf16") else d)


def draw_accumulation(draw, d):
    """Returns an explicit accumulation type, or None."""
    if not draw.chance(0.4) or d in ("bool", "index"):
        return None
    if is_float(d):
        return draw.any({"f16": ["f16", "f32", "f64"], "bf16": ["bf16", "f32"], "f32": ["f32", "f64"], "f64": ["f64"]}[d])
    if is_complex(d):
        return draw.any(["c64", "c128"] if d == "c64" else ["c128"])
    return draw.any({"i8": ["i8", "i32"], "u8": ["u8", "u32"]}.get(d, [d]))


def add_rounded(d, x, y):
    if d == "bool":
        return x | y
    return without_warnings(lambda: (x + y).astype(NUMPY[d]))


def multiply_rounded(d, x, y):
    if d == "bool":
        return x & y
    if is_complex(d):
        z = np.empty(np.broadcast_shapes(x.shape, y.shape), NUMPY[d])
        with np.errstate(all="ignore"):
            z.real = x.real * y.real - x.imag * y.imag
            z.imag = x.real * y.imag + x.imag * y.real
        return z
    return without_warnings(lambda: (x * y).astype(NUMPY[d]))


def assert_agreement(ours, theirs, size, d):
    """Asserts that both computations agree within rounding."""
    theirs = np.asarray(theirs)
    assert ours.shape == theirs.shape, (ours.shape, theirs.shape)
    if not (is_float(d) or is_complex(d)):
        assert np.array_equal(ours, theirs), (ours, theirs)
        return
    a, b = ours.astype(complex), theirs.astype(complex)
    fine = np.isfinite(a) & np.isfinite(b)
    eps = {"f16": 1e-2, "bf16": 6e-2, "f32": 1e-4, "c64": 1e-4}.get(d, 1e-10)
    assert np.all(np.abs(a[fine] - b[fine]) <= eps * np.maximum(1, size.astype(float))[fine]), (ours, theirs)


def draw_values(draw, d, shape):
    if is_complex(d) or draw.golden:
        return draw.whole(d, shape) if not draw.golden or not is_float(d) else draw.floats(d, shape, special=False)
    kind = draw.any([0, 1, 2])
    if kind == 0:
        return draw.whole(d, shape)
    return np.asarray(draw.tensor(d, shape, special=kind == 2))


def contract_in_order(d, acc, left, right):
    """Contracts left[b, m, k] and right[b, n, k] in order of k, starting from zero."""
    left, right = convert(d, acc, left), convert(d, acc, right)
    total = np.zeros((left.shape[0], left.shape[1], right.shape[1]), NUMPY[acc])
    for k in range(left.shape[2]):
        total = add_rounded(acc, total, multiply_rounded(acc, left[:, :, None, k], right[:, None, :, k]))
    return total


@op("dot_general", golden=8, weight=6)
def dot_general(draw):
    d = draw.dtype(ANY)
    counts = (draw.int(0, 1), draw.int(0, 2), draw.int(0, 1), draw.int(0, 2)) if not draw.golden else draw.pick(
        [(0, 1, 1, 1), (1, 1, 1, 1), (0, 0, 1, 0), (0, 1, 2, 1), (0, 1, 0, 1)]
    )
    size = lambda: draw.any([0, 1, 2, 3, 4, 5] if draw.chance(0.2) else [1, 2, 3, 4, 5])
    batch, left, both, right = ([size() for _ in range(n)] for n in counts)
    if draw.golden:
        batch, left, both, right = [2] * counts[0], [2] * counts[1], [3] * counts[2], [2] * counts[3]
        if draw.turn == 5:
            both = [0]
    elif draw.chance(0.15):
        both = [draw.int(20, 200)]

    def side(free):
        names = [("b", i) for i in range(len(batch))] + [("f", i) for i in range(len(free))] + [("c", i) for i in range(len(both))]
        sizes = {"b": batch, "f": free, "c": both}
        # Free axes keep their order; the others may be at any position.
        order = [names[i] for i in draw.rng.permutation(len(names))]
        frees = iter(sorted(n for n in order if n[0] == "f"))
        order = [next(frees) if n[0] == "f" else n for n in order]
        shape = tuple(sizes[k][i] for k, i in order)
        at = lambda k, n: [order.index((k, i)) for i in range(n)]
        return draw_values(draw, d, shape), at("b", len(batch)), at("f", len(free)), at("c", len(both))

    (x, xb, xf, xc), (y, yb, yf, yc) = side(left), side(right)
    n = lambda s: int(np.prod(s, dtype=int))
    acc_attribute = draw_accumulation(draw, d)
    acc = accumulation_dtype(d, acc_attribute)
    out_attribute = acc if draw.chance(0.3) and acc != d else None
    out = out_attribute or d
    left3 = x.transpose(xb + xf + xc).reshape(n(batch), n(left), n(both))
    right3 = y.transpose(yb + yf + yc).reshape(n(batch), n(right), n(both))
    want = convert(acc, out, contract_in_order(d, acc, left3, right3)).reshape(batch + left + right)
    if d != "bool" and n(batch) * n(left) * n(right) * n(both) < 2000:
        wide = "c128" if is_complex(d) else "f64" if is_float(d) else d
        dims = ((xc, yc), (xb, yb))
        theirs = jax.lax.dot_general(convert(d, wide, x), convert(d, wide, y), dims)
        size = jax.lax.dot_general(np.abs(x).astype(float), np.abs(y).astype(float), dims)
        if acc == d or not is_int(d):
            assert_agreement(want, theirs, np.asarray(size) * max(1, n(both)), "f16" if acc == "f16" else "bf16" if acc == "bf16" else d)
    words = [("lhs_batch", xb), ("rhs_batch", yb), ("lhs_contract", xc), ("rhs_contract", yc)]
    attributes = [f"{k} = {ints(v)}" for k, v in words if v]
    attributes += [f"accumulate = {acc_attribute}"] if acc_attribute else []
    attributes += [f"out = {out_attribute}"] if out_attribute else []
    return single_op_case("dot_general", [(d, x), (d, y)], [(out, want)], ", ".join(attributes))


def convolve(d, acc, x, k, strides, pads, base, dilation, reversal, fg, bg):
    """Convolves x[batch, feature, space] with k[feature, out, space] to [batch, out, space]: windows in row-major order, features inside."""
    space = x.ndim - 2
    x, k = convert(d, acc, x), convert(d, acc, k)
    zero = NUMPY[acc](0)
    x = padded(x, zero, [0, 0] + [p[0] for p in pads], [0, 0] + [p[1] for p in pads], [0, 0] + [b - 1 for b in base])
    for axis, flip in enumerate(reversal):
        if flip:
            k = np.flip(k, axis + 2)
    sizes = k.shape[2:]
    reach = [(s - 1) * t + 1 if s else 0 for s, t in zip(sizes, dilation)]
    out_space = [0 if n < r else (n - r) // s + 1 for n, r, s in zip(x.shape[2:], reach, strides)]
    batch, outs, inner = x.shape[0] // bg, k.shape[1], k.shape[0]
    total = np.zeros([batch, outs] + out_space, NUMPY[acc])
    if total.size == 0:
        return total
    groups = fg * bg
    per = outs // groups
    for at in itertools.product(*(range(s) for s in sizes)):
        cut = tuple(slice(i * t, i * t + (n - 1) * s + 1, s) for i, t, n, s in zip(at, dilation, out_space, strides))
        seen = x[(slice(None), slice(None)) + cut]
        for f in range(inner):
            for g in range(groups):
                source = seen[:, g * inner + f] if fg > 1 else seen[g * batch : (g + 1) * batch, f]
                weights = k[(f, slice(g * per, (g + 1) * per)) + at].reshape([1, per] + [1] * space)
                part = multiply_rounded(acc, source[:, None], weights)
                total[:, g * per : (g + 1) * per] = add_rounded(acc, total[:, g * per : (g + 1) * per], part)
    return total


@op("convolution", golden=8, weight=8)
def convolution(draw):
    d = draw.dtype(NUMBER)
    space = draw.any([1, 2, 2, 0, 3]) if not draw.golden else draw.pick([1, 2, 1])
    fg, bg = draw.any([(1, 1), (1, 1), (2, 1), (1, 2), (3, 1)])
    features, per = draw.int(1, 3 if space < 3 else 2), draw.int(1, 2)
    sizes = [draw.int(1, 3) for _ in range(space)]
    extents = [draw.any([0, 1, 4, 5, 6, 7] if draw.chance(0.1) else [3, 4, 5, 6, 7]) for _ in range(space)]
    strides = [draw.any([1, 1, 2, 3]) for _ in range(space)]
    base = [draw.any([1, 1, 1, 2]) for _ in range(space)]
    dilation = [draw.any([1, 1, 1, 2]) for _ in range(space)]
    pads = [[draw.int(-1, 2), draw.int(-1, 2)] for _ in range(space)]
    for i, (n, b) in enumerate(zip(extents, base)):
        if n == 0 or (n - 1) * b + 1 + sum(pads[i]) < 0:
            pads[i] = [0, 1]
    reversal = [draw.any([0, 0, 0, 1]) for _ in range(space)]
    if draw.golden:
        # Small, because the golden file is for readers.
        features, extents = min(features, 2), [min(max(n, 3), 4) for n in extents]
        dilation = [1 if b > 1 else t for b, t in zip(base, dilation)]
        fg, bg = draw.pick([(1, 1), (1, 1), (1, 1), (2, 1), (1, 2)])
    batch = (draw.int(1, 2) if not draw.golden else 1) * bg
    x = draw_values(draw, d, tuple([batch, features * fg] + extents))
    k = draw_values(draw, d, tuple([features, per * fg * bg] + sizes))
    acc_attribute = draw_accumulation(draw, d)
    acc = accumulation_dtype(d, acc_attribute)
    total = convolve(d, acc, x, k, strides, pads, base, dilation, reversal, fg, bg)
    want = convert(acc, d, total)
    if space and 0 not in extents:
        wide = "c128" if is_complex(d) else "f64" if is_float(d) else d
        window = [tuple(p) for p in pads]
        spec = "".join("abc"[i] for i in range(space))
        numbers = (f"NC{spec}", f"IO{spec}", f"NC{spec}")
        flipped = lambda z: np.flip(z, [i + 2 for i, r in enumerate(reversal) if r])

        def jax_conv(u, v):
            return jax.lax.conv_general_dilated(
                u, flipped(v), strides, window, base, dilation, jax.lax.ConvDimensionNumbers((0, 1, *range(2, space + 2)), (1, 0, *range(2, space + 2)), (0, 1, *range(2, space + 2))),
                feature_group_count=fg, batch_group_count=bg,
            )

        del numbers
        theirs = np.asarray(jax_conv(convert(d, wide, x), convert(d, wide, k)))
        size = np.asarray(jax_conv(np.abs(x).astype(float), np.abs(k).astype(float)))
        if acc == d or not is_int(d):
            assert_agreement(want, theirs, size * 20, acc if acc in ("f16", "bf16") else d)

    def layout():
        order = [int(p) for p in draw.rng.permutation(space + 2)] if not draw.golden or draw.turn > 3 else list(range(space + 2))
        return order, [order.index(i) for i in range(space + 2)]

    # order[i] is the axis of the canonical tensor at position i; the attribute has the position of each axis.
    (xo, xd), (ko, kd), (oo, od) = layout(), layout(), layout()
    attributes = [f"input_dims = {ints(xd)}", f"kernel_dims = {ints(kd)}", f"output_dims = {ints(od)}"]
    if any(s != 1 for s in strides):
        attributes.append(f"strides = {ints(strides)}")
    if any(p != [0, 0] for p in pads):
        attributes.append("pads = [" + ", ".join(ints(p) for p in pads) + "]")
    if any(b != 1 for b in base):
        attributes.append(f"input_dilation = {ints(base)}")
    if any(b != 1 for b in dilation):
        attributes.append(f"kernel_dilation = {ints(dilation)}")
    if any(reversal):
        attributes.append(f"reversal = {ints(reversal)}")
    if fg > 1:
        attributes.append(f"feature_groups = {fg}")
    if bg > 1:
        attributes.append(f"batch_groups = {bg}")
    if acc_attribute:
        attributes.append(f"accumulate = {acc_attribute}")
    return single_op_case("convolution", [(d, x.transpose(xo)), (d, k.transpose(ko))], [(d, want.transpose(oo))], ", ".join(attributes))


SOLVE = ["f32", "f64", "c64", "c128"]
# Errors of backward stable algorithms on small, well conditioned matrices, relative to the largest element.
TOLERANCE = "16 eps of the largest"


def bool_text(b):
    return "true" if b else "false"


def exact(array):
    """Returns the elements as numbers of mpmath. Sums by LAPACK end in other bits on other processors."""
    return np.vectorize(mpmath.mpmathify, otypes=[object])(array)


def rounded(array, d):
    wide = np.complex128 if is_complex(d) else np.float64
    return array.astype(wide).astype(NUMPY[d])


def solve_triangular(a, b, how, lower, unit):
    """Solves op(a) x = b by substitution, from the equation with one unknown on."""
    if how in ("transpose", "adjoint"):
        a, lower = a.T, not lower
    if how in ("conjugate", "adjoint"):
        a = np.conjugate(a)
    x = np.empty(b.shape, object)
    n = len(a)
    for i in range(n) if lower else reversed(range(n)):
        known = range(i) if lower else range(i + 1, n)
        rest = b[i] - sum((a[i, j] * x[j] for j in known), 0 * b[i])
        x[i] = rest if unit else rest / a[i, i]
    return x


def cholesky_factor(a):
    """Returns the lower factor, column by column."""
    n = len(a)
    out = np.full(a.shape, mpmath.mpf(0), object)
    for j in range(n):
        for i in range(j, n):
            rest = a[i, j] - sum(out[i, k] * mpmath.conj(out[j, k]) for k in range(j))
            out[i, j] = mpmath.sqrt(mpmath.re(rest)) if i == j else rest / out[j, j]
    return out


@op("triangular_solve", golden=6, weight=4)
def triangular_solve(draw):
    d = draw.dtype(SOLVE)
    n, m = (draw.any([1, 2, 3, 4, 6, 0] if draw.chance(0.1) else [1, 2, 3, 4, 6]), draw.int(1, 3)) if not draw.golden else (draw.pick([2, 3, 1, 0]), 2)
    batch = draw.any([(), (), (2,), (2, 2)]) if not draw.golden else ()
    left, lower, unit = draw.chance(0.6), draw.chance(0.5), draw.chance(0.3)
    how = draw.any(["none", "transpose", "adjoint"])
    a = np.asarray(draw.tensor(d, batch + (n, n), special=False, low=-1, high=1))
    a = a + 2 * np.eye(n, dtype=NUMPY[d]) * np.where(a.real < 0, -1, 1).astype(NUMPY[d])
    b = np.asarray(draw.tensor(d, batch + ((n, m) if left else (m, n)), special=False, low=-2, high=2))
    a = a.astype(NUMPY[d])
    want = np.zeros(b.shape, NUMPY[d])
    for i in np.ndindex(batch):
        if b[i].size == 0:
            continue
        u, v = exact(a[i]), exact(b[i])
        if left:
            want[i] = rounded(solve_triangular(u, v, how, lower, unit), d)
        else:
            # x op(a) = b is op(a)^T x^T = b^T.
            turned = {"none": "transpose", "transpose": "none", "adjoint": "conjugate"}[how]
            want[i] = rounded(solve_triangular(u, v.T, turned, lower, unit).T, d)
    # The other triangle is not read, so it is NaN.
    hide = np.triu(np.ones((n, n), bool), 1) if lower else np.tril(np.ones((n, n), bool), -1)
    a = np.where(hide, NUMPY[d](np.nan), a).astype(NUMPY[d])
    attributes = [f"left_side = {bool_text(left)}"] * (not left) + [f"lower = {bool_text(lower)}"] * (not lower)
    attributes += ["unit_diagonal = true"] * unit + [f"transpose = {how}"] * (how != "none")
    return single_op_case("triangular_solve", [(d, a), (d, b)], [(d, want)], ", ".join(attributes), tolerance="64 eps of the largest")


@op("cholesky", golden=5, weight=3)
def cholesky(draw):
    d = draw.dtype(SOLVE)
    n = draw.any([1, 2, 3, 5, 7]) if not draw.golden else draw.pick([2, 3, 1, 0])
    batch = draw.any([(), (), (2,)]) if not draw.golden else ()
    lower = draw.chance(0.5)
    wide = np.complex128 if is_complex(d) else np.float64
    x = np.asarray(draw.tensor(d, batch + (n, n), special=False, low=-1, high=1)).astype(wide)
    # Products and sums apart: BLAS has other bits on other processors.
    a = ((x[..., :, None, :] * x.conj()[..., None, :, :]).sum(-1) + np.eye(n)).astype(NUMPY[d])
    want = np.zeros(a.shape, NUMPY[d])
    for i in np.ndindex(batch):
        if n:
            want[i] = rounded(cholesky_factor(exact(a[i])), d)
    if n > 1 and draw.chance(0.25) if not draw.golden else draw.turn == 4:
        # A bad pivot: NaN from this column on.
        j = draw.int(0, n - 1)
        a[..., j, j] = -3
        bad = complex(np.nan, np.nan) if is_complex(d) else np.nan
        want[..., :, j:] = np.where(np.tril(np.ones((n, n), bool))[:, j:], bad, 0)
    hide = np.triu(np.ones((n, n), bool), 1)
    a = np.where(hide, NUMPY[d](np.nan), a).astype(NUMPY[d])
    if not lower:
        a, want = a.conj().swapaxes(-1, -2), want.conj().swapaxes(-1, -2)
    return single_op_case("cholesky", [(d, a)], [(d, want)], "" if lower else "lower = false", tolerance="64 eps of the largest")


@op("fft", golden=8, weight=5)
def fft(draw):
    kind = draw.pick(["fft", "rfft", "ifft", "irfft"])
    double = draw.chance(0.5)
    axes = draw.any([1, 1, 2, 3]) if not draw.golden else draw.pick([1, 1, 1, 1, 2])
    lengths = [draw.any([1, 2, 3, 4, 5, 7, 8, 12, 16, 0] if draw.chance(0.1) else [1, 2, 3, 4, 5, 6, 7, 8, 11]) for _ in range(axes)]
    if axes == 1 and not draw.golden:
        lengths = [draw.any([1, 2, 3, 5, 8, 13, 15, 17, 30, 32, 64, 97, 100, 101, 128, 210])]
    elif draw.golden:
        lengths = [draw.any([4, 5, 3]) for _ in range(axes)]
    lead = draw.any([(), (2,), (3,)]) if not draw.golden else ()
    half = lengths[-1] // 2 + 1 if lengths[-1] else 0
    shape = lead + tuple(lengths[:-1]) + ((half,) if kind == "irfft" else (lengths[-1],))
    real, cplx = ("f64", "c128") if double else ("f32", "c64")
    source, target = {"rfft": (real, cplx), "irfft": (cplx, real)}.get(kind, (cplx, cplx))
    a = np.asarray(draw.tensor(source, shape, special=False, low=-2, high=2))
    out = lead + tuple(lengths[:-1]) + ((half,) if kind == "rfft" else (lengths[-1],))
    if 0 in shape or 0 in out:
        want = np.zeros(out, NUMPY[target])
    else:
        used = tuple(range(len(lead), len(shape)))
        wide = a.astype(np.complex128 if is_complex(source) else np.float64)
        function = {"fft": np.fft.fftn, "ifft": np.fft.ifftn, "rfft": np.fft.rfftn, "irfft": np.fft.irfftn}[kind]
        want = function(wide, s=lengths, axes=used).astype(NUMPY[target])
    return single_op_case("fft", [(source, a)], [(target, want)], f"kind = {kind}, lengths = {ints(lengths)}", tolerance="16 eps of the largest")

