"""Layered layout: what it promises of any graph."""

from itertools import combinations, pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from gradexplain.render.pictures.layout import Link, layered

GAP, STEP = 10.0, 20.0
sizes = st.tuples(st.floats(5, 200), st.floats(5, 60))


@st.composite
def graphs(draw):
    count = draw(st.integers(1, 14))
    boxes = draw(st.lists(sizes, min_size=count, max_size=count))
    pairs = st.tuples(st.integers(0, count - 1), st.integers(0, count - 1)).filter(lambda p: p[0] != p[1])
    ends = draw(st.lists(pairs, max_size=25 if count > 1 else 0)) if count > 1 else []
    links = [
        Link(min(a, b), max(a, b), draw(st.sampled_from([(0.0, 0.0), (40.0, 12.0), (90.0, 12.0)]))) for a, b in ends
    ]
    return boxes, links


def overlap(a, b):
    (xa, ya, wa, ha), (xb, yb, wb, hb) = a, b
    return abs(xa - xb) < (wa + wb) / 2 - 1e-6 and abs(ya - yb) < (ha + hb) / 2 - 1e-6


def rectangles(boxes, links, found):
    yield from ((*centre, *size) for centre, size in zip(found.centres, boxes, strict=True))
    yield from ((*route.label, *link.label) for link, route in zip(links, found.routes, strict=True))


@settings(deadline=None, derandomize=True, max_examples=200)
@given(graphs())
def test_boxes_and_labels_never_overlap_and_lie_inside(graph):
    boxes, links = graph
    found = layered(boxes, links, gap=GAP, step=STEP)
    placed = list(rectangles(boxes, links, found))
    assert not any(overlap(a, b) for a, b in combinations(placed, 2))
    for x, y, width, height in placed:
        assert x - width / 2 >= -1e-6
        assert x + width / 2 <= found.size[0] + 1e-6
        assert y - height / 2 >= -1e-6
        assert y + height / 2 <= found.size[1] + 1e-6


@settings(deadline=None, derandomize=True, max_examples=100)
@given(graphs())
def test_edges_go_forward_from_border_to_border(graph):
    boxes, links = graph
    found = layered(boxes, links, gap=GAP, step=STEP)
    for link, route in zip(links, found.routes, strict=True):
        assert found.layers[link.source] < found.layers[link.target]
        depths = [depth for _, start, end in route.spans for depth in (start, end)]
        assert all(a <= b + 1e-6 for a, b in pairwise(depths))
        for box, (breadth, start, end) in ((link.source, route.spans[0]), (link.target, route.spans[-1])):
            assert abs(breadth - found.centres[box][0]) <= boxes[box][0] / 2
            border = start if box == link.source else end
            assert abs(abs(border - found.centres[box][1]) - boxes[box][1] / 2) < 1e-6


@settings(deadline=None, derandomize=True, max_examples=100)
@given(graphs())
def test_edges_pass_through_no_box(graph):
    boxes, links = graph
    found = layered(boxes, links, gap=GAP, step=STEP)
    for route in found.routes:
        for breadth, start, end in route.spans[1:-1]:
            passing = (breadth, (start + end) / 2, 0.1, end - start)
            assert not any(overlap(passing, (*c, *s)) for c, s in zip(found.centres, boxes, strict=True))


@settings(deadline=None, derandomize=True, max_examples=100)
@given(graphs())
def test_long_edges_are_straight_between_their_bends(graph):
    boxes, links = graph
    for route in layered(boxes, links, gap=GAP, step=STEP).routes:
        between = [breadth for breadth, _, _ in route.spans[1:-1]]
        # Two long edges that cross can't both be straight; then one bends once at each crossing.
        assert len({round(b, 3) for b in between}) <= 1 + len(links)


def test_a_long_edge_beside_a_chain_is_straight():
    boxes = [(40.0, 20.0)] * 6
    links = [*(Link(i, i + 1, (30.0, 10.0)) for i in range(5)), Link(0, 5, (30.0, 10.0))]
    route = layered(boxes, links, gap=GAP, step=STEP).routes[-1]
    assert len({round(breadth, 6) for breadth, _, _ in route.spans[1:-1]}) == 1
    assert len(route.spans) == 2 + 9


def test_few_crossings():
    # Two ladders whose rungs were given crosswise.
    links = [Link(0, 3), Link(1, 2), Link(3, 4), Link(2, 5)]
    found = layered([(20.0, 20.0)] * 6, links, gap=GAP, step=STEP)
    order = [found.centres[i][0] for i in (0, 1)], [found.centres[i][0] for i in (3, 2)]
    assert (order[0][0] < order[0][1]) == (order[1][0] < order[1][1])


def test_nothing_is_laid_out_as_nothing():
    assert layered([], [], gap=GAP, step=STEP).size == (0.0, 0.0)


@settings(deadline=None, derandomize=True, max_examples=100)
@given(graphs())
def test_edges_that_run_far_across_do_not_lie_on_each_other(graph):
    boxes, links = graph
    across = []
    for route in layered(boxes, links, gap=GAP, step=STEP).routes:
        for before, after, turn in zip(route.spans, route.spans[1:], route.turns, strict=False):
            assert before[2] < turn < after[1]
            if abs(after[0] - before[0]) > 40:
                across.append((*sorted((before[0], after[0])), turn))
    for a, b in combinations(across, 2):
        assert a[1] <= b[0] or b[1] <= a[0] or abs(a[2] - b[2]) > 1e-6
