"""The object that `explain` gives: contract, renderings, checks, pickling."""

from __future__ import annotations

import math
import pickle

import numpy as np
import pytest
import sympy as sp

import gradexplain as gx
from gradexplain.errors import ArgumentError, FunctionError, GradexplainError


def sigmoid(x):
    s = 1 / (1 + np.exp(-x))
    return s  # noqa: RET504 (the name is what is tested)


def branches(x):
    if x > 1:
        return x**2
    return 3 * x


def nest(x):
    for _ in range(300):
        x = math.sin(x)
    return x


def network(x, w, b):
    h = np.tanh(w @ x + b)
    return np.sum(h**2)


CASES = [
    (lambda x: x**2, (3.0,)),
    (sigmoid, (0.4,)),
    (branches, (2.0,)),
    (branches, ()),
    (lambda x, y: x**2 * y + math.sin(y), (1.0, 2.0)),
    (lambda x: abs(x), (0.0,)),
    (lambda x: np.maximum(x, 0) ** 3, (0.5,)),
    (lambda x: np.clip(x, 0, 1) ** 3, ()),
    (lambda x: np.where(x > 0, x, 2 * x) ** 3, (2.0,)),
    (lambda x: 7.0, (1.0,)),
    (lambda x, unused: x, (1.0, 2.0)),
    (lambda v: v[0] ** 2 + np.sin(v[1]), (np.array([1.0, 2.0]),)),
    (lambda X, w, y: np.mean((X @ w - y) ** 2), (np.ones((4, 2)), np.ones(2), np.zeros(4))),
    (network, (np.ones(3), np.ones((2, 3)), np.zeros(2))),
    (lambda x: np.log(x) / x, (0.0,)),
    (nest, (1.0,)),
]


@pytest.mark.parametrize(("f", "point"), CASES)
def test_no_rendering_raises(f, point):
    e = gx.explain(f, *point)
    assert "\x1b" not in str(e)
    assert str(e).isascii()
    for shown in (e.to_markdown(), e.to_latex(), e.to_latex(standalone=True), e.to_html(), e.to_json(), repr(e)):
        assert shown
    assert set(e._repr_mimebundle_()) >= {"text/plain", "text/markdown", "text/latex"}
    for style in ("textbook", "reverse", "forward"):
        assert str(e.derivation(style=style))
    assert str(e.derivation(detail="full"))
    assert str(e.why())


@pytest.mark.parametrize(("f", "point"), [c for c in CASES if c[1] and all(np.all(np.isfinite(p)) for p in c[1])])
def test_the_tape_has_a_row_for_each_operation(f, point):
    e = gx.explain(f, *point)
    names = [row.name for row in e.tape]
    assert len(names) == len(set(names))
    assert all(row.value is not None for row in e.tape)


def test_the_contract():
    e = gx.explain(lambda x, y: x**2 * y, 2.0, 3.0)
    assert e["x"] is e.gradients["x"]
    assert list(e.gradients) == ["x", "y"]
    assert e["x"].text == "2*x*y"
    assert e["x"].where == {}
    assert e.value == 12.0
    assert e.gradient_values == {"x": 12.0, "y": 4.0}
    assert str(e.gradient) == "(2*x*y, x**2)"
    assert e.check().ok
    assert len(e.graph) < len(e.gradient_graph)
    assert e.data == e.data


def test_second_order_keys_in_any_order():
    e = gx.explain(lambda x, y: x**2 * y**3, order=2)
    assert list(e.gradients) == ["x,x", "x,y", "y,y"]
    assert e["y,x"] is e["x,y"]
    assert e["x,y"].text == "6*x*y**2"


@pytest.mark.parametrize("key", ["z", "x,x", "", 0, None])
def test_unknown_keys_are_refused(key):
    with pytest.raises(GradexplainError, match="no derivative"):
        gx.explain(lambda x: x, 1.0)[key]


def test_names_of_the_program_shorten_the_formula():
    form = gx.explain(sigmoid)["x"]
    assert form.text == "s*(1 - s)"
    x = sp.Symbol("x", real=True)
    assert form.where == {"s": 1 / (1 + sp.exp(-x))}
    assert sp.simplify(form.full - sp.exp(-x) / (1 + sp.exp(-x)) ** 2) == 0


@pytest.mark.parametrize("f", [lambda x: x**2 * np.sin(x), sigmoid, lambda x: np.log(1 + x**2) / x, branches])
def test_sympy_and_numpy_forms_agree(f):
    e = gx.explain(f)
    x = sp.Symbol("x", real=True)
    from_sympy = sp.lambdify([x], e.gradient)
    form = e["x"]
    for value in (0.3, 1.7):
        space = {"np": np, "x": value}
        for name, text in form.where_numpy.items():
            space[name] = eval(text, space)
        assert eval(form.numpy, space) == pytest.approx(float(from_sympy(value)), rel=1e-12)
        assert gx.grad(f)(value) == pytest.approx(float(from_sympy(value)), rel=1e-12)


def test_pickle_keeps_formulas_and_renderings():
    e = gx.explain(lambda x: x * x, 3.0)
    again = pickle.loads(pickle.dumps(e))
    assert str(again) == str(e)
    assert again.gradient == e.gradient
    assert again["x"].text == "2*x"


def test_a_nest_of_300_functions_is_a_page():
    assert len(str(gx.explain(nest, 1.0)).splitlines()) < 120


@pytest.mark.parametrize(
    ("f", "x"),
    [(lambda x: x**2, 1e10), (lambda x: x**3, 1e100), (np.sin, 1e-300), (np.log, 1e-300), (np.tanh, 15.0),
     (np.abs, 0.0), (lambda x: (1 - np.cos(x)) / x**2, 1e-4), (lambda x: np.float32(np.sin(np.float32(x))), 1.0)],
)  # fmt: skip
def test_right_derivatives_pass(f, x):
    assert gx.explain(f, x).check().ok


@pytest.mark.parametrize("factor", [-1, 1.001, 2, 0])
@pytest.mark.parametrize(("f", "x"), [(np.sin, 1.0), (lambda x: x**2, 1e-10), (np.log, 1e-8), (lambda x: x**3, 5.0)])
def test_wrong_derivatives_do_not(f, x, factor):
    e = gx.explain(f, x)
    assert not e.check(gradient=e.gradient * factor).ok
    assert not gx.check(f, x, gradient=factor * gx.grad(f)(x)).ok


def test_one_wrong_entry_in_a_thousand_is_found():
    x = np.linspace(1, 2, 1000)
    right = x.copy()
    assert gx.check(lambda x: 0.5 * (x * x).sum(), x, gradient=right).ok
    right[700] *= 1.001
    assert not gx.check(lambda x: 0.5 * (x * x).sum(), x, gradient=right).ok


def test_jacobians_and_hessians_are_checked():
    e = gx.explain_jacobian(lambda x: np.array([x[0] ** 2, np.sin(x[1])]), np.array([1.0, 2.0, 3.0]))
    assert e["x"].text == "[[2*x0, 0, 0], [0, cos(x1), 0]]"
    assert e.check().ok
    h = gx.explain_hessian(lambda w, X: np.sum((X @ w) ** 2), np.ones(2), np.ones((3, 2)), wrt="w")
    assert h["w"] is h["w,w"]
    assert h.check().ok


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: gx.explain(lambda x: x, x=float("nan")), "not finite"),
        (lambda: gx.explain(lambda x: None, 1.0), "returned None"),
        (lambda: gx.explain(lambda x: "text", 1.0), "type str"),
        (lambda: gx.explain(lambda x: x, 1.0, order=0), "order"),
        (lambda: gx.explain(lambda x: x, 1.0, wrt="z"), "no argument z"),
        (lambda: gx.explain("foo(x)"), "unknown function"),
        (lambda: gx.explain(lambda x: x, y=1.0), "no argument y"),
        (lambda: gx.explain(lambda x: x * np.random.rand(), 1.0), "twice"),
        (lambda: gx.explain(lambda x: x, 1.0).derivation(style="zigzag"), "no style"),
        (lambda: gx.explain(lambda X, w: X @ w), "single numbers"),
    ],
)
def test_bad_input_has_a_clear_error(call, words):
    with pytest.raises(GradexplainError, match=words):
        call()


@pytest.mark.parametrize(
    "f",
    [
        lambda x: (x > 0) * x,
        lambda x: 1 - (x > 0) + x,
        lambda x: x ** (x > 0),
        lambda x: ((x > 0) & (x < 2)) * x,
        lambda x: np.signbit(x) * x,
        lambda x: np.exp(x > 0) * x,
        lambda x: abs((x > 0) - 0.5) * x,
        lambda x: True * x,
        lambda x: sum([x > 0, x > 1]) * x,
    ],
)
@pytest.mark.parametrize("point", [{}, {"x": 1.5}])
def test_conditions_that_are_used_as_numbers_can_be_shown(f, point):
    e = gx.explain(f, **point)
    assert str(e.derivation(style="both"))
    assert str(e.derivation(detail="full"))
    assert e.to_html()
    assert e.to_json()
    assert e.to_latex()
    assert e.picture().to_svg()


def test_numbers_beyond_the_floats():
    assert gx.explain(lambda x: x**2, 2**64).gradient_values["x"] == 2.0**65
    with pytest.raises(ArgumentError, match="is not finite"):
        gx.explain(lambda x: x**2, 10**400)


@pytest.mark.parametrize(
    "call",
    [
        lambda e: e.derivation(detail="max"),
        lambda e: e.derivation(known=5),
        lambda e: e.plot(secants=(0,)),
        lambda e: e.plot(secants="ab"),
        lambda e: e.plot(around=3),
        lambda e: e.plot(around=(10**400, 1)),
        lambda e: e.check(gradient=10**400),
        lambda e: gx.explain(lambda x: x, wrt=1.5),
        lambda e: gx.check(lambda x, y: x * y, 3.0, 2.0, gradient=(2,)),
        lambda e: gx.descent(lambda x: x**2, (10**400,)),
    ],
)
def test_wrong_arguments_are_errors_of_ours(call):
    with pytest.raises(ArgumentError):
        call(gx.explain("x**2", x=3.0))


def test_messages_hold_nothing_that_a_terminal_obeys():
    def f(x):
        raise ValueError("\x1b[31m\u202e")

    with pytest.raises(FunctionError) as caught:
        gx.explain(f, 1.0)
    assert "\x1b" not in str(caught.value)
    assert "\\x1b[31m\\u202e" in str(caught.value)


def test_a_derivative_that_needs_an_inverse_that_there_is_not():
    e = gx.explain(lambda X: np.linalg.slogdet(X)[1], np.zeros((2, 2)))
    with pytest.raises(gx.errors.DomainError, match="can't be computed at this point"):
        _ = e.gradient_values
    assert e.why().codes == ("undefined-value",)
