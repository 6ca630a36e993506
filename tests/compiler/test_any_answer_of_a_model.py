"""Whatever a model answers, the outcome is a valid document or a clear error."""

from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from executor import FixedClock, Home
from ir import Intent, canonical_bytes
from mcl.compiler.compiler import GoalOptions, Refused, compile_goal
from mcl.compiler.stages.constraints import FIELDS
from mcl.core.errors import InputError
from mcl.language.mtx.core import Core
from mcl.language.skills import Skills
from mcl.model.protocol import Span
from tests.compiler.conftest import AT, Scripted

NAMES = (
    *FIELDS,
    "slot.item",
    "slot.supplier",
    "slot.count",
    "slot.speed",
    "slot.tags",
    "slot.nothing",
    "rubbish",
)
PROSE = "order 3 of the blue paper from Acme, ideally under $50 or 2 hours by friday 5pm in the EU, 4 stars"


@st.composite
def spans(draw: st.DrawFn) -> Span:
    start = draw(st.integers(0, len(PROSE) - 1))
    end = draw(st.integers(start + 1, len(PROSE)))
    value = draw(st.sampled_from([PROSE[start:end], "invented", "express"]))
    place = draw(st.sampled_from([(start, end), (None, None)]))
    return Span(draw(st.sampled_from(NAMES)), value, *place, draw(st.floats(0, 1)))


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    found=st.lists(spans(), max_size=8),
    sure=st.floats(0, 1),
    verb=st.sampled_from(["acquire", "find", "", "sing"]),
)
def test_any_spans_make_a_valid_intent(
    skills: Skills, core: Core, tmp_path: Path, found: list[Span], sure: float, verb: str
) -> None:
    with Home.open(tmp_path / "any", clock=FixedClock(AT)) as home:
        model = Scripted(spans=tuple(found), sure=sure, verb=verb)
        outcome = compile_goal(
            PROSE, home=home, skills=skills, core=core, model=model, options=GoalOptions(at=AT), store=False
        )
    assert not isinstance(outcome, Refused)
    intent = Intent.from_json(canonical_bytes(outcome.intent), canonical=True)
    assert intent == outcome.intent
    said = [one.value for one in intent.frame.objects if one.name == "item"]
    assert all(text in PROSE for text in said)
    assert intent.compile_metadata is not None
    assert all(0 <= mark.start < mark.end <= len(PROSE) for mark in intent.compile_metadata.spans)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(goal=st.text(max_size=200) | st.binary(max_size=200))
def test_any_goal_is_compiled_or_a_clear_error(
    skills: Skills, core: Core, tmp_path: Path, goal: str | bytes
) -> None:
    with Home.open(tmp_path / "any", clock=FixedClock(AT)) as home:
        try:
            compile_goal(
                goal,
                home=home,
                skills=skills,
                core=core,
                model=Scripted(),
                options=GoalOptions(at=AT),
                store=False,
            )
            code = "GOAL_FINE"
        except InputError as error:
            code = error.code
    assert code.startswith("GOAL_")
