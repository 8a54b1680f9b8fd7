"""The derivatives of an array program in matrix notation: lowered, differentiated, simplified, printed, checked."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cached_property, reduce
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
import sympy as sp

from gradexplain.autodiff import jvp, sweep
from gradexplain.evaluate import evaluate
from gradexplain.graph import constant
from gradexplain.simplify.form import ClosedForm, Written
from gradexplain.simplify.rewrite import NAMES, Rewrite
from gradexplain.simplify.tensor.checking import agree, function_of, points
from gradexplain.simplify.tensor.deltas import deltas, renamed
from gradexplain.simplify.tensor.domain import conditions
from gradexplain.simplify.tensor.lowering import NotLoweredError, TooLongError
from gradexplain.simplify.tensor.naming import named
from gradexplain.simplify.tensor.notation import Form, joint_cost, subforms
from gradexplain.simplify.tensor.program import Steps, TensorProgram
from gradexplain.simplify.tensor.reshaping import meant_symmetric
from gradexplain.simplify.tensor.sizing import Sizing
from gradexplain.simplify.tensor.source import numpy_source, plain, text
from gradexplain.simplify.tensor.standins import Elsewhere, bound, elsewhere
from gradexplain.simplify.tensor.tex import latex
from gradexplain.structured import structured_in, tied_array, tied_axes
from gradexplain.trace.run import Program

# What stands in the way of a formula: the program keeps the form of the rung below.
FAILURES = (
    NotLoweredError, ArithmeticError, ValueError, TypeError, KeyError, IndexError, AttributeError, RecursionError,
    AssertionError, np.linalg.LinAlgError, StopIteration,
)  # fmt: skip
_LONGEST_LOGGED = 300  # operations of what is logged, all names written out
_AT_POINTS = "compared with autodiff at points"
_SINGULAR = 1e9  # entries of an inverse that are rounding alone
_LARGEST_CHECKED = 10**6  # entries of a result


def tensor_forms(
    program: Program, wrt: Sequence[str], kind: str, facts: Mapping[str, frozenset[str]]
) -> dict[str, ClosedForm]:
    """The derivatives by key in matrix notation, those that could be found and that agree with autodiff.

    A short form that holds where nothing is 0 and no entries tie comes first; what differs at the point is done again.
    """
    found: dict[str, ClosedForm] = {}
    sizing = sizing_of(program)
    meant = meant_symmetric(program)
    unsaid = tuple(f"{n}.T = {n}" for n in sorted(meant) if "symmetric" not in facts.get(n, ()))
    checked = _Checked(program, kind, {**facts, **{n: facts.get(n, frozenset()) | {"symmetric"} for n in meant}})
    ways = [(s, regular) for regular in (True, False) for s in ((sizing, None) if sizing else (None,))]
    with suppress(TooLongError):
        for named_sizes, regular in ways:
            best = _shortest(program, wrt, kind, facts, regular, named_sizes)
            if best is None:
                continue
            if kind == "gradient":
                best = _with_deltas(best, program, wrt, checked.at)
            for key, shown in best.shown.items():
                if key in found:
                    continue
                used = _used(shown, best.where)
                form = checked.right_one(shown, used, key, named_sizes)
                if form is not None:
                    closed = _closed(key, form, used, best.shapes[key], best.adjoints, regular=regular)
                    stated = (
                        *(unsaid if regular else ()),
                        *closed.conditions,
                        *checked.bound_to(form, used, key, closed.conditions),
                    )
                    steps = best.steps.get(key, ())
                    is_short = all(before.cost + after.cost <= _LONGEST_LOGGED for _, before, after in steps)
                    is_right = is_short and all(checked.is_right(a, (), key, named_sizes) for _, _, a in steps)
                    log = rewrites(steps, closed) if is_right else ()
                    found[key] = replace(closed, conditions=stated, rewrites=log)
            if len(found) == len(best.shown):
                break
    return found


def sizing_of(program: Program) -> Sizing | None:
    """The sizes of the program by name, if they can be told from other numbers."""
    try:
        return Sizing.of(program, TensorProgram(program, (), {}).axes)
    except FAILURES:
        return None


class _Checked:
    """Forms against autodiff: at the point and beside it, and at other sizes."""

    def __init__(self, program: Program, kind: str, facts: Mapping[str, frozenset[str]]) -> None:
        self.program, self.kind, self.facts = program, kind, facts
        self.at = list(points(program, facts))

    @cached_property
    def _others(self) -> Elsewhere:
        return elsewhere(self.program)

    def right_one(self, form: Form, where: Sequence[tuple[str, Form]], key: str, sizing: Sizing | None) -> Form | None:
        """The form, or itself without the axes of size 1 that its operands bring with them in NumPy; None if wrong."""
        options = (form, *(form.parts if form.op in ("expand", "reshape") else ()))
        return next((f for f in options if self.is_right(f, where, key, sizing)), None)

    def is_right(self, form: Form, where: Sequence[tuple[str, Form]], key: str, sizing: Sizing | None) -> bool:
        """Whether a form agrees with autodiff here; one that has names for sizes also at other sizes."""
        if not self._agrees(form, where, key, self.program):
            return False
        if sizing is None or not any(p.op == "size" for p in subforms(form, *(f for _, f in where))):
            return True
        return sizing.elsewhere is not None and self._agrees(form, where, key, sizing.elsewhere)

    def bound_to(
        self, form: Form, where: Sequence[tuple[str, Form]], key: str, conditions: Sequence[str]
    ) -> tuple[str, ...]:
        """The sizes at which alone a form holds, of those that the user gave letters; beside its conditions."""
        return bound(self._others, lambda other: self._holds(form, where, key, other, is_stated=bool(conditions)))

    def _holds(
        self, form: Form, where: Sequence[tuple[str, Form]], key: str, other: Program, *, is_stated: bool
    ) -> bool | None:
        """Whether a form agrees at other sizes; None where there is nothing to compare it with: X.T @ X of few rows.

        Where it has no value, as the deviation of one entry is 0, its conditions say so if they are stated.
        """
        try:
            reference = _reference(other, key, self.kind, self.facts)
            with np.errstate(all="ignore"):
                known = [(point, np.asarray(reference(point), dtype=float)) for point in points(other, self.facts)]
        except FAILURES:
            return None
        sound = [(p, v) for p, v in known if np.all(np.isfinite(v)) and np.max(np.abs(v), initial=0.0) < _SINGULAR]
        try:
            function = function_of(form, where, other.inputs)
            if is_stated:
                with np.errstate(all="ignore"):
                    sound = [(p, v) for p, v in sound if np.all(np.isfinite(function(*p.values())))]
            return all(agree(function, lambda _, v=v: v, [p]) for p, v in sound) if sound else None  # type: ignore[misc]
        except FAILURES:
            return False

    def _agrees(self, form: Form, where: Sequence[tuple[str, Form]], key: str, program: Program) -> bool:
        try:
            at = self.at if program is self.program else list(points(program, self.facts))
            return agree(function_of(form, where, program.inputs), _reference(program, key, self.kind, self.facts), at)
        except FAILURES:
            return False


class _Forms(NamedTuple):
    """The derivatives of a program, and the names that they share."""

    cost: int
    shown: dict[str, Form]
    where: tuple[tuple[str, Form], ...]
    shapes: dict[str, tuple[int, ...]]
    steps: Mapping[str, Steps]
    adjoints: Mapping[str, str] = MappingProxyType({})  # parts that are adjoints, and the names of what they belong to


def _with_deltas(forms: _Forms, program: Program, wrt: Sequence[str], at: Sequence[dict[str, Any]]) -> _Forms:
    """The derivatives with adjoints called delta."""
    try:
        found = deltas(forms.where, program, wrt, at)
    except FAILURES:
        return forms
    table = {part: new for part, (new, _) in found.items()}
    return forms._replace(
        shown={key: renamed(f, table) for key, f in forms.shown.items()},
        where=tuple((table.get(n, n), renamed(f, table)) for n, f in forms.where),
        adjoints=dict(found.values()),
    )


def _shortest(
    program: Program,
    wrt: Sequence[str],
    kind: str,
    facts: Mapping[str, frozenset[str]],
    regular: bool,
    sizing: Sizing | None,
) -> _Forms | None:
    """The shorter of two ways: with adjoints as they come, or each with a name of its own."""
    best = None
    for keep in (False, True):
        try:
            made = TensorProgram(program, wrt, facts, keep=keep, regular=regular, sizing=sizing)
            forms, own, shapes = made.forms(kind)
            letters = {size.letter for size in sizing.named.values()} if sizing else set()
            where, shown = named(forms, own, {*program.inputs, *letters})
        except TooLongError:
            raise
        except FAILURES:
            continue
        cost = joint_cost([*shown.values(), *(f for _, f in where)])
        if best is None or cost < best.cost:
            best = _Forms(cost, shown, where, shapes, made.steps)
    return best


def _used(form: Form, where: Sequence[tuple[str, Form]]) -> tuple[tuple[str, Form], ...]:
    """The named parts that a form is made of."""
    wanted = {p.data for p in subforms(form) if p.op == "name"}
    out = []
    for name, part in reversed(where):
        if name in wanted:
            out.append((name, part))
            wanted |= {p.data for p in subforms(part) if p.op == "name"}
    return tuple(reversed(out))


def _reference(
    program: Program, key: str, kind: str, facts: Mapping[str, frozenset[str]]
) -> Callable[[dict[str, Any]], Any]:
    """The derivative by autodiff, along symmetric matrices where that is asked for."""
    if kind == "jvp":
        directions = {program.inputs[n]: program.inputs[f"d{n}"] for n in key.split(",")}
        (node,) = jvp([program.output], directions)
        return lambda point: np.broadcast_to(
            evaluate([node], {program.inputs[n]: v for n, v in point.items()})[0], program.output.shape
        )
    leading = program.output.ndim if kind == "jacobian" else 0
    places = tied_axes(key, program.inputs, leading, structured_in(facts))
    independent = _independent(program, key, kind)
    return lambda point: reduce(tied_array, places, independent(point))


def _independent(program: Program, key: str, kind: str) -> Callable[[dict[str, Any]], Any]:
    """The derivative by autodiff; of Jacobians and Hessians by columns, which cost as little as the size allows."""
    inputs = program.inputs
    if kind == "gradient":
        (node,) = sweep(program.output, [inputs[key]]).gradients
        return lambda point: evaluate([node], {inputs[n]: v for n, v in point.items()})[0]
    y, name = program.output, key
    if kind == "hessian":
        first, _, name = key.partition(",")
        (y,) = sweep(program.output, [inputs[first]]).gradients
    x = inputs[name]
    if y.size * x.size > _LARGEST_CHECKED:
        raise NotLoweredError("too large a result")
    basis = np.eye(x.size).reshape((x.size, *x.shape))

    def columns(point: dict[str, Any]) -> Any:
        values = {inputs[n]: v for n, v in point.items()}
        out = [evaluate(jvp([y], {x: constant(e) if x.shape else constant(1.0)}), dict(values))[0] for e in basis]
        stacked = np.stack([np.broadcast_to(o, y.shape) for o in out], axis=-1)
        return stacked.reshape(y.shape + x.shape)

    return columns


def _closed(
    key: str,
    form: Form,
    where: Sequence[tuple[str, Form]],
    shape: tuple[int, ...],
    adjoints: Mapping[str, str],
    *,
    regular: bool,
) -> ClosedForm:
    deltas = tuple((n, adjoints[n]) for n, _ in where if n in adjoints)
    texts = replace(written(form, where), adjoints=deltas)
    expr = sp.Symbol(texts.text)
    stated = conditions((form, *(f for _, f in where)), regular=regular)
    named = {name: sp.Symbol(shown) for name, _, shown, _ in texts.parts}
    return ClosedForm(key, expr, named, expr, conditions=stated, shape=shape, texts=texts)


def rewrites(steps: Steps, closed: ClosedForm) -> tuple[Rewrite, ...]:
    """The log of a matrix form: what the rules made of the derivative, and the names that were given."""
    assert closed.texts is not None
    found = []
    for rule, before, after in steps:
        if text(before) != text(after):
            found.append(Rewrite(rule, sp.Symbol(text(before)), sp.Symbol(text(after)), _AT_POINTS))
    if steps and closed.texts.parts and text(steps[-1][2]) != closed.texts.text:
        whole, short = sp.Symbol(text(steps[-1][2])), sp.Symbol(closed.texts.text)
        found.append(Rewrite(NAMES, whole, short, _AT_POINTS, where=tuple(closed.where.items())))
    return tuple(found)


def written(form: Form, where: Sequence[tuple[str, Form]]) -> Written:
    """A form and the names in it as NumPy source, text and LaTeX."""
    source = str(numpy_source(form))
    parts = tuple((n, str(numpy_source(f)), text(f), str(latex(f))) for n, f in where)
    sizes = {p.data for p in subforms(form, *(f for _, f in where)) if p.op == "size"}
    legend = tuple((s.letter, plain(str(s))) for s in sorted(sizes, key=lambda s: s.letter))
    return Written(source, text(form), str(latex(form)), parts, _level(form, where), legend)


def _level(form: Form, where: Sequence[tuple[str, Form]]) -> str:
    """How close to matrix notation a form is."""
    ops = {p.op for p in subforms(form, *(f for _, f in where))}
    deep = any(p.ndim > 2 for p in subforms(form, *(f for _, f in where)))
    return "sums over indices" if "einsum" in ops else "batched matrix notation" if deep else "matrix notation"
