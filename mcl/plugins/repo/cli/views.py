"""How a contract, its repository and its plan are shown."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from rich.console import Console, RenderableType

from mcl.cli.views.layout import DIM, STRONG, WARN, joined, plain, rows
from mcl.cli.views.plan import plan_view
from mcl.usecases.plans import Planned

if TYPE_CHECKING:
    from mcl.plugins.repo.usecases import DraftedContract


def draft_view(
    made: "DraftedContract", console: Console, *, by: str = "", note: str = ""
) -> Iterator[RenderableType]:
    """What is asked, where, what would run, and what the gate says. by, note: who made the
    contract, and what is to be known of that."""
    contract, found = made.contract, made.repository
    where = f"in {found.key}" if found else ""
    yield joined(((contract.intent, STRONG), (where, ""), (f"by the {by}" if by else "", DIM)))
    said = [
        ("message", plain(contract.message)),
        ("folder", plain(str(made.workspace))),
        *([("note", plain(note))] if note else []),
        *([("note", plain(found.note, WARN))] if found and found.note else []),
        ("contract", plain(contract.text, DIM)),
    ]
    yield rows(said)
    planned = Planned(made.intent, made.plan, "proposed", False, made.verdicts)
    yield from plan_view(planned, console)


def draft_json(made: "DraftedContract", *, by: str = "", note: str = "") -> dict[str, object]:
    """The same for programs."""
    import json

    from ir import canonical_bytes
    from mcl.plugins.repo.usecases import repository_json

    denied = made.denied
    return {
        "contract": made.contract.to_json(),
        **({"by": by} if by else {}),
        **({"note": note} if note else {}),
        "repository": repository_json(made),
        "workspace": str(made.workspace),
        "decision": "deny" if denied else "ask" if any(one.reply for one in made.verdicts) else "allow",
        "verdicts": [one.to_json() for one in made.verdicts],
        "plan": json.loads(canonical_bytes(made.plan)),
    }
