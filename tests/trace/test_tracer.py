"""What people write: loops, branches, lists, in-place changes, conversions."""

import collections
import copy
import functools
import itertools
import math
import operator
import pickle
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import pytest

import gradexplain as gx
from gradexplain.errors import LeakedTracerError, NotTraceableError

from . import V, check_gradient, collector

PROGRAMS, at = collector()


@at(0.7)
def comprehension(x):
    return sum([np.sin(k * x) for k in range(4)]) + sum((x**k for k in range(3)), start=1.0)


@at(0.7)
def generator_inside(x):
    def powers():
        t = x
        for _ in range(4):
            yield t
            t = t * x

    return sum(powers())


@at(0.7)
def star_arguments(x):
    def inner(*a, **k):
        return a[0] * a[1] + k["z"]

    return inner(*(x, x * x), z=np.sin(x))


@at(2.0)
def while_on_the_input(x):
    n = 0
    while x > 0.1:
        x = x / 2
        n += 1
    return x * n


@at(2.0)
def newton(a):
    x = a
    while abs(x * x - a) > 1e-10:
        x = (x + a / x) / 2
    return x


@at(0.7)
def accumulates_outside(x):
    total = 0.0

    def add(t):
        nonlocal total
        total += t

    add(x)
    add(x * x)
    return total


@at(0.7)
def sorting(x):
    a, b, c = sorted([x, x * x, 3 - x])
    return a + 2 * b + 3 * c + sorted([x, 2 - x], key=lambda t: -t)[0]


@at(0.7)
def smallest_and_largest(x):
    return min(x, 1.0, x * x) + max([x, 2 * x]) * max(x, 0) + min([x, 3 - x], key=lambda t: abs(t - 2))


@at(V)
def smallest_of_an_array(v):
    return min(v) * max(v)


@at(V)
def any_and_all(v):
    return v.sum() if any(t > 2 for t in v) and not all(v > 0) else 0.0


@at(V)
def enumerate_and_zip(v):
    return sum(i * t for i, t in enumerate(v)) + sum(a * b for a, b in zip(v, v[::-1], strict=True))


@at(V)
def unpacking(v):
    a, *b = v
    (c, d), e = (v[0], v[1]), v[2]
    return a * b[0] + b[1] + c * d + e


@at(V)
def reversed_list_tuple(v):
    return sum(t * i for i, t in enumerate(reversed(v))) + sum(list(v)) + len(v) * v[0] + sum(tuple(v))


@at(0.7)
def isinstance_of_a_float(x):
    return x * 2 if isinstance(x, float) and not isinstance(x, (list, np.ndarray)) else x * 3


@at(V)
def isinstance_of_an_array(v):
    return v.sum() * 2 if isinstance(v, np.ndarray) else v.sum()


@at(0.7)
def shape_questions(x):
    return x * 2 if np.ndim(x) == 0 and np.shape(x) == () and np.size(x) == 1 else x * 3


@at(0.7)
def text(x):
    words = f"{x:.3f} {x!r} {x}".split() + ["%.2f" % x, "{:.2f}".format(x), str(x)]  # noqa: RUF005, UP031, UP032
    return x * len(words)


@at(2.7)
def whole_numbers(x):
    quotient, remainder = divmod(x, 1.0)
    return x * round(x) + round(x, 1) + math.floor(x) * x + quotient * remainder + x % 2 + x // 2 * x


@at(0.7)
def truth_as_number(x):
    return (x > 0) * x + (x > 1) * 2.0 + (not x > 3) * x


@at(0.7)
def connectives(x):
    return (x and 2 * x) + (x or 3.0) + (x if 0 < x < 1 else 2 * x) + (x if x in [1.0, 0.7] else 3 * x)


@at(0.7)
def powers(x):
    return pow(x, 2) + pow(2, x) + x**x + x**0.5 + x**-1 + x ** Fraction(1, 2) + Fraction(1, 3) * x


@at(0.7)
def augmented(x):
    y = x
    y += 1
    y *= x
    y -= 2
    y /= x
    y **= 2
    return y


@at(0.7)
def patterns(x):
    match [x, 2]:
        case [float() as a, 2]:
            return a * a
        case _:
            return 0.0


@at(0.7)
def functional(x):
    folded = functools.reduce(operator.mul, [x] * 4) + operator.add(x, 1)
    mapped = list(map(lambda t: t * x, [1, 2, x]))[2] + next(filter(lambda t: t > 0, [-x, x]))  # noqa: C417
    return folded + mapped + sum(itertools.accumulate([x, x * x, 1.0])) + math.prod([x, x, 2])


@at(0.7)
def records(x):
    pair = collections.namedtuple("Pair", "a b")(x, x * x)
    return pair.a * pair.b + _Point(x).f() * _Point(2 * x).a


@dataclass
class _Point:
    a: float

    def f(self):
        return math.sin(self.a)


@at(0.7)
def copies(x):
    return copy.deepcopy({"a": [x, x * x]})["a"][1] + copy.copy(x)


@at(0.7)
def dictionaries(x):
    return {x: 1.0}[x] * x * len({x, x})


@pytest.mark.parametrize(("f", "point"), PROGRAMS)
def test_gradient_of(f, point):
    check_gradient(f, *point)


@pytest.mark.parametrize(
    ("f", "said"),
    [
        (lambda x: float(x) * 2, r"float\(\) leaves the trace"),
        (lambda x: complex(x, 1).real, r"complex\(\) leaves the trace"),
        (lambda x: abs(x * 1j), "complex number"),
        (lambda x: [1, 2, 3][x], "an index or a length"),
        (lambda x: sum(range(x)) * x, "an index or a length"),
        (lambda x: pickle.loads(pickle.dumps(x)), "pickle leaves the trace"),
        (lambda x: x if np.array([x, 2 * x]) > 0 else 1.0, "truth value of an array"),
        (lambda x: int(x) * x, "give a point"),
    ],
)
def test_ways_out_are_refused_with_the_line(f, said):
    with pytest.raises(NotTraceableError, match=said) as caught:
        gx.explain(f) if "point" in said else gx.grad(f)(2.0)
    assert caught.value.where.file == "test_tracer.py"


@pytest.mark.parametrize("outside", [np.zeros(3), np.arange(3)])
def test_arrays_from_outside_hold_no_traced_value(outside):
    def write(v):
        outside[0:2] = v[0:2]

    def write_entry(v):
        outside[0] = v[0]
        return (outside * v).sum()

    def add(v):
        b = outside * 1.0
        b += v
        return b.sum()

    kept = outside.copy()
    for f in (write, add) if outside.dtype.kind == "i" else (write, write_entry, add):
        with pytest.raises(NotTraceableError, match="a plain NumPy array can't hold a traced value") as caught:
            gx.grad(f)(V)
        assert caught.value.where.function in ("write", "write_entry", "add")
        assert "np.zeros" in caught.value.fix
    np.testing.assert_array_equal(outside, kept)


def test_int_is_a_constant_piece_that_is_said_and_looked_at_again():
    grad = gx.grad(lambda x: int(x) * x)
    with pytest.warns(gx.TraceWarning, match=r"int\(\) was taken as the constant 2"):
        assert grad(2.5) == 2.0
    assert grad(2.9) == 2.0
    with pytest.warns(gx.TraceWarning, match="constant 3"):
        assert grad(3.5) == 3.0


def test_conversion_to_integers_is_said():
    with pytest.warns(gx.TraceWarning, match="cuts off the fraction"):
        assert gx.grad(lambda x: np.array([x, 1.0], dtype=int).sum() * x)(0.7) == 1.0
    with pytest.warns(gx.TraceWarning, match="cuts off the fraction"):
        assert gx.grad(lambda v: (v.astype(int) * v).sum())(np.array([2.5]))[0] == 2.0


def test_formatting_is_no_way_out_but_float_beside_it_is():
    with pytest.raises(NotTraceableError, match=r"float\(\)"):
        gx.grad(lambda x: len("%s" % float(x)) * x)(1.0)  # noqa: UP031


def test_integer_arguments_steer_the_program():
    def f(x, n):
        table = {1: x, 3: x**2}
        return sum(x**k for k in range(n)) + np.zeros(n).sum() + [x, 2 * x][n % 2] + (n & 1) * x + table.get(n, x)

    grad = gx.grad(f)
    assert [grad(2.0, n) for n in (3, 4, 3, 1)] == [5.0 + 2 + 1 + 4, 17.0 + 1 + 0 + 1, 12.0, 0.0 + 2 + 1 + 1]
    with pytest.raises(gx.GradexplainError):
        grad(2.0, 2.5)


def test_a_value_kept_outside_is_a_number_again_but_no_part_of_another_trace():
    kept = []

    def f(x):
        kept.append(x * 2)
        return x

    gx.grad(f)(1.5)
    assert kept[0] + 1 == 4.0
    with pytest.raises(LeakedTracerError, match="a traced value of f is used after its trace has ended"):
        gx.grad(lambda x: x * kept[0])(1.0)


def test_attribute_errors_are_those_of_the_plain_program():
    with pytest.raises(gx.GradexplainError, match="has no attribute 'foo'"):
        gx.grad(lambda v: v.foo())(V)


def test_too_long_a_loop_ends_with_its_line(monkeypatch):
    monkeypatch.setattr("gradexplain.trace.running.MOST_OPERATIONS", 500)

    def endless(x):
        while x > 0:
            x = x + 1
        return x

    with pytest.raises(NotTraceableError, match="endless takes more than 500 operations") as caught:
        gx.grad(endless)(1.0)
    assert caught.value.where.text in ("while x > 0:", "x = x + 1")
