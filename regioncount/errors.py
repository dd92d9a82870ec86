"""Errors that the package raises on purpose, and two helpers that word them.

Every message is one line: the argument or field, what was expected, what came.  The command line prints it as
it is.
"""

from __future__ import annotations

import reprlib
from collections.abc import Iterator
from contextlib import contextmanager


class InputError(ValueError):
    """Bad input: an argument, a file or a domain that cannot be used as given."""


class NeedsConicEngine(InputError):
    """A score is quadratic on a two-dimensional piece, so its borders are conics, not lines."""


class TooManyPieces(InputError):
    """A partition has more pieces than ``max_pieces``."""


_REPR = reprlib.Repr()
_REPR.maxstring = _REPR.maxother = _REPR.maxlong = 60


def shown(value: object) -> str:
    """Return `value` as one short line of text for a message.

    >>> shown("two\\nlines"), shown(list(range(100)))
    ("'two\\\\nlines'", '[0, 1, 2, 3, 4, 5, ...]')
    """
    try:
        return " ".join(_REPR.repr(value).split())
    except ValueError:  # an integer of more digits than Python converts
        return f"a {type(value).__name__} of too many digits to show"


@contextmanager
def located(prefix: str) -> Iterator[None]:
    """Put `prefix` before the message of an `InputError` raised inside, keeping its class.

    >>> with located("layers[0] (affine): "):
    ...     raise InputError("weight: missing")
    Traceback (most recent call last):
    regioncount.errors.InputError: layers[0] (affine): weight: missing
    """
    try:
        yield
    except InputError as error:
        raise type(error)(prefix + str(error)) from None
