"""Matrix notation: what a paper would print for the derivatives of array programs."""

import numpy as np
import pytest

import gradexplain as gx

RNG = np.random.default_rng(3)


def normal(*shape):
    return RNG.normal(size=shape)


def softmax(z):
    e = np.exp(z - np.max(z, axis=-1, keepdims=True))
    return e / np.sum(e, axis=-1, keepdims=True)


def logistic(X, w, y):
    p = 1 / (1 + np.exp(-(X @ w)))
    return -np.sum(y * np.log(p) + (1 - y) * np.log(1 - p))


def network(X, W1, W2, Y):
    H = np.tanh(X @ W1)
    return np.sum((H @ W2 - Y) ** 2)


GRADIENTS = [
    (lambda x, a: x @ a, {"x": normal(3), "a": normal(3)}, {"x": "a", "a": "x"}),
    (lambda X, w, y: np.sum((X @ w - y) ** 2),
     {"X": normal(5, 3), "w": normal(3), "y": normal(5)}, {"w": "2*X.T @ (X @ w - y)"}),
    (lambda X: np.trace(X @ X), {"X": normal(3, 3)}, {"X": "2*X.T"}),
    (lambda X, B: np.trace(X @ B @ X.T), {"X": normal(2, 3), "B": normal(3, 3)}, {"X": "X @ (B + B.T)"}),
    (lambda X: np.linalg.det(X), {"X": normal(3, 3)}, {"X": "det(X)*inv(X).T"}),
    (lambda x: np.linalg.norm(x), {"x": normal(4)}, {"x": "x/norm(x)"}),
    (lambda z: np.log(np.sum(np.exp(z))), {"z": normal(4)}, {"z": "exp(z)/sum(exp(z))"}),
]  # fmt: skip


@pytest.mark.parametrize(("f", "arguments", "expected"), GRADIENTS)
def test_gradients_of_the_textbooks(f, arguments, expected):
    e = gx.explain(f, wrt=tuple(expected), **arguments)
    assert {key: e[key].text for key in expected} == expected
    assert {e[key].level for key in expected} == {"matrix notation"}


def test_the_source_of_a_form_runs():
    arguments = {"X": normal(6, 3), "w": normal(3), "y": (normal(6) > 0) * 1.0}
    e = gx.explain(logistic, wrt="w", **arguments)
    space = {"np": np, **arguments}
    for name, definition in e["w"].where_numpy.items():
        space[name] = eval(definition, space)
    np.testing.assert_allclose(eval(e["w"].numpy, space), e.gradient_values["w"], rtol=1e-12)


def test_facts_are_put_to_use():
    def f(x, S):
        return x @ S @ x

    arguments = {"x": normal(3), "S": np.eye(3) + 0.1}
    assert gx.explain(f, wrt="x", **arguments)["x"].text == "(S + S.T) @ x"
    assert gx.explain(f, wrt="x", facts={"S": "symmetric"}, **arguments)["x"].text == "2*S @ x"


def test_one_hot_rows_add_up_to_one():
    def f(z, y):
        return -np.sum(y * np.log(np.exp(z) / np.sum(np.exp(z))))

    arguments = {"z": normal(4), "y": np.eye(4)[1]}
    assert gx.explain(f, wrt="z", facts={"y": "onehot"}, **arguments)["z"].text == "exp(z)/sum(exp(z)) - y"


def test_softmax_has_its_textbook_jacobian():
    form = gx.explain_jacobian(lambda z: np.exp(z) / np.sum(np.exp(z)), z=normal(4))["z"]
    (name, definition) = next(iter(form.where_numpy.items()))
    assert form.text == f"diag({name}) - outer({name}, {name})"
    assert definition == "np.exp(z)/np.sum(np.exp(z))"


def test_the_size_of_arrays_does_not_matter():
    f = lambda X, w, y: np.sum((X @ w - y) ** 2)  # noqa: E731
    small = gx.explain(f, wrt="w", X=normal(5, 3), w=normal(3), y=normal(5))["w"].text
    assert gx.explain(f, wrt="w", X=normal(500, 30), w=normal(30), y=normal(500))["w"].text == small


def test_a_wrong_fact_gives_no_formula_that_uses_it():
    form = gx.explain(lambda x, S: x @ S @ x, wrt="x", facts={"S": "symmetric"}, x=normal(3), S=normal(3, 3))["x"]
    assert form.text != "2*S @ x"
