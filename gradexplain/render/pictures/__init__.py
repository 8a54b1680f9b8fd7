"""Pictures: layout of graphs, SVG, drawings in characters, DOT and Mermaid source, plots."""
