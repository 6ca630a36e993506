"""Accepted plans to walk, and witnesses of the walk: shared by the tests of the executor and its security."""

from __future__ import annotations

import json
import subprocess
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import anyio

import grammars
import ir
from executor import (
    AlwaysApprove,
    Approvals,
    Context,
    GateAnswer,
    GateQuestion,
    Grants,
    Home,
    Manifest,
    Outcome,
    Pins,
    Policy,
    Registry,
    Tool,
    View,
    Walker,
    WalkEvent,
    Workspace,
)
from executor.gate.locks import Locks
from executor.gate.mandate import Mandate
from mcl.catalog.tools.registry import shipped_tools

NODE = dict[str, Any]


def tool(
    id: str, which: str, effect: str = "read", /, *, timeout_ms: int = 0, version: str = "1.0.0", **args: str
) -> NODE:
    """A tool_call node; ``which`` such as fs/read."""
    ref = f"matrix://tool/{which}@{version}"
    call = {"tool_ref": ref, "side_effect_class": effect, "args": args, "timeout_ms": timeout_ms}
    return {"id": id, "kind": "tool_call", "tool_call": call}


def sequence(id: str, *children: NODE) -> NODE:
    return {"id": id, "kind": "sequential", "children": list(children)}


def parallel(id: str, *children: NODE) -> NODE:
    return {"id": id, "kind": "parallel", "children": list(children)}


def gate(id: str, question: str = "Go on?", **more: Any) -> NODE:
    return {"id": id, "kind": "gate", "gate": {"question": question, **more}}


def step(id: str, **more: Any) -> NODE:
    return {"id": id, "kind": "step", "step": more}


def probe(
    name: str, adapter: Any, *, idempotent: bool = True, effects: Sequence[str] = ("read",), **more: Any
) -> Tool:
    """A tool for a test, with one optional text argument; ``more``: fields of its manifest."""
    operation = "read" if tuple(effects) == ("read",) else "write"
    manifest = Manifest.model_validate(
        {
            "uri": f"matrix://tool/test/{name}@1.0.0",
            "description": "A tool of the tests.",
            "effects": list(effects),
            "operation": operation,
            "idempotent": idempotent,
            "timeout_ms": 5000,
            "max_output": 1000,
            "safety": "A" if operation == "read" else "C",
            "scope": {"kind": "none"},
            "args": {
                "type": "object",
                "additionalProperties": False,
                "properties": {"text": {"type": "string"}},
            },
            "output": {
                "type": "object",
                "additionalProperties": False,
                "properties": {"text": {"type": "string"}},
            },
            **more,
        }
    )
    return Tool(manifest, adapter)


def gone(process: int, *, within: float = 20.0) -> bool:
    """Is a process dead (or about to be reaped)? A signal takes a moment to arrive, or many."""
    status, end = Path(f"/proc/{process}/stat"), time.monotonic() + within
    while True:
        try:
            if status.read_text().rpartition(")")[2].split()[0] == "Z":
                return True
        except (FileNotFoundError, ProcessLookupError):
            return True
        if time.monotonic() > end:
            return False
        time.sleep(0.005)


class Watch:
    """A listener that remembers."""

    def __init__(self) -> None:
        self.events: list[WalkEvent] = []

    def on(self, event: WalkEvent) -> None:
        self.events.append(event)

    def of(self, node_id: str) -> list[str]:
        return [event.state for event in self.events if event.node_id == node_id]


class Says:
    """People who give these answers in turn, and remember what they were asked."""

    def __init__(self, *answers: GateAnswer | str | None) -> None:
        self.answers = list(answers)
        self.asked: list[GateQuestion] = []

    async def ask(self, gate: GateQuestion) -> GateAnswer | None:
        self.asked.append(gate)
        answer = self.answers.pop(0) if self.answers else None
        return GateAnswer(answer) if isinstance(answer, str) else answer


class Walks:
    """A home, a workspace, and plans accepted in them."""

    def __init__(self, home: Home, workspace: Path) -> None:
        self.home = home
        self.workspace = workspace
        self.watch = Watch()
        self.tools: list[Tool] = []

    def registry(self) -> Registry:
        return Registry([*shipped_tools(), *self.tools])

    def seal(self, intent_id: str, kind: str, body: ir.Body) -> ir.Envelope:
        pair = getattr(self.home.keyring, ir.ROLE_OF_KIND[kind])
        clock = self.home.clock
        header = ir.Header(clock.new_id(), clock.now(), pair.did, f"matrix://intent/{intent_id}")
        return ir.seal(kind, body, header, pair.signing_key)

    def tell(self, intent_id: str, kind: str, body: ir.Body) -> None:
        self.home.journal.append(self.seal(intent_id, kind, body))

    def propose(
        self,
        root: NODE,
        *,
        verb: str = "build",
        criteria: Sequence[Mapping[str, Any]] = (),
        objects: Sequence[Mapping[str, Any]] = (),
        constraints: Sequence[Mapping[str, Any]] = (),
        budget: Mapping[str, Any] | None = None,
        deadline: str = "",
        expires_at: str = "",
        promises: Sequence[Mapping[str, Any]] = (),
        further: Sequence[Mapping[str, Any]] = (),
    ) -> str:
        clock, keys = self.home.clock, self.home.keyring
        intent_id = clock.new_id()
        document = {
            "id": intent_id,
            "v": "mcl/0.1",
            "actor": keys.user.did,
            "agent": keys.agent.did,
            "prose": "a goal in words",
            "frame": {
                "verb": verb,
                "success_criteria": list(criteria),
                "objects": list(objects),
                "constraints": list(constraints),
                "further": list(further),
            },
            "state": "proposed",
            "confidence": 0.9,
            "created_at": clock.now(),
            "deadline": deadline,
            "expires_at": expires_at,
        }
        if budget:
            document["budget"] = dict(budget)
        intent = ir.with_hash(ir.Intent.from_json(json.dumps(document)))
        plan = ir.with_hash(
            ir.PlanTree.from_json(
                json.dumps(
                    {
                        "id": clock.new_id(),
                        "v": "mcl/0.1",
                        "intent_id": intent_id,
                        "created_at": clock.now(),
                        "created_by": f"matrix://agent/{keys.agent.did}",
                        "skill_ref": "matrix://skill/files@1.0.0",
                        "root": root,
                        **({"promises": list(promises)} if promises else {}),
                    }
                )
            )
        )
        self.tell(intent_id, "intent.draft", ir.IntentDraftBody(intent.prose))
        self.tell(intent_id, "intent.compiled", ir.IntentCompiledBody(ir.canonical_bytes(intent)))
        self.tell(intent_id, "plan.proposed", ir.PlanProposedBody(ir.canonical_bytes(plan)))
        return intent_id

    def accept(self, root: NODE, **more: Any) -> str:
        intent_id = self.propose(root, **more)
        view = self.home.journal.view(intent_id)
        body = ir.IntentAcceptBody(view.intent_hash, self.home.clock.now(), plan_hash=view.plan_hash)
        self.tell(intent_id, "intent.accept", body)
        return intent_id

    def walker(self, **more: Any) -> Walker:
        parts: dict[str, Any] = {
            "workspace": self.workspace,
            "people": AlwaysApprove(),
            "listener": self.watch,
            "environment": {},
        }
        return Walker(self.home, self.registry(), **{**parts, **more})

    def run(self, intent_id: str, *, resume: bool = False, **more: Any) -> Outcome:
        async def walk() -> Outcome:
            async with self.walker(**more) as walker:
                return await walker.run(intent_id, resume=resume)

        return anyio.run(walk)

    def go(self, root: NODE, *, people: Any = None, reasoner: Any = None, **more: Any) -> Outcome:
        """Accept and run."""
        given = {"people": people, "reasoner": reasoner}
        return self.run(self.accept(root, **more), **{name: one for name, one in given.items() if one})

    def ask(self, node: NODE) -> dict[str, Any]:
        """The answer of a plan that is one tool call, which must succeed."""
        outcome = self.go(node)
        assert outcome.failure is None, outcome.failure
        found = outcome.outputs["n1"]
        assert isinstance(found, dict)
        return found

    def refusal(self, node: NODE) -> str:
        """The code with which such a plan fails."""
        outcome = self.go(node)
        assert outcome.failure is not None
        return outcome.failure.code

    def records(self, kind: str) -> list[Mapping[str, Any]]:
        """The bodies of the journal's records of one kind."""
        rows = self.home.journal.rows(kind=kind)
        return [self.home.journal.open(row.wire).body for row in rows]

    def write(self, path: str, text: str = "") -> Path:
        place = self.workspace / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text)
        return place

    def git(self, *arguments: str) -> str:
        done = subprocess.run(
            ["git", "-c", "user.name=Ada", "-c", "user.email=ada@example.org", *arguments],
            cwd=self.workspace,
            capture_output=True,
            text=True,
            check=True,
        )
        return done.stdout


def granted(walks: Walks, *hosts: str, also: Sequence[str] = ()) -> None:
    """Let the agent reach these hosts, with the grants that everybody has, and further classes."""
    grants, agent = Grants(walks.home), walks.home.keyring.agent.did
    grants.grant(agent, ["network", *also])
    grants.grant_hosts(agent, hosts)


def context_of(walks: Walks, intent_id: str | None, **more: Any) -> Context:
    """What the gate looks at for an intent, made from its public parts."""
    home = walks.home
    registry = walks.registry()
    pins, grants = Pins(home), Grants(home)
    pins.admit(registry.manifests)
    parts: dict[str, Any] = {
        "agent": home.keyring.agent.did,
        "tools": registry,
        "workspace": Workspace(walks.workspace, forbidden=[home.path]),
        "policy": Policy.load(home.path / "policy.toml", registry),
        "pins": pins,
        "grants": grants,
        "approvals": Approvals(home),
        "clock": home.clock,
        "record": lambda kind, body: None,
        "locks": Locks(),
        "mandate": Mandate.of(home.journal.view(intent_id)) if intent_id else None,
        "view": (lambda: home.journal.view(intent_id)) if intent_id else View,
        "holds_run": True,
    }
    return Context(**{**parts, **more})


def done(walks: Walks, node: NODE) -> dict[str, Any]:
    """What the node n1 of a plan gave, which did not fail."""
    outcome = walks.go(node)
    assert outcome.failure is None, outcome.failure
    found = outcome.outputs["n1"]
    assert isinstance(found, dict)
    return found


def code(outcome: Outcome) -> str:
    """The code that a run failed with, "" where it did not."""
    return outcome.failure.code if outcome.failure else ""


def without_critic(home: Home) -> None:
    """From now on a run that fails has failed: nothing proposes another way."""
    text = (Path(grammars.__file__).parent / "core" / "pipeline.mtx").read_text()
    assert "replans=2" in text
    (home.path / "core").mkdir()
    (home.path / "core" / "pipeline.mtx").write_text(text.replace("replans=2", "replans=0"))
