"""The magics: in a shell of IPython, with the functions and values of its user, and errors without our insides."""

import io
from contextlib import redirect_stdout

import numpy as np
import pytest

import gradexplain as gx
from gradexplain.errors import ArgumentError, FunctionError, ParseError
from gradexplain.jupyter import Request

interactiveshell = pytest.importorskip("IPython.core.interactiveshell")


@pytest.fixture
def shell(tmp_path, monkeypatch):
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path))
    made = interactiveshell.InteractiveShell()
    made.history_manager.enabled = False
    made.run_line_magic("load_ext", "gradexplain")
    made.user_ns.update(np=np, a=2.0, w=np.array([1.0, 2.0]))
    made.run_cell("def f(x, n=2):\n    u = x**n\n    return u * np.sin(x)", store_history=False)
    yield made
    made.run_line_magic("unload_ext", "gradexplain")


def run(shell, source):
    """What a cell gives."""
    with redirect_stdout(io.StringIO()):
        result = shell.run_cell(source, store_history=False, silent=False)
    result.raise_error()
    return result.result


@pytest.mark.parametrize(
    ("line", "text", "value"),
    [
        ("%explain f", "x*(2*sin(x) + x*cos(x))", None),
        ("%explain f x=3.0", "x*(2*sin(x) + x*cos(x))", -8.0632124),
        ("%explain f(3.0)", "x*(2*sin(x) + x*cos(x))", -8.0632124),
        ("%explain f(x=a+1, n=3) --wrt x", "u*(3*sin(x)/x + cos(x))", None),
        ("%explain lambda t: t**2 t=3", "2*t", 6.0),
        ("%explain x**3  x=a", "3*x**2", 12.0),
        ("%explain x^2 sin x", "x*(2*sin(x) + x*cos(x))", None),
        ("%explain a*x**2 x=3", "2*a*x", 12.0),
        ("%explain x**3 --order 2 x=1", "6*x", 6.0),
        ("%explain np.sin x=0.0", "cos(x)", 1.0),
        ("%explain x**2 + y**2 = 25 x=3, y=4", "-x/y", -0.75),
        ("%explain u*v = 1 --of v --wrt u", "-v/u", None),
    ],
)
def test_lines(shell, line, text, value):
    e = run(shell, line)
    assert next(iter(e.gradients.values())).text == text or value is None
    if value is not None:
        assert next(iter(e.gradient_values.values())) == pytest.approx(value)


def test_functions_keep_the_names_and_lines_of_their_cell(shell):
    e = run(shell, "%explain f x=3.0")
    assert [(row.name, row.place.line) for row in e.tape if row.place] == [("u", 2), ("v1", 3), ("y", 3)]
    assert e.tape[1].place.text == "u = x**n"


def test_cells_are_functions_of_what_they_leave_open(shell):
    e = run(shell, "%%explain x=3.0\nu = x**2\nv = np.sin(x)\nu * v")
    assert e.wrt == ("x",)
    assert e.gradient_values["x"] == pytest.approx(-8.0632124)
    assert [(row.name, row.place.line) for row in e.tape if row.place] == [("u", 2), ("v", 3), ("y", 4)]
    assert "cell" not in shell.user_ns
    open_ = run(shell, "%%explain\nz = p * q\nz += p\n")
    assert open_.wrt == ("p", "q")
    assert open_["p"].text == "q + 1"


def test_cells_may_be_a_formula_or_end_with_a_function(shell):
    assert run(shell, "%%explain x=2\nx^2 sin x").value == pytest.approx(4 * np.sin(2))
    assert run(shell, "%%explain x=2\nx**2").gradient_values == {"x": 4.0}
    e = run(shell, "%%explain t=2.0\nk = 3\ndef g(t):\n    s = t**k\n    return s\n")
    assert (e.program.name, e.gradient_values["t"]) == ("g", 12.0)
    assert shell.user_ns["k"] == 3


def test_a_name_of_the_user_is_given_back(shell):
    shell.user_ns["cell"] = 7
    run(shell, "%%explain x=1.0\ny = x**2\ny*x")
    assert shell.user_ns["cell"] == 7


def test_options_choose_what_is_shown(shell):
    assert "Reverse mode" in str(run(shell, "%explain f x=3.0 --style reverse"))
    assert "1.1" in str(run(shell, "%explain x**2*sin(3*x) --steps"))
    assert "step by step" in str(run(shell, "%explain f x=3.0 --stepper"))
    assert run(shell, "%explain x*y --wrt y").wrt == ("y",)


def test_the_other_magics(shell):
    assert run(shell, "%gradcheck f x=3.0").ok
    assert not run(shell, "%gradcheck x**3 x=5 --gradient 74.0").ok
    assert run(shell, "%gradcheck x**3 x=5 --gradient 37*a+1").ok
    assert "y does not appear: its derivative is 0" in str(run(shell, "%why lambda x, y: x**2 x=1.0, y=2.0"))
    assert "Reverse mode" in str(run(shell, "%tape f x=3.0"))


@pytest.mark.parametrize(
    ("line", "error", "words"),
    [
        ("%explain", ArgumentError, "nothing to explain"),
        ("%explain f x=nothing", ArgumentError, "x=nothing has no value"),
        ("%explain w", ArgumentError, "w is no function"),
        ("%explain x**", ParseError, "x**"),
        ("%explain f x=1 --order many", ArgumentError, "--order many is no order"),
        ("%explain f x=1 --style sideways", ArgumentError, "no style 'sideways'"),
        ("%%explain\n# nothing\n", ArgumentError, "empty"),
        ("%%explain x**2\nx**2\n", ArgumentError, "no value of an argument"),
        ("%%explain x=1.0\nfor i in range(3):\n    x = x*2\n", ArgumentError, "does not end with a value"),
        ("%%explain x=1.0\nraise ValueError('no')\nx", FunctionError, "ValueError"),
    ],
)
def test_errors_are_messages_of_ours_without_our_lines(shell, line, error, words, capsys):
    result = shell.run_cell(line, store_history=False)
    shown = capsys.readouterr().out
    assert type(result.error_in_exec) is error
    assert words in shown
    assert shown.strip().startswith(f"{error.__name__}: ")
    assert "Traceback" not in shown
    assert "gradexplain/" not in shown


def test_the_magics_go_away_again(shell):
    shell.run_line_magic("unload_ext", "gradexplain")
    assert not {"explain", "gradcheck", "why", "tape"} & set(shell.magics_manager.magics["line"])
    shell.run_line_magic("load_ext", "gradexplain")


def test_lines_are_read_without_a_shell():
    assert Request.read("x**2 == 3") == Request("x**2 == 3", {}, {})
    assert Request.read("f(x=3)") == Request("f(x=3)", {}, {})
    assert Request.read("f x=[1, 2] y=g(z=3), k='a b'").values == {"x": "[1, 2]", "y": "g(z=3)", "k": "'a b'"}
    assert Request.read("f --steps --order=2 x=1").options == {"steps": "", "order": "2"}


def test_the_package_brings_the_extension():
    assert callable(gx.load_ipython_extension)
    assert "load_ipython_extension" not in gx.__all__
