"""Arrays of one entry and of none, and conditions that say where a form has a value."""

import numpy as np
import pytest

import gradexplain as gx
from tests.simplify.comparing import numpy_value

CONDITIONS = [
    (lambda x: np.std(x), "(x - mean(x))/(n*std(x))", ("std(x) != 0",)),
    (lambda x: np.var(x, ddof=1), "2*(x - mean(x))/(n - 1)", ("n != 1",)),
    (lambda x: np.std(x, ddof=1), "r/(sqrt(n - 1)*norm(r))", ("norm(r) != 0", "n != 1")),
    (lambda x: np.linalg.norm(x), "x/norm(x)", ("norm(x) != 0",)),
    (lambda x: np.sqrt(np.mean(x**2)), "x/(n*sqrt(x @ x/n))", ("norm(x) != 0",)),
    (lambda x: np.sqrt(1 + x @ x), "x/sqrt(1 + x @ x)", ()),
]


@pytest.mark.parametrize(("f", "text", "conditions"), CONDITIONS)
def test_what_must_not_vanish_is_said(f, text, conditions):
    form = gx.explain(f, x="n")["x"]
    assert (form.text, form.conditions) == (text, conditions)


FEW = [
    (lambda x: np.std(x), [2.0], "zeros(1)"),
    (lambda x: np.mean(x), [2.0], "ones(1)"),
    (lambda x: np.max(x), [2.0], "ones(1)"),
    (lambda x: np.prod(x) ** 2, [2.0], None),
    (lambda x: np.linalg.norm(x - 1), [2.0], None),
    (lambda x: np.var(x, ddof=1), [2.0], "full((1,), nan)"),
    (lambda x: np.sum(((x - np.mean(x)) / np.std(x)) ** 3), [2.0], "full((1,), nan)"),
    (lambda x: np.mean(x), [], "zeros((0,))"),
    (lambda x: np.std(x), [], "zeros((0,))"),
    (lambda x: np.linalg.norm(x), [], "x/norm(x)"),
]


@pytest.mark.filterwarnings("ignore:Mean of empty slice", "ignore:Degrees of freedom", "ignore:invalid value")
@pytest.mark.parametrize(("f", "x", "text"), FEW)
def test_one_entry_and_none(f, x, text):
    x = np.array(x)
    e = gx.explain(f, x)
    assert text is None or e["x"].text == text
    found = np.asarray(numpy_value(e["x"], {"x": x}))
    assert found.shape == x.shape
    np.testing.assert_allclose(found, e.gradient_values["x"])
