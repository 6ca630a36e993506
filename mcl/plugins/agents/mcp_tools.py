"""What agents are offered over MCP: the work that a person signed is listed, checked out, given up, done."""

from __future__ import annotations

from functools import partial
from typing import Final, cast

from anyio import to_thread

from executor.gate.checkout import intent_already_active
from mcl.plugins.agents.governance import here_of
from mcl.plugins.agents.work.completion import complete
from mcl.plugins.agents.work.selection import SelectResult, intent_json, select
from mcl.plugins.agents.work.store import find_root
from mcl.serve.exchange import Caller, Json, Reply, refused
from mcl.serve.offered import ServedPlace, offered

_NONE: Final = (
    "no person signed work for this folder: files are changed as everywhere else; a person signs what"
    " .orchestration/active_intents.yaml says with mcl work import"
)


async def _list(session: ServedPlace, arguments: Json, caller: Caller) -> Reply:
    status = str(arguments.get("status_filter") or "")
    told = await to_thread.run_sync(_listed, session, status, here_of(session.folders).name_of(caller))
    return Reply(cast(Json, session.redactor.value(told)))


def _listed(session: ServedPlace, status: str, agent: str) -> dict[str, object]:
    from mcl.plugins.agents.usecases import list_work

    found = list_work(root=session.workspace.root, home=session.home)
    own, intents = "", list[dict[str, object]]()
    for one in found.items:
        item, lease = one.item, one.lease
        own = item.label if lease and lease.agent == agent else own
        about: dict[str, object] = {"held_by": lease.agent, "held_until": lease.expires_at} if lease else {}
        if item.expires_at:
            about |= {"expires_at": item.expires_at, "expired": one.expired}
        if item.blocked_reason:
            about["blocked_reason"] = item.blocked_reason
        if not status or item.status == status:
            intents.append({**intent_json(item), "dependencies": list(item.dependencies), **about})
    answer: dict[str, object] = {"root": str(found.root), "agent": agent, "active": own, "intents": intents}
    return answer if found.governed else {**answer, "note": _NONE}


LIST: Final = offered(__file__, "list_active_intents", _list)


_LIST_FIX: Final = "list_active_intents says what there is"


async def _select(session: ServedPlace, arguments: Json, caller: Caller) -> Reply:
    label, agent = str(arguments["intent_id"]), here_of(session.folders).name_of(caller)
    here = here_of(session.folders)
    root = find_root(here.work, session.workspace.root)
    result = await to_thread.run_sync(select, here.home, here.work, here.leases, root, label, agent)
    if not result.success:
        held = here.leases.held(root, agent)
        return _refused(result, label, held.label if held else "")
    text = [f"Intent {label} is active until {result.expires_at}, and longer while you work.", result.context]
    text += [f"Note: {warning}" for warning in result.warnings]
    told = cast(Json, session.redactor.value(result.to_json()))
    return Reply(told, [{"type": "text", "text": session.redactor.text("\n\n".join(text))}])


def _refused(result: SelectResult, label: str, held: str) -> Reply:
    said: dict[str, object] = {"success": False, "error": result.error}
    if result.code != "INTENT_ALREADY_ACTIVE" or not held:
        blocked = result.code not in ("NOT_FOUND", "INVALID_ID_FORMAT", "NOT_IMPORTED")
        return refused(
            result.code, result.error, fix=_LIST_FIX, example=SELECT.example, data=said, blocked=blocked
        )
    violation = intent_already_active(held, label)
    data = {**said, **violation.parts, "active": held}
    return refused(
        result.code,
        result.error,
        fix=violation.action,
        example=violation.example,
        data=data,
        blocked=True,
    )


SELECT: Final = offered(__file__, "select_active_intent", _select)


async def _complete(session: ServedPlace, arguments: Json, caller: Caller) -> Reply:
    here = here_of(session.folders)
    agent, root = here.name_of(caller), find_root(here.work, session.workspace.root)
    label, notes = (str(arguments.get(name) or "") for name in ("intent_id", "verification_notes"))
    proposed = partial(complete, here.home, here.work, here.leases, root, label, agent, notes=notes)
    result = await to_thread.run_sync(proposed)
    told = cast(Json, session.redactor.value(result.to_json()))
    if result.success:
        return Reply(told)
    fix = "see to what is left, and call it again"
    if result.code == "SIGN_OFF_PENDING":
        fix = f"ask a person to sign off what is left, which ends it: mcl work complete {result.label}"
    return refused(result.code, result.error, fix=fix, example=COMPLETE.example, data=told, blocked=True)


COMPLETE: Final = offered(__file__, "complete_intent", _complete)


async def _release(session: ServedPlace, arguments: Json, caller: Caller) -> Reply:
    from mcl.plugins.agents.usecases import release_work

    agent, root = here_of(session.folders).name_of(caller), session.workspace.root
    lease = await to_thread.run_sync(partial(release_work, agent=agent, root=root, home=session.home))
    return Reply({"released": lease.label, "intent_id": lease.intent_id, "agent": lease.agent})


RELEASE: Final = offered(__file__, "release_active_intent", _release)
