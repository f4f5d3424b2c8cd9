"""The type hints of the package: stubs match the module, and programs that use it pass strict checking."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import sapwood
import typed_usage
from sapwood import ir

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = Path(sapwood.__file__).parent
EXAMPLES = sorted(map(str, (ROOT / "python" / "examples").glob("*.py")))
assert EXAMPLES
#: Programs that use the package with annotations everywhere.
TYPED = [*EXAMPLES, str(ROOT / "python" / "tests" / "typed_usage.py")]


def run(*arguments: str) -> None:
    # A package that is not installed is found by its path.
    path = "" if "site-packages" in PACKAGE.parts else str(PACKAGE.parent)
    environment = {**os.environ, "MYPYPATH": path, "PYTHONPATH": path, "MYPY_CACHE_DIR": os.devnull}
    done = subprocess.run(
        [sys.executable, "-m", *arguments],
        capture_output=True,
        text=True,
        cwd=ROOT / "python" / "tests",
        env=environment,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_package_is_typed() -> None:
    assert (PACKAGE / "py.typed").exists()
    run("mypy", "--strict", "-p", "sapwood")


def test_stubs_agree_with_the_module() -> None:
    run("mypy.stubtest", "sapwood._native", "--allowlist", str(Path(__file__).with_name("stubtest.txt")))


def test_programs_of_users_pass_strict_checking() -> None:
    run("mypy", "--strict", *TYPED)
    typed_usage.main()


if os.environ.get("SAPWOOD_FULL"):

    def test_programs_of_users_pass_pyright(tmp_path: Path) -> None:
        """Runs pyright, which needs Node.js, so this is in the second tier."""
        config = tmp_path / "pyrightconfig.json"

        def check(*files: str | Path) -> None:
            # Absolute paths would be ignored.
            include = [os.path.relpath(file, tmp_path) for file in files]
            config.write_text(json.dumps({"include": include, "typeCheckingMode": "strict"}))
            run("pyright", "--pythonpath", sys.executable, "--project", str(config))

        check(*TYPED)
        wrong = tmp_path / "wrong.py"
        wrong.write_text("from sapwood import ir\n\nir.parse(3)\n")
        with pytest.raises(AssertionError, match="reportArgumentType"):
            check(wrong)


def test_every_name_is_there() -> None:
    modules = (sapwood, ir, sapwood.ptir, sapwood.rewrite, sapwood.structural, sapwood.errors, sapwood.testing)
    for module in modules:
        assert sorted(set(module.__all__)) == sorted(module.__all__)
        for name in module.__all__:
            assert getattr(module, name).__class__ is not None


def test_annotated_fields_of_the_ir_are_the_native_ones() -> None:
    import ast

    declared: dict[str, set[str]] = {}
    for file in ("_expr.py", "_stmt.py"):
        tree = ast.parse((PACKAGE / "ir" / file).read_text(encoding="utf-8"))
        for cls in (node for node in tree.body if isinstance(node, ast.ClassDef)):
            names = {line.target.id for line in cls.body if isinstance(line, ast.AnnAssign) and isinstance(line.target, ast.Name)}
            for base in cls.bases:
                names |= declared.get(getattr(base, "id", ""), set())
            declared[cls.name] = names
    for cls in sapwood.ir._stmt.NODES:
        native = {name for name, _ in sapwood._native.class_fields(cls) or ()}
        if cls is ir.GlobalVar:
            # It inherits the annotation, but a function has no attributes.
            native.add("attrs")
        # The first is a property, the second is derived from the iteration arguments.
        assert native - {"functions", "init_values"} == declared[cls.__name__], cls
