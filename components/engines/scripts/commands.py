"""Finds the engine's command line in the text of a script, for reading only."""

import itertools
import re
import shlex
from collections.abc import Iterator

from ..command_line import CommandLine

_SETTERS = ("export", "exec", "env")
"""Words before assignments of variables."""
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=.*", re.ASCII | re.DOTALL)
_LAUNCHERS, _PROCESSES = ("mpirun", "mpiexec"), ("-n", "-np", "--np")
_JOINED = "\\\n"
_PARAMETERS = ("$@", "$*")
_ENDS = ";&|\n"
"""Characters that end a command; not parentheses, which may belong to ``$(NAME)``."""


def engine_line(line: CommandLine) -> CommandLine | None:
    """Return the command line that the engine parses: the line itself, or the last start of the engine in a script.

    Earlier commands in a script join other nodes (``ray start``) or check something.
    """
    if line.reading is not None:
        return line
    last: CommandLine | None = None
    for command in commands_of(line):
        for start in range(len(command)):
            inner = CommandLine(line.engine, line.tag, command[start + 1 :], command[start : start + 1])
            if inner.reading is not None:
                last = inner
                break
    if last is not None and line.config is not None:
        return last.with_config(line.config.words, line.config.unread)
    return last


def assigned_variables(line: CommandLine) -> dict[str, str]:
    """Return the variables that a script sets before it ends, each with its unexpanded value."""
    found: dict[str, str] = {}
    for command in commands_of(line):
        if command[:1] == ["unset"]:
            found = {name: value for name, value in found.items() if name not in command}
        for word in itertools.takewhile(lambda word: word in _SETTERS or _ASSIGNMENT.fullmatch(word), command):
            name, joint, value = word.partition("=")
            if joint:
                found[name] = value
    return found


def started_processes(line: CommandLine) -> Iterator[int]:
    """Yield the numbers of processes that MPI launchers in a command line or script start."""
    for command in (line.words, *commands_of(line)):
        names = [word.rpartition("/")[2] for word in command]
        place = next((place for place, name in enumerate(names) if name in _LAUNCHERS), len(names))
        for option, value in itertools.pairwise(command[place + 1 :]):
            if option in _PROCESSES and value.isascii() and value.isdecimal():
                yield int(value)
                break


def commands_of(line: CommandLine) -> Iterator[list[str]]:
    """Yield the commands of a script, each split into words; stops at the first syntax error."""
    place = line.script
    if not place:
        return
    own = line.words[place + 2 :]
    reader = shlex.shlex(line.words[place].replace(_JOINED, " "), posix=True, punctuation_chars=_ENDS)
    reader.whitespace_split = True
    reader.whitespace = " \t\r"
    command: list[str] = []
    try:
        for word in reader:
            if word and not word.strip(_ENDS):
                yield command
                command = []
            elif word in _PARAMETERS:
                command += own  # the words after the script, the first of which is its name
            else:
                command.append(word)
    except ValueError:
        return
    yield command
    yield list(own)
