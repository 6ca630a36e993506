"""`mcl skill fmt`, `hash`, `parse`, `list` and `show`: the files of skills, read and laid out."""

from __future__ import annotations

import json
import stat

import pytest
from skill_writing import SKILL, write_skill

UGLY = SKILL.replace("§INPUTS\n", "\n\n§INPUTS   # what is asked for\n").replace(
    "  required\n", "        required\n"
)


def events(done) -> list[dict]:
    return [json.loads(line) for line in done.out.splitlines()]


# ---- fmt -------------------------------------------------------------------------------------------------


def test_formatting_changes_the_layout_in_place_and_not_what_it_means(mcl):
    file = write_skill(mcl.folder, skill=UGLY) / "SKILL.mtx"
    file.chmod(0o640)
    before = mcl("skill", "hash", str(file)).out
    done = mcl("skill", "fmt", "read-page")
    assert (done.code, done.out) == (0, "changed  read-page/SKILL.mtx\n")
    assert file.read_text() == SKILL.replace("§INPUTS\n", "§INPUTS  # what is asked for\n")
    assert stat.S_IMODE(file.stat().st_mode) == 0o640
    assert mcl("skill", "hash", str(file)).out == before
    assert [path.name for path in sorted(file.parent.iterdir())] == ["SKILL.mtx", "plan.yaml"]


def test_what_is_laid_out_already_is_not_touched(mcl):
    file = write_skill(mcl.folder) / "SKILL.mtx"
    before = file.stat()
    assert mcl("skill", "fmt", "read-page").code == 0
    after = file.stat()
    assert (after.st_ino, after.st_mtime_ns) == (before.st_ino, before.st_mtime_ns)


def test_a_byte_order_mark_and_carriage_returns_go(mcl):
    file = write_skill(mcl.folder) / "SKILL.mtx"
    file.write_bytes(b"\xef\xbb\xbf" + SKILL.replace("\n", "\r\n").encode())
    assert mcl("skill", "fmt", "--check", "read-page").code == 6
    assert mcl("skill", "fmt", "read-page").code == 0
    assert file.read_bytes() == SKILL.encode()


@pytest.mark.parametrize("option", ["--check", "--diff"])
def test_a_check_or_a_diff_writes_nothing_and_ends_with_6(mcl, option):
    write_skill(mcl.folder, name="good")
    ugly = write_skill(mcl.folder, name="ugly", skill=UGLY) / "SKILL.mtx"
    done = mcl("skill", "fmt", "good", "ugly", option)
    assert done.code == 6
    assert ugly.read_text() == UGLY
    assert "good/SKILL.mtx" not in done.out
    assert mcl("skill", "fmt", "good", option).code == 0


def test_a_diff_shows_what_would_change(mcl):
    write_skill(mcl.folder, skill=UGLY)
    out = mcl("skill", "fmt", "read-page", "--diff").out
    assert out.startswith("--- read-page/SKILL.mtx\n")
    assert "\n-        required\n" in out
    assert "\n+  required\n" in out


def test_a_file_with_errors_is_refused_and_the_others_are_still_laid_out(mcl):
    bad = write_skill(mcl.folder, name="bad", skill=UGLY.replace("optional", "optionl", 1)) / "SKILL.mtx"
    ugly = write_skill(mcl.folder, name="ugly", skill=UGLY) / "SKILL.mtx"
    text = bad.read_text()
    done = mcl("skill", "fmt", "bad", "missing", "ugly")
    assert done.code == 6
    assert bad.read_text() == text
    assert ugly.read_text() != UGLY
    assert 'did you mean "optional"?' in done.err
    assert "missing" in done.err


def test_standard_input_is_laid_out_to_standard_output(mcl):
    done = mcl.fed(UGLY.encode(), "skill", "fmt", "-")
    assert (done.code, done.out) == (0, SKILL.replace("§INPUTS\n", "§INPUTS  # what is asked for\n"))
    bad = mcl.fed(b"\xff\xfe", "skill", "fmt", "-")
    assert (bad.code, bad.out) == (6, "")
    assert "<stdin>:1:1: error" in bad.err


def test_a_link_stays_a_link(mcl):
    file = write_skill(mcl.folder / "elsewhere", skill=UGLY) / "SKILL.mtx"
    link = mcl.folder / "link.mtx"
    link.symlink_to(file)
    assert mcl("skill", "fmt", "link.mtx").code == 0
    assert link.is_symlink()
    assert file.read_text() != UGLY


def test_a_layout_that_would_mean_something_else_is_never_written(mcl, monkeypatch):
    file = write_skill(mcl.folder, skill=UGLY) / "SKILL.mtx"
    monkeypatch.setattr("mcl.language.mtx.layout.format_file", lambda parsed: SKILL.replace("2000", "2001"))
    done = mcl("skill", "fmt", "read-page")
    assert (done.code, "FORMAT_UNSOUND" in done.err) == (6, True)
    assert file.read_text() == UGLY


def test_formatting_speaks_json_by_line(mcl):
    write_skill(mcl.folder, name="good")
    write_skill(mcl.folder, name="bad", old="optional", new="optionl")
    good, bad = events(mcl("skill", "fmt", "good", "bad", "--json"))
    assert good == {"path": "good/SKILL.mtx", "ok": True, "changed": False, "errors": []}
    assert (bad["ok"], bad["changed"], bad["errors"][0]["code"]) == (False, False, "UNEXPECTED")


# ---- hash ------------------------------------------------------------------------------------------------


def test_a_hash_is_the_digest_two_blanks_and_the_path(mcl):
    write_skill(mcl.folder)
    done = mcl("skill", "hash", "read-page/SKILL.mtx", "read-page")
    assert done.code == 0
    first, second = (line.split("  ") for line in done.out.splitlines())
    assert first == second
    assert first[1] == "read-page/SKILL.mtx"
    assert len(first[0]) == 64
    assert int(first[0], 16)


def test_layout_and_the_recorded_hash_do_not_count_and_meaning_does(mcl):
    texts = {
        "same": UGLY + "\n# a last word\n§HASH\nv=1\nalgo=sha256_ast\ndigest=\n",
        "other": SKILL.replace("default=2000", "default=2001"),
    }
    (mcl.folder / "plain.mtx").write_text(SKILL)
    for name, text in texts.items():
        (mcl.folder / f"{name}.mtx").write_text(text)
    done = mcl("skill", "hash", "plain.mtx", "same.mtx", "other.mtx", "--json")
    plain, same, other = (event["digest"] for event in events(done))
    assert plain == same != other


def test_an_installed_skill_can_be_hashed_by_its_id(mcl):
    place = write_skill(mcl.folder / "skills")
    by_id, by_path = (mcl("skill", "hash", name, "--json") for name in ("read-page", "skills/read-page"))
    assert by_id.document["digest"] == by_path.document["digest"]
    assert by_id.document["path"] == str(place / "SKILL.mtx")


def test_what_cannot_be_hashed_is_told_and_the_rest_is_hashed(mcl):
    write_skill(mcl.folder)
    write_skill(mcl.folder, name="bad", old="optional", new="optionl")
    done = mcl("skill", "hash", "bad", "no-such", "read-page")
    assert (done.code, len(done.out.splitlines())) == (6, 1)
    assert "bad/SKILL.mtx:15:3" in done.err
    assert "no-such" in done.err


# ---- parse -----------------------------------------------------------------------------------------------


def test_the_tree_has_every_part_with_its_place(mcl):
    write_skill(mcl.folder)
    done = mcl("skill", "parse", "read-page", "--json")
    assert (done.code, done.err) == (0, "")
    tree = done.document
    assert tree["node"] == "File"
    sections = {section["name"]: section for section in tree["sections"]}
    slot = sections["INPUTS"]["entries"][0]
    assert (slot["node"], slot["name"], slot["line"]) == ("Slot", "file", 11)
    people = mcl("skill", "parse", "read-page/SKILL.mtx")
    assert "Slot name=file" in people.out


def test_a_tree_with_errors_is_shown_as_far_as_it_goes_and_ends_with_6(mcl):
    write_skill(mcl.folder, old="optional", new="optionl")
    done = mcl("skill", "parse", "read-page", "--json")
    assert done.code == 6
    assert done.document["node"] == "File"
    assert 'did you mean "optional"?' in done.err


def test_deep_blocks_are_laid_out_and_shown_without_recursion(mcl):
    depth = 600
    lines = [" " * level + "on unknown\n" for level in range(depth)]
    blocks = "".join(lines + [" " * level + "end\n" for level in reversed(range(depth))])
    (mcl.folder / "deep.mtx").write_text(SKILL.replace("§OUTPUTS", blocks + "§OUTPUTS"))
    assert mcl("skill", "fmt", "deep.mtx").code == 0
    for more in ((), ("--json",)):
        done = mcl("skill", "parse", "deep.mtx", *more)
        assert done.code == 0, done.err[:500]
        assert done.out.count("AnyUnknown") == depth


# ---- list and show ---------------------------------------------------------------------------------------


def test_the_list_says_which_skill_hides_which(mcl):
    write_skill(mcl.home / "skills")
    write_skill(mcl.folder / "skills", old="Shows the", new="Reads the")
    listed = mcl("skill", "list", "--json").document
    assert listed["shadowed"] == [
        {
            "id": "read-page",
            "path": str(mcl.home / "skills" / "read-page"),
            "by": str(mcl.folder / "skills" / "read-page"),
        }
    ]
    out = " ".join(mcl("skill", "list").out.split())  # lines end where the path of this folder has them
    assert "is hidden by" in out
    assert "Reads the beginning" in out


def test_a_broken_skill_is_listed_with_its_first_error(mcl):
    write_skill(mcl.folder / "skills", old="mcl.verbs=find", new="mcl.verbs=fnd")
    done = mcl("skill", "list")
    assert done.code == 0
    assert "broken" in done.out
    assert "no verb 'fnd'" in " ".join(done.out.split())


def test_a_skill_is_shown_with_its_digests(mcl):
    write_skill(mcl.folder)
    shown = mcl("skill", "show", "read-page", "--json").document
    assert shown["file_digest"] == mcl("skill", "hash", "read-page").out.split()[0]
    assert shown["digest"] != shown["file_digest"]
    assert "the file to read" in mcl("skill", "show", "read-page").out
    unknown = mcl("skill", "show", "read-pge")
    assert (unknown.code, "SKILL_UNKNOWN" in unknown.err) == (2, True)


# ---- a digest that was written ----------------------------------------------------------------------------


def test_a_skill_that_was_changed_after_its_digest_was_written_is_not_used(mcl):
    file = write_skill(mcl.folder / "skills") / "SKILL.mtx"
    assert mcl("skill", "publish", "skills/read-page", "--no-test").code == 0
    assert "read-page" in [one["id"] for one in mcl("skill", "list", "--json").document["skills"]]
    file.write_text(file.read_text().replace("description=", "author=somebody\ndescription=", 1))
    listed = mcl("skill", "list", "--json").document
    assert "read-page" not in [one["id"] for one in listed["skills"]]
    assert "V14" in json.dumps(listed["broken"]["read-page"])
    refused = mcl("compile", "read the page at https://example.org", "--skill", "read-page", "--no-ai")
    assert (refused.code, "mcl skill publish" in refused.err) == (2, True)
    assert mcl("skill", "publish", "skills/read-page", "--no-test").code == 0
    assert "read-page" in [one["id"] for one in mcl("skill", "list", "--json").document["skills"]]
