"""Where a matrix form has a value: what it divides by, and which matrices it inverts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from gradexplain.simplify.tensor.notation import Form, number, subforms, summed
from gradexplain.simplify.tensor.source import text

_LENGTHS = ("norm", "std", "var")
_NUMBERS = ("number", "size")


def conditions(forms: Iterable[Form], *, regular: bool = True) -> tuple[str, ...]:
    """What must not be 0, in the order in which it is met; `regular` forms hold where one entry is the largest."""
    return tuple(dict.fromkeys(c for part in subforms(*forms) for c in _of(part, regular)))


def _of(form: Form, regular: bool) -> Iterator[str]:
    if form.op == "quotient":
        above, below = form.parts
        yield from (f"{text(p)} != 0" for p in subforms(below) if p.op in _LENGTHS)
        yield from (c for p in subforms(below) for c in _of_size(p))
        roots = [p for p in subforms(below) if p.op == "root"]
        yield from (
            f"{text(x if x.ndim == 0 else Form('norm', (x,)))} != 0" for p in roots if (x := _squared(p.parts[0]))
        )
        if _has_product(above) and below.ndim:
            yield f"{text(below)} != 0"
    if form.op == "product" and any(map(_has_product, form.parts)):
        yield from (f"{text(q.parts[1])} != 0" for p in form.parts for q in subforms(p) if _divides_by_entries(q))
    if form.op != "row":
        return
    name = form.data[0]
    if name == "inv":
        yield f"det({text(form.parts[0])}) != 0"
    if name in ("as_number", "as_float") and regular:
        yield from _of_ties(form.parts[0])


def _has_product(form: Form) -> bool:
    """Whether the product of all entries is in an expression, which may stand over each of them."""
    return any(p.op == "row" and p.data[0] == "prod" for p in subforms(form))


def _divides_by_entries(form: Form) -> bool:
    return form.op == "quotient" and form.parts[1].ndim > 0


def _of_size(form: Form) -> Iterator[str]:
    """n - 1 is 0 for an axis of one entry."""
    if form.op == "add" and len(form.parts) == 2 and form.parts[0].op == "size" and form.parts[1].op == "number":
        yield f"{text(form.parts[0])} != {text(number(-form.parts[1].data))}"


def _squared(form: Form) -> Form | None:
    """What is squared in an expression that is 0 where all of that is 0."""
    if form.op == "power" and form.data.denominator == 1 and form.data.numerator % 2 == 0 and form.data > 0:
        return form.parts[0]
    if form.op == "matmul" and len(form.parts) == 2 and form.parts[0] == form.parts[1] and form.ndim == 0:
        return form.parts[0]
    if form.op in ("sum", "mean"):
        return _squared(form.parts[0])
    if form.op == "quotient" and form.parts[1].op in _NUMBERS:
        return _squared(form.parts[0])
    if form.op == "product":
        rest = [p for p in form.parts if p.op not in _NUMBERS]
        return _squared(rest[0]) if len(rest) == 1 else None
    return None


def _of_ties(equality: Form) -> Iterator[str]:
    """Where the largest entry is one alone."""
    if equality.op != "row" or equality.data[0] != "equal":
        return
    for x, largest in (equality.parts, equality.parts[::-1]):
        if largest.op == "row" and largest.data[0] in ("max", "min") and largest.parts == (x,):
            axes = dict(largest.data[1])["axis"]
            yield f"{text(summed(equality, tuple(axes)))} = 1"
