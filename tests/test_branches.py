"""Formulas with branches: every kind of branch, both sides, merged where equal, and a bounded number of paths."""

from __future__ import annotations

import numpy as np
import pytest

import gradexplain as gx
from gradexplain.errors import ArgumentError, BranchLimitError


def three_pieces(x):
    if x > 1:
        return x**2
    if x > -1:
        return 2 * x
    return -x


def merged(x):
    if x > 0:
        return x**2
    if x > -2:
        return x**2
    return 3 * x


def larger(x, y):
    return x if x > y else y


def doubled(x):
    while x < 10:
        x = x * 2
    return x


def many_paths(x):
    for i in range(12):
        x = x * 1.5 if x > i else x + 1
    return x


def nested(x):
    if x > 0:
        return np.log(x) if x > 1 else x - 1
    return x * 0


KINDS = [
    (three_pieces, "2*x if x > 1 else 2 if x > -1 else -1"),
    (merged, "3 if x <= -2 else 2*x"),
    (nested, "0 if x <= 0 else 1 if x <= 1 else 1/x"),
    (lambda x: np.where(x > 0, x**2, -x), "2*x if x > 0 else -1"),
    (lambda x: np.where(x > 0, x**2, x**2), "2*x"),
    (lambda x: np.select([x < 0, x < 1], [-x, x**2], 2 * x), "-1 if x < 0 else 2*x if x < 1 else 2"),
    (abs, "sign(x)"),
    (lambda x: np.sign(x) * x**2, "2*sign(x)*x"),
    (lambda x: max(x, x**2), "2*x if x**2 > x else 1"),
    (lambda x: np.minimum(x, 1 - x), "-1 if x > 1 - x else 1"),
    (lambda x: np.clip(x, -1, 1) ** 2, "0 if x <= -1 else 2*x if x < 1 else 0"),
    (lambda x: np.floor(x) * x, "floor(x)"),
    (lambda x: x % 2, "1"),
    (lambda x: np.heaviside(x, 0.5) * x, "0 if x < 0 else 1"),
    (lambda x: abs(x - 1) + abs(x + 1), "sign(x - 1) + sign(x + 1)"),
]


@pytest.mark.parametrize(("function", "expected"), KINDS)
def test_both_sides_are_in_the_formula(function, expected):
    e = gx.explain(function)
    assert e["x"].text == expected
    assert e.check().ok


@pytest.mark.parametrize("function", [f for f, _ in KINDS])
def test_the_formula_is_the_gradient_on_every_side(function):
    form = gx.explain(function)["x"]
    for x in (-3.3, -1.7, -0.6, 0.3, 0.7, 1.4, 2.6):
        found = eval(form.numpy, {"np": np, "x": x})
        assert found == pytest.approx(gx.grad(function)(x))


def test_two_variables():
    e = gx.explain(larger)
    assert [f.text for f in e.gradients.values()] == ["1 if x > y else 0", "0 if x > y else 1"]
    assert e.check().ok


def test_a_loop_on_the_input_needs_a_point():
    with pytest.raises(BranchLimitError, match="more than 60 branches") as caught:
        gx.explain(doubled)
    assert caught.value.where.line == doubled.__code__.co_firstlineno + 1
    assert "give a point" in str(caught.value)
    e = gx.explain(doubled, 3.0)
    assert e["x"].text == "4"
    assert "the formula holds only there" in str(e)


def test_too_many_paths_say_which_branch_and_how_many():
    with pytest.raises(ArgumentError) as caught:
        gx.explain(many_paths)
    line = many_paths.__code__.co_firstlineno + 2
    assert f"more than 32 paths through its branches: the branch in line {line} is met 12 times" in str(caught.value)
    e = gx.explain(many_paths, 0.5)
    assert e.check().ok
    assert f"line {line} is met 12 times" in e.to_text(width=200)


@pytest.mark.parametrize(
    ("function", "x", "words"),
    [
        (abs, 0.0, "has a kink here (x = 0: slopes -1 and 1, 0 is taken)"),
        (lambda x: np.maximum(x, 2 * x), 0.0, "has a tie here"),
        (lambda x: np.clip(x, -1, 1), 1.0, "has a kink here (x at a constant bound: 0 is taken)"),
        (lambda x: np.floor(x) * x, 2.0, "is exactly at a jump (jumps at the integers)"),
        (lambda x: x % 2, 4.0, "is exactly at a jump"),
        (np.sign, 0.0, "is exactly at a jump"),
    ],
)
def test_kinks_at_the_point_are_stated(function, x, words):
    assert words in str(gx.explain(function, x))
