"""What GradientTape does, case by case as TensorFlow 2.21 does it."""

from __future__ import annotations

import contextlib
import gc
import logging
import weakref

import numpy as np
import pytest

from gradexplain import tf


def both(x):
    return np.asarray(x).tolist()


def test_a_variable_is_watched_when_it_is_read():
    x = tf.Variable(4.0)
    with tf.GradientTape() as t:
        y = x * x + 2.0 * x
    assert t.gradient(y, x).numpy() == 10.0


def test_a_constant_is_not_watched_by_itself():
    x = tf.constant(4.0)
    with tf.GradientTape() as t:
        y = x * x
    assert t.gradient(y, x) is None


def test_a_frozen_variable_is_not_watched():
    a, b = tf.Variable(2.0), tf.Variable(3.0, trainable=False)
    with tf.GradientTape() as t:
        y = a * b
    g = t.gradient(y, [a, b])
    assert g[0].numpy() == 3.0
    assert g[1] is None


def test_what_happened_before_watch_is_not_recorded():
    x = tf.constant(3.0)
    with tf.GradientTape() as t:
        y = x * x
        t.watch(x)
        z = y * x
    assert t.gradient(z, x).numpy() == 9.0


def test_equal_constants_are_two_sources():
    a, b = tf.constant(2.0), tf.constant(2.0)
    with tf.GradientTape() as t:
        t.watch([a, b])
        y = a * a * b
    assert [g.numpy() for g in t.gradient(y, [a, b])] == [8.0, 4.0]


@pytest.mark.parametrize("thing", [3.0, np.ones(2), "x"])
def test_only_tensors_can_be_watched(thing):
    with tf.GradientTape() as t, pytest.raises(ValueError, match=type(thing).__name__):
        t.watch(thing)


def test_watching_whole_numbers_warns(caplog):
    x = tf.constant(10)
    with caplog.at_level(logging.WARNING, "gradexplain"), tf.GradientTape() as t:
        t.watch(x)
        y = x * x
    assert "floating" in caplog.text
    assert t.gradient(y, x) is None


def test_nothing_is_watched_if_told_so():
    a, b = tf.Variable(3.0), tf.Variable(4.0)
    with tf.GradientTape(watch_accessed_variables=False) as t:
        t.watch(b)
        y = a * b
    assert len(t.watched_variables()) == 1
    g = t.gradient(y, [a, b])
    assert g[0] is None
    assert g[1].numpy() == 3.0


def test_a_second_gradient_needs_a_persistent_tape():
    x = tf.Variable(3.0)
    with tf.GradientTape() as t:
        y = x * x
    t.gradient(y, x)
    with pytest.raises(RuntimeError, match="non-persistent"):
        t.gradient(y, x)
    with tf.GradientTape(persistent=True) as t:
        y = x * x
    assert t.gradient(y, x).numpy() == t.gradient(y, x).numpy() == 6.0


def test_a_tape_that_was_not_entered_gives_nothing():
    with pytest.raises(RuntimeError, match="non-persistent"):
        tf.GradientTape().gradient(tf.constant(1.0), tf.constant(1.0))


def test_states_of_the_block():
    t = tf.GradientTape()
    with pytest.raises(RuntimeError, match="not recording"), t.stop_recording():
        pass
    with pytest.raises(ValueError, match="not recording"):
        t.reset()
    with t, pytest.raises(ValueError, match="still recording"):
        t.__enter__()


def test_stop_recording_makes_constants():
    x = tf.Variable(3.0)
    with tf.GradientTape() as t:
        y = x * x
        with t.stop_recording():
            z = y * x
        w = y + z
    assert t.gradient(w, x).numpy() == 6.0


def test_reset_forgets():
    x, y = tf.Variable(2.0), tf.Variable(3.0)
    with tf.GradientTape() as t:
        b = y * y
        t.reset()
        z = x * x + b
    g = t.gradient(z, {"x": x, "y": y})
    assert g["x"].numpy() == 4.0
    assert g["y"] is None


def test_a_tape_goes_on_when_it_is_entered_again():
    x = tf.Variable(3.0)
    t = tf.GradientTape(persistent=True)
    with t:
        y = x * x
    u = y * 2.0
    with t:
        z = u * x + y
    assert t.gradient(z, x).numpy() == 18.0 + 6.0


def test_an_exception_closes_the_tape():
    x = tf.Variable(3.0)
    t = tf.GradientTape()
    with contextlib.suppress(KeyError), t:
        y = x * x
        raise KeyError
    x * 2.0  # not recorded
    assert t.gradient(y, x).numpy() == 6.0
    assert len(t.operations) == 1


def test_higher_orders_need_the_gradient_inside():
    x = tf.Variable(0.5)
    with tf.GradientTape() as t3:
        with tf.GradientTape() as t2:
            with tf.GradientTape() as t1:
                y = tf.sin(x) * x
            g = t1.gradient(y, x)
        h = t2.gradient(g, x)
    third = t3.gradient(h, x)
    s, c = np.sin(0.5), np.cos(0.5)
    assert np.allclose([g, h, third], [s + 0.5 * c, 2 * c - 0.5 * s, -3 * s - 0.5 * c], rtol=1e-5)
    with tf.GradientTape() as t2, tf.GradientTape() as t1:
        y = x**3
    assert t2.gradient(t1.gradient(y, x), x) is None


def test_where_the_third_derivative_is_none_and_where_0():
    x = tf.Variable(3.0)

    def third(f):
        with tf.GradientTape() as t3:
            with tf.GradientTape() as t2:
                with tf.GradientTape() as t1:
                    y = f(x)
                g = t1.gradient(y, x)
            h = t2.gradient(g, x)
        return t3.gradient(h, x)

    assert third(tf.square) is None
    assert third(lambda v: v * v) is None
    assert third(lambda v: v**2).numpy() == 0.0


def test_a_persistent_tape_differentiates_its_own_gradient(caplog):
    x = tf.Variable(3.0)
    with tf.GradientTape(persistent=True) as t:
        y = x**3
        g = t.gradient(y, x)
    assert t.gradient(g, x).numpy() == 18.0
    assert "also records" in caplog.text


def test_perturbations_are_not_confused():
    x = tf.Variable(1.0)
    with tf.GradientTape() as tx:
        y = tf.Variable(2.0)
        with tf.GradientTape() as ty:
            s = x + y
        z = x * ty.gradient(s, y)
    assert tx.gradient(z, x).numpy() == 1.0


def test_structures_are_kept():
    a, b, c = tf.Variable(1.0), tf.Variable(2.0), tf.Variable(3.0)
    with tf.GradientTape(persistent=True) as t:
        y = a * b * c
    g = t.gradient(y, {"q": a, "r": [b, (c,)]})
    assert g["q"].numpy() == 6.0
    assert type(g["r"]) is list
    assert type(g["r"][1]) is tuple
    assert t.gradient(y, []) == []
    assert [x.numpy() for x in t.gradient(y, [a, a])] == [6.0, 6.0]


def test_targets_are_summed():
    x = tf.Variable([2.0, 3.0])
    with tf.GradientTape(persistent=True) as t:
        a, b, lone = x * x, 3.0 * x, tf.constant(1.0)
    assert both(t.gradient([a, b, lone], x)) == [7.0, 9.0]
    assert t.gradient([], x) is None


def test_the_target_as_source():
    x = tf.Variable([2.0, 3.0])
    y = tf.constant(4.0)
    with tf.GradientTape(persistent=True) as t:
        pass
    assert both(t.gradient(x, x)) == [1.0, 1.0]
    assert t.gradient(y, y).numpy() == 1.0


def test_output_gradients():
    x = tf.Variable([1.0, 2.0, 3.0])
    with tf.GradientTape(persistent=True) as t:
        y = x**2
        z = 3.0 * x
    assert both(t.gradient(y, x, output_gradients=tf.constant([1.0, 10.0, 100.0]))) == [2.0, 40.0, 600.0]
    assert both(t.gradient(y, x, output_gradients=tf.constant(2.0))) == [4.0, 8.0, 12.0]
    assert both(t.gradient([y, z], x, output_gradients=[np.eye(3, dtype="f4")[0], np.eye(3, dtype="f4")[1]])) == [
        2,
        3,
        0,
    ]
    with pytest.raises(ValueError, match="None"):
        t.gradient([y, z], x, output_gradients=[tf.constant([1.0, 0.0, 0.0]), None])
    with pytest.raises(tf.errors.InvalidArgumentError):
        t.gradient(y, x, output_gradients=tf.constant([1.0, 2.0]))


def test_unconnected_gradients():
    x, y = tf.Variable([[1.0, 2.0]]), tf.Variable(3.0)
    with tf.GradientTape(persistent=True) as t:
        z = y**2
    assert t.gradient(z, x) is None
    assert both(t.gradient(z, x, unconnected_gradients="zero")) == [[0.0, 0.0]]
    assert both(t.gradient(z, x, unconnected_gradients=tf.UnconnectedGradients.ZERO)) == [[0.0, 0.0]]
    with pytest.raises(ValueError, match="unconnected_gradients"):
        t.gradient(z, x, unconnected_gradients="empty")


def test_a_factor_0_is_not_none():
    x = tf.Variable(2.0)
    with tf.GradientTape() as t:
        y = 0.0 * x
    assert t.gradient(y, x).numpy() == 0.0


@pytest.mark.parametrize("source", [2.0, None, np.ones(2)])
def test_sources_are_tensors(source):
    a = tf.Variable(2.0)
    with tf.GradientTape() as t:
        y = a * 3.0
    with pytest.raises(TypeError):
        t.gradient(y, source)


def test_a_target_that_left_the_record():
    a = tf.Variable(2.0)
    with tf.GradientTape() as t:
        y = np.sin(a)
    with pytest.raises(AttributeError, match="tensor"):
        t.gradient(y, a)


def test_assignments_are_versions():
    v = tf.Variable(2.0)
    with tf.GradientTape(persistent=True) as t:
        a = v**2
        v.assign(10.0)
        b = v**2
    v.assign(1000.0)
    assert [t.gradient(y, v).numpy() for y in (a, b, [a, b])] == [4.0, 20.0, 24.0]


def test_no_derivative_through_an_assignment():
    v, x = tf.Variable(1.0), tf.constant(2.0)
    with tf.GradientTape() as t:
        t.watch(x)
        v.assign_sub(0.5 * x)
        y = v * v
    assert v.numpy() == 0.0
    assert t.gradient(y, x) is None


def test_jacobians():
    x, w = tf.Variable([1.0, 2.0]), tf.Variable(3.0)
    with tf.GradientTape(persistent=True) as t:
        y = x * x * w
    j = t.jacobian(y, {"x": x, "w": w})
    assert both(j["x"]) == [[6.0, 0.0], [0.0, 12.0]]
    assert both(j["w"]) == [1.0, 4.0]
    assert t.jacobian(y, tf.Variable([1.0])) is None
    with pytest.raises(AttributeError, match="list"):
        t.jacobian([y], x)


def test_a_hessian_is_the_jacobian_of_a_gradient():
    x = tf.Variable([1.0, 2.0])
    with tf.GradientTape() as t2:
        with tf.GradientTape() as t1:
            y = x[0] ** 2 * x[1] + x[1] ** 3
        g = t1.gradient(y, x)
    assert both(t2.jacobian(g, x)) == [[4.0, 2.0], [2.0, 12.0]]


def test_a_jacobian_can_be_differentiated():
    x = tf.Variable([1.0, 2.0])
    with tf.GradientTape() as t2:
        with tf.GradientTape() as t1:
            y = x**3
        j = t1.jacobian(y, x)
    assert both(t2.gradient(j, x)) == [6.0, 12.0]


def test_batch_jacobian():
    x = tf.Variable([[1.0, 2.0], [3.0, 4.0]])
    with tf.GradientTape(persistent=True) as t:
        y = tf.stack([x[:, 0] * x[:, 1], x[:, 1] ** 2, x[:, 0]], axis=1)
    assert both(t.batch_jacobian(y, x)) == [[[2, 1], [0, 4], [1, 0]], [[4, 3], [0, 8], [1, 0]]]
    with pytest.raises(ValueError, match="first dimension"):
        t.batch_jacobian(y, tf.constant([[1.0]]))


def test_types_are_kept():
    a = tf.Variable([1.0, 2.0])
    with tf.GradientTape() as t:
        y = tf.reduce_sum(tf.cast(a, tf.float64) ** 2)
    g = t.gradient(y, a)
    assert y.dtype.name == "float64"
    assert g.dtype.name == "float32"


def test_complex_gradients_are_conjugates():
    z = tf.Variable(1.0 + 2.0j)
    with tf.GradientTape(persistent=True) as t:
        y = z * z
        r = tf.abs(z) ** 2
    assert t.gradient(y, z).numpy() == 2 - 4j
    assert np.isclose(t.gradient(r, z).numpy(), 2 + 4j)


def test_picked_rows_give_indexed_slices():
    table = tf.Variable([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    with tf.GradientTape(persistent=True) as t:
        y = tf.reduce_sum(tf.gather(table, [0, 2, 0]) ** 2)
        z = y + tf.reduce_sum(table)
    g = t.gradient(y, table)
    assert isinstance(g, tf.IndexedSlices)
    assert g.indices.numpy().tolist() == [0, 2, 0]
    assert both(tf.convert_to_tensor(g)) == [[4, 8], [0, 0], [10, 12]]
    assert both(t.gradient(z, table)) == [[5, 9], [1, 1], [11, 13]]


def test_a_tape_in_a_loop_keeps_nothing():
    w, seen = tf.Variable([1.0, 2.0]), []
    for _ in range(3):
        with tf.GradientTape() as t:
            y = tf.reduce_sum(w * w)
        w.assign_sub(0.1 * t.gradient(y, w))
        seen.append(weakref.ref(t))
    del t, y
    gc.collect()
    assert [r() for r in seen] == [None] * 3


def test_a_tape_without_a_record_watches_nothing():
    x = tf.Variable(1.0)
    with pytest.raises(AttributeError, match="_tape"):
        tf.GradientTape().watch(x)
    with tf.GradientTape() as t:
        y = x * x
    t.watch(x)
    t.gradient(y, x)
    with pytest.raises(AttributeError, match="_tape"):
        t.watch(x)
