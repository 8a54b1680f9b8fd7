"""What is read, how it is echoed and noted, what is refused and where, and what trees evaluate to."""

import ast
import contextlib
import inspect
import math
import time
from fractions import Fraction
from functools import reduce

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gradexplain.errors import ParseError
from gradexplain.readers import text as reader
from gradexplain.readers import tokens
from gradexplain.readers.reading import Reading
from gradexplain.readers.text import read
from gradexplain.readers.tokens import Binary, Call, Choice, Comparison, Constant, Negative, Number, Variable, echo

ONE_ARGUMENT = "sin cos tan asin acos atan sinh cosh exp sqrt abs sign floor log2 log10 gamma"
FUNCTIONS = dict.fromkeys(ONE_ARGUMENT.split(), (1, 1)) | {"log": (1, 2), "max": (2, None), "atan2": (2, 2)}
VALUES = {"sin": math.sin, "abs": abs, "max": max, "pi": math.pi, "e": math.e, "where": lambda c, a, b: a if c else b}

# fmt: off
PYTHON = [  # text that means the same in Python
    ("x**2 * sin(x)", "x**2*sin(x)"),
    ("((x))+(y*z)-(a-b)", "x + y*z - (a - b)"),
    ("a/(b*c)/d*(e1/f)", "a/(b*c)/d*(e1/f)"),
    ("2**3**x + (2**3)**x", "2**3**x + (2**3)**x"),
    ("-x**2 + (-x)**2", "-x**2 + (-x)**2"),
    ("-x*y - -(x*y) + - - +x", "-x*y - -(x*y) + --x"),
    ("x**-2*y + x*-y", "x**-2*y + x*-y"),
    ("x % 2 // 3 + x % (5 // 3)", "x%2//3 + x%(5//3)"),
    ("1/3*x + 0.5 + .25 + 5. + 1e-3", "1/3*x + 0.5 + 0.25 + 5 + 0.001"),
    ("x if x > 0 else -x", "x if x > 0 else -x"),
    ("2*(x if x >= 0 else y if y != 1 else 3)", "2*(x if x >= 0 else y if y != 1 else 3)"),
    ("(x if x<1 else 2) if y == 1 else 3", "(x if x < 1 else 2) if y == 1 else 3"),
    ("1 if x > 0 and (y > 0 or z > 0) else 0", "1 if x > 0 and (y > 0 or z > 0) else 0"),
    ("1 if (x > 0 and y > 0) or z > 0 else 0", "1 if x > 0 and y > 0 or z > 0 else 0"),
    ("1 if 0 < x <= 1 else 0", "1 if 0 < x and x <= 1 else 0"),
    ("max(x if x > 0 else 1, y, -1) + pi*e", "max(x if x > 0 else 1, y, -1) + pi*e"),
]
PEOPLE = [
    ("x^2", "x**2"), ("x² + x⁻¹ + y²³", "x**2 + x**-1 + y**23"), ("a·b × c ⋅ d ÷ 2 − e1 – f", "a*b*c*d/2 - e1 - f"),
    ("1 if x ≤ 1 else 2 if x ≥ 3 else 3 if x ≠ 2 else 4", "1 if x <= 1 else 2 if x >= 3 else 3 if x != 2 else 4"),
    ("1E+2 + 1e−2 + 007", "100 + 0.01 + 7"), ("1e-300*x + 1e400", "1e-300*x + 1e+400"),
    ("123456789012345678901234567890", "123456789012345678901234567890"), ("1e8 + 1e9", "100000000 + 1e+9"),
    ("x*0 + 0*1/cos(0)", "x*0 + 0*1/cos(0)"), ("2**(x if 1 < 1e300 else 5)", "2**(x if 1 < 1e+300 else 5)"),
    ("2x", "2*x"), ("-2x", "-2*x"), ("x y", "x*y"), ("xy", "xy"), ("2xy^2 z", "2*xy**2*z"), ("1/2x", "1/2*x"),
    ("x(x+1)", "x*(x + 1)"), ("(x+1)(x-1)", "(x + 1)*(x - 1)"), ("rate(x+1) + rate", "rate*(x + 1) + rate"),
    ("3 sin(x)", "3*sin(x)"), ("(x+1)x sin(x)cos(x)", "(x + 1)*x*sin(x)*cos(x)"), ("e^x(1+x)", "e**x*(1 + x)"),
    ("e^-x sin x", "e**-x*sin(x)"), ("2e3x + 2e x", "2000*x + 2*e*x"), ("πr² + 2πr", "pi*r**2 + 2*pi*r"),
    ("1/2√x", "1/2*sqrt(x)"),
    ("√x+2√(x+1)x+√2 x + √sin(x) + √√3", "sqrt(x) + 2*sqrt(x + 1)*x + sqrt(2)*x + sqrt(sin(x)) + sqrt(sqrt(3))"),
    ("|x|", "abs(x)"), ("||x|-1|", "abs(abs(x) - 1)"), ("2|x||y|z", "2*abs(x)*abs(y)*z"),
    ("|(|x|+1)y(|z|)|", "abs((abs(x) + 1)*y*abs(z))"), ("|ln |x||", "abs(log(abs(x)))"), ("sin x", "sin(x)"),
    ("sin 2x + 1", "sin(2*x) + 1"), ("sin 2πx^2", "sin(2*pi*x**2)"), ("sin x cos 2x / tan x", "sin(x)*cos(2*x)/tan(x)"),
    ("ln sin x", "log(sin(x))"), ("2x·sin x + x²·cos x", "2*x*sin(x) + x**2*cos(x)"), ("1/(x ln 10)", "1/(x*log(10))"),
    ("sin^2(x) + sin² 2x + cos**3 x", "sin(x)**2 + sin(2*x)**2 + cos(x)**3"),
    ("math.sin(x) + np.exp(x)*numpy.pi + math.e", "sin(x) + exp(x)*pi + e"),
    ("E + I + N + S + O + Q", "E + I + N + S + O + Q"), ("lambda**2", "lambda**2"), ("µ + ϵ", "μ + ε"),
    ("λ + Δx + θ_1 + x1 + w_1 + _a", "λ + Δx + θ_1 + x1 + w_1 + _a"), ("gamma + gamma x", "gamma + gamma*x"),
    ("gamma(x) + gamma", "gamma(x) + gamma"), ("sin2", "sin2"),
    ("ln(x) + arcsin(x) + arctan2(y, x) + sgn(x) + np.arctan(x)", "log(x) + asin(x) + atan2(y, x) + sign(x) + atan(x)"),
    ("log(x, 3) + max(x, y, 1)", "log(x, 3) + max(x, y, 1)"), ("pow(a + b, 2)", "(a + b)**2"),
    ("np.where(x > 0, x, -x)", "x if x > 0 else -x"), ("x\t+\N{NO-BREAK SPACE}y\n", "x + y"),
]
REFUSED = [  # text, column of the caret, words of the message
    # what is not in the grammar
    ("__import__('os').system('x')", 0, "'__import__' is not read"), ("exec(x)", 0, "unknown function exec"),
    ("x.__class__.__mro__", 1, "'.__class__.__mro__' (an attribute)"), ("sin.__globals__", 3, "(an attribute)"),
    ("tf.sin(x)", 2, "numpy.sin"), ("math.sin.x", 8, "'.x' (an attribute)"), ("x[0]", 1, "a list, an index"),
    ("[c for c in x]", 0, "a list, an index"), ("{x}", 0, "a set"), ("'x'", 0, "a string"), ("f'(x)", 1, "a prime"),
    ("`x`", 0, "a string"), (r"\frac{1}{2}", 0, "LaTeX"), ("lambda x: x", 8, "a lambda expression"),
    ("(x:=1)", 2, "an assignment"), ("y = 2x", 2, "an equation"), ("log(x, base=2)", 11, "a named argument"),
    ("max(*x)", 4, "'*' has no meaning"), ("max(**x)", 4, "'**' has no"), ("x; y", 1, "several statements"),
    ("x # y", 2, "a comment"), ("5!", 1, "a factorial"), ("A@x", 1, "a matrix product"),
    ("x & y", 2, "a bitwise operator"), ("x for x in y", 2, "'for' is not read"), ("not x", 0, "'not' is not read"),
    ("True", 0, "'True' is not read"), ("x ? y", 2, "or as an operator"),
    # characters: look-alikes, and letters of other alphabets (the Greek capital is no A)
    ("é", 0, "the character 'é'"), ("ℵ", 0, "letters a-z"), ("ｘ + 1", 0, "it looks like x"), ("½x", 0, "like 1/2"),
    ("x₁", 1, "it looks like 1"), ("Α", 0, "the character"), ("1\N{ARABIC-INDIC DIGIT ONE}", 1, "the character"),
    # numbers
    ("2 + 0x10", 4, "notation"), ("1_000", 0, "notation"), ("2,5x", 1, "a point in decimal numbers"),
    ("2.5.3", 3, "a number can't stand"), ("x 2", 2, "a number can't stand"), ("(x+1)2", 5, "a number can't stand"),
    ("x*1e999999", 2, "too long"), ("1e-401", 0, "too long"), ("9" * 401, 0, "too long"), ("x" + "²" * 401, 1, "long"),
    # grammar
    ("", 0, "the formula is empty"), ("x +", 3, "ends too early"), ("x +)", 3, "a bracket is closed"),
    ("((x)", 0, "a bracket is never closed"), ("()", 0, "must hold one value"), ("x*(1, 2)", 2, "must hold one value"),
    ("* x", 0, "'*' has no meaning here"), ("x***2", 3, "write for example"), ("x else y", 2, "'else' has no"),
    ("(x else y)", 3, "'else' has no"), ("(|x)|", 3, "')' has no"), ("(x>0) + 1", 2, "a condition is no number"),
    ("x || y", 3, "'|' is never closed"), ("|x, y|", 0, "must hold one value"), ("x if x > 0", 2, "'if' has no 'else'"),
    ("x > 0", 2, "a condition is no number"), ("2*(x>0)", 4, "a condition is no"), ("sin(x > 0)", 6, "condition is no"),
    ("1/x, x>0", 3, "',' has no meaning here"), ("x if x else 1", 5, "a condition must compare"),
    ("x if x > 0 and y else 1", 15, "a condition must compare"), ("1 if 0 < 2*x < 1 else 0", 13, "inside a chain"),
    # functions
    ("pow(x)", 0, "pow takes 2 arguments, not 1"), ("where(x > 0, 1)", 0, "where takes 3 arguments, not 2"),
    ("ab(x)", 0, "unknown function ab"), ("math.x", 0, "unknown function x"), ("sin^0 x", 4, "power of sin"),
    ("foo(x)", 0, "unknown function foo"), ("1 + math.foo(x)", 4, "such as floor"), ("xsin(x)", 0, "such as sin"),
    ("lambda(x)", 0, "write lambda*(...)"), ("sin", 0, "function sin has no arguments here"), ("sin -x", 0, "sin(...)"),
    ("max x", 0, "max has no arguments"), ("sin()", 0, "sin takes 1 argument, not 0"), ("max(x, )", 7, "')' has no"),
    ("1 + max(x)", 4, "max takes 2 or more arguments, not 1"), ("log(x, 2, 3)", 0, "log takes 1 to 2 arguments, not 3"),
    ("sin^-1(x)", 4, "this power of sin is not clear"), ("sin⁻¹ x", 3, "such as asin"), ("sin^n x", 4, "power of sin"),
    ("sin x/2", 5, "where the argument of sin ends"), ("sin 2*x", 5, "write sin(2)"), ("sin x y", 6, "write sin(x)"),
    ("sin x(x+1)", 5, "where the argument of sin ends"), ("sin 2cos x", 5, "where the argument of sin ends"),
    ("√2x", 2, "where the root ends"), ("√x²", 2, "where the root ends"), ("√(x+1)^2", 6, "where the root ends"),
    ("√-x", 1, "'-' has no meaning here"), ("sinx", 0, "write sin(x)"), ("3cos3x", 1, "write cos(3x)"),
    ("t*cost", 2, "write cos(t)"), ("logx", 0, "write log(x)"),
    # constants
    ("9**9**9", 1, "more than 4096 bits"), ("((9**9)**9999)**9999*x", 7, "more than 4096 bits"),
    ("10**1000000*x", 2, "more than 4096 bits"), ("(1/3)**-99999", 5, "4096 bits"), ("pi**pi**pi**pi", 2, "4096 bits"),
    ("(2**(1/2))**9999", 10, "4096 bits"), ("exp(exp(exp(9)))", 4, "4096 bits"), ("exp(9)*x**exp(exp(9))", 10, "4096"),
    ("x**9**(9**9 if x > 0 else 1)", 4, "4096 bits"), ("1" + "*1e99" * 13, 61, "4096 bits"),
    ("pi" + "*1e99" * 13, 62, "4096 bits"), ("0**-1", 1, "by zero"), ("x/(1 - 2/2)", 1, "by zero"),
    ("x%0 + x//0", 1, "by zero"),
]
HIDDEN = [  # text that is shown escaped, and the column of the caret there
    ("x\x1b[31m", r"x\x1b[31m", 1), ("\u202ex", r"\u202ex", 0), ("αx\u200by", r"αx\u200by", 2), ("x\0", r"x\x00", 1),
    ("x\ny\7", r"x\ny\x07", 1), ("x\u2028y", r"x\u2028y", 1), ("x\u0301", r"x\u0301", 1), ("x\udc80", r"x\udc80", 1),
]
# fmt: on


def reading(text: str, *variables: str) -> Reading:
    return read(text, functions=FUNCTIONS, variables=variables)


def refusal(text: str) -> ParseError:
    with pytest.raises(ParseError) as caught:
        reading(text)
    return caught.value


def printable(text: str) -> bool:
    return all(char.isprintable() or char == "\n" for char in text)


@pytest.mark.parametrize(("text", "expected"), PYTHON + PEOPLE)
def test_echo(text, expected):
    found = reading(text)
    assert found.echo == expected
    assert found.text == text
    assert reading(found.echo).tree == found.tree


def from_python(node):
    """Python's own reading as a tree: an independent oracle for binding strengths."""
    match node:
        case ast.Constant(value):
            return Number(Fraction(repr(value)))
        case ast.Name(name):
            return Constant(name) if name in ("pi", "e") else Variable(name)
        case ast.UnaryOp(op, operand):
            return Negative(from_python(operand)) if isinstance(op, ast.USub) else from_python(operand)
        case ast.BinOp(left, op, right):
            return Binary(SIGNS[type(op)], from_python(left), from_python(right))
        case ast.Call(ast.Name(name), arguments):
            return Call(name, tuple(map(from_python, arguments)))
        case ast.IfExp(test, body, orelse):
            return Choice(from_python(test), from_python(body), from_python(orelse))
        case ast.Compare(left, ops, rights):
            values = list(map(from_python, [left, *rights]))
            links = [Comparison(SIGNS[type(op)], *pair) for op, *pair in zip(ops, values, values[1:], strict=False)]
            return reduce(lambda a, b: Comparison("and", a, b), links)
        case ast.BoolOp(op, values):
            return reduce(lambda a, b: Comparison(SIGNS[type(op)], a, b), map(from_python, values))
    raise AssertionError(node)


SIGNS = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.Pow: "**", ast.Mod: "%", ast.FloorDiv: "//",
         ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!=",
         ast.And: "and", ast.Or: "or"}  # fmt: skip


@pytest.mark.parametrize("text", [text for text, _ in PYTHON])
def test_python_reads_the_same(text):
    assert reading(text).tree == from_python(ast.parse(text, mode="eval").body)


@pytest.mark.parametrize(
    ("text", "read_as", "noted"),
    [
        ("x^2 y + sin(xy)", "x**2*y + sin(x*y)", True),
        ("xy^2 + x + y", "x*y**2 + x + y", True),
        ("3xyz + x + y + z", "3*x*y*z + x + y + z", True),
        ("xy + x", "xy + x", False),
        ("ex + x + e", "ex + x + e", False),
        ("wxyz + w + x + y + z", "wxyz + w + x + y + z", False),
        ("ab(x) + a + b + x", "a*b*x + a + b + x", True),
    ],
)
def test_letters_side_by_side_are_a_product_where_each_is_a_variable(text, read_as, noted):
    found = reading(text)
    assert found.echo == read_as
    assert any("was read as x*y" in note or "was read as a*b" in note for note in found.notes) == noted


def test_a_given_name_is_no_product():
    assert reading("xy + x + y", "xy").echo == "xy + x + y"


def test_the_question_is_no_formula():
    assert "what is asked" in str(refusal("d/dx x**2"))


def test_variables_come_in_the_order_of_the_text():
    assert reading("b if c > a else b*d + pi + e").variables == ("b", "c", "a", "d")


@pytest.mark.parametrize(
    ("text", "given", "variables", "expected"),
    [
        ("e**x + pi", ["e"], ("e", "x"), "e**x + pi"), ("2πr + pi", ["pi"], ("pi", "r"), "2*pi*r + pi"),
        ("π + pi", ["π"], ("π",), "π + pi"), ("math.e*e", ["e"], ("e",), "e*e"),
        ("sin*x", ["sin"], ("sin", "x"), "sin*x"), ("gamma(x+1)", ["gamma"], ("gamma", "x"), "gamma*(x + 1)"),
        ("rate(x+1)", ["rate"], ("rate", "x"), "rate*(x + 1)"), ("sinx", ["sinx"], ("sinx",), "sinx"),
        ("math.sin(x)*sin", ["sin"], ("x", "sin"), "sin(x)*sin"),
    ],
)  # fmt: skip
def test_given_names_are_variables(text, given, variables, expected):
    found = reading(text, *given)
    assert found.variables == variables
    assert found.echo == expected


@pytest.mark.parametrize(
    ("text", "notes"),
    [
        ("x**2*sin(x) + x²y − 1 + math.e*abc + x**2/2 + x**1*gammax", []),
        ("x^2 + 2x + y^3 + 3y", ["'^' was read as a power", "'2x' was read as 2*x"]),
        ("2 sin(x) y", ["'2 sin(...)' was read as 2*sin(...)", "'(...) y' was read as (...)*y"]),
        ("x(y+1) + y(x)", ["'x(...)' was read as x*(...)", "'y(...)' was read as y*(...)"]),
        ("x y + y z + 2(x) + 3(x)", ["'x y' was read as x*y", "'2(...)' was read as 2*(...)"]),
        ("math.pi x", ["'math.pi x' was read as math.pi*x"]), ("1/2x", ["'/2x' was read as /2*x, not as /(2*x)"]),
        ("2**3 x", ["'**3 x' was read as **3*x, not as **(3*x)"]),
        ("x**1/2", ["'**1/' was read as **1/; for a root write **(1/...)"]),
        ("sin 2x + sin^2(x)", ["'sin 2x' was read as sin(2*x)", "'sin^2(x)' was read as sin(x)**2"]),
        ("ln(x) + ln(2)", ["'ln' was read as log"]), ("e + math.e", ["'e' was read as Euler's number"]),
        ("ωt", ["'ωt' was read as one variable, not as a product"]),
        ("cost", ["'cost' was read as one variable, not as cos(t)"]),
    ],
)  # fmt: skip
def test_notes(text, notes):
    assert list(reading(text).notes) == notes


@pytest.mark.parametrize(("text", "column", "words"), REFUSED)
def test_refusal(text, column, words):
    error = refusal(text)
    assert error.column == column
    assert words in str(error)
    assert error.fix


@pytest.mark.parametrize(("text", "shown", "column"), HIDDEN)
def test_hidden_characters_are_shown_escaped(text, shown, column):
    error = refusal(text)
    assert error.text == shown
    assert error.column == column
    assert printable(str(error))


def test_limits():
    assert reading("(" * 50 + "x" + ")" * 50).echo == "x"
    assert refusal("(" * 51 + "x" + ")" * 51).column == 50
    assert reading("x" + " " * 1999).echo == "x"
    assert "2001 characters" in str(refusal("\x1b" + " " * 2000))
    assert printable(str(refusal("\x1b" + " " * 2000)))
    assert reading("9" * 400).tree == Number(Fraction(10**400 - 1))
    assert reading(reading("0." + "7" * 398).echo).tree == Number(Fraction("0." + "7" * 398))
    assert reading("√" * 79 + "x")
    assert refusal("√" * 80 + "x").column == 80
    assert reading("2**4096").echo == "2**4096"
    assert "4096 bits" in str(refusal("2**4097"))


@pytest.mark.parametrize("text", ["sin " * 400, "x**" * 600, "√" * 1000, "|" * 999, "x if x>0 else " * 140])
def test_nesting_without_brackets_is_limited(text):
    assert "nested too deeply" in str(refusal(f"{text}x"))


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("x+" * 999 + "x", 1000), ("x " * 999 + "x", 1), ("-" * 1998 + "x", 1), ("1 if " + "x<=" * 600 + "x else 2", 1),
    ],
)  # fmt: skip
def test_long_formulas_do_not_recurse(text, value):
    found = reading(text)
    assert found.evaluate(VALUES, {"x": 1}) == value
    assert (found, repr(found), hash(found)) == (reading(text), repr(reading(text)), hash(reading(text)))


@pytest.mark.parametrize("text", ["9**" * 600 + "9", "1/3+1/7+" * 240 + "1", "((((9**9)**9)**9)**9)**9", "1." * 900])
def test_nothing_is_slow(text):
    start = time.process_time()
    with contextlib.suppress(ParseError):
        reading(text)
    assert time.process_time() - start < 0.5


def test_text_is_never_evaluated():
    for module in (reader, tokens):
        names = {node.id for node in ast.walk(ast.parse(inspect.getsource(module))) if isinstance(node, ast.Name)}
        assert not names & {"eval", "exec", "compile", "__import__", "sympify", "parse_expr", "globals"}


def test_signs_need_their_functions():
    for text in ("√x", "|x|"):
        with pytest.raises(ParseError, match="is not known"):
            read(text, functions={})


NUMBERS = st.sampled_from(["0", "1", "2", "3", "0.5", "1.25", "1e-7", "1e30"]).map(lambda text: Number(Fraction(text)))
LEAVES = NUMBERS | st.sampled_from(["x", "w_1", "λ", "E"]).map(Variable) | st.sampled_from(["pi", "e"]).map(Constant)


def larger(parts):
    compared = st.builds(Comparison, st.sampled_from(["<", "<=", ">", ">=", "==", "!="]), parts, parts)
    joined = st.builds(Comparison, st.sampled_from(["and", "or"]), compared, compared)
    conditions = compared | joined | st.builds(Comparison, st.sampled_from(["and", "or"]), joined, joined)
    return (
        st.builds(Binary, st.sampled_from(["+", "-", "*", "/", "**", "%", "//"]), parts, parts)
        | st.builds(Negative, parts)
        | st.builds(Call, st.just("sin"), st.tuples(parts))
        | st.builds(Call, st.just("max"), st.tuples(parts, parts))
        | st.builds(Choice, conditions, parts, parts)
    )


@given(st.recursive(LEAVES, larger, max_leaves=10))
@settings(max_examples=200, deadline=None)
def test_trees_are_read_from_their_echoes(tree):
    # Not `read`: the constants in random trees are as large as they happen to be.
    assert reader._Parser(tokens.printable(echo(tree)), FUNCTIONS, ()).formula() == tree


FORMULAS = st.recursive(
    st.sampled_from(["x", "y", "1", "2", "3", "0.5", "1.25"]),
    lambda parts: (
        st.builds("({} {} {})".format, parts, st.sampled_from(["+", "-", "*", "/", "%", "//"]), parts)
        | st.builds("({})**{}".format, parts, st.sampled_from(["2", "-1", "-2", "0"]))
        | st.builds("max(-{}, {})".format, parts, parts)
    ),
    max_leaves=8,
)


class Exact(ast.NodeTransformer):
    """Makes Python calculate with fractions."""

    def visit_Constant(self, node):
        return ast.parse(f"Fraction('{node.value}')", mode="eval").body


@given(FORMULAS, st.fractions(-3, 3, max_denominator=8), st.fractions(-3, 3, max_denominator=8))
@settings(max_examples=200, deadline=None)
def test_values_are_those_of_python(text, x, y):
    exact = ast.fix_missing_locations(Exact().visit(ast.parse(text, mode="eval")))
    try:
        found = reading(text).evaluate(VALUES, {"x": x, "y": y})
    except (ParseError, ZeroDivisionError):
        return
    assert found == eval(compile(exact, "", "eval"), {"Fraction": Fraction, "x": x, "y": y})


PIECES = "x y e pi 2 0.5 sin sqrt ln max foo ( ) ( ) + - * / ** ^ ² ⁻¹ | √ , if else and < == . ! = math. π ω é \x1b"


@given(st.lists(st.sampled_from([*PIECES.split(" "), " ", " "]), max_size=14).map("".join))
@settings(max_examples=400, deadline=None)
def test_any_text_is_read_or_refused(text):
    try:
        found = reading(text)
    except ParseError as error:
        good = 0 <= error.column <= len(error.text) and printable(str(error))
    else:
        good = reading(found.echo).tree == found.tree
    assert good
