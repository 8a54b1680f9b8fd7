"""Picking entries: slices, single entries and rows by number as products with matrices of zeros and ones.

`x[k]` is x times a unit vector, `x[a:b]` a matrix of zeros and ones times x, `E[idx]` one-hot rows times E.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gradexplain.graph import Fixed, Node, variable
from gradexplain.ops import TABLE
from gradexplain.ops.keys import ALL, HOLE, Slice
from gradexplain.simplify.tensor.lowering import Lowering, fresh, rule
from gradexplain.simplify.tensor.terms import ONE, Axes, Dim, Factor, Index, Tensor, Term, instance


@rule("as_index")
def _as_index(self: Lowering, node: Node, operands: list[Tensor]) -> Tensor:
    return operands[0]


@rule("getitem")
def _getitem(self: Lowering, node: Node, operands: list[Tensor]) -> Tensor:
    picked = _picked(self, node, operands)
    return self.operation(node, operands) if picked is None else picked


def _picked(self: Lowering, node: Node, operands: list[Tensor]) -> Tensor | None:
    x, shape = operands[0], node.inputs[0].shape
    pattern: Sequence[Any] = node.params["pattern"]
    arrays = [e for e in pattern if e is HOLE or isinstance(e, Fixed)]
    if arrays:
        return _rows(self, node, operands)
    entries = _spelled(pattern, len(shape))
    if node.size == 0 or any(type(e) not in (Slice, int, type(None)) for e in entries):
        return None
    factors: list[Factor] = []
    inner: list[Index | None] = []
    outer: list[Index | None] = []
    axis = 0
    for e in entries:
        if e is None:
            outer.append(None)
            continue
        i, n = x.axes[axis], shape[axis]
        axis += 1
        if i is None:
            inner.append(None)
            outer += [] if isinstance(e, int) else [None]
            continue
        own = Index(i.dim)
        inner.append(own)
        if isinstance(e, int):
            factors.append(Factor(self.space.atom("unit", (e % n, n), [], [own]), (own,), ONE))
            continue
        start, stop, step = slice(*e).indices(n)
        count = len(range(start, stop, step))
        if (start, step, count) == (0, 1, n):
            outer.append(own)
        elif (step, count) == (-1, n):
            out = Index(i.dim)
            turned = self.space.atom("reverse", None, [], [Index(i.dim), Index(i.dim)])
            turned.symmetric = True
            outer.append(out)
            factors.append(Factor(turned, (out, own), ONE))
        elif step < 1:
            return None
        elif count == 1:
            outer.append(None)
            factors.append(Factor(self.space.atom("unit", (start, n), [], [own]), (own,), ONE))
        else:
            out = Index(Dim(count))
            outer.append(out)
            factors.append(
                Factor(self.space.atom("select", (start, step, count, n, tuple(e)), [], [out, own]), (out, own), ONE)
            )
    term = self.space.wrapped(x)
    if not x.terms:
        return Tensor(fresh(node.shape), ())
    (moved,) = instance(Tensor(x.axes, (term,)), tuple(inner))
    return self.space.tensor(tuple(outer), [(moved.number, [*moved.factors, *factors])])


def _rows(self: Lowering, node: Node, operands: list[Tensor]) -> Tensor | None:
    """Rows (or one entry of each row) by an array of numbers."""
    x, shape, pattern = operands[0], node.inputs[0].shape, node.params["pattern"]
    rest = list(operands[1:])
    numbers: list[Tensor] = []
    for e in pattern:
        if e is HOLE:
            numbers.append(rest.pop(0))
        elif isinstance(e, Fixed) and e.array.dtype.kind in "iu" and e.array.ndim == 1:
            numbers.append(_constant(self, e))
        elif e != Slice(None, None, None):
            return None
    if any(i is None for i in x.axes) or any(len(t.axes) != 1 or t.axes[0] is None for t in numbers) or not x.terms:
        return None
    first = pattern[0]
    if len(numbers) == 1 and not isinstance(first, Slice):
        along, by_row = 0, False
    elif len(pattern) == len(shape) == 2 and isinstance(first, Fixed) and _counts(first, shape[0]):
        along, by_row = 1, True
    else:
        return None
    index = numbers[along if by_row else 0]
    (b,) = index.indices
    axes = tuple(Index(i.dim) for i in x.indices)
    atom_axes = (Index(b.dim), Index(axes[along].dim))
    part = Tensor((atom_axes[0],), tuple(instance(index, (atom_axes[0],))))
    atom = self.space.atom("onehot", shape[along], [part], atom_axes)
    (moved,) = instance(Tensor(x.axes, (self.space.wrapped(x),)), axes)
    row = axes[0] if by_row else Index(b.dim)
    if by_row:
        row.dim.same(b.dim)
    shown: Axes = (row,) if by_row else (row, *axes[1:])
    return self.space.tensor(shown, [(moved.number, [*moved.factors, Factor(atom, (row, axes[along]), ONE)])])


def _counts(e: Fixed, n: int) -> bool:
    return bool(np.array_equal(e.array, np.arange(n)))


def _constant(self: Lowering, e: Fixed) -> Tensor:
    (axis,) = fresh(e.array.shape)
    assert axis is not None
    return Tensor((axis,), (Term(ONE, (self.space.factor("constant", e, [], [axis]),)),))


@rule("cumsum")
def _cumsum(self: Lowering, node: Node, operands: list[Tensor]) -> Tensor:
    """Sums up to each entry: ones on and below the diagonal, times x."""
    (x,) = operands
    at = node.params["axis"] % len(x.axes)
    i = x.axes[at]
    if i is None or not x.terms:
        return x
    own, out = Index(i.dim), Index(i.dim)
    inner = tuple(own if k == at else a for k, a in enumerate(x.axes))
    outer = tuple(out if k == at else a for k, a in enumerate(x.axes))
    (moved,) = instance(Tensor(x.axes, (self.space.wrapped(x),)), inner)
    ones = Factor(self.space.atom("tril", None, [], [Index(i.dim), Index(i.dim)]), (out, own), ONE)
    return self.space.tensor(outer, [(moved.number, [*moved.factors, ones])])


@rule("scatter")
def _scatter(self: Lowering, node: Node, operands: list[Tensor]) -> Tensor:
    """The transpose of picking: what is picked from a variable of this shape, the other way round."""
    g = operands[0]
    shape = node.params["shape"]
    x = variable("x", shape)
    axes = fresh(shape)
    real = [i for i in axes if i is not None]
    probe = self.space.atom("probe", shape, [], [Index(i.dim) for i in real])
    picked = TABLE["getitem"].record(x, *node.inputs[1:], pattern=node.params["pattern"])
    self.known[x] = Tensor(axes, (Term(ONE, (Factor(probe, tuple(real), ONE),)),))
    found = _picked(self, picked, [self.known[x], *operands[1:]])
    if found is None or len(found.terms) != 1 or not g.terms:
        return self.operation(node, operands)
    (term,) = found.terms
    own = next(f for f in term.factors if f.atom is probe)
    rest = [f for f in term.factors if f is not own]
    table = dict(zip(found.axes, g.axes, strict=True))
    if any((i is None) != (j is None) for i, j in table.items()):
        return self.operation(node, operands)
    (moved,) = instance(Tensor(g.axes, (self.space.wrapped(g),)), found.axes)
    result = iter(own.indices)
    shown = tuple(None if n == 1 else next(result) for n in shape)
    return self.space.tensor(shown, [(moved.number, [*moved.factors, *rest])])


def _spelled(pattern: Sequence[Any], rank: int) -> list[Any]:
    """A pattern with an entry for each axis, and those for new axes."""
    count = sum(e is not None and e is not Ellipsis for e in pattern)
    missing = [ALL] * (rank - count)
    at = next((i for i, e in enumerate(pattern) if e is Ellipsis), len(pattern))
    return [*pattern[:at], *missing, *pattern[at + 1 :]]
