"""A tour of the package, cell by cell: open it in an editor that supports ``# %%``, paste it into a notebook, or run it.

    python tutorial.py
"""

# %% [markdown]
# # User-defined nodes
# A node class has annotated fields. Two nodes are equal if their fields are; two variables, if they are bound in the same place.

# %%
from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np

from sapwood import ptir, rewrite
from sapwood.structural import Object, StructuralKey, field, py_class, structural_equal


@py_class(structural_eq="var")
class Var(Object):
    name: str = field(structural_eq="ignore")


@py_class
class Apply(Object):
    function: Node
    argument: Node


@py_class(scope=True)
class Lambda(Object):
    param: Var = field(structural_eq="def")
    body: Node


Node = Var | Apply | Lambda


def twice(name: str) -> Lambda:
    f, x = Var(name), Var("x")
    return Lambda(f, Lambda(x, Apply(f, Apply(f, x))))


print(twice("f"))
print("twice is twice:", structural_equal(twice("f"), twice("g")))

# %% [markdown]
# `StructuralKey` makes a node usable as a dict key: here, to keep one of each.

# %%
x = Var("x")
kept = {StructuralKey(node): node for node in (twice("f"), twice("g"), Lambda(x, x))}
print("different functions:", len(kept))

# %% [markdown]
# # A tensor program
# Every op is a method of the builder. Programs run on NumPy arrays.

# %%
b = ptir.Builder("mean")
values = b.parameter("values", "f32[2, 8]")
total = b.reduce_sum(b.neg(b.neg(values)), axes=[1])
program = ptir.Program([b.finish(total / 8.0)])
print(program)
data = np.arange(16, dtype=np.float32).reshape(2, 8)
print("means:", program.run(data)[0].tolist())

# %% [markdown]
# # Passes
# Passes return a new program and a report. A listener is called with every event.

# %%
steps: list[str] = []
simpler, report = rewrite.run(program, "simplify", listener=lambda event: steps.append(event.kind))
print(simpler)
print("instructions:", program.num_instructions, "then", simpler.num_instructions)
print("steps:", ", ".join(steps))
assert np.array_equal(simpler.run(data)[0], program.run(data)[0])

# %% [markdown]
# # A custom pattern
# Division by eight equals multiplication by an eighth, to the last bit, because both are powers of two.


# %%
@rewrite.pattern("div")
def div_by_power_of_two(op: rewrite.Op, rw: rewrite.Rewriter) -> rewrite.Operand | None:
    x, divisor = op.operands
    number = divisor.constant
    if number is None or not np.all(np.frexp(number)[0] == 0.5):
        return None
    made: rewrite.Operand = rw.mul(x, rw.constant(1 / number))
    return made


multiplied, _ = rewrite.apply(program, [div_by_power_of_two])
print("ops:", [one.op for one in multiplied["mean"].instructions])
assert np.array_equal(multiplied.run(data)[0], program.run(data)[0])

# %% [markdown]
# # Display
# A notebook displays the value of the last line of a cell; elsewhere, write a page and open it in a browser.

# %%
with tempfile.TemporaryDirectory() as folder:
    page = Path(folder) / "mean.html"
    multiplied.to_html(page)
    print("a page of", "at least 100 kB" if page.stat().st_size > 100_000 else "little")
