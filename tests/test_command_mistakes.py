"""What people mistype and what nobody should type: an exit code, one clear message, and nothing executed."""

import os
import re
import subprocess
import sys
import time

import pytest

from gradexplain.cli import FORMATS, main

HOSTILE = [
    "__import__('os').system('touch pwned')", "open('pwned','w').write('1')", "x.__class__.__mro__",
    "[c for c in (1,2)]", "exec('import os; os.mkdir(\"pwned\")')", "x if print('EXECUTED') else x", "sin.__globals__",
    "x; __import__('os').mkdir('pwned')", "lambda: x", "f'{x}'", "((9**9)**9999)**9999*x", "10**1000000*x",
    "x" * 20_000, "(" * 3000 + "x" + ")" * 3000, "-" * 5000 + "x", "\x1b[31mx", "x\x00y", "\ud800", "", " ", "x = 3",
    "$(touch pwned)", "`touch pwned`", "%s%s%s%n", "../../etc/passwd", "missing.py:f", "a.py:b:c",
]  # fmt: skip


def ran(capsys, *arguments):
    """Exit code, stdout and stderr of the command, run in this process; nothing may take longer than 5 seconds."""
    start = time.perf_counter()
    try:
        code = main([str(a) for a in arguments])
    except SystemExit as stopped:
        code = stopped.code
    assert time.perf_counter() - start < 5
    out, err = capsys.readouterr()
    assert "Traceback" not in err
    assert all(c == "\n" or c.isprintable() for c in err)
    return code, out, err


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_text_is_refused(text, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code, out, err = ran(capsys, "--", text)
    assert (code, out) == (2, "")
    assert not err.startswith("EXECUTED")
    assert list(tmp_path.iterdir()) == []


MISTAKES = [  # arguments, exit code, words of the message
    (["x**2", "--at", "x="], 2, "has no number after the ="),
    (["x**2", "--at", "x=1/0"], 2, "has no number after the ="),
    (["x**2", "--at", "x=[1,"], 2, "has no number after the ="),
    (["x**2", "--at", "x=__import__('os')"], 2, "has no number after the ="),
    (["x**2", "--at", "x=" + "9" * 1000], 2, "has no number after the ="),
    (["x**2", "--at", "x=nan"], 2, "not finite"),
    (["x**2", "--at", "x=1e999"], 2, "not finite"),
    (["x**2", "--at", "1=2"], 2, "is no assignment"),
    (["x**2", "--order", "two"], 2, "--order"),
    (["x**2", "--style", "sideways"], 2, "--style"),
    (["x**2", "--format", "pdf"], 2, "--format"),
    (["x**2", "--nonsense"], 2, "--nonsense"),
    (["x**2", "-o", "/nowhere/at/all"], 2, "can't write"),
    ([], 2, "EXPR"),
    (["log(-1 - x**2)"], 3, "no value at any of the points"),
    (["sin(cos((x+1)/(x*(x-x))))*cos(x/(x-x))/(sin(x/x)-sin(1))"], 3, "x - x"),
]


@pytest.mark.parametrize(("arguments", "expected", "words"), MISTAKES)
def test_mistakes(arguments, expected, words, capsys):
    code, out, err = ran(capsys, *arguments)
    assert (code, out) == (expected, "")
    assert words in err


@pytest.mark.parametrize("text", ["import nothing_at_all", "def f(:", "raise SystemExit(0)", "1/0", "\x00"])
def test_files_that_cannot_be_run(tmp_path, capsys, text):
    path = tmp_path / "broken.py"
    path.write_text(text)
    code, out, err = ran(capsys, f"{path}:f")
    assert code in (2, 3)
    assert out == ""
    assert "broken.py raises" in err


MODEL = """
import numpy as np
def fails(x): raise ValueError("no such thing")
def unsupported(x): return np.nextafter(x, 1.0) * x
"""


@pytest.mark.parametrize(
    ("function", "expected", "words"),
    [("", 2, "has no function"), ("\x1b[2Jf", 2, "fails, unsupported"), ("fails", 3, "no such thing"),
     ("unsupported", 4, "nextafter")],
)  # fmt: skip
def test_functions_that_fail(tmp_path, capsys, function, expected, words):
    path = tmp_path / "model.py"
    path.write_text(MODEL)
    code, _, err = ran(capsys, f"{path}:{function}", "--at", "x=1")
    assert code == expected
    assert words in err


@pytest.mark.parametrize("style", ["textbook", "reverse", "forward"])
@pytest.mark.parametrize("form", FORMATS)
def test_styles_in_all_formats(style, form, capsys):
    code, out, _ = ran(capsys, "x**2*sin(x)", "--at", "x=3", "--style", style, "--format", form, "--steps")
    assert code == 0
    assert out.endswith("\n")


def test_a_failed_check_is_an_exit_code(capsys, monkeypatch):
    from gradexplain import explanation
    from gradexplain.exposition.model import CheckReport, CheckRow

    bad = CheckReport(False, (CheckRow("x", 6.0, 5.0, 1.0, 1e-6, "fail", "the slope is 5"),), (("x", 3.0),))
    monkeypatch.setattr(explanation.Explanation, "_report", lambda self, gradient=None, *, black_box: bad)
    code, out, _ = ran(capsys, "x**2", "--at", "x=3")
    assert code == 1
    assert "fail" in out


def test_it_says_so_when_it_takes_long(capsys, monkeypatch):
    from gradexplain import cli

    monkeypatch.setattr(cli, "PATIENCE", 0.01)
    monkeypatch.setattr(cli, "_run", lambda options: time.sleep(0.2) or 0)
    code, _, err = ran(capsys, "x")
    assert (code, err) == (0, "gradexplain: still working ...\n")


def test_ctrl_c(capsys, monkeypatch):
    from gradexplain import cli

    def interrupted(options):
        raise KeyboardInterrupt

    monkeypatch.setattr(cli, "_run", interrupted)
    assert ran(capsys, "x") == (130, "", "gradexplain: stopped\n")


def test_a_reader_that_goes_away_is_no_error():
    shell = f"{sys.executable} -m gradexplain 'x**2*sin(x)' --steps | head -1"
    done = subprocess.run(["sh", "-c", shell], capture_output=True, text=True, timeout=60)
    assert "Traceback" not in done.stderr
    assert len(done.stdout.splitlines()) == 1


def test_output_that_cannot_encode_what_is_shown():
    environment = os.environ | {"PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}
    command = [sys.executable, "-m", "gradexplain", "α^2", "--style", "reverse"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, env=environment)
    assert "Traceback" not in done.stderr
    assert done.returncode == 0


def test_help_and_version_load_nothing():
    code = "import sys; from gradexplain.cli import main\ntry: main(['--version'])\nexcept SystemExit: pass\n"
    code += "print([m for m in ('sympy', 'rich', 'mpmath', 'numpy') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert re.match(r"gradexplain \d+\.\d+", done.stdout)
    assert done.stdout.splitlines()[-1] == "[]"
