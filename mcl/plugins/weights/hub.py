"""A model fetched from a hub that speaks the Hugging Face protocol: asked for, shown, fetched, checked.

huggingface_hub does the talking: it goes on where an interrupted download ended, and keeps the file in the
cache that all programs with this library share. No token is sent unless it is asked for, and it reports
nothing about its use.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

from executor.store.home import Home
from mcl.core.distribution import extra_missing
from mcl.core.errors import ModelError
from mcl.core.home import open_home
from mcl.model.files import file_digest
from mcl.usecases.models import KnownModel, Models

if TYPE_CHECKING:
    from types import ModuleType

_ADDRESS: Final = re.compile(r"hf:(?P<repo>[\w.-]{1,96}/[\w.-]{1,96})(?::(?P<file>[^:\0]{1,255}))?")
_FORM: Final = "hf:OWNER/REPO, or hf:OWNER/REPO:FILE"
_SHA256: Final = re.compile(r"[0-9a-f]{64}")
_QUIET: Final = {
    "HF_HUB_DISABLE_TELEMETRY": "1",
    "HF_HUB_DISABLE_IMPLICIT_TOKEN": "1",
    "HF_HUB_DISABLE_UPDATE_CHECK": "1",
    "HF_HUB_DISABLE_XET": "1",  # one host, over HTTP
}


@dataclass(frozen=True)
class OfferedModel:
    """A file of a hub before its first byte is fetched. host: where it comes from. repo: "OWNER/REPO".
    revision: the commit, in hexadecimal. bytes: of the file. sha256: in hexadecimal, as the hub says it, ""
    where it does not. licence: as the repository says it, "" where it does not."""

    endpoint: str
    host: str
    repo: str
    file: str
    revision: str
    bytes: int
    sha256: str
    licence: str


def offered_model(address: str, *, revision: str = "main", signed_in: bool = False) -> OfferedModel:
    """What a hub says of a model.

    address: "hf:OWNER/REPO[:FILE]"; FILE may be a part of the name, such as Q4_K_M. revision: branch, tag or
    commit. signed_in: whether the token that huggingface_hub keeps is sent along. The hub is that of
    HF_ENDPOINT, else https://huggingface.co.
    Raises InputError EXTRA_MISSING; ModelError HUB_ADDRESS, HUB_OFFLINE, HUB_UNREACHABLE, HUB_NO_MODEL,
    HUB_CLOSED, HUB_FILE.
    """
    parts = _ADDRESS.fullmatch(address)
    if parts is None or ".." in address:
        raise ModelError("HUB_ADDRESS", f"this is no address of a model: {address!a}", fix=_FORM)
    library = _library()
    endpoint = (os.environ.get("HF_ENDPOINT") or "https://huggingface.co").rstrip("/")
    host = urlsplit(endpoint).netloc
    repo = parts["repo"]
    with _told(repo, host):
        client = library.HfApi(endpoint=endpoint, token=signed_in or False)
        told = client.model_info(repo, revision=revision, files_metadata=True)
    files = [one for one in told.siblings or () if one.rfilename.endswith(".gguf")]
    chosen = _chosen(files, parts["file"] or "", repo)
    large = getattr(chosen, "lfs", None)
    digest = str(getattr(large, "sha256", "") or "")
    return OfferedModel(
        endpoint=endpoint, host=host, repo=repo, file=chosen.rfilename, revision=str(told.sha or revision),
        bytes=int(chosen.size or 0), sha256=digest if _SHA256.fullmatch(digest) else "",
        licence=_licence(told),
    )  # fmt: skip


def get_model(
    offered: OfferedModel,
    *,
    name: str = "",
    signed_in: bool = False,
    progress: Callable[[int, int], None] | None = None,
    home: Home | None = None,
) -> KnownModel:
    """Fetch a model that was offered, hold it against its digest, and add it to the home.

    An interrupted fetch goes on where it ended when it is asked for again. name: what to call it (default:
    the file's name). progress: told bytes that are here, and bytes in all.
    Raises ModelError as `offered_model`, and HUB_DIGEST where other bytes came than were offered (which are
    removed), HUB_DISK, and what the file is refused with.
    """
    library = _library()
    with _told(offered.repo, offered.host):
        place = library.hf_hub_download(
            offered.repo, offered.file, revision=offered.revision, endpoint=offered.endpoint,
            token=signed_in or False, tqdm_class=_bar(progress, offered.bytes),
        )  # fmt: skip
    path = Path(place)
    if offered.sha256 and file_digest(path) != offered.sha256:
        path.resolve().unlink(missing_ok=True)
        path.unlink(missing_ok=True)
        raise ModelError(
            "HUB_DIGEST",
            f"other bytes came than {offered.host} offers (sha256 {offered.sha256[:12]}); they were removed",
            place=offered.file,
            fix="fetch it again; if it happens again, do not use this model",
        )
    return Models(home or open_home()).add(path, name=name or PurePosixPath(offered.file).stem)


def _chosen(files: list[Any], wanted: str, repo: str) -> Any:
    """The one file that is meant. Raises ModelError HUB_FILE."""
    from rich.filesize import decimal

    exact = [one for one in files if one.rfilename == wanted]
    like = [one for one in files if wanted.casefold() in one.rfilename.casefold()]
    found = exact or like
    if len(found) == 1:
        return found[0]
    listed = ", ".join(f"{one.rfilename} ({decimal(one.size or 0)})" for one in (found or files)[:20])
    if not files:
        message, fix = f"{repo} has no GGUF file", "name a repository with GGUF files"
    elif not found:
        message, fix = f"{repo} has no GGUF file with {wanted!a} in its name", f"one of: {listed}"
    else:
        message, fix = f"{repo} has {len(found)} GGUF files", f"name one, as hf:{repo}:FILE: {listed}"
    raise ModelError("HUB_FILE", message, place=repo, fix=fix)


def _licence(told: Any) -> str:
    card = told.card_data
    said = (card.get("license") if card is not None else "") or ""
    if not said:
        said = next((tag.partition(":")[2] for tag in told.tags or () if tag.startswith("license:")), "")
    return str(said)


def _bar(progress: Callable[[int, int], None] | None, total: int) -> Any:
    """What the library makes and tells of bytes, in the place of a bar that it would draw."""

    class Told:
        def __init__(self, *, initial: int = 0, **_: object) -> None:
            self.total, self.n = total, initial

        def __enter__(self) -> Told:
            return self

        def __exit__(self, *_: object) -> None:
            return

        def update(self, count: int) -> None:
            self.n += count
            if progress is not None:
                progress(self.n, self.total)

    return Told


def _library() -> ModuleType:
    """huggingface_hub, told to be quiet. Raises InputError EXTRA_MISSING."""
    for variable, value in _QUIET.items():
        os.environ.setdefault(variable, value)
    try:
        import huggingface_hub
    except ImportError as error:
        raise extra_missing("weights", "fetching models needs huggingface_hub") from error
    return huggingface_hub


@contextmanager
def _told(repo: str, host: str) -> Iterator[None]:
    """What the library raises, as errors that say what to do."""
    import httpx2
    from huggingface_hub import errors as faults

    try:
        yield
    except faults.OfflineModeIsEnabled as error:
        raise ModelError(
            "HUB_OFFLINE", "HF_HUB_OFFLINE is set: nothing is fetched", place=host, fix="unset HF_HUB_OFFLINE"
        ) from error
    except faults.GatedRepoError as error:
        raise ModelError(
            "HUB_CLOSED",
            f"{repo} is given only to those who agreed to its terms",
            place=host,
            fix=f"agree at https://{host}/{repo}, sign in with `hf auth login`, and add --signed-in",
        ) from error
    except (faults.RepositoryNotFoundError, faults.RevisionNotFoundError, faults.EntryNotFoundError) as error:
        if isinstance(error, faults.LocalEntryNotFoundError):
            raise _unreachable(host, error) from error
        raise ModelError(
            "HUB_NO_MODEL",
            f"{host} has no {repo} of that name and revision",
            place=repo,
            fix="look at its page",
        ) from error
    except (faults.HfHubHTTPError, httpx2.HTTPError) as error:
        raise _unreachable(host, error) from error
    except faults.HFValidationError as error:
        raise ModelError("HUB_ADDRESS", f"this is no address: {repo}", fix=_FORM) from error
    except OSError as error:
        if error.errno is None:  # the library's own: fewer bytes came than were told
            raise _unreachable(host, error) from error
        raise ModelError(
            "HUB_DISK",
            f"what was fetched cannot be kept: {error.strerror or error}",
            place=str(error.filename or host),
            fix="make room, or set HF_HUB_CACHE to another folder; what is here already is kept",
        ) from error


def _unreachable(host: str, error: Exception) -> ModelError:
    return ModelError(
        "HUB_UNREACHABLE",
        f"{host} does not answer as a hub: {type(error).__name__}",
        place=host,
        fix="look at the network, or name another hub with HF_ENDPOINT; what came so far is kept",
    )
