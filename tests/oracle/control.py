"""Control flow, calls, tuples and random numbers."""

from fractions import Fraction

import mpmath
import numpy as np
from jax.extend.random import threefry_2x32

from elementwise import by_numpy, to_fraction
from tensors import ANY, Case, FORMAT, NUMPY, array, bit_width, map_elements, is_int, op, round_fraction, single_op_case, type_text, wrap_integer

CARRIED = ["f32", "i32", "f64", "u8", "i64", "bf16"]


def add_rounded(d, x, y):
    if is_int(d):
        return map_elements(d, lambda a, b: wrap_integer(d, a + b), x, y)
    return by_numpy(np.add)(d, x, y) if d in ("f16", "bf16") else np.asarray(x + y)


def multiply_rounded(d, x, y):
    if is_int(d):
        return map_elements(d, lambda a, b: wrap_integer(d, a * b), x, y)
    return by_numpy(np.multiply)(d, x, y) if d in ("f16", "bf16") else np.asarray(x * y)


def draw_small(draw, d, shape):
    return np.asarray(draw.tensor(d, shape, special=False, low=-2, high=2))


@op("cond", golden=4, weight=4)
def cond(draw):
    d = draw.dtype(CARRIED)
    shape = draw.shape()
    p = np.bool_(draw.turn % 2 == 0 if draw.golden else draw.chance(0.5))
    x, y = draw_small(draw, d, shape), draw_small(draw, d, shape)
    ty = type_text(d, shape)
    program = f"""func @f(%p: bool[], %x: {ty}, %y: {ty}) -> ({ty}, {ty}) {{
  %r, %s = cond %p () {{
    %u = add %x, %y : {ty}
    yield %u, %x
  }} () {{
    %v = mul %x, %y : {ty}
    yield %v, %y
  }} : {ty}, {ty}
  return %r, %s
}}
"""
    want = (add_rounded(d, x, y), x) if p else (multiply_rounded(d, x, y), y)
    return Case(program, [("bool", p), (d, x), (d, y)], [(d, w) for w in want])


@op("case", golden=5, weight=4)
def case(draw):
    d = draw.dtype(CARRIED)
    shape = draw.shape()
    n = draw.int(1, 4)
    i = draw.pick([0, 1, -1, 2, 7, 2**31 - 1, -(2**31), 3])
    x = draw_small(draw, d, shape)
    ty = type_text(d, shape)
    steps = [("x", x), ("u", add_rounded(d, x, x)), ("v", multiply_rounded(d, x, x)), ("w", multiply_rounded(d, add_rounded(d, x, x), x))]
    bodies = [
        "() {\n    yield %x\n  }",
        f"() {{\n    %u = add %x, %x : {ty}\n    yield %u\n  }}",
        f"() {{\n    %v = mul %x, %x : {ty}\n    yield %v\n  }}",
        f"() {{\n    %s = add %x, %x : {ty}\n    %w = mul %s, %x : {ty}\n    yield %w\n  }}",
    ]
    program = f"func @f(%i: i32[], %x: {ty}) -> {ty} {{\n  %r = case %i {' '.join(bodies[:n])} : {ty}\n  return %r\n}}\n"
    want = steps[i if 0 <= i < n else n - 1][1]
    return Case(program, [("i32", array("i32", i)), (d, x)], [(d, want)])


@op("while", golden=4, weight=4)
def while_op(draw):
    d = draw.dtype(CARRIED)
    shape = draw.shape()
    n = draw.pick([0, 3, 5, 1, -2])
    x, y = draw_small(draw, d, shape), draw_small(draw, d, shape)
    ty = type_text(d, shape)
    program = f"""func @f(%n: i32[], %x: {ty}, %y: {ty}) -> (i32[], {ty}) {{
  %r, %s = while 0:i32[], %x (%i: i32[], %a: {ty}) {{
    %p = compare %i, %n {{direction = lt}} : bool[]
    yield %p
  }} (%j: i32[], %b: {ty}) {{
    %k = add %j, 1:i32[] : i32[]
    %u = mul %b, %y : {ty}
    %v = add %u, %x : {ty}
    yield %k, %v
  }} : i32[], {ty}
  return %r, %s
}}
"""
    total = x
    for _ in range(max(n, 0)):
        total = add_rounded(d, multiply_rounded(d, total, y), x)
    return Case(program, [("i32", array("i32", n)), (d, x), (d, y)], [("i32", array("i32", max(n, 0))), (d, total)])


@op("scan", golden=4, weight=5)
def scan(draw):
    d = draw.dtype(CARRIED)
    n = draw.pick([3, 4, 0, 1, 6])
    rest = draw.any([(), (2,), (2, 2)]) if not draw.golden else ()
    back = draw.chance(0.4)
    x, z = draw_small(draw, d, (n,) + rest), draw_small(draw, d, rest)
    ty, many = type_text(d, rest), type_text(d, (n,) + rest)
    flag = ", reverse = true" if back else ""
    program = f"""func @f(%z: {ty}, %x: {many}) -> ({ty}, {many}) {{
  %r, %s = scan %z, %x {{carried = 1{flag}}} (%a: {ty}, %b: {ty}) {{
    %c = add %a, %b : {ty}
    %e = mul %a, %b : {ty}
    yield %c, %e
  }} : {ty}, {many}
  return %r, %s
}}
"""
    total, rows = z, np.zeros(x.shape, x.dtype)
    for i in (reversed(range(n)) if back else range(n)):
        rows[i] = multiply_rounded(d, total, np.asarray(x[i]))
        total = add_rounded(d, total, np.asarray(x[i]))
    return Case(program, [(d, z), (d, x)], [(d, total), (d, rows)])


@op("return", golden=3)
def return_op(draw):
    d = draw.dtype(ANY)
    x, y = np.asarray(draw.tensor(d, draw.shape())), np.asarray(draw.tensor("i32", (2,)))
    program = f"func @f(%x: {type_text(d, x.shape)}, %y: i32[2]) -> (i32[2], {type_text(d, x.shape)}, i32[2]) {{\n  return %y, %x, %y\n}}\n"
    return Case(program, [(d, x), ("i32", y)], [("i32", y), (d, x), ("i32", y)])


@op("yield", golden=3)
def yield_op(draw):
    p = np.bool_(draw.turn % 2 == 0 if draw.golden else draw.chance(0.5))
    d = draw.dtype(ANY)
    x = np.asarray(draw.tensor(d, draw.shape()))
    ty = type_text(d, x.shape)
    program = f"""func @f(%p: bool[], %x: {ty}) -> ({ty}, bool[]) {{
  %r, %s = cond %p () {{
    yield %x, %p
  }} () {{
    %q = not %p : bool[]
    yield %x, %q
  }} : {ty}, bool[]
  return %r, %s
}}
"""
    return Case(program, [("bool", p), (d, x)], [(d, x), ("bool", np.bool_(True))])


@op("call", golden=3, weight=2)
def call(draw):
    d = draw.dtype(CARRIED)
    shape = draw.shape()
    x, y = draw_small(draw, d, shape), draw_small(draw, d, shape)
    ty = type_text(d, shape)
    inner = "f64" if not is_int(d) else d
    del inner
    named = f"{d}[{', '.join('?' + 'ABCDE'[i] for i in range(len(shape)))}]" if draw.chance(0.5) else ty
    program = f"""func @f(%x: {ty}, %y: {ty}) -> {ty} {{
  %u, %v = call @g %x, %y : {ty}, {ty}
  %w, %r = call @g %u, %v : {ty}, {ty}
  return %r
}}

func @g(%a: {named}, %b: {named}) -> ({named}, {named}) {{
  %s = add %a, %b : {named}
  %m = mul %a, %b : {named}
  return %s, %m
}}
"""
    return Case(program, [(d, x), (d, y)], [(d, multiply_rounded(d, add_rounded(d, x, y), multiply_rounded(d, x, y)))])


@op("tuple", golden=2)
def tuple_op(draw):
    return tuple_element_case(draw, draw.pick([0, 1]))


@op("get_tuple_element", golden=2)
def get_tuple_element(draw):
    return tuple_element_case(draw, draw.pick([1, 0]))


def tuple_element_case(draw, index):
    d = draw.dtype(ANY)
    x, y = np.asarray(draw.tensor(d, draw.shape())), np.asarray(draw.tensor("i32", (2,)))
    tx, ty = type_text(d, x.shape), "i32[2]"
    program = f"""func @f(%x: {tx}, %y: {ty}) -> ({(tx, ty)[index]}, {ty}) {{
  %t = tuple %x, %y : tuple<{tx}, {ty}>
  %n = tuple %t, %y : tuple<tuple<{tx}, {ty}>, {ty}>
  %u = get_tuple_element %n {{index = 0}} : tuple<{tx}, {ty}>
  %r = get_tuple_element %u {{index = {index}}} : {(tx, ty)[index]}
  %s = get_tuple_element %n {{index = 1}} : {ty}
  return %r, %s
}}
"""
    return Case(program, [(d, x), ("i32", y)], [((d, x), ("i32", y))[index], ("i32", y)])


@op("optimization_barrier", golden=2, by_hand="the results are the operands")
def optimization_barrier(draw):
    d = draw.dtype(ANY)
    x, y = np.asarray(draw.tensor(d, draw.shape())), np.asarray(draw.tensor("i32", (2,)))
    return single_op_case("optimization_barrier", [(d, x), ("i32", y)], [(d, x), ("i32", y)])


@op("after_all", golden=1, by_hand="a token has no value; what runs beside it is seen")
def after_all(draw):
    x = np.asarray(draw.tensor("f32", (2,)))
    program = "func @f(%x: f32[2]) -> f32[2] {\n  %t = after_all : token\n  %u = after_all %t, %t : token\n  return %x\n}\n"
    return Case(program, [("f32", x)], [("f32", x)])


@op("refine", golden=2, by_hand="the result is the operand")
def refine(draw):
    d = draw.dtype(ANY)
    shape = draw.shape(least_rank=1)
    x = np.asarray(draw.tensor(d, shape))
    unknown = f"{d}[{', '.join('?' for _ in shape)}]"
    ty = type_text(d, shape)
    program = f"func @f(%x: {unknown}) -> {ty} {{\n  %r = refine %x : {ty}\n  return %r\n}}\n"
    return Case(program, [(d, x)], [(d, x)])


ROTATIONS = [[13, 15, 26, 6], [17, 29, 16, 24]]
MASK = 0xFFFFFFFF


def threefry(key, counter):
    """Returns Threefry-2x32 with 20 rounds of one counter, in Python integers: low word, high word."""
    k = [key & MASK, key >> 32]
    k.append(k[0] ^ k[1] ^ 0x1BD11BDA)
    x, y = (counter & MASK) + k[0] & MASK, (counter >> 32) + k[1] & MASK
    for group in range(5):
        for r in ROTATIONS[group % 2]:
            x = x + y & MASK
            y = (y << r | y >> 32 - r) & MASK ^ x
        x = x + k[(group + 1) % 3] & MASK
        y = y + k[(group + 2) % 3] + group + 1 & MASK
    return x, y


def random_words(key, counter, steps):
    """Returns the words of some steps. JAX computes them too, and must agree."""
    words = []
    for i in range(steps):
        words += threefry(key, (counter + i) % (1 << 64))
    if steps:
        counts = [(counter + i) % (1 << 64) for i in range(steps)]
        x = np.array([c & MASK for c in counts] + [c >> 32 for c in counts], np.uint32)
        theirs = np.asarray(threefry_2x32(np.array([key & MASK, key >> 32], np.uint32), x))
        assert theirs.tolist() == words[::2] + words[1::2]
    return words


def random_elements(state, count, width):
    """Returns `count` integers of a width, and the next state."""
    key, counter = (int(x) for x in state)
    needed = count * (2 if width == 64 else 1)
    steps = -(-needed // 2)
    words = random_words(key, counter, steps)
    if width == 64:
        items = [words[2 * i] | words[2 * i + 1] << 32 for i in range(count)]
    else:
        items = [w & (1 << width) - 1 for w in words[:count]]
    return items, array("u64", [key, (counter + steps) % (1 << 64)])


def draw_states(draw):
    state = draw.ints("u64", (2,), extreme=not draw.golden)
    if draw.golden and draw.turn == 1:
        state = array("u64", [2**64 - 1, 2**64 - 1])
    return state


def rng_case(name, draw, d, shape, state, next_state, values, tolerance="0"):
    attributes = f"dtype = {d}, shape = [{', '.join(map(str, shape))}]"
    return single_op_case(name, [("u64", state)], [("u64", next_state), (d, values)], attributes, tolerance=tolerance)


def draw_elements(draw, dtypes):
    """Draws a state, an element type and a shape. Returns them with random bits for each element, and the next state."""
    d = draw.dtype(dtypes)
    shape = draw.shape()
    state = draw_states(draw)
    items, after = random_elements(state, int(np.prod(shape, dtype=int)), bit_width(d))
    return d, shape, state, items, after


def shaped(d, values, shape):
    return array(d, values, shape) if values else np.zeros(shape, NUMPY[d])


@op("rng_bits", golden=5, weight=3)
def rng_bits(draw):
    d, shape, state, items, after = draw_elements(draw, ["u32", "u8", "u64", "i32", "i64", "i16", "u16", "i8"])
    return rng_case("rng_bits", draw, d, shape, state, after, shaped(d, [wrap_integer(d, x) for x in items], shape))


@op("rng_uniform", golden=4, weight=3)
def rng_uniform(draw):
    d, shape, state, items, after = draw_elements(draw, ["f32", "f64", "f16", "bf16"])
    digits = FORMAT[d][0]
    values = shaped(d, [(x >> bit_width(d) - digits) * 2.0**-digits for x in items], shape)
    return rng_case("rng_uniform", draw, d, shape, state, after, values)


@op("rng_normal", golden=4, weight=2)
def rng_normal(draw):
    d, shape, state, items, after = draw_elements(draw, ["f32", "f64", "f16", "bf16"])
    digits = FORMAT[d][0]
    # The middles of 2^digits equal parts of (-1, 1).
    middles = [Fraction(2 * (x >> bit_width(d) - digits) + 1, 1 << digits) - 1 for x in items]
    normal = [mpmath.sqrt(2) * mpmath.erfinv(mpmath.mpf(m.numerator) / m.denominator) for m in middles]
    values = shaped(d, [round_fraction(d, to_fraction(x)) for x in normal], shape)
    return rng_case("rng_normal", draw, d, shape, state, after, values, "4 ulp")
