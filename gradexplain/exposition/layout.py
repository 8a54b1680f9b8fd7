"""What is to be said of derivatives of arrays: the order of axes, how they are written, which facts they rest on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from gradexplain.language import Sentence
from gradexplain.simplify.form import ClosedForm
from gradexplain.structured import structured_in

GRADIENT = "layout: a gradient has the shape of its argument"
_WRITTEN = {
    "sums over indices": "with respect to {key} there is no matrix notation: it is written with sums over indices",
    "program": "with respect to {key} there is no matrix notation: it is written as a program",
}

_STRUCTURED = (
    "{name} stays symmetric: its entries move in pairs; with A for independent entries, this is A + A.T - diag(A)"
)


def notes(kind: str, forms: Mapping[str, ClosedForm], facts: Mapping[str, frozenset[str]]) -> tuple[str, ...]:
    """The layout, the level of what is not in matrix notation, and the facts that were given.

    >>> notes("gradient", {}, {"S": frozenset({"symmetric"})})
    ('taken as given: S is symmetric',)
    """
    return tuple(_notes(kind, forms, facts))


def _notes(kind: str, forms: Mapping[str, ClosedForm], facts: Mapping[str, frozenset[str]]) -> Iterator[str]:
    if kind == "jacobian":
        yield Sentence("axes: those of the result first, then those of the argument")
    if kind == "gradient" and any(form.shape for form in forms.values()):
        yield Sentence(GRADIENT)
    for key, form in forms.items():
        if form.level in _WRITTEN:
            yield Sentence(_WRITTEN[form.level], key=key)
    stated = {name: sorted(known - {"structured"}) for name, known in sorted(facts.items()) if known}
    if stated:
        known = ", ".join(f"{name} is {' and '.join(words)}" for name, words in stated.items())
        yield Sentence("taken as given: {facts}", facts=known)
    for name in sorted(structured_in(facts)):
        yield Sentence(_STRUCTURED, name=name)
