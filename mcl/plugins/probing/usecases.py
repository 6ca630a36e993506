"""`mcl tool contracts --out` and `mcl tool check`: what tools promise, written down, and held against the
code and against what they do."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from executor.core.errors import ManifestError
from executor.core.files import whole_file
from executor.tools.manifest import Manifest
from mcl.catalog.contracts import (
    JSON_FILE,
    SAFETY_FILE,
    Drift,
    contracts_of,
    folder_drift,
    json_document,
    safety_document,
)
from mcl.catalog.contracts.drift import registered_drift
from mcl.catalog.tools.registry import registry
from mcl.core.errors import InputError
from mcl.core.event_loop import outside_loop
from mcl.plugins.probing.judgement import Probed, State, unprobed, unshown
from mcl.plugins.probing.probe import SOURCE, Progress, probe


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
