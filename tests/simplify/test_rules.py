"""Every rule on a formula that it was written for."""

import pytest
import sympy as sp

from gradexplain.simplify.fractions import decimals
from gradexplain.simplify.powers import has_high_powers
from gradexplain.simplify.rules import RULES
from gradexplain.simplify.trigonometry import has_no_identities

TABLE = {rule.name: rule for rule in RULES}
x, y, a, b = sp.symbols("x y a b", real=True)
K, L = sp.symbols("K L", positive=True)

CASES = [  # rule, input, output as it prints
    ("common factor", 2 * x * y + 4 * x, "2*x*(y + 2)"),
    ("common factor", -x / 3 - y / 3, "-(x + y)/3"),
    ("common power", x ** (a - 1) * a + x**a, "x**a*(a/x + 1)"),
    ("common power", x**2 + x, "x**2 + x"),
    ("powers of one exponent", K ** (a - 1) * L ** (1 - a) * b, "b*(L/K)**(1 - a)"),
    ("powers of one exponent", K**a * L**b, "K**a*L**b"),
    ("signs", x / sp.Abs(x), "sign(x)"),
    ("signs", x**2 * sp.sign(x), "x*Abs(x)"),
    ("signs", sp.Abs(x) * sp.sign(x), "x"),
    ("signs", sp.sign(x) ** 2 + sp.sign(x - 1) ** 3, "sign(x - 1) + 1"),
    ("signs", 1 / (x + sp.Abs(x)), "1/(x + Abs(x))"),
    ("factors under the root", (x - 5) / sp.sqrt(x**2 - 10 * x + 25), "sign(x - 5)"),
    ("factors under the root", sp.sqrt(x + 1), "sqrt(x + 1)"),
    ("common power, trigonometric identity", x**a * sp.sin(y) ** 2 + x**a * sp.cos(y) ** 2, "x**a"),
    ("common denominator", 1 / x + 1 / y, "(x + y)/(x*y)"),
    ("factor", x**2 - 2 * x + 1, "(x - 1)**2"),
    ("cancel", (x**2 - 1) / (x - 1), "x + 1"),
    ("common denominator, factor", 1 / x**2 + 2 / x + 1, "(x + 1)**2/x**2"),
    ("expand", (x + 1) ** 2 - x**2, "2*x + 1"),
    ("power rules", K**a * K**b, "K**(a + b)"),
    ("exponentials", sp.exp(x) / (sp.exp(x) + 1), "1/(1 + exp(-x))"),
    ("exponentials", sp.exp(x) + x, "x + exp(x)"),
    ("exponentials", x + sp.exp(x) / (sp.exp(x) + 1), "x + 1/(1 + exp(-x))"),
    ("trigonometric identity", sp.sin(x) ** 2 + sp.cos(x) ** 2, "1"),
    ("trigonometric identities", sp.sin(x) * sp.cos(y) + sp.cos(x) * sp.sin(y), "sin(x + y)"),
    ("trigonometric identities", sp.log(x) + x, "x + log(x)"),
    ("signs", sp.exp(-sp.Abs(x)) * sp.sign(x) ** 2, "exp(-Abs(x))"),
    ("signs and magnitudes", (1 - x * sp.sign(x) / (1 + sp.Abs(x))) / (1 + sp.Abs(x)), "(Abs(x) + 1)**(-2)"),
    ("signs and magnitudes", x / (x + sp.Abs(x)), "x/(x + Abs(x))"),
    ("sin**2 + cos**2 = 1", (1 - sp.cos(x)) / sp.sin(x) ** 2, "1/(cos(x) + 1)"),
    ("sin**2 + cos**2 = 1", 1 - sp.cos(x) ** 2, "sin(x)**2"),
    ("roots of circular functions", sp.sin(x) / sp.sqrt(1 - sp.cos(x) ** 2), "sign(sin(x))"),
    ("roots merged", sp.sqrt(x) / sp.sqrt(y), "sqrt(x/y)"),
    ("roots merged", 1 / (sp.sqrt(x) * sp.sqrt(y)), "1/sqrt(x*y)"),
    ("roots merged", a * sp.sqrt(1 - x**2 / K**2), "a*sqrt(K**2 - x**2)/K"),
    ("hyperbolic functions as exponentials", sp.cosh(x) - sp.sinh(x), "exp(-x)"),
    ("hyperbolic identity", sp.sinh(x) / sp.cosh(x), "tanh(x)"),
    ("hyperbolic identity", (1 - sp.tanh(x / 2) ** 2) / (1 + sp.tanh(x / 2) ** 2), "1/cosh(x)"),
    ("quotient of functions", x + y * sp.sinh(x) ** 2 / sp.cosh(x) ** 2, "x + y*tanh(x)**2"),
    ("quotient of functions", sp.sin(x) / (y * sp.cos(x)), "tan(x)/y"),
    ("tangents as quotients", sp.tan(x / 2) + 1 / sp.tan(x / 2), "2/sin(x)"),
    ("sorted by functions", sp.cos(x) / x - sp.sin(x) / x**2, "(x*cos(x) - sin(x))/x**2"),
    ("sorted by powers", a * x * y - b * x * y + a * x**2 + b * x**2 + y**2, "x**2*(a + b) + x*y*(a - b) + y**2"),
    ("complete the square", 1 / sp.sqrt(a**2 - 2 * a * b + b**2 + 4), "1/sqrt((a - b)**2 + 4)"),
    ("complete the square", x**2 + y**2 + x * y, "x**2 + x*y + y**2"),
    ("partial fractions", (x**2 + 2 * x + 5) / (4 * (x + 1) ** 2), "1/4 + (x + 1)**(-2)"),
    ("expand the denominator", 1 / ((x - 1) * (1 + x)), "1/(x**2 - 1)"),
    ("multiply out the numerator", (1 - x) * (1 + x) / (x**2 + 1) ** 2, "(1 - x**2)/(x**2 + 1)**2"),
    ("division", (a * (x + 1) + b * (x - 1)) / (a + b), "x + (a - b)/(a + b)"),
    ("sign", -x * (y - a), "x*(a - y)"),
    ("logarithm rules", sp.log(K) - sp.log(L), "log(K/L)"),
]


@pytest.mark.parametrize(("name", "before", "after"), CASES)
def test_rules(name, before, after):
    assert str(TABLE[name].apply(before)) == after
    assert not TABLE[name].unless(before) or before == TABLE[name].apply(before)


def test_every_rule_has_a_case():
    assert {name for name, _, _ in CASES} == set(TABLE)
    assert len(TABLE) == len(RULES)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_rules_leave_alone_what_is_as_simple_as_can_be(rule):
    for expr in (x, sp.Integer(2), x * y, sp.exp(-(x**2)), sp.Float(0.3) * x):
        assert rule.unless(expr) or rule.apply(expr) == expr


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_rules_have_a_limit(rule):
    formulas = [before for name, before, _ in CASES if name == rule.name and not rule.unless(before)]
    assert formulas
    assert all(rule.is_tried(f, 1) and not rule.is_tried(f, 1000) for f in formulas)


def test_what_rules_cannot_cope_with():
    assert has_high_powers((x + 1) ** 400)
    assert not has_high_powers(x**400 + (x + 1) ** 3)
    assert has_no_identities(sp.sin((x + 2) ** 8))
    assert has_no_identities(sp.cos(sp.tan(x)))
    assert has_no_identities(sp.Mul(*(sp.cos(v) for v in sp.symbols("x:12"))))
    assert has_no_identities(sp.cos(x + y) * sp.sin(2 * x))
    assert not has_no_identities(sp.cos(x) * sp.sin(2 * x))


@pytest.mark.parametrize(
    ("number", "shown"),
    [
        (sp.Rational(10507, 10000), "1.0507"),
        (sp.Rational(1, 3), "1/3"),
        (sp.Rational(1, 4), "1/4"),
        (sp.Rational(1234, 9999), "1234/9999"),
        (sp.Rational(1, 10**12), "1.0e-12"),
    ],
)
def test_long_decimals_are_shown_as_typed(number, shown):
    expected = sp.Rational(1234, 9999) * x if shown == "1234/9999" else sp.sympify(shown) * x
    assert decimals(number * x) == expected


def test_the_decimals_of_a_formula_stand_together():
    assert str(decimals(sp.Rational(10507, 10000) * x + y / 2)) == "1.0507*x + 0.5*y"
