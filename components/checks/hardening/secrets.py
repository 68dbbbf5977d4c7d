"""Secrets in clear text in environment variables, readable by everybody who may read the workload."""

from collections.abc import Iterable, Iterator
from typing import Any

from ...contract.findings.ids import RuleId
from ...contract.load import LoadedResource
from ...contract.problems import Problem, Severity, field_path
from ...contract.texts.literal_secrets import is_literal_secret
from ...fleet.objects import Object
from ...fleet.rendered import Fleet, Rendered


def check_secrets(fleet: Fleet, resources: Iterable[LoadedResource]) -> Iterator[Problem]:
    """Warn about each variable with a secret in clear text, at the field that sets it.

    Args:
        fleet: The rendered fleet.
        resources: All resources: a variable may come from another resource that is referred to.
    """
    secrets = [
        (item, variable)
        for item in fleet.rendered
        for variable in _variables(item)
        if is_literal_secret(str(variable.get("name", "")), variable.get("value"))
    ]
    others = list(resources) if secrets else []
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
