"""Rows for products of two arrays: `@`, outer, cross, convolution, and NumPy's functions made of them.

Products that are sums over named indices (tensordot, kron, dot of many axes, …) are in ops/einsum.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np

from gradexplain.errors import ArgumentError, ShapeError
from gradexplain.graph import Node, Primitive, Sample, constant, is_scalar_constant, operators
from gradexplain.ops.arithmetic import neg
from gradexplain.ops.reductions import operand, sum_over
from gradexplain.ops.refusals import only_defaults
from gradexplain.ops.shaping import sum_to
from gradexplain.primitive import NUMPY, PRODUCT, TERM, Code, bilinear, filled, infix, numpy_function
from gradexplain.shapes import Shape, broadcast, normal_axis, size


def available(module: Any, *names: str) -> list[Any]:
    """Those of NumPy's functions that the installed version has."""
    return [getattr(module, name) for name in names if hasattr(module, name)]


def swapped(x: Node) -> Node:
    """Matrices transposed, in stacks too."""
    return operators["transpose"](x, (*range(x.ndim - 2), x.ndim - 1, x.ndim - 2))


def as_rows(x: Node) -> Node:
    """Vectors as matrices of one row: (…, n) becomes (…, 1, n)."""
    return operators["reshape"](x, (*x.shape[:-1], 1, *x.shape[-1:]))


def as_columns(x: Node) -> Node:
    """Vectors as matrices of one column: (…, n) becomes (…, n, 1)."""
    return operators["reshape"](x, (*x.shape, 1))


def _unstacked(x: Node) -> Node:
    """A stack of matrices as one matrix: all rows below each other."""
    return operators["reshape"](x, (size(x.shape[:-1]), *x.shape[-1:]))


def _matmul_shape(a: Shape, b: Shape) -> Shape:
    if not a or not b or a[-1] != b[max(len(b) - 2, 0)]:
        why = (
            "numbers are multiplied with *" if not a or not b else "columns of the first must match rows of the second"
        )
        raise ShapeError(f"shapes {a} and {b} do not multiply as matrices", why=why, fix="transpose one, or use *")
    return broadcast(a[:-2], b[:-2]) + a[-2:-1] + (b[-1:] if len(b) > 1 else ())


def _matmul_left(g: Node, a: Node, b: Node) -> Node:
    """The cotangent of A in A @ B; for matrices g @ B.T."""
    match min(a.ndim, 3), min(b.ndim, 3):
        case 1, 1:
            return g * b
        case 1, 2:
            return b @ g
        case 1, 3:
            return operators["reshape"](sum_to(as_rows(g) @ swapped(b), (1, *a.shape)), a.shape)
        case 2, 1:
            return outer(g, b)
        case _, 1:
            return as_columns(g) * b
        case _, 2:
            return g @ b.T
    return sum_to(g @ swapped(b), a.shape)


def _matmul_right(g: Node, a: Node, b: Node) -> Node:
    """The cotangent of B in A @ B; for matrices A.T @ g."""
    match min(a.ndim, 3), min(b.ndim, 3):
        case 1, 1:
            return g * a
        case 1, 2:
            return outer(a, g)
        case 1, 3:
            return as_columns(a) * as_rows(g)
        case 2, 1:
            return a.T @ g
        case _, 1:
            return _unstacked(a).T @ operators["reshape"](g, (g.size,))
        case _, 2:
            return _unstacked(a).T @ _unstacked(g)
    return sum_to(swapped(a) @ g, b.shape)


def _signs_out(product: Any, shape: Any) -> Any:
    """The folding of a product: zero annihilates, and minus signs are written in front."""

    def fold(a: Node, b: Node) -> Node | None:
        if is_scalar_constant(a, 0) or is_scalar_constant(b, 0):
            return filled(0, shape(a.shape, b.shape))
        if a.op is neg:
            return neg(product()(a.inputs[0], b))
        return neg(product()(a, b.inputs[0])) if b.op is neg else None

    return fold


def _outer_shape(a: Shape, b: Shape) -> Shape:
    return (*a, *b)


def _cross_shape(a: Shape, b: Shape) -> Shape:
    if a != b or a[-1:] != (3,):
        raise ShapeError(f"shapes {a} and {b} have no cross product", fix="vectors of three components are needed")
    return a


def _convolve_shape(a: Shape, b: Shape) -> Shape:
    return (a[0] + b[0] - 1,)


def _correlate_shape(a: Shape, b: Shape) -> Shape:
    return (a[0] - b[0] + 1,)


MATMUL_SHAPES = [
    ((3,), (3,)), ((2, 3), (3,)), ((3,), (3, 2)), ((2, 3), (3, 4)), ((2, 2, 3), (3,)), ((3,), (2, 3, 2)),
    ((2, 2, 3), (3, 2)), ((2, 3), (2, 3, 2)), ((2, 1, 2, 3), (3, 3, 2)),
]  # fmt: skip
LONG_AND_SHORT = (Sample(((5,), (3,))), Sample(((3,), (1,))))

# fmt: off
matmul: Primitive
outer: Primitive
cross: Primitive
convolve: Primitive
correlate: Primitive
matmul = bilinear("matmul", np.matmul, _matmul_shape, transposes=(_matmul_left, _matmul_right), rule="matrix product rule",
                  numpy=infix(" @ ", TERM, PRODUCT + 1), fold=_signs_out(lambda: matmul, _matmul_shape),
                  samples=tuple(Sample(shapes) for shapes in MATMUL_SHAPES))
outer = bilinear("outer", np.outer, _outer_shape, transposes=(lambda g, a, b: g @ b, lambda g, a, b: g.T @ a),
                 fold=_signs_out(lambda: outer, _outer_shape), samples=(Sample(((2,), (3,))),))
cross = bilinear("cross", np.cross, _cross_shape, transposes=(lambda g, a, b: cross(b, g), lambda g, a, b: cross(g, a)),
                 fold=_signs_out(lambda: cross, _cross_shape), samples=(Sample(((3,), (3,))), Sample(((2, 3), (2, 3)))))
convolve = bilinear("convolve", np.convolve, _convolve_shape, fold=_signs_out(lambda: convolve, _convolve_shape),
                    transposes=(lambda g, a, b: correlate(g, b), lambda g, a, b: correlate(g, a)), samples=LONG_AND_SHORT)
correlate = bilinear("correlate", lambda a, b: np.correlate(a, b, "valid"), _correlate_shape,
                     fold=_signs_out(lambda: correlate, _correlate_shape), numpy=lambda a, b: Code(f"np.correlate({a}, {b}, 'valid')"),
                     transposes=(lambda g, a, b: convolve(g, b), lambda g, a, b: correlate(a, g)), samples=LONG_AND_SHORT)
# fmt: on

operators.update(matmul=matmul)


@numpy_function(*available(np.linalg, "matmul"))
def matrix_product(x1: Any, x2: Any, /) -> Node:
    """`np.linalg.matmul`."""
    return matmul.record(operand(x1), operand(x2))


def flattened(x: Any) -> Node:
    """All entries in one row."""
    node = operand(x)
    return operators["reshape"](node, (node.size,))


@numpy_function(np.outer)
def outer_product(a: Any, b: Any, out: Any = None) -> Node:
    """`np.outer`: every entry of a times every entry of b."""
    only_defaults("np.outer", out=out)
    return outer.record(flattened(a), flattened(b))


@numpy_function(*available(np.linalg, "outer"))
def vector_outer(x1: Any, x2: Any) -> Node:
    """`np.linalg.outer`, of vectors only."""
    a, b = operand(x1), operand(x2)
    if a.ndim != 1 or b.ndim != 1:
        raise ShapeError(f"np.linalg.outer takes vectors, not shapes {a.shape} and {b.shape}", fix="use np.outer")
    return outer.record(a, b)


@numpy_function(np.cross)
def cross_product(a: Any, b: Any, axisa: int = -1, axisb: int = -1, axisc: int = -1, axis: int | None = None) -> Node:
    """`np.cross`: vectors of three components, or of two; two and two give a number."""
    if axis is not None:
        axisa = axisb = axisc = axis
    a, b = axis_last(operand(a), axisa), axis_last(operand(b), axisb)
    if not {a.shape[-1], b.shape[-1]} <= {2, 3}:
        raise ShapeError(f"np.cross needs 2 or 3 components, not {a.shape[-1]} and {b.shape[-1]}", fix="check axis=")
    if a.shape[-1] == b.shape[-1] == 2:
        turned = a @ np.array([[0.0, 1.0], [-1.0, 0.0]])
        products: Node = turned * b
        return sum_over(products, axis=(products.ndim - 1,), keepdims=False)
    a, b = _in_space(a), _in_space(b)
    shape = broadcast(a.shape, b.shape)
    product = cross(operators["broadcast_to"](a, shape), operators["broadcast_to"](b, shape))
    order = list(range(len(shape) - 1))
    order.insert(normal_axis(axisc, len(shape)), len(shape) - 1)
    return operators["transpose"](product, tuple(order))


def axis_last(x: Node, axis: int) -> Node:
    """The axis, moved behind the others."""
    axis = normal_axis(axis, x.ndim)
    return operators["transpose"](x, (*(i for i in range(x.ndim) if i != axis), axis))


def _in_space(x: Node) -> Node:
    """Vectors in the plane with a third component of 0."""
    return x @ np.eye(2, 3) if x.shape[-1] == 2 else x


@numpy_function(*available(np.linalg, "cross"))
def space_cross(x1: Any, x2: Any, *, axis: int = -1) -> Node:
    """`np.linalg.cross`: vectors of three components."""
    a, b = operand(x1), operand(x2)
    if a.shape[axis] != 3 or b.shape[axis] != 3:
        raise ShapeError(
            "np.linalg.cross needs vectors of three components", fix="use a[0]*b[1] - a[1]*b[0] in the plane"
        )
    result: Node = cross_product(a, b, axis=axis)
    return result


@numpy_function(np.linalg.multi_dot)
def multi_dot(arrays: Sequence[Any], *, out: Any = None) -> Node:
    """`np.linalg.multi_dot`: a chain of matrix products in the order that costs least."""
    only_defaults("np.linalg.multi_dot", out=out)
    nodes = [operand(x) for x in arrays]
    if len(nodes) < 2:
        raise ArgumentError("np.linalg.multi_dot needs at least two arrays", fix="add one")
    sizes = [
        nodes[0].shape[0] if nodes[0].ndim == 2 else 1,
        *(x.shape[0] if x.ndim == 1 else x.shape[-1] for x in nodes),
    ]
    if nodes[-1].ndim == 1:
        sizes[-1] = 1

    @cache
    def best(i: int, j: int) -> tuple[int, int]:
        """The cost of the product of the arrays i … j, and the last array of its first part."""
        if i == j:
            return 0, i
        return min((best(i, k)[0] + best(k + 1, j)[0] + sizes[i] * sizes[k + 1] * sizes[j + 1], k) for k in range(i, j))

    def product(i: int, j: int) -> Node:
        return nodes[i] if i == j else product(i, best(i, j)[1]) @ product(best(i, j)[1] + 1, j)

    return product(0, len(nodes) - 1)


def _sequences(function: str, a: Any, v: Any) -> tuple[Node, Node]:
    nodes = [flattened(x) if np.ndim(x) == 0 and operand(x).ndim == 0 else operand(x) for x in (a, v)]
    for x in nodes:
        if x.ndim != 1 or x.size == 0:
            raise ShapeError(f"{function} takes sequences, not an array of shape {x.shape}", fix="work row by row")
    return nodes[0], nodes[1]


def _window(full: Node, n: int, m: int, mode: str, *, late: bool = False) -> Node:
    """The part of a full convolution that a mode keeps; `late` is the other choice of the middle of an even count."""
    short, long = min(n, m), max(n, m)
    match mode:
        case "full":
            return full
        case "same":
            start = short // 2 if late else (short - 1) // 2
            return full[start : start + long]
        case "valid":
            return full[short - 1 : long]
    raise ArgumentError(f"mode={mode!r} is not a mode of convolution", fix="use 'full', 'same' or 'valid'")


@numpy_function(np.convolve)
def convolution(a: Any, v: Any, mode: str = "full") -> Node:
    """`np.convolve`."""
    a, v = _sequences("np.convolve", a, v)
    return _window(convolve(a, v), a.size, v.size, mode)


@numpy_function(np.correlate)
def correlation(a: Any, v: Any, mode: str = "valid") -> Node:
    """`np.correlate`: the convolution with v backwards."""
    a, v = _sequences("np.correlate", a, v)
    if mode == "valid" and a.size >= v.size:
        return correlate.record(a, v)
    return _window(convolve(a, v[::-1]), a.size, v.size, mode, late=a.size < v.size)


@numpy_function(np.polyval)
def polyval(p: Any, x: Any) -> Node:
    """`np.polyval`, by Horner's scheme; the first coefficient is that of the highest power."""
    coefficients = [p[i] for i in range(p.shape[0])] if isinstance(p, Node) else [operand(c) for c in p]
    x = operand(x)
    total = constant(0)
    for coefficient in coefficients:
        total = total * x + coefficient
    return operators["broadcast_to"](total, x.shape)


@numpy_function(np.vander)
def vander(x: Any, N: int | None = None, increasing: bool = False) -> Node:
    """`np.vander`: the powers of x side by side."""
    x = operand(x)
    count = x.size if N is None else N
    powers = range(count) if increasing else range(count - 1, -1, -1)
    columns: Node = NUMPY[np.stack]([x**k for k in powers], axis=1)
    return columns
