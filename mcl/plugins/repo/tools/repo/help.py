"""Tells what can be asked for in a repository."""

from collections.abc import Mapping
from typing import Any, Final

from executor.store.home import Home
from executor.tools.tool import Bench
from mcl.plugins.repo.contract import COMMANDS, REFUSE, intent_types

_COMMANDS: Final = (
    "mcl repo run PROMPT      does it",
    "mcl repo explain PROMPT  tells what it would do",
    "mcl repo route PROMPT    tells what it is taken for",
    "mcl repo add KEY PATH    names a repository",
)
_HOW: Final = {
    "en": ("What can be asked for, in Swedish or English:", "Commands of mqlaunch:"),
    "sv": ("Det här går att be om, på svenska eller engelska:", "Kommandon i mqlaunch:"),
}


def run(args: Mapping[str, Any], bench: Bench, home: Home) -> dict[str, object]:
    """Answer with each intent and what it does."""
    language = args["language"]
    told = [one for one in intent_types().values() if one.name != REFUSE]
    wide = max(len(one.name) for one in told)
    title, commands = _HOW[language]
    return {
        "intents": [
            {"intent": one.name, "class": one.effect, "description": one.description[language]}
            for one in told
        ],
        "text": "\n".join(
            (
                title,
                *(f"  {one.name:{wide}}  {one.description[language]}" for one in told),
                f"{commands} {', '.join(COMMANDS)}",
                *_COMMANDS,
            )
        ),
    }
