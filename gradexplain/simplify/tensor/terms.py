"""The index normal form: a tensor is a sum of terms, a term a number times factors, a factor an atom with indices.

Indices that are no axis of the tensor are summed over (in each term for itself). Axes of size 1 are no indices: they
are None among the axes. `Space` makes atoms, and gives equal ones the same identity.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple

_serial = itertools.count()


class Dim:
    """The size of an axis; what is used as one axis is joined into one (`same`). `fixed` ones have names: two of them,
    though of one size, stay two.
    """

    __slots__ = ("_up", "fixed", "size")

    def __init__(self, size: int) -> None:
        self.size, self.fixed = size, False
        self._up: Dim | None = None

    @property
    def root(self) -> Dim:
        """The dimension that stands for all that were joined with this one."""
        dim = self
        while dim._up is not None:
            dim = dim._up
        return dim

    def same(self, other: Dim) -> None:
        """Joins two dimensions."""
        mine, theirs = self.root, other.root
        if mine is theirs or (mine.fixed and theirs.fixed):
            return
        if theirs.fixed:
            mine, theirs = theirs, mine
        theirs._up = mine


class Index:
    """A letter that runs along a dimension. A `pinned` one is an axis of the whole result: it is never summed over."""

    __slots__ = ("dim", "pinned", "serial")

    def __init__(self, dim: Dim, *, pinned: bool = False) -> None:
        self.dim, self.pinned, self.serial = dim, pinned, next(_serial)

    def __repr__(self) -> str:
        return f"i{self.serial}"


Axes = tuple[Index | None, ...]


class Atom:
    """What is not taken apart: a variable, a constant, a named sum, a function or operation of tensors, a delta."""

    __slots__ = ("axes", "data", "hot", "kind", "parts", "serial", "symmetric", "units")

    def __init__(self, kind: str, data: Any, parts: tuple[Tensor, ...], axes: tuple[Index, ...]) -> None:
        self.kind, self.data, self.parts, self.axes = kind, data, parts, axes
        self.serial = next(_serial)
        self.symmetric = False
        self.hot: frozenset[str] = frozenset()  # the variables that it depends on
        self.units: frozenset[Any] = frozenset()  # the numbers of entries in it, each with the length of the axis

    def __repr__(self) -> str:
        return f"<{self.kind} {self.data if self.kind != 'sum' else ''}#{self.serial}>"


class Factor(NamedTuple):
    """An atom with indices, to a power."""

    atom: Atom
    indices: tuple[Index, ...]
    power: Fraction


class Term(NamedTuple):
    """A number times factors."""

    number: Fraction
    factors: tuple[Factor, ...]


@dataclass(frozen=True, slots=True)
class Tensor:
    """A sum of terms over the axes."""

    axes: Axes
    terms: tuple[Term, ...]

    @property
    def indices(self) -> tuple[Index, ...]:
        """The axes that are not of size 1."""
        return tuple(i for i in self.axes if i is not None)


ONE = Fraction(1)


def indices_of(factors: Iterable[Factor]) -> dict[Index, None]:
    """The indices of factors, each once, in order."""
    return dict.fromkeys(i for f in factors for i in f.indices)


def renamed(factors: Iterable[Factor], table: Mapping[Index, Index]) -> tuple[Factor, ...]:
    """Factors with other indices."""
    return tuple(Factor(f.atom, tuple(table.get(i, i) for i in f.indices), f.power) for f in factors)


def instance(tensor: Tensor, axes: Sequence[Index | None]) -> list[Term]:
    """The terms over other axes; what is summed over gets fresh indices."""
    table = {i: j for i, j in zip(tensor.axes, axes, strict=True) if i is not None and j is not None}
    out = []
    for term in tensor.terms:
        mine = dict(table)
        for i in indices_of(term.factors):
            if i not in mine and not i.pinned:
                mine[i] = Index(i.dim)
        out.append(Term(term.number, renamed(term.factors, mine)))
    return out


def like(axes: Axes) -> Axes:
    """Fresh indices for axes."""
    return tuple(None if i is None else Index(i.dim) for i in axes)
