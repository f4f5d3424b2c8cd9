"""Corrupted pickles, with bytes changed, removed and inserted: reading gives a value or an exception."""

from __future__ import annotations

import io
import pickle
import random
from typing import Any

import numpy as np
import pytest

from sapwood import DataType, ir, ptir
from sapwood.structural import (
    Map,
    Node,
    Object,
    Seq,
    Set,
    StructuralKey,
    field,
    py_class,
    structural_equal,
    structural_hash,
)

#: Per value and protocol.
ROUNDS = 150


@py_class(structural_eq="var")
class Name(Object):
    text: str = field(structural_eq="ignore")


@py_class(scope=True)
class Bind(Object):
    names: list[Name] = field(structural_eq="def")
    body: Any


@py_class(structural_eq="singleton")
class Register(Object):
    number: int


def values() -> dict[str, Any]:
    x = Name("x")
    ty = ir.ScalarType(DataType.INT64)
    y, z = ir.Var("y", ty), ir.Var("z", ty)
    body = ir.AssignStmt(z, ir.Add(y, ir.ConstInt(1, DataType.INT64), DataType.INT64))
    program = ptir.parse("ptir 1 func @main(%x: f32[2]) -> f32[2] { %y = neg %x : f32[2] return %y }")
    return {
        "node": Bind([x], Seq([x, Register.get(3), np.arange(3.0), b"bytes", 1 << 80, 0.5, None, True])),
        "map": Map({"a": 1, (1, 2): Set({1, 2})}),
        "key": StructuralKey([1, "two"]),
        "ir": ir.Program([ir.Function("f", [y], [ty], body)]),
        "dtype": DataType.FP32,
        "span": ir.Span("a.py", 1, 2, 3, 4),
        "program": program,
        "function": program["main"],
        "type": ptir.Type.tensor("f32", [2, 3]),
    }


class Reader(pickle._Unpickler):  # type: ignore[name-defined,misc]
    """Finds only the names in the intact pickle, because any other name could run anything.

    It extends the unpickler written in Python; the native one would allocate a table as large as the largest number in a pickle.
    """

    def __init__(self, data: bytes, known: set[tuple[str, str]]) -> None:
        super().__init__(io.BytesIO(data))
        self.known = known

    def find_class(self, module: str, name: str) -> Any:
        if (module, name) not in self.known:
            raise pickle.UnpicklingError(f"no {module}.{name}")
        return super().find_class(module, name)


class Names(Reader):
    """Records the names in an intact pickle."""

    def find_class(self, module: str, name: str) -> Any:
        self.known.add((module, name))
        return pickle._Unpickler.find_class(self, module, name)  # type: ignore[attr-defined]


def changed(data: bytes, chance: random.Random) -> bytes:
    out = bytearray(data)
    for _ in range(chance.choice([1, 1, 1, 2, 5])):
        place = chance.randrange(len(out) + 1)
        match chance.randrange(5):
            case 0:
                out[place : place + 1] = bytes([chance.randrange(256)])
            case 1:
                del out[place : place + chance.randrange(1, 9)]
            case 2:
                out[place:place] = bytes(chance.choices(b'0123456789[]{},:"\\.()tRuse\x85\x86\x94', k=3))
            case 3:
                end = chance.randrange(len(out) + 1)
                out[place:place] = out[min(place, end) : max(place, end)][:200]
            case _:
                del out[place:]
    return bytes(out)


@pytest.mark.parametrize("name", values())
def test_changed_pickles(name: str) -> None:
    value, chance = values()[name], random.Random(name)
    good = bad = 0
    for protocol in (0, 2, pickle.HIGHEST_PROTOCOL):
        data = pickle.dumps(value, protocol)
        known: set[tuple[str, str]] = set()
        Names(data, known).load()
        for _ in range(ROUNDS):
            try:
                read = Reader(changed(data, chance), known).load()
            except Exception:
                bad += 1
                continue
            good += 1
            if isinstance(read, Node):
                assert repr(read) and structural_equal(read, read)
                assert structural_hash(pickle.loads(pickle.dumps(read)), map_free_vars=True) == structural_hash(
                    read, map_free_vars=True
                )
    assert bad > ROUNDS and good + bad == 3 * ROUNDS
