"""Element types, literals and random tensors of PTIR, in NumPy."""

import zlib
from fractions import Fraction

import ml_dtypes
import numpy as np

# Overflow and NaN are expected here.
np.seterr(all="ignore")

I = ["i8", "i16", "i32", "i64", "index"]
U = ["u8", "u16", "u32", "u64"]
INT = ["i32", "u8", "i64", "u32", "i8", "u64", "i16", "u16", "index"]
FLOAT = ["f32", "f64", "f16", "bf16"]
COMPLEX = ["c64", "c128"]
SMALL = ["i4", "u4", "f8e4m3fn", "f8e5m2"]
NUMBER = ["f32", "i32", "c64", "f64", "u8", "f16", "bf16", "i64", "u32", "i8", "u64", "c128", "i16", "u16", "index"]
ANY = NUMBER + ["bool"]
STORED = ANY + SMALL

NUMPY = {
    "bool": np.bool_, "i8": np.int8, "i16": np.int16, "i32": np.int32, "i64": np.int64, "index": np.int64,
    "u8": np.uint8, "u16": np.uint16, "u32": np.uint32, "u64": np.uint64,
    "f16": np.float16, "bf16": ml_dtypes.bfloat16, "f32": np.float32, "f64": np.float64,
    "f8e4m3fn": ml_dtypes.float8_e4m3fn, "f8e5m2": ml_dtypes.float8_e5m2,
    "c64": np.complex64, "c128": np.complex128,
    # 4-bit elements take one byte each, sign-extended.
    "i4": np.int8, "u4": np.uint8,
}
BITS = {"bool": 1, "index": 64, "i4": 4, "u4": 4, "bf16": 16, "f8e4m3fn": 8, "f8e5m2": 8}
PART = {"c64": "f32", "c128": "f64"}
# The number of fraction bits, the smallest exponent of a normal number, and the largest finite number.
FORMAT = {
    "f8e4m3fn": (3, -6, 448.0), "f8e5m2": (2, -14, 57344.0), "f16": (10, -14, 65504.0),
    "bf16": (7, -126, float(ml_dtypes.finfo(ml_dtypes.bfloat16).max)), "f32": (23, -126, float(np.finfo(np.float32).max)),
    "f64": (52, -1022, float(np.finfo(np.float64).max)),
}
BITS_AS = {1: np.uint8, 2: np.uint16, 4: np.uint32, 8: np.uint64}


def bit_width(d):
    return BITS.get(d) or NUMPY[d]().itemsize * 8


def is_float(d):
    return d in FORMAT


def is_complex(d):
    return d in PART


def is_int(d):
    return d in INT or d in ("i4", "u4")


def signed(d):
    return d in I or d == "i4"


def integer_limits(d):
    n = bit_width(d)
    return (-(1 << n - 1), (1 << n - 1) - 1) if signed(d) else (0, (1 << n) - 1)


def wrap_integer(d, n):
    """Returns an integer modulo 2^bits, in the range of the type."""
    n &= (1 << bit_width(d)) - 1
    return n - (1 << bit_width(d)) if signed(d) and n >> bit_width(d) - 1 else n


def array(d, items, shape=None):
    a = np.array(items, dtype=NUMPY[d])
    return a if shape is None else a.reshape(shape)


def map_elements(d, function, *arrays):
    """Applies a function of Python numbers to all elements."""
    shape = arrays[0].shape
    items = [function(*xs) for xs in zip(*(a.ravel().tolist() for a in arrays))]
    return array(d, items, shape) if items else np.zeros(shape, NUMPY[d])


def round_fraction(d, x):
    """Rounds a fraction exactly to the nearest number of a float type, halves to even."""
    digits, least, largest = FORMAT[d]
    if x == 0:
        return 0.0
    exponent = abs(x.numerator).bit_length() - x.denominator.bit_length()
    if abs(x) < Fraction(2) ** exponent:
        exponent -= 1
    unit = Fraction(2) ** (max(exponent, least) - digits)
    rounded = round(x / unit) * unit
    if abs(rounded) > Fraction(largest):
        over = float("nan") if d == "f8e4m3fn" else float("inf")
        return -over if x < 0 else over
    return -0.0 if rounded == 0 and x < 0 else float(rounded)


def round_to(d, x):
    """Rounds an f64 (or longdouble) array once to a float type."""
    x = np.asarray(x)
    if d == "f64":
        with np.errstate(all="ignore"):
            return x.astype(np.float64)
    if d == "f32":
        with np.errstate(all="ignore"):
            return x.astype(np.float32)
    digits, least, largest = FORMAT[d]
    x = x.astype(np.float64)
    with np.errstate(all="ignore"):
        exponent = np.frexp(x)[1] - 1
        unit = np.ldexp(1.0, np.maximum(exponent, least) - digits)
        rounded = np.where(np.isfinite(x), np.rint(x / unit) * unit, x)
        over = np.nan if d == "f8e4m3fn" else np.inf
        rounded = np.where(np.abs(rounded) > largest, np.copysign(over, x), rounded)
        rounded = np.where(x == 0, x, rounded)
    return np.asarray(rounded).astype(NUMPY[d])


def to_f64(a):
    """Returns a float array in f64, exactly."""
    return a.astype(np.float64)


def to_bytes(d, a):
    return np.ascontiguousarray(a).tobytes()


def number_text(d, x):
    if d == "bool":
        return "true" if x else "false"
    if is_complex(d):
        part = PART[d]
        return f"({number_text(part, x.real)}, {number_text(part, x.imag)})"
    if not is_float(d):
        return str(int(x))
    value = float(x)
    if np.isnan(value):
        return "nan"
    if np.isinf(value):
        return "inf" if value > 0 else "-inf"
    if d in ("f32", "f64"):
        text = repr(NUMPY[d](x).item()) if d == "f64" else str(np.float32(x))
        return text if "." in text or "e" in text else text + ".0"
    for n in range(1, 18):
        text = repr(float(f"{value:.{n}g}"))
        if float(round_to(d, float(text))) == value:
            return text
    return repr(value)


def literal(d, a):
    """Returns text that reads back as the same tensor."""
    a = np.asarray(a)
    if a.size == 0:
        return "[]"
    if a.ndim == 0:
        return number_text(d, a[()])
    return "[" + ", ".join(literal(d, row) for row in a) + "]"


def type_text(d, shape):
    return f"{d}[{', '.join(map(str, shape))}]"


SPECIAL_FLOATS = [0.0, -0.0, 1.0, -1.0, 0.5, -2.5, np.inf, -np.inf, np.nan, 3.5, 2.0, -1.5, 1e-3, 100.25]


def special_floats(d):
    digits, least, largest = FORMAT[d]
    tiny = 2.0 ** least
    denormal = np.float64(2.0) ** (least - digits) if d != "f64" else 5e-324
    return SPECIAL_FLOATS + [denormal, -3 * denormal, tiny, -tiny, largest, -largest, 1 + 2.0 ** -digits]


class Draw:
    """Random choices, or fixed ones for golden files.

    `Draw(seed)` is a random case; `Draw(seed, turn)` the case number `turn` of a golden file: the dtypes and shapes come in
    turn, values are short.
    """

    def __init__(self, seed, turn=None):
        self.rng = np.random.default_rng(zlib.crc32(repr(seed).encode()))
        self.turn = turn
        self.golden = turn is not None

    def pick(self, items):
        items = list(items)
        if self.golden:
            return items[self.turn % len(items)]
        return items[int(self.rng.integers(len(items)))]

    def any(self, items):
        items = list(items)
        return items[int(self.rng.integers(len(items)))]

    def int(self, low, high):
        return int(self.rng.integers(low, high + 1))

    def chance(self, p):
        return bool(self.rng.random() < p)

    def dtype(self, among):
        return self.pick(among)

    def shape(self, least_rank=0, most_rank=3, most=5, least=0):
        if self.golden:
            choices = [(9,), (2, 3), (4,), (5,), (1, 3), (3, 2), (), (0,), (2, 1, 3), (7,)]
            fit = [s for s in choices if least_rank <= len(s) <= most_rank and all(n >= least for n in s)]
            return fit[self.turn % len(fit)] if fit else tuple(max(least, 2) for _ in range(least_rank))
        rank = self.int(least_rank, most_rank)
        if rank == 1 and self.chance(0.3):
            return (self.int(max(least, 0), 40),)
        odds = [n for n in [0, 1, 1, 2, 3, 3, 4, 5, 7] if least <= n <= most]
        return tuple(self.any(odds) for _ in range(rank))

    def floats(self, d, shape, special=True, low=None, high=None):
        n = int(np.prod(shape, dtype=np.int64))
        scale = self.any([1.0, 1.0, 4.0, 30.0] if not self.golden else [3.0])
        x = self.rng.normal(size=n) * scale
        if low is not None:
            x = self.rng.uniform(low, high, size=n)
        elif not self.golden and special and self.chance(0.3):
            # Exponents over the whole range.
            top = {"f16": 14, "bf16": 120, "f32": 120, "f64": 1000}.get(d, 6)
            x = x * 2.0 ** self.rng.integers(-top, top, size=n)
        if self.golden:
            x = np.round(x * 8) / 8 if low is None else np.round(x * 64) / 64
        if special and n:
            pool = special_floats(d)
            mask = self.rng.random(n) < (0.6 if self.golden else self.any([0.0, 0.1, 0.4]))
            order = self.rng.permutation(len(pool))
            picks = np.array([pool[order[i % len(pool)]] for i in range(n)])
            x = np.where(mask, picks, x)
        with np.errstate(all="ignore"):
            return round_to(d, x).reshape(shape)

    def ints(self, d, shape, extreme=True, low=None, high=None):
        n = int(np.prod(shape, dtype=np.int64))
        least, most = integer_limits(d)
        if low is not None:
            items = [max(least, min(most, self.int(low, high))) for _ in range(n)]
            return array(d, items, shape) if n else np.zeros(shape, NUMPY[d])
        pool = [least, most, 0, 1, -1 if least < 0 else most - 1, least + 1, 2, 3, most // 2, 5]
        kind = self.any([0, 1, 2])
        items = []
        for _ in range(n):
            if extreme and self.chance(0.4):
                items.append(self.any(pool))
            elif kind == 0 and not self.golden:
                items.append(least + int(self.rng.integers(0, 2 ** 63)) * 2 % (most - least + 1))
            else:
                items.append(max(least, min(most, self.int(-9, 9))))
        return array(d, items, shape) if n else np.zeros(shape, NUMPY[d])

    def tensor(self, d, shape, special=True, low=None, high=None):
        """Returns arbitrary values of a type; bounds hold for floats and, rounded, for integers."""
        if d == "bool":
            return self.rng.random(shape) < 0.5 if shape else np.bool_(self.rng.random() < 0.5)
        if is_complex(d):
            re = self.floats(PART[d], shape, special, low, high)
            im = self.floats(PART[d], shape, special, low, high)
            out = np.empty(shape, NUMPY[d])
            out.real, out.imag = re, im
            return out
        if is_int(d):
            low = None if low is None else int(low)
            return self.ints(d, shape, special, low, None if high is None else int(high))
        return self.floats(d, shape, special, low, high)

    def whole(self, d, shape, most=4):
        """Returns small integers: sums of their products are exact in every type and order."""
        n = int(np.prod(shape, dtype=np.int64))
        low = 0 if d in U or d == "u4" else -most
        x = self.rng.integers(low, most + 1, size=n).reshape(shape)
        if d == "bool":
            return x > 0
        if is_complex(d):
            return (x + 1j * self.rng.integers(low, most + 1, size=n).reshape(shape)).astype(NUMPY[d])
        return x.astype(NUMPY[d])


class Case:
    """One program with inputs, expected outputs and a tolerance."""

    def __init__(self, program, inputs, outputs, tolerance="0"):
        self.program = program
        self.inputs = [(d, np.asarray(a)) for d, a in inputs]
        self.outputs = [(d, np.asarray(a)) for d, a in outputs]
        self.tolerance = tolerance


def single_op_case(op, inputs, outputs, attributes="", region="", tolerance="0", literals=()):
    """Returns a case whose function has one instruction."""
    names = [f"%{c}" for c in "abcdefgh"[: len(inputs)]]
    results = [f"%r{i}" for i in range(len(outputs))] if len(outputs) > 1 else ["%r"]
    params = ", ".join(f"{n}: {type_text(d, np.shape(a))}" for n, (d, a) in zip(names, inputs))
    types = ", ".join(type_text(d, np.shape(a)) for d, a in outputs)
    words = [f"{', '.join(results)} = {op}"]
    if names:
        words.append(", ".join(names))
    if attributes:
        words.append("{" + attributes + "}")
    if region:
        words.append(region)
    arrow = types if len(outputs) == 1 else f"({types})"
    program = (
        f"func @f({params}) -> {arrow} {{\n  {' '.join(words)} : {types}\n  return {', '.join(results)}\n}}\n"
    )
    return Case(program, inputs, outputs, tolerance)


# One entry per op: a function from a Draw to a case, and the number of cases in its golden file.
OPS = {}
# The weights of ops among the random cases: ops with more corner cases are drawn more often.
WEIGHT = {}
# Ops whose values are written by hand, with the reason.
BY_HAND = {}


def op(name, golden=8, weight=1, by_hand=None):
    def register(function):
        OPS[name] = (function, golden)
        WEIGHT[name] = weight
        if by_hand:
            BY_HAND[name] = by_hand
        return function

    return register
