#!/usr/bin/env python3
"""Values of StableHLO ops from the interpreter of its specification, which jaxlib contains.

    interpreter.py            writes tests/golden/stablehlo/specification.mlir
    interpreter.py --check    compares the file with its output

The file is a program that checks itself. Sapwood's output follows it, accepted with BLESS=1.
"""

import re
import sys
from pathlib import Path

from jax._src.interpreters import mlir
from jaxlib.mlir import ir
from jaxlib.mlir.dialects import stablehlo

FILE = Path(__file__).resolve().parents[2] / "tests/golden/stablehlo/specification.mlir"
Z32, Z64 = "tensor<8xcomplex<f32>>", "tensor<6xcomplex<f64>>"
ALGORITHM = (
    "algorithm = <lhs_precision_type = {}, rhs_precision_type = {}, accumulation_type = {}, lhs_component_count = 1, "
    "rhs_component_count = 1, num_primitive_operations = 1, allow_imprecise_accumulation = false>"
)


def dot(*types):
    return "stablehlo.dot_general {0}, {1}, contracting_dims = [1] x [0], " + ALGORITHM.format(*types)


M32, M16 = "tensor<2x2xf32>", "tensor<2x2xf16>"
LEFT, RIGHT = "[[1.0, 2.5], [3.0, 4.0]]", "[[0.5, 1.0], [-2.0, 8.0]]"
EXTREMES = [
    "[(-0.0, 5.0), (0.0, 3.0), (1.5, 2.5), (3.5, 4.5), (-1.0, 2.0), (2.0, -0.5), (0.0, -1.0), (-3.0, 1.0)]",
    "[(0.0, 3.0), (-0.0, 5.0), (5.5, 7.5), (3.5, 3.5), (-1.0, 3.0), (2.0, -0.25), (-0.0, -2.0), (-4.0, 9.0)]",
]
FLOATS = "[0x7FC00000, 1.5, 3.0, 0x7F800000, 0xFF800000, -0.0, 1.0e-40, 3.3e38, -1.0e-3]"
# Away from the circle around -1, where the interpreter loses digits; the random cases of oracle.py cover it.
LOGARITHMS = "[(1.0, 1.0e-3), (-0.25, 0.5), (-0.5, 1.0e-9), (3.0, -4.0), (-0.75, -2.0), (1.0e100, 1.0e90)]"
CUBES = "[(0.0, 5.0), (1.0, 0.0), (-8.0, 0.0), (1.0e-3, 2.0), (-2.0, -2.0), (27.0, 1.0e-9), (-1.0, 1.0), (0.0, -27.0)]"
# The op with placeholders for operands, the operands with their types, the result type, and the tolerance.
CASES = [
    ("stablehlo.maximum {0}, {1}", [(EXTREMES[0], Z32), (EXTREMES[1], Z32)], Z32, "eq"),
    ("stablehlo.minimum {0}, {1}", [(EXTREMES[0], Z32), (EXTREMES[1], Z32)], Z32, "eq"),
    ("stablehlo.convert {0}", [("[(0.0, 5.0), (1.0, 0.0), (0.0, 0.0), (-0.0, -1.0), (-2.0, 3.0), (0.5, 0.5), (0.0, 1.0), (1.0, 1.0)]", Z32)], "tensor<8xi1>", "eq"),
    ("stablehlo.reduce_precision {0}, format = e8m0", [(FLOATS, "tensor<9xf32>")], "tensor<9xf32>", "eq"),
    ("stablehlo.reduce_precision {0}, format = e5m0", [(FLOATS, "tensor<9xf32>")], "tensor<9xf32>", "eq"),
    ("stablehlo.reduce_precision {0}, format = e5m2", [(FLOATS, "tensor<9xf32>")], "tensor<9xf32>", "eq"),
    ("stablehlo.log_plus_one {0}", [("[0.0, 1.0e-300, 1.0e-20, -1.0e-16, -0.5, 1.0e16]", "tensor<6xf64>")], "tensor<6xf64>", "close"),
    ("stablehlo.log_plus_one {0}", [(LOGARITHMS, Z64)], Z64, "close"),
    ("stablehlo.cbrt {0}", [(CUBES, Z32)], Z32, "close"),
    ("stablehlo.bitcast_convert {0}", [("[true, false, true, true, false, false, false, true]", "tensor<8xi1>")], "tensor<i8>", "eq"),
    ("stablehlo.bitcast_convert {0}", [("[3, 128]", "tensor<2xui8>")], "tensor<2x8xi1>", "eq"),
    ("stablehlo.bitcast_convert {0}", [("[[true, false, false, true], [true, true, false, false]]", "tensor<2x4xi1>")], "tensor<2xi4>", "eq"),
    ("stablehlo.bitcast_convert {0}", [("1.0", "tensor<f16>")], "tensor<16xi1>", "eq"),
    ("stablehlo.bitcast_convert {0}", [("[true, false]", "tensor<2xi1>")], "tensor<2xi1>", "eq"),
    (dot("tf32", "tf32", "f32"), [(LEFT, M32), (RIGHT, M32)], M32, "eq"),
    (dot("f32", "f32", "f32"), [(LEFT, M32), (RIGHT, M32)], M32, "eq"),
    (dot("f16", "f16", "f16"), [(LEFT, M16), (RIGHT, M16)], M16, "eq"),
    (dot("f16", "f16", "f32"), [(LEFT, M16), (RIGHT, M16)], M32, "eq"),
    (dot("f64", "f64", "f64"), [(LEFT, M32), (RIGHT, M32)], M32, "eq"),
]


def op_text(op, names, operands, result):
    types = [t for _, t in operands]
    short = set(types) == {result} and not re.search("bitcast|dot", op)
    stated = result if short else f"({', '.join(types)}) -> {result}"
    return f"{op.format(*names)} : {stated}"


def complex_parts(value, ty):
    """Returns a complex value as two lines, because the interpreter cannot return complex numbers."""
    if "complex" not in ty:
        return [], [(value, ty)]
    part = re.sub(r"complex<(\w+)>", r"\1", ty)
    names = [f"{value}_{p}" for p in ("real", "imag")]
    lines = [f"{n} = stablehlo.{p} {value} : ({ty}) -> {part}" for n, p in zip(names, ("real", "imag"))]
    return lines, [(n, part) for n in names]


def evaluate(op, operands, result):
    lines = [f"%{i} = stablehlo.constant dense<{v}> : {t}" for i, (v, t) in enumerate(operands)]
    names = [f"%{i}" for i in range(len(operands))]
    lines.append(f"%r = {op_text(op, names, operands, result)}")
    more, results = complex_parts("%r", result)
    shown = ", ".join(t for _, t in results)
    lines += more + [f"return {', '.join(n for n, _ in results)} : {shown}"]
    text = f"func.func @main() -> ({shown}) {{\n" + "\n".join(lines) + "\n}"
    with mlir.make_ir_context():
        return [str(v) for v in stablehlo.eval_module(ir.Module.parse(text), [])]


def golden_text():
    out = ["//! test: stablehlo", "// Values of the specification's interpreter, by tests/oracle/interpreter.py.", "func.func @main() {"]
    for n, (op, operands, result, how) in enumerate(CASES):
        names = [f"%{n}_{i}" for i in range(len(operands))]
        out += [f"  {name} = stablehlo.constant dense<{v}> : {t}" for name, (v, t) in zip(names, operands)]
        out.append(f"  %r{n} = {op_text(op, names, operands, result)}")
        more, results = complex_parts(f"%r{n}", result)
        out += [f"  {line}" for line in more]
        for (name, ty), value in zip(results, evaluate(op, operands, result)):
            out.append(f"  {name}_expected = stablehlo.constant {value}")
            out.append(f"  stablehlo.custom_call @check.expect_{how}({name}, {name}_expected) {{has_side_effect = true}} : ({ty}, {ty}) -> ()")
    return "\n".join(out + ["  return", "}"]) + "\n"


def main():
    text = golden_text()
    old = FILE.read_text() if FILE.exists() else ""
    kept = "".join(line for line in old.splitlines(keepends=True) if line.startswith("//>"))
    if "--check" in sys.argv[1:]:
        sys.exit(0 if old == text + kept else f"{FILE.name} has other values than the interpreter")
    FILE.write_text(text + kept)


if __name__ == "__main__":
    main()
