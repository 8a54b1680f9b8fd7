"""Every rule on a formula that it was written for."""

import pytest
import sympy as sp

from gradexplain.simplify import rules
from gradexplain.simplify.rules import RULES, decimals

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
    ("trigonometric identity", sp.sin(x) ** 2 + sp.cos(x) ** 2, "1"),
    ("identities", sp.sin(x) * sp.cos(y) + sp.cos(x) * sp.sin(y), "sin(x + y)"),
    ("identities", sp.log(x) + x, "x + log(x)"),
]


@pytest.mark.parametrize(("name", "before", "after"), CASES)
def test_rules(name, before, after):
    assert str(TABLE[name].apply(before)) == after


def test_every_rule_has_a_case():
    assert {name for name, _, _ in CASES} == set(TABLE)
    assert len(TABLE) == len(RULES)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_rules_leave_alone_what_is_as_simple_as_can_be(rule):
    for expr in (x, sp.Integer(2), x * y, sp.exp(-(x**2)), sp.Float(0.3) * x):
        assert rule.apply(expr) == expr


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_rules_have_a_limit(rule):
    assert rule.is_tried(x + 1, 1)
    assert not rule.is_tried(x + 1, 1000)


def test_what_rules_cannot_cope_with():
    assert rules.has_high_powers((x + 1) ** 400)
    assert not rules.has_high_powers(x**400 + (x + 1) ** 3)
    assert rules.has_intricate_angles(sp.sin((x + 2) ** 8))
    assert rules.has_intricate_angles(sp.cos(sp.tan(x)))
    assert rules.has_intricate_angles(sp.Mul(*(sp.cos(v) for v in sp.symbols("x:12"))))
    assert not rules.has_intricate_angles(sp.cos(x + y) * sp.sin(2 * x))


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
