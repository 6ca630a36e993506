"""What a procedure says for one goal: conditions, order, prompts, resolve."""

from dataclasses import dataclass

from hypothesis import given, settings
from hypothesis import strategies as st
from mtx_writing import EXAMPLE

from mcl.language.mtx.ast import File
from mcl.language.mtx.parser import parse
from mcl.language.mtx.procedure import ClarifyRule, ResolveRule, SlotValue, UnknownRule, interpret


@dataclass(frozen=True)
class Script:
    file: File


def script(procedure: str = "") -> Script:
    text = EXAMPLE
    if procedure:
        start, stop = text.index("§PROCEDURE\n") + len("§PROCEDURE\n"), text.index("§OUTPUTS")
        text = text[:start] + procedure + "\n" + text[stop:]
    parsed = parse(text.encode())
    assert parsed.findings == (), parsed.findings
    return Script(parsed.file)


def test_the_block_of_the_verb_gives_kind_prompt_resolve_and_unknown() -> None:
    said = interpret(script(), verb="find", prose="flights to Oslo", slots={"target": "flights to Oslo"})
    assert (said.kind, said.output_cardinality) == ("summarize", 3)
    assert said.user == "Goal: flights to Oslo\nTarget: flights to Oslo"
    assert said.resolves == (
        ResolveRule("target", "find", {"type": "Fact", "near": "flights to Oslo", "limit": "5"}),
    )
    assert [(rule.slot, rule.severity, rule.reason) for rule in said.unknowns] == [
        ("target", "blocking", "No target was named")
    ]
    assert said.clarifies == ()


def test_a_clarify_block_fires_beside_the_block_of_the_verb_once_confidence_is_known() -> None:
    said = interpret(script(), verb="find", prose="x", confidence=0.7)
    assert said.kind == "summarize"
    assert [(rule.slot, rule.required, rule.options) for rule in said.clarifies] == [
        ("target", True, ("a", "b"))
    ]
    assert interpret(script(), verb="find", prose="x", confidence=0.75).clarifies == ()


def test_slots_are_filled_from_what_is_given_then_the_default_then_nothing() -> None:
    said = interpret(
        script(), verb="find", prose="x", slots={"tags": ["a", SlotValue("b", uri="matrix://b@v1")]}
    )
    assert {name: [one.value for one in values] for name, values in said.slots.items()} == {
        "target": [],
        "cabin": ["economy"],
        "tags": ["a", "b"],
    }


def test_the_first_block_that_holds_is_taken_at_every_level() -> None:
    procedure = """
on verb=find
  kind=write
  on slot.cabin=economy
    kind=code
  end
  on slot.cabin=economy
    kind=reason
  end
end
on verb=find
  kind=classify
end"""
    assert interpret(script(procedure), verb="find", prose="x").kind == "code"
    assert interpret(script(procedure), verb="find", prose="x", slots={"cabin": "business"}).kind == "write"
    assert interpret(script(procedure), verb="acquire", prose="x").kind == ""


def test_conditions_on_unknowns_hold_only_when_there_are_some() -> None:
    procedure = 'on unknown\n  clarify slot.target\n    prompt="Open: {unknowns}"\n  end\nend'
    assert interpret(script(procedure), verb="find", prose="x").clarifies == ()
    assert interpret(script(procedure), verb="find", prose="x", unknowns=[]).clarifies == ()
    said = interpret(script(procedure), verb="find", prose="x", unknowns=["no date", "no place"])
    assert said.clarifies[0].prompt == "Open: no date\nno place"


def test_resolve_runs_before_the_prompt_is_filled_wherever_it_stands() -> None:
    procedure = """
prompt
  system="{verb}"
  user="{slot.target} ({slot.target.prose}) {slots} {cortex.bundle} {{x}"
end
resolve slot.target <- cortex.resolve(near=slot.target.prose)"""
    found = SlotValue("Oslo", uri="matrix://cortex/Fact/oslo@v1", prose="the capital")
    said = interpret(
        script(procedure),
        verb="find",
        prose="x",
        slots={"target": "the capital", "cabin": ()},
        cortex_bundle="B",
        resolver=lambda rule: found if rule.arguments == {"near": "the capital"} else None,
    )
    assert said.system == "find"
    assert said.user == (
        "matrix://cortex/Fact/oslo@v1 (the capital) target: matrix://cortex/Fact/oslo@v1 B {x}"
    )


@given(st.text(max_size=40), st.text(max_size=40))
@settings(max_examples=50, deadline=None)
def test_what_fills_a_prompt_is_never_read_for_places(prose: str, target: str) -> None:
    said = interpret(script(), verb="find", prose=prose, slots={"target": target})
    assert said.user == f"Goal: {prose}\nTarget: {target}"


def test_an_empty_value_asks_whether_the_slot_is_empty() -> None:
    procedure = "on slot.target=\n  kind=write\nend\non slot.tags=\n  kind=code\nend"
    assert interpret(script(procedure), verb="find", prose="x").kind == "write"
    assert interpret(script(procedure), verb="find", prose="x", slots={"target": "y"}).kind == "code"
    full = {"target": "y", "tags": ["a"]}
    assert interpret(script(procedure), verb="find", prose="x", slots=full).kind == ""


def test_conditions_know_what_a_resolve_line_above_them_found() -> None:
    procedure = """
resolve slot.target <- cortex.find(type=Fact)
on slot.target=matrix://cortex/Fact/oslo@v1
  kind=write
end
on slot.target=Oslo
  kind=code
end"""

    def found(rule: ResolveRule) -> list[SlotValue]:
        return [SlotValue("Oslo", "matrix://cortex/Fact/oslo@v1", "Oslo"), SlotValue("Bergen")]

    slots = {"target": ["Oslo", "Bergen"]}
    assert interpret(script(procedure), verb="find", prose="x", slots=slots, resolver=found).kind == "write"
    assert interpret(script(procedure), verb="find", prose="x", slots=slots).kind == "code"


def test_late_conditions_may_stand_inside_early_ones_and_the_other_way_round() -> None:
    procedure = """
on verb=find
  on confidence<0.5
    kind=write
  end
end
on unknown
  on verb=find
    output_cardinality=7
  end
end"""
    said = interpret(script(procedure), verb="find", prose="x", confidence=0.2, unknowns=["gap"])
    assert (said.kind, said.output_cardinality) == ("write", 7)
    said = interpret(script(procedure), verb="find", prose="x")
    assert (said.kind, said.output_cardinality) == ("", 1)
    said = interpret(script(procedure), verb="acquire", prose="x", confidence=0.2, unknowns=["gap"])
    assert (said.kind, said.output_cardinality) == ("", 1)


def test_unknown_and_clarify_blocks_give_all_that_they_say() -> None:
    procedure = """
unknown slot.tags
  severity=optional
  reason="No tags"
  type=string[]
  options=[a b]
  default=[a "b c"]
end
clarify slot.cabin
  prompt="Which cabin for {slot.target}?"
  type=enum<economy|premium|business>
  required=false
  options=[economy premium]
  default=economy
end"""
    said = interpret(script(procedure), verb="find", prose="x", slots={"target": "Oslo"})
    assert said.unknowns == (UnknownRule("tags", "optional", "No tags", "string[]", ("a", "b"), "a, b c"),)
    assert said.clarifies == (
        ClarifyRule(
            "cabin",
            "Which cabin for Oslo?",
            "enum<economy|premium|business>",
            False,
            ("economy", "premium"),
            "economy",
        ),
    )
