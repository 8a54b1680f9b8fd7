"""Runs: the comparison with the plain function, what functions raise and return, every path through branches."""

import inspect
import math
import random
import re
import sys
import warnings

import numpy as np
import pytest

import gradexplain as gx
from gradexplain.errors import (
    DeterminismError,
    DomainError,
    FunctionError,
    NotTraceableError,
    RecursionDepthError,
    ReturnError,
    ShapeError,
)
from gradexplain.evaluate import evaluate
from gradexplain.trace.run import MOST_PATHS, explore, trace
from gradexplain.trace.signature import bind

from . import V, check_gradient


def traced(f, *args):
    return trace(f, bind(f, args, {}, symbolic=not args))


def value_at(program, x):
    return evaluate([program.output], {program.inputs["x"]: x})[0]


# Exceptions.


def careful_root(x):
    try:
        return math.sqrt(x)
    except ValueError:
        return -5.0 * x


def sinc(x):
    try:
        return math.sin(x) / x
    except ZeroDivisionError:
        return 1.0


@pytest.mark.parametrize("order", [(4.0, -4.0), (-4.0, 4.0)])
def test_an_exception_steers_the_program_like_a_branch(order):
    grad, wanted = gx.grad(careful_root), {4.0: 0.25, -4.0: -5.0}
    for x in (*order, *order):
        assert grad(x) == wanted[x]
        assert grad(np.float64(x)) == wanted[x]


@pytest.mark.parametrize("order", [(1.0, 0.0), (0.0, 1.0)])
def test_a_division_by_zero_that_is_handled_has_the_limit_as_derivative(order):
    grad, wanted = gx.grad(sinc), {1.0: math.cos(1) - math.sin(1), 0.0: 0.0}
    for x in (*order, *order):
        assert grad(x) == pytest.approx(wanted[x], abs=1e-14)


def test_exceptions_steer_programs_of_arrays_too():
    def f(v):
        try:
            return math.sqrt(v[0]) * v[1]
        except ValueError:
            return v.sum()

    grad = gx.grad(f)
    for _ in range(2):
        np.testing.assert_array_equal(grad(np.array([4.0, 1.0])), [0.25, 2.0])
        np.testing.assert_array_equal(grad(np.array([-4.0, 1.0])), [1.0, 1.0])


def test_an_exception_at_the_point_keeps_the_other_paths_out():
    assert "exception" in explore(traced(careful_root, -4.0)).limits[0]
    assert value_at(explore(traced(careful_root, 4.0)), 9.0) == 3.0


@pytest.mark.parametrize(
    ("f", "said"),
    [
        (lambda x: math.sqrt(x - 5), "f raises ValueError: math domain error"),
        (lambda x: {}["a"] * x, "f raises KeyError: 'a'"),
        (lambda x: undefined * x, "f raises NameError"),  # noqa: F821
        (lambda x: np.linalg.inv(np.zeros((2, 2)) * x).sum(), "f raises LinAlgError: Singular matrix"),
        (lambda x: np.linalg.cholesky(-np.eye(2) * x).sum(), "f raises LinAlgError: Matrix is not positive definite"),
        (lambda x: np.array([x, x])[7], "f raises IndexError"),
    ],
)
def test_the_functions_own_errors(f, said):
    with pytest.raises(FunctionError, match=said) as caught:
        gx.grad(f)(1.0)
    assert caught.value.where.file == "test_run.py"
    assert caught.value.__cause__ is not None


def test_a_later_point_at_which_the_function_fails():
    root, inverse = gx.grad(lambda x: math.sqrt(x)), gx.grad(lambda a: np.linalg.inv(a).sum())
    assert root(4.0) == 0.25
    inverse(np.eye(2))
    with pytest.raises(FunctionError, match="math domain error"):
        root(-4.0)
    with pytest.raises(FunctionError, match="Singular matrix"):
        inverse(np.zeros((2, 2)))
    of_entries = gx.grad(lambda v: math.sqrt(v[0]) + v[1])
    of_entries(np.ones(2))
    with pytest.raises(FunctionError, match="math domain error"):
        of_entries(-np.ones(2))


def test_a_derivative_that_is_singular_where_the_function_is_not():
    with pytest.raises(DomainError, match="Singular matrix") as caught:
        gx.hessian(lambda v: np.linalg.slogdet(np.outer(v, v))[1])(np.ones(2))
    assert caught.value.where.file == "test_run.py"


def test_errors_of_shapes_say_the_line():
    for f in (lambda v: v + np.ones(4), lambda v: np.ones((2, 2)) @ v):
        with pytest.raises(ShapeError) as caught:
            gx.grad(f)(V)
        assert caught.value.where.file == "test_run.py"


def test_infinite_values_of_numpy_are_no_errors():
    assert gx.grad(lambda x: 1 / x)(0.0) == -math.inf
    assert gx.value_and_grad(lambda x: x / 0)(1.0) == (math.inf, math.inf)
    assert gx.grad(lambda x: np.exp(x))(1000.0) == math.inf
    assert math.isnan(gx.grad(lambda x: x ** (1 / 3))(-8.0))


def test_expected_index_errors_are_raised():
    def f(v):
        total, i = 0.0, 0
        while True:
            try:
                total, i = total + v[i] ** 2, i + 1
            except IndexError:
                return total

    check_gradient(f, V)


# Recursion.


def test_recursion_as_deep_as_python_allows():
    def f(x, depth=900):
        return x if depth == 0 else f(math.sin(x), depth - 1) + 0.001 * x

    check_gradient(f, 0.7)
    check_gradient(f, 0.7, sys.getrecursionlimit() - len(inspect.stack(0)) - 20)

    def too_deep(x):
        return too_deep(x + 1)

    with pytest.raises(RecursionDepthError, match=r"too_deep calls itself [0-9]{3,} times") as caught:
        gx.grad(too_deep)(1.0)
    assert caught.value.where.text == "return too_deep(x + 1)"


def _odd(x):
    return x * _even(x - 1)


def _even(x):
    return x + _odd(x)


@pytest.mark.parametrize("point", [(), (2.0,)])
@pytest.mark.parametrize(
    ("f", "name"),
    [
        (lambda x, n=5000: _nested(x, n), "_nested"),  # ends, but not soon enough
        (_odd, "_odd|_even"),
        (lambda x: _until_negative(x * x), "_until_negative"),
    ],
)
def test_recursion_without_end_says_so(f, name, point):
    with pytest.raises(gx.GradexplainError) as caught:
        gx.explain(f, *point)
    if point or name != "_until_negative":  # without a number its branches are the limit
        assert isinstance(caught.value, RecursionDepthError)
        assert re.search(name, caught.value.what)
        assert caught.value.where.function in name
        assert caught.value.fix


def _nested(x, n):
    return x if n == 0 else math.sin(_nested(x, n - 1))


def _until_negative(x):
    return x if x < 0 else x + _until_negative(x + 1)


# What functions return.


@pytest.mark.parametrize(
    ("f", "said"),
    [
        (lambda x: None, "None"),
        (lambda x: (x, x), "a tuple of 2 values"),
        (lambda x: x > 0, "a truth value"),
        (lambda x: "text", "a value of type str"),
        (lambda x: {"a": x}, "a value of type dict"),
        (lambda x: (t for t in [x]), "a value of type generator"),
        (lambda x: np.array(["a"]), "an array of dtype"),
    ],
)
def test_what_has_no_derivative(f, said):
    with pytest.raises(ReturnError, match=f"f returned {said}") as caught:
        gx.grad(f)(1.0)
    assert caught.value.where.file == "test_run.py"


def test_generators_and_async_functions_are_refused_before_they_run():
    def generates(x):
        yield x

    async def waits(x):
        return x

    for f, kind in ((generates, "a generator function"), (waits, "an async function")):
        with pytest.raises(gx.GradexplainError, match=f"is {kind}"):
            gx.grad(f)(1.0)


def test_constants_and_integers():
    assert gx.grad(lambda x: 3)(1.0) == 0.0
    np.testing.assert_array_equal(gx.grad(lambda v: np.array([1, 2]))(V), np.zeros(3))
    assert gx.grad(lambda v: (v**2).sum())(np.zeros((0, 3))).shape == (0, 3)


# The comparison with the plain function.


def test_random_numbers_are_found():
    with pytest.raises(DeterminismError, match="f gives different values when it is called twice"):
        gx.grad(lambda x: x * random.random())(1.0)
    assert gx.grad(lambda x: x * np.random.default_rng(0).normal())(1.0) == np.random.default_rng(0).normal()


def test_parts_that_treat_traced_values_differently_are_found():
    with pytest.raises(DeterminismError, match=r"but 3\. when it is traced"):
        gx.grad(lambda x: 2 * x if type(x) in (float, np.float64) else 3 * x)(1.0)


def test_a_swallowed_error_of_ours_is_found():
    def f(x):
        try:
            return float(x) * 2
        except TypeError:
            return 0.0

    with pytest.raises(DeterminismError):
        gx.grad(f)(1.0)


def test_the_function_is_called_twice_at_its_first_point_and_not_again():
    calls = []

    def f(x):
        print("called")
        return x**2

    grad = gx.grad(lambda x: f(x) + calls.append(1) if False else f(x))
    grad(1.0)
    grad(2.0)
    assert calls == []


def test_lower_precision_of_the_function_is_no_error():
    assert gx.grad(lambda x: np.float32(x) * 2)(0.7) == 2.0
    np.testing.assert_allclose(gx.grad(lambda v: (v.astype(np.float32) ** 2).sum())(V), 2 * V)


# Branches.


def test_every_path_is_joined():
    def f(x):
        if x > 1:
            return x**2
        return -x if x < -1 else 0.5 * x

    whole = explore(traced(f))
    assert whole.explored
    assert [value_at(whole, x) for x in (3.0, 0.5, -2.0)] == [9.0, 0.25, 2.0]


def test_paths_on_which_the_function_raises_are_left_out():
    def f(x):
        if x > 1:
            raise ValueError("too large")
        return 2 * x

    assert value_at(explore(traced(f)), 0.5) == 1.0


def test_too_many_paths_are_said():
    def f(x):
        return sum(x if x > i else 2 * x for i in range(20))

    whole = explore(traced(f))
    assert not whole.explored
    assert str(MOST_PATHS) in whole.limits[0]


def test_paths_of_different_shapes_are_refused():
    with pytest.raises(ReturnError, match="different shapes"):
        explore(traced(lambda x: x if x > 0 else np.array([x, x])))


def test_conditions_on_integers_are_no_paths():
    def f(x, n):
        return x if n > 1 else 2 * x

    program = trace(f, bind(f, (1.0, 2), {}, symbolic=False))
    assert program.conditions == ()
    assert program.trace.concretised


def test_loops_with_branches_take_linear_time():
    def f(x):
        total = 0.0
        for i in range(3000):
            total = total + x if x * i > 1 else total * x + i
        return total

    program = traced(f, 0.5)
    assert len(program.conditions) == 3000
    assert len(program.trace._origins) < 30_000  # every node is looked at once, not at every branch


def test_nothing_is_warned_of_while_tracing():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        gx.grad(lambda v: (np.log(v) / v).sum())(np.array([0.0, -1.0]))


def test_errors_in_other_peoples_code_name_it():
    class Strange:
        def __mul__(self, other):
            return float(other) if isinstance(other, float) else 0.0

    with pytest.raises(NotTraceableError, match=r"float\(\)"):
        gx.grad(lambda x: Strange() * x)(1.0)
