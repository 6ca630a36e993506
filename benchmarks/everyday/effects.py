"""Whether what was wanted is there, and nothing else."""

from __future__ import annotations

import email
import email.policy
import fnmatch
import io
import re
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from itertools import islice
from typing import Any

from dateutil.rrule import rrulestr

from benchmarks.everyday.folders import ZONE, git
from benchmarks.everyday.goals import Goal, Want
from benchmarks.everyday.numbers import as_number, holds_number
from benchmarks.everyday.observed import Observation, Place

_OF_QUESTIONS = ("asked", "needs", "refused")  # not looked for in effects
_CALLS: Mapping[str, str] = {
    "clipboard": "clipboard",
    "notice": r"notif|ntfy|notice",
    "printed": "print",
    "ran": ".",
}
_OUTWARD = {*_CALLS, "mail", "pushed", "fires"}  # wants whose effects leave the folder
_NOTHING = re.compile(r"\b(nothing|none|no|not|0|inga|inget|ingen|inte|tomt|empty)\b", re.I)


class Judged:
    """Looks at one way of being right; what a want covers may differ from before."""

    def __init__(self, seen: Observation) -> None:
        self.seen = seen
        self.files: set[str] = set()  # covered paths, also globs
        self.folders: set[str] = set()
        self.refs: set[str] = set()
        self.moves = False  # may HEAD move?
        self.text = _flat("\n".join(seen.shown))

    # ---- files ----

    def file(self, path: str, **details: Any) -> str:
        found = self._one_file(path)
        if found is None:
            return f"no file {path}" if "*" not in path else f"not one new file {path}"
        self.files.add(found)
        data = self.seen.after.files[found]
        if "same_as" in details and data != self.seen.before.files[details["same_as"]]:
            return f"{found} is not what {details['same_as']} was"
        return _of_text(_text(data), details, found)

    def _one_file(self, path: str) -> str | None:
        if path in self.seen.after.files:
            return path
        if "*" not in path:
            return None
        new = [one for one in self.seen.after.files if one not in self.seen.before.files]
        found = [one for one in new if fnmatch.fnmatch(one, path)]
        return found[0] if len(found) == 1 else None

    def gone(self, path: str) -> str:
        path = path.rstrip("/")
        below = [
            one for one in self.seen.before.files if fnmatch.fnmatch(one, path) or one.startswith(f"{path}/")
        ]
        self.files |= set(below)
        self.folders |= {
            one
            for one in self.seen.before.folders
            if fnmatch.fnmatch(one, path) or one.startswith(f"{path}/")
        }
        left = [one for one in below if one in self.seen.after.files]
        return f"still there: {', '.join(left[:3])}" if left else ""

    def folder(self, path: str) -> str:
        path = path.rstrip("/")
        self.folders.add(path)
        return "" if path in self.seen.after.folders else f"no folder {path}"

    def zip(self, path: str, members: Sequence[str] = (), exact: bool = False) -> str:
        found = self._one_file(path)
        if found is None:
            return f"no archive {path}"
        self.files.add(found)
        try:
            with zipfile.ZipFile(io.BytesIO(self.seen.after.files[found])) as archive:
                names = [one.filename for one in archive.infolist() if not one.is_dir()]
        except zipfile.BadZipFile:
            return f"{found} is no archive"
        missing = [one for one in members if not any(_ends(name, one) for name in names)]
        extra = [name for name in names if not any(_ends(name, one) for one in members)] if exact else []
        if missing or extra:
            return f"{found}: missing {missing}, more {extra[:3]}"
        return ""

    # ---- what was shown ----

    def shows(self, texts: Sequence[str], lacks: Sequence[str] = (), in_order: bool = False) -> str:
        return _of_text(
            "\n".join(self.seen.shown),
            {"in_order" if in_order else "has": texts, "lacks": lacks},
            "the result",
        )

    def number(self, wanted: float) -> str:
        held = any(holds_number(line, wanted) for line in self.seen.shown)
        return "" if held else f"the result does not show {wanted:g}"

    def rows(self, rows: Sequence[Sequence[str]], in_order: bool = False, exact: bool = False) -> str:
        wrong = _of_rows(self.seen.shown, rows, "the result", in_order=in_order)
        if not wrong and exact:
            cells = [cell for row in rows for cell in row]
            more = [
                line
                for line in self.seen.shown
                if re.search(r"\w", line) and not any(_holds(line, cell) for cell in cells)
            ]
            if len(more) > 3:  # a title, a head and how many there are
                return f"the result shows more: {more[3][:60]!r}"
        return wrong

    def finds_nothing(self, _: bool) -> str:
        body = " ".join(self.seen.shown)
        return "" if not body.strip() or _NOTHING.search(body) else f"the result shows {body[:80]!r}"

    # ---- the repository ----

    def commit(self, words: Sequence[str], files: Sequence[str] = (), branch: str = "") -> str:
        before, after = self.seen.before.repository, self.seen.after.repository
        if before is None or after is None:
            return "no repository"
        name = branch or before.head
        ref = f"refs/heads/{name}"
        self.refs.add(ref)
        self.moves = True
        tip = after.refs.get(ref)
        if tip is None or tip == before.refs.get(ref):
            return f"no new commit on {name}"
        said = self._git("log", "-1", "--format=%B", tip)
        if missing := [word for word in words if word.casefold() not in said.casefold()]:
            return f"the message {said.strip()[:60]!r} lacks {missing}"
        changed = set(
            self._git("show", "--format=", "--name-only", "-z", "-m", "--first-parent", tip).split("\0")
        ) - {""}
        changed = {one.strip("\n") for one in changed} - {""}
        if files and changed != set(files):
            return f"the commit has {sorted(changed)}"
        if ref in before.refs and self._git("rev-parse", f"{tip}^").strip() != before.refs[ref]:
            return "more than one new commit"
        return ""

    def branch(self, name: str, gone: bool = False, current: bool = False, has: str = "") -> str:
        after = self.seen.after.repository
        if after is None:
            return "no repository"
        ref = f"refs/heads/{name}"
        self.refs.add(ref)
        if gone:
            return f"branch {name} is still there" if ref in after.refs else ""
        self.moves = True
        if ref not in after.refs:
            return f"no branch {name}"
        if current and after.head != name:
            return f"on {after.head or 'no branch'}, not on {name}"
        if has and has.casefold() not in self._git("log", "--format=%B", after.refs[ref]).casefold():
            return f"{name} has no commit {has!r}"
        return ""

    def tag(self, name: str) -> str:
        self.refs.add(f"refs/tags/{name}")
        after = self.seen.after.repository
        return "" if after is not None and f"refs/tags/{name}" in after.refs else f"no tag {name}"

    def pushed(self, name: str) -> str:
        self.refs |= {f"origin/refs/heads/{name}", f"refs/remotes/origin/{name}"}
        after, ref = self.seen.after, f"refs/heads/{name}"
        here = after.repository.refs.get(ref) if after.repository else None
        return "" if here is not None and after.remote.get(ref) == here else f"origin does not have {name}"

    def _git(self, *words: str) -> str:
        return git(self.seen.root, *words)

    # ---- beyond the folder ----

    def mail(
        self, to: str, subject: Sequence[str] = (), has: Sequence[str] = (), lacks: Sequence[str] = ()
    ) -> str:
        new = {
            name: data
            for name, data in {**self.seen.after.files, **self.seen.aside}.items()
            if name.endswith(".eml") and name not in self.seen.before.files
        }
        policy = email.policy.default
        drafts = {name: email.message_from_bytes(data, policy=policy) for name, data in new.items()}
        here = [name for name, draft in drafts.items() if to.casefold() in str(draft["to"]).casefold()]
        if len(here) > 1:
            return f"{len(here)} new drafts are to {to}"
        if not here:
            return f"the draft is to {', '.join(str(draft['to']) for draft in drafts.values()) or 'nobody'}"
        self.files.update(here)
        draft = drafts[here[0]]
        body = draft.get_body(("plain",))
        text = body.get_content() if body is not None else ""
        head = str(draft["subject"] or "")
        return _of_text(head, {"has": subject}, "the subject") or _of_text(
            f"{head}\n{text}", {"has": has, "lacks": lacks}, "the draft"
        )

    def fires(self, times: Sequence[str]) -> str:
        found = (self.seen.times or tuple(self._entries()))[: len(times)]
        return "" if list(found) == list(times) else f"it fires {', '.join(found) or 'never'}"

    def _entries(self) -> Iterator[str]:
        """When the entries begin that a calendar has and had not before, local time."""
        for name, data in self.seen.after.files.items():
            if name.endswith(".ics") and data != self.seen.before.files.get(name):
                self.files.add(name)
                had = _starts(self.seen.before.files.get(name, b""))
                yield from (start for start in _starts(data) if start not in had)

    def called(self, kind: str, words: Sequence[str]) -> str:
        calls = [one for one in self.seen.calls if re.search(_CALLS[kind], one.tool)]
        if any(all(word.casefold() in _flat(one.text) for word in words) for one in calls):
            return ""
        return f"{kind}: no call with {list(words)}"

    def clipboard(self, words: Sequence[str]) -> str:
        return self.called("clipboard", words)

    def notice(self, words: Sequence[str]) -> str:
        return self.called("notice", words)

    def printed(self, path: str) -> str:
        return self.called("printed", [path])

    def ran(self, command: str) -> str:
        return self.called("ran", command.split())

    # ---- nothing else ----

    def others(self, may_change: Sequence[str]) -> Iterator[str]:
        """What differs and is covered by nothing."""
        before, after = self.seen.before, self.seen.after
        for name in sorted({*before.files, *after.files}):
            if before.files.get(name) == after.files.get(name) or name in self.files:
                continue
            if any(fnmatch.fnmatch(name, glob) for glob in may_change) or self._checked_out(name):
                continue
            how = "made" if name not in before.files else "removed" if name not in after.files else "changed"
            yield f"{how} {name}"
        parents = {parent for name in after.files for parent in _parents(name)}
        for name in sorted(after.folders - before.folders - self.folders - parents):
            if not any(one.startswith(f"{name}/") for one in self.folders):
                yield f"made the folder {name}"
        yield from self._other_refs()

    def _checked_out(self, name: str) -> bool:
        """Is this file as the commit has it that a wanted move went to?"""
        after, before = self.seen.after.repository, self.seen.before.repository
        if not self.moves or after is None or before is None:
            return False
        tracked = set(self._git("ls-tree", "-r", "--name-only", "-z", "HEAD").split("\0"))
        if name not in self.seen.after.files:
            return name not in tracked
        return name in tracked and not self._git("diff", "--name-only", "HEAD", "--", name).strip()

    def _other_refs(self) -> Iterator[str]:
        before, after = self.seen.before.repository, self.seen.after.repository
        if before is None or after is None:
            return
        old = {**before.refs, **{f"origin/{name}": at for name, at in self.seen.before.remote.items()}}
        new = {**after.refs, **{f"origin/{name}": at for name, at in self.seen.after.remote.items()}}
        for name in sorted({*old, *new} - self.refs):
            if old.get(name) != new.get(name) and not name.endswith("/HEAD") and name != "refs/stash":
                yield f"{name} moved"
        if before.head != after.head and not self.moves:
            yield f"on {after.head or 'no branch'} instead of {before.head}"


def wrong_with(goal: Goal, way: Sequence[Want], seen: Observation) -> list[str]:
    """What is missing of one way of being right, and what is there besides; empty where all is as wanted."""
    judged = Judged(seen)
    found = []
    for want in way:
        if want.kind not in _OF_QUESTIONS:
            look: Callable[..., str] = getattr(judged, want.kind)
            found.append(look(want.value, **want.details))
    outward = {want.kind for want in way} & _OUTWARD
    if not outward:
        found += [
            f"called {one.tool}" for one in seen.calls if one.effect not in ("", "read", "write", "none")
        ]
    if "mail" not in outward:
        found += [f"made {name}" for name in seen.aside if name.endswith(".eml")]
    if "fires" not in outward and seen.times:
        found.append(f"it will fire {seen.times[0]}")
    return [one for one in [*found, *judged.others(goal.may_change)] if one]


def unwanted(goal: Goal, seen: Observation) -> list[str]:
    """What happened that no way of being right wants: for runs that did not come to their end."""
    found = []
    for way in goal.ways:
        judged = Judged(seen)
        for want in way:
            if want.kind not in _OF_QUESTIONS:
                getattr(judged, want.kind)(want.value, **want.details)
        found.append(list(judged.others(goal.may_change)))
    return min(found, key=len)


_RULE = re.compile(r"^RRULE:(\S+)", re.MULTILINE)
_MOST_TIMES = 12  # of an entry that repeats
_START = re.compile(r"^DTSTART[^:\n]*:(\d{8})T(\d{4})\d\d(Z?)", re.MULTILINE)


def _starts(data: bytes) -> list[str]:
    """The beginnings of the entries of a calendar, in order."""
    found = []
    for entry in _text(data).split("BEGIN:VEVENT")[1:]:
        rule = _RULE.search(entry)
        for day, clock, utc in _START.findall(entry):
            moment = datetime.strptime(day + clock, "%Y%m%d%H%M")
            local = moment.replace(tzinfo=UTC).astimezone(ZONE).replace(tzinfo=None) if utc else moment
            times = islice(rrulestr(rule[1], dtstart=local), _MOST_TIMES) if rule else [local]
            found += [time.strftime("%Y-%m-%dT%H:%M") for time in times]
    return sorted(found)


# ---- Texts.


def _flat(text: str) -> str:
    return re.sub(r"\s+", " ", text).casefold()


def _text(data: bytes) -> str:
    return data.decode("utf-8-sig", errors="replace").replace("\r\n", "\n")


def _of_text(text: str, details: Mapping[str, Any], name: str) -> str:
    flat = _flat(text)
    if "is" in details and text.rstrip("\n") != details["is"].rstrip("\n"):
        return f"{name} is {text[:80]!r}"
    if missing := [one for one in details.get("has", ()) if _flat(one) not in flat]:
        return f"{name} lacks {missing}"
    if there := [one for one in details.get("lacks", ()) if _flat(one) in flat]:
        return f"{name} has {there}"
    at = 0
    for piece in details.get("in_order", ()):
        place = flat.find(_flat(piece), at)
        if place < 0:
            return f"{name} lacks {piece!r} in that order"
        at = place + len(_flat(piece))
    if "lines" in details:
        count = sum(1 for line in text.splitlines() if line.strip())
        if count != details["lines"]:
            return f"{name} has {count} lines"
    return _of_rows(text.splitlines(), details.get("rows", ()), name)


def _of_rows(
    lines: Sequence[str], rows: Sequence[Sequence[str]], name: str, *, in_order: bool = False
) -> str:
    at = 0
    for row in rows:
        found = next((n for n in range(at, len(lines)) if all(_holds(lines[n], cell) for cell in row)), None)
        if found is None:
            return f"{name} has no row {list(row)}{' in that order' if in_order else ''}"
        at = found + 1 if in_order else 0
    return ""


def _holds(line: str, cell: str) -> bool:
    if _flat(cell) in _flat(line):
        return True
    number = as_number(cell)
    return number is not None and holds_number(line, number)


def _ends(name: str, wanted: str) -> bool:
    return name == wanted or name.endswith(f"/{wanted}") or wanted.endswith(f"/{name}")


def _parents(name: str) -> Iterator[str]:
    while "/" in name:
        name = name.rpartition("/")[0]
        yield name


__all__ = ["Place", "unwanted", "wrong_with"]
