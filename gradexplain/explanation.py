"""`Explanation`: the object that `explain` gives, with everything that the straight line produces on the way."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from gradexplain.autodiff import Sweep, sweep
from gradexplain.errors import ArgumentError, DomainError
from gradexplain.exposition import differentials, entries, layout, naming, sweeps, textbook, values
from gradexplain.exposition.known import known_rules
from gradexplain.exposition.model import (
    MOST_DERIVATIONS,
    AlongSymmetric,
    CheckReport,
    Detail,
    Differentials,
    Entrywise,
    Finding,
    Overview,
    Style,
    TapeRow,
    Walk,
)
from gradexplain.exposition.orders import Orders
from gradexplain.graph import Node, ancestors
from gradexplain.jacobians import derivative_nodes
from gradexplain.pictures import Pictured
from gradexplain.render.answers import CheckDisplay, FindingsDisplay
from gradexplain.render.display import Display
from gradexplain.render.frozen import Frozen
from gradexplain.simplify.arrangement import Arrangement
from gradexplain.simplify.closed import arrangement, closed_form
from gradexplain.simplify.form import ClosedForm, Gradients
from gradexplain.simplify.tensor.standins import with_sizes
from gradexplain.structured import structured_in
from gradexplain.trace.run import Program
from gradexplain.trace.source import lines_of

if TYPE_CHECKING:
    from gradexplain.render.stepper import Stepper


class Explanation(Pictured):
    """What `explain` gives: the closed forms, the tape, derivations, the check, and all renderings of them.

    `program` is the traced function along the path taken at the point; `whole` joins all its paths.
    """

    def __init__(
        self,
        program: Program,
        whole: Program,
        wrt: tuple[str, ...],
        order: int,
        *,
        kind: str = "gradient",
        title: str = "",
        notes: tuple[str, ...] = (),
        facts: Mapping[str, frozenset[str]] | None = None,
    ) -> None:
        self.program, self.whole, self.wrt, self.order, self.kind = program, whole, wrt, order, kind
        self.title, self.reading_notes = title, notes
        self.facts = dict(facts or {})
        self.structured = structured_in(self.facts)
        self.names = naming.names(program)
        self.detail: Detail = "brief"
        self.known: frozenset[str] = frozenset()  # rules that derivations apply without a line

    # The derivatives.
    @cached_property
    def _nodes(self) -> Mapping[str, Node]:
        return self._derive(self.whole)

    @cached_property
    def _nodes_at_point(self) -> Mapping[str, Node]:
        return self._nodes if self.whole.output is self.program.output else self._derive(self.program)

    def _derive(self, program: Program) -> Mapping[str, Node]:
        inputs = {n: program.inputs[n] for n in self.wrt}
        return derivative_nodes(program.output, inputs, self.order, self.kind, self.structured)

    @cached_property
    def gradients(self) -> Gradients:
        """The closed forms, in the order of `wrt`."""
        names = naming.names(self.whole)
        arranged = arrangement(self.whole, names)
        matrix: Mapping[str, ClosedForm] = {}
        if not self.is_scalar:  # what formulas of numbers do without is not loaded for them
            from gradexplain.simplify.tensor.forms import tensor_forms

            matrix = tensor_forms(self.whole, self.wrt, self._quantity, self.facts)
        forms = {k: self._closed(k, n, names, arranged, matrix.get(k)) for k, n in self._nodes.items()}
        forms = with_sizes(forms, self.whole, self._elsewhere)
        return Gradients(self._orders.with_steps(forms) if self.is_scalar and self.kind == "gradient" else forms)

    def _elsewhere(self, other: Program) -> Gradients:
        """The closed forms of the program at other sizes."""
        return Explanation(other, other, self.wrt, self.order, kind=self.kind, facts=self.facts).gradients

    def _closed(
        self, key: str, node: Node, names: Mapping[Node, str], arranged: Arrangement, matrix: ClosedForm | None = None
    ) -> ClosedForm:
        return closed_form(key, node, self.whole, names, arranged, matrix)

    @property
    def _quantity(self) -> str:
        return "hessian" if self.kind == "gradient" and self.order > 1 else self.kind

    @cached_property
    def _independent(self) -> Explanation:
        """The same with independent entries of the structured matrices."""
        facts = {n: known - {"structured"} for n, known in self.facts.items()}
        return Explanation(self.program, self.whole, self.wrt, self.order, kind=self.kind, facts=facts)

    @cached_property
    def _orders(self) -> Orders:
        return Orders(self.whole)

    def __getitem__(self, key: str) -> ClosedForm:
        return self.gradients[key]

    @property
    def gradient(self) -> Any:
        """The closed form as one SymPy expression in the arguments; of several derivatives, a SymPy tuple of them."""
        return self.gradients.together

    # Numbers.
    @property
    def value(self) -> Any:
        """The function's value at the point, None without one."""
        found = self.program.trace.value(self.program.output)
        if found is None:
            return None
        return float(found) if self.program.output.shape == () else np.array(found, dtype=float)

    @cached_property
    def gradient_values(self) -> Mapping[str, Any]:
        """The derivatives' values at the point, {} without one."""
        if not self.program.is_numeric:
            return {}
        found = values.gradient_values(self._nodes_at_point, self.program)
        found = {key: self._from_closed_form(key, value) for key, value in found.items()}
        if self.whole.explored and self.is_scalar:
            found |= values.isolated_values(self._nodes, self.whole)
        return found

    def _from_closed_form(self, key: str, found: Any) -> Any:
        """Where the graph meets 0/0, the closed form may still have a value: x/sqrt(x) at 0."""
        if not self.is_scalar or math.isfinite(found) or not math.isfinite(self.value):
            return found
        better = values.formula_value(self.gradients[key], self.program)
        return found if better is None else better

    # The graph.
    @property
    def graph(self) -> Sequence[Node]:
        """The nodes of the function, in the order of computation."""
        return ancestors([self.program.output])

    @property
    def gradient_graph(self) -> Sequence[Node]:
        """The nodes of the derivatives (and of what they are computed from)."""
        return ancestors(self._nodes.values())

    @cached_property
    def sweep(self) -> Sweep:
        """The reverse sweep of the function: of all its paths where they were explored, else of the one taken."""
        return sweep(self.whole.output, [self.whole.inputs[n] for n in self.wrt])

    @cached_property
    def tape(self) -> tuple[TapeRow, ...]:
        """The tape: one record for each operation, with local derivatives and adjoints."""
        return sweeps.tape(self.program, self.wrt)

    def derivation(
        self,
        key: str | None = None,
        style: Style = "textbook",
        detail: Detail = "brief",
        known: str | Sequence[str] | None = None,
    ) -> Display:
        """How a derivative comes about: rule by rule (`textbook`), or by autodiff (`reverse`, `forward`, `both`).

        Arrays are derived entry by entry if the program takes them apart, else by the differentials of its statements,
        and in reverse mode where these have no matrix notation. Rules that are `known`, such as `("sum", "power")`, are
        applied without a line. Raises `ArgumentError` for names that are no rules.
        """
        rules = self.known if known is None else known_rules(known)
        if style == "textbook":
            key = key or next(iter(self.gradients))
            variable = key.split(",")[0]
            found: Entrywise | Differentials | None = None
            if not self.is_scalar or self.kind != "gradient":
                if variable in self.structured:
                    independent = self._independent.derivation(variable, style, detail, known).data
                    result, output = self.gradients[key], self.names.get(self.program.output, "y")
                    return Display(AlongSymmetric(variable, output, independent, result))
                if self._quantity == "gradient":
                    found = entries.derive(self.whole, variable, self._nodes[variable], detail=detail, known=rules)
                    found = found or differentials.derive(self.whole, variable, self.gradients[variable], self.facts)
                return Display(found or sweeps.reverse(self.program, self.wrt))
            record = textbook.derive(
                self.whole,
                variable,
                order=self.order,
                detail=detail,
                known=rules,
                key=key,
                closed=self.gradients[key],
                check=self._check_of(key),
                orders=self._orders,
            )
            return Display(record)
        wrt = self.wrt if key is None else (key.split(",")[0],)
        if style == "reverse":
            return Display(sweeps.reverse(self.program, wrt))
        if style == "forward":
            return Display(sweeps.forward(self.program, wrt))
        if style == "both":
            return Display(sweeps.both(self.program, wrt))
        raise ArgumentError(f"there is no style {style!r}", fix="use textbook, reverse, forward or both")

    def stepper(self) -> Stepper:
        """The reverse sweep to go through step by step, in a notebook or as a page (`save`)."""
        from gradexplain.render.stepper import Stepper

        place = self.program.place
        return Stepper(
            Walk(
                name=self.title or self.program.name,
                point=tuple(self.program.point.items()) if self.program.is_numeric else (),
                sweep=self.derivation(style="reverse").data,
                lines=lines_of(self.program.function),
                file=place.file if place else "",
            )
        )

    @property
    def is_scalar(self) -> bool:
        """Whether the program computes with numbers alone."""
        return all(n.shape == () for n in (*self.graph, *self.program.inputs.values()))

    # Checks and findings.
    def check(self, gradient: Any = None) -> CheckDisplay:
        """Compares the derivatives (or a claimed `gradient`) with difference quotients of the function."""
        if gradient is not None and not self.program.is_numeric:
            raise ArgumentError("a claimed gradient needs a point", fix="give numbers, as in x=3.0")
        return CheckDisplay(self._report(gradient, black_box=self.program.is_numeric))

    def _report(self, gradient: Any = None, *, black_box: bool) -> CheckReport:
        from gradexplain.exposition import verify

        if not self.program.is_numeric:
            if self.is_scalar:
                return verify.at_samples(self.whole, self._nodes, self._parents)
            return verify.at_random_arrays(self.whole, self._nodes, self._parents, self.facts)
        program = self.whole if self.whole.explored else self.program
        if gradient is not None:
            found = {name: values.claimed(gradient, name, self.wrt, self.program) for name in self.wrt}
            claims = [verify.Claim(name, value, structured=name in self.structured) for name, value in found.items()]
            return verify.check(program, claims, black_box=black_box)
        claims = [
            verify.Claim(name, self.gradient_values[key], node, self._parents[key], key, name in self.structured)
            for key, node in self._nodes.items()
            if (name := key.rpartition(",")[2])
        ]
        return verify.check(program, claims, black_box=black_box)

    @cached_property
    def _short_report(self) -> CheckReport:
        """The check without the function's own values: what every rendering shows."""
        return self._report(black_box=False)

    def _check_of(self, key: str) -> CheckReport | None:
        """What the check at the point says of one derivative."""
        if not self.program.is_numeric:
            return None
        report = self._short_report
        rows = tuple(row for row in report.rows if row.name == key)
        return replace(report, rows=rows, ok=all(row.verdict == "pass" for row in rows), notes=(), entries=len(rows))

    @cached_property
    def _parents(self) -> Mapping[str, Node | None]:
        """What each derivative is the derivative of: None for the function, else a node."""
        if self.kind == "jacobian":
            return dict.fromkeys(self._nodes, self.whole.output)
        if self.kind == "gradient" and self.order == 1:
            return dict.fromkeys(self._nodes)
        inputs = {n: self.whole.inputs[n] for n in self.wrt}
        lower = derivative_nodes(self.whole.output, inputs, max(1, self.order - 1), "gradient", self.structured)
        return {key: lower[key.rpartition(",")[0] or key] for key in self._nodes}

    @cached_property
    def _findings(self) -> tuple[Finding, ...]:
        """What every rendering tells."""
        from gradexplain.exposition import findings

        return findings.find(self._recorded, self.wrt, self.sweep)

    @property
    def _recorded(self) -> Program:
        return self.whole if self.whole.explored else self.program

    @cached_property
    def _diagnosis(self) -> tuple[Finding, ...]:
        """What is told to those who ask why."""
        from gradexplain.exposition import findings

        try:
            closed = self.gradient_values if self.order == 1 and self.kind == "gradient" else {}
        except DomainError:  # a matrix has no inverse, and the findings say where
            closed = {}
        found = findings.diagnose(self._recorded, self.wrt, self.sweep, closed)
        return (*found, *findings.of_derivatives(self._nodes, self.order), *findings.left_out(self.whole))

    def why(self, key: str | None = None) -> FindingsDisplay:
        """Why a derivative is zero, undefined, huge, or not what was expected: findings with their causes.

        Each has a code (see the page of findings), the path as far as it goes, the operation with its line, its factor,
        what is not the cause, and what to do. With `key`, those about one argument.
        """
        from gradexplain.exposition.findings import about

        return FindingsDisplay(about(self._diagnosis, key) if key else self._diagnosis)

    # Rendering.
    def python(self) -> str:
        """The closed forms as a NumPy program."""
        from gradexplain import rerun

        return rerun.formulas([a.name for a in self.whole.arguments if a.role == "traced"], self.gradients.values())

    def to_notebook(self) -> str:
        """A Jupyter notebook that explains, and computes the explanation again, as JSON."""
        from gradexplain import rerun
        from gradexplain.render import document, notebook

        title = document.title_of(self.data)
        traced = replace(self.program, arguments=tuple(a for a in self.program.arguments if a.role == "traced"))
        given = rerun.arguments(traced) if self.program.is_numeric else None
        return notebook.notebook(self.screen, title, self._call, self.python(), given)

    @property
    def _call(self) -> str | None:
        from gradexplain import rerun

        name = "explain" if self.kind == "gradient" else f"explain_{self.kind}"
        return rerun.call(self.program, name, wrt=self.wrt, order=self.order, facts=self.facts)

    @property
    def writers(self) -> Mapping[str, Callable[[], str | bytes]]:
        """The formats of files by the endings of their names: also .py and .ipynb."""
        return {**super().writers, ".py": self.python, ".ipynb": self.to_notebook}

    @cached_property
    def data(self) -> Overview:
        """Everything that a rendering shows, as one record."""
        forms = tuple(self.gradients.items())
        derivations: tuple[Any, ...] = ()
        if self.is_scalar and self.kind == "gradient":
            derivations = tuple(self.derivation(k, detail=self.detail).data for k, _ in forms)
        elif self._quantity == "gradient" and not self.structured:
            derivations = tuple(differentials.derive(self.whole, k, f, self.facts) for k, f in forms[:MOST_DERIVATIONS])
        of_arrays = () if self.is_scalar else layout.notes(self._quantity, self.gradients.forms, self.facts)
        return Overview(
            name=self.program.name,
            title=self.title,
            arguments=tuple(a.name for a in self.program.arguments),
            function=naming.formula(self.whole, self.names),
            where=() if derivations else naming.definitions(self.whole, self.names),  # steps bring their own names
            shape=self.program.output.shape,
            kind=self.kind,
            order=self.order,
            point=tuple(self.program.point.items()) if self.program.is_numeric else (),
            value=self.value,
            forms=forms,
            values=tuple(self.gradient_values.items()),
            findings=self._findings,
            derivations=derivations,
            tape=self.tape if self.program.is_numeric else (),
            check=self._short_report,
            graph=self._small_picture,
            notes=(*self.reading_notes, *self.program.trace.notes, *self.whole.limits, *of_arrays),
        )

    def __repr__(self) -> str:
        shown = ", ".join(f"{k}: {f.text if len(f.text) < 60 else '...'}" for k, f in self.gradients.items())
        return f"<Explanation of {self.program.name}: {shown}>"

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        numbers = dict(self.gradient_values), self.value
        return Frozen, (self.data, self.document, self.screen, dict(self.gradients.items()), *numbers)
