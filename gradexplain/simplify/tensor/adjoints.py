"""Differentiation of the normal form: one rule, from the last atom to the first.

In a term c * f1 * f2 * …, the atom of a factor f^e gets c * e * f^(e-1) * (the other factors) * (the adjoint of what
the term belongs to), summed over all indices but the atom's own. Functions and operations hand their adjoint to their
operands by their rows in the table of derivatives. Adjoints of several terms become atoms: the deltas of the textbooks.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from gradexplain.graph import TABLE, Node, variable
from gradexplain.ops.ordering import equal, where
from gradexplain.ops.reductions import spread
from gradexplain.simplify.tensor.lowering import Lowering, TooLongError
from gradexplain.simplify.tensor.space import Space
from gradexplain.simplify.tensor.terms import (
    ONE,
    Atom,
    Axes,
    Factor,
    Index,
    Tensor,
    Term,
    indices_of,
    instance,
    like,
)

_MOST_FACTORS = 1000  # in all adjoints and what they belong to: 20 residual layers, or 300 plain ones
Simplify = Callable[[Tensor], Tensor]


class Backward:
    """The adjoints of a tensor with respect to variables; `simplify` is applied to each of them once."""

    def __init__(self, space: Space, simplify: Simplify, *, keep: bool = False) -> None:
        self.space, self.simplify, self.keep = space, simplify, keep

    def derivatives(self, y: Tensor, wrt: Sequence[Atom], seed: bool = False) -> dict[Atom, Tensor]:
        """The derivative for each variable: of a scalar, or (`seed`) of every entry, the output's axes first."""
        self.wanted = frozenset(a.data for a in wrt)
        extra: Axes = tuple(i and Index(i.dim, pinned=True) for i in y.axes) if seed else ()
        self.waiting: dict[Atom, list[Tensor]] = {}
        pairs = [(i, j) for i, j in zip(y.axes, extra, strict=False) if i is not None and j is not None]
        self._through(y, Tensor(y.axes, (Term(ONE, tuple(Factor(self.space.delta, p, ONE) for p in pairs)),)))
        found: dict[Atom, Tensor] = {}
        count = 0
        while self.waiting:
            atom = max(self.waiting, key=lambda a: a.serial)
            adjoint = self._collected(atom, self.waiting.pop(atom))
            count += sum(len(t.factors) for x in (adjoint, *atom.parts) for t in x.terms)
            if count > _MOST_FACTORS:
                raise TooLongError("too long a program")
            if atom in wrt:
                found[atom] = adjoint
            else:
                self._hand_on(atom, adjoint)
        for atom in wrt:
            if atom not in found:
                found[atom] = Tensor(like(atom.axes), ())
        for i in extra:
            if i is not None:
                i.pinned = False
        return {atom: Tensor((*extra, *t.axes), t.terms) for atom, t in found.items()}

    def _collected(self, atom: Atom, parts: list[Tensor]) -> Tensor:
        axes = like(atom.axes)
        total = self.space.total(axes, [Tensor(p.axes, p.terms) for p in parts], [1] * len(parts))
        return self.simplify(total)

    def _named(self, adjoint: Tensor, ways: int) -> Tensor:
        """An adjoint of several terms as one atom; if they are to be kept, also one that goes several ways."""
        if self.keep and ways > 1 and adjoint.terms and sum(len(t.factors) for t in adjoint.terms) > 1:
            present = dict.fromkeys(i for t in adjoint.terms for f in t.factors for i in f.indices)
            used = [*(i for i in adjoint.indices if i in present)]
            used += [i for i in present if i.pinned and i not in used]
            f = self.space.factor("adjoint", None, [Tensor(tuple(used), adjoint.terms)], used)
            return Tensor(adjoint.axes, (Term(ONE, (f,)),))
        if len(adjoint.terms) < 2:
            return adjoint
        return Tensor(adjoint.axes, (self.space.wrapped(adjoint),))

    def _hand_on(self, atom: Atom, adjoint: Tensor) -> None:
        if atom.kind in ("sum", "ratio", "adjoint"):
            named = self._named(adjoint, self._ways(atom.parts[0]))
            self._through(atom.parts[0], Tensor(atom.axes, tuple(instance(named, atom.axes))))
        elif atom.kind == "function":
            self._function(atom, self._named(adjoint, sum(map(self._ways, atom.parts))))
        elif atom.kind == "operation":
            self._operation(atom, self._named(adjoint, sum(map(self._ways, atom.parts))))

    def _ways(self, y: Tensor) -> int:
        """To how many factors an adjoint is handed on."""
        return sum(bool(f.atom.hot & self.wanted) for t in y.terms for f in t.factors)

    def _through(self, y: Tensor, adjoint: Tensor) -> None:
        """Hands the adjoint of a tensor to the atoms in its terms; the adjoint has the same axes."""
        own = y.indices
        for term in y.terms:
            for at, f in enumerate(term.factors):
                if not f.atom.hot & self.wanted:
                    continue
                rest = [*term.factors[:at], *term.factors[at + 1 :]]
                if f.power != 1:
                    rest.append(Factor(f.atom, f.indices, f.power - 1))
                axes = [Index(i.dim) for i in f.indices]
                first: dict[Index, Index] = {}
                deltas = []
                for i, a in zip(f.indices, axes, strict=True):
                    if i in first:
                        deltas.append(Factor(self.space.delta, (first[i], a), ONE))
                    else:
                        first[i] = a
                terms = []
                for g in instance(adjoint, adjoint.axes):
                    number = term.number * f.power * g.number
                    factors = [*rest, *g.factors]
                    seen = {*indices_of(factors), *f.indices}
                    for i in own:
                        if i not in seen:
                            more, named = self.space.size(i.dim)
                            number, factors = number * more, [*factors, *named]
                    terms.append(Term(number, tuple(factors)))
                terms = [t for x in terms for t in _moved(x, first)]
                made = self.space.tensor(tuple(axes), [(t.number, [*t.factors, *deltas]) for t in terms])
                if made.terms:
                    self.waiting.setdefault(f.atom, []).append(made)

    def _function(self, atom: Atom, adjoint: Tensor) -> None:
        """To the operands of a function of numbers: the adjoint times the partial derivatives of its row."""
        name, constants = atom.data
        row = TABLE[name]
        own = adjoint.axes
        sizes = tuple(1 if i is None else i.dim.size for i in own)
        y = variable("y", sizes)
        xs = [c if c is not None else variable(f"x{n}", sizes) for n, c in enumerate(constants)]
        known = self._operands(atom, own, y, xs)
        for at, (part, x) in enumerate(zip(atom.parts, xs, strict=True)):
            rule = row.partials[at] if at < len(row.partials) else None
            if rule is None or not _hot(part) & self.wanted:
                continue
            slope = rule(y, *xs)
            (lowered,) = Lowering(self.space, known).tensors([slope]) if isinstance(slope, Node) else [_number(slope)]
            axes = adjoint.axes
            over = Tensor(axes, tuple(instance(lowered, own)) if lowered.axes else lowered.terms)
            product = self.simplify(self.space.product(axes, [over, adjoint]))
            self._through(known[x], self._named(product, self._ways(part)))

    def _operands(self, atom: Atom, own: Sequence[Index | None], y: Node, xs: Sequence[Node]) -> dict[Node, Tensor]:
        indices = tuple(i for i in own if i is not None)
        known = {y: Tensor(tuple(own), (Term(ONE, (Factor(atom, indices, ONE),)),))}
        for x, part in zip(xs, atom.parts, strict=True):
            if x.op.name == "variable":
                known[x] = Tensor(tuple(own), tuple(instance(part, own)))
        return known

    def _literal(self, atom: Atom, adjoint: Tensor) -> bool:
        """An array that is written out of numbers, as in np.array([[cos(t), -sin(t)], …]): so is its derivative."""
        hot = sorted(atom.hot & self.wanted)
        variables = [self.space.atom("variable", name, [], []) for name in hot]
        if any(v.axes or v.hot != {name} for v, name in zip(variables, hot, strict=True)):
            return False
        _, params, shape, shapes, _ = atom.data
        for v in variables:
            slopes = [Backward(self.space, self.simplify).derivatives(p, [v], seed=True)[v] for p in atom.parts]
            data = ("stack", params, shape, shapes, tuple(None for _ in slopes))
            parts = [Tensor(like(s.axes), ()) for s in slopes]
            parts = [Tensor(p.axes, tuple(instance(s, p.axes))) for p, s in zip(parts, slopes, strict=True)]
            indices = adjoint.indices
            slope = self.space.factor("operation", data, parts, [Index(i.dim) for i in indices])
            own = Tensor(adjoint.axes, (Term(ONE, (Factor(slope.atom, indices, ONE),)),))
            whole = self.space.product(adjoint.axes, [own, adjoint])
            made = self.space.tensor((), [(t.number, t.factors) for t in whole.terms])
            if made.terms:
                self.waiting.setdefault(v, []).append(made)
        return True

    def _operation(self, atom: Atom, adjoint: Tensor) -> None:
        """To the operands of an operation of arrays: by the pullback of its row, lowered in turn."""
        name, params, shape, shapes, constants = atom.data
        if name == "stack" and 1 not in shape and self._literal(atom, adjoint):
            return
        row = TABLE[name]
        own = iter(adjoint.axes)
        axes = tuple(None if n == 1 else next(own) for n in shape)
        y, g = variable("y", shape), variable("g", shape)
        xs = [
            c if c is not None else variable(f"x{n}", s) for n, (s, c) in enumerate(zip(shapes, constants, strict=True))
        ]
        indices = tuple(i for i in axes if i is not None)
        known: dict[Node, Tensor] = {
            y: Tensor(axes, (Term(ONE, (Factor(atom, indices, ONE),)),)),
            g: Tensor(axes, adjoint.terms),
        }
        for x, part in zip(xs, atom.parts, strict=True):
            if x.op.name == "variable":
                known[x] = part
        node = row.record(*xs, **dict(params))
        known[node] = known[y]
        for at, part in enumerate(atom.parts):
            if not _hot(part) & self.wanted or row.pullback is None:
                continue
            handed = self._to_the_largest(g, node) if name in ("max", "min") else None
            handed = row.pullback(at, g, node) if handed is None else handed
            if handed is None:
                continue
            (lowered,) = Lowering(self.space, known).tensors([handed])
            self._through(part, Tensor(part.axes, tuple(instance(lowered, part.axes))))

    def _to_the_largest(self, g: Node, y: Node) -> Node | None:
        """All of the adjoint to the largest entry, which is meant where that is one alone."""
        if not self.space.regular:
            return None
        (x,) = y.inputs
        hit = equal(x, spread(y, x, **y.params))
        return where(hit, spread(g, x, **y.params), 0)


def _moved(term: Term, table: Mapping[Index, Index]) -> list[Term]:
    return [
        Term(
            term.number, tuple(Factor(f.atom, tuple(table.get(i, i) for i in f.indices), f.power) for f in term.factors)
        )
    ]


def _hot(part: Tensor) -> frozenset[str]:
    found: frozenset[str] = frozenset()
    for t in part.terms:
        for f in t.factors:
            found |= f.atom.hot
    return found


def _number(value: Any) -> Tensor:
    from fractions import Fraction

    return Tensor((), (Term(Fraction(value), ()),) if value else ())
