"""The names in formulas: the program's own locals and functions, and nothing that the reader can't look up."""

import math

import mpmath as mp
import numpy as np
import pytest
import sympy as sp

import gradexplain as gx
from gradexplain.userfunctions import UserFunction
from tests.simplify import program_functions as programs
from tests.simplify.comparing import disagreements, numpy_value

SMALL = {
    "swish": {"x": ["sigmoid"]},
    "softplus_squared": {"x": ["softplus"]},
    "bump": {"x": ["gauss"], "mu": ["gauss"], "a": ["gauss"]},
    "two_bumps": {"x": ["gauss"], "a": ["gauss"]},
    "bells": {"x": ["bell"]},
    "method": {"x": ["activation"]},
    "nested": {"x": ["response"]},
    "double_sigmoid": {"x": ["sigmoid"]},
    "cross_entropy": {"w": ["sigmoid"]},
    "bachelier": {"F": ["Phi"], "v": ["phi"]},
}


def called(form):
    return sorted({f.func.__name__ for e in (form.expr, *form.where.values()) for f in e.atoms(UserFunction)})


@pytest.mark.parametrize("name", SMALL)
def test_functions_of_the_program_are_called(name):
    e = gx.explain(programs.NAMED[name], wrt=tuple(SMALL[name]))
    assert {key: called(form) for key, form in e.gradients.items()} == SMALL[name]
    assert disagreements(e) == []
    for form in e.gradients.values():
        assert not form.full.atoms(UserFunction)
        assert "(" not in form.numpy.replace("np.", "") or all(n not in form.numpy for n in called(form))


@pytest.fixture(scope="module")
def greeks():
    return gx.explain(programs.call)


@pytest.mark.parametrize(
    ("key", "expected", "names"),
    [
        ("S", "Phi(d1)", ["d1"]),
        ("K", "-exp(-T*r)*Phi(d2)", ["d1", "d2"]),
        ("r", "K*T*exp(-T*r)*Phi(d2)", ["d1", "d2"]),
        ("sigma", "S*sqrt(T)*exp(-d1**2/2)/sqrt(2*pi)", ["d1"]),
        ("T", "S*sigma*exp(-d1**2/2)/(2*sqrt(T)*sqrt(2*pi)) + K*r*exp(-T*r)*Phi(d2)", ["d1", "d2"]),
    ],
)
def test_the_greeks_of_a_call(greeks, key, expected, names):
    form = greeks[key]
    function = {f.func for f in form.expr.atoms(UserFunction)}
    symbols = {n: sp.Symbol(n, real=True) for n in ["S", "K", "T", "r", "sigma", "d1", "d2"]}
    wanted = sp.parse_expr(expected, {**symbols, "Phi": function.pop() if function else None})
    assert sp.simplify(form.expr - wanted) == 0
    assert sp.count_ops(form.expr) <= sp.count_ops(wanted) + 2
    assert list(form.where) == names


def test_the_greeks_are_right(greeks):
    assert disagreements(greeks) == []


def test_the_greeks_of_a_call_that_is_written_out():
    e = gx.explain(programs.call_written_out, wrt=("S", "sigma", "r"))
    assert [e[k].text for k in ("S", "r")] == ["cdf1", "K*T*exp(-r*T)*cdf2"]
    assert set(e["sigma"].where) == {"d1"}
    assert disagreements(e) == []


def test_gamma_is_short():
    form = gx.explain(programs.call, order=2, wrt="S")["S,S"]
    assert list(form.where) == ["d1"]
    assert sp.count_ops(form.expr) <= 15


def test_a_long_second_derivative_is_short_in_names():
    e = gx.explain(programs.call, order=2, wrt="sigma")
    form = e["sigma,sigma"]
    S, T, sigma, d1, d2 = sp.symbols("S T sigma d1 d2", real=True)
    assert sp.simplify(form.expr - S * sp.sqrt(T) * sp.exp(-(d1**2) / 2) * d1 * d2 / (sigma * sp.sqrt(2 * sp.pi))) == 0
    assert list(form.where) == ["d1", "d2"]
    assert disagreements(e) == []


def test_a_logistic_loss_has_the_gradient_that_everybody_knows():
    e = gx.explain(programs.logistic_loss, wrt=("w", "b"))
    w, b, x, y, p = sp.symbols("w b x y p", real=True)
    assert e["w"].expr == x * (p - y)
    assert e["b"].expr == p - y
    assert str(e["w"].where["p"]) == "sigmoid(b + w*x)"
    assert sp.simplify(e["b"].full - (1 / (1 + sp.exp(-w * x - b)) - y)) == 0


def test_definitions_are_shown_and_numbers_follow_from_them():
    e = gx.explain(programs.bachelier, 1.0, 1.2, 0.3, 2.0, wrt=("v",))
    assert "phi(x) = " in str(e)
    assert r"\phi\left(d\right)" in e["v"].latex
    table = {"F": sp.Float(1.0, 30), "K": sp.Float(1.2, 30), "v": sp.Float(0.3, 30), "T": sp.Float(2.0, 30)}
    for name, part in e["v"].where.items():
        table[name] = sp.N(part.subs({s: table[s.name] for s in part.free_symbols}), 30)
    found = sp.N(e["v"].expr.subs({s: table[s.name] for s in e["v"].expr.free_symbols}), 25)
    assert float(found) == pytest.approx(e.gradient_values["v"])
    assert numpy_value(e["v"], e.program.point) == pytest.approx(e.gradient_values["v"])
    arguments = sp.symbols("F K v T", real=True)
    assert sp.lambdify(arguments, e.gradient)(1.0, 1.2, 0.3, 2.0) == pytest.approx(e.gradient_values["v"])


# What gets no name: each must be explained without a call, and right.
def leaky(t):
    return t * np.exp(t) / (1 + t * t) if t > 0 else 0.1 * t


def exp(t):  # not what a reader of formulas takes it for
    return 1 + t + t * t / 2 + t**3 / 6


def factorial_like(x, n):
    return 1 / (1 + x * x) if n == 0 else x * factorial_like(x, n - 1) + 1 / (1 + x)


def scaled(factor):
    def curve(t):
        return factor * np.exp(-t * t) / (1 + t)

    return curve


def same_name_twice(x):
    one, other = scaled(2.0), scaled(3.0)
    return one(x) * other(x)


def two_of_a_name(x):
    def first():
        def curve(t):
            return np.exp(-t * t) / (1 + t)

        return curve(x)

    def second():
        def curve(t):
            return np.exp(-t) / (1 + t * t)

        return curve(x)

    return first() * second()


def closes_over(x, y):
    def curve(t):
        return np.exp(-t * y) / (1 + t * t)

    return curve(x) * curve(2 * x)


def through_a_list(x, y):
    box = [y]

    def curve(t):
        return np.exp(-t * box[0]) / (1 + t * t)

    return curve(x) * curve(2 * x)


def kinked(t):
    return np.maximum(t, 0) * np.exp(-t) / 3


def square(t):
    return t * t


UNNAMED = {
    "a branch": lambda x: leaky(x) * x,
    "a known name": lambda x: exp(x) * x,
    "recursion": lambda x: factorial_like(x, 2),
    "one body for two factors": same_name_twice,
    "two functions of one name": two_of_a_name,
    "an argument of the caller": closes_over,
    "an argument of the caller in a list": through_a_list,
    "a kink": lambda x: kinked(x) * x,
    "too short": lambda x: square(square(x)) * x,
    "a name of an argument": lambda bell, y: programs.bell(bell) * y,
}


@pytest.mark.parametrize("kind", UNNAMED)
def test_what_gets_no_name(kind):
    e = gx.explain(UNNAMED[kind])
    assert all(called(form) == [] for form in e.gradients.values())
    assert disagreements(e) == []


def test_entries_of_arrays_are_written_out():
    e = gx.explain(lambda x: programs.bell(x[0]) * x[1], np.array([0.5, 2.0]))
    np.testing.assert_allclose(numpy_value(e["x"], {"x": [0.5, 2.0]}), e.gradient_values["x"], rtol=1e-12)


def test_constants_are_shown_as_they_were_given():
    def gauss(x, mu, s):
        return math.exp(-((x - mu) ** 2) / s) / s

    form = gx.explain(lambda x, m: gauss(x, 3.0, 2) * m)["m"]
    assert form.text == "gauss(x, 3, 2)"
    form = gx.explain(lambda x, m: gauss(2.0, 3.0, 1.5) * m)["m"]
    assert not form.expr.free_symbols


def test_locals_of_other_functions_are_no_names_of_the_caller():
    def response(u):
        secret = np.exp(-u * u)
        return secret / (1 + secret)

    def f(x, y):
        shown = x * y + np.sin(x)
        return response(shown) ** 2

    e = gx.explain(f)
    assert all("secret" not in form.where for form in e.gradients.values())
    assert any("shown" in form.where for form in e.gradients.values())
    assert disagreements(e) == []


def test_an_argument_that_is_made_from_another_does_not_define_a_function():
    def weigh(x, double):
        return np.exp(-x * 2 - double) / (1 + x * x)

    form = gx.explain(lambda x: weigh(x, x * 2) ** 2)["x"]
    assert called(form) == []
    form = gx.explain(lambda x, y: weigh(x, x * 2) * weigh(x, y) * y)["y"]
    assert called(form) == ["weigh"]
    (definition,) = {f.func.body for f in form.expr.atoms(UserFunction)}
    x, double = sp.symbols("x double", real=True)
    assert sp.simplify(definition - sp.exp(-2 * x - double) / (1 + x**2)) == 0


def random_source(seed):
    """A program that calls a random smooth function of its own at several places."""
    import random

    generator = random.Random(seed)
    pick = generator.choice
    inner = pick(["t*t", "np.sin(t)", "t + 1", "np.exp(-t)", "t**3"])
    body = pick(
        ["np.exp(-{0})/(1 + t*t)", "np.tanh({0}) + t/3", "1/(2 + np.cos({0}))", "np.arctan({0})*t", "{0}*t - 2"]
    )
    calls = ["h(x)", pick(["h(x*y)", "h(y)", "h(2.0)", "h(h(x))"]), pick(["x", "y*y", "np.sin(y)", "h(x + y)"])]
    first, second, third = calls
    line = pick(["{0}*{1} + {2}", "{0}/(3 + {1}**2)*{2}", "np.exp({0}*{2}/4) - {1}", "({0} - {2})**2*{1}"])
    source = f"def h(t):\n    return {body.format(inner)}\n\ndef f(x, y):\n"
    if generator.random() < 0.5:
        source += f"    u = {first}\n"
        first = "u"
    return source + f"    return {line.format(first, second, third)}\n"


@pytest.mark.parametrize("seed", range(4))
def test_random_programs_with_functions(seed):
    import linecache

    source, file = random_source(seed), f"<random functions {seed}>"
    linecache.cache[file] = (len(source), None, source.splitlines(True), file)
    namespace = {"np": np}
    exec(compile(source, file, "exec"), namespace)
    e = gx.explain(namespace["f"])
    assert disagreements(e) == [], source
    with mp.workdps(30):
        assert all(not form.full.atoms(UserFunction) for form in e.gradients.values())


def plain_parts(x):
    u = x**2
    v = math.sin(x)
    return u * v


def plain_differences(x, cx):
    dx = x - cx
    return math.exp(-dx * dx)


def test_what_is_read_faster_than_looked_up_has_no_name():
    assert gx.explain(plain_parts)["x"].where == {}
    assert list(gx.explain(plain_differences)["x"].where) == ["dx"]


def test_functions_that_work_on_arrays_are_seen_through():
    def squared_length(z):
        return z @ z

    def loss(X, w):
        return squared_length(X @ w)

    assert gx.explain(loss, X="m n", w="n", wrt="w")["w"].text == "2*X.T @ X @ w"
