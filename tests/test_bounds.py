"""Closed-form bounds against the table of values, and bad arguments."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from regioncount import bounds
from regioncount.errors import InputError

TABLE = json.loads((Path(__file__).parent / "data" / "bounds.json").read_text())["bounds"]


@pytest.mark.parametrize("row", TABLE["zaslavsky"], ids=lambda row: f"m{row['m']}-n{row['n']}")
def test_zaslavsky(row) -> None:
    assert bounds.zaslavsky(row["m"], row["n"]) == row["regions"]
    assert bounds.zaslavsky_bounded(row["m"], row["n"]) == row["bounded"]


@pytest.mark.parametrize("row", TABLE["transformer_lower"], ids=lambda row: f"T{row['T']}-D{row['D']}")
def test_transformer_lower(row) -> None:
    assert bounds.transformer_lower(row["T"], row["D"]) == row["gu"]


def test_transformer_lower_is_a_staircase() -> None:
    assert [bounds.transformer_lower(4, depth) for depth in range(8)] == [1, 1, 1, 3, 3, 3, 9, 9]
    assert [bounds.transformer_lower(1, depth) for depth in (2, 3)] == [1, 0]


def test_dimension_zero_is_one_bounded_region() -> None:
    assert [bounds.zaslavsky(m, 0) for m in (0, 3)] == [1, 1]
    assert [bounds.zaslavsky_bounded(m, 0) for m in (0, 3)] == [1, 1]


def test_values_are_exact_integers_of_any_size() -> None:
    assert bounds.transformer_lower(11, 300) == 10**100
    assert bounds.zaslavsky(200, 200) == 2**200


@pytest.mark.parametrize(
    ("function", "arguments", "message"),
    [
        (bounds.transformer_lower, (0, 3), "tokens: expected an integer of at least 1, got 0"),
        (bounds.transformer_lower, (3, -1), "depth: expected an integer of at least 0, got -1"),
        (bounds.transformer_lower, (3.0, 3), "tokens: expected an integer, got 3.0"),
        (bounds.zaslavsky, (-1, 2), "m: expected"),
        (bounds.zaslavsky, (1, True), "n: expected an integer, got True"),
        (bounds.zaslavsky_bounded, ("3", 2), "m: expected an integer, got '3'"),
        (bounds.zaslavsky_bounded, (3, -2), "n: expected"),
    ],
)
def test_bad_arguments_are_named(function, arguments, message) -> None:
    with pytest.raises(InputError, match=message):
        function(*arguments)
