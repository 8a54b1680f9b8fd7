"""What stands behind TensorFlow's names, by subject. Importing this package fills the table."""

from gradexplain.tf.names import (
    control,
    convolution,
    creation,
    elementwise,
    graphs,
    layers,
    linear,
    losses,
    metrics,
    models,
    nn,
    normalization,
    optimizers,
    reductions,
    shaping,
    variables,
)

__all__ = [
    "control",
    "convolution",
    "creation",
    "elementwise",
    "graphs",
    "layers",
    "linear",
    "losses",
    "metrics",
    "models",
    "nn",
    "normalization",
    "optimizers",
    "reductions",
    "shaping",
    "variables",
]
