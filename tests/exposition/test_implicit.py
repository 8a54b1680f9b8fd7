"""Implicit differentiation: every line of the derivation is true on the curve."""

from __future__ import annotations

import mpmath as mp
import pytest
import sympy as sp

from gradexplain.api import explain_implicit
from gradexplain.simplify.curve import along
from gradexplain.simplify.numeric import value

EQUATIONS = ["x**2 + y**2 = 25", "x**3 + y**3 = 6*x*y", "x*y = exp(x - y)", "sin(x*y) = x + y", "x**y = y**x",
             "sqrt(x) + sqrt(y) = 4", "log(x*y) = x", "x**2/a**2 + y**2/b**2 = 1", "y = x**2", "tan(x/y) = x + y",
             "x*y = 1", "y**5 + y = x", "3 = x*y**2", "(x + y)/(x - y) = 3*x", "abs(x*y) = 2",
             "x**2*y - 4"]  # fmt: skip


def numbers(explanation, point, order):
    """y and its derivatives at a point of the curve, by difference quotients."""
    f = along(explanation.curve, point, "x")
    x = mp.mpf(point["x"])
    found = {n: mp.mpf(v) for n, v in point.items()}
    return found | {"y" + "'" * k: mp.diff(f, x, k, h=mp.mpf(10) ** -12) for k in range(1, order + 1)}


def is_close(a, b):
    return abs(a - b) <= 1e-8 * max(1, abs(a), abs(b))


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("text", EQUATIONS)
def test_every_line_holds_on_the_curve(text, order):
    explanation = explain_implicit(text, order=order, wrt="x")
    record = explanation.derivation(detail="full").data
    with mp.workdps(40):
        for point in explanation.curve.points()[:3]:
            at = numbers(explanation, point, order)
            stage = record
            while stage is not None:
                prime = at["y" + "'" * len(stage.variables)]
                lines = [stage.differentiated, stage.collected, (stage.solved, None), (stage.result, None)]
                lines += [(rewrite.after, None) for rewrite in stage.rewrites]
                for left, right in [pair if len(pair) == 2 else (*pair, None) for pair in lines if pair]:
                    with_names = dict(at)
                    for name, part in stage.where:
                        with_names[name] = value(part, with_names)
                    other = prime if right is None else value(right, with_names)
                    assert is_close(value(left, with_names), other), (left, right)
                stage = stage.previous


@pytest.mark.parametrize("text", EQUATIONS)
def test_the_rules_on_the_way_are_derivatives(text):
    """Each side's own derivation ends in what the line above it says."""
    record = explain_implicit(text, wrt="x").derivation(detail="full").data
    for side in record.sides:
        assert any(sp.simplify(side.root.after - e) == 0 for e in record.differentiated)


def test_the_derivation_reads_as_in_a_book():
    assert (
        str(explain_implicit("x**2 + y**2 = 25").derivation())
        == """\
The derivative of y with respect to x
=====================================

  x**2 + y**2 = 25

  1    differentiate both sides   2*x + 2*y*y' = 0
       y depends on x; y' stands for dy/dx
  1.1    power and chain rule     (y**2)' = 2*y*y'
         n = 2
  2    collect y'                 2*y*y' = -2*x
  3    solve for y'               y' = -x/y

  dy/dx = -x/y

This holds for y != 0."""
    )


def test_the_second_derivative_puts_the_first_in():
    text = str(explain_implicit("x**2 + y**2 = 25", order=2).derivation())
    for line in ["First derivative", "Second derivative", "put in y'", "y'' = -(y - x*(-x/y))/y**2",
                 "put in the equation   y'' = -25/y**3", "d^2y/dx^2 = -25/y**3"]:  # fmt: skip
        assert line in text


def test_constants_are_said_to_be_held():
    assert "a, b held constant" in str(explain_implicit("x**2/a**2 + y**2/b**2 = 1").derivation())


def test_references_have_the_numbers_of_the_page():
    shown = explain_implicit("sin(x*y) = x", order=2).derivation(detail="full").to_text()
    labels = {row.split()[0]: row for row in shown.splitlines() if row.strip()[:1].isdigit()}
    referring = [row for row in shown.splitlines() if ", as in " in row]
    assert referring
    for row in referring:
        rule, _, label = row.strip().partition(" ")[2].strip().partition(", as in ")
        assert rule in labels[label.split()[0]]
