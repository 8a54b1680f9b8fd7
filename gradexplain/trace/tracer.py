"""`Trace`, the record of one run of a function, and `Tracer`, the value that the function is run on.

A tracer behaves like a NumPy array (or a float) that remembers its `Node`. It may carry a number or only a shape. Every
way out of the trace ends in a value or in an error that names the line; none ends in a constant that nobody sees.
"""

from __future__ import annotations

import operator
import threading
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, NoReturn

import numpy as np

from gradexplain.errors import BranchLimitError, LeakedTracerError, NotTraceableError, TraceWarning
from gradexplain.evaluate import evaluate
from gradexplain.graph import VARIABLE, Node, Primitive, as_node, constant, operators, substitute
from gradexplain.ops import arithmetic, ordering
from gradexplain.primitive import NUMPY
from gradexplain.shapes import Shape
from gradexplain.trace.source import Site, library_function, place, place_of, site

MOST_OPERATIONS = 1_000_000
MOST_DECISIONS = 60  # branch decisions on one path while both sides are explored
_running = threading.local()


@dataclass(frozen=True, slots=True)
class Condition:
    """A branch of the user's program: what was asked, how it was answered, and where."""

    node: Node
    truth: bool
    site: Site | None


@dataclass(slots=True)
class Trace:
    """One run: the values of nodes, where they were made, the branches taken, and notes for the reader."""

    function: str
    numeric: bool = True
    exploring: bool = False
    planned: tuple[bool, ...] = ()
    values: dict[Node, Any] = field(default_factory=dict)
    sites: dict[Node, Site | None] = field(default_factory=dict)
    conditions: list[Condition] = field(default_factory=list)
    decided: dict[Node, bool] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    concretised: bool = False
    alive: bool = True
    parent: Trace | None = None  # the trace that this one runs within (a derivative inside a function)
    binding: dict[Node, Node] = field(default_factory=dict)  # this trace's variables as nodes of the parent

    def __enter__(self) -> Trace:
        stack().append(self)
        return self

    def __exit__(self, *_: object) -> None:
        stack().remove(self)
        self.alive = False

    def wrap(self, node: Node) -> Tracer:
        """The tracer of a node, after noting where the node was made."""
        if node not in self.sites and node.inputs:
            self.sites[node] = site()
            if len(self.sites) > MOST_OPERATIONS:
                raise NotTraceableError(
                    f"{self.function} takes more than {MOST_OPERATIONS:,} operations",
                    where=place(),
                    why="a trace has to hold every one of them",
                    fix="use arrays instead of loops, or check that the loop ends",
                )
        return Tracer(self, node)

    def value(self, node: Node) -> Any:
        """The number at a node, None where the trace has none."""
        if self.parent is not None:
            return self.parent.value(substitute([node], self.binding)[0])
        if not self.numeric and any(v not in self.values for v in variables_of(node)):
            return None
        return evaluate([node], self.values)[0]

    def decide(self, node: Node) -> bool:
        """Answers a branch of the user's program and records the answer; integers steer it without being recorded."""
        if self.parent is not None:
            return self.parent.decide(substitute([node], self.binding)[0])
        if all(v.kind != "float" for v in variables_of(node)):
            self.concretised = self.concretised or depends_on_variables(node)
            return bool(self.value(node))
        if node in self.decided:
            return self.decided[node]
        count = len(self.conditions)
        if count < len(self.planned):
            truth = self.planned[count]
        elif self.exploring and count >= MOST_DECISIONS:
            raise BranchLimitError(
                f"{self.function} has a path with more than {MOST_DECISIONS} branches",
                where=place(),
                why="without a number (or beside it) every side of every branch has to be followed",
                fix="give a point: the path taken there is explained",
            )
        else:
            truth = bool(self.value(node)) if self.numeric else True
        self.conditions.append(Condition(node, truth, site()))
        self.decided[node] = truth
        return truth

    def note(self, text: str) -> None:
        """Keeps a note for the explanation, and shows it at once as a warning."""
        if text not in self.notes:
            self.notes.append(text)
            warnings.warn(text, TraceWarning, stacklevel=4)


def stack() -> list[Trace]:
    """The traces that run in this thread, the innermost last."""
    if not hasattr(_running, "stack"):
        _running.stack = []
    found: list[Trace] = _running.stack
    return found


def variables_of(node: Node) -> Iterator[Node]:
    """The variables that a node is computed from, as the walk meets them."""
    seen, waiting = set(), [node]
    while waiting:
        node = waiting.pop()
        if node.op is VARIABLE:
            yield node
        if node not in seen:
            seen.add(node)
            waiting.extend(node.inputs)


def depends_on_variables(node: Node) -> bool:
    """Whether a node is computed from a variable at all."""
    return next(variables_of(node), None) is not None


def record(row: Primitive, *operands: Any) -> Any:
    """Applies a row to tracers and plain values, as it stands in the user's program."""
    if not stack() and all(not x._trace.alive and x._trace.numeric for x in operands if type(x) is Tracer):
        return row.value(*[x.value if type(x) is Tracer else x for x in operands])  # a leaked value is a number again
    trace = innermost(operands)
    try:
        nodes = [x.node if type(x) is Tracer else constant(x) for x in operands]
    except NotTraceableError:
        return NotImplemented
    return trace.wrap(row.record(*nodes))


def innermost(operands: Any) -> Trace:
    """The trace of the operands; of two, the one that was begun last. Raises if one has ended."""
    found: Trace | None = None
    for x in operands:
        if type(x) is Tracer:
            if not x._trace.alive:
                raise LeakedTracerError(
                    f"a traced value of {x._trace.function} is used after its trace has ended",
                    where=place_of(x._trace.sites.get(x.node)) or place(),
                    why="it was kept in a variable outside the function and stands for no number any more",
                    fix="return the value from the function instead of storing it",
                )
            if found is None or _depth(x._trace) > _depth(found):
                found = x._trace
    assert found is not None
    return found


def _depth(trace: Trace) -> int:
    running = stack()
    return running.index(trace) if trace in running else -1


def _binary(row: Primitive) -> Any:
    def method(self: Tracer, other: Any) -> Any:
        return record(row, self, other)

    return method


def _reflected(row: Primitive) -> Any:
    def method(self: Tracer, other: Any) -> Any:
        return record(row, other, self)

    return method


def _in_place(binary: str) -> Any:
    def method(self: Tracer, other: Any) -> Any:
        result = getattr(self, binary)(other)
        if result is NotImplemented or self.ndim == 0:
            return result
        self._write(result.node)
        return self

    return method


def _numpy_method(function: Any) -> Any:
    def method(self: Tracer, *args: Any, **kwargs: Any) -> Any:
        return self.__array_function__(function, (Tracer,), (self, *args), kwargs)

    return method


class Tracer:
    """A value of the user's program: a node, in an array's or a float's clothes."""

    __slots__ = ("_base", "_key", "_node", "_seen", "_trace")
    __array_priority__ = 1000.0

    def __init__(self, trace: Trace, node: Node, base: Tracer | None = None, key: Any = None) -> None:
        self._trace, self._node, self._base, self._key = trace, node, base, key
        self._seen = None if base is None else base.node

    # A view (x[1:]) looks through to its array, as NumPy's views do.
    @property
    def node(self) -> Node:
        """The node that the value stands for now."""
        if self._base is not None:
            current = self._base.node
            if current is not self._seen:
                self._node, self._seen = operators["getitem"](current, self._key), current
        return self._node

    def _write(self, node: Node) -> None:
        shape = self.shape
        if node.shape != shape:
            node = operators["broadcast_to"](node, shape)
        if self._base is not None:
            self._base._write(operators["setitem"](self._base.node, self._key, node))
            self._seen = self._base.node
        self._node = node

    # What the value looks like.
    @property  # type: ignore[misc]
    def __class__(self) -> type:
        """isinstance(x, np.ndarray) and isinstance(x, float) answer as they do in the plain program."""
        node = object.__getattribute__(self, "_node")
        return np.ndarray if node.shape else {"float": float, "int": int, "bool": bool}[node.kind]

    @property
    def shape(self) -> Shape:
        return self._node.shape

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def size(self) -> int:
        return int(np.prod(self.shape, dtype=int))

    @property
    def dtype(self) -> Any:
        return np.dtype({"float": float, "int": int, "bool": bool}[self._node.kind])

    @property
    def value(self) -> Any:
        """The number (or array) at this point of the program; None in a trace without numbers."""
        return self._trace.value(self.node)

    @property
    def T(self) -> Any:  # noqa: N802 (NumPy's name)
        return np.transpose(self)  # type: ignore[call-overload]

    @property
    def mT(self) -> Any:  # noqa: N802 (NumPy's name)
        return np.swapaxes(self, -1, -2)  # type: ignore[call-overload]

    @property
    def real(self) -> Tracer:
        return self

    @property
    def imag(self) -> Any:
        return np.zeros(self.shape) if self.shape else 0.0

    @property
    def flat(self) -> Any:
        return np.ravel(self)  # type: ignore[call-overload]

    def conjugate(self) -> Tracer:
        return self

    conj = conjugate

    def copy(self, order: str = "C") -> Tracer:
        return Tracer(self._trace, self.node)

    def __copy__(self) -> Tracer:
        return self.copy()

    def __deepcopy__(self, memo: Any) -> Tracer:
        return self.copy()

    def astype(self, dtype: Any, **_: Any) -> Any:
        kind = np.dtype(dtype).kind
        if kind == "f" or (kind in "iu" and self._node.kind == "int"):
            return self.copy() if self._node.kind != "bool" else record(ordering.as_number, self)
        if kind in "iu":
            self._trace.note(f"{_here()}: astype({np.dtype(dtype).name}) cuts off the fraction, so its derivative is 0")
            return record(ordering.trunc, self)
        if kind == "b":
            return record(ordering.not_equal, self, 0)
        return _leave(f"astype({dtype})", "float64 is what derivatives are computed in")

    def item(self, *index: Any) -> Any:
        if index:
            return np.ravel(self)[index[0]] if len(index) == 1 else self[tuple(index)]  # type: ignore[call-overload]
        return np.reshape(self, ()) if self.shape else self  # type: ignore[call-overload]

    def tolist(self) -> Any:
        return [x.tolist() for x in self] if self.shape else self

    def fill(self, value: Any) -> None:
        self[...] = value

    # Operators.
    __add__, __radd__ = _binary(arithmetic.add), _reflected(arithmetic.add)
    __sub__, __rsub__ = _binary(arithmetic.sub), _reflected(arithmetic.sub)
    __mul__, __rmul__ = _binary(arithmetic.mul), _reflected(arithmetic.mul)
    __truediv__, __rtruediv__ = _binary(arithmetic.div), _reflected(arithmetic.div)
    __floordiv__, __rfloordiv__ = _binary(ordering.floor_divide), _reflected(ordering.floor_divide)
    __mod__, __rmod__ = _binary(ordering.mod), _reflected(ordering.mod)
    __rpow__ = _reflected(arithmetic.power)
    __lt__, __le__ = _binary(ordering.less), _binary(ordering.less_equal)
    __gt__, __ge__ = _binary(ordering.greater), _binary(ordering.greater_equal)
    __eq__, __ne__ = _binary(ordering.equal), _binary(ordering.not_equal)
    __and__, __rand__ = _binary(ordering.logical_and), _reflected(ordering.logical_and)
    __or__, __ror__ = _binary(ordering.logical_or), _reflected(ordering.logical_or)
    __iadd__, __isub__, __imul__ = _in_place("__add__"), _in_place("__sub__"), _in_place("__mul__")
    __itruediv__, __ipow__, __imatmul__ = _in_place("__truediv__"), _in_place("__pow__"), _in_place("__matmul__")
    __ifloordiv__, __imod__ = _in_place("__floordiv__"), _in_place("__mod__")

    def __pow__(self, other: Any, modulo: Any = None) -> Any:
        return NotImplemented if modulo is not None else record(arithmetic.power, self, other)

    def __matmul__(self, other: Any) -> Any:
        return np.matmul(self, other)  # type: ignore[call-overload]

    def __rmatmul__(self, other: Any) -> Any:
        return np.matmul(other, self)  # type: ignore[call-overload]

    def __neg__(self) -> Any:
        return record(arithmetic.neg, self)

    def __pos__(self) -> Tracer:
        return self

    def __abs__(self) -> Any:
        return record(arithmetic.absolute, self)

    def __invert__(self) -> Any:
        return record(ordering.logical_not, self)

    def __round__(self, digits: int | None = None) -> Any:
        if not digits:
            return record(ordering.rint, self)
        return record(ordering.rint, self * 10**digits) / 10**digits

    def __floor__(self) -> Any:
        return record(ordering.floor, self)

    def __ceil__(self) -> Any:
        return record(ordering.ceil, self)

    def __trunc__(self) -> Any:
        return record(ordering.trunc, self)

    def __divmod__(self, other: Any) -> Any:
        return self // other, self % other

    def __rdivmod__(self, other: Any) -> Any:
        return other // self, other % self

    # Sequences.
    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("len() of unsized object")
        return self.shape[0]

    def __iter__(self) -> Iterator[Any]:
        if not self.shape:
            raise TypeError("iteration over a 0-d array")
        return (self[i] for i in range(self.shape[0]))

    def __getitem__(self, key: Any) -> Any:
        key = nodes_in(key)
        trace = innermost((self,))
        result = trace.wrap(operators["getitem"](self.node, key))
        if result.shape and _is_basic(key):
            return Tracer(trace, result._node, base=self, key=key)
        return result

    def __setitem__(self, key: Any, value: Any) -> None:
        if not self.shape:
            raise TypeError("a number does not support item assignment")
        value = value.node if type(value) is Tracer else as_node(value)
        trace = innermost((self,))
        self._write(operators["setitem"](self.node, nodes_in(key), value))
        trace.wrap(self.node)

    # Ways out of the trace.
    def __bool__(self) -> bool:
        if self.size != 1:
            _leave(
                "the truth value of an array",
                f"an array of shape {self.shape} is neither true nor false",
                "use np.where, or .any() or .all()",
            )
        trace, node = innermost((self,)), self.node
        return trace.decide(node if node.kind == "bool" else ordering.not_equal(node, 0))

    def __index__(self) -> int:
        if self._node.kind == "float" and depends_on_variables(self.node):
            _leave(
                "an index or a length",
                "it is made from a real variable",
                "use an integer argument, or len() and .shape",
            )
        return int(self._concrete("an integer that steers the program (an index, a length)"))

    def __int__(self) -> int:
        number = int(self._concrete("int()"))
        if depends_on_variables(self.node) and self._node.kind == "float":
            self._trace.note(
                f"{_here()}: int() was taken as the constant {number}; it is constant in pieces, derivative 0"
            )
        return number

    def __float__(self) -> float:
        if not depends_on_variables(self.node):
            return float(self.value)
        return _leave("float()", "a plain float has no derivative", "use the value itself, without float()")

    def __complex__(self) -> complex:
        return _leave("complex()", "arguments are real", "use the value itself, without complex()")

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        if not depends_on_variables(self.node):
            return np.array(self.value, dtype=dtype)
        through = library_function()
        if through:
            _leave(through, "it has no derivative rule", "write it with NumPy's functions, np.where or a loop")
        return _leave(
            "a plain NumPy array",
            "an array that was made outside the function can't hold traced values",
            "make it inside the function with np.zeros or np.array, or build it with np.stack",
        )

    def __reduce__(self) -> NoReturn:
        _leave("pickle", "a traced value lives only while its function runs", "pickle the result instead")

    def _concrete(self, what: str) -> Any:
        number = self._trace.value(self.node)
        if number is None:
            _leave(what, "there is no number here: the function is traced for every value", "give a point, as in x=3.0")
        if depends_on_variables(self.node):
            self._trace.concretised = True
        return number

    # Text.
    def __format__(self, spec: str) -> str:
        number = self.value
        return repr(self) if number is None else format(number, spec)

    def __str__(self) -> str:
        number = self.value
        return repr(self) if number is None else str(number)

    def __repr__(self) -> str:
        return f"<traced {self._node.kind} of shape {self.shape}>"

    def __hash__(self) -> int:
        return id(self)

    # NumPy. The two protocols are completed by numpy_protocol.py.
    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        return protocol["ufunc"](ufunc, method, inputs, kwargs)

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        return protocol["function"](function, args, kwargs)


_METHODS = (
    "sum prod mean var std max min cumsum cumprod dot ravel squeeze swapaxes trace diagonal repeat clip argmax argmin "
    "argsort ptp take any all compress nonzero searchsorted round"
)
for _name in _METHODS.split():
    setattr(Tracer, _name, _numpy_method(getattr(np, _name)))


def _method(name: str) -> Any:
    def declare(function: Any) -> Any:
        setattr(Tracer, name, function)
        return function

    return declare


@_method("reshape")
def _reshape(self: Tracer, *shape: Any, order: str = "C") -> Any:
    return np.reshape(self, shape[0] if len(shape) == 1 else shape, order=order)  # type: ignore[call-overload]


@_method("transpose")
def _transpose(self: Tracer, *axes: Any) -> Any:
    return np.transpose(self, (axes[0] if len(axes) == 1 else axes) or None)  # type: ignore[call-overload]


@_method("flatten")
def _flatten(self: Tracer, order: str = "C") -> Any:
    return np.ravel(self, order=order)  # type: ignore[call-overload]


@_method("sort")
def _sort(self: Tracer, axis: int = -1, **_: Any) -> None:
    self._write(NUMPY[np.sort](self.node, axis=axis))


# The handlers of NumPy's protocols, installed by numpy_protocol.py (which needs the tracer).
protocol: dict[str, Any] = {}


def nodes_in(value: Any) -> Any:
    """The same structure of lists and tuples, with tracers replaced by their nodes."""
    if type(value) is Tracer:
        return value.node
    if type(value) in (list, tuple):
        return type(value)(nodes_in(v) for v in value)
    if type(value) is slice:
        return slice(*[operator.index(v) if type(v) is Tracer else v for v in (value.start, value.stop, value.step)])
    return value


def _is_basic(key: Any) -> bool:
    parts = key if type(key) is tuple else (key,)
    return all(part is None or part is Ellipsis or type(part) in (int, slice) for part in parts)


def _here() -> str:
    found = place()
    return f"{found.file}:{found.line}" if found else "here"


def _leave(what: str, why: str, fix: str = "keep it inside NumPy's functions") -> NoReturn:
    found = place()
    text = f" ({found.text})" if found and found.text else ""
    raise NotTraceableError(f"{what} leaves the trace{text}", where=found, why=why, fix=fix)
