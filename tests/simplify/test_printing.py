"""Formulas as text that Python reads, as NumPy source that runs, and as LaTeX."""

import ast
import math

import numpy as np
import pytest
import sympy as sp

from gradexplain.simplify.printing import latex, numpy_source, text

x, y = sp.symbols("x y", real=True)
P = sp.Piecewise

# fmt: off
CASES = [  # expression, text, NumPy source
    (sp.sin(x) / 3, "sin(x)/3", "np.sin(x)/3"),
    (1 / x, "1/x", "1/x"),
    (1 / (sp.exp(x) + 1), "1/(exp(x) + 1)", "1/(np.exp(x) + 1)"),
    ((1 / x) ** y, "(1/x)**y", "(1/x)**y"),
    (x ** (1 / y), "x**(1/y)", "x**(1/y)"),
    (sp.sqrt(x) * sp.Abs(y), "sqrt(x)*abs(y)", "np.sqrt(x)*abs(y)"),
    (sp.pi * sp.E**x + sp.EulerGamma, "pi*exp(x) + EulerGamma", "np.pi*np.exp(x) + np.euler_gamma"),
    (sp.Float("1.0507") * x, "1.0507*x", "1.0507*x"),
    (sp.Float(0.1, 60) * x, "0.1*x", "0.1*x"),
    (sp.Max(x, y, 1), "max(1, x, y)", "np.maximum(1, np.maximum(x, y))"),
    (sp.Min(x, y), "min(x, y)", "np.minimum(x, y)"),
    (P((2 * x, x > 0), (-1, True)), "2*x if x > 0 else -1", "np.where(x > 0, 2*x, -1)"),
    (y * P((1, x > 0), (y, x > -1), (0, True)), "y*(1 if x > 0 else y if x > -1 else 0)",
     "y*np.where(x > 0, 1, np.where(x > -1, y, 0))"),
    (P((1, x > 0)), "1 if x > 0 else nan", "np.where(x > 0, 1, np.nan)"),
    (y + P((1, x > 0)), "y + (1 if x > 0 else nan)", "y + np.where(x > 0, 1, np.nan)"),
    (P((1, (x > 0) & ((y < 1) | (y > 2))), (2, True)), "1 if (y > 2 or y < 1) and x > 0 else 2",
     "np.where(np.logical_and(x > 0, np.logical_or(y > 2, y < 1)), 1, 2)"),
    (P((1, sp.Or(x > 0, sp.Ne(y, 1))), (2, True)), "1 if x > 0 or y != 1 else 2",
     "np.where(np.logical_or(x > 0, y != 1), 1, 2)"),
    (P((1, sp.Eq(x, 1)), (2, True)), "1 if x == 1 else 2", "np.where(x == 1, 1, 2)"),
    (P((1, sp.ITE(x > 0, y > 0, y < 1)), (2, True)), "1 if (y > 0 if x > 0 else y < 1) else 2",
     "np.where(np.where(x > 0, y > 0, y < 1), 1, 2)"),
    (P((1, sp.Not(sp.ITE(x > 0, y > 0, y < 1))), (2, True)), "1 if not (y > 0 if x > 0 else y < 1) else 2",
     "np.where(np.logical_not(np.where(x > 0, y > 0, y < 1)), 1, 2)"),
    (P((sp.zoo, x > 0), (sp.nan, x < -1), (sp.oo, x < 0), (-sp.oo, True)),
     "nan if x > 0 else nan if x < -1 else inf if x < 0 else -inf",
     "np.where(x > 0, np.nan, np.where(x < -1, np.nan, np.where(x < 0, np.inf, -np.inf)))"),
    (sp.ceiling(x) + sp.floor(x), "ceil(x) + floor(x)", "np.ceil(x) + np.floor(x)"),
    (sp.Mod(x, 3) * 2, "2*(x % 3)", "2*(np.mod(x, 3))"),
    (sp.Mod(x + 1, y), "(x + 1) % y", "np.mod(x + 1, y)"),
    (sp.sign(x) * sp.atan2(y, x), "atan2(y, x)*sign(x)", "np.arctan2(y, x)*np.sign(x)"),
    (sp.gamma(x) * sp.polygamma(0, x), "gamma(x)*digamma(x)", "scipy.special.gamma(x)*scipy.special.polygamma(0, x)"),
    (sp.polygamma(1, x), "polygamma(1, x)", "scipy.special.polygamma(1, x)"),
    (sp.erf(x) + sp.loggamma(x), "erf(x) + loggamma(x)", "scipy.special.erf(x) + scipy.special.gammaln(x)"),
]
# fmt: on


@pytest.mark.parametrize(("expr", "as_text", "as_source"), CASES)
def test_text_and_source(expr, as_text, as_source):
    assert text(expr) == as_text
    assert numpy_source(expr) == as_source


NAMES = {"abs": abs, "max": max, "min": min, "nan": math.nan, "inf": math.inf, "pi": math.pi, "floor": math.floor,
         "ceil": math.ceil, "sqrt": math.sqrt, "exp": math.exp, "sin": math.sin, "EulerGamma": 0.5772156649015329,
         "sign": np.sign, "atan2": math.atan2, "gamma": math.gamma, "erf": math.erf}  # fmt: skip


@pytest.mark.parametrize(("expr", "as_text", "as_source"), [c for c in CASES if "gamma(" not in c[1]])
def test_text_and_source_have_the_same_value(expr, as_text, as_source):
    import scipy

    for point in ({"x": 0.7, "y": 1.3}, {"x": 1.0, "y": 0.4}, {"x": 2.5, "y": 2.5}):
        mine = eval(as_text, NAMES | point)
        theirs = eval(as_source, {"np": np, "scipy": scipy} | {n: np.float64(v) for n, v in point.items()})
        np.testing.assert_allclose(mine, theirs)


def test_source_works_on_arrays():
    xs = np.array([-2.0, 0.5, 3.0])
    source = numpy_source(P((1 / x, (x > 0) & (x < 1)), (sp.Max(x, 1), True)))
    np.testing.assert_allclose(eval(source, {"np": np, "x": xs}), [1, 2, 3])


def test_names_can_be_entries_of_arrays():
    assert numpy_source(x * y, {"x": "v[0]"}) == "v[0]*y"


@pytest.mark.parametrize(
    ("expr", "shown"),
    [
        (sp.Symbol("theta_1") * sp.Symbol("a_b_c"), r"\theta"),
        (sp.Float(0.1, 60) * x, "0.1 x"),
        (sp.polygamma(0, x), r"\psi{\left(x \right)}"),
        (sp.polygamma(2, x), r"\psi^{\left(2\right)}"),
        (P((sp.zoo, x > 0), (1, True)), r"\text{undefined}"),
        (P((1, sp.ITE(x > 0, y > 0, y < 1)), (2, True)), r"x > 0 \wedge y > 0"),
    ],
)
def test_latex(expr, shown):
    assert shown in latex(expr)
    assert "ITE" not in latex(expr)


@pytest.mark.parametrize(("expr", "as_text", "as_source"), CASES)
def test_all_source_is_python(expr, as_text, as_source):
    ast.parse(as_source)
    ast.parse(as_text)
    assert latex(expr).count("{") == latex(expr).count("}")


def test_logarithms_of_functions_that_underflow_are_functions_of_their_own():
    assert numpy_source(sp.log(sp.Abs(sp.beta(x, y)))) == "scipy.special.betaln(x, y)"
    assert numpy_source(sp.log(sp.Abs(x))) == "np.log(abs(x))"
