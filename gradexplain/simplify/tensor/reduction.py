"""From the normal form to matrix notation: a term is a graph of indices, which is reduced until the axes are left.

Factors with one index are pendants, factors with two are edges. What stands on the same indices is multiplied; a summed
index on one factor is a sum over an axis, on two a matrix product. What can't be reduced becomes an einsum.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from gradexplain.simplify.tensor import entries
from gradexplain.simplify.tensor import notation as n
from gradexplain.simplify.tensor.notation import Form
from gradexplain.simplify.tensor.terms import Index, Term

if TYPE_CHECKING:
    from gradexplain.simplify.tensor.writing import Writer

_SURELY_A_MEAN = 3  # from this length on, a sum over a number that happens to be the length is read as a mean
_LETTERS = "ijklmnpqrstuvabcdefgh"


@dataclass(eq=False)
class Item:
    """Part of a term: a product of forms over the same indices, divided by others."""

    indices: tuple[Index, ...]
    above: list[Form]
    below: list[Form] = field(default_factory=list)

    @property
    def form(self) -> Form:
        """The product as one expression."""
        above = n.product(self.above) if self.above else n.ONE
        return n.quotient(above, n.product(self.below)) if self.below else above


def picking(form: Form) -> Any:
    """The key that a unit vector, or a matrix of zeros and ones, stands for."""
    if form.op == "unit":
        return form.data[0]
    if form.op == "onehot":
        return form.parts[0]
    return form.data[4]


def _line(u: Item) -> str:
    """What a matrix of zeros and ones does to the entries in a line: adds them up, or turns them round; else ""."""
    if len(u.above) != 1 or u.below:
        return ""
    form = u.above[0].parts[0] if u.above[0].op == "T" else u.above[0]
    return form.op if form.op in ("tril", "reverse") else ""


def _counted(forms: list[Form]) -> list[Form]:
    """Sizes that are there several times as powers."""
    counts = Counter(f for f in forms if f.op == "size")
    return [*(n.power(f, Fraction(k)) for f, k in counts.items()), *(f for f in forms if f.op != "size")]


def _separate(x: Item) -> list[Form]:
    """The factors of a part as operands of an einsum: together where one of them broadcasts."""
    return [x.form] if x.below or any(f.ndim != len(x.indices) for f in x.above) else x.above


class Reduction:
    """Reduces terms; the writer knows what their factors look like."""

    def __init__(self, writer: Writer) -> None:
        self.writer = writer

    def term(self, term: Term, axes: Sequence[Index]) -> tuple[Form, set[int]]:
        """A term as a form that broadcasts to the axes, and the numbers of the axes that it has."""
        items, scalars = self._items(term, axes)
        number = self._reduce(items, scalars, axes, term.number)
        items = [x for x in items if x.indices]
        has = {k for k, i in enumerate(axes) if any(i in x.indices for x in items)}
        body = self._joined(items, axes)
        scalars.below = _counted(self.writer.in_short(scalars.below))
        scalars.above = _counted(self.writer.in_short(scalars.above))
        above = [n.number(number), *scalars.above, *([body] if body is not None else [])]
        if scalars.below:
            front = Fraction(number.numerator)
            below = (
                [n.number(number.denominator), *scalars.below]
                if number.denominator != 1 and not n.is_decimal(number)
                else scalars.below
            )
            above = [n.number(front if below is not scalars.below else number), *above[1:]]
            return n.quotient(n.product(above), n.product(below)), has
        return n.product(above), has

    def _items(self, term: Term, axes: Sequence[Index]) -> tuple[list[Item], Item]:
        items: list[Item] = []
        scalars = Item((), [])
        for f in term.factors:
            form = self.writer.factor(f)
            indices = f.indices
            if len(set(indices)) < len(indices):
                form, indices = self._diagonal(form, indices)
            if f.atom.kind == "size" and f.power.denominator == 1:
                (scalars.above if f.power > 0 else scalars.below).extend([self.writer.atom(f.atom)] * abs(int(f.power)))
                continue
            side = scalars if not indices else Item(indices, [])
            (side.above if f.power > 0 else side.below).append(form)
            if indices:
                items.append(side)
        return items, scalars

    def _diagonal(self, form: Form, indices: tuple[Index, ...]) -> tuple[Form, tuple[Index, ...]]:
        left = tuple(dict.fromkeys(indices))
        if len(indices) == 2:
            return entries.diagonal(form), left
        return self._einsum([(form, indices)], left), left

    def _einsum(self, operands: Sequence[tuple[Form, tuple[Index, ...]]], output: Sequence[Index]) -> Form:
        letters: dict[Index, str] = {}
        for i in [*output, *(j for _, js in operands for j in js)]:
            letters.setdefault(i, _LETTERS[len(letters)])
        left = ",".join("".join(letters[i] for i in js) for _, js in operands)
        text = f"{left}->{''.join(letters[i] for i in output)}"
        return Form("einsum", tuple(form for form, _ in operands), len(output), text)

    # The reduction.
    def _reduce(self, items: list[Item], scalars: Item, axes: Sequence[Index], number: Fraction) -> Fraction:
        free = set(axes)
        while True:
            self._merge(items)
            if self._picked(items, free) or self._padded(items, free) or self._accumulated(items, free):
                continue
            bound = list(dict.fromkeys(i for x in items for i in x.indices if i not in free))
            if not bound:
                return number
            step = self._matrix_product(items, bound, free) or self._axis_sum(items, bound, free)
            if step is None:
                self._fall_back(items, axes)
                continue
            form, indices, used, lost = step
            for x in used:
                items.remove(x)
            if lost:
                number, form = self._mean(form, lost, number, scalars)
            if indices:
                items.append(Item(indices, [form]))
            else:
                scalars.above.append(form)

    def _picked(self, items: list[Item], free: set[Index]) -> bool:
        """x times a unit vector is an entry of x, a slice of zeros and ones times x a slice of x."""
        for u in items:
            if len(u.above) != 1 or u.below or u.above[0].op not in ("unit", "select", "onehot"):
                continue
            i = u.indices[-1]
            users = [x for x in items if x is not u and i in x.indices]
            if i in free or not users or any(x.above[0].op in ("unit", "select", "onehot") for x in users if x.above):
                continue
            key = picking(u.above[0])
            for x in users:
                at = x.indices.index(i)
                x.above = [entries.picked(f, at, key) for f in x.above]
                x.below = [entries.picked(f, at, key) for f in x.below]
                x.indices = (*x.indices[:at], *u.indices[:-1], *x.indices[at + 1 :])
            items.remove(u)
            return True
        return False

    def _padded(self, items: list[Item], free: set[Index]) -> bool:
        """The transpose of a slice fills up with zeros."""
        for u in items:
            if len(u.above) != 1 or u.below or u.above[0].op != "select" or u.above[0].data[1] != 1:
                continue
            out, i = u.indices
            users = [x for x in items if x is not u and out in x.indices]
            if out in free or len(users) != 1 or i in users[0].indices or i not in free:
                continue
            (x,) = users
            start, _, count, size, _ = u.above[0].data
            at = x.indices.index(out)
            widths = tuple((start, size - start - count) if k == at else (0, 0) for k in range(len(x.indices)))
            form = entries.padded(x.form, widths)
            items.remove(u)
            x.above, x.below = [form], []
            x.indices = (*x.indices[:at], i, *x.indices[at + 1 :])
            return True
        return False

    def _accumulated(self, items: list[Item], free: set[Index]) -> bool:
        """Ones on and below the diagonal times x are the sums up to each entry; turned round, from each entry on."""
        for u in items:
            kind = _line(u)
            if not kind or u.indices[0] is u.indices[1]:
                continue
            out, own = u.indices[::-1] if u.above[0].op == "T" else u.indices
            for bound, left in ((own, out), (out, own)):
                users = [x for x in items if x is not u and bound in x.indices]
                if bound in free or len(users) != 1 or _line(users[0]) or users[0].indices.count(bound) > 1:
                    continue
                (x,) = users
                if any(i is not bound and (i not in free or i is left) for i in x.indices):
                    continue  # the matrix product comes first
                at = x.indices.index(bound)
                turned = entries.reversed_along(x.form, at) if kind == "reverse" else None
                x.above, x.below = [turned or entries.accumulated(x.form, at, backwards=bound is out)], []
                x.indices = (*x.indices[:at], left, *x.indices[at + 1 :])
                items.remove(u)
                return True
        return False

    def _mean(self, form: Form, lost: Sequence[Index], number: Fraction, scalars: Item) -> tuple[Fraction, Form]:
        """(1/n) times a sum over n is a mean."""
        size = Fraction(1)
        named: list[Form] = []
        for i in lost:
            more, factors = self.writer.space.size(i.dim)
            size *= more
            named += [self.writer.atom(f.atom) for f in factors]
        if any(scalars.below.count(f) < named.count(f) for f in named):
            return number, form
        if not named and (size < _SURELY_A_MEAN or number.denominator % size):
            return number, form
        for f in named:
            scalars.below.remove(f)
        return number * size, Form("mean", form.parts, form.ndim, form.data)

    def _merge(self, items: list[Item]) -> None:
        """Multiplies what stands on the same indices."""
        at = 0
        while at < len(items):
            x = items[at]
            for y in items[at + 1 :]:
                if len(y.indices) == len(x.indices) and set(y.indices) == set(x.indices):
                    turned = [self._turned(f, y.indices, x.indices) for f in y.above]
                    x.above += turned
                    x.below += [self._turned(f, y.indices, x.indices) for f in y.below]
                    items.remove(y)
            at += 1

    def _turned(self, form: Form, indices: Sequence[Index], wanted: Sequence[Index]) -> Form:
        """A form with its axes in another order."""
        if tuple(indices) == tuple(wanted):
            return form
        if len(wanted) == 2:
            return n.transposed(form)
        order = tuple(list(indices).index(i) for i in wanted)
        return Form("permute", (form,), form.ndim, order)

    def _matrix_product(
        self, items: list[Item], bound: Sequence[Index], free: set[Index]
    ) -> tuple[Form, tuple[Index, ...], list[Item], list[Index]] | None:
        """Two factors that share one summed index alone, both of at most two axes: the smallest result first.

        Of equally small ones, that which is written elsewhere as well.
        """
        best: tuple[tuple[int, bool, bool, int], Item, Item, Index] | None = None
        for i in bound:
            users = [x for x in items if i in x.indices]
            pendants = [x for x in users if len(x.indices) == 1]
            if len(users) == 3 and len(pendants) == 1:
                edge = min((x for x in users if x not in pendants), key=lambda x: len(x.indices))
                self._scale(items, pendants[0], edge)
                users = [x for x in items if i in x.indices]
                pendants = [x for x in users if len(x.indices) == 1]
            if len(users) == 2 and len(pendants) == 1 and not pendants[0].above:
                edge = next(x for x in users if x is not pendants[0])
                if len(edge.above) > 1:
                    self._scale(items, pendants[0], edge)
                    users = []
            if len(users) != 2:
                continue
            x, y = users
            if max(len(x.indices), len(y.indices)) > 2 or len(set(x.indices) & set(y.indices)) > 1:
                continue
            later = bool(_line(x) or _line(y)), not self._is_known(x, y, i)
            order = (len(x.indices) + len(y.indices), *later, items.index(x))
            if best is None or order < best[0]:
                best = (order, x, y, i)
        if best is None:
            return None
        _, x, y, i = best
        form, indices = self._matmul(x, y, i)
        return form, indices, [x, y], []

    def _is_known(self, x: Item, y: Item, i: Index) -> bool:
        if not self.writer.known:
            return False
        made, _ = self._matmul(x, y, i)
        return made in self.writer.known or n.transposed(made) in self.writer.known

    def _matmul(self, x: Item, y: Item, i: Index) -> tuple[Form, tuple[Index, ...]]:
        """The matrix product over an index, and the indices of the result."""
        if (len(y.indices) == 1 and len(x.indices) == 2) or (
            len(x.indices) == 2 and x.indices[0] is not i and x.indices[1] is i
        ):
            left, right = x, y
        elif len(x.indices) == 1 or (len(y.indices) == 2 and y.indices[1] is i and x.indices[0] is i):
            left, right = y, x
        else:
            left, right = x, y
        if len(left.indices) == 1 and len(right.indices) == 2:
            left, right = right, left
        a = left.form if len(left.indices) == 1 or left.indices[1] is i else n.transposed(left.form)
        b = right.form if right.indices[0] is i else n.transposed(right.form)
        indices = tuple(j for z in (left, right) for j in z.indices if j is not i)
        return n.matmul([a, b]), indices

    def _scale(self, items: list[Item], pendant: Item, edge: Item) -> None:
        """A vector times the rows or columns of a matrix."""
        kept = [j in pendant.indices for j in edge.indices]
        edge.above[:0] = [n.expanded(f, kept) for f in pendant.above]
        edge.below += [n.expanded(f, kept) for f in pendant.below]
        items.remove(pendant)

    def _axis_sum(
        self, items: list[Item], bound: Sequence[Index], free: set[Index]
    ) -> tuple[Form, tuple[Index, ...], list[Item], list[Index]] | None:
        """All summed indices that stand on one factor alone."""
        for x in items:
            lone = [i for i in x.indices if i in bound and sum(i in y.indices for y in items) == 1]
            if lone:
                axes = tuple(k for k, i in enumerate(x.indices) if i in lone)
                left = tuple(i for i in x.indices if i not in lone)
                if not left and len(x.above) == 2 and not x.below and len(x.indices) == 1:
                    a, b = x.above
                    return n.matmul([a, b]), (), [x], []
                if (
                    not left
                    and len(x.above) == 1
                    and not x.below
                    and len(x.indices) == 1
                    and x.above[0].op == "power"
                    and x.above[0].data == 2
                ):
                    root = x.above[0].parts[0]
                    if root.op == "name":
                        return n.matmul([root, root]), (), [x], []
                return n.summed(x.form, axes), left, [x], lone
        return None

    def _fall_back(self, items: list[Item], axes: Sequence[Index]) -> None:
        """What shares summed indices in no simpler way: one einsum."""
        free = set(axes)
        bound = next(i for x in items for i in x.indices if i not in free)
        group = {bound}
        while True:
            more = {j for x in items if group & set(x.indices) for j in x.indices if j not in free} | group
            if more == group:
                break
            group = more
        used = [x for x in items if group & set(x.indices)]
        output = tuple(i for i in axes if any(i in x.indices for x in used))
        operands = [(f, x.indices) for x in used for f in _separate(x)]
        for x in used:
            items.remove(x)
        items.append(Item(output, [self._einsum(operands, output)]))

    def _joined(self, items: list[Item], axes: Sequence[Index]) -> Form | None:
        """Factors over free indices as one form in the order of the axes."""
        if not items:
            return None
        deltas = [x for x in items if any(f.op == "eye" for f in x.above)]
        if deltas and len(items) == 2 and len(deltas) == 1 and not deltas[0].below and len(deltas[0].above) == 1:
            (delta,) = deltas
            (other,) = [x for x in items if x is not delta]
            if len(other.indices) == 1 and other.indices[0] in delta.indices:
                return Form("diag", (other.form,), 2)
        if len(items) == 1:
            x = items[0]
            order = tuple(i for i in axes if i in x.indices)
            form = self._turned(x.form, x.indices, order)
            return n.expanded(form, [i in order for i in axes])
        singles = [x for x in items if len(x.indices) == 1]
        if len(items) == len(singles) == 2:
            first, second = sorted(items, key=lambda x: list(axes).index(x.indices[0]))
            present = [i in (first.indices[0], second.indices[0]) for i in axes]
            return n.expanded(Form("outer", (first.form, second.form), 2), present)
        if len(singles) == len(items) - 1 and max(len(x.indices) for x in items) == len(
            {i for x in items for i in x.indices}
        ):
            whole = max(items, key=lambda x: len(x.indices))
            order = tuple(i for i in axes if i in whole.indices)
            above = [self._turned(f, whole.indices, order) for f in whole.above]
            below = [self._turned(f, whole.indices, order) for f in whole.below]
            for x in singles:
                kept = [i in x.indices for i in order]
                above = [*(n.expanded(f, kept) for f in x.above), *above]
                below += [n.expanded(f, kept) for f in x.below]
            form = Item(order, above, below).form
            return n.expanded(form, [i in order for i in axes])
        used = [i for i in axes if any(i in x.indices for x in items)]
        operands = [(x.form, x.indices) for x in items]
        return n.expanded(self._einsum(operands, used), [i in used for i in axes])
