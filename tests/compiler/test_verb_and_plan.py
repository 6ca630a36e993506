"""A plan that the gate would refuse for its verb is never proposed: the verb is asked for."""

from __future__ import annotations

from mcl import accept, answer, compile_goal, run


def test_a_report_asked_for_with_the_word_find_asks_for_the_verb_and_then_runs(tmp_path, monkeypatch):
    monkeypatch.setenv("MCL_HOME", str(tmp_path / "home"))
    folder = tmp_path / "work"
    (folder / "notes").mkdir(parents=True)
    (folder / "notes" / "a.txt").write_text("an invoice\n")
    monkeypatch.chdir(folder)
    goal = "find the word invoice in the folder notes and write a report to out.md"
    slots = {"text": "invoice", "folder": "notes", "report": "out.md"}
    asked = compile_goal(goal, ai=False, skill="files", verb="find", slots=slots)
    question = next(one for one in asked.questions if one.field == "frame.verb")
    assert set(question.options) == {"build", "deliver"}
    compiled = answer(asked.intent.id, {question.unknown_id: "build"}, ai=False)
    assert compiled.plan is not None
    accept(compiled.intent.id)
    assert run(compiled.intent.id).state == "completed"
    assert "an invoice" in (folder / "out.md").read_text()
