"""Review contracts and guides: what a model may say in each mode, and what it is told to look for.

They are Markdown files of `skills/review/`, read strictly.
"""

import functools
import hashlib
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from types import MappingProxyType
from typing import Literal, NoReturn, TypeAlias, cast, get_args

import grammars
import skills as shipped
from executor.core.globs import Glob, GlobError
from mcl.core.errors import ReviewError
from mcl.plugins.review.finding import SEVERITIES, Severity

# ---- A Markdown file with YAML in front of it, read strictly: what it says is told to a model.

MAX_BYTES = 16_384  # of such a file: all of it is told to a model
_FENCE = "---\n"


@dataclass(frozen=True)
class FrontMatter:
    """What stands in front, by key, and the text behind it. digest: sha256 (hex) of the file's bytes.

    The methods give one value each. Raises ReviewError CONTRACT_INVALID, with the line, where it is another
    kind of value.
    """

    place: str
    values: dict[str, object]
    text: str
    digest: str
    line_of: Callable[[str], int]

    def words(self, key: str) -> str:
        """A text that is not empty, without blanks around it."""
        value = self.values[key]
        if not isinstance(value, str) or not value.strip():
            self.refuse(key, f"{key} must be a text")
        return value.strip()

    def one_of(self, key: str, allowed: Collection[str]) -> str:
        """A text of a closed list."""
        value = self.words(key)
        if value not in allowed:
            self.refuse(key, f"{key} must be one of {', '.join(allowed)}, not {value!r}")
        return value

    def number(self, key: str, most: int) -> int:
        """A whole number from 1 to `most`."""
        value = self.values[key]
        if not isinstance(value, int) or isinstance(value, bool) or not 1 <= value <= most:
            self.refuse(key, f"{key} must be a whole number from 1 to {most:,}")
        return value

    def list_of_words(self, key: str) -> tuple[str, ...]:
        """A list of texts with at least one entry."""
        value = self.values[key]
        if not isinstance(value, list) or not value or not all(isinstance(one, str) and one for one in value):
            self.refuse(key, f"{key} must be a list of texts")
        return tuple(value)

    def table(self, key: str, allowed: Collection[str]) -> dict[str, str]:
        """A map from some of `allowed` to texts, in the file's order, with at least one entry."""
        value = self.values[key]
        if not isinstance(value, dict) or not value:
            self.refuse(key, f"{key} must be a map")
        for name, meaning in value.items():
            if name not in allowed:
                self.refuse(key, f"{key} may have {', '.join(allowed)}, not {name!r}")
            if not isinstance(meaning, str) or not meaning.strip():
                self.refuse(key, f"{key}: {name} must be a text")
        return {name: meaning.strip() for name, meaning in value.items()}

    def refuse(self, key: str, why: str) -> NoReturn:
        """Raise ReviewError CONTRACT_INVALID at the line of a key."""
        raise invalid(self.place, self.line_of(key), why)


def read_front(data: bytes, *, place: str, schema: str, keys: Sequence[str]) -> FrontMatter:
    """Read a file: `---`, YAML with exactly `schema` and these keys, `---`, Markdown.

    place: the file's name for messages. schema: what its key `schema` must say. Raises ReviewError
    CONTRACT_INVALID with the line.
    """
    if len(data) > MAX_BYTES:
        raise invalid(place, 1, f"more than {MAX_BYTES:,} bytes")
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        raise invalid(place, data.count(b"\n", 0, error.start) + 1, "not UTF-8 text") from error
    head, closed, body = text.removeprefix(_FENCE).partition(f"\n{_FENCE}")
    if not text.startswith(_FENCE) or not closed:
        raise invalid(place, 1, "it must begin with YAML between two lines ---")
    # Here, because YAML is read when a review is made, not when its command is listed.
    from mcl.language.mtx.source import MtxFinding
    from mcl.language.plans.document import read_yaml

    read = read_yaml(head.encode())
    if isinstance(read, MtxFinding):
        raise invalid(place, read.line + 1, read.message)
    values, wanted = read.value, ("schema", *keys)
    if not isinstance(values, dict):
        raise invalid(place, 2, "what stands in front must be a map")
    front = FrontMatter(
        place,
        values,
        body.strip(),
        hashlib.sha256(data).hexdigest(),
        lambda key: read.at((key,), key=True)[0] + 1,
    )
    for key in values:
        if key not in wanted:
            front.refuse(key, f"{key!r} is not read here; there are {', '.join(wanted)}")
    for key in wanted:
        if key not in values:
            raise invalid(place, 2, f"{key} is missing")
    front.one_of("schema", (schema,))
    if not front.text:
        raise invalid(place, len(text.splitlines()), "no text stands behind what is in front")
    return front


def invalid(place: str, line: int, why: str) -> ReviewError:
    """The error for a file that cannot be used."""
    return ReviewError(
        "CONTRACT_INVALID",
        why,
        place=f"{place}:{line}",
        fix="put the file back as it came with mcl: install mcl again",
    )


Mode: TypeAlias = Literal["comment", "architecture", "security", "risk"]
MODES: tuple[Mode, ...] = get_args(Mode)
FOLDER = Path(shipped.__file__).parent / "review"
CONTRACT_SCHEMA = "review-contract.v1"
GRAMMAR = "review@1"
MOST_FINDINGS = 20  # that a contract may allow: more fit into no answer
_CONTRACT_KEYS = ("mode", "max_findings", "labels", "scope", "uncertainty")


@dataclass(frozen=True)
class ReviewContract:
    """What binds a review. The model is told `text` as its system prompt, and its grammar has these labels.

    labels: in the order of severity, the worst first. meanings: of each label. max_findings: of one review of
    one file. scope: what to report and what to leave out. uncertainty: what to do where the lines shown do
    not settle a matter. digest: sha256 (hex) of all that such a review tells a model: the contract's file,
    the guides, the texts of the passes, and the grammar.
    """

    mode: Mode
    labels: tuple[Severity, ...]
    meanings: Mapping[Severity, str]
    max_findings: int
    scope: str
    uncertainty: str
    text: str
    digest: str


def contract(mode: str) -> ReviewContract:
    """The contract of a mode. Raises ReviewError UNKNOWN_MODE, CONTRACT_INVALID."""
    found = next((one for one in MODES if one == mode), None)
    if found is None:
        raise ReviewError(
            "UNKNOWN_MODE", f"no review mode {mode!r}", place="mode", fix=f"one of: {', '.join(MODES)}"
        )
    return _shipped(found)


def contracts() -> dict[Mode, ReviewContract]:
    """All four, by mode. Raises ReviewError CONTRACT_INVALID."""
    return {mode: _shipped(mode) for mode in MODES}


@functools.cache
def _shipped(mode: Mode) -> ReviewContract:
    path = FOLDER / "contracts" / f"{mode}.md"
    data = path.read_bytes()
    read = read_contract(data, place=f"review/contracts/{path.name}", mode=mode)
    beside = sorted((*(FOLDER / "guides").glob("*.md"), *(FOLDER / "passes").glob("*.md")))
    digests = [hashlib.sha256(one).hexdigest() for one in (data, *(file.read_bytes() for file in beside))]
    told = "".join([*digests, grammars.load(GRAMMAR).digest])
    return replace(read, digest=hashlib.sha256(told.encode()).hexdigest())


def read_contract(data: bytes, *, place: str, mode: Mode) -> ReviewContract:
    """Read a contract's file; its digest is that of the file alone. place: its name for messages.

    Raises ReviewError CONTRACT_INVALID."""
    front = read_front(data, place=place, schema=CONTRACT_SCHEMA, keys=_CONTRACT_KEYS)
    front.one_of("mode", (mode,))
    meanings = front.table("labels", SEVERITIES)
    labels = tuple(label for label in SEVERITIES if label in meanings)
    scope, uncertainty = front.words("scope"), front.words("uncertainty")
    parts = [
        front.text,
        f"Scope: {scope}",
        f"When you are not sure: {uncertainty}",
        f"At most {(most := front.number('max_findings', MOST_FINDINGS))} findings. The labels:",
        *(f"[{label}] {meanings[label]}" for label in labels),
    ]
    named = cast("Mapping[Severity, str]", {label: meanings[label] for label in labels})
    return ReviewContract(
        mode=mode,
        labels=labels,
        meanings=MappingProxyType(dict(named)),
        max_findings=most,
        scope=scope,
        uncertainty=uncertainty,
        text="\n".join(parts),
        digest=front.digest,
    )


# ---- Guides: what to look for in files of a kind, chosen by a file's path and the mode of the review.

GUIDE_SCHEMA = "review-guide.v1"
_EVERY = "**"  # also what no pattern matches: names with control characters
_GUIDE_KEYS = ("guide", "files", "modes")


@dataclass(frozen=True)
class ReviewGuide:
    """One guide. files: the paths that it is for. modes: the reviews that it is told to.

    text: what a model is told. digest: sha256 (hex) of the guide's file.
    """

    name: str
    files: tuple[Glob, ...]
    modes: frozenset[str]
    text: str
    digest: str

    def fits(self, path: str, mode: str) -> bool:
        """Is it for this path, in this mode?"""
        return mode in self.modes and any(glob.text == _EVERY or glob.matches(path) for glob in self.files)


def guides_for(path: str, mode: Mode) -> tuple[ReviewGuide, ...]:
    """The guides for a file, in the order of their names. path: relative to the workspace, with `/`.

    The guide `security` is for every path in the modes security and risk. Raises ReviewError
    CONTRACT_INVALID.
    """
    return tuple(guide for guide in guides() if guide.fits(path, mode))


@functools.cache
def guides() -> tuple[ReviewGuide, ...]:
    """All guides, in the order of their names. Raises ReviewError CONTRACT_INVALID."""
    files = sorted((FOLDER / "guides").glob("*.md"))
    return tuple(read_guide(file.read_bytes(), place=f"review/guides/{file.name}") for file in files)


def read_guide(data: bytes, *, place: str) -> ReviewGuide:
    """Read a guide's file. place: its name for messages. Raises ReviewError CONTRACT_INVALID."""
    front = read_front(data, place=place, schema=GUIDE_SCHEMA, keys=_GUIDE_KEYS)
    name = front.one_of("guide", (PurePosixPath(place).stem,))
    modes = front.list_of_words("modes")
    for mode in modes:
        if mode not in MODES:
            front.refuse("modes", f"modes may have {', '.join(MODES)}, not {mode!r}")
    globs = []
    for text in front.list_of_words("files"):
        try:
            globs.append(Glob.read(text))
        except GlobError as error:
            front.refuse("files", f"{text!r}: {error.message}")
    return ReviewGuide(name, tuple(globs), frozenset(modes), front.text, front.digest)
