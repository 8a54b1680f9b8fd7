"""Facts about the variables of differentiation: off while a derivative is taken, and put to use in its formula."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction

from gradexplain.simplify.tensor.space import Space
from gradexplain.simplify.tensor.terms import (
    ONE,
    Atom,
    Factor,
    Tensor,
    Term,
    instance,
    renamed,
)


def tied(space: Space, tensor: Tensor, shape: Sequence[int], places: Iterable[int]) -> Tensor:
    """A + A.T - diag(A) over the axes of each symmetric matrix: what changes if both entries of a pair move."""
    rest = iter(tensor.indices)
    axes = [None if n == 1 else next(rest) for n in shape]
    for at in places:
        i, j = axes[at : at + 2]
        if i is None or j is None:
            continue
        turned = {i: j, j: i}
        terms = [(t.number, t.factors) for t in tensor.terms]
        terms += [(t.number, renamed(t.factors, turned)) for t in tensor.terms]
        terms += [(-t.number, (*t.factors, Factor(space.delta, (i, j), ONE))) for t in tensor.terms]
        tensor = space.tensor(tensor.axes, terms)
    return tensor


class Rebuilt:
    """Tensors over the atoms of another space, in which more is known of the variables."""

    def __init__(self, old: Space, new: Space) -> None:
        self.old, self.new = old, new
        self._known: dict[Atom, Term | Atom] = {old.delta: new.delta}

    def tensor(self, tensor: Tensor) -> Tensor:
        """The same tensor, with what follows from the facts."""
        terms: list[tuple[Fraction, list[Factor]]] = []
        for term in tensor.terms:
            number, factors = term.number, []
            for f in term.factors:
                scale, more = self._factor(f)
                number *= scale
                factors += more
            terms.append((number, factors))
        return self.new.tensor(tensor.axes, terms)

    def _factor(self, f: Factor) -> tuple[Fraction, list[Factor]]:
        if f.atom.kind in ("sum", "ratio"):
            inner = self.tensor(f.atom.parts[0])
            if f.atom.kind == "sum" or len(inner.terms) != 1:
                raised = self.new.power(inner, f.power)
                if not raised.terms:
                    return Fraction(0), []
                one = Tensor(raised.axes, (self.new.wrapped(raised),))
                (term,) = instance(one, f.indices)
                return term.number, list(term.factors)
        return Fraction(1), [Factor(self.atom(f.atom), f.indices, f.power)]

    def atom(self, atom: Atom) -> Atom:
        """The atom of the new space."""
        found = self._known.get(atom)
        if not isinstance(found, Atom):
            parts = [self.tensor(p) for p in atom.parts]
            found = self._known[atom] = self.new.atom(atom.kind, atom.data, parts, atom.axes)
            found.hot |= atom.hot
            found.symmetric |= atom.kind == "reverse"
            if atom in self.old.safe:
                self.new.safe[found] = Tensor(found.axes, tuple(instance(self.tensor(self.old.safe[atom]), found.axes)))
        return found
