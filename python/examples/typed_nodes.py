"""Node classes with precise types: containers, walks, keys and visitors under strict type checkers."""

from __future__ import annotations

from sapwood.structural import (
    Map,
    Mutator,
    Object,
    Seq,
    Set,
    Stop,
    StructuralKey,
    Visitor,
    field,
    fields,
    py_class,
    replace,
    skip,
    stop,
    structural_equal,
    walk,
)


@py_class(structural_eq="var")
class Name(Object):
    text: str = field(structural_eq="ignore")


@py_class
class Load(Object):
    name: Name
    offset: int = 0


@py_class(scope=True)
class Kernel(Object):
    """A list of loads, with the registers that each uses."""

    params: Seq[Name] = field(structural_eq="def")
    loads: Seq[Load]
    registers: Map[str, int] = field(default_factory=Map[str, int])
    tags: Set[str] = field(default_factory=Set[str])


class Offsets(Visitor):
    def __init__(self) -> None:
        self.found: list[int] = []

    def visit_Load(self, node: Load) -> object:
        self.found.append(node.offset)
        return skip


class Shift(Mutator):
    def visit_Load(self, node: Load) -> Load:
        return replace(node, offset=node.offset + 16)


def first_large(node: Load) -> Stop[str] | None:
    return stop(node.name.text) if node.offset > 16 else None


def kernel(text: str) -> Kernel:
    name = Name(text)
    loads = Seq([Load(name), Load(name, 8)])
    return Kernel(Seq([name]), loads, Map({"r0": 1}), Set(["fast"]))


def main() -> None:
    one, other = kernel("a"), kernel("b")
    assert structural_equal(one, other)
    assert len({StructuralKey(one), StructuralKey(other)}) == 1
    offsets = Offsets()
    offsets.visit(one)
    assert offsets.found == [0, 8]
    shifted = Shift().visit(one)
    assert walk(shifted, [first_large]) == "a"
    total: int = sum(load.offset for load in one.loads[1:]) + one.registers["r0"]
    names: list[str] = [tag.upper() for tag in one.tags]
    match one.loads[1]:
        case Load(Name(text), offset):
            print(text, offset, total, names, [one.name for one in fields(Kernel)])
        case _:
            raise AssertionError


if __name__ == "__main__":
    main()
