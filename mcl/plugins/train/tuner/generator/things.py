# ruff: noqa: E501  -- tables of phrases: a line a meaning
"""What goals are about: noun phrases by kind of work, composed so that few repeat."""

from __future__ import annotations

import random

from mcl.plugins.train.tuner.generator import fillers
from mcl.plugins.train.tuner.generator.phrases import Filler

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
