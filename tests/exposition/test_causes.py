"""Every cause of the catalogue: found in its example, absent in the near twin, and said in every format."""

import importlib.util
import json
import re
import warnings
from pathlib import Path
from string import Formatter

import pytest

import gradexplain as gx
from gradexplain.exposition.causes import CAUSES, finding
from gradexplain.exposition.findings import about
from gradexplain.render.display import Display

ROOT = Path(__file__).parents[2]


def _examples():
    spec = importlib.util.spec_from_file_location("findings_page", ROOT / "docs" / "findings.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


PAGE = _examples()


def found_in(expression):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", gx.errors.TraceWarning)
        return PAGE.findings_of(expression)


def test_every_cause_has_an_example():
    assert PAGE.EXAMPLES.keys() == CAUSES.keys()


@pytest.mark.parametrize("code", CAUSES)
def test_the_cause_is_found(code):
    found = [f for f in found_in(PAGE.EXAMPLES[code][0]) if f.code == code]
    assert found
    assert found[0].kind == CAUSES[code].kind
    assert found[0].text
    assert found[0].fix or code == "branch"


@pytest.mark.parametrize("code", CAUSES)
def test_the_near_twin_does_not_have_it(code):
    assert code not in [f.code for f in found_in(PAGE.EXAMPLES[code][1])]


@pytest.mark.parametrize("code", CAUSES)
def test_no_place_of_a_sentence_is_left_open(code):
    for one in found_in(PAGE.EXAMPLES[code][0]):
        for text in (one.text, one.fix, one.factor, *one.ruled_out):
            assert not re.search(r"\{[a-z_]+\}", text)
            assert "None" not in text


@pytest.mark.parametrize("code", CAUSES)
def test_every_format_says_it(code):
    found = found_in(PAGE.EXAMPLES[code][0])
    shown = Display(found)
    for written in (shown.to_text(), shown.to_markdown(), shown.to_html(), shown.to_latex(standalone=True)):
        assert code in written or code == "branch"  # which needs no explanation
    saved = gx.from_json(shown.to_json())
    assert str(saved) == str(shown)
    assert [f.code for f in saved.data] == [f.code for f in found]
    record = json.loads(shown.to_json())["value"][0]
    assert {"code", "path", "factor", "ruled_out", "fix"} <= record.keys()


def test_codes_are_words_and_do_not_change():
    assert all(re.fullmatch(r"[a-z]+(-[a-z]+)*", code) for code in CAUSES)
    stable = {"unused", "flat-only", "saturated", "zero-times-infinity", "infinite-slope", "kink", "not-watched"}
    assert stable <= CAUSES.keys()


def test_a_sentence_needs_its_values():
    with pytest.raises(KeyError):
        finding("saturated")
    places = {name for _, name, _, _ in Formatter().parse(CAUSES["saturated"].sentence) if name}
    assert places == {"formula", "point", "slope"}


def test_findings_about_one_argument():
    found = gx.explain(lambda x, y, z: x * 0.0 + np_floor(y), 1.0, 2.5, 3.0).why("z").data
    assert [f.code for f in found] == ["unused"]
    assert about([finding("unused", name="x"), finding("unused", name="y")], "y,y")[0].argument == "y"


def np_floor(y):
    import numpy as np

    return np.floor(y)
