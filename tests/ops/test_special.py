"""SciPy's special functions on nodes, against SciPy; with and without SciPy installed."""

from __future__ import annotations

import math
import subprocess
import sys
from dataclasses import replace

import mpmath
import numpy as np
import pytest
import scipy.special

from gradexplain.autodiff import vjp
from gradexplain.errors import ArgumentError, NoRuleError
from gradexplain.evaluate import evaluate
from gradexplain.graph import Domain, variable
from gradexplain.ops import TABLE, special
from gradexplain.ops.special import SPECIAL

from . import row_checks
from .differences import assert_same_function, nth_derivative

REAL = np.array([-1.7, -0.3, 0.6, 1.9])
POSITIVE = np.array([0.3, 0.7, 1.0, 3.1])
UNIT = np.array([0.05, 0.3, 0.5, 0.9])

# fmt: off
FUNCTIONS = {
    "erf": REAL, "erfc": REAL, "ndtr": REAL, "expit": REAL, "log_expit": REAL, "i0": REAL, "i1": REAL, "sinc": REAL,
    "cbrt": REAL, "exp2": REAL, "expm1": REAL, "log1p": POSITIVE, "erfinv": UNIT, "logit": UNIT, "entr": POSITIVE,
    "gamma": POSITIVE, "gammaln": POSITIVE, "loggamma": POSITIVE, "digamma": POSITIVE, "psi": POSITIVE,
}
TWO = {"beta": (POSITIVE, 0.8), "betaln": (POSITIVE, 2.5), "xlogy": (REAL, POSITIVE), "xlog1py": (REAL, POSITIVE),
       "rel_entr": (POSITIVE, POSITIVE[::-1]), "kl_div": (POSITIVE, POSITIVE[::-1])}
MATRIX = np.array([[0.3, -1.2, 2.0], [1.1, 0.4, -0.7]])
ALONG = {
    "all": {}, "rows": {"axis": 1}, "columns": {"axis": 0}, "last": {"axis": -1}, "both": {"axis": (0, 1)},
}
# fmt: on


@pytest.mark.parametrize("name", FUNCTIONS)
def test_one_operand(name):
    for point in (FUNCTIONS[name], FUNCTIONS[name][1]):
        assert_same_function(SPECIAL[name], getattr(scipy.special, name), point)


@pytest.mark.parametrize("name", TWO)
def test_two_operands(name):
    assert_same_function(SPECIAL[name], getattr(scipy.special, name), *TWO[name])
    assert_same_function(SPECIAL[name], getattr(scipy.special, name), 0.7, 0.4)


@pytest.mark.parametrize("order", [0, 1, 3])
@pytest.mark.parametrize("name", ["polygamma", "iv"])
def test_order(name, order):
    assert_same_function(
        lambda x: SPECIAL[name](order, x), lambda x: getattr(scipy.special, name)(order, x), POSITIVE, value_rtol=1e-12
    )


@pytest.mark.parametrize("options", ALONG.values(), ids=ALONG)
@pytest.mark.parametrize("name", ["logsumexp", "softmax", "log_softmax"])
def test_along_axes(name, options):
    assert_same_function(
        lambda x: SPECIAL[name](x, **options), lambda x: getattr(scipy.special, name)(x, **options), MATRIX
    )


@pytest.mark.parametrize("keepdims", [False, True])
@pytest.mark.parametrize("axis", [None, 1, (0, 1)])
def test_logsumexp_keepdims_and_weights(axis, keepdims):
    for b in (None, 2.5, np.array([[0.0, 1.0, 3.0]])):
        assert_same_function(
            lambda x, b=b: SPECIAL["logsumexp"](x, axis=axis, b=b, keepdims=keepdims),
            lambda x, b=b: scipy.special.logsumexp(x, axis=axis, b=b, keepdims=keepdims),
            MATRIX,
        )


def test_scalar_logsumexp_is_the_number():
    assert_same_function(SPECIAL["logsumexp"], scipy.special.logsumexp, 0.3)


# fmt: off
STABLE = {  # name: (function, operands, gradients)
    "logsumexp, large": (special.logsumexp, [[1000.0, 0.0, 1000.0]],   [[0.5, 0, 0.5]]),
    "logsumexp, -inf":  (special.logsumexp, [[0.0, -np.inf]],          [[1, 0]]),
    "softmax, large":   (lambda x: special.softmax(x)[0], [[900.0, 900.0]], [[0.25, -0.25]]),
    "expit, large":     (special.expit,     [40.0],                    [np.exp(-40.0)]),
    "expit, small":     (special.expit,     [-800.0],                  [0]),
    "xlogy, zero":      (special.xlogy,     [0.0, 2.0],                [np.log(2), 0]),
    "xlog1py, zero":    (special.xlog1py,   [0.0, 2.0],                [np.log(3), 0]),
    "log_expit, large": (special.log_expit, [800.0],                   [0]),
    "erf, tail":        (special.erf,       [8.0],                     [2 * np.exp(-64.0) / np.sqrt(np.pi)]),
}
# fmt: on


@pytest.mark.parametrize(("function", "point", "expected"), STABLE.values(), ids=STABLE)
def test_extreme_points(function, point, expected):
    values = [np.asarray(p)[()] for p in point]
    variables = [variable("x", np.shape(v)) for v in values]
    gradients = evaluate(vjp(function(*variables), variables), dict(zip(variables, values, strict=True)))
    for gradient, wanted in zip(gradients, expected, strict=True):
        np.testing.assert_allclose(gradient, wanted, rtol=1e-12)


# The rows that have an order, at orders that the table does not sample.

ORDERED = ("polygamma", "besseli", "sinc_derivative")
CHECKS = (row_checks.check_numpy_text, row_checks.check_exact, row_checks.check_symbol, row_checks.check_vjp,
          row_checks.check_second_order)  # fmt: skip


@pytest.mark.parametrize("check", CHECKS, ids=lambda c: c.__name__)
@pytest.mark.parametrize("order", [0, 2, 3, 4])
@pytest.mark.parametrize("name", ORDERED)
def test_row_at_order(name, order, check):
    row = TABLE[name]
    for case in row_checks.cases(replace(row, domains=(Domain(order, order), row.domains[1]))):
        if case.is_scalar or check is not row_checks.check_symbol:
            check(case)


@pytest.mark.parametrize("point", [0.0, 1e-9, -0.02, 1.5, -8.0, 30.0, 600.0])
@pytest.mark.parametrize("order", range(4))
def test_bessel(order, point):
    wanted = scipy.special.iv(order, point)
    np.testing.assert_allclose(TABLE["besseli"].value(order, point), wanted, rtol=1e-12, atol=1e-15)
    wanted = scipy.special.ivp(0, point, order)
    np.testing.assert_allclose(nth_derivative(TABLE["i0"], point, order), wanted, rtol=1e-12, atol=1e-15)


def test_high_order_of_gamma_and_erf():
    for order in range(5):
        for name, function in {"gamma": mpmath.gamma, "lgamma": mpmath.loggamma, "erf": mpmath.erf}.items():
            with mpmath.workdps(50):
                wanted = float(mpmath.diff(function, mpmath.mpf("1.3"), order))
            np.testing.assert_allclose(nth_derivative(TABLE[name], 1.3, order), wanted, rtol=1e-10)


# Without SciPy

FROM_SCIPY = {
    "erf": REAL, "erfc": REAL, "erfinv": UNIT, "gamma": REAL, "lgamma": REAL, "digamma": REAL,
    "beta": POSITIVE, "betaln": POSITIVE,
}  # fmt: skip


@pytest.mark.parametrize("name", FROM_SCIPY)
def test_value_without_scipy(name, monkeypatch):
    row, x = TABLE[name], FROM_SCIPY[name]
    operands = [x] * len(row.partials)
    expected, one = row.value(*operands), row.value(*[x[1] for x in operands])
    monkeypatch.setattr(special, "_scipy_special", lambda: None)
    np.testing.assert_allclose(row.value(*operands), expected, rtol=1e-13)
    np.testing.assert_allclose(row.value(*[x[1] for x in operands]), one, rtol=1e-13)
    np.testing.assert_allclose(one, expected[1], rtol=1e-13)


def test_polygamma_without_scipy(monkeypatch):
    monkeypatch.setattr(special, "_scipy_special", lambda: None)
    result = TABLE["polygamma"].value(2.0, POSITIVE)
    np.testing.assert_allclose(result, scipy.special.polygamma(2, POSITIVE), rtol=1e-13)


@pytest.mark.parametrize(("name", "x"), [("gamma", -1.0), ("lgamma", 0.0), ("digamma", -1.0), ("gamma", 200.0)])
def test_poles_and_overflow_are_scipys(name, x, monkeypatch):
    expected = getattr(scipy.special, {"lgamma": "gammaln"}.get(name, name))(x)
    np.testing.assert_equal(TABLE[name].value(x), expected)
    monkeypatch.setattr(special, "_scipy_special", lambda: None)
    np.testing.assert_equal(TABLE[name].value(x), expected)


def test_scipy_is_not_imported_with_the_table():
    program = "import gradexplain.ops, sys; print('scipy' in sys.modules)"
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "False"


REFUSED = {
    "sign": (lambda x: SPECIAL["logsumexp"](x, return_sign=True), NoRuleError),
    "array of orders": (lambda x: evaluate([SPECIAL["iv"]([0, 1], x)], {x: np.ones(2)}), ArgumentError),
    "broken order": (lambda x: evaluate([SPECIAL["iv"](0.5, x)], {x: np.ones(2)}), ArgumentError),
}


@pytest.mark.parametrize(("call", "error"), REFUSED.values(), ids=REFUSED)
def test_refused(call, error):
    with pytest.raises(error) as raised:
        call(variable("x", (2,)))
    assert raised.value.fix


@pytest.mark.parametrize("order", [1, 2, 3])
def test_polygamma_far_to_the_left_takes_no_step_for_each_pole(order):
    exact = TABLE["polygamma"].exact
    with mpmath.workdps(60):
        near, far = mpmath.mpf("-1000.3"), mpmath.mpf("-2e6") - mpmath.mpf("0.3")
        assert mpmath.almosteq(exact(mpmath, order, near), mpmath.polygamma(order, near), mpmath.mpf(10) ** -40)
        step = (-1) ** order * math.factorial(order) / far ** (order + 1)
        assert mpmath.almosteq(exact(mpmath, order, far), exact(mpmath, order, far + 1) - step, mpmath.mpf(10) ** -40)


def test_polygamma_of_arrays_far_to_the_left():
    x = np.array([-2000.25, -1.5, 2.5, -3e9 - 0.25])
    found = special.polygamma.value(1, x)  # SciPy's is wrong at the first of them, and does not end at the last
    assert np.allclose(found[:3], [float(mpmath.polygamma(1, v)) for v in x[:3]], rtol=1e-12)
    assert np.isclose(found[3], (np.pi / np.sin(np.pi * 0.25)) ** 2 - 1 / 3e9, rtol=1e-9)
    assert np.isnan(special.polygamma.value(1, -5e8))
