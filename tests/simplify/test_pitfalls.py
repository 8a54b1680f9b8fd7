"""SymPy calls that give what no reader may see, and the closed forms that are right all the same.

A row for every row of docs/sympy-pitfalls.md. Where a newer SymPy answers rightly the test says so and passes: then the
row can go.
"""

import re
from pathlib import Path

import mpmath as mp
import numpy as np
import pytest
import sympy as sp

import gradexplain as gx
from gradexplain.simplify.numeric import value
from gradexplain.simplify.watchdog import within
from tests.simplify.comparing import against_quotients
from tests.simplify.random_programs import function

PAGE = Path(__file__).parents[2] / "docs" / "sympy-pitfalls.md"
PATIENCE = 0.5  # seconds of work
x, y = sp.symbols("x y", real=True)
z = sp.Symbol("z")
p = sp.Symbol("p", positive=True)
F = sp.MatrixSymbol("F", 3, 3)


def endless(call):
    """Whether a call has not come to an end after a while."""
    return within(PATIENCE, lambda: (call(),)) is None


def failing(error, call):
    """Whether a call raises an error."""
    try:
        call()
    except error:
        return True
    return False


def nested(depth):
    expr = x
    for _ in range(depth):
        expr = sp.sin(expr)
    return expr


def many_branches(count):
    w = sp.symbols(f"w:{count}", real=True)
    return sp.Mul(*(sp.Piecewise((x**k, v > x), (v, True)) for k, v in enumerate(w)))


def undefined_condition():
    inner = sp.Piecewise((sp.log(x), x > 0), (sp.nan, True))
    return sp.Piecewise((1, inner > 0), (2, True))


POWERS = 400 * (x + 1) ** 399 * (x - 1) ** 400 + 400 * (x + 1) ** 400 * (x - 1) ** 399

RAW = {  # name of the row -> whether SymPy still gives that
    "modulus": lambda: sp.Abs(z).diff(z).has(sp.re, sp.im, sp.Derivative),
    "sign": lambda: sp.sign(x).diff(x).has(sp.DiracDelta),
    "maximum": lambda: sp.Max(x, y).diff(x).has(sp.Heaviside),
    "floor": lambda: sp.floor(x**2).diff(x).has(sp.Subs),
    "remainder": lambda: sp.Mod(x, 2).diff(x).has(sp.Derivative),
    "forced logarithm": lambda: sp.expand_log(sp.log(x**2), force=True) == 2 * sp.log(x),
    "forced root": lambda: sp.powdenest(sp.sqrt(z**2), force=True) == z,
    "forced inverse": lambda: sp.simplify(sp.asin(sp.sin(x)), inverse=True) == x,
    "log-gamma": lambda: not sp.N(sp.loggamma(sp.Rational(-3, 2))).is_real,
    "cube root": lambda: not sp.N(sp.cbrt(sp.Integer(-8))).is_real,
    "root of a negative": lambda: sp.sqrt(-p) == sp.I * sp.sqrt(p),
    "quotient of zeros": lambda: (x / y).subs({x: 0, y: 0}) == 0,
    "zero times log": lambda: (x * sp.log(y)).subs({x: 0, y: 0}) == 0,
    "undefined branch": lambda: sp.Piecewise((sp.nan, x > 0), (2, True)).diff(x) == 0,
    "comparison with infinity": lambda: failing(TypeError, lambda: sp.Gt(sp.zoo, 1)),
    "maximum with infinity": lambda: failing(ValueError, lambda: sp.Max(sp.zoo, 1)),
    "undefined condition": lambda: failing(TypeError, undefined_condition),
    "isolated point": lambda: sp.sinc(x).diff(x).subs(x, 0) is sp.nan,
    "decimals": lambda: str(sp.factor(0.1 * x + 0.2 * y)) == "0.2*(0.5*x + 1.0*y)",
    "decimal exponent": lambda: str((x**2.0).diff(x)) == "2.0*x**1.0",
    "digits": lambda: float(str(sp.Float(6864377.1727447035))) != 6864377.1727447035,
    "vocabulary": lambda: sp.simplify(sp.exp(-x) / (1 + sp.exp(-x)) ** 2).has(sp.cosh),
    "names": lambda: sp.sympify("I**2*E") == -sp.E,
    "text as a program": lambda: failing(AttributeError, lambda: sp.Integer(1) == ("s", "np.tanh(x)")),
    "trace": lambda: str((sp.Trace(F.T * F) - 3).diff(F)) == "0",
    "determinant": lambda: str(sp.log(sp.Determinant(F)).diff(F)) == "0",
    "unknown function": lambda: (
        "Not supported" in sp.printing.numpy.SciPyPrinter({"strict": False}).doprint(sp.erfinv(x))
    ),
    "high powers": lambda: endless(lambda: sp.cancel(POWERS)),
    "power in an angle": lambda: endless(lambda: sp.trigsimp(-8 * (x + 2) ** 7 * sp.sin((x + 2) ** 8))),
    "many angles": lambda: endless(lambda: sp.trigsimp(sp.Mul(*(sp.cos(v) for v in sp.symbols("x:12"))))),
    "towers": lambda: endless(lambda: sp.floor(sp.exp(sp.exp(sp.exp(3))))),
    "many branches": lambda: endless(lambda: sp.piecewise_fold(many_branches(10))),
    "deep nests": lambda: failing(RecursionError, lambda: str(nested(300))),
}

PROGRAMS = {  # name of the row -> the body of a function of x and y whose closed form the call would have spoilt
    "modulus": "abs(x)*y",
    "sign": "np.sign(x)*x**2*y",
    "maximum": "np.maximum(x, y)*x",
    "floor": "np.floor(x**2)*y",
    "remainder": "(x % 2)**2*y",
    "forced logarithm": "np.log(x**2)*x",
    "forced root": "np.sqrt(x**2)*y",
    "forced inverse": "np.arcsin(np.sin(x))*y",
    "log-gamma": "math.lgamma(x)*x",
    "cube root": "np.cbrt(x)*y",
    "root of a negative": "np.where(x < 0, np.sqrt(-x), x)*y",
    "quotient of zeros": "x/y",
    "zero times log": "x*np.log(y)",
    "undefined branch": "np.where(x > 0, np.log(x - 3), 2)*y",
    "comparison with infinity": "np.log(np.heaviside(x, 0.5)*y)",
    "maximum with infinity": "np.maximum(x, 1/np.where(y > 0, y, 0))",
    "undefined condition": "np.where(np.where(x > 0, np.log(x), np.nan) > 0, x*y, y**2)",
    "isolated point": "1.0*y if x == 0 else np.sin(x)/x*y",
    "decimals": "0.1*x**2 + 0.2*x*y",
    "decimal exponent": "x**2.0*y",
    "digits": "1.3**60*x**2*y",
    "vocabulary": "1/(1 + np.exp(-x))*y",
    "unknown function": "special.erfinv(x/10)*y",
    "high powers": "(x + 1)**400*(x - 1)**400",
    "power in an angle": "np.cos((x + 2)**8)",
    "many angles": "*".join(f"np.cos({k}*x + y)" for k in range(1, 12)),
    "towers": "np.exp(np.exp(np.exp(x)))*y",
    "many branches": "*".join(f"np.where(y > {k} + x, x**{k + 1}, y)" for k in range(10)),
}


@pytest.mark.parametrize("name", RAW)
def test_what_sympy_does(name):
    if not RAW[name]():
        pytest.skip(f"SymPy {sp.__version__} no longer gives that: see the row '{name}' of docs/sympy-pitfalls.md")


@pytest.mark.parametrize("name", PROGRAMS)
def test_what_the_closed_form_is(name):
    source = f"def f(x, y):\n    return {PROGRAMS[name]}\n"
    program = function(source, name)
    explanation = gx.explain(program)
    compared, wrong = against_quotients(source, program, explanation, 2, count=3)
    assert wrong == []
    assert compared
    for form in explanation.gradients.values():
        assert form.notes == ()
        assert not form.expr.has(sp.Heaviside, sp.DiracDelta, sp.Derivative, sp.Subs, sp.re, sp.im, sp.I)


def test_values_are_put_in_all_at_once():
    zeros = {"x": 0, "y": 0}
    assert mp.isnan(value(x / y, zeros))
    assert not mp.isfinite(value(x * sp.log(y), zeros))


def test_names_are_symbols_and_nothing_else():
    e = gx.explain(lambda I, E: I**2 * E, 2.0, 3.0)  # noqa: E741
    assert e["I"].text == "2*I*E"
    assert e.gradient_values["I"] == 12


def test_matrices_are_never_differentiated_by_sympy():
    A = np.array([[2.0, 1.0, 0.0], [0.5, 3.0, 1.0], [0.0, 1.0, 4.0]])
    np.testing.assert_allclose(gx.grad(lambda F: np.trace(F.T @ F) - 3)(A), 2 * A)
    np.testing.assert_allclose(gx.grad(lambda F: np.log(np.linalg.det(F)))(A), np.linalg.inv(A).T)


def test_deep_nests_are_written_in_parts():
    def nest(x):
        for _ in range(300):
            x = np.sin(x)
        return x

    assert len(gx.explain(nest, 0.5)["x"].where) > 200


def rows():
    return re.findall(r"^\| \*\*(.+?)\*\* \|", PAGE.read_text(encoding="utf-8"), re.MULTILINE)


def test_the_page_and_the_tests_have_the_same_rows():
    elsewhere = {"names", "text as a program", "trace", "determinant", "deep nests"}  # tests of their own, above
    assert rows() == list(RAW)
    assert set(RAW) - set(PROGRAMS) == elsewhere


def test_guards_are_where_the_page_says():
    text = PAGE.read_text(encoding="utf-8")
    guards = "".join(line.rsplit("|", 2)[1] for line in text.splitlines() if line.startswith("| **"))
    names = re.findall(r"`([a-z_]+(?:/[a-z_]+)?)\.([A-Za-z_.]+)`", guards)
    assert len(names) >= len(RAW) - 3
    for module, name in names:
        path = PAGE.parents[1] / "gradexplain" / f"{module}.py"
        assert re.search(rf"\b{name.split('.')[-1]}\b", path.read_text(encoding="utf-8")), f"{module}.{name}"
