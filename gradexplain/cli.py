"""The command line: reads arguments, calls `api`, prints. Results go to stdout, messages to stderr.

Exit codes: 0 fine, 1 the check failed, 2 usage or unreadable input, 3 no derivative at the point, 4 unsupported
operation. `--help` and `--version` load neither NumPy nor SymPy.
"""

from __future__ import annotations

import argparse
import math
import os
import re
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gradexplain.collector import paused
from gradexplain.errors import (
    ArgumentError,
    DomainError,
    FunctionError,
    GradexplainError,
    NoRuleError,
    NotTraceableError,
    ParseError,
)
from gradexplain.escape import encodable
from gradexplain.language import is_encodable, say
from gradexplain.settings import Change, current
from gradexplain.settings import options as settings

if TYPE_CHECKING:
    from gradexplain.explanation import Explanation

FORMATS = (
    "text", "latex", "tex", "markdown", "html", "json", "python", "notebook", "stepper", "svg", "dot", "mermaid",
)  # fmt: skip
_ENDINGS = {
    ".tex": "tex", ".md": "markdown", ".html": "html", ".json": "json", ".py": "python", ".ipynb": "notebook",
    ".svg": "svg", ".dot": "dot", ".mmd": "mermaid",
}  # fmt: skip
FINE, CHECK_FAILED, UNREADABLE, NO_DERIVATIVE, UNSUPPORTED = range(5)
_NEXT_NAME = re.compile(r",(?=\s*\w+\s*=)")  # in x=[1, 2],y=3 the second comma alone
PATIENCE = 2.0  # seconds without output before a word on stderr

EPILOG = """examples:
  gradexplain "x**2 * sin(x)"
  gradexplain "x^2 sin x" --at x=3 --steps
  gradexplain "a*x**2 + b*x" --wrt x --order 2
  gradexplain "x**2 + y**2 = 25" --at x=3,y=4
  gradexplain model.py:loss --at "w=[1, 2]" --style reverse
  gradexplain "x**2 * sin(x)" --at x=3 -o steps.html --format stepper
"""


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the command; gives its exit code."""
    options = _parser().parse_args([_as_operand(a) for a in (sys.argv[1:] if argv is None else argv)])
    try:
        with _patience(), paused(), _settings(options):  # the collector would run dozens of times while SymPy loads
            return _run(options)
    except GradexplainError as error:
        print(f"gradexplain: {_visible(str(error))}", file=sys.stderr)
        return _exit_code(error)
    except KeyboardInterrupt:
        print("gradexplain: stopped", file=sys.stderr)
        return 130
    except BrokenPipeError:
        sys.stderr.close()
        return FINE


def _as_operand(argument: str) -> str:
    """A formula that begins with a minus, kept from being an option: argparse leaves text with blanks alone."""
    is_option = argument in ("-", "-o", "-h") or not argument.startswith("-") or argument.startswith("--")
    return argument if is_option else f" {argument}"


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="gradexplain",
        description="Explains the derivative of a formula or of a Python function: closed form, derivation, check.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "what", metavar="EXPR", help="a formula, an equation, FILE.py:FUNCTION, or - to read a formula from stdin"
    )
    parser.add_argument(
        "--at", metavar="x=3", action="append", default=[], help="the point: --at x=3,y=4 or one --at for each variable"
    )
    parser.add_argument(
        "--wrt", metavar="x", help="the variables to differentiate with respect to, separated by commas"
    )
    parser.add_argument("--of", metavar="y", help="of an equation, the variable that depends on the others")
    parser.add_argument("--order", type=int, default=1, help="the order of the derivative")
    parser.add_argument("--steps", action="store_true", help="every rule and every rewrite")
    parser.add_argument("--known", metavar="RULES", help="rules that need no line, such as sum,power,chain")
    parser.add_argument(
        "--style", choices=("textbook", "reverse", "forward", "both"), default="textbook", help="whose steps"
    )
    parser.add_argument("--graph", action="store_true", help="the computation graph instead of the derivative")
    parser.add_argument("--format", choices=FORMATS, help="how to print (default: as the name of FILE ends, or text)")
    parser.add_argument("--width", type=int, default=0, help="columns of the text (default: the terminal's, or 80)")
    parser.add_argument("--ascii", action="store_true", help="no characters beyond ASCII")
    parser.add_argument("--precision", type=int, help="significant digits of numbers (default: 6)")
    parser.add_argument("--notation", metavar="WORDS", help="leibniz or lagrange, python or mathematics")
    parser.add_argument("--language", choices=("en", "zh"), help="of the sentences: English or Chinese")
    parser.add_argument("--theme", choices=("auto", "light", "dark"), help="colours of pages")
    parser.add_argument("--no-color", action="store_true", help="no colours in a terminal")
    parser.add_argument("-o", "--output", metavar="FILE", help="write the result there instead of to stdout")
    parser.add_argument("--version", action="version", version=f"gradexplain {_version()}")
    return parser


def _settings(options: argparse.Namespace) -> Change:
    """The settings for one run; where the stream can't show the language the sentences are in English."""
    asked = {name: getattr(options, name) for name in ("precision", "notation", "theme", "language")}
    change = settings(**asked, width=options.width or None)
    spoken, encoding = current().language, "ascii" if options.ascii else sys.stdout.encoding or "ascii"
    if not options.output and not is_encodable(spoken, encoding):
        settings(language="en")
    return change


def _version() -> str:
    from gradexplain import __version__

    return __version__


def _run(options: argparse.Namespace) -> int:
    from gradexplain.api import explain, explain_implicit
    from gradexplain.exposition.known import known_rules

    wrt = [name.strip() for name in options.wrt.split(",")] if options.wrt else None
    function = _function(options.what)
    point = dict(_assignment(text) for several in options.at for text in _NEXT_NAME.split(several))
    if callable(function) and wrt:  # integers that are not differentiated steer the function: sizes, indices
        point = {n: int(v) if n not in wrt and _is_whole(v) else v for n, v in point.items()}
    if options.of:
        explanation: Explanation = explain_implicit(function, of=options.of, wrt=wrt, order=options.order, **point)
    else:
        explanation = explain(function, wrt=wrt, order=options.order, **point)
    for note in explanation.reading_notes:
        print(f"gradexplain: {_visible(say(note))}", file=sys.stderr)
    if options.known:
        explanation.known = known_rules(options.known)
    _write(_rendered(explanation, options), options)
    return _verdict(explanation)


def _verdict(explanation: Explanation) -> int:
    if any(not _is_finite(v) for v in explanation.gradient_values.values()):
        return NO_DERIVATIVE
    report = explanation.data.check
    failed = report is not None and any(row.verdict == "fail" for row in report.rows)
    return CHECK_FAILED if failed else FINE


def _is_finite(value: Any) -> bool:
    return all(math.isfinite(v) for v in value.flat) if hasattr(value, "flat") else math.isfinite(value)


def _function(what: str) -> Any:
    """The formula's text, or the function that `FILE.py:FUNCTION` names (the file is run, as `import` would)."""
    if what == "-":
        return sys.stdin.read().strip()
    what = what.strip()
    file, colon, name = what.rpartition(":")
    if not (colon and file.endswith(".py")):
        return what
    path = Path(file)
    if not path.is_file():
        raise ArgumentError(
            f"there is no file {file}", fix="give a path to a Python file, a colon and a function in it"
        )
    return _loaded(path, name)


def _loaded(path: Path, name: str) -> Any:
    import importlib.util

    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.path.insert(0, str(path.parent))
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        raise FunctionError(
            f"{path.name} raises {type(error).__name__} when it is run: {error}", fix="run it with Python first"
        ) from error
    function = getattr(module, name, None)
    if not callable(function):
        found = ", ".join(n for n, v in vars(module).items() if callable(v) and not n.startswith("_")) or "none"
        raise ArgumentError(
            f"{path.name} has no function {name}", why=f"its functions are: {found}", fix="name one of them"
        )
    return function


def _assignment(text: str) -> tuple[str, Any]:
    """`x=3`, `x=pi/2`, `x=[1, 2, 3]` or the shape `x=(3, 2)`; nothing is evaluated as Python."""
    name, equals, value = text.partition("=")
    name = name.strip()
    if not equals or not name.isidentifier():
        raise ArgumentError(f"--at {text!r} is no assignment", fix="write it as --at x=3")
    try:
        return name, _number(value.strip())
    except (ValueError, ZeroDivisionError, OverflowError):
        raise ArgumentError(
            f"--at {text!r} has no number after the =", fix="write it as --at x=3, x=1/3 or x=[1, 2]"
        ) from None


def _is_whole(value: Any) -> bool:
    return isinstance(value, float) and value.is_integer()


def _number(text: str) -> Any:
    """A number, a formula without variables (pi/2), a list of numbers, or a shape such as (3, 2)."""
    if text.startswith("(") and text.endswith(")") and "," in text:
        return tuple(int(size) for size in text[1:-1].split(",") if size.strip())
    if text.startswith("["):
        import json

        import numpy as np

        return np.array(json.loads(text), dtype=float)
    if len(text) > 400:
        raise ValueError(text)
    try:
        return float(Fraction(text)) if "/" in text else float(text)
    except ValueError:
        from gradexplain.readers.functions import constant_value

        return constant_value(text)


def _rendered(explanation: Explanation, options: argparse.Namespace) -> Any:
    """What is to be printed: text, or something that rich can print."""
    shown: Any = explanation
    if options.graph or options.format in ("svg", "dot", "mermaid"):
        shown = explanation.picture()
    elif options.style != "textbook":
        shown = explanation.derivation(style=options.style)
    elif options.steps:
        explanation.detail = "full"
    ending = Path(options.output).suffix.lower() if options.output else ""
    match options.format or _ENDINGS.get(ending, "text"):
        case "latex":
            return shown.to_latex()
        case "tex":
            return shown.to_latex(standalone=True)
        case "notebook":
            return explanation.to_notebook()
        case "stepper":
            return explanation.stepper().to_html()
        case "markdown":
            return shown.to_markdown()
        case "html":
            return shown.to_html()
        case "json":
            return shown.to_json()
        case "python":
            return explanation.python()
        case "svg":
            return shown.to_svg()
        case "dot":
            return shown.to_dot()
        case "mermaid":
            return shown.to_mermaid()
    if _colours(options) and not options.graph:
        return shown
    return shown.to_text(options.width or _width(), unicode=False if options.ascii else None)


def _colours(options: argparse.Namespace) -> bool:
    plain = options.no_color or options.ascii or os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
    return options.output is None and not plain and sys.stdout.isatty()


def _width() -> int:
    import shutil

    is_asked = not sys.stdout.isatty() or os.environ.get("GRADEXPLAIN_WIDTH")
    return current().width if is_asked else max(40, shutil.get_terminal_size((80, 24)).columns)


def _write(result: Any, options: argparse.Namespace) -> None:
    if not isinstance(result, str):
        from rich.console import Console

        Console(width=options.width or None, highlight=False).print(result)
        return
    text = result if result.endswith("\n") else result + "\n"
    if options.output:
        try:
            Path(options.output).write_text(text, encoding="utf-8")
        except OSError as error:
            raise ArgumentError(
                f"can't write {options.output}: {error.strerror}", fix="choose another file with -o"
            ) from None
        return
    try:
        sys.stdout.write(text)
    except UnicodeEncodeError:
        sys.stdout.write(encodable(text))
    sys.stdout.flush()


def _exit_code(error: GradexplainError) -> int:
    if isinstance(error, (ParseError, ArgumentError)):
        return UNREADABLE
    if isinstance(error, (DomainError, FunctionError)):
        return NO_DERIVATIVE
    return UNSUPPORTED if isinstance(error, (NoRuleError, NotTraceableError)) else UNREADABLE


def _visible(text: str) -> str:
    """Control characters made visible: a message must not be able to steer the terminal."""
    return "".join(c if c == "\n" or c.isprintable() else f"\\x{ord(c):02x}" for c in text)


@contextmanager
def _patience() -> Iterator[None]:
    """Says on stderr that work goes on, if it takes long."""

    def say() -> None:
        print("gradexplain: still working ...", file=sys.stderr, flush=True)

    timer = threading.Timer(PATIENCE, say)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
