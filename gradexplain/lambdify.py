"""Graphs as NumPy source, one statement a shared node, and that source as a function.

Nodes that are used once are inlined. Where all inputs are Python floats a second body computes with `math`; it falls back
on NumPy where `math` raises (overflow, edge of a domain). No user text is executed: names in the executed program are
a0, a1 … for arguments, v0, v1 … for values, c0, c1 … for constant arrays, and there are no builtins but the few it needs.
"""

from __future__ import annotations

import keyword
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np

from gradexplain.graph import CONSTANT, VARIABLE, Fixed, Node, ancestors
from gradexplain.ops.special import SCIPY
from gradexplain.primitive import ATOM, PRODUCT, SUM, Code

_LONGEST = 88  # characters of an inlined expression
_BUILTINS = {"float": float, "max": max, "min": min, "round": round, "type": type, "abs": abs,
             "NotImplemented": NotImplemented,
             "ArithmeticError": ArithmeticError, "ValueError": ValueError}  # fmt: skip
_SMALL_ARRAY = 12  # entries of a constant array that are printed in place


@dataclass(slots=True)
class Writer:
    """Turns nodes into statements; `scalar` writes for floats, with `math`."""

    names: dict[Node, str]
    scalar: bool = False
    inline_arrays: bool = False
    prefix: str = "v"
    statements: list[str] = field(default_factory=list)
    constants: dict[str, Any] = field(default_factory=dict)
    _code: dict[Node, Code] = field(default_factory=dict)

    def write(self, outputs: Sequence[Node], checks: Mapping[Node, str] | None = None) -> list[Code]:
        """The outputs as expressions over the statements. `checks` are statements after the node that they look at."""
        order = ancestors([*outputs, *(checks or ())])
        uses = _count_uses(order, outputs)
        for node in order:
            code = self._expression(node)
            if node.inputs and uses[node] > 1 or len(code) > _LONGEST:
                code = self._assign(code)
            self._code[node] = code
            if checks and node in checks:
                self.statements.append(checks[node].format(code))
        return [self._code[n] for n in outputs]

    def _assign(self, code: Code) -> Code:
        name = f"{self.prefix}{len(self.statements)}"
        self.statements.append(f"{name} = {code}")
        return Code(name)

    def _expression(self, node: Node) -> Code:
        if node.op is VARIABLE:
            return Code(self.names[node])
        if node.op is CONSTANT:
            return self._constant(node)
        if node in self.names:
            return Code(self.names[node])
        operands = [self._code[n] for n in node.inputs]
        printer = node.op.math if self.scalar and node.op.math is not None else node.op.numpy
        assert printer is not None
        text = printer(*operands, **node.params)
        return text if isinstance(text, Code) else Code(text)

    def _constant(self, node: Node) -> Code:
        data = node.data
        if not isinstance(data, Fixed):
            return number(data)
        array = data.array
        if self.inline_arrays or array.size <= _SMALL_ARRAY:
            return Code(f"np.array({_entries(array.tolist())})")
        name = f"c{len(self.constants)}"
        self.constants[name] = array
        return Code(name)


def _entries(values: Any) -> str:
    """Nested lists of numbers as source; deep only as an array has axes."""
    if not isinstance(values, list):
        return str(number(values))
    return f"[{', '.join(map(_entries, values))}]"


def number(value: Any) -> Code:
    """A number as source; fractions as a quotient.

    >>> number(2), number(Fraction(1, 3)), number(-0.5)
    ('2', '1/3', '-0.5')
    """
    if isinstance(value, Fraction) and value.denominator != 1:
        return Code(f"{value.numerator}/{value.denominator}", PRODUCT if value > 0 else SUM)
    if isinstance(value, Fraction):
        value = value.numerator
    if isinstance(value, float) and not math.isfinite(value):
        return Code({"inf": "np.inf", "-inf": "-np.inf"}.get(str(value), "np.nan"), ATOM if value > 0 else SUM)
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) >= 10**16:
        value = float(value)
    return Code(repr(value), ATOM if isinstance(value, bool) or value >= 0 else SUM)


def _count_uses(order: Sequence[Node], outputs: Sequence[Node]) -> dict[Node, int]:
    uses = dict.fromkeys(order, 0)
    for node in order:
        for n in node.inputs:
            uses[n] += 1
    for node in outputs:
        uses[node] += 1
    return uses


def expression(node: Node, names: Mapping[Node, str]) -> str:
    """One node as a NumPy expression over names, all sub-expressions written out.

    >>> from gradexplain.graph import variable
    >>> x = variable("x")
    >>> expression(x * x + 1, {x: "x"})
    'x*x + 1'
    """
    code: dict[Node, Code] = {}
    writer = Writer(dict(names), inline_arrays=True, _code=code)
    for n in ancestors([node]):
        code[n] = writer._expression(n)
    return str(code[node])


class Function:
    """A generated NumPy program: call it with the inputs in order; it gives the outputs in a tuple.

    It gives None where a recorded branch would go the other way, and NotImplemented at an isolated point. Bodies are
    compiled when they are first needed; `source` is the program for readers.
    """

    def __init__(
        self, outputs: Sequence[Node], inputs: Sequence[Node], checks: Mapping[Node, str], name: str = "derivative"
    ) -> None:
        self._outputs, self._inputs, self._checks, self._name = tuple(outputs), tuple(inputs), checks, name
        self._nodes = ancestors([*outputs, *checks])
        self._arrays: Callable[..., Any] | None = None
        is_scalar = bool(inputs) and all(n.shape == () for n in self._nodes)
        self._call = self._compile_scalar() if is_scalar else self._on_arrays

    def __call__(self, *values: Any) -> Any:
        return self._call(*values)

    @property
    def source(self) -> str:
        return source(self._outputs, self._inputs, name=self._name)

    @property
    def op_count(self) -> int:
        """The number of operations."""
        return sum(bool(n.inputs) for n in self._nodes)

    def _on_arrays(self, *values: Any) -> Any:
        if self._arrays is None:
            self._arrays = self._compile(Writer(self._names()), "{0}")
        with np.errstate(all="ignore"):
            return self._arrays(*values)

    def _compile_scalar(self) -> Callable[..., Any]:
        tests = " is ".join([*(f"type(a{i})" for i in range(len(self._inputs))), "float"])
        arguments = ", ".join(f"a{i}" for i in range(len(self._inputs)))
        frame = (
            f"    if {tests}:\n        try:\n{{1}}"
            "        except (ArithmeticError, ValueError):\n            pass\n"
            f"    return arrays({arguments})\n"
        )
        return self._compile(Writer(self._names(), scalar=True), frame)

    def _names(self) -> dict[Node, str]:
        return {x: f"a{i}" for i, x in enumerate(self._inputs)}

    def _compile(self, writer: Writer, frame: str) -> Callable[..., Any]:
        results = writer.write(self._outputs, self._checks)
        statements = [*writer.statements, f"return {_tuple(results)}"]
        body = frame.format(_body(statements, 1), _body(statements, 3))
        text = f"def derivative({', '.join(self._names().values())}):\n{body}"
        space: dict[str, Any] = {
            "np": np,
            "math": math,
            "scipy": SCIPY,
            "arrays": self._on_arrays,
            **_BUILTINS,
            **writer.constants,
        }
        space["__builtins__"] = {}
        exec(compile(text, "<gradexplain>", "exec"), space)  # our own text: no name or string of a user is in it
        made: Callable[..., Any] = space["derivative"]
        return made


def build(
    outputs: Sequence[Node],
    inputs: Sequence[Node],
    *,
    branches: Sequence[tuple[Node, bool]] = (),
    isolated: Sequence[Node] = (),
    name: str = "derivative",
) -> Function:
    """A graph as a function. `branches` are conditions with the answers that it holds for."""
    checks = {n: ("if not ({}): return None" if truth else "if {}: return None") for n, truth in branches}
    checks |= {n: "if {}: return NotImplemented" for n in isolated}
    return Function(outputs, inputs, checks, name)


def source(outputs: Sequence[Node], inputs: Sequence[Node], *, name: str = "derivative") -> str:
    """The program for readers: the user's argument names where they are plain identifiers."""
    names = dict(zip(inputs, readable_names([x.params["name"] for x in inputs]), strict=True))
    writer = Writer(dict(names), inline_arrays=True)
    results = writer.write(outputs)
    result = str(results[0]) if len(results) == 1 else _tuple(results)
    head = f"def {name if name.isidentifier() else 'derivative'}({', '.join(names.values())}):\n"
    return head + _body([*writer.statements, f"return {result}"], 1)


def readable_names(names: Sequence[str]) -> list[str]:
    """The names themselves where they are safe as identifiers, else x0, x1, …

    >>> readable_names(["w", "lambda", "v0", "x; import os"])
    ['w', 'lambda_', 'v0_', 'x3']
    """
    out: list[str] = []
    for i, name in enumerate(names):
        safe = name if name.isascii() and name.isidentifier() else f"x{i}"
        clashes = (
            keyword.iskeyword(safe)
            or safe in {"np", "math", "scipy", *_BUILTINS}
            or (safe[0] in "vc" and safe[1:].isdigit())
        )
        out.append(f"{safe}_" if clashes else safe)
    return [n if n not in out[:i] else f"{n}_{i}" for i, n in enumerate(out)]


def _body(statements: Sequence[str], depth: int) -> str:
    return "".join(f"{'    ' * depth}{s}\n" for s in statements)


def _tuple(codes: Sequence[Code]) -> str:
    return f"({', '.join(codes)}{',' if len(codes) == 1 else ''})"
