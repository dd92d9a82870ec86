"""Domains: parsing, exact convexity, text that parses back."""

import math
import pickle
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from regioncount.domain import Box, Interval, Line, Plane, Polygon, Space, as_domain, parse_domain
from regioncount.errors import InputError

small = st.integers(-6, 6)
finite = st.floats(allow_nan=False, allow_infinity=False)
rationals = st.fractions(max_denominator=1000)
numbers = finite | rationals | st.integers(-(10**30), 10**30)


@st.composite
def intervals(draw):
    low, high = sorted([Fraction(draw(numbers)), Fraction(draw(numbers))])
    assume(low < high)
    return low, high


def hull(points):
    """Corners of the convex hull, counter-clockwise from the least point (Andrew's monotone chain)."""

    def half(points):
        chain = []
        for p in points:
            while len(chain) >= 2:
                (ax, ay), (bx, by) = chain[-2:]
                if (bx - ax) * (p[1] - by) - (by - ay) * (p[0] - bx) > 0:
                    break
                chain.pop()
            chain.append(p)
        return chain[:-1]

    points = sorted(set(points))
    return half(points) + half(points[::-1])


def test_interval():
    interval = Interval("-1/3", 0.5)
    assert (interval.low, interval.high, interval.dim) == (Fraction(-1, 3), Fraction(1, 2), 1)
    assert interval.bounds == ((-1 / 3,), (0.5,))
    assert repr(interval) == "Interval('-1/3', '0.5')"
    assert interval == Interval(Fraction(-1, 3), "1/2")
    assert hash(interval) == hash(Interval(Fraction(-1, 3), "1/2"))


def test_box():
    box = Box([-1, 0, 1], np.array([1, 2, 3]))
    assert (box.low, box.high, box.dim) == ((-1, 0, 1), (1, 2, 3), 3)
    assert all(type(x) is Fraction for x in box.low + box.high)
    assert box.bounds == ((-1.0, 0.0, 1.0), (1.0, 2.0, 3.0))
    assert Box([0, 0], [2, 1]).vertices == ((0, 0), (2, 0), (2, 1), (0, 1))
    assert repr(Box([0, 0], [2, "1/3"])) == "Box([0, 0], [2, '1/3'])"
    with pytest.raises(InputError, match="dimension 3"):
        _ = box.vertices


def test_polygon():
    polygon = Polygon([(0, 0), (0, 1), (1, 0)])  # clockwise
    assert polygon.vertices == ((0, 0), (1, 0), (0, 1))
    assert (polygon.dim, polygon.bounds) == (2, ((0.0, 0.0), (1.0, 1.0)))
    assert repr(polygon) == "Polygon([(0, 0), (1, 0), (0, 1)])"
    assert polygon == Polygon(np.array([[1, 0], [0, 1], [0, 0]]))
    assert Polygon(Box([0, 0], [2, 1]).vertices).vertices == Box([0, 0], [2, 1]).vertices


def test_polygon_drops_what_is_no_corner():
    given = [(0, 0), (0, 0), (1, 0), (2, 0), (3, 0), (3, 3), (3, 3), (0, 3), (0, 2), (0, 1), (0, 0)]
    assert Polygon(given).vertices == ((0, 0), (3, 0), (3, 3), (0, 3))
    third = Fraction(1, 3)
    assert len(Polygon([(0, 0), (third, third), (2 * third, 2 * third), (1, 1), (0, 1)]).vertices) == 3


def test_convexity_is_exact():
    tenth = Fraction(1, 10)  # 0.1 is greater, by 6e-18
    assert len(Polygon([(0, 0), (tenth, 0.1), (1, 1), (1, 0)]).vertices) == 4
    with pytest.raises(InputError, match="reflex corner"):
        Polygon([(0, 0), (0.1, tenth), (1, 1), (1, 0)])


@given(st.lists(st.tuples(small, small), min_size=3, max_size=12), st.integers(0, 11), st.booleans())
def test_hulls_are_polygons(points, start, clockwise):
    corners = hull(points)
    assume(len(corners) >= 3)
    turned = corners[start % len(corners) :] + corners[: start % len(corners)]
    polygon = Polygon(turned[::-1] if clockwise else turned)
    assert polygon.vertices == tuple(corners)
    assert parse_domain(str(polygon)) == polygon
    assert polygon.contains(points).all()
    assert polygon.contains(corners).all()
    assert not polygon.contains([(7, 7), (-7, 0), (0, 7)]).any()


@given(st.lists(st.tuples(small, small), min_size=3, max_size=6, unique=True))
def test_polygon_is_its_hull_or_refused(points):
    corners = hull(points)
    try:
        polygon = Polygon(points)
    except InputError:
        # refused: some point is no corner, or the order is not that of the boundary
        if len(corners) == len(points):
            at = points.index(corners[0])
            turned = points[at:] + points[:at]
            assert turned not in (corners, [corners[0], *corners[:0:-1]])
    else:
        assert list(polygon.vertices) == corners


@pytest.mark.parametrize(
    ("vertices", "message"),
    [
        ([], "vertices: expected a list of one or more pairs"),
        ("0,0;1,1", "vertices: expected a list of pairs"),
        ([(0, 0)], "interior"),
        ([(0, 0), (1, 1)], "interior"),
        ([(0, 0), (1, 1), (2, 2)], "interior"),
        ([(0, 0), (1, 1), (0, 0), (1, 1)], "interior"),
        ([(0, 0), (0, 0), (0, 0)], "interior"),
        ([(0, 0), (4, 0), (1, 1), (0, 4)], r"reflex corner at \(1, 1\)"),
        ([(0, 0), (1, 1), (1, 0), (0, 1)], "convex"),
        ([(0, 0), (2, 0), (1, 0), (1, 1)], "convex"),
        ([(0, 0), (2, 0), (3, 0), (1, 0), (0, 1)], r"turns back at \(3, 0\)"),
        # a star: every turn is to the left
        ([(0, 3), (-2, -3), (3, 1), (-3, 1), (2, -3)], "crosses itself"),
        # twice around a square
        ([(0, 0), (1, 0), (1, 1), (0, 1)] * 2, "crosses itself"),
        ([(0, 0), (1, 0), (1, 1, 1)], r"vertices\[2\]: expected a pair"),
        ([(0, 0), (1, 0), (1, math.nan)], r"vertices\[2\]\[1\]: expected a finite"),
        ([(0, 0), (1, 0), 3], r"vertices\[2\]: expected a list"),
    ],
)
def test_refused_polygons(vertices, message):
    with pytest.raises(InputError, match=message):
        Polygon(vertices)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Interval(1, 1), "low: expected less than high, 1, got 1"),
        (lambda: Interval(2, "0.5"), "low: expected less than high, 0.5, got 2"),
        (lambda: Interval(math.nan, 1), "low: expected a finite number"),
        (lambda: Interval(0, math.inf), "high: expected a finite number"),
        (lambda: Interval(False, 1), "low: expected a finite number"),
        (lambda: Box([], []), "low: expected a list of one or more numbers"),
        (lambda: Box([0], [1, 2]), "high: expected 1 numbers like low, got 2"),
        (lambda: Box([0, 1], [1, 1]), r"low\[1\]: expected less than high\[1\], 1, got 1"),
        (lambda: Box(0, 1), "low: expected a list of numbers, got 0"),
        (lambda: Box([0, "x"], [1, 1]), r"low\[1\]: expected a finite number"),
    ],
)
def test_refused_intervals_and_boxes(make, message):
    with pytest.raises(InputError, match=f"^{message}"):
        make()


@pytest.mark.parametrize(
    ("text", "domain"),
    [
        ("-1:1", Interval(-1, 1)),
        ("-1:1,-1:1", Box([-1, -1], [1, 1])),
        (" -1 : 1 , 0:1/3 ", Box([-1, 0], [1, Fraction(1, 3)])),
        ("0:0.1", Interval(0, Fraction(1, 10))),
        ("-.5:+.5", Interval(Fraction(-1, 2), Fraction(1, 2))),
        ("0:1,0:1,0:1", Box([0, 0, 0], [1, 1, 1])),
        ("poly:0,0;1,0;0,1", Polygon([(0, 0), (1, 0), (0, 1)])),
        ("poly: 0,0; 1/3,0; 0,0.5", Polygon([(0, 0), (Fraction(1, 3), 0), (0, Fraction(1, 2))])),
    ],
)
def test_parse(text, domain):
    assert parse_domain(text) == domain
    assert as_domain(text) == domain
    assert as_domain(domain) is domain
    assert parse_domain(str(domain)) == domain
    assert pickle.loads(pickle.dumps(domain)) == domain


@pytest.mark.parametrize(
    "text",
    ["", " ", ":", "1", "1:", ":1", "1:2:3", "-1:1,", ",-1:1", "1:-1", "0:0", "a:b", "-1:1;0:1"]
    + ["nan:1", "0:inf", "0:1e3", "--1:1", "1/0:2", "0:1/2/3", "−1:1", "0:1_0"]
    + ["0:" + "9" * 5000, "0:1,2:1", "box:0,1"]
    + ["poly:", "poly:0,0", "poly:0,0;1,1", "poly:0,0;1,0;0,1;", "poly:0,0;1,0;0", "poly:0,0;1,0;0,1,2"]
    + ["poly:0,0;1,0;0,x", "poly:0:1,0:1", "POLY:0,0;1,0;0,1", "0:1\n0:1"],
)  # fmt: skip
def test_refused_text(text):
    with pytest.raises(InputError) as info:
        parse_domain(text)
    assert str(info.value).startswith("domain: ")
    assert "\n" not in str(info.value)
    assert len(str(info.value)) < 250


@pytest.mark.parametrize(("dim", "domain"), [(1, Line()), (2, Plane()), (3, Space(3)), (7, Space(7))])
def test_all(dim, domain):
    assert parse_domain(" all ", dim) == as_domain("all", dim) == as_domain(Space(dim)) == domain
    assert str(domain) == "all"
    assert not domain.bounded
    assert domain.bounds == ((-math.inf,) * dim, (math.inf,) * dim)
    assert eval(repr(domain)) == domain
    assert pickle.loads(pickle.dumps(domain)) == domain
    assert hash(domain) == hash(parse_domain("all", dim))
    points = np.zeros((3, dim))
    points[1, -1], points[2, 0] = math.inf, math.nan
    assert domain.contains(points).tolist() == [True, False, False]
    with pytest.raises(InputError, match="^points: expected"):
        domain.contains(np.zeros((2, dim + 1)))


def test_whole_spaces_of_one_dimension_are_equal():
    assert Line() == Line()
    assert Line() != Plane()
    assert Space(3) != Space(4)
    assert Line().contains([1, math.inf]).tolist() == [True, False]
    assert all(d.bounded for d in (Interval(0, 1), Box([0], [1]), Polygon([(0, 0), (1, 0), (0, 1)])))


@pytest.mark.parametrize("text", ["all", " all "])
def test_all_needs_a_dimension(text):
    with pytest.raises(InputError, match="^domain: 'all' needs a known number of inputs"):
        parse_domain(text)
    with pytest.raises(InputError, match="^domain: dim: expected a positive integer, got 0"):
        as_domain(text, 0)


def test_slices_are_no_text():
    with pytest.raises(InputError, match="^domain: expected a domain without a file here"):
        parse_domain("slice:plane.json")


@pytest.mark.parametrize("dim", [0, -1, True, 2.0, "2", None])
def test_refused_spaces(dim):
    with pytest.raises(InputError, match="^dim: expected a positive integer"):
        Space(dim)


@given(st.lists(intervals(), min_size=1, max_size=3))
def test_text_of_boxes_parses_back(pairs):
    domain = as_domain(pairs)
    assert isinstance(domain, Interval if len(pairs) == 1 else Box)
    assert parse_domain(str(domain)) == domain
    assert eval(repr(domain)) == domain


def test_text_is_short_where_it_can_be():
    assert str(Interval("-0.5", "1/3")) == "-0.5:1/3"
    assert str(Interval("-0.000001", "12.05")) == "-0.000001:12.05"
    assert str(Interval("1/1024", 100)) == "1/1024:100"
    assert str(Interval(0, 0.1)) == "0:3602879701896397/36028797018963968"


def test_as_domain():
    assert as_domain([[-1, 1]]) == Interval(-1, 1)
    assert as_domain(np.array([[-1.0, 1.0], [0.0, 0.5]])) == Box([-1, 0], [1, Fraction(1, 2)])
    assert as_domain(((0, "1/3"), (0, 1))) == Box([0, 0], [Fraction(1, 3), 1])
    assert as_domain(Box([0], [1])) == Interval(0, 1)


@pytest.mark.parametrize(
    "bad", [None, 3, [], [1, 2], [[1, 2, 3]], [[2, 1]], [[0, 1], [1]], [["0", None]], {}, [[]]]
)
def test_as_domain_refuses(bad):
    with pytest.raises(InputError, match="^domain"):
        as_domain(bad)


def test_contains():
    interval = Interval(0, 1)
    assert interval.contains([-0.1, 0, 0.5, 1, 1.1, math.nan]).tolist() == [
        False,
        True,
        True,
        True,
        False,
        False,
    ]
    assert interval.contains([[0.5], [2]]).tolist() == [True, False]
    assert interval.contains(0.5)
    box = Box([0, 0], [1, 2])
    assert box.contains([[0, 0], [1, 2], [1.5, 1], [math.nan, 1]]).tolist() == [True, True, False, False]
    assert box.contains([0.5, 0.5])
    assert box.contains(np.zeros((0, 2))).shape == (0,)
    triangle = Polygon([(0, 0), (2, 0), (0, 2)])
    assert triangle.contains([[0, 0], [1, 1], [0.5, 0.5], [1.1, 1], [-0.1, 1]]).tolist() == [
        True,
        True,
        True,
        False,
        False,
    ]
    assert triangle.contains(np.zeros((4, 3, 2))).shape == (4, 3)


@pytest.mark.parametrize("domain", [Interval(0, 1), Box([0, 0], [1, 1]), Polygon([(0, 0), (1, 0), (0, 1)])])
@pytest.mark.parametrize("points", [[[1, 2, 3]], "x", [[1], [1, 2]]])
def test_contains_refuses(domain, points):
    with pytest.raises(InputError, match="^points: expected"):
        domain.contains(points)


def test_frozen():
    with pytest.raises(AttributeError):
        Interval(0, 1).low = 3
