"""`mcl verify`: what can be checked about a document without a model, for thousands of files in one run."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from ir import (
    Envelope,
    Intent,
    PlanTree,
    PublicKey,
    check_plan,
    content_hash,
    open_envelope,
    parse_json,
)
from ir.bodies import IntentCompiledBody, PlanProposedBody
from ir.errors import USAGE, MclError
from ir.findings import Finding
from ir.intent import seed_of
from ir.results import UNTOLD
from mcl.core.errors import InputError

if TYPE_CHECKING:
    from executor.store.home import Home

MAX_BYTES = 16 * 1024 * 1024
Resolver = Callable[[str], PublicKey | None]


def read_document(path: Path, fix: str, *, exit: int = USAGE) -> bytes:
    """The bytes of a document of ours. Raises InputError FILE_UNREADABLE with this fix, FILE_TOO_LARGE."""
    try:
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
    except OSError as error:
        why = error.strerror or str(error)
        raise InputError("FILE_UNREADABLE", why, place=str(path), fix=fix, exit=exit) from error
    if len(data) > MAX_BYTES:
        why, fix = f"more than {MAX_BYTES} bytes", "no document is that large"
        raise InputError("FILE_TOO_LARGE", why, place=str(path), fix=fix, exit=exit)
    return data


@dataclass(frozen=True)
class VerifiedFile:
    """What was found about one file. `kind`: intent, plan, that of an envelope or record, or ""."""

    path: Path = field(metadata=UNTOLD)
    kind: str
    id: str
    hash: str
    flaws: tuple[Finding, ...]

    @property
    def ok(self) -> bool:
        """Whether everything that could be checked holds."""
        return not self.flaws


def verify(paths: Iterable[Path | str], *, home: "Home | None" = None) -> Iterator[VerifiedFile]:
    """Check Intents and PlanTrees (JSON), envelopes and records (CBOR), file by file.

    An Intent: shape, hash, seed derivation. A plan: shape, hash, all plan checks. An envelope: everything
    `ir.open_envelope` checks, with the keys of the home as trusted keys, and then the document it carries. A
    record: shape, key, signature and role.
    Never raises for what is in a file or for a file that cannot be read: that is a flaw of the report.
    """
    resolver = _resolver(home)
    for path in map(Path, paths):
        yield _verify_file(path, resolver)


def _resolver(home: "Home | None") -> Resolver:
    """The keys of the home, opened when the first envelope asks for one; none where there is no home."""
    opened = home

    def resolve(did: str) -> PublicKey | None:
        nonlocal opened
        if opened is None:
            from mcl.core.home import locate, open_home

            if not locate().is_dir():
                return None
            opened = open_home()
        return opened.keyring.resolver(did)

    return resolve


def _verify_file(path: Path, resolver: Resolver) -> VerifiedFile:
    try:
        data = read_document(path, "name a file that may be read")
    except InputError as error:
        return VerifiedFile(path, "", "", "", (Finding(error.code, error.message),))
    try:
        if data.lstrip()[:1] == b"{":
            return _verify_document(path, data)
        from executor.store.journal.record import (  # heavy, and Intents and plans need none of it
            is_record,
            open_record,
        )

        if is_record(data):
            record = open_record(data, resolver)
            return VerifiedFile(path, record.kind, record.id, record.self_hash, ())
        return _verify_envelope(path, open_envelope(data, resolver))
    except MclError as error:
        return VerifiedFile(path, "", "", "", (Finding(error.code, error.message, error.place),))


def _verify_document(path: Path, data: bytes) -> VerifiedFile:
    names = parse_json(data, max_nesting=PlanTree.max_nesting)
    if isinstance(names, dict) and "root" in names:
        plan = PlanTree.from_json(data)
        return VerifiedFile(path, "plan", plan.id, plan.hash, tuple(plan_flaws(plan)))
    intent = Intent.from_json(data)
    return VerifiedFile(path, "intent", intent.id, intent.hash, tuple(intent_flaws(intent)))


def _verify_envelope(path: Path, envelope: Envelope) -> VerifiedFile:
    flaws: tuple[Finding, ...] = ()
    match envelope.body:
        case IntentCompiledBody(intent_json=data):
            flaws = tuple(intent_flaws(Intent.from_json(data, canonical=True)))
        case PlanProposedBody(plan_json=data):
            flaws = tuple(plan_flaws(PlanTree.from_json(data, canonical=True)))
        case _:
            pass
    return VerifiedFile(path, envelope.kind, envelope.id, envelope.self_hash, flaws)


def intent_flaws(intent: Intent) -> Iterator[Finding]:
    """What does not hold in an Intent taken by itself: its hash, and the seed its metadata must give."""
    if intent.hash != (right := content_hash(intent)):
        yield Finding(
            "INTENT_HASH_MISMATCH",
            f"hash is {intent.hash or 'missing'}, the document gives {right}",
            "$.hash",
        )
    made, seed = intent.compile_metadata, seed_of(intent)
    if made is None or seed is None:
        return
    if made.seed != seed.hex:
        yield Finding(
            "SEED_MISMATCH", f"seed is {made.seed}, its parts give {seed.hex}", "$.compile_metadata.seed"
        )


def plan_flaws(plan: PlanTree) -> Iterator[Finding]:
    """What does not hold in a plan taken by itself: its hash and the plan checks."""
    if plan.hash != (right := content_hash(plan)):
        yield Finding(
            "PLAN_HASH_MISMATCH", f"hash is {plan.hash or 'missing'}, the document gives {right}", "$.hash"
        )
    yield from check_plan(plan)
