"""Why a derivative is infinite or NaN: the first node of the computation, or of its gradient graph, that is."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any

import mpmath as mp
import numpy as np

from gradexplain.autodiff import Pullback
from gradexplain.exposition.causes import finding
from gradexplain.exposition.findings.subject import Subject, exact_number_text, first_entry, number, plain
from gradexplain.exposition.model import Finding, Waypoint
from gradexplain.graph import Node
from gradexplain.lambdify import expression, without_broadcasting
from gradexplain.language import Sentence


def undefined_values(subject: Subject) -> Iterator[Finding]:
    """Operations of the program that have no finite value although their operands have, where the result needs it."""
    spoilt: set[Node] = set()
    for node in subject.order:
        if any(n in spoilt for n in node.inputs):
            spoilt.add(node)
        elif node.inputs and node.kind == "float" and not subject.is_finite(node):
            bad = ~np.isfinite(subject.value(node)) & subject.live.get(node, False)
            if np.any(bad):
                spoilt.add(node)
                yield _undefined(subject, node, first_entry(bad))


def _undefined(subject: Subject, node: Node, index: tuple[int, ...]) -> Finding:
    found = subject.value(node)[index] if index else subject.value(node)
    name = subject.text(node) + (f"[{', '.join(map(str, index))}]" if index else "")
    equation = f"{name} = {_put_in(subject, node, index)}"
    source = next((x for x in subject.sources.values() if _comes_into(subject, x, node)), None)
    path = subject.way(source, node) if source is not None and node in subject.hot else ()
    where: dict[str, Any] = {"equation": equation}
    exact = _exact_entry(subject, node, index)
    if exact is not None and mp.isfinite(exact):
        lost = _lost_operand(subject, node, index)
        if lost is not None:
            operand, value = lost
            return finding("rounded-to-zero", subject.place(node), path=path, operand=operand, exact=value,
                           ruled_out=[_is_fine(exact)], **where)  # fmt: skip
        if np.isinf(found):
            return finding("overflow", subject.place(node), path=path, ruled_out=[_is_fine(exact)], **where)
    return finding("undefined-value", subject.place(node), path=path, **where)


def _is_fine(exact: Any) -> Sentence:
    return Sentence("the mathematics is fine: the exact value is {value}", value=exact_number_text(exact))


def _comes_into(subject: Subject, x: Node, node: Node) -> bool:
    return x in subject.members and node in subject.hot


def _exact_entry(subject: Subject, node: Node, index: tuple[int, ...]) -> Any:
    found = None if subject.exact is None else subject.exact.get(node)
    if found is None:
        return None
    array = np.asarray(found, dtype=object)
    return mp.mpf(array[index] if array.shape else array[()])


def _lost_operand(subject: Subject, node: Node, index: tuple[int, ...]) -> tuple[str, str] | None:
    """An operand that is 0 in floats and not in exact arithmetic, and what it is there."""
    for x in node.inputs:
        at = index if x.shape == node.shape else ()
        if x.shape != () and not at:
            continue
        exact = _exact_entry(subject, x, at)
        value = subject.value(x)[at] if at else subject.value(x)
        if value == 0 and exact:
            return subject.text(x) + (f"[{', '.join(map(str, at))}]" if at else ""), exact_number_text(exact)
    return None


def _put_in(subject: Subject, node: Node, index: tuple[int, ...]) -> str:
    """The operation with its operands' numbers: log(0), 0/0."""
    if node.op.numpy is None or (node.op.family != "elementwise" and any(n.shape for n in node.inputs)):
        return number(subject.value(node)[index] if index else subject.value(node))
    shown = {}
    for n in without_broadcasting(node):
        value = np.broadcast_to(subject.value(n), node.shape)
        shown[n] = number(value[index] if index else value)
    return plain(expression(node, shown))


def undefined_slopes(subject: Subject, closed: Mapping[str, Any], told: Collection[Node] = ()) -> Iterator[Finding]:
    """The first pullbacks that are not finite, for sources whose derivative is not; those in `told` are known.

    `closed` has what the simplified formulas give.
    """
    poisoned = {n: x for n, x in subject.sources.items() if _is_poisoned(subject, x)}
    if not poisoned:
        return
    opposite = next(_opposite(subject), None)
    if opposite is not None:
        name, _ = _of(subject, opposite, poisoned)
        yield finding(
            "infinities-cancel", subject.place(opposite.node), name=name, path=_way(subject, opposite, poisoned)
        )
        return
    merged = set(told)
    origins: list[Pullback] = []
    for p in subject.sweep.pullbacks:
        if subject.is_finite(p.contribution) or np.any(~np.isfinite(subject.value(p.node)) & subject.live[p.node]):
            continue
        adjoint = subject.value(p.adjoint)
        if not subject.poisons and _is_rejected(subject, p):
            continue
        if np.all(np.isfinite(adjoint)):
            origins.append(p)
        elif _meets_zero(subject, p):
            origin = next((o for o in reversed(origins) if o.node not in merged), None)
            if origin is not None:
                merged.add(origin.node)
                yield _zero_times_infinity(subject, origin, p, poisoned, closed)
    for p in origins:
        if p.node not in merged:
            merged.add(p.node)
            yield _infinite(subject, p, poisoned, closed)


def _opposite(subject: Subject) -> Iterator[Pullback]:
    """Pullbacks into values to which infinities of both signs come back."""
    signs: dict[tuple[Node, float], Any] = {}
    for p in subject.sweep.pullbacks:
        x, found = p.node.inputs[p.operand], subject.value(p.contribution)
        for sign in (np.inf, -np.inf):
            signs[x, sign] = signs.get((x, sign), False) | (np.asarray(found) == sign)
        if np.any(signs[x, np.inf] & signs[x, -np.inf]):
            yield p


def _way(subject: Subject, p: Pullback, poisoned: Mapping[str, Node]) -> tuple[Waypoint, ...]:
    _, source = _of(subject, p, poisoned)
    return subject.way(source, p.node, p.operand)


def _is_poisoned(subject: Subject, x: Node) -> bool:
    return subject.sweep.is_connected(x) and not subject.is_finite(subject.sweep.adjoints[x])


def _meets_zero(subject: Subject, p: Pullback) -> bool:
    """Whether an adjoint that is infinite, and not NaN yet, is made NaN by a slope of 0."""
    return bool(np.any(np.isinf(subject.value(p.adjoint)))) and bool(np.any(np.isnan(subject.value(p.contribution))))


def _bad_entry(subject: Subject, p: Pullback) -> tuple[int, ...]:
    found = subject.value(p.contribution)
    return first_entry(~np.isfinite(found))


def _slope_at(subject: Subject, p: Pullback) -> dict[str, Any]:
    """The words for an infinite slope: the formula, the slope, and the point at which it is."""
    node, x = p.node, p.node.inputs[p.operand]
    slope = subject.slope(node, p.operand)
    index = _bad_entry(subject, p) if x.shape == node.shape else ()
    if slope is not None:
        slope = np.asarray(slope)
        slope = slope[index] if index and slope.shape == node.shape else slope
    return {
        "formula": subject.text(node),
        "slope": "inf" if slope is None else number(slope),
        "point": subject.at(x, index),
    }


def _of(subject: Subject, p: Pullback, poisoned: Mapping[str, Node]) -> tuple[str, Node]:
    """The first of the poisoned sources that come into an operation."""
    order = {n: k for k, n in enumerate(subject.order)}
    for name, x in poisoned.items():
        if order[x] <= order[p.node] and p.node in subject.hot:
            return name, x
    return next(iter(poisoned.items()))


def _evidence(subject: Subject, name: str, closed: Mapping[str, Any]) -> tuple[list[str], str | None]:
    """What is not the cause, and what to do if the formula has the value that the chain rule does not reach."""
    ruled_out: list[str] = []
    if subject.is_finite(subject.output):
        value = number(subject.value(subject.output))
        ruled_out.append(Sentence("the function itself is finite here: {value}", value=value))
    found = closed.get(name)
    if found is not None and np.all(np.isfinite(found)):
        sentence = "the simplified formula is finite here: {value}"
        ruled_out.append(Sentence(sentence, value=number(found)))
        return ruled_out, Sentence("write the simplified formula in the program: autodiff follows the program as it is")
    return ruled_out, None


def _infinite(subject: Subject, p: Pullback, poisoned: Mapping[str, Node], closed: Mapping[str, Any]) -> Finding:
    node, x = p.node, p.node.inputs[p.operand]
    name, source = _of(subject, p, poisoned)
    ruled_out, fix = _evidence(subject, name, closed)
    words = _slope_at(subject, p)
    details: dict[str, Any] = {"path": subject.way(source, node, p.operand), "ruled_out": ruled_out}
    if _is_rejected(subject, p):
        details["factor"] = Sentence("0 (what comes from above) times {slope}", slope=words["slope"])
        return finding("poisoned-branch", subject.place(node), **words, **details)
    adjoint = np.asarray(subject.value(p.adjoint))
    if adjoint.shape == x.shape == node.shape and adjoint[_bad_entry(subject, p)] == 0:
        sentence = "0 times infinity: {formula} has slope {slope} at {point}, its user has slope 0"
        details["factor"] = Sentence("0 (what comes from above) times {slope}", slope=words["slope"])
        text = Sentence(sentence, **words)
        return finding("zero-times-infinity", subject.place(node), text=text, other="", **words, **details, fix=fix)
    if node.op.partials and node.op.partials[p.operand] is not None:
        return finding("infinite-slope", subject.place(node), **words, **details, fix=_advice(subject, p) or fix)
    text = Sentence("the slope of {formula} with respect to {operand} is not finite here", formula=words["formula"],
                    operand=subject.text(x))  # fmt: skip
    return finding("infinite-slope", subject.place(node), text=text, **words, **details, fix=fix)


def _is_rejected(subject: Subject, p: Pullback) -> bool:
    """Whether the first entry that is not finite lies on a branch that a `where` rejects."""
    if p.node.inputs[p.operand].shape != p.node.shape:
        return False
    live = np.broadcast_to(np.asarray(subject.live.get(p.node, False)), p.node.shape)
    return not live[_bad_entry(subject, p)]


def _zero_times_infinity(
    subject: Subject, origin: Pullback, p: Pullback, poisoned: Mapping[str, Node], closed: Mapping[str, Any]
) -> Finding:
    """An infinite slope above meets a slope of 0 below."""
    name, source = _of(subject, p, poisoned)
    ruled_out, fix = _evidence(subject, name, closed)
    words = _slope_at(subject, origin)
    return finding(
        "zero-times-infinity",
        subject.place(origin.node),
        path=subject.way(source, origin.node, origin.operand),
        factor=Sentence(
            "{slope} (from {formula}) times 0 (from {other})",
            slope=words["slope"],
            formula=words["formula"],
            other=subject.text(p.node),
        ),
        ruled_out=ruled_out,
        fix=_advice(subject, origin, meets_zero=True) or fix,
        other=subject.text(p.node),
        **words,
    )


def _advice(subject: Subject, p: Pullback, *, meets_zero: bool = False) -> Sentence | None:
    """What to do for the operations that most people meet this at."""
    node, x = p.node, p.node.inputs[p.operand]
    operand = subject.text(x)
    if node.op.name == "sqrt" and x.op.name in ("sum", "add") and _is_squares(x):
        return Sentence("it is a length: use np.linalg.norm, the square {operand} itself, or sqrt({operand} + eps)",
                        operand=operand)  # fmt: skip
    if node.op.name == "sqrt" and x.op.name in ("pow", "square") and meets_zero:
        return Sentence("sqrt of a square is an absolute value: write abs")
    if node.op.name in ("sqrt", "cbrt"):
        return Sentence("add a small number under the root, as in sqrt({operand} + eps)", operand=operand)
    if node.op.name in ("arccos", "arcsin", "arctanh"):
        return Sentence(
            "keep {operand} inside (-1, 1), or use arctan2, or a loss such as 1 - {operand}", operand=operand
        )
    if node.op.name == "pow":
        return Sentence("keep {operand} away from 0, as in maximum({operand}, eps), or use an exponent of at least 1",
                        operand=operand)  # fmt: skip
    return None


def _is_squares(x: Node) -> bool:
    """Whether a sum is one of squares."""
    terms = [x.inputs[0]] if x.op.name == "sum" else list(x.inputs)
    return all(
        t.op.name in ("pow", "square", "add") or (t.op.name == "mul" and t.inputs[0] is t.inputs[1]) for t in terms
    )


def elsewhere(subject: Subject) -> Iterator[Finding]:
    """Infinite slopes that do no harm here, but in programs that take the chain rule step by step.

    On a branch that a `where` rejects, or where 0 times infinity was simplified.
    """
    is_fine = all(map(subject.is_finite, subject.sweep.gradients))
    for node in subject.order:
        if not node.inputs or node not in subject.hot or node.op.family != "elementwise":
            continue
        if not all(map(subject.is_finite, node.inputs)):
            continue
        live = np.broadcast_to(np.asarray(subject.live.get(node, False)), node.shape)
        slope = _bad_slope(subject, node, ~live)
        if slope is not None:
            yield finding("rejected-branch", subject.place(node), formula=subject.text(node), slope=slope)
        elif is_fine and subject.is_finite(node):
            slope = _bad_slope(subject, node, live)
            if slope is not None:
                yield finding("simplified", subject.place(node), formula=subject.text(node), slope=slope)


def _bad_slope(subject: Subject, node: Node, entries: Any) -> str | None:
    """A slope that is not finite in some entries."""
    if not np.any(entries):
        return None
    for i, x in enumerate(node.inputs):
        slope = subject.slope(node, i) if x in subject.hot else None
        if slope is not None and np.any(entries & ~np.isfinite(slope)):
            spread = np.broadcast_to(slope, node.shape)
            at = first_entry(entries & ~np.isfinite(spread))
            return number(spread[at] if at else spread[()])
    return None
