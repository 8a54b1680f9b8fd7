"""Which of the user's functions are called, on which values, while a program is traced for an explanation."""

import functools
import math
import sys

import numpy as np
import pytest

import gradexplain as gx
from gradexplain.trace import calls
from gradexplain.trace.run import trace
from gradexplain.trace.signature import bind
from gradexplain.trace.source import name_of, name_of_function


def program_of(f, *args):
    return trace(f, bind(f, args, {}, symbolic=not args), calls=True)


def calls_of(f, *args):
    """Name, names of arguments and whether the call is plain; without the function itself."""
    found = program_of(f, *args).trace
    return [
        (name_of_function(c.code), tuple(n for n, _ in c.arguments), c.plain)
        for c in found.calls
        if c.code is not found.own[0]
    ]


def bell(t, width=1.0):
    return math.exp(-t * t) / width


def leaky(t):
    return t * 1.5 if t > 0 else 0.1 * t


def power(x, n):
    return x if n == 1 else x * power(x, n - 1)


def test_arguments_and_results_are_nodes():
    def f(x, y):
        u = x * y
        return bell(u, 2.0) + bell(t=y)

    program = program_of(f)
    first, second, whole = program.trace.calls
    x, y = program.inputs.values()
    assert dict(first.arguments)["t"] is x.__class__.__mul__(x, y)
    assert dict(first.arguments)["width"].data == 2
    assert dict(second.arguments)["t"] is y
    assert whole.result is program.output
    assert program.output.inputs == (first.result, second.result)


@pytest.mark.parametrize(
    ("f", "expected"),
    [
        (lambda x: bell(x) * x, [("bell", ("t", "width"), True)]),
        (lambda x: leaky(x) * x, [("leaky", (), False)]),  # what it is depends on where it is
        (lambda x: power(x, 3), [("power", (), False), ("power", (), False)]),  # the innermost hands x on
        (lambda x: bell(0.5) * x, []),  # a plain number comes out
        (lambda x: sum(bell(v) for v in (x, 2 * x)), [("bell", ("t", "width"), True)] * 2),
        (lambda x: functools.reduce(lambda a, b: a * b + 1, (x, x, x)), [(None, ("a", "b"), True)] * 2),
    ],
)
def test_calls(f, expected):
    assert calls_of(f) == expected


def test_a_function_that_sees_traced_values_beside_its_arguments_is_not_plain():
    def f(x, y):
        scaled = lambda t: t * y  # noqa: E731
        return scaled(x) + scaled(2 * x)

    assert calls_of(f) == [("scaled", (), False)] * 2


def test_whole_numbers_that_steer_are_seen():
    def rounded(t):
        return t * int(t)

    with pytest.warns(gx.errors.TraceWarning):
        assert calls_of(lambda x: rounded(x) + 1, 2.5) == [("rounded", (), False)]


def test_variables_are_known_by_what_a_call_returns():
    def f(x):
        p = bell(x)
        return p * x

    program = program_of(f)
    (call, _) = program.trace.calls
    assert [name_of(site) for site in program.trace.returned[call.result]] == ["p"]
    assert program.local_name(call.result, own=True) == "p"


def test_variables_of_other_functions_are_not_the_functions_own():
    def helper(x):
        inner = x * x
        return np.sin(inner) + 1

    def f(x):
        outer = x + 1
        return helper(outer) * 2

    program = program_of(f)
    own = {n: program.local_name(n, own=True) for n in program.trace.sites}
    every = {n: program.local_name(n) for n in program.trace.sites}
    assert set(filter(None, own.values())) == {"outer"}
    assert set(filter(None, every.values())) == {"outer", "inner"}


def test_a_function_that_hands_its_arguments_on_is_the_other_one():
    def f(x):
        inner = x * x
        return np.sin(inner)

    @functools.wraps(f)
    def wrapper(*args):
        return f(*args)

    program = program_of(wrapper)
    assert "inner" in {program.local_name(n, own=True) for n in program.trace.sites}


def test_numbers_are_traced_without_watching_calls():
    f = lambda x: bell(x) * x  # noqa: E731
    assert trace(f, bind(f, (1.0,), {}, symbolic=False)).trace.calls == ()


def test_a_profiler_keeps_its_place():
    seen = []

    def profiler(frame, event, arg):
        seen.append(event)

    sys.setprofile(profiler)
    try:
        found = gx.explain(lambda x: bell(x) * x)["x"]
        assert sys.getprofile() is profiler
    finally:
        sys.setprofile(None)
    assert seen
    assert found.text


def test_nothing_is_left_behind():
    def fails(x):
        raise ValueError("no value")

    gx.explain(lambda x: bell(x) * x)
    assert sys.getprofile() is None
    with pytest.raises(gx.errors.GradexplainError):
        gx.explain(fails, 1.0)
    assert sys.getprofile() is None


def test_long_programs_are_not_watched_to_the_end(monkeypatch):
    monkeypatch.setattr(calls, "MOST_EVENTS", 2000)

    def long(x):
        for _ in range(200):
            x = bell(x)
        return x

    found = program_of(long).trace
    assert (found.calls, found.own, found.returned) == ((), None, {})
    assert sys.getprofile() is None


def test_functions_are_not_called_more_often():
    count = 0

    def counted(t):
        nonlocal count
        count += 1
        return 1 / (1 + np.exp(-t))

    e = gx.explain(lambda x: counted(x) * x)
    _ = e.gradients, str(e)
    assert count == 1
