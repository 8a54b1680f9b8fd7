"""Where floats lose the digits of a value or of a derivative: the operation at which it happens."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import mpmath as mp
import numpy as np

from gradexplain.exposition.causes import finding
from gradexplain.exposition.findings.subject import Subject
from gradexplain.exposition.model import Finding
from gradexplain.graph import Node, ancestors, is_scalar_constant
from gradexplain.language import Sentence

_LOST = 1e-9  # relative: a value that is worse has lost half of its digits
_GOOD = 1e-12  # relative: a value that is better has them all
_LEAST = 1e-300
_MANTISSA = 2.0**-53


def cancellations(subject: Subject) -> Iterator[Finding]:
    """The first operation whose digits are lost, if the result or a derivative of numbers depends on them."""
    if subject.exact is None or any(n.shape for n in subject.order):
        return
    gradients = [g for g in subject.sweep.gradients if not g.is_constant]
    for target in (subject.output, *gradients):
        if _error(subject, target) > _LOST:
            culprit = _culprit(subject, target)
            if culprit is not None:
                yield _cancelled(subject, culprit)
                return


def _error(subject: Subject, node: Node) -> float:
    """The relative error of a float; 0 where it or the exact value is infinite."""
    exact = subject.exact_value(node) if node.kind != "bool" else None
    value = subject.value(node) if exact is not None else math.nan
    if exact is None or not mp.isfinite(exact) or not np.isfinite(value):
        return 0.0
    if abs(exact) < _LEAST:
        return 0.0  # below the floats
    return float(abs((mp.mpf(float(value)) - exact) / exact))


def _culprit(subject: Subject, target: Node) -> Node | None:
    for node in ancestors([target]):
        if node.inputs and _error(subject, node) > _LOST and all(_error(subject, x) < _GOOD for x in node.inputs):
            return node
    return None


def _cancelled(subject: Subject, node: Node) -> Finding:
    kept = max(0, round(-math.log10(max(_error(subject, node), _MANTISSA)))) if _error(subject, node) < 1 else 0
    source = next((x for x in subject.sources.values() if node in subject.hot), None)
    exact = mp.nstr(subject.exact_value(node), 6)
    return finding(
        "cancellation",
        subject.place(node),
        formula=subject.text(node),
        kept=kept,
        reason=_reason(subject, node),
        path=subject.way(source, node) if source is not None else (),
        factor=Sentence("{found} in floats, exactly {exact}", found=repr(float(subject.value(node))), exact=exact),
        ruled_out=[Sentence("the formula of the derivative is right: it is the float arithmetic that loses digits")],
        fix=_advice(subject, node),
    )


def _reason(subject: Subject, node: Node) -> Sentence:
    if node.op.name in ("add", "sub"):
        a, b = (subject.at(x) if not x.is_constant else subject.text(x) for x in node.inputs)
        return Sentence("{a} and {b} are nearly equal in size", a=a, b=b)
    return Sentence(
        "a rounding of {operand} weighs so much there",
        operand=subject.at(max(node.inputs, key=lambda x: not x.is_constant)),
    )


def _advice(subject: Subject, node: Node) -> Sentence | None:
    """The usual rearrangement, for differences that have one."""
    inputs: Any = node.inputs
    if node.op.name == "sub":
        a, b = inputs
        if is_scalar_constant(a, 1) and b.op.name == "cos":
            return Sentence("write 2*sin({operand}/2)**2", operand=subject.text(b.inputs[0]))
        if a.op.name == "exp" and is_scalar_constant(b, 1):
            return Sentence("write expm1({operand})", operand=subject.text(a.inputs[0]))
        if a.op.name == b.op.name == "sqrt":
            a, b = (subject.text(x.inputs[0]) for x in inputs)
            inner = f"({b})" if " " in b else b
            return Sentence("write ({a} - {inner})/(sqrt({a}) + sqrt({b}))", a=a, b=b, inner=inner)
    if node.op.name == "log" and inputs[0].op.name == "add":
        others = [x for x in inputs[0].inputs if not is_scalar_constant(x, 1)]
        if len(others) == 1:
            return Sentence("write log1p({operand})", operand=subject.text(others[0]))
    return None
