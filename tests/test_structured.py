"""Derivatives along symmetric matrices: compared with differences that move both entries of a pair."""

import numpy as np
import pytest

import gradexplain as gx
from gradexplain.errors import ArgumentError
from gradexplain.structured import tied_array
from tests.simplify.comparing import numpy_value

RNG = np.random.default_rng(5)
S = np.array([[2.0, 0.3, 0.1], [0.3, 3.0, 0.2], [0.1, 0.2, 4.0]])
X, V, A = RNG.normal(size=3), RNG.normal(size=3), RNG.normal(size=(3, 3))
STEP = 1e-5


def slopes(f, at):
    """The differences of f, an entry at a time, with its twin."""
    found = np.zeros((*np.shape(f(at)), 3, 3))
    for i, j in np.ndindex(3, 3):
        move = np.zeros((3, 3))
        move[i, j] = move[j, i] = STEP
        found[..., i, j] = (f(at + move) - f(at - move)) / (2 * STEP)
    return found


PROGRAMS = [
    (lambda A, S: np.trace(A @ S), {"A": A}, "A.T + A - diag(diag(A))"),
    (lambda S: np.linalg.slogdet(S)[1], {}, "2*inv(S) - diag(diag(inv(S)))"),
    (lambda X, S: X @ S @ X, {"X": X}, "2*outer(X, X) - diag(X**2)"),
    (lambda X, V, S: X @ S @ V, {"X": X, "V": V}, "outer(X, V) + outer(V, X) - diag(X*V)"),
    (lambda S: np.sum(S**2), {}, "4*S - 2*diag(diag(S))"),
    (lambda S: np.sum(np.exp(S)), {}, "2*exp(S) - diag(diag(exp(S)))"),
    (lambda S: S[0, 0] * S[1, 1] - S[0, 1] ** 2, {}, "[[S1_1, -2*S0_1, 0], [-2*S0_1, S0_0, 0], [0, 0, 0]]"),
    (lambda X, S: X @ np.linalg.solve(S, X) + np.log(np.linalg.det(S)), {"X": X}, None),
    (lambda S: np.sum(np.linalg.cholesky(S) ** 3), {}, None),
    (lambda S: np.trace(S @ S @ S), {}, None),
]


@pytest.mark.parametrize(("f", "others", "text"), PROGRAMS)
def test_gradients_move_both_entries(f, others, text):
    e = gx.explain(f, **others, S=S, wrt="S", structured=("S",))
    assert text is None or e["S"].text == text
    want = slopes(lambda s: f(*others.values(), s), S)
    np.testing.assert_allclose(e.gradient_values["S"], want, rtol=1e-5, atol=1e-7)
    np.testing.assert_allclose(numpy_value(e["S"], {**others, "S": S}), want, rtol=1e-5, atol=1e-7)
    assert e.check().ok


def test_jacobians_and_hessians_move_both_entries():
    e = gx.explain_jacobian(lambda X, S: S @ S @ X, X=X, S=S, wrt="S", structured="S")
    want = slopes(lambda s: s @ s @ X, S)
    np.testing.assert_allclose(numpy_value(e["S"], {"X": X, "S": S}), want, rtol=1e-5, atol=1e-7)
    assert e.check().ok
    f = lambda X, S: np.sum((S @ X) ** 2) + np.trace(S @ S @ S)  # noqa: E731
    e = gx.explain_hessian(f, X=X, S=S, wrt=("X", "S"), structured="S")
    gradient = gx.explain(f, X=X, S=S, wrt=("X", "S"), structured="S")
    for key, first in (("S,S", "S"), ("X,S", "X")):
        want = slopes(lambda s, first=first: numpy_value(gradient[first], {"X": X, "S": s}), S)
        np.testing.assert_allclose(numpy_value(e[key], {"X": X, "S": S}), want, rtol=1e-5, atol=1e-6)
    assert e["S,X"].shape == (3, 3, 3)
    assert e.check().ok


def test_a_claimed_gradient_is_judged_along_symmetric_matrices():
    f = lambda A, S: np.trace(A @ S)  # noqa: E731
    assert gx.check(f, A=A, S=S, wrt="S", structured="S", gradient=tied_array(A)).ok
    assert not gx.check(f, A=A, S=S, wrt="S", structured="S", gradient=A.T).ok


def test_what_is_said():
    e = gx.explain(lambda x, S: x @ S @ x, x="n", S="n n", wrt="S", structured="S")
    said = " ".join(str(e).split())
    assert "taken as given: S is symmetric" in said
    assert "S stays symmetric: its entries move in pairs" in said
    derived = " ".join(e.derivation().to_text().split())
    independent, along = derived.split("S stays symmetric")
    assert "dy/dS = outer(x, x)" in independent
    assert along.endswith("dy/dS = 2*outer(x, x) - diag(x**2)")


def test_a_notebook_repeats_what_was_asked_for():
    def trace(S):
        return np.trace(S @ S)

    assert "structured=['S']" in gx.explain(trace, S=S, structured="S").to_notebook()
    assert "facts={'S': ('symmetric',)}" in gx.explain(trace, S=S, facts={"S": "symmetric"}).to_notebook()


@pytest.mark.parametrize(
    ("structured", "arguments", "what"),
    [
        ("T", {"X": X, "S": S}, "names T, which is no argument"),
        (("X",), {"X": X, "S": S}, r"names X, which has shape \(3,\)"),
        ("S", {"X": X, "S": A}, "names S, which is not symmetric"),
        (5, {"X": X, "S": S}, "structured=5"),
    ],
)
def test_what_can_not_be_structured(structured, arguments, what):
    with pytest.raises(ArgumentError, match=what):
        gx.explain(lambda X, S: X @ S @ X, structured=structured, **arguments)


def test_a_matrix_that_is_not_square():
    with pytest.raises(ArgumentError, match="only a square matrix"):
        gx.explain(lambda S: np.sum(S**2), S=np.ones((2, 3)), structured="S")


@pytest.mark.parametrize("fact", ["symmetric", "positive-definite"])
def test_a_vector_is_no_symmetric_matrix(fact):
    with pytest.raises(gx.errors.ArgumentError, match="only a square matrix"):
        gx.explain(lambda y, x: np.sum(y * x), y=np.ones(3), x=np.ones(3), wrt="x", facts={"y": fact})
