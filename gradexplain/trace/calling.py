"""Calls of the user's function, on traced values or plainly, with what it raises and returns put into our errors."""

from __future__ import annotations

import inspect
import warnings
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from types import TracebackType
from typing import Any

import numpy as np

from gradexplain.errors import (
    FunctionError,
    GradexplainError,
    NoRuleError,
    NotTraceableError,
    Place,
    RecursionDepthError,
    ReturnError,
)
from gradexplain.graph import Node, constant
from gradexplain.primitive import NUMPY
from gradexplain.trace.exits import BUFFER
from gradexplain.trace.signature import Argument
from gradexplain.trace.source import is_library, place_at, place_of_function, public_name
from gradexplain.trace.stand_ins import stand_in_for
from gradexplain.trace.tracer import Tracer


def function_name(function: Callable[..., Any]) -> str:
    """The name to call a function by: `f` for a lambda."""
    inner = inspect.unwrap(getattr(function, "func", function))
    name: str = getattr(inner, "__name__", type(inner).__name__)
    return "f" if name == "<lambda>" else name


def apply(function: Callable[..., Any], arguments: Sequence[Argument], values: Mapping[str, Any]) -> Any:
    """Calls the function with values by the names of its arguments; defaults that are not traced are left to it."""
    positional = [a for a in arguments if not a.keyword]
    while positional and positional[-1].is_default and positional[-1].role == "static":
        positional.pop()
    keywords = [a.name for a in arguments if a.keyword and not (a.is_default and a.role == "static")]
    return function(*[values[a.name] for a in positional], **{n: values[n] for n in keywords})


def plain(function: Callable[..., Any], arguments: Sequence[Argument], *, strict: bool = False) -> Any:
    """The function's own value at the point, with its exceptions as `FunctionError`.

    Floats are given to it as they were passed; where that fails, as NumPy's, for which 1/0 is infinite (unless the
    function handles exceptions itself: `strict`).
    """
    try:
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                result = apply(function, arguments, {a.name: a.as_given() for a in arguments})
            except (ArithmeticError, ValueError):
                if strict:
                    raise
            else:
                if strict or not isinstance(result, complex):
                    return result
            return apply(function, arguments, {a.name: a.plain() for a in arguments})
    except GradexplainError:  # of a derivative that the function takes
        raise
    except Exception as error:
        raise failed(error, function) from error


def failed(error: Exception, function: Callable[..., Any]) -> FunctionError:
    """The error for an exception of the function's own."""
    if isinstance(error, RecursionError):
        return too_deep(error, function)
    is_name = isinstance(error, (NameError, AttributeError))
    return FunctionError(
        f"{function_name(function)} raises {type(error).__name__}: {error}",
        where=raised_at(error),
        why="there is nothing of this name" if is_name else "the function itself fails at this point",
        fix="correct the name" if is_name else "choose a point where it has a value",
    )


def too_deep(error: RecursionError, function: Callable[..., Any]) -> RecursionDepthError:
    """The error for a recursion that did not come to an end: which function, at which line, how deep."""
    own = [step for module, step in _steps(error.__traceback__) if not is_library(module)]
    lines = Counter((step.tb_frame.f_code, step.tb_lineno) for step in own)
    ((code, line), depth) = max(lines.items(), key=lambda item: item[1], default=((None, 0), 0))
    name = function_name(function) if code is None or code.co_name == "<lambda>" else code.co_name
    return RecursionDepthError(
        f"{name} calls itself {depth} times, one call within the other",
        where=None if code is None else place_at(code, line),
        why="Python allows no more; the recursion is longer than that, or has no end for this input",
        fix="check the case that ends it; a recursion that is only long can be written as a loop",
    )


def as_traced(value: Any) -> Any:
    """A value that is passed on as it is, but for the functions that have to know tracers."""
    stand_in = stand_in_for(value)
    return value if stand_in is None else stand_in


def on_failure(
    error: Exception, function: Callable[..., Any], arguments: Sequence[Argument], strict: bool | None
) -> GradexplainError:
    """What to raise when the function failed on traced values; `strict` is None where there are no numbers."""
    where = raised_at(error)
    ours = _cause(error)
    if ours is not None:
        ours.where = ours.where or where
        return ours
    if isinstance(error, RecursionError):
        return too_deep(error, function)
    if strict is not None:
        plain(function, arguments, strict=strict)  # raises FunctionError if the function itself fails there
    library = _library_in(error.__traceback__)
    by_name = not library or library.endswith(".__getattr__")  # NumPy looks its names up in Python
    if by_name and (isinstance(error, NameError) or (isinstance(error, AttributeError) and not _on_tracer(error))):
        return failed(error, function)
    if library:
        return NoRuleError(
            f"{library} has no derivative rule",
            where=where,
            why=f"it does not accept a traced value ({type(error).__name__}: {error})",
            fix="write it with NumPy's functions that have a rule",
        )
    return NotTraceableError(
        f"{function_name(function)} fails on traced values: {type(error).__name__}: {error}",
        where=where,
        why="" if strict is None else "the plain function works, but something in it does not accept them",
        fix="use operators, math and NumPy functions on the traced value",
    )


def _on_tracer(error: AttributeError) -> bool:
    return type(error.obj) is Tracer


def _cause(error: BaseException) -> GradexplainError | None:
    """Our own error, or the one behind what NumPy made of it."""
    found: BaseException | None = error
    while found is not None and not isinstance(found, GradexplainError):
        found = found.__cause__ or found.__context__
    if found is not None and "setting an array element" in str(error):
        return NotTraceableError(*BUFFER[:1], why=BUFFER[1], fix=BUFFER[2])
    return found


def _steps(step: TracebackType | None) -> list[tuple[str, TracebackType]]:
    """The frames that an exception passed, outermost first, with the names of their modules."""
    found = []
    while step is not None:
        found.append((step.tb_frame.f_globals.get("__name__", ""), step))
        step = step.tb_next
    return found


def raised_at(error: BaseException) -> Place | None:
    """The innermost line of the user's program that an exception passed."""
    lines = [step for module, step in _steps(error.__traceback__) if not is_library(module)]
    return place_at(lines[-1].tb_frame.f_code, lines[-1].tb_lineno) if lines else None


def _library_in(traceback: TracebackType | None) -> str:
    """The function of a library in which an exception was raised, "" if it was the user's own line."""
    steps = [(m, s) for m, s in _steps(traceback) if m.partition(".")[0] != "gradexplain"]
    last = max((i for i, (module, _) in enumerate(steps) if not is_library(module)), default=-1)
    return public_name(steps[last + 1][1].tb_frame) if last + 1 < len(steps) else ""


def returned(result: Any, function: Callable[..., Any], stack_results: bool) -> Node:
    """The node of a result, or an error that says what else was returned."""
    if type(result) is Tracer and result._node.kind != "bool":
        return result.node
    if isinstance(result, (int, float, np.number)) and not isinstance(result, (bool, complex, np.complexfloating)):
        return constant(result)
    if type(result) is np.ndarray and result.dtype.kind in "fiu":
        return constant(result.astype(float))
    if isinstance(result, (list, tuple)) and stack_results and result:
        return NUMPY[np.stack]([returned(r, function, True) for r in result])  # type: ignore[no-any-return]
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
    if isinstance(result, np.ndarray):
        return f"an array of dtype {result.dtype}"
    return f"a value of type {type(result).__name__}"


def _advice(result: Any) -> str:
    if result is None:
        return "did you forget `return`?"
    if isinstance(result, (list, tuple)):
        return "use jacobian or explain_jacobian, or return one of the values"
    if isinstance(result, np.ndarray):
        return "build it without dtype=object"
    return "return a number or an array of floats"
