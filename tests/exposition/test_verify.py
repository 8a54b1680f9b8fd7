"""No right derivative is rejected and no wrong one accepted, at the points where difference quotients fail."""

import math
from dataclasses import replace

import numpy as np
import pytest
import sympy as sp

import gradexplain as gx
from gradexplain.exposition import verify
from tests.exposition.programs import traced

HARD = [  # function, point
    (lambda x: x**2, 1e10),
    (lambda x: x**3, 1e100),
    (lambda x: x**2, 1e-10),
    (lambda x: np.sin(x), 1e-300),
    (lambda x: np.sin(x), 1e10),
    (lambda x: np.log(x), 1e-300),
    (lambda x: np.log(x), 1e-8),
    (lambda x: np.exp(x), 300.0),
    (lambda x: np.exp(-x), 700.0),
    (lambda x: 1 / (1 + np.exp(-x)), -40.0),
    (lambda x: np.tanh(x), 15.0),
    (lambda x: np.sin(1e6 * x), 1.0),
    (lambda x: np.sin(1 / x), 1.1e-6),
    (lambda x: abs(x), 1e-300),
    (lambda x: abs(x), -1e-12),
    (lambda x: np.sqrt(x), 1e-12),
    (lambda x: np.sqrt(x + 1) - np.sqrt(x), 1e8),
    (lambda x: (1 - np.cos(x)) / x**2, 1e-4),
    (lambda x: np.log(1 + x), 1e-12),
    (lambda x: x**7 - 7 * x**6 + 21 * x**5 - 35 * x**4 + 35 * x**3 - 21 * x**2 + 7 * x - 1, 1.001),
    (lambda x: np.float32(np.sin(np.float32(x))), 1.0),
    (lambda x: np.maximum(x, 1.0) * x, 1.0000001),
    (lambda x: np.arccos(x), 0.9999999),
    (lambda x: x**2 + np.sin(3 * x), 1.7),
    (lambda x: math.erf(x), 5.0),
    (lambda x: 1e-30 * x + 1e-30 * x**2, 1.0),
    (lambda x: 1e200 * np.sin(x), 2.0),
    (lambda x: (1 - np.cos(x)) / x**2, 1e-8),
    (lambda x: (np.exp(x) - 1) / x, 1e-9),
]


@pytest.mark.parametrize(("f", "x"), HARD)
def test_right_derivatives_pass_and_wrong_claims_do_not(f, x):
    e = gx.explain(f, x)
    assert e.check().ok
    slope = e.gradient_values["x"]
    lost = any("float64 loses" in note for note in e.check().data.notes)
    assert e.check(gradient=slope).ok or lost
    assert [k for k in (-1, 1.001, 2, 0, 0.999) if e.check(gradient=slope * k).ok] == []
    assert not e.check(gradient=math.nan).ok
    assert not e.check(gradient=math.inf).ok


KINKS = [  # function, point, what is accepted, what is not
    (lambda x: abs(x), 0.0, [0.0, 0.5, -1.0], [1.1, -2.0]),
    (lambda x: x * abs(x), 0.0, [0.0], [0.1]),
    (lambda x: x * np.sqrt(x), 0.0, [0.0], [0.1]),
    (lambda x: np.maximum(x, 2 * x), 0.0, [1.5, 1.0, 2.0], [0.9, 2.1]),
    (lambda x: np.sqrt(x), 0.0, [math.inf], [0.0, 1e9]),
    (lambda x: np.floor(x) * 1.0, 2.0, [0.0], [1.0]),
    (lambda x: np.cos(x), 0.0, [0.0], [0.1]),
    (lambda x: 0 * x + 7.25, 2.0, [0.0], [1e-3]),
]


@pytest.mark.parametrize(("f", "x", "right", "wrong"), KINKS)
def test_kinks_edges_and_flat_places(f, x, right, wrong):
    e = gx.explain(f, x)
    assert e.check().ok
    assert [c for c in right if not e.check(gradient=c).ok] == []
    assert [c for c in wrong if e.check(gradient=c).ok] == []


def test_a_kink_is_described():
    (row,) = gx.check(lambda x: abs(x), 0.0).rows
    assert row.verdict == "pass"
    assert "not differentiable here: slope -1.0 from the left, 1.0 from the right; 0 is between" in row.reason


def test_a_rejected_claim_is_described():
    (row,) = gx.check(lambda x: x**2, 3.0, gradient=5.0).rows
    assert (row.verdict, row.claimed) == ("fail", 5.0)
    assert row.quotient == pytest.approx(6.0)
    assert row.reason.startswith("the slope is 6.0")


X = sp.Symbol("x")
CLAIMS = [  # claim, whether it is right, for x**2*y at (3, 2) with respect to x and y
    (lambda e: e.gradient, True),
    (lambda e: sp.Tuple(2 * X * sp.Symbol("y"), X**2), True),
    (lambda e: (12.0, 9.0), True),
    (lambda e: {"x": 12.0, "y": 9.0}, True),
    (lambda e: {"x": 2 * X * 2, "y": lambda x, y: x**2}, True),
    (lambda e: (sp.Integer(12), 9), True),
    (lambda e: (-12.0, 9.0), False),
    (lambda e: {"x": 12.0, "y": 9.009}, False),
    (lambda e: sp.Tuple(2 * X, X**2), False),
    (lambda e: (lambda x, y: 2 * x * y, lambda x, y: x), False),
]


@pytest.mark.parametrize(("claim", "right"), CLAIMS)
def test_claims_of_all_kinds(claim, right):
    e = gx.explain(lambda x, y: x**2 * y, 3.0, 2.0)
    assert e.check(gradient=claim(e)).ok is right


def test_claimed_formulas_in_sympy_and_as_functions():
    e = gx.explain(lambda x: x**2 + np.sin(3 * x), 1.7)
    assert e.check(gradient=e.gradient).ok
    assert not e.check(gradient=e.gradient - 3 * sp.cos(3 * next(iter(e.gradient.free_symbols)))).ok
    assert e.check(gradient=lambda x: 2 * x + 3 * np.cos(3 * x)).ok
    assert not e.check(gradient=lambda x: 2 * x).ok


def test_one_wrong_entry_among_a_thousand_is_found():
    x = np.linspace(1, 2, 1000)
    e = gx.explain(lambda x: 0.5 * np.sum(x * x), x)
    report = e.check()
    assert report.ok
    assert report.data.entries == 1000
    assert "every one is in the sum" in report.data.notes[0]
    wrong = x.copy()
    wrong[637] *= 1.001
    assert e.check(gradient=x).ok
    assert not e.check(gradient=wrong).ok


@pytest.mark.parametrize("n", [1, 3, 20, 21])
def test_every_entry_of_a_small_array_has_its_row(n):
    e = gx.explain(lambda x: np.sum(np.sin(x) * x), np.linspace(0.5, 2, n))
    assert e.check().ok
    assert len(e.check().rows) == (n if n <= verify.MOST_COORDINATES else verify.DIRECTIONS)


def layer(A, b):
    return np.sum(np.tanh(A @ b) ** 2)


A, B = np.array([[0.3, 1.0], [-0.7, 0.2]]), np.array([0.5, -1.0])


def test_arrays_of_several_arguments():
    e = gx.explain(layer, A, B)
    assert e.check().ok
    right = dict(e.gradient_values)
    assert e.check(gradient=right).ok
    assert not e.check(gradient=right | {"b": -right["b"]}).ok
    assert not e.check(gradient=right | {"A": right["A"].T}).ok


@pytest.mark.parametrize("order", [2, 3])
def test_higher_orders_are_checked_against_the_order_below(order):
    assert gx.explain(lambda x: x**4 * np.exp(x), 1.2, order=order).check().ok
    assert gx.explain(lambda x, y: np.sin(x * y) * y, 1.2, 0.7, order=order).check().ok


def test_jacobians_and_hessians():
    assert gx.explain_jacobian(lambda x: np.array([x[0] * x[1], np.exp(x[0])]), B).check().ok
    assert gx.explain_jacobian(lambda x: np.outer(x, x), B).check().ok
    assert gx.explain_hessian(lambda x: np.sum(x**3) * x[0], B).check().ok
    assert gx.explain_hessian(lambda x, y: x**2 * y**3, 1.2, 0.7).check().ok


def test_a_wrong_node_is_found():
    """The derivative of an order is judged by its graph: of x**3 not 2*x but 3*x**2."""
    program = traced(lambda x: x**3, 2.0)
    (x,) = program.inputs.values()
    assert verify.check(program, [verify.Claim("x", 12.0, 3 * x**2)]).ok
    assert not verify.check(program, [verify.Claim("x", 4.0, 2 * x)]).ok
    assert verify.check(program, [verify.Claim("x", 12.0, 6 * x, 3 * x**2)]).ok
    assert not verify.check(program, [verify.Claim("x", 11.9, 5.95 * x, 3 * x**2)]).ok


def test_lost_digits_are_remarked_on():
    (note,) = gx.check(lambda x: np.sqrt(x + 1) - np.sqrt(x), 1e8).data.notes
    assert "the formula for x is right, but float64 loses" in note
    assert gx.check(lambda x: x**2, 3.0).data.notes == ()


def test_a_trace_that_is_not_the_function_is_found():
    """A program that takes traced values for constants has the value of its trace at the point, but another slope."""
    for function, traced_as, x in (
        (lambda x: x * x / 2, lambda x: x, 2.0),
        (np.sin, lambda x: x * np.sin(0.5) / 0.5, 0.5),
    ):
        program = traced(traced_as, x)
        (row,) = verify.check(replace(program, function=function), [verify.Claim("x", traced_as(1.0))]).rows
        assert (row.verdict, row.reason) == ("fail", "the plain function has another slope than its trace")
        assert verify.check(program, [verify.Claim("x", traced_as(1.0))]).ok


def test_samples_stand_for_every_value():
    report = gx.explain(lambda x, y: x**2 * np.log(y)).check()
    assert report.ok
    assert len(report.rows) == 2 * verify.SAMPLED
    assert all(row.name.partition(" at ")[0] in ("x", "y") for row in report.rows)


def test_a_check_is_true_or_false():
    assert gx.check(lambda x: x**2, 3.0)
    assert not gx.check(lambda x: x**2, 3.0, gradient=5.0)
    assert "not passed" in repr(gx.check(lambda x: x**2, 3.0, gradient=5.0))


def test_large_programs_are_checked_by_the_ladder():
    def long(x):
        for _ in range(200):
            x = np.tanh(x) * 1.01
        return np.sum(x)

    report = gx.explain(long, np.linspace(0.1, 1, 400)).check()
    assert {row.verdict for row in report.rows} <= {"pass", "inconclusive"}


def test_a_check_beside_the_result_of_a_long_program_is_one_sum():
    def f(w):
        h = np.array([0.1, 0.2])
        for _ in range(400):
            h = np.tanh(w @ h + 0.1)
        return np.sum(h)

    e = gx.explain(f, w=np.array([[0.5, -0.2], [0.1, 0.4]]))
    assert [row.name for row in e.data.check.rows] == ["direction 1"]
    assert "4 entries agree with difference quotients along a random direction" in " ".join(str(e).split())
    assert [row.name for row in e.check().rows] == ["w[0, 0]", "w[0, 1]", "w[1, 0]", "w[1, 1]"]


S = np.array([[2.0, 0.5, 0.1], [0.5, 1.0, 0.2], [0.1, 0.2, 3.0]])
W = np.arange(9.0).reshape(3, 3)
OF_SYMMETRIC = {
    "cholesky": lambda A: np.sum(np.linalg.cholesky(A) * W),
    "eigenvalues": lambda A: np.sum(np.linalg.eigvalsh(A) * W[0]),
    "eigenvectors": lambda A: np.sum(np.linalg.eigh(A)[1][:, 0] ** 3),
    "beside another use": lambda A: np.sum(np.linalg.cholesky(A)[1]) + np.sum(A * W),
    "of a stack": lambda A: np.sum(np.linalg.cholesky(np.stack([A, A + np.eye(3)])) ** 3),
}


@pytest.mark.parametrize("f", OF_SYMMETRIC.values(), ids=OF_SYMMETRIC)
def test_what_is_meant_for_symmetric_matrices_is_checked_with_both_mirror_images_moved(f):
    report = gx.check(f, S)
    assert report.ok
    assert len(report.rows) == 9
    assert any("mirror image" in note for note in report.data.notes)
    gradient = gx.grad(f)(S)
    for i, j in (0, 1), (1, 0), (2, 2):
        wrong = gradient.copy()
        wrong[i, j] *= 1.01
        assert not gx.check(f, S, gradient=wrong).ok


def test_large_symmetric_matrices_are_checked_along_directions():
    A = 3 * np.eye(6) + 1
    assert gx.check(lambda A: np.sum(np.linalg.cholesky(A) ** 3), A).ok
    assert not gx.check(lambda A: np.sum(A**3), A).data.notes[0].startswith("A is meant")


def test_a_matrix_that_is_made_symmetric_in_the_program_is_moved_entry_by_entry():
    report = gx.check(lambda A: np.sum(np.linalg.cholesky(A @ A.T + np.eye(3)) * W), W)
    assert report.ok
    assert not report.data.notes


def test_random_arrays_are_symmetric_where_a_triangle_is_read():
    e = gx.explain(lambda S: np.max(np.linalg.eigvalsh(S)), S="n n")
    assert e.check().ok
    assert gx.explain(lambda S, x: np.sum(np.linalg.solve(np.linalg.cholesky(S), x) ** 2), S="n n", x="n").check().ok


def test_a_slope_below_the_rounding_of_the_value_is_no_error():
    e = gx.explain(lambda S, w: np.tanh(np.trace(S) ** 2), S="n n", w="n")
    assert e.check().ok
    assert "error" not in str(e)
    assert not gx.check(lambda x: 1e-12 * x, 1.0, gradient=2e-12).ok


def test_unused_arrays_stand_beside_numbers():
    for X in ("m n", (3,), np.ones(3)):
        assert gx.explain(lambda X, c: c**2, X=X)["c"].text == "2*c"
    assert "X does not appear" in str(gx.why(lambda X, c: c**2, X=np.ones(3), c=0.0))
