"""TensorFlow's names, so that a snippet written for TensorFlow runs after its import was changed.

>>> from gradexplain import tf
>>> x = tf.Variable(3.0)
>>> with tf.GradientTape() as tape:
...     y = x**2
>>> tape.gradient(y, x)
<tf.Tensor: shape=(), dtype=float32, numpy=6.0>
"""

from __future__ import annotations

from typing import Any

from gradexplain.tape import errors as _errors
from gradexplain.tape.accumulator import ForwardAccumulator
from gradexplain.tape.dtypes import BY_NAME, DType, as_dtype, float32
from gradexplain.tape.gradient import GradientTape
from gradexplain.tape.requests import UnconnectedGradients
from gradexplain.tape.slices import IndexedSlices
from gradexplain.tape.structures import flatten, mapped, pack
from gradexplain.tape.tensor import Tensor, TensorShape, constant
from gradexplain.tape.variable import Variable
from gradexplain.tf import names
from gradexplain.tf.names import table

assert names.__all__
table.TABLE.update(
    {
        "GradientTape": GradientTape,
        "Variable": Variable,
        "constant": constant,
        "Tensor": Tensor,
        "TensorShape": TensorShape,
        "IndexedSlices": IndexedSlices,
        "UnconnectedGradients": UnconnectedGradients,
        "autodiff.ForwardAccumulator": ForwardAccumulator,
        "autodiff.GradientTape": GradientTape,
        "dtypes.as_dtype": as_dtype,
        "as_dtype": as_dtype,
        "DType": DType,
        "bfloat16": float32,
        "newaxis": None,
        "nest.flatten": flatten,
        "nest.map_structure": mapped,
        "nest.pack_sequence_as": pack,
        "__version__": "2.21.0",
        "keras.backend.epsilon": lambda: 1e-7,
        **BY_NAME,
        **{f"dtypes.{name}": dtype for name, dtype in BY_NAME.items()},
        **{f"errors.{name}": getattr(_errors, name) for name in dir(_errors) if name in (
            "InvalidArgumentError", "OpError", "OutOfRangeError", "FailedPreconditionError", "UnimplementedError")},
    }
)  # fmt: skip
table.register_namespaces()
__version__ = "2.21.0"  # whose names and conventions these are


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    return table.look_up(name)


def __dir__() -> list[str]:
    return table.names_in("")
