"""The text of a formula with the signs of mathematics, for pages that can show them."""

import re
import unicodedata


def pretty(formula: str) -> str:
    """Return the text of a formula with the signs of mathematics in place of the programmer's.

    >>> pretty("2*x*sin(x) + x**2*cos(x)**10"), pretty("d^3y/dx^2dz")
    ('2·x·sin(x) + x²·cos(x)**10', 'd³y/dx²dz')
    """
    formula = re.sub(r"(?<=\w)\^([2-8])", lambda order: "²³⁴⁵⁶⁷⁸"[int(order[1]) - 2], formula)
    squared = re.sub(r"\*\*([23])(?![\w.]|\*\*)", lambda power: "²³"[int(power[1]) - 2], formula)
    summed = re.sub(r"\bsum\((?=.* = \d+ \.\. \d+\))", "Σ(", squared)
    return re.sub(r"(?<!\*)\*(?!\*)", "·", summed)


def barred(formula: str) -> str:
    """Return the text of a formula with bars over the letters of adjoints.

    >>> barred("x_bar = x_bar_1 + v2_bar*loss_bar")
    'x̄ = x̄₁ + v̄2*loss_bar'
    """

    def bar(name: re.Match[str]) -> str:
        path = (name[3] or "").translate(str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉"))
        return unicodedata.normalize("NFC", f"{name[1]}\N{COMBINING MACRON}") + f"{name[2]}{path}"

    return re.sub(r"\b([^\W\d_])(\d*)_bar(?:_(\d+))?\b", bar, formula)


def mathematical(formula: str) -> str:
    """Return the text of an array formula as mathematicians write it: the entrywise product has a sign of its own.

    >>> mathematical("2/3*(X.T @ (r*w))"), mathematical("x*y")
    ('2/3·(Xᵀ (r ⊙ w))', 'x*y')
    """
    if not re.search(r"\.T\b| @ ", formula):
        return formula
    scaled = re.sub(r"(?<![\w.])(\d[\d.]*)\*(?!\*)|(?<!\*)\*(?=\d[\d.]*(?![\w.]))", r"\1·", formula)
    multiplied = re.sub(r" ?(?<!\*)\*(?!\*) ?", " ⊙ ", scaled)
    return re.sub(r"\.T\b", "ᵀ", multiplied).replace(" @ ", " ")
