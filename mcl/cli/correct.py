"""`mcl correct`: change what a run is to do."""

from typing import Annotated, Final

import typer

from mcl.cli.arguments import AsJson, IntentId, SkillDirectories, Workspace, option, read_source, verb
from mcl.cli.home import use_home
from mcl.cli.output import Output, note
from mcl.cli.views.layout import commands, plain

NEEDS_ACCEPT = 10


verbs = typer.Typer()


@verb(
    verbs,
    "correct",
    "mcl correct @last --set budget.max_calls=5",
    'mcl correct @last --set "plan.search.args.query=fox" --reason "typing error"',
    "mcl correct 01K --patch changes.json --retry-from search --yes --json",
)
def correct_command(
    intent: IntentId,
    patch: Annotated[
        str,
        option(
            "--patch FILE", "RFC 6902 operations on /intent/… and /plan/… as JSON; - reads standard input."
        ),
    ] = "",
    changes: Annotated[
        list[str] | None, option("--set PATH=VALUE", "Set a field; may be given several times.")
    ] = None,
    removed: Annotated[
        list[str] | None, option("--unset PATH", "Take a field or node away; may be given several times.")
    ] = None,
    reason: Annotated[str, option("--reason TEXT", "Why; it is kept in the journal.")] = "",
    retry_from: Annotated[
        str, option("--retry-from NODE", "Run this node, and what waits for it, again.")
    ] = "",
    yes: Annotated[bool, option("--yes", "Do not ask; for scripts.")] = False,
    workspace: Workspace = None,
    skills: SkillDirectories = None,
    as_json: AsJson = False,
) -> int:
    """Correct a run that has begun: its Intent, its plan, or both.

    Shows every difference and whether it is material, asks, and signs with your key. What is not material
    takes effect at the run's next node; what is stops the run until mcl accept and mcl run.

    Exit codes: 0 corrected, 10 corrected and needs a new accept, 4 refused.
    """
    from ir.errors import REFUSED
    from mcl.cli.views.exact import changes_view, refusals_view, verdict_line
    from mcl.usecases.corrections import propose_correction, refusals, sign_correction
    from mcl.usecases.documents import of_correction

    if not (patch or changes or removed or retry_from):
        raise typer.BadParameter("say what shall be different: --set, --unset, --patch or --retry-from")
    home, out = use_home(signs=True), Output(as_json)
    proposal = propose_correction(
        intent,
        patches=_read(patch) if patch else (),
        changes=changes or (),
        removed=removed or (),
        reason=reason,
        retry_from=retry_from,
        home=home,
    )
    refused = refusals(proposal, workspace=workspace, skills=skills or (), home=home)
    if not (as_json and yes):
        out.tell(changes_view(proposal.changes))
        if proposal.again:
            out.tell([plain(f"Runs again: {', '.join(proposal.again)}", "yellow")])
        out.tell(refusals_view(refused))
        out.tell(["", verdict_line(proposal.material)])
    from mcl.cli.people import agreed

    what = "It will stop until it is accepted again. " if proposal.material else ""
    if not yes and not agreed(f"{what}Sign this correction?"):
        note("not corrected; nothing was signed")
        return REFUSED
    done = sign_correction(proposal, home=home, unseen=yes)
    out.document({**of_correction(done), "refused": refused})
    if not as_json:
        out.tell(["", plain(f"corrected, signed by {home.keyring.user.did}", "green")])
        if done.material:
            out.tell(
                [
                    commands(
                        [(f"mcl accept {done.intent_id}", "sign it"), (f"mcl run {done.intent_id}", "go on")]
                    )
                ]
            )
    return NEEDS_ACCEPT if done.material else 0


def _read(name: str) -> bytes:
    """The bytes of a file, or of standard input, as far as patches may be long."""
    from executor.store.lifecycle.patches import MAX_BYTES
    from mcl.core.errors import InputError

    try:
        return read_source(name, MAX_BYTES)
    except OSError as error:
        why = error.strerror or str(error)
        raise InputError("FILE_UNREADABLE", why, place=name, fix="name a file of RFC 6902 patches") from error


GROUPS: Final = (verbs,)
