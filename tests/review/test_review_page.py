"""The page about reviews: its transcript is run again."""

from __future__ import annotations

import re
from pathlib import Path

from yards import Yard

from mcl.language.skills import load_skill
from mcl.plugins.review.usecases.draft import PACK

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "review.md").read_text()
SHOP = """import sqlite3


def orders(name):
    with sqlite3.connect("shop.db") as db:
        return db.execute("SELECT * FROM orders WHERE name = '%s'" % name).fetchall()
"""


def test_the_transcript_on_the_page_is_what_the_commands_print(yard: Yard) -> None:
    yard.commit(shop__py=SHOP)
    yard.write("shop.py", SHOP + '\n\ndef label(order):\n    return eval(order["label"])\n')
    yard.write("logo.png", b"\x89PNG\0")
    shown = re.search(r"```console\n(.*?)```", PAGE, re.DOTALL)
    assert shown is not None
    code = 0
    for step in re.split(r"^\$ ", shown[1], flags=re.MULTILINE)[1:]:
        line, _, expected = step.partition("\n")
        if line == "echo $?":
            assert expected == f"{code}\n"
            continue
        told = yard.mcl(*line.removeprefix("mcl ").split())
        said = re.sub(r"^[A-Z].* …\n", "", told.err, flags=re.MULTILINE)  # what a slow machine says besides
        code, printed = told.code, told.out + said
        assert printed == expected, line


def test_the_page_tells_the_steps_of_the_plan() -> None:
    template = load_skill(PACK).template
    assert template is not None
    for case in template.cases:
        for node in case.root["children"]:
            tool = (
                node.get("tool_call", {}).get("tool_ref", "").removeprefix("matrix://tool/").partition("@")[0]
            )
            assert f"`{tool}`" in PAGE if tool else node["id"] in PAGE
