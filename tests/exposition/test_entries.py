"""Small arrays that are taken apart have a derivation for each entry; others have reverse mode."""

import math

import numpy as np
import pytest

import gradexplain as gx
from gradexplain.exposition.model import Differentials, Entrywise
from tests.exposition.invariants import checked, faults


def rosenbrock(x):
    return (1 - x[0]) ** 2 + 100 * (x[1] - x[0] ** 2) ** 2


def decay(p, t):
    a, b = p
    return a * math.exp(-b * t)


@pytest.mark.parametrize("detail", ["brief", "full"])
@pytest.mark.parametrize(
    ("function", "arguments", "expected"),
    [
        (rosenbrock, (np.array([0.3, 0.7]),), {"x0": "2*x0 - 400*x0*(x1 - x0**2) - 2", "x1": "200*(x1 - x0**2)"}),
        (decay, (np.array([1.0, 2.0]), 0.5), {"p0": "exp(-p1*t)", "p1": "-p0*t*exp(-p1*t)"}),
    ],
)
def test_every_entry_is_derived(function, arguments, expected, detail):
    e = gx.explain(function, *arguments)
    found = e.derivation(detail=detail)
    assert isinstance(found.data, Entrywise)
    shown = found.to_text(120)
    entries = [float(v) for a in arguments for v in np.ravel(a)]
    names = [*expected, *(n for n in e.whole.inputs if n == "t")]
    for derivation, (name, formula) in zip(found.data.derivations, expected.items(), strict=True):
        assert derivation.variable == name
        assert f"dy/d{name} = {formula}" in shown or f"= {formula}" in shown
        points = [dict(zip(names, [v * s for v in entries], strict=True)) for s in (1.0, 1.1, 0.9)]
        assert checked(derivation, points)[1] == []
        assert faults(derivation) == []


def test_rules_are_stated_once_over_all_entries():
    shown = gx.explain(rosenbrock, np.array([0.3, 0.7])).derivation(detail="full").to_text()
    assert shown.count("(c*f)' = c*f'") == 1
    assert "x1 is held constant." in shown


def test_of_many_entries_the_first_are_derived():
    shown = str(gx.explain(lambda x: x[0] ** 2 + x[7] * x[1], np.arange(8.0)).derivation())
    assert "2 more entries are derived alike." in shown


def test_whole_arrays_are_not_taken_apart():
    assert isinstance(gx.explain(lambda w: np.sum(w**2), np.ones(3)).derivation().data, Differentials)


@pytest.mark.parametrize("width", [40, 80, 200])
def test_every_format(width):
    found = gx.explain(rosenbrock, np.array([0.3, 0.7])).derivation()
    assert found.to_text(width).isascii()
    assert found.to_text(width, unicode=True)
    assert found.to_latex()
    assert found.to_markdown()
    assert found.to_html()
    assert "Entrywise" in found.to_json()


def test_entries_that_are_not_used_have_a_derivation_too():
    e = gx.explain(lambda M: M[1, 1], np.arange(9.0).reshape(3, 3))
    assert "dy/dM1_1 = 1" in str(e.derivation(detail="full"))
