"""How often prompts get their contract: the matcher, a model, and both together; and what each costs.

    python -m benchmarks.repo [--model PATH] [--set fitted|held] [--wrong] [--strangers FILE …] [--json]

`repo_prompts.jsonl` has prompts in Swedish and English with the contract that each should get; "refuse" is
right where nothing of the contract does what is asked, and no route counts as a refusal. Those of the set
"held" were written before they were first asked, and nothing is fitted to them.
right: the whole contract (intent, repo, command, args); declined: refused or no route although there is one;
wrong: another contract. Costs: the processor's time, medians, each in turn with its floor.
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
import statistics
import time
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from mcl.core.errors import ModelError, RepoError
from mcl.model.protocol import Model
from mcl.plugins.repo.contract import RepoIntent, intent_types, judge, read_contract
from mcl.plugins.repo.matcher import match
from mcl.plugins.repo.routing import route

KEYS = ("mq-hal", "macos-scripts", "dotfiles", "webshop", "api-server")
_PROMPTS = Path(__file__).with_name("repo_prompts.jsonl")

Ask = Callable[[str], RepoIntent | None]


def prompts(which: str = "") -> list[dict[str, Any]]:
    rows = [json.loads(line) for line in _PROMPTS.read_text("utf-8").splitlines()]
    return [row for row in rows if which in ("", row["set"])]


def strangers(path: Path, count: int = 300) -> list[str]:
    """A sample of goals that have nothing to do with repositories: whoever answers one is wrong."""
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        goals = [json.loads(line)["text"] for line in lines]
    return random.Random(7).sample(goals, min(count, len(goals)))


def told(model: Model | None, *, strict: bool) -> Ask:
    """Ask as `mcl repo route` does; None where there is no route."""

    def ask(prompt: str) -> RepoIntent | None:
        try:
            return route(prompt, KEYS, model=model, strict=strict).contract
        except (RepoError, ModelError):
            return None

    return ask


def verdict(row: dict[str, Any], contract: RepoIntent | None) -> str:
    """right, declined or wrong. What is rejected by `judge` runs nothing: it is declined."""
    declined = contract is None or judge(contract) is not None
    if row["intent"] == "refuse":
        return "right" if declined else "wrong"
    if contract is None or declined:
        return "declined"
    said = (contract.intent, contract.repo, contract.command, list(contract.args))
    return "right" if said == (row["intent"], row["repo"], row["command"], row["args"]) else "wrong"


def _acts(contract: RepoIntent | None) -> bool:
    """Whether a contract may be acted upon and does more than read."""
    if contract is None or judge(contract) is not None:
        return False
    return intent_types()[contract.intent].effect != "read-only"


def scored(rows: Iterable[dict[str, Any]], ask: Ask) -> Counter[str]:
    return Counter(verdict(row, ask(row["prompt"])) for row in rows)


def costs(model: Model) -> dict[str, float]:
    """Medians in ms of the processor's time, in turn with the floor of each, and their ratios."""
    from mcl.model.answers import shown
    from mcl.plugins.repo.model_answer import ask, candidates

    texts = [row["prompt"] for row in prompts()]
    document = RepoIntent("grep_repo", "mq-hal", None, ("OLLAMA_MODEL",), "Searches.").text
    documents = [document.replace("OLLAMA_MODEL", f"{number}") for number in range(2000)]
    found: dict[str, float] = {}
    for name, work, floor_name, floor in (
        ("read a contract", lambda text: read_contract(text.encode()), "json.loads", json.loads),
        ("match", lambda text: match(text, KEYS), "substrings", lambda text: match(text, KEYS, compat=True)),
        (
            "ask the model",
            lambda text: ask(model, text, KEYS),
            "its choice alone",
            lambda text: model.choose(shown(text), candidates()),
        ),
    ):
        spent = [_pair(work, floor, text) for text in (documents if name[0] == "r" else texts)]
        ours, least = (statistics.median(times) * 1000 for times in zip(*spent, strict=True))
        found |= {name: ours, f"  floor: {floor_name}": least, "  ratio, " + name: ours / least}
    return found


def _pair(work: Callable[[str], object], floor: Callable[[str], object], text: str) -> tuple[float, float]:
    work(text), floor(text)  # the first time fills caches
    start = time.process_time()
    work(text)
    between = time.process_time()
    floor(text)
    return between - start, time.process_time() - between


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--model", type=Path, help="a GGUF; the bundled one where none is named")
    parser.add_argument("--set", default="", choices=["", "fitted", "held"])
    parser.add_argument(
        "--wrong", action="store_true", help="show every prompt that did not get its contract"
    )
    parser.add_argument(
        "--strangers", type=Path, nargs="*", default=[], help="goals of other fields (.jsonl.gz)"
    )
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    from mcl.model import load_model

    model = load_model(options.model, home_path=None)
    ways = {
        "matcher alone": told(None, strict=False),
        "model alone": told(model, strict=True),
        "both together": told(model, strict=False),
    }
    result: dict[str, Any] = {"model": model.version}
    for which in [options.set] if options.set else ["fitted", "held"]:
        for lang in ("en", "sv"):
            rows = [row for row in prompts(which) if row["lang"] == lang]
            for name, ask in ways.items():
                counts = scored(rows, ask)
                result[f"{which}, {lang}, {name}"] = {"of": len(rows), **counts}
                if options.wrong:
                    _show(rows, ask, f"{which}, {name}")
    for path in options.strangers:
        rows = [{"intent": "refuse", "prompt": text} for text in strangers(path)]
        for name, ask in ways.items():
            acted = sum(_acts(ask(row["prompt"])) for row in rows)
            counts = {"of": len(rows), **scored(rows, ask), "acts": acted}
            result[f"{path.name.split('.')[0]}, {name}"] = counts
    result["ms"] = costs(model)
    if options.json:
        print(json.dumps(result, indent=2))
        return
    print(result.pop("model"))
    for name, value in result.pop("ms").items():
        print(f"{name:32} {value:10.4f}")
    print(f"\n{'':32} {'of':>5} {'right':>6} {'declined':>9} {'wrong':>6}")
    for name, counts in result.items():
        figures = (counts.get(key, 0) for key in ("right", "declined", "wrong"))
        acts = f"  of which do more than read: {counts['acts']}" if "acts" in counts else ""
        print(f"{name:32} {counts['of']:5} {' '.join(f'{figure:>7}' for figure in figures)}{acts}")


def _show(rows: list[dict[str, Any]], ask: Ask, where: str) -> None:
    for row in rows:
        contract = ask(row["prompt"])
        said = verdict(row, contract)
        if said != "right":
            wanted = (row["intent"], row["repo"], row["command"] or row["args"])
            got = contract and (contract.intent, contract.repo, contract.command or list(contract.args))
            print(f"{where:24} {said:9} {row['prompt']!r:60} {wanted} -> {got}")


if __name__ == "__main__":
    main()
