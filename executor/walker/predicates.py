"""Success criteria: each is looked at, and what was found is evidence."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from executor.core.errors import ScopeError
from executor.sandbox.paths import Workspace
from executor.sandbox.redaction import visible
from ir import (
    AttestationPredicate,
    DeliveredPredicate,
    Envelope,
    Intent,
    IntentAttestBody,
    Predicate,
)

_PREFIXES = ("matrix://artifact/", "matrix://file/", "file:", "./")


@dataclass(frozen=True, slots=True)
class Criterion:
    """One success predicate and what was found. ``reason`` says why it does not hold."""

    predicate: Predicate
    holds: bool
    reason: str = ""
    evidence: Mapping[str, object] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """The predicate in a few words, such as ``delivered report.md``."""
        said = self.predicate.model_dump(exclude={"type", "schema", "data"})
        return visible(" ".join([self.predicate.type, *(str(text) for text in said.values() if text)]))[:300]

    def to_json(self) -> dict[str, object]:
        """The finding as a JSON object."""
        found: dict[str, object] = {"type": self.predicate.type, "holds": self.holds, **self.evidence}
        return {**found, "reason": self.reason} if self.reason else found


def delivered(
    predicate: DeliveredPredicate,
    intent: Intent,
    workspace: Workspace,
    check: Callable[[], None] = lambda: None,
) -> Criterion:
    """Does the artifact lie in the workspace? Its name is a path, or that of an object of the Intent.

    ``check`` is called while it is read, and may stop that by raising.
    """
    named = {entry.name: entry.uri or entry.value for entry in intent.frame.objects}
    path = named.get(predicate.artifact, predicate.artifact)
    for prefix in _PREFIXES:
        path = path.removeprefix(prefix)
    try:
        digest, size = workspace.digest(path, check=check)
    except ScopeError as problem:
        return Criterion(predicate, False, problem.message, {"artifact": predicate.artifact})
    return Criterion(predicate, True, "", {"artifact": path, "sha256": digest, "size": size})


def attested(predicate: AttestationPredicate, envelopes: Iterable[Envelope]) -> Criterion:
    """Did the source sign an intent.attest of success that cites the topic? The signatures were checked on
    reading."""
    evidence = {"source": predicate.source, "topic": predicate.topic}
    for envelope in envelopes:
        body = envelope.body
        if (
            isinstance(body, IntentAttestBody)
            and envelope.from_ == predicate.source.removeprefix("matrix://agent/")
            and body.outcome == "success"
            and (not predicate.topic or predicate.topic in body.cited_uris)
        ):
            return Criterion(predicate, True, "", {**evidence, "envelope": envelope.id})
    return Criterion(predicate, False, "no such attestation is in the journal", evidence)


def unsupported(predicate: Predicate) -> Criterion:
    """A predicate of somebody else's making holds never: nothing here can look at it."""
    return Criterion(predicate, False, f"nothing here knows how to look at {visible(predicate.type)[:100]}")
