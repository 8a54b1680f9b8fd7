"""Forms that show the entries of another: some of them, in another order, added up on the way, or with zeros around."""

from __future__ import annotations

from typing import Any

from gradexplain.simplify.tensor.notation import Form, call, product, transposed


def picked(x: Form, axis: int, key: Any) -> Form:
    """x with an axis cut down by a number, a slice (start, stop, step) or an array of numbers."""
    ndim = x.ndim - isinstance(key, int)
    if x.op == "T" and x.ndim == 2 and not isinstance(key, Form):
        inner = picked(x.parts[0], 1 - axis, key)
        return transposed(inner)
    if x.op == "outer" and not isinstance(key, Form):
        cut = picked(x.parts[axis], 0, key)
        other = x.parts[1 - axis]
        return product([cut, other]) if isinstance(key, int) else Form("outer", (cut, other)[:: 1 - 2 * axis], 2)
    if x.op == "item":
        before = list(x.data)
        places = [k for k, e in enumerate(before) if not isinstance(e, int)]
        at = places[axis] if axis < len(places) else len(before) + axis - len(places)
        before += [()] * (at + 1 - len(before))
        if before[at] == () and not any(isinstance(e, Form) for e in before) and not isinstance(key, Form):
            before[at] = key
            return Form("item", x.parts, ndim, tuple(before))
    if isinstance(key, Form):
        return Form("item", (x, key), ndim, (*[()] * axis, "key"))
    return Form("item", (x,), ndim, (*[()] * axis, key))


def accumulated(x: Form, axis: int, *, backwards: bool) -> Form:
    """Sums up to each entry along an axis, or from each entry on."""
    if not backwards:
        return call("cumsum", [x], x.ndim, (("axis", axis),))
    turned = reversed_along(x, axis)
    return reversed_along(accumulated(turned, axis, backwards=False), axis)


def reversed_along(x: Form, axis: int) -> Form:
    """x with the entries along an axis in the opposite order."""
    return x.parts[0] if x.op == "backwards" and x.data == axis else Form("backwards", (x,), x.ndim, axis)


def padded(x: Form, widths: tuple[tuple[int, int], ...]) -> Form:
    """x with zeros before and behind, along each axis."""
    if x.op == "pad":
        both = zip(x.data, widths, strict=True)
        return Form("pad", x.parts, x.ndim, tuple((a + c, b + d) for (a, b), (c, d) in both))
    return Form("pad", (x,), x.ndim, widths)


def squeezed(x: Form, ndim: int, places: tuple[int, ...]) -> Form:
    """x without axes of size 1."""
    if x.op == "row" and dict(x.data[1]) == {"axis": places, "keepdims": True}:
        return call(x.data[0], x.parts, ndim, (("axis", places), ("keepdims", False)))
    return Form("squeeze", (x,), ndim, places)


def diagonal(x: Form) -> Form:
    """The diagonal of a matrix."""
    return x.parts[0] if x.op == "diag" else Form("diagonal", (x,), 1)
