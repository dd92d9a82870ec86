"""Networks whose scores are given quadratic forms: each head of one attention layer has the scores that are asked for.

A form is (1, x, y, xx, xy, yy): its six coefficients, in the order of the engine.  Token s of T has the input and a one
in a block of its own, so its key, and with it its score for query token 0, is any form.  The other tokens see only
themselves.  Head h passes on the number of the token that it chose, as output coordinate h: pieces have one map exactly
where all heads choose the same tokens.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from regioncount.files import network_from_dict

ZERO = (0, 0, 0, 0, 0, 0)


def attention(*heads: Any) -> dict[str, Any]:
    """A network as the file's dictionary; each head is a list of T forms, the scores of tokens 0, …, T − 1."""
    tokens = len(heads[0])
    width = 3 * tokens

    def row(**entries: Any) -> list:
        out: list = [0] * width
        for place, value in entries.items():
            out[int(place[1:])] = str(Fraction(value))
        return out

    made = []
    for h, forms in enumerate(heads):
        keys = [{}, {}, {}]
        for s, (one, x, y, xx, xy, yy) in enumerate(forms):
            keys[0] |= {f"_{3 * s}": xx, f"_{3 * s + 1}": xy, f"_{3 * s + 2}": x}
            keys[1] |= {f"_{3 * s + 1}": yy, f"_{3 * s + 2}": y}
            keys[2] |= {f"_{3 * s + 2}": one}
        made.append(
            {
                "query": {"weight": [row(_0=1), row(_1=1), row(_2=1)]},
                "key": {"weight": [row(**k) for k in keys]},
                "value": {"weight": [row(**{f"_{3 * s + 2}": s for s in range(tokens)})]},
                "output": {"weight": [[int(k == h)] for k in range(len(heads))]},
            }
        )
    weight = [[[0, 0] for _ in range(width)] for _ in range(tokens)]
    bias = [[0] * width for _ in range(tokens)]
    for s in range(tokens):
        weight[s][3 * s], weight[s][3 * s + 1], bias[s][3 * s + 2] = [1, 0], [0, 1], 1
    mask = [[t == 0 or s == t for s in range(tokens)] for t in range(tokens)]
    return {
        "format": "regioncount-network",
        "version": 1,
        "input_dim": 2,
        "layers": [
            {"type": "embed", "weight": weight, "bias": bias},
            {"type": "attention", "residual": False, "heads": made, "mask": mask},
            {"type": "readout", "token": 0},
        ],
    }


def signs(*forms: Any) -> dict[str, Any]:
    """A network of two tokens with a head for each form, which chooses token 0 where the form is positive."""
    return attention(*((form, ZERO) for form in forms))


def load(data: dict[str, Any]) -> Any:
    """The network of a dictionary."""
    return network_from_dict(data)


# --- forms


def times(p: Any, q: Any) -> tuple:
    """The product of two linear forms (1, x, y)."""
    a, b, c = (Fraction(k) for k in p)
    d, e, f = (Fraction(k) for k in q)
    return a * d, a * e + b * d, a * f + c * d, b * e, b * f + c * e, c * f


def plus(p: Any, q: Any, factor: Any = 1) -> tuple:
    """p + factor q."""
    return tuple(Fraction(a) + Fraction(factor) * Fraction(b) for a, b in zip(p, q, strict=True))


def scaled(factor: Any, p: Any) -> tuple:
    """A multiple of a form."""
    return tuple(Fraction(factor) * Fraction(c) for c in p)


def circle(x: Any, y: Any, square: Any) -> tuple:
    """Positive inside the circle around (x, y) with this square of its radius."""
    x, y = Fraction(x), Fraction(y)
    return Fraction(square) - x * x - y * y, 2 * x, 2 * y, -1, 0, -1


def sheared(form: Any, shear: Any) -> tuple:
    """The form whose value at (x, y) is that of ``form`` at (x − shear · y, y)."""
    s = Fraction(shear)
    one, x, y, xx, xy, yy = (Fraction(c) for c in form)
    return one, x, y - s * x, xx, xy - 2 * s * xx, yy - s * xy + s * s * xx
