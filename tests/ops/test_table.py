"""The tests that are generated from the table: every row, at every one of its samples."""

from __future__ import annotations

import importlib.util
from dataclasses import replace

import pytest

from gradexplain.ops import TABLE
from gradexplain.primitive import Code, call

from . import row_checks
from .row_checks import Case


def _missing(package: str) -> bool:
    return bool(package) and importlib.util.find_spec(package) is None


ROWS = [row for row in TABLE.values() if row.family != "leaf"]
CASES = [case for row in ROWS for case in row_checks.cases(row) if not _missing(row.extra)]
SMOOTH = [c for c in CASES if c.row.differentiable]
FLAT = [c for c in CASES if not c.row.differentiable]
WITH_NUMPY = [c for c in CASES if c.row.numpy is not None]
WITH_MATH = [c for c in CASES if c.row.math is not None and c.is_scalar]
WITH_EXACT = [c for c in CASES if c.row.exact is not None]
WITH_SYMBOL = [c for c in CASES if c.row.symbol is not None and c.row.family == "elementwise" and c.is_scalar]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_row_is_complete(row):
    assert row_checks.cases(row), "a row must state samples"
    assert row.numpy is not None
    assert row.rule


@pytest.mark.parametrize("case", CASES, ids=str)
def test_shape(case: Case):
    row_checks.check_shape(case)


@pytest.mark.parametrize("case", WITH_NUMPY, ids=str)
def test_numpy_text(case: Case):
    row_checks.check_numpy_text(case)


@pytest.mark.parametrize("case", WITH_MATH, ids=str)
def test_math_text(case: Case):
    row_checks.check_math_text(case)


@pytest.mark.parametrize("case", WITH_EXACT, ids=str)
def test_exact(case: Case):
    row_checks.check_exact(case)


@pytest.mark.parametrize("case", WITH_SYMBOL, ids=str)
def test_symbol(case: Case):
    row_checks.check_symbol(case)


@pytest.mark.parametrize("case", SMOOTH, ids=str)
def test_vjp(case: Case):
    row_checks.check_vjp(case)


@pytest.mark.parametrize("case", SMOOTH, ids=str)
def test_jvp(case: Case):
    row_checks.check_jvp(case)


@pytest.mark.parametrize("case", SMOOTH, ids=str)
def test_second_order(case: Case):
    row_checks.check_second_order(case)


@pytest.mark.parametrize("case", FLAT, ids=str)
def test_flat(case: Case):
    row_checks.check_flat(case)


# The checks can fail: a row with one fault in it does not pass.

SIN, COS, SUB, LOG, ADD = (TABLE[name] for name in ("sin", "cos", "sub", "log", "add"))
FROZEN_COS = replace(COS, pullback=None, pushforward=None)
FAULTS = {
    "shape": (row_checks.check_shape, replace(SIN, shape=lambda x: (7,))),
    "text, function": (row_checks.check_numpy_text, replace(LOG, numpy=call("np.log2"))),
    "text, operand": (row_checks.check_numpy_text, replace(SUB, numpy=lambda a, b: Code(f"({a} - {b})"))),
    "text, strength": (row_checks.check_numpy_text, replace(SUB, numpy=lambda a, b: Code(f"{a} - ({b})"))),
    "text, plain": (row_checks.check_numpy_text, replace(SIN, numpy=lambda x: f"np.sin({x})")),
    "math": (row_checks.check_math_text, replace(LOG, math=call("math.log2"))),
    "math, array": (row_checks.check_math_text, replace(SIN, math=call("np.sin"))),
    "exact": (row_checks.check_exact, replace(SIN, exact="cos")),
    "symbol": (row_checks.check_symbol, replace(SIN, symbol="cos")),
    "vjp, 0.1 % off": (row_checks.check_vjp, replace(SIN, pullback=lambda i, g, y: 1.001 * g * COS(y.inputs[0]))),
    "vjp, operand": (row_checks.check_vjp, replace(SUB, pullback=lambda i, g, y: g)),
    "vjp, missing": (row_checks.check_vjp, replace(ADD, pullback=lambda i, g, y: None if i else g)),
    "jvp": (row_checks.check_jvp, replace(SIN, pushforward=lambda tangents, y: 1.001 * tangents[0] * COS(y.inputs[0]))),
    "second": (row_checks.check_second_order, replace(SIN, pullback=lambda i, g, y: g * FROZEN_COS(y.inputs[0]))),
    "flat": (row_checks.check_flat, FROZEN_COS),
    "flat, rule": (row_checks.check_flat, SIN),
}


@pytest.mark.parametrize(("check", "row"), FAULTS.values(), ids=FAULTS)
def test_checks_notice_faults(check, row):
    for case in row_checks.cases(row):
        if case.is_scalar or check not in (row_checks.check_math_text, row_checks.check_symbol):
            with pytest.raises(AssertionError):
                check(case)


def test_first_order_does_not_notice_a_frozen_partial():
    """So that the fault above is found by the second order alone."""
    row_checks.check_vjp(row_checks.cases(FAULTS["second"][1])[0])
