"""Arguments by name: how calls are read, and what is refused."""

import functools
import math

import numpy as np
import pytest

import gradexplain as gx
from gradexplain.errors import ArgumentError
from gradexplain.trace.signature import bind, by_position, promote, takes_arguments_as_they_stand


def roles(function, *args, **kwargs):
    return {a.name: a.role for a in bind(function, args, kwargs, symbolic=False)}


def test_names_defaults_and_keywords():
    def f(x, /, y, k=2.0, n=3, *, a=1.5, flag=True, rule=math.sin):
        return x

    bound = bind(f, (1.0,), {"y": 2.0, "flag": False}, symbolic=False)
    assert [a.name for a in bound] == ["x", "y", "k", "n", "a", "flag", "rule"]
    assert [a.role for a in bound] == ["traced", "traced", "traced", "static", "traced", "traced", "static"]
    assert [a.keyword for a in bound] == [False] * 4 + [True] * 3
    assert [a.kind for a in bound[:3]] == ["float"] * 3


def test_variadic_parameters():
    assert roles(lambda *xs: 0, 1.0, 2.0) == {"xs0": "traced", "xs1": "traced"}
    assert roles(lambda x, **options: 0, 1.0, a=2.0) == {"x": "traced", "a": "traced"}
    assert gx.grad(lambda x, *rest: x * rest[1])(2.0, 3.0, 4.0) == 4.0
    assert gx.grad(lambda x, **options: x * options["a"])(2.0, a=3.0) == 3.0


def test_callables_without_a_signature():
    assert list(roles(np.arctan2, 1.0, 2.0)) == ["x", "y"]
    assert list(roles(max, 1.0, 2.0)) == ["x", "y"]
    assert list(roles(functools.partial(lambda a, b: 0, 1.0), 2.0)) == ["b"]


@pytest.mark.parametrize(
    ("value", "kind", "shape"),
    [
        (1.5, "float", ()),
        (np.float32(1.5), "float", ()),
        (np.array(2.0), "float", ()),
        (3, "int", ()),
        (np.int8(3), "int", ()),
        (True, "bool", ()),
        ([1, 2.0], "float", (2,)),
        (((1, 2), (3, 4)), "int", (2, 2)),
        (np.zeros((2, 0), dtype=np.float32), "float", (2, 0)),
        (np.array([True]), "bool", (1,)),
    ],
)
def test_kinds(value, kind, shape):
    (argument,) = bind(lambda x: x, (value,), {}, symbolic=False)
    assert (argument.kind, argument.shape, argument.role) == (kind, shape, "traced")
    assert promote(argument).kind == "float"
    assert np.asarray(promote(argument).value).dtype == float


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (None, "argument x is None"),
        ("text", "argument x is a str"),
        ({"a": 1.0}, "argument x is a dict"),
        (1j, "argument x is a complex"),
        ({1.0}, "argument x is a set"),
        (np.array([1j]), "dtype complex128"),
        (np.array([1.0], dtype=object), "dtype object"),
        (np.array(["a"]), "dtype <U1"),
        (np.ma.array([1.0]), "a masked array"),
        ([[1.0], [1.0, 2.0]], "argument x is no array"),
    ],
)
def test_what_can_not_be_differentiated(value, said):
    grad = gx.grad(lambda x: x**2)
    for _ in range(2):  # also where a program is known
        with pytest.raises(ArgumentError, match=said) as caught:
            grad(value)
        assert caught.value.fix
        grad(np.ones(1))


@pytest.mark.parametrize(
    ("args", "kwargs", "said"),
    [
        ((), {}, "missing argument x, y"),
        ((1.0,), {}, "missing argument y"),
        ((1.0, 2.0, 3.0), {}, "takes 2 positional arguments, 3 were given"),
        ((1.0,), {"x": 1.0}, "argument x is given twice"),
        ((1.0, 2.0), {"z": 1.0}, "has no argument z"),
    ],
)
def test_calls_that_do_not_fit(args, kwargs, said):
    def f(x, y):
        return x * y

    grad = gx.grad(f)
    grad(1.0, 2.0)
    with pytest.raises(ArgumentError, match=said) as caught:
        grad(*args, **kwargs)
    assert isinstance(caught.value, TypeError)


@pytest.mark.parametrize("argnums", [2, -3, "z", 1.5, None, (0, "z")])
def test_argnums_that_do_not_exist(argnums):
    with pytest.raises(ArgumentError, match="there is no argument"):
        gx.grad(lambda x, y: x * y, argnums)(1.0, 2.0)


def test_no_function():
    with pytest.raises(ArgumentError, match="expected a function, got float"):
        gx.grad(3.0)


def test_a_known_call_by_keyword():
    def f(x, k=2.0, *, mode="a"):
        return x

    bound = bind(f, (1.0,), {"mode": "b"}, symbolic=False)
    assert by_position(bound, (5.0,), {"mode": "b"}) == (5.0, 2.0)
    assert by_position(bound, (), {"x": 5.0, "k": 3.0, "mode": "b"}) == (5.0, 3.0)
    assert by_position(bound, (5.0,), {"mode": "c"}) is None
    assert by_position(bound, (5.0,), {}) is None
    assert by_position(bound, (5.0, 2.0, 3.0), {}) is None
    assert by_position(bound, (5.0,), {"z": 1.0}) is None
    assert not takes_arguments_as_they_stand(bound)


def test_an_integer_default_in_the_middle_is_not_taken_for_another_argument():
    def f(x, n=2, k=2.0):
        return k * x**n

    grad = gx.grad(f)
    assert grad(3.0) == 12.0
    assert grad(3.0, 3) == grad(3.0, 3.0) == 54.0
    assert grad(3.0, k=5.0) == 30.0
    assert grad(3.0, 3, 5.0) == 135.0
    assert grad(3.0) == 12.0


def test_shapes_stand_for_arrays():
    (argument,) = bind(lambda x: x, ((3, 2),), {}, symbolic=True)
    assert (argument.shape, argument.value) == ((3, 2), None)
    (argument,) = bind(lambda x: x, (), {}, symbolic=True)
    assert (argument.shape, argument.is_numeric) == ((), False)
