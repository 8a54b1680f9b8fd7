"""Documents for the tests of all formats: one that has every block, hostile text, and random ones."""

from collections.abc import Iterator

from hypothesis import strategies as st

from gradexplain.render.blocks import (
    Block,
    Chain,
    Code,
    CodeBlock,
    Document,
    Equation,
    Formula,
    Heading,
    Image,
    Inline,
    Line,
    Link,
    Note,
    Paragraph,
    Section,
    StepItem,
    Steps,
    Strong,
    Table,
    Text,
    flattened,
    line,
)

SLOPE = Formula("dy/dx = x*(2*sin(x) + x*cos(x))", r"\frac{dy}{dx} = x \left(2 \sin x + x \cos x\right)")
LONG = Formula(
    "d2y/dx2 = 2*sin(x) + 2*x*cos(x) + (2*x*cos(x) - x**2*sin(x)) + exp(-(x - mu)**2/(2*sigma**2))/sqrt(2*pi)",
    r"\frac{d^{2}y}{dx^{2}} = 2 \sin x + 2 x \cos x + \left(2 x \cos x - x^{2} \sin x\right)"
    r" + \frac{e^{-\frac{\left(x - \mu\right)^{2}}{2 \sigma^{2}}}}{\sqrt{2 \pi}}",
)

STEPS = Steps(
    (
        StepItem(
            line("product rule"),
            Formula("dy/dx = (x**2)'*sin(x) + x**2*(sin(x))'", r"\frac{dy}{dx} = (x^{2})' \sin x + x^{2} (\sin x)'"),
            notes=(line("Let one factor change at a time: ", Code("u"), " first, then ", Code("v"), "."),),
            children=(
                StepItem(line("power rule"), Formula("(x**2)' = 2*x", r"(x^{2})' = 2 x")),
                StepItem(line("sine"), Formula("(sin(x))' = cos(x)", r"(\sin x)' = \cos x")),
            ),
        ),
        StepItem(
            line("substitute"), Formula("dy/dx = 2*x*sin(x) + x**2*cos(x)", r"\frac{dy}{dx} = 2 x \sin x + \ldots")
        ),
        StepItem(line("done")),
    )
)

TAPE = Table(
    ("step", "op", "value", "local derivative", "adjoint"),
    (
        (line("x"), line("input"), line("3.00000"), line("-"), line(Formula("-8.06321", "-8.06321"))),
        (
            line("u"),
            line("square"),
            line("9.00000"),
            line(Formula("du/dx = 2*x", r"\frac{\partial u}{\partial x} = 2 x"), " = 6"),
            line(Formula("0.14112", "0.14112")),
        ),
        (line("p | q"), line("sin"), line("0.14112"), line(Formula("|x| < 1", r"\left|x\right| < 1")), ()),
    ),
    caption="The tape at x = 3",
)

SVG = (
    '<svg xmlns="http://www.w3.org/2000/svg" role="img" viewBox="0 0 40 20"><title>x feeds y</title>'
    '<path class="line" d="M0 10H40"/></svg>'
)

SAMPLE = Document(
    "y = x² · sin(x)",
    (
        Paragraph(line("The slope of ", Formula("x**2*sin(x)", r"x^{2} \sin x"), " by ", Strong("two"), " routes.")),
        Equation(SLOPE, "closed form"),
        Equation(
            Formula("delta = Phi(d1)", r"\Delta = \Phi\left(d_{1}\right)"),
            where=(
                Formula("d1 = (log(S/K) + a)/b", r"d_{1} = \frac{\log\left(S / K\right) + a}{b}"),
                Formula("a = r*T", "a = r T"),
            ),
        ),
        Equation(LONG, "raw"),
        Chain(
            Formula("dy/dx", r"\frac{dy}{dx}"),
            (
                Link(Formula("2*x*sin(x) + x**2*cos(x)", r"2 x \sin x + x^{2} \cos x"), line("(raw)")),
                Link(
                    Formula("x*(2*sin(x) + x*cos(x))", r"x (2 \sin x + x \cos x)"), line("factor ", Formula("x", "x"))
                ),
                Link(Formula("x*s", "x s")),
            ),
            (Formula("s = 2*sin(x) + x*cos(x)", r"s = 2 \sin x + x \cos x"),),
        ),
        Heading(line("Steps")),
        STEPS,
        Heading(line("In other words"), 2),
        Steps((StepItem(line("each ", Code("input"), " once")), StepItem(line("no more"))), ordered=False),
        Heading(line("What autodiff did"), 3),
        TAPE,
        CodeBlock("def f(x):\n    return x**2 * np.sin(x)  # 100 %\n"),
        Note(line("checked at 50 points, largest error 4e-10"), "ok"),
        Note(line("defined for every real x"), "info"),
        Note(line("h = 1e-12 is below the noise"), "warning"),
        Note(line("the gradient is undefined at ", Formula("x = 0", "x = 0")), "error"),
        Image(SVG, "x feeds y & 2 more"),
        Section(line("Graph"), (Image(SVG, "not in text"),), open=False),
        Section(
            line("Check: ", Formula("y < 1", "y < 1")),
            (Paragraph(line("costs $5, or 5_6 * 7_8 & <more>")), Section(line("Inner"), (Note(line("ok"), "ok"),))),
            open=False,
        ),
    ),
)

HOSTILE = (
    "$x$",
    "$$",
    r"\href{javascript:alert(1)}{x}",
    r"\(\href{javascript:alert(1)}{x}\)",
    r"\input{/etc/passwd}",
    r"\end{document}",
    r"\end{verbatim}",
    "<img src=x onerror=alert(1)>",
    "<script>alert(1)</script>",
    "</code></details></main><b>",
    "[link=javascript:alert(1)]here[/link]",
    "[x](javascript:alert(1))",
    "![x](http://example.com/x.png)",
    "[bold red]x[/]",
    "\x1b[31mred\x1b]8;;http://example.com\x07link",
    "\x9b31m",
    "\u202egnp.exe\u2066",
    "a\r\nb\x00\x7f",
    "`code` ``` **bold** __x__ ~~y~~",
    "# heading",
    "- item",
    "1. item",
    "a | b || c",
    "&lt; &amp; &#60;",
    '" onmouseover="alert(1)',
    "%s {0} {x!r} {{y}}",
    "^^5cinput",
    "x_1^2_3 & # % ~",
    "字 é ∂ θ 🦀",
    "\ud800",
    "e\u0301\u200b\ufeff\ufffe",
    "",
    " ",
    "\n\n    indented",
    "[1] * 2 -- ---",
    ":::",
)


def hostile_document(text: str) -> Document:
    """Return a document that holds the text in every place where text can be."""
    inlines = line(text, Strong(text), Code(text), Formula(text, text), Formula(text, ""), Formula("", text), text)
    step = StepItem(inlines, Formula(text, text), (inlines,), (StepItem(line(text)),))
    return Document(
        text,
        (
            *(Heading(inlines, level) for level in (1, 2, 3)),
            Paragraph(inlines),
            Paragraph(line(text)),
            Equation(Formula(text, text), text, (Formula(text, text), Formula(text, text))),
            Chain(
                Formula(text, text),
                (Link(Formula(text, text), inlines), Link(Formula(text, text))),
                (Formula(text, text),),
            ),
            Steps((step, step)),
            Steps((step,), ordered=False),
            Table((text, text), ((inlines, line(text)), (line(text),), ()), text),
            CodeBlock(text, text),
            Image(SVG, text),
            *(Note(inlines, kind) for kind in ("ok", "warning", "error", "info")),
            Section(inlines, (Paragraph(line(text)),), open=False),
        ),
    )


def formulas(document: Document) -> Iterator[Formula]:
    """Yield all formulas of a document that is small enough to be shown whole."""
    for block in flattened(document.blocks):
        match block:
            case Heading(inlines) | Paragraph(inlines) | Note(inlines):
                yield from _of(inlines)
            case Equation(formula, _, where):
                yield from (formula, *where)
            case Chain():
                for link in block.links:
                    yield from (link.formula, *_of(link.remark))
                yield from (block.left, *block.where)
            case Steps(items):
                yield from _of_steps(items)
            case Table(_, rows):
                for row in rows:
                    for cell in row:
                        yield from _of(cell)
            case CodeBlock() | Image():
                pass


def _of_steps(items: tuple[StepItem, ...]) -> Iterator[Formula]:
    for item in items:
        yield from _of(item.title)
        yield from [item.formula] if item.formula else []
        for note in item.notes:
            yield from _of(note)
        yield from _of_steps(item.children)


def _of(inlines: Line) -> Iterator[Formula]:
    return (inline for inline in inlines if isinstance(inline, Formula))


# ------------------------------------------------------------------------------------------- random documents

_characters = st.text(st.characters(), max_size=12)  # lone surrogates and controls too
_text = _characters | st.sampled_from(HOSTILE)
_formula = st.builds(Formula, _text, _text) | st.sampled_from([SLOPE, LONG])
_inline: st.SearchStrategy[Inline] = (
    st.builds(Text, _text) | st.builds(Code, _text) | st.builds(Strong, _text) | _formula
)
_line = st.lists(_inline, max_size=4).map(tuple)


def _tuples(strategy: st.SearchStrategy[object], size: int) -> st.SearchStrategy[tuple[object, ...]]:
    return st.lists(strategy, max_size=size).map(tuple)


_item = st.recursive(
    st.builds(StepItem, _line, st.none() | _formula, _tuples(_line, 2)),
    lambda inner: st.builds(StepItem, _line, st.none() | _formula, _tuples(_line, 1), _tuples(inner, 3)),
    max_leaves=6,
)
_leaf = (
    st.builds(Heading, _line, st.sampled_from([1, 2, 3]))
    | st.builds(Paragraph, _line)
    | st.builds(Equation, _formula, _text, _tuples(_formula, 2))
    | st.builds(Chain, _formula, _tuples(st.builds(Link, _formula, _line), 3), _tuples(_formula, 2))
    | st.builds(Steps, _tuples(_item, 3), st.booleans())
    | st.builds(Table, _tuples(_text, 4), _tuples(_tuples(_line, 5), 3), _text)
    | st.builds(CodeBlock, _text, _text)
    | st.builds(Image, st.just(SVG), _text)
    | st.builds(Note, _line, st.sampled_from(["ok", "warning", "error", "info"]))
)
_block: st.SearchStrategy[Block] = st.recursive(
    _leaf, lambda inner: st.builds(Section, _line, _tuples(inner, 3), st.booleans()), max_leaves=4
)
documents = st.builds(Document, _text, _tuples(_block, 4))
