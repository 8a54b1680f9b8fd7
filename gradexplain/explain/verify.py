"""Checks of a derivative in tiers: exact difference quotients of the graph, a ladder on the user's own function, float accuracy.

1. *Replay*: the trace has the plain function's value (`trace.run.compare`, done when the program was traced).
2. *Exact*: one-sided difference quotients of the traced graph in mpmath. This tier decides; it knows kinks, vertical
   tangents and edges of domains.
3. *Ladder*: difference quotients of the plain function in float64. They guard the trace; where they contradict the exact
   tier at the point alone, the reader is told that float64 is to blame.
4. *Accuracy*: how many digits the gradient's own float64 value has.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import mpmath as mp
import numpy as np

from gradexplain.errors import ArgumentError
from gradexplain.evaluate import evaluate_exact, exact_array
from gradexplain.explain.exact import Slope, accepts, slope
from gradexplain.explain.model import CheckReport, CheckRow
from gradexplain.explain.quotients import Ladder, Verdict, ladder
from gradexplain.graph import Node, ancestors
from gradexplain.isolated import at_isolated_point
from gradexplain.simplify.numeric import value
from gradexplain.trace.run import Program, apply

MOST_COORDINATES = 20  # entries that are varied one by one; beyond, directions
DIRECTIONS = 3
MOST_EXACT_WORK = 300_000  # numbers in an exact evaluation of the graph
_LOST = 6  # digits: what the accuracy tier remarks on
_ROUNDING = 1e-9


@dataclass(frozen=True, slots=True)
class Claim:
    """A gradient to be checked: for one argument, its value at the point, and the node that it came from."""

    name: str
    value: Any
    node: Node | None = None


def check(program: Program, claims: Sequence[Claim], *, black_box: bool = True) -> CheckReport:
    """Compares claimed gradients at the program's point with difference quotients."""
    point = tuple(program.point.items())
    entries = sum(int(np.size(c.value)) for c in claims)
    small = entries <= MOST_COORDINATES
    rows = _by_coordinate(program, claims, black_box) if small else _by_direction(program, claims, black_box)
    notes = tuple(dict.fromkeys(_accuracy(program, claims) if small else ()))
    if not small:
        notes += (f"{entries} entries: every one is in the sum along {DIRECTIONS} random directions",)
    ok = bool(rows) and not any(r.verdict == "fail" for r in rows) and any(r.verdict == "pass" for r in rows)
    return CheckReport(ok, tuple(rows), point, notes, entries)


def _by_coordinate(program: Program, claims: Sequence[Claim], black_box: bool) -> list[CheckRow]:
    rows = []
    for claim in claims:
        values = np.asarray(claim.value, dtype=float)
        for index in np.ndindex(values.shape):
            direction = {claim.name: _unit(index, values.shape)}
            name = claim.name + (f"[{', '.join(map(str, index))}]" if index else "")
            centre = float(np.asarray(program.point[claim.name])[index])
            rows.append(_row(name, program, direction, centre, float(values[index]), black_box))
    return rows


def _by_direction(program: Program, claims: Sequence[Claim], black_box: bool) -> list[CheckRow]:
    """Random directions: exact arithmetic sees one wrong entry among thousands in their sum."""
    rows = []
    for k in range(DIRECTIONS):
        generator = np.random.default_rng(k)
        direction = {c.name: generator.uniform(0.5, 1.5, np.shape(c.value)).round(3) for c in claims}
        claimed = math.fsum(float(np.sum(direction[c.name] * np.asarray(c.value, dtype=float))) for c in claims)
        scale = math.fsum(float(np.sum(np.abs(direction[c.name] * c.value))) for c in claims)
        rows.append(_row(f"direction {k + 1}", program, direction, 0.0, claimed, black_box and k == 0, scale))
    return rows


def _unit(index: tuple[int, ...], shape: tuple[int, ...]) -> Any:
    out = np.zeros(shape)
    out[index] = 1.0
    return out


def _row(
    name: str,
    program: Program,
    direction: Mapping[str, Any],
    centre: float,
    claimed: float,
    black_box: bool,
    scale: float = 0.0,
) -> CheckRow:
    """One slope by the exact tier, guarded by the ladder; `centre` is where the varied coordinate stands."""
    exact = _exact_slope(program, direction, centre)
    steps = _ladder(program, direction, centre, claimed) if black_box or exact is None else None
    quotient, error, step = _figures(exact, steps)
    shown = None if quotient is None else abs(claimed - quotient)
    if exact is not None:
        good = accepts(exact, claimed) or (scale > 0 and shown is not None and shown <= _ROUNDING * scale)
        if not good:
            return CheckRow(name, claimed, quotient, shown, step, "fail", _explained(exact, claimed))
        if steps is not None and steps.verdict is Verdict.FAIL and _trace_is_wrong(program, direction, centre):
            return CheckRow(
                name,
                claimed,
                steps.estimate,
                error,
                step,
                "fail",
                "the plain function has another slope than its trace",
            )
        return CheckRow(
            name, claimed, quotient, shown, step, "pass", "" if exact.kind == "smooth" else _explained(exact, claimed)
        )
    assert steps is not None
    return CheckRow(name, claimed, steps.estimate, error, step, steps.verdict.value, steps.reason)


def _figures(exact: Slope | None, steps: Ladder | None) -> tuple[float | None, float | None, float | None]:
    estimate = None if steps is None else steps.estimate
    if exact is not None:
        value = exact.value if exact.value is not None else exact.right if exact.right is not None else exact.left
        estimate = estimate if value is None else float(value)
    return estimate, None if steps is None else steps.error, None if steps is None else steps.step


def _explained(s: Slope, claimed: float) -> str:
    """What the exact tier saw, in words."""
    left, right = (None if v is None else mp.nstr(v, 6) for v in (s.left, s.right))
    match s.kind:
        case "smooth":
            return f"the slope is {mp.nstr(s.value, 10)}"
        case "kink":
            return (
                f"not differentiable here: slope {left} from the left, {right} from the right; convention {claimed:g}"
            )
        case "vertical":
            return f"vertical tangent: slope {right if right is not None else left}"
        case "edge":
            return f"edge of the domain: slope {right if right is not None else left} from inside"
        case "jump":
            return "the function jumps here"
    return "the function has no slope here"


def _exact_slope(program: Program, direction: Mapping[str, Any], centre: float) -> Slope | None:
    """The exact tier; None where the graph can't be evaluated in mpmath or is too large for it."""
    order = ancestors([program.output])
    if sum(max(1, n.size) for n in order) > MOST_EXACT_WORK:
        return None

    def f(t: Any) -> Any:
        values = {}
        for name, node in program.inputs.items():
            values[node] = _moved(program.point[name], direction.get(name), t, centre, node.kind)
        (y,) = evaluate_exact([program.output], values)
        return np.sum(y) if isinstance(y, np.ndarray) else y

    try:
        with mp.workdps(30):
            f(mp.mpf(centre))
    except (TypeError, AttributeError, ValueError, ArithmeticError, KeyError):
        return None
    return slope(f, centre)


def _moved(value: Any, direction: Any, t: Any, centre: float, kind: str) -> Any:
    if kind != "float":
        return value if isinstance(value, np.ndarray) else mp.mpf(int(value))
    if np.shape(value) == ():
        return mp.mpf(float(value)) + (0 if direction is None else (t - mp.mpf(centre)) * mp.mpf(float(direction)))
    exact = exact_array(value)
    if direction is None:
        return exact
    return exact + exact_array(direction) * (t - mp.mpf(centre))


def _plain_along(program: Program, direction: Mapping[str, Any], centre: float) -> Callable[[float], float]:
    """The user's own function along a direction, in float64."""

    def f(t: float) -> float:
        values = {}
        for a in program.arguments:
            value = a.plain()
            if a.name in direction:
                value = t if np.shape(value) == () and centre == value else value + (t - centre) * direction[a.name]
                value = float(value) if np.shape(value) == () else value
            values[a.name] = value
        with np.errstate(all="ignore"):
            return float(np.sum(apply(program.function, program.arguments, values)))

    return f


def _ladder(program: Program, direction: Mapping[str, Any], centre: float, claimed: float) -> Ladder | None:
    if not math.isfinite(claimed):
        return None
    return ladder(_plain_along(program, direction, centre), centre, claimed)


def _trace_is_wrong(program: Program, direction: Mapping[str, Any], centre: float) -> bool:
    """Whether the plain function contradicts its trace at nearby points too, where no rounding is to blame."""
    generator = random.Random(0)
    failures = 0
    for _ in range(3):
        near = centre + (abs(centre) or 1.0) * generator.uniform(-0.1, 0.1)
        exact = _exact_slope_at(program, direction, centre, near)
        if exact is None or exact.kind != "smooth":
            continue
        steps = ladder(_plain_along(program, direction, centre), near, float(exact.value))
        failures += steps.verdict is Verdict.FAIL
    return failures >= 2


def _exact_slope_at(program: Program, direction: Mapping[str, Any], centre: float, near: float) -> Slope | None:
    def f(t: Any) -> Any:
        values = {
            node: _moved(program.point[n], direction.get(n), t, centre, node.kind) for n, node in program.inputs.items()
        }
        (y,) = evaluate_exact([program.output], values)
        return np.sum(y) if isinstance(y, np.ndarray) else y

    return slope(f, near)


def _accuracy(program: Program, claims: Sequence[Claim]) -> list[str]:
    """Remarks on claims whose float64 value has lost digits against the exact value of the same graph."""
    notes = []
    for claim in claims:
        if claim.node is None or claim.node.shape:
            continue
        with mp.workdps(40):
            values = {x: _moved(program.point[n], None, mp.mpf(0), 0.0, x.kind) for n, x in program.inputs.items()}
            try:
                (exact,) = evaluate_exact([claim.node], values)
            except (TypeError, AttributeError, ValueError, ArithmeticError, KeyError):
                continue
            if not mp.isfinite(exact) or exact == 0 or not math.isfinite(claim.value):
                continue
            lost = 16 + float(mp.log10(abs(mp.mpf(claim.value) - exact) / abs(exact) + mp.mpf(10) ** -16))
        if lost > _LOST:
            notes.append(
                f"the formula for {claim.name} is right, but float64 loses {lost:.0f} of 16 digits to cancellation here"
            )
    return notes


def gradient_values(nodes: Mapping[str, Node], program: Program) -> dict[str, Any]:
    """The gradients at the point in float64; at an isolated point the limit from both sides."""
    out = {}
    for key, node in nodes.items():
        found = program.trace.value(node)
        if node.shape == () and not math.isfinite(found):
            limit = at_isolated_point([node], program.inputs, program.point)
            found = limit[0] if limit is not None and _asks_for_equality(node) else found
        out[key] = float(found) if node.shape == () else np.array(np.broadcast_to(found, node.shape), dtype=float)
    return out


def _asks_for_equality(node: Node) -> bool:
    return any(n.op.name in ("equal", "not_equal") for n in ancestors([node]))


def isolated_values(nodes: Mapping[str, Node], whole: Program) -> dict[str, Any]:
    """Gradients at a point that a branch asked for by `==`: the limits of the joined function's derivatives."""
    taken = [c for c in whole.conditions if c.truth and c.node.op.name == "equal"]
    if not taken:
        return {}
    limits = at_isolated_point(list(nodes.values()), whole.inputs, whole.point)
    return {} if limits is None else dict(zip(nodes, limits, strict=True))


def claimed_value(gradient: Any, program: Program, name: str) -> Any:
    """A claimed gradient as numbers at the point: a number, an array, a SymPy expression or a function of the arguments."""
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
    except (TypeError, ValueError):
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
