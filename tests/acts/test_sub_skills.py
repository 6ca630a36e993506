"""Skills that dispatch to skills: from plan.yaml over the signature to what is run."""

from __future__ import annotations

import io
import shutil
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from executor import Home
from executor.walker.questions import AlwaysApprove
from mcl.cli.views.plan import plan_view
from mcl.compiler.compiler import Compiled
from mcl.core.errors import SkillError
from mcl.plugins.authoring.checks import validate_skill
from mcl.plugins.checking.replay import replay
from mcl.usecases.accept import accept
from mcl.usecases.compile import compile_goal
from mcl.usecases.plans import Planned
from mcl.usecases.plans import show as plan
from mcl.usecases.run import run

HEAD = """§SKILL
id={id}
version={version}
description="{id} for the tests"
mcl.verbs={verbs}
example.1="{id} the things"

§INPUTS
{inputs}

§CORTEX
none

§TOOLS
{tools}

§SUB_SKILLS
{subs}

§PROCEDURE
prompt
  system="You are {id}."
  user="Goal: {{prose}}"
end

§OUTPUTS
none

§FAILURE_MODES
none
"""
WRITE = "matrix://tool/fs/write@1.0.0"
SEARCH = "matrix://tool/fs/search@1.0.0"
DIGEST = """version: 1
plans:
  - root:
      id: digest
      kind: sequential
      children:
        - id: look
          kind: sub_dispatch
          description: Look for the word
          sub_dispatch:
            skill_ref: matrix://skill/files-find@1.0.0
            scope_uri: matrix://scope/read
            sub_intent:
              verb: find
              objects:
                - {name: text, value: "${slot.word}"}
                - {name: folder, value: "${slot.folder}"}
        - id: save
          kind: tool_call
          tool_call:
            tool_ref: matrix://tool/fs/write@1.0.0
            side_effect_class: write
            args: {path: "${slot.report}", content: "${look.output.text}"}
"""
INPUTS = "slot word: string\n  required\nslot report: string\n  required\nslot folder: string\n  optional"


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A workspace with one file, and the folder `skills` beside it."""
    (tmp_path / "work").mkdir()
    (tmp_path / "work/notes.md").write_text("a fox\nno dog\nThe Fox again\n")
    put(
        tmp_path,
        "digest",
        DIGEST,
        verbs="build",
        inputs=INPUTS,
        tools=WRITE,
        subs="matrix://skill/files-find@1.0.0",
    )
    return tmp_path


def put(
    place: Path, id: str, plan: str, *, verbs: str, inputs: str = "none", tools: str = "none",
    subs: str = "none", version: str = "1.0.0",
) -> None:  # fmt: skip
    folder = place / "skills" / id
    folder.mkdir(parents=True, exist_ok=True)
    text = HEAD.format(id=id, version=version, verbs=verbs, inputs=inputs, tools=tools, subs=subs)
    (folder / "SKILL.mtx").write_text(text)
    (folder / "plan.yaml").write_text(plan)


def compiled(home: Home, place: Path, skill: str = "digest", **slots: str) -> Compiled:
    made = compile_goal(
        f"{skill} the things", skill=skill, slots=slots, ai=False, skills=[place / "skills"], home=home
    )
    assert isinstance(made, Compiled), made
    return made


def accepted(home: Home, place: Path, **slots: str) -> str:
    id = compiled(home, place, **(slots or {"word": "fox", "report": "out.md"})).intent.id
    accept(id, home=home, skills=[place / "skills"])
    return id


def ran(home: Home, place: Path, id: str, **more: Any) -> Any:
    return run(
        id, home=home, workspace=place / "work", people=AlwaysApprove(), skills=[place / "skills"], **more
    )


def text_of(seen: Planned) -> str:
    """The plan as a person reads it."""
    console = Console(file=io.StringIO(), width=200)
    for one in plan_view(seen, console):
        console.print(one)
    return str(console.file.getvalue())  # type: ignore[attr-defined]


def test_a_skill_has_another_one_look_and_writes_what_it_found(home: Home, place: Path) -> None:
    outcome = ran(home, place, accepted(home, place))
    assert (outcome.state, outcome.failure) == ("completed", None)
    assert outcome.nodes == dict.fromkeys(("digest", "look", "look/search", "save"), "completed")
    assert (place / "work/out.md").read_text() == "notes.md:1: a fox\nnotes.md:3: The Fox again"
    assert home.journal.verify().ok


def test_the_signed_plan_names_the_other_skill_by_its_content(home: Home, place: Path) -> None:
    made = compiled(home, place, word="fox", report="out.md")
    assert made.plan is not None
    sub = made.plan.root.children[0].sub_dispatch
    assert sub is not None
    assert sub.skill_ref.startswith("matrix://skill/files-find@sha256:")


def test_what_the_other_skill_will_do_is_shown_before_anybody_signs(home: Home, place: Path) -> None:
    made = compiled(home, place, word="fox", report="out.md")
    seen = plan(made.intent.id, home=home, workspace=place / "work", skills=[place / "skills"])
    assert [(verdict.node_id, verdict.decision) for verdict in seen.verdicts] == [
        ("look", "allow"),
        ("look/search", "allow"),
        ("save", "allow"),
    ]
    assert [node.id for node, _ in seen.unfolded.root.walk()] == ["digest", "look", "look/search", "save"]
    assert seen.plan.hash == made.plan.hash if made.plan else False
    shown = text_of(seen)
    assert "fs/search@1.0.0" in shown
    assert "query=fox" in shown
    assert str(made.plan.hash if made.plan else "") in shown


def test_another_content_than_the_one_that_was_signed_is_refused(home: Home, place: Path) -> None:
    id = accepted(home, place)
    import skills as shipped

    folder = place / "skills" / "files-find"  # hides the shipped one
    shutil.copytree(Path(shipped.__file__).parent / "files-find", folder)
    assert ran(home, place, id).state == "completed", "the same content may lie elsewhere"
    id = accepted(home, place, word="fox", report="second.md")
    text = (folder / "plan.yaml").read_text().replace("ignore_case: true", "ignore_case: false")
    (folder / "plan.yaml").write_text(text)
    outcome = ran(home, place, id)
    assert outcome.failure is not None
    assert (outcome.state, outcome.failure.code, outcome.nodes) == ("denied", "SKILL_CHANGED", {})
    assert not (place / "work/second.md").exists()


def test_what_a_skill_further_down_says_is_part_of_what_was_signed(home: Home, place: Path) -> None:
    end = "version: 1\nplans: [{root: {id: n, kind: gate, gate: {question: Sure?}}}]\n"
    put(place, "low", end, verbs="build")
    for id, below in (("mid", "low"), ("top", "mid")):
        put(place, id, dispatching(below), verbs="build", subs=f"matrix://skill/{below}@1.0.0")
    made = compiled(home, place, "top")
    accept(made.intent.id, home=home)
    put(place, "low", end.replace("Sure?", "Other?"), verbs="build")
    outcome = ran(home, place, made.intent.id)
    assert outcome.failure is not None
    assert outcome.failure.code == "SKILL_CHANGED"
    again = compiled(home, place, "top")
    accept(again.intent.id, home=home)
    outcome = ran(home, place, again.intent.id)
    assert outcome.nodes == dict.fromkeys(("d", "d/d", "d/d/n"), "completed")


def dispatching(skill: str, *, version: str = "1.0.0", objects: str = "[]", verb: str = "build") -> str:
    return f"""version: 1
plans:
  - root:
      id: d
      kind: sub_dispatch
      sub_dispatch:
        skill_ref: matrix://skill/{skill}@{version}
        sub_intent: {{verb: {verb}, objects: {objects}}}
"""


@pytest.mark.parametrize(
    ("skill", "version", "code"),
    [
        ("nowhere", "1.0.0", "SUB_SKILL_MISSING"),
        ("files-find", "9.0.0", "SUB_SKILL_MISSING"),
        ("one", "1.0.0", "SUB_SKILL_CYCLE"),
    ],
)
def test_a_plan_is_not_made_where_the_skill_below_is_not_there(
    home: Home, place: Path, skill: str, version: str, code: str
) -> None:
    put(
        place,
        "one",
        dispatching(skill, version=version),
        verbs="build",
        subs=f"matrix://skill/{skill}@{version}",
    )
    with pytest.raises(SkillError) as caught:
        compiled(home, place, "one")
    assert caught.value.code == code
    assert caught.value.fix


TYPED = """slot kind: enum<small|large>
  required
slot count: uint
  optional
slot tags: string[]
  optional
  max=2"""
ASKS = """version: 1
plans:
  - root:
      id: n
      kind: gate
      gate: {question: "${slot.kind}, ${slot.tags} of ${prose}?"}
"""


@pytest.mark.parametrize(
    ("objects", "verb", "code"),
    [
        ('[{name: kind, value: Large}, {name: tags, value: \'["a", "b"]\'}]', "build", ""),
        ("[{name: kind, value: huge}]", "build", "SLOT_INVALID"),
        ("[{name: kind, value: small}, {name: count, value: many}]", "build", "SLOT_INVALID"),
        ("[{name: kind, value: small}, {name: kind, value: large}]", "build", "SLOT_TOO_MANY"),
        ("[{name: kind, value: small}, {name: tags, value: '[1, 2, 3]'}]", "build", "SLOT_TOO_MANY"),
        ("[{name: sort, value: small}]", "build", "SLOT_UNKNOWN"),
        ("[{name: kind, value: ''}]", "build", "SLOT_EMPTY"),
        ("[{name: kind, value: small}]", "find", "VERB_UNKNOWN"),
    ],
)
def test_what_is_given_must_fit_the_inputs_of_the_skill_below(
    home: Home, place: Path, objects: str, verb: str, code: str
) -> None:
    put(place, "asks", ASKS, verbs="build", inputs=TYPED)
    put(
        place,
        "one",
        dispatching("asks", objects=objects, verb=verb),
        verbs="build",
        subs="matrix://skill/asks@1.0.0",
    )
    made = compiled(home, place, "one")
    seen = plan(made.intent.id, home=home, workspace=place / "work", skills=[place / "skills"])
    said = [
        getattr(verdict.reply, "code", "") or getattr(verdict.reply, "question", "")
        for verdict in seen.verdicts
    ]
    assert said == ([code] if code else ["", "large, a, b of one the things?"])


def test_what_an_earlier_node_gave_is_given_on_when_it_is_known(home: Home, place: Path) -> None:
    put(place, "asks", ASKS, verbs="build", inputs=TYPED)
    objects = '[{name: kind, value: small}, {name: tags, value: "${look.output.matches[0].path}"}]'
    dispatch = dispatching("asks", objects=objects).splitlines()[4:]
    two = f"""version: 1
plans:
  - root:
      id: all
      kind: sequential
      children:
        - id: look
          kind: tool_call
          tool_call: {{tool_ref: "{SEARCH}", side_effect_class: read, args: {{query: fox}}}}
        - id: d
{chr(10).join(f"    {line}" for line in dispatch)}
"""
    put(place, "one", two, verbs="build", tools=SEARCH, subs="matrix://skill/asks@1.0.0")
    made = compiled(home, place, "one")
    seen = plan(made.intent.id, home=home, workspace=place / "work", skills=[place / "skills"])
    assert [(verdict.node_id, verdict.decision, verdict.sketched) for verdict in seen.verdicts] == [
        ("look", "allow", False),
        ("d", "allow", True),
    ]
    shown = text_of(seen)
    assert "small, ${look.output.matches[0].path} of one the things?" in shown
    assert "when what it is given is known" in shown
    accept(made.intent.id, home=home)
    outcome = ran(home, place, made.intent.id)
    assert (outcome.state, outcome.failure) == ("completed", None)
    gate = next(iter(home.journal.rows(kind="policy.gate")))
    body: Any = home.journal.open(gate.wire).body
    assert body.question == "small, notes.md of one the things?"


def test_a_plan_that_dispatches_can_be_made_again_byte_for_byte(home: Home, place: Path) -> None:
    id = accepted(home, place)
    told = replay(id, home=home, skills=[place / "skills"])
    assert told.same, told


@pytest.mark.parametrize(
    ("old", "new", "line", "code"),
    [
        ("verb: find", "verb: build", 14, "VERB_UNKNOWN"),
        ("{name: text,", "{name: txt,", 16, "SLOT_UNKNOWN"),
        ("files-find@1.0.0", "files-find@2.0.0", 11, "SUB_SKILL_MISSING"),
        ("{name: text,", "{name: text,", 0, ""),
    ],
)
def test_what_does_not_fit_the_skill_below_is_told_with_its_place(
    place: Path, old: str, new: str, line: int, code: str
) -> None:
    reference = "matrix://skill/files-find@1.0.0".replace(old, new)
    put(place, "digest", DIGEST.replace(old, new), verbs="build", inputs=INPUTS, tools=WRITE, subs=reference)
    checked = validate_skill(place / "skills/digest")[1]
    assert [(one.line, one.code) for one in checked.findings] == ([(line, code)] if code else [])


def test_an_input_that_the_skill_beside_it_requires_is_missed(place: Path) -> None:
    put(place, "asks", ASKS, verbs="build", inputs=TYPED)
    put(place, "one", dispatching("asks"), verbs="build", subs="matrix://skill/asks@1.0.0")
    checked = validate_skill(place / "skills/one")[1]
    assert [(one.code, one.message) for one in checked.errors] == [
        ("SLOT_EMPTY", "asks needs the input 'kind'")
    ]
