"""`ImplicitExplanation`: what `explain` gives for an equation, whose derivative is that of a variable in it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import mpmath as mp

from gradexplain.errors import ArgumentError, DomainError
from gradexplain.explanation import Explanation
from gradexplain.exposition import implicit, sweeps, values, verify
from gradexplain.exposition.domain import require_all_paths
from gradexplain.exposition.known import known_rules
from gradexplain.exposition.model import CheckReport, Detail, Finding, Overview, Style, TapeRow
from gradexplain.graph import Node, ancestors, is_scalar_constant
from gradexplain.language import Sentence
from gradexplain.render.answers import CheckDisplay
from gradexplain.render.display import Display
from gradexplain.simplify.arrangement import Arrangement
from gradexplain.simplify.conditions import conditions
from gradexplain.simplify.curve import Curve, along
from gradexplain.simplify.curves import reduced
from gradexplain.simplify.form import ClosedForm
from gradexplain.trace.run import Program, compare, explore, trace
from gradexplain.trace.signature import Argument

_CHECKED = 3  # points of a check without a point
_KINDS = ("branch", "kink", "note", "limit")  # findings about the equation that are ones about the derivative too
_LETTERS = ("x", "y", "z")  # the last of them depends on the others
_UNCHECKED = "no point was found on the curve, which may have none: the formula could not be checked"
_ON_CURVE = 1e-6  # relative: how far from the curve a rounded point may lie


class ImplicitExplanation(Explanation):
    """The derivatives of a variable that an equation F = 0 makes depend on others, with the members of `Explanation`.

    `of` is the variable, `wrt` are the independent ones; `value` is that of `of` at the point.
    """

    def __init__(
        self,
        program: Program,
        whole: Program,
        wrt: tuple[str, ...],
        order: int,
        *,
        of: str,
        subtracts: bool,
        title: str = "",
        notes: tuple[str, ...] = (),
    ) -> None:
        super().__init__(program, whole, wrt, order, kind="implicit", title=title, notes=notes)
        self.of, self.subtracts = of, subtracts
        self.curve = Curve(whole.output, whole.inputs, of)

    def _derive(self, program: Program) -> Mapping[str, Node]:
        return implicit.slopes(program.output, program.inputs, self.of, self.wrt, self.order)

    def _closed(
        self, key: str, node: Node, names: Mapping[Node, str], arranged: Arrangement, matrix: ClosedForm | None = None
    ) -> ClosedForm:
        form = super()._closed(key, node, names, arranged, matrix)
        if "," in key:
            form = reduced(form, self.whole.output, self._found, lambda p: self.curve.values([node], p)[0])
        return replace(form, conditions=conditions(self.whole, node, [self.curve.slope]))

    @cached_property
    def _found(self) -> list[dict[str, Any]]:
        """Points on the curve."""
        return self.curve.points()

    @property
    def _points(self) -> list[dict[str, Any]]:
        """The points of the check: the given one, or some on the curve."""
        if self.program.is_numeric:
            return [{n: mp.mpf(v) for n, v in self.program.point.items()}]
        return self._found[:_CHECKED]

    @property
    def value(self) -> Any:
        """The dependent variable's value at the point, None without one."""
        return float(self.program.point[self.of]) if self.program.is_numeric else None

    @cached_property
    def tape(self) -> tuple[TapeRow, ...]:
        """The tape of the equation: one record for each operation."""
        return sweeps.tape(self.program, (*self.wrt, self.of))

    def derivation(
        self,
        key: str | None = None,
        style: Style = "textbook",
        detail: Detail = "brief",
        known: str | Sequence[str] | None = None,
    ) -> Display:
        """How a derivative comes about: by implicit differentiation, or the sweeps of F that autodiff makes."""
        if style == "reverse":
            return Display(sweeps.reverse(self.program, (*self.wrt, self.of)))
        if style == "forward":
            return Display(sweeps.forward(self.program, (*self.wrt, self.of)))
        if style == "both":
            return Display(sweeps.both(self.program, (*self.wrt, self.of)))
        if style != "textbook":
            raise ArgumentError(f"there is no style {style!r}", fix="use textbook, reverse, forward or both")
        key = key or next(iter(self.gradients))
        rules = self.known if known is None else known_rules(known)
        equation = implicit.Equation.of_program(self.whole, self.of, subtracts=self.subtracts, known=rules)
        return Display(implicit.derive(equation, key, detail=detail, closed=self.gradients[key]))

    def check(self, gradient: Any = None) -> CheckDisplay:
        """Compares the derivatives (or a claimed `gradient`) with difference quotients along the curve."""
        if gradient is not None and not self.program.is_numeric:
            raise ArgumentError("a claimed gradient needs a point", fix="give numbers, as in x=3.0")
        return CheckDisplay(self._report(gradient, black_box=False))

    def _report(self, gradient: Any = None, *, black_box: bool) -> CheckReport:
        numeric = self.program.is_numeric
        rows = []
        for point in self._points:
            at = "" if numeric else ", ".join(f"{n} = {float(v):.4g}" for n, v in point.items())
            for key, node in self._nodes.items():
                before, _, name = key.rpartition(",")
                with mp.workdps(40):
                    found = self.gradient_values[key] if numeric else float(self.curve.values([node], point)[0])
                claim = found if gradient is None else values.claimed(gradient, name, self.wrt, self.program)
                lower = self._lower[before] if before else None
                f = along(self.curve, point, name, lower)
                label = Sentence("{name} at {point}", name=key, point=at) if at else key
                rows.append(verify.exact_row(label, f, float(point[name]), float(claim)))
        ok = bool(rows) and all(r.verdict == "pass" for r in rows)
        shown = tuple(self.program.point.items()) if numeric else ()
        return CheckReport(ok, tuple(rows), shown, () if rows else (_UNCHECKED,), len(rows))

    @cached_property
    def _lower(self) -> Mapping[str, Node]:
        """The derivatives of the order before, by key."""
        program = self.whole
        return implicit.slopes(program.output, program.inputs, self.of, self.wrt, max(1, self.order - 1))

    @cached_property
    def gradient_values(self) -> Mapping[str, Any]:
        """The derivatives' values at the point, {} without one."""
        return values.gradient_values(self._nodes_at_point, self.program) if self.program.is_numeric else {}

    @cached_property
    def _findings(self) -> tuple[Finding, ...]:
        return tuple(f for f in super()._findings if f.kind in _KINDS)

    @property
    def _diagnosis(self) -> tuple[Finding, ...]:
        """The other causes are about the left side minus the right side."""
        return self._findings

    @property
    def _call(self) -> str | None:
        from gradexplain import rerun

        return rerun.call(self.program, "explain_implicit", wrt=self.wrt, order=self.order, of=self.of)

    @cached_property
    def data(self) -> Overview:
        """Everything that a rendering shows, as one record."""
        written = implicit.Equation.of_program(self.whole, self.of, subtracts=self.subtracts).written
        keys = self.gradients.keys()
        derivations = tuple(self.derivation(k, detail=self.detail).data for k in keys)
        shown = super().data
        notes = shown.notes if self._points else (*shown.notes, _UNCHECKED)
        return replace(shown, equation=written, derivations=derivations, notes=notes)


def roles(arguments: Sequence[Argument], of: str | None, wrt: tuple[str, ...] | None) -> tuple[str, tuple[str, ...]]:
    """Which variable depends on which: of x, y, z the last on the others, unless it is said."""
    names = [a.name for a in arguments if a.kind != "bool"]
    if of is not None and of not in names:
        raise ArgumentError(
            f"there is no variable {of} in the equation",
            why=f"its variables are {', '.join(names) or 'none'}",
            fix="choose among them with of=",
        )
    free = [n for n in names if n not in (wrt or ())]
    letters = [n for n in _LETTERS if n in free]
    if of is None and not letters and len(free) > 1 + (wrt is None):
        raise ArgumentError(
            "it is not clear which variable depends on the others",
            why=f"there are {', '.join(free)}",
            fix=f"say it with of=, as in of={free[-1]!r}",
        )
    if not free:
        raise ArgumentError(
            "there is no variable left that could depend on the others",
            why=f"the equation has {', '.join(names) or 'none'}",
            fix="write an equation in two variables, such as x**2 + y**2 = 25",
        )
    of = of or (letters[-1] if letters else sorted(free)[-1])
    if wrt is None:
        others = [a.name for a in arguments if a.name in names and a.name != of and not a.is_default]
        wrt = tuple([n for n in _LETTERS if n in others] or others)
    if of in wrt or not wrt:
        raise ArgumentError(
            f"{of} can't depend on itself" if of in wrt else f"there is nothing that {of} could depend on",
            why=f"the equation has {', '.join(names)}",
            fix="name two variables, as in of='y', wrt='x'",
        )
    return of, wrt


def on_the_curve(
    f: Callable[..., Any], arguments: list[Argument], of: str, wrt: Sequence[str]
) -> tuple[list[Argument], Program, Program, tuple[str, ...]]:
    """The traced equation at a point of its curve: the given one, or the one found where only `of` is missing."""
    program = trace(f, arguments)
    whole = explore(program)
    curve = Curve(whole.output, whole.inputs, of)
    _require_numbers(whole)
    _require_influence(curve)
    point = program.point
    missing = [n for n in program.inputs if n not in point]
    notes: tuple[str, ...] = ()
    if missing == [of]:
        point[of], notes = _solved(curve, point)
    elif missing:
        require_all_paths(program, whole)
        return arguments, program, whole, ()
    y = require_point(curve, point, wrt)
    arguments = [replace(a, value=y) if a.name == of else a for a in arguments]
    program = trace(f, arguments)
    compare(program)
    return arguments, program, explore(program), notes


def _require_numbers(program: Program) -> None:
    if any(n.shape for n in [program.output, *program.inputs.values()]):
        raise ArgumentError(
            "equations of arrays are not explained",
            where=program.place,
            fix="give numbers, and return one number, which is 0 on the curve",
        )


def _require_influence(curve: Curve) -> None:
    if is_scalar_constant(curve.slope, 0):
        of = curve.dependent
        appears = curve.inputs[of] in ancestors([curve.equation])
        raise ArgumentError(
            f"the equation does not change with {of}" if appears else f"{of} does not appear in the equation",
            why=f"what does not depend on {of} can't determine it",
            fix="write an equation with both variables in it",
        )


def _solved(curve: Curve, others: Mapping[str, Any]) -> tuple[float, tuple[str, ...]]:
    name, at = curve.dependent, ", ".join(f"{n} = {float(v):g}" for n, v in others.items())
    found = [float(y) for y in curve.roots(others)]
    if not found:
        raise DomainError(
            f"no point with {at} was found on the curve",
            why=f"the two sides were not equal for any {name} that was tried",
            fix="choose another point, or leave all numbers out",
        )
    one = "{name} = {value:.6g} was found from the equation"
    several = "{name} = {value:.6g} was found from the equation (also {others})"
    more = ", ".join(f"{name} = {y:.6g}" for y in found[1:4])
    sentence = several if more else one
    return found[0], (Sentence(sentence, name=name, value=found[0], others=more),)


def require_point(curve: Curve, point: Mapping[str, Any], wrt: Sequence[str]) -> float:
    """The dependent variable at the point of the curve next to a given point; raises `DomainError` if there is none."""
    name = curve.dependent
    others = {n: v for n, v in point.items() if n != name}
    at = ", ".join(f"{n} = {float(v):g}" for n, v in point.items())
    with mp.workdps(40):
        residual, slope = curve.values([curve.equation, curve.slope], point)
        root = curve.root(others, point[name])
        off = not mp.isfinite(residual) or (
            residual != 0 and (root is None or abs(root - point[name]) > _ON_CURVE * (1 + abs(root)))
        )
    if off:
        near = sorted(curve.roots(others), key=lambda y: abs(y - point[name]))[:2]
        there = f"{name} = {' or '.join(mp.nstr(y, 8) for y in near)} is on it" if near else "no point was found there"
        raise DomainError(
            f"the point {at} is not on the curve",
            why=f"the left side minus the right side is {mp.nstr(residual, 6)} there, not 0; {there}",
            fix=f"give a point on the curve, or leave {name} out",
        )
    if slope == 0 or not mp.isfinite(slope):
        raise DomainError(
            f"d{name}/d{wrt[0]} does not exist at {at}",
            why=f"the equation does not determine {name} there: dF/d{name} = {mp.nstr(slope, 6)}; "
            "the tangent is vertical, or the curve meets itself",
            fix=f"choose another point, or differentiate the other way round: wrt={name!r}",
        )
    return float(point[name]) if residual == 0 else float(root)
