"""Real algebraic numbers against fractions, decimals of many digits, and polynomials whose roots are known."""

from __future__ import annotations

import math
from fractions import Fraction as F
from itertools import combinations, pairwise

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from regioncount.algebraic import (
    Root,
    between,
    common_factor,
    isolated,
    minus,
    polynomial,
    primitive,
    sign_at_dyadic,
    square_free,
    times,
)


def product(*factors):
    out = [1]
    for factor in factors:
        out = times(out, factor)
    return polynomial(out)


def linear(*roots):
    """The integer polynomial with these rational roots, each as often as it is named."""
    return product(*((-F(r).numerator, F(r).denominator) for r in roots))


def value(p, x):
    return sum(c * x**k for k, c in enumerate(p))


def sign(x):
    return (x > 0) - (x < 0)


def ends(root):
    return F(root.low, 1 << root.bits), F(root.high, 1 << root.bits)


def surd(a, b, d, bits=400):
    """a + b √d, b not 0, as the ends of an interval of width 2^−bits or less."""
    a, b = F(a), F(b)
    scale = 1 << bits
    square = b * b * d * scale * scale
    low = math.isqrt(math.floor(square))
    bounds = F(low, scale), F(low + 1, scale)
    return (a + bounds[0], a + bounds[1]) if b > 0 else (a - bounds[1], a - bounds[0])


def quadratic(a, b, d):
    """The integer polynomial of a ± b √d."""
    a, b = F(a), F(b)
    coefficients = [a * a - b * b * d, -2 * a, F(1)]
    common = math.lcm(*(c.denominator for c in coefficients))
    return tuple(int(c * common) for c in coefficients)


def assert_encloses(root, low, high):
    """The root's interval, and its float, agree with a narrow interval around the true number."""
    a, b = ends(root)
    assert a <= high and low <= b
    root.refine(200)
    a, b = ends(root)
    assert b - a <= F(1, 2**200)
    assert a <= high and low <= b
    assert abs(float(root) - float((low + high) / 2)) <= 2.0**-52


# ------------------------------------------------------------------------------------------------ polynomials


def test_arithmetic_of_polynomials():
    assert polynomial([1, 2, 0, 0]) == (1, 2) and polynomial([0, 0]) == ()
    assert primitive([4, -6, 0]) == (2, -3)
    assert times([1, 1], [-1, 1]) == [-1, 0, 1]
    assert minus([1, 2, 3], [1]) == [0, 2, 3] and minus([], [1, 2]) == [-1, -2]
    assert sign_at_dyadic((-1, 0, 4), 1, 1) == 0 and sign_at_dyadic((-1, 0, 4), 1, 2) == -1


RATIONALS = st.fractions(min_value=-2, max_value=2, max_denominator=50)
SMALL = st.lists(st.integers(-9, 9), min_size=1, max_size=4)


@given(SMALL, SMALL, SMALL)
def test_common_factors(p, q, common):
    p, q, common = (polynomial(k) for k in (p, q, common))
    assume(p and q and len(common) > 1)
    assert len(common_factor(p, q)) - 1 == _degree_of_gcd(p, q)
    found = common_factor(product(p, common), product(q, common))
    assert len(found) == len(common) + _degree_of_gcd(p, q)
    for k in (p, q):
        assert not _remainder(product(k, common), found)


def _remainder(p, q):
    """p modulo q, in fractions."""
    r = [F(c) for c in p]
    while len(r) >= len(q):
        factor = r[-1] / q[-1]
        for i, c in enumerate(q):
            r[len(r) - len(q) + i] -= factor * c
        r.pop()
    return polynomial(r)


def _degree_of_gcd(p, q):
    while q:
        p, q = q, _remainder(p, q)
    return len(p) - 1


def test_a_common_factor_that_a_prime_hides():
    """The leading coefficients vanish modulo 2^61 − 1, and without a common factor there is one modulo that prime."""
    prime = 2**61 - 1
    assert len(common_factor((1, prime), (2, prime))) == 1
    assert len(common_factor((1, 1), (1 + prime, 1))) == 1
    p = product((3, prime), (1, 1))
    assert primitive(common_factor(p, product((3, prime), (5, 7)))) in ((3, prime), (-3, -prime))


@given(st.lists(RATIONALS, min_size=1, max_size=4), st.integers(1, 10**30))
def test_square_free(roots, factor):
    p = polynomial([factor * c for c in linear(*roots)])
    free = square_free(p)
    assert len(free) - 1 == len(set(roots))
    assert all(value(free, r) == 0 for r in roots)


# ------------------------------------------------------------------------------------------------ isolation


@given(st.lists(st.fractions(min_value=-3, max_value=3, max_denominator=64), min_size=1, max_size=5))
def test_rational_roots(roots):
    found = isolated(linear(*roots))
    expected = sorted({r for r in roots if abs(r) <= F(5, 4)})
    assert len(found) == len(expected)
    for root, r in zip(found, expected, strict=True):
        assert_encloses(root, r, r)
        assert root.compare(Root.rational(r)) == 0 and root.sign(linear(r)) == 0


@given(
    st.lists(st.tuples(st.fractions(-1, 1, max_denominator=9), st.fractions(-1, 1, max_denominator=9),
                       st.sampled_from([2, 3, 5, 7])), min_size=1, max_size=2)
)  # fmt: skip
def test_quadratic_irrationals(surds):
    assume(all(b for _, b, _ in surds))
    p = product(*(quadratic(*s) for s in surds))
    expected = sorted({surd(a, s * b, d) for a, b, d in surds for s in (1, -1)})
    expected = [(low, high) for low, high in expected if abs(low) <= F(5, 4)]
    found = isolated(p)
    assert len(found) == len(expected)
    for root, (low, high) in zip(found, expected, strict=True):
        assert_encloses(root, low, high)
        for a, b, d in surds:
            mine = (low, high) in (surd(a, b, d), surd(a, -b, d))
            assert (root.sign(quadratic(a, b, d)) == 0) == mine


@given(st.lists(st.integers(-(10**6), 10**6), min_size=2, max_size=5))
def test_as_many_roots_as_sign_changes_show(coefficients):
    """Between neighbouring roots, and beyond them, a square-free polynomial has the sign that alternation tells."""
    p = polynomial(coefficients)
    assume(len(p) > 1)
    found = isolated(p)
    for root in found:
        assert root.sign(p) == 0
    assert all(a.compare(b) == -1 for a, b in pairwise(found))
    free = square_free(p)
    at = [F(-5, 4), *(between(a, b) for a, b in pairwise(found)), F(5, 4)]
    if found and value(free, at[0]) and value(free, at[-1]):
        signs = [sign(value(free, x)) for x in at]
        assert all(a == -b for a, b in pairwise(signs))
        for root, s in zip(found, signs[1:], strict=True):
            assert root.direction == s
    grid = [sign(value(free, F(k, 64))) for k in range(-80, 81)]
    assert len(found) >= sum(a * b < 0 for a, b in pairwise(grid)) + sum(a == 0 for a in grid)


@pytest.mark.nojit
def test_windows():
    p = linear(F(-1, 2), F(1, 4), F(1, 3), 1)
    assert [round(float(x), 9) for x in isolated(p, 1, 3, 2)] == [0.25, 0.333333333]  # ends count
    assert [round(float(x), 9) for x in isolated(p, 9, 16, 5)] == [0.333333333]
    assert isolated(p, 13, 15, 4) == [] and isolated((7,)) == [] and isolated(linear(3)) == []
    assert len(isolated(linear(F(-5, 4), F(5, 4), F(5, 4)))) == 2


@pytest.mark.nojit
@pytest.mark.parametrize("gap", [F(1, 10**9), F(1, 10**30), F(1, 2**100), F(1, 10**90)])
def test_clusters(gap):
    """Roots that are nearer to each other than any float tells."""
    at = F(1, 3)
    p = linear(at - gap, at, at + gap, F(-2, 3))
    found = isolated(p)
    assert len(found) == 4
    for root, r in zip(found[1:], (at - gap, at, at + gap), strict=True):
        assert root.compare(Root.rational(r)) == 0
        assert root.compare(Root.rational(r + gap / 3)) == -1 and root.compare(Root.rational(r - gap / 3)) == 1
    for a, b in combinations(found, 2):
        assert a.compare(b) == -1 and b.compare(a) == 1
        x = between(a, b)
        assert a.compare(Root.rational(x)) == -1 and b.compare(Root.rational(x)) == 1
    other = isolated(linear(at + 2 * gap, 1))[0]  # of another polynomial
    assert found[3].compare(other) == -1 and other.compare(found[3]) == 1


@pytest.mark.nojit
def test_clusters_of_irrationals():
    """√2/2, and the root of 2x² = 1 + 10^−60 beside it; then both once more, each from its square."""
    gap = F(1, 10**60)
    p, q = (-1, 0, 2), polynomial([int(c * 10**60) for c in (-1 - gap, 0, 2)])
    low, high, a, b = isolated(product(p, q))[2:] + [isolated(p)[1], isolated(q)[1]]
    assert low.compare(a) == 0 and high.compare(b) == 0
    assert low.compare(high) == low.compare(b) == a.compare(b) == a.compare(high) == -1
    assert low.sign(p) == 0 and high.sign(p) == 1 and low.sign(q) == -1 and high.sign(q) == 0
    twice = isolated(product(p, p, q, q))
    assert len(twice) == 4 and twice[2].compare(a) == 0 and twice[3].compare(b) == 0


@pytest.mark.nojit
def test_multiple_roots_and_roots_at_dyadic_places():
    p = product((-1, 2), (-1, 2), (-1, 2), (-1, 4), (0, 1), (0, 1))  # 1/2 three times, 1/4, 0 twice
    assert [float(x) for x in isolated(p)] == [0, 0.25, 0.5]
    for k in range(1, 60):  # any of these may be met exactly by bisection
        r = F(2 * k + 1, 2**k) / 128
        (root,) = isolated(linear(r))
        assert root.compare(Root.rational(r)) == 0
        root.refine(300)
        assert root.compare(Root.rational(r)) == 0 and float(root) == float(r)


@pytest.mark.nojit
@pytest.mark.parametrize("bits", [70, 300, 3000])
def test_huge_coefficients(bits):
    big = 1 << bits
    for p, expected in (
        ((-big, 3 * big + 1), F(big, 3 * big + 1)),
        ((-1, 3 * big), F(1, 3 * big)),
        (product((-big, 3 * big + 1), (-1, 0, 0, 5 * big)), None),
    ):
        found = isolated(p)
        for root in found:
            assert root.sign(p) == 0 and root.sign(minus(p, [1])) != 0
        if expected is not None:
            (root,) = found
            assert root.compare(Root.rational(expected)) == 0
            assert root.compare(Root.rational(expected + F(1, 1 << (3 * bits)))) == -1
            assert float(root) == pytest.approx(float(expected), abs=2.0**-50)
        else:
            cube = found[0]
            assert len(found) == 2 and cube.sign((-1, 0, 0, 5 * big)) == 0
            low, high, b = cube.interval(2 * bits)
            assert 5 * big * low**3 <= 1 << 3 * b <= 5 * big * high**3


# ------------------------------------------------------------------------------------------------ roots


def test_near():
    p = linear(F(1, 3), F(1, 2), F(-1, 2))
    assert Root.near(p, 0.33, 0.01).compare(Root.rational(F(1, 3))) == 0
    assert Root.near(p, 0.5, 0.0).compare(Root.rational(F(1, 2))) == 0
    assert Root.near(product(p, p), 1 / 3, 2.0**-53).sign((-1, 3)) == 0
    with pytest.raises(AssertionError, match="no single root"):
        Root.near(p, 0.45, 0.01)


@given(st.fractions(max_denominator=10**6), st.fractions(max_denominator=10**6))
def test_order_of_rationals(x, y):
    a, b = Root.rational(x), Root.rational(y)
    assert a.compare(b) == sign(x - y) == -b.compare(a)
    assert a.sign(linear(y)) == sign(x - y)
    for root, r in ((a, x), (b, y)):
        low, high = ends(root)
        assert low <= r <= high and root.sign(()) == 0 and root.sign((3,)) == 1 and root.sign((-2,)) == -1
        assert float(root) == pytest.approx(float(r), rel=2.0**-52, abs=2.0**-55)


NUMBERS = st.tuples(st.integers(-9, 9), st.integers(-9, 9), st.sampled_from([2, 3, 5]), st.integers(8, 20))


@settings(max_examples=200)
@given(NUMBERS, NUMBERS, st.integers(0, 120), st.integers(0, 120))
def test_order_of_quadratic_irrationals(first, second, bits, more):
    """(a + b√d)/c, hidden in polynomials of higher degree, in any state of refinement."""
    (a, b, d, c), (e, f, g, h) = first, second
    assume(b and f)
    numbers = [surd(F(a, c), F(b, c), d), surd(F(e, h), F(f, h), g)]
    assume(all(abs(low) <= F(5, 4) for low, _ in numbers))
    polys = [quadratic(F(a, c), F(b, c), d), quadratic(F(e, h), F(f, h), g)]
    hidden = product(*polys, (-1, 7))
    roots = [_the_root(polys[0], numbers[0]), _the_root(hidden, numbers[1])]
    roots[0].refine(bits)
    roots[1].refine(more)
    equal = first[2] == second[2] and F(a, c) == F(e, h) and F(b, c) == F(f, h)
    expected = 0 if equal else sign(numbers[0][0] - numbers[1][0])
    assert roots[0].compare(roots[1]) == expected == -roots[1].compare(roots[0])
    assert roots[0].sign(polys[1]) == _sign_of(polys[1], numbers[0])
    if expected:
        low, high = sorted(roots, key=lambda r: r is (roots[0] if expected > 0 else roots[1]))
        x = between(low, high)
        assert low.compare(Root.rational(x)) == -1 and high.compare(Root.rational(x)) == 1
    for root, number in zip(roots, numbers, strict=True):
        assert_encloses(root, *number)


def _the_root(p, number):
    """Among the roots of p that which lies in a narrow interval."""
    (root,) = [r for r in isolated(p) if r.compare(Root.rational(number[0])) == 1
               and r.compare(Root.rational(number[1])) == -1]  # fmt: skip
    return root


def _sign_of(p, number):
    low, high = (sign(value(p, x)) for x in number)
    return low if low == high else 0


@given(st.lists(st.integers(-50, 50), min_size=3, max_size=5), st.lists(st.integers(-50, 50), min_size=1, max_size=5))
def test_sign_against_values_beside_the_root(coefficients, other):
    p, q = polynomial(coefficients), polynomial(other)
    assume(len(p) > 1)
    for root in isolated(p):
        s = root.sign(q)
        root.refine(2000)  # two such polynomials cannot come so near to a common root
        signs = {sign(value(q, x)) for x in ends(root)}
        assert signs == {s} if s else len(signs) == 2 or signs == {0} or len(common_factor(p, q)) > 1


def test_between_takes_short_numbers():
    for a, b in ((F(0), F(1)), (F(1, 3), F(1, 2)), (F(-1, 3), F(1, 10**6)), (F(1, 3), F(1, 3) + F(1, 10**20))):
        x = between(Root.rational(a), Root.rational(b))
        assert a < x < b
        assert x.denominator <= 16 / (b - a)
    low, high = isolated((-1, 0, 2))
    assert between(low, high) == 0


def test_intervals_only_shrink_and_keep_the_root():
    (root,) = isolated(polynomial([-1, 0, 0, 0, 2]), 0, 1, 0)  # 2^(−1/4)
    last = ends(root)
    for bits in (3, 10, 53, 60, 200, 1000):
        root.refine(bits)
        now = ends(root)
        assert last[0] <= now[0] <= now[1] <= last[1] and now[1] - now[0] <= F(1, 2**bits)
        assert 2 * now[0] ** 4 <= 1 <= 2 * now[1] ** 4
        low, high, b = root.interval(bits)
        assert F(low, 1 << b) <= now[1] and F(high, 1 << b) >= now[0] and high - low <= 1 << max(b - bits, 0)
        last = ends(root)
    assert root.direction == 1
