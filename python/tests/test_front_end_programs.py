"""Programs of the front end as a user writes them: parsed, printed, verified, interpreted, lowered, run, transformed and simplified.

Every way gives what NumPy computes.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sapwood import ir, pi


@pi.function
def linear(
    n: pi.INT64, x: pi.TensorType(pi.FP32, [n, 8]), w: pi.TensorType(pi.FP32, [8, 8]), b: pi.TensorType(pi.FP32, [8])
) -> pi.TensorType(pi.FP32, [n, 8]):
    return x @ w + pi.op.broadcast_in_dim(b, dims=[1], shape=[n, 8])


@pi.function
def mlp(
    n: pi.INT64, x: pi.TensorType(pi.FP32, [n, 8]), w: pi.TensorType(pi.FP32, [8, 8]), b: pi.TensorType(pi.FP32, [8]), layers: pi.INT32
) -> pi.TensorType(pi.FP32, [n, 8]):
    for _ in range(layers):
        x = max(linear(n, x, w, b), 0)
    return x


@pi.function
def causal_attention(
    s: pi.INT64, q: pi.TensorType(pi.FP32, [2, s, 4]), k: pi.TensorType(pi.FP32, [2, s, 4]), v: pi.TensorType(pi.FP32, [2, s, 4])
) -> pi.TensorType(pi.FP32, [2, s, 4]):
    scores = q @ pi.op.transpose(k, perm=[0, 2, 1]) / 2
    row = pi.op.iota(axis=1, type=pi.TensorType(pi.INT32, [2, s, s]))
    column = pi.op.iota(axis=2, type=pi.TensorType(pi.INT32, [2, s, s]))
    low = pi.op.broadcast_to(pi.FP32("-inf"), shape=[2, s, s])
    scores = pi.op.select(row >= column, scores, low)
    e = pi.op.exp(scores - pi.op.broadcast_to(pi.op.reduce_max(scores, axes=[2], keepdims=True), shape=[2, s, s]))
    return e / pi.op.broadcast_to(pi.op.reduce_sum(e, axes=[2], keepdims=True), shape=[2, s, s]) @ v


@pi.function
def conv_block(
    x: pi.TensorType(pi.FP32, [2, 3, 8, 8]), w: pi.TensorType(pi.FP32, [4, 3, 3, 3]), b: pi.TensorType(pi.FP32, [4])
) -> pi.TensorType(pi.FP32, [2, 4, 4, 4]):
    y = pi.op.convolution(
        x, w, input_dims=[0, 1, 2, 3], kernel_dims=[1, 0, 2, 3], output_dims=[0, 1, 2, 3], strides=[2, 2], pads=[[1, 1], [1, 1]]
    )
    return max(y + pi.op.broadcast_in_dim(b, dims=[1], shape=[2, 4, 4, 4]), 0.0)


@pi.function
def layer_norm(n: pi.INT64, x: pi.TensorType(pi.FP32, [n, 16]), eps: pi.FP32) -> pi.TensorType(pi.FP32, [n, 16]):
    if eps < 0:
        return x
    mean = pi.op.reduce_sum(x, axes=[1], keepdims=True) / 16
    centered = x - pi.op.broadcast_to(mean, shape=[n, 16])
    variance = pi.op.reduce_sum(centered * centered, axes=[1], keepdims=True) / 16
    return centered * pi.op.broadcast_to(pi.op.rsqrt(variance + eps), shape=[n, 16])


@pi.function
def rnn(
    t: pi.INT64,
    xs: pi.TensorType(pi.FP32, [t, 4]),
    w: pi.TensorType(pi.FP32, [4, 4]),
    u: pi.TensorType(pi.FP32, [4, 4]),
    h: pi.TensorType(pi.FP32, [1, 4]),
) -> pi.TensorType(pi.FP32, [1, 4]):
    for i, (state,) in pi.range(0, t, 1, init_values=[h]):
        pi.yield_(pi.op.tanh(xs[i : i + 1] @ w + state @ u))
    last: pi.TensorType(pi.FP32, [1, 4]) = pi.result(0)
    return last


@pi.function
def newton(a: pi.FP64, limit: pi.INT32) -> (pi.FP64, pi.INT32):
    x = a
    steps = pi.INT32(0)
    while steps < limit:
        better = (x + a / x) / 2
        if abs(better - x) < 1e-12:
            return better, steps
        x = better
        steps += 1
    return x, steps


@pi.function
def fit(
    n: pi.INT64, d: pi.INT64, x: pi.TensorType(pi.FP64, [n, d]), y: pi.TensorType(pi.FP64, [n]), w: pi.TensorType(pi.FP64, [d]), steps: pi.INT64
) -> (pi.TensorType(pi.FP64, [d]), pi.FP64):
    loss = pi.FP64(0)
    for _ in range(steps):
        error = x @ w - y
        w -= 0.1 * (x.T @ error) / pi.cast(n, pi.FP64)
        loss = pi.op.reduce_sum(error * error, axes=[0])
    return w, loss


@pi.function
def normalize(x: pi.TensorType(pi.FP64, [5])) -> (pi.TensorType(pi.FP64, [5]), pi.FP64):
    length = pi.op.sqrt(pi.op.reduce_sum(x * x, axes=[0]))
    return x / length, length


@pi.function
def power_iteration(a: pi.TensorType(pi.FP64, [5, 5]), x: pi.TensorType(pi.FP64, [5])) -> (pi.TensorType(pi.FP64, [5]), pi.FP64):
    largest = pi.FP64(0)
    for i in range(50):
        x, largest = normalize(a @ x)
    return x, largest


@pi.function
def cumulative(n: pi.INT64, x: pi.TensorType(pi.INT32, [n])) -> pi.TensorType(pi.INT32, [n]):
    total = pi.INT32(0)
    for i in range(n):
        total += x[i]
        x = pi.op.dynamic_update_slice(x, pi.op.reshape(total, shape=[1]), i)
    return x


@pi.function
def cross_entropy(n: pi.INT64, logits: pi.TensorType(pi.FP32, [n, 10]), labels: pi.TensorType(pi.INT32, [n])) -> pi.FP32:
    shifted = logits - pi.op.broadcast_to(pi.op.reduce_max(logits, axes=[1], keepdims=True), shape=[n, 10])
    logs = shifted - pi.op.broadcast_to(pi.op.log(pi.op.reduce_sum(pi.op.exp(shifted), axes=[1], keepdims=True)), shape=[n, 10])
    classes = pi.op.iota(axis=1, shape=[n, 10], dtype=pi.INT32)
    hot = classes == pi.op.broadcast_in_dim(labels, dims=[0], shape=[n, 10])
    zeros = pi.op.broadcast_to(pi.FP32(0), shape=[n, 10])
    return -pi.op.reduce_sum(pi.op.select(hot, logs, zeros), axes=[0, 1]) / pi.cast(n, pi.FP32)


@pi.function
def is_prime(n: pi.INT64) -> pi.BOOL:
    if n < 2:
        return False
    d = 2
    while d * d <= n:
        if n % d == 0:
            return False
        d += 1
    return True


@pi.function
def nth_prime(n: pi.INT64) -> pi.INT64:
    found = 0
    candidate = 1
    while True:
        candidate += 1
        if is_prime(candidate):
            found += 1
        if found == n:
            return candidate


@pi.function
def rotate(p: pi.TupleType([pi.FP64, pi.FP64]), angle: pi.FP64) -> pi.TupleType([pi.FP64, pi.FP64]):
    x, y = p
    c = pi.op.cos(angle)
    s = pi.op.sin(angle)
    return (x * c - y * s, x * s + y * c),


@pi.function
def polygon(p: pi.TupleType([pi.FP64, pi.FP64]), n: pi.INT64) -> (pi.FP64, pi.TupleType([pi.FP64, pi.FP64])):
    start = p
    length = pi.FP64(0)
    for _ in range(n):
        q = rotate(p, pi.FP64(6.283185307179586) / pi.cast(n, pi.FP64))
        length += pi.op.sqrt((q[0] - p[0]) ** 2 + (q[1] - p[1]) ** 2)
        p = q
    return length, (p[0] - start[0], p[1] - start[1])


@pi.function
def k_means(
    n: pi.INT64, x: pi.TensorType(pi.FP32, [n, 2]), centers: pi.TensorType(pi.FP32, [3, 2])
) -> (pi.TensorType(pi.INT32, [n]), pi.TensorType(pi.FP32, [3, 2])):
    a = pi.op.broadcast_in_dim(x, dims=[0, 2], shape=[n, 3, 2])
    b = pi.op.broadcast_in_dim(centers, dims=[1, 2], shape=[n, 3, 2])
    distance = pi.op.reduce_sum((a - b) ** 2, axes=[2])
    nearest = pi.op.arg_min(distance, axis=1, index=pi.INT32)
    hot = pi.op.iota(axis=1, shape=[n, 3], dtype=pi.INT32) == pi.op.broadcast_in_dim(nearest, dims=[0], shape=[n, 3])
    weights = pi.cast(hot, pi.FP32)
    counts = pi.op.reduce_sum(weights, axes=[0])
    sums = weights.T @ x
    return nearest, sums / pi.op.broadcast_in_dim(counts, dims=[0], shape=[3, 2])


@pi.function
def bubble_sort(n: pi.INT64, x: pi.TensorType(pi.INT64, [n])) -> pi.TensorType(pi.INT64, [n]):
    for i in range(n):
        for j in range(0, n - i - 1):
            if x[j] > x[j + 1]:
                a, b = x[j], x[j + 1]
                x = pi.op.dynamic_update_slice(x, pi.op.reshape(b, shape=[1]), j)
                x = pi.op.dynamic_update_slice(x, pi.op.reshape(a, shape=[1]), j + 1)
    return x


@pi.function
def rope(s: pi.INT64, x: pi.TensorType(pi.FP32, [s, 8])) -> pi.TensorType(pi.FP32, [s, 8]):
    place = pi.cast(pi.op.iota(axis=0, shape=[s, 4], dtype=pi.INT32), pi.FP32)
    i = pi.cast(pi.op.iota(axis=1, shape=[s, 4], dtype=pi.INT32), pi.FP32)
    angle = place * pi.op.exp(i * -2.302585)
    c, sn = pi.op.cos(angle), pi.op.sin(angle)
    left, right = x[:, :4], x[:, 4:]
    return pi.op.concat(left * c - right * sn, left * sn + right * c, axis=1)


@pi.function
def lstm_cell(
    x: pi.TensorType(pi.FP32, [2, 3]),
    h: pi.TensorType(pi.FP32, [2, 4]),
    c: pi.TensorType(pi.FP32, [2, 4]),
    w: pi.TensorType(pi.FP32, [7, 16]),
) -> (pi.TensorType(pi.FP32, [2, 4]), pi.TensorType(pi.FP32, [2, 4])):
    gates = pi.op.concat(x, h, axis=1) @ w
    i = pi.op.logistic(gates[:, 0:4])
    f = pi.op.logistic(gates[:, 4:8])
    o = pi.op.logistic(gates[:, 8:12])
    g = pi.op.tanh(gates[:, 12:])
    c = f * c + i * g
    return o * pi.op.tanh(c), c


@pi.function
def lstm(
    t: pi.INT64, xs: pi.TensorType(pi.FP32, [t, 2, 3]), w: pi.TensorType(pi.FP32, [7, 16])
) -> (pi.TensorType(pi.FP32, [2, 4]), pi.TensorType(pi.FP32, [2, 4])):
    h = pi.op.broadcast_to(0.0, shape=[2, 4])
    c = pi.op.broadcast_to(0.0, shape=[2, 4])
    for i in range(t):
        h, c = lstm_cell(xs[i], h, c, w)
    return h, c


@pi.function
def mandelbrot(h: pi.INT64, w: pi.INT64, re: pi.TensorType(pi.FP64, [h, w]), im: pi.TensorType(pi.FP64, [h, w]), limit: pi.INT32) -> pi.TensorType(
    pi.INT32, [h, w]
):
    x, y = re, im
    count = pi.op.broadcast_to(pi.INT32(0), shape=[h, w])
    for _ in range(limit):
        inside = x * x + y * y <= 4
        count = count + pi.cast(inside, pi.INT32)
        x, y = pi.op.select(inside, x * x - y * y + re, x), pi.op.select(inside, 2 * x * y + im, y)
    return count


@pi.function
def embed(n: pi.INT64, table: pi.TensorType(pi.FP32, [10, 6]), ids: pi.TensorType(pi.INT32, [n])) -> pi.TensorType(pi.FP32, [6]):
    rows = pi.op.gather(table, ids, offset_dims=[1], collapsed_dims=[0], start_index_map=[0], index_vector_dim=1, slice_sizes=[1, 6])
    return pi.op.reduce_sum(rows, axes=[0]) / pi.cast(n, pi.FP32)


@pi.function
def mixed(a: pi.TensorType(pi.FP16, [4, 8]), b: pi.TensorType(pi.FP16, [8, 2])) -> pi.TensorType(pi.FP32, [4, 2]):
    half = a @ b
    exact = pi.op.dot_general(a, b, lhs_contract=[1], rhs_contract=[0], out=pi.FP32)
    return exact - pi.cast(half, pi.FP32) * 0 + 1


@pi.function
def lcs(n: pi.INT64, m: pi.INT64, a: pi.TensorType(pi.INT32, [n]), b: pi.TensorType(pi.INT32, [m])) -> pi.INT32:
    table = pi.op.broadcast_to(pi.INT32(0), shape=[n + 1, m + 1])
    for i in range(n):
        for j in range(m):
            if a[i] == b[j]:
                best = table[i, j] + 1
            else:
                best = max(table[i, j + 1], table[i + 1, j])
            table = pi.op.dynamic_update_slice(table, pi.op.reshape(best, shape=[1, 1]), i + 1, j + 1)
    return table[n, m]


@pi.function
def life(h: pi.INT64, w: pi.INT64, board: pi.TensorType(pi.BOOL, [h, w]), steps: pi.INT32) -> pi.TensorType(pi.BOOL, [h, w]):
    while steps > 0:
        cells = pi.cast(board, pi.INT32)
        rows = cells + pi.op.concat(cells[1:], cells[:1], axis=0) + pi.op.concat(cells[-1:], cells[:-1], axis=0)
        total = rows + pi.op.concat(rows[:, 1:], rows[:, :1], axis=1) + pi.op.concat(rows[:, -1:], rows[:, :-1], axis=1)
        board = (total == 3) | (board & (total == 4))
        steps -= 1
    return board


@pi.function
def pooled_features(x: pi.TensorType(pi.FP32, [1, 1, 6, 6]), w: pi.TensorType(pi.FP32, [2, 1, 3, 3])) -> pi.TensorType(pi.FP32, [1, 2, 2, 2]):
    y = max(pi.op.convolution(x, w, input_dims=[0, 1, 2, 3], kernel_dims=[1, 0, 2, 3], output_dims=[0, 1, 2, 3]), 0.0)
    return pi.op.reduce_window(y, pi.FP32("-inf"), body="max", window=[1, 1, 2, 2], strides=[1, 1, 2, 2])


@pi.function
def histogram(n: pi.INT64, classes: pi.TensorType(pi.INT32, [n])) -> pi.TensorType(pi.INT32, [5]):
    zeros = pi.op.broadcast_to(pi.INT32(0), shape=[5])
    ones = pi.op.broadcast_to(pi.INT32(1), shape=[n])
    rows = pi.op.reshape(classes, shape=[n, 1])
    return pi.op.scatter(zeros, rows, ones, body="add", update_window_dims=[], inserted_window_dims=[0], scatter_dims=[0], index_vector_dim=1)


@pi.function
def median(x: pi.TensorType(pi.FP32, [7])) -> pi.FP32:
    return pi.op.sort(x, comparator="lt", axis=0)[3]


@pi.function
def permutation(n: pi.INT64, x: pi.TensorType(pi.FP32, [n])) -> (pi.TensorType(pi.FP32, [n]), pi.TensorType(pi.INT32, [n])):
    keys, places = pi.op.sort(x, pi.op.iota(axis=0, shape=[n], dtype=pi.INT32), comparator="gt", axis=0)
    return keys, places


@pi.function
def running_sums(x: pi.TensorType(pi.INT32, [5])) -> pi.TensorType(pi.INT32, [5]):
    return pi.op.reduce_window(x, 0, body="add", window=[5], pads=[[4, 0]])


@pi.function
def extremes(n: pi.INT64, x: pi.TensorType(pi.FP32, [n, 3])) -> (pi.TensorType(pi.FP32, [3]), pi.TensorType(pi.FP32, [3])):
    low, high = pi.op.reduce(-x, x, pi.FP32("-inf"), pi.FP32("-inf"), body="max", axes=[0])
    return -low, high


def np_softmax(x: Any) -> Any:
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def np_mlp(n: int, x: Any, w: Any, b: Any, layers: int) -> Any:
    for _ in range(layers):
        x = np.maximum(x @ w + b, 0)
    return x


def np_causal_attention(s: int, q: Any, k: Any, v: Any) -> Any:
    scores = np.where(np.tril(np.ones((s, s), bool)), q @ k.transpose(0, 2, 1) / 2, -np.inf)
    return np_softmax(scores) @ v


def np_conv_block(x: Any, w: Any, b: Any) -> Any:
    padded = np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)))
    windows = np.lib.stride_tricks.sliding_window_view(padded, (3, 3), axis=(2, 3))[:, :, ::2, ::2]
    return np.maximum(np.einsum("ncijab,ocab->noij", windows, w) + b[None, :, None, None], 0)


def np_pooled_features(x: Any, w: Any) -> Any:
    windows = np.lib.stride_tricks.sliding_window_view(x, (3, 3), axis=(2, 3))
    return np.maximum(np.einsum("ncijab,ocab->noij", windows, w), 0).reshape(1, 2, 2, 2, 2, 2).max((3, 5))


def np_layer_norm(n: int, x: Any, eps: float) -> Any:
    return x if eps < 0 else (x - x.mean(1, keepdims=True)) / np.sqrt(x.var(1, keepdims=True) + eps)


def np_rnn(t: int, xs: Any, w: Any, u: Any, h: Any) -> Any:
    for i in range(t):
        h = np.tanh(xs[i : i + 1] @ w + h @ u)
    return h


def np_newton(a: float, limit: int) -> tuple[float, int]:
    x = a
    for steps in range(limit):
        better = (x + a / x) / 2
        if abs(better - x) < 1e-12:
            return better, steps
        x = better
    return x, limit


def np_fit(n: int, d: int, x: Any, y: Any, w: Any, steps: int) -> Any:
    loss = 0.0
    for _ in range(steps):
        error = x @ w - y
        w, loss = w - 0.1 * (x.T @ error) / n, (error * error).sum()
    return w, loss


def np_power_iteration(a: Any, x: Any) -> Any:
    length = 0.0
    for _ in range(50):
        x = a @ x
        length = np.linalg.norm(x)
        x = x / length
    return x, length


def np_cross_entropy(n: int, logits: Any, labels: Any) -> Any:
    return -np.log(np_softmax(logits)[np.arange(n), labels]).mean()


def np_k_means(n: int, x: Any, centers: Any) -> Any:
    nearest = ((x[:, None] - centers[None]) ** 2).sum(2).argmin(1)
    return nearest, np.stack([x[nearest == i].mean(0) for i in range(3)])


def np_rope(s: int, x: Any) -> Any:
    angle = np.arange(s)[:, None] * np.exp(np.arange(4) * -2.302585)[None]
    c, sn = np.cos(angle), np.sin(angle)
    return np.concatenate([x[:, :4] * c - x[:, 4:] * sn, x[:, :4] * sn + x[:, 4:] * c], 1)


def np_lstm(t: int, xs: Any, w: Any) -> Any:
    def logistic(x: Any) -> Any:
        return 1 / (1 + np.exp(-x))

    h = c = np.zeros((2, 4))
    for i in range(t):
        gates = np.concatenate([xs[i], h], 1) @ w
        c = logistic(gates[:, 4:8]) * c + logistic(gates[:, :4]) * np.tanh(gates[:, 12:])
        h = logistic(gates[:, 8:12]) * np.tanh(c)
    return h, c


def np_mandelbrot(h: int, w: int, re: Any, im: Any, limit: int) -> Any:
    c = z = re + 1j * im
    count = np.zeros((h, w), int)
    for _ in range(limit):
        inside = z.real**2 + z.imag**2 <= 4
        count += inside
        z = np.where(inside, z * z + c, z)
    return count


def np_lcs(n: int, m: int, a: Any, b: Any) -> int:
    table = np.zeros((n + 1, m + 1), int)
    for i in range(n):
        for j in range(m):
            table[i + 1, j + 1] = table[i, j] + 1 if a[i] == b[j] else max(table[i, j + 1], table[i + 1, j])
    return int(table[n, m])


def np_life(h: int, w: int, board: Any, steps: int) -> Any:
    for _ in range(steps):
        total = sum(np.roll(board.astype(int), (i, j), (0, 1)) for i in (-1, 0, 1) for j in (-1, 0, 1))
        board = (total == 3) | (board & (total == 4))
    return board


rng = np.random.default_rng(1)


def f32(*shape: int) -> Any:
    return rng.standard_normal(shape).astype(np.float32)


def i32(limit: int, *shape: int) -> Any:
    return rng.integers(0, limit, shape).astype(np.int32)


XS, IDS, SYMMETRIC = rng.integers(-50, 50, 9), i32(10, 5), rng.standard_normal((5, 5))
SYMMETRIC = SYMMETRIC @ SYMMETRIC.T
POINTS = f32(20, 2)
RE, IM = np.meshgrid(np.linspace(-2, 1, 6), np.linspace(-1, 1, 5))
EIGHT = f32(8)
TABLE, HALF_A, HALF_B = f32(10, 6), f32(4, 8).astype(np.float16), f32(8, 2).astype(np.float16)

#: Each program with arguments, and what NumPy or Python computes: a value, or a function of the same arguments.
CASES: list[tuple[Any, tuple[Any, ...], Any]] = [
    (mlp, (5, f32(5, 8), f32(8, 8) / 3, f32(8), 3), np_mlp),
    (causal_attention, (6, f32(2, 6, 4), f32(2, 6, 4), f32(2, 6, 4)), np_causal_attention),
    (conv_block, (f32(2, 3, 8, 8), f32(4, 3, 3, 3), f32(4)), np_conv_block),
    (layer_norm, (3, f32(3, 16), 1e-5), np_layer_norm),
    (layer_norm, (3, f32(3, 16), -1.0), np_layer_norm),
    (rnn, (7, f32(7, 4), f32(4, 4), f32(4, 4), f32(1, 4)), np_rnn),
    (newton, (2.0, 100), np_newton),
    (newton, (2.0, 2), np_newton),
    (newton, (9.0, 0), np_newton),
    (fit, (9, 3, rng.standard_normal((9, 3)), rng.standard_normal(9), np.zeros(3), 20), np_fit),
    (fit, (9, 3, rng.standard_normal((9, 3)), rng.standard_normal(9), np.ones(3), 0), np_fit),
    (power_iteration, (SYMMETRIC, np.ones(5)), np_power_iteration),
    (cumulative, (5, IDS), np.cumsum(IDS)),
    (cross_entropy, (6, f32(6, 10), i32(10, 6)), np_cross_entropy),
    (is_prime, (1,), False),
    (is_prime, (91,), False),
    (is_prime, (97,), True),
    (nth_prime, (10,), 29),
    (polygon, ((1.0, 0.5), 6), (6 * np.hypot(1, 0.5), (0.0, 0.0))),
    (k_means, (20, POINTS, POINTS[:3]), np_k_means),
    (bubble_sort, (9, XS), np.sort(XS)),
    (bubble_sort, (0, XS[:0]), XS[:0]),
    (rope, (5, f32(5, 8)), np_rope),
    (lstm, (4, f32(4, 2, 3), f32(7, 16)), np_lstm),
    (mandelbrot, (5, 6, RE, IM, 20), np_mandelbrot),
    (embed, (5, TABLE, IDS), TABLE[IDS].mean(0)),
    (mixed, (HALF_A, HALF_B), HALF_A.astype(np.float32) @ HALF_B.astype(np.float32) + 1),
    (lcs, (8, 7, i32(3, 8), i32(3, 7)), np_lcs),
    (pooled_features, (f32(1, 1, 6, 6), f32(2, 1, 3, 3)), np_pooled_features),
    (histogram, (5, IDS % 5), np.bincount(IDS % 5, minlength=5)),
    (median, (EIGHT[:7],), np.median(EIGHT[:7])),
    (permutation, (8, EIGHT), (np.sort(EIGHT)[::-1], np.argsort(-EIGHT))),
    (running_sums, (IDS,), np.cumsum(IDS)),
    (extremes, (10, TABLE[:, :3]), (TABLE[:, :3].min(0), TABLE[:, :3].max(0))),
    (life, (7, 6, rng.random((7, 6)) < 0.4, 3), np_life),
]


def assert_close(found: Any, expected: Any) -> None:
    if isinstance(expected, tuple):
        assert len(found) == len(expected)
        for left, right in zip(found, expected):
            assert_close(left, right)
    else:
        np.testing.assert_allclose(np.asarray(found, float), np.asarray(expected, float), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(("function", "args", "expected"), CASES, ids=lambda case: getattr(case, "__name__", ""))
def test_programs(function: Any, args: tuple[Any, ...], expected: Any) -> None:
    name, program = function.function.name, function.program
    expected = expected(*args) if callable(expected) else expected
    results = expected if len(function.function.return_types) > 1 else (expected,)
    ir.verify(program)
    assert ir.structural_equal(ir.parse(str(program)), program)
    assert ir.structural_equal(ir.from_json(ir.to_json(program)), program)
    assert_close(function(*args), expected)
    for name_of_pass in ir.passes():
        transformed = ir.run_pass(program, name_of_pass)
        ir.verify(transformed)
        assert_close(ir.interpret(transformed, name, *args), results)
    lowered = ir.lower(program)
    for one in (lowered, lowered.simplify(), lowered.simplify(inline=True)):
        assert_close(one.run(*args, function=name), results)
