"""The documentation as a site: `sphinx-build -W -n --keep-going docs docs/_build`.

Nothing is read from a network, neither while the site is built nor by its readers: formulas become MathML here, the
theme brings its own scripts, and types of other packages are named without a link to their sites.
"""

from __future__ import annotations

import re
import shutil
import sys
from pathlib import Path
from typing import Any

import gradexplain
from gradexplain import api, directional, errors, explanation, implicit, pictures
from gradexplain.render import answers, blocks, display, frozen, stepper
from gradexplain.render.pictures import picture
from gradexplain.tape import views

HERE = Path(__file__).parent
NOTEBOOKS = HERE.parent / "notebooks"
sys.path.insert(0, str(HERE))  # where the extension `formulas` is

# Types in signatures that the program loads when it needs them: the reference looks them up.
vars(api).update(
    ImplicitExplanation=implicit.ImplicitExplanation, Descent=picture.Descent, Pushforward=directional.Pushforward
)
vars(views).update(FindingsDisplay=answers.FindingsDisplay, RecordsDisplay=answers.RecordsDisplay)
vars(pictures).update(GraphPicture=picture.GraphPicture, Plot=picture.Plot)
vars(explanation).update(Stepper=stepper.Stepper)
for module in (display, frozen):
    vars(module).update(Document=blocks.Document)

project = "gradexplain"
author = "the authors of gradexplain"
extensions = ["myst_nb", "sphinx.ext.autodoc", "formulas"]
exclude_patterns = ["_build", "benchmarks"]

html_theme = "furo"
html_title = "gradexplain"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_show_sphinx = False
html_show_copyright = False
html_copy_source = False
html_math_renderer = "mathml"
pygments_style = "friendly"
pygments_dark_style = "github-dark"

# Pages are Markdown. Notebooks are run as the site is built, and one that fails stops the build.
myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 3
nb_execution_mode = "force"
nb_execution_timeout = 300
nb_execution_raise_on_error = True
nb_render_markdown_format = "myst"
nb_merge_streams = True

# The reference: docstrings are Markdown, too, and types are as in the source. Those of other packages have no page here
# (a link to one would need the network); those of the program's inside are told of in "How it works".
autodoc_member_order = "bysource"
autodoc_preserve_defaults = True
autodoc_typehints_format = "short"
python_maximum_signature_line_length = 88
nitpick_ignore_regex = [
    ("py:class", r"(collections\.abc|os|pathlib)\.\w+"),
    ("py:class", r"gradexplain\.(autodiff|graph|render\.blocks|trace\.program|exposition\.model|tape\.\w+)\.\w+"),
]


def setup(app: Any) -> None:
    """Brings the notebooks, which have a folder of their own, below the pages, and reads docstrings as Markdown."""
    shutil.copytree(NOTEBOOKS, HERE / "notebooks", dirs_exist_ok=True, ignore=shutil.ignore_patterns(".*"))
    app.connect("autodoc-process-docstring", as_restructured_text)
    app.connect("doctree-read", without_blank_ends)


def without_blank_ends(app: Any, page: Any) -> None:
    """Examples end with a blank line, for the doctests of Markdown pages; the site does not show it."""
    from docutils import nodes

    for block in page.findall(nodes.literal_block):
        block.rawsource = block.astext().rstrip("\n")
        block[:] = [nodes.Text(block.rawsource)]


def as_restructured_text(app: Any, kind: str, name: str, thing: Any, options: Any, lines: list[str]) -> None:
    """Code between single quotes of Markdown is code, and a link where it is a public name or an error."""

    def code(found: re.Match[str]) -> str:
        home = _HOMES.get(found[1])
        return f":py:obj:`{found[1]} <{home}.{found[1]}>`" if home else f"``{found[1]}``"

    lines[:] = [line if line.lstrip().startswith((">>>", "...")) else _CODE.sub(code, line) for line in lines]


_CODE = re.compile(r"(?<!`)`([^`]+)`(?!`)")
_HOMES = dict.fromkeys(gradexplain.__all__, "gradexplain")
_HOMES |= {n: "gradexplain.errors" for n, c in vars(errors).items() if isinstance(c, type) and "Error" in n}
_HOMES["TraceWarning"] = "gradexplain.errors"
