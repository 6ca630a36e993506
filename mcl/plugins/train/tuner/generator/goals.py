"""What goals are about: noun phrases by kind of work, composed so that few repeat."""

from __future__ import annotations

import random
import re
from collections.abc import Mapping

from mcl.plugins.train.tuner.generator import fillers
from mcl.plugins.train.tuner.generator.phrases import Filler, Phrase, capital, clause, clauses, expand
from mcl.plugins.train.tuner.utterances import LabelMark, Utterance

# ---- What goals are about: noun phrases by kind of work, composed so that few repeat.

# ruff: noqa: E501  -- tables of phrases: a line a meaning


GOODS = """laptop|office chair|desk|printer|monitor|phone|coffee machine|server|router|battery|solar panel|forklift|van|bicycle
|helmet|safety boots|first aid kit|projector|camera|microphone|headset|toner cartridge|paper|pallet|drill|pump|valve
|sensor|tablet|scanner|software licence|training course|plane ticket|train ticket|hotel room|conference pass
|data set|market study|insurance policy|storage space|test device|keyboard|dock|cable|whiteboard|plant|fridge
|uniform|work bench|copper pipe|tyre|generator|air filter|bottled water|wood|steel|vaccine|book|catering
|cloud credits|web hosting|translation|stock photo|electric car|lab equipment|kitchen equipment|freight container""".replace("\n", "").split("|")  # fmt: skip
ADJECTIVES = [
    "new",
    "used",
    "refurbished",
    "spare",
    "cheap",
    "quiet",
    "small",
    "large",
    "standing",
    "wireless",
    "second-hand",
    "waterproof",
    "ergonomic",
    "extra",
    "additional",
    "temporary",
    "electric",
    "industrial",
    "portable",
    "leased",
    "fast",
    "recycled",
    "certified",
    "green",
    "better",
]
WORKS = """report|dashboard|web shop|mobile app|script|parser|backup|pipeline|test suite|handbook|newsletter|press release|logo
|brochure|budget plan|spreadsheet|data model|API|chat bot|search index|prototype|invoice template|checklist
|job advert|user manual|knowledge base|contract|form|survey|map|database|staging environment|mail template
|login page|booking system|ticket system|road map|business case|job description|website|video|poster|migration plan
|risk register|emergency plan|style guide|import job|export function|password policy|monitoring setup|docker image
|index page|cron job|summary|presentation|proposal|playbook""".replace("\n", "").split("|")  # fmt: skip
TOPICS = """churn|late payments|energy use|customer complaints|sick leave|the sales team|payroll|the mobile app|shipping costs
|staff turnover|web traffic|the merger|the product launch|returns|the annual meeting|the pension fund|fuel prices
|the heating system|the factory|the school project|recycling|the rental contracts|travel expenses|the help desk
|the loyalty programme|the night shift|the north region|our suppliers|overtime|the canteen|delivery times
|the call centre|the search function|machine failures|the second quarter|last year""".replace("\n", "").split("|")  # fmt: skip
EXISTING = """customer table|login form|footer of the website|firewall rules|handbook|org chart|invoice layout|font size
|opening hours|delivery address|password|database schema|config file|column names|duplicate entries|typos
|error messages|payment service|unit tests|shift plan|menu|logo|colour scheme|draft|scans|photos|backups|old records
|user accounts|cookie banner|time sheet|tax rate|exchange rates|search page|documentation|spreadsheet|build scripts
|dependencies|server certificates|mail signature|contract|lease|product names|prices|translations|log level
|rate limit|timeout|cache|meeting notes|home page|start page|address book|room plan|seat map|CRM data""".replace("\n", "").split("|")  # fmt: skip
PARCELS = """minutes of the meeting|invoice|parcel|press release|new version|keys|sample|final report|training material|offer
|backup tapes|hotfix|mobile app|tender documents|photos|certificate|budget|newsletter|presentation|design files
|welcome package|test results|reminder|order|payment|list of participants|invitations|book|answer|model weights
|data export|documentation|feedback|statement|news|update|delivery note|refund|apology|status report""".replace("\n", "").split("|")  # fmt: skip
QUESTIONS = """why sales fell in {m}|why the build is slow|how much the heating cost last winter|who used the most storage
|what our competitors charge for shipping|how customers found us|which pages nobody reads
|where the time goes in support|whether the new price pays off|which suppliers deliver late
|how many orders were returned|what drives overtime|which invoices are unpaid|how accurate our forecasts were
|why sign-ups dropped|who is behind schedule|which tests are flaky|how long deliveries take
|what went wrong in the last release|what caused the outage on {d}|whether we can afford a second shift
|which contracts end this year|how our ratings changed since {m}|what we spend on travel
|how many users came back in {m}|which offer is the cheapest|how the three sites compare|where we lose customers""".replace("\n", "").split("|")  # fmt: skip
AFFAIRS = """price of paper|licence fee|salary|delivery dates|warranty|service level|lease|hourly rate|settlement
|insurance premium|cleaning contract|supply agreement|price for the cleaning|interest rate|penalty clause
|renewal of the hosting contract|partnership|purchase price of the land|terms of the merger|refund|royalties
|commission|exclusive rights|extension of the loan|volume discount|catering price|rates for translators|exit clause
|rent reduction""".replace("\n", "").split("|")  # fmt: skip
OCCASIONS = """meeting|workshop|interview|retrospective|kickoff|call|review|demo|training|lunch|site visit|town hall
|maintenance window|delivery slot|inspection|photo shoot|handover|performance review|stand-up|planning day|webinar
|exam|vaccination|audit|election|game night|doctor's appointment|ride|summer party|budget talk|parents' evening
|release|downtime|cleaning|moving day|oil change|rehearsal""".replace("\n", "").split("|")  # fmt: skip
GAUGES = """disk usage of {h}|price of {g}|uptime of {h}|shipment from {c}|queue length|temperature of the cold store
|certificate of {h}|stock of {g}|exchange rate of the dollar|number of open tickets|response time of {h}
|memory of {h}|job market in {c}|competitor's prices|weather in {c}|water level|air quality in {c}
|traffic on the ring road|progress of the migration|battery of the sensor|backlog|rents in {c}|flights to {c}
|deliveries from {c}|login failures|sales figures|news about the merger|cash balance|pull requests|build status
|humidity in the archive|status of my order|share price|bids|machine hours|spam rate""".replace("\n", "").split("|")  # fmt: skip
CHORES = """bookkeeping|complaint of {p}|newsletter|customer visit|inventory|training of the interns|code review|data entry
|stage design|travel booking|recruiting|payroll run|quality check|room cleaning|moderation of the forum|on-call duty
|design of the booth|supplier audit|website redesign|testing|weekly report|interviews|ticket triage|photo editing
|collection of unpaid bills|proofreading|expense claims|first draft|event planning|market research|warehouse count
|order of the flowers|backup""".replace("\n", "").split("|")  # fmt: skip
HUNTED = """caterer|plumber|supplier of {g}|venue for the party|translator for Finnish|lawyer|flight to {c}|hotel in {c}
|apartment in {c}|grant for heat pumps|photographer|job opening|contract with {p}|phone number of {p}|cheap {g}
|manual of the pump|recipe|tutorial on testing|email from {p}|train to {c}|restaurant in {c}|freelance designer
|buyer for the old machines|school nearby|parking space|dentist|list of holidays|people who know SQL
|warehouse near {c}|records of the last audit|second-hand {g}|open source library for maps|tax rules
|birth year of the author|workshop that repairs {g}|error in the invoice|statistics about accidents
|address of the embassy""".replace("\n", "").split("|")  # fmt: skip

NOUNS = {
    "acquire": GOODS, "build": WORKS, "modify": EXISTING, "deliver": PARCELS, "negotiate": AFFAIRS,
    "schedule": OCCASIONS, "monitor": GAUGES, "delegate": CHORES, "find": HUNTED,
}  # fmt: skip
_PLURAL = ("s", "data", "paper", "wood", "steel", "water", "equipment", "catering", "hosting", "translation")


def host(r: random.Random) -> str:
    """A machine's or site's name."""
    return r.choice([f"db-{r.randint(1, 30)}", f"web{r.randint(1, 9)}", "the main site", f"shop.{r.choice(['example.org', 'acme.com'])}", "the mail server",
                     "our API", "the payment gateway", f"node {r.randint(1, 20)}", "production", "staging"])  # fmt: skip


def filled(noun: str, r: random.Random) -> str:
    """With the places of a noun phrase filled: {h} host, {g} goods, {c} city, {p} person, {m} month, {d} day."""
    places: dict[str, Filler] = {"{h}": host, "{g}": lambda r: r.choice(GOODS) + "s", "{c}": fillers.city, "{p}": fillers.person,
              "{m}": lambda r: r.choice(fillers.MONTHS), "{d}": lambda r: r.choice(fillers.DAYS)}  # fmt: skip
    for place, filler in places.items():
        if place in noun:
            noun = noun.replace(place, filler(r))
    return noun


def _tail(verb: str, r: random.Random) -> str:
    """What follows the noun: for whom, about what."""
    k = r.random()
    if k < 0.5:
        return ""
    if verb in ("build", "find", "deliver") and k < 0.75:
        return f" {r.choice(['on', 'about', 'for', 'of', 'for'])} {r.choice(TOPICS)}"
    if verb in ("schedule", "negotiate") and k < 0.85:
        return f" with {r.choice([fillers.person(r), fillers.approver(r), 'the ' + fillers.city(r) + ' team', 'our suppliers', 'the client', 'the team', 'the union', 'the printers'])}"
    if verb == "acquire" and k < 0.75:
        return f" for {r.choice([fillers.person(r), 'the kitchen', 'the ' + fillers.city(r) + ' office', 'the new hires', 'the team', r.choice(TOPICS)])}"
    if verb == "modify" and k < 0.85:
        return r.choice(
            [
                " of the " + r.choice(WORKS),
                " in " + fillers.path(r),
                " on the intranet",
                " of " + r.choice(TOPICS),
                " in the shop",
            ]
        )
    return ""


def thing(verb: str, r: random.Random) -> str:
    """A noun phrase that fits the verb; for analyze now and then an indirect question."""
    if verb == "analyze":
        if r.random() < 0.45:
            return filled(r.choice(QUESTIONS), r)
        pool = [*(f"the {n}" for n in WORKS + EXISTING + PARCELS), *TOPICS]
        return r.choice(pool) + (f" of {r.choice(TOPICS)}" if r.random() < 0.15 else "")
    noun = filled(r.choice(NOUNS[verb]), r)
    if r.random() < 0.3:
        noun = f"{r.choice(ADJECTIVES)} {noun}"
    k = r.random()
    if verb == "acquire" and k < 0.45:
        number = fillers.count(r)
        noun = f"{number} {noun}" if noun.endswith(_PLURAL) else f"{number} {noun}s"
    elif k < 0.75:
        article = "an" if noun[0] in "aeiou" else "a"
        definite = verb in ("modify", "deliver", "negotiate", "monitor", "delegate")
        noun = (
            f"{r.choice(['the', 'the', 'our', 'my', 'all', 'the'])} {noun}"
            if definite or noun.endswith("s")
            else f"{article} {noun}"
        )
    return noun + _tail(verb, r)


# ---- Goals about them.

# ruff: noqa: E501  -- tables of phrases: a line a meaning


PHRASES: Mapping[str, tuple[str, ...]] = {
    "find": (
        "(find|find me|find us|please find|go find|go and find) {o}", "(look for|search for|hunt for|look out for|hunt down) {o}", "(I'm|I am|we are|we're) (looking|searching) for {o}",
        "(locate|dig up|track down|spot|discover|trace|turn up) {o}", "where (can I get|do I find|is|are|can I find) {o}", "(look up|find out about|google) {o}",
        "(who has|who sells|is there|are there|do we have|have we got) {o}", "(can|could) you (find|locate|look up|search for|dig out) {o}", "I (need|want) (to find|to locate|to look up|to know where to get) {o}",
        "(show me|list|give me|what is|get me a list of) {o}", "help me (find|locate|search for|track down) {o}", "(search|scan|browse) the (web|archive|catalogue|records|internet) for {o}",
    ),
    "acquire": (
        "(buy|order|purchase|procure|acquire|get) {o}", "(buy|get|order|fetch) (me|us) {o}", "(we|I) (need|want|require|could use|are short of|have to buy|must get) {o}", "(rent|lease|hire|book|reserve|charter) {o}",
        "(can|could) (you|somebody|we) (get|buy|order|get hold of|obtain) {o}", "(subscribe us to|sign us up for|get hold of|stock up on|obtain|source|secure) {o}", "please (order|buy|get|book) {o}", "(place|put in) an order for {o}",
        "(I'd like|we'd like|I would like) (to buy|to order|to get|to rent|to have) {o}", "(pick up|purchase|grab) {o}", "get (us|me|the team) (a quote and buy|a good deal on|some more of) {o}", "(make a purchase of|invest in|replace the old one with) {o}",
    ),
    "build": (
        "(build|create|make|set up|construct|produce) {o}", "(write|draft|compose|prepare|author) {o}", "(develop|implement|code|program|design) {o}", "(we|I) (need|want) (you to build|a new version of|somebody to create|to create|to set up|to have) {o}",
        "(generate|put together|come up with|sketch|assemble|compile) {o}", "(can|could) you (build|create|write|draft|set up|make) {o}", "(start|add|introduce|establish|bootstrap|install) {o}", "please (create|write|prepare|build|make) {o}",
        "(build|make|write) (me|us) {o}", "help me (write|build|create|draft) {o}", "let's (build|create|set up|make) {o}", "(I'd like|we would like) {o} (built|created|written|made|drafted)",
    ),
    "modify": (
        "(update|change|edit|modify|adapt|adjust) {o}", "(fix|repair|correct|patch|clean up|tidy up|sort out) {o}", "(rename|replace|swap|convert|migrate|move|port) {o}", "(refactor|rewrite|rework|simplify|restructure|shorten|extend) {o}",
        "(upgrade|improve|optimise|speed up|modernise|renew|refresh) {o}", "(remove|delete|drop|disable|turn off|strip|clear) {o}", "(can|could) you (update|fix|change|edit|correct) {o}", "please (change|update|fix|amend|revise|rotate) {o}",
        "{o} (must be updated|needs to be fixed|has to change|should be replaced|is out of date, update it|is broken, fix it|needs an update)", "make changes to {o}", "(translate|reformat|merge|split|compress|resize|rotate|reset) {o}",
        "bring {o} up to date", "(increase|decrease|raise|lower|reduce|double) {o}",
    ),
    "deliver": (
        "(send|ship|deliver|mail|email|forward|submit) {o}", "(publish|release|deploy|roll out|post|launch|push) {o}", "(hand over|hand in|bring|present|pass over|turn in|return) {o}", "(upload|share|transfer|export|distribute|hand out|broadcast) {o}",
        "(can|could) you (send|ship|deliver|publish|forward|upload) {o}", "please (send|mail|deliver|publish|forward|share) {o}", "make sure {o} (is sent|gets delivered|arrives|goes out|is published)", "get {o} (out|out the door|delivered|sent|to the customer|shipped)",
        "{o} (has to go out|must be delivered|should be sent|has to be published|needs to be shipped)", "(announce|report|hand) {o}", "I (want|need) {o} (sent|delivered|shipped|published|deployed)", "(pay|transmit|dispatch|serve) {o}",
    ),
    "analyze": (
        "(analyze|analyse|examine|study|investigate|look into) {o}", "(compare|evaluate|assess|rate|benchmark|judge) {o}", "(check|review|audit|inspect|verify|go through) {o}", "(work out|figure out|find out|determine|understand|explain|tell me) {o}",
        "(summarise|summarize|sum up|condense|give me a summary of) {o}", "(calculate|compute|estimate|measure|count|quantify|forecast) {o}", "(what do we know about|how good is|what is wrong with|what can we learn from) {o}", "(can|could) you (analyze|check|review|look into|work out|tell us) {o}",
        "(make|do|run) an analysis of {o}", "I (want|need) to (know|understand|see) {o}", "please (analyse|review|check|evaluate|examine) {o}", "(dig into|break down|diagnose|profile|map out|get to the bottom of) {o}",
    ),
    "negotiate": (
        "(negotiate|renegotiate|bargain for|haggle over) {o}", "(agree on|reach an agreement on|come to terms on|settle|close a deal on) {o}", "(negotiate|haggle|bargain|talk) with {who} (about|over|on|for) {o}", "(get|talk) {who} (down on|to agree on|to a better deal on|to lower) {o}",
        "get (a better|the best|a lower|a fair) (deal|price|offer) (on|for) {o}", "(can|could) you (negotiate|bargain for|settle|haggle over) {o}", "(strike|make|work out|hammer out) a deal (on|about|for) {o} (with {who}|)", "(discuss|hammer out|work out) the (terms|conditions) of {o} (with {who}|)",
        "(persuade|convince|get) {who} to (accept|change|improve|agree to) {o}", "(push for|press for|ask for) better (terms|conditions) (on|for) {o}", "we (want|need) to (renegotiate|negotiate|settle) {o}", "make {who} a counter offer (on|for|about) {o}",
    ),
    "schedule": (
        "(schedule|plan|arrange|organise|organize|set up) {o}", "(put|enter|add|get) {o} (in|into|on|to) (the|my|our) (calendar|diary|schedule|agenda)", "(book|reserve) (a slot|a time|a date|an hour|a room) for {o}", "(find|fix|set|agree) a (time|date|day|slot) for {o}",
        "(move|postpone|reschedule|shift|bring forward|push back) {o}", "(line up|pencil in|calendar|set) {o}", "(can|could) (you|we) (schedule|arrange|plan|set up|organise) {o}", "when can (we|I) have {o}", "please (plan|schedule|arrange|book|set up) {o}",
        "(I|we) (need|want) {o} (scheduled|in the calendar|arranged|planned|on the agenda)", "(invite|call) everyone (to|for) {o}", "set a (reminder|date|deadline) for {o}", "make (an appointment|time|room in the calendar) for {o}",
    ),
    "monitor": (
        "(monitor|watch|observe|track|follow|supervise) {o}", "keep (an eye|a close eye|tabs|watch) on {o}", "(alert|notify|warn|tell|ping|message) (me|us|the team) (when|if|as soon as) {o} (changes|moves|fails|drops|goes up|is there|is down)", "(check|poll|test|look at|probe) {o} (daily|every hour|every day|regularly|once a week|every five minutes)",
        "let me know (when|if|about|of any change in) {o}", "(can|could) you (monitor|watch|track|keep an eye on|follow) {o}", "(set up|start|turn on) (monitoring|an alarm|an alert|a watch) (for|on) {o}", "keep (me|us) (posted|informed|up to date) (on|about) {o}",
        "watch (out for|over) {o}", "(report|log|record) {o} (every day|continuously|hourly|each week|all the time)", "stay on top of {o}", "please (watch|track|monitor|observe) {o}", "make sure we notice when {o} (changes|breaks|drops|gets worse)",
    ),
    "delegate": (
        "(delegate|assign|outsource|hand off|farm out) {o} (to {who}|)", "(let|have) {who} (handle|do|take care of|deal with|look after|take over) {o}", "(ask|tell|get|instruct) {who} to (do|handle|take care of|take over|work on) {o}", "put {who} in charge of {o}",
        "(give|pass|hand|leave|transfer) {o} (to|on to|over to) {who}", "{who} (should|shall|can|must|will) (do|handle|take over|take care of) {o}", "(can|could) {who} (take|take over|handle|do) {o}", "make {who} (responsible for|the owner of|own) {o}",
        "(find|get|hire) (someone|somebody|an agency|a contractor|a freelancer) to (do|handle|take over|run) {o}", "(I|we) want {who} to (do|run|handle|own) {o}", "(entrust|task|charge) {who} with {o}", "please (delegate|assign|pass) {o} to {who}", "hand {o} (to|over to) {who}",
    ),
}  # fmt: skip
NOTES = (
    "(make a note|note down|write down|remember|keep in mind|jot down|note|record|don't forget) that {s} {does}", "(remind me|remind us) that {s} {does}", "(put|add) {s} (on|to) (my|our|the) (list|to-do list|notes)",
    "(make|take|write) a note about {s}", "(note|remember|for the record): {s} {does}", "(write|jot) (it|this) down: {s} {does}",
)  # fmt: skip
NOTED = """comes on {d}|is allergic to nuts|moved to {c}|has to be renewed before {m}|is with {p}|likes tea|is on holiday in {m}|costs more now
|needs a new battery|will be closed on {d}|is out of order|wants to be called back|has a birthday in {m}|owes us an answer|changed the phone number
|starts in {m}|was sold|is too loud|must be paid|belongs to {p}|opens at nine|should be cleaned|speaks French|is ready for pick up|left the company""".replace("\n", "").split("|")  # fmt: skip
OPENINGS = ("please ", "hi, ", "hello, ", "hey, ", "ok, ", "so, ", "could you please ", "quick one: ", "for the team: ", "next: ", "as discussed, ", "when you have time, ", "dear assistant, ",
            "this is urgent: ", "good morning, ", "new task: ", "I have a request: ", "kindly ", "now ", "also, ", "let's ")  # fmt: skip
_BEFORE_ORDERS = frozenset(["please ", "could you please ", "kindly ", "now ", "also, ", "let's "])
_NO_ORDER = re.compile(
    r"(?:i|i'm|i'd|we|we're|we'd|who|where|what|when|which|how|is|are|do|have|can|could|please|let's|for|remember"
    r"|the|our|my|all|a|an)\b",
    re.IGNORECASE,
)
CONTEXTS = ("Our old one broke last night. ", "We are a small firm with nine people. ", "The customer called again this morning. ", "I am away next week. ", "It has been raining all day. ",
            "The team grew a lot this year. ", "We talked about this on the phone. ", "I promised this to the board. ", "Things have been slow lately. ", "The last attempt did not go well. ",
            "There was a lot of noise in the meeting. ", "Nobody has looked at this for months. ", "We start early tomorrow. ", "The plan changed again. ", "My predecessor left no notes. ")  # fmt: skip
ENDINGS = (
    " please",
    ", please",
    " thanks",
    ". Thanks!",
    ", thank you",
    " asap",
    ", ok?",
    " for me",
    " for us",
    ". It is important.",
    ", cheers",
    " if you can",
    ". Let me know when it is done.",
    ". That is all.",
)


def who(r: random.Random) -> str:
    """Somebody who may be asked or bargained with."""
    return fillers.approver(r) if r.random() < 0.6 else r.choice(
        ["the supplier", "the landlord", "our vendor", "the bank", "the design team", "the night shift", "an agency", "a contractor", "the interns", "the union", "Brightline", "Contoso",
         "the carrier", "the support team", "the sales people", "the new colleague", "a freelancer", "the neighbours", "the insurance company", "the printers", "Northwind", "a student", "the agent"])  # fmt: skip


def general(r: random.Random, field: str = "slot.object") -> Utterance:
    """A goal for the general skill: verb phrase around one object, then 0 to 4 constraints."""
    verb = r.choice(tuple(PHRASES))
    if r.random() < 0.04:
        return _note(r, field)
    phrase = expand(r.choice(PHRASES[verb]), {"o": (field, lambda s: thing(verb, s)), "who": ("", who)}, r)
    number = r.choices((0, 1, 2, 3, 4), (28, 36, 22, 10, 4))[0]
    if number and r.random() < 0.06:  # a constraint in front
        front = clause(r.choice(("deadline", "budget", "jurisdiction_allow")), r)
        if front.text.startswith(" ") and front.marks:
            phrase = front + Phrase(", ") + phrase
            number -= 1
    whole = dressed(phrase, clauses(r, number), r)
    return Utterance(whole.text, ("own", "general"), whole.marks, verb)


def _note(r: random.Random, field: str) -> Utterance:
    """Something to keep in mind: a thing or person and what about it."""

    def subject(s: random.Random) -> str:
        kind = s.random()
        if kind < 0.3:
            return fillers.person(s)
        return thing(s.choice(("modify", "deliver", "delegate")), s)

    places = {"s": (field, subject), "does": ("", lambda s: filled(s.choice(NOTED), s))}
    phrase = expand(r.choice(NOTES), places, r)
    whole = dressed(phrase, Phrase(""), r)
    return Utterance(whole.text, ("own", "general"), whole.marks, "build")


def dressed(phrase: Phrase, tail: Phrase, r: random.Random) -> Phrase:
    """Opening, context sentences, ending and full stop around a goal."""
    whole = phrase + tail
    if whole.text[:1] == " ":
        whole = _without_first_blank(whole)
    k = r.random()
    if k < 0.12:
        opening = r.choice(OPENINGS)
        if opening not in _BEFORE_ORDERS or not _NO_ORDER.match(whole.text):
            whole = Phrase(opening) + whole
    if r.random() < 0.6:
        whole = capital(whole)
    if r.random() < 0.07:
        whole = Phrase(r.choice(CONTEXTS)) + whole
    if r.random() < 0.1:
        whole = whole + Phrase(r.choice(ENDINGS))
    elif r.random() < 0.35:
        whole = whole + Phrase(r.choice((".", ".", ".", "!", "?")))
    if r.random() < 0.04:
        whole = whole + Phrase(" " + r.choice(CONTEXTS).strip())
    return whole


def _without_first_blank(phrase: Phrase) -> Phrase:
    marks = tuple(
        LabelMark(
            m.field, m.value, None if m.start is None else m.start - 1, None if m.end is None else m.end - 1
        )
        for m in phrase.marks
    )
    return Phrase(phrase.text[1:], marks)
