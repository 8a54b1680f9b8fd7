"""Large graphs: a vertex for a line or a called function, never more than fit."""

import numpy as np
import pytest

import gradexplain as gx
from gradexplain.exposition.folding import folded
from gradexplain.exposition.picture import MOST_VERTICES, computation_graph


def helper(s):
    return np.sin(s) * 0.5


def by_line(x):
    s = x
    for _ in range(50):
        t = helper(s)
        s = s + t
        s = s * 0.9
    return s


def on_one_line(x):
    return sum(np.sin(x) ** k for k in range(60))


def many_lines(x):
    lines = "\n".join(f"    x = x * {i + 1}.5 + x" for i in range(90))
    scope = {}
    exec(f"def f(x):\n{lines}\n    return x", scope)
    return scope["f"](x)


def graph_of(function, **point):
    e = gx.explain(function, **point)
    return e, computation_graph(e.program, e.wrt)


@pytest.mark.parametrize("function", [by_line, on_one_line, many_lines])
def test_few_vertices_hold_every_operation(function):
    _, graph = graph_of(function, x=0.3)
    assert 2 < len(graph.vertices) <= MOST_VERTICES
    assert sum(v.count for v in graph.vertices if v.role != "input") == graph.operations > MOST_VERTICES
    assert all(len(v.inside.vertices) <= 12 for v in graph.vertices if v.inside is not None)


def test_lines_of_the_function_and_functions_that_it_calls():
    first = by_line.__code__.co_firstlineno
    _, graph = graph_of(by_line, x=0.3)
    assert [(v.name, v.count) for v in graph.vertices] == [
        ("x", 1), ("helper()", 100), (f"line {first + 4}", 50), (f"line {first + 5}", 50),
    ]  # fmt: skip
    assert graph.vertices[-1].role == "output"
    assert graph.vertices[2].place.text == "s = s + t"


def test_a_loop_leads_back_to_an_earlier_line():
    _, graph = graph_of(by_line, x=0.3)
    back = [(e.source, e.target, e.count) for e in graph.edges if e.source > e.target]
    assert back == [(3, 1, 49), (3, 2, 49)]


def test_a_formula_has_no_lines_and_is_cut_into_stretches():
    text = " + ".join(f"sin({k}*x)" for k in range(2, 40))
    e, graph = graph_of(text)
    assert all(v.name.startswith("operations ") for v in graph.vertices[1:])
    assert sum(v.count for v in graph.vertices) == len(folded_nodes(e))


def folded_nodes(e):
    return [n for n in e.graph if n.inputs or n.op.name == "variable"]


def test_groups_keep_the_order_of_computation():
    e = gx.explain(many_lines, x=0.3)
    nodes = folded_nodes(e)
    groups = folded(nodes, e.program, 10)
    assert len(groups) == 10
    assert [n for g in groups for n in g.nodes] == nodes
