"""Arrays that were put together: a piece of them is the part that it was, a sum over them the sum over their parts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import NamedTuple

from gradexplain.simplify.tensor.space import Space
from gradexplain.simplify.tensor.terms import ONE, Factor, Index, Tensor, Term, indices_of, instance

_MOST_PARTS = 3  # of an array that is taken apart in a sum
_JOINED = ("concatenate", "stack")
Terms = list[tuple[Fraction, list[Factor]]]


class _Place(NamedTuple):
    """Where the parts of a joined array begin along the index that joins them, and how long they are."""

    starts: tuple[int, ...]
    sizes: tuple[int, ...]


def _place(f: Factor, i: Index) -> _Place | None:
    """The parts along an index, if that is the one along which the factor was put together."""
    if f.atom.kind != "operation" or f.atom.data[0] not in _JOINED or f.indices.count(i) != 1:
        return None
    name, params, shape, shapes, _ = f.atom.data
    axis = dict(params)["axis"] % len(shape)
    if shape[axis] == 1 or sum(n != 1 for n in shape[:axis]) != f.indices.index(i):
        return None
    sizes = tuple(s[axis] for s in shapes) if name == "concatenate" else (1,) * len(shapes)
    return _Place(tuple(sum(sizes[:k]) for k in range(len(sizes))), sizes)


def _part(space: Space, f: Factor, i: Index, k: int, own: Index | None) -> tuple[Fraction, list[Factor]] | None:
    """Part k in the place of a joined factor; `own` runs along it if it has more than one entry there."""
    part = f.atom.parts[k]
    outer = tuple(j for j in (own if j is i else j for j in f.indices) if j is not None)
    if len(part.indices) != len(outer) or (f.power != 1 and len(part.terms) > 1):
        return None
    if not part.terms:
        return Fraction(0), []
    for a, b in zip(part.indices, outer, strict=True):
        b.dim.same(a.dim)
    moved = Tensor(outer, tuple(instance(Tensor(part.indices, part.terms), outer)))
    raised = space.wrapped(space.power(moved, f.power)) if f.power != 1 else space.wrapped(moved)
    return raised.number, list(raised.factors)


def unjoined(space: Space, tensor: Tensor) -> Tensor:
    """The tensor with pieces of joined arrays as the parts that they are."""
    terms: Terms = []
    changed = False
    for term in tensor.terms:
        found = next(filter(None, (_resolved(space, term, s) for s in term.factors)), None)
        changed |= found is not None
        terms.append(found or (term.number, list(term.factors)))
    return unjoined(space, space.tensor(tensor.axes, [t for t in terms if t[0]])) if changed else tensor


def _resolved(space: Space, term: Term, s: Factor) -> tuple[Fraction, list[Factor]] | None:
    """A term in which an entry or a slice is taken out of one part."""
    if s.atom.kind not in ("unit", "select") or s.power != 1:
        return None
    i = s.indices[-1]
    users = [f for f in term.factors if f is not s and i in f.indices]
    places = {_place(f, i) for f in users}
    place = next(iter(places), None)
    if len(places) != 1 or place is None or i.pinned:
        return None
    first, step, count = (s.atom.data[0], 1, 1) if s.atom.kind == "unit" else s.atom.data[:3]
    last = first + (count - 1) * step
    at = [k for k, (a, n) in enumerate(zip(*place, strict=True)) if a <= first and last < a + n]
    if not at:
        return None
    k, size = at[0], place.sizes[at[0]]
    local = first - place.starts[k]
    rest = [f for f in term.factors if f is not s and f not in users]
    own = None if size == 1 else s.indices[0] if count == size else Index(type(i.dim)(size))
    if own is not None and own is not s.indices[0]:
        kind, axes = s.atom.kind, (*s.indices[:-1], own)
        data = (
            (local, size) if kind == "unit" else (local, step, count, size, (local, last - place.starts[k] + 1, step))
        )
        rest.append(Factor(space.atom(kind, data, [], [Index(j.dim) for j in axes]), axes, ONE))
    return _with_parts(space, term.number, rest, users, i, k, own)


def _with_parts(
    space: Space,
    number: Fraction,
    rest: Sequence[Factor],
    users: Sequence[Factor],
    i: Index,
    k: int,
    own: Index | None,
) -> tuple[Fraction, list[Factor]] | None:
    factors = list(rest)
    for f in users:
        part = _part(space, f, i, k, own)
        if part is None:
            return None
        number, factors = number * part[0], [*factors, *part[1]]
    return number, factors


def taken_apart(space: Space, tensor: Tensor) -> Iterator[Tensor]:
    """A sum over the entries of joined arrays as the sum over those of each part."""
    for at, term in enumerate(tensor.terms):
        for i in indices_of(term.factors):
            users = [f for f in term.factors if i in f.indices]
            places = {_place(f, i) for f in users}
            place = next(iter(places))
            if i in tensor.axes or i.pinned or len(places) != 1 or place is None or len(place.sizes) > _MOST_PARTS:
                continue
            rest = [f for f in term.factors if f not in users]
            made = []
            for k, size in enumerate(place.sizes):
                own = None if size == 1 else Index(type(i.dim)(size))
                made.append(_with_parts(space, term.number, rest, users, i, k, own))
            if all(made):
                others = [(t.number, t.factors) for n, t in enumerate(tensor.terms) if n != at]
                yield unjoined(space, space.tensor(tensor.axes, [*others, *(m for m in made if m and m[0])]))
