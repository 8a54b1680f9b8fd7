"""The families of rows: how one line of the table becomes a complete `Primitive`.

* `elementwise`: a function of numbers and its partial derivatives; jvp and vjp both come from the partials.
* `linear`: the function and its transpose; the jvp is the function itself.
* `bilinear`: a product and its two transposes; the jvp is the product rule.
* `general`: whatever is no single partial or transpose: pullbacks alone; the jvp is the transpose of the pullback.
* `flat`: no derivative flows through (comparisons, floor, …).

Rules are ordinary expressions over nodes: `(y, x, …)` are output and operands, `g` the output's cotangent.
To add an operation, write one row in `gradexplain/ops`; its tests and its line in the documentation follow by
themselves.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal, TypeVar

import numpy as np

from gradexplain.graph import REAL, TABLE, Domain, Kind, Node, Primitive, Sample, constant, operators
from gradexplain.shapes import Shape, broadcast

Rule = Callable[..., Any]
OnNodes = TypeVar("OnNodes", bound=Callable[..., Any])
SCALAR_AND_VECTOR = (Sample(((),)), Sample(((3,),)))

# Binding strength of printed source, Python's order. TERM is @, % and //: Python reads them like products, but
# a*(b @ c) is not (a*b) @ c: they keep their parentheses in products.
CHOICE, COMPARE, BIT, SUM, TERM, PRODUCT, SIGN, POWER, POSTFIX, ATOM = range(1, 11)


class Code(str):
    """Source text that knows how tightly it binds."""

    __slots__ = ("strength",)
    strength: int

    def __new__(cls, text: str, strength: int = ATOM) -> Code:
        self = super().__new__(cls, text)
        self.strength = strength
        return self

    def at(self, strength: int) -> str:
        """The text, in parentheses where it binds less tightly than asked."""
        return str(self) if self.strength >= strength else f"({self})"


def infix(operator: str, strength: int, right: int | None = None) -> Callable[..., Code]:
    """Prints `a <operator> b`."""

    def text(a: Code, b: Code) -> Code:
        return Code(f"{a.at(strength)}{operator}{b.at(strength + 1 if right is None else right)}", strength)

    return text


def call(function: str) -> Callable[..., Code]:
    """Prints `function(a, b, name=value)`."""

    def text(*args: Code, **params: Any) -> Code:
        shown = [str(a) for a in args] + [f"{k}={v!r}" for k, v in params.items()]
        return Code(f"{function}({', '.join(shown)})")

    return text


# NumPy's functions and ufuncs on nodes. A function of the table that is a ufunc is entered by its row; others are
# entered with `numpy_function` and have NumPy's signature: traced operands arrive as nodes, also inside lists.
NUMPY: dict[Any, Callable[..., Any]] = {}


def numpy_function(*functions: Any) -> Callable[[OnNodes], OnNodes]:
    """Declares what NumPy's functions do on nodes."""

    def declare(on_nodes: OnNodes) -> OnNodes:
        for function in functions:
            NUMPY[function] = on_nodes
        return on_nodes

    return declare


def _register(row: Primitive) -> Primitive:
    if row.name in TABLE:
        raise ValueError(f"the table has a row {row.name} already")
    TABLE[row.name] = row
    if isinstance(row.value, np.ufunc):
        NUMPY.setdefault(row.value, row)
    return row


def _same_shape(*shapes: Shape, **_: Any) -> Shape:
    return broadcast(*shapes)


def elementwise(
    name: str,
    value: Callable[..., Any],
    symbol: str | Callable[..., Any],
    *partials: Rule | None,
    rule: str,
    exact: str | Callable[..., Any] | None = None,
    numpy: Callable[..., str] | None = None,
    math: str | Callable[..., str] | None = None,
    fold: Callable[..., Node | None] | None = None,
    domain: Domain | tuple[Domain, ...] = REAL,
    kinks: str = "",
    samples: tuple[Sample, ...] | None = None,
    conditions: bool = False,
    extra: str = "",
) -> Primitive:
    """A function of numbers, applied entry by entry; `partials[i](y, *xs)` is dy/dx_i (None: no derivative)."""
    arity = len(partials)
    domains = domain if isinstance(domain, tuple) else (domain,) * arity

    def pullback(i: int, g: Node, y: Node) -> Node | None:
        partial = partials[i]
        return None if partial is None else g * partial(y, *y.inputs)

    def pushforward(tangents: Sequence[Node | None], y: Node) -> Node | None:
        total: Node | None = None
        for tangent, partial in zip(tangents, partials, strict=True):
            if tangent is not None and partial is not None:
                term = tangent * partial(y, *y.inputs)
                total = term if total is None else total + term
        return total

    return _register(
        Primitive(
            name,
            "elementwise",
            value,
            _same_shape,
            pullback,
            pushforward,
            partials=partials,
            symbol=symbol,
            exact=exact if exact is not None else (symbol if isinstance(symbol, str) else None),
            numpy=numpy or call(f"np.{getattr(value, '__name__', name)}"),
            math=call(f"math.{math}") if isinstance(math, str) else math,
            fold=fold,
            rule=rule,
            domains=domains,
            kinks=kinks,
            samples=samples or tuple(Sample((s,) * arity) for s in ((), (3,))),
            conditions=conditions,
            extra=extra,
        )
    )


def flat(
    name: str,
    value: Callable[..., Any],
    shape: Callable[..., Shape] = _same_shape,
    *,
    symbol: str | Callable[..., Any] | None = None,
    exact: str | Callable[..., Any] | None = None,
    numpy: Callable[..., str] | None = None,
    math: str | Callable[..., str] | None = None,
    family: str = "elementwise",
    fold: Callable[..., Node | None] | None = None,
    result: Kind = "float",
    rule: str = "constant pieces: derivative 0",
    domain: tuple[Domain, ...] = (REAL,),
    samples: tuple[Sample, ...] = (),
    kinks: str = "",
    conditions: bool = False,
) -> Primitive:
    """An operation through which no derivative flows."""
    return _register(
        Primitive(
            name,
            family,  # type: ignore[arg-type]
            value,
            shape,
            symbol=symbol,
            exact=exact if exact is not None else (symbol if isinstance(symbol, str) else None),
            numpy=numpy or call(f"np.{getattr(value, '__name__', name)}"),
            math=call(f"math.{math}") if isinstance(math, str) else math,
            fold=fold,
            rule=rule,
            domains=domain,
            kinks=kinks,
            samples=samples,
            result=result,
            conditions=conditions,
        )
    )


def linear(
    name: str,
    value: Callable[..., Any],
    shape: Callable[..., Shape],
    *,
    transpose: Rule,
    rule: str = "linear: applied to the derivative",
    numpy: Callable[..., str] | None = None,
    fold: Callable[..., Node | None] | None = None,
    exact: Callable[..., Any] | None = None,
    symbol: Callable[..., Any] | None = None,
    result: Kind | Literal["same"] = "float",
    samples: tuple[Sample, ...] = SCALAR_AND_VECTOR,
) -> Primitive:
    """A linear function of its first operand (further operands are indices); `transpose(g, x, *rest, **params)`."""

    def pullback(i: int, g: Node, y: Node) -> Node | None:
        return transpose(g, *y.inputs, **y.params) if i == 0 else None

    def pushforward(tangents: Sequence[Node | None], y: Node) -> Node | None:
        return None if tangents[0] is None else y.op(tangents[0], *y.inputs[1:], **y.params)

    return _register(
        Primitive(
            name,
            "linear",
            value,
            shape,
            pullback,
            pushforward,
            symbol=symbol,
            exact=exact,
            numpy=numpy or call(f"np.{name}"),
            fold=fold,
            rule=rule,
            samples=samples,
            result=result,
        )
    )


def bilinear(
    name: str,
    value: Callable[..., Any],
    shape: Callable[..., Shape],
    *,
    transposes: tuple[Rule, Rule],
    rule: str = "product rule",
    numpy: Callable[..., str] | None = None,
    fold: Callable[..., Node | None] | None = None,
    exact: Callable[..., Any] | None = None,
    symbol: Callable[..., Any] | None = None,
    samples: tuple[Sample, ...],
) -> Primitive:
    """A product of two arrays; `transposes[i](g, a, b, **params)` is the cotangent of operand i."""

    def pullback(i: int, g: Node, y: Node) -> Node:
        result: Node = transposes[i](g, *y.inputs, **y.params)
        return result

    def pushforward(tangents: Sequence[Node | None], y: Node) -> Node | None:
        (a, b), (da, db) = y.inputs, tangents
        left = None if da is None else y.op(da, b, **y.params)
        right = None if db is None else y.op(a, db, **y.params)
        return left if right is None else right if left is None else left + right

    return _register(
        Primitive(
            name,
            "bilinear",
            value,
            shape,
            pullback,
            pushforward,
            symbol=symbol,
            exact=exact,
            numpy=numpy or call(f"np.{name}"),
            fold=fold,
            rule=rule,
            samples=samples,
        )
    )


def general(
    name: str,
    value: Callable[..., Any],
    shape: Callable[..., Shape],
    *pullbacks: Rule | None,
    variadic: Callable[..., Node | None] | None = None,
    pushforward: Callable[[Sequence[Node | None], Node], Node | None] | None = None,
    rule: str,
    numpy: Callable[..., str] | None = None,
    fold: Callable[..., Node | None] | None = None,
    exact: Callable[..., Any] | None = None,
    symbol: Callable[..., Any] | None = None,
    kinks: str = "",
    result: Kind | Literal["same"] = "float",
    samples: tuple[Sample, ...],
    extra: str = "",
) -> Primitive:
    """Anything else: `pullbacks[i](g, y, *xs, **params)`, or for any number of operands `variadic(i, g, …)`."""

    def pullback(i: int, g: Node, y: Node) -> Node | None:
        if variadic is not None:
            return variadic(i, g, y, *y.inputs, **y.params)
        rule_i = pullbacks[i]
        return None if rule_i is None else rule_i(g, y, *y.inputs, **y.params)

    return _register(
        Primitive(
            name,
            "general",
            value,
            shape,
            pullback,
            pushforward,
            symbol=symbol,
            exact=exact,
            numpy=numpy or call(f"np.{name}"),
            fold=fold,
            rule=rule,
            kinks=kinks,
            samples=samples,
            result=result,
            extra=extra,
        )
    )


def zero_like(node: Node) -> Node:
    """Zero, in the shape of a node."""
    return filled(0, node.shape)


def filled(number: Any, shape: Shape) -> Node:
    """A constant number in the given shape."""
    return operators["broadcast_to"](constant(number), shape)
