"""What the API server must find before it admits a pod: its service account, PriorityClass and RuntimeClass.

The admission plugins ServiceAccount, Priority and RuntimeClass reject a pod that names one which does not exist
(kubernetes/kubernetes v1.36.3, plugin/pkg/admission/{serviceaccount,priority,runtimeclass}/admission.go). The
workload is created nevertheless, and its controller retries without end, so that no pod is ever Pending.
"""

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from ..contract.findings.ids import RuleId
from ..contract.load import LoadedResource, Manifests
from ..contract.problems import Problem, Severity, field_path
from ..fleet.nodes.preemption import SYSTEM_CLASSES
from ..fleet.objects import Object
from ..fleet.origins import Argument, Origin
from ..fleet.rendered import Fleet, Rendered
from ..fleet.words import OtherKinds
from .environment import Environment
from .others import in_namespace

_Path = tuple[str | int, ...]


class _Named(NamedTuple):
    """A kind of object that pods name.

    Attributes:
        field: Their field.
        setting: The setting that sets it for all pods; empty without one.
        everywhere: Names that every namespace, or every cluster, has.
    """

    kind: str
    field: str
    setting: str = ""
    everywhere: frozenset[str] = frozenset()

    @property
    def is_namespaced(self) -> bool:
        return self.kind == "ServiceAccount"


_KINDS = (
    _Named("ServiceAccount", "serviceAccountName", "pods.serviceAccountName", frozenset({"default"})),
    _Named("PriorityClass", "priorityClassName", "pods.priorityClassName", frozenset(SYSTEM_CLASSES)),
    _Named("RuntimeClass", "runtimeClassName"),
)
_OF_CHARTS = {"gpu-operator": frozenset({"nvidia", "nvidia-cdi", "nvidia-legacy"})}
"""RuntimeClasses that a chart brings (NVIDIA/gpu-operator, controllers/state_manager.go and object_controls.go)."""


class _Asked(NamedTuple):
    """What pods name, and where."""

    named: _Named
    name: str
    namespace: str


class _Known:
    """The objects that exist, as far as the plan knows."""

    def __init__(self, objects: Iterable[Object], fleet: Fleet, charts: Iterable[str]) -> None:
        shipped = (workload.priority.known for _, workload in fleet.workloads if workload.priority)
        bodies = [*objects, *(body for body in shipped if body)]
        kinds = {named.kind for named in _KINDS}
        self._names = {
            (str(body["kind"]), str(body["metadata"].get("namespace") or ""), str(body["metadata"].get("name") or ""))
            for body in bodies
            if body["kind"] in kinds
        }
        for chart in charts:
            self._names |= {("RuntimeClass", "", name) for name in _OF_CHARTS.get(chart, ())}

    def has(self, asked: _Asked) -> bool:
        where = asked.namespace if asked.named.is_namespaced else ""
        return asked.name in asked.named.everywhere or (asked.named.kind, where, asked.name) in self._names

    def namespaces_of(self, asked: _Asked) -> list[str]:
        """Return the namespaces that have an object of this name."""
        same = (asked.named.kind, asked.name)
        return sorted(where for kind, where, own in self._names if (kind, own) == same and where)


def check_named_objects(
    fleet: Fleet,
    manifests: Manifests,
    created: Iterable[Object],
    charts: Iterable[str],
    environment: Environment,
    *,
    admitted: Iterable[LoadedResource] = (),
) -> Iterator[Problem]:
    """Report pods that name a service account or class which neither the stack nor the manifests create.

    This is a warning in a cluster that the stack creates, and otherwise a note: an existing cluster may have it.

    Args:
        fleet: The rendered fleet.
        manifests: The manifests, of which those of other APIs are searched for pods, too.
        created: All objects that the stack creates.
        charts: Charts in the cluster.
        environment: The environment.
        admitted: Sources of items that are not checked: those that run already, and those among the others.
    """
    # Objects that are skipped or refused here are created by somebody else, or have a finding of their own.
    with_metadata = (other for other in manifests.others if isinstance(other.value.get("metadata"), dict))
    others = [(other, in_namespace(other.value, environment.options.namespace)) for other in with_metadata]
    known = _Known([*created, *(body for _, body in others)], fleet, charts)
    left_out = {id(source) for source in admitted}
    items = [item for item in fleet.rendered if id(item.source) not in left_out]
    yield from _unknown_in(items, manifests.resources, known, environment)
    if environment.other_kinds is OtherKinds.APPLY:
        for other, body in others:
            for named, name, path in _names_of_pods(body):
                asked = _Asked(named, name, str(body["metadata"].get("namespace") or ""))
                if not known.has(asked):
                    yield _problem(Origin(other, field_path(path)), asked, known, environment)


def _unknown_in(
    items: Iterable[Rendered], resources: Iterable[LoadedResource], known: _Known, environment: Environment
) -> Iterator[Problem]:
    """Report what the pods of resources name, each at the field that sets it: one of a resource, or a setting."""
    reported = set[Problem]()
    for item in items:
        bodies = (*item.objects, *(workload.body for workload in item.workloads if workload.operated))
        names = ((body, named, name) for body in bodies for named, name, _ in _names_of_pods(body))
        for body, named, name in names:
            asked = _Asked(named, name, str(body["metadata"].get("namespace") or item.namespace))
            if known.has(asked) or _is_created(asked, environment):
                continue
            # Another resource may set it, such as the runtime that a service refers to.
            field: Origin | Argument | None = next(
                (
                    Origin(source, field_path(path))
                    for source in (item.source, *resources)
                    for own, value, path in _names_in(source.resource.wire())
                    if (own, value) == (named, name)
                ),
                None,
            )
            if field is None and name == _from_settings(named, environment):
                field = Argument(environment.file, named.setting)
            field = field or Origin(item.source, "spec")
            problem = _problem(field, asked, known, environment)
            if problem not in reported:
                reported.add(problem)
                yield problem


def _from_settings(named: _Named, environment: Environment) -> str | None:
    """Return the name that the settings give to all pods."""
    overrides = environment.options.overrides
    names = {"ServiceAccount": overrides.service_account_name, "PriorityClass": overrides.priority_class_name}
    return names.get(named.kind)


def _is_created(asked: _Asked, environment: Environment) -> bool:
    """Return whether the stack creates an object that is not among those of the plan."""
    overrides = environment.options.overrides
    if asked.named.is_namespaced:
        return overrides.creates_account and asked.name == overrides.service_account_name
    return asked.named.kind == "PriorityClass" and asked.name == environment.options.default_class


def _names_of_pods(body: Object) -> Iterator[tuple[_Named, str, _Path]]:
    """Yield what the pod specs in an object name; other objects have fields of these names with other meanings."""
    return _names_in(body, of_pods=True)


def _names_in(value: Any, path: _Path = (), *, of_pods: bool = False) -> Iterator[tuple[_Named, str, _Path]]:  # noqa: ANN401
    """Yield each kind that is named in an object, with the name and the path of the field."""
    if isinstance(value, dict):
        is_read = not of_pods or isinstance(value.get("containers"), list)
        for named in _KINDS if is_read else ():
            name = value.get(named.field)
            if isinstance(name, str) and name:
                yield named, name, (*path, named.field)
        for key, inner in value.items():
            if isinstance(inner, dict | list):
                yield from _names_in(inner, (*path, str(key)), of_pods=of_pods)
    elif isinstance(value, list):
        for position, inner in enumerate(value):
            yield from _names_in(inner, (*path, position), of_pods=of_pods)


def _problem(field: Origin | Argument, asked: _Asked, known: _Known, environment: Environment) -> Problem:
    is_new = environment.simulated or (environment.cloud is not None and not environment.cloud.existing)
    place = f" in namespace {asked.namespace}" if asked.named.is_namespaced else ""
    elsewhere = known.namespaces_of(asked)
    hint = f" (only in {', '.join(elsewhere)})" if elsewhere else ""
    whether = "" if is_new else "whether the cluster has it is not checked: "
    reason = (
        f"neither the stack nor the manifests create the {asked.named.kind} {asked.name!r}{place}{hint}; {whether}"
        "until it exists, the API server refuses the pods, and their controller retries without end; add it to the "
        "manifests (with otherKinds: apply), create it before, or remove the field"
    )
    return field.problem(reason, Severity.WARNING if is_new else Severity.NOTE, RuleId.PODS_REFUSED)
