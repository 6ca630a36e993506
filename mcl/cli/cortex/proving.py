"""`mcl cortex snapshot`, `prove` and `verify`: that memories are what they were."""

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from mcl.cli.arguments import AsJson, example
from mcl.cli.cortex.arguments import Address, At, full
from mcl.cli.cortex.writing import bar
from mcl.cli.output import Output, note


def register(cortex: typer.Typer) -> None:
    """Add these verbs."""
    cortex.command("snapshot", epilog=example("mcl cortex snapshot", "mcl cortex snapshot 12 --json"))(
        snapshot
    )
    cortex.command(
        "prove",
        epilog=example(
            "mcl cortex prove Fact/office --out proof.json", "mcl cortex prove Fact/office@v1 --since 12"
        ),
    )(prove)
    cortex.command(
        "verify", epilog=example("mcl cortex verify", "mcl cortex verify proof.json --key did:key:z6Mk…")
    )(verify)


def snapshot(
    which: Annotated[
        str, typer.Argument(metavar="[SNAPSHOT]", help="Its size or root; now, where left out.")
    ] = "",
    as_json: AsJson = False,
) -> None:
    """Name the memories as they are now, or were then: how many changes there were, and their Merkle root."""
    from mcl.cli.home import use_home
    from mcl.cli.views.layout import plain, rows
    from mcl.memory import Cortex
    from mcl.usecases.cortex import cortex_snapshot

    home, out = use_home(), Output(as_json)
    found = cortex_snapshot(which or None, home=home)
    count = Cortex(home).memories(found).count()
    out.document({**asdict(found), "memories": count})
    out.view(
        [
            rows(
                [
                    ("size", plain(f"{found.size} changes")),
                    ("root", plain(found.root)),
                    ("memories", plain(str(count))),
                ]
            )
        ]
    )


def prove(
    uri: Address,
    at: At = "",
    since: Annotated[
        str,
        typer.Option(
            "--since", metavar="SNAPSHOT", help="Also prove that nothing of this older one changed."
        ),
    ] = "",
    out: Annotated[
        Path | None, typer.Option("--out", metavar="FILE", help="Write the proof to a file.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Prove that a memory says what it says.

    The proof holds its text, its path in the Merkle tree, and the agent's signature over the root.
    `mcl cortex verify FILE` checks it anywhere, without this home.
    """
    from mcl.cli.cortex.views import checks_view
    from mcl.cli.home import use_home
    from mcl.usecases.cortex import cortex_prove

    proof = cortex_prove(full(uri), at=at or None, since=since or None, home=use_home())
    told = Output(as_json)
    if out is not None:
        out.write_bytes(proof.to_bytes())
        note(f"wrote {out}; mcl cortex verify {out} checks it")
    told.document(proof.to_json())
    told.view([checks_view(proof.checks())])


def verify(
    proofs: Annotated[
        list[Path] | None, typer.Argument(metavar="[PROOF]...", help="Files made by mcl cortex prove.")
    ] = None,
    key: Annotated[
        str, typer.Option("--key", metavar="DID", help="The agent that must have signed the proof.")
    ] = "",
    reindex: Annotated[bool, typer.Option("--reindex", help="Make the search index anew first.")] = False,
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
    from mcl.cli.home import use_home
    from mcl.cli.views.layout import BAD, DIM, GOOD, listing, plain
    from mcl.usecases.cortex import cortex_verify

    out, home = Output(as_json), use_home()
    with bar("checking") as progress:
        report = cortex_verify(reindex=reindex, progress=progress, home=home)
    out.document({"ok": report.ok, **asdict(report)})
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
    from mcl.cli.cortex.views import checks_view
    from mcl.cli.views.layout import plain
    from mcl.usecases.cortex import cortex_verify_proof

    reports = [(path, cortex_verify_proof(path, key=key)) for path in proofs]
    ok = all(report.ok for _, report in reports)
    out.document({"ok": ok, "proofs": [{"file": str(path), **report.to_json()} for path, report in reports]})
    for path, report in reports:
        out.view([plain(str(path), "bold"), checks_view(report.checks)])
    if ok and not key:
        note("whether that signer is the one you mean, --key tells")
    return 0 if ok else UNVERIFIED
