"""Assertions, and operations without a derivative."""

from __future__ import annotations

import pytest

from gradexplain import tf


def test_assertions():
    tf.debugging.assert_equal([1.0, 2.0], [1.0, 2.0])
    tf.debugging.assert_positive(tf.constant(1.0))
    with pytest.raises(tf.errors.InvalidArgumentError, match="sizes: condition x == y"):
        tf.debugging.assert_equal(1, 2, message="sizes")
    with pytest.raises(tf.errors.InvalidArgumentError, match=">= 0"):
        tf.debugging.assert_non_negative([-1.0])
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.debugging.Assert(tf.constant(False), ["no"])


def test_unique():
    x = tf.Variable([3.0, 1.0, 3.0])
    with tf.GradientTape() as t:
        y, at = tf.unique(x)
    assert y.numpy().tolist() == [3.0, 1.0]
    assert at.numpy().tolist() == [0, 1, 0]
    with pytest.raises(LookupError, match="Unique"):
        t.gradient(y, x)


def test_counts():
    assert tf.histogram_fixed_width([0.0, 0.4, 0.6, 9.0], [0.0, 1.0], 2).numpy().tolist() == [2, 2]
    assert tf.math.in_top_k([0, 1], [[0.1, 0.9], [0.2, 0.8]], 1).numpy().tolist() == [False, True]
