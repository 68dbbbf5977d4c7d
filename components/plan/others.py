"""Objects of other APIs that stand among the models: refused, passed through as they are, or left out."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from ..api.load import Other
from ..api.problems import Problem
from ..api.schema.builtin import is_namespaced
from ..families import kinds
from ..fleet.objects import Object
from ..fleet.words import OtherKinds
from .environment import Environment

NAMESPACE = ("", "Namespace")
_Identity = tuple[str, str, str, str]
"""API group, kind, namespace and name."""


@dataclass(frozen=True, slots=True)
class Passed:
    """What is passed through, and what is wrong with it."""

    objects: tuple[Object, ...] = ()
    problems: tuple[Problem, ...] = ()


def refused(others: Iterable[Other]) -> Iterator[Problem]:
    """Yield that objects of other APIs are none that can be rendered, and what to set."""
    ours = {kind.kind: kind.title for kind in kinds()}
    for other in others:
        kind = str(other.value["kind"])
        instead = f" ({kind} is {ours[kind]} here)" if kind in ours else ""
        yield other.problem(
            "kind",
            f"{other.title} is not one of the kinds that are rendered here{instead}; to create such objects as they "
            "are, set otherKinds: apply, to leave them out, otherKinds: skip (--other-kinds)",
        )


def passed_through(others: Iterable[Other], environment: Environment, ours: Iterable[Object]) -> Passed:
    """Return what the environment wants of objects of other APIs.

    Args:
        others: The objects, as they were read.
        environment: Where they go.
        ours: Everything that is made for the models: no object may be both.
    """
    if environment.other_kinds is OtherKinds.SKIP:
        return Passed()
    if environment.other_kinds is OtherKinds.ERROR:
        return Passed(problems=tuple(refused(others)))
    taken = {identity(body): "is made for the models" for body in ours}
    objects, problems = [], []
    for other in others:
        reason = _unnamed(other.value)
        if reason:
            problems.append(other.problem("metadata", reason))
            continue
        body = in_namespace(other.value, environment.options.namespace)
        clash = taken.get(identity(body))
        if clash:
            problems.append(other.problem("metadata.name", f"this object {clash}; rename or remove one of the two"))
            continue
        place = f"{other.file}:{other.line}" if other.line else other.file
        taken[identity(body)] = f"stands in {place} already"
        objects.append(body)
    return Passed(tuple(objects), tuple(problems))


def _unnamed(body: Object) -> str:
    """Say why an object cannot be applied by its name; empty if it can."""
    metadata = body.get("metadata")
    if not isinstance(metadata, dict):
        return "is required, with a name"
    wrong = next((key for key in ("name", "namespace") if not isinstance(metadata.get(key, ""), str)), None)
    if wrong:
        return f"{wrong} must be a string; put it in quotes"
    if not metadata.get("name"):
        return "must have a name: an object that is applied repeatedly needs one; set name"
    labels = [key for key in ("labels", "annotations") if not isinstance(metadata.get(key) or {}, dict)]
    return f"{labels[0]} must be a map" if labels else ""


def in_namespace(body: Object, namespace: str) -> Object:
    """Return an object with the namespace of the environment, if it has none and its kind is known to need one."""
    metadata = body["metadata"]
    if metadata.get("namespace") or not is_namespaced(group_of(body), body["kind"]):
        return body
    return {**body, "metadata": {**metadata, "namespace": namespace}}


def group_of(body: Object) -> str:
    """Return the API group of an object; empty for that of Pods and Services."""
    return str(body["apiVersion"]).rpartition("/")[0]


def identity(body: Object) -> _Identity:
    """Return what tells an object from all others, in whatever version of its API it is written."""
    metadata = body["metadata"]
    return group_of(body), body["kind"], metadata.get("namespace") or "", metadata["name"]
