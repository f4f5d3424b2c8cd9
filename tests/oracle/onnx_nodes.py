#!/usr/bin/env python3
"""Runs ONNX's own tests of single nodes through `sapwood` and counts the results.

usage: onnx_nodes.py SAPWOOD [--all] [--pipeline PASSES] [--table FILE] [--only TEXT] [--show]

SAPWOOD is the command. Every test has a model with inputs and outputs; the results of `sapwood run --exact` are compared with the
outputs within the tolerance of the test. With --pipeline, the model is optimized first (`sapwood opt -p PASSES`), written as ONNX, and
read again. With --all, three more things are checked for each test:
- simplified by `sapwood opt` and written back, the model is still right;
- written back, it is right in ONNX Runtime wherever the original is (needs the package onnxruntime);
- with a symbol for every extent of every input, the types that are inferred for the outputs do not contradict the outputs.
--table writes the counts by op, and every test that is not right, as Markdown. Needs the packages onnx, numpy and ml_dtypes."""
import argparse, collections, concurrent.futures, copy, os, re, subprocess, sys, tempfile, warnings

import ml_dtypes
import numpy as np
import onnx
import onnx.numpy_helper

warnings.filterwarnings("ignore")
np.seterr(all="ignore")

# Types of elements that the command can read and write.
DTYPES = set("FLOAT UINT8 INT8 UINT16 INT16 INT32 INT64 BOOL FLOAT16 DOUBLE UINT32 UINT64 COMPLEX64 COMPLEX128 BFLOAT16 "
             "FLOAT8E4M3FN FLOAT8E5M2 FLOAT8E4M3FNUZ FLOAT8E5M2FNUZ FLOAT8E8M0 FLOAT4E2M1 UINT4 INT4 UINT2 INT2".split())
NARROW_INTEGERS = ("int4", "uint4", "int2", "uint2")

# Why a test is not right, by a pattern of its name.
EXCEPTIONS = [
    (r"bernoulli", "draws random numbers"),
    (r"training_dropout", "drops elements at random"),
    (r"image_decoder", "decodes an image file"),
    (r"attention_.*bf16", "sums of bf16 are rounded at other places; the results are within 2^-6 of each other"),
    (r"dft_inverse", "expects the rounding residue of another algorithm, 1.9e-7, in place of zero"),
]
OUTCOMES = ("right", "wrong", "refused", "other types")


def as_array(value):
    """Returns an input or output of a test as an array."""
    return onnx.numpy_helper.to_array(value) if isinstance(value, onnx.TensorProto) else np.asarray(value)


def plain(array):
    """Returns an array in a type that a NumPy file can hold."""
    if array.dtype.kind == "V" or array.dtype.name in ml_dtypes.__all__:
        if array.dtype.name in NARROW_INTEGERS:
            return array.astype(np.uint8 if array.dtype.name.startswith("u") else np.int8)
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
    if wanted.dtype.name in ml_dtypes.__all__ and wanted.dtype.name not in NARROW_INTEGERS:
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


def evaluated(case, args, path, folder):
    """Returns the outcome of running a model on the data of a test, and a message."""
    for inputs, outputs in case.data_sets:
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


def in_onnxruntime(case, path):
    """Returns whether ONNX Runtime, its optimisations off, gives the outputs of a test."""
    import onnxruntime as rt
    options = rt.SessionOptions()
    options.graph_optimization_level, options.log_severity_level = rt.GraphOptimizationLevel.ORT_DISABLE_ALL, 4
    try:
        session = rt.InferenceSession(path, options, providers=["CPUExecutionProvider"])
        for inputs, outputs in case.data_sets:
            feed = {i.name: as_array(x) for i, x in zip(session.get_inputs(), inputs)}
            for got, wanted in zip(session.run(None, feed), outputs):
                if same(plain(np.asarray(got)), as_array(wanted), max(case.rtol, 1e-3), max(case.atol, 1e-5)):
                    return False
    except Exception:
        return False
    return True


def expression(text, symbols):
    """Returns the value of an extent as `sapwood` prints it, or None."""
    names = {"floordiv": lambda a, b: a // b, "mod": lambda a, b: a % b, "max": max, "min": min}
    text = re.sub(r"\?([A-Za-z_]\w*)", r"s['\1']", text)
    try:
        return int(eval(text, {"__builtins__": {}}, names | {"s": symbols}))
    except (KeyError, SyntaxError, NameError, TypeError):
        return None


def listed_dims(body):
    """Splits a list of extents. Commas inside of parentheses separate arguments."""
    dims, depth = [""], 0
    for c in body:
        depth += (c == "(") - (c == ")")
        if c == "," and depth == 0:
            dims.append("")
        else:
            dims[-1] += c
    return [d.strip() for d in dims] if body else []


def contradictions(case, args, folder):
    """Infers the types of the outputs with a symbol for every extent of the inputs, and compares them with the outputs."""
    model, symbols = copy.deepcopy(case.model), {}
    inputs, outputs = case.data_sets[0]
    for k, (info, array) in enumerate(zip(model.graph.input, inputs)):
        dims = info.type.tensor_type.shape.dim
        if len(dims) != as_array(array).ndim:
            return None
        for axis, dim in enumerate(dims):
            dim.Clear()
            dim.dim_param = f"d{k}_{axis}"
            symbols[dim.dim_param] = as_array(array).shape[axis]
    for info in model.graph.output:
        info.type.tensor_type.ClearField("shape")
    path = os.path.join(folder, "symbolic.onnx")
    onnx.save(model, path)
    done = subprocess.run([args.sapwood, "fmt", path, "--to", "ptir"], capture_output=True, text=True, timeout=120)
    if done.returncode:
        return "refused: " + (done.stderr.strip().splitlines() or ["?"])[-1]
    header = next(line for line in done.stdout.splitlines() if line.startswith("func @main("))
    results = header[header.rindex("->"):] if "->" in header else ""
    types = re.findall(r"(opaque|[a-z]\w*\[(?:[^\[\]])*\])", results)
    for ty, wanted in zip(types, outputs):
        if ty == "opaque":
            continue
        dims = listed_dims(ty[ty.index("[") + 1:-1])
        shape = as_array(wanted).shape
        if len(dims) != len(shape):
            return f"{ty}, found {shape}"
        for dim, extent in zip(dims, shape):
            value = None if dim == "?" else expression(dim, symbols)
            if value is not None and value != extent:
                return f"{ty} with {symbols}, found {shape}"
    return None


def check(case, args):
    """Returns the outcome of one test, a message, and the failures of the other checks."""
    why = tensor_only(case.model)
    if why:
        return "other types", why, []
    failures = []
    with tempfile.TemporaryDirectory() as folder:
        path, changed = os.path.join(folder, "model.onnx"), os.path.join(folder, "changed.onnx")
        onnx.save(case.model, path)
        if args.pipeline is not None:
            error = run([args.sapwood, "opt", path, "-p", args.pipeline, "-o", changed])
            if error:
                return "refused", error, []
            path = changed
        outcome, message = evaluated(case, args, path, folder)
        if args.all:
            error = run([args.sapwood, "opt", path, "-o", changed])
            if error:
                failures.append(("simplified", error))
            else:
                after, why = evaluated(case, args, changed, folder)
                if outcome == "right" and after != "right":
                    failures.append(("simplified", f"{after}: {why}"))
                if in_onnxruntime(case, path):
                    failures.append(("runtime", None if in_onnxruntime(case, changed) else "no longer right in ONNX Runtime"))
            why = contradictions(case, args, folder)
            if why:
                failures.append(("symbolic", why))
    return outcome, message, failures


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("sapwood")
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--pipeline")
    parser.add_argument("--table")
    parser.add_argument("--only")
    parser.add_argument("--show", action="store_true")
    args = parser.parse_args()
    from onnx.backend.test.loader import load_node_model_tests
    cases = [c for c in load_node_model_tests() if not args.only or args.only in c.name]
    counts, by_op, messages, others = collections.Counter(), {}, [], []
    extra = collections.Counter()
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for case, (outcome, message, failures) in zip(cases, pool.map(lambda c: check(c, args), cases)):
            counts[outcome] += 1
            op = case.model.graph.node[0].op_type if len(case.model.graph.node) == 1 else "(several nodes)"
            by_op.setdefault(op, collections.Counter())[outcome] += 1
            if message and outcome != "other types":
                messages.append((case.name, outcome, message))
            for kind, why in failures:
                extra[kind, why is None] += 1
                if why:
                    others.append(f"{kind}: {case.name}: {why}")
    if args.show:
        print("\n".join([f"{outcome}: {name}: {message}" for name, outcome, message in messages] + others))
    print(", ".join(f"{counts[k]} {k}" for k in OUTCOMES), f"of {len(cases)}")
    if args.all:
        print(f"simplified: {extra['simplified', False]} failures; ONNX Runtime: {extra['runtime', True]} right before and after, "
              f"{extra['runtime', False]} only before; symbolic: {extra['symbolic', False]} contradictions")
    if args.table:
        write_table(args, counts, by_op, messages, extra)
    unexplained = [name for name, _, _ in messages if not any(re.search(pattern, name) for pattern, _ in EXCEPTIONS)]
    if unexplained:
        print(f"without a known reason: {', '.join(unexplained)}")
    sys.exit(bool(unexplained) or any(extra[what, False] for what in ("simplified", "runtime", "symbolic")))


def write_table(args, counts, by_op, messages, extra):
    tensors = sum(counts[k] for k in OUTCOMES[:3])
    rows = [
        "# ONNX's tests of single nodes",
        "",
        f"Written by `tests/oracle/onnx_nodes.py SAPWOOD --table` with onnx {onnx.__version__}: each test is run by `sapwood run --exact` "
        "and compared with the outputs that ONNX gives.",
        "",
        f"**{counts['right']} of {tensors} right, {counts['wrong']} wrong, {counts['refused']} refused**; {counts['other types']} more are about strings, "
        "sequences and optional values.",
        "",
    ]
    if args.all:
        rows += [
            f"- Simplified and written back, {counts['right'] - extra['simplified', False]} of the {counts['right']} are still right.",
            f"- ONNX Runtime gives the right outputs for {extra['runtime', True] + extra['runtime', False]} of the models as they are, and for "
            f"{extra['runtime', True]} of those after Sapwood simplified them.",
            f"- With a symbol for every extent of every input, inference contradicts the outputs of {extra['symbolic', False]} tests.",
            "",
        ]
    rows += ["## Exceptions", "", "| test | outcome | reason |", "| --- | --- | --- |"]
    for name, outcome, _ in sorted(messages):
        reason = next((why for pattern, why in EXCEPTIONS if re.search(pattern, name)), "not known")
        rows.append(f"| `{name}` | {outcome} | {reason} |")
    rows += ["", "## By op", "", "| op | right | wrong | refused | other types |", "| --- | --- | --- | --- | --- |"]
    for op in sorted(by_op):
        row = by_op[op]
        rows.append(f"| {op} | " + " | ".join(str(row[k] or "") for k in OUTCOMES) + " |")
    with open(args.table, "w") as file:
        file.write("\n".join(rows) + "\n")


if __name__ == "__main__":
    main()
