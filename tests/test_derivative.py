"""Derivatives as callables: signatures, types, branches, higher orders, nesting, and what calls share."""

import copy
import math
import pickle
import threading
import warnings

import numpy as np
import pytest

import gradexplain as gx
from gradexplain.errors import ArgumentError, NotTraceableError, ReturnError

V = np.array([1.0, 2.0, 3.0])


def square(x):
    return x**2


def piece(x):
    return x**3 if x > 0 else -x


# Types and shapes.


def test_numbers_of_all_types_give_floats():
    grad = gx.grad(square)
    for x in (3, 3.0, np.float64(3), np.float32(3), np.int16(3), np.array(3.0), np.array(3)):
        for _ in range(2):
            assert grad(x) == 6.0
            assert type(grad(x)) is float
    assert grad(True) == 2.0


def test_arrays_of_all_types_give_arrays_of_floats():
    grad = gx.grad(lambda v: (v**2).sum())
    for v in ([1.0, 2.0], (1, 2), np.array([1, 2]), np.array([1, 2], dtype="f4"), np.array([2.0, 1.0])[::-1]):
        for _ in range(2):
            np.testing.assert_array_equal(grad(v), [2.0, 4.0])
            assert grad(v).dtype == float
    assert grad(np.asfortranarray(np.ones((2, 3)))).shape == (2, 3)
    assert grad(np.ones((0, 2))).shape == (0, 2)


@pytest.mark.parametrize(
    "f",
    [
        lambda x: 2 * x,
        lambda x: 3,
        lambda x: np.where(x > 0, 1, 2) * x,
        lambda x: max(x, 2),
        lambda x: np.clip(x, 0, 2),
        lambda x: abs(x) if x > 0 else 3 * x,
        lambda x: (x > 0) * x,
        lambda x: np.array([x, 2 * x])[1],
    ],
)
def test_scalars_are_floats_whatever_is_in_the_program(f):
    for x in (1.0, 1, 5.0):
        value, slope = gx.value_and_grad(f)(x)
        assert type(value) is float
        assert type(slope) is float


def test_results_are_the_callers_own():
    x = np.ones(3)
    for f in (lambda a, b: (a * b).sum(), lambda a, b: (a + b).sum(), lambda a, b: a[::-1] @ b.reshape(3)):
        grad = gx.grad(f, argnums=(0, 1))
        for _ in range(2):
            left, right = grad(x, x)
            left[0] = 99.0
            np.testing.assert_array_equal(x, np.ones(3))
            np.testing.assert_array_equal(right, np.ones(3))


def test_results_of_constants_are_the_callers_own():
    outside = np.array([1.0, 2.0, 3.0])
    grad = gx.grad(lambda v: outside @ v)
    grad(V)[0] = 99.0
    grad(V)[0] = 99.0
    np.testing.assert_array_equal(outside, [1, 2, 3])
    np.testing.assert_array_equal(grad(V), [1, 2, 3])


def test_argnums():
    def f(a, b):
        return a**2 * b

    assert gx.grad(f)(2.0, 3.0) == 12.0
    assert gx.grad(f, "b")(2.0, 3.0) == gx.grad(f, -1)(2.0, 3.0) == 4.0
    assert gx.grad(f, (1, 0))(2.0, 3.0) == (4.0, 12.0)
    assert gx.grad(f, [0])(2.0, 3.0) == (12.0,)
    assert gx.value_and_grad(f, (0, 1))(2.0, 3.0) == (12.0, (12.0, 4.0))
    assert gx.hessian(f, (0, 1))(2.0, 3.0) == ((6.0, 4.0), (4.0, 0.0))


def test_arguments_that_are_not_differentiated_keep_their_type():
    def f(x, n, flag, mode="a", rule=None):
        assert isinstance(n, int)
        return (x**n if flag else x) * (2 if mode == "b" else 1) * (3 if rule else 1)

    grad = gx.grad(f)
    for _ in range(2):
        assert grad(2.0, 3, True) == 12.0
        assert grad(2.0, 2, True) == 4.0
        assert grad(2.0, 3, False) == 1.0
        assert grad(2.0, 3, True, "b") == 24.0
        assert grad(2.0, 3, True, mode="b", rule=len) == 72.0


# Programs that are kept.


def test_programs_are_kept_for_each_signature_and_path():
    traced = []

    def f(x, k=1.0):
        traced.append(1)
        return piece(x) * k

    grad = gx.grad(f)
    for _ in range(3):
        assert [grad(2.0), grad(-2.0), grad(2.0, 5.0), grad(2.0, k=5.0)] == [12.0, -1.0, 60.0, 60.0]
    quiet = gx.grad(lambda x, k=1.0: piece(x) * k)
    [quiet(2.0), quiet(-2.0), quiet(2.0, 5.0)]
    known = quiet._last
    [quiet(3.0), quiet(-3.0), quiet(3.0, k=5.0), quiet(np.float64(3.0)), quiet(x=3.0)]
    assert quiet._last is known


def test_a_branch_of_arrays():
    grad = gx.grad(lambda v: (v**2).sum() if v[0] > 0 else v.sum())
    for _ in range(2):
        np.testing.assert_array_equal(grad(V), 2 * V)
        np.testing.assert_array_equal(grad(-V), np.ones(3))


def test_a_branch_that_rounding_turns_round_still_has_a_value():
    def f(x):
        y = np.sin(x) * np.sin(x) + np.cos(x) * np.cos(x)
        return 2 * x if y == 1.0 else 3 * x

    grad = gx.grad(f)
    for x in np.linspace(0, 3, 200):
        assert grad(float(x)) in (2.0, 3.0)


def test_one_callable_in_many_threads():
    grad, failures = gx.grad(lambda x: math.sin(x) * x if x > 0 else x), []

    def work(k):
        for i in range(500):
            x = (-1) ** i * (k + 1.0)
            wanted = math.cos(x) * x + math.sin(x) if x > 0 else 1.0
            if abs(grad(x) - wanted) > 1e-12:
                failures.append(x)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert failures == []


def test_pickles_and_copies():
    assert pickle.loads(pickle.dumps(gx.grad(square)))(3.0) == 6.0
    assert copy.deepcopy(gx.hessian(square))(3.0) == 2.0


def test_source_and_counts():
    grad = gx.grad(lambda w, x: np.sum(w * x**2), argnums=1)
    assert grad(V, V).tolist() == [2.0, 8.0, 18.0]
    assert grad.source == "def grad_of_f(w, x):\n    return w*2*x\n" or "2*" in grad.source
    assert grad.op_count <= 3
    assert grad.f_op_count == 3
    assert gx.grad(square).source == "def grad_of_square(x):\n    return 2*x\n"
    assert gx.grad(square).__name__ == "grad_of_square"


def test_no_warning_leaks_and_none_is_swallowed():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for f, x in [
            (lambda v: np.exp(v).sum(), np.array([1000.0, 1.0])),
            (lambda v: np.log(v).sum(), np.array([0.0, -1.0])),
            (lambda x: np.sinc(x) / x, 0.0),
            (lambda x: x**-0.5, 0.0),
            (lambda x: np.exp(x) * math.inf, 1000.0),
        ]:
            grad = gx.value_and_grad(f)
            for _ in range(2):
                grad(x)
    assert np.geterr()["over"] == "warn"
    with pytest.warns(RuntimeWarning, match="overflow"):
        np.exp(np.array([1000.0]))


# Jacobians and Hessians.


def test_jacobians():
    np.testing.assert_array_equal(gx.jacobian(lambda v: v**2)(V), np.diag(2 * V))
    np.testing.assert_array_equal(gx.jacobian(lambda v: [v[0], v[1] * v[0]])(V), [[1, 0, 0], [2, 1, 0]])
    np.testing.assert_array_equal(gx.jacobian(lambda x: (x, x**2))(2.0), [1.0, 4.0])
    assert gx.jacobian(square)(2.0) == 4.0
    wide = gx.jacobian(lambda v: np.outer(v, v))(V)
    assert wide.shape == (3, 3, 3)
    np.testing.assert_allclose(wide[0, 1], [2.0, 1.0, 0.0])
    a, b = gx.jacobian(lambda a, b: a[:2] * b, argnums=(0, 1))(V, 2.0)
    np.testing.assert_array_equal(a, [[2, 0, 0], [0, 2, 0]])
    np.testing.assert_array_equal(b, [1, 2])


def test_hessians():
    np.testing.assert_allclose(gx.hessian(lambda v: (v**3).sum() * v[0])(V)[0], [12 + 0 + 0, 12.0, 27.0])
    np.testing.assert_array_equal(gx.hessian(lambda v: v.sum())(V), np.zeros((3, 3)))
    (aa, ab), (ba, bb) = gx.hessian(lambda a, b: (a @ a) * b**2, argnums=(0, 1))(V, 2.0)
    np.testing.assert_allclose(aa, 8 * np.eye(3))
    np.testing.assert_allclose(ab, 8 * V)
    np.testing.assert_allclose(ba, 8 * V)
    assert bb == 28.0


def test_jvp_and_vjp():
    assert gx.jvp(lambda x, y: x * y, (3.0, 4.0), (1, 0.5)) == (12.0, 5.5)
    assert gx.jvp(square, (3,), (1,)) == (9.0, 6.0)
    value, tangent = gx.jvp(np.sin, (V,), (np.ones(3),))
    np.testing.assert_allclose(tangent, np.cos(V))
    value, pullback = gx.vjp(lambda v, k: v * k, V, 2.0)
    np.testing.assert_array_equal(value, 2 * V)
    np.testing.assert_array_equal(pullback(np.ones(3))[0], np.full(3, 2.0))
    assert pullback(V)[1] == 14.0
    assert gx.vjp(lambda x, k=2.0: x * k, 3.0)[1](1.0) == (2.0,)
    for wrong in (
        lambda: gx.jvp(square, (1.0,), ()),
        lambda: gx.jvp(square, (1.0,), (V,)),
        lambda: pullback(1.0),
        lambda: gx.vjp(square, "text"),
    ):
        with pytest.raises(ArgumentError):
            wrong()


# Within each other.


@pytest.mark.parametrize(
    ("f", "wanted"),
    [
        (lambda x: x * gx.grad(lambda y: x + y)(1.0), 1.0),
        (lambda x: gx.grad(lambda y: x * y * y)(x), 4 * 2.0),
        (lambda x: x * gx.grad(lambda y: y * gx.grad(lambda z: y + z)(1.0))(x), 1.0),
        (lambda x: gx.grad(lambda y: y**2 * x if y > 0 else y)(x), 8.0),
        (lambda x: gx.grad(lambda y, k: y**2 * k)(x, k=x), 8.0),
        (lambda x: gx.grad(lambda y: y**2 * x)(3), 6.0),
        (lambda x: gx.value_and_grad(lambda y: y**2 * x)(x)[1], 8.0),
        (lambda x: math.prod(gx.value_and_grad(lambda y: y**2)(x)), 24.0),
        (lambda x: gx.jvp(lambda y: y**2 * x, (x,), (x,))[1], 24.0),
        (lambda x: gx.jvp(lambda y: y**2 * x, (x,), (1.0,))[0], 12.0),
        (lambda x: gx.vjp(lambda y: y**2 * x, x)[1](x)[0], 24.0),
        (lambda x: gx.hessian(lambda y: y**3 * x)(x), 24.0),
        (lambda x: gx.jacobian(lambda y: [y**2, y * x])(x).sum(), 3.0),
        (lambda x: kept(x) * kept(2.0), 12.0 * 12.0),
    ],
)
def test_derivatives_within_functions(f, wanted):
    grad = gx.grad(f)
    for _ in range(2):
        assert grad(2.0) == pytest.approx(wanted)


kept = gx.grad(lambda y: y**3)


def test_higher_orders():
    assert gx.grad(gx.grad(gx.grad(lambda x: x**4)))(1.0) == 24.0
    np.testing.assert_allclose(gx.jacobian(gx.grad(lambda v: (v**3).sum()))(V), np.diag(6 * V))
    np.testing.assert_allclose(gx.grad(lambda v: gx.jacobian(lambda t: t**2)(v).sum())(V), 2 * np.ones(3))


def test_errors_within_functions():
    with pytest.raises(NotTraceableError, match=r"float\(\)"):
        gx.grad(lambda x: gx.grad(lambda y: float(y))(x))(2.0)
    with pytest.raises(ReturnError, match="a tuple"):
        gx.grad(lambda x: gx.grad(lambda y: (y, y))(x))(2.0)
    with pytest.raises(ArgumentError, match="shape"):
        gx.grad(lambda x: gx.jvp(lambda y: y, (x,), (V,))[0])(2.0)


# Large programs.


def test_large_programs_are_interpreted_first_and_compiled_then():
    def f(x):
        y = x
        for _ in range(2000):
            y = math.sin(y) * x
        return y if y > -5 else 2 * y

    grad = gx.grad(f)
    found = [grad(0.9), grad(0.9), grad(0.9)]
    assert found[0] == pytest.approx(found[1], rel=1e-12)
    assert found[1] == found[2]
    h = 1e-6
    assert found[0] == pytest.approx((f(0.9 + h) - f(0.9 - h)) / (2 * h), rel=1e-6)


def test_products_of_many_factors():
    def f(v):
        p = 1.0
        for i in range(len(v)):
            p = p * v[i]
        return p

    v = 1 + np.sin(np.arange(300)) / 10
    np.testing.assert_allclose(gx.grad(f)(v), np.prod(v) / v)
