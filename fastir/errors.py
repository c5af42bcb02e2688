"""fastir's own errors and warning. A message says what is wrong, what fastir got, what was expected, and where."""

import sys
import warnings


class FastirError(Exception):
    """The base of fastir's own errors."""


class FormatError(FastirError, ValueError):
    """A file does not have the expected content.

    Attributes
    ----------
    path : str
    line, column : int or None
        From 1; the column counts fields.
    text : str or None
        The offending line, shortened.
    """

    def __init__(
        self,
        message: str,
        path: str | None = None,
        line: int | None = None,
        column: int | None = None,
        text: str | None = None,
    ) -> None:
        super().__init__(message, path, line, column, text)
        self.path: str | None = path
        self.line: int | None = line
        self.column: int | None = column
        self.text: str | None = text

    def __str__(self) -> str:
        place = ":".join(str(part) for part in (self.path, self.line) if part is not None)
        return f"{place}: {self.args[0]}" if place else self.args[0]


class DuplicateError(FormatError):
    """A duplicate document in one query."""


class NoOverlapError(FastirError, ValueError):
    """The queries of qrels and run do not overlap as the options require, or their documents never match."""


class UnknownMetricError(FastirError, ValueError):
    """A metric name or parameter that does not exist."""


class FastirWarning(UserWarning):
    """A warning about an evaluation that succeeded."""


def warn_caller(message: str) -> None:
    """Issue a FastirWarning that points at the line outside of fastir from which fastir was called."""
    frame, level = sys._getframe(), 1
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith("fastir."):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, FastirWarning, stacklevel=level)


def remedy(is_run: bool) -> str:
    """What a caller can do about a duplicate document."""
    others = ", 'last', 'max' or 'once'" if is_run else ", 'last', 'max' or 'mean'"
    return f"duplicates='first'{others} would repair it"


def quote(value: object, limit: int = 80) -> str:
    """The repr of something that the caller gave, cut at `limit` characters."""
    try:
        text = repr(value[:limit]) if isinstance(value, (str, bytes)) else repr(value)
    except ValueError:  # an int of thousands of digits
        return f"an {type(value).__name__} that is too long to print"
    long = len(text) > limit + 2 or (isinstance(value, (str, bytes)) and len(value) > limit)
    return text[: limit + 2] + "..." if long else text
