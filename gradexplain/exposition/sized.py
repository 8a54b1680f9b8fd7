"""Statements of array programs as they were written, with letters for the sizes of axes."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import sympy as sp

from gradexplain.exposition.naming import is_silent
from gradexplain.exposition.pen import Pen, letter
from gradexplain.graph import Node, ancestors, make, variable
from gradexplain.ops.spelling import spelling
from gradexplain.simplify.tensor.sizes import Power
from gradexplain.simplify.tensor.sizing import Sizing
from gradexplain.trace.run import Program

Values = tuple[tuple[str, Any], ...]
Legend = tuple[tuple[str, str], ...]


def as_written(program: Program, nodes: Mapping[str, Node], sizing: Sizing | None) -> tuple[Values, Legend]:
    """What names stand for, each over the names before it, and what the letters in it stand for (`m`: `len(X)`)."""
    order = ancestors([program.output])
    calls = {n: call for n in order if (call := spelling(n)) is not None}
    hidden = {*calls, *(x for call in calls.values() for x in call.inside)}  # what a mean divides by is not written
    numbers = {} if sizing is None else sizing.numbers or {}
    new: dict[Node, Node] = {}
    sizes: dict[Node, Any] = {}
    legend: dict[str, str] = {}
    for node in order:
        inputs = [new[x] for x in node.inputs]
        for place in range(len(inputs)):
            made = numbers.get((node, place))
            if made is not None and node not in hidden:
                inputs[place] = size = variable("size")
                sizes[size] = _product(*made)
                legend |= {p.size.letter: str(p.size) for p in made[1]}
        new[node] = make(node.op, tuple(inputs), node.params) if inputs != list(node.inputs) else node
    old = {x: node for node, x in new.items()}
    pen = Pen({new[x]: n for n, x in nodes.items()}, lambda n: is_silent(old.get(n, n), program))
    for size, expression in sizes.items():
        pen.put(size, expression)
    return tuple(zip(nodes, pen.open([new[x] for x in nodes.values()]), strict=True)), tuple(legend.items())


def _product(factor: Fraction, powers: tuple[Power, ...]) -> Any:
    """A factor times powers of sizes."""
    found = [(letter(p.size.letter) + p.shift) ** sp.Rational(*p.exponent.as_integer_ratio()) for p in powers]
    return sp.Mul(sp.Rational(*factor.as_integer_ratio()), *found)
