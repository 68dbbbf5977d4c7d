"""Reads single settings of a server: from the flags of its command line, else from its variables."""

import functools
import json
from collections.abc import Mapping
from decimal import Decimal
from typing import NoReturn

from ..command_line import CommandLine, EngineReading
from ..flags.tables import EngineFlags
from ..flags.values import is_filled_later
from ..numbers import parse_decimal, parse_int
from ..settings import Setting
from ..versions import ANY, VersionSpan
from .table import MemorySettingsTable

_BY_KEY = (Setting.SPECULATION, Setting.MODEL_CONFIG, Setting.MEDIA_LIMITS, Setting.MEDIA_OPTIONS)
"""Settings with JSON, of which single keys may be set."""
OFF = "off"
"""The value of a switch that is turned off."""
Variables = tuple[tuple[str, str | None], ...]
"""Environment variables; None for a value that is not in the manifest (``valueFrom``)."""
FlagValues = tuple[tuple[Setting, str], ...]
"""Settings with their values: empty for a switch that is on."""
_WITHOUT_MEMORY = frozenset(
    {
        *(Setting.SERVED_NAME, Setting.HOST, Setting.PORT, Setting.API_PREFIX, Setting.CERTIFICATES),
        *(Setting.METRICS, Setting.NO_METRICS, Setting.ADAPTERS, Setting.CHAT_TEMPLATES, Setting.TRANSFER),
        *(Setting.TRANSFER_ROLE, Setting.TRANSFER_BACKEND, Setting.TRANSFER_PORT, Setting.ATTENTION_BACKEND),
        *(Setting.REASONING_BUDGET, Setting.REASONING_MESSAGE, Setting.WARMUP, Setting.DRAFT_TOKENS),
    }
)
"""Settings that do not affect memory use. Servers that differ only in these share a cache entry."""


class UnclearError(Exception):
    """The memory use of a server cannot be determined; the message is the reason."""


class SettingsReader:
    """The settings of one server."""

    def __init__(
        self, table: MemorySettingsTable, tag: str, flags: FlagValues, variables: Mapping[Setting, str | None]
    ) -> None:
        self.table = table
        self.version = table.engine.version(tag)
        self._flags, self._variables = dict(flags), variables

    def text(self, setting: Setting) -> str | None:
        """Return the value of the flag, else of the variable; None if neither is set.

        Raises:
            UnclearError: The value is not in the manifest.
        """
        value = self._flags.get(setting)
        if value is None and setting in self._variables:
            value = self._variables[setting]
            if value is None:
                names = " or ".join(self.table.variables[setting])
                raise UnclearError(f"the value of the variable {names} is not known")
        if value is not None and is_filled_later(value):
            raise UnclearError(f"{self.named(setting)} is {value}, which is filled in later")
        return value

    def number(self, setting: Setting) -> int | None:
        """Return a whole number; None if it is not set."""
        text = self.text(setting)
        if not text:
            return None
        number = parse_int(text)
        return self.fail(setting, text) if number is None else number

    def decimal(self, setting: Setting) -> Decimal | None:
        """Return a number; None if it is not set."""
        text = self.text(setting)
        if not text:
            return None
        number = parse_decimal(text)
        return self.fail(setting, text) if number is None else number

    def is_on(self, setting: Setting) -> bool:
        text = self.text(setting)
        return text is not None and text.lower() not in (OFF, "false", "0")

    def holds(self, span: VersionSpan | None, what: str) -> bool:
        """Return whether the version of the engine is in a span; ``what`` names the fact in messages.

        Raises:
            UnclearError: The version is not known.
        """
        if span is None:
            return False
        self.need_version(what)
        return span.includes(self.version)

    def need_version(self, what: str) -> None:
        """Raise an error about a fact that depends on the version of the engine, if that is not known."""
        if self.version == ANY:
            engine = self.table.engine.name
            raise UnclearError(f"{what} depends on the version of {engine}, which is not in its image tag")

    def fail(self, setting: Setting, text: str) -> NoReturn:
        """Raise an error about an invalid value."""
        raise UnclearError(f"{self.named(setting)} is {text!r}, which is not a known value")

    def named(self, setting: Setting) -> str:
        """Return the name of a setting in messages: its flag."""
        return self.table.engine.flag(setting) or setting


def flag_values(line: CommandLine, reading: EngineReading) -> FlagValues:
    """Return the settings in a line, each with the value of its last use, which is the one that takes effect."""
    known = _settings(reading.table)
    values: dict[Setting, str] = {}
    for use in reading.uses:
        setting = known.get(use.flag.name) if use.flag and not use.dotted else None
        if setting is None or setting in _WITHOUT_MEMORY or use.flag is None:
            continue
        is_off = bool(use.flag.negatives) and reading.table.dashed(use.name) in use.flag.negatives
        values[setting] = OFF if is_off else line.first_value(use) or ""
    for setting in _BY_KEY:
        if any(use.dotted for use, _ in line.json_uses(setting)):
            values[setting] = json.dumps(line.document_of(setting))
    return tuple(values.items())


def argument_position(line: CommandLine, setting: Setting) -> int | None:
    """Return the position of the argument with the value of a setting, which is negative in the command.

    None if it has none, or is not parsed.
    """
    known = _settings(line.reading.table) if line.reading else {}
    positions = [
        use.values[-1].position if use.values else use.position
        for use in (line.reading.uses if line.reading else ())
        if use.flag and known.get(use.flag.name) == setting
    ]
    return positions[-1] if positions else None


def unclear_flag(line: CommandLine, reading: EngineReading, table: MemorySettingsTable) -> str:
    """Return why flags make the memory use unknown, by their effect; else empty."""
    files = table.engine.settings.get(Setting.CONFIG_FILE, ())
    for use in reading.uses:
        if use.flag is None:
            continue
        if line.config is not None and use.flag.name in files:
            if line.config.unread:
                return f"{use.flag.name} {line.config.unread}"
            continue
        clear = table.clear_values.get(use.flag.name, ())
        last = use.flag.normalized(use.values[-1].text, reading.version) if use.values else None
        if use.flag.name in table.unclear and last not in clear:
            return f"{use.flag.name} {table.unclear[use.flag.name]}"
    return ""


def unclear_variable(variables: Variables, table: MemorySettingsTable) -> str:
    """Return why a variable makes the memory use unknown; else empty."""
    reasons = table.unclear_variables
    return next((f"{name} {reasons[name]}" for name, _ in variables if name in reasons), "")


def variable_values(
    table: MemorySettingsTable, variables: Variables, *, more: bool
) -> tuple[tuple[Setting, str | None], ...]:
    """Return the settings in variables; None for a value that is not known.

    Args:
        table: The table of the engine.
        variables: The variables of the container.
        more: Whether the container has further, unknown variables.
    """
    if not table.variables:
        return ()
    env = dict(variables)
    values = {setting: env[name] for setting, names in table.variables.items() for name in names if name in env}
    return tuple({**(dict.fromkeys(table.variables) if more else {}), **values}.items())


@functools.cache
def _settings(flags: EngineFlags) -> Mapping[str, Setting]:
    """Return the setting of each flag, by the flag's own name."""
    settings = {flags.find(name): setting for setting, names in flags.engine.settings.items() for name in names}
    return {flag.name: setting for flag, setting in settings.items() if flag}
