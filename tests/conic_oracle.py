"""Slow, exact, independent oracle for hardmax Transformers on a convex polygon: cells bounded by conics.

Standard library and tests/oracle.py only; nothing here is imported from regioncount. Where the scores are affine
`oracle.enumerate_2d` answers the same questions by other means.

Method. A generic rational shear (x, y) = (u + s*v, v) first, so that every border is y = A(u) +- sqrt(D(u)) with
polynomials A, D of degree at most 1 and 2: no border is vertical, no branch has a vertical asymptote. If s is not
generic for some border another s is tried. Borders are reduced to curves irreducible over Q that change the sign of a
score difference, so different curves meet in finitely many points. A piece is a trapezoid
{left < u < right, low(u) < v < high(u)}, each side one branch. To ask a unit, the trapezoid is cut at every u where
its curves meet each other, meet the sides, or have D = 0; in each part the answers are read off at rational points,
and neighbours with one answer are glued, if they meet in more than a point.

Every decision is the sign of an integer polynomial of degree at most 4 at a rational number or at a `Root` of such a
polynomial: square roots are removed by squaring (`_order`), and a polynomial that no enclosure of the root separates
from 0 is compared with the root's own polynomial by gcd. No floats.

Pieces are not unique (walls are where the method puts them); patterns, maps and counts are. Time: about 0.1 s a cell,
more with long weights, deep networks or many tokens.

API: enumerate_conic, patterns, facets, components, counts, contains; ConicPiece. Random networks with free queries and
keys: oracle.random_transformer(rng, input_dim=2, scores="quadratic").
"""

from collections import defaultdict
from fractions import Fraction
from functools import cache, cmp_to_key
from itertools import combinations, pairwise
from math import gcd, lcm
from typing import NamedTuple

import oracle

SHEARS = tuple(Fraction(*s) for s in ((3, 17), (5, 13), (-4, 19), (7, 11), (-9, 23), (8, 29), (-11, 31), (13, 37)))


class NotGeneric(ValueError):
    """A border is vertical, or has a vertical asymptote, in the sheared coordinates."""


class ConicPiece(NamedTuple):
    left: object  # Root, a value of u = x - shear*y
    right: object
    low: tuple  # branch (curve, sign), v = y as a function of u
    high: tuple
    pattern: tuple  # 0/1 columns, as oracle.Piece2D has them
    map: tuple  # ((slope_x, slope_y, constant), ..) one triple an output
    point: tuple  # (x, y), rational, inside
    shear: Fraction


# ---------------------------------------------------------------------------------- polynomials in one variable
# Tuples of coefficients, constant first, without trailing zeros: () is 0.


def _trim(p):
    p = tuple(p)
    while p and p[-1] == 0:
        p = p[:-1]
    return p


def _add(p, q, factor=1):
    """p + factor*q."""
    long = max(len(p), len(q))
    p, q = (tuple(r) + (0,) * (long - len(r)) for r in (p, q))
    return _trim(x + factor * y for x, y in zip(p, q, strict=True))


def _mul(p, q):
    product = [0] * (len(p) + len(q))
    for i, x in enumerate(p):
        for j, y in enumerate(q):
            product[i + j] += x * y
    return _trim(product)


def _primitive(p):
    """The positive multiple with coprime integer coefficients."""
    p = [Fraction(x) for x in _trim(p)]
    scale = lcm(*(x.denominator for x in p))
    p = [int(x * scale) for x in p]
    content = gcd(*p)
    return tuple(x // content for x in p)


def _divide(p, q):
    """(quotient, remainder) over Q."""
    quotient, rest = [Fraction(0)] * max(0, len(p) - len(q) + 1), [Fraction(x) for x in p]
    for shift in reversed(range(len(quotient))):
        quotient[shift] = rest[shift + len(q) - 1] / q[-1]
        for i, x in enumerate(q):
            rest[shift + i] -= quotient[shift] * x
    return _trim(quotient), _trim(rest)


def _gcd(p, q):
    while q:
        rest = _divide(p, q)[1]
        p, q = q, _primitive(rest) if rest else ()
    return _primitive(p)


def _value(p, x):
    total = Fraction(0)
    for coefficient in reversed(p):
        total = total * x + coefficient
    return total


def _local(p, n, k):
    """A positive multiple of p((n + t)/2^k) as a polynomial in t (a list), for integer p."""
    degree = len(p) - 1
    c = [x << k * (degree - i) if k >= 0 else x << -k * i for i, x in enumerate(p)]
    return _shifted(c, n)


def _shifted(c, n):
    """c(t + n)."""
    c = list(c)
    for i in range(len(c) - 1):
        for j in range(len(c) - 2, i - 1, -1):
            c[j] += n * c[j + 1]
    return c


# ----------------------------------------------------------------------------------------- real algebraic numbers


class Root:
    """A rational number `value`; or, value None, the one root of the square-free `poly` in (n/2^k, (n+1)/2^k).

    The ends of that interval are no roots. Comparisons are `_compare`; == is identity.
    """

    def __init__(self, value=None, poly=(), n=0, k=0):
        self.value, self.poly, self.n, self.k = value, poly, n, k
        self.signs = {}

    def __repr__(self):
        return f"Root({float(self)})"

    def __float__(self):
        while self.value is None and self.k < 60:
            self.halve()
        low, high = self.ends()
        return float((low + high) / 2)

    def ends(self):
        if self.value is not None:
            return self.value, self.value
        unit = Fraction(2) ** -self.k
        return self.n * unit, (self.n + 1) * unit

    def halve(self):
        if self.value is not None:
            return
        at_low = oracle._sign(_local(self.poly, self.n, self.k)[0])
        self.n, self.k = 2 * self.n, self.k + 1
        at_middle = oracle._sign(_local(self.poly, self.n + 1, self.k)[0])
        if at_middle == 0:
            self.value = self.ends()[1]
        elif at_middle == at_low:
            self.n += 1

    def is_root_of(self, divisor):
        """Is this, an irrational enclosure, a root of a divisor of its polynomial?"""
        c = _local(divisor, self.n, self.k)
        return oracle._sign(c[0]) != oracle._sign(sum(c))


def _sign_at(p, x):
    """Sign of the integer polynomial p at a Fraction or Root x."""
    if len(p) < 2:
        return oracle._sign(p[0]) if p else 0
    if isinstance(x, Fraction):
        return oracle._sign(_value(p, x))
    if p not in x.signs:
        x.signs[p] = _sign_at_root(p, x)
    return x.signs[p]


def _sign_at_root(p, x):
    tested = False
    while x.value is None:
        first, *others = _local(p, x.n, x.k)
        if first + sum(c for c in others if c < 0) > 0:
            return 1
        if first + sum(c for c in others if c > 0) < 0:
            return -1
        if x.k > 80 and not tested:
            tested = True
            common = _gcd(x.poly, p)
            if len(common) > 1 and x.is_root_of(common):
                return 0
        for _ in range(8):
            x.halve()
    return oracle._sign(_value(p, x.value))


def _compare(x, y):
    """-1, 0 or 1 as a Root x is below, at or above a Root y."""
    if x is y:
        return 0
    tested = False
    while True:
        (x_low, x_high), (y_low, y_high) = x.ends(), y.ends()
        if x.value is not None and y.value is not None:
            return oracle._sign(x.value - y.value)
        if x_high <= y_low:  # an end that is no value is never attained
            return -1
        if y_high <= x_low:
            return 1
        if x.value is not None or y.value is not None:
            rational, other = (x, y) if x.value is not None else (y, x)
            if _value(other.poly, rational.value) == 0:
                return 0
        elif not tested and min(x.k, y.k) > 60:
            tested = True
            # Dyadic intervals that overlap are nested: a root of both polynomials in the inner one is the outer root.
            common = _gcd(x.poly, y.poly)
            if len(common) > 1 and x.is_root_of(common) and y.is_root_of(common):
                return 0
        x.halve()
        y.halve()


_known = []  # Roots in order; equal numbers are one object, so walls can be matched by identity


def _intern(root):
    low, high = 0, len(_known)
    while low < high:
        middle = (low + high) // 2
        verdict = _compare(root, _known[middle])
        if verdict == 0:
            return _known[middle]
        low, high = (low, middle) if verdict < 0 else (middle + 1, high)
    _known.insert(low, root)
    return root


@cache
def _roots(p):
    """The real roots of an integer polynomial, not 0, in any order, as interned Roots."""
    assert p
    if len(p) < 2:
        return ()
    p = _primitive(_divide(p, _gcd(p, _trim(i * x for i, x in enumerate(p))[1:]))[0])  # square-free
    if len(p) == 2:
        return (_intern(Root(Fraction(-p[0], p[1]))),)
    found = [Root(Fraction(0))] if p[0] == 0 else []
    size = (1 + max(map(abs, p)) // abs(p[-1])).bit_length()  # Cauchy: all roots are within 2^size
    todo = [(-1, -size), (0, -size)]
    while todo:
        n, k = todo.pop()
        c = _local(p, n, k)
        signs = [oracle._sign(x) for x in _shifted(c[::-1], 1) if x]
        changes = sum(a != b for a, b in pairwise(signs))  # Descartes, for t in (0, 1)
        if changes == 1 and c[0] != 0 and sum(c) != 0:
            found.append(Root(None, p, n, k))
        elif changes:
            if _local(p, 2 * n + 1, k + 1)[0] == 0:
                found.append(Root(Fraction(2 * n + 1) / Fraction(2) ** (k + 1)))
            todo += [(2 * n, k + 1), (2 * n + 1, k + 1)]
    return tuple(_intern(root) for root in found)


def _sample(x, y):
    """A rational number between Roots x < y, with a small denominator."""
    while True:
        low, high = x.ends()[1], y.ends()[0]
        if low == high and x.value is None and y.value is None:
            return low
        if low < high:
            unit = Fraction(1)
            while (low // unit + 1) * unit >= high:
                unit /= 2
            return (low // unit + 1) * unit
        x.halve()
        y.halve()


# ------------------------------------------------------------------------------------------- curves and branches
# curve: (A, D), tuples of 2 and 3 Fractions: v = A(u) +- sqrt(D(u)); D = 0 for a line.
# branch: (curve, sign), sign 0 for a line.

ZERO = (Fraction(0),) * 3


def _line(slope, constant):
    return ((Fraction(constant), Fraction(slope)), ZERO)


def _rational_root(x):
    """The rational square root of x >= 0, or None."""
    root = oracle.surd(0, 1, x.numerator * x.denominator)
    return None if isinstance(root, oracle.Surd) else root / x.denominator


def _curves(g):
    """The curves, irreducible over Q, where a score difference g (a polynomial of oracle.py) changes its sign."""
    uu, uv, vv, u, v, constant = (Fraction(g.get(key, 0)) for key in ((0, 0), (0, 1), (1, 1), (0, 2), (1, 2), (2, 2)))
    if not (uu or uv or vv):
        if v == 0 and u != 0:
            raise NotGeneric("a vertical line")
        return [_line(-u / v, -constant / v)] if v else []
    if vv == 0:
        raise NotGeneric("a conic with a vertical asymptote")
    centre = (-v / (2 * vv), -uv / (2 * vv))
    d0, d1, d2 = (
        centre[0] ** 2 - constant / vv,
        2 * centre[0] * centre[1] - u / vv,
        centre[1] ** 2 - uu / vv,
    )
    inner = d1 * d1 - 4 * d0 * d2
    if inner <= 0 and (d2 < 0 or (d2 == 0 and d0 <= 0)):
        return []  # D < 0 up to a point, or D = 0: g has no zero, an isolated one, or a double line
    if inner == 0:
        # D is a square, up to a factor: two lines, rational or not
        factor = d2 if d2 else d0
        root = _rational_root(factor)
        if root is not None:
            half = _line(root, root * d1 / (2 * d2)) if d2 else _line(0, root)
            return [(_vector_sum(centre, half[0], side), ZERO) for side in (1, -1)]
    return [(centre, (d0, d1, d2))]


def _vector_sum(a, b, factor):
    return tuple(x + factor * y for x, y in zip(a, b, strict=True))


def _branches(curve):
    return [(curve, 0)] if curve[1] == ZERO else [(curve, -1), (curve, 1)]


class _Pair(NamedTuple):
    """Integer polynomials, up to positive factors, with delta = A1 - A2."""

    delta: tuple
    norm: tuple  # delta^2 - D1
    mixed: tuple  # delta^2 + D1 - D2
    resultant: tuple  # mixed^2 - 4 delta^2 D1, the product of delta +- sqrt(D1) +- sqrt(D2)


@cache
def _pair(first, second):
    (a1, d1), (a2, d2) = first, second
    delta = _add(a1, a2, -1)
    square = _mul(delta, delta)
    mixed = _add(_add(square, d1), d2, -1)
    resultant = _add(_mul(mixed, mixed), _mul(square, _trim(d1)), -4)
    return _Pair(*map(_integral, (delta, _add(square, d1, -1), mixed, resultant)))


@cache
def _integral(p):
    p = _trim(p)
    return _primitive(p) if p else ()


@cache
def _meetings(first, second):
    """A superset of the u where two different curves meet, or two branches of one curve do: Roots."""
    if first == second:
        return _roots(_integral(first[1])) if first[1] != ZERO else ()
    if first[1] == ZERO:
        first, second = second, first
    pair = _pair(first, second)
    if second[1] != ZERO:
        return _roots(pair.resultant)
    return _roots(pair.delta if first[1] == ZERO else pair.norm)


def _sign_of_sum(sign_a, sign_b, sign_of_square_difference):
    """Sign of a + b, given how to find that of a^2 - b^2."""
    if sign_a == 0 or sign_b == 0 or sign_a == sign_b:
        return sign_a or sign_b
    return sign_a * sign_of_square_difference()


def _order(u, first, second):
    """Sign of first - second, two branches, at a Fraction or Root u where both are real."""
    if first == second:
        return 0
    (curve1, e1), (curve2, e2) = first, second
    pair = _pair(curve1, curve2)
    square1, square2 = _sign_at(_integral(curve1[1]), u), _sign_at(_integral(curve2[1]), u)
    assert square1 >= 0 and square2 >= 0
    delta, root1, root2 = _sign_at(pair.delta, u), e1 * square1, -e2 * square2
    left = _sign_of_sum(delta, root1, lambda: _sign_at(pair.norm, u))
    return _sign_of_sum(
        left,
        root2,
        # (delta + e1 sqrt D1)^2 - D2 = mixed + 2 delta e1 sqrt D1
        lambda: _sign_of_sum(_sign_at(pair.mixed, u), delta * root1, lambda: _sign_at(pair.resultant, u)),
    )


def _height(branch, u):
    """v on a branch at a rational u, as a Fraction or Surd; None where it is not real."""
    (centre, square), side = branch
    a, d = _value(centre, u), _value(square, u)
    if d < 0:
        return None
    return oracle.surd(a, Fraction(side, d.denominator), d.numerator * d.denominator)


# ------------------------------------------------------------------------------------------------------- pieces


class _Trapezoid(NamedTuple):
    left: Root
    right: Root
    low: tuple
    high: tuple


class _Question(NamedTuple):
    groups: list  # (score polynomial, columns if it is the greatest); scores that are one polynomial are one group
    curves: list


def _question(tag, scores):
    if tag == "bit":
        rivals = [(scores[0], (1,))] if oracle._poly_sub(scores[0], {}) else []
        groups = [({}, (0,)), *rivals]
    else:
        members = []
        for position, score in enumerate(scores):
            if score is not None:
                same = [group for group in members if not oracle._poly_sub(group[0], score)]
                if same:
                    same[0][1].append(position)
                else:
                    members.append((score, [position]))
        groups = [(score, tuple(int(i in mine) for i in range(len(scores)))) for score, mine in members]
    curves = {curve for p, q in combinations(groups, 2) for curve in _curves(oracle._poly_sub(p[0], q[0]))}
    return _Question(groups, list(curves))


def _score_at(p, u, v):
    monomials = {(0, 0): u * u, (0, 1): u * v, (1, 1): v * v, (0, 2): u, (1, 2): v, (2, 2): 1}
    return sum((value * monomials[key] for key, value in p.items()), Fraction(0))


def _answer(question, u, low, high):
    """The columns between two heights at u, where no border is."""
    v = oracle.rational_between(low, high)
    while True:
        values = [_score_at(p, u, v) for p, _ in question.groups]
        winners = [i for i, value in enumerate(values) if value == max(values)]
        if len(winners) == 1:
            return question.groups[winners[0]][1]
        v = oracle.rational_between(low, v)  # a tie that separates nothing, for example a double line through here


def _split(piece, question):
    """[(columns, trapezoid), ..]: the parts of a trapezoid by the answer to a question."""
    if not question.curves:
        u = _sample(piece.left, piece.right)
        return [(_answer(question, u, _height(piece.low, u), _height(piece.high, u)), piece)]
    cuts = set()
    for curve in question.curves:
        for other in (curve, piece.low[0], piece.high[0]):
            cuts.update(_meetings(curve, other))
    for p, q in combinations(question.curves, 2):
        cuts.update(_meetings(p, q))
    inside = [u for u in cuts if _compare(piece.left, u) < 0 < _compare(piece.right, u)]
    inside.sort(key=cmp_to_key(_compare))
    branches = [branch for curve in question.curves for branch in _branches(curve)]
    done, growing = [], {}  # growing: (columns, low, high) -> trapezoid that ends at the current wall
    for left, right in pairwise([piece.left, *inside, piece.right]):
        growing_before, growing = growing, {}
        for columns, low, high in _column(piece, question, branches, _sample(left, right)):
            start = left
            before = growing_before.pop((columns, low, high), None)
            if before:
                if _order(left, low, high) < 0:
                    start = before.left
                else:
                    done.append((columns, before))  # pinched to a point at the wall: not glued
            growing[columns, low, high] = _Trapezoid(start, right, low, high)
        done += [(columns, part) for (columns, _, _), part in growing_before.items()]
    return done + [(columns, part) for (columns, _, _), part in growing.items()]


def _column(piece, question, branches, u):
    """[(columns, low, high), ..] from below along the vertical line at u; neighbours have different columns."""
    bottom, top = _height(piece.low, u), _height(piece.high, u)
    assert bottom < top
    heights = [(bottom, piece.low), (top, piece.high)]
    for branch in branches:
        height = _height(branch, u)
        if height is not None and bottom < height < top:
            heights.append((height, branch))
    heights.sort(key=cmp_to_key(lambda p, q: (p[0] > q[0]) - (p[0] < q[0])))
    assert all(p[0] < q[0] for p, q in pairwise(heights))
    result = []
    for (v, low), (w, high) in pairwise(heights):
        columns = _answer(question, u, v, w)
        if result and result[-1][0] == columns:
            result[-1] = (columns, result[-1][1], high)
        else:
            result.append((columns, low, high))
    return result


def _domain(vertices):
    """Trapezoids that tile a convex polygon with counter-clockwise vertices in sheared coordinates."""
    lows, highs = [], []
    for (u0, v0), (u1, v1) in oracle._edges(vertices):
        if u0 == u1:
            raise NotGeneric("a vertical edge")
        slope = (v1 - v0) / (u1 - u0)
        (lows if u0 < u1 else highs).append((min(u0, u1), max(u0, u1), (_line(slope, v0 - slope * u0), 0)))
    walls = sorted({u for u, _ in vertices})
    result = []
    for u0, u1 in pairwise(walls):
        low, high = (next(side for a, b, side in sides if a <= u0 and u1 <= b) for sides in (lows, highs))
        left, right = (_intern(Root(Fraction(u))) for u in (u0, u1))
        result.append(_Trapezoid(left, right, low, high))
    return result


def _refine(network, vertices, shear):
    """{pattern: (tokens, trapezoids)}; a pattern decides the forms."""
    tokens = [[(Fraction(1), shear, Fraction(0)), (Fraction(0), Fraction(1), Fraction(0))]]
    groups = {(): (tokens, _domain([(x - shear * y, y) for x, y in vertices]))}
    for layer in network["layers"]:
        refined = {}
        for pattern, (tokens, pieces) in groups.items():
            parts = {(): pieces}
            for tag, scores in oracle._units(layer, tokens):
                question = _question(tag, scores)
                finer = defaultdict(list)
                for columns, whole in parts.items():
                    for piece in whole:
                        for more, part in _split(piece, question):
                            finer[columns + more].append(part)
                parts = finer
            for columns, found in parts.items():
                refined[pattern + columns] = (oracle._next_tokens(layer, tokens, columns), found)
        groups = refined
    return groups


def enumerate_conic(network, vertices, shears=SHEARS):
    """The pieces in a convex polygon with rational vertices; several pieces may have one pattern."""
    domain = [tuple(oracle._vector(vertex)) for vertex in vertices]
    if network["input_dim"] != 2 or oracle.area(domain) == 0:
        raise ValueError("a network with two inputs and a polygon with positive area are expected")
    if oracle.area(domain) < 0:
        domain = domain[::-1]
    for shear in shears:
        _known.clear()
        for function in (_roots, _pair, _integral, _meetings):
            function.cache_clear()
        try:
            groups = _refine(network, domain, shear)
        except NotGeneric:
            continue
        return [
            ConicPiece(*piece, pattern, _unsheared(tokens, shear), _point_inside(network, piece, pattern, shear), shear)
            for pattern, (tokens, pieces) in groups.items()
            for piece in pieces
        ]
    raise NotGeneric("no shear tried is generic")


def _unsheared(tokens, shear):
    """The forms in x, y, from those in u = x - shear*y, v = y."""
    return tuple((a, b - shear * a, constant) for a, b, constant in oracle._output_map(tokens))


def _point_inside(network, piece, pattern, shear):
    """A rational point of the piece, where the pointwise function, which is separate code, has the pattern."""
    u = _sample(piece.left, piece.right)
    low, high = _height(piece.low, u), _height(piece.high, u)
    v = oracle.rational_between(low, high)
    for _ in range(10):
        point = (u + shear * v, v)
        if oracle.pattern_at(network, point) == pattern:
            return point
        v = oracle.rational_between(low, v)  # ties that separate nothing lie on finitely many points of this line
    raise AssertionError("a piece has not the pattern of its points")


# ---------------------------------------------------------------------------------------- what touches, and counts


def contains(piece, point):
    """Is a rational point (x, y) inside the open piece?"""
    u, v = Fraction(point[0]) - piece.shear * Fraction(point[1]), Fraction(point[1])
    here = Root(u)
    if not _compare(piece.left, here) < 0 < _compare(piece.right, here):
        return False
    return _height(piece.low, u) < v < _height(piece.high, u)


def _higher(x, y):
    return x if _compare(x, y) > 0 else y


def _lower(x, y):
    return x if _compare(x, y) < 0 else y


def facets(pieces):
    """Pairs (i, j), i < j, of pieces that share a border of positive length, walls included."""
    found = set()
    below, starts = defaultdict(list), defaultdict(list)
    for i, piece in enumerate(pieces):
        below[piece.high].append(i)
        starts[piece.left].append(i)
    for j, piece in enumerate(pieces):
        for i in below[piece.low]:  # different curves share no arc, so the branch is the same
            other = pieces[i]
            if _compare(_higher(piece.left, other.left), _lower(piece.right, other.right)) < 0:
                found.add((min(i, j), max(i, j)))
        for i in starts[piece.right]:
            other, wall = pieces[i], piece.right
            if all(_order(wall, low, high) < 0 for low in (piece.low, other.low) for high in (piece.high, other.high)):
                found.add((min(i, j), max(i, j)))
    return found


def _touch(piece, other):
    """Have the closures of two pieces with disjoint interiors a point in common?"""
    left, right = _higher(piece.left, other.left), _lower(piece.right, other.right)
    if _compare(left, right) > 0:
        return False
    for wall in (left, right):
        if _order(wall, piece.low, other.high) <= 0 and _order(wall, other.low, piece.high) <= 0:
            return True
    if _compare(left, right) == 0:
        return False
    # At no wall: then the side of one meets the side of the other between the walls, where the order cannot change.
    if _order(_sample(left, right), piece.high, other.low) > 0:
        piece, other = other, piece
    if piece.high == other.low:
        return True
    return any(
        _compare(left, u) < 0 < _compare(right, u) and _order(u, piece.high, other.low) == 0
        for u in _meetings(piece.high[0], other.low[0])
    )


class _Classes:
    """Union-find on 0 .. size-1."""

    def __init__(self, size):
        self.parent = list(range(size))

    def find(self, i):
        while self.parent[i] != i:
            self.parent[i] = i = self.parent[self.parent[i]]
        return i

    def join(self, i, j):
        self.parent[self.find(i)] = self.find(j)

    def labels(self):
        return [self.find(i) for i in range(len(self.parent))]


def components(pieces, key, closed=False, borders=None):
    """Per piece the label of its class: equal key(piece), joined through facets (closed: through common points)."""
    classes = _Classes(len(pieces))
    for i, j in facets(pieces) if borders is None else borders:
        if key(pieces[i]) == key(pieces[j]):
            classes.join(i, j)
    if closed:
        same = defaultdict(list)
        for i, piece in enumerate(pieces):
            same[key(piece)].append(i)
        for members in same.values():
            for i, j in combinations(members, 2):
                if classes.find(i) != classes.find(j) and _touch(pieces[i], pieces[j]):
                    classes.join(i, j)
    return classes.labels()


def patterns(pieces):
    """The set of patterns of open pieces."""
    return {piece.pattern for piece in pieces}


def counts(pieces):
    """The five counts of a list from enumerate_conic."""
    borders = facets(pieces)

    def number(key, closed=False):
        return len(set(components(pieces, key, closed, borders)))

    return {
        "activation": len(patterns(pieces)),
        "cells": number(lambda piece: piece.pattern),
        "linear": number(lambda piece: piece.map),
        "linear_closed": number(lambda piece: piece.map, closed=True),
        "affine_maps": len({piece.map for piece in pieces}),
    }
