"""`mcl compile` and `mcl answer`: a goal in plain words becomes an Intent that can be read and signed."""

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from executor.store.home import Home
from ir import is_ulid
from mcl.compiler import compiler
from mcl.compiler.stages.slips import SlipWords
from mcl.compiler.tape import Tapes
from mcl.core.environment import zone_of
from mcl.core.home import open_home
from mcl.core.settings import zone_here
from mcl.language.mtx.core import Core, core_of
from mcl.usecases.file_names import names_of
from mcl.usecases.installed import installed
from mcl.usecases.intents import find_intent, read_view
from mcl.usecases.models import Models

if TYPE_CHECKING:
    from executor.tools.registry import Registry
    from mcl.compiler.compiler import Clarify, Compiled, Refused
    from mcl.compiler.outcome import CompileReasons
    from mcl.compiler.tape import Unloaded
    from mcl.model import Model


def compile_goal(
    goal: str,
    *,
    skill: str | None = None,
    verb: str | None = None,
    slots: Mapping[str, str] | None = None,
    model: "Path | Model | None" = None,
    ai: bool = True,
    dry_run: bool = False,
    at: str | None = None,
    id: str | None = None,
    zone: str | None = None,
    truncate: bool = False,
    skills: Sequence[Path] = (),
    home: Home | None = None,
    cache: bool = True,
    goal_id: str = "",
    expires: str = "",
    constraints: Mapping[str, str] | None = None,
    when: str = "",
    workspace: Path | None = None,
) -> "Compiled | Clarify | Refused":
    """Compile a goal; unless it is a dry run, the result is signed and in the journal when this returns.

    skill, verb, slots: fixed beforehand. model: a GGUF or an open model (None: the one in use). ai: False
    for the deterministic matcher. at: ISO 8601. id: a ULID. zone: IANA name that days are meant in (None: the
    home's, see `config_zone`). skills: further folders. cache: whether what a file's model answered to the
    same goal earlier counts, and is kept (`mcl.compiler.tape`). goal_id: the name of what this and other
    intents are to reach, or one of these intents. expires: until when it may be accepted and run, a moment
    or a time ("2h"). constraints: those of plug-ins, JSON data by kind. when: in words, that it is to run
    again and again, or later, which is signed as a schedule ("": as the goal says, where it says how often at
    its beginning or end). workspace: the folder in which words for files are looked up (None: the current
    one). Raises InputError, SkillError,
    ModelError, HomeError, KeyringError.
    """
    home = home or open_home()
    zone = zone or zone_here(home)
    core = core_of(home.path)
    if not when:
        goal, when, at = _apart(goal, home, at, zone, core)
    asked: Model | Unloaded
    tapes = None
    if cache and ai and (model is None or isinstance(model, Path)):
        asked, tapes = Models(home).unloaded(model), Tapes.of(home.path)
    else:
        asked = open_model(home, model, ai=ai, core=core)
    return compiler.compile_goal(
        goal,
        home=home,
        skills=installed(home.path, skills),
        model=asked,
        tapes=tapes,
        core=core,
        options=compiler.GoalOptions(
            skill=skill or "",
            verb=verb or "",
            slots=slots or {},
            at=at or "",
            id=id,
            zone=zone,
            truncate=truncate,
            goal_id=goal_of(goal_id, home),
            expires=expires,
            extensions=constraints or {},
            when=when,
        ),
        store=not dry_run,
        tools=tools_of(home),
        names=names_of(workspace or Path.cwd(), home.path),
    )


def _apart(goal: str, home: Home, at: str | None, zone: str, core: Core) -> tuple[str, str, str | None]:
    """A goal, the words in it that say how often, and when it was said. What cannot be read of such words
    stays in the goal, and is asked about; so does what the next words take back."""
    from mcl.values.recurrence import UnclearTimeError, may_recur, split_goal

    if not isinstance(goal, str) or not may_recur(goal):
        return goal, "", at
    at = compiler.moment_of(at) if at else home.clock.now()
    try:
        found = split_goal(goal, at, zone_of(zone))
    except UnclearTimeError:
        found = None
    if found is not None and core.once(SlipWords.of).slip.match(f", {found[0]}"):
        found = None
    return (found[0], found[1].words, at) if found is not None else (goal, "", at)


def goal_of(text: str, home: Home) -> str:
    """The goal that is meant by its name, by an intent for it (its id), or by @last. An intent without a goal
    of that name is the first for a goal that is called like it. Raises InputError INTENT_UNKNOWN for @last
    where there is none."""
    if not text.startswith("@") and not (is_ulid(text) and home.journal.intents(text)):
        return text
    id = find_intent(home, text)
    intent = read_view(home, id).intent
    return (intent.goal_id if intent is not None else "") or id


def tools_of(home: Home) -> "Callable[[], Registry]":
    """Gives the tools that a home knows, which are read once, where a promise, a name of a file or a plan
    that a model writes needs them."""

    @cache
    def made() -> "Registry":
        from mcl.catalog.tools.foreign import all_tools

        return all_tools(home)

    return made


def open_model(home: Home, model: "Path | Model | None", *, ai: bool, core: Core | None = None) -> "Model":
    """The model to ask: the one given, the file at a path, the matcher without `ai`, else the one in use.

    core: the core modules of the home where they were read already.
    """
    if model is None or isinstance(model, Path):
        return Models(home).open(path=model, ai=ai, core=core)
    return model


# ---- `mcl answer`: a person fills what was unknown, and the goal is compiled again.


def answer(
    intent: str,
    answers: Mapping[str, str],
    *,
    model: "Path | Model | None" = None,
    ai: bool = True,
    skills: Sequence[Path] = (),
    home: Home | None = None,
    unseen: bool = False,
) -> "Compiled | Clarify | Refused":
    """Answer the open questions of an intent, signed with the user's key, and compile it again.

    answers: texts by the id of the question ("u1") or its field; "" drops the field from the goal. The
    model is opened only where what it said the first time does not suffice. unseen: nobody knows whether a
    person gave them, which the row then says. Raises InputError and what
    compile_goal raises.
    """
    home = home or open_home()
    return compiler.recompile_with_answers(
        find_intent(home, intent),
        answers,
        home=home,
        skills=installed(home.path, skills),
        load_model=lambda: open_model(home, model, ai=ai),
        unseen=unseen,
        tools=tools_of(home),
    )


def why_asked(
    intent: str, *, skills: Sequence[Path] = (), home: Home | None = None
) -> "CompileReasons | None":
    """What the open questions of an intent were decided by; None where it has none, or what decided has
    changed."""
    home = home or open_home()
    return compiler.why_asked(find_intent(home, intent), home=home, skills=installed(home.path, skills))


def check_answer(
    intent: str, name: str, text: str, *, skills: Sequence[Path] = (), home: Home | None = None
) -> None:
    """Raise the InputError with which `answer` would refuse `text` for the question `name`; stores
    nothing."""
    home = home or open_home()
    compiler.check_answer(
        find_intent(home, intent), name, text, home=home, skills=installed(home.path, skills)
    )
