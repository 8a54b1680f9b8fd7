"""Tapes: eager tensors, variables, and derivatives by the record of what was done, as in TensorFlow.

Every operation is a row of the table of derivatives, carried out on numbers. The conventions at kinks are TensorFlow's.
"""

from gradexplain.tape.accumulator import ForwardAccumulator
from gradexplain.tape.custom import (
    custom_gradient,
    grad_pass_through,
    numpy_function,
    py_function,
    recompute_grad,
    stop_gradient,
)
from gradexplain.tape.gradient import GradientTape
from gradexplain.tape.requests import UnconnectedGradients
from gradexplain.tape.slices import IndexedSlices
from gradexplain.tape.tensor import Tensor, TensorShape, constant
from gradexplain.tape.variable import Variable

__all__ = [
    "ForwardAccumulator",
    "GradientTape",
    "IndexedSlices",
    "Tensor",
    "TensorShape",
    "UnconnectedGradients",
    "Variable",
    "constant",
    "custom_gradient",
    "grad_pass_through",
    "numpy_function",
    "py_function",
    "recompute_grad",
    "stop_gradient",
]
