"""An op that is defined by a NumPy function: built, fused by a rule, checked, and written as StableHLO."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

import sapwood
from sapwood import ptir, rewrite

Array = npt.NDArray[Any]


def decompose_gelu(op: rewrite.Rewriter, x: rewrite.Operand) -> Any:
    return op.mul(op.mul(x, 0.5), op.add(op.erf(op.mul(x, math.sqrt(0.5))), 1.0))


@sapwood.op("example.gelu", elementwise=True, decompose=decompose_gelu)
def gelu(x: Array) -> Array:
    """x times the normal distribution function of x."""
    normal = np.array([0.5 + 0.5 * math.erf(v * math.sqrt(0.5)) for v in x.ravel()], x.dtype)
    result: Array = x * normal.reshape(x.shape)
    return result


def main() -> None:
    builder = ptir.Builder("main")
    x = builder.parameter("x", "f32[4]")
    program = ptir.Program([builder.finish(gelu(x))])
    print(program)
    print("gelu of 0, 1, 2, 3:", program.run([0.0, 1.0, 2.0, 3.0])[0].round(4))
    core = rewrite.decompose(program)
    print("ops of the decomposition:", ", ".join(one.op for one in core.function().instructions))
    print("both compute", program.check(core, float="fast").verdict)
    print("in StableHLO:", next(line.strip() for line in ptir.to_stablehlo(program).splitlines() if "custom_call" in line))


if __name__ == "__main__":
    main()
