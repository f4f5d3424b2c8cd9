"""The package as it is installed: the metadata of a wheel and its files."""

from __future__ import annotations

import importlib.metadata
from pathlib import Path

import pytest

import sapwood
from sapwood import _native

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = importlib.metadata.distribution("sapwood")


def test_metadata_is_complete() -> None:
    said = PACKAGE.metadata
    assert said["Name"] == "sapwood" and said["Version"] == sapwood.__version__
    assert said["License-Expression"] == "MIT OR Apache-2.0"
    assert said["Requires-Python"] == ">=3.10"
    assert said["Summary"] and said["Keywords"] and said["Author"]
    assert str(said.get_payload() or said["Description"]).startswith("# Sapwood for Python")
    classifiers = said.get_all("Classifier") or []
    assert {"Typing :: Typed", "Programming Language :: Python :: 3.10"} <= set(classifiers)
    # There are no further dependencies.
    assert all("extra ==" in needed for needed in PACKAGE.requires or [])


@pytest.mark.parametrize("name", ["LICENSE-APACHE", "LICENSE-MIT"])
def test_licences_come_along(name: str) -> None:
    assert name in (PACKAGE.metadata.get_all("License-File") or [])
    found = [file for file in PACKAGE.files or [] if file.name == name]
    assert len(found) == 1
    assert found[0].read_text(encoding="utf-8") == (ROOT / name).read_text(encoding="utf-8")


def test_the_wheel_is_for_every_version() -> None:
    tags = (PACKAGE.read_text("WHEEL") or "").splitlines()
    assert [line for line in tags if line.startswith("Tag: cp310-abi3-")]
    assert "abi3" in Path(str(_native.__file__)).suffixes[0]


def test_the_command_is_there() -> None:
    commands = {one.name: one.value for one in PACKAGE.entry_points if one.group == "console_scripts"}
    assert commands == {"sapwood": "sapwood._command:main"}
