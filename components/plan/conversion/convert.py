"""Convert resources to the kinds of another family, and prove that the same pods run afterwards."""

from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from ...contract.base import Json
from ...contract.load import LoadedResource
from ...contract.problems import Problem, did_you_mean, errors
from ...families import FAMILIES, member_of, objects
from ...families.adoption import AdoptedWorkload, Adopting
from ...families.family import Family
from ...fleet.autoscalers import Autoscaler
from ...fleet.demand import PodDemand
from ...fleet.endpoints import Endpoint
from ...fleet.objects import LWS_LABEL, Key, Object, key_of
from ...fleet.options import Options, PodOverrides
from ...fleet.rendered import Fleet, KeyedIndex, Rendered
from ...fleet.workloads import Workload
from ..rendering import render_fleet
from .differences import Mismatch, differences
from .pods import Ownership, comparable_pods, device_tolerations, leader_and_worker, without_owner
from .scaling import comparable_autoscaler

_DEFAULTS = Options()
Scalers = Mapping[Key, Autoscaler]
"""Autoscalers by kind, namespace and name of what they scale."""


@dataclass(frozen=True, slots=True)
class Replacement:
    """A resource and the manifests that replace it.

    Attributes:
        documents: The manifests, those that others refer to first; empty if the resource cannot be rendered.
        differences: What the manifests render to in another form.
        notes: Changes of the objects around the pods: their kind, and what happens to a pod that fails.
    """

    source: LoadedResource
    documents: tuple[Object, ...]
    differences: tuple[Mismatch, ...]
    notes: tuple[Mismatch, ...] = ()


@dataclass(frozen=True, slots=True)
class Conversion:
    """The result of converting resources to the kinds of another family.

    Attributes:
        converted: The resources that serve a model.
        unused: Resources that only these refer to, such as models, which nothing refers to afterwards.
        problems: Errors of the resources as they are, which leave some of them unconverted.
    """

    converted: tuple[Replacement, ...]
    unused: tuple[LoadedResource, ...] = ()
    problems: tuple[Problem, ...] = ()

    @property
    def documents(self) -> tuple[Object, ...]:
        """The manifests of all resources; one that several need is among them once."""
        return unique_documents(item.documents for item in self.converted)

    @property
    def differences(self) -> tuple[Mismatch, ...]:
        """The differences of all resources, each below the title of its resource."""
        return tuple(
            replace(difference, path=f"{item.source.title}: {difference.path}")
            for item in self.converted
            for difference in item.differences
        )


def adopting_families() -> tuple[str, ...]:
    """Return the names of the families that other resources can be converted to."""
    return tuple(family.name for family in FAMILIES if isinstance(family, Adopting))


def convert_family(
    resources: Iterable[LoadedResource],
    options: Options = _DEFAULTS,
    family: str = "",
    *,
    leaving: Collection[str] | None = None,
) -> Conversion:
    """Convert resources that serve a model to the kinds of another family.

    Args:
        resources: All resources, also those that others refer to.
        options: The options of the environment, with which both forms are rendered and compared.
        family: The family to convert to.
        leaving: The families whose resources are converted; None for all with an operator but ``family``.

    Raises:
        ValueError: the family cannot adopt resources of others.
    """
    target = next((known for known in FAMILIES if known.name == family), None)
    if target is None or not isinstance(target, Adopting):
        known = adopting_families()
        raise ValueError(f"cannot convert to {family!r}{did_you_mean(family, known)} (available: {', '.join(known)})")
    resources = tuple(resources)
    leaves = [source for source in resources if _leaves(source, target, leaving)]
    before = render_fleet(resources, options)
    # What the environment adds to all pods is no part of a manifest: it is added to the converted ones again.
    plain = replace(options, overrides=PodOverrides(), alternatives={}, scheduler_name=_DEFAULTS.scheduler_name)
    bare = before if plain == options else render_fleet(resources, plain)
    is_own = _owner_labels()
    target_options = options.of_family(family)
    adopted = {id(item.source): item for item in bare.rendered if item.workloads}
    scalers = _scalers_of(bare)
    documents: dict[int, tuple[Object, ...]] = {}
    for source in leaves:
        item = adopted.get(id(source))
        if item is not None:
            ownership = Ownership(is_own)
            documents[id(source)] = tuple(
                body
                for workload in item.workloads
                for body in target.adopt(_adopted(item, workload, scalers, ownership, target_options), options)
            )
    # A resource for which the other family has no manifest stays as it is.
    left = {id(source) for source in leaves if documents.get(id(source))}
    unused = _unused(resources, leaves, left)
    staying = [source for source in resources if id(source) not in {*left, *map(id, unused)}]
    manifests = objects(unique_documents(documents.values()))
    after = render_fleet((*staying, *manifests.resources), options, unread=manifests.problems)
    ownership = Ownership(is_own, target.own_variables)
    old = _Rendering(before, lambda source: id(source), ())
    new = _Rendering(after, _key, manifests.problems)
    converted = tuple(
        _compared(source, documents[id(source)], old, new, ownership, options)
        for source in leaves
        if id(source) in documents
    )
    earlier = {*bare.problems, *before.problems}
    own = {(source.resource.kind, source.name) for source in manifests.resources}
    caused = [p for p in errors(after.problems) if p not in earlier and (p.kind, p.name) not in own]
    return Conversion(converted, unused, (*errors(bare.problems), *caused))


def _leaves(source: LoadedResource, target: Family, leaving: Collection[str] | None) -> bool:
    family, member = member_of(source.kind)
    return member.serves and _is_left(family, target, leaving)


def _is_left(family: Family, target: Family, leaving: Collection[str] | None) -> bool:
    return family is not target and (bool(family.operator) if leaving is None else family.name in leaving)


def _unused(
    resources: Sequence[LoadedResource], leaves: Sequence[LoadedResource], left: Collection[int]
) -> tuple[LoadedResource, ...]:
    """Return the resources that only converted ones refer to, such as their models."""
    # A serving resource that stays may refer to others by default, such as to a runtime of the default name.
    staying_leaves = {member_of(leaf.kind)[0].name for leaf in leaves if id(leaf) not in left}
    families = {member_of(leaf.kind)[0].name for leaf in leaves if id(leaf) in left} - staying_leaves
    referred = [source for source in resources if id(source) not in left and _is_referred(source, families)]
    unused = set(map(id, referred))
    # What stays may be named anywhere in a resource: a model by a Playground, a runtime by a model.
    staying = [source for source in resources if id(source) not in left and id(source) not in unused]
    names: set[str] = set()
    while staying:
        for source in staying:
            names |= _texts(source.resource.model_dump(by_alias=True, exclude_unset=True).get("spec"))
        staying = [source for source in referred if id(source) in unused and source.name in names]
        unused -= set(map(id, staying))
    return tuple(source for source in referred if id(source) in unused)


def _is_referred(source: LoadedResource, families: Collection[str]) -> bool:
    family, member = member_of(source.kind)
    return member.referred and family.name in families


def _texts(value: Json) -> set[str]:
    """Return all texts in a value."""
    if isinstance(value, str):
        return {value}
    children = value.values() if isinstance(value, Mapping) else value if isinstance(value, list) else ()
    return set[str]().union(*map(_texts, children))


def unique_documents(groups: Iterable[Sequence[Object]]) -> tuple[Object, ...]:
    """Return manifests without those that another group has too."""
    return tuple({key_of(body): body for group in groups for body in group}.values())


def _owner_labels() -> Callable[[str], bool]:
    """Return a test for keys of labels and annotations in the domains of the families."""
    groups = {member.kind.group for family in FAMILIES if family.operator for member in family.members}
    domains = {".".join(group.split(".")[-2:]) for group in groups}

    def is_own(key: str) -> bool:
        prefix, separator, _ = key.partition("/")
        return bool(separator) and any(prefix == domain or prefix.endswith(f".{domain}") for domain in domains)

    return is_own


def _adopted(
    item: Rendered, workload: Workload, scalers: Scalers, ownership: Ownership, options: Options
) -> AdoptedWorkload:
    def own(template: Object) -> Object:
        bare = without_owner(template, workload, ownership)
        spec = dict(bare["spec"])
        # Native rendering of the other family adds it again, unless the environment names an account.
        if options.realization.is_native and not spec.get("serviceAccountName"):
            spec.pop("automountServiceAccountToken", None)
        return {**bare, "spec": spec}

    leader, worker = leader_and_worker(workload)
    return AdoptedWorkload(
        name=item.name,
        namespace=item.namespace,
        workload=workload,
        leader=own(leader.body),
        worker=own(worker.body) if worker else None,
        update=workload.shape.update_of(workload.body),
        endpoint=next(iter(item.endpoints), None),
        autoscaler=_scaler_of(workload, scalers),
    )


def _scalers_of(fleet: Fleet) -> Scalers:
    """Return the autoscalers of a fleet by the workloads that they scale."""
    scalers: dict[Key, Autoscaler] = {}
    for _, scaler in fleet.autoscalers:
        scalers.setdefault(scaler.target, scaler)
    return scalers


def _scaler_of(workload: Workload, scalers: Scalers) -> Autoscaler | None:
    return scalers.get((workload.kind, workload.namespace, workload.name))


# Comparing both renderings


class _Rendering:
    """A rendered fleet, with what belongs to a resource found without reading all others.

    Args:
        fleet: The fleet.
        key: Returns what a resource is found by.
        problems: Problems of its manifests, in addition to those of the fleet.
    """

    def __init__(self, fleet: Fleet, key: Callable[[LoadedResource], Hashable], problems: Iterable[Problem]) -> None:
        self.scalers = _scalers_of(fleet)
        self._items = KeyedIndex(([key(item.source)], item) for item in fleet.rendered)
        self._errors = KeyedIndex(
            ([(problem.kind, problem.name)], problem) for problem in errors((*problems, *fleet.problems))
        )

    def items(self, keys: Iterable[Hashable]) -> list[Rendered]:
        """Return what the resources with some keys are rendered to."""
        return self._items.of_keys(keys)

    def errors(self, names: Iterable[tuple[str, str]]) -> list[Problem]:
        """Return the errors of resources with some kinds and names."""
        return self._errors.of_keys(names)


def _compared(
    source: LoadedResource,
    documents: tuple[Object, ...],
    before: _Rendering,
    after: _Rendering,
    ownership: Ownership,
    options: Options,
) -> Replacement:
    if not documents:
        reason = "none of the family's kinds can express it"
        return Replacement(source, (), (Mismatch("", source.title, reason),))
    keys = [key_of(body) for body in documents]
    old, new = before.items([id(source)]), after.items(keys)
    wrong = [
        Mismatch("problems", None, f"{problem.kind}/{problem.name}: {problem.path}: {problem.reason}")
        for problem in after.errors((kind, name) for kind, _, name in keys)
    ]
    selected = options.overrides.node_selector
    changed = differences(
        _comparable(old, before.scalers, ownership, selected), _comparable(new, after.scalers, ownership, selected)
    )
    around = differences(_surroundings(old), _surroundings(new))
    return Replacement(source, documents, (*wrong, *changed), tuple(around))


def _key(source: LoadedResource) -> Key:
    return source.resource.kind, source.resource.metadata.namespace or "", source.name


def _comparable(
    items: Sequence[Rendered], scalers: Scalers, ownership: Ownership, selected: Mapping[str, str]
) -> Object:
    """Return everything about pods, endpoints and autoscalers that a conversion must keep.

    Args:
        items: What a resource, or what replaces it, is rendered to.
        scalers: The autoscalers of all that is rendered.
        ownership: What belongs to controllers.
        selected: Labels of the nodes of all pods of the environment.
    """
    workloads = [workload for item in items for workload in item.workloads]
    endpoints = sorted((e for item in items for e in item.endpoints), key=lambda e: (e.model, e.order))
    return {
        "workloads": {
            _part(workload, workloads): {
                "replicas": workload.replicas,
                "size": workload.size,
                "pods": comparable_pods(workload, ownership),
                "nodes": [_nodes(demand, selected) for demand in workload.pods],
                "autoscaler": comparable_autoscaler(scaler) if (scaler := _scaler_of(workload, scalers)) else None,
                **_group_settings(workload),
            }
            for workload in workloads
        },
        "endpoints": {str(index): _served_at(endpoint) for index, endpoint in enumerate(endpoints)},
    }


def _served_at(endpoint: Endpoint) -> Object:
    return {
        "api": endpoint.api,
        "model": endpoint.model,
        "port": endpoint.port,
        "path": endpoint.path,
        "headers": [f"{match.name} {match.kind} {match.value}" for match in endpoint.headers],
    }


def _nodes(demand: PodDemand, selected: Mapping[str, str]) -> list[Json]:
    choices = [(dict(choice.labels.items() - selected.items()), choice.alternatives) for choice in demand.choices]
    if not all(labels for labels, _ in choices):
        return []  # a choice without labels is any node
    return [{**labels, "alternatives": list(alternatives)} for labels, alternatives in choices]


def _group_settings(workload: Workload) -> Object:
    """Return settings of a group that decide where its pods run and what they store."""
    annotations = workload.body["metadata"].get("annotations") or {}
    template = workload.body["spec"].get("leaderWorkerTemplate") or {}
    return {
        "topology": {key: value for key, value in annotations.items() if key.startswith(f"{LWS_LABEL}/")},
        "subGroupPolicy": template.get("subGroupPolicy"),
        "claims": workload.claims,
    }


def _surroundings(items: Iterable[Rendered]) -> Object:
    """Return what is around the pods: the kind of workload, restarts and updates."""
    workloads = [workload for item in items for workload in item.workloads]
    return {
        _part(workload, workloads): {
            "kind": workload.kind,
            "restarts": _restarts(workload),
            "update": _update(workload),
            "deviceTolerations": device_tolerations(workload.front["spec"]),
        }
        for workload in workloads
    }


def _restarts(workload: Workload) -> str:
    """Return what restarts with a container that fails, in the words of LeaderWorkerSets."""
    template = workload.body["spec"].get("leaderWorkerTemplate")
    return "None" if template is None else template.get("restartPolicy") or "RecreateGroupOnPodRestart"


def _part(workload: Workload, workloads: Sequence[Workload]) -> str:
    return workload.role if len(workloads) > 1 else "server"


def _update(workload: Workload) -> Object:
    update = workload.shape.update_of(workload.body)
    return {
        "maxSurge": update.surge,
        "maxUnavailable": update.unavailable,
        "partition": update.partition,
        "recreate": update.is_recreate,
    }
