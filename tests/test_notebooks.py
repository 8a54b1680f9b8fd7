"""The notebooks run from the first cell to the last, with the code of their answers, and are stored without output."""

import json
import re
import textwrap
from pathlib import Path

import pytest

from gradexplain.render.mathml import mathml

NOTEBOOKS = sorted((Path(__file__).parents[1] / "notebooks").glob("*.ipynb"))
CODE = re.compile(r"^ *```python\n(.*?)^ *```$", re.MULTILINE | re.DOTALL)

pytestmark = pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)


def source(cell):
    return "".join(cell["source"])


def test_every_cell_runs(path):
    nbclient = pytest.importorskip("nbclient")
    nbformat = pytest.importorskip("nbformat")
    pytest.importorskip("ipykernel")
    notebook = nbformat.read(path, as_version=4)
    for answer in CODE.findall(source(notebook.cells[-1])):
        notebook.cells.append(nbformat.v4.new_code_cell(textwrap.dedent(answer)))
    nbclient.NotebookClient(notebook, timeout=300, kernel_name="python3").execute(cwd=str(path.parent))
    for cell in notebook.cells:
        for output in cell.get("outputs", ()):
            assert output.output_type != "error"
            assert output.get("name") != "stderr", output.text


def test_it_is_stored_clean_and_ends_with_answers_that_are_folded(path):
    notebook = json.loads(path.read_text(encoding="utf-8"))
    assert notebook["metadata"]["kernelspec"]["name"] == "python3"
    assert all(not c["outputs"] and c["execution_count"] is None for c in notebook["cells"] if c["cell_type"] == "code")
    last = source(notebook["cells"][-1])
    assert last.startswith("<details>\n<summary>Answers</summary>\n\n")
    assert len(CODE.findall(last)) >= 2


def test_formulas_of_the_text_can_be_typeset_on_the_site(path):
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    text = "\n".join(source(cell) for cell in cells if cell["cell_type"] == "markdown")
    formulas = re.findall(r"\$([^$]+)\$", text)
    assert len(formulas) >= 5
    assert [f for f in formulas if mathml(f) is None] == []


def test_the_first_screen_shows_something(path):
    first, second = json.loads(path.read_text(encoding="utf-8"))["cells"][:2]
    assert (first["cell_type"], second["cell_type"]) == ("markdown", "code")
    assert len(source(first)) < 800
