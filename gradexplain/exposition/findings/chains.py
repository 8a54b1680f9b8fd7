"""Why a derivative is huge or tiny: the factors of a long chain, or one operation near a singular point."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import mpmath as mp
import numpy as np

from gradexplain.autodiff import Pullback
from gradexplain.errors import Place
from gradexplain.exposition.causes import finding
from gradexplain.exposition.findings.subject import Subject, exact_number_text, number
from gradexplain.exposition.model import Finding
from gradexplain.graph import Node
from gradexplain.language import Sentence, enumerated

_EXTREME = 8.0  # powers of ten of a product that is worth a remark
_LONG = 6  # factors of a chain
_SINGLE = 8.0  # powers of ten of a single factor
_TAIL = 4.0  # from here an argument is a large one
_GROUPS = 3  # of factors that are named
_SLIGHT = 0.02  # of the whole: a group that is not named


def sizes(subject: Subject) -> Iterator[Finding]:
    """Sources whose derivative is extremely large or small, with the factors that make it so."""
    for name, x in subject.sources.items():
        if not subject.sweep.is_connected(x):
            continue
        size = _norm(subject, subject.sweep.adjoints[x])
        if not math.isfinite(size) or (size and abs(math.log10(size)) < _EXTREME / 2):
            continue
        yield from _explained(subject, name, x, size)


def _norm(subject: Subject, node: Node) -> float:
    return float(np.max(np.abs(subject.value(node)), initial=0.0))


def _explained(subject: Subject, name: str, x: Node, size: float) -> Iterator[Finding]:
    chain = list(_chain(subject, x))
    factors = [(p, f) for p in chain if (f := _factor(subject, p)) not in (0.0, 1.0) and math.isfinite(f)]
    if not factors:
        return
    powers = [math.log10(f) for _, f in factors]
    total = sum(powers)
    p, strongest = max(zip((p for p, _ in factors), powers, strict=True), key=lambda pair: abs(pair[1]))
    if abs(strongest) >= _SINGLE and abs(strongest) >= abs(total) / 2:
        yield from _single(subject, name, x, p, strongest)
    elif abs(total) >= _EXTREME and len(factors) >= _LONG:
        code = "exploding" if total > 0 else "vanishing"
        yield finding(
            code,
            subject.place(factors[len(factors) // 2][0].node),
            name=name,
            size=number(size),
            count=len(factors),
            product=exact_number_text(mp.mpf(10) ** total),
            factors=enumerated(_grouped(subject, factors)),
            path=subject.along([(x, None), *((p.node, p.operand) for p in chain)]),
            factor=Sentence("{mean:.3g} on average", mean=10 ** (total / len(factors))),
            ruled_out=[
                Sentence("no single operation does it: the strongest factor is {factor:.3g}", factor=10**strongest)
            ],
        )


def _chain(subject: Subject, x: Node) -> Iterator[Pullback]:
    """The way to the result along which most comes back, from the source up."""
    into: dict[Node, list[Pullback]] = {}
    for p in subject.sweep.pullbacks:
        into.setdefault(p.node.inputs[p.operand], []).append(p)
    node = x
    while node in into:
        largest = max(_norm(subject, p.contribution) for p in into[node])
        if not math.isfinite(largest):
            return
        most = [p for p in into[node] if _norm(subject, p.contribution) >= 0.5 * largest]
        step = min(most, key=lambda p: p.node.index)
        yield step
        node = step.node


def _factor(subject: Subject, p: Pullback) -> float:
    """What an operation multiplies the adjoint with: a slope, or for arrays how the greatest entry changes."""
    slope = subject.slope(p.node, p.operand)
    if slope is not None and np.ndim(slope) == 0:
        return abs(float(slope))
    before, after = _norm(subject, p.adjoint), _norm(subject, p.contribution)
    return after / before if before else 0.0


def _grouped(subject: Subject, factors: list[tuple[Pullback, float]]) -> list[str]:
    """Factors of the same operation in the same line, with how many there are."""
    groups: dict[tuple[str, Place | None], list[tuple[Pullback, float]]] = {}
    for p, f in factors:
        groups.setdefault((p.node.op.name, subject.place(p.node)), []).append((p, f))
    weights = {key: abs(sum(math.log10(f) for _, f in group)) for key, group in groups.items()}
    kept = sorted((key for key in groups if weights[key] > _SLIGHT * sum(weights.values())), key=lambda k: -weights[k])
    return [_group(subject.short(groups[k][-1][0].node), [f for _, f in groups[k]]) for k in kept[:_GROUPS]]


def _group(formula: str, values: list[float]) -> str:
    low, high = f"{min(values):.3g}", f"{max(values):.3g}"
    sentence = "{count} times {low} ({formula})" if low == high else "{count} times {low} .. {high} ({formula})"
    return Sentence(sentence, count=len(values), low=low, high=high, formula=formula)


def _single(subject: Subject, name: str, x: Node, p: Pullback, power: float) -> Iterator[Finding]:
    """One factor does it: an operation that is saturated, or near a point where its slope is infinite."""
    operand = p.node.inputs[p.operand]
    value = np.max(np.abs(subject.value(operand)), initial=0.0)
    slope = subject.slope(p.node, p.operand)
    if slope is None or len(subject.value(p.node).shape if p.node.shape else ()) or p.node.op.name == "mul":
        return
    words: dict[str, Any] = {"formula": subject.text(p.node), "slope": number(slope), "point": subject.at(operand)}
    more: dict[str, Any] = {
        "path": subject.way(x, p.node, p.operand),
    }
    if power > 0:
        yield finding("steep", subject.place(p.node), name=name, **words, **more)
    elif value >= _TAIL:
        matters = Sentence("{name} does matter: in exact arithmetic the slope is not 0", name=name)
        yield finding("saturated", subject.place(p.node), name=name, ruled_out=[matters], **words, **more)
