"""Values, first and second derivatives that TensorFlow 2.21 (Keras 3.15) gave, recorded once: recorded.jsonl.

A line has a snippet, which leaves its results in `r`, and what `r` was there: [type, entries] for a tensor. Left out is
what TensorFlow fails at itself, such as the second derivative of softsign.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from gradexplain import tf

LINES = (Path(__file__).parent / "recorded.jsonl").read_text(encoding="utf-8").splitlines()
CASES = [json.loads(line) for line in LINES]


def plain(value):
    """The results as they were recorded."""
    if value is None or isinstance(value, (str, bool, int, float)):
        return value
    if isinstance(value, (list, tuple)):
        return [plain(v) for v in value]
    array = np.asarray(value.numpy() if hasattr(value, "numpy") else value)
    if not hasattr(value, "numpy"):
        return array.tolist()
    if array.dtype.kind == "c":
        return [str(array.dtype), array.real.tolist(), array.imag.tolist()]
    return [str(array.dtype), array.tolist()]


def same(mine, theirs):
    if isinstance(theirs, list):
        return isinstance(mine, list) and len(mine) == len(theirs) and all(map(same, mine, theirs))
    if isinstance(mine, float) or (isinstance(theirs, float) and mine is not None):
        return bool(np.isclose(mine, float(theirs), rtol=3e-4, atol=3e-5, equal_nan=True))
    return mine == theirs


@pytest.mark.parametrize("case", CASES, ids=[c["id"] for c in CASES])
def test_recorded(case):
    space = {"tf": tf, "np": np}
    exec(case["source"], space)
    found = plain(space["r"])
    assert same(found, case["r"]), (found, case["r"])


def test_something_is_compared():
    assert not same([1.0, 2.0], [1.0, 2.1])
    assert not same(None, [1.0])
    assert not same(["float32", [0.0]], None)
