"""The skills that come with mcl: valid, told apart, with plans that hold for tools that exist."""

import json
from pathlib import Path

import pytest

from executor.gate.effects import over_ceiling
from ir import VERBS, Intent, PlanTree
from mcl.catalog.tools import registry
from mcl.language.mtx.checks import check
from mcl.language.mtx.core import load_core
from mcl.language.mtx.layout import format_file
from mcl.language.mtx.parser import parse
from mcl.language.plans.planner import make_plan
from mcl.language.skills import Skill, Skills, find_skills, mtx_digest, skill_folders

AGENT = "did:key:z6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2doK"
SHIPPED = (
    "code-search", "data-summary", "delegate-task", "files-find", "files-report", "general", "monitor-path",
    "note-write", "repo-branch", "repo-status", "run-tests", "schedule-reminder",
    "web-fetch",
)  # fmt: skip


@pytest.fixture(scope="module")
def shipped() -> Skills:
    return find_skills(skill_folders(None)[:1])


def intent(verb: str, prose: str = "do it", **slots: str) -> Intent:
    objects = [{"name": name, "value": value} for name, value in slots.items()]
    return Intent.from_json(
        json.dumps(
            {
                "id": "01ARZ3NDEKTSV4RRFFQ69G5FAV",
                "v": "mcl/0.1",
                "actor": AGENT,
                "agent": AGENT,
                "prose": prose,
                "frame": {"verb": verb, "objects": objects},
                "state": "proposed",
                "created_at": "2026-11-21T10:00:00.000Z",
            }
        )
    )


def plan(shipped: Skills, id: str, verb: str, **slots: str) -> PlanTree:
    return make_plan(
        shipped.by_id[id],
        intent(verb, **slots),
        id="01ARZ3NDEKTSV4RRFFQ69G5FAW",
        created_at="2026-11-21T10:00:01.000Z",
        created_by=AGENT,
        registry=registry(),
    )


def calls(tree: PlanTree) -> list[str]:
    """The tools of a plan in order, with their arguments: "fs/list path=."."""
    found = [node.tool_call for node, _ in tree.root.walk() if node.tool_call is not None]
    return [
        " ".join([one.tool_ref[14:].split("@")[0], *(f"{k}={v}" for k, v in sorted(one.args.items()))])
        for one in found
    ]


def test_all_are_found_and_none_is_broken(shipped: Skills) -> None:
    assert shipped.ids == SHIPPED
    assert shipped.broken == {}
    assert shipped.shadowed == ()
    with_plugins = find_skills(skill_folders(None))
    assert set(with_plugins.ids) > set(SHIPPED)
    assert (with_plugins.broken, with_plugins.shadowed) == ({}, ())


def test_together_they_have_all_ten_verbs_without_the_last_resort(shipped: Skills) -> None:
    assert {verb for skill in shipped if skill.id != "general" for verb in skill.verbs} == set(VERBS)


@pytest.mark.parametrize("id", SHIPPED)
def test_each_is_clean_canonical_and_says_what_it_needs(shipped: Skills, id: str) -> None:
    skill = shipped.by_id[id]
    text = (skill.path / "SKILL.mtx").read_text(encoding="utf-8")
    parsed = parse(text.encode())
    assert check(parsed.file, name=skill.path.name, strict=True) == []
    assert format_file(parsed) == text
    assert 8 <= len(skill.examples) <= 20
    assert skill.ref == f"matrix://skill/{id}@{skill.version}"
    assert len(skill.description.split()) <= 20  # what the bundled model reads of it
    assert all(slot.hint and len(slot.hint.split()) <= 20 for slot in skill.slots)


@pytest.mark.parametrize("id", SHIPPED)
def test_each_plan_calls_declared_tools_with_their_arguments_and_within_a_verb_of_the_skill(
    shipped: Skills, id: str
) -> None:
    skill, tools = shipped.by_id[id], registry()
    assert skill.template is not None
    used: set[str] = set()
    for case in skill.template.cases:
        verbs = case.when.get("verb", skill.verbs)
        for call in _calls_of(case.root):
            manifest = tools.find(call["tool_ref"])
            assert manifest is not None
            assert set(call.get("args", {})) <= set(manifest.args["properties"])
            assert set(manifest.args.get("required", ())) <= set(call.get("args", {}))
            assert any(not over_ceiling(verb, call["side_effect_class"], "read") for verb in verbs)
            used.add(call["tool_ref"])
    assert used == set(skill.tools)


def _calls_of(node: dict[str, object]) -> list[dict[str, object]]:
    own = [node["tool_call"]] if "tool_call" in node else []
    return own + [call for child in node.get("children", []) for call in _calls_of(child)]


@pytest.mark.parametrize(
    ("id", "verb", "slots", "expected"),
    [
        ("files-find", "find", {"text": "a", "folder": "n"}, ["fs/search ignore_case=true path=n query=a"]),
        ("files-find", "find", {"pattern": "*.md"}, ["fs/list glob=*.md path=."]),
        (
            "files-report",
            "deliver",
            {"text": "a", "report": "r.md"},
            [
                "fs/search ignore_case=true path=. query=a",
                "fs/write content=# Lines with: a\n\n${search.output.text}\n path=r.md",
            ],
        ),
        ("code-search", "find", {"code": "f_x"}, ["code/search path=. pattern=f_x"]),
        ("repo-status", "analyze", {}, ["git/status"]),
        ("repo-status", "analyze", {"what": "commits", "count": "5"}, ["git/log count=5"]),
        ("repo-status", "analyze", {"what": "diff"}, ["git/diff"]),
        ("repo-status", "analyze", {"count": "5"}, ["git/log count=5"]),
        ("repo-branch", "build", {"branch": "x"}, ["git/branch name=x"]),
        ("repo-branch", "build", {"branch": "x", "start": "main"}, ["git/branch name=x start=main"]),
        (
            "repo-branch",
            "build",
            {"branch": "x", "start": "main", "then": "switch"},
            ["git/branch name=x start=main", "git/switch name=x"],
        ),
        ("repo-branch", "find", {}, ["git/branch"]),
        ("monitor-path", "monitor", {"path": "d"}, ["fs/watch path=d until=first"]),
        (
            "monitor-path",
            "monitor",
            {"path": "d", "since": "2026-11-20T00:00:00.000Z"},
            ["fs/changes path=d since=2026-11-20T00:00:00.000Z"],
        ),
        (
            "monitor-path",
            "monitor",
            {"since": "2026-11-20T00:00:00.000Z"},
            ["fs/changes path=. since=2026-11-20T00:00:00.000Z"],
        ),
        ("schedule-reminder", "find", {}, ["calendar/list path=reminders.ics"]),
        ("data-summary", "analyze", {"file": "t.csv"}, ["data/summary path=t.csv"]),
    ],
)
def test_a_goal_becomes_just_the_calls_that_it_needs(
    shipped: Skills, id: str, verb: str, slots: dict[str, str], expected: list[str]
) -> None:
    assert calls(plan(shipped, id, verb, **slots)) == expected


def test_only_making_a_branch_declares_a_write(shipped: Skills) -> None:
    listing = plan(shipped, "repo-branch", "find").root.tool_call
    making = plan(shipped, "repo-branch", "build", branch="x").root.tool_call
    assert listing is not None
    assert making is not None
    assert (listing.side_effect_class, making.side_effect_class) == ("read", "write")


@pytest.mark.parametrize(
    ("id", "verb", "slots"),
    [
        ("general", "acquire", {}),
        ("delegate-task", "negotiate", {"assignee": "Brightline", "task": "the rent"}),
    ],
)
def test_what_speaks_for_the_person_is_asked_before_it_is_written(
    shipped: Skills, id: str, verb: str, slots: dict[str, str]
) -> None:
    kinds = [node.kind for node, _ in plan(shipped, id, verb, **slots).root.walk()]
    assert kinds == ["sequential", "gate", "tool_call"]


def test_the_recorded_digest_follows_skill_plan_and_core(shipped: Skills, tmp_path: Path) -> None:
    core, files = load_core(), shipped.by_id["files-find"]
    folder = tmp_path / "files-find"
    folder.mkdir()
    for name in ("SKILL.mtx", "plan.yaml"):
        (folder / name).write_bytes((files.path / name).read_bytes())

    def digest() -> str:
        skill: Skill = find_skills([tmp_path], cache=tmp_path / "cache").by_id["files-find"]
        return mtx_digest(skill, core)

    first = digest()
    assert first == mtx_digest(files, core)
    (folder / "plan.yaml").write_text("# said anew\n" + (folder / "plan.yaml").read_text())
    assert digest() == first
    (folder / "plan.yaml").write_text(
        (folder / "plan.yaml").read_text().replace("ignore_case: true", "ignore_case: false")
    )
    assert digest() != first
    second = digest()
    (folder / "SKILL.mtx").write_text((folder / "SKILL.mtx").read_text().replace("Find files", "Seek files"))
    assert digest() not in (first, second)
