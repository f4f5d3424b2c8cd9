"""Compares the ops that Sapwood leaves with those that Enzyme-JAX's optimiser leaves.

    python tests/oracle/enzyme.py SAPWOOD FOLDER

`SAPWOOD` is the command, `FOLDER` has the programs, each as `model.mlir` in a folder of its own. It needs the package enzyme-ad, in an environment of its own. Ours are counted after
`inline,symbol-dce,simplify{float=nsz}`, theirs after their optimiser, symbol-dce and cse; constants and terminators do not count, ops in regions do. No program may have more than Enzyme-JAX leaves.
"""

import subprocess
import sys
from pathlib import Path

from enzyme_ad.jax import enzyme_call, primitives
from jax._src.interpreters import mlir
from jaxlib.mlir import ir, passmanager

PIPELINE = "inline,symbol-dce,simplify{float=nsz}"
NOT_COUNTED = ("stablehlo.constant", "func.func", "func.return", "stablehlo.return")


def count(text, passes=""):
    """Returns the number of ops, after some passes."""
    with mlir.make_ir_context() as context:
        # Enzyme-JAX leaves attributes of a dialect of its own.
        context.allow_unregistered_dialects = True
        module = ir.Module.parse(text)
        if passes:
            passmanager.PassManager.parse(f"builtin.module({passes})").run(module.operation)
        left, pending = 0, [module.operation]
        while pending:
            for region in pending.pop().regions:
                for block in region:
                    for op in block:
                        left += op.operation.name not in NOT_COUNTED
                        pending.append(op.operation)
        return left


def by_enzyme(text):
    """Returns the number of ops that Enzyme-JAX leaves."""
    passes = primitives.optimization_passes(inline=True)
    made = enzyme_call.run_pass_pipeline(["main"], text, passes)
    made = made if isinstance(made, str) else made[-1]
    # Symbol-dce would remove a private function.
    return count(made.replace("func.func private @main", "func.func @main"), "symbol-dce,cse")


def main():
    command, folder = sys.argv[1:]
    totals, more = [0, 0], []
    for path in sorted(Path(folder).glob("*/model.mlir")):
        run = subprocess.run([command, "opt", path, "-p", PIPELINE, "--to", "mlir"], check=True, capture_output=True, text=True)
        ours, theirs = count(run.stdout), by_enzyme(path.read_text())
        totals = [totals[0] + ours, totals[1] + theirs]
        print(f"{path.parent.name:28} sapwood {ours:>6}  enzyme {theirs:>6}", flush=True)
        if ours > theirs:
            more.append(path.parent.name)
    print(f"{totals[0]} ops are left, Enzyme-JAX leaves {totals[1]}")
    if more:
        sys.exit(f"more ops than Enzyme-JAX leaves: {', '.join(more)}")


if __name__ == "__main__":
    main()
