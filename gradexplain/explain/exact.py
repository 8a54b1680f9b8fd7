"""One-sided slopes of a traced program at one point, from difference quotients with hundreds of digits.

Difference quotients are a bad check in float64: the step that is small enough for the curve is too small for the
rounding. With mpmath there is no such conflict. At a step of 10**-60 of the point and 240 digits the quotient of a smooth
function is right to about 60 digits, and a second, much smaller step shows that it is: a derivative does not depend on
the step, a vertical tangent grows as the step shrinks, a slope of zero shrinks with it. Each side of the point is judged
alone, so that kinks, jumps and the edge of a domain are recognised instead of averaged over.

What it promises: no tolerance here depends on the scale of the point, of the function or of its slope. What it cannot
see is whether the graph that it evaluates is the user's program: that is the job of `quotients`.
"""

import math
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from importlib import import_module
from itertools import pairwise
from typing import Any

mp: Any = import_module("mpmath").mp  # mpmath has no types; imported this way, one Any stands for all of it

type_of_undefined = (ArithmeticError, ValueError, TypeError, mp.NoConvergence)
