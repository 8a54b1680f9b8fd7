"""Tensors and variables: types, shapes, printing, what NumPy and Python may do with them."""

from __future__ import annotations

import operator
import pickle

import numpy as np
import pytest

from gradexplain import tf


@pytest.mark.parametrize(
    ("tensor", "shown"),
    [
        (tf.constant(6.0), "<tf.Tensor: shape=(), dtype=float32, numpy=6.0>"),
        (tf.constant([1.0, 2.0]), "<tf.Tensor: shape=(2,), dtype=float32, numpy=array([1., 2.], dtype=float32)>"),
        (
            tf.constant([[1, 2]]),
            "<tf.Tensor: shape=(1, 2), dtype=int32, numpy=\narray([[1, 2]], dtype=int32)>",
        ),
        (tf.constant(True), "<tf.Tensor: shape=(), dtype=bool, numpy=True>"),
        (tf.Variable(3.0), "<tf.Variable 'Variable:0' shape=() dtype=float32, numpy=3.0>"),
        (tf.Variable(1, name="n"), "<tf.Variable 'n:0' shape=() dtype=int32, numpy=1>"),
    ],
)
def test_tensors_print_as_those_of_tensorflow(tensor, shown):
    assert repr(tensor) == shown


def test_str():
    assert str(tf.constant(6.0)) == "tf.Tensor(6.0, shape=(), dtype=float32)"
    assert str(tf.constant([0.1, 2.0])) == "tf.Tensor([0.1 2. ], shape=(2,), dtype=float32)"
    assert f"{tf.constant(1.23456):.2f}" == "1.23"


@pytest.mark.parametrize(
    ("value", "dtype"),
    [
        (1.5, "float32"),
        (2, "int32"),
        (True, "bool"),
        (1 + 2j, "complex128"),
        (np.float64(1.5), "float64"),
        ([1.0, 2], "float32"),
        (np.ones(2), "float64"),
        (np.ones(2, "f4"), "float32"),
        ([np.float64(1.0)], "float64"),
        (2**40, "int64"),
        ("a", "string"),
    ],
)
def test_types_of_constants(value, dtype):
    assert tf.constant(value).dtype.name == dtype


def test_numbers_take_the_type_of_the_tensor():
    x = tf.Variable([1.0, 2.0])
    for y in (
        x * 2,
        2 * x,
        x * 2.5,
        x * np.ones(2),
        np.ones(2) * x,
        operator.add(x, [1.0, 2.0]),
        np.float64(2.0) * x,
        x**2,
    ):
        assert y.dtype == tf.float32
        assert isinstance(y, tf.Tensor)


def test_types_do_not_mix():
    a = tf.Variable(2.0)
    with pytest.raises(tf.errors.InvalidArgumentError, match="int32"):
        a * tf.constant(3)
    with pytest.raises(tf.errors.InvalidArgumentError, match="double"):
        a * tf.constant(3.0, tf.float64)
    with pytest.raises(TypeError):
        tf.Variable(3) * 2.5
    with pytest.raises(TypeError):
        a * None
    assert (tf.constant(3) / tf.constant(2)).dtype == tf.float64


def test_shapes_that_do_not_fit():
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.constant([1.0, 2.0]) + tf.constant([1.0, 2.0, 3.0])
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.constant([1.0, 2.0])[5]
    with pytest.raises(tf.errors.InvalidArgumentError, match="matri"):
        tf.matmul(tf.ones([2]), tf.ones([2]))
    with pytest.raises(tf.errors.InvalidArgumentError, match="matri"):
        tf.ones([2, 2]) @ tf.ones([2])


def test_shapes_are_compared_with_lists():
    x = tf.ones([2, 3])
    assert x.shape == [2, 3]
    assert list(x.shape) == [2, 3]
    assert x.shape.as_list() == [2, 3]
    assert x.shape[1] == 3


def test_tensors_do_not_change():
    x = tf.constant([1.0, 2.0])
    with pytest.raises(TypeError, match="assignment"):
        x[0] = 3.0
    x.numpy()[0] = 5.0
    assert x.numpy()[0] == 1.0
    with pytest.raises(TypeError, match="ref"):
        hash(x)
    assert {x.ref(): 1}[x.ref()] == 1


def test_variables_keep_their_shape_and_type():
    v = tf.Variable([1.0, 2.0])
    assert v.assign([3.0, 4.0]) is v
    v.assign_add([1.0, 1.0])
    v[0].assign(9.0)
    assert v.numpy().tolist() == [9.0, 5.0]
    with pytest.raises(ValueError, match="shape"):
        v.assign([1.0])


def test_indices():
    x = tf.constant([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    assert x[1, tf.constant(0)].numpy() == 4.0
    assert x[:, ::2].numpy().tolist() == [[1.0, 3.0], [4.0, 6.0]]
    assert x[..., tf.newaxis].shape == [2, 3, 1]
    assert x[x > 3.5].numpy().tolist() == [4.0, 5.0, 6.0]
    assert [r.numpy().tolist() for r in x] == [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]
    assert tf.gather(x, [2, 0], axis=1).numpy().tolist() == [[3.0, 1.0], [6.0, 4.0]]
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.gather(x, [7])


def test_python_gets_numbers():
    x = tf.constant(2.5)
    assert (float(x), int(x), bool(x), round(x, 1)) == (2.5, 2, True, 2.5)
    assert [10, 20, 30][tf.constant(1)] == 20
    assert max(tf.constant(2.0), tf.constant(3.0)).numpy() == 3.0
    assert np.sin(x) == np.float32(np.sin(np.float32(2.5)))
    assert pickle.loads(pickle.dumps(x)).numpy() == 2.5


def test_comparisons_are_by_entry():
    x = tf.constant([1.0, 2.0])
    assert (x == 1.0).numpy().tolist() == [True, False]
    assert ((x > 0.5) & (x < 1.5)).numpy().tolist() == [True, False]
    assert (~(x > 1.5)).numpy().tolist() == [True, False]


def test_variables_are_not_changed_in_place():
    v = tf.Variable(1.0)
    with pytest.raises(RuntimeError, match="assign_add"):
        v += 1.0
    x = tf.constant(1.0)
    x += 1.0
    assert x.numpy() == 2.0


@pytest.mark.parametrize(
    "call",
    [
        lambda: tf.constant(1) + 1.5,
        lambda: tf.add(1, 2.5),
        lambda: tf.constant(1.0) + "a",
        lambda: tf.sqrt(tf.constant(4)),
        lambda: tf.one_hot([0.5], 2),
        lambda: tf.linalg.inv(tf.zeros([2, 2])),
        lambda: tf.transpose(tf.ones([2, 2]), [0, 0]),
        lambda: tf.where([True, False], tf.ones([2]), tf.ones([3])),
        lambda: tf.einsum("ij,jk->ik", tf.ones([2, 3]), tf.ones([2, 3])),
        lambda: tf.nn.conv2d(tf.ones([1, 4, 4, 1]), tf.ones([2, 2, 2, 1]), 1, "SAME"),
        lambda: tf.split(tf.ones([5]), 2),
        lambda: tf.squeeze(tf.ones([2, 2]), 0),
        lambda: tf.reduce_sum(tf.ones([2]), axis=3),
    ],
)
def test_operands_that_do_not_fit(call):
    with pytest.raises(tf.errors.InvalidArgumentError):
        call()


@pytest.mark.parametrize("value", [[[1.0, 2.0], [3.0]], None])
def test_values_that_are_no_tensors(value):
    with pytest.raises(ValueError, match=r"tensor|initial"):
        tf.Variable(value)
