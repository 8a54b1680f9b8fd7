"""Rows that compare, select and round: conditions, `where`, maximum and minimum, sign, floor, …

Conventions at kinks are those of the smallest subgradient: where a constant ties with x, the derivative is 0; where two
variable operands tie, each has half. A branch that is not taken contributes 0 even where its own slope is infinite.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gradexplain.graph import Domain, Fixed, Node, Primitive, is_scalar_constant, operators
from gradexplain.ops.pieces import compared, larger_of, piecewise, smaller_of
from gradexplain.primitive import BIT, COMPARE, PRODUCT, SUM, TERM, Code, elementwise, flat, infix


def _fold_where(c: Node, a: Node, b: Node) -> Node | None:
    if a is b:
        return a if a.shape == c.shape or c.shape == () else None
    if c.is_constant and not isinstance(c.data, Fixed):
        chosen, other = (a, b) if c.data else (b, a)
        if chosen.shape == other.shape or other.shape == ():
            return chosen
    if is_scalar_constant(a, 0) and is_scalar_constant(b, 0) and a.shape == c.shape:
        return a
    return None


def _by_order(a: Any, b: Any, larger: Any, smaller: Any) -> Any:
    return np.where(a > b, larger, np.where(a < b, smaller, 0.5 * (np.asarray(larger) + smaller)))[()]


def _fold_by_order(a: Node, b: Node, larger: Node, smaller: Node) -> Node | None:
    return larger if larger is smaller and larger.shape == a.shape else None


def _by_order_symbol(sp: Any, a: Any, b: Any, larger: Any, smaller: Any) -> Any:
    return piecewise(sp, (larger, compared(sp, "Gt", a, b)), (smaller, True))


def _by_order_exact(mp: Any, a: Any, b: Any, larger: Any, smaller: Any) -> Any:
    return larger if a > b else smaller if a < b else (larger + smaller) / 2


def _compare(name: str, value: Any, relation: str, text: str) -> Any:
    exact = {"<": lambda mp, a, b: a < b, "<=": lambda mp, a, b: a <= b, ">": lambda mp, a, b: a > b,
             ">=": lambda mp, a, b: a >= b, "==": lambda mp, a, b: a == b, "!=": lambda mp, a, b: a != b}[text]  # fmt: skip
    return flat(
        name,
        value,
        symbol=lambda sp, a, b: compared(sp, relation, a, b),
        exact=exact,
        numpy=infix(f" {text} ", COMPARE, COMPARE + 1),
        result="bool",
        rule="a condition: no derivative",
    )


# fmt: off
less          = _compare("less",          np.less,          "Lt", "<")
less_equal    = _compare("less_equal",    np.less_equal,    "Le", "<=")
greater       = _compare("greater",       np.greater,       "Gt", ">")
greater_equal = _compare("greater_equal", np.greater_equal, "Ge", ">=")
equal         = _compare("equal",         np.equal,         "Eq", "==")
not_equal     = _compare("not_equal",     np.not_equal,     "Ne", "!=")

logical_and = flat("logical_and", np.logical_and, symbol=lambda sp, a, b: sp.And(a, b), exact=lambda mp, a, b: bool(a and b),
                   numpy=infix(" & ", BIT), result="bool", conditions=True, rule="a condition: no derivative")
logical_or  = flat("logical_or", np.logical_or, symbol=lambda sp, a, b: sp.Or(a, b), exact=lambda mp, a, b: bool(a or b),
                   numpy=infix(" | ", BIT), result="bool", conditions=True, rule="a condition: no derivative")
logical_not = flat("logical_not", np.logical_not, symbol=lambda sp, a: sp.Not(a), exact=lambda mp, a: not a,
                   numpy=lambda a: Code(f"np.logical_not({a})"), result="bool", conditions=True, rule="a condition: no derivative")
as_number   = flat("as_number", lambda c: np.multiply(c, 1.0), symbol=lambda sp, c: piecewise(sp, (1, c), (0, True)),
                   exact=lambda mp, c: mp.mpf(bool(c)), numpy=lambda c: Code(f"{c.at(PRODUCT)}*1.0", PRODUCT), conditions=True)

where: Primitive
by_order: Primitive
where = elementwise("where", np.where, lambda sp, c, a, b: piecewise(sp, (a, c), (b, True)),
                    None, lambda y, c, a, b: where(c, 1, 0), lambda y, c, a, b: where(c, 0, 1),
                    rule="branch by branch", exact=lambda mp, c, a, b: a if c else b, fold=_fold_where, conditions=True,
                    math=lambda c, a, b: Code(f"({a} if {c} else {b})"))
by_order = elementwise("by_order", _by_order, _by_order_symbol,
                    None, None, lambda y, a, b, p, q: by_order(a, b, 1, 0), lambda y, a, b, p, q: by_order(a, b, 0, 1),
                    rule="branch by branch", exact=_by_order_exact, fold=_fold_by_order,
                    numpy=lambda a, b, p, q: Code(f"np.where({a.at(SUM)} > {b.at(SUM)}, {p}, np.where({a.at(SUM)} < {b.at(SUM)}, {q}, 0.5*({p.at(SUM)} + {q.at(SUM)})))"),
                    math=lambda a, b, p, q: Code(f"({p} if {a.at(SUM)} > {b.at(SUM)} else {q} if {a.at(SUM)} < {b.at(SUM)} else 0.5*({p.at(SUM)} + {q.at(SUM)}))"))
# fmt: on


# d max(a, b): 1 where the operand is larger; where they tie 0 beside a constant, else one half.
def _max_first(y: Node, a: Node, b: Node) -> Node:
    return where(greater(a, b), 1, 0) if is_scalar_constant(b) else by_order(a, b, 1, 0)


def _max_second(y: Node, a: Node, b: Node) -> Node:
    return where(greater(b, a), 1, 0) if is_scalar_constant(a) else by_order(a, b, 0, 1)


def _min_first(y: Node, a: Node, b: Node) -> Node:
    return where(less(a, b), 1, 0) if is_scalar_constant(b) else by_order(a, b, 0, 1)


def _min_second(y: Node, a: Node, b: Node) -> Node:
    return where(less(b, a), 1, 0) if is_scalar_constant(a) else by_order(a, b, 1, 0)


def _sign_text(x: Code) -> Code:
    return Code(f"float(({x} > 0) - ({x} < 0))")


def _floor_text(function: str) -> Any:
    return lambda x: Code(f"float(math.{function}({x}))")


def _is_inside(x: Node, low: Node, high: Node) -> Node:
    """Whether clip hands the slope on; a bound that varies may be x on whole regions, and takes no part there."""
    above: Node = greater(x, low) if low.is_constant else greater_equal(x, low)
    below: Node = less(x, high) if high.is_constant else less_equal(x, high)
    return above if x is high else below if x is low else logical_and(above, below)


def _clip_symbol(sp: Any, x: Any, low: Any, high: Any) -> Any:
    """The upper bound wins where the bounds cross."""
    pieces = ((low, compared(sp, "Lt", x, low)), (high, compared(sp, "Gt", x, high)), (x, True))
    if low.is_number and high.is_number and low <= high:
        return piecewise(sp, *pieces)
    return piecewise(sp, (high, compared(sp, "Lt", high, low)), *pieces)


def _remainder(sp: Any, a: Any, b: Any) -> Any:
    """SymPy's own where it can't meet a divisor of 0."""
    return sp.Mod(a, b) if b.is_Number and b != 0 else a - b * sp.floor(a / b)


def _clip_exact(mp: Any, x: Any, low: Any, high: Any) -> Any:
    return min(max(x, low), high)


# fmt: off
sign  = flat("sign", np.sign, symbol="sign", exact=lambda mp, x: mp.sign(x), math=_sign_text, kinks="x = 0: jumps from -1 to 1")
floor = flat("floor", np.floor, symbol="floor", math=_floor_text("floor"), kinks="jumps at the integers")
ceil  = flat("ceil", np.ceil, symbol="ceiling", exact="ceil", math=_floor_text("ceil"), kinks="jumps at the integers")
trunc = flat("trunc", np.trunc, symbol=lambda sp, x: sp.sign(x) * sp.floor(sp.Abs(x)), math=_floor_text("trunc"),
             exact=lambda mp, x: mp.sign(x) * mp.floor(mp.fabs(x)), kinks="jumps at the integers")
rint  = flat("rint", np.rint, symbol=lambda sp, x: sp.floor(x + sp.Rational(1, 2)), exact="nint", math=lambda x: Code(f"float(round({x}))"),
             kinks="jumps half-way between integers")
heaviside = flat("heaviside", np.heaviside, exact=lambda mp, x, h: mp.mpf(0) if x < 0 else mp.mpf(1) if x > 0 else h,
                 symbol=lambda sp, x, h: piecewise(sp, (0, compared(sp, "Lt", x, 0)), (1, compared(sp, "Gt", x, 0)), (h, True)), kinks="x = 0: jumps from 0 to 1")
floor_divide = flat("floor_divide", np.floor_divide, symbol=lambda sp, a, b: sp.floor(a / b), exact=lambda mp, a, b: mp.floor(a / b),
                    numpy=infix("//", TERM, PRODUCT + 1), kinks="jumps where a/b is an integer",
                    domain=(Domain(), Domain(0.3, 2.5, "x != 0")))
mod = elementwise("mod", np.mod, _remainder, lambda y, a, b: 1, lambda y, a, b: -floor_divide(a, b),
                  rule="remainder rule", exact=lambda mp, a, b: a - b * mp.floor(a / b), numpy=infix("%", TERM, PRODUCT + 1),
                  kinks="jumps where a/b is an integer", domain=(Domain(), Domain(0.3, 2.5, "x != 0")))
fmod = elementwise("fmod", np.fmod, lambda sp, a, b: a - b * sp.sign(a / b) * sp.floor(sp.Abs(a / b)),
                   lambda y, a, b: 1, lambda y, a, b: -trunc(a / b), rule="remainder rule", math="fmod",
                   exact=lambda mp, a, b: a - b * mp.sign(a / b) * mp.floor(mp.fabs(a / b)),
                   kinks="jumps where a/b is an integer", domain=(Domain(), Domain(0.3, 2.5, "x != 0")))
maximum = elementwise("maximum", np.maximum, larger_of, _max_first, _max_second, rule="larger operand",
                      exact=lambda mp, a, b: max(a, b), math=lambda a, b: Code(f"max({a}, {b})"),
                      kinks="a = b: each operand has half, a constant has all")
minimum = elementwise("minimum", np.minimum, smaller_of, _min_first, _min_second, rule="smaller operand",
                      exact=lambda mp, a, b: min(a, b), math=lambda a, b: Code(f"min({a}, {b})"),
                      kinks="a = b: each operand has half, a constant has all")
clip = elementwise("clip", np.clip, _clip_symbol,
                   lambda y, x, lo, hi: where(_is_inside(x, lo, hi), 1, 0),
                   lambda y, x, lo, hi: where(logical_and(less(x, lo), less_equal(lo, hi)), 1, 0),
                   lambda y, x, lo, hi: where(logical_or(greater(x, hi), less(hi, lo)), 1, 0),
                   rule="inside the bounds", exact=_clip_exact, math=lambda x, lo, hi: Code(f"min(max({x}, {lo}), {hi})"),
                   kinks="x at a constant bound: 0 is taken", domain=(Domain(), Domain(-2.0, -0.5), Domain(0.5, 2.0)))
# fmt: on
operators.update(as_number=as_number)
