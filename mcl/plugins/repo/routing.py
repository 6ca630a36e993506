"""From a prompt to a contract: a model answers, or the matcher where there is none or it may stand in."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Literal

from mcl.core.errors import ModelError, RepoError
from mcl.model.protocol import Model
from mcl.plugins.repo.contract import REFUSE, SEARCH, RepoIntent
from mcl.plugins.repo.matcher import exact, match, several_wishes

NO_ROUTE = 1  # the exit status of a prompt that nothing is known to answer


@dataclass(frozen=True)
class Routed:
    """A contract and who made it. note: what a person should know of the way there, "" where nothing."""

    contract: RepoIntent
    by: Literal["model", "matcher"]
    note: str = ""


def route(
    prompt: str, keys: Collection[str], *, model: Model | None, strict: bool = False, compat: bool = False
) -> Routed:
    """Make a contract of a prompt. It is read strictly; whether it may be acted upon, `judge` says.

    keys: the known repositories. model: None asks none (--no-ai). strict: where the model is unsure or
    cannot be asked, nobody stands in for it. compat: the matcher looks at plain substrings.
    Raises RepoError NO_ROUTE (exit 1) where no model is asked and no rule fits; ModelError where a model
    cannot be asked, strict or no rule fits. A prompt of two wishes is refused before any model is asked. What
    an exact rule says stands against the refusal of a model, and a search against anything else.
    """
    if model is None:
        found = match(prompt, keys, compat=compat)
        if found is None:
            raise RepoError(
                "NO_ROUTE",
                "no rule fits this prompt, and nothing is guessed",
                place="prompt",
                fix="say it in other words (mcl repo run help), or ask a model: leave --no-ai out",
                exit=NO_ROUTE,
            )
        return Routed(found, "matcher")
    several = None if compat else several_wishes(prompt, keys)
    if several is not None:  # a model would choose one of them, and nobody would hear of the other
        return Routed(several, "matcher")
    from mcl.plugins.repo.model_answer import ask

    try:
        answer = ask(model, prompt, keys)
    except ModelError as error:
        found = None if strict else match(prompt, keys, compat=compat)
        if found is None:
            raise
        return Routed(found, "matcher", f"the model could not be asked ({error.code}): the matcher answered")
    if strict:
        return Routed(answer.contract, "model")
    known = None if compat else exact(prompt, keys)
    if known is not None and _is_beaten(answer.contract, known):
        return Routed(known, "matcher", "the model took it for something else: the matcher answered")
    if answer.sure:
        return Routed(answer.contract, "model")
    found = match(prompt, keys, compat=compat)
    if found is None:
        return Routed(answer.contract, "model", "the model was unsure, and no rule fits")
    return Routed(found, "matcher", "the model was unsure: the matcher answered")


def _is_beaten(said: RepoIntent, known: RepoIntent) -> bool:
    """Whether the exact rule's contract stands against what a model said."""
    return said.intent == REFUSE or (known.intent == SEARCH and said.intent != SEARCH)
