"""The computation graph as source text for other programs: DOT for Graphviz, Mermaid for Markdown that draws."""

from __future__ import annotations

from gradexplain import escape
from gradexplain.exposition.picture import ComputationGraph, Vertex
from gradexplain.render.pictures.words import SIGNS, title_of


def dot(graph: ComputationGraph) -> str:
    r"""The graph in the language of Graphviz.

    >>> from gradexplain.exposition.picture import Edge
    >>> x, y = Vertex("x", value=3.0, role="input"), Vertex("y", role="output", adjoint="y_bar", adjoint_value=1.0)
    >>> print(dot(ComputationGraph("f", (x, y), (Edge(0, 1, returns=True, handed_value=2.0),))))
    digraph {
      label="Computation graph of f";
      rankdir=LR;
      node [shape=box, fontname=monospace];
      edge [fontname=monospace];
      n0 [label="x = 3", shape=oval];
      n1 [label="y\nȳ = 1", penwidth=2];
      n0 -> n1;
      n1 -> n0 [style=dashed, constraint=false];
    }
    """
    lines = [
        f"label={escape.dot(title_of(graph))};",
        "rankdir=LR;",
        "node [shape=box, fontname=monospace];",
        "edge [fontname=monospace];",
    ]
    for number, vertex in enumerate(graph.vertices):
        shape = {"input": ", shape=oval", "output": ", penwidth=2"}.get(vertex.role, "")
        label = "\\n".join(escape.dot(row)[1:-1] for row in _label(vertex))
        lines.append(f'n{number} [label="{label}"{shape}];')
    for edge in graph.edges:
        forward, backward = SIGNS.label_of(edge)
        lines.append(f"n{edge.source} -> n{edge.target}{_labelled(forward)};")
        if edge.returns:
            lines.append(f"n{edge.target} -> n{edge.source}{_labelled(backward, 'style=dashed', 'constraint=false')};")
    return "\n".join(["digraph {", *(f"  {row}" for row in lines), "}"])


def mermaid(graph: ComputationGraph) -> str:
    """The graph in the language of Mermaid.

    >>> from gradexplain.exposition.picture import Edge
    >>> x, y = Vertex("x", value=3.0, role="input"), Vertex("y", role="output")
    >>> print(mermaid(ComputationGraph("f", (x, y), (Edge(0, 1, returns=True),))))
    flowchart LR
      n0(["x = 3"])
      n1["y"]
      n0 --> n1
      n1 -.-> n0
    """
    lines = []
    for number, vertex in enumerate(graph.vertices):
        label = "<br/>".join(escape.mermaid(row)[1:-1] for row in _label(vertex))
        left, right = ("([", "])") if vertex.role == "input" else ("[", "]")
        lines.append(f'n{number}{left}"{label}"{right}')
    for edge in graph.edges:
        forward, backward = SIGNS.label_of(edge)
        lines.append(_arrow(edge.source, "-->", forward, edge.target))
        if edge.returns:
            lines.append(_arrow(edge.target, "-.->", backward, edge.source))
    return "\n".join(["flowchart LR", *(f"  {row}" for row in lines)])


def _label(vertex: Vertex) -> list[str]:
    return [" ".join(SIGNS.lines_of(vertex)), *filter(None, [SIGNS.adjoint_of(vertex)])]


def _labelled(label: str, *attributes: str) -> str:
    found = [*([f"label={escape.dot(label)}"] if label else []), *attributes]
    return f" [{', '.join(found)}]" if found else ""


def _arrow(start: int, arrow: str, label: str, end: int) -> str:
    return f"n{start} {arrow}{f'|{escape.mermaid(label)}|' if label else ''} n{end}"
