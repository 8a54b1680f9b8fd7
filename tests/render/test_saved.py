"""JSON and back: the same renderings, the same data, and an error for whatever is something else."""

import json
from typing import Any

import numpy as np
import pytest

import gradexplain as gx
from gradexplain.errors import ArgumentError
from gradexplain.render import json_
from gradexplain.render.blocks import Document
from gradexplain.render.saved import Record, Saved, from_json

from .sample import SAMPLE


def loss(w: Any) -> Any:
    return np.sum((w - 1) ** 2)


EXPLANATIONS = {
    "formula": lambda: gx.explain("x**2*sin(x)", x=3),
    "open": lambda: gx.explain("x**2*sin(x)"),
    "arrays": lambda: gx.explain(loss, w=np.array([1.0, 2.0])),
    "undefined": lambda: gx.explain("sqrt(x)", x=0),
    "orders": lambda: gx.explain("exp(x*y)", order=2),
    "equation": lambda: gx.explain("x**2 + y**2 = 25", x=3, y=4),
    "derivation": lambda: gx.explain("x**2*sin(x)").derivation(detail="full"),
    "reverse": lambda: gx.explain("x**2*sin(x)", x=3).derivation(style="reverse"),
    "check": lambda: gx.check("x**3", 5.0, gradient=74.0),
    "why": lambda: gx.why("x + 0*y", x=1, y=2),
}


@pytest.mark.parametrize("name", EXPLANATIONS)
def test_renderings_are_the_same(name: str) -> None:
    e = EXPLANATIONS[name]()
    saved = from_json(e.to_json())
    assert str(saved) == str(e)
    assert saved.to_html() == e.to_html()
    assert saved.to_latex(standalone=True) == e.to_latex(standalone=True)
    assert saved._repr_mimebundle_() == e._repr_mimebundle_()


@pytest.mark.parametrize("name", EXPLANATIONS)
def test_data_are_the_same(name: str) -> None:
    text = EXPLANATIONS[name]().to_json()
    saved = from_json(text)
    assert saved.to_json() == text
    assert saved == from_json(text)
    assert hash(saved) == hash(from_json(text))


def test_what_was_computed_can_be_looked_up() -> None:
    saved = from_json(EXPLANATIONS["formula"]().to_json())
    assert saved["x"].expr.latex.startswith("x \\left(2 \\sin")
    assert saved.value == pytest.approx(1.27008, rel=1e-5)
    assert saved.gradient_values["x"] == saved.data.check.rows[0].claimed
    assert saved.data.tape[1].place is None
    assert repr(saved) == "<saved: x**2*sin(x)>"
    with pytest.raises(ArgumentError, match="no derivative 'z'"):
        saved["z"]
    with pytest.raises(AttributeError, match="no nonsense; it has name, title"):
        _ = saved.data.nonsense


def test_arrays_are_tuples() -> None:
    assert from_json(EXPLANATIONS["arrays"]().to_json()).gradient_values == {"w": (0.0, 2.0)}


def test_every_block_comes_back() -> None:
    text = json_.dumps([], document=SAMPLE)
    assert from_json(text).document == SAMPLE
    assert from_json(text).screen == SAMPLE


def _changed(**members: Any) -> str:
    return json.dumps({"schema": json_.SCHEMA, "document": {"type": "Document", "title": "t", "blocks": []}, **members})


def _with_block(block: Any) -> str:
    return _changed(document={"type": "Document", "title": "t", "blocks": [block]})


# fmt: off
BROKEN = [
    ("",                                                       "it is no JSON"),
    ("[" * 100_000,                                            "it is no JSON"),
    ("[]",                                                     "it has no document"),
    ('{"schema": 2}',                                          "it has no document"),
    (_changed(schema=1),                                       "its schema is 1; 2 is read"),
    (_changed(document=[]),                                    "Document should be"),
    (_changed(document={"type": "Section"}),                   "Document should be"),
    (_changed(document={"type": "Document", "title": "t"}),    "fields of a Document"),
    (_with_block({"type": "Script", "text": "x"}),             "'Script' stands where Heading or"),
    (_with_block({"type": "Heading", "line": [], "level": 7}), "7 stands where"),
    (_with_block({"type": "Heading", "line": [], "level": True}), "True stands where"),
    (_with_block({"type": "Steps", "items": [], "ordered": 1}), "1 stands where"),
    (_with_block({"type": "Paragraph", "line": "text"}),       "'text' stands where"),
    (_with_block({"type": "CodeBlock", "text": 3, "language": ""}), "3 stands where"),
    (_with_block(None),                                        "None stands where"),
]
# fmt: on


@pytest.mark.parametrize(("text", "why"), BROKEN)
def test_anything_else_is_an_error_that_says_why(text: str, why: str) -> None:
    with pytest.raises(ArgumentError, match="this is no explanation in JSON") as caught:
        from_json(text)
    assert why in str(caught.value)


def test_records_are_compared_by_what_they_hold() -> None:
    assert Record("Row", {"n": 1}) == Record("Row", {"n": 1}) != Record("Row", {"n": 2})
    assert Saved(1, Document("a"), Document("a")) != Saved(1, Document("b"), Document("a"))
