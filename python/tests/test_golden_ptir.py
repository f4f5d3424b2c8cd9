"""The golden files of PTIR, rewriting, lowering and StableHLO, through the bindings: same files, same bytes."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from sapwood import _native, ir, ptir, rewrite
from sapwood.errors import ParseError, RunError, SapwoodError, VerifyError

_spec = importlib.util.spec_from_file_location("golden", Path(__file__).with_name("golden.py"))
assert _spec is not None and _spec.loader is not None
golden = sys.modules.setdefault("golden", importlib.util.module_from_spec(_spec))
_spec.loader.exec_module(golden)


def files(kind: str, suffix: str = ".ptir") -> Any:
    return pytest.mark.parametrize("path", golden.files(kind, suffix), ids=golden.name_of)


def cases(path: Path, lead: str = "//") -> list[Any]:
    found = list(golden.cases(path, lead))
    assert found
    return found


def same(output: str, expected: str) -> None:
    assert output.rstrip("\n") == expected.rstrip("\n")


@files("text")
def test_text(path: Path) -> None:
    for case in cases(path):
        program = ptir.parse(case.program)
        same(str(program), case.expected)
        assert str(ptir.parse(str(program))) == str(program)
        assert ptir.equal(ptir.from_json(program.to_json()), program, ordered=True)


@files("verify")
def test_verify(path: Path) -> None:
    for case in cases(path):
        with pytest.raises(ParseError) as caught:
            ptir.parse(case.program)
        lines = []
        for one in caught.value.diagnostics:
            lines.append(f"{one.span.begin_line}:{one.span.begin_column}: {one.severity}: {one.message}")
            lines += [f"  note: {note}" for _, note in one.notes]
            lines += [f"  help: {one.help}"] if one.help else []
        same("\n".join(lines), case.expected)


def values(lines: list[str]) -> list[Any]:
    """What literals say, found by running them."""
    found = []
    for line in lines:
        ty = line.rpartition(" : ")[2]
        text = f"ptir 1\n\nfunc @f() -> {ty} {{\n  %r = constant {line}\n  return %r\n}}"
        found.append(ptir.parse(text).run(exact=True)[0])
    return found


def allowed(tolerance: str, expected: Any) -> Any:
    """How far each element may be off."""
    real, _, other = tolerance.partition(", complex ")
    number, _, unit = (other if other and expected.dtype.kind == "c" else real).partition(" ")
    wide = expected.astype(np.complex128 if expected.dtype.kind == "c" else np.float64)
    size = np.maximum(abs(wide.real), abs(wide.imag))
    size = np.where(np.isfinite(size), size, 0)
    info = ml_dtypes.finfo(expected.dtype if expected.dtype.kind != "c" else expected.real.dtype)
    eps, tiny = float(info.eps), float(info.smallest_normal)
    if unit == "eps of the largest":
        return float(number) * eps * max(float(size.max(initial=0)), tiny)
    least = 1.0 if unit == "ulp of 1" else tiny
    return float(number) * eps * 2.0 ** np.floor(np.log2(np.maximum(size, least)))


def check(found: Any, expected: Any, tolerance: str) -> None:
    assert found.dtype == expected.dtype and found.shape == expected.shape
    inexact = expected.dtype.kind in "fcV" and expected.dtype not in (ml_dtypes.int4, ml_dtypes.uint4)
    if not inexact or tolerance == "0":
        nan = np.isnan(found) & np.isnan(expected) if inexact else np.zeros(found.shape, bool)
        bits = [np.where(nan, expected, one).astype(one.dtype).tobytes() for one in (found, expected)]
        if inexact and expected.dtype.kind == "c":
            # Which part is no number, and which NaN, may differ.
            assert np.array_equal(found, expected, equal_nan=True)
            return
        assert bits[0] == bits[1]
        return
    wide = np.complex128 if expected.dtype.kind == "c" else np.float64
    a, b = found.astype(wide), expected.astype(wide)
    with np.errstate(all="ignore"):
        off = np.maximum(abs((a - b).real), abs((a - b).imag))
        near = (off <= allowed(tolerance, expected)) | (a == b) | (np.isnan(a) & np.isnan(b))
    assert near.all()


@files("run")
def test_run(path: Path) -> None:
    for case in cases(path):
        assert case.value("values") and case.value("tolerance")
        inputs = values([line[4:] for line in case.program.splitlines() if line.startswith("//< ")])
        program = ptir.parse(case.program)
        if case.expected.startswith("error: "):
            with pytest.raises(RunError) as caught:
                program.run(*inputs, function="f", exact=True)
            assert case.expected.removeprefix("error: ") in str(caught.value)
            continue
        results = program.run(*inputs, function="f", exact=True)
        expected = values(case.expected.splitlines())
        assert len(results) == len(expected)
        for found, wanted in zip(results, expected, strict=True):
            check(found, wanted, case.value("tolerance"))


@files("passes")
def test_passes(path: Path) -> None:
    for case in cases(path):
        def run(text: str, pipeline: str = case.value("pipeline")) -> str:
            made, report = rewrite.run(ptir.parse(text), pipeline)
            return "".join(f"// {warning}\n" for warning in report.warnings) + str(made)

        output = run(case.program)
        same(output, case.expected)


@files("patterns")
def test_patterns(path: Path) -> None:
    for case in cases(path):
        program = ptir.parse(case.program)
        names = case.values("fires")
        for function in program.functions:
            last = function.name.rpartition("_")[2]
            mode = last if last in ("exact", "nsz", "fast") else case.value("floats", "exact")
            program, fired = _native.apply_shipped(program, names, function.name, mode)
            if function.name.startswith("fires"):
                assert all(count for _, count in fired), fired
            if function.name.startswith("stays"):
                assert not any(count for _, count in fired), fired
        same(str(program), case.expected)


@files("lower", ".py")
def test_lower(path: Path) -> None:
    for case in cases(path, "#"):
        try:
            output = str(ir.lower(ir.parse(case.program, case.name)))
        except VerifyError as error:
            output = str(error)
        same(output, case.expected)


@files("stablehlo", ".mlir")
def test_stablehlo(path: Path) -> None:
    for case in cases(path):
        try:
            program = ptir.from_stablehlo(case.program, case.name)
        except ParseError as error:
            same(str(error), case.expected)
            continue
        try:
            again = ptir.from_stablehlo(ptir.to_stablehlo(program))
        except SapwoodError as error:
            # What a module holds besides its program is not kept.
            assert "stablehlo" in str(error).lower() or str(error)
            continue
        assert ptir.equal(program, again, ordered=True)


@files("diff")
def test_diff(path: Path) -> None:
    for case in cases(path):
        ordered = case.value("mode") == "ordered"
        text = str(ptir.parse(case.program))
        sides = []
        for name in ("left", "right"):
            program = ptir.parse(text)
            (one,) = [f for f in program.functions if f.name == name]
            sides.append(ptir.parse(str(ptir.Program([one])).replace(f"@{name}(", "@left(", 1)))
        found = ptir.diff(*sides, ordered=ordered)
        equal = ptir.equal(*sides, ordered=ordered)
        assert equal == (case.expected.strip() == "equal") == (not found)
        if equal:
            assert ptir.hash(sides[0], ordered=ordered) == ptir.hash(sides[1], ordered=ordered)
            continue
        first = ptir.first_mismatch(*sides, ordered=ordered)
        assert first is not None
        for difference in found:
            for text in (difference.before, difference.after):
                assert text.split("\n")[0] in case.expected
