"""A fleet of models: everything that a set of manifests becomes in one cluster.

ModelFleet
├── Namespace                                   <name>-<namespace>, but for default and the system's; those of charts
│                                               too in a cluster that is made here
├── ServiceAccount                              <name>-<namespace>-model-loader, where pods read buckets
├── PersistentVolumeClaim                       <name>-<namespace>/<claim>, for caches and buckets that are bound
├── CustomResources                             <name>-kinds, on request
├── SimulatedNodes                              <name>-nodes, on request
├── one component per chart that models need    <name>-<chart>, on request
├── PriorityClasses, NetworkPolicies            <name>-priority-classes, <name>-network-policies
├── one component per resource that serves      <name>-<namespace>/<resource>
├── objects that several share, for operators   <name>-<namespace>/<object>
├── OtherObjects                                <name>-others, what is passed through
├── Monitoring                                  <name>-monitoring
└── FrontDoor                                   <name>-front-door
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Self

import pulumi

from ...checks.hardening.network_policies import guards_of
from ...contract.findings.ids import RuleId
from ...contract.problems import Problem
from ...families import members
from ...fleet.nodes.groups import NodeGroupDemand
from ...fleet.objects import Key, Object, key_of
from ...fleet.rendered import Rendered
from ...plan.access import charts_for
from ...plan.costs.bill import Bill
from ...plan.namespaces import is_namespace, namespace_objects
from ...plan.plan import Plan, plan
from ...plan.prerequisites.charts import NODE_AUTOSCALER, providers_of
from ...plan.sections.costs import bill_of
from ...plan.settings import MODEL_ACCOUNT, FleetSettings
from ..prerequisites.custom_resources import CustomResources, installable
from .arguments import format_problem, log_warnings, report_errors
from .fleet.args import ModelFleetArgs
from .fleet.cloud_charts import ROLE_ANNOTATION, untold_facts
from .fleet.cost_output import cost_of
from .fleet.files import read_text
from .fleet.installing import Installation
from .fleet.outputs import endpoints_of, models_of, nodes_of
from .fleet.prices import own_prices
from .fleet.settings import described, in_python
from .object_set import FrontDoor, Monitoring, NetworkPolicies, ObjectSet, OtherObjects, PriorityClasses
from .objects import KubernetesObject, kubernetes_object, token
from .simulated_nodes import SimulatedNodes
from .site import Site
from .workload_component import WorkloadComponent, added_name

_NodeKind = frozenset[tuple[str, str]]
"""The labels by which pods choose nodes."""


class ModelFleet(pulumi.ComponentResource):
    """Deploys models: namespaces, prerequisites, workloads, monitoring, front door and policies.

    Reports every problem of every model before anything is created. Does not create the cluster or its nodes, except
    simulated ones.
    """

    endpoints: pulumi.Output[dict[str, Any]]
    """Where each model answers: url, api, model and port, and clusterUrl if url is an external address."""
    models: pulumi.Output[dict[str, Any]]
    """What became of each resource that serves: kind, namespace, workload, replicas, model, and fit: whether it fits
    its accelerators."""
    nodes: pulumi.Output[dict[str, Any]]
    """The nodes that the models need, by group."""
    prerequisites: pulumi.Output[dict[str, Any]]
    """What the models need in the cluster, and why."""
    cost: pulumi.Output[dict[str, Any]]
    """What the models cost in US dollars, now, at least and at most: usdPerMonth, usdPerHour, modelsUsdPerMonth,
    models, items, unpriced (what has no price), region, date, notes. Where nobody pays for nodes, models have what
    they would cost on AWS."""

    def __init__(self, name: str, args: ModelFleetArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        """Plan and register.

        Raises:
            InvalidArguments: arguments or manifests are wrong, or a pod fits no node; every problem is listed.
        """
        given = described(name, args)
        planned = plan(given.manifests, given.settings.environment(read_text))
        charts = [each.chart.name for each in planned.prerequisites] if given.settings.prerequisites.install else []
        untold = [
            Problem(name, 0, "", "", path, reason, rule=RuleId.SETTINGS)
            for path, reason in untold_facts(given.site, charts)
        ]
        own, wrong = own_prices(given.settings.prices)
        found = [*given.problems, *untold, *wrong, *(in_python(problem, name) for problem in planned.problems)]
        report_errors(found)
        self.register(name, planned, given.settings, given.site, bill_of(planned, own), opts)
        self.log_warnings(found)

    @classmethod
    def from_plan(
        cls,
        name: str,
        planned: Plan,
        settings: FleetSettings,
        site: Site,
        bill: Bill,
        opts: pulumi.ResourceOptions | None = None,
    ) -> Self:
        """Create the component from what was planned and checked before, for a program that makes the cluster too."""
        fleet = cls.__new__(cls)
        fleet.register(name, planned, settings, site, bill, opts)
        return fleet

    def log_warnings(self, problems: Iterable[Problem], line: Callable[[Problem], str] = format_problem) -> None:
        """Log what is no error at the component of the resource that it is about, and all else at the fleet."""
        log_warnings(problems, line, lambda problem: self._components.get(problem.owner, self))

    def register(
        self,
        name: str,
        planned: Plan,
        settings: FleetSettings,
        site: Site,
        bill: Bill,
        opts: pulumi.ResourceOptions | None,
    ) -> None:
        """Register the component and everything below it, each thing after what it needs."""
        pulumi.ComponentResource.__init__(self, token("ModelFleet"), name, {}, opts)
        self._name, self._planned, self._settings = name, planned, settings
        self._namespaces = self._make_namespaces()
        self._accounts = self._make_accounts(site)
        self._claims = self._make_claims(site.volumes)
        self._nodes = self._simulated() if settings.simulated_nodes else {}
        self._charts = Installation(planned, settings.prerequisites, site).install(name, self, self._namespaces)
        self._nodes[None] = site.nodes(
            [self._charts[key] for key in providers_of(NODE_AUTOSCALER) if key in self._charts]
        )
        self._definitions = self._make_definitions()
        self._classes = self._set(PriorityClasses, "priority-classes", planned.classes, [])
        # Policies come before the pods that they guard.
        self._policies = self._set(
            NetworkPolicies, "network-policies", planned.policies, list(self._namespaces.values())
        )
        self._shared: dict[Key, pulumi.Resource] = {}
        self._needed_by = {each.chart.name: frozenset(each.reasons) for each in planned.prerequisites}
        components = {
            key_of_item(item): component for item in planned.fleet.rendered if (component := self._make(item))
        }
        others = tuple(body for body in planned.others if not is_namespace(body))
        self._set(OtherObjects, "others", others, [*self._after(self._charts), *self._definitions.values()])
        self._set(Monitoring, "monitoring", planned.monitoring, self._after(["prometheus"]))
        charts = charts_for(planned.door, planned.environment)
        self.door = self._set(FrontDoor, "front-door", planned.door.objects, self._after(charts))
        self._describe(components, self.door, bill)

    def _describe(self, components: dict[Key, WorkloadComponent], door: ObjectSet | None, bill: Bill) -> None:
        """Set the outputs, and which component is of which resource."""
        planned = self._planned
        self._components = {
            item.source.owner: components[key_of_item(item)]
            for item in planned.fleet.rendered
            if key_of_item(item) in components
        }
        self.described: dict[str, dict[str, Any]] = {
            "endpoints": endpoints_of(planned, components, door),
            "models": models_of(planned),
            "nodes": nodes_of(planned),
            "prerequisites": {each.chart.name: list(each.reasons) for each in planned.prerequisites},
            "cost": cost_of(planned, bill),
        }
        self.endpoints = pulumi.Output.from_input(self.described["endpoints"])
        self.models = _known(self.described["models"])
        self.nodes = _known(self.described["nodes"])
        self.prerequisites = _known(self.described["prerequisites"])
        self.cost = _known(self.described["cost"])
        self.register_outputs(self.described)

    def _child(self, after: Iterable[pulumi.Resource] = ()) -> pulumi.ResourceOptions:
        return pulumi.ResourceOptions(parent=self, depends_on=list(after))

    def _set(
        self, component: type[ObjectSet], suffix: str, values: tuple[Object, ...], after: list[pulumi.Resource]
    ) -> ObjectSet | None:
        """Register what there is of a kind of objects."""
        return component(f"{self._name}-{suffix}", values, self._child(after)) if values else None

    def _make_namespaces(self) -> dict[str, KubernetesObject]:
        """Register the namespaces of the models, and those that are passed through."""
        return {
            name: kubernetes_object(body, f"{self._name}-{name}", self._child())
            for name, body in namespace_objects(self._planned).items()
        }

    def _make_accounts(self, site: Site) -> dict[str, list[KubernetesObject]]:
        """Register the service account of pods that read buckets, unless the environment names one of its own."""
        if not self._settings.buckets or self._settings.pods.service_account_name:
            return {}
        accounts = {}
        role = site.role_of(MODEL_ACCOUNT)
        annotations = {"annotations": {ROLE_ANNOTATION: role}} if role is not None else {}
        for namespace in self._planned.namespaces:
            value = {
                "apiVersion": "v1",
                "kind": "ServiceAccount",
                "metadata": {"name": MODEL_ACCOUNT, "namespace": namespace, **annotations},
                "automountServiceAccountToken": False,
            }
            after = [self._namespaces[namespace]] if namespace in self._namespaces else []
            name = f"{self._name}-{namespace}-{MODEL_ACCOUNT}"
            accounts[namespace] = [kubernetes_object(value, name, self._child(after))]
        return accounts

    def _make_claims(self, volumes: Iterable[pulumi.Resource]) -> dict[str, list[KubernetesObject]]:
        """Register the claims that the pods of each namespace may mount, after what they are bound to."""
        claims: dict[str, list[KubernetesObject]] = {}
        for value in self._planned.claims:
            _, namespace, name = key_of(value)
            after = [*volumes, *([self._namespaces[namespace]] if namespace in self._namespaces else [])]
            child = kubernetes_object(value, f"{self._name}-{namespace}/{name}", self._child(after))
            claims.setdefault(namespace, []).append(child)
        return claims

    def _simulated(self) -> dict[_NodeKind | None, list[Any]]:
        """Register simulated nodes. Pods must go before them: nobody else would end a pod of a node that is gone."""
        groups: list[NodeGroupDemand] = list(self._planned.groups)
        nodes = SimulatedNodes.of(f"{self._name}-nodes", groups, self._child())
        return {frozenset(group.labels.items()): list(nodes.of_group[group.name]) for group in groups}

    def _make_definitions(self) -> dict[tuple[str, str], KubernetesObject]:
        """Register the definitions of the kinds in use, where charts do not bring them."""
        if not self._settings.custom_resources:
            return {}
        used = {(body["apiVersion"], body["kind"]) for i in self._planned.fleet.rendered for body in i.objects}
        kinds = [kind for kind in installable() if (kind.api_version, kind.kind) in used]
        if not kinds:
            return {}
        titles = [kind.title for kind in kinds]
        resources = CustomResources(f"{self._name}-kinds", {"kinds": titles}, self._child())
        keys = [(kind.api_version, kind.kind) for kind in kinds]
        return dict(zip(keys, resources.definitions, strict=True))

    def _make(self, item: Rendered) -> WorkloadComponent | None:
        """Register what a resource became: a component for what serves, plain objects for the rest."""
        before = self._before(item)
        name = f"{self._name}-{item.namespace}/{item.name}" if item.namespace else f"{self._name}-{item.name}"
        family, member = members().get(item.source.kind.title, (None, None))
        if family and member and member.serves and member.component and member.kind.kind == item.kind:
            component: type[WorkloadComponent] = family.component(member)
            return component.from_rendered(name, item, self._child(before))
        for value in item.objects:
            child = f"{name}{added_name(value, item.name)}"
            self._shared[key_of(value)] = kubernetes_object(value, child, self._child(before))
        return None

    def _before(self, item: Rendered) -> list[pulumi.Resource]:
        """Return what must be there before a resource, and after it."""
        namespace = self._namespaces.get(item.namespace)
        before: list[pulumi.Resource] = [namespace] if namespace else []
        used = ((body["apiVersion"], body["kind"]) for body in item.objects)
        before += [self._definitions[key] for key in used if key in self._definitions]
        before += self._accounts.get(item.namespace, [])
        before += self._claims.get(item.namespace, [])
        before += [self._classes] if self._classes else []
        # Those of its own pods alone: on the component, each model would depend on the policies of all models.
        guards = self._policies.objects if self._policies else {}
        keys = dict.fromkeys(key for workload in item.workloads for key in guards_of(workload))
        before += [guards[key] for key in keys if key in guards]
        kinds = (None, *_node_kinds(item, self._settings.pods.node_selector))
        before += [node for kind in kinds for node in self._nodes.get(kind, ())]
        wanted = [chart for chart, reasons in self._needed_by.items() if item.title in reasons]
        before += [self._charts[key] for key in wanted if key in self._charts]
        return before + [self._shared[key] for key in map(key_of, item.shared)]

    def _after(self, charts: Iterable[str]) -> list[pulumi.Resource]:
        installed = [self._charts[name] for name in charts if name in self._charts]
        return [*installed, *self._namespaces.values()]


def _known(value: dict[str, Any]) -> pulumi.Output[dict[str, Any]]:
    """Return a value that holds no outputs as an output: Output.from_input makes one of each value in it."""
    return pulumi.Output.from_input(None).apply(lambda _: value)


def key_of_item(item: Rendered) -> Key:
    """Return what tells a resource from others."""
    return item.kind, item.namespace, item.name


def _node_kinds(item: Rendered, selector: Mapping[str, str]) -> list[_NodeKind]:
    """Return the nodes that pods may run on; each carries what every pod selects."""
    choices = (choice for pods in item.pods for choice in pods.choices)
    return list(dict.fromkeys(frozenset({**selector, **choice.labels}.items()) for choice in choices))
