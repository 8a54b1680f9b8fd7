"""What the plain function is called with, and how its own mistakes are named."""

import math
from fractions import Fraction

import numpy as np
import pytest

import gradexplain as gx
from gradexplain.errors import ArgumentError, DeterminismError, FunctionError, NoRuleError


@pytest.mark.parametrize("at", [2.0, np.float64(2.0)])
def test_the_function_gets_the_type_that_was_passed(at):
    seen = set()

    def f(x):
        seen.add(type(x))
        return x**2

    assert gx.grad(f)(at) == 4.0
    assert type(at) in seen
    assert len(seen) == 2


def test_a_branch_on_the_type_is_seen():
    with pytest.raises(DeterminismError):
        gx.grad(lambda x: x**2 if type(x) is float else x**3)(2.0)


def test_where_floats_fail_those_of_numpy_are_taken():
    assert gx.grad(lambda x: 1 / (1 / x + 1))(0.0) is not None
    assert math.isnan(gx.grad(lambda x: x**0.5)(-1.0))


@pytest.mark.parametrize("f", [lambda x: np.sinn(x), lambda x: xx**2])  # noqa: F821
def test_wrong_names_are_the_users_own_mistake(f):
    for call in (lambda: gx.grad(f)(1.0), lambda: gx.explain(f)):
        with pytest.raises(FunctionError, match=r"raises (Attribute|Name)Error") as caught:
            call()
        assert caught.value.fix == "correct the name"


@pytest.mark.parametrize(
    ("f", "name"), [(lambda x: Fraction(x), "Fraction"), (lambda x: np.poly1d(x)(1.0), "np.poly1d")]
)
def test_classes_are_named(f, name):
    with pytest.raises(NoRuleError, match=f"{name} has no derivative rule"):
        gx.grad(f)(1.0)


def square(x):
    return x * x


@pytest.mark.parametrize(
    "call",
    [
        lambda: gx.grad(square)(10**400),
        lambda: gx.jvp(square, 3.0, 1.0),
        lambda: gx.jvp(square, (3.0,), ("a",)),
        lambda: gx.vjp(square, 3.0)[1]("a"),
        lambda: gx.vjp(square, 3.0)[1](None),
        lambda: gx.vjp(square, 3.0)[1](()),
        lambda: gx.grad(square, argnums=[])(1.0),
    ],
)
def test_arguments_that_do_not_fit(call):
    with pytest.raises(ArgumentError):
        call()


def test_an_empty_list_stays_what_it_is():
    assert gx.grad(lambda x, flag: x**2 if flag else x**3)(2.0, []) == 12.0


def test_where_there_is_no_value_there_is_no_slope():
    grad = gx.grad(lambda x: np.maximum(np.arctanh(x), 1.0))
    assert grad(0.1) == 0.0
    for _ in range(2):
        assert math.isnan(grad(2.0))


def test_powers_with_the_exponent_zero():
    assert gx.grad(lambda x: (x ** np.arange(3)).sum())(0.0) == 1.0
    assert gx.grad(lambda x, c: (c * x ** np.arange(4)).sum())(0.0, np.array([1.0, 2.0, 3.0, 4.0])) == 2.0
    assert gx.hessian(lambda x: (x ** np.arange(4)).sum())(0.0) == 2.0
    grad = gx.grad(lambda x, n: x**n)
    assert [grad(0.0, n) for n in (0, 1, 2)] == [0.0, 1.0, 0.0]
    assert grad(2.0, 3) == 12.0
