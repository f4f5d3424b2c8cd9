"""The rows of rules on mlir-opt 22: one PDL pattern, matched by the transform dialect's interpreter.

Prints one JSON line per row, as `benches/README.md` describes. Needs `mlir-opt-22` (Debian package mlir-22-tools).
"""

import json
import subprocess
import sys

from mlir_opt import TIMED, find_tool, program_file, seconds

SIZES = [("1e4", 10_000, 5), ("1e5", 100_000, 3), ("1e6", 1_000_000, 1)]
LIMIT_SECONDS = 60

# The pattern mul(add(x, y), z), which is matched but not rewritten.
SCRIPT = """
transform.named_sequence @__transform_main(%module: !transform.any_op) {
  transform.with_pdl_patterns %module : !transform.any_op {
  ^bb0(%root: !transform.any_op):
    pdl.pattern @mul_of_add : benefit(1) {
      %t = pdl.type
      %x = pdl.operand
      %y = pdl.operand
      %z = pdl.operand
      %add = pdl.operation "arith.addf"(%x, %y : !pdl.value, !pdl.value) -> (%t : !pdl.type)
      %a = pdl.result 0 of %add
      %mul = pdl.operation "arith.mulf"(%a, %z : !pdl.value, !pdl.value) -> (%t : !pdl.type)
      pdl.rewrite %mul with "transform.dialect"
    }
    transform.sequence %root : !transform.any_op failures(propagate) {
    ^bb1(%all: !transform.any_op):
      %found = pdl_match @mul_of_add in %all : (!transform.any_op) -> !transform.any_op
    }
  }
  transform.yield
}
}
"""


def program(ops):
    t = "tensor<64xf32>"
    lines = ["module attributes {transform.with_named_sequence} {", f"func.func @main(%x: {t}, %y: {t}) -> {t} {{"]
    a, b = "x", "y"
    for i in range(ops):
        step = [
            f"arith.addf %{a}, %{b} : {t}",
            f"arith.mulf %{a}, %{b} : {t}",
            f"arith.subf %{a}, %{b} : {t}",
            f"math.exp %{a} : {t}",
        ][i % 4]
        lines.append(f"  %v{i} = {step}")
        a, b = f"v{i}", a
    lines += [f"  return %{a} : {t}", "}"]
    return "\n".join(lines) + "\n" + SCRIPT


def interpret(tool, path):
    command = [tool, *TIMED, "--transform-interpreter", path, "-o", "/dev/null"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=LIMIT_SECONDS)
    if done.returncode != 0:
        raise RuntimeError(done.stderr[-2000:])
    return seconds(done.stderr, "InterpreterPass")


def main():
    for size, ops, repeats in SIZES:
        row = {"area": "rules", "row": f"find/one/{size}"}
        try:
            tool = find_tool()
            with program_file(program(ops)) as path:
                value = min(interpret(tool, path) for _ in range(repeats)) * 1e9 / ops
            row |= {"value": value, "unit": "ns/node", "n": ops}
        except (RuntimeError, subprocess.TimeoutExpired) as error:
            row["error"] = str(error)
        print(json.dumps(row), flush=True)


if __name__ == "__main__":
    sys.exit(main())
