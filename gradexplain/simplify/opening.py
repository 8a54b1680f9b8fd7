"""Sums multiplied out on two sides until they agree, and no further than that."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from gradexplain.simplify.algebra import Product, Sum, sums_within, total

_MOST_TERMS = 60
_MOST_ROUNDS = 24


class TooLongError(Exception):
    """More terms than a reader would follow."""


@dataclass(slots=True)
class Term:
    """A term on the way: the product, and whether the other side has it too."""

    product: Product
    settled: bool = False
    source: Opening | None = None


@dataclass(slots=True)
class Opening:
    """A product that was multiplied out; `closed` counts the terms of it that were not multiplied out in their turn."""

    cofactor: Product
    base: Sum
    closed: int
    source: Opening | None

    @property
    def whole(self) -> Opening:
        """The product that this one is a part of, if all of it was multiplied out."""
        source = self.source
        return self if source is None or source.closed or source.cofactor.is_one else source.whole

    @property
    def is_shown(self) -> bool:
        """Whether it says what was done: no term of it was opened further, and there was something before the sum."""
        return self.closed in (0, len(self.base.terms)) and not self.cofactor.is_one


class Side:
    """The terms of one formula over the common denominator, and the products that were multiplied out for them."""

    def __init__(self, terms: Sequence[Product]) -> None:
        self.terms = [Term(t) for t in terms]
        self.openings: list[Opening] = []

    @property
    def products(self) -> list[Product]:
        """All terms."""
        return [t.product for t in self.terms]

    @property
    def rest(self) -> list[Product]:
        """The terms that the other side does not have."""
        return [t.product for t in self.terms if not t.settled]

    def open(self, base: Sum) -> None:
        """Multiplies a sum out wherever it is a factor of a term that is not settled."""
        done: list[Term] = []
        for t in self.terms:
            if t.settled or base not in t.product.sums:
                done.append(t)
                continue
            if t.source is not None:
                t.source.closed -= 1
            opening = Opening(t.product.without(base), base, len(base.terms), t.source)
            self.openings.append(opening)
            done += [Term(opening.cofactor.times(inner), source=opening) for inner in base.terms]
        self.terms = done
        if len(done) > _MOST_TERMS:
            raise TooLongError


def meet(left: Side, right: Side) -> bool:
    """Opens sums on both sides until they agree: first those that one side alone has."""
    for _ in range(_MOST_ROUNDS):
        _settle(left, right)
        if total(left.rest) == total(right.rest):
            return True
        base = _next(left.rest, right.rest)
        if base is None:
            return False
        left.open(base)
        right.open(base)
    return False


def _settle(left: Side, right: Side) -> None:
    waiting: dict[Any, list[Term]] = {}
    for t in right.terms:
        if not t.settled:
            waiting.setdefault((t.product.key, t.product.number), []).append(t)
    for t in left.terms:
        same = None if t.settled else waiting.get((t.product.key, t.product.number))
        if same:
            t.settled = same.pop().settled = True


def _next(left: Sequence[Product], right: Sequence[Product]) -> Sum | None:
    ours, theirs = ([b for t in side for b in t.sums] for side in (left, right))
    ours_inside, theirs_inside = set(sums_within(left)), set(sums_within(right))
    alone = [b for b in ours if b not in theirs_inside] + [b for b in theirs if b not in ours_inside]
    return next(iter([*alone, *ours, *theirs]), None)
