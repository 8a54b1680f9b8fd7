"""Plots as SVG and in words: function and tangent, the error of difference quotients, descent in a gradient field."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from functools import singledispatch
from typing import Any

from gradexplain.exposition.plots import DescentPlot, ErrorPlot, TangentPlot
from gradexplain.language import say
from gradexplain.render.blocks import Block, Image, Note, Section, Table, line
from gradexplain.render.pictures.axes import HEIGHT, WIDTH, Axes, axes
from gradexplain.render.pictures.contours import contours
from gradexplain.render.pictures.svg import Canvas, framed, points
from gradexplain.render.pictures.words import number

_LINE = 17.0
_LEVELS = 10
_ROWS = 12  # of a table of numbers
_MOST_DOTS = 60  # steps of a descent that are marked
_WRONG, _NOTHING = 1e-3, 1e-15  # relative errors


def plot_blocks(record: Any) -> Iterator[Block]:
    """A plot within a document: the image, and its numbers behind a line to click on."""
    title, words, table = _words(record)
    canvas, width, height = _drawn(record)
    yield Image(framed(canvas, width, height, title, words), words)
    yield from (Note(line(say(note)), "warning") for note in getattr(record, "notes", ()))
    yield Section(line(say("Numbers")), (table,), open=False)


def plot_title(record: Any) -> str:
    """The name of a plot."""
    return _words(record)[0]


@singledispatch
def _drawn(record: Any) -> tuple[Canvas, float, float]:
    raise TypeError(f"there is no plot of a {type(record).__name__}")


@singledispatch
def _words(record: Any) -> tuple[str, str, Table]:
    """Title, the plot in words, and a table of its numbers."""
    raise TypeError(f"there is no plot of a {type(record).__name__}")


def _legend(canvas: Canvas, entries: Sequence[tuple[str, str]]) -> float:
    """Lines and what they are, below the axes; gives the height of the picture."""
    y = HEIGHT + 12
    for kind, words in entries:
        canvas.path(f"M{points(24, y - 4)}h28", kind)
        canvas.text(60, y, words, "note")
        y += _LINE
    return y


# -------------------------------------------------------------------------------------------- function and tangent


@_drawn.register
def _(record: TangentPlot) -> tuple[Canvas, float, float]:
    canvas = Canvas()
    x0, y0 = record.point
    frame = axes((record.curve.x[0], record.curve.x[-1]), heights_shown(record))
    frame.draw(canvas, record.variable, record.output)
    ends = record.curve.x[0], record.curve.x[-1]
    frame.line(canvas, record.curve.x, record.curve.y, "a")
    for step, slope in record.secants:
        frame.line(canvas, ends, [y0 + slope * (x - x0) for x in ends], "c")
        if frame.x.low <= x0 + step <= frame.x.high:
            _dot(canvas, frame, x0 + step, y0 + slope * step, "ct")
    frame.line(canvas, ends, [y0 + record.slope * (x - x0) for x in ends], "b")
    _dot(canvas, frame, x0, y0, "bt")
    entries = [
        ("a", f"{record.output} = {record.function}({record.variable})"),
        (
            "b",
            say(
                "tangent at {variable} = {at}: slope {slope}",
                variable=record.variable,
                at=number(x0),
                slope=number(record.slope),
            ),
        ),
        *(("c", secant_label(step, slope)) for step, slope in record.secants),
    ]
    return canvas, WIDTH, _legend(canvas, entries)


def secant_label(step: float, slope: float) -> str:
    """What stands beside a secant in a legend."""
    return say("secant with step {step}: slope {slope}", step=number(step), slope=number(slope))


def _dot(canvas: Canvas, frame: Axes, x: float, y: float, kind: str) -> None:
    if math.isfinite(y) and frame.y.low <= y <= frame.y.high:
        canvas.circle(frame.x(x), frame.y(y), 4, kind)


def heights_shown(record: TangentPlot) -> tuple[float, float]:
    """The range of the curve; where it runs away, the part in which the tangent can be seen."""
    found = sorted(y for y in record.curve.y if math.isfinite(y))
    if not found:
        return -1.0, 1.0
    y0 = record.point[1] if math.isfinite(record.point[1]) else found[len(found) // 2]
    reach = abs(record.slope) * (record.curve.x[-1] - record.curve.x[0])
    if not math.isfinite(reach) or sum(abs(y - y0) <= reach for y in found) < 0.4 * len(found):
        reach = 2 * (found[9 * len(found) // 10] - found[len(found) // 10]) or math.inf
    low, high = max(found[0], y0 - reach), min(found[-1], y0 + reach)
    room = 0.06 * (high - low) or 1.0
    return min(low, y0) - room, max(high, y0) + room


@_words.register
def _(record: TangentPlot) -> tuple[str, str, Table]:
    x0, y0 = record.point
    point = say(", ").join(f"{name} = {number(value)}" for name, value in ((record.variable, x0), *record.held))
    title = say("{function} and its tangent at {point}", function=record.function, point=point)
    sentences = [
        say("{sentence}.", sentence=title),
        say(
            "The curve passes through ({x}, {y}) with slope {slope}: {direction}.",
            x=number(x0),
            y=number(y0),
            slope=number(record.slope),
            direction=say(_direction(record.slope)),
        ),
        *(
            say("The secant with step {step} has slope {slope}.", step=number(h), slope=number(s))
            for h, s in record.secants
        ),
        *(say("{sentence}.", sentence=say(note)) for note in record.notes),
    ]
    words = say(" ").join(sentences)
    places = range(0, len(record.curve.x), max(1, (len(record.curve.x) - 1) // (_ROWS - 4)))
    rows = tuple(
        (line(number(x)), line(number(y)), line(number(y0 + record.slope * (x - x0))))
        for x, y in ((record.curve.x[i], record.curve.y[i]) for i in places)
    )
    return title, words, Table((record.variable, record.output, say("tangent")), rows)


def _direction(slope: float) -> str:
    if not math.isfinite(slope):
        return "it has no slope there"
    return "it is level there" if slope == 0 else "it rises there" if slope > 0 else "it falls there"


# ----------------------------------------------------------------------------------------------------- the error


@_drawn.register
def _(record: ErrorPlot) -> tuple[Canvas, float, float]:
    canvas = Canvas()
    errors = [e for e in (*record.central, *record.forward) if math.isfinite(e) and e > 0]
    low = 10.0 ** math.floor(math.log10(max(min([*errors, 1e-8]), 1e-17)))
    high = max(10.0 ** math.ceil(math.log10(min(max(errors, default=1.0), 1e6))), 10 * low)
    frame = axes((record.steps[-1], record.steps[0]), (low, high), logarithmic=True)
    is_relative = record.scale == abs(record.slope)
    frame.draw(canvas, step_label(record), say("relative error" if is_relative else "error"))
    for kind, found in (("b", record.forward), ("a", record.central)):
        frame.line(canvas, record.steps, [max(e, low) if math.isfinite(e) else e for e in found], kind)
    for step, error in zip(record.steps, record.central, strict=True):
        if math.isfinite(error) and error <= high:
            canvas.circle(frame.x(step), frame.y(max(error, low)), 2.5, "at")
    step, error = record.best
    entries = [
        ("a", say("central quotient: best at h = {step:.0e}, error {error:.0e}", step=step, error=error)),
        ("b", say("forward quotient: falls as h, half as steep")),
    ]
    if _NOTHING < error < _WRONG:
        for n, (left, right) in enumerate((("round-off:", "truncation:"), ("grows as 1/h", "falls as h\u00b2"))):
            y = frame.y.start - 28 + _LINE * n
            canvas.text(frame.x.start + 8, y, say(left), "note halo")
            canvas.text(frame.x.end - 8, y, say(right), "note halo", "end")
    return canvas, WIDTH, _legend(canvas, entries)


@_words.register
def _(record: ErrorPlot) -> tuple[str, str, Table]:
    title = say("Error of difference quotients of {function}", function=record.function)
    if record.at is not None:
        title = say("{name} at {point}", name=title, point=f"{record.variable} = {number(record.at)}")
    words = f"{say('{title}, by step, both axes logarithmic.', title=title)}{say(' ')}{_course(record, *record.best)}"
    rows = tuple(
        (line(f"{h:.0e}"), line(f"{c:.1e}"), line(f"{f:.1e}"))
        for h, c, f in list(zip(record.steps, record.central, record.forward, strict=True))[::4]
    )
    return title, words, Table((say("step h"), say("central"), say("forward")), rows, say("Errors"))


def step_label(record: ErrorPlot) -> str:
    """What stands below the axis of steps."""
    return say("step h in {variable}", variable=record.variable)


def _course(record: ErrorPlot, step: float, error: float) -> str:
    """How the error runs, and what that means."""
    first, last = record.central[0], record.central[-1]
    if not math.isfinite(error):
        return say("The function has no value beside the point.")
    if error > _WRONG:
        never = "The error of the central quotient never falls below {error:.0e}: derivative and function disagree."
        return say(never, error=error)
    if max(e for e in record.central if math.isfinite(e)) < _NOTHING:
        return say("The central quotient has no error to speak of at any step.")
    course = (
        "The error of the central quotient falls from {first:.0e} at h = {largest:.0e} to {error:.0e} at "
        "h = {step:.0e}, then round-off makes it grow to {last:.0e} at h = {smallest:.0e}."
    )
    steps = {"largest": record.steps[0], "step": step, "smallest": record.steps[-1]}
    return say(course, first=first, error=error, last=last, **steps)


# ---------------------------------------------------------------------------------------------------- the descent


@_drawn.register
def _(record: DescentPlot) -> tuple[Canvas, float, float]:
    canvas = Canvas()
    if not record.field:
        return _values_by_step(record, canvas)
    frame = axes((record.x[0], record.x[-1]), (record.y[0], record.y[-1]))
    frame.draw(canvas, record.variables[0], record.variables[1])
    for pieces in contours(record.x, record.y, record.field, _LEVELS):
        path = "".join(f"M{points(frame.x(a), frame.y(b))}L{points(frame.x(c), frame.y(d))}" for a, b, c, d in pieces)
        canvas.path(path, "line thin")
    _arrows(canvas, frame, record)
    frame.line(canvas, [p[0] for p in record.points], [p[1] for p in record.points], "a")
    for p in record.points if len(record.points) <= _MOST_DOTS else ():
        canvas.circle(frame.x(p[0]), frame.y(p[1]), 2.5, "at")
    for p, words, above in ((record.points[0], "start", -10), (record.points[-1], "end", 20)):
        canvas.circle(frame.x(p[0]), frame.y(p[1]), 5, "at")
        canvas.text(frame.x(p[0]), frame.y(p[1]) + above, say(words), "small halo", "middle")
    entries = [
        ("a", say("gradient descent, {label}", label=descent_label(record))),
        ("d", say("where {function} falls fastest: minus the gradient", function=record.function)),
        ("line thin", say("lines of equal {function}", function=record.function)),
    ]
    return canvas, WIDTH, _legend(canvas, entries)


def descent_label(record: DescentPlot) -> str:
    """How long a descent is, and how fast."""
    return say("{count} steps, rate {rate}", count=len(record.points) - 1, rate=number(record.rate))


def _arrows(canvas: Canvas, frame: Axes, record: DescentPlot) -> None:
    """Arrows in the direction of steepest descent; their length grows with the slope, but slowly."""
    steepest = max((math.hypot(dx, dy) for _, _, dx, dy in record.arrows), default=0.0)
    for x, y, dx, dy in record.arrows:
        across = dx * (frame.x.end - frame.x.start) / (frame.x.high - frame.x.low)
        down = dy * (frame.y.end - frame.y.start) / (frame.y.high - frame.y.low)
        size = math.hypot(across, down)
        if not size:
            continue
        reach = 8 + 14 * (math.hypot(dx, dy) / steepest) ** 0.5
        ux, uy = across / size, down / size
        px, py = frame.x(x) - ux * reach / 2, frame.y(y) - uy * reach / 2
        tip = px + ux * reach, py + uy * reach
        barbs = [(tip[0] - 5 * ux + s * 3 * uy, tip[1] - 5 * uy - s * 3 * ux) for s in (1, -1)]
        head = f"M{points(*barbs[0])}L{points(*tip)}L{points(*barbs[1])}"
        canvas.path(f"M{points(px, py)}L{points(*tip)}{head}", "d")


def _values_by_step(record: DescentPlot, canvas: Canvas) -> tuple[Canvas, float, float]:
    low, high = min(record.values), max(record.values)
    room = 0.06 * (high - low) or 1.0
    frame = axes((0.0, max(1.0, len(record.values) - 1.0)), (low - room, high + room))
    frame.draw(canvas, say("step"), record.function)
    frame.line(canvas, [float(n) for n in range(len(record.values))], record.values, "a")
    along = say("{function} along the descent, rate {rate}", function=record.function, rate=number(record.rate))
    return canvas, WIDTH, _legend(canvas, [("a", along)])


@_words.register
def _(record: DescentPlot) -> tuple[str, str, Table]:
    names = ", ".join(record.variables)
    title = say("Gradient descent on {function}", function=f"{record.function}({names})")
    first, last = record.points[0], record.points[-1]
    words = say(
        "{title}: {count} steps of rate {rate} lead from {start}, where it is {first}, to {end}, where it is {last}.",
        title=title,
        count=len(record.points) - 1,
        rate=number(record.rate),
        start=_point(first),
        first=number(record.values[0]),
        end=_point(last),
        last=number(record.values[-1]),
    )
    every = max(1, -(-len(record.points) // _ROWS))
    chosen = sorted({*range(0, len(record.points), every), len(record.points) - 1})
    rows = tuple(
        (line(str(n)), *(line(number(v)) for v in record.points[n]), line(number(record.values[n]))) for n in chosen
    )
    return title, words, Table((say("step"), *record.variables, record.function), rows)


def _point(point: Sequence[float]) -> str:
    return f"({', '.join(map(number, point[:4]))}{', …' if len(point) > 4 else ''})"
