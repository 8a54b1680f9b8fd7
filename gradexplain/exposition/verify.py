"""Checks of a derivative in tiers: exact difference quotients of the graph, a ladder on the user's own function,
float accuracy.

1. *Replay*: the trace has the plain function's value (`trace.run.compare`, done when the program was traced).
2. *Exact*: one-sided difference quotients of the traced graph in mpmath. This tier decides; it knows kinks, vertical
   tangents and edges of domains.
3. *Ladder*: difference quotients of the plain function in float64. They guard the trace; where they contradict the
   exact tier at the point alone, the reader is told that float64 is to blame.
4. *Accuracy*: how many digits the gradient's own float64 value has.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import mpmath as mp
import numpy as np

from gradexplain.autodiff import inner
from gradexplain.errors import GradexplainError
from gradexplain.evaluate import evaluate
from gradexplain.exposition.direction import Subject
from gradexplain.exposition.exact import Slope, accepts, slope
from gradexplain.exposition.model import CheckReport, CheckRow
from gradexplain.exposition.quotients import Ladder, Verdict, ladder
from gradexplain.exposition.values import MOST_EXACT_WORK, asks_for_equality, exact_value
from gradexplain.graph import Node, ancestors, constant, depends_on
from gradexplain.language import Sentence
from gradexplain.ops import decompositions
from gradexplain.simplify.sampling import sample
from gradexplain.structured import structured_in, tied_array
from gradexplain.trace.run import Program

Verdicts = Literal["pass", "fail", "inconclusive"]
MOST_COORDINATES = 20  # entries that are varied one by one; beyond, directions
DIRECTIONS = 3
MOST_SHOWN_WORK = 2_000  # entries times operations that are varied one by one for a check beside a result
SAMPLED = 3  # points of a check without a point
_DRIFT = 1e-3  # of the slope
_AROUND = (-0.1, -0.05, -0.02, 0.02, 0.05, 0.1)
_LOST = 6  # digits: what the accuracy tier remarks on
_ROUNDING = 1e-9
_UNSEEN = 1e-15  # of a value


@dataclass(frozen=True, slots=True)
class Claim:
    """A derivative to be checked: of what node, with respect to which argument, its value, and the node it came from.

    `of` is None for the function itself: then its own program is asked too. Of a `structured` matrix both entries of a
    pair are varied.
    """

    name: str
    value: Any
    node: Node | None = None
    of: Node | None = None
    label: str = ""
    structured: bool = False

    def along(self, direction: Any) -> Any:
        """How the argument moves when a direction is asked for."""
        return tied_array(direction) if self.structured else direction


def check(program: Program, claims: Sequence[Claim], *, black_box: bool = True) -> CheckReport:
    """Compares claimed gradients at the program's point with difference quotients."""
    claims = [_contracted(c) for c in claims]
    point = tuple(program.point.items())
    entries = sum(int(np.size(c.value)) for c in claims)
    work = entries * len(ancestors([program.output]))
    small = entries <= MOST_COORDINATES and (black_box or entries == 1 or work <= MOST_SHOWN_WORK)
    count = DIRECTIONS if black_box or work <= MOST_SHOWN_WORK else 1
    notes: tuple[str, ...] = ()
    if small:
        exact = [_exact(c, program) for c in claims]
        rows = _by_coordinate(program, claims, exact, black_box)
        notes = tuple(dict.fromkeys(_accuracy(program, claims, exact)))
    else:
        rows = _by_direction(program, claims, black_box, count)
        one = "{entries} entries: every one is in the sum along {count} random direction"
        several = "{entries} entries: every one is in the sum along {count} random directions"
        notes = (Sentence(one if count == 1 else several, entries=entries, count=count),)
    for name in sorted(_meant_symmetric(program) & {c.name for c in claims}) if black_box else ():
        notes += (
            Sentence("{name} is meant to be symmetric: an entry moves with its mirror image, half each", name=name),
        )
    ok = bool(rows) and not any(r.verdict == "fail" for r in rows) and any(r.verdict == "pass" for r in rows)
    return CheckReport(ok, tuple(rows), point, notes, entries)


def along(program: Program, name: str, direction: Mapping[str, Any], claimed: Any) -> CheckReport:
    """Compares a change along one direction with the difference quotient of a random combination of the results."""
    weights = np.random.default_rng(7).uniform(0.5, 1.5, program.output.shape).round(3)
    subject = Subject(program, inner(constant(weights), program.output), direction, 0.0)
    total, scale = float(np.sum(weights * claimed)), float(np.sum(np.abs(weights * claimed)))
    row = _row(name, subject, total, False, scale)
    return CheckReport(row.verdict == "pass", (row,), tuple(program.point.items()), (), int(np.size(claimed)))


def _by_coordinate(program: Program, claims: Sequence[Claim], exact: Sequence[Any], black_box: bool) -> list[CheckRow]:
    rows = []
    for claim, known in zip(claims, exact, strict=True):
        values = np.asarray(claim.value, dtype=float)
        judged = values if known is None else _judged(values, known)
        for index in np.ndindex(values.shape):
            direction = {claim.name: claim.along(_unit(index, values.shape))}
            name = (claim.label or claim.name) + (f"[{', '.join(map(str, index))}]" if index else "")
            centre = float(np.asarray(program.point[claim.name])[index])
            row = _row(name, Subject(program, claim.of, direction, centre), float(judged[index]), black_box)
            rows.append(replace(row, claimed=float(values[index])))
    return rows


def _exact(claim: Claim, program: Program) -> Any:
    """The exact value of a claim's formula; at an isolated point the claim is the limit, not what the graph gives."""
    if claim.node is None or asks_for_equality(claim.node):
        return None
    return exact_value(claim.node, program)


def _judged(values: Any, exact: Any) -> Any:
    """A formula is judged by its exact value: what float64 loses on the way is no fault of the formula."""
    exact = np.broadcast_to(np.asarray(exact, dtype=float), values.shape)
    return np.where(np.isfinite(exact), exact, values)


def _by_direction(program: Program, claims: Sequence[Claim], black_box: bool, count: int) -> list[CheckRow]:
    """Random directions: exact arithmetic sees one wrong entry among thousands in their sum."""
    rows = []
    for of in dict.fromkeys(c.of for c in claims):
        group = [c for c in claims if c.of is of]
        for k in range(count):
            generator = np.random.default_rng(k)
            direction = {c.name: generator.uniform(0.5, 1.5, np.shape(c.value)).round(3) for c in group}
            claimed = math.fsum(float(np.sum(direction[c.name] * np.asarray(c.value, dtype=float))) for c in group)
            scale = math.fsum(float(np.sum(np.abs(direction[c.name] * c.value))) for c in group)
            subject = Subject(program, of, {c.name: c.along(direction[c.name]) for c in group}, 0.0)
            rows.append(
                _row(Sentence("direction {number}", number=k + 1), subject, claimed, black_box and k == 0, scale)
            )
    return rows


def _contracted(claim: Claim) -> Claim:
    """A Jacobian as the gradient of a random combination of the entries that it belongs to."""
    if claim.of is None or claim.of.shape == ():
        return claim
    weights = np.random.default_rng(7).uniform(0.5, 1.5, claim.of.shape).round(3)
    value = np.tensordot(weights, np.asarray(claim.value, dtype=float), axes=claim.of.ndim)
    return replace(claim, value=value, node=None, of=inner(constant(weights), claim.of))


def _unit(index: tuple[int, ...], shape: tuple[int, ...]) -> Any:
    out = np.zeros(shape)
    out[index] = 1.0
    return out


def _row(name: str, subject: Subject, claimed: float, black_box: bool, scale: float = 0.0) -> CheckRow:
    """One slope by the exact tier, guarded by the ladder."""
    exact = _exact_slope(subject, subject.centre)
    around, expected, claim = _guarded(subject, exact, claimed)
    steps = _ladder(around, claim, expected) if subject.has_plain and (black_box or exact is None) else None
    if exact is None and steps is None:
        return CheckRow(
            name, claimed, None, None, None, "inconclusive", "too large, or not available in exact arithmetic"
        )
    quotient, error, step = _figures(exact, steps)
    shown = None if quotient is None else abs(claimed - quotient)
    if exact is None:
        assert steps is not None
        return CheckRow(name, claimed, steps.estimate, error, step, steps.verdict.value, steps.reason)
    within = scale > 0 and shown is not None and shown <= _ROUNDING * scale
    if not (accepts(exact, claimed) or within or (claimed == 0 and _is_below_rounding(subject, shown))):
        verdict: Verdicts = "fail" if math.isfinite(claimed) else "inconclusive"
        return CheckRow(name, claimed, quotient, shown, step, verdict, _explained(exact, claimed))
    assert expected is not None
    if steps is not None and (_drifts(around, expected) or (steps.verdict is Verdict.FAIL and _trace_is_wrong(around))):
        reason = "the plain function has another slope than its trace"
        return CheckRow(name, claimed, steps.estimate, error, step, "fail", reason)
    return CheckRow(
        name, claimed, quotient, shown, step, "pass", "" if exact.kind == "smooth" else _explained(exact, claimed)
    )


def _is_below_rounding(subject: Subject, error: float | None) -> bool:
    """Whether a slope is off by less than the rounding of the value: tanh is 1 long before its slope is 0."""
    if error is None or not 0 < error < _UNSEEN:
        return False
    with mp.workdps(30):
        return bool(error <= _UNSEEN * abs(subject.exact(mp.mpf(subject.centre))))


def _guarded(subject: Subject, exact: Slope | None, claimed: float) -> tuple[Subject, Slope | None, float]:
    """Along what the plain function is asked, and the slope that its trace has there.

    A function that reads one triangle of a symmetric matrix (`np.linalg.cholesky`) is meant for symmetric ones: it is
    asked with both mirror images moved. Its trace has the same slope along one of them, and along half of both.
    """
    meant = _meant_symmetric(subject.program) & subject.direction.keys()
    if not meant:
        return subject, exact, claimed
    mirrored = {n: (d + np.swapaxes(d, -1, -2)) / 2 if n in meant else d for n, d in subject.direction.items()}
    around = replace(subject, direction=mirrored)
    expected = None if exact is None else _exact_slope(around, around.centre)
    known = claimed if expected is None or expected.value is None else float(expected.value)
    return (subject, exact, claimed) if exact is not None and expected is None else (around, expected, known)


def _meant_symmetric(program: Program) -> set[str]:
    """The arguments that are symmetric matrices and go into an operation that reads one triangle of them."""
    order = ancestors([program.output])
    readers = [n for n in order if n.op in decompositions.OF_SYMMETRIC]
    found = set()
    for name, x in program.inputs.items() if readers else ():
        value = np.asarray(program.point[name])
        is_symmetric = value.ndim > 1 and value.shape[-1] == value.shape[-2]
        if is_symmetric and np.allclose(value, np.swapaxes(value, -1, -2)) and depends_on(order, [x]) & {*readers}:
            found.add(name)
    return found


def exact_row(name: str, f: Callable[[Any], Any], at: float, claimed: float) -> CheckRow:
    """A slope of a function that is known in exact arithmetic alone."""
    exact = slope(f, at)
    quotient, _, _ = _figures(exact, None)
    error = None if quotient is None else abs(claimed - quotient)
    fine = accepts(exact, claimed)
    verdict: Verdicts = "pass" if fine else "fail" if math.isfinite(claimed) else "inconclusive"
    reason = "" if fine and exact.kind == "smooth" else _explained(exact, claimed)
    return CheckRow(name, claimed, quotient, error, None, verdict, reason)


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
            return Sentence("the slope is {slope}", slope=mp.nstr(s.value, 10))
        case "kink":
            sentence = (
                "not differentiable here: slope {left} from the left, {right} from the right; {claimed:g} is between"
            )
            return Sentence(sentence, left=left, right=right, claimed=claimed)
        case "vertical":
            return Sentence("vertical tangent: slope {slope}", slope=left if right is None else right)
        case "edge":
            return Sentence("edge of the domain: slope {slope} from inside", slope=left if right is None else right)
        case "jump":
            return "the function jumps here"
    return "the function has no slope here"


def _exact_slope(subject: Subject, at: float) -> Slope | None:
    """The exact tier; None where the graph can't be evaluated in mpmath or is too large for it."""
    if subject.work > MOST_EXACT_WORK:
        return None
    try:
        with mp.workdps(30):
            subject.exact(mp.mpf(at))
    except (TypeError, AttributeError, ValueError, ArithmeticError, KeyError):
        return None
    return slope(subject.exact, at)


def _ladder(subject: Subject, claimed: float, exact: Slope | None) -> Ladder | None:
    """The black box; where the graph is there, it tells how much rounding is in the function's values."""
    if not math.isfinite(claimed):
        return None
    return ladder(subject.plain, subject.centre, claimed, noise=None if exact is None else subject.noise)


def _drifts(subject: Subject, exact: Slope) -> bool:
    """Whether the plain function leaves its trace in proportion to the distance, as rounding never does."""
    if exact.value is None:
        return False
    scale = abs(subject.centre) or 1.0
    try:
        apart = [subject.difference(subject.centre + h * scale) / (h * scale) for h in _AROUND]
    except (ValueError, TypeError, ArithmeticError, GradexplainError):
        return False
    least, most = min(apart), max(apart)
    if not (math.isfinite(least) and math.isfinite(most)) or least * most <= 0:
        return False
    nearest, farthest = sorted((abs(least), abs(most)))
    return bool(farthest < 2 * nearest and nearest > _DRIFT * abs(exact.value))


def _trace_is_wrong(subject: Subject) -> bool:
    """Whether the plain function contradicts its trace at nearby points too, where no rounding is to blame."""
    generator = random.Random(0)
    failures = 0
    for _ in range(3):
        near = subject.centre + (abs(subject.centre) or 1.0) * generator.uniform(-0.1, 0.1)
        exact = _exact_slope(subject, near)
        if exact is not None and exact.kind == "smooth":
            failures += ladder(subject.plain, near, float(exact.value), noise=subject.noise).verdict is Verdict.FAIL
    return failures >= 2


def _accuracy(program: Program, claims: Sequence[Claim], exacts: Sequence[Any]) -> list[str]:
    """Remarks on claims whose float64 value has lost digits against the exact value of the same graph."""
    notes: list[str] = []
    for claim, exact in zip(claims, exacts, strict=True):
        if exact is None or claim.node is None or claim.node.shape or not math.isfinite(claim.value):
            continue
        of_graph = program.trace.value(claim.node)
        found = float(claim.value if of_graph is None else of_graph)
        if not math.isfinite(exact) or exact == 0:
            continue
        lost = 16 + math.log10(abs(found - exact) / abs(exact) + 1e-16) if math.isfinite(found) else 16
        if lost > _LOST:
            name = claim.label or claim.name
            sentence = "the formula for {name} is right, but float64 loses {lost:.0f} of 16 digits here"
            notes.append(Sentence(sentence, name=name, lost=min(lost, 16)))
    return notes


def _placed(program: Program, point: Mapping[str, Any]) -> Program:
    """The program at another point."""
    arguments = tuple(replace(a, value=point[a.name]) if a.name in point else a for a in program.arguments)
    return replace(program, arguments=arguments)


def at_samples(program: Program, nodes: Mapping[str, Node], of: Mapping[str, Node | None]) -> CheckReport:
    """The check of a scalar program without a point: at points of its domain. No rows where none was found."""
    samples = sample([*nodes.values(), program.output], program.inputs, {})
    rows = []
    for point, values in zip(samples.points[:SAMPLED], samples.values, strict=False):
        moved = _placed(program, {n: float(v) for n, v in point.items()})
        at = ", ".join(f"{n} = {float(v):.4g}" for n, v in point.items())
        for (key, _), exact in zip(nodes.items(), values, strict=False):
            name = key.rpartition(",")[2]
            subject = Subject(moved, of[key], {name: 1.0}, float(point[name]))
            rows.append(_row(Sentence("{name} at {point}", name=key, point=at), subject, float(exact), False))
    ok = bool(rows) and all(r.verdict == "pass" for r in rows)
    return CheckReport(ok, tuple(rows), (), (), len(nodes))


def at_random_arrays(
    program: Program, nodes: Mapping[str, Node], of: Mapping[str, Node | None], facts: Mapping[str, frozenset[str]]
) -> CheckReport:
    """The check of a program of arrays without a point: at random arrays for which the facts hold."""
    from gradexplain.simplify.tensor.checking import points

    point = next(points(program, facts))
    if any(n.op in decompositions.OF_SYMMETRIC for n in ancestors([program.output])):  # these read one triangle alone
        point = {n: _positive_definite(v) if np.ndim(v) == 2 and len(v) == len(v.T) else v for n, v in point.items()}
    try:
        with np.errstate(all="ignore"):
            found = evaluate(list(nodes.values()), {program.inputs[n]: v for n, v in point.items()})
    except np.linalg.LinAlgError:
        return CheckReport(True, (), ())
    if not all(np.all(np.isfinite(v)) for v in found):
        return CheckReport(True, (), ())
    claims = [
        Claim(name, value, node, of[key], key, name in structured_in(facts))
        for (key, node), value in zip(nodes.items(), found, strict=True)
        if (name := key.rpartition(",")[2])
    ]
    return replace(check(_placed(program, point), claims, black_box=False), point=())


def _positive_definite(matrix: Any) -> Any:
    return (matrix + matrix.T) / 2 + len(matrix) * np.eye(len(matrix))
