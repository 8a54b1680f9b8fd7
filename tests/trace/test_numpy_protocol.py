"""NumPy's functions on traced values: ufuncs and their methods, out=, lists of traced values, callbacks."""

import numpy as np
import pytest

import gradexplain as gx
from gradexplain.errors import NoRuleError

from . import M, V, check_gradient, collector

PROGRAMS, at = collector()


@at(0.7)
def numpy_scalars(x):
    left = np.float64(2) * x + np.float64(2) ** x + np.add(1, x) + (np.arange(3.0) - x).sum()
    return left + x * np.float64(3) + np.ones(2) @ np.array([x, x]) + (x - np.arange(3)).sum()


@at(V)
def output_arrays(v):
    b = np.empty(3)
    np.multiply(v, v, out=b)
    np.sin(b, b)
    np.add(b, 1, out=b[:])
    np.cumsum(b, out=b)
    return b.sum()


@at(V)
def ufunc_methods(v):
    reduced = np.maximum.reduce([v[0], v[1], 0.5]) + np.add.reduce(v) + np.multiply.accumulate(v)[2]
    return reduced + np.add.outer(v, v).sum() + np.logical_or.reduce(v > 2) * v[0]


@at(V)
def lists_of_traced_values(v):
    squares = [t**2 for t in v]
    sums = np.sum(squares) + np.mean([v, v**2]) + np.max([v[0], v[1]]) + np.prod(squares) + np.std(squares)
    return sums + np.exp([v[0], 1.0]).sum() + np.maximum([v[0], v[1]], 0.2).sum() + np.linalg.norm(squares)


@at(V)
def arrays_of_traced_values(v):
    a = np.array([[v[0], 1.0], [v[1] * v[0], 2]])
    b = np.asarray([v[0], v[1]], dtype=float) + np.array([v[0], 1], dtype=object)
    return np.linalg.det(a) + np.array([v, 2 * v]).sum() + b.sum() + np.array(v)[0] + np.stack([v, v])[1, 1]


@at(V)
def joining(v):
    return (
        np.concatenate([v, [1.0], v[:1]]).sum() * np.hstack([v, v[0]])[3]
        + np.vstack([v, v]).sum()
        + np.append(v, 3.0).sum()
        + np.insert(v, 1, v[0] * 2).sum()
        + np.delete(v, 0).sum()
    )


@at(V)
def methods(v):
    return (
        (v.sum() + v.mean() + v.std() + v.var() + v.max() + v.min() + v.prod() + v.dot(v) + v.cumsum()[-1])
        * (v.T @ v + v.reshape(3, 1).sum() + v.clip(0, 1).sum() + v.take([0, 2]).sum() + v.argmax())
    ) + v.astype(float)[0]


@at(V)
def counting(v):
    return v[np.nonzero(v > 0)].sum() + np.extract(v > 1, v**2).sum() + v[np.flatnonzero(v)].prod()


@at(M)
def along_an_axis(a):
    scaled = np.apply_along_axis(lambda r: r / r.sum(), 1, a)
    return np.apply_along_axis(lambda r: (r**2).sum(), 0, a).sum() + (scaled * a).sum()


@at(V)
def piecewise(v):
    three = np.piecewise(v, [v < 0, v >= 2], [lambda t: t**2, lambda t: t**3, 7.0])
    return three.sum() + np.piecewise(v, v > 0, [np.sin, np.cos]).sum() + np.select([v > 1, v > 0], [v**2, v], 0).sum()


@at(V)
def vectorized(v):
    return np.vectorize(lambda t, k: t * t if t > 0 else -k * t)(v, 2.0).sum() + _doubled(v).sum()


_doubled = np.vectorize(lambda t: 2 * np.sin(t))


@at(M)
def iterators(a):
    entries = sum(x * i for (i, _), x in np.ndenumerate(a)) + sum(x**2 for x in np.nditer(a))
    return entries + np.fromiter((x**2 for x in a.flat), float).sum() + sum(a[i] for i in np.ndindex(a.shape))


@at(0.7)
def ranges(x):
    return (np.linspace(0, x, 5) ** 2).sum() + np.interp(x, [0, 1, 2], [1, 3, 2.0]) + np.full(3, x).sum()


@at(M)
def linear_algebra(a):
    s = np.linalg.slogdet(a)
    w, u = np.linalg.eigh(a + a.T)
    return s.logabsdet + s.sign + w @ w + (u**2)[0] @ w + np.linalg.inv(a).sum() + np.linalg.solve(a, V).sum()


@pytest.mark.parametrize(("f", "point"), PROGRAMS)
def test_gradient_of(f, point):
    check_gradient(f, *point)


def test_functions_themselves_can_be_differentiated():
    for f, x in [(np.sum, V), (np.mean, M), (np.sin, 0.7), (np.linalg.det, M), (np.linalg.norm, V), (np.prod, V)]:
        check_gradient(f, x)


@pytest.mark.parametrize(
    ("f", "name"),
    [
        (lambda v: np.fft.fft(v), "np.fft.fft"),
        (lambda v: np.add.at(np.zeros(4), [0, 0, 1], v), "np.add.at"),
        (lambda v: np.nextafter(v, 1), "np.nextafter"),
        (lambda v: np.bincount(v), "np.bincount"),
        (lambda v: np.sin(v, where=[True, False, True]), "where="),
    ],
)
def test_what_has_no_row_is_named_with_the_line(f, name):
    with pytest.raises(NoRuleError, match=name) as caught:
        gx.grad(f)(V)
    assert caught.value.where.file == "test_numpy_protocol.py"


def test_functions_without_a_row_work_on_constants():
    assert gx.grad(lambda x: x * np.abs(np.fft.fft(np.ones(4))).sum())(1.0) == 4.0


def test_a_mask_is_a_branch_of_its_own():
    grad = gx.grad(lambda v: v[v > 0].sum() * v[0])
    np.testing.assert_array_equal(grad(np.array([1.0, 2.0, -1.0])), [4, 1, 0])
    np.testing.assert_array_equal(grad(np.array([1.0, -2.0, 3.0])), [5, 0, 1])
    with pytest.raises(NoRuleError, match="a traced condition can't be an index"):
        gx.explain(lambda v: v[v > 0].sum(), (3,))
