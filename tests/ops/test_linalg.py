"""np.linalg on nodes, in many spellings, against NumPy and difference quotients; hard points; what is refused."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest

from gradexplain.autodiff import jvp, vjp
from gradexplain.errors import GradexplainError, NoRuleError
from gradexplain.evaluate import evaluate, evaluate_exact, exact_array
from gradexplain.graph import Node, variable
from gradexplain.lambdify import expression
from gradexplain.ops.linalg import det
from gradexplain.primitive import NUMPY

from .differences import assert_same_function


class OnNodes:
    """Stands for `np.linalg`: its functions on nodes."""

    def __getattr__(self, name):
        return NUMPY[getattr(np.linalg, name)]


def symmetric(x):
    return (x + (NUMPY[np.swapaxes] if isinstance(x, Node) else np.swapaxes)(x, -1, -2)) / 2


def points(kind, *shapes):
    """Operands: well-conditioned square matrices where `kind` says so, else what is normally distributed."""
    rng = np.random.default_rng(3)
    out = [rng.normal(size=s) for s in shapes]
    n = shapes[0][-1] if shapes[0] else 0
    if kind == "invertible":
        out[0] = out[0] + 3 * np.eye(n)
    elif kind == "spd":
        out[0] = out[0] @ np.swapaxes(out[0], -1, -2) + n * np.eye(n)
    return out


# A function of np.linalg and operands, what the first of these must be, and their shapes.
CASES = {
    "inv": (lambda la, x: la.inv(x), "invertible", (3, 3)),
    "inv, stack": (lambda la, x: la.inv(x), "invertible", (2, 2, 2)),
    "det": (lambda la, x: la.det(x), "invertible", (3, 3)),
    "det, 1 by 1": (lambda la, x: la.det(x), "normal", (1, 1)),
    "det, stack": (lambda la, x: la.det(x), "normal", (2, 3, 3)),
    "slogdet": (lambda la, x: la.slogdet(x)[1], "invertible", (3, 3)),
    "slogdet, names": (lambda la, x: la.slogdet(x).logabsdet, "invertible", (3, 3)),
    "slogdet, negative": (lambda la, x: la.slogdet(-x)[0] * la.slogdet(x)[1], "invertible", (3, 3)),
    "slogdet, stack": (lambda la, x: la.slogdet(x)[1], "invertible", (2, 2, 2)),
    "solve, vector": (lambda la, a, b: la.solve(a, b), "invertible", (3, 3), (3,)),
    "solve, matrix": (lambda la, a, b: la.solve(a, b), "invertible", (3, 3), (3, 2)),
    "solve, stack": (lambda la, a, b: la.solve(a, b), "invertible", (2, 2, 2), (2, 2, 1)),
    "solve, stack and vector": (lambda la, a, b: la.solve(a, b), "invertible", (2, 3, 3), (3,)),
    "solve, stack and matrix": (lambda la, a, b: la.solve(a, b), "invertible", (2, 3, 3), (3, 2)),
    "solve, matrix and stack": (lambda la, a, b: la.solve(a, b), "invertible", (3, 3), (2, 3, 1)),
    "solve, constant": (lambda la, a: la.solve(a, np.array([1.0, 2.0, 3.0])), "invertible", (3, 3)),
    "solve, identity": (lambda la, b: la.solve(3 * np.eye(3) + 1, b), "normal", (3,)),
    "pinv, tall": (lambda la, x: la.pinv(x), "normal", (4, 2)),
    "pinv, wide": (lambda la, x: la.pinv(x), "normal", (2, 3)),
    "pinv, square": (lambda la, x: la.pinv(x), "invertible", (3, 3)),
    "pinv, stack": (lambda la, x: la.pinv(x), "normal", (2, 3, 2)),
    "pinv, rcond": (lambda la, x: la.pinv(x, 1e-10), "normal", (3, 2)),
    "matrix_power, 0": (lambda la, x: la.matrix_power(x, 0), "normal", (3, 3)),
    "matrix_power, 1": (lambda la, x: la.matrix_power(x, 1), "normal", (3, 3)),
    "matrix_power, 2": (lambda la, x: la.matrix_power(x, 2), "normal", (2, 2)),
    "matrix_power, 3": (lambda la, x: la.matrix_power(x, 3), "normal", (2, 2)),
    "matrix_power, 7": (lambda la, x: la.matrix_power(x, 7), "normal", (2, 2)),
    "matrix_power, -1": (lambda la, x: la.matrix_power(x, -1), "invertible", (2, 2)),
    "matrix_power, -2": (lambda la, x: la.matrix_power(x, -2), "invertible", (2, 2)),
    "matrix_power, stack": (lambda la, x: la.matrix_power(x, 3), "normal", (2, 2, 2)),
    "cholesky": (lambda la, x: la.cholesky(symmetric(x)), "spd", (3, 3)),
    "cholesky, upper": (lambda la, x: la.cholesky(symmetric(x), upper=True), "spd", (3, 3)),
    "cholesky, stack": (lambda la, x: la.cholesky(symmetric(x)), "spd", (2, 2, 2)),
    "eigvalsh": (lambda la, x: la.eigvalsh(symmetric(x)), "normal", (3, 3)),
    "eigvalsh, upper": (lambda la, x: la.eigvalsh(symmetric(x), "U"), "normal", (3, 3)),
    "eigvalsh, stack": (lambda la, x: la.eigvalsh(symmetric(x)), "normal", (2, 2, 2)),
    "eigh": (lambda la, x: tuple(la.eigh(symmetric(x))), "normal", (3, 3)),
    "eigh, upper": (lambda la, x: la.eigh(symmetric(x), UPLO="U")[1], "normal", (3, 3)),
    "eigh, names": (lambda la, x: la.eigh(symmetric(x)).eigenvectors, "normal", (2, 2)),
    "eigh, stack": (lambda la, x: tuple(la.eigh(symmetric(x))), "normal", (2, 2, 2)),
    "svd": (lambda la, x: tuple(la.svd(x)), "normal", (3, 3)),
    "svd, tall": (lambda la, x: tuple(la.svd(x, full_matrices=False)), "normal", (4, 2)),
    "svd, wide": (lambda la, x: tuple(la.svd(x, False)), "normal", (2, 3)),
    "svd, names": (lambda la, x: la.svd(x).Vh, "normal", (2, 2)),
    "svd, values": (lambda la, x: la.svd(x, compute_uv=False), "normal", (3, 2)),
    "svd, stack": (lambda la, x: tuple(la.svd(x, False)), "normal", (2, 3, 2)),
    "svdvals": (lambda la, x: la.svdvals(x), "normal", (2, 3)),
    "qr": (lambda la, x: tuple(la.qr(x)), "normal", (3, 3)),
    "qr, tall": (lambda la, x: tuple(la.qr(x)), "normal", (4, 2)),
    "qr, r": (lambda la, x: la.qr(x, mode="r"), "normal", (3, 2)),
    "qr, names": (lambda la, x: la.qr(x).Q, "normal", (3, 2)),
    "qr, stack": (lambda la, x: tuple(la.qr(x)), "normal", (2, 3, 2)),
    "norm": (lambda la, x: la.norm(x), "normal", (3,)),
    "norm, matrix": (lambda la, x: la.norm(x), "normal", (2, 3)),
    "norm, many axes": (lambda la, x: la.norm(x), "normal", (2, 2, 2)),
    "norm, keepdims": (lambda la, x: la.norm(x, keepdims=True), "normal", (2, 3)),
    "norm, 2": (lambda la, x: la.norm(x, 2), "normal", (3,)),
    "norm, 1": (lambda la, x: la.norm(x, 1), "normal", (3,)),
    "norm, 3": (lambda la, x: la.norm(x, 3), "normal", (3,)),
    "norm, 2.5": (lambda la, x: la.norm(x, ord=2.5), "normal", (3,)),
    "norm, np.float64": (lambda la, x: la.norm(x, ord=np.float64(1.5)), "normal", (3,)),
    "norm, 0": (lambda la, x: la.norm(x, 0), "normal", (3,)),
    "norm, inf": (lambda la, x: la.norm(x, np.inf), "normal", (3,)),
    "norm, -inf": (lambda la, x: la.norm(x, -np.inf), "normal", (3,)),
    "norm, axis": (lambda la, x: la.norm(x, axis=0), "normal", (3, 2)),
    "norm, axis -1": (lambda la, x: la.norm(x, axis=-1, keepdims=True), "normal", (3, 2)),
    "norm, axis, 3": (lambda la, x: la.norm(x, 3, axis=1, keepdims=True), "normal", (3, 2)),
    "norm, axis, inf": (lambda la, x: la.norm(x, np.inf, 0), "normal", (3, 2)),
    "norm, axis in tuple": (lambda la, x: la.norm(x, 1, axis=(1,)), "normal", (3, 2)),
    "norm, fro": (lambda la, x: la.norm(x, "fro"), "normal", (3, 2)),
    "norm, nuc": (lambda la, x: la.norm(x, "nuc"), "normal", (3, 2)),
    "norm, matrix, 2": (lambda la, x: la.norm(x, 2), "normal", (3, 2)),
    "norm, matrix, -2": (lambda la, x: la.norm(x, -2), "normal", (3, 2)),
    "norm, matrix, 1": (lambda la, x: la.norm(x, 1), "normal", (3, 2)),
    "norm, matrix, -1": (lambda la, x: la.norm(x, -1), "normal", (3, 2)),
    "norm, matrix, inf": (lambda la, x: la.norm(x, np.inf), "normal", (3, 2)),
    "norm, matrix, -inf": (lambda la, x: la.norm(x, -np.inf, keepdims=True), "normal", (3, 2)),
    "norm, axes": (lambda la, x: la.norm(x, axis=(0, 2)), "normal", (2, 3, 2)),
    "norm, axes, 2": (lambda la, x: la.norm(x, 2, axis=(2, 0), keepdims=True), "normal", (2, 3, 2)),
    "norm, axes, 1": (lambda la, x: la.norm(x, 1, axis=(0, 1)), "normal", (2, 3, 2)),
    "norm, axes, 1, turned": (lambda la, x: la.norm(x, 1, axis=(1, 0), keepdims=True), "normal", (2, 3, 2)),
    "norm, axes, nuc": (lambda la, x: la.norm(x, "nuc", axis=(1, 2)), "normal", (2, 3, 2)),
    "norm, axes, -1": (lambda la, x: la.norm(x, np.inf, axis=(-2, -1)), "normal", (2, 3, 2)),
    "vector_norm": (lambda la, x: la.vector_norm(x), "normal", (2, 3)),
    "vector_norm, axis": (lambda la, x: la.vector_norm(x, axis=0, ord=3), "normal", (2, 3)),
    "vector_norm, axes": (lambda la, x: la.vector_norm(x, axis=(0, 2), ord=1, keepdims=True), "normal", (2, 3, 2)),
    "matrix_norm": (lambda la, x: la.matrix_norm(x), "normal", (2, 3, 2)),
    "matrix_norm, 1": (lambda la, x: la.matrix_norm(x, ord=1, keepdims=True), "normal", (2, 3, 2)),
    "cond": (lambda la, x: la.cond(x), "invertible", (3, 3)),
    "cond, tall": (lambda la, x: la.cond(x), "normal", (3, 2)),
    "cond, -2": (lambda la, x: la.cond(x, -2), "invertible", (3, 3)),
    "cond, 1": (lambda la, x: la.cond(x, 1), "invertible", (3, 3)),
    "cond, fro": (lambda la, x: la.cond(x, "fro"), "invertible", (3, 3)),
    "trace": (lambda la, x: la.trace(x, offset=1), "normal", (2, 3, 3)),
    "diagonal": (lambda la, x: la.diagonal(x, offset=-1), "normal", (2, 3, 3)),
    "matrix_transpose": (lambda la, x: la.matrix_transpose(x), "normal", (2, 3, 2)),
}
NEWER = ("svdvals", "vector_norm", "matrix_norm", "trace", "diagonal", "matrix_transpose")  # than NumPy 1.26


@pytest.mark.parametrize("name", CASES)
def test_as_numpy(name):
    if name.split(",")[0] in NEWER and not hasattr(np.linalg, "svdvals"):
        pytest.skip("this NumPy does not have it")
    function, kind, *shapes = CASES[name]
    assert_same_function(
        lambda *xs: function(OnNodes(), *xs),
        lambda *xs: function(np.linalg, *xs),
        *points(kind, *shapes),
        rtol=1e-6,
        value_rtol=1e-11,
        step=4e-3,
    )


# Hard points


def gradient(function, value):
    x = variable("x", np.shape(value))
    return evaluate(vjp(function(OnNodes(), x), [x]), {x: np.asarray(value, dtype=float)})[0]


SINGULAR = {
    "rank 1": [[1.0, 2.0], [2.0, 4.0]],
    "zero, 2": [[0.0, 0.0], [0.0, 0.0]],
    "zero, 1": [[0.0]],
    "rank 2 of 3": np.arange(9.0).reshape(3, 3),
    "rank 1 of 3": np.ones((3, 3)),
    "a zero row": [[1.0, 2.0, 3.0], [0.0, 0.0, 0.0], [4.0, 5.0, 7.0]],
    "a zero column": [[1.0, 0.0], [5.0, 0.0]],
    "rank 3 of 4": np.arange(16.0).reshape(4, 4) ** 2 % 7 * [1, 1, 1, 0],
    "negative": [[-1.0, 0.0], [0.0, 0.0]],
}


def adjugate_of(x):
    """The cofactors by minors."""
    x, n = np.asarray(x), len(x)
    rest = [[i for i in range(n) if i != k] for k in range(n)]
    return np.array(
        [
            [(-1) ** (i + j) * (np.linalg.det(x[np.ix_(rest[i], rest[j])]) if n > 1 else 1) for j in range(n)]
            for i in range(n)
        ]
    )


@pytest.mark.parametrize("name", SINGULAR)
def test_det_of_singular_matrices(name):
    """det is a polynomial: differences of it are as good at singular matrices as elsewhere."""
    x = np.asarray(SINGULAR[name])
    np.testing.assert_allclose(
        gradient(lambda la, x: la.det(x), x), adjugate_of(x), atol=1e-12 * np.max(np.abs(x) + 1) ** (len(x) - 1)
    )
    assert_same_function(
        NUMPY[np.linalg.det], np.linalg.det, x, value_rtol=1e-9, rtol=1e-7
    ) if name == "rank 1" else None


@pytest.mark.parametrize("name", SINGULAR)
def test_second_derivative_of_det_of_singular_matrices(name):
    x = np.asarray(SINGULAR[name])
    node, weight = variable("x", x.shape), np.random.default_rng(1).normal(size=x.shape)
    w = variable("w", x.shape)
    (first,) = vjp(NUMPY[np.linalg.det](node), [node])
    (second,) = evaluate(vjp(first, [node], w), {node: x, w: weight})
    h, expected = 1e-3, np.empty_like(x)
    for index in np.ndindex(x.shape):
        e = np.zeros_like(x)
        e[index] = h
        rises = [(np.sum(weight * (adjugate_of(x + k * e) - adjugate_of(x - k * e)))) / (2 * k * h) for k in (1, 2)]
        expected[index] = (4 * rises[0] - rises[1]) / 3
    np.testing.assert_allclose(second, expected, atol=1e-8 * np.max(np.abs(x) + 1) ** max(len(x) - 1, 1))


def test_third_derivative_of_det():
    """Of a 3 by 3 matrix it is constant, and of a 2 by 2 matrix it is 0: the formula divides by det all the same."""
    x = variable("x", (2, 2))
    y = det(x)
    directions = np.random.default_rng(0).normal(size=(3, 2, 2))
    for d in directions:
        (y,) = jvp([y], {x: variable("unused", (2, 2)) * 0 + d})
    np.testing.assert_allclose(evaluate([y], {x: directions[0] + 2 * np.eye(2)})[0], 0, atol=1e-12)


NORMS_AT_ZERO = [None, 1, 2, 3, 1.5, np.inf, -np.inf]


@pytest.mark.parametrize("order", NORMS_AT_ZERO)
def test_norm_of_the_zero_vector(order):
    np.testing.assert_array_equal(gradient(lambda la, x: la.norm(x, order), np.zeros(3)), 0)


@pytest.mark.parametrize("order", [None, "fro", "nuc", 1, 2, np.inf])
def test_norm_of_the_zero_matrix(order):
    np.testing.assert_array_equal(gradient(lambda la, x: la.norm(x, order), np.zeros((2, 3))), 0)


def test_norm_of_rows_of_which_one_is_zero():
    rows = np.array([[3.0, 4.0], [0.0, 0.0]])
    np.testing.assert_allclose(gradient(lambda la, x: NUMPY[np.sum](la.norm(x, 3, axis=1)), rows)[1], 0)
    np.testing.assert_allclose(gradient(lambda la, x: NUMPY[np.sum](la.norm(x, axis=1)), rows), [[0.6, 0.8], [0, 0]])


def test_values_of_equal_eigenvalues():
    """A function of all eigenvalues alike is smooth where they are equal."""
    np.testing.assert_allclose(gradient(lambda la, x: NUMPY[np.sum](la.eigvalsh(x) ** 2), np.eye(3)), 2 * np.eye(3))


@pytest.mark.parametrize("name", ["cholesky", "eigvalsh"])
def test_gradients_of_symmetric_functions_are_symmetric(name):
    result = gradient(lambda la, x: NUMPY[np.sum](getattr(la, name)(x)), [[4.0, 1.0], [1.0, 3.0]])
    np.testing.assert_allclose(result, result.T)


def test_a_result_may_be_changed():
    """What a decomposition remembers is not what it hands out."""
    x = variable("x", (2, 2))
    value = np.array([[2.0, 1.0], [1.0, 3.0]])
    vectors = NUMPY[np.linalg.eigh](x).eigenvectors
    (first,) = evaluate([vectors], {x: value})
    first *= 0
    np.testing.assert_allclose(evaluate([vectors], {x: value})[0], np.linalg.eigh(value)[1])


# fmt: off
PRINTED = {
    "inv":        (lambda la, x: la.inv(x),          "np.linalg.inv(X)",          None),
    "det":        (lambda la, x: la.det(x),          "np.linalg.det(X)",          None),
    "slogdet":    (lambda la, x: la.slogdet(x)[1],   "np.linalg.slogdet(X)[1]",   "np.linalg.inv(X).T"),
    "sign":       (lambda la, x: la.slogdet(x)[0],   "np.linalg.slogdet(X)[0]",   None),
    "pinv":       (lambda la, x: la.pinv(x),         "np.linalg.pinv(X)",         None),
    "power 2":    (lambda la, x: la.matrix_power(x, 2), "X @ X",                  None),
    "power 3":    (lambda la, x: la.matrix_power(x, 3), "X @ X @ X",              None),
    "cholesky":   (lambda la, x: la.cholesky(x),     "np.linalg.cholesky(X)",     None),
    "eigvalsh":   (lambda la, x: la.eigvalsh(x),     "np.linalg.eigvalsh(X)",     None),
    "svd":        (lambda la, x: la.svd(x)[1],       "np.linalg.svd(X, compute_uv=False)", None),
}
# fmt: on


@pytest.mark.parametrize("name", PRINTED)
def test_printed(name):
    function, text, derivative = PRINTED[name]
    X = variable("X", (3, 3))
    y = function(OnNodes(), X)
    assert expression(y, {X: "X"}) == text
    if derivative:
        assert expression(vjp(y, [X])[0], {X: "X"}) == derivative


def test_printed_pullbacks():
    A, b, g = variable("A", (3, 3)), variable("b", (3,)), variable("g", (3,))
    names = {A: "A", b: "b", g: "g"}
    x = NUMPY[np.linalg.solve](A, b)
    by_a, by_b = vjp(x, [A, b], g)
    assert expression(by_b, names) == "np.linalg.solve(A.T, g)"
    assert expression(by_a, names) == "-np.outer(np.linalg.solve(A.T, g), np.linalg.solve(A, b))"
    G = variable("G", (3, 3))
    (by_inverse,) = vjp(NUMPY[np.linalg.inv](A), [A], G)
    assert expression(by_inverse, {A: "A", G: "G"}) == "-(np.linalg.inv(A).T @ G @ np.linalg.inv(A).T)"


@pytest.mark.parametrize("names", [("u", "s"), ("v", "e"), ("i", "q"), ("x", "X")])
def test_text_of_cofactors_does_not_capture_names(names):
    x, w = variable("x", (3, 3)), variable("w", (3, 3))
    (first,) = vjp(det(x), [x])
    (second,) = vjp(first, [x], w)
    values = dict(zip(names, np.random.default_rng(0).normal(size=(2, 3, 3)), strict=True))
    for node in (first, second):
        text = expression(node, {x: names[0], w: names[1]})
        expected = evaluate([node], {x: values[names[0]], w: values[names[1]]})[0]
        np.testing.assert_allclose(eval(text, {"np": np, "__builtins__": {}} | values), expected, rtol=1e-12)


EXACT = ["inv", "det", "slogdet", "solve, vector", "solve, matrix", "solve, stack", "cholesky", "matrix_power, 3",
         "matrix_power, -2", "pinv, tall", "norm, 2.5", "norm, matrix, 1", "eigh", "svd, tall", "qr, tall"]  # fmt: skip


@pytest.mark.parametrize("name", EXACT)
def test_forty_digits(name):
    """Rounding operands to floats moves results by 1e-16: two precisions agree so well only if all is exact."""
    function, kind, *shapes = CASES[name]
    variables = [variable(f"x{i}", s) for i, s in enumerate(shapes)]
    outputs = function(OnNodes(), *variables)
    outputs = list(outputs) if isinstance(outputs, tuple) else [outputs]
    gradients = list(vjp(NUMPY[np.sum](outputs[0]), variables))
    results = []
    values = points(kind, *shapes)
    for digits in (45, 60):
        with mpmath.workdps(digits):
            exact = {x: exact_array(v) / 3 for x, v in zip(variables, values, strict=True)}
            results.append(evaluate_exact([*outputs, *gradients], exact))
    for a, b in zip(*results, strict=True):
        for p, q in zip(np.ravel(a), np.ravel(b), strict=True):
            assert isinstance(p, mpmath.mpf)
            assert abs(p - q) <= mpmath.mpf(10) ** -38 * (1 + abs(q))


REFUSED = {
    "lstsq": lambda la, x: la.lstsq(x, x),
    "eig": lambda la, x: la.eig(x),
    "eigvals": lambda la, x: la.eigvals(x),
    "tensorinv": lambda la, x: la.tensorinv(x),
    "tensorsolve": lambda la, x: la.tensorsolve(x, x),
    "inv": lambda la, x: la.inv(x),
    "det": lambda la, x: la.det(x),
    "cholesky": lambda la, x: la.cholesky(x),
    "solve": lambda la, x: la.solve(x, np.ones(2)),
    "solve, sizes": lambda la, x: la.solve(np.eye(3), x),
    "matrix_power": lambda la, x: la.matrix_power(x, 2),
    "svd, full": lambda la, x: la.svd(x),
    "svd, hermitian": lambda la, x: la.svd(x, False, hermitian=True),
    "qr, wide": lambda la, x: la.qr(x),
    "qr, complete": lambda la, x: la.qr(x.T, "complete"),
    "qr, raw": lambda la, x: la.qr(x.T, "raw"),
    "eigh, triangle": lambda la, x: la.eigh(x @ x.T, "lower"),
    "pinv, rcond": lambda la, x: la.pinv(x, rcond=np.ones(2)),
    "pinv, hermitian": lambda la, x: la.pinv(x, hermitian=True),
    "matrix_rank, tol": lambda la, x: la.matrix_rank(x, 1e-3),
    "norm, ord": lambda la, x: la.norm(x, "max"),
    "norm, matrix, 3": lambda la, x: la.norm(x, 3),
    "norm, axes": lambda la, x: la.norm(x, axis=(0, 0)),
    "norm, vector, fro": lambda la, x: la.norm(x, "fro", axis=0),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name):
    with pytest.raises(GradexplainError):
        REFUSED[name](OnNodes(), variable("x", (2, 3)))


def test_rank_has_no_derivative():
    x = variable("x", (3, 3))
    rank = NUMPY[np.linalg.matrix_rank](x)
    assert rank.kind == "int"
    assert evaluate([rank, *vjp(rank * 1.0, [x])], {x: np.ones((3, 3))})[0] == 1
    with pytest.raises(NoRuleError, match="pinv"):
        NUMPY[np.linalg.lstsq](x, x)
