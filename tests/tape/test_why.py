"""Why a tape has no derivative, or another than expected: each cause, and a near twin without it."""

from __future__ import annotations

import numpy as np
import pytest

import gradexplain as gx
from gradexplain import tf


def codes(tape, y, x):
    return [f.code for f in tape.why(y, x).data]


CAUSES = {}


def cause(code):
    return lambda make: CAUSES.__setitem__(code, make) or make


@cause("not-watched")
def not_watched(twin):
    x = tf.constant(3.0)
    with tf.GradientTape() as t:
        if twin:
            t.watch(x)
        y = x * x
    return t, y, x


@cause("watched-too-late")
def watched_too_late(twin):
    x = tf.constant(3.0)
    with tf.GradientTape() as t:
        if twin:
            t.watch(x)
        y = x * x
        t.watch(x)
    return t, y, x


@cause("made-before")
def made_before(twin):
    u = tf.constant(3.0) * 2.0
    with tf.GradientTape() as t:
        if twin:
            t.watch(u)
        y = u * u
    return t, y, u


@cause("not-automatic")
def not_automatic(twin):
    w = tf.Variable(3.0)
    with tf.GradientTape(watch_accessed_variables=False) as t:
        if twin:
            t.watch(w)
        y = w * w
    return t, y, w


@cause("made-after")
def made_after(twin):
    w = tf.Variable(3.0)
    with tf.GradientTape() as t:
        y = w * w
    if twin:
        w.assign(2.5)
    else:
        w = tf.Variable(2.5)
    return t, y, w


@cause("cut-in-part")
def cut_in_part(twin):
    x = tf.Variable(2.5)
    with tf.GradientTape() as t:
        y = x * (tf.identity(x) if twin else tf.cast(tf.cast(x, tf.int32), tf.float32))
    return t, y, x


@cause("computed-copy")
def computed_copy(twin):
    x = tf.Variable(3.0)
    with tf.GradientTape() as t:
        y = x * x
        copy = tf.identity(x)
    return t, y, x if twin else copy


@cause("not-trainable")
def not_trainable(twin):
    x = tf.Variable(3.0, trainable=twin)
    with tf.GradientTape() as t:
        y = x * x
    return t, y, x


@cause("integer-dtype")
def integer_dtype(twin):
    x = tf.Variable(3.0 if twin else 3)
    with tf.GradientTape() as t:
        y = x * x
    return t, y, x


@cause("integer-path")
def integer_path(twin):
    x = tf.Variable([1.0, 3.0])
    with tf.GradientTape() as t:
        y = tf.reduce_max(x) if twin else tf.cast(tf.argmax(x), tf.float32)
    return t, y, x


@cause("flat-only")
def flat_only(twin):
    x = tf.Variable(1.25)
    with tf.GradientTape() as t:
        y = tf.identity(x) if twin else tf.round(x)
    return t, y, x


@cause("stopped")
def stopped(twin):
    x = tf.Variable(3.0)
    with tf.GradientTape() as t:
        u = x * x
        y = (u if twin else tf.stop_gradient(u)) * 2.0
    return t, y, x


@cause("numpy-detour")
def numpy_detour(twin):
    x = tf.Variable(3.0)
    with tf.GradientTape() as t:
        y = (x if twin else tf.constant(x.numpy())) ** 2
    return t, y, x


@cause("assigned")
def assigned(twin):
    x, w = tf.Variable(3.0), tf.Variable(1.0)
    with tf.GradientTape() as t:
        if not twin:
            w.assign(x * 2.0)
        y = w * (x if twin else 1.0)
    return t, y, x


@cause("not-recording")
def not_recording(twin):
    x = tf.Variable(3.0)
    with tf.GradientTape() as t:
        y = x * 2.0
    if not twin:
        y = y * y
    return t, y, x


@cause("gradient-not-recorded")
def gradient_not_recorded(twin):
    x = tf.Variable(3.0)
    with tf.GradientTape() as outer:
        with tf.GradientTape() as inner:
            y = x**3
        if twin:
            g = inner.gradient(y, x)
    return outer, g if twin else inner.gradient(y, x), x


@cause("unrelated")
def unrelated(twin):
    x, z = tf.Variable(3.0), tf.Variable(2.0)
    with tf.GradientTape() as t:
        z * 2.0
        y = x * (z if twin else 1.0)
    return t, y, z


@cause("unused")
def unused(twin):
    x, z = tf.Variable(3.0), tf.Variable(2.0)
    with tf.GradientTape() as t:
        t.watch(z)
        y = x * (z if twin else 1.0)
    return t, y, z


@cause("sparse-gradient")
def sparse_gradient(twin):
    table = tf.Variable([[1.0], [2.0], [3.0]])
    with tf.GradientTape() as t:
        y = tf.reduce_sum(table[:2] if twin else tf.gather(table, [0, 1]))
    return t, y, table


@cause("conjugate")
def conjugate(twin):
    z = tf.Variable(1.0 if twin else 1.0 + 2.0j)
    with tf.GradientTape() as t:
        y = z * z
    return t, y, z


@cause("custom-gradient")
def custom_gradient(twin):
    f = (lambda x: x * x) if twin else tf.custom_gradient(lambda x: (x * x, lambda dy: dy))
    x = tf.Variable(2.0)
    with tf.GradientTape() as t:
        y = f(x)
    return t, y, x


@cause("row-sums")
def row_sums(twin):
    x = tf.Variable([1.0, 2.0])
    with tf.GradientTape() as t2:
        with tf.GradientTape() as t1:
            y = x**3
        g = t1.gradient(y, x)
        y = tf.reduce_sum(g) if twin else g
    return t2, y, x


@cause("tensorflow-differs")
def tensorflow_differs(twin):
    x = tf.Variable(1.0 if twin else 0.0)
    with tf.GradientTape() as t:
        y = tf.where(tf.equal(x, 0.0), 0.0, 1.0 / x)
    return t, y, x


@pytest.mark.parametrize("code", CAUSES)
def test_a_cause_and_its_near_twin(code):
    tape, y, x = CAUSES[code](False)
    found = codes(tape, y, x)
    assert code in found
    if tape.gradient(y, x) is None:
        assert found == [code]
    assert code not in codes(*CAUSES[code](True))


def test_the_operation_and_its_line_are_named():
    tape, y, x = stopped(False)
    (found,) = tape.why(y, x).data
    assert found.place.text == "y = (u if twin else tf.stop_gradient(u)) * 2.0"
    assert "tf.stop_gradient(u)" in found.text
    assert [w.text for w in found.path] == ["x * x", "tf.stop_gradient(u)"]
    assert np.isclose(found.path[0].value, 9.0)


def lines(tape, y, x):
    """What the findings blame, as it stands in the source."""
    return [(f.code, w.text if (w := f.place) else "") for f in tape.why(y, x).data]


def test_several_detours_in_a_block_are_told_apart():
    a, b = tf.Variable(3.0), tf.Variable(2.0)
    with tf.GradientTape(persistent=True) as t:
        u = a * 2.0
        print(u.numpy())
        p = float(a)
        q = np.sin(b)
        y = tf.constant(p) * q
        print(b.numpy())
        z = tf.round(a) + tf.stop_gradient(b)
    assert lines(t, y, a) == [("numpy-detour", "p = float(a)")]
    assert lines(t, y, b) == [("numpy-detour", "q = np.sin(b)")]
    assert "tf.round(a)" in t.why(z, a).data[0].text
    assert "tf.stop_gradient(b)" in t.why(z, b).data[0].text


def test_every_operation_that_cuts_a_path_is_told():
    x = tf.Variable(2.5)
    with tf.GradientTape(persistent=True) as t:
        u = tf.stop_gradient(x)
        y = tf.round(x) * u
        z = tf.round(x) * x
    assert sorted(codes(t, y, x)) == ["flat-only", "stopped"]
    assert "flat-only" not in codes(t, z, x)


def test_a_value_that_was_only_looked_at_is_not_what_cuts_the_path():
    x, z = tf.Variable(3.0), tf.Variable(2.0)
    with tf.GradientTape(persistent=True) as t:
        if float(x) > 0:
            y = z * 2.0
        print(x.numpy())
    assert codes(t, y, x) == ["unused"]


@pytest.mark.parametrize("store", ["from a tensor", "from a number", "made anew"])
def test_a_variable_that_a_number_was_stored_in_has_no_history(store):
    x, w = tf.Variable(3.0), tf.Variable(1.0)
    with tf.GradientTape() as t:
        u = x * 2.0
        if store == "from a tensor":
            w.assign(u)
        elif store == "from a number":
            w.assign(u.numpy())
        else:
            w = tf.Variable(u)
        y = w * w
    (found,) = t.why(y, x).data
    assert found.code == "assigned"
    assert found.place.text.startswith("w")


def test_a_step_that_makes_a_tensor_of_a_variable_is_advised_against():
    w = tf.Variable(3.0)
    w = w - 0.1
    with tf.GradientTape() as t:
        y = w * w
    assert "w.assign_sub" in t.why(y, w)[0].fix
    tape, y, u = made_before(False)
    assert "assign_sub" not in tape.why(y, u)[0].fix


@pytest.mark.parametrize("size", [None, 2])
def test_where_the_chain_rule_gives_nan_its_factors_are_told(size):
    x = tf.Variable(0.0 if size is None else [0.0, 1.0])
    with tf.GradientTape(persistent=True) as t:
        y = tf.reduce_sum(tf.sin(x) * tf.sqrt(x))
        z = tf.reduce_sum(tf.sin(x) * tf.sqrt(x + 0.25))
    assert np.all(np.isfinite(t.gradient(y, x)))  # TensorFlow takes 0 for 0/0 in the square root
    differs, product = t.why(y, x).data
    assert (differs.code, product.code) == ("tensorflow-differs", "zero-times-infinity")
    assert "the slope is nan" not in differs.text
    assert product.factor == "0 (what comes from above) times inf"
    assert not t.why(z, x).data


PARTS = {
    "tf.cast(x, tf.int32)": lambda x: x * tf.cast(tf.cast(x, tf.int32), tf.float32),
    "tf.round(x)": lambda x: x * tf.round(x),
    "tf.stop_gradient(x)": lambda x: x * tf.stop_gradient(x),
    "float(x)": lambda x: x * float(x),
    "x.numpy()": lambda x: tf.constant(x.numpy()) + x,
}


@pytest.mark.parametrize("part", PARTS)
def test_a_cut_on_one_of_several_paths_is_told(part):
    x = tf.Variable(2.25)
    with tf.GradientTape() as t:
        y = PARTS[part](x)
    (found,) = t.why(y, x)
    assert found.code == "cut-in-part"
    assert part in found.text


def test_what_only_chooses_among_values_is_no_part_of_the_result():
    x = tf.Variable([1.0, 3.0])
    with tf.GradientTape() as t:
        scale = 0.5
        print(x.numpy())
        best = tf.gather(x, tf.argmax(x))
        y = tf.where(tf.round(best) > 2.0, best * scale, x[0])
    assert "cut-in-part" not in codes(t, y, x)


def test_a_custom_gradient_is_told_with_its_formula():
    @tf.custom_gradient
    def log1pexp(z):
        e = tf.exp(z)
        return tf.math.log(1 + e), lambda dy: dy * (1 - 1 / (1 + e))

    x = tf.Variable(1.0)
    with tf.GradientTape(persistent=True) as t:
        u = log1pexp(x * 2.0)
        y = u * u
    (found,) = t.why(y, x)
    assert found.code == "custom-gradient"
    assert found.factor == "comes back, by argument: z: dy*(1 - 1/(1 + exp(z)))"
    with pytest.raises(gx.errors.ArgumentError, match="custom gradient") as error:
        t.explain(y, x)
    assert error.value.where.text == "u = log1pexp(x * 2.0)"


@pytest.mark.parametrize("value", [None, 1.0])
def test_a_gradient_function_without_a_formula_is_told_without(value):
    @tf.custom_gradient
    def f(a, b):
        return a * b, lambda dy: (dy * b, value)

    x, z = tf.Variable(1.0), tf.Variable(2.0)
    with tf.GradientTape() as t:
        y = f(x, z)
    (found,) = t.why(y, x)
    assert found.factor.startswith("comes back, by argument: a: dy*b")


def test_all_sources_are_asked_about_by_default():
    x, z = tf.Variable(3.0), tf.Variable(2.0)
    with tf.GradientTape() as t:
        z * 2.0
        y = x * x
    assert [f.argument for f in t.why(y).data] == ["z"]
