"""One environment: manifests in, components registered, endpoints out."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pulumi
import pulumi_kubernetes

from components.cluster.simulated_nodes import SimulatedNodes
from components.planning.prerequisites import Prerequisite
from components.prerequisites.custom_resources import CustomResources
from components.render.types import Fleet, NodeGroupDemand, Object, Rendered
from components.serving.inference_service import InferenceService
from components.serving.object_set import FrontDoor, Monitoring, NetworkPolicies, ObjectSet, PriorityClasses
from components.serving.objects import KubernetesObject, kubernetes_object
from components.serving.playground import Playground
from components.serving.service import Service
from components.serving.workload_component import WorkloadComponent

from .access import charts_for, classes_of, namespace_labels
from .outputs import export
from .plan import Plan, plan
from .prerequisites import Place, install
from .settings import MODEL_ACCOUNT, Settings

_COMPONENTS: Mapping[str, type[WorkloadComponent]] = {
    "InferenceService": InferenceService,
    "Playground": Playground,
    "Service": Service,
}
_OPERATED = ("OpenModel", "BackendRuntime", "Playground", "Service", "Model", "InferenceService")


def deploy(settings: Settings) -> None:
    """Register everything that the settings describe and export endpoints, models and nodes.

    Raises:
        pulumi.RunError: a manifest is wrong or does not fit; every problem is listed and nothing is registered.
    """
    planned = plan(settings)
    fleet = planned.fleet
    target = _target(settings, planned)
    options = pulumi.ResourceOptions(provider=target.provider)
    namespaces = _namespaces(fleet, namespace_labels(settings), options)
    accounts = _accounts(settings, fleet, namespaces, target.provider)
    definitions = _definitions(settings, fleet, options)
    classes = _register(PriorityClasses, "priority-classes", classes_of(settings), target, [])
    # Policies come before the pods that they guard.
    policies = _register(NetworkPolicies, "network-policies", planned.policies, target, list(namespaces.values()))
    names = _export_names(fleet)
    shared: dict[_Key, pulumi.Resource] = {}
    components: dict[int, WorkloadComponent] = {}
    for item in fleet.rendered:
        before: list[pulumi.Resource] = [o for o in (namespaces.get(item.namespace), *_used(definitions, item)) if o]
        before += accounts.get(item.namespace, [])
        before += [made for made in (classes, policies) if made]
        before += target.before(item)
        before += [shared[key] for key in map(_key, item.shared)]
        component = _COMPONENTS.get(item.kind)
        if component:
            opts = pulumi.ResourceOptions(providers=[target.provider], depends_on=before)
            components[id(item)] = component.from_rendered(names[id(item)], item, opts)
        else:
            shared |= _register_plain(item, names[id(item)], target.provider, before)
    _register(Monitoring, "monitoring", planned.monitoring, target, _after(["prometheus"], target, namespaces))
    charts = charts_for(planned.door, settings)
    door = _register(FrontDoor, "front-door", planned.door.objects, target, _after(charts, target, namespaces))
    export(planned, names, components, door)


@dataclass(frozen=True, slots=True)
class _Target:
    """The cluster to deploy to.

    Attributes:
        nodes: What pods come after and go before: of a node kind, and with None of any.
        prerequisites: What is installed for the models, by name.
        planned: What each prerequisite is for.
    """

    provider: pulumi_kubernetes.Provider
    nodes: Mapping["_NodeKind | None", Sequence[pulumi.Resource]]
    prerequisites: Mapping[str, pulumi.Resource]
    planned: tuple[Prerequisite, ...]

    def before(self, item: Rendered) -> list[pulumi.Resource]:
        """Return what must be there before a model, and after it."""
        nodes = [node for key in (None, *_node_kinds(item)) for node in self.nodes.get(key, ())]
        name = f"{item.kind}/{item.name}"
        wanted = [each.chart.name for each in self.planned if name in each.reasons]
        return [*nodes, *(self.prerequisites[key] for key in wanted if key in self.prerequisites)]


def _register(
    component: type[ObjectSet],
    name: str,
    objects: tuple[Object, ...],
    target: _Target,
    before: list[pulumi.Resource],
) -> ObjectSet | None:
    """Register what there is of a kind of objects."""
    if not objects:
        return None
    return component(name, objects, pulumi.ResourceOptions(providers=[target.provider], depends_on=before))


def _after(
    charts: Iterable[str], target: _Target, namespaces: Mapping[str, KubernetesObject]
) -> list[pulumi.Resource]:
    installed = [target.prerequisites[name] for name in charts if name in target.prerequisites]
    return [*installed, *namespaces.values()]


def _target(settings: Settings, planned: Plan) -> _Target:
    """Register the cluster, where it is ours, what models need in it, and the nodes."""
    listed = planned.prerequisites if settings.prerequisites.install else ()
    if settings.cloud == "aws":
        from .cloud import make_cloud

        charts = [each.chart.name for each in planned.prerequisites]
        cloud = make_cloud(settings, planned.cloud_groups, _model_namespaces(planned.fleet), charts)
        rules = planned.chain.adapter_rules
        place = Place(cloud.provider, cloud.vpc_id, cloud.queue_name, rules, after=(cloud.identities,))
        made = install(listed, settings, place)
        for name, value in cloud.exports.items():
            pulumi.export(name, value)
        nodes = cloud.nodes([made[name] for name in ("karpenter",) if name in made])
        return _Target(cloud.provider, {None: nodes}, made, listed)
    provider = _provider(settings)
    simulated = _nodes(planned.groups, provider) if settings.simulated_nodes else {}
    place = Place(provider, adapter_rules=planned.chain.adapter_rules)
    return _Target(provider, simulated, install(listed, settings, place), listed)


def _model_namespaces(fleet: Fleet) -> list[str]:
    return sorted({item.namespace for item in fleet.rendered if item.pods})


def _provider(settings: Settings) -> pulumi_kubernetes.Provider:
    file = Path(settings.kubeconfig)
    if not file.is_file():
        raise pulumi.RunError(
            f"no kubeconfig at {settings.kubeconfig} (inference-platform:kubeconfig); `make up` starts a simulated "
            "cluster and writes it there, or name the kubeconfig of a cluster that you have"
        )
    return pulumi_kubernetes.Provider(
        "cluster",
        kubeconfig=settings.kubeconfig,
        context=settings.context or None,
        cluster_identifier=settings.cluster_name,
        enable_server_side_apply=True,
    )


def _namespaces(
    fleet: Fleet, labels: Mapping[str, str], options: pulumi.ResourceOptions
) -> dict[str, KubernetesObject]:
    """Register the namespaces of the models; ``default`` and the system's exist already."""
    wanted = sorted({item.namespace for item in fleet.rendered if item.namespace})
    labelled = {"labels": dict(labels)} if labels else {}
    return {
        name: kubernetes_object(
            {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, **labelled}}, name, _copy(options)
        )
        for name in wanted
        if name != "default" and not name.startswith("kube-")
    }


def _accounts(
    settings: Settings, fleet: Fleet, namespaces: Mapping[str, KubernetesObject], provider: pulumi_kubernetes.Provider
) -> dict[str, list[KubernetesObject]]:
    """Register the service account of pods that read buckets, unless the environment names one of its own."""
    if not settings.model_buckets or settings.pods.service_account_name:
        return {}
    made = {}
    for namespace in _model_namespaces(fleet):
        value = {
            "apiVersion": "v1",
            "kind": "ServiceAccount",
            "metadata": {"name": MODEL_ACCOUNT, "namespace": namespace},
            "automountServiceAccountToken": False,
        }
        after = [namespaces[namespace]] if namespace in namespaces else []
        options = pulumi.ResourceOptions(provider=provider, depends_on=after)
        made[namespace] = [kubernetes_object(value, f"{namespace}-{MODEL_ACCOUNT}", options)]
    return made


def _definitions(settings: Settings, fleet: Fleet, options: pulumi.ResourceOptions) -> dict[str, KubernetesObject]:
    """Register the definitions of the kinds in use, where charts do not bring them."""
    if not settings.custom_resources:
        return {}
    used = {value["kind"] for item in fleet.rendered for value in item.objects}
    kinds = [kind for kind in (*_OPERATED, "LeaderWorkerSet") if kind in used and _is_ours(kind, settings)]
    if not kinds:
        return {}
    made = CustomResources("kinds", {"kinds": kinds}, _copy(options))
    return dict(zip(kinds, made.definitions, strict=True))


def _is_ours(kind: str, settings: Settings) -> bool:
    """A native stack's Service is the core one, not llmaz's."""
    return kind == "LeaderWorkerSet" or settings.realization == "operator"


_NodeKind = frozenset[tuple[str, str]]
"""The labels by which pods choose nodes."""


def _nodes(
    groups: Iterable[NodeGroupDemand], provider: pulumi_kubernetes.Provider
) -> dict[_NodeKind | None, list[KubernetesObject]]:
    """Register simulated nodes. Pods must go before them: nobody else would end a pod of a node that is gone."""
    listed = list(groups)
    made = SimulatedNodes("nodes", {"groups": listed}, pulumi.ResourceOptions(providers=[provider]))
    return {frozenset(group.labels.items()): made.of_group[group.name] for group in listed}


def _node_kinds(item: Rendered) -> list[_NodeKind]:
    kinds = (frozenset(choice.labels.items()) for pods in item.pods for choice in pods.choices)
    return list(dict.fromkeys(kinds))


def _used(definitions: Mapping[str, KubernetesObject], item: Rendered) -> list[KubernetesObject | None]:
    return [definitions.get(value["kind"]) for value in item.objects]


_Key = tuple[str, str, str]


def _register_plain(
    item: Rendered, name: str, provider: pulumi_kubernetes.Provider, before: list[pulumi.Resource]
) -> dict[_Key, pulumi.Resource]:
    """Register objects that are no model, and return them: what several models share, what an operator reads."""
    own = f"{item.kind}-{name}".lower()
    return {
        _key(value): kubernetes_object(value, own, pulumi.ResourceOptions(provider=provider, depends_on=before))
        for value in item.objects
    }


def _key(value: Object) -> _Key:
    metadata = value["metadata"]
    return value["kind"], metadata.get("namespace", ""), metadata["name"]


def _export_names(fleet: Fleet) -> dict[int, str]:
    """Name each resource for outputs and URNs: with its namespace where two namespaces hold the name."""
    keys = {id(item): ("" if item.kind in _COMPONENTS else item.kind, item.name) for item in fleet.rendered}
    counts = Counter(keys.values())
    return {
        id(item): f"{item.namespace}/{item.name}" if item.namespace and counts[keys[id(item)]] > 1 else item.name
        for item in fleet.rendered
    }


def _copy(options: pulumi.ResourceOptions) -> pulumi.ResourceOptions:
    """Options are changed by the resource that takes them; each gets its own."""
    return pulumi.ResourceOptions(provider=options.provider)
