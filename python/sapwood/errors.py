"""The exceptions of the package. All of them are subclasses of `SapwoodError`.

Calls with wrong arguments may also raise Python's own exceptions: ``TypeError``, ``OverflowError`` for a number that does not fit
a machine integer, ``UnicodeEncodeError`` for text with lone surrogates. Exceptions that a hook, a pattern or a listener raises
are passed on unchanged, including ``RecursionError``. Files that cannot be written raise an ``OSError``.
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
    """The base class of all exceptions of this package."""

    def __init__(self, message: str, diagnostics: tuple[Diagnostic, ...] = ()) -> None:
        super().__init__(message, diagnostics)

    @property
    def message(self) -> str:
        """The message without the exception type."""
        return str(self.args[0])

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """The diagnostics about a program, each with its location; empty if the error is not about a program."""
        found: tuple[Diagnostic, ...] = self.args[1]
        return found

    @property
    def span(self) -> Span | None:
        """The location of the first diagnostic, if it is known."""
        spans = (one.span for one in self.diagnostics)
        return next((span for span in spans if not span.is_unknown()), None)

    def __str__(self) -> str:
        return self.message


class ArgumentError(SapwoodError, TypeError):
    """An argument of the wrong type, or a wrong number of arguments."""


class InvalidValueError(SapwoodError, ValueError):
    """An argument of the right type whose value is not valid."""


class ParseError(SapwoodError, ValueError):
    """Text that cannot be parsed."""


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
    """A required package that is not installed; the message names it."""


class CallbackError(SapwoodError):
    """A callback that was called after its hook returned, or from another thread."""
