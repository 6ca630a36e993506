"""What a plug-in needs is not installed: said before anything is signed, asked or sent, at each door."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client
from mcp.types import ElicitResult
from nacl.signing import SigningKey
from walks import Says, Walks, gate, granted, sequence, tool
from websites import Site, page, website

import mcl
from executor import Agents, Home, Outcome
from ir import MclError, PlanStepBody, did_of
from mcl.plugins.mcp.process import opened
from mcl.plugins.mcp.service import GoalCompiler
from mcl.usecases.plans import Planned

CHART = {"path": "sales.csv", "out": "chart.svg"}


@pytest.fixture
def walks(home: Home, tmp_path: Path) -> Walks:
    (tmp_path / "work").mkdir()
    (tmp_path / "work/sales.csv").write_text("month,amount\njan,3\nfeb,5\n")
    return Walks(home, tmp_path / "work")


@pytest.fixture
def site() -> Iterator[Site]:
    with website() as found:
        yield found


@pytest.fixture
def without(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Takes packages away, as if they were not installed."""

    def take(*packages: str) -> None:
        for name in list(sys.modules):
            if name.partition(".")[0] in packages:
                monkeypatch.setitem(sys.modules, name, None)
        for name in packages:
            monkeypatch.setitem(sys.modules, name, None)

    return take


def never(seen: Planned) -> bool:
    raise AssertionError("nobody is asked to agree")


@pytest.mark.parametrize(
    ("name", "args", "package"),
    [
        ("data/chart", CHART, "pygal"),
        ("calendar/list", {}, "icalendar"),
        ("http/get", {"url": "https://example.org/"}, "lxml"),
        ("http/request", {"url": "https://example.org/", "method": "POST"}, "lxml"),
    ],
)
def test_a_call_is_refused_before_it_is_drafted(
    walks: Walks, without: Any, name: str, args: dict[str, object], package: str
) -> None:
    without(package)
    with pytest.raises(MclError) as caught:
        mcl.call_tool(name, args, agree=never, workspace=walks.workspace, home=walks.home)
    assert (caught.value.code, caught.value.place) == ("EXTRA_MISSING", name)
    assert caught.value.message.startswith(f"{name} needs")
    assert "[data]" in caught.value.fix, "the line that installs it"
    assert walks.home.journal.intents() == ()


def fetched(walks: Walks, site: Site, which: str, **args: str) -> Outcome:
    """A plan that was accepted where everything was there: its one request is made."""
    granted(walks, site.origin)
    node = tool("n1", which, "network", url=f"{site.origin}/x", **args)
    return walks.run(walks.accept(node, verb="deliver"), people=Says("approve"))


@pytest.mark.parametrize(("which", "args"), [("http/get", {}), ("http/request", {"method": "POST"})])
def test_what_went_missing_after_a_plan_was_signed_fails_its_node_before_anything_is_sent(
    walks: Walks, site: Site, without: Any, which: str, args: dict[str, str]
) -> None:
    site.pages["/x"] = page("<p>done</p>")
    without("lxml")
    outcome = fetched(walks, site, which, **args)
    assert outcome.failure is not None
    assert outcome.failure.code == "EXTRA_MISSING"
    assert "[data]" in outcome.failure.fix
    assert site.requests == []


def test_a_tool_of_the_plug_in_says_its_whole_name_when_it_runs(walks: Walks, without: Any) -> None:
    id = walks.accept(tool("n1", "data/summary", path="sales.csv"))
    without("pygal")
    outcome = walks.run(id)
    assert outcome.failure is not None
    assert (outcome.failure.code, outcome.failure.message.split()[0]) == ("EXTRA_MISSING", "data/summary")


def test_what_another_agent_refuses_with_a_page_is_still_its_status(
    walks: Walks, site: Site, without: Any
) -> None:
    """Handing work over needs no extra: a page that cannot be read is not quoted."""
    site.pages["/x"] = page("<p>overloaded</p>", status="500 Internal Server Error")
    granted(walks, site.origin)
    Agents(walks.home).add("printer", did_of(bytes(SigningKey.generate().verify_key)), f"{site.origin}/x")
    sub = {
        "skill_ref": f"matrix://skill/print@sha256:{'a' * 64}",
        "agent_ref": "matrix://agent/printer",
        "sub_intent": {"verb": "build", "objects": [{"name": "what", "value": "a poster"}]},
    }
    node = {"id": "n1", "kind": "sub_dispatch", "description": "print it", "sub_dispatch": sub}
    without("lxml")
    outcome = walks.go(node, verb="delegate", people=Says("approve"))
    assert len(site.requests) == 1
    assert outcome.failure is not None
    assert outcome.failure.code == "HTTP_STATUS", outcome.failure


def test_a_correction_that_brings_in_what_cannot_run_is_not_signed(walks: Walks, without: Any) -> None:
    look = tool("look", "fs/read", path="sales.csv")
    sums = tool("sums", "data/summary", path="sales.csv")
    id = walks.accept(sequence("root", look, sums, gate("ask")))
    plan = walks.home.journal.view(id).plan
    assert plan is not None
    walks.tell(id, "plan.step", PlanStepBody(plan.id, "root", "running"))
    without("pygal")
    size = walks.home.journal.size()
    call: dict[str, object] = {"tool_ref": "matrix://tool/data/chart@1.0.0", "side_effect_class": "write"}
    with pytest.raises(MclError) as caught:
        mcl.correct(
            id,
            patches=[
                {"op": "replace", "path": "/plan/root/children/0/tool_call", "value": {**call, "args": CHART}}
            ],
            home=walks.home,
        )
    assert (caught.value.code, caught.value.place) == ("EXTRA_MISSING", "data/chart")
    assert walks.home.journal.size() == size
    done = mcl.correct(id, changes=["plan.look.description=first"], home=walks.home)
    assert done.changes, "what was in the plan before keeps nobody from correcting the rest"


@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_a_client_of_mcp_is_told_and_no_person_is_asked(
    walks: Walks, site: Site, without: Any, mode: Any
) -> None:
    granted(walks, site.origin)
    without("lxml")
    asked: list[str] = []

    async def person(context: Any, params: Any) -> ElicitResult:
        asked.append(params.message)
        return ElicitResult(action="accept", content={"decision": "approve"})

    async def whole() -> Any:
        async with (
            opened(walks.home, walks.workspace, GoalCompiler(walks.home, ai=False)) as face,
            Client(face.server, mode=mode, elicitation_callback=person) as client,
        ):
            args = {"url": f"{site.origin}/x", "method": "POST"}
            said = {"operation_type": "destructive", "reason": "to tell it"}
            asking = {"name": "mcl:http/request", "args": args, "intent": said}
            return await client.call_tool("call_tool_destructive", asking)

    result = anyio.run(whole)
    assert result.is_error
    assert result.structured_content["code"] == "EXTRA_MISSING", result.structured_content
    assert "[data]" in result.structured_content["fix"]
    assert (asked, site.requests) == ([], [])
    assert walks.home.journal.intents() == ()
