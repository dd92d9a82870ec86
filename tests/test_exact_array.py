"""ExactArray and as_fraction: exact values beside their nearest floats."""

import json
import math
import pickle
import time
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

from regioncount.errors import InputError
from regioncount.exact import ExactArray, as_fraction, json_number

finite = st.floats(allow_nan=False, allow_infinity=False)
rationals = st.fractions(max_denominator=10**6) | st.builds(
    Fraction, st.integers(-(10**40), 10**40), st.integers(1, 10**40)
)
integers = st.integers(-(2**1000), 2**1000)
numbers = finite | integers | rationals | rationals.map(str)


@given(numbers)
def test_as_fraction_is_exact(x):
    assert as_fraction(x) == Fraction(x)


@given(st.lists(numbers, min_size=1, max_size=8))
def test_view_is_nearest_and_fractions_are_exact(values):
    array = ExactArray(values)
    exact = [Fraction(x) for x in values]
    assert array.fractions().tolist() == exact
    assert array.view.tolist() == [float(x) for x in exact]
    assert array.is_float == all(Fraction(float(x)) == x for x in exact)


@given(st.lists(numbers, min_size=1, max_size=8))
def test_tolist_survives_json(values):
    array = ExactArray(values)
    entries = array.tolist()
    assert ExactArray(json.loads(json.dumps(entries, allow_nan=False))) == array
    for entry, exact in zip(entries, array.fractions(), strict=True):
        assert entry == json_number(exact)
        if exact.denominator == 1 and abs(exact) <= 2**53:
            assert type(entry) is int
        assert isinstance(entry, str) == (exact.denominator > 1 and Fraction(float(exact)) != exact)


@given(npst.arrays(np.float64, npst.array_shapes(max_dims=3, max_side=4), elements=finite))
def test_every_way_to_give_floats_is_one_array(values):
    array = ExactArray(values)
    assert array.is_float
    np.testing.assert_array_equal(array.view, values)
    ways = [
        values.tolist(),
        list(values),
        np.asfortranarray(values),
        values.astype(object),
        ExactArray(values),
        array.fractions(),
        [ExactArray(row) if row.ndim else row.item() for row in values],
    ]
    for way in ways:
        assert ExactArray(way) == array
        assert hash(ExactArray(way)) == hash(array)


@given(st.lists(st.integers(-(2**70), 2**70), min_size=1), st.lists(finite))
def test_integers_are_not_rounded_among_floats(integers, floats):
    array = ExactArray(integers + floats)
    assert array.fractions().tolist() == [Fraction(x) for x in integers + floats]


@pytest.mark.parametrize("dtype", [np.int64, np.uint64, np.int8, np.uint8])
def test_numpy_integers(dtype):
    values = np.array([[1, 2], [3, 100]], dtype=dtype)
    assert ExactArray(values).fractions().tolist() == values.tolist()
    assert ExactArray([list(row) for row in values]).fractions().tolist() == values.tolist()


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64, np.longdouble])
def test_numpy_floats(dtype):
    values = np.array([[1, 2], [3, 100]], dtype=dtype) / dtype(7)
    expected = [[Fraction(*x.as_integer_ratio()) for x in row] for row in values]
    assert ExactArray(values).fractions().tolist() == expected
    assert ExactArray([list(row) for row in values]).fractions().tolist() == expected


def test_large_numpy_integers():
    values = np.array([2**63 - 1, -(2**63), 2**53 + 1])
    assert ExactArray(values).fractions().tolist() == values.tolist()
    assert not ExactArray(values).is_float
    assert ExactArray(np.array([2**64 - 1], dtype=np.uint64)).fractions().tolist() == [2**64 - 1]


def test_strings():
    assert ExactArray(["-2/7", "0.1", "3", "+.5", "4/2"]).tolist() == [
        "-2/7",
        "1/10",
        3,
        0.5,
        2,
    ]


def test_equality_is_exact():
    assert ExactArray([0.1]) != ExactArray(["0.1"])
    assert ExactArray([0.1]).view == ExactArray(["0.1"]).view
    assert ExactArray(["1/3", 1]) == ExactArray([Fraction(1, 3), 1.0])
    assert ExactArray([[1]]) != ExactArray([1])
    assert ExactArray([-0.0]) == ExactArray([0.0])
    assert hash(ExactArray([-0.0])) == hash(ExactArray([0]))
    assert ExactArray([1]) != [1]


def test_underflow_keeps_the_number():
    tiny = Fraction(1, 10**400)
    array = ExactArray([tiny])
    assert array.view[0] == 0.0
    assert array.fractions()[0] == tiny
    assert array != ExactArray([0])


def test_greatest_floats():
    greatest = int(np.finfo(float).max)
    assert ExactArray([greatest, -greatest]).is_float
    assert as_fraction(greatest + 1) == greatest + 1


def test_immutable_and_separate_from_the_source():
    source = np.ones((2, 2))
    array = ExactArray(source)
    source[0, 0] = 5
    assert array.view[0, 0] == 1
    with pytest.raises(ValueError, match="read-only"):
        array.view[0, 0] = 2
    with pytest.raises(ValueError, match="read-only"):
        array.fractions()[0, 0] = 2
    with pytest.raises(AttributeError, match="immutable"):
        array.view = source
    with pytest.raises(AttributeError, match="immutable"):
        del array._view


def test_pickle():
    for values in ([[1, "1/3"]], [0.5]):
        array = ExactArray(values)
        copy = pickle.loads(pickle.dumps(array))
        assert copy == array
        assert not copy.view.flags.writeable


def test_attributes():
    array = ExactArray(np.zeros((2, 3, 4)))
    assert (array.shape, array.ndim, array.size, len(array)) == ((2, 3, 4), 3, 24, 2)
    assert array.view.dtype == np.float64
    assert array.fractions().shape == (2, 3, 4)
    assert ExactArray(np.zeros((0, 3))).fractions().shape == (0, 3)
    assert ExactArray([]).shape == (0,)
    assert repr(ExactArray([[1, "1/3"]])) == "ExactArray([[1, '1/3']])"
    assert repr(ExactArray(np.zeros((5, 5)))) == "ExactArray(shape=(5, 5), is_float=True)"


def test_first_inexact():
    assert ExactArray([[1, 2.5]]).first_inexact() is None
    assert ExactArray([[1, 2], [3, "1/3"]]).first_inexact() == ((1, 1), Fraction(1, 3))


BAD_NUMBERS = [
    (math.nan, "finite"),
    (math.inf, "finite"),
    (-math.inf, "finite"),
    (np.float64("nan"), "finite"),
    (np.float32("inf"), "finite"),
    (True, "expected a finite number"),
    (np.True_, "expected a finite number"),
    (None, "got None"),
    (1j, "got 1j"),
    ({}, "got {}"),
    (b"1", "got b'1'"),
    ("", "got ''"),
    ("x", "got 'x'"),
    ("1e3", "got '1e3'"),
    ("nan", "got 'nan'"),
    ("inf", "got 'inf'"),
    (" 1", "got ' 1'"),
    ("1/-3", "got '1/-3'"),
    ("1_0", "got '1_0'"),
    ("1.5/2", "got '1.5/2'"),
    ("١", "got '١'"),
    ("1\n", "got"),
    ("1/0", "zero denominator"),
    ("1" * 5000, "too many digits"),
    ("0." + "0" * 5000 + "1", "too many digits"),
    (10**309, "range of float64"),
    (10**5000, "range of float64"),
    (Fraction(-(10**400), 3), "range of float64"),
    ("1" + "0" * 400, "range of float64"),
]


@pytest.mark.parametrize(("bad", "message"), BAD_NUMBERS, ids=range(len(BAD_NUMBERS)))
def test_refused_numbers(bad, message):
    with pytest.raises(InputError) as info:
        as_fraction(bad, "slope")
    assert str(info.value).startswith("slope: expected")
    assert message in str(info.value)
    assert "\n" not in str(info.value)
    assert len(str(info.value)) < 250
    with pytest.raises(InputError) as info:
        ExactArray([[1, 2.5], [3, bad]], "weight")
    assert str(info.value).startswith("weight[1][1]: expected")
    assert message in str(info.value)


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        (3, "weight: expected an array or nested lists of numbers, got 3"),
        ("1/3", "weight: expected an array or nested lists of numbers, got '1/3'"),
        (None, "weight: expected an array or nested lists of numbers, got None"),
        ({"a": 1}, "weight: expected an array or nested lists of numbers, got {'a': 1}"),
        (np.array(3.0), "weight: expected an array or nested lists"),
        ([[1, 2], [3]], "weight[1]: expected 2 entries like the rows before it, got 1"),
        ([[1, 2], 3], "weight[1]: expected 2 entries like the rows before it, got 3"),
        ([1, [2]], "weight[1]: expected a number like the entries before it, got [2]"),
        ([[[1], [2]], [[3], [4, 5]]], "weight[1][1]: expected 1 entries"),
        ([[], [1]], "weight[1]: expected 0 entries"),
        ([np.zeros(2), np.zeros(3)], "weight[1]: expected 2 entries"),
        (np.array([True, False]), "weight[0]: expected a finite number"),
        (np.array([1j]), "weight[0]: expected a finite number"),
        (np.array([[1.0, np.nan]]), "weight[0][1]: expected a finite number"),
        (np.array(["x"]), "weight[0]: expected a finite number"),
        (np.array([1, None]), "weight[1]: expected a finite number"),
    ],
)  # fmt: skip
def test_refused_arrays(bad, message):
    with pytest.raises(InputError) as info:
        ExactArray(bad, "weight")
    assert str(info.value).startswith(message)


def test_endless_nesting_is_refused():
    loop = []
    loop.append(loop)
    with pytest.raises(InputError, match="nested"):
        ExactArray(loop)


def test_too_many_digits_to_write():
    array = ExactArray([Fraction(1, 10**5000)])
    with pytest.raises(InputError, match="4300 digits"):
        array.tolist()


def test_large_float_arrays_cost_no_python_step_an_entry():
    values = np.random.default_rng(0).standard_normal((1000, 1000))
    start = time.perf_counter()
    array = ExactArray(values)
    assert array == ExactArray(values)
    assert time.perf_counter() - start < 0.5  # 1 µs an entry would take 2 s


@settings(max_examples=50)
@given(st.lists(st.lists(st.lists(numbers, max_size=3), max_size=3), max_size=3))
def test_shape_or_refusal(nested):
    depth3 = {len(row) for plane in nested for row in plane}
    rectangular = len({len(plane) for plane in nested}) <= 1 and len(depth3) <= 1
    if not rectangular:
        with pytest.raises(InputError):
            ExactArray(nested)
        return
    array = ExactArray(nested)
    assert array.fractions().tolist() == [[[Fraction(x) for x in row] for row in plane] for plane in nested]
