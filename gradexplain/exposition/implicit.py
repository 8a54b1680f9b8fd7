"""Implicit differentiation as in a calculus book: both sides, with y a function of x; collect y'; solve for it.

For the rules, y is an operation on x whose derivative is y': that is all it takes, and the steps of a side come from
`textbook` as any others do.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import sympy as sp

from gradexplain.autodiff import vjp
from gradexplain.exposition import textbook
from gradexplain.exposition.calculus import Calculus
from gradexplain.exposition.model import Derivation, Detail, ImplicitDerivation
from gradexplain.exposition.naming import names
from gradexplain.exposition.pen import Pen
from gradexplain.exposition.terms import product, rational, total
from gradexplain.graph import Node, Primitive, ancestors, constant, substitute
from gradexplain.ops.arithmetic import sub
from gradexplain.simplify.parts import on_a_page
from gradexplain.trace.run import Program


def slopes(equation: Node, inputs: Mapping[str, Node], of: str, wrt: Sequence[str], order: int) -> dict[str, Node]:
    """The derivatives of `of` along the curve, by key ("x", "x,x", "x,z"), in the variables and `of` itself.

    >>> from gradexplain.graph import variable
    >>> from gradexplain.symbolic import expressions
    >>> x, y = variable("x"), variable("y")
    >>> expressions(slopes(x**2 + y**2 - 25, {"x": x, "y": y}, "y", ["x"], 1).values())
    [-x/y]
    """
    y = inputs[of]
    below, *above = vjp(equation, [y, *(inputs[n] for n in wrt)])
    first = {name: -(top / below) for name, top in zip(wrt, above, strict=True)}
    found = dict(first)
    for _ in range(order - 1):
        following: dict[str, Node] = {}
        for key, node in found.items():
            last = key.rpartition(",")[2]
            for name in wrt[list(wrt).index(last) :]:
                direct, through = vjp(node, [inputs[name], y])
                following[f"{key},{name}"] = direct + through * first[name]
        found = following
    return found


@dataclass(frozen=True, slots=True)
class Equation:
    """The two sides of an equation, in which `of` depends on the other variables."""

    program: Program
    left: Node
    right: Node
    of: str
    known: frozenset[str] = frozenset()  # rules that are applied without a line

    @classmethod
    def of_program(cls, program: Program, of: str, *, subtracts: bool, known: frozenset[str] = frozenset()) -> Equation:
        """The sides of a traced equation: of one that subtracts them, its last two operands; else it and 0."""
        y = program.output
        sides = y.inputs if subtracts and y.op is sub else (y, constant(0))
        return cls(program, sides[0], sides[1], of, known)

    @property
    def written(self) -> tuple[Any, Any]:
        """Both sides as they were written."""
        left, right = Pen({}).write([self.left, self.right])
        return left, right


def derive(equation: Equation, key: str, *, detail: Detail = "brief", closed: Any = None) -> ImplicitDerivation:
    """The derivation of a derivative along the curve; `closed` has the closed form and how it came about."""
    variables = key.split(",")
    stage = _first(equation, variables[0], detail)
    first = {variables[0]: stage.solved}
    for i, name in enumerate(variables[1:], 2):
        if name not in first:
            first[name] = _first(equation, name, detail).solved
        stage = _next(equation, stage, tuple(variables[:i]), first[name], detail)
    record = stage.record
    if closed is None:
        return record
    return replace(
        record,
        rewrites=tuple(closed.rewrites),
        result=closed.expr,
        where=tuple(on_a_page(closed.where)),
        conditions=tuple(closed.conditions),
        arrangement=closed.arrangement,
    )


@dataclass(frozen=True, slots=True)
class _Stage:
    record: ImplicitDerivation
    solved: Node  # the derivative in the variables and y, as the steps leave it


def _first(equation: Equation, x: str, detail: Detail) -> _Stage:
    """Both sides differentiated, y' collected, and solved for."""
    program, inputs = equation.program, equation.program.inputs
    y, y1 = dependent(equation.of, inputs[x])
    nodes = [equation.left, equation.right]
    moving = substitute(nodes, {inputs[equation.of]: y})
    sides = [_side(equation, n, x, y, detail) for n in moving]
    named = names(program)
    partial = [[Calculus(n, inputs[v], named).slope for n in nodes] for v in (x, equation.of)]
    coefficient = total([partial[1][0], -partial[1][1]])
    rest = total([partial[0][1], -partial[0][0]])
    solved = product(rest, over=coefficient)
    pen = Pen({y1: f"{equation.of}'"})
    slopes_of_sides = [_slope(n, x, y, program) for n in moving]
    differentiated, collected = (
        (slopes_of_sides[0], slopes_of_sides[1]),
        (product(coefficient, y1, atoms=_whole(coefficient)), rest),
    )
    record = ImplicitDerivation(
        dependent=equation.of,
        variables=(x,),
        detail=detail,
        constants=tuple(n for n in inputs if n not in (x, equation.of)),
        equation=equation.written,
        sides=tuple(s for s in sides if s is not None),
        differentiated=_pair(pen, differentiated),
        collected=_pair(pen, collected),
        solved=pen.write([solved])[0],
        rewrites=(),
        result=pen.write([solved])[0],
    )
    return _Stage(record, solved)


def _next(equation: Equation, before: _Stage, variables: tuple[str, ...], first: Node, detail: Detail) -> _Stage:
    """The derivative of a derivative: differentiated with y a function of x, and y' put in."""
    program, x = equation.program, variables[-1]
    y, y1 = dependent(equation.of, program.inputs[x])
    (moving,) = substitute([before.solved], {program.inputs[equation.of]: y})
    side = _side(equation, moving, x, y, detail)
    slope = _slope(moving, x, y, program)
    (solved,) = substitute([slope], {y1: first, y: program.inputs[equation.of]})
    pen = Pen({y1: f"{equation.of}'"})
    differentiated, expression = pen.write([slope, solved])
    record = ImplicitDerivation(
        dependent=equation.of,
        variables=variables,
        detail=detail,
        constants=before.record.constants,
        equation=equation.written,
        sides=() if side is None else (side,),
        differentiated=(differentiated,),
        collected=(),
        solved=expression,
        rewrites=(),
        result=expression,
        previous=before.record,
    )
    return _Stage(record, solved)


def _pair(pen: Pen, nodes: tuple[Node, Node]) -> tuple[Any, Any]:
    left, right = pen.write(list(nodes))
    return left, right


def _whole(node: Node) -> tuple[Node, ...]:
    """A quotient times y' stays a quotient in front of it: 1/y*y' is no y'/y."""
    return (node,) if node.op.name == "div" and rational(node) is None else ()


def _side(equation: Equation, node: Node, x: str, y: Node, detail: Detail) -> Derivation | None:
    """The rules that lead to the derivative of a side; None where there is nothing to derive."""
    program = equation.program
    x_node = program.inputs[x]
    if node in (x_node, y) or not {x_node, y} & set(ancestors([node])):
        return None
    named = {**names(replace(program, output=node)), y: y.op.name}
    return textbook.derive_node(program, node, x, named, detail, equation.known)


def _slope(node: Node, x: str, y: Node, program: Program) -> Node:
    named = {**names(replace(program, output=node)), y: y.op.name}
    return Calculus(node, program.inputs[x], named).slope


def dependent(name: str, x: Node) -> tuple[Node, Node]:
    """The node of a variable that depends on x, and that of its derivative (a name with a prime)."""
    first = _unknown(f"{name}'", _no_slope)(x)
    return _unknown(name, lambda _: first)(x), first


def _no_slope(_: Node) -> Node:
    raise AssertionError("second derivatives are those of the solved equation, which has no y' in it")


def _unknown(name: str, slope: Any) -> Primitive:
    """An operation without a rule of its own: nothing is known of it but its name and its derivative."""

    def pullback(i: int, g: Node, y: Node) -> Node:
        result: Node = g * slope(*y.inputs)
        return result

    return Primitive(
        name,
        "elementwise",
        value=lambda x: x,
        shape=lambda s: s,
        pullback=pullback,
        partials=(lambda y, x: slope(x),),
        symbol=lambda _, x: sp.Symbol(name, real=True),
    )
