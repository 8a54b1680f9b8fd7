"""Loops over entries: terms that differ in the number of an entry alone are a sum over an index."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from gradexplain.simplify.tensor.space import Space
from gradexplain.simplify.tensor.terms import ONE, Factor, Index, Tensor, Term

_FEWEST, _MOST = 2, 64


def rolled(space: Space, tensor: Tensor) -> Tensor:
    """The tensor with x[0], x[1], … up to the last entry as one term, if it has such terms."""
    if not _FEWEST <= len(tensor.terms) <= _MOST:
        return tensor
    units = [_units(t) for t in tensor.terms]
    sizes = {size for found in units for _, size in found}
    for size in sorted(sizes, reverse=True):
        places: dict[int, list[Term]] = {}
        for term, found in zip(tensor.terms, units, strict=True):
            numbers = {k for k, n in found if n == size}
            if len(numbers) == 1:
                places.setdefault(numbers.pop(), []).append(term)
        if len(places) < size or len({len(p) for p in places.values()}) > 1:
            continue
        together = _together(space, tensor, places, size)
        if together is not None:
            return rolled(space, together)
    return tensor


def _together(space: Space, tensor: Tensor, places: Mapping[int, list[Term]], size: int) -> Tensor | None:
    """One term for those of each number; None if they are not the same."""
    first = places[0][0]
    dim = next((i.dim for i in _unit_indices(first, size)), None)
    if dim is None:
        return None
    running = Index(dim)
    parts = []
    for k in range(size):
        part = Tensor((*tensor.axes, running), tuple(places[k]))
        parts.append(_generalised(space, part, k, size, running))
    if any(not space.same(parts[0], p) for p in parts[1:]):
        return None
    gone = {t for terms in places.values() for t in terms}
    rest = [(t.number, t.factors) for t in tensor.terms if t not in gone]
    return space.tensor(tensor.axes, [*rest, *((t.number, t.factors) for t in parts[0].terms)])


def _units(term: Term) -> set[tuple[int, int]]:
    """The numbers of entries in a term, each with the length of the axis."""
    return {u for f in term.factors for u in f.atom.units}


def _unit_indices(term: Term, size: int) -> Iterator[Index]:
    for f in term.factors:
        if f.atom.kind == "unit" and f.atom.data[1] == size:
            yield f.indices[0]
        if any(n == size for _, n in f.atom.units):
            for p in f.atom.parts:
                for t in p.terms:
                    yield from _unit_indices(t, size)


def _generalised(space: Space, tensor: Tensor, k: int, size: int, running: Index) -> Tensor:
    """The tensor with the running index in place of the entry number k."""
    terms = []
    for term in tensor.terms:
        factors = []
        for f in term.factors:
            if f.atom.kind == "unit" and f.atom.data == (k, size):
                factors.append(Factor(space.delta, (f.indices[0], running), ONE))
            elif (k, size) in f.atom.units and f.atom.kind in ("sum", "function"):
                inner = Index(running.dim)
                axes = (*f.atom.axes, inner)
                parts = [_generalised(space, Tensor((*p.axes, inner), p.terms), k, size, inner) for p in f.atom.parts]
                atom = space.atom(f.atom.kind, f.atom.data, parts, axes)
                factors.append(Factor(atom, (*f.indices, running), f.power))
            else:
                factors.append(f)
        terms.append((term.number, factors))
    return space.tensor(tensor.axes, terms)
