"""The golden files of tensor programs, through the bindings: same files, same bytes."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest

from sapwood import ptir, rewrite
from sapwood.errors import ParseError, RunError, SapwoodError

_spec = importlib.util.spec_from_file_location("golden", Path(__file__).with_name("golden.py"))
assert _spec is not None and _spec.loader is not None
golden = sys.modules.setdefault("golden", importlib.util.module_from_spec(_spec))
_spec.loader.exec_module(golden)


def text(case: golden.Case) -> str:  # type: ignore[name-defined]
    program = ptir.parse(case.program)
    shown = str(program)
    assert str(ptir.parse(shown)) == shown
    assert ptir.equal(ptir.from_json(program.to_json()), program, ordered=True)
    return shown


def verify(case: golden.Case) -> str:  # type: ignore[name-defined]
    with pytest.raises(ParseError) as caught:
        ptir.parse(case.program)
    out = []
    for problem in caught.value.diagnostics:
        place = f"{problem.span.begin_line}:{problem.span.begin_column}"
        out.append(f"{place}: {problem.severity}: {problem.message}")
        out += [f"  note: {note}" for _, note in problem.notes]
        out += [f"  help: {problem.help}"] if problem.help else []
    return "\n".join(out)


def passes(case: golden.Case) -> str:  # type: ignore[name-defined]
    made, report = rewrite.run(ptir.parse(case.program), case.value("pipeline"))
    return "".join(f"// {warning}\n" for warning in report.warnings) + str(made)


HANDLERS = {"text": text, "verify": verify, "passes": passes}


@pytest.mark.parametrize(
    ("kind", "path"),
    [(kind, path) for kind in HANDLERS for path in golden.files(kind, ".ptir")],
    ids=lambda value: value if isinstance(value, str) else golden.name_of(value),
)
def test_golden(kind: str, path: Path) -> None:
    ran = 0
    for case in golden.cases(path):
        assert HANDLERS[kind](case).rstrip("\n") == case.expected.rstrip("\n")
        ran += 1
    assert ran


def array(line: str) -> np.ndarray:
    """The array that a line of a golden file shows: `[1.0, 2.0] : f32[2]`."""
    ty = line.rsplit(" : ", 1)[1]
    program = ptir.parse(f"ptir 1 func @c() -> {ty} {{ %c = constant {line} return %c }}")
    made: np.ndarray = program.run()[0]
    return made


def allowed(expected: np.ndarray, tolerance: str) -> np.ndarray | float:
    """How far an element may be from the expected one."""
    real, _, other = tolerance.partition(", complex ")
    words = ((other or real) if expected.dtype.kind == "c" else real).split(" ", 1)
    if words == ["0"]:
        return 0.0
    info = ml_dtypes.finfo(expected.real.dtype)
    eps = float(info.eps)
    size = np.abs(expected.astype(np.complex128))
    finite = np.where(np.isfinite(size), size, 0.0)
    ulps = np.maximum(eps * 2.0 ** np.floor(np.log2(np.maximum(finite, 1e-320))), float(info.smallest_subnormal))
    scale = {"ulp": ulps, "ulp of 1": np.maximum(ulps, eps), "eps of the largest": eps * finite.max(initial=0.0)}
    # Halves of complex numbers are held to the whole, by a little more than one of its ulps.
    return float(words[0]) * scale[words[1]] * (2.0 if expected.dtype.kind == "c" else 1.0)


def compare(found: np.ndarray, expected: np.ndarray, tolerance: str) -> None:
    assert found.dtype == expected.dtype
    assert found.shape == expected.shape
    if expected.dtype.kind in "biu" or expected.dtype in (ml_dtypes.int4, ml_dtypes.uint4):
        assert found.tobytes() == expected.tobytes()
        return
    wide = np.complex128 if expected.dtype.kind == "c" else np.float64
    with np.errstate(all="ignore"):
        a, b = found.astype(wide), expected.astype(wide)
        same = (a == b) | (np.isnan(a) & np.isnan(b)) | (np.abs(a - b) <= allowed(expected, tolerance))
    assert same.all(), (found, expected)


@pytest.mark.parametrize("path", golden.files("run", ".ptir"), ids=golden.name_of)
def test_values(path: Path) -> None:
    ran = 0
    for case in golden.cases(path):
        inputs = [array(line[4:]) for line in case.program.split("\n") if line.startswith("//< ")]
        try:
            results = ptir.parse(case.program).run(*inputs, function="f", exact=True)
        except RunError as error:
            assert case.expected.startswith("error: "), error
            assert case.expected.removeprefix("error: ").split("\n")[0] in str(error)
            ran += 1
            continue
        except SapwoodError as error:
            pytest.fail(f"{case.name}: {error}")
        expected = [array(line) for line in case.expected.split("\n")]
        assert len(results) == len(expected)
        for found, wanted in zip(results, expected):
            compare(found, wanted, case.value("tolerance"))
        ran += 1
    assert ran
