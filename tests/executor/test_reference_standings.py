"""The standings of promises, and what the gate refuses for their sake, beside another way to find them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from promises_at_random import AGENT, FILES, GONE, HOSTS, OTHER, USER, Example, Maker, tools
from reference_calls import Made, World, is_plain, names, origin
from reference_measures import measures, runs_command
from reference_rules import PASS, REFUSE, SILENT
from reference_standings import (
    Known,
    Level,
    begin,
    begin_agent,
    expected,
    is_address,
    judged,
    may_begin,
    may_dispatch,
    must_ask,
)
from walks import Walks, context_of

import ir
from executor import Call, Context, Grants, Home, Pins, Registry, Workspace
from executor.call import Deferred
from executor.gate.budget import Spending
from executor.gate.guards import moment
from executor.gate.guards.call import scope
from executor.gate.guards.promise import files_of, promise
from executor.gate.guards.promise import must_ask as wants_to_be_asked
from executor.gate.mandate import Mandate
from executor.gate.standings import Signers, standings, unchecked

_SIGNERS = Signers(users=frozenset((USER, OTHER)), all=frozenset((USER, OTHER, AGENT, GONE)))
_REGIONS = {origin(host): regions for host, regions in HOSTS.items() if regions}


@dataclass
class Compared:
    """What is compared, and how often each of the two said what."""

    context: Context
    place: Path
    counts: dict[str, int]

    def count(self, what: str) -> None:
        self.counts[what] = self.counts.get(what, 0) + 1

    # ---- Standings.

    def hold_standings(self, example: Example) -> None:
        """Each promise stands as a page says that it does."""
        regions = self.context.grants.regions(self.context.agent)
        found = standings(
            example.intent, example.plan, signers=_SIGNERS, regions=regions, find=self.context.tools.find
        )
        known = Known(
            example.plan,
            {uri: one.manifest for uri, one in tools().items()},
            _SIGNERS.users,
            _SIGNERS.all,
            _REGIONS,
        )
        wanted = expected(example.intent, known)
        assert [one.place for one in found] == [place for place, _, _ in wanted]
        for one, (place, hard, allowed), said in zip(
            found, wanted, ir.promises_of(example.intent), strict=True
        ):
            assert one.standing in allowed, f"{place} {said.item!r}: {one.standing}, not {allowed}"
            assert one.hard == hard
            assert one.says == said.says
            assert bool(one.why) == (one.standing == "not_checkable"), f"{place}: why is {one.why!r}"
            self._measured(one, said.item, known)
            self.count(one.standing if hard else "wish")
            if hard and isinstance(said.item, ir.QualityConstraint | ir.CommandPredicate):
                self.count(f"{said.item.type} {one.standing}")
        assert unchecked(found) == tuple(one for one in found if one.hard and one.standing == "not_checkable")

    def _measured(self, one: ir.PromiseStanding, item: object, known: Known) -> None:
        """Of a quality that is checked it is said which output measures it; of nothing else."""
        if one.standing == "checked" and isinstance(item, ir.QualityConstraint):
            assert one.by in {number.place for number in measures(item, known.plan, known.manifests)}
        else:
            assert one.by == ""

    # ---- Calls.

    def hold_calls(self, example: Example) -> None:
        """What breaks a promise is refused, what keeps all of them is not refused for their sake."""
        folder = self.place / "w"
        folder.mkdir()
        try:
            world = World(set(FILES), set())
            for file in FILES:
                _put(folder, world, file)
            context = replace(self.context, workspace=Workspace(folder))
            self._walk(example, Level(example.intent, example.plan.budget, over=example.over), context, world)
        finally:
            _remove(folder)

    def _walk(
        self, example: Example, level: Level, context: Context, world: World, above: Mandate | None = None
    ) -> None:
        mandate = Mandate(example.intent, example.plan, "", "", USER, above=above)
        started = "2020-01-01T00:00:00.000Z" if example.over else context.clock.now()
        spending = Spending(
            example.intent, example.plan, context.clock, started_at=started, above=context.spending
        )
        context = replace(context, mandate=mandate, spending=spending)
        for node, _ in example.plan.root.walk():
            if node.step is not None and self._agree(spending.refusal() is not None, may_begin(level, None)):
                spending.begin()
                begin(level, None)
            if node.id in example.below and self._agree(
                spending.agent_refusal() is not None, may_dispatch(level)
            ):
                spending.begin_agent()
                begin_agent(level)
                inner = example.below[node.id]
                under = Level(inner.intent, inner.plan.budget, level, inner.over)
                self._walk(inner, under, context, world, mandate)
            if node.tool_call is not None:
                self._hold(node.id, node.tool_call, example, level, context, world)
        for id, looked in mandate.criteria.items():
            if self._is_looked_at(looked):
                self._hold(id, looked, example, level, context, world)

    def _is_looked_at(self, looked: ir.ToolCall) -> bool:
        """Is it a call that can be made? With a criterion of any other no run begins."""
        if looked.tool_ref == "matrix://tool/http/request@1.0.0":
            return "${" not in looked.args["url"] and is_address(looked.args["url"])
        command = ir.CommandPredicate(tool_ref=looked.tool_ref, args=looked.args)
        return runs_command(command, {uri: one.manifest for uri, one in tools().items()}) is True

    def _agree(self, refused: bool, may: bool) -> bool:
        assert refused is not may
        return may

    def _hold(
        self, id: str, planned: ir.ToolCall, example: Example, level: Level, context: Context, world: World
    ) -> None:
        manifest = tools()[planned.tool_ref].manifest
        args, late = example.args.get(id, dict(planned.args)), example.late.get(id, frozenset())
        carried = any("${" in text for text in planned.args.values())
        if late:
            early = {name: Deferred(planned.args[name]) if name in late else args[name] for name in args}
            known = {name: value for name, value in args.items() if name not in late}
            made = Made(manifest, known, late, carried)
            self._compare("foreseen", id, made, Call(planned.tool_ref, early, "", id), level, context, world)
        made, call = Made(manifest, args, carries=carried), Call(planned.tool_ref, args, "", id)
        if not self._compare("called", id, made, call, level, context, world):
            return
        changed = files_of(call, context, manifest)
        context.spending.begin(manifest.cost, changed)
        begin(level, manifest, ["/".join(names(path)) for path in made.changed])
        self._do(made, context, world)

    def _compare(
        self, when: str, id: str, made: Made, call: Call, level: Level, context: Context, world: World
    ) -> bool:
        """May it be made, by what both say? Where no page says, by what the gate does."""
        foreseen = when == "foreseen"
        said, why = judged(level, made, world, _REGIONS)
        broken = promise(call, context)
        astray = scope(call, context)
        told = f"{id} {made.manifest.uri} {dict(made.args)} {made.effect(world)} {why}: {said}, gate {broken}"
        if foreseen and ("at most" in why or (broken and "at most" in str(broken.data))):
            said = SILENT  # nothing is counted yet
        self.count(f"{when} {said} {'no' if broken else 'yes'}")
        if said == REFUSE:
            assert broken or astray, told
            assert broken is None or broken.code in ("PROMISE_BROKEN", "PROMISE_UNKNOWN"), told
        if said == PASS and (foreseen or may_begin(level, made.manifest)):
            assert broken is None, told
        if foreseen or broken or astray:
            return False
        dear = moment.budget(call, context)
        assert (dear is None) is may_begin(level, made.manifest), f"{told}, budget {dear}"
        wanted = must_ask(level, made, world)
        if wanted != SILENT:
            assert bool(wants_to_be_asked(call, context, made.manifest)) == (wanted == REFUSE), told
        return dear is None

    def _do(self, made: Made, context: Context, world: World) -> None:
        for path in made.changed:
            if not is_plain(path) or made.command:
                continue
            if made.effect(world)[1] == "destructive" and path in world.files:
                (context.workspace.root / path).unlink()
                world.files.discard(path)
            elif not world.has(path):
                _put(context.workspace.root, world, path)


def _put(folder: Path, world: World, path: str) -> None:
    names = path.split("/")
    above = ["/".join(names[:at]) for at in range(1, len(names))]
    if any(one in world.files for one in above):
        return
    for one in above:
        (folder / one).mkdir(exist_ok=True)
        world.folders.add(one)
    (folder / path).write_text("text")
    world.files.add(path)


def _remove(folder: Path) -> None:
    for one in sorted(folder.rglob("*"), reverse=True):
        one.rmdir() if one.is_dir() else one.unlink()
    folder.rmdir()


@pytest.fixture(scope="module")
def compared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Compared]:
    place = tmp_path_factory.mktemp("promises")
    (place / "work").mkdir()
    with Home.open(place / "home") as home:
        walks, grants, agent = Walks(home, place / "work"), Grants(home), home.keyring.agent.did
        grants.grant(agent, ["network", "shell"])
        for host, regions in HOSTS.items():
            grants.grant_hosts(agent, [host], regions=regions)
        registry = Registry(tools().values())
        pins = Pins(home)
        pins.admit(registry.manifests)
        yield Compared(context_of(walks, None, tools=registry, pins=pins), place, {})


def hold(compared: Compared, seed: int) -> None:
    example = Maker(Random(seed)).example()
    compared.hold_standings(example)
    compared.hold_calls(example)


@settings(max_examples=300)
@given(seed=st.integers(0, 2**64))
def test_each_promise_stands_as_the_pages_say_and_holds_the_calls_of_its_plan(
    compared: Compared, seed: int
) -> None:
    hold(compared, seed)


@pytest.mark.slow
@settings(max_examples=20_000)
@given(seed=st.integers(0, 2**64))
def test_twenty_thousand_intents_stand_as_the_pages_say(compared: Compared, seed: int) -> None:
    hold(compared, seed)


def test_no_word_of_the_two_is_said_of_nothing(compared: Compared) -> None:
    """Each standing, and each verdict on a call, is met among the examples."""
    for seed in range(200):
        hold(compared, seed)
    for said in ("quality checked", "quality not_checkable", "command checked", "command not_checkable"):
        assert compared.counts[said] >= 10
    for said in ("enforced", "checked", "signed_off", "not_checkable", "wish"):
        assert compared.counts[said] >= 20
    for said in ("called pass yes", "called refuse no", "foreseen pass yes", "foreseen refuse no"):
        assert compared.counts[said] >= 20
    silent = sum(count for what, count in compared.counts.items() if what.startswith("called silent"))
    assert silent * 8 < sum(count for what, count in compared.counts.items() if what.startswith("called"))
