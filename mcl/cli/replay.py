"""`mcl replay` and `mcl verify`: is it still what it was, and is it what it says."""

from collections import Counter
from pathlib import Path
from typing import Annotated, Final

import typer

from mcl.cli.arguments import AsJson, IntentId, ModelPath, SkillDirectories, argument, verb
from mcl.cli.home import use_home
from mcl.cli.output import Output
from mcl.core.text import safe

verbs = typer.Typer()


@verb(verbs, "replay", "mcl replay @last")
def replay_command(
    intent: IntentId,
    model: ModelPath = None,
    skills: SkillDirectories = None,
    as_json: AsJson = False,
) -> int:
    """Compile an intent again, and compare.

    From what was recorded: each part is the same, different, or not available.

    Exit code 6 when anything differs or could not be compared.
    """
    from ir.errors import UNVERIFIED
    from mcl.usecases.replay import replay

    out = Output(as_json)
    found = replay(intent, home=use_home(), model=model, skills=skills or ())
    out.document(found)
    if not as_json:
        from mcl.cli.views.walk import replay_view

        out.tell(replay_view(found))
    return 0 if found.same else UNVERIFIED


@verb(verbs, "verify", "mcl verify intent.json plan.json exported/*.cbor")
def verify_command(
    files: Annotated[list[Path], argument("FILE...", "Intents and plans (JSON), rows of a journal (CBOR).")],
    as_json: AsJson = False,
) -> int:
    """Check documents without a model.

    Shape, hash, seed, plan checks, signatures.

    Keys count as trusted when this home trusts them. Exit code 6 when something does not hold.
    """
    from ir.errors import UNVERIFIED
    from ir.results import fields_json
    from mcl.usecases.verification import verify

    out, count, documents = Output(as_json), Counter[bool](), []
    for report in verify(files):
        count[report.ok] += 1
        if as_json:
            documents.append({"file": report.path, "ok": report.ok, **fields_json(report)})
            continue
        print(
            safe(f"{'ok ' if report.ok else 'BAD'}  {report.kind:<16} {report.hash[:12]:<12} {report.path}")
        )
        for flaw in report.flaws:
            place = f" at {flaw.place}" if flaw.place else ""
            print(safe(f"     {flaw.code}{place}: {flaw.message}"))
    out.document({"ok": not count[False], "good": count[True], "bad": count[False], "files": documents})
    if not as_json:
        print(f"{count[True]} good, {count[False]} bad")
    return UNVERIFIED if count[False] else 0


GROUPS: Final = (verbs,)
