"""`mcl do`: one step from words to what they ask for, at a terminal, in scripts, and from the library."""

from __future__ import annotations

import anyio
import pytest

import mcl as library
from ir import MclError
from mcl.cli.main import INTERRUPTED
from mcl.core.text import edits
from mcl.usecases.do import UNSIGNED
from tests.cli.skill_writing import SKILL
from tests.cli.test_cli_terminal import Terminal
from tests.conftest import make_home

NOTE = ("do", "add milk to shopping.md", "--no-ai", "--skill", "note-write", "--verb", "build")
NOTE = (*NOTE, "--slot", "note=milk", "--slot", "file=shopping.md")
READ = (
    "--no-ai",
    "--skill",
    "files-find",
    "--verb",
    "find",
    "--slot",
    "text=invoice",
    "--slot",
    "folder=notes",
)
READ = ("do", "find the word invoice in the folder notes", *READ)
DELETE = """\
version: 1
plans:
  - root:
      id: gone
      kind: tool_call
      tool_call:
        tool_ref: matrix://tool/fs/delete@1.0.0
        side_effect_class: write
        args: {path: "${slot.file}"}
"""


def typing(mcl, *words: str) -> Terminal:
    """A command at a terminal, in a home whose person sits nowhere else."""
    make_home(mcl.home)
    return Terminal(mcl, *words)


def last(mcl):
    return mcl("show", "@last", "--json").document


def unsigned(mcl) -> list[tuple[str, str]]:
    """Code and reason of what was not signed, as the journal has it."""
    rows = mcl("log", "@last", "--json").document["rows"]
    kept = [mcl("log", str(row["row"]), "--json").document for row in rows if row["kind"] == UNSIGNED]
    return [(one["body"]["code"], one["body"]["why"]) for one in kept]


@pytest.fixture
def deleting(mcl) -> tuple[str, ...]:
    """A goal that deletes a file of the folder."""
    folder = mcl.home / "skills" / "drop-page"
    folder.mkdir(parents=True)
    text = SKILL.replace("read-page", "drop-page").replace("mcl.verbs=find", "mcl.verbs=modify")
    text = text[: text.index("slot size")] + text[text.index("\n§CORTEX") :]
    (folder / "SKILL.mtx").write_text(text.replace("tool/fs/read@", "tool/fs/delete@"))
    (folder / "plan.yaml").write_text(DELETE)
    assert mcl("skill", "check", str(folder)).code == 0
    said = ("do", "drop the page notes/tuesday.md", "--no-ai", "--skill", "drop-page", "--verb", "modify")
    return (*said, "--slot", "file=notes/tuesday.md")


def test_what_only_reads_runs_at_once_and_is_signed_unseen(mcl):
    done = typing(mcl, *READ)
    assert done.end() == 0, done.seen
    assert "notes/monday.txt:2" in done.seen
    assert "ran at once" in done.seen
    assert "Sign and run" not in done.seen
    assert [one["kind"] for one in last(mcl)["unseen"]] == ["intent.accept"]


def test_what_only_reads_is_asked_about_where_the_person_chose_so(mcl):
    assert mcl("config", "set", "do.reads", "ask").code == 0
    asked = typing(mcl, *READ)
    asked.until("hy > ")
    assert "notes/monday.txt" not in asked.seen
    asked.type("\n")
    assert asked.end() == 0
    assert "notes/monday.txt:2" in asked.seen


def test_a_yes_signs_what_was_shown_and_runs_it(mcl):
    asked = typing(mcl, *NOTE)
    asked.until("hy > ")
    assert "plan hash" in asked.seen
    assert not (mcl.folder / "shopping.md").exists()
    for word, told in (("what?", "none of the answers"), ("w", "confidence.mtx")):
        asked.seen = ""  # what is typed before the next question is shown counts for nothing
        asked.type(f"{word}\n")
        asked.until("hy > ")
        assert told in asked.seen
    asked.type("Y\n")
    assert asked.end() == 0, asked.seen
    assert (mcl.folder / "shopping.md").read_text() == "- milk\n"
    assert "mcl undo" in asked.seen
    assert mcl("replay", "@last").code == 0


@pytest.mark.parametrize("word", ["n\n", "nej\n", "\x04"], ids=["no", "nej", "ctrl-d"])
def test_a_no_signs_nothing_and_the_journal_says_so(mcl, word):
    asked = typing(mcl, *NOTE)
    asked.until("hy > ")
    asked.type(word)
    assert asked.end() == 4
    assert last(mcl)["state"] == "proposed"
    assert unsigned(mcl) == [("NOT_SIGNED", "the person did not agree")]
    assert not (mcl.folder / "shopping.md").exists()


def test_ctrl_c_at_the_question_leaves_nothing_signed(mcl):
    asked = typing(mcl, *NOTE)
    asked.until("hy > ")
    assert asked.interrupt() == INTERRUPTED
    assert "Traceback" not in asked.seen
    assert last(mcl)["state"] == "proposed"
    assert unsigned(mcl) == [("NOT_SIGNED", "interrupted before anything was signed")]


def test_a_goal_can_be_said_otherwise_at_the_question(mcl):
    asked = typing(mcl, "do", "add milk to shopping.md", "--no-ai", "--skill", "note-write")
    asked.until("hy > ")
    asked.type("e\n")
    asked.until("say it otherwise > ")
    asked.seen = ""
    asked.type("\x15add tea to shopping.md\n")  # Ctrl-U clears the line
    asked.until("hy > ")
    assert asked.interrupt() == INTERRUPTED
    assert "add tea to shopping.md" in last(mcl)["prose"]


def test_questions_of_the_compiler_are_asked_on_the_way(mcl):
    asked = typing(mcl, "do", "write a report", "--no-ai", "--skill", "files-report", "--verb", "deliver")
    asked.until("Which new file should the report be written to")
    asked.until("> ")
    assert asked.interrupt() == INTERRUPTED
    assert last(mcl)["state"] == "clarifying"


@pytest.mark.parametrize("word", ["approve", "y"])
def test_one_word_other_than_y_approves_just_the_irreversible_call_that_is_named(mcl, deleting, word):
    asked = typing(mcl, *deleting)
    asked.until("hy > ")
    assert "IRREVERSIBLE" in asked.seen
    asked.type(f"{word}\n")
    if word == "y":
        asked.until("no answer refuses")
        asked.type("deny\n")
    assert asked.end() == (0 if word == "approve" else 4), asked.seen
    assert (mcl.folder / "notes" / "tuesday.md").exists() == (word == "y")
    rows = [row["kind"] for row in mcl("log", "@last", "--json").document["rows"]]
    assert rows.count("policy.gate") == rows.count("policy.gate.resolve") == 1


def test_enter_alone_never_agrees_to_what_is_irreversible(mcl, deleting):
    asked = typing(mcl, *deleting)
    asked.until("hy > ")
    asked.type("\n")
    assert asked.end() == 4
    assert (mcl.folder / "notes" / "tuesday.md").exists()


def test_without_a_terminal_it_compiles_and_signs_nothing(mcl):
    for words in (NOTE, READ):
        piped = mcl.other(*words, stdin=b"y\ny\n")
        assert piped.code == 0
        assert "mcl accept 0" in piped.out
        assert last(mcl)["state"] == "proposed"
    document = mcl(*NOTE, "--json").document
    assert (document["status"], last(mcl)["state"]) == ("compiled", "proposed")
    assert mcl("do", "write a report", "--no-ai", "--skill", "files-report", "--verb", "deliver").code == 3
    assert mcl("do", "how are you").code == 4
    assert not (mcl.folder / "shopping.md").exists()


def test_yes_signs_unseen_but_nothing_that_is_to_be_read_with_care(mcl, deleting):
    done = mcl(*NOTE, "--yes", "--json")
    assert (done.code, done.document["outcome"]["state"]) == (0, "completed")
    assert (mcl.folder / "shopping.md").exists()
    careful = mcl(
        "do", "polish my shoes until they shine", "--no-ai", "--skill", "general", "--verb", "build", "--yes"
    )
    assert careful.code == 3, careful.out + careful.err
    assert (last(mcl)["state"], unsigned(mcl)[0][0]) == ("proposed", "NEEDS_REVIEW")
    assert mcl(*deleting, "--yes").code == 4  # nobody approves the call
    assert (mcl.folder / "notes" / "tuesday.md").exists()


def test_what_the_gate_would_refuse_is_not_asked_about(mcl):
    assert mcl("grant", "remove", "write").code == 0
    asked = typing(mcl, *NOTE)
    assert asked.end() == 4
    assert "hy > " not in asked.seen
    assert last(mcl)["state"] == "proposed"
    [(code, why)] = unsigned(mcl)
    assert code in asked.seen
    assert why


def test_words_that_begin_with_no_command_are_a_goal_and_a_slip_is_a_slip(mcl):
    said = mcl("which files in notes mention invoice", "--json", "--no-ai", *READ[2:7])
    assert (said.code, said.document["status"]) == (0, "compiled")
    for words, near in ((["lsit"], "list"), (["shwo", "@last"], "show"), (["compil"], "compile")):
        slip = mcl(*words)
        assert (slip.code, f"did you mean mcl {near}?" in slip.err) == (2, True)
    assert mcl("show", "@last", "--json").document["id"] == said.document["id"]  # none of them was a goal
    assert [edits("list", one, 2) for one in ("list", "lits", "lst", "mist", "toast", "")] == [
        0,
        1,
        1,
        1,
        3,
        3,
    ]


def test_the_library_does_it_too(mcl):
    given = {"skill": "note-write", "verb": "build", "slots": {"note": "tea", "file": "tea.md"}, "ai": False}
    left = library.do("add tea to tea.md", **given)
    assert (left.exit, left.code, left.signed) == (4, "NOT_SIGNED", None)
    seen = []

    def agree(proposal):
        seen.append((proposal.planned.plan.hash, proposal.only_reads))
        return "yes"

    done = anyio.run(lambda: library.aio.do("add tea to tea.md", agree=agree, **given))
    assert (done.exit, done.outcome.state) == (0, "completed")
    assert seen == [(done.signed.plan_hash, False)]
    assert (mcl.folder / "tea.md").read_text() == "- tea\n"


def test_settings_are_chosen_listed_and_read_from_their_file(mcl):
    assert mcl("config", "get", "do.reads", "--json").document["value"] == "run"
    for name, value in (
        ("do.reads", "ask"),
        ("language", "sv"),
        ("zone", "Asia/Tokyo"),
        ("colours", "never"),
    ):
        assert mcl("config", "set", name, value).code == 0
    assert mcl("config", "set", "model", "no-ai").code == 0
    listed = {one["name"]: one["value"] for one in mcl("config", "list", "--json").document["settings"]}
    chosen = {"do.reads": "ask", "language": "sv", "zone": "Asia/Tokyo", "colours": "never", "model": "no-ai"}
    assert listed == chosen
    assert mcl("config", "zone", "--json").document == {"zone": "Asia/Tokyo", "chosen": True}
    asked = typing(mcl, *NOTE)
    asked.until("arför > ")
    asked.type("nej\n")
    assert asked.end() == 4
    for wrong in (("do.reads", "maybe"), ("zone", "Atlantis"), ("nothing", "x"), ("model", "none")):
        assert mcl("config", "set", *wrong).code == 2
    assert mcl("config", "set", "do.reads", "").code == 0
    file = mcl.home / "config.toml"
    assert 'language = "sv"' in file.read_text()
    for broken in ("language = 5", "nonsense = 'x'", "[", "language = 'ru'", "x" * 70_000):
        file.write_text(broken)
        refused = mcl("config", "list")
        assert (refused.code, "CONFIG_BROKEN" in refused.err) == (2, True)


def test_a_broken_goal_is_told_and_signs_nothing(mcl):
    with pytest.raises(MclError, match="empty"):
        library.do("  ")
    assert mcl("do", "").code == 2
    assert mcl("do", "x" * 40_000).code == 2
