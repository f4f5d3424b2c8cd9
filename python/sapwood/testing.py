"""Assertions for tests of compilers and program builders."""

from __future__ import annotations

from sapwood.ir import assert_structural_equal

__all__ = ["assert_structural_equal"]
