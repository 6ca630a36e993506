"""A plan that the gate would refuse for its verb is never proposed: the verb is asked for."""

from __future__ import annotations

from mcl import accept, answer, compile_goal, replay, run


def test_a_picture_asked_for_with_a_word_for_looking_asks_for_the_verb_and_then_runs(tmp_path, monkeypatch):
    monkeypatch.setenv("MCL_HOME", str(tmp_path / "home"))
    folder = tmp_path / "work"
    folder.mkdir()
    (folder / "sales.csv").write_text("month,revenue\nJan,10\nFeb,12\n")
    monkeypatch.chdir(folder)
    goal = "analyze sales.csv and put the picture in sales.svg"
    slots = {"file": "sales.csv", "chart": "sales.svg", "kind": "bar", "column": "revenue"}
    asked = compile_goal(goal, ai=False, skill="data-summary", verb="analyze", slots=slots)
    question = next(one for one in asked.questions if one.field == "frame.verb")
    assert set(question.options) == {"build"}
    compiled = answer(asked.intent.id, {question.unknown_id: "build"}, ai=False)
    assert compiled.plan is not None
    accept(compiled.intent.id)
    assert run(compiled.intent.id).state == "completed"
    assert "<svg" in (folder / "sales.svg").read_text()


def test_where_only_one_verb_can_do_what_was_asked_it_is_taken_without_a_question(tmp_path, monkeypatch):
    monkeypatch.setenv("MCL_HOME", str(tmp_path / "home"))
    slots = {"file": "sales.csv", "chart": "sales.svg", "kind": "bar", "column": "revenue"}
    goal = "statistics about sales.csv and a picture in sales.svg"
    compiled = compile_goal(goal, ai=False, skill="data-summary", slots=slots)
    assert compiled.intent.frame.verb == "build"
    assert compiled.plan is not None
    assert replay(compiled.intent.id).same
