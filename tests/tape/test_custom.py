"""Derivatives that the user states."""

from __future__ import annotations

import numpy as np
import pytest

from gradexplain import tf


def test_stop_gradient():
    x = tf.Variable(2.0)
    with tf.GradientTape(persistent=True) as t:
        y = tf.stop_gradient(x * x) * x
        straight_through = x + tf.stop_gradient(tf.round(x) - x)
        z = tf.stop_gradient(x)
    assert t.gradient(y, x).numpy() == 4.0
    assert t.gradient(straight_through, x).numpy() == 1.0
    assert t.gradient(z, x) is None


def test_a_custom_gradient_takes_the_place_of_what_is_inside():
    @tf.custom_gradient
    def f(x, z):
        return x * z, lambda dy: (7.0 * dy, None)

    x, z = tf.Variable(2.0), tf.Variable(3.0)
    with tf.GradientTape() as t:
        y = f(x, z)
    g = t.gradient(y, [x, z])
    assert y.numpy() == 6.0
    assert g[0].numpy() == 7.0
    assert g[1] is None


def test_several_results():
    @tf.custom_gradient
    def f(x):
        return (2.0 * x, 3.0 * x), lambda da, db: da + 100.0 * db

    x = tf.Variable(2.0)
    with tf.GradientTape() as t:
        a, b = f(x)
        y = a + 2.0 * b
    assert t.gradient(y, x).numpy() == 201.0


def test_the_derivative_of_grad_is_the_second_derivative():
    @tf.custom_gradient
    def f(x):
        return x * x, lambda dy: dy * 3.0 * x

    x = tf.Variable(2.0)
    with tf.GradientTape() as t2:
        with tf.GradientTape() as t1:
            y = f(x)
        g = t1.gradient(y, x)
    assert g.numpy() == 6.0
    assert t2.gradient(g, x).numpy() == 3.0


def test_variables_inside():
    w = tf.Variable(3.0)

    @tf.custom_gradient
    def f(x):
        return x * w, lambda dy, variables=None: (10.0 * dy, [20.0 * dy for _ in variables])

    @tf.custom_gradient
    def without(x):
        return x * w, lambda dy: dy

    x = tf.Variable(2.0)
    with tf.GradientTape() as t:
        y = f(x)
    assert [g.numpy() for g in t.gradient(y, [x, w])] == [10.0, 20.0]
    with pytest.raises(TypeError, match="variables"):
        without(x)


def test_one_gradient_for_each_argument():
    @tf.custom_gradient
    def f(x, z):
        return x * z, lambda dy: dy

    x = tf.Variable(2.0)
    with tf.GradientTape() as t:
        y = f(x, x)
    with pytest.raises(ValueError, match="2 gradients"):
        t.gradient(y, x)


def test_foreign_functions():
    x, z = tf.Variable(3.0), tf.Variable(1.0)
    with tf.GradientTape(persistent=True) as t:
        a = tf.py_function(lambda v: v**3, [x], tf.float32)
        b = tf.numpy_function(lambda v: np.sin(v), [x], tf.float32)
        c = tf.grad_pass_through(z.assign)(x**2)
    assert t.gradient(a, x).numpy() == 27.0
    assert t.gradient(b, x) is None
    assert t.gradient(c, x).numpy() == 6.0
    assert z.numpy() == 9.0
