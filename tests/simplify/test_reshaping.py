"""Programs that take arrays apart and put them together: no reshape is left where none is needed."""

import numpy as np
import pytest

import gradexplain as gx
from tests.simplify.comparing import numpy_value

RNG = np.random.default_rng(4)
ARRAYS = {
    "X": RNG.normal(size=(4, 3)), "Y": RNG.normal(size=(4, 3)), "A": RNG.normal(size=(3, 3)),
    "B": RNG.normal(size=(2, 2)), "v": RNG.normal(size=6), "w": RNG.normal(size=6),
}  # fmt: skip
FORMS = [
    (lambda X, Y: X.ravel() @ Y.ravel(), {"X": "Y", "Y": "X"}),
    (lambda X: np.sum(X.ravel() ** 2), {"X": "2*X"}),
    (lambda X: np.linalg.norm(X.reshape(-1)), {"X": "X/norm(X)"}),
    (lambda X, Y: np.sum(np.exp(3 * X.ravel()) / (1 + Y.ravel() ** 2)), {"X": "3*exp(3*X)/(1 + Y**2)"}),
    (lambda X: np.sum(X.reshape(2, 6).ravel() * 2), {"X": "2*ones((4, 3))"}),
    (lambda A: np.trace(np.kron(A, A)), {"A": "2*trace(A)*eye(m)"}),
    (lambda A, B: np.trace(np.kron(A, B)), {"A": "trace(B)*eye(m)", "B": "trace(A)*eye(n)"}),
    (lambda A, B: np.sum(np.kron(A, B) ** 2), {"A": "2*sum(B**2)*A", "B": "2*sum(A**2)*B"}),
    (lambda A, B, v, w: v @ np.kron(A, B) @ w, {"A": None, "B": None, "v": None, "w": None}),
    (lambda A, B, v, w: w @ (np.kron(A, B).T @ v), {"A": None, "B": None, "v": None}),
]


@pytest.mark.parametrize(("f", "expected"), FORMS)
def test_forms_without_needless_reshapes(f, expected):
    names = f.__code__.co_varnames[: f.__code__.co_argcount]
    arguments = {n: ARRAYS[n] for n in names}
    e = gx.explain(f, **arguments, wrt=tuple(expected))
    for name, text in expected.items():
        assert text is None or e[name].text == text
        assert e[name].level == "matrix notation"
        np.testing.assert_allclose(numpy_value(e[name], arguments), e.gradient_values[name], rtol=1e-9)
    assert e.check().ok


def log_determinant(S):
    return 2 * np.sum(np.log(np.diag(np.linalg.cholesky(S))))


def test_the_determinant_by_a_cholesky_factor():
    S = ARRAYS["A"] @ ARRAYS["A"].T + np.eye(3)
    assert gx.explain(log_determinant, S, facts={"S": ("symmetric", "positive-definite")})["S"].text == "inv(S)"
    form = gx.explain(log_determinant, S)["S"]
    assert (form.text, form.conditions) == ("inv(S).T", ("S.T = S", "det(S) != 0"))
    np.testing.assert_allclose(numpy_value(form, {"S": S}), np.linalg.inv(S))


def test_a_factor_of_what_is_not_symmetric_keeps_its_own_derivative():
    A = ARRAYS["A"] @ ARRAYS["A"].T + np.eye(3)
    A[0, 1] += 0.5  # above the diagonal, where nobody looks
    e = gx.explain(log_determinant, A)
    assert "S.T = S" not in e["S"].conditions
    np.testing.assert_allclose(numpy_value(e["S"], {"S": A}), e.gradient_values["S"])


DETERMINANTS = [
    (lambda a, u, v: np.linalg.det(np.diag(a) + np.outer(u, v)), {"u": "prod(a)*v/a", "v": "prod(a)*u/a"}),
    (lambda u: np.linalg.det(np.eye(4) + np.outer(u, u)), {"u": "2*u"}),
]


@pytest.mark.parametrize(("f", "expected"), DETERMINANTS)
def test_the_determinant_lemma(f, expected):
    names = f.__code__.co_varnames[: f.__code__.co_argcount]
    arguments = {n: RNG.uniform(0.5, 2, size=4) for n in names}
    e = gx.explain(f, **arguments)
    assert {n: e[n].text for n in expected} == expected
    assert e.check().ok
    if "a" in arguments:
        assert e["u"].conditions == ("a != 0",)
        arguments["a"][1] = 0.0
        e = gx.explain(f, **arguments)
        np.testing.assert_allclose(numpy_value(e["u"], arguments), e.gradient_values["u"])
        assert "prod" not in e["u"].text


def test_the_product_of_others_holds_at_zeros():
    x = np.array([1.0, 0.0, 2.0, 3.0])
    form = gx.explain(lambda x: np.prod(x), x)["x"]
    assert form.numpy == "np.prod(np.where(np.eye(x.size) == 1, 1, x), axis=1)"
    np.testing.assert_array_equal(numpy_value(form, {"x": x}), [0, 6, 0, 0])
