"""Writes docs/table-of-derivatives.md: every row of the table, its rule printed by running the row on symbols.

Run it after a row was added or changed: `python docs/table_of_derivatives.py`. A test compares the page with the table.
"""

from __future__ import annotations

import inspect
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from gradexplain.graph import CONSTANT, VARIABLE, Fixed, Kind, Node, Primitive, Sample, ancestors, constant, variable
from gradexplain.lambdify import expression, number
from gradexplain.numbers import exact_number
from gradexplain.ops import TABLE
from gradexplain.primitive import Code, call

PAGE = Path(__file__).with_name("table-of-derivatives.md")

HEAD = """# Table of derivatives

This page is generated from the rows in `gradexplain/ops` by `docs/table_of_derivatives.py`: each rule below was printed
by running the row itself on symbols. `y` is the result of the operation, `g` the cotangent of the result (the
derivative of the final output with respect to `y`). Code is NumPy's, without the prefix `np.`.

Broadcasting is an operation of its own in a traced program (`broadcast_to`), so no rule mentions it; where a rule uses
it inside, it is left out below. Where an operation has parameters, the line shows one example of them. Rows that are
not NumPy's (`ratio`, `xlogy`, `by_order`, `cofactor`, …) are there because the derivatives of other rows need them.
"""

SECTIONS = {
    "elementwise": (
        "Elementwise operations",
        "Functions of numbers, entry by entry. The second column has the partial derivatives, without the factor `g`.",
    ),
    "linear": (
        "Linear operations",
        "The tangent goes through the operation itself. The second column has the transpose: the operand's cotangent.",
    ),
    "bilinear": (
        "Products of two arrays",
        "The tangent follows the product rule. The second column has the cotangents of both operands.",
    ),
    "general": (
        "Other operations on arrays",
        "The second column has the cotangent of each operand. `0` means that no derivative flows to it.",
    ),
    "flat": (
        "Operations without a derivative",
        "Conditions, positions and functions that are constant in pieces: no derivative flows through them.",
    ),
}
_LONG_PART = 16  # characters of a part that occurs twice and gets a letter
_SHORT_SPELLING = 8  # characters of an operator: a @ b, x[-1]
_LONG_SPELLING = 30  # characters of a function that NumPy knows by the name of the row
_LONG_OPERATION = 64  # characters of an operation in its own line
_BRANCHES = ("a", "b")  # of a `where`: the operands that are numbers, beside its condition c


def page() -> str:
    """The page as Markdown."""
    groups: dict[str, list[str]] = {name: [] for name in SECTIONS}
    for name in sorted(TABLE):
        row = TABLE[name]
        if row in (CONSTANT, VARIABLE):
            continue
        family, line = _line(row)
        groups[family].append(line)
    return "\n".join([HEAD, *(_section(*SECTIONS[f], lines, f) for f, lines in groups.items())])


def _section(title: str, text: str, lines: Sequence[str], family: str) -> str:
    second = "" if family == "flat" else " derivative |"
    head = f"| operation |{second} rule | where | without a derivative |"
    rule = "|---|" + ("" if family == "flat" else "---|") + "---|---|---|"
    return "\n".join([f"## {title}", "", text, "", head, rule, *lines, ""])


def _line(row: Primitive) -> tuple[str, str]:
    """The section of a row, and its line in the table."""
    y, names = _applied(row)
    rules = list(_rules(row, y, names))
    family = row.family if any(rule != "0" for rule in rules) else "flat"
    operation = f"`{_operation(row, y, names)}`"
    if not operation.startswith(f"`{row.name}"):
        operation = f"{row.name}: {operation}"
    cells = [operation, *([] if family == "flat" else ["<br>".join(f"`{r}`" for r in rules)]), row.rule]
    cells += [_domain(row, names, y), row.kinks]
    return family, "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def _operation(row: Primitive, y: Node, names: Mapping[Node, str]) -> str:
    """The operation in NumPy, or by its name where NumPy has no short spelling."""
    source = expression(y, {n: t for n, t in names.items() if n is not y}).replace("np.", "")
    if len(source) <= _LONG_OPERATION and "lambda" not in source:
        return source
    return f"{row.name}({', '.join(names.get(x, '2') for x in y.inputs)})"


def _applied(row: Primitive) -> tuple[Node, dict[Node, str]]:
    """The row, applied to variables, and what everything is called."""
    sample = _sample(row)
    letters = _letters(row, sample)
    kinds: list[Kind] = ["bool" if row.conditions and letter not in _BRANCHES else "float" for letter in letters]
    operands = [
        constant(2) if letter == "n" else variable(letter, shape, kind)  # an order is a known whole number
        for letter, shape, kind in zip(letters, sample.shapes, kinds, strict=True)
    ]
    y = row.record(*operands, **sample.params)
    return y, {**{x: n for x, n in zip(operands, letters, strict=True) if not x.is_constant}, y: "y"}


def _sample(row: Primitive) -> Sample:
    """The plainest sample of a row: matrices for a product, else the first."""
    if row.family == "bilinear":
        return next((s for s in row.samples if all(len(shape) == 2 for shape in s.shapes)), row.samples[0])
    if row.samples:
        return row.samples[0]
    return Sample(((),) * len(_parameters(row.symbol, skip=1)))


def _parameters(function: object, skip: int) -> list[str]:
    """The names of a rule's parameters, without the first `skip`."""
    return list(inspect.signature(function).parameters)[skip:] if callable(function) else ["x"]


def _letters(row: Primitive, sample: Sample) -> list[str]:
    """What the operands are called: as in the row's own partials; else x or a, b, capitals for matrices."""
    count = len(sample.shapes)
    partial = next((p for p in row.partials if p is not None), row.symbol if not row.samples else None)
    found = _parameters(partial, skip=1) if partial is not None else []
    if len(found) == count and "y" not in found:
        return found
    plain = ["x"] if count == 1 else ["a", "b", "c", "d"][:count]
    return [n.upper() if len(s) > 1 else n for n, s in zip(plain, sample.shapes, strict=True)]


def _rules(row: Primitive, y: Node, names: dict[Node, str]) -> Iterator[str]:
    """The partial derivative (of elementwise rows), else the cotangent, of each operand."""
    if row.pullback is None:
        yield "0"
        return
    seed = variable("g", y.shape)
    for i, x in enumerate(y.inputs):
        if row.family == "elementwise":
            partial = row.partials[i]
            rule = None if partial is None else partial(y, *y.inputs)
        else:
            rule = row.pullback(i, seed, y) if x.kind == "float" else None
        yield "0" if rule is None else formula(rule, {**names, seed: "g"}) if isinstance(rule, Node) else str(rule)


def formula(node: Node, names: Mapping[Node, str]) -> str:
    """A rule for readers: long parts that occur twice get a letter, operations with a long spelling go by their names.

    Broadcasting within the rule is left out.
    """
    order = ancestors([node])
    uses = Counter(n for m in order for n in m.inputs)
    letters = iter("uvwst")
    code: dict[Node, Code] = {}
    parts: list[str] = []
    for n in order:
        if n in names:
            code[n] = Code(names[n])
        elif n.is_constant:
            code[n] = _number(n.data)
        elif n.op.name == "broadcast_to" and n is not node:
            code[n] = code[n.inputs[0]]
        else:
            code[n] = _spelled(n.op, [code[m] for m in n.inputs], n.params)
        if uses[n] > 1 and len(code[n]) > _LONG_PART:
            letter = next(letters)
            parts.append(f"{letter} = {code[n]}")
            code[n] = Code(letter)
    return "; ".join([code[node], *reversed(parts)]).replace("np.", "").replace("scipy.special.", "")


def _spelled(op: Primitive, operands: Sequence[Code], params: Mapping[str, Any]) -> Code:
    """An operation as NumPy source, or by its name where NumPy has no such function."""
    assert op.numpy is not None
    plain = op.numpy(*[Code(str(x)) if x.isdigit() else Code("x") for x in operands], **params)
    if len(plain) <= _SHORT_SPELLING or (len(plain) <= _LONG_SPELLING and op.name in plain):
        text = op.numpy(*operands, **params)
        return text if isinstance(text, Code) else Code(text)
    return call(op.name)(*operands, **{k: v for k, v in params.items() if k in ("axis", "order")})


def _number(value: Any) -> Code:
    """A constant, exactly; arrays of zeros and ones by NumPy's names for them."""
    if isinstance(value, Fixed):
        n = value.array.shape[-1]
        known = {"eye": np.eye(n), "tri": np.tri(n), "below": np.tri(n, k=-1), "halved": np.tri(n) - np.eye(n) / 2}
        spelled = {
            "eye": f"eye({n})",
            "tri": f"tri({n})",
            "below": f"tri({n}, k=-1)",
            "halved": f"(tri({n}) - eye({n})/2)",
        }
        found = next((name for name, array in known.items() if np.array_equal(array, value.array)), None)
        return Code(f"array({value.array.tolist()})" if found is None else spelled[found])
    return number(value) if exact_number(value).form == "rational" else Code(str(exact_number(value).sympy()))


def _domain(row: Primitive, names: dict[Node, str], y: Node) -> str:
    """The conditions on the operands, in their own letters."""
    found = []
    for x, domain in zip(y.inputs, row.domains, strict=False):
        letter = names.get(x, "x")
        if domain.condition:
            text = domain.condition
            found.append(text if text.startswith("n ") else text.replace("x", letter) if letter != "x" else text)
    return "; ".join(found)


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
