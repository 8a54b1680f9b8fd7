"""Loops: their sums are rolled up again where the passes are alike, and stay as they are where one is not."""

import math
import random

import mpmath as mp
import numpy as np
import pytest
import sympy as sp

import gradexplain as gx
from gradexplain.notation import FiniteSum
from gradexplain.simplify.numeric import value
from gradexplain.simplify.printing import latex, numpy_source, text
from gradexplain.simplify.series import put_together, rerolled, taken_apart

x, y = sp.symbols("x y", real=True)
k, n = sp.symbols("k n", integer=True)


def exp_series(x):
    s, t = 1, 1
    for n in range(1, 8):
        t = t * x / n
        s += t
    return s


def sine_by_recurrence(x):
    s = t = x
    for n in range(1, 9):
        t = -t * x * x / ((2 * n) * (2 * n + 1))
        s += t
    return s


def powers(x):
    s, p = 0, 1
    for _ in range(15):
        s = s + p
        p = p * x
    return s


def horner_exp(x):
    y = 1
    for n in range(10, 0, -1):
        y = 1 + x / n * y
    return y


def horner(x):
    y = 0
    for a in (1, 2, 3, 4, 5, 6, 7, 8, 9, 10):
        y = y * x + a
    return y


def present_value(r):
    return sum(100 / (1 + r) ** t for t in range(1, 11))


def bond(r):
    return present_value(r) + 1000 / (1 + r) ** 10


def partition(x):
    return math.log(sum(math.exp(k * x) for k in range(1, 9)))


def error_function(x):
    terms = ((-1) ** k * x ** (2 * k + 1) / (math.factorial(k) * (2 * k + 1)) for k in range(10))
    return 2 / math.sqrt(math.pi) * sum(terms)


def alternating(x):
    return sum((-1) ** k * x ** (2 * k + 1) / (2 * k + 1) for k in range(9))


ROLLED = [
    (exp_series, "sum(x**n/n!, n = 0 .. 6)"),
    (horner_exp, "sum(x**n/n!, n = 0 .. 9)"),
    (sine_by_recurrence, "sum((-1)**n*x**(2*n)/(2*n)!, n = 0 .. 8)"),
    (powers, "sum(k*x**(k - 1), k = 1 .. 14)"),
    (lambda x: sum(x**k for k in range(1, 21)), "sum(k*x**(k - 1), k = 1 .. 20)"),
    (lambda x: sum(k * k * x**k for k in range(10)), "sum(k**3*x**(k - 1), k = 1 .. 9)"),
    (lambda x: sum(math.sin(k * x) / k for k in range(1, 11)), "sum(cos(k*x), k = 1 .. 10)"),
    (lambda x: sum(math.sin((2 * k + 1) * x) / (2 * k + 1) for k in range(8)), "sum(cos(x*(2*k + 1)), k = 0 .. 7)"),
    (alternating, "sum((-1)**k*x**(2*k), k = 0 .. 8)"),
    (lambda x: sum((-1) ** (k + 1) * x**k / k for k in range(1, 12)), "sum((-1)**k*x**k, k = 0 .. 10)"),
    (lambda x: sum(x ** (2 * k) / math.factorial(k) for k in range(10)), "2*sum(x**(2*k + 1)/k!, k = 0 .. 8)"),
    (lambda x: sum(1 / k**x for k in range(1, 15)), "-sum(log(k)/k**x, k = 2 .. 14)"),
    (lambda x: sum(1 / (x + k) for k in range(1, 10)), "-sum(1/(x + k)**2, k = 1 .. 9)"),
    (lambda x: sum(math.exp(-k * x**2) for k in range(1, 10)), "-2*x*sum(k*exp(-k*x**2), k = 1 .. 9)"),
    (lambda x: sum(x ** (k * k) for k in range(9)), "sum(k**2*x**(k**2 - 1), k = 1 .. 8)"),
    (lambda x: sum(math.cos(3**k * x) / 2**k for k in range(8)), "-sum((3/2)**k*sin(3**k*x), k = 0 .. 7)"),
    (horner, "sum(k*x**(k - 1)*(10 - k), k = 1 .. 9)"),
    (present_value, "-100*sum(k/(1 + r)**(k + 1), k = 1 .. 10)"),
    (bond, "-11000/(1 + r)**11 - 100*sum(k/(1 + r)**(k + 1), k = 1 .. 9)"),
    (partition, "sum(k*exp(k*x), k = 1 .. 8)/sum(exp(k*x), k = 1 .. 8)"),
    (error_function, "2*sum((-1)**k*x**(2*k)/k!, k = 0 .. 9)/sqrt(pi)"),
    (lambda k: sum(k**n for n in range(1, 10)), "sum(n*k**(n - 1), n = 1 .. 9)"),
]  # fmt: skip


@pytest.mark.parametrize(("f", "shown"), ROLLED)
def test_alike_passes_are_a_sum_over_an_index(f, shown):
    explanation = gx.explain(f)
    (form,) = explanation.gradients.values()
    assert form.text == shown
    assert not form.where
    assert [r.rule.endswith("re-rolled") for r in form.rewrites] == [True]
    (name,) = explanation.wrt
    argument = sp.Symbol(name, real=True)
    for at in (0.37, 1.9):
        exact = gx.grad(f)(at)
        assert eval(form.numpy, {"np": np, name: at}) == pytest.approx(exact, rel=1e-12)
        assert sp.lambdify(argument, explanation.gradient)(at) == pytest.approx(exact, rel=1e-12)
        assert float(sp.N(form.expr.subs(argument, at))) == pytest.approx(exact, rel=1e-12)
    assert r"\sum_{" in form.latex


def test_two_arguments_and_higher_orders():
    def f(x, y):
        return sum(x**k * y ** (9 - k) for k in range(10))

    forms = gx.explain(f)
    assert forms["x"].text == "sum(k*x**(k - 1)*y**(9 - k), k = 1 .. 9)"
    assert forms["y"].text == "sum(x**k*y**(8 - k)*(9 - k), k = 0 .. 8)"
    second = gx.explain(exp_series, order=2)["x,x"]
    assert second.text == "1 + x + x**2/2 + x**3/6 + x**4/24 + x**5/120"
    assert gx.explain(lambda x: sum(x**k for k in range(15)), order=2)["x,x"].text == (
        "sum(k*x**(k - 1)*(k + 1), k = 1 .. 13)"
    )


def short(x):
    return sum(x**k for k in range(1, 7))


def data_polynomial(x):
    y = 0
    for a in (3, -2, 7, 1, 0, 5, -4, 8, 9, 2):
        y = y * x + a
    return y


def decimal_polynomial(x):
    y = 0.0
    for a in (1.5, 0.5, -2.5, 4.0, 0.25, 3.0):
        y = y * x + a
    return y


def symbolic_polynomial(x, a, b, c, d):
    y = 0
    for q in (a, b, c, d, a):
        y = y * x + q
    return y


def squares(x):
    return sum((a - x) ** 2 for a in (1.0, 2.5, 3.1, 4.7, 0.2, 9.3, 5.5, 6.1))


def telescope(x):
    return sum(math.exp(-x) * x**k / math.factorial(k) for k in range(10))


def chebyshev(x, n=6):
    return 1 if n == 0 else x if n == 1 else 2 * x * chebyshev(x, n - 1) - chebyshev(x, n - 2)


def powers_by_recursion(x, n=30):
    return 1 if n == 0 else x * powers_by_recursion(x, n - 1)


def product(x):
    p = 1
    for k in range(1, 6):
        p *= x - k
    return p


WRITTEN_OUT = [
    (short, "1 + 2*x + 3*x**2 + 4*x**3 + 5*x**4 + 6*x**5"),
    (data_polynomial, "27*x**8 - 16*x**7 + 49*x**6 + 6*x**5 + 20*x**3 - 12*x**2 + 16*x + 9"),
    (symbolic_polynomial, "4*a*x**3 + 3*x**2*b + 2*x*c + d"),
    (squares, "16*x - 324/5"),
    (telescope, "-exp(-x)*x**9/362880"),
    (chebyshev, "192*x**5 - 192*x**3 + 36*x"),
    (powers_by_recursion, "30*x**29"),
    (product, "5*x**4 - 60*x**3 + 255*x**2 - 450*x + 274"),
    (lambda x: sum(math.comb(9, k) * x**k for k in range(10)), "9*(1 + x)**8"),
]


@pytest.mark.parametrize(("f", "shown"), WRITTEN_OUT)
def test_few_terms_and_data_stay(f, shown):
    form = gx.explain(f)["x"]
    assert form.text == shown
    assert not form.where


def test_decimal_coefficients():
    form = gx.explain(decimal_polynomial)["x"]
    assert not form.expr.has(FiniteSum)
    assert sp.expand(form.expr) == sp.Rational(15, 2) * x**4 + 2 * x**3 - sp.Rational(
        15, 2
    ) * x**2 + 8 * x + sp.Rational(1, 4)


@pytest.mark.parametrize("at", range(12))
def test_a_pass_that_differs_is_never_rolled_up(at):
    def f(x):
        s = 0
        for k in range(12):
            s += (k + 1 + (k == at)) * x**k
        return s

    form = gx.explain(f)["x"]
    for point in (-1.3, 0.4, 2.2):
        want = sum((j + 1 + (j == at)) * j * point ** (j - 1) for j in range(1, 12))
        assert float(form.expr.subs(x, point).evalf()) == pytest.approx(want, rel=1e-12)
    if 3 <= at <= 8:
        assert not form.expr.has(FiniteSum)


def test_random_sums_keep_their_value():
    """Terms of one or two laws, with data among them: whatever is rolled up is the sum that it was."""
    source = random.Random(1)
    shapes = [lambda c, i: c * x**i, lambda c, i: c * sp.cos(i * x), lambda c, i: c * x**i * y ** (12 - i),
              lambda c, i: c / (x + i) ** 2, lambda c, i: c * sp.exp(-i * x) / (i + 1)]  # fmt: skip
    factors = [lambda i: 1, lambda i: i, lambda i: sp.Rational(1, i + 1), lambda i: (-1) ** i * i**2,
               lambda i: 1 / sp.factorial(i), lambda i: source.randint(1, 9)]  # fmt: skip
    rolled = 0
    for _ in range(60):
        shape, factor = source.choice(shapes), source.choice(factors)
        terms = [shape(factor(i), i) for i in range(source.randint(0, 2), source.randint(8, 12))]
        for _ in range(source.randint(0, 2)):
            terms[source.randrange(len(terms))] *= source.randint(2, 5)
        total = sp.Add(*terms)
        found = rerolled(total, "k")
        rolled += found.has(FiniteSum)
        with mp.workdps(50):
            at = {"x": mp.mpf("0.7312"), "y": mp.mpf("-1.41")}
            assert mp.almosteq(value(found, at), value(total, at), rel_eps=mp.mpf(10) ** -40), total
    assert rolled > 10


def test_long_loops():
    def by_recurrence(x):
        s, t = 0, 1
        for k in range(1, 120):
            t = t * x / k
            s += t
        return s

    def doubling(x):
        for _ in range(40):
            x = x * (1 - x)
        return x

    assert gx.explain(by_recurrence)["x"].text == "sum(x**k/k!, k = 0 .. 118)"
    assert gx.explain(lambda x: sum(x**k for k in range(150)))["x"].text == "sum(k*x**(k - 1), k = 1 .. 149)"
    assert not gx.explain(doubling)["x"].expr.has(FiniteSum)  # written out it has 2**40 terms


def test_written_by_hand_stays_as_written():
    f = lambda x: 1 + x + x**2 + x**3 + x**4 + x**5 + x**6 + x**7 + x**8 + x**9  # noqa: E731
    assert not gx.explain(f)["x"].expr.has(FiniteSum)
    assert not gx.explain("1 + x + x^2 + x^3 + x^4 + x^5 + x^6 + x^7 + x^8 + x^9")["x"].expr.has(FiniteSum)


def test_the_index_is_no_argument():
    def f(k, n):
        return sum(k**i * n for i in range(1, 12))

    forms = gx.explain(f)
    assert forms["k"].text == "n*sum(i*k**(i - 1), i = 1 .. 11)"
    assert forms["n"].text == "sum(k**i, i = 1 .. 11)"


def test_finite_sums_are_evaluated_to_the_last_term():
    peaked = FiniteSum(sp.exp(-((k - 10) ** 2) * x), (k, 0, 20))
    exact = sum(math.exp(-((i - 10) ** 2) * 3.0) for i in range(21))
    assert float(sp.N(peaked.subs(x, 3))) == pytest.approx(exact)  # the first of its terms is 1e-131
    assert float(sp.N((x * peaked + 1).subs(x, 3), 30)) == pytest.approx(3 * exact + 1)
    assert float(value(peaked, {"x": mp.mpf(3)})) == pytest.approx(exact)


@pytest.mark.parametrize(
    ("expr", "shown", "in_latex", "in_numpy"),
    [
        (FiniteSum(x**n / sp.factorial(n), (n, 0, 6)), "sum(x**n/n!, n = 0 .. 6)", r"\sum_{n=0}^{6} \frac{x^{n}}{n!}",
         "sum(x**n/np.prod(np.arange(1.0, n + 1)) for n in range(0, 7))"),
        (2 - FiniteSum(k * (x + 1) ** (-k - 1), (k, 1, 9)), "2 - sum(k/(x + 1)**(k + 1), k = 1 .. 9)",
         r"2 - \sum_{k=1}^{9} \frac{k}{\left(x + 1\right)^{k + 1}}",
         "2 - sum(k/(x + 1)**(k + 1) for k in range(1, 10))"),
        (FiniteSum(x**k * y ** (8 - k), (k, 0, 8)) ** 2, "sum(x**k*y**(8 - k), k = 0 .. 8)**2",
         r"\left(\sum_{k=0}^{8} x^{k} y^{8 - k}\right)^{2}", "sum(x**k*y**(8 - k) for k in range(0, 9))**2"),
        (FiniteSum(1 / sp.factorial(2 * k) ** 2, (k, 0, 8)), "sum(1/(2*k)!**2, k = 0 .. 8)",
         r"\sum_{k=0}^{8} \frac{1}{\left(2 k\right)!^{2}}",
         "sum(1/np.prod(np.arange(1.0, 2*k + 1))**2 for k in range(0, 9))"),
    ],
)  # fmt: skip
def test_sums_in_text_latex_and_numpy(expr, shown, in_latex, in_numpy):
    assert (text(expr), latex(expr), numpy_source(expr)) == (shown, in_latex, in_numpy)


@pytest.mark.parametrize(
    "expr",
    [x, 3 * x**2, sp.cos(2 * x) / 5, sp.exp(-3 * x**2) * x, 2 * (x + 3) ** -2, 4**x * sp.log(4), sp.sqrt(2) * x,
     x**y / y**x, sp.Integer(5), sp.gamma(x + 2) * sp.sin(x * y) ** 3],
)  # fmt: skip
def test_what_is_taken_apart_can_be_put_together(expr):
    shape, numbers = taken_apart(expr)
    assert put_together(shape, iter(numbers)) == expr


def test_renderings_have_the_sum():
    explanation = gx.explain(exp_series)
    assert "Σ(xⁿ" in explanation.to_text(unicode=True) or "Σ(x**n/n!, n = 0 .. 6)" in explanation.to_text(unicode=True)
    assert "sum(x**n/n!, n = 0 .. 6)" in explanation.to_text()
    assert r"\sum_{n=0}^{6}" in explanation.to_latex()
    assert r"\sum_{n=0}^{6}" in explanation.to_markdown()
    assert "n!" in explanation.to_html()
    assert "n!" in explanation.to_json()
