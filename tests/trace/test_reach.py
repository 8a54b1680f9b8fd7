"""What a function reads from outside: found wherever it is kept, and looked at again before a program is used again."""

import functools
import math
import random

import numpy as np
import pytest

import gradexplain as gx
from gradexplain.trace.reach import handles_exceptions, is_data, slots
from gradexplain.trace.snapshot import nothing_to_check, same, snapshot
from gradexplain.trace.source import is_library

K = 2.0
MATRIX = np.eye(2)
SETTINGS = {"list": [1.0, 2.0], "deep": {"a": (np.ones(2), 3.0)}}
STREAM = random.Random(1)


def helper(x):
    return x**2


def other_helper(x):
    return x**3


class Part:
    size = 2.0

    def __init__(self):
        self.w = np.array([1.0, 2.0])
        self.inner = None

    def value(self, x):
        return self.size * (self.w * x).sum() + (self.inner.value(x) if self.inner else 0.0)


class Small:
    __slots__ = ("k",)

    def __init__(self):
        self.k = 1.0


SMALL = Small()


def with_counter(x):
    return with_counter.k * x


with_counter.k = 1.0


def closure():
    k = 1.0

    def f(x):
        return k * x

    def change(value):
        nonlocal k
        k = value

    return f, change


def checked(grad, *calls):
    """The gradients at 1, after each of some changes; the program must not be made anew where nothing changed."""
    found = [grad(1.0)]
    for change in calls:
        change()
        found.append(grad(1.0))
        last = grad._last
        grad(1.0)
        assert grad._last is last
    return found


def test_globals(monkeypatch):
    here = globals()
    grad = gx.grad(lambda x: K * x)
    assert checked(grad, lambda: monkeypatch.setitem(here, "K", 5.0)) == [2.0, 5.0]
    monkeypatch.setitem(here, "K", np.array([1.0, 2.0]))
    assert grad(1.0) == 3.0


def test_arrays_changed_in_place(monkeypatch):
    kept = MATRIX.copy()
    grad = gx.grad(lambda x: MATRIX.sum() * x)
    try:
        assert checked(grad, lambda: MATRIX.__setitem__((0, 0), 7.0)) == [2.0, 8.0]
        assert checked(grad, lambda: MATRIX.__setitem__((0, 1), np.nan))[0] == 8.0
        assert math.isnan(grad(1.0))
    finally:
        MATRIX[...] = kept


def test_arrays_that_are_not_contiguous():
    outside = np.arange(10.0)[::2]
    grad = gx.grad(lambda x: outside.sum() * x)
    assert checked(grad, lambda: outside.__setitem__(0, 5.0)) == [20.0, 25.0]


def test_containers():
    grad = gx.grad(lambda x: (SETTINGS["list"][1] + SETTINGS["deep"]["a"][0].sum()) * x)
    changes = [lambda: SETTINGS["list"].__setitem__(1, 3.0), lambda: SETTINGS["deep"]["a"][0].fill(5.0)]
    assert checked(grad, *changes) == [4.0, 5.0, 13.0]


def test_objects(monkeypatch):
    part = Part()
    part.inner = Part()
    for grad in (gx.grad(part.value), gx.grad(lambda x: part.value(x))):
        first = grad(1.0)
        assert first == 12.0
        changes = [
            lambda: part.w.__setitem__(0, 5.0),
            lambda: setattr(part.inner, "w", np.zeros(2)),
            lambda: monkeypatch.setattr(Part, "size", 3.0),
        ]
        assert checked(grad, *changes) == [12.0, 20.0, 14.0, 21.0]
        monkeypatch.undo()
        part.w[0], part.inner.w = 1.0, np.array([1.0, 2.0])
    grad = gx.grad(lambda x: SMALL.k * x)
    assert checked(grad, lambda: setattr(SMALL, "k", 4.0)) == [1.0, 4.0]
    SMALL.k = 1.0


def test_a_new_attribute_is_seen():
    part = Part()

    def f(x):
        return x * (2.0 if hasattr(part, "extra") else 1.0)

    assert checked(gx.grad(f), lambda: setattr(part, "extra", 1)) == [1.0, 2.0]

    class Growing:
        def __call__(self, x):
            return x * (2.0 if hasattr(self, "extra") else 1.0)

    for take in (lambda owner: owner, lambda owner: owner.__call__):
        owner = Growing()
        assert checked(gx.grad(take(owner)), lambda o=owner: setattr(o, "extra", 1)) == [1.0, 2.0]


def test_all_paths_are_forgotten_when_something_changed(monkeypatch):
    grad = gx.grad(lambda x: K * x if x > 0 else -K * x)
    assert [grad(1.0), grad(-1.0)] == [2.0, -2.0]
    monkeypatch.setitem(globals(), "K", 5.0)
    assert [grad(1.0), grad(-1.0), grad(1.0)] == [5.0, -5.0, 5.0]


def test_closures_defaults_and_attributes():
    f, change = closure()
    assert checked(gx.grad(f), lambda: change(8.0)) == [1.0, 8.0]
    assert checked(gx.grad(with_counter), lambda: setattr(with_counter, "k", 3.0)) == [1.0, 3.0]

    def g(x, k=2.0, n=1, *, m=1.0):
        return k * m * x**n

    grad = gx.grad(g)
    assert checked(grad, lambda: setattr(g, "__defaults__", (3.0, 1)), lambda: g.__kwdefaults__.update(m=2.0)) == [
        *(2.0, 3.0, 6.0)
    ]


def test_helpers_redefined(monkeypatch):
    grad = gx.grad(lambda x: helper(x))
    assert checked(grad, lambda: monkeypatch.setitem(globals(), "helper", other_helper)) == [2.0, 3.0]


def test_helpers_reloaded_in_place(monkeypatch):
    grad = gx.grad(lambda x: helper(x))
    assert checked(grad, lambda: monkeypatch.setattr(helper, "__code__", other_helper.__code__)) == [2.0, 3.0]


def test_partials_and_wrappers():
    weights = np.array([1.0, 2.0])
    for f in (
        functools.partial(lambda w, x: w.sum() * x, weights),
        functools.wraps(helper)(lambda x: weights.sum() * x),
        np.vectorize(lambda x: weights.sum() * x),
    ):
        weights[:] = 1.0, 2.0
        grad = gx.grad(f)
        assert float(grad(1.0)) == 3.0
        weights[0] = 2.0
        assert float(grad(1.0)) == 4.0


def test_what_changes_in_ways_of_its_own_is_traced_anew():
    assert snapshot(lambda x: STREAM.random() * x) is None
    with open(__file__, encoding="utf-8") as file:
        assert snapshot(lambda x: x if file.closed else 2 * x) is None
    with pytest.raises(gx.GradexplainError, match="different values when it is called twice"):
        gx.grad(lambda x: STREAM.random() * x)(1.0)


def test_a_function_of_its_arguments_alone_needs_no_check():
    assert snapshot(lambda x: x**2) is nothing_to_check
    assert snapshot(math.sin) is not None
    grad = gx.grad(lambda x: x**2)
    grad(1.0)
    assert grad._is_current is None


def test_names_of_users_are_never_part_of_a_program():
    space = {"__builtins__": {}, "x; raise": 1.0, "np": np}
    exec("def f(x): return x", space)
    f = space["f"]
    vars(f)["'] or boom['"] = 2.0
    test = snapshot(f)
    assert test is not None
    assert test()
    vars(f)["'] or boom['"] = 3.0
    assert not test()
    del vars(f)["'] or boom['"]
    assert not test()


def test_cycles_end():
    loop = []
    loop.append(loop)
    ring = {"self": None}
    ring["self"] = ring

    def f(x):
        return x * (len(loop) + len(ring))

    assert gx.grad(f)(1.0) == 2.0
    assert not is_data(loop)
    assert len(list(slots(f))) == 5  # the defaults, two cells, and what is in the two


def test_data():
    assert is_data([1, 2.0, ("a", {"b": np.zeros(2)}), {1, 2}])
    assert not is_data([object()])
    assert not is_data(np.array([object()]))
    assert same([np.array([np.nan]), {"a": (1, float("nan"))}], [np.array([np.nan]), {"a": (1, float("nan"))}])
    assert not same([1.0], (1.0,))
    assert not same(np.zeros(2), np.zeros((2, 1)))
    assert not same({"a": 1}, {"b": 1})


def test_handlers_of_exceptions_are_found_in_helpers():
    def careful(x):
        try:
            return math.sqrt(x)
        except ValueError:
            return 0.0

    def f(x):
        return careful(x)

    assert handles_exceptions(slots(f), f)
    assert handles_exceptions([], functools.partial(careful).func)
    assert not handles_exceptions(slots(helper), helper)


def test_large_packages_end_the_walk(monkeypatch):
    monkeypatch.setattr("gradexplain.trace.reach.MOST_PLACES", 3)
    monkeypatch.setattr("gradexplain.trace.snapshot.MOST_PLACES", 3)
    assert len(list(slots(lambda x: (K, helper, MATRIX, SETTINGS)))) < 10
    assert snapshot(lambda x: (K, helper, MATRIX, SETTINGS)) is None
    assert snapshot(lambda x: K * x) is not None


def test_types_of_c_code_are_not_followed():
    assert is_library(property.__dict__["fget"])
