"""Python's `math` on nodes, against `math` itself."""

from __future__ import annotations

import math

import numpy as np
import pytest

from gradexplain.autodiff import vjp
from gradexplain.errors import ArgumentError
from gradexplain.evaluate import evaluate
from gradexplain.graph import variable
from gradexplain.ops.mathematics import MATH, UNSUPPORTED

from .differences import assert_same_function

# fmt: off
CALLS = {  # name: operands that are traced, one tuple a call
    "exp": [(0.7,)], "exp2": [(0.7,)], "expm1": [(1e-3,)], "log": [(0.7,), (0.7, 3.0)], "log2": [(0.7,)],
    "log10": [(0.7,)], "log1p": [(1e-3,)], "sqrt": [(0.7,)], "cbrt": [(-0.7,)], "pow": [(0.7, 1.3)],
    "sin": [(0.7,)], "cos": [(0.7,)], "tan": [(0.7,)], "degrees": [(0.7,)], "radians": [(0.7,)],
    "asin": [(0.7,)], "acos": [(0.7,)], "atan": [(0.7,)], "atan2": [(0.7, -1.3)],
    "sinh": [(0.7,)], "cosh": [(0.7,)], "tanh": [(0.7,)], "asinh": [(0.7,)], "acosh": [(1.7,)], "atanh": [(0.7,)],
    "erf": [(0.7,)], "erfc": [(0.7,)], "gamma": [(0.7,), (-1.3,)], "lgamma": [(0.7,), (-1.3,)],
    "hypot": [(), (-0.7,), (0.7, -1.3), (0.7, -1.3, 0.2, 5.0)],
    "fabs": [(-0.7,)], "copysign": [(-0.7, 1.3), (0.7, -1.3)], "floor": [(-0.7,)], "ceil": [(-0.7,)],
    "trunc": [(-0.7,)],
    "fmod": [(-7.3, 2.0)], "remainder": [(7.3, 2.0), (6.7, -2.0)], "modf": [(-2.7,)], "fma": [(0.7, 1.3, -0.2)],
    "isnan": [(0.7,)], "isinf": [(0.7,)], "isfinite": [(0.7,)], "isclose": [(0.7, 0.7), (0.7, 0.8)],
}
SPELLINGS = {  # calls that take more than numbers
    "ldexp":          (lambda m, x, y: m["ldexp"](x, 3)),
    "dist":           (lambda m, x, y: m["dist"]([x, 1.0, y], (0.5, y, 2.0))),
    "prod":           (lambda m, x, y: m["prod"]([x, 2, y, x])),
    "prod, start":    (lambda m, x, y: m["prod"](iter([x, y]), start=3)),
    "prod, empty":    (lambda m, x, y: m["prod"]([], start=x)),
    "fsum":           (lambda m, x, y: m["fsum"](t * t for t in (x, y, 1.5))),
    "isclose, far":   (lambda m, x, y: m["isclose"](x, y, rel_tol=0.5, abs_tol=10)),
    "log, base 2":    (lambda m, x, y: m["log"](x, 2)),
    "log, of number": (lambda m, x, y: m["log"](3.0, x)),
}
# fmt: on
CONSTANTS = {"e", "inf", "nan", "pi", "tau"}
FUNCTIONS = {n for n in vars(math) if not n.startswith("_")} - CONSTANTS


def test_every_function_is_supported_or_refused_with_a_reason():
    assert not FUNCTIONS - MATH.keys() - UNSUPPORTED.keys()
    assert not MATH.keys() & UNSUPPORTED.keys()
    assert all(UNSUPPORTED.values())


def test_every_function_is_tested():
    assert not MATH.keys() - CALLS.keys() - SPELLINGS.keys() - {"sumprod"}


@pytest.mark.parametrize("name", sorted(CALLS.keys() & FUNCTIONS))
def test_call(name):
    for operands in CALLS[name]:
        assert_same_function(MATH[name], getattr(math, name), *operands, step=1e-3)


@pytest.mark.parametrize("spelling", SPELLINGS.values(), ids=SPELLINGS)
def test_spelling(spelling):
    assert_same_function(
        lambda x, y: spelling(MATH, x, y), lambda x, y: spelling(vars(math), x, y), 0.7, 1.3, step=1e-3
    )


def test_functions_of_newer_pythons():
    x, y = variable("x"), variable("y")
    values = {x: np.float64(2.0), y: np.float64(3.0)}
    for node, value, gradient in ((MATH["sumprod"]([x, y], [4.0, x]), 14, (7, 2)), (MATH["fma"](x, y, x), 8, (4, 2))):
        assert evaluate([node, *vjp(node, [x, y])], dict(values)) == [value, *gradient]


def test_arrays_are_refused_as_math_does():
    x = variable("x", (3,))
    for name in MATH.keys() - {"prod", "fsum", "dist", "sumprod"}:
        with pytest.raises(ArgumentError, match=f"math.{name} takes numbers"):
            MATH[name](x)
        with pytest.raises(ArgumentError, match=f"math.{name} takes numbers"):
            MATH[name]([variable("y")])


@pytest.mark.parametrize("name", ["dist", "sumprod"])
def test_sequences_of_different_lengths(name):
    with pytest.raises(ArgumentError, match="of one length"):
        MATH[name]([variable("x"), 1.0], [2.0])


def test_rows_are_applied_as_they_stand():
    """A program is kept as it was written: math.pow(x, 1) is not x."""
    assert MATH["pow"](variable("x"), 1).op.name == "pow"


def test_length_at_the_origin():
    xs = [variable(n) for n in "xyz"]
    gradients = evaluate(vjp(MATH["hypot"](*xs), xs), dict.fromkeys(xs, np.float64(0)))
    np.testing.assert_array_equal(gradients, [0, 0, 0])
