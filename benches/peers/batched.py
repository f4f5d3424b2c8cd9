"""Writes models with eight times the batch: `python batched.py FROM TO` reads `NAME/model.mlir` below FROM and writes `NAME_x8/model.mlir`
below TO.

A model is read as a JAX function, and `jax.vmap` adds an axis of eight to its data; weights stay as they are.
"""

import pathlib
import re
import sys

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax._src.interpreters import mlir
from jax._src.lib.mlir.dialects import hlo
from jaxlib.mlir import ir

TIMES = 8
# The inputs that are data. In all other models it is the last one.
DATA = {"jax_kmeans": [0, 1], "jax_hessian": [0], "flax_mlp_train": [-2, -1]}

TYPES = {
    "f32": np.float32, "f64": np.float64, "f16": np.float16, "bf16": jnp.bfloat16, "i1": np.bool_,
    "i8": np.int8, "i16": np.int16, "i32": np.int32, "i64": np.int64,
    "ui8": np.uint8, "ui16": np.uint16, "ui32": np.uint32, "ui64": np.uint64,
}  # fmt: skip
UNARY = {
    "abs": lax.abs, "cosine": lax.cos, "exponential": lax.exp, "floor": lax.floor, "is_finite": lax.is_finite, "log": lax.log,
    "logistic": lax.logistic, "negate": lax.neg, "not": lax.bitwise_not, "rsqrt": lax.rsqrt, "sign": lax.sign, "sine": lax.sin,
    "sqrt": lax.sqrt, "tanh": lax.tanh, "square": lax.square, "erf": lax.erf, "erfc": lax.erfc, "erf_inv": lax.erf_inv,
}  # fmt: skip
BINARY = {
    "add": lax.add, "and": lax.bitwise_and, "divide": lax.div, "maximum": lax.max, "minimum": lax.min, "multiply": lax.mul,
    "or": lax.bitwise_or, "power": lax.pow, "remainder": lax.rem, "shift_left": lax.shift_left,
    "shift_right_arithmetic": lax.shift_right_arithmetic, "shift_right_logical": lax.shift_right_logical,
    "subtract": lax.sub, "xor": lax.bitwise_xor,
}  # fmt: skip
COMPARE = {"EQ": lax.eq, "NE": lax.ne, "LT": lax.lt, "LE": lax.le, "GT": lax.gt, "GE": lax.ge}
# The reductions and scatters that JAX knows by their op.
SCATTER = {"add": lax.scatter_add, "multiply": lax.scatter_mul, "maximum": lax.scatter_max, "minimum": lax.scatter_min}


def shape_and_type(value):
    ty = ir.RankedTensorType(value.type)
    return tuple(ty.shape), TYPES[str(ty.element_type)]


def word(attribute):
    return re.search(r"(\w+)>$", str(attribute)).group(1)


def single_op(region):
    """Returns the name of the op that a region applies to its parameters, or None."""
    operations = list(region.blocks[0].operations)
    name = operations[0].name.split(".")[-1]
    return name if len(operations) == 2 and name in BINARY else None


class Reader:
    def __init__(self, module):
        self.functions = {op.name.value: op for op in module.body.operations}

    def call(self, name, args):
        return self.run(self.functions[name].regions[0], args, {})

    def run(self, region, args, outer):
        block = region.blocks[0]
        values = dict(outer)
        values.update(zip(block.arguments, args))
        for op in block.operations:
            operands = [values[v] for v in op.operands]
            name = op.name.split(".")[-1]
            if name == "return":
                return operands
            results = self.apply(name, op, operands, values)
            values.update(zip(op.results, results))
        return []

    def function_of(self, region, values):
        name = single_op(region)
        if name:
            return BINARY[name]
        return lambda *args: tuple(self.run(region, jax.tree.leaves(args), values))

    def apply(self, name, op, x, values):
        at = op.attributes
        ints = lambda key: tuple(at[key]) if key in at else None
        if name in UNARY:
            return [UNARY[name](*x)]
        if name in BINARY:
            return [BINARY[name](*x)]
        if name == "constant":
            shape, dtype = shape_and_type(op.results[0])
            return [np.array(at["value"]).astype(dtype).reshape(shape)]
        if name == "call":
            return self.call(at["callee"].value, x)
        if name == "while":
            condition, body = op.regions
            test = lambda carried: self.run(condition, carried, values)[0]
            return lax.while_loop(test, lambda carried: self.run(body, carried, values), x)
        if name == "case":
            branches = [lambda r=region: self.run(r, [], values) for region in op.regions]
            return lax.switch(x[0], branches)
        if name == "reduce":
            dims, half = ints("dimensions"), len(x) // 2
            function = self.function_of(op.regions[0], values)
            if half == 1:
                one = lambda a, b: jax.tree.leaves(function(a, b))[0]
                return [lax.reduce(x[0], x[1], function if single_op(op.regions[0]) else one, dims)]
            return lax.reduce(tuple(x[:half]), tuple(x[half:]), function, dims)
        if name == "reduce_window":
            window, number = ints("window_dimensions"), len(ints("window_dimensions"))
            steps, pads = ints("window_strides") or (1,) * number, at["padding"] if "padding" in at else None
            pads = [tuple(int(n) for n in p) for p in np.array(pads)] if pads is not None else [(0, 0)] * number
            return [lax.reduce_window(x[0], x[1], self.function_of(op.regions[0], values), window, steps, pads)]
        if name == "select":
            return [lax.select(*x)]
        if name == "clamp":
            return [lax.clamp(*x)]
        if name == "compare":
            return [COMPARE[word(at["comparison_direction"])](*x)]
        shape, dtype = shape_and_type(op.results[0])
        if name == "convert":
            return [lax.convert_element_type(x[0], dtype)]
        if name == "bitcast_convert":
            return [lax.bitcast_convert_type(x[0], dtype)]
        if name == "broadcast_in_dim":
            return [lax.broadcast_in_dim(x[0], shape, ints("broadcast_dimensions"))]
        if name == "reshape":
            return [lax.reshape(x[0], shape)]
        if name == "transpose":
            return [lax.transpose(x[0], ints("permutation"))]
        if name == "reverse":
            return [lax.rev(x[0], ints("dimensions"))]
        if name == "slice":
            return [lax.slice(x[0], ints("start_indices"), ints("limit_indices"), ints("strides"))]
        if name == "pad":
            edges = zip(ints("edge_padding_low"), ints("edge_padding_high"), ints("interior_padding"))
            return [lax.pad(x[0], x[1], list(edges))]
        if name == "concatenate":
            return [lax.concatenate(x, int(at["dimension"]))]
        if name == "iota":
            return [lax.broadcasted_iota(dtype, shape, int(at["iota_dimension"]))]
        if name == "dynamic_slice":
            return [lax.dynamic_slice(x[0], x[1:], ints("slice_sizes"))]
        if name == "dynamic_update_slice":
            return [lax.dynamic_update_slice(x[0], x[1], x[2:])]
        if name == "dot_general":
            dims = hlo.DotDimensionNumbers(at["dot_dimension_numbers"])
            contract = (tuple(dims.lhs_contracting_dimensions), tuple(dims.rhs_contracting_dimensions))
            batch = (tuple(dims.lhs_batching_dimensions), tuple(dims.rhs_batching_dimensions))
            return [lax.dot_general(*x, (contract, batch), preferred_element_type=dtype)]
        if name == "convolution":
            dims = hlo.ConvDimensionNumbers(at["dimension_numbers"])
            numbers = lax.ConvDimensionNumbers(
                (dims.input_batch_dimension, dims.input_feature_dimension, *dims.input_spatial_dimensions),
                (dims.kernel_output_feature_dimension, dims.kernel_input_feature_dimension, *dims.kernel_spatial_dimensions),
                (dims.output_batch_dimension, dims.output_feature_dimension, *dims.output_spatial_dimensions),
            )
            number = len(dims.input_spatial_dimensions)
            pads = np.array(at["padding"]).tolist() if "padding" in at else [(0, 0)] * number
            return [
                lax.conv_general_dilated(
                    *x,
                    ints("window_strides") or (1,) * number,
                    [tuple(p) for p in pads],
                    ints("lhs_dilation"),
                    ints("rhs_dilation"),
                    numbers,
                    int(at["feature_group_count"]),
                    int(at["batch_group_count"]),
                )
            ]
        if name == "gather":
            dims = hlo.GatherDimensionNumbers(at["dimension_numbers"])
            numbers = lax.GatherDimensionNumbers(
                tuple(dims.offset_dims), tuple(dims.collapsed_slice_dims), tuple(dims.start_index_map),
                tuple(dims.operand_batching_dims), tuple(dims.start_indices_batching_dims),
            )  # fmt: skip
            mode = lax.GatherScatterMode.PROMISE_IN_BOUNDS
            return [lax.gather(x[0], x[1], numbers, ints("slice_sizes"), mode=mode)]
        if name == "scatter":
            dims = hlo.ScatterDimensionNumbers(at["scatter_dimension_numbers"])
            numbers = lax.ScatterDimensionNumbers(
                tuple(dims.update_window_dims), tuple(dims.inserted_window_dims), tuple(dims.scattered_dims_to_operand_dims),
                tuple(dims.input_batching_dims), tuple(dims.scatter_indices_batching_dims),
            )  # fmt: skip
            scatter = SCATTER.get(single_op(op.regions[0]), lax.scatter)
            return [scatter(*x, numbers, mode=lax.GatherScatterMode.PROMISE_IN_BOUNDS)]
        raise NotImplementedError(op.name)


def batched(name, text):
    """Returns the text of a model whose data has one more axis, of eight."""
    with mlir.make_ir_context():
        module = ir.Module.parse(text)
        reader = Reader(module)
        inputs = [shape_and_type(v) for v in reader.functions["main"].regions[0].blocks[0].arguments]
        data = [n % len(inputs) for n in DATA.get(name, [-1])]
        axes = [0 if n in data else None for n in range(len(inputs))]
        function = jax.vmap(lambda *args: tuple(reader.call("main", list(args))), in_axes=axes)
        shapes = [
            jax.ShapeDtypeStruct((TIMES, *shape) if axis == 0 else shape, dtype)
            for axis, (shape, dtype) in zip(axes, inputs)
        ]
        return jax.jit(function, keep_unused=True).lower(*shapes).as_text()


def main():
    source, target = map(pathlib.Path, sys.argv[1:])
    for path in sorted(source.glob("*/model.mlir")):
        name = path.parent.name
        try:
            text = batched(name, path.read_text())
        except Exception as error:  # an op that is not read
            print(f"{name}: {type(error).__name__}: {str(error)[:300]}")
            continue
        folder = target / f"{name}_x{TIMES}"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "model.mlir").write_text(text)
        print(f"{name}: ok")


if __name__ == "__main__":
    jax.config.update("jax_enable_x64", True)
    main()
