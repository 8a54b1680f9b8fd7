"""Deep programs of arrays: a formula in names, or the program itself; never a wait that grows with every layer."""

import numpy as np
import pytest

import gradexplain as gx
from gradexplain.simplify.tensor import notation as n
from tests.simplify.comparing import numpy_value

RNG = np.random.default_rng(4)
POINT = {"X": RNG.normal(size=(6, 3)), "W": RNG.normal(size=(3, 3)) / 3}


def residual(layers):
    def f(X, W):
        h = X
        for _ in range(layers):
            h = h + np.tanh(h @ W)
        return np.sum(h**2)

    return f


@pytest.mark.parametrize(("layers", "level"), [(8, "matrix notation"), (60, "program")])
def test_residual_layers(layers, level):
    e = gx.explain(residual(layers), **POINT)
    assert e["W"].level == level
    np.testing.assert_allclose(numpy_value(e["W"], POINT), e.gradient_values["W"], rtol=1e-9)


def test_what_is_written_twice_is_one_object():
    a, b = (n.product([n.name("x", 1), n.power(n.name("y", 1), n.Fraction(2))]) for _ in range(2))
    assert a is b


def test_the_work_grows_with_the_distinct_parts():
    form = n.name("x", 1)
    for _ in range(60):  # written out, it has 2**60 parts
        form = n.total([form, n.call("sin", [form], 1)], 1)
    assert len(list(n.subforms(form))) == 121
    assert n.occurrences([form])[n.name("x", 1)] == 2**60
    assert n.replaced(form, {n.name("x", 1): n.name("z", 1)}).ndim == 1
    assert n.with_signs_inside(form) is form


def test_what_is_known_of_a_matrix_makes_no_other_expression_but_is_kept():
    plain, symmetric = n.name("S", 2), n.replace(n.name("S", 2), symmetric=True)
    assert plain == symmetric
    assert n.matmul([symmetric, n.name("x", 1)]) == n.matmul([plain, n.name("x", 1)])
    assert n.transposed(symmetric) is symmetric
    assert n.transposed(plain) is not plain
