"""JSON: every kind of value, any depth, and the same characters in every process."""

import enum
import json
import math
import os
import subprocess
import sys
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any

import mpmath
import numpy as np
import pytest
import sympy as sp

from gradexplain.render import json_

from .sample import HOSTILE, SAMPLE, hostile_document

X = sp.Symbol("x")


class Verdict(enum.Enum):
    PASS = "pass"
    FAIL = 2


@dataclass(frozen=True)
class Row:
    name: str
    value: object = None
    _cache: dict[str, int] = field(default_factory=dict)


class Bare:
    pass


class Broken:
    def __str__(self) -> str:
        raise RuntimeError


# fmt: off
VALUES: list[tuple[Any, Any]] = [
    (None,                             None),
    (True,                             True),
    (np.True_,                         True),
    (3,                                3),
    (np.int64(3),                      3),
    (0.1,                              0.1),
    (np.float32(0.5),                  0.5),
    (np.longdouble(0.5),               0.5),
    (math.nan,                         "nan"),
    (-math.inf,                        "-inf"),
    (np.float64("inf"),                "inf"),
    (1 - 2j,                           {"complex": [1.0, -2.0]}),
    (np.complex64(1j),                 {"complex": [0.0, 1.0]}),
    (complex(0, math.inf),             {"complex": [0.0, "inf"]}),
    (Fraction(-1, 3),                  {"fraction": [-1, 3]}),
    (10**4000,                         {"hex": hex(10**4000)}),
    ("é\x1b\ud800",                    "é\x1b\ud800"),
    (np.array(2.5),                    2.5),
    (np.array([[1.0, np.nan]]),        [[1.0, "nan"]]),
    (np.zeros((0, 2)),                 []),
    (np.array([[1, 2]]),               [[1, 2]]),
    (np.array([0.1], dtype=np.float32), [float(np.float32(0.1))]),
    (np.array([0.5], dtype=np.longdouble), [0.5]),
    (np.array([X, None]),              [{"text": "x", "latex": "x"}, None]),
    ((1, [2, ()]),                     [1, [2, []]]),
    ({3, 1, 2},                        [1, 2, 3]),
    (frozenset({"b", "a"}),            ["a", "b"]),
    ({"b": 1, "a": 2, 3: 4, X: 5},     {"b": 1, "a": 2, "3": 4, "x": 5}),
    (Verdict.PASS,                     "pass"),
    (Verdict.FAIL,                     "FAIL"),
    (mpmath.mpf(1) / 4,                {"mpf": "0.25"}),
    (mpmath.mpf("-inf"),               "-inf"),
    (mpmath.mpc(1, 2),                 {"complex": [{"mpf": "1.0"}, {"mpf": "2.0"}]}),
    (X**2 / 2,                         {"text": "x**2/2", "latex": r"\frac{x^{2}}{2}"}),
    (sp.Matrix([[X]]),                 {"text": "Matrix([[x]])", "latex": r"\left[\begin{matrix}x\end{matrix}\right]"}),
    (Row("a"),                         {"type": "Row", "name": "a", "value": None}),
    (Row,                              {"type": "type", "name": "Row"}),
    (math.sin,                         {"type": "builtin_function_or_method", "name": "sin"}),
    (np,                               {"type": "module", "name": "numpy"}),
    (Bare(),                           {"type": "Bare", "text": f"<{__name__}.Bare object>"}),
    (Broken(),                         {"type": "Broken", "text": "<Broken>"}),
]
# fmt: on


@pytest.mark.parametrize(("value", "expected"), VALUES)
def test_values_have_one_form_each(value: object, expected: object) -> None:
    assert json.loads(json_.dumps([value])) == {"schema": 2, "value": [expected]}


@pytest.mark.filterwarnings("ignore:the matrix subclass")
def test_numpy_matrices_are_arrays() -> None:
    assert json_.dumps(np.asmatrix([[1, 2]])) == '{"schema": 2, "value": [[1, 2]]}'


def test_mpmath_numbers_keep_all_digits() -> None:
    with mpmath.workdps(40):
        for number in (mpmath.mpf(1) / 3, mpmath.mpf("1e400"), -mpmath.pi * mpmath.mpf(2) ** -5000):
            digits = json.loads(json_.dumps([number]))["value"][0]["mpf"]
            assert mpmath.mpf(digits) == number


def test_records_stand_on_the_top_level() -> None:
    inner = {"type": "Row", "name": "b", "value": None}
    assert json.loads(json_.dumps(Row("a", Row("b")))) == {"schema": 2, "type": "Row", "name": "a", "value": inner}


def test_documents_are_records_too() -> None:
    assert json.loads(json_.dumps(SAMPLE))["blocks"][0]["type"] == "Paragraph"
    for hostile in HOSTILE:
        assert json.loads(json_.dumps(hostile_document(hostile)))["title"] == hostile


def test_output_is_ascii() -> None:
    assert json_.dumps(SAMPLE).isascii()


def test_depth_is_no_problem() -> None:
    row = Row("end")
    for _ in range(20_000):
        row = Row("r", row)
    assert json_.dumps(row).count('"type": "Row"') == 20_001


def test_cycles_end() -> None:
    ring: list[object] = [1]
    ring += [ring, ring]
    assert json.loads(json_.dumps([ring, ring]))["value"] == [[1, {"cycle": "list"}, {"cycle": "list"}]] * 2


def test_other_classes_can_have_a_form_of_their_own() -> None:
    class Node:
        pass

    json_.plain.register(Node, lambda node: {"type": "Node", "inputs": [1]})
    assert json_.dumps([Node()]) == '{"schema": 2, "value": [{"type": "Node", "inputs": [1]}]}'


def test_hash_seeds_make_no_difference() -> None:
    program = (
        "import sympy as sp; from gradexplain.render import json_;"
        "x, y = sp.symbols('x y');"
        "print(json_.dumps([{'b', 'a', 'c'}, {x, y, x*y}, x*y + sp.sin(x)*sp.cos(y) + y**2, object()]))"
    )
    outputs = {
        subprocess.run(
            [sys.executable, "-c", program],
            env={**os.environ, "PYTHONHASHSEED": seed},
            cwd=Path(__file__).parents[2],
            capture_output=True,
            check=True,
        ).stdout
        for seed in ("1", "2", "3")
    }
    assert len(outputs) == 1
