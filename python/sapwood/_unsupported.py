"""Finds the constructs of Python that a function of the front-end IR cannot contain, for messages that name them."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

__all__ = ["unsupported"]

_LOOPS = "a loop ends by its range or its condition"
_NAMED: dict[str, tuple[str, str]] = {
    "AsyncFor": ("an `async for`", ""),
    "AsyncFunctionDef": ("an async function", "write it with `def`"),
    "AsyncWith": ("an `async with`", ""),
    "Assert": ("an `assert`", ""),
    "Await": ("an `await`", ""),
    "Break": ("a `break`", _LOOPS),
    "ClassDef": ("a class", "write it outside the function"),
    "Continue": ("a `continue`", _LOOPS),
    "Delete": ("a `del`", ""),
    "Dict": ("a dict", ""),
    "DictComp": ("a dict comprehension", ""),
    "FunctionDef": ("an inner function", "write it outside, with `@pi.function`"),
    "GeneratorExp": ("a generator expression", "write a `for` loop"),
    "Global": ("a `global`", ""),
    "IfExp": ("a conditional expression", "write an `if` statement whose branches both assign the variable"),
    "Import": ("an `import`", "write it outside the function"),
    "ImportFrom": ("an `import`", "write it outside the function"),
    "JoinedStr": ("an f-string", ""),
    "Lambda": ("a `lambda`", "write a separate function with `def`"),
    "ListComp": ("a list comprehension", "write a `for` loop"),
    "Match": ("a `match`", "use `if` and `elif`"),
    "Nonlocal": ("a `nonlocal`", ""),
    "Raise": ("a `raise`", ""),
    "Set": ("a set", ""),
    "SetComp": ("a set comprehension", ""),
    "Starred": ("an unpacking with `*`", "write the items one by one"),
    "TemplateStr": ("a t-string", ""),
    "Try": ("a `try`", ""),
    "TryStar": ("a `try`", ""),
    "TypeAlias": ("a `type` statement", "write the type where it is used"),
    "Yield": ("a `yield`", "`pi.yield_(x)` gives the values of a body"),
    "YieldFrom": ("a `yield`", "`pi.yield_(x)` gives the values of a body"),
}
_COMPARISONS = {"In": "`in`", "Is": "`is`", "IsNot": "`is not`", "NotIn": "`not in`"}
_CONSTANTS = {"NoneType": "`None`", "bytes": "a bytes literal", "complex": "a complex number"}

#: A node, its description, and how to write it instead.
Found = tuple[Any, str, str]


def unsupported(function: ast.stmt) -> Iterator[Found]:
    """Yields the nodes that the IR does not have, in the order of the source, with what each is and how to write it instead."""
    if isinstance(function, ast.FunctionDef):
        pending: list[ast.AST] = [*reversed(function.body)]
        yield from _in_header(function)
    else:
        pending = [function]
    while pending:
        node = pending.pop()
        found = _found(node)
        if found is not None:
            yield found
            continue
        if isinstance(node, ast.Call):
            # Lists and strings are arguments and attributes of `pi`.
            pending.extend(one for one in reversed([node.func, *node.args]) if not _is_data(one))
        elif not (isinstance(node, (ast.Expr, ast.AnnAssign)) and _is_data(getattr(node, "value", None))):
            skipped = [getattr(node, "annotation", None), getattr(node, "slice", None), *(one for one in _targets(node) if isinstance(one, ast.List))]
            children = [one for one in ast.iter_child_nodes(node) if one not in skipped]
            pending.extend(reversed(children))


def _in_header(function: ast.FunctionDef) -> Iterator[Found]:
    arguments = function.args
    for one in getattr(function, "type_params", ()):
        yield one, "a type parameter", "a function has one type for each parameter"
    for positional in arguments.posonlyargs:
        yield positional, "a parameter before `/`", "leave out the `/`"
    for several, stars in ((arguments.vararg, "*"), (arguments.kwarg, "**")):
        if several is not None:
            yield several, f"a parameter with `{stars}`", "write the parameters one by one"
    for keyword in arguments.kwonlyargs:
        yield keyword, "a parameter after `*`", "leave out the `*`; functions take their arguments in order"
    for default in (*arguments.defaults, *arguments.kw_defaults):
        if default is not None:
            yield default, "the default of a parameter", "pass the argument"


def _is_data(node: object) -> bool:
    return isinstance(node, ast.List) or (isinstance(node, ast.Constant) and isinstance(node.value, str))


def _is_pi(node: ast.expr) -> bool:
    while isinstance(node, ast.Attribute):
        node = node.value
    return isinstance(node, ast.Name) and node.id == "pi"


def _found(node: ast.AST) -> Found | None:
    name = type(node).__name__
    if name in _NAMED and isinstance(node, (ast.expr, ast.stmt)):
        return (node, *_NAMED[name])
    if isinstance(node, (ast.For, ast.While)) and node.orelse:
        return node.orelse[0], "the `else` of a loop", "write the statements after the loop"
    if isinstance(node, ast.For):
        called = node.iter.func if isinstance(node.iter, ast.Call) else None
        if called is None or not (_is_pi(called) or (isinstance(called, ast.Name) and called.id == "range")):
            return node.iter, "a loop over anything but a range", "write `range`, `pi.range` or `pi.while_`"
    if isinstance(node, ast.With) and not all(isinstance(one.context_expr, ast.Call) and _is_pi(one.context_expr.func) for one in node.items):
        return node, "a `with`", "`pi.seq()` and `pi.ops()` are its only uses"
    if isinstance(node, ast.Compare):
        words = [_COMPARISONS[type(one).__name__] for one in node.ops if type(one).__name__ in _COMPARISONS]
        if words:
            return node, words[0], "`==` compares values"
        if len(node.ops) > 1:
            return node, "a chain of comparisons", "join two comparisons by `and`"
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.UAdd):
        return node, "a unary `+`", ""
    if isinstance(node, ast.Constant) and type(node.value).__name__ in _CONSTANTS:
        return node, _CONSTANTS[type(node.value).__name__], ""
    if _is_data(node) or (isinstance(node, ast.Constant) and node.value is ...):
        assert isinstance(node, (ast.List, ast.Constant))
        return node, "a list" if isinstance(node, ast.List) else "a string" if node.value is not ... else "an ellipsis", "it may be an argument or an attribute of `pi`"
    if isinstance(node, ast.Call) and node.keywords and not _is_pi(node.func):
        return node.keywords[0].value, "an argument by name", "functions take their arguments in order"
    if isinstance(node, ast.AnnAssign) and node.value is None:
        return node, "a declaration without a value", "assign a value"
    if isinstance(node, ast.Assign) and len(node.targets) > 1:
        return node, "an assignment to several targets", "write one assignment for each"
    for target in _targets(node):
        if isinstance(target, ast.Subscript):
            return target, "an assignment to an element", "`pi.op.dynamic_update_slice` returns a changed tensor"
        if isinstance(target, ast.Attribute):
            return target, "an assignment to an attribute", ""
        if isinstance(target, (ast.List, ast.Tuple)):
            if starred := next((one for one in target.elts if isinstance(one, ast.Starred)), None):
                return (starred, *_NAMED["Starred"])
            if any(not isinstance(one, ast.Name) for one in target.elts):
                return target, "an assignment to nested targets", "unpack one tuple after the other"
    return None


def _targets(node: ast.AST) -> list[ast.expr]:
    if isinstance(node, ast.Assign):
        return node.targets
    return [node.target] if isinstance(node, (ast.AnnAssign, ast.AugAssign)) else []
