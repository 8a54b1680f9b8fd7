"""Inverses and determinants: systems of equations, diagonal matrices, powers, products."""

from __future__ import annotations

from fractions import Fraction

from gradexplain.graph import Node
from gradexplain.simplify.tensor.lowering import Lowering, NotLoweredError, rule
from gradexplain.simplify.tensor.rows import contracted
from gradexplain.simplify.tensor.space import Space
from gradexplain.simplify.tensor.terms import ONE, Factor, Index, Tensor, Term, instance, like


@rule("solve")
def _solve(self: Lowering, node: Node, operands: list[Tensor]) -> Tensor:
    a, b = operands
    lead = "abcdefgh"[: len(a.axes) - 2]
    columns = "z" if len(b.axes) > 1 else ""
    return contracted(self, [inverse(self.space, a), b], [lead + "xy", lead + "y" + columns], lead + "x" + columns)


def inverse(space: Space, a: Tensor) -> Tensor:
    """The inverse of a matrix."""
    i, j = a.axes[-2:]
    if i is None or j is None:
        raise NotLoweredError("a matrix of one entry")
    i.dim.same(j.dim)
    axes = like(a.axes)
    if len(a.axes) == 2 and len(a.terms) == 1 and a.terms[0].number == 1 and len(a.terms[0].factors) == 1:
        (f,) = a.terms[0].factors
        if f.indices == (j, i) and f.power == 1 and not f.atom.symmetric:  # the inverse of A.T is that of A, turned
            found = inverse(space, Tensor((j, i), a.terms))
            return Tensor(found.axes[::-1], found.terms)
    entries = diagonal_of(space, a)
    if entries is not None:
        flipped = space.power(entries, Fraction(-1))
        delta = Factor(space.delta, (i, j), ONE)
        return space.tensor((i, j), [(t.number, [*t.factors, delta]) for t in flipped.terms])
    inner = like(a.axes)
    shape = tuple(1 if i is None else i.dim.size for i in axes)
    part = Tensor(inner, tuple(instance(a, inner)))
    f = space.factor("operation", ("inv", (), shape, (shape,), (None,)), [part], [i for i in axes if i is not None])
    return Tensor(axes, (Term(ONE, (f,)),))


@rule("inv")
def _inv(self: Lowering, node: Node, operands: list[Tensor]) -> Tensor:
    return inverse(self.space, operands[0])


def diagonal_of(space: Space, a: Tensor) -> Tensor | None:
    """The entries of a diagonal matrix; None if it is none."""
    if len(a.axes) != 2 or not a.terms:
        return None
    i, j = a.axes
    if i is None or any(
        not any(f.atom is space.delta and set(f.indices) == {i, j} for f in t.factors) for t in a.terms
    ):
        return None
    terms = [(t.number, [f for f in t.factors if f.atom is not space.delta]) for t in a.terms]
    return space.tensor((i,), terms)


def determinant(space: Space, a: Tensor, size: int, name: str = "det") -> Tensor:
    """The determinant of a matrix, or the logarithm of its size."""
    entries = diagonal_of(space, a)
    if entries is not None:
        return _product(space, entries) if name == "det" else _sum_of_logarithms(space, entries)
    lemma = _with_rank_one(space, a) if name == "det" and space.regular else None
    if lemma is not None:
        return lemma
    atoms = {f.atom for t in a.terms for f in t.factors}
    count = len(a.terms[0].factors) if a.terms else 0
    is_power = len(a.terms) == 1 and len(atoms) == 1 and all(f.power == 1 for f in a.terms[0].factors)
    if is_power and count > 1 and a.terms[0].number == 1 and _is_square(next(iter(atoms)).axes, size):
        (atom,) = atoms
        axes = like(atom.axes)
        inner = Tensor(axes, (Term(ONE, (Factor(atom, tuple(i for i in axes if i is not None), ONE),)),))
        one = _whole(space, inner, size, name)
        if name == "det":
            return space.power(one, Fraction(count))
        return space.scaled(one, Fraction(count))
    return _whole(space, a, size, name)


def _with_rank_one(space: Space, a: Tensor) -> Tensor | None:
    """The determinant lemma: det(diag(d) + outer(u, v)) is prod(d)*(1 + v @ (u/d)), where no d is 0."""
    if len(a.axes) != 2 or len(a.terms) < 2:
        return None
    i, j = a.indices
    rest = [t for t in a.terms if not any(f.atom is space.delta and set(f.indices) == {i, j} for f in t.factors)]
    if len(rest) != 1 or len(rest) == len(a.terms):
        return None
    (term,) = rest
    if {f.indices for f in term.factors} != {(i,), (j,)}:
        return None
    entries = diagonal_of(space, Tensor(a.axes, tuple(t for t in a.terms if t is not term)))
    if entries is None:
        return None
    (k,) = entries.indices
    moved = [Factor(f.atom, (k,), f.power) for f in term.factors]
    product = space.product((k,), [space.tensor((k,), [(term.number, moved)]), space.power(entries, Fraction(-1))])
    inner = space.tensor((), [(ONE, ()), *((t.number, t.factors) for t in product.terms)])
    return space.product((), [_product(space, entries), inner])


def _is_square(axes: tuple[Index, ...], size: int) -> bool:
    return len(axes) == 2 and all(i.dim.size == size for i in axes)


def _whole(space: Space, a: Tensor, size: int, name: str) -> Tensor:
    axes = like(a.axes)
    part = Tensor(axes, tuple(instance(a, axes)))
    f = space.factor("operation", (name, (), (), ((size, size),), (None,)), [part], [])
    return Tensor((), (Term(ONE, (f,)),))


def _product(space: Space, entries: Tensor) -> Tensor:
    if all(t == Term(ONE, ()) for t in entries.terms):
        return Tensor((), (Term(ONE, ()),))
    (i,) = entries.indices
    params = (("axis", (0,)), ("keepdims", False))
    axes = like(entries.axes)
    part = Tensor(axes, tuple(instance(entries, axes)))
    f = space.factor("operation", ("prod", params, (), ((i.dim.size,),), (None,)), [part], [])
    return Tensor((), (Term(ONE, (f,)),))


def _sum_of_logarithms(space: Space, entries: Tensor) -> Tensor:
    f = space.factor("function", ("log", (None,)), [entries], entries.indices)
    return space.tensor((), [(ONE, [f])])


@rule("det", "logdet")
def _det(self: Lowering, node: Node, operands: list[Tensor]) -> Tensor:
    if len(operands[0].axes) != 2 or None in operands[0].axes:
        return self.operation(node, operands)
    return determinant(self.space, operands[0], node.inputs[0].shape[0], node.op.name)


@rule("cofactor")
def _cofactor(self: Lowering, node: Node, operands: list[Tensor]) -> Tensor:
    """det(A) inv(A).T, which is meant where A is regular."""
    (a,) = operands
    if len(a.axes) != 2 or None in a.axes or not self.space.regular:
        return self.operation(node, operands)
    turned = inverse(self.space, a)
    axes = turned.axes[::-1]
    det = determinant(self.space, a, node.shape[0])
    return self.space.product(axes, [Tensor(axes, turned.terms), Tensor(axes, det.terms)])


@rule("product_of_others")
def _others(self: Lowering, node: Node, operands: list[Tensor]) -> Tensor:
    """The product of all entries over each, which is meant where no entry is 0."""
    (x,) = operands
    if len(x.axes) != 1 or None in x.axes or not self.space.regular:
        return self.operation(node, operands)
    below = self.space.power(x, Fraction(-1))
    return self.space.product(x.axes, [Tensor(x.axes, _product(self.space, x).terms), below])


def split(space: Space, tensor: Tensor) -> Tensor:
    """The tensor with inverses of products as products of inverses: inv(A @ B) is inv(B) @ inv(A)."""
    terms = []
    for term in tensor.terms:
        number, factors = term.number, []
        for f in term.factors:
            parts = _inverses(space, f)
            number *= parts[0]
            factors += parts[1]
        terms.append((number, factors))
    return space.tensor(tensor.axes, terms)


def _inverses(space: Space, f: Factor) -> tuple[Fraction, list[Factor]]:
    if f.atom.kind != "operation" or f.atom.data[0] != "inv" or f.power != 1 or len(f.indices) != 2:
        return ONE, [f]
    part = f.atom.parts[0]
    if len(part.terms) != 1 or len(part.terms[0].factors) < 2:
        return ONE, [f]
    (term,) = part.terms
    size = f.indices[0].dim.size
    rest = list(term.factors)
    at, end = part.indices
    chain: list[tuple[Factor, bool]] = []
    while rest:
        g = next((g for g in rest if at in g.indices), None)
        if g is None or g.power != 1 or not _is_square(g.indices, size) or g.indices[0] is g.indices[1]:
            return ONE, [f]
        rest.remove(g)
        chain.append((g, g.indices[0] is at))
        at = g.indices[1] if g.indices[0] is at else g.indices[0]
    if at is not end:
        return ONE, [f]
    i, j = f.indices
    stations = [i, *(Index(i.dim) for _ in chain[1:]), j]
    out = []
    for k, (g, straight) in enumerate(reversed(chain)):
        axes = like(g.atom.axes)
        inner = Tensor(axes, (Term(ONE, (Factor(g.atom, tuple(x for x in axes if x is not None), ONE),)),))
        turned = inverse(space, inner)
        places = (stations[k], stations[k + 1]) if straight else (stations[k + 1], stations[k])
        (moved,) = instance(turned, places)
        out += list(moved.factors)
    return 1 / term.number, out
