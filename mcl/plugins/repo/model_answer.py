"""A model asked for a contract. What it says is read and judged like a stranger's, whatever wrote it."""

import functools
import json
import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from mcl.language.bm25 import Examples
from mcl.model.answers import place_of, shown, span_rules
from mcl.model.protocol import (
    Candidate,
    Choice,
    ExtractForm,
    Model,
    SlotForm,
    Writer,
    WritingRequest,
    literal,
)
from mcl.model.skill_classifier import features
from mcl.plugins.repo.contract import (
    COMMANDS,
    REFUSE,
    IntentType,
    Language,
    RepoIntent,
    intent_types,
    read_contract,
    refusal,
)
from mcl.plugins.repo.matcher import LONGEST_PROMPT
from mcl.plugins.repo.wording import (
    NamedRepository,
    PromptWord,
    argument_of,
    begin,
    change_of,
    is_name,
    named_in,
    rules,
    text_of,
    trimmed,
    unknown_in,
    without,
    words_before,
    words_of,
)

# ---- How like a prompt is to the ways in which each intent is asked for, as data says them. Pure.

_LANGUAGES: tuple[Language, ...] = ("en", "sv")
_KINDS = {"REPO": "0repo", "FILE": "0name", "NAME": "0name", "COMMAND": "0command"}
_RUN_WEIGHT = 0.4  # of a run of characters; words and pairs of words count whole


def likeness(prompt: str, keys: Collection[str]) -> dict[str, float]:
    """Of each intent how like `prompt` is to what it is asked for with, 0 to 1. keys: known repositories."""
    of, examples = _examples()
    products, length = examples.products(_counted(prompt, keys))
    best = dict.fromkeys(intent_types(), 0.0)
    for name, product in zip(of, products, strict=True):
        best[name] = max(best[name], product / (length or 1.0))
    return best


@functools.cache
def asking_words() -> frozenset[str]:
    """The words that the examples ask with, case-folded: hardly the name of anything."""
    kinds = intent_types().values()
    texts = [text for kind in kinds for language in _LANGUAGES for text in kind.asked[language]]
    return frozenset(word.folded for text in texts for word in words_of(text) if word.text not in _KINDS)


@functools.cache
def _examples() -> tuple[tuple[str, ...], Examples[str]]:
    """The intent of each example, and the examples."""
    told = [
        (kind.name, text)
        for kind in intent_types().values()
        for language in _LANGUAGES
        for text in kind.asked[language]
    ]
    return tuple(name for name, _ in told), Examples([_counted(text, ()) for _, text in told])


def _counted(text: str, keys: Collection[str]) -> dict[str, float]:
    words = words_of(text)
    named = {one.word for one in named_in(words, keys)}
    first = begin(words, rules()[1])
    kinds = (_kind(word, known=place in named) for place, word in enumerate(words) if place >= first)
    said: list[str] = []
    for kind in kinds:
        if kind != "0name" or said[-1:] != ["0name"]:  # some words in quotes are one name
            said.append(kind)
    return {
        feature: 1.0 if _is_whole(feature) else _RUN_WEIGHT for feature in sorted(features(" ".join(said)))
    }


def _is_whole(feature: str) -> bool:
    """Whether it is a word or a pair of words; else a run of characters."""
    return feature.startswith("w") or " " in feature


def _kind(word: PromptWord, *, known: bool) -> str:
    if known:
        return "0repo"
    if word.text in _KINDS:
        return _KINDS[word.text]
    if word.folded in COMMANDS:
        return "0command"
    return "0name" if is_name(word) else word.folded


GRAMMAR = "repo_intent@1"
SURE = 0.5  # below this probability of its intent, a model's answer is not taken
SURE_TO_ACT = 0.7  # the same for what writes or runs something
UNSURE = "the model is not sure what is meant"

# How a model's share and likeness are weighed, and how like "none of these" every prompt is, and every one
# that is not about repositories: fitted on prompts that were kept apart from those that figures are told of.
_SHARE, _LIKENESS, _NONE, _STRANGE = 0.3, 12.0, 0.2, 0.5

_DENIED = 0.9  # how sure it must be of what only reads where the prompt has a "not"
_LONGEST_SPAN = 320  # characters
_MARKS = 512  # bytes of the longest answer that are neither a span nor a repository's key
_SYSTEM = (
    "Turn what a person asks of a code repository into one JSON document of a closed contract. Choose the "
    "one intent that does what is asked; copy its argument from the prompt, exactly as it stands there; repo "
    "is the repository that the prompt names, else null; message says in one short sentence what will be "
    "done. Choose refuse when no intent does what is asked, or when several things are asked."
)
_NAMES = {"REPO": "my-repo", "FILE": "src/main.py", "NAME": "some-name", "COMMAND": COMMANDS[0]}
_ASKS = {
    "query": "the text to search for",
    "branch": "the name of the new branch",
    "path": "the path of the file to open",
    "command": "the command of mqlaunch to run",
}


@dataclass(frozen=True)
class ContractAnswer:
    """What a model makes of a prompt. text: the document as it said it. probability: of its intent and
    argument, over what the grammar allowed. sure: whether the contract is what it said; else it refuses."""

    contract: RepoIntent
    text: str
    probability: float
    sure: bool


def ask(model: Model, prompt: str, keys: Collection[str]) -> ContractAnswer:
    """Ask a model what a prompt wants of a repository. keys: the known repositories.

    Where it is not sure, leaves out the repository that the prompt names, or would act in one that it does
    not name, the contract is a refusal: nothing is guessed. Raises ModelError.
    """
    if not shown(prompt).strip():
        return ContractAnswer(refusal("the prompt is empty"), "", 1.0, sure=True)
    if len(prompt) > LONGEST_PROMPT:
        why = f"the prompt has {len(prompt):,} characters, and {LONGEST_PROMPT:,} are read"
        return ContractAnswer(refusal(why), "", 1.0, sure=True)
    known = sorted(set(keys))
    if isinstance(model, Writer):
        said, probability = _written(model, prompt, known)
    else:
        said, probability = _tagged(model, prompt, known)
    contract = _with_own_words(read_contract(said), prompt)
    acts = intent_types()[contract.intent].effect not in ("read-only", "safety")
    if _is_elsewhere(contract, prompt, known, acts=acts) or probability < (SURE_TO_ACT if acts else SURE):
        return ContractAnswer(refusal(UNSURE), said, probability, sure=False)
    return ContractAnswer(contract, said, probability, sure=True)


def _is_elsewhere(contract: RepoIntent, prompt: str, keys: Sequence[str], *, acts: bool) -> bool:
    """Whether a contract is for another repository than the one that the prompt names, known or not; for one
    that it does not name at all, where it acts."""
    if contract.intent == REFUSE:
        return False
    words = words_of(prompt)
    named = {one.key for one in named_in(words, keys)}
    if len(named) == 1:
        return contract.repo not in named
    kind = intent_types()[contract.intent]
    if (
        contract.repo is None
        and kind.repo != "unused"
        and not kind.arguments
        and unknown_in(words, rules()[1])
    ):
        return True
    said = {word.folded for word in words}
    return acts and contract.repo is not None and contract.repo.casefold() not in said


def contract_rules(text: str, keys: Sequence[str]) -> str:
    """What a request adds to the grammar, but for COMMA and COLON. text: the prompt as shown."""
    known = [literal(json.dumps(key, ensure_ascii=False)) for key in keys]
    return f"key: {' | '.join([*known, literal('null')])}\n{span_rules(text, _LONGEST_SPAN)}"


def _with_own_words(contract: RepoIntent, prompt: str) -> RepoIntent:
    """The contract with the prompt's own characters where the model was shown their twins."""
    text = shown(prompt)
    if prompt == text or not contract.args:
        return contract
    places = ((place_of(text, one), one) for one in contract.args)
    args = tuple(prompt[start : start + len(one)] for start, one in places)
    return read_contract(replace(contract, args=args).text)


# ---- a model that writes ---------------------------------------------------------------------------------


def _written(model: Writer, prompt: str, keys: Sequence[str]) -> tuple[str, float]:
    text = shown(prompt)
    span = min(len(text), _LONGEST_SPAN)
    request = WritingRequest(
        grammar=GRAMMAR,
        rules=contract_rules(text, keys),
        system=_SYSTEM,
        fixed="\n".join(
            ["Intents:", *map(_line, intent_types().values()), _repositories(keys), "", "Prompt:"]
        ),
        user=f" {text}",
        most=_MARKS + 4 * span + max((len(json.dumps(key)) for key in keys), default=0),
    )
    written = model.write(request)
    data = written.text.encode()
    return written.text, written.probability(data.index(b'"intent":'), data.index(b'"message":'))


def _line(kind: IntentType) -> str:
    wants = ", ".join(f"args: {_ASKS[name]}" for name in kind.arguments)
    wants = f"command: {', '.join(COMMANDS)}" if kind.takes_command else wants
    examples = "".join(f'; e.g. "{_spelled(example)}"' for example in kind.asked["en"][:2])
    return f"- {kind.name}: {kind.description['en']}{f' ({wants})' if wants else ''}{examples}"


def _spelled(example: str) -> str:
    """An example with a name in place of each kind: a model that writes would copy the kinds."""
    return " ".join(_NAMES.get(word, word) for word in example.split())


def _repositories(keys: Sequence[str]) -> str:
    return f"Repositories: {', '.join(keys) or 'none'}"


# ---- a model that chooses and finds ----------------------------------------------------------------------


def _tagged(model: Model, prompt: str, keys: Sequence[str]) -> tuple[str, float]:
    """The document that a model's choice and what it finds make, in the grammar's language."""
    words, lists = words_of(prompt), rules()[1]
    named = named_in(words, keys)
    about = bool(named) or any(word.folded in lists.about or is_name(word) for word in words)
    like = likeness(prompt, keys)
    like[REFUSE] = max(like[REFUSE], _NONE if about else _STRANGE)
    shares = _shares(model.choose(shown(prompt), candidates()), like)
    best = max(shares, key=shares.__getitem__)
    kind = intent_types()[best]
    command: str | None = None
    args: tuple[str, ...] = ()
    unsure = len({one.key for one in named}) > 1 or best == REFUSE
    unsure = unsure or (bool(kind.names) and not any(word.folded.startswith(kind.names) for word in words))
    if kind.takes_command:
        commands = {word.folded for word in words} & {*COMMANDS}
        command, unsure = min(commands, default=None), unsure or len(commands) != 1
    elif kind.arguments:
        place = _place(model, prompt, kind, words, named)
        said = shown(argument_of(text_of(prompt, words, place)))
        args = (said,)
        # A path or a branch that is not in quotes has no blanks: some words are more than one thing.
        torn = place != [*range(place[0], place[-1] + 1)] if place else True
        several = len(place) > 1 and kind.arguments != ("query",) and not words[place[0]].quoted
        # A model that writes can say no blank at an edge either: what only quotes hold together is no name.
        unsure = unsure or torn or several or not said or said != said.strip() or len(said) > _LONGEST_SPAN
        words = [word for index, word in enumerate(words) if index not in place]
    # A tag model hardly tells "run" from "do not run", and what is done to commits from showing them.
    denied = any(word.folded in lists.negations and not word.quoted for word in words)
    denied = denied and (kind.effect != "read-only" or shares[best] < _DENIED)
    if unsure or denied or change_of(words, lists):
        return _document(intent_types()[REFUSE], None, None, ()), shares[REFUSE]
    repo = named[0].key if named and kind.repo != "unused" else None
    return _document(kind, repo, command, args), shares[best]


def _shares(choice: Choice, like: Mapping[str, float]) -> dict[str, float]:
    """The model's shares, to a power and times e^likeness, as shares again; "none of these" is refuse."""
    weights = {
        (id or REFUSE): share**_SHARE * math.exp(_LIKENESS * like[id or REFUSE])
        for id, share in choice.probabilities
    }
    total = math.fsum(weights.values())
    return {name: weight / total for name, weight in weights.items()}


def _place(
    model: Model, prompt: str, kind: IntentType, words: Sequence[PromptWord], named: Sequence[NamedRepository]
) -> list[int]:
    """The words, by index, that say the intent's argument: those in quotes, else what the model finds, else
    the only one that looks like a name."""
    quoted = [index for index, word in enumerate(words) if word.quoted]
    if quoted:
        return quoted
    name, lists = kind.arguments[0], rules()[1]
    slot = SlotForm(name, "string", _ASKS[name], required=True)
    spans = model.extract(shown(prompt), ExtractForm(kind.name, kind.description["en"], (slot,)))
    found = [(span.start or 0, span.end or 0) for span in spans if span.field == f"slot.{name}"]
    start, end = found[0] if found else (0, 0)
    place = [index for index, word in enumerate(words) if word.start < end and start < word.end]
    place = trimmed(without(place, words, named, lists), words, words_before(kind.name), lists)
    while place and words[place[0]].folded in asking_words() and not is_name(words[place[0]]):
        place = place[1:]
    names = without([index for index, word in enumerate(words) if is_name(word)], words, named, lists)
    return place or (names if len(names) == 1 else [])


def candidates() -> list[Candidate]:
    """The intents as they are shown to a model that chooses; refuse is its "none of these"."""
    return [_candidate(kind) for name, kind in intent_types().items() if name != REFUSE]


def _candidate(kind: IntentType) -> Candidate:
    return Candidate(kind.name, kind.name.replace("_", " "), kind.description["en"], (), kind.asked["en"])


def _document(kind: IntentType, repo: str | None, command: str | None, args: tuple[str, ...]) -> str:
    message = kind.message["en"].replace("{command}", command or "")
    return RepoIntent(kind.name, repo, command, args, message).text
