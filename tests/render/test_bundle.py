"""The MIME bundle: all types, and none of the renderers' exceptions."""

import logging

import pytest

from gradexplain.render import bundle
from gradexplain.render.blocks import Document

from .sample import HOSTILE, SAMPLE, hostile_document


def fail(document: Document) -> str:
    raise RecursionError(document.title)


def test_a_bundle_has_text_markdown_and_latex() -> None:
    assert list(bundle.mimebundle(SAMPLE)) == ["text/plain", "text/markdown", "text/latex"]


@pytest.mark.parametrize("hostile", HOSTILE)
def test_no_type_has_escape_sequences(hostile: str) -> None:
    assert not any("\x1b" in written for written in bundle.mimebundle(hostile_document(hostile)).values())


def test_a_format_that_fails_is_logged_and_left_out(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setitem(bundle.FORMATS, "text/markdown", fail)
    monkeypatch.setitem(bundle.FORMATS, "text/latex", fail)
    with caplog.at_level(logging.ERROR, logger="gradexplain"):
        assert list(bundle.mimebundle(SAMPLE)) == ["text/plain"]
    assert [record.getMessage() for record in caplog.records] == [
        "could not write an explanation as text/markdown",
        "could not write an explanation as text/latex",
    ]


def test_there_is_plain_text_even_if_everything_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    for kind in bundle.FORMATS:
        monkeypatch.setitem(bundle.FORMATS, kind, fail)
    assert bundle.mimebundle(SAMPLE) == {"text/plain": "an explanation that could not be printed (see the log)"}
