"""`mcl plan --graph`: the plan of an intent as a picture."""

from pathlib import Path
from typing import Literal, TypeAlias

from executor.store.home import Home
from mcl.core.home import open_home
from mcl.usecases.plan import Planned, plan
from mcl.usecases.show import read_view

GraphForm: TypeAlias = Literal["svg", "png", "mermaid", "dot"]


def graph(
    intent: str, form: GraphForm = "svg", *, workspace: Path | None = None, home: Home | None = None
) -> bytes:
    """The plan of an intent as a picture: kinds, tools, side effects, gates; states after a run began, before
    it what the gate says.

    form: svg and png are drawn by Graphviz; mermaid and dot are text (UTF-8). Raises InputError; WalkError
    NO_PLAN; ScopeError; GraphError GRAPH_NO_PROGRAM, GRAPH_TOO_LARGE, GRAPH_FAILED.
    """
    home = home or open_home()
    return drawn(plan(intent, workspace=workspace, home=home), form, home)


def drawn(seen: Planned, form: GraphForm, home: Home) -> bytes:
    """The same for a plan that was looked at already."""
    from mcl.core.graphs import dot_text, draw, mermaid_text, picture_of

    states = read_view(home, seen.intent.id).nodes
    picture = picture_of(
        seen.unfolded, goal=seen.intent.prose, state=seen.state, verdicts=seen.verdicts, states=states
    )
    if form == "mermaid":
        return mermaid_text(picture).encode()
    text = dot_text(picture)
    return text.encode() if form == "dot" else draw(text, form, boxes=len(picture.boxes))
