"""Where a matrix form has a value: what it divides by, and which matrices it inverts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from gradexplain.simplify.tensor.notation import Form, subforms
from gradexplain.simplify.tensor.source import text

_LENGTHS = ("norm", "std", "var")


def conditions(forms: Iterable[Form]) -> tuple[str, ...]:
    """What must not be 0, in the order in which it is met."""
    return tuple(dict.fromkeys(c for part in subforms(*forms) for c in _of(part)))


def _of(form: Form) -> Iterator[str]:
    if form.op == "quotient":
        above, below = form.parts
        yield from (f"{text(p)} != 0" for p in subforms(below) if p.op in _LENGTHS)
        if any(p.op == "row" and p.data[0] == "prod" for p in subforms(above)) and below.ndim:
            yield f"{text(below)} != 0"
    if form.op == "row" and form.data[0] == "inv":
        yield f"det({text(form.parts[0])}) != 0"
