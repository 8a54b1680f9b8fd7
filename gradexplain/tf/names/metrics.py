"""Metrics: numbers that are kept over calls. They are state, and no derivative flows through them."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradexplain.tape.functions import tensor
from gradexplain.tape.tensor import Tensor
from gradexplain.tf.names.table import TABLE, named


@named("keras.metrics.Mean")
class Mean:
    """The mean of all values so far."""

    def __init__(self, name: str = "mean", dtype: Any = None) -> None:
        self.name = name
        self.reset_state()

    def reset_state(self) -> None:
        """Forgets what was seen."""
        self._total, self._count = np.float32(0), np.float32(0)

    reset_states = reset_state

    def update_state(self, values: Any, sample_weight: Any = None) -> None:
        """Takes values into account."""
        array = np.asarray(tensor(values).array, np.float32)
        weights = (
            np.ones_like(array)
            if sample_weight is None
            else np.broadcast_to(np.asarray(tensor(sample_weight)), array.shape)
        )
        self._total += np.float32(np.sum(array * weights))
        self._count += np.float32(np.sum(weights))

    def result(self) -> Tensor:
        """The mean."""
        return Tensor(np.float32(self._total / self._count) if self._count else np.float32(0))

    def __call__(self, *args: Any, **kwargs: Any) -> Tensor:
        self.update_state(*args, **kwargs)
        return self.result()


@named("keras.metrics.Sum")
class Sum(Mean):
    """The sum of all values so far."""

    def result(self) -> Tensor:
        return Tensor(np.float32(self._total))


class _OfPairs(Mean):
    """The mean of what a function of (truth, prediction) gives."""

    def __init__(self, function: Any, name: str) -> None:
        super().__init__(name)
        self._function = function

    def update_state(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> None:  # type: ignore[override]
        super().update_state(self._function(y_true, y_pred), sample_weight)


def _sparse_hits(t: Any, p: Any) -> Any:
    labels, scores = np.asarray(tensor(t)), np.asarray(tensor(p))
    return (scores.argmax(-1) == labels.reshape(scores.shape[:-1])).astype(np.float32)


def _hits(t: Any, p: Any) -> Any:
    return (np.asarray(tensor(t)).argmax(-1) == np.asarray(tensor(p)).argmax(-1)).astype(np.float32)


def _binary_hits(t: Any, p: Any) -> Any:
    return ((np.asarray(tensor(p)) > 0.5) == (np.asarray(tensor(t)) > 0.5)).astype(np.float32)


def _equal(t: Any, p: Any) -> Any:
    return (np.asarray(tensor(t)) == np.asarray(tensor(p))).astype(np.float32)


for _title, _hit in (
    ("SparseCategoricalAccuracy", _sparse_hits),
    ("CategoricalAccuracy", _hits),
    ("BinaryAccuracy", _binary_hits),
    ("Accuracy", _equal),
):
    TABLE[f"keras.metrics.{_title}"] = lambda name=_title, dtype=None, _hit=_hit: _OfPairs(_hit, name)
for _title in (
    "MeanSquaredError",
    "MeanAbsoluteError",
    "SparseCategoricalCrossentropy",
    "BinaryCrossentropy",
    "CategoricalCrossentropy",
):
    TABLE[f"keras.metrics.{_title}"] = lambda name=None, _title=_title, **options: _OfPairs(
        TABLE[f"keras.losses.{_title}"](reduction="none", **options), name or _title
    )
