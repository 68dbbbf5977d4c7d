"""Secrets that stand in clear in the variables of a pod: everybody who may read the workload reads them."""

from collections.abc import Iterable, Iterator
from typing import Any

from ...contract.findings.ids import RuleId
from ...contract.load import LoadedResource
from ...contract.problems import Problem, Severity, field_path
from ...contract.texts.secrets import is_literal_secret
from ...fleet.objects import Object
from ...fleet.rendered import Fleet, Rendered


def check_secrets(fleet: Fleet, resources: Iterable[LoadedResource]) -> Iterator[Problem]:
    """Yield a warning for each variable of a pod that holds a secret in clear, where it is written.

    Args:
        fleet: What is rendered.
        resources: Everything that was read: variables may come from a resource that others refer to.
    """
    found = [(item, variable) for item in fleet.rendered for variable in _variables(item) if _is_secret(variable)]
    others = list(resources) if found else []
    for item, variable in found:
        places = (place for source in (item.source, *others) for place in _places(source, variable))
        source, path = next(places, (item.source, "spec"))
        yield source.problem(
            path, _reason(item, variable["name"]), Severity.WARNING, rule=RuleId.SECURITY_SECRET_IN_CLEAR
        )


def _variables(item: Rendered) -> Iterator[Object]:
    for workload in item.workloads:
        for template in workload.templates:
            spec = template["spec"]
            for container in (*(spec.get("initContainers") or ()), *spec["containers"]):
                yield from container.get("env") or ()


def _is_secret(variable: Object) -> bool:
    return is_literal_secret(str(variable.get("name", "")), variable.get("value"))


def _reason(item: Rendered, variable: str) -> str:
    """Say what to write instead; the value itself is told to nobody."""
    name = f"{item.name}-secrets"
    return (
        f"variable {variable} holds a secret in clear, which is stored and shown with the pod; put it into the "
        f"Secret {name!r} of namespace {item.namespace}, and write valueFrom: {{secretKeyRef: {{name: {name}, key: "
        f"{variable}}}}}"
    )


def _places(source: LoadedResource, variable: Object) -> Iterator[tuple[LoadedResource, str]]:
    """Yield where a resource sets a variable to its value."""
    for path in _paths(source.resource.wire(), variable, ()):
        yield source, field_path(path)


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
