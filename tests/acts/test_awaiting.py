"""Acts in programs with an event loop: each has a twin to be awaited, and none holds a loop up unasked. What
becomes of a goal either is what was wanted, or an error that says what to do."""

from __future__ import annotations

import ast
import asyncio
import inspect
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anyio
import pytest

import mcl
from executor.core.errors import WalkError
from ir import MclError, canonical_bytes
from mcl import aio
from mcl.core.errors import InputError
from mcl.plugins.agents.usecases import complete_work
from mcl.plugins.probing.usecases import verify_contracts
from mcl.plugins.repo.usecases import run_contract
from mcl.plugins.review.usecases.draft import draft_review
from mcl.plugins.review.usecases.release import check_release, review_drift
from mcl.plugins.review.usecases.run import review_code

ROOT = Path(__file__).resolve().parents[2]
ACTS = [name for name in dir(mcl) if inspect.isfunction(getattr(mcl, name))]
NOUNS = [name for name in dir(mcl) if inspect.ismodule(getattr(mcl, name))]
GOAL = "find the word invoice in the folder notes"
# What waits for a program, an address or a walk, with what it takes to be called at all.
WAITING: dict[str, tuple[Any, ...]] = {
    "call_tool": ("fs/list", {}),
    "run": ("@last",),
}
# The same of plug-ins.
WAITING_ELSEWHERE: dict[Callable[..., Any], tuple[Any, ...]] = {
    check_release: (),
    complete_work: (),
    draft_review: (),
    review_code: (),
    review_drift: (),
    run_contract: (None,),
    verify_contracts: (),
}


@pytest.fixture
def yard(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a note, to stand in; with a home of its own."""
    monkeypatch.setenv("MCL_HOME", str(tmp_path / "home"))
    (tmp_path / "yard" / "notes").mkdir(parents=True)
    (tmp_path / "yard" / "notes" / "a.txt").write_text("an invoice\n")
    monkeypatch.chdir(tmp_path / "yard")
    return tmp_path / "yard"


def test_every_act_has_a_twin_and_type_checkers_see_the_same() -> None:
    assert sorted(dir(aio)) == sorted([*ACTS, *NOUNS])
    assert aio.TYPE_CHECKING is False
    assert not hasattr(aio, "nonsense")
    tree = ast.parse((ROOT / "mcl" / "aio.py").read_text())
    [block] = [node for node in tree.body if isinstance(node, ast.If)]
    made = [ast.unparse(one) for one in block.body if isinstance(one, ast.Assign)]
    assert made == [f"{name} = {kind(name)}(mcl.{name})" for name in ACTS]
    for name in ACTS:
        _check_twin(getattr(aio, name), getattr(mcl, name))


def test_every_act_of_a_noun_has_a_twin_too() -> None:
    for noun in NOUNS:
        for name, act in vars(getattr(mcl, noun)).items():
            if inspect.isfunction(act) and not name.startswith("_"):
                _check_twin(getattr(getattr(aio, noun), name), act)
    assert aio.skills.NewSkill is mcl.skills.NewSkill
    with pytest.raises(AttributeError):
        _ = aio.skills.nonsense


def _check_twin(twin: Callable[..., Any], act: Callable[..., Any]) -> None:
    awaited = inspect.isasyncgenfunction if inspect.isgeneratorfunction(act) else inspect.iscoroutinefunction
    assert awaited(twin), act
    assert inspect.signature(twin) == inspect.signature(act)


def kind(name: str) -> str:
    return "each" if inspect.isgeneratorfunction(getattr(mcl, name)) else "twin"


@pytest.mark.parametrize("name", WAITING)
def test_an_act_that_waits_is_refused_in_an_event_loop_and_names_its_twin(yard: Path, name: str) -> None:
    async def called() -> None:
        getattr(mcl, name)(*WAITING[name], **({"agree": bool} if name == "call_tool" else {}))

    with pytest.raises(InputError) as caught:
        asyncio.run(called())
    assert (caught.value.code, caught.value.place) == ("IN_EVENT_LOOP", name)
    assert f"aio.{name}(" in caught.value.fix
    assert not (yard.parent / "home").exists()  # nothing was opened, signed or made


def test_no_act_opens_a_loop_by_another_door() -> None:
    own = {
        "mcl/core/event_loop.py",
        "mcl/plugins/mcp/cli/mcp.py",
        "mcl/plugins/agents/guard/aftermath.py",
    }  # programs of their own
    probes = {"mcl/plugins/probing/host.py", "mcl/plugins/probing/calls.py"}
    found = {
        str(path.relative_to(ROOT))
        for path in (ROOT / "mcl").rglob("*.py")
        if any(door in path.read_text() for door in ("anyio.run(", "asyncio.run("))
    }
    assert found == own | probes


def test_a_goal_is_compiled_signed_run_and_replayed_in_an_event_loop(yard: Path) -> None:
    async def whole() -> tuple[str, bool, list[str]]:
        compiled = (await aio.compile_goal(GOAL, ai=False)).require()
        await aio.accept(compiled.intent.id)
        outcome = (await aio.run(compiled.intent.id)).require()
        (yard / "intent.json").write_bytes(canonical_bytes(compiled.intent))
        checked = [one.kind async for one in aio.verify([yard / "intent.json"])]
        return outcome.state, (await aio.replay(compiled.intent.id)).same, checked

    assert asyncio.run(whole()) == ("completed", True, ["intent"])


def test_many_acts_at_the_same_time_do_not_wait_for_one_another(yard: Path) -> None:
    """More than there are threads for: a walk needs some itself."""
    home = mcl.open_home()

    async def one() -> str:
        return (await aio.call_tool("fs/list", {"path": "notes"}, agree=lambda _: True, home=home)).intent_id

    async def all_of_them() -> list[str]:
        with anyio.fail_after(60):
            return await asyncio.gather(*(one() for _ in range(45)))

    assert len(set(asyncio.run(all_of_them()))) == 45
    home.close()


@pytest.mark.parametrize("act", WAITING_ELSEWHERE)
def test_an_act_of_a_plug_in_is_refused_there_too(yard: Path, act: Callable[..., Any]) -> None:
    async def called() -> None:
        act(*WAITING_ELSEWHERE[act])

    with pytest.raises(InputError) as caught:
        asyncio.run(called())
    assert (caught.value.code, caught.value.place) == ("IN_EVENT_LOOP", act.__name__)
    assert f"twin({act.__name__})(" in caught.value.fix
    assert not (yard.parent / "home").exists()


class _Begun:
    """A listener that knows when the first node runs."""

    def __init__(self) -> None:
        self.now = threading.Event()

    def on(self, event: Any) -> None:
        if event.state == "running":
            self.now.set()


def _by_task(work: Any, begun: threading.Event) -> None:
    async def cut() -> None:
        task = asyncio.create_task(work())
        await asyncio.to_thread(begun.wait, 60)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(cut())


def _by_scope(work: Any, begun: threading.Event) -> None:
    async def cut() -> None:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(work)
            await anyio.to_thread.run_sync(begun.wait, 60)
            tasks.cancel_scope.cancel()

    anyio.run(cut)


@pytest.mark.parametrize("cancelled", [_by_task, _by_scope])
def test_a_cancel_ends_what_an_awaited_act_waits_for(
    yard: Path, cancelled: Callable[[Any, threading.Event], None]
) -> None:
    home, begun = mcl.open_home(), _Begun()
    before = threading.active_count()

    async def watched() -> None:
        waits = {"path": "notes", "seconds": 600}
        await aio.call_tool("fs/watch", waits, agree=lambda _: True, home=home, listener=begun)

    cancelled(watched, begun.now)
    [last] = mcl.list_intents(home=home)[:1]
    assert last.state == "executing"  # as after Ctrl-C: `resume` goes on
    until = time.monotonic() + 10
    while threading.active_count() > before:  # threads of the loop end with it, a moment later
        assert time.monotonic() < until, "a thread holds on to it"
        time.sleep(0.01)
    home.close()


def _task_before(work: Any, asked: threading.Event, gone: threading.Event) -> None:
    async def cut() -> None:
        task = asyncio.create_task(work())
        await asyncio.to_thread(asked.wait, 60)
        task.cancel()
        for _ in range(20):  # whatever the cancel reaches has heard of it
            await asyncio.sleep(0.01)
        gone.set()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(cut())


def _scope_before(work: Any, asked: threading.Event, gone: threading.Event) -> None:
    async def cut() -> None:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(work)
            await anyio.to_thread.run_sync(asked.wait, 60)
            tasks.cancel_scope.cancel()
            with anyio.CancelScope(shield=True):
                await anyio.sleep(0.2)
            gone.set()

    anyio.run(cut)


@pytest.mark.parametrize("cancelled", [_task_before, _scope_before])
def test_a_cancel_that_comes_before_an_act_waits_is_not_forgotten_when_it_does(
    yard: Path, cancelled: Callable[[Any, threading.Event, threading.Event], None]
) -> None:
    """Else the walk that begins after it goes on to its end, and whoever cancelled waits for so long."""
    home, asked, gone = mcl.open_home(), threading.Event(), threading.Event()

    def agree(_: Any) -> bool:
        asked.set()
        return gone.wait(60)

    async def watched() -> None:
        await aio.call_tool("fs/watch", {"path": "notes", "seconds": 2}, agree=agree, home=home)

    cancelled(watched, asked, gone)
    [last] = mcl.list_intents(home=home)[:1]
    assert last.state == "accepted"  # what nobody began: `run` does
    home.close()


# ---- what becomes of a goal ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("goal", "code", "exit"),
    [(GOAL, "", 0), ("write a report", "QUESTIONS_OPEN", 3), ("hello", "GOAL_REFUSED", 4)],
)
def test_what_becomes_of_a_goal_is_the_goal_or_an_error_with_a_way_out(
    yard: Path, goal: str, code: str, exit: int
) -> None:
    result = mcl.compile_goal(goal, ai=False)
    if not code:
        assert result.require() is result
        return
    with pytest.raises(MclError) as caught:
        result.require()
    error = caught.value
    assert (error.code, error.exit) == (code, exit)
    assert all((error.message, error.place, error.fix))
    if code == "QUESTIONS_OPEN":
        asked = error.data["questions"]
        assert isinstance(asked, list)
        assert f"{asked[0]['unknown_id']}: {asked[0]['prompt']}" in error.message
        assert error.fix.startswith("answer them: mcl.answer(")


@pytest.mark.parametrize(
    ("state", "exit"), [("failed", 5), ("denied", 4), ("cancelled", 4), ("corrected", 10)]
)
@pytest.mark.parametrize("told", [True, False])
def test_a_run_that_did_not_complete_is_an_error_with_a_way_out(state: Any, exit: int, told: bool) -> None:
    from executor.walker.engine import Failure

    failure = Failure("SOME_CODE", "was wrong", "mend it", "n1") if told else None
    with pytest.raises(WalkError) as caught:
        mcl.Outcome("01K", state, failure=failure).require()
    error = caught.value
    assert (error.exit, bool(error.message), bool(error.fix)) == (exit, True, True)
    assert (error.code, error.place) == (("SOME_CODE", "n1") if told else (f"RUN_{state.upper()}", "01K"))
