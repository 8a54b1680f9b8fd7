"""`Tensor`, an array that knows nothing of derivatives: what was done with it is in the records of the tapes."""

from __future__ import annotations

import itertools
import operator
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from gradexplain.errors import ArgumentError
from gradexplain.shapes import Shape
from gradexplain.tape.dtypes import BY_PLAIN, DType, as_dtype, float32, int32, text
from gradexplain.tape.errors import ConversionError, OperandError
from gradexplain.tape.recording import state
from gradexplain.trace.source import site

_serials = itertools.count(1)
# Python's operators on tensors, by name; installed by tape/functions.py.
operators: dict[str, Callable[..., Any]] = {}


class TensorShape(tuple[int, ...]):
    """A shape, which TensorFlow compares with lists too.

    >>> TensorShape((2, 3)) == [2, 3], TensorShape((2, 3)).rank, TensorShape((2, 3))
    (True, 2, TensorShape([2, 3]))
    """

    __slots__ = ()

    def as_list(self) -> list[int]:
        return list(self)

    @property
    def rank(self) -> int:
        return len(self)

    ndims = rank

    @property
    def dims(self) -> list[int]:
        return list(self)

    def num_elements(self) -> int:
        """The number of entries."""
        return int(np.prod(self, dtype=int))

    def is_fully_defined(self) -> bool:
        return True

    def __getitem__(self, key: Any) -> Any:
        part = super().__getitem__(key)
        return TensorShape(part) if isinstance(key, slice) else part

    def __eq__(self, other: object) -> bool:
        return isinstance(other, (tuple, list)) and tuple.__eq__(self, tuple(other))

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return tuple.__hash__(self)

    def __repr__(self) -> str:
        return f"TensorShape({list(self)})"

    def __str__(self) -> str:
        return f"({', '.join(map(str, self))}{',' if len(self) == 1 else ''})"


class Reference:
    """What stands for a tensor or variable as a key of a dict; equal if it is the same object."""

    __slots__ = ("_of",)

    def __init__(self, of: Any) -> None:
        self._of = of

    def deref(self) -> Any:
        """The tensor or variable itself."""
        return self._of

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Reference) and self._of is other._of

    def __hash__(self) -> int:
        return id(self._of)


def _binary(name: str) -> Any:
    return lambda self, other: operators[name](self, other)


def _reflected(name: str) -> Any:
    return lambda self, other: operators[name](other, self)


class Operators:
    """Python's operators, which tensors and variables share."""

    __slots__ = ()
    __array_priority__ = 100.0

    __add__, __radd__ = _binary("add"), _reflected("add")
    __sub__, __rsub__ = _binary("sub"), _reflected("sub")
    __mul__, __rmul__ = _binary("mul"), _reflected("mul")
    __truediv__, __rtruediv__ = _binary("div"), _reflected("div")
    __floordiv__, __rfloordiv__ = _binary("floordiv"), _reflected("floordiv")
    __mod__, __rmod__ = _binary("mod"), _reflected("mod")
    __pow__, __rpow__ = _binary("pow"), _reflected("pow")
    __matmul__, __rmatmul__ = _binary("matmul"), _reflected("matmul")
    __lt__, __le__ = _binary("less"), _binary("less_equal")
    __gt__, __ge__ = _binary("greater"), _binary("greater_equal")
    __and__, __rand__ = _binary("and"), _reflected("and")
    __or__, __ror__ = _binary("or"), _reflected("or")
    __xor__, __rxor__ = _binary("xor"), _reflected("xor")

    def __eq__(self, other: object) -> Any:
        return operators["equal"](self, other)

    def __ne__(self, other: object) -> Any:
        return operators["not_equal"](self, other)

    def __neg__(self) -> Any:
        return operators["neg"](self)

    def __pos__(self) -> Any:
        return self

    def __abs__(self) -> Any:
        return operators["abs"](self)

    def __invert__(self) -> Any:
        return operators["not"](self)

    def __getitem__(self, key: Any) -> Any:
        return operators["getitem"](self, key)

    def __setitem__(self, key: Any, value: Any) -> None:
        raise ArgumentError(
            "a tensor does not support item assignment",
            why="tensors never change",
            fix="use tf.tensor_scatter_nd_update, tf.where, or a tf.Variable and v[i].assign(…)",
        )

    def ref(self) -> Reference:
        """What stands for this object as a key of a dict."""
        return Reference(self)


class Tensor(Operators):
    """An array with a serial number: the later it was made, the higher.

    `literal` tensors stand for numbers that were written in the program: they adapt to the type of what they meet.
    A gradient knows where it came from (`origin`), so that it can be explained.
    """

    __slots__ = ("__weakref__", "_spec", "array", "literal", "made_by", "origin", "serial")

    def __init__(self, array: Any, *, literal: bool = False) -> None:
        self.array, self.literal = array, literal
        self.origin: tuple[Any, Any, Any] | None = None
        self._spec: tuple[Shape, str, bool] | None = None
        self.made_by = ""  # the operation that computed it, "" if it was made from numbers
        self.serial = next(_serials)

    @property
    def spec(self) -> tuple[Shape, str, bool]:
        """What a rule has to know of an operand: shape, kind, whether it is a literal."""
        if self._spec is None:
            kind: str = "float" if self.literal else BY_PLAIN[self.array.dtype].kind
            self._spec = ((), kind, True) if self.literal else (self.array.shape, kind, False)
        return self._spec

    @property
    def is_trainable(self) -> bool:
        """Whether a derivative flows through its type."""
        return self.array.dtype.kind in "fc"

    @property
    def shape(self) -> TensorShape:
        return TensorShape(self.array.shape)

    @property
    def dtype(self) -> DType:
        return BY_PLAIN[self.array.dtype]

    @property
    def ndim(self) -> int:
        return len(self.array.shape)

    @property
    def name(self) -> str:
        """Eager tensors have no names in TensorFlow; here it is the serial number."""
        return f"tensor_{self.serial}:0"

    @property
    def device(self) -> str:
        return "/job:localhost/replica:0/task:0/device:CPU:0"

    def get_shape(self) -> TensorShape:
        return self.shape

    def numpy(self) -> Any:
        """The value for NumPy: an array, or a number of NumPy's."""
        self._leaves("numpy()")
        return self.array.copy() if isinstance(self.array, np.ndarray) and self.array.shape else self.array[()]

    def explain(self) -> Any:
        """How this gradient comes about: closed form, derivation, tape. Raises `ArgumentError` for other tensors."""
        if self.origin is None:
            raise ArgumentError(
                "only a gradient explains itself",
                why="this tensor was not returned by tape.gradient",
                fix="use tape.explain(y, x)",
            )
        tape, target, source = self.origin
        return tape.explain(target, source)

    def _leaves(self, how: str) -> None:
        """Tells who records that a value is handed to NumPy or Python."""
        for listener in tuple(state.listeners):
            if hasattr(listener, "leaves"):
                listener.leaves(self, how, site())

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        self._leaves("np.asarray")
        array = np.asarray(self.array)
        return array.astype(dtype) if dtype is not None and array.dtype != dtype else array.copy()

    def __bool__(self) -> bool:
        if state.listeners and self.array.dtype.kind == "b":
            for listener in tuple(state.listeners):
                if hasattr(listener, "decided"):
                    listener.decided(self, bool(self.array), site())
        return bool(self.array)

    def __float__(self) -> float:
        self._leaves("float()")
        return float(self.array)

    def __int__(self) -> int:
        self._leaves("int()")
        return int(self.array)

    def __complex__(self) -> complex:
        return complex(self.array)

    def __index__(self) -> int:
        return operator.index(self.array[()])

    def __round__(self, digits: int = 0) -> Any:
        return round(float(self.array), digits)

    def __format__(self, spec: str) -> str:
        return format(np.asarray(self.array)[()], spec)

    def __len__(self) -> int:
        if not self.array.shape:
            raise TypeError("Scalar tensor has no `len()`")
        return int(self.array.shape[0])

    def __iter__(self) -> Iterator[Tensor]:
        if not self.array.shape:
            raise ArgumentError("a scalar tensor can't be iterated over", why="it has no axes", fix="wrap it in a list")
        return (self[i] for i in range(self.array.shape[0]))

    def __hash__(self) -> int:
        raise ArgumentError(
            "a tensor can't be a key of a dict or member of a set",
            why="== compares entries, and gives a tensor",
            fix="use tensor.ref()",
        )

    def __copy__(self) -> Tensor:
        return self

    def __deepcopy__(self, memo: Any) -> Tensor:
        return Tensor(self.numpy())

    def __reduce__(self) -> tuple[Any, ...]:
        return Tensor, (self.numpy(),)

    def __repr__(self) -> str:
        return f"<tf.Tensor: shape={self.shape}, dtype={self.dtype.name}, numpy={_digits(self.array)}>"

    def __str__(self) -> str:
        return f"tf.Tensor({np.asarray(self.array)!s}, shape={self.shape}, dtype={self.dtype.name})"


def _digits(array: Any) -> str:
    """The entries as TensorFlow prints them: a number alone, an array on lines of its own."""
    array = np.asarray(array)
    if not array.shape:
        return repr(array.item())
    shown = repr(array)
    return f"\n{shown}" if "\n" in shown or len(array.shape) > 1 else shown


def constant(value: Any, dtype: Any = None, shape: Any = None, name: str | None = None) -> Tensor:
    """A tensor that is not watched by itself; Python's floats become float32, NumPy's numbers keep their type.

    >>> constant(3.0)
    <tf.Tensor: shape=(), dtype=float32, numpy=3.0>
    >>> constant([1, 2]).dtype
    tf.int32
    """
    array = as_array(value, dtype)
    if shape is not None:
        wanted = (shape,) if hasattr(shape, "__index__") else tuple(int(n) for n in shape)
        array = (
            np.reshape(array, wanted)
            if array.size == np.prod(wanted, dtype=int) and array.size != 1
            else np.broadcast_to(array.reshape(()) if array.size == 1 else array, wanted).copy()
        )
    return Tensor(array if array.shape or array.dtype == object else array[()])


def as_array(value: Any, dtype: Any = None) -> Any:
    """The array of a value that is no tensor yet (or holds tensors), in the type that TensorFlow gives it."""
    wanted = None if dtype is None else as_dtype(dtype)
    if isinstance(value, Operators):
        value = np.asarray(value)
    is_typed = isinstance(value, (np.ndarray, np.generic))
    try:
        array = np.asarray(value if is_typed else _untensored(value))
    except ValueError:
        raise OperandError(
            "this list can't become a tensor",
            why="its rows have different lengths",
            fix="give rows of the same length",
        ) from None
    if wanted is None:
        if not is_typed and not _has_typed(value):
            array = array.astype(_default_type(array))
        if array.dtype.kind in "US":
            return array.astype(object)
        if array.dtype not in BY_PLAIN:
            raise ArgumentError(f"{value!r:.60} can't become a tensor", fix="give numbers, or arrays of numbers")
        return array
    if array.dtype.kind in "fc" and wanted.kind != "float" and not is_typed:
        raise ConversionError(
            f"{value!r:.60} can't become a tensor of type {wanted.name}",
            why="a fraction would be lost",
            fix="use tf.cast, or write whole numbers",
        )
    if wanted is text:
        return array.astype(object)
    try:
        return array.astype(wanted.plain)
    except (TypeError, ValueError):
        raise ConversionError(
            f"{value!r:.60} can't become a tensor of type {wanted.name}", fix="give numbers"
        ) from None


def _default_type(array: Any) -> Any:
    """The type of numbers that were written in the program."""
    if array.dtype.kind == "f":
        return float32.plain
    if array.dtype.kind != "i":
        return array.dtype
    fits = array.size == 0 or (array.min() >= int32.min and array.max() <= int32.max)
    return int32.plain if fits else np.dtype("i8")


def _untensored(value: Any) -> Any:
    if isinstance(value, Operators):
        return np.asarray(value)
    if isinstance(value, (list, tuple)):
        return [_untensored(v) for v in value]
    return value


def _has_typed(value: Any) -> bool:
    """Whether a list holds numbers that have a type already."""
    if isinstance(value, (list, tuple)):
        return any(map(_has_typed, value))
    return isinstance(value, (np.ndarray, np.generic, Operators))
