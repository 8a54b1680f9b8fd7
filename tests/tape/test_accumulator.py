"""Forward mode, against reverse mode."""

from __future__ import annotations

import numpy as np
import pytest

from gradexplain import tf

FUNCTIONS = [
    lambda x: x**3 * tf.sin(x[0]),
    lambda x: tf.nn.softmax(x),
    lambda x: tf.reduce_max(x) * tf.nn.relu(x),
    lambda x: tf.sqrt(x) / (1.0 + x),
    lambda x: tf.gather(x, [1, 1, 0]),
    lambda x: tf.linalg.matvec(tf.stack([x, 2.0 * x, x * x]), x),
    lambda x: tf.cast(tf.cast(x, tf.float64) * 2.0, tf.float32),
    lambda x: tf.math.cumprod(x),
]


@pytest.mark.parametrize("f", FUNCTIONS)
def test_jvp_is_the_jacobian_times_the_tangent(f):
    x, v = tf.constant([0.5, 1.25, 0.75]), tf.constant([1.0, -0.5, 2.0])
    with tf.autodiff.ForwardAccumulator(x, v) as acc, tf.GradientTape() as t:
        t.watch(x)
        y = f(x)
    forward = acc.jvp(y).numpy()
    assert np.allclose(forward, np.asarray(t.jacobian(y, x)) @ v.numpy(), rtol=1e-4)


def test_hessian_times_vector():
    v = tf.Variable([1.0, 2.0])
    with tf.autodiff.ForwardAccumulator(v, tf.constant([1.0, -1.0])) as acc:
        with tf.GradientTape() as t:
            y = v[0] ** 2 * v[1] + v[1] ** 3
        g = t.gradient(y, v)
    assert acc.jvp(g).numpy().tolist() == [2.0, -10.0]


def test_second_derivatives_forward_over_forward():
    x = tf.constant(2.0)
    with tf.autodiff.ForwardAccumulator(x, tf.constant(1.0)) as outer:
        with tf.autodiff.ForwardAccumulator(x, tf.constant(1.0)) as inner:
            y = x**3
        first = inner.jvp(y)
    assert first.numpy() == 12.0
    assert outer.jvp(first).numpy() == 12.0


def test_nothing_moves():
    x = tf.constant(2.0)
    with tf.autodiff.ForwardAccumulator(x, tf.constant(1.0)) as acc:
        y = tf.constant(3.0) * 2.0
    assert acc.jvp(y) is None
    assert acc.jvp(y, unconnected_gradients="zero").numpy() == 0.0


def test_a_primal_twice():
    v = tf.Variable(2.0)
    with pytest.raises(ValueError, match="multiple"):
        tf.autodiff.ForwardAccumulator([v, v], [tf.constant(1.0), tf.constant(1.0)])


def test_custom_gradients_move_too():
    @tf.custom_gradient
    def f(x):
        return x * x, lambda dy: dy * 3.0 * x

    x = tf.constant(2.0)
    with tf.autodiff.ForwardAccumulator(x, tf.constant(5.0)) as acc:
        y = f(x)
    assert acc.jvp(y).numpy() == 30.0
