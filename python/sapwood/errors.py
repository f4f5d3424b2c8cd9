"""The exceptions of the package: one family, `SapwoodError`.

Calls that do not fit a function's signature raise what Python raises everywhere: ``TypeError``, ``OverflowError`` for a number
that no machine integer holds, ``UnicodeEncodeError`` for text with lone surrogates. What a hook, a pattern or a listener raises
comes out as it was raised, ``RecursionError`` included; files that cannot be written are an ``OSError``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sapwood._native import Diagnostic, Span

__all__ = [
    "ArgumentError",
    "CallbackError",
    "CompareError",
    "InvalidValueError",
    "MissingPackageError",
    "NotEqualError",
    "ParseError",
    "RewriteError",
    "RunError",
    "SapwoodError",
    "VerifyError",
]


class SapwoodError(Exception):
    """What all exceptions of this package are."""

    def __init__(self, message: str, diagnostics: tuple[Diagnostic, ...] = ()) -> None:
        super().__init__(message, diagnostics)

    @property
    def message(self) -> str:
        """The message."""
        return str(self.args[0])

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """What is wrong with a program, each with its place; empty where no program is at fault."""
        found: tuple[Diagnostic, ...] = self.args[1]
        return found

    @property
    def span(self) -> Span | None:
        """Where the first problem is, if that is known."""
        spans = (one.span for one in self.diagnostics)
        return next((span for span in spans if not span.is_unknown()), None)

    def __str__(self) -> str:
        return self.message


class ArgumentError(SapwoodError, TypeError):
    """A value of the wrong type, or the wrong number of them."""


class InvalidValueError(SapwoodError, ValueError):
    """A value of the right type that cannot be taken."""


class ParseError(SapwoodError, ValueError):
    """Text that cannot be read."""


class VerifyError(SapwoodError, ValueError):
    """A program that is not well-formed."""


class CompareError(SapwoodError, TypeError):
    """Two graphs that cannot be compared, or one that cannot be hashed."""


class NotEqualError(SapwoodError, AssertionError):
    """Two graphs that should be equal and are not."""


class RunError(SapwoodError, RuntimeError):
    """A program that cannot be run."""


class RewriteError(SapwoodError):
    """A pass or a pattern that failed."""


class MissingPackageError(SapwoodError, ImportError):
    """A package that is not installed and that this needs; the message says which."""


class CallbackError(SapwoodError):
    """A callback that was kept and called after its time, or from another thread."""
