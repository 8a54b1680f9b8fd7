"""The program as data: `Primitive` (a row of the table of derivatives) and `Node` (a primitive applied to nodes).

Nodes are immutable and interned: the same operation on the same inputs is the same object, so common
sub-expressions are shared without a search. A node's `index` is higher than those of its inputs; sorting by it is a
topological order, and every walk over a graph is a loop over such an order, never a recursion.

Operators on nodes and calls of a primitive *fold* (`x*1` is `x`, constants are added up): rules of differentiation are
written with them. `Primitive.record` does not fold: the tracer keeps the user's program as it was written.
"""

from __future__ import annotations

import itertools
import weakref
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Literal

import numpy as np

from gradexplain.errors import FunctionError, NotTraceableError
from gradexplain.shapes import Shape, broadcast

Family = Literal["elementwise", "linear", "bilinear", "general", "leaf"]
Kind = Literal["float", "int", "bool"]
_LARGEST_BITS = 1024  # of the largest float
_counter = itertools.count()
_interned: weakref.WeakValueDictionary[Any, Node] = weakref.WeakValueDictionary()
# Python's operators on nodes, by name; the rows that they stand for are installed by ops/arithmetic.py.
operators: dict[str, Callable[..., Node]] = {}


@dataclass(frozen=True, slots=True)
class Domain:
    """Where an operand may lie: a condition to print, and an interval that tests and checks sample from."""

    low: float = -2.0
    high: float = 2.0
    condition: str = ""  # over the name `x`, "" where every real number will do


REAL = Domain()


@dataclass(frozen=True, slots=True)
class Sample:
    """Operand shapes and parameters with which a row is tested; `kind` says what the matrices must be."""

    shapes: tuple[Shape, ...]
    params: Mapping[str, Any] = field(default_factory=dict)
    kind: str = "normal"  # normal | positive | invertible | spd | lower | symmetric | distinct


@dataclass(frozen=True, slots=True, eq=False)
class Primitive:
    """An operation, stated once: everything that the program knows about it follows from this row.

    `pullback(i, g, y)` is the cotangent of operand i given that of the output; `pushforward(tangents, y)` the output's
    tangent (None among the tangents is zero). `symbol` and `exact` are names in SymPy and mpmath, or functions that
    get the module first. `numpy` prints the operation as source text.
    """

    name: str
    family: Family
    value: Callable[..., Any]
    shape: Callable[..., Shape]
    pullback: Callable[[int, Node, Node], Node | None] | None = None
    pushforward: Callable[[Sequence[Node | None], Node], Node | None] | None = None
    partials: tuple[Callable[..., Any] | None, ...] = ()
    symbol: str | Callable[..., Any] | None = None
    exact: str | Callable[..., Any] | None = None
    numpy: Callable[..., str] | None = None
    math: Callable[..., str] | None = None
    fold: Callable[..., Node | None] | None = None
    rule: str = ""
    domains: tuple[Domain, ...] = (REAL,)
    kinks: str = ""
    samples: tuple[Sample, ...] = ()
    result: Kind | Literal["same"] = "float"
    conditions: bool = False  # whether operands may be true/false; elsewhere these become 1/0
    extra: str = ""  # the optional package that `value` needs

    def __call__(self, *operands: Any, **params: Any) -> Node:
        nodes = tuple(as_node(x) for x in operands)
        if self.fold is not None:
            folded = self.fold(*nodes, **params)
            if folded is not None:
                return folded
        return self.record(*nodes, **params)

    def record(self, *operands: Any, **params: Any) -> Node:
        """Applies the operation as it stands, without folding; elementwise operands are broadcast explicitly."""
        nodes = tuple(as_node(x) for x in operands)
        if self.family == "elementwise":
            if not self.conditions:
                nodes = tuple(operators["as_number"](n) if n.kind == "bool" else n for n in nodes)
            nodes = _broadcast_operands(nodes)
        return make(self, nodes, params)

    @property
    def differentiable(self) -> bool:
        """Whether a derivative flows through it (comparisons, floor and the like have none)."""
        return self.pullback is not None

    def __repr__(self) -> str:
        return f"<{self.name}>"

    def __reduce__(self) -> tuple[Any, ...]:
        return _row, (self.name,)


# Rows by name, for pickling and for the pages and tests that are generated from the table.
TABLE: dict[str, Primitive] = {}


def _row(name: str) -> Primitive:
    return TABLE[name]


class Node:
    """An operation applied to nodes: `op`, `inputs`, static `params`, and the `shape` and `kind` of the result."""

    __slots__ = ("__weakref__", "index", "inputs", "kind", "op", "params", "shape")

    def __init__(
        self, op: Primitive, inputs: tuple[Node, ...], params: dict[str, Any], shape: Shape, kind: Kind
    ) -> None:
        self.op, self.inputs, self.params, self.shape, self.kind = op, inputs, params, shape, kind
        self.index = next(_counter)

    def __repr__(self) -> str:
        return f"<{self.op.name} #{self.index} {self.shape}>"

    @property
    def is_constant(self) -> bool:
        """Whether this is a constant leaf."""
        return self.op is CONSTANT

    @property
    def data(self) -> Any:
        """The value of a constant leaf."""
        return self.params["value"]

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def size(self) -> int:
        return int(np.prod(self.shape, dtype=int))

    @property
    def T(self) -> Node:  # noqa: N802 (NumPy's name)
        return operators["transpose"](self)

    def __add__(self, other: Any) -> Node:
        return operators["add"](self, other)

    def __radd__(self, other: Any) -> Node:
        return operators["add"](other, self)

    def __sub__(self, other: Any) -> Node:
        return operators["sub"](self, other)

    def __rsub__(self, other: Any) -> Node:
        return operators["sub"](other, self)

    def __mul__(self, other: Any) -> Node:
        return operators["mul"](self, other)

    def __rmul__(self, other: Any) -> Node:
        return operators["mul"](other, self)

    def __truediv__(self, other: Any) -> Node:
        return operators["div"](self, other)

    def __rtruediv__(self, other: Any) -> Node:
        return operators["div"](other, self)

    def __pow__(self, other: Any) -> Node:
        return operators["pow"](self, other)

    def __rpow__(self, other: Any) -> Node:
        return operators["pow"](other, self)

    def __matmul__(self, other: Any) -> Node:
        return operators["matmul"](self, other)

    def __rmatmul__(self, other: Any) -> Node:
        return operators["matmul"](other, self)

    def __neg__(self) -> Node:
        return operators["neg"](self)

    def __getitem__(self, key: Any) -> Node:
        return operators["getitem"](self, key)


class Fixed:
    """A constant array that can be a parameter or a constant leaf: hashed by its contents, never written to."""

    __slots__ = ("_key", "array")

    def __init__(self, array: Any) -> None:
        self.array = np.array(array)
        self.array.setflags(write=False)
        self._key = (self.array.shape, self.array.dtype.str, self.array.tobytes())

    def __hash__(self) -> int:
        return hash(self._key)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Fixed) and self._key == other._key

    def __repr__(self) -> str:
        return f"Fixed({self.array.tolist()})"


def _leaf(name: str) -> Primitive:
    return Primitive(name, "leaf", value=_no_value, shape=_no_value)


def _no_value(*_: Any, **__: Any) -> Any:
    raise AssertionError("leaves are given, not computed")


CONSTANT = _leaf("constant")
VARIABLE = _leaf("variable")
TABLE["constant"], TABLE["variable"] = CONSTANT, VARIABLE


def make(op: Primitive, inputs: tuple[Node, ...], params: dict[str, Any]) -> Node:
    """The interned node of an operation; broadcasting must have been made explicit before."""
    key = (op, inputs, tuple(params.items())) if params else (op, inputs)
    found = _interned.get(key)
    if found is not None:
        return found
    shape = op.shape(*[n.shape for n in inputs], **params)
    kind: Kind = op.result if op.result != "same" else _joint_kind(inputs)
    node = Node(op, inputs, params, shape, kind)
    _interned[key] = node
    return node


def _joint_kind(inputs: tuple[Node, ...]) -> Kind:
    kinds = {n.kind for n in inputs}
    return "float" if "float" in kinds or not kinds else "int" if "int" in kinds else "bool"


def variable(name: str, shape: Shape = (), kind: Kind = "float") -> Node:
    """A fresh variable; two variables are never the same node, whatever their names."""
    return Node(VARIABLE, (), {"name": name}, tuple(shape), kind)


def constant(value: Any) -> Node:
    """A constant leaf: a bool, an int, a Fraction, a float or an array.

    >>> constant(2) is constant(2.0)
    True
    """
    value, kind = _plain_constant(value)
    key = (
        "constant",
        type(value),
        value,
    )  # True and 1 are equal to Python, and Fraction(1, 2) and 0.5, but print apart
    found = _interned.get(key)
    if found is not None and value == value:
        return found
    shape = value.array.shape if isinstance(value, Fixed) else ()
    node = Node(CONSTANT, (), {"value": value}, shape, kind)
    _interned[key] = node
    return node


def _plain_constant(value: Any) -> tuple[Any, Kind]:
    if isinstance(value, (bool, np.bool_)):
        return bool(value), "bool"
    if isinstance(value, (int, np.integer)):
        return _small_enough(int(value)), "float"
    if isinstance(value, Fraction):
        return value, "float"
    if isinstance(value, Fixed):
        value = value.array
    if isinstance(value, (float, np.floating)):
        real = float(value)
        return (int(real) if real.is_integer() and 0 < abs(real) < 2**53 else real), "float"
    array = np.asarray(value)
    if array.dtype.kind not in "fiub":
        raise NotTraceableError(
            f"a value of type {type(value).__name__} and dtype {array.dtype} can't take part in a derivative",
            why="only real numbers and arrays of real numbers can",
            fix="convert it to float first",
        )
    if array.ndim == 0:
        return _plain_constant(array[()].item())
    kind: Kind = {"b": "bool", "f": "float"}.get(array.dtype.kind, "int")  # type: ignore[assignment]
    return Fixed(array), kind


def _small_enough(value: int) -> int:
    if value.bit_length() > _LARGEST_BITS:
        raise FunctionError(
            f"a whole number of {value.bit_length():,} binary digits takes part in the computation",
            why="it is larger than any float",
            fix="use logarithms, or scale the numbers",
        )
    return value


def as_node(value: Any) -> Node:
    """The node itself, or a constant leaf."""
    return value if type(value) is Node else constant(value)


def is_scalar_constant(node: Node, value: float | None = None) -> bool:
    """Whether a node is a constant number (with the given value), possibly broadcast to a shape.

    >>> is_scalar_constant(constant(1), 1)
    True
    """
    if node.op.name == "broadcast_to":
        node = node.inputs[0]
    return node.op is CONSTANT and not isinstance(node.data, Fixed) and (value is None or node.data == value)


def _broadcast_operands(nodes: tuple[Node, ...]) -> tuple[Node, ...]:
    """Operands of one shape. Constant numbers stay as they are beside an array: no cotangent goes there."""
    first = nodes[0].shape
    if all(n.shape == first for n in nodes):
        return nodes
    shape = broadcast(*[n.shape for n in nodes])
    if not any(n.shape == shape for n in nodes):
        return tuple(operators["broadcast_to"](n, shape) for n in nodes)
    return tuple(
        n if n.shape == shape or (n.op is CONSTANT and n.shape == ()) else operators["broadcast_to"](n, shape)
        for n in nodes
    )


def ancestors(outputs: Iterable[Node]) -> list[Node]:
    """All nodes that the outputs are computed from, themselves included, in topological order."""
    seen: dict[int, Node] = {}
    waiting = list(outputs)
    while waiting:
        node = waiting.pop()
        if node.index not in seen:
            seen[node.index] = node
            waiting.extend(n for n in node.inputs if n.index not in seen)
    return [seen[i] for i in sorted(seen)]


def substitute(outputs: Sequence[Node], table: Mapping[Node, Node]) -> list[Node]:
    """The outputs with nodes replaced; what does not depend on a replaced node is shared."""
    new: dict[Node, Node] = {}
    for node in ancestors(outputs):
        if node in table:
            new[node] = table[node]
        elif any(new[n] is not n for n in node.inputs):
            new[node] = make(node.op, tuple(new[n] for n in node.inputs), node.params)
        else:
            new[node] = node
    return [new[n] for n in outputs]


def depends_on(nodes: Iterable[Node], wrt: Iterable[Node]) -> set[Node]:
    """Those of the topologically ordered nodes that a float value flows into from `wrt`, `wrt` included."""
    hot = set(wrt)
    for node in nodes:
        if node.op.differentiable and any(n in hot for n in node.inputs):
            hot.add(node)
    return hot
