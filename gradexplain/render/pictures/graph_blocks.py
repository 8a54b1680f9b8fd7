"""The computation graph within a document: the picture, and what is folded in it behind a line to click on."""

from __future__ import annotations

from collections.abc import Iterator

from gradexplain.exposition.picture import ComputationGraph, Vertex
from gradexplain.language import say
from gradexplain.render.blocks import Block, Code, Image, Section, line
from gradexplain.render.pictures import graph_svg
from gradexplain.render.pictures.words import aloud, name_of


def graph_blocks(graph: ComputationGraph) -> Iterator[Block]:
    """The blocks of a graph: its image, and for every folded vertex a section with the image of its inside."""
    yield image(graph)
    for vertex in graph.vertices:
        if vertex.inside is not None:
            yield Section(line(*_title(vertex)), (image(vertex.inside),), open=False)


def image(graph: ComputationGraph) -> Image:
    """The picture with its words."""
    return Image(graph_svg.render(graph), aloud(graph))


def _title(vertex: Vertex) -> Iterator[str | Code]:
    assert vertex.inside is not None
    yield name_of(vertex)
    if vertex.place is not None and vertex.place.text:
        yield from (say(": "), Code(vertex.place.text))
    shown = len(vertex.inside.vertices)
    first = " (the first {shown} of {count} operations)"
    yield say(first if shown < vertex.count else " ({count} operations)", shown=shown, count=vertex.count)
