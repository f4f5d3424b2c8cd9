#!/usr/bin/env python3
"""Runs models in ONNX Runtime, with its optimisations off, and compares their results with those of other forms of the same models.

usage: onnx_values.py FOLDER OTHER      each model below FOLDER with the one of the same path below OTHER

A model runs at two batches and two other extents if it has open ones. Prints the models that differ, those that ONNX Runtime does not run, which are
left out, and a count. Needs onnx, onnxruntime and numpy."""
import glob
import os
import subprocess
import sys

import numpy as np
import onnx
import onnxruntime as rt

# Inputs of more elements are not tried.
MAX_ELEMENTS = 4_000_000
SIZES = (32, 64, 96, 37, 320, 16, 512, 576, 8, 1, 4, 1024, 16000, 8000, 640, 2)
TYPES = {"float": "f4", "double": "f8", "float16": "f2", "bool": "?", "int8": "i1", "int16": "i2", "int32": "i4", "int64": "i8", "uint8": "u1"}


def session(path):
    """Opens a model without optimisations, on one thread."""
    options = rt.SessionOptions()
    options.graph_optimization_level, options.intra_op_num_threads = rt.GraphOptimizationLevel.ORT_DISABLE_ALL, 1
    options.log_severity_level = 4
    return rt.InferenceSession(path, options, providers=["CPUExecutionProvider"])


def count(path):
    """Returns the numbers of nodes without constants and of `Shape` nodes, subgraphs and functions included."""
    def nodes(graph):
        for node in graph.node:
            yield node.op_type
            for attribute in node.attribute:
                for inner in [attribute.g] if attribute.type == onnx.AttributeProto.GRAPH else attribute.graphs:
                    yield from nodes(inner)

    model = onnx.load(path, load_external_data=False)
    ops = [op for graph in (model.graph, *model.functions) for op in nodes(graph)]
    return {"nodes": sum(op != "Constant" for op in ops), "shapes": ops.count("Shape")}


def inputs(run, size, batch):
    """Random inputs. Open extents are `size`, those of the batch `batch`; the same symbol has the same extent."""
    rng, feed, symbols = np.random.default_rng(0), {}, {}
    for one in run.get_inputs():
        shape = []
        for axis, dim in enumerate(one.shape):
            if isinstance(dim, int) and dim > 0:
                shape.append(dim)
                continue
            is_batch = (isinstance(dim, str) and "batch" in dim.lower()) or (axis == 0 and len(one.shape) > 1)
            shape.append(symbols.setdefault(dim if isinstance(dim, str) else (one.name, axis), batch if is_batch else size))
        dtype = np.dtype(TYPES[one.type[len("tensor("):-1]])
        if one.name == "sr":
            feed[one.name] = np.full(shape, 16000, dtype)  # a rate of samples, of which models know two
        elif dtype.kind == "b":
            feed[one.name] = rng.integers(0, 2, shape).astype(dtype)
        elif dtype.kind in "iu":
            feed[one.name] = np.full(shape, size, dtype) if "len" in one.name else rng.integers(1, 8, shape).astype(dtype)
        else:
            feed[one.name] = rng.standard_normal(shape).astype(dtype)
    return feed


def moved(run, feed, wanted):
    """Returns how far each result moves when the inputs move by a millionth."""
    rng = np.random.default_rng(1)
    near = {k: (x * (1 + 1e-6 * rng.standard_normal(x.shape))).astype(x.dtype) if x.dtype.kind == "f" else x for k, x in feed.items()}
    pairs = zip(wanted, run.run(None, near))
    is_float = lambda a, b: isinstance(a, np.ndarray) and a.dtype.kind == "f" and a.shape == b.shape
    return [float(np.nanmax(np.abs(a - b), initial=0)) if is_float(a, b) else 0.0 for a, b in pairs]


def references(path):
    """Returns inputs, results, and how far these move, for each extent that is tried."""
    run, found = session(path), []
    is_open = any(not isinstance(dim, int) for one in run.get_inputs() for dim in one.shape)
    for batch in (1, 3) if is_open else (1,):
        cases = 0
        for size in SIZES:
            feed = inputs(run, size, batch)
            if sum(x.size for x in feed.values()) > MAX_ELEMENTS:
                continue
            try:
                wanted = run.run(None, feed)
                found.append((feed, wanted, moved(run, feed, wanted)))
                cases += 1
            except Exception:
                pass  # the model does not take this extent
            if cases == 2 or not is_open:
                break
    return found


def problem(path, cases):
    """Returns why the results of a model are not those of the references, or None."""
    run = session(path)
    for feed, wanted, slack in cases:
        for a, b, free in zip(wanted, run.run(None, feed), slack, strict=True):
            if not isinstance(a, np.ndarray):
                continue
            if a.shape != b.shape or a.dtype != b.dtype:
                return f"wrong: {a.dtype}{a.shape} became {b.dtype}{b.shape}"
            if a.dtype.kind != "f":
                if not np.array_equal(a, b):
                    return "wrong: other values"
                continue
            finite = np.isfinite(a)
            if not np.array_equal(finite, np.isfinite(b)):
                return "wrong: finite where it was not, or the reverse"
            bound = 1e-3 * max(1e-3, np.abs(a[finite]).max(initial=0)) + 10 * free
            if np.abs(a[finite] - b[finite]).max(initial=0) > bound:
                return "wrong: other values"
    return None


# The first line of a child that runs the original.
RUNS = "runs"


def compare(path, other):
    """Compares two models in a process of its own, because ONNX Runtime ends the process at some extents. Returns whether the first runs, and
    why the second does not have the same results."""
    done = subprocess.run([sys.executable, os.path.abspath(__file__), "--one", path, other], capture_output=True, text=True)
    first, _, rest = done.stdout.strip().partition("\n")
    if first != RUNS:
        return False, None
    return True, rest or (None if done.returncode == 0 else f"ends ONNX Runtime with {done.returncode}")


def compare_one(path, other):
    """Prints whether a model runs, and why another one does not have the same results."""
    try:
        cases = references(path)
    except Exception:
        cases = []
    if not cases:
        return
    print(RUNS, flush=True)
    try:
        why = problem(other, cases)
    except Exception as error:
        why = f"does not load: {str(error)[:160]}"
    print(why or "", flush=True)


def main():
    folder, other = sys.argv[1:3]
    right, wrong, left_out = 0, 0, []
    for path in sorted(glob.glob(os.path.join(folder, "**/*.onnx"), recursive=True)):
        name = os.path.relpath(path, folder)
        runs, why = compare(path, os.path.join(other, name))
        if not runs:
            left_out.append(name)
            continue
        right += why is None
        wrong += why is not None
        if why is not None:
            print(f"{name}: {why}", flush=True)
    if left_out:
        print(f"not run by ONNX Runtime: {', '.join(left_out)}")
    print(f"{right} of {right + wrong} models that ONNX Runtime runs have the same results")
    sys.exit(wrong > 0 or right == 0)


if __name__ == "__main__":
    compare_one(*sys.argv[2:4]) if sys.argv[1] == "--one" else main()
