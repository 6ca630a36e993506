"""review/look and review/conclude through the gate, as any plan may call them."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from walks import Walks, code, done, tool
from yards import APP, Yard

from executor import Registry
from mcl.catalog.tools.registry import registry
from mcl.core.errors import ReviewError
from mcl.plugins.review.conclusion import concluded, finding_of
from mcl.plugins.review.finding import SEVERITIES, ReviewFinding
from mcl.plugins.review.finding_text import read_findings, write_findings


class OwnTools(Walks):
    """Walks with the tools of mcl."""

    def registry(self) -> Registry:
        return registry(lambda: self.home)


@pytest.fixture
def walks(yard: Yard) -> Iterator[OwnTools]:
    with yard.opened() as home:
        yield OwnTools(home, yard.folder)


def test_look_gives_the_files_and_their_texts_where_asked(walks: OwnTools, yard: Yard) -> None:
    yard.write("app.py", APP + "x = 1\n")
    found = done(walks, tool("n1", "review/look", base="HEAD"))
    assert found["files"] == [
        {"path": "app.py", "state": "changed", "total": 7, "judged": 1, "sha256": found["files"][0]["sha256"]}
    ]
    assert (found["paths"], found["findings"], "pieces" in found) == (["app.py"], [], False)
    assert found["text"] == "1 file, 1 line to be judged"


def test_what_changed_and_could_not_be_looked_at_blocks_where_it_may_be_code(
    walks: OwnTools, yard: Yard
) -> None:
    yard.write("big.py", "eval(input())\n" + "#" * (2 << 20))
    yard.write("lock.json", " " * (2 << 20))
    yard.write("zero.py", "\0")
    yard.write("photo.png", b"\x89PNG\0")
    yard.write("odd\x01.py", "eval(input())\n")
    found = done(walks, tool("n1", "review/look", base="HEAD"))
    told = [(one["severity"], one["line"], one["rule"]) for one in found["findings"]]
    assert told == [("WARNING", 0, "not-looked-at")] * 3
    assert {one["location"] for one in found["findings"]} >= {"big.py:0", "zero.py:0"}


def test_look_tells_a_model_everything_but_secrets(walks: OwnTools, yard: Yard) -> None:
    key = "-----BEGIN EC PRIVATE KEY-----\nMHcC\nAQEE\n-----END EC PRIVATE KEY-----\n"
    yard.write("key.py", f"K = '''{key}'''\nT = 'ghp_{'a1B2' * 9}'\n")
    [piece] = done(walks, tool("n1", "review/look", path="key.py", text="true"))["pieces"]
    assert "MHcC" not in piece["text"]
    assert "a1B2" not in piece["text"]
    assert (piece["total"], piece["text"].count("\n")) == (6, 6)


def test_look_refuses_more_text_than_an_answer_holds(walks: OwnTools, yard: Yard) -> None:
    for name in "abc":
        yard.write(f"{name}.txt", "x = 'some words of a long file'\n" * 15_000)
    assert code(walks.go(tool("n1", "review/look", base="HEAD", text="true"))) == "TOO_LARGE"
    assert done(walks, tool("n1", "review/look", base="HEAD"))["text"].startswith("3 files, 45,000 lines")


@pytest.mark.parametrize("path", ["../home", "/proc/self/environ", ".git/config", "~/x", "a\x00b"])
def test_look_is_stopped_by_the_gate_outside_the_workspace(walks: OwnTools, path: str) -> None:
    assert walks.go(tool("n1", "review/look", path=path)).state in ("denied", "failed")


def test_conclude_puts_rules_and_texts_together(walks: OwnTools) -> None:
    rule = ReviewFinding("WARNING", "app.py", 2, "Text is run.", "B307").to_json()
    found = done(
        walks,
        tool(
            "n1",
            "review/conclude",
            mode="risk",
            files=json.dumps([{"path": "app.py"}]),
            scanned=json.dumps([rule]),
            review="[CRITICAL] app.py:9\nIt is lost.\n\n[WARNING] app.py:2\ntext is run",
            consistency="[HIGH] app.py:1",
        ),
    )
    said = [(one["severity"], one["location"], one.get("rule", "")) for one in found["findings"]]
    assert said == [("CRITICAL", "app.py:9", ""), ("WARNING", "app.py:2", "B307")]
    assert found["unreadable"] == [{"line": 1, "text": "[HIGH] app.py:1"}]
    assert (found["blocking"], found["count"], found["counts"]) == (True, 2, {"CRITICAL": 1, "WARNING": 1})
    assert found["text"].endswith("\n\n[HIGH] app.py:1")


def test_conclude_blocks_for_what_the_rules_found_beyond_what_is_told(walks: OwnTools) -> None:
    found = done(walks, tool("n1", "review/conclude", mode="risk", files="[]", blocked="true", cut="true"))
    assert (found["blocking"], found["truncated"], found["text"]) == (True, True, "No findings.")


def test_conclude_tells_as_many_findings_as_an_answer_holds(walks: OwnTools) -> None:
    many = [ReviewFinding("NOTE", "app.py", line, "a word " * 400).to_json() for line in range(1, 201)]
    many.append(ReviewFinding("RISK", "app.py", 201, "The worst is told first.").to_json())
    found = done(walks, tool("n1", "review/conclude", mode="risk", files="[]", looked=json.dumps(many)))
    assert (found["count"], found["truncated"], found["blocking"]) == (201, True, True)
    assert found["findings"][0]["severity"] == "RISK"
    assert 50 < len(found["findings"]) < 201


@pytest.mark.parametrize(
    "said",
    [
        {},
        {"severity": "HIGH", "location": "a.py:1", "line": 1, "body": ""},
        {"severity": "RISK", "location": "", "line": 1, "body": ""},
        {"severity": "RISK", "location": "a.py:1", "line": "1", "body": ""},
    ],
)
def test_conclude_takes_nothing_for_a_finding_that_is_none(walks: OwnTools, said: dict[str, object]) -> None:
    with pytest.raises(ReviewError):
        finding_of(said)
    outcome = walks.go(tool("n1", "review/conclude", mode="risk", files="[]", scanned=json.dumps([said])))
    assert code(outcome) == "FINDING_NOT_VALID"


def test_of_one_file_two_passes_say_no_more_than_the_contract_allows() -> None:
    first = write_findings([ReviewFinding("NOTE", "a.py", line, "small") for line in range(1, 4)])
    second = write_findings(
        [ReviewFinding("RISK", "a.py", 9, "large"), ReviewFinding("NOTE", "b.py", 1, "other")]
    )
    rules = [ReviewFinding("NOTE", "a.py", 7, "by a rule", "B1")]
    ended = concluded(rules, [first, second], most=2)
    assert [one.location for one in ended.findings] == ["a.py:9", "a.py:1", "b.py:1", "a.py:7"]
    assert ended.blocking


FINDINGS = st.builds(
    ReviewFinding,
    severity=st.sampled_from(SEVERITIES),
    file=st.sampled_from(["a.py", "b c.py", "d:3"]),
    line=st.integers(0, 9),
    body=st.text(max_size=20),
    rule=st.sampled_from(["", "B1"]),
)


@settings(max_examples=40)
@given(st.lists(FINDINGS, max_size=8), st.lists(st.text(max_size=60), max_size=3))
def test_whatever_is_concluded_is_in_order_told_once_and_fails_closed(
    found: list[ReviewFinding], texts: list[str]
) -> None:
    ended = concluded(found, texts)
    places = [SEVERITIES.index(one.severity) for one in ended.findings]
    assert places == sorted(places)
    assert {one.location for one in found} <= {one.location for one in ended.findings}
    assert ended.blocking >= any(one.blocking for one in found)
    assert ended.blocking >= any(read_findings(text).blocking for text in texts)
    assert sum(ended.counts.values()) == len(ended.findings)
    if not ended.unreadable and ended.findings:
        assert ended.text == write_findings(ended.findings)
    assert [finding_of(one.to_json()) for one in ended.findings] == list(ended.findings)
