"""Values of the program by their names, also where they are factors of a product: exp(z)*g/sum(exp(z)) is p*g."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction

from gradexplain.simplify.tensor import notation as n
from gradexplain.simplify.tensor.notation import Form

_MOST = 4  # a power of a sum is so many factors at most


def called(form: Form, names: Mapping[Form, Form]) -> Form:
    """A form in which values go by their names, those of earlier statements first."""
    for value, name in names.items():
        form = _with(form, value, name)
    return form


def _with(form: Form, value: Form, name: Form) -> Form:
    above, below = _factors(value)
    done: dict[Form, Form] = {value: name}
    if value.ndim == 2 and n.transposed(value) != value:
        done[n.transposed(value)] = n.transposed(name)

    def walk(form: Form) -> Form:
        if form not in done:
            parts = tuple(map(walk, form.parts))
            new = form if parts == form.parts else replace(form, parts=parts)
            done[form] = _taken_out(new, above, below, name) if value.op == "quotient" else new
        return done[form]

    return walk(form)


def _taken_out(form: Form, above: Counter[Form], below: Counter[Form], name: Form) -> Form:
    """A product with a quotient's factors in it, with the name in their place."""
    if form.op not in ("quotient", "product") or form.ndim < name.ndim:
        return form
    num, den = _factors(form)
    times = 0
    while above <= num and below <= den and below:
        num, den, times = num - above, den - below, times + 1
    if not times:
        return form
    made = n.product([*num.elements(), n.power(name, Fraction(times))])
    return n.quotient(made, n.product(den.elements())) if den else made


def _factors(form: Form) -> tuple[Counter[Form], Counter[Form]]:
    """The factors above and below the bar."""
    above, below = (form.parts[0], form.parts[1]) if form.op == "quotient" else (form, n.ONE)
    return _of_product(above), _of_product(below)


def _of_product(form: Form) -> Counter[Form]:
    found: Counter[Form] = Counter()
    for p in form.parts if form.op == "product" else [form]:
        if p.op == "power" and p.data.denominator == 1 and 1 < p.data <= _MOST:
            found[p.parts[0]] += int(p.data)
        elif p != n.ONE:
            found[p] += 1
    return found
