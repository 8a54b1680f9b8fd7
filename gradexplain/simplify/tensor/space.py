"""The atoms of one explanation, each once, and arithmetic with tensors over them: everything here is in normal form."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from gradexplain.simplify.tensor.keys import PINNED, tensor_key, term_key
from gradexplain.simplify.tensor.terms import (
    ONE,
    Atom,
    Axes,
    Dim,
    Factor,
    Index,
    Tensor,
    Term,
    indices_of,
    instance,
    renamed,
)


@dataclass
class Space:
    """The atoms of one explanation."""

    atoms: dict[Any, Atom] = field(default_factory=dict)
    facts: Mapping[str, frozenset[str]] = field(default_factory=dict)
    delta: Atom = field(init=False)
    regular: bool = True  # whether determinants, entries of products, … may be taken as different from 0
    named: Mapping[Dim, Any] = field(default_factory=dict)  # the sizes that have names
    safe: dict[Atom, Tensor] = field(default_factory=dict)  # ratios as the program computes them, without an overflow

    def __post_init__(self) -> None:
        dim = Dim(0)
        self.delta = Atom("delta", None, (), (Index(dim), Index(dim)))
        self.delta.symmetric = True

    def of_sizes(self, number: Fraction, powers: Iterable[Any]) -> Tensor:
        """A number that is made of sizes."""
        one = Tensor((), (Term(number, ()),))
        for p in powers:
            plain = Factor(self.atom("size", p.size, [], []), (), ONE)
            terms = [(ONE, [plain]), *([(Fraction(p.shift), [])] if p.shift else [])]
            one = self.product((), [one, self.power(self.tensor((), terms), p.exponent)])
        return one

    def size(self, dim: Dim, power: int = 1) -> tuple[Fraction, tuple[Factor, ...]]:
        """The size of a dimension, as a number or as a factor with a name."""
        named = self.named.get(dim.root)
        if named is not None:
            return ONE, (Factor(self.atom("size", named, [], []), (), Fraction(power)),)
        return Fraction(dim.size) ** power, ()

    def atom(self, kind: str, data: Any, parts: Sequence[Tensor], axes: Sequence[Index]) -> Atom:
        """The atom of this definition; `axes` are the indices of the result, in order."""
        places = {i: n for n, i in enumerate(axes)}
        key = (kind, data, tuple(tensor_key(p, places) for p in parts), tuple(i.dim.size for i in axes))
        found = self.atoms.get(key)
        if found is None:
            found = self.atoms[key] = Atom(kind, data, tuple(parts), tuple(axes))
            for part in parts:
                for term in part.terms:
                    for f in term.factors:
                        found.hot |= f.atom.hot
                        found.units |= f.atom.units
            if kind == "unit":
                found.units = frozenset({data})
            found.symmetric = self._is_symmetric(found)
        else:
            for i, j in zip(axes, found.axes, strict=True):
                j.dim.same(i.dim)
        return found

    def known_sum(self, tensor: Tensor, axes: Sequence[Index]) -> Atom | None:
        """The sum atom with this definition, if there is one."""
        key = (tensor_key(tensor, {i: n for n, i in enumerate(axes)}),)
        return self.atoms.get(("sum", None, key, tuple(i.dim.size for i in axes)))

    def same(self, a: Tensor, b: Tensor) -> bool:
        """Whether two tensors are the same over their axes."""
        keys = [tensor_key(t, {i: n for n, i in enumerate(t.indices)}) for t in (a, b)]
        return len(a.indices) == len(b.indices) and bool(keys[0] == keys[1])

    def _is_symmetric(self, atom: Atom) -> bool:
        if len(atom.axes) != 2 or atom.axes[0].dim.size != atom.axes[1].dim.size:
            return False
        if atom.kind == "operation" and atom.data[0] in ("inv", "pinv"):
            inner = atom.parts[0]
            a, b = inner.indices
            return bool(tensor_key(inner, {a: 0, b: 1}) == tensor_key(inner, {a: 1, b: 0}))
        if atom.kind not in ("sum", "function"):
            return False
        a, b = atom.axes
        return all(tensor_key(p, {a: 0, b: 1}) == tensor_key(p, {a: 1, b: 0}) for p in atom.parts)

    def factor(self, kind: str, data: Any, parts: Sequence[Tensor], axes: Sequence[Index]) -> Factor:
        """The factor of an atom over these axes; a matrix that is known turned round is that one."""
        if kind in ("sum", "function", "adjoint") and len(axes) == 2:
            turned = tuple(axes[::-1])
            parts_turned = [Tensor(p.axes[::-1], p.terms) for p in parts]
            places = {i: n for n, i in enumerate(turned)}
            key = (kind, data, tuple(tensor_key(p, places) for p in parts), tuple(i.dim.size for i in turned))
            if key in self.atoms:
                return Factor(self.atom(kind, data, parts_turned, turned), turned, ONE)
        return Factor(self.atom(kind, data, parts, axes), tuple(axes), ONE)

    def tensor(self, axes: Axes, terms: Iterable[tuple[Fraction, Sequence[Factor]]], *, given: Any = None) -> Tensor:
        """A tensor in normal form: equal terms collected, zeros dropped."""
        free = {i: n for n, i in enumerate(axes) if i is not None}
        found: dict[Any, Term] = {}
        terms = list(terms)
        for _, factors in terms:
            free.update({i: PINNED + i.serial for i in indices_of(factors) if i.pinned and i not in free})
        for number, factors in terms:
            for term in self.normal(Fraction(number), factors, free):
                key = term_key(term, free)
                total = term.number + (found[key].number if key in found else 0)
                if total:
                    found[key] = Term(total, found[key].factors if key in found else term.factors)
                else:
                    found.pop(key, None)
        return Tensor(axes, tuple(found.values()))

    def normal(self, number: Fraction, factors: Sequence[Factor], free: Mapping[Index, int]) -> list[Term]:
        """A term without needless deltas and equal factors; a sum that stands alone becomes several terms."""
        before = indices_of(factors)
        listed, gone = self._without_deltas(factors, free)
        merged = self._merged(listed)
        out = without_inverses(merged, free, self.delta)
        again = len(out) < len(merged)
        if again:
            gone |= indices_of(merged).keys() - indices_of(out).keys()
        else:
            scale, out, again = _inlined(merged)
            number *= scale
        gone |= {i for i in before if again and i not in indices_of(listed)}
        present = indices_of(out)
        for i in before:
            if i not in free and i not in gone and i not in present:
                more, named = self.size(i.dim)
                number *= more
                out += named
                again |= bool(named)
        if again:
            return self.normal(number, out, free)
        if len(out) == 1 and out[0].atom.kind == "sum" and out[0].power == 1 and set(out[0].indices) <= set(free):
            terms = instance(out[0].atom.parts[0], out[0].indices)
            return [t for term in terms for t in self.normal(number * term.number, term.factors, free)]
        return [Term(number, tuple(out))]

    def _without_deltas(self, factors: Sequence[Factor], free: Mapping[Index, int]) -> tuple[list[Factor], set[Index]]:
        """Factors in which the indices that deltas make equal have one name; and the names that are gone."""
        listed = list(factors)
        gone: set[Index] = set()
        at = 0
        while at < len(listed):
            f = listed[at]
            at += 1
            if f.atom is not self.delta:
                continue
            i, j = f.indices
            rest = [g for g in listed if g is not f]
            if i is not j:
                i.dim.same(j.dim)
                keep, drop = (i, j) if j not in free else (j, i)
                if drop in free:
                    keep, drop = sorted((i, j), key=lambda x: free[x])
                    if not any(drop in g.indices for g in rest):
                        continue
                    rest.append(f)
                    rest = [g if g is f else renamed([g], {drop: keep})[0] for g in rest]
                else:
                    gone.add(drop)
                    rest = list(renamed(rest, {drop: keep}))
            listed, at = rest, 0
        return listed, gone

    def _merged(self, factors: Sequence[Factor]) -> list[Factor]:
        """Each atom once on the same indices."""
        merged: dict[Any, Factor] = {}
        for f in factors:
            indices = tuple(sorted(f.indices, key=lambda i: i.serial)) if f.atom.symmetric else f.indices
            known = merged.get((f.atom, indices))
            power = f.power + (known.power if known else 0)
            if f.atom is self.delta or ("mask" in self.known(f.atom) and power > 1):
                power = ONE
            elif "sign" in self.known(f.atom) and power.denominator == 1:
                power = Fraction(power.numerator % 2)
            if power:
                merged[(f.atom, indices)] = Factor(f.atom, indices, power)
            else:
                merged.pop((f.atom, indices), None)
        return list(merged.values())

    def known(self, atom: Atom) -> frozenset[str]:
        """The facts about a variable or a function's values."""
        if atom.kind == "variable":
            facts = self.facts.get(atom.data, frozenset())
            return facts | {"mask"} if "onehot" in facts else facts
        if atom.kind == "function" and atom.data[0] == "as_number":
            return frozenset({"mask"})
        if atom.kind == "function" and atom.data[0] == "sign":
            return frozenset({"sign"})
        if atom.kind == "onehot":
            return frozenset({"onehot", "mask"})
        return frozenset()

    def wrapped(self, tensor: Tensor) -> Term:
        """A tensor as one term: a sum of several becomes an atom."""
        if len(tensor.terms) == 1:
            return tensor.terms[0]
        if not tensor.terms:
            return Term(Fraction(0), ())
        number = content([t.number for t in tensor.terms])
        present = dict.fromkeys(i for t in tensor.terms for f in t.factors for i in f.indices)
        axes = [i for i in tensor.indices if i in present]
        axes += [i for i in present if i.pinned and i not in axes]
        places = {i: n for n, i in enumerate(axes)}
        sizes = tuple(i.dim.size for i in axes)
        for scale in (number, -number):
            inner = Tensor(tuple(axes), tuple(Term(t.number / scale, t.factors) for t in tensor.terms))
            keys = [(("sum", None, (tensor_key(inner, places),), sizes))]
            if len(axes) == 2:
                back = {i: 1 - n for i, n in places.items()}
                keys.append(("sum", None, (tensor_key(inner, back),), sizes[::-1]))
            if any(key in self.atoms for key in keys):
                return Term(scale, (self.factor("sum", None, [inner], axes),))
        inner = Tensor(tuple(axes), tuple(Term(t.number / number, t.factors) for t in tensor.terms))
        return Term(number, (self.factor("sum", None, [inner], axes),))

    def product(self, axes: Axes, tensors: Sequence[Tensor]) -> Tensor:
        """The product of tensors over the same axes."""
        number = ONE
        factors: list[Factor] = []
        for t in tensors:
            (term,) = instance(Tensor(t.axes, (self.wrapped(t),)), axes)
            number *= term.number
            factors += term.factors
        return self.tensor(axes, [(number, factors)])

    def total(self, axes: Axes, tensors: Sequence[Tensor], signs: Sequence[int]) -> Tensor:
        """The sum of tensors over the same axes."""
        terms = [(s * t.number, t.factors) for x, s in zip(tensors, signs, strict=True) for t in instance(x, axes)]
        return self.tensor(axes, terms)

    def scaled(self, tensor: Tensor, number: Fraction) -> Tensor:
        """A tensor times a number."""
        if len(tensor.terms) > 1:
            term = self.wrapped(tensor)
            return Tensor(tensor.axes, (Term(term.number * number, term.factors),))
        return Tensor(tensor.axes, tuple(Term(t.number * number, t.factors) for t in tensor.terms if number))

    def power(self, tensor: Tensor, exponent: Fraction) -> Tensor:
        """A tensor to a constant power, entry by entry."""
        term = self.wrapped(tensor)
        used = indices_of(term.factors)
        free = {*tensor.indices, *(i for i in used if i.pinned)}
        inner = set(used) <= free
        if not term.factors and exponent.denominator == 1:
            return self.tensor(tensor.axes, [(term.number ** int(exponent), ())])
        if inner and exponent.denominator == 1:
            factors = [Factor(f.atom, f.indices, f.power * exponent) for f in term.factors]
            return self.tensor(tensor.axes, [(term.number ** int(exponent), factors)])
        if len(term.factors) == 1 and inner and term.number == 1 and (f := term.factors[0]).power == 1:
            return self.tensor(tensor.axes, [(ONE, [Factor(f.atom, f.indices, exponent)])])
        axes = [i for i in free if i in used]
        number, root = ONE, root_of(term.number, exponent)
        if root is not None:
            number, term = root, Term(ONE, term.factors)
        f = self.factor("sum", None, [Tensor(tuple(axes), (term,))], axes)
        return Tensor(tensor.axes, (Term(number, (Factor(f.atom, f.indices, exponent),)),))


def _inlined(factors: Sequence[Factor]) -> tuple[Fraction, list[Factor], bool]:
    """Factors with the sums of one term written out, the number in front, and whether there were any."""
    number, found = ONE, False
    out: list[Factor] = []
    for f in factors:
        if f.atom.kind == "sum" and len(f.atom.parts[0].terms) == 1:
            (inner,) = instance(f.atom.parts[0], f.indices)
            plain = f.power.denominator == 1 and set(indices_of(inner.factors)) <= set(f.indices)
            if f.power == 1 or plain:
                number *= inner.number ** int(f.power)
                out += [Factor(g.atom, g.indices, g.power * f.power) for g in inner.factors]
                found = True
                continue
        out.append(f)
    return number, out, found


def without_inverses(factors: Sequence[Factor], free: Mapping[Index, int], delta: Atom) -> list[Factor]:
    """A matrix times its inverse is the identity."""
    listed = list(factors)
    for f in factors:
        if f.atom.kind != "operation" or f.atom.data[0] != "inv" or f.power != 1 or len(f.indices) != 2:
            continue
        terms = f.atom.parts[0].terms
        if len(terms) != 1 or len(terms[0].factors) != 1 or terms[0].number != 1:
            continue
        inner = terms[0].factors[0]
        for g in listed:
            if g.atom is not inner.atom or g.power != 1 or g.indices[0] is g.indices[1]:
                continue
            orders = (g.indices, g.indices[::-1]) if g.atom.symmetric else (g.indices,)
            for (i, j), (k, m) in ((f.indices, h) for h in orders):
                pair = (i, m, j) if j is k else (k, j, i) if m is i else None
                if pair is None or pair[2] in free or pair[2].pinned:
                    continue
                if any(pair[2] in h.indices for h in listed if h is not f and h is not g):
                    continue
                rest = [h for h in listed if h is not f and h is not g]
                return [*rest, Factor(delta, pair[:2], ONE)]
    return listed


def root_of(number: Fraction, exponent: Fraction) -> Fraction | None:
    """A power of a number if that is a fraction."""
    if number <= 0:
        return None
    if exponent.denominator == 1:
        return number ** int(exponent)
    if exponent.denominator == 2:
        p, q = math.isqrt(number.numerator), math.isqrt(number.denominator)
        if p * p == number.numerator and q * q == number.denominator:
            return Fraction(p, q) ** exponent.numerator
    return None


def content(numbers: Sequence[Fraction]) -> Fraction:
    """What is pulled out of a sum: a number that all terms share, with the sign of the first if all are negative."""
    sign = -1 if all(n < 0 for n in numbers) else 1
    sizes = {abs(n) for n in numbers}
    if len(sizes) == 1:
        return sign * sizes.pop()
    if all(n.denominator == 1 for n in numbers):
        return Fraction(sign * math.gcd(*[int(n) for n in numbers]))
    return Fraction(sign)
