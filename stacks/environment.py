"""One environment: manifests in, components registered, endpoints out."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pulumi
import pulumi_kubernetes

from components.api.load import load
from components.api.problems import Problem, errors
from components.cluster.simulated_nodes import SimulatedNodes
from components.planning.cluster_checks import check_version
from components.planning.fit import fit
from components.planning.node_checks import check_nodes
from components.planning.node_plan import NodeGroupPlan, node_plan
from components.prerequisites.custom_resources import CustomResources
from components.render.fleet import render_fleet
from components.render.nodes import node_groups
from components.render.types import Fleet, NodeGroupDemand, Rendered
from components.serving.objects import KubernetesObject, kubernetes_object
from components.serving.playground import Playground
from components.serving.service import Service
from components.serving.workload_component import WorkloadComponent

from .settings import MODEL_ACCOUNT, Settings

_COMPONENTS: Mapping[str, type[WorkloadComponent]] = {"Playground": Playground, "Service": Service}
_OPERATED = ("OpenModel", "BackendRuntime", "Playground", "Service")


@dataclass(frozen=True, slots=True)
class Plan:
    """What an environment comes to, before anything is registered.

    Attributes:
        groups: What the models need of nodes.
        cloud_groups: The same as node groups of a cloud; empty without one.
    """

    fleet: Fleet
    groups: tuple[NodeGroupDemand, ...]
    cloud_groups: tuple[NodeGroupPlan, ...] = ()


def deploy(settings: Settings) -> None:
    """Register everything that the settings describe and export endpoints, models and nodes.

    Raises:
        pulumi.RunError: a manifest is wrong or does not fit; every problem is listed and nothing is registered.
    """
    planned = plan(settings)
    fleet = planned.fleet
    provider, nodes = _target(settings, planned)
    options = pulumi.ResourceOptions(provider=provider)
    namespaces = _namespaces(fleet, options)
    accounts = _accounts(settings, fleet, namespaces, provider)
    definitions = _definitions(settings, fleet, options)
    names = _export_names(fleet)
    for item in fleet.rendered:
        before: list[pulumi.Resource] = [o for o in (namespaces.get(item.namespace), *_used(definitions, item)) if o]
        before += accounts.get(item.namespace, [])
        before += [node for key in _node_kinds(item) for node in nodes.get(key, ())]
        _serve(item, names[id(item)], provider, before)
    _export(planned, names)


def plan(settings: Settings) -> Plan:
    """Read and render the manifests, plan the nodes and check that all of it can be.

    Raises:
        pulumi.RunError: there are errors; one line each.
    """
    manifests = load(Path(path) for path in settings.models)
    fleet = render_fleet(manifests.resources, settings.options(), unread=manifests.problems)
    problems = [*manifests.problems, *fleet.problems, *fit(fleet)]
    if settings.cloud == "aws":
        where = settings.environment()
        cloud_groups = node_plan(fleet, where)
        problems += check_nodes(fleet, cloud_groups, where)
        if not settings.cluster.existing:
            problems += check_version(where.version, where.now.date(), settings.file, "cluster.version")
        planned = Plan(fleet, tuple(group.demand for group in cloud_groups), cloud_groups)
    else:
        planned = Plan(fleet, node_groups(fleet))
    for problem in problems:
        if problem.severity != "error":
            pulumi.log.warn(str(problem))
    _refuse(errors(problems))
    return planned


def _refuse(problems: Iterable[Problem]) -> None:
    lines = [str(problem) for problem in problems]
    if lines:
        count = f"{len(lines)} problem{'s' * (len(lines) > 1)} found; nothing is created"
        raise pulumi.RunError("\n".join([count, *lines]))


_Nodes = Mapping["_NodeKind", Sequence[pulumi.Resource]]
"""What pods of a node kind come after."""


def _target(settings: Settings, planned: Plan) -> tuple[pulumi_kubernetes.Provider, _Nodes]:
    """Register the cluster to deploy to, where it is ours, and the nodes."""
    if settings.cloud == "aws":
        from .cloud import make_cloud

        made = make_cloud(settings, planned.cloud_groups, _model_namespaces(planned.fleet))
        for name, value in made.exports.items():
            pulumi.export(name, value)
        kinds = {kind for item in planned.fleet.rendered for kind in _node_kinds(item)}
        return made.provider, dict.fromkeys(kinds, made.nodes)
    provider = _provider(settings)
    return provider, _nodes(planned.groups, provider) if settings.simulated_nodes else {}


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


def _namespaces(fleet: Fleet, options: pulumi.ResourceOptions) -> dict[str, KubernetesObject]:
    """Register the namespaces of the models; ``default`` and the system's exist already."""
    wanted = sorted({item.namespace for item in fleet.rendered if item.namespace})
    return {
        name: kubernetes_object(
            {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}, name, _copy(options)
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
) -> dict[_NodeKind, list[KubernetesObject]]:
    """Register simulated nodes. Pods must go before them: nobody else would end a pod of a node that is gone."""
    listed = list(groups)
    made = SimulatedNodes("nodes", {"groups": listed}, pulumi.ResourceOptions(providers=[provider]))
    return {frozenset(group.labels.items()): made.of_group[group.name] for group in listed}


def _node_kinds(item: Rendered) -> list[_NodeKind]:
    kinds = (frozenset(choice.labels.items()) for pods in item.pods for choice in pods.choices)
    return list(dict.fromkeys(kinds))


def _used(definitions: Mapping[str, KubernetesObject], item: Rendered) -> list[KubernetesObject | None]:
    return [definitions.get(value["kind"]) for value in item.objects]


def _serve(item: Rendered, name: str, provider: pulumi_kubernetes.Provider, before: list[pulumi.Resource]) -> None:
    component = _COMPONENTS.get(item.kind)
    if component:
        component.from_rendered(name, item, pulumi.ResourceOptions(providers=[provider], depends_on=before))
        return
    for value in item.objects:
        own = f"{item.kind}-{name}".lower()
        kubernetes_object(value, own, pulumi.ResourceOptions(provider=provider, depends_on=before))


def _export_names(fleet: Fleet) -> dict[int, str]:
    """Name each resource for outputs and URNs: with its namespace where two namespaces hold the name."""
    counts: dict[str, int] = {}
    for item in fleet.rendered:
        counts[item.name] = counts.get(item.name, 0) + (item.kind in _COMPONENTS)
    return {
        id(item): f"{item.namespace}/{item.name}" if counts[item.name] > 1 else item.name for item in fleet.rendered
    }


def _export(planned: Plan, names: Mapping[int, str]) -> None:
    served = [item for item in planned.fleet.rendered if item.endpoint]
    pulumi.export("endpoints", {names[id(item)]: _endpoint(item) for item in served})
    pulumi.export("models", {names[id(item)]: _model(item) for item in served})
    sizes = {group.name: _sizes(group) for group in planned.cloud_groups}
    pulumi.export("nodes", {group.name: _group(group) | sizes.get(group.name, {}) for group in planned.groups})


def _endpoint(item: Rendered) -> dict[str, Any]:
    endpoint = item.endpoint
    assert endpoint is not None  # noqa: S101  the caller chose those that have one
    return {"url": endpoint.url, "api": endpoint.api, "model": endpoint.model, "port": endpoint.port}


def _model(item: Rendered) -> dict[str, Any]:
    return {
        "kind": item.kind,
        "namespace": item.namespace,
        "workload": item.workload_name,
        "workloadKind": item.workload_kind,
        "replicas": item.replicas,
        "model": item.model,
    }


def _group(group: NodeGroupDemand) -> dict[str, Any]:
    from components.catalog.instances import instance

    facts = instance(group.instance_type)
    return {
        "instanceType": group.instance_type,
        "nodes": group.nodes,
        "accelerators": facts.accelerators if facts else 0,
    }


def _sizes(group: NodeGroupPlan) -> dict[str, Any]:
    return {
        "instanceTypes": list(group.instance_types),
        "capacity": group.demand.capacity,
        "zones": list(group.zones),
        "minNodes": group.minimum,
        "maxNodes": group.maximum,
    }


def _copy(options: pulumi.ResourceOptions) -> pulumi.ResourceOptions:
    """Options are changed by the resource that takes them; each gets its own."""
    return pulumi.ResourceOptions(provider=options.provider)
