"""The golden files of the front-end IR, through the bindings: same files, same bytes."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import pytest

from sapwood import ir
from sapwood.errors import ParseError, VerifyError

_spec = importlib.util.spec_from_file_location("golden", Path(__file__).with_name("golden.py"))
assert _spec is not None and _spec.loader is not None
golden = sys.modules.setdefault("golden", importlib.util.module_from_spec(_spec))
_spec.loader.exec_module(golden)


def run(case: golden.Case) -> str:  # type: ignore[name-defined]
    try:
        program = ir.parse(case.program, case.name)
        ir.verify(program, case.value("level", "well-formed"))
    except (ParseError, VerifyError) as error:
        assert error.diagnostics and error.span is not None
        return str(error)
    for name in case.values("pass"):
        program = ir.run_pass(program, name)
        ir.verify(program)
    return str(program)


@pytest.mark.parametrize("path", golden.files("ir", ".ir"), ids=golden.name_of)
def test_golden(path: Path) -> None:
    ran = 0
    for case in golden.cases(path, "#"):
        assert run(case).rstrip("\n") == case.expected.rstrip("\n")
        ran += 1
    assert ran
