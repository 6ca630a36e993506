"""`mcl tool call`: one call that a person makes directly. It becomes an intent of one node, signed and run
like any other: one gate, one journal."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from executor.gate.policy import Policy
from executor.gate.references import typed_args
from executor.gate.verdict import Deny
from executor.sandbox.redaction import visible
from executor.store.home import Home
from executor.tools.manifest import Manifest
from executor.tools.names import short_name
from ir.results import as_json
from mcl.catalog.extras import require_extras
from mcl.catalog.tools.foreign import all_tools
from mcl.core.event_loop import outside_loop
from mcl.core.home import open_home
from mcl.core.text import cut
from mcl.usecases.accept import accept
from mcl.usecases.direct import NODE, direct_call, effect_in, proposal, text_of
from mcl.usecases.intents import cancel
from mcl.usecases.plans import Planned
from mcl.usecases.plans import show as plan
from mcl.usecases.run import run
from mcl.usecases.tools import find_manifest

if TYPE_CHECKING:
    from executor import Outcome
    from executor.walker.interfaces import Listener
    from executor.walker.questions import People

_SHOWN = 80  # characters of an argument in the words of the intent


@dataclass(frozen=True)
class Called:
    """What became of a call.

    outcome: None where it did not run; refused: why, "" where the person did not agree.
    """

    intent_id: str
    tool: str
    planned: Planned
    outcome: "Outcome | None" = None
    refused: Deny | None = None

    @property
    def output(self) -> object:
        """The tool's answer, None where there is none."""
        return self.outcome.outputs.get(NODE) if self.outcome else None

    def to_json(self) -> dict[str, object]:
        """The call as a JSON object. state: of its run; denied or declined where it did not run."""
        refused, outcome = self.refused, self.outcome
        return {
            "intent_id": self.intent_id,
            "tool": self.tool,
            "state": outcome.state if outcome else "denied" if refused else "declined",
            "output": self.output,
            "failure": as_json(refused or (outcome.failure if outcome else None)),
        }


def call_tool(
    name: str,
    args: Mapping[str, object],
    *,
    agree: Callable[[Planned], bool],
    workspace: Path | None = None,
    people: "People | None" = None,
    listener: "Listener | None" = None,
    timeout_ms: int = 0,
    home: Home | None = None,
    unseen: bool = False,
) -> Called:
    """Make one call of a tool, in `workspace` (default: the current folder).

    Args:
        name: address or short name (fs/read). args: JSON values, or texts that the tool's schema turns into
            values; ``$env:NAME`` only where the manifest names a credential.
        agree: is shown the plan with the gate's verdict; only its True signs and runs it. Where the gate
            refuses, nobody is asked.
        people: who decides where the gate wants this exact call approved; None: nobody, so it is denied.
        timeout_ms: milliseconds, 0 = the manifest's. unseen: nobody looks at what `agree` is shown.

    Raises:
        InputError: TOOL_UNKNOWN, EXTRA_MISSING, BAD_ARGUMENT, SECRET_INLINE, UNCALLABLE.
        PolicyError: BAD_POLICY. (Nothing is in the journal then.)
        What accept and run raise.
    """
    outside_loop("call_tool")
    home = home or open_home()
    place = workspace or Path.cwd()
    tools = all_tools(home)
    manifest = find_manifest(name, tools)
    require_extras([short_name(manifest.uri)])
    Policy.load(home.path / "policy.toml", tools)  # before anything is drafted
    id = _propose(home, manifest, args, place, timeout_ms)
    seen = plan(id, workspace=place, home=home)
    denied = next((one.reply for one in seen.verdicts if isinstance(one.reply, Deny)), None)
    if denied is not None or not agree(seen):
        cancel(id, reason=denied.code if denied else "not agreed to", home=home)
        return Called(id, manifest.uri, seen, refused=denied)
    accept(id, intent_hash=seen.intent.hash, plan_hash=seen.plan.hash, home=home, unseen=unseen)
    outcome = run(id, workspace=place, people=people, listener=listener, home=home)
    return Called(id, manifest.uri, seen, outcome)


def _propose(home: Home, manifest: Manifest, args: Mapping[str, object], place: Path, timeout_ms: int) -> str:
    """Draft, Intent and plan of the call, in one commit; the intent's id."""
    texts = {name: text_of(name, value) for name, value in args.items()}
    effect = effect_in(place, manifest, typed_args(texts, manifest, {}))
    words = " ".join(f"{name}={_short(text.replace('$${', '${'))}" for name, text in texts.items())
    called = manifest.name if manifest.outside else short_name(manifest.uri)
    prose = f"call {called}{f' with {words}' if words else ''}"
    made = direct_call(home, manifest, texts, effect, prose=prose, timeout_ms=timeout_ms)
    home.journal.append_many(proposal(home, made.intent, made.plan, home.clock.now()))
    return made.intent.id


def _short(text: str) -> str:
    line = visible(" ".join(text.split()))
    line = cut(line, _SHOWN)
    return f'"{line}"' if " " in line or not line else line
