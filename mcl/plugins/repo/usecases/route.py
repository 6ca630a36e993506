"""`mcl repo route`: which contract a prompt means; nothing is planned or run."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from mcl.core.errors import RepoError
from mcl.core.home import locate, open_home
from mcl.core.repositories import Repositories
from mcl.plugins.repo.contract import RepoIntent, shown
from mcl.plugins.repo.intents import intent_types
from mcl.plugins.repo.planning import REFUSED
from mcl.plugins.repo.routing import Routed, route

if TYPE_CHECKING:
    from executor.store.home import Home
    from mcl.model import Model


def route_prompt(
    prompt: str,
    *,
    repo: str = "",
    model: "Path | Model | None" = None,
    ai: bool = True,
    strict: bool = False,
    compat: bool = False,
    home: "Home | None" = None,
) -> Routed:
    """The contract of a prompt.

    repo: key of the repository that is meant where the prompt names none. ai: False for the matcher alone,
    which needs no home. strict: a model that is unsure refuses. compat: the matcher takes substrings for
    words.

    Raises RepoError: NO_ROUTE, BAD_CONFIGURATION (exit 1), UNKNOWN_REPOSITORY, REPOSITORY_AMBIGUOUS,
    NOT_TEXT (exit 2);
    ModelError; HomeError.
    """
    if ai:
        home = home or open_home()
    try:
        prompt.encode()
    except UnicodeEncodeError as problem:
        raise RepoError("NOT_TEXT", "the prompt is not UTF-8 text", place="prompt", exit=REFUSED) from problem
    folder = home.path if home else locate()
    keys = Repositories(folder).keys()
    asked = _model(home, model) if ai and home else None
    routed = route(prompt, keys, model=asked, strict=strict, compat=compat)
    return replace(routed, contract=named(routed.contract, repo, folder))


def named(contract: RepoIntent, key: str, folder: Path) -> RepoIntent:
    """A contract with the repository that a person named beside it, "" for none. folder: that of the home.

    Raises RepoError, exit 2: UNKNOWN_REPOSITORY; REPOSITORY_AMBIGUOUS (the contract names another one).
    """
    if not key:
        return contract
    Repositories(folder).resolve(key, kind=contract.intent, strict=True)
    if intent_types()[contract.intent].repo == "unused":
        return contract
    if contract.repo not in (None, key):
        raise RepoError(
            "REPOSITORY_AMBIGUOUS",
            f"two repositories are named: {shown(contract.repo)} and {shown(key)}",
            place=key,
            fix="name one of them",
            exit=REFUSED,
        )
    return replace(contract, repo=key)


def _model(home: "Home", model: "Path | Model | None") -> "Model":
    from mcl.usecases.compile import open_model  # what the matcher alone does without

    return open_model(home, model, ai=True)
