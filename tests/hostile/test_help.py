"""The help of every command: grouped, in whole sentences, with every character of its texts."""

import inspect
import os
import shlex
from collections.abc import Iterator
from typing import Any

import pytest
import typer

from tests import preloaded
from workbench.cli import app
from workbench.helping import GROUPS, examples_by_command, nearest_command

GROUP: Any = typer.main.get_command(app)
TAKING = ("explain", "dev defaults", "size", "simulate", "render")


def commands(group: Any = GROUP, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Every command of the help with its name."""
    if not hasattr(group, "commands"):
        yield path, group
        return
    for name, command in group.commands.items():
        if not command.hidden:
            yield from commands(command, (*path, name))


ALL = dict(commands())


def shown(*words: str, columns: int = 100, option: str = "--help") -> str:
    """The help of a command, as people see it."""
    env = {"COLUMNS": str(columns), "PATH": "", "TERM": "dumb"}
    done = preloaded.run(*words, option, env=env)
    assert done.returncode == 0, done.stderr
    return done.stdout


def flowing(text: str) -> str:
    """A text without line breaks."""
    return " ".join(text.split())


FIRST_PAGE = (
    *("init", "inspect", "adopt", "eject", "plan", "validate", "explain", "render", "migrate"),
    *("up", "preview", "destroy", "outputs", "diff", "cluster", "fit", "size", "simulate", "live", "dev"),
)
"""The commands of the first page, in its order."""


def test_the_first_page_lists_each_command_once_below_a_subject() -> None:
    text = shown()
    listed = [line.split()[0] for line in text.splitlines() if line.startswith("  ") and line[2:3].islower()]
    assert tuple(name for name in listed if name in FIRST_PAGE or name in {path[0] for path in ALL}) == FIRST_PAGE
    assert {path[0] for path in ALL} == {*FIRST_PAGE}
    assert "Commands:" not in text
    assert max(map(len, shown(columns=80).splitlines())) <= 80


@pytest.mark.parametrize(("group", "name"), [(group, name) for group, (_, names) in GROUPS.items() for name in names])
def test_commands_of_a_group_still_work_without_its_name(group: str, name: str) -> None:
    """Scripts have the earlier names."""
    old, new = GROUP.commands[name], GROUP.commands[group].commands[name]
    assert (old.hidden, new.hidden) == (True, False)
    assert old.callback.__qualname__ == new.callback.__qualname__
    assert f"workbench {name} [OPTIONS]" in shown(name)


@pytest.mark.parametrize("path", [(), *ALL], ids=" ".join)
def test_every_help_has_an_example_and_exit_codes(path: tuple[str, ...]) -> None:
    text = shown(*path, columns=80)
    assert "\nExamples:\n  workbench " in text
    assert not path or flowing(text).count("Exit codes: 0 ") == 1
    assert shown(*path, option="-h") == shown(*path)


@pytest.mark.parametrize(
    "example", sorted({each for examples in examples_by_command().values() for each in examples})
)
def test_every_example_is_a_command_with_its_options(example: str) -> None:
    """A wrong command, option or number of arguments raises."""
    group, words = GROUP, shlex.split(example)
    context = GROUP.make_context("workbench", [*words])
    with context:
        name, command, rest = group.resolve_command(context, words)
        while hasattr(command, "commands"):
            context = command.make_context(name, [*rest], parent=context)
            name, command, rest = command.resolve_command(context, rest)
        given = command.make_context(name, rest, parent=context).params
    assert given.keys() == {each.name for each in command.params if each.expose_value}


@pytest.mark.parametrize("word", ["deploy", "destory", "destro", "ejct", "falt", "delete", "remove", "down"])
def test_no_message_proposes_a_command_that_deletes(word: str) -> None:
    assert nearest_command(word, GROUP.commands) in ("", "up")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("deploy",), "unknown command 'deploy'; did you mean 'up'? See 'workbench --help'"),
        (("valdiate", "models"), "unknown command 'valdiate'; did you mean 'validate'? See 'workbench --help'"),
        (("destory",), "unknown command 'destory'; see 'workbench --help'"),
        (("laod",), "unknown command 'laod'; did you mean 'live load'? See 'workbench --help'"),
        (("live", "wach"), "unknown command 'wach'; did you mean 'live watch'? See 'workbench live --help'"),
        (("up", "--detials"), "unknown option '--detials'; did you mean '--details'? See 'workbench up --help'"),
        (("destroy", "--yess"), "unknown option '--yess'; see 'workbench destroy --help'"),
        (("--hlp",), "unknown option '--hlp'; see 'workbench --help'"),
    ],
    ids=str,
)
def test_a_mistyped_word_is_one_line(words: tuple[str, ...], message: str) -> None:
    done = preloaded.run(*words, env=os.environ)
    assert (done.returncode, done.stdout, done.stderr) == (2, "", f"{message}\n")


@pytest.mark.parametrize("path", ALL, ids=" ".join)
def test_paragraphs_are_whole(path: tuple[str, ...]) -> None:
    command = ALL[path]
    assert command.help
    assert command.callback
    documented = inspect.cleandoc(inspect.getdoc(command.callback) or "")
    assert command.help.split("\n\n") == [" ".join(each.split()) for each in documented.split("\n\n")]


def test_nothing_in_brackets_is_swallowed() -> None:
    assert "[default: text]" in flowing(shown("plan"))


@pytest.mark.parametrize("name", TAKING)
def test_options_that_override_settings_are_listed_once(name: str) -> None:
    text = shown(*name.split())
    assert text.count("--realization") == 1
    assert "See `workbench validate --help`." in flowing(text)
    # size has twenty options of its own.
    assert len(shown(*name.split(), columns=80).splitlines()) < (110 if name == "size" else 90)


def test_validate_explains_them() -> None:
    text = flowing(shown("validate"))
    assert "--realization <native|operator> Render plain Kubernetes objects (native)" in text
    assert "Options that override settings" not in text
