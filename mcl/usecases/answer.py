"""`mcl answer`: a person fills what was unknown, and the goal is compiled again."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from executor.store.home import Home
from mcl.compiler import compiler
from mcl.core.home import open_home
from mcl.usecases.compile import open_model, own_tools
from mcl.usecases.ids import find_intent
from mcl.usecases.skills import installed

if TYPE_CHECKING:
    from mcl.compiler.compiler import Clarify, Compiled, Refused
    from mcl.model import Model


def answer(
    intent: str,
    answers: Mapping[str, str],
    *,
    model: "Path | Model | None" = None,
    ai: bool = True,
    skills: Sequence[Path] = (),
    home: Home | None = None,
    unseen: bool = False,
) -> "Compiled | Clarify | Refused":
    """Answer the open questions of an intent, signed with the user's key, and compile it again.

    answers: texts by the id of the question ("u1") or its field; "" drops the field from the goal. The
    model is opened only where what it said the first time does not suffice. unseen: nobody knows whether a
    person gave them, which the row then says. Raises InputError and what
    compile_goal raises.
    """
    home = home or open_home()
    return compiler.recompile_with_answers(
        find_intent(home, intent),
        answers,
        home=home,
        skills=installed(home.path, skills),
        load_model=lambda: open_model(home, model, ai=ai),
        unseen=unseen,
        tools=own_tools,
    )


def check_answer(
    intent: str, name: str, text: str, *, skills: Sequence[Path] = (), home: Home | None = None
) -> None:
    """Raise the InputError with which `answer` would refuse `text` for the question `name`; stores
    nothing."""
    home = home or open_home()
    compiler.check_answer(
        find_intent(home, intent), name, text, home=home, skills=installed(home.path, skills)
    )
