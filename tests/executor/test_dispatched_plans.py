"""A plan of which parts are handed to other skills ends as it does where all of it stands in one place."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from shelf import Shelf, dispatch
from walks import NODE, Walks, gate, parallel, probe, sequence, tool

from executor import AlwaysDeny, Bench, GateAnswer, GateQuestion, Home, ToolError


@dataclass(frozen=True)
class Part:
    """A leaf (no children) that ends like this, or a branch, which may be handed to another skill."""

    end: str
    kind: str = "sequential"
    children: tuple[Part, ...] = ()
    handed: bool = False


def parts(kinds: list[str], ends: list[str]) -> st.SearchStrategy[Part]:
    leaf = st.builds(Part, st.sampled_from(ends))

    def branch(inner: st.SearchStrategy[Part]) -> st.SearchStrategy[Part]:
        below = st.lists(inner, min_size=1, max_size=3).map(tuple)
        return st.builds(Part, st.just(""), st.sampled_from(kinds), below, st.booleans())

    return st.recursive(leaf, branch, max_leaves=10).filter(lambda part: bool(part.children))


# Where a parallel node fails, what its siblings still reach is a matter of moments: there nothing fails here.
plans = parts(["sequential", "parallel"], ["completed"]) | parts(
    ["sequential"], ["completed", "completed", "completed", "failed", "denied"]
)


def node(part: Part, id: str, shelf: Shelf | None) -> NODE:
    """The node of a plan; where there is a shelf, the parts that are handed on become skills of it."""
    if not part.children:
        return gate(id) if part.end == "denied" else tool(id, "test/part", text=part.end)
    children = [node(child, f"{id}{place}", shelf) for place, child in enumerate(part.children)]
    whole = (parallel if part.kind == "parallel" else sequence)(id, *children)
    if shelf is None or not part.handed:
        return whole
    shelf.put(f"s{id}", whole)
    return dispatch(shelf, f"d{id}", f"s{id}")


def expected(part: Part, id: str, inline: Mapping[str, str], prefix: str = "") -> Iterator[tuple[str, str]]:
    """What becomes of each node where parts are handed on, by what became of it in one place."""
    if part.children and part.handed:
        yield f"{prefix}d{id}", inline[id]
        if inline[id] == "skipped":  # its plan was never made
            return
        prefix = f"{prefix}d{id}/"
    yield prefix + id, inline[id]
    for place, child in enumerate(part.children):
        yield from expected(child, f"{id}{place}", inline, prefix)


class Refuses(AlwaysDeny):
    async def ask(self, gate: GateQuestion) -> GateAnswer | None:
        return GateAnswer("no")


@pytest.fixture(scope="module")
def walks(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Walks]:
    async def run(args: Mapping[str, object], bench: Bench) -> dict[str, object]:
        if args["text"] == "failed":
            raise ToolError("SPOILT", "as planned")
        return {"text": bench.idempotency_key}

    place: Path = tmp_path_factory.mktemp("dispatched")
    (place / "work").mkdir()
    with Home.open(place / "home") as home:
        made = Walks(home, place / "work")
        made.tools.append(probe("part", run))
        yield made


@pytest.mark.slow
@settings(max_examples=25)
@given(plans)
def test_it_makes_no_difference_to_states_whose_plan_a_part_stands_in(walks: Walks, part: Part) -> None:
    shelf = Shelf()
    more: dict[str, Any] = {"people": Refuses(), "sub_skills": shelf}
    inline = walks.run(walks.accept(node(part, "n", None)), **more)
    handed = walks.run(walks.accept(node(part, "n", shelf)), **more)
    assert dict(handed.nodes) == dict(expected(part, "n", inline.nodes))
    assert handed.state == inline.state
    assert (handed.failure and handed.failure.code) == (inline.failure and inline.failure.code)
    assert dict(walks.home.journal.view(handed.intent_id, fresh=True).nodes) == dict(handed.nodes)


def test_the_journal_of_all_these_plans_verifies(walks: Walks) -> None:
    assert walks.home.journal.verify().findings == []
