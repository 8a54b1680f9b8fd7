"""Reverse and forward mode on graphs: against each other, and the log of a sweep."""

import numpy as np
import pytest

from gradexplain.autodiff import Pullback, forward, inner, jvp, require_row, sweep, vjp
from gradexplain.errors import NoRuleError, ShapeError
from gradexplain.evaluate import evaluate
from gradexplain.graph import Primitive, constant, make, operators, variable
from gradexplain.ops.elementary import exp, sin
from gradexplain.ops.ordering import floor
from gradexplain.primitive import NUMPY


def number(node, values):
    return evaluate([node], dict(values))[0]


def test_a_sweep_logs_what_it_did():
    x, y = variable("x"), variable("y")
    a = x * y
    out = sin(a)
    done = sweep(out, [x, y])
    assert [(p.node, p.operand) for p in done.pullbacks] == [(out, 0), (a, 0), (a, 1)]
    assert all(isinstance(p, Pullback) and p.adjoint is done.adjoints[p.node] for p in done.pullbacks)
    assert done.gradients == (done.adjoints[x], done.adjoints[y])
    assert number(done.gradients[0], {x: 0.5, y: 2.0}) == pytest.approx(2 * np.cos(1.0))


def test_only_what_leads_to_the_variables_is_swept():
    x, y = variable("x"), variable("y")
    done = sweep(exp(y) * x, [x])
    assert {p.node.op.name for p in done.pullbacks} == {"mul"}
    assert y not in done.adjoints


def test_no_path_is_zero_and_says_so():
    x, y = variable("x", (2,)), variable("y")
    done = sweep(y * y, [x, y])
    assert not done.is_connected(x)
    assert done.is_connected(y)
    assert done.gradients[0].shape == (2,)
    assert number(done.gradients[0], {y: 1.0}).tolist() == [0, 0]
    assert not sweep(floor(y), [y]).is_connected(y)


def test_the_output_itself_and_a_seed():
    x = variable("x", (2,))
    assert number(vjp(x, [x])[0], {}).tolist() == [1, 1]
    g = variable("g", (2,))
    assert vjp(x, [x], g) == (g,)


def test_a_variable_used_twice_collects_both():
    x = variable("x")
    y = x * x * x
    assert number(vjp(y, [x])[0], {x: 2.0}) == 12.0


def test_intermediate_nodes_can_be_asked_for():
    x = variable("x")
    y = sin(x)
    assert number(vjp(y * y, [y])[0], {x: 1.0}) == pytest.approx(2 * np.sin(1.0))


def functions():
    x = variable("x", (2, 3))
    yield x, NUMPY[np.sum](x * sin(x), axis=0)
    yield x, NUMPY[np.prod](x, axis=1)
    yield x, NUMPY[np.linalg.norm](x)
    yield x, NUMPY[np.cumsum](exp(x), axis=1)
    yield x, x @ x.T
    yield x, operators["setitem"](x, (0, slice(None)), x[1])
    yield x, NUMPY[np.max](x, axis=1)


@pytest.mark.parametrize(("x", "y"), list(functions()))
def test_forward_mode_is_the_transpose_of_reverse_mode(x, y):
    rng = np.random.default_rng(1)
    t, g = variable("t", x.shape), variable("g", y.shape)
    values = {n: rng.normal(size=n.shape) for n in (x, t, g)}
    (tangent,) = jvp([y], {x: t})
    (cotangent,) = vjp(y, [x], g)
    assert number(inner(tangent, g), values) == pytest.approx(number(inner(cotangent, t), values), rel=1e-12)


@pytest.mark.parametrize(("x", "y"), list(functions()))
def test_forward_mode_is_the_difference_quotient(x, y):
    rng = np.random.default_rng(2)
    point, direction = rng.normal(size=x.shape), rng.normal(size=x.shape)
    t = variable("t", x.shape)
    (tangent,) = jvp([y], {x: t})
    h = 1e-6
    sides = [number(y, {x: point + s * h * direction}) for s in (1, -1)]
    found = number(tangent, {x: point, t: direction})
    np.testing.assert_allclose(found, (sides[0] - sides[1]) / (2 * h), rtol=1e-6, atol=1e-8)


def test_forward_mode_of_several_outputs_shares():
    x, t = variable("x"), variable("t")
    a = sin(x)
    table = forward([a * a, exp(a)], {x: t})
    assert a in table
    assert set(table) >= {x, a}
    assert jvp([constant(3)], {x: t})[0].data == 0


def test_second_derivatives():
    x = variable("x")
    (first,) = vjp(x * sin(x), [x])
    (second,) = vjp(first, [x])
    assert number(second, {x: 0.7}) == pytest.approx(2 * np.cos(0.7) - 0.7 * np.sin(0.7))


def test_a_row_with_a_wrong_shape_is_found():
    wrong = Primitive("wrong", "general", np.sum, lambda x: (), pullback=lambda i, g, y: g)
    x = variable("x", (3,))
    with pytest.raises(ShapeError, match="the pullback of wrong has shape"):
        vjp(make(wrong, (x,), {}), [x])


def test_what_has_no_rule():
    with pytest.raises(NoRuleError, match="floor has no derivative rule"):
        require_row(floor(variable("x")))


def test_depth_costs_no_recursion():
    x = variable("x")
    y = x
    for _ in range(5000):
        y = sin(y)
    assert number(vjp(y, [x])[0], {x: 0.0}) == 1.0
    assert number(jvp([y], {x: constant(1)})[0], {x: 0.0}) == 1.0
