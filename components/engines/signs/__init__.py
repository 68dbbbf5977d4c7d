"""Recognizes servers of models by several signs, whatever their images are called: one file for each server.

A server is recognized by a certain sign: its program, or the name of an image that contains nothing else. Otherwise
by two weak signs of different kinds, one of which is its name in the image or in a label: the word ``vllm`` in the
image of a router does not make it a server, and port 8000 is that of many programs.

The columns:

    engine: the engine whose command line it has, if that is not its own name; empty for a server without flag tables.
    images: patterns of image repositories, without the registry, that contain nothing but the server.
    words: patterns of image references, which programs in front of a server match too.
    programs: programs and Python modules that start it, as words of a command or of a script, or a program with its
        first argument.
    variables: patterns of environment variables that it alone reads.
    flags: flags that are usual for it.
    ports: its usual ports.
    labels: values of the labels that charts and operators set (``labels.yaml``), as patterns.
    model: flags, variables, assignments (``name=value`` as arguments), commands (words before the name) and the last
        argument (``positional``) that name the model, in this order; ``image``: the pattern of the image's repository
        whose first group is the model.
"""

import functools
import itertools
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.resources import files
from types import MappingProxyType
from typing import Any

from ...contract.tables import load_table, read_table
from ..command_line import CommandLine
from ..images import Image, parse_image
from ..scripts.commands import commands_of

_TABLES = ("labels", "others")
"""Files that are no servers."""
_NEEDED = 2
"""Weak signs that together are enough."""


@dataclass(frozen=True, slots=True, eq=False)
class ServerSigns:
    """A server of models; the attributes are the columns of its file."""

    name: str
    engine: str = ""
    images: tuple[re.Pattern[str], ...] = ()
    words: tuple[re.Pattern[str], ...] = ()
    programs: frozenset[str] = frozenset()
    variables: tuple[re.Pattern[str], ...] = ()
    flags: frozenset[str] = frozenset()
    ports: frozenset[int] = frozenset()
    labels: tuple[re.Pattern[str], ...] = ()
    model: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _Facts:
    """What a container shows of the server in it.

    Attributes:
        by_image: Whether the entrypoint of the image or a script runs, so that the image tells the program.
    """

    image: Image
    words: tuple[str, ...]
    commands: tuple[tuple[str, ...], ...]
    variables: frozenset[str]
    ports: frozenset[int]
    labels: tuple[str, ...]
    devices: bool
    by_image: bool


def servers() -> Mapping[str, ServerSigns]:
    """Return the known servers by name."""
    return _servers()


def server_in(
    container: Mapping[str, Any], labels: Mapping[str, str] = MappingProxyType({}), *, devices: bool = False
) -> ServerSigns | None:
    """Return the server of models that a container runs; None without enough signs.

    Args:
        container: The container.
        labels: The labels of its pod.
        devices: Whether it requests accelerators.
    """
    facts = _facts_of(container, labels, devices=devices)
    if _is_other(facts):
        return None
    # The program decides: the image of one server may start another.
    for recognizes in (_is_started, _is_certain, _is_likely):
        found = next((server for server in servers().values() if recognizes(server, facts)), None)
        if found:
            return found
    return None


def server_started_by(container: Mapping[str, Any]) -> ServerSigns | None:
    """Return the server whose program a container starts; None without one."""
    facts = _facts_of(container, {}, devices=False)
    if _is_other(facts):
        return None
    return next((server for server in servers().values() if _is_started(server, facts)), None)


def models_of(
    server: ServerSigns, container: Mapping[str, Any], variables: Mapping[str, str] = MappingProxyType({})
) -> tuple[str, ...]:
    """Return the models that a container serves, as its command, variables or image name them.

    Args:
        server: The server in it.
        container: The container, with its variables expanded.
        variables: The values of its environment variables.
    """
    rules, line = server.model, _line_of(container)
    words = [line.words, *commands_of(line)] if line.script else [line.words]
    found: Iterator[str] = (
        value
        for each in words
        for value in (
            *_after(each, rules.get("flags", ())),
            *_assigned(each, rules.get("assignments", ())),
        )
    )
    named = next((value for value in found if value), "")
    named = named or next((variables[name] for name in rules.get("variables", ()) if variables.get(name)), "")
    named = named or next((value for each in words for value in _commanded(each, rules.get("commands", ()))), "")
    if not named and rules.get("positional") and line.args and not line.args[-1].startswith("-"):
        named = line.args[-1]
    if not named and "image" in rules:
        match = re.search(rules["image"], parse_image(str(container.get("image") or "")).repository)
        named = match[1] if match else ""
    return (named,) if named else ()


def _after(words: Sequence[str], flags: Sequence[str]) -> Iterator[str]:
    """Yield the values of flags, those of the first flag first, and of a repeated one the last first: it holds."""
    for flag in flags:
        for place, word in reversed([*enumerate(words)]):
            name, joint, value = word.partition("=")
            if name == flag:
                yield value if joint else "".join(words[place + 1 : place + 2])


def _assigned(words: Sequence[str], names: Sequence[str]) -> Iterator[str]:
    pairs = (word.partition("=") for word in words)
    yield from (value for name, joint, value in pairs if joint and name in names)


def _commanded(words: Sequence[str], commands: Sequence[str]) -> Iterator[str]:
    """Yield the word after a command such as ``ollama pull``, unless it is a flag."""
    for command in commands:
        first = tuple(command.split())
        for place in range(len(words)):
            program = words[place].rpartition("/")[2]
            after = place + len(first)
            if (program, *words[place + 1 : after]) == first and after < len(words) and words[after][:1] != "-":
                yield words[after]


def _is_other(facts: _Facts) -> bool:
    """Return whether a container runs a program in front of servers, or a client of one."""
    others, idle = _others(), _containers()["idle"]
    if any(pattern.search(facts.image.repository) for pattern in others["images"]):
        return True
    if facts.words and facts.words[0].rpartition("/")[2] in idle:
        return True
    return any(program in others["programs"] for command in facts.commands for program in _programs(command))


def _programs(command: Sequence[str]) -> Iterator[str]:
    """Yield the program that a command runs, alone and with its first argument, modules of Python, and scripts."""
    words = [*itertools.dropwhile(lambda word: word in _containers()["runners"] or "=" in word, command)]
    if not words:
        return
    names = [word.rpartition("/")[2] for word in words]
    if names[0] in _containers()["launchers"]:
        # Which words are values of its options is not known.
        for place in range(1, len(words)):
            yield from _programs(words[place:])
        return
    yield names[0]
    yield " ".join((names[0], *words[1:2]))
    if words[0].rpartition("/")[2].startswith("python") and "-m" in words:
        yield from words[words.index("-m") + 1 :][:1]
    yield from (name for word in words for name in (word, word.rpartition("/")[2]) if word.endswith(".py"))


def _is_certain(server: ServerSigns, facts: _Facts) -> bool:
    return facts.by_image and any(pattern.search(facts.image.repository) for pattern in server.images)


def _is_started(server: ServerSigns, facts: _Facts) -> bool:
    return any(program in server.programs for command in facts.commands for program in _programs(command))


def _is_likely(server: ServerSigns, facts: _Facts) -> bool:
    return _weak_signs(server, facts) >= _NEEDED


def _weak_signs(server: ServerSigns, facts: _Facts) -> int:
    """Return the number of weak signs of different kinds; 0 if none of them names the server."""
    reference = f"{facts.image.repository}:{facts.image.tag}"
    named = facts.by_image and any(pattern.search(reference) for pattern in server.words)
    labelled = any(pattern.fullmatch(label) for pattern in server.labels for label in facts.labels)
    if not named and not labelled:
        return 0
    flags = {word.partition("=")[0] for word in facts.words}
    variables = any(pattern.fullmatch(name) for pattern in server.variables for name in facts.variables)
    return sum(
        (named, labelled, bool(flags & server.flags), variables, bool(facts.ports & server.ports), facts.devices)
    )


def _facts_of(container: Mapping[str, Any], labels: Mapping[str, str], *, devices: bool) -> _Facts:
    line = _line_of(container)
    commands = [line.words, *commands_of(line)] if line.script else [line.words]
    ports = (port.get("containerPort") for port in _dicts(container.get("ports")))
    keys = _label_keys()
    return _Facts(
        image=parse_image(str(container.get("image") or "")),
        words=line.words,
        commands=tuple(map(tuple, commands)),
        variables=frozenset(str(variable.get("name")) for variable in _dicts(container.get("env"))),
        ports=frozenset(port for port in ports if isinstance(port, int)),
        labels=tuple(str(labels[key]) for key in keys if key in labels),
        devices=devices,
        by_image=not line.command or bool(line.script) or line.command[0].endswith(".sh"),
    )


def _line_of(container: Mapping[str, Any]) -> CommandLine:
    return CommandLine("", "", _texts(container.get("args")), _texts(container.get("command")))


def _texts(value: object) -> list[object]:
    return value if isinstance(value, list) else []


def _dicts(value: object) -> Iterator[Mapping[str, Any]]:
    yield from (each for each in (value if isinstance(value, list) else ()) if isinstance(each, dict))


@functools.cache
def _servers() -> Mapping[str, ServerSigns]:
    folder = files(__package__)
    entries = sorted(entry.name for entry in folder.iterdir() if entry.name.endswith(".yaml"))
    names = (entry.removesuffix(".yaml") for entry in entries)
    return MappingProxyType({name: _server(name) for name in names if name not in _TABLES})


def _server(name: str) -> ServerSigns:
    row: dict[str, Any] = dict(read_table(files(__package__).joinpath(f"{name}.yaml")) or {})
    return ServerSigns(
        name=name,
        engine=row.get("engine", ""),
        images=_patterns(row.get("images", ())),
        words=_patterns(row.get("words", ())),
        programs=frozenset(row.get("programs", ())),
        variables=_patterns(row.get("variables", ())),
        flags=frozenset(row.get("flags", ())),
        ports=frozenset(row.get("ports", ())),
        labels=_patterns(row.get("labels", ())),
        model=row.get("model", {}),
    )


def _patterns(texts: Iterable[str]) -> tuple[re.Pattern[str], ...]:
    return tuple(map(re.compile, texts))


@functools.cache
def _label_keys() -> tuple[str, ...]:
    return tuple(load_table(__package__, "labels.yaml")["keys"])


@functools.cache
def _containers() -> Mapping[str, Any]:
    """Return the table of containers that do not serve."""
    table: Mapping[str, Any] = load_table(str(__package__).rpartition(".")[0], "serving.yaml")
    return table


@functools.cache
def _others() -> Mapping[str, Any]:
    table = load_table(__package__, "others.yaml")
    return {"images": _patterns(table["images"]), "programs": frozenset(table["programs"])}
