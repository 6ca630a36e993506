"""Typed functions called by a sentence: how often all arguments are exact, by descriptions alone.

python -m training.typed_calls [--model FILE] [--wrong FILE]

200 functions with one sentence each (written/development/functions.jsonl), by a writer who knew no reader;
each is a skill by itself, and the sentence is compiled for it. All are said at the same moment.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

from ir import VERBS
from mcl.compiler.compiler import GoalOptions, Refused, compile_goal
from mcl.core.home import open_home
from mcl.language.skills import find_skills
from mcl.model.form import plain
from mcl.model.loader import load_model
from mcl.model.protocol import Model
from training.written import FOLDER

FUNCTIONS = FOLDER / "development" / "functions.jsonl"
SAID_AT, ZONE = "2026-11-21T10:00:00Z", "Europe/Stockholm"
TYPES = {
    "string": "string", "integer": "uint", "number": "float", "boolean": "bool", "date": "iso8601",
    "time": "iso8601", "duration": "iso8601", "money": "AssetAmount", "url": "string", "email": "string",
}  # fmt: skip
MOST = 8


def slot_name(name: str) -> str:
    """An argument's name as a slot's."""
    return plain(name).replace(" ", "_").lower()


def skill_text(function: Mapping[str, Any]) -> str:
    """A function as a skill, its arguments as slots."""
    lines = ["§SKILL", "id=function", "version=1.0.0", f"display={json.dumps(plain(function['name']))}"]
    lines += ["author=corpus", f"description={json.dumps(function['description'], ensure_ascii=False)}"]
    lines += [f"mcl.verbs={' '.join(VERBS)}", "", "§INPUTS"]
    for name, told in function["arguments"].items():
        many = told["type"] == "list"
        kind = told["of"] if many else told["type"]
        type_ = f"enum<{'|'.join(told['options'])}>" if kind == "enum" else TYPES[kind]
        lines += [f"slot {slot_name(name)}: {type_}{'[]' if many else ''}", "  optional"]
        lines += [f"  max={MOST}"] if many else []
        lines += [f"  hint={json.dumps(told['hint'], ensure_ascii=False)}"]
    for name in ("CORTEX", "TOOLS", "SUB_SKILLS", "PROCEDURE", "OUTPUTS", "FAILURE_MODES"):
        lines += ["", f"§{name}", "none"]
    return "\n".join(lines) + "\n"


def canonical(value: object, kind: str) -> object:
    """A value as it is compared, whatever spelling it came in."""
    if isinstance(value, list):
        return tuple(sorted(str(canonical(one, kind)) for one in value))
    if kind in ("integer", "number"):
        return float(str(value))
    if kind == "boolean":
        return str(value).lower()
    if kind == "money":
        amount, unit = (value["value"], value["currency"]) if isinstance(value, dict) else str(value).split()
        return float(amount), unit
    text = str(value)
    if kind in ("date", "time") and "T" in text and not text.startswith("P"):
        moment = datetime.fromisoformat(text).astimezone(ZoneInfo(ZONE))
        return moment.date().isoformat() if kind == "date" else f"{moment:%H:%M}"
    return text.casefold()


def call_of(function: Mapping[str, Any], model: Model, place: Path) -> dict[str, object] | None:
    """The arguments that come of the sentence; None where the compile refuses."""
    folder = place / "skills" / "function"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "SKILL.mtx").write_text(skill_text(function), encoding="utf-8")
    outcome = compile_goal(
        function["said"], home=open_home(place / "home"), skills=find_skills([folder.parent]), model=model,
        options=GoalOptions(at=SAID_AT, zone=ZONE, skill="function"), store=False,
    )  # fmt: skip
    if isinstance(outcome, Refused):
        return None
    names = {slot_name(name): name for name in function["arguments"]}
    found: dict[str, list[str]] = {}
    for entry in outcome.intent.frame.objects:
        found.setdefault(names[entry.name], []).append(entry.value)
    many = {name for name, told in function["arguments"].items() if told["type"] == "list"}
    return {name: values if name in many else values[0] for name, values in found.items()}


def measured(model: Model, functions: Sequence[Mapping[str, Any]]) -> tuple[int, Counter[str], list[str]]:
    """How many calls are exact, what goes wrong by type of argument, and each wrong one."""
    exact, wrong, lines = 0, Counter[str](), []
    with tempfile.TemporaryDirectory() as folder:
        for function in functions:
            call = call_of(function, model, Path(folder)) or {}
            kinds = {n: t.get("of", t["type"]) for n, t in function["arguments"].items()}
            want = {name: canonical(value, kinds[name]) for name, value in function["call"].items()}
            got = {name: canonical(value, kinds[name]) for name, value in call.items()}
            off = [name for name in kinds if want.get(name) != got.get(name)]
            exact += not off
            wrong.update(kinds[name] for name in off)
            if off:
                parts = (f"{name}: {want.get(name)} <- {got.get(name)}" for name in off)
                lines.append(f"{function['said']}\n     " + "\n     ".join(parts))
    return exact, wrong, lines


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--model", type=Path, help="a GGUF (default: the bundled one)")
    parser.add_argument("--wrong", type=Path, help="where to write what went wrong")
    given = parser.parse_args()
    functions = [json.loads(line) for line in FUNCTIONS.read_text(encoding="utf-8").splitlines()]
    with tempfile.TemporaryDirectory() as folder:
        exact, wrong, lines = measured(load_model(given.model, home_path=Path(folder)), functions)
    print(f"{exact} of {len(functions)} calls exact ({exact / len(functions):.1%}); arguments wrong by type:")
    print(", ".join(f"{kind} {count}" for kind, count in wrong.most_common()))
    if given.wrong:
        given.wrong.write_text("\n".join(lines), encoding="utf-8")


if __name__ == "__main__":
    main()
