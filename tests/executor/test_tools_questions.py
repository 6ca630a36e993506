"""Questions in plain words to tables: each is read against the names and values of the columns."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from walks import NODE, Walks, tool

from executor import FixedClock, Home

TABLES = {
    "expenses.csv": """date,shop,category,amount
2025-10-03,Konsum,food,100
2026-09-03,Konsum,food,742.50
2026-10-02,Pharmacy,health,189
2026-10-07,Konsum,food,655.50
2026-10-20,Tool Shed,home,1249
2026-11-02,Grönt,food,821
""",
    "kassa.csv": """datum;post;typ;belopp
2026-09-01;avgifter;in;4200
2026-09-30;hyra lokal;ut;2000
2026-10-10;fika;ut;385,50
2026-11-20;bidrag;in;800
""",
    "medlemmar.csv": """namn,epost,född,betalt
Anna Lind,anna@kor.example,1971-03-02,ja
Bo Ek,bo@kor.example,1949-08-08,nej
Cia Ö,cia@kor.example,2001-02-14,nej
""",
    "hours.csv": """date,client,hours,rate
2026-10-05,Nord,4.5,800
2026-10-12,Ugglan,6,700
2026-10-20,Nord,1,800
2026-11-03,Ugglan,2,700
""",
    "budget.csv": """month,category,planned,spent
September,food,6000,6240
September,car,1800,900
October,food,6000,5875
October,car,1800,1900
""",
    "invoices.json": """[{"nr": 1, "customer": "Nord", "status": "paid", "total": 100},
{"nr": 2, "customer": "Ugglan", "status": "unpaid", "total": 250},
{"nr": 3, "customer": "Nord", "status": "overdue", "total": 40}]""",
    "meter.csv": "date,kwh\n2026-06-01,10210\n2026-07-01,10388\n2026-08-01,10551\n2026-09-01,10742\n",
    "narvaro.csv": "datum,antal\n2026-10-19,11\n2026-10-26,9\n",
    "songs.csv": "title,minutes,year\nDawn,3,1933\nWinter,6,1847\nBridge,5,1970\nHymn,3,1950\n",
}


def node(path: str, question: str) -> NODE:
    return tool("n1", "data/ask", "read", path=path, question=question)


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Home]:
    """One in the month after the tables: what "the 24th" means does not change with the day of the test."""
    with Home.open(tmp_path / "home", clock=FixedClock("2026-12-01T10:00:00.000Z")) as opened:
        yield opened


@pytest.fixture
def there(walks: Walks) -> Walks:
    for path, text in TABLES.items():
        walks.write(path, text)
    return walks


FIGURES = [
    ("expenses.csv", "how much did we spend on food in october 2026?", "655.5"),
    ("expenses.csv", "hur mycket la vi på mat mellan september och november 2026", "2219"),
    ("expenses.csv", "how much at Konsum and Grönt together, not counting 2025", "2219"),
    ("expenses.csv", "what's the average of everything over 200 kr", "867"),
    ("expenses.csv", "how many times did we shop at konsum", "3"),
    ("expenses.csv", "how much did we spend on fod in 2026", None),
    ("expenses.csv", "total for helth in october", "189"),
    ("kassa.csv", "hur mycket har gått ut ur kassan?", "2385.5"),
    ("kassa.csv", "vad är saldot", "2614.5"),
    ("kassa.csv", "hur mycket kom in, hur mycket gick ut och vad blev skillnaden?", "2614.5"),
    ("medlemmar.csv", "hur många har inte betalt än?", "2"),
    ("hours.csv", "how many hours did i work for Nord in october", "5.5"),
    ("hours.csv", "hur mycket ska jag fakturera Nord för oktober", "4400"),
    ("hours.csv", "what is the highest rate, minus 10 %", "720"),
    ("budget.csv", "how much more than planned did we spend on food in september", "240"),
    ("invoices.json", "what do my customers still owe me, all together", "290"),
    ("invoices.json", "how much is unpaid for Ugglan", "250"),
    ("meter.csv", "how much electricity did we use between june and august", "532"),
    ("meter.csv", "hur många kWh gick åt i juli", "163"),
    ("narvaro.csv", "how many people come to the rehearsals on average?", "10"),
    ("songs.csv", "hur många minuter är alla låtarna tillsammans", "17"),
    ("songs.csv", "medel av minuter", "4.25"),
    # as it is said, and spelled in a hurry
    ("expenses.csv", "how mcuh did we spned at Konsum this autumn", "1398"),
    ("kassa.csv", "Hur mycke har gått ut ur föreningskassan i oktober? Bo frågar, jag sitter här", "385.5"),
    ("expenses.csv", "leaving food aside, what did the kids spend in october 2026", "1438"),
    ("expenses.csv", "hur mycket har vi egentligen lagt på hälsa, maten oräknad", "189"),
    # what is done with a figure
    ("kassa.csv", "how much is left in the till", "2614.5"),
    ("songs.csv", "average of minutes, they are 0.5 too many so take off that", "3.75"),
    ("medlemmar.csv", "what do those who have not paid owe between them at 600 kr a head", "1200"),
    ("hours.csv", "mean of hours to one decimal", "3.4"),
    ("meter.csv", "kWh used between 2026-06-01 and 2026-08-01? they are readings, so subtract", "341"),
    ("songs.csv", "how many songs have exactly 3 minutes", "2"),
    ("songs.csv", "hur många min blir det om vi kör alla låtar?", "17"),
    # without accents, and with words beside it that say nothing of the rows
    ("expenses.csv", "hur mycket har vi brant pa mat i november 2026", "821"),
    (
        "expenses.csv",
        "Sum up what the Tool Shed has cost me. Nothing gets cheaper when one gets old!",
        "1249",
    ),
    ("expenses.csv", "before I plan anything for September, what did food cost in november, honestly", "821"),
    ("kassa.csv", "everything typed 'in' less everything typed 'ut'", "2614.5"),
    ("kassa.csv", "allt som kommit in minus allt som gått ut, vad blir det", "2614.5"),
    ("medlemmar.csv", "how many still owe the fee (betalt is nej)", "2"),
    ("songs.csv", "how many songs are from before 1940", "2"),
    ("songs.csv", "how many songs are from 1950 or later", "2"),
    ("medlemmar.csv", "hur många är födda 1971 eller tidigare", "2"),
    ("expenses.csv", "what did we spend on food in october 2026 and onwards", "1476.5"),
    ("expenses.csv", "how many different shops have we been to", "4"),
    ("expenses.csv", "how many different shops in october 2026", "3"),
    ("hours.csv", "hur många olika kunder har jag jobbat för", "2"),
    ("songs.csv", "hur många låtar har fler än fyra minuter", "2"),
    # in slang; a value and its column in any order; words of no weight
    ("medlemmar.csv", "vicka e de som inte har pröjsat, hur många", "2"),
    ("medlemmar.csv", "how many still have to cough up", "2"),
    ("medlemmar.csv", "how many have nej for betalt", "2"),
    ("medlemmar.csv", "hur många står det ja på i kolumnen betalt", "1"),
    ("kassa.csv", "what have we shelled out of the kitty since 1 october 2026", "385.5"),
    ("expenses.csv", "blimey how much did we spend on food in november 2026 then love", "821"),
    # what somebody tells beside it, what is left out of it, what is told of the words
    ("medlemmar.csv", "how many have not paid? i will have a chat with them", "2"),
    ("hours.csv", "how many hours for Nord, she's threatening to ring and I think he owes her one", "5.5"),
    ("hours.csv", "Bo's asking how many hours went to Ugglan, the others can wait", "8"),
    ("kassa.csv", "vad har gått ut totalt, för jag måste svara dom ikväll", "2385.5"),
    ("expenses.csv", "What had Konsum off us, all told? I could have sworn it was less in October", "1498"),
    ("kassa.csv", "Leave what came in out of it: total of what we paid", "2385.5"),
    (
        "kassa.csv",
        "By how much do the receipts exceed the payments? The amounts marked in are money received",
        "2614.5",
    ),
    # readings of a meter
    ("meter.csv", "How many kWh in August? It is read on the 1st of each month", "191"),
    ("meter.csv", "from 1 September 2026 take away 1 July 2026, how many kWh", "354"),
    ("meter.csv", "skillnaden mellan avläsningarna 1 juni 2026 och 1 augusti 2026", "341"),
]


def test_a_figure_is_of_the_rows_and_the_column_that_are_meant(there: Walks) -> None:
    for path, question, value in FIGURES:
        if value is None:
            assert there.refusal(node(path, question)) == "UNCLEAR", question
        else:
            found = there.ask(node(path, question))
            assert found.get("value") == value, found["text"]


TABLED: list[tuple[str, str, list[dict[str, str]]]] = [
    (
        "hours.csv",
        "add up hours.csv client by client, biggest at the top",
        [{"client": "Ugglan", "hours": "8"}, {"client": "Nord", "hours": "5.5"}],
    ),
    (
        "hours.csv",
        "multiply hours with rate and give me the total per client",
        [{"client": "Nord", "hours * rate": "4400"}, {"client": "Ugglan", "hours * rate": "5600"}],
    ),
    (
        "expenses.csv",
        "how much went to each shop in 2026, the biggest sum on top",
        [
            {"shop": "Konsum", "amount": "1398"},
            {"shop": "Tool Shed", "amount": "1249"},
            {"shop": "Grönt", "amount": "821"},
            {"shop": "Pharmacy", "amount": "189"},
        ],
    ),
    (
        "expenses.csv",
        "which category did we spend the most on",
        [{"category": "food", "amount": "2319"}],
    ),
    (
        "kassa.csv",
        "inkomster per månad, senaste först",
        [{"month": "2026-11", "belopp": "800"}, {"month": "2026-09", "belopp": "4200"}],
    ),
    (
        "medlemmar.csv",
        "Vilka har ännu inte betalt? Jag behöver både namn och mejladress på dem.",
        [{"namn": "Bo Ek", "epost": "bo@kor.example"}, {"namn": "Cia Ö", "epost": "cia@kor.example"}],
    ),
    ("medlemmar.csv", "vem är yngst? bara namnet", [{"namn": "Cia Ö"}]),
    ("hours.csv", "hours per client, show who is strictly above 6", [{"client": "Ugglan", "hours": "8"}]),
    (
        "expenses.csv",
        "Which were the two dearest purchases? Which shop and how much, please.",
        [{"shop": "Tool Shed", "amount": "1249"}, {"shop": "Grönt", "amount": "821"}],
    ),
    (
        "medlemmar.csv",
        "namn och epost till alla över 50 år, äldst överst",
        [
            {"namn": "Bo Ek", "epost": "bo@kor.example"},
            {"namn": "Anna Lind", "epost": "anna@kor.example"},
        ],
    ),
    (
        "hours.csv",
        "client, number of hours and amount (hours times rate) for october, one row per client",
        [
            {"client": "Nord", "hours": "5.5", "amount": "4400"},
            {"client": "Ugglan", "hours": "6", "amount": "4200"},
        ],
    ),
    (
        "budget.csv",
        "where did we go over budget? only month and category",
        [{"month": "September", "category": "food"}, {"month": "October", "category": "car"}],
    ),
    (
        "meter.csv",
        "hur många kWh gick åt mellan varje avläsning",
        [
            {"date": "2026-06-01 – 2026-07-01", "kwh": "178"},
            {"date": "2026-07-01 – 2026-08-01", "kwh": "163"},
            {"date": "2026-08-01 – 2026-09-01", "kwh": "191"},
        ],
    ),
    (
        "songs.csv",
        "vilka två låtar är längst",
        [
            {"title": "Winter", "minutes": "6", "year": "1847"},
            {"title": "Bridge", "minutes": "5", "year": "1970"},
        ],
    ),
    ("invoices.json", "numbers of all invoices that are overdue", []),
    (
        "expenses.csv",
        "whats the dearest thing and what shop was it",
        [{"shop": "Tool Shed", "amount": "1249"}],
    ),
    (
        "hours.csv",
        "She writes down every hour she works. How many hours to each client?",
        [{"client": "Nord", "hours": "5.5"}, {"client": "Ugglan", "hours": "8"}],
    ),
    (
        "hours.csv",
        "hours per client please. I want to see who is worth it and who only moans",
        [{"client": "Nord", "hours": "5.5"}, {"client": "Ugglan", "hours": "8"}],
    ),
    (
        "meter.csv",
        "the same with every kwh 10 lower",
        [
            {"date": "2026-06-01", "kwh": "10200"},
            {"date": "2026-07-01", "kwh": "10378"},
            {"date": "2026-08-01", "kwh": "10541"},
            {"date": "2026-09-01", "kwh": "10732"},
        ],
    ),
    ("expenses.csv", "who did we pay the most", [{"shop": "Konsum", "amount": "1498"}]),
]


def test_rows_and_groups_are_those_that_are_asked_for_in_the_order_that_is_said(there: Walks) -> None:
    for path, question, rows in TABLED:
        found = there.ask(node(path, question))
        assert rows in ([], found["groups"]), question
        assert found["path"] in found["text"]


@pytest.mark.parametrize(
    ("path", "question"),
    [
        ("expenses.csv", "how much did we spend on books"),
        ("expenses.csv", "what did we pay Anna"),
        ("expenses.csv", "total per supermarket chain"),
        ("hours.csv", "which client did I like most"),
        ("hours.csv", "biggest on top"),
        ("medlemmar.csv", "vilka har inte svarat"),
        ("songs.csv", "songs in october"),
        ("invoices.json", "all but the archived ones"),
        ("meter.csv", "what is the difference"),
        ("songs.csv", "what sad songs do we have"),
        ("expenses.csv", "how much did petrol cost us"),
        ("hours.csv", "hours per client together with Olle"),
        ("medlemmar.csv", "who has not paid for the flowers"),
        ("medlemmar.csv", "hur många norska medlemmar har betalt"),
        ("medlemmar.csv", "which members volunteered and have paid"),
        ("expenses.csv", "how much did alex spend on food"),
        ("budget.csv", "who did we pay the most"),
    ],
)
def test_what_the_table_does_not_say_is_not_guessed(there: Walks, path: str, question: str) -> None:
    assert there.refusal(node(path, question)) == "UNCLEAR"


def test_an_answer_is_written_to_a_new_file_and_says_which_rows(there: Walks) -> None:
    question = "allt som gått ut, per post, störst först"
    asked = tool("n1", "data/extract", "write", path="kassa.csv", to="ut.csv", question=question)
    text = there.ask(asked)["text"]
    assert (there.workspace / "ut.csv").read_text() == "post;belopp\nhyra lokal;2000\nfika;385,5\n"
    assert "typ is ut" in text


def test_a_folder_of_texts_that_say_the_same_of_each_is_a_table_and_a_blank_form_is_no_row(
    there: Walks,
) -> None:
    for number, (client, amount, status) in enumerate(
        [
            ("Nord AB", "1 250,50 kr", "paid 2026-11-02"),
            ("Ugglan", "400 SEK", "unpaid"),
            ("NAME", "SUM", "unpaid"),
        ]
    ):
        due = f"2026-12-0{number + 1}" if client != "NAME" else "DATE"
        text = f"# Invoice {number}\n\nClient: {client}\nAmount: {amount}\nDue: {due}\nStatus: {status}\n"
        there.write(f"invoices/{number}.txt", text)
    there.write("invoices/notes.txt", "call the bank\n")
    found = there.ask(node("invoices", "vilka fakturor är obetalda"))
    assert [one["file"] for one in found["groups"]] == ["1.txt"]
    assert there.ask(node("invoices/", "how much has Nord paid"))["value"] == "1250.5"
    assert there.ask(node("invoices", "how much is due in december"))["value"] == "1650.5"
    there.write("letters/a.txt", "Dear Anna\n")
    assert there.refusal(node("letters", "how much is it")) == "NO_ROWS"


def test_a_column_that_is_computed_stands_behind_all_others(there: Walks) -> None:
    question = "hours.csv with one more column at the end, total, being hours times rate; leave the original"
    there.ask(tool("n1", "data/extract", "write", path="hours.csv", to="h2.csv", question=question))
    lines = (there.workspace / "h2.csv").read_text().splitlines()
    assert lines[:2] == ["date,client,hours,rate,total", "2026-10-05,Nord,4.5,800,3600"]


def test_one_figure_goes_to_a_text_by_itself_and_a_table_does_not(there: Walks) -> None:
    args = {"path": "expenses.csv", "to": "total.txt"}
    there.ask(tool("n1", "data/extract", "write", question="sum of amount in 2025", **args))
    assert (there.workspace / "total.txt").read_text() == "100\n"
    table = tool("n1", "data/extract", "write", question="amount per shop", **{**args, "to": "other.txt"})
    assert there.refusal(table) == "UNKNOWN_FORMAT"
