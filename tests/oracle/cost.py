"""Compares the operations that `sapwood cost` counts with XLA's cost analysis, for StableHLO programs without loops.

    python tests/oracle/cost.py SAPWOOD FOLDER

`SAPWOOD` is the command, `FOLDER` has the programs, `NAME.mlir` or `NAME/model.mlir`. It needs jax. XLA counts operations that take many instructions on a processor
(`exp`, `tanh`, `rsqrt`) apart from the others; they are added here. The programs are simplified first, because XLA does not count unused instructions. Programs with loops are only printed: XLA counts their body once. The counts of the others must be within 5 percent;
`EXPLAINED` lists those that are not, with the reason.
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

from jax._src import xla_bridge
from jax._src.interpreters import mlir
from jax._src.lib import _jax
from jaxlib.mlir import ir

LIMIT = 0.05
PIPELINE = "inline,symbol-dce,simplify"
LOOPS = ("stablehlo.while", "stablehlo.case", "stablehlo.if")
EXPLAINED = {"keras_convnext_tiny": "`erfc` is one operation here, and a polynomial there"}


def by_xla(backend, text):
    """Returns the number of operations that XLA counts."""
    with mlir.make_ir_context():
        bytecode = mlir.module_to_bytecode(ir.Module.parse(text))
    module = _jax.mlir.mlir_module_to_xla_computation(bytecode, use_tuple_args=False).as_hlo_module()
    counts = _jax.hlo_module_cost_analysis(backend, module)
    return counts.get("flops", 0) + counts.get("transcendentals", 0)


def by_command(command, path):
    """Returns the number of operations that the command counts in `@main`, or `None` if it is not known."""
    run = subprocess.run([command, "cost", path, "--format", "json"], check=True, capture_output=True, text=True)
    (file,) = json.loads(run.stdout)["files"]
    (main,) = [one for one in file["functions"] if one["function"] == "main"]
    return main["flops"] if isinstance(main["flops"], int) else None


def main():
    command, folder = sys.argv[1:]
    backend = xla_bridge.get_backend("cpu")
    failed, compared = [], 0
    for path in sorted([*Path(folder).glob("*.mlir"), *Path(folder).glob("*/model.mlir")]):
        name = path.parent.name if path.stem == "model" else path.stem
        with tempfile.TemporaryDirectory() as made:
            simplified = Path(made) / "simplified.mlir"
            subprocess.run([command, "opt", path, "-p", PIPELINE, "-o", simplified], check=True)
            text = simplified.read_text()
            theirs, ours = by_xla(backend, text), by_command(command, simplified)
        has_loops = any(op in text for op in LOOPS)
        ratio = ours / theirs if ours is not None else float("nan")
        note = "loops" if has_loops else EXPLAINED.get(name, "")
        print(f"{name:28} {ours!s:>14} {theirs:14.0f} {ratio:8.4f}  {note}", flush=True)
        compared += not has_loops
        if not note and not abs(ratio - 1) <= LIMIT:
            failed.append(name)
    print(f"{compared} programs without loops compared, {len(failed)} more than {LIMIT:.0%} apart without an explanation")
    if failed:
        sys.exit(f"more than {LIMIT:.0%} apart: {', '.join(failed)}")


if __name__ == "__main__":
    main()
