"""compile_goal: each outcome, what it says and what it leaves in the journal."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path

import pytest

from executor import Home
from ir import Budget, Intent, canonical_bytes, content_hash, derive_seed
from mcl.compiler.compiler import Clarify, Compiled, Refused, compile_goal
from mcl.core.errors import InputError
from mcl.language.mtx.core import Core
from mcl.language.skills import find_skills
from mcl.memory import MemoryStore
from mcl.model.cues import load_cues
from mcl.model.protocol import Candidate, ExtractForm, Span
from tests.compiler.conftest import AT, LOOK, ORDER, Compile, Scripted


def kinds(home: Home) -> list[str]:
    return [row.kind for row in home.journal.rows()]


def test_a_clear_goal_becomes_a_signed_intent_and_a_plan_in_one_go(home: Home, compiles: Compile) -> None:
    model = Scripted(says={"slot.item": "paper", "budget": "$500", "deadline": "friday"})
    outcome = compiles("order paper under $500 by friday", model)
    assert isinstance(outcome, Compiled)
    intent = outcome.intent
    assert intent.frame.model_dump(exclude_defaults=True) == {
        "verb": "acquire",
        "objects": (
            {"name": "item", "value": "paper", "type": "string"},
            {"name": "speed", "value": "standard", "type": "enum"},
        ),
        "constraints": (
            {"hard": True, "max": {"asset": "USD", "amount": "500"}},
            {"hard": True, "by": "2026-11-27T23:59:59.000Z"},
        ),
    }
    assert (intent.state, outcome.review, intent.unknowns) == ("proposed", False, ())
    assert intent.budget == Budget(max_cost={"asset": "USD", "amount": "500"})  # type: ignore[arg-type]  # pydantic reads it
    assert intent.deadline == "2026-11-27T23:59:59.000Z"
    assert intent.hash == content_hash(intent)
    assert intent.signed_by == home.keyring.user.verify_key.hex()
    assert outcome.plan is not None
    assert outcome.plan.intent_id == intent.id
    assert kinds(home) == ["intent.draft", "intent.compiled", "plan.proposed"]
    view = home.journal.view(intent.id)
    assert (view.state, view.intent, view.plan) == ("proposed", intent, outcome.plan)
    assert home.journal.verify().ok


def test_the_intent_records_all_that_it_depends_on(home: Home, compiles: Compile) -> None:
    outcome = compiles("order paper", Scripted(says={"slot.item": "paper"}))
    assert isinstance(outcome, Compiled)
    metadata = outcome.intent.compile_metadata
    assert metadata is not None
    assert (metadata.model_digest, metadata.model_version) == ("d" * 64, "scripted/1")
    assert metadata.grammar == f"none; cues sha256:{load_cues().digest}"  # patterns count beside the model
    assert (metadata.skill_id, metadata.skill_version) == ("order", "1.2.0")
    assert metadata.cortex_snapshot_hash == "0" * 64
    assert (outcome.intent.actor, outcome.intent.agent) == (home.keyring.user.did, home.keyring.agent.did)
    assert (
        metadata.seed
        == derive_seed(
            intent_id=outcome.intent.id,
            actor=outcome.intent.actor,
            snapshot_hash="0" * 64,
            mtx_digest=metadata.mtx_digest,
            model_digest="d" * 64,
        ).hex
    )


def test_each_thing_found_has_its_place_in_the_prose(compiles: Compile) -> None:
    outcome = compiles("  order\tpaper  under $500 ", Scripted(says={"slot.item": "paper", "budget": "$500"}))
    assert isinstance(outcome, Compiled)
    assert outcome.intent.prose == "order paper under $500"
    marks = outcome.intent.compile_metadata.spans  # type: ignore[union-attr]  # a compile always has it
    said = {mark.field: outcome.intent.prose[mark.start : mark.end] for mark in marks}
    assert said == {"frame.objects[0]": "paper", "frame.constraints[0]": "$500"}


def test_the_same_goal_with_the_same_id_and_time_gives_the_same_bytes(compiles: Compile) -> None:
    def once() -> bytes:
        outcome = compiles(
            "order paper",
            Scripted(says={"slot.item": "paper"}),
            at=AT,
            id="01M7YRRT830000000000000099",
            store=False,
        )
        assert isinstance(outcome, Compiled)
        assert outcome.plan is not None
        return canonical_bytes(outcome.intent) + canonical_bytes(outcome.plan)

    assert once() == once()


def test_a_dry_run_stores_nothing(home: Home, compiles: Compile) -> None:
    said = Scripted(says={"slot.item": "paper"})
    assert isinstance(compiles("order paper", said, store=False), Compiled)
    assert isinstance(compiles("order", Scripted(), store=False), Clarify)
    assert isinstance(compiles("sing", Scripted(skill=None), store=False), Refused)
    assert kinds(home) == []


def test_a_goal_that_no_skill_does_is_refused_with_the_nearest_skills(home: Home, compiles: Compile) -> None:
    outcome = compiles("sing a song", Scripted(skill=None, verb=""))
    assert isinstance(outcome, Refused)
    assert (outcome.reason, set(outcome.nearest)) == ("out_of_scope", {"order", "look"})
    assert kinds(home) == ["intent.draft", "intent.fail"]
    view = home.journal.view(outcome.id)
    assert (view.state, view.reason) == ("failed", "out_of_scope")


def test_a_required_slot_that_is_not_said_is_asked_for_as_the_skill_words_it(
    home: Home, compiles: Compile
) -> None:
    outcome = compiles("order", Scripted())
    assert isinstance(outcome, Clarify)
    assert outcome.intent.state == "clarifying"
    assert [(u.id, u.field, u.severity) for u in outcome.intent.unknowns] == [("u1", "slot.item", "blocking")]
    question = outcome.questions[0]
    assert (question.unknown_id, question.prompt, question.required) == (
        "u1",
        "What should be ordered?",
        True,
    )
    assert kinds(home) == ["intent.draft", "intent.clarify", "record.compile"]
    assert home.journal.view(outcome.intent.id).state == "clarifying"


def test_a_skill_may_require_an_optional_slot_for_one_verb(compiles: Compile) -> None:
    outcome = compiles("negotiate paper", Scripted(verb="negotiate", says={"slot.item": "paper"}))
    assert isinstance(outcome, Clarify)
    assert [(u.field, u.rationale) for u in outcome.intent.unknowns] == [
        ("slot.supplier", "the goal does not say with whom")
    ]


def test_what_cannot_be_read_is_quoted_and_never_guessed(compiles: Compile) -> None:
    model = Scripted(says={"slot.item": "paper", "budget": "500 pesos", "deadline": "soonish"})
    outcome = compiles("order paper for 500 pesos soonish", model)
    assert isinstance(outcome, Clarify)
    assert outcome.intent.frame.constraints == ()
    asked = {u.field: (u.severity, u.rationale) for u in outcome.intent.unknowns}
    assert asked["frame.constraints.budget.max"][0] == "blocking"
    assert "“500 pesos”" in asked["frame.constraints.budget.max"][1]
    assert "“soonish”" in asked["frame.constraints.deadline.by"][1]


def test_a_deadline_that_is_over_is_asked_about(compiles: Compile) -> None:
    outcome = compiles(
        "order paper by 2020-01-01", Scripted(says={"slot.item": "paper", "deadline": "2020-01-01"})
    )
    assert isinstance(outcome, Clarify)
    assert "already over" in outcome.intent.unknowns[0].rationale


def test_days_are_meant_in_the_zone_of_the_person(compiles: Compile) -> None:
    model = Scripted(says={"slot.item": "paper", "deadline": "tomorrow"})
    outcome = compiles("order paper by tomorrow", model, zone="Europe/Stockholm")
    assert isinstance(outcome, Compiled)
    assert outcome.intent.deadline == "2026-11-22T22:59:59.000Z"


@pytest.mark.parametrize(
    ("goal", "deadline"),
    [
        ("order paper before friday", "2026-11-27T00:00:00.000Z"),
        ("order paper on or before friday", "2026-11-27T23:59:59.000Z"),
        ("beställ paper före friday", "2026-11-27T00:00:00.000Z"),
    ],
)
def test_before_a_day_is_before_its_beginning_whatever_the_model_marks(
    compiles: Compile, goal: str, deadline: str
) -> None:
    outcome = compiles(goal, Scripted(says={"slot.item": "paper", "deadline": "friday"}))
    assert isinstance(outcome, Compiled)
    assert outcome.intent.deadline == deadline


@pytest.mark.parametrize(
    ("goal", "span", "hard"),
    [
        ("order paper by friday", "friday", True),
        ("order paper, ideally by friday", "friday", False),
        ("ideally order paper, by friday", "friday", True),
        ("order paper by friday if possible", "friday", False),
        ("beställ paper helst före friday", "friday", False),
    ],
)
def test_a_limit_is_hard_unless_its_clause_words_a_wish(
    compiles: Compile, goal: str, span: str, hard: bool
) -> None:
    outcome = compiles(goal, Scripted(says={"slot.item": "paper", "deadline": span}))
    assert isinstance(outcome, Compiled)
    assert [one.hard for one in outcome.intent.frame.constraints] == [hard]  # type: ignore[union-attr]
    assert bool(outcome.intent.deadline) is hard


def test_every_kind_of_limit_sign_and_preference_finds_its_shape(compiles: Compile) -> None:
    says = {
        "slot.item": "paper", "jurisdiction_allow": "Sweden and Norway", "jurisdiction_deny": "the US",
        "quality": "at least 4 stars", "rule": "no plastic", "delivered": "a receipt", "signed_off": "Kim",
        "external": "https://shop.example/ok answers", "attestation": "weight by the shop",
        "preference": "preferably recycled",
    }  # fmt: skip
    leads = {"jurisdiction_deny": "not ", "signed_off": "approved by "}
    said = [f"{leads.get(field, '')}{words}" for field, words in list(says.items())[1:]]
    outcome = compiles("order paper: " + "; ".join(said), Scripted(says=says))  # type: ignore[arg-type]
    assert isinstance(outcome, Clarify)  # what nobody can check is asked about
    frame = outcome.intent.frame
    assert [one.model_dump(exclude_defaults=True) for one in frame.constraints] == [
        {"hard": True, "allow": ("SE", "NO")},
        {"hard": True, "deny": ("US",)},
        {"hard": True, "metric": "stars", "min": 4.0},
        {"hard": True, "rule": "no plastic"},
    ]
    assert [one.model_dump(exclude_defaults=True) for one in frame.success_criteria] == [
        {"artifact": "a receipt"},
        {"by": "Kim"},
        {"url": "https://shop.example/ok"},
        {"source": "the shop", "topic": "weight"},
    ]
    assert [(one.rank, one.prefer) for one in frame.preferences] == [(1, "preferably recycled")]
    assert len(outcome.intent.compile_metadata.spans) == 10  # type: ignore[union-attr]


def test_a_budget_of_time_or_calls_limits_the_run(compiles: Compile) -> None:
    goal = "order paper, spend 2 hours and 20 calls"
    outcome = compiles(goal, Scripted(says={"slot.item": "paper", "budget": ["2 hours", "20 calls"]}))
    assert isinstance(outcome, Compiled)
    assert outcome.intent.budget == Budget(max_time="PT2H", max_calls=20)


def test_slots_are_read_as_their_types_say(compiles: Compile) -> None:
    says = {
        "slot.item": "paper",
        "slot.count": "twelve",
        "slot.speed": "EXPRESS",
        "slot.tags": ["office", "home"],
    }
    outcome = compiles("order twelve paper EXPRESS for office and home", Scripted(says=says))
    assert isinstance(outcome, Compiled)
    assert [(one.name, one.value) for one in outcome.intent.frame.objects] == [
        ("item", "paper"), ("count", "12"), ("speed", "express"), ("tags", "office"), ("tags", "home"),
    ]  # fmt: skip


def test_a_value_of_the_wrong_type_is_asked_about(compiles: Compile) -> None:
    outcome = compiles("order a few paper", Scripted(says={"slot.item": "paper", "slot.count": "a few"}))
    unknowns = outcome.intent.unknowns  # type: ignore[union-attr]
    assert [(u.field, u.severity) for u in unknowns] == [("slot.count", "preferred")]
    assert "“a few”" in unknowns[0].rationale


def test_what_the_model_invents_is_left_out_and_said(compiles: Compile) -> None:
    invented = (Span("slot.item", "gold", 6, 11, 0.99), Span("slot.item", "paper", 6, 11, 0.99))
    outcome = compiles("order paper", Scripted(spans=invented))
    assert isinstance(outcome, Compiled)
    assert outcome.intent.frame.objects[0].value == "paper"
    assert "“gold”" in outcome.intent.unknowns[0].rationale


def test_given_slots_win_and_are_not_asked_of_the_model(home: Home, compiles: Compile) -> None:
    model = Scripted(says={"slot.item": "paper"})
    outcome = compiles("order paper", model, slots={"item": "ink", "tags": "a, b"})
    assert isinstance(outcome, Compiled)
    assert (outcome.intent.frame.objects[0].name, outcome.intent.frame.objects[0].value) == ("item", "ink")
    assert [one.value for one in outcome.intent.frame.objects if one.name == "tags"] == ["a", "b"]
    assert [slot.name for slot in model.asked[0].slots] == ["supplier", "count", "speed"]
    view = home.journal.view(outcome.intent.id)
    assert dict(view.draft.slot_values) == {"@zone": "UTC", "item": "ink", "tags": "a, b"}  # type: ignore[union-attr]


def test_what_is_fixed_is_not_chosen_by_the_model(home: Home, compiles: Compile) -> None:
    model = Scripted(skill="look", says={"slot.item": "paper"})
    outcome = compiles(
        "order paper", model, skill="order", verb="negotiate", slots={"supplier": "x"}, store=False
    )
    assert model.chosen == []
    assert outcome.intent.frame.verb == "negotiate"  # type: ignore[union-attr]
    compiles("order paper", model, skill="order", store=False)
    assert [[one.skill_id for one in shown] for shown in model.chosen] == [["order"]]
    model.chosen.clear()
    compiles("find paper", Scripted(skill="look", verb="find"), verb="find")
    draft = home.journal.view(home.journal.intents()[0]).draft
    assert draft is not None
    assert dict(draft.slot_values) == {"@verb": "find", "@zone": "UTC"}


def test_words_shared_with_a_skill_outweigh_a_model_that_is_unsure_and_only_then(compiles: Compile) -> None:
    def skill_of(goal: str, sure: float) -> str:
        outcome = compiles(goal, Scripted(skill="look", sure=sure, says={"slot.item": "paper"}))
        metadata = outcome.intent.compile_metadata  # type: ignore[union-attr]
        return metadata.skill_id if metadata else ""

    assert skill_of("the paper of last year", 0.4) == "order"
    assert skill_of("the paper of last year", 0.9999) == "look"
    assert skill_of("order paper", 0.99) == "order", (
        "a skill is chosen for the sentences it gives as examples"
    )


def test_a_goal_that_says_all_of_a_skills_many_words_is_no_fault(
    home: Home, core: Core, tmp_path: Path
) -> None:
    said = " ".join(f"w{number:03d}" for number in range(900))
    (tmp_path / "look").mkdir()
    (tmp_path / "look" / "SKILL.mtx").write_text(LOOK)
    (tmp_path / "order").mkdir()
    examples = "\n".join(f'example.{number}="{said}"' for number in range(1, 15))
    (tmp_path / "order" / "SKILL.mtx").write_text(ORDER.replace('example.1="order paper"', examples))
    skills = find_skills([tmp_path])
    outcome = compile_goal(said, home=home, skills=skills, core=core, model=Scripted(skill="look", sure=0.99))
    assert outcome.intent.compile_metadata.skill_id == "order"  # type: ignore[union-attr]


def test_an_uncertain_verb_is_a_preferred_unknown(compiles: Compile) -> None:
    outcome = compiles("paper", Scripted(verb_sure=0.7, says={"slot.item": "paper"}))
    unknown = outcome.intent.unknowns[0]  # type: ignore[union-attr]
    assert (unknown.field, unknown.severity, unknown.default) == ("frame.verb", "preferred", "acquire")
    assert unknown.options == ("acquire", "negotiate")


@pytest.mark.parametrize(
    ("sure", "outcome", "review"), [(0.99, Compiled, False), (0.82, Compiled, True), (0.4, Clarify, None)]
)
def test_confidence_decides_between_proposing_reviewing_and_asking(
    compiles: Compile, sure: float, outcome: type, review: bool | None
) -> None:
    found = compiles("granite", Scripted(sure=sure, says={"slot.item": "granite"}))
    assert isinstance(found, outcome)
    if isinstance(found, Compiled):
        assert found.review is review
    if isinstance(found, Clarify):
        assert [question.field for question in found.questions] == ["skill"]
        assert found.questions[0].options == ("order", "look")


def test_a_referent_is_resolved_to_the_one_memory_that_is_meant(home: Home, compiles: Compile) -> None:
    memory = MemoryStore(home).put("Fact", "Acme sells paper in Oslo", id="acme")
    outcome = compiles(
        "order paper from Acme", Scripted(says={"slot.item": "paper", "slot.supplier": "Acme"})
    )
    assert isinstance(outcome, Compiled)
    entry = next(one for one in outcome.intent.frame.objects if one.name == "supplier")
    assert (entry.value, entry.uri) == ("Acme", memory.uri)
    reference = outcome.intent.references[0]
    assert (reference.uri, reference.type, reference.role) == (memory.uri, "Fact", "slot.supplier")
    assert outcome.intent.compile_metadata.cortex_snapshot_hash == MemoryStore(home).snapshot().root  # type: ignore[union-attr]


def test_several_memories_are_options_and_none_is_a_gap(home: Home, compiles: Compile) -> None:
    model = Scripted(says={"slot.item": "paper", "slot.supplier": "Acme"})
    nothing = compiles("order paper from Acme", model)
    assert [(u.field, u.severity) for u in nothing.intent.unknowns] == [("slot.supplier", "preferred")]  # type: ignore[union-attr]
    uris = {
        MemoryStore(home).put("Fact", f"Acme of {place} sells paper", id=place).uri
        for place in ("oslo", "bergen")
    }
    several = compiles("order paper from Acme", model)
    unknown = several.intent.unknowns[0]  # type: ignore[union-attr]
    assert (unknown.severity, set(unknown.options)) == ("preferred", uris)
    assert all(one.uri == "" for one in several.intent.frame.objects)  # type: ignore[union-attr]


def test_an_empty_slot_is_never_filled_from_memory(home: Home, compiles: Compile) -> None:
    MemoryStore(home).put("Fact", "Acme sells paper")
    outcome = compiles("order paper", Scripted(says={"slot.item": "paper"}))
    assert isinstance(outcome, Compiled)
    assert "supplier" not in {one.name for one in outcome.intent.frame.objects}


def test_a_compile_that_takes_too_long_fails_with_timeout(home: Home, compiles: Compile) -> None:
    seconds = count()
    outcome = compiles(
        "order paper", Scripted(says={"slot.item": "paper"}), timer=lambda: next(seconds) * 6.0
    )
    assert isinstance(outcome, Refused)
    assert outcome.reason == "timeout"
    assert home.journal.view(outcome.id).reason == "timeout"


def test_a_compile_that_is_late_already_asks_the_model_nothing_more(compiles: Compile) -> None:
    model = Scripted(says={"slot.item": "paper"})
    late = iter([0.0])
    outcome = compiles("order paper", model, timer=lambda: next(late, 6.0))
    assert isinstance(outcome, Refused)
    assert outcome.reason == "timeout"
    assert len(model.chosen) == 1
    assert model.asked == []


@dataclass
class Reading(Scripted):
    """A model that takes seconds before it sees a goal."""

    took: float = 0.0
    prepared: list[object] = field(default_factory=list)

    def prepare(self, question: Sequence[Candidate] | ExtractForm) -> None:
        self.prepared.append(question)
        self.took += 60.0


def test_what_a_model_reads_before_it_sees_the_goal_takes_none_of_its_time(compiles: Compile) -> None:
    model = Reading(says={"slot.item": "paper"})
    outcome = compiles("order paper", model, timer=lambda: model.took)
    assert isinstance(outcome, Compiled)
    assert outcome.ms == 0.0
    assert model.prepared == [[*model.chosen[0]], model.asked[0]]


def test_the_time_of_every_stage_counts(compiles: Compile) -> None:
    early = iter([0.0, 0.1, 0.2])  # made, chosen, extracted
    outcome = compiles("order paper", Scripted(says={"slot.item": "paper"}), timer=lambda: next(early, 6.0))
    assert isinstance(outcome, Refused)
    assert outcome.reason == "timeout"


@pytest.mark.parametrize(
    ("goal", "options", "code"),
    [
        ("", {}, "GOAL_EMPTY"),
        (" \n\t\u200b ", {}, "GOAL_EMPTY"),
        ("x" * 100_000, {}, "GOAL_TOO_LONG"),
        ("order\0paper", {}, "GOAL_BINARY"),
        (b"\xff\xfe\x00order", {}, "GOAL_BINARY"),
        ("half \ud800 pair", {}, "GOAL_BINARY"),
        (f"order paper with ghp_{'a1B2' * 9}", {}, "SECRET_INLINE"),
        ("order paper", {"slots": {"item": f"paper of AKIA{'A1' * 8}"}}, "SECRET_INLINE"),
        ("order paper", {"skill": "ordr"}, "SKILL_UNKNOWN"),
        ("order paper", {"verb": "devour"}, "VERB_UNKNOWN"),
        ("order paper", {"skill": "look", "verb": "acquire"}, "VERB_NOT_OFFERED"),
        ("order paper", {"verb": "delegate"}, "SKILL_NONE"),
        ("order paper", {"slots": {"colour": "red"}}, "SLOT_UNKNOWN"),
        ("order paper", {"slots": {"count": "many"}}, "SLOT_VALUE"),
        ("order paper", {"slots": {"speed": "warp"}}, "SLOT_VALUE"),
        ("order paper", {"at": "9999-12-31T23:59:59Z", "zone": "Asia/Tokyo"}, "TIME_INVALID"),
        ("order paper", {"at": "yesterday"}, "TIME_INVALID"),
        ("order paper", {"at": "0001-01-01T00:00:00+14:00"}, "TIME_INVALID"),
        ("order paper", {"id": "01"}, "ID_INVALID"),
        ("order paper", {"zone": "Mars/Olympus"}, "ZONE_UNKNOWN"),
        ("order paper", {"zone": "../../etc/passwd"}, "ZONE_UNKNOWN"),
        ("order paper", {"zone": ""}, "ZONE_UNKNOWN"),
    ],
)
def test_what_cannot_be_compiled_is_a_clear_error_and_leaves_nothing(
    home: Home, compiles: Compile, goal: str | bytes, options: dict[str, object], code: str
) -> None:
    with pytest.raises(InputError) as caught:
        compiles(goal, Scripted(says={"slot.item": "paper"} if goal == "order paper" else {}), **options)
    assert caught.value.code == code
    assert caught.value.place
    assert caught.value.fix
    assert caught.value.exit == 2
    assert kinds(home) == []


def test_an_id_is_used_once(compiles: Compile) -> None:
    model, id = Scripted(says={"slot.item": "paper"}), "01M7YRRT830000000000000099"
    compiles("order paper", model, id=id)
    with pytest.raises(InputError) as caught:
        compiles("order paper", model, id=id)
    assert caught.value.code == "ID_USED"


def test_a_long_goal_can_be_cut_at_a_word(compiles: Compile) -> None:
    outcome = compiles(
        "order paper " + "and more " * 2000, Scripted(says={"slot.item": "paper"}), truncate=True
    )
    assert isinstance(outcome, Compiled)
    assert len(outcome.intent.prose) <= 8192
    assert outcome.intent.prose.endswith(("and", "more"))


def test_the_intent_of_the_journal_reads_back_as_it_was(home: Home, compiles: Compile) -> None:
    outcome = compiles("order paper", Scripted(says={"slot.item": "paper"}))
    assert isinstance(outcome, Compiled)
    assert Intent.from_json(canonical_bytes(outcome.intent), canonical=True) == outcome.intent


def test_the_model_is_told_what_is_remembered_about_the_goal(home: Home, compiles: Compile) -> None:
    memory = MemoryStore(home).put("Fact", "Acme sells paper")
    MemoryStore(home).put("Goal", "Buy less paper")
    model = Scripted(says={"slot.item": "paper"})
    compiles("order paper", model)
    assert model.asked[0].system == "Mark what is ordered."
    assert model.asked[0].user == f"Goal: order paper\nMemories: - Fact: Acme sells paper [{memory.uri}]\n"
