"""Ops that work element by element: unary, binary, comparison, choice, conversion.

Floats narrower than f64 are computed in f64 and rounded once, f64 in the 80-bit type where NumPy has the function there. Functions that
NumPy lacks or rounds badly come from mpmath with 40 digits. JAX is not used here: on CPUs it flushes denormals to zero.
"""

import math
from fractions import Fraction

import jax
import mpmath
import numpy as np

from tensors import (
    ANY, BITS_AS, COMPLEX, FLOAT, INT, NUMBER, NUMPY, PART, STORED, array, bit_width, map_elements, is_complex, is_float,
    is_int, integer_limits, op, round_fraction, round_to, signed, single_op_case, to_bytes, to_f64, wrap_integer,
)

mpmath.mp.dps = 40
INF = math.inf


def without_warnings(function, *arrays):
    with np.errstate(all="ignore"):
        return function(*arrays)


def by_numpy(function):
    """Returns the function computed in a wider type and rounded once."""

    def compute(d, *arrays):
        wider = [a.astype(np.longdouble if d == "f64" else np.float64) for a in arrays]
        return round_to(d, without_warnings(function, *wider))

    return compute


def to_fraction(y):
    """Returns a number of mpmath, whose mantissa has no sign, as a fraction."""
    return Fraction(int(y.man) * (-1 if y < 0 else 1)) * Fraction(2) ** int(y.exp)


def by_mpmath(function, special):
    """Returns the function computed with 40 digits. `special` returns values outside its domain, or None."""

    def one(d, x):
        known = special(x)
        if known is None:
            y = function(mpmath.mpf(x))
            if mpmath.isinf(y):
                known = float(y)
        if known is not None:
            return known
        if y == 0:
            return math.copysign(0.0, x)
        # Far below the smallest number the fraction would be huge.
        if y.exp + y.man.bit_length() < -1200:
            return -0.0 if y < 0 else 0.0
        return round_fraction(d, to_fraction(y))

    def compute(d, a):
        return array(d, [one(d, x) for x in to_f64(a).ravel().tolist()], a.shape) if a.size else a

    return compute


def complex_by_mpmath(function, digits=40):
    def one(d, *zs):
        with mpmath.workdps(digits):
            y = mpmath.mpc(function(*(mpmath.mpc(z) for z in zs)))
        return complex(float(y.real), float(y.imag))

    def compute(d, *arrays):
        items = [one(d, *zs) for zs in zip(*(a.astype(complex).ravel().tolist() for a in arrays))]
        return array(d, items, arrays[0].shape) if items else arrays[0]

    return compute


def draw_complex(draw, d, shape, middle):
    """Returns complex numbers of all sizes: with parts of different exponents, or on the circle of radius 1 around a number."""
    if draw.chance(0.5):
        top = 60 if d == "c64" else draw.any([8, 60])
        re, im = (draw.rng.choice([-1, 1], shape) * draw.rng.uniform(1, 2, shape) * 2.0 ** draw.rng.integers(-top, 8, shape) for _ in range(2))
        return np.asarray(re + 1j * im).astype(NUMPY[d])
    angles = draw.rng.uniform(-np.pi, np.pi, shape) * 2.0 ** draw.rng.integers(-20, 1, shape)
    return np.asarray(np.exp(1j * angles) + middle).astype(NUMPY[d])


def unary(name, among, compute, tolerance="0", out=None, ranges=(None,), complex_compute=None, golden=8, middle=None):
    """Registers a unary op. With `middle`, complex numbers also come from near the circle around it, and each part must be close."""

    def make(draw):
        d = draw.dtype(among)
        shape = draw.shape()
        close = tolerance
        if is_complex(d):
            # No document specifies values for infinite and NaN parts; signs of zero select sides of branch cuts.
            a = draw.tensor(d, shape, special=False, low=-3, high=3) if complex_compute else draw.tensor(d, shape)
            if complex_compute and not draw.golden and draw.chance(0.6):
                a = draw_complex(draw, d, shape, 0 if middle is None else middle)
                if name in EXPONENTIAL:
                    a = a.clip(-50, 50) if d == "c64" else a.clip(-300, 300)
                close = "4 ulp" if middle is None else "4 ulp of each part"
            if complex_compute:
                a = np.asarray(a)
                a = a + (a.real == 0) * a.dtype.type(0.25) + (a.imag == 0) * a.dtype.type(0.25j)
        else:
            r = draw.any(ranges)
            a = draw.tensor(d, shape) if r is None else draw.tensor(d, shape, special=draw.chance(0.5), low=r[0], high=r[1])
        o = out(d) if out else d
        used = complex_compute if is_complex(d) and complex_compute else compute
        return single_op_case(name, [(d, a)], [(o, used(d, np.asarray(a)))], tolerance=close)

    op(name, golden=golden)(make)


def neg(d, a):
    if is_int(d):
        return map_elements(d, lambda x: wrap_integer(d, -x), a)
    return without_warnings(np.negative, a)


def absolute(d, a):
    if is_complex(d):
        return round_to(PART[d], without_warnings(np.hypot, a.real.astype(np.longdouble), a.imag.astype(np.longdouble)))
    if is_int(d):
        return map_elements(d, lambda x: wrap_integer(d, abs(x)), a)
    return round_to(d, np.abs(to_f64(a)))


def sign(d, a):
    if is_int(d):
        return map_elements(d, lambda x: (x > 0) - (x < 0), a)
    return round_to(d, np.where(a == 0, to_f64(a), without_warnings(np.sign, to_f64(a))))


def complex_sign(d, a):
    return complex_by_mpmath(lambda z: z / abs(z))(d, a)


def round_away(x):
    whole = np.trunc(x)
    up = np.abs(x - whole) >= 0.5
    return np.where(np.isfinite(x), np.copysign(np.abs(whole) + up, x), x)


unary("neg", NUMBER, neg)
unary("abs", NUMBER, absolute, "1 ulp", out=lambda d: PART.get(d, d))
unary("sign", NUMBER, sign, "2 ulp", complex_compute=complex_sign)
unary("floor", FLOAT, by_numpy(np.floor))
unary("ceil", FLOAT, by_numpy(np.ceil))
unary("round_away", FLOAT, by_numpy(round_away))
unary("round_even", FLOAT, by_numpy(np.rint))

WIDE = (None, (-3, 3), (-20, 20))
FC = FLOAT + COMPLEX
ELEMENTARY = [
    ("exp", np.exp, mpmath.exp, WIDE),
    ("expm1", np.expm1, mpmath.expm1, (None, (-1, 1), (-1e-3, 1e-3))),
    ("log", np.log, mpmath.log, (None, (0, 3), (0, 1e4))),
    ("log1p", np.log1p, lambda z: mpmath.log(1 + z), (None, (-1, 3), (-1e-3, 1e-3))),
    ("rsqrt", lambda x: 1 / np.sqrt(x), lambda z: 1 / mpmath.sqrt(z), (None, (0, 10))),
    ("sin", np.sin, mpmath.sin, WIDE),
    ("cos", np.cos, mpmath.cos, WIDE),
    ("tan", np.tan, mpmath.tan, WIDE),
    ("asin", np.arcsin, mpmath.asin, (None, (-1, 1))),
    ("acos", np.arccos, mpmath.acos, (None, (-1, 1))),
    ("atan", np.arctan, mpmath.atan, WIDE),
    ("sinh", np.sinh, mpmath.sinh, WIDE),
    ("cosh", np.cosh, mpmath.cosh, WIDE),
    ("tanh", np.tanh, mpmath.tanh, WIDE),
    ("asinh", np.arcsinh, mpmath.asinh, WIDE),
    ("acosh", np.arccosh, mpmath.acosh, (None, (1, 9), (-1e4, 1))),
    ("atanh", np.arctanh, mpmath.atanh, (None, (-1, 1))),
    ("logistic", lambda x: 1 / (1 + np.exp(-x)), lambda z: 1 / (1 + mpmath.exp(-z)), WIDE),
]
# Functions whose results soon leave the range of a type.
EXPONENTIAL = ["exp", "expm1", "sin", "cos", "tan", "sinh", "cosh", "tanh", "logistic"]
# The number of digits that remain where logarithms nearly vanish, around a circle.
MIDDLES = {"log": 0, "log1p": -1}
for name, real, cplx, ranges in ELEMENTARY:
    cplx = complex_by_mpmath(cplx, 80)
    # Errors grow near the poles.
    tolerance = "2 ulp, complex 4 ulp" if name in ("tan", "tanh") else "2 ulp"
    unary(name, FC, by_numpy(real), tolerance, ranges=ranges, complex_compute=cplx, middle=MIDDLES.get(name))
# NumPy's root of f64 is correctly rounded; by way of 80 bits it would be rounded twice.
unary("sqrt", FC, lambda d, a: without_warnings(np.sqrt, a) if d == "f64" else by_numpy(np.sqrt)(d, a), "0, complex 2 ulp", complex_compute=complex_by_mpmath(mpmath.sqrt))
unary("cbrt", FC, by_numpy(np.cbrt), "1 ulp, complex 2 ulp", ranges=WIDE, complex_compute=complex_by_mpmath(lambda z: mpmath.exp(mpmath.log(z) / 3)))


def value_table(table):
    """Returns a function with values at given points (compared with ==) and NaN for NaN."""

    def special(x):
        if math.isnan(x):
            return x
        return next((y for p, y in table if x == p and (p != 0 or math.copysign(1, p) == math.copysign(1, x))), None)

    return special


def erf_inv(x):
    """Returns the root of erf(y) = x, by Newton's method with 40 digits."""
    guess = mpmath.erfinv(x) if abs(x) < 1 else mpmath.nan
    return guess


def outside_one(x):
    if math.isnan(x) or abs(x) > 1:
        return math.nan
    if abs(x) == 1:
        return math.copysign(INF, x)
    return x if x == 0 else None


def far_erfc(x):
    """Returns erfc beyond 40, where it is 0 or 2 in every type and mpmath fails."""
    return x if math.isnan(x) else 0.0 if x > 40 else 2.0 if x < -40 else None


def gamma_poles(x):
    if math.isnan(x):
        return x
    return INF if math.isinf(x) or (x <= 0 and x == math.floor(x)) else None


def lgamma(x):
    if x > 1e15:
        return x * (mpmath.log(x) - 1) - mpmath.log(x) / 2 + mpmath.log(2 * mpmath.pi) / 2 + 1 / (12 * x)
    with mpmath.workdps(60):
        return mpmath.log(abs(mpmath.gamma(x))) if x < 0 else mpmath.loggamma(x)


def digamma_special(x):
    if math.isnan(x) or x == -INF:
        return math.nan
    if x == INF:
        return INF
    if x == 0:
        return math.copysign(INF, -x)
    return math.nan if x < 0 and x == math.floor(x) else None


def bessel_i1e(x):
    if abs(x) > 700:
        # The asymptotic series, whose terms decrease fast for large arguments.
        y, total, term = abs(x), mpmath.mpf(1), mpmath.mpf(1)
        for k in range(1, 14):
            term *= -(4 - (2 * k - 1) ** 2) / (k * 8 * y)
            total += term
        return mpmath.sign(x) * total / mpmath.sqrt(2 * mpmath.pi * y)
    return mpmath.besseli(1, x) * mpmath.exp(-abs(x))


unary("erf", FLOAT, by_mpmath(mpmath.erf, value_table([(INF, 1.0), (-INF, -1.0), (0.0, 0.0), (-0.0, -0.0)])), "2 ulp", ranges=WIDE)
unary("erfc", FLOAT, by_mpmath(mpmath.erfc, far_erfc), "4 ulp", ranges=WIDE)
unary("erf_inv", FLOAT, by_mpmath(erf_inv, outside_one), "4 ulp", ranges=((-1, 1), (0.9, 1), None))
unary("lgamma", FLOAT, by_mpmath(lgamma, gamma_poles), "4 ulp of 1", ranges=(None, (0, 3), (-5, 0), (0, 40)))
unary("digamma", FLOAT, by_mpmath(lambda x: mpmath.digamma(x), digamma_special), "4 ulp of 1", ranges=((0, 3), (-5, 0), (0, 40)))
unary("bessel_i1e", FLOAT, by_mpmath(bessel_i1e, value_table([(INF, 0.0), (-INF, -0.0), (0.0, 0.0), (-0.0, -0.0)])), "4 ulp", ranges=WIDE)

unary("not", INT + ["bool"], lambda d, a: np.logical_not(a) if d == "bool" else np.invert(a))
unary("popcnt", INT, lambda d, a: map_elements(d, lambda x: (x & (1 << bit_width(d)) - 1).bit_count(), a))
unary("clz", INT, lambda d, a: map_elements(d, lambda x: bit_width(d) - (x & (1 << bit_width(d)) - 1).bit_length(), a))
unary("is_finite", FLOAT, lambda d, a: np.isfinite(a), out=lambda d: "bool")
unary("real", FC, lambda d, a: a.real.copy() if is_complex(d) else a, out=lambda d: PART.get(d, d))
unary("imag", FC, lambda d, a: a.imag.copy() if is_complex(d) else np.zeros_like(a), out=lambda d: PART.get(d, d))


@op("reduce_precision", weight=2)
def reduce_precision(draw):
    d = draw.dtype(FLOAT)
    a = draw.tensor(d, draw.shape())
    e, m = draw.pick([5, 8, 4, 3, 11]), draw.pick([10, 7, 3, 2, 23, 1, 0])
    want = np.asarray(jax.lax.reduce_precision(a, e, m))
    if m == 0:
        # The specification truncates the mantissa of NaN too, and so does its interpreter; XLA:CPU does not.
        want = np.where(np.isnan(want), array(d, INF), want)
    return single_op_case("reduce_precision", [(d, a)], [(d, want)], f"exponent_bits = {e}, mantissa_bits = {m}")


def binary(name, among, compute, tolerance="0", out=None, right=None, complex_range=None, weight=1, pairs=None):
    def make(draw):
        d = draw.dtype(among)
        shape = draw.shape()
        if is_complex(d) and complex_range:
            a, b = (draw.tensor(d, shape, special=False, low=-complex_range, high=complex_range) for _ in range(2))
            # Away from branch cuts and from zero.
            a, b = (z + ((z.real == 0) + 1j * (z.imag == 0)).astype(NUMPY[d]) * NUMPY[d](0.5) for z in (np.asarray(a), np.asarray(b)))
        else:
            a, b = draw.tensor(d, shape), (right or (lambda w, e, s: w.tensor(e, s)))(draw, d, shape)
            a, b = np.asarray(a), np.asarray(b)
            if draw.chance(0.3) and b.size > 1:
                b = np.where(draw.rng.random(shape) < 0.3, a, b)
        if pairs:
            a, b = pairs(draw, a, b)
        return single_op_case(name, [(d, a), (d, b)], [(out(d) if out else d, compute(d, a, b))], tolerance=tolerance)

    op(name, weight=weight)(make)


def wrapping(function):
    return lambda d, a, b: map_elements(d, lambda x, y: wrap_integer(d, function(x, y)), a, b)


def arithmetic(ints, floats, bools=None, cplx=None):
    def compute(d, a, b):
        if d == "bool":
            return bools(a, b)
        if is_int(d):
            return wrapping(ints)(d, a, b)
        if is_complex(d):
            return (cplx or (lambda e, x, y: without_warnings(floats, x, y)))(d, a, b)
        # f64 is exact for sums and products of narrower floats; division and f64 itself round once.
        if d in ("f64", "f32"):
            return np.asarray(without_warnings(floats, a, b))
        return round_to(d, without_warnings(floats, to_f64(a), to_f64(b)))

    return compute


def int_div(x, y):
    if y == 0:
        return -1
    return abs(x) // abs(y) * (1 if (x < 0) == (y < 0) else -1)


def int_rem(x, y):
    return x if y == 0 else x - y * int_div(x, y)


def int_pow(d):
    def power(x, y):
        if y < 0:
            return -1 if x == 0 else 1 if x == 1 else (1 if y % 2 == 0 else -1) if x == -1 else 0
        return pow(x, y, 1 << bit_width(d))

    return power


def power(d, a, b):
    if is_int(d):
        return wrapping(int_pow(d))(d, a, b)
    return by_numpy(np.power)(d, a, b)


def draw_extreme(largest):
    def compute(d, a, b):
        if d == "bool":
            return np.logical_or(a, b) if largest else np.logical_and(a, b)
        if is_int(d):
            return np.maximum(a, b) if largest else np.minimum(a, b)
        if is_complex(d):
            equal, signs = a == b, [np.signbit(z.real) * 2 + np.signbit(z.imag) for z in (a, b)]
            above = (a.real > b.real) | ((a.real == b.real) & (a.imag > b.imag)) | (equal & (signs[0] <= signs[1]))
            return np.where(np.isnan(a) | np.isnan(b), NUMPY[d](complex(np.nan, np.nan)), np.where(above == largest, a, b))
        above = (a > b) | ((a == b) & ~np.signbit(a))
        picked = np.where(above == largest, a, b)
        return np.where(np.isnan(a) | np.isnan(b), array(d, np.nan), picked)

    return compute


binary("add", ANY, arithmetic(lambda x, y: x + y, np.add, np.logical_or))
binary("sub", NUMBER, arithmetic(lambda x, y: x - y, np.subtract))
binary("mul", ANY, arithmetic(lambda x, y: x * y, np.multiply, np.logical_and, complex_by_mpmath(lambda x, y: x * y)), "0, complex 2 ulp", complex_range=9)
binary("div", NUMBER, arithmetic(int_div, np.divide, cplx=complex_by_mpmath(lambda x, y: x / y)), "0, complex 4 ulp", complex_range=9, weight=2)
binary("rem", FLOAT + INT, arithmetic(int_rem, np.fmod), weight=2)


def draw_exponents(draw, d, shape):
    if is_int(d):
        return draw.ints(d, shape, low=-3, high=9) if draw.chance(0.7) else draw.tensor(d, shape)
    return draw.tensor(d, shape, special=draw.chance(0.5), low=-4, high=4) if draw.chance(0.6) else draw.tensor(d, shape)


def complex_pow(d, a, b):
    return complex_by_mpmath(lambda x, y: mpmath.exp(y * mpmath.log(x)))(d, a, b)


binary("pow", NUMBER, lambda d, a, b: (complex_pow if is_complex(d) else power)(d, a, b), "2 ulp, complex 8 ulp", right=draw_exponents, complex_range=2, weight=3)


def draw_tied(draw, a, b):
    """Returns complex numbers, many with equal real parts, or with zeros of either sign as real parts."""
    if not is_complex_array(a):
        return a, b
    a, b = np.array(a), np.array(b)
    zeros = draw.rng.random(a.shape) < 0.3
    for z in (a, b):
        z.real = np.where(zeros, draw.rng.choice([0.0, -0.0], a.shape), z.real)
    b.real = np.where(draw.rng.random(a.shape) < 0.4, a.real, b.real)
    return a, b


def is_complex_array(a):
    return np.issubdtype(a.dtype, np.complexfloating)


binary("min", ANY, draw_extreme(False), pairs=draw_tied)
binary("max", ANY, draw_extreme(True), pairs=draw_tied)
binary("and", INT + ["bool"], lambda d, a, b: a & b)
binary("or", INT + ["bool"], lambda d, a, b: a | b)
binary("xor", INT + ["bool"], lambda d, a, b: a ^ b)


def draw_shift_amounts(draw, d, shape):
    return draw.ints(d, shape, low=-2, high=bit_width(d) + 2)


def shift(function):
    def compute(d, a, b):
        n, mask = bit_width(d), (1 << bit_width(d)) - 1
        return map_elements(d, lambda x, y: wrap_integer(d, function(x & mask, min(y & mask, n), n)), a, b)

    return compute


def arithmetic_right(x, y, n):
    return (x - (1 << n) if x >> n - 1 else x) >> y


binary("shl", INT, shift(lambda x, y, n: x << y), right=draw_shift_amounts)
binary("shr_arithmetic", INT, shift(arithmetic_right), right=draw_shift_amounts)
binary("shr_logical", INT, shift(lambda x, y, n: x >> y), right=draw_shift_amounts)


def draw_different_magnitudes(draw, a, b):
    """Returns complex numbers, the second of a different magnitude."""
    if draw.golden or not is_complex_array(a):
        return a, b
    return a, (b * 2.0 ** draw.rng.integers(-30, 30, b.shape)).astype(b.dtype)


def complex_atan2(y, x):
    return -1j * mpmath.log((x + 1j * y) / mpmath.sqrt(x * x + y * y))


def arctan2(d, y, x):
    return complex_by_mpmath(complex_atan2, 80)(d, y, x) if is_complex(d) else by_numpy(np.arctan2)(d, y, x)


binary("atan2", FC, arctan2, "2 ulp, complex 8 ulp", complex_range=9, pairs=draw_different_magnitudes)


def join_complex(d, a, b):
    z = np.empty(a.shape, NUMPY["c64" if d == "f32" else "c128"])
    z.real, z.imag = a, b
    return z


binary("complex", ["f32", "f64"], join_complex, out=lambda d: "c64" if d == "f32" else "c128")
binary("next_after", FLOAT, lambda d, a, b: np.asarray(without_warnings(np.nextafter, a, b)))


def total_key(a):
    """Returns integers in the order of sign and magnitude of the bits."""
    raw = np.array(a, order="C").view(BITS_AS[a.dtype.itemsize]).astype(object)
    top = 1 << a.dtype.itemsize * 8 - 1
    return np.where(raw >= top, -(raw - top) - 1, raw)


COMPARE = {"eq": np.equal, "ne": np.not_equal, "lt": np.less, "le": np.less_equal, "gt": np.greater, "ge": np.greater_equal}


@op("compare", golden=9, weight=3)
def compare(draw):
    d = draw.dtype(ANY)
    direction = draw.pick(["lt", "ge", "eq", "le", "ne", "gt"] if not is_complex(d) else ["eq", "ne"])
    shape = draw.shape()
    a, b = (np.asarray(draw.tensor(d, shape)) for _ in range(2))
    b = np.where(draw.rng.random(shape) < 0.4, a, b)
    order = is_float(d) and draw.chance(0.4)
    if order:
        want = COMPARE[direction](total_key(a), total_key(b)).astype(bool)
    else:
        want = without_warnings(COMPARE[direction], a, b)
    attributes = f"direction = {direction}" + (", order = total" if order else "")
    return single_op_case("compare", [(d, a), (d, b)], [("bool", want)], attributes)


@op("select")
def select(draw):
    d = draw.dtype(STORED)
    shape = draw.shape()
    p = draw.tensor("bool", draw.any([shape, ()]))
    a, b = draw.tensor(d, shape, special=d not in ("i4", "u4")), draw.tensor(d, shape)
    return single_op_case("select", [("bool", p), (d, a), (d, b)], [(d, np.where(p, a, b))])


@op("clamp", weight=2)
def clamp(draw):
    d = draw.dtype(FLOAT + INT)
    shape = draw.shape()
    low, high = (np.asarray(draw.tensor(d, draw.any([shape, ()]))) for _ in range(2))
    x = np.asarray(draw.tensor(d, shape))
    y = draw_extreme(True)(d, x, np.broadcast_to(low, shape))
    y = draw_extreme(False)(d, y, np.broadcast_to(high, shape))
    return single_op_case("clamp", [(d, low), (d, x), (d, high)], [(d, y)])


def convert(source, target, a):
    """Computes `cast` as documented."""
    if source == target:
        return a
    if is_complex(target):
        part = PART[target]
        parts = (a.real, a.imag) if is_complex(source) else (a, None)
        z = np.zeros(a.shape, NUMPY[target])
        z.real = convert(PART.get(source, source), part, parts[0])
        if parts[1] is not None:
            z.imag = convert(PART[source], part, parts[1])
        return z
    if is_complex(source):
        return convert(PART[source], target, a.real)
    if target == "bool":
        return without_warnings(lambda x: x != 0, a)
    if source == "bool":
        return a.astype(NUMPY[target])
    if is_int(target):
        if is_int(source):
            return map_elements(target, lambda x: wrap_integer(target, x), a)
        least, most = integer_limits(target)
        return map_elements(target, lambda x: 0 if math.isnan(x) else least if x == -INF else most if x == INF else max(least, min(most, int(x))), to_f64(a))
    if is_int(source):
        return map_elements(target, lambda x: round_fraction(target, Fraction(x)), a)
    if target == "f8e4m3fn":
        a = np.where(np.isinf(to_f64(a)), np.nan, to_f64(a))
    return without_warnings(lambda: round_to(target, to_f64(np.asarray(a))))


@op("cast", golden=17, weight=10)
def cast(draw):
    source, target = draw.any(STORED), draw.any(STORED)
    if draw.golden:
        pairs = [
            ("f32", "i32"), ("f64", "u8"), ("i64", "f32"), ("f32", "bf16"), ("f64", "f16"), ("i32", "i8"), ("f32", "bool"), ("bool", "f32"),
            ("c64", "f64"), ("i32", "c64"), ("f32", "f8e4m3fn"), ("f16", "f8e5m2"), ("f32", "i4"), ("i32", "u4"), ("u64", "f64"), ("f32", "u64"),
            ("c64", "bool"),
        ]
        source, target = pairs[draw.turn % len(pairs)]
    shape = draw.shape() if not draw.golden else (7,)
    a = np.asarray(draw.tensor(source, shape))
    if is_float(source) and draw.chance(0.4) and not draw.golden:
        a = round_to(source, to_f64(a) * 2.0 ** draw.int(0, 60 if source not in ("f16",) else 8)) if source in FLOAT else a
    return single_op_case("cast", [(source, a)], [(target, convert(source, target, a))])


def to_bits(d, a):
    """Returns the bits of each element, least significant first, on a new axis."""
    raw = np.frombuffer(to_bytes(d, a), np.uint8).reshape(*a.shape, a.dtype.itemsize)
    return np.unpackbits(raw, axis=-1, bitorder="little")[..., : bit_width(d)]


def from_bits(d, b):
    """Returns elements from their bits; 4-bit elements are sign-extended to a byte."""
    size = np.dtype(NUMPY[d]).itemsize * 8
    fill = b[..., -1:] if signed(d) else np.zeros_like(b[..., -1:])
    b = np.concatenate([b, np.repeat(fill, size - bit_width(d), axis=-1)], axis=-1)
    return np.frombuffer(np.packbits(b, axis=-1, bitorder="little").tobytes(), NUMPY[d]).reshape(b.shape[:-1])


@op("bitcast", golden=8, weight=3)
def bitcast(draw):
    plain = [d for d in STORED if not is_complex(d)]
    source, target = draw.pick(plain), draw.any(plain)
    if draw.golden and draw.turn < 2:
        source, target = [("bool", "u8"), ("u16", "bool")][draw.turn]
    elif draw.chance(0.1) and not draw.golden:
        source, target = draw.any(COMPLEX), draw.any(COMPLEX)
    n, m = bit_width(source), bit_width(target)
    lead = draw.shape(most_rank=2)
    shape = lead + (m // n,) if m > n else lead
    a = np.asarray(draw.tensor(source, shape))
    # A NaN keeps its bits here, so any bits are valid inputs, but a NaN result is compared as NaN.
    parts = lead + (n // m,) if n > m else lead
    want = from_bits(target, to_bits(source, a).reshape(parts + (m,)))
    return single_op_case("bitcast", [(source, a)], [(target, want)])
