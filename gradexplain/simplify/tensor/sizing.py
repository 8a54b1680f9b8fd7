"""The sizes of a program by name, and the same program at other sizes, at which its formulas are checked, too."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from gradexplain.simplify.tensor.sizes import Size, Sizes, letters, may_have_sizes, other_sizes, sizes_in
from gradexplain.simplify.tensor.standins import retraced
from gradexplain.simplify.tensor.terms import Dim
from gradexplain.trace.run import Program


@dataclass
class Sizing:
    """A name for the size of each axis of the arguments, and the numbers that are made of sizes."""

    program: Program
    axes: Mapping[str, Sequence[Dim | None]]
    named: Mapping[Dim, Size]

    @classmethod
    def of(cls, program: Program, axes: Mapping[str, Sequence[Dim | None]]) -> Sizing | None:
        """The sizes of a program; None where they can't be told from other numbers."""
        if program.conditions or not any(d for dims in axes.values() for d in dims):
            return None
        given = {a.name: a.letters for a in program.arguments if a.letters}
        made = cls(program, axes, letters(program, axes, given))
        for dim in made.named:
            dim.fixed = True
        return made if made.numbers is not None else None

    @cached_property
    def elsewhere(self) -> Program | None:
        """The program at other sizes; None if it runs at these alone."""
        other = other_sizes(self.named)
        shapes = {
            name: tuple(1 if d is None else other[d.root] for d in dims)
            for name, dims in self.axes.items()
            if dims and name in self.program.inputs
        }
        return retraced(self.program, shapes)

    @cached_property
    def numbers(self) -> Sizes | None:
        """The numbers that are made of sizes."""
        if not may_have_sizes(self.program):
            return {}
        if self.elsewhere is None:
            return None
        return sizes_in(self.program.output, self.elsewhere.output, self.named, other_sizes(self.named))

    @cached_property
    def totals(self) -> dict[tuple[str, ...], Size]:
        """The number of entries of each argument with several axes, by the letters of its axes."""
        out: dict[tuple[str, ...], Size] = {}
        for name, dims in self.axes.items():
            sizes = [self.named[d.root] for d in dims if d is not None]
            if len(sizes) > 1:
                count = 1
                for s in sizes:
                    count *= s.value
                key = tuple(sorted(s.letter for s in sizes))
                out.setdefault(key, Size("*".join(s.letter for s in sizes), name, None, count))
        return out
