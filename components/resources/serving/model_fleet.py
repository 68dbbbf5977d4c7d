"""A fleet of models: the resources of a set of manifests in one cluster.

ModelFleet
├── Namespace                                   <name>-<namespace>, except default and the system's; also those of
│                                               charts, in a cluster that the stack creates
├── ServiceAccount                              <name>-<namespace>-model-loader, if pods read buckets
├── PersistentVolumeClaim                       <name>-<namespace>/<claim>, for bound caches and buckets
├── CustomResources                             <name>-kinds, on request
├── SimulatedNodes                              <name>-nodes, on request
├── one component per required chart            <name>-<chart>, on request
├── PriorityClasses, NetworkPolicies            <name>-priority-classes, <name>-network-policies
├── one component per serving resource          <name>-<namespace>/<resource>
├── other rendered objects                      <name>-<namespace>/<object>
├── OtherObjects                                <name>-others, manifests of unsupported APIs
├── Monitoring                                  <name>-monitoring
└── FrontDoor                                   <name>-front-door
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any, Self

import pulumi

from ...checks.hardening.network_policies import guards_of
from ...contract.findings.ids import RuleId
from ...contract.problems import Problem
from ...families import member_of
from ...fleet.nodes.groups import NodeGroupDemand
from ...fleet.objects import Key, Object, is_core_service, key_of
from ...fleet.rendered import Rendered
from ...fleet.workloads import REPLICAS, with_own_replicas
from ...plan.access import charts_for
from ...plan.costs.bill import Bill
from ...plan.namespaces import is_namespace, namespace_objects
from ...plan.plan import Plan, plan
from ...plan.prerequisites.charts import NODE_AUTOSCALER, providers_of
from ...plan.sections.costs import bill_of
from ...plan.settings import MODEL_ACCOUNT, FleetSettings
from ...plan.timeouts.planned import as_registered
from ..prerequisites.custom_resources import CustomResources, installable
from .arguments import format_problem, log_warnings, report_errors
from .fleet.args import ModelFleetArgs
from .fleet.cloud_charts import ROLE_ANNOTATION, missing_facts
from .fleet.cost_output import cost_of
from .fleet.files import read_text
from .fleet.installing import Installation
from .fleet.outputs import adapter_rules_of, endpoints_of, models_of, nodes_of
from .fleet.settings import described, in_python
from .former import SETS, FormerPlaces, component_name, is_written_scaler, serving_component
from .object_set import FrontDoor, Monitoring, NetworkPolicies, ObjectSet, OtherObjects, PriorityClasses
from .objects import KubernetesObject, kubernetes_object, token
from .simulated_nodes import SimulatedNodes
from .site import Site
from .waiting import custom_timeouts
from .workload_component import WorkloadComponent, added_name, declared_replicas, kept_fields

_NodeKind = frozenset[tuple[str, str]]
"""The labels by which pods choose nodes."""


class ModelFleet(pulumi.ComponentResource):
    """Deploys models: namespaces, prerequisites, workloads, monitoring, front door and policies.

    Reports every problem of every model before it creates anything. Does not create the cluster or its nodes, except
    simulated ones.
    """

    endpoints: pulumi.Output[dict[str, Any]]
    """Endpoint of each model: url, api, model and port, and clusterUrl if url is an external address."""
    models: pulumi.Output[dict[str, Any]]
    """State of each serving resource: kind, namespace, workload, replicas, model, and fit, whether it fits its
    accelerators."""
    nodes: pulumi.Output[dict[str, Any]]
    """Nodes that the models require, by group."""
    prerequisites: pulumi.Output[dict[str, Any]]
    """Prerequisites of the models, each with the resources that require it."""
    adapter_rules: pulumi.Output[dict[str, Any]]
    """Value rules of the chart of an existing prometheus-adapter, for the metrics of these autoscalers. Empty if the
    cluster has none, or none is needed."""
    cost: pulumi.Output[dict[str, Any]]
    """Cost of the models in US dollars, each amount as now, min and max: usdPerMonth, usdPerHour, modelsUsdPerMonth,
    models, items, unpriced (items without a price), region, date, notes. Without billed nodes, models show their cost
    on AWS."""

    def __init__(self, name: str, args: ModelFleetArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        """Plan and create the fleet.

        Raises:
            InvalidArguments: arguments or manifests are invalid, or a pod fits no node; every problem is listed.
        """
        inputs = described(name, args)
        planned = plan(inputs.manifests, inputs.settings.environment(read_text))
        installed = planned.prerequisites if inputs.settings.prerequisites.install else ()
        charts = [prerequisite.chart.name for prerequisite in installed]
        missing = [
            Problem(file=name, path=path, reason=reason, rule=RuleId.SETTINGS)
            for path, reason in missing_facts(inputs.site, charts)
        ]
        problems = [
            *inputs.problems,
            *missing,
            *(in_python(problem, name) for problem in planned.problems),
        ]
        report_errors(problems)
        self.register(name, planned, settings=inputs.settings, site=inputs.site, bill=bill_of(planned), opts=opts)
        self.log_warnings(problems)

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
        """Create the component from a checked plan, for a program that also creates the cluster."""
        fleet = cls.__new__(cls)
        fleet.register(name, planned, settings=settings, site=site, bill=bill, opts=opts)
        return fleet

    def log_warnings(self, problems: Iterable[Problem], line: Callable[[Problem], str] = format_problem) -> None:
        """Log notes and warnings at the component of their resource, or else at the fleet."""
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
        """Create the component and its children in the order of their dependencies."""
        with planned.environment.with_types():
            pulumi.ComponentResource.__init__(self, token("ModelFleet"), name, {}, opts)
            self._name, self._planned, self._settings = name, planned, settings
            self._former = FormerPlaces(self, name, planned)

            # What pods refer to exists before them; objects in a namespace come after it.
            self._namespaces = self._create_namespaces()
            self._accounts = self._create_accounts(site)
            self._claims = self._create_claims(site.volumes)
            self._nodes = self._create_nodes() if settings.simulated_nodes else {}
            self._charts = Installation(planned, settings.prerequisites, site).install(name, self, self._namespaces)
            # Nodes that a chart adds on demand come after that chart.
            self._nodes[None] = site.nodes(
                [self._charts[key] for key in providers_of(NODE_AUTOSCALER) if key in self._charts]
            )
            self._definitions = self._create_definitions()
            self._classes = self._set(PriorityClasses, planned.classes, [])
            # Policies exist before the pods that they select.
            self._policies = self._set(NetworkPolicies, planned.policies, list(self._namespaces.values()))

            # The models, each after what it needs of the above.
            self._shared: dict[Key, pulumi.Resource] = {}
            self._needed_by = {
                prerequisite.chart.name: frozenset(prerequisite.reasons) for prerequisite in planned.prerequisites
            }
            components = {
                key_of_item(item): component
                for item in planned.fleet.rendered
                # Autoscalers that are written by hand are among the objects of other APIs.
                if not is_written_scaler(item) and (component := self._create(item))
            }

            # Objects that observe models or route to them, and kinds that a chart may define.
            others = tuple(body for body in planned.others if not is_namespace(body))
            self._set(OtherObjects, others, [*self._after(self._charts), *self._definitions.values()])
            self._set(Monitoring, planned.monitoring, self._after(["prometheus"]))
            charts = charts_for(planned.door, planned.environment)
            self.door = self._set(FrontDoor, planned.door.objects, self._after(charts))
            self._set_outputs(components, self.door, bill)

    def _set_outputs(self, components: dict[Key, WorkloadComponent], door: ObjectSet | None, bill: Bill) -> None:
        """Set the outputs, and the components by resource."""
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
            "prerequisites": {
                prerequisite.chart.name: list(prerequisite.reasons) for prerequisite in planned.prerequisites
            },
            "adapterRules": adapter_rules_of(planned),
            "cost": cost_of(planned, bill),
        }
        endpoints = self.described["endpoints"]
        has_outputs = any(isinstance(value, pulumi.Output) for each in endpoints.values() for value in each.values())
        self.endpoints = pulumi.Output.from_input(endpoints) if has_outputs else _known(endpoints)
        self.models = _known(self.described["models"])
        self.nodes = _known(self.described["nodes"])
        self.prerequisites = _known(self.described["prerequisites"])
        self.adapter_rules = _known(self.described["adapterRules"])
        self.cost = _known(self.described["cost"])
        self.register_outputs(self.described)

    def _child(self, after: Iterable[pulumi.Resource] = ()) -> pulumi.ResourceOptions:
        return pulumi.ResourceOptions(parent=self, depends_on=list(after))

    def _object(self, value: Object, name: str, opts: pulumi.ResourceOptions) -> KubernetesObject:
        """Create an object with the timeouts of the plan."""
        opts.custom_timeouts = custom_timeouts(self._planned.timeouts.of(value))
        return kubernetes_object(as_registered(value, self._planned.environment.waits), name, opts)

    def _set(
        self, kind: type[ObjectSet], values: tuple[Object, ...], after: list[pulumi.Resource]
    ) -> ObjectSet | None:
        if not values:
            return None
        return kind(f"{self._name}-{SETS[kind]}", values, self._child(after), partial(self._member, kind))

    def _member(
        self, kind: type[ObjectSet], value: Object, name: str, opts: pulumi.ResourceOptions
    ) -> KubernetesObject:
        """Create an object of a set. Services of a door wait for the pods of models; nothing else in a set does."""
        if key_of(value) in self._planned.scaled:
            # As in Workload.kept_fields: the autoscaler owns the replicas, and must not lose them at an update.
            opts.ignore_changes = [REPLICAS]
        else:
            value = with_own_replicas(value)
        opts.aliases = [*(opts.aliases or ()), *self._former.of_member(kind, value)]
        return self._object(value, name, opts) if is_core_service(value) else kubernetes_object(value, name, opts)

    def _create_namespaces(self) -> dict[str, KubernetesObject]:
        """Create the namespaces of the models and those among the manifests."""
        return {
            name: self._object(body, f"{self._name}-{name}", self._child())
            for name, body in namespace_objects(self._planned).items()
        }

    def _create_accounts(self, site: Site) -> dict[str, list[KubernetesObject]]:
        """Create the service accounts of pods that read buckets, unless the settings name another one."""
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

    def _create_claims(self, volumes: Iterable[pulumi.Resource]) -> dict[str, list[KubernetesObject]]:
        """Create the claims of each namespace, after the volumes that they are bound to."""
        claims: dict[str, list[KubernetesObject]] = {}
        for value in self._planned.claims:
            _, namespace, name = key_of(value)
            after = [*volumes, *([self._namespaces[namespace]] if namespace in self._namespaces else [])]
            options = self._child(after)
            options.aliases = self._former.of_claim(value)
            child = self._object(value, f"{self._name}-{namespace}/{name}", options)
            claims.setdefault(namespace, []).append(child)
        return claims

    def _create_nodes(self) -> dict[_NodeKind | None, list[Any]]:
        """Create simulated nodes, on which pods depend: nothing terminates the pods of a deleted simulated node."""
        groups: list[NodeGroupDemand] = list(self._planned.groups)
        nodes = SimulatedNodes.of(f"{self._name}-nodes", groups, self._child())
        return {frozenset(group.labels.items()): list(nodes.last_of_group[group.name]) for group in groups}

    def _create_definitions(self) -> dict[tuple[str, str], KubernetesObject]:
        """Create the CustomResourceDefinitions of the kinds in use, on request."""
        if not self._settings.custom_resources:
            return {}
        used = {(body["apiVersion"], body["kind"]) for i in self._planned.fleet.rendered for body in i.objects}
        kinds = [kind for kind in installable() if (kind.api_version, kind.kind) in used]
        if not kinds:
            return {}
        titles = [kind.title for kind in kinds]
        releases = dict(self._settings.releases)
        resources = CustomResources(f"{self._name}-kinds", {"kinds": titles, "releases": releases}, self._child())
        keys = [(kind.api_version, kind.kind) for kind in kinds]
        return dict(zip(keys, resources.definitions, strict=True))

    def _create(self, item: Rendered) -> WorkloadComponent | None:
        """Create a component for a serving resource, plain objects for others."""
        before = self._dependencies(item)
        name = component_name(self._name, item)
        if serving_component(item):
            family, member = member_of(item.source.kind)
            component: type[WorkloadComponent] = family.component(member)
            timeouts, waits = self._planned.timeouts, self._planned.environment.waits
            scaled = self._planned.scaled
            registered = replace(item, timeouts=timeouts.planned, waits=waits, scaled=scaled)
            options = self._child(before)
            options.aliases = self._former.of_component(item)
            return component.from_rendered(name, registered, options, partial(self._former.of_object, item))
        kept = kept_fields(replace(item, scaled=self._planned.scaled))
        for value in item.objects:
            child, options = f"{name}{added_name(value, item.name)}", self._child(before)
            options.ignore_changes = kept.get(id(value)) or None
            options.aliases = self._former.of_object(item, value)
            own = value if options.ignore_changes else with_own_replicas(value, declared_replicas(item, value))
            self._shared[key_of(value)] = self._object(own, child, options)
        return None

    def _dependencies(self, item: Rendered) -> list[pulumi.Resource]:
        """Return the dependencies of a resource."""
        namespace = self._namespaces.get(item.namespace)
        before: list[pulumi.Resource] = [namespace] if namespace else []
        used = ((body["apiVersion"], body["kind"]) for body in item.objects)
        before += [self._definitions[key] for key in used if key in self._definitions]
        before += self._accounts.get(item.namespace, [])
        before += self._claims.get(item.namespace, [])
        before += [self._classes] if self._classes else []
        # Only the policies of its own pods: the component would make each model depend on those of all models.
        guards = self._policies.objects if self._policies else {}
        keys = dict.fromkeys(key for workload in item.workloads for key in guards_of(workload))
        before += [guards[key] for key in keys if key in guards]
        kinds = (None, *_node_kinds(item, self._settings.pods.node_selector))
        before += [node for kind in kinds for node in self._nodes.get(kind, ())]
        required = [chart for chart, reasons in self._needed_by.items() if item.title in reasons]
        before += [self._charts[key] for key in required if key in self._charts]
        return before + [self._shared[key] for key in map(key_of, item.shared)]

    def _after(self, charts: Iterable[str]) -> list[pulumi.Resource]:
        installed = [self._charts[name] for name in charts if name in self._charts]
        return [*installed, *self._namespaces.values()]


def _known(value: dict[str, Any]) -> pulumi.Output[dict[str, Any]]:
    """Return a plain value as one output; Output.from_input would create an output for each value in it."""
    return pulumi.Output.from_input(None).apply(lambda _: value)


def key_of_item(item: Rendered) -> Key:
    return item.kind, item.namespace, item.name


def _node_kinds(item: Rendered, selector: Mapping[str, str]) -> list[_NodeKind]:
    """Return the node labels that pods may select; all include the environment's node selector."""
    choices = (choice for pods in item.pods for choice in pods.choices)
    return list(dict.fromkeys(frozenset({**selector, **choice.labels}.items()) for choice in choices))
