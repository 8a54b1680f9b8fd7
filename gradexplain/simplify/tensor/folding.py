"""Sums that have a name already: a product that defines an atom is that atom, exp(u) over its sum is one thing."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from gradexplain.simplify.tensor.space import Space
from gradexplain.simplify.tensor.terms import (
    ONE,
    Atom,
    Factor,
    Index,
    Tensor,
    Term,
    indices_of,
    instance,
)


def folded(space: Space, tensor: Tensor) -> Tensor:
    """The tensor with inner sums replaced by the atoms that they are, and normalised exponentials as ratios."""
    free = {*tensor.indices}
    summed = [(t.number, _with_sums(space, t.factors, free)) for t in tensor.terms]
    found = space.tensor(tensor.axes, summed)
    found = space.tensor(tensor.axes, [(t.number, _with_ratios(space, t.factors)) for t in found.terms])
    return space.tensor(tensor.axes, [_without_ones(space, t, free) for t in found.terms])


def _without_ones(space: Space, term: Term, free: set[Index]) -> tuple[Fraction, Sequence[Factor]]:
    """Probabilities, one-hot rows and normalised exponentials add up to 1."""
    number, listed = term.number, list(term.factors)
    for f in term.factors:
        for i in _adds_up_over(space, f):
            alone = not any(i in g.indices for g in listed if g is not f)
            if f.power == 1 and f.indices.count(i) == 1 and f in listed and alone and i not in free and not i.pinned:
                listed.remove(f)
                for j in f.indices:  # what it was repeated over is counted
                    if j is not i and j not in free and not j.pinned and not any(j in g.indices for g in listed):
                        more, named = space.size(j.dim)
                        number, listed = number * more, [*listed, *named]
    return number, listed


def _adds_up_over(space: Space, f: Factor) -> tuple[Index, ...]:
    """The index over which a factor adds up to 1."""
    if f.atom.kind in ("variable", "onehot") and f.indices and space.known(f.atom) & {"onehot", "probability"}:
        return (f.indices[-1],)
    if f.atom.kind == "ratio":
        below = f.atom.parts[0].terms[0].factors[1].indices
        over = tuple(i for i, own in zip(f.indices, f.atom.parts[0].indices, strict=True) if own not in below)
        return over if len(over) == 1 else ()
    return ()


def _with_sums(space: Space, factors: Sequence[Factor], free: set[Index]) -> Sequence[Factor]:
    """Where the factors with a summed index are, together, the definition of a sum, that takes their place."""
    listed = list(factors)
    for i in [i for i in indices_of(factors) if i not in free and not i.pinned]:
        group = [f for f in listed if i in f.indices]
        if not group or not any(f.atom.kind in ("function", "ratio") for f in group):
            continue
        outer = tuple(dict.fromkeys(j for f in group for j in f.indices if j is not i))
        if (
            any(j in free or j.pinned or any(j in f.indices for f in listed if f not in group) for j in outer)
            or not outer
        ):
            atom = space.known_sum(Tensor(outer, (Term(ONE, tuple(group)),)), outer)
            if atom is not None:
                rest = [f for f in listed if f not in group]
                listed = [*rest, Factor(atom, outer, ONE)]
    return listed


def _with_ratios(space: Space, factors: Sequence[Factor]) -> Sequence[Factor]:
    """exp(u)/sum(exp(u)) as one factor, in which what u has in common is left out."""
    listed = list(factors)
    for below in [f for f in listed if f.power < 0 and f.atom.kind == "sum" and f.power.denominator == 1]:
        inner = exponential_of(below.atom)
        if inner is None:
            continue
        for above in [f for f in listed if f.atom is inner.atom and f.power > 0 and f.power.denominator == 1]:
            if below not in listed:
                break
            if not _stands_below(below, above, inner):
                continue
            power = min(above.power, -below.power)
            ratio = ratio_of(space, inner, below.atom)
            listed.remove(above)
            listed.remove(below)
            listed.append(Factor(ratio, above.indices, power))
            if above.power > power:
                listed.append(Factor(above.atom, above.indices, above.power - power))
            if below.power + power:
                below = Factor(below.atom, below.indices, below.power + power)
                listed.append(below)
    return listed


def exponential_of(total: Atom) -> Factor | None:
    """The factor exp(u) if the atom is the sum of exp(u) over one index or more."""
    terms = total.parts[0].terms
    if len(terms) != 1 or len(terms[0].factors) != 1 or terms[0].number != 1:
        return None
    (f,) = terms[0].factors
    is_exp = f.atom.kind == "function" and f.atom.data[0] == "exp" and f.power == 1
    return f if is_exp and len(f.indices) > len(total.axes) else None


def _stands_below(below: Factor, above: Factor, inner: Factor) -> bool:
    """Whether the indices of the sum are those of the exponential that it does not sum over."""
    table = dict(zip(inner.indices, above.indices, strict=True))
    return all(table[i] is j for i, j in zip(below.atom.parts[0].indices, below.indices, strict=True))


def ratio_of(space: Space, inner: Factor, total: Atom) -> Atom:
    """The atom exp(u)/sum(exp(u)) over the axes of exp(u)."""
    exp, shifted = inner.atom, None
    kept = {i for i, own in zip(exp.axes, inner.indices, strict=True) if own in total.parts[0].indices}
    (u,) = exp.parts
    summed = [i for i in u.indices if i not in kept]
    varying = [t for t in u.terms if any(i in f.indices for i in summed for f in t.factors)]
    axes = exp.axes
    if varying and len(varying) < len(u.terms):
        if any(_is_max(f.atom) for t in u.terms if t not in varying for f in t.factors):
            shifted = _quotient(exp, total, kept)
        part = space.tensor(u.axes, [(t.number, t.factors) for t in varying])
        exp = space.atom("function", exp.data, [part], axes)
        again = tuple(i for i in exp.axes if i in kept)
        body = Tensor(again, (Term(ONE, (Factor(exp, exp.axes, ONE),)),))
        total = space.atom("sum", None, [body], again)
        axes = exp.axes
    ratio = space.atom("ratio", None, [_quotient(exp, total, kept)], axes)
    if shifted is not None:
        space.safe.setdefault(ratio, Tensor(ratio.axes, tuple(instance(shifted, ratio.axes))))
    return ratio


def _quotient(exp: Atom, total: Atom, kept: set[Index]) -> Tensor:
    below = tuple(i for i in exp.axes if i in kept)
    return Tensor(exp.axes, (Term(ONE, (Factor(exp, exp.axes, ONE), Factor(total, below, Fraction(-1)))),))


def _is_max(atom: Atom) -> bool:
    return atom.kind == "operation" and atom.data[0] == "max"


def opened(space: Space, tensor: Tensor) -> Tensor:
    """The tensor with ratios as quotients again."""
    terms = []
    for term in tensor.terms:
        factors = []
        for f in term.factors:
            if f.atom.kind == "ratio":
                (inner,) = instance(f.atom.parts[0], f.indices)
                factors += [Factor(g.atom, g.indices, g.power * f.power) for g in inner.factors]
            else:
                factors.append(f)
        terms.append((term.number, factors))
    return space.tensor(tensor.axes, terms)
