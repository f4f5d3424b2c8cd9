"""The rows of `onnx` on onnxsim: whole processes, file to file, on the models in $SAPWOOD_MODELS or on the generated one.

Prints one JSON line per row, as `benches/README.md` describes."""

import glob
import json
import os
import subprocess
import sys
import tempfile
import time

import numpy as np
import onnx
from onnx import helper, numpy_helper

BLOCKS, WIDTH = 500, 16
SIMPLIFY = "import onnx, onnxsim, sys; onnx.save(onnxsim.simplify(onnx.load(sys.argv[1]))[0], sys.argv[2])"


def blocks():
    """The model that `benches/src/bin/onnx.rs` generates."""
    nodes, weights, last = [], [], "x"
    for i in range(BLOCKS):
        for name, dims in (("w", (WIDTH, WIDTH)), ("b", (WIDTH,))):
            numbers = ((np.arange(np.prod(dims)) % 7 - 3) / 16).astype(np.float32).reshape(dims)
            weights.append(numpy_helper.from_array(numbers, f"{name}{i}"))
        nodes += [
            helper.make_node("MatMul", [last, f"w{i}"], [f"p{i}"]),
            helper.make_node("Add", [f"p{i}", f"b{i}"], [f"s{i}"]),
            helper.make_node("Relu", [f"s{i}"], [f"r{i}"]),
            helper.make_node("Identity", [f"r{i}"], [f"c{i}"]),
            helper.make_node("Transpose", [f"c{i}"], [f"t{i}"], perm=[1, 0]),
            helper.make_node("Transpose", [f"t{i}"], [f"u{i}"], perm=[1, 0]),
        ]
        last = f"u{i}"
    info = [helper.make_tensor_value_info(name, 1, ["batch", WIDTH]) for name in ("x", last)]
    graph = helper.make_graph(nodes, "blocks", [info[0]], [info[1]], weights)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def count_nodes(graph):
    count = 0
    for node in graph.node:
        count += node.op_type != "Constant"
        for attribute in node.attribute:
            count += sum(map(count_nodes, [attribute.g] if attribute.type == onnx.AttributeProto.GRAPH else attribute.graphs))
    return count


def main():
    with tempfile.TemporaryDirectory() as folder:
        models = sorted(glob.glob(os.path.join(os.environ.get("SAPWOOD_MODELS", folder), "*.onnx")))
        if "SAPWOOD_MODELS" not in os.environ:
            models = [os.path.join(folder, "blocks.onnx")]
            onnx.save(blocks(), models[0])
        total, left, out = 0.0, 0, os.path.join(folder, "out.onnx")
        for model in models:
            times = []
            for _ in range(3):
                began = time.perf_counter()
                done = subprocess.run([sys.executable, "-c", SIMPLIFY, model, out], capture_output=True, check=False)
                times.append(time.perf_counter() - began)
            # A model that the peer refuses stays as it is.
            left += count_nodes(onnx.load(out if done.returncode == 0 else model).graph)
            total += min(times)
    for row, value, unit in (("opt/all", total * 1e3, "ms"), ("left/all", left, "nodes")):
        print(json.dumps({"area": "onnx", "row": row, "value": value, "unit": unit, "n": len(models)}), flush=True)


if __name__ == "__main__":
    main()
