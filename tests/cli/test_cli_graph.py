"""A plan as a picture: what it says stays text, and every state is a word."""

from __future__ import annotations

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import etree

import ir
from mcl.core.errors import GraphError
from mcl.plugins.checking import graphs
from mcl.plugins.checking.graphs import COLOURS, dot_text, draw, mermaid_text, picture_of

EVIL = '"]; click n0 href "javascript:alert(1)" <script>alert(1)</script> &amp; \\" --> x %%{init: {}}%% `b`'
LABEL = re.compile(r'^  n\d+(\[\["|\{\{"|\[/"|\["|\(")(?P<text>[^"]*)("\]\]|"\}\}|"/\]|"\]|"\))(:::[a-z]+)?$')


def a_plan(text: str = "Look", children: int = 2) -> ir.PlanTree:
    leaves = [
        {
            "id": f"n{place}",
            "kind": "tool_call",
            "description": text,
            "tool_call": {
                "tool_ref": "matrix://tool/fs/write@1.0.0",
                "side_effect_class": "write",
                "args": {"path": text, "content": text},
            },
        }
        for place in range(children)
    ]
    ask = {"id": "ask", "kind": "gate", "description": text, "gate": {"question": text, "options": [text]}}
    root = {"id": "root", "kind": "sequential", "description": text, "children": [ask, *leaves]}
    return ir.PlanTree.from_json(json.dumps({"id": "p", "v": "mcl/0.1", "root": root}))


def texts_of(svg: bytes) -> list[str]:
    """The texts of a picture, and proof that it is nothing but shapes and texts."""
    tree = etree.fromstring(svg, etree.XMLParser(resolve_entities=False, no_network=True))
    tags = {etree.QName(one).localname for one in tree.iter(etree.Element)}
    assert tags <= {"svg", "g", "title", "polygon", "path", "text", "polyline", "ellipse"}
    assert not [name for one in tree.iter() for name in one.attrib if name.startswith("on") or "href" in name]
    return [one.text or "" for one in tree.iter("{*}text")]


def test_what_a_plan_says_is_text_in_a_drawing():
    picture = picture_of(a_plan(EVIL), goal=EVIL)
    said = " ".join(texts_of(draw(dot_text(picture), "svg", boxes=len(picture.boxes))))
    assert "<script>" in said
    assert 'click n0 href "javascript:alert(1)"' in re.sub(r"\s+", " ", said)


def test_what_a_plan_says_is_text_in_mermaid():
    lines = mermaid_text(picture_of(a_plan(EVIL), goal=EVIL)).splitlines()
    nodes = [line for line in lines if re.match(r"  n\d+[\[({]", line)]
    assert len(nodes) == 4
    for line in nodes:
        found = LABEL.match(line)
        assert found is not None, line
        assert not re.search(r"[\"<>\[\]{}`|;#%\\](?!br/>)", re.sub(r"<br/>|#\d+;", "", found["text"]))
    assert all(line.startswith(("  n", "  classDef", "flowchart", "%% ")) for line in lines)
    assert not any("click" in line for line in lines if line.startswith("  "))
    assert not any("{" in line for line in lines if line.startswith("%%"))


@given(text=st.text(max_size=200))
def test_any_text_gives_one_line_a_node_in_mermaid_and_balanced_dot(text):
    picture = picture_of(a_plan(text), goal=text)
    lines = mermaid_text(picture).splitlines()
    assert sum(bool(LABEL.match(line)) for line in lines) == 4
    markup = re.sub(r"[^<>]", "", dot_text(picture).replace("->", ""))
    assert set(re.sub("<>", "", markup)) <= set("<>")
    for label in re.findall(r"label=<(.*)>\]", dot_text(picture)):
        etree.fromstring(f"<x>{label}</x>")


@pytest.mark.parametrize(
    "text", ["", "\x00\x1b[31m\ufffe", "日本語 ü ✓", "a" * 10_000, "\\n\\l\\", "a\nb\tc"]
)
def test_odd_texts_can_be_drawn(text):
    picture = picture_of(a_plan(text), goal=text)
    assert texts_of(draw(dot_text(picture), "svg", boxes=4))
    assert draw(dot_text(picture), "png", boxes=4).startswith(b"\x89PNG")


def test_every_state_is_a_word_beside_its_colour():
    states = [tone for tone in COLOURS if tone not in ("", "allow", "ask", "deny")]
    plan = a_plan(children=len(states))
    picture = picture_of(plan, states={f"n{place}": state for place, state in enumerate(states)})
    assert [box.status for box in picture.boxes[2:]] == states
    said = texts_of(draw(dot_text(picture), "svg", boxes=len(picture.boxes)))
    assert set(states) <= set(said)
    for state in states:
        assert re.search(rf"write · {state}\"\]:::{state}$", mermaid_text(picture), re.MULTILINE)


def test_the_same_plan_is_the_same_picture():
    picture = picture_of(a_plan(), goal="x")
    assert draw(dot_text(picture), "svg", boxes=4) == draw(dot_text(picture), "svg", boxes=4)


def test_no_program_to_draw_with_is_said_with_the_way_out(monkeypatch, mcl):
    monkeypatch.setattr(graphs.shutil, "which", lambda name, path=None: None)
    mcl.compiled()
    refused = mcl("plan", "@last", "--graph", "svg")
    assert (refused.code, "GRAPH_NO_PROGRAM" in refused.err, "[graph]'" in refused.err) == (5, True, True)
    assert mcl("plan", "@last", "--graph", "mermaid").out.startswith("%% ")


def test_a_program_in_the_folder_of_a_workspace_is_not_run(monkeypatch, tmp_path):
    (tmp_path / "dot").write_text("#!/bin/sh\ntouch ran\n")
    (tmp_path / "dot").chmod(0o755)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", ".:")
    monkeypatch.setattr(graphs.sysconfig, "get_path", lambda name: str(tmp_path / "nothing"))
    monkeypatch.setattr(graphs.sys, "executable", str(tmp_path / "nothing" / "python"))
    with pytest.raises(GraphError):
        draw("digraph {}", "svg", boxes=1)
    assert not (tmp_path / "ran").exists()


def test_what_is_too_large_to_look_at_is_not_drawn():
    with pytest.raises(Exception, match="at most 1500") as caught:
        draw("digraph {}", "svg", boxes=1501)
    assert caught.value.code == "GRAPH_TOO_LARGE"


def test_a_plan_is_drawn_before_its_run_with_verdicts_and_after_it_with_states(mcl):
    id = mcl.signed()
    assert "may run" in mcl("plan", id, "--graph", "mermaid").out
    assert mcl("plan", id, "--graph", "dot").out.startswith("digraph plan {")
    assert mcl("run", id).code == 0
    assert "completed" in mcl("plan", id, "--graph", "mermaid").out
    drawn = mcl("plan", id, "--graph", "svg", "--out", "plan.svg")
    assert drawn.code == 0, drawn.err
    assert "completed" in " ".join(texts_of((mcl.folder / "plan.svg").read_bytes()))
    assert mcl.other("plan", id, "--graph", "png", "--out", "plan.png").code == 0
    assert (mcl.folder / "plan.png").read_bytes().startswith(b"\x89PNG")
    assert mcl("plan", id, "--out", "x").code == 2
    assert mcl("plan", id, "--graph", "gif").code == 2


def test_a_dispatch_names_its_skill_with_the_beginning_of_its_digest():
    sub = {"skill_ref": f"matrix://skill/files-find@sha256:{'ab' * 32}"}
    root = {"id": "sub", "kind": "sub_dispatch", "sub_dispatch": sub}
    picture = picture_of(ir.PlanTree.from_json(json.dumps({"id": "p", "v": "mcl/0.1", "root": root})))
    assert "skill files-find@abababababab" in picture.boxes[0].lines
