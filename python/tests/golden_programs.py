"""The golden files of PTIR, rewriting, lowering, the front-end IR and StableHLO, through the bindings."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import ml_dtypes
import numpy as np
from golden import Case

from sapwood import _native, ir, ptir, rewrite
from sapwood.errors import ParseError, RunError, VerifyError


def text(case: Case) -> str:
    """Parses and prints a program."""
    output = str(ptir.parse(case.program))
    again = ptir.parse(output)
    assert str(again) == output
    assert ptir.first_mismatch(ptir.from_json(again.to_json()), again, ordered=True) is None
    return output


def verify(case: Case) -> str:
    """Returns each diagnostic with its location."""
    try:
        ptir.parse(case.program)
    except ParseError as error:
        problems = error.diagnostics
    else:
        raise AssertionError("the program is accepted")
    return listed(
        (f"{one.span.begin_line}:{one.span.begin_column}: ", [note for _, note in one.notes], one) for one in problems
    )


def listed(problems: Iterable[tuple[str, list[str], Any]]) -> str:
    """Returns each diagnostic after its location, with its notes and its help below."""
    lines = []
    for place, notes, one in problems:
        lines.append(f"{place}{one.severity}: {one.message}")
        lines += [f"  note: {note}" for note in notes]
        lines += [f"  help: {one.help}"] if one.help else []
    return "\n".join(lines)


def diff(case: Case) -> str:
    """Returns the differences between @left and @right."""
    program = ptir.parse(case.program)
    ordered = case.value("mode") == "ordered"
    left, right = program["left"], program["right"].with_name("left")
    found = ptir.diff(left, right, ordered=ordered)
    equal = ptir.equal(left, right, ordered=ordered)
    assert equal == (not found)
    first = ptir.first_mismatch(left, right, ordered=ordered)
    if equal:
        assert ptir.hash(left, ordered=ordered) == ptir.hash(right, ordered=ordered)
        assert first is None
        return "equal"
    assert first is not None
    return "\n".join([*map(str, found), f"first: {first.left}: {first.reason}"])


def values(lines: list[str]) -> list[Any]:
    """Returns the values of literals, found by running them."""
    found = []
    for line in lines:
        ty = line.rpartition(" : ")[2]
        text = f"ptir 1\n\nfunc @f() -> {ty} {{\n  %r = constant {line}\n  return %r\n}}"
        found.append(ptir.parse(text).run(exact=True)[0])
    return found


def allowed(tolerance: str, expected: Any) -> Any:
    """Returns the tolerance for each element."""
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
            # NaN in either part of a complex number, and any NaN payload, are equal.
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


def run(case: Case) -> tuple[Any, ...] | str:
    """Returns the results as values, which are compared without formatting, or the error."""
    inputs = values([line[4:] for line in case.program.splitlines() if line.startswith("//< ")])
    program = ptir.parse(case.program)
    try:
        return program.run(*inputs, function="f", exact=True)
    except RunError as error:
        return f"error: {error}"


def same_values(case: Case, output: tuple[Any, ...] | str) -> None:
    """Asserts that the results are within the tolerance of the file."""
    assert case.value("values") and case.value("tolerance")
    if isinstance(output, str) or case.expected.startswith("error: "):
        assert output == case.expected
        return
    expected = values(case.expected.splitlines())
    assert len(output) == len(expected)
    for found, wanted in zip(output, expected, strict=True):
        check(found, wanted, case.value("tolerance"))


def passes(case: Case) -> str:
    """Runs a pipeline twice and returns its result."""

    def once(program: str) -> str:
        made, report = rewrite.run(ptir.parse(program), case.value("pipeline"))
        return "".join(f"// {warning}\n" for warning in report.warnings) + str(made)

    output = once(case.program)
    assert once(output) == output
    return output


def patterns(case: Case) -> str:
    """Applies patterns to functions: they must fire in `fires…` and must not in `stays…`."""
    program = ptir.parse(case.program)
    names = case.values("fires")
    for function in program.functions:
        program, fired = _native.apply_shipped(program, names, function.name, case.value("floats", "exact"))
        if function.name.startswith("fires"):
            assert all(count for _, count in fired), fired
        if function.name.startswith("stays"):
            assert not any(count for _, count in fired), fired
    return str(program)


def laws(case: Case) -> str:
    """Applies a law of `optimize`: it must change functions named `fires…`, and must not change those named `stays…`."""
    before = ptir.parse(case.program)
    pipeline = f"optimize{{only={case.value('fires')},float={case.value('floats', 'exact')}}}"
    after, _ = rewrite.run(before, pipeline)
    (function,) = before.functions
    assert (str(before) != str(after)) == function.name.startswith("fires")
    return str(after)


def front_end(case: Case) -> str:
    """Parses and verifies a program, runs passes and prints it."""
    try:
        program = ir.parse(case.program, case.name)
        ir.verify(program, case.value("level", "well-formed"))
    except (ParseError, VerifyError) as error:
        assert error.diagnostics and error.span is not None
        assert all(one.message in str(error) for one in error.diagnostics)

        def place(span: Any) -> str:
            if not span.begin_line:
                return ""
            first, last = span.begin_column, span.end_column - 1
            if span.end_line != span.begin_line:
                last = len(case.program.split("\n")[span.begin_line - 1])
            return f"{span.begin_line}:{first}-{last}: " if last > first else f"{span.begin_line}:{first}: "

        return listed(
            (place(one.span), [f"{place(span)}{note}" for span, note in one.notes], one) for one in error.diagnostics
        )
    for name in case.values("pass"):
        program = ir.run_pass(program, name)
        ir.verify(program)
    assert str(ir.parse(str(program))) == str(program)
    return str(program)


def lower(case: Case) -> str:
    """Lowers a front-end program and returns the text or the diagnostics."""
    try:
        lowered = ir.lower(ir.parse(case.program, case.name))
    except VerifyError as error:
        return str(error)
    lowered.verify()
    assert str(ptir.parse(str(lowered))) == str(lowered)
    return str(lowered)


def stablehlo(case: Case) -> str:
    """Reads a StableHLO module and returns the text it is written back as, or the diagnostics."""
    try:
        program = ptir.from_stablehlo(case.program, case.name)
    except ParseError as error:
        return str(error)
    written = ptir.to_stablehlo(program)
    again = ptir.from_stablehlo(written, "output")
    assert ptir.first_mismatch(program, again, ordered=True) is None
    assert ptir.to_stablehlo(again) == written
    return "".join(f"// {note}\n" for note in program.notes) + written
