"""Tests of the tracer. Programs are differentiated and compared with central differences of the plain function."""

import numpy as np

import gradexplain as gx

V = np.array([1.3, -0.4, 2.2])
M = np.array([[2.0, 0.3, 0.1], [0.2, 1.5, -0.3], [0.4, 0.2, 1.8]])
_STEP = 1e-6


def differences(f, x, *rest):
    """The gradient of the sum of f's entries by x, by central differences."""
    x = np.array(x, dtype=float)
    out = np.zeros(x.shape)
    for index in np.ndindex(x.shape):
        sides = []
        for step in (_STEP, -_STEP):
            moved = x.copy()
            moved[index] += step
            sides.append(float(np.sum(f(moved if x.shape else float(moved), *rest))))
        out[index] = (sides[0] - sides[1]) / (2 * _STEP)
    return out


def check_gradient(f, x, *rest):
    """Compares the gradient with central differences: at the first call, and at the second, which runs the program."""
    grad = gx.grad(f)
    wanted = differences(f, x, *rest)
    for _ in range(2):
        found = grad(np.copy(x) if isinstance(x, np.ndarray) else x, *rest)
        assert np.shape(found) == wanted.shape
        np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-6)


def collector():
    """A list of programs with their points, and a decorator that adds to it."""
    cases = []

    def at(*point):
        def add(f):
            cases.append((f, point))
            return f

        return add

    return cases, at


def name_of(case):
    return getattr(case, "__name__", None)
