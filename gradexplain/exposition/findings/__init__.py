"""What to know beside the formula, and why a derivative is what it is: findings with their causes.

`find` is what every explanation tells; `diagnose` adds, for those who ask why, what costs more or matters less.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

from gradexplain.autodiff import Sweep
from gradexplain.exposition.causes import finding, is_quiet
from gradexplain.exposition.findings import accuracy, bends, chains, dead, infinities, zeros
from gradexplain.exposition.findings.subject import Subject
from gradexplain.exposition.kinks import kinks
from gradexplain.exposition.model import Finding
from gradexplain.exposition.naming import names
from gradexplain.graph import Node, ancestors
from gradexplain.language import Sentence
from gradexplain.ops.ordering import where
from gradexplain.trace.run import Program
from gradexplain.trace.source import place_of, text_at

MOST_OF_A_KIND = 5


def find(
    program: Program, wrt: Sequence[str], sweep: Sweep, closed: Mapping[str, Any] | None = None
) -> tuple[Finding, ...]:
    """The findings about a program at its point; `sweep` is its reverse sweep, `closed` has what the formulas give.

    >>> from gradexplain.autodiff import sweep
    >>> from gradexplain.trace.run import trace
    >>> from gradexplain.trace.signature import bind
    >>> f = lambda x, y: abs(x)
    >>> program = trace(f, bind(f, (0.0, 1.0), {}, symbolic=False))
    >>> for found in find(program, ["x", "y"], sweep(program.output, list(program.inputs.values()))):
    ...     print(found.code, "|", found.text)
    unused | y does not appear: its derivative is 0
    kink | abs(x) has a kink here (x = 0: slopes -1 and 1, 0 is taken)
    """
    return tuple(f for f in diagnose(program, wrt, sweep, closed, brief=True) if not is_quiet(f))


def diagnose(
    program: Program,
    wrt: Sequence[str],
    sweep: Sweep,
    closed: Mapping[str, Any] | None = None,
    *,
    brief: bool = False,
) -> tuple[Finding, ...]:
    """All findings about a program; `brief` leaves out what takes exact arithmetic or walks along whole chains."""
    subject = _subject(program, wrt, sweep)
    found = [*_branches(program, subject), *zeros.without_path(subject, _decisions(program))]
    if not program.is_numeric:
        influenced, text = subject.influenced, subject.text
        found += _some(bends.steps(subject.order, influenced, text, subject.place))
        found += [
            finding("jump" if "jumps" in text else "kink", text=Sentence(text))
            for text in kinks(program, sweep.gradients[0])
        ]
    else:
        at_border = list(bends.borders(program, subject))
        found += _some(f for _, f in at_border)
        told = {chosen for chosen, _ in at_border if chosen is not None}
        found += at_point(subject, closed, told, brief=brief)
    if not brief:
        found += [*_some(zeros.cut_in_part(subject)), *_meaning(subject), *_integers(program, subject)]
    found += [finding("taken-as-constant", text=Sentence(note)) for note in program.trace.notes]
    return (*found, *limits(program))


def limits(program: Program) -> list[Finding]:
    """Why some paths are not in the formula."""
    return [finding("limit", limit=limit) for limit in program.limits]


def left_out(whole: Program) -> list[Finding]:
    """Why there is no formula for all paths, where a point was explained along its own path alone."""
    return [] if whole.explored else limits(whole)


def of_derivatives(nodes: Mapping[str, Node], order: int) -> list[Finding]:
    """What there is to know about derivatives of higher order."""
    return list(zeros.constant_derivatives(nodes)) if order > 1 else []


def of_subject(subject: Subject, closed: Mapping[str, Any] | None = None) -> tuple[Finding, ...]:
    """All findings about a computation that is no traced program, but has what a `Subject` has: that of a tape.

    Its sweep may be one of another convention, in which a rejected branch poisons the result.

    >>> from gradexplain.autodiff import sweep
    >>> from gradexplain.graph import variable
    >>> from gradexplain.ops.ordering import maximum
    >>> x = variable("x")
    >>> y = maximum(x * 2, 0)
    >>> found = of_subject(Subject(y, {"x": x}, sweep(y, [x]), {x: -1.5}, {x: "x", y: "y"}))
    >>> [one.code for one in found], [one.text for one in found[0].path]
    (['flat-side'], ['x', '2*x', 'y = maximum(2*x, 0)'])
    """
    in_part = _some(zeros.cut_in_part(subject))
    return (*zeros.without_path(subject), *at_point(subject, closed), *in_part, *_meaning(subject))


def at_point(
    subject: Subject, closed: Mapping[str, Any] | None = None, told: Collection[Node] = (), *, brief: bool = False
) -> list[Finding]:
    """Kinks, zeros, infinities, sizes and lost digits of a computation at its point.

    `closed` has the values of simplified formulas. Of operations in `told` it is known already why they let nothing
    back. `brief` leaves out what takes exact arithmetic or walks along whole chains.
    """
    bent = list(bends.at_point(subject, brief=brief))
    told = {*told, *(node for node, _ in bent)}
    known = {node for node, f in bent if f.kind == "undefined"}
    undefined = list(infinities.undefined_values(subject))
    undefined = undefined or list(infinities.undefined_slopes(subject, closed or {}, known))
    found = [*_some(f for _, f in bent), *_some(zeros.zeros(subject, told)), *_some(undefined)]
    found += _some(dead.flat_in_part(subject))
    return found if brief else [*found, *_size_and_accuracy(subject, found), *_some(infinities.elsewhere(subject))]


def _size_and_accuracy(subject: Subject, found: Sequence[Finding]) -> list[Finding]:
    """Lost digits, and what is huge or tiny, where nothing that was found already is the reason."""
    if any(f.kind == "undefined" for f in found):
        return []
    known = {f.argument for f in found if f.code in ("saturated", "rounded-to-zero")}
    lost = [] if known else list(accuracy.cancellations(subject))
    extreme = [f for f in chains.sizes(subject) if f.argument not in known and not (lost and f.code == "steep")]
    return [*_some(extreme), *(lost if not any(f.code == "saturated" for f in extreme) else [])]


def about(found: Iterable[Finding], key: str) -> tuple[Finding, ...]:
    """The findings about one derivative, and those about all."""
    return tuple(f for f in found if f.argument in ("", *key.split(",")))


def _subject(program: Program, wrt: Sequence[str], sweep: Sweep) -> Subject:
    conditions = {c.node: c.site for c in program.conditions}
    sites = program.trace.sites
    joins = {n: conditions.get(n.inputs[0]) for n in ancestors([program.output]) if n.op is where and n not in sites}
    return Subject(
        output=program.output,
        sources={n: program.inputs[n] for n in wrt},
        sweep=sweep,
        values=dict(program.trace.values),
        names=names(program),
        place=lambda node: place_of(sites.get(node) or joins.get(node)),
        poisons=False,
        joins=joins,
        asked={c.node: text_at(c.site) for c in reversed(program.conditions)},
    )


def _decisions(program: Program) -> dict[Node, Any]:
    """The conditions of the path that the program holds, if there are others, each with its line."""
    return {} if program.explored else {c.node: place_of(c.site) for c in program.conditions}


def _some(found: Iterable[Finding]) -> list[Finding]:
    """The first of many, and how many more there are."""
    listed = list(found)
    more = len(listed) - MOST_OF_A_KIND
    if more > 0:
        last = Finding(listed[0].kind, Sentence("and {count} more of this kind", count=more))
        listed = [*listed[:MOST_OF_A_KIND], last]
    return listed


def _branches(program: Program, subject: Subject) -> list[Finding]:
    """The branches taken at the point; where the formula is that of one path, it holds only there."""
    if program.explored and not program.is_numeric:
        return []
    conditions = dict.fromkeys((c.node, c.truth, c.site) for c in program.conditions)
    for_call, for_condition = "{call} takes {taken}", "{condition} is {truth}"
    if not program.explored:
        for_call = "{call} takes {taken}: the formula holds only there"
        for_condition = "{condition} is {truth}: the formula holds only there"
    found = []
    for node, truth, site in conditions:
        call, taken = text_at(site), taken_by(text_at(site), second=truth)
        values: dict[str, Any] = {
            "call": call,
            "taken": taken,
            "condition": subject.condition(node),
            "truth": _word(truth),
        }
        text = Sentence(for_call if taken else for_condition, **values)
        found.append(finding("branch", place_of(site), text=text, **values))
    return _some(found)


def taken_by(call: str, *, second: bool) -> str:
    """The argument that Python's `max` or `min` of two takes; "" where that is not what the source has.

    >>> taken_by("max(x, 0)", second=True), taken_by("max(x, 0) > 1", second=True)
    ('0', '')
    """
    try:
        tree = ast.parse(call, mode="eval").body
    except SyntaxError:
        return ""
    match tree:
        case ast.Call(func=ast.Name(id="max" | "min"), args=[_, _] as arguments, keywords=[]):
            return ast.get_source_segment(call, arguments[second]) or ""
    return ""


def _word(truth: bool) -> Sentence:
    return Sentence("True" if truth else "False")


def _meaning(subject: Subject) -> Iterator[Finding]:
    """What the number means: the gradient of an array is that of a sum."""
    if subject.output.size > 1:
        shape, size = subject.output.shape, subject.output.size
        yield finding("sum-of-outputs", shape=shape, count=size, ruled_out=_pointwise(subject))


def _integers(program: Program, subject: Subject) -> Iterator[Finding]:
    """Whole numbers among the arguments, which are not differentiated."""
    for a in program.arguments:
        if a.role == "traced" and a.kind == "int" and a.name not in subject.sources and a.is_numeric and not a.shape:
            yield finding("integer-argument", name=a.name, value=a.value)


def _pointwise(subject: Subject) -> list[Sentence]:
    """Whether every entry of the result depends on one entry of each source alone, so that the sum changes nothing."""
    touched = [n for n in subject.order if n in subject.hot]
    if all(n.shape == subject.output.shape and (not n.inputs or n.op.family == "elementwise") for n in touched):
        sentence = "the sum changes nothing here: each entry of the result depends on one entry of the argument"
        return [Sentence(sentence)]
    return []
