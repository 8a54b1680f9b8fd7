"""Points on curves: all of them satisfy the equation, the same ones every time, in a bounded number of steps."""

from __future__ import annotations

import mpmath as mp
import pytest

from gradexplain.readers.equation import EquationFunction
from gradexplain.simplify.curve import Curve, along
from gradexplain.trace.run import trace
from gradexplain.trace.signature import bind

EQUATIONS = ["x**2 + y**2 = 25", "x*y = exp(x - y)", "sin(x*y) = x + y", "sqrt(x) + sqrt(y) = 4", "x**y = y**x",
             "x**3 + y**3 = 6*x*y", "log(x*y) = x", "y**5 + y = x", "1e6*y = x", "y = 1e-3*x", "a*x + b*y = 1",
             "abs(x) + abs(y) = 1", "x**2 + y**2 + z**2 = 9"]  # fmt: skip


def curve_of(text, of="y"):
    f = EquationFunction.read(text)
    program = trace(f, bind(f, (), {}, symbolic=True))
    return Curve(program.output, program.inputs, of)


@pytest.mark.parametrize("text", EQUATIONS)
def test_points_lie_on_the_curve(text):
    curve = curve_of(text)
    found = curve.points()
    assert len(found) >= 3
    assert found == curve_of(text).points()
    with mp.workdps(60):
        for point in found:
            residual, slope = curve.values([curve.equation, curve.slope], point)
            assert abs(residual) < mp.mpf(10) ** -45
            assert abs(slope) > 1e-9


@pytest.mark.parametrize("text", ["x**2 + y**2 = -1", "exp(x) + exp(y) = 0", "x**2 + y**2 = 0", "log(-y**2) = x"])
def test_no_points_are_found_where_there_are_none(text):
    assert curve_of(text).points() == []


def test_all_roots_at_a_place():
    assert [float(y) for y in curve_of("y**3 - y = 0*x").roots({"x": 1.0})] == [0.0, 1.0, -1.0]


def test_newton_gives_up_where_there_is_no_root():
    assert curve_of("y**2 + x**2 = -1").root({"x": 1.0}, 0.3) is None
    assert curve_of("1/y = 0*x").root({"x": 1.0}, 0.3) is None


def test_the_curve_is_followed_to_any_precision():
    f = along(curve_of("x**2 + y**2 = 25"), {"x": 3.0, "y": 4.0}, "x")
    with mp.workdps(200):
        assert abs(f(mp.mpf(3) + mp.mpf(10) ** -60) - mp.sqrt(25 - (mp.mpf(3) + mp.mpf(10) ** -60) ** 2)) < 1e-190
        assert mp.isnan(f(mp.mpf(6)))
