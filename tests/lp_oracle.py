"""Slow, exact, independent oracle in R^n: full-dimensional activation patterns by linear programming.

Nothing here is imported from regioncount; what a layer asks and does is read from the dict of a JSON network by
`oracle`, which shares no geometry with this file. Scores must be affine (ReLU, leaky ReLU, abs, maxout, attention with
fixed queries or fixed keys): a cell is then a convex polyhedron, here a tuple of strict inequalities.

A *form* (a_0, .., a_{n-1}, c) of integers without a common factor means a.x + c > 0. Every question is about the slack
of forms, t* = max min_i (a_i.x + c_i): positive, zero (the closed set is not empty, but flat) or negative. By duality
t* = min c.l over l >= 0 with sum l_i = 1 and sum l_i a_i = 0 (no such l: t* is infinite). HiGHS guesses in floats, and
the guess is proved in rational arithmetic: a rational point with positive slack, or multipliers l on the support of the
float duals. Where neither proof succeeds, a rational simplex by Bland's rule on that dual decides (`exact_slack`).

Units are taken one after the other, depth first; a cell carries an interior point, which decides one side of a bit
for nothing. A unit that does not cut a cell adds no form. All patterns found differ, so `cells` is `activation`.

API: enumerate_cells, Cell, patterns, counts, is_bounded, slack, exact_slack, share_facet, share_point, arrangement.
"""

from collections import defaultdict
from fractions import Fraction
from itertools import combinations
from math import gcd, lcm
from typing import NamedTuple

import numpy as np
import oracle
from scipy.optimize import linprog


class Cell(NamedTuple):
    pattern: tuple  # 0/1 columns, in the order of the design
    map: tuple  # ((slope_0, .., slope_{n-1}, constant), ..) one an output, Fractions
    forms: tuple  # of integers, each positive on the open cell; with the domain's
    point: tuple  # an interior point, Fractions


class Slack(NamedTuple):
    sign: int  # of the greatest slack
    point: object  # a point of that sign of slack (positive: all forms are), or None where the sign is negative


# ------------------------------------------------------------------------------------------------ linear programs


def primitive(form):
    """The positive multiple of a form in integers without a common factor."""
    common = lcm(*(Fraction(x).denominator for x in form))
    whole = [int(x * common) for x in form]
    divisor = gcd(*whole)
    return tuple(x // divisor for x in whole) if divisor > 1 else tuple(whole)


def value(form, point):
    return sum((a * x for a, x in zip(form, point, strict=False)), form[-1])


def slack(forms, hint=None):
    """Sign of the greatest slack of forms, with a point; `hint` is a point that may do."""
    varying, capped = [], False
    for form in dict.fromkeys(forms):
        if any(form[:-1]):
            varying.append(form)
        elif form[-1] < 0:
            return Slack(-1, None)
        else:
            capped |= form[-1] == 0
    n = len(next(iter(forms))) - 1
    found = _slack(varying, n, hint) if varying else Slack(1, (Fraction(0),) * n)
    return Slack(0, found.point) if capped and found.sign > 0 else found


def _slack(forms, n, hint):
    if hint is not None and all(value(form, hint) > 0 for form in forms):
        return Slack(1, tuple(hint))
    rows = np.array([[float(x) for x in form] for form in forms])
    rows /= np.linalg.norm(rows[:, :-1], axis=1)[:, None]
    guess = linprog(
        np.r_[np.zeros(n), -1.0],
        A_ub=np.c_[-rows[:, :-1], np.ones(len(rows))],
        b_ub=rows[:, -1],
        bounds=[(None, None)] * n + [(None, 1)],
        method="highs",
    )
    if guess.status == 0:
        if guess.x[-1] > 0:
            point = _proven_point(forms, guess.x[:-1])
            if point is not None:
                return Slack(1, point)
        support = [i for i, dual in enumerate(guess.ineqlin.marginals) if dual < -1e-9]
        bound = _proven_bound([forms[i] for i in support])
        if bound is not None and bound < 0:
            return Slack(-1, None)
    return exact_slack(forms)


def _proven_point(forms, x):
    """The point x in few binary digits, if all forms are positive there."""
    for bits in (4, 12, 24, 48):
        point = tuple(Fraction(round(float(v) * 2**bits), 2**bits) for v in x)
        if all(value(form, point) > 0 for form in forms):
            return point
    return None


def _proven_bound(forms):
    """c.l for the l >= 0 with sum l_i a_i = 0 and sum l_i = 1, if there is just one of these: a bound of the slack."""
    k = len(forms)
    if not k:
        return None
    rows = [[Fraction(form[j]) for form in forms] + [Fraction(0)] for j in range(len(forms[0]) - 1)]
    rows.append([Fraction(1)] * (k + 1))
    at = 0
    for column in range(k):
        pivot = next((r for r in range(at, len(rows)) if rows[r][column]), None)
        if pivot is None:
            return None
        rows[at], rows[pivot] = rows[pivot], rows[at]
        rows[at] = [x / rows[at][column] for x in rows[at]]
        for r, row in enumerate(rows):
            if r != at and row[column]:
                rows[r] = [x - row[column] * y for x, y in zip(row, rows[at], strict=True)]
        at += 1
    if any(row[-1] for row in rows[at:]) or any(row[-1] < 0 for row in rows[:at]):
        return None
    return sum(row[-1] * form[-1] for row, form in zip(rows, forms, strict=False))


def exact_slack(forms):
    """`slack` by a rational simplex: min c.l, l >= 0, sum l_i (a_i, 1) = (0, .., 0, 1), Bland's rule.

    The tableau keeps the columns of the artificial variables: below them stand the multipliers (x, t) of the rows,
    which are the optimal point of the primal.
    """
    n, m = len(forms[0]) - 1, len(forms)
    width = m + n + 1
    rows = []
    for i in range(n + 1):
        entries = [Fraction(form[i]) if i < n else Fraction(1) for form in forms]
        rows.append([*entries, *(Fraction(int(i == j)) for j in range(n + 1)), Fraction(int(i == n))])
    basis = list(range(m, width))
    # phase 1: the least sum of the artificial variables
    cost = _reduced_cost([Fraction(0)] * m + [Fraction(1)] * (n + 1), rows, basis, width)
    _pivot_down(rows, cost, basis, m)
    if cost[-1] < 0:  # the sum stays positive: d = -multipliers has a_i.d >= -multiplier of the last row > 0
        direction = [cost[m + i] - 1 for i in range(n)]
        far = Fraction(1)
        while True:
            point = tuple(far * x for x in direction)
            if all(value(form, point) > 0 for form in forms):
                return Slack(1, point)
            far *= 16
    for r in range(n + 1):  # artificial variables that are basic, at zero: out, where another column can come in
        if basis[r] >= m:
            column = next((j for j in range(m) if rows[r][j]), None)
            if column is not None:
                _pivot(rows, cost, basis, r, column)
    real = [Fraction(form[-1]) for form in forms] + [Fraction(0)] * (n + 1)
    cost = _reduced_cost(real, rows, basis, width)
    _pivot_down(rows, cost, basis, m)
    best = -cost[-1]
    if best < 0:
        return Slack(-1, None)
    # c_i - y.(a_i, 1) >= 0 and y.(0, 1) = best: the point x = -y[:n] has a_i.x + c_i >= best
    point = tuple(cost[m + i] for i in range(n))
    assert min(value(form, point) for form in forms) == best
    return Slack(int(best > 0), point)


def _reduced_cost(cost, rows, basis, width):
    reduced = [*cost, Fraction(0)]
    for row, variable in zip(rows, basis, strict=True):
        price = cost[variable]
        if price:
            reduced = [x - price * y for x, y in zip(reduced, row, strict=True)]
    assert len(reduced) == width + 1
    return reduced


def _pivot(rows, cost, basis, r, column):
    rows[r] = [x / rows[r][column] for x in rows[r]]
    for other in range(len(rows)):
        if other != r and rows[other][column]:
            factor = rows[other][column]
            rows[other] = [x - factor * y for x, y in zip(rows[other], rows[r], strict=True)]
    if cost[column]:
        factor = cost[column]
        cost[:] = [x - factor * y for x, y in zip(cost, rows[r], strict=True)]
    basis[r] = column


def _pivot_down(rows, cost, basis, m):
    """Pivot until no reduced cost of the first m columns is negative; the feasible set is bounded."""
    while True:
        column = next((j for j in range(m) if cost[j] < 0), None)
        if column is None:
            return
        ratios = [(row[-1] / row[column], basis[r], r) for r, row in enumerate(rows) if row[column] > 0]
        _pivot(rows, cost, basis, min(ratios)[2], column)


# ---------------------------------------------------------------------------------------------------- enumeration


def box_forms(domain):
    """The forms of a box [[low, high], ..]."""
    n = len(domain)
    forms = []
    for i, (low, high) in enumerate(domain):
        unit = [Fraction(int(i == j)) for j in range(n)]
        forms += [(*unit, -Fraction(low)), (*(-x for x in unit), Fraction(high))]
    return [primitive(form) for form in forms]


def _affine(poly, n):
    if any(x != 0 and j < n for (_, j), x in poly.items()):
        raise oracle.NotAffine("a score difference is quadratic on a cell")
    return tuple(Fraction(poly.get((i, n), 0)) for i in range(n + 1))


def _answers(forms, point, tag, scores):
    """[(forms, interior point, columns)]: the full-dimensional parts of a cell, one for each answer of a unit."""
    n = len(point)
    if tag == "bit":
        z = _affine(scores[0], n)
        if not any(z[:-1]):
            return [(forms, point, (int(z[-1] > 0),))]
        z = primitive(z)
        parts = [_part(forms, point, [tuple(-x for x in z)]), _part(forms, point, [z])]
        if None in parts:  # no cut: what is positive inside adds nothing
            return [(forms, point, (int(parts[0] is None),))]
        return [(*part, (bit,)) for bit, part in enumerate(parts)]
    groups = []  # [score, positions of the candidates with this very score]
    for position, score in enumerate(scores):
        if score is not None:
            same = [group for group in groups if not oracle._poly_sub(group[0], score)]
            if same:
                same[0][1].append(position)
            else:
                groups.append([score, [position]])
    for p, q in combinations(groups, 2):
        _affine(oracle._poly_sub(p[0], q[0]), n)  # refuses quadratic differences, wherever they are
    answers = []
    for mine, members in groups:
        others = [primitive(_affine(oracle._poly_sub(mine, other), n)) for other, _ in groups if other is not mine]
        part = _part(forms, point, others)
        if part:
            answers.append((*part, tuple(int(i in members) for i in range(len(scores)))))
    return [(forms, point, answers[0][2])] if len(answers) == 1 else answers


def _part(forms, point, more):
    """The cell with more forms and an interior point, or None where it is empty or flat."""
    if any(not any(form[:-1]) and form[-1] <= 0 for form in more):
        return None
    together = tuple(dict.fromkeys((*forms, *(form for form in more if any(form[:-1])))))
    if not together:
        return together, point
    found = slack(together, hint=point)
    return (together, found.point) if found.sign > 0 else None


def enumerate_cells(network, domain=None, within=()):
    """All cells with an interior; their patterns differ.

    network: a dict in the JSON format. domain: [[low, high], ..], or None for the whole space. within: more forms that
    bound the domain.
    """
    n = network["input_dim"]
    forms = tuple([*(box_forms(domain) if domain is not None else ()), *map(primitive, within)])
    inside = slack(forms) if forms else Slack(1, (Fraction(0),) * n)
    if inside.sign <= 0:
        raise ValueError("the domain has no interior")
    cells = [(forms, inside.point, (), oracle._input_tokens(n))]
    for layer in network["layers"]:
        refined = []
        for forms, point, pattern, tokens in cells:
            parts = [(forms, point, ())]
            for tag, scores in oracle._units(layer, tokens):
                parts = [
                    (smaller, inner, columns + more)
                    for part, at, columns in parts
                    for smaller, inner, more in _answers(part, at, tag, scores)
                ]
            for part, at, columns in parts:
                refined.append((part, at, pattern + columns, oracle._next_tokens(layer, tokens, columns)))
        cells = refined
    return [Cell(pattern, oracle._output_map(tokens), forms, point) for forms, point, pattern, tokens in cells]


# --------------------------------------------------------------------------------------------------------- counts


def share_facet(first, second):
    """Do the closures of two disjoint cells meet in dimension n - 1?

    Then a hyperplane bounds both, from opposite sides, and some point on it is strictly inside all their other forms.
    """
    second_forms = set(second.forms)
    both = dict.fromkeys((*first.forms, *second.forms))
    for form in first.forms:
        against = tuple(-x for x in form)
        if against in second_forms and _on_hyperplane(form, [f for f in both if f not in (form, against)]):
            return True
    return False


def _on_hyperplane(form, others):
    """Is some point of the hyperplane strictly inside the others?"""
    n = len(form) - 1
    pivot = next(i for i in range(n) if form[i])
    reduced = []
    for other in others:
        factor = Fraction(other[pivot], form[pivot])
        rest = [x - factor * y for x, y in zip(other, form, strict=True)]
        reduced.append(primitive(rest[:pivot] + rest[pivot + 1 :]))
    return not reduced or slack(reduced).sign > 0


def share_point(first, second):
    """Do the closures of two cells meet?"""
    forms = (*first.forms, *second.forms)
    return not forms or slack(forms).sign >= 0


def is_bounded(cell):
    """Is the recession cone {d: a_i.d >= 0} the origin alone?"""
    n = len(cell.point)
    cone = [primitive((*form[:-1], 0)) for form in cell.forms]
    for i in range(n):
        for sign in (1, -1):
            unit = tuple(sign * int(i == j) for j in range(n))
            if slack([*cone, (*unit, -1)]).sign >= 0:
                return False
    return True


def patterns(cells):
    return {cell.pattern for cell in cells}


def _components(cells, touch):
    by_map = defaultdict(list)
    for cell in cells:
        by_map[cell.map].append(cell)
    total = 0
    for rest in by_map.values():
        while rest:
            total += 1
            border = [rest.pop()]
            while border:
                cell = border.pop()
                near = [touch(cell, other) for other in rest]
                border += [other for other, joined in zip(rest, near, strict=True) if joined]
                rest = [other for other, joined in zip(rest, near, strict=True) if not joined]
    return total


def counts(cells):
    """The five counts."""
    return {
        "activation": len(patterns(cells)),
        "cells": len(patterns(cells)),
        "linear": _components(cells, share_facet),
        "linear_closed": _components(cells, share_point),
        "affine_maps": len({cell.map for cell in cells}),
    }


def arrangement(normals, offsets):
    """The hyperplanes normals.x = offsets as a network: one affine layer and one relu layer."""
    return {
        "format": "regioncount-network",
        "version": 1,
        "input_dim": len(normals[0]),
        "layers": [
            {"type": "affine", "weight": [list(row) for row in normals], "bias": [-c for c in offsets]},
            {"type": "relu"},
        ],
    }
