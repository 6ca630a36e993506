"""Two small skills and a model that says what the test tells it to."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from executor import FixedClock, Home
from mcl.compiler.compiler import GoalOptions, Outcome, compile_goal
from mcl.language.mtx.core import Core, load_core
from mcl.language.skills import Skills, find_skills
from mcl.model.protocol import Candidate, Choice, ExtractForm, PlanForm, Span

Compile = Callable[..., Outcome]


def compile_with(goal: str | bytes, **given: Any) -> Outcome:
    """`compile_goal`, told the options of a goal by their names."""
    names = [name for name in given if name in GoalOptions.__dataclass_fields__]
    return compile_goal(goal, options=GoalOptions(**{name: given.pop(name) for name in names}), **given)


AT = "2026-11-21T10:00:00.000Z"

ORDER = """§SKILL
id=order
version=1.2.0
display="Order things"
author=test
description="Orders things from suppliers"
mcl.verbs=acquire negotiate
example.1="order paper"

§INPUTS
slot item: string
  required
  hint="what to order"
slot supplier: ArtifactRef
  optional
  hint="who to order from"
slot count: uint
  optional
slot speed: enum<standard|express>
  optional
  default=standard
slot tags: string[]
  optional
  max=3

§CORTEX
reads=Fact

§TOOLS
matrix://tool/fs/write@1.0.0

§SUB_SKILLS
none

§PROCEDURE
prompt
  system="Mark what is ordered."
  user="Goal: {prose}\\nMemories: {cortex.bundle}"
end
resolve slot.supplier <- cortex.find(type=Fact, near=slot.supplier.prose, limit=5)
on verb=negotiate
  unknown slot.supplier
    severity=blocking
    reason="the goal does not say with whom"
  end
end
on unknown
  clarify slot.item
    prompt="What should be ordered?"
    type=string
    required=true
  end
end

§OUTPUTS
none

§FAILURE_MODES
none
"""
PLAN = """version: 1
plans:
  - root:
      id: note
      kind: tool_call
      description: Write the order down
      tool_call:
        tool_ref: matrix://tool/fs/write@1.0.0
        side_effect_class: write
        args: {path: order.txt, content: "${slot.item}"}
"""
LOOK = """§SKILL
id=look
version=1.0.0
display="Look things up"
author=test
description="Finds facts"
mcl.verbs=find

§INPUTS
slot what: string
  required

§CORTEX
none

§TOOLS
none

§SUB_SKILLS
none

§PROCEDURE
none

§OUTPUTS
none

§FAILURE_MODES
none
"""


@dataclass
class Scripted:
    """A model for tests: chooses `skill` and `verb`, finds each field's texts where the prose says them
    first (quotes: where it does). margin: how clearly the goal is for each skill that it was taught by
    name, where it takes_all."""

    skill: str | None = "order"
    verb: str = "acquire"
    sure: float = 0.99
    verb_sure: float = 0.99
    says: dict[str, str | Sequence[str]] = field(default_factory=dict)
    certainty: dict[str, float] = field(default_factory=dict)
    spans: tuple[Span, ...] = ()
    digest: str = "d" * 64
    version: str = "scripted/1"
    grammar: str = "none"
    chosen: list[tuple[Candidate, ...]] = field(default_factory=list)
    asked: list[ExtractForm] = field(default_factory=list)
    margin: dict[str, float] = field(default_factory=dict)
    takes_all: bool = False
    kind: str = ""
    quotes: bool = False

    def choose(self, prose: str, candidates: Sequence[Candidate]) -> Choice:
        self.chosen.append(tuple(candidates))
        share = (1 - self.sure) / max(1, len(candidates))
        ranked = [(one.skill_id, self.sure if one.skill_id == self.skill else share) for one in candidates]
        none = self.sure if self.skill is None else share
        return Choice(self.skill, self.verb, self.sure, self.verb_sure, (*ranked, ("", none)), self.kind)

    def margins(self, prose: str, candidates: Sequence[Candidate]) -> tuple[float | None, ...]:
        return tuple(self.margin.get(one.skill_id) for one in candidates) if self.margin else ()

    def extract(self, prose: str, form: ExtractForm) -> tuple[Span, ...]:
        self.asked.append(form)
        found = list(self.spans)
        for name, texts in self.says.items():
            for text in [texts] if isinstance(texts, str) else texts:
                if self.quotes and text not in prose:
                    continue
                start = prose.index(text)
                found.append(Span(name, text, start, start + len(text), self.certainty.get(name, 0.97)))
        asked = {f"slot.{slot.name}" for slot in form.slots}
        return tuple(span for span in found if not span.field.startswith("slot.") or span.field in asked)

    def reason(self, system: str, user: str, outputs: Sequence[str], kind: str) -> dict[str, object]:
        raise AssertionError("no step is run in a compile")


@dataclass
class ScriptedWriter(Scripted):
    """One that writes plans too, as chat models do; here nobody asks it for one."""

    writes_plans: bool = True
    plan_grammar: str = "none"

    def write_plan(self, prose: str, form: PlanForm) -> str:
        raise AssertionError(f"nobody asks for a plan of {form.skill_id}")


@pytest.fixture(scope="session")
def skills_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("skills")
    for name, text in (("order", ORDER), ("look", LOOK)):
        (folder / name).mkdir()
        (folder / name / "SKILL.mtx").write_text(text)
    (folder / "order" / "plan.yaml").write_text(PLAN)
    return folder


@pytest.fixture(scope="session")
def skills(skills_folder: Path) -> Skills:
    found = find_skills([skills_folder])
    assert not found.broken
    return found


@pytest.fixture(scope="session")
def core() -> Core:
    return load_core()


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Home]:
    with Home.open(tmp_path / "home", clock=FixedClock(AT)) as opened:
        yield opened


@pytest.fixture
def compiles(home: Home, skills: Skills, core: Core) -> Compile:
    def compiled(goal: str | bytes, model: Scripted, **options: Any) -> Outcome:
        return compile_with(goal, home=home, skills=skills, core=core, model=model, **options)

    return compiled
