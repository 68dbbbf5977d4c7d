"""The names that a server answers to."""

from ..command_line import CommandLine
from ..scripts.commands import engine_line
from ..settings import Setting
from .rows import served_names_table

_SERVE = "serve"


def served_names(line: CommandLine) -> tuple[str, ...]:
    """Return the names of the model that a server has, the first one that of responses; none where it is not known.

    Without a name of its own the model is called like its file, folder or repository.
    """
    own = engine_line(line)
    reading = own.reading if own else None
    if own is None or reading is None or served_names_table(line.engine) is None:
        return ()
    names = _values(own, Setting.SERVED_NAME)
    stray = positional(own)
    return names or _values(own, Setting.MODEL)[-1:] or ((stray,) if stray else ())


def answers_to(line: CommandLine, name: str) -> bool | None:
    """Tell whether a server answers a request for a model of some name; None where it is not known.

    Adapters have names of their own (:func:`.adapters.asked_as`).
    """
    known, names = served_names_table(line.engine), served_names(line)
    if known is None or not names:
        return None
    return known.others == "answered" or name in names


def positional(line: CommandLine) -> str:
    """Return what stands without a flag, ``serve`` aside: vLLM takes its model so. Empty where nothing does."""
    reading, words, start = line.reading, line.words, len(line.command)
    if reading is None or not reading.table.positionals:
        return ""
    strays = (words[start + use.position] for use in reading.uses if use.stray)
    return next((word for word in strays if word != _SERVE), "")


def _values(line: CommandLine, setting: Setting) -> tuple[str, ...]:
    """Return all values of the last use of a setting."""
    reading, words, start = line.reading, line.words, len(line.command)
    flags = known.engine.settings.get(setting, ()) if (known := served_names_table(line.engine)) else ()
    uses = list(reading.uses_of(flags, off=False)) if reading else []
    if not uses:
        return ()
    use = uses[-1]
    values = (words[start + value.position] for value in use.values)
    return tuple(value.partition("=")[2] if use.joined else value for value in values)
