"""Arrays that are put together and taken apart: a piece is the part that it was."""

import numpy as np
import pytest

import gradexplain as gx
from tests.simplify.comparing import numpy_value

RNG = np.random.default_rng(6)
ARRAYS = {
    "x": RNG.normal(size=3), "y": RNG.normal(size=3), "u": RNG.normal(size=4), "v": RNG.normal(size=7),
    "X": RNG.normal(size=(4, 3)), "w": RNG.normal(size=4),
}  # fmt: skip


def gram(x, y):
    Z = np.vstack([x, y])
    return np.sum((Z @ Z.T) ** 2)


def affine(X, w, u):
    return np.sum((np.column_stack([np.ones(4), X]) @ w - u) ** 2)


PROGRAMS = [
    (lambda u, x: np.sum(np.concatenate([u, x]) ** 2), {"u": "2*u", "x": "2*x"}),
    (lambda u, x, v: np.concatenate([u, x]) @ v, {"u": "v[:4]", "x": "v[4:7]", "v": "concatenate((u, x))"}),
    (lambda x, y: np.sum(np.stack([x, y]) ** 3), {"x": "3*x**2", "y": "3*y**2"}),
    (gram, {"x": "4*R @ R.T @ x", "y": "4*R @ R.T @ y"}),
    (affine, {"X": None, "w": None}),
    (lambda X, u, w: np.sum((np.hstack([X, u[:, None]]) @ w) ** 2), {"X": "outer(2*r, w[:3])", "u": None, "w": None}),
    (lambda u, x: np.concatenate([u, x])[2:6] @ np.concatenate([u, x])[:4], {"u": None, "x": None}),
    (lambda u, x: np.concatenate([u, x])[1] * np.concatenate([u, x])[5], {"u": None, "x": None}),
    (lambda x, y: np.concatenate([x[:1], np.exp(y), x[1:]]) @ np.arange(6.0), {"x": None, "y": None}),
    (lambda X, x: np.sum(np.vstack([X, x[None, :]])[2:] ** 2), {"X": None, "x": None}),
]


@pytest.mark.parametrize(("f", "expected"), PROGRAMS)
def test_pieces_are_the_parts(f, expected):
    names = f.__code__.co_varnames[: f.__code__.co_argcount]
    arguments = {n: ARRAYS[n] for n in names}
    e = gx.explain(f, **arguments, wrt=tuple(expected))
    for name, text in expected.items():
        assert text is None or e[name].text == text
        np.testing.assert_allclose(numpy_value(e[name], arguments), e.gradient_values[name], rtol=1e-9, atol=1e-12)
    assert e.check().ok
