"""The numbers of plots: curves with gaps, secants that tend to the tangent, the V of the error, descents."""

import math

import numpy as np
import pytest

import gradexplain as gx
from gradexplain.errors import ArgumentError
from gradexplain.exposition.plots import ASPECT
from tests.render.pictures.programs import least_squares, rosenbrock, sketch


def test_the_curve_is_the_function():
    plot = gx.explain(sketch, x=3.0).plot().data
    assert np.allclose(plot.curve.y, [sketch(x) for x in plot.curve.x])
    assert (plot.curve.x[0], plot.curve.x[-1]) == (0.0, 6.0)
    assert plot.point == (3.0, sketch(3.0))
    assert np.isclose(plot.slope, -8.063212421)


def test_branches_are_followed_on_both_sides():
    def ramp(x):
        return x if x > 0 else 0.0 * x

    plot = gx.explain(ramp, x=1.0).plot().data
    assert np.allclose(plot.curve.y, np.maximum(plot.curve.x, 0))


def test_there_is_a_gap_where_there_is_no_value():
    def root(x):
        return math.sqrt(x)

    plot = gx.explain(root, x=1.0).plot().data
    assert all(math.isnan(y) == (x < 0) for x, y in zip(plot.curve.x, plot.curve.y, strict=True))


def test_secants_tend_to_the_tangent():
    plot = gx.explain(sketch, x=3.0).plot(secants=(1.0, 1e-1, 1e-3, 1e-6)).data
    errors = [abs(slope - plot.slope) for _, slope in plot.secants]
    assert errors == sorted(errors, reverse=True)
    assert errors[-1] < 1e-4


def test_other_arguments_are_held():
    plot = gx.explain(rosenbrock, x=-1.0, y=1.0).plot("y", around=(0, 2)).data
    assert plot.held == (("x", -1.0),)
    assert np.allclose(plot.curve.y, [rosenbrock(-1.0, y) for y in plot.curve.x])


def test_at_a_kink_the_plot_says_so():
    assert "has a kink here" in gx.explain(lambda x: abs(x), x=0.0).plot().alt


def test_what_the_function_prints_is_dropped(capsys):
    def chatty(x):
        print("here")
        return x**2

    e = gx.explain(chatty, x=1.0)
    capsys.readouterr()
    e.plot()
    assert capsys.readouterr().out == ""


def test_what_can_not_be_plotted():
    with pytest.raises(ArgumentError, match="no slope in x"):
        gx.explain(sketch).plot()
    with pytest.raises(ArgumentError, match="no slope in z"):
        gx.explain(sketch, x=1.0).plot("z")
    with pytest.raises(ArgumentError, match="no slope in x"):
        gx.explain(sketch, x=1.0, order=2).plot()
    with pytest.raises(ArgumentError, match="is an array"):
        gx.explain(lambda x: x**2, x=np.ones(3)).plot()
    with pytest.raises(ArgumentError, match="no points"):
        gx.explain(sketch, x=1.0).plot(around=(2.0, 1.0))


def test_the_v_of_the_difference_quotient():
    plot = gx.explain(sketch, x=3.0).error_plot().data
    central = {f"{step:.0e}": error for step, error in zip(plot.steps, plot.central, strict=True)}
    assert central["1e-01"] == pytest.approx(9.0e-5, rel=0.05)
    assert central["1e-03"] == pytest.approx(8.9e-9, rel=0.05)
    assert central["1e-12"] == pytest.approx(9.7e-5, rel=0.5)
    step, error = plot.best
    assert 1e-7 < step < 1e-4
    assert error < 1e-10
    assert plot.forward[0] / plot.forward[4] == pytest.approx(10, rel=0.1)
    assert plot.central[0] / plot.central[4] == pytest.approx(100, rel=0.1)


def test_the_steps_grow_with_the_point():
    assert gx.explain(sketch, x=3000.0).error_plot().data.steps[0] == pytest.approx(100.0)


def test_entries_of_an_array_are_moved_alike():
    X = np.arange(6.0).reshape(3, 2)
    e = gx.explain(least_squares, w=np.ones(2), X=X, y=np.ones(3), wrt="w")
    plot = e.error_plot().data
    assert plot.at is None
    assert plot.slope == pytest.approx(np.sum(e.gradient_values["w"]))
    assert plot.best[1] < 1e-8


def test_a_wrong_derivative_has_no_v():
    plot = gx.explain(lambda x: np.where(x > 1.0, 2 * x, x), x=1.0).error_plot()
    assert "disagree" in plot.alt


def test_a_descent_goes_down():
    found = gx.descent(rosenbrock, (-1.0, 1.0), rate=0.002, steps=40)
    assert len(found.points) == 41
    assert list(found.values) == sorted(found.values, reverse=True)
    assert found.values[0] == rosenbrock(-1.0, 1.0)


def test_a_descent_over_one_array():
    found = gx.descent(lambda w: np.sum((w - 1) ** 2), np.zeros(3), rate=0.25, steps=10)
    assert np.allclose(found.points[-1], 1, atol=1e-2)
    assert found.data.variables == ("w[0]", "w[1]", "w[2]")
    assert found.data.field == ()


def test_two_entries_of_an_array_have_a_field():
    field = gx.descent(lambda w: np.sum((w - 1) ** 2), np.zeros(2)).data
    assert len(field.field) == len(field.y)
    assert len(field.field[0]) == len(field.x)
    assert (field.x[-1] - field.x[0]) / (field.y[-1] - field.y[0]) == pytest.approx(ASPECT)
    for x, y, dx, dy in field.arrows:
        assert (dx, dy) == pytest.approx((-2 * (x - 1), -2 * (y - 1)))


def test_one_variable():
    assert gx.descent(lambda x: (x - 2) ** 2, [0.0], rate=0.5, steps=3).points[-1] == (2.0,)


def test_a_descent_stops_where_there_is_no_value():
    found = gx.descent(lambda x: math.log(x), [0.5], rate=1.0, steps=10)
    assert all(math.isfinite(v) for v in found.values)
    assert len(found.points) < 11


@pytest.mark.parametrize(
    ("function", "start"),
    [(rosenbrock, (1.0, 2.0, 3.0)), (sketch, np.ones((2, 2))), (rosenbrock, {"x": 1.0}), (3, (1.0,))],
)
def test_starts_that_do_not_fit(function, start):
    with pytest.raises(ArgumentError):
        gx.descent(function, start)
