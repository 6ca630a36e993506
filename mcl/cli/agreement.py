"""A person's one answer to what `mcl do` shows: yes, no, otherwise, or why first."""

import sys
from contextlib import suppress
from enum import Enum
from typing import TYPE_CHECKING, Any, Final

from executor.core.tables import table_beside
from mcl.cli.output import Output, note
from mcl.cli.people import forget_what_was_typed, says_yes
from mcl.cli.views.agreement import asked_view, proposal_view
from mcl.cli.views.layout import plain

if TYPE_CHECKING:
    from executor.store.home import Home
    from mcl.usecases.do_proposal import DoProposal


class Agreement(Enum):
    """What a person said. APPROVE: yes, and each call that was named is approved with it."""

    YES = "yes"
    APPROVE = "approve"
    NO = "no"
    EDIT = "edit"
    WHY = "why"


_TABLE: Final = table_beside(__file__)
# What is typed, in any language whatever is asked in.
_WORDS: Final = {Agreement(answer): tuple(words) for answer, words in _TABLE["said"].items()}


def agreement_on(proposal: "DoProposal", out: Output, home: "Home") -> tuple[Agreement, str]:
    """Show what would be signed, and ask until there is an answer; with EDIT the goal in other words.

    Enter alone is a yes only where nothing is to be read with care and the gate asks about nothing; the end
    of input is a no. KeyboardInterrupt passes on.
    """
    from mcl.core.settings import language_here

    words = _TABLE["prompts"][language_here(home.path)]
    out.tell([*proposal_view(proposal, out.people), *asked_view(proposal.asked)])
    kind = "exact" if proposal.asked else "careful" if proposal.review else "usual"
    while True:
        answer = _read(typed(f"{words[kind]} > "), kind)
        if answer is Agreement.WHY:
            _tell_why(proposal, out)
        elif answer is Agreement.EDIT:
            if goal := typed(f"{words['edit']} > ", proposal.compiled.intent.prose):
                return Agreement.EDIT, goal
        elif answer is not None:
            return answer, ""
        else:
            out.tell([plain(words["again"], "yellow")])


def _read(text: str | None, kind: str) -> Agreement | None:
    if text is None:
        return Agreement.NO
    said = text.strip().casefold()
    if not said:
        return Agreement.YES if kind == "usual" else Agreement.NO
    if says_yes(said):
        return Agreement.YES
    found = next((one for one, words in _WORDS.items() if said in words), None)
    return found if found is not Agreement.APPROVE or kind == "exact" else Agreement.YES


def typed(prompt: str, before: str = "") -> str | None:
    """A line that is typed after the question was shown; None at the end of input. before: to be changed."""
    lines = line_editor()
    if lines is not None and before:
        lines.set_startup_hook(lambda: lines.insert_text(before))
    forget_what_was_typed(sys.stdin.fileno())
    try:
        return input(f"\n{prompt}").encode(errors="surrogateescape").decode()
    except EOFError:
        print()
        return None
    except UnicodeError:
        note("that is not UTF-8 text")
        return None
    finally:
        if lines is not None:
            lines.set_startup_hook(None)


def line_editor() -> Any:
    """The module `readline`, where this Python has it."""
    with suppress(ImportError):
        import readline

        return readline
    return None


def _tell_why(proposal: "DoProposal", out: Output) -> None:
    if proposal.compiled.reasons is not None:
        from mcl.cli.views.reasons import reasons_view

        out.tell(reasons_view(proposal.compiled.reasons))
