"""Assertions on values, and operations that TensorFlow has no derivative for."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from gradexplain.tape.errors import InvalidArgumentError
from gradexplain.tape.functions import alike, tensor
from gradexplain.tape.recording import Operation, state, tell
from gradexplain.tape.tensor import Tensor
from gradexplain.tf.names.table import TABLE, named

_COMPARED: dict[str, tuple[Callable[..., Any], str]] = {
    "equal": (np.equal, "=="),
    "none_equal": (np.not_equal, "!="),
    "less": (np.less, "<"),
    "less_equal": (np.less_equal, "<="),
    "greater": (np.greater, ">"),
    "greater_equal": (np.greater_equal, ">="),
}
_SIGNS: dict[str, tuple[Callable[..., Any], str]] = {
    "positive": (lambda x: x > 0, "> 0"),
    "non_negative": (lambda x: x >= 0, ">= 0"),
    "negative": (lambda x: x < 0, "< 0"),
    "non_positive": (lambda x: x <= 0, "<= 0"),
}


def _of_two(compare: Callable[..., Any], symbol: str) -> Callable[..., None]:
    def check(x: Any, y: Any, message: Any = None, summarize: Any = None, name: Any = None) -> None:
        a, b = alike("Assert", (x, y))
        _require(np.all(compare(a.array, b.array)), f"condition x {symbol} y did not hold", message)

    return check


def _of_one(holds: Callable[..., Any], symbol: str) -> Callable[..., None]:
    def check(x: Any, message: Any = None, summarize: Any = None, name: Any = None) -> None:
        _require(np.all(holds(tensor(x).array)), f"condition x {symbol} did not hold", message)

    return check


def _require(holds: Any, what: str, message: Any) -> None:
    if not holds:
        raise InvalidArgumentError(f"{message}: {what}" if message else what, why="an assertion of the program says so")


for _name, (_compare, _symbol) in _COMPARED.items():
    TABLE[f"debugging.assert_{_name}"] = _of_two(_compare, _symbol)
for _name, (_holds, _symbol) in _SIGNS.items():
    TABLE[f"debugging.assert_{_name}"] = _of_one(_holds, _symbol)
TABLE["assert_equal"] = TABLE["debugging.assert_equal"]


@named("debugging.Assert")
def assert_condition(condition: Any, data: Any, summarize: Any = None, name: Any = None) -> None:
    """Raises where a condition does not hold."""
    _require(bool(tensor(condition)), f"assertion failed: {data}", None)


# Operations whose derivative TensorFlow asks for in vain.


def _told(op: str, operands: Sequence[Tensor], results: Sequence[Any]) -> list[Tensor]:
    found = [Tensor(r) for r in results]
    if state.listeners:
        tell(Operation(op, None, {}, tuple(operands), tuple(found)))
    return found


Unique = namedtuple("Unique", ("y", "idx"))


@named("unique")
def unique(x: Any, out_idx: Any = None, name: Any = None) -> Any:
    """The different entries in the order in which they are met, and which of them each entry is."""
    given = tensor(x)
    _, first, inverse = np.unique(given.array, return_index=True, return_inverse=True)
    order = np.argsort(first)
    return Unique(*_told("Unique", [given], [given.array[first[order]], np.argsort(order)[inverse].astype(np.int32)]))


@named("math.in_top_k")
def in_top_k(targets: Any, predictions: Any, k: int, name: Any = None) -> Tensor:
    """Whether the targets are among the k largest predictions."""
    at, scores = tensor(targets), tensor(predictions)
    own = np.take_along_axis(scores.array, at.array[:, None], 1)
    (found,) = _told("InTopKV2", [scores, at], [np.sum(scores.array > own, axis=1) < k])
    return found


@named("histogram_fixed_width")
def histogram_fixed_width(
    values: Any, value_range: Any, nbins: int = 100, dtype: Any = None, name: Any = None
) -> Tensor:
    """How many values fall into each of equally wide bins."""
    given, ends = tensor(values), np.asarray(tensor(value_range).array, dtype=float)
    inside = np.clip(given.array, ends[0], ends[1])
    counts = np.histogram(inside, nbins, (ends[0], ends[1]))[0].astype(np.int32)
    (found,) = _told("HistogramFixedWidth", [given], [counts])
    return found
