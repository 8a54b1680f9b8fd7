"""What plots show, as plain numbers: a function and its tangent, the error of difference quotients, a descent.

The function itself is called for them (a few hundred times, what it prints is dropped); where it has no value there is
nan, and the plot a gap.
"""

from __future__ import annotations

import contextlib
import inspect
import io
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from gradexplain.derivative import value_and_grad
from gradexplain.errors import ArgumentError, FunctionError
from gradexplain.exposition.naming import output_name
from gradexplain.trace.calling import function_name, plain
from gradexplain.trace.run import Program

_POINTS = 161  # of a curve
_GRID, _ARROWS = 41, (12, 7)  # points of a field to each side; arrows across and down
ASPECT = 5 / 3  # width of a field by its height
_PER_DECADE, _DECADES = 4, 14
_LEAST_SPAN = 1.5
MOST_STEPS = 100_000  # of a descent

Numbers = tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Curve:
    """Points from left to right; nan where the function has no value."""

    x: Numbers
    y: Numbers


@dataclass(frozen=True, slots=True)
class TangentPlot:
    """A function of one variable with its tangent at a point, and secants (step, slope) on request."""

    function: str
    variable: str
    output: str
    curve: Curve
    point: tuple[float, float]
    slope: float
    secants: tuple[tuple[float, float], ...] = ()
    held: tuple[tuple[str, float], ...] = ()  # the other arguments
    notes: tuple[str, ...] = ()  # what there is to say of the slope: at a kink it is a convention


@dataclass(frozen=True, slots=True)
class ErrorPlot:
    """The relative error of difference quotients by step: it falls with the step until round-off wins, as a V.

    `central` and `forward` have one error a step. `scale` is what errors are divided by: the slope, or 1 if that is 0.
    """

    function: str
    variable: str
    at: float | None  # None: all entries of an array are moved alike
    slope: float
    steps: Numbers
    central: Numbers
    forward: Numbers
    scale: float

    @property
    def best(self) -> tuple[float, float]:
        """The step at which the central quotient is best, and its error there."""
        found = [(error, step) for step, error in zip(self.steps, self.central, strict=True) if math.isfinite(error)]
        error, step = min(found, default=(math.nan, math.nan))
        return step, error


@dataclass(frozen=True, slots=True)
class DescentPlot:
    """Gradient descent: the points, and the function's values there; of two variables also the field around them.

    `values` has a row for each y of the grid; `arrows` are (x, y, dx, dy) with the direction in which f falls.
    """

    function: str
    variables: tuple[str, ...]
    rate: float
    points: tuple[Numbers, ...]
    values: Numbers
    x: Numbers = ()
    y: Numbers = ()
    field: tuple[Numbers, ...] = ()
    arrows: tuple[tuple[float, float, float, float], ...] = ()


# -------------------------------------------------------------------------------------------- function and tangent


def tangent_plot(
    program: Program,
    variable: str,
    slope: float,
    secants: Sequence[float] = (),
    around: tuple[float, float] | None = None,
) -> TangentPlot:
    """A program at its point along one of its scalar arguments, between the ends of `around`."""
    point = program.point
    if program.inputs[variable].shape or program.output.shape:
        raise ArgumentError(
            f"{variable} or the result is an array",
            why="a curve has one number to each side",
            fix="plot a scalar function",
        )
    call = _along(program, variable)
    x0 = float(point[variable])
    span = max(_LEAST_SPAN, abs(x0))
    try:
        low, high = map(float, around or (x0 - span, x0 + span))
        steps = [float(h) for h in secants]
    except (TypeError, ValueError, OverflowError):
        raise ArgumentError(
            f"around={around!r} or secants={secants!r} is not made of numbers",
            fix="give around=(low, high), and secants=(2.0, 1.0)",
        ) from None
    if not (math.isfinite(high - low) and low < high):
        raise ArgumentError(f"a plot from {low} to {high} has no points", fix="give around=(low, high)")
    if 0 in steps:
        raise ArgumentError("a secant needs two points", fix="give steps that are not 0, as in secants=(2.0, 1.0)")
    places = [float(x) for x in np.linspace(low, high, _POINTS)]
    y0 = call(x0)
    return TangentPlot(
        program.name,
        variable,
        output_name(program.name, set(program.inputs)),
        Curve(tuple(places), tuple(map(call, places))),
        (x0, y0),
        float(slope),
        tuple((float(h), (call(x0 + h) - y0) / h) for h in steps),
        tuple((n, float(v)) for n, v in point.items() if n != variable and np.ndim(v) == 0),
    )


def _along(program: Program, variable: str) -> Callable[[Any], float]:
    """The program as a function of one of its arguments; nan where it has no value."""

    def value(x: Any) -> float:
        arguments = [replace(a, value=x) if a.name == variable else a for a in program.arguments]
        try:
            with contextlib.redirect_stdout(io.StringIO()):
                return _total(plain(program.function, arguments))
        except FunctionError:
            return math.nan

    return value


def _total(value: Any) -> float:
    """A number; of several entries their sum, which is what gradients are of."""
    found = np.asarray(value)
    return math.nan if found.dtype.kind not in "fiub" else float(np.sum(found))


# ----------------------------------------------------------------------------------------------------- the error


def error_plot(program: Program, variable: str, gradient: Any) -> ErrorPlot:
    """The errors of the difference quotients of a program at its point, against its gradient.

    >>> from gradexplain.trace.run import trace
    >>> from gradexplain.trace.signature import bind
    >>> f = lambda x: x**2 * np.sin(x)
    >>> found = error_plot(trace(f, bind(f, (3.0,), {}, symbolic=False)), "x", -8.063212421)
    >>> f"{found.steps[0]:.0e} {found.central[0]:.1e}"
    '1e-01 9.0e-05'
    """
    call, x0 = _along(program, variable), program.point[variable]
    slope = float(np.sum(gradient))
    scale = abs(slope) or 1.0
    unit = 10.0 ** math.floor(math.log10(max(1.0, float(np.max(np.abs(x0), initial=0.0)))))
    steps = [unit * 10.0 ** (-1 - n / _PER_DECADE) for n in range(_PER_DECADE * (_DECADES - 1) + 1)]
    middle = call(x0)
    above, below = [call(x0 + h) for h in steps], [call(x0 - h) for h in steps]
    central = [abs((a - b) / (2 * h) - slope) / scale for a, b, h in zip(above, below, steps, strict=True)]
    forward = [abs((a - middle) / h - slope) / scale for a, h in zip(above, steps, strict=True)]
    at = float(x0) if np.ndim(x0) == 0 else None
    return ErrorPlot(program.name, variable, at, slope, tuple(steps), tuple(central), tuple(forward), scale)


# ---------------------------------------------------------------------------------------------------- the descent


def descent(function: Callable[..., Any], start: Any, *, rate: float, steps: int) -> DescentPlot:
    """Gradient descent from a point: the arguments of the function, or the entries of its only one.

    >>> descent(lambda x, y: x**2 + y**2, (1.0, 2.0), rate=0.25, steps=2).points
    ((1.0, 2.0), (0.5, 1.0), (0.25, 0.5))
    """
    point = _started(start)
    if not callable(function) or not 0 <= steps <= MOST_STEPS:
        raise ArgumentError(
            f"a descent of {steps} steps on {function!r} can't be made",
            why=f"it takes a function, and at most {MOST_STEPS} steps",
            fix="descent(lambda x, y: x**2 + y**2, (1.0, 2.0))",
        )
    names = tuple(_names(function, point))
    call, slope = _spread(function, names, point)
    points, values = [point], [call(point)]
    for _ in range(steps):
        point = point - rate * slope(point)
        value = call(point)
        if not (np.all(np.isfinite(point)) and math.isfinite(value)):
            break
        points.append(point)
        values.append(value)
    shown = tuple(tuple(float(v) for v in p) for p in points)
    label = names if len(names) == len(points[0]) else tuple(f"{names[0]}[{i}]" for i in range(len(points[0])))
    plot = DescentPlot(function_name(function), label, rate, shown, tuple(values))
    return _with_field(plot, call, slope) if len(points[0]) == 2 else plot


def _started(start: Any) -> Any:
    """The point as an array of numbers."""
    try:
        point = np.atleast_1d(np.array(start, dtype=float))
    except (TypeError, ValueError, OverflowError):
        point = np.zeros((0, 0))
    if point.ndim != 1 or not point.size or not np.all(np.isfinite(point)):
        raise ArgumentError(
            "a descent can't begin there",
            why="the start is no point: a sequence of finite numbers",
            fix="give a number for each variable, as in start=(1.0, 2.0)",
        )
    return point


def _names(function: Callable[..., Any], point: Any) -> Sequence[str]:
    """The arguments that the point is spread over: as many as it has entries, else the first."""
    parameters = [
        p.name
        for p in inspect.signature(function).parameters.values()
        if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD) and p.default is p.empty
    ]
    if len(parameters) not in (1, len(point)):
        raise ArgumentError(
            f"{function_name(function)} has {len(parameters)} arguments and the point {len(point)} numbers",
            fix="give a number for each argument, or a function of one array",
        )
    return parameters


def _spread(
    function: Callable[..., Any], names: Sequence[str], point: Any
) -> tuple[Callable[[Any], float], Callable[[Any], Any]]:
    """The function and its gradient as functions of one array."""
    is_one = len(names) < len(point)
    derivative = value_and_grad(function, 0 if len(names) == 1 else tuple(range(len(names))))

    def arguments(p: Any) -> tuple[Any, ...]:
        return (p.copy(),) if is_one else tuple(float(v) for v in p)

    def call(p: Any) -> float:
        with contextlib.redirect_stdout(io.StringIO()), np.errstate(all="ignore"):
            try:
                return _total(function(*arguments(p)))
            except (ArithmeticError, ValueError):
                return math.nan

    def slope(p: Any) -> Any:
        _, gradient = derivative(*arguments(p))
        return np.atleast_1d(np.array(gradient, dtype=float))

    return call, slope


def _with_field(plot: DescentPlot, call: Callable[[Any], float], slope: Callable[[Any], Any]) -> DescentPlot:
    (x0, x1), (y0, y1) = _ranges(plot.points)
    x, y = np.linspace(x0, x1, _GRID), np.linspace(y0, y1, _GRID)
    values = tuple(tuple(call(np.array([a, b])) for a in x) for b in y)
    arrows = []
    for b in np.linspace(y0, y1, _ARROWS[1] + 2)[1:-1]:
        for a in np.linspace(x0, x1, _ARROWS[0] + 2)[1:-1]:
            down = -slope(np.array([a, b]))
            if np.all(np.isfinite(down)):
                arrows.append((float(a), float(b), float(down[0]), float(down[1])))
    return replace(plot, x=tuple(map(float, x)), y=tuple(map(float, y)), field=values, arrows=tuple(arrows))


def _ranges(points: Sequence[Numbers]) -> tuple[tuple[float, float], tuple[float, float]]:
    """Room around the points on a sheet of `ASPECT`.

    The scale is the same both ways, so that the gradient meets the lines of equal height at right angles.
    """
    (x0, x1), (y0, y1) = ((min(p[i] for p in points), max(p[i] for p in points)) for i in (0, 1))
    width = max(1.5 * (x1 - x0), 1.5 * ASPECT * (y1 - y0), 1.0)
    height = width / ASPECT
    x, y = (x0 + x1) / 2, (y0 + y1) / 2
    return (x - width / 2, x + width / 2), (y - height / 2, y + height / 2)
