"""The model names that a server accepts."""

from ..command_line import CommandLine
from ..scripts.commands import engine_line
from ..settings import Setting
from .rows import served_names_table


def served_names(line: CommandLine) -> tuple[str, ...]:
    """Return the model names that a server accepts, the first of which is used in responses; empty if unknown.

    The default name is that of the file, folder, or repository of the model.
    """
    own = engine_line(line)
    reading = own.reading if own else None
    if own is None or reading is None or served_names_table(line.engine) is None:
        return ()
    names = _values(own, Setting.SERVED_NAME)
    stray = positional(own)
    return names or _values(own, Setting.MODEL)[-1:] or ((stray,) if stray else ())


def answers_to(line: CommandLine, name: str) -> bool | None:
    """Return whether a server accepts requests for a model name; None if unknown.

    Adapters have separate names (:func:`.adapters.adapter_model_name`).
    """
    known, names = served_names_table(line.engine), served_names(line)
    if known is None or not names:
        return None
    return known.others == "answered" or name in names


def positional(line: CommandLine) -> str:
    """Return the positional argument other than ``serve``, which is the model in vLLM; empty without one."""
    reading, words, start = line.reading, line.words, len(line.command)
    if reading is None or not reading.table.positionals:
        return ""
    strays = (words[start + use.position] for use in reading.uses if use.stray)
    return next((word for word in strays if word != "serve"), "")


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
