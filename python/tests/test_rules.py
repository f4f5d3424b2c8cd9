"""Subgraphs and rules from Python: find, explain, extract, rewrite."""

from __future__ import annotations

import numpy as np
import pytest

from sapwood import errors, ptir, rewrite

PROGRAM = """ptir 1

func @main(%x: f32[2, 3], %y: f32[3, 2]) -> f32[3, 2] {
  %t = transpose %x {perm = [1, 0]} : f32[3, 2]
  %m = mul %t, %y : f32[3, 2]
  %n = neg %m : f32[3, 2]
  %o = neg %n : f32[3, 2]
  return %o
}
"""

PATTERN = """ptir 1

func @transpose_mul(%a: f32[2, 3], %b: f32[3, 2]) -> f32[3, 2] {
  %t = transpose %a {perm = [1, 0]} : f32[3, 2]
  %m = mul %t, %b : f32[3, 2]
  return %m
}
"""


def program() -> ptir.Program:
    return ptir.parse(PROGRAM)


def ops(program: ptir.Program) -> list[str]:
    return [i.op for i in program["main"].walk()]


def test_a_function_is_found() -> None:
    (pattern,) = rewrite.subgraphs(PATTERN)
    assert pattern.name == "transpose_mul"
    assert pattern.num_ops == 2
    (match,) = rewrite.find_matches(program(), [pattern])
    assert match["legal"]
    assert match["reason"] is None
    assert sorted(i.op for i in match["ops"]) == ["mul", "transpose"]
    assert match["function"] == "main"
    assert not match["by_name"]


def test_a_subgraph_is_written_in_python() -> None:
    @rewrite.subgraph
    def transposed_product(op: rewrite.Recorder, x: rewrite.Term, p: rewrite.Term, y: rewrite.Term) -> object:
        return op.mul(op.transpose(x, perm=p), y)

    found = rewrite.find_matches(program(), [transposed_product])
    (match,) = found
    assert match["pattern"] == "transposed_product"
    assert match["bindings"]["x"].name == "%x"


def test_a_shared_term_is_one_op() -> None:
    @rewrite.subgraph
    def square_of_transposed(op: rewrite.Recorder, x: rewrite.Term, p: rewrite.Term) -> object:
        t = op.transpose(x, perm=p)
        return op.mul(t, t)

    assert square_of_transposed.num_ops == 2
    assert rewrite.find_matches(program(), [square_of_transposed]) == []
    (miss,) = rewrite.explain(program(), [square_of_transposed])
    assert miss.pattern == "square_of_transposed"
    assert miss.of == 2
    assert miss.reason


def test_the_subgraph_you_mean_and_the_one_you_want() -> None:
    @rewrite.rule(lambda op, x: op.neg(op.neg(x)))
    def neg_of_neg(op: rewrite.Recorder, x: rewrite.Term) -> object:
        return x

    assert neg_of_neg.name == "neg_of_neg"
    assert neg_of_neg.rewrites
    assert rewrite.check_rule(neg_of_neg) is None
    made, report = rewrite.apply(program(), [neg_of_neg])
    assert ops(made) == ["transpose", "mul", "return"]
    assert report.passes[0]["greedy"]["patterns"]["neg_of_neg"]["applied"] == 1


def test_attributes_are_bound_where_they_are_used() -> None:
    @rewrite.rule(lambda op, x, p: op.neg(op.transpose(x, perm=p)))
    def neg_before_transpose(op: rewrite.Recorder, x: rewrite.Term, p: rewrite.Term) -> object:
        return op.transpose(op.neg(x), perm=p)

    assert rewrite.check_rule(neg_before_transpose) is None
    turned = ptir.parse(
        "ptir 1 func @main(%x: f32[2, 3]) -> f32[3, 2] {"
        " %t = transpose %x {perm = [1, 0]} : f32[3, 2] %n = neg %t : f32[3, 2] return %n }"
    )
    (match,) = rewrite.find_matches(turned, [neg_before_transpose])
    assert match["attributes"] == {"p": (1, 0)}
    assert ops(rewrite.apply(turned, [neg_before_transpose]).program) == ["neg", "transpose", "return"]


def test_a_wrong_rule_has_a_counterexample() -> None:
    (wrong,) = rewrite.rules("rule wrong: sub(x, y) => sub(y, x)")
    counterexample = rewrite.check_rule(wrong)
    assert counterexample is not None
    assert "left:" in counterexample


def test_extraction_keeps_the_results() -> None:
    made = rewrite.extract(program(), rewrite.subgraphs(PATTERN))
    assert made.calls == [("transpose_mul", "main", "transpose_mul_0")]
    assert made.refused == []
    assert "call" in ops(made.program)
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    y = np.arange(6, dtype=np.float32).reshape(3, 2) - 2
    before, after = program().run(x, y), made.program.run(x, y, function="main")
    np.testing.assert_array_equal(before[0], after[0])


def test_rules_that_cannot_be_read() -> None:
    with pytest.raises(errors.ParseError) as caught:
        rewrite.rules("rule r: add(x, y) => add(x, z)", "mine.rules")
    assert "mine.rules:1:29" in str(caught.value)
    assert caught.value.span is not None
    with pytest.raises(errors.ParseError):
        rewrite.subgraph(lambda op, x: op.no_such_op(x))
    with pytest.raises(errors.ArgumentError, match="expected a term .*, found int"):
        rewrite.subgraph(lambda op, x: 3)
    with pytest.raises(errors.ArgumentError, match="take a result by its index"):
        rewrite.subgraph(lambda op, x: list(op.split(x)))
    with pytest.raises(errors.ArgumentError, match="expected a Subgraph or a Rule, found str"):
        rewrite.find_matches(program(), ["neg"])  # type: ignore[list-item]
    with pytest.raises(errors.ArgumentError, match="expected a Pattern or a Rule, found str"):
        rewrite.apply(program(), ["neg"])  # type: ignore[list-item]


def test_a_program_is_a_subgraph() -> None:
    block = ptir.from_stablehlo("""
module {
  func.func public @main(%arg0: tensor<2xf32>, %arg1: tensor<2xf32>) -> tensor<2xf32> {
    %0 = call @inner(%arg1) : (tensor<2xf32>) -> tensor<2xf32>
    %1 = stablehlo.multiply %arg0, %0 : tensor<2xf32>
    return %1 : tensor<2xf32>
  }
  func.func private @inner(%arg0: tensor<2xf32>) -> tensor<2xf32> {
    %0 = stablehlo.negate %arg0 : tensor<2xf32>
    %1 = stablehlo.negate %0 : tensor<2xf32>
    %2 = stablehlo.tanh %1 : tensor<2xf32>
    return %2 : tensor<2xf32>
  }
}""")
    (gate,) = rewrite.subgraphs_of(block, name="gate")
    assert (gate.name, gate.num_ops) == ("gate", 2)
    program = ptir.parse("""ptir 1 func @f(%x: f32[8], %y: f32[8]) -> f32[8] {
      %t = tanh %x : f32[8] %m = mul %t, %y : f32[8] return %m }""")
    assert len(rewrite.find_matches(program, [gate])) == 1
    assert [s.name for s in rewrite.subgraphs_of(block, name="gate", pipeline="")] == ["gate", "inner"]
    with pytest.raises(errors.VerifyError, match="parameter %x is not used by any op"):
        rewrite.subgraphs_of(ptir.parse("ptir 1 func @f(%x: f32[2], %y: f32[2]) -> f32[2] { %n = neg %y : f32[2] return %n }"))
