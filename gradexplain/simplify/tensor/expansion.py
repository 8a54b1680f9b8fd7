"""Distribution: products with inner sums as sums of products, where that lets terms cancel."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction

from gradexplain.simplify.tensor.space import Space
from gradexplain.simplify.tensor.terms import (
    Factor,
    Index,
    Tensor,
    Term,
    instance,
)

_MOST_TERMS = 24


def distributed(space: Space, tensor: Tensor) -> Iterator[Tensor]:
    """The tensor with sums opened: those over which a sum runs that concerns nothing else, then all of them."""
    free = {*tensor.indices}
    for chosen in (_is_summed_alone, _is_simple):
        found = _opened(space, tensor, free, chosen)
        if found is not None:
            yield found


def over_deltas(space: Space, tensor: Tensor) -> Tensor:
    """The tensor with sums opened in which a delta stands: diag(p) - outer(p, p), not p*(I - p)."""
    return _opened(space, tensor, {*tensor.indices}, _has_delta) or tensor


def _has_delta(term: Term, f: Factor, free: set[Index]) -> bool:
    return _is_simple(term, f, free) and any(g.atom.kind == "delta" for t in f.atom.parts[0].terms for g in t.factors)


def _is_summed_alone(term: Term, f: Factor, free: set[Index]) -> bool:
    """Whether a summed index stands on this factor alone: the sum of a centred vector is 0."""
    others = [g for g in term.factors if g is not f]
    return _is_simple(term, f, free) and any(
        i not in free and not i.pinned and not any(i in g.indices for g in others) for i in f.indices
    )


def _is_simple(term: Term, f: Factor, free: set[Index]) -> bool:
    return f.atom.kind in ("sum", "adjoint") and f.power == 1 and len(f.atom.parts[0].terms) > 1


def _opened(
    space: Space, tensor: Tensor, free: set[Index], chosen: Callable[[Term, Factor, set[Index]], bool]
) -> Tensor | None:
    """The tensor with the chosen factors written out; None if there are none, or too many terms."""
    terms = list(tensor.terms)
    changed = False
    waiting = terms
    done: list[tuple[Fraction, tuple[Factor, ...]]] = []
    while waiting:
        term = waiting.pop()
        f = next((f for f in term.factors if chosen(term, f, free)), None)
        if f is None:
            done.append((term.number, term.factors))
            continue
        changed = True
        rest = list(term.factors)
        rest.remove(f)
        used = {i for g in rest for i in g.indices}
        for inner in instance(f.atom.parts[0], f.indices):
            number, factors = term.number * inner.number, [*rest, *inner.factors]
            seen = used | {i for g in inner.factors for i in g.indices}
            for i in dict.fromkeys(f.indices):
                if i not in seen and i not in free and not i.pinned:
                    more, named = space.size(i.dim)
                    number, factors = number * more, [*factors, *named]
            waiting.append(Term(number, tuple(factors)))
        if len(waiting) + len(done) > _MOST_TERMS:
            return None
    return space.tensor(tensor.axes, done[::-1]) if changed else None
