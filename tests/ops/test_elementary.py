"""NumPy's ufuncs and choosing functions on nodes, against NumPy itself."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest
import sympy

from gradexplain.autodiff import vjp
from gradexplain.errors import ArgumentError, NoRuleError
from gradexplain.evaluate import evaluate
from gradexplain.graph import constant, variable
from gradexplain.ops import TABLE, elementary
from gradexplain.ops.ordering import where
from gradexplain.primitive import NUMPY

from .differences import assert_same_function, nth_derivative

REAL = [-1.7, -0.3, 0.6, 1.9]
POSITIVE = [0.2, 0.7, 1.0, 3.1]
UNIT = [-0.8, -0.1, 0.3, 0.9]

# fmt: off
UFUNCS = {
    np.exp: REAL, np.exp2: REAL, np.expm1: REAL, np.sinh: REAL, np.cosh: REAL, np.tanh: REAL,
    np.sin: REAL, np.cos: REAL, np.tan: UNIT, np.sinc: [*REAL, 0.0, 0.499, 0.501], np.i0: REAL,
    np.log: POSITIVE, np.log2: POSITIVE, np.log10: POSITIVE, np.log1p: POSITIVE, np.sqrt: POSITIVE,
    np.cbrt: REAL, np.square: REAL, np.reciprocal: REAL, np.positive: REAL, np.negative: REAL,
    np.conjugate: REAL,
    np.arcsin: UNIT, np.arccos: UNIT, np.arctan: REAL, np.arcsinh: REAL, np.arctanh: UNIT,
    np.arccosh: [1.2, 2.0, 5.0],
    np.deg2rad: REAL, np.rad2deg: REAL, np.radians: REAL, np.degrees: REAL,
    np.abs: REAL, np.fabs: REAL, np.sign: REAL, np.floor: REAL, np.ceil: REAL, np.trunc: REAL,
    np.rint: REAL, np.fix: REAL,
}
BINARY = (np.add, np.subtract, np.multiply, np.divide, np.arctan2, np.hypot, np.logaddexp, np.logaddexp2,
          np.copysign, np.maximum, np.minimum, np.fmax, np.fmin, np.fmod, np.mod, np.remainder,
          np.heaviside, np.floor_divide, np.divmod)
# fmt: on
# Of whole numbers, dates and bits; the matrix products have tests of their own.
OTHER = {"bitwise_count", "gcd", "isnat", "lcm", "left_shift", "right_shift", "matmul", "matvec", "vecdot", "vecmat"}


@pytest.mark.parametrize("ufunc", UFUNCS, ids=lambda f: f.__name__)
def test_unary(ufunc):
    for point in (np.array(UFUNCS[ufunc]), UFUNCS[ufunc][0], UFUNCS[ufunc][-1]):
        assert_same_function(NUMPY[ufunc], ufunc, point, step=1e-3 if ufunc in (np.rint,) else 1e-2)


@pytest.mark.parametrize("ufunc", BINARY, ids=lambda f: f.__name__)
def test_binary_with_broadcasting(ufunc):
    row, column = np.array([-1.7, 0.4, 2.2]), np.array([[0.9], [-0.7]])
    assert_same_function(NUMPY[ufunc], ufunc, row, column)
    assert_same_function(NUMPY[ufunc], ufunc, 0.3, 1.1)
    assert_same_function(lambda x: NUMPY[ufunc](x, 0.75), lambda x: ufunc(x, 0.75), row)
    assert_same_function(lambda x: NUMPY[ufunc](0.75, x), lambda x: ufunc(0.75, x), row)


@pytest.mark.parametrize("ufunc", [np.power, np.float_power], ids=lambda f: f.__name__)
def test_power(ufunc):
    assert_same_function(NUMPY[ufunc], ufunc, np.array([0.4, 1.3]), np.array([[-1.2], [2.5]]))
    assert_same_function(lambda x: NUMPY[ufunc](x, 3), lambda x: ufunc(x, 3), np.array([-0.4, 1.3]))


def test_every_ufunc_is_known():
    ufuncs = {f for f in vars(np).values() if isinstance(f, np.ufunc) and f.__name__ not in OTHER}
    assert {f.__name__ for f in ufuncs if f not in NUMPY} == set()


# fmt: off
CHOICES = {
    "clip, both":     (lambda f, x: f(x, -1, 1),                                np.clip),
    "clip, lower":    (lambda f, x: f(x, -1, None),                             np.clip),
    "clip, upper":    (lambda f, x: f(x, a_min=None, a_max=1),                  np.clip),
    "clip, arrays":   (lambda f, x: f(x, [-1, -1, 0, 0], [[1], [1.5]]),         np.clip),
    "where":          (lambda f, x: f([True, False, True, False], x, x**2),     np.where),
    "where, numbers": (lambda f, x: f([0, 1, 2, 0], x, 3.0),                    np.where),
    "select":         (lambda f, x: f([[True] + 3 * [False], [True, True, False, False]], [x, x**2], x**3), np.select),
    "select, default": (lambda f, x: f([[True, False, False, True]], [x]),      np.select),
    "round":          (lambda f, x: f(x),                                       np.round),
    "round, 1":       (lambda f, x: f(x * 1.01, 1),                             np.round),
    "round, -1":      (lambda f, x: f(x * 7, -1),                               np.round),
    "ldexp":          (lambda f, x: f(x, 3),                                    np.ldexp),
    "ldexp, array":   (lambda f, x: f(x, [1, -2, 0, 4]),                        np.ldexp),
    "modf":           (lambda f, x: f(x),                                       np.modf),
    "nan_to_num":     (lambda f, x: f(x, nan=2.0),                              np.nan_to_num),
}
CONDITIONS = {
    "isclose":     (lambda f, x: f(x, [-1.7, 0, 0.6 + 1e-9, 2]),                np.isclose),
    "isclose nan": (lambda f, x: f(x * np.nan, np.nan, equal_nan=True),         np.isclose),
    "allclose":    (lambda f, x: f(x, [-1.7, -0.3, 0.6 + 1e-9, 1.9]),           np.allclose),
    "array_equal": (lambda f, x: f(x, [-1.7, -0.3, 0.6, 1.9]),                  np.array_equal),
    "other shape": (lambda f, x: f(x, [-1.7, -0.3]),                            np.array_equal),
    "isposinf":    (lambda f, x: f(x / [0, 0, 0, 1]),                           np.isposinf),
    "isneginf":    (lambda f, x: f(x / [0, 0, 0, 1]),                           np.isneginf),
    "isinf":       (lambda f, x: f(x / [0, 0, 0, 1]),                           np.isinf),
    "isnan":       (lambda f, x: f(x * [np.nan, 1, 1, 1]),                      np.isnan),
    "isfinite":    (lambda f, x: f(x / [0, 0, 0, 1]),                           np.isfinite),
    "signbit":     (lambda f, x: f(x),                                          np.signbit),
    "logical_xor": (lambda f, x: f([True, True, False, False], x),              np.logical_xor),
    "logical_not": (lambda f, x: f(x),                                          np.logical_not),
}
# fmt: on


@pytest.mark.parametrize(("spelling", "function"), CHOICES.values(), ids=CHOICES)
def test_choice(spelling, function):
    with np.errstate(all="ignore"):
        assert_same_function(
            lambda x: spelling(NUMPY[function], x), lambda x: spelling(function, x), np.array(REAL), step=1e-3
        )


@pytest.mark.parametrize(("spelling", "function"), CONDITIONS.values(), ids=CONDITIONS)
def test_condition(spelling, function):
    x, value = variable("x", (4,)), np.array(REAL)
    node = spelling(NUMPY[function], x)
    with np.errstate(all="ignore"):
        wanted = spelling(function, value)
    assert node.kind == "bool"
    np.testing.assert_array_equal(evaluate([node], {x: value})[0], wanted)


def test_bits_of_conditions():
    a, b = constant(np.array([True, True, False, False])), constant(np.array([True, False, True, False]))
    for ufunc in (np.bitwise_and, np.bitwise_or, np.bitwise_xor):
        np.testing.assert_array_equal(evaluate([NUMPY[ufunc](a, b)], {})[0], ufunc(a.data.array, b.data.array))
    with pytest.raises(NoRuleError, match="bitwise_xor"):
        NUMPY[np.bitwise_xor](variable("x"), 3)


def test_nan_to_num_takes_no_slope_from_infinities():
    x = variable("x", (3,))
    values = {x: np.array([np.nan, np.inf, 2.0])}
    y = NUMPY[np.nan_to_num](x * x)
    result, (gradient,) = evaluate([y], dict(values)), evaluate(vjp(y, [x]), dict(values))
    np.testing.assert_array_equal(result[0], [0, np.finfo(float).max, 4])
    np.testing.assert_array_equal(gradient, [0, 0, 4])


# fmt: off
REFUSED = {
    "frexp":           (lambda x: NUMPY[np.frexp](x),                            NoRuleError),
    "nextafter":       (lambda x: NUMPY[np.nextafter](x, 1.0),                   NoRuleError),
    "spacing":         (lambda x: NUMPY[np.spacing](x),                          NoRuleError),
    "ldexp, traced":   (lambda x: NUMPY[np.ldexp](1.0, x),                       ArgumentError),
    "where, one":      (lambda x: NUMPY[np.where](x),                            NoRuleError),
    "clip, option":    (lambda x: NUMPY[np.clip](x, 0, 1, where=[True]),         NoRuleError),
    "select, lengths": (lambda x: NUMPY[np.select]([[True]], [x, x]),            ArgumentError),
}
# fmt: on


@pytest.mark.parametrize(("call", "error"), REFUSED.values(), ids=REFUSED)
def test_refused(call, error):
    with pytest.raises(error) as raised:
        call(variable("x"))
    assert raised.value.fix


# Any order, also where a quotient would cancel or be 0/0.

DERIVATIVES = {
    "sinc": lambda x: mpmath.quad(lambda t: mpmath.cos(mpmath.pi * x * t), [0, 1]),
    "i0": lambda x: mpmath.besseli(0, x),
    "hypot": lambda x: mpmath.sqrt(x * x + 1),
    "logaddexp": lambda x: mpmath.log(1 + mpmath.exp(x)),
    "tanh": mpmath.tanh,
    "arctan2": lambda x: mpmath.atan(x),
}
ON_NODES = {"hypot": lambda x: elementary.hypot(x, 1), "logaddexp": lambda x: elementary.logaddexp(x, 0),
            "arctan2": lambda x: elementary.arctan2(x, 1)}  # fmt: skip


@pytest.mark.parametrize("order", range(5))
@pytest.mark.parametrize("point", [0.0, 1e-9, -1e-3, 0.3, -0.49, 0.51, 1.0, -7.3])
@pytest.mark.parametrize("name", DERIVATIVES)
def test_high_order(name, point, order):
    with mpmath.workdps(60):
        wanted = float(mpmath.diff(DERIVATIVES[name], mpmath.mpf(point), order))
    result = nth_derivative(ON_NODES.get(name, TABLE.get(name)), point, order)
    np.testing.assert_allclose(result, wanted, rtol=1e-10, atol=1e-10 if order > 1 or name != "sinc" else 1e-16)


def test_sinc_is_precise_near_zero():
    """Where (cos(pi*x) - sinc(x))/x has lost all digits; the slope is -pi**2*x/3."""
    for x in (1e-12, 1e-8, 1e-5):
        np.testing.assert_allclose(nth_derivative(TABLE["sinc"], x, 1), -(np.pi**2) * x / 3, rtol=1e-9)


FORMS = {
    "sinh": "sinh(x)", "arcsin": "asin(x)", "log2": "log(x)/log(2)", "expm1": "exp(x) - 1", "log1p": "log(x + 1)",
    "sinc": "sin(pi*x)/(pi*x)", "exp2": "2**x", "degrees": "180*x/pi", "square": "x**2", "i0": "besseli(0, x)",
}  # fmt: skip


@pytest.mark.parametrize("name", FORMS)
def test_symbolic_form_is_the_natural_one(name):
    symbol, x = TABLE[name].symbol, sympy.Symbol("x", real=True)
    assert str(getattr(sympy, symbol)(x) if isinstance(symbol, str) else symbol(sympy, x)) == FORMS[name]


def test_branch_not_taken_is_silent():
    x = variable("x", (2,))
    y = where(elementary.isnan(elementary.log(x)), 0.0, elementary.log(x))
    (gradient,) = evaluate(vjp(y, [x]), {x: np.array([-1.0, 2.0])})
    np.testing.assert_array_equal(gradient, [0, 0.5])
