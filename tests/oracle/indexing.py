"""Gather and scatter, element by element as documented, and by JAX: both must agree.

JAX drops a whole slice of a scatter if part of it is outside; here only the elements outside are dropped, so JAX is
compared only if slices are inside or have one element along every scattered axis.
"""

import jax
import numpy as np

from reductions import STEP, region
from shapes import ints
from tensors import ANY, NUMPY, STORED, is_complex, op, single_op_case


def draw_index_plan(draw, golden_rank=2):
    """Draws the dims of an input, its batch, indexed and dropped axes, and index vectors."""
    rank = draw.int(1, 4) if not draw.golden else draw.pick([2, 1, 2, 3])
    shape = [draw.any([1, 2, 3, 4, 5] if not draw.golden else [3, 4, 2]) for _ in range(rank)]
    axes = list(range(rank))
    batch = [a for a in axes if draw.chance(0.15)] if not draw.golden else [0] if draw.turn % 4 == 3 else []
    rest = [a for a in axes if a not in batch]
    mapped = [a for a in rest if draw.chance(0.6)]
    if draw.golden and not mapped:
        mapped = rest[:1]
    mapped = [mapped[i] for i in draw.rng.permutation(len(mapped))]
    sizes = [1 if a in batch else draw.int(0 if draw.chance(0.1) else 1, shape[a]) if draw.chance(0.6) else 1 for a in axes]
    left_out = [a for a in rest if sizes[a] == 1 and draw.chance(0.7)]
    # Batch dims of the indices, in the order of `index_batch_dims`, and others among them.
    extra = [draw.any([1, 2, 3]) for _ in range(draw.int(0, 2))] if not draw.golden else [draw.any([2, 3])]
    lead = [("b", i) for i in range(len(batch))] + [("e", i) for i in range(len(extra))]
    lead = [lead[i] for i in draw.rng.permutation(len(lead))]
    lead_shape = [shape[batch[i]] if k == "b" else extra[i] for k, i in lead]
    scalar = len(mapped) == 1 and draw.chance(0.3)
    vector = len(lead) if scalar else draw.int(0, len(lead))
    index_shape = list(lead_shape)
    if not scalar:
        index_shape.insert(vector, len(mapped))
    place = lambda p: p if scalar or p < vector else p + 1
    index_batch = [place(lead.index(("b", i))) for i in range(len(batch))]
    return shape, batch, mapped, sizes, left_out, lead, lead_shape, vector, tuple(index_shape), index_batch, scalar


def index_vectors(indices, vector, scalar):
    return indices[..., None] if scalar else np.moveaxis(indices, vector, -1)


def index_values(draw, shape, inside):
    t = draw.any(["i32", "i64", "u8", "i8", "u32"])
    if inside:
        return t, draw.ints(t, shape, low=0, high=2)
    return t, draw.ints(t, shape, low=-3, high=6) if draw.chance(0.8) else draw.ints(t, shape)


def interleave(offsets, window, lead, rank):
    """Returns the dims of a result: at `offsets` those of the window, elsewhere those of the indices."""
    w, l = iter(window), iter(lead)
    return [next(w) if i in offsets else next(l) for i in range(rank)]


def attributes_text(pairs):
    return ", ".join(f"{k} = {ints(v) if isinstance(v, list) else v}" for k, v, needed in pairs if needed or v)


def draw_window(draw, plan, inside):
    """Draws indices and the place of the window's axes among those of a result, for a plan of `draw_index_plan`."""
    shape, batch, mapped, sizes, left_out, lead, lead_shape, vector, index_shape, index_batch, scalar = plan
    t, indices = index_values(draw, index_shape, inside)
    vectors = index_vectors(indices, vector, scalar)
    window = [a for a in range(len(shape)) if a not in left_out and a not in batch]
    rank = len(window) + len(lead)
    offsets = sorted(int(i) for i in draw.rng.permutation(rank)[: len(window)])
    return t, indices, vectors, window, offsets, interleave(offsets, [sizes[a] for a in window], lead_shape, rank)


@op("gather", golden=6, weight=8)
def gather(draw):
    plan = draw_index_plan(draw)
    shape, batch, mapped, sizes, left_out, lead, _, vector, _, index_batch, _ = plan
    d = draw.dtype(STORED)
    a = np.asarray(draw.tensor(d, tuple(shape)))
    t, indices, vectors, window, offsets, out = draw_window(draw, plan, False)
    want = np.zeros(out, NUMPY[d])
    for at in np.ndindex(*out):
        outer = tuple(x for i, x in enumerate(at) if i not in offsets)
        inner = [x for i, x in enumerate(at) if i in offsets]
        place = [0] * len(shape)
        for axis, s in zip(mapped, vectors[outer].tolist()):
            place[axis] = max(0, min(int(s), shape[axis] - sizes[axis]))
        for i, axis in enumerate(batch):
            place[axis] = outer[lead.index(("b", i))]
        for axis, x in zip(window, inner):
            place[axis] += x
        want[at] = a[tuple(place)]
    if d in ("f32", "i32", "u8") and 0 not in out:
        numbers = jax.lax.GatherDimensionNumbers(
            tuple(offsets), tuple(left_out), tuple(mapped), tuple(batch), tuple(lead.index(("b", i)) for i in range(len(batch)))
        )
        theirs = jax.lax.gather(a, vectors, numbers, tuple(sizes), mode="clip")
        assert np.array_equal(np.asarray(theirs), want, equal_nan=d == "f32"), (theirs, want)
    attributes = attributes_text([
        ("offset_dims", offsets, True), ("collapsed_dims", left_out, False), ("input_batch_dims", batch, False), ("index_batch_dims", index_batch, False),
        ("start_index_map", mapped, True), ("index_vector_dim", vector, True), ("slice_sizes", sizes, True),
    ])
    return single_op_case("gather", [(d, a), (t, indices)], [(d, want)], attributes)


@op("scatter", golden=6, weight=8)
def scatter(draw):
    plan = draw_index_plan(draw)
    shape, batch, mapped, sizes, left_out, lead, _, vector, _, index_batch, _ = plan
    d = draw.dtype(ANY)
    kind = draw.any(["or"] if d == "bool" else ["sum", "prod"] if is_complex(d) else ["sum", "max", "min", "last"])
    a = draw.whole(d, tuple(shape)) if kind in ("sum", "prod") else np.asarray(draw.tensor(d, tuple(shape)))
    inside = draw.chance(0.3)
    t, indices, vectors, window, offsets, dims = draw_window(draw, plan, inside)
    u = draw.whole(d, tuple(dims)) if kind in ("sum", "prod") else np.asarray(draw.tensor(d, tuple(dims)))
    want, whole = a.copy(), True
    for at in np.ndindex(*dims):
        outer = tuple(x for i, x in enumerate(at) if i not in offsets)
        inner = [x for i, x in enumerate(at) if i in offsets]
        place = [0] * len(shape)
        for axis, s in zip(mapped, vectors[outer].tolist()):
            place[axis] = int(s)
            # JAX drops the slice if any of it is outside.
            whole &= sizes[axis] <= 1 or 0 <= int(s) <= shape[axis] - sizes[axis]
        for i, axis in enumerate(batch):
            place[axis] = outer[lead.index(("b", i))]
        for axis, x in zip(window, inner):
            place[axis] += x
        if all(0 <= p < n for p, n in zip(place, shape)):
            p = tuple(place)
            want[p] = u[at] if kind == "last" else STEP[kind](d, np.asarray(want[p]), np.asarray(u[at]))
    # JAX takes only the last of several updates if index vectors are empty.
    if whole and mapped and d in ("f32", "i32") and kind == "sum" and 0 not in dims:
        numbers = jax.lax.ScatterDimensionNumbers(
            tuple(offsets), tuple(left_out), tuple(mapped), tuple(batch), tuple(lead.index(("b", i)) for i in range(len(batch)))
        )
        theirs = jax.lax.scatter_add(a, vectors.astype(np.int64), u, numbers, mode="drop")
        assert np.array_equal(np.asarray(theirs), want), (theirs, want)
    body = f"(%x: {d}[], %y: {d}[]) {{\n    yield %y\n  }}" if kind == "last" else region(kind, d)
    attributes = attributes_text([
        ("update_window_dims", offsets, True), ("inserted_window_dims", left_out, False), ("input_batch_dims", batch, False),
        ("index_batch_dims", index_batch, False), ("scatter_dims", mapped, True), ("index_vector_dim", vector, True),
    ])
    return single_op_case("scatter", [(d, a), (t, indices), (d, u)], [(d, want)], attributes, body)

