"""Objects of other APIs that stand among the models: refused, passed through as they are, or left out."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from ..contract.findings.ids import RuleId
from ..contract.load import OtherObject
from ..contract.names import is_dns1123_label
from ..contract.problems import Problem
from ..contract.schema.builtin import is_namespaced
from ..contract.schema.embedded import format_value
from ..families import kinds
from ..fleet.objects import Object
from ..fleet.words import OtherKinds
from .environment import Environment

NAMESPACE = ("", "Namespace")
_API_VERSION = re.compile(r"([a-z0-9]([-a-z0-9.]*[a-z0-9])?/)?v[a-z0-9]+")
_KIND = re.compile(r"[A-Za-z][A-Za-z0-9]*")
_NAME = re.compile(r"[!-$&-.0-~]{1,253}")
"""What the API server takes in a path, of printable ASCII: no slash and no percent sign."""
_NOTED_BY_SERVERS = frozenset(
    {"creationTimestamp", "deletionGracePeriodSeconds", "deletionTimestamp", "generation", "managedFields"}
    | {"resourceVersion", "selfLink", "uid"}
)
_NOTED_BY_KUBECTL = "kubectl.kubernetes.io/last-applied-configuration"
_Identity = tuple[str, str, str, str]
"""API group, kind, namespace and name."""


@dataclass(frozen=True, slots=True)
class Passed:
    """What is passed through, and what is wrong with it."""

    objects: tuple[Object, ...] = ()
    problems: tuple[Problem, ...] = ()


def refused(others: Iterable[OtherObject]) -> Iterator[Problem]:
    """Yield that objects of other APIs are none that can be rendered, and what to set."""
    for other in others:
        kind = str(other.value["kind"])
        namesakes = kinds().all_named(kind)
        instead = f" ({kind} is {namesakes[-1].title} here)" if namesakes else ""
        yield other.problem(
            "kind",
            f"{other.title} is not one of the kinds that are rendered here{instead}; to create such objects as they "
            "are, set otherKinds: apply, to leave them out, otherKinds: skip (--other-kinds)",
            rule=RuleId.OTHERS_REFUSED,
        )


def passed_through(others: Iterable[OtherObject], environment: Environment, ours: Iterable[Object]) -> Passed:
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
        unusable = _unusable(other.value)
        if unusable:
            problems.append(other.problem(*unusable, rule=RuleId.OTHERS_REFUSED))
            continue
        body = in_namespace(as_written(other.value), environment.options.namespace)
        clash = taken.get(identity(body))
        if clash:
            problems.append(
                other.problem(
                    "metadata.name",
                    f"this object {clash}; rename or remove one of the two",
                    rule=RuleId.OTHERS_REFUSED,
                )
            )
            continue
        place = f"{other.file}:{other.line}" if other.line else other.file
        taken[identity(body)] = f"stands in {place} already"
        objects.append(body)
    return Passed(tuple(objects), tuple(problems))


def _unusable(body: Object) -> tuple[str, str] | None:
    """Return why an object cannot be applied by its type and name, and the field; None if it can."""
    if not _API_VERSION.fullmatch(body["apiVersion"]):
        return "apiVersion", "must be a group and a version, such as example.com/v1"
    if not _KIND.fullmatch(body["kind"]):
        return "kind", "must be letters and digits"
    metadata = body.get("metadata")
    if not isinstance(metadata, dict):
        return "metadata", "is required, with a name"
    name, namespace = metadata.get("name"), metadata.get("namespace")
    if name is None or name == "":
        return "metadata.name", "is required: an object that is applied repeatedly needs a name; set it"
    if not isinstance(name, str) or not _NAME.fullmatch(name) or name in (".", ".."):
        return (
            "metadata.name",
            f"must be a name that a URL can hold, of at most 253 characters, found {format_value(name)}",
        )
    if namespace not in (None, "") and not (isinstance(namespace, str) and is_dns1123_label(namespace)):
        return "metadata.namespace", f"must be lower-case letters, digits and '-', found {format_value(namespace)}"
    odd = next((key for key in ("labels", "annotations") if not isinstance(metadata.get(key) or {}, dict)), None)
    return (f"metadata.{odd}", f"must be a map, found {format_value(metadata[odd])}") if odd else None


def as_written(body: Object) -> Object:
    """Return an object without what servers and kubectl note in it, which an exported one has.

    kubectl's note repeats the whole object: that of a Secret holds its values, under a name that hides them.
    """
    metadata = {key: value for key, value in body["metadata"].items() if key not in _NOTED_BY_SERVERS}
    annotations = metadata.get("annotations") or {}
    if _NOTED_BY_KUBECTL in annotations:
        kept = {key: value for key, value in annotations.items() if key != _NOTED_BY_KUBECTL}
        metadata = {**metadata, "annotations": kept}
    return {**{key: value for key, value in body.items() if key != "status"}, "metadata": metadata}


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
