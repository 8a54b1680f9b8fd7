"""The documentation shows what the program does: consoles are run, links lead somewhere, generated pages are current.

Python examples in README.md and docs/*.md are doctests; pytest collects them by itself.
"""

import importlib.util
import inspect
import re
import shlex
from pathlib import Path

import pytest

from gradexplain import errors
from gradexplain.cli import main

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def blocks(page, language):
    return [body for name, body in FENCE.findall(page.read_text(encoding="utf-8")) if name == language]


def sessions():
    """Every command in a console block, with what the page says that it prints."""
    for page in PAGES:
        for block in blocks(page, "console"):
            for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
                command, _, output = part.partition("\n")
                yield pytest.param(page, command, output, id=f"{page.name}: {command[:60]}")


def files(page):
    """The files that a page shows: Python blocks that begin with a comment that is a file name."""
    for block in blocks(page, "python"):
        found = re.match(r"# (\w+\.py)\n", block)
        if found:
            yield found[1], block


@pytest.mark.parametrize(("page", "command", "expected"), sessions())
def test_consoles_show_what_the_command_prints(page, command, expected, capsys, monkeypatch, tmp_path):
    for name, text in files(page):
        (tmp_path / name).write_text(text, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    program, *arguments = shlex.split(command)
    assert program == "gradexplain", "only this program is run"
    main(arguments)
    printed = capsys.readouterr()
    assert lines(printed.err + printed.out) == lines(expected)


def lines(text):
    return [line.rstrip() for line in text.strip().splitlines()]


def test_there_are_consoles():
    assert len(list(sessions())) >= 5


def test_the_table_of_derivatives_is_up_to_date():
    spec = importlib.util.spec_from_file_location("table_of_derivatives", ROOT / "docs" / "table_of_derivatives.py")
    generator = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(generator)
    assert generator.PAGE.read_text(encoding="utf-8") == generator.page(), "run docs/table_of_derivatives.py"


def anchors(page):
    headings = re.findall(r"^#+ (.+)$", re.sub(FENCE, "", page.read_text(encoding="utf-8")), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", h).strip().lower().replace(" ", "-") for h in headings}


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_links_lead_somewhere(page):
    text = re.sub(FENCE, "", page.read_text(encoding="utf-8"))
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if target.startswith("http"):
            continue
        file, _, anchor = target.partition("#")
        other = (page.parent / file) if file else page
        assert other.exists(), target
        assert not anchor or anchor in anchors(other), target


def test_every_page_is_in_the_index():
    index = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    for page in PAGES[1:]:
        assert page.name == "index.md" or f"({page.name})" in index


def test_every_error_has_an_entry():
    text = (ROOT / "docs" / "errors.md").read_text(encoding="utf-8")
    classes = [n for n, c in vars(errors).items() if inspect.isclass(c) and issubclass(c, (Exception, Warning))]
    assert {n for n in classes if f"## {n}\n" not in text} == set()


def test_terms_are_defined_once():
    terms = re.findall(r"^\*\*([^*]+)\*\*", (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert len(terms) > 20
    assert len(set(terms)) == len(terms)
    assert terms == sorted(terms, key=str.casefold)


def test_the_readme_has_one_line_that_runs_the_tests():
    found = re.findall(r"^python3 .*pytest.*$", (ROOT / "README.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert len(found) == 1
    assert found[0].startswith("python3 -m venv .venv && ")
    assert found[0].endswith(".venv/bin/python -m pytest")


def test_pages_name_no_place_of_one_machine():
    for page in PAGES:
        assert not re.search(r"/(work|tmp|home|root)/", page.read_text(encoding="utf-8")), page.name
