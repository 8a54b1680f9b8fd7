"""Kinks and jumps of a program of one variable: where its branches meet and its operations bend, as slopes tell.

What an operation could do is no kink yet: abs(x)*x has none. The candidates are judged by one-sided difference
quotients of the program in exact arithmetic.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import mpmath as mp
import sympy as sp

from gradexplain.evaluate import evaluate, evaluate_exact
from gradexplain.exposition.exact import slope
from gradexplain.graph import Node, ancestors
from gradexplain.language import Sentence
from gradexplain.simplify.ranges import Range, nonzero
from gradexplain.symbolic import expressions, tree_size
from gradexplain.trace.run import Program

_LONGEST = 8  # operations of an expression whose zeros are looked for
_MOST = 5
_TIES = ("a = b:", "x at a constant bound")  # how the rows begin whose operands are compared
_COMPARED = ("greater", "greater_equal", "less", "less_equal")


def kinks(program: Program, gradient: Node) -> tuple[str, ...]:
    """Where a program of one number is not differentiable, and what its gradient is there.

    >>> from gradexplain.autodiff import vjp
    >>> from gradexplain.trace.run import trace
    >>> from gradexplain.trace.signature import bind
    >>> program = trace(abs, bind(abs, (), {}, symbolic=True))
    >>> kinks(program, vjp(program.output, list(program.inputs.values()))[0])
    ('not differentiable at x = 0: slopes -1 and 1, 0 is taken',)
    """
    if len(program.inputs) != 1:
        return ()
    ((name, x),) = program.inputs.items()
    order = ancestors([program.output])
    if x.kind != "float" or any(n.shape for n in order):
        return ()
    found = (_at(program, gradient, x, name, p) for p in _candidates(order)[:_MOST])
    return tuple(text for text in found if text)


def _candidates(order: list[Node]) -> list[Any]:
    """The numbers at which an operation of the program bends or a branch changes."""
    points: dict[Any, None] = {}
    for node in order:
        for difference in _differences(node):
            if tree_size(difference) <= _LONGEST:
                (expr,) = expressions([difference])
                for r in () if expr.has(sp.Piecewise) else nonzero(expr):
                    points |= dict.fromkeys(_solved(r))
    return sorted(points, key=float)


def _solved(r: Range) -> list[Any]:
    """The values of the variable at which the subject of a range is one of its points."""
    if isinstance(r.subject, sp.Abs) and r.subject.args[0].is_Symbol:
        return [side for p in r.points if p >= 0 for side in (p, -p)]
    return list(r.points) if r.subject.is_Symbol else []


def _differences(node: Node) -> Iterator[Node]:
    """What is 0 where an operation bends: the operand of abs, the difference of what is compared."""
    if node.op.name in _COMPARED or node.op.kinks.startswith(_TIES):
        first, *others = node.inputs
        yield from (first - other for other in others)
    elif node.op.kinks.startswith("x = 0"):
        yield node.inputs[0]


def _at(program: Program, gradient: Node, x: Node, name: str, point: Any) -> str:
    at = mp.mpf(int(point.p)) / int(point.q) if point.is_Rational else mp.mpf(sp.N(point, 30))
    try:
        found = slope(lambda t: evaluate_exact([program.output], {x: t})[0], float(at))
    except (TypeError, AttributeError, KeyError):  # a function that has no exact form
        return ""
    if found.kind not in ("kink", "jump"):
        return ""
    where = f"{name} = {sp.sstr(point)}"
    if found.kind == "jump":
        return Sentence("jumps at {point}: there is no slope", point=where)
    taken = float(evaluate([gradient], {x: float(at)})[0]) + 0.0  # -0 is 0
    left, right = (mp.nstr(v, 6, strip_zeros=True).removesuffix(".0") for v in (found.left, found.right))
    sentence = "not differentiable at {point}: slopes {left} and {right}, {taken:.6g} is taken"
    return Sentence(sentence, point=where, left=left, right=right, taken=taken)
