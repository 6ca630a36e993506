"""Tables: their figures against another computation, and charts of them."""

from __future__ import annotations

import csv
import io
import re
import statistics
from collections import Counter
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from walks import NODE, Walks, tool

import ir
from executor import Workspace
from mcl.plugins.data.tools.data.column import Column
from mcl.plugins.data.tools.data.picture import draw, shown
from mcl.plugins.data.tools.data.table import is_number, read_date, read_number

ORDERS = """day,city,price,qty,code,paid
2026-01-01,Berlin,1.10,3,007,yes
2026-01-02,Paris,2.20,4,008,no
2026-01-03,Rome,NA,5,009,yes
2026-01-04,Berlin,"1,234.5",6,010,yes
2026-01-05,Berlin,0.1,7,011,no
"""


def summary(path: str = "t.csv", **args: str) -> NODE:
    return tool("n1", "data/summary", path=path, **args)


def chart(out: str = "c.svg", path: str = "t.csv", **args: str) -> NODE:
    return tool("n1", "data/chart", "write", path=path, out=out, **args)


def columns(walks: Walks, text: str | bytes, **args: str) -> dict[str, Any]:
    (walks.workspace / "t.csv").write_bytes(text if isinstance(text, bytes) else text.encode())
    return {one["name"]: one for one in walks.ask(summary(**args))["columns"]}


def test_a_summary_tells_the_figures_of_each_column_by_its_type(walks: Walks) -> None:
    found = columns(walks, ORDERS)
    assert {name: one["type"] for name, one in found.items()} == {
        "day": "date",
        "city": "text",
        "price": "number",
        "qty": "integer",
        "code": "text",
        "paid": "boolean",
    }
    price = found["price"]
    assert (price["count"], price["missing"], price["min"], price["max"]) == (4, 1, 0.1, 1234.5)
    assert (price["sum"], price["mean"], price["median"]) == (1237.9, 309.475, 1.65)
    qty = found["qty"]
    assert (qty["sum"], qty["median"], qty["mean"], qty["distinct"]) == (25, 5, 5.0, 5)
    assert (found["day"]["min"], found["day"]["max"]) == ("2026-01-01", "2026-01-05")
    assert found["city"]["top"][0] == {"value": "Berlin", "count": 3}
    assert found["paid"]["distinct"] == 2


def test_the_text_of_a_summary_stands_in_columns(walks: Walks) -> None:
    walks.write("t.csv", ORDERS)
    assert walks.ask(summary(columns='["qty", "city"]'))["text"].splitlines() == [
        "t.csv: 5 rows, 6 columns (comma, UTF-8)",
        "",
        "numbers  count  missing  min  median  mean  max  sum    stdev",
        "qty          5        0    3       5     5    7   25  1.58114",
        "",
        "others  type  count  missing  distinct  values",
        "city    text      5        0         3  Berlin (3), Paris (1), Rome (1)",
    ]


def test_sums_of_decimals_are_exact(walks: Walks) -> None:
    found = columns(walks, "x\n" + "0.1\n" * 10)["x"]
    assert (found["sum"], found["mean"], found["stdev"]) == (1.0, 0.1, 0.0)
    big = columns(walks, f"n\n{10**25}\n{10**25 + 1}\n{10**25 + 2}\n")["n"]
    assert (big["sum"], big["median"], big["stdev"]) == (3 * 10**25 + 3, 10**25 + 1, 1.0)


@pytest.mark.parametrize(
    ("text", "delimiter"),
    [
        ("a,b\n1,2\n3,4\n", ","),
        ("a;b\n1,5;2\n3,5;4\n", ";"),
        ("a\tb\n1,5\t2\n3\t4\n", "\t"),
        ("a|b\n1|2\n", "|"),
        ("sep=;\na;b\n1;2\n", ";"),
        ('a,b\n"x;y;z",1\n"u;v;w",2\n', ","),
        ("a\n1\n2\n", ","),
    ],
)
def test_the_separator_is_found(walks: Walks, text: str, delimiter: str) -> None:
    walks.write("t.csv", text)
    found = walks.ask(summary())
    assert found["delimiter"] == delimiter
    assert [one["name"] for one in found["columns"]] == (["a", "b"] if "b" in text else ["a"])


def test_with_semicolons_a_comma_is_the_decimal_point(walks: Walks) -> None:
    found = columns(walks, "preis;n\n1,5;1\n1.234,25;2\n-0,25;3\n")["preis"]
    assert (found["type"], found["sum"], found["max"]) == ("number", 1235.5, 1234.25)


def test_a_byte_order_mark_and_other_encodings_are_read_and_told(walks: Walks) -> None:
    rows = "città,n\nForlì,1\n"
    for codec, told in [
        ("utf-8", "UTF-8"),
        ("utf-8-sig", "UTF-8"),
        ("utf-16", "UTF-16"),
        ("latin-1", "Latin-1, as it is no UTF-8"),
    ]:
        (walks.workspace / "t.csv").write_bytes(rows.encode(codec))
        found = walks.ask(summary())
        assert (found["encoding"], [one["name"] for one in found["columns"]]) == (told, ["città", "n"])
        assert found["columns"][0]["top"] == [{"value": "Forlì", "count": 1}]


def test_rows_of_other_lengths_are_counted_and_said(walks: Walks) -> None:
    walks.write("t.csv", "a,b,c\n1,2,3\n4,5\n6,7,8,9\n\n10,11,12\n")
    found = walks.ask(summary())
    assert (found["rows"], found["ragged"]) == (4, 2)
    assert found["columns"][2]["missing"] == 1
    assert "2 rows have more or fewer cells than the first" in found["text"]


def test_cells_in_quotes_may_hold_separators_and_line_ends(walks: Walks) -> None:
    found = columns(walks, 'name,n\n"Smith, ""J""\nand sons",1\nLee,2\n')
    assert found["name"]["top"][1] == {"value": 'Smith, "J"\nand sons', "count": 1}
    assert found["n"]["sum"] == 3


@pytest.mark.parametrize(
    ("text", "header"),
    [
        ("a,b\n1,2\n", True),
        ("1,2\n3,4\n", False),
        ("2026-01-01,5\n2026-01-02,6\n", False),
        ("name,city\nAda,Rome\n", True),
        (",a\n0,1\n1,2\n", True),
        ("a,b\n", True),
        ("1,2\n", False),
    ],
)
def test_it_is_found_out_whether_the_first_row_names_the_columns(
    walks: Walks, text: str, header: bool
) -> None:
    walks.write("t.csv", text)
    found = walks.ask(summary())
    assert found["header"] is header
    assert found["rows"] == text.count("\n") - header
    assert walks.ask(summary(header="false"))["rows"] == text.count("\n")


def test_columns_without_a_name_or_with_the_same_get_one_of_their_own(walks: Walks) -> None:
    assert list(columns(walks, ",x,x,\n1,2,3,4\n")) == ["column 1", "x", "x (2)", "column 4"]


def test_a_table_of_very_many_columns_is_refused(walks: Walks) -> None:
    walks.write("wide.csv", "," * 20_000 + "\n")
    assert walks.refusal(tool("n1", "data/summary", path="wide.csv")) == "BAD_TABLE"
    assert columns(walks, "x," * 9_000 + "\n" + "1," * 9_000 + "\n", columns='["x (9000)"]')


def test_long_cells_are_told_apart_without_being_kept(tmp_path: Path) -> None:
    column = Column("x", comma=False, distinct=1000, kept=1000)
    for number in range(1000):
        column.add("a" * 100_000 + str(number))
        column.add("a" * 100_000 + "0")
    assert column.figures()["distinct"] == 1000
    assert column.figures()["top"][0] == {"value": "a" * 80, "count": 1001}
    assert sum(map(len, column._counts)) < 1_000_000


def test_a_word_for_nothing_is_missing_among_numbers_and_a_word_in_a_text(walks: Walks) -> None:
    found = columns(walks, "n,country\n1,NA\nn/a,DE\n-,none\n2,NA\n")
    assert (found["n"]["type"], found["n"]["count"], found["n"]["missing"]) == ("integer", 2, 2)
    assert (found["country"]["type"], found["country"]["count"]) == ("text", 4)
    assert found["country"]["top"][0] == {"value": "NA", "count": 2}


def test_a_few_words_among_numbers_are_named(walks: Walks) -> None:
    found = columns(walks, "n\n" + "1\n" * 20 + "oops\n")["n"]
    assert found["type"] == "text"
    assert found["note"] == "1 of 21 values are no numbers, such as 'oops'"


def test_an_empty_column_and_a_table_without_rows(walks: Walks) -> None:
    found = columns(walks, "a,b\n1,\n2,\n")["b"]
    assert (found["type"], found["count"], found["missing"], found["mean"]) == ("empty", 0, 2, None)
    assert columns(walks, "a,b\n")["a"]["count"] == 0


def test_a_column_is_asked_for_by_name_in_any_case(walks: Walks) -> None:
    assert list(columns(walks, ORDERS, columns='["PRICE"]')) == ["price"]
    outcome = walks.go(summary(columns='["prise"]'))
    assert outcome.failure is not None
    assert (outcome.failure.code, outcome.failure.fix) == ("UNKNOWN_COLUMN", "there is: price")


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (b"", "EMPTY_TABLE"),
        (b"\n \n", "EMPTY_TABLE"),
        (b"a,b\n1,\0\n", "NOT_TEXT"),
        (b"PK\x03\x04\0\0", "NOT_TEXT"),
        (b'a,b\n"' + b"x" * 200_000 + b"\n", "BAD_TABLE"),
        (b"a,b\n" + b"x" * (1 << 21), "BAD_TABLE"),
        (b"\xff\xfea\0\n\0\x00\xd8x\0", "BAD_TABLE"),
        (b"\xef\xbb\xbfa\n1\n\xff\n", "BAD_TABLE"),
    ],
)
def test_what_is_no_table_is_refused_by_name(walks: Walks, data: bytes, code: str) -> None:
    (walks.workspace / "t.csv").write_bytes(data)
    assert walks.refusal(summary()) == code
    assert walks.refusal(chart()) == code


def test_many_columns_are_cut_and_said_and_one_can_still_be_named(walks: Walks) -> None:
    walks.write("t.csv", ",".join(f"c{n}" for n in range(150)) + "\n" + ",".join("1" * 150) + "\n")
    found = walks.ask(summary())
    assert (len(found["columns"]), found["truncated"]) == (100, True)
    assert "50 more columns are not told" in found["text"]
    assert walks.ask(summary(columns='["c149"]'))["columns"][0]["sum"] == 1


def test_a_wide_table_of_long_texts_stays_within_its_limit(walks: Walks) -> None:
    row = ",".join('"' + "é\\" * 100 + str(n) + '"' for n in range(100))
    walks.write("t.csv", "\n".join([",".join(f"{'n' * 200}{n}" for n in range(100)), row, row]) + "\n")
    assert walks.ask(summary())["rows"] == 2


NUMBERS = st.decimals(
    min_value=Decimal("-1e12"), max_value=Decimal("1e12"), places=None, allow_nan=False, allow_infinity=False
)


@settings(max_examples=60, deadline=None)
@given(st.lists(NUMBERS, min_size=1, max_size=40), st.sampled_from([1, 3, 1000]), st.booleans())
def test_figures_are_those_of_another_computation(numbers: list[Decimal], distinct: int, comma: bool) -> None:
    texts = [f"{number:f}" for number in numbers]
    assume(all(len(text) < 28 for text in texts))
    column = Column("x", comma=comma, distinct=distinct, kept=1000)
    for text in texts:
        column.add(f" {text.replace('.', ',') if comma else text} ")
    found: Any = column.figures()
    exact = [Fraction(text) for text in texts]
    assert found["count"] == len(texts)
    assert found["sum"] == float(sum(exact))
    assert found["mean"] == float(sum(exact) / len(exact))
    assert (found["min"], found["max"]) == (float(min(exact)), float(max(exact)))
    if distinct == 1000:
        assert found["median"] == float(statistics.median(exact))
        assert found["distinct"] == len(set(texts))
        assert found["approximate"] == []
    else:
        assert found["median"] == pytest.approx(float(statistics.median(exact)), rel=1e-12)
    if len(exact) > 1:
        assert found["stdev"] == pytest.approx(statistics.stdev([Fraction(one) for one in exact]), rel=1e-14)
    else:
        assert found["stdev"] is None


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(-50, 50), min_size=1, max_size=400), st.integers(1, 20))
def test_many_different_values_keep_count_and_sum_exact_and_say_what_is_not(
    numbers: list[int], distinct: int
) -> None:
    column = Column("n", comma=False, distinct=distinct, kept=10)
    for number in numbers:
        column.add(str(number))
    found: Any = column.figures()
    assert (found["count"], found["sum"]) == (len(numbers), sum(numbers))
    assert (found["min"], found["max"]) == (min(numbers), max(numbers))
    assert found["distinct"] == len(set(numbers))  # estimates begin beyond a thousand
    assert found["approximate"] or found["median"] == statistics.median(numbers)
    assert min(numbers) <= found["median"] <= max(numbers)


def test_the_number_of_very_many_different_values_is_estimated_closely() -> None:
    column = Column("n", comma=False, distinct=100, kept=100)
    for number in range(30_000):
        column.add(f"value {number % 20_000}")
    found: Any = column.figures()
    assert "distinct" in found["approximate"]
    assert 18_000 < found["distinct"] < 22_000
    again = Column("n", comma=False, distinct=100, kept=100)
    for number in range(30_000):
        again.add(f"value {number % 20_000}")
    assert again.figures() == found


CELLS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=12)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(st.lists(CELLS, min_size=2, max_size=2), min_size=1, max_size=12),
    st.sampled_from(",;\t|"),
    st.sampled_from(["\n", "\r\n"]),
)
def test_any_table_that_a_csv_writer_writes_is_read_back(
    tmp_path: Path, rows: list[list[str]], delimiter: str, end: str
) -> None:
    from mcl.plugins.data.tools.data.table import open_table

    class Bench:
        workspace = Workspace(tmp_path)

    file = io.StringIO(newline="")
    writer = csv.writer(file, delimiter=delimiter, lineterminator=end, quoting=csv.QUOTE_ALL)
    writer.writerow(["first", "second"])
    writer.writerows(rows)
    (tmp_path / "t.csv").write_bytes(file.getvalue().encode())
    bench: Any = Bench()
    with open_table("t.csv", bench, lambda: None, header=True) as table:
        assert table.form.delimiter == delimiter
        assert table.names == ("first", "second")
        assert list(table.rows()) == rows
    bench.workspace.close()


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.binary(max_size=300) | st.text(st.sampled_from('ab1,;"\n\r\t.-'), max_size=80).map(str.encode))
def test_no_bytes_end_in_anything_but_figures_or_a_named_error(tmp_path: Path, data: bytes) -> None:
    from mcl.plugins.data.tools.data.summary import _count
    from mcl.plugins.data.tools.data.table import open_table

    class Bench:
        workspace = Workspace(tmp_path)

    (tmp_path / "t.csv").write_bytes(data)
    bench: Any = Bench()
    try:
        with open_table("t.csv", bench, lambda: None) as table:
            found = [Column(name, comma=True, distinct=5, kept=5) for name in table.names]
            _count(table, list(enumerate(found)))
            for column in found:
                column.figures()
    except ir.MclError as problem:
        if problem.code not in ("NOT_TEXT", "EMPTY_TABLE", "BAD_TABLE"):
            raise
    finally:
        bench.workspace.close()


@pytest.mark.parametrize(
    "text", ["007", "1_000", "0x1f", "１２", "1,23", "1.2.3", "", "+", "e5", "1e400", "--1", "1,2345"]
)
def test_what_is_no_number_is_none(text: str) -> None:
    assert not is_number(text, comma=False)


def test_numbers_are_read_as_they_are_written() -> None:
    assert read_number("1,234,567.50", comma=False) == (Decimal("1234567.50"), False)
    assert read_number("1.234.567", comma=True) == (Decimal(1234567), True)
    assert read_number("-.5", comma=False) == (Decimal("-0.5"), False)
    assert read_number("1e3", comma=False) == (Decimal("1e3"), False)
    assert read_number("+0", comma=False) == (Decimal(0), True)


@pytest.mark.parametrize(
    "text", ["2026-02-30", "32.01.2026", "2026-1-1", "01/02/2026", "2026", "12:00", "2026-01/02"]
)
def test_what_is_no_date_or_could_be_two_is_none(text: str) -> None:
    assert read_date(text) is None


def test_dates_with_and_without_zones_stand_in_one_order() -> None:
    texts = ["2026-01-01", "2026-01-01T01:30+02:00", "1.1.2026 00:15", "2026/01/01 00:30:00Z"]
    moments = [read_date(text) for text in texts]
    assert sorted(texts, key=lambda text: moments[texts.index(text)].isoformat()) == [  # type: ignore[union-attr]
        texts[1],
        texts[0],
        texts[2],
        texts[3],
    ]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "-"),
        (1234567, "1,234,567"),
        (0.1, "0.1"),
        (1234.5678, "1,234.57"),
        (1e20, "1.00000e+20"),
        (0.0, "0"),
    ],
)
def test_numbers_are_shown_as_people_read_them(value: object, text: str) -> None:
    assert shown(value) == text


def test_a_chart_is_the_same_bytes_each_time_and_keeps_an_existing_file(walks: Walks) -> None:
    walks.write("t.csv", ORDERS)
    made = walks.ask(chart(y="price"))
    assert (made["created"], made["kind"], made["title"]) == (True, "line", "price by day")
    data = (walks.workspace / "c.svg").read_bytes()
    assert not walks.ask(chart(y="price"))["created"]
    other = walks.ask(chart(out="other/d.svg", y="price"))
    assert (other["sha256"], (walks.workspace / "other/d.svg").read_bytes()) == (made["sha256"], data)
    assert walks.refusal(chart(x="city", y="price")) == "EXISTS"
    assert (walks.workspace / "c.svg").read_bytes() == data


@pytest.mark.parametrize("kind", ["bar", "line", "histogram"])
def test_a_chart_holds_nothing_to_run_or_to_fetch(walks: Walks, kind: str) -> None:
    nasty = '</text><script>alert(1)</script><image href="https://evil.example/x.png"/>'
    rows = [[nasty, "price"], [nasty, "1"], ["<b>&amp;", "2"], ["a\x1b[31m\u202e\uffff", "3"]]
    file = io.StringIO(newline="")
    csv.writer(file).writerows(rows)
    walks.write("t.csv", file.getvalue())
    walks.ask(chart(kind=kind))
    svg = (walks.workspace / "c.svg").read_text()
    tree = ElementTree.fromstring(svg)
    tags = {node.tag.rpartition("}")[2] for node in tree.iter()}
    assert tags <= {"svg", "defs", "style", "title", "g", "rect", "path", "text", "circle", "line"}
    attributes = {name for node in tree.iter() for name in node.attrib}
    assert not {name for name in attributes if "href" in name or name.startswith("on")}
    style = "".join(node.text or "" for node in tree.iter() if node.tag.endswith("style"))
    assert "url(" not in style.replace("url(#", "")
    assert "@import" not in style
    assert "\x1b" not in svg
    assert "<!" not in svg
    assert set(
        re.findall(r"https?://[^\"'<\s]*", re.sub(r"<title>.*?</title>|<text.*?</text>", "", svg))
    ) == {"http://www.w3.org/2000/svg"}


def test_a_stylesheet_in_the_current_folder_has_no_say(walks: Walks, monkeypatch: pytest.MonkeyPatch) -> None:
    walks.write("t.csv", ORDERS)
    first = walks.ask(chart(y="price"))["sha256"]
    for name in ("base.css", "style.css", "graph.css"):
        walks.write(name, "{{ style.__class__ }} @import url(https://evil.example/x.css);")
    monkeypatch.chdir(walks.workspace)
    monkeypatch.setenv("NO_LXML", "1")
    assert walks.ask(chart(out="d.svg", y="price"))["sha256"] == first


def test_bars_sum_what_has_the_same_name_and_say_so(walks: Walks) -> None:
    walks.write("t.csv", ORDERS)
    found = walks.ask(chart(x="city", y="price"))
    assert (found["kind"], found["title"]) == ("bar", "sum of price by city")
    assert found["notes"] == ["1 row without a number is left out"]
    assert walks.ask(chart(out="n.svg", x="city", y="qty"))["title"] == "sum of qty by city"


def test_bars_without_numbers_count_rows(walks: Walks) -> None:
    walks.write("t.csv", "city\nRome\nRome\nParis\n")
    assert walks.ask(chart())["title"] == "rows by city"
    assert walks.refusal(chart(out="l.svg", kind="line")) == "NO_NUMBERS"


def test_more_bars_and_points_than_can_be_seen_are_thinned_and_said(walks: Walks) -> None:
    walks.write("t.csv", "name,n\n" + "".join(f"x{n},{n}\n" for n in range(5000)))
    bars = walks.ask(chart())
    assert bars["notes"] == ["the 50 largest of 5,000 bars are drawn"]
    line = walks.ask(chart(out="l.svg", kind="line"))
    assert line["notes"] == ["556 points are drawn, of 5,000 rows"]
    assert (walks.workspace / "l.svg").stat().st_size < 200_000


def test_a_line_sums_what_lies_on_one_day_and_goes_by_the_calendar(walks: Walks) -> None:
    from mcl.plugins.data.tools.data.chart import _line
    from mcl.plugins.data.tools.data.table import TableForm

    class Days:
        names, path, form = ("day", "n"), "t.csv", TableForm("utf-8", "UTF-8", ",", False, True)

    table: Any = Days()
    rows = [["3.1.2026", "1"], ["2026-01-01", "2"], ["3.1.2026", "0.5"], ["2026-01-02", "x"]]
    made = _line(table, 0, 1, rows, comma=False)
    assert (made.labels, made.values) == (["2026-01-01", "3.1.2026"], [2.0, 1.5])
    assert (made.title, made.notes) == ("sum of n by day", ["1 row without a number is left out"])
    many = ([f"{number % 60_000}", "1"] for number in range(120_000))
    huge = _line(table, 0, 1, many, comma=False)
    assert set(huge.values) == {2.0}
    assert len(huge.values) <= 600
    assert huge.notes[0].endswith(" points are drawn, of 120,000 rows")


def test_a_histogram_counts_every_number_once() -> None:
    from mcl.plugins.data.tools.data.chart import _histogram

    for numbers in ([1.5], [0, 0, 0], list(range(100)), [-1e12, 1e12], [0.1, 0.2, 0.30000000000000004]):
        made = _histogram("n", 0, [[f"{Decimal(repr(float(one))):f}"] for one in numbers], comma=False)
        assert sum(made.values) == len(numbers)
        assert len(made.labels) == len(made.values) <= 24


def test_a_table_of_words_alone_has_no_histogram(walks: Walks) -> None:
    walks.write("t.csv", "a,b\nx,y\n")
    assert walks.refusal(chart(kind="histogram")) == "NO_NUMBERS"
    assert walks.refusal(chart(y="a")) == "NO_NUMBERS"
    assert walks.refusal(chart(y="c")) == "UNKNOWN_COLUMN"


@pytest.mark.parametrize("out", ["c.png", "c", "c.svg.html"])
def test_a_chart_is_written_to_an_svg_file_alone(walks: Walks, out: str) -> None:
    walks.write("t.csv", ORDERS)
    assert walks.refusal(chart(out=out)) == "INVALID_ARGS"


@settings(max_examples=25, deadline=None)
@given(
    st.lists(st.tuples(st.text(max_size=70), st.floats(-1e120, 1e120)), min_size=1, max_size=8),
    st.sampled_from(["bar", "line"]),
)
def test_any_labels_and_numbers_can_be_drawn(points: list[tuple[str, float]], kind: str) -> None:
    from mcl.plugins.data.tools.data.chart import _plain

    labels = [_plain(label) for label, _ in points]
    svg = draw(kind, "title", labels, [value for _, value in points])
    assert svg == draw(kind, "title", labels, [value for _, value in points])
    assert ElementTree.fromstring(svg).tag == "{http://www.w3.org/2000/svg}svg"
    assert Counter(labels).total() == len(points)


@pytest.mark.parametrize("kind", ["bar", "line", "histogram", ""])
@pytest.mark.parametrize("heads", [("day", "low", "high"), ("low", "high", "rain"), ("low", "day", "high")])
def test_of_several_columns_of_numbers_one_is_named(walks: Walks, heads: tuple[str, ...], kind: str) -> None:
    rows = [["2026-11-0" + str(day) if head == "day" else str(day) for head in heads] for day in range(1, 5)]
    walks.write("t.csv", "\n".join(",".join(row) for row in [list(heads), *rows]))
    given = {"kind": kind} if kind else {}
    outcome = walks.go(chart(**given))
    assert outcome.failure is not None
    assert (outcome.failure.code, list(walks.workspace.glob("*.svg"))) == ("COLUMN_UNCLEAR", [])
    numbers = [head for head in heads if head != "day"]
    assert ", ".join(numbers) in outcome.failure.message
    assert f"y = {numbers[0]}" in outcome.failure.fix
    named = dict(given, x="day") if "day" in heads and kind != "histogram" else given
    assert numbers[-1] in walks.ask(chart(y=numbers[-1], **named))["title"]


def test_the_only_column_of_numbers_need_not_be_named(walks: Walks) -> None:
    walks.write("t.csv", "city,qty,note\nLund,1,a\nYstad,2,b\n")
    assert "qty by city" in str(walks.ask(chart())["title"])
    walks.write("t.csv", "id,qty\n1,5\n2,7\n")
    assert "qty by id" in str(walks.ask(chart(out="d.svg", x="id"))["title"])
