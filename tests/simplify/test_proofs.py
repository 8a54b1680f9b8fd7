"""Identities that algebra proves, and what it must not prove."""

import pytest
import sympy as sp

from gradexplain.simplify.proofs import is_proved
from gradexplain.simplify.rewrite import Rewrite
from gradexplain.userfunctions import user_function

x, y, s, K, S, T, r, v, d1, d2 = sp.symbols("x y s K S T r sigma d1 d2", real=True)
BLACK_SCHOLES = (
    ("d1", (sp.log(S / K) + (r + v**2 / 2) * T) / (v * sp.sqrt(T))),
    ("d2", d1 - v * sp.sqrt(T)),
)
exp = sp.exp

TRUE = [
    (exp(-x) / (1 + exp(-x)) ** 2, s * (1 - s), (("s", 1 / (1 + exp(-x))),)),
    (exp(-x) / (1 + exp(-x)) ** 2, 1 / (4 * sp.cosh(x / 2) ** 2), ()),
    (1 - sp.tanh(x) ** 2, 1 / sp.cosh(x) ** 2, ()),
    (sp.tan(x) ** 2 + 1, 1 / sp.cos(x) ** 2, ()),
    (sp.sin(-x) * sp.cos(x), -sp.sin(x) * sp.cos(-x), ()),
    (S * exp(-(d1**2) / 2), K * exp(-r * T) * exp(-(d2**2) / 2), BLACK_SCHOLES),
    (1 / (sp.sqrt(x) + 1), (sp.sqrt(x) - 1) / (x - 1), ()),
    (x**y / x, x ** (y - 1), ()),
    (sp.erf((x + 1) ** 2), sp.erf(x**2 + 2 * x + 1), ()),
    (user_function("h", [x], x**2)(y + 1), y**2 + 2 * y + 1, ()),
]
FALSE = [
    (sp.sqrt(x**2), x, ()),
    (sp.sqrt(x) * sp.sqrt(y), sp.sqrt(x * y), ()),  # not where both are negative
    (sp.log(x * y), sp.log(x) + sp.log(y), ()),
    (S * exp(-(d1**2) / 2), K * exp(r * T) * exp(-(d2**2) / 2), BLACK_SCHOLES),
    (sp.sin(x), sp.cos(x), ()),
    (x, x + sp.Rational(1, 10**20), ()),
    (sp.tanh(x), sp.tanh(2 * x) / 2, ()),
    (x * sp.Float(0.1), x / 10, ()),
    ((x + 1) ** 400, (x + 1) ** 399 * (x + 1) - 0 * x + 1, ()),
]


@pytest.mark.parametrize(("one", "other", "where"), TRUE)
def test_identities_are_proved(one, other, where):
    assert is_proved(one, other, where)


@pytest.mark.parametrize(("one", "other", "where"), FALSE)
def test_what_is_false_or_unknown_is_not_proved(one, other, where):
    assert not is_proved(one, other, where)


def test_budgets_are_kept():
    long = sp.Add(*[exp(sp.Symbol(f"a{i}", real=True)) for i in range(40)])
    assert not is_proved(long**2, sp.expand(long**2))
    assert not is_proved((x + y + 1) ** 12 * (x + 2 * y) ** 12, (x + y + 1) ** 12 * (x - 2 * y) ** 12)


def test_a_step_says_how_it_is_known():
    assert Rewrite("cancel", x * y / y, x, "checked at 7 points to 20 digits").evidence == "proved"
    assert Rewrite("magic", sp.gamma(x), x, "checked at 7 points to 20 digits").evidence.startswith("checked at 7")
