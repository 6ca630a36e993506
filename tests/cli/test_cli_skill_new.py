"""`mcl skill new`, `test` and `publish`: a skill from its first line to its recorded digest."""

from __future__ import annotations

import json
import re
import shlex

import pytest
import typer
from skill_writing import SKILL, write_skill

from ir import VERBS
from mcl.cli.app import app_for

NO_TABLES = ("--no-ai",)  # the matcher needs no weights


def events(done) -> list[dict]:
    return [json.loads(line) for line in done.out.splitlines()]


def examples_of_help() -> list[str]:
    """The lines that the help of `mcl skill new` shows, and more names with each kind of verb."""
    command = typer.main.get_command(app_for()).commands["skill"].commands["new"]
    lines = re.findall(r"mcl skill new .*", command.epilog)
    assert lines
    names, verbs = ("water-plants", "shelf-list"), ("monitor", "build")
    return [*lines, *(f"mcl skill new {name} --verb {verb}" for name in names for verb in verbs)]


# ---- new -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("verb", ["find", "deliver"])
def test_a_new_skill_validates_is_understood_compiles_and_runs(mcl, verb):
    made = mcl("skill", "new", "shelf-list", "--verb", verb, "--json")
    assert made.code == 0, made.err
    assert made.document["files"] == ["skills/shelf-list/SKILL.mtx", "skills/shelf-list/plan.yaml"]
    path = made.document["path"]
    checked = mcl("skill", "check", path, "--strict", "--json")
    assert checked.code == 0
    assert all(not one["errors"] + one["warnings"] for one in events(checked))
    assert mcl("skill", "fmt", "--check", path).code == 0
    assert mcl("skill", "test", path, *NO_TABLES).code == 0
    compiled = mcl("compile", made.document["example"], *NO_TABLES, "--json")
    assert compiled.code == 0, compiled.out
    assert compiled.document["intent"]["compile_metadata"]["skill_id"] == "shelf-list"
    assert mcl("accept", "@last", "--yes").code == 0
    ran = mcl("run", "@last", *NO_TABLES)
    assert ran.code == 0, ran.out + ran.err
    if verb == "deliver":
        assert (mcl.folder / "overview.txt").read_text().split() == ["notes/monday.txt", "notes/tuesday.md"]
    else:
        assert "notes/monday.txt" in ran.out


@pytest.mark.parametrize("options", [(), ("--no-ai",)], ids=["bundled", "no-ai"])
@pytest.mark.parametrize("line", examples_of_help())
def test_what_the_examples_of_the_help_make_passes_its_own_test(mcl, line, options):
    made = mcl(*shlex.split(line)[1:], "--json")
    assert made.code == 0, made.err
    tried = mcl("skill", "test", made.document["path"], *options, "--json")
    assert tried.code == 0, tried.out
    [report] = events(tried)
    assert [one["text"] for one in report["examples"] if not one["understood"]] == []


@pytest.mark.parametrize("verb", [*VERBS, "x:shelve"])
def test_a_new_skill_is_sound_whatever_its_verb(mcl, verb):
    assert mcl("skill", "new", "shelf-list", "--verb", verb).code == 0
    checked = mcl("skill", "check", "skills/shelf-list", "--strict", "--json")
    assert (checked.code, [one["warnings"] for one in events(checked)]) == (0, [[], []])


def test_what_to_do_next_is_said_and_can_be_done(mcl):
    made = mcl("skill", "new", "shelf-list", "--in", "more")
    assert "mcl skill check more/shelf-list" in made.out
    document = mcl("skill", "new", "page-list", "--in", "more", "--json").document
    assert document["next"][:2] == ["mcl skill check more/page-list", "mcl skill test more/page-list"]
    assert document["next"][2].endswith(" --skills more")
    text = (mcl.folder / "more" / "page-list" / "SKILL.mtx").read_text()
    sections = [line for line in text.splitlines() if line.startswith("§")]
    lines = text.splitlines()
    assert all(lines[lines.index(section) - 1].startswith("#") for section in sections)


@pytest.mark.parametrize("name", ["", "Two Words", "../up", "a/b", "-x", "é", "x" * 65, ".hidden"])
def test_a_name_that_no_skill_can_have_is_refused(mcl, name):
    done = mcl("skill", "new", "--", name)
    assert (done.code, "NAME_INVALID" in done.err) == (2, True)
    assert not (mcl.folder / "skills").exists()


def test_a_new_skill_that_hides_another_says_so(mcl):
    write_skill(mcl.home / "skills")
    done = mcl("skill", "new", "read-page")
    assert done.code == 0
    assert f"hides the skill of the same id in {mcl.home / 'skills' / 'read-page'}" in done.err
    assert "hides" not in mcl("skill", "new", "other-page").err


def test_nothing_that_is_there_is_written_over(mcl):
    assert mcl("skill", "new", "shelf-list").code == 0
    file = mcl.folder / "skills" / "shelf-list" / "SKILL.mtx"
    file.write_text("mine")
    again = mcl("skill", "new", "shelf-list", "--verb", "deliver")
    assert (again.code, "EXISTS" in again.err, file.read_text()) == (2, True, "mine")
    wrong = mcl("skill", "new", "other", "--verb", "fnd")
    assert (wrong.code, "VERB_UNKNOWN" in wrong.err) == (2, True)


# ---- test ------------------------------------------------------------------------------------------------


def test_every_example_is_compiled_with_all_skills_to_choose_from_and_nothing_is_kept(mcl):
    write_skill(mcl.folder)
    done = mcl("skill", "test", "read-page", *NO_TABLES, "--json")
    assert done.code == 0, done.out
    [report] = events(done)
    assert (report["skill"], report["ok"], report["error"]) == ("read-page", True, None)
    first = report["examples"][0]
    assert (first["text"], first["ok"], first["chosen"]) == (
        *("show me the handbook page in the file notes/intro.md", True, "read-page"),
    )
    assert first["outcome"] in ("compiled", "clarify")
    assert mcl("list", "--json").document == {"intents": []}
    assert [row["kind"] for row in mcl("log", "--json").document["rows"]] == ["record.home.unattended"]


def test_an_example_that_another_skill_is_chosen_for_fails(mcl):
    wrong = 'example.2="make a new branch called fix-login"'
    write_skill(mcl.folder, old='example.2="read the page of the handbook"', new=wrong)
    write_skill(mcl.folder / "skills", name="other", skill=_other())
    done = mcl("skill", "test", "read-page", *NO_TABLES, "--held-out", "--json")
    assert done.code == 6
    bad = events(done)[0]["examples"][1]
    assert (bad["ok"], bad["chosen"] != "read-page") == (False, True)
    assert mcl("skill", "test", "read-page", *NO_TABLES, "--held-out").code == 6


def test_a_goal_that_is_not_for_a_skill_fails_where_it_is_chosen_for_it(mcl):
    lines = 'not.1="read the page of the handbook, please"\nnot.2="make a new branch called fix-login"'
    write_skill(mcl.folder, old='example.2="read', new=f'{lines}\nexample.2="read')
    write_skill(mcl.folder / "skills", name="other", skill=_other())
    done = mcl("skill", "test", "read-page", *NO_TABLES, "--json")
    [report] = events(done)
    assert (done.code, report["ok"]) == (6, False)
    assert all(one["ok"] for one in report["examples"])
    taken, left = report["not_for"]
    assert (taken["ok"], taken["chosen"]) == (False, "read-page")
    assert (left["ok"], left["chosen"] != "read-page") == (True, True)
    told = mcl("skill", "test", "read-page", *NO_TABLES)
    assert "1 of 2 left to others" in told.out
    assert "is not for this skill" in told.out
    assert "make a new branch" not in told.out
    refused = mcl("skill", "publish", "read-page", *NO_TABLES)
    assert (refused.code, "'read the page of the handbook, please'" in refused.err) == (6, True)
    shown = mcl("skill", "show", "read-page", "--json").document
    assert shown["not_for"] == ["read the page of the handbook, please", "make a new branch called fix-login"]


def test_a_plan_that_its_tool_would_refuse_fails_the_example(mcl):
    write_skill(mcl.folder, plan_old='max_bytes: "${slot.size}"', plan_new='max_bytes: "lots"')
    done = mcl("skill", "test", "read-page", *NO_TABLES, "--json")
    assert done.code == 6
    failed = [one for one in events(done)[0]["examples"] if not one["ok"]]
    assert failed
    assert all("lots" in one["message"] for one in failed)


def test_people_see_what_was_understood_and_what_is_asked(mcl):
    write_skill(mcl.folder)
    done = mcl("skill", "test", "read-page", *NO_TABLES)
    assert done.code == 0
    assert "file=notes/intro.md" in done.out
    assert "asks slot.file" in done.out
    assert "1 of 2 examples are understood, 1 asks something" in done.out
    [report] = events(mcl("skill", "test", "read-page", *NO_TABLES, "--json"))
    assert [(one["ok"], one["understood"]) for one in report["examples"]] == [(True, True), (True, False)]


def test_skills_are_named_by_id_by_folder_or_not_at_all(mcl):
    write_skill(mcl.folder / "skills")
    by_id = events(mcl("skill", "test", "read-page", *NO_TABLES, "--json"))
    by_folder = events(mcl("skill", "test", "skills/read-page", *NO_TABLES, "--json"))
    by_parent = events(mcl("skill", "test", "skills", *NO_TABLES, "--json"))
    assert [one["skill"] for one in by_id + by_folder + by_parent] == ["read-page"] * 3
    everything = {one["skill"] for one in events(mcl("skill", "test", *NO_TABLES, "--json"))}
    assert {"general", "read-page"} <= everything
    unknown = mcl("skill", "test", "read-pge", *NO_TABLES)
    assert (unknown.code, "SKILL_UNKNOWN" in unknown.err) == (2, True)


def test_a_broken_skill_is_told_and_fails(mcl):
    write_skill(mcl.folder / "skills", old="mcl.verbs=find", new="mcl.verbs=fnd")
    for name in ("read-page", "skills/read-page"):
        done = mcl("skill", "test", name, *NO_TABLES, "--json")
        assert (done.code, events(done)[0]["error"]["code"]) == (6, "SKILL_INVALID")


# ---- publish ---------------------------------------------------------------------------------------------


def test_publishing_writes_the_digest_once_and_validate_agrees(mcl):
    file = write_skill(mcl.folder, skill=SKILL.replace("  required", "      required")) / "SKILL.mtx"
    file.chmod(0o600)
    done = mcl("skill", "publish", "read-page", *NO_TABLES)
    assert done.code == 0, done.err
    assert done.out == mcl("skill", "hash", "read-page").out
    digest = done.out.split()[0]
    assert file.read_text() == SKILL + f"\n§HASH\nv=1\nalgo=sha256_ast\ndigest={digest}\n"
    assert file.stat().st_mode & 0o777 == 0o600
    before = file.stat()
    again = mcl("skill", "publish", "read-page", "--no-test", "--json")
    assert again.document == {"path": "read-page/SKILL.mtx", "ok": True, "digest": digest, "changed": False}
    assert (file.stat().st_ino, file.stat().st_mtime_ns) == (before.st_ino, before.st_mtime_ns)
    assert mcl("skill", "check", "read-page", "--strict").code == 0


def test_an_old_digest_is_replaced_and_comments_stay(mcl):
    old = "\n§HASH\n# who signed it\nv=1\nalgo=sha256_ast\ndigest=" + "0" * 64 + "\n"
    head, _, tail = SKILL.partition("\n§INPUTS")
    file = write_skill(mcl.folder, skill=head + old + "\n# what is asked for\n§INPUTS" + tail) / "SKILL.mtx"
    assert mcl("skill", "check", "read-page", "--strict").code == 6
    assert mcl("skill", "publish", "read-page", "--no-test").code == 0
    text = file.read_text()
    assert "0" * 64 not in text
    assert text.count("§HASH") == text.count("digest=") == text.count("# who signed it") == 1
    assert "# what is asked for\n§INPUTS" in text
    assert mcl("skill", "check", "read-page", "--strict").code == 0


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"old": "mcl.verbs=find", "new": "mcl.verbs=fnd"}, "SKILL_INVALID"),
        ({"old": "optional", "new": "optionl"}, "SKILL_INVALID"),
        ({"old": "version=1.0.0\n", "new": ""}, "SKILL_INVALID"),
        ({"plan_old": "path:", "plan_new": "pth:"}, "SKILL_INVALID"),
        ({"plan_old": 'max_bytes: "${slot.size}"', "plan_new": "max_bytes: lots"}, "SKILL_INVALID"),
    ],
)
def test_a_flawed_skill_is_not_published_and_not_touched(mcl, changes, code):
    file = write_skill(mcl.folder, **changes) / "SKILL.mtx"
    before = file.read_bytes()
    done = mcl("skill", "publish", "read-page", "--no-test", "--json")
    assert (done.code, done.document["ok"], done.document["error"]["code"]) == (6, False, code)
    assert file.read_bytes() == before


def test_a_skill_whose_examples_are_not_understood_is_published_only_untested(mcl):
    tool = {"plan_old": "tool/fs/read@", "plan_new": "tool/fs/nothing@"}
    file = write_skill(mcl.folder, old="tool/fs/read@", new="tool/fs/nothing@", **tool) / "SKILL.mtx"
    text = file.read_text()
    refused = mcl("skill", "publish", "read-page", *NO_TABLES)
    assert (refused.code, "EXAMPLES_FAILED" in refused.err) == (6, True)
    assert file.read_text() == text
    assert mcl("skill", "publish", "read-page", "--no-test").code == 0


def _other() -> str:
    """A skill for branches, so that the test depends on no shipped one."""
    text = SKILL.replace("id=read-page", "id=other").replace("Read a page", "Make a branch")
    text = text.replace("Shows the beginning of a page of the handbook.", "Makes a new branch.")
    text = text.replace(
        "show me the handbook page in the file notes/intro.md", "make a new branch called fix-login"
    )
    text = text.replace("read the page of the handbook", "create the branch fix-tests")
    return text.replace("mcl.verbs=find", "mcl.verbs=build").replace("the file to read", "the branch")
