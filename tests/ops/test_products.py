"""Products, einsum and what is made of them, in many spellings, against NumPy and difference quotients."""

from __future__ import annotations

import itertools
import re

import numpy as np
import pytest

from gradexplain.autodiff import jvp, vjp
from gradexplain.errors import GradexplainError
from gradexplain.evaluate import evaluate
from gradexplain.graph import variable
from gradexplain.lambdify import expression
from gradexplain.ops import TABLE
from gradexplain.ops.einsum import einsum
from gradexplain.primitive import NUMPY

from .differences import assert_same_function


class OnNodes:
    """Stands for `np`: its functions on nodes, where the table has them."""

    def __init__(self, module=np):
        self.module = module

    def __getattr__(self, name):
        member = getattr(self.module, name)
        return OnNodes(member) if member is np.linalg else NUMPY.get(member, member) if callable(member) else member


def source(node, names):
    """The node as NumPy source; numbers are not shown to be broadcast."""
    return re.sub(r"np\.broadcast_to\((\w+), \([\d, ]+\)\)", r"\1", expression(node, names))


J = np.arange(6.0).reshape(2, 3) - 1.7

# A function of np and operands, and the shapes of these.
CASES = {
    "@, vectors": (lambda np, a, b: a @ b, (3,), (3,)),
    "@, matrix and vector": (lambda np, a, b: a @ b, (2, 3), (3,)),
    "@, vector and matrix": (lambda np, a, b: a @ b, (3,), (3, 2)),
    "@, matrices": (lambda np, a, b: a @ b, (2, 3), (3, 4)),
    "@, stacks": (lambda np, a, b: a @ b, (4, 1, 2, 3), (2, 3, 2)),
    "@, stack and vector": (lambda np, a, b: a @ b, (2, 2, 3), (3,)),
    "@, vector and stack": (lambda np, a, b: a @ b, (3,), (2, 3, 2)),
    "@, stack and matrix": (lambda np, a, b: a @ b, (2, 2, 3), (3, 2)),
    "@, matrix and stack": (lambda np, a, b: a @ b, (2, 3), (2, 3, 2)),
    "@, constant": (lambda np, a: np.matmul(J, a), (3, 2)),
    "@, both": (lambda np, a: a @ a.T @ a, (2, 3)),
    "matmul": (lambda np, a, b: np.matmul(a, b), (2, 3), (3, 2)),
    "linalg.matmul": (lambda np, a, b: np.linalg.matmul(a, b), (2, 3), (3, 2)),
    "dot, numbers": (lambda np, a, b: np.dot(a, b), (), ()),
    "dot, number and matrix": (lambda np, a, b: np.dot(a, b), (), (2, 3)),
    "dot, vectors": (lambda np, a, b: np.dot(a, b), (3,), (3,)),
    "dot, matrix and vector": (lambda np, a, b: np.dot(a, b), (2, 3), (3,)),
    "dot, vector and matrix": (lambda np, a, b: np.dot(a, b), (2,), (2, 3)),
    "dot, 3 and 1 axes": (lambda np, a, b: np.dot(a, b), (2, 2, 3), (3,)),
    "dot, 3 and 2 axes": (lambda np, a, b: np.dot(a, b), (2, 2, 3), (3, 2)),
    "dot, 1 and 3 axes": (lambda np, a, b: np.dot(a, b), (3,), (2, 3, 2)),
    "dot, 3 and 3 axes": (lambda np, a, b: np.dot(a, b), (2, 2, 3), (2, 3, 2)),
    "inner, numbers": (lambda np, a, b: np.inner(a, b), (), (2,)),
    "inner, vectors": (lambda np, a, b: np.inner(a, b), (3,), (3,)),
    "inner, matrices": (lambda np, a, b: np.inner(a, b), (2, 3), (4, 3)),
    "inner, vector and matrix": (lambda np, a, b: np.inner(a, b), (3,), (4, 3)),
    "inner, many axes": (lambda np, a, b: np.inner(a, b), (2, 3), (2, 2, 3)),
    "vdot": (lambda np, a, b: np.vdot(a, b), (2, 3), (2, 3)),
    "outer": (lambda np, a, b: np.outer(a, b), (2,), (3,)),
    "outer, flattened": (lambda np, a, b: np.outer(a, b), (2, 2), ()),
    "linalg.outer": (lambda np, a, b: np.linalg.outer(a, b), (2,), (3,)),
    "tensordot": (lambda np, a, b: np.tensordot(a, b), (2, 3, 2), (3, 2, 2)),
    "tensordot, 0": (lambda np, a, b: np.tensordot(a, b, axes=0), (2,), (2, 2)),
    "tensordot, 1": (lambda np, a, b: np.tensordot(a, b, 1), (2, 3), (3, 2)),
    "tensordot, pair": (lambda np, a, b: np.tensordot(a, b, (0, -1)), (2, 3), (3, 2)),
    "tensordot, lists": (lambda np, a, b: np.tensordot(a, b, axes=[[0, 2], [1, 0]]), (2, 3, 4), (4, 2, 2)),
    "linalg.tensordot": (lambda np, a, b: np.linalg.tensordot(a, b, axes=1), (2, 3), (3, 2)),
    "kron": (lambda np, a, b: np.kron(a, b), (2, 3), (3, 2)),
    "kron, vectors": (lambda np, a, b: np.kron(a, b), (2,), (3,)),
    "kron, ranks": (lambda np, a, b: np.kron(a, b), (2,), (3, 2)),
    "kron, ranks swapped": (lambda np, a, b: np.kron(a, b), (2, 1, 2), (2,)),
    "kron, number": (lambda np, a, b: np.kron(a, b), (), (2,)),
    "cross": (lambda np, a, b: np.cross(a, b), (3,), (3,)),
    "cross, rows": (lambda np, a, b: np.cross(a, b), (2, 3), (3,)),
    "cross, axis": (lambda np, a, b: np.cross(a, b, axis=0), (3, 2), (3, 2)),
    "cross, axes": (lambda np, a, b: np.cross(a, b, axisa=0, axisb=1, axisc=0), (3, 2), (2, 3)),
    "linalg.cross": (lambda np, a, b: np.linalg.cross(a, b, axis=0), (3, 2), (3, 2)),
    "multi_dot, 2": (lambda np, a, b: np.linalg.multi_dot([a, b]), (2, 3), (3, 2)),
    "multi_dot, 4": (lambda np, *xs: np.linalg.multi_dot(xs), (2, 4), (4, 1), (1, 3), (3, 2)),
    "multi_dot, ends": (lambda np, *xs: np.linalg.multi_dot(xs), (2,), (2, 3), (3, 2), (2,)),
    "multi_dot, first": (lambda np, *xs: np.linalg.multi_dot(xs), (2,), (2, 3), (3, 2)),
    "convolve": (lambda np, a, b: np.convolve(a, b), (4,), (3,)),
    "convolve, constant": (lambda np, a: np.convolve(a, [1.0, -2.0, 1.0], "valid"), (5,)),
    "polyval": (lambda np, p, x: np.polyval(p, x), (4,), (3,)),
    "polyval, list": (lambda np, a, x: np.polyval([2.0, a, -1.0], x), (), ()),
    "polyval, constants": (lambda np, x: np.polyval([1.0, -3.0, 0.5], x), (2, 2)),
    "vander": (lambda np, x: np.vander(x), (3,)),
    "vander, increasing": (lambda np, x: np.vander(x, 4, increasing=True), (3,)),
    "vecdot": (lambda np, a, b: np.vecdot(a, b), (3,), (3,)),
    "vecdot, stack": (lambda np, a, b: np.vecdot(a, b), (2, 3), (3,)),
    "vecdot, axis": (lambda np, a, b: np.vecdot(a, b, axis=0), (3, 2), (3, 2)),
    "linalg.vecdot": (lambda np, a, b: np.linalg.vecdot(a, b, axis=-2), (3, 2), (3, 2)),
    "matvec": (lambda np, a, b: np.matvec(a, b), (2, 3), (4, 3)),
    "vecmat": (lambda np, a, b: np.vecmat(a, b), (4, 2), (2, 3)),
    "einsum, product": (lambda np, a, b: np.einsum("ij,jk->ik", a, b), (2, 3), (3, 2)),
    "einsum, implicit": (lambda np, a, b: np.einsum("ij,jk", a, b), (2, 3), (3, 2)),
    "einsum, implicit order": (lambda np, a: np.einsum("ba", a), (2, 3)),
    "einsum, spaces": (lambda np, a, b: np.einsum(" i j , j k -> k i ", a, b), (2, 3), (3, 2)),
    "einsum, trace": (lambda np, a: np.einsum("ii", a), (3, 3)),
    "einsum, diagonal": (lambda np, a: np.einsum("ii->i", a), (3, 3)),
    "einsum, three equal": (lambda np, a: np.einsum("iii->i", a), (2, 2, 2)),
    "einsum, sum": (lambda np, a: np.einsum("ij->", a), (2, 3)),
    "einsum, sum of one": (lambda np, a, b: np.einsum("ij,k->i", a, b), (2, 3), (2,)),
    "einsum, diagonal, sums": (lambda np, a, b: np.einsum("iij,kk->j", a, b), (2, 2, 3), (2, 2)),
    "einsum, ellipsis": (lambda np, a, b: np.einsum("...ij,...jk->...ik", a, b), (2, 2, 3), (2, 3, 2)),
    "einsum, ellipsis of ranks": (lambda np, a, b: np.einsum("...ij,...jk", a, b), (2, 2, 3), (3, 2)),
    "einsum, ellipsis repeated": (lambda np, a, b: np.einsum("i...,i...->...", a, b), (3, 2, 1), (3, 1, 4)),
    "einsum, axis of 1": (lambda np, a, b: np.einsum("ij,jk->ik", a, b), (2, 1), (3, 4)),
    "einsum, three": (lambda np, a, b, c: np.einsum("i,ij,j->", a, b, c), (2,), (2, 3), (3,)),
    "einsum, four": (lambda np, a, b, c, d: np.einsum("ab,bc,cd,de->ae", a, b, c, d), (2, 2), (2, 3), (3, 2), (2, 2)),
    "einsum, square": (lambda np, a: np.einsum("ij,ij->", a, a), (2, 3)),
    "einsum, elementwise": (lambda np, a, b: np.einsum("ij,ij->ij", a, b), (2, 3), (2, 3)),
    "einsum, numbers": (lambda np, a, b: np.einsum(",i->i", a, b), (), (3,)),
    "einsum, outer": (lambda np, a, b: np.einsum("i,j->ji", a, b), (2,), (3,)),
    "einsum, constant": (lambda np, a: np.einsum("ij,kj->ik", J, a), (2, 3)),
    "einsum, lists": (lambda np, a, b: np.einsum(a, [0, 1], b, [1, 2], [2, 0]), (2, 3), (3, 2)),
    "einsum, lists, implicit": (lambda np, a, b: np.einsum(a, [0, 1], b, [1, 2]), (2, 3), (3, 2)),
    "einsum, lists, ellipsis": (lambda np, a, b: np.einsum(a, [..., 0], b, [..., 0], [...]), (2, 3), (2, 3)),
    "einsum, optimize": (lambda np, a, b: np.einsum("ij,jk->ik", a, b, optimize=True), (2, 3), (3, 2)),
}
NEEDS = {"linalg.": 2.0, "vecdot": 2.0, "matvec": 2.2, "vecmat": 2.2}
VERSION = float(".".join(np.__version__.split(".")[:2]))


def compare(function, *shapes):
    rng = np.random.default_rng(0)
    points = [rng.normal(size=shape) for shape in shapes]
    assert_same_function(lambda *xs: function(OnNodes(), *xs), lambda *xs: function(np, *xs), *points)


@pytest.mark.parametrize("name", CASES)
def test_as_numpy(name):
    if any(name.startswith(start) and version > VERSION for start, version in NEEDS.items()):
        pytest.skip(f"NumPy {VERSION} does not have it")
    compare(*CASES[name])


@pytest.mark.parametrize("mode", ["full", "same", "valid"])
@pytest.mark.parametrize(("n", "m"), list(itertools.product(range(1, 6), repeat=2)))
def test_convolve_and_correlate(n, m, mode):
    compare(lambda np, a, v: np.convolve(a, v, mode), (n,), (m,))
    compare(lambda np, a, v: np.correlate(a, v, mode), (n,), (m,))


def test_default_modes():
    compare(lambda np, a, v: np.correlate(a, v), (5,), (2,))
    compare(lambda np, a, v: np.convolve(a, v), (5,), (2,))
    compare(lambda np, a, v: np.convolve(a, v), (), (2,))


# NumPy has deprecated vectors of two components.
PLANE = {
    "vectors": (lambda a, b: a[0] * b[1] - a[1] * b[0], {}, (2,), (2,)),
    "rows": (lambda a, b: a[:, 0] * b[1] - a[:, 1] * b[0], {}, (3, 2), (2,)),
    "columns": (lambda a, b: a[0] * b[1] - a[1] * b[0], {"axis": 0}, (2, 3), (2, 3)),
    "plane and space": (lambda a, b: np.cross(np.append(a, 0), b), {}, (2,), (3,)),
    "space and plane": (lambda a, b: np.cross(a, np.append(b, 0)), {}, (3,), (2,)),
}


@pytest.mark.parametrize("name", PLANE)
def test_cross_in_the_plane(name):
    reference, axes, *shapes = PLANE[name]
    rng = np.random.default_rng(0)
    points = [rng.normal(size=s) for s in shapes]
    assert_same_function(lambda a, b: NUMPY[np.cross](a, b, **axes), reference, *points)


# The source, its operands with their shapes, and the pullbacks of these.
PRINTED = {
    "M @ B": ({"M": (2, 3), "B": (3, 4)}, ["g @ B.T", "M.T @ g"]),
    "X @ w": ({"X": (2, 3), "w": (3,)}, ["np.outer(g, w)", "X.T @ g"]),
    "w @ X": ({"w": (3,), "X": (3, 2)}, ["X @ g", "np.outer(w, g)"]),
    "a @ b": ({"a": (3,), "b": (3,)}, ["g*b", "g*a"]),
    "X @ W": (
        {"X": (5, 2, 3), "W": (3, 4)},
        ["g @ W.T", "np.reshape(X, (10, 3)).T @ np.reshape(g, (10, 4))"],
    ),
    "np.outer(a, b)": ({"a": (3,), "b": (2,)}, ["g @ b", "g.T @ a"]),
    "np.cross(a, b)": ({"a": (3,), "b": (3,)}, ["np.cross(b, g)", "np.cross(g, a)"]),
    "np.convolve(a, b)": ({"a": (3,), "b": (2,)}, ["np.correlate(g, b, 'valid')", "np.correlate(g, a, 'valid')"]),
    "np.correlate(a, b, 'valid')": ({"a": (3,), "b": (2,)}, ["np.convolve(g, b)", "np.correlate(a, g, 'valid')"]),
    "np.einsum('ij,jk->ik', A, B)": ({"A": (2, 3), "B": (3, 4)}, ["g @ B.T", "A.T @ g"]),
    "np.einsum('bij,bjk->bik', A, B)": (
        {"A": (5, 2, 3), "B": (5, 3, 4)},
        ["np.einsum('bik,bjk->bij', g, B)", "np.einsum('bij,bik->bjk', A, g)"],
    ),
    "np.einsum('ij,ij->', A, B)": ({"A": (2, 3), "B": (2, 3)}, ["g*B", "g*A"]),
    "np.einsum('i,ij,j->', x, A, y, optimize=True)": (
        {"x": (2,), "A": (2, 3), "y": (3,)},
        ["g*(A @ y)", "g*np.outer(x, y)", "g*(x @ A)"],
    ),
    "np.einsum('ij,jk,kl->il', A, B, C, optimize=True)": (
        {"A": (2, 3), "B": (3, 4), "C": (4, 2)},
        [
            "np.einsum('il,jk,kl->ij', g, B, C, optimize=True)",
            "np.einsum('ij,il,kl->jk', A, g, C, optimize=True)",
            "np.einsum('ij,jk,il->kl', A, B, g, optimize=True)",
        ],
    ),
}


@pytest.mark.parametrize("text", PRINTED)
def test_printed(text):
    shapes, pullbacks = PRINTED[text]
    nodes = {name: variable(name, shape) for name, shape in shapes.items()}
    y = eval(text, {"np": OnNodes()}, nodes)
    g = variable("g", y.shape)
    names = {node: name for name, node in nodes.items()} | {g: "g"}
    assert source(y, names) == text
    assert [source(n, names) for n in vjp(y, list(nodes.values()), g)] == pullbacks


def test_precedence():
    A, B, C = (variable(c, (2, 2)) for c in "ABC")
    names = {A: "A", B: "B", C: "C"}
    assert source(A @ (B @ C), names) == "A @ (B @ C)"
    assert source(A @ B @ C, names) == "A @ B @ C"
    assert source((A + B) @ C, names) == "(A + B) @ C"
    assert source(A @ (B * C), names) == "A @ (B*C)"


def test_elementwise_times_matrix_product_keeps_its_meaning():
    A, B, C = (variable(c, (2, 2)) for c in "ABC")
    values = {x: np.random.default_rng(i).normal(size=(2, 2)) for i, x in enumerate((A, B, C))}
    for y in (A * (B @ C), (A @ B) * C, A @ (B * C), (A * B) @ C, -(A @ B), (-A) @ B, A / (B @ C), A @ B - B @ A):
        text = source(y, {A: "A", B: "B", C: "C"})
        value = eval(text, {"np": np}, {n: values[x] for n, x in zip("ABC", (A, B, C), strict=True)})
        np.testing.assert_allclose(evaluate([y], dict(values))[0], value, rtol=1e-13, err_msg=text)


def test_foldings():
    A, B = variable("A", (2, 3)), variable("B", (3, 2))
    matmul = TABLE["matmul"]
    assert (-A) @ B is -(A @ B)
    assert A @ (-B) is -(A @ B)
    assert (A * 0) @ B is (A @ B) * 0
    assert matmul.record(-A, B) is not -(A @ B)
    assert TABLE["outer"](-variable("a", (2,)), variable("b", (3,))).op is TABLE["neg"]
    assert einsum(A, B, subscripts="ij,jk->ki") is B.T @ A.T
    assert einsum(A, subscripts="ij->ji") is A.T
    assert einsum(A, subscripts="ij->ij") is A


def test_forward_mode_of_einsum_is_the_product_rule():
    A, B, dA, dB = (variable(c, (2, 2)) for c in ("A", "B", "dA", "dB"))
    (tangent,) = jvp([NUMPY[np.einsum]("ij,jk->ik", A, B)], {A: dA, B: dB})
    assert source(tangent, {A: "A", B: "B", dA: "dA", dB: "dB"}) == "dA @ B + A @ dB"


def test_multi_dot_takes_the_cheapest_order():
    A, B, c = variable("A", (10, 10)), variable("B", (10, 10)), variable("c", (10,))
    product = NUMPY[np.linalg.multi_dot]([A, B, c])
    assert source(product, {A: "A", B: "B", c: "c"}) == "A @ (B @ c)"


def test_a_masked_einsum_does_not_spread_nan():
    A = variable("A", (2, 2))
    y = NUMPY[np.einsum]("ii->i", A)
    seed = variable("g", (2,))
    (gradient,) = evaluate(vjp(y, [A], seed), {A: np.ones((2, 2)), seed: np.array([np.inf, 1.0])})
    np.testing.assert_array_equal(gradient, [[np.inf, 0], [0, 1]])


REFUSED = {
    "matmul, shapes": lambda np, a: a @ a,
    "matmul, number": lambda np, a: np.matmul(a, np.array(2.0)),
    "einsum, out": lambda np, a: np.einsum("ij", a, out=J),
    "einsum, count": lambda np, a: np.einsum("ij,jk", a),
    "einsum, ranks": lambda np, a: np.einsum("ijk", a),
    "einsum, sizes": lambda np, a: np.einsum("ii", a),
    "einsum, output twice": lambda np, a: np.einsum("ij->ii", a),
    "einsum, unknown output": lambda np, a: np.einsum("ij->k", a),
    "einsum, ellipsis lost": lambda np, a: np.einsum("i...->i", a),
    "einsum, signs": lambda np, a: np.einsum("i$->i", a),
    "tensordot, axes": lambda np, a: np.tensordot(a, a, axes=([0, 1], [0])),
    "tensordot, sizes": lambda np, a: np.tensordot(a, a, axes=(0, 1)),
    "tensordot, range": lambda np, a: np.tensordot(a, a, axes=3),
    "cross": lambda np, a: np.cross(np.dot(a, np.ones((3, 4))), J),
    "linalg.outer": lambda np, a: np.linalg.outer(a, a),
    "convolve": lambda np, a: np.convolve(a, a),
    "convolve, mode": lambda np, a: np.convolve(np.ravel(a), [1.0], "circular"),
    "multi_dot": lambda np, a: np.linalg.multi_dot([a]),
    "dot, out": lambda np, a: np.dot(a, a.T, out=J),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name):
    with pytest.raises(GradexplainError):
        REFUSED[name](OnNodes(), variable("a", (2, 3)))
