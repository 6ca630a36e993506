"""What a journal remembers of its intents is what it would read again, whoever wrote it and however."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ir
from executor import Home, HomeError, JournalError, LifecycleError, Statement
from executor.store.lifecycle.view import PersistentMap

if TYPE_CHECKING:
    from tests.executor.conftest import Story


def step(story: Story, node: str, status: str) -> Statement:
    return Statement("plan.step", ir.PlanStepBody(story.plan.id, node, status))


class UndoneError(Exception):
    pass


def roll_back(home: Home, act: Callable[[], object]) -> None:
    with suppress(UndoneError), home.db.write():
        act()
        raise UndoneError


# What two programs may do to one journal: each is told the home that acts, a story, and a number of its own.
ACTS: dict[str, Callable[[Home, Story, int], object]] = {
    "tell one": lambda home, story, n: home.journal.tell(story.id, step(story, f"n{n % 5}", "running")),
    "tell two": lambda home, story, n: home.journal.tell(
        story.id, step(story, f"n{n % 5}", "failed"), step(story, f"n{n % 3}", "completed")
    ),
    "tell, the second illegal": lambda home, story, n: home.journal.tell(
        story.id, step(story, f"n{n % 5}", "failed"), step(story, f"n{n % 5}", "cancelled"), draft(story)
    ),
    "append": lambda home, story, n: home.journal.append(
        story.seal("plan.step", ir.PlanStepBody(story.plan.id, f"n{n % 4}", "running"))
    ),
    "ask": lambda home, story, n: home.journal.append(story.make("policy.gate", home.journal.view(story.id))),
    "decide": lambda home, story, n: home.journal.append(
        story.make("policy.gate.resolve", home.journal.view(story.id))
    ),
    "note": lambda home, story, n: home.journal.record("record.note", {"n": n}, intent=story.id),
    "note of nothing": lambda home, story, n: home.journal.record("record.note", {"n": n}),
    "head": lambda home, story, n: home.journal.head(),
    "in a larger act": lambda home, story, n: in_one(home, story, n),
    "undone": lambda home, story, n: roll_back(home, lambda: in_one(home, story, n)),
    "cancel": lambda home, story, n: n % 7 or home.journal.append(story.make("intent.cancel")),
}


def draft(story: Story) -> Statement:
    return Statement("intent.draft", ir.IntentDraftBody("again"))


def in_one(home: Home, story: Story, n: int) -> None:
    with home.db.write():
        home.journal.tell(story.id, step(story, f"n{n % 5}", "running"))
        seen = home.journal.view(story.id)
        assert seen == home.journal.view(story.id, fresh=True)
        home.journal.tell(story.id, step(story, f"n{n % 5}", "failed"))
        assert home.journal.view(story.id).nodes[f"n{n % 5}"] == "failed"


@settings(max_examples=25, deadline=None)
@given(acts=st.lists(st.tuples(st.sampled_from(sorted(ACTS)), st.integers(0, 1), st.integers(0, 9))))
def test_whoever_writes_each_program_sees_what_the_rows_say(
    tmp_path_factory: pytest.TempPathFactory, acts: list[tuple[str, int, int]]
) -> None:
    from tests.executor.conftest import Story

    folder = tmp_path_factory.mktemp("homes") / "home"
    with Home.open(folder) as one, Home.open(folder) as other:
        story = Story(one).accepted()
        for name, who, number in acts:
            with suppress(LifecycleError, JournalError):
                ACTS[name]((one, other)[who], story, number)
            for home in (one, other):
                assert home.journal.view(story.id) == home.journal.view(story.id, fresh=True)
        assert one.journal.verify().findings == []


def test_what_is_told_is_what_is_read_back(story: Story) -> None:
    story.accepted()
    bodies = story.bodies()
    told = story.home.journal.tell(
        story.id,
        Statement("plan.step", bodies["plan.step"], "2026-11-21T10:00:00.000Z"),
        Statement("plan.output", bodies["plan.output"]),
        Statement("policy.gate", ir.PolicyGateBody("", "Go on?", options=["yes", "no"])),  # type: ignore[arg-type]
    )
    rows = story.home.journal.rows(story.id)[-3:]
    assert [row.wire for row in rows] == [envelope.wire for envelope in told]
    assert [story.home.journal.open(row.wire) for row in rows] == list(told)
    assert told[0].at == "2026-11-21T10:00:00.000Z"
    assert {envelope.from_ for envelope in told} == {story.home.keyring.agent.did}
    assert story.home.journal.view(story.id).gates[told[2].id].options == ("yes", "no")


def test_a_statement_is_signed_by_the_role_that_may_say_it(story: Story) -> None:
    story.accepted()
    (told,) = story.home.journal.tell(story.uri, Statement("intent.cancel", story.bodies()["intent.cancel"]))
    assert told.from_ == story.home.keyring.user.did
    assert story.home.journal.view(story.id).state == "cancelled"


def test_of_statements_told_together_all_are_stored_or_none(story: Story) -> None:
    journal = story.accepted().home.journal
    size = journal.size()
    with pytest.raises(LifecycleError):
        journal.tell(story.id, step(story, "n0", "completed"), step(story, "n0", "running"))
    assert journal.size() == size
    assert dict(journal.view(story.id).nodes) == {}
    journal.tell(story.id, step(story, "n0", "running"), step(story, "n0", "completed"))
    assert journal.view(story.id, fresh=True).nodes == {"n0": "completed"}
    assert journal.verify().findings == []


def test_a_replaced_key_signs_what_is_told_from_then_on(story: Story) -> None:
    story.accepted()
    old = story.home.keyring.agent.did
    with Home.open(story.home.path) as other:
        new = other.keyring.new("agent").did
    (told,) = story.home.journal.tell(story.id, step(story, "n0", "running"))
    assert told.from_ == new != old
    assert story.home.journal.verify().findings == []


def test_a_tree_that_another_program_changed_is_not_added_to(story: Story) -> None:
    story.accepted()
    with Home.open(story.home.path) as other, other.db.write() as connection:
        connection.execute("UPDATE tree SET root = zeroblob(32)")
    with pytest.raises(JournalError) as caught:
        story.home.journal.tell(story.id, step(story, "n0", "running"))
    assert caught.value.code == "JOURNAL_DAMAGED"


def test_rows_that_another_program_put_in_are_checked_before_they_count(story: Story) -> None:
    story.accepted().home.journal.tell(story.id, step(story, "n0", "running"))
    forged = bytearray(story.make("plan.step").wire)
    forged[-1] ^= 1
    with Home.open(story.home.path) as other, other.db.write() as connection:
        connection.execute(
            "INSERT INTO journal VALUES (6, 'x', 'plan.step', ?, '', ?, '', zeroblob(32))",
            (story.id, bytes(forged)),
        )
    with pytest.raises(ir.EnvelopeError) as caught:
        story.home.journal.view(story.id)
    assert caught.value.code == "BAD_SIGNATURE"


def test_threads_that_tell_and_look_at_once_lose_nothing(story: Story) -> None:
    journal = story.accepted().home.journal

    def work(name: str) -> None:
        for number in range(20):
            journal.tell(story.id, step(story, f"{name}{number}", "running"))
            assert journal.view(story.id).nodes[f"{name}{number}"] == "running"

    with ThreadPoolExecutor(3) as threads:
        assert list(threads.map(work, "abc")) == [None] * 3
    assert len(journal.view(story.id).nodes) == 60
    assert journal.view(story.id) == journal.view(story.id, fresh=True)
    assert journal.verify().findings == []


TELLER = """
import sys
from pathlib import Path
import ir
from executor import Home, Statement
home = Home.open(Path(sys.argv[1]))
def step(node, status):
    return Statement("plan.step", ir.PlanStepBody(sys.argv[3], node, status))
for number in range(int(sys.argv[5])):
    nodes = f"{sys.argv[4]}{number}", f"{sys.argv[4]}{number + 1}"
    home.journal.tell(sys.argv[2], step(nodes[0], "completed"), step(nodes[1], "running"))
    print(number, flush=True)
"""


def teller(story: Story, name: str, count: int) -> subprocess.Popen[str]:
    given = [str(story.home.path), story.id, story.plan.id, name, str(count)]
    return subprocess.Popen([sys.executable, "-c", TELLER, *given], stdout=subprocess.PIPE, text=True)


@pytest.mark.parametrize("survived", [1, 5, 30])
def test_a_teller_killed_in_the_middle_has_told_each_pair_or_nothing_of_it(
    story: Story, survived: int
) -> None:
    child = teller(story.accepted(), "n", 1_000_000)
    assert child.stdout
    told = [child.stdout.readline() for _ in range(survived)]
    child.kill()
    told += child.stdout.read().split("\n")[:-1]
    child.wait()
    child.stdout.close()
    rows = story.home.journal.rows(story.id)[4:]
    assert len(rows) % 2 == 0
    assert len(told) <= len(rows) // 2 <= len(told) + 1
    statuses = [story.home.journal.open(row.wire).body.status for row in rows]  # type: ignore[union-attr]
    assert statuses == ["completed", "running"] * (len(rows) // 2)
    assert story.home.journal.verify().findings == []


def test_two_processes_that_tell_of_one_intent_see_each_other(story: Story) -> None:
    children = [teller(story.accepted() if name == "a" else story, name, 25) for name in "ab"]
    nodes = 0
    while any(child.poll() is None for child in children):
        seen = len(story.home.journal.view(story.id).nodes)  # a third that only looks
        assert seen >= nodes
        nodes = seen
    assert [child.communicate(timeout=60)[0].count("\n") for child in children] == [25, 25]
    assert len(story.home.journal.view(story.id).nodes) == 52
    assert story.home.journal.verify().findings == []


def test_a_database_that_was_closed_gives_no_old_view(story: Story) -> None:
    story.accepted()
    story.home.close()
    with pytest.raises(HomeError):
        story.home.journal.view(story.id)


@given(
    st.lists(
        st.tuples(st.integers(0, 30), st.sampled_from("abcdef"), st.integers(0, 9), st.booleans()),
        max_size=30,
    )
)
def test_every_version_of_a_persistent_map_stays_what_it_was(
    changes: list[tuple[int, str, int, bool]],
) -> None:
    versions: list[PersistentMap[str, int]] = [PersistentMap({"a": 0})]
    model: list[dict[str, int]] = [{"a": 0}]
    for which, key, value, look in changes:
        at = which % len(versions)
        versions.append(versions[at].having(key, value))
        model.append({**model[at], key: value})
        if look:
            assert list(versions[at].items()) == list(model[at].items())
    for version, wanted in zip(versions, model, strict=True):
        assert version == wanted
        assert list(version) == list(wanted)
        assert list(reversed(version)) == list(reversed(wanted))
        assert len(version) == len(wanted)


def test_a_long_chain_of_old_versions_can_be_looked_into_and_dropped() -> None:
    first: PersistentMap[int, int] = PersistentMap()
    newest = first
    for number in range(100_000):
        newest = newest.having(number, number)
    assert len(newest) == 100_000
    assert first == {}
    del first, newest
