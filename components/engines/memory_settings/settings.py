"""What a server is told of each setting: by the flags of its command line, else by its variables."""

import functools
from collections.abc import Mapping
from decimal import Decimal
from typing import NoReturn

from ..command_line import CommandLine, EngineReading
from ..flags.splitting import FlagUse
from ..flags.tables import EngineFlags
from ..flags.values import is_filled_later
from ..numbers import parse_decimal, parse_int
from ..settings import Setting
from ..versions import ANY, Span
from .table import MemorySettingsTable

OFF = "off"
"""Stands for the value of a switch that is turned off."""
Variables = tuple[tuple[str, str | None], ...]
"""Environment variables; None where the value is not written."""
FlagValues = tuple[tuple[Setting, str], ...]
"""Settings with their values: empty for a switch that is on."""


_OTHERS = frozenset(
    {
        *(Setting.SERVED_NAME, Setting.HOST, Setting.PORT, Setting.API_PREFIX, Setting.CERTIFICATES),
        *(Setting.METRICS, Setting.NO_METRICS, Setting.ADAPTERS, Setting.CHAT_TEMPLATES, Setting.TRANSFER),
        *(Setting.TRANSFER_ROLE, Setting.TRANSFER_BACKEND, Setting.TRANSFER_PORT, Setting.ATTENTION_BACKEND),
        *(Setting.REASONING_BUDGET, Setting.REASONING_MESSAGE, Setting.WARMUP, Setting.DRAFT_TOKENS),
    }
)
"""Settings that do not decide about memory: servers that differ in nothing else are looked at once."""


class UnclearError(Exception):
    """Why it cannot be said how much memory a server needs."""


class SettingsReader:
    """The settings of one server."""

    def __init__(
        self, table: MemorySettingsTable, tag: str, given: FlagValues, variables: Mapping[Setting, str | None]
    ) -> None:
        self.table = table
        self.version = table.engine.version(tag)
        self._given, self._variables = dict(given), variables

    def text(self, setting: Setting) -> str | None:
        """Return what a flag says, else its variable; None where neither does.

        Raises:
            UnclearError: the value is not known.
        """
        value = self._given.get(setting)
        if value is None and setting in self._variables:
            value = self._variables[setting]
            if value is None:
                names = " or ".join(self.table.variables[setting])
                raise UnclearError(f"the value of the variable {names} is not known")
        if value is not None and is_filled_later(value):
            raise UnclearError(f"{self.named(setting)} is {value}, which is filled in later")
        return value

    def number(self, setting: Setting) -> int | None:
        """Return a whole number; None where nothing says it."""
        text = self.text(setting)
        if not text:
            return None
        number = parse_int(text)
        return self.fail(setting, text) if number is None else number

    def decimal(self, setting: Setting) -> Decimal | None:
        """Return a number; None where nothing says it."""
        text = self.text(setting)
        if not text:
            return None
        number = parse_decimal(text)
        return self.fail(setting, text) if number is None else number

    def is_on(self, setting: Setting) -> bool:
        """Tell whether a switch is on."""
        text = self.text(setting)
        return text is not None and text.lower() not in (OFF, "false", "0")

    def holds(self, span: Span | None, what: str) -> bool:
        """Tell whether something holds for the version of the engine.

        Raises:
            UnclearError: that depends on the version, which is not known.
        """
        if span is None:
            return False
        self.need_version(what)
        return span.includes(self.version)

    def need_version(self, what: str) -> None:
        """Refuse to say what depends on the version of the engine where nothing tells that."""
        if self.version == ANY:
            raise UnclearError(
                f"{what} depends on the version of {self.table.engine.name}, which its image does not tell"
            )

    def fail(self, setting: Setting, text: str) -> NoReturn:
        """Say that a value is not understood."""
        raise UnclearError(f"{self.named(setting)} is {text!r}, which is not understood")

    def named(self, setting: Setting) -> str:
        """Return what messages call a setting."""
        return self.table.engine.flag(setting) or setting


def flag_values(line: CommandLine, reading: EngineReading) -> FlagValues:
    """Return the settings that an engine reads in a line, each with the value that counts."""
    known, words, start = _settings(reading.table), line.words, len(line.command)
    found: dict[Setting, str] = {}
    for use in reading.uses:
        setting = known.get(use.flag.name) if use.flag and not use.dotted else None
        if setting is None or setting in _OTHERS or use.flag is None:
            continue
        is_off = bool(use.flag.negatives) and reading.table.dashed(use.name) in use.flag.negatives
        found[setting] = OFF if is_off else _value(use, words, start)
    return tuple(found.items())


def argument_index(line: CommandLine, setting: Setting) -> int | None:
    """Return which argument gives the value of a setting; None where none does, or another program reads them."""
    known = _settings(line.reading.table) if line.reading else {}
    places = [
        use.values[-1].position if use.values else use.position
        for use in (line.reading.uses if line.reading else ())
        if use.flag and known.get(use.flag.name) == setting
    ]
    return places[-1] if places and places[-1] >= 0 else None


def unclear_flag(reading: EngineReading, table: MemorySettingsTable) -> str:
    """Return why memory is not known: a flag that decides otherwise, or keys of JSON that are written one by one."""
    known = _settings(reading.table)
    for use in reading.uses:
        if use.flag is None:
            continue
        if use.flag.name in table.unclear:
            return f"{use.flag.name} {table.unclear[use.flag.name]}"
        if use.dotted and known.get(use.flag.name) in (Setting.SPECULATION, Setting.MODEL_CONFIG):
            return f"{use.name} sets a single key of JSON"
    return ""


def unclear_variable(variables: Variables, table: MemorySettingsTable) -> str:
    """Return why memory is not known: a variable that decides otherwise."""
    reasons = table.unclear_variables
    return next((f"{name} {reasons[name]}" for name, _ in variables if name in reasons), "")


def variable_values(
    table: MemorySettingsTable, variables: Variables, *, more: bool
) -> tuple[tuple[Setting, str | None], ...]:
    """Return what variables say of settings; None for one whose value is not written.

    Args:
        table: How the engine is told.
        variables: Those of the container.
        more: Whether there are others, which are not known.
    """
    if not table.variables:
        return ()
    given = dict(variables)
    found = {setting: given[name] for setting, names in table.variables.items() for name in names if name in given}
    return tuple({**(dict.fromkeys(table.variables) if more else {}), **found}.items())


@functools.cache
def _settings(flags: EngineFlags) -> Mapping[str, Setting]:
    """Return the setting of each flag, by the flag's own name."""
    found = {flags.find(name): setting for setting, names in flags.engine.settings.items() for name in names}
    return {flag.name: setting for flag, setting in found.items() if flag}


def _value(use: FlagUse, words: tuple[str, ...], start: int) -> str:
    """Return the first value of a use, as a line has it; empty without."""
    if not use.values:
        return ""
    word = words[start + use.values[0].position]
    if use.values[0].position != use.position:
        return word
    return word.partition("=")[2] if use.joined else word[len(use.name) :].removeprefix("=")
