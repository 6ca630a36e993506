"""A home in a temporary folder, and a story: an intent whose envelopes are made one after another."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from walks import Walks

import ir
from executor import Home, KeyPair, Row, View

_ANOTHER_VERB = b'[{"op":"replace","path":"/frame/verb","value":"build"}]'  # material


class Story:
    """Makes the envelopes of one intent, each fitting what was said before unless told otherwise."""

    def __init__(self, home: Home) -> None:
        self.home = home
        self.id = home.clock.new_id()
        self.uri = f"matrix://intent/{self.id}"
        self.intent = ir.with_hash(
            ir.Intent(
                id=self.id,
                actor=home.keyring.user.did,
                agent=home.keyring.agent.did,
                prose="find the word fox in notes",
                frame=ir.Frame(verb="find", objects=(ir.SlotEntry(name="what", value="fox"),)),
                state="proposed",
                confidence=0.95,
                created_at="2026-11-21T10:00:00.000Z",
            )
        )
        self.plan = ir.with_hash(
            ir.PlanTree(
                id=f"plan-{self.id}",
                intent_id=self.id,
                skill_ref="matrix://skill/files@1.0.0",
                root=ir.PlanNode(id="n0", kind="gate", gate=ir.Gate(question="Go on?")),
            )
        )

    def seal(
        self, kind: str, body: ir.Body, *, signer: KeyPair | None = None, at: str = "", id: str = ""
    ) -> ir.Envelope:
        signer = signer or getattr(self.home.keyring, ir.ROLE_OF_KIND[kind])
        clock = self.home.clock
        header = ir.Header(id or clock.new_id(), at or clock.now(), signer.did, self.uri)
        return ir.seal(kind, body, header, signer.signing_key)

    def bodies(self, view: View | None = None) -> dict[str, ir.Body]:
        """For each kind, the body that fits what was said before (default: in the journal)."""
        now = self.home.clock.now()
        view = view or self.home.journal.view(self.id)
        gate = next(reversed(view.gates), self.home.clock.new_id())
        question = ir.ClarifyQuestion(unknown_id="u1", field="frame.objects[0]", prompt="Which word?")
        return {
            "intent.draft": ir.IntentDraftBody(prose=self.intent.prose),
            "intent.compiled": ir.IntentCompiledBody(intent_json=ir.canonical_bytes(self.intent)),
            "intent.clarify": ir.IntentClarifyBody(questions=(question,)),
            "intent.answer": ir.IntentAnswerBody(patches=b"[]", answer_of=view.clarify_id or self.id),
            "intent.accept": ir.IntentAcceptBody(
                intent_hash=view.intent_hash or self.intent.hash, accepted_at=now, plan_hash=view.plan_hash
            ),
            "plan.proposed": ir.PlanProposedBody(plan_json=ir.canonical_bytes(self.plan)),
            "plan.step": ir.PlanStepBody(plan_id=self.plan.id, node_id="n0", status="running"),
            "plan.output": ir.PlanOutputBody(plan_id=self.plan.id, node_id="n0", sequence=0, chunk=b"a line"),
            "intent.correct": ir.IntentCorrectBody(target=view.intent_hash or self.id, patches=_ANOTHER_VERB),
            "intent.dispatch": ir.IntentDispatchBody(sub_intent_json=b"{}"),
            "intent.attest": ir.IntentAttestBody(outcome="success", completed_at=now),
            "intent.fail": ir.IntentFailBody(reason="TOOL_FAILED", failed_at=now),
            "intent.cancel": ir.IntentCancelBody(cancelled_at=now),
            "policy.gate": ir.PolicyGateBody(rule_ref="", question="Go on?", options=("yes", "no")),
            "policy.gate.resolve": ir.PolicyGateResolveBody(
                gate_of=gate, decision="approve", resolved_at=now
            ),
        }

    def make(self, kind: str, view: View | None = None) -> ir.Envelope:
        return self.seal(kind, self.bodies(view)[kind])

    def tell(self, *kinds: str) -> list[Row]:
        return [self.home.journal.append(self.make(kind)) for kind in kinds]

    def accepted(self) -> Story:
        self.tell("intent.draft", "intent.compiled", "plan.proposed", "intent.accept")
        return self

    def whole(self) -> Story:
        self.accepted()
        self.tell("plan.step", "policy.gate", "policy.gate.resolve", "plan.output")
        self.home.journal.record("record.gate.decision", {"verdict": "allow", "node": "n0"}, intent=self.id)
        self.tell("intent.attest")
        return self


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Home]:
    with Home.open(tmp_path / "home") as opened:
        yield opened


@pytest.fixture
def story(home: Home) -> Story:
    return Story(home)


@pytest.fixture
def walks(home: Home, tmp_path: Path) -> Walks:
    (tmp_path / "work").mkdir()
    return Walks(home, tmp_path / "work")


@dataclass(frozen=True)
class Disk:
    """Runs a script with a small disk of its own at `path`; only the script sees it, and it ends with it."""

    path: Path

    def run(self, script: str, *, size: str = "1m") -> Any:
        """What the script printed, read as JSON. `DISK` is the folder; `read_only()` freezes the disk."""
        mount = f'mount -t tmpfs -o size={size} tmpfs "$1" && exec "$2" -c "$3" "$1"'
        command = [*_OWN_MOUNTS, "sh", "-c", mount, "sh", str(self.path), sys.executable, _DISK_HEAD + script]
        done = subprocess.run(command, capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)


_OWN_MOUNTS = ("unshare", "--user", "--map-root-user", "--mount")
_DISK_HEAD = """
import json, os, subprocess, sys
from pathlib import Path
from executor import Home, HomeError, JournalError, KeyringError
import ir
DISK = Path(sys.argv[1])
def read_only():
    subprocess.run(["mount", "-o", "remount,ro", str(DISK)], check=True)
def free():
    status = os.statvfs(DISK)
    return status.f_bavail * status.f_frsize
def fill(leave):
    with (DISK / "ballast").open("wb") as file:
        file.write(bytes(free() - leave))
"""


@pytest.fixture
def disk(tmp_path: Path) -> Disk:
    place = tmp_path / "disk"
    place.mkdir()
    attempt = [*_OWN_MOUNTS, "mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(place)]
    try:
        tried = subprocess.run(attempt, capture_output=True, text=True, timeout=60)
    except FileNotFoundError:
        pytest.skip("mounts: no small disk here, there is no `unshare` command")
    if tried.returncode:
        pytest.skip(f"mounts: no small disk here ({tried.stderr.strip()})")
    return Disk(place)
