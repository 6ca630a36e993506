"""Putting a question about one call: what would be signed, what it is bound to, and who asks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from executor.call import Call, Declaration
from executor.core.errors import KeyringError
from executor.gate.claim import binding_hash, bound_to
from executor.gate.mandate import Mandate
from executor.gate.verdict import Ask
from executor.store.journal.record import seal_record
from executor.tools.names import OURSELVES
from ir import MclError
from mcl.core.errors import McpError
from mcl.serve.questions.shown import prose_of, question_of
from mcl.usecases.asked_call import ASKED, AskedCall
from mcl.usecases.direct import NODE, DirectCall, direct_call, texts_of

if TYPE_CHECKING:
    from executor.store.home import Home
    from mcl.serve.exchange import Caller
    from mcl.serve.session import Session


def put(session: Session, call: Call, ask: Ask, caller: Caller) -> AskedCall:
    """Keep what a person is asked about a call, signed by the agent.

    Raises:
        McpError: SECRET_INLINE, and whatever else keeps the call from being a plan that can be shown whole.
        KeyringError: the agent's key is sealed. Also what appending raises.
    """
    home = session.home
    try:
        asked = _asked(session, call, ask, caller)
        record = seal_record(ASKED, asked.body(), id=asked.id, at=asked.at, signer=home.keyring.agent)
    except (KeyringError, McpError):
        raise
    except MclError as problem:  # too large, or nothing that a plan can hold
        raise McpError(
            problem.code,
            f"a person must approve this call, and it cannot be put to one: {problem.message}",
            place=call.tool_ref,
            fix=problem.fix or "ask for less at once",
        ) from problem
    return replace(asked, seq=home.journal.append(record).seq)


def _asked(session: Session, call: Call, ask: Ask, caller: Caller) -> AskedCall:
    home, context, redact = session.home, session.context, session.redactor.text
    manifest, said = context.manifest(call), call.declaration or Declaration()
    assert manifest is not None, "the gate asks about no tool that it does not know"
    args = dict(call.args)
    if session.redactor.value(args) != args:
        raise McpError(
            "SECRET_INLINE",
            "what looks like a key, or is a secret of this machine, stands in the arguments",
            place=manifest.name,
            fix="leave it out; a tool that takes credentials takes $env:NAME",
        )
    client, version, reason = redact(caller.client), redact(caller.version), redact(said.reason)
    effect = context.effect(call, manifest)
    effects = tuple(sorted(effect.classes))
    words: Mapping[str, str] = {
        "operation": said.operation_type,
        "data": "" if said.data_sensitivity == "unknown" else said.data_sensitivity,
        "reason": reason,
    }
    prose = prose_of(manifest.name, args, client=f"{client} {version}".strip(), said=words)
    texts = texts_of(args, manifest)
    made = direct_call(home, manifest, texts, effect, prose=prose, timeout_ms=call.timeout_ms)
    bound = _bound(made, call, ask, session)
    server = manifest.outside.server if manifest.outside else OURSELVES
    return AskedCall(
        id=home.clock.new_id(),
        at=home.clock.now(),
        intent=made.intent,
        plan=made.plan,
        name=manifest.name,
        server=server,
        trusted=server == OURSELVES or _trusted(home, server),
        operation=effect.operation,
        effects=effects,
        why=ask.why,
        client=client,
        version=version,
        variant=said.variant,
        operation_type=said.operation_type,
        data_sensitivity=said.data_sensitivity,
        reason=reason,
        question=question_of(manifest.name, effect.operation, effects, client),
        expires_at=ask.expires_at,
        bound=bound,
        binding=binding_hash(bound),
    )


def _bound(made: DirectCall, call: Call, ask: Ask, session: Session) -> dict[str, str]:
    """What an approval of this call will be claimed by, as the gate works it out when the plan runs."""
    intent, plan = made.intent, made.plan
    mandate = Mandate(intent, plan, intent.hash, plan.hash, session.home.keyring.user.did)
    declared = plan.root.tool_call.side_effect_class if plan.root.tool_call else ""
    exact = Call(call.tool_ref, call.args, declared, NODE, call.timeout_ms)
    return bound_to(exact, replace(session.context, mandate=mandate), ask.expires_at)


def _trusted(home: Home, server: str) -> bool:
    from mcl.catalog.servers import Servers

    found = Servers(home).find(server)
    return found is not None and found.trusted
