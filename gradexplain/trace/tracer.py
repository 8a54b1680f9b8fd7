"""`Tracer`, the value that a traced function is run on.

A tracer behaves like a NumPy array (or a float) that remembers its `Node`. It may carry a number or only a shape. What
asks it for a plain value is in exits.py, the methods that it shares with arrays in methods.py.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from gradexplain.errors import LeakedTracerError, NotTraceableError, ShapeError
from gradexplain.graph import Node, Primitive, as_node, operators
from gradexplain.ops import arithmetic, ordering
from gradexplain.shapes import Shape
from gradexplain.trace.exits import Exits, leave
from gradexplain.trace.methods import ArrayMethods
from gradexplain.trace.running import Condition, Trace, stack
from gradexplain.trace.source import place, place_of
from gradexplain.trace.views import Part, View, is_basic, shares_memory

__all__ = ["Condition", "Trace", "Tracer", "innermost", "nodes_in", "protocol", "record", "stack", "wrap"]

# The handlers of NumPy's protocols, installed by numpy_protocol.py (which needs the tracer).
protocol: dict[str, Any] = {}
_DIVISIONS = (arithmetic.div, ordering.floor_divide, ordering.mod)


def wrap(trace: Trace, node: Node) -> Tracer:
    """The tracer of a node, after noting where the node was made."""
    trace.made(node)
    return Tracer(trace, node)


def record(row: Primitive, *operands: Any) -> Any:
    """Applies a row to tracers and plain values, as it stands in the user's program."""
    if not stack() and all(not x._trace.alive and x._trace.numeric for x in operands if type(x) is Tracer):
        return row.value(*[x.value if type(x) is Tracer else x for x in operands])  # a leaked value is a number again
    trace = innermost(operands)
    try:
        nodes = [x.node if type(x) is Tracer else as_node(x) for x in operands]
    except NotTraceableError:
        if any(isinstance(x, (complex, np.complexfloating)) for x in operands if type(x) is not Tracer):
            leave("a complex number", "derivatives are taken in the real numbers", "keep the imaginary part apart")
        return NotImplemented
    if trace.strict and row in _DIVISIONS and nodes[0].shape == nodes[1].shape == ():
        divide_strictly(trace, nodes[1])
    return wrap(trace, row.record(*nodes))


def divide_strictly(trace: Trace, divisor: Node) -> None:
    """Raises what Python does for x/0."""
    if trace.fails(ordering.equal(divisor, 0)):
        raise ZeroDivisionError("division by zero")


def innermost(operands: Any) -> Trace:
    """The trace of the operands; of two, the one that was begun last. Raises if one has ended."""
    found: Trace | None = None
    for x in operands:
        if type(x) is Tracer:
            trace = x._trace
            if not trace.alive:
                _refuse_leaked(x)
            if found is None or (trace is not found and _depth(trace) > _depth(found)):
                found = trace
    assert found is not None
    return found


def _refuse_leaked(x: Tracer) -> None:
    raise LeakedTracerError(
        f"a traced value of {x._trace.function} is used after its trace has ended",
        where=place_of(x._trace.sites.get(x.node)) or place(),
        why="it was kept in a variable outside the function and stands for no number any more",
        fix="return the value from the function instead of storing it",
    )


def _depth(trace: Trace) -> int:
    running = stack()
    return running.index(trace) if trace in running else -1


def _binary(row: Primitive) -> Any:
    return lambda self, other: record(row, self, other)


def _reflected(row: Primitive) -> Any:
    return lambda self, other: record(row, other, self)


def _in_place(binary: str) -> Any:
    def method(self: Tracer, other: Any) -> Any:
        result = getattr(self, binary)(other)
        if result is NotImplemented or not self.shape:
            return result
        self._write(result.node)
        return self

    return method


def _on_truth(row: Primitive, on_integers: Callable[..., int], *, reflected: bool = False) -> Any:
    """`&` and its kin: of conditions the row, of whole numbers what Python does with their bits."""

    def method(self: Tracer, *others: Any) -> Any:
        both = (*others, self) if reflected else (self, *others)
        if self._node.kind == "bool":
            return record(row, *both)
        return on_integers(*map(operator.index, both))

    return method


class Tracer(Exits, ArrayMethods):
    """A value of the user's program: a node, in an array's or a float's clothes."""

    __slots__ = ("_base", "_node", "_seen", "_trace", "_view")
    __array_priority__ = 1000.0

    def __init__(self, trace: Trace, node: Node, base: Tracer | None = None, view: View | None = None) -> None:
        self._trace, self._node, self._base, self._view = trace, node, base, view
        self._seen = None if base is None else base.node

    @property
    def node(self) -> Node:
        """The node that the value stands for now; a view looks through to its array."""
        if self._base is not None:
            current = self._base.node
            if current is not self._seen:
                assert self._view is not None
                self._node, self._seen = self._view.read(current), current
        return self._node

    def _write(self, node: Node) -> None:
        shape = self.shape
        if node.shape != shape:
            node = operators["broadcast_to"](node, shape)
        if self._base is not None:
            assert self._view is not None
            self._base._write(self._view.write(self._base.node, node))
            self._seen = self._base.node
        self._node = node
        innermost((self,)).made(node)

    def viewed(self, result: Tracer, view: View) -> Tracer:
        """`result` as a view of this array, if NumPy would share the memory."""
        views, base = [view], self
        while base._base is not None and base._view is not None:
            views.insert(0, base._view)
            base = base._base
        return Tracer(result._trace, result._node, self, view) if shares_memory(views, base.shape) else result

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        """isinstance(x, np.ndarray) and isinstance(x, float) answer as they do in the plain program."""
        node = object.__getattribute__(self, "_node")
        return np.ndarray if node.shape else {"float": float, "int": int, "bool": bool}[node.kind]

    @property
    def shape(self) -> Shape:
        return self._node.shape

    @property
    def value(self) -> Any:
        """The number (or array) at this point of the program; None in a trace without numbers."""
        return self._trace.value(self.node)

    def copy(self, order: str = "C") -> Tracer:
        return Tracer(self._trace, self.node)

    def __copy__(self) -> Tracer:
        return self.copy()

    def __deepcopy__(self, memo: Any) -> Tracer:
        return self.copy()

    def __hash__(self) -> int:
        """Whole numbers are found in a dict by their value, other values by what they are."""
        number = self.value if self._node.kind == "int" and not self.shape else None
        return id(self) if number is None else hash(operator.index(self))

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
    __and__ = _on_truth(ordering.logical_and, operator.and_)
    __rand__ = _on_truth(ordering.logical_and, operator.and_, reflected=True)
    __or__ = _on_truth(ordering.logical_or, operator.or_)
    __ror__ = _on_truth(ordering.logical_or, operator.or_, reflected=True)
    __xor__ = __rxor__ = _on_truth(ordering.not_equal, operator.xor)
    __invert__ = _on_truth(ordering.logical_not, operator.invert)
    __iadd__, __isub__, __imul__ = _in_place("__add__"), _in_place("__sub__"), _in_place("__mul__")
    __itruediv__, __ipow__, __imatmul__ = _in_place("__truediv__"), _in_place("__pow__"), _in_place("__matmul__")
    __ifloordiv__, __imod__ = _in_place("__floordiv__"), _in_place("__mod__")
    __iand__, __ior__ = _in_place("__and__"), _in_place("__or__")

    def __lshift__(self, other: Any) -> int:
        return operator.index(self) << operator.index(other)

    def __rshift__(self, other: Any) -> int:
        return operator.index(self) >> operator.index(other)

    def __pow__(self, other: Any, modulo: Any = None) -> Any:
        return NotImplemented if modulo is not None else record(arithmetic.power, self, other)

    def __matmul__(self, other: Any) -> Any:
        return np.matmul(self, other)

    def __rmatmul__(self, other: Any) -> Any:
        return np.matmul(other, self)

    def __neg__(self) -> Any:
        return record(arithmetic.neg, self)

    def __pos__(self) -> Tracer:
        return self

    def __abs__(self) -> Any:
        return record(arithmetic.absolute, self)

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
        if not self.shape and key not in ((), Ellipsis, None):
            raise TypeError("a number is not subscriptable")
        trace = innermost((self,))
        key = nodes_in(_settled(trace, key))
        try:
            node = operators["getitem"](self.node, key)
        except ShapeError as error:  # as NumPy does, for functions that expect it
            raise IndexError(f"{error.what}: {error.why}") from None
        trace.made(node)
        return Tracer(trace, node, self, Part(key)) if node.shape and is_basic(key) else Tracer(trace, node)

    def __setitem__(self, key: Any, value: Any) -> None:
        if not self.shape:
            raise TypeError("a number does not support item assignment")
        trace = innermost((self,))
        value = value.node if type(value) is Tracer else as_node(value)
        if type(key) is Tracer and key._node.kind == "bool" and value.shape == () and not key.is_constant:
            mask = operators["reshape"](key.node, key.shape + (1,) * (self.ndim - key.ndim))
            mask, filling = (operators["broadcast_to"](n, self.shape) for n in (mask, value))
            self._write(ordering.where.record(mask, filling, self.node))
        else:
            self._write(operators["setitem"](self.node, nodes_in(_settled(trace, key)), value))

    # NumPy. The two protocols are completed by numpy_protocol.py.
    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        return protocol["ufunc"](ufunc, method, inputs, kwargs)

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        return protocol["function"](function, args, kwargs)


def _settled(trace: Trace, key: Any) -> Any:
    """A key in which traced conditions are constants: which entries there are is recorded like a branch."""
    if type(key) is tuple:
        return tuple(_settled(trace, part) for part in key)
    if type(key) is Tracer and key._node.kind == "bool":
        return trace.settle(key.node)
    if type(key) is list and any(type(k) is Tracer for k in key):
        return [k if type(k) is not Tracer else bool(k) if k._node.kind == "bool" else operator.index(k) for k in key]
    return key


def nodes_in(value: Any) -> Any:
    """The same structure of lists and tuples, with tracers replaced by their nodes."""
    kind = type(value)
    if kind is Tracer:
        return value.node
    if kind is list or kind is tuple:
        return kind(nodes_in(v) for v in value)
    if kind is slice:
        return slice(*[operator.index(v) if type(v) is Tracer else v for v in (value.start, value.stop, value.step)])
    return value
