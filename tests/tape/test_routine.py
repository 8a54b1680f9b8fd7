"""Routines: what is carried out is what the expression says, with and without somebody who listens."""

from __future__ import annotations

import contextlib

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from gradexplain import tf
from gradexplain.ops import TABLE
from gradexplain.tape.recording import quiet
from gradexplain.tape.routine import VALUES, Routine, build, pullback

F = "float"


def test_numbers_of_the_program_are_not_spread():
    found = build(TABLE["mul"].record, [((3,), F, False), ((), F, True)], {})
    assert [s.row.name for s in found.steps] == ["mul"]
    found = build(TABLE["mul"].record, [((3,), F, False), ((), F, False)], {})
    assert [s.row.name for s in found.steps] == ["broadcast_to", "mul"]


def test_results_have_the_type_that_is_asked_for():
    found = build(lambda x: TABLE["pow"].record(x, 2), [((2,), F, False)], {})
    (result,) = found.compute([np.array([1.0, 3.0], np.float32)], np.dtype("f4"))
    assert result.dtype == np.float32
    assert result.tolist() == [1.0, 9.0]


def test_a_pullback_that_has_nothing_to_hand_back():
    found = pullback(TABLE["floor"], (), (((), F, False),), (True,))
    assert found.outputs == (None,)


def test_an_output_that_is_an_input():
    from gradexplain.graph import variable

    x = variable("x")
    assert Routine([x], [x]).compute([np.float32(2.0)], np.dtype("f4")) == [2.0]


@given(st.lists(st.integers(1, 3), max_size=3), st.data())
@settings(max_examples=60, deadline=None)
def test_spreading_is_that_of_numpy(shape, data):
    small = [data.draw(st.sampled_from([1, n])) for n in shape][data.draw(st.integers(0, len(shape))) :]
    x = np.arange(int(np.prod(small)), dtype="f4").reshape(small)
    for array in (x, x.T if x.ndim == 2 and x.shape[0] == x.shape[1] else x, x[()]):
        mine = VALUES[TABLE["broadcast_to"]](array, shape=tuple(shape))
        assert np.array_equal(mine, np.broadcast_to(array, shape))
        assert not mine.flags.writeable


def test_quiet_blocks_within_each_other():
    before = np.geterr()
    with contextlib.suppress(ZeroDivisionError), quiet(), quiet():
        assert np.geterr()["divide"] == "ignore"
        raise ZeroDivisionError
    assert np.geterr() == before


@given(st.integers(0, 2**32 - 1))
@settings(max_examples=40, deadline=None)
def test_random_programs_have_the_same_gradient_recorded_and_not(seed):
    """Nested in a tape, a gradient is computed step by step and recorded; else all at once."""
    rng = np.random.default_rng(seed)
    unary = (tf.sin, tf.tanh, tf.sigmoid, tf.square, tf.nn.relu, tf.nn.softplus, tf.abs, lambda v: v**3)
    chosen = [unary[i] for i in rng.integers(len(unary), size=4)]
    x = tf.Variable(rng.normal(size=(2, 3)).astype("f4"))

    def program():
        values = [x, x * 2.0]
        for f in chosen:
            values.append(f(values[-1]) + values[-2] * values[rng.integers(len(values))][:, :1])
        return tf.reduce_mean(values[-1])

    state = rng.bit_generator.state
    with tf.GradientTape() as alone:
        y = program()
    plain = alone.gradient(y, x)
    rng.bit_generator.state = state
    with tf.GradientTape() as outer:
        with tf.GradientTape() as inner:
            y = program()
        g = inner.gradient(y, x)
        z = tf.reduce_sum(g)
    assert np.allclose(plain, g, rtol=1e-5, equal_nan=True)
    outer.gradient(z, x)
