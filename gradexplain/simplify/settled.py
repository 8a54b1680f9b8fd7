"""Programs with parts that are one number everywhere, such as `x - x`.

Autodiff meets an infinite slope times none in `sqrt(x - x)`, and answers nan, though the function has a derivative.
What a branch makes one number (`x / x`, `np.sinc(0)`) is found in that branch alone.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import mpmath as mp
import numpy as np

from gradexplain.autodiff import vjp
from gradexplain.graph import Node, ancestors, constant, substitute
from gradexplain.ops.ordering import where
from gradexplain.simplify.fingerprints import is_analytic
from gradexplain.simplify.sampling import DIGITS, evaluated_widely, sample
from gradexplain.trace.program import Program

_MOST_NODES = 300
_MOST_BRANCHES = 8
_FEWEST_POINTS = 3
_PRECISE = mp.mpf(10) ** -40


def settled(program: Program, variables: Sequence[str]) -> tuple[Program, Node] | None:
    """The program with whole numbers for the parts that always are one, at least in a branch, and its derivative; None
    without such parts.

    >>> from gradexplain.trace.run import trace
    >>> from gradexplain.trace.signature import bind
    >>> f = lambda x: x + (x - x) ** 0.5
    >>> program, gradient = settled(trace(f, bind(f, (), {}, symbolic=True)), ["x"])
    >>> gradient.is_constant, gradient.data
    (True, 1)
    """
    if len(ancestors([program.output])) > _MOST_NODES:
        return None
    output, wrt = program.output, [program.inputs[name] for name in variables]
    for region in (_everywhere, _by_branches):
        pieces = region(output, program)
        if pieces.output is not output:
            return replace(program, output=pieces.output), pieces.differentiated(wrt)
    return None


@dataclass(frozen=True, slots=True)
class _Pieces:
    """A program as a tree of branches, each a program without them: `output` is all of it."""

    output: Node
    sides: tuple[Node, _Pieces, _Pieces] | None = None  # a condition, what holds if it is true, and if not

    def differentiated(self, wrt: Sequence[Node]) -> Node:
        """The derivative, branch by branch: what one branch lacks does no harm in another."""
        if self.sides is not None:
            condition, if_true, if_false = self.sides
            return where(condition, if_true.differentiated(wrt), if_false.differentiated(wrt))
        gradient = self.output
        for variable in wrt:
            (gradient,) = vjp(gradient, [variable])
        return gradient


def _everywhere(output: Node, program: Program) -> _Pieces:
    """The program with the parts settled that are one number at every point."""
    return _Pieces(_settled_where(output, output, program))


def _by_branches(output: Node, program: Program) -> _Pieces:
    """The program, settled in each of its branches alone."""
    pieces, changed = _branch(output, output, program, _MOST_BRANCHES)
    return pieces if changed else _Pieces(output)


def _branch(output: Node, reached: Node, program: Program, most: int) -> tuple[_Pieces, bool]:
    """A branch settled, and whether anything in it was; `reached` has a value where the branch is taken."""
    none = {n: n.inputs[1] for n in ancestors([output]) if n.op is where and n.inputs[1] is n.inputs[2]}
    (output,) = substitute([output], none)
    choices = [n for n in ancestors([output]) if n.op is where and n.shape == ()]
    if not choices or most < 2:
        found = _settled_where(output, reached, program)
        return _Pieces(found), found is not output
    condition = choices[0].inputs[0]  # of the innermost: no other choice has a part in it
    sides, changed = [], False
    for k in (1, 2):
        (taken,) = substitute([output], {n: n.inputs[k] for n in choices if n.inputs[0] is condition})
        nowhere = constant(math.nan)
        there = where(condition, reached, nowhere) if k == 1 else where(condition, nowhere, reached)
        piece, is_other = _branch(taken, there, program, most // 2)
        sides.append(piece)
        changed |= is_other
    if_true, if_false = sides
    return _Pieces(where(condition, if_true.output, if_false.output), (condition, if_true, if_false)), changed


def _settled_where(output: Node, reached: Node, program: Program) -> Node:
    """A program with whole numbers for the parts that are one number wherever `reached` has a value."""
    parts = [n for n in ancestors([output]) if n.inputs and n.kind == "float" and n.shape == ()]
    given = set(program.inputs.values())
    parts = [n for n in parts if is_analytic(order := ancestors([n])) or given.isdisjoint(order)]
    if not parts:
        return output
    samples = sample([*parts, reached], program.inputs, program.point)
    if len(samples.points) < _FEWEST_POINTS:
        return output
    table = {}
    with mp.workdps(DIGITS):
        for node, values in zip(parts, zip(*samples.values, strict=True), strict=False):
            nearest = mp.nint(values[0])
            if all(v == nearest or (nearest and mp.almosteq(v, nearest, _PRECISE)) for v in values):
                table[node] = constant(int(nearest))
    return substitute([output], table)[0] if table else output


def has_lost_slopes(program: Program, gradient: Node) -> bool:
    """Whether a program has a value somewhere, and its gradient none."""
    value, slope = evaluated_widely([program.output, gradient], program.inputs, program.point)
    return bool(np.any(np.isfinite(value) & ~np.isfinite(slope)))
