"""`mcl tool contracts --out` and `mcl tool check`: what tools promise, written down, and held against the
code and against what they do."""

from __future__ import annotations

import json
import os
import sys
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path, PurePath
from typing import Any, Final

import anyio

from executor.core.errors import ManifestError
from executor.core.files import whole_file
from executor.sandbox.environment import scratch
from executor.sandbox.process import Finished, run_command
from executor.tools.manifest import Manifest
from ir.errors import FAILED
from mcl.catalog.contracts import (
    JSON_FILE,
    SAFETY_FILE,
    contracts_of,
    folder_drift,
    json_document,
    safety_document,
)
from mcl.catalog.contracts.drift import Drift
from mcl.catalog.tools.registry import registry
from mcl.core.errors import InputError
from mcl.core.event_loop import at_once, outside_loop
from mcl.plugins.probing.folder import BIN
from mcl.plugins.probing.judgement import PLAN, RESULTS, Probed, State, behind_sandbox, unprobed, unshown
from mcl.plugins.probing.manifests import registered_drift

# ---- Trying every tool in a folder of its own, with a home of its own, in another process. That shows
# mistakes, and tools that grew. It is no prison: code that means harm could do it there as anywhere.

# ---- What the process of the examples wrote down, read.

# Why an example says nothing of a tool: what it needs is not there.
_MISSING: Final = ("COMMAND_NOT_FOUND",)


def probed_of(told: Mapping[str, Any]) -> Probed:
    """The result that the process of the examples wrote down."""
    flaws = tuple(Drift(**one) for one in told["flaws"])
    programs = {behind_sandbox(what) for kind, what in told["seen"] if kind == "start"} - {""}
    asked = {what for kind, what in told["seen"] if kind == "connect"}
    hosts = {host for what in asked for host in told["hosts"].get(what, [what])}
    state: State = "sound"
    if flaws:
        state = "unsound"
    elif told["state"] != "ran":
        state = "not probed" if told["code"] in _MISSING else "failed"
    return Probed(
        told["tool"],
        told["number"],
        told["given"],
        state,
        flaws,
        "" if state in ("sound", "unsound") else f"{told['code']}: {told['message']}",
        tuple(told["changed"].get("work", ())),
        tuple(sorted({PurePath(one).name for one in programs})),
        tuple(sorted({PurePath(one).name for one in programs if PurePath(one).parent.name == BIN})),
        tuple(sorted(hosts)),
        tuple(told["home"]),
        told["seconds"],
    )


SOURCE: Final = "mcl.catalog.tools.registry:registry"
_HOST: Final = Path(__file__).with_name("host.py")
_LIMIT_S: Final = 60.0  # of one example
_POLL_S: Final = 0.05
_WORDS: Final = 1 << 16  # bytes of what the process says that are kept
_MOST_AT_ONCE: Final = 4

Progress = Callable[[int, int], None]


def probe(
    *,
    source: str = SOURCE,
    only: Collection[str] = (),
    progress: Progress | None = None,
    limit_s: float = _LIMIT_S,
) -> tuple[Probed, ...]:
    """Run the examples of all tools, each in a fresh folder, and tell what they were seen to do.

    Args:
        source: "module:function"; called with what opens a home, it gives the registry. only: names of tools
            (``mcl:fs/read``); all where empty. progress: is told how many examples are done, and of how many.
        limit_s: seconds for one example.

    Raises:
        InputError: PROBE_FAILED, the process of the examples did not come to its end. OSError.
    """
    with scratch("probe-") as place:
        return at_once(partial(_probe, place.resolve(), source, sorted(only), progress, limit_s))


async def _probe(
    place: Path, source: str, only: list[str], progress: Progress | None, limit_s: float
) -> tuple[Probed, ...]:
    job = {
        "folder": str(place),
        "source": source,
        "only": only,
        "limit_s": limit_s,
        "at_once": max(2, min(os.cpu_count() or 1, _MOST_AT_ONCE)),
        "path": [str(Path(one).absolute()) for one in sys.path],
    }
    (place / "job.json").write_text(json.dumps(job))
    (place / "home").mkdir()
    environment = {
        "PATH": os.environ.get("PATH", "/usr/bin:/bin"),
        "HOME": str(place / "home"),
        "TMPDIR": str(place),
        "LANG": "C.UTF-8",
    }
    # -I: nothing of the person's own is loaded, and no variable of Python's counts.
    argv = [sys.executable, "-I", "-W", "ignore", str(_HOST), str(place / "job.json")]
    ended: list[Finished] = []

    async def run() -> None:
        ended.append(
            await run_command(argv, cwd=place, environment=environment, max_output=_WORDS, keep="tail")
        )
        watching.cancel()

    async with anyio.create_task_group() as group:
        watching = group.cancel_scope if progress is None else anyio.CancelScope()
        group.start_soon(run)
        if progress is not None:
            with watching:
                await _count(place, progress)
    if ended[0].status != 0:
        words = ended[0].err.decode("utf-8", "replace").strip().splitlines()[-1:]
        raise InputError(
            "PROBE_FAILED",
            f"the examples could not be run: {words[0] if words else 'no message'}",
            place="probe",
            fix="leave it out: mcl tool check --no-probe",
            exit=FAILED,
        )
    files = sorted((place / RESULTS).glob("*.json"), key=lambda one: int(one.stem))
    return tuple(probed_of(json.loads(one.read_text())) for one in files)


async def _count(place: Path, progress: Progress) -> None:
    total, before = 0, -1
    while True:
        if not total and (place / PLAN).exists():
            total = int(json.loads((place / PLAN).read_text())["examples"])
        done = len(list((place / RESULTS).glob("*.json")))
        if total and done != before:
            progress(done, total)
            before = done
        await anyio.sleep(_POLL_S)


@dataclass(frozen=True)
class VerifiedContracts:
    """What was found when the tools of this build were held against what is said of them.

    tools: how many there are. drift: what is said otherwise than it is, undeclared effects that were seen
    among it. probed: every example that was run, and every tool of which none was. broken: why nothing could
    be compared.
    """

    tools: int
    drift: tuple[Drift, ...] = ()
    probed: tuple[Probed, ...] = ()
    broken: tuple[ManifestError, ...] = ()

    @property
    def sound(self) -> bool:
        """Whether nothing differs, and every example that was run works."""
        return not self.broken and not self.drift

    @property
    def unprobed(self) -> tuple[Probed, ...]:
        """What was not seen at work, with the reason; it does not count as sound, nor as drift."""
        return tuple(one for one in self.probed if one.state == "not probed")

    def count(self, state: State) -> int:
        """How many examples ended so."""
        return Counter(one.state for one in self.probed)[state]


def write_contracts(folder: Path) -> tuple[Path, ...]:
    """Write tool_contracts.json and TOOL_SAFETY.md of the tools of this build into a folder, made where it is
    missing. What a home declares besides, and tools of other servers, are left out: they are not of this
    build.

    Raises:
        ManifestError: a manifest is broken. InputError: FOLDER_UNWRITABLE.
    """
    contracts = contracts_of(registry())
    texts = {JSON_FILE: json_document(contracts), SAFETY_FILE: safety_document(contracts)}
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in texts.items():
            place = (folder / name).resolve()
            like = place.stat() if place.exists() else None
            with whole_file(place, like=like) as file:
                file.write(text.encode())
            if like is None:
                place.chmod(0o644)
    except OSError as problem:
        raise InputError(
            "FOLDER_UNWRITABLE",
            f"{folder} cannot be written: {problem.strerror}",
            place=str(folder),
            fix="name a folder of yours",
        ) from problem
    return tuple(folder / name for name in texts)


def verify_contracts(
    *,
    docs: Path | None = None,
    probing: bool = True,
    others: Sequence[Manifest] = (),
    progress: Progress | None = None,
    source: str = SOURCE,
) -> VerifiedContracts:
    """Hold manifests, the code beside them, documents and what each tool is seen to do against each other.

    Args:
        docs: the folder with tool_contracts.json and TOOL_SAFETY.md; None: no documents are compared.
        probing: run the examples. others: tools that are not of this build; none of them is run, and of each
        it is told why. progress: is told how many examples are done, and of how many.
        source: "module:function" that gives the tools.

    Raises:
        InputError: PROBE_FAILED.
    """
    outside_loop("verify_contracts", plugin=True)
    from mcl.plugins.probing.calls import ProbedTools

    try:
        tools = ProbedTools(source).registry
    except ManifestError as problem:
        return VerifiedContracts(0, broken=(problem,))
    drift = list(registered_drift(tools))
    if docs is not None:
        drift += folder_drift(contracts_of(tools), docs)
    probed = list(probe(source=source, progress=progress)) if probing else []
    for run in probed:
        drift += run.flaws
        if run.state == "failed":
            message = f"its example does not work: {run.reason}"
            drift.append(Drift("EXAMPLE_FAILED", _name(run.tool), message, "repair the example, or the tool"))
    for one in tools.own if probing else ():
        drift += unshown(one, [run for run in probed if run.tool == one.uri])
    seen = {run.tool for run in probed}
    for one in (*tools.own, *others) if probing else ():
        if one.uri not in seen:
            seen.add(one.uri)
            probed.append(unprobed(one.uri, _why(one)))
    return VerifiedContracts(len(tools.own), tuple(drift), tuple(probed))


def _why(manifest: Manifest) -> str:
    if manifest.outside is not None:
        return "a tool of another server: what it does there is not seen from here"
    return "an operator's command: nobody asked for it to be run" if manifest.command else "it has no example"


def _name(uri: str) -> str:
    return uri.removeprefix("matrix://tool/")
