"""Products of matrices and linear algebra."""

from __future__ import annotations

from collections import namedtuple
from typing import Any

import numpy as np

from gradexplain.errors import ShapeError
from gradexplain.graph import Node
from gradexplain.ops import arithmetic, decompositions, elementary, linalg, products, reductions
from gradexplain.ops.einsum import contract
from gradexplain.ops.einsum import tensordot as node_tensordot
from gradexplain.shapes import normal_axes
from gradexplain.tape.functions import alike, call, tensor
from gradexplain.tape.tensor import Tensor
from gradexplain.tf.names.table import named, on_nodes


@on_nodes("matmul", "linalg.matmul", "keras.backend.dot", operands=2, op="MatMul")
def matmul(
    a: Node,
    b: Node,
    transpose_a: bool = False,
    transpose_b: bool = False,
    adjoint_a: bool = False,
    adjoint_b: bool = False,
    a_is_sparse: bool = False,
    b_is_sparse: bool = False,
    output_type: Any = None,
) -> Node:
    """The product of matrices (of stacks of them)."""
    if min(a.ndim, b.ndim) < 2:
        raise ShapeError(f"matrices are multiplied, not {a.shape} and {b.shape}", fix="use tf.linalg.matvec")
    left = products.swapped(a) if transpose_a or adjoint_a else a
    right = products.swapped(b) if transpose_b or adjoint_b else b
    return products.matmul.record(left, right)


@on_nodes("linalg.matvec", operands=2, op="MatVec")
def matvec(a: Node, b: Node, transpose_a: bool = False, adjoint_a: bool = False) -> Node:
    """The product of a matrix and a vector (of stacks of them)."""
    left = products.swapped(a) if transpose_a or adjoint_a else a
    if b.ndim == 1:
        return products.matmul.record(left, b)
    from gradexplain.ops.shaping import reshape

    found = products.matmul.record(left, products.as_columns(b))
    return reshape(found, shape=found.shape[:-1])


@on_nodes("tensordot", operands=2, op="Tensordot")
def tensordot(a: Node, b: Node, axes: Any) -> Node:
    """Sums over the given axes of a product."""
    return node_tensordot(a, b, axes)


@named("einsum")
def einsum(equation: str, *inputs: Any, **_: Any) -> Tensor:
    """Einstein's sums: one letter for each axis."""
    found: Tensor = call(_einsum, alike("Einsum", inputs), {"equation": equation}, name="Einsum")
    return found


def _einsum(*xs: Node, equation: str) -> Node:
    return contract(equation, *xs)


@on_nodes("linalg.det", op="MatrixDeterminant")
def det(input: Node) -> Node:
    """The determinant."""
    return linalg.det.record(input)


@on_nodes("linalg.logdet", op="LogMatrixDeterminant")
def logdet(matrix: Node) -> Node:
    """The logarithm of the determinant of a positive definite matrix."""
    found: Node = _slogdet(matrix)[1]
    return found


def _slogdet(matrix: Node) -> Any:
    from gradexplain.primitive import NUMPY

    return NUMPY[np.linalg.slogdet](matrix)


SlogDet = namedtuple("SlogDet", ("sign", "log_abs_determinant"))


@on_nodes("linalg.slogdet", op="LogMatrixDeterminant")
def slogdet(input: Node) -> Any:
    """Sign and logarithm of the determinant."""
    return SlogDet(*_slogdet(input))


@on_nodes("linalg.inv", op="MatrixInverse")
def inv(input: Node, adjoint: bool = False) -> Node:
    """The inverse."""
    return linalg.inv.record(products.swapped(input) if adjoint else input)


@on_nodes("linalg.pinv", op="MatrixPinv")
def pinv(a: Node, rcond: Any = None) -> Node:
    """The pseudo-inverse."""
    return linalg.pinv.record(a, rcond=rcond)


@on_nodes("linalg.solve", operands=2, op="MatrixSolve")
def solve(matrix: Node, rhs: Node, adjoint: bool = False) -> Node:
    """The solution of systems of equations."""
    return linalg.solve.record(products.swapped(matrix) if adjoint else matrix, rhs)


@on_nodes("linalg.triangular_solve", operands=2, op="MatrixTriangularSolve")
def triangular_solve(matrix: Node, rhs: Node, lower: bool = True, adjoint: bool = False) -> Node:
    """The solution of systems with a triangular matrix; the other triangle is not read."""
    from gradexplain.ops import shaping

    half = shaping.tril(matrix, k=0) if lower else shaping.triu(matrix, k=0)
    return linalg.solve.record(products.swapped(half) if adjoint else half, rhs)


@on_nodes("linalg.cholesky", op="Cholesky")
def cholesky(input: Node) -> Node:
    """The lower triangle L with L @ L.T = A."""
    return decompositions.cholesky.record(input)


@on_nodes("linalg.cholesky_solve", operands=2, op="CholeskySolve")
def cholesky_solve(chol: Node, rhs: Node) -> Node:
    """The solution of A x = b, given the Cholesky factor of A."""
    return linalg.solve.record(products.swapped(chol), linalg.solve.record(chol, rhs))


@on_nodes("linalg.eigvalsh", op="SelfAdjointEigV2")
def eigvalsh(tensor: Node) -> Node:
    """The eigenvalues of a symmetric matrix, of which the lower triangle is read."""
    return decompositions.eigenvalues.record(tensor, triangle="L")


@on_nodes("linalg.eigh", op="SelfAdjointEigV2")
def eigh(tensor: Node) -> tuple[Node, Node]:
    """Eigenvalues and eigenvectors of a symmetric matrix."""
    return decompositions.eigenvalues.record(tensor, triangle="L"), decompositions.eigenvectors.record(
        tensor, triangle="L"
    )


@on_nodes("linalg.svd", op="Svd")
def svd(tensor: Node, full_matrices: bool = False, compute_uv: bool = True) -> Any:
    """Singular values s, and unless told otherwise the vectors: (s, u, v)."""
    s = decompositions.singular_values.record(tensor)
    if not compute_uv:
        return s
    u, vh = decompositions.left_vectors.record(tensor), decompositions.right_vectors.record(tensor)
    return s, u, products.swapped(vh)


@on_nodes("linalg.qr", op="Qr")
def qr(input: Node, full_matrices: bool = False) -> tuple[Node, Node]:
    """Q with orthonormal columns and R upper triangular."""
    return decompositions.qr_q.record(input), decompositions.qr_r.record(input)


@on_nodes("norm", "linalg.norm", op="Norm")
def norm(tensor: Node, ord: Any = "euclidean", axis: Any = None, keepdims: bool = False) -> Node:
    """The length of vectors; of everything by default."""
    axes = {"axis": normal_axes(axis, tensor.ndim), "keepdims": bool(keepdims)}
    if ord in ("euclidean", "fro", 2):
        return elementary.sqrt.record(reductions.sum_over(arithmetic.mul.record(tensor, tensor), **axes))
    size = arithmetic.absolute.record(tensor)
    if ord == 1:
        return reductions.sum_over(size, **axes)
    if ord == float("inf"):
        return reductions.max_over(size, **axes)
    return arithmetic.power.record(reductions.sum_over(arithmetic.power.record(size, ord), **axes), 1 / ord)


@on_nodes("linalg.normalize", op="Normalize")
def normalize(tensor: Node, ord: Any = "euclidean", axis: Any = None) -> tuple[Node, Node]:
    """The vectors over their lengths, and the lengths."""
    length = norm.__wrapped__(tensor, ord, axis, True)  # type: ignore[attr-defined]
    return arithmetic.div.record(tensor, length), length


def _sum_of_squares(t: Node) -> Node:
    return reductions.sum_over(arithmetic.mul.record(t, t), axis=tuple(range(t.ndim)), keepdims=False)


@named("linalg.global_norm")
def global_norm(t_list: Any, name: Any = None) -> Tensor:
    """The length of all tensors of a list together."""
    from gradexplain.tf.names.elementwise import add_n
    from gradexplain.tf.names.table import TABLE

    found: Tensor = TABLE["sqrt"](add_n([call(_sum_of_squares, [tensor(t)]) for t in t_list if t is not None]))
    return found


@named("clip_by_global_norm")
def clip_by_global_norm(
    t_list: Any, clip_norm: Any, use_norm: Any = None, name: Any = None
) -> tuple[list[Any], Tensor]:
    """All tensors scaled alike so that together they are no longer than the bound, and their length before."""
    from gradexplain.tf.names.table import TABLE

    length = global_norm(t_list) if use_norm is None else tensor(use_norm)
    bound = tensor(clip_norm, length.dtype) if isinstance(clip_norm, (int, float)) else tensor(clip_norm)
    scale = bound * TABLE["minimum"](1.0 / length, 1.0 / bound)
    return [None if t is None else tensor(t) * scale for t in t_list], length


@on_nodes("clip_by_norm", op="ClipByNorm")
def clip_by_norm(t: Node, clip_norm: Any, axes: Any = None) -> Node:
    """The tensor, shortened to the bound if it is longer."""
    from gradexplain.ops.ordering import greater, maximum, where

    total = reductions.sum_over(arithmetic.mul.record(t, t), axis=normal_axes(axes, t.ndim), keepdims=True)
    positive = greater.record(total, 0)
    length = where.record(positive, elementary.sqrt.record(where.record(positive, total, 1)), total)
    return arithmetic.div.record(arithmetic.mul.record(t, clip_norm), maximum.record(length, clip_norm))


@on_nodes("linalg.cross", operands=2, op="Cross")
def cross(a: Node, b: Node) -> Node:
    """The cross product of vectors with three components."""
    return products.cross.record(a, b)
