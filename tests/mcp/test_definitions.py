"""What servers say of their tools: kept, compared, and held back until a person approved it."""

from __future__ import annotations

import itertools
import multiprocessing
import signal
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from executor import Home, Pins
from mcl.catalog.definitions import Definitions
from mcl.catalog.servers import Servers
from mcl.core.home import open_home

TEXT = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}


def tool(name: str, description: str = "Does it.", **more: Any) -> dict[str, Any]:
    return {"name": name, "description": description, "inputSchema": TEXT, **more}


@pytest.fixture
def definitions(home: Home) -> Definitions:
    Servers(home).add("notes", command=[sys.executable, "-c", "pass"])
    return Definitions(home)


def standings(definitions: Definitions) -> dict[str, str]:
    return {one.name: one.standing for one in definitions.known()}


def approve(definitions: Definitions, name: str) -> None:
    known = definitions.find(name)
    assert known is not None
    Pins(definitions.home).approve(known.manifest)


def test_a_tool_that_was_never_seen_is_new_and_not_approved(definitions: Definitions) -> None:
    said = definitions.observe("notes", [tool("add"), tool("find")])
    assert said.new == ("notes:add", "notes:find")
    assert standings(definitions) == {"notes:add": "new", "notes:find": "new"}
    known = definitions.find("notes:add")
    assert known is not None
    assert Pins(definitions.home).of(known.manifest.uri) == ""


def test_the_same_listing_again_says_nothing_and_writes_nothing(definitions: Definitions) -> None:
    definitions.observe("notes", [tool("add"), tool("find")])
    rows = definitions.home.journal.size()
    stamp = definitions.stamp()
    assert not definitions.observe("notes", [tool("find"), tool("add")])
    assert (definitions.home.journal.size(), definitions.stamp()) == (rows, stamp)


@pytest.mark.parametrize(
    "changed",
    [
        tool("add", "Does it otherwise."),
        tool("add", title="Add"),
        tool("add", annotations={"readOnlyHint": True}),
        {**tool("add"), "inputSchema": {**TEXT, "required": []}},
        tool("add", outputSchema={"type": "object"}),
    ],
    ids=["description", "title", "annotations", "schema", "output"],
)
def test_whatever_a_tool_says_otherwise_makes_it_a_changed_one(
    definitions: Definitions, changed: dict[str, Any]
) -> None:
    definitions.observe("notes", [tool("add")])
    approve(definitions, "notes:add")
    assert standings(definitions) == {"notes:add": "approved"}
    assert definitions.observe("notes", [changed]).changed == ("notes:add",)
    assert standings(definitions) == {"notes:add": "changed"}


def test_what_says_nothing_of_a_tool_does_not_change_it(definitions: Definitions) -> None:
    definitions.observe("notes", [tool("add")])
    approve(definitions, "notes:add")
    assert not definitions.observe("notes", [tool("add", icons=[{"src": "x"}], _meta={"n": 1})])
    assert standings(definitions) == {"notes:add": "approved"}


def test_a_tool_that_returns_as_it_was_approved_is_approved_and_otherwise_changed(
    definitions: Definitions,
) -> None:
    definitions.observe("notes", [tool("add"), tool("find")])
    approve(definitions, "notes:add")
    assert definitions.observe("notes", [tool("find")]).gone == ("notes:add",)
    assert standings(definitions)["notes:add"] == "gone"
    definitions.observe("notes", [tool("find"), tool("add")])
    assert standings(definitions)["notes:add"] == "approved"
    definitions.observe("notes", [tool("find")])
    definitions.observe("notes", [tool("find"), tool("add", "Back again, and other.")])
    assert standings(definitions)["notes:add"] == "changed"


def test_a_renamed_tool_is_a_new_one_and_the_old_one_is_gone(definitions: Definitions) -> None:
    definitions.observe("notes", [tool("add")])
    approve(definitions, "notes:add")
    said = definitions.observe("notes", [tool("add_note")])
    assert (said.new, said.gone) == (("notes:add_note",), ("notes:add",))
    assert standings(definitions) == {"notes:add": "gone", "notes:add_note": "new"}


def test_tools_that_nobody_could_tell_apart_are_both_left_out(definitions: Definitions) -> None:
    said = definitions.observe("notes", [tool("add"), tool("add", "Another."), tool("find")])
    assert [(one.code, one.place) for one in said.bad] == [("BAD_DEFINITION", "notes:add")]
    assert standings(definitions) == {"notes:find": "new"}


def test_a_bad_definition_harms_no_other(definitions: Definitions) -> None:
    said = definitions.observe("notes", [{"name": 7}, {"name": "x"}, tool("a\u202eb"), tool("find")])
    assert [one.code for one in said.bad] == ["BAD_DEFINITION"] * 3
    assert standings(definitions) == {"notes:find": "new"}


def test_a_server_that_nobody_entered_has_no_tools(definitions: Definitions) -> None:
    assert not definitions.observe("other", [tool("add")])
    assert definitions.known() == ()


def test_what_was_approved_of_a_server_is_not_approved_of_another_by_the_same_name(
    definitions: Definitions,
) -> None:
    servers = Servers(definitions.home)
    definitions.observe("notes", [tool("add")])
    approve(definitions, "notes:add")
    servers.remove("notes")
    assert definitions.known() == ()
    servers.add("notes", command=[sys.executable, "-c", "another program"])
    assert definitions.known() == ()
    definitions.observe("notes", [tool("add")])
    assert standings(definitions) == {"notes:add": "quarantined"}


def test_trust_changes_what_a_tool_counts_as_and_not_what_was_approved(definitions: Definitions) -> None:
    definitions.observe("notes", [tool("find", annotations={"readOnlyHint": True, "openWorldHint": False})])
    approve(definitions, "notes:find")
    [before] = definitions.known()
    Servers(definitions.home).trust("notes")
    [after] = definitions.known()
    assert (before.manifest.operation, after.manifest.operation) == ("destructive", "read")
    assert (before.standing, after.standing) == ("approved", "approved")


def test_the_mark_changes_with_all_that_says_how_a_tool_stands_and_with_nothing_else(
    definitions: Definitions, tmp_path: Path
) -> None:
    stamps = [definitions.stamp()]
    with open_home(definitions.home.path) as other:
        Definitions(other).observe("notes", [tool("add")])
        stamps.append(definitions.stamp())
        Pins(other).approve(Definitions(other).known()[0].manifest)
        stamps.append(definitions.stamp())
        Servers(other).trust("notes")
        stamps.append(definitions.stamp())
        other.journal.record("record.test.nothing", {})
    assert len(set(stamps)) == 4
    assert definitions.stamp() == stamps[-1]


def test_one_tool_is_found_by_its_address_without_reading_the_others(definitions: Definitions) -> None:
    definitions.observe("notes", [tool("add"), tool("find")])
    [add, _] = definitions.known()
    assert definitions.manifest(add.manifest.uri) == add.manifest
    definitions.observe("notes", [tool("find")])
    assert definitions.manifest(add.manifest.uri) is None


def test_an_observation_is_a_record_with_the_hashes_of_what_was_said(definitions: Definitions) -> None:
    definitions.observe("notes", [tool("add")])
    [known] = definitions.known()
    *_, last = definitions.home.journal.rows()
    assert last.kind == "record.tool.observed"
    assert definitions.home.journal.open(last.wire).body["new"] == {"add": known.manifest.pin}


def _observe(path: str, number: int, barrier: Any) -> None:
    with open_home(Path(path)) as home:
        definitions = Definitions(home)
        barrier.wait()
        for turn in range(5):
            definitions.observe("notes", [tool("add", f"{number} {turn}"), tool("find")])


def test_processes_that_observe_at_once_leave_one_whole_listing(home: Home, tmp_path: Path) -> None:
    Servers(home).add("notes", command=[sys.executable, "-c", "pass"])
    spawn = multiprocessing.get_context("spawn")
    barrier = spawn.Barrier(2)
    children = [spawn.Process(target=_observe, args=(str(home.path), one, barrier)) for one in range(2)]
    for child in children:
        child.start()
    for child in children:
        child.join()
    assert [child.exitcode for child in children] == [0, 0]
    known = Definitions(home).known()
    assert [one.name for one in known] == ["notes:add", "notes:find"]
    assert known[0].manifest.description in {"0 4", "1 4"}
    assert home.journal.verify().ok


def _observe_for_ever(path: str) -> None:
    with open_home(Path(path)) as home:
        definitions = Definitions(home)
        for turn in itertools.count():
            definitions.observe("notes", [tool(f"tool_{one}", f"turn {turn}") for one in range(20)])


def test_a_process_that_is_killed_leaves_one_whole_listing(home: Home) -> None:
    Servers(home).add("notes", command=[sys.executable, "-c", "pass"])
    definitions = Definitions(home)
    child = multiprocessing.get_context("spawn").Process(target=_observe_for_ever, args=(str(home.path),))
    child.start()
    begun = definitions.stamp()
    while definitions.stamp() < begun + 200 and child.is_alive():
        time.sleep(0.005)
    child.kill()
    child.join()
    assert child.exitcode == -signal.SIGKILL
    known = Definitions(home).known()
    assert len(known) == 20
    assert len({one.manifest.description for one in known}) == 1
    assert home.journal.verify().ok
    assert definitions.observe("notes", [tool("tool_0")]).changed == ("notes:tool_0",)


LISTINGS = st.lists(
    st.lists(
        st.tuples(st.sampled_from(["add", "find", "list"]), st.sampled_from(["one", "two"])),
        max_size=3,
        unique_by=lambda pair: pair[0],
    ),
    max_size=6,
)


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(LISTINGS)
def test_what_is_known_is_what_was_listed_last_whatever_came_before(
    tmp_path_factory: pytest.TempPathFactory, listings: list[list[tuple[str, str]]]
) -> None:
    with open_home(tmp_path_factory.mktemp("home")) as home:
        Servers(home).add("notes", command=[sys.executable, "-c", "pass"])
        definitions = Definitions(home)
        for listing in listings:
            definitions.observe("notes", [tool(name, said) for name, said in listing])
            there = {
                one.name: one.manifest.description for one in definitions.known() if one.standing != "gone"
            }
            assert there == {f"notes:{name}": said for name, said in listing}
            fresh = Definitions(home).known()
            assert [(one.name, one.standing, one.manifest.pin) for one in fresh] == [
                (one.name, one.standing, one.manifest.pin) for one in definitions.known()
            ]
