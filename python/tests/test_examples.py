"""The examples run, and so does the code on the pages."""

from __future__ import annotations

import doctest
import inspect
import runpy
from pathlib import Path

import pytest

import sapwood

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize(
    "path", sorted((ROOT / "python" / "examples").glob("*.py")), ids=lambda path: path.stem
)
def test_examples_run(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    runpy.run_path(str(path), run_name="__main__")
    assert capsys.readouterr().out


@pytest.mark.parametrize("page", ["README.md", "docs/guide/python.md", "docs/guide/own-op-python.md"])
def test_pages_run_as_printed(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs the interactive examples of a page in one namespace. The files that they write go to a temporary folder."""
    monkeypatch.chdir(tmp_path)
    text = (ROOT / page).read_text(encoding="utf-8")
    blocks = [block.split("```")[0] for block in text.split("```pycon\n")[1:]]
    assert blocks
    example = doctest.DocTestParser().get_doctest("\n".join(blocks), {}, page, page, 0)
    results = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(example)
    assert results.attempted and not results.failed


def test_the_readme_script_prints_its_comments(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Runs the scripts of the README. The comment behind a `print` is its output."""
    monkeypatch.chdir(tmp_path)
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    scripts = [block.split("```")[0] for block in text.split("```python\n")[1:]]
    assert scripts
    for script in scripts:
        exec(compile(script, "README.md", "exec"), {})
        prints = [line for line in script.splitlines() if line.startswith("print(")]
        expected = [line.partition("  # ")[2] for line in prints]
        assert expected and all(expected)
        assert capsys.readouterr().out.splitlines() == expected
    assert (tmp_path / "run.html").stat().st_size > 0


@pytest.mark.parametrize(
    "module",
    [sapwood.structural, sapwood._fields, sapwood._visit, sapwood._op, sapwood.ir, sapwood.ir._builder, sapwood.pi, sapwood.ptir, sapwood.rewrite],
    ids=lambda module: module.__name__,
)
def test_doctests(module: object) -> None:
    results = doctest.testmod(module)  # type: ignore[arg-type]
    assert results.attempted and not results.failed


NATIVE = ["structural_equal", "structural_hash", "StructuralKey", "Seq", "Map", "Set"]


@pytest.mark.parametrize("name", NATIVE)
def test_doctests_of_native_names(name: str) -> None:
    text = getattr(sapwood.structural, name).__doc__
    example = doctest.DocTestParser().get_doctest(text, {}, name, name, 0)
    results = doctest.DocTestRunner().run(example)
    assert results.attempted and not results.failed


def test_functions_have_examples() -> None:
    """Each function of the front end and of user-defined nodes has an example, which the tests above run."""
    for module in (sapwood.ir, sapwood.structural):
        for name in module.__all__:
            value = getattr(module, name)
            if inspect.isfunction(value) and (module, name) not in ELSEWHERE:
                assert ">>> " in (value.__doc__ or ""), f"{module.__name__}.{name}"


#: Functions that the example of another one calls.
ELSEWHERE = {(sapwood.ir, "from_json"), (sapwood.structural, "from_json"), (sapwood.structural, "stop")}
