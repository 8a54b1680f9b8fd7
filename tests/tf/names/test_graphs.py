"""tf.function, tf.gradients, and the operations of a graph."""

from __future__ import annotations

import numpy as np
import pytest

from gradexplain import tf


def test_a_function_is_differentiated_as_a_whole():
    @tf.function
    def df(x):
        with tf.GradientTape() as t:
            y = x**4
        return t.gradient(y, x)

    x = tf.Variable(2.0)
    with tf.GradientTape() as t:
        g = df(x)
    assert g.numpy() == 32.0
    assert t.gradient(g, x).numpy() == 48.0
    assert df(tf.constant(2.0)) is None


def test_a_tape_from_outside_records_nothing_for_the_inside():
    x = tf.Variable(2.0)

    @tf.function
    def f():
        return tape.gradient(x * x, x)

    with tf.GradientTape(persistent=True) as tape:
        assert f() is None


def test_gradients_only_inside():
    with pytest.raises(RuntimeError, match="GradientTape"):
        tf.gradients(tf.constant(1.0), tf.constant(1.0))

    @tf.function
    def f(x):
        y, z = x * x, 3.0 * x
        return tf.gradients([y, z], x), tf.gradients(y, x, grad_ys=10.0), tf.gradients(y * z, x, stop_gradients=[z])

    both, scaled, stopped = f(tf.constant(2.0))
    assert [g.numpy() for g in (*both, *scaled, *stopped)] == [7.0, 40.0, 24.0]


def test_hessians():
    @tf.function
    def f(x):
        return tf.hessians(x[0] ** 2 * x[1] + x[1] ** 3, x)

    assert f(tf.constant([1.0, 2.0]))[0].numpy().tolist() == [[4.0, 2.0], [2.0, 12.0]]


def operations(function, *args):
    return function.get_concrete_function(*args).graph.get_operations()


def test_operations_of_a_power():
    @tf.function
    def f(x):
        with tf.GradientTape() as tape:
            y = x**2
        return tape.gradient(y, x)

    ops = {op.name: op for op in operations(f, tf.Variable(3.0))}
    assert list(ops) == [
        "x", "ReadVariableOp", "pow/y", "pow", "ones", "gradient_tape/pow/mul", "gradient_tape/pow/sub/y",
        "gradient_tape/pow/sub", "gradient_tape/pow/Pow", "gradient_tape/pow/mul_1", "Identity",
    ]  # fmt: skip
    values = {name: op.values()[0].value for name, op in ops.items() if name != "x"}
    assert values["gradient_tape/pow/mul"] == 2.0
    assert values["gradient_tape/pow/Pow"] == 3.0
    assert values["gradient_tape/pow/mul_1"] == 6.0
    assert ops["gradient_tape/pow/mul"].formula == "ones*2"


def test_operations_of_a_product_of_matrices():
    @tf.function
    def f(a, b):
        y = tf.matmul(tf.sin(a), b)
        return tf.gradients(y, [a, b])

    ops = operations(f, tf.Variable(np.ones((2, 2), "f4")), tf.Variable(np.ones((2, 1), "f4")))
    listed = {op.name: (op.type, op.attributes) for op in ops if op.name.startswith("gradients/")}
    assert listed["gradients/MatMul_grad/MatMul"] == ("MatMul", {"transpose_b": True})
    assert listed["gradients/MatMul_grad/MatMul_1"] == ("MatMul", {"transpose_a": True})
    assert listed["gradients/Sin_grad/Cos"][0] == "Cos"
    assert listed["gradients/Sin_grad/mul"][0] == "Mul"


def test_second_derivatives_have_both_prefixes():
    @tf.function
    def f(x):
        with tf.GradientTape() as t2:
            with tf.GradientTape() as t1:
                y = x**3
            g = t1.gradient(y, x)
        return t2.gradient(g, x)

    names = [op.name for op in operations(f, tf.Variable(5.0))]
    assert any(n.startswith("gradient_tape/gradient_tape/pow/") for n in names)
    assert len(set(names)) == len(names)


def test_specs_stand_for_values():
    class Spec:
        shape, dtype = (None, 2), tf.float32

    @tf.function
    def f(x):
        return tf.reduce_sum(x * x)

    graph = f.get_concrete_function(Spec()).graph
    assert [op.type for op in graph.get_operations()] == ["Placeholder", "Mul", "Sum", "Identity"]
    assert "Sum" in str(graph)


def test_control_flow():
    x = tf.Variable(2.0)
    with tf.GradientTape(persistent=True) as t:
        a = tf.cond(x > 1.0, lambda: x * x, lambda: x)
        b = tf.switch_case(tf.constant(1), [lambda: x, lambda: x**3])
        _, c = tf.while_loop(lambda i, _: i < 3, lambda i, v: (i + 1, v * x), [tf.constant(0), tf.constant(1.0)])
        d = tf.case([(x < 0.0, lambda: x)], default=lambda: 5.0 * x)
        array = tf.TensorArray(tf.float32, size=2)
        array = array.write(0, x).write(1, x * x)
        e = tf.reduce_sum(array.stack())
    assert [t.gradient(y, x).numpy() for y in (a, b, c, d, e)] == [4.0, 12.0, 12.0, 5.0, 5.0]


def test_datasets_cut():
    x = tf.Variable([1.0, 2.0, 3.0])
    with tf.GradientTape() as t:
        total = tf.constant(0.0)
        for batch in tf.data.Dataset.from_tensor_slices(x).batch(2):
            total += tf.reduce_sum(batch)
    assert total.numpy() == 6.0
    assert t.gradient(total, x) is None
