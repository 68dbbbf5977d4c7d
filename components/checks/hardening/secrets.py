"""Secrets in clear text in variables and arguments, readable by everybody who may read the workload."""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from ...contract.findings.ids import RuleId
from ...contract.load import LoadedResource
from ...contract.problems import Problem, Severity, field_path
from ...contract.texts.literal_secrets import FORMED, is_literal_secret
from ...fleet.objects import Object
from ...fleet.rendered import Rendered

_KEY_FLAG = re.compile(r"--?[\w-]*(?:key|token|secret|password)[= ]", re.IGNORECASE)
_ARGUMENTS = frozenset({"args", "command", "extraArgs"})


def check_secrets(items: Sequence[Rendered], resources: Iterable[LoadedResource]) -> Iterator[Problem]:
    """Warn about each variable with a secret in clear text, at the field that sets it.

    Args:
        items: What is created, also unchanged.
        resources: All resources: a variable may come from another resource that is referred to.
    """
    secrets = [
        (item, variable)
        for item in items
        for variable in _variables(item)
        if is_literal_secret(str(variable.get("name", "")), variable.get("value"))
    ]
    arguments = [(item, found) for item in items for found in dict.fromkeys(_arguments(item))]
    others = list(resources) if secrets or arguments else []
    for item, variable in secrets:
        places = (
            (source, field_path(path))
            for source in (item.source, *others)
            for path in _paths(source.resource.wire(), variable, ())
        )
        source, path = next(places, (item.source, "spec"))
        yield source.problem(
            path, _reason(item, variable["name"]), Severity.WARNING, rule=RuleId.SECURITY_SECRET_IN_CLEAR
        )

    for item, argument in arguments:
        found = [
            (source, path)
            for source in (item.source, *others)
            for path in _texts(source.resource.wire(), argument.value, ())
        ]
        # A variable may have the same value.
        found.sort(key=lambda place: _ARGUMENTS.isdisjoint(place[1]))
        source, steps = found[0] if found else (item.source, ("spec",))
        path = field_path(steps)
        yield source.problem(
            path, _argument_reason(item, argument), Severity.WARNING, rule=RuleId.SECURITY_SECRET_IN_CLEAR
        )


class _Argument(NamedTuple):
    """A secret in the arguments of a container.

    Attributes:
        flag: The flag with it; empty if its form alone tells what it is.
        in_script: Whether it is a part of a script, whose shell expands variables itself.
    """

    flag: str
    value: str
    in_script: bool = False


def _arguments(item: Rendered) -> Iterator[_Argument]:
    for workload in item.workloads:
        for template in workload.templates:
            spec = template["spec"]
            for container in (*(spec.get("initContainers") or ()), *spec["containers"]):
                words = [str(word) for key in ("command", "args") for word in container.get(key) or ()]
                yield from _secret_words(words)


def _secret_words(words: list[str]) -> Iterator[_Argument]:
    flag = ""
    for word in words:
        name, joined, value = word.partition("=")
        if word.startswith("-"):
            if joined and is_literal_secret(name, value):
                yield _Argument(name, value)
            # A flag may take several values.
            flag = "" if joined else word
        elif any(character.isspace() for character in word):
            if FORMED.search(word) or _KEY_FLAG.search(word):
                from ...contract.texts.secrets import secret_texts

                yield from (_Argument("", secret, in_script=True) for secret in sorted(secret_texts(word)))
        elif is_literal_secret(flag, word):
            yield _Argument(flag, word)


def _argument_reason(item: Rendered, argument: _Argument) -> str:
    # The message must not contain the value.
    flag = argument.flag
    name = f"{item.name}-secrets"
    key = flag.strip("-").replace("-", "_").upper() or "KEY"
    subject = f"argument {flag}" if flag else "the script" if argument.in_script else "an argument"
    reference = f'"${key}"' if argument.in_script else f"$({key})"
    return (
        f"{subject} contains a secret in clear text, which is stored and shown with the pod; move it to the Secret "
        f"{name!r} in namespace {item.namespace}, add {{name: {key}, valueFrom: {{secretKeyRef: {{name: {name}, key: "
        f"{key}}}}}}} to the variables, and write {reference} in its place"
    )


def _texts(value: Any, secret: str, path: tuple[str | int, ...]) -> Iterator[tuple[str | int, ...]]:  # noqa: ANN401
    """Yield the paths of the texts that contain a secret."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _texts(inner, secret, (*path, str(key)))
    elif isinstance(value, list):
        for position, inner in enumerate(value):
            yield from _texts(inner, secret, (*path, position))
    elif secret in str(value):
        yield path


def _variables(item: Rendered) -> Iterator[Object]:
    for workload in item.workloads:
        for template in workload.templates:
            spec = template["spec"]
            for container in (*(spec.get("initContainers") or ()), *spec["containers"]):
                yield from container.get("env") or ()


def _reason(item: Rendered, variable: str) -> str:
    # The message must not contain the value.
    name = f"{item.name}-secrets"
    return (
        f"variable {variable} contains a secret in clear text, which is stored and shown with the pod; move it to "
        f"the Secret {name!r} in namespace {item.namespace}, and set valueFrom: {{secretKeyRef: {{name: {name}, key: "
        f"{variable}}}}}"
    )


def _paths(value: Any, variable: Object, path: tuple[str | int, ...]) -> Iterator[tuple[str | int, ...]]:  # noqa: ANN401
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _paths(inner, variable, (*path, str(key)))
    elif isinstance(value, list):
        for position, inner in enumerate(value):
            if inner == variable:
                yield (*path, position, "value")
            else:
                yield from _paths(inner, variable, (*path, position))
