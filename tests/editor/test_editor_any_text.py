"""No text and no place makes editor help fail."""

from __future__ import annotations

from pathlib import Path

import pytest
from editor_shelf import Shelf
from editor_texts import SKILL
from hypothesis import given, settings
from hypothesis import strategies as st

from mcl.plugins.authoring.checks import validate_skill
from mcl.plugins.editor.session import EditorSession, Open

SKILLS = Path(__file__).resolve().parents[2] / "skills"

_WORDS = [
    *SKILL.split("\n"),
    *(
        "§",
        "§INPUTS",
        "§NO",
        "slot ",
        "slot.x",
        "{slot.",
        "{{",
        "{",
        "}",
        "on ",
        "verb=",
        "x:",
        "confidence<",
    ),
    *(
        "unknown",
        "end",
        "prompt",
        "resolve",
        "<- cortex.find(",
        "type=",
        '"',
        "\\",
        '"\\"',
        "#",
        " # x",
        "none",
    ),
    *(
        "enum<a|",
        "[]",
        "matrix://",
        "\t",
        "\0",
        "\r",
        "\n",
        "\r\n",
        "🙂",
        "e\u0301",
        "\u2028",
        "\ud83d",
        "\ufeff",
        "=",
    ),
]
texts = st.lists(st.sampled_from(_WORDS) | st.text(max_size=4), max_size=40).flatmap(
    lambda parts: st.lists(
        st.sampled_from(["", " ", "\n"]), min_size=len(parts), max_size=len(parts)
    ).map(lambda gaps: "".join(part + gap for part, gap in zip(parts, gaps, strict=True)))
)  # fmt: skip


@given(texts, st.integers(0, 60), st.integers(0, 40), st.sampled_from(["utf-8", "utf-16", "utf-32"]))
def test_any_text_is_answered_at_any_place(text, line, character, encoding):
    session = EditorSession(Shelf(), encoding)
    session.put("a", text, Path("/nowhere/demo/SKILL.mtx"))
    one = session.texts["a"]
    end = one.document.end()
    for _, problems in session.problems(one):
        for problem in problems:
            span = problem.span
            assert (
                one.document.point(span.line, span.start) <= one.document.point(span.line, span.stop) <= end
            )
    for item in session.complete(one, line, character):
        start, stop = item.span.start, item.span.stop
        assert 1 <= start <= one.document.place(line, character).column <= stop
    session.hover(one, line, character)
    session.define(one, line, character)
    session.symbols(one)
    session.fixes(one, 0, line)
    if one.reading.parsed.ok:
        session.layout(one)


@settings(max_examples=30)
@given(texts, st.integers(0, 60), st.integers(0, 40))
def test_any_plan_is_answered(text, line, character):
    session = EditorSession(Shelf())
    session.put("skill", SKILL, Path("/nowhere/demo/SKILL.mtx"))
    session.put("plan", text, Path("/nowhere/demo/plan.yaml"))
    plan = session.texts["plan"]
    assert isinstance(plan, Open)
    list(session.problems(plan))
    session.define(plan, line, character)


def test_the_text_that_is_open_counts_and_not_that_on_the_disk(tmp_path):
    folder = tmp_path / "demo"
    folder.mkdir()
    (folder / "SKILL.mtx").write_text("§NOTHING\n")
    (folder / "plan.yaml").write_text("version: 1\nplans: []\n")
    session = EditorSession(Shelf())
    session.put("skill", SKILL, folder / "SKILL.mtx")
    (plan, wrong), (skill, problems) = session.problems(session.texts["skill"])
    assert plan.path == folder / "plan.yaml"
    assert [one.code for one in wrong] == ["PLAN_INVALID"]
    assert skill is session.texts["skill"]
    assert problems == ()
    good = """version: 1
plans:
  - root:
      id: read
      kind: tool_call
      description: Read it
      tool_call:
        tool_ref: matrix://tool/fs/read@1.0.0
        side_effect_class: read
        args: {path: "${slot.target}", pth: "x"}
"""
    session.put("plan", good, folder / "plan.yaml")
    (_, wrong), (_, problems) = session.problems(session.texts["skill"])
    assert [(one.code, one.span.line) for one in wrong] == [("ARG_UNKNOWN", 10)]
    assert [one.code for one in problems] == ["SUB_SKILL_UNUSED"]


@pytest.mark.parametrize("name", [path.parent.name for path in sorted(SKILLS.glob("*/SKILL.mtx"))])
@pytest.mark.parametrize("change", [("", ""), ("id=", "id=not-"), ("/fs/", "/fz/"), ("§OUTPUTS", "§OUTPUT")])
def test_an_editor_is_told_what_validation_tells(name: str, change: tuple[str, str], tmp_path: Path) -> None:
    folder = tmp_path / name
    folder.mkdir()
    for path in (SKILLS / name).iterdir():
        if path.is_file():
            (folder / path.name).write_text(
                path.read_text().replace(*change) if change[0] else path.read_text()
            )
    session = EditorSession(Shelf())
    session.put("a", (folder / "SKILL.mtx").read_text(), folder / "SKILL.mtx")
    told = {
        (one.path.name, problem.span.line or 1, problem.code, problem.message)
        for one, problems in session.problems(session.texts["a"])
        for problem in problems
        if one.path
    }
    assert told == {
        (Path(checked.path).name, finding.line or 1, finding.code, finding.message)
        for checked in validate_skill(folder)
        for finding in checked.findings
    }
