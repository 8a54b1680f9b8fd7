"""Kinks, ties and singular points: TensorFlow's values (2.21)."""

from __future__ import annotations

import math

import numpy as np
import pytest

from gradexplain import tf

NAN, INF = math.nan, math.inf
POINTS = [
    (lambda x: tf.nn.relu(x), 0.0, 0.0),
    (lambda x: tf.nn.relu6(x), 6.0, 0.0),
    (lambda x: tf.nn.leaky_relu(x), 0.0, 0.2),
    (lambda x: tf.abs(x), 0.0, 0.0),
    (lambda x: tf.nn.selu(x), 0.0, 1.0507010),
    (lambda x: tf.nn.elu(x), 0.0, 1.0),
    (lambda x: tf.maximum(x, 0.0), 0.0, 1.0),
    (lambda x: tf.maximum(0.0, x), 0.0, 0.0),
    (lambda x: tf.minimum(x, 0.0), 0.0, 1.0),
    (lambda x: tf.clip_by_value(x, 0.0, 1.0), 1.0, 1.0),
    (lambda x: tf.clip_by_value(x, 0.0, 1.0), 1.5, 0.0),
    (lambda x: tf.floor(x), 1.5, None),
    (lambda x: tf.round(x), 1.5, None),
    (lambda x: tf.sign(x), 0.0, 0.0),
    (lambda x: x // 2.0, 3.0, None),
    (lambda x: x % 2.0, 3.0, 1.0),
    (lambda x: tf.sqrt(x), 0.0, INF),
    (lambda x: tf.square(tf.sqrt(x)), 0.0, 0.0),
    (lambda x: tf.where(x > 0, tf.sqrt(x), 0.0), -1.0, 0.0),
    (lambda x: tf.where(tf.equal(x, 0.0), 0.0, 1.0 / x), 0.0, NAN),
    (lambda x: tf.where(x > 0, tf.math.log(x), 0.0), 0.0, NAN),
    (lambda x: tf.pow(x, 0.0), 0.0, NAN),
    (lambda x: tf.pow(x, 0.5), 0.0, INF),
    (lambda x: tf.pow(-2.0, x), 3.0, 0.0),
    (lambda x: x * tf.math.log(x), 0.0, NAN),
    (lambda x: tf.math.xlogy(x, 2.0), 0.0, 0.0),
    (lambda x: tf.math.xlog1py(x, 1.0), 0.0, 0.0),
    (lambda x: tf.atan2(x, x * 0.0), 0.0, NAN),
    (lambda x: tf.acos(x), 1.0, -INF),
    (lambda x: tf.math.log(1.0 + tf.exp(x)), 100.0, NAN),
    (lambda x: tf.math.softplus(x), 1000.0, 1.0),
    (lambda x: tf.norm(tf.stack([x, x])), 0.0, NAN),
    (lambda x: tf.norm(tf.stack([x, x])) ** 2, 0.0, 0.0),
    (lambda x: tf.clip_by_norm(x, 1.0), 0.0, 1.0),
    (lambda x: tf.math.divide_no_nan(1.0, x), 0.0, 0.0),
]


@pytest.mark.parametrize(("f", "at", "slope"), POINTS, ids=range(len(POINTS)))
def test_slope(f, at, slope):
    x = tf.Variable(at)
    with tf.GradientTape() as t:
        y = f(x)
    g = t.gradient(y, x)
    if slope is None:
        assert g is None
    else:
        assert np.allclose(g, slope, equal_nan=True, rtol=1e-5)


@pytest.mark.parametrize(
    ("f", "at", "slopes"),
    [
        (tf.reduce_max, [3.0, 3.0, 1.0], [0.5, 0.5, 0.0]),
        (tf.reduce_prod, [2.0, 0.0, 3.0], [0.0, 6.0, 0.0]),
        (lambda x: tf.reduce_sum(tf.math.cumprod(x)), [2.0, 0.0, 3.0], [1.0, 0.0, 0.0]),
        (tf.math.reduce_std, [2.0, 2.0], [NAN, NAN]),
        (tf.nn.l2_normalize, [0.0, 0.0], [1e6, 1e6]),
        (lambda x: tf.nn.max_pool1d(x[None, :, None], 3, 1, "VALID"), [5.0, 2.0, 5.0], [1.0, 0.0, 0.0]),
    ],
)
def test_slopes_of_arrays(f, at, slopes):
    x = tf.Variable(at)
    with tf.GradientTape() as t:
        y = f(x)
    assert np.allclose(t.gradient(y, x), slopes, equal_nan=True)


def test_only_the_lower_triangle_of_a_symmetric_matrix_is_read():
    a = tf.Variable([[2.0, 1.0], [1.0, 3.0]])
    with tf.GradientTape() as t:
        y = tf.linalg.eigvalsh(a)[1]
    assert np.allclose(t.gradient(y, a), [[0.276393, 0.0], [0.894427, 0.723607]], atol=1e-5)


@pytest.mark.parametrize("name", ["truncatemod", "image.adjust_contrast"])
def test_operations_without_a_derivative_say_so(name):
    x = tf.Variable([[[5.5, 1.0, 2.0]]])
    f = tf.names.table.look_up(name)
    with tf.GradientTape() as t:
        y = f(x, 2.0)
    with pytest.raises(LookupError, match="gradient registry has no entry for"):
        t.gradient(y, x)


SECOND = [
    (tf.nn.relu, 0.7, 0.0),
    (tf.nn.leaky_relu, -0.7, 0.0),
    (lambda x: tf.maximum(x, 0.1), 0.7, None),
    (lambda x: tf.clip_by_value(x, 0.0, 1.0), 0.7, None),
    (lambda x: tf.where(x > 0, x, -x), 0.7, None),
    (tf.abs, 0.7, 0.0),
    (lambda x: 2.0 * x, 0.7, None),
    (lambda x: x**1, 0.7, 0.0),
    (tf.nn.elu, 0.7, 0.0),
    (lambda x: tf.pow(x, 0.0), 0.0, NAN),
]


@pytest.mark.parametrize(("f", "at", "second"), SECOND, ids=range(len(SECOND)))
def test_where_second_derivatives_are_none(f, at, second):
    x = tf.Variable(at)
    with tf.GradientTape() as t2:
        with tf.GradientTape() as t1:
            y = f(x)
        g = t1.gradient(y, x)
    h = t2.gradient(g, x)
    assert (h is None) if second is None else np.allclose(h, second, equal_nan=True)


def test_powers_of_complex_numbers():
    z = tf.Variable(1.0 + 2.0j)
    with tf.GradientTape() as t:
        y = z**2
    assert np.allclose(y.numpy(), -3 + 4j)
    assert np.allclose(t.gradient(y, z).numpy(), 2 - 4j)
