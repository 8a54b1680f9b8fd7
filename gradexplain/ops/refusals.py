"""What NumPy offers and the table does not: arguments and functions that are refused, each with what to write instead."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

import numpy as np

from gradexplain.errors import NoRuleError
from gradexplain.primitive import NUMPY


def only_defaults(function: str, **given: Any) -> None:
    """Refuses options such as `where=`: nothing is computed in another way than the caller asked for."""
    for name, value in given.items():
        if not _is_default(name, value):
            raise NoRuleError(
                f"{function} with {name}= has no derivative rule",
                why="only the default of this option is in the table of derivatives",
                fix=f"leave {name}= out, or write what it does with np.where",
            )


def _is_default(name: str, value: Any) -> bool:
    if name == "dtype" and value is not None:
        return bool(np.dtype(value) == np.float64)
    return value is None or value is True or value is np._NoValue or (name == "mode" and value == "raise")


def refused(
    fix: str, *names: str, why: str = "its result does not change smoothly, or it writes into its operand"
) -> None:
    """Enters functions of NumPy (those that the installed version has) as refused."""
    for name in names:
        if hasattr(np, name):
            NUMPY[getattr(np, name)] = _refusal(f"np.{name}", why, fix)


def _refusal(name: str, why: str, fix: str) -> Callable[..., NoReturn]:
    def refuse(*_: Any, **__: Any) -> NoReturn:
        raise NoRuleError(f"{name} has no derivative rule", why=why, fix=fix)

    return refuse


_IN_PLACE = "it writes into its operand without leaving a trace"
_VALUES = "the shape of its result depends on the values"

# fmt: off
refused("write y[key] = value",                       "put", "place", "putmask", "copyto", "put_along_axis", why=_IN_PLACE)
refused("write x*(1 - np.eye(n)) + value*np.eye(n)",  "fill_diagonal", why=_IN_PLACE)
refused("use np.tile, np.pad or np.reshape",          "resize", why="it repeats or drops entries")
refused("use np.where(condition, a, b)",              "nonzero", "flatnonzero", "argwhere", "unique", why=_VALUES)
refused("use np.where, or np.select for several conditions", "piecewise", why="its functions run on parts whose shape depends on the values")
refused("use np.sort",                                "partition", "argpartition", why="the order inside the parts is not defined")
refused("put np.where(np.isnan(x), 0, x) through the plain function",
        "nansum", "nanprod", "nanmean", "nanvar", "nanstd", "nanmax", "nanmin", "nanmedian", "nanquantile", "nanpercentile",
        "nancumsum", "nancumprod", "nanargmax", "nanargmin", why="which entries are skipped depends on the values")
refused("use a smooth kernel in place of bins",       "histogram", "histogram2d", "histogramdd", "bincount", why="counts do not change smoothly")
# fmt: on
