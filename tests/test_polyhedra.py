"""Exact linear programs against the oracle's, which shares no code with them, and against points found by hand."""

from fractions import Fraction
from random import Random

import lp_oracle
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from regioncount.polyhedra import interior_point, meet, within

ENTRY = st.integers(-3, 3)


def halfspaces(dim, most=9):
    return st.lists(st.tuples(*[ENTRY] * (dim + 1)), min_size=1, max_size=most)


def value(halfspace, point):
    return sum((a * x for a, x in zip(halfspace, point, strict=False)), Fraction(halfspace[-1]))


def assert_right(rows):
    """Both questions, and the point that is given as an answer."""
    sign = lp_oracle.exact_slack([row for row in rows if any(row[:-1])]).sign if any(any(r[:-1]) for r in rows) else 1
    constants = [row[-1] for row in rows if not any(row[:-1])]
    inside = sign > 0 and all(c > 0 for c in constants)
    touching = sign >= 0 and all(c >= 0 for c in constants)
    point = interior_point(rows)
    assert (point is not None) == inside
    assert meet(rows) == touching
    if point is not None:
        assert all(value(row, point) > 0 for row in rows)


@pytest.mark.nojit
@given(st.integers(1, 4).flatmap(halfspaces))
@settings(max_examples=300)
def test_same_as_the_oracle(rows):
    assert_right(rows)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(200))
def test_same_as_the_oracle_where_much_is_degenerate(seed):
    rng = Random(seed)
    dim, size = rng.randint(1, 6), rng.choice((1, 1, 2, 10**6))
    rows = [tuple(rng.randint(-size, size) for _ in range(dim + 1)) for _ in range(rng.randint(1, 14))]
    if rng.random() < 0.5:  # all through one point
        point = [rng.randint(-2, 2) for _ in range(dim)]
        rows = [(*row[:-1], -sum(a * x for a, x in zip(row, point, strict=False))) for row in rows]
    assert_right(rows)


@pytest.mark.nojit
def test_known_answers():
    cube = [(1, 0, 0, 1), (-1, 0, 0, 1), (0, 1, 0, 1), (0, -1, 0, 1), (0, 0, 1, 1), (0, 0, -1, 1)]
    assert interior_point(cube) is not None
    assert interior_point([*cube, (1, 1, 1, -3)]) is None
    assert meet([*cube, (1, 1, 1, -3)])
    assert not meet([*cube, (1, 1, 1, -4)])
    assert interior_point([], 3) == (0, 0, 0)
    assert interior_point([]) == ()
    assert meet([])
    assert interior_point([(0, 0, 1)]) is not None
    assert interior_point([(0, 0, 0)]) is None
    assert meet([(0, 0, 0)])
    assert not meet([(0, 0, -1)])
    huge = 10**200
    assert interior_point([(huge, -1), (-huge, 2)]) is not None
    assert interior_point([(huge, -1), (-huge, 1)]) is None


def test_bland_ends_on_a_program_that_cycles_without_it():
    # Beale's example, as the question whether 0.05 is attained: the vertex 0 is degenerate
    rows = [
        (-25, 6000, 4, -900, 0), (-50, 9000, 2, -300, 0), (0, 0, -1, 0, 1),
        (1, 0, 0, 0, 0), (0, 1, 0, 0, 0), (0, 0, 1, 0, 0), (0, 0, 0, 1, 0),
    ]  # fmt: skip
    goal = (75, -15000, 2, -600)
    assert meet([*rows, (*goal, -5)])
    assert interior_point([*rows, (*goal, -4)]) is not None
    assert not meet([*rows, (*goal, -6)])


@pytest.mark.nojit
@given(st.integers(2, 4).flatmap(lambda n: st.tuples(halfspaces(n, 1), halfspaces(n, 6))))
@settings(max_examples=200)
def test_within_a_hyperplane(drawn):
    (plane,), rows = drawn
    if not any(plane[:-1]):
        return
    restricted = within(plane, rows)
    k = next(i for i, x in enumerate(plane) if x)
    rng = Random(0)
    for _ in range(5):  # a point of the hyperplane has the same signs in both
        rest = [Fraction(rng.randint(-9, 9), 7) for _ in range(len(plane) - 2)]
        first = -sum((a * x for a, x in zip([*plane[:k], *plane[k + 1 : -1]], rest, strict=True)), Fraction(plane[-1]))
        point = [*rest[:k], first / plane[k], *rest[k:]]
        assert value(plane, point) == 0
        for row, less in zip(rows, restricted, strict=True):
            assert (value(row, point) > 0) == (value(less, rest) > 0)
            assert (value(row, point) < 0) == (value(less, rest) < 0)
