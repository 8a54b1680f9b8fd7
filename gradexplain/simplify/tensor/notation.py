"""Matrix notation as data: expressions of arrays, made by functions that know what is written shorter.

Products broadcast as NumPy does: vectors are rows beside a matrix, `expanded` ones are columns.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from itertools import dropwhile
from typing import Any

from gradexplain.simplify.tensor.interning import Interned

SMALLEST_NAMED = 2  # operations of what gets a name if it occurs several times


def joint_cost(forms: Iterable[Form]) -> int:
    """The operations that are written if what occurs several times is written once."""
    seen: set[Form] = set()

    def walk(form: Form) -> int:
        if form.cost >= SMALLEST_NAMED and form in seen:
            return 0
        seen.add(form)
        return _own_cost(form) + sum(map(walk, form.parts))

    return sum(map(walk, forms))


_forms: Interned[Form] = Interned()


@dataclass(frozen=True, eq=False)
class Form:
    """An expression: what it is (`op`), what it is made of, how many axes it has, and parameters.

    Each is one object, however often it is made: written out, a network of 20 layers has millions of parts.
    """

    op: str
    parts: tuple[Form, ...] = ()
    ndim: int = 0
    data: Any = None
    symmetric: bool = False  # what is known of it; with and without, it is the same expression

    def __new__(
        cls, op: str, parts: tuple[Form, ...] = (), ndim: int = 0, data: Any = None, symmetric: bool = False
    ) -> Form:
        """The expression, if there is one already."""
        key = (op, tuple(map(id, parts)), ndim, data, symmetric)
        return _forms.get(key) or _forms.keep(key, super().__new__(cls))

    @cached_property
    def cost(self) -> int:
        """The operations that are written."""
        return _own_cost(self) + sum(p.cost for p in self.parts)

    @cached_property
    def height(self) -> int:
        """How deep its parts lie."""
        return 1 + max((p.height for p in self.parts), default=0)

    @cached_property
    def _hash(self) -> int:
        return hash((self.op, self.parts, self.ndim, self.data))

    @cached_property
    def _bare(self) -> Form:
        """The expression without what is known of it and its parts."""
        return Form(self.op, tuple(p._bare for p in self.parts), self.ndim, self.data)

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, Form) and self._hash == other._hash and self._bare is other._bare)

    def __hash__(self) -> int:
        return self._hash


def _once(rule: Callable[[Form], Form]) -> Callable[[Form], Form]:
    """A rule that is applied once to each expression, which may be a part of many."""
    kept = f"_{rule.__name__}"

    def known(x: Form) -> Form:
        found: Form | None = x.__dict__.get(kept)
        if found is None:
            found = x.__dict__[kept] = rule(x)
        return found

    known.__doc__ = rule.__doc__
    return known


_INDEXED = 3  # how many operations a sum over indices is as hard to read as, for each of its operands
_FREE = {"name", "number", "size", "expand", "ones", "eye", "constant", "pi"}


def _own_cost(form: Form) -> int:
    if form.op in _FREE:
        is_fraction = form.op == "number" and form.data.denominator != 1
        return int(is_fraction and not is_decimal(form.data))
    if form.op == "add":  # a minus sign behind the first term is no operation of its own
        return len(form.parts) - 1 - sum(p.op == "neg" for p in form.parts[1:])
    if form.op in ("product", "matmul"):
        return len(form.parts) - 1
    return _INDEXED * len(form.parts) if form.op == "einsum" else 1


def is_decimal(number: Fraction) -> bool:
    """Whether a fraction is written as a short decimal."""
    return len(repr(float(number))) <= 6 and Fraction(repr(float(number))) == number


def name(text: str, ndim: int = 0) -> Form:
    """Something with a name."""
    return Form("name", (), ndim, text)


def number(value: Fraction | int) -> Form:
    """A number."""
    return Form("number", (), 0, Fraction(value))


ONE = number(1)


def transposed(x: Form) -> Form:
    """A matrix transposed: products turn round, what is symmetric stays."""
    if x.ndim < 2 or x.op in ("eye", "diag", "reverse") or x.symmetric:
        return x
    if x.op == "T":
        return x.parts[0]
    if x.op == "matmul" and all(p.ndim == 2 for p in x.parts):
        return matmul([transposed(p) for p in reversed(x.parts)])
    if x.op == "outer":
        return Form("outer", x.parts[::-1], 2)
    if x.op in ("ones", "zeros"):
        return Form(x.op, x.parts[::-1], 2)
    if x.op == "product" and (scalars := [p for p in x.parts if p.ndim == 0]):
        rest = [p for p in x.parts if p.ndim]
        return product([*scalars, transposed(product(rest))])
    if x.op == "quotient" and x.parts[1].ndim == 0:
        return quotient(transposed(x.parts[0]), x.parts[1])
    if x.op == "neg":
        return negative(transposed(x.parts[0]))
    return Form("T", (x,), x.ndim)


def turned(x: Form) -> Form:
    """The same as `transposed`, written with one T around the matrix."""
    if x.ndim != 2 or x.op in ("name", "T", "outer", "ones", "zeros", "eye", "diag") or x.symmetric:
        return transposed(x)
    if x.op == "neg":
        return negative(turned(x.parts[0]))
    if x.op == "product" and (scalars := [p for p in x.parts if p.ndim == 0]):
        return product([*scalars, turned(product([p for p in x.parts if p.ndim]))])
    if x.op == "quotient" and x.parts[1].ndim == 0:
        return quotient(turned(x.parts[0]), x.parts[1])
    return Form("T", (x,), 2)


def matmul(parts: Sequence[Form]) -> Form:
    """A chain of matrix products."""
    flat: list[Form] = []
    for p in parts:
        flat += (
            p.parts
            if (p.op == "matmul" and all(q.ndim == 2 for q in p.parts)) or (p.op == "matmul" and p is parts[-1])
            else [p]
        )
    first, last = flat[0].ndim, flat[-1].ndim
    if first == last == 1 and len(flat) > 2:  # a number: x @ A.T @ y is y @ A @ x
        back = [transposed(p) for p in reversed(flat)]
        flat = min((flat, back), key=lambda parts: sum(p.cost for p in parts))
    return flat[0] if len(flat) == 1 else Form("matmul", tuple(flat), first + last - 2)


def product(parts: Iterable[Form]) -> Form:
    """Factors, entry by entry; numbers in front."""
    flat: list[Form] = []
    value = Fraction(1)
    below: list[Form] = []
    for p in parts:
        for q in p.parts if p.op == "product" else [p]:
            if q.op == "quotient" and q.parts[0] == ONE:
                below.append(q.parts[1])
            elif q.op == "number":
                value *= q.data
            elif q.op == "neg":
                value, flat = -value, [*flat, q.parts[0]]
            else:
                flat.append(q)
    if below and flat:
        return quotient(product([number(value), *flat]), product(below))
    arrays = [q for q in flat if q.ndim]
    if len(arrays) == 1 and arrays[0].op == "quotient" and (len(flat) > 1 or abs(value) != 1):
        above, under = arrays[0].parts
        return quotient(product([number(value), *(q for q in flat if not q.ndim), above]), under)
    flat += [quotient(ONE, b) for b in below]
    flat.sort(key=lambda q: (q.ndim > 0 and q.op != "expand") or q.ndim > 0)
    if value == 0:
        return number(0)
    ndim = max((q.ndim for q in flat), default=0)
    if not flat:
        return number(value)
    body = flat[0] if len(flat) == 1 else Form("product", tuple(flat), ndim)
    if abs(value) == 1:
        return body if value > 0 else Form("neg", (body,), ndim)
    if value.numerator in (1, -1) and not is_decimal(value):
        return (
            Form("neg", (quotient(body, number(value.denominator)),), ndim)
            if value < 0
            else quotient(body, number(value.denominator))
        )
    return Form("product", (number(value), *flat), ndim)


def quotient(above: Form, below: Form) -> Form:
    """above/below."""
    if below == ONE:
        return above
    if above.op == "neg":
        return negative(quotient(above.parts[0], below))
    if above.op == "number" and above.data < 0:
        return negative(quotient(number(-above.data), below))
    if above.op == "quotient":
        return quotient(above.parts[0], product([above.parts[1], below]))
    return Form("quotient", (above, below), max(above.ndim, below.ndim))


def negative(x: Form) -> Form:
    """-x."""
    return x.parts[0] if x.op == "neg" else product([number(-1), x])


def power(x: Form, exponent: Fraction) -> Form:
    """x to a constant power."""
    if exponent == 1:
        return x
    if exponent == Fraction(1, 2):
        return Form("root", (x,), x.ndim)
    if x.op == "root" and exponent.denominator == 1 and exponent.numerator % 2 == 0:
        return power(x.parts[0], exponent / 2)
    if exponent.denominator == 2 and exponent.numerator > 2:
        return power(Form("root", (x,), x.ndim), 2 * exponent)
    return Form("power", (x,), x.ndim, exponent)


def is_negative(x: Form) -> bool:
    """Whether a term begins with a minus sign."""
    return x.op == "neg" or (x.op == "number" and x.data < 0) or (x.op == "product" and is_negative(x.parts[0]))


def flipped(x: Form) -> Form | None:
    """-x with the sign put into a difference: -A @ (y - p) is A @ (p - y); None if there is none in x."""
    if x.op == "add" and len(x.parts) == 2 and not is_negative(x.parts[0]) and is_negative(x.parts[1]):
        return replace(x, parts=(negative(x.parts[1]), Form("neg", (x.parts[0],), x.parts[0].ndim)))
    if x.op in ("product", "matmul", "quotient", "T", "outer", "diag", "sum", "mean", "expand"):
        parts = x.parts[:1] if x.op == "quotient" else x.parts
        for k, p in enumerate(parts):
            found = flipped(p)
            if found is not None:
                return replace(x, parts=(*x.parts[:k], found, *x.parts[k + 1 :]))
    return None


@_once
def with_signs_inside(x: Form) -> Form:
    """The expression without minus signs in front of differences."""
    if x.op == "neg":
        found = flipped(x.parts[0])
        if found is not None:
            return with_signs_inside(found)
    if x.op == "add":
        head, *rest = x.parts
        kept = [p if p.op == "neg" else with_signs_inside(p) for p in rest]
        return replace(x, parts=(with_signs_inside(head), *kept))
    return replace(x, parts=tuple(map(with_signs_inside, x.parts))) if x.parts else x


def total(parts: Sequence[Form], ndim: int) -> Form:
    """A sum; those with a minus sign stand behind another."""
    order = list(parts)
    if is_negative(parts[0]):
        order = [*(p for p in parts if not is_negative(p)), *(p for p in parts if is_negative(p))]
    return order[0] if len(order) == 1 else Form("add", tuple(order), ndim)


@_once
def with_statistics(x: Form) -> Form:
    """The expression with variances and standard deviations by their names."""
    parts = tuple(map(with_statistics, x.parts))
    x = x if parts == x.parts else replace(x, parts=parts)
    if x.op == "mean" and x.parts[0].op == "power" and x.parts[0].data == 2:
        whole = _centred(x.parts[0].parts[0], x.data)
        if whole is not None:
            return Form("var", (whole,), x.ndim, x.data)
    if x.op == "root" and x.parts[0].op == "var":
        return replace(x.parts[0], op="std")
    return x


def _centred(u: Form, axes: tuple[int, ...]) -> Form | None:
    """x, if u is x less its mean over the axes."""
    if u.op != "add" or len(u.parts) != 2 or u.parts[1].op != "neg":
        return None
    whole, mean = u.parts[0], u.parts[1].parts[0]
    mean = mean.parts[0] if mean.op == "expand" else mean
    return whole if mean.op == "mean" and mean.parts[0] == whole and mean.data == axes else None


def expanded(x: Form, kept: Sequence[bool]) -> Form:
    """x with axes of size 1 where `kept` is false; axes in front come by themselves."""
    pattern = list(dropwhile(lambda is_kept: not is_kept, kept))
    if all(pattern):
        return x
    reduced = _axes_of_reduction(x)
    missing = tuple(k for k, there in enumerate(pattern) if not there)
    if reduced == missing and x.parts[0].ndim == len(pattern):
        return call(x.data[0], x.parts, len(pattern), (("axis", missing), ("keepdims", True)))
    if x.op == "squeeze" and x.parts[0].ndim == len(pattern) and x.data == missing:
        return x.parts[0]  # max(X, axis=1, keepdims=True) as it was
    return Form("expand", (x,), len(pattern), tuple(pattern))


def _axes_of_reduction(x: Form) -> tuple[int, ...] | None:
    """The axes that a row such as max takes away."""
    params = dict(x.data[1]) if x.op == "row" else {}
    return params["axis"] if params.keys() == {"axis", "keepdims"} and params["keepdims"] is False else None


def summed(x: Form, axes: tuple[int, ...]) -> Form:
    """The sum over axes of x; over a diagonal it is the trace."""
    if x.op == "diagonal":
        return call("trace", x.parts, 0, (("k", 0),))
    if x.op == "product" and len(x.parts) == 2 and len(axes) == 2 and all(p.ndim == 2 for p in x.parts):
        a, b = x.parts
        if (a.op == "T") != (b.op == "T"):
            return call("trace", [matmul([a, b.parts[0]] if b.op == "T" else [b, a.parts[0]])], 0, (("k", 0),))
    return Form("sum", (x,), x.ndim - len(axes), axes)


def call(function: str, parts: Sequence[Form], ndim: int, params: Any = ()) -> Form:
    """A row of the table, applied."""
    return Form("row", tuple(parts), ndim, (function, params))


def subforms(*forms: Form) -> Iterator[Form]:
    """The expressions and all their parts, each once."""
    seen: set[Form] = set()
    waiting = list(reversed(forms))
    while waiting:
        form = waiting.pop()
        if form not in seen:
            seen.add(form)
            yield form
            waiting += reversed(form.parts)


def occurrences(forms: Iterable[Form]) -> Counter[Form]:
    """How often each expression would be written."""
    roots = Counter(forms)
    counts: Counter[Form] = Counter()
    for form in sorted(subforms(*roots), key=lambda f: -f.height):
        counts[form] += roots[form]
        for p in form.parts:
            counts[p] += counts[form]
    return counts


def replaced(form: Form, table: Mapping[Form, Form]) -> Form:
    """The expression with parts replaced."""
    done = dict(table)

    def walk(form: Form) -> Form:
        if form not in done:
            parts = tuple(map(walk, form.parts))
            done[form] = form if parts == form.parts else _with_squares(replace(form, parts=parts))
        return done[form]

    return walk(form)


def _with_squares(x: Form) -> Form:
    """A product in which a name that has come in twice is squared."""
    counts = Counter(p for p in x.parts if p.op == "name") if x.op == "product" else {}
    if max(counts.values(), default=1) == 1:
        return x
    squared = {p: power(p, Fraction(k)) for p, k in counts.items()}
    rest = [squared.pop(p, None) if p in counts else p for p in x.parts]
    parts = tuple(p for p in rest if p is not None)
    return parts[0] if len(parts) == 1 else replace(x, parts=parts)
