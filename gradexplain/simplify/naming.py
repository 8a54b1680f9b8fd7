"""What formulas call the parts of a program by: the names of its locals, and the calls of its functions.

A name must be one that the reader can look up. A local of the function itself is; the locals of functions that it
calls are not. A call `Phi(d1)` is, if `Phi` names one function that depends on its arguments alone: all of its calls,
put side by side, must be the same graph of their arguments.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import sympy as sp

from gradexplain.graph import VARIABLE, Node, ancestors, constant, substitute, variable
from gradexplain.simplify.numeric import KNOWN_NAMES, of_real_numbers
from gradexplain.simplify.watchdog import within
from gradexplain.symbolic import expressions, tree_size
from gradexplain.trace.run import Program
from gradexplain.trace.running import Call, Trace
from gradexplain.trace.source import name_of_function
from gradexplain.userfunctions import UserFunction, user_function

_PATIENCE = 3.0  # seconds for building an expression of some hundred operations
_MOST_CALLS = 100
_SHORTEST, _LONGEST = 3, 60  # operations of a function whose calls are worth a name
_MOST_TRIED = 24  # calls that the program does not make, of functions that it calls


def written(node: Node, given: Mapping[Node, Any] | None = None) -> Any:
    """A node as an expression, None where SymPy does not come to an end: it evaluates as it builds, and may loop."""
    expr = within(_PATIENCE, lambda: expressions([node], given)[0])
    return None if expr is None else of_real_numbers(expr)


@dataclass(frozen=True, slots=True)
class Naming:
    """A choice of named parts: nodes that formulas write as symbols, and nodes that they write as calls."""

    symbols: Mapping[Node, Any] = field(default_factory=dict)
    calls: Mapping[Node, tuple[Any, tuple[Node, ...]]] = field(default_factory=dict)  # function and arguments
    given: Mapping[Node, Any] = field(default_factory=dict)  # both, as formulas write them
    indexed: frozenset[str] = frozenset()  # names with an index that the source does not have

    @property
    def parts(self) -> dict[Node, tuple[Node, ...]]:
        """The named nodes, and the nodes that they are written with: the arguments of a call."""
        return {n: arguments for n, (_, arguments) in self.calls.items()} | dict.fromkeys(self.symbols, ())

    @property
    def functions(self) -> set[Any]:
        """The functions that are called."""
        return {function for function, _ in self.calls.values()}

    def definitions(self) -> dict[str, Any] | None:
        """What the names stand for, in terms of the arguments and of earlier names."""
        table: dict[str, Any] = {}
        for node in sorted(self.symbols, key=lambda n: n.index):
            table[self.symbols[node].name] = self._defined(node)
        return None if None in table.values() else table

    def _defined(self, node: Node) -> Any:
        earlier = {n: s for n, s in self.given.items() if n.index < node.index}
        if node in self.calls:
            function, arguments = self.calls[node]
            parts = [written(a, earlier) for a in arguments]
            return None if None in parts else function(*parts)
        return written(node, earlier)


def needed(expr: Any, where: dict[str, Any]) -> dict[str, Any]:
    """The definitions that a formula uses, directly or through others."""
    wanted = {s.name for s in expr.free_symbols}
    kept: dict[str, Any] = {}
    for name in reversed(where):
        if name in wanted:
            kept[name] = where[name]
            wanted |= {s.name for s in where[name].free_symbols}
    return dict(reversed(kept.items()))


def namings(program: Program, names: Mapping[Node, str]) -> list[Naming]:
    """The choices of named parts: none, or what the program itself gave a name."""
    if not names:  # a program that was rewritten into entries
        return [Naming()]
    order = [n for n in ancestors([program.output]) if n.inputs and n.kind == "float" and n in names]
    symbols = {n: sp.Symbol(names[n], real=True) for n in order if program.local_name(n, own=True)}
    calls = _named_calls(program, {*program.inputs, *(s.name for s in symbols.values())})
    given: dict[Node, Any] = {}
    for node in sorted({*symbols, *calls}, key=lambda n: n.index):
        if node in symbols:
            given[node] = symbols[node]
            continue
        parts = [written(a, given) for a in calls[node][1]]
        if None not in parts:
            given[node] = calls[node][0](*parts)
    calls = {n: call for n, call in calls.items() if n in given}
    indexed = frozenset(s.name for n, s in symbols.items() if s.name != program.local_name(n, own=True))
    return [Naming(), Naming(symbols, calls, given, indexed)] if given else [Naming()]


# The functions of the program.
def _named_calls(program: Program, taken: set[str]) -> dict[Node, tuple[Any, tuple[Node, ...]]]:
    """The calls that formulas may write, by their results: those that the program makes, and some that it might."""
    found: dict[Node, tuple[Any, tuple[Node, ...]]] = {}
    functions = list(_functions(program.trace, taken))
    for function in functions:
        for call in function.calls:
            if all(a.index < call.result.index for _, a in call.arguments):
                found.setdefault(call.result, (function.symbol, tuple(a for _, a in call.arguments)))
    unary = [f for f in functions if len(f.parameters) == 1]
    arguments = dict.fromkeys(f_call.arguments[0][1] for f in unary for f_call in f.calls)
    for function in unary:
        for argument in list(arguments)[: _MOST_TRIED // max(1, len(unary))]:
            node = function.applied([argument])
            if not argument.is_constant and node.index > argument.index:
                found.setdefault(node, (function.symbol, (argument,)))
    return found


@dataclass(frozen=True, slots=True)
class _Function:
    """A function of the user's: its definition as a graph of its parameters, and its calls."""

    symbol: Any
    parameters: tuple[Node, ...]  # variables; constants where an argument is always the same
    body: Node
    calls: tuple[Call, ...]

    def applied(self, arguments: Sequence[Node]) -> Node:
        """The graph of a call."""
        table = {p: a for p, a in zip(self.parameters, arguments, strict=True) if p.op is VARIABLE}
        return substitute([self.body], table)[0]


def _functions(trace: Trace, taken: set[str]) -> Iterator[_Function]:
    """The user's functions whose calls can be read: one function of one name, which depends on its arguments alone."""
    by_name: dict[str | None, list[Call]] = {}
    for call in trace.calls[:_MOST_CALLS]:
        if trace.own is not None and call.code is not trace.own[0]:
            by_name.setdefault(name_of_function(call.code), []).append(call)
    for name, calls in by_name.items():
        if name is None or name.startswith("__") or name in KNOWN_NAMES or name in taken:
            continue
        if all(c.plain for c in calls) and len({id(c.code) for c in calls}) == 1:
            yield from _by_constants(name, calls)


def _by_constants(name: str, calls: Sequence[Call]) -> list[_Function]:
    """The function that some calls are calls of, one for each choice of constant arguments; none if they differ."""
    patterns: dict[tuple[Node | None, ...], list[Call]] = {}
    for call in calls:
        pattern = tuple(a if a.is_constant else None for _, a in call.arguments)
        patterns.setdefault(pattern, []).append(call)
    found = [_function(name, alike) for alike in patterns.values()]
    return [f for f in found if f is not None] if None not in found else []


def _function(name: str, calls: Sequence[Call]) -> _Function | None:
    first = next((c for c in calls if _tells_all(c)), None)
    if first is None:
        return None
    outside = set(ancestors([a for _, a in first.arguments]))
    inside = [n for n in ancestors([first.result]) if n not in outside]
    if any(n.op.family != "elementwise" and any(x.shape for x in n.inputs) for n in inside):
        return None  # what it does with arrays it can't do with the numbers that stand for them below
    variables = {a: variable(n) for n, a in first.arguments if not a.is_constant}
    parameters = tuple(variables.get(a, a) for _, a in first.arguments)
    (body,) = substitute([first.result], variables)
    size = tree_size(body)
    order = ancestors([body])
    if not _SHORTEST <= size <= _LONGEST or any(n.kind == "bool" or n.op.kinks or n.shape for n in order):
        return None
    if any(n.op is VARIABLE and n not in parameters for n in order):
        return None
    symbols = {v: sp.Symbol(n, real=True) for v, (n, _) in zip(parameters, first.arguments, strict=True)}
    expr = written(body)
    if expr is None or expr.has(sp.nan, sp.zoo, UserFunction):
        return None
    shown = [symbols[p] if p.op is VARIABLE else written(constant(p.data)) for p in parameters]
    function = _Function(user_function(name, shown, expr), parameters, body, tuple(calls))
    same = all(function.applied([a for _, a in c.arguments]) is c.result for c in calls)
    return function if same else None


def _tells_all(call: Call) -> bool:
    """Whether the graph of a call tells what was done with which argument: no two are the same, none is made from
    another, which the function might have made anew.
    """
    given = [a for _, a in call.arguments if not a.is_constant]
    if not given or len(set(given)) < len(given):
        return False
    made = [a for a in given if a.inputs]
    return not any(a is not m and a in ancestors([m]) for m in made for a in given)
