"""The command lines of containers.

If the engine itself parses the arguments, they are split as the engine does. If another program does, such as a shell
or a custom script, their text is searched for flags.
"""

import functools
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from .flags.splitting import FlagUse, is_closed, split
from .flags.tables import EngineFlags, flags_of
from .flags.values import json_object
from .images import parse_image
from .registry import PYTHON, default_flags, engine_of, engine_of_program, engines
from .settings import Setting
from .versions import Version

_SHELLS = ("sh", "bash", "ash", "dash", "zsh")
_RUNS_TEXT = re.compile(r"-[a-z]*c")
_HELPERS = re.compile(r"\bray start\b[^\n;&|]*")
"""Other programs in scripts, whose flags are not those of the engine."""
_NOT_READ: Any = object()


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfigArguments:
    """What a configuration file adds to a command line (:mod:`.config_file`).

    Attributes:
        words: The arguments in it.
        first: Index of the first of them in the command; None in a script, whose text stays as it is.
        moved: Arguments of the container that come before them, and are therefore in the command.
        unread: Why its content is not known; empty if it is.
    """

    words: tuple[str, ...] = ()
    first: int | None = None
    moved: int = 0
    unread: str = ""


@dataclass(frozen=True, slots=True)
class EngineReading:
    """A command line as the engine parses it.

    Attributes:
        table: The flags of the engine.
        version: Its version; None is the newest, ``ANY`` an unknown one.
        uses: The flags and their values. Positions count from the first argument; in the command they are negative.
        cache: The uses of flags that were looked up.
    """

    table: EngineFlags
    version: Version | None
    uses: tuple[FlagUse, ...]
    cache: dict[object, tuple[FlagUse, ...]] = field(default_factory=dict, repr=False, compare=False)

    def uses_of(self, flags: Sequence[str], *, off: bool) -> Iterator[FlagUse]:
        """Yield the uses of some flags, with ``off`` also those of their negative forms."""
        known, names = _names(self.table, tuple(flags))
        for use in self.uses:
            if use.flag is None:
                if not use.stray and _name(use.name) in names:
                    yield use
            elif use.flag.name not in known or use.dotted:
                continue
            elif off or self.table.dashed(use.name) not in use.flag.negatives:
                yield use


class CommandLine:
    """The command and arguments of a container, parsed once, on first use.

    Attributes:
        engine: Name of the engine; empty if unknown.
        tag: Version tag of the image (:meth:`.registry.Engine.version_tag`).
        args: The arguments.
        command: The command of the container; empty if the image's entrypoint runs.
        unread: Whether the engine is known not to parse the arguments.
        config: The arguments of its configuration file; None if none was looked for.
    """

    __slots__ = ("_reading", "args", "command", "config", "engine", "tag", "unread")

    def __init__(
        self,
        engine: str,
        tag: str,
        args: Sequence[object],
        command: Sequence[object] = (),
        *,
        unread: bool = False,
        config: ConfigArguments | None = None,
    ) -> None:
        self.engine = engine
        self.tag = tag
        self.args = tuple(map(str, args))
        self.command = tuple(map(str, command))
        self.unread = unread
        self.config = config
        self._reading: EngineReading | None = None if unread else _NOT_READ

    def __eq__(self, other: object) -> bool:
        return isinstance(other, CommandLine) and self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)

    @property
    def _key(self) -> tuple[object, ...]:
        return (self.engine, self.tag, self.args, self.command, self.unread, self.config)

    @property
    def words(self) -> tuple[str, ...]:
        """Command and arguments."""
        return self.command + self.args

    @property
    def is_script(self) -> bool:
        """Whether a shell runs it, so that appended arguments do not reach the engine."""
        return bool(self.script)

    @property
    def script(self) -> int:
        """Index of the word that is the text of a shell script; 0 without one."""
        place = self._script_place
        return place if place < len(self.words) else 0

    @property
    def lacks_script(self) -> bool:
        """Whether ``-c`` of a shell has no script, so that the shell exits with an error."""
        return self._script_place >= len(self.words) > 0

    @property
    def _script_place(self) -> int:
        """Index of the script of a shell, which may be past the end; 0 without a shell."""
        first = self.words[:3]
        if not first or first[0].rpartition("/")[2] not in _SHELLS:
            return 0
        return next((place + 1 for place, word in enumerate(first) if place and _RUNS_TEXT.fullmatch(word)), 0)

    @property
    def is_read(self) -> bool:
        """Whether the engine parses the arguments and has a flag table."""
        if not self.unread:
            return self.reading is not None
        table = flags_of(self.engine)
        return table is not None and _start_of(table, self.command, self.args, self.tag) is not None

    @property
    def reading(self) -> EngineReading | None:
        """The parsed line; None if another program parses the arguments, or the engine has no flag table."""
        if self._reading is _NOT_READ:
            table = flags_of(self.engine)
            self._reading = _read(table, self.tag, self.args, self.command) if table else None
        return self._reading

    @property
    def started(self) -> tuple[str, ...]:
        """The program of the engine and its arguments; empty if the image's entrypoint runs."""
        table = flags_of(self.engine)
        start = _start_of(table, self.command, self.args, self.tag) if table else None
        return self.words[start - 1 :] if start else ()

    def holds(self, *wanted: Setting | str) -> bool:
        """Return whether it contains any of some settings or flags."""
        return bool(self._uses(wanted)) if self.reading else next(self._search(wanted), None) is not None

    @property
    def has_unknown_config(self) -> bool:
        """Whether a configuration file, whose content is not known, may have further arguments."""
        return self.holds(Setting.CONFIG_FILE) and (self.config is None or bool(self.config.unread))

    def value_of(self, *wanted: Setting | str) -> str | None:
        """Return the first value of the last use of some settings or flags."""
        values = list(self._values(wanted))
        return values[-1] if values else None

    def json_uses(self, setting: Setting) -> Iterator[tuple[FlagUse, str]]:
        """Yield the uses of a setting that takes JSON, including those of single keys, each with its text."""
        reading = self.reading
        if reading is None:
            return
        flags = {
            flag.name for flag in map(reading.table.find, reading.table.engine.settings.get(setting, ())) if flag
        }
        words, start = self.words, len(self.command)
        for use in reading.uses:
            if use.flag and use.flag.name in flags:
                word = words[start + use.values[0].position] if use.values else ""
                yield use, word.partition("=")[2] if use.joined else word

    def document_of(self, setting: Setting) -> dict[str, Any] | None:
        """Return the JSON of a setting; None if it is not set, or anything else.

        vLLM merges single keys into one document, which it appends to the arguments, so that it takes precedence over
        the document in one argument (FlexibleArgumentParser.parse_args).
        """
        uses = list(self.json_uses(setting))
        dotted = [(use, text) for use, text in uses if use.dotted]
        if dotted:
            return _document_of_keys(dotted)
        return json_object(uses[-1][1]) if uses else None

    def number_of(self, *wanted: Setting | str) -> int | None:
        """Return the value of the last use of some settings or flags, if it is a whole number."""
        values = list(self._values(wanted))
        if self.reading is None:  # the word after a flag in other programs' text need not be its value
            values = [value for value in values if _is_number(value)]
        return int(values[-1]) if values and _is_number(values[-1]) else None

    def word_of(self, *wanted: Setting | str) -> str | None:
        """Return the argument with the first use of some settings or flags, or of their negative forms; else None."""
        if self.reading is None:
            names = self._spellings(wanted)
            return next((word for arg in self.args for word in arg.split() if _name(word) in names), None)
        position = next((use.position for use in self._uses(wanted, off=True) if use.position >= 0), None)
        return None if position is None else self.args[position]

    def filled(self, fill: Callable[[str], str], most: int) -> "CommandLine":
        """Return the line with the first ``most`` arguments replaced; the replacement must not change the flags."""
        args = (*map(fill, self.args[:most]), *self.args[most:])
        line = CommandLine(self.engine, self.tag, args, self.command)
        line._reading = self._reading
        return line

    def without(self, *wanted: Setting | str) -> "CommandLine":
        """Return the line without some settings or flags, including their values."""
        if self.reading is None:
            names, rest = self._spellings(wanted), iter(self.args)
            args = []
            for arg in rest:
                if _name(arg) not in names:
                    args.append(arg)
                elif "=" not in arg:
                    next(rest, None)  # the flag's value
            return CommandLine(self.engine, self.tag, args, self.command)
        dropped = {place for use in self._uses(wanted) for place in use.places}
        if not dropped:
            return self
        kept = [arg for position, arg in enumerate(self.args) if position not in dropped]
        return CommandLine(self.engine, self.tag, kept, self.command)

    def with_tag(self, tag: str) -> "CommandLine":
        """Return the line for an image with another version."""
        return CommandLine(self.engine, tag, self.args, self.command, unread=self.unread, config=self.config)

    def with_config(self, words: Sequence[str], unread: str = "") -> "CommandLine":
        """Return the line with the arguments of its configuration file, which its own take precedence over.

        They become part of the command, so that positions of arguments are those in the container, but for the ones
        that come before them, such as the model.

        Args:
            words: The arguments.
            unread: Why they are not known, if they are not.
        """
        table, line = flags_of(self.engine), self.words
        start = _start_of(table, self.command, self.args, self.tag) if table else None
        if table is None or start is None or unread:
            config = ConfigArguments(words=tuple(words), unread=unread)
            return CommandLine(self.engine, self.tag, self.args, self.command, unread=self.unread, config=config)
        place = start + (line[start : start + 1] == ("serve",))
        place += bool(table.positionals and line[place : place + 1] and not line[place].startswith("-"))
        # Without a command, the program of the image's entrypoint parses what follows.
        engine = table.engine
        program = () if start else (engine.programs[0], *filter(None, (engine.started,)))
        if line[:1] == ("serve",):
            program = program[:1]
        before, moved = (*program, *line[:place]), max(place - len(self.command), 0)
        config = ConfigArguments(words=tuple(words), first=len(before), moved=moved)
        command = (*before, *words, *self.command[place:])
        return CommandLine(self.engine, self.tag, self.args[moved:], command, config=config)

    def config_index(self, position: int) -> int | None:
        """Return which argument of the configuration file has a position; None for any other argument."""
        if self.config is None or self.config.first is None or position >= 0:
            return None
        index = len(self.command) + position - self.config.first
        return index if 0 <= index < len(self.config.words) else None

    def followed_by(self, more: "CommandLine") -> "CommandLine":
        """Return the line with the arguments of another one appended, reusing what was parsed already."""
        if not more.args:
            return self
        line = CommandLine(self.engine, self.tag, self.args + more.args, self.command)
        first, second = self.reading if self.words else None, more.reading
        if first and second and is_closed(first.table, self.args, first.uses, more.args[0]):
            moved = (use.moved(len(self.args)) for use in second.uses if use.position >= 0)
            line._reading = EngineReading(first.table, first.version, (*first.uses, *moved))
        return line

    def continued(self, args: Sequence[str]) -> "CommandLine":
        """Return arguments that may follow its own as a separate line, parsed by the engine if this line is."""
        whole = CommandLine(self.engine, self.tag, (*self.args, *args), self.command)
        engine = engines().get(self.engine)
        command = engine.programs[:1] if engine else ()
        return CommandLine(self.engine, self.tag, args, command, unread=not whole.is_read)

    def _flags(self, wanted: Sequence[Setting | str]) -> tuple[str, ...]:
        engine = engines().get(self.engine)
        flags: list[str] = []
        for item in wanted:
            if not isinstance(item, Setting):
                flags.append(item)
            elif engine and (item in engine.settings or self.reading):
                flags += engine.settings.get(item, ())
            else:
                flags += default_flags(item)
        return tuple(flags)

    def _spellings(self, wanted: Sequence[Setting | str]) -> frozenset[str]:
        return frozenset(map(_name, self._flags(wanted)))

    def _uses(self, wanted: tuple[Setting | str, ...], *, off: bool = False) -> tuple[FlagUse, ...]:
        reading = self.reading
        assert reading is not None  # noqa: S101  checked by the callers
        uses = reading.cache.get((wanted, off))
        if uses is None:
            uses = reading.cache[wanted, off] = tuple(reading.uses_of(self._flags(wanted), off=off))
        return uses

    def _values(self, wanted: tuple[Setting | str, ...]) -> Iterator[str]:
        if self.reading is None:
            yield from (value for value in self._search(wanted) if value)
            return
        for use in self._uses(wanted):
            value = self.first_value(use)
            if value is not None:
                yield value

    def first_value(self, use: FlagUse) -> str | None:
        """Return the first value of a use of a flag, as the engine reads it; None if it has none.

        An unknown flag is assumed to take the word after it.
        """
        text = self._first_word(use)
        return use.flag.normalized(text, self.reading.version) if text and use.flag and self.reading else text

    def _first_word(self, use: FlagUse) -> str | None:
        words, start = self.words, len(self.command)
        if not use.values:
            after = start + use.position + 1
            return words[after] if use.flag is None and not use.joined and after < len(words) else None
        word = words[start + use.values[0].position]
        if use.values[0].position != use.position:
            return word
        return word.partition("=")[2] if use.joined else word[len(use.name) :].removeprefix("=")

    def _search(self, wanted: tuple[Setting | str, ...]) -> Iterator[str]:
        """Search the text for some flags, and yield the word after each."""
        names = self._spellings(wanted)
        words = _HELPERS.sub("", " ".join(self.words)).split()
        for position, word in enumerate(words):
            if _name(word) in names:
                _, joint, value = word.partition("=")
                yield value if joint else words[position + 1] if position + 1 < len(words) else ""


def command_line_of(container: Mapping[str, Any], engine: str = "") -> CommandLine:
    """Return the command line of a container.

    Args:
        container: The container.
        engine: Name of its engine, if known; otherwise it is inferred from the image or the program.
    """
    image = parse_image(str(container.get("image") or ""))
    words = (*(container.get("command") or ()), *(container.get("args") or ()))
    known = engines().get(engine) or engine_of(image.repository) or engine_of_program(words)
    tag = known.version_tag(image.repository, image.tag) if known else image.tag
    return CommandLine(known.name if known else "", tag, container.get("args") or (), container.get("command") or ())


@functools.lru_cache(maxsize=4096)
def _read(table: EngineFlags, tag: str, args: tuple[str, ...], command: tuple[str, ...]) -> EngineReading | None:
    start = _start_of(table, command, args, tag)
    if start is None:
        return None
    version = table.version(tag)
    return EngineReading(table, version, split(table, (command + args)[start:], version, start - len(command)))


def _start_of(table: EngineFlags, command: Sequence[str], args: Sequence[str], tag: str) -> int | None:
    """Return the index of the first word that the engine parses; None if another program is run.

    It is unknown how other programs use their arguments, such as a shell, a custom script, or a client in the image.
    """
    engine, words = table.engine, [*command, *args]
    first = words[0].rpartition("/")[2] if words else ""
    if first in engine.programs:
        return 1
    if PYTHON.fullmatch(first):
        module = words.index("-m") + 1 if "-m" in words else len(words)
        return module + 1 if words[module : module + 1] and words[module] in engine.programs else None
    if command or first in _SHELLS or tag.startswith(engine.other_tags):
        return None
    return 0


@functools.lru_cache(maxsize=256)
def _names(table: EngineFlags, flags: tuple[str, ...]) -> tuple[frozenset[str], frozenset[str]]:
    """Return the names of some flags in the table, and the normalized spellings for flags that are not in it."""
    return frozenset(flag.name for flag in map(table.find, flags) if flag), frozenset(map(_name, flags))


def _name(word: str) -> str:
    """Return the flag of a word with dashes, because some engines accept ``--a_b`` for ``--a-b``."""
    return word.partition("=")[0].replace("_", "-")


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdecimal()


def _document_of_keys(uses: list[tuple[FlagUse, str]]) -> dict[str, Any]:
    """Merge single keys, such as ``--flag.a.b 1`` and ``--flag.c+ x``, which appends to a list."""
    document: dict[str, Any] = {}
    for use, text in uses:
        *path, last = use.name.split(".")[1:]
        parent = document
        for key in path:
            child = parent.get(key)
            if not isinstance(child, dict):
                child = parent[key] = {}
            parent = child
        if last.endswith("+"):
            key = last.removesuffix("+")
            earlier = parent.get(key)
            items = earlier if isinstance(earlier, list) else []
            parent[key] = [*items, *map(_value, text.split(","))]
        else:
            parent[last] = _value(text)
    return document


def _value(text: str) -> Any:  # noqa: ANN401 - whatever JSON holds
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text
