# ruff: noqa: E501  -- tables of phrases: a line a meaning
"""The shipped skills, but for the general one: their slots and options as they are installed, many phrasings of each."""

from __future__ import annotations

import random

from mcl.plugins.train.tuner.generator import fillers
from mcl.plugins.train.tuner.generator.goals import GOODS, TOPICS, thing
from mcl.plugins.train.tuner.generator.phrases import Family, said, slot

# fmt: off


def _code(r: random.Random) -> str:
    a, b = r.sample(fillers.IDENTS, 2)
    return r.choice([f"{a}_{b}", f"{a}{b.capitalize()}", f"{a.capitalize()}{b.capitalize()}", f"{a}.{b}", f"{a.upper()}_{b.upper()}", a, f"{a}_{b}()", f"{a}::{b}", f"@{a}"])


def _language(r: random.Random) -> str:
    return r.choice(["Python", "Rust", "Go", "Java", "TypeScript", "JavaScript", "C", "C++", "C#", "Ruby", "Kotlin", "Swift", "PHP", "SQL", "bash", "Scala", "python", "golang", "Lua", "Haskell"])


def _csv(r: random.Random) -> str:
    stem = r.choice(fillers.FILES) + r.choice(["", "", "", "-2025", "_may", "_q2", "-final", "2", "_all"])
    return (r.choice(["", "", f"{r.choice(fillers.DIRS)}/"]) + stem + r.choice([".csv", ".csv", ".csv", ".tsv"]))


def _svg(r: random.Random) -> str:
    return (r.choice(["", "", f"{r.choice(fillers.DIRS)}/"]) + r.choice([*fillers.FILES, *fillers.IDENTS]) + r.choice(["", "-chart", "_plot", "-2026"]) + ".svg")


def _column(r: random.Random) -> str:
    return r.choice(["price", "amount", "height", "score", "duration", "speed", "cost", "margin", "humidity", "rainfall", "salary", "distance", "visits", "returns", "kwh", "load", "depth", "grade", "points", "mass", "net_total", "avg_delay", "hours"])


def _axis(r: random.Random) -> str:
    return r.choice(["year", "week", "day", "city", "country", "team", "product", "branch", "store", "quarter", "supplier", "machine", "sex", "weekday"])


def _note(r: random.Random) -> str:
    who, topic = fillers.person(r), r.choice(TOPICS)
    return r.choice([f"{who} called about {topic}", f"the {r.choice(GOODS)} is broken", f"{topic} comes up again in {r.choice(fillers.MONTHS)}", f"{who} is away until {r.choice(fillers.DAYS)}", f"ask {who} about {topic}", f"the key to the archive is with {who}", f"pay {who} back", f"two more {r.choice(GOODS)}s", f"look at {topic} once more", f"{who} likes the new {r.choice(GOODS)}", f"we decided to wait with {topic}", f"the shop in {fillers.city(r)} closes at six", f"buy a {r.choice(GOODS)}", f"{who} has a new number", f"never book {fillers.city(r)} in {r.choice(fillers.MONTHS)} again"])


def _list(r: random.Random) -> str:
    return (r.choice(["", "", f"{r.choice(fillers.DIRS)}/"]) + r.choice(["list", "diary", "log", "errands", "tasks", "plans", "thoughts", "questions", "links", "recipes", "gifts", "wishes", "meetings"]) + r.choice([".md", ".md", ".txt"]))


def _moment(r: random.Random) -> str:
    day = r.choice([r.choice(fillers.DAYS), f"next {r.choice(fillers.DAYS)}", "tomorrow", f"{r.randint(1, 28)} {r.choice(fillers.MONTHS)}", f"{r.choice(fillers.MONTHS)} {r.randint(1, 28)}", "the day after tomorrow"])
    hour = r.choice([f"at {r.randint(6, 22)}:{r.choice(['00', '15', '30', '40'])}", f"at {r.randint(1, 12)} {r.choice(['am', 'pm'])}", f"at {r.randint(1, 12)} o'clock", "at noon", f"at {r.choice(['eight', 'nine', 'ten'])} in the {r.choice(['morning', 'evening'])}"])
    return r.choice([f"{day} {hour}", f"{day} {hour}", f"{day} {hour}", f"tonight {hour}", f"this {r.choice(['morning', 'afternoon', 'evening'])}"])


def _soon(r: random.Random) -> str:
    return r.choice(["in ten minutes", "in an hour", "in three hours", "in half an hour", "in 20 minutes", "in two days", "tomorrow at 8:30", "tonight at seven", "tomorrow morning at nine"])


def _title(r: random.Random) -> str:
    return r.choice([f"call {fillers.person(r)}", f"water the {r.choice(GOODS)}s", f"pay for the {r.choice(GOODS)}", f"write to {fillers.person(r)} about {r.choice(TOPICS)}", "put the bins out", f"check {r.choice(TOPICS)}", f"pick {fillers.person(r)} up", "take the medicine", f"order a {r.choice(GOODS)}", "turn the heating down"])


def _event(r: random.Random) -> str:
    return r.choice([f"the talk about {r.choice(TOPICS)}", f"lunch with {fillers.person(r)}", f"the visit of {fillers.person(r)}", "the parents' evening", "yoga", f"an interview with {fillers.person(r)}", f"the meeting on {r.choice(TOPICS)}", "choir practice", "the vaccination", f"a call with {fillers.approver(r)}"])


def _calendar(r: random.Random) -> str:
    return (r.choice(["family", "office", "club", "training", "trips", "shifts", "events", "school", "mine"]) + ".ics")


def _since(r: random.Random) -> str:
    return r.choice([r.choice(fillers.DAYS), f"last {r.choice(fillers.DAYS)}", "yesterday", "yesterday evening", "last week", "last month", "this morning", f"{r.randint(1, 28)} {r.choice(fillers.MONTHS)}", f"the {r.randint(4, 19)}th", "two days ago", f"{r.choice(fillers.DAYS)} noon", "an hour ago", f"2026-{r.randint(1, 12):02}-{r.randint(1, 28):02}"])


def _length(r: random.Random) -> str:
    return r.choice(["a minute", "two minutes", "20 seconds", "an hour", "half a minute", "three quarters of an hour", "15 min", "5 min", "40 s", "six minutes", "a quarter of an hour", f"{r.randint(2, 59)} {r.choice(['seconds', 'minutes'])}", "two hours"])


def _begin(r: random.Random) -> str:
    return r.choice(["main", "master", "trunk", "dev", "staging", "the main branch", f"v{r.randint(0, 9)}.{r.randint(0, 20)}", f"{r.getrandbits(28):07x}", "HEAD~2", "origin/main", fillers.branch(r)])


def _lasting(r: random.Random) -> str:
    return r.choice(["an hour", "half an hour", "45 minutes", "90 minutes", "an hour and a half", "three hours", "15 min", "ten minutes", "2 h", "1.5 hours", "a quarter of an hour", "fifty minutes"])


def _watched(r: random.Random) -> str:
    return fillers.path(r) if r.random() < 0.5 else fillers.folder(r)


def _assignee(r: random.Random) -> str:
    team = ["the {} team", "our {} people", "somebody from {}", "the head of {}"]
    field = ["sales", "design", "accounting", "support", "IT", "logistics", "marketing", "purchasing", "the lab"]
    kind = r.random()
    if kind < 0.45:
        return fillers.person(r)
    if kind < 0.65:
        return r.choice(team).format(r.choice(field[:-1]))
    return r.choice([f"our agency in {fillers.city(r)}", "the new colleague", "the caretaker", "two students", "the tax adviser", f"{r.choice(fillers.LAST)} & {r.choice(['Sons', 'Partners', 'Co'])}", f"{r.choice(fillers.LAST)} {r.choice(['GmbH', 'AB', 'Ltd'])}", "the works council", "a freelancer"])


def _job(r: random.Random) -> str:
    return r.choice([f"check {thing('analyze', r)}", f"prepare {thing('build', r)}", f"write {thing('build', r)}", f"repair the {r.choice(GOODS)}", f"order {r.choice(['a', 'another'])} {r.choice(GOODS)}", f"look after {r.choice(TOPICS)}", f"answer the questions about {r.choice(TOPICS)}", f"call {fillers.person(r)}", f"update {thing('modify', r)}", f"sort out {r.choice(TOPICS)}"])


def _matter(r: random.Random) -> str:
    return (r.choice(["the", "the", "a new", "a lower", "a better"]) + " " + r.choice(["day rate", "freight price", "discount", "warranty period", "maintenance fee", "delivery date", "lease", "service contract", "purchase price", "commission", "minimum order", "deposit", "notice period"]))


SHIPPED: tuple[Family, ...] = (
    Family("files-find", ("Searches the files of a folder for a word or phrase, or lists the files of a folder.", "Find files and text in files", "look inside documents for words, or say which files there are"),
        (slot("text", "the word or phrase to look for inside files"), slot("folder", "the folder to look in"), slot("pattern", "which file names, such as *.md")),
        {"text": fillers.needle, "folder": fillers.folder, "pattern": fillers.pattern},
        said("find", "(find|look for|search for|hunt for) {Q}{text}{Q} (in|under|below|within) {folder}", "(which|what) (documents|papers|{pattern} files|files) (of|in|under) {folder} (contain|mention|speak of|have|quote) {Q}{text}{Q}", "(search|scan|comb|go through) {folder} for (the (word|phrase|name|text)|) {Q}{text}{Q}",
            "(in which|in what) (file|document|letter) (did we write|did I write|is|stands) (about|) {Q}{text}{Q}", "does {Q}{text}{Q} (occur|appear|stand) (anywhere|somewhere) (in|below) {folder}", "(grep|search) {pattern} (files|) (in|of) {folder} for {Q}{text}{Q}", "the (word|term|phrase) {Q}{text}{Q}, where in {folder} (is it|does it stand)",
            "(list|show|name) (all|the|) {pattern} (files|) (in|of|below) {folder}", "(what|which files) (lies|lie|are there) in {folder}", "(contents|a listing) of (the folder|) {folder}", "dir {folder}", "(show|list) (everything|all files|what there is) (in|under) {folder}", "(are|do we have) (any|) {pattern} files in {folder}"),
        frozenset({"delivered"})),
    Family("files-report", ("Collects lines with a word, or the list of a folder's files, and saves them as a report.", "Write a report about files", "puts what was found in files into a file of its own"),
        (slot("report", "the new file to write the report to"), slot("text", "the word or phrase that the report is about"), slot("folder", "the folder to look in"), slot("pattern", "which file names, such as *.md")),
        {"text": fillers.needle, "folder": fillers.folder, "pattern": fillers.pattern, "report": fillers.path},
        said("deliver", "(write|save|store) (all|the|every|) (lines|line|passages) (with|about|on) {Q}{text}{Q} (from|of|in) {folder} (to|into|in) {report}", "(find|look up) {Q}{text}{Q} in {folder} and (keep|save|put) (it|them|the lines|the hits) (in|under|as) {report}", "(collect|gather|compile) (what|everything that) {folder} (says|has|holds) (about|on) {Q}{text}{Q} (in|into) {report}",
            "{report}: (a report|the lines) (on|about) {Q}{text}{Q} from {folder}", "(make|produce|write) (a report|an overview|a collection) (about|of|on) {Q}{text}{Q} (from|over) {folder}, (as|in|file) {report}", "(put|write) the (names|list) of (all|the) {pattern} files (in|of|under) {folder} (into|to) {report}", "(save|write) (a listing|an index|the contents) of {folder} (as|to) {report}", "(extract|pull out|copy) (all|) lines (that mention|with) {Q}{text}{Q} (from|out of) the {pattern} files in {folder} to {report}"),
        frozenset({"delivered", "attestation"})),
    Family("code-search", ("Finds where a function, class, variable or other piece of source code is defined, called or used.", "Search source code", "where is this name in the program's sources"),
        (slot("code", "the name or piece of code to look for, such as a function or class"), slot("folder", "the folder with the source code"), slot("language", "the programming language")),
        {"code": _code, "folder": fillers.folder, "language": _language},
        said("find", "where (is|do we have|stands) the (function|class|method|constant|struct|variable) {code}", "(who|what|which code) (calls|uses|imports|touches|overrides) {code} (in {folder}|)", "(all|every|show all) (calls|uses|usages|references) (of|to) {code} (in|under|below) {folder}", "(find|show|list) (the definition of|where we define|where we call) {code} (in the {language} code|)", "(grep|search) the (sources|code|{language} code|{language} sources) (in {folder}|under {folder}|) for {code}",
            "(which|what) {language} files (use|define|import|mention) {code}", "is {code} (dead|used|called) (anywhere|somewhere|) in the code", "(jump|go) to {code}", "where in {folder} do we (set|read|call|use) {code}")),
    Family("repo-status", ("Shows the status of the git repository: uncommitted changes, the latest commits, or the diff line by line.", "State and history of the git repository", "git status, git log and git diff"),
        (slot("what", "status: changed files; commits: the history or log; diff: changed lines", "status", "commits", "diff"), slot("count", "how many commits")),
        {"count": fillers.count},
        said("analyze", "(is there|do I have|have I) (anything|something) (left to commit|not committed|changed here)", "(state|status) of (my|the|this) (checkout|repo|repository|working copy)", "(which|what) files (did I touch|are changed|are not in git yet|are modified)", "(is|check whether) (my|the) (repo|tree|checkout) (is|) (clean|dirty)", "(any|are there) (pending|local|open) changes in git", what="status")
        + said("analyze", "the (last|latest|newest) {count} commits", "(show|list|print) (me|) (the|my|) (newest|last|latest|most recent) {count} (commits|entries of the log)", "(git log|history|log), {count} (entries|lines|commits)", "(who|what) (committed|was committed|went in) (this week|lately|yesterday|since the release)", "(show|give me) the (history|log) of (this|the) (repo|project|branch)", "how did the repository (change|evolve) over the last {count} commits", what="commits")
        + said("analyze", "(show|print|give me) (my|the|all) changed lines", "(what|which lines) (differ|changed|did I change) (against|since|compared to) the last commit", "(my|the) (changes|edits) line by line", "(let me see|show me) what I (edited|changed) in (detail|each file)", "a diff of (my work|everything uncommitted|the working copy)", what="diff"),
        frozenset({"quality"})),
    Family("repo-branch", ("Makes a new branch in the git repository, or lists its branches and says which one is current.", "Branches of the git repository", "git branch: new ones and the list of them"),
        (slot("branch", "the name of the new branch"), slot("start", "the branch or commit that it begins from")),
        {"branch": fillers.branch, "start": _begin},
        said("build", "(make|cut|open|start|create) (a|another|one more) branch, (name it|call it|name:) {Q}{branch}{Q}", "(we need|I want|give me) (a fresh|a new|a) branch (for this|). (Call|Name) it {branch}", "(start|open|begin) {branch} as a (new|) branch", "branch {branch} (off main|from here|please|)", "(create|set up) (the git branch|the branch|branch) {Q}{branch}{Q}", "(git checkout -b|git switch -c|git branch) {branch}", "(git checkout -b|git switch -c|git branch) {branch} {start}", "(make|cut|open|create) (a branch|the branch|a new branch) (called|named|) {branch} (from|off|out of|at|on top of) {start}", "from {start}, (branch off|start|open) {branch}", "{branch} (should|shall) (begin|start) (at|from) {start}")
        + said("find", "(on|) (which|what) branch (is this|do I stand on|is checked out)", "(all|list all|name all) (git|) branches", "(what|how many) branches (does the repo have|exist|are there)", "(show|tell) me the (branches|current branch)"), frozenset({"quality", "delivered"})),
    Family("run-tests", ("Runs the tests of a project with pytest, make, npm, cargo or go, and says whether they pass.", "Run the tests", "starts the test suite of a project"),
        (slot("where", "the folder to look in"), slot("suite", "the program that runs the tests", "pytest", "npm", "cargo")),
        {"where": fillers.folder},
        said("build", "(run|start|execute|launch) (the|all|our) (tests|unit tests|test suite) (in|of|under) {where}", "(do|see whether|check that) the tests (in|of) {where} (still|) (pass|go through)", "(does|see if) {where} (pass|passes) its tests", "(is|are) (everything|the suite|all tests) (green|passing)", "test {where}", "(rerun|run) (the tests|all tests|everything again)")
        + said("build", "(run|call) pytest (in|on|for) {where}", "pytest {where}", "test {where} with pytest", suite="pytest") + said("build", "npm (run|) test (in|for) {where}", "(run|start) the npm tests (in|of) {where}", suite="npm") + said("build", "cargo test (in|for) {where}", "(test|check) {where} (with|using) cargo", suite="cargo"), frozenset({"delivered"})),
    Family("data-summary", ("Summarises the data of a CSV table: rows, columns, averages, totals; or draws a chart of it as a picture.", "Figures and charts of a table", "statistics and plots from table files"),
        (slot("file", "the csv file with the data"), slot("chart", "the new svg picture file to draw the chart to"), slot("column", "the column to draw"), slot("axis", "the column to draw it by"), slot("kind", "the kind of chart", "bar", "line", "histogram")),
        {"file": _csv, "chart": _svg, "column": _column, "axis": _axis},
        said("analyze", "(averages|totals|mean values|sums|statistics|figures) (of|in|from|for) {file}", "(how many|count the) (rows|lines|columns) (in|of) {file}", "(what is in|sum up|look at|summarise|profile) (the table|) {file}", "{file}, (what are its averages|the usual figures|how big is it)", "(which|what) columns does {file} have", "(highest|lowest) values (in|of) {file}")
        + said("build", "(draw|plot|chart|graph) {column} (by|per|against|over) {axis} from {file} (to|into|as) {chart}", "(picture|chart) of {column} in {file}, (file|write it to|save as) {chart}", "{chart}: {column} from {file}")
        + said("build", "(draw|make|plot) (a bar chart|bars) of {column} (by|per) {axis} (from|in|out of) {file} (to|as) {chart}", "{file} as bars in {chart}, column {column}", kind="bar") + said("build", "(a line chart|a line|a curve) of {column} (over|by) {axis} (from|in) {file} (to|into) {chart}", "(plot|draw) {column} of {file} as a line (in|to) {chart}", kind="line") + said("build", "(a histogram|the distribution) of {column} (from|in) {file} (as|to|in) {chart}", "histogram {column} {file} {chart}", kind="histogram"),
        frozenset({"delivered", "attestation"})),
    Family("web-fetch", ("Downloads a web page or file from its address (URL), shows its text, can save it to a file.", "Fetch a web page", "get what is at an address on the web"),
        (slot("url", "the address of the web page, URL or link"), slot("file", "the new file to save the page to")),
        {"url": fillers.url, "file": fillers.path},
        said("acquire", "(get|load|fetch|pull) {url}", "(show|read) me (the page|what is at|the text at) {url}", "(download|fetch|store) {url} (as|to|into|in) {file}", "what (is written|stands|is) (at|on|under) {url}", "(keep|save|put) (a copy of|the page|) {url} (in|as|under) {file}", "{url} to {file}", "(visit|open|look at) (the site|the page|) {url}", "(wget|curl) {url}"), frozenset({"delivered"})),
    Family("note-write", ("Writes down a note to remember something, or adds a line to a note or list that exists.", "Write a note", "keeps what was said in a list or a file of notes"),
        (slot("note", "what to write down"), slot("file", "the file of the note or list")),
        {"note": _note, "file": _list},
        said("build", "(note|remember|write down|note down|keep in mind|don't forget): {note}", "(make|take) a note (that|saying) {note}", "(I must|let me) not forget (that|) {note}", "(for my notes|to remember|memo): {note}", "(write|put) down in {file} that {note}", "please (note|remember) that {note}")
        + said("modify", "(add|append|put) {Q}{note}{Q} (to|in|into|at the end of) {file}", "(one more line|a new entry|another point) (for|in) {file}: {note}", "{file}: add {Q}{note}{Q}", "(extend|update) {file} (with|by) {Q}{note}{Q}", "(put|add) {note} (on|to) my list"), frozenset({"deadline", "delivered", "rule", "preference", "signed_off", "jurisdiction_allow", "jurisdiction_deny", "quality", "budget", "external", "attestation"})),
    Family("schedule-reminder", ("Sets a reminder or appointment at a day and time in a calendar file, or lists the reminders there are.", "Remind me", "appointments and reminders in a calendar"),
        (slot("title", "what to be reminded of"), slot("when", "the day and time of the reminder"), slot("minutes", "how long it takes"), slot("calendar", "the calendar file")),
        {"title": _title, "when": _moment, "soon": _soon, "event": _event, "minutes": _lasting, "calendar": _calendar},
        said("schedule", "(remind|tell) me (on|) {when} to {title}", "(remind me|a reminder) to {title} (on|) {when}", "(put|enter|note) {event} (on|for) {when} (in|into) (the calendar|my diary|{calendar})", "{event} (on|is on) {when}, (add it to|put it in) (the calendar|{calendar})", "(set|make) (a reminder|an alarm) for {when}: {title}", "{soon} I (have to|must) {title}, remind me", "remind me {soon} to {title}", "(schedule|plan|book|arrange) {event} (for|on) {when}", "(appointment|reminder): {event}, {when}", "(put|enter|plan|schedule) {event} (for|on) {when}, (it takes|for|it lasts|plan in) {minutes}", "{event}, {when}, {minutes}", "(keep|block|reserve) {minutes} (on|) {when} for {event}", "add {event} to {calendar}, {when}", "I (must|have to) {title} on {when}, (don't let me forget|please remind me)")
        + said("find", "(which|what) (reminders|appointments) (are there|have I got|do I have) (in {calendar}|)", "(list|show) (my|the|all) (reminders|appointments) (of {calendar}|)", "what (is planned|comes up|is in {calendar})"), frozenset({"deadline", "delivered", "rule", "preference"}), {"event": "title", "soon": "when"}),
    Family("monitor-path", ("Watches a file or folder and tells when it changes, or which files changed since a day.", "Watch a file or folder", "notices changes on the disk"),
        (slot("path", "the file or folder to watch"), slot("since", "the day from which changes count"), slot("seconds", "how long to watch")),
        {"path": _watched, "since": _since, "seconds": _length},
        said("monitor", "(watch|observe|follow|guard) {path} (for {seconds}|)", "(say|tell me|shout|let me know) (when|as soon as|if) (something in|) {path} (changes|is changed|is written)", "(what|which files) (is new|changed|was changed|were edited) (in|under) {path} since {since}", "(changes|news) in {path} since {since}", "(wait|look) {seconds} (for|whether there are) changes (in|of) {path}", "keep watching {path} (for {seconds}|)", "(has|did) {path} (changed|change|been touched) since {since}", "for {seconds}, (watch|look after) {path}", "(what|which files) (changed|is new|was edited) (here|) since {since}"), frozenset({"deadline", "rule", "delivered", "quality"})),
    Family("delegate-task", ("Gives a task to a person, team or agent, or makes them an offer with terms; as a file.", "Give a task to somebody", "assigns work to others, or bargains with them"),
        (slot("assignee", "the person, team or company who gets the task or offer"), slot("task", "what is to be done or negotiated")),
        {"assignee": _assignee, "job": _job, "thing": lambda r: thing("delegate", r), "matter": _matter},
        said("delegate", "(ask|tell|get|instruct) {assignee} to {job}", "(could|can|would) {assignee} (please|) {job}", "{assignee} (should|shall|is to|must) {job}", "(give|hand|pass|leave) {thing} to {assignee}", "(let|have) {assignee} {job}", "{assignee} (takes over|gets|does) {thing}", "(put|make) {assignee} (in charge of|responsible for) {thing}", "(hand|pass|give) {thing} (over|on) to {assignee}", "(outsource|assign|delegate) {thing} to {assignee}", "(I have no time|I am away|we are short of hands). {assignee} (could|can|should) {job}")
        + said("negotiate", "(negotiate|bargain over|discuss|haggle over) {matter} with {assignee}", "(offer|propose to) {assignee} {matter}", "(settle|agree on|agree) {matter} with {assignee}", "(get|persuade|bring) {assignee} to (accept|agree to) {matter}", "(make|send) {assignee} an offer (for|on) {matter}", "(talk|speak) (to|with) {assignee} (about|over) {matter}"), frozenset({"delivered"}), {"job": "task", "thing": "task", "matter": "task"}),
)
