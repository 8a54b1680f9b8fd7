"""Masks among numbers: NumPy adds True and True to True, and can't subtract them: a mask that stands alone is 1.0*mask.

A mask times a number is a number already, and stays as short as it is.
"""

from __future__ import annotations

from dataclasses import replace

from gradexplain.simplify.tensor.notation import Form, subforms

_SAME = ("T", "expand", "item", "squeeze", "permute", "diagonal")  # what shows entries of a mask as they are
_PRODUCTS = ("product", "matmul", "outer")
_AS_THEY_ARE = ("sum", "mean", "quotient", "neg")  # NumPy takes masks for numbers there


def is_mask(form: Form) -> bool:
    """Whether the values of an expression are True and False."""
    if form.op == "row":
        return bool(form.data[0] == "as_number")
    if form.op in _SAME:
        return is_mask(form.parts[0])
    return form.op in _PRODUCTS and all(map(is_mask, form.parts))


def with_numbers(form: Form) -> Form:
    """The expression with numbers for masks where NumPy would not take them for numbers."""
    table: dict[Form, Form] = {}
    for part in sorted(subforms(form), key=lambda f: f.height):
        if part.parts and not is_mask(part):
            table[part] = _inside(part, tuple(table.get(p, p) for p in part.parts))
    return _number(table.get(form, form))


def _inside(form: Form, parts: tuple[Form, ...]) -> Form:
    masks = sum(is_mask(p.parts[0] if p.op == "neg" else p) for p in parts)
    takes_masks = form.op in (*_SAME, *_AS_THEY_ARE, *_PRODUCTS) or (form.op == "add" and masks == 1 < len(parts))
    if masks and not takes_masks:
        parts = tuple(map(_number, parts))
    if form.op == "neg" and parts[0].op in ("product", "quotient") and not is_mask(parts[0]):
        parts = (_behind_numbers(parts[0]),)
    return form if parts == form.parts else replace(form, parts=parts)


def _behind_numbers(form: Form) -> Form:
    """-y*(x > 0) for -(x > 0)*y, in which NumPy would take the sign of True."""
    if form.op == "quotient":
        return replace(form, parts=(_behind_numbers(form.parts[0]), form.parts[1]))
    if form.op != "product" or is_mask(form):
        return _number(form)
    return replace(form, parts=tuple(sorted(form.parts, key=is_mask)))


def _number(form: Form) -> Form:
    """A mask as an array of 1.0 and 0.0."""
    if form.op == "neg":
        return replace(form, parts=(_number(form.parts[0]),))
    if not is_mask(form):
        return form
    if form.op == "row":
        return replace(form, data=("as_float", ()))
    return replace(form, parts=(_number(form.parts[0]), *form.parts[1:]))
