"""Finds the engine's command line in the text of a script, for reading only."""

import shlex
from collections.abc import Iterator

from ..command_line import CommandLine

_JOINED = "\\\n"
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
    return last


def commands_of(line: CommandLine) -> Iterator[list[str]]:
    """Yield the commands of a script, each split into words; stops at the first syntax error."""
    place = line.script
    if not place:
        return
    reader = shlex.shlex(line.words[place].replace(_JOINED, " "), posix=True, punctuation_chars=_ENDS)
    reader.whitespace_split = True
    reader.whitespace = " \t\r"
    command: list[str] = []
    try:
        for word in reader:
            if word and not word.strip(_ENDS):
                yield command
                command = []
            else:
                command.append(word)
    except ValueError:
        return
    yield command
    yield list(line.words[place + 2 :])
