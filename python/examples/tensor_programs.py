"""A tensor program that is built, run, simplified, rewritten by a custom pattern, and searched."""

from __future__ import annotations

import numpy as np

from sapwood import ptir, rewrite


def layer() -> ptir.Program:
    """Builds ``relu(x @ w + b)`` with more ops than necessary."""
    b = ptir.Builder("layer")
    x = b.parameter("x", "f32[4, 8]")
    w = b.parameter("w", "f32[8, 8]")
    bias = b.parameter("b", "f32[8]")
    twice = b.transpose(b.transpose(x, perm=[1, 0]), perm=[1, 0])
    product = b.dot_general(twice, w, lhs_contract=[1], rhs_contract=[0])
    total = product + b.broadcast_to(bias, result_type="f32[4, 8]")
    return ptir.Program([b.finish(b.max(total, 0.0))])


@rewrite.pattern("max")
def max_with_zero(op: rewrite.Op, rw: rewrite.Rewriter) -> rewrite.Operand | None:
    """Replaces max(x, 0) by a call of a custom kernel."""
    x, other = op.operands
    constant = other.constant
    if constant is None or np.any(constant != 0):
        return None
    made: rewrite.Operand = rw.emit("kernels.relu", x, result_type=x.type)
    return made


def main() -> None:
    program = layer()
    inputs = [np.ones(shape, np.float32) for shape in ((4, 8), (8, 8), (8,))]
    before = program.run(*inputs)[0]

    simpler, report = rewrite.run(program, "simplify")
    print(f"{program.num_instructions} instructions, then {simpler.num_instructions}")
    shipped = report.passes[0]["greedy"]["patterns"]
    print("fired:", ", ".join(name for name, count in shipped.items() if count["applied"]))
    np.testing.assert_array_equal(simpler.run(*inputs)[0], before)

    with_kernel = rewrite.apply(simpler, [max_with_zero]).program
    print("ops:", ", ".join(one.op for one in with_kernel["layer"].instructions))
    for difference in ptir.diff(simpler, with_kernel):
        print(difference)

    (affine,) = rewrite.rules("pattern affine: add(dot_general(x, w), b)")
    (found,) = rewrite.find_matches(simpler, [affine])
    print("found at:", found["ops"][-1])


if __name__ == "__main__":
    main()
