"""Graphs as NumPy source, one statement a shared node; nodes that are used once are inlined.

Written for readers (`source`, `expression`) or to be run (generated.py); what is run has small powers as products and
constants computed beforehand.
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
from gradexplain.ops.arithmetic import power
from gradexplain.ops.ordering import where
from gradexplain.ops.shaping import broadcast_to
from gradexplain.primitive import ATOM, POWER, PRODUCT, SIGN, SUM, Code
from gradexplain.shapes import broadcast

_LONGEST = 88  # characters of an inlined expression
_SMALL_ARRAY = 12  # entries of a constant array that are printed in place
RESERVED = {"np", "math", "scipy", "float", "max", "min", "round", "type", "abs"}
# NumPy's power is slow but for squares and roots.
_PRODUCTS = {3: "{0}*{0}*{0}", 4: "{0}*{0}*({0}*{0})", -1: "1/{0}", -2: "1/({0}*{0})"}


# NumPy imports parts of itself when they are first used (np.multiply.outer), and crashes where it finds no __import__.
_IMPORT_ONLY = {"__import__": __import__}


@dataclass(slots=True)
class Writer:
    """Turns nodes into statements; `scalar` writes for floats, with `math`; `fast` writes what is to be run."""

    names: dict[Node, str]
    scalar: bool = False
    inline_arrays: bool = False
    fast: bool = False
    prefix: str = "v"
    computed: Mapping[Node, Node] = field(default_factory=dict)  # nodes that are printed as the constants they are
    statements: list[str] = field(default_factory=list)
    constants: dict[str, Any] = field(default_factory=dict)
    _code: dict[Node, Code] = field(default_factory=dict)
    _operands: dict[Node, tuple[Node, ...]] = field(default_factory=dict)

    def write(self, outputs: Sequence[Node], checks: Mapping[Node, str] | None = None) -> list[Code]:
        """The outputs as expressions over the statements. `checks` are statements after the node that they look at."""
        checks = checks or {}
        order = ancestors([*outputs, *checks])
        uses = self._count_uses(order, [*outputs, *checks])
        for node in order:
            if node not in uses:
                continue
            code = self._expression(node)
            if (node.inputs and uses[node] > 1) or len(code) > _LONGEST:
                code = self._assign(code)
            self._code[node] = code
            if node in checks:
                self.statements.append(checks[node].format(code))
        return [self._code[n] for n in outputs]

    def _count_uses(self, order: Sequence[Node], wanted: Sequence[Node]) -> dict[Node, int]:
        """How often each node is printed; nodes that are not printed at all are left out."""
        uses: dict[Node, int] = {}
        for node in wanted:
            uses[node] = uses.get(node, 0) + 1
        for node in reversed(order):
            if node in uses:
                self._operands[node] = operands = self._printed_operands(node)
                for n in operands:
                    uses[n] = uses.get(n, 0) + 1
        return uses

    def _printed_operands(self, node: Node) -> tuple[Node, ...]:
        if node in self.names:
            return ()
        operands = without_broadcasting(node)
        return tuple(self.computed.get(n, n) for n in operands) if self.computed else operands

    def _assign(self, code: Code) -> Code:
        name = f"{self.prefix}{len(self.statements)}"
        self.statements.append(f"{name} = {code}")
        return Code(name)

    def _expression(self, node: Node) -> Code:
        if node.op is CONSTANT:
            return self._constant(node)
        if node in self.names:
            return Code(self.names[node])
        operands = [self._operand(n) for n in self._operands.get(node, node.inputs)]
        if self.fast and node.op is power:
            return self._power(operands, node)
        op = node.op
        printer = op.math if self.scalar and op.math is not None else op.numpy
        assert printer is not None
        text = printer(*operands, **node.params)
        return text if type(text) is Code else Code(text)

    def _operand(self, node: Node) -> Code:
        if node not in self._code:  # a constant that was computed beforehand
            self._code[node] = self._constant(node)
        return self._code[node]

    def _power(self, operands: list[Code], node: Node) -> Code:
        base, exponent = operands
        n = node.inputs[1].params.get("value") if node.inputs[1].op is CONSTANT else None
        if type(n) is int and n in _PRODUCTS:
            return Code(_PRODUCTS[n].format(base if base.isidentifier() else self._assign(base)), PRODUCT)
        if node.inputs[0].kind != "float":
            base = Code(f"1.0*{base.at(PRODUCT)}", PRODUCT)  # NumPy's whole numbers have no negative powers
        if self.scalar and type(n) is not int:  # Python's ** of a negative number is complex
            return Code(f"math.pow({base}, {exponent})")
        return Code(f"{base.at(POWER + 1)}**{exponent.at(SIGN)}", POWER)

    def _constant(self, node: Node) -> Code:
        data = node.data
        if not isinstance(data, Fixed):
            return number(data)
        array = data.array
        if self.inline_arrays or (array.size <= _SMALL_ARRAY and not self.fast):
            return Code(f"np.array({_entries(array.tolist())})")
        name = f"c{len(self.constants)}"
        self.constants[name] = array
        return Code(name)


def without_broadcasting(node: Node) -> tuple[Node, ...]:
    """The operands of an operation, without the broadcasting that NumPy does by itself."""
    inputs = node.inputs
    if node.op.family != "elementwise" or not any(n.op is broadcast_to for n in inputs):
        return inputs
    bare = [n.inputs[0] if n.op is broadcast_to else n for n in inputs]
    for i, n in enumerate(inputs):  # one operand must keep the full shape if together the others don't have it
        if broadcast(*[b.shape for b in bare]) == node.shape:
            break
        bare[i] = n
    return tuple(bare)


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


def _down_to(node: Node, names: Mapping[Node, str]) -> list[Node]:
    """What a node is made of, in order, down to what has a name."""
    seen: dict[int, Node] = {}
    waiting = [node]
    while waiting:
        n = waiting.pop()
        if n.index not in seen:
            seen[n.index] = n
            waiting += [] if n in names else n.inputs
    return [seen[i] for i in sorted(seen)]


def expression(node: Node, names: Mapping[Node, str]) -> str:
    """One node as a NumPy expression over names, all sub-expressions written out.

    >>> from gradexplain.graph import variable
    >>> x = variable("x")
    >>> expression(x * x + 1, {x: "x"})
    'x*x + 1'
    """
    code: dict[Node, Code] = {}
    writer = Writer(dict(names), inline_arrays=True, _code=code)
    for n in _down_to(node, names):
        writer._operands[n] = without_broadcasting(n)
        code[n] = writer._expression(n)
    return str(code[node])


def source(outputs: Sequence[Node], inputs: Sequence[Node], *, name: str = "derivative", layout: Any = None) -> str:
    """The program for readers: the user's argument names where they are plain identifiers."""
    names = dict(zip(inputs, readable_names([x.params["name"] for x in inputs]), strict=True))
    writer = Writer(dict(names), inline_arrays=True)
    results = writer.write(outputs)
    if layout is None:
        layout = 0 if len(results) == 1 else tuple(range(len(results)))
    head = f"def {name if name.isidentifier() else 'derivative'}({', '.join(names.values())}):\n"
    return head + body([*writer.statements, f"return {packed(results, layout)}"], 1)


def packed(codes: Sequence[str], layout: Any) -> str:
    """Codes as nested tuples: the layout has their positions.

    >>> packed(["a", "b", "c"], (0, (1, 2)))
    '(a, (b, c))'
    """
    if isinstance(layout, int):
        return str(codes[layout])
    return f"({', '.join(packed(codes, part) for part in layout)}{',' if len(layout) == 1 else ''})"


def readable_names(names: Sequence[str]) -> list[str]:
    """The names themselves where they are safe as identifiers, else x0, x1, …

    >>> readable_names(["w", "lambda", "v0", "x; import os"])
    ['w', 'lambda_', 'v0_', 'x3']
    """
    out: list[str] = []
    for i, name in enumerate(names):
        safe = name if name.isascii() and name.isidentifier() else f"x{i}"
        clashes = keyword.iskeyword(safe) or safe in RESERVED or (safe[0] in "vc" and safe[1:].isdigit())
        out.append(f"{safe}_" if clashes else safe)
    return [n if n not in out[:i] else f"{n}_{i}" for i, n in enumerate(out)]


def defined(name: str, text: str, space: dict[str, Any]) -> Callable[..., Any]:
    """The function that a text defines. Nowhere else is text run: it is ours, names of users are values in it."""
    whole = {**space, "__builtins__": _IMPORT_ONLY}
    exec(compile(text, "<gradexplain>", "exec"), whole)
    made: Callable[..., Any] = whole[name]
    return made


def body(statements: Sequence[str], depth: int) -> str:
    """Statements, indented."""
    return "".join(f"{'    ' * depth}{s}\n" for s in statements)


def surely_float(order: Sequence[Node]) -> set[Node]:
    """Those of the topologically ordered nodes whose value is a float (not an int) in the program that is run."""
    known: set[Node] = set()
    for node in order:
        op, inputs = node.op, node.inputs
        if op is VARIABLE:
            is_float = node.kind == "float"
        elif op is CONSTANT:
            is_float = isinstance(node.data, float) or (isinstance(node.data, Fixed) and node.kind == "float")
        elif op is where:
            is_float = inputs[1] in known and inputs[2] in known
        elif op is power:
            is_float = inputs[0] in known
        elif op.result == "float" and isinstance(op.value, np.ufunc):
            is_float = op.value in _ALWAYS_FLOAT or all(n in known for n in inputs) or (
                op.value in _FLOAT_WINS and any(n in known for n in inputs))  # fmt: skip
        else:
            is_float = op.family in ("linear", "bilinear") and all(n in known or n.kind != "float" for n in inputs)
        if is_float:
            known.add(node)
    return known


_FLOAT_WINS = {np.add, np.subtract, np.multiply}
_ALWAYS_FLOAT = {np.true_divide, np.exp, np.log, np.sin, np.cos, np.tan, np.sqrt, np.tanh, np.log1p, np.expm1}
