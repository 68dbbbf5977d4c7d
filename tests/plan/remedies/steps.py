"""Takes the steps of messages literally: as edits of the manifests that the messages are about."""

import copy
import json
import re
import shlex
from collections.abc import Callable, Iterator
from typing import Any

import yaml

from components.contract.findings.advice import split_message
from components.contract.problems import Problem
from components.engines.flags.tables import flags_of
from components.engines.registry import engines
from components.engines.settings import Setting

Object = dict[str, Any]
Documents = list[Object]
_VERBS = "add|set|remove|lower|use|give|request|write|let|choose|extend|put"
_ALTERNATIVE = re.compile(rf",? or (?=(?:{_VERBS})\b)")
_TOGETHER = re.compile(rf",? and (?=(?:{_VERBS})\b)")
_TYPE = r"([a-z][a-z0-9-]*\.[a-z0-9-]+)"
_DEGREE = r"(?: \((?:tensor parallelism )?(\d+)(?: accelerator)?\))?"
_TYPE_LABEL = "node.kubernetes.io/instance-type"
_ARGUMENTS = ("args", "command", "extraArgs", "config")


class Arguments:
    """The arguments of an engine in a manifest: a list, a map of flags, or a script; edited as words."""

    def __init__(self, engine: str, parent: Object, key: str) -> None:
        self._table, self._parent, self._key = flags_of(engine), parent, key
        value = parent[key]
        self.is_map = isinstance(value, dict)
        self.is_script = not self.is_map and value[1:2] == ["-c"]
        if self.is_map:
            self.words = [word for name, given in value.items() for word in _words_of(name, given)]
        elif self.is_script:
            self.words = shlex.split(value[2])
        else:
            self.words = list(map(str, value))

    def write(self) -> None:
        if self.is_map:
            self._parent[self._key] = _map_of(self.words)
        elif self.is_script:
            # What the shell replaces stays so.
            self._parent[self._key][2] = re.sub(r"'(\$\w+)'", r'"\1"', shlex.join(self.words))
        else:
            self._parent[self._key] = self.words

    def position(self, flag: str) -> int | None:
        """Return the position of the last use of a flag, by any of its names."""
        wanted = self._name(flag)
        places = [place for place, word in enumerate(self.words) if self._name(word.partition("=")[0]) == wanted]
        return places[-1] if places else None

    def put(self, flag: str, *values: str) -> None:
        """Set a flag, in place if it is set already."""
        self.remove(flag)
        self.words += [flag, *values]
        self.write()

    def remove(self, flag: str) -> bool:
        place = self.position(flag)
        if place is None:
            return False
        self.remove_at(place)
        return True

    def remove_at(self, place: int) -> None:
        """Remove the flag at a position with its values, or the one whose value is there."""
        while place and not self.words[place].startswith("-"):
            place -= 1
        end = place + 1
        while end < len(self.words) and not self.words[end].startswith("-"):
            end += 1
        del self.words[place:end]
        self.write()

    def replace(self, old: str, new: str) -> None:
        self.words = [new if word == old else word.replace(f'"{old}"', f'"{new}"') for word in self.words]
        self.write()

    def _name(self, flag: str) -> str:
        known = self._table.find(flag) if self._table and flag.startswith("-") else None
        return known.name if known else flag


def _words_of(name: str, value: object) -> list[str]:
    flag = f"--{name.replace('_', '-')}"
    if value is True or value == "":
        return [flag]
    return [flag, value if isinstance(value, str) else json.dumps(value)]


def _map_of(words: list[str]) -> Object:
    given: Object = {}
    name = ""
    for word in words:
        if word.startswith("--"):
            name = word.removeprefix("--")
            given[name] = ""
        else:
            given[name] = word
    return given


class Subject:
    """The resource that a message is about, with what its family keeps elsewhere.

    Attributes:
        documents: All manifests, which are edited.
        engine: The engine that they start.
    """

    def __init__(self, documents: Documents, problem: Problem, engine: str) -> None:
        self.documents, self.engine, self.problem = documents, engine, problem
        self.own = next(
            each for each in documents if (each["kind"], each["metadata"]["name"]) == (problem.kind, problem.name)
        )

    def arguments(self, flag: str = "") -> Arguments:
        """Return the arguments that contain a flag; else those to which further ones are added."""
        if self.own["kind"] == "Playground":
            self.own["spec"].setdefault("backendRuntimeConfig", {}).setdefault("args", [])
        if self.own["kind"] == "InferenceService":
            self.own["spec"].setdefault("extraArgs", [])
        found = [Arguments(self.engine, parent, key) for parent, key in _lists(self.own)]
        holding = [each for each in found if flag and each.position(flag) is not None]
        return holding[0] if holding else found[-1]

    def add_variable(self, variable: Object) -> None:
        """Add a variable to the container of the engine."""
        if self.own["kind"] == "Playground":
            self.own["spec"]["backendRuntimeConfig"]["envs"] = [variable]
        elif self.own["kind"] == "InferenceService":
            self.own["spec"]["env"] = [variable]
        for parent, key in _keys(self.own, ("backends", "containers")):
            parent[key][0]["env"] = [variable]

    def remove_variable(self, name: str) -> None:
        for parent, key in _keys(self.own, ("env", "envs")):
            parent[key] = [variable for variable in parent[key] if variable["name"] != name]

    def limit_memory(self, amount: str) -> None:
        """Set the memory limit of the container of the engine."""
        if self.own["kind"] == "Playground":
            self.own["spec"]["backendRuntimeConfig"]["resources"] = {"limits": {"memory": amount}}
        for parent, _ in _keys(self.own, ("limits",)):
            parent["limits"]["memory"] = amount

    def setting(self, setting: Setting, value: str) -> None:
        """Set a setting in the field that has it, or else as an argument."""
        fields = {
            Setting.CONTEXT: ("maxModelLen", "contextLength", "contextSize"),
            Setting.CONCURRENCY: ("maxNumSeqs", "parallelSlots"),
            Setting.TENSOR_PARALLEL: ("tensorParallelSize",),
            Setting.GPU_MEMORY: ("gpuMemoryUtilization", "memFractionStatic"),
        }[setting]
        for parent, key in _keys(self.own, fields):
            parent[key] = _typed(parent[key], value)
            return
        flag = engines()[self.engine].flag(setting)
        assert flag
        self.arguments(flag).put(flag, value)

    def parent_of(self, path: str) -> tuple[Any, str | int]:
        """Return the object with the field of a path, and its key there."""
        keys: list[str | int] = []
        for part in re.findall(r"[^.\[\]]+(?=\.|\[|$)|\[[^\]]*\]", path):
            inner = part.strip("[]")
            keys.append(int(inner) if inner.isdecimal() else inner)
        value: Any = self.own
        for key in keys[:-1]:
            value = value[key]
        return value, keys[-1]

    def move(self, node: str) -> None:
        """Select another instance type."""
        for document in self.documents:
            for parent, key in _keys(document, ("INSTANCE-TYPE", _TYPE_LABEL)):
                parent[key] = node
            for parent, _ in _keys(document, ("values",)):
                parent["values"] = [node]

    def request(self, count: int) -> None:
        """Request accelerators for each pod."""
        for document in self.documents:
            for parent, key in _keys(document, ("nvidia.com/gpu", "gpu")):
                if not isinstance(parent[key], dict):
                    parent[key] = _typed(parent[key], str(count))
                elif "count" in parent[key]:
                    parent[key]["count"] = count

    def spread(self, degree: int) -> None:
        """Request accelerators and use them for tensor parallelism."""
        self.request(degree)
        for document in self.documents:
            for parent, _ in _keys(document, ("INSTANCE-TYPE",)):
                parent["TP"] = str(degree)
                return
        self.setting(Setting.TENSOR_PARALLEL, str(degree))


def _lists(value: Any) -> Iterator[tuple[Object, str]]:
    """Yield what may hold arguments, the command before the arguments."""
    if isinstance(value, dict):
        for key in ("command", "args", "extraArgs", "config"):
            if isinstance(value.get(key), list | dict):
                yield value, key
        for inner in value.values():
            yield from _lists(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _lists(inner)


def _keys(value: Any, names: tuple[str, ...]) -> Iterator[tuple[Object, str]]:
    if isinstance(value, dict):
        for key in [*value]:
            if key in names:
                yield value, key
            yield from _keys(value[key], names)
    elif isinstance(value, list):
        for inner in value:
            yield from _keys(inner, names)


def _typed(old: object, text: str) -> object:
    return int(text) if isinstance(old, int) and text.isdecimal() else text


def _flag_in(problem: Problem) -> str:
    found = re.search(r"--[\w-]+", problem.reason)
    assert found, problem.reason
    return found[0]


def _set_flag(subject: Subject, found: re.Match[str]) -> None:
    subject.arguments(found[1]).put(found[1], found[2].strip("'"))


def _add_flag(subject: Subject, found: re.Match[str]) -> None:
    subject.arguments().put(found[1], *found[2].split())


def _remove_flag(subject: Subject, found: re.Match[str]) -> None:
    assert subject.arguments(found[1]).remove(found[1])


def _place(subject: Subject) -> tuple[Arguments, int] | None:
    """Return the arguments and the position that the path of the message names."""
    found = re.search(r"\.(?:args|command|extraArgs)\[(\d+)\]$", subject.problem.path)
    if not found:
        return None
    parent, _ = subject.parent_of(subject.problem.path.rpartition("[")[0])
    return Arguments(subject.engine, parent, subject.problem.path.rpartition(".")[2].partition("[")[0]), int(found[1])


def _remove_it(subject: Subject, _: re.Match[str]) -> None:
    place = _place(subject)
    if place:
        place[0].remove_at(place[1])
        return
    parent, key = subject.parent_of(subject.problem.path)
    if key in _ARGUMENTS:
        flag = _flag_in(subject.problem)
        assert subject.arguments(flag).remove(flag)
    else:
        del parent[key]


def _command(subject: Subject, found: re.Match[str]) -> None:
    for parent, _ in _keys(subject.own, ("containers",)):
        parent["containers"][0]["command"] = yaml.safe_load(found[1])


def _set_it(subject: Subject, found: re.Match[str]) -> None:
    place = _place(subject)
    parent, key = (None, "") if place else subject.parent_of(subject.problem.path)
    if place or key in _ARGUMENTS:
        flag = _flag_in(subject.problem)
        subject.arguments(flag).put(flag, found[1])
    else:
        assert isinstance(parent, dict | list)
        parent[key] = _typed(parent[key], found[1])  # type: ignore[index]


def _set_path(subject: Subject, found: re.Match[str]) -> None:
    parent, key = subject.parent_of(found[1])
    parent[key] = _typed(parent.get(key, ""), found[2])


def _use_type(subject: Subject, found: re.Match[str]) -> None:
    subject.move(found[1])
    if found[2]:
        subject.spread(int(found[2]))


def _move_all(subject: Subject, found: re.Match[str]) -> None:
    """Move to accelerators over which the engine divides the layers by itself."""
    subject.move(found[1])
    subject.request(int(found[2]))


def _give(subject: Subject, found: re.Match[str]) -> None:
    subject.move(found[2])
    subject.spread(int(found[1]))


def _params(subject: Subject, found: re.Match[str]) -> None:
    for document in subject.documents:
        for parent, _ in _keys(document, ("INSTANCE-TYPE",)):
            parent.update(yaml.safe_load(found[1]))


def _config(subject: Subject, found: re.Match[str]) -> None:
    for flag, value in yaml.safe_load(found[1]).items():
        subject.arguments().put(f"--{flag}", str(value))


def _mean(subject: Subject, found: re.Match[str]) -> None:
    quoted = re.search(r"(?:found|accept) '([^']+)'", subject.problem.reason)
    first = re.match(r"[\w.-]+", subject.problem.reason)
    assert quoted or first
    old = quoted[1] if quoted else first[0] if first else ""
    for parent, key in _lists(subject.own):
        Arguments(subject.engine, parent, key).replace(old, found[1])


def _rename(subject: Subject, found: re.Match[str]) -> None:
    """Put another flag in the place of the one of the message, with a value or with the one that it has."""
    place = _place(subject)
    if place:
        arguments, position = place
    else:
        arguments = subject.arguments(_flag_in(subject.problem))
        known = arguments.position(_flag_in(subject.problem))
        assert known is not None
        position = known
    arguments.words[position : position + 1] = [found[1], *found[2].split()]
    arguments.write()


def _drain(subject: Subject, found: re.Match[str]) -> None:
    for parent, _ in _keys(subject.own, ("containers",)):
        parent["terminationGracePeriodSeconds"] = int(found[3])
        parent["containers"][0].update(yaml.safe_load(found[2]))
    flag, _, value = found[1].partition("=")
    subject.arguments().put(flag, value)


def _volume(subject: Subject, found: re.Match[str]) -> None:
    for parent, _ in _keys(subject.own, ("containers",)):
        parent.setdefault("volumes", []).append(yaml.safe_load(found[1]))
        parent["containers"][0].setdefault("volumeMounts", []).append(yaml.safe_load(found[2]))


def _secret(subject: Subject, found: re.Match[str]) -> None:
    variable = yaml.safe_load(found[1])
    flag = engines()[subject.engine].settings[Setting.API_KEY][0]
    arguments = subject.arguments(flag)
    arguments.put(flag, found[2].strip('"'))
    subject.add_variable(variable)


_EDITS: tuple[tuple[str, Callable[[Subject, re.Match[str]], None]], ...] = (
    (r"set (--[\w-]+) to ([^\s,]+)(?: in \S+)?", _set_flag),
    (r"add (--[\w-]+)((?: (?!to\b|and\b|with\b)[^\s,]+)*)(?: to \S+)?", _add_flag),
    (r"remove (--[\w-]+)", _remove_flag),
    (r"remove it", _remove_it),
    (r"add command: (\[.*\]) to the container", _command),
    (r"(?:set|lower) it to ([\w.-]+)", _set_it),
    (r"write a number such as (\d+)", _set_it),
    (r"set (spec\.\S+) to (\S+)", _set_path),
    (rf"use {_TYPE}{_DEGREE}(?:, the cheapest instance type (?:that does|on which it fits))?", _use_type),
    (rf"give each replica (\d+) accelerators of {_TYPE}{_DEGREE}", _give),
    (r"raise the memory limit to (\w+)", lambda subject, found: subject.limit_memory(found[1])),
    (r"add (\{.*\}) to the volumes of the pod, and (\{.*\}) to the volumeMounts of container \S+", _volume),
    (r"remove the variable (\w+)", lambda subject, found: subject.remove_variable(found[1])),
    (r"request (\d+) accelerators?", lambda subject, found: subject.request(int(found[1]))),
    (r"add params: (\{.*\})", _params),
    (r"set config: (\{.*\})", _config),
    (r"did you mean '([^']+)'\?", _mean),
    (r"use (--[\w-]+)((?: \S+)?)", _rename),
    (r"write (--?[\w-]+) and (\S+) as two arguments", _rename),
    (rf"use {_TYPE} \(pipeline parallelism (\d+)\)", _move_all),
    (
        r"lower the context to ([\d,]+) tokens",
        lambda subject, found: subject.setting(Setting.CONTEXT, found[1].replace(",", "")),
    ),
    (
        r"lower the number of concurrent requests to ([\d,]+)",
        lambda subject, found: subject.setting(Setting.CONCURRENCY, found[1].replace(",", "")),
    ),
    (
        r"lower the engine's memory share to ([\d.]+)",
        lambda subject, found: subject.setting(Setting.GPU_MEMORY, found[1]),
    ),
    (
        r"add (--[\w=-]+) to its arguments, (lifecycle: .*) to the container, and "
        r"terminationGracePeriodSeconds: (\d+) to the pod",
        _drain,
    ),
    (r"move it to the Secret .*?, add (\{.*\}) to the variables, and write (\S+) in its place", _secret),
)
_WHOLE = ("add --shutdown", "move it", "add {name: dshm")
"""Beginnings of steps whose parts belong together."""


def alternatives(problem: Problem) -> list[str]:
    """Return the steps that a message offers, each of which must end its finding."""
    step = split_message(problem.reason).help.partition("; ")[0]
    if not step:
        return []
    return [step] if step.startswith(_WHOLE) else _ALTERNATIVE.split(step)


def follow(step: str, problem: Problem, documents: Documents, engine: str) -> Documents | None:
    """Return the manifests after a step; None if it is not an edit that can be taken literally."""
    edited = copy.deepcopy(documents)
    for part in [step] if step.startswith(_WHOLE) else _TOGETHER.split(step):
        for pattern, edit in _EDITS:
            found = re.fullmatch(pattern, part)
            if found:
                edit(Subject(edited, problem, engine), found)
                break
        else:
            return None
    return edited
