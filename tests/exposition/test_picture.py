"""The computation graph as a record: values, local derivatives, adjoints; large ones folded by the user's structure."""

import numpy as np
import pytest

import gradexplain as gx
from gradexplain.evaluate import evaluate
from gradexplain.exposition.picture import MOST_VERTICES, computation_graph
from tests.render.pictures.programs import explained

EXPLAINED = explained()
graphs = pytest.mark.parametrize("e", EXPLAINED.values(), ids=EXPLAINED)


def drawn(e, most=MOST_VERTICES):
    return computation_graph(e.program, e.wrt, most)


@graphs
def test_every_operation_and_every_argument_is_a_vertex(e):
    graph = drawn(e)
    assert [v.name for v in graph.vertices if v.role == "input"][:1] == list(e.program.inputs)[:1]
    assert sum(v.role == "output" for v in graph.vertices) == 1
    assert all(edge.source < edge.target for edge in graph.edges)


@graphs
def test_the_adjoint_is_the_sum_of_what_is_handed_back(e):
    graph = drawn(e)
    for position, vertex in enumerate(graph.vertices):
        handed = [edge.handed_value for edge in graph.edges if edge.source == position and edge.returns]
        if handed and vertex.adjoint_value is not None:
            assert np.allclose(sum(handed), vertex.adjoint_value)
            assert np.shape(vertex.adjoint_value) == vertex.shape


@graphs
def test_adjoints_of_arguments_are_the_gradients(e):
    values = {v.name: v.adjoint_value for v in drawn(e).vertices if v.role == "input"}
    for name, gradient in e.gradient_values.items():
        assert values[name] is None or np.allclose(values[name], gradient)


def test_local_derivative_times_adjoint_is_handed_back():
    graph = drawn(EXPLAINED["density"])
    for edge in graph.edges:
        adjoint = graph.vertices[edge.target].adjoint_value
        assert np.isclose(edge.local_value * adjoint, edge.handed_value)


def test_an_operand_that_is_used_twice_has_two_edges():
    graph = drawn(EXPLAINED["squares"])
    assert [(e.source, e.target, str(e.local)) for e in graph.edges] == [(0, 1, "x"), (0, 1, "x")]


def test_what_has_no_derivative_hands_nothing_back():
    graph = drawn(EXPLAINED["gated"])
    condition = next(i for i, v in enumerate(graph.vertices) if v.adjoint == "" and v.role == "operation")
    assert [e.returns for e in graph.edges if condition in (e.source, e.target)] == [False] * 3


def test_an_argument_that_is_not_used_stands_alone():
    graph = drawn(EXPLAINED["unused"])
    assert ("y", "") in [(v.name, v.adjoint) for v in graph.vertices]


def test_without_a_point_there_are_formulas():
    graph = drawn(EXPLAINED["symbols"])
    assert {v.value for v in graph.vertices} == {None}
    assert str(graph.vertices[1].adjoint_formula) == "v*y_bar"


def test_values_of_the_trace_are_left_alone():
    e = gx.explain(lambda x: x**2, x=3.0)
    before = dict(e.program.trace.values)
    drawn(e)
    assert e.program.trace.values == before
    assert evaluate([e.program.output], e.program.trace.values) == [9.0]
