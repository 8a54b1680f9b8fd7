"""Notebooks: valid, about the explanation, and their cells compute what it says."""

import json
import math

import numpy as np
import pytest

import gradexplain as gx

SCALE = 2.0


def scaled(x):
    return SCALE * x


def f(x, n=2):
    return scaled(x) ** n * math.sin(x) + np.exp(-x)


def cells(e, kind):
    return ["".join(cell["source"]) for cell in json.loads(e.to_notebook())["cells"] if cell["cell_type"] == kind]


def run(source):
    """The value of the last line of a cell, as a notebook shows it."""
    *statements, last = source.rstrip().split("\n")
    names = {}
    exec("\n".join(statements), names)
    return eval(last, names)


def test_the_first_cell_makes_the_explanation_again():
    e = gx.explain(f, x=3.0)
    call, derivative = cells(e, "code")
    assert call.splitlines()[:3] == ["import gradexplain as gx", "import math", "import numpy as np"]
    assert run(call)["x"].text == e["x"].text
    assert run(derivative) == pytest.approx(e.gradient_values["x"])


@pytest.mark.parametrize(
    ("explained", "call"),
    [
        (lambda: gx.explain("x^2 y", x=2, wrt="x"), "gx.explain(\"x**2*y\", x=2.0, wrt=['x'])"),
        (lambda: gx.explain("sin(x)", order=2), 'gx.explain("sin(x)", order=2)'),
        (lambda: gx.explain_hessian("x**2*y", 1.0, 2.0), 'gx.explain_hessian("x**2*y", x=1.0, y=2.0)'),
        (lambda: gx.explain("x**2 + y**2 = 25", x=3, y=4), "x=3.0, y=4.0, wrt=['x'], of='y')"),
    ],
)
def test_calls_are_written_as_one_would(explained, call):
    e = explained()
    source = cells(e, "code")[0]
    assert call in source
    assert run(source).gradients.keys() == e.gradients.keys()


def test_arrays_are_written_out_while_they_are_small():
    def loss(w, X):
        return np.sum((X @ w) ** 2)

    module = gx.explain(total, w=np.array([1.0, 2.0]))
    assert "w=np.array([1.0, 2.0])" in cells(module, "code")[0]
    assert run(cells(module, "code")[1]) == pytest.approx([2.0, 4.0])
    large = gx.explain(total, w=np.ones(1000))
    assert len(cells(large, "code")) == 1
    assert "def derivative(w):" in cells(large, "code")[0]
    assert len(cells(gx.explain(loss, w=(2,), X=(3, 2)), "code")) == 2


def total(w):
    return np.sum(w**2)


def test_what_can_not_be_copied_is_left_out():
    a = 3.0
    table = {"k": 2.0}
    for function in (lambda x: x * a, lambda x: x * table["k"], lambda x: x * OBJECT.scale, np.sin):
        (source,) = cells(gx.explain(function, x=1.0), "code")
        assert source.startswith("import numpy as np")


class Thing:
    scale = 2.0


OBJECT = Thing()


def uses_object(x):
    return x * OBJECT.scale


def test_functions_that_need_an_object_are_not_copied():
    assert len(cells(gx.explain(uses_object, x=1.0), "code")) == 1


def test_chapters_are_the_sections_of_the_screen():
    texts = cells(gx.explain(f, x=3.0), "markdown")
    assert texts[0].startswith("# f(x, n)")
    assert [text.split("\n")[0] for text in texts[1:-1]] == [
        "## Steps", "## Autodiff", "## Graph", "## Check", "## LaTeX to copy",
    ]  # fmt: skip
    assert "Something to try" in texts[-1]


def test_the_notebook_runs(tmp_path):
    nbformat, nbclient = pytest.importorskip("nbformat"), pytest.importorskip("nbclient")
    pytest.importorskip("ipykernel")
    path = tmp_path / "f.ipynb"
    gx.explain(f, x=3.0).save(path)
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    nbclient.NotebookClient(notebook, timeout=120, kernel_name="python3").execute()
    shown = [output["data"] for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs]
    assert set(shown[0]) == {"text/plain", "text/markdown", "text/latex"}


def test_files_are_written_by_the_endings_of_their_names(tmp_path):
    e = gx.explain("x**2", x=3)
    for ending, begin in [
        (".txt", "x**2"), (".md", "# x"), (".tex", "\\documentclass"), (".html", "<!DOCTYPE"), (".json", '{"schema"'),
        (".ipynb", "{"), (".py", "import numpy"),
    ]:  # fmt: skip
        e.save(tmp_path / f"e{ending}")
        assert (tmp_path / f"e{ending}").read_text(encoding="utf-8").startswith(begin)
    with pytest.raises(gx.GradexplainError, match="does not tell a format"):
        e.save(tmp_path / "e.docx")
    with pytest.raises(gx.GradexplainError, match="can't write"):
        e.save(tmp_path / "no" / "e.txt")
