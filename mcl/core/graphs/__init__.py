"""A plan as a picture: Mermaid and DOT as text, SVG and PNG through Graphviz."""

from mcl.core.graphs.dot import dot_text, mermaid_text
from mcl.core.graphs.drawing import draw
from mcl.core.graphs.picture import Box, Picture, picture_of

__all__ = ["Box", "Picture", "dot_text", "draw", "mermaid_text", "picture_of"]
