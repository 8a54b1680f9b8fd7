"""Neural networks: activations, normalisation, and losses of logits."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from gradexplain.graph import Node
from gradexplain.ops import arithmetic, elementary, indexing, ordering, reductions, special
from gradexplain.ops.statistics import average_over
from gradexplain.shapes import normal_axes
from gradexplain.tape.functions import call, cast, tensor
from gradexplain.tape.tensor import Tensor
from gradexplain.tf.names.table import TABLE, named, on_nodes


@on_nodes("nn.relu", "keras.activations.relu", "keras.backend.relu", op="Relu")
def relu(features: Node) -> Node:
    """max(0, x); at 0 the slope is 0."""
    return ordering.maximum.record(0, features)


@on_nodes("nn.relu6", "keras.activations.relu6", op="Relu6")
def relu6(features: Node) -> Node:
    """min(6, max(0, x))."""
    return ordering.minimum.record(6, ordering.maximum.record(0, features))


@on_nodes("nn.leaky_relu", op="LeakyRelu")
def leaky_relu(features: Node, alpha: float = 0.2) -> Node:
    """x where it is positive, else alpha*x."""
    return ordering.where.record(ordering.greater.record(features, 0), features, arithmetic.mul.record(alpha, features))


def _elu(x: Node, alpha: float, scale: float) -> Node:
    below = elementary.expm1.record(ordering.minimum.record(x, 0))
    below = below if alpha == 1 else arithmetic.mul.record(alpha, below)
    found = ordering.where.record(ordering.greater_equal.record(x, 0), x, below)
    return found if scale == 1 else arithmetic.mul.record(scale, found)


@on_nodes("nn.elu", "keras.activations.elu", op="Elu")
def elu(features: Node, alpha: float = 1.0) -> Node:
    """x where it is positive, else exp(x) - 1."""
    return _elu(features, alpha, 1.0)


@on_nodes("nn.selu", "keras.activations.selu", op="Selu")
def selu(features: Node) -> Node:
    """The scaled exponential linear unit of self-normalising networks (Klambauer et al. 2017)."""
    return _elu(features, 1.6732632423543772, 1.0507009873554805)


@on_nodes("nn.gelu", op="Gelu")
def gelu(features: Node, approximate: bool = False) -> Node:
    """x times the probability that a standard normal variable is below x (Hendrycks and Gimpel 2016)."""
    half = arithmetic.mul.record(0.5, features)
    if not approximate:
        return half * (1 + special.erf.record(arithmetic.div.record(features, math.sqrt(2))))
    inner = math.sqrt(2 / math.pi) * (features + 0.044715 * features * features * features)
    return half * (1 + elementary.tanh.record(inner))


@on_nodes("keras.activations.gelu", op="Gelu")
def keras_gelu(x: Node, approximate: bool = False) -> Node:
    """As `nn.gelu`."""
    found: Node = gelu.__wrapped__(x, approximate)  # type: ignore[attr-defined]
    return found


@on_nodes("nn.silu", "nn.swish", "keras.activations.silu", "keras.activations.swish", op="Silu")
def silu(features: Node, beta: float = 1.0) -> Node:
    """x*sigmoid(x)."""
    return arithmetic.mul.record(features, special.expit.record(features if beta == 1 else beta * features))


@on_nodes("nn.softsign", "keras.activations.softsign", op="Softsign")
def softsign(features: Node) -> Node:
    """x/(1 + |x|)."""
    return arithmetic.div.record(features, 1 + arithmetic.absolute.record(features))


@on_nodes("keras.activations.hard_sigmoid", op="HardSigmoid")
def hard_sigmoid(x: Node) -> Node:
    """relu6(x + 3)/6."""
    return ordering.minimum.record(6, ordering.maximum.record(0, x + 3)) / 6


@on_nodes("keras.activations.exponential", op="Exp")
def exponential(x: Node) -> Node:
    """exp(x)."""
    return elementary.exp.record(x)


@named("keras.activations.linear")
def linear(x: Any) -> Any:
    """The value itself."""
    return x


def log_softmax_of(x: Node, axis: int) -> Node:
    """x less its log-sum-exp."""
    return arithmetic.sub.record(x, special.log_sum_exp(x, axis=normal_axes(axis, x.ndim), keepdims=True))


@on_nodes("nn.softmax", "math.softmax", "keras.activations.softmax", op="Softmax")
def softmax(logits: Node, axis: int = -1) -> Node:
    """Exponentials that add up to 1."""
    return elementary.exp.record(log_softmax_of(logits, -1 if axis is None else axis))


@on_nodes("nn.log_softmax", "math.log_softmax", "keras.activations.log_softmax", op="LogSoftmax")
def log_softmax(logits: Node, axis: int = -1) -> Node:
    """The logarithm of softmax."""
    return log_softmax_of(logits, -1 if axis is None else axis)


@on_nodes("nn.softmax_cross_entropy_with_logits", operands=2, op="SoftmaxCrossEntropyWithLogits")
def softmax_cross_entropy_with_logits(labels: Node, logits: Node, axis: int = -1) -> Node:
    """-sum(labels*log(softmax(logits)))."""
    picked = arithmetic.mul.record(labels, log_softmax_of(logits, axis))
    return arithmetic.neg.record(reductions.sum_over(picked, axis=normal_axes(axis, logits.ndim), keepdims=False))


@named("nn.sparse_softmax_cross_entropy_with_logits")
def sparse_softmax_cross_entropy_with_logits(labels: Any, logits: Any, name: Any = None) -> Tensor:
    """-log(softmax(logits)) at the labels."""
    x, at = tensor(logits), tensor(labels)
    at = at if at.dtype.is_integer else cast(at, "int64")
    found: Tensor = call(_sparse, [x, at], name="SparseSoftmaxCrossEntropyWithLogits", plain=x.array.dtype)
    return found


def _sparse(x: Node, at: Node) -> Node:
    whole = special.log_sum_exp(x, axis=(x.ndim - 1,), keepdims=False)
    lead = [np.arange(n).reshape((n,) + (1,) * (at.ndim - i - 1)) for i, n in enumerate(x.shape[:-1])]
    return arithmetic.sub.record(whole, indexing.item(x, (*lead, at)))


@on_nodes("nn.sigmoid_cross_entropy_with_logits", operands=2, op="LogisticLoss")
def sigmoid_cross_entropy_with_logits(labels: Node, logits: Node) -> Node:
    """log(1 + exp(x)) - labels*x: the cross entropy of sigmoid(x)."""
    return arithmetic.sub.record(elementary.logaddexp.record(logits, 0), arithmetic.mul.record(labels, logits))


@on_nodes("nn.weighted_cross_entropy_with_logits", operands=2, op="LogisticLoss")
def weighted_cross_entropy_with_logits(labels: Node, logits: Node, pos_weight: Any = 1.0) -> Node:
    """The cross entropy of sigmoid(x), the positive class weighted."""
    weight = 1 + (pos_weight - 1) * labels
    # In TensorFlow's pieces: at 0 their slopes do not add up to that of the whole.
    decay = elementary.log1p.record(elementary.exp.record(arithmetic.neg.record(arithmetic.absolute.record(logits))))
    below = ordering.maximum.record(0, arithmetic.neg.record(logits))
    found: Node = (1 - labels) * logits + weight * (decay + below)
    return found


@on_nodes("nn.l2_loss", op="L2Loss")
def l2_loss(t: Node) -> Node:
    """Half the sum of squares."""
    return reductions.sum_over(elementary.square.record(t), axis=tuple(range(t.ndim)), keepdims=False) / 2


@on_nodes("nn.l2_normalize", "math.l2_normalize", "linalg.l2_normalize", op="L2Normalize")
def l2_normalize(x: Node, axis: Any = None, epsilon: float = 1e-12) -> Node:
    """Vectors over their lengths; near 0 over sqrt(epsilon)."""
    total = reductions.sum_over(elementary.square.record(x), axis=normal_axes(axis, x.ndim), keepdims=True)
    bounded = ordering.maximum.record(total, epsilon)
    return arithmetic.mul.record(x, arithmetic.div.record(1, elementary.sqrt.record(bounded)))


@on_nodes("nn.moments", op="Moments")
def moments(x: Node, axes: Any, shift: Any = None, keepdims: bool = False) -> tuple[Node, Node]:
    """Mean and variance over axes."""
    over = normal_axes(axes, x.ndim)
    centred = arithmetic.sub.record(x, average_over(x, over, keepdims=True))
    return average_over(x, over, bool(keepdims)), average_over(elementary.square.record(centred), over, bool(keepdims))


@on_nodes("nn.bias_add", operands=2, op="BiasAdd")
def bias_add(value: Node, bias: Node, data_format: Any = None) -> Node:
    """A bias added to the last axis."""
    return arithmetic.add.record(value, bias)


@on_nodes("nn.log_poisson_loss", operands=2, op="LogPoissonLoss")
def log_poisson_loss(targets: Node, log_input: Node, compute_full_loss: bool = False) -> Node:
    """exp(c) - z*c."""
    return elementary.exp.record(log_input) - targets * log_input


@named("nn.batch_normalization")
def batch_normalization(
    x: Any, mean: Any, variance: Any, offset: Any, scale: Any, variance_epsilon: Any, name: Any = None
) -> Any:
    """(x - mean)/sqrt(variance + epsilon), scaled and moved."""
    inverse = TABLE["math.rsqrt"](variance + variance_epsilon)
    inverse = inverse if scale is None else inverse * scale
    moved = (tensor(x) - mean) * inverse
    return moved if offset is None else moved + offset


@named("nn.dropout")
def dropout(x: Any, rate: float, noise_shape: Any = None, seed: Any = None, name: Any = None) -> Any:
    """Entries set to 0 by chance; the others are larger by 1/(1 - rate)."""
    from gradexplain.tf.names.creation import generator

    given = tensor(x)
    kept = generator(seed).random(given.shape) >= rate
    return given * (kept / (1 - rate)).astype(given.array.dtype)


@named("nn.compute_average_loss")
def compute_average_loss(per_example_loss: Any, sample_weight: Any = None, global_batch_size: Any = None) -> Any:
    """The sum of the losses over the size of the batch."""
    losses = tensor(per_example_loss)
    losses = losses if sample_weight is None else losses * sample_weight
    return TABLE["reduce_sum"](losses) / (float(global_batch_size or losses.shape[0]))


@named("nn.scale_regularization_loss")
def scale_regularization_loss(regularization_loss: Any) -> Any:
    """The sum of a regularisation loss (there is one replica)."""
    return TABLE["reduce_sum"](regularization_loss)
