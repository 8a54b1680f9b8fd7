"""Losses of Keras: functions of (truth, prediction), and classes that take their mean."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from gradexplain.graph import Node
from gradexplain.ops import arithmetic, elementary, ordering
from gradexplain.ops.statistics import average_over
from gradexplain.tape.functions import call, cast, tensor
from gradexplain.tape.tensor import Operators, Tensor
from gradexplain.tf.names import nn
from gradexplain.tf.names.table import TABLE

EPSILON = 1e-7
_Rule = Callable[..., Node]


def _last_mean(x: Node) -> Node:
    return average_over(x, (x.ndim - 1,)) if x.ndim else x


def _mse(t: Node, p: Node) -> Node:
    return _last_mean(elementary.square.record(arithmetic.sub.record(t, p)))


def _mae(t: Node, p: Node) -> Node:
    return _last_mean(arithmetic.absolute.record(arithmetic.sub.record(t, p)))


def _mape(t: Node, p: Node) -> Node:
    return 100 * _last_mean(abs_of((t - p) / ordering.maximum.record(abs_of(t), EPSILON)))


def _msle(t: Node, p: Node) -> Node:
    logs = [elementary.log.record(ordering.maximum.record(x, EPSILON) + 1) for x in (t, p)]
    return _last_mean(elementary.square.record(logs[0] - logs[1]))


def abs_of(x: Node) -> Node:
    """The absolute value of a node."""
    return arithmetic.absolute.record(x)


def _huber(t: Node, p: Node, delta: float) -> Node:
    error = arithmetic.sub.record(p, t)
    size = abs_of(error)
    inner = 0.5 * elementary.square.record(error)
    return _last_mean(
        ordering.where.record(ordering.less_equal.record(size, delta), inner, delta * size - 0.5 * delta * delta)
    )


def _log_cosh(t: Node, p: Node) -> Node:
    x = arithmetic.sub.record(p, t)
    return _last_mean(x + elementary.logaddexp.record(-2 * x, 0) - math.log(2))


def _binary(t: Node, p: Node, from_logits: bool, label_smoothing: float) -> Node:
    t = t * (1 - label_smoothing) + 0.5 * label_smoothing if label_smoothing else t
    if from_logits:
        return _last_mean(arithmetic.sub.record(elementary.logaddexp.record(p, 0), t * p))
    p = ordering.clip.record(p, EPSILON, 1 - EPSILON)
    return _last_mean(-(t * elementary.log.record(p) + (1 - t) * elementary.log.record(1 - p)))


def _categorical(t: Node, p: Node, from_logits: bool, label_smoothing: float) -> Node:
    from gradexplain.ops.reductions import sum_over

    last = (p.ndim - 1,)
    t = t * (1 - label_smoothing) + label_smoothing / p.shape[-1] if label_smoothing else t
    if from_logits:
        logs = nn.log_softmax_of(p, -1)
    else:
        p = arithmetic.div.record(p, sum_over(p, axis=last, keepdims=True))
        logs = elementary.log.record(ordering.clip.record(p, EPSILON, 1 - EPSILON))
    return -sum_over(t * logs, axis=last, keepdims=False)


def _kl(t: Node, p: Node) -> Node:
    from gradexplain.ops.reductions import sum_over

    t, p = (ordering.clip.record(x, EPSILON, 1) for x in (t, p))
    return sum_over(t * elementary.log.record(t / p), axis=(p.ndim - 1,), keepdims=False)


def _poisson(t: Node, p: Node) -> Node:
    return _last_mean(p - t * elementary.log.record(p + EPSILON))


def _hinge(t: Node, p: Node) -> Node:
    return _last_mean(ordering.maximum.record(1 - t * p, 0))


def _cosine(t: Node, p: Node) -> Node:
    from gradexplain.ops.reductions import sum_over

    a, b = (nn.l2_normalize.__wrapped__(x, -1, 1e-12) for x in (t, p))  # type: ignore[attr-defined]
    return -sum_over(a * b, axis=(p.ndim - 1,), keepdims=False)


def _on_tensors(rule: _Rule, name: str, **defaults: Any) -> Callable[..., Tensor]:
    """A loss for every example."""

    def loss(y_true: Any, y_pred: Any, **options: Any) -> Tensor:
        p = tensor(y_pred)
        t = tensor(y_true) if isinstance(y_true, Operators) else tensor(y_true, p.dtype)
        t = cast(t, p.dtype)
        t = _same_rank(t, p)
        if name == "Hinge" and np.all((t.array == 0) | (t.array == 1)):  # Keras takes these for -1 and 1
            t = t * 2.0 - 1.0
        static = {**defaults, **{k: v for k, v in options.items() if k in defaults}}
        found: Tensor = call(rule, [t, p], static, name=name, plain=p.array.dtype)
        return found

    return loss


def _same_rank(t: Tensor, p: Tensor) -> Tensor:
    """Keras drops or adds a last axis of size 1 where ranks differ by one."""
    if p.ndim - t.ndim == 1 and p.shape[-1] == 1:
        return TABLE["expand_dims"](t, -1)  # type: ignore[no-any-return]
    if t.ndim - p.ndim == 1 and t.shape[-1] == 1:
        return TABLE["squeeze"](t, -1)  # type: ignore[no-any-return]
    return t


def sparse_categorical_crossentropy(y_true: Any, y_pred: Any, from_logits: bool = False, **_: Any) -> Tensor:
    """-log(p) at the labels."""
    p, t = tensor(y_pred), tensor(y_true)
    if t.ndim == p.ndim and t.shape[-1] == 1:
        t = TABLE["squeeze"](t, -1)
    if not from_logits:
        p = TABLE["math.log"](TABLE["clip_by_value"](p, EPSILON, 1 - EPSILON))
    return nn.sparse_softmax_cross_entropy_with_logits(t, p)


class Loss:
    """A loss over a batch: the mean (or the sum) of those of the examples."""

    def __init__(self, function: Callable[..., Any], reduction: Any, options: dict[str, Any]) -> None:
        self._function, self.reduction, self._options = function, reduction, options

    def __call__(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> Any:
        losses = self._function(y_true, y_pred, **self._options)
        if sample_weight is not None:
            losses = losses * cast(tensor(sample_weight), losses.dtype)
        if self.reduction in (None, "none"):
            return losses
        return TABLE["reduce_sum" if self.reduction == "sum" else "reduce_mean"](losses)


# Keras' class, its function, further names, the rule, and the options that it takes.
_LOSSES: tuple[tuple[str, str, _Rule, dict[str, Any]], ...] = (
    ("MeanSquaredError", "mean_squared_error mse MSE", _mse, {}),
    ("MeanAbsoluteError", "mean_absolute_error mae MAE", _mae, {}),
    ("MeanAbsolutePercentageError", "mean_absolute_percentage_error mape MAPE", _mape, {}),
    ("MeanSquaredLogarithmicError", "mean_squared_logarithmic_error msle MSLE", _msle, {}),
    ("Huber", "huber", _huber, {"delta": 1.0}),
    ("LogCosh", "log_cosh logcosh", _log_cosh, {}),
    ("BinaryCrossentropy", "binary_crossentropy", _binary, {"from_logits": False, "label_smoothing": 0.0}),
    (
        "CategoricalCrossentropy",
        "categorical_crossentropy",
        _categorical,
        {"from_logits": False, "label_smoothing": 0.0},
    ),
    ("KLDivergence", "kl_divergence kld KLD", _kl, {}),
    ("Poisson", "poisson", _poisson, {}),
    ("Hinge", "hinge", _hinge, {}),
    ("CosineSimilarity", "cosine_similarity", _cosine, {}),
)


def _class(function: Callable[..., Any], first: tuple[str, ...]) -> Callable[..., Loss]:
    def make(*args: Any, reduction: Any = "sum_over_batch_size", name: Any = None, **options: Any) -> Loss:
        return Loss(function, reduction, dict(zip(first, args, strict=False)) | options)

    return make


for _title, _names, _rule, _defaults in _LOSSES:
    _function = _on_tensors(_rule, _title, **_defaults)
    for _name in _names.split():
        TABLE[f"keras.losses.{_name}"] = TABLE[f"losses.{_name}"] = _function
    TABLE[f"keras.losses.{_title}"] = TABLE[f"losses.{_title}"] = _class(_function, tuple(_defaults))
TABLE["keras.losses.sparse_categorical_crossentropy"] = sparse_categorical_crossentropy
TABLE["keras.losses.SparseCategoricalCrossentropy"] = TABLE["losses.SparseCategoricalCrossentropy"] = _class(
    sparse_categorical_crossentropy, ("from_logits",)
)


def _logit_losses(name: str, function: Callable[..., Any]) -> None:
    TABLE[f"compat.v1.losses.{name}"] = lambda labels, logits, **_: TABLE["reduce_mean"](
        function(labels=labels, logits=logits)
    )


_logit_losses("sparse_softmax_cross_entropy", nn.sparse_softmax_cross_entropy_with_logits)
_logit_losses("softmax_cross_entropy", nn.softmax_cross_entropy_with_logits)
