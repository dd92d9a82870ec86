"""Slow, exact, independent oracle for small networks in the `regioncount-network` JSON format.

Standard library only; nothing here is imported from regioncount. Numbers are Fractions; break points and
points of evaluation may also be `Surd`s a + b*sqrt(d). A network is the plain dict of a JSON file. Clarity
before speed.

Method. Pieces are refined layer by layer. In a piece every hidden coordinate is an affine form of the input,
a tuple (slope_0, .., slope_{n-1}, constant). A layer asks questions ("units"): the sign of a form, or which
of several scores is greatest. In 1-D all roots of all pairs of scores cut the interval, the answers are read
off at one rational point of each part, and neighbours with one pattern are merged. In 2-D every possible
answer of every unit is intersected with the piece, by exact clipping, and kept where it has positive area: so
no cut is superfluous.

Pointwise evaluation (`evaluate`, `pattern_at`) is separate code, ties averaged; R1 needs it, and it checks
the pieces.

API: enumerate_1d, enumerate_2d, counts, patterns, evaluate, pattern_at, r1_1d, r1_2d, patterns_1d_closed,
patterns_2d_closed, restrict, box, area, centroid, clip, share_facet, share_point, roots, rational_between,
random_relu, random_maxout, random_transformer; Surd, NotAffine, Piece1D, Piece2D.
"""

from collections import defaultdict
from fractions import Fraction
from functools import cmp_to_key, total_ordering
from itertools import combinations, pairwise
from math import isqrt
from typing import NamedTuple


class NotAffine(ValueError):
    """A difference of two scores is really quadratic on a 2-D piece."""


class Piece1D(NamedTuple):
    left: object  # Fraction or Surd
    right: object
    pattern: tuple  # 0/1 columns, in the order of the design
    map: tuple  # ((slope, constant), ..) one pair an output


class Piece2D(NamedTuple):
    vertices: tuple  # ((x, y), ..) counter-clockwise, convex
    pattern: tuple
    map: tuple  # ((slope_x, slope_y, constant), ..) one triple an output


# --------------------------------------------------------------------------------------- numbers in Q(sqrt d)


def _sign(number):
    return (number > 0) - (number < 0)


def _sign_surd(a, b, d):
    """Sign of a + b*sqrt(d) for rational a, b, d >= 0."""
    sign_a, sign_b = _sign(a), _sign(b) if d else 0
    if sign_a == 0 or sign_b == 0 or sign_a == sign_b:
        return sign_a or sign_b
    return sign_a * _sign(a * a - b * b * d)


def _sign_two_surds(a, b, d, c, e):
    """Sign of u + v, u = a + b*sqrt(d), v = c*sqrt(e): if their signs differ, that of u^2 - v^2 times u's."""
    sign_u, sign_v = _sign_surd(a, b, d), _sign(c) if e else 0
    if sign_u == 0 or sign_v == 0 or sign_u == sign_v:
        return sign_u or sign_v
    return sign_u * _sign_surd(a * a + b * b * d - c * c * e, 2 * a * b, d)


@total_ordering
class Surd:
    """a + b*sqrt(d), rational a, b != 0, d a positive integer that is no square. Made by `surd` only.

    Arithmetic within one d; comparisons between any two.
    """

    __hash__ = None

    def __init__(self, a, b, d):
        self.a, self.b, self.d = a, b, d

    def __repr__(self):
        return f"({self.a} + {self.b}*sqrt({self.d}))"

    def _parts(self, other):
        if isinstance(other, Surd):
            if other.d != self.d:
                raise ValueError(f"arithmetic between sqrt({self.d}) and sqrt({other.d})")
            return other.a, other.b
        return Fraction(other), Fraction(0)

    def __add__(self, other):
        a, b = self._parts(other)
        return surd(self.a + a, self.b + b, self.d)

    def __mul__(self, other):
        a, b = self._parts(other)
        return surd(self.a * a + self.b * b * self.d, self.a * b + self.b * a, self.d)

    __radd__, __rmul__ = __add__, __mul__

    def __neg__(self):
        return surd(-self.a, -self.b, self.d)

    def __sub__(self, other):
        return self + -other

    def __rsub__(self, other):
        return -self + other

    def __truediv__(self, other):
        """Division by a rational number."""
        return self * (1 / Fraction(other))

    def _compare(self, other):
        if isinstance(other, Surd):
            return _sign_two_surds(self.a - other.a, self.b, self.d, -other.b, other.d)
        return _sign_surd(self.a - other, self.b, self.d)

    def __eq__(self, other):
        return self._compare(other) == 0

    def __lt__(self, other):
        return self._compare(other) < 0

    def __float__(self):
        return float(_near(self, 200))


def surd(a, b, d):
    """a + b*sqrt(d) for rational a, b and an integer d >= 0: a Fraction if it is rational, else a Surd."""
    root = isqrt(d)
    if root * root == d:
        return Fraction(a) + Fraction(b) * root
    return Fraction(a) if b == 0 else Surd(Fraction(a), Fraction(b), d)


def _near(number, bits):
    """A rational number that tends to `number` as bits grow."""
    if not isinstance(number, Surd):
        return Fraction(number)
    return number.a + number.b * Fraction(isqrt(number.d << 2 * bits), 1 << bits)


def rational_between(low, high):
    """A rational number strictly between low < high."""
    bits = 16
    while True:
        middle = (_near(low, bits) + _near(high, bits)) / 2
        if low < middle < high:
            return middle
        bits *= 2


def _sorted_distinct(numbers):
    ordered = sorted(numbers, key=cmp_to_key(lambda x, y: (x > y) - (x < y)))
    return [x for i, x in enumerate(ordered) if i == 0 or x != ordered[i - 1]]


def roots(a, b, c):
    """The real roots of a x^2 + b x + c, not all of a, b, c zero; a double root once."""
    if a == 0:
        return [] if b == 0 else [-c / b]
    discriminant = Fraction(b * b - 4 * a * c)
    if discriminant < 0:
        return []
    # sqrt(p/q) = sqrt(p q)/q
    radicand, factor = (
        discriminant.numerator * discriminant.denominator,
        Fraction(1, discriminant.denominator),
    )
    centre, half = -b / (2 * a), factor / (2 * a)
    if discriminant == 0:
        return [centre]
    return [surd(centre, -half, radicand), surd(centre, half, radicand)]


# ---------------------------------------------------------------------------------------- reading the network


def _vector(values):
    return [Fraction(value) for value in values]


def _matrix(rows):
    return [_vector(row) for row in rows]


def _weight_bias(block):
    """(weight rows, bias) of an affine block; bias 0 if it is not given."""
    weight = _matrix(block["weight"])
    return weight, _vector(block.get("bias", [0] * len(weight)))


def _maxout_units(layer):
    """Per unit a list of candidates (weight row, bias); ragged units welcome."""
    weight = [_matrix(unit) for unit in layer["weight"]]
    bias = layer.get("bias", [[0] * len(unit) for unit in weight])
    return [list(zip(rows, _vector(row), strict=True)) for rows, row in zip(weight, bias, strict=True)]


def _embedding(layer):
    """Per token (weight rows, bias)."""
    weight = [_matrix(token) for token in layer["weight"]]
    bias = layer.get("bias", [[0] * len(token) for token in weight])
    return [(rows, _vector(row)) for rows, row in zip(weight, bias, strict=True)]


def _allowed(layer, n_tokens):
    """allowed[query][key]."""
    mask = layer.get("mask", "none")
    tokens = range(n_tokens)
    if mask == "none":
        return [[True for _ in tokens] for _ in tokens]
    if mask == "causal":
        return [[key <= query for key in tokens] for query in tokens]
    return [[bool(mask[query][key]) for key in tokens] for query in tokens]


def _check_kind(layer):
    if layer["type"] == "attention" and layer.get("activation", "hardmax") != "hardmax":
        raise ValueError("only hardmax attention has pieces")
    if layer["type"] == "feedforward" and layer.get("activation", "relu") != "relu":
        raise ValueError("only relu feedforward layers are known here")


def _slope_off(layer):
    """What a negative pre-activation is multiplied by."""
    if layer["type"] == "leaky_relu":
        return Fraction(layer["slope"])
    return {"relu": Fraction(0), "abs": Fraction(-1)}[layer["type"]]


def _read_out(layer, tokens, add, scale):
    """The single token that a readout layer leaves, given how to add and scale the entries."""
    chosen = layer.get("coordinates")
    chosen = range(len(tokens[0])) if chosen is None else chosen
    kept = [[token[i] for i in chosen] for token in tokens]
    if layer["token"] == "all":
        return [[entry for token in kept for entry in token]]
    if layer["token"] == "mean":
        total = kept[0]
        for token in kept[1:]:
            total = [add(x, y) for x, y in zip(total, token, strict=True)]
        return [[scale(Fraction(1, len(kept)), x) for x in total]]
    return [kept[layer["token"]]]


# --------------------------------------------------------------------------------------- pointwise evaluation


def _dot(row, vector):
    return sum((w * x for w, x in zip(row, vector, strict=True)), Fraction(0))


def _act(block, vector):
    weight, bias = _weight_bias(block)
    return [_dot(row, vector) + b for row, b in zip(weight, bias, strict=True)]


def _run(network, point):
    """(output, pattern) of the pointwise function at one point; tied attention values are averaged."""
    point = list(point) if hasattr(point, "__iter__") else [point]
    tokens = [[x if isinstance(x, Surd) else Fraction(x) for x in point]]
    pattern = []
    for layer in network["layers"]:
        _check_kind(layer)
        kind = layer["type"]
        if kind == "affine":
            tokens = [_act(layer, token) for token in tokens]
        elif kind == "embed":
            tokens = [
                [_dot(row, tokens[0]) + b for row, b in zip(rows, bias, strict=True)]
                for rows, bias in _embedding(layer)
            ]
        elif kind in ("relu", "leaky_relu", "abs"):
            off = _slope_off(layer)
            pattern += [int(x > 0) for token in tokens for x in token]
            tokens = [[x if x > 0 else off * x for x in token] for token in tokens]
        elif kind == "maxout":
            result = []
            for token in tokens:
                values = [[_dot(row, token) + b for row, b in unit] for unit in _maxout_units(layer)]
                pattern += [int(value == max(unit)) for unit in values for value in unit]
                result.append([max(unit) for unit in values])
            tokens = result
        elif kind == "attention":
            allowed = _allowed(layer, len(tokens))
            result = [list(token) if layer.get("residual", True) else None for token in tokens]
            for head in layer["heads"]:
                queries, keys, values = (
                    [_act(head[what], token) for token in tokens] for what in ("query", "key", "value")
                )
                for t in range(len(tokens)):
                    scores = {s: _dot(keys[s], queries[t]) for s in range(len(tokens)) if allowed[t][s]}
                    best = max(scores.values())
                    winners = [s for s in scores if scores[s] == best]
                    pattern += [int(s in winners) for s in range(len(tokens))]
                    mean = [
                        sum(column) / len(winners)
                        for column in zip(*(values[s] for s in winners), strict=True)
                    ]
                    change = _act(head["output"], mean)
                    result[t] = (
                        change
                        if result[t] is None
                        else [x + y for x, y in zip(result[t], change, strict=True)]
                    )
            tokens = result
        elif kind == "feedforward":
            result = []
            for token in tokens:
                hidden = _act(layer["hidden"], token)
                pattern += [int(z > 0) for z in hidden]
                change = _act(layer["output"], [z if z > 0 else Fraction(0) for z in hidden])
                keep = token if layer.get("residual", True) else [Fraction(0)] * len(change)
                result.append([x + y for x, y in zip(keep, change, strict=True)])
            tokens = result
        elif kind == "readout":
            tokens = _read_out(layer, tokens, lambda x, y: x + y, lambda factor, x: x * factor)
        else:
            raise ValueError(f"unknown layer type {kind!r}")
    return tuple(x for token in tokens for x in token), tuple(pattern)


def evaluate(network, point):
    """The outputs at a point (a sequence, or one number in 1-D): a tuple of Fractions (Surds at a Surd)."""
    return _run(network, point)[0]


def pattern_at(network, point):
    """The activation pattern at a point, tied winners all 1, as a tuple of 0 and 1."""
    return _run(network, point)[1]


# ------------------------------------------------------------------------------- affine forms and polynomials
# form: (slope_0, .., slope_{n-1}, constant).
# polynomial: {(i, j): coefficient of u_i u_j, i <= j} with u = (x_0, .., x_{n-1}, 1).


def _form_sum(f, g):
    return tuple(x + y for x, y in zip(f, g, strict=True))


def _form_scale(factor, f):
    return tuple(factor * x for x in f)


def _form_combine(row, forms, constant):
    """sum of row[i]*forms[i], plus the constant."""
    total = (Fraction(0),) * (len(forms[0]) - 1) + (constant,)
    for weight, form in zip(row, forms, strict=True):
        total = _form_sum(total, _form_scale(weight, form))
    return total


def _form_act(block, forms):
    weight, bias = _weight_bias(block)
    return [_form_combine(row, forms, b) for row, b in zip(weight, bias, strict=True)]


def _poly(f, g):
    """The product of two forms."""
    product = defaultdict(Fraction)
    for i, x in enumerate(f):
        for j, y in enumerate(g):
            product[min(i, j), max(i, j)] += x * y
    return product


def _poly_of_form(f):
    return _poly(f, (0,) * (len(f) - 1) + (1,))


def _poly_sub(p, q):
    """p - q without zero coefficients: empty exactly if p = q."""
    difference = {key: p.get(key, 0) - q.get(key, 0) for key in {*p, *q}}
    return {key: value for key, value in difference.items() if value != 0}


def _units(layer, tokens):
    """The questions a layer asks in a piece where `tokens` (lists of forms) are known, in pattern order.

    ("bit", [z]): one column, z > 0. ("set", scores): one column a score, whether it is greatest; None is a
    masked key, and gives 0.
    """
    kind = layer["type"]
    _check_kind(layer)
    if kind in ("relu", "leaky_relu", "abs"):
        return [("bit", [_poly_of_form(form)]) for token in tokens for form in token]
    if kind == "feedforward":
        return [
            ("bit", [_poly_of_form(form)]) for token in tokens for form in _form_act(layer["hidden"], token)
        ]
    if kind == "maxout":
        return [
            ("set", [_poly_of_form(_form_combine(row, token, b)) for row, b in unit])
            for token in tokens
            for unit in _maxout_units(layer)
        ]
    if kind == "attention":
        units = []
        for head in layer["heads"]:
            queries = [_form_act(head["query"], token) for token in tokens]
            keys = [_form_act(head["key"], token) for token in tokens]
            for query, allowed in zip(queries, _allowed(layer, len(tokens)), strict=True):
                units.append(
                    (
                        "set",
                        [_score(query, key) if ok else None for key, ok in zip(keys, allowed, strict=True)],
                    )
                )
        return units
    return []


def _score(query, key):
    total = defaultdict(Fraction)
    for q, k in zip(query, key, strict=True):
        for monomial, value in _poly(q, k).items():
            total[monomial] += value
    return total


def _next_tokens(layer, tokens, columns):
    """The forms after a layer, from the forms before it and the answers (pattern columns) to its `_units`."""
    kind = layer["type"]
    columns = iter(columns)
    if kind == "affine":
        return [_form_act(layer, token) for token in tokens]
    if kind == "embed":
        return [
            [_form_combine(row, tokens[0], b) for row, b in zip(*part, strict=True)]
            for part in _embedding(layer)
        ]
    if kind in ("relu", "leaky_relu", "abs"):
        off = _slope_off(layer)
        return [[form if next(columns) else _form_scale(off, form) for form in token] for token in tokens]
    if kind == "maxout":
        result = []
        for token in tokens:
            result.append([])
            for unit in _maxout_units(layer):
                won = [candidate for candidate in unit if next(columns)]
                row, b = won[0]  # all the winners are one form here
                result[-1].append(_form_combine(row, token, b))
        return result
    if kind == "attention":
        result = [token if layer.get("residual", True) else None for token in tokens]
        for head in layer["heads"]:
            values = [_form_act(head["value"], token) for token in tokens]
            for t in range(len(tokens)):
                won = [value for value in values if next(columns)]
                share = Fraction(1, len(won))
                mean = [
                    _form_combine([share] * len(won), parts, Fraction(0)) for parts in zip(*won, strict=True)
                ]
                change = _form_act(head["output"], mean)
                result[t] = change if result[t] is None else [*map(_form_sum, result[t], change)]
        return result
    if kind == "feedforward":
        result = []
        for token in tokens:
            hidden = [_form_scale(next(columns), form) for form in _form_act(layer["hidden"], token)]
            change = _form_act(layer["output"], hidden)
            result.append([*map(_form_sum, token, change)] if layer.get("residual", True) else change)
        return result
    if kind == "readout":
        return _read_out(layer, tokens, _form_sum, _form_scale)
    raise ValueError(f"unknown layer type {kind!r}")


def _input_tokens(n):
    """One vector: the input itself."""
    return [[tuple(Fraction(int(i == j)) for j in range(n + 1)) for i in range(n)]]


def _output_map(tokens):
    return tuple(form for token in tokens for form in token)


# -------------------------------------------------------------------------------------------------------- 1-D


def _value_1d(poly, x):
    return poly.get((0, 0), 0) * x * x + poly.get((0, 1), 0) * x + poly.get((1, 1), 0)


def _cut_points_1d(units):
    """Roots of every z and of every difference of two scores that are not the same polynomial."""
    points = []
    for tag, scores in units:
        scores = [score for score in scores if score is not None]
        differences = (
            [_poly_sub(scores[0], {})]
            if tag == "bit"
            else [_poly_sub(p, q) for p, q in combinations(scores, 2)]
        )
        for difference in differences:
            if difference:
                a, b, c = (Fraction(difference.get(key, 0)) for key in ((0, 0), (0, 1), (1, 1)))
                points += roots(a, b, c)
    return points


def _columns_1d(units, x):
    columns = []
    for tag, scores in units:
        values = [None if score is None else _value_1d(score, x) for score in scores]
        if tag == "bit":
            columns.append(int(values[0] > 0))
        else:
            best = max(value for value in values if value is not None)
            columns += [int(value is not None and value == best) for value in values]
    return tuple(columns)


def _refine_1d(network, low, high):
    """(pieces, all points where an answer changes). A piece here is (left, right, pattern, tokens)."""
    low, high = Fraction(low), Fraction(high)
    if network["input_dim"] != 1 or not low < high:
        raise ValueError("a network with one input and low < high are expected")
    pieces = [(low, high, (), _input_tokens(1))]
    events = [low, high]
    for layer in network["layers"]:
        refined = []
        for left, right, pattern, tokens in pieces:
            units = _units(layer, tokens)
            inside = _sorted_distinct(x for x in _cut_points_1d(units) if left < x < right)
            parts = [*pairwise([left, *inside, right])]
            answers = [_columns_1d(units, rational_between(a, b)) for a, b in parts]
            for x, before, after in zip(inside, answers, answers[1:], strict=False):
                if not before == _columns_1d(units, x) == after:
                    events.append(x)
            for (a, b), columns in zip(parts, answers, strict=True):
                if refined and refined[-1][2] == pattern + columns:
                    refined[-1] = (refined[-1][0], b, *refined[-1][2:])  # the same choices on both sides
                else:
                    refined.append((a, b, pattern + columns, _next_tokens(layer, tokens, columns)))
        pieces = refined
    return pieces, _sorted_distinct(events)


def enumerate_1d(network, low, high):
    """The pieces on [low, high] from left to right; neighbours have different patterns."""
    return [
        Piece1D(a, b, pattern, _output_map(tokens))
        for a, b, pattern, tokens in _refine_1d(network, low, high)[0]
    ]


def patterns_1d_closed(network, low, high):
    """Every pattern of the pointwise function on the closed interval."""
    pieces, events = _refine_1d(network, low, high)
    # Between two events all layers do what they do in the open piece, so only the events are left to look at.
    return {piece[2] for piece in pieces} | {pattern_at(network, [x]) for x in events}


def r1_1d(network, low, high):
    """R1: the number of patterns on the closed interval, those at points included."""
    return len(patterns_1d_closed(network, low, high))


# -------------------------------------------------------------------------------------------------------- 2-D


def box(domain):
    """The vertices of a rectangle given as [[x_low, x_high], [y_low, y_high]]."""
    (x0, x1), (y0, y1) = _matrix(domain)
    return ((x0, y0), (x1, y0), (x1, y1), (x0, y1))


def _cross(o, p, q):
    return (p[0] - o[0]) * (q[1] - o[1]) - (p[1] - o[1]) * (q[0] - o[0])


def _edges(vertices):
    return [(vertices[i - 1], vertices[i]) for i in range(len(vertices))]


def area(vertices):
    """Signed area, positive if counter-clockwise."""
    return sum((p[0] * q[1] - p[1] * q[0] for p, q in _edges(vertices)), Fraction(0)) / 2


def centroid(vertices):
    """The mean of the vertices: an interior point of a convex polygon."""
    return tuple(sum(v[i] for v in vertices) / len(vertices) for i in (0, 1))


def clip(vertices, line):
    """The part of a convex polygon where a x + b y + c >= 0; an empty tuple where that has no area."""
    a, b, c = line
    result = []
    for p, q in _edges(vertices):
        at_p, at_q = (a * v[0] + b * v[1] + c for v in (p, q))
        if at_p * at_q < 0:
            t = at_p / (at_p - at_q)
            result.append((p[0] + t * (q[0] - p[0]), p[1] + t * (q[1] - p[1])))
        if at_q >= 0:
            result.append(q)
    return tuple(result) if len(result) > 2 and area(result) > 0 else ()


def _line(poly):
    """(a, b, c) of an affine polynomial."""
    if any(value != 0 and j < 2 for (_, j), value in poly.items()):
        raise NotAffine("a score difference is quadratic on a piece")
    return tuple(Fraction(poly.get(key, 0)) for key in ((0, 2), (1, 2), (2, 2)))


def _answers_2d(vertices, tag, scores):
    """[(part of the polygon, the columns of this unit there), ..]: parts of positive area."""
    if tag == "bit":
        line = _line(scores[0])
        if not any(line):
            return [(vertices, (0,))]
        parts = [(clip(vertices, _form_scale(-1, line)), (0,)), (clip(vertices, line), (1,))]
        return [(part, columns) for part, columns in parts if part]
    groups = []  # [score, positions of the candidates with this very score]
    for position, score in enumerate(scores):
        if score is not None:
            same = [group for group in groups if not _poly_sub(group[0], score)]
            if same:
                same[0][1].append(position)
            else:
                groups.append([score, [position]])
    for p, q in combinations(groups, 2):
        _line(_poly_sub(p[0], q[0]))  # refuses quadratic differences, wherever they are
    answers = []
    for mine, members in groups:
        part = vertices
        for other, _ in groups:
            if part and other is not mine:
                part = clip(part, _line(_poly_sub(mine, other)))
        if part:
            answers.append((part, tuple(int(i in members) for i in range(len(scores)))))
    return answers


def enumerate_2d(network, polygon_vertices):
    """The pieces in a convex polygon; NotAffine if two scores have a quadratic difference on a piece.

    All pieces have different patterns, because then all sets with one pattern are convex.
    """
    domain = tuple(tuple(_vector(vertex)) for vertex in polygon_vertices)
    if network["input_dim"] != 2 or area(domain) == 0:
        raise ValueError("a network with two inputs and a polygon with positive area are expected")
    if area(domain) < 0:
        domain = domain[::-1]
    pieces = [(domain, (), _input_tokens(2))]
    for layer in network["layers"]:
        refined = []
        for vertices, pattern, tokens in pieces:
            parts = [(vertices, ())]
            for tag, scores in _units(layer, tokens):
                parts = [
                    (smaller, columns + more)
                    for part, columns in parts
                    for smaller, more in _answers_2d(part, tag, scores)
                ]
            refined += [
                (part, pattern + columns, _next_tokens(layer, tokens, columns)) for part, columns in parts
            ]
        pieces = refined
    return [Piece2D(vertices, pattern, _output_map(tokens)) for vertices, pattern, tokens in pieces]


def _between(v, p, q):
    """Is v on the closed segment pq?"""
    return _cross(p, q, v) == 0 and all(min(p[i], q[i]) <= v[i] <= max(p[i], q[i]) for i in (0, 1))


def _boxes_meet(first, second):
    return all(
        max(min(v[i] for v in first), min(v[i] for v in second))
        <= min(max(v[i] for v in first), max(v[i] for v in second))
        for i in (0, 1)
    )


def share_facet(first, second):
    """Do two polygons have edges that overlap in positive length?"""
    if not _boxes_meet(first, second):
        return False
    for p, q in _edges(first):
        for r, s in _edges(second):
            if _cross(p, q, r) == 0 and _cross(p, q, s) == 0:
                along = [(v[0] - p[0]) * (q[0] - p[0]) + (v[1] - p[1]) * (q[1] - p[1]) for v in (q, r, s)]
                if max(0, min(along[1:])) < min(along[0], max(along[1:])):
                    return True
    return False


def share_point(first, second):
    """Do two closed convex polygons with disjoint interiors touch?

    Then a vertex of one is on the border of the other.
    """
    return _boxes_meet(first, second) and any(
        _between(v, p, q)
        for one, two in ((first, second), (second, first))
        for v in one
        for p, q in _edges(two)
    )


def _components(pieces, key, touch):
    """Number of classes of pieces under the closure of: equal key and touch(vertices, vertices)."""
    by_key = defaultdict(list)
    for piece in pieces:
        by_key[key(piece)].append(piece.vertices)
    total = 0
    for polygons in by_key.values():
        while polygons:
            total += 1
            border = [polygons.pop()]
            while border:
                polygon = border.pop()
                near = [other for other in polygons if touch(polygon, other)]
                polygons = [other for other in polygons if other not in near]
                border += near
    return total


def patterns(pieces):
    """The set of patterns of open pieces."""
    return {piece.pattern for piece in pieces}


def counts(pieces):
    """The five counts of a list from enumerate_1d or enumerate_2d."""
    result = {"activation": len(patterns(pieces)), "affine_maps": len({piece.map for piece in pieces})}
    if isinstance(pieces[0], Piece1D):
        result["cells"] = 1 + sum(p.pattern != q.pattern for p, q in pairwise(pieces))
        result["linear"] = 1 + sum(p.map != q.map for p, q in pairwise(pieces))
        result["linear_closed"] = result["linear"]
    else:
        result["cells"] = _components(pieces, lambda piece: piece.pattern, share_facet)
        result["linear"] = _components(pieces, lambda piece: piece.map, share_facet)
        result["linear_closed"] = _components(pieces, lambda piece: piece.map, share_point)
    return result


def restrict(network, start, end):
    """The network on the segment from start to end, as a network with one input in [0, 1]."""
    start, end = _vector(start), _vector(end)
    line = {"type": "affine", "weight": [[q - p] for p, q in zip(start, end, strict=True)], "bias": start}
    return {**network, "input_dim": 1, "layers": [line, *network["layers"]]}


def patterns_2d_closed(network, polygon_vertices):
    """Every pattern of the pointwise function on the closed polygon.

    Without attention the function is continuous, and the pattern is constant on the relative interior of
    every piece of an edge between two neighbouring vertices (of whatever piece): one midpoint each is enough.
    With attention later layers see averages on a border, so the border is subdivided afresh: the network
    restricted to each edge is a 1-D network, in which what ties along the edge ties on a whole piece.
    """
    pieces = enumerate_2d(network, polygon_vertices)
    found = patterns(pieces)
    edges = {tuple(sorted(edge)) for piece in pieces for edge in _edges(piece.vertices)}
    if any(layer["type"] == "attention" for layer in network["layers"]):
        for p, q in edges:
            found |= patterns_1d_closed(restrict(network, p, q), 0, 1)
        return found
    corners = {v for piece in pieces for v in piece.vertices}
    segments = set()
    for p, q in edges:
        segments.update(pairwise(sorted(v for v in corners if _between(v, p, q))))
    found |= {pattern_at(network, v) for v in corners}
    return found | {pattern_at(network, centroid(segment)) for segment in segments}


def r1_2d(network, polygon_vertices):
    """R1: the number of patterns on the closed polygon, those on segments and points included."""
    return len(patterns_2d_closed(network, polygon_vertices))


# -------------------------------------------------------------------------------------------- random networks

VALUES = (
    -2,
    -1,
    Fraction(-1, 2),
    0,
    Fraction(1, 2),
    1,
    2,
)  # few values: ties, parallels and repetitions happen


def _json(value):
    value = Fraction(value)
    return value.numerator if value.denominator == 1 else str(value)


def _draw(rng, shape, values):
    """Nested lists of random entries of `values`, as JSON numbers or strings of fractions."""
    if not shape:
        return _json(rng.choice(values))
    return [_draw(rng, shape[1:], values) for _ in range(shape[0])]


def _draw_affine(rng, n_out, n_in, values):
    return {"weight": _draw(rng, (n_out, n_in), values), "bias": _draw(rng, (n_out,), values)}


def _network(n, layers):
    return {"format": "regioncount-network", "version": 1, "input_dim": n, "layers": layers}


def random_relu(rng, widths, values=VALUES, activation="relu", slope="1/4"):
    """widths = (inputs, hidden .., outputs). activation: relu, leaky_relu (with slope), abs, or mixed."""
    layers = []
    for n_in, n_out in pairwise(widths):
        layers.append({"type": "affine", **_draw_affine(rng, n_out, n_in, values)})
        kind = rng.choice(("relu", "leaky_relu", "abs")) if activation == "mixed" else activation
        layers.append({"type": kind, "slope": slope} if kind == "leaky_relu" else {"type": kind})
    return _network(widths[0], layers[:-1])


def random_maxout(rng, widths, rank=3, values=VALUES, ragged=False):
    """widths = (inputs, maxout layers .., outputs), the last layer affine. ragged: ranks from 1 to rank."""
    layers = []
    for n_in, n_out in pairwise(widths[:-1]):
        ranks = [rng.randint(1, rank) if ragged else rank for _ in range(n_out)]
        weight, bias = (
            [_draw(rng, (k, n_in), values) for k in ranks],
            [_draw(rng, (k,), values) for k in ranks],
        )
        layers.append({"type": "maxout", "weight": weight, "bias": bias})
    layers.append({"type": "affine", **_draw_affine(rng, widths[-1], widths[-2], values)})
    return _network(widths[0], layers)


def random_transformer(
    rng,
    tokens=3,
    dim=2,
    layers=1,
    heads=1,
    head_dim=2,
    hidden=1,
    input_dim=1,
    values=VALUES,
    scores="quadratic",
    mask="none",
    residual=True,
    readout=True,
):
    """`layers` times attention and feedforward (not if hidden = 0), then a readout of a random token.

    scores: "quadratic"; "fixed_query" (queries do not depend on the input: affine); "fixed_keys" (coordinate
    0 of a token is its position, for ever, and the keys look at it alone: affine; needs residual); "mixed"
    (either, a head). mask: "none", "causal", or "random" (bools). residual = False concerns attention.
    readout: True, False, or the value of "token".
    """
    positions = scores in ("fixed_keys", "mixed")
    if positions and not residual:
        raise ValueError("fixed_keys needs the residual: it keeps the positions")

    def keep_position(block):
        if positions:
            block["weight"][0], block["bias"][0] = [0] * len(block["weight"][0]), 0
        return block

    embed = {"type": "embed", "weight": _draw(rng, (tokens, dim, input_dim), values)}
    embed["bias"] = _draw(rng, (tokens, dim), values)
    if positions:
        for t in range(tokens):
            embed["weight"][t][0], embed["bias"][t][0] = [0] * input_dim, t
    result = [embed]
    for _ in range(layers):
        attention = {"type": "attention", "residual": residual, "heads": []}
        if mask == "random":
            open_to = [[rng.random() < 0.6 for _ in range(tokens)] for _ in range(tokens)]
            for t in range(tokens):
                open_to[t][rng.randrange(tokens)] = True
            attention["mask"] = open_to
        elif mask != "none":
            attention["mask"] = mask
        for _ in range(heads):
            head = {what: _draw_affine(rng, head_dim, dim, values) for what in ("query", "key", "value")}
            head["output"] = keep_position(_draw_affine(rng, dim, head_dim, values))
            style = rng.choice(("fixed_query", "fixed_keys")) if scores == "mixed" else scores
            if style == "fixed_query":
                head["query"]["weight"] = [[0] * dim for _ in range(head_dim)]
            elif style == "fixed_keys":
                head["key"]["weight"] = [[row[0]] + [0] * (dim - 1) for row in head["key"]["weight"]]
            attention["heads"].append(head)
        result.append(attention)
        if hidden:
            inner, outer = (
                _draw_affine(rng, hidden, dim, values),
                keep_position(_draw_affine(rng, dim, hidden, values)),
            )
            result.append({"type": "feedforward", "residual": True, "hidden": inner, "output": outer})
    if readout is not False:
        result.append({"type": "readout", "token": rng.randrange(tokens) if readout is True else readout})
    return _network(input_dim, result)
