"""A tensor program: built, run, simplified, rewritten by a pattern of ours, searched."""

from __future__ import annotations

import numpy as np

from sapwood import ptir, rewrite


def layer() -> ptir.Program:
    """``relu(x @ w + b)``, written the long way."""
    b = ptir.Builder("layer")
    x = b.parameter("x", "f32[4, 8]")
    w = b.parameter("w", "f32[8, 8]")
    bias = b.parameter("b", "f32[8]")
    product = b.matmul(b.transpose(b.transpose(x, perm=[1, 0]), perm=[1, 0]), w)
    return ptir.Program([b.finish(b.max(product + b.broadcast_to(bias, shape=[4, 8]), 0.0))])


@rewrite.pattern("max")
def max_with_zero(op: rewrite.Op, rw: rewrite.Rewriter) -> object:
    """max(x, 0) = relu(x)"""
    x, other = op.operands
    constant = other.constant
    if constant is None or np.any(constant != 0):
        return None
    return rw.relu(x)


def main() -> None:
    program = layer()
    inputs = [np.ones(shape, np.float32) for shape in ((4, 8), (8, 8), (8,))]
    before = program.run(*inputs)[0]

    simpler, report = rewrite.run(program, "simplify")
    print(f"{program.num_instructions} instructions, then {simpler.num_instructions}")
    shipped = report.passes[0]["greedy"]["patterns"]
    print("fired:", ", ".join(name for name, count in shipped.items() if count["applied"]))
    np.testing.assert_array_equal(simpler.run(*inputs)[0], before)

    with_relu = rewrite.apply(simpler, [max_with_zero]).program
    print("ops:", ", ".join(one.op for one in with_relu["layer"].instructions))
    np.testing.assert_array_equal(with_relu.run(*inputs)[0], before)

    (found,) = rewrite.find_matches(simpler, rewrite.rules("pattern affine: add(matmul(x, w), b)"))
    print("found at:", found["ops"][-1])
    for difference in ptir.diff(simpler, with_relu):
        print(difference)


if __name__ == "__main__":
    main()
