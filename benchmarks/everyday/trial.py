"""One goal, from its words to its effects, in a fresh copy of its folder and a fresh home."""

from __future__ import annotations

import io
import json
import os
import shutil
import signal
import tempfile
import time
import traceback
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import asdict, dataclass, field
from datetime import datetime
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.everyday.answers import answer_to, topics_of
from benchmarks.everyday.effects import unwanted, wrong_with
from benchmarks.everyday.folders import build
from benchmarks.everyday.goals import Goal, Want, vocabulary
from benchmarks.everyday.observed import Call, Observation, look, look_aside

if TYPE_CHECKING:
    from executor import Outcome
    from executor.store.home import Home
    from mcl.compiler.outcome import Clarify, Compiled, Refused
    from mcl.model import Model

ENDS = ("right", "after one question", "asked", "visible", "ran", "refused")
_LIMIT_S = 60  # of one goal
_MOST_SHOWN = 1200  # characters of what was shown that are kept
_MOST_TIMES = 12  # of a schedule that are looked at
_NO_SKILL = "general"  # the skill that says that no other fits


@dataclass
class Result:
    """What became of one goal. end: one of ENDS. how: what the product did, in order. wrong: what is missing
    or too much, against the way that came nearest."""

    id: str
    goal: str
    language: str
    folder: str
    kind: str
    writer: str
    digest: str
    code: str
    end: str = ""
    skill: str = ""
    slots: dict[str, Any] = field(default_factory=dict)
    review: bool = False
    how: list[str] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)
    questions: list[dict[str, Any]] = field(default_factory=list)
    shown: str = ""
    seconds: float = 0.0

    def line(self) -> str:
        return json.dumps(asdict(self), ensure_ascii=False)


def digest_of(goal: Goal) -> str:
    return sha256(repr(goal).encode()).hexdigest()[:16]


class Worker:
    """Tries goals one after the other; model, skills and folders are made once."""

    def __init__(self, code: str = "") -> None:
        self.code = code
        self.place = Path(tempfile.mkdtemp(prefix="mcl-everyday-")).resolve()
        os.environ.pop("MCL_HOME", None)
        person = self.place / "person"
        os.environ.update(
            HOME=str(person),
            MCL_STATE=str(self.place / "state"),
            XDG_DATA_HOME=str(person / ".local/share"),
            XDG_CONFIG_HOME=str(person / ".config"),
            TZ=vocabulary()["zone"],
            OMP_NUM_THREADS="1",
            COLUMNS="110",
            GIT_CONFIG_SYSTEM=os.devnull,
        )
        time.tzset()
        self._model: Model | None = None

    def close(self) -> None:
        os.chdir("/")
        shutil.rmtree(self.place, ignore_errors=True)

    @property
    def model(self) -> Model:
        if self._model is None:
            from mcl.model import load_model

            # What it has read of the skills is kept between goals, as in a home that is in use.
            self._model = load_model(None, home_path=self.place / "model")
        return self._model

    def warm(self) -> None:
        """Read the skills once, before the first goal's time begins."""
        import mcl

        with self._folder("household"), self._home() as home:
            mcl.compile_goal(
                "what is here", home=home, model=self.model, zone=vocabulary()["zone"], dry_run=True
            )

    def tried(self, goal: Goal) -> Result:
        """Never raises: what breaks is told in the result."""
        known = (goal.id, goal.goal, goal.language, goal.folder, goal.kind, goal.writer, digest_of(goal))
        result = Result(*known, self.code)
        start = time.perf_counter()
        try:
            if self._model is None:
                self.warm()
                start = time.perf_counter()
            with self._folder(goal.folder) as root, self._home() as home, _at_most(_LIMIT_S):
                Trial(goal, result, root, home, self.model).go()
        except Exception as error:  # noqa: BLE001 - a goal must not end the others
            result.end = "visible"
            result.how.append(f"broke: {type(error).__name__}: {error}")
            result.wrong.append(traceback.format_exc(limit=-4))
        result.seconds = round(time.perf_counter() - start, 2)
        return result

    @contextmanager
    def _folder(self, name: str) -> Iterator[Path]:
        """A fresh copy, which is the current folder meanwhile."""
        pattern, person = self.place / "patterns" / name, self.place / "person"
        if not pattern.exists():
            build(name, pattern / name)
        shutil.rmtree(person, ignore_errors=True)
        shutil.copytree(pattern, person, symlinks=True)
        os.chdir(person / name)
        try:
            yield person / name
        finally:
            os.chdir("/")

    @contextmanager
    def _home(self) -> Iterator[Home]:
        """A fresh home, whose person has granted commands and the network once; what it keeps of skills is
        taken over from the last one."""
        import mcl
        from executor.core.clock import FixedClock
        from executor.store.home import Home

        path, kept = self.place / "home", self.place / "cache"
        shutil.rmtree(path, ignore_errors=True)
        path.mkdir(mode=0o700)
        if kept.exists():
            shutil.copytree(kept, path / "cache")
        os.environ["MCL_HOME"] = str(path)
        with Home.open(path, clock=FixedClock(vocabulary()["now"])) as home:
            mcl.grants.add(["shell", "network"], home=home)
            yield home
            if not kept.exists() and (path / "cache").exists():
                shutil.copytree(path / "cache", kept)


@contextmanager
def _at_most(seconds: int) -> Iterator[None]:
    def over(*_: object) -> None:
        raise TimeoutError(f"not done after {seconds} s")

    had = signal.signal(signal.SIGALRM, over)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, had)


class Trial:
    """The steps of one goal."""

    def __init__(self, goal: Goal, result: Result, root: Path, home: Home, model: Model) -> None:
        self.goal, self.result, self.root, self.home, self.model = goal, result, root, home, model
        self.before = look(root)
        self.asked: tuple[str, ...] = ()  # topics of what was asked, one text a question

    def go(self) -> None:
        import mcl
        from ir import MclError

        goal, result = self.goal, self.result
        try:
            found = mcl.compile_goal(goal.goal, home=self.home, model=self.model, zone=vocabulary()["zone"])
            found = self._answered(found)
        except MclError as error:
            self._end("visible", f"error: {error.code}: {error.message}")
            return
        if type(found).__name__ == "Clarify":
            return  # the end is told
        if type(found).__name__ == "Refused":
            self._refused(found)
            return
        self._describe(found)
        if self._declines(found):
            return
        try:
            if self._scheduled(found):
                return
            mcl.accept(found.intent.id, home=self.home)
            outcome, shown = self._run(found)
        except MclError as error:
            self._ended_early(f"error: {error.code}: {error.message}")
            return
        result.how.append(f"run: {outcome.state}")
        seen = self._seen(found, outcome, shown)
        if outcome.state != "completed":
            why = f"{outcome.failure.code}: {outcome.failure.message}" if outcome.failure else ""
            self._ended_early(f"run {outcome.state} {why}".strip(), seen)
            return
        self._judge(seen)

    # ---- before it runs ----

    def _answered(self, found: Compiled | Clarify | Refused) -> Compiled | Clarify | Refused:
        """What came of it after the one round of answers."""
        import mcl

        if type(found).__name__ != "Clarify":
            return found
        self._describe(found)
        answers = {}
        for one in found.questions:
            self.result.questions.append(
                {"field": one.field, "prompt": one.prompt, "options": list(one.options)}
            )
            said = answer_to(one, self.goal.answers)
            if said is None:
                self._end("asked", f"asked {one.field}: {one.prompt}")
                self.result.wrong.append(f"nothing to say to {one.field}")
                return found
            answers[one.unknown_id] = said
        self.asked = tuple(topic for one in found.questions for topic in topics_of(one.field))
        self.result.how.append(f"answered {answers}")
        again = mcl.answer(found.intent.id, answers, model=self.model, home=self.home)
        if type(again).__name__ == "Clarify":
            for one in again.questions:
                self.result.questions.append(
                    {"field": one.field, "prompt": one.prompt, "options": list(one.options)}
                )
            self._end("asked", "asked again: " + "; ".join(one.prompt for one in again.questions))
        return again

    def _describe(self, found: Compiled | Clarify) -> None:
        made = found.intent.compile_metadata
        self.result.skill = made.skill_id if made else ""
        self.result.slots = {one.name: one.value for one in found.intent.frame.objects}
        self.result.review = getattr(found, "review", False)

    def _refused(self, found: Refused) -> None:
        told = f"refused: {found.reason}: {found.message}"
        wanted = self._one_of("refused") or (self._one_of("needs") and "model" in found.message.casefold())
        self._end(self._right() if wanted else "refused", told)

    def _declines(self, found: Compiled) -> bool:
        """Does a person who reads what is proposed see that it is not even meant to do the goal?"""
        from mcl.usecases.documents import of_unanswerable

        if self.result.skill == _NO_SKILL or found.plan is None:
            why = found.no_plan or "it says that no skill does this"
            self._end(self._right() if self._one_of("refused") else "refused", why)
            return True
        missing = of_unanswerable(self.home, found.plan)
        if missing:
            told = "; ".join(f"{one['node']}: {one['message']}" for one in missing)
            self._end(self._right() if self._one_of("needs") else "visible", f"needs a model: {told}")
            return True
        return False

    def _one_of(self, kind: str) -> bool:
        return any(any(want.kind == kind for want in way) for way in self.goal.ways)

    def _scheduled(self, found: Compiled) -> bool:
        """Whether it is to run later, or again and again: then its schedule is signed, and looked at."""
        from ir.schedule import RECURRENCE
        from mcl.plugins.schedules.scope import moments_of
        from mcl.plugins.schedules.usecases import proposal, sign

        if all(one.role != RECURRENCE for one in found.intent.references):
            return False
        made = proposal(found.intent.id, home=self.home, terms={"workspace": str(self.root)})
        after = datetime.fromisoformat(vocabulary()["now"])
        times = tuple(local[:16] for local, _ in moments_of(made.scope, after, _MOST_TIMES))
        sign(made, home=self.home)
        self.result.how.append(f"schedule: {made.scope.words}")
        self._judge(Observation(self.root, self.before, look(self.root), times=times or (made.scope.words,)))
        return True

    # ---- while and after ----

    def _run(self, found: Compiled) -> tuple[Outcome, tuple[str, ...]]:
        import mcl
        from executor.walker.questions import AlwaysApprove
        from mcl.cli.output import Output
        from mcl.cli.views.walk import outputs_view

        outcome = mcl.run(found.intent.id, home=self.home, workspace=self.root, people=AlwaysApprove())
        said = io.StringIO()
        with redirect_stdout(said), redirect_stderr(io.StringIO()):
            Output().tell(outputs_view(outcome.outputs, found.plan))
        heads = {
            f"{node.id} {node.description}".casefold()
            for node, _ in (found.plan.root.walk() if found.plan else ())
        }
        lines = [line.strip() for line in said.getvalue().splitlines() if line.strip()]
        return outcome, tuple(line for line in lines if " ".join(line.split()).casefold() not in heads)

    def _seen(self, found: Compiled, outcome: Outcome, shown: Sequence[str]) -> Observation:
        self.result.shown = "\n".join(shown)[:_MOST_SHOWN]
        folders = [self.home.path, *(one for one in self.root.parent.iterdir() if one != self.root)]
        aside = look_aside(*(one for one in folders if one.name != "origin.git" and one.is_dir()))
        calls = tuple(_calls(self.home, found, outcome))
        return Observation(self.root, self.before, look(self.root), aside, tuple(shown), calls)

    def _ended_early(self, how: str, seen: Observation | None = None) -> None:
        """It said that it could not; what it did all the same counts."""
        seen = seen or Observation(self.root, self.before, look(self.root))
        done = unwanted(self.goal, seen)
        self._end("ran" if done else "visible", how)
        self.result.wrong += done

    def _judge(self, seen: Observation) -> None:
        found = [self._against(way, seen) for way in self.goal.ways]
        nearest = min(found, key=len)
        if not nearest:
            self._end(self._right(), "")
            return
        self.result.wrong += nearest
        self._end(
            "visible" if self.result.review else "ran", "marked for review" if self.result.review else ""
        )

    def _against(self, way: Sequence[Want], seen: Observation) -> list[str]:
        wrong = []
        for want in way:
            if want.kind == "asked" and want.value not in self.asked:
                wrong.append(f"did not ask about {want.value}")
            if want.kind in ("refused", "needs"):
                wrong.append(f"ran, and {want.kind} was wanted")
        return [*wrong, *wrong_with(self.goal, way, seen)]

    def _right(self) -> str:
        """How right it is, by how many questions it took: as many as the goal says are needed, else one."""
        count = len(self.result.questions)
        needed = max(sum(want.kind == "asked" for want in way) for way in self.goal.ways)
        return "right" if not count else "after one question" if count <= max(1, needed) else "asked"

    def _end(self, end: str, how: str) -> None:
        if self.result.questions and end in ("visible", "refused"):
            end = "asked"
        self.result.end = end
        if how:
            self.result.how.append(how)


def _calls(home: Home, found: Compiled, outcome: Outcome) -> Iterator[Call]:
    """The calls of a run that completed, with what went in (as the plan has it) and came out."""
    nodes: Mapping[str, Any] = (
        {node.id: node for node, _ in found.plan.root.walk() if node.tool_call} if found.plan else {}
    )
    for id, state in outcome.nodes.items():
        node = nodes.get(id)
        if node is None or state != "completed":
            continue
        tool = node.tool_call.tool_ref.removeprefix("matrix://tool/").partition("@")[0]
        given = json.dumps([node.tool_call.args, outcome.outputs.get(id)], ensure_ascii=False, default=str)
        yield Call(tool, node.tool_call.side_effect_class, given)
