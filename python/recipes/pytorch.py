"""Simplifies a PyTorch model and runs the result with JAX: ``pip install torch jax``.

``torch.export`` writes the model as a graph of ATen ops. A table gives the JAX function of each op, so that JAX can trace the graph.
The table has the ops of this model; an op of yours that is missing takes one line. The weights are arguments of the program,
so that it stays small.
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import torch

import sapwood

OPS: dict[str, Any] = {
    "aten.addmm.default": lambda bias, x, w: x @ w + bias,
    "aten.permute.default": jnp.transpose,
    "aten.native_layer_norm.default": lambda x, shape, scale, shift, eps: _layer_norm(x, len(shape), scale, shift, eps),
    "aten._softmax.default": lambda x, axis, _: jax.nn.softmax(x, axis=axis),
    "aten.gelu.default": lambda x, approximate="none": jax.nn.gelu(x, approximate=approximate != "none"),
    "<built-in function getitem>": lambda values, n: values[n],
}


def _layer_norm(x: Any, rank: int, scale: Any, shift: Any, eps: float) -> tuple[Any, ...]:
    axes = tuple(range(-rank, 0))
    mean, var = x.mean(axes, keepdims=True), x.var(axes, keepdims=True)
    rstd = jax.lax.rsqrt(var + eps)
    return (x - mean) * rstd * scale + shift, mean, rstd


def jax_function(exported: torch.export.ExportedProgram) -> tuple[Any, dict[str, jax.Array]]:
    """Returns the graph as a function of the weights and the inputs, and the weights."""
    signature = exported.graph_signature
    names = {**signature.inputs_to_parameters, **signature.inputs_to_buffers}
    weights = {k: jnp.asarray(v.detach().numpy()) for k, v in exported.state_dict.items()}

    def function(weights: dict[str, jax.Array], *inputs: jax.Array) -> Any:
        values: dict[Any, Any] = {}
        remaining = iter(inputs)
        for node in exported.graph.nodes:
            if node.op == "placeholder":
                values[node] = weights[names[node.name]] if node.name in names else next(remaining)
            elif node.op == "output":
                return torch.fx.node.map_arg(node.args[0], lambda n: values[n])
            else:
                args, kwargs = torch.fx.node.map_arg((node.args, node.kwargs), lambda n: values[n])
                values[node] = OPS[str(node.target)](*args, **kwargs)
        return None

    return function, weights


class Mlp(torch.nn.Module):
    """A layer norm and two dense layers."""

    def __init__(self) -> None:
        super().__init__()
        self.norm = torch.nn.LayerNorm(32)
        self.layers = torch.nn.Sequential(torch.nn.Linear(32, 64), torch.nn.GELU(), torch.nn.Linear(64, 8))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.softmax(self.layers(self.norm(x)), dim=-1)


def main() -> None:
    torch.manual_seed(0)
    model, x = Mlp().eval(), torch.randn(16, 32)
    exported = torch.export.export(model, (x,)).run_decompositions()
    function, weights = jax_function(exported)
    inputs = jnp.asarray(x.numpy())

    program = sapwood.from_jax(function, weights, inputs)
    simpler, report = sapwood.rewrite.run(program, "inline,symbol-dce,simplify")
    print(f"{program.num_instructions} instructions before, {simpler.num_instructions} after")
    checked = program.check(simpler)
    print(checked)
    report.to_html("pytorch.html", title="an MLP from PyTorch", check=checked)

    (result,) = sapwood.to_jax(simpler)(weights, inputs)
    with torch.no_grad():
        expected = model(x).numpy()
    print(f"agrees with PyTorch: {bool(abs(result - expected).max() < 1e-5)}")


if __name__ == "__main__":
    main()
