"""Rows for the factors of matrices: Cholesky, eigenvalues of symmetric matrices, singular values, QR; all take stacks.

A decomposition is one row for each of its factors. `np.linalg.cholesky` and `np.linalg.eigh` read one triangle of the
matrix only; their derivatives are those of symmetric matrices: gradients come out symmetric, as in TensorFlow and JAX. (A
difference quotient that moves one entry without its mirror image sees what NumPy reads; `check` moves both.)

Vectors have derivatives where their eigenvalues (singular values) are simple. Formulas: Giles (2008); Murray,
"Differentiation of the Cholesky decomposition" (2016); Townsend, "Differentiating the singular value decomposition"
(2016); Walter and Lehmann, "Algorithmic differentiation of linear algebra functions" (2010) for QR.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from gradexplain.errors import ArgumentError, NoRuleError, ShapeError
from gradexplain.graph import Fixed, Node, Sample
from gradexplain.ops.linalg import solve, square, stacked, without_hermitian
from gradexplain.ops.products import as_columns, as_rows, available, swapped
from gradexplain.ops.reductions import operand
from gradexplain.primitive import Code, call, general, numpy_function
from gradexplain.shapes import Shape


class EighResult(NamedTuple):
    """What `np.linalg.eigh` returns."""

    eigenvalues: Node
    eigenvectors: Node


class SVDResult(NamedTuple):
    """What `np.linalg.svd` returns."""

    U: Node
    S: Node
    Vh: Node


class QRResult(NamedTuple):
    """What `np.linalg.qr` returns."""

    Q: Node
    R: Node


@lru_cache(maxsize=4)
def _factors(name: str, matrix: Fixed, **options: Any) -> Any:
    """A decomposition, remembered for the rows of its other factors."""
    return getattr(np.linalg, name)(matrix.array, **options)


def _factor(i: int, name: str, **options: Any) -> Callable[[Any], Any]:
    return lambda x: _factors(name, Fixed(x), **options)[i].copy()


def _eigen(i: int) -> Callable[..., Any]:
    return lambda x, *, triangle: _factors("eigh", Fixed(x), UPLO=triangle)[i].copy()


def _beside(g: Node) -> Node:
    """A vector that multiplies the columns of a matrix, in stacks too."""
    return g if g.ndim == 1 else as_rows(g)


def _gaps(values: Node) -> Node:
    """1/(values[j] - values[i]) off the diagonal, 0 on it."""
    eye = np.eye(values.shape[-1])
    return 1 / (as_rows(values) - as_columns(values) + eye) - eye


def _cholesky_pullback(g: Node, y: Node, x: Node) -> Node:
    """L.-T (P + P.T) L.-1 / 2, where P is the lower triangle of L.T @ g with half its diagonal."""
    half = swapped(y) @ g * (np.tril(np.ones(y.shape[-2:])) - np.eye(y.shape[-1]) / 2)
    return solve(swapped(y), swapped(solve(swapped(y), half + swapped(half)))) / 2


def _eigenvalues_pullback(g: Node, y: Node, x: Node, *, triangle: str) -> Node:
    v = eigenvectors(x, triangle=triangle)
    return (v * _beside(g)) @ swapped(v)


def _eigenvectors_pullback(g: Node, y: Node, x: Node, *, triangle: str) -> Node:
    turned = y @ (_gaps(eigenvalues(x, triangle=triangle)) * (swapped(y) @ g)) @ swapped(y)
    return (turned + swapped(turned)) / 2


def _singular_values_pullback(g: Node, y: Node, x: Node) -> Node:
    return (left_vectors(x) * _beside(g)) @ right_vectors(x)


def _left_pullback(g: Node, y: Node, x: Node) -> Node:
    s, v = singular_values(x), right_vectors(x)
    turned = _gaps(s**2) * (swapped(y) @ g)
    result = y @ ((turned + swapped(turned)) * _beside(s)) @ v
    return result if y.shape[-2] == y.shape[-1] else result + (g - y @ (swapped(y) @ g)) / _beside(s) @ v


def _right_pullback(g: Node, y: Node, x: Node) -> Node:
    s, u = singular_values(x), left_vectors(x)
    turned = _gaps(s**2) * (y @ swapped(g))
    result = (u * _beside(s)) @ (turned + swapped(turned)) @ y
    return result if y.shape[-2] == y.shape[-1] else result + u / _beside(s) @ (g - (g @ swapped(y)) @ y)


def _mirrored(m: Node) -> Node:
    """The lower triangle, and its mirror image above the diagonal."""
    ones = np.ones(m.shape[-2:])
    return m * np.tril(ones) + swapped(m * np.tril(ones, -1))


def _by_inverse_of_transpose(x: Node, r: Node) -> Node:
    """x @ inv(R).T."""
    return swapped(solve(r, swapped(x)))


def _q_pullback(g: Node, y: Node, x: Node) -> Node:
    return _by_inverse_of_transpose(g - y @ _mirrored(swapped(g) @ y), qr_r(x))


def _r_pullback(g: Node, y: Node, x: Node) -> Node:
    return _by_inverse_of_transpose(qr_q(x) @ _mirrored(y @ swapped(g)), y)


# mpmath's factors. Their signs are free: they are given those of NumPy's.


def _floats(a: Any) -> Any:
    return np.array(a.tolist(), dtype=float)


def _aligned(mp: Any, columns: Any, like: Any) -> Any:
    """The columns, each turned to the side on which the column of `like` is."""
    return columns * mp.diag([mp.mpf(s) for s in np.where(np.sum(_floats(columns) * like, axis=0) < 0, -1, 1).tolist()])


def _exact_eigenvalues(mp: Any, a: Any, *, triangle: str) -> Any:
    return list(mp.eigsy((a + a.T) / 2, eigvals_only=True))


def _exact_eigenvectors(mp: Any, a: Any, *, triangle: str) -> Any:
    symmetric = (a + a.T) / 2
    return _aligned(mp, mp.eigsy(symmetric)[1], _factors("eigh", Fixed(_floats(symmetric)), UPLO=triangle)[1])


def _exact_left(mp: Any, a: Any) -> Any:
    return _aligned(mp, mp.svd_r(a)[0], np.linalg.svd(_floats(a), full_matrices=False)[0])


def _exact_right(mp: Any, a: Any) -> Any:
    return _aligned(mp, mp.svd_r(a)[2].T, np.linalg.svd(_floats(a), full_matrices=False)[2].T).T


def _exact_q(mp: Any, a: Any) -> Any:
    return _aligned(mp, mp.qr(a, mode="skinny")[0], np.linalg.qr(_floats(a))[0])


def _exact_r(mp: Any, a: Any) -> Any:
    r = _exact_q(mp, a).T * a
    return [[r[i, j] if i <= j else mp.mpf(0) for j in range(r.cols)] for i in range(r.rows)]


def _k(x: Shape) -> int:
    return min(x[-2:])


def _tall(x: Shape) -> Shape:
    if len(x) < 2 or x[-2] < x[-1]:
        raise ShapeError(
            f"qr of an array of shape {x} has no rule", why="the rule needs full column rank", fix="transpose"
        )
    return x


def _part_text(i: int, function: str, options: str = "") -> Callable[[Code], Code]:
    return lambda x: Code(f"np.linalg.{function}({x}{options})[{i}]")


def _eigen_text(function: str, suffix: str = "") -> Callable[..., Code]:
    return lambda x, *, triangle: Code(
        f"np.linalg.{function}({x}{'' if triangle == 'L' else ', ' + repr(triangle)}){suffix}"
    )


def _samples(kind: str, *shapes: Shape, **params: Any) -> tuple[Sample, ...]:
    return tuple(Sample((s,), params, kind) for s in shapes)


SYMMETRIC = "a symmetric matrix is meant: the gradient is symmetric"
SIMPLE = "undefined where two values are equal"
RECTANGLES = (3, 3), (3, 2), (2, 3), (2, 3, 2)
REDUCED = ", full_matrices=False"

# fmt: off
cholesky = general("cholesky", np.linalg.cholesky, square, _cholesky_pullback, rule="Cholesky rule", kinks=SYMMETRIC,
                exact=stacked(lambda mp, a: mp.cholesky((a + a.T) / 2)), numpy=call("np.linalg.cholesky"),
                samples=_samples("spd", (3, 3), (2, 2, 2)))
eigenvalues = general("eigh_values", _eigen(0), lambda x, *, triangle: square(x)[:-1], _eigenvalues_pullback, rule="eigenvalue rule",
                exact=stacked(_exact_eigenvalues), numpy=_eigen_text("eigvalsh"), kinks=SYMMETRIC,
                samples=_samples("symmetric", (3, 3), (2, 2, 2), triangle="L"))
eigenvectors = general("eigh_vectors", _eigen(1), square, _eigenvectors_pullback, rule="eigenvector rule",
                exact=stacked(_exact_eigenvectors), numpy=_eigen_text("eigh", "[1]"), kinks=f"{SYMMETRIC}; {SIMPLE}",
                samples=(*_samples("symmetric", (3, 3), (2, 2, 2), triangle="L"), *_samples("symmetric", (3, 3), triangle="U")))
singular_values = general("svd_values", _factor(1, "svd", full_matrices=False), lambda x: (*x[:-2], _k(x)), _singular_values_pullback,
                rule="singular value rule", exact=stacked(lambda mp, a: list(mp.svd_r(a, compute_uv=False))),
                numpy=lambda x: Code(f"np.linalg.svd({x}, compute_uv=False)"), kinks=SIMPLE, samples=_samples("normal", *RECTANGLES))
left_vectors = general("svd_left", _factor(0, "svd", full_matrices=False), lambda x: (*x[:-1], _k(x)), _left_pullback,
                rule="singular vector rule", exact=stacked(_exact_left), numpy=_part_text(0, "svd", REDUCED), kinks=SIMPLE,
                samples=_samples("normal", *RECTANGLES))
right_vectors = general("svd_right", _factor(2, "svd", full_matrices=False), lambda x: (*x[:-2], _k(x), x[-1]), _right_pullback,
                rule="singular vector rule", exact=stacked(_exact_right), numpy=_part_text(2, "svd", REDUCED), kinks=SIMPLE,
                samples=_samples("normal", *RECTANGLES))
qr_q = general("qr_q", _factor(0, "qr"), _tall, _q_pullback, rule="QR rule", exact=stacked(_exact_q), numpy=_part_text(0, "qr"),
                samples=_samples("normal", (3, 3), (3, 2), (2, 3, 2)))
qr_r = general("qr_r", _factor(1, "qr"), lambda x: (*_tall(x)[:-2], x[-1], x[-1]), _r_pullback, rule="QR rule", exact=stacked(_exact_r),
                numpy=_part_text(1, "qr"), samples=_samples("normal", (3, 3), (3, 2), (2, 3, 2)))
# fmt: on
OF_SYMMETRIC = (cholesky, eigenvalues, eigenvectors)  # they read one triangle, and mean both


@numpy_function(np.linalg.cholesky)
def cholesky_factor(a: Any, /, *, upper: bool = False) -> Node:
    """`np.linalg.cholesky` of a symmetric matrix."""
    return swapped(cholesky.record(swapped(operand(a)))) if upper else cholesky.record(operand(a))


def _triangle(uplo: str) -> str:
    if uplo.upper() not in ("L", "U"):
        raise ArgumentError(f"UPLO={uplo!r} is no triangle of a matrix", fix="use 'L' or 'U'")
    return uplo.upper()


@numpy_function(np.linalg.eigh)
def eigh(a: Any, UPLO: str = "L") -> EighResult:
    """`np.linalg.eigh` of a symmetric matrix."""
    x, triangle = operand(a), _triangle(UPLO)
    return EighResult(eigenvalues.record(x, triangle=triangle), eigenvectors.record(x, triangle=triangle))


@numpy_function(np.linalg.eigvalsh)
def eigvalsh(a: Any, UPLO: str = "L") -> Node:
    """`np.linalg.eigvalsh` of a symmetric matrix."""
    return eigenvalues.record(operand(a), triangle=_triangle(UPLO))


@numpy_function(np.linalg.svd)
def svd(a: Any, full_matrices: bool = True, compute_uv: bool = True, hermitian: bool = False) -> SVDResult | Node:
    """`np.linalg.svd`; the vectors that only fill up to a square matrix have no derivative."""
    without_hermitian("np.linalg.svd", hermitian)
    x = operand(a)
    if not compute_uv:
        return singular_values.record(x)
    if full_matrices and x.shape[-1] != x.shape[-2]:
        raise NoRuleError(
            "np.linalg.svd with full_matrices=True has no derivative rule here",
            why=f"the vectors that fill up a matrix of shape {x.shape[-2:]} are not determined by it",
            fix="pass full_matrices=False",
        )
    return SVDResult(left_vectors.record(x), singular_values.record(x), right_vectors.record(x))


@numpy_function(*available(np.linalg, "svdvals"))
def svdvals(x: Any, /) -> Node:
    """`np.linalg.svdvals`."""
    return singular_values.record(operand(x))


@numpy_function(np.linalg.qr)
def qr(a: Any, mode: str = "reduced") -> QRResult | Node:
    """`np.linalg.qr` of square matrices, and of those with more rows than columns."""
    x = operand(a)
    if mode == "r":
        return qr_r.record(x)
    if mode == "reduced" or (mode == "complete" and x.shape[-1] == x.shape[-2]):
        return QRResult(qr_q.record(x), qr_r.record(x))
    raise NoRuleError(f"np.linalg.qr with mode={mode!r} has no derivative rule", fix="use mode='reduced'")
