"""Runs a function on tracers (`trace`), and plainly beside it (`compare`).

The user's function is called once with tracers, and once plainly beside it when there are numbers: what an `except`
branch, a cached helper or a detached copy hid from the trace shows in another value.
"""

from __future__ import annotations

import contextlib
import io
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from gradexplain.errors import (
    DeterminismError,
    DomainError,
    FunctionError,
    GradexplainError,
    NotTraceableError,
    Place,
)
from gradexplain.evaluate import evaluate
from gradexplain.graph import Node, variable
from gradexplain.ops import elementary, ordering
from gradexplain.trace.calling import apply, as_traced, function_name, on_failure, plain, returned
from gradexplain.trace.calls import recorded
from gradexplain.trace.patches import Patches
from gradexplain.trace.reach import handles_exceptions, slots
from gradexplain.trace.running import Condition, Trace
from gradexplain.trace.signature import Argument
from gradexplain.trace.source import name_of, place_of, place_of_function
from gradexplain.trace.tracer import Tracer


@dataclass(frozen=True, slots=True)
class Program:
    """A traced function: its arguments, the variables that stand for them, and the node that it returns."""

    function: Callable[..., Any]
    name: str
    arguments: tuple[Argument, ...]
    inputs: Mapping[str, Node]
    output: Node
    trace: Trace
    explored: bool = False  # whether `output` joins all paths; else it holds where `conditions` do
    limits: tuple[str, ...] = ()  # why some paths are not in it

    @property
    def conditions(self) -> tuple[Condition, ...]:
        """The branches taken at the point."""
        return tuple(self.trace.conditions)

    @property
    def guards(self) -> dict[Node, bool]:
        """What else must hold at another point: exceptions are raised (or not) as at this one."""
        if self.trace.strict or all(not x.shape for x in self.inputs.values()):
            return self.trace.guards  # where all is numbers, the program fails where `math` does
        fails = {ordering.logical_not(elementary.isfinite(n)): False for n in self.trace.by_math}
        return {**self.trace.guards, **fails}

    def local_name(self, node: Node, *, own: bool = False) -> str | None:
        """What a value is assigned to: a variable of the function itself, else (unless `own`) of one that it calls."""
        sites = [*reversed(self.trace.returned.get(node, ())), self.trace.sites.get(node)]
        names = [(site, name) for site in sites if site is not None and (name := name_of(site)) is not None]
        codes = self.trace.own
        mine = [name for site, name in names if codes is None or any(site[0] is code for code in codes)]
        return next(iter(mine if own else [*mine, *(name for _, name in names)]), None)

    @property
    def place(self) -> Place | None:
        """Where the function is defined."""
        return place_of_function(self.function)

    @property
    def is_numeric(self) -> bool:
        """Whether every traced argument has a number."""
        return all(a.is_numeric for a in self.arguments if a.role == "traced")

    @property
    def point(self) -> dict[str, Any]:
        """The numbers of the traced arguments."""
        return {a.name: a.value for a in self.arguments if a.role == "traced" and a.is_numeric}


def make_inputs(arguments: Sequence[Argument]) -> dict[str, Node]:
    """A variable for each traced argument."""
    return {a.name: variable(a.name, a.shape, a.kind) for a in arguments if a.role == "traced"}


def trace(
    function: Callable[..., Any],
    arguments: Sequence[Argument],
    inputs: Mapping[str, Node] | None = None,
    *,
    planned: tuple[bool, ...] | None = None,
    stack_results: bool = False,
    calls: bool = False,
) -> Program:
    """Runs the function once with tracers; with `planned` branch decisions along that path, without real numbers.

    Without numbers there is no path that must be taken: where the function raises an exception, the next one is. With
    `calls`, the trace tells which functions of the user's were called on the way.
    """
    inputs = make_inputs(arguments) if inputs is None else inputs
    while True:
        running = begin(function, arguments, inputs, planned)
        try:
            output = run(function, arguments, inputs, running, stack_results=stack_results, calls=calls)
        except GradexplainError as error:
            planned = _next_path(running) if error.__cause__ is not None else None
            if planned is None:
                raise
        else:
            return Program(function, running.function, tuple(arguments), inputs, output, running)


def _next_path(running: Trace) -> tuple[bool, ...] | None:
    """The path that answers the last branch that was answered with yes with no; None if numbers decide."""
    taken = [c.truth for c in running.conditions]
    if running.numeric or True not in taken:
        return None
    last = len(taken) - 1 - taken[::-1].index(True)
    return (*taken[:last], False)


def begin(
    function: Callable[..., Any],
    arguments: Sequence[Argument],
    inputs: Mapping[str, Node],
    planned: tuple[bool, ...] | None = None,
) -> Trace:
    """An empty trace that knows the numbers of the arguments (only of the integers, where a path is planned)."""
    numeric = planned is None and all(a.is_numeric for a in arguments if a.role == "traced")
    empty = Trace(function_name(function), numeric, exploring=not numeric, planned=planned or ())
    for a in arguments:
        if a.name in inputs and a.is_numeric and (numeric or a.kind != "float"):
            empty.values[inputs[a.name]] = a.plain()
    return empty


def run(
    function: Callable[..., Any],
    arguments: Sequence[Argument],
    inputs: Mapping[str, Node],
    running: Trace,
    *,
    stack_results: bool = False,
    calls: bool = False,
) -> Node:
    """Calls the function on tracers within a trace; gives the node that it returns."""
    static = [a.value for a in arguments if a.name not in inputs]
    places = list(slots(function, *static))
    running.strict = running.numeric and handles_exceptions(places, function)
    try:
        with running, Patches(places), np.errstate(all="ignore"):
            known = {
                a.name: Tracer(running, inputs[a.name]) if a.name in inputs else as_traced(a.plain()) for a in arguments
            }
            with recorded(running) if calls else contextlib.nullcontext():
                result = apply(as_traced(function), arguments, known)
    except Exception as error:
        strict = running.strict if running.numeric and running.parent is None else None
        ours = on_failure(error, function, arguments, strict)
        if ours is error:
            raise
        raise ours from error
    return returned(result, function, stack_results)


def compare(program: Program) -> None:
    """Runs the plain function beside the trace; raises `DeterminismError` if it gives another value."""
    strict = program.trace.strict
    theirs = plain(program.function, program.arguments, strict=strict)
    try:
        mine = program.trace.value(program.output)
    except np.linalg.LinAlgError as error:
        raise DomainError(
            f"{program.name} can't be computed as a graph at this point: {error}",
            where=program.place,
            why="a matrix that has to be inverted or factored is singular there",
            fix="choose another point",
        ) from error
    if _agree(mine, theirs):
        return _refuse_texts(program)
    if program.trace.nested and any(asks_for_a_point(c) for c in program.conditions):
        return None  # the inner derivative is a limit there, and so will be the outer one
    again = plain(program.function, program.arguments, strict=strict)
    if not _agree(theirs, again):
        raise DeterminismError(
            f"{program.name} gives different values when it is called twice: {_short(theirs)} and {_short(again)}",
            where=program.place,
            why="it draws random numbers or keeps a state",
            fix="draw the random numbers outside and pass them as an argument",
        )
    raise DeterminismError(
        f"{program.name} gives {_short(theirs)}, but {_short(mine)} when it is traced",
        where=program.place,
        why="a part of it treats traced values differently: an except branch, type(x), a cached helper, an alias",
        fix="remove that part from the function",
    )


def no_derivative(program: Program, error: Exception) -> DomainError:
    """The error where an operation of the derivative has no value: a matrix without an inverse."""
    return DomainError(
        f"the derivative of {program.name} can't be computed at this point: {error}",
        where=program.place,
        why="a matrix that has to be inverted or factored is singular there",
        fix="choose another point",
    )


def asks_for_a_point(c: Condition) -> bool:
    """Whether a branch was taken because two real numbers are equal."""
    return c.node.op in (ordering.equal, ordering.not_equal) and c.truth is (c.node.op is ordering.equal)


_MOVES = (1e-3, -1e-3, 0.4, -0.4)  # relative to 1 + |x|


def _refuse_texts(program: Program) -> None:
    """Where values were turned into text: raises if, at moved points, the function is not what its trace says.

    Points at which it would take other branches tell nothing.
    """
    if not program.trace.texts:
        return
    for move in _MOVES:
        moved = [_moved(a, move) for a in program.arguments]
        values = {program.inputs[a.name]: a.plain() for a in moved if a.name in program.inputs}
        tests = {**program.guards, **{c.node: c.truth for c in program.conditions}}
        try:
            if any(bool(v) is not t for v, t in zip(evaluate(list(tests), values), tests.values(), strict=True)):
                continue
            (mine,) = evaluate([program.output], values)
            with contextlib.redirect_stdout(io.StringIO()):
                theirs = plain(program.function, moved, strict=program.trace.strict)
        except (FunctionError, np.linalg.LinAlgError):
            continue
        if not _agree(mine, theirs, 1e-6):
            where = place_of(program.trace.texts[0])
            raise NotTraceableError(
                f"the text of a traced value flows back into the result{f' ({where.text})' if where else ''}",
                where=where,
                why=f"beside the point {program.name} gives {_short(theirs)}, but its trace {_short(mine)}",
                fix="compute with the value itself, and use its text for output alone",
            )


def _moved(a: Argument, by: float) -> Argument:
    return replace(a, value=a.value + by * (1 + abs(a.value))) if a.role == "traced" and a.kind == "float" else a


def _agree(a: Any, b: Any, precision: float = 1e-7) -> bool:
    a, b = np.asarray(a), np.asarray(b)
    if a.shape != b.shape or b.dtype.kind not in "fiub":
        return False
    rtol = precision if a.dtype == b.dtype or b.dtype.itemsize == 8 else 1e-3 if b.dtype.itemsize == 4 else 1e-1
    with np.errstate(all="ignore"):
        return bool(np.allclose(a, b, rtol=rtol, atol=1e-9, equal_nan=True))


def _short(value: Any) -> str:
    text = np.array2string(np.asarray(value), threshold=6, precision=8)
    return text if len(text) < 60 else text[:57] + "..."
