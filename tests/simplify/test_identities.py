"""Every identity that a step may use is one, and is applied only where the other formula asks for it."""

import mpmath as mp
import pytest
import sympy as sp

from gradexplain.simplify.identities import IDENTITIES, angles_of, opened
from gradexplain.simplify.numeric import value

x, y = sp.symbols("x y", real=True)
SAMPLES = [
    sp.sin(2 * x), sp.cos(2 * x), sp.sinh(2 * x), sp.cosh(2 * x), sp.cos(x) ** 2, sp.cos(x) ** 5, sp.sin(x) ** -4,
    sp.sin(x) ** 3, sp.tan(x), sp.cot(x), sp.sec(x), sp.csc(x), sp.tanh(x), sp.coth(x), sp.sech(x), sp.csch(x),
    sp.cosh(x) ** 2, sp.sinh(x) ** 4, sp.sin(x + y), sp.cos(x + y), x * sp.sign(x), sp.Abs(x), sp.sign(x) ** 3,
    sp.sign(1 - x),
    sp.log(x * y), sp.log(x**3 * y, evaluate=False), sp.sqrt(x * y, evaluate=False), sp.sqrt(1 - (2 * x - 1) ** 2),
    sp.exp(y * sp.log(x), evaluate=False), sp.sin(x * (x + 1)), sp.sinh(x), sp.cosh(x), sp.tanh(x),
]  # fmt: skip


@pytest.mark.parametrize("row", IDENTITIES, ids=lambda row: row.name)
def test_identities_hold(row):
    found = [opened(e, [row], {x, y}) for e in SAMPLES]
    used = [(e, f) for e, f in zip(SAMPLES, found, strict=True) if f.uses]
    assert used, "no sample uses it"
    with mp.workdps(30):
        for at in ({"x": mp.mpf("0.31"), "y": mp.mpf("0.7")}, {"x": mp.mpf("0.83"), "y": mp.mpf("0.12")}):
            for expr, (result, uses) in used:
                assert mp.almosteq(value(expr, at), value(result, at), 1e-25), (expr, result)
                assert all(mp.almosteq(value(a, at), value(b, at), 1e-25) for _, a, b in uses), uses


def test_angles_are_opened_only_for_the_other_formula():
    (double,) = [i for i in IDENTITIES if i.name == "double angle"]
    assert opened(sp.sin(2 * x), [double], angles_of(sp.cos(x))).uses
    assert opened(sp.sin(2 * x), [double], angles_of(sp.cos(2 * x))).uses == ()
