"""Every command explains itself, with an example to copy."""

from __future__ import annotations

import json
import re

import pytest
import typer.main

from mcl.cli.app import NOUNS, RENAMED, app_for
from mcl.cli.main import main
from mcl.plugins.hooks import plugins


def commands(group=None, path=()):
    """The path of every command and group."""
    group = group or typer.main.get_command(app_for())
    yield path
    for name, command in getattr(group, "commands", {}).items():
        yield from commands(command, (*path, name)) if hasattr(command, "commands") else [(*path, name)]


@pytest.mark.parametrize("path", list(commands()), ids=" ".join)
def test_every_help_has_an_example_that_is_a_real_command(path, capsys):
    assert main([*path, "--help"]) == 0
    told = capsys.readouterr().out
    assert told.startswith("Usage: mcl")
    assert not re.search(r"[a-z,;:]\.\.\.$", told, re.MULTILINE), "no sentence is cut"
    assert "Example:" in told
    example = told.split("Example:")[1]
    assert "mcl " + " ".join(path) in example


def test_a_command_is_the_same_alone_as_among_all():
    whole = typer.main.get_command(app_for())
    added = [words for plugin in plugins() for words in plugin.commands if " " not in words]
    listed = [*added, *(name for names in NOUNS.values() for name in names)]
    assert sorted(listed) == sorted(whole.commands)
    for word in listed:
        alone = typer.main.get_command(app_for(word))
        assert word in alone.commands
        assert [one.opts for one in alone.params] == [one.opts for one in whole.params]
        assert [one.opts for one in alone.commands[word].params] == [
            one.opts for one in whole.commands[word].params
        ]


@pytest.mark.parametrize("noun", ["skill", "work", "hook", "model", "mcp"])
def test_a_noun_alone_shows_its_help(noun, capsys):
    assert main([noun]) == 0
    alone = capsys.readouterr().out
    assert main([noun, "--help"]) == 0
    assert alone == capsys.readouterr().out


def test_without_arguments_the_help_is_shown(capsys):
    assert main([]) == 0
    told = capsys.readouterr().out
    sections = ("Say and sign:", "Run:", "Check:", "Extend:", "Agents:", "Code:")
    assert [told.index(one) for one in sections] == sorted(told.index(one) for one in sections)
    assert "More:" not in told  # each command has its panel


@pytest.mark.parametrize("old", RENAMED)
def test_a_command_by_its_old_name_says_what_it_is_called_now(old, capsys):
    now = RENAMED[old]
    assert main([*old.split(), "x", "--json"]) == 2
    told = capsys.readouterr()
    error = json.loads(told.out)["error"]
    assert (error["code"], error["fix"]) == ("COMMAND_RENAMED", f"mcl {now} --help")
    assert f"mcl {old} is called mcl {now} now" in told.err
    assert main([*now.split(), "--help"]) == 0


def test_the_list_of_commands_is_what_the_readme_says():
    assert {" ".join(path) for path in commands() if path} == {
        *("init", "compile", "answer", "show", "list", "accept", "cancel", "plan", "run", "undo"),
        *("replay", "verify", "plan show", "plan check", "gate", "gate list", "gate show", "gate approve"),
        *(
            "gate deny",
            "gate correct",
            "correct",
            "plan compare",
            "log",
            "log show",
            "log verify",
            "log head",
            "log prove",
        ),
        *("log accept-break", "log restore-tables", "log restored", "log forget"),
        *("key", "key list", "key new", "key seal", "key export", "key trust", "key revoke"),
        *("policy", "policy check"),
        *("schedule", "schedule add", "schedule sign", "schedule list", "schedule show", "schedule run"),
        *("schedule install", "schedule revoke"),
        *(
            "grant",
            "grant add",
            "grant list",
            "grant remove",
            "agent",
            "agent add",
            "agent list",
            "agent remove",
        ),
        *("tool", "tool list", "tool show", "tool call", "tool check", "tool contracts"),
        *("tool approve", "tool quarantine", "tool reject", "tool classify", "tool unclassify"),
        *("repo", "repo route", "repo explain", "repo run", "repo exec", "repo add", "repo list"),
        *("repo switch", "repo remove"),
        *("review drift", "release", "release check"),
        *("review", "review file"),
        *("review context", "review context build", "review context show", "review context status"),
        *("review next", "review parse"),
        *(
            "review history",
            "review decide",
            "review decisions",
            "review remember",
            "review recall",
            "review dismiss",
            "review dismissals",
        ),
        "review bootstrap",
        *("server", "server add", "server list", "server show", "server check", "server trust"),
        *("server untrust", "server remove", "mcp", "mcp serve", "mcp install"),
        *("activity", "activity list", "activity show", "activity export", "activity stats"),
        "activity watch",
        *("skill", "skill list", "skill show", "skill check", "skill parse", "skill hash", "skill fmt"),
        *("skill new", "skill test", "skill publish", "skill import", "skill lsp"),
        *("memory", "memory add", "memory find", "memory show", "memory list", "memory remove"),
        *("memory snapshot", "memory prove", "memory verify", "memory learning"),
        *("config", "config zone", "config list", "config get", "config set", "do", "why"),
        *("key unlock", "key lock"),
        *("work", "work check", "work import", "work export", "work list", "work show"),
        *("work select", "work complete", "work release", "work trace", "work map"),
        *("hook", "hook pre-tool-use", "hook post-tool-use", "hook install"),
        *("model", "model list", "model show", "model add", "model tune", "model use", "model remove"),
        *("model find", "model get", "model check"),
    }
