"""Explains derivatives of Python functions: the closed form, rule by rule, and step by step as autodiff did it.

>>> import gradexplain as gx
>>> gx.explain(lambda x: x**2, x=3.0)["x"].text
'2*x'
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gradexplain.api import check as check
    from gradexplain.api import descent as descent
    from gradexplain.api import explain as explain
    from gradexplain.api import explain_hessian as explain_hessian
    from gradexplain.api import explain_implicit as explain_implicit
    from gradexplain.api import explain_jacobian as explain_jacobian
    from gradexplain.api import explain_jvp as explain_jvp
    from gradexplain.api import explain_vjp as explain_vjp
    from gradexplain.api import why as why
    from gradexplain.derivative import grad as grad
    from gradexplain.derivative import hessian as hessian
    from gradexplain.derivative import jacobian as jacobian
    from gradexplain.derivative import jvp as jvp
    from gradexplain.derivative import value_and_grad as value_and_grad
    from gradexplain.derivative import vjp as vjp
    from gradexplain.errors import GradexplainError as GradexplainError
    from gradexplain.errors import TraceWarning as TraceWarning
    from gradexplain.render.saved import from_json as from_json
    from gradexplain.settings import options as options
    from gradexplain.tape import GradientTape as GradientTape
    from gradexplain.tape import Variable as Variable
    from gradexplain.tape import constant as constant
    from gradexplain.tape import custom_gradient as custom_gradient
    from gradexplain.tape import stop_gradient as stop_gradient

__version__ = "0.1.0"

# Where each public name lives. Modules load when a name is first used.
_HOME = {
    **dict.fromkeys(("grad", "hessian", "jacobian", "jvp", "value_and_grad", "vjp"), "gradexplain.derivative"),
    **dict.fromkeys(("check", "descent", "explain", "why"), "gradexplain.api"),
    **dict.fromkeys(
        ("explain_hessian", "explain_implicit", "explain_jacobian", "explain_jvp", "explain_vjp"), "gradexplain.api"
    ),
    **dict.fromkeys(("GradexplainError", "TraceWarning"), "gradexplain.errors"),
    "from_json": "gradexplain.render.saved",
    "options": "gradexplain.settings",
    **dict.fromkeys(("GradientTape", "Variable", "constant", "custom_gradient", "stop_gradient"), "gradexplain.tape"),
    **dict.fromkeys(("load_ipython_extension", "unload_ipython_extension"), "gradexplain.jupyter"),
}
__all__ = [
    "GradexplainError",
    "GradientTape",
    "TraceWarning",
    "Variable",
    "__version__",
    "check",
    "constant",
    "custom_gradient",
    "descent",
    "explain",
    "explain_hessian",
    "explain_implicit",
    "explain_jacobian",
    "explain_jvp",
    "explain_vjp",
    "from_json",
    "grad",
    "hessian",
    "jacobian",
    "jvp",
    "options",
    "stop_gradient",
    "value_and_grad",
    "vjp",
    "why",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'gradexplain' has no attribute {name!r}")
    return getattr(import_module(_HOME[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
