"""Matrix notation: what a paper would print for the derivatives of array programs."""

import numpy as np
import pytest

import gradexplain as gx
from tests.simplify.comparing import numpy_value

RNG = np.random.default_rng(3)


def test_the_log_has_what_the_rules_did_and_the_names():
    form = gx.explain(lambda x, S: x @ S @ x, x="n", S="n n", wrt="x")["x"]
    assert [(r.rule, str(r.before), str(r.after)) for r in form.rewrites] == [
        ("common factor", "S @ x + S.T @ x", "(S + S.T) @ x")
    ]

    def logistic(X, w, y):
        p = 1 / (1 + np.exp(-(X @ w)))
        return -np.mean(y * np.log(p) + (1 - y) * np.log(1 - p))

    form = gx.explain(logistic, X="m n", w="n", y="m", wrt="w")["w"]
    *_, last = form.rewrites
    assert (last.rule, str(last.after), dict(last.where)) == ("in terms of", form.text, dict(form.where))
    rng = np.random.default_rng(0)
    point = {"X": rng.uniform(0.2, 1, (5, 3)), "w": rng.uniform(0.2, 1, 3), "y": rng.uniform(0.2, 1, 5)}
    want = gx.grad(logistic, "w")(**point)
    for r in form.rewrites:
        assert np.allclose(eval(str(r.before), vars(np) | {"m": 5} | point), want)
        assert r.evidence == "compared with autodiff at points"


def test_a_long_log_is_left_out():
    def f(X, w):
        for _ in range(9):
            w = w + np.tanh(X @ w)
        return np.sum(w)

    assert gx.explain(f, X="n n", w="n", wrt="w")["w"].rewrites == ()


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


def squares(X, w, y):
    return np.mean((X @ w - y) ** 2)


def test_sizes_have_the_names_that_are_given():
    form = gx.explain(squares, X="a b", w="b", y="a", wrt="w")["w"]
    assert form.text == "2*X.T @ (X @ w - y)/a"
    assert form.numpy == "2*X.T @ (X @ w - y)/len(X)"
    assert ("a", "len(X)") in {(name, text) for name, text, _ in form.shown_parts}


@pytest.mark.parametrize(
    "f",
    [
        squares,
        lambda X, w, y: np.sum((X @ w - y) ** 2) / len(y),
        lambda X, w, y: (1 / X.shape[0]) * np.sum((X @ w - y) ** 2),
    ],
)
def test_a_size_is_a_letter_however_it_is_written(f):
    assert gx.explain(f, X=normal(6, 3), w=normal(3), y=normal(6), wrt="w")["w"].text == "2*X.T @ (X @ w - y)/m"


def test_a_number_that_happens_to_be_a_size_stays_a_number():
    f = lambda X, w: np.sum((X @ w) ** 2) / 6  # noqa: E731
    assert gx.explain(f, X=normal(6, 3), w=normal(3), wrt="w")["w"].text == "X.T @ X @ w/3"


def test_a_function_that_runs_at_one_size_alone_keeps_its_numbers():
    f = lambda X: np.sum((X - np.eye(3)) ** 2) / len(X)  # noqa: E731
    assert gx.explain(f, X=normal(3, 3))["X"].text == "2/3*(X - eye(3))"


def loop(X, w, y):
    total = 0.0
    for i in range(X.shape[0]):
        total = total + (X[i] @ w - y[i]) ** 2
    return total


def test_a_loop_over_rows_is_a_product():
    assert gx.explain(loop, X=normal(4, 3), w=normal(3), y=normal(4), wrt="w")["w"].text == "2*X.T @ (X @ w - y)"


def test_a_small_array_that_is_written_out_has_a_derivative_that_is_written_out():
    def rotated(t, x):
        return np.array([[np.cos(t), -np.sin(t)], [np.sin(t), np.cos(t)]]) @ x

    form = gx.explain_jacobian(rotated, t=0.5, x=normal(2), wrt="t")["t"]
    assert form.text.endswith("@ x")


def test_singular_matrices_and_zeros_have_their_derivatives():
    X = np.outer(normal(3), normal(3))
    e = gx.explain(lambda X: np.linalg.det(X), X=X)
    np.testing.assert_allclose(eval(e["X"].numpy, {"np": np, "X": X}), e.gradient_values["X"], atol=1e-9)
    x = np.array([0.0, 2.0, 3.0])
    e = gx.explain(lambda x: np.prod(x), x=x)
    np.testing.assert_allclose(eval(e["x"].numpy, {"np": np, "x": x}), [6, 0, 0])


@pytest.mark.parametrize("name", ["gammaln", "digamma", "ndtr", "gamma", "erfinv"])
@pytest.mark.parametrize("size", ["n", None])
def test_functions_of_scipy_in_the_derivative_are_checked_and_shown(name, size):
    special = pytest.importorskip("scipy.special")
    f, x = getattr(special, name), np.array([0.3, 0.7, 0.45])

    def loss(a):
        return np.sum(a * f(a))

    form = gx.explain(loss, a=size or x)["a"]
    assert "scipy.special" in form.numpy + str(form.where_numpy)
    assert np.allclose(numpy_value(form, {"a": x}), gx.grad(loss)(x))


def test_layers_share_their_adjoint():
    def network(X, W1, b1, W2, b2, Y):
        Z = X @ W1 + b1
        H = np.maximum(0, Z)
        P = np.exp(H @ W2 + b2) / np.sum(np.exp(H @ W2 + b2), axis=1, keepdims=True)
        return -np.sum(Y * np.log(P)) / X.shape[0]

    arguments = {"X": normal(6, 3), "W1": normal(3, 4), "b1": normal(4), "W2": normal(4, 3), "b2": normal(3)}
    Y = np.eye(3)[[0, 2, 1, 1, 0, 2]]
    e = gx.explain(network, **arguments, Y=Y, wrt=("W1", "b1", "W2", "b2"), facts={"Y": "onehot"})
    assert [e[n].text for n in ("W1", "b1", "W2", "b2")] == [
        "X.T @ R/m", "mean(R, axis=0)", "H.T @ (P - Y)/m", "mean(P - Y, axis=0)",
    ]  # fmt: skip
    assert e["b1"].where_numpy["R"] == "(Z > 0)*((P - Y) @ W2.T)"


def at(form, arguments):
    return np.asarray(numpy_value(form, arguments))


def test_softmax_is_written_as_safely_as_it_was_computed():
    def loss(X, W, Y):
        Z = X @ W
        E = np.exp(Z - np.max(Z, axis=1, keepdims=True))
        P = E / np.sum(E, axis=1, keepdims=True)
        return -np.mean(np.sum(Y * np.log(P), axis=1))

    arguments = {"X": normal(6, 3), "W": normal(3, 4), "Y": np.eye(4)[[0, 1, 2, 3, 1, 2]]}
    form = gx.explain(loss, **arguments, wrt="W", facts={"Y": "onehot"})["W"]
    assert form.text == "X.T @ (P - Y)/m"
    assert form.where_numpy["E"] == "np.exp(X @ W - np.max(X @ W, axis=1, keepdims=True))"
    with np.errstate(over="raise"):
        assert np.all(np.isfinite(at(form, {**arguments, "X": 1e4 * arguments["X"]})))
    jacobian = gx.explain_jacobian(softmax, z=normal(4))["z"]
    with np.errstate(over="raise"):
        found = at(jacobian, {"z": np.array([1e4, 1e4, 0.0, 1.0])})
    np.testing.assert_allclose(found[:2, :2], [[0.25, -0.25], [-0.25, 0.25]])


def elu(x):
    return np.where(x > 0, x, np.exp(x) - 1)


def both_sides(x):
    positive = x > 0
    return np.sum(np.where(positive, x**2, np.sin(x))) + np.sum(np.where(positive, np.exp(x), x**3))


@pytest.mark.parametrize(
    ("f", "text"),
    [
        (lambda x: np.sum(elu(x) ** 2), "where(x > 0, 2*x, 2*exp(x)*(exp(x) - 1))"),
        (lambda x: np.sum(np.where(x > 0, x, 0.1 * x) ** 2), "where(x > 0, 2*x, 0.02*x)"),
        (both_sides, "where(x > 0, exp(x) + 2*x, 3*x**2 + cos(x))"),
    ],
)
def test_a_condition_is_written_once(f, text):
    x = np.array([0.5, -0.4, 1.2, -2.0])
    e = gx.explain(f, x)
    assert e["x"].text == text
    np.testing.assert_allclose(at(e["x"], {"x": x}), e.gradient_values["x"])


MAXIMA = [
    (lambda x: np.max(x), "1.0*(x == max(x))", ("sum(x == max(x)) = 1",)),
    (lambda x: np.max(x) - np.min(x), "1.0*(x == max(x)) - 1.0*(x == min(x))",
     ("sum(x == max(x)) = 1", "sum(x == min(x)) = 1")),
    (lambda x: np.max(x) ** 2, "2*max(x)*(x == max(x))", ("sum(x == max(x)) = 1",)),
    (lambda x: np.max(np.abs(x)), "sign(x)*(abs(x) == max(abs(x)))", ("sum(abs(x) == max(abs(x))) = 1",)),
]  # fmt: skip


@pytest.mark.parametrize(("f", "text", "conditions"), MAXIMA)
def test_the_largest_entry_is_marked_by_numbers(f, text, conditions):
    x = np.array([0.5, -0.4, 1.2, -2.0])
    e = gx.explain(f, x)
    assert (e["x"].text, e["x"].conditions) == (text, conditions)
    found = at(e["x"], {"x": x})
    assert found.dtype.kind == "f"
    np.testing.assert_allclose(found, e.gradient_values["x"])


def test_where_entries_tie_they_share():
    e = gx.explain(lambda x: np.max(x), np.array([1.0, 3.0, 3.0]))
    assert (e["x"].text, e["x"].conditions) == ("r/sum(r)", ())


SUMS_ON_THE_WAY = [
    (lambda x, y: np.cumsum(x) @ y, {"x": "cumsum(y[::-1])[::-1]", "y": "cumsum(x)"}),
    (lambda x: np.sum(np.cumsum(x) ** 2), {"x": "2*cumsum(cumsum(x)[::-1])[::-1]"}),
    (lambda x, y: x[::-1] @ y, {"x": "y[::-1]", "y": "x[::-1]"}),
    (lambda x: np.sum(x - np.log(np.cumsum(np.exp(x)[::-1])[::-1])),
     {"x": "1 - exp(x)*cumsum(1/cumsum(exp(x)[::-1])[::-1])"}),
    (lambda A: np.sum(np.cumsum(A, axis=1) ** 2), {"A": "2*cumsum(cumsum(A, axis=1)[:, ::-1], axis=1)[:, ::-1]"}),
]  # fmt: skip


@pytest.mark.parametrize(("f", "expected"), SUMS_ON_THE_WAY)
def test_sums_up_to_each_entry(f, expected):
    arguments = {n: normal(4, 3) if n == "A" else normal(4) for n in expected}
    e = gx.explain(f, **arguments)
    assert {n: e[n].text for n in expected} == expected
    for n in expected:
        np.testing.assert_allclose(at(e[n], arguments), e.gradient_values[n])


def test_the_jacobian_of_cumsum_is_a_triangle():
    assert gx.explain_jacobian(lambda x: np.cumsum(x), x=normal(4))["x"].text == "tril(ones((m, m)))"
    e = gx.explain_hessian(lambda x: np.sum(np.cumsum(x) ** 2), x=normal(4))
    assert e["x"].text == "2*tril(ones((m, m))).T @ tril(ones((m, m)))"
    assert e.check().ok


def test_a_name_that_comes_in_twice_is_squared():
    e = gx.explain(lambda x, S: x @ np.linalg.inv(S) @ x, x="n", S="n n", wrt="S", structured="S")
    assert e["S"].text == "diag(r**2) - 2*outer(r, r)"
