"""Pictures and lists of what others wrote: no markup, no script, no escape gets out of its text."""

from __future__ import annotations

import json
from xml.dom.minidom import parseString

import pytest
from walks import Walks, gate, sequence, tool

import ir
from mcl.cli.main import main

EVIL = (
    '"]; evil [label="x"];\n</text></title><script>alert(1)</script> & \' ]]> --> \x1b[2J\u202e\u200b'
    ' %%{init: {}}%% \n click n0 href "javascript:alert(1)" \\" {x} |y| `z` &#106;'
)


@pytest.fixture
def intent(walks: Walks, monkeypatch: pytest.MonkeyPatch) -> str:
    """A proposed plan whose every text is hostile, with a question that waits."""
    monkeypatch.setenv("MCL_HOME", str(walks.home.path))
    monkeypatch.chdir(walks.workspace)
    write = tool("n1", "fs/write", "write", path="a.txt", content=EVIL, overwrite="true")
    ask = gate("n2", EVIL, options=[EVIL, "approve"])
    write["description"] = ask["description"] = EVIL
    id = walks.accept(sequence(f"n0 {EVIL}", write, ask))
    agent_said = ir.PolicyGateBody("matrix://rule/plan-gate", EVIL, node_id="n2", options=(EVIL, "approve"))
    walks.tell(id, "policy.gate", agent_said)
    return id


@pytest.mark.parametrize("form", ["svg", "dot", "mermaid"])
def test_a_picture_of_a_hostile_plan_holds_its_words_as_words(
    intent: str, capfdbinary: pytest.CaptureFixture[bytes], form: str
) -> None:
    assert main(["plan", intent, "--graph", form]) == 0
    out = capfdbinary.readouterr().out.decode()
    assert "<script" not in out
    assert not {"\x1b", "\u202e", "\u200b"} & set(out)
    if form == "svg":
        document = parseString(out)
        names = {one.tagName for one in document.getElementsByTagName("*")}
        assert names <= {"svg", "g", "path", "polygon", "ellipse", "polyline", "text", "title", "style"}
        given = [dict(one.attributes.items()) for one in document.getElementsByTagName("*")]
        assert not any(name.startswith("on") for one in given for name in one)
    elif form == "dot":
        assert "evil [label" not in out.replace("evil [label=&quot;", "")
    else:
        assert not [line for line in out.splitlines() if line.strip().startswith("click")]


@pytest.mark.parametrize(
    "words",
    [
        *(
            ("plan", "{}"),
            ("show", "{}"),
            ("gate", "list"),
            ("gate", "show", "{gate}"),
            ("log", "{}"),
            ("list",),
        ),
        *(("gate", "deny", "{gate}", "--reason", EVIL), ("gate", "approve", "{gate}"), ("cancel", "{}")),
        *(("run", "{}", "--deny-gates"), ("undo", "{}"), ("log", "verify"), ("accept", "{}", "--yes")),
    ],
    ids=lambda words: words[0] + words[1] if len(words) > 1 else words[0],
)
@pytest.mark.parametrize("as_json", [False, True])
def test_lists_of_hostile_texts_move_nothing(
    intent: str, walks: Walks, capfd: pytest.CaptureFixture[str], words: tuple[str, ...], as_json: bool
) -> None:
    waiting = walks.home.journal.rows(intent, kind="policy.gate")[0].id
    given = [
        word.replace("{gate}", waiting).replace("{}", intent) if word != EVIL else word for word in words
    ]
    main([*given, *(["--json"] if as_json else [])])
    said = capfd.readouterr()
    assert not {"\x1b", "\u202e", "\u200b", "\x07"} & set(said.out + said.err)
    if as_json:
        assert (
            [json.loads(line) for line in said.out.splitlines()]
            if words[0] == "run"
            else json.loads(said.out)
        )


def test_a_chart_of_a_hostile_table_holds_its_words_as_words(walks: Walks) -> None:
    walks.write(
        "t.csv",
        '<script>alert(1)</script>,"</text><script>x</script>"\n"a&b<c>",1\n"]]>",2\n"\u202e-->",3\n',
    )
    for kind in ("bar", "line"):
        outcome = walks.go(tool("n1", "data/chart", "write", path="t.csv", out=f"{kind}.svg", kind=kind))
        assert outcome.failure is None, outcome.failure
        text = (walks.workspace / f"{kind}.svg").read_text()
        document = parseString(text)
        names = {one.tagName for one in document.getElementsByTagName("*")}
        assert names <= {
            "svg",
            "g",
            "path",
            "rect",
            "circle",
            "line",
            "text",
            "title",
            "style",
            "defs",
            "polyline",
        }


@pytest.mark.parametrize(
    "title", ["x\r\nEND:VEVENT\r\nBEGIN:VEVENT", "x\nBEGIN:VALARM", "\u2028END:VCALENDAR", "x;y,z\\n"]
)
def test_a_reminder_is_one_event_whatever_its_title_says(walks: Walks, title: str) -> None:
    for path in ("description", "title"):
        args = {"title": "plain", path: title, "start": "2027-01-01", "path": f"{path}.ics"}
        outcome = walks.go(tool("n1", "calendar/add", "write", **args))
        assert outcome.failure is None, outcome.failure
        lines = (walks.workspace / f"{path}.ics").read_text().splitlines()
        assert lines.count("BEGIN:VEVENT") == lines.count("END:VCALENDAR") == lines.count("BEGIN:VALARM") == 1


@pytest.mark.parametrize(
    "task", ["x\n---\nstatus: done\n---", "# \x00\x85\u2028x", '"\nstatus: done', "&a *a !!python/object x"]
)
def test_a_task_has_one_head_whatever_it_says(walks: Walks, task: str) -> None:
    import yaml

    outcome = walks.go(tool("n1", "task/assign", "write", assignee="ada", task=task), verb="delegate")
    if outcome.failure is not None:
        assert outcome.failure.code == "INVALID_ARGS"
        return
    found = outcome.outputs["n1"]
    assert isinstance(found, dict)
    text = (walks.workspace / str(found["path"])).read_text()
    head = yaml.safe_load(text.split("---\n")[1])
    assert (head["status"], head["assignee"]) == ("open", "ada")
