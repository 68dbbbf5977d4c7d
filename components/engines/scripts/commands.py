"""Finds the engine's own command line within the text of a script, to be read only."""

import shlex
from collections.abc import Iterator

from ..command_line import CommandLine

_JOINED = "\\\n"
_ENDS = ";&|\n"
"""What ends a command. A parenthesis may be that of ``$(NAME)``."""


def engine_line(line: CommandLine) -> CommandLine | None:
    """Return what the engine reads of a line: the line itself, or the words of a script that start the engine.

    Args:
        line: What a container is started with. Where a shell runs a script that starts the engine several times, the
            last time counts: what comes before is joined to it (``ray start``), or checks something.
    """
    if line.reading is not None:
        return line
    found: CommandLine | None = None
    for command in commands_of(line):
        for start in range(len(command)):
            inner = CommandLine(line.engine, line.tag, command[start + 1 :], command[start : start + 1])
            if inner.reading is not None:
                found = inner
                break
    return found


def commands_of(line: CommandLine) -> Iterator[list[str]]:
    """Yield the commands of a script, each split into words; nothing where the shell would not take it either."""
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
