"""Findings name what a formula does not say."""

import math

import numpy as np
import pytest

import gradexplain as gx
from gradexplain.autodiff import sweep
from gradexplain.exposition.findings import MOST_OF_A_KIND, find
from tests.exposition.programs import traced


def findings(function, *args, wrt=None):
    program = traced(function, *args)
    names = list(program.inputs) if wrt is None else wrt
    return find(program, names, sweep(program.output, [program.inputs[n] for n in names]))


def texts(function, *args):
    return [f.text for f in findings(function, *args)]


def branch(x):
    if x > 0:
        return x**2
    return -x


def test_branches_taken():
    (found,) = findings(branch, -1.0)
    assert (found.kind, found.text) == ("branch", "x > 0 is False: the formula holds only there")
    assert found.place.text == "if x > 0:"


def test_many_branches_are_counted():
    def f(x):
        for k in range(20):
            if x > k / 100:
                x = x * 1.01
        return x

    found = findings(f, 1.0)
    assert len(found) == MOST_OF_A_KIND + 1
    assert found[-1].text == "and 15 more of this kind"


@pytest.mark.parametrize(
    ("function", "text"),
    [
        (lambda x: abs(x), "abs(x) has a kink here (x = 0: slopes -1 and 1, 0 is taken)"),
        (lambda x: np.maximum(x, 0) * 2, "maximum(x, 0) has a kink here"),
        (lambda x: np.floor(x) * x, "floor(x) is exactly at a jump (jumps at the integers)"),
        (lambda x: np.hypot(x, x), "hypot(x, x) is the length of a zero vector"),
    ],
)
def test_kinks_at_the_point(function, text):
    (found,) = [f for f in findings(function, 0.0) if f.kind == "kink"]
    assert found.text.startswith(text)
    assert found.place is not None


def test_no_kink_beside_the_point():
    assert texts(lambda x: abs(x) + np.floor(x) + np.clip(x, 0, 1), 0.5) == []


def test_kinks_in_arrays_are_counted():
    (found,) = findings(lambda x: np.sum(abs(x)), np.array([0.0, 1.0, 0.0]))
    assert "at 2 of 3 entries" in found.text


def test_arguments_without_influence():
    assert texts(lambda x, y: x * 2, 1.0, 2.0) == ["y does not appear: its derivative is 0"]
    (text,) = texts(lambda x: np.floor(x) * 2, 0.5)
    assert text == "x appears only inside floor(x), which is constant between its jumps: its derivative is 0"


def test_infinite_slopes():
    (text,) = texts(lambda x: math.sqrt(x), 0.0)
    assert text == "sqrt(x) has slope inf at x = 0"


def test_zero_times_infinity_names_both():
    (text, *_) = texts(lambda x: np.sqrt(x) * np.sin(np.sqrt(x)), 0.0)
    assert text == "0 times infinity: sqrt(x) has slope inf at x = 0, its user has slope 0"


def test_values_that_are_not_finite():
    (text, *_) = texts(lambda x: np.sin(x) / x, 0.0)
    assert text == "sin(x)/x = 0/0 has no finite value"


def codes(function, *args):
    return [f.code for f in explained(function, *args)]


def explained(function, *args):
    return gx.why(function, *args).data


def test_a_kink_that_nothing_comes_back_to_does_not_matter():
    assert "kink" not in codes(lambda x: x * abs(x), 0.0)
    assert "kink" in codes(lambda x: (x + 1) * abs(x), 0.0)
    assert (
        codes(lambda S: np.sum(np.exp(S - np.max(S)) / np.sum(np.exp(S - np.max(S))) * np.arange(2.0)), np.zeros(2))
        == []
    )


def test_kinks_have_the_slopes_of_the_whole_program():
    (found,) = explained(lambda x: 3 * abs(x), 0.0)
    assert found.factor == "in x the result has slope -3 on the left and 3 on the right, 0 is taken"


def test_the_factors_of_a_path_are_those_of_the_chain_rule():
    found = explained(lambda x: 3 * np.sqrt(x**2 + 1) ** 2 * np.maximum(x, 0), -2.0)
    assert [f.code for f in found] == ["flat-side"]  # and not also the product, whose factor is 0 for that
    assert [w.text for w in found[0].path] == ["x", "v6 = maximum(x, 0)", "y = 3*sqrt(x**2 + 1)**2*v6"]
    assert [w.factor for w in found[0].path] == [None, 0.0, pytest.approx(15.0)]
    assert [w.is_culprit for w in found[0].path] == [False, True, False]


def test_a_factor_that_is_0_is_traced_to_where_it_begins_to_be():
    def dead(w, x):
        return w * (2 * np.maximum(x - 5, 0))

    (found,) = gx.why(dead, 3.0, 2.0, wrt="w").data
    assert (found.code, found.place.line) == ("flat-side", dead.__code__.co_firstlineno + 1)
    assert "since maximum(x - 5, 0) is flat there: x - 5 is on its flat side" in found.text
    assert not gx.why(dead, 3.0, 6.0, wrt="w").data
    advice = [
        explained(lambda x: x * 0.0, 2.0),
        gx.why(lambda x, m: x * m, 2.0, 0.0, wrt="x").data,
        gx.why(lambda w, x: w * np.sin(x - 2), 3.0, 2.0, wrt="w").data,
    ]
    assert [[f.code for f in found] for found in advice] == [["zero-factor"]] * 3
    fixes = [found[0].fix for found in advice]
    assert fixes[0] == "take the constant factor 0 out, if x is to have an influence"
    assert "weights that are all 0" in fixes[1]
    assert fixes[2].startswith("look at x - 2, which is 0 here")


def test_units_that_are_dead_in_all_rows_are_told():
    X = np.array([[1.0, 2.0], [2.0, 1.0]])

    def net(W, V):
        return np.sum(np.maximum(X @ W, 0) @ V)

    dead, alive = np.array([[1.0, -1.0], [1.0, -1.0]]), np.array([[1.0, -1.0], [1.0, 1.0]])
    V = np.array([[1.0], [2.0]])
    for wrt in "W", "V":
        (found,) = gx.why(net, dead, V, wrt=wrt).data
        assert (found.code, found.argument) == ("flat-in-part", wrt)
        assert "1 of 2 units" in found.text
        assert "(index 1)" in found.text
        assert not gx.why(net, alive, V, wrt=wrt).data  # that unit is flat in one of two rows
    assert "flat-in-part" not in codes(lambda W: np.sum(np.maximum(X @ W, 0) * X[0] * 0), dead)  # nothing arrives


def test_a_dead_unit_is_not_blamed_for_entries_that_are_0_for_another_reason():
    def f(x, y):
        return x[0] ** 2 + np.sum(np.maximum(y, 0))

    x, y = np.ones(2), np.array([-1.0, 1.0])
    assert "flat-in-part" not in [f.code for f in gx.why(f, x, y, wrt="x").data]
    assert "flat-in-part" in [f.code for f in gx.why(f, x, y, wrt="y").data]


def test_a_long_path_keeps_its_ends_and_the_culprit():
    def f(x):
        for _ in range(20):
            x = x + 1
        x = np.maximum(x, 100.0)
        for _ in range(20):
            x = x + 1
        return x

    (found,) = explained(f, 1.0)
    assert len(found.path) < 15
    assert sum(w.skipped for w in found.path) + sum(not w.skipped for w in found.path) == 42
    assert [w.factor for w in found.path if w.is_culprit] == [0.0]


def test_of_two_results_of_a_branch_the_one_not_taken_is_named():
    (found,) = explained(lambda x, y: x if x > 0 else y, 1.0, 2.0)[1:]
    assert (found.code, found.argument) == ("other-branch", "y")
    assert "x > 0" in found.place.text


def test_an_argument_that_only_decides():
    found = explained(lambda x, y: y if x > 1 else 2 * y, 3.0, 1.0)
    assert [(f.code, f.argument) for f in found if f.argument] == [("flat-only", "x")]


def test_a_difference_that_is_rounded_to_zero():
    (found,) = [f for f in explained(lambda z: -np.log(1 - 1 / (1 + np.exp(-z))), 40.0) if f.kind == "undefined"]
    assert "is 4.25e-18: rounding made it 0" in found.text
    assert found.code == "rounded-to-zero"


def test_the_first_bad_entry_of_an_array_is_named():
    (found,) = explained(lambda x: np.sum(1 / x), np.array([1.0, 2.0, 0.0]))[:1]
    assert found.text == "1/x[2] = 1/0 has no finite value"


def test_the_simplified_formula_may_be_finite():
    (found,) = [f for f in explained(lambda x: x * np.sqrt(x), 0.0) if f.kind == "undefined"]
    assert "the simplified formula is finite here: 0" in found.ruled_out


def test_a_matrix_without_an_inverse():
    program = traced(lambda X: np.linalg.slogdet(X)[1], np.zeros((2, 2)))
    found = find(program, ["X"], sweep(program.output, list(program.inputs.values())))
    assert [f.code for f in found] == ["undefined-value"]


def test_nothing_to_say():
    assert texts(lambda x: x**2 * np.sin(x), 1.0) == []


def test_a_sum_that_is_too_large():
    (found,) = explained(lambda x: np.sum(x) * 0.5, np.full(3, 1e308))
    assert (found.code, found.text) == ("overflow", "sum(x, axis=0) = inf is more than a float holds")


def test_branches_are_worded_as_the_source_has_them():
    def f(x):
        u = x * x
        if u > 2:
            return 3 * u
        return max(x, 0) + 0.5

    def texts(x):
        return [one.text for one in explained(f, x) if one.code == "branch"]

    assert texts(2.0) == ["u > 2 is True"]
    assert texts(1.0) == ["u > 2 is False", "max(x, 0) takes x"]
    assert texts(-1.0) == ["u > 2 is False", "max(x, 0) takes 0"]
    (border,) = [one for one in explained(f, 0.0) if one.code == "branches-meet"]
    assert border.text.startswith("max(x, 0) is decided exactly on its border")


def test_where_branches_meet_a_path_reads_like_python():
    def f(x):
        if x > 2:
            return x * x
        return x

    (found,) = [one for one in explained(f, 2.0) if one.code == "branches-jump"]
    assert found.path[-1].text == "y = x*x if x > 2 else x"
    (found,) = explained(lambda x: np.where(x > 2, x * x, 1.0), 1.0)
    assert found.path[-1].text.startswith("y = where(x > 2, ")  # which is what that source has
