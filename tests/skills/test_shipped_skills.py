"""The skills that come with mcl: valid, told apart, with plans that hold for tools that exist."""

import json
from pathlib import Path

import pytest

from ir import Intent, PlanTree
from mcl.errors import SkillError
from mcl.mtx.check import check
from mcl.mtx.core import load_core
from mcl.mtx.format import format_file
from mcl.mtx.parse import parse
from mcl.planner import make_plan
from mcl.skills import Skill, Skills, find_skills, mtx_digest, skill_folders

AGENT = "did:key:z6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2doK"


@pytest.fixture(scope="module")
def shipped() -> Skills:
    return find_skills(skill_folders(None))


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


def plan(skill: Skill | None, goal: Intent) -> PlanTree:
    assert skill is not None
    return make_plan(
        skill, goal, id="01ARZ3NDEKTSV4RRFFQ69G5FAW", created_at="2026-11-21T10:00:01.000Z", created_by=AGENT
    )


def calls(tree: PlanTree) -> list[tuple[str, dict[str, str]]]:
    nodes = (node for node, _ in tree.root.walk())
    return [
        (node.tool_call.tool_ref.removeprefix("matrix://tool/").split("@")[0], dict(node.tool_call.args))
        for node in nodes
        if node.tool_call is not None
    ]


def test_all_are_found_and_none_is_broken(shipped: Skills) -> None:
    assert {"files", "general", "repo"} <= set(shipped.ids)
    assert shipped.broken == {}
    assert shipped.shadowed == ()


def test_each_is_clean_canonical_and_has_examples(shipped: Skills) -> None:
    for skill in shipped:
        text = (skill.path / "SKILL.mtx").read_text(encoding="utf-8")
        parsed = parse(text.encode())
        assert check(parsed.file, name=skill.path.name, strict=True) == []
        assert format_file(parsed) == text
        assert 5 <= len(skill.examples) <= 10
        assert skill.ref == f"matrix://skill/{skill.id}@{skill.version}"


def test_each_tool_is_declared_by_a_manifest_with_those_arguments(shipped: Skills) -> None:
    tools = pytest.importorskip("executor.tools.registry").Registry.builtin()
    for skill in shipped:
        assert skill.template is not None
        for case in skill.template.cases:
            for call in _calls_of(case.root):
                assert call["tool_ref"] in skill.tools
                manifest = tools.find(call["tool_ref"])
                assert manifest is not None
                properties = manifest.args["properties"]
                assert set(call.get("args", {})) <= set(properties)


def _calls_of(node: dict[str, object]) -> list[dict[str, object]]:
    own = [node["tool_call"]] if "tool_call" in node else []
    return own + [call for child in node.get("children", []) for call in _calls_of(child)]


def test_files_searches_where_a_text_is_named(shipped: Skills) -> None:
    tree = plan(shipped.get("files"), intent("find", text="invoice", folder="notes"))
    assert calls(tree) == [("fs/search", {"query": "invoice", "path": "notes", "ignore_case": "true"})]


def test_files_lists_where_none_is_named_in_the_default_folder(shipped: Skills) -> None:
    tree = plan(shipped.get("files"), intent("find", pattern="*.md"))
    assert calls(tree) == [("fs/list", {"path": ".", "glob": "*.md"})]


def test_files_writes_what_it_found_where_a_report_is_named(shipped: Skills) -> None:
    tree = plan(shipped.get("files"), intent("deliver", text="invoice", report="r.md"))
    assert [name for name, _ in calls(tree)] == ["fs/search", "fs/write"]
    assert calls(tree)[1][1] == {
        "path": "r.md",
        "content": "# Lines with: invoice\n\n${search.output.text}\n",
    }


@pytest.mark.parametrize(
    ("slots", "expected"),
    [
        ({"what": "status"}, ("git/status", {})),
        ({"what": "log", "count": "5"}, ("git/log", {"count": "5"})),
        ({"what": "log"}, ("git/log", {})),
        ({"what": "branch"}, ("git/branch", {})),
        ({"what": "branch", "branch": "fix"}, ("git/branch", {"name": "fix"})),
    ],
)
def test_repo_does_what_is_asked(shipped: Skills, slots: dict[str, str], expected: object) -> None:
    assert calls(plan(shipped.get("repo"), intent("find", **slots))) == [expected]


def test_only_making_a_branch_declares_a_write(shipped: Skills) -> None:
    listing = plan(shipped.get("repo"), intent("find", what="branch")).root.tool_call
    making = plan(shipped.get("repo"), intent("build", what="branch", branch="x")).root.tool_call
    assert listing is not None
    assert making is not None
    assert (listing.side_effect_class, making.side_effect_class) == ("read", "write")


def test_general_asks_before_it_writes_a_note(shipped: Skills) -> None:
    tree = plan(shipped.get("general"), intent("schedule", prose="the plumber comes on Thursday"))
    assert [node.kind for node, _ in tree.root.walk()] == ["sequential", "gate", "tool_call"]
    assert calls(tree) == [
        (
            "fs/write",
            {
                "path": "mcl-notes/01ARZ3NDEKTSV4RRFFQ69G5FAV.md",
                "content": "# To schedule\n\nthe plumber comes on Thursday\n",
            },
        )
    ]


def test_general_looks_without_writing(shipped: Skills) -> None:
    tree = plan(shipped.get("general"), intent("find", target="Henderson"))
    assert calls(tree) == [("fs/search", {"query": "Henderson", "ignore_case": "true"})]
    with pytest.raises(SkillError) as refused:
        plan(shipped.get("general"), intent("find"))
    assert refused.value.code == "NO_PLAN"


def test_the_recorded_digest_follows_skill_plan_and_core(shipped: Skills, tmp_path: Path) -> None:
    core, files = load_core(), shipped.get("files")
    assert files is not None
    folder = tmp_path / "files"
    folder.mkdir()
    for name in ("SKILL.mtx", "plan.yaml"):
        (folder / name).write_bytes((files.path / name).read_bytes())

    def digest() -> str:
        skill = find_skills([tmp_path], cache=tmp_path / "cache").get("files")
        assert skill is not None
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
    (folder / "SKILL.mtx").write_text((folder / "SKILL.mtx").read_text().replace("Find text", "Seek text"))
    assert digest() not in (first, second)
