"""In-place changes of arrays: writes into parts, views, swaps, masks."""

import numpy as np
import pytest

import gradexplain as gx

from . import M, V, check_gradient, collector

PROGRAMS, at = collector()


@at(V)
def writes_into_its_argument(v):
    v[0] = 5 * v[1]
    v += 1
    v *= v
    return v.sum()


@at(V)
def alias(v):
    y = v
    y += 1
    return (v * y).sum()


@at(V)
def swap(v):
    v = v.copy()
    v[0], v[1] = v[1], v[0]
    return v @ np.array([1.0, 2.0, 3.0])


@at(V)
def swap_rows(v):
    a = np.outer(v, v + 1)
    a[[0, 1]] = a[[1, 0]]
    return (a * np.arange(9).reshape(3, 3)).sum()


@at(V)
def sort_in_place(v):
    w = v.copy()
    w.sort()
    w.fill(w[0])
    return w @ np.array([1, 2, 3])


@at(V)
def view_of_a_part(v):
    a = v.copy()
    b = a[1:]
    b += 1
    b[0] = v[0]
    a[::-1][:2] *= 3
    a[2] = 5 * v[0]
    return (a**2).sum() + b[1] * b[0]


@at(V)
def views_of_the_whole(v):
    a = np.zeros((3, 2))
    a.reshape(-1)[0] = v[0]
    a.ravel()[1] = v[0]
    a.flat[2] = v[2]
    a.T[1] += v
    np.swapaxes(a, 0, 1)[0] *= 2
    np.reshape(a, (2, 3))[0] += v
    c = np.zeros((2, 3, 4))
    np.moveaxis(c, 0, 2)[1, 2, :] = v[:2]
    c.transpose(2, 0, 1)[0, 1] += v
    return (a**2).sum() + (c * np.arange(24).reshape(2, 3, 4)).sum()


@at(V)
def copies_of_the_whole(v):
    a = np.outer(v, v)
    b = a.flatten()
    b[:] = 0
    c = a.T.reshape(-1)  # not contiguous: NumPy copies
    c[:] = 0
    d = a.copy()
    d[:] = 0
    return (a**2).sum()


@at(V)
def masks(v):
    w = v.copy()
    w[w < 0] = 0
    w[v > 1] *= 2
    return (w**3).sum() + (v * (v > 0)).sum() + v[v > 0].sum() * v[0] + np.where(v > 0)[0].sum() * v[1]


@at(M)
def masks_of_rows(a):
    b = a.copy()
    b[b[:, 0] > 1] = 0.5
    b[b > 1.6] = b[0, 1]
    return (b**2).sum()


@at(V)
def constant_mask(v):
    m = np.array([True, False, True])
    w = v.copy()
    w[m] = v[m] ** 2
    return w.sum()


@at(M)
def indices(a):
    return (
        a[0] @ a[:, 1] + a[np.ix_([0, 1], [0, 2])].sum() + a[np.arange(3), [0, 1, 2]].sum() + a[..., 0][None].sum()
    ) * a[-1, -1]


@at(M)
def rows(a):
    return sum(r @ r for r in a) + sum(x**2 for x in a.flat) + sum(map(sum, a.tolist())) + a[0].item(1)


@pytest.mark.parametrize(("f", "point"), PROGRAMS)
def test_gradient_of(f, point):
    check_gradient(f, *point)


def test_the_argument_of_the_caller_stays_as_it_is():
    v = V.copy()
    gx.grad(writes_into_its_argument)(v)
    np.testing.assert_array_equal(v, V)
