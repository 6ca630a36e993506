"""How a call by hand ended: the same words and exit codes whichever command made it."""

from typing import TYPE_CHECKING

from mcl.cli.output import Output, note

if TYPE_CHECKING:
    from mcl.usecases.call import Called


def ended(called: "Called", out: Output, *, undone: str) -> int:
    """Tell a person what became of a call, and give the exit code.

    undone: what did not happen, besides signing, where they did not agree.
    """
    from ir.errors import REFUSED
    from mcl.cli.views.plan import plan_view
    from mcl.cli.views.walk import outcome_view

    if called.outcome is not None:
        if not out.as_json:
            out.tell(["", *outcome_view(called.outcome, called.planned.plan)])
        return called.outcome.exit
    if called.refused is not None:
        out.view(plan_view(called.planned, out.people))
        note(f"{called.refused.code}: {called.refused.reason}\n  {called.refused.fix}")
    else:
        note(f"not agreed to; nothing was signed or {undone}")
    return REFUSED
