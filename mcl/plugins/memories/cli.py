"""`mcl memory`: memories."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import IO, Annotated, Literal

import typer

from mcl.cli.arguments import AsJson, argument, noun, option, typed_text, verb
from mcl.cli.home import use_home
from mcl.cli.output import Output, note
from mcl.cli.people import agreed
from mcl.cli.progress import progress_bar
from mcl.cli.views.layout import BAD, DIM, GOOD, listing, plain, rows


def complete_type(incomplete: str) -> list[str]:
    """Shell completion: the types of memories."""
    from mcl.core.words import MEMORY_TYPES

    return [name for name in MEMORY_TYPES if name.lower().startswith(incomplete.lower())]


Address = Annotated[str, argument("URI", "matrix://cortex/Type/id, with @v2 for one version; or Type/id.")]
Types = Annotated[
    list[str] | None,
    option("--type TYPE", "Only of this type; may be given several times.", autocompletion=complete_type),
]
Tags = Annotated[list[str] | None, option("--tag TAG", "Only with this tag; may be given several times.")]
At = Annotated[str, option("--at SNAPSHOT", "As it was then: the size or the root of a snapshot.")]


def full(address: str) -> str:
    """An address as typed, with its scheme."""
    return address if "://" in address else f"matrix://cortex/{address}"


memory = noun(
    "memory",
    "Memories: what is remembered.",
    'mcl memory add Fact "The office is in Oslo"',
    "mcl memory find office",
)


# ---- `mcl memory add`, `forget` and `learning`: what changes memories.

MAX_TEXT_BYTES = 4 * 16_384  # no text of the longest allowed length is larger


@verb(memory, "add")
def put(
    type: Annotated[
        str,
        argument(
            "[TYPE]",
            "Identity, Fact, Preference, Belief, Event, Goal, Constraint, Capability, Pattern.",
            autocompletion=complete_type,
        ),
    ] = "",
    text: Annotated[str, argument("[TEXT]", "What to remember; - reads standard input.")] = "",
    file: Annotated[
        Path | None,
        option("--file JSONL", "Remember every line of a file, all or nothing; - reads standard input."),
    ] = None,
    id: Annotated[str, option("--id ID", "The same id again makes the next version.")] = "",
    tag: Annotated[list[str] | None, option("--tag TAG", "May be given several times.")] = None,
    edge: Annotated[
        list[str] | None,
        option("--edge REL=URI", "What it is linked to, and how; may be given several times."),
    ] = None,
    importance: Annotated[float, option("--importance SHARE", "From 0 to 1.", min=0, max=1)] = 0.5,
    confidence: Annotated[float, option("--confidence SHARE", "From 0 to 1.", min=0, max=1)] = 1.0,
    source: Annotated[str, option("--source TEXT", "Where it comes from.")] = "",
    as_json: AsJson = False,
) -> None:
    """Remember something: a text, or every line of a file.

    A line of the file is a JSON object with type and text, and where wanted id, tags, edges, importance,
    confidence, source, data, at. What is remembered already is left as it is.
    """
    if file is not None:
        if type or text or id or tag or edge:
            raise typer.BadParameter("--file goes without TYPE, TEXT, --id, --tag and --edge")
        _put_file(file, Output(as_json))
        return
    if not type or not text:
        raise typer.BadParameter("give TYPE and TEXT, or --file")
    from mcl.plugins.memories import memories
    from mcl.plugins.memories.views import memory_view

    said = memories.add(
        type,
        _text(text),
        id=id,
        tags=tag or (),
        edges=[_edge(one) for one in edge or ()],
        importance=importance,
        confidence=confidence,
        source=source,
        home=use_home(signs=True),
    )
    out = Output(as_json)
    out.document(said)
    if "[redacted: " in said.text and "[redacted: " not in text:
        note("a secret was taken out of it")
    if not as_json:
        out.tell(memory_view(said))


@verb(memory, "remove")
def forget(
    uri: Address,
    yes: Annotated[bool, option("--yes", "Do not ask.")] = False,
    as_json: AsJson = False,
) -> int:
    """Forget a memory.

    It is found no more from now on. What it said stays in earlier snapshots and in the journal, which are
    never changed. On a terminal it asks first.
    """
    from ir.errors import REFUSED
    from mcl.plugins.memories import memories
    from mcl.plugins.memories.views import memory_view

    home, out = use_home(signs=True), Output(as_json)
    found = memories.show(full(uri).partition("@")[0], home=home)
    if not yes and sys.stdin.isatty():
        out.tell(memory_view(found))
        if not agreed("Forget it?"):
            note("nothing was forgotten")
            return REFUSED
    gone = memories.remove(found.address, home=home)
    out.document(gone)
    note(f"forgotten: {gone.address}")
    return 0


@verb(memory, "learning")
def learning(
    switch: Annotated[Literal["on", "off"] | None, argument("[on|off]", "Turn it on or off.")] = None,
    as_json: AsJson = False,
) -> None:
    """Tell whether accepted answers are learned from, or turn that on or off.

    Off, nothing new is learned and what was learned is not made use of; it is not forgotten.
    """
    from mcl.plugins.memories import memories

    wanted = None if switch is None else switch == "on"
    on = memories.learning(wanted, home=use_home(signs=switch is not None))
    Output(as_json).document({"learning": "on" if on else "off"})
    if not as_json:
        Output().tell([plain(f"learning from accepted answers is {'on' if on else 'off'}")])


def _put_file(file: Path, out: Output) -> None:
    from mcl.plugins.memories import memories

    home = use_home(signs=True)
    with _lines(file) as lines, progress_bar("remembering") as progress:
        done = memories.add_lines(lines, name=str(file), progress=progress, home=home)
    out.document(done)
    if not out.as_json:
        told = f"{done.lines} lines: {done.written} remembered, {done.unchanged} were known"
        out.tell([plain(told, GOOD), plain(f"snapshot {done.size}  {done.root}", "dim")])


@contextmanager
def _lines(file: Path) -> Iterator[IO[bytes]]:
    if str(file) == "-":
        yield sys.stdin.buffer
        return
    with file.open("rb") as stream:
        yield stream


def _text(text: str) -> str:
    from mcl.core.errors import MemoryStoreError

    refusal = partial(MemoryStoreError, "MEMORY_SHAPE")
    return typed_text(text, MAX_TEXT_BYTES, refusal, shorten="remember where it is, not all of it")


def _edge(text: str) -> tuple[str, str]:
    relation, equals, uri = text.partition("=")
    if not equals:
        raise typer.BadParameter(f"{text!r} is not REL=URI")
    return relation, uri


# ---- `mcl memory find`, `list` and `show`: what is remembered.


@verb(memory, "find")
def find(
    near: Annotated[str, argument("WORDS", "What it should be about.")],
    types: Types = None,
    tag: Tags = None,
    limit: Annotated[int, option("--limit N", "At most so many.", min=1)] = 10,
    at: At = "",
    as_json: AsJson = False,
) -> None:
    """Find memories that share words with WORDS, the best first."""
    from mcl.plugins.memories import memories
    from mcl.plugins.memories.views import tell_list

    home = use_home()
    found = memories.find(near, types=types or (), tags=tag or (), limit=limit, at=at or None, home=home)
    tell_list(found, Output(as_json))


@verb(memory, "list")
def list_memories(
    types: Types = None,
    tag: Tags = None,
    limit: Annotated[int, option("--limit N", "At most so many; 0: all.", min=0)] = 50,
    at: At = "",
    as_json: AsJson = False,
) -> None:
    """List memories, the most important and newest first."""
    from mcl.plugins.memories import memories
    from mcl.plugins.memories.views import tell_list

    found = memories.list(types=types or (), tags=tag or (), limit=limit, at=at or None, home=use_home())
    tell_list(found, Output(as_json))


@verb(memory, "show")
def show(
    uri: Address,
    history: Annotated[bool, option("--history", "All its versions, oldest first.")] = False,
    at: At = "",
    as_json: AsJson = False,
) -> None:
    """Show one memory."""
    from mcl.plugins.memories import memories
    from mcl.plugins.memories.views import history_view, memory_view

    home, out = use_home(), Output(as_json)
    if history:
        versions = memories.history(full(uri), at=at or None, home=home)
        out.show(
            {"uri": versions[-1].address, "versions": versions},
            [history_view(versions)],
        )
        return
    memory = memories.show(full(uri), at=at or None, home=home)
    out.show(memory, memory_view(memory))


# ---- `mcl memory snapshot`, `prove` and `verify`: that memories are what they were.


@verb(memory, "snapshot")
def snapshot(
    which: Annotated[str, argument("[SNAPSHOT]", "Its size or root; now, where left out.")] = "",
    as_json: AsJson = False,
) -> None:
    """Name the memories as they are now, or were then: how many changes there were, and their Merkle root."""
    from ir.results import fields_json
    from mcl.memory import MemoryStore
    from mcl.plugins.memories import memories

    home, out = use_home(), Output(as_json)
    found = memories.snapshot(which or None, home=home)
    count = MemoryStore(home).memories(found).count()
    out.show(
        {**fields_json(found), "memories": count},
        [
            rows(
                [
                    ("size", f"{found.size} changes"),
                    ("root", found.root),
                    ("memories", str(count)),
                ]
            )
        ],
    )


@verb(memory, "prove")
def prove(
    uri: Address,
    at: At = "",
    since: Annotated[
        str, option("--since SNAPSHOT", "Also prove that nothing of this older one changed.")
    ] = "",
    out: Annotated[Path | None, option("--out FILE", "Write the proof to a file.")] = None,
    as_json: AsJson = False,
) -> None:
    """Prove that a memory says what it says.

    The proof holds its text, its path in the Merkle tree, and the agent's signature over the root.
    `mcl memory verify FILE` checks it anywhere, without this home.
    """
    from mcl.plugins.memories import memories
    from mcl.plugins.memories.views import checks_view

    proof = memories.prove(full(uri), at=at or None, since=since or None, home=use_home())
    told = Output(as_json)
    if out is not None:
        out.write_bytes(proof.to_bytes())
        note(f"wrote {out}; mcl memory verify {out} checks it")
    told.show(proof, [checks_view(proof.checks())])


@verb(memory, "verify")
def verify(
    proofs: Annotated[list[Path] | None, argument("[PROOF]...", "Files made by mcl memory prove.")] = None,
    key: Annotated[str, option("--key DID", "The agent that must have signed the proof.")] = "",
    reindex: Annotated[bool, option("--reindex", "Make the search index anew first.")] = False,
    as_json: AsJson = False,
) -> int:
    """Check proofs without any home, or all memories of this home.

    Of a home: every row, leaf and root, the index, and that the journal's signed records say the same.

    Exit code 6 when anything does not hold.
    """
    if proofs:
        if reindex:
            raise typer.BadParameter("--reindex goes without files")
        return _verify_proofs(proofs, key, Output(as_json))
    if key:
        raise typer.BadParameter("--key goes with files")
    from ir.errors import UNVERIFIED
    from ir.results import fields_json
    from mcl.plugins.memories import memories

    out, home = Output(as_json), use_home()
    with progress_bar("checking") as progress:
        report = memories.verify(reindex=reindex, progress=progress, home=home)
    out.document({"ok": report.ok, **fields_json(report)})
    counts = f"{report.mutations} changes, {report.records} records, {report.memories} memories"
    if report.ok:
        out.view([plain(f"{counts}; nothing wrong", GOOD), plain(f"root {report.root}", DIM)])
        return 0
    lines = [((flaw.place, ""), (flaw.code, BAD), (flaw.message, "")) for flaw in report.flaws]
    out.view([listing(("where", "code", "what is wrong"), lines), ""])
    out.view([plain(f"{counts}; {len(report.flaws)} findings", BAD)])
    return UNVERIFIED


def _verify_proofs(proofs: list[Path], key: str, out: Output) -> int:
    from ir.errors import UNVERIFIED
    from mcl.plugins.memories import memories
    from mcl.plugins.memories.views import checks_view

    reports = [(path, memories.verify_proof(path, key=key)) for path in proofs]
    ok = all(report.ok for _, report in reports)
    out.document({"ok": ok, "proofs": [{"file": path, **report.to_json()} for path, report in reports]})
    for path, report in reports:
        out.view([plain(str(path), "bold"), checks_view(report.checks)])
    if ok and not key:
        note("whether that signer is the one you mean, --key tells")
    return 0 if ok else UNVERIFIED
