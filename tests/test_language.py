"""The catalogue: every sentence that the program can say is in it, and nothing else; Chinese explanations hold no
English, keep their columns, and fall back to English where they can't be written."""

import ast
import io
import json
import os
import pickle
import re
from pathlib import Path
from string import Formatter
from xml.etree import ElementTree as ET

import numpy as np
import pytest
from rich.console import Console

import gradexplain as gx
from gradexplain.cli import main
from gradexplain.exposition import known, rules
from gradexplain.exposition.causes import CAUSES
from gradexplain.exposition.findings import zeros
from gradexplain.language import CHINESE, Sentence, chained, say
from gradexplain.ops import TABLE
from gradexplain.render import text
from gradexplain.render.blocks import Document, Gap, Image, Note, line
from gradexplain.render.breaks import columns
from gradexplain.simplify import identities, matching, orthant, rewrite, steps
from gradexplain.simplify import rules as rewrites

PACKAGE = Path(gx.__file__).parent
GOLDEN = Path(__file__).parent / "golden" / "sample.zh.txt"
SAYING = ("say", "phrase", "Sentence", "template", "_with", "_with_equations")
MODULES = {path: ast.parse(path.read_text(encoding="utf-8")) for path in PACKAGE.rglob("*.py")}


@pytest.fixture
def chinese():
    with gx.options(language="zh"):
        yield


# ----------------------------------------------------------------------------------------------------- the catalogue


def _texts(node: ast.AST, assigned: dict[str, list[ast.AST]], deep: int = 0) -> list[str]:
    """The strings that an expression may be: itself, both of a choice, what a name was assigned."""
    match node:
        case ast.Constant(value=str(text)):
            return [text]
        case ast.IfExp(body=one, orelse=other):
            return [*_texts(one, assigned, deep), *_texts(other, assigned, deep)]
        case ast.Name(id=name) if deep < 3:
            return [text for value in assigned.get(name, []) for text in _texts(value, assigned, deep + 1)]
    return []


def _said() -> set[str]:
    """What is given to the functions that say something."""
    found = set()
    for path, tree in MODULES.items():
        if path.parent.name == "language":
            continue
        for scope in [n for n in ast.walk(tree) if isinstance(n, (ast.FunctionDef, ast.Module))]:
            assigned: dict[str, list[ast.AST]] = {}
            for node in ast.walk(scope):
                if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
                    assigned.setdefault(node.targets[0].id, []).append(node.value)
            for node in ast.walk(scope) if isinstance(scope, ast.FunctionDef) else _outside_functions(scope):
                if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in SAYING:
                    found.update(_texts(node.args[0], assigned))
    return found - {""}


def _outside_functions(tree: ast.AST) -> list[ast.AST]:
    found, waiting = [], [tree]
    while waiting:
        node = waiting.pop()
        found.append(node)
        waiting += [n for n in ast.iter_child_nodes(node) if not isinstance(n, ast.FunctionDef)]
    return found


def _tables() -> set[str]:
    """Sentences that are data: rules, where operations bend, titles of sections."""
    from gradexplain.render import blocks, costs, derivations, document, screen
    from gradexplain.render.pictures import graph_svg

    found = {text for op in TABLE.values() for text in (op.rule, op.kinks)}
    found |= {r.name for r in rewrites.RULES} | {i.name for i in identities.IDENTITIES}
    found |= {text for cause in CAUSES.values() for text in (cause.sentence, cause.fix)}
    found |= {*zeros._SURROGATES.values(), zeros._SMOOTH_STEP}
    for module in (rules, known, matching, steps, rewrite, orthant):
        found |= {v for n, v in vars(module).items() if n.isupper() and not n.startswith("_") and isinstance(v, str)}
    found |= {rule for rules_ in known._NAMES.values() for rule in rules_}
    for pairs in (costs._COUNTED, blocks._LEFT_OUT):
        found |= {text for pair in pairs.values() for text in pair}
    found |= {*derivations._ORDINALS, *derivations._TIMES, *screen._SECTIONS}
    found |= {*document._PASSES, *document._FAILS, *document._IS_INCONCLUSIVE}
    found |= {words for _, words in graph_svg.LEGEND + graph_svg.FOLDED_LEGEND + graph_svg.LOOP_LEGEND}
    return found - {""}


LITERALS = {
    node.value
    for path, tree in MODULES.items()
    if path.name not in ("rules.py", "sentences.py", "pictures.py", "findings.py", "tapes.py")
    or path.parent.name != "language"
    for node in ast.walk(tree)
    if isinstance(node, ast.Constant) and isinstance(node.value, str)
}


def _reasons() -> set[str]:
    """Sentences without places that records keep: what is given to the records of checks."""
    return {
        text
        for path, tree in MODULES.items()
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("CheckRow", "_Finding")
        for argument in node.args
        for text in _texts(argument, {})
        if " " in text
    }


def test_every_sentence_is_in_the_catalogue():
    said = _said()
    assert len(said) > 250
    assert sorted((said | _tables() | _reasons()) - CHINESE.keys()) == []


def test_records_keep_sentences():
    """Text that is put together with its values could be said in English alone."""
    made = [
        f"{path.name}:{node.lineno}"
        for path, tree in MODULES.items()
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        and getattr(node.func, "id", getattr(node.func, "attr", ""))
        in ("Finding", "_Finding", "CheckRow", "note", "Note")
        for argument in node.args
        if isinstance(argument, ast.JoinedStr)
    ]
    assert made == []


def test_the_catalogue_has_no_more_than_what_is_said():
    used = LITERALS | _tables()
    assert sorted(CHINESE.keys() - used) == []


@pytest.mark.parametrize("key", CHINESE)
def test_places_are_the_same_in_both_languages(key):
    def places(text: str) -> set[tuple[str | None, str | None]]:
        return {(name, spec) for _, name, spec, _ in Formatter().parse(text) if name is not None}

    assert places(CHINESE[key]) == places(key)


def test_chinese_has_chinese_punctuation():
    for key, said in CHINESE.items():
        bare = re.sub(r"`[^`]*`|\{[^}]*\}", "x", said)
        assert not re.search(r"[一-鿿][,:;!?()]|[,:;!?(][一-鿿]", bare), key
        assert not re.search(r"[一-鿿][A-Za-z]|[A-Za-z][一-鿿]", bare.replace("x", "")), key


# -------------------------------------------------------------------------------------------------------- sentences


def test_sentences_are_english_text_that_can_be_said_in_chinese(chinese):
    outer = Sentence("domain edge: {slope}", slope=Sentence("the slope is {slope}", slope="2"))
    assert outer == "domain edge: the slope is 2"
    assert say(outer) == say(pickle.loads(pickle.dumps(outer))) == "定义域的边界：斜率为 2"
    assert say(chained(["common power", Sentence("common factor")])) == "提取公共的幂，提取公因式"


def test_words_of_the_user_stay_as_they_are(chinese):
    assert say("a {strange} sentence") == "a {strange} sentence"
    assert say(Sentence("{name} does not appear: its derivative is 0", name="{x}")) == "{x} 没有出现，对它的导数为 0"


def test_the_language_is_that_of_the_rendering():
    e = gx.explain("abs(x)", x=0)
    with gx.options(language="zh"):
        assert "尖点" in e.to_text()
    assert "kink" in e.to_text()


def test_a_variable_of_the_environment_sets_it(monkeypatch):
    monkeypatch.setenv("GRADEXPLAIN_LANGUAGE", "zh")
    assert say("product rule") == "乘积法则"


# ---------------------------------------------------------------------------------------------- whole explanations


def sketch(x, y):
    u = x**2
    v = np.sin(u * y)
    return u * v + abs(x) if y > 1 else x


def loss(w, X, t):
    r = X @ w - t
    return np.mean(r**2) + np.max(w)


def looped(x):
    for _ in range(40):
        x = np.sin(x) + 0.5 * x
    return x


def looped_product(w):
    h = 1.0
    for _ in range(30):
        h = w * h
    return h


def wide(a, b, c, d, e):
    return [a * b, np.floor(c) + d, e, a]


X, T = np.arange(6.0).reshape(3, 2), np.array([1.0, 0.0, 2.0])
SHOWN = {
    "product": lambda: gx.explain("x**2*sin(x)", x=3),
    "full": lambda: gx.explain("exp(x**2)*(x + 1)/cos(x)", x=0.3).derivation(detail="full"),
    "logarithmic": lambda: gx.explain("x**sin(x)").derivation(detail="full"),
    "inverse": lambda: gx.explain("asin(2*x) + atan(x)").derivation(detail="full"),
    "orders": lambda: gx.explain("x**3*log(x)", order=3, x=2).derivation(),
    "mixed": lambda: gx.explain("x**2*y**3", order=2, x=1, y=2),
    "branches": lambda: gx.explain(sketch, x=0.0, y=2.0),
    "findings": lambda: gx.explain(sketch, x=0.0, y=2.0).why(),
    "nothing": lambda: gx.explain("x**2").why(),
    "flat": lambda: gx.why(lambda w, b: 3 * np.maximum(0.0, w * 2.0 - 5.0), 1.0, 1.0),
    "poisoned": lambda: gx.why(lambda x: np.sqrt(np.sum(x**2)) + np.log(x[0] + 1), np.zeros(3)),
    "explosion": lambda: gx.why(looped_product, 3.0),
    "lost digits": lambda: gx.why(lambda x: (1 - np.cos(x)) / x**2, 1e-9),
    "reading": lambda: gx.explain("2x sin^2 x + e^2x", x=1),
    "conditions": lambda: gx.explain("sqrt(x)*log(y - 1) + 1/(x - y)"),
    "trigonometry": lambda: gx.explain("sin(x)**2/(1 + cos(x)) + tan(x)/x").derivation(detail="full"),
    "arrays": lambda: gx.explain(loss, w=np.array([1.0, 1.0]), X=X, t=T, wrt="w"),
    "reverse": lambda: gx.explain(loss, w=np.array([1.0, 1.0]), X=X, t=T, wrt="w").derivation(style="reverse"),
    "forward": lambda: gx.explain(loss, w=np.array([1.0, 1.0]), X=X, t=T, wrt="w").derivation(style="forward"),
    "both": lambda: gx.explain("x*y + sin(x)", x=1, y=2).derivation(style="both"),
    "entrywise": lambda: gx.explain(lambda x: x[0] * np.sin(x[1]) + x[2] ** 2, x=np.ones(3)).derivation(),
    "implicit": lambda: gx.explain_implicit("x**2 + x*y + y**2 = 7", x=1, y=2),
    "implicit twice": lambda: gx.explain_implicit("x**2 + y**2 = 25", order=2).derivation(detail="full"),
    "jacobian": lambda: gx.explain_jacobian(lambda x: np.array([x[0] * x[1], np.exp(x[0])]), x=np.ones(2)),
    "check": lambda: gx.explain("x**2", x=3).check(7.0),
    "kink": lambda: gx.explain("abs(x)*3", x=0).check(),
    "edge": lambda: gx.explain("sqrt(x)", x=0),
    "large": lambda: gx.explain(lambda w: np.sum(w**2), w=np.ones(300)).check(),
    "stepper": lambda: gx.explain(sketch, x=1.0, y=2.0).stepper(),
    "graph": lambda: gx.explain(sketch, x=1.0, y=2.0).picture(),
    "folded": lambda: gx.explain(looped, x=1.0).picture(),
    "plot": lambda: gx.explain("x**3 - x", x=1).plot(secants=(0.5,)),
    "errors": lambda: gx.explain("x**3 - x", x=1).error_plot(),
    "descent": lambda: gx.descent(lambda x, y: x**2 + y**2, (1.0, 2.0), rate=0.1, steps=20),
    "series": lambda: gx.explain(lambda x: sum(x**k / (k + 1) for k in range(30)), x=0.5),
    "unused": lambda: gx.explain(lambda x, y: x * np.floor(y), x=1.5, y=2.5),
    "infinite": lambda: gx.explain(lambda x, y: np.sqrt(x) * y, x=0.0, y=1.0),
}
NAMES = re.compile(
    "sin|cos|tan|log|exp|sqrt|abs|asin|atan|sign|where|floor|mean|max|sum|loss|sketch|looped|np|float64|LaTeX|True|"
    "False|inf|nan|axis|else|eps|linalg|norm|d\\w*"
)


def _words(blocks):
    """All that a document shows of text, but formulas and code."""
    waiting = list(blocks)
    while waiting:
        part = waiting.pop()
        if isinstance(part, Image):
            yield part.alt
            root = ET.fromstring(part.svg)
            yield from (e.text or "" for e in root.iter() if e.tag.split("}")[1] in ("title", "desc", "text"))
        elif isinstance(part, tuple):
            waiting += part
        elif isinstance(part, str):
            yield part
        elif type(part).__name__ in ("Text", "Strong"):
            yield part.text
        elif hasattr(part, "__dataclass_fields__") and type(part).__name__ not in ("Formula", "Code", "CodeBlock"):
            hidden = ("kind", "language", "open", "level", "ordered")
            waiting += [getattr(part, n) for n in part.__dataclass_fields__ if n not in hidden]


def _english(text: str) -> list[str]:
    text = re.sub(r"第 \d+ 行：.*", "", text)  # the line of the program follows
    text = re.sub(r"\[[a-z-]+\]$", "", text)  # the code of a finding
    found = re.findall(r"(?<![A-Za-z_.])[A-Za-z]{3,}(?![A-Za-z_]|\()", text)
    return [word for word in found if not NAMES.fullmatch(word)]


@pytest.mark.parametrize("name", SHOWN)
def test_no_english_is_left(chinese, name):
    shown = SHOWN[name]()
    for document in (shown.document, shown.screen):
        texts = [document.title, *_words(document.blocks)]
        assert any(re.search("[一-鿿]", text) for text in texts)
        assert [text for text in texts if _english(text)] == []


@pytest.mark.parametrize("width", [40, 80, 200])
@pytest.mark.parametrize("name", SHOWN)
def test_columns_are_kept(chinese, name, width):
    for row in SHOWN[name]().to_text(width).splitlines():
        assert columns(row) <= width or not re.search(r"[一-鿿]\S* \S*[一-鿿]", row), row
        assert not re.match(r"\s*[，。：；、）]", row), row


def test_tables_are_aligned(chinese):
    rows = SHOWN["both"]().to_text().splitlines()
    rules = [n for n, row in enumerate(rows) if re.fullmatch(r"-+(  -+)+", row)]
    assert len(rules) >= 3
    for n in rules:
        starts = [columns(rows[n - 1][: m.start()]) for m in re.finditer(r"\S+( \S+)*", rows[n - 1])]
        assert starts == [m.start() for m in re.finditer("-+", rows[n])]


def test_gaps_and_notes(chinese):
    assert Gap(3, "row").text == "… 3 行未显示"
    assert text.render(Document("", (Note(line("abs"), "warning"),))) == "注意：abs"


def test_output_is_as_recorded(chinese):
    """After a wanted change of wording: GRADEXPLAIN_UPDATE_GOLDEN=1 pytest tests/test_language.py"""
    names = ("product", "full", "both", "implicit", "check", "edge", "kink", "conditions")
    written = "\n\n\n".join(SHOWN[name]().to_text() for name in names) + "\n"
    if os.environ.get("GRADEXPLAIN_UPDATE_GOLDEN"):
        GOLDEN.write_text(written, encoding="utf-8", newline="\n")
    assert written == GOLDEN.read_text(encoding="utf-8")


# ------------------------------------------------------------------------------------------- formats and consoles


def test_pages_say_their_language(chinese):
    assert '<html lang="zh">' in SHOWN["product"]().to_html()
    page = SHOWN["stepper"]().to_html()
    assert '<html lang="zh">' in page
    assert 'title="下一步"' in page


def test_latex_is_for_ctex(chinese):
    written = SHOWN["full"]().to_latex(standalone=True)
    assert written.startswith("\\documentclass{article}\n\\usepackage{ctex}\n\\usepackage{amsmath,amssymb}")
    assert "inputenc" not in written
    assert "[U+" not in written
    assert "乘积法则" in written


def test_english_latex_still_names_characters():
    assert "[U+5B57]" in gx.explain(lambda 字: 字**2).to_latex(standalone=True)


def test_notebooks_are_in_chinese(chinese):
    cells = json.loads(SHOWN["product"]().to_notebook())["cells"]
    assert [cell["source"][0] for cell in cells if "可以试试" in cell["source"][0]] == ["可以试试：\n"]


def _printed(encoding: str) -> str:
    raw = io.BytesIO()
    file = io.TextIOWrapper(raw, encoding=encoding, newline="\n")
    Console(file=file, width=80, legacy_windows=False).print(SHOWN["product"]())
    file.flush()
    return raw.getvalue().decode(encoding)


def test_consoles_that_have_no_chinese_show_english(chinese):
    assert "乘积法则" in _printed("utf-8")
    assert "乘积法则" in _printed("gbk")
    assert "product rule" in _printed("ascii")
    assert "其中" not in _printed("latin-1")


def test_the_command_line_has_an_option(capsys):
    assert main(["x^2*sin(x)", "--language", "zh", "--at", "x=3"]) == 0
    out = capsys.readouterr()
    assert "乘积法则" in out.out
    assert "理解为乘方" in out.err
    assert main(["x**2*sin(x)", "--language", "zh", "--ascii"]) == 0
    assert "product rule" in capsys.readouterr().out
    assert say("product rule") == "product rule"
