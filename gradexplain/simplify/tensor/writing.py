"""Tensors as matrix notation: sums of reduced terms, and what atoms look like."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

from gradexplain.simplify.tensor import notation as n
from gradexplain.simplify.tensor.entries import squeezed
from gradexplain.simplify.tensor.notation import Form
from gradexplain.simplify.tensor.reduction import Reduction
from gradexplain.simplify.tensor.space import Space
from gradexplain.simplify.tensor.terms import Atom, Axes, Factor, Index, Tensor, Term


class Writer:
    """Writes tensors as forms; of equally short ones, that with a product that is `known` from elsewhere."""

    def __init__(
        self,
        space: Space,
        totals: Mapping[tuple[str, ...], Any] | None = None,
        known: frozenset[Form] = frozenset(),
    ) -> None:
        self.known = known
        self.space, self.reduction, self.totals = space, Reduction(self), totals or {}
        self._atoms: dict[Atom, Form] = {}

    def form(self, tensor: Tensor) -> Form:
        """A tensor as a form with its axes (without those of size 1), turned round if that is shorter."""
        axes = tensor.indices
        straight = self._sum(tensor, axes, whole=True)
        if len(axes) != 2:
            return straight
        other = self._sum(tensor, axes[::-1], whole=True)
        return min((straight, n.transposed(other), n.turned(other)), key=lambda f: n.joint_cost([f]))

    def _sum(self, tensor: Tensor, axes: Sequence[Index], *, whole: bool) -> Form:
        parts = []
        covered: set[int] = set()
        sizes = {abs(t.number) for t in tensor.terms}
        if len(tensor.terms) > 1 and len(sizes) == 1 and sizes != {1}:
            (size,) = sizes
            scaled = tuple(Term(t.number / size, t.factors) for t in tensor.terms)
            return n.product([n.number(size), self._sum(Tensor(tensor.axes, scaled), axes, whole=whole)])
        for term in tensor.terms:
            form, has = self.reduction.term(term, axes)
            parts.append(form)
            covered |= has
        if not parts:
            is_array = whole and bool(axes)
            return Form("zeros", tuple(self.size(i) for i in axes), len(axes)) if is_array else n.number(0)
        result = n.total(parts, max(p.ndim for p in parts))
        if whole and len(covered) < len(axes):
            return self._filled(result, axes)
        return result

    def _filled(self, form: Form, axes: Sequence[Index]) -> Form:
        """What lacks an axis, repeated along it."""
        ones = Form("ones", tuple(self.size(i) for i in axes), len(axes))
        return n.product([form, ones]) if form != n.ONE else ones

    def size(self, i: Index) -> Form:
        number, factors = self.space.size(i.dim)
        return self._scalar(number, factors)

    def _scalar(self, number: Fraction, factors: Sequence[Factor]) -> Form:
        return n.product([n.number(number), *(n.power(self.atom(f.atom), f.power) for f in factors)])

    def in_short(self, sizes: list[Form]) -> list[Form]:
        """The sizes of all axes of an argument as the number of its entries."""
        named = [f for f in sizes if f.op == "size"]
        for letters, size in sorted(self.totals.items(), key=lambda pair: -len(pair[0])):
            found = [next((f for f in named if f.data.letter == letter), None) for letter in letters]
            if None not in found and len(set(letters)) == len(letters):
                rest = list(sizes)
                for f in found:
                    rest.remove(f)  # type: ignore[arg-type]
                return [Form("size", (), 0, size), *rest]
        return sizes

    def factor(self, f: Factor) -> Form:
        """The form of an atom to the size of its power; norms are roots of sums of squares."""
        atom, size = f.atom, abs(f.power)
        if atom is self.space.delta:
            return Form("eye", (self.size(f.indices[0]),), 2)
        if f.power.denominator == 2 and atom.kind == "sum" and not f.indices:
            inner = self.norm_of(atom.parts[0])
            if inner is not None:
                return n.power(inner, 2 * size)
        return n.power(self.atom(atom), size)

    def norm_of(self, tensor: Tensor) -> Form | None:
        """norm(u) if the tensor is the sum of the squares of u."""
        if len(tensor.terms) != 1 or tensor.axes:
            return None
        (term,) = tensor.terms
        if not term.factors or any(f.power % 2 for f in term.factors) or term.number != 1:
            return None
        roots = tuple(Factor(f.atom, f.indices, f.power / 2) for f in term.factors)
        inside = list(dict.fromkeys(i for f in roots for i in f.indices))
        if not 1 <= len(inside) <= 2:
            return None
        shown = self._sum(Tensor(tuple(inside), (Term(Fraction(1), roots),)), inside, whole=False)
        return Form("norm", (shown,), 0) if shown.ndim == len(inside) else None

    # Atoms.
    def atom(self, atom: Atom) -> Form:
        """An atom over its own axes."""
        known = self._atoms.get(atom)
        if known is None:
            known = self._written(atom)
            if atom.symmetric and not known.symmetric:
                known = replace(known, symmetric=True)
            self._atoms[atom] = known
        return known

    def _written(self, atom: Atom) -> Form:
        ndim = len(atom.axes)
        match atom.kind:
            case "variable":
                return n.name(atom.data, ndim)
            case "number":
                return Form("pi", (), 0, atom.data)
            case "size":
                return Form("size", (), 0, atom.data)
            case "unit" | "select":
                return Form(atom.kind, (self.size(atom.axes[-1]),), ndim, atom.data)
            case "tril" | "reverse":
                return Form(atom.kind, (self.size(atom.axes[0]),), 2)
            case "onehot":
                return Form("onehot", (self.form(atom.parts[0]), self.size(atom.axes[1])), 2)
            case "constant":
                return Form("constant", (), ndim, atom.data)
            case "sum" | "ratio" | "adjoint":
                tensor = self.space.safe.get(atom, atom.parts[0])
                return self._sum(Tensor(atom.axes, tensor.terms), atom.axes, whole=True)
            case "function":
                return self._function(atom)
        return self._operation(atom)

    def _function(self, atom: Atom) -> Form:
        name, _ = atom.data
        parts = [self._sum(Tensor(atom.axes, p.terms), atom.axes, whole=len(atom.parts) == 1) for p in atom.parts]
        return n.call(name, parts, len(atom.axes))

    def _operation(self, atom: Atom) -> Form:
        name, params, shape, *_ = atom.data
        if name == "inv" and len(shape) == 2:
            parts = [self.form(atom.parts[0])]
        else:
            parts = [shaped(self.form(p), p.axes) for p in atom.parts]
        form = n.call(name, parts, len(shape), params)
        if 1 in shape:
            form = squeezed(form, len(atom.axes), tuple(k for k, size in enumerate(shape) if size == 1))
        return form


def shaped(form: Form, axes: Axes) -> Form:
    """A form with the axes of size 1 that were left out."""
    if all(i is not None for i in axes):
        return form
    if any(axes):
        return Form("expand", (form,), len(axes), tuple(i is not None for i in axes))
    if form.op == "number":
        ones = Form("ones" if form.data else "zeros", (n.ONE,) * len(axes), len(axes))
        return n.product([form, ones]) if form.data else ones
    return Form("reshape", (form,), len(axes), (1,) * len(axes))
