"""The words of graphs: what stands in a box and at an edge, and the whole graph read aloud."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from gradexplain.exposition.picture import ComputationGraph, Edge, Vertex
from gradexplain.language import enumerated, say
from gradexplain.render import formula as formulas
from gradexplain.render.breaks import columns
from gradexplain.render.signs import barred, pretty

_DIGITS = 4
_ENTRIES = 4  # of a vector that is printed whole
_WIDEST = 28  # characters of that
_READ_ALOUD = 40  # vertices that are read one by one


class Label(NamedTuple):
    """What stands at an edge: forward the local derivative, backward what is handed on."""

    forward: str
    backward: str


def number(value: Any) -> str:
    """A number to four digits; of an array the entries if they are few, else its shape and range.

    >>> number(2 / 3), number(np.array([1.0, 2.5])), number(np.ones((3, 4)))
    ('0.6667', '[1, 2.5]', '(3, 4): 1 .. 1')
    """
    array = np.asarray(value)
    if array.dtype == bool:
        return (
            str(array[()]).lower()
            if not array.ndim
            else say("{shape}: {count} true", shape=array.shape, count=int(array.sum()))
        )
    if not array.ndim:
        return _digits(array[()])
    if array.ndim == 1 and array.size <= _ENTRIES:
        entries = f"[{', '.join(map(_digits, array))}]"
        if len(entries) <= _WIDEST:
            return entries
    shape = "x".join(map(str, array.shape))
    if not array.size:
        return f"({shape})"
    low, high = np.min(array), np.max(array)
    return f"{array.shape}: {_digits(low)} .. {_digits(high)}"


def _digits(value: Any) -> str:
    return f"{float(value) + 0.0:.{_DIGITS}g}"


def shortened(text: str, most: int) -> str:
    """The text, or its beginning and an ellipsis.

    >>> shortened("sin(x) + cos(x)", 9)
    'sin(x) +…'
    """
    if columns(text) <= most:
        return text
    while columns(text) >= most:
        text = text[:-1]
    return text.rstrip() + "…"


# ------------------------------------------------------------------------------------------- boxes and edges


@dataclass(frozen=True, slots=True)
class Wording:
    """What is written into a graph: with the signs of mathematics, or in ASCII as programmers write it.

    >>> import sympy as sp
    >>> SIGNS.shown(2 * sp.Symbol("x") * sp.Symbol("u_bar"))
    '2·ū·x'
    """

    unicode: bool

    def shown(self, expr: Any) -> str:
        """A formula; adjoints wear their bar where one letter can."""
        return self.name(pretty(formulas.text(expr)) if self.unicode else formulas.text(expr))

    def name(self, text: str) -> str:
        """The name of an adjoint."""
        return barred(text) if self.unicode else text

    def lines_of(self, vertex: Vertex) -> tuple[str, ...]:
        """The lines of a box above the adjoint: name and formula, the value."""
        if vertex.inside is not None:
            code = vertex.place.text if vertex.place is not None else ""
            count = say("{count} operations", count=vertex.count)
            return tuple(
                filter(None, (name_of(vertex), code, count if name_of(vertex) != count else "", _value(vertex)))
            )
        name = name_of(vertex) if vertex.formula is None else f"{vertex.name} = {self.shown(vertex.formula)}"
        return tuple(filter(None, (name, _value(vertex))))

    def adjoint_of(self, vertex: Vertex) -> str:
        """The adjoint as a number, or as a formula where there is no point."""
        if not vertex.adjoint:
            return ""
        name = self.name(vertex.adjoint)
        if vertex.adjoint_value is not None:
            return f"{name} = {number(vertex.adjoint_value)}"
        return name if vertex.adjoint_formula is None else f"{name} = {self.shown(vertex.adjoint_formula)}"

    def label_of(self, edge: Edge) -> Label:
        """What stands at an edge: numbers of a scalar program, formulas of arrays and where there is no point."""
        if edge.count > 1:
            return Label(say("{count} values", count=edge.count), "")
        forward = "" if edge.local is None else self.shown(edge.local)
        is_number = edge.local_value is not None and np.ndim(edge.local_value) == 0
        if forward and is_number and not getattr(edge.local, "is_Number", False):
            forward += f" = {number(edge.local_value)}"
        if edge.handed_value is not None and np.ndim(edge.handed_value) == 0 and is_number:
            return Label(forward, number(edge.handed_value))
        is_array = edge.handed_value is not None and np.ndim(edge.handed_value) > 0
        says_more = edge.handed is not None and (is_array or not forward)
        return Label(forward, self.shown(edge.handed) if says_more else "")


SIGNS, ASCII = Wording(unicode=True), Wording(unicode=False)


def name_of(vertex: Vertex) -> str:
    """The name of a vertex, or what a folded one stands for."""
    return say(vertex.name)


def _value(vertex: Vertex) -> str:
    if vertex.value is not None:
        return f"= {number(vertex.value)}"
    return say("shape {shape}", shape=vertex.shape) if vertex.shape else ""


# ------------------------------------------------------------------------------------------------ read aloud


def title_of(graph: ComputationGraph) -> str:
    """The name of a picture.

    >>> title_of(ComputationGraph("f", (), (), point=(("x", 3.0),)))
    'Computation graph of f at x = 3'
    """
    point = say(", ").join(f"{name} = {number(value)}" for name, value in graph.point if np.ndim(value) == 0)
    return say("{name} at {point}", name=short_title(graph), point=point) if point else short_title(graph)


def short_title(graph: ComputationGraph) -> str:
    """The same where the values of the arguments stand beside it."""
    return say("Computation graph of {name}", name=graph.name)


def aloud(graph: ComputationGraph) -> str:
    """The graph in sentences: what feeds what, the values, and the adjoints on the way back.

    >>> x, u = Vertex("x", role="input"), Vertex("u", role="output")
    >>> aloud(ComputationGraph("f", (x, u), (Edge(0, 1, returns=True),)))
    'Computation graph of f. x feeds u.'
    """
    vertices = graph.vertices[:_READ_ALOUD]
    parts = [say("{sentence}.", sentence=title_of(graph)), *_feeds(graph, len(vertices))]
    if len(vertices) < len(graph.vertices):
        parts.append(say("And {count} more.", count=len(graph.vertices) - len(vertices)))
    values = [_said(v) for v in vertices if v.inside is None and (v.formula is not None or v.value is not None)]
    parts += [say("{sentence}.", sentence=say("; ").join(values))] if values else []
    adjoints = [f"{name_of(v)} {number(v.adjoint_value)}" for v in reversed(vertices) if v.adjoint_value is not None]
    parts += [say("Adjoints, backwards: {adjoints}.", adjoints=say(", ").join(adjoints))] if adjoints else []
    return say(" ").join(parts)


def _said(vertex: Vertex) -> str:
    name = name_of(vertex) if vertex.formula is None else f"{vertex.name} = {pretty(formulas.text(vertex.formula))}"
    return name if vertex.value is None else f"{name} = {number(vertex.value)}"


def _feeds(graph: ComputationGraph, most: int) -> list[str]:
    """A sentence of clauses such as "x feeds u and v; both feed y"."""
    targets: dict[int, list[int]] = {}
    for edge in graph.edges:
        if edge.source < most and edge.target < most and edge.target not in targets.setdefault(edge.source, []):
            targets[edge.source].append(edge.target)
    together: dict[tuple[int, ...], list[int]] = {}
    for source, found in sorted(targets.items()):
        together.setdefault(tuple(sorted(found)), []).append(source)
    names = [name_of(v) for v in graph.vertices]
    clauses, before = [], ""
    for goals, sources in together.items():
        subject, object_ = enumerated([names[i] for i in sources]), enumerated([names[i] for i in goals])
        if len(sources) == 2 and subject == before:
            subject = say("both")
        sentence = "{sources} feeds {targets}" if len(sources) == 1 else "{sources} feed {targets}"
        clauses.append(say(sentence, sources=subject, targets=object_))
        before = object_
    return [say("{sentence}.", sentence=say("; ").join(clauses))] if clauses else []
