"""The checks V1–V15: what a well-formed file must also mean.

V1 sections · V2 verbs · V3 slot types, defaults and bounds · V4 slot names · V5 resolve · V6 unknown and
clarify · V7 prompts and their places · V8 failure reasons · V9 sub-skill pins · V10 tool pins · V11 kind ·
V12 output_cardinality · V13 identity · V14 recorded digest · V15 reachable conditions
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Final

from ir import VERBS
from ir.checks import is_pinned
from ir.frame import valid_verb
from mcl.core.words import ACTIONS, CORTEX_KEYS, FAILURE_REASONS, MEMORY_TYPES, SKILL_KEYS
from mcl.language.mtx.ast import SECTIONS, File, Setting
from mcl.language.mtx.check_procedure import bad_verb, check_procedure, check_slots, no_memory_type
from mcl.language.mtx.digest import file_digest
from mcl.language.mtx.finding import Finding, found, nearest
from mcl.language.mtx.reach import check_reach
from mcl.language.mtx.source import MAX_FINDINGS

# ---- What a skill is called: its id and version, also where its file names none that can be used.

NO_VERSION: Final = "0.0.0"
_NUMBER: Final = r"(?:0|[1-9]\d*)"
_LABEL: Final = r"(?:0|[1-9]\d*|\d*[A-Za-z-][0-9A-Za-z-]*)"
SEMVER: Final = re.compile(
    rf"{_NUMBER}\.{_NUMBER}\.{_NUMBER}(?:-{_LABEL}(?:\.{_LABEL})*)?(?:\+[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*)?",
    re.ASCII,
)
ID: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}", re.ASCII)
_ODD: Final = re.compile(r"[^A-Za-z0-9._-]+", re.ASCII)
MAX_VERSION: Final = 128  # characters


def valid_version(text: str) -> bool:
    """Whether a text is a semantic version (semver.org 2.0.0) of at most 128 characters."""
    return len(text) <= MAX_VERSION and SEMVER.fullmatch(text) is not None


def skill_id(settings: Mapping[str, str], folder: Path) -> str:
    """The `id=` of §SKILL; where there is none that can be used, the folder's name, fit for an address."""
    written = settings.get("id", "")
    if ID.fullmatch(written):
        return written
    return _ODD.sub("-", folder.absolute().name).lstrip("._-")[:128] or "skill"


def skill_version(settings: Mapping[str, str]) -> str:
    """The `version=` of §SKILL, or 0.0.0 where there is none that can be used."""
    written = settings.get("version", "")
    return written if valid_version(written) else NO_VERSION


MAX_DESCRIPTION = 280
_PLACES = {"matrix://tool/": "§TOOLS", "matrix://skill/": "§SUB_SKILLS"}
_DIGEST = re.compile(r"(?:sha256:)?[0-9a-f]{64}", re.ASCII | re.IGNORECASE)
_STRICT = ("V13", "V14", "V15")  # warnings, because real files break them


def check(file: File, *, name: str = "", strict: bool = False) -> list[Finding]:
    """Everything that is wrong with a parsed file, in the order of its lines (of each kind of check at most
    200 things).

    name: the id that V13 expects (the folder's name; "" for none). strict: V13–V15 are errors throughout.
    """
    parts = (
        _sections(file),
        _header(file, name),
        _keys(file),
        _verbs(file),
        check_slots(file),
        _cortex(file),
        _references(file),
        check_procedure(file),
        check_reach(file),
        _failures(file),
        _hash(file),
    )
    findings = {finding for part in parts for finding in islice(part, MAX_FINDINGS)}
    if strict:
        findings = {
            replace(finding, severity="error") if finding.code in _STRICT else finding for finding in findings
        }
    return sorted(findings)


def _sections(file: File) -> Iterator[Finding]:
    present = {section.name for section in file.sections}
    for name in SECTIONS:
        if name not in present and name != "HASH":
            hint = f"add §{name}" + ("" if name == "SKILL" else " with `none` below it")
            yield Finding(1, 1, "V1", f"there is no section §{name}", "", hint)


def _header(file: File, name: str) -> Iterator[Finding]:
    section = file.section("SKILL")
    if section is None:
        return
    settings = {entry.key: entry for entry in section.entries if isinstance(entry, Setting)}
    for key, valid, what in (
        ("id", ID.fullmatch, "a name of letters, digits, dots, - and _"),
        ("version", valid_version, "a semantic version such as 1.0.0"),
    ):
        entry = settings.get(key)
        if entry is None or not entry.value.value:
            message, hint = f"§SKILL has no {key}", f"add {key}=, {what}"
            yield found(entry or section, "V13", message, key, hint, warning=True)
        elif not valid(entry.value.value):
            yield found(entry.value, "V13", f"{key} is not {what}", entry.value.value, warning=True)
    value = settings["id"].value if "id" in settings else None
    if value is not None and name and value.value != name and ID.fullmatch(value.value):
        message = f"the id is {value.value!r} and the folder (or file) is called {name!r}"
        yield found(value, "V13", message, value.value, "give both the same name", warning=True)
    description = settings.get("description")
    if description is None or not description.value.value:
        at = description or section
        hint = "say in a sentence what it does: goals are matched with it"
        yield found(at, "V13", "§SKILL has no description", "description", hint, warning=True)
    elif len(description.value.value) > MAX_DESCRIPTION:
        message = f"{len(description.value.value)} characters; a description has at most {MAX_DESCRIPTION}"
        yield found(description.value, "V13", message, description.value.value[:40], warning=True)


def _keys(file: File) -> Iterator[Finding]:
    """§SKILL takes any setting; one that is nearly a known one is most likely misspelt."""
    section = file.section("SKILL")
    for entry in section.entries if section else ():
        own = isinstance(entry, Setting) and "." in entry.key.removeprefix("mcl.")  # a name of its author's
        if isinstance(entry, Setting) and entry.key not in SKILL_KEYS and not own:
            hint = nearest(entry.key, SKILL_KEYS, likeness=0.8)
            if hint:
                yield found(entry, "KEY", f"nothing reads {entry.key}=", entry.key, hint, warning=True)


def _verbs(file: File) -> Iterator[Finding]:
    section = file.section("SKILL")
    if section is None:
        return
    entry = next((e for e in section.entries if isinstance(e, Setting) and e.key == "mcl.verbs"), None)
    if entry is None or not entry.value.value.split():
        hint = f"add mcl.verbs= with some of: {' '.join(VERBS)}"
        message = "§SKILL names no mcl.verbs, so a goal with any verb may choose it"
        yield found(entry or section, "V2", message, "", hint, warning=True)
        return
    seen: set[str] = set()
    for verb in entry.value.value.split():
        if not valid_verb(verb):
            yield bad_verb(entry.value, verb)
        elif verb in seen:
            message = f"the verb {verb!r} is named twice"
            yield found(entry.value, "V2", message, verb, "keep one of them", warning=True)
        seen.add(verb)


def _cortex(file: File) -> Iterator[Finding]:
    section = file.section("CORTEX")
    for entry in section.entries if section else ():
        if not isinstance(entry, Setting):
            continue
        if entry.key not in CORTEX_KEYS:
            hint = nearest(entry.key, CORTEX_KEYS)
            yield found(entry, "CORTEX", f"§CORTEX has no {entry.key!r}", entry.key, hint, warning=True)
        elif entry.key == "budget":
            if not (entry.value.value.isascii() and entry.value.value.isdigit() and int(entry.value.value)):
                message = "a budget is a whole number of tokens from 1"
                yield found(entry.value, "CORTEX", message, entry.value.value, "budget=256", warning=True)
        elif entry.key != "tags":
            for word in entry.value.value.split():
                if word not in MEMORY_TYPES:
                    yield no_memory_type(entry.value, word)


def _references(file: File) -> Iterator[Finding]:
    for section, code, noun in (("SUB_SKILLS", "V9", "skill"), ("TOOLS", "V10", "tool")):
        seen: set[str] = set()
        for reference in file.references(section):
            uri = reference.uri
            if not uri.startswith(f"matrix://{noun}/"):
                message = f"§{section} names matrix://{noun}/ references only"
                hint = next((f"put it into {s}" for kind, s in _PLACES.items() if uri.startswith(kind)), "")
                yield found(reference, code, message, uri, hint)
            elif not is_pinned(uri):
                hint = "end it with @<semver> or @sha256:<64 hex>"
                yield found(reference, code, f"this {noun} is not pinned to a version", uri, hint)
            if uri in seen:
                message = f"this {noun} is named twice"
                yield found(reference, code, message, uri, "keep one of them", warning=True)
            seen.add(uri)


def _failures(file: File) -> Iterator[Finding]:
    for failure in file.failures:
        reason = failure.reason
        if reason is not None and reason.value not in FAILURE_REASONS:
            hint = nearest(reason.value, FAILURE_REASONS) or f"reasons: {' '.join(FAILURE_REASONS)}"
            yield found(reason, "V8", f"there is no failure reason {reason.value!r}", reason.value, hint)
        action = failure.action
        if action is not None and action.value not in ACTIONS:
            hint = nearest(action.value, ACTIONS) or f"actions: {' '.join(ACTIONS)}"
            message = f"nothing acts on action={action.value}"
            yield found(action, "ACTION", message, action.value, hint, warning=True)


def _hash(file: File) -> Iterator[Finding]:
    section = file.section("HASH")
    for entry in section.entries if section else ():
        if not isinstance(entry, Setting) or not entry.value.value:
            continue
        legal = {"v": "1", "algo": "sha256_ast"}.get(entry.key, entry.value.value)
        if entry.value.value != legal:
            message, text = f"nothing here checks {entry.key}={entry.value.value}", entry.value.value
            yield found(entry.value, "V14", message, text, f"write {entry.key}={legal}", warning=True)
        if entry.key != "digest":
            continue
        digest, recorded = file_digest(file), entry.value.value
        if recorded.removeprefix("sha256:") != digest:
            # What is no digest, or one of zeros, was never written; else the file was changed since.
            changed = _DIGEST.fullmatch(recorded) and recorded.removeprefix("sha256:").strip("0")
            hint = f"digest={digest}" + (
                "; mcl skill publish writes it, where that is meant" if changed else ""
            )
            message = "the recorded digest is not that of this file"
            yield found(entry.value, "V14", message, recorded, hint, warning=not changed)
