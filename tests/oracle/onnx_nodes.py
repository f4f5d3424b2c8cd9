#!/usr/bin/env python3
"""Runs ONNX's own tests of single nodes through `sapwood run` and counts the results.

usage: onnx_nodes.py SAPWOOD [--pipeline PASSES] [--table FILE] [--only TEXT] [--show]

SAPWOOD is the command. Every test has a model with inputs and outputs; the results of `sapwood run --exact` are compared with the
outputs within the tolerance of the test. With --pipeline, the model is optimized first (`sapwood opt -p PASSES`), written as ONNX, and
read again. --table writes the counts by op as Markdown. Needs the packages onnx, numpy and ml_dtypes."""
import argparse, collections, concurrent.futures, os, subprocess, tempfile, warnings

import ml_dtypes
import numpy as np
import onnx
import onnx.numpy_helper

warnings.filterwarnings("ignore")
np.seterr(all="ignore")

# Types of elements that the command can read and write.
DTYPES = set("FLOAT UINT8 INT8 UINT16 INT16 INT32 INT64 BOOL FLOAT16 DOUBLE UINT32 UINT64 COMPLEX64 COMPLEX128 BFLOAT16 "
             "FLOAT8E4M3FN FLOAT8E5M2 UINT4 INT4".split())


def as_array(value):
    """Returns an input or output of a test as an array."""
    return onnx.numpy_helper.to_array(value) if isinstance(value, onnx.TensorProto) else np.asarray(value)


def plain(array):
    """Returns an array in a type that a NumPy file can hold."""
    if array.dtype.kind == "V" or array.dtype.name in ml_dtypes.__all__:
        if array.dtype.name in ("int4", "uint4"):
            return array.astype(np.int8 if array.dtype.name == "int4" else np.uint8)
        return array.view({1: np.uint8, 2: np.uint16}[array.dtype.itemsize])
    return array


def tensor_only(model):
    """Returns why a test is not about tensors of known element types, or None."""
    for info in list(model.graph.input) + list(model.graph.output):
        kind = info.type.WhichOneof("value")
        if kind != "tensor_type":
            return kind
        name = onnx.TensorProto.DataType.Name(info.type.tensor_type.elem_type)
        if name not in DTYPES:
            return name
    return None


def same(got, wanted, rtol, atol):
    if got.shape != wanted.shape:
        return f"shape {got.shape}, expected {wanted.shape}"
    if wanted.dtype.name == "bfloat16":
        rtol = max(rtol, 2.0**-7)  # neighbouring numbers
    if wanted.dtype.name in ml_dtypes.__all__ and wanted.dtype.name not in ("int4", "uint4"):
        got, wanted = got.view(wanted.dtype).astype(np.float64), wanted.astype(np.float64)
    else:
        wanted = plain(wanted)
    if got.dtype != wanted.dtype:
        return f"dtype {got.dtype}, expected {wanted.dtype}"
    if wanted.dtype.kind in "fc":
        ok = np.allclose(got, wanted, rtol=rtol, atol=atol, equal_nan=True)
    else:
        ok = np.array_equal(got, wanted)
    return None if ok else f"got {got.ravel()[:4]}, expected {wanted.ravel()[:4]}"


def run(command):
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    return None if done.returncode == 0 else (done.stderr.strip().splitlines() or ["?"])[-1]


def check(case, args):
    """Returns the outcome of one test, and a message."""
    why = tensor_only(case.model)
    if why:
        return "other types", why
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "model.onnx")
        onnx.save(case.model, path)
        if args.pipeline is not None:
            changed = os.path.join(folder, "changed.onnx")
            error = run([args.sapwood, "opt", path, "-p", args.pipeline, "-o", changed])
            if error:
                return "refused", error
            path = changed
        for number, (inputs, outputs) in enumerate(case.data_sets):
            command = [args.sapwood, "run", path, "--exact", "-o", os.path.join(folder, "out")]
            for i, array in enumerate(inputs):
                name = os.path.join(folder, f"{i}.npy")
                array = as_array(array)
                np.save(name, np.ascontiguousarray(plain(array)).reshape(array.shape))
                command += ["--in", name]
            error = run(command)
            if error:
                return "refused", error.replace(folder, "")
            for i, wanted in enumerate(outputs):
                got = np.load(os.path.join(folder, "out", f"result{i}.npy"))
                why = same(got, as_array(wanted), case.rtol, case.atol)
                if why:
                    return "wrong", f"output {i}: {why}"
    return "right", ""


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("sapwood")
    parser.add_argument("--pipeline")
    parser.add_argument("--table")
    parser.add_argument("--only")
    parser.add_argument("--show", action="store_true")
    args = parser.parse_args()
    from onnx.backend.test.loader import load_node_model_tests
    cases = [c for c in load_node_model_tests() if not args.only or args.only in c.name]
    counts, by_op, messages = collections.Counter(), {}, []
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for case, (outcome, message) in zip(cases, pool.map(lambda c: check(c, args), cases)):
            counts[outcome] += 1
            op = case.model.graph.node[0].op_type if len(case.model.graph.node) == 1 else "(several nodes)"
            by_op.setdefault(op, collections.Counter())[outcome] += 1
            if message and outcome != "other types":
                messages.append(f"{outcome}: {case.name}: {message}")
    if args.show:
        print("\n".join(messages))
    print(", ".join(f"{counts[k]} {k}" for k in ("right", "wrong", "refused", "other types")), f"of {len(cases)}")
    if args.table:
        write_table(args.table, counts, by_op, messages)


def write_table(path, counts, by_op, messages):
    rows = [
        "# ONNX's tests of single nodes",
        "",
        f"Written by `tests/oracle/onnx_nodes.py SAPWOOD --table` with onnx {onnx.__version__}: each test is run by `sapwood run --exact` "
        "and compared with the outputs that ONNX gives.",
        "",
        f"**{counts['right']} right, {counts['wrong']} wrong, {counts['refused']} refused**; {counts['other types']} are about strings, "
        "sequences, optional values, or element types that PTIR does not have.",
        "",
        "| op | right | wrong | refused | other types |",
        "| --- | --- | --- | --- | --- |",
    ]
    for op in sorted(by_op):
        row = by_op[op]
        rows.append(f"| {op} | " + " | ".join(str(row[k] or "") for k in ("right", "wrong", "refused", "other types")) + " |")
    with open(path, "w") as file:
        file.write("\n".join(rows) + "\n")


if __name__ == "__main__":
    main()
