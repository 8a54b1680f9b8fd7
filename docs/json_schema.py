"""The JSON Schema of what `to_json` writes, made from the records themselves.

`python docs/json_schema.py` writes `gradexplain/render/schema.json`; a test compares the file with what the records
are now. What is no record of this package may have any form: a formula is an object with its text and LaTeX.
"""

from __future__ import annotations

import dataclasses
import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from gradexplain import errors
from gradexplain.exposition import model
from gradexplain.render import blocks, json_
from gradexplain.simplify import form, rewrite

TARGET = Path(__file__).parents[1] / "gradexplain" / "render" / "schema.json"
_LEFT_OUT = {"Gap", "NumberedStep"}  # of blocks: what stands for what is left out
_WRITTEN = ("Overview", "Derivation", "ImplicitDerivation", "Sweep", "CheckReport", "Walk")  # on their own
_PLAIN: dict[Any, dict[str, Any]] = {
    str: {"type": "string"},
    int: {"type": ["integer", "object"]},  # a huge one is {"hex": …}
    bool: {"type": "boolean"},
    float: {"anyOf": [{"type": "number"}, {"enum": ["nan", "inf", "-inf"]}, {"type": "object"}]},
    type(None): {"type": "null"},
}


def records() -> dict[str, type]:
    """The records by name."""
    found: dict[str, type] = {}
    for module in (blocks, model, errors, form, rewrite):
        kinds = [kind for kind in vars(module).values() if isinstance(kind, type) and dataclasses.is_dataclass(kind)]
        found |= {k.__name__: k for k in kinds if k.__module__ == module.__name__ and k.__name__ not in _LEFT_OUT}
    return dict(sorted(found.items()))


def of_hint(hint: Any, known: Mapping[str, type]) -> dict[str, Any]:
    """The schema of a type; {} for one that may have any form."""
    origin, arguments = get_origin(hint), get_args(hint)
    if origin is Literal:
        return {"enum": list(arguments)}
    if origin in (Union, UnionType):
        options = [of_hint(argument, known) for argument in arguments]
        return {} if {} in options else {"anyOf": options}
    if origin is tuple:
        if len(arguments) == 2 and arguments[1] is ...:
            return {"type": "array", "items": of_hint(arguments[0], known)}
        return {"type": "array", "prefixItems": [of_hint(a, known) for a in arguments], "items": False}
    if origin in (Sequence, list):
        return {"type": "array", "items": of_hint(arguments[0], known)}
    if origin in (Mapping, dict):
        return {"type": "object", "additionalProperties": of_hint(arguments[1], known)}
    if isinstance(hint, type) and known.get(hint.__name__) is hint:
        return {"$ref": f"#/$defs/{hint.__name__}"}
    return _PLAIN.get(hint, {})


def of_record(kind: type, known: Mapping[str, type]) -> dict[str, Any]:
    """The schema of a record: its type and the fields that are written."""
    hints = get_type_hints(kind)
    names = [f.name for f in dataclasses.fields(kind) if f.repr and not f.name.startswith("_")]
    properties = {"type": {"const": kind.__name__}, **{n: of_hint(hints[n], known) for n in names}}
    if kind is rewrite.Rewrite:  # written with what is known of it when it is asked
        properties = {n: properties[n] for n in ("type", "rule", "before", "after", "terms")}
        properties["evidence"] = {"type": "string"}
    return {"type": "object", "properties": properties, "required": list(properties)}


def schema() -> dict[str, Any]:
    """The schema of a file."""
    known = records()
    document = {"$ref": "#/$defs/Document"}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$comment": "made by docs/json_schema.py",
        "title": "An explanation of gradexplain",
        "type": "object",
        "properties": {"schema": {"const": json_.SCHEMA}, "document": document, "screen": document},
        "required": ["schema", "document", "screen"],
        "anyOf": [{"required": ["type"]}, {"required": ["value"]}],
        "allOf": [
            {
                "if": {"properties": {"type": {"const": name}}, "required": ["type"]},
                "then": {"$ref": f"#/$defs/{name}"},
            }
            for name in _WRITTEN
        ],
        "$defs": {name: of_record(kind, known) for name, kind in known.items()},
    }


def written() -> str:
    """The schema as it is shipped."""
    return json.dumps(schema(), indent=1) + "\n"


if __name__ == "__main__":
    TARGET.write_text(written(), encoding="utf-8")
    sys.stdout.write(f"{TARGET}\n")
