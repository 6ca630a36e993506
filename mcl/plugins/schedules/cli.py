"""`mcl schedule`: what is to happen again and again, or later."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mcl.cli.arguments import (
    AsJson,
    IntentId,
    ModelPath,
    NoAi,
    Reason,
    SkillDirectories,
    Workspace,
    Yes,
    argument,
    noun,
    option,
    verb,
)
from mcl.cli.home import tell_unattended, use_home
from mcl.cli.output import Output, note, tell_result, write_event
from mcl.cli.people import agreed
from mcl.cli.views.layout import DIM, GOOD, WARN, commands, listing, moment, plain, rows
from mcl.core.text import counted, one_line, safe

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rich.console import RenderableType

    from executor.store.home import Home
    from ir import PlanTree
    from ir.schedule import Schedule
    from mcl.plugins.schedules.rounds import Happened
    from mcl.plugins.schedules.usecases import ScheduleNow

schedule = noun(
    "schedule",
    "What is to happen again and again, or later: signed once, run at its moments.",
    'mcl schedule add "every friday at 9 list the files in notes"',
    "mcl schedule sign @last",
    "mcl schedule list",
)
Until = Annotated[
    str, option("--until WHEN", "The last moment at which it is fired (default: a year from now).")
]
Times = Annotated[int, option("--count N", "How often at most; 0: as often as it is due until then.", min=0)]
Calls = Annotated[
    int, option("--calls N", "How many calls all firings may use together; the goal must limit each.", min=0)
]
Missed = Annotated[
    str, option("--missed WHAT", "Of those that were missed: once (the last is made up for), or skip.")
]


@verb(schedule, "add")
def add_command(
    goal: Annotated[str, argument("GOAL", "What you want and when, in plain words.", show_default=False)],
    when: Annotated[str, option("--when WORDS", "When, where the goal does not say it.")] = "",
    until: Until = "",
    count: Times = 0,
    calls: Calls = 0,
    missed: Missed = "once",
    zone: Annotated[
        str, option("--zone ZONE", "Time zone that it is meant in (default: mcl config zone).")
    ] = "",
    skill: Annotated[str, option("--skill SKILL", "Use this skill; do not choose one.")] = "",
    slot: Annotated[
        list[str] | None, option("--slot NAME=VALUE", "Fill a slot yourself; may be given several times.")
    ] = None,
    workspace: Workspace = None,
    model: ModelPath = None,
    no_ai: NoAi = False,
    skills: SkillDirectories = None,
    as_json: AsJson = False,
) -> int:
    """Compile a goal that is to run again and again, or later; nothing runs before it is signed.

    Exit codes: 0 compiled, 3 there are questions (mcl answer), 4 refused. Then mcl schedule sign.
    """
    from mcl.cli.compile import assignments
    from mcl.compiler.outcome import Compiled
    from mcl.core.environment import zone_of
    from mcl.plugins.schedules.scope import Terms
    from mcl.plugins.schedules.usecases import add

    home, out = use_home(signs=True), Output(as_json)
    result = add(
        goal,
        Terms(until, count, calls, _missed(missed), str(workspace or "")),
        when=when,
        zone=zone_of(zone) if zone else "",
        skill=skill,
        slots=assignments(slot or [], "slot"),
        model=model,
        ai=not no_ai,
        skills=skills or (),
        home=home,
    )
    code = tell_result(result, out, home, stored=True)
    if isinstance(result, Compiled):
        note(f"it runs when it is signed as a schedule: mcl schedule sign {result.intent.id}")
    return code


def _missed(text: str) -> str:
    if text not in ("once", "skip"):
        raise typer.BadParameter("--missed is once or skip")
    return text


@verb(schedule, "sign")
def sign_command(
    intent: IntentId,
    yes: Yes = False,
    until: Until = "",
    count: Annotated[int | None, option("--count N", "How often at most.", min=0)] = None,
    calls: Annotated[
        int | None, option("--calls N", "How many calls all firings may use together.", min=0)
    ] = None,
    workspace: Workspace = None,
    as_json: AsJson = False,
) -> int:
    """Read when it runs, what and within which limits, and sign that once for all its firings.

    Exit code 4 when you do not agree, or when the gate would refuse its plan (with --yes).
    """
    from ir.errors import REFUSED
    from ir.results import fields_json
    from mcl.cli.views.exact import refusals_view
    from mcl.cli.views.intent import intent_view
    from mcl.cli.views.plan import plan_view
    from mcl.plugins.schedules.usecases import proposal, sign
    from mcl.usecases.plans import show as plan

    home, out = use_home(signs=True), Output(as_json)
    given: dict[str, Any] = {
        "until": until,
        "count": count,
        "calls": calls,
        "workspace": str(workspace or ""),
    }
    made = proposal(
        intent, home=home, terms={key: value for key, value in given.items() if value not in ("", None)}
    )
    found, place = made.found, Path(made.scope.workspace)
    seen = plan(found.id, home=home, workspace=place)
    if not (as_json and yes):
        out.tell(intent_view(found.intent, out.people, state=found.state))
        out.tell(["", *plan_view(seen, out.people), *refusals_view(seen.refused)])
        out.tell(["", *scope_view(made.scope, home, found.plan)])
    tell_unattended(home)
    if yes and seen.refused:
        note("the gate would refuse its plan as things are; nothing was signed")
        return REFUSED
    if not yes and not agreed("Sign this intent, this plan, and that it runs at these moments?"):
        note("not signed")
        return REFUSED
    signed = sign(made, home=home, unseen=yes)
    out.document(
        {**fields_json(signed), **home.marks, "schedule": made.scope, "next": "mcl schedule install"}
    )
    if not as_json:
        out.tell(["", plain(f"signed by {signed.signed_by}", "green")])
        ways = [
            ("mcl schedule install", "let the system's scheduler fire it"),
            ("mcl schedule run", "fire it from here"),
        ]
        out.tell([commands([*ways, (f"mcl schedule revoke {found.id}", "end it")])])
    return 0


def scope_view(scope: Schedule, home: Home, plan: PlanTree | None = None) -> Iterable[RenderableType]:
    """What is signed beside the intent and its plan."""
    from datetime import datetime

    from mcl.plugins.schedules.scope import moments_of

    coming = moments_of(scope, datetime.fromisoformat(home.clock.now()), 3)
    first = [f"{local.replace('T', ' ')[:16]} {scope.zone}" for local, _ in coming]
    told = [("when", scope.words), *([("rule", scope.rule)] if scope.rule else [])]
    if scope.file:
        told.append(
            ("on a change of", scope.file + (f", where it says {scope.mentions}" if scope.mentions else ""))
        )
    told += [("first", ", ".join(first))] if first else []
    told += [("until", moment(scope.until))] if scope.until else []
    told += [("at most", counted(scope.count, "time"))] if scope.count else []
    told += [("calls", f"{scope.calls} in all")] if scope.calls else []
    told += [("effects", ", ".join(scope.effects) or "none"), ("folder", scope.workspace)]
    nodes = [node for node, _ in plan.root.walk()] if plan is not None else []
    if listed := [one for node in nodes if node.map is not None for one in node.map.members]:
        told.append(
            ("only", f"{', '.join(listed[:5])}: what was there when it was said, {len(listed)} in all")
        )
    told += [("moves with it", ", ".join(scope.moving))] if scope.moving else []
    told.append(("missed", "the last is made up for" if scope.missed == "once" else "left out"))
    yield rows([(name, plain(safe(text))) for name, text in told])


@verb(schedule, "list")
def list_command(
    every: Annotated[bool, option("--all", "Also those that ended or were revoked.")] = False,
    as_json: AsJson = False,
) -> None:
    """List what was signed to run again and again, when it is next due, and what waits for you."""
    from mcl.plugins.schedules.usecases import list_schedules

    home, out = use_home(), Output(as_json)
    found = list_schedules(home=home, every=every)
    out.document({"schedules": [_document(one) for one in found]})
    lines = [
        (
            (one.id, ""),
            ("waits for you", WARN) if one.waits else (one.state, GOOD if one.state == "in force" else DIM),
            (moment(one.next[:16] + "Z") if one.next else "", ""),
            (str(one.fired), DIM),
            (one_line(one.words, 40), ""),
            (one_line(one.goal, 80), ""),
        )
        for one in found
    ]
    if not as_json:
        heads = ("intent", "state", "next", "fired", "when", "goal")
        out.tell([listing(heads, lines)] if lines else ["no schedules"])
    for one in found:
        for gate in one.waits:
            note(f"a firing waits for you: mcl gate show {gate}")
        if one.missed:
            note(f"{counted(one.missed, 'firing')} of {one.id} missed")


def _document(one: ScheduleNow) -> dict[str, Any]:
    from ir.results import fields_json

    return fields_json(one)


@verb(schedule, "show")
def show_command(intent: IntentId, as_json: AsJson = False) -> None:
    """Show one schedule: its scope, and its firings with what became of them."""
    from mcl.plugins.schedules.usecases import show_schedule

    home, out = use_home(), Output(as_json)
    one = show_schedule(intent, home=home)
    out.document(_document(one))
    if as_json:
        return
    facts = [("intent", one.id), ("goal", one.goal), ("state", one.state)]
    facts += [("next", moment(one.next))] if one.next else []
    facts += [("missed", str(one.missed))] if one.missed else []
    out.tell([rows([(name, plain(safe(text))) for name, text in facts]), *scope_view(one.scope, home)])
    lines = [
        ((fired["intent"], ""), (fired["due"].replace("T", " ")[:16], ""), (fired["state"], DIM))
        for fired in one.firings
    ]
    if lines:
        out.tell(["", listing(("firing", "due", "state"), lines)])


@verb(schedule, "run")
def run_command(
    once: Annotated[bool, option("--once", "Fire what is due now, and end; for a scheduler.")] = False,
    as_json: AsJson = False,
) -> int:
    """Fire what is due, and go on with what was interrupted; without --once until it is ended (Ctrl-C).

    Nobody is asked: a firing that needs a person waits, and says so.

    Exit codes: 0 all that was due ran, 4 something was refused or waits, 5 something failed. With --json: one
    line a firing.
    """
    from executor.core.errors import WalkError
    from mcl.plugins.schedules.rounds import round_of

    home = use_home(signs=True)
    code = 0
    while True:
        try:
            for happened in round_of(home):
                _tell(happened, as_json=as_json)
                code = max(code, _code(happened))
        except WalkError as problem:
            if problem.code != "ALREADY_RUNNING" or not once:
                raise
            note(problem.message)
            return 0
        if once:
            return code
        time.sleep(_pause(home))


def _pause(home: Home) -> float:
    """Seconds until something may be due: at most half a minute, for files are looked at."""
    from datetime import datetime

    from mcl.plugins.schedules.rounds import next_moment, schedules

    now = datetime.fromisoformat(home.clock.now())
    coming = [one for found in schedules(home) if (one := next_moment(home, found)) is not None]
    return max(0.2, min([30.0, *((one - now).total_seconds() for one in coming)]))


def _code(one: Happened) -> int:
    if one.what in ("refused", "waits") or one.outcome in (
        "denied",
        "refused",
        "paused",
        "corrected",
        "cancelled",
    ):
        return 4
    return 5 if one.outcome == "failed" else 0


def _tell(one: Happened, *, as_json: bool) -> None:
    from ir.results import fields_json

    if as_json:
        write_event({"event": one.what, **fields_json(one)})
        return
    told = {
        "fired": f"fired {one.schedule} for {one.due}: {one.child} {one.outcome}",
        "resumed": f"went on with {one.child}: {one.outcome}",
        "missed": f"missed {counted(one.many, 'firing')} of {one.schedule}, the last for {one.due}",
        "waits": f"{one.child} waits for you: {one.message}",
        "refused": f"refused {one.schedule}",
    }[one.what]
    note(safe(f"{told}{f': {one.code}: {one.message}' if one.code else ''}"))


@verb(schedule, "install")
def install_command(
    cron: Annotated[bool, option("--cron", "A line of the crontab, also where systemd is here.")] = False,
    systemd: Annotated[bool, option("--systemd", "Units of systemd for your user.")] = False,
    remove: Annotated[bool, option("--remove", "Take the timer away.")] = False,
    yes: Yes = False,
    as_json: AsJson = False,
) -> int:
    """Have the system's scheduler fire what is due, every five minutes: a systemd timer, or a crontab line.

    What will be written is shown first. Exit code 4 when you do not agree.
    """
    from ir.errors import REFUSED
    from mcl.plugins.schedules import timers

    if cron and systemd:
        raise typer.BadParameter("--cron and --systemd exclude each other")
    home, out = use_home(), Output(as_json)
    if remove:
        gone = timers.remove()
        out.document({"removed": list(gone)})
        note(f"removed: {', '.join(gone)}" if gone else "there is no timer of mcl here")
        return 0
    made = timers.timer(home, "cron" if cron else "systemd" if systemd else None)
    if not as_json:
        out.tell(
            [
                plain(line)
                for path, text in made.files.items()
                for line in (f"{path}:", *text.splitlines(), "")
            ]
        )
        out.tell([plain(made.line)] if made.line else [plain(" ".join(one)) for one in made.commands])
    if not yes and not agreed("Write this?"):
        note("nothing was written")
        return REFUSED
    left = timers.install(made)
    document = {"kind": made.kind, "files": made.files, "line": made.line, "left": list(left)}
    out.document(document)
    for one in left:
        note(f"give this yourself: {one}")
    return 0


@verb(schedule, "revoke")
def revoke_command(intent: IntentId, reason: Reason = "", as_json: AsJson = False) -> None:
    """End a schedule: nothing of it is fired any more; with the last one the timer is removed too."""
    from mcl.plugins.schedules import timers
    from mcl.plugins.schedules.usecases import list_schedules, revoke

    home = use_home(signs=True)
    id, unended = revoke(intent, reason=reason, home=home)
    gone = () if list_schedules(home=home) else timers.remove()
    Output(as_json).document(
        {"intent_id": id, "state": "revoked", "unended": list(unended), "removed": list(gone)}
    )
    note(f"revoked {id}")
    for one in unended:
        note(f"a firing has not ended: mcl cancel {one}")
    if gone:
        note(f"removed: {', '.join(gone)}")
