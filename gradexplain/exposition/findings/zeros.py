"""Why a derivative is 0: no path, a path of steps, an operation with slope 0, or paths that cancel."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any

import numpy as np

from gradexplain.autodiff import Pullback
from gradexplain.errors import Place
from gradexplain.evaluate import evaluate
from gradexplain.exposition.causes import finding
from gradexplain.exposition.findings.dead import RECTIFIERS, is_product, origin_of_zero, rectified
from gradexplain.exposition.findings.subject import Subject, exact_number_text, number
from gradexplain.exposition.model import Finding
from gradexplain.exposition.naming import is_own_name as is_own
from gradexplain.graph import VARIABLE, Node, ancestors, depends_on
from gradexplain.language import Sentence

_MOST_SOURCES = 50  # that are looked at one by one
_MOST_TERMS = 5
_ASSEMBLED = ("stack", "concatenate", "setitem")
_SURROGATES = {
    "argmax": "use softmax in place of argmax",
    "argmin": "use softmax of the negative in place of argmin",
    "argsort": "use a soft ranking, or the sorted values themselves, in place of argsort",
    "floor": "use the value itself in place of the rounded one",
    "ceil": "use the value itself in place of the rounded one",
    "trunc": "use the value itself in place of the rounded one",
    "rint": "use the value itself in place of the rounded one",
    "sign": "use tanh(k*x) in place of sign(x)",
    "heaviside": "use a sigmoid in place of heaviside",
}
_SMOOTH_STEP = "use a sigmoid of the difference in place of the comparison"
_COMPARISONS = ("less", "less_equal", "greater", "greater_equal", "equal", "not_equal")


def without_path(subject: Subject, conditions: Mapping[Node, Place | None] | None = None) -> Iterator[Finding]:
    """Sources that the result does not depend on, or only through steps.

    If the computation is one path of several, `conditions` are what decided for it, each with its line.
    """
    decides = conditions or {}
    deciding = set(ancestors(list(decides)))
    reached = subject.members
    is_constant = not any(x in reached for x in subject.sources.values())
    for name, x in subject.sources.items():
        if x not in reached and x in deciding:
            condition = next(c for c in decides if x in set(ancestors([c])))
            formula = subject.condition(condition)
            yield finding("flat-only", decides[condition], name=name, formula=formula, fix=Sentence(_SMOOTH_STEP))
        elif x not in reached and is_constant and not decides and not _has_arguments(subject):
            yield finding("constant-result", name=name, ruled_out=[_NO_CUT])
        elif x not in reached and decides:
            sentence = "{name} does not appear on the path that was taken: its derivative is 0 there"
            yield finding("other-branch", text=Sentence(sentence, name=name), name=name)
        elif x not in reached:
            yield finding("unused", name=name, ruled_out=[_NO_CUT])
        elif not subject.sweep.is_connected(x):
            yield _through_steps(subject, name, x)


def _has_arguments(subject: Subject) -> bool:
    return any(n.op is VARIABLE for n in subject.order)


_NO_CUT = Sentence("no operation cut or rounded it: none reads it")


def _through_steps(subject: Subject, name: str, x: Node) -> Finding:
    touched = {x}
    cut = None
    for n in subject.order:
        if any(m in touched for m in n.inputs):
            if not n.op.differentiable:
                cut = n
                break
            touched.add(n)
    if cut is None:
        text = Sentence("{name} appears: its derivative is 0", name=name)
        return finding("flat-only", text=text, name=name, formula=name)
    fix = _SURROGATES.get(cut.op.name)
    if fix is None and cut.op.name in _COMPARISONS:
        fix = _SMOOTH_STEP
    elsewhere = Sentence("{name} does come into the result: the value changes where {formula} jumps", name=name,
                         formula=subject.text(cut))  # fmt: skip
    return finding(
        "flat-only",
        subject.place(cut),
        name=name,
        formula=subject.text(cut),
        path=subject.way(x, cut),
        ruled_out=[elsewhere],
        fix=None if fix is None else Sentence(fix),
    )


def cut_in_part(subject: Subject) -> Iterator[Finding]:
    """Steps on one of several paths to the result: the others have a derivative, and that path has none."""
    through = _by_value(subject)
    for name, x in subject.sources.items():
        if not subject.sweep.is_connected(x):
            continue
        touched = depends_on(subject.order, [x])
        for node in subject.order:
            if node in through and not node.op.differentiable and any(n in touched for n in node.inputs):
                formula = subject.text(node)
                yield finding("cut-in-part", subject.place(node), name=name, operation=formula,
                              path=subject.way(x, node))  # fmt: skip


def _by_value(subject: Subject) -> set[Node]:
    """The numbers that come into the result, and not only into a choice between others or into an index."""
    found = {subject.output}
    for node in reversed(subject.order):
        if node in found:
            found.update(n for n in node.inputs if n.kind == "float")
    return found


def zeros(subject: Subject, told: set[Node]) -> Iterator[Finding]:
    """Operations that let nothing back to a source whose derivative is 0; those in `told` are kinks already."""
    blocked = {n: x for n, x in subject.sources.items() if subject.sweep.is_connected(x) and _is_zero(subject, x)}
    if not blocked:
        return
    reached = {n: depends_on(subject.order, [x]) for n, x in list(blocked.items())[:_MOST_SOURCES]}
    handed = {p.node for p in subject.sweep.pullbacks if np.any(subject.value(p.contribution))}
    blocking: dict[Node, tuple[Pullback, str]] = {}
    explained: set[str] = set()
    for p in subject.sweep.pullbacks:
        x = p.node.inputs[p.operand]
        names = [n for n, nodes in reached.items() if x in nodes]
        if p.node in told:
            explained.update(names)
        elif names and np.any(subject.value(p.adjoint)) and not np.any(subject.value(p.contribution)):
            if x in handed:
                continue  # 0 times infinity that was simplified: more comes back than is let through
            explained.update(names)
            blocking.setdefault(p.node, (p, names[0]))
    for p, name in blocking.values():
        if (found := _blocking(subject, p, name, blocking)) is not None:
            yield found
    for name in reached.keys() - explained:
        yield from _cancelling(subject, name, reached[name])


def _is_zero(subject: Subject, x: Node) -> bool:
    return not np.any(subject.value(subject.sweep.adjoints[x]))


def _blocking(subject: Subject, p: Pullback, name: str, beside: Collection[Node]) -> Finding | None:
    """What is said of an operation that hands nothing back; None if that of one `beside` it says it already."""
    node, x = p.node, p.node.inputs[p.operand]
    values: dict[str, Any] = {"formula": subject.text(node), "operand": subject.text(x), "name": name}
    slope = subject.slope(node, p.operand)
    reaches = Sentence("{name} does reach the result: there is a path, with a factor 0 on it", name=name)
    details: dict[str, Any] = {
        "path": subject.way(subject.sources[name], node, p.operand),
        "ruled_out": [reaches],
    }
    code, more = _code_of(subject, p, slope)
    if code == "saturated":
        details["factor"] = Sentence("the slope is {slope}, which a float rounds to 0", slope=more["slope"])
        details["ruled_out"] = [Sentence("{name} does matter: in exact arithmetic the slope is not 0", name=name)]
    elif code == "flat-side" and node.size > 1:
        sentence = "all {size} entries of {operand} are on the flat side of {formula}: the slope is 0"
        details["text"] = Sentence(sentence, size=node.size, **values)
    elif code == "zero-factor":
        origin = origin_of_zero(subject, more["factor"])
        if origin is not node and origin in beside:
            return None
        if is_own(subject.names.get(more["factor"], "v0")):
            values["formula"] = subject.short(node)
        return _zero_factor(subject, node, origin, subject.called(more["factor"]), values, details)
    return finding(code, subject.place(node), **values, **more, **details)


def _zero_factor(
    subject: Subject, node: Node, origin: Node, other: str, values: dict[str, Any], details: dict[str, Any]
) -> Finding:
    """A factor is 0: what to do depends on where the 0 comes from."""
    if origin.op.name in RECTIFIERS:
        operand = subject.called(origin.inputs[rectified(origin) or 0])
        sentence = "{formula} has the factor {other} = 0 here, since {cause} is flat there: {reason}"
        reason = (
            Sentence("all {size} entries of {operand} are on its flat side", size=origin.size, operand=operand)
            if origin.shape
            else Sentence("{operand} is on its flat side", operand=operand)
        )
        text = Sentence(sentence, other=other, cause=subject.text(origin), reason=reason, **values)
        return finding("flat-side", subject.place(origin), text=text, **values, **details)
    zero: Sentence | None = None
    fix: Sentence | None = None
    if origin.is_constant:
        zero = Sentence("{formula} has a constant factor 0: nothing comes back to {operand}", **values)
        fix = Sentence("take the constant factor 0 out, if {name} is to have an influence", name=values["name"])
    elif origin.inputs:
        fix = Sentence("look at {cause}, which is 0 here: a product has no slope in one factor while the other is 0",
                       cause=subject.text(origin))  # fmt: skip
    return finding("zero-factor", subject.place(node), text=zero, fix=fix, other=other, **values, **details)


def _code_of(subject: Subject, p: Pullback, slope: Any) -> tuple[str, dict[str, Any]]:
    """The cause for which an operation hands nothing back, and what else its sentence speaks of."""
    node, x = p.node, p.node.inputs[p.operand]
    if node.op.name == "where":
        return "other-branch" if node in subject.joins else "branch-not-taken", {}
    if node.op.name in RECTIFIERS:
        return "flat-side", {}
    if node.op.name == "clip":
        return "clipped", {"point": subject.at(x, (0,) * x.ndim)}
    others = [n for k, n in enumerate(node.inputs) if k != p.operand]
    if is_product(node) and others:
        return "zero-factor", {"factor": others[0]}
    if node.op.family == "linear" or node.op.name in _ASSEMBLED:
        return "entries-not-used", {}
    if slope is None:
        return "no-influence", {}
    exact = _exact_slope(subject, p)
    if exact:
        return "saturated", {"slope": exact_number_text(exact), "point": subject.at(x)}
    return "stationary", {"point": subject.at(x)}


def _exact_slope(subject: Subject, p: Pullback) -> Any:
    """The slope of an operation on numbers in exact arithmetic, None where it is 0 or not to be had."""
    adjoint, contribution = subject.exact_value(p.adjoint), subject.exact_value(p.contribution)
    if not adjoint or not contribution:
        return None
    return contribution / adjoint


def _cancelling(subject: Subject, name: str, reached: set[Node]) -> Iterator[Finding]:
    """The first value on the way back to which several paths bring what adds up to 0."""
    terms: dict[Node, list[Pullback]] = {}
    for p in subject.sweep.pullbacks:
        if p.node.inputs[p.operand] in reached:
            terms.setdefault(p.node.inputs[p.operand], []).append(p)
    for x, found in terms.items():
        if len(found) > 1 and _is_zero(subject, x) and any(np.any(subject.value(t.contribution)) for t in found):
            values = [number(subject.value(t.contribution)) for t in found[:_MOST_TERMS]]
            yield finding(
                "paths-cancel",
                subject.place(found[0].node),
                name=name,
                operand=subject.text(x),
                count=len(found),
                terms=" + ".join(values).replace("+ -", "- ") + (" + ..." if len(found) > _MOST_TERMS else ""),
                ruled_out=[Sentence("no single operation has slope 0")],
            )
            return


def constant_derivatives(nodes: Mapping[str, Node]) -> Iterator[Finding]:
    """Higher derivatives that are 0 everywhere, since the one before does not contain the argument."""
    for key, node in nodes.items():
        order = ancestors([node])
        if not any(n.op is VARIABLE for n in order) and not np.any(evaluate([node], {})[0]):
            yield finding("constant-derivative", name=key.rpartition(",")[2], key=key)
