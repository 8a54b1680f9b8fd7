"""`Variable`: a tensor that can be assigned to. Every assignment is a new version."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradexplain.errors import ArgumentError
from gradexplain.tape.dtypes import DType
from gradexplain.tape.errors import OperandError, TapeError
from gradexplain.tape.recording import Operation, state, tell
from gradexplain.tape.tensor import Operators, Tensor, TensorShape, _digits, as_array, operators


class Variable(Operators):
    """A value that tapes watch by themselves, and that changes by `assign` only.

    >>> v = Variable(3.0)
    >>> v.assign_add(1.0)
    <tf.Variable 'Variable:0' shape=() dtype=float32, numpy=4.0>
    """

    __slots__ = ("__weakref__", "_name", "_tensor", "born", "trainable")

    def __init__(
        self,
        initial_value: Any = None,
        trainable: bool = True,
        validate_shape: bool = True,
        caching_device: Any = None,
        name: str | None = None,
        variable_def: Any = None,
        dtype: Any = None,
        import_scope: Any = None,
        constraint: Any = None,
        synchronization: Any = None,
        aggregation: Any = None,
        shape: Any = None,
    ) -> None:
        if initial_value is None:
            raise OperandError("a variable needs an initial value", fix="give one, as in tf.Variable(0.0)")
        if callable(initial_value) and not isinstance(initial_value, Operators):
            initial_value = initial_value()
        given = initial_value.read() if isinstance(initial_value, Variable) else initial_value
        array = as_array(given.array if isinstance(given, Tensor) else given, dtype)
        self._tensor = Tensor(np.array(array)[()])
        self._name, self.trainable, self.born = name or "Variable", bool(trainable), self._tensor.serial
        if state.listeners and isinstance(given, Tensor) and given.made_by:
            self._stored((given, given))

    @property
    def current(self) -> Tensor:
        """The version of now, without telling anybody that it was read."""
        return self._tensor

    def read(self) -> Tensor:
        """The version of now; tapes hear that it was read."""
        for listener in tuple(state.listeners):
            listener.read(self)
        return self._tensor

    def read_value(self) -> Tensor:
        found: Tensor = operators["identity"](self)
        return found

    value = read_value

    def numpy(self) -> Any:
        return self.read().numpy()

    @property
    def name(self) -> str:
        return f"{self._name}:0"

    @property
    def shape(self) -> TensorShape:
        return self._tensor.shape

    @property
    def dtype(self) -> DType:
        return self._tensor.dtype

    @property
    def ndim(self) -> int:
        return self._tensor.ndim

    @property
    def device(self) -> str:
        return self._tensor.device

    def get_shape(self) -> TensorShape:
        return self.shape

    # Assignments.
    def assign(self, value: Any, use_locking: bool = False, name: str | None = None, read_value: bool = True) -> Any:
        """A new version. No derivative flows from it to what the value was computed from."""
        given = value.read() if isinstance(value, Variable) else value
        array = given.array if isinstance(given, Tensor) else as_array(given, self.dtype)
        array = np.asarray(array)
        if array.shape != self.shape:
            raise OperandError(
                f"a value of shape {array.shape} can't be assigned to {self.name}, which has shape {tuple(self.shape)}",
                why="a variable keeps its shape",
                fix="reshape the value, or make a new variable",
            )
        if array.dtype != self._tensor.array.dtype:
            raise OperandError(
                f"a value of type {array.dtype} can't be assigned to {self.name}, which has type {self.dtype.name}",
                why="a variable keeps its type",
                fix=f"use tf.cast(value, tf.{self.dtype.name})",
            )
        before, self._tensor = self._tensor, Tensor(array.copy()[()])
        if state.listeners:
            self._stored((given, before) if isinstance(given, Tensor) else (before,))
        return self

    def _stored(self, inputs: tuple[Tensor, ...]) -> None:
        """Tells that a value was stored: the new one, if it was a tensor, and the one before."""
        tell(Operation("assign", None, {"variable": self}, inputs, (self._tensor,), flat=True))

    def replace(self, array: Any) -> None:
        """A new version of the same shape and type that no tape hears of: for optimizers."""
        self._tensor = Tensor(array)

    def assign_add(
        self, delta: Any, use_locking: bool = False, name: str | None = None, read_value: bool = True
    ) -> Any:
        """The value so far, and `delta` more."""
        return self.assign(operators["add"](self._tensor, delta))

    def assign_sub(
        self, delta: Any, use_locking: bool = False, name: str | None = None, read_value: bool = True
    ) -> Any:
        """The value so far, less `delta`."""
        return self.assign(operators["sub"](self._tensor, delta))

    def __getitem__(self, key: Any) -> Any:
        picked = operators["getitem"](self, key)
        return VariableSlice(picked, self, key)

    # Conversions.
    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return self.read().__array__(dtype)

    def __bool__(self) -> bool:
        return bool(self._tensor)

    def __float__(self) -> float:
        return float(self.read())

    def __int__(self) -> int:
        return int(self.read())

    def __index__(self) -> int:
        return self._tensor.__index__()

    def __len__(self) -> int:
        return len(self._tensor)

    def __iter__(self) -> Any:
        if not self.shape:
            raise ArgumentError(
                "a scalar variable can't be iterated over", why="it has no axes", fix="wrap it in a list"
            )
        return (self[i] for i in range(self.shape[0]))

    def __hash__(self) -> int:
        raise ArgumentError(
            "a variable can't be a key of a dict or member of a set",
            why="== compares entries, and gives a tensor",
            fix="use variable.ref()",
        )

    def __deepcopy__(self, memo: Any) -> Variable:
        return Variable(self.numpy(), trainable=self.trainable, name=self._name)

    def __format__(self, spec: str) -> str:
        return format(self._tensor, spec) if spec else str(self)

    def _changed_in_place(self, value: Any) -> Any:
        raise TapeError(
            "`variable += value` and its kin are not supported for variables",
            why="the name would stand for a tensor from then on",
            fix="use variable.assign_add(value), or variable = variable + value to make a tensor",
        )

    __iadd__ = __isub__ = __imul__ = __itruediv__ = __ipow__ = _changed_in_place

    def __repr__(self) -> str:
        head = f"'{self.name}' shape={self.shape} dtype={self.dtype.name}"
        return f"<tf.Variable {head}, numpy={_digits(self._tensor.array)}>"


class VariableSlice(Tensor):
    """Entries of a variable: a tensor, to which can be assigned as well."""

    __slots__ = ("_key", "_variable")

    def __init__(self, picked: Tensor, variable: Variable, key: Any) -> None:
        self.array, self.literal, self.origin, self.serial = picked.array, picked.literal, None, picked.serial
        self._spec, self.made_by = None, picked.made_by
        self._variable, self._key = variable, key

    def assign(self, value: Any) -> Variable:
        """Writes into the variable: a new version of all of it."""
        array = np.array(self._variable.numpy())
        array[self._key] = np.asarray(value)
        found: Variable = self._variable.assign(array)
        return found
