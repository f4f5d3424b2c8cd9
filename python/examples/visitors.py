"""A visitor that counts, a mutator that folds, and a walk that ends at the first match, on the front-end IR."""

from __future__ import annotations

from collections import Counter

from sapwood import DataType, ir
from sapwood.structural import Mutator, Stop, Visitor, replace, stop, walk

TEXT = """
def f(x: pi.INT64, y: pi.INT64) -> pi.INT64:
    a = x * (2 + 3) + 0
    return a + y * (1 + 1)
"""


class CountNodes(Visitor):
    """Counts the operators of a program."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()

    def visit_BinaryExpr(self, node: ir.BinaryExpr) -> None:
        self.counts[node.type_name()] += 1


class Fold(Mutator):
    """Adds constants, and removes additions of zero."""

    def visit_Add(self, node: ir.Add) -> ir.Expr | None:
        match node:
            case ir.Add(ir.ConstInt(left), ir.ConstInt(right)):
                return ir.ConstInt(left + right, DataType.INT64)
            case ir.Add(left, ir.ConstInt(0)):
                return left
            case _:
                return None


def first_constant(node: ir.ConstInt) -> Stop[int]:
    return stop(node.value)


def main() -> None:
    program = ir.parse(TEXT)
    before, after = CountNodes(), CountNodes()
    before.visit(program)
    folded: ir.Program = Fold().visit(program)
    after.visit(folded)
    print(folded)
    print("operators before:", dict(before.counts), "after:", dict(after.counts))
    print("the first constant:", walk(folded, [first_constant]))
    function = folded.functions["f"]
    print(replace(function, name="g").name, "has the body of f")


if __name__ == "__main__":
    main()
