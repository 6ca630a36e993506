"""Engines that read a TextMate grammar: a port to Python, and where it is there the one of VS Code itself."""

from __future__ import annotations

import json
import logging
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any, TypeAlias

from tests.npm import npm_package

ROOT = Path(__file__).resolve().parents[2]
GRAMMAR = ROOT / "grammars" / "mtx.tmLanguage.json"
# for each line the scopes of each of its characters, the outermost first
Painted: TypeAlias = list[list[tuple[str, ...]]]


@cache
def _parser() -> Any:
    before = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)  # the library makes a folder for its cache where it is imported
        try:
            from textmate_grammar.parsers.base import LanguageParser
        finally:
            os.chdir(before)
    logging.getLogger("textmate_grammar").setLevel(logging.CRITICAL)
    return LanguageParser(json.loads(GRAMMAR.read_text()))


def paint(text: str) -> Painted:
    """The scopes of a text as the port to Python sees them."""
    lines = text.split("\n")
    painted: Painted = [[()] * len(line) for line in lines]
    parsed = _parser().parse_string(text)
    for (line, column), part, scopes in parsed.flatten() if parsed is not None else ():
        for offset, piece in enumerate(part.split("\n")):
            start = 0 if offset else column
            painted[line + offset][start : start + len(piece)] = [tuple(scopes)] * len(piece)
    return painted


def node_modules() -> Path:
    """Where vscode-textmate and vscode-oniguruma are, with a node to run them; skips where they are not."""
    return npm_package("vscode-textmate").parent


def paint_with_node(modules: Path, texts: Sequence[str]) -> list[Painted]:
    """The scopes of texts as the engine of VS Code sees them."""
    script = Path(__file__).with_name("tokenize.cjs")
    done = subprocess.run(
        ["node", str(script), str(modules)],
        input=json.dumps({"grammar": str(GRAMMAR), "texts": list(texts)}),
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    if done.returncode:
        sys.stderr.write(done.stderr)
    answer = json.loads(done.stdout)
    return [
        [_characters(line, spans) for line, spans in zip(text.split("\n"), rows, strict=True)]
        for text, rows in zip(texts, answer, strict=True)
    ]


def _characters(line: str, spans: list[tuple[int, int, list[str]]]) -> list[tuple[str, ...]]:
    units: list[tuple[str, ...]] = []
    for start, stop, scopes in spans:
        units += [tuple(scopes)] * (stop - start)
    painted, at = [], 0
    for character in line:
        painted.append(units[at])
        at += 2 if character > "\uffff" else 1
    return painted
