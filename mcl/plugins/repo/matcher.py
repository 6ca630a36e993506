"""From a prompt to a contract without a model: the first rule of `rules.toml` that fits, or none. Pure."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from mcl.plugins.repo.contract import (
    COMMANDS,
    Language,
    RepoIntent,
    intent_types,
    judge,
    read_contract,
    refusal,
    shown,
)
from mcl.plugins.repo.wording import (
    MatchRule,
    NamedRepository,
    PromptWord,
    WordLists,
    argument_of,
    asks_where,
    begin,
    change_of,
    clauses_of,
    leads_to_text,
    named_in,
    normal,
    phrase_at,
    query_of,
    rules,
    text_of,
    trimmed,
    unknown_in,
    without,
    words_of,
)

LONGEST_PROMPT = 4096  # characters; what is longer is no request to a repository


@dataclass(frozen=True)
class _Fit:
    """A rule that fits. end: where in the prompt its phrase ends. places: where the phrase's words begin.
    commands: all that are named of mqlaunch."""

    rule: MatchRule
    language: Language
    end: int
    places: frozenset[int]
    commands: tuple[str, ...] = ()


def match(prompt: str, keys: Collection[str], *, compat: bool = False) -> RepoIntent | None:
    """The contract that the first fitting rule makes of a prompt; None where none fits. It never guesses.

    keys: the known repositories. compat: plain substrings, in the order of the contract's own table, where
    words are looked at otherwise. A prompt that says two things at once is a refusal.
    """
    said = normal(prompt)
    if len(said) > LONGEST_PROMPT:
        return refusal(f"the prompt has {len(said):,} characters, and {LONGEST_PROMPT:,} are read")
    if not compat and (several := several_wishes(said, keys)) is not None:
        return several
    words = words_of(said)
    words, fit = (words, _substring_fit(said, words, named_in(words, keys))) if compat else _asked(said, keys)
    if fit is None:
        return None
    named = named_in(words, keys)
    named = [one for one in named if words[one.word].start not in fit.places]
    contract = _contract(said, words, named, fit, strict=not compat)
    # What was made here is read like anybody's: what the contract does not hold is refused there.
    return contract if contract.why else read_contract(contract.text)


def exact(prompt: str, keys: Collection[str]) -> RepoIntent | None:
    """The contract of a prompt that a rule knows from its first word to its last, which no doubt of a model
    undoes: it begins as a search does, or says one thing and what it is about; None of any other."""
    said = normal(prompt)
    words, fit = _asked(said, keys) if len(said) <= LONGEST_PROMPT else ([], None)
    named = named_in(words, keys)
    contract = match(prompt, keys) if fit else None
    if fit is None or contract is None or judge(contract) is not None:
        return None
    if fit.rule.whole:
        return contract
    lists = rules()[1]
    left = [index for index, word in enumerate(words) if word.start not in fit.places]
    left = without(left, words, named, lists)
    left = [index for index in left if index >= begin(words, lists)]
    if contract.args:
        return contract if len(_left(words, named, fit, lists)) == 1 else None
    return contract if _is_aside([words[index] for index in left], (), lists) else None


def several_wishes(prompt: str, keys: Collection[str]) -> RepoIntent | None:
    """The refusal of a prompt that is joined of several clauses and asks in them for more than one thing, or
    for one that is not understood; None of any other. Nothing is done by halves.

    The first clause that asks for something may say it anywhere, and may be for a model to understand; of
    another one a wish must begin it, the same one again. What is searched for may be joined as it likes, but
    by what joins commands, and another wish or a change behind it is none of it.
    """
    _, lists = rules()
    prompt = normal(prompt)
    words = words_of(prompt) if len(prompt) <= LONGEST_PROMPT else []
    clauses = clauses_of(prompt, words, lists)
    first: tuple[str, _Fit | None] | None = None
    for clause in clauses if len(clauses) > 1 else ():
        said = [words[index] for index in clause.words]
        named = named_in(said, keys)
        if _is_aside(said, named, lists):
            continue
        text = prompt[said[0].start : said[-1].end]
        if first is None:
            first = text, _unquoted(_first(said, said, named), said)
            continue
        fit = _unquoted(_begun(said, named), said)
        before = first[1]
        if before is not None and before.rule.whole:
            clear = fit is not None and (len(fit.places) > 1 or fit.rule.where == "start")
            if not (clause.command or clear or change_of(said, lists)):
                continue
        elif before and fit and fit.rule.intent == before.rule.intent and not _takes(fit):
            continue
        return _two(first[0], before, text, fit, words)
    return None


def _asked(prompt: str, keys: Collection[str]) -> tuple[list[PromptWord], _Fit | None]:
    """The words of a prompt without those that are aside of its wish, and the rule that fits them. Behind a
    search all words are its text."""
    lists, words = rules()[1], words_of(prompt)
    parts: list[tuple[list[int], bool]] = []
    for clause in clauses_of(prompt, words, lists):
        said = [words[index] for index in clause.words]
        named = named_in(said, keys)
        parts.append((clause.words, not named and _is_aside(said, named, lists)))
    kept = [indices for indices, aside in parts if not aside]
    if not kept:
        return words, _word_fit(words, named_in(words, keys))
    whole = words[kept[0][0] :]
    fit = _word_fit(whole, named_in(whole, keys))
    if fit is not None and fit.rule.whole:
        return whole, fit
    gone = {index for indices, aside in parts if aside for index in indices}
    asked = [words[index] for index in range(kept[0][0], kept[-1][-1] + 1) if index not in gone]
    return asked, _word_fit(asked, named_in(asked, keys))


def _two(
    first: str, before: _Fit | None, second: str, fit: _Fit | None, words: Sequence[PromptWord]
) -> RepoIntent:
    """The refusal of a prompt that says two things."""
    if before is not None and fit is not None and fit.rule.intent != before.rule.intent:
        told = " and ".join(f"{one.rule.intent} ({_phrase(one, words)})" for one in (before, fit))
        return refusal(f"it asks for two things, {told}, and one is meant: ask for one after the other")
    strange = second if before is not None else first
    return refusal(
        f"it also says {shown(strange)}, which is not understood beside the rest, and nothing is done by "
        "halves: ask for one thing, and put what is one text in quotes"
    )


def _takes(fit: _Fit) -> bool:
    return bool(intent_types()[fit.rule.intent].arguments)


def _phrase(fit: _Fit, words: Sequence[PromptWord]) -> str:
    return " ".join(word.text for word in words if word.start in fit.places)


def _unquoted(fit: _Fit | None, said: Sequence[PromptWord]) -> _Fit | None:
    """A rule that fits, unless by words in quotes."""
    quoted = fit is not None and any(word.quoted for word in said if word.start in fit.places)
    return None if quoted else fit


def _is_aside(said: Sequence[PromptWord], named: Sequence[NamedRepository], lists: WordLists) -> bool:
    """Whether a clause asks for nothing: politeness, and which repository is meant."""
    keys = {one.word for one in named}
    at = 0
    while at < len(said):
        phrases = (*lists.aside, *lists.openings, *lists.tails)
        ends = (phrase_at(said, at, phrase, lists.between) for phrase in phrases)
        end = max((end for end in ends if end is not None), default=None)
        if end is None and (at in keys or said[at].folded in lists.before_key | lists.after_key):
            end = at + 1
        if end is None or said[at].quoted:
            return False
        at = end
    return True


# ---- which rule ------------------------------------------------------------------------------------------


def _word_fit(words: Sequence[PromptWord], named: Sequence[NamedRepository]) -> _Fit | None:
    """The rule that fits by whole words. What a repository is called counts as a word of a rule only where
    the prompt says nothing else, or says it so with the rest: "run tests in tree" is no `tree`."""
    whole = _first(words, words, named)
    if not named:
        return whole
    lists = rules()[1]
    left = without(list(range(len(words))), words, named, lists)
    others = _first([words[index] for index in left], words, named)
    if whole and others and whole.rule.intent != others.rule.intent:
        return others
    return whole or others


def _first(
    said: Sequence[PromptWord], words: Sequence[PromptWord], named: Sequence[NamedRepository]
) -> _Fit | None:
    table, lists = rules()
    waiting: _Fit | None = None
    for rule in table:
        if waiting and rule.where != "start":
            continue
        fit = _fits(rule, said, lists)
        if fit is None or not _has_needed(fit, words, named, lists):
            continue
        if not rule.yields:
            return fit
        waiting = waiting or fit
    return waiting


def _begun(said: Sequence[PromptWord], named: Sequence[NamedRepository]) -> _Fit | None:
    """The rule that fits by how a clause begins, behind what leads to it: "then show me the status"."""
    table, lists = rules()
    at = begin(said, lists)
    while at < len(said):
        for rule in table:
            fit = _fits(rule, said, lists, at)
            if fit is not None and _has_needed(fit, said, named, lists):
                return fit
        if said[at].quoted or said[at].folded not in lists.showing | lists.between:
            return None
        at += 1
    return None


def _fits(
    rule: MatchRule, said: Sequence[PromptWord], lists: WordLists, only: int | None = None
) -> _Fit | None:
    """only: the one place where its phrase may begin."""
    if rule.where == "commands":
        return _commands(rule, said if only is None else said[only : only + 1])
    places: Sequence[int] = [begin(said, lists)] if rule.where == "start" else range(len(said))
    places = places if only is None else [only]
    for phrase, language in rule.phrases:
        for at in places:
            behind = phrase_at(said, at, phrase, lists.between)
            # Half of it in quotes is no phrase: run "tests; and more".
            if behind is not None and len({word.quoted for word in said[at:behind]}) == 1:
                return _fit(rule, language, said[at:behind])
    return None


def _commands(rule: MatchRule, said: Sequence[PromptWord]) -> _Fit | None:
    found = [word for word in said if word.folded in COMMANDS and not word.quoted]
    if not found:
        return None
    commands = tuple(dict.fromkeys(word.folded for word in found))
    return _fit(rule, "en", found[:1], commands)


def _fit(
    rule: MatchRule, language: Language, phrase: Sequence[PromptWord], commands: tuple[str, ...] = ()
) -> _Fit:
    return _Fit(rule, language, phrase[-1].end, frozenset(word.start for word in phrase), commands)


def _has_needed(
    fit: _Fit, words: Sequence[PromptWord], named: Sequence[NamedRepository], lists: WordLists
) -> bool:
    if not fit.rule.needs:
        return True
    keys = [one for one in named if words[one.word].start >= fit.end]
    if fit.rule.needs == "no key":
        return all(words[one.word].start in fit.places for one in named)
    left = _left(words, keys, fit, lists)
    if fit.rule.needs in ("thing", "end"):
        return leads_to_text(words, left) if fit.rule.needs == "thing" else asks_where(words, left)
    return len(left) <= (0 if keys else 1) if fit.rule.needs == "name" else bool(keys) and not left


def _substring_fit(prompt: str, words: Sequence[PromptWord], named: Sequence[NamedRepository]) -> _Fit | None:
    """The rule that fits by plain text; those that have no such text come last, by words."""
    table, lists = rules()
    folded, places = _folded(prompt)
    for rule in table:
        if rule.where == "commands":
            command = next((one for one in COMMANDS if one in folded), None)
            if command is not None:
                at = folded.index(command)
                return _span(rule, "en", words, places[at : at + len(command)], (command,))
        for text in rule.compat:
            at = 0 if rule.where == "start" and folded.startswith(text) else -1
            at = folded.find(text) if rule.where == "anywhere" else at
            if at >= 0:
                language = dict(rule.phrases).get(tuple(text.split()), "en")
                return _span(rule, language, words, places[at : at + len(text)])
    for rule in table:
        fit = None if rule.compat or rule.where == "commands" else _fits(rule, words, lists)
        if fit and _has_needed(fit, words, named, lists):
            return fit
    return None


def _span(
    rule: MatchRule,
    language: Language,
    words: Sequence[PromptWord],
    span: Sequence[int],
    commands: tuple[str, ...] = (),
) -> _Fit:
    """A rule that fits by some characters. The words that they touch belong to it: "söker TODO" looks for
    TODO."""
    touched = [word for word in words if word.start <= span[-1] and span[0] < word.end]
    if touched:
        return _fit(rule, language, touched, commands)
    return _Fit(rule, language, span[-1] + 1, frozenset(), commands)


def _folded(prompt: str) -> tuple[str, list[int]]:
    """The prompt case-folded, and where each of its characters comes from: one may become two."""
    pairs = [(folded, at) for at, char in enumerate(prompt) for folded in char.casefold()]
    return "".join(folded for folded, _ in pairs), [at for _, at in pairs]


# ---- what it says ----------------------------------------------------------------------------------------


def _contract(
    prompt: str, words: Sequence[PromptWord], named: Sequence[NamedRepository], fit: _Fit, *, strict: bool
) -> RepoIntent:
    _, lists = rules()
    keys = sorted({one.key for one in named})
    if len(keys) > 1:
        return refusal(f"it names more than one repository ({', '.join(keys)}), and one is meant")
    if len(fit.commands) > 1:
        return refusal(f"it names more than one command ({', '.join(fit.commands)}), and one is meant")
    denied = _denial(words, fit, lists) if strict else None
    if denied:
        return refusal(f"it says {denied!r}, and what not to do is not understood without a model")
    change = change_of(words, lists) if strict and fit.rule.where != "start" else ""
    if change:
        return refusal(f"it begins with {change!r}, and no intent does that")
    kind = intent_types()[fit.rule.intent]
    behind = [one for one in named if words[one.word].start >= fit.end]
    left = _left(words, behind, fit, lists) if kind.arguments or fit.rule.needs else []
    place = ""
    if fit.rule.whole and strict:
        left, place = query_of(words, left, [word for word in words if word.start in fit.places])
    said = argument_of(text_of(prompt, words, left))
    if not fit.rule.needs and not kind.arguments:
        said = unknown_in(words, lists)  # nobody works in the active repository who names another
    repo = keys[0] if keys else (said or None) if not kind.arguments else place or None
    command = fit.commands[0] if fit.commands else None
    swedish = any(word.folded in lists.swedish or not {*"åäö"}.isdisjoint(word.folded) for word in words)
    message = kind.message["sv" if swedish else fit.language]
    return RepoIntent(
        intent=kind.name,
        repo=repo if kind.repo != "unused" else None,
        command=command,
        args=(said,) if kind.arguments else (),
        message=message.replace("{command}", command or ""),
    )


def _denial(words: Sequence[PromptWord], fit: _Fit, lists: WordLists) -> str | None:
    """The word that turns what was said round. Of a rule that takes an argument, only those before it and the
    one right behind the phrase are looked at: all others are the argument's."""
    said = [word for word in words if not word.quoted]
    behind = [word for word in said if word.start >= fit.end]
    if intent_types()[fit.rule.intent].arguments:
        # Of what is searched for any word is part, unless the next leads to it: "sök inte efter TODO".
        leads = [word.folded for word in behind[1:2]]
        search = fit.rule.intent == "grep_repo" and not fit.rule.leads.intersection(leads)
        said = [word for word in said if word.start < fit.end] + ([] if search else behind[:1])
    return next((word.text for word in said if word.folded in lists.negations), None)


def _left(
    words: Sequence[PromptWord], named: Sequence[NamedRepository], fit: _Fit, lists: WordLists
) -> list[int]:
    """The words behind a rule's phrase that are its argument: no repository, nothing that leads to it."""
    behind = [index for index, word in enumerate(words) if word.start >= fit.end]
    return trimmed(without(behind, words, named, lists), words, fit.rule.leads, lists)
