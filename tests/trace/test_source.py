"""Where a node comes from: lines, names, and whose code it was."""

import math
import sys
import types

import numpy as np
import pytest

import gradexplain as gx
from gradexplain.graph import ancestors
from gradexplain.trace.run import trace
from gradexplain.trace.signature import bind
from gradexplain.trace.source import is_library, name_of, place_of, place_of_function, text_at


def names_and_lines(f, *args):
    program = trace(f, bind(f, args, {}, symbolic=False))
    first = f.__code__.co_firstlineno
    found = []
    for node in ancestors([program.output]):
        site = program.trace.sites.get(node)
        if site is not None:
            found.append((node.op.name, name_of(site), place_of(site).line - first))
    return found


def test_names_and_lines_of_nodes():
    def f(x):
        y = x * x
        a, b = y + 1, np.sin(y)
        (c := a * b)
        z = [math.exp(c), 2 * c]
        z[0] += 1
        a += b
        return z[0] * a

    assert names_and_lines(f, 2.0) == [
        ("mul", "y", 1),
        ("add", "a", 2),
        ("sin", "b", 2),
        ("mul", "c", 3),
        ("exp", None, 4),
        ("add", None, 5),
        ("add", "a", 6),
        ("mul", None, 7),
    ]


def test_lines_over_several_lines():
    def f(x):
        y = (
            x
            * x
        )  # fmt: skip
        return y  # noqa: RET504

    assert names_and_lines(f, 2.0) == [("mul", "y", 2)]


def test_functions_without_source():
    space = {}
    exec("def f(x):\n    y = x * x\n    return y", space)
    assert names_and_lines(space["f"], 2.0) == [("mul", None, 1)]
    assert place_of(None) is None
    assert name_of(None) is None


def test_places_of_functions():
    def f(x):
        return x

    class Model:
        def method(self, x):
            return x

    assert place_of_function(f).function == "f"
    assert place_of_function(Model().method).text == "def method(self, x):"
    assert place_of_function(np.sin) is None


def test_whose_code_it_is(monkeypatch, tmp_path):
    assert all(map(is_library, ["numpy.linalg._linalg", "scipy", "statistics", "math", "gradexplain.api"]))
    assert not any(map(is_library, ["__main__", "", "tests.trace", "numpyro", "mathlib"]))
    mine = types.ModuleType("queue")  # a file of the user, of a name that Python uses too
    mine.__file__ = str(tmp_path / "queue.py")
    monkeypatch.setitem(sys.modules, "queue", mine)
    is_library.cache_clear()
    try:
        assert not is_library("queue")
    finally:
        is_library.cache_clear()


def test_the_line_is_the_users_not_the_librarys():
    with pytest.raises(gx.GradexplainError) as caught:
        gx.grad(lambda v: np.vectorize(lambda t: float(t))(v).sum())(np.ones(2))
    assert caught.value.where.file == "test_source.py"


def test_formatting_in_place():
    def f(x):
        s = "%d %5.2f"
        s %= (x, x)
        return x * len(s)

    assert gx.grad(f)(2.0) == 7.0


def test_the_text_of_an_expression():
    def f(x):
        return (
            np.sin(x)
            * 2.0
        )  # fmt: skip

    program = trace(f, bind(f, (1.0,), {}, symbolic=False))
    texts = [text_at(program.trace.sites[n]) for n in ancestors([program.output]) if n in program.trace.sites]
    assert texts == ["np.sin(x)", "np.sin(x) * 2.0"]
    assert text_at(None) == ""
