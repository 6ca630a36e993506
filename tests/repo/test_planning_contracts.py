"""What the pack plans for each intent of the contract."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from shops import asked

from executor.gate.effects import over_ceiling
from executor.gate.references import typed_args
from executor.tools.manifest import Manifest
from ir import Intent, PlanTree, canonical_bytes, check_plan, content_hash
from ir.inline_secrets import find_secret
from mcl.catalog.tools import registry
from mcl.core.errors import RepoError
from mcl.core.repositories import Resolved
from mcl.language.skills import find_skills, load_skill, skill_folders
from mcl.plugins.authoring.checks import validate_skill
from mcl.plugins.repo.contract import COMMANDS, REFUSE, RepoIntent, intent_types, judge
from mcl.plugins.repo.plan import plan_contract
from mcl.plugins.repo.usecases import PACK
from mcl.usecases.packs import PackOrigin

AGENT = "did:key:z6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2doK"
ORIGIN = PackOrigin(
    AGENT, AGENT, "2026-11-22T10:00:00.000Z", "01ARZ3NDEKTSV4RRFFQ69G5FAV", "01ARZ3NDEKTSV4RRFFQ69G5FAW"
)
SHOP = Resolved("shop", Path("/home/ada/shop"))
TOOLS = registry()
SKILL = load_skill(PACK)
PLANS = {
    "help": "repo/help",
    "list_repos": "repo/list",
    "print_cd": "repo/where repo=shop",
    "pwd": "repo/where",
    "repo_tree": "repo/tree limit=5000",
    "git_status": "git/status",
    "git_log": "git/log count=8",
    "grep_repo": "code/search pattern=needle regex=true",
    "repo_status_json": "repo/inspect",
    "switch_repo": "repo/switch repo=shop",
    "run_test": "process/tests",
    "open_editor": "process/editor path=needle",
    "run_mqlaunch": "process/mqlaunch command=doctor",
    "create_branch": "git/checkout name=needle",
}


def contract(intent: str, **more: object) -> RepoIntent:
    """A contract that may be planned."""
    kind = intent_types()[intent]
    repo = "shop" if kind.repo != "unused" else None
    return asked(intent, *("needle" for _ in kind.arguments), **{"repo": repo, **more})


def planned(
    wanted: RepoIntent, *, ripgrep: bool = False, every: bool = False, prose: str = "do it"
) -> tuple[Intent, PlanTree]:
    repository = None if intent_types()[wanted.intent].repo == "unused" else SHOP
    return plan_contract(
        wanted,
        repository,
        prose=prose,
        origin=ORIGIN,
        skill=SKILL,
        tools=TOOLS,
        ripgrep=ripgrep,
        every=every,
    )


def calls(plan: PlanTree) -> list[str]:
    """The calls of a plan in order: "git/log count=8"."""
    found = [node.tool_call for node, _ in plan.root.walk() if node.tool_call is not None]
    return [
        " ".join([one.tool_ref[14:].split("@")[0], *(f"{k}={v}" for k, v in sorted(one.args.items()))])
        for one in found
    ]


def test_every_intent_but_refuse_has_a_plan() -> None:
    assert set(PLANS) == set(intent_types()) - {REFUSE}


@pytest.mark.parametrize("intent", PLANS)
def test_an_intent_becomes_just_its_call(intent: str) -> None:
    made, plan = planned(contract(intent))
    assert calls(plan) == [PLANS[intent]]
    assert check_plan(plan, SKILL, intent_id=made.id) == []
    assert (made.hash, plan.hash) == (content_hash(made), content_hash(plan))


@pytest.mark.parametrize("intent", PLANS)
def test_the_verb_and_the_declared_class_cover_what_the_call_does(intent: str) -> None:
    made, plan = planned(contract(intent))
    (call,) = [node.tool_call for node, _ in plan.root.walk() if node.tool_call is not None]
    manifest = TOOLS.find(call.tool_ref)
    assert isinstance(manifest, Manifest)
    effect = manifest.effect(typed_args(dict(call.args), manifest, {}), lambda path: True)
    assert not over_ceiling(made.frame.verb, call.side_effect_class, effect.operation)
    assert intent_types()[intent].effect != "read-only" or effect.operation == "read"


def test_the_intent_holds_the_contract_and_the_words_that_were_used() -> None:
    made, _ = planned(contract("grep_repo"), prose="sök needle")
    objects = {entry.name: entry.value for entry in made.frame.objects}
    assert made.prose == "sök needle"
    assert json.loads(objects["contract"])["args"] == ["needle"]
    assert (objects["repo"], objects["folder"]) == ("shop", "/home/ada/shop")


def test_the_same_contract_is_planned_to_the_byte_the_same() -> None:
    first, second = planned(contract("create_branch")), planned(contract("create_branch"))
    assert [canonical_bytes(one) for one in first] == [canonical_bytes(one) for one in second]


def test_the_pack_is_a_clean_skill_of_all_intents_and_commands() -> None:
    validated = validate_skill(PACK, tools=TOOLS)
    assert [finding for file in validated for finding in file.findings] == []
    options = {slot.name: slot.options for slot in SKILL.slots}
    assert set(options["intent"]) == set(PLANS)
    assert options["command"] == COMMANDS


def test_no_goal_that_is_compiled_can_choose_the_pack() -> None:
    shipped = find_skills(skill_folders(None))
    assert SKILL.id not in shipped.ids
    assert not shipped.broken


def test_a_query_that_is_no_expression_is_looked_for_as_a_text_whoever_searches() -> None:
    wanted = asked("grep_repo", "print(", repo="shop")
    for ripgrep in (False, True):
        assert calls(planned(wanted, ripgrep=ripgrep)[1]) == ["code/search pattern=print("]


def test_ripgrep_searches_where_it_may() -> None:
    assert calls(planned(contract("grep_repo"), ripgrep=True)[1]) == ["code/grep query=needle"]


@settings(max_examples=40)
@given(st.text(min_size=1, max_size=40).filter(lambda text: text.strip() and text.isprintable()))
def test_a_query_reaches_the_tool_as_it_was_written(query: str) -> None:
    wanted = asked("grep_repo", query, repo="shop")
    if judge(wanted) is not None or find_secret("", query):
        return
    _, plan = planned(wanted)
    (call,) = [node.tool_call for node, _ in plan.root.walk() if node.tool_call is not None]
    assert typed_args(dict(call.args), TOOLS.find(call.tool_ref), {})["pattern"] == query


def test_a_query_that_looks_like_a_reference_is_a_text() -> None:
    _, plan = planned(asked("grep_repo", "${tests.output.text}", repo="shop"))
    (call,) = [node.tool_call for node, _ in plan.root.walk() if node.tool_call is not None]
    assert typed_args(dict(call.args), TOOLS.find(call.tool_ref), {})["pattern"] == "${tests.output.text}"


def gated(plan: PlanTree) -> bool:
    """Whether a gate stands just before every call."""
    order = [node.kind for node, _ in plan.root.walk() if not node.children]
    return all(order[at - 1] == "gate" for at, kind in enumerate(order) if kind == "tool_call" and at) and (
        order[0] == "gate"
    )


@pytest.mark.parametrize("intent", PLANS)
def test_with_confirm_a_gate_stands_before_every_call_and_else_only_before_a_branch(intent: str) -> None:
    assert gated(planned(contract(intent), every=True)[1])
    assert gated(planned(contract(intent))[1]) == (intent == "create_branch")
    assert gated(planned(contract(intent, requires_confirmation=True))[1])


def test_a_branch_is_asked_about_once_even_with_confirm() -> None:
    _, plan = planned(contract("create_branch"), every=True)
    assert [node.kind for node, _ in plan.root.walk()] == ["sequential", "gate", "tool_call"]


def test_the_question_says_branch_repository_and_folder_in_the_language_of_the_prompt() -> None:
    def question(message: str, prose: str = "make it") -> str:
        _, plan = planned(replace(contract("create_branch"), message=message), prose=prose)
        return next(node.gate.question for node, _ in plan.root.walk() if node.gate is not None)

    assert question("") == "Create the branch needle in shop (/home/ada/shop) and switch to it?"
    swedish = "Skapa grenen needle i shop (/home/ada/shop) och byta till den?"
    assert (question("Skapar branch."), question("", "gör en ny gren needle")) == (swedish, swedish)


def test_the_question_tells_risk_and_way_back_as_the_words_of_the_contract() -> None:
    wanted = contract("create_branch", risk_level="low", rollback_plan="git branch -D ${agree.output.answer}")
    _, plan = planned(wanted)
    question = next(node.gate.question for node, _ in plan.root.walk() if node.gate is not None)
    assert "\nrisk, as it says: low" in question
    assert "git branch -D $${agree.output.answer}" in question  # a text, not a reference


def test_no_words_of_a_contract_push_the_question_out_of_sight() -> None:
    flood = "\n" * 5000 + "x\u2028" * 5000
    _, plan = planned(asked("create_branch", "fix/x", risk_level=flood, rollback_plan=flood))
    (question,) = (node.gate.question for node, _ in plan.root.walk() if node.gate is not None)
    assert len(question.splitlines()) == 3
    assert len(question) < 1000


@pytest.mark.parametrize("place", ["prose", "query"])
def test_what_looks_like_a_key_is_refused_before_it_is_written(place: str) -> None:
    key = "ghp_" + "a1B2" * 9
    wanted = asked("grep_repo", key if place == "query" else "x", repo="shop")
    with pytest.raises(RepoError) as refused:
        planned(wanted, prose=f"search {key}" if place == "prose" else "search")
    assert (refused.value.code, refused.value.exit) == ("SECRET_INLINE", 2)
    assert key not in str(refused.value)
