"""The front-end IR: immutable nodes with a Python-like text form."""

from __future__ import annotations

from sapwood._native import Span

__all__ = ["Span"]
