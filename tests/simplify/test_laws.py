"""Laws of sequences: every law that is found has all the values, and data have none."""

import math
import random
from fractions import Fraction

import pytest
import sympy as sp

from gradexplain.simplify.laws import laws

k = sp.Symbol("k", integer=True)
KNOWN = {
    "7": lambda n: 7,
    "2*k + 3": lambda n: 2 * n + 3,
    "k**2 + 1": lambda n: n * n + 1,
    "(k + 1)**3": lambda n: (n + 1) ** 3,
    "(-1)**k": lambda n: (-1) ** n,
    "(-1)**k/(2*k + 1)": lambda n: Fraction((-1) ** n, 2 * n + 1),
    "3*2**k": lambda n: 3 * 2**n,
    "2**k*(k + 1)": lambda n: 2**n * (n + 1),
    "(-1)**k/2**k": lambda n: Fraction(-1, 2) ** n,
    "1/factorial(k)": lambda n: Fraction(1, math.factorial(n)),
    "1/factorial(2*k + 1)": lambda n: Fraction(1, math.factorial(2 * n + 1)),
    "(-1)**k/factorial(2*k)": lambda n: Fraction((-1) ** n, math.factorial(2 * n)),
    "(-1)**k/(4**k*factorial(k)**2)": lambda n: Fraction((-1) ** n, 4**n * math.factorial(n) ** 2),
    "1/((2*k + 1)*factorial(k))": lambda n: Fraction(1, (2 * n + 1) * math.factorial(n)),
    "factorial(2*k)/(4**k*factorial(k)**2)": lambda n: Fraction(math.comb(2 * n, n), 4**n),
    "(k + 1)/(k + 2)": lambda n: Fraction(n + 1, n + 2),
    "(5 - k)*(k + 1)": lambda n: (5 - n) * (n + 1),
}


@pytest.mark.parametrize("text", KNOWN)
@pytest.mark.parametrize("first", [0, 1, 3])
def test_laws_have_all_values(text, first):
    values = [Fraction(KNOWN[text](n)) for n in range(11)]
    found = list(laws(values, first, k))
    assert found
    for law in found:
        assert [law.subs(k, n) for n in range(first, first + 11)] == [
            sp.Rational(v.numerator, v.denominator) for v in values
        ]
    if first == 0:
        assert str(found[0]) == text


def test_data_obey_no_law():
    source = random.Random(0)
    for _ in range(300):
        values = [
            Fraction(source.randint(1, 999), source.choice([1, 2, 10, 100])) for _ in range(source.randint(6, 12))
        ]
        assert not list(laws(values, 0, k)), values


@pytest.mark.parametrize("at", range(11))
@pytest.mark.parametrize("text", KNOWN)
def test_one_other_value_breaks_a_law(text, at):
    values = [Fraction(KNOWN[text](n)) for n in range(11)]
    values[at] += Fraction(1, 7)
    for law in laws(values, 0, k):
        assert law.subs(k, at) == sp.Rational(values[at].numerator, values[at].denominator)


def test_primes_and_fibonacci_numbers_are_no_products():
    for values in ([2, 3, 5, 7, 11, 13, 17, 19, 23, 29], [1, 1, 2, 3, 5, 8, 13, 21, 34, 55]):
        assert not list(laws([Fraction(v) for v in values], 0, k))
