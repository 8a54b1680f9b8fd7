"""Common factors: terms that agree in some factors, up to the names of summed indices, become these times a sum."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from gradexplain.simplify.tensor.space import Space
from gradexplain.simplify.tensor.terms import (
    ONE,
    Factor,
    Index,
    Tensor,
    Term,
    indices_of,
    renamed,
)

_MOST_TERMS = 12
_MOST_TRIES = 400

Match = tuple[int, dict[Index, Index], tuple[tuple[int, int, Fraction], ...]]  # weight, names, (factor, factor, power)


def factored(space: Space, tensor: Tensor) -> Tensor:
    """The tensor with common factors in front of sums, the heaviest first."""
    terms = list(tensor.terms)
    free = set(tensor.indices)
    while 2 <= len(terms) <= _MOST_TERMS:
        pairs = [
            (match[0], -a, -b)
            for a in range(len(terms))
            for b in range(a + 1, len(terms))
            if (match := common(space, terms[a], terms[b], free)) is not None
        ]
        if not pairs:
            break
        _, a, b = max(pairs)
        terms = _joined(space, terms, -a, -b, free, tensor)
    return (
        space.tensor(tensor.axes, [(t.number, t.factors) for t in terms]) if len(terms) < len(tensor.terms) else tensor
    )


def _joined(space: Space, terms: list[Term], a: int, b: int, free: set[Index], tensor: Tensor) -> list[Term]:
    """The terms with a and b (and what else has their common factors) as one."""
    match = common(space, terms[a], terms[b], free)
    assert match is not None
    shared = tuple(Factor(terms[a].factors[i].atom, terms[a].factors[i].indices, p) for i, _, p in match[2])
    pattern = Term(ONE, shared)
    rests: list[tuple[Fraction, tuple[Factor, ...]]] = []
    used = []
    for k, term in enumerate(terms):
        found = match_all(space, pattern, term, free)
        if found is None:
            continue
        used.append(k)
        names = {j: i for i, j in found[1].items()}
        taken = {j: p for _, j, p in found[2]}
        rest = [
            Factor(f.atom, f.indices, f.power - taken.get(j, Fraction(0)))
            for j, f in enumerate(term.factors)
            if f.power != taken.get(j, Fraction(0))
        ]
        rests.append((term.number, renamed(rest, names)))
    inside = indices_of(shared)
    axes = tuple(dict.fromkeys(i for _, fs in rests for i in indices_of(fs) if i in free or i in inside or i.pinned))
    inner = factored(space, space.tensor(axes, rests))
    one = space.wrapped(inner)
    joined = Term(one.number, (*shared, *one.factors))
    return [joined if k == used[0] else t for k, t in enumerate(terms) if k not in used[1:]]


def has_delta(space: Space, term: Term) -> bool:
    """Whether a term is on the diagonal only."""
    return any(f.atom is space.delta for f in term.factors)


def common(space: Space, a: Term, b: Term, free: set[Index]) -> Match | None:
    """The heaviest common factors of two terms."""
    if has_delta(space, a) or has_delta(space, b):
        return None
    return _best(a, b, free, whole=False)


def match_all(space: Space, pattern: Term, b: Term, free: set[Index]) -> Match | None:
    """All factors of the pattern, found in a term."""
    return None if has_delta(space, b) else _best(pattern, b, free, whole=True)


def _best(a: Term, b: Term, free: set[Index], *, whole: bool) -> Match | None:
    order = sorted(range(len(a.factors)), key=lambda k: -len(a.factors[k].indices))
    best: list[Match | None] = [None]
    tries = [0]

    def search(at: int, names: dict[Index, Index], taken: tuple[tuple[int, int, Fraction], ...], weight: int) -> None:
        tries[0] += 1
        if at == len(order) or tries[0] > _MOST_TRIES:
            if taken and (best[0] is None or weight > best[0][0]) and (not whole or len(taken) == len(order)):
                best[0] = (weight, names, taken)
            return
        f = a.factors[order[at]]
        for k, g in enumerate(b.factors):
            if g.atom is not f.atom or any(j == k for _, j, _ in taken):
                continue
            power = _shared_power(f.power, g.power)
            if not power or (whole and power != f.power):
                continue
            for indices in _orders(g):
                new = _unified(f.indices, indices, names, free)
                if new is not None:
                    search(at + 1, new, (*taken, (order[at], k, power)), weight + 1 + 2 * len(f.indices))
        if not whole:
            search(at + 1, names, taken, weight)

    search(0, {}, (), 0)
    return best[0]


def _orders(g: Factor) -> Sequence[tuple[Index, ...]]:
    return [g.indices, g.indices[::-1]] if g.atom.symmetric and len(g.indices) == 2 else [g.indices]


def _shared_power(p: Fraction, q: Fraction) -> Fraction:
    if p > 0 and q > 0:
        return min(p, q)
    return max(p, q) if p < 0 and q < 0 else Fraction(0)


def _unified(
    mine: Sequence[Index], theirs: Sequence[Index], names: dict[Index, Index], free: set[Index]
) -> dict[Index, Index] | None:
    new = dict(names)
    for i, j in zip(mine, theirs, strict=True):
        if i in free or j in free or i.pinned or j.pinned:
            if i is not j:
                return None
        elif new.setdefault(i, j) is not j or sum(v is j for v in new.values()) > 1:
            return None
    return new
