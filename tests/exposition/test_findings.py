"""Findings name what a formula does not say."""

import math

import numpy as np
import pytest

from gradexplain.autodiff import sweep
from gradexplain.exposition.findings import MOST_OF_A_KIND, find
from tests.exposition.programs import traced


def findings(function, *args, wrt=None):
    program = traced(function, *args)
    names = list(program.inputs) if wrt is None else wrt
    return find(program, names, sweep(program.output, [program.inputs[n] for n in names]))


def texts(function, *args):
    return [f.text for f in findings(function, *args)]


def branch(x):
    if x > 0:
        return x**2
    return -x


def test_branches_taken():
    (found,) = findings(branch, -1.0)
    assert (found.kind, found.text) == ("branch", "x > 0 is False: the formula holds only there")
    assert found.place.text == "if x > 0:"


def test_many_branches_are_counted():
    def f(x):
        for k in range(20):
            if x > k / 100:
                x = x * 1.01
        return x

    found = findings(f, 1.0)
    assert len(found) == MOST_OF_A_KIND + 1
    assert found[-1].text == "and 15 more of this kind"


@pytest.mark.parametrize(
    ("function", "text"),
    [
        (lambda x: abs(x), "abs(x) has a kink here (x = 0: slopes -1 and 1, 0 is taken)"),
        (lambda x: np.maximum(x, 0) * 2, "maximum(x, 0) has a kink here"),
        (lambda x: np.floor(x) * x, "floor(x) is exactly at a jump (jumps at the integers)"),
        (lambda x: np.hypot(x, x), "hypot(x, x) is the length of a zero vector"),
    ],
)
def test_kinks_at_the_point(function, text):
    (found,) = [f for f in findings(function, 0.0) if f.kind == "kink"]
    assert found.text.startswith(text)
    assert found.place is not None


def test_no_kink_beside_the_point():
    assert texts(lambda x: abs(x) + np.floor(x) + np.clip(x, 0, 1), 0.5) == []


def test_kinks_in_arrays_are_counted():
    (found,) = findings(lambda x: np.sum(abs(x)), np.array([0.0, 1.0, 0.0]))
    assert "at 2 of 3 entries" in found.text


def test_arguments_without_influence():
    assert texts(lambda x, y: x * 2, 1.0, 2.0) == ["y does not appear: its derivative is 0"]
    (text,) = texts(lambda x: np.floor(x) * 2, 0.5)
    assert text == "x appears only inside floor(x), which is constant between its jumps: its derivative is 0"


def test_infinite_slopes():
    (text,) = texts(lambda x: math.sqrt(x), 0.0)
    assert text == "sqrt(x) has slope inf at x = 0"


def test_zero_times_infinity_names_both():
    (text, *_) = texts(lambda x: np.sqrt(x) * np.sin(np.sqrt(x)), 0.0)
    assert text == "0 times infinity: sqrt(x) has slope inf at x = 0, its user has slope 0"


def test_values_that_are_not_finite():
    (text, *_) = texts(lambda x: np.sin(x) / x, 0.0)
    assert text == "sin(x)/x = 0/0 has no finite value"


def test_nothing_to_say():
    assert texts(lambda x: x**2 * np.sin(x), 1.0) == []
