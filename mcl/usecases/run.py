"""`mcl run`: walk the plan that a person signed."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from anyio import to_thread

from executor import Walker
from executor.store.home import Home
from executor.tools.registry import Registry
from executor.walker.interfaces import Prompts, Reasoner
from ir import Intent, PlanTree
from mcl.catalog.tools.foreign import connected
from mcl.compiler.execution import CurrentPrompts, InstalledSkills, SkillFailures
from mcl.core.event_loop import at_once, outside_loop
from mcl.core.home import open_home
from mcl.language.mtx.core import core_of
from mcl.language.plans.binding import Bindings
from mcl.language.skills import Skill, as_compiled
from mcl.usecases.authority.door import require_not_governed_elsewhere
from mcl.usecases.installed import installed, the_skill
from mcl.usecases.intent_memories import keep_outcome
from mcl.usecases.intents import find_intent, shown
from mcl.usecases.runs import runs_of
from mcl.usecases.step_models import StepModels

if TYPE_CHECKING:
    from executor import Outcome
    from executor.walker.interfaces import Listener
    from executor.walker.questions import People
    from mcl.model import Model
    from mcl.usecases.critic import RunCritic
    from mcl.usecases.intents import Shown


def run(
    intent: str,
    *,
    workspace: Path | None = None,
    people: "People | None" = None,
    listener: "Listener | None" = None,
    resume: bool = False,
    model: "Path | Model | None" = None,
    ai: bool = True,
    skills: Sequence[Path] = (),
    home: Home | None = None,
) -> "Outcome":
    """Run the accepted plan of an intent in `workspace` (default: the current folder).

    people: who decides at gates; None: nobody, so every gate is denied. listener: is told of every node's
    state. resume: go on after an interruption; of what had completed, the outcome again. model, ai, skills:
    as of compile_goal, for step nodes. What goes wrong with the plan is in the Outcome.

    Raises InputError (in an event loop IN_EVENT_LOOP: await
    `mcl.aio.run`); WalkError NOT_ACCEPTED, NO_PLAN, RUN_INTERRUPTED, ALREADY_RUNNING and VERIFICATION_FAILED
    (a row, signature or hash does not hold; nothing was run); SkillError SKILL_CHANGED (the prompts are not
    those of the compile); ScopeError.
    """
    outside_loop("run")
    home = home or open_home()
    id = find_intent(home, intent)

    async def walk() -> "Outcome":
        async with connected(home) as tools:
            return await walk_plan(
                home,
                id,
                tools=tools,
                workspace=workspace or Path.cwd(),
                people=people,
                listener=listener,
                resume=resume,
                model=model,
                ai=ai,
                skills=skills,
            )

    return at_once(walk)


async def walk_plan(
    home: Home,
    id: str,
    *,
    tools: Registry,
    workspace: Path,
    people: "People | None" = None,
    listener: "Listener | None" = None,
    resume: bool = False,
    model: "Path | Model | None" = None,
    ai: bool = True,
    skills: Sequence[Path] = (),
) -> "Outcome":
    """The same in an event loop that is there already, with the tools of its process.

    id: a ULID. tools: all that the plan may call. What takes long is done in threads. Raises as ``run``.
    """
    require_not_governed_elsewhere(home, workspace)
    found = shown(home, id)
    reasoner: Reasoner
    prompts: Prompts
    if (own := runs_of(found)) is not None:
        reasoner = prompts = own.steps(home, found, model, ai=ai)
    else:
        reasoner = StepModels(home, model, ai=ai)
        prompts = skilled = CurrentPrompts(
            lambda: home.journal.view(id).intent, lambda: _skill_signed(home, found.intent, skills)
        )
        if found.plan is not None and _has_steps(found.plan):
            await to_thread.run_sync(skilled.load)
    failures = SkillFailures(lambda: _skill_of(home, found.intent, skills))
    walker = Walker(
        home,
        tools,
        workspace=workspace,
        reasoner=reasoner,
        people=people,
        listener=listener,
        prompts=prompts,
        sub_skills=InstalledSkills(lambda: installed(home.path, skills), tools),
        failures=failures,
        critic=None
        if own is not None
        or found.view.fired_by  # a firing is mended by nobody: no key of a person signs there
        else lambda *run: _critic(home, found, tools, failures, workspace, model, ai, skills).replan(*run),
    )
    async with walker:
        outcome = await walker.run(id, resume=resume)
    if found.state == "completed":
        return outcome  # and is remembered already
    await to_thread.run_sync(keep_outcome, home, found.view, outcome, lambda: installed(home.path, skills))
    if own is not None:
        await to_thread.run_sync(own.ended, home, found, outcome, workspace)
    return outcome


def _critic(
    home: Home,
    found: "Shown",
    tools: Registry,
    failures: SkillFailures,
    workspace: Path,
    model: "Path | Model | None",
    ai: bool,
    skills: Sequence[Path],
) -> "RunCritic":
    """Made when a run is about to fail, which few are: it takes the compiler's rules."""
    from mcl.compiler.stages.rules import Rules
    from mcl.usecases.critic import RunCritic
    from mcl.usecases.rewriter import PlanRewriter

    most = core_of(home.path).once(Rules.of).replans
    rewrite = PlanRewriter(
        home,
        tools,
        lambda: _skill_of(home, found.intent, skills),
        lambda: _model(home, model, ai=ai),
        lambda: Bindings(installed(home.path, skills)),
    )
    return RunCritic(home, tools, failures, workspace, most=most, rewrite=rewrite, skills=skills)


def _model(home: Home, model: "Path | Model | None", *, ai: bool) -> "Model":
    from mcl.usecases.compile import open_model  # with the compiler, which only a re-plan waits for

    return open_model(home, model, ai=ai)


def _has_steps(plan: PlanTree) -> bool:
    return any(node.step is not None for node, _ in plan.root.walk())


def _skill_signed(home: Home, intent: Intent | None, skills: Sequence[Path]) -> Skill:
    """That skill, where its content is what it was when the Intent was compiled: its prompts tell a model
    what to do, so they are part of what was signed. Raises SkillError also SKILL_CHANGED."""
    skill = _skill_of(home, intent, skills)
    made = intent.compile_metadata if intent is not None else None
    return as_compiled(made, skill, core_of(home.path)) if made is not None and made.mtx_digest else skill


def _skill_of(home: Home, intent: Intent | None, skills: Sequence[Path]) -> Skill:
    """The installed skill that an Intent was compiled with. Raises SkillError."""
    made = intent.compile_metadata if intent is not None else None
    return the_skill(installed(home.path, skills), made.skill_id if made else "")
