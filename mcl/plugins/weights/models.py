"""`mcl model`: which weights the compiler asks."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from mcl.cli.arguments import AsJson, argument, noun, option, verb
from mcl.cli.home import use_home
from mcl.cli.output import Output, note
from mcl.cli.views.layout import BAD, DIM, GOOD, listing, rows
from mcl.core.text import one_line

if TYPE_CHECKING:
    from mcl.usecases.models import KnownModel, Models


models = noun("model", "Models: which weights the compiler asks.", "mcl model list", "mcl model use bundled")


@verb(models, "list")
def list_models(as_json: AsJson = False) -> None:
    """List the models of this home; the one in use is marked."""
    from mcl.usecases.models import Models

    known, out = Models(use_home()).list(), Output(as_json)
    lines = [
        (
            (one.fault or ("in use" if one.in_use else ""), BAD if one.fault else GOOD),
            (one.name, ""),
            (one.digest[:12], DIM),
            (one_line(str(one.path or "deterministic, no weights"), 300), DIM),
        )
        for one in known
    ]
    out.show({"models": known}, [listing(("", "name", "sha256", "file"), lines)])


@verb(models, "show")
def model_info(
    model: Annotated[str, argument("MODEL", "A name, a digest, or a path to a GGUF.")],
    as_json: AsJson = False,
) -> None:
    """Show what a model's file says of itself."""
    from mcl.model.files import file_digest, read_header
    from mcl.usecases.models import Models

    named = Path(model)
    found = None if named.is_file() and named.suffix else _known(Models(use_home()), model, named)
    path = Path(model) if found is None else found.path
    if path is None:
        assert found is not None, "only a known model has no path"
        facts: dict[str, object] = {"name": found.name, "digest": found.digest, "file": ""}
    else:
        header = read_header(path)
        facts = {"file": str(path), "bytes": path.stat().st_size, "digest": file_digest(path)}
        facts |= {"name": found.name, "spaced": found.spaced} if found is not None else {}
        facts |= {"gguf": header.version, "tensors": header.tensors, **header.metadata}
    facts["compile_cache"] = _cache()
    out = Output(as_json)
    out.document(facts)
    if not as_json:
        shown = [(name, _said(value)) for name, value in facts.items() if value is not None]
        out.tell([rows([(name, one_line(value, 300)) for name, value in shown], label=32)])


@verb(models, "add")
def add_model(
    path: Annotated[Path, argument("PATH", "A GGUF file; it stays where it is.")],
    name: Annotated[str, option("--name NAME", "What to call it (default: the file's name).")] = "",
    spaced: Annotated[
        bool, option("--spaced", "It writes JSON better with blanks behind commas and colons.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Check that a GGUF loads, and remember it."""
    from mcl.usecases.models import Models

    _tell(Models(use_home()).add(path, name=name, spaced=spaced), "added", as_json=as_json)


@verb(models, "use")
def use_model(
    model: Annotated[str, argument("MODEL", "A name or digest; also bundled, no-ai.")],
    as_json: AsJson = False,
) -> None:
    """Compile with this model from now on."""
    from mcl.usecases.models import Models

    _tell(Models(use_home()).use(model), "in use", as_json=as_json)


@verb(models, "remove")
def remove_model(
    model: Annotated[str, argument("MODEL", "A name or digest of one that was added.")],
    as_json: AsJson = False,
) -> None:
    """Forget a model; its file stays where it is."""
    from mcl.usecases.models import Models

    _tell(Models(use_home()).remove(model), "forgotten", as_json=as_json)


def _known(models: "Models", name: str, path: Path) -> "KnownModel | None":
    """The model of a name, or None where the name is that of a file instead."""
    from mcl.core.errors import ModelError

    try:
        return models.find(name)
    except ModelError:
        if path.is_file():
            return None
        raise


def _tell(model: "KnownModel", what: str, *, as_json: bool) -> None:
    Output(as_json).document(model)
    note(f"{what}: {model.name} {model.digest[:12]}")


def _said(value: object) -> str:
    """A fact for people; what has several parts as names with values."""
    if isinstance(value, dict):
        return ", ".join(f"{name} {part}" for name, part in value.items())
    return ("yes" if value else "no") if isinstance(value, bool) else str(value)


def _cache() -> dict[str, object]:
    """What this home keeps of the answers of models."""
    from mcl.compiler.tape import Tapes
    from mcl.core.home import locate

    tapes = Tapes.of(locate())
    entries, size = tapes.size()
    return {"folder": str(tapes.folder), "entries": entries, "bytes": size}
