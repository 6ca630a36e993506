"""The core modules drive the compiler: whatever is changed there changes what it does, and mtx_digest."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import count
from pathlib import Path
from typing import Any

import pytest

import mcl
from executor import FixedClock, Home
from grammars import core_modules
from ir import VERBS, IntentDraftBody
from mcl.cli.main import main
from mcl.compiler.compiler import Clarify, Compiled, Outcome, Refused, compile_goal, recompile_with_answers
from mcl.compiler.pipeline import Pipeline
from mcl.compiler.recompilation import compile_corrected
from mcl.compiler.stages.clauses import Clauses
from mcl.compiler.stages.commands import CommandWords
from mcl.compiler.stages.pointing import PointingWords
from mcl.compiler.stages.request import GoalChange
from mcl.compiler.stages.rules import Rules
from mcl.compiler.stages.slips import SlipWords, without_slips
from mcl.compiler.stages.topics import topics_of, with_topic
from mcl.core.errors import SkillError
from mcl.language.mtx.core import Core, CoreModule, core_of, load_core
from mcl.language.skills import Skills, find_skills, mtx_digest, skill_folders
from mcl.memory import MemoryStore
from mcl.model.matcher import PatternMatcher
from mcl.model.protocol import Span
from mcl.usecases.step_models import StepRules
from tests.compiler.conftest import AT, LOOK, ORDER, PLAN, Scripted, ScriptedWriter, compile_with

Edit = tuple[str, str, str]  # module, a setting or what stands there, its value or what shall stand there
IDENTITY = {"id", "version", "display", "author", "description", "mcl.verbs"}
COUNT = LOOK.replace("id=look", "id=count").replace("Finds facts", "Counts sheep")
COUNT = COUNT.replace("=find", "=analyze monitor").replace(
    "slot what: string\n  required", "slot number: uint\n  required\nslot place: ArtifactRef\n  required"
)
COUNT = COUNT.replace("§PROCEDURE\nnone", "§PROCEDURE\nresolve slot.place <- cortex.find(type=Fact)")
CRAFT = LOOK.replace("id=look", "id=craft").replace("Finds facts", "Makes boats")
CRAFT = CRAFT.replace("=find", "=build deliver")


@dataclass
class Kit:
    """Compiles with given core modules, in a fresh home each time."""

    folder: Path
    skills: Skills
    cache: Path
    made: Iterator[int] = field(default_factory=count)

    def core(self, *edits: Edit) -> Core:
        """The shipped modules with these changes."""
        paths = core_modules()
        folder = self.folder / f"core{next(self.made)}"
        folder.mkdir()
        for module, old, new in edits:
            text = paths[module].read_text()
            assert old in text
            paths[module] = folder / f"{module}.mtx"
            setting = re.compile(rf"^{re.escape(old)}=.*$", re.MULTILINE)
            changed = setting.sub(f"{old}={new}", text) if setting.search(text) else text.replace(old, new)
            paths[module].write_text(changed)
        return load_core(paths, cache=self.cache)

    def home(self) -> Home:
        return Home.open(self.folder / f"home{next(self.made)}", clock=FixedClock(AT))

    def run(
        self, core: Core, goal: str, model: Any = None, *, facts: Sequence[str] = (), **more: Any
    ) -> Outcome:
        with self.home() as home:
            for fact in facts:
                MemoryStore(home).put("Fact", fact)
            model = model or PatternMatcher(core)
            skills = more.pop("skills", self.skills)
            return compile_with(goal, home=home, skills=skills, model=model, core=core, **more)


@pytest.fixture(scope="module")
def all_skills(tmp_path_factory: pytest.TempPathFactory) -> Skills:
    folder = tmp_path_factory.mktemp("skills")
    for name, text in (("order", ORDER), ("look", LOOK), ("count", COUNT), ("craft", CRAFT)):
        (folder / name).mkdir()
        (folder / name / "SKILL.mtx").write_text(text)
    found = find_skills([folder])
    assert not found.broken
    return found


@pytest.fixture
def kit(tmp_path: Path, all_skills: Skills, tmp_path_factory: pytest.TempPathFactory) -> Kit:
    return Kit(tmp_path, all_skills, tmp_path_factory.getbasetemp() / "cache")


def seen(outcome: Outcome) -> object:
    """What a person would see: all but digests, times and ids."""
    if isinstance(outcome, Refused):
        return ("refused", outcome.reason, outcome.message, outcome.nearest)
    intent = outcome.intent
    said = (intent.frame, intent.confidence, intent.unknowns, intent.references, intent.prose, outcome.prompt)
    if isinstance(outcome, Compiled):
        return ("compiled", outcome.review, outcome.advice, *said)
    return ("asked", outcome.questions, *said)


Look = Callable[[Kit, Core], object]


def goal(text: str, *, facts: Sequence[str] = (), **says: Any) -> Look:
    """A look at what comes of a goal with a model that finds these things."""
    options = {
        key: says.pop(key)
        for key in ("sure", "verb_sure", "certainty", "skill", "verb", "spans", "margin", "takes_all", "kind")
        if key in says
    }
    found = {key if key in LIMITS else f"slot.{key}": value for key, value in says.items()}
    return lambda kit, core: seen(
        kit.run(core, text, Scripted(says=found, quotes=True, **options), facts=facts)
    )


LIMITS = (
    "budget", "deadline", "jurisdiction_allow", "jurisdiction_deny", "quality", "rule", "preference",
    "delivered", "signed_off", "external", "attestation", "recurrence",
)  # fmt: skip


def words(text: str) -> Look:
    """A look at what comes of a goal without a model."""
    return lambda kit, core: seen(kit.run(core, text))


def corrected(said: str) -> Look:
    """A look at what comes of a correction of an order with the tag red."""

    def look(kit: Kit, core: Core) -> object:
        with kit.home() as home:
            model = Scripted(says={"slot.item": "paper", "slot.tags": ["red", "blue"]}, quotes=True)
            prose = "order paper, tagged red"
            made = compile_with(prose, home=home, skills=kit.skills, model=model, core=core)
            assert isinstance(made, Compiled)
            changes = [GoalChange(said)]
            draft = IntentDraftBody(prose)
            return seen(
                compile_corrected(
                    made.intent, draft, changes, home=home, skills=kit.skills, model=model, core=core
                )
            )

    return look


def late(kit: Kit, core: Core) -> object:
    seconds = count()
    timer = lambda: float(next(seconds)) * 0.4  # noqa: E731  # a clock
    return [_timed(kit, core, timer, model) for model in (Scripted, ScriptedWriter)]


def _timed(kit: Kit, core: Core, timer: Callable[[], float], model: type[Scripted]) -> object:
    outcome = kit.run(core, "order paper", model(says={"slot.item": "paper"}), timer=timer)
    return seen(replace(outcome, message="") if isinstance(outcome, Refused) else outcome)


def long(kit: Kit, core: Core) -> object:
    model = Scripted(says={"slot.item": "paper"})
    return seen(kit.run(core, "order paper and pens and clips", model, truncate=True))


def rounds(kit: Kit, core: Core) -> object:
    """What comes of a goal whose question is answered with nothing again and again."""
    with kit.home() as home:
        outcome: Outcome = compile_goal("order", home=home, skills=kit.skills, model=Scripted(), core=core)
        asked = 0
        while isinstance(outcome, Clarify):
            asked += 1
            outcome = recompile_with_answers(
                outcome.intent.id,
                {"slot.item": ""},
                home=home,
                skills=kit.skills,
                load_model=Scripted,
                core=core,
            )
        return asked, seen(outcome)


nothing_said = goal("order")
unsure = goal("some paper", item="paper", verb_sure=0.78)
half = goal("some paper", item="paper", sure=0.5)
taught = goal("some paper", item="paper", sure=0.5, margin={"order": -0.5}, takes_all=True)
NO_WORDS = (
    ("verb", "weight.words", "0"),
    ("verb", "weight.example", "0"),
)
several = goal("order paper or pens", item=["paper", "pens"])
wish = goal("order paper, ideally under $500", item="paper", budget="$500", certainty={"budget": 0.9})
anywhere = goal("order paper som helst under $500", item="paper", budget="$500", certainty={"budget": 0.9})
none_fits = goal("sing", skill=None, verb="")
acme = {"item": "paper", "supplier": "Acme"}
known = goal("order paper from Acme", facts=["Acme"], **acme)
two_known = goal("order paper from Acme", facts=["Acme one", "Acme two"], **acme)
sheep = {"skill": "count", "verb": "analyze", "number": "7", "place": "Acme"}
remembered = goal("order paper", facts=[f"Acme {n} sells paper" for n in range(7)], item="paper")
dear = goal("order paper for 500 pesos", item="paper", budget="500 pesos")
everything = goal(
    "order paper box, approved by Anna, CI law, never late, ideally blue",
    item="paper", delivered="box", signed_off="Anna", external="CI", attestation="law", rule="never late",
    preference="blue",
)  # fmt: skip
BLOCKING = ("uncertain=preferred", "uncertain=blocking")


def doubted(kind: str) -> Look:
    """A look at what is asked of a limit or sign that is less likely right than wrong."""
    lead = {"preference": "hopefully ", "signed_off": "approved by "}.get(kind, "")
    return goal(f"order paper {lead}blue", item="paper", certainty={kind: 0.1}, **{kind: "blue"})


def which(verb: str) -> Look:
    """A look at what is asked of a goal that a skill of every verb takes, and no verb is certain."""
    return lambda kit, core: seen(
        kit.run(
            core,
            "do paper",
            Scripted(skill="general", verb=verb, verb_sure=0.3),
            skills=find_skills(skill_folders(None)[:1]),
        )
    )


# For each wording of the module `promise` a rule that it makes something of.
KEPT_BY = {
    "class.never": "don't change anything",
    "class.without": "without committing",
    "class.any": "don't delete any file",
    "class.change": "edit nothing",
    "class.changing": "without touching anything",
    "class.delete": "delete nothing",
    "class.deleting": "without deleting anything",
    "class.overwrite": "overwrite nothing",
    "class.overwriting": "without overwriting anything",
    "class.make": "create no files",
    "class.making": "without creating files",
    "class.run": "run nothing",
    "class.running": "without running commands",
    "class.programs": "don't run any scripts",
    "class.send": "send nothing",
    "class.sending": "without sending anything",
    "class.net": "without using the internet",
    "class.but": "change nothing except src",
    "class.look": "don't look into src/",
    "class.most": "change at most 3 files",
    "class.step": "ask before each call",
    "class.andra": "ändra inget",
    "class.inget": "radera ingenting",
    "class.nagot": "utan att ändra något",
    "class.radera": "radera inget",
    "class.skicka": "skicka inget",
    "class.kor": "kör inga program",
    "not.places": "nothing outside budget",
    "rule.change_nothing": "leave everything as it is",
    "rule.read_only": "bara läsa",
    "rule.delete_nothing": "no deletions",
    "rule.overwrite_nothing": "no overwriting",
    "rule.no_new_files": "inga nya filer",
    "rule.no_network": "no network",
    "rule.send_nothing": "nothing is sent",
    "rule.no_commands": "no commands",
    "rule.only_in": "nothing outside src",
    "rule.not_in": "stay out of src",
    "rule.change_only_in": "change only src/a.py",
    "rule.change_not_in": "leave src/a.py alone",
    "rule.only_host": "only from api.example",
    "rule.commit": "no commits",
    "rule.push": "no push",
    "rule.commit_or_push": "no commits or pushes",
    "rule.calls": "högst 3 verktygsanrop",
    "rule.files": "change at most 3 files",
    "rule.ask": "ask before each step",
}


def kept(rule: str) -> Look:
    """A look at what is made of a rule."""
    return goal(f"order paper, {rule}", item="paper", rule=rule)


def planned(text: str, **says: str) -> Look:
    """A look at what comes of a goal for a skill that has a plan."""

    def look(kit: Kit, core: Core) -> object:
        folder = kit.folder / f"planned{next(kit.made)}" / "order"
        folder.mkdir(parents=True)
        (folder / "SKILL.mtx").write_text(ORDER)
        (folder / "plan.yaml").write_text(PLAN)
        found = {"slot.item": "paper", **says}
        return seen(
            kit.run(core, text, Scripted(says=found, quotes=True), skills=find_skills([folder.parent]))
        )

    return look


unchecked = planned("order paper, be kind", rule="be kind")
signer = planned("order paper, approved by Kim", signed_off="Kim")


def ran(command: str) -> Look:
    """A look at what is made of a command that is to succeed."""
    return goal(f"order paper once {command}", item="paper", external=command)


def declared(kit: Kit, core: Core) -> object:
    """The same of a command that the operator declared."""
    read = CommandWords.of(core["predicate"]).read
    return read("smoke passes", lambda: {"smoke": "matrix://tool/process/run-smoke@1.0.0"})


def other(setting: str) -> str:
    """A value of a setting of that module that says something else."""
    return '"read only: zzz"' if setting.startswith("rule.") else "zzz"


# For each list of words of the module `coverage` a goal that it makes something of.
COVERED_BY = {
    "filler": "please, order paper",
    "empty": "order paper for the",
    "blocks.negation": "order paper without plastic",
    "blocks.amount": "order paper for a dozen",
    "blocks.time": "order paper tonight",
    "blocks.recurrence": "order paper every day",
    "blocks.condition": "order paper if wanted",
    "blocks.grouping": "order paper per room",
    "blocks.second": "order pens, paper also",
    "verbs.en": "order paper and send it",
    "verbs.sv": "order paper och skicka det",
    "leading": "look at paper and send it",
    "placing": "order it and put paper down",
    "alone": "order paper and push",
    "letter": "order paper, text: send pens",
    "wished": "order paper and a draft to Bo",
    "ending": "order paper so i can print",
    "manner": "order paper, politely",
    "turning": "order paper but do not bend it",
    "turning.not": "order nothing but paper",
    "joining": "order paper and do not bend it",
    "joining.more": "order paper and just do not bend it",
    "opening": "order paper. and do not bend it",
    "closing": "order paper. send it and",
    "forbids": "order paper and do not bend it",
    "forbids.first": "order paper and den aldrig viks",
    "wants": "order paper and i want pens",
    "tells": "order paper, the walls are blue",
    "also": "4 boxes of paper. I want pens too",
    "questions": "what is paper, order pens",
    "nouns.behind": "order paper. send is broken",
    "by.not": "order paper by hand",
    "adverbs.behind": "order paper weekly at noon",
    "reasons": "order paper, otherwise it must wait",
    "asides": "order paper, nobody uses pens",
    "asides.persons": "order paper, we never do",
    "asides.still": "order paper, we never need pens",
    "described": "order that paper we never use",
    "described.who": "order that paper we never use",
    "twin": "order a copy of paper, not the original",
    "twin.kept": "order a copy of paper, not the original",
    "asides.not": "order paper, we never require pens",
    "asking": "check if paper is blue",
    "asking.if": "check if paper is blue",
    "duties": "i must order paper",
    "persons": "i must order paper",
    "seeking": "sök paper efter namn",
    "manner.beside": "order paper, stay politely",
}
# For each list of words by which a wish speaks of an earlier one what it is read in.
SPOKEN_BY = {
    "pointing": "copy it",
    "pointing.owners": "remind me about their letter",
    "pointing.others": "ta bort den ena",
    "pointing.things": "copy the files to archive",
    "pointing.not": "copy the files in docs",
    "into.1": "show what is in it",
    "into.2": "copy a.txt there",
    "into.3": "visa vad som ligger i den",
    "into.4": "kopiera a.txt dit",
    "into.file": "take off bananas",
    "pointing.number": "write the sum in a.md",
    "pointing.names": "write their names in a.md",
    "pointing.answers": "write the sum in a.md",
    "thing.folder": "zip that folder as x.zip",
    "thing.folder.bare": "zip the folder as x.zip",
    "thing.file": "sort the new file",
    "thing.file.bare": "sort the copy",
    "thing.behind": "zip the folder as x.zip",
    "thing.other": "zip that folder named x",
    "thing.ending": "delete the md",
    "pointing.alone": "zip the two",
    "pointing.asked": "tell me what they come to",
    "pointing.originals": "delete the originals",
    "turned.verb": "den trasiga kan du slänga",
    "turned.you": "biljetten flyttar du dit",
    "turned.not": "which can be deleted",
    "turned.1": "the copy can be deleted",
    "turned.2": "kopian kan tas bort",
    "adverbs.wish": "lägg sedan ett ark i x",
    "adverbs.front": "at the end add tea",
    "adverbs.then": "om de går igenom så",
    "noun.files": "copy them",
    "noun.file": "copy it",
    "noun.text": "copy it",
    "noun.rows": "copy it",
    "noun.list": "copy it",
    "noun.number": "copy it",
    "noun.plural": "copy them",
    "noun.swedish": "kopiera dem",
    "when.more": "if there are more than 3",
    "when.least": "if there are at least 3",
    "when.less": "if there are fewer than 3",
    "when.most": "if there are at most 3",
    "when.exactly": "if there are exactly 3",
    "when.any": "if there are any",
    "when.none": "if there are none",
    "when.passed": "if they pass",
    "when.failed": "if it fails",
    "when.contains": "if it mentions rain",
}


def spoken(setting: str, text: str) -> Look:
    """A look at what is read in words that speak of what an earlier wish gave."""
    kind = setting.partition(".")[2]
    there = {"files": "csv", "file": ""} if kind in ("plural", "swedish") else {kind: "csv"}

    def look(kit: Kit, core: Core) -> object:
        words = PointingWords.of(core["coverage"])
        named = words.named(text, there if setting.startswith("noun.") else {"text": ""})
        into, adverb = words.into(text, "x", "x.md"), words.adverb.match(text)
        told = words.within, words.commanded(text), words.with_ending(text, ["x.md"]), words.inverted(text)
        asked = words.asked.search(text) is not None, words.owned.search(text) is not None
        return list(words.found(text)), words.condition(text), named, into, told, str(adverb), asked

    return look


# For each list of words by which a wish points at what the clause before it speaks of, where that is read.
ABOUT_BY = {
    "topic.there": "there is a song in x, delete it",
    "topic.says": "song.mp3 is old, delete it",
    "topic.says.not": "the song is sick. delete it",
    "topic.whole": "The song is old. Note it",
    "topic.has": "I have fixed the song. delete it",
    "topic.adverbs": "I bought milk already. delete it",
    "topic.not": "my song is old. delete it",
    "topic.at": "The song is in x. delete it",
    "topic.behind": "The song is old. take it off",
    "topic.named": "the songs, delete them",
    "topic.particles": "The song is old. get rid of it",
    "topic.last": "The song is old. throw it away",
    "topic.points": "The song is old. delete it",
    "topic.takes": "take the songs, delete them",
    "bare.verb": "honey on the list and send it",
    "bare.verb.sv": "honung på listan",
    "bare.at": "honey on the list and send it",
    "bare.list": "honey on the list and send it",
    "bare.list.sv": "honung på listan",
    "bare.end": "honey on the list please",
    "bare.not": "each song on the list",
    "recast.1": "make a x.zip of it",
    "recast.2": "gör en x.zip av den",
    "recast.3": "skriv sen till te längst ner",
}


def about(text: str) -> Look:
    """A look at a goal whose wish points at what the clause before it speaks of."""

    def look(kit: Kit, core: Core) -> object:
        return with_topic(Clauses(text, None, Rules.of(core).coverage), topics_of(core), lambda path: False)

    return look


# For each list of words by which a goal takes back what it said where that is read.
TAKEN_BACK_BY = {
    "slips": "send it to Bo, no wait, to Kim",
    "slips.alone": "send it to Bo, or rather, to Kim",
    "slips.turned": "send Bo a mail that says on Friday, no, make that Sunday",
    "slips.bare": "send it to Bo, no, to Kim",
    "slips.not": "send Bo a mail that says at noon, no wait, at one",
}


def taken_back(text: str) -> Look:
    """A look at a goal that takes back what it said."""
    return lambda kit, core: without_slips(Clauses(text, None, Rules.of(core).coverage), SlipWords.of(core))


# The same of what is said in the text that fills a slot, and so of the text alone.
SAID_IN_A_TEXT = {
    "each": "paper every monday",
    "periods": "paper every monday",
    "repeats": "paper as soon as possible",
    "adverbs": "paper weekly",
    "purpose": "paper to never bend",
}
# For each list of words around limits of the module `constraint` what makes something of it.
AROUND_LIMITS = {
    "not": goal("order paper not in Sweden", item="paper", jurisdiction_allow="Sweden"),
    "negations": goal("order paper without Sweden", item="paper", jurisdiction_allow="Sweden"),
    "outside": goal("order paper outside Sweden", item="paper", jurisdiction_allow="Sweden"),
    "only": goal("order paper solely from Sweden", item="paper", jurisdiction_deny="Sweden"),
    "over": goal("order paper for over $50", item="paper", budget="$50"),
    "ranges": goal("order paper for between $50 now", item="paper", budget="$50"),
    "least": goal("order paper for at least $50", item="paper", budget="$50"),
    "most": goal("order paper of at most 90 % recall", item="paper", quality="90 % recall"),
    "behind.least": goal("order paper for $50 or more", item="paper", budget="$50"),
    "behind": goal("order paper for $50 only", item="paper", budget="$50"),
    "leads": goal("order paper for at most $50", item="paper for", budget="$50"),
    "leads.text": goal("order paper hosted in Sweden", item="paper hosted", jurisdiction_allow="Sweden"),
    "leads.bound": goal("order paper, must be under $50", item="paper", budget="$50"),
    "relative": goal("order paper that never bends", item="paper that never bends"),
    "rates": goal("order paper for $50 per month", item="paper", budget="$50"),
    "begins": goal("order paper from Friday", item="paper", deadline="Friday"),
    "later": goal("order paper after Friday", item="paper", deadline="Friday"),
    "earlier": goal("order paper before Friday", item="paper", deadline="Friday"),
    "units": goal("order paper two days before Friday", item="paper", deadline="Friday"),
    "behind.begins": goal("order paper Friday or later", item="paper", deadline="Friday"),
}


def handed_on(text: str, about: str) -> Look:
    """A look at what comes of a goal that is for the skill which takes any."""
    model = Scripted(skill="general", verb="acquire", says={"slot.object": about})
    return lambda kit, core: seen(kit.run(core, text, model, skills=find_skills(skill_folders(None)[:1])))


def wants_signature(kit: Kit, core: Core) -> object:
    """Whether words want a signature, and stay a question where a plan can be undone."""
    return Rules.of(core).coverage.signing.search("Eve signs it") is not None


def noted(kit: Kit, core: Core) -> object:
    """Where a further wish stands behind a goal that is taken as it was said."""
    skill = find_skills(skill_folders(None)).get("table-ask")
    return Clauses("add up x.csv and add the sum to a.md", skill, Rules.of(core).coverage).wishes([])


def gone_on(kit: Kit, core: Core) -> object:
    """Whether what goes on with a question is a further wish."""
    skill, words = find_skills(skill_folders(None)).get("table-ask"), Rules.of(core).coverage
    goals = ("add up x.csv and tell me how much", "add up the fees, read x.csv")
    return [Clauses(one, skill, words).wishes([]) for one in goals]


def summed_up(kit: Kit, core: Core) -> object:
    """Whether a first clause only sums up what the next says."""
    return "tidy" in Rules.of(core).coverage.summing


def saved(kit: Kit, core: Core) -> object:
    """Where a further wish stands behind a goal that is taken as it was said and makes a file."""
    skill = find_skills(skill_folders(None)).get("table-ask")
    words = Rules.of(core).coverage
    return Clauses("take the rows of Bo from x.csv into bo.csv and tell me how many", skill, words).wishes([])


def fronted(text: str) -> Look:
    """A look at a wish that says first where it is done."""
    return lambda kit, core: Rules.of(core).coverage.commanded(text)


def sent_too(kit: Kit, core: Core) -> object:
    """What comes of a goal of two verbs for a skill that says both of itself."""
    folder = kit.folder / f"both{next(kit.made)}" / "order"
    folder.mkdir(parents=True)
    (folder / "SKILL.mtx").write_text(ORDER.replace("order paper", "order paper and send it"))
    model = Scripted(says={"slot.item": "paper"}, quotes=True)
    return seen(kit.run(core, "order paper and send it", model, skills=find_skills([folder.parent])))


TABLE: list[tuple[Edit, Look, tuple[Edit, ...]]] = [
    *((("coverage", setting, '"zzz"'), goal(text, item="paper"), ()) for setting, text in COVERED_BY.items()),
    *(
        (("coverage", setting, '"zzz"'), goal(f"order {text}", item=text), ())
        for setting, text in SAID_IN_A_TEXT.items()
    ),
    *((("constraint", setting, '"zzz"'), look, ()) for setting, look in AROUND_LIMITS.items()),
    *((("coverage", setting, '"zzz"'), spoken(setting, text), ()) for setting, text in SPOKEN_BY.items()),
    *((("coverage", setting, '"zzz"'), about(text), ()) for setting, text in ABOUT_BY.items()),
    *((("coverage", setting, '"zzz"'), taken_back(text), ()) for setting, text in TAKEN_BACK_BY.items()),
    (("constraint", "behind.most", '"zzz"'), handed_on("order paper 50 tops", "paper 50 tops"), ()),
    (("coverage", "numerals", '"zzz"'), handed_on("order paper at most two", "paper at most two"), ()),
    (("coverage", "adding", '"zzz"'), sent_too, ()),
    (("coverage", "goes.on", '"zzz"'), gone_on, ()),
    (("coverage", "goes.on.in", '"zzz"'), gone_on, ()),
    (("coverage", "noting", '"zzz"'), noted, ()),
    (("coverage", "summing", '"zzz"'), summed_up, ()),
    (("coverage", "signing", '"zzz"'), wants_signature, ()),
    *((("coverage", setting, '"zzz"'), saved, ()) for setting in ("saves", "saves.tell")),
    (("coverage", "front", '"zzz"'), fronted("on the second page swap a for b"), ()),
    (("coverage", "front.nouns", '"zzz"'), fronted("on the shopping list put butter"), ()),
    (("promise", "question.second", '"So?"'), planned("order paper and send it"), ()),
    (("promise", "question.open", '"So?"'), planned("order paper every monday"), ()),
    (("constraint", "second preference", "preference"), goal("order paper and send it", item="paper"), ()),
    (
        ("constraint", "threshold.guess", "0.0"),
        goal("order paper for a fortune", item="paper", budget="a fortune", certainty={"budget": 0.49}),
        (),
    ),
    (
        ("constraint", "approximate.phrases", '"zzz"'),
        goal("order paper for about $50", item="paper", budget="$50"),
        (),
    ),
    *((("promise", f"option.{name}", '"so"'), unchecked, ()) for name in ("sign", "wish", "drop")),
    (("promise", "question.unchecked", '"So?"'), unchecked, ()),
    (("promise", "question.signer", '"So?"'), signer, ()),
    (("predicate", "oneself", '"Kim"'), signer, ()),
    *(
        (("predicate", f"command.{name}", '"matrix://tool/process/tests@1.0.0: zzz"'), ran(words_), ())
        for name, words_ in {"tests": "the tests pass", "lint": "the linter passes"}.items()
    ),
    (("predicate", "named.command", '"zzz"'), declared, ()),
    (("constraint", "expiry.words", '"zzz"'), goal("order paper, valid until whenever", item="paper"), ()),
    (
        ("constraint", "question.expires_at", '"Until?"'),
        goal("order paper, valid until whenever", item="paper"),
        (),
    ),
    *((("promise", setting, other(setting)), kept(rule), ()) for setting, rule in KEPT_BY.items()),
    (("pipeline", "classify prefetch extract", "classify extract"), remembered, ()),
    (("pipeline", "extract resolve score", "extract score"), known, ()),
    (("pipeline", "max_prose=8192", "max_prose=20"), long, ()),
    (("pipeline", "wall_clock_s=5", "wall_clock_s=1"), late, ()),
    (("pipeline", "chat_wall_clock_s=120", "chat_wall_clock_s=1"), late, ()),
    (("pipeline", "rounds=3", "rounds=1"), rounds, ()),
    (("pipeline", "rounds=3", "rounds=0"), rounds, ()),
    (
        ("pipeline", "candidates=8", "candidates=1"),
        words("order paper"),
        (*NO_WORDS, ("pipeline", "whole=16", "whole=1")),
    ),
    (
        ("pipeline", "whole=16", "whole=1"),
        words("order paper"),
        (*NO_WORDS, ("pipeline", "candidates=8", "candidates=1")),
    ),
    (("pipeline", "nearest=3", "nearest=1"), none_fits, ()),
    (("pipeline", "bundle_tokens=512", "bundle_tokens=20"), remembered, ()),
    (("pipeline", "reason=ambiguous_request", "reason=unknown_information"), rounds, ()),
    (
        ("pipeline", "reason=timeout", "reason=external_failure"),
        late,
        (("pipeline", "clock_s=5", "clock_s=1"),),
    ),
    (("pipeline", "fail\n  reason=out_of_scope", "clarify\n  reason=out_of_scope"), none_fits, ()),
    (("pipeline", "reason=out_of_scope", "reason=policy_violation"), none_fits, ()),
    (("verb", "weight.words", "0"), half, NO_WORDS[1:]),
    (("verb", "weight.example", "0"), half, NO_WORDS[:1]),
    (("verb", "weight.verb", "0"), goal("order paper", item="paper", sure=0.5), NO_WORDS),
    (("verb", "weight.familiar", "0"), taught, ()),
    (("verb", "margin.familiar", "0"), taught, ()),
    (("verb", "sharpness.familiar", "1"), taught, ()),
    (("verb", "threshold.certain", "0.6"), unsure, ()),
    (("verb", *BLOCKING), unsure, ()),
    (
        ("verb", "What should happen:", "Which?"),
        unsure,
        (("verb", *BLOCKING),),
    ),
    (("verb", "match.verb", "3"), words("order paper"), NO_WORDS),
    (("verb", "match.breadth", "4"), words("order paper"), NO_WORDS),
    (("verb", "match.none", "9"), words("order paper"), NO_WORDS),
    (("verb", "match.sharpness", "0.1"), words("order paper"), NO_WORDS),
    (("verb", "share.first", "0.5"), words("order paper"), ()),
    (("verb", "share.heard", "0.5"), words("the paper to order"), ()),
    (("verb", "share.akin", "0.5"), words("sheep"), ()),
    (("verb", "find analyze monitor", "find analyze"), words("sheep"), ()),
    (("verb", "build modify deliver", "build modify"), words("boats"), ()),
    (("verb", "share.guessed", "0.05"), words("paper from suppliers"), ()),
    *(
        (("verb", f'cue.{verb}="', f'cue.{verb}="paper '), words("orders of paper"), ())
        for verb in ("acquire", "negotiate")
    ),
    (("verb", 'cue.find="', 'cue.find="facts '), words("facts"), ()),
    *(
        (("verb", f'cue.{verb}="', f'cue.{verb}="sheep '), words("sheep"), ())
        for verb in ("analyze", "monitor")
    ),
    *(
        (("verb", f'cue.{verb}="', f'cue.{verb}="boats '), words("boats"), ())
        for verb in ("build", "deliver")
    ),
    (("confidence", "weight.skill=1.0", "weight.skill=9"), unsure, NO_WORDS),
    (("confidence", "weight.verb=0.5", "weight.verb=0.1"), unsure, ()),
    (("confidence", "weight.slots=1.0", "weight.slots=9"), unsure, ()),
    (("confidence", "weight.constraints=0.5", "weight.constraints=9"), wish, ()),
    (
        ("confidence", "weight.rest=1.0", "weight.rest=0"),
        goal("order paper soon", item="paper", spans=(Span("rest", "soon", 12, 16, 0.6),)),
        (),
    ),
    (("confidence", "blocking=0.50", "blocking=0.1"), nothing_said, ()),
    (("confidence", "preferred=0.90", "preferred=0.1"), unsure, ()),
    (("confidence", "optional=0.98", "optional=0.1"), unsure, (("verb", "ain=preferred", "ain=optional"),)),
    (("confidence", "confidence<0.41", "confidence<0.99"), unsure, ()),
    (("pipeline", "this is a question", "you ask"), goal("why?", skill=None, verb="", kind="question"), ()),
    (("pipeline", "nothing is wanted here", "fine"), goal("hello", skill=None, verb="", kind="chat"), ()),
    (("confidence", "confidence<0.90", "confidence<0.50"), unsure, ()),
    (("confidence", "check it before you accept", "look"), unsure, ()),
    (
        ("confidence", "Which of these is meant?", "Which?"),
        goal("granite", item="granite", sure=0.4),
        NO_WORDS,
    ),
    (("constraint", "rule ", ""), everything, ()),
    (("constraint", " preference", ""), everything, ()),
    (("constraint", "ideally | ", ""), wish, ()),
    (("constraint", "soft.not=som", "soft.not=zzz"), anywhere, ()),
    (
        ("constraint", "severity.unread=preferred", "severity.unread=optional"),
        goal("order paper, ideally for 500 pesos", item="paper", budget="500 pesos"),
        (),
    ),
    (("constraint", "hard_unread=blocking", "hard_unread=optional"), dear, ()),
    (("constraint", "How much may it cost", "How dear"), dear, ()),
    (
        ("constraint", "By when must", "When"),
        goal("order paper soonish", item="paper", deadline="soonish"),
        (),
    ),
    (
        ("constraint", "In which countries or regions only?", "Where?"),
        goal("order paper only in Narnia", item="paper", jurisdiction_allow="Narnia"),
        (),
    ),
    (
        ("constraint", "In which countries or regions not?", "Where?"),
        goal("order paper not in Narnia", item="paper", jurisdiction_deny="Narnia"),
        (),
    ),
    (
        ("constraint", "What must be reached at least?", "How good?"),
        goal("order excellent paper", item="paper", quality="excellent"),
        (),
    ),
    (("predicate", "delivered signed_off", "signed_off"), everything, ()),
    *(
        (("constraint", f'question.{kind}="', f'question.{kind}="So: '), doubted(kind), ())
        for kind in ("recurrence", "preference")
    ),
    *(
        (("predicate", f'question.{kind}="', f'question.{kind}="So: '), doubted(kind), ())
        for kind in ("delivered", "signed_off", "external", "attestation")
    ),
    *(
        (("verb", f'say.{verb}="', f'say.{verb}="well, '), which(verb), (("verb", *BLOCKING),))
        for verb in VERBS
    ),
    (("frame", "required_missing=blocking", "required_missing=optional"), nothing_said, ()),
    (
        ("frame", "required_unread=blocking", "required_unread=optional"),
        goal("count many at Acme", facts=["Acme"], **{**sheep, "number": "many"}),
        (),
    ),
    (
        ("frame", "optional_unread=preferred", "optional_unread=blocking"),
        goal("order many paper", item="paper", count="many"),
        (),
    ),
    (("frame", "several=preferred", "several=blocking"), several, ()),
    (("frame", "weight.patterns", "0"), goal("order 7 paper", item="paper"), ()),
    (
        ("frame", "threshold.unnamed", "0.2"),
        goal("order paper", item="paper", spans=(Span("slot.speed", "express", None, None, 0.5),)),
        (),
    ),
    (
        ("frame", "You mark in a goal what fills each slot.", "Mark."),
        goal("find keys", skill="look", verb="find", what="keys"),
        (),
    ),
    (("frame", "more.phrases", "furthermore"), corrected("also blue"), ()),
    (("frame", "less.phrases", "minus"), corrected("drop red"), ()),
    (
        ("pre_resolve", "candidates=5", "candidates=1"),
        goal("count 7 at Acme", facts=["Acme one", "Acme two"], **sheep),
        (),
    ),
    (("pre_resolve", "options=5", "options=1"), two_known, ()),
    (
        ("pre_resolve", "required_not_found=blocking", "required_not_found=optional"),
        goal("count 7 at Acme", facts=["other"], **sheep),
        (),
    ),
    (
        ("pre_resolve", "optional_not_found=preferred", "optional_not_found=blocking"),
        goal("order paper from Acme", facts=["other"], **acme),
        (),
    ),
    (("pre_resolve", "several=preferred", "several=blocking"), two_known, ()),
    (
        ("unknown", "questions=5", "questions=1"),
        goal("order paper soonish for 500 pesos", item="paper", deadline="soonish", budget="500 pesos"),
        (),
    ),
    (
        ("unknown", "What should it be?", "What?"),
        goal("order paper from Acme", facts=["other"], **acme),
        (("pre_resolve", "optional_not_found=preferred", "optional_not_found=blocking"),),
    ),
]


@pytest.mark.parametrize(("edit", "look", "base"), TABLE, ids=[f"{row[0][0]}: {row[0][1]}" for row in TABLE])
def test_a_change_of_a_core_module_changes_what_is_done_and_the_digest(
    kit: Kit, edit: Edit, look: Look, base: tuple[Edit, ...]
) -> None:
    before, after = kit.core(*base), kit.core(*base, edit)
    assert look(kit, before) != look(kit, after)
    skill = kit.skills.by_id["order"]
    assert mtx_digest(skill, before) != mtx_digest(skill, after)


def test_every_setting_of_every_core_module_is_in_the_table_above(kit: Kit) -> None:
    shipped = kit.core()
    covered: set[str] = set()
    for edit, _, base in TABLE:
        before, after = kit.core(*base), kit.core(*base, edit)
        for name, module in before.modules.items():
            now = after[name].settings
            covered |= {f"{name}.{key}" for key, text in module.settings.items() if now.get(key) != text}
    alike = ("modify", "schedule", "delegate")  # as the cues of other verbs
    all_settings = {
        f"{name}.{key}"
        for name, one in shipped.modules.items()
        for key in one.settings
        if key not in IDENTITY
    }
    # A model that writes: test_written_plans; a run that fails: test_replans; whom steps are asked of:
    # test_cli_steps; fixed phrases: test_fixed_phrases; what nothing here can do: test_everyday_acts.
    elsewhere = {"pipeline.plan.nodes", "pipeline.plan.repairs", "pipeline.replans"}
    elsewhere |= {"verb.weight.phrase", "verb.before.phrase", "verb.between.phrase"}
    elsewhere |= {
        one for one in all_settings if one.startswith(("step.", "pipeline.beyond.", "pipeline.cannot."))
    }
    assert all_settings - covered == {f"verb.cue.{verb}" for verb in alike} | elsewhere


class Watched(dict[str, str]):
    """Settings that remember which of them were read."""

    def __init__(self, settings: Mapping[str, str]) -> None:
        super().__init__(settings)
        self.read: set[str] = set()

    def __getitem__(self, key: str) -> str:
        self.read.add(key)
        return super().__getitem__(key)

    def get(self, key: str, default: Any = None) -> Any:
        self.read.add(key)
        return super().get(key, default)

    def items(self) -> Any:
        for key in self:
            yield key, self[key]


def test_nothing_in_a_core_module_is_read_by_nobody(home: Home, all_skills: Skills) -> None:
    watched = {name: Watched(module.settings) for name, module in load_core().modules.items()}

    def module(name: str, one: CoreModule) -> CoreModule:
        class Families(CoreModule):
            def family(self, prefix: str) -> dict[str, str]:  # reads only what it gives
                start = f"{prefix}."
                return {
                    key[len(start) :]: self.settings[key] for key in watched[name] if key.startswith(start)
                }

        return Families(one.name, one.path, one.file, one.digest, watched[name])

    core = Core({name: module(name, one) for name, one in load_core().modules.items()})
    Pipeline(home, all_skills, core, None, lambda: 0.0)
    PatternMatcher(core)
    StepRules.of(core)
    unread = {
        f"{name}.{key}" for name, one in watched.items() for key in one if key not in one.read | IDENTITY
    }
    assert unread == set()


@pytest.mark.parametrize(
    ("order", "told"),
    [
        ("normalise classify extract score resolve", "no score after it: nothing reads addresses"),
        ("normalise extract classify score", "extract without classify before it: it needs a skill"),
        ("classify normalise extract score", "classify without normalise before it: it needs a goal"),
        ("normalise classify extract prefetch score", "no extract after it: nothing reads memories"),
        ("normalise classify extract", "does not end with score"),
        ("normalise classify extract score score", "names 'score' twice"),
        ("normalise clasify extract score", "names 'clasify'"),
        ("", "does not end with score"),
    ],
)
def test_an_order_of_stages_that_cannot_be_is_told_with_its_line(
    kit: Kit, home: Home, order: str, told: str
) -> None:
    core = kit.core(("pipeline", "normalise classify prefetch extract resolve score", order))
    with pytest.raises(SkillError) as refused:
        Pipeline(home, kit.skills, core, None, lambda: 0.0)
    assert refused.value.code == "BAD_SETTING"
    assert told in refused.value.message
    path = core["pipeline"].path
    line = 1 + path.read_text().split("\n").index(f'stages="{order}"')
    assert refused.value.place == f"{path}:{line}:1"


@pytest.mark.parametrize(
    ("edit", "told"),
    [
        (("pipeline", "rounds=3", "rounds=9"), "limits.rounds=9 of core module pipeline is not from 0 to 3"),
        (("pipeline", "max_prose=8192", "max_prose=many"), "is no whole number"),
        (("pipeline", "candidates=8", "candidates=0"), "is not from 1"),
        (("pipeline", "fail\n  reason=timeout", "clarify\n  reason=timeout"), "cannot be answered with"),
        (("pipeline", "\n  reason=timeout", ""), "out_of_time of core module pipeline has no reason"),
        (("confidence", "factor.blocking=0.50", "factor.blocking=5"), "is not from 0 to 1"),
        (("confidence", "weight.skill=1.0", "weight.skill=-1"), "is not from 0"),
        (("confidence", "weight.skill=1.0", "weight.skill=nan"), "is not from 0"),
        (("frame", "required_missing=blocking", "required_missing=bloking"), "is none of blocking"),
        (("constraint", "kinds=\"budget", "kinds=\"bugdet"), "names 'bugdet'"),
        (("promise", "rule.push", '"no tool push: zzz"'), "keeps 'no tool push', which is no rule"),
        (("promise", "rule.push", '"read only"'), "has no words"),
        (("promise", "rule.push", '"read only: <nver> push"'), "names <nver>"),
    ],
)  # fmt: skip
def test_a_setting_that_cannot_be_used_is_told(kit: Kit, home: Home, edit: Edit, told: str) -> None:
    core = kit.core(edit)
    with pytest.raises(SkillError) as refused:
        Pipeline(home, kit.skills, core, None, lambda: 0.0)
    assert refused.value.code == "BAD_SETTING"
    assert told in refused.value.message
    assert refused.value.place.startswith(f"{core[edit[0]].path}:")


@pytest.mark.parametrize(
    ("edit", "told"),
    [
        (("pipeline", "limits.rounds=3\n", ""), "has no setting limits.rounds"),
        (("pre_resolve", "severity.several=preferred\n", ""), "has no setting severity.several"),
        (("pipeline", "out_of_time\n", "out_of_times\n"), "does not say what follows when out_of_time"),
    ],
)
def test_a_setting_that_is_missing_is_told(kit: Kit, home: Home, edit: Edit, told: str) -> None:
    core = kit.core(edit)
    with pytest.raises(SkillError) as refused:
        Pipeline(home, kit.skills, core, None, lambda: 0.0)
    assert refused.value.code == "NO_SETTING"
    assert told in refused.value.message
    assert refused.value.place == str(core[edit[0]].path)


# ---- a file of before, in a home: what it lacks is read of the shipped one ----


def own(home: Home, name: str, *lacks: str) -> Path:
    """A home's own module: the shipped one without some settings."""
    text = core_modules()[name].read_text()
    for key in lacks:
        text, gone = re.subn(rf"(?m)^{re.escape(key)}=.*\n", "", text)
        assert gone, key
    file = home.path / "core" / f"{name}.mtx"
    file.parent.mkdir(exist_ok=True)
    file.write_text(text)
    return file


def test_lists_that_a_file_of_before_lacks_are_the_shipped_ones(
    kit: Kit, home: Home, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    goal = "look up the ferry. Never wake the captain"
    shipped = load_core()
    lists = [key for key in shipped["coverage"].settings if key not in IDENTITY and key != "filler"]
    own(home, "coverage", *lists)
    own(home, "constraint", "soft.phrases", "approximate.phrases")
    core = core_of(home.path)
    assert set(core["coverage"].lacking) == set(lists)
    assert core["coverage"].text("blocks.negation") == shipped["coverage"].text("blocks.negation")
    assert seen(kit.run(core, goal)) == seen(kit.run(shipped, goal))
    done = mcl.compile_goal("make a note that the ship sails", ai=False, home=home)
    assert isinstance(done, Compiled)
    home.close()
    monkeypatch.setenv("MCL_HOME", str(home.path))
    assert main(["skill", "list"]) == 0
    told = " ".join(capsys.readouterr().out.split())
    assert "but for what it lacks: soft.phrases, approximate.phrases" in told


def test_what_the_file_says_itself_counts_and_a_family_of_its_own_is_whole(home: Home) -> None:
    own(home, "verb", "cue.delegate", "say.delegate")
    own(home, "pipeline", "said.question", "said.chat", "limits.rounds")
    core = core_of(home.path)
    assert "delegate" not in core["verb"].family("cue"), "who leaves one out does not want it"
    assert core["pipeline"].family("said") == load_core()["pipeline"].family("said")
    assert core["pipeline"].whole("limits.rounds") == 3
    text = own(home, "pipeline", "limits.rounds").read_text()
    (home.path / "core" / "pipeline.mtx").write_text(text.replace("\nout_of_time\n", "\nslow\n"))
    assert core_of(home.path)["pipeline"].failure("out_of_time").name == "out_of_time"
    own(home, "step", "needs.write", "ask.write")
    assert StepRules.of(core_of(home.path)) == StepRules.of(load_core())


def test_where_it_reads_of_both_files_its_digest_is_of_both(home: Home, tmp_path: Path) -> None:
    shipped = load_core()
    own(home, "coverage")
    assert core_of(home.path).digests == shipped.digests, "a whole file counts by itself, as before"
    own(home, "coverage", "manner")
    lacking = core_of(home.path)["coverage"].digest
    other = tmp_path / "coverage.mtx"
    other.write_text(shipped["coverage"].path.read_text().replace('manner="', 'manner="proudly | '))
    newer = load_core(
        {**core_modules(), "coverage": other}, own={"coverage": home.path / "core/coverage.mtx"}
    )
    alone = load_core({**core_modules(), "coverage": home.path / "core/coverage.mtx"})
    assert len({lacking, newer["coverage"].digest, alone["coverage"].digest, shipped["coverage"].digest}) == 4


@pytest.mark.parametrize(
    ("setting", "phrases"),
    [
        ("two things | so", ("two things", "so")),
        ("(two | a) (job | odd  job) |so", ("two job", "two odd job", "a job", "a odd job", "so")),
        ("don't forget ( | to) | bye", ("don't forget", "don't forget to", "bye")),
        ("(1) | the (2) | :) | ( | it", ("(1)", "the (2)", ":)", "(", "it")),
        (" | ", ()),
    ],
)  # fmt: skip
def test_a_phrase_with_brackets_is_each_way_to_say_it(
    kit: Kit, setting: str, phrases: tuple[str, ...]
) -> None:
    assert kit.core(("coverage", "reasons", setting))["coverage"].phrases("reasons") == phrases


def test_a_mistake_in_the_file_is_told_at_its_place(kit: Kit, home: Home) -> None:
    file = own(home, "pipeline", "limits.max_prose")
    file.write_text(file.read_text().replace("limits.rounds=3", "limits.rounds=many"))
    with pytest.raises(SkillError) as refused:
        Pipeline(home, kit.skills, core_of(home.path), None, lambda: 0.0)
    assert refused.value.code == "BAD_SETTING"
    assert refused.value.place.startswith(f"{file}:")


def test_the_question_which_skill_is_meant_is_answered_with_one(kit: Kit) -> None:
    core = kit.core(("pipeline", "fail\n  reason=out_of_scope", "clarify\n  reason=out_of_scope"))
    with kit.home() as home:
        asked = compile_goal(
            "sing keys", home=home, skills=kit.skills, model=Scripted(skill=None, verb=""), core=core
        )
        assert isinstance(asked, Clarify)
        assert (asked.questions[0].field, set(asked.questions[0].options)) == (
            "skill",
            {"look", "count", "craft"},
        )
        assert home.journal.view(asked.intent.id).state == "clarifying"
        outcome = recompile_with_answers(
            asked.intent.id,
            {"u1": "look"},
            home=home,
            skills=kit.skills,
            load_model=lambda: Scripted(says={"slot.what": "keys"}),
            core=core,
        )
    assert isinstance(outcome, Compiled)
    assert outcome.intent.compile_metadata is not None
    assert outcome.intent.compile_metadata.skill_id == "look"


def test_core_modules_of_a_home_are_told_with_the_skills(
    kit: Kit, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with kit.home() as home:
        path = home.path / "core" / "unknown.mtx"
        path.parent.mkdir()
        path.write_text(core_modules()["unknown"].read_text())
        monkeypatch.setenv("MCL_HOME", str(home.path))
        assert main(["skill", "list", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["core"] == {"unknown": str(path)}


def test_a_home_may_have_core_modules_of_its_own(kit: Kit) -> None:
    with kit.home() as home:
        own = home.path / "core"
        own.mkdir()
        text = core_modules()["confidence"].read_text()
        (own / "confidence.mtx").write_text(text.replace("confidence<0.41", "confidence<0.999"))
        model = Scripted(says={"slot.item": "paper"})
        outcome = compile_goal("order paper", home=home, skills=kit.skills, model=model)
        assert isinstance(outcome, Clarify)
        assert core_of(home.path)["confidence"].path == own / "confidence.mtx"
        assert core_of(home.path).digest != load_core().digest
        (own / "confidence.mtx").rename(own / "confidense.mtx")
        with pytest.raises(SkillError) as refused:
            core_of(home.path)
    assert (refused.value.code, refused.value.fix) == ("CORE_UNKNOWN", 'did you mean "confidence"?')


def test_replay_says_that_a_core_module_reads_otherwise_now(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MCL_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    outcome = mcl.compile_goal("list all markdown files in docs", ai=False)
    assert not isinstance(outcome, mcl.Refused)
    if isinstance(outcome, mcl.Clarify):
        outcome = mcl.answer(outcome.intent.id, {q.unknown_id: "docs" for q in outcome.questions}, ai=False)
    assert isinstance(outcome, mcl.Compiled)
    assert mcl.replay(outcome.intent.id).same
    own = tmp_path / "home" / "core"
    own.mkdir()
    text = core_modules()["confidence"].read_text()
    (own / "confidence.mtx").write_text(f"# the same, but for this comment\n{text}")
    assert mcl.replay(outcome.intent.id).same
    (own / "confidence.mtx").write_text(text.replace("weight.skill=1.0", "weight.skill=3.0"))
    verdicts = {item.name: item.verdict for item in mcl.replay(outcome.intent.id).items}
    assert (verdicts["skill"], verdicts["bytes"], verdicts["model"]) == ("different", "different", "same")
