"""Axes of plots: scales that are linear or logarithmic, round ticks, and lines cut at the frame."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from gradexplain.render.pictures.svg import Canvas, points, polyline

LEFT, RIGHT, TOP, BOTTOM = 70.0, 16.0, 34.0, 44.0  # of the frame, within the picture
WIDTH, HEIGHT = 536.0, 348.0  # what is left for the frame is 5 by 3
_TICKS = 6


@dataclass(frozen=True, slots=True)
class Scale:
    """Numbers between `low` and `high` as places between two pixels."""

    low: float
    high: float
    start: float
    end: float
    is_logarithmic: bool = False

    def __call__(self, value: float) -> float:
        low, high, value = (math.log10(v) if self.is_logarithmic else v / 4 for v in (self.low, self.high, value))
        return self.start + (value - low) / (high - low) * (self.end - self.start)  # quarters: no difference overflows

    @property
    def ticks(self) -> list[float]:
        """Round numbers along it: 1, 2 or 5 times a power of ten, or powers of ten."""
        if self.is_logarithmic:
            first, last = math.ceil(math.log10(self.low) - 1e-9), math.floor(math.log10(self.high) + 1e-9)
            every = max(1, math.ceil((last - first) / _TICKS))
            return [10.0**n for n in range(first, last + 1, every)]
        size = self.high / _TICKS - self.low / _TICKS
        power = 10.0 ** math.floor(math.log10(size))
        step = next(m * power for m in (1, 2, 5, 10) if m * power >= size)
        return [n * step for n in range(math.ceil(self.low / step), math.floor(self.high / step) + 1)]


@dataclass(frozen=True, slots=True)
class Axes:
    """Two scales and the frame that they span."""

    x: Scale
    y: Scale

    def draw(self, canvas: Canvas, x_label: str, y_label: str) -> None:
        """Grid, ticks and names of the axes."""
        for tick in self.x.ticks:
            place = self.x(tick)
            canvas.path(f"M{points(place, self.y.start)}V{points(self.y.end)}", "faint")
            canvas.text(place, self.y.start + 18, tick_text(tick, self.x), "small", "middle")
        for tick in self.y.ticks:
            place = self.y(tick)
            canvas.path(f"M{points(self.x.start, place)}H{points(self.x.end)}", "faint")
            canvas.text(self.x.start - 6, place + 4, tick_text(tick, self.y), "small", "end")
        width, height = self.x.end - self.x.start, self.y.start - self.y.end
        canvas.box(self.x.start, self.y.end, width, height, "line", 0)
        canvas.text((self.x.start + self.x.end) / 2, self.y.start + 36, x_label, "", "middle")
        canvas.text(self.x.start, self.y.end - 8, y_label)

    def line(self, canvas: Canvas, xs: Sequence[float], ys: Sequence[float], kind: str) -> None:
        """A line through points, cut where it leaves the frame and where there is none."""
        for piece in self._pieces(xs, ys):
            canvas.path(polyline((self.x(x), self.y(y)) for x, y in piece), kind)

    def _pieces(self, xs: Sequence[float], ys: Sequence[float]) -> Iterator[list[tuple[float, float]]]:
        piece: list[tuple[float, float]] = []
        before: tuple[float, float] | None = None
        for x, y in zip(xs, ys, strict=True):
            point = (x, y) if self._can_show(x, y) else None
            if before is not None and point is not None and not self._jumps(before, point):
                ends = self._cut(before, point)
                if ends is not None:
                    if not piece or piece[-1] != ends[0]:
                        yield from [piece] if len(piece) > 1 else []
                        piece = [ends[0]]
                    piece.append(ends[1])
            before = point
        yield from [piece] if len(piece) > 1 else []

    def _jumps(self, a: tuple[float, float], b: tuple[float, float]) -> bool:
        """Whether a short line leads from below the frame to above it or back: a pole, not a line."""
        is_short = abs(b[0] - a[0]) < (self.x.high - self.x.low) / 50
        return is_short and min(a[1], b[1]) < self.y.low and max(a[1], b[1]) > self.y.high

    def _can_show(self, x: float, y: float) -> bool:
        positive = (not self.x.is_logarithmic or x > 0) and (not self.y.is_logarithmic or y > 0)
        return math.isfinite(x) and math.isfinite(y) and positive

    def _cut(
        self, a: tuple[float, float], b: tuple[float, float]
    ) -> tuple[tuple[float, float], tuple[float, float]] | None:
        """The part of a straight line within the frame, from bottom to top and from left to right."""
        start, end = 0.0, 1.0
        for p, q, low, high in ((a[0], b[0], self.x.low, self.x.high), (a[1], b[1], self.y.low, self.y.high)):
            if p == q:
                if not low <= p <= high:
                    return None
                continue
            first, last = sorted(((low - p) / (q - p), (high - p) / (q - p)))
            start, end = max(start, first), min(end, last)
        if start > end:
            return None

        def at(t: float) -> tuple[float, float]:
            return (a[0] + t * (b[0] - a[0]), a[1] + t * (b[1] - a[1])) if 0 < t < 1 else b if t else a

        return at(start), at(end)


def axes(x: tuple[float, float], y: tuple[float, float], *, logarithmic: bool = False) -> Axes:
    """Axes for numbers between the ends of `x` and `y`."""
    return Axes(
        Scale(*_apart(*x), LEFT, WIDTH - RIGHT, logarithmic), Scale(*_apart(*y), HEIGHT - BOTTOM, TOP, logarithmic)
    )


def _apart(low: float, high: float) -> tuple[float, float]:
    """A range that is one: around a single number, some room."""
    return (low, high) if low < high else (low - max(1.0, abs(low) / 2), high + max(1.0, abs(high) / 2))


def tick_text(value: float, scale: Scale) -> str:
    """A tick as it is written beside the axis.

    >>> tick_text(0.30000000000000004, Scale(0, 1, 0, 100)), tick_text(1e-05, Scale(1e-6, 1, 0, 100, True))
    ('0.3', '1e-5')
    """
    if scale.is_logarithmic:
        return f"1e{round(math.log10(value))}"
    return f"{value + 0.0:.4g}"
