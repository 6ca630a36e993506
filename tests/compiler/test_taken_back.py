"""A goal that is corrected while it is said."""

from __future__ import annotations

import pytest

from mcl.compiler.stages.clauses import Clauses
from mcl.compiler.stages.rules import Rules
from mcl.compiler.stages.slips import SlipWords, without_slips
from mcl.language.mtx.core import load_core

CORE = load_core()


def plain(goal: str) -> str:
    return without_slips(Clauses(goal, None, Rules.of(CORE).coverage), SlipWords.of(CORE))[0]


@pytest.mark.parametrize(
    ("goal", "meant"),
    [
        ("push blue, no sorry, green to origin", "push green to origin"),
        ("send it on friday at 9, no wait, saturday", "send it on saturday at 9"),
        ("copy a.txt to docs, no hang on, b.txt", "copy b.txt to docs"),
        ("draft a mail to Bo, no sorry, to Kim, about tea", "draft a mail to Kim, about tea"),
        ("put Bo, no, wait, he is ill, put Kim down for tea", "put Kim down for tea"),
        ("delete a.md. No wait, rename it to b.md", "rename a.md to b.md"),
        ("remove eggs from the list, actually no, remove milk", "remove milk from the list"),
        ("skriv upp ica 49 nej vänta 59,90 i utgifterna", "skriv upp ica 59,90 i utgifterna"),
        ("flytta den till arkiv, nej förlåt, till gammalt", "flytta den till gammalt"),
        ("every Tuesday, no, let's say every Sunday at 9, water them", "every Sunday at 9, water them"),
        ("write Bo a mail, say it is on Friday no make that Sunday", "write Bo a mail, say it is on Sunday"),
        ("påminn mig på fredag, nej säg lördag, om tvätten", "påminn mig på lördag, om tvätten"),
        ("radera a.txt, nej vänta, flytta den till arkiv", "flytta a.txt till arkiv"),
    ],
)
def test_what_was_corrected_falls_away(goal: str, meant: str) -> None:
    assert plain(goal) == meant


@pytest.mark.parametrize(
    "goal",
    [
        "merge blue into main, no sorry, green",  # which of the two?
        "delete a.txt, no wait, don't",
        "draft a mail to Bo that says friday, no wait, saturday",
        "write in a.md: friday, no wait, saturday",
        "copy the pdf to x. I mean one, not all of them",
        "save it as x.csv. no wait she will see it",
        "is there no wait time in the log",
        "draft a mail to Bo that says: no, make it red",
    ],
)
def test_where_it_is_not_plain_what_falls_away_all_stays(goal: str) -> None:
    assert plain(goal) == goal
