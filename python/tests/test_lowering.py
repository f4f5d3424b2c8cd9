"""Lowering from the front-end IR to PTIR, and import from JAX."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import pytest

import sapwood
from sapwood import DataType, ir
from sapwood.errors import VerifyError


def test_lower() -> None:
    b = ir.Builder()
    with b.function("total", returns=[DataType.INT64]) as f:
        n = f.param("n", DataType.INT64)
        with b.for_("i", 0, n, init={"sum": 0}) as loop:
            b.yield_(loop.args[0] + loop.var)
        b.return_(loop.results[0])
    program = ir.lower(b.program())
    assert program.run(np.int64(10), function="total")[0] == 45


def test_lower_names_unsupported_constructs() -> None:
    x = ir.Var("x", ir.UnknownType())
    function = ir.Function("f", [x], [ir.UnknownType()], ir.ReturnStmt([x]))
    with pytest.raises(VerifyError) as caught:
        ir.lower(ir.Program([function]))
    assert caught.value.diagnostics


if os.environ.get("SAPWOOD_FULL"):

    def test_from_jax() -> None:
        import jax.numpy as jnp

        def layer(x: Any, w: Any) -> Any:
            return jnp.maximum(x @ w, 0).sum(axis=0)

        x, w = np.ones((3, 4), np.float32), np.full((4, 5), 0.5, np.float32)
        program = sapwood.from_jax(layer, x, w)
        (result,) = program.run(x, w, function="main")
        assert np.allclose(result, layer(x, w))
