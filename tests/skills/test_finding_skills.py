"""Where skills are found, which one wins, and what becomes of broken ones and of the cache."""

import hashlib
import json
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from mcl.compiler.stages.rules import Rules
from mcl.core.cache import write_own
from mcl.core.errors import SkillError
from mcl.language import skills as in_memory
from mcl.language.mtx import core as core_in_memory
from mcl.language.mtx.core import Core
from mcl.language.skills import Shadowed, Skills, load_skill, skill_folders

SKILL = """§SKILL
id={id}
version={version}
description="A test"
mcl.verbs=find
§INPUTS
slot tags: string[]
  optional
  max=3
  default=[a]
slot what: enum<x|y>
  hint="which"
§CORTEX
reads=Fact Goal
tags=a b
§TOOLS
none
§SUB_SKILLS
none
§PROCEDURE
none
§OUTPUTS
none
§FAILURE_MODES
none
"""

PLAN = 'version: 1\nplans:\n  - root: {id: n1, kind: gate, gate: {question: "Do ${slot.what}?"}}\n'


def find_skills(folders: Sequence[Path], *, cache: Path | None = None) -> Skills:
    """As another process finds them, which remembers none."""
    in_memory._skill.cache_clear()
    return in_memory.find_skills(folders, cache=cache)


def load_core(paths: Mapping[str, Path] | None = None, *, cache: Path | None = None) -> Core:
    """As another process reads them."""
    core_in_memory._module.cache_clear()
    core_in_memory._core.cache_clear()
    return core_in_memory.load_core(paths, cache=cache)


def write(folder: Path, id: str, version: str = "1.0.0", plan: str = "") -> Path:
    (folder / id).mkdir(parents=True)
    (folder / id / "SKILL.mtx").write_text(SKILL.format(id=id, version=version), encoding="utf-8")
    if plan:
        (folder / id / "plan.yaml").write_text(plan, encoding="utf-8")
    return folder / id


def test_a_skill_says_all_that_the_compiler_asks(tmp_path: Path) -> None:
    skill = load_skill(write(tmp_path, "one"))
    assert (skill.id, skill.version, skill.ref, skill.display) == (
        "one",
        "1.0.0",
        "matrix://skill/one@1.0.0",
        "one",
    )
    assert (skill.verbs, skill.reads, skill.tags) == (("find",), ("Fact", "Goal"), ("a", "b"))
    tags, what = skill.slots
    assert (tags.type, tags.most, tags.required, tags.default) == ("string", 3, False, ("a",))
    assert (what.type, what.options, what.most, what.required, what.hint) == (
        "enum",
        ("x", "y"),
        1,
        True,
        "which",
    )


def test_a_later_folder_wins_and_what_it_hides_is_said(tmp_path: Path) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    hidden = write(first, "one")
    by = write(second, "one", "2.0.0")
    write(second, "two")
    found = find_skills([first, second])
    assert [skill.ref for skill in found] == ["matrix://skill/one@2.0.0", "matrix://skill/two@1.0.0"]
    assert found.shadowed == (Shadowed("one", hidden, by),)
    again = find_skills([first, second, first])
    assert again.shadowed == (Shadowed("one", hidden, by), Shadowed("one", by, hidden))
    assert [skill.version for skill in again] == ["1.0.0", "1.0.0"]


@pytest.mark.parametrize(
    ("id", "version", "told"),
    [
        ("id=other", "version=2.0.0-rc.1+b", "matrix://skill/other@2.0.0-rc.1+b"),
        ("", "", "matrix://skill/My-skill-2@0.0.0"),
        ("id=", "version=", "matrix://skill/My-skill-2@0.0.0"),
        ("id=two words", "version=1.0", "matrix://skill/My-skill-2@0.0.0"),
        ("id=../up", "version=01.0.0", "matrix://skill/My-skill-2@0.0.0"),
    ],
)
def test_a_skill_without_a_usable_id_or_version_has_its_folders_name_and_0_0_0(
    tmp_path: Path, id: str, version: str, told: str
) -> None:
    folder = write(tmp_path, "My skill #2")
    text = (folder / "SKILL.mtx").read_text(encoding="utf-8")
    text = text.replace("id=My skill #2", id).replace("version=1.0.0", version)
    (folder / "SKILL.mtx").write_text(text, encoding="utf-8")
    assert [skill.ref for skill in find_skills([tmp_path])] == [told]


def test_a_folder_named_twice_counts_where_it_is_named_last(tmp_path: Path) -> None:
    home, here = tmp_path / "home", tmp_path / "here"
    folders = skill_folders(home, here=here, extra=[home / "skills"])
    assert folders[-2:] == [here / "skills", home / "skills"]


def test_a_broken_skill_is_left_out_told_of_and_never_replaced_by_the_one_it_hides(tmp_path: Path) -> None:
    write(tmp_path / "first", "one")
    bad = write(tmp_path / "second", "one")
    (bad / "SKILL.mtx").write_text("§SKILL\nid=one\nrequird\n§INPUTS\nslot x; string\n", encoding="utf-8")
    write(tmp_path / "second", "two")
    found = find_skills([tmp_path / "first", tmp_path / "second"])
    assert found.ids == ("two",)
    assert found.get("three") is None
    with pytest.raises(SkillError) as told:
        found.get("one")
    assert told.value.code == "SKILL_INVALID"
    assert [error["line"] for error in told.value.data["errors"]][-2:] == [3, 5]


def test_a_skill_that_changed_is_read_again_in_the_same_process(tmp_path: Path) -> None:
    folder = write(tmp_path, "one", plan=PLAN)
    first = load_skill(folder)
    assert load_skill(folder) is first
    (folder / "plan.yaml").write_text(PLAN.replace("Do", "Make"), encoding="utf-8")
    assert load_skill(folder).digest != first.digest
    (folder / "plan.yaml").unlink()
    assert load_skill(folder).template is None
    (folder / "SKILL.mtx").write_text("§SKILL", encoding="utf-8")
    with pytest.raises(SkillError):
        load_skill(folder)


def test_folders_come_in_the_order_package_home_here_extra_without_doubles(tmp_path: Path) -> None:
    folders = skill_folders(tmp_path, here=tmp_path, extra=[tmp_path / "more"])
    assert folders[-2:] == [tmp_path / "skills", tmp_path / "more"]
    assert (folders[0] / "files-find" / "SKILL.mtx").is_file()


def test_a_second_run_reads_the_cache_and_finds_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path / "skills", "one", plan=PLAN)
    cache = tmp_path / "cache"
    skills, core = find_skills([tmp_path / "skills"], cache=cache), load_core(cache=cache)
    monkeypatch.setitem(sys.modules, "mcl.language.mtx.parser", None)
    monkeypatch.setitem(sys.modules, "yaml", None)
    again = find_skills([tmp_path / "skills"], cache=cache)
    assert [skill.digest for skill in again] == [skill.digest for skill in skills]
    assert [skill.file for skill in again] == [skill.file for skill in skills]
    assert load_core(cache=cache) == core


@pytest.mark.parametrize("entry", ["[]", "{}", "null", "[[]]", '["File", 0]', '["Odd", 1, 1]', '"x"'])
def test_an_entry_of_another_shape_is_made_again(tmp_path: Path, entry: str) -> None:
    write(tmp_path / "skills", "one", plan=PLAN)
    cache = tmp_path / "cache"
    digest = find_skills([tmp_path / "skills"], cache=cache).by_id["one"].digest
    for path in cache.iterdir():
        path.write_text(entry)
    again = find_skills([tmp_path / "skills"], cache=cache)
    assert again.by_id["one"].digest == digest
    assert entry.encode() not in [path.read_bytes() for path in cache.iterdir()]


def keep(entry: Path, head: object, body: object) -> None:
    """An entry of the cache as the home itself would write it."""
    write_own(entry, b"\n".join(json.dumps(value).encode() for value in (head, body)))


@pytest.mark.parametrize("seal", [False, True])
def test_a_changed_entry_is_not_believed(tmp_path: Path, seal: bool) -> None:
    write(tmp_path / "skills", "one")
    cache = tmp_path / "cache"
    skill = find_skills([tmp_path / "skills"], cache=cache).by_id["one"]
    (entry,) = cache.iterdir()
    good = entry.read_bytes()
    head, body = good[32:].decode().split("\n")
    body = body.replace("A test", "Does something else")
    if seal:
        keep(entry, json.loads(head), json.loads(body))
    else:
        entry.write_bytes(good[:32] + f"{head}\n{body}".encode())
    again = find_skills([tmp_path / "skills"], cache=cache).by_id["one"]
    assert again.file == skill.file
    assert again.digest == skill.digest
    find_skills([tmp_path / "skills"], cache=cache)
    assert entry.read_bytes() == good


@pytest.mark.parametrize(
    ("head", "body"),
    [
        ([], []),
        (["d", {"settings": {"id": 7}}], []),
        (["d", {"settings": {}, "cortex": {}}], None),
        ([None, None], None),
        ([["d"] * 3, {"settings": {}, "cortex": {}, "slots": 1, "TOOLS": [], "SUB_SKILLS": []}], {}),
    ],
)
def test_a_sealed_entry_of_another_form_is_made_again(tmp_path: Path, head: object, body: object) -> None:
    write(tmp_path / "skills", "one")
    cache = tmp_path / "cache"
    skill = find_skills([tmp_path / "skills"], cache=cache).by_id["one"]
    (entry,) = cache.iterdir()
    good = entry.read_bytes()
    keep(entry, head, body)
    again = find_skills([tmp_path / "skills"], cache=cache).by_id["one"]
    assert (again.ref, again.slots, again.file, again.digest) == (
        skill.ref,
        skill.slots,
        skill.file,
        skill.digest,
    )
    assert entry.read_bytes() == good


def test_an_entry_nested_without_end_or_of_another_kind_of_file_is_made_again(tmp_path: Path) -> None:
    write(tmp_path / "skills", "one")
    cache = tmp_path / "cache"
    skill = find_skills([tmp_path / "skills"], cache=cache).by_id["one"]
    (entry,) = cache.iterdir()
    _, head, _ = entry.read_bytes().split(b"\n")
    values = head + b"\n" + b"[" * 100_000
    entry.write_bytes(hashlib.sha256(values).hexdigest().encode() + b"\n" + values)
    assert find_skills([tmp_path / "skills"], cache=cache).by_id["one"].file == skill.file
    entry.unlink(missing_ok=True)
    os.mkfifo(entry)
    assert find_skills([tmp_path / "skills"], cache=cache).by_id["one"].file == skill.file
    assert entry.is_file()


def test_an_entry_that_others_can_write_is_not_used(tmp_path: Path) -> None:
    write(tmp_path / "skills", "one")
    cache = tmp_path / "cache"
    find_skills([tmp_path / "skills"], cache=cache)
    (entry,) = cache.iterdir()
    entry.chmod(0o666)
    find_skills([tmp_path / "skills"], cache=cache)
    assert entry.stat().st_mode & 0o777 == 0o600


def test_a_kept_skill_says_the_same_as_one_that_is_read_anew(tmp_path: Path) -> None:
    for folder in skill_folders(None):
        find_skills([folder], cache=tmp_path)
        for kept, fresh in zip(find_skills([folder], cache=tmp_path), find_skills([folder]), strict=True):
            assert kept == fresh
            assert (kept.slots, kept.tools, kept.sub_skills, kept.reads, kept.tags, kept.digest) == (
                fresh.slots,
                fresh.tools,
                fresh.sub_skills,
                fresh.reads,
                fresh.tags,
                fresh.digest,
            )


def test_a_pipe_in_place_of_a_skill_is_told_and_keeps_nobody_waiting(tmp_path: Path) -> None:
    (tmp_path / "one").mkdir()
    os.mkfifo(tmp_path / "one" / "SKILL.mtx")
    with pytest.raises(SkillError, match="no plain file"):
        find_skills([tmp_path]).get("one")


def test_a_damaged_or_read_only_cache_costs_only_time(tmp_path: Path) -> None:
    write(tmp_path / "skills", "one")
    cache = tmp_path / "cache"
    digest = find_skills([tmp_path / "skills"], cache=cache).by_id["one"].digest
    for entry in cache.iterdir():
        entry.write_text("{")
    assert find_skills([tmp_path / "skills"], cache=cache).by_id["one"].digest == digest
    (tmp_path / "file").write_text("")
    assert find_skills([tmp_path / "skills"], cache=tmp_path / "file").by_id["one"].digest == digest


@pytest.mark.parametrize(
    ("plan", "told"),
    [
        ("version: 1\nplans: [", "not YAML"),
        ("version: 1\nplans: []\n", "at least one case"),
        ("version: 2\nplans: [{root: {}}]\n", "version is 1"),
        ("version: 1\nversion: 1\nplans: [{root: {}}]\n", "a second 'version'"),
        ("version: 1\nplans: [{root: &a {}}, {root: *a}]\n", "aliases"),
        ("version: 1\nplans: [{root: {}, when: {slot.whta: x}}]\n", 'did you mean "slot.what"?'),
        ("version: 1\nplans: [{root: {}, when: {slot.what: z}}]\n", "never 'z'"),
        ("version: 1\nplans: [{root: {}, when: {verb: build}}]\n", "never 'build'"),
        ("version: 1\nplans: [{root: {kid: a}}]\n", "a node has no 'kid'"),
        ('version: 1\nplans: [{root: {id: "${slot.what}"}}]\n', "cannot stand here"),
        ('version: 1\nplans: [{root: {tool_call: {tool_ref: "a${slot.what}"}}}]\n', "cannot stand here"),
        ('version: 1\nplans: [{root: {gate: {question: "${slot.wat}"}}}]\n', 'did you mean "slot.what"?'),
        ('version: 1\nplans: [{root: {gate: {question: "${slot.what"}}}]\n', "not closed"),
        ('version: 1\nplans: [{root: {gate: {question: "${slot.what}${n.output}"}}}]\n', "put a blank"),
        ("version: 1\nplans: [{root: {gate: {question: null}}}]\n", "put it in quotes"),
    ],
)  # fmt: skip
def test_a_bad_plan_is_told_with_its_place(tmp_path: Path, plan: str, told: str) -> None:
    folder = write(tmp_path, "one", plan=plan)
    with pytest.raises(SkillError) as refused:
        load_skill(folder)
    assert refused.value.code == "PLAN_INVALID"
    assert told in str(refused.value)
    assert "plan.yaml" in refused.value.place


def test_a_missing_core_module_or_setting_is_told(tmp_path: Path) -> None:
    with pytest.raises(SkillError) as refused:
        load_core({})
    assert refused.value.code == "CORE_MISSING"
    with pytest.raises(SkillError) as refused:
        load_core()["pipeline"].number("limits.nothing")
    assert refused.value.code == "NO_SETTING"


def test_the_core_modules_hold_the_published_thresholds() -> None:
    core = load_core()
    assert core["pipeline"].whole("limits.max_prose") == 8192
    assert core["pipeline"].number("limits.wall_clock_s") == 5
    assert core["pipeline"].whole("limits.rounds") == 3
    assert core["verb"].number("threshold.certain") == 0.80
    routing = Rules.of(core).routing
    assert [routing(share).route for share in (0.4099, 0.41, 0.8999, 0.90)] == [
        "clarify",
        "review",
        "review",
        "compiled",
    ]
    assert "if possible" in core["constraint"].phrases("soft.phrases")
    assert set(core["confidence"].family("factor")) == {"blocking", "preferred", "optional"}
