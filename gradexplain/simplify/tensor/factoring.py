"""Common factors: terms that agree in some factors, up to the names of summed indices, become these times a sum."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import combinations

from gradexplain.simplify.tensor.space import Space
from gradexplain.simplify.tensor.terms import (
    ONE,
    Factor,
    Index,
    Tensor,
    Term,
    indices_of,
    instance,
    renamed,
)

_MOST_TERMS = 12
_MOST_TRIES = 400

Match = tuple[int, dict[Index, Index], tuple[tuple[int, int, Fraction], ...]]  # weight, names, (factor, factor, power)


def factored(space: Space, tensor: Tensor, simplify: Callable[[Tensor], Tensor] | None = None) -> Tensor:
    """The tensor with common factors in front of sums, the heaviest first; the sums may be simplified."""
    terms = instance(tensor, tensor.axes)  # no two terms share a summed index
    free = set(tensor.indices)
    known: dict[tuple[int, int], Match | None] = {}
    alive = [terms]  # so that no two terms have the same id
    while 2 <= len(terms) <= _MOST_TERMS:
        pairs = []
        for a, b in combinations(range(len(terms)), 2):
            key = (id(terms[a]), id(terms[b]))
            if key not in known:
                known[key] = common(space, terms[a], terms[b], free)
            match = known[key]
            if match is not None:
                pairs.append((match[0], -a, -b))
        if not pairs:
            break
        _, a, b = max(pairs)
        terms = _joined(space, terms, -a, -b, free, simplify)
        alive.append(terms)
    return (
        space.tensor(tensor.axes, [(t.number, t.factors) for t in terms]) if len(terms) < len(tensor.terms) else tensor
    )


def _joined(
    space: Space, terms: list[Term], a: int, b: int, free: set[Index], simplify: Callable[[Tensor], Tensor] | None
) -> list[Term]:
    """The terms with a and b (and what else has their common factors) as one."""
    match = common(space, terms[a], terms[b], free)
    assert match is not None
    shared = tuple(Factor(terms[a].factors[i].atom, terms[a].factors[i].indices, p) for i, _, p in match[2])
    pattern = Term(ONE, shared)
    rests: list[tuple[Fraction, tuple[Factor, ...]]] = []
    used = []
    for k, term in enumerate(terms):
        found = match_all(space, pattern, term, free)
        if found is None or (k not in (a, b) and _joins_vectors(pattern, term, found, free)):
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
    inner = space.tensor(axes, rests)
    inner = factored(space, inner) if simplify is None else simplify(inner)
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
    match = _best(a, b, free, whole=False)
    return None if match is None or _joins_vectors(a, b, match, free) else match


def _joins_vectors(a: Term, b: Term, match: Match, free: set[Index]) -> bool:
    """Whether a summed vector would be pulled out of an outer product: x (x @ g) + g would be outer(x, x) @ g + g."""
    shared = [a.factors[i] for i, _, _ in match[2]]
    if any(len(f.indices) > 1 for f in shared) or not any(i not in free for f in shared for i in f.indices):
        return False
    inside = {i for f in shared for i in f.indices}
    left = [f for k, f in enumerate(a.factors) if all((k, f.power) != (i, p) for i, _, p in match[2])]
    right = [f for k, f in enumerate(b.factors) if all((k, f.power) != (j, p) for _, j, p in match[2])]
    places = inside | {match[1].get(i, i) for i in inside} | free
    return any(_is_outer(rest, places) for rest in (left, right))


def _is_outer(factors: Sequence[Factor], places: set[Index]) -> bool:
    """Whether a product has several axes but consists of parts that have one each."""
    groups: list[tuple[set[Index], set[Index]]] = []  # of summed indices, and of axes
    for f in factors:
        inner, axes = {i for i in f.indices if i not in places}, {i for i in f.indices if i in places}
        near = [g for g in groups if g[0] & inner]
        groups = [g for g in groups if g not in near]
        groups.append((inner.union(*(g[0] for g in near)), axes.union(*(g[1] for g in near))))
    return len(set().union(*(axes for _, axes in groups))) > 1 and all(len(axes) < 2 for _, axes in groups)


def match_all(space: Space, pattern: Term, b: Term, free: set[Index]) -> Match | None:
    """All factors of the pattern, found in a term."""
    return None if has_delta(space, b) else _best(pattern, b, free, whole=True)


def _best(a: Term, b: Term, free: set[Index], *, whole: bool) -> Match | None:
    """The heaviest way to find factors of a in b; what can't become heavier than the best so far is left out."""
    found = [(k, _partners(f, b, whole)) for k, f in enumerate(a.factors)]
    order = sorted((entry for entry in found if entry[1]), key=lambda entry: -len(a.factors[entry[0]].indices))
    if not order or (whole and len(order) < len(a.factors)):
        return None
    weights = [1 + 2 * len(a.factors[k].indices) for k, _ in order]
    left = [sum(weights[at:]) for at in range(len(order) + 1)]
    best: list[Match | None] = [None]
    tries = 0

    def search(at: int, names: dict[Index, Index], taken: tuple[tuple[int, int, Fraction], ...], weight: int) -> None:
        nonlocal tries
        tries += 1
        if tries > _MOST_TRIES or (best[0] is not None and weight + left[at] <= best[0][0]):
            return
        if at == len(order):
            if taken:
                best[0] = (weight, names, taken)
            return
        k, partners = order[at]
        for j, power, indices in partners:
            if any(j == other for _, other, _ in taken):
                continue
            new = _unified(a.factors[k].indices, indices, names, free)
            if new is not None:
                search(at + 1, new, (*taken, (k, j, power)), weight + weights[at])
        if not whole:
            search(at + 1, names, taken, weight)

    search(0, {}, (), 0)
    return best[0]


def _partners(f: Factor, b: Term, whole: bool) -> list[tuple[int, Fraction, tuple[Index, ...]]]:
    """The factors of b that f can be, with the common power and the orders of their indices."""
    out = []
    for j, g in enumerate(b.factors):
        power = _shared_power(f.power, g.power) if g.atom is f.atom else Fraction(0)
        if power and (not whole or power == f.power):
            out += [(j, power, indices) for indices in _orders(g)]
    return out


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
