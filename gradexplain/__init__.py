"""Symbolic derivative explainer for ordinary Python functions."""

from gradexplain.derivative import grad as grad
from gradexplain.derivative import hessian as hessian
from gradexplain.derivative import jacobian as jacobian
from gradexplain.derivative import jvp as jvp
from gradexplain.derivative import value_and_grad as value_and_grad
from gradexplain.derivative import vjp as vjp

__version__ = "0.1.0"
