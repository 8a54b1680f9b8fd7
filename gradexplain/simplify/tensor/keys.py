"""What two tensors have in common if they differ in the names of summed indices and the order of factors alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gradexplain.simplify.tensor.terms import Factor, Index, Tensor, Term

PINNED = 10**9  # from here on the colours of pinned indices


def tensor_key(tensor: Tensor, places: Mapping[Index, int]) -> Any:
    """What two tensors have in common if they are the same up to the names of indices; `places` are those of axes."""
    return tuple(sorted((term_key(t, places), t.number) for t in tensor.terms))


def term_key(term: Term, places: Mapping[Index, int]) -> Any:
    """The factors of a term in an order and with numbers for indices that do not depend on how it was written."""
    present = dict.fromkeys(i for f in term.factors for i in f.indices)
    bound = [i for i in present if i not in places and not i.pinned]
    color: dict[Index, Any] = {i: PINNED + i.serial for i in present if i.pinned}
    color.update(places)
    color.update(dict.fromkeys(bound, -1))
    if bound:
        _refine(term, bound, color)
        count = -2
        while True:
            groups: dict[Any, list[Index]] = {}
            for i in bound:
                groups.setdefault(color[i], []).append(i)
            tied = [g for _, g in sorted(groups.items()) if len(g) > 1]
            if not tied:
                break
            count -= 1
            color[tied[0][0]] = 10**6 - count
            _refine(term, bound, color)
    return tuple(sorted(_shown(f, color) for f in term.factors))


def _shown(f: Factor, color: Mapping[Index, int]) -> Any:
    colors = [color[i] for i in f.indices]
    if f.atom.symmetric:
        colors.sort()
    return (f.atom.serial, f.power, tuple(colors))


def _refine(term: Term, bound: Sequence[Index], color: dict[Index, Any]) -> None:
    """Colours bound indices by where they stand and what stands beside them."""
    for _ in range(len(bound) + 1):
        seen = {
            i: (
                color[i],
                tuple(
                    sorted(
                        (
                            f.atom.serial,
                            f.power,
                            0 if f.atom.symmetric else at,
                            tuple(sorted(color[j] for j in f.indices))
                            if f.atom.symmetric
                            else tuple(color[j] for j in f.indices),
                        )
                        for f in term.factors
                        for at, j in enumerate(f.indices)
                        if j is i
                    )
                ),
            )
            for i in bound
        }
        ranks = {s: n for n, s in enumerate(sorted(set(seen.values())))}
        new = {i: -2 - len(ranks) + ranks[seen[i]] for i in bound}
        stable = len(set(new.values())) == len({color[i] for i in bound})
        color.update(new)
        if stable:
            return
