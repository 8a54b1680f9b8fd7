"""Matrix notation as NumPy source: one entry a kind of expression."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gradexplain.graph import TABLE
from gradexplain.primitive import ATOM, POSTFIX, POWER, PRODUCT, SIGN, SUM, Code
from gradexplain.simplify.tensor.notation import Form, is_decimal, replaced, subforms

_PRINTERS: dict[str, Callable[[Form, list[Code]], Code]] = {}


def numpy_source(form: Form) -> Code:
    """A form as NumPy source over the arguments and `np`."""
    return _PRINTERS[form.op](form, [numpy_source(p) for p in form.parts])


def _printer(*ops: str) -> Callable[[Callable[[Form, list[Code]], Code]], Callable[[Form, list[Code]], Code]]:
    def enter(function: Callable[[Form, list[Code]], Code]) -> Callable[[Form, list[Code]], Code]:
        _PRINTERS.update(dict.fromkeys(ops, function))
        return function

    return enter


@_printer("name")
def _name(form: Form, parts: list[Code]) -> Code:
    return Code(form.data)


@_printer("size")
def _size(form: Form, parts: list[Code]) -> Code:
    return Code(str(form.data))


@_printer("pi")
def _pi(form: Form, parts: list[Code]) -> Code:
    return Code(f"np.{form.data}")


@_printer("number")
def _number(form: Form, parts: list[Code]) -> Code:
    value = form.data
    if value.denominator == 1:
        return Code(str(value), ATOM if value >= 0 else SUM)
    if is_decimal(value):
        return Code(repr(float(value)), ATOM if value >= 0 else SUM)
    return Code(f"{value.numerator}/{value.denominator}", PRODUCT if value > 0 else SUM)


@_printer("constant")
def _constant(form: Form, parts: list[Code]) -> Code:
    array = form.data.array
    return Code(f"np.array({np.asarray(array).tolist()})")


@_printer("add")
def _add(form: Form, parts: list[Code]) -> Code:
    text = str(parts[0]) if form.parts[0].op == "neg" else parts[0].at(SUM)
    for p, code in zip(form.parts[1:], parts[1:], strict=True):
        if p.op == "neg":
            text += f" - {numpy_source(p.parts[0]).at(SUM + 1)}"
        elif code.startswith("-") and code.strength >= SUM:
            text += f" - {code[1:]}"
        else:
            text += f" + {code.at(SUM + 1)}"
    return Code(text, SUM)


@_printer("neg")
def _negative(form: Form, parts: list[Code]) -> Code:
    """-(X @ w), which does not turn the signs of all of X."""
    (x,) = form.parts
    if x.op == "matmul" and all(p.op == "name" for p in x.parts):
        return Code(f"-({parts[0]})", SUM)
    return Code(f"-{parts[0].at(PRODUCT)}", SUM)


@_printer("product")
def _product(form: Form, parts: list[Code]) -> Code:
    shown: list[str] = []
    for k, (p, code) in enumerate(zip(form.parts, parts, strict=True)):
        if k == 0 and code.startswith("-") and p.op == "number":
            shown.append(str(code))
        elif p.op == "matmul" and (k == 0 or (k == len(parts) - 1 and all(q.ndim == 0 for q in form.parts[:k]))):
            shown.append(str(code) if k == 0 or p.ndim else f"({code})")
        else:
            shown.append(code.at(PRODUCT if k == 0 else PRODUCT + 1) if p.op != "matmul" else f"({code})")
    return Code("*".join(shown), PRODUCT)


@_printer("quotient")
def _quotient(form: Form, parts: list[Code]) -> Code:
    return Code(
        f"{parts[0].at(PRODUCT) if form.parts[0].op != 'matmul' else parts[0]}/{parts[1].at(PRODUCT + 1)}", PRODUCT
    )


@_printer("power")
def _power(form: Form, parts: list[Code]) -> Code:
    exponent = form.data
    text = (
        str(exponent)
        if exponent.denominator == 1
        else repr(float(exponent))
        if is_decimal(exponent)
        else f"({exponent})"
    )
    return Code(f"{parts[0].at(POWER + 1)}**{text}", POWER)


@_printer("root")
def _root(form: Form, parts: list[Code]) -> Code:
    return Code(f"np.sqrt({parts[0]})")


@_printer("matmul")
def _matmul(form: Form, parts: list[Code]) -> Code:
    return Code(" @ ".join(code.at(SIGN) for code in parts), PRODUCT)


@_printer("T")
def _transposed(form: Form, parts: list[Code]) -> Code:
    if form.ndim > 2:
        return Code(f"np.swapaxes({parts[0]}, -1, -2)")
    return Code(f"{parts[0].at(POSTFIX)}.T", POSTFIX)


@_printer("permute")
def _permuted(form: Form, parts: list[Code]) -> Code:
    return Code(f"np.transpose({parts[0]}, {form.data})")


@_printer("outer")
def _outer(form: Form, parts: list[Code]) -> Code:
    return Code(f"np.outer({parts[0]}, {parts[1]})")


@_printer("diag", "diagonal")
def _diag(form: Form, parts: list[Code]) -> Code:
    return Code(f"np.diag({parts[0]})")


@_printer("eye")
def _eye(form: Form, parts: list[Code]) -> Code:
    return Code(f"np.eye({parts[0]})")


@_printer("ones", "zeros")
def _filled(form: Form, parts: list[Code]) -> Code:
    return Code(f"np.{form.op}({parts[0]})" if len(parts) == 1 else f"np.{form.op}(({', '.join(parts)}))")


@_printer("norm")
def _norm(form: Form, parts: list[Code]) -> Code:
    return Code(f"np.linalg.norm({parts[0]})")


@_printer("sum", "mean", "var", "std")
def _reduction(form: Form, parts: list[Code]) -> Code:
    (x,) = form.parts
    if form.data == tuple(range(x.ndim)):
        return Code(f"np.{form.op}({parts[0]})")
    axis = form.data[0] if len(form.data) == 1 else form.data
    return Code(f"np.{form.op}({parts[0]}, axis={axis})")


@_printer("expand")
def _expanded(form: Form, parts: list[Code]) -> Code:
    (x,) = form.parts
    if (
        x.op in ("sum", "mean", "var", "std")
        and x.parts[0].ndim == len(form.data)
        and all(kept == (k not in x.data) for k, kept in enumerate(form.data))
    ):
        return Code(f"{parts[0][:-1]}, keepdims=True)")
    pattern = ", ".join(":" if kept else "None" for kept in form.data)
    return Code(f"{parts[0].at(POSTFIX)}[{pattern}]", POSTFIX)


@_printer("squeeze")
def _squeezed(form: Form, parts: list[Code]) -> Code:
    ndim = form.parts[0].ndim
    if len(form.data) == ndim:
        return Code(f"{parts[0].at(POSTFIX)}.item()", POSTFIX)
    axis: Any = form.data[0] if len(form.data) == 1 else form.data
    return Code(f"np.squeeze({parts[0]}, {axis})")


@_printer("reshape")
def _reshaped(form: Form, parts: list[Code]) -> Code:
    return Code(f"np.reshape({parts[0]}, {form.data})")


@_printer("item")
def _item(form: Form, parts: list[Code]) -> Code:
    keys = [_key(e, parts) for e in form.data]
    return Code(f"{parts[0].at(POSTFIX)}[{', '.join(keys)}]", POSTFIX)


def _key(entry: Any, parts: list[Code]) -> str:
    if isinstance(entry, int):
        return str(entry)
    if entry == "key":
        return str(parts[1])
    start, stop, step = entry or (None, None, None)
    shown = f"{start or ''}:{'' if stop is None else stop}"
    return f"{shown}:{step}" if step else shown


@_printer("tril")
def _tril(form: Form, parts: list[Code]) -> Code:
    return Code(f"np.tril(np.ones(({parts[0]}, {parts[0]})))")


@_printer("reverse")
def _reverse(form: Form, parts: list[Code]) -> Code:
    return Code(f"np.eye({parts[0]})[::-1]", POSTFIX)


@_printer("backwards")
def _backwards(form: Form, parts: list[Code]) -> Code:
    keys = [":"] * form.data + ["::-1"]
    return Code(f"{parts[0].at(POSTFIX)}[{', '.join(keys)}]", POSTFIX)


@_printer("unit")
def _unit(form: Form, parts: list[Code]) -> Code:
    return Code(f"np.eye({parts[0]})[{form.data[0]}]", POSTFIX)


@_printer("select")
def _select(form: Form, parts: list[Code]) -> Code:
    return Code(f"np.eye({parts[0]})[{_key(form.data[4], parts)}]", POSTFIX)


@_printer("onehot")
def _onehot(form: Form, parts: list[Code]) -> Code:
    return Code(f"np.eye({parts[1]})[{parts[0]}]", POSTFIX)


@_printer("pad")
def _pad(form: Form, parts: list[Code]) -> Code:
    widths = form.data[0] if len(form.data) == 1 else form.data
    return Code(f"np.pad({parts[0]}, {widths})")


@_printer("einsum")
def _einsum(form: Form, parts: list[Code]) -> Code:
    return Code(f"np.einsum({form.data!r}, {', '.join(parts)})")


_WHOLE = {"prod", "max", "min", "cumsum", "cumprod"}  # need no axis where there is one alone


@_printer("row")
def _row(form: Form, parts: list[Code]) -> Code:
    name, params = form.data
    if name == "as_number":
        return Code(parts[0], parts[0].strength)
    if name == "as_float":
        return Code(f"1.0*{parts[0].at(PRODUCT + 1)}", PRODUCT)
    if name in _WHOLE and form.parts[0].ndim == 1 and not dict(params).get("keepdims"):
        return Code(f"np.{name}({parts[0]})")
    if name == "product_of_others" and form.parts[0].ndim == 1:  # each entry of a row but one
        return Code(f"np.prod(np.where(np.eye({parts[0].at(POSTFIX)}.size) == 1, 1, {parts[0]}), axis=1)")
    if name == "abs":
        return Code(f"np.abs({parts[0]})")
    printer = TABLE[name].numpy
    assert printer is not None
    text = printer(*parts, **dict(params))
    return text if type(text) is Code else Code(text)


def text(form: Form) -> str:
    """A form as a reader has it in mind: sizes by their letters, functions without the names of modules."""
    sizes = {p for p in subforms(form) if p.op == "size"}
    letters = {
        p: Form("product" if "*" in p.data.letter else "name", _letters(p.data.letter), 0, p.data.letter) for p in sizes
    }
    return plain(str(numpy_source(replaced(form, letters))))


def _letters(name: str) -> tuple[Form, ...]:
    parts = name.split("*")
    return tuple(Form("name", (), 0, part) for part in parts) if len(parts) > 1 else ()


def plain(source: str) -> str:
    """NumPy source as a reader has it in mind: without the names of modules."""
    return source.replace("np.linalg.", "").replace("np.", "")
