"""Rows of linear algebra without eigenvalues: inverse, determinant, solve, pseudo-inverse, powers; all take stacks.

Formulas: Giles, "Collected matrix derivative results for forward and reverse mode algorithmic differentiation" (2008);
Golub and Pereyra (1973) for the pseudo-inverse of constant rank.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from gradexplain.errors import ArgumentError, NoRuleError, ShapeError
from gradexplain.graph import Node, Primitive, Sample, constant, operators
from gradexplain.ops.products import as_columns, available, outer, swapped
from gradexplain.ops.reductions import operand, sum_over
from gradexplain.ops.refusals import only_defaults
from gradexplain.primitive import NUMPY, POSTFIX, Code, call, flat, general, numpy_function
from gradexplain.shapes import Shape, broadcast


class SlogdetResult(NamedTuple):
    """What `np.linalg.slogdet` returns."""

    sign: Node
    logabsdet: Node


def square(x: Shape, *_: Any, **__: Any) -> Shape:
    """The shape of square matrices; any other is an error."""
    if len(x) < 2 or x[-1] != x[-2]:
        raise ShapeError(f"square matrices are needed, not an array of shape {x}", fix="check the shape")
    return x


def stacked(function: Callable[..., Any]) -> Callable[..., Any]:
    """The mpmath form of a row: `function(mp, *matrices)`, for one matrix of a stack after another."""

    def exact(mp: Any, *operands: Any, **params: Any) -> Any:
        lead = operands[0].shape[:-2]
        results = {i: function(mp, *[mp.matrix(x[i].tolist()) for x in operands], **params) for i in np.ndindex(lead)}
        parts = {i: r.tolist() if isinstance(r, mp.matrix) else r for i, r in results.items()}
        out = np.empty((*lead, *np.shape(next(iter(parts.values())))), dtype=object)
        for i, part in parts.items():
            out[i] = part
        return out if out.shape else out[()]

    return exact


def over_matrices(g: Node) -> Node:
    """One number for each matrix of a stack, ready to be multiplied with these."""
    return as_columns(as_columns(g)) if g.shape else g


def _total(x: Node) -> Node:
    """The sum over every matrix of a stack, kept as a matrix of one entry."""
    return sum_over(x, axis=(x.ndim - 2, x.ndim - 1), keepdims=True)


# Determinants. The derivative of det is the matrix of cofactors, det(X) * inv(X).T; the row `cofactor` is right also
# where X is singular: if X = U diag(s) V, it is det(U V) * U diag(product of the other s) V. So is its own derivative.


def _cofactor_value(x: Any) -> Any:
    u, s, v = np.linalg.svd(x)
    others = np.prod(np.where(np.eye(s.shape[-1]) == 1, 1, s[..., None, :]), -1)
    return np.linalg.det(u @ v)[..., None, None] * (u * others[..., None, :]) @ v


def _cofactor_text(x: Code) -> Code:
    others = "np.prod(np.where(np.eye(s.shape[-1]) == 1, 1, s[..., None, :]), -1)"
    body = f"np.linalg.det(u @ v)[..., None, None]*(u*{others}[..., None, :]) @ v"
    return Code(f"(lambda u, s, v: {body})(*np.linalg.svd({x}))")


def _cofactor_change_value(x: Any, e: Any) -> Any:
    """In the axes of the singular vectors: entry i, j needs the product of all s but s_i and s_j."""
    u, s, v = np.linalg.svd(x)
    eye = np.eye(s.shape[-1])
    others = np.prod(np.where(np.maximum(eye[:, None], eye) == 1, 1, s[..., None, None, :]), -1) * (1 - eye)
    e = np.swapaxes(v @ np.swapaxes(e, -1, -2) @ u, -1, -2)
    inner = (others @ np.diagonal(e, axis1=-2, axis2=-1)[..., None]) * eye - others * np.swapaxes(e, -1, -2)
    return np.linalg.det(u @ v)[..., None, None] * u @ inner @ v


def _cofactor_change_text(x: Code, e: Code) -> Code:
    others = "np.prod(np.where(np.maximum(i[:, None], i) == 1, 1, s[..., None, None, :]), -1)*(1 - i)"
    middle = "(q @ np.diagonal(e, 0, -2, -1)[..., None])*i - q*np.swapaxes(e, -1, -2)"
    inner = f"(lambda e, q, i: {middle})(np.swapaxes(v @ np.swapaxes(e, -1, -2) @ u, -1, -2), {others}, i)"
    body = f"np.linalg.det(u @ v)[..., None, None]*u @ {inner} @ v"
    return Code(f"(lambda u, s, v, e, i: {body})(*np.linalg.svd({x}), {e}, np.eye({x.at(POSTFIX)}.shape[-1]))")


def _minor(a: Any, i: int, j: int) -> list[list[Any]]:
    """The rows of a matrix, but without one row and one column."""
    return [[a[k, m] for m in range(a.cols) if m != j] for k in range(a.rows) if k != i]


def _determinant(mp: Any, rows: list[list[Any]]) -> Any:
    return mp.det(mp.matrix(rows)) if rows else mp.mpf(1)


def _determinant_change(mp: Any, a: list[list[Any]], e: list[list[Any]]) -> Any:
    """The sum of the determinants that have one row of e for that of a."""
    return sum((_determinant(mp, [*a[:i], e[i], *a[i + 1 :]]) for i in range(len(a))), mp.mpf(0))


def _signed(n: int, entry: Callable[[int, int], Any]) -> Any:
    return [[(-1) ** (i + j) * entry(i, j) for j in range(n)] for i in range(n)]


def _exact_cofactor(mp: Any, a: Any) -> Any:
    return _signed(a.rows, lambda i, j: _determinant(mp, _minor(a, i, j)))


def _exact_cofactor_change(mp: Any, a: Any, e: Any) -> Any:
    return _signed(a.rows, lambda i, j: _determinant_change(mp, _minor(a, i, j), _minor(e, i, j)))


def _second_cofactor_change(g: Node, y: Node, x: Node, e: Node) -> Node:
    """The derivative of (<e, C>*C - C @ e.T @ C)/det(X) with C the cofactors: third order needs det(X) != 0."""
    c, d = cofactor(x), over_matrices(det(x))
    change = _total(g * c) * e + _total(e * c) * g - g @ swapped(c) @ e - e @ swapped(c) @ g
    return (cofactor_change(x, change) - _total(g * y) * c) / d


# Systems of equations


def _solve_shape(a: Shape, b: Shape) -> Shape:
    if square(a)[-1] != b[max(len(b) - 2, 0)]:
        raise ShapeError(f"a system with a matrix of shape {a} has no right side of shape {b}", fix="check the shapes")
    return b


def _solve_pullback(g: Node, y: Node, a: Node, b: Node) -> Node:
    back = solve(swapped(a), g)
    return -(outer(back, y) if y.ndim == 1 else back @ swapped(y))


def _exact_solve(mp: Any, a: Any, b: Any) -> Any:
    solution = stacked(lambda mp, a, b: mp.inverse(a) * b)(mp, a, b)
    return np.reshape(solution, b.shape)


def _pinv_pullback(g: Node, y: Node, x: Node, *, rcond: float | None) -> Node:
    """Golub and Pereyra: the last two terms are what X leaves out of the spaces that it maps between."""
    p, pt, gt = y, swapped(y), swapped(g)
    main = -(pt @ g @ pt)
    left = (gt - x @ (p @ gt)) @ p @ pt
    right = pt @ p @ (gt - (gt @ p) @ x)
    return main + left + right


def _exact_pinv(mp: Any, a: Any, *, rcond: float | None) -> Any:
    u, s, v = mp.svd_r(a)
    least = s[0] * (mp.sqrt(mp.eps) if rcond is None else rcond)
    return v.T * mp.diag([1 / x if x > least else mp.mpf(0) for x in s]) * u.T


def _pinv_text(x: Code, *, rcond: float | None) -> Code:
    return Code(f"np.linalg.pinv({x})" if rcond is None else f"np.linalg.pinv({x}, {rcond!r})")


def _pinv_value(x: Any, *, rcond: float | None) -> Any:
    return np.linalg.pinv(x) if rcond is None else np.linalg.pinv(x, rcond)


def _numbers(*x: Shape, **_: Any) -> Shape:
    return square(x[0])[:-2]


def without_hermitian(function: str, hermitian: bool) -> None:
    """Refuses `hermitian=True`, which reads one triangle of the matrix."""
    if hermitian:
        raise NoRuleError(f"{function} with hermitian=True has no derivative rule", fix="leave hermitian= out")


def _samples(*shapes: tuple[Shape, ...], kind: str = "invertible", **params: Any) -> tuple[Sample, ...]:
    return tuple(Sample(s, params, kind) for s in shapes)


ONE, STACK = ((3, 3),), ((2, 2, 2),)

# fmt: off
cofactor: Primitive
cofactor_change: Primitive
solve: Primitive
inv = general("inv", np.linalg.inv, square, lambda g, y, x: -(swapped(y) @ g @ swapped(y)), rule="inverse rule",
              exact=stacked(lambda mp, a: mp.inverse(a)), numpy=call("np.linalg.inv"), samples=_samples(ONE, STACK))
det = general("det", np.linalg.det, _numbers, lambda g, y, x: over_matrices(g) * cofactor(x), rule="determinant rule",
              exact=stacked(lambda mp, a: mp.det(a)), numpy=call("np.linalg.det"), samples=_samples(ONE, STACK, ((1, 1),)))
cofactor = general("cofactor", _cofactor_value, square, lambda g, y, x: cofactor_change(x, g), rule="determinant rule",
              exact=stacked(_exact_cofactor), numpy=_cofactor_text, samples=_samples(ONE, STACK))
cofactor_change = general("cofactor_change", _cofactor_change_value, lambda x, e: square(x), _second_cofactor_change,
              lambda g, y, x, e: cofactor_change(x, g), rule="determinant rule", exact=stacked(_exact_cofactor_change),
              numpy=_cofactor_change_text, samples=_samples((*ONE, *ONE), (*STACK, *STACK)))
log_determinant = general("logdet", lambda x: np.linalg.slogdet(x)[1], _numbers, lambda g, y, x: over_matrices(g) * swapped(inv(x)),
              rule="log-determinant rule", exact=stacked(lambda mp, a: mp.log(mp.fabs(mp.det(a)))),
              numpy=lambda x: Code(f"np.linalg.slogdet({x})[1]"), samples=_samples(ONE, STACK))
determinant_sign = flat("det_sign", lambda x: np.linalg.slogdet(x)[0], _numbers, family="general", kinks="det(X) = 0: jumps",
              exact=stacked(lambda mp, a: mp.sign(mp.det(a))), numpy=lambda x: Code(f"np.linalg.slogdet({x})[0]"),
              samples=_samples(ONE, STACK))
solve = general("solve", np.linalg.solve, _solve_shape, _solve_pullback, lambda g, y, a, b: solve(swapped(a), g),
              rule="linear system rule", exact=_exact_solve, numpy=call("np.linalg.solve"),
              samples=_samples(((3, 3), (3,)), ((3, 3), (3, 2)), ((2, 2, 2), (2, 2, 1))))
pinv = general("pinv", _pinv_value, lambda x, *, rcond: (*x[:-2], x[-1], x[-2]), _pinv_pullback, rule="pseudo-inverse rule",
              exact=stacked(_exact_pinv), numpy=_pinv_text, kinks="where the rank changes: has no derivative",
              samples=_samples(((3, 2),), ((2, 3),), ((2, 2, 2),), rcond=None))
matrix_rank = flat("matrix_rank", np.linalg.matrix_rank, lambda x: x[:-2], family="general", result="int",
              numpy=call("np.linalg.matrix_rank"), kinks="jumps where rows become dependent", samples=_samples(ONE))
# fmt: on


@numpy_function(np.linalg.inv)
def inverse(a: Any) -> Node:
    """`np.linalg.inv`."""
    return inv.record(operand(a))


@numpy_function(np.linalg.det)
def determinant(a: Any) -> Node:
    """`np.linalg.det`; its derivative is right for singular matrices too."""
    return det.record(operand(a))


@numpy_function(np.linalg.slogdet)
def slogdet(a: Any) -> SlogdetResult:
    """`np.linalg.slogdet`: the sign, through which no derivative flows, and the logarithm of |det|."""
    x = operand(a)
    return SlogdetResult(determinant_sign.record(x), log_determinant.record(x))


@numpy_function(np.linalg.solve)
def solve_system(a: Any, b: Any) -> Node:
    """`np.linalg.solve` as NumPy 2 reads it: b is a vector only if it has one axis, else a stack of matrices."""
    a, b = operand(a), operand(b)
    if a.ndim == 2 and b.ndim <= 2:
        return solve.record(a, b)
    columns = as_columns(b) if b.ndim == 1 else b
    lead = broadcast(a.shape[:-2], columns.shape[:-2])
    a = operators["broadcast_to"](a, lead + a.shape[-2:])
    solution = solve.record(a, operators["broadcast_to"](columns, lead + columns.shape[-2:]))
    return operators["reshape"](solution, lead + b.shape) if b.ndim == 1 else solution


@numpy_function(np.linalg.pinv)
def pseudo_inverse(a: Any, rcond: Any = None, hermitian: bool = False, *, rtol: Any = None) -> Node:
    """`np.linalg.pinv`."""
    without_hermitian("np.linalg.pinv", hermitian)
    cutoff = rcond if rcond is not None else rtol
    if not (cutoff is None or isinstance(cutoff, (int, float))):
        raise ArgumentError("np.linalg.pinv: rcond= must be a number", fix="leave it out")
    return pinv.record(operand(a), rcond=None if cutoff is None else float(cutoff))


@numpy_function(np.linalg.matrix_rank)
def rank(A: Any, tol: Any = None, hermitian: bool = False, *, rtol: Any = None) -> Node:
    """`np.linalg.matrix_rank`: a whole number, no derivative flows through."""
    without_hermitian("np.linalg.matrix_rank", hermitian)
    only_defaults("np.linalg.matrix_rank", tol=tol, rtol=rtol)
    return matrix_rank.record(operand(A))


@numpy_function(np.linalg.matrix_power)
def matrix_power(a: Any, n: int) -> Node:
    """`np.linalg.matrix_power`: products, as few as repeated squaring needs; of the inverse if n < 0."""
    x = operand(a)
    square(x.shape)
    if n == 0:
        return operators["broadcast_to"](constant(np.eye(x.shape[-1])), x.shape)
    x, n = (inv(x), -n) if n < 0 else (x, n)
    if n == 3:
        return x @ x @ x
    result: Node | None = None
    while n:
        if n % 2:
            result = x if result is None else result @ x
        x, n = (x @ x if n > 1 else x), n // 2
    assert result is not None
    return result


@numpy_function(*available(np.linalg, "matrix_transpose"))
def matrix_transpose(x: Any, /) -> Node:
    """`np.linalg.matrix_transpose`: the last two axes exchanged."""
    return swapped(operand(x))


@numpy_function(*available(np.linalg, "trace"))
def trace(x: Any, /, *, offset: int = 0, dtype: Any = None) -> Node:
    """`np.linalg.trace`: `np.trace` of the last two axes."""
    only_defaults("np.linalg.trace", dtype=dtype)
    total: Node = NUMPY[np.trace](x, offset=offset, axis1=-2, axis2=-1)
    return total


@numpy_function(*available(np.linalg, "diagonal"))
def diagonal(x: Any, /, *, offset: int = 0) -> Node:
    """`np.linalg.diagonal`: `np.diagonal` of the last two axes."""
    entries: Node = NUMPY[np.diagonal](x, offset=offset, axis1=-2, axis2=-1)
    return entries


def _without_rule(function: Any, fix: str) -> None:
    def refused(*_: Any, **__: Any) -> Node:
        name = f"np.linalg.{function.__name__}"
        raise NoRuleError(f"{name} has no derivative rule", why="it is not in the table", fix=fix)

    numpy_function(function)(refused)


_without_rule(np.linalg.lstsq, "use np.linalg.pinv(a) @ b")
_without_rule(np.linalg.eig, "use np.linalg.eigh if the matrix is symmetric")
_without_rule(np.linalg.eigvals, "use np.linalg.eigvalsh if the matrix is symmetric")
_without_rule(np.linalg.tensorinv, "reshape to a matrix and use np.linalg.inv")
_without_rule(np.linalg.tensorsolve, "reshape to a matrix and use np.linalg.solve")
