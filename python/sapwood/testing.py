"""For tests of programs that make programs."""

from __future__ import annotations

from sapwood.ir import assert_structural_equal

__all__ = ["assert_structural_equal"]
