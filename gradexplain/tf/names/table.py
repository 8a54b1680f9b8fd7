"""The translation table: TensorFlow's names, and what each is in terms of the rows of our table of derivatives.

Most names are functions on nodes, entered with `on_nodes`: they state what is computed, once, and get values,
derivatives of any order and formulas from the rows. Others (variables, loops, what only makes numbers) are entered as
they are, with `named`.
"""

from __future__ import annotations

import difflib
import functools
import inspect
import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any, TypeVar

import numpy as np

from gradexplain.tape.dtypes import DType
from gradexplain.tape.errors import OperandError, UnknownNameError
from gradexplain.tape.functions import alike, call, tensor
from gradexplain.tape.tensor import Operators

TABLE: dict[str, Any] = {}
# TensorFlow's name of the operation behind a function: reduce_sum is Sum.
OPERATIONS: dict[str, str] = {}
F = TypeVar("F", bound=Callable[..., Any])


def named(*names: str) -> Callable[[F], F]:
    """Enters something under TensorFlow's names, without the leading `tf.`"""

    def declare(thing: F) -> F:
        for name in names:
            TABLE[name] = thing
        return thing

    return declare


def on_nodes(*names: str, operands: int = 1, op: str = "") -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Enters a function on nodes. Its first parameters are `operands` tensors of one type, the others are fixed."""

    def declare(function: Callable[..., Any]) -> Callable[..., Any]:
        applied = applying(function, names[0], operands, op)
        for name in names:
            TABLE[name] = applied
            OPERATIONS[name] = op
        return applied

    return declare


def applying(function: Callable[..., Any], name: str, operands: int, op: str) -> Callable[..., Any]:
    """A function on nodes as one on tensors, with keywords and `name=` as TensorFlow has them."""
    parameters = list(inspect.signature(function).parameters)
    first, rest = parameters[:operands], parameters[operands:]

    @functools.wraps(function)
    def apply(*args: Any, **kwargs: Any) -> Any:
        kwargs.pop("name", None)
        given = [*args[:operands], *[_given(name, p, kwargs) for p in first[len(args) :]]]
        fixed = dict(zip(rest, args[operands:], strict=False)) | kwargs
        tensors = [tensor(given[0])] if operands == 1 else alike(op or name, given)
        return call(function, tensors, {k: settled(v) for k, v in fixed.items()} if fixed else None, name=op or name)

    return apply


def _given(function: str, parameter: str, kwargs: dict[str, Any]) -> Any:
    if parameter not in kwargs:
        raise OperandError(f"tf.{function} needs {parameter}", fix=f"give it, as in tf.{function}({parameter}=…)")
    return kwargs.pop(parameter)


def settled(value: Any) -> Any:
    """A parameter as something that can be hashed: tensors and arrays of whole numbers become tuples."""
    if isinstance(value, Operators):
        value = np.asarray(value)
    if isinstance(value, np.ndarray):
        value = value.tolist()
    if isinstance(value, (list, tuple)):
        return tuple(settled(v) for v in value)
    if isinstance(value, np.generic):
        return value.item()
    return value


class Namespace(ModuleType):
    """A part of TensorFlow's names: `tf.nn`, `tf.keras.layers`."""

    def __init__(self, path: str) -> None:
        super().__init__(f"gradexplain.tf.{path}", f"TensorFlow's names under tf.{path}.")
        self.__path__: list[str] = []
        self._path = path

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return look_up(f"{self._path}.{name}")

    def __dir__(self) -> list[str]:
        return names_in(f"{self._path}.")


_namespaces: dict[str, Namespace] = {}


def look_up(name: str) -> Any:
    """What stands under a name; raises `UnknownNameError` with names that are near."""
    if name in TABLE:
        return TABLE[name]
    if name in _namespaces:
        return _namespaces[name]
    raise UnknownNameError(
        f"tf.{name} is not among the names that gradexplain knows",
        why="only what has a derivative that can be explained is there, and what is used with it",
        fix=f"nearest: {', '.join(f'tf.{n}' for n in nearest(name)) or 'none'}",
    )


def register_namespaces() -> None:
    """Makes `from gradexplain.tf.keras import layers` work."""
    for name in TABLE:
        parts = name.split(".")[:-1]
        for i in range(1, len(parts) + 1):
            path = ".".join(parts[:i])
            if path not in _namespaces:
                _namespaces[path] = Namespace(path)
                sys.modules[f"gradexplain.tf.{path}"] = _namespaces[path]


def nearest(name: str, count: int = 3) -> list[str]:
    """Names that look like it: the same last part elsewhere, then similar ones."""
    last = name.rpartition(".")[2]
    same = [n for n in TABLE if n.rpartition(".")[2] == last]
    lasts = {n.rpartition(".")[2]: n for n in TABLE}
    similar = [lasts[c] for c in difflib.get_close_matches(last, lasts, count, 0.6)]
    whole = difflib.get_close_matches(name, TABLE, count, 0.6)
    return list(dict.fromkeys([*same, *whole, *similar]))[:count]


def names_in(prefix: str) -> list[str]:
    """The names below a namespace."""
    return sorted({n.removeprefix(prefix).partition(".")[0] for n in TABLE if n.startswith(prefix)})


def dtype_of(value: DType | Any, default: Any) -> Any:
    """A dtype parameter, or what it is by default."""
    return default if value is None else value
