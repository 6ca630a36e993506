"""Tables asked about, cut, joined and converted, and JSON asked about; what is refused and stays as it is."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from walks import NODE, Walks, tool

from executor import FixedClock, Home
from executor.walker.undo.undo import undo
from mcl.plugins.data.tools.data.conditions import read_conditions


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Home]:
    """One in the month after the tables: what "the 24th" means does not change with the day of the test."""
    with Home.open(tmp_path / "home", clock=FixedClock("2026-12-01T10:00:00.000Z")) as opened:
        yield opened


EXPENSES = """date,kind,shop,amount,note
2026-10-01,food,Ica,100.50,
2026-10-15,Food,Coop,49.50,"a, b"
2026-10-20,travel,SJ,300,
2026-11-02,food,Ica,80,
2026-11-05,rent,Bostad,NA,
"""
READS = ("data/ask", "data/rows", "json/query")


def node(name: str, **args: Any) -> NODE:
    said = {key: value if isinstance(value, str) else json.dumps(value) for key, value in args.items()}
    return tool("n1", name, "read" if name in READS else "write", **said)


@pytest.fixture
def there(walks: Walks) -> Walks:
    walks.write("e.csv", EXPENSES)
    walks.write("shops.csv", "shop,city\nICA,Malmö\nSJ,Stockholm\n")
    return walks


@pytest.mark.parametrize(
    ("args", "value"),
    [
        ({"figure": "sum", "column": "amount"}, "530"),
        ({"figure": "sum"}, "530"),
        ({"figure": "mean", "column": "Amounts"}, "132.5"),
        ({"figure": "median"}, "90.25"),
        ({"figure": "max", "where": "kind is food"}, "100.5"),
        ({"figure": "count"}, "5"),
        ({"figure": "count", "where": "amount over 80"}, "2"),
        ({"figure": "sum", "where": "food in october"}, "150"),
        ({"figure": "sum", "where": "mat i oktober"}, "0"),
        ({"figure": "sum", "where": "date after 2026-11-01"}, "80"),
        ({"figure": "count", "where": "amount between 50 and 100"}, "1"),
        ({"figure": "count", "where": "kind is not food, shop is SJ"}, "1"),
        ({"figure": "count", "where": "2026-11"}, "2"),
        ({"figure": "count", "where": "ica"}, "2"),
    ],
)
def test_a_figure_of_the_rows_that_are_meant(there: Walks, args: dict[str, Any], value: str) -> None:
    assert there.ask(node("data/ask", path="e.csv", **args))["value"] == value


def test_groups_are_by_a_column_or_by_a_part_of_the_date(there: Walks) -> None:
    found = there.ask(node("data/ask", path="e.csv", figure="sum", by="month"))
    assert found["groups"] == [{"name": "2026-10", "value": "450"}, {"name": "2026-11", "value": "80"}]
    found = there.ask(node("data/ask", path="e.csv", by="shop", order="descending", limit=2))
    assert [one["name"] for one in found["groups"]] == ["SJ", "Ica"]
    assert "sum of amount by shop in e.csv (5 rows)" in found["text"]
    assert "1 cell of amount held no number" in found["text"]


def test_rows_are_shown_in_order_and_the_best_of_many_in_little_memory(there: Walks) -> None:
    found = there.ask(node("data/rows", path="e.csv", sort="amount", order="descending", limit=2))
    assert [row[2] for row in found["rows"]] == ["SJ", "Ica"]
    assert (found["count"], found["of"]) == (2, 5)
    found = there.ask(node("data/rows", path="e.csv", columns=["shop"], where="kind is food"))
    assert found["rows"] == [["Ica"], ["Coop"], ["Ica"]]


def test_rows_go_to_a_new_file_and_a_table_is_sorted_in_its_place_and_put_back(there: Walks) -> None:
    there.ask(
        node("data/extract", path="e.csv", to="food.json", where="kind is food", columns=["shop", "amount"])
    )
    assert json.loads((there.workspace / "food.json").read_text())[1] == {"shop": "Coop", "amount": 49.5}
    outcome = there.go(node("data/extract", path="e.csv", to="e.csv", sort="shop"))
    assert outcome.failure is None
    assert (there.workspace / "e.csv").read_text().splitlines()[1].startswith("2026-11-05,rent,Bostad")
    assert undo(there.home, outcome.intent_id).state == "undone"
    assert (there.workspace / "e.csv").read_text() == EXPENSES


def test_tables_are_joined_by_what_both_have(there: Walks) -> None:
    found = there.ask(node("data/join", left="e.csv", right="shops.csv", to="j.csv"))
    assert (found["on"], found["rows"], found["matched"]) == ("shop", 3, 3)
    assert (there.workspace / "j.csv").read_text().splitlines()[:2] == [
        "date,kind,shop,amount,note,city",
        "2026-10-01,food,Ica,100.50,,Malmö",
    ]
    every = there.ask(node("data/join", left="e.csv", right="shops.csv", to="all.csv", keep="all", on="shop"))
    assert every["rows"] == 5


def test_a_table_goes_from_format_to_format_and_back(there: Walks) -> None:
    for one, other in (("e.csv", "e.json"), ("e.json", "e.tsv"), ("e.tsv", "e.md"), ("e.json", "e.jsonl")):
        there.ask(node("data/convert", path=one, to=other))
    rows = json.loads((there.workspace / "e.json").read_text())
    assert rows[1] == {"date": "2026-10-15", "kind": "Food", "shop": "Coop", "amount": 49.5, "note": "a, b"}
    assert rows[4]["amount"] is None
    assert (there.workspace / "e.md").read_text().startswith("| date       | kind   | shop   |")
    there.write("s.csv", "a;b\n1,5;x|y\n")
    there.ask(node("data/convert", path="s.csv", to="s.json"))
    assert json.loads((there.workspace / "s.json").read_text()) == [{"a": 1.5, "b": "x|y"}]


def test_json_is_asked_about(walks: Walks) -> None:
    walks.write("p.json", '{"people": [{"name": "Åsa", "age": 41}, {"name": "Bo", "age": 30}]}')
    found = walks.ask(node("json/query", path="p.json", query="people[?age > `35`].name"))
    assert (json.loads(found["result"]), found["found"]) == (["Åsa"], True)
    assert walks.ask(node("json/query", path="p.json", query="people[0].name"))["text"] == "Åsa"
    assert walks.ask(node("json/query", path="p.json", query="nobody"))["found"] is False
    for query in ("people[", "length(`1`)", "sort_by(people, &x)[", "people[?age >"):
        assert walks.refusal(node("json/query", path="p.json", query=query)) == "BAD_QUERY"
    walks.write("bad.json", "{")
    walks.write("nan.json", "[NaN]")
    for path in ("bad.json", "nan.json"):
        assert walks.refusal(node("json/query", path=path, query="@")) == "BAD_JSON"


@pytest.mark.parametrize(
    ("name", "args", "refused"),
    [
        ("data/ask", {"column": "salary"}, "UNKNOWN_COLUMN"),
        ("data/ask", {"where": "salary over 3"}, "UNKNOWN_COLUMN"),
        ("data/ask", {"where": "amount over"}, "BAD_CONDITION"),
        ("data/ask", {"path": "words.csv"}, "NO_NUMBERS"),
        ("data/ask", {"path": "two.csv"}, "WHICH_COLUMN"),
        ("data/ask", {"path": "missing.csv"}, "NOT_FOUND"),
        ("data/ask", {"path": "../e.csv"}, "OUT_OF_SCOPE"),
        ("data/ask", {"path": "odd.json"}, "NO_ROWS"),
        ("data/rows", {"order": "descending", "path": "two.csv"}, "WHICH_COLUMN"),
        ("data/extract", {"to": "new.csv", "where": "kind is nothing"}, "NO_ROWS"),
        ("data/extract", {"to": "e.csv", "where": "kind is food"}, "WOULD_LOSE_ROWS"),
        ("data/extract", {"to": "e.csv", "columns": ["kind"]}, "WOULD_LOSE_ROWS"),
        ("data/extract", {"to": "two.csv"}, "EXISTS"),
        ("data/extract", {"to": "new.xlsx"}, "UNKNOWN_FORMAT"),
        ("data/convert", {"to": "e.csv"}, "SAME_FILE"),
        ("data/join", {"left": "e.csv", "right": "two.csv", "to": "n.csv"}, "WHICH_COLUMN"),
        ("data/join", {"left": "e.csv", "right": "words.csv", "to": "n.csv", "on": "kind"}, "NO_ROWS"),
    ],
)
def test_what_cannot_be_answered_is_refused_and_nothing_is_written(
    there: Walks, name: str, args: dict[str, Any], refused: str
) -> None:
    there.write("words.csv", "kind,name\nx,y\nz,w\n")
    there.write("two.csv", "a,b\n1,2\n3,4\n")
    there.write("odd.json", "[1, 2]")
    before = {place.name: place.read_bytes() for place in there.workspace.iterdir()}
    whole = args if name == "data/join" else {"path": "e.csv", **args}
    assert there.refusal(node(name, **whole)) == refused
    assert {place.name: place.read_bytes() for place in there.workspace.iterdir()} == before


def test_conditions_are_told_as_they_were_read() -> None:
    names, kinds = ("day", "country", "price"), ("date", "text", "number")
    said = "where price at least 1 000 kr and country is Sweden, in may"
    found = read_conditions(said, names, kinds, "t.csv", comma=False)
    assert found.told == ("price >= 1 000 kr", "country = Sweden", "day in may")
    assert found.hold(["2026-05-01", "sweden", "1,000"])
    assert not found.hold(["2026-05-01", "sweden", "999.9"])
    assert not found.hold(["2026-06-01", "Sweden", "1000"])


def test_rows_of_tables_of_one_kind_follow_each_other_and_doubles_may_be_dropped(there: Walks) -> None:
    there.write("more.csv", "Amount,date,kind\n7,2026-12-01,food\n7,2026-12-01,food\n")
    args = {"path": "e.csv", "also": ["more.csv"]}
    assert there.ask(node("data/ask", figure="count", where="kind is food", **args))["value"] == "5"
    assert there.ask(node("data/ask", question="how much on food in december 2026", **args))["value"] == "14"
    made = there.ask(node("data/extract", to="all.csv", doubles="drop", **args))
    assert made["rows"] == 6
    there.ask(node("data/extract", to="e.csv", **args))
    kept = (there.workspace / "e.csv").read_text()
    assert kept == EXPENSES + "2026-12-01,food,,7,\n" * 2
    assert (
        there.refusal(node("data/extract", path="e.csv", also=["shops.csv"], to="e.csv")) == "WOULD_LOSE_ROWS"
    )
    there.write("other.csv", "x,y\n1,2\n")
    assert there.refusal(node("data/ask", path="e.csv", also=["other.csv"])) == "UNKNOWN_COLUMN"


def test_a_log_and_a_folder_of_logs_are_tables_and_their_lines_go_to_a_text(there: Walks) -> None:
    lines = "2026-11-{day} 08:00:01 INFO started\n2026-11-{day} 09:12:44 ERROR disk 91 % full\n"
    for day in (25, 26):
        there.write(f"logs/s-{day}.log", lines.format(day=day))
    ask = "how many errors on 2026-11-25"
    assert there.ask(node("data/ask", path="logs", question=ask))["value"] == "1"
    found = there.ask(node("data/ask", path="logs/", question="errors per file"))
    assert [one["file"] for one in found["groups"]] == ["s-25.log", "s-26.log"]
    ask = "the ERROR lines of both logs, newest first"
    there.ask(node("data/extract", path="logs", question=ask, to="errors.txt"))
    text = (there.workspace / "errors.txt").read_text()
    assert text == "".join(f"2026-11-{day} 09:12:44 ERROR disk 91 % full\n" for day in (26, 25))
    there.write("x.log", "nothing\nof the kind\n")
    assert there.refusal(node("data/ask", path="x.log", question="how many errors")) == "BAD_TABLE"


LEDGER = """day,shop,kind,planned,spent
2026-09-03,Ica Maxi,food,700,742.50
2026-10-20,Bauhaus,home,1000,1249
2026-11-02,Ica Maxi,food,900,800
2026-11-24,Dr Holm,health,100,75.50
"""


@pytest.mark.parametrize(
    ("question", "told"),
    [
        ("what share of what we spent is food", "53.8"),
        ("hur många procent av det vi lagt ut är mat", "53.8"),
        ("what is left of the food plan in november", "100"),
        ("hur mycket är kvar av matbudgeten i november", "100"),
        ("how much was spent on food, and how much on home", "1,542.5 1,249"),
        ("how many planned for food, and how many for home", "1,600 1,000"),
        ("how much did we spend each week in november", "2026-W45 800 2026-W48 75.5"),
        ("how much did we spend on the 24th", "75.5"),
        ("spent before december", "4 of 4 rows"),
        ("when did we last go to Maxi", "2026-11-02"),
        ("rows where we spent more then planned", "742.50 1249"),
        ("spent as a percentage of planned, per kind", "food 96.41 health 75.5 home 124.9"),
        ("take 0.5 off spent in every row", "742 1248.5 799.5 75"),
        ("add a column rest, planned minus spent", "rest -42.5 -249 100 24.5"),
    ],
)
def test_questions_are_read_by_what_the_table_has(walks: Walks, question: str, told: str) -> None:
    walks.write("ledger.csv", LEDGER)
    text = str(walks.ask(node("data/ask", path="ledger.csv", question=question))["text"])
    place = 0
    for one in told.split(" ") if "rows" not in told else [told]:
        place = text.find(one, place)
        assert place >= 0, (one, text)
