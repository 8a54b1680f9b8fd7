r"""Matrix notation in LaTeX: one entry a kind of expression, with the strength of NumPy's operators."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from gradexplain.escape import identifier_latex, math_text
from gradexplain.primitive import ATOM, COMPARE, POSTFIX, POWER, PRODUCT, SUM, Code
from gradexplain.simplify.tensor.notation import Form, product

_PRINTERS: dict[str, Callable[[Form, list[Code]], Code]] = {}
_FUNCTIONS = {
    "exp": r"\exp", "log": r"\log", "sin": r"\sin", "cos": r"\cos", "tan": r"\tan", "tanh": r"\tanh", "sinh": r"\sinh",
    "cosh": r"\cosh", "arcsin": r"\arcsin", "arccos": r"\arccos", "arctan": r"\arctan", "maximum": r"\max",
    "minimum": r"\min", "max": r"\max", "min": r"\min", "det": r"\det",
}  # fmt: skip
_INFIX = {
    "greater": ">", "less": "<", "greater_equal": r"\ge", "less_equal": r"\le", "equal": "=", "not_equal": r"\ne",
    "logical_and": r"\wedge", "logical_or": r"\vee",
}  # fmt: skip


def latex(form: Form) -> Code:
    """A form in LaTeX."""
    return _PRINTERS.get(form.op, _other)(form, [latex(p) for p in form.parts])


def _printer(*ops: str) -> Callable[[Callable[[Form, list[Code]], Code]], Callable[[Form, list[Code]], Code]]:
    def enter(function: Callable[[Form, list[Code]], Code]) -> Callable[[Form, list[Code]], Code]:
        _PRINTERS.update(dict.fromkeys(ops, function))
        return function

    return enter


def _at(code: Code, strength: int) -> str:
    return str(code) if code.strength >= strength else rf"\left({code}\right)"


def _called(function: str, parts: Sequence[Code]) -> Code:
    return Code(rf"{function}\left({', '.join(parts)}\right)", POSTFIX)


def _operator(name: str) -> str:
    return rf"\operatorname{{{name.replace('_', ' ')}}}"


def _other(form: Form, parts: list[Code]) -> Code:
    settings = [] if form.data is None else [Code(math_text(str(form.data)))]
    return _called(_operator(form.op), [*parts, *settings])


@_printer("name")
def _name(form: Form, parts: list[Code]) -> Code:
    return Code(identifier_latex(form.data))


@_printer("size")
def _size(form: Form, parts: list[Code]) -> Code:
    return Code(identifier_latex(form.data.letter))


@_printer("pi")
def _pi(form: Form, parts: list[Code]) -> Code:
    return Code({"pi": r"\pi"}.get(form.data, form.data))


@_printer("number")
def _number(form: Form, parts: list[Code]) -> Code:
    value = form.data
    if value.denominator == 1:
        return Code(str(value), ATOM if value >= 0 else SUM)
    sign = "-" if value < 0 else ""
    return Code(rf"{sign}\frac{{{abs(value.numerator)}}}{{{value.denominator}}}", PRODUCT if value > 0 else SUM)


@_printer("constant")
def _constant(form: Form, parts: list[Code]) -> Code:
    rows = np.atleast_2d(np.asarray(form.data.array, dtype=float))
    if rows.ndim > 2:
        return Code(math_text(str(rows.tolist()), "texttt"))
    body = r" \\ ".join(" & ".join(f"{x:g}" for x in row) for row in rows.tolist())
    return Code(rf"\begin{{bmatrix}}{body}\end{{bmatrix}}")


@_printer("add")
def _add(form: Form, parts: list[Code]) -> Code:
    text = str(parts[0])
    for p, code in zip(form.parts[1:], parts[1:], strict=True):
        if p.op == "neg":
            text += f" - {_at(latex(p.parts[0]), SUM + 1)}"
        else:
            text += f" - {code[1:]}" if code.startswith("-") else f" + {_at(code, SUM)}"
    return Code(text, SUM)


@_printer("neg")
def _negative(form: Form, parts: list[Code]) -> Code:
    return Code(f"-{_at(parts[0], PRODUCT)}", SUM)


@_printer("product")
def _product(form: Form, parts: list[Code]) -> Code:
    r"""Numbers stand in front of arrays; arrays are multiplied entry by entry, which is \odot."""
    text = ""
    for k, (p, code) in enumerate(zip(form.parts, parts, strict=True)):
        arrays = p.ndim and any(q.ndim for q in form.parts[:k])
        more = k + 1 < len(form.parts) and p.ndim
        tight = POWER if p.op in ("matmul", "outer") and (arrays or more) else PRODUCT
        shown = str(code) if k == 0 and p.op == "number" else _at(code, tight)
        text += (r" \odot " if arrays else r" \, " if k else "") + shown
    return Code(text, PRODUCT)


@_printer("quotient")
def _quotient(form: Form, parts: list[Code]) -> Code:
    above, below = form.parts
    if above.ndim and not below.ndim:
        front, rest = "1", above
        if above.op == "product" and above.parts[0].op == "number":
            front, rest = str(latex(above.parts[0])), product(above.parts[1:])
        return Code(rf"\frac{{{front}}}{{{parts[1]}}} {_at(latex(rest), PRODUCT)}", PRODUCT)
    return Code(rf"\frac{{{parts[0]}}}{{{parts[1]}}}", PRODUCT)


@_printer("power")
def _power(form: Form, parts: list[Code]) -> Code:
    base = rf"{{{_at(parts[0], POSTFIX + (form.parts[0].op in ('power', 'row')))}}}"
    entrywise = r"\circ " if form.ndim else ""
    return Code(rf"{base}^{{{entrywise}{form.data}}}", POWER)


@_printer("root")
def _root(form: Form, parts: list[Code]) -> Code:
    return Code(rf"\sqrt{{{parts[0]}}}")


@_printer("matmul")
def _matmul(form: Form, parts: list[Code]) -> Code:
    """A chain; vectors on the left are rows."""
    shown = [_at(code, POWER) for code in parts]
    if form.parts[0].ndim == 1:
        shown[0] = rf"{_at(parts[0], ATOM)}^\top" if parts[0].strength >= POSTFIX else rf"{_at(parts[0], POSTFIX)}^\top"
    return Code(r" \, ".join(shown), PRODUCT)


@_printer("T")
def _transposed(form: Form, parts: list[Code]) -> Code:
    (x,) = form.parts
    if x.op == "row" and x.data[0] == "inv":
        return Code(rf"{_at(latex(x.parts[0]), POSTFIX)}^{{-\top}}", POWER)
    return Code(rf"{_at(parts[0], POSTFIX)}^\top", POWER)


@_printer("outer")
def _outer(form: Form, parts: list[Code]) -> Code:
    return Code(rf"{_at(parts[0], POSTFIX)} \, {_at(parts[1], POSTFIX)}^\top", PRODUCT)


@_printer("diag", "diagonal")
def _diag(form: Form, parts: list[Code]) -> Code:
    return _called(_operator("diag"), parts)


@_printer("eye")
def _eye(form: Form, parts: list[Code]) -> Code:
    return Code("I")


@_printer("ones")
def _ones(form: Form, parts: list[Code]) -> Code:
    return Code(r"\mathbf{1}" if len(parts) == 1 else r"\mathbf{1} \mathbf{1}^\top", PRODUCT)


@_printer("zeros")
def _zeros(form: Form, parts: list[Code]) -> Code:
    return Code(r"\mathbf{0}")


@_printer("norm")
def _norm(form: Form, parts: list[Code]) -> Code:
    kind = "_F" if form.parts[0].ndim == 2 else ""
    return Code(rf"\left\lVert {parts[0]} \right\rVert{kind}")


@_printer("sum", "mean", "var", "std")
def _reduction(form: Form, parts: list[Code]) -> Code:
    (x,) = form.parts
    whole = form.data == tuple(range(x.ndim))
    axis = "" if whole else rf"_{{\text{{axis {','.join(map(str, form.data))}}}}}"
    return _called(_operator(form.op) + axis, parts)


@_printer("expand")
def _expanded(form: Form, parts: list[Code]) -> Code:
    return parts[0]


@_printer("squeeze", "reshape")
def _same(form: Form, parts: list[Code]) -> Code:
    return parts[0]


@_printer("item")
def _item(form: Form, parts: list[Code]) -> Code:
    keys = [parts[1] if e == "key" else str(e) if isinstance(e, int) else _slice(e) for e in form.data]
    return Code(rf"{_at(parts[0], POSTFIX)}_{{{','.join(keys)}}}", POSTFIX)


def _slice(entry: tuple[int | None, ...]) -> str:
    return ":".join("" if e is None else str(e) for e in (entry or (None, None, None))[:2])


@_printer("tril")
def _tril(form: Form, parts: list[Code]) -> Code:
    return Code(rf"L_{{{parts[0]}}}")


@_printer("reverse")
def _reverse(form: Form, parts: list[Code]) -> Code:
    return Code(rf"J_{{{parts[0]}}}")


@_printer("backwards")
def _backwards(form: Form, parts: list[Code]) -> Code:
    return _called(_operator("backwards"), parts)


@_printer("unit")
def _unit(form: Form, parts: list[Code]) -> Code:
    return Code(rf"e_{{{form.data[0]}}}")


@_printer("select")
def _select(form: Form, parts: list[Code]) -> Code:
    start, step, count, *_ = form.data
    return Code(rf"I_{{{start}:{start + step * count}}}")


@_printer("onehot")
def _onehot(form: Form, parts: list[Code]) -> Code:
    return Code(rf"I_{{{parts[0]}}}")


@_printer("einsum")
def _einsum(form: Form, parts: list[Code]) -> Code:
    """Sums over indices, written out."""
    left, output = form.data.split("->")
    terms = left.split(",")
    bound = list(dict.fromkeys(c for c in "".join(terms) if c not in output))
    factors = [rf"{_at(code, POSTFIX)}_{{{term}}}" for code, term in zip(parts, terms, strict=True)]
    total = rf"\sum_{{{','.join(bound)}}} " if bound else ""
    inside = total + r" \, ".join(factors)
    return Code(rf"\left[{inside}\right]_{{{output}}}" if output else inside, POSTFIX if output else SUM)


@_printer("row")
def _row(form: Form, parts: list[Code]) -> Code:
    name, params = form.data
    if name in ("as_number", "as_float"):
        return Code(rf"\left[{parts[0]}\right]")
    if name == "inv":
        return Code(rf"{_at(parts[0], POSTFIX)}^{{-1}}", POWER)
    if name == "abs":
        return Code(rf"\left|{parts[0]}\right|")
    if name in _INFIX:
        return Code(f" {_INFIX[name]} ".join(_at(p, SUM) for p in parts), COMPARE)
    settings = [math_text(f"{k}={v}") for k, v in params if v not in (False, None) and k != "keepdims"]
    return _called(_FUNCTIONS.get(name) or _operator(name), [*parts, *(Code(s) for s in settings)])
