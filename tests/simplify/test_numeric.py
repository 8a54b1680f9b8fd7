"""SymPy expressions on mpmath numbers: right, undefined where they are, and never simplified on the way."""

import mpmath as mp
import pytest
import sympy as sp

from gradexplain.ops.arithmetic import exact_power
from gradexplain.simplify.numeric import UnknownFunctionError, of_real_numbers, rounded, substituted, value

x, y = sp.symbols("x y", real=True)
TABLE = {"x": mp.mpf("0.7"), "y": mp.mpf("-1.3")}
NAMES = (
    "exp sin cos tan cot sec csc sinh cosh tanh coth sech csch asin acos atan asinh atanh floor ceiling erf erfc erfi "
    "gamma loggamma digamma zeta log Abs sign LambertW sinc"
)


@pytest.mark.parametrize("name", NAMES.split())
def test_functions(name):
    expr = getattr(sp, name)(x)
    assert float(mp.re(value(expr, TABLE))) == pytest.approx(float(expr.subs(x, sp.Rational(7, 10))), rel=1e-14)


@pytest.mark.parametrize(
    "expr",
    [
        x**2 * y - 3 / y, x**y, (-y) ** x, sp.Max(x, y, 0), sp.Min(x, y), sp.atan2(y, x), sp.beta(x, 2),
        sp.besseli(1, x), sp.pi * sp.E + sp.EulerGamma + sp.Catalan, sp.Float("0.1") * x, sp.sqrt(2) * x,
        sp.acosh(x + 1), sp.polygamma(1, x),
        sp.Piecewise((1, x < y), (x, (x > 0) & (y < 0)), (3, True)), sp.Piecewise((1, sp.Or(x < 0, y > 0)), (2, True)),
        sp.Piecewise((1, sp.Ne(x, y)), (2, True)), sp.Piecewise((1, sp.ITE(x > 0, y > 0, y < 0)), (2, True)),
        sp.Piecewise((1, sp.Not(sp.ITE(x > 0, y > 0, y < 0))), (2, True)),
    ],
)  # fmt: skip
def test_expressions(expr):
    expected = expr.subs({x: sp.Rational(7, 10), y: sp.Rational(-13, 10)})
    assert float(value(expr, TABLE)) == pytest.approx(float(expected), rel=1e-14)


@pytest.mark.parametrize(
    "expr",
    [
        1 / (x - sp.Rational(7, 10)), sp.log(x - sp.Rational(7, 10)),
        sp.nan * 1, sp.zoo * 1, sp.Piecewise((1, x < 0)), sp.gamma(x - sp.Rational(7, 10)), sp.oo - sp.oo,
    ],
)  # fmt: skip
def test_undefined(expr):
    with mp.workdps(30):
        found = value(expr, {"x": mp.mpf(7) / 10, "y": mp.mpf(1)})
    assert not mp.isfinite(found)


def test_a_quotient_is_one_division():
    """x*(1/x) can be 0.999…, the floor of which is 0."""
    with mp.workdps(20):
        for k in range(1, 200):
            assert value(sp.floor(sp.Mul(y, 1 / x, evaluate=False)), {"x": mp.mpf(k) / 7, "y": mp.mpf(k) / 7}) == 1


def test_comparisons_with_what_is_not_real_do_not_hold():
    table = {"x": mp.mpf(-2)}
    for relation in (sp.Lt, sp.Le, sp.Gt, sp.Ge):
        assert value(sp.Piecewise((1, relation(sp.sqrt(x), 0, evaluate=False)), (2, True)), table) == 2
    assert mp.isnan(value(sp.floor(sp.sqrt(x)), table))
    assert mp.isnan(value(sp.atan2(sp.sqrt(x), 1), table))


def test_huge_exponents_and_values_take_no_time():
    assert value(sp.Pow(sp.Float("0.5"), sp.exp(x)), {"x": mp.mpf(60)}) < 1e-300
    assert value(sp.exp(sp.exp(sp.exp(sp.exp(x)))), {"x": mp.mpf(5)}) == mp.inf
    assert value(sp.Pow(x, 10**7 + 1, evaluate=False), {"x": mp.mpf(-1)}) == -1
    assert value(sp.Pow(x, 10**7, evaluate=False), {"x": mp.mpf(-1)}) == 1


def test_powers_of_huge_whole_numbers_are_taken_by_logarithms(monkeypatch):
    expected = mp.power(mp.mpf("-1.0001"), 10**6 + 1)
    monkeypatch.setattr(mp, "power", None)
    assert exact_power(mp, mp.mpf("-1.0001"), mp.mpf(10**6 + 1)) == pytest.approx(float(expected))
    assert exact_power(mp, mp.mpf("0.5"), mp.floor(mp.exp(10**5))) < 1e-300


def test_deep_expressions_are_no_recursion():
    expr = x
    for _ in range(150):
        expr = sp.sin(expr, evaluate=False) + 1
    assert 1 < value(expr, TABLE) < 2


def test_unknown_functions_are_refused():
    with pytest.raises(UnknownFunctionError, match="Chi"):
        value(sp.Chi(x), TABLE)
    with pytest.raises(KeyError):
        value(sp.Symbol("z"), TABLE)


def test_substituted_keeps_sharing_and_conditions():
    larger = sp.Piecewise((x, x > y), (y, True))
    u = sp.Symbol("u", real=True)
    expr = substituted(sp.Piecewise((u**2, u > 0), (1, True)), {u: larger})
    for a, b in ((1, 2), (2, 1), (-1, -2)):
        top = max(a, b)
        assert value(expr, {"x": mp.mpf(a), "y": mp.mpf(b)}) == (top**2 if top > 0 else 1)
    assert substituted(x + 1, {u: y}) == x + 1


def test_floats_are_read_as_they_were_typed_or_exactly_as_they_are():
    with mp.workdps(40):
        assert value(sp.Float("0.1"), {}) == mp.mpf("0.1")
        assert value(sp.Float(0.1, 60), {}) == mp.mpf(0.1)
    assert rounded(sp.Float(0.1, 60) * x).atoms(sp.Float) == {sp.Float(0.1)}


def test_what_is_no_real_number_on_the_way_is_undefined():
    """abs(x**(y - 2)) is a real number to a mathematician, but not to NumPy where x is negative."""
    table = {"x": mp.mpf(-2), "y": mp.mpf("0.5")}
    for expr in (sp.Abs(x ** (y - 2)), sp.sqrt(x) * sp.sqrt(x - 1), sp.log(x) ** 2, sp.I * x):
        assert mp.isnan(value(expr, table))


def test_complex_parts_of_formulas_are_taken_out():
    assert of_real_numbers(sp.re(sp.atan(x)) + sp.im(sp.atan(x))) == sp.atan(x)
    assert of_real_numbers(sp.Piecewise((sp.sqrt(-2), x > 0), (x, True))) == sp.Piecewise((sp.nan, x > 0), (x, True))
    assert of_real_numbers(sp.Piecewise(((-8) ** sp.Rational(1, 3), x > 0), (x, True))).has(sp.nan)
    assert of_real_numbers(x**2) == x**2
