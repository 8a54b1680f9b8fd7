"""The shipped JSON Schema: made from the records as they are, and true of what is written."""

import importlib.util
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gradexplain as gx
from gradexplain.render import json_

ROOT = Path(__file__).parents[2]
_spec = importlib.util.spec_from_file_location("json_schema", ROOT / "docs" / "json_schema.py")
assert _spec is not None
assert _spec.loader is not None
json_schema = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(json_schema)

FUNCTIONS: dict[str, Any] = {
    "formula": lambda: gx.explain("x**2*sin(x)/(1 + x)", x=3),
    "open": lambda: gx.explain("abs(x)*y"),
    "undefined": lambda: gx.explain("sqrt(x)", x=0),
    "arrays": lambda: gx.explain(lambda w: np.sum(w**2), w=np.ones(3)),
    "orders": lambda: gx.explain("x*y", order=2),
    "equation": lambda: gx.explain("x**2 + y**2 = 25", x=3, y=4),
}


def test_the_file_is_that_of_the_records() -> None:
    shipped = (ROOT / "gradexplain" / "render" / "schema.json").read_text(encoding="utf-8")
    assert shipped == json_schema.written(), "run python docs/json_schema.py"


@pytest.fixture(scope="module")
def errors() -> Any:
    jsonschema = pytest.importorskip("jsonschema")
    jsonschema.Draft202012Validator.check_schema(json_schema.schema())
    validator = jsonschema.Draft202012Validator(json_schema.schema())
    return lambda text: [error.message for error in validator.iter_errors(json.loads(text))]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_what_is_written_validates(name: str, errors: Any) -> None:
    e = FUNCTIONS[name]()
    styles = [e.derivation(style=style) for style in ("textbook", "reverse", "forward")]
    for shown in (e, *styles, e.derivation(detail="full"), e.check(), e.why(), e.stepper()):
        assert errors(shown.to_json()) == []


@pytest.mark.parametrize(
    ("change", "wrong"),
    [
        (lambda data: data.update(schema=json_.SCHEMA - 1), "was expected"),
        (lambda data: data.pop("document"), "'document' is a required property"),
        (lambda data: data.pop("forms"), "'forms' is a required property"),
        (lambda data: data["check"].update(ok="yes"), "is not valid under any of the given schemas"),
        (
            lambda data: data["document"]["blocks"][0].update(type="Script"),
            "is not valid under any of the given schemas",
        ),
    ],
)
def test_what_is_something_else_does_not(change: Any, wrong: str, errors: Any) -> None:
    data = json.loads(gx.explain("x**2", x=3).to_json())
    change(data)
    assert any(wrong in message for message in errors(json.dumps(data)))
