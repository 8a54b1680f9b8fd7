"""Runs a function on tracers: once (`trace`), or along every path through its branches (`explore`).

The user's function is called once with tracers, and once plainly beside it (`compare`) when there are numbers: what an
`except` branch, a cached helper or a detached copy hid from the trace shows in another value. Exploring calls it once for
each further path.
"""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from gradexplain.errors import (
    DeterminismError,
    FunctionError,
    GradexplainError,
    NotTraceableError,
    Place,
    ReturnError,
)
from gradexplain.graph import Node, as_node, constant, variable
from gradexplain.ops.ordering import where
from gradexplain.primitive import NUMPY
from gradexplain.trace.patches import Patches
from gradexplain.trace.signature import Argument
from gradexplain.trace.source import place_of_function
from gradexplain.trace.tracer import Condition, Trace, Tracer

MOST_PATHS = 32


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


def function_name(function: Callable[..., Any]) -> str:
    """The name to call a function by: `f` for a lambda."""
    inner = inspect.unwrap(getattr(function, "func", function))
    name: str = getattr(inner, "__name__", type(inner).__name__)
    return "f" if name == "<lambda>" else name


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
) -> Program:
    """Runs the function once with tracers; with `planned` branch decisions along that path, without real numbers."""
    inputs = make_inputs(arguments) if inputs is None else inputs
    running = begin(function, arguments, inputs, planned)
    output = run(function, arguments, inputs, running, stack_results=stack_results)
    return Program(function, running.function, tuple(arguments), inputs, output, running)


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
) -> Node:
    """Calls the function on tracers within a trace; gives the node that it returns."""
    with running, Patches(function), np.errstate(all="ignore"):
        values = {a.name: Tracer(running, inputs[a.name]) if a.name in inputs else a.plain() for a in arguments}
        result = _call(function, arguments, values, running.numeric)
        return _returned(result, function, stack_results)


def _call(function: Callable[..., Any], arguments: Sequence[Argument], values: Mapping[str, Any], numeric: bool) -> Any:
    try:
        return apply(function, arguments, values)
    except (GradexplainError, RecursionError):
        raise
    except Exception as error:
        if numeric:
            plain(function, arguments)  # raises FunctionError if the function itself fails there
        line = _raised_at(error)
        raise NotTraceableError(
            f"{function_name(function)} fails on traced values: {type(error).__name__}: {error}",
            where=line,
            why="the plain function works, but something in it does not accept a traced value" if numeric else "",
            fix="use operators, math and NumPy functions on the traced value",
        ) from error


def apply(function: Callable[..., Any], arguments: Sequence[Argument], values: Mapping[str, Any]) -> Any:
    """Calls the function with values by the names of its arguments."""
    positional = [values[a.name] for a in arguments if not a.keyword]
    return function(*positional, **{a.name: values[a.name] for a in arguments if a.keyword})


def plain(function: Callable[..., Any], arguments: Sequence[Argument]) -> Any:
    """The function's own value at the point, with its exceptions as `FunctionError`."""
    try:
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return apply(function, arguments, {a.name: a.plain() for a in arguments})
    except RecursionError:
        raise
    except Exception as error:
        raise FunctionError(
            f"{function_name(function)} raises {type(error).__name__}: {error}",
            where=_raised_at(error),
            why="the function itself fails at this point",
            fix="choose a point where it has a value",
        ) from error


def _raised_at(error: BaseException) -> Place | None:
    """The innermost line of the user's program that an exception passed."""
    found = None
    step = error.__traceback__
    while step is not None:
        module = step.tb_frame.f_globals.get("__name__", "")
        if not module.startswith(("gradexplain.", "numpy.")) and module != "gradexplain":
            code = step.tb_frame.f_code
            found = Place(code.co_filename.rpartition("/")[2], step.tb_lineno, code.co_name)
        step = step.tb_next
    return found


def _returned(result: Any, function: Callable[..., Any], stack_results: bool) -> Node:
    """The node of a result, or an error that says what else was returned."""
    if type(result) is Tracer and result._node.kind != "bool":
        return result.node
    if isinstance(result, (int, float, np.number)) and not isinstance(result, (bool, complex, np.complexfloating)):
        return constant(result)
    if type(result) is np.ndarray and result.dtype.kind in "fiu":
        return constant(result.astype(float))
    if isinstance(result, (list, tuple)) and stack_results and result:
        return NUMPY[np.stack]([_returned(r, function, True) for r in result])  # type: ignore[no-any-return]
    raise ReturnError(
        f"{function_name(function)} returned {_described(result)}",
        where=place_of_function(function),
        why="a derivative needs one number or one array of numbers",
        fix=_advice(result),
    )


def _described(result: Any) -> str:
    if result is None:
        return "None"
    if isinstance(result, (list, tuple)):
        return f"a {type(result).__name__} of {len(result)} values"
    if isinstance(result, (bool, np.bool_)) or type(result) is Tracer:
        return "a truth value"
    return f"a value of type {type(result).__name__}"


def _advice(result: Any) -> str:
    if result is None:
        return "did you forget `return`?"
    if isinstance(result, (list, tuple)):
        return "use jacobian or explain_jacobian, or return one of the values"
    return "return a number or an array of floats"


def compare(program: Program) -> None:
    """Runs the plain function beside the trace; raises `DeterminismError` if it gives another value."""
    mine = program.trace.value(program.output)
    theirs = plain(program.function, program.arguments)
    if _agree(mine, theirs):
        return
    again = plain(program.function, program.arguments)
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
        why="a part of it treats traced values differently: an except branch, isinstance, a cached helper, an alias of an array",
        fix="remove that part from the function",
    )


def _agree(a: Any, b: Any) -> bool:
    a, b = np.asarray(a), np.asarray(b)
    if a.shape != b.shape or b.dtype.kind not in "fiub":
        return False
    rtol = 1e-7 if a.dtype == b.dtype or b.dtype.itemsize == 8 else 1e-3 if b.dtype.itemsize == 4 else 1e-1
    with np.errstate(all="ignore"):
        return bool(np.allclose(a, b, rtol=rtol, atol=1e-9, equal_nan=True))


def _short(value: Any) -> str:
    text = np.array2string(np.asarray(value), threshold=6, precision=8)
    return text if len(text) < 60 else text[:57] + "..."


def explore(program: Program, *, stack_results: bool = False) -> Program:
    """The same function along every path, joined by `where` at each branch.

    A path on which the function raises or returns nothing is left out: there is no value there. Too many paths leave the
    program as it is, with the reason in `limits`.
    """
    if not program.conditions:
        return replace(program, explored=True)
    first = tuple(c.truth for c in program.conditions)
    paths: dict[tuple[bool, ...], tuple[list[Condition], Node | None]] = {
        first: (program.trace.conditions, program.output)
    }
    waiting = [(*first[:i], not first[i]) for i in range(len(first))]
    limits: list[str] = []
    while waiting:
        if len(paths) >= MOST_PATHS:
            return replace(program, limits=(f"{program.name} has more than {MOST_PATHS} paths through its branches",))
        planned = waiting.pop()
        conditions, output, limit = _follow(program, planned, stack_results)
        if limit:
            return replace(program, limits=(limit,))
        taken = tuple(c.truth for c in conditions)
        if taken in paths or taken[: len(planned)] != planned:
            continue
        paths[taken] = (conditions, output)
        waiting += [(*taken[:i], not taken[i]) for i in range(len(planned), len(taken))]
    joined = _join(list(paths.values()), 0)
    assert joined is not None
    return replace(program, output=joined, explored=True, limits=tuple(limits))


def _follow(
    program: Program, planned: tuple[bool, ...], stack_results: bool
) -> tuple[list[Condition], Node | None, str]:
    """One more path: its conditions, what it returns (None: nothing), and the reason if exploring must stop."""
    running = begin(program.function, program.arguments, program.inputs, planned)
    output, limit = None, ""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            output = run(program.function, program.arguments, program.inputs, running, stack_results=stack_results)
    except ReturnError:
        pass
    except GradexplainError as error:
        # The user's own exception means that the function has no value there; anything else is a limit of ours.
        limit = "" if error.__cause__ is not None else error.what
    return running.conditions, output, limit


def _join(paths: list[tuple[list[Condition], Node | None]], depth: int) -> Node | None:
    """The decision tree of the paths as nested `where`; depth is bounded by the number of decisions on a path."""
    if len(paths) == 1:
        return paths[0][1]
    with_node = next((c for c, output in paths if output is not None and len(c) > depth), None)
    yes = _join_side(paths, depth, truth=True)
    no = _join_side(paths, depth, truth=False)
    if yes is None or no is None or with_node is None:
        return no if yes is None else yes
    yes, no = as_node(yes), as_node(no)
    if yes.shape != no.shape:
        raise ReturnError(
            f"the branches return arrays of different shapes, {yes.shape} and {no.shape}",
            why="one formula can't have both",
            fix="give a point: the path taken there is explained",
        )
    return where(with_node[depth].node, yes, no)


def _join_side(paths: list[tuple[list[Condition], Node | None]], depth: int, *, truth: bool) -> Node | None:
    side = [p for p in paths if len(p[0]) > depth and p[0][depth].truth is truth]
    return _join(side, depth + 1) if side else None
