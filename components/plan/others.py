"""Objects of other APIs among the manifests: rejected, passed through unchanged, or skipped."""

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from ..contract.findings.annotations import without_ignore_annotations
from ..contract.findings.ids import RuleId
from ..contract.load import OtherObject
from ..contract.names import is_dns1123_label
from ..contract.problems import Problem, Severity
from ..contract.schema.builtin import is_namespaced
from ..contract.schema.embedded import format_value
from ..families import annotation_problems, kinds
from ..fleet.objects import Object
from ..fleet.words import OtherKinds
from .environment import Environment

NAMESPACE = ("", "Namespace")
_API_VERSION = re.compile(r"([a-z0-9]([-a-z0-9.]*[a-z0-9])?/)?v[a-z0-9]+")
_KIND = re.compile(r"[A-Za-z][A-Za-z0-9]*")
_NAME = re.compile(r"[!-$&-.0-~]{1,253}")
"""Characters that the API server accepts in a path: printable ASCII without slash and percent sign."""
_SERVER_FIELDS = frozenset(
    {"creationTimestamp", "deletionGracePeriodSeconds", "deletionTimestamp", "generation", "managedFields"}
    | {"resourceVersion", "selfLink", "uid"}
)
_KUBECTL_ANNOTATION = "kubectl.kubernetes.io/last-applied-configuration"
_NAMESPACED = frozenset(
    {
        ("keda.sh", "ScaledObject"),
        ("keda.sh", "TriggerAuthentication"),
        ("http.keda.sh", "HTTPScaledObject"),
        ("autoscaling.k8s.io", "VerticalPodAutoscaler"),
    }
)
"""API group and kind of autoscalers, which must be in the namespace of their workload."""
_Identity = tuple[str, str, str, str]
"""API group, kind, namespace and name."""


class Passed(NamedTuple):
    """Objects that are passed through, and problems."""

    objects: tuple[Object, ...] = ()
    problems: tuple[Problem, ...] = ()


def refused(others: Iterable[OtherObject]) -> Iterator[Problem]:
    """Reject objects of other APIs, and name the setting that allows them."""
    for other in others:
        from ..contract.foreign import owner_of

        kind = str(other.value["kind"])
        namesakes = kinds().all_named(kind)
        instead = f" ({kind} is {namesakes[-1].title} here)" if namesakes else ""
        owner, advice = owner_of(str(other.value["apiVersion"]), other.file)
        of_owner = f", but one of {owner}" if owner else ""
        first = f"{advice}; or " if advice else ""
        reason = (
            f"{other.title} is not a supported kind{of_owner}{instead}; {first}set otherKinds: apply to "
            "create it unchanged, or otherKinds: skip to leave it out (--other-kinds)"
        )
        yield other.problem("kind", reason, rule=RuleId.OTHERS_REFUSED)


def passed_through(others: Iterable[OtherObject], environment: Environment, ours: Iterable[Object]) -> Passed:
    """Handle objects of other APIs as the environment is configured.

    Args:
        others: The objects.
        environment: The environment.
        ours: All objects created for the models, which must not be among the others.
    """
    if environment.other_kinds is OtherKinds.SKIP:
        return Passed()
    if environment.other_kinds is OtherKinds.ERROR:
        return Passed(problems=tuple(refused(others)))
    taken = {identity(body): "is already created for the models" for body in ours}
    objects, problems = [], []
    for other in others:
        unusable = unusable_field(other.value)
        if unusable:
            problems.append(other.problem(*unusable, rule=RuleId.OTHERS_REFUSED))
            continue
        body = in_namespace(as_written(other.value), environment.options.namespace)
        body = {**body, "metadata": without_ignore_annotations(body["metadata"])}
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
        position = f"{other.file}:{other.line}" if other.line else other.file
        taken[identity(body)] = f"is already defined in {position}"
        objects.append(body)
        problems += [
            other.problem(path, reason, Severity.WARNING, rule=RuleId.FIELD_NO_EFFECT)
            for path, reason in annotation_problems(body)
        ]
    return Passed(tuple(objects), tuple(problems))


def unusable_field(body: Object) -> tuple[str, str] | None:
    """Return the field and the reason why an object cannot be applied; None if it can."""
    if not _API_VERSION.fullmatch(body["apiVersion"]):
        return "apiVersion", "must be a group and a version, such as example.com/v1"
    if not _KIND.fullmatch(body["kind"]):
        return "kind", "must be letters and digits"
    metadata = body.get("metadata")
    if not isinstance(metadata, dict):
        return "metadata", "is required, with a name"
    name, namespace = metadata.get("name"), metadata.get("namespace")
    if name is None or name == "":
        return "metadata.name", "is required to apply the object repeatedly; set it"
    if not isinstance(name, str) or not _NAME.fullmatch(name) or name in (".", ".."):
        return (
            "metadata.name",
            f"must be valid in a URL and have at most 253 characters, found {format_value(name)}",
        )
    if namespace not in (None, "") and not (isinstance(namespace, str) and is_dns1123_label(namespace)):
        return "metadata.namespace", f"must be lower-case letters, digits and '-', found {format_value(namespace)}"
    odd = next((key for key in ("labels", "annotations") if not isinstance(metadata.get(key) or {}, dict)), None)
    return (f"metadata.{odd}", f"must be a map, found {format_value(metadata[odd])}") if odd else None


def as_written(body: Object) -> Object:
    """Remove fields that servers and kubectl add, which exported objects contain.

    kubectl's annotation repeats the whole object; for a Secret it would contain the values, unmasked.
    """
    metadata = {key: value for key, value in body["metadata"].items() if key not in _SERVER_FIELDS}
    annotations = metadata.get("annotations") or {}
    if _KUBECTL_ANNOTATION in annotations:
        rest = {key: value for key, value in annotations.items() if key != _KUBECTL_ANNOTATION}
        metadata = {**metadata, "annotations": rest}
    return {**{key: value for key, value in body.items() if key != "status"}, "metadata": metadata}


def in_namespace(body: Object, namespace: str) -> Object:
    """Set the namespace of the environment on namespaced objects without one."""
    metadata = body["metadata"]
    key = group_of(body), body["kind"]
    if metadata.get("namespace") or not (is_namespaced(*key) or key in _NAMESPACED):
        return body
    return {**body, "metadata": {**metadata, "namespace": namespace}}


def group_of(body: Object) -> str:
    """Return the API group of an object; empty for the core group."""
    return str(body["apiVersion"]).rpartition("/")[0]


def identity(body: Object) -> _Identity:
    """Return the identity of an object, independent of the version of its API."""
    metadata = body["metadata"]
    return group_of(body), body["kind"], metadata.get("namespace") or "", metadata["name"]
