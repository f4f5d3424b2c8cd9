"""The rows of `onnx`: models simplified by whole processes, file to file.

usage: onnx.py [--ours COMMAND]

The models are those in $SAPWOOD_MODELS, or one that is generated. With `--ours`, COMMAND is the `sapwood` command; otherwise the peers are measured:
the time is that of onnxsim, the memory that of the Python peer with the least, and the nodes are those of the best right peer for each model. Every result is
run in ONNX Runtime, with its optimisations off, at two batches and two other extents where the model has open ones, and compared with the original.

Prints one JSON line per row, as `benches/README.md` describes. `models` of a line has the value of each model. This process stays small, because the peak
memory of a process includes that of its parent when it starts: models are loaded by a child, `--checker`."""

import glob
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

REPEATS = 5
BLOCKS, WIDTH = 500, 16
TIMEOUT = "300"
PEERS = {
    "onnxsim": "import onnx, onnxsim; onnx.save(onnxsim.simplify(onnx.load(src))[0], dst)",
    "onnxslim": "import onnx, onnxslim; onnx.save(onnxslim.slim(onnx.load(src)), dst)",
    "onnxoptimizer": "import onnx, onnxoptimizer; onnx.save(onnxoptimizer.optimize(onnx.load(src)), dst)",
    "onnxscript": "import onnx_ir as ir, onnxscript.optimizer as o, onnxscript.rewriter as r; "
    "m = ir.load(src); m = o.optimize(m) or m; ir.save(r.rewrite(m) or m, dst)",
    "onnxruntime": "import onnxruntime as rt; o = rt.SessionOptions(); o.graph_optimization_level = rt.GraphOptimizationLevel.ORT_ENABLE_BASIC; "
    "o.intra_op_num_threads = 1; o.log_severity_level = 3; o.optimized_model_filepath = dst; "
    "rt.InferenceSession(src, o, providers=['CPUExecutionProvider'])",
}
# The peer whose time is the target; the others run once.
TIMED = "onnxsim"


class Checker:
    """A child that loads models: it generates, counts nodes and compares results."""

    def __init__(self):
        self.start()

    def start(self):
        line = [sys.executable, os.path.abspath(__file__), "--checker"]
        self.child = subprocess.Popen(line, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def ask(self, *request):
        """Returns the answer, or None if the child ends, which ONNX Runtime does at some extents of some models."""
        print(json.dumps(request), file=self.child.stdin, flush=True)
        for line in self.child.stdout:
            if line.startswith("{"):
                return json.loads(line)
        self.child.wait()
        self.start()
        return None

    def open(self, path):
        answer = self.ask("open", path) or self.ask("count", path)
        if answer is None:
            raise RuntimeError(f"{path} cannot be loaded")
        return answer

    def check(self, path, dst):
        answer = self.ask("check", path, dst)
        if answer is None:
            self.ask("open", path)
            answer = {"why": "ends ONNX Runtime", "nodes": 0, "shapes": 0}
        return answer


def run(line):
    """Runs a process; returns its seconds, its peak memory in MB, and why it failed, or None."""
    with tempfile.TemporaryFile() as log:
        began = time.perf_counter()
        child = subprocess.Popen(line, stdout=log, stderr=subprocess.STDOUT)
        _, status, usage = os.wait4(child.pid, 0)
        seconds = time.perf_counter() - began
        child.returncode = os.waitstatus_to_exitcode(status)
        log.seek(0)
        words = log.read().decode("utf8", "replace").strip().splitlines()
    return seconds, usage.ru_maxrss / 1024, None if child.returncode == 0 else (words or ["?"])[-1][:160]


def measure(checker, model, repeats, line, dst):
    """Runs a tool on a model; returns its median time, its peak memory, and the verdict on its result."""
    if os.path.exists(dst):
        os.remove(dst)
    times, peak = [], 0.0
    for _ in range(repeats):
        seconds, memory, problem = run(line)
        times.append(seconds)
        peak = max(peak, memory)
        if problem is not None:
            break
    result = {"why": f"refused: {problem}"} if problem is not None else checker.check(model, dst)
    return {"ms": statistics.median(times) * 1e3, "mb": peak, **result}


def command_of(tool, ours, src, dst):
    if ours is not None:
        return [ours, "opt", src, "--float", "fast", "-q", "-o", dst]
    return ["timeout", TIMEOUT, sys.executable, "-c", f"src, dst = {src!r}, {dst!r}; {PEERS[tool]}"]


def emit(row, unit, models, value=None):
    line = {"area": "onnx", "row": row, "value": sum(models.values()) if value is None else value, "unit": unit, "n": len(models)}
    print(json.dumps(line | {"models": models}), flush=True)


def main():
    ours = sys.argv[2] if sys.argv[1:2] == ["--ours"] else None
    tools = ["sapwood"] if ours is not None else list(PEERS)
    checker = Checker()
    found = {tool: {} for tool in tools}
    before = {}
    with tempfile.TemporaryDirectory() as folder:
        paths = sorted(glob.glob(os.path.join(os.environ.get("SAPWOOD_MODELS") or folder, "*.onnx")))
        if not paths:
            paths = [os.path.join(folder, "blocks.onnx")]
            checker.ask("generate", paths[0])
        for path in paths:
            name, dst = os.path.basename(path), os.path.join(folder, "out.onnx")
            before[name] = checker.open(path)
            for tool in tools:
                repeats = REPEATS if tool in ("sapwood", TIMED) else 1
                found[tool][name] = measure(checker, path, repeats, command_of(tool, ours, path, dst), dst)
    # Models that ONNX Runtime runs: on the others no result can be checked.
    runnable = [name for name, model in before.items() if model["runs"]]
    for tool in tools:
        right = [name for name in runnable if found[tool][name]["why"] is None]
        print(f"{tool}: right on {len(right)} of {len(runnable)} models", flush=True)
        for name in runnable:
            if found[tool][name]["why"] is not None:
                print(f"  {name}: {found[tool][name]['why']}", flush=True)
    timed = found[tools[0]]
    emit("opt/all", "ms", {name: one["ms"] for name, one in timed.items()})
    peaks = {tool: max(one["mb"] for one in models.values()) for tool, models in found.items()}
    print(f"peaks: {peaks}", flush=True)
    least = min(peaks, key=peaks.get)
    emit("peak/all", "MB", {name: one["mb"] for name, one in found[least].items()}, peaks[least])
    for row, key in (("left/all", "nodes"), ("shapes/all", "shapes")):
        wrong = [name for name in runnable if ours is not None and timed[name]["why"] is not None]
        if wrong:
            print(json.dumps({"area": "onnx", "row": row, "error": f"not right: {', '.join(wrong)}"}), flush=True)
            continue
        # Where no peer is right, the model stays as it is.
        values = {name: [found[tool][name][key] for tool in tools if found[tool][name]["why"] is None] for name in runnable}
        emit(row, key, {name: min(list_, default=before[name][key]) for name, list_ in values.items()})


# The rest runs in the child.


def blocks(onnx, np):
    """A chain of blocks: a product, a sum, Relu, a copy, and two transpositions that cancel each other."""
    helper = onnx.helper
    nodes, weights, last = [], [], "x"
    for i in range(BLOCKS):
        for name, dims in (("w", (WIDTH, WIDTH)), ("b", (WIDTH,))):
            numbers = ((np.arange(np.prod(dims)) % 7 - 3) / 16).astype(np.float32).reshape(dims)
            weights.append(onnx.numpy_helper.from_array(numbers, f"{name}{i}"))
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


def check_requests():
    """Answers the requests of a `Checker`, one line each."""
    # Instead of the folder of this script, whose name is that of the package.
    sys.path[0] = os.path.join(os.path.dirname(__file__), "../../tests/oracle")
    import numpy as np
    import onnx
    from onnx_values import count, problem, references

    cases = []
    for line in sys.stdin:
        request, *arguments = json.loads(line)
        if request == "generate":
            onnx.save(blocks(onnx, np), arguments[0])
            answer = {}
        elif request == "open":
            try:
                cases = references(arguments[0])
            except Exception:
                cases = []
            answer = count(arguments[0]) | {"runs": bool(cases)}
        elif request == "count":
            answer = count(arguments[0]) | {"runs": False}
        else:
            try:
                answer = count(arguments[1]) | {"why": problem(arguments[1], cases)}
            except Exception as error:
                answer = {"why": f"does not load: {str(error)[:160]}", "nodes": 0, "shapes": 0}
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    check_requests() if sys.argv[1:] == ["--checker"] else main()
