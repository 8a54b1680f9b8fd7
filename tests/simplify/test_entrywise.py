"""Small arrays that a program takes apart are explained entry by entry; everything else is not."""

import numpy as np
import pytest

import gradexplain as gx
from gradexplain.simplify.entrywise import MOST_ENTRIES, entries, is_suitable, source_names
from tests.exposition.programs import traced
from tests.simplify.comparing import numpy_value

V = np.array([1.5, 0.7, 2.0])
M = np.array([[1.0, 2.0], [3.0, 4.0]])

CASES = [  # program, arguments, text of the derivative with respect to the first
    (lambda x: x[0] ** 2 + x[1], [V], "[2*x0, 1, 0]"),
    (lambda x: x[0] * x[1] * x[2], [V], "[x1*x2, x0*x2, x0*x1]"),
    (lambda x: np.exp(x[0]) * np.sum(x), [V], None),
    (lambda x, a: a * x[0] / x[2], [V, 2.0], "[a/x2, 0, -a*x0/x2**2]"),
    (lambda A: A[0, 0] * A[1, 1] - A[0, 1] * A[1, 0], [M], "[[A1_1, -A1_0], [-A0_1, A0_0]]"),
    (lambda x: np.maximum(x[0], x[1]) + x[2], [V], "[1 if x0 > x1 else 0, 0 if x0 > x1 else 1, 1]"),
    (lambda x: np.where(x[0] > 1, x[1], x[2]), [V], "[0, 1 if x0 > 1 else 0, 0 if x0 > 1 else 1]"),
    (lambda x: np.dot(x, x) * x[0], [V], None),
    (lambda x: (x[0] if x[1] > 0 else x[2]) * 3, [V], None),
]


@pytest.mark.parametrize(("function", "arguments", "text"), CASES)
def test_gradients(function, arguments, text):
    e = gx.explain(function, *arguments)
    key = next(iter(e.gradients))
    if text is not None:
        assert e[key].text == text
    point = dict(zip(("x" if key == "x" else "A", "a"), arguments, strict=False))
    np.testing.assert_allclose(numpy_value(e[key], point), e.gradient_values[key], rtol=1e-12)


def test_jacobians():
    e = gx.explain_jacobian(lambda x: np.array([x[0] ** 2, np.sin(x[1])]), V)
    assert e["x"].text == "[[2*x0, 0, 0], [0, cos(x1), 0]]"
    assert e["x"].shape == (2, 3)
    np.testing.assert_allclose(numpy_value(e["x"], {"x": V}), e.gradient_values["x"])


def test_hessians():
    e = gx.explain_hessian(lambda x: x[0] ** 2 * x[1], np.array([1.5, 0.7]))
    assert e["x"].text == "[[2*x1, 2*x0], [2*x0, 0]]"


def test_names_of_entries_do_not_hide_arguments():
    e = gx.explain(lambda x, x0: x[0] * x0 + x[1] ** 2, V[:2], 3.0)
    np.testing.assert_allclose(e.gradient_values["x"], [3.0, 1.4])
    assert e["x"].text == "[x0, 2*x1]"
    assert e["x0"].text == "x[0]"


def test_one_entry_of_ten():
    assert source_names(traced(lambda x: x[0], V)) == {"x0": "x[0]", "x1": "x[1]", "x2": "x[2]"}


@pytest.mark.parametrize(
    ("function", "argument"),
    [
        (lambda x: np.sum(x**2), V),  # nothing is taken out by index
        (lambda x: x[0] * 2, np.ones(MOST_ENTRIES + 1)),
        (lambda x: x * 2, 3.0),
        (lambda x: np.sum(x[1:] ** 2), V),
    ],
)
def test_other_programs_are_left_to_matrix_notation(function, argument):
    program = traced(function, argument)
    assert not is_suitable(program, program.output)


def test_operations_on_whole_arrays_of_symbols_give_way():
    program = traced(lambda x: np.linalg.norm(x) * x[0], V)
    assert entries(program, program.output) is None or gx.explain(lambda x: np.linalg.norm(x) * x[0], V)["x"].numpy


JOINED = {
    "any": lambda a: np.any(a > 1) * a[0] * a[1],
    "all": lambda a: np.where(np.all(a > 0) | (a[0] > 3), a[0] * a[1], a[0]),
    "along an axis": lambda a: np.sum(np.any(np.stack([a > 1, a < -1]), axis=0)) * a[0] ** 2,
    "of numbers": lambda a: np.any(np.maximum(a, 0)) * a[0] ** 2,
    "counted": lambda a: np.count_nonzero(a > 0) * a[0] * a[1],
    "numbers counted": lambda a: np.count_nonzero(np.maximum(a, 0)) * a[0] * a[1],
}


@pytest.mark.parametrize("name", JOINED)
@pytest.mark.parametrize("point", [[1.5, -2.0, 0.5], [0.5, 0.7, 3.0], [-1.3, -0.5, -2.0], [4.0, -0.5, 0.5]])
def test_entries_that_are_taken_apart_are_asked_one_by_one(name, point):
    f = JOINED[name]
    slope = gx.grad(f)(np.array(point))
    assert np.allclose(numpy_value(gx.explain(f, a=np.array([2.0, -1.0, 5.0]))["a"], {"a": point}), slope)
    assert gx.check(f, np.array(point), gradient=slope).ok


def test_a_program_that_also_adds_up_an_array_is_in_matrix_notation():
    a = np.array([0.5, -1.0, 2.0, 0.3, 1.5, -0.7])
    e = gx.explain_hessian(lambda a: np.var(a) / (1 + a[0] ** 2), a)
    assert e["a"].level == "matrix notation"
    np.testing.assert_allclose(numpy_value(e["a"], {"a": a}), e.gradient_values["a,a"])
    few = gx.explain(lambda x: np.sum(x) * x[0], np.array([1.0, 2.0]))["x"]
    assert few.level == "element-wise"
