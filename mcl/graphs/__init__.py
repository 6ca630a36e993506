"""A plan as a picture: Mermaid and DOT as text, SVG and PNG through Graphviz."""

from mcl.graphs.dot import dot_text
from mcl.graphs.drawing import draw
from mcl.graphs.mermaid import mermaid_text
from mcl.graphs.picture import Box, Picture, picture_of

__all__ = ["Box", "Picture", "dot_text", "draw", "mermaid_text", "picture_of"]
