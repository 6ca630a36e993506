"""How long one JSON object takes under a grammar: ours beside other libraries, on the same files and prompts.

    python -m benchmarks.decoding [--runs 16] [--only NAME …] [--cpu] [--json] MODEL.gguf …
    python -m benchmarks.decoding --vocabularies DIR     models of random weights over DIR/ggml-vocab-*.gguf

All ways take turns, prompt by prompt, in one process on one thread. `host` is everything outside of
llama.cpp's evaluation: grammar, sampling, Python. Random weights never end by themselves and fill every text
to its greatest length, so an answer is as long as it can be, and what runs without a grammar is given as many
tokens as ours took: its text means nothing, its time does.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from benchmarks.compile import GOALS
from benchmarks.peers import SCHEMA, Clock, Peer, peers

_PROMPT = (
    "You are given a goal. Say in JSON what it asks for: the verb, the folder to look in, the text to look "
    "for, the file to write, the currency, and whether it is urgent. Copy the words as they stand in the "
    "goal.\n\n"
    "Goal: {goal}\n\nAnswer:\n"
)
# Vocabularies of llama.cpp's source package (models/ggml-vocab-*.gguf) and how many of their tokens are kept.
_VOCABULARIES = (("gpt-2", 4096), ("llama-spm", 0), ("llama-bpe", 0), ("gemma-4", 0))
_HEAD = 64


@dataclass(frozen=True)
class Row:
    """One way on one file. Times in ms a JSON object; host_us: µs a token outside of the model; share: that
    against the time in the model; slower: its median against ours."""

    name: str
    median: float
    p95: float
    tokens: float
    calls: float
    model: float
    host_us: float
    share: float
    valid: float
    slower: float
    setup_s: float


@dataclass(frozen=True)
class _Run:
    seconds: float
    in_model: float
    calls: int
    tokens: int
    valid: bool


def measure(path: Path, runs: int, only: Sequence[str] = (), *, cpu: bool = False) -> list[Row]:
    """Every way on one file, in turn for each of `runs` prompts (and one before, that counts for nothing)."""
    clock, lengths = Clock(time.process_time if cpu else time.perf_counter), dict[str, int]()
    made: list[tuple[Peer, float]] = []
    for peer, seconds in peers(path, clock, lambda prompt: lengths[prompt]):
        if not only or peer.name == "ours" or any(name in peer.name for name in only):
            made.append((peer, seconds))
    taken: dict[str, list[_Run]] = defaultdict(list)
    for run in range(runs + 1):
        prompt = _PROMPT.format(goal=f"{GOALS[run % len(GOALS)]} ({run})")
        for peer, _ in made:
            clock.read()
            start = clock.now()
            text, tokens = peer.answer(prompt)
            seconds = clock.now() - start
            in_model, calls = clock.read()
            lengths.setdefault(prompt, tokens)  # ours is the first
            if run:
                taken[peer.name].append(_Run(seconds, in_model, calls, tokens, _fits(text)))
    ours = statistics.median(run.seconds for run in taken["ours"])
    return [_row(peer.name, taken[peer.name], ours, setup) for peer, setup in made]


def _row(name: str, runs: Sequence[_Run], ours: float, setup: float) -> Row:
    seconds = sorted(run.seconds for run in runs)
    host = [(run.seconds - run.in_model) / max(run.tokens, run.calls) * 1e6 for run in runs]
    median = statistics.median(seconds)
    return Row(
        name=name,
        median=median * 1000,
        p95=seconds[int(len(seconds) * 0.95)] * 1000,
        tokens=statistics.median(run.tokens for run in runs),
        calls=statistics.median(run.calls for run in runs),
        model=statistics.median(run.in_model for run in runs) * 1000,
        host_us=statistics.median(host),
        share=statistics.median((run.seconds - run.in_model) / run.in_model for run in runs),
        valid=statistics.mean(run.valid for run in runs),
        slower=median / ours,
        setup_s=setup,
    )


def _fits(text: str) -> bool:
    import jsonschema

    try:
        jsonschema.validate(json.loads(text), SCHEMA)
    except (ValueError, jsonschema.ValidationError):
        return False
    return True


def made_models(vocabularies: Path, folder: Path, *, layers: int, width: int) -> list[Path]:
    """Models of random weights in llama's shape, one over each vocabulary that is there."""
    sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "model"))
    from random_gguf import words_of, write_gguf

    written = []
    for name, kept in _VOCABULARIES:
        file = vocabularies / f"ggml-vocab-{name}.gguf"
        if file.exists():
            words = words_of(file)
            words = _cut(words, kept) if kept else words
            path = folder / f"{name}-{len(words.tokens)}.gguf"
            written.append(write_gguf(path, words, layers=layers, width=width, head=_HEAD))
    return written


def _cut(words, kept):
    """The first tokens of a byte-level vocabulary, with the merges that lead to them."""
    from dataclasses import replace

    tokens = words.tokens[:kept]
    known = set(tokens)
    merges = [merge for merge in words.merges if merge.replace(" ", "").encode() in known]
    return replace(words, tokens=tokens, types=words.types[:kept], merges=merges, eos=0, bos=None)


def show(path: Path, rows: Sequence[Row]) -> None:
    """One table."""
    print(f"\n{path.name}")
    heads = (
        "median ms",
        "p95 ms",
        "tokens",
        "calls",
        "model ms",
        "host µs/tok",
        "share",
        "valid",
        "× ours",
        "set-up s",
    )
    print(f"  {'':31}" + "".join(f"{head:>12}" for head in heads))
    for row in rows:
        numbers = (row.median, row.p95, row.tokens, row.calls, row.model, row.host_us)
        print(
            f"  {row.name:31}"
            + "".join(f"{number:12.1f}" for number in numbers)
            + f"{row.share:12.1%}{row.valid:12.0%}{row.slower:12.2f}{row.setup_s:12.2f}"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("models", nargs="*", type=Path)
    parser.add_argument("--vocabularies", type=Path)
    parser.add_argument("--layers", type=int, default=4, help="of the models that are made")
    parser.add_argument("--width", type=int, default=256)
    parser.add_argument("--runs", type=int, default=16)
    parser.add_argument("--only", nargs="*", default=(), help="parts of the names of the ways beside ours")
    parser.add_argument("--cpu", action="store_true", help="time of the processor, for a machine in use")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    with tempfile.TemporaryDirectory() as folder:
        models = list(options.models)
        if options.vocabularies:
            models += made_models(
                options.vocabularies, Path(folder), layers=options.layers, width=options.width
            )
        if not models:
            parser.error("name a GGUF, or a folder with --vocabularies")
        figures = {}
        for path in models:
            rows = measure(path, options.runs, options.only, cpu=options.cpu)
            figures[path.name] = [asdict(row) for row in rows]
            if not options.json:
                show(path, rows)
        if options.json:
            print(json.dumps(figures, indent=2))


if __name__ == "__main__":
    main()
