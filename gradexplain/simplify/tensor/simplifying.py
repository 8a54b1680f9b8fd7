"""The cheapest of several equal tensors: as it is, with common factors, distributed, as scalar algebra has it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from fractions import Fraction
from functools import cached_property
from typing import Any, NamedTuple

from gradexplain.simplify.tensor.algebra import equals
from gradexplain.simplify.tensor.choices import chosen, masked, resolved
from gradexplain.simplify.tensor.expansion import distributed, over_deltas
from gradexplain.simplify.tensor.factoring import factored
from gradexplain.simplify.tensor.folding import folded
from gradexplain.simplify.tensor.joining import taken_apart, unjoined
from gradexplain.simplify.tensor.keys import tensor_key
from gradexplain.simplify.tensor.matrices import split
from gradexplain.simplify.tensor.notation import SMALLEST_NAMED, Form, joint_cost, subforms, with_signs_inside
from gradexplain.simplify.tensor.space import Space
from gradexplain.simplify.tensor.terms import Factor, Tensor, Term
from gradexplain.simplify.tensor.writing import Writer

# The names of rules.
MASKED = "sums over one entry and masks"
SPLIT = "inverse of a product"
DISTRIBUTED = "distribute"
APART = "joined arrays part by part"
CHOSEN = "choice between two"
DIAGONAL = "terms on one diagonal"
FACTORED = "common factor"
ALGEBRA = "algebra of numbers, entry by entry"

_ROUNDS = 3
_HEAVY = 1.2  # operations that X - p*X is worth more than (1 - p)*X
_DEEPEST = 1  # sums within sums that are simplified anew when a factor is pulled out of them


def _repeats_a_matrix(form: Form) -> bool:
    """Whether a matrix stands in a sum beside a product that has it as a factor."""
    if form.op != "add" or form.ndim < 2:
        return False
    parts = [p.parts[0] if p.op == "neg" else p for p in form.parts]
    products = [q.parts[0] if q.op == "quotient" and q.parts[0].op == "product" else q for q in parts]
    return any(p in q.parts for p in parts for q in products if q.op in ("product", "quotient") and p.ndim > 1)


def _is_summed(term: Term, tensor: Tensor) -> bool:
    """Whether a term runs over more than the axes."""
    return any(i not in tensor.axes and not i.pinned for f in term.factors for i in f.indices)


class Step(NamedTuple):
    """One rewrite: the rule, and the tensor before and after it."""

    rule: str
    before: Tensor
    after: Tensor


class Simplifier:
    """Rewrites tensors; what is shorter in print is kept, with the steps that led there (`steps_to`)."""

    def __init__(self, space: Space, own: Callable[[], Iterable[Tensor]] = tuple) -> None:
        self.space, self.own, self.depth = space, own, 0
        self._writer = Writer(space)
        self.seen: list[set[Any]] = []  # what candidates were made of, for each tensor that is being simplified
        self._steps: dict[int, tuple[Tensor, list[Step]]] = {}  # by the terms of what they led to

    @cached_property
    def _own_forms(self) -> frozenset[Form]:
        return frozenset(
            f for t in self.own() if (f := self._writer.form(folded(self.space, t))).cost >= SMALLEST_NAMED
        )

    def __call__(self, tensor: Tensor) -> Tensor:
        best = folded(self.space, masked(self.space, over_deltas(self.space, unjoined(self.space, tensor))))
        lowest = self.cost(best)
        self.seen.append(set())
        steps = [Step(MASKED, tensor, best)]
        for _ in range(_ROUNDS):
            before = best
            for rule, candidate in self.candidates(best):
                cost = self.cost(candidate)
                if cost < lowest:
                    best, lowest, last = candidate, cost, rule
            if best is before:
                break
            steps.append(Step(last, before, best))
        self.seen.pop()
        if not self.seen:
            self._steps[id(best.terms)] = (best, steps)
        return best

    def steps_to(self, tensor: Tensor) -> list[Step]:
        """The steps that led to a tensor, which was simplified as a whole."""
        kept = self._steps.get(id(tensor.terms))
        return [] if kept is None else kept[1]

    def candidates(self, tensor: Tensor) -> Iterator[tuple[str, Tensor]]:
        """Equal tensors, each with the rule that made it."""
        starts = [("", tensor)]
        apart = split(self.space, tensor)
        if apart.terms != tensor.terms:
            starts.append((SPLIT, apart))
        for start in distributed(self.space, tensor):
            starts.append((DISTRIBUTED, folded(self.space, start)))
        yield from ((APART, t) for t in taken_apart(self.space, tensor))
        yield from ((CHOSEN, t) for t in chosen(self.space, tensor))
        decided = resolved(self.space, tensor)
        if decided.terms != tensor.terms:
            yield CHOSEN, decided
            yield from ((CHOSEN, t) for t in chosen(self.space, decided))
        yield from ((DIAGONAL, t) for t in self._diagonals(tensor))
        for first, start in starts:
            key = tensor_key(start, {i: k for k, i in enumerate(start.indices)})
            if key in self.seen[-1]:
                continue
            self.seen[-1].add(key)
            if start is not tensor:
                yield first, start
            if len(start.terms) > 1:
                yield first or FACTORED, factored(self.space, start)
                if start is tensor and self.depth < _DEEPEST and any(_is_summed(t, tensor) for t in tensor.terms):
                    self.depth += 1
                    yield FACTORED, factored(self.space, start, self)
                    self.depth -= 1
            yield from ((first or ALGEBRA, t) for t in equals(self.space, start))

    def _diagonals(self, tensor: Tensor) -> Iterator[Tensor]:
        """Terms on the same diagonal as one."""
        delta = self.space.delta
        places = Counter(f.indices for t in tensor.terms for f in t.factors if f.atom is delta)
        for place in [p for p, count in places.items() if count > 1]:
            on = [t for t in tensor.terms if any(f.atom is delta and f.indices == place for f in t.factors)]
            rest = [(t.number, [f for f in t.factors if f.atom is not delta or f.indices != place]) for t in on]
            used = {i for _, factors in rest for f in factors for i in f.indices}
            axes = tuple(i for i in tensor.axes if i not in place or i in used)
            if len(used & set(place)) > 1:
                continue
            inner = self(self.space.tensor(axes, rest))
            one = self.space.wrapped(inner)
            others = [(t.number, t.factors) for t in tensor.terms if t not in on]
            merged = (one.number, [*one.factors, Factor(delta, place, Fraction(1))])
            yield self.space.tensor(tensor.axes, [*others, merged])

    def cost(self, tensor: Tensor) -> float:
        """What the tensor costs in print."""
        pinned = dict.fromkeys(i for t in tensor.terms for f in t.factors for i in f.indices if i.pinned)
        form = with_signs_inside(self._writer.form(Tensor((*tensor.axes, *pinned), tensor.terms)))
        known = any(p in self._own_forms for p in subforms(form)) if self._own_forms else False
        heavy = sum(map(_repeats_a_matrix, subforms(form)))
        return joint_cost([form]) + _HEAVY * heavy - known / 2
