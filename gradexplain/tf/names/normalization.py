"""Layers that give features mean 0 and variance 1."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradexplain.tf.names import nn
from gradexplain.tf.names.layers import Layer
from gradexplain.tf.names.table import named


class _Normalization(Layer):
    """What both normalisations have: a scale and an offset."""

    def __init__(
        self,
        axis: Any = -1,
        epsilon: float = 1e-3,
        center: bool = True,
        scale: bool = True,
        beta_initializer: Any = "zeros",
        gamma_initializer: Any = "ones",
        **options: Any,
    ) -> None:
        super().__init__(**options)
        self.axis, self.epsilon = axis, epsilon
        self._given = center, scale, beta_initializer, gamma_initializer

    def build(self, input_shape: Any) -> None:
        center, scale, of_beta, of_gamma = self._given
        axes = (self.axis,) if isinstance(self.axis, int) else tuple(self.axis)
        shape = tuple(input_shape[a] for a in axes)
        self.gamma = self.add_weight(shape, of_gamma, name="gamma") if scale else None
        self.beta = self.add_weight(shape, of_beta, name="beta") if center else None
        self.built = True

    def _normal(self, x: Any, mean: Any, variance: Any) -> Any:
        return nn.batch_normalization(x, mean, variance, self.beta, self.gamma, self.epsilon)


@named("keras.layers.LayerNormalization")
class LayerNormalization(_Normalization):
    """Every example with mean 0 and variance 1, then scaled and moved."""

    def call(self, inputs: Any) -> Any:
        axes = [self.axis] if isinstance(self.axis, int) else list(self.axis)
        mean, variance = nn.moments(inputs, axes, keepdims=True)
        return self._normal(inputs, mean, variance)


@named("keras.layers.BatchNormalization")
class BatchNormalization(_Normalization):
    """Every feature with mean 0 and variance 1 over the batch; without training, over what was seen so far."""

    def __init__(self, axis: int = -1, momentum: float = 0.99, epsilon: float = 1e-3, **options: Any) -> None:
        super().__init__(axis, epsilon, **options)
        self.momentum = momentum

    def build(self, input_shape: Any) -> None:
        super().build(input_shape)
        shape = (input_shape[self.axis],)
        self.moving_mean = self.add_weight(shape, "zeros", trainable=False, name="moving_mean")
        self.moving_variance = self.add_weight(shape, "ones", trainable=False, name="moving_variance")

    def call(self, inputs: Any, training: bool = False) -> Any:
        if not training or not self.trainable:
            return self._normal(inputs, self.moving_mean, self.moving_variance)
        axes = [a for a in range(inputs.ndim) if a != self.axis % inputs.ndim]
        mean, variance = nn.moments(inputs, axes)
        for moving, new in ((self.moving_mean, mean), (self.moving_variance, variance)):
            moving.assign(moving.numpy() * self.momentum + new.numpy() * np.float32(1 - self.momentum))
        return self._normal(inputs, mean, variance)
