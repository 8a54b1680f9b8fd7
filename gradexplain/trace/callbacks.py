"""NumPy's functions that call functions or loop over entries, on traced values: piecewise, vectorize, nditer, …"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

from gradexplain.trace.numpy_protocol import INSTEAD
from gradexplain.trace.tracer import Tracer, innermost, wrap


def stacked(values: Iterable[Any]) -> Any:
    """Values, some of them traced, as one array."""
    return np.stack(list(values))


def apply_along_axis(func1d: Callable[..., Any], axis: int, arr: Any, *args: Any, **kwargs: Any) -> Any:
    """`np.apply_along_axis`: the function of every line, in place of the line."""
    lines = np.moveaxis(arr, axis, -1)
    outer = lines.shape[:-1]
    results = [func1d(lines[index], *args, **kwargs) for index in np.ndindex(outer)]
    whole = np.reshape(stacked(results), (*outer, *np.shape(results[0])))
    for _ in np.shape(results[0]):  # the axes of a result stand where the line stood
        whole = np.moveaxis(whole, -1, axis % len(lines.shape))
    return whole


def piecewise(x: Any, condlist: Any, funclist: Any, *args: Any, **kw: Any) -> Any:
    """`np.piecewise`: each function is called with all of x, and chosen entry by entry; the last that applies wins."""
    if not isinstance(condlist, (list, tuple)) or np.ndim(condlist[0]) < np.ndim(x):
        condlist = [condlist]
    values = [f(x, *args, **kw) if callable(f) else f for f in funclist]
    result = values[-1] if len(values) > len(condlist) else 0.0
    for condition, value in zip(condlist, values, strict=False):
        result = np.where(condition, value, result)
    return result


def vectorized(original: Callable[..., Any]) -> Callable[..., Any]:
    """`np.vectorize(f)(x)` of a traced x: f of every entry, stacked."""

    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        traced = [a for a in (*args, *kwargs.values()) if type(a) is Tracer]
        if not traced or self.signature:
            return original(self, *args, **kwargs)
        shape = np.broadcast_shapes(*[np.shape(a) for a in args])
        spread = [np.ravel(np.broadcast_to(a, shape)) for a in args]
        return np.reshape(stacked(self.pyfunc(*[a[i] for a in spread], **kwargs) for i in range(spread[0].size)), shape)

    return call


def enumerated(arr: Any) -> Iterator[tuple[tuple[int, ...], Any]]:
    """`np.ndenumerate`."""
    return ((index, arr[index]) for index in np.ndindex(arr.shape))


def iterated(op: Any, *_: Any, **__: Any) -> Iterator[Any]:
    """`np.nditer` over one array."""
    return iter(op.flat)


def collected(original: Any, iterable: Iterable[Any], *args: Any, **kwargs: Any) -> Any:
    """`np.fromiter`: traced values are stacked."""
    values = list(iterable)
    return stacked(values) if any(type(v) is Tracer for v in values) else original(values, *args, **kwargs)


def copied(a: Any, *_: Any, **__: Any) -> Any:
    """`np.copy`."""
    return wrap(innermost((a,)), a.node).copy()


INSTEAD.update({np.apply_along_axis: apply_along_axis, np.piecewise: piecewise, np.copy: copied})
