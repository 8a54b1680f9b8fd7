"""A function traced within another trace: what it computes becomes part of the outer program."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from gradexplain.graph import Node, as_node, substitute, variable
from gradexplain.trace.calling import function_name
from gradexplain.trace.program import run
from gradexplain.trace.running import Trace, stack
from gradexplain.trace.signature import Argument, bind, promote
from gradexplain.trace.tracer import Tracer, wrap


@dataclass(frozen=True, slots=True)
class Inner:
    """The inner program: its output over variables of its own, and what these are in the outer program."""

    output: Node
    inputs: Mapping[str, Node]
    trace: Trace

    def outside(self, nodes: Sequence[Node], also: Mapping[Node, Node] | None = None) -> list[Tracer]:
        """Nodes over the inner variables, as values of the outer program."""
        outer = self.trace.parent
        assert outer is not None
        return [wrap(outer, n) for n in substitute(nodes, {**self.trace.binding, **(also or {})})]


class _Covered:
    """Stands for a traced argument while the signature is bound."""

    def __init__(self, tracer: Tracer) -> None:
        self.tracer = tracer


def trace_inside(
    function: Callable[..., Any],
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
    choose: Callable[[Sequence[str]], Sequence[str]],
    *,
    stack_results: bool = False,
) -> Inner:
    """Runs a function within the running trace; `choose` tells which arguments are real whatever is given."""
    outer = stack()[-1]
    outer.root.nested = True
    arguments = [_uncovered(a) for a in bind(function, _cover(args), _cover_all(kwargs), symbolic=False)]
    chosen = choose([a.name for a in arguments])
    arguments = [promote(a) if a.name in chosen and a.kind != "float" and _is_plain(a) else a for a in arguments]
    inputs = {a.name: variable(a.name, a.shape, a.kind) for a in arguments if a.role == "traced"}
    inner = Trace(function_name(function), outer.numeric, parent=outer)
    inner.binding = {inputs[a.name]: as_outer(a.value) for a in arguments if a.name in inputs}
    output = run(function, arguments, inputs, inner, stack_results=stack_results)
    return Inner(output, inputs, inner)


def as_outer(value: Any) -> Node:
    """The node of a value of the outer program."""
    return value.node if type(value) is Tracer else as_node(value)


def _is_plain(a: Argument) -> bool:
    return type(a.value) is not Tracer


def _cover(values: Sequence[Any]) -> list[Any]:
    return [_Covered(v) if type(v) is Tracer else v for v in values]


def _cover_all(values: Mapping[str, Any]) -> dict[str, Any]:
    return {k: _Covered(v) if type(v) is Tracer else v for k, v in values.items()}


def _uncovered(a: Argument) -> Argument:
    if not isinstance(a.value, _Covered):
        return a
    tracer = a.value.tracer
    return replace(a, value=tracer, shape=tracer.shape, kind=tracer.node.kind, role="traced")
