"""Nodes of a small language with functions, for tests of visitors, mutators and walks."""

from __future__ import annotations

from typing import Any

from sapwood.structural import Object, field, py_class


@py_class("tests.Var", structural_eq="var")
class Var(Object):
    name: str = field(structural_eq="ignore")


@py_class("tests.Expr")
class Expr(Object):
    """The base class of expressions."""


@py_class("tests.Leaf")
class Leaf(Expr):
    value: int


@py_class("tests.Pair")
class Pair(Expr):
    left: Any
    right: Any


@py_class("tests.Block")
class Block(Expr):
    items: list[Any]


@py_class("tests.Lambda", scope=True)
class Lambda(Expr):
    params: list[Var] = field(structural_eq="def")
    body: Any
