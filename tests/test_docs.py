"""The documentation shows what the program does: consoles are run, links lead somewhere, generated pages are current.

Python examples in README.md and docs/*.md are doctests; pytest collects them by itself.
"""

import importlib.util
import inspect
import re
from pathlib import Path

import pytest

from gradexplain import errors

ROOT = Path(__file__).parents[1]
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def tool(name):
    """A script of docs/ as a module."""
    spec = importlib.util.spec_from_file_location(name, ROOT / "docs" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


CONSOLES = tool("consoles")
PAGES = CONSOLES.PAGES


def sessions():
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        for command, output in CONSOLES.sessions(text):
            yield pytest.param(text, command, output, id=f"{page.name}: {command[:60]}")


@pytest.mark.parametrize(("text", "command", "expected"), list(sessions()))
def test_consoles_show_what_the_command_prints(text, command, expected):
    assert CONSOLES.printed(command, text) == expected, "if the new output is right, run docs/consoles.py"


def test_there_are_consoles():
    assert len(list(sessions())) >= 5


def test_the_table_of_derivatives_is_up_to_date():
    generator = tool("table_of_derivatives")
    assert generator.PAGE.read_text(encoding="utf-8") == generator.page(), "run docs/table_of_derivatives.py"


def test_the_page_of_findings_is_up_to_date(recwarn):
    generator = tool("findings")
    assert generator.PAGE.read_text(encoding="utf-8") == generator.page(), "run docs/findings.py"


def test_the_pictures_are_up_to_date():
    drawn = tool("pictures")
    for name, picture in drawn.pictures().items():
        found, expected = (drawn.FOLDER / name).read_text(encoding="utf-8"), picture.to_svg()
        if name == "error.svg":  # round-off is not the same on every machine
            found, expected = (re.sub(r"-?\d+(\.\d+)?(e-\d+)?", "#", text) for text in (found, expected))
        assert found == expected, f"{name}: run docs/pictures.py"


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
        other = (page.parent / file).resolve() if file else page
        if other.is_relative_to(ROOT / "docs" / "notebooks"):  # where the site has them
            other = ROOT / "notebooks" / other.name
        assert other.exists(), target
        assert not anchor or anchor in anchors(other), target


def test_every_page_and_notebook_is_in_the_index():
    index = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    trees = re.findall(r"^```\{toctree\}\n(?:^:[^\n]*\n)*\n(.*?)^```$", index, re.MULTILINE | re.DOTALL)
    listed = [entry for tree in trees for entry in tree.split()]
    pages = [str(p.relative_to(ROOT / "docs").with_suffix("")) for p in PAGES[1:]]
    notebooks = [f"notebooks/{p.stem}" for p in (ROOT / "notebooks").glob("*.ipynb")]
    assert sorted(["index", *listed]) == sorted([*pages, *notebooks])


def test_every_error_has_an_entry():
    text = (ROOT / "docs" / "errors.md").read_text(encoding="utf-8")
    sources = "".join(p.read_text(encoding="utf-8") for p in (ROOT / "gradexplain").rglob("*.py"))
    classes = [n for n, c in vars(errors).items() if inspect.isclass(c) and issubclass(c, (Exception, Warning))]
    used = [n for n in classes if re.search(rf"(raise|return|warn\(\w+,) {n}\b", sources)]
    assert {n for n in used if f"## {n}\n" not in text} == set()
    assert len(used) > 8


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
