"""Derivations in words: numbered steps, each rule stated once, letters before they are used."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

from gradexplain.errors import Place
from gradexplain.exposition.model import Derivation, Entrywise, Step
from gradexplain.exposition.rules import LOGARITHMIC, LOUD, QUIET
from gradexplain.language import joined, say
from gradexplain.render import formula as formulas
from gradexplain.render import rewriting
from gradexplain.render.blocks import (
    Block,
    Chain,
    Equation,
    Formula,
    Heading,
    Inline,
    Line,
    Link,
    Note,
    Paragraph,
    StepItem,
    Steps,
    line,
)
from gradexplain.render.checks import check_line
from gradexplain.render.formula import derivative_of
from gradexplain.render.phrases import listed, phrase, separated
from gradexplain.render.reasons import logarithm_taken, reasons, rewritten, single_points
from gradexplain.simplify.arrangement import TEXTBOOK, Arrangement
from gradexplain.simplify.form import ClosedForm
from gradexplain.simplify.parts import GAP

_LONG_CHAIN = 4  # steps, each inside the last, that are numbered on one level instead
_TIMES = ("{name}", "{name} twice", "{name} three times", "{name} four times")
_ORDINALS = ("First", "Second", "Third", "Fourth", "Fifth", "Sixth")


def derivation(record: Derivation) -> Iterator[Block]:
    """The function, the steps of every order, and the answer."""
    stages = stages_of(record)
    names = dict(pair for stage in stages for pair in stage.names)
    where = definitions(tuple(names.items())) + where_evaluated(stages[0].functions, record.arrangement)
    yield Equation(formulas.named(record.output, stages[0].function), where=where)
    yield from all_steps(stages)
    yield answer(record, _left(record), where_evaluated(record.where, record.arrangement))
    yield from conditions(record.conditions)
    if record.check is not None and record.check.rows:
        yield check_line(record.check, record.output)


def entrywise(record: Entrywise) -> Iterator[Block]:
    """The function, then the steps and the answer for each entry."""
    first = record.derivations[0]
    names = dict(pair for entry in record.derivations for pair in entry.names)
    yield Equation(formulas.named(first.output, first.function), where=definitions(tuple(names.items())))
    stated: set[str] = set()
    for entry in record.derivations:
        yield Heading(phrase("With respect to {variables}", variables=formulas.name(entry.variable)), 3)
        yield from derivation_steps(entry, stated)
        yield answer(entry, _left(entry), where_evaluated(entry.where, entry.arrangement))
    left_out = math.prod(record.shape) - len(record.derivations)
    if left_out:
        yield Note(line(say("{count} more entries are derived alike.", count=left_out)), "info")
    yield from conditions(tuple(dict.fromkeys(c for entry in record.derivations for c in entry.conditions)))


def stages_of(record: Any) -> list[Derivation]:
    """A derivation and those of the orders before, the first order first."""
    stages: list[Derivation] = []
    found = record if isinstance(record, Derivation) else None
    while found is not None:
        stages.append(found)
        found = found.previous
    return stages[::-1]


def all_steps(stages: Sequence[Derivation]) -> Iterator[Block]:
    """The steps of each order, and the answers of all but the last."""
    stated: set[str] = set()
    for stage in stages:
        if len(stages) > 1:
            yield Heading(line(order_title(stage.order)), 3)
        yield from derivation_steps(stage, stated)
        if stage is not stages[-1]:
            yield answer(stage, _left(stage), where_evaluated(stage.where, stage.arrangement))


def ordinal(order: int) -> str:
    """First, Second, …"""
    return say(_ORDINALS[order - 1]) if order <= len(_ORDINALS) else say("{order}th", order=order)


def order_title(order: int) -> str:
    """What is above the steps of an order."""
    return say("{ordinal} derivative", ordinal=ordinal(order))


def line_of(place: Place | None) -> str:
    """Where something stands in the user's program, in brackets after it."""
    return "" if place is None else say(" (line {number})", number=place.line)


def answer(record: Derivation, left: Formula, where: tuple[Formula, ...]) -> Equation | Chain:
    """The result; level "brief" shows also the line that it was simplified from, and a rule that had no line."""
    rule = record.root.rule if record.root is not None and is_plain(record) else ""
    if record.detail == "full" or not (record.rewrites or rule):
        return Equation(formulas.equal(left, _evaluated(record)), where=where)
    if record.rewrites:
        links = rewriting.links(record.raw, record.rewrites, record.arrangement)
        return Chain(left, (Link(links[0].formula, line(say(rule))) if rule else links[0], *links[1:]), where)
    return Chain(left, (Link(_evaluated(record), line(say(rule))),), where)


def is_plain(record: Derivation) -> bool:
    """Whether the only rule is one that needs no line in a brief derivation: a sum, a power of the variable."""
    root = record.root
    if root is None or root.substeps or record.detail == "full" or root.rule in record.known:
        return False
    return root.rule in QUIET or (root.rule not in LOUD and all(len(e.free_symbols) == 0 for _, e in root.bindings))


def repeated(variables: Sequence[str]) -> str:
    """What a derivative is taken with respect to, in words.

    >>> repeated(("x", "x", "z")), repeated(("x", "x", "x"))
    ('x twice and z', 'x three times')
    """
    counts = [(v, variables.count(v)) for v in dict.fromkeys(variables)]
    times = [say(_TIMES[n - 1] if n <= len(_TIMES) else "{name} {count} times", name=v, count=n) for v, n in counts]
    return joined(times)


def _evaluated(record: Derivation) -> Formula:
    """The result: as a closed form where it was simplified, else as it was written."""
    if record.root is not None and record.result is record.root.after:
        return formulas.formula(record.result)
    return rewriting.simplified(record.result, record.arrangement)


def _left(record: Derivation) -> Formula:
    return derivative_of(record.output, record.variables, partial=bool(record.constants))


def definitions(names: Sequence[tuple[str, Any]]) -> tuple[Formula, ...]:
    """What names stand for, a formula each."""
    return tuple(formulas.named(name, e) for name, e in names)


def where_evaluated(names: Sequence[tuple[Any, Any]], arrangement: Arrangement) -> tuple[Formula, ...]:
    """What names in a closed form stand for."""
    return tuple(
        formulas.gap(e) if n == GAP else formulas.equal(_defined(n), rewriting.simplified(e, arrangement))
        for n, e in names
    )


def _defined(name: Any) -> Formula:
    """The left side of a definition: a name, or a function of the user's with its parameters."""
    return formulas.name(name) if isinstance(name, str) else rewriting.simplified(name, TEXTBOOK)


def functions(form: ClosedForm) -> tuple[Formula, ...]:
    """What the user's functions in a formula compute."""
    return where_evaluated(form.functions, form.arrangement)


def conditions(needed: Sequence[str]) -> Iterator[Block]:
    """Where a result holds, if not everywhere."""
    if needed:
        shown = [say(c).replace(" or ", say(" or ")) for c in needed]
        shown = [f"({c})" if " or " in whole and len(needed) > 1 else c for c, whole in zip(shown, needed, strict=True)]
        yield Note(line(say("This holds for {conditions}.", conditions=say(" and ").join(shown))), "info")


def derivation_steps(record: Derivation, stated: set[str] | None = None) -> Iterator[Block]:
    """The numbered steps of a derivation, from the first rule to the closed form; `stated` rules need no statement."""
    if record.root is None:
        yield Paragraph(line(say("This function computes with arrays; see its reverse mode.")))
        return
    yield from held_constant(record)
    left = _left(record)
    items = rules_of(record, left, stated)
    if record.rewrites and record.detail == "full":
        steps = rewriting.items(left, record.rewrites, record.arrangement)
        items.append(StepItem(line(say("simplify")), children=steps))
    if items:
        yield Steps(tuple(items))


def held_constant(record: Derivation) -> Iterator[Block]:
    """What a partial derivative leaves alone."""
    used = {s.name for e in (record.function, *(e for _, e in record.names)) for s in e.free_symbols}
    held = [n for n in record.constants if n in used]
    if held and (record.previous is None or record.previous.constants != record.constants):
        sentence = "{names} is held constant." if len(held) == 1 else "{names} are held constant."
        yield Paragraph(phrase(sentence, names=listed([formulas.name(n) for n in held])))


def rules_of(
    record: Derivation, left: Formula, stated: set[str] | None = None, *, prefix: str = "", first: int = 1
) -> list[StepItem]:
    """The numbered rules alone, as steps towards `left`; their numbers begin with `prefix` and at `first`."""
    return _Wording(record, left, set() if stated is None else stated).items(prefix, first)


class _Wording:
    """Puts the steps of one derivation into words: a statement is given once, letters before they are used."""

    def __init__(self, record: Derivation, left: Formula, stated: set[str]) -> None:
        self.record, self.left, self.stated = record, left, stated
        self.full = record.detail == "full"
        self.defined = {name for name, _ in record.names}
        self.labels: dict[int, str] = {}

    def items(self, prefix: str = "", first: int = 1) -> list[StepItem]:
        """The steps on the first level, and what they give together."""
        root = self.record.root
        assert root is not None
        if is_plain(self.record):
            return []
        if root.rule in self.record.known or (not self.full and root.rule in QUIET and root.substeps):
            return self._inside(root, prefix, first)
        return self._items(root, self.left, prefix, first, is_root=True)

    def _inside(self, root: Step, prefix: str, first: int) -> list[StepItem]:
        """The steps inside a first step that is applied without a word."""
        items: list[StepItem] = []
        for child in root.substeps:
            items += self._items(child, _left_of(child), prefix, first + len(items))
        if root.elided:
            items.append(_left_out(root.elided))
        if items and self.full:
            items.append(StepItem(line(say("together")), formulas.equal(self.left, formulas.formula(root.after))))
        return items

    def _items(
        self, step: Step, left: Formula, prefix: str, number: int, *, is_root: bool = False, in_chain: bool = False
    ) -> list[StepItem]:
        """A step and what follows from it on the same level: the steps of a long chain, and its result."""
        self.labels[step.number] = label = f"{prefix}{number}"
        substitutes = self._substitutes(step, is_root)
        head = self._head(step, left, substitutes)
        following: list[StepItem] = []
        if len(step.substeps) == 1 and (in_chain or _chain_length(step) > _LONG_CHAIN):
            if step.elided:
                following.append(_left_out(step.elided))
            for child in step.substeps:
                following += self._items(child, _left_of(child), prefix, number + 1 + len(following), in_chain=True)
            result = [] if is_root and not self.full else self._result(step, left, substitutes)
            return [head, *following, *result]
        children: list[StepItem] = []
        for child in step.substeps:
            children += self._items(child, _left_of(child), f"{label}.", len(children) + 1)
        if step.elided:
            children.append(_left_out(step.elided))
        result = self._result(step, left, substitutes)
        if is_root and not self.full:
            result = []  # it follows right below
        return [StepItem(head.title, head.formula, head.notes, (*children, *result))]

    def _substitutes(self, step: Step, is_root: bool) -> bool:
        """Whether the rule is stated first, and its result comes after the steps inside."""
        if step.statement is None or step.reference is not None or not (step.substeps or (is_root and step.bindings)):
            return False
        if step.rule in QUIET and not is_root:
            return False
        return formulas.text(step.statement[1]) != formulas.text(step.after)

    def _head(self, step: Step, left: Formula, substitutes: bool) -> StepItem:
        title = say(step.rule)
        if step.reference is not None:
            title = say("{rule}, as in {label}", rule=title, label=self.labels.get(step.reference, ""))
        elif step.name and step.target:
            title += line_of(step.place)
        worked_out = self._worked_out(step) if step.rule in LOUD else formulas.formula(step.after)
        result = formulas.equal(left, worked_out)
        statement = _statement(step) if step.reference is None else None
        shown = statement if substitutes and statement is not None else result
        notes: list[Line] = []
        if self.full and step.reference is None:
            notes += reasons(step)
            if statement is not None and statement.text != shown.text and step.rule not in self.stated:
                notes.append((statement,))
        notes += single_points(step)
        if statement is not None:
            self.stated.add(step.rule)
        return StepItem(line(title), shown, (*notes, *self._notes(step)))

    def _notes(self, step: Step) -> Iterator[Line]:
        """What the letters stand for, each with its derivative unless a step of its own gives that."""
        if step.target and step.target not in self.defined and step.reference is None:
            self.defined.add(step.target)
            yield (formulas.named(step.target, step.before),)
        if step.rule == LOGARITHMIC and step.bindings:
            name, logarithm = step.bindings[0]
            self.defined.add(name)
            yield (
                logarithm_taken(name, step)
                if self.full
                else phrase(
                    "{equation} is the logarithm of {power}",
                    equation=formulas.named(name, logarithm),
                    power=formulas.formula(step.before),
                )
            )
        values = {name: e for name, e in step.bindings if not name.endswith("'")}
        primes = {name[:-1]: e for name, e in step.bindings if name.endswith("'")}
        if not self.full:
            primes.pop(self.record.variable, None)
        derived = {child.target for child in step.substeps if child.reference is None}
        for name in dict.fromkeys([*(n for n in values if n not in primes), *primes]):
            parts: list[Inline] = (
                [formulas.named(name, values[name])] if name in values and name not in self.defined else []
            )
            self.defined |= {name} if name in primes or name in derived else set()
            if name in primes and name not in derived:
                parts.append(formulas.equal(_prime_of(name), formulas.formula(primes[name])))
            if parts:
                yield separated(parts)

    def _result(self, step: Step, left: Formula, substitutes: bool) -> list[StepItem]:
        """What the rule gives, after the steps inside it."""
        if not substitutes:
            return []
        notes = (rewritten(step),) if self.full and step.rule == LOGARITHMIC and step.bindings else ()
        return [StepItem(line(say("substitute")), formulas.equal(left, self._worked_out(step)), notes)]

    def _worked_out(self, step: Step) -> Formula:
        """What a rule gives; where the level is full, first as it is put in, then with its arithmetic done."""
        result = formulas.formula(step.after)
        applied = result if step.applied is None or not self.full else formulas.formula(step.applied)
        return result if applied.text == result.text else formulas.equal(applied, result)


def _statement(step: Step) -> Formula | None:
    if step.statement is None:
        return None
    before, after = step.statement
    return formulas.equal(formulas.prime(before), formulas.formula(after))


def _left_of(step: Step) -> Formula:
    return _prime_of(step.target) if step.target else formulas.prime(step.before)


def _prime_of(name: str) -> Formula:
    return Formula(f"{name}'", f"{formulas.name_latex(name)}'")


def _chain_length(step: Step) -> int:
    length = 1
    while len(step.substeps) == 1:
        step, length = step.substeps[0], length + 1
    return length


def _left_out(count: int) -> StepItem:
    return StepItem(line(say("… {count} more steps" if count > 1 else "… {count} more step", count=count)))
