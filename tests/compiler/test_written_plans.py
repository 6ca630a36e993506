"""A plan that a model writes: of its skill's own tools, held against them, signed by who has read it."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from executor import Home, LifecycleError
from executor.walker.interfaces import FailureMode
from ir import Intent, OutputRef, check_plan, parse_references, with_hash
from ir.frame import Frame, SlotEntry
from mcl import accept, replay, run
from mcl.catalog.tools import registry
from mcl.compiler.compiler import Clarify, Compiled, Refused, compile_goal, recompile_with_answers
from mcl.compiler.plan_writing import PlanOrigin, plan_form, write_plan
from mcl.language.mtx.core import Core
from mcl.language.plans.binding import Bindings
from mcl.language.skills import Skill, find_skills, load_skill
from mcl.model import load_model
from mcl.model.chat import ChatModel
from mcl.model.protocol import Candidate, Choice, PlanForm
from mcl.usecases.critic import Trouble
from mcl.usecases.rewriter import PlanRewriter
from tests.compiler.conftest import AT, Scripted
from tests.model.random_gguf import small_words, write_gguf

TOOLS = registry()
URIS = [manifest.uri for manifest in TOOLS.manifests]
WRITE, READ = "matrix://tool/fs/write@1.0.0", "matrix://tool/fs/read@1.0.0"
ORIGIN = PlanOrigin("0" * 26, AT, "did:key:agent")
CHAT_TEMPLATE = "{% for m in messages %}{{ m.role }}: {{ m.content }}\n{% endfor %}assistant: "
SKILL = """§SKILL
id=keep
version=1.0.0
display="Keep notes"
author=test
description="Keeps what is said in a file"
mcl.verbs={verbs}

§INPUTS
slot file: string
  required
slot what: string
  optional
slot times: string
  optional

§CORTEX
none

§TOOLS
{tools}

§SUB_SKILLS
none

§PROCEDURE
none

§OUTPUTS
none

§FAILURE_MODES
none
"""


def skill_of(folder: Path, tools: list[str], verbs: str = "build modify find") -> Skill:
    (folder / "keep").mkdir(parents=True, exist_ok=True)
    named = "\n".join(tools) or "none"
    (folder / "keep" / "SKILL.mtx").write_text(SKILL.format(tools=named, verbs=verbs))
    return load_skill(folder / "keep")


def intent_of(prose: str, verb: str, **slots: str) -> Intent:
    objects = tuple(SlotEntry(name=name, value=value) for name, value in slots.items())
    draft = Intent(
        id="0" * 26, actor="did:key:user", agent="did:key:agent", prose=prose, state="proposed",
        created_at=AT, frame=Frame(verb=verb, objects=objects),
    )  # fmt: skip
    return with_hash(draft)


def answer(*items: Any) -> str:
    return json.dumps(items, ensure_ascii=False, separators=(",", ":"))


def keep(node: str = "n1", **args: Any) -> dict[str, Any]:
    return {"id": node, "tool": WRITE, "args": {"path": {"from": "slot.file"}, "content": "milk", **args}}


@dataclass
class Writer(Scripted):
    """Chooses and extracts as it is told, and writes these plans in turn, or what other weights write."""

    skill: str | None = "keep"
    verb: str = "build"
    plans: list[str] = field(default_factory=list)
    weights: ChatModel | None = None
    forms: list[PlanForm] = field(default_factory=list)
    writes_plans: bool = True
    plan_grammar: str = "plan_tree@1 sha256:" + "0" * 64

    def write_plan(self, prose: str, form: PlanForm) -> str:
        self.forms.append(form)
        if self.weights is not None:
            return self.weights.write_plan(prose, form)
        return self.plans[min(len(self.forms), len(self.plans)) - 1]


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> list[ChatModel]:
    """Chat models with random weights."""
    folder, words = (
        tmp_path_factory.mktemp("chat"),
        small_words(control=("<|end|>", "<|im_start|>", "<|im_end|>")),
    )
    made = []
    for seed in range(4):
        path = folder / f"{seed}.gguf"
        write_gguf(path, words, seed=seed, context=8192, extra={"tokenizer.chat_template": CHAT_TEMPLATE})
        model = load_model(path, home_path=None)
        assert isinstance(model, ChatModel)
        made.append(model)
    return made


WORDS = [
    "milk",
    "a.txt",
    "${n1.output}",
    "notes",
    "7",
    "“x”",
    '"y"',
    "\\",
    "för",
    "漢字",
    "3.5",
    "{9}",
    "$",
    "true",
]
PROSE = st.lists(st.sampled_from(WORDS), min_size=1, max_size=12).map(" ".join)


@settings(max_examples=8)  # each is a few writings of a model
@given(
    seed=st.integers(0, 3),
    tools=st.lists(st.sampled_from(URIS), min_size=1, max_size=5, unique=True),
    verb=st.sampled_from(["build", "find", "deliver", "schedule"]),
    prose=PROSE,
    filled=st.dictionaries(st.sampled_from(["file", "what", "times"]), PROSE, max_size=3),
    nodes=st.integers(1, 6),
)
def test_whatever_the_weights_and_the_skill_a_plan_holds_or_there_is_none(
    models: list[ChatModel], tmp_path_factory: pytest.TempPathFactory, seed: int, tools: list[str], verb: str,
    prose: str, filled: dict[str, str], nodes: int,
) -> None:  # fmt: skip
    skill = skill_of(tmp_path_factory.mktemp("skill"), tools, "build find deliver schedule")
    intent = intent_of(prose, verb, **filled)
    writer = Writer(weights=models[seed])
    made = write_plan(writer, skill, intent, ORIGIN, TOOLS, nodes=nodes, repairs=2)
    assert len(made.attempts) <= 3
    for attempt in made.attempts:
        items = json.loads(attempt.said)
        written = [node for item in items for node in (item if isinstance(item, list) else [item])]
        assert 1 <= len(written) <= nodes
        assert {node["tool"] for node in written if "tool" in node} <= set(tools)
    if made.plan is None:
        assert made.why
        assert all(attempt.flaws for attempt in made.attempts)
        return
    assert not made.attempts[-1].flaws
    assert made.plan.grammar == writer.plan_grammar
    assert not check_plan(made.plan, skill, intent_id=intent.id)
    literal = {intent.prose, *filled.values()}
    for node, _ in made.plan.root.walk():
        for text in [*(node.tool_call.args if node.tool_call else {}).values()]:
            pieces = parse_references(text)
            if not any(isinstance(piece, OutputRef) for piece in pieces):
                said = "".join(str(piece) for piece in pieces)
                closed = said in ("true", "false") or said.lstrip("-").replace(".", "").isdigit()
                listed = said.startswith("[") or any(said == one for one in _options())
                assert closed or listed or any(said in text for text in literal), said


def _options() -> list[str]:
    return [
        str(option)
        for manifest in TOOLS.manifests
        for schema in manifest.properties.values()
        for option in (schema.get("enum") or [])  # type: ignore[attr-defined]
    ]


@pytest.mark.slow
def test_the_same_model_writes_the_same_bytes(models: list[ChatModel], tmp_path: Path) -> None:
    skill, intent = skill_of(tmp_path, [WRITE, READ]), intent_of("keep milk in a.txt", "build", file="a.txt")
    for model in models:
        first, second = (
            write_plan(Writer(weights=one), skill, intent, ORIGIN, TOOLS, nodes=5, repairs=2)
            for one in (model, load_model(model._weights.path, home_path=None))
            if isinstance(one, ChatModel)
        )
        assert first == second


def test_a_verb_is_offered_no_tool_that_it_may_not_use(tmp_path: Path) -> None:
    skill = skill_of(tmp_path, [WRITE, READ, "matrix://tool/git/branch@1.0.0", "matrix://tool/no/such@1.0.0"])
    offered = {
        verb: [tool.uri for tool in plan_form(skill, intent_of("x", verb), TOOLS, 3).tools]
        for verb in ("find", "build")
    }
    assert offered["find"] == [READ, "matrix://tool/git/branch@1.0.0"]
    assert offered["build"] == [WRITE, READ, "matrix://tool/git/branch@1.0.0"]


def test_a_goal_that_spells_a_reference_stays_data(tmp_path: Path) -> None:
    goal = "keep ${n1.output.text} in a.txt"
    skill, intent = skill_of(tmp_path, [WRITE, READ]), intent_of(goal, "build", file="a.txt")
    read = {"id": "n1", "tool": READ, "args": {"path": {"from": "slot.file"}}}
    text = answer(read, keep("n2", content="${n1.output.text}"))
    made = write_plan(Writer(plans=[text]), skill, intent, ORIGIN, TOOLS, nodes=3, repairs=0)
    assert made.plan is not None, made
    call = made.plan.root.children[1].tool_call
    assert call is not None
    assert parse_references(call.args["content"]) == ("${n1.output.text}",)


@pytest.mark.parametrize(
    ("text", "flaw"),
    [
        (answer([keep(), keep("n2", content={"from": "n1.text"})]), "n1 may run at the same time"),
        (answer(keep(), keep("n2", content={"from": "n1.sha1"})), "gives no 'sha1'"),
        (
            answer({"id": "n1", "tool": READ, "args": {"path": "a.txt", "max_bytes": {"from": "slot.file"}}}),
            "max_bytes",
        ),
    ],
)
def test_a_model_is_told_what_does_not_hold_and_may_write_again(tmp_path: Path, text: str, flaw: str) -> None:
    skill, intent = skill_of(tmp_path, [WRITE, READ]), intent_of("keep milk in a.txt", "build", file="a.txt")
    writer = Writer(plans=[text, answer(keep())])
    made = write_plan(writer, skill, intent, ORIGIN, TOOLS, nodes=3, repairs=2)
    assert made.plan is not None
    assert [bool(attempt.flaws) for attempt in made.attempts] == [True, False]
    assert flaw in made.attempts[0].flaws[0]
    assert writer.forms[0].earlier == ()
    assert writer.forms[1].earlier == ((text, made.attempts[0].flaws),)


@pytest.fixture
def shelf(tmp_path: Path) -> Path:
    skill_of(tmp_path / "skills", [WRITE, READ])
    return tmp_path / "skills"


GOAL = "keep milk in a.txt"
SAYS: dict[str, Any] = {"slot.file": "a.txt"}


def test_a_written_plan_is_for_review_signed_by_its_hash_run_and_made_again(
    home: Home, shelf: Path, core: Core, tmp_path: Path
) -> None:
    model = Writer(plans=[answer([keep(), keep("n2", content={"from": "n1"})]), answer(keep())], says=SAYS)
    made = compile_goal(GOAL, home=home, skills=find_skills([shelf]), core=core, model=model, tools=registry)
    assert isinstance(made, Compiled)
    assert made.plan is not None
    assert made.review
    assert "a model wrote this plan" in made.advice
    rows = home.journal.rows(made.intent.id)
    assert [row.kind for row in rows] == ["intent.draft", "record.plan", "intent.compiled", "plan.proposed"]
    kept = home.journal.open(rows[1].wire).body
    assert [one["said"] for one in kept["attempts"]] == model.plans
    assert home.journal.verify().ok
    with pytest.raises(LifecycleError) as refused:
        accept(made.intent.id, home=home)
    assert refused.value.code == "PLAN_UNREAD"
    accept(made.intent.id, home=home, plan_hash=made.plan.hash)
    work = tmp_path / "work"
    work.mkdir()
    outcome = run(made.intent.id, home=home, workspace=work, skills=[shelf])
    assert outcome.state == "completed", outcome.failure
    assert (work / "a.txt").read_text() == "milk"
    model.forms.clear()
    again = {
        item.name: item
        for item in replay(made.intent.id, home=home, model=_Twice(model), skills=[shelf]).items
    }
    assert again["plan"].verdict == "same", again["plan"]
    blind = {
        item.name: item
        for item in replay(made.intent.id, home=home, model=Scripted(says=SAYS), skills=[shelf]).items
    }
    assert blind["plan"].verdict == "not available"


class _Two(Writer):
    """Hears a further wish behind "and then"; one to order is for the skill of orders, which has a plan."""

    def choose(self, prose: str, candidates: Sequence[Candidate]) -> Choice:
        self.skill, self.verb = ("order", "acquire") if prose.startswith("order") else ("keep", "build")
        found, (first, then, _) = super().choose(prose, candidates), prose.partition("and then ")
        return replace(found, begins=(len(first + then),)) if then else found

    def write_plan(self, prose: str, form: PlanForm) -> str:
        return answer(keep(content=prose.split()[1]))


def of_two(further: str, home: Home, folders: list[Path], core: Core) -> tuple[str, Compiled | Clarify]:
    goal = f"keep milk in a.txt and then {further}"
    says = {**SAYS, "slot.item": "paper"}
    model, skills = _Two(says=says, quotes=True), find_skills(folders)
    made = compile_goal(goal, home=home, skills=skills, core=core, model=model, tools=registry)
    assert isinstance(made, Compiled | Clarify), made
    return made.intent.id, made


def test_a_wish_that_a_written_plan_leaves_out_is_asked_about_before_anybody_signs(
    home: Home, shelf: Path, core: Core, tmp_path: Path
) -> None:
    id, asked = of_two("keep eggs in b.txt", home, [shelf], core)
    assert isinstance(asked, Clarify)
    (question,) = asked.questions
    assert (question.field, question.required) == ("promise.keep eggs in b.txt", True)
    assert "keep eggs in b.txt" in question.prompt
    made = recompile_with_answers(
        id,
        {question.field: question.options[-1]},
        home=home,
        skills=find_skills([shelf]),
        load_model=lambda: _Two(says=SAYS, quotes=True),
        core=core,
        tools=registry,
    )
    assert isinstance(made, Compiled)
    assert made.plan is not None
    assert made.intent.frame.further == ()
    accept(id, home=home, plan_hash=made.plan.hash)
    (tmp_path / "work").mkdir()
    assert run(id, home=home, workspace=tmp_path / "work", skills=[shelf]).state == "completed"
    assert (tmp_path / "work" / "a.txt").read_text() == "milk"


def test_a_wish_whose_skill_has_a_plan_is_done_after_a_written_one(
    home: Home, shelf: Path, core: Core, tmp_path: Path, skills_folder: Path
) -> None:
    folders = [shelf, skills_folder]
    id, made = of_two("order paper", home, folders, core)
    assert isinstance(made, Compiled), made
    assert made.plan is not None
    accept(id, home=home, plan_hash=made.plan.hash)
    (tmp_path / "work").mkdir()
    outcome = run(id, home=home, workspace=tmp_path / "work", skills=folders)
    assert outcome.state == "completed", outcome.failure
    assert (tmp_path / "work" / "a.txt").read_text() == "milk"
    assert (tmp_path / "work" / "order.txt").read_text() == "paper"


class _Twice(Writer):
    """The same writer, asked for two whole plans: once with the Intent, once for the plan itself."""

    def __init__(self, model: Writer) -> None:
        super().__init__(plans=model.plans, says=model.says)

    def write_plan(self, prose: str, form: PlanForm) -> str:
        return self.plans[len(form.earlier)]


def test_a_plan_that_never_holds_is_refused_and_journalled(home: Home, shelf: Path, core: Core) -> None:
    model = Writer(plans=[answer([keep(), keep("n2", content={"from": "n1"})])], says=SAYS)
    made = compile_goal(GOAL, home=home, skills=find_skills([shelf]), core=core, model=model, tools=registry)
    assert isinstance(made, Refused)
    assert (made.reason, len(made.attempts), len(model.forms)) == ("tool_failure", 3, 3)
    assert "PLAN_UNWRITTEN" in made.message
    assert [row.kind for row in home.journal.rows(made.id)] == ["intent.draft", "record.plan", "intent.fail"]


def test_an_answer_to_a_question_is_followed_by_a_written_plan(home: Home, shelf: Path, core: Core) -> None:
    model, skills = Writer(plans=[answer(keep())]), find_skills([shelf])
    asked = compile_goal("keep milk", home=home, skills=skills, core=core, model=model, tools=registry)
    assert isinstance(asked, Clarify)
    assert not model.forms
    made = recompile_with_answers(
        asked.intent.id,
        {"u1": "b.txt"},
        home=home,
        skills=skills,
        core=core,
        load_model=lambda: model,
        tools=registry,
    )
    assert isinstance(made, Compiled)
    assert made.plan is not None
    assert made.plan.root.tool_call is not None
    assert made.plan.root.tool_call.args == {"path": "b.txt", "content": "milk"}


def test_a_model_that_only_marks_words_says_that_it_writes_no_plans(
    home: Home, shelf: Path, core: Core
) -> None:
    made = compile_goal(
        GOAL,
        home=home,
        skills=find_skills([shelf]),
        core=core,
        model=Scripted(skill="keep", verb="build", says=SAYS),
    )
    assert isinstance(made, Compiled)
    assert made.plan is None
    assert made.no_plan == (
        "the skill keep has no plan.yaml, and scripted/1 writes no plans (a chat model does: mcl model add)"
    )


@pytest.mark.slow
def test_plans_of_random_weights_that_hold_are_walked(
    models: list[ChatModel], home: Home, shelf: Path, core: Core, tmp_path: Path
) -> None:
    """The walker meets what such models write: it completes, or fails with a reason; it never breaks."""
    walked = 0
    for number, (model, goal) in enumerate(
        (one, f"{GOAL} {more}") for one in models for more in ("", "and tea now")
    ):
        writer = Writer(weights=model, says=SAYS)
        skills = find_skills([shelf])
        made = compile_goal(goal, home=home, skills=skills, core=core, model=writer, tools=registry)
        if (
            not isinstance(made, Compiled)
            or made.plan is None
            or any(n.step for n, _ in made.plan.root.walk())
        ):
            continue
        work = tmp_path / str(number)
        work.mkdir()
        (work / "a.txt").write_text("here\n")
        accept(made.intent.id, home=home, plan_hash=made.plan.hash)
        outcome = run(made.intent.id, home=home, workspace=work, skills=[shelf])
        assert outcome.state in ("completed", "failed", "denied")
        assert outcome.state == "completed" or outcome.failure is not None
        walked += 1
    assert walked, "no model wrote a plan of tools alone that holds"


def test_a_plan_that_failed_is_written_anew_by_the_model_that_is_told_so(tmp_path: Path) -> None:
    skill, intent = (
        skill_of(tmp_path, [WRITE]),
        intent_of("keep milk or bread in a.txt", "build", file="a.txt"),
    )
    writer = Writer(plans=[answer(keep()), answer(keep()), answer(keep(content="bread"))])
    made = write_plan(writer, skill, intent, ORIGIN, TOOLS, nodes=3, repairs=2)
    assert made.plan is not None
    home: Any = SimpleNamespace(path=tmp_path / "home")
    node = made.plan.root
    trouble = Trouble(
        *(intent, made.plan, "EXISTS", "'a.txt' is there", False, node, FailureMode(), None, lambda _: True)
    )
    binder = Bindings(find_skills([]))
    rewriter = PlanRewriter(home, TOOLS, lambda: skill, lambda: writer, lambda: binder)
    assert rewriter(trouble) is None  # it wrote the same once more
    again = rewriter(trouble)
    assert again is not None
    assert again.root.tool_call is not None
    assert again.root.tool_call.args["content"] == "bread"
    assert (again.grammar, again.id) == (made.plan.grammar, made.plan.id)
    ((said, (flaw,)),) = writer.forms[-1].earlier
    assert json.loads(said)["id"] == "n1"
    assert "n1: EXISTS: 'a.txt' is there" in flaw
    of_skill = replace(trouble, plan=made.plan.model_copy(update={"grammar": ""}))
    assert rewriter(of_skill) is None
