"""What a tape shows: records, graph, explanations."""

from __future__ import annotations

import numpy as np
import pytest
import sympy as sp

import gradexplain as gx
from gradexplain import tf
from gradexplain.errors import ArgumentError


def rows(tape):
    return [(row.name, row.operation, row.status) for row in tape.records.data.rows]


def test_records_say_what_was_recorded_and_what_not():
    x, k = tf.Variable(3.0), tf.constant(2.0)
    with tf.GradientTape() as tape:
        u = x**2
        c = k * 2.0
        with tape.stop_recording():
            q = u * 3.0
        s = tf.stop_gradient(u)
        n = tf.numpy_function(np.sin, [u], tf.float32)
        f = tf.floor(u)
    assert rows(tape) == [
        ("u", "pow", "recorded"),
        ("c", "mul", "constant"),
        ("q", "mul", "paused"),
        ("s", "stop_gradient", "cut"),
        ("n", "numpy_function", "cut"),
        ("f", "floor", "flat"),
    ]
    del c, q, s, n, f
    text = tape.records.to_text()
    assert "watched: x" in text
    assert "in stop_recording" in text
    with gx.options(language="zh"):
        assert "被监视的量" in tape.records.to_text()


def test_a_record_is_a_sequence_of_operations():
    x = tf.Variable(3.0)
    with tf.GradientTape() as tape:
        y = tf.stop_gradient(x * x) + x
    found = tape.records
    assert len(found) == len(found.data.rows) == 3
    assert [row.operation for row in found] == ["mul", "stop_gradient", "add"]
    assert found[-1].name == "y"
    assert [row.number for row in found[:2]] == [1, 2]
    assert not tf.GradientTape().records
    assert [f.code for f in tape.why(tf.stop_gradient(y), x)] == [tape.why(tf.stop_gradient(y), x)[0].code]


def test_every_format_shows_a_record():
    x = tf.Variable(3.0)
    with tf.GradientTape() as tape:
        x * x
    shown = tape.records
    for text in (shown.to_markdown(), shown.to_latex(), shown.to_html(), shown.to_json()):
        assert "mul" in text


def test_an_explanation_of_a_tape():
    x = tf.Variable(3.0)
    with tf.GradientTape() as tape:
        u = x**2
        y = u * tf.sin(x)
    e = tape.explain(y, x)
    s = sp.Symbol("x", real=True)
    assert sp.simplify(e.gradient - sp.diff(s**2 * sp.sin(s), s)) == 0
    assert [row.name for row in e.tape] == ["x", "v1", "u", "y"] or "u" in [row.name for row in e.tape]
    assert e.check().ok
    g = tape.gradient(y, x)
    assert np.isclose(g.numpy(), e.gradient_values["x"], rtol=1e-6)
    assert g.explain().gradient == e.gradient


def test_constants_go_by_the_names_that_the_user_has_for_them():
    w, b = tf.Variable([1.0, 2.0]), tf.Variable(0.1)
    data = tf.constant([[1.0, 2.0], [3.0, 5.0]])
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(tf.linalg.matvec(data, w) * b)
    e = tape.explain(loss, [w, b])
    assert e.wrt == ("w", "b")
    assert "data" in e.program.inputs
    assert np.allclose(e.gradient_values["w"], [0.4, 0.7])
    assert e.program.point["b"] == 0.1  # as it was written, not as float32 has it


def test_a_variable_that_was_assigned_to_has_two_names():
    v = tf.Variable(2.0)
    with tf.GradientTape() as tape:
        a = v**2
        v.assign(10.0)
        y = a * v
    e = tape.explain(y, v)
    assert len(e.wrt) == 2
    assert sum(e.gradient_values.values()) == tape.gradient(y, v).numpy() == 2 * 2 * 10 + 4


def test_a_convention_of_tensorflow_is_named():
    x = tf.Variable(0.0)
    with tf.GradientTape() as tape:
        y = tf.maximum(x, 0.0)
    assert "TensorFlow's convention" in str(tape.explain(y, x))
    x.assign(1.0)
    with tf.GradientTape() as tape:
        y = tf.maximum(x, 0.0)
    assert "TensorFlow's convention" not in str(tape.explain(y, x))


def test_where_no_path_leads_there_is_nothing_to_explain():
    x, z = tf.Variable(2.0), tf.Variable(3.0)
    with tf.GradientTape() as tape:
        y = x * x
    with pytest.raises(ArgumentError, match="no path"):
        tape.explain(y, z)
    with pytest.raises(ArgumentError, match="only a gradient"):
        y.explain()


def test_a_custom_gradient_has_no_formula():
    @tf.custom_gradient
    def f(x):
        return x * x, lambda dy: dy

    x = tf.Variable(2.0)
    with tf.GradientTape() as tape:
        y = f(x)
    with pytest.raises(ArgumentError, match="f has a custom gradient"):
        tape.explain(y, x)


def test_branches_of_the_program_are_conditions():
    x = tf.Variable(2.0)
    with tf.GradientTape() as tape:
        y = x * x if x > 1.0 else x
    e = tape.explain(y, x)
    assert [c.truth for c in e.program.conditions] == [True]


def test_the_graph():
    x = tf.Variable(2.0)
    with tf.GradientTape() as tape:
        tf.sin(x) * x
    assert [n.op.name for n in tape.graph] == ["variable", "sin", "mul"]


def test_second_derivatives_are_explained_too():
    x = tf.Variable(2.0)
    with tf.GradientTape() as outer:
        with tf.GradientTape() as inner:
            y = x**3
        g = inner.gradient(y, x)
    e = outer.explain(g, x)
    assert e.gradient_values["x"] == 12.0


def test_a_long_record_is_no_recursion():
    w = tf.Variable(1.0)
    with tf.GradientTape() as tape:
        h = tf.constant(1.0)
        for _ in range(2000):
            h = w * h
    assert tape.gradient(h, w).numpy() == 2000.0
    assert len(tape.graph) == 2002


@pytest.mark.parametrize("value", [1.5, [1.5, 2.0]])
def test_the_seed_of_an_inner_tape_is_no_factor_of_the_formula(value):
    x = tf.Variable(value)
    with tf.GradientTape() as outer:
        with tf.GradientTape() as inner:
            y = x**3 * tf.exp(x)
        g = inner.gradient(y, x)
    text = outer.explain(g, x).to_text()
    assert "y = x**3*exp(x) + exp(x)*3*x**2" in text


def test_factors_of_1_that_the_user_wrote_stay():
    x = tf.Variable(2.0)
    with tf.GradientTape() as tape:
        y = 1.0 * x**2
    assert "y = 1*x**2" in tape.explain(y, x).to_text()


def test_complex_numbers_have_no_formula_and_an_error_of_our_own():
    z = tf.Variable(1.0 + 2.0j)
    with tf.GradientTape() as tape:
        y = tf.abs(z) ** 2
    with pytest.raises(ArgumentError, match="complex"):
        tape.explain(y, z)


def test_objects_of_the_user_are_not_asked_for_attributes():
    class Trap:
        @property
        def value(self):
            raise AssertionError

    trap, x = Trap(), tf.Variable(3.0)
    with tf.GradientTape() as tape:
        y = x * x
    assert trap
    assert tape.explain(y, x)["x"].text == "2*x"
    assert len(tape.records) == 1
