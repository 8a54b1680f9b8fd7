"""The command line: what it prints where, exit codes, and text that nobody should type."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from gradexplain.cli import main

MODEL = """
import numpy as np


def loss(w, X, y):
    return np.mean((X @ w - y) ** 2)


def slope(x):
    if x > 0:
        return x**2
    return -x


def pick(z, t):
    return -np.log(z[t])


value = 3
"""


@pytest.fixture
def model(tmp_path):
    path = tmp_path / "model.py"
    path.write_text(MODEL)
    return str(path)


def run(capsys, *arguments):
    code = main(list(arguments))
    captured = capsys.readouterr()
    return code, captured.out, captured.err


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["x**2"], "dy/dx = 2*x"),
        (["x^2", "--at", "x=3"], "dy/dx = 6"),
        (["x**2 * sin(x)", "--steps"], "product rule"),
        (["x**3", "--order", "2"], "d^2y/dx^2 = 6*x"),
        (["x*sin(x)", "--known", "product"], "dy/dx = sin(x) + x*cos(x)\n"),
        (["a*x**2", "--wrt", "x"], "= 2*a*x"),
        (["sin(x)", "--at", "x=pi/2", "--style", "reverse"], "The seed is y_bar = 1."),
        (["sin(x)", "--at", "x=1", "--style", "forward"], "x_dot = 1"),
        (["E*A*3/4", "--at", "E=1", "--at", "A=10.2"], "dy/dE = 7.65"),
        (["lambda**2", "--at", "lambda=3"], "dy/dlambda = 6"),
        (["1/3*x", "--at", "x=3"], "dy/dx = 1/3"),
        (["x**2", "--format", "latex"], r"\frac{d y}{d x} &= 2 x"),
        (["x**2", "--format", "markdown"], "$$"),
        (["x**2", "--format", "html"], "<html"),
        (["-x^2", "--at", "x=3"], "dy/dx = -6"),
    ],
)
def test_what_is_printed(capsys, arguments, expected):
    code, out, _ = run(capsys, *arguments)
    assert code == 0
    assert expected in out


def test_json_is_json(capsys):
    _, out, _ = run(capsys, "x**2", "--format", "json")
    assert json.loads(out)["type"] == "Overview"


def test_python_source_runs_and_uses_the_closed_form(capsys):
    _, out, _ = run(capsys, "x**x", "--format", "python")
    assert "x**x*(np.log(x) + 1)" in out
    space = {}
    exec(out, space)
    assert space["derivative"](2.0) == pytest.approx(4 * (0.6931471805599453 + 1))


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["foo(x)"], 2, "unknown function foo"),
        (["__import__('os').system('true')"], 2, "'"),
        (["9**9**9"], 2, "bits"),
        (["((9**9)**9999)**9999*x"], 2, "bits"),
        (["10**1000000*x"], 2, ""),
        (["x;y"], 2, ";"),
        (["x**2", "--at", "x"], 2, "--at x=3"),
        (["x**2", "--at", "x=two"], 2, "number"),
        (["x**2", "--at", "y=1"], 2, "no argument y"),
        (["x**2", "--wrt", "z"], 2, "no argument z"),
        (["x**2", "--order", "0"], 2, "order"),
        (["x**2", "--known", "magic"], 2, "no rule 'magic'"),
        (["x**2", "--order", "99"], 2, "order"),
        (["no_such_file.py:f"], 2, "no file"),
        (["log(x)", "--at", "x=-1"], 3, "fails"),
        (["sqrt(-1 - x**2)"], 3, "no value"),
        (["1/x", "--at", "x=0"], 3, ""),
    ],
)
def test_exit_codes_and_messages(capsys, arguments, code, words):
    found, _, err = run(capsys, *arguments)
    assert found == code
    assert words in err
    assert "Traceback" not in err


def test_a_vertical_tangent_is_explained_and_has_no_derivative(capsys):
    code, out, _ = run(capsys, "sqrt(x)", "--at", "x=0")
    assert code == 3
    assert "slope inf" in out


def test_functions_of_a_file(capsys, model):
    code, out, _ = run(capsys, f"{model}:slope")
    assert code == 0
    assert "dy/dx = 2*x if x > 0 else -1" in out
    code, out, _ = run(
        capsys, f"{model}:loss", "--at", "w=[0,0]", "--at", "X=[[1,2],[3,4]]", "--at", "y=[1,2]", "--wrt", "w"
    )
    assert code == 0
    assert "X.T @" in out
    code, out, _ = run(capsys, f"{model}:loss", "--at", "w=(2,)", "--at", "X=(3,2)", "--at", "y=(3,)", "--wrt", "w")
    assert code == 0
    code, _, _ = run(capsys, f"{model}:pick", "--at", "z=[1,2,3]", "--at", "t=1", "--wrt", "z")
    assert code == 0


@pytest.mark.parametrize(("name", "words"), [("nothing", "loss"), ("value", "loss")])
def test_a_file_without_the_function_lists_what_it_has(capsys, model, name, words):
    code, _, err = run(capsys, f"{model}:{name}")
    assert code == 2
    assert words in err


def test_numbers_that_were_taken_for_arrays(capsys, model):
    code, _, err = run(capsys, f"{model}:loss")
    assert code == 2
    assert "were taken as single numbers" in err


def test_a_formula_from_standard_input(capsys, monkeypatch):
    monkeypatch.setattr(sys, "stdin", type("Input", (), {"read": staticmethod(lambda: "x**2\n")}))
    code, out, _ = run(capsys, "-")
    assert code == 0
    assert "dy/dx = 2*x" in out


def test_output_to_a_file(capsys, tmp_path):
    target = tmp_path / "out.txt"
    assert main(["x**2", "-o", str(target)]) == 0
    assert "dy/dx = 2*x" in target.read_text()
    assert capsys.readouterr().out == ""
    assert main(["x**2", "-o", str(tmp_path / "no" / "such")]) == 2


@pytest.mark.parametrize(
    "text", ["\x1b[31mx", "x\u202e", "[link=javascript:x]", "<script>alert(1)</script>", "$x$", "\\input{x}"]
)
def test_hostile_text_is_refused_and_shown_harmlessly(capsys, text):
    code, out, err = run(capsys, text)
    assert code == 2
    assert "\x1b" not in out + err
    assert "\u202e" not in out + err


def test_the_command_itself():
    done = subprocess.run([sys.executable, "-m", "gradexplain", "x**2"], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0
    assert "dy/dx = 2*x" in done.stdout
    assert "\x1b" not in done.stdout


def test_hash_seeds_do_not_change_the_output():
    outputs = {
        subprocess.run(
            [sys.executable, "-m", "gradexplain", "a*exp(-b*x)*sin(x+a)", "--steps"],
            capture_output=True, text=True, timeout=60, env={"PYTHONHASHSEED": str(seed), "PATH": ""},
        ).stdout
        for seed in (1, 2, 3)
    }  # fmt: skip
    assert len(outputs) == 1
    assert outputs.pop()


def test_the_graph_is_drawn(capsys):
    assert main(["x**2 * sin(x)", "--at", "x=3", "--graph", "--width", "100"]) == 0
    assert "x = 3 -+" in capsys.readouterr().out


@pytest.mark.parametrize(("kind", "start"), [("svg", "<svg "), ("dot", "digraph {"), ("mermaid", "flowchart LR")])
def test_the_graph_in_other_languages(capsys, kind, start):
    assert main(["x**2 * sin(x)", "--at", "x=3", "--format", kind]) == 0
    assert capsys.readouterr().out.startswith(start)


@pytest.mark.parametrize(
    ("asked", "begin"),
    [
        ("text", "x**2\n"),
        ("latex", "\\section*"),
        ("tex", "\\documentclass"),
        ("markdown", "# x"),
        ("html", "<!DOCTYPE html>"),
        ("json", '{"schema": 2'),
        ("python", "import numpy as np"),
        ("notebook", '{\n "cells"'),
        ("stepper", "<!DOCTYPE html>"),
    ],
)
def test_every_format_goes_to_stdout(capsys, asked, begin):
    code, out, _ = run(capsys, "x**2", "--at", "x=3", "--format", asked)
    assert code == 0
    assert out.startswith(begin)


@pytest.mark.parametrize(
    ("name", "begin"),
    [("a.tex", "\\documentclass"), ("a.md", "# x"), ("a.ipynb", "{"), ("a.out", "x**2\n"), ("A.HTML", "<!")],
)
def test_the_name_of_the_file_tells_the_format(capsys, tmp_path, name, begin):
    path = tmp_path / name
    code, out, _ = run(capsys, "x**2", "-o", str(path))
    assert (code, out) == (0, "")
    assert path.read_text().startswith(begin)


def test_an_asked_format_goes_before_the_name(capsys, tmp_path):
    path = tmp_path / "a.txt"
    run(capsys, "x**2", "-o", str(path), "--format", "json")
    assert path.read_text().startswith('{"schema"')


def test_settings_are_options_for_one_run(capsys):
    _, out, _ = run(capsys, "x**2/3", "--at", "x=1", "--precision", "3", "--notation", "lagrange")
    assert "y = 0.333, y' = 0.667" in out
    _, out, _ = run(capsys, "x**2/3", "--at", "x=1")
    assert "y = 0.333333, dy/dx = 0.666667" in out


def test_settings_of_the_environment(capsys, monkeypatch):
    monkeypatch.setenv("GRADEXPLAIN_UNICODE", "1")
    assert "y = x²" in run(capsys, "x**2")[1]
    assert "y = x**2" in run(capsys, "x**2", "--ascii")[1]
    monkeypatch.setenv("GRADEXPLAIN_PRECISION", "many")
    code, _, err = run(capsys, "x**2", "--at", "x=1/3")
    assert code == 2
    assert "GRADEXPLAIN_PRECISION='many' is no setting" in err


@pytest.mark.parametrize("wrong", [["--precision", "0"], ["--width", "3"], ["--notation", "newton"]])
def test_wrong_settings_are_errors(capsys, wrong):
    code, out, err = run(capsys, "x**2", *wrong)
    assert (code, out) == (2, "")
    assert "is no setting" in err
