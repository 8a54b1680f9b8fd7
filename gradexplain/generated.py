"""Graphs as functions: the generated program, with the tests of its arguments written into it.

Where all inputs are Python floats a body with `math` runs; where `math` raises (overflow, the edge of a domain), and
for arrays, a body with NumPy. A large graph is interpreted when it is first called and compiled when it is called
again. No user text is executed: names in the program are a0, a1 … for arguments, v0, v1 … for values, c0, c1 … for
constant arrays, and there are no builtins but the few it needs.
"""

from __future__ import annotations

import contextlib
import contextvars
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from gradexplain.collector import paused
from gradexplain.evaluate import evaluate
from gradexplain.graph import CONSTANT, Node, ancestors, constant, is_scalar_constant
from gradexplain.lambdify import Writer, body, defined, number, packed, source, surely_float
from gradexplain.ops.shaping import broadcast_to
from gradexplain.ops.special import SCIPY
from gradexplain.primitive import Code

_LARGE = 1500  # operations: from here on the first call is interpreted
_FLOAT64 = np.dtype(float)
_SPACE: dict[str, Any] = {
    **{f.__name__: f for f in (float, max, min, round, type, abs, ArithmeticError, ValueError, int, bool)},
    "NotImplemented": NotImplemented, "ndarray": np.ndarray, "f8": _FLOAT64, "np": np, "math": math, "scipy": SCIPY,
}  # fmt: skip


class _Errstate:
    """What stands in for a context in NumPy 1, which keeps its error state elsewhere."""

    def copy(self) -> _Errstate:
        return self

    def run(self, function: Callable[..., Any], *values: Any) -> Any:
        with np.errstate(all="ignore"):
            return function(*values)


def _make_quiet() -> Any:
    """A context in which NumPy does not warn: `np.errstate` costs 1 µs a call, running in a context 60 ns."""
    if np.lib.NumpyVersion(np.__version__) < "2.0.0":
        return _Errstate()
    context = contextvars.copy_context()
    context.run(lambda: np.seterr(all="ignore"))
    return context


_QUIET = _make_quiet()
_SPACE["quiet"] = _QUIET


_TYPES: dict[str, Any] = {"float": float, "int": int, "bool": bool}
_LETTERS = {"float": "f", "int": "iu", "bool": "b"}
_SCALARS = {float: "f", int: "i", bool: "b", np.float64: "f"}


def as_input(value: Any, node: Node, *, promote: bool) -> Any:
    """A value as the program takes it at a variable, None if it does not fit; integers fit a float where they may."""
    kind = type(value)
    letter = _SCALARS.get(kind)
    if letter is None:
        if kind in (list, tuple) and node.shape:
            value = _array_of(value)
        elif not issubclass(kind, (np.generic, np.ndarray)) or issubclass(kind, np.ma.MaskedArray):
            return None
        letter = value.dtype.kind
        if value.shape != node.shape:
            return None
    elif node.shape:
        return None
    if letter not in _LETTERS[node.kind] and not (promote and letter in "iub"):
        return None
    return np.asarray(value, dtype=_TYPES[node.kind]) if node.shape else _TYPES[node.kind](value)


def _array_of(values: Any) -> Any:
    try:
        return np.asarray(values)
    except ValueError:  # ragged
        return np.empty(0, dtype=object)


def whole(value: Any, shape: tuple[int, ...]) -> Any:
    """A value as users get it: an array of their own, of floats, in the full shape."""
    return np.array(np.broadcast_to(value, shape), dtype=float)


_SPACE["whole"] = whole


class Function:
    """A generated program. `call` takes the inputs in order and gives the outputs, packed in tuples as `layout` says.

    It gives None for arguments of other types and shapes and where a recorded branch would go the other way, and
    NotImplemented at an isolated point.
    """

    def __init__(
        self,
        outputs: Sequence[Node],
        inputs: Sequence[Node],
        layout: Any,
        *,
        checks: Mapping[Node, str],
        pinned: Mapping[Node, Any],
        promoted: Sequence[Node],
        strict: bool,
        name: str,
    ) -> None:
        self.outputs, self.inputs, self.layout, self.name = tuple(outputs), tuple(inputs), layout, name
        self._checks, self._pinned, self._promoted, self._strict = checks, pinned, set(promoted), strict
        self._nodes = ancestors([*outputs, *checks])
        self._is_scalar = all(n.shape == () for n in self._nodes)
        self._body: Callable[..., Any] | None = None
        self.call: Callable[..., Any] = self._interpret if len(self._nodes) > _LARGE else self._compile()

    def __call__(self, *values: Any) -> Any:
        return self.call(*values)

    @property
    def source(self) -> str:
        return source(self.outputs, self.inputs, name=self.name, layout=self.layout)

    @property
    def op_count(self) -> int:
        """The number of operations."""
        return sum(bool(n.inputs) for n in self._nodes)

    # Calls that are no part of the generated text.

    def _interpret(self, *values: Any) -> Any:
        """The first call of a large graph: to interpret it once is cheaper than to compile it."""
        given = self._converted(values)
        if given is None:
            return None
        self.call = self._compile_and_call
        table = dict(zip(self.inputs, given, strict=True))
        for check, value in zip(self._checks.values(), evaluate(list(self._checks), table), strict=True):
            stopped = _stopped(check, bool(value))
            if stopped is not _GOES_ON:
                return stopped
        return self._evaluated(table)

    def _evaluated(self, table: dict[Node, Any]) -> Any:
        values = evaluate(self.outputs, table)
        results = [whole(v, n.shape) if n.shape else float(v) for n, v in zip(self.outputs, values, strict=True)]
        return pack(results, self.layout)

    def at_any_cost(self, *values: Any) -> Any:
        """As `call`, but at the point of the trace, where it has a value: inf and nan in place of errors of `math`."""
        result = self.call(*values)
        return self._evaluated(dict(zip(self.inputs, values, strict=True))) if result is None else result

    def _compile_and_call(self, *values: Any) -> Any:
        self.call = self._compile()
        return self.call(*values)

    def _other(self, *values: Any) -> Any:
        """Arguments of other types than those that the text tests for: NumPy's floats, ints, lists, …"""
        given = self._converted(values)
        if given is None:
            return None
        return self.call(*given) if self._is_scalar else self._on_numpy(*given)

    def _converted(self, values: Sequence[Any]) -> list[Any] | None:
        given = [as_input(v, x, promote=x in self._promoted) for v, x in zip(values, self.inputs, strict=True)]
        if any(v is None for v in given):
            return None
        if self._pinned:
            table = dict(zip(self.inputs, given, strict=True))
            return given if all(np.array_equal(table[x], n) for x, n in self._pinned.items()) else None
        return given

    def _on_numpy(self, *values: Any) -> Any:
        values = tuple([np.float64(v) if type(v) is float else v for v in values])  # 1/0.0 is infinite then
        return _QUIET.copy().run(self._numpy_body(), *values)

    def _numpy_body(self) -> Callable[..., Any]:
        if self._body is None:
            statements, constants = self._statements(self._writer(scalar=False))
            self._body = self._defined("body", body(statements, 1), constants)
        return self._body

    # The generated text.

    def _writer(self, *, scalar: bool) -> Writer:
        return Writer(self._names(), scalar=scalar, fast=True, computed=computed(self._nodes))

    def _names(self) -> dict[Node, str]:
        return {x: f"a{i}" for i, x in enumerate(self.inputs)}

    def _compile(self) -> Callable[..., Any]:
        with paused():
            tests = " and ".join([self._test(i, x) for i, x in enumerate(self.inputs)] or ["True"])
            arguments = ", ".join(self._names().values())
            space: dict[str, Any] = {"other": self._other, "on_numpy": self._on_numpy}
            if self._is_scalar:
                statements, constants = self._statements(self._writer(scalar=True))
                space |= constants
                if any("np." in s or "scipy." in s for s in statements):  # NumPy on floats, which may warn
                    space["body"] = self._defined("body", body(statements, 1), constants)
                    statements = [f"return quiet.copy().run(body, {arguments})"]
                attempt = f"        try:\n{body(statements, 3)}        except (ArithmeticError, ValueError):\n"
                otherwise = "None" if self._strict else f"on_numpy({arguments})"
                text = f"    if {tests}:\n{attempt}            return {otherwise}\n"
            else:
                space["body"] = self._numpy_body()
                text = f"    if {tests}:\n        return quiet.copy().run(body, {arguments})\n"
            return self._defined("derivative", f"{text}    return other({arguments})\n", space)

    def _test(self, i: int, node: Node) -> str:
        """The test whether an argument is of the type that the program was made for."""
        if node.shape and node.kind == "float":
            return f"type(a{i}) is ndarray and a{i}.dtype is f8 and a{i}.shape == {node.shape}"
        if node.shape:
            return "False"
        pin = f" and a{i} == {self._pinned[node]!r}" if node in self._pinned else ""
        return f"type(a{i}) is {node.kind}{pin}"

    def _defined(self, name: str, text: str, space: Mapping[str, Any]) -> Callable[..., Any]:
        text = f"def {name}({', '.join(self._names().values())}):\n{text}"
        return defined(name, text, {**_SPACE, **space})

    def _statements(self, writer: Writer) -> tuple[list[str], dict[str, Any]]:
        outputs = [writer.computed.get(n, n) for n in self.outputs]
        codes = writer.write(outputs, self._checks)
        with_numpy = any("np." in s or "scipy." in s for s in [*writer.statements, *codes])
        floats = surely_float(self._nodes) if not (writer.scalar and with_numpy) else set()
        seen: set[Any] = set()
        results = []
        for node, code in zip(outputs, codes, strict=True):
            results.append(_owned(node, code, writer.scalar, node in floats and node not in seen))
            seen.add(node)
        return [*writer.statements, f"return {packed(results, self.layout)}"], writer.constants


def computed(order: Sequence[Node]) -> dict[Node, Node]:
    """Those of the topologically ordered nodes that depend on constants alone, as constants."""
    fixed = {n for n in order if n.op is CONSTANT}
    table: dict[Node, Any] = {}
    found: dict[Node, Node] = {}
    for node in order:
        if node.inputs and all(n in fixed for n in node.inputs):
            fixed.add(node)
            if node.op is not broadcast_to:
                with contextlib.suppress(np.linalg.LinAlgError):  # to be raised where the program is run
                    found[node] = constant(evaluate([node], table)[0])
    return found


def _owned(node: Node, code: Code, scalar: bool, is_float: bool) -> str:
    """An output as users get it: a float, or an array that nothing else holds."""
    if node.shape == ():
        if is_float and scalar:
            return str(code)
        return number(float(node.data)) if node.is_constant else f"float({code})"
    if is_scalar_constant(node):
        return f"np.full({node.shape}, {number(float((node.inputs or (node,))[0].data))})"
    is_fresh = node.op.family in ("elementwise", "bilinear")
    return str(code) if is_float and is_fresh else f"whole({code}, {node.shape})"


_GOES_ON = object()


def _stopped(check: str, holds: bool) -> Any:
    """What a check returns, given whether its condition holds."""
    if check.startswith("if not"):
        return _GOES_ON if holds else None
    if check.startswith("return"):
        return NotImplemented if holds else None
    return _GOES_ON if not holds else NotImplemented if "NotImplemented" in check else None


def pack(values: Sequence[Any], layout: Any) -> Any:
    """Values in nested tuples: the layout has their positions.

    >>> pack([1, 2, 3], (0, (1, 2)))
    (1, (2, 3))
    """
    return values[layout] if isinstance(layout, int) else tuple(pack(values, part) for part in layout)


def build(
    outputs: Sequence[Node],
    inputs: Sequence[Node],
    layout: Any = None,
    *,
    branches: Sequence[tuple[Node, bool]] = (),
    isolated: Sequence[Node] = (),
    pinned: Mapping[Node, Any] | None = None,
    promoted: Sequence[Node] = (),
    strict: bool = False,
    name: str = "derivative",
) -> Function:
    """A graph as a function; a tuple of the outputs if no layout is given.

    `branches` are conditions with the answers that it holds for, `pinned` integer inputs with the only values that it
    holds for; at `promoted` inputs integers may be given for floats. A `strict` program gives None where `math` raises.
    """
    checks = {n: ("if not ({}): return None" if truth else "if {}: return None") for n, truth in branches}
    for n in isolated:
        checks[n] = "return NotImplemented if {} else None" if n in checks else "if {}: return NotImplemented"
    layout = tuple(range(len(outputs))) if layout is None else layout
    return Function(
        outputs, inputs, layout, checks=checks, pinned=pinned or {}, promoted=promoted, strict=strict, name=name
    )
