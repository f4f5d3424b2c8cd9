"""Writes the op tables in crates/onnx/src/ops from the schemas of the `onnx` package (1.23).

usage: onnx_ops.py write     writes crates/onnx/src/ops/table_*.rs
       onnx_ops.py check     compares them with the package; prints the differences and fails

A row is one op in one form; versions of an op that differ in types only share a row, except those of MEANINGS:
    NAME VERSION… | INPUT… -> OUTPUT… | ATTRIBUTE; …
An input `X?` may be left out; `X*` and `X+` stand for any number, or for at least one. An attribute is `NAME: TYPE` (required),
`NAME: TYPE?` (may be left out) or `NAME: TYPE = DEFAULT`. `deprecated` in place of the rest means that the version no longer has the op.
"""
import json, pathlib, sys
import numpy as np
import onnx
from onnx import defs, helper

OPS = pathlib.Path(__file__).resolve().parents[2] / "crates/onnx/src/ops"
DOMAINS = {"": "ai.onnx"} | {name: name for name in ("ai.onnx.ml", "ai.onnx.preview", "ai.onnx.preview.training")}
WIDTH = 140
# Versions that changed the meaning of an op, but not its form.
MEANINGS = {("PRelu", 7)}
# (file, domain, first letters)
FILES = [("table_a_l", "", "ABCDEFGHIJKL"), ("table_m_z", "", "MNOPQRSTUVWXYZ"), ("table_ml", "ai.onnx.ml", None),
         ("table_preview", "ai.onnx.preview", None), ("table_training", "ai.onnx.preview.training", None)]


def parameter_text(parameter, least):
    option = defs.OpSchema.FormalParameterOption
    if parameter.option == option.Optional:
        return parameter.name + "?"
    if parameter.option == option.Variadic:
        assert least in (0, 1), (parameter.name, least)
        return parameter.name + ("+" if least else "*")
    return parameter.name


def parameters_text(parameters, least):
    before = len([p for p in parameters if p.option == defs.OpSchema.FormalParameterOption.Single])
    return " ".join(parameter_text(p, max(0, min(least - before, 1))) for p in parameters)


def literal(value):
    if isinstance(value, bytes):
        return json.dumps(value.decode())
    if isinstance(value, float):
        return repr(float(str(np.float32(value))))
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(literal(v) for v in value) + "]"
    assert isinstance(value, int), value
    return str(value)


def attribute_text(spec):
    kind = spec.type.name.lower()
    if spec.required:
        return f"{spec.name}: {kind}"
    has_default = spec.default_value.name and spec.default_value.type
    if not has_default:
        return f"{spec.name}: {kind}?"
    return f"{spec.name}: {kind} = {literal(helper.get_attribute_value(spec.default_value))}"


def signature(schema):
    if schema.deprecated:
        return "deprecated"
    inputs, outputs = parameters_text(schema.inputs, schema.min_input), parameters_text(schema.outputs, schema.min_output)
    attributes = "; ".join(attribute_text(schema.attributes[name]) for name in sorted(schema.attributes))
    return f"{inputs} -> {outputs}".strip() + (f" | {attributes}" if attributes else "")


def table_rows(domain, letters):
    schemas = {}
    for schema in defs.get_all_schemas_with_history():
        if schema.domain == domain and (letters is None or schema.name[0] in letters):
            schemas.setdefault(schema.name, {})[schema.since_version] = signature(schema)
    for name in sorted(schemas):
        merged = []
        for version in sorted(schemas[name]):
            text = schemas[name][version]
            if merged and merged[-1][1] == text and (name, version) not in MEANINGS:
                merged[-1][0].append(version)
            else:
                merged.append(([version], text))
        for versions, text in merged:
            yield f"{name} {' '.join(map(str, versions))} | {text}"


def wrap_row(row):
    lines, line = [], ""
    for word in row.split(" "):
        if line and len(line) + 1 + len(word) > WIDTH:
            lines.append(line)
            line = "   "
        line = f"{line} {word}" if line else word
    return "\n".join(lines + [line])


def table(domain, letters):
    body = "\n".join(wrap_row(row) for row in table_rows(domain, letters))
    span = DOMAINS[domain] + (f", {letters[0]} to {letters[-1]}" if letters else "")
    return (f"//! The ops of {span}, written by `tests/oracle/onnx_ops.py` from the schemas of onnx {onnx.__version__}.\n\n"
            f'pub(super) const ROWS: &str = r#"\n{body}\n"#;\n')


# Element types that are named differently here, in the order of a row.
TYPES = {"float": "f32", "double": "f64", "float16": "f16", "bfloat16": "bf16", "bool": "bool"}
TYPES |= {f"{kind}{bits}": f"{kind[0]}{bits}" for bits in (2, 4, 8, 16, 32, 64) for kind in ("int", "uint")}
TYPES |= {"complex64": "c64", "complex128": "c128", "float8e4m3fn": "f8e4m3fn", "float8e4m3fnuz": "f8e4m3fnuz",
          "float8e5m2": "f8e5m2", "float8e5m2fnuz": "f8e5m2fnuz", "float8e8m0": "f8e8m0fnu", "float4e2m1": "f4e2m1fn"}


def input_types(schema):
    """Returns the type variable and the element types of each input."""
    allowed = {c.type_param_str: c.allowed_type_strs for c in schema.type_constraints}
    names = [(p.type_str, allowed.get(p.type_str, [p.type_str])) for p in schema.inputs]
    return [(var, {TYPES.get(n[7:-1]) for n in all if n.startswith("tensor(")} - {None}) for var, all in names]


def type_rows():
    """Returns the inputs that later versions of an op take in more element types: op, first and last opset, position, types."""
    schemas = {}
    for schema in defs.get_all_schemas_with_history():
        if schema.domain == "" and not schema.deprecated:
            schemas.setdefault(schema.name, {})[schema.since_version] = input_types(schema)
    rows = []
    for name, versions in sorted(schemas.items()):
        numbers = sorted(versions)
        for at, version in enumerate(numbers[:-1]):
            variables = set()
            for position, (variable, types) in enumerate(versions[version]):
                later = [versions[v][position][1] for v in numbers[at + 1:] if position < len(versions[v])]
                if variable in variables or not types or not set().union(*later) - types:
                    continue
                variables.add(variable)
                text = " ".join(t for t in TYPES.values() if t in types)
                row = [name, version, numbers[at + 1] - 1, position, text]
                if rows and rows[-1][0] == name and rows[-1][2] == version - 1 and rows[-1][3:] == row[3:]:
                    rows[-1][2] = row[2]
                else:
                    rows.append(row)
    return rows


def types_table():
    body = "\n".join(f"{name} {first} {last} {position} | {types}" for name, first, last, position, types in type_rows())
    return (f"//! The element types of inputs that later versions of ai.onnx extended, written by `tests/oracle/onnx_ops.py` from the schemas of onnx\n"
            f"//! {onnx.__version__}: op, first and last version of the operator set, position of the input, types.\n\n"
            f'pub(super) const ROWS: &str = "\n{body}\n";\n')


def newest_opsets():
    def version(domain):
        versions = [s.since_version for s in defs.get_all_schemas_with_history() if s.domain == domain]
        return max(versions) if domain else defs.onnx_opset_version()
    pairs = ", ".join(f'("{domain}", {version(domain)})' for domain in DOMAINS)
    return ("//! The newest versions of ONNX's operator sets, written by `tests/oracle/onnx_ops.py`.\n\n"
            f"pub(super) const NEWEST: &[(&str, i64)] =\n    &[{pairs}];\n")


def main():
    files = {name: table(domain, letters) for name, domain, letters in FILES} | {"newest": newest_opsets(), "table_types": types_table()}
    if sys.argv[1:] == ["write"]:
        for name, text in files.items():
            (OPS / f"{name}.rs").write_text(text)
        return
    assert sys.argv[1:] == ["check"], __doc__
    different = [name for name, text in files.items() if (OPS / f"{name}.rs").read_text() != text]
    print(f"{len(files) - len(different)} of {len(files)} tables are those of onnx {onnx.__version__}", *different)
    sys.exit(bool(different))


if __name__ == "__main__":
    main()
