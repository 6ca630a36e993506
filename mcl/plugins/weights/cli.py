"""`mcl model find`, `get` and `check`, beside those of the home's own models."""

from typing import TYPE_CHECKING, Annotated

import typer

from mcl.cli.arguments import AsJson, argument, option, verb
from mcl.cli.home import use_home
from mcl.cli.output import Output, note
from mcl.cli.people import agreed
from mcl.cli.progress import progress_bar
from mcl.cli.views.layout import BAD, DIM, GOOD, STRONG, WARN, joined, listing, plain, rows
from mcl.core.text import one_line
from mcl.plugins.weights.models import models

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import RenderableType

    from mcl.plugins.weights.exam.exam import Exam
    from mcl.plugins.weights.hub import OfferedModel


@verb(models, "find")
def find(as_json: AsJson = False) -> None:
    """List the models that other programs keep here: Hugging Face, Ollama, LM Studio, llama.cpp.

    Nothing is loaded or changed; `mcl model add PATH` takes one where it lies.
    """
    from rich.filesize import decimal

    from mcl.plugins.weights.places import find_models
    from mcl.usecases.models import Models

    out, found = Output(as_json), find_models()
    added = {one.path: one.name for one in Models(use_home()).list()}
    out.document([{**one.__dict__, "added": added.get(one.path, "")} for one in found])
    if as_json:
        return
    if not found:
        note("no models here: Hugging Face's cache, Ollama, LM Studio and llama.cpp were looked at")
        note("mcl model get hf:OWNER/REPO fetches one")
        return
    lines = [
        (
            (
                one.fault or (f"added: {added[one.path]}" if one.path in added else ""),
                BAD if one.fault else GOOD,
            ),
            (one.kept_by, DIM),
            (one_line(one.name, 120), ""),
            (f"{one.architecture}{' chat' if one.chat else ''}", ""),
            (f"{one.weights / 1e9:.1f}B" if one.weights else "", ""),
            (decimal(one.bytes), ""),
            (one_line(str(one.path), 300), DIM),
        )
        for one in found
    ]
    out.tell([listing(("", "kept by", "name", "kind", "weights", "size", "file"), lines)])
    note("mcl model add FILE takes one; it stays where it is")


@verb(models, "get")
def get(
    address: Annotated[str, argument("ADDRESS", "hf:OWNER/REPO, or hf:OWNER/REPO:FILE, or a part of FILE.")],
    revision: Annotated[str, option("--revision NAME", "A branch, tag or commit.")] = "main",
    name: Annotated[str, option("--name NAME", "What to call it (default: the file's name).")] = "",
    use: Annotated[bool, option("--use", "Compile with it from now on.")] = False,
    yes: Annotated[bool, option("--yes", "Fetch it without being asked.")] = False,
    signed_in: Annotated[bool, option("--signed-in", "Send the token of `hf auth login` along.")] = False,
    as_json: AsJson = False,
) -> None:
    """Fetch a model from a hub, hold it against its digest, and add it.

    Says where it comes from, how large it is and under which licence before the first byte, and asks.
    HF_ENDPOINT names another hub. An interrupted fetch goes on where it ended. Exit code 4 where you say no.
    """
    from mcl.plugins.weights.hub import get_model, offered_model
    from mcl.usecases.models import Models

    home, out = use_home(), Output(as_json)
    offered = offered_model(address, revision=revision, signed_in=signed_in)
    if not as_json or not yes:
        out.tell(_offered(offered))
    if not yes and not agreed("Fetch it?"):
        note("nothing was fetched")
        from ir.errors import REFUSED

        raise typer.Exit(REFUSED)
    with progress_bar(f"fetching {offered.file}", quiet=as_json) as bar:
        known = get_model(offered, name=name, signed_in=signed_in, progress=bar, home=home)
    if use:
        known = Models(home).use(known.name)
    out.document({"model": known, "offered": offered})
    note(f"{'in use' if use else 'added'}: {known.name} {known.digest[:12]}")
    if not use:
        note(f"mcl model check {known.name} says what it is good for; mcl model use {known.name} takes it")


@verb(models, "check")
def check(
    model: Annotated[str, argument("MODEL", "A name or digest of `mcl model list`, or a path to a GGUF.")],
    part: Annotated[
        list[str] | None, option("--part PART", "choose, fill, write or plan; several times for several.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Measure what a model is good for: choosing skills, filling slots, writing texts, writing plans.

    A few dozen questions with known answers; nothing is signed, run or kept. Exit code 4 where it is good for
    none of the parts.
    """
    from mcl.core.errors import InputError
    from mcl.plugins.weights.exam.exam import PARTS, check_model

    unknown = [one for one in part or () if one not in PARTS]
    if unknown:
        raise InputError(
            "PART_UNKNOWN", f"{unknown[0]} is no part", place="--part", fix=f"one of: {', '.join(PARTS)}"
        )
    home, out = use_home(), Output(as_json)
    parts = tuple(one for one in PARTS if not part or one in part)
    with progress_bar("asking", quiet=as_json) as bar:
        exam = check_model(model, parts=parts, home=home, progress=bar)
    out.document({"good_for": exam.good_for, "exam": exam})
    if not as_json:
        out.tell(_marks(exam))
    if not exam.good_for:
        from ir.errors import REFUSED

        raise typer.Exit(REFUSED)


def _offered(offered: "OfferedModel") -> "Iterator[RenderableType]":
    from rich.filesize import decimal

    size = decimal(offered.bytes) if offered.bytes else "the hub does not say"
    yield rows(
        [
            ("from", plain(f"{offered.host}/{offered.repo}")),
            ("file", plain(offered.file)),
            ("size", plain(size)),
            ("licence", _or_missing(offered.licence, "the repository names none")),
            ("sha256", _or_missing(offered.sha256, "the hub does not say")),
            ("revision", plain(offered.revision, DIM)),
        ]
    )


def _or_missing(text: str, missing: str) -> "RenderableType":
    return plain(text) if text else plain(missing, WARN)


def _marks(exam: "Exam") -> "Iterator[RenderableType]":
    yield joined((("Model", STRONG), (exam.model, STRONG), (exam.digest[:12], DIM)))
    lines = []
    for one in exam.parts:
        if not one.able:
            lines.append((("does not do this", DIM), (one.part, ""), ("", ""), ("", "")))
            continue
        verdict = ("good", GOOD) if one.good else ("not good enough", BAD)
        figures = f"{one.right} of {one.asked} right, {one.needed:.0%} needed"
        lines.append((verdict, (one.part, ""), (figures, ""), (f"{one.slowest:.1f} s at most", DIM)))
    yield listing(("", "part", "", ""), lines)
    for answer in exam.answers:
        if not answer.right:
            wanted, said = one_line(answer.wanted, 60) or "none", one_line(answer.said, 100) or "nothing"
            yield plain(f"  {answer.part}: {one_line(answer.question, 70)}", DIM)
            yield plain(f"    wanted {wanted}; said {said}", DIM)
