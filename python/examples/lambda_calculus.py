"""User-defined node classes: expressions with functions, compared up to the names of their variables."""

from __future__ import annotations

from sapwood.structural import (
    Object,
    StructuralKey,
    field,
    get_first_structural_mismatch,
    map,
    py_class,
    structural_equal,
    structural_hash,
)


@py_class
class Expr(Object):
    """The base class of expressions."""

    def __add__(self, other: Expr) -> Expr:
        return Add(self, other)


@py_class
class Int(Expr):
    value: int


@py_class
class Add(Expr):
    lhs: Expr
    rhs: Expr


@py_class(structural_eq="var")
class Var(Expr):
    name: str = field(structural_eq="ignore")


@py_class(scope=True)
class Lambda(Expr):
    params: list[Var] = field(structural_eq="def")
    body: Expr


def fold(node: object) -> Expr | None:
    """Folds the sum of two numbers to a number."""
    match node:
        case Add(Int(a), Int(b)):
            return Int(a + b)
        case _:
            return None


def main() -> None:
    x, y = Var("x"), Var("y")
    f = Lambda([x], x + (Int(1) + Int(2)))
    g = Lambda([y], y + Int(3))
    assert not structural_equal(f, g)
    print(get_first_structural_mismatch(f, g))

    folded = map(f, fold)
    assert structural_equal(folded, g)
    assert structural_hash(folded) == structural_hash(g)
    assert len({StructuralKey(f), StructuralKey(g), StructuralKey(folded)}) == 2


if __name__ == "__main__":
    main()
