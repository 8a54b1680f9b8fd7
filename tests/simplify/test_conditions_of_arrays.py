"""Conditions that are moved, indexed or reduced before a branch asks for them."""

import numpy as np
import pytest

import gradexplain as gx
from tests.simplify.comparing import numpy_value

A, X = np.array([1.0, -2.0]), np.array([[1.0, -2.0], [3.0, -4.0]])
PROGRAMS = {
    "of a number": lambda a: np.where(a @ a > 0, a @ a, np.sum(a)),
    "reversed": lambda a: np.sum(np.where((a > 0)[::-1], a, 2 * a)),
    "one entry": lambda a: np.sum(np.where((a > 0)[0], a**2, 0)),
    "of any": lambda a: np.where(np.any(a > 0), a @ a, np.sum(a)),
    "of all": lambda a: np.where(np.all(a > 0) | (a[0] > 3), a @ a, np.sum(a)),
    "in an if": lambda a: a @ a if np.any(a > 0) else np.sum(a),
    "transposed": lambda X: np.sum(np.where((X > 0).T, X**2, 2 * X)),
    "as a number": lambda X: np.sum(X**2 * (X > 0).T),
    "with one more axis": lambda X: np.sum(np.where((X[0] > 0)[:, None], X**2, 2 * X)),
    "of another shape": lambda X: np.sum(np.where((X > 0).reshape(4), X.reshape(4) ** 2, 0)),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_branch_takes_a_condition_that_was_moved(name):
    f = PROGRAMS[name]
    key = f.__code__.co_varnames[0]
    point = {"a": A, "X": X}[key]
    e = gx.explain(f, **{key: point})
    assert e.check().ok
    assert np.allclose(numpy_value(e[key], {key: point}), e.gradient_values[key])
    assert e[key].expr.free_symbols  # a formula, with a condition that SymPy takes for one
    assert e.derivation(style="reverse").to_text()
    assert e.to_latex().count("{") == e.to_latex().count("}")
