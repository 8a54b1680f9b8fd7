"""Names for what occurs several times: the program's own where a part is one of its values, else a letter."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from gradexplain.simplify.tensor import notation as n
from gradexplain.simplify.tensor.notation import Form, replaced, subforms

_OWN = 3  # operations of a value of the program that is called by its name, also where it is used once


def named(
    forms: Mapping[str, Form], own: Mapping[str, Form], taken: set[str]
) -> tuple[tuple[tuple[str, Form], ...], dict[str, Form]]:
    """Named parts in order of use, and the forms in terms of them."""
    shown = dict(forms)
    where: dict[str, Form] = {}
    names = {form: name for name, form in own.items() if name not in taken}
    for form, name in sorted(names.items(), key=lambda pair: -pair[0].cost):
        everywhere = [*shown.values(), *where.values()]
        is_new = form.cost >= _OWN and name not in where and form not in shown.values()
        if is_new and form in subforms(*everywhere):
            shown, where = _introduced(form, name, shown, where)
    while True:
        counts = n.occurrences([*shown.values(), *where.values()])
        gains = {
            f: (k - 1) * f.cost for f, k in counts.items() if k > 1 and _gets_a_name(f) and f not in where.values()
        }
        if not gains:
            break
        best = max(gains, key=lambda f: (gains[f], f.cost))
        name = names.get(best) or _fresh(best, {*taken, *where, *own})
        shown, where = _introduced(best, name, shown, where)
    where = {name: n.with_signs_inside(f) for name, f in where.items()}
    return _in_order(where), {key: n.with_signs_inside(f) for key, f in shown.items()}


def _introduced(
    form: Form, name: str, shown: dict[str, Form], where: dict[str, Form]
) -> tuple[dict[str, Form], dict[str, Form]]:
    """The forms in terms of one more name."""
    called = replace(n.name(name, form.ndim), symmetric=form.symmetric)
    table = {form: called}
    if form.ndim == 2 and n.transposed(form) != form:
        table[n.transposed(form)] = n.transposed(called)
    shown = {k: replaced(f, table) for k, f in shown.items()}
    where = {k: replaced(f, table) for k, f in where.items()}
    return shown, where | {name: form}


def _gets_a_name(form: Form) -> bool:
    """Whether a name is shorter; what is a name but for a sign or a T has one."""
    return form.cost >= n.SMALLEST_NAMED and not (form.op in ("neg", "T") and form.parts[0].op == "name")


def _in_order(where: Mapping[str, Form]) -> tuple[tuple[str, Form], ...]:
    """Definitions after those that they use."""
    done: dict[str, Form] = {}

    def place(name: str) -> None:
        if name in done:
            return
        for p in subforms(where[name]):
            if p.op == "name" and p.data in where:
                place(p.data)
        done[name] = where[name]

    for name in where:
        place(name)
    return tuple(done.items())


def _fresh(form: Form, taken: set[str]) -> str:
    letters = "rstuv" if form.ndim < 2 else "RSTUV"
    names: list[str] = [*letters, *(f"{letter}{k}" for k in range(1, 99) for letter in letters)]
    return next(name for name in names if name not in taken)
