"""Pullbacks and pushforwards in closed form: compared with `vjp`, `jvp` and with differences."""

import numpy as np
import pytest

import gradexplain as gx
from gradexplain.errors import ArgumentError
from tests.simplify.comparing import numpy_value

RNG = np.random.default_rng(2)


def normal(*shape):
    return RNG.normal(size=shape)


def softmax(z):
    e = np.exp(z - np.max(z))
    return e / np.sum(e)


def network(X, W1, W2):
    H = np.tanh(X @ W1)
    return H @ W2


def attention(Q, K, V):
    S = Q @ K.T
    E = np.exp(S)
    return (E / np.sum(E, axis=1, keepdims=True)) @ V


PROGRAMS = [
    (lambda X, w: X @ w, {"X": normal(5, 3), "w": normal(3)}),
    (softmax, {"z": normal(4)}),
    (network, {"X": normal(5, 3), "W1": normal(3, 4), "W2": normal(4, 2)}),
    (attention, {"Q": normal(5, 3), "K": normal(4, 3), "V": normal(4, 2)}),
    (lambda x: np.sin(x) * x, {"x": normal(4)}),
    (lambda A: np.linalg.inv(A), {"A": normal(3, 3) + 3 * np.eye(3)}),
    (lambda A: np.linalg.det(A), {"A": normal(3, 3)}),
    (lambda A: np.linalg.cholesky(A @ A.T + np.eye(3)), {"A": normal(3, 3)}),
    (lambda x: np.cumsum(x), {"x": normal(4)}),
    (lambda x: x / np.linalg.norm(x), {"x": normal(4)}),
    (lambda X: X - np.mean(X, axis=0), {"X": normal(4, 3)}),
    (lambda x, y: x**2 * y, {"x": 2.0, "y": 3.0}),
    (lambda x: (x**2, np.sin(x)), {"x": 2.0}),
    (lambda x: np.array([x[0] * x[1], x[1] ** 2]), {"x": normal(2)}),
    (lambda x: x[0] if x[0] > 0 else x[1], {"x": np.array([1.0, 2.0])}),
    (lambda x, c=2.0: c * x, {"x": normal(3)}),
    (lambda x, y: x @ y, {"x": normal(3), "y": normal(3)}),
]


@pytest.mark.parametrize(("f", "arguments"), PROGRAMS)
def test_pullbacks_are_those_of_vjp(f, arguments):
    y, pullback = gx.vjp(f, *arguments.values())
    g = RNG.normal(size=np.shape(y)) if np.shape(y) else 0.7
    e = gx.explain_vjp(f, **arguments, g=g)
    for name, want in zip(arguments, pullback(g), strict=True):
        np.testing.assert_allclose(e.gradient_values[name], want, rtol=1e-7, atol=1e-9)
        np.testing.assert_allclose(numpy_value(e[name], {"c": 2.0, **arguments, "g": g}), want, rtol=1e-7, atol=1e-9)
    assert e.check().ok


@pytest.mark.parametrize(("f", "arguments"), PROGRAMS)
def test_pushforwards_are_those_of_jvp(f, arguments):
    along = {f"d{n}": RNG.normal(size=np.shape(v)) if np.shape(v) else 0.3 for n, v in arguments.items()}
    e = gx.explain_jvp(f, **arguments, **along)
    (key,) = e.gradients
    _, want = gx.jvp(f, tuple(arguments.values()), tuple(along.values()))
    np.testing.assert_allclose(e.gradient_values[key], want, rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(numpy_value(e[key], {"c": 2.0, **arguments, **along}), want, rtol=1e-7, atol=1e-9)
    ends = [f(**{n: v + s * 1e-6 * along[f"d{n}"] for n, v in arguments.items()}) for s in (1, -1)]
    np.testing.assert_allclose(want, (np.asarray(ends[0]) - np.asarray(ends[1])) / 2e-6, rtol=1e-4, atol=1e-6)
    assert e.check().ok
    assert not e.check(np.asarray(want) + 0.1).ok


def test_matrix_notation():
    pulled = gx.explain_vjp(network, X="m n", W1="n k", W2="k c", wrt=("X", "W1", "W2"), cotangent="G")
    assert {n: f.text for n, f in pulled.gradients.items()} == {
        "X": "delta @ W1.T",
        "W1": "X.T @ delta",
        "W2": "H.T @ G",
    }
    assert pulled["X"].where_numpy["delta"] == "(1 - H**2)*(G @ W2.T)"
    pushed = gx.explain_jvp(network, X="m n", W1="n k", W2="k c", wrt="X")
    assert pushed["dy"].text == "((1 - tanh(X @ W1)**2)*(dX @ W1)) @ W2"
    assert pushed["dy"].level == "matrix notation"
    assert gx.explain_jvp(lambda A: np.linalg.inv(A), A="n n")["dy"].text == "-inv(A) @ dA @ inv(A)"


def test_of_numbers_and_text():
    assert gx.explain_jvp("x**2*y")["df"].text == "x**2*dy + 2*x*y*dx"
    assert gx.explain_jvp(np.sin)["dy"].text == "dx*cos(x)"
    assert gx.explain_vjp("x**2*y", x=2, y=3, g=2.0).gradient_values == {"x": 24.0, "y": 8.0}
    assert gx.explain_vjp(lambda x: x**2)["x"].text == "2*g*x"


def test_directions_that_are_not_given_are_ones():
    X, w = normal(5, 3), normal(3)
    assert gx.explain_vjp(lambda X, w: X @ w, X, w).gradient_values["w"] == pytest.approx(X.sum(axis=0))
    assert gx.explain_jvp(lambda X, w: X @ w, X, w, wrt="w").gradient_values["dy"] == pytest.approx(X.sum(axis=1))


def test_what_is_said():
    said = " ".join(str(gx.explain_vjp(lambda X, w: X @ w, X="m n", w="n", cotangent="v")).split())
    assert "dy/dw = X.T @ v" in said
    assert "v is a cotangent of the result" in said
    e = gx.explain_jvp(lambda X, w: X @ w, X="m n", w="n", wrt="w")
    assert "dy = X @ dw" in str(e)
    assert r"d y = X \, dw" in e.to_latex() or "d y =" in e.to_latex()
    assert "Forward mode" in str(e.derivation())
    assert e.why() is not None


@pytest.mark.parametrize(
    ("call", "what"),
    [
        (lambda: gx.explain_vjp(lambda g: g**2, 1.0), "a direction can't be called g"),
        (lambda: gx.explain_vjp(lambda x: x**2, 1.0, cotangent="2"), "a direction can't be called 2"),
        (lambda: gx.explain_vjp(lambda x: x**2, np.ones(3), g=np.ones(2)), r"g has shape \(2,\)"),
        (lambda: gx.explain_jvp(lambda x: x**2, np.ones(3), dx=np.ones(2)), r"dx has shape \(2,\)"),
        (lambda: gx.explain_jvp(lambda x, dx: x * dx, 1.0, 2.0, wrt="x"), "a direction can't be called dx"),
        (lambda: gx.explain_jvp(lambda x, y: x * y, 1.0, 2.0, wrt="x", dy=1.0), "dy is given, but y does not move"),
        (lambda: gx.explain_jvp(lambda x: x**2, 1.0, dz=1.0), "has no argument dz"),
    ],
)
def test_directions_that_do_not_fit(call, what):
    with pytest.raises(ArgumentError, match=what):
        call()


def test_a_cotangent_has_the_letters_of_the_result():
    pulled = gx.explain_vjp(lambda x, W, b: np.tanh(W @ x + b), x="n", W="m n", b="m")
    assert {key: form.conditions for key, form in pulled.gradients.items()} == {"x": (), "W": (), "b": ()}
