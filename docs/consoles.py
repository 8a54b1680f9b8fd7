"""The console blocks of the documentation: reads them, runs their commands, writes what the commands print.

`python docs/consoles.py` brings all pages up to date after the program's output has changed; a test compares them.
Only `gradexplain` is run. A Python block that begins with a comment such as `# model.py` is a file for the commands.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import shlex
import tempfile
from collections.abc import Iterator
from pathlib import Path

from gradexplain.cli import main

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PAGES = [ROOT / "README.md", *sorted(DOCS.glob("*.md")), *sorted((DOCS / "how-to").glob("*.md"))]
_CONSOLE = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_FILE = re.compile(r"^```python\n(# (\w+\.py)\n.*?)^```$", re.MULTILINE | re.DOTALL)
_WAITING = "gradexplain: still working ...\n"


def sessions(text: str) -> Iterator[tuple[str, str]]:
    """The commands of a page, each with what the page says that it prints."""
    for block in _CONSOLE.findall(text):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, output = part.partition("\n")
            yield command, output.strip("\n")


def printed(command: str, text: str) -> str:
    """What a command prints, messages first, run beside the files that the page shows."""
    program, *arguments = shlex.split(command)
    if program != "gradexplain":
        raise ValueError(f"only gradexplain is run, not {program}")
    out, err = io.StringIO(), io.StringIO()
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        for body, name in _FILE.findall(text):
            Path(name).write_text(body, encoding="utf-8")
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            main(arguments)
    shown = err.getvalue().replace(_WAITING, "") + out.getvalue()
    return "\n".join(line.rstrip() for line in shown.strip("\n").splitlines())


def updated(text: str) -> str:
    """The page with the output of every command as it is now."""

    def block(found: re.Match[str]) -> str:
        runs = [f"$ {command}\n{printed(command, text)}\n" for command, _ in sessions(found[0])]
        return "```console\n" + "\n".join(runs) + "```"

    return _CONSOLE.sub(block, text)


if __name__ == "__main__":
    os.environ["NO_COLOR"] = "1"
    for page in PAGES:
        before = page.read_text(encoding="utf-8")
        after = updated(before)
        if after != before:
            page.write_text(after, encoding="utf-8")
