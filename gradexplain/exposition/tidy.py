"""Programs without what only loops do: the 0 that a sum starts from, x**1, t/1 in the first pass, x > inf.

A person who writes a sum out does not write 0 + x**1/1. The tape keeps it: there the question is what was computed.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace

from gradexplain.graph import Node, ancestors, constant, is_scalar_constant, make
from gradexplain.ops.arithmetic import add, div, mul, power, sub
from gradexplain.ops.ordering import greater, greater_equal, less, less_equal, where
from gradexplain.trace.run import Program

_COMPARISONS = {less: True, less_equal: True, greater: False, greater_equal: False}  # whether small operands fulfil it


def without_noise(program: Program, names: Mapping[Node, str]) -> tuple[Program, dict[Node, str]]:
    """The program and the names of its nodes, without neutral numbers at places that were passed repeatedly."""
    sites = dict(program.trace.sites)
    passed = Counter(site for site in sites.values() if site is not None)
    new: dict[Node, Node] = {}
    found: dict[Node, str] = {}
    for node in ancestors([program.output]):
        inputs = tuple(new[n] for n in node.inputs)
        site = sites.get(node)
        plain = _plain(node, inputs) if site is not None and passed[site] > 1 else _possible(node, inputs)
        if plain is None:
            plain = node if inputs == node.inputs else make(node.op, inputs, node.params)
            if plain not in sites and site is not None:
                sites[plain] = site
        new[node] = plain
        if node in names and (plain not in found or plain is node):
            found[plain] = names[node]
    if all(new[n] is n for n in new):
        return program, dict(names)
    return replace(program, output=new[program.output], trace=replace(program.trace, sites=sites)), found


def _plain(node: Node, inputs: tuple[Node, ...]) -> Node | None:
    """What an operation with a neutral number gives, None for any other."""
    if len(inputs) != 2 or node.shape:
        return None
    a, b = inputs
    if node.op is add and is_scalar_constant(a, 0):
        return b
    if node.op in (add, sub) and is_scalar_constant(b, 0):
        return a
    if node.op is mul and (is_scalar_constant(a, 0) or is_scalar_constant(b, 0)):
        return constant(0)
    if node.op is mul and is_scalar_constant(a, 1):
        return b
    if node.op in (mul, div, power) and is_scalar_constant(b, 1):
        return a
    return constant(1) if node.op is power and is_scalar_constant(b, 0) else None


def _possible(node: Node, inputs: tuple[Node, ...]) -> Node | None:
    """The branch that is always taken, where a condition compares with infinity; None for any other operation."""
    if node.op is not where or node.shape or inputs[0].op not in _COMPARISONS:
        return None
    a, b = inputs[0].inputs
    if is_scalar_constant(a) == is_scalar_constant(b):
        return None
    below = _COMPARISONS[inputs[0].op]
    limit, holds_below = (a.data, not below) if a.is_constant else (b.data, below)
    if isinstance(limit, bool) or not math.isinf(limit):
        return None
    return inputs[1] if (limit > 0) == holds_below else inputs[2]
