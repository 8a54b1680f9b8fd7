"""A sweep to step through: the source, the tape and the formula of each step, highlighted together.

It is one element of HTML that needs no script and no network: the steps are radio buttons, so Tab and the arrow keys
reach every one of them, and a rule for each shows what belongs to it. A script, where one may run, adds buttons to
press and hides the numbers that are still to come. A front end that drops styles and scripts (a notebook that nobody
has trusted) shows the source, the tape and all steps as a numbered list. Formulas are text in notebooks, which may drop
MathML but keep what is in it, and MathML on a page of their own.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from gradexplain import escape
from gradexplain.exposition.model import TapeRow, Walk
from gradexplain.language import say
from gradexplain.render import html, walk
from gradexplain.render.blocks import Code, Document, Formula, Inline, Line, Strong, Text
from gradexplain.render.display import Display
from gradexplain.render.formula import formula as formula_of
from gradexplain.render.listings import number
from gradexplain.render.signs import barred, pretty
from gradexplain.render.walk import Move
from gradexplain.settings import current

_STYLE = """
#ID { font: .95rem/1.5 system-ui, sans-serif; max-width: 60rem; }
#ID code, #ID pre { font-family: ui-monospace, monospace; background: none; color: inherit; }
#ID .stage { display: flex; flex-wrap: wrap; gap: .5rem 2rem; align-items: flex-start; }
#ID .steps { order: -1; flex: 1 0 100%; min-height: 9rem; list-style: none; margin: .5rem 0 0; padding: 0; }
#ID .steps > li { display: none; } #ID .steps > li > p { margin: .15rem 0; }
#ID .steps .shown { font-size: 1.25em; margin: .3rem 0; overflow-x: auto; }
#ID .count::before { content: attr(title); opacity: .75; }
#ID .go { display: flex; gap: .5rem; margin: .4rem 0 .8rem; }
#ID .go > label { border: 1px solid currentColor; border-radius: .3rem; padding: .1rem .8rem; cursor: pointer; }
#ID .go > label::before { content: attr(title); } #ID .go > .off { opacity: .35; cursor: default; }
#ID .dots { margin: 0; line-height: 1; } #ID input[hidden] { display: inline-block; margin: .2rem .1rem; }
#ID input:focus-visible { outline: 2px solid currentColor; outline-offset: 2px; }
#ID .source { margin: 0; overflow-x: auto; } #ID .source code > span { display: block; padding: 0 .5rem 0 1.4rem; }
#ID .scroll { overflow-x: auto; } #ID table { border-collapse: collapse; margin: 0; }
#ID th, #ID td { text-align: left; vertical-align: top; padding: .1rem .8rem; border-bottom: 1px solid #8888; }
#ID tbody th { padding-left: 1.4rem; }
#ID .later { visibility: hidden; }
"""
_NOW = "{ background: #e69f0040; box-shadow: inset .25rem 0 #e69f00; }"
_SCRIPT = """
(function () {
  var root = document.getElementById("ID");
  if (!root) { return; }
  var steps = Array.prototype.slice.call(root.querySelectorAll("input"));
  function show() {
    var now = steps.findIndex(function (step) { return step.checked; }) + 1;
    root.querySelectorAll("[data-at]").forEach(function (cell) {
      cell.classList.toggle("later", Number(cell.getAttribute("data-at")) > now);
    });
  }
  root.querySelectorAll(".go > label").forEach(function (label) {
    label.setAttribute("role", "button");
    if (!label.classList.contains("off")) { label.tabIndex = 0; }
    label.addEventListener("keydown", function (event) {
      if (event.key === "Enter" || event.key === " ") { event.preventDefault(); label.click(); }
    });
  });
  root.addEventListener("keydown", function (event) {
    var to = event.key === "Home" ? steps[0] : event.key === "End" ? steps[steps.length - 1] : null;
    if (to) { event.preventDefault(); to.checked = true; to.focus(); show(); }
  });
  root.addEventListener("change", show);
  show();
})();
"""


class Stepper(Display):
    """What `Explanation.stepper` gives: shows itself in notebooks, and `save("steps.html")` writes a page."""

    @property
    def document(self) -> Document:
        """The steps as a list, for all other formats."""
        return Document(walk.title(self.data), super().document.blocks)

    def to_html(self) -> str:
        """One HTML page that needs no network and no script."""
        now = current()
        content = fragment(self.data, prefix="steps", typeset=True)
        heading = f"<h1>{escape.html(walk.title(self.data))}</h1>\n"
        return html.around(heading + content, walk.title(self.data), theme=now.theme, language=now.language)

    @property
    def _shown(self) -> Mapping[str, Callable[[], str]]:
        # An id of its own for every output: a notebook may show the same steps twice.
        made = {"text/html": lambda: fragment(self.data, prefix=f"steps-{uuid.uuid4().hex[:8]}", typeset=False)}
        return {"text/plain": super()._shown["text/plain"], **made}


@dataclass(frozen=True, slots=True)
class _Writer:
    """How inlines are written, with formulas typeset or as text."""

    typeset: bool

    def inline(self, inline: Inline) -> str:
        match inline:
            case Formula():
                return self.formula(inline)
            case Code(text):
                return f"<code>{escape.html(text)}</code>"
            case Strong(text):
                return f"<strong>{escape.html(text)}</strong>"
            case Text(text):
                return escape.html(text)

    def line(self, line: Line) -> str:
        return "".join(map(self.inline, line))

    def formula(self, formula: Formula, *, display: bool = False) -> str:
        if self.typeset:
            return html.formula(formula, display=display)
        return f"<code>{escape.html(barred(pretty(formula.text)))}</code>"


def fragment(record: Walk, *, prefix: str, typeset: bool) -> str:
    """Return the stepper as one HTML element, whose ids all start with ``prefix``."""
    steps = walk.moves(record)
    write = _Writer(typeset)
    dots = "".join(_dot(prefix, n, step, len(steps)) for n, step in enumerate(steps, 1))
    items = "\n".join(_step(prefix, n, step, len(steps), write) for n, step in enumerate(steps, 1))
    parts = [
        f'<div class="gradexplain stepper" id="{prefix}" data-lm-suppress-shortcuts="true">',
        f"<style>{_STYLE.replace('ID', prefix)}{_rules(prefix, len(steps))}</style>",
        dots,
        f'<div class="stage">\n{_source(record, steps)}\n{_tape(record, steps, write)}',
        f'<ol class="steps" aria-live="polite">\n{items}\n</ol></div>',
        f"<script>{_SCRIPT.replace('ID', prefix)}</script>",
        "</div>",
    ]
    return "\n".join(parts)


def _rules(prefix: str, count: int) -> str:
    """The rules that show a step and mark what it is about, in one list for all steps."""

    steps = range(1, count + 1)
    at = {n: f"#{prefix}-{n}:checked ~ .stage" for n in steps}
    shown = ", ".join(f"{at[n]} .s{n}" for n in steps)
    marked = ", ".join(f"{at[n]} .m{n}" for n in steps)
    pointed = ", ".join(f"{at[n]} span.m{n}::before, {at[n]} tr.m{n} > th::before" for n in steps)
    arrow = '{ content: "\\25b6"; position: absolute; margin-left: -1rem; font-size: .8em; }'
    return f"{shown} {{ display: block; }}\n{marked} {_NOW}\n{pointed} {arrow}\n"


def _dot(prefix: str, n: int, step: Move, count: int) -> str:
    label = escape.attribute(say("step {number} of {count}: {words}", number=n, count=count, words=_plain(step)))
    checked = ' checked=""' if n == 1 else ""
    return f'<input type="radio" hidden="" name="{prefix}" id="{prefix}-{n}" aria-label="{label}"{checked}/>'


def _plain(step: Move) -> str:
    formula = f", {step.item.formula.text}" if step.item.formula else ""
    return "".join(inline.text for inline in step.item.title) + formula


def _step(prefix: str, n: int, step: Move, count: int, write: _Writer) -> str:
    shown = f'<p class="shown">{write.formula(step.item.formula, display=True)}</p>' if step.item.formula else ""
    notes = "".join(f"<p>{write.line(note)}</p>" for note in step.item.notes)
    back, forth = _go(prefix, n - 1, say("Back"), n > 1), _go(prefix, n + 1, say("Next"), n < count)
    counted = f'<span class="count" title="{n}/{count}"></span>'
    return (
        f'<li class="s{n}" value="{n}"><div class="go">{back}{forth}{counted}</div>'
        f"<p>{write.line(step.item.title)}</p>{shown}{notes}</li>"
    )


def _go(prefix: str, n: int, title: str, possible: bool) -> str:
    # The word comes from the style: without it nothing can be pressed.
    if not possible:
        return f'<label class="off" title="{title}" aria-disabled="true"></label>'
    return f'<label for="{prefix}-{n}" title="{title}" aria-label="{title}"></label>'


def _marks(steps: Sequence[Move], is_about: Callable[[Move], bool]) -> str:
    marks = " ".join(f"m{n}" for n, step in enumerate(steps, 1) if is_about(step))
    return f' class="{marks}"' if marks else ""


def _source(record: Walk, steps: Sequence[Move]) -> str:
    if not record.lines:
        return ""
    width = len(str(record.lines[-1][0]))
    rows = []
    for n, text in record.lines:
        marks = _marks(steps, lambda step, n=n: step.line == n)  # type: ignore[misc]
        shown = " ".join(map(escape.html, f"{n:>{width}}  {text}".split(" ")))
        rows.append(f"<span{marks}>{shown}\n</span>")
    return f'<pre class="source"><code>{"".join(rows)}</code></pre>'


def _tape(record: Walk, steps: Sequence[Move], write: _Writer) -> str:
    tape = record.sweep.tape
    valued = any(row.value is not None for row in tape)
    headers = [say("name"), say("operation"), *([say("value"), say("adjoint")] if valued else [])]
    head = "".join(f'<th scope="col">{header}</th>' for header in headers)
    rows = "\n".join(_row(row, steps, write, valued=valued) for row in tape)
    return f'<div class="scroll"><table><thead><tr>{head}</tr></thead>\n<tbody>\n{rows}\n</tbody></table></div>'


def _row(row: TapeRow, steps: Sequence[Move], write: _Writer, *, valued: bool) -> str:
    about = [n for n, step in enumerate(steps, 1) if row.name in step.rows]
    computed = next((n for n in about if steps[n - 1].phase == "forward"), 1)
    known = max((n for n in about if _gives(steps[n - 1], row)), default=len(steps))
    operation = write.formula(formula_of(row.formula)) if row.inputs else say("input")
    cells = [f'<th scope="row"><code>{escape.html(row.name)}</code></th>', f"<td>{operation}</td>"]
    if valued:
        adjoint = number(row.adjoint_value)
        cells += [_later(computed, number(row.value)), _later(known, adjoint)]
    return f"<tr{_marks(steps, lambda step: row.name in step.rows)}>{''.join(cells)}</tr>"


def _gives(step: Move, row: TapeRow) -> bool:
    """Whether a step computes the adjoint of a row, or a part of it."""
    return step.phase == "backward" and step.rows[:1] == (row.name,)


def _later(step: int, text: str) -> str:
    return f'<td><span data-at="{step}">{escape.html(text)}</span></td>'
