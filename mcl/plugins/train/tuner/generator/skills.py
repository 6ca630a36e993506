# ruff: noqa: E501  -- tables of phrases: a line a meaning
"""Skills of our own domain with slots of their own: the shipped ones (shelf.py) and some others."""

from __future__ import annotations

import random
from collections.abc import Callable

from mcl.plugins.train.tuner.generator import fillers
from mcl.plugins.train.tuner.generator.goals import GOODS, TOPICS, dressed, host, thing
from mcl.plugins.train.tuner.generator.phrases import (
    TABLES,
    Family,
    Filler,
    Phrase,
    clauses,
    expand,
    one_of,
    said,
    slot,
)
from mcl.plugins.train.tuner.generator.shelf import SHIPPED
from mcl.plugins.train.tuner.utterances import CorpusSkill, LabelMark, Utterance


def _topic(r: random.Random) -> str:
    return r.choice(TOPICS)


def _email(r: random.Random) -> str:
    return f"{r.choice(fillers.FIRST).lower()}{r.choice(['', '.' + r.choice(fillers.LAST).lower()])}@{r.choice(['example.org', 'acme.com', 'contoso.net', 'mail.se'])}"


def _release(r: random.Random) -> str:
    return (
        r.choice(["v", "", "release ", "version "])
        + f"{r.randint(0, 12)}.{r.randint(0, 30)}"
        + r.choice(["", f".{r.randint(0, 20)}", "-rc1"])
    )


def _people(r: random.Random) -> str:
    return r.choice(
        [
            fillers.person(r),
            f"{fillers.person(r)} and {fillers.person(r)}",
            "the sales team",
            "everyone",
            f"{fillers.person(r)}, {fillers.person(r)} and {fillers.person(r)}",
            "the board",
            "our suppliers",
        ]
    )


OTHERS: tuple[Family, ...] = (
    Family("purchase", ("buy goods from a supplier", "order things the company needs", "purchasing"),
        (slot("item", "what to buy"), slot("quantity", "how many"), slot("supplier", "from whom"), slot("price_limit", "highest price")),
        {"item": lambda r: r.choice(GOODS) + "s", "quantity": fillers.count, "supplier": lambda r: r.choice(["Northwind", "Contoso", "Acme", "Fabrikam", "our usual supplier", "Brightline", "the wholesaler"]), "price_limit": fillers.money},
        said("acquire", "(buy|order|purchase|get|procure) {quantity} {item} (from {supplier}|) (for at most {price_limit}|for {price_limit}|, limit {price_limit}|)", "we need {quantity} {item} (from {supplier}|), (at most|max|up to) {price_limit}", "(place an order for|reorder|stock up on) {quantity} {item} (at|with|from) {supplier}", "(get|buy) (us|me) {item} (from {supplier}|at {supplier})"),
        frozenset({"budget"})),
    Family("meeting", ("set up a meeting", "arrange a meeting with people", "calendar invitations"),
        (slot("topic", "what it is about"), slot("participants", "who takes part"), slot("day", "date of the meeting"), slot("length", "how long"), slot("room", "where")),
        {"topic": _topic, "participants": _people, "day": fillers.when, "length": one_of("duration"), "room": lambda r: r.choice(["room 4", "the big hall", "the glass room", "Berlin", "meeting room B", "the canteen", "zoom", "my office"])},
        said("schedule", "(schedule|set up|arrange|book|plan) a (meeting|call|workshop) with {participants} (about|on) {topic} (on|for|) {day} (for {length}|) (in {room}|)", "(meet|I want to meet|we should meet) {participants} (on|) {day} (in {room}|)", "(invite|call) {participants} to a meeting (about|on) {topic} (in {room}|), {length}", "put {length} with {participants} in my calendar (on|for) {day}"),
        frozenset({"deadline", "delivered", "preference"})),
    Family("deploy", ("deploy a service", "roll out a version to an environment", "release management"),
        (slot("service", "what to deploy"), slot("version", "which version"), slot("environment", "where to deploy to")),
        {"service": one_of("service"), "version": _release, "environment": one_of("environment")},
        said("deliver", "(deploy|release|ship|roll out|push) {service} {version} (to|on|in) {environment}", "(deploy|roll out) {version} of {service} (to|on) {environment}", "(bring|get|put) {service} (live|out) (on|in|to) {environment}", "{environment} (should|must) get {service} {version}", "promote {service} to {environment}") + said("modify", "(roll back|revert) {service} (to {version}|) (on|in) {environment}"),
        frozenset({"delivered"})),
    Family("report", ("write a report", "prepare a report about a topic", "reporting"),
        (slot("topic", "what the report is about"), slot("period", "time that is covered"), slot("format", "form of the file", "pdf", "html", "markdown", "slides"), slot("file", "where to write it")),
        {"topic": _topic, "period": lambda r: r.choice(["last week", "last month", "2024", "Q3", "the first quarter", "October", "the last two years", "May to July", "this year", "yesterday"]), "file": fillers.path},
        said("build", "(write|prepare|make|create|draft) a (pdf|PDF) report (about|on) {topic} (for|in|of) {period} (to|in|as) {file}", "(write|prepare) (a report|an overview) (as pdf|in pdf form) (about|on|of) {topic}", format="pdf")
        + said("build", "(make|prepare|create) (slides|a slide deck|a few slides) (about|on) {topic} (for|covering) {period}", "(slides|presentation) on {topic} (for|of) {period}", format="slides")
        + said("build", "(write|make) a (markdown|md) (report|page|summary) (about|on) {topic} (for {period}|) (to|in|as) {file}", format="markdown") + said("build", "(report|write a report|we need a report|give me a report) (on|about) {topic} (for|in|over) {period}", "report {topic} to {file}") + said("build", "(a web page|an html page|html report) (about|on) {topic} (for {period}|)", format="html"),
        frozenset({"delivered", "deadline"})),
    Family("query_data", ("ask a question of a database", "compute a figure from a table", "data queries"),
        (slot("metric", "figure to compute"), slot("table", "table to read"), slot("group", "grouped by what"), slot("filter", "only rows where")),
        {"metric": one_of("metric"), "table": one_of("table"), "group": lambda r: r.choice(["country", "month", "customer", "region", "product line", "age group", "week"]), "filter": lambda r: r.choice(["paid orders", "customers from Sweden", "2024", "new users", "amounts over 100", "the last 30 days", "open invoices"])},
        said("analyze", "(compute|calculate|what is|show|give me|get) the {metric} (in|from|of) {table} (by|per|for each) {group}", "(compute|calculate|what is|show) {metric} (of|in) {table} (for|only for|where) {filter}", "{metric} per {group} (from|in) {table}", "how does the {metric} differ (by|between|per) {group} (in {table}|)")),
    Family("alert", ("watch a value and raise an alarm", "monitoring of systems", "tell me when a value crosses a limit"),
        (slot("target", "what to watch"), slot("limit", "value that raises the alarm"), slot("channel", "how to tell", "email", "sms", "chat"), slot("interval", "how often to look")),
        {"target": host, "limit": one_of("threshold"), "interval": lambda r: r.choice(["every minute", "hourly", "every five minutes", "daily", "twice a day", "every 30 seconds", "once a week"])},
        said("monitor", "(watch|monitor|check|observe) {target} {interval} and (mail|email) me (above|over|below|at) {limit}", channel="email") + said("monitor", "(text|send an sms to) me (when|if) {target} (goes|is|gets) (over|above|below|under) {limit}", channel="sms")
        + said("monitor", "(post|write) (in|to) the chat (when|if) {target} (exceeds|is over|drops below) {limit}", channel="chat") + said("monitor", "(monitor|watch|keep an eye on|check) {target} {interval}", "(alert|warn|tell) me (when|if) {target} (exceeds|goes above|drops below|is at) {limit}"),
        frozenset({"quality", "rule", "delivered"})),
    Family("assign_task", ("give a task to somebody", "delegate work to a person or team", "task assignment"),
        (slot("task", "what is to be done"), slot("assignee", "who does it"), slot("priority", "how urgent", "low", "normal", "high")),
        {"task": lambda r: thing("delegate", r), "assignee": lambda r: r.choice([fillers.person(r), "the design team", "support", "the night shift", "our agency", "the interns"])},
        said("delegate", "(assign|delegate|give|hand) {task} to {assignee}", "(let|have) {assignee} (do|handle|take care of) {task}", "{assignee} (should|shall|will) (do|take over) {task}") + said("delegate", "(assign|give) {task} to {assignee}, (high priority|it is urgent|top priority|urgent)", priority="high") + said("delegate", "ask {assignee} to do {task}, (no hurry|low priority|whenever they have time)", priority="low")),
    Family("send_message", ("send a message or an e-mail", "mail somebody", "messages to people"),
        (slot("recipient", "to whom"), slot("subject", "what it is about"), slot("attachment", "file to attach")),
        {"recipient": lambda r: r.choice([fillers.person(r), _email(r), "the whole team", "all customers", fillers.person(r)]), "subject": _topic, "attachment": fillers.path},
        said("deliver", "(send|write|mail|email) {recipient} (a message|a mail|something|a note) (about|on) {subject}", "(send|mail|forward) {attachment} to {recipient}", "(email|tell|inform|notify) {recipient} (about|of) {subject} (and attach {attachment}|with {attachment} attached|)", "(drop|shoot) {recipient} a line about {subject}"),
        frozenset({"delivered", "signed_off"})),
    Family("book_travel", ("book a trip", "travel for employees", "reserve trains, flights and hotels"),
        (slot("traveller", "who travels"), slot("origin", "from where"), slot("destination", "to where"), slot("date", "when"), slot("means", "by what", "train", "plane", "car")),
        {"traveller": fillers.person, "origin": fillers.city, "destination": fillers.city, "date": fillers.when},
        said("acquire", "(book|reserve|get) a train (from {origin} to {destination}|to {destination}) (for {traveller}|) (on|for|) {date}", "{traveller} (goes|travels|needs to go) by train (from {origin}|) to {destination}", means="train") + said("acquire", "(book|get) a (flight|plane ticket) (from {origin} to {destination}|to {destination}) (for {traveller}|) (on|) {date}", "fly {traveller} (from {origin}|) to {destination} (on|) {date}", means="plane")
        + said("acquire", "(book|arrange|plan) (a trip|travel) (from {origin}|) to {destination} for {traveller} (on|) {date}"),
        frozenset({"deadline", "delivered", "jurisdiction_allow", "jurisdiction_deny", "preference"})),
    Family("backup", ("back up data", "save a copy of files or databases", "backups"),
        (slot("source", "what to copy"), slot("target", "where to keep the copy"), slot("schedule", "how often")),
        {"source": fillers.folder, "target": lambda r: r.choice([fillers.folder(r), "the tape", "s3://backup/main", "the second disk", "nas-2"]), "schedule": lambda r: r.choice(["every night", "daily", "weekly", "each Sunday", "every six hours"])},
        said("build", "(back up|copy|save) {source} to {target} ({schedule}|)", "(make|create|set up) a {schedule} (backup|copy) of {source} (on|to|in) {target}", "{schedule}, (save|back up) {source}"), frozenset({"delivered"})),
    Family("rename", ("rename something", "move or rename files", "change names"),
        (slot("old", "present name"), slot("new", "name it shall have")),
        {"old": fillers.path, "new": fillers.path},
        said("modify", "(rename|move|change) {old} (to|into) {new}", "(call|name) {old} {new} (from now on|instead|)", "{old} (should|must) (be called|become|be named) {new}", "mv {old} {new}"), frozenset({"delivered"})),
    Family("supplier_deal", ("negotiate with a supplier", "bargain about price and terms", "supplier negotiations"),
        (slot("supplier", "other side"), slot("matter", "what it is about"), slot("aim", "what we want to reach")),
        {"supplier": lambda r: r.choice(["Northwind", "Contoso", "the landlord", "the carrier", "our printers", "Fabrikam", "the union", fillers.person(r)]), "matter": lambda r: "the " + r.choice(["rent", "freight rates", "licence fee", "contract", "warranty", "payment terms", "prices", "notice period"]), "aim": lambda r: r.choice(["10 % less", "30 days to pay", "a two year fixed price", "free delivery", "half the fee", "a longer warranty", "5 % discount"])},
        said("negotiate", "(negotiate|haggle|bargain) with {supplier} (about|over) {matter} (until we have|, aim:|, we want|to get) {aim}", "(talk to|get) {supplier} (about|down on) {matter}", "(renegotiate|settle) {matter} with {supplier}, (aim for|we want|target) {aim}"), frozenset({"quality"})),
    Family("hire", ("recruit people", "fill a position", "hiring"),
        (slot("position", "job to fill"), slot("location", "place of work"), slot("salary", "pay offered"), slot("start", "first day")),
        {"position": lambda r: r.choice(["a nurse", "a senior developer", "two drivers", "an accountant", "a site manager", "three welders", "a cook", "an office assistant", "a data analyst"]), "location": fillers.city, "salary": fillers.money, "start": fillers.when},
        said("acquire", "(hire|recruit|find us|look for) {position} (in|for) {location} (starting|from|as of) {start}", "we (need|are hiring) {position} in {location}, (pay|salary|paying) {salary}", "(fill the position of|recruit) {position}, {salary}, (start|starting) {start}"), frozenset({"budget", "deadline", "jurisdiction_allow"})),
    Family("translate_document", ("translate a document", "translation of texts and files"),
        (slot("document", "what to translate"), slot("language", "into which language")),
        {"document": lambda r: r.choice([fillers.path(r), "the manual", "the contract", "our home page", "this letter", "the terms of use"]), "language": lambda r: r.choice(["Swedish", "German", "French", "Spanish", "Finnish", "Polish", "English", "Japanese", "Dutch", "Norwegian"])},
        said("modify", "(translate|convert) {document} (into|to) {language}", "(I need|we need) {document} in {language}", "(make|give me) a {language} version of {document}")),
    Family("test_run", ("run the tests", "run checks on the code base"),
        (slot("suite", "which tests"), slot("path", "part of the code")),
        {"suite": lambda r: r.choice(["unit tests", "integration tests", "smoke tests", "linter", "type checks", "benchmarks", "end to end tests"]), "path": fillers.folder},
        said("analyze", "(run|start|execute) the {suite} (for|in|on|of) {path}", "(do|check whether) the {suite} (pass|still pass) (in {path}|)", "(run|rerun) {suite}")),
    Family("open_issue", ("file a ticket in the tracker", "report a bug", "issue tracker"),
        (slot("title", "what is wrong"), slot("component", "part of the product"), slot("severity", "how bad", "minor", "major", "critical")),
        {"title": lambda r: r.choice(["login fails on Safari", "prices are rounded wrongly", "the export is empty", "crash at start", "typo on the home page", "mails arrive twice", "search is slow", "dark mode flickers"]), "component": one_of("service")},
        said("build", "(open|file|create) (a|an) (issue|ticket|bug) (for|in) {component}: {title}", "(report|log) that {title} (in {component}|)") + said("build", "(open|file) a critical (bug|ticket) (for|in) {component}: {title}", severity="critical") + said("build", "(minor|small) (issue|bug) in {component}: {title}", severity="minor")),
)  # fmt: skip

FAMILIES: tuple[Family, ...] = (*SHIPPED, *OTHERS)
GENERAL_HINTS = TABLES["general_hints"]
GENERAL_DESCRIPTIONS = TABLES["general_descriptions"]


def skill_of(family: Family) -> CorpusSkill:
    """The family as a skill of the source `own`."""
    return CorpusSkill(
        "own",
        family.name,
        family.descriptions[0],
        family.slots,
        tuple(dict.fromkeys(v for v, _, _ in family.templates)),
    )


GENERAL = CorpusSkill("own", "general", GENERAL_DESCRIPTIONS[0], (slot("object", GENERAL_HINTS[0]),), ())


SKILLS: dict[tuple[str, str], CorpusSkill] = {
    ("own", family.name): skill_of(family) for family in FAMILIES
} | {("own", "general"): GENERAL}


def utter(family: Family, r: random.Random) -> Utterance:
    """One utterance for a family, with 0 to 3 constraints."""
    verb, template, options = r.choice(family.templates)
    quote = r.choice(["", "", "", '"', "'"])
    places: dict[str, tuple[str, Filler]] = {
        name: (f"slot.{family.places.get(name, name)}", filler) for name, filler in family.fillers.items()
    }
    places["Q"] = ("", _constant(quote))
    phrase = expand(template, places, r)
    number = r.choices((0, 1, 2, 3), (60, 26, 10, 4))[0]
    tail = clauses(r, number, family.blocked)
    marks = tuple(LabelMark(f"slot.{name}", value, None, None) for name, value in options)
    whole = dressed(_closed(phrase), tail, r)
    return Utterance(whole.text, ("own", family.name), (*whole.marks, *marks), verb)


def _constant(text: str) -> Callable[[random.Random], str]:
    return lambda _: text


def _closed(phrase: Phrase) -> Phrase:
    """Without blanks at the end."""
    return Phrase(phrase.text.rstrip(), phrase.marks)
