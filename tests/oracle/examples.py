"""Blocks of models: softmax, layer norm, attention, GELU. Computed in f64 by NumPy from the formula and rounded once.

The programs equal those that the builder records for the same blocks, which a test of sapwood-ptir checks.
"""

import numpy as np
import scipy.special

from tensors import Case

EXAMPLES = {}


def example(function):
    EXAMPLES[function.__name__] = function
    return function


def softmax_reference(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def draw_inputs(draw, *shapes):
    return [draw.floats("f32", s, special=False) for s in shapes]


def case(program, arrays, want, tolerance):
    return Case(program, [("f32", a) for a in arrays], [("f32", want.astype(np.float32))], tolerance)


@example
def softmax(draw):
    (x,) = draw_inputs(draw, (3, 5))
    program = """func @f(%x: f32[3, 5]) -> f32[3, 5] {
  %max = reduce_max %x {axes = [1], keepdims = true} : f32[3, 1]
  %b = broadcast_to %max : f32[3, 5]
  %s = sub %x, %b : f32[3, 5]
  %e = exp %s : f32[3, 5]
  %sum = reduce_sum %e {axes = [1], keepdims = true} : f32[3, 1]
  %d = broadcast_to %sum : f32[3, 5]
  %y = div %e, %d : f32[3, 5]
  return %y
}
"""
    return case(program, [x], softmax_reference(x.astype(float)), "4 eps of the largest")


@example
def layer_norm(draw):
    x, scale, shift = draw_inputs(draw, (3, 8), (8,), (8,))
    program = """func @f(%x: f32[3, 8], %scale: f32[8], %shift: f32[8]) -> f32[3, 8] {
  %sum = reduce_sum %x {axes = [1], keepdims = true} : f32[3, 1]
  %k1 = broadcast_to 8.0:f32[] : f32[3, 1]
  %mean = div %sum, %k1 : f32[3, 1]
  %m = broadcast_to %mean : f32[3, 8]
  %c = sub %x, %m : f32[3, 8]
  %square = mul %c, %c : f32[3, 8]
  %total = reduce_sum %square {axes = [1], keepdims = true} : f32[3, 1]
  %k2 = broadcast_to 8.0:f32[] : f32[3, 1]
  %variance = div %total, %k2 : f32[3, 1]
  %k3 = broadcast_to 1e-5:f32[] : f32[3, 1]
  %v = add %variance, %k3 : f32[3, 1]
  %r = rsqrt %v : f32[3, 1]
  %factor = broadcast_to %r : f32[3, 8]
  %a = broadcast_to %scale : f32[3, 8]
  %b = broadcast_to %shift : f32[3, 8]
  %n = mul %c, %factor : f32[3, 8]
  %na = mul %n, %a : f32[3, 8]
  %y = add %na, %b : f32[3, 8]
  return %y
}
"""
    w = x.astype(float)
    c = w - w.mean(-1, keepdims=True)
    want = c / np.sqrt((c * c).mean(-1, keepdims=True) + 1e-5) * scale + shift
    return case(program, [x, scale, shift], want, "8 eps of the largest")


@example
def attention(draw):
    q, k, v = draw_inputs(draw, (2, 3, 4), (2, 3, 4), (2, 3, 4))
    program = """func @f(%q: f32[2, 3, 4], %k: f32[2, 3, 4], %v: f32[2, 3, 4]) -> f32[2, 3, 4] {
  %scores = dot_general %q, %k {lhs_batch = [0], rhs_batch = [0], lhs_contract = [2], rhs_contract = [2]} : f32[2, 3, 3]
  %k4 = broadcast_to 0.125:f32[] : f32[2, 3, 3]
  %w = mul %scores, %k4 : f32[2, 3, 3]
  %max = reduce_max %w {axes = [2], keepdims = true} : f32[2, 3, 1]
  %b = broadcast_to %max : f32[2, 3, 3]
  %s = sub %w, %b : f32[2, 3, 3]
  %e = exp %s : f32[2, 3, 3]
  %sum = reduce_sum %e {axes = [2], keepdims = true} : f32[2, 3, 1]
  %d = broadcast_to %sum : f32[2, 3, 3]
  %p = div %e, %d : f32[2, 3, 3]
  %y = dot_general %p, %v {lhs_batch = [0], rhs_batch = [0], lhs_contract = [2], rhs_contract = [1]} : f32[2, 3, 4]
  return %y
}
"""
    qw, kw, vw = (a.astype(float) for a in (q, k, v))
    want = softmax_reference(np.einsum("bik,bjk->bij", qw, kw) * 0.125) @ vw
    return case(program, [q, k, v], want, "8 eps of the largest")


@example
def gelu(draw):
    (x,) = draw_inputs(draw, (2, 5))
    program = """func @f(%x: f32[2, 5]) -> f32[2, 5] {
  %k5 = broadcast_to 0.70710678118654752:f32[] : f32[2, 5]
  %s = mul %x, %k5 : f32[2, 5]
  %e = erf %s : f32[2, 5]
  %k6 = broadcast_to 1.0:f32[] : f32[2, 5]
  %o = add %e, %k6 : f32[2, 5]
  %m = mul %o, %x : f32[2, 5]
  %k7 = broadcast_to 0.5:f32[] : f32[2, 5]
  %y = mul %m, %k7 : f32[2, 5]
  return %y
}
"""
    w = x.astype(float)
    want = (scipy.special.erf(w * np.sqrt(0.5)) + 1) * w * 0.5
    return case(program, [x], want, "4 eps of the largest")
