"""Ops whose shape is an operand: the cases of the ops whose shape is an attribute, with the attribute as an operand."""

import re

import numpy as np

from tensors import OPS, Case, op, type_text


def open_type(d, rank):
    return f"{d}[{', '.join('?' * rank)}]"


def as_operands(static, dynamic, case, lists, attributes=(), keep_attributes=True):
    """Rewrites a case of one instruction: `lists` are the new operands, `attributes` the names that they replace."""
    (d, expected) = case.outputs[0]
    line = re.search(rf"%r = {static}( %[^{{:]*)?( {{.*}})? : ", case.program)
    rest = re.sub(r"^ {|}$", "", line.group(2) or "") if keep_attributes else ""
    for name in attributes:
        rest = re.sub(rf"(^|, ){name} = \[(\[[^\]]*\](, )?|[^\[\]])*\]", "", rest).removeprefix(", ")
    inputs = case.inputs + [("i64", np.asarray(a, np.int64)) for a in lists]
    names = [f"%{c}" for c in "abcdefgh"[: len(inputs)]]
    params = ", ".join(f"{n}: {type_text(t, np.shape(a))}" for n, (t, a) in zip(names, inputs))
    ty = open_type(d, np.ndim(expected))
    rest = f" {{{rest}}}" if rest else ""
    program = f"func @f({params}) -> {ty} {{\n  %r = {dynamic} {', '.join(names)}{rest} : {ty}\n  return %r\n}}\n"
    return Case(program, inputs, case.outputs, case.tolerance)


def numbers(case, name, default):
    found = re.search(rf"\b{name} = (\[(?:\[[^\]]*\](?:, )?|[^\[\]])*\])", case.program)
    return eval(found.group(1)) if found else default


@op("dims", golden=4)
def dims(draw):
    d = draw.dtype(["i32", "i64", "u32", "i8"])
    shape = (draw.int(0, 5), draw.int(0, 5))
    values = [shape[0], 2 * shape[1] + 1, shape[0] // 2, max(shape[1], 3), 200]
    a = np.asarray(draw.tensor("f32", shape))
    ty = type_text(d, (5,))
    text = f"func @f(%a: f32[?B, ?S]) -> {ty} {{\n"
    text += f"  %r = dims {{values = [?B, 2*?S + 1, floordiv(?B, 2), max(?S, 3), 200]}} : {ty}\n  return %r\n}}\n"
    out = np.asarray(values, np.int64).astype({"i32": np.int32, "i64": np.int64, "u32": np.uint32, "i8": np.int8}[d])
    return Case(text, [("f32", a)], [(d, out)])


def with_shape_operand(name):
    def draw_case(draw):
        case = OPS[name][0](draw)
        return as_operands(name, f"dynamic_{name}", case, [case.outputs[0][1].shape])

    return draw_case


for name, golden in [("reshape", 6), ("broadcast_in_dim", 6), ("iota", 4)]:
    op(f"dynamic_{name}", golden=golden)(with_shape_operand(name))


@op("dynamic_pad", golden=6)
def dynamic_pad(draw):
    case = OPS["pad"][0](draw)
    rank = np.ndim(case.inputs[0][1])
    names = ["low", "high", "interior"]
    lists = [np.asarray(numbers(case, name, [0] * rank), np.int64) for name in names]
    return as_operands("pad", "dynamic_pad", case, lists, keep_attributes=False)


@op("real_dynamic_slice", golden=6)
def real_dynamic_slice(draw):
    case = OPS["slice"][0](draw)
    rank = np.ndim(case.inputs[0][1])
    lists = [np.asarray(numbers(case, name, [1] * rank), np.int64) for name in ["starts", "limits", "strides"]]
    return as_operands("slice", "real_dynamic_slice", case, lists, keep_attributes=False)


@op("dynamic_gather", golden=6)
def dynamic_gather(draw):
    case = OPS["gather"][0](draw)
    sizes = np.asarray(numbers(case, "slice_sizes", []), np.int64)
    return as_operands("gather", "dynamic_gather", case, [sizes], ["slice_sizes"])


@op("dynamic_conv", golden=6)
def dynamic_conv(draw):
    case = OPS["convolution"][0](draw)
    spatial = np.ndim(case.inputs[0][1]) - 2
    pads = np.asarray(numbers(case, "pads", [[0, 0]] * spatial), np.int64).reshape(spatial, 2)
    return as_operands("convolution", "dynamic_conv", case, [pads], ["pads"])
