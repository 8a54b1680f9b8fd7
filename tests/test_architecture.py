"""The rules that the code as a whole keeps: layers, sizes, what is imported when, what is never called."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import gradexplain

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "gradexplain"
SOURCES = sorted(PACKAGE.rglob("*.py"))
ALL = [*SOURCES, *sorted((ROOT / "tests").rglob("*.py")), *sorted((ROOT / "docs").rglob("*.py"))]
MOST_LINES = 400
MOST_LINES_OF_A_FUNCTION = 60

# Calls that run text as a program, or that let a library do so; with the modules that may make them.
RUNS_TEXT = {
    "exec": {"lambdify.py"},
    "compile": {"lambdify.py"},
    "eval": set(),
    "sympify": set(),
    "parse_expr": set(),
    "nsimplify": set(),
}


def tree_of(path):
    return ast.parse(path.read_text(encoding="utf-8"))


def name_of(path):
    return str(path.relative_to(ROOT))


@pytest.mark.parametrize("path", ALL, ids=name_of)
def test_no_file_is_too_long(path):
    assert len(path.read_text(encoding="utf-8").splitlines()) <= MOST_LINES


@pytest.mark.parametrize("path", ALL, ids=name_of)
def test_no_function_is_too_long(path):
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef)
    sizes = {n.name: n.end_lineno - n.lineno + 1 for n in ast.walk(tree_of(path)) if isinstance(n, kinds)}
    assert {n: s for n, s in sizes.items() if s > MOST_LINES_OF_A_FUNCTION} == {}


@pytest.mark.parametrize("path", SOURCES, ids=name_of)
def test_no_text_is_run_as_a_program(path):
    for node in ast.walk(tree_of(path)):
        if isinstance(node, ast.Call):
            called = node.func.id if isinstance(node.func, ast.Name) else None
            method = node.func.attr if isinstance(node.func, ast.Attribute) else None
            name = called or (method if method in ("sympify", "parse_expr", "nsimplify") else None)
            assert path.name in RUNS_TEXT.get(name, {path.name}), f"line {node.lineno}: {name}"
            owner = node.func.value if method else None
            assert not (isinstance(owner, ast.Name) and owner.id == "pickle" and method in ("load", "loads"))


def test_imports_run_downwards(monkeypatch, capsys):
    importlinter = pytest.importorskip("importlinter.cli")
    monkeypatch.chdir(ROOT)
    failed = importlinter.lint_imports(config_filename=str(ROOT / "pyproject.toml"), no_cache=True)
    assert not failed, capsys.readouterr().out


def modules_after(code):
    """The names of the modules that are loaded after a program ran in a Python of its own."""
    text = f"import sys\n{code}\nprint('\\n'.join(sys.modules), file=sys.stderr)"
    ran = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, cwd=ROOT, check=True)
    return set(ran.stderr.splitlines())


def test_the_import_loads_no_optional_or_slow_package():
    loaded = modules_after("import gradexplain")
    assert loaded & {"scipy", "rich", "IPython", "matplotlib", "sympy"} == set()


def test_derivatives_as_numbers_need_no_renderer():
    loaded = modules_after("import gradexplain as gx\nassert gx.grad(lambda x: x**2)(3.0) == 6.0")
    assert loaded & {"rich", "IPython", "matplotlib"} == set()


@pytest.mark.parametrize("option", ["--help", "--version"])
def test_help_loads_neither_sympy_nor_numpy(option):
    code = f"from gradexplain.cli import main\ntry:\n    main([{option!r}])\nexcept SystemExit:\n    pass"
    assert modules_after(code) & {"sympy", "numpy", "rich", "scipy"} == set()


PUBLIC = [n for n in gradexplain.__all__ if not n.startswith("__")]


@pytest.mark.parametrize("name", PUBLIC)
def test_public_names_are_documented_by_an_example(name):
    assert ">>>" in (getattr(gradexplain, name).__doc__ or "")


def test_public_names_exist_and_are_listed():
    assert sorted(gradexplain.__all__) == dir(gradexplain)
    for name in gradexplain.__all__:
        assert getattr(gradexplain, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'gradient'"):
        gradexplain.gradient  # noqa: B018
