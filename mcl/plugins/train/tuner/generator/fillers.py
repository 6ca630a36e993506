# ruff: noqa: E501  -- tables of phrases: a line a meaning
"""Open fillers: names, places, money, dates, paths, things. Each is a function of a random source."""

from __future__ import annotations

import random

from executor.core.tables import table_beside

_LISTS = table_beside(__file__)
FIRST = _LISTS["first"]
LAST = _LISTS["last"]
CITIES = _LISTS["cities"]
COUNTRIES = _LISTS["countries"]
REGIONS = _LISTS["regions"]
ROLES = _LISTS["roles"]
DIRS = _LISTS["dirs"]
FILES = _LISTS["files"]
EXTS = _LISTS["exts"]
IDENTS = _LISTS["idents"]
NUMBER_WORDS = _LISTS["number_words"]
MONTHS = _LISTS["months"]
DAYS = _LISTS["days"]
PHRASE_WORDS = _LISTS["phrase_words"]


def person(r: random.Random) -> str:
    """A person's name, with or without title and surname."""
    k = r.random()
    if k < 0.5:
        return r.choice(FIRST)
    if k < 0.8:
        return f"{r.choice(FIRST)} {r.choice(LAST)}"
    return f"{r.choice(['Mr', 'Mrs', 'Ms', 'Dr', 'Dr.', 'Mr.', 'Professor'])} {r.choice(LAST)}"


def approver(r: random.Random) -> str:
    """Who may sign."""
    return r.choice(ROLES) if r.random() < 0.55 else person(r)


def city(r: random.Random) -> str:
    return r.choice(CITIES)


def region(r: random.Random) -> str:
    """One or several countries or regions."""
    if r.random() < 0.3:
        return r.choice(REGIONS)
    if r.random() < 0.7:
        return r.choice(COUNTRIES)
    two = r.sample(COUNTRIES, 2)
    return f"{two[0]} {r.choice(['and', 'or', 'and'])} {two[1]}"


def path(r: random.Random) -> str:
    parts = r.sample(DIRS, r.choice([0, 1, 1, 1, 2]))
    stem = r.choice(FILES)
    k = r.random()
    if k < 0.3:
        stem += r.choice(["_", "-", ""]) + r.choice(
            [*FILES, "2024", "2025", "2026", "v2", "q1", "q3", "final", "may"]
        )
    elif k < 0.4:
        stem = stem.upper()
    return r.choice(["", "", "", "./", "/srv/", "~/"]) + "/".join([*parts, f"{stem}.{r.choice(EXTS)}"])


def folder(r: random.Random) -> str:
    parts = r.sample(DIRS, r.choice([1, 1, 1, 2, 2, 3]))
    if r.random() < 0.12:
        parts.append(r.choice(["2024", "2025", "2026", "q1", "v1", "old", "en", "sv"]))
    return r.choice(["", "", "", "", "./", "/", "~/", "../"]) + "/".join(parts) + r.choice(["", "", "", "/"])


def pattern(r: random.Random) -> str:
    ext = r.choice(EXTS)
    return r.choice([f"*.{ext}", f"*.{ext}", f"*.{ext}", f"{r.choice(FILES)}*", f"**/*.{ext}", f".{ext}", f"test_*.{ext}",
                     f"*_{r.choice(FILES)}.{ext}", f"{r.choice(FILES)}.{ext}"])  # fmt: skip


def needle(r: random.Random) -> str:
    """Something to search for in texts."""
    k = r.random()
    if k < 0.2:
        return r.choice(["_", "", "."]).join(r.sample(IDENTS, 2))
    if k < 0.3:
        a, b = r.sample(IDENTS, 2)
        return a + b.capitalize() + r.choice(["", "()", ""])
    if k < 0.45:
        return r.choice(["TODO", "FIXME", "XXX", "HACK", "GPL", "MIT", "deprecated", "password", "secret", "api_key", "BUG",
                         f"TODO({r.choice(FIRST).lower()})", "ERROR", f"error {r.randint(400, 599)}", "WARN", "SELECT *",
                         f"HTTP {r.randint(200, 599)}", "None", "print(", "import os", "eval"])  # fmt: skip
    if k < 0.55:
        return person(r)
    if k < 0.65:
        return r.choice(IDENTS)
    start = r.randrange(len(PHRASE_WORDS) - 3)
    return " ".join(PHRASE_WORDS[start : start + r.choice([1, 2, 2, 3])])


def branch(r: random.Random) -> str:
    stem = r.choice(["-", "-", "_"]).join(
        r.sample([*IDENTS, *FILES, "error", "fix", "page", "login", "new", "v2"], r.choice([1, 2, 2, 3]))
    )
    return r.choice(["fix/", "feature/", "feat/", "", "", "bugfix/", "release/", "hotfix/", "spike/", f"{r.choice(FIRST).lower()}/",
                     "release-", "issue-"]) + r.choice([stem, stem, stem, f"{r.randint(1, 9)}.{r.randint(0, 20)}", str(r.randint(2, 900))])  # fmt: skip


def count(r: random.Random) -> str:
    """A small number, as digits or a word."""
    return (
        str(r.choice([2, 3, 4, 5, 6, 7, 8, 10, 12, 15, 20, 25, 30, 40, 50, 100]))
        if r.random() < 0.7
        else r.choice(NUMBER_WORDS[1:])
    )


def _amount(r: random.Random) -> str:
    n = r.choice(
        [
            r.randint(2, 99),
            r.randint(10, 99) * 10,
            r.randint(1, 99) * 100,
            r.randint(1, 90) * 1000,
            r.randint(1, 40) * 5000,
        ]
    )
    if n >= 1000:
        return r.choice([f"{n}", f"{n:,}", f"{n:,}".replace(",", " "), f"{n:,}".replace(",", "'"), f"{n:,}".replace(",", ".")]
                        + ([f"{n // 1000}k", f"{n // 1000}K"] if n % 1000 == 0 else []))  # fmt: skip
    return f"{n}.{r.choice(['50', '99', '00'])}" if r.random() < 0.1 else str(n)


def money(r: random.Random) -> str:
    """An amount of money in many spellings, now and then per time or head."""
    k, amount = r.random(), _amount(r)
    if k < 0.3:
        text = r.choice(["$", "€", "£", "$", "€"]) + r.choice(["", "", " "]) + amount
    elif k < 0.65:
        code = r.choice(_LISTS["currencies"])
        text = f"{amount} {code}" if r.random() < 0.7 else f"{code} {amount}"
    elif k < 0.9:
        text = f"{amount} {r.choice(['euros', 'dollars', 'pounds', 'kronor', 'crowns', 'francs', 'yen', 'euro', 'bucks', 'zloty', 'rupees', 'kr'])}"
    elif k < 0.95:
        text = f"{amount}{r.choice(['€', '$', ' €', 'kr'])}"
    else:
        text = r.choice(["two thousand euros", "a thousand dollars", "fifty euros", "five hundred pounds", "ten thousand kronor",
                         "half a million dollars", "two hundred bucks", "twenty francs", "1.5 million EUR", "2 million kronor"])  # fmt: skip
    if r.random() < 0.12:
        text += r.choice(_LISTS["per_what"])
    return text


def clock(r: random.Random) -> str:
    h = r.randint(1, 12)
    return r.choice([f"{h} pm", f"{h}pm", f"{h} am", f"{r.randint(6, 22)}:{r.choice(['00', '15', '30', '45'])}", f"{h} o'clock", "noon",
                     "midnight", f"{h} p.m.", f"{h}:30 pm", "lunchtime", "close of business"])  # fmt: skip


def when(r: random.Random) -> str:
    """A date or moment by which something is due."""
    k, day, month = r.random(), r.randint(1, 28), r.choice(MONTHS)
    ordinal = f"{day}{'th' if 10 < day < 14 else {1: 'st', 2: 'nd', 3: 'rd'}.get(day % 10, 'th')}"
    year = r.choice(["2025", "2026", "2027"])
    if k < 0.22:
        text = r.choice(DAYS)
        text = r.choice(
            [
                text,
                text,
                f"next {text}",
                f"this {text}",
                f"{text} next week",
                f"{text} {r.choice(['morning', 'evening', 'afternoon', 'night'])}",
            ]
        )
    elif k < 0.5:
        text = r.choice([f"{day} {month}", f"{month} {day}", f"{month} {ordinal}", f"the {ordinal} of {month}", f"{ordinal} {month}",
                         f"{day} {month} {year}", f"{month} {day}, {year}", f"{day} {month[:3]}", f"the {ordinal}", f"{year}-{r.randint(1, 12):02}-{day:02}",
                         f"{day}/{r.randint(1, 12)}/{year}", f"{day}.{r.randint(1, 12)}.{year}", f"{month[:3]} {day}"])  # fmt: skip
    elif k < 0.65:
        text = r.choice(["tomorrow", "tonight", "today", "tomorrow morning", "tomorrow evening", "the day after tomorrow", "this evening",
                         "tomorrow noon", "this afternoon", "the weekend", "this weekend", "next week", "next month", "midnight", "noon"])  # fmt: skip
    elif k < 0.8:
        text = r.choice(
            ["the end of the {}", "end of {}", "the start of the {}", "the middle of the {}"]
        ).replace("{}", r.choice(["week", "month", "year", "quarter", "day", "sprint"]))
        if r.random() < 0.4:
            text = f"{r.choice(['the end of', 'end of', 'early', 'mid', 'late', 'the beginning of', ''])} {month}".strip()
    elif k < 0.9:
        text = r.choice([f"Q{r.randint(1, 4)}", f"the end of Q{r.randint(1, 4)}", "the summer break", "Christmas", "Easter", "the holidays", "new year",
                         "the next release", "the board meeting", "the audit", "the launch", "the contract ends", "year end", "EOD", "EOB"])  # fmt: skip
    else:
        text = clock(r)
    if k < 0.65 and r.random() < 0.2 and "noon" not in text and "night" not in text:
        text += r.choice([f" at {clock(r)}", f" {clock(r)}", f", {clock(r)}"])
    return text


def within(r: random.Random) -> str:
    """A duration until something is due."""
    n = r.choice(_LISTS["spans"])
    return r.choice([f"{n} {r.choice(['days', 'hours', 'weeks', 'minutes', 'months', 'days', 'weeks'])}", "a week", "an hour", "a month", "one day", "a fortnight",
                     f"the next {n} days", f"{n} working days", "half an hour", "the week", "a day"])  # fmt: skip


def url(r: random.Random) -> str:
    host = f"{r.choice(['ci', 'status', 'www', 'api', 'app', 'docs', 'check', 'health'])}.{r.choice(['acme', 'contoso', 'example', 'northwind', 'fabrikam', 'shop'])}.{r.choice(['org', 'com', 'net', 'io', 'test', 'se'])}"
    return (
        r.choice(["https://", "https://", "http://", ""])
        + host
        + r.choice(["", "/", "/health", "/build/latest", f"/{r.choice(FILES)}", "/v1/ping"])
    )
