"""Derivatives along directions in closed form: the pullback of a cotangent (vjp), the pushforward of tangents (jvp).

The pullback of g is the gradient of sum(g*f(x)), so that is what is traced and explained. The pushforward is no
gradient: `Pushforward` has the change of the result along a tangent for each argument.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
import sympy as sp

from gradexplain import autodiff
from gradexplain.errors import ArgumentError
from gradexplain.explanation import Explanation
from gradexplain.exposition import sweeps, values, verify
from gradexplain.exposition.model import CheckReport, Detail, Overview, Style
from gradexplain.graph import Node
from gradexplain.primitive import NUMPY
from gradexplain.render.display import Display
from gradexplain.simplify.closed import array_form, entry_form
from gradexplain.simplify.entrywise import is_suitable
from gradexplain.simplify.form import ClosedForm, Gradients
from gradexplain.simplify.passes import has_passes
from gradexplain.simplify.tensor.forms import tensor_forms
from gradexplain.simplify.tensor.standins import with_sizes
from gradexplain.trace.run import Program, function_name, trace
from gradexplain.trace.signature import Argument, bind, parameters_of, promote

_RESULTS = ("y", "f", "result", "the_result")


class _With:
    """A function with further arguments, which are given by name."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError

    def __init__(self, function: Callable[..., Any], names: Sequence[str]) -> None:
        self.__wrapped__, self.__name__ = function, function_name(function)
        self.function, self.names = function, tuple(names)
        parameters = _parameters(function)
        last = [p for p in parameters if p.kind is p.VAR_KEYWORD]
        more = [inspect.Parameter(n, inspect.Parameter.KEYWORD_ONLY) for n in names]
        self.__signature__ = inspect.Signature([p for p in parameters if p not in last] + more + last)


def _parameters(function: Callable[..., Any]) -> list[inspect.Parameter]:
    if isinstance(function, np.ufunc):
        return parameters_of(function, function.nin)
    try:
        return list(inspect.signature(function).parameters.values())
    except (ValueError, TypeError):  # a builtin
        return parameters_of(function, 1)


class Paired(_With):
    """sum(g*f(x)), whose gradient is the pullback of g: `Paired(f, ["g"])(x, g=…)`."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        (name,) = self.names
        g = kwargs.pop(name)
        y = self.function(*args, **kwargs)
        return np.sum(g * (np.stack(y) if isinstance(y, (list, tuple)) else y))


class Moving(_With):
    """The function itself, with a tangent for each argument that moves: `Moving(f, ["dx"])(x, dx=…)`."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.function(*args, **{n: v for n, v in kwargs.items() if n not in self.names})


def paired(
    f: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any], name: str, value: Any, wrt: Sequence[str]
) -> tuple[Paired, list[Argument]]:
    """The function that is explained for a pullback, and its arguments: the cotangent is ones if nothing was given."""
    arguments = bind(f, args, kwargs, symbolic=True)
    _require_free([name], arguments, 'choose another name, as in cotangent="v"')
    program = trace(f, [promote(a) if a.name in wrt and a.is_numeric else a for a in arguments], stack_results=True)
    function, shape = Paired(f, [name]), program.output.shape
    letters = {n: c for a in arguments for c, n in zip(a.letters, a.shape, strict=False) if not c.isdigit()}
    named = tuple(letters.get(n, str(n)) for n in shape) if letters.keys() & {*shape} else ()
    return function, _directed(function, args, kwargs, {name: (value, shape, named)})


def with_tangents(
    f: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Arguments by name, and tangents by name: `dx` where there is an `x`, and no `dx`."""
    known = {p.name for p in parameters_of(f, len(args))}
    tangents = {n: v for n, v in kwargs.items() if n not in known and n[:1] == "d" and n[1:] in known}
    return {n: v for n, v in kwargs.items() if n not in tangents}, tangents


def moving(
    f: Callable[..., Any],
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
    tangents: Mapping[str, Any],
    wrt: Sequence[str],
) -> tuple[Moving, list[Argument]]:
    """The function that is explained for a pushforward, and its arguments with a tangent for each in `wrt`."""
    arguments = bind(f, args, kwargs, symbolic=True)
    names = [f"d{n}" for n in wrt]
    _require_free(names, arguments, "rename the argument")
    for name in tangents:
        if name not in names:
            fix = f"leave it out, or have {name[1:]} in wrt="
            raise ArgumentError(f"{name} is given, but {name[1:]} does not move", fix=fix)
    function = Moving(f, names)
    wanted = {f"d{a.name}": (tangents.get(f"d{a.name}"), a.shape, a.letters) for a in arguments if a.name in wrt}
    return function, _directed(function, args, kwargs, wanted)


def _require_free(names: Sequence[str], arguments: Sequence[Argument], fix: str) -> None:
    """Raises if the function has an argument of that name."""
    for name in names:
        if not name.isidentifier() or name in [a.name for a in arguments]:
            why = "the function has an argument of that name" if name.isidentifier() else "that is no name"
            raise ArgumentError(f"a direction can't be called {name}", why=why, fix=fix)


def _directed(
    function: _With,
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
    directions: Mapping[str, tuple[Any, tuple[int, ...], tuple[str, ...]]],
) -> list[Argument]:
    """The arguments with the directions, each of which has a value or None, a shape, and letters for its sizes.

    Ones stand for what was not given, if all else has numbers.
    """
    known = {n: value for n, (value, _, _) in directions.items() if value is not None}
    arguments = {a.name: a for a in bind(function, args, {**kwargs, **known}, symbolic=True)}
    numeric = all(
        a.is_numeric for n, a in arguments.items() if a.role == "traced" and (n not in directions or n in known)
    )
    for name, (value, shape, letters) in directions.items():
        if value is None:
            ones = (np.ones(shape) if shape else 1.0) if numeric else None
            arguments[name] = Argument(name, ones, shape, keyword=True, letters=letters)
        elif arguments[name].shape != shape and not arguments[name].letters:
            why, fix = f"it goes with what has shape {shape}", "give it that shape, or leave it out"
            raise ArgumentError(f"{name} has shape {arguments[name].shape}", why=why, fix=fix)
    return list(arguments.values())


class Pushforward(Explanation):
    """The change of a result along tangents of its arguments (jvp), with the members of `Explanation`.

    Its only key is `d` and the name of the result: `e["dy"]`.
    """

    def __init__(
        self,
        program: Program,
        whole: Program,
        wrt: tuple[str, ...],
        *,
        title: str = "",
        notes: tuple[str, ...] = (),
        facts: Mapping[str, frozenset[str]] | None = None,
    ) -> None:
        super().__init__(program, whole, wrt, 1, kind="jvp", title=title, notes=notes, facts=facts)

    @property
    def key(self) -> str:
        """The name of the change of the result."""
        return "d" + next(n for n in _RESULTS if n not in self.program.inputs and f"d{n}" not in self.program.inputs)

    def _derive(self, program: Program) -> Mapping[str, Node]:
        inputs = program.inputs
        (found,) = autodiff.jvp([program.output], {inputs[n]: inputs[f"d{n}"] for n in self.wrt})
        if found.shape != program.output.shape:
            found = NUMPY[np.broadcast_to](found, program.output.shape)
        return {self.key: found}

    @cached_property
    def gradients(self) -> Gradients:
        """The closed form, by the name of the change of the result."""
        if self.is_scalar:
            return Gradients({self.key: self._of_numbers()})
        found = tensor_forms(self.whole, self.wrt, "jvp", self.facts).get(",".join(self.wrt))
        form = self._by_entries() or (replace(found, key=self.key) if found else self._as_program())
        return Gradients(with_sizes({self.key: form}, self.whole, self._elsewhere))

    def _elsewhere(self, other: Program) -> Gradients:
        return Pushforward(other, other, self.wrt, facts=self.facts).gradients

    def _by_entries(self) -> ClosedForm | None:
        """Entry by entry where the program takes small arrays apart."""
        node = self._nodes[self.key]
        if has_passes(self.whole) or not is_suitable(self.whole, node):
            return None
        return entry_form(self.key, node, self.whole)

    def _as_program(self) -> ClosedForm:
        return array_form(self.key, self._nodes[self.key], self.whole, self.names)

    def _of_numbers(self) -> ClosedForm:
        """Each partial derivative times the tangent of its argument."""
        gradient = Explanation(self.program, self.whole, self.wrt, 1)
        parts = [(gradient[n], sp.Symbol(f"d{n}", real=True)) for n in self.wrt]
        first = parts[0][0]
        where = {n: e for form, _ in parts for n, e in form.where.items()}
        stated = tuple(dict.fromkeys(c for form, _ in parts for c in form.conditions))
        expr = sp.Add(*(form.expr * d for form, d in parts))
        raw = sp.Add(*(form.raw * d for form, d in parts))
        return replace(first, key=self.key, expr=expr, raw=raw, where=where, conditions=stated, rewrites=())

    def derivation(
        self,
        key: str | None = None,
        style: Style = "textbook",
        detail: Detail = "brief",
        known: str | Sequence[str] | None = None,
    ) -> Display:
        """Forward mode, operation by operation: that is how tangents are pushed forward."""
        if style in ("textbook", "forward"):
            return Display(sweeps.forward(self.program, self.wrt))
        return super().derivation(None, style, detail, known)

    def _report(self, gradient: Any = None, *, black_box: bool) -> CheckReport:
        if not self.program.is_numeric:
            return CheckReport(True, (), ())
        direction = {n: self.program.point[f"d{n}"] for n in self.wrt}
        found = self.gradient_values[self.key] if gradient is None else gradient
        program = self.whole if self.whole.explored else self.program
        return verify.along(program, self.key, direction, np.asarray(found, dtype=float))

    @cached_property
    def gradient_values(self) -> Mapping[str, Any]:
        """The change's value at the point, {} without one."""
        return values.gradient_values(self._nodes_at_point, self.program) if self.program.is_numeric else {}

    @property
    def _call(self) -> str | None:
        return None

    @cached_property
    def data(self) -> Overview:
        """Everything that a rendering shows, as one record."""
        return replace(super().data, derivations=())
