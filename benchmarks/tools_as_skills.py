"""Whether a goal finds the tool that it is for, among 662 tools of 26 real servers beside the written
skills.

    python -m benchmarks.tools_as_skills [--wrong] [--json]

`derived/servers.json.gz` has what servers by other hands list (npm and PyPI, 2026-11): name, description,
schema and annotations, as they say them. `derived/sentences.toml` has what people ask for, each with the
tools that do it, and what none of them does. The sentences were written before any of these lists was
looked at.

Of a goal: right: the first one is taken; asked: a person is asked which skill is meant, and a right one
is among those that are offered; of the first three: what top-3 says. Written skills are tried with all
their examples: whether any of them goes to a tool that would have gone to the skill without tools. Times
are of this process, medians.
"""

from __future__ import annotations

import argparse
import gzip
import json
import statistics
import tempfile
import time
import tomllib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from executor.gate.pins import Pins
from executor.store.home import Home
from executor.tools.names import slug
from mcl.catalog.definitions import Definitions
from mcl.catalog.servers import Servers
from mcl.compiler.stages.classify import Classified, OutOfScope, classify
from mcl.compiler.stages.derived_choice import with_derived
from mcl.compiler.stages.request import GoalRequest
from mcl.compiler.stages.rules import Rules
from mcl.core.home import open_home
from mcl.language.mtx.core import core_of
from mcl.language.skills import Skills
from mcl.model.protocol import Model
from mcl.usecases.installed import installed
from mcl.usecases.models import Models

_FOLDER = Path(__file__).with_name("derived")
AT = "2026-11-27T10:00:00.000Z"


def servers() -> Mapping[str, Sequence[Mapping[str, Any]]]:
    """What each server lists."""
    found: Mapping[str, Sequence[Mapping[str, Any]]] = json.loads(
        gzip.decompress((_FOLDER / "servers.json.gz").read_bytes())
    )
    return found


def sentences() -> tuple[list[tuple[str, frozenset[str]]], list[str], list[tuple[str, str]]]:
    """Goals with the ids of the skills that do them, goals that none does, and goals for written skills."""
    said = tomllib.loads((_FOLDER / "sentences.toml").read_text("utf-8"))
    goals = [(goal, frozenset(_id(one) for one in right)) for goal, right in said["sentences"]]
    return goals, list(said["none"]), [(goal, skill) for goal, skill in said["written"]]


def _id(name: str) -> str:
    server, _, tool = name.partition(":")
    return f"{server}.{slug(tool)}"


def fill(home: Home, *, trusted: bool = True) -> None:
    """Let a home know all servers and approve what each lists, as if a person had looked at it."""
    entered = Servers(home)
    for name, definitions in servers().items():
        entered.add(name, command=["true"])
        if trusted:
            entered.trust(name)
        Definitions(home).observe(name, definitions)
    with home.journal.tables.changing():
        for one in Definitions(home).known():
            Pins(home).approve(one.manifest)


@dataclass
class Choosing:
    """Chooses as a compile does, with the derived skills and without them."""

    home: Home
    skills: Skills
    model: Model
    rules: Rules
    seconds: list[float] = field(default_factory=list)

    @classmethod
    def of(cls, home: Home) -> Choosing:
        """With the model in use, which has read all skills."""
        rules = core_of(home.path).once(Rules.of)
        made = cls(home, installed(home.path, here=home.path), Models(home).open(), rules)
        made.both("a goal that makes it read what all say")
        made.seconds.clear()
        return made

    def both(self, goal: str) -> tuple[Classified | OutOfScope, Classified | OutOfScope]:
        """What is chosen without derived skills, and with them."""
        keys = self.home.keyring
        request = GoalRequest(
            id="01KA0000000000000000000000",
            at=AT,
            zone="UTC",
            actor=keys.user.did,
            agent=keys.agent.did,
            prose=goal,
        )
        without = classify(request, self.skills, self.model, self.rules)
        begun = time.perf_counter()
        found = with_derived(without, request, self.skills, self.model, self.rules)
        self.seconds.append(time.perf_counter() - begun)
        return without, found

    def asks(self, found: Classified) -> bool:
        """Whether a person is asked which skill is meant."""
        return self.rules.routing(found.skill_probability).route == "clarify"


def found_tools(
    choosing: Choosing, goals: Iterable[tuple[str, frozenset[str]]]
) -> tuple[Counter[str], list[str]]:
    """How goals for tools end, by kind, and each that is not right."""
    ends: Counter[str] = Counter()
    wrong: list[str] = []
    for goal, right in goals:
        without, found = choosing.both(goal)
        ends["goals"] += 1
        if not right & set(choosing.skills.derived.by_id):
            ends["no words can ask for it"] += 1
            continue
        if not isinstance(found, Classified) or found is without:
            ends["left to a written skill"] += 1
            wrong.append(f"{goal} -> {found.skill.id if isinstance(found, Classified) else 'nothing'}")
            continue
        first, offered = found.skill.id, (found.skill.id, *found.others)
        ends["top-1"] += first in right
        ends["top-3"] += bool(right & set(offered[:3]))
        asks = choosing.asks(found)
        kind = "asked" if asks else "taken"
        good = bool(right & set(offered)) if asks else first in right
        ends[f"{kind} {'right' if good else 'wrong'}"] += 1
        if not good:
            wrong.append(f"{goal} -> {kind} {first}")
    return ends, wrong


def other_goals(choosing: Choosing, goals: Iterable[str]) -> Counter[str]:
    """How goals that no tool does end."""
    ends: Counter[str] = Counter()
    for goal in goals:
        without, found = choosing.both(goal)
        taken = isinstance(found, Classified) and found is not without
        asks = isinstance(found, Classified) and choosing.asks(found)
        ends["asked" if taken and asks else "taken" if taken else "left"] += 1
    return ends


def examples(choosing: Choosing) -> list[tuple[str, str]]:
    """The examples of written skills."""
    return [(goal, one.id) for one in choosing.skills if not one.takes_any for goal in one.examples]


def disturbed(choosing: Choosing, goals: Iterable[tuple[str, str]]) -> list[str]:
    """Goals for written skills that would have been chosen, and are not because of a tool."""
    moved = []
    for goal, right in goals:
        without, found = choosing.both(goal)
        written = isinstance(without, Classified) and without.skill.id == right
        if written and found is not without and isinstance(found, Classified):
            kind = "asked beside" if choosing.asks(found) else "taken by"
            moved.append(f"{goal} ({right}) {kind} {found.skill.id}")
    return moved


def measured(*, wrong: bool = False) -> dict[str, Any]:
    """All of it, in a home of its own."""
    with tempfile.TemporaryDirectory() as folder, open_home(Path(folder) / "home", unattended=True) as home:
        fill(home)
        begun = time.perf_counter()
        installed(home.path, here=home.path)
        made = time.perf_counter() - begun
        begun = time.perf_counter()
        installed(home.path, here=home.path)
        kept = time.perf_counter() - begun
        begun = time.perf_counter()
        choosing = Choosing.of(home)
        read = time.perf_counter() - begun
        goals, none, written = sentences()
        ends, told = found_tools(choosing, goals)
        others = other_goals(choosing, none)
        each = statistics.median(choosing.seconds)
        derived = choosing.skills.derived
        found: dict[str, Any] = {
            "tools": len(derived.by_id) + len(derived.flaws),
            "skills of them": len(derived.by_id),
            "written skills": len(choosing.skills),
            "goals": dict(ends),
            "goals for no tool": dict(others),
            "examples of written skills": len(examples(choosing)),
            "of these disturbed": disturbed(choosing, examples(choosing)),
            "other goals for them": len(written),
            "of those disturbed": disturbed(choosing, written),
            "seconds, skills made": round(made, 2),
            "seconds, skills kept": round(kept, 3),
            "seconds, model and texts read for the first time": round(read, 1),
            "ms added to a compile": round(each * 1000, 1),
        }
        return {**found, "wrong": told} if wrong else found


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--wrong", action="store_true", help="also each goal that is not right")
    parser.add_argument("--json", action="store_true")
    chosen = parser.parse_args()
    found = measured(wrong=chosen.wrong)
    if chosen.json:
        print(json.dumps(found, ensure_ascii=False, indent=2))
        return
    for name, value in found.items():
        if isinstance(value, list):
            print(f"{name}: {len(value)}", *(f"\n  {one}" for one in value))
        else:
            print(f"{name}: {value}")


if __name__ == "__main__":
    main()
