"""Nodes: sharing, constants, broadcasting, walks."""

import gc
import pickle
from fractions import Fraction

import numpy as np
import pytest

from gradexplain.errors import NotTraceableError, ShapeError
from gradexplain.graph import (
    TABLE,
    Fixed,
    ancestors,
    as_node,
    constant,
    depends_on,
    is_scalar_constant,
    make,
    operators,
    substitute,
    variable,
)
from gradexplain.ops.elementary import sin
from gradexplain.ops.ordering import floor, greater
from gradexplain.ops.reductions import sum_over


def test_the_same_operation_is_the_same_node():
    x, y = variable("x"), variable("y")
    assert x * y is x * y
    assert sin(x) is sin(x)
    assert sin(x) is not sin(y)
    assert variable("x") is not variable("x")
    v = variable("v", (2, 3))
    assert sum_over(v, axis=(0,), keepdims=False) is sum_over(v, axis=(0,), keepdims=False)
    assert sum_over(v, axis=(0,), keepdims=False) is not sum_over(v, axis=(1,), keepdims=False)
    assert v[np.array([0, 1])] is v[[0, 1]]


def test_nodes_that_nobody_holds_are_freed():
    x = variable("x")
    number = sin(x).index
    gc.collect()
    assert sin(x).index > number


def test_constants():
    assert constant(2) is constant(2.0) is constant(np.int64(2)) is constant(np.array(2.0))
    assert constant(True) is not constant(1)
    assert constant(Fraction(1, 3)).data == Fraction(1, 3)
    assert constant([1.0, 2.0]) is constant(np.array([1.0, 2.0]))
    assert (constant([1, 2]).kind, constant([True]).kind, constant([1.5]).kind) == ("int", "bool", "float")
    assert constant(float("nan")).data != constant(float("nan")).data
    for wrong in ("a", None, 1j, [1j], object()):
        with pytest.raises(NotTraceableError, match="can't take part in a derivative"):
            constant(wrong)


def test_constant_arrays_are_never_written_to():
    array = np.array([1.0, 2.0])
    node = constant(array)
    array[0] = 5.0
    assert node.data.array.tolist() == [1.0, 2.0]
    with pytest.raises(ValueError, match="read-only"):
        node.data.array[0] = 3.0
    assert Fixed([1]) == Fixed([1])
    assert Fixed([1]) != Fixed([1.0])
    assert hash(Fixed([1])) == hash(Fixed([1]))


def test_operators_fold_and_record_does_not():
    x = variable("x")
    assert x * 1 is x
    assert x + 0 is x
    assert (x * 0).data == 0
    assert TABLE["mul"].record(x, 1).op is TABLE["mul"]
    assert (constant(1) / 3).data == Fraction(1, 3)


def test_operands_are_broadcast_explicitly():
    v, a = variable("v", (3,)), variable("a", (2, 3))
    node = TABLE["add"].record(v, a)
    assert node.inputs[0].op.name == "broadcast_to"
    assert node.shape == (2, 3)
    assert TABLE["mul"].record(a, 2).inputs[1].shape == ()  # no cotangent goes to a number
    with pytest.raises(ShapeError, match=r"shapes \(3,\) and \(4,\) do not broadcast"):
        v + variable("w", (4,))


def test_conditions_become_numbers_in_arithmetic():
    x = variable("x")
    node = greater(x, 0) * x
    assert {n.op.name for n in ancestors([node])} == {"variable", "constant", "greater", "as_number", "mul"}


def test_walks():
    x, y = variable("x"), variable("y")
    a = sin(x)
    b = a * y + a
    order = ancestors([b])
    assert order[0] is x
    assert order[-1] is b
    assert len(order) == len(set(order)) == 5
    positions = {n: i for i, n in enumerate(order)}
    assert all(positions[n] < positions[m] for m in order for n in m.inputs)
    assert depends_on(order, [y]) == {y, a * y, b}
    assert depends_on(ancestors([floor(x)]), [x]) == {x}


def test_substitution_shares_what_stays():
    x, y, z = variable("x"), variable("y"), variable("z")
    kept = sin(y)
    (new,) = substitute([x * kept], {x: z})
    assert new is z * kept
    assert substitute([kept], {x: z}) == [kept]


def test_questions():
    v = variable("v", (2, 3))
    assert (v.ndim, v.size, v.T.shape, v[0].shape) == (2, 6, (3, 2), (3,))
    assert as_node(v) is v
    assert is_scalar_constant(constant(2), 2)
    assert not is_scalar_constant(constant(2), 3)
    assert is_scalar_constant(operators["broadcast_to"](constant(2), (3,)))
    assert not is_scalar_constant(constant([1.0]))
    assert repr(sin(variable("x"))).startswith("<sin #")


def test_rows_are_pickled_by_name():
    for row in (TABLE["sin"], TABLE["getitem"]):
        assert pickle.loads(pickle.dumps(row)) is row


def test_make_and_operators():
    x = variable("x")
    assert make(TABLE["sin"], (x,), {}) is sin(x)
    for left, right in ((2 - x, -(x - 2)), (2 / x, 2 * (1 / x)), (2**x, operators["pow"](2, x)), (1 + x, x + 1)):
        assert left.shape == right.shape == ()
    a = variable("a", (2, 2))
    assert (constant(np.eye(2)) @ a).shape == (2, 2)
