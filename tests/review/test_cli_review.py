"""`mcl review` from end to end, with the rules alone: exit codes, documents, refusals, what is kept."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from yards import APP, Yard

from executor.walker.interfaces import WalkEvent
from mcl.plugins.review.memory.history import Review, ReviewHistory, ReviewMemories
from mcl.plugins.review.usecases.run import review_code

DANGER = "import subprocess\n\n\ndef run(words):\n    return subprocess.call(words, shell=True)\n"


def test_a_file_without_findings_ends_with_0(yard: Yard) -> None:
    told = yard("app.py", "--no-ai")
    assert (told.code, told.out) == (0, "No findings.\n")
    assert told.err.endswith("0 findings in 1 file\n")


def test_a_blocking_finding_ends_with_1_in_the_form_of_a_review(yard: Yard) -> None:
    yard.write("run.py", DANGER)
    told = yard("run.py", "--no-ai", "--mode", "security")
    assert told.code == 1
    assert told.out.startswith("[RISK] run.py:5\n")
    assert "of them block" in told.err
    again = yard.fed(told.out, "parse", "-", "--json")
    assert again.document["findings"][0]["location"] == "run.py:5"
    assert (again.code, again.document["blocking"]) == (1, True)


def test_a_file_that_is_called_like_a_command_is_reviewed_where_it_is_said_to_be_a_file(yard: Yard) -> None:
    yard.write("next", DANGER)
    told = yard("next", "--limit", "1")
    assert told.code == 0  # what a word means does not depend on what lies in the folder
    assert "the file of that name: mcl review file next" in told.err
    reviews = [yard(*words, "--no-ai", "--json") for words in (("file", "next"), ("./next",))]
    assert [one.document["files"] for one in reviews] == [["next"], ["next"]]


@pytest.mark.parametrize("words", [("--diff",), ("--diff", "main"), ("file", "--diff=main")])
def test_a_difference_takes_a_revision_or_none(yard: Yard, words: tuple[str, ...]) -> None:
    yard.commit(old__py=DANGER)
    yard.write("old.py", DANGER + "\n\nX = 1\n")
    yard.write("new.py", DANGER)
    told = yard(*words, "--no-ai", "--json")
    assert (told.code, told.document["kind"]) == (1, "diff")
    assert told.document["files"] == ["new.py", "old.py"]
    assert {one["location"].partition(":")[0] for one in told.document["findings"]} == {"new.py"}
    assert told.document["base"] == yard.git("rev-parse", "main")


def test_what_is_staged_is_reviewed_in_place_of_the_files(yard: Yard) -> None:
    yard.write("run.py", DANGER)
    told = yard("--staged", "--no-ai")
    assert (told.code, told.out) == (0, "No findings.\n")
    assert "nothing is staged since the last commit" in told.err
    yard.git("add", "run.py")
    yard.write("run.py", "X = 1\n")
    assert yard("--staged", "--no-ai").code == 1
    assert yard("--diff", "--no-ai").code == 0


def test_a_linked_work_tree_is_reviewed_where_its_repository_was_named(yard: Yard, tmp_path: Path) -> None:
    tree = tmp_path / "tree"
    yard.git("worktree", "add", "-q", "-b", "topic", str(tree))
    (tree / "new.py").write_text(DANGER)
    refused = yard("--diff", "main", "--no-ai", "--workspace", str(tree))
    assert (refused.code, "REPOSITORY_ELSEWHERE" in refused.err) == (5, True)
    assert f"mcl repo add {yard.folder.name} {yard.folder}" in refused.err
    assert yard.mcl("repo", "add", "main", str(yard.folder)).code == 0
    told = yard("--diff", "main", "--no-ai", "--json", "--workspace", str(tree))
    assert (told.code, told.document["files"]) == (1, ["new.py"])


@pytest.mark.parametrize("words", [("--no-ai",), (), ("--deep",), ("--no-ai", "main")])
def test_a_difference_in_which_nothing_changed_ends_with_0_and_signs_nothing(
    yard: Yard, tmp_path: Path, words: tuple[str, ...]
) -> None:
    told = yard("--diff", *words)
    assert (told.code, told.out) == (0, "No findings.\n")
    since = "main" if "main" in words else "the last commit"
    assert f"nothing changed since {since}, so nothing was reviewed" in told.err
    document = yard("--diff", *words, "--json", "--mode", "risk").document
    assert (document["findings"], document["blocking"], document["exit"]) == ([], False, 0)
    assert (document["intent"], document["state"], document["mode"]) == ("", "unchanged", "risk")
    assert yard("--diff", *words, "--sarif", "-").document["runs"][0]["results"] == []
    place = tmp_path / "found.sarif"
    assert yard("--diff", *words, "--sarif", str(place)).out == "No findings.\n"
    assert json.loads(place.read_text())["runs"][0]["results"] == []
    assert yard.mcl("list", "--json").document["intents"] == []
    yard.write("app.py", APP + "\n")
    assert set(yard("--diff", "--no-ai", "--json").document) == set(document)


def test_a_difference_of_which_nothing_can_be_looked_at_says_so(yard: Yard) -> None:
    yard.write("logo.png", b"\x89PNG\0")
    yard.write(".env", "TOKEN=1\n")
    told = yard("--diff", "--no-ai")
    assert (told.code, told.out) == (0, "No findings.\n")
    assert told.err.endswith("0 findings in 0 files; left out: .env (protected name), logo.png (binary)\n")


def test_a_folder_is_searched_by_the_rules_alone(yard: Yard) -> None:
    yard.write("src/run.py", DANGER)
    told = yard("src", "--no-ai")
    assert (told.code, "in 1 file" in told.err) == (1, True)
    assert yard("src").code == 1
    refused = yard("src", "--model", "bundled")
    assert (refused.code, "FOLDER_NEEDS_NO_AI" in refused.err, "--no-ai" in refused.err) == (4, True, True)


REFUSALS = [
    (("nosuch.py",), 4, "NOT_FOUND"),
    (("logo.png",), 4, "NOT_TEXT"),
    (("large.txt",), 4, "TOO_LARGE"),
    ((".env",), 4, "PROTECTED_PATH"),
    (("../other.py",), 4, "OUTSIDE_WORKSPACE"),
    (("/etc/passwd",), 4, "OUTSIDE_WORKSPACE"),
    (("link.py",), 4, "OUT_OF_SCOPE"),
    (("\udcff.py",), 4, "OUT_OF_SCOPE"),
    (("~nobody/x.py",), 4, "NOT_FOUND"),
    (("a" * 5000,), 4, "OUT_OF_SCOPE"),
    (("empty",), 4, "NO_SOURCE"),
    ((), 4, "NOTHING_NAMED"),
    (("--diff", "nosuch"), 4, "UNKNOWN_REVISION"),
    (("--diff", "app.py"), 4, "UNKNOWN_REVISION"),
    (("--diff", "--", "--output=stolen"), 4, "LOOKS_LIKE_OPTION"),
    (("app.py", "--mode", "style"), 4, "UNKNOWN_MODE"),
    (("app.py", "--deep"), 4, "DEEP_NEEDS_MODEL"),
    (("AKIAIOSFODNN7EXAMPLE.py",), 4, "SECRET_INLINE"),
    (("--sarif", "-", "--json", "app.py"), 2, "USAGE"),
    (("app.py", "run.py"), 2, "USAGE"),
]


@pytest.mark.parametrize(
    ("words", "code", "error"), REFUSALS, ids=[str(number) for number in range(len(REFUSALS))]
)
def test_what_cannot_be_reviewed_is_refused_with_advice_and_leaves_nothing(
    yard: Yard, words: tuple[str, ...], code: int, error: str
) -> None:
    yard.write("logo.png", b"\x89PNG\0")
    yard.write("large.txt", b"a" * (1 << 20) + b"a")
    yard.write(".env", "TOKEN=1\n")
    yard.write("AKIAIOSFODNN7EXAMPLE.py", "x = 1\n")
    (yard.folder / "empty").mkdir()
    (yard.folder / "link.py").symlink_to("/etc/passwd")
    (yard.folder.parent / "other.py").write_text("x = 1\n")
    told = yard("--no-ai", *words)
    assert told.code == code
    assert f"code  {error}" in told.err
    assert "  fix   " in told.err
    assert "Traceback" not in told.err
    assert not (yard.folder / "stolen").exists()
    assert yard.mcl("list", "--json").document["intents"] == []
    assert yard("--json", "--no-ai", *words).document["error"]["code"] == error


def test_without_a_repository_files_are_reviewed_and_differences_refused(yard: Yard) -> None:
    (yard.folder / ".git").rename(yard.folder.parent / "gone")
    assert yard("app.py", "--no-ai").code == 0
    told = yard("--diff", "--no-ai")
    assert (told.code, "NOT_A_REPOSITORY" in told.err, "--workspace DIR" in told.err) == (4, True, True)


def test_paths_are_meant_from_here_or_from_the_workspace(
    yard: Yard, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    yard.write("src/run.py", DANGER)
    for target in ("src/run.py", "./src//run.py", str(yard.folder / "src" / "run.py")):
        assert yard(target, "--no-ai", "--json").document["files"] == ["src/run.py"]
    monkeypatch.chdir(yard.folder / "src")
    told = yard("--diff", "--no-ai")
    assert (told.code, f"--workspace {yard.folder}\n" in told.err) == (4, True)
    for words in (["run.py"], ["run.py", "--workspace", ".."], ["src/run.py", "--workspace", ".."]):
        assert yard(*words, "--no-ai").code == 1
    assert yard("../app.py", "--no-ai").code == 4
    assert yard("../app.py", "--no-ai", "--workspace", "..").code == 0
    monkeypatch.chdir(tmp_path)
    (tmp_path / "to").symlink_to(yard.folder)
    assert yard("to/app.py", "--workspace", "to", "--no-ai").code == 0


def test_the_document_has_all_of_it(yard: Yard) -> None:
    yard.write("run.py", DANGER)
    yard.write("logo.png", b"\0")
    told = yard("--diff", "--no-ai", "--json", "--mode", "risk")
    document = told.document
    assert set(document) == {
        *("intent", "state", "exit", "mode", "passes", "whole", "note", "kind", "base", "files", "skipped"),
        *("findings", "blocking", "unreadable", "counts", "truncated", "text", "failure", "dismissed"),
    }
    assert (document["exit"], document["state"], document["mode"]) == (told.code, "completed", "risk")
    assert document["skipped"] == [{"path": "logo.png", "why": "binary"}]
    first = document["findings"][0]
    assert (first["severity"], first["location"], first["line"], first["rule"]) == (
        "RISK",
        "run.py:5",
        5,
        "B602",
    )
    assert sum(document["counts"].values()) == len(document["findings"])
    assert (document["blocking"], document["unreadable"], document["failure"]) == (True, [], None)


def test_sarif_goes_to_a_file_beside_the_findings_or_to_standard_output(yard: Yard, tmp_path: Path) -> None:
    yard.write("run.py", DANGER)
    place = tmp_path / "found.sarif"
    place.write_text("old")
    told = yard("run.py", "--no-ai", "--sarif", str(place))
    assert (told.code, told.out.startswith("[RISK] run.py:5\n")) == (1, True)
    written = json.loads(place.read_text())
    assert written["version"] == "2.1.0"
    [run] = written["runs"]
    assert run["results"][0]["ruleId"] == "B602"
    assert yard("run.py", "--no-ai", "--sarif", "-").document == written
    for missing in (tmp_path / "no" / "found.sarif", tmp_path):
        told = yard("run.py", "--no-ai", "--sarif", str(missing))
        assert (told.code, told.out.startswith("[RISK] run.py:5\n")) == (5, True)
        assert "SARIF_UNWRITABLE" in told.err
        assert f"at    {missing}\n" in told.err


def test_a_review_is_an_intent_that_only_reads_and_nobody_is_asked(yard: Yard) -> None:
    yard.write("run.py", DANGER)
    before = yard.files()
    id = yard("run.py", "--no-ai", "--json").document["intent"]
    assert yard.files() == before
    shown = yard.mcl("show", id, "--json").document
    assert (shown["state"], shown["intent"]["frame"]["verb"]) == ("completed", "analyze")
    slots = {one["name"]: one["value"] for one in shown["intent"]["frame"]["objects"]}
    assert (slots["path"], slots["mode"], slots["passes"]) == ("run.py", "comment", "rules")
    calls = [node["tool_call"] for node in shown["plan"]["root"]["children"]]
    assert {call["side_effect_class"] for call in calls} == {"read"}
    text = yard.mcl("show", id).out
    assert f"mcl log {id}" in text
    assert "mcl replay" not in text
    assert "mcl undo" not in text
    assert yard.mcl("list").out.count("review run.py") == 1
    assert yard.mcl("log", "verify").code == 0
    assert yard.mcl("replay", id).code != 0


def test_what_was_found_is_remembered_once_and_never_the_file(yard: Yard) -> None:
    yard.write("run.py", DANGER)
    yard("run.py", "--no-ai", "--mode", "risk")
    with yard.opened() as home:
        history = ReviewMemories(home, yard.folder).history
        [last] = history.last("run.py")
        assert (last.mode, last.model, last.skill, last.blocking > 0) == ("risk", "", "review-code", True)
        assert last.findings[0].rule == "B602"
        assert [one.file for one in history.files()] == ["run.py"]
    yard.write("run.py", "X = 1\n")
    yard("run.py", "--no-ai")
    with yard.opened() as home:
        [newest, _] = ReviewMemories(home, yard.folder).history.last("run.py")
        assert newest.findings == ()
    data = b"".join(one.read_bytes() for one in yard.home.rglob("*") if one.is_file())
    assert b"subprocess.call(words" not in data


def test_a_part_in_which_nothing_is_found_says_nothing_of_the_whole(yard: Yard) -> None:
    yard.commit(run__py=DANGER)
    yard("run.py", "--no-ai")
    yard.write("run.py", DANGER + "\n\nX = 1\n")
    yard("--diff", "--no-ai")
    yard("src", "--no-ai")
    yard(".", "--no-ai")
    with yard.opened() as home:
        history = ReviewMemories(home, yard.folder).history
        assert [one.file for one in history.open()] == ["run.py"]
        assert [one.mode for one in history.last("run.py")] == ["comment", "comment"]
        assert history.last("app.py") == ()
    yard.write("run.py", DANGER + "\n\nX = eval(input())\n")
    yard("--diff", "--no-ai")
    with yard.opened() as home:
        last = ReviewMemories(home, yard.folder).history.last("run.py", 1)[0]
        assert {one.line for one in last.findings} >= {5, 8}


def test_a_review_reads_no_memories_of_other_files(yard: Yard, monkeypatch: pytest.MonkeyPatch) -> None:
    yard.commit(run__py=DANGER)
    yard("run.py", "--no-ai")
    yard.write("run.py", DANGER + "\n\nX = eval(input())\n")

    def all_of_them(self: ReviewHistory) -> tuple[Review, ...]:
        raise AssertionError

    monkeypatch.setattr(ReviewHistory, "files", all_of_them)
    for words in (("run.py",), ("app.py",), ("--diff",)):
        assert yard(*words, "--no-ai", "--json").document["state"] == "completed"
    with yard.opened() as home:
        assert {one.line for one in ReviewMemories(home, yard.folder).history.last("run.py")[0].findings} >= {
            5,
            8,
        }


def test_a_conflict_of_a_merge_blocks(yard: Yard) -> None:
    yard.git("checkout", "-q", "-b", "work")
    yard.commit(app__py=APP.replace("sum", "max"))
    yard.git("checkout", "-q", "main")
    yard.commit(app__py=APP.replace("sum", "min"))
    yard.git("merge", "work", ok=False)
    for words, line in (("--diff", 2), ("--staged", 0)):
        told = yard(words, "--no-ai", "--json")
        assert told.code == 1
        assert (f"app.py:{line}", "conflict") in [
            (one["location"], one.get("rule")) for one in told.document["findings"]
        ]


def test_names_of_files_drive_no_terminal(yard: Yard) -> None:
    yard.write("\u202eevil.py", DANGER)
    yard.write("esc\x1b[31m.py", DANGER)
    told = yard("--diff", "--no-ai")
    assert "\x1b" not in told.out + told.err
    assert "\u202e" not in told.out + told.err
    assert told.code == 1


def test_a_file_that_changes_between_the_steps_is_not_taken_for_reviewed(yard: Yard) -> None:
    yard.write("run.py", DANGER)

    class Mends:
        def on(self, event: WalkEvent) -> None:
            if event.node_id == "scan" and event.state == "running":
                yard.write("run.py", "X = 1\n")

    for words in ({"target": "run.py"}, {"base": "HEAD"}, {"target": "."}):
        yard.write("run.py", DANGER)
        with yard.opened() as home:
            result = review_code(**words, ai=False, listener=Mends(), home=home)
            problem = result.problem()
            assert problem is not None
            assert (problem.code, problem.fix, result.exit) == ("CHANGED_MEANWHILE", "review it again", 5)
            assert (result.findings, result.text, result.to_json()["state"]) == ((), "", "failed")
            assert problem.message.endswith("; since then changed: run.py")
            assert ReviewMemories(home, yard.folder).history.files() == ()


def test_of_many_files_that_changed_between_the_steps_a_few_are_named(yard: Yard) -> None:
    names = [f"run{number}.py" for number in range(5)]

    class Writes:
        def on(self, event: WalkEvent) -> None:
            if event.node_id == "scan" and event.state == "running":
                for name in names:
                    yard.write(name, "X = 1\n")

    for name in names:
        yard.write(name, DANGER)
    with yard.opened() as home:
        problem = review_code(base="HEAD", ai=False, listener=Writes(), home=home).problem()
    assert problem is not None
    assert problem.message.endswith("; since then changed: run0.py, run1.py, run2.py and 2 more")


def test_what_an_earlier_review_found_is_shown_again(yard: Yard) -> None:
    yard.write("run.py", DANGER)
    document = yard("run.py", "--no-ai", "--json").document
    yard("app.py", "--no-ai")
    yard.write("run.py", "X = 1\n")
    review = yard.mcl("show", document["intent"], "--json").document["review"]
    assert {name: review[name] for name in ("findings", "blocking", "counts", "text")} == {
        name: document[name] for name in ("findings", "blocking", "counts", "text")
    }
    shown = yard.mcl("show", document["intent"]).out
    assert "Findings\n[RISK] run.py:5\n" in shown
    assert "Findings\nNo findings.\n" in yard.mcl("show", "@last").out


def test_an_interrupted_review_says_how_it_goes_on(yard: Yard, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(id: str, **more: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("mcl.plugins.review.usecases.run.run", interrupted)
    told = yard("app.py", "--no-ai")
    [intent] = yard.mcl("list", "--json").document["intents"]
    assert (told.code, told.out) == (130, "")
    assert f"go on with it: mcl run {intent['id']} --resume" in told.err


def test_the_library_reviews_too(yard: Yard) -> None:
    yard.write("run.py", DANGER)
    with yard.opened() as home:
        result = review_code("run.py", mode="security", ai=False, home=home)
        assert (result.exit, result.blocking, result.findings[0].location) == (1, True, "run.py:5")
        assert result.text.startswith("[RISK] run.py:5\n")
        assert review_code("app.py", ai=False, home=home).text == "No findings."


def test_a_tool_that_the_operator_forbids_is_refused_before_anything_is_signed(yard: Yard) -> None:
    yard.mcl("tool", "quarantine", "review/scan@1.0.0", "--reason", "not now")
    told = yard("app.py", "--no-ai")
    assert told.code == 4
    assert yard.mcl("list", "--json").document["intents"] == []
