"""What a goal says of branches and commits: which branch, into which; which files, and whose."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator, Sequence
from typing import Final

from executor.core.tables import table_beside
from mcl.compiler.stages.clauses import quotes_of
from mcl.compiler.stages.file_names import FileNames
from mcl.compiler.stages.filled import FilledInput, SaidClause
from mcl.model.cues import TextPlace, free

_NAME: Final = re.compile(r"(?<![\w./@-])[A-Za-z0-9_](?:[\w.+-]*\w)?(?:/[\w.+-]*\w)*(?!\S*[@:])")
_WORD: Final = re.compile(r"[^\s,;:!?\"“”()]*[^\W_][^\s,;:!?\"“”()]*")
_VERSION: Final = re.compile(
    r"(?<![\w./-])v?\d+(?:\.\d+)+(?:[-.]?\w+)*(?![\w/-])|(?<![\w./-])v\d+(?![\w./-])"
)
_FEW: Final = 3  # words that name a file
_MOST: Final = 100  # files of a commit


def _table() -> dict[str, str]:
    return table_beside(__file__)


@functools.cache
def _pattern(name: str) -> re.Pattern[str]:
    return re.compile(rf"(?<![\w/-])(?:{_table()[name]})(?![\w/-])", re.IGNORECASE)


# ---- branches


def read_merge(prose: str, clauses: Sequence[SaidClause], names: FileNames) -> Sequence[FilledInput]:
    """Which branch is merged, into which, and whether it goes then."""
    named = _branches(prose, names, "branch")
    merge = _pattern("merge").search(prose)
    speaks = _pattern("merges").search(prose) or _pattern("branch").search(prose)
    if not speaks or _pattern("merged").search(prose):
        return ()
    drop = _pattern("drops").search(prose)
    if drop is not None and merge is not None and drop.start() <= merge.start() < drop.end():  # “get rid of”
        return ()
    led = _led(prose, named, rf"(?:{_table()['into']})\s+(?:the\s+)?")
    apart = [one for one in named if one not in led]
    behind = [one for one in apart if merge is not None and one.start >= merge.end()] or apart
    if not apart or (merge is None and len(apart) == len(named)):
        return ()  # nothing says that one is merged, or into which
    branch = next((one for one in apart if "/" in prose[slice(*one)]), behind[0])
    found = [FilledInput("branch", branch, _called(prose, branch))]
    target = next((one for one in led if one != branch), None)
    if target is not None:
        found.append(FilledInput("target", target, _called(prose, target)))
    own = {prose[slice(*one)] for one in (branch, target) if one is not None}
    merges = re.compile(rf"(?:{_table()['merge']})\s+(?:{_table()['again']})(?!\w)", re.IGNORECASE)
    kept = [one.place for one in clauses if one.keeps]
    for one in clauses:
        other = [prose[slice(*place)] for place in named if not free(place, [one.place])]
        told = one.keeps or any("/" in name for name in other) or _pattern("keep").search(prose, *one.place)
        aside = bool(other) and own.isdisjoint(other) and told and not one.does
        stays = _pattern("kept").fullmatch(prose, *one.place) is not None
        if aside or stays or merges.match(prose, one.place.start):
            found.append(FilledInput("", one.place))
    for match in re.finditer(
        rf"{_table()['beside']}[\s,;.]+(?:{_table()['drop']})(?!\w){_table()['beside']}", prose, re.I
    ):
        place = TextPlace.of(match)
        if free(place, kept):
            return (*found, FilledInput("after", place, ("delete",)), FilledInput("", place))
    return found


def read_drop(prose: str, clauses: Sequence[SaidClause], names: FileNames) -> Sequence[FilledInput]:
    """Which branch goes: the one that is named, or those that are merged."""
    drop = _pattern("drops").search(prose)
    if drop is None or _pattern("makes").search(prose):
        return ()
    if (merged := _pattern("merged").search(prose)) is not None:
        place = TextPlace.of(merged, "into") if merged["into"] else TextPlace.of(merged)
        said = [TextPlace.of(merged), *map(TextPlace.of, _pattern("anyway").finditer(prose))]
        kept = [one for one in _branches(prose, names) if free(one, said)]
        said += [one.place for one in clauses if any(not free(one.place, [branch]) for branch in kept)]
        return [
            FilledInput("branch", place, (merged["into"] or "HEAD",)),
            FilledInput("which", TextPlace.of(merged), ("each",)),
            *(FilledInput("but", one, _called(prose, one)) for one in kept),
            *(FilledInput("", one) for one in said),
        ]
    idle = [one.place for one in clauses if not one.does and _pattern("idle").match(prose, one.place.start)]
    if (told := _pattern("branch_of").search(prose)) is not None:
        what = TextPlace.of(told, "what")
        read = [FilledInput("", one) for one in idle]
        return [FilledInput("branch", what, _called(prose, what)), FilledInput("which", what), *read]
    slashed = [one for one in _branches(prose, names) if "/" in prose[slice(*one)]]
    if len(slashed) == 1 and _pattern("unnamed").search(prose) is not None:  # “fix/x is in, bin the branch”
        branch = FilledInput("branch", slashed[0], _called(prose, slashed[0]))
        read = [FilledInput("", one.place) for one in clauses if not one.keeps]
        return [branch, FilledInput("which", slashed[0]), *read]
    if (bare := _pattern("unnamed").search(prose)) is not None:
        needless = [TextPlace.of(one) for one in _pattern("needless").finditer(prose)]
        return [FilledInput("branch", TextPlace.of(bare)), *(FilledInput("", one) for one in needless)]
    named = _branches(prose, names)
    named = [one for one in named if one not in _checked_out(prose, named)]
    if len(named) > 1 and drop.start() < named[0].start:  # “bin fix/typo, it is in main”
        named = [one for one in named if one not in _led(prose, named, rf"(?:{_table()['into']})\s+")]
    if len(named) != 1:
        return ()
    return [FilledInput("branch", named[0], _called(prose, named[0])), FilledInput("which", named[0])]


def read_switch(prose: str, clauses: Sequence[SaidClause], names: FileNames) -> Sequence[FilledInput]:
    """Which branch that is there is checked out."""
    found = _checked_out(prose, _branches(prose, names))
    if len(found) != 1 or _pattern("makes").search(prose):
        return ()
    return [FilledInput("branch", found[0], _called(prose, found[0]))]


def _checked_out(prose: str, named: Sequence[TextPlace]) -> list[TextPlace]:
    """Those names of branches that stand behind what leads to one that is checked out."""
    return _led(prose, named, rf"(?<![/-])(?:{_table()['switches']})\s+")


def _led(prose: str, named: Sequence[TextPlace], words: str) -> list[TextPlace]:
    """Those names that stand behind such words."""
    lead = re.compile(rf"(?<!\w){words}$", re.IGNORECASE)
    return [one for one in named if lead.search(prose, 0, one.start)]


def _branches(prose: str, names: FileNames, word: str = "branch_itself") -> list[TextPlace]:
    """Where names of branches stand: with a slash, and no path of a file here; beside a word for a branch; or
    behind what leads to one."""
    quotes = [whole for whole, _ in quotes_of(prose)]
    empty, noun = _pattern("empty"), _pattern(word)
    lead = re.compile(rf"{_table()['into']}|{_table()['merge']}", re.IGNORECASE)
    found = []
    words = [TextPlace.of(one) for one in _NAME.finditer(prose) if free(TextPlace.of(one), quotes)]
    for at, place in enumerate(words):
        text = prose[slice(*place)]
        before = prose[words[at - 1].start : words[at - 1].end] if at else ""
        behind = prose[slice(*words[at + 1])] if at + 1 < len(words) else ""
        if empty.fullmatch(text) or noun.fullmatch(text) or names.has(text.rstrip("/")):
            continue
        near = at > 0 and not prose[words[at - 1].end : place.start].strip()
        follows = bool(behind) and not prose[place.end : words[at + 1].start].strip()
        if compound := re.fullmatch(rf"(.+?)-(?:{_table()[word]})", text, re.IGNORECASE):
            found.append(TextPlace(place.start, place.start + compound.end(1)))
        elif "/" in text or text in ("main", "master", "develop"):
            found.append(place)
        elif noun.fullmatch(before) and near:
            found += [place] if not lead.fullmatch(text) else []
        elif noun.fullmatch(behind) and follows and not lead.fullmatch(text):
            found.append(TextPlace(_in_words(prose, words[: at + 1]), place.end))
    return found


def _in_words(prose: str, words: Sequence[TextPlace]) -> int:
    """Where the words begin that stand before a word for a branch and say which: “noors waiting list”."""
    start = words[-1].start
    few = _FEW + sum(prose[slice(*one)] == "s" for one in words[-_FEW:-1])  # of “Noor's”
    for one in reversed(words[-few:-1]):
        text, between = prose[slice(*one)], prose[one.end : start]
        verb = any(_pattern(name).fullmatch(text) for name in ("empty", "verb", "drops", "merge", "branch"))
        first = one.start == 0 and prose[one.end : one.end + 2] not in ("'s", "’s")
        if between.strip("'’ ") or verb or first:
            break
        start = one.start
    return start


def _called(prose: str, place: TextPlace) -> tuple[str]:
    """The name of a branch, as one word: of “the waiting list branch” waiting-list."""
    return (re.sub(r"['’]|\s+", lambda one: "" if one[0] in "'’" else "-", prose[slice(*place)]),)


def read_push(prose: str, clauses: Sequence[SaidClause], names: FileNames) -> Sequence[FilledInput]:
    """Which branch is pushed: the one that is named."""
    remote = _led(prose, named := _branches(prose, names), rf"(?:{_table()['into']})\s+")
    named = [one for one in named if one not in remote] or named
    if _pattern("that_branch").search(prose):  # “Noor's work is only here, push that branch”
        named = [one for one in _branches(prose, names, "branch") if one not in remote] or named
    if len(named) != 1:
        return ()
    told = [one.place for one in clauses if not (one.does or free(one.place, named))]
    told += [one.place for one in clauses if not one.does and _pattern("only_here").search(prose, *one.place)]
    return [
        FilledInput("branch", named[0], _called(prose, named[0])),
        *(FilledInput("", one) for one in dict.fromkeys(told)),
    ]


def read_unmerged(prose: str, clauses: Sequence[SaidClause], names: FileNames) -> Sequence[FilledInput]:
    """Whether those are meant that are merged, or that are not; and into which."""
    no, yes = _pattern("unmerged").search(prose), _pattern("merged").search(prose)
    if not (said := no or yes or _pattern("inside").search(prose)):
        return ()
    into = _led(prose, _branches(prose, names), rf"(?:{_table()['into']})\s+(?:the\s+)?")
    state = FilledInput("state", TextPlace.of(said), ("unmerged" if no else "merged",))
    return [
        state,
        *(
            [FilledInput("into", one, _called(prose, one)) for one in into[:1]]
            or [FilledInput("into", state.place)]
        ),
    ]


# ---- commits


def read_commit(prose: str, clauses: Sequence[SaidClause], names: FileNames) -> Sequence[FilledInput]:
    """Which files are committed, which are not, and what the commit says."""
    verb = _pattern("commit").search(prose)
    if verb is None or _pattern("versioned").search(prose) is None:  # “save it as old.txt” is none
        return ()
    found, taken = list[FilledInput](), list[TextPlace]()
    if (message := _message(prose, verb.end())) is not None:
        said, inner = message
        taken.append(said)
        found += [FilledInput("message", inner, (prose[slice(*inner)],)), FilledInput("", said)]
    ends = [one.place.start for one in clauses if one.does and one.place.start > verb.start()]
    end = min([one for one in ends if free(TextPlace(one, one + 1), taken)], default=len(prose))
    alone = [TextPlace.of(one) for one in _pattern("alone").finditer(prose, verb.end())]
    meant, apart = list[tuple[TextPlace, str]](), list[tuple[TextPlace, str]]()
    kept = [one.place for one in clauses if one.keeps and free(one.place, [TextPlace.of(verb)])]
    for place, path in sorted(_files(prose, names, taken)):
        only = bool(meant) and any(meant[0][0].end <= one.start < place.start for one in alone)
        left = only or _is_but(prose, place) or not free(place, kept)
        if left or verb.end() <= place.start < end:
            (apart if left else meant).append((place, path))
    for slot, own in (("files", meant), ("but", [] if meant else apart)):
        found += [FilledInput(slot, place, (path,)) for place, path in own[:_MOST]]
    if apart:
        found += [] if meant else [FilledInput("files", TextPlace.of(verb))]
        found += [
            FilledInput("", one.place) for one in clauses if any(not free(one.place, [p]) for p, _ in apart)
        ]
    else:
        found.append(FilledInput("but", TextPlace.of(verb)))
    if meant:
        found += [FilledInput("", one) for one in alone]
    return found if meant or apart or message else ()


def _is_but(prose: str, place: TextPlace) -> bool:
    """Whether a file stands behind what says that it is not meant."""
    clause = max(prose.rfind(mark, 0, place.start) for mark in (".", ";", "\n")) + 1
    before = re.compile(rf"(?<!\w)(?:{_table()['but']})\s+(?:\S+\s+){{0,3}}$", re.IGNORECASE)
    return before.search(prose, clause, place.start) is not None


def _message(prose: str, start: int) -> tuple[TextPlace, TextPlace] | None:
    """What a commit says, with the words that lead to it."""
    lead = re.compile(
        rf"[\s,;.]*(?<![\w/])(?:and |med |och )?(?:{_table()['message']})(?!\w){_table()['link']}",
        re.IGNORECASE,
    )
    quotes = list(quotes_of(prose))
    if (turned := _pattern("turned").search(prose, start)) is not None:
        return TextPlace.of(turned), TextPlace.of(turned, "message")
    for match in lead.finditer(prose, start):
        quoted = next((pair for pair in quotes if pair[0].start == match.end()), None)
        if quoted is not None:
            return TextPlace(match.start(), quoted[0].end), quoted[1]
        if any(whole.start < match.start() < whole.end for whole, _ in quotes):
            continue
        stop = re.compile(_table()["ends"], re.IGNORECASE).search(prose, match.end())
        text = prose[match.end() : stop.start() if stop else len(prose)].rstrip(" ,;")
        text = text.removesuffix(".") if text.count(".") == 1 else text
        if text:
            end = match.end() + len(text)
            return TextPlace(match.start(), end), TextPlace(match.end(), end)
    return None


def _files(prose: str, names: FileNames, taken: Sequence[TextPlace]) -> Iterator[tuple[TextPlace, str]]:
    """Where files and folders that are here are named: by their path, else in words."""
    words = [one for one in map(TextPlace.of, _WORD.finditer(prose)) if free(one, taken)]
    used: list[TextPlace] = []
    for many in range(_FEW, 0, -1):
        for first in range(len(words) - many + 1):
            place = TextPlace(words[first].start, words[first + many - 1].end)
            text = prose[slice(*place)].rstrip(".'’")
            if not free(place, used) or any(mark in text for mark in ",;:!?\n"):
                continue
            if path := _path(text, names):
                used.append(place)
                yield TextPlace(place.start, place.start + len(text)), path


def _path(text: str, names: FileNames) -> str:
    if names.has(text.rstrip("/")):
        return text.rstrip("/")
    if _pattern("commit").fullmatch(text) or _pattern("all").fullmatch(text):
        return ""
    found = names.named(text, 1)
    if found is None and "-" in text:
        found = names.named(text.replace("-", " "), 1)
    if found is None:
        bare = re.sub(rf"[\s-](?:{_table()['file']})$", "", text, flags=re.IGNORECASE)
        found = names.named(bare, 1) if bare != text else None
    return found.paths[0] if found is not None and len(found.paths) == 1 else ""


# ---- tags


def read_tag(prose: str, clauses: Sequence[SaidClause], names: FileNames) -> Sequence[FilledInput]:
    """What a tag is called: the number of a version, else what stands beside a word for a tag."""
    quotes = dict(quotes_of(prose))
    said = [TextPlace.of(one) for one in _VERSION.finditer(prose) if not names.has(one[0])]
    said = [one for one in said if free(one, list(quotes))] or [
        inner for inner in quotes.values() if _VERSION.fullmatch(prose, *inner)
    ]
    said = said or [TextPlace.of(one, "name") for one in _pattern("tagged").finditer(prose)]
    found = {prose[slice(*one)] for one in said}
    if not found and (bare := _pattern("untagged").search(prose)):
        return [FilledInput("tag", TextPlace.of(bare))]
    if len(found) != 1 or _pattern("tag").search(prose) is None:
        return ()
    beside = [TextPlace.of(one) for one in _pattern("here").finditer(prose)]
    tag = FilledInput("tag", said[0], tuple(found))
    return [tag, *(FilledInput("", one) for one in beside)]


# ---- new branches


def read_branch(prose: str, clauses: Sequence[SaidClause], names: FileNames) -> Sequence[FilledInput]:
    """What a new branch is called, and whether it is checked out."""
    if _pattern("new").search(prose) is None:
        asked = _pattern("asks").search(prose)  # which there are, or which one it is
        return [FilledInput("branch", TextPlace.of(asked))] if asked else ()
    words = [TextPlace.of(one) for one in _NAME.finditer(prose)]
    led = _led(prose, [one for one in words if len(prose[slice(*one)]) > 1], rf"(?:{_table()['called']})\s+")
    led = [one for one in led if not _pattern("empty").fullmatch(prose, *one)]
    called = [FilledInput("branch", one, (prose[slice(*one)],)) for one in led[:1]]
    if not called and (bare := _pattern("nameless").search(prose)):
        called = [FilledInput("branch", TextPlace.of(bare))]
    found = [TextPlace.of(one) for one in _pattern("switch").finditer(prose)]
    if not found:
        return called
    lead = rf"(?:{_table()['from']})\s+(?:the\s+)?(?:(?:{_table()['branch']})\s+)?"
    start = next(iter(_led(prose, _branches(prose, names), lead)), None)
    place = start or found[0]
    began = FilledInput("start", place, _called(prose, place) if start else ())
    then = FilledInput("then", found[0], ("switch",))
    return [*called, then, began, *(FilledInput("", one) for one in found)]


# ---- whose


def read_state(prose: str, clauses: Sequence[SaidClause], names: FileNames) -> Sequence[FilledInput]:
    """Whether just the last commit is shown; whether all are counted, for each who made some."""
    if _pattern("commits").search(prose) and (each := _pattern("each").search(prose)):
        if any("/" in prose[slice(*one)] for one in _branches(prose, names)):
            return ()  # only those of the branch that is checked out are counted
        place = TextPlace.of(each)
        told = (FilledInput("what", place, ("commits",)), FilledInput("count", place, ("1000",)))
        return (*told, FilledInput("", place))
    last = [one for one in _pattern("lastone").finditer(prose) if "ommit" in one[0]][:1]
    said = (("what", "commits"), ("count", "1"))
    return [FilledInput(slot, TextPlace.of(one), (text,)) for one in last for slot, text in said]


def read_log(prose: str, clauses: Sequence[SaidClause], names: FileNames) -> Sequence[FilledInput]:
    """Whose commits are meant, behind which version, and whether just the last one."""
    last = [TextPlace.of(one) for one in _pattern("lastone").finditer(prose)][:1]
    found = [FilledInput("count", one, ("1",)) for one in last]
    after = re.compile(rf"(?<!\w)(?:{_table()['since']})\s+(?P<tag>{_VERSION.pattern})", re.I).search(prose)
    if after is not None:
        place = TextPlace.of(after, "tag")
        found.append(FilledInput("after", place, (after["tag"],)))
        found += [] if _branches(prose, names) else [FilledInput("branch", place)]
    for match in _pattern("author").finditer(prose):
        name = next(name for name, text in match.groupdict().items() if text)
        if not _pattern("nobody").fullmatch(match[name]):
            author = FilledInput("author", TextPlace.of(match, name), (match[name],))
            return [*found, author, FilledInput("", TextPlace.of(match))]
    return found


# ---- what was changed


def read_discard(prose: str, clauses: Sequence[SaidClause], names: FileNames) -> Sequence[FilledInput]:
    """The one file whose changes are given up."""
    said = _pattern("discards").search(prose)
    found = list(_files(prose, names, ())) if said else []
    return [FilledInput("file", found[0][0], (found[0][1],))] if len(found) == 1 else ()
