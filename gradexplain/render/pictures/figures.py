"""The plots as figures of matplotlib, for papers and for those who go on with them (`pip install gradexplain[plot]`).

The only module that imports matplotlib. Figures are made without pyplot: nothing is kept open, no window appears.
"""

from __future__ import annotations

from functools import singledispatch
from typing import Any

from gradexplain.errors import ArgumentError
from gradexplain.exposition.plots import DescentPlot, ErrorPlot, TangentPlot
from gradexplain.language import say
from gradexplain.render.pictures.plots import descent_label, heights_shown, plot_title, secant_label, step_label
from gradexplain.render.pictures.words import number

BLUE, ORANGE, GREEN = "#0072B2", "#D55E00", "#009E73"


def figure(record: Any) -> Any:
    """A plot as `matplotlib.figure.Figure`; raises `ArgumentError` where matplotlib is not installed."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise ArgumentError(
            "matplotlib is not installed",
            why="figures and .png and .pdf files are made with it",
            fix="install it with: pip install gradexplain[plot], or use the plot as SVG",
        ) from None
    made = Figure(figsize=(6.4, 4.2), layout="constrained")
    axes = made.add_subplot()
    axes.set_title(plot_title(record), fontsize=10)
    _draw(record, axes)
    handles, _ = axes.get_legend_handles_labels()
    if handles:
        axes.legend(fontsize=8)
    return made


@singledispatch
def _draw(record: Any, axes: Any) -> None:
    raise TypeError(f"there is no figure of a {type(record).__name__}")


@_draw.register
def _(record: TangentPlot, axes: Any) -> None:
    x0, y0 = record.point
    label = f"{record.output} = {record.function}({record.variable})"
    axes.plot(record.curve.x, record.curve.y, color=BLUE, label=label)
    ends = record.curve.x[0], record.curve.x[-1]
    for step, slope in record.secants:
        heights = [y0 + slope * (x - x0) for x in ends]
        axes.plot(ends, heights, ":", color=GREEN, label=secant_label(step, slope))
    heights = [y0 + record.slope * (x - x0) for x in ends]
    axes.plot(ends, heights, "--", color=ORANGE, label=say("tangent: slope {slope}", slope=number(record.slope)))
    axes.plot([x0], [y0], "o", color=ORANGE)
    axes.set(xlabel=record.variable, ylabel=record.output, ylim=heights_shown(record))


@_draw.register
def _(record: ErrorPlot, axes: Any) -> None:
    axes.loglog(record.steps, record.central, "o-", markersize=3, color=BLUE, label=say("central quotient"))
    axes.loglog(record.steps, record.forward, "--", color=ORANGE, label=say("forward quotient"))
    axes.set(xlabel=step_label(record), ylabel=say("relative error"))


@_draw.register
def _(record: DescentPlot, axes: Any) -> None:
    if not record.field:
        axes.plot(range(len(record.values)), record.values, color=BLUE)
        axes.set(xlabel=say("step"), ylabel=record.function)
        return
    axes.contour(record.x, record.y, record.field, levels=12, colors="gray", linewidths=0.5)
    axes.quiver(*zip(*record.arrows, strict=True), angles="xy", color=GREEN, width=0.003)
    axes.plot(*zip(*record.points, strict=True), "o-", markersize=3, color=BLUE, label=descent_label(record))
    axes.set(xlabel=record.variables[0], ylabel=record.variables[1])
