"""Environment variables that a later one of the same name replaces.

The API server stores both when a client such as Helm creates the workload, and the last one counts. Server-side apply
refuses them.
"""

from collections.abc import Iterator
from typing import Any

from ..contract.findings.ids import RuleId
from ..contract.problems import Problem, Severity
from ..fleet.objects import Object, copied
from ..fleet.shapes import shape_of


def without_overridden(body: Object, file: str) -> tuple[Object, tuple[Problem, ...]]:
    """Return a workload without overridden variables, and a warning for each; other objects stay as they are.

    Variables stay if one between the two refers to them, because both values count then.

    Args:
        body: The object, which may have any structure below its metadata.
        file: Where it was read, for messages.
    """
    if not any(_overridden(env) for _, env in _environments(body)):
        return body, ()
    name, namespace = str(body["metadata"]["name"]), str(body["metadata"].get("namespace") or "")
    problems = []
    body = copied(body)
    for path, env in _environments(body):
        for index in reversed(_overridden(env)):
            reason = f"has no effect: {env[index]['name']} is set again below; remove one of the two"
            where, rule = f"{path}[{index}]", RuleId.FIELD_OVERRIDDEN
            problems.append(
                Problem(
                    file=file,
                    kind=body["kind"],
                    name=name,
                    path=where,
                    reason=reason,
                    severity=Severity.WARNING,
                    rule=rule,
                    namespace=namespace,
                )
            )
            del env[index]
    return body, tuple(problems)


def _environments(body: Object) -> Iterator[tuple[str, list[Any]]]:
    """Yield the lists of variables of a workload, each with its path."""
    shape = shape_of(body)
    for template in shape.templates if shape else ():
        for part in ("initContainers", "containers"):
            path = f"{template.path}.spec.{part}"
            containers: Any = body
            for step in path.split("."):
                containers = containers.get(step) if isinstance(containers, dict) else None
            for index, container in enumerate(containers if isinstance(containers, list) else ()):
                env = container.get("env") if isinstance(container, dict) else None
                if isinstance(env, list):
                    yield f"{path}[{index}].env", env


def _overridden(env: list[Any]) -> list[int]:
    """Return the positions of variables that a later one replaces."""
    names = [str(variable.get("name")) if isinstance(variable, dict) else "" for variable in env]
    if len({*names}) == len(names):
        return []
    positions = []
    for index, name in enumerate(names):
        if name in names[index + 1 :]:
            last = len(names) - names[::-1].index(name)
            if any(f"$({name})" in str(variable) for variable in env[index + 1 : last]):
                return []
            positions.append(index)
    return positions
