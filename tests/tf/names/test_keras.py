"""Layers, losses, optimizers and metrics in loops with a tape."""

from __future__ import annotations

import gc
import tracemalloc
import warnings

import numpy as np
import pytest

from gradexplain import tf
from gradexplain.tape.errors import UnknownNameError

# TensorFlow 2.21, Keras 3.15: the loss of this network by steps.
RECORDED = {0: 1.4622935, 20: 0.11501451, 50: 0.019934904, 100: 0.0034205669, 199: 0.0032962197}
X = np.sin(np.arange(96.0).reshape(32, 3) * 0.7).astype("f4")
Y = (X[:, :1] * X[:, 1:2] + 0.5 * X[:, 2:]).astype("f4")


def network():
    w1 = tf.Variable(np.cos(np.arange(24.0).reshape(3, 8)).astype("f4") * 0.5)
    w2 = tf.Variable(np.cos(np.arange(8.0).reshape(8, 1) + 0.3).astype("f4") * 0.5)
    return [w1, tf.Variable(tf.zeros(8)), w2, tf.Variable(tf.zeros(1))]


def trained(steps):
    variables, optimizer, losses = network(), tf.keras.optimizers.Adam(0.02), []
    for _ in range(steps):
        with tf.GradientTape() as tape:
            w1, b1, w2, b2 = variables
            loss = tf.reduce_mean(tf.square(tf.nn.tanh(X @ w1 + b1) @ w2 + b2 - Y))
        optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables, strict=True))
        losses.append(float(loss))
    return losses


def test_training_is_what_tensorflow_and_plain_numpy_do():
    losses = trained(200)
    assert np.allclose([losses[i] for i in RECORDED], list(RECORDED.values()), rtol=1e-4)
    assert np.allclose(losses, by_hand(200), rtol=1e-4)


def test_training_does_not_grow():
    """Without the garbage collector: a tape and its record are gone when the next one begins."""
    trained(3)
    gc.disable()
    tracemalloc.start()
    try:
        trained(10)
        few = tracemalloc.get_traced_memory()[1]
        tracemalloc.reset_peak()
        trained(150)
        many = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
        gc.enable()
    assert many < few + 40_000  # the losses, and what NumPy keeps


def by_hand(steps):
    ps = [v.numpy().astype(float) for v in network()]
    ms, vs, losses = [0.0] * 4, [0.0] * 4, []
    for t in range(1, steps + 1):
        w1, b1, w2, b2 = ps
        h = np.tanh(X @ w1 + b1)
        e = h @ w2 + b2 - Y
        losses.append(np.mean(e * e))
        ge = 2 * e / e.size
        gz = ge @ w2.T * (1 - h * h)
        for i, g in enumerate((X.T @ gz, gz.sum(0), h.T @ ge, ge.sum(0))):
            ms[i] = 0.9 * ms[i] + 0.1 * g
            vs[i] = 0.999 * vs[i] + 0.001 * g * g
            ps[i] = ps[i] - 0.02 * np.sqrt(1 - 0.999**t) / (1 - 0.9**t) * ms[i] / (np.sqrt(vs[i]) + 1e-7)
    return losses


@pytest.mark.parametrize(
    ("optimizer", "end"),
    [
        (tf.keras.optimizers.SGD(0.1), 1.536),
        (tf.keras.optimizers.SGD(0.1, momentum=0.9), 0.186000109),
        (tf.keras.optimizers.Adam(0.1), 2.7003839),
        (tf.keras.optimizers.RMSprop(0.1), 2.29176593),
        (tf.keras.optimizers.Adagrad(0.1), 2.7745719),
    ],
)
def test_three_steps_from_3(optimizer, end):
    x = tf.Variable(3.0)
    for _ in range(3):
        with tf.GradientTape() as t:
            y = x * x
        optimizer.apply_gradients([(t.gradient(y, x), x)])
    assert np.isclose(x.numpy(), end, rtol=1e-5)


def test_optimizers_and_gradients_that_are_none():
    a, b = tf.Variable(1.0), tf.Variable(2.0)
    optimizer = tf.keras.optimizers.SGD(0.1)
    with pytest.warns(UserWarning, match="do not exist"):
        optimizer.apply_gradients([(tf.constant(2.0), a), (None, b)])
    assert np.isclose(a.numpy(), 0.8)
    with pytest.raises(ValueError, match="No gradients provided"):
        optimizer.apply_gradients([(None, b)])


def test_sparse_gradients_move_rows():
    table = tf.Variable(tf.ones([3, 2]))
    with tf.GradientTape() as t:
        y = tf.reduce_sum(tf.nn.embedding_lookup(table, [1, 1]))
    tf.keras.optimizers.SGD(0.5).apply_gradients([(t.gradient(y, table), table)])
    assert table.numpy().tolist() == [[1, 1], [0, 0], [1, 1]]


def test_a_model_of_layers():
    model = tf.keras.Sequential(
        [
            tf.keras.layers.Input((2,)),
            tf.keras.layers.Dense(1, kernel_initializer="ones", kernel_regularizer=tf.keras.regularizers.L2(0.5)),
        ]
    )
    x = tf.constant([[1.0, 2.0]])
    with tf.GradientTape() as t:
        y = tf.reduce_sum(model(x)) + tf.add_n(model.losses)
    kernel, bias = model.trainable_variables
    g = t.gradient(y, [kernel, bias])
    assert g[0].numpy().tolist() == [[2.0], [3.0]]
    assert g[1].numpy().tolist() == [1.0]
    assert isinstance(model.predict(x), np.ndarray)
    assert model.count_params() == 3


@pytest.mark.parametrize("name", ["compile", "fit", "evaluate", "train_on_batch", "save_weights"])
def test_what_models_do_not_do_is_said_with_what_to_write_instead(name):
    for model in tf.keras.Sequential([tf.keras.layers.Dense(1)]), tf.keras.Model():
        with pytest.raises(UnknownNameError, match=f"{name} is not here") as error:
            getattr(model, name)
        assert error.value.fix
        assert not hasattr(model, name)
    with pytest.raises(UnknownNameError, match=r"GradientTape.*apply_gradients"):
        model.compile(optimizer="adam", loss="mse")


def test_the_loop_that_the_message_names_trains_a_model():
    x, y = tf.constant([[0.0], [1.0], [2.0]]), tf.constant([[1.0], [3.0], [5.0]])
    model, optimizer = tf.keras.Sequential([tf.keras.layers.Dense(1)]), tf.keras.optimizers.SGD(0.2)
    for _ in range(200):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((model(x) - y) ** 2)
        optimizer.apply_gradients(
            zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables, strict=True)
        )
    assert np.allclose([v.numpy().item() for v in model.trainable_variables], [2, 1], atol=1e-3)


def test_a_misspelt_attribute_of_a_model_is_a_plain_attribute_error():
    with pytest.raises(AttributeError, match="'Sequential' object has no attribute 'layres'"):
        tf.keras.Sequential().layres  # noqa: B018


def test_variables_of_keras_are_watched_by_their_values():
    layer = tf.keras.layers.Dense(1, kernel_initializer="ones")
    layer.build((None, 2))
    with tf.GradientTape(watch_accessed_variables=False) as t:
        with pytest.raises(ValueError, match="Variable"):
            t.watch(layer.kernel)
        t.watch(layer.kernel.value)
        y = layer(tf.constant([[1.0, 2.0]]))
    g = t.gradient(y, [layer.kernel, layer.bias])
    assert g[0].numpy().tolist() == [[1.0], [2.0]]
    assert g[1] is None


def test_a_frozen_layer_has_no_trainable_variables():
    layer = tf.keras.layers.Dense(2)
    layer.build((None, 2))
    layer.trainable = False
    assert layer.trainable_variables == []
    assert len(layer.variables) == 2


def test_subclasses():
    class Line(tf.keras.Model):
        def __init__(self):
            super().__init__()
            self.inner = tf.keras.layers.Dense(3, activation="relu")
            self.outer = [tf.keras.layers.Dense(1)]
            self.scale = self.add_weight(shape=(), initializer="ones", name="scale")

        def call(self, x, training=False):
            return self.outer[0](self.inner(x)) * self.scale

    model = Line()
    with tf.GradientTape() as t:
        y = tf.reduce_sum(model(tf.ones([4, 2])))
    assert len(model.trainable_variables) == 5
    assert all(g is not None for g in t.gradient(y, model.trainable_variables))

    class Plain(tf.Module):
        def __init__(self):
            super().__init__()
            self.w = tf.Variable(2.0)
            self.parts = [tf.Variable(1.0), tf.Variable(0.0, trainable=False)]

    assert len(Plain().trainable_variables) == 2
    assert len(Plain().variables) == 3


def test_normalisation():
    x = tf.constant(np.arange(12.0, dtype="f4").reshape(4, 3) ** 1.5)
    layer = tf.keras.layers.BatchNormalization()
    y = layer(x, training=True)
    assert np.allclose(np.mean(y.numpy(), axis=0), 0, atol=1e-5)
    assert np.allclose(layer.moving_mean.numpy(), 0.01 * np.mean(x.numpy(), axis=0), rtol=1e-4)
    assert len(layer.trainable_variables) == 2
    z = tf.keras.layers.LayerNormalization(epsilon=1e-6)(x)
    assert np.allclose(np.std(z.numpy(), axis=1), 1, atol=1e-3)


def test_dropout_keeps_the_mean():
    tf.random.set_seed(3)
    layer, x = tf.keras.layers.Dropout(0.5), tf.ones([100, 100])
    assert layer(x) is x
    y = layer(x, training=True).numpy()
    assert set(np.unique(y)) == {0.0, 2.0}
    assert abs(np.mean(y) - 1) < 0.05


def test_a_cell_with_memory():
    cell = tf.keras.layers.LSTMCell(4)
    x, states = tf.ones([2, 3]), [tf.zeros([2, 4]), tf.zeros([2, 4])]
    with tf.GradientTape() as t:
        for _ in range(3):
            out, states = cell(x, states)
        y = tf.reduce_sum(out)
    assert out.shape == [2, 4]
    assert [g.shape.as_list() for g in t.gradient(y, cell.trainable_variables)] == [[3, 16], [4, 16], [16]]


def test_losses_reduce():
    p, y = tf.constant([[0.2, 0.8], [0.6, 0.4]]), tf.constant([[0.0, 1.0], [1.0, 0.0]])
    each = tf.keras.losses.MeanSquaredError(reduction="none")(y, p).numpy()
    assert np.allclose(tf.keras.losses.MeanSquaredError()(y, p), np.mean(each))
    assert np.allclose(tf.keras.losses.MeanSquaredError(reduction="sum")(y, p), np.sum(each))
    labels = tf.constant([1, 0])
    a = tf.keras.losses.SparseCategoricalCrossentropy()(labels, p).numpy()
    assert np.isclose(a, -np.mean(np.log([0.8, 0.6])))


def test_metrics_are_state():
    mean, hits = tf.keras.metrics.Mean(), tf.keras.metrics.SparseCategoricalAccuracy()
    assert mean(tf.constant(2.0)).numpy() == 2.0
    assert mean(tf.constant(4.0)).numpy() == 3.0
    mean.reset_state()
    assert mean.result().numpy() == 0.0
    hits.update_state([0, 1], [[0.9, 0.1], [0.8, 0.2]])
    assert hits.result().numpy() == 0.5


def test_initializers_with_seeds_repeat():
    make = tf.keras.initializers.GlorotUniform
    a, b = make(seed=1)((3, 4)), make(seed=1)((3, 4))
    assert np.array_equal(a.numpy(), b.numpy())
    assert np.max(np.abs(a.numpy())) <= np.sqrt(6 / 7)
    with pytest.raises(ValueError, match="zeros"):
        tf.keras.layers.Dense(1, kernel_initializer="nothing").build((None, 1))


def test_nothing_warns():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        network()


def test_models_of_placeholders():
    inputs = tf.keras.Input(shape=(2,))
    inner = tf.keras.layers.Dense(3, activation="relu", kernel_initializer="ones")(inputs)
    both = tf.keras.layers.Concatenate()([inputs, inner])
    model = tf.keras.Model(inputs=inputs, outputs=tf.keras.layers.Dense(1, kernel_initializer="ones")(both))
    x = tf.constant([[1.0, 2.0]])
    with tf.GradientTape() as t:
        t.watch(x)
        y = model(x)
    assert y.numpy().tolist() == [[3.0 + 9.0]]
    assert t.gradient(y, x).numpy().tolist() == [[4.0, 4.0]]
    assert len(model.trainable_variables) == 4
    with pytest.raises(TypeError, match="placeholder"):
        inputs.numpy()


def test_transposed_convolution_makes_images_larger():
    layer = tf.keras.layers.Conv2DTranspose(2, 3, strides=2, padding="same", kernel_initializer="ones")
    x = tf.constant(np.arange(4.0, dtype="f4").reshape(1, 2, 2, 1))
    with tf.GradientTape() as t:
        y = layer(x)
    assert y.shape == [1, 4, 4, 2]
    g = t.gradient(y, layer.kernel)
    assert g.shape == layer.kernel.shape
    back = tf.nn.conv2d(y, layer.kernel, 2, "SAME")
    assert back.shape == x.shape


def test_numerical_derivatives():
    by_tape, by_quotients = tf.test.compute_gradient(lambda x: x**2 * [1.0, 2.0], [tf.constant([1.0, 3.0])])
    assert np.allclose(by_tape[0], [[2.0, 0.0], [0.0, 12.0]])
    assert np.allclose(by_quotients[0], by_tape[0], atol=1e-2)
