"""Numbers at a point: gradients in float64, and by exact arithmetic where float64 does not do; claims as numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import mpmath as mp
import numpy as np
import sympy as sp

from gradexplain.errors import ArgumentError, GradexplainError
from gradexplain.evaluate import evaluate_exact, exact_array
from gradexplain.graph import Node, ancestors
from gradexplain.isolated import at_isolated_point, isolated_points, where_undefined
from gradexplain.simplify.form import ClosedForm
from gradexplain.simplify.numeric import value
from gradexplain.trace.program import no_derivative
from gradexplain.trace.run import Program, apply

_DIGITS = (40, 100, 250)  # more, until two precisions give the same float: terms may cancel
_TOLERATED = 1e-6  # relative: what float64 may lose before the exact value is shown
MOST_EXACT_WORK = 25_000  # numbers in an exact evaluation of a graph


def gradient_values(nodes: Mapping[str, Node], program: Program) -> dict[str, Any]:
    """The gradients at the point: in float64, or from exact arithmetic where float64 overflows or cancels.

    Where the function itself has no value there is no gradient: nan, or infinite. Raises `DomainError` where an
    operation of the derivative has none, as the inverse of a singular matrix.
    """
    out = {}
    for key, node in nodes.items():
        try:
            found = _best_value(node, program)
        except np.linalg.LinAlgError as error:
            raise no_derivative(program, error) from error
        out[key] = float(found) if node.shape == () else np.array(np.broadcast_to(found, node.shape), dtype=float)
    if np.any(np.isnan(program.trace.value(program.output))):
        return dict(zip(out, where_undefined(list(out.values())), strict=True))
    return out


def _best_value(node: Node, program: Program) -> Any:
    found = program.trace.value(node)
    if node.shape == () and asks_for_equality(node):
        limit = None if np.isfinite(found) else at_isolated_point([node], program.inputs, program.point)
        return found if limit is None else limit[0]
    if node.shape and np.all(np.isfinite(found)):
        return found
    exact = exact_value(node, program)
    if exact is None or not np.all(np.isfinite(exact)):
        return found
    return exact if not np.allclose(found, exact, rtol=_TOLERATED, atol=0.0) else found


def formula_value(form: ClosedForm, program: Program) -> float | None:
    """A formula's value at the point, None if it has none."""
    with mp.workdps(40):
        table: dict[str, Any] = {n: mp.mpf(float(v)) for n, v in program.point.items()}
        try:
            for name, part in form.where.items():
                table[name] = value(part, table)
            found = value(form.expr, table)
        except (GradexplainError, KeyError):
            return None
        return float(found) if mp.isfinite(found) else None


def exact_value(node: Node, program: Program) -> Any:
    """A node's exact value at the point, rounded to floats; None where that is not to be had."""
    if sum(max(1, n.size) for n in ancestors([node])) > MOST_EXACT_WORK:
        return None
    found: Any = None
    for digits in _DIGITS:
        before, found = found, _exact_at(digits, node, program)
        if found is None or (before is not None and np.array_equal(before, found, equal_nan=True)):
            break
    return found


def _exact_at(digits: int, node: Node, program: Program) -> Any:
    with mp.workdps(digits):
        values = {x: moved(program.point[n], None, mp.mpf(0), 0.0, x.kind) for n, x in program.inputs.items()}
        try:
            (exact,) = evaluate_exact([node], values)
            return np.array(exact, dtype=float) if isinstance(exact, np.ndarray) else float(exact)
        except (TypeError, AttributeError, ValueError, ArithmeticError, KeyError):
            return None


def asks_for_equality(node: Node) -> bool:
    """Whether a node is computed with the help of `==`."""
    return any(n.op.name in ("equal", "not_equal") for n in ancestors([node]))


def isolated_values(nodes: Mapping[str, Node], whole: Program) -> dict[str, Any]:
    """Gradients at a point that a branch or a `where` asks for by `==`: the limits of the derivatives around it."""
    if not any(whole.trace.value(point) for point in isolated_points(whole, list(whole.inputs.values()))):
        return {}
    limits = at_isolated_point(list(nodes.values()), whole.inputs, whole.point, or_nan=True)
    return {} if limits is None else dict(zip(nodes, limits, strict=True))


def claimed(gradient: Any, name: str, wrt: Sequence[str], program: Program) -> Any:
    """What a claimed gradient says of one argument: a mapping by name, one value for each in order, or one for all.

    Raises `ArgumentError` where it says nothing of it.
    """
    if isinstance(gradient, Mapping):
        if name not in gradient:
            raise ArgumentError(
                f"the claimed gradient has nothing for {name}",
                why=f"it has {', '.join(map(str, gradient)) or 'no keys'}",
                fix="give one value for each name, or choose names with wrt=",
            )
        gradient = gradient[name]
    elif isinstance(gradient, (tuple, sp.Tuple)) and len(wrt) > 1:
        if len(gradient) != len(wrt):
            raise ArgumentError(
                f"the claimed gradient has {len(gradient)} values", fix=f"give one for each of {', '.join(wrt)}"
            )
        gradient = gradient[wrt.index(name)]
    return claimed_value(gradient, program, name)


def claimed_value(gradient: Any, program: Program, name: str) -> Any:
    """A claimed gradient as numbers at the point: number, array, SymPy expression or function of the arguments."""
    shape = program.inputs[name].shape
    if hasattr(gradient, "free_symbols"):
        with mp.workdps(30):
            gradient = mp.re(
                value(gradient, {n: mp.mpf(float(v)) for n, v in program.point.items() if np.ndim(v) == 0})
            )
    elif callable(gradient):
        gradient = apply(gradient, program.arguments, {a.name: a.plain() for a in program.arguments})
    try:
        found = np.asarray(gradient, dtype=float)
    except (TypeError, ValueError, OverflowError):
        raise ArgumentError(
            f"the claimed gradient is {type(gradient).__name__}",
            why="it is compared with numbers",
            fix="give a number, an array, a SymPy expression or a function of the arguments",
        ) from None
    if found.shape != shape:
        raise ArgumentError(
            f"the claimed gradient has shape {found.shape}", why=f"{name} has shape {shape}", fix="give it that shape"
        )
    return float(found) if shape == () else found


def moved(value: Any, direction: Any, t: Any, centre: float, kind: str) -> Any:
    """An argument as mpmath numbers, moved by t - centre along a direction (None: not at all)."""
    if kind != "float":
        return value if isinstance(value, np.ndarray) else mp.mpf(int(value))
    if np.shape(value) == ():
        return mp.mpf(float(value)) + (0 if direction is None else (t - mp.mpf(centre)) * mp.mpf(float(direction)))
    exact = exact_array(value)
    if direction is None:
        return exact
    return exact + exact_array(direction) * (t - mp.mpf(centre))
