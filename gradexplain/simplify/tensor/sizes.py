"""Sizes of axes by name: 2/m, not 1/3.

A number in a program may be a size: `len(y)`, `X.shape[0]`, what `np.mean` divides by. Which ones are is found by
tracing the function once more with arrays of other sizes: numbers that change with a size are that size.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import combinations, count
from typing import Any

import numpy as np

from gradexplain.graph import CONSTANT, Fixed, Node, ancestors
from gradexplain.simplify.tensor.terms import Dim
from gradexplain.trace.run import Program

_LETTERS = "mnkpqdhlbsrut"
_NO_SIZE = (0, 1, -1, 2, -2, 0.5)
_LARGEST_FACTOR = 1000


@dataclass(frozen=True, slots=True)
class Size:
    """A size with a name: its letter, how NumPy says it, and its value here."""

    letter: str
    argument: str
    axis: int | None  # None: all entries
    value: int
    source: str = ""

    def __str__(self) -> str:
        """How NumPy says it."""
        if self.source:
            return self.source
        if self.axis is None:
            return f"{self.argument}.size"
        return f"len({self.argument})" if self.axis == 0 else f"{self.argument}.shape[{self.axis}]"


@dataclass(frozen=True, slots=True)
class Power:
    """A size, or one less than it, to a power."""

    size: Size
    shift: int
    exponent: Fraction


Sizes = Mapping[tuple[Node, int], tuple[Fraction, tuple[Power, ...]]]  # by the node that has the number as operand


def letters(
    program: Program, axes: Mapping[str, Sequence[Dim | None]], given: Mapping[str, Sequence[str]]
) -> dict[Dim, Size]:
    """A name for the size of each axis of the arguments; `given` are those that the user gave."""
    taken = set(program.inputs)
    found: dict[Dim, Size] = {}
    for name, names in given.items():
        for axis, (dim, letter) in enumerate(zip(axes[name], names, strict=True)):
            if dim is not None and dim.root not in found and not letter.isdigit():
                found[dim.root] = Size(letter, name, axis, dim.size)
                taken.add(letter)
    taken |= {own for n in ancestors([program.output]) if (own := program.local_name(n)) is not None}
    free = iter([*(c for c in _LETTERS if c not in taken), *(f"n{k}" for k in range(1, 99) if f"n{k}" not in taken)])
    for name, dims in sorted(axes.items(), key=lambda pair: -len(pair[1])):
        for axis, dim in enumerate(dims):
            if dim is not None and dim.root not in found:
                found[dim.root] = Size(next(free), name, axis, dim.size)
    return {d: min(_named_alike(axes, d, s), key=lambda size: len(str(size))) for d, s in found.items()}


def _named_alike(axes: Mapping[str, Sequence[Dim | None]], dim: Dim, size: Size) -> Iterator[Size]:
    """The same size, as each of the arguments that have it says it."""
    for name, dims in axes.items():
        for axis, d in enumerate(dims):
            if d is not None and d.root is dim:
                yield replace(size, argument=name, axis=axis)


def may_have_sizes(program: Program) -> bool:
    """Whether there is a number in the program that could be a size."""
    return any(_number(n) is not None and _number(n) not in _NO_SIZE for n in ancestors([program.output]))


def _number(node: Node) -> Any:
    return node.data if node.op is CONSTANT and not isinstance(node.data, (Fixed, bool)) else None


def other_sizes(named: Mapping[Dim, Size]) -> dict[Dim, int]:
    """Other sizes, small prime numbers, no two of which are equal."""
    given = {d.size for d in named}
    free = (n for n in count(5, 2) if n not in given and all(n % k for k in range(3, n, 2)))
    return {d: next(free) for d in named}


def sizes_in(output: Node, again: Node, named: Mapping[Dim, Size], other: Mapping[Dim, int]) -> Sizes | None:
    """The numbers of a program that are made of sizes; None where that can't be told."""
    pairs = _paired(output, again)
    if pairs is None:
        return None
    found: dict[tuple[Node, int], tuple[Fraction, tuple[Power, ...]]] = {}
    for (parent, place), (before, after) in pairs.items():
        if before == after:
            continue
        made = _made_of(before, after, named, other)
        if made is None:
            return None
        found[(parent, place)] = made
    return found


def _paired(a: Node, b: Node) -> dict[tuple[Node, int], tuple[Any, Any]] | None:
    """The numbers at the same places of two graphs; None if the graphs differ in more than numbers and shapes."""
    out: dict[tuple[Node, int], tuple[Any, Any]] = {}
    partner: dict[Node, Node] = {a: b}
    waiting = [a]
    while waiting:
        one = waiting.pop()
        two = partner[one]
        if one.op is not two.op or len(one.inputs) != len(two.inputs) or one.params.keys() != two.params.keys():
            return None
        for place, (x, y) in enumerate(zip(one.inputs, two.inputs, strict=True)):
            before, after = _number(x), _number(y)
            if (before is None) != (after is None):
                return None
            if before is not None:
                if out.setdefault((one, place), (before, after)) != (before, after):
                    return None
            elif x in partner:
                if partner[x] is not y:
                    return None
            else:
                partner[x] = y
                waiting.append(x)
    return out


def _made_of(
    before: Any, after: Any, named: Mapping[Dim, Size], other: Mapping[Dim, int]
) -> tuple[Fraction, tuple[Power, ...]] | None:
    """The number as a factor times powers of sizes, from its values at two choices of them."""
    ratio = float(after) / float(before) if before and after else 0.0
    for powers in _candidates(named):
        mine = _value(powers, {d: d.size for d in named})
        theirs = _value(powers, other)
        if mine and abs(theirs / mine - ratio) < 1e-12 * abs(ratio):
            factor = Fraction(float(before) / mine).limit_denominator(_LARGEST_FACTOR)
            if factor and abs(float(factor) * mine - float(before)) < 1e-12 * abs(float(before)):
                return factor, tuple(Power(named[d], shift, e) for d, shift, e in powers)
    return None


def _candidates(named: Mapping[Dim, Size]) -> Iterator[tuple[tuple[Dim, int, Fraction], ...]]:
    exponents = [Fraction(e) for e in (1, -1, "1/2", "-1/2", 2, -2)]
    for e in exponents:
        for d in named:
            yield ((d, 0, e),)
    for e in exponents[:4]:
        for number in (2, 3):
            for some in combinations(named, number):
                yield tuple((d, 0, e) for d in some)
    for a in named:
        for b in named:
            if a is not b:
                yield ((a, 0, Fraction(1)), (b, 0, Fraction(-1)))
    for e in exponents:
        for d in named:
            yield ((d, -1, e),)


def _value(powers: Sequence[tuple[Dim, int, Fraction]], sizes: Mapping[Dim, int]) -> float:
    with np.errstate(all="ignore"):
        return float(np.prod([float(sizes[d] + shift) ** float(e) for d, shift, e in powers]))
