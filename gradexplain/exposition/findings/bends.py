"""Kinks, jumps and ties at the point: operations that are exactly where they bend, and branches on their border."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import mpmath as mp
import numpy as np

from gradexplain.evaluate import evaluate_exact
from gradexplain.exposition.causes import finding
from gradexplain.exposition.findings.subject import Subject, number
from gradexplain.exposition.model import Finding
from gradexplain.graph import VARIABLE, Node
from gradexplain.language import Sentence
from gradexplain.ops import arithmetic, elementary, ordering, selection
from gradexplain.trace.run import Program
from gradexplain.trace.source import place_of

_LENGTHS = ("root_sum_square", "p_norm", "hypot")
_TIES = ("maximum", "minimum", "fmax", "fmin", "max", "min")
_COMPARISONS = ("less", "less_equal", "greater", "greater_equal", "equal", "not_equal")
_DIGITS = 100
_MOST_NODES = 2_000  # of a program that is evaluated in exact arithmetic beside the point
_MOST_BORDERS = 8
_BESIDE = ("1e-40", "1e-30")  # the near and the far point beside the one in question
_GROWTH = 100  # of a slope from the far point to the near one, if its limit is infinite; or the other way round, if 0
_SAME = 1e-12  # relative: slopes that are one
_NEARLY_EQUAL = 1e-12  # of the greatest value


def at_point(subject: Subject, *, brief: bool = False) -> Iterator[tuple[Node, Finding]]:
    """Operations that are exactly at a kink, a jump or a tie, each with what to say of it; `brief` without slopes."""
    for node in subject.order:
        if not subject.influenced(node):
            continue
        if node.op.name in ("eigh_vectors", "svd_left", "svd_right"):
            yield from _equal_values(subject, node)
        hits = int(np.sum(_hits(subject, node) & _matters(subject, node)))
        if hits:
            yield node, _bend(subject, node, hits, brief)


def _matters(subject: Subject, node: Node) -> Any:
    """At which entries anything comes back: x*abs(x) has no kink, since abs(x) has the factor x = 0 there."""
    adjoint = subject.sweep.adjoints.get(node)
    if adjoint is None:
        return True
    arrived = max((np.max(np.abs(subject.value(c)), initial=0.0) for c in subject.arrivals.get(node, ())), default=1.0)
    return ~(np.abs(subject.value(adjoint)) <= _NEARLY_EQUAL * arrived)


def _hits(subject: Subject, node: Node) -> Any:
    """At which entries an operation bends."""
    operands = [np.asarray(subject.value(n)) for n in node.inputs]
    with np.errstate(all="ignore"):
        if node.op.name in _LENGTHS and node.op.name != "hypot":
            return subject.value(node) == 0
        if node.op.name in ("max", "min") and node.inputs:
            value = subject.value(node)
            axes = node.params.get("axis")
            spread = value if node.params.get("keepdims") or axes is None else np.expand_dims(value, axes)
            return np.sum(operands[0] == spread, axis=axes, keepdims=bool(node.params.get("keepdims"))) > 1
        at_kink = _AT_KINK.get(node.op.name)
        return False if at_kink is None else at_kink(*operands)


def _bend(subject: Subject, node: Node, hits: int, brief: bool) -> Finding:
    words: dict[str, Any] = {"formula": subject.text(node), "slopes": Sentence(node.op.kinks)}
    values = {"hits": hits, "size": node.size, **words}
    x = next((x for x in subject.sources.values() if x in subject.members), None)
    path = subject.way(x, node) if x is not None and (node in subject.hot or not node.op.differentiable) else ()
    factor = None if brief or x is None or "jump" in node.op.kinks else _slopes(subject, x)
    more: dict[str, Any] = {"path": path, "factor": factor or Sentence(node.op.kinks)}
    if subject.is_finite(subject.output):
        value = number(subject.value(subject.output))
        more["ruled_out"] = [Sentence("the function itself is finite here: {value}", value=value)]
    place = subject.place(node)
    if node.op.name in _LENGTHS:
        return finding("norm-at-zero", place, **more, **words)
    if node.op.name in _TIES and all(subject.influenced(n) for n in node.inputs):
        sentence = "{formula} has a tie here ({slopes})"
        if node.size > 1:
            sentence = "{formula} has a tie at {hits} of {size} entries ({slopes})"
        return finding("tie", place, text=Sentence(sentence, **values), **more, **words)
    if node.op.kinks.startswith("jumps") or "jumps" in node.op.kinks:
        sentence = "{formula} is exactly at a jump ({slopes})"
        if node.size > 1:
            sentence = "{formula} is exactly at a jump in {hits} of {size} entries ({slopes})"
        return finding("jump", place, text=Sentence(sentence, **values), **more, **words)
    sentence = "{formula} has a kink here ({slopes})"
    if node.size > 1:
        sentence = "{formula} has a kink at {hits} of {size} entries ({slopes})"
    return finding("kink", place, text=Sentence(sentence, **values), **more, **words)


def _equal_values(subject: Subject, node: Node) -> Iterator[tuple[Node, Finding]]:
    """Eigenvectors and singular vectors whose values are equal."""
    matrix = np.asarray(subject.value(node.inputs[0]))
    with np.errstate(all="ignore"):
        try:
            found = (
                np.linalg.eigvalsh(matrix)
                if node.op.name.startswith("eigh")
                else np.linalg.svd(matrix, compute_uv=False)
            )
        except np.linalg.LinAlgError:
            return
    gaps = np.abs(np.diff(np.sort(found, axis=-1), axis=-1))
    close = gaps <= _NEARLY_EQUAL * np.max(np.abs(found), initial=0.0)
    if np.any(close):
        shown = ", ".join(number(v) for v in np.ravel(found)[:6])
        factor = Sentence("1 divided by the difference of two equal values")
        yield (
            node,
            finding("equal-values", subject.place(node), formula=subject.text(node), values=shown, factor=factor),
        )


def steps(subject_order: list[Node], depends: Callable[[Node], bool], text: Callable[[Node], str],
          place: Callable[[Node], Any]) -> Iterator[Finding]:  # fmt: skip
    """Operations that jump at infinitely many points, where no point is given."""
    for node in subject_order:
        if node.op.kinks.startswith("jumps") and node.shape == () and depends(node):
            yield finding("jumps", place(node), formula=text(node), jumps=Sentence(node.op.kinks))


# ------------------------------------------------------------------------------------------ branches on their border


def borders(program: Program, subject: Subject) -> Iterator[tuple[Node | None, Finding]]:
    """Conditions whose two sides are equal at the point, where the slopes of the branches differ.

    Each with the `where` that it is the condition of, if it is one.
    """
    if len(subject.order) > _MOST_NODES or any(n.shape for n in subject.order):
        return
    chosen = {n.inputs[0]: n for n in subject.order if n.op is ordering.where}
    asked: dict[Node, Any] = {c: subject.place(n) for c, n in chosen.items()}
    asked |= {c.node: place_of(c.site) for c in program.conditions}
    at_border = [(c, b) for c in asked for b in _comparisons(c) if _is_border(subject, b)]
    for condition, border in at_border[:_MOST_BORDERS]:
        name = next((n for n, x in subject.sources.items() if _comes_into(x, border)), None)
        found = None if name is None else _border(subject, border, name, chosen.get(condition), asked[condition])
        if found is not None:
            yield chosen.get(condition), found


def _comparisons(condition: Node) -> Iterator[Node]:
    waiting = [condition]
    while waiting:
        node = waiting.pop()
        if node.op.name in _COMPARISONS:
            yield node
        elif node.kind == "bool":
            waiting += node.inputs


def _is_border(subject: Subject, border: Node) -> bool:
    a, b = (np.asarray(subject.value(n)) for n in border.inputs)
    return bool(a.shape == b.shape == () and a == b and np.isfinite(a))


def _comes_into(x: Node, node: Node) -> bool:
    seen, waiting = {node}, [node]
    while waiting:
        n = waiting.pop()
        if n is x:
            return True
        new = [m for m in n.inputs if m not in seen]
        seen.update(new)
        waiting += new
    return False


def _border(subject: Subject, border: Node, name: str, where: Node | None, place: Any) -> Finding | None:
    x = subject.sources[name]
    sides = _sides(subject, x)
    if sides is None:
        return None
    more: dict[str, Any] = {"condition": subject.condition(border), "name": name}
    if where is not None and where in subject.hot and x in subject.hot:
        more["path"] = subject.way(x, where)
    (left, left_jumps), (right, right_jumps) = sides
    agree = abs(left - right) <= _SAME * max(abs(left), abs(right)) or left == right
    if border.op.name in ("equal", "not_equal") and agree:
        return finding("single-point", place, taken=_shown(left), **more)
    if left_jumps or right_jumps:
        return finding("branches-jump", place, **more)
    if not agree:
        taken = number(subject.value(subject.sweep.adjoints[x])) if x in subject.sweep.adjoints else "0"
        return finding("branches-meet", place, left=_shown(left), right=_shown(right), taken=taken, **more)
    return None


def _slopes(subject: Subject, x: Node) -> Sentence | None:
    """The slopes of the whole program on both sides of the point, where it is one of numbers and they differ."""
    if len(subject.order) > _MOST_NODES or any(n.shape for n in subject.order):
        return None
    sides = _sides(subject, x)
    if sides is None or any(jumps for _, jumps in sides):
        return None
    taken = number(subject.value(subject.sweep.adjoints[x])) if x in subject.sweep.adjoints else "0"
    sentence = "in {name} the result has slope {left} on the left and {right} on the right, {taken} is taken"
    name = next(n for n, source in subject.sources.items() if source is x)
    return Sentence(sentence, name=name, left=_shown(sides[0][0]), right=_shown(sides[1][0]), taken=taken)


def _shown(value: Any) -> str:
    return str(mp.nstr(value, 6, strip_zeros=True)).removesuffix(".0")


def _sides(subject: Subject, x: Node) -> list[tuple[Any, bool]] | None:
    """The slope in one argument on both sides of the point, and whether the function jumps there."""
    given = {n: mp.mpf(float(v)) for n, v in subject.values.items() if n.op is VARIABLE and np.ndim(v) == 0}
    asked = [subject.output, *([subject.sweep.adjoints[x]] if x in subject.sweep.adjoints else [])]
    found = []
    try:
        with mp.workdps(_DIGITS):
            (value,) = evaluate_exact([subject.output], given)
            for way in (-1, 1):
                near, far = (evaluate_exact(asked, {**given, x: given[x] + way * mp.mpf(h)}) for h in _BESIDE)
                found.append((_limit(far[1:], near[1:]), bool(abs(near[0] - value) > abs(far[0] - value) / 2 > 0)))
    except (TypeError, AttributeError, KeyError, ValueError, ArithmeticError):  # a function that has no exact form
        return None
    return found if all(mp.isfinite(slope) or mp.isinf(slope) for slope, _ in found) else None


def _limit(far: list[Any], near: list[Any]) -> Any:
    """What a slope tends to, from its values at a far and at a near point."""
    if not near:
        return mp.mpf(0)
    if 0 < _GROWTH * abs(far[0]) < abs(near[0]):
        return mp.sign(near[0]) * mp.inf
    return mp.mpf(0) if _GROWTH * abs(near[0]) < abs(far[0]) else near[0]


def _whole(x: Any, *_: Any) -> Any:
    return x == np.round(x)


def _tie(a: Any, b: Any) -> Any:
    return a == b


_AT_KINK: Mapping[str, Callable[..., Any]] = {
    arithmetic.absolute.name: lambda x: x == 0,
    ordering.sign.name: lambda x: x == 0,
    ordering.heaviside.name: lambda x, _: x == 0,
    ordering.maximum.name: _tie,
    ordering.minimum.name: _tie,
    selection.fmax.name: _tie,
    selection.fmin.name: _tie,
    ordering.clip.name: lambda x, low, high: (x == low) | (x == high),
    ordering.floor.name: _whole,
    ordering.ceil.name: _whole,
    ordering.trunc.name: lambda x: (x == np.round(x)) & (x != 0),
    ordering.rint.name: lambda x: _whole(x + 0.5),
    ordering.floor_divide.name: lambda a, b: _whole(a / b),
    ordering.mod.name: lambda a, b: _whole(a / b),
    ordering.fmod.name: lambda a, b: _whole(a / b) & (a != 0),
    elementary.hypot.name: lambda a, b: (a == 0) & (b == 0),
    elementary.arctan2.name: lambda a, b: (a == 0) & (b <= 0),
    elementary.copysign.name: lambda a, b: (a == 0) | (b == 0),
}
