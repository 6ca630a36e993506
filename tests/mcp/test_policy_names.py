"""The deny list: every spelling of our own messages closes its tool, and what names nothing stops everything.

Tools of every kind: our own, a command that the operator declared, another server's with a plain name and
with an odd one, and the two by which a server's resources and prompts are reached.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from declaring import Declaring
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from executor import Home, Manifest, Policy, PolicyError, decide
from executor.gate.policy import PolicyFile
from executor.gate.verdict import Deny
from mcl.catalog.definitions import Definitions
from mcl.catalog.manifests import is_pseudo, pseudo_definitions
from mcl.catalog.servers import Servers
from mcl.catalog.tools.foreign import all_tools
from mcl.core.home import open_home
from mcl.usecases.call import call_tool
from mcl.usecases.policy import check as check_policy
from mcl.usecases.policy import unverified_note
from mcl.usecases.tools import list as list_tools
from mcl.usecases.tools import show as find_tool

ODD = "Ödd näme/of: a@1.0.0 tool"
SCHEMA = {"type": "object", "properties": {"repo": {"type": "string"}}}
OWN = ("mcl:fs/write", "mcl:git/branch", "mcl:agent/dispatch", "mcl:process/run-report")
THEIRS = ("git:git_status", f"git:{ODD}", "git:resources/read", "git:prompts/get")
COMMAND = """[report]
version = "1.0.0"
description = "Makes the report."
argv = ["make", "report"]
effect = "write"
"""


class Office:
    """A home with a tool of every kind, all approved, and the gate before them."""

    def __init__(self, home: Home, workspace: Path) -> None:
        self.home = home
        self.home, self.place = home, home.path / "policy.toml"
        (home.path / "commands.toml").write_text(COMMAND)
        servers, definitions = Servers(home), Definitions(home)
        for name in ("git", "time"):
            servers.add(name, command=("x",), folder=workspace)
        named = [{"name": one, "inputSchema": SCHEMA} for one in ("git_status", ODD)]
        definitions.observe("git", named)
        definitions.observe("git", pseudo_definitions(("resources", "prompts")), about=is_pseudo)
        self.declaring = Declaring(home, workspace)
        self.declaring._registry = self.tools = all_tools(home)
        self.declaring.pins.admit(self.tools.own)
        for one in definitions.known():
            self.declaring.pins.approve(one.manifest)

    def manifest(self, name: str) -> Manifest:
        return next(one for one in self.tools.manifests if one.name == name)

    def denies(self, *entries: str) -> None:
        text = ", ".join('"' + one.replace("\\", "\\\\").replace('"', '\\"') + '"' for one in entries)
        self.place.write_text(f"deny = [{text}]\n")

    def code(self, name: str) -> str:
        """What the gate says to a call of a tool, as it comes over MCP."""
        manifest = self.manifest(name)
        said = self.declaring.call(name, "call_tool_destructive", "destructive")
        call = type(said)(manifest.uri, {}, "", declaration=said.declaration)
        policy = PolicyFile(self.home, self.tools)
        verdict = decide(call, self.declaring.context(policy=policy))
        return verdict.code if isinstance(verdict, Deny) else "goes on"


def spellings(one: Manifest) -> tuple[str, ...]:
    place, _, version = one.uri.partition("@")
    short = place.removeprefix("matrix://tool/")
    pinned = tuple(f"{place}@{end}" for end in (version, f"sha256:{one.pin}"))
    shorts = (short, f"{short}@{version}", f"{short}@sha256:{one.pin}")
    if one.outside is not None:
        return (one.name, place, *pinned, *shorts)
    return (one.name, f"{one.name}@{version}", place, *pinned, *shorts)


@pytest.fixture
def office(home: Home, workspace: Path) -> Office:
    return Office(home, workspace)


@pytest.mark.parametrize("name", [*OWN, *THEIRS])
def test_a_tool_is_closed_by_each_of_its_names_and_no_other_tool_is(office: Office, name: str) -> None:
    assert office.code(name) != "TOOL_DENIED"
    for spelled in spellings(office.manifest(name)):
        office.denies(spelled)
        assert office.code(name) == "TOOL_DENIED", spelled
        assert [one.manifest.name for one in list_tools(home=office.home) if one.closed] == [name], spelled
        assert find_tool(spelled, home=office.home).closed, spelled  # whoever may close it may look at it
        found = check_policy(home=office.home)
        assert (found.exit, [one.tools for one in found.entries]) == (0, [(name,)]), spelled
    for other in (*OWN, *THEIRS):
        assert (office.code(other) == "TOOL_DENIED") == (other == name)


def test_all_of_them_may_stand_in_one_list(office: Office) -> None:
    every = [one for name in (*OWN, *THEIRS) for one in spellings(office.manifest(name))]
    office.denies(*every)
    assert {office.code(name) for name in (*OWN, *THEIRS)} == {"TOOL_DENIED"}
    assert len(check_policy(home=office.home).entries) == len(every)


NAMES_NOTHING = {
    "fs/wrte": "fs/write",  # a tool that is not there
    "fz/write": "fs/write",  # a namespace
    "mcl:fs/wirte": "mcl:fs/write",
    "matrix://tool/fs/writ": "matrix://tool/fs/write",
    "fs/write@1.0.1": "fs/write@1.0.0",  # a version
    "fs/write@1": "fs/write@1.0.0",
    "fs/write@sha256:" + "0" * 64: "",
    "gti:git_status": "git:git_status",  # a server
    "matrix://tool/mcp-gti/git_status": "matrix://tool/mcp-git/git_status",
    "git/git_status": "git:git_status",  # a server as if it were a namespace
    "fs:write": "fs/write",  # and the other way round
    "matrix://tool/mcp-git/git_status@2.0.0": "",
    "fs/": "",
    "fs/*": "",
    "git:*@": None,  # a server may call a tool anything
    " fs/write": "fs/write",
    "FS/write": "fs/write",
    "write": "fs/write",
    "mcl:retrieve_tools": "",  # what mcl offers to clients is no tool of the gate
    "mcl://git/file.txt": "",  # one resource cannot be closed by itself
    "matrix://skill/find_files": "",
    "Bash": "",
}


@pytest.mark.parametrize("entry", NAMES_NOTHING)
def test_what_names_nothing_stops_every_way_of_calling(
    office: Office, entry: str, tmp_path: Path, workspace: Path
) -> None:
    office.place.write_text(f"# closed\ndeny = [\n  'fs/delete', # known\n  '{entry}',\n]\n")
    if NAMES_NOTHING[entry] is None:
        assert check_policy(home=office.home).exit == 6
        return
    doors: list[Any] = [
        lambda: office.code("mcl:fs/read"),
        lambda: call_tool("fs/list", {}, agree=_yes, workspace=workspace, home=office.home),
        lambda: list_tools(home=office.home),
    ]
    for door in doors:
        with pytest.raises(PolicyError) as caught:
            door()
        problem = caught.value
        assert (problem.code, problem.place) == ("BAD_POLICY", f"{office.place}:4")
        assert ascii(entry[:40])[1:-1] in problem.message
        assert "mcl policy check" in problem.fix
        assert (NAMES_NOTHING[entry] or "") in " ".join(problem.data["nearest"])  # type: ignore[arg-type]
    found = check_policy(home=office.home)
    assert (found.exit, [one.standing for one in found.entries]) == (2, ["closed", "unknown"])


def _yes(*_: object) -> bool:
    return True


def test_every_flaw_is_told_at_once_with_its_line(office: Office) -> None:
    office.place.write_text(
        '"deny" = ["fs/wrte", \'fs/delete\', """fs/raed""",\n # "fs/x"\n "a#b",\n]\n'
        "[agents]\nlease_minutes = 5\n"
    )
    with pytest.raises(PolicyError) as caught:
        Policy.load(office.place, office.tools)
    flaws: Any = caught.value.data["flaws"]
    assert [(one["entry"], one["place"].rpartition(":")[2]) for one in flaws] == [
        ("fs/wrte", "1"),
        ("fs/raed", "1"),
        ("a#b", "3"),
    ]
    assert "2 more" in caught.value.message


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("\ndney = []", 2),
        ("deny = [", 1),
        ("\n\ndeny = 'fs/write'", 3),
        ("deny = []\napproval_minutes = 0", 2),
        ("\n[intent_declaration]\nstrict = true", 3),
        ("[agents]\n\nlease_minutes = 0", 3),
        ("agents.lease_minutes = true", 1),
    ],
)
def test_other_mistakes_have_their_line_too(office: Office, text: str, line: int) -> None:
    office.place.write_text(text)
    with pytest.raises(PolicyError) as caught:
        Policy.read(office.place)
    assert (caught.value.code, caught.value.place) == ("BAD_POLICY", f"{office.place}:{line}")


def test_a_tool_that_its_server_did_not_list_yet_is_closed_when_it_comes_and_told_until_then(
    office: Office,
) -> None:
    office.denies("time:now", "git:git_psh")
    found = check_policy(home=office.home)
    assert (found.exit, [one.standing for one in found.entries]) == (6, ["unverified", "unverified"])
    assert "time:now" in unverified_note(home=office.home)
    Definitions(office.home).observe("time", [{"name": "now", "inputSchema": SCHEMA}])
    assert [one.manifest.name for one in list_tools(home=office.home) if one.closed] == ["time:now"]
    office.denies("time:now")
    assert (check_policy(home=office.home).exit, unverified_note(home=office.home)) == (0, "")


def test_a_server_that_is_taken_out_leaves_an_entry_that_stops_everything(office: Office) -> None:
    office.denies("git:git_status")
    assert check_policy(home=office.home).exit == 0
    Servers(office.home).remove("git")
    with pytest.raises(PolicyError) as caught:
        Policy.load(office.place, all_tools(office.home))
    assert "there is no server git" in caught.value.message


# ---- typos ----


@pytest.fixture(scope="module")
def settled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Office]:
    folder = tmp_path_factory.mktemp("typos")
    with open_home(folder / "home") as home:
        (folder / "work").mkdir()
        yield Office(home, folder / "work")


@given(data=st.data())
@settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_a_typo_never_allows_silently(settled: Office, data: st.DataObject) -> None:
    """One letter more, less, other, or two exchanged: nothing is called, or it is told what is closed."""
    name = data.draw(st.sampled_from([*OWN, *THEIRS]))
    spelled = data.draw(st.sampled_from(spellings(settled.manifest(name))))
    at = data.draw(st.integers(0, len(spelled) - 1))
    letter = data.draw(st.sampled_from("abcxyz019_-/:@. A"))
    typo = data.draw(
        st.sampled_from(
            [
                spelled[:at] + spelled[at + 1 :],
                spelled[:at] + letter + spelled[at:],
                spelled[:at] + letter + spelled[at + 1 :],
                spelled[:at] + spelled[at : at + 2][::-1] + spelled[at + 2 :],
            ]
        )
    )
    settled.denies(typo)
    try:
        code = settled.code(name)
    except PolicyError as problem:
        assert (problem.code, problem.place) == ("BAD_POLICY", f"{settled.place}:1")  # noqa: PT017
        assert check_policy(home=settled.home).exit == 2
        return
    found = check_policy(home=settled.home)
    (entry,) = found.entries
    if entry.standing == "unverified":
        assert found.exit == 6
        assert ascii(typo)[1:-1] in unverified_note(home=settled.home)
    else:
        assert entry.tools
        assert (code == "TOOL_DENIED") == (name in entry.tools)
