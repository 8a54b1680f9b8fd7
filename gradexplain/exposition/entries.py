"""Derivations of small arrays that the user takes apart by index: entry by entry, each as that of a number."""

from __future__ import annotations

from gradexplain.exposition import textbook
from gradexplain.exposition.model import Detail, Entrywise
from gradexplain.exposition.naming import names
from gradexplain.exposition.orders import Orders
from gradexplain.graph import Node, as_node
from gradexplain.simplify.closed import arrangement, closed_form
from gradexplain.simplify.entrywise import entries, is_suitable
from gradexplain.trace.run import Program

MOST_ENTRIES = 6  # that are derived


def derive(
    program: Program, wrt: str, gradient: Node, *, detail: Detail = "brief", known: frozenset[str] = frozenset()
) -> Entrywise | None:
    """The derivations of the entries of a gradient; None where the program does not take small arrays apart."""
    if program.output.shape != () or not is_suitable(program, gradient):
        return None
    found = entries(program, gradient)
    if found is None:
        return None
    numbers, nodes = found
    variables = [n for n in numbers.inputs if n not in program.inputs and n.startswith(wrt)] or [wrt]
    if len(variables) != gradient.size:
        return None
    orders, named = Orders(numbers), names(numbers)
    arranged = arrangement(numbers, named)
    slopes = dict(
        zip(variables, map(as_node, nodes.ravel()), strict=True)
    )  # an entry that is not used has the number 0
    shown = variables[:MOST_ENTRIES]
    forms = {n: closed_form(n, slopes[n], numbers, named, arranged) for n in shown}
    forms = orders.with_steps(forms)
    derivations = tuple(
        textbook.derive(numbers, n, detail=detail, closed=forms[n], orders=orders, known=known) for n in shown
    )
    return Entrywise(wrt, gradient.shape, derivations)
