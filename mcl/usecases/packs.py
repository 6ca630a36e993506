"""What a pack that comes with mcl makes of a call: an Intent, its plan, and what the gate says of both.

No model is asked. A plug-in fills the slots of its pack; the rest is as for any other intent.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from executor import Verdict, Walker
from executor.gate.verdict import Deny
from executor.store.home import Home
from executor.tools.registry import Registry
from executor.walker.interfaces import Reasoner
from ir import Frame, Intent, PlanTree, SlotEntry, with_hash
from ir.errors import MclError
from ir.inline_secrets import find_secret
from mcl.core.errors import SkillError
from mcl.language.plans.planner import KnownTools, make_plan
from mcl.language.skills import Skill
from mcl.usecases.accept import accept
from mcl.usecases.direct import proposal

Refusal = Callable[..., MclError]  # the errors of the plug-in: (code, message, fix=)


@dataclass(frozen=True, kw_only=True)
class JudgedPack:
    """An Intent and its plan as they would be run. Nothing of it is signed or stored.

    workspace: the folder that tools may work in.
    """

    workspace: Path
    intent: Intent
    plan: PlanTree
    verdicts: tuple[Verdict, ...]

    def passed(self, refusal: Refusal) -> None:
        """Raises what `refusal` makes of the gate's first denial, as a person is told of their agent."""
        if (deny := self.denied) is not None:
            wanted = f"if you want that: {deny.example}" if deny.code == "CAPABILITY_DENIED" else deny.fix
            raise refusal(deny.code, deny.reason, fix=wanted)

    @property
    def denied(self) -> Deny | None:
        """Why the gate refuses it; None where it does not."""
        return next((one.reply for one in self.verdicts if isinstance(one.reply, Deny)), None)

    def sign(self, home: Home) -> str:
        """Store it as accepted; its ULID. Raises KeyringError where a key is sealed."""
        home.journal.append_many(proposal(home, self.intent, self.plan, home.clock.now()))
        accept(self.intent.id, intent_hash=self.intent.hash, plan_hash=self.plan.hash, home=home)
        return self.intent.id


@dataclass(frozen=True)
class PackOrigin:
    """Who wants it, through which agent (DIDs), when (ISO 8601 UTC), and the ULIDs of the documents."""

    actor: str
    agent: str
    at: str
    intent_id: str
    plan_id: str

    @classmethod
    def of(cls, home: Home) -> "PackOrigin":
        """The home's user, through its agent, now."""
        keyring, clock = home.keyring, home.clock
        return cls(keyring.user.did, keyring.agent.did, clock.now(), clock.new_id(), clock.new_id())


def planned(
    skill: Skill,
    verb: str,
    objects: Mapping[str, str],
    *,
    prose: str,
    origin: PackOrigin,
    tools: KnownTools,
    refusal: Refusal,
) -> tuple[Intent, PlanTree]:
    """The Intent and the plan that the pack makes of it, both with hashes.

    objects: what fills the slots of the pack; "" fills none. prose: what was asked for, in words.

    Raises what `refusal` makes of NOT_PLANNED: the pack has no plan for it, or what it plans does not hold;
    SkillError TOOL_MISSING.
    """
    filled = tuple(SlotEntry(name=name, value=value) for name, value in objects.items() if value)
    intent = with_hash(
        Intent(
            id=origin.intent_id,
            actor=origin.actor,
            agent=origin.agent,
            prose=prose,
            frame=Frame(verb=verb, objects=filled),
            state="proposed",
            confidence=1.0,
            created_at=origin.at,
        )
    )
    by = f"matrix://agent/{origin.agent}"
    try:
        return intent, make_plan(
            skill, intent, id=origin.plan_id, created_at=origin.at, created_by=by, registry=tools
        )
    except SkillError as problem:
        if problem.code == "TOOL_MISSING":
            raise
        raise refusal("NOT_PLANNED", problem.message, fix=problem.fix) from problem


def without_secrets(texts: Iterable[str], refusal: Refusal, fix: str) -> None:
    """Raises what `refusal` makes of SECRET_INLINE where what looks like a key stands in one of the texts."""
    for text in texts:
        if found := find_secret("", text):
            said = f"what looks like {found} stands in it, and what is asked for is kept in the journal"
            raise refusal("SECRET_INLINE", said, fix=fix)


def asked_of_gate(
    home: Home,
    tools: Registry,
    workspace: Path,
    intent: Intent,
    plan: PlanTree,
    reasoner: Reasoner | None = None,
) -> tuple[Verdict, ...]:
    """What the gate says of each node of the plan, before anything is stored."""
    walker = Walker(home, tools, workspace=workspace, reasoner=reasoner)
    try:
        return tuple(walker.preflight_plan(intent, plan))
    finally:
        walker.close()
