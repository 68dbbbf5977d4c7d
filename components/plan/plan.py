"""The plan of an environment: rendered, sized and checked before anything is registered."""

import functools
import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from functools import partial
from typing import TYPE_CHECKING

from ..checks.front_door.door import FrontDoorPlan, front_door
from ..checks.front_door.pod_ends import check_pod_ends
from ..checks.front_door.words import Exposure
from ..checks.groups.arguments import check_group_arguments
from ..checks.hardening.secrets import check_secrets
from ..checks.memory.architectures import check_architectures
from ..checks.memory.backends import check_backends
from ..checks.memory.context import check_context, check_inputs
from ..checks.memory.degrees import check_degrees, check_experts
from ..checks.memory.formats import check_attention, check_formats, check_images
from ..checks.memory.host import check_host_memory
from ..checks.memory.model_names import check_names
from ..checks.memory.verdicts import WorkloadVerdict, check_memory, verdicts
from ..checks.metrics.chain import MetricChain, metric_chain, with_scaled_objects
from ..checks.startup.arguments import check_start
from ..contract.collection import paused_collection
from ..contract.findings.ignoring import Ignored, Scope, without_ignored
from ..contract.load import Manifests
from ..contract.problems import Problem, root_causes
from ..engines.settings import Setting
from ..fleet.demand import PodDemand
from ..fleet.nodes.fit import fit
from ..fleet.nodes.groups import NodeGroupDemand, node_groups, offered_by
from ..fleet.nodes.policy import NodePolicy
from ..fleet.nodes.preemption import DefaultClass, preemptions
from ..fleet.nodes.unschedulable import NodeKind, unschedulable
from ..fleet.objects import Key, Object
from ..fleet.rendered import Fleet, Rendered
from ..fleet.words import OtherKinds
from ..fleet.workloads import Workload
from .access import (
    charts_for,
    check_access,
    check_budgets,
    check_exemptions,
    classes_of,
    hardened,
    placed,
    policies_of,
)
from .claims import claim_objects
from .engine_variables import check_engine_variables
from .engine_versions import check_engine_versions
from .environment import Environment
from .monitoring import (
    adapter_objects,
    check_chain,
    check_controller,
    check_existing,
    check_scraper,
    has_prometheus,
    monitoring_objects,
)
from .others import in_namespace, passed_through, unusable_field
from .rendering import render_fleet
from .running import NOTHING_RUNS, RunningFleet, with_nodes, without_answered
from .starts.budget import StartBudget
from .starts.planned import check_starts, start_budgets

if TYPE_CHECKING:
    from ..fleet.cloud import NodePlan
    from .prerequisites.needed import Prerequisite
    from .scalers import WrittenScalers
    from .timeouts.planned import ObjectTimeouts

_ANYWHERE = Environment()


@dataclass(frozen=True, slots=True)
class Plan:
    """The models of an environment, their nodes, and all objects created for them.

    Attributes:
        environment: Where the models run.
        problems: All problems. A plan with an error must not be deployed.
        groups: Demand for nodes.
        prerequisites: Charts that the models need, in the order of installation.
        chain: Metric chain of the autoscalers.
        monitoring: PodMonitors, alerts and dashboard; empty without a Prometheus.
        door: Access from outside the cluster.
        policies: NetworkPolicies.
        classes: PriorityClasses.
        claims: PersistentVolumeClaims in every namespace of models.
        others: Objects of other APIs, created unchanged.
        cloud_groups: Node groups of the cloud; empty without one.
        verdicts: Whether each model fits its accelerators.
        starts: The cold start of each workload with accelerators, by its title.
        ignored: Ignored problems with their reasons.
        scaled: The objects whose replicas an autoscaler owns: those that are created unchanged and have one that is
            written by hand, and the resources of operators.
        manifests: The manifests that were planned.
        planned_timeouts: Returns what ``timeouts`` is. Most commands wait for no object.
    """

    environment: Environment
    problems: tuple[Problem, ...]
    fleet: Fleet
    groups: tuple[NodeGroupDemand, ...]
    prerequisites: "tuple[Prerequisite, ...]"
    chain: MetricChain
    monitoring: tuple[Object, ...]
    door: FrontDoorPlan
    policies: tuple[Object, ...]
    classes: tuple[Object, ...]
    claims: tuple[Object, ...] = ()
    others: tuple[Object, ...] = ()
    cloud_groups: "tuple[NodePlan, ...]" = ()
    verdicts: tuple[WorkloadVerdict, ...] = ()
    starts: Mapping[str, StartBudget] = field(default_factory=dict)
    ignored: tuple[Ignored, ...] = ()
    scaled: frozenset[Key] = frozenset()
    manifests: Manifests = field(default_factory=Manifests, repr=False, compare=False)
    planned_timeouts: "Callable[[], ObjectTimeouts]" = field(kw_only=True, repr=False, compare=False)

    @property
    def timeouts(self) -> "ObjectTimeouts":
        """How long the provider waits for objects."""
        return self.planned_timeouts()

    @property
    def longest_grace(self) -> int:
        """Longest time that a pod of the models, or a proxy in front of them, may take to terminate, in seconds."""
        return max(self.timeouts.grace, self.environment.door.proxy_grace)

    @property
    def objects(self) -> Iterator[Object]:
        """All objects created for the models, except namespaces and those of charts."""
        before = itertools.chain(self.classes, self.policies, self.claims)
        return itertools.chain(before, self.fleet.objects, self.monitoring, self.door.objects)

    @property
    def namespaces(self) -> list[str]:
        return namespaces_of(self.fleet)


def namespaces_of(fleet: Fleet) -> list[str]:
    return sorted({item.namespace for item in fleet.rendered if item.pods})


@paused_collection()
def plan(manifests: Manifests, environment: Environment = _ANYWHERE, running: RunningFleet = NOTHING_RUNS) -> Plan:
    """Render, size and check models for an environment. Problems are returned, never raised.

    Args:
        manifests: The models.
        environment: Where they run.
        running: What runs there without a manifest.
    """
    with environment.with_types():
        return _planned(manifests, environment, running)


def _planned(manifests: Manifests, environment: Environment, running: RunningFleet) -> Plan:
    # Render. Autoscalers that are written by hand come first: rendering attaches them to the workloads that they
    # scale.
    scalers = _written_scalers(manifests, environment)
    unchanged = tuple(passed_workloads(manifests, environment))
    rendered = with_nodes(
        render_fleet(
            manifests.resources,
            environment.options,
            unread=manifests.problems,
            partial=manifests.partial,
            running=running.items,
            passed_through=unchanged,
            scalers=scalers.items if scalers else (),
        ),
        running,
    )
    config_problems: list[Problem] = []
    rendered, unchanged = _with_config_files(
        rendered, unchanged, manifests, environment, running, problems=config_problems
    )
    chain = metric_chain(rendered, environment.metrics, scalers.workloads if scalers else ())
    # ScaledObjects replace HPAs before the fleet is adapted to the cloud and hardened. The rest reads this fleet.
    fleet = hardened(placed(with_scaled_objects(rendered, chain), environment), environment)
    memory = verdicts(fleet, environment.shapes)
    door = front_door(
        fleet, environment.door, environment.file, environment.balancing, _configuration(manifests, environment)
    )
    # Check what needs no nodes.
    problems = [
        *manifests.problems,
        *running.problems,
        *without_answered(fleet, running),
        *config_problems,
        *chain.problems,
        *(_check_scalers(scalers, rendered, environment) if scalers else ()),
        *check_chain(chain, environment),
        *check_access(fleet, door, environment),
        *check_pod_ends(_deployed(fleet, running, unchanged), environment.door.longest_request),
        *fit(fleet, environment.cloud.efa_types if environment.cloud else ()),
        *check_exemptions(fleet, environment),
        *check_budgets(fleet, environment),
        *check_secrets((*fleet.rendered, *unchanged), manifests.resources),
        *check_group_arguments((*fleet.rendered, *unchanged), rendered.problems),
        *check_degrees(
            (*fleet.rendered, *unchanged), rendered.problems, environment.shapes, partial(_hourly_price, environment)
        ),
        *check_engine_variables(fleet),
        *check_engine_versions(fleet),
        *check_start(fleet),
        *check_formats(memory, environment.shapes),
        *check_attention(fleet),
        *check_images(fleet, environment.shapes),
        *check_backends(memory),
        *check_experts(memory),
        *check_memory(memory),
        *check_host_memory(memory),
        *check_architectures(memory, environment.shapes),
        *check_context(memory),
        *check_inputs(memory, environment.shapes),
        *check_names(memory, (*manifests.resources, *manifests.partial)),
        *environment.shapes.problems,
        *environment.price_problems,
    ]
    # Derive the nodes, and then what depends on them: starts, timeouts, prerequisites and monitoring.
    cloud_groups, cloud_problems = _cloud_nodes(fleet, environment)
    problems += cloud_problems
    starts = start_budgets(fleet, memory, environment, cloud_groups)
    problems += check_starts(fleet, starts, environment)
    timeouts = functools.cache(partial(_planned_timeouts, fleet, memory, environment, cloud_groups))
    problems += _check_timeouts(timeouts, cloud_groups, environment)
    # Nodes that are created for the models need the labels that every pod of the environment selects.
    policy = NodePolicy(labels=environment.options.overrides.node_selector)
    groups = tuple(group.demand for group in cloud_groups) or node_groups(fleet, policy)
    node_kinds = _node_kinds(groups, environment)
    tolerates_devices = environment.options.tolerates_devices
    cluster = _scaled_cluster(environment, cloud_groups)
    needed, unmet = _needed(fleet, groups, cluster, _charts_in_use(fleet, chain, door, environment))
    problems += unmet
    if environment.knows_nodes:
        problems += unschedulable(fleet, node_kinds, tolerates_devices=tolerates_devices)
    if environment.cloud and environment.cluster:
        installed = {prerequisite.chart.name for prerequisite in needed} if environment.install else set()
        problems += environment.cloud.check_scaling(cloud_groups, installed, environment.file)
        problems += environment.cloud.check_charts(cloud_groups, installed, environment.file)
    watched = has_prometheus(needed, environment)
    monitoring = (
        monitoring_objects(chain, fleet, groups=groups, environment=environment, door=door, starts=starts)
        if watched
        else ()
    )
    problems += check_scraper(environment, monitored=bool(monitoring))
    problems += check_existing(chain, monitoring, environment)
    planned = Plan(
        environment=environment,
        problems=tuple(root_causes(problems)),
        fleet=fleet,
        groups=groups,
        prerequisites=needed,
        chain=chain,
        monitoring=(*monitoring, *adapter_objects(chain, environment)),
        door=door,
        policies=policies_of(fleet, door, environment, monitored=bool(monitoring)),
        classes=classes_of(environment),
        claims=claim_objects(environment.claims, namespaces_of(fleet)),
        cloud_groups=cloud_groups,
        verdicts=memory,
        starts=starts,
        planned_timeouts=timeouts,
        scaled=_scaled_objects(scalers, fleet),
        manifests=manifests,
    )
    # Objects of other APIs are compared with all objects that are created for the models.
    passed = passed_through(manifests.others, environment, planned.objects)
    # PriorityClasses may also be among the objects of other APIs.
    preempting = preemptions(
        fleet,
        node_kinds,
        (*planned.objects, *passed.objects),
        knows_nodes=environment.knows_nodes,
        tolerates_devices=tolerates_devices,
        default=_default_class(environment),
    )
    problems = [
        *root_causes([*planned.problems, *passed.problems, *preempting]),
        *_unchecked_servers(manifests, environment),
        *_check_named_objects(planned, passed.objects, unchanged, running),
        *_check_images(fleet, passed.objects, needed, environment),
        *_check_reach(fleet, passed.objects, needed, environment),
    ]
    # Ignore problems last, when all are known.
    scope = Scope(environment.ignore, environment.file, is_known=environment.cluster is not None)
    effective, ignored = without_ignored(
        problems, (*manifests.resources, *running.sources, *(item.source for item in unchanged)), scope
    )
    return _with_cached_images(replace(planned, others=passed.objects, problems=effective, ignored=ignored))


def _with_config_files(
    fleet: Fleet,
    unchanged: tuple[Rendered, ...],
    manifests: Manifests,
    environment: Environment,
    running: RunningFleet,
    *,
    problems: list[Problem],
) -> tuple[Fleet, tuple[Rendered, ...]]:
    """Return the workloads with the arguments in their configuration files: rendering reads the others alone."""
    workloads = (workload for item in (*fleet.rendered, *unchanged) for workload in item.workloads)
    if not any(workload.server.line.holds(Setting.CONFIG_FILE) for workload in workloads):
        return fleet, unchanged
    from .config_files import config_maps, with_config_files

    known = {**config_maps(manifests.others, environment.options.namespace), **config_maps(running.config_maps, "")}
    rendered = with_config_files(fleet.rendered, known, problems)
    return replace(fleet, rendered=rendered), with_config_files(unchanged, known, problems)


def _planned_timeouts(
    fleet: Fleet, memory: tuple[WorkloadVerdict, ...], environment: Environment, groups: "tuple[NodePlan, ...]"
) -> "ObjectTimeouts":
    from .timeouts.planned import planned_timeouts

    with environment.with_types():
        return planned_timeouts(fleet, memory, environment, groups)


def _check_timeouts(
    timeouts: "Callable[[], ObjectTimeouts]", groups: "tuple[NodePlan, ...]", environment: Environment
) -> Iterable[Problem]:
    if environment.cloud is None:
        return ()
    from .timeouts.checks import check_timeouts

    return check_timeouts(timeouts(), groups, environment)


def _hourly_price(environment: Environment, demand: PodDemand) -> Decimal | None:
    """Return the price of the node that a pod prefers; imported for the few plans that need it."""
    from .costs.nodes import hourly_price

    return hourly_price(environment, demand)


def _check_named_objects(
    planned: Plan, passed: Iterable[Object], unchanged: Sequence[Rendered], running: RunningFleet
) -> Iterable[Problem]:
    """Report pods that name an account or a class which nothing creates; those that run have been admitted."""
    environment, fleet = planned.environment, planned.fleet
    from .named_objects import check_named_objects

    charts = {*environment.present, *(needed.chart.name for needed in planned.prerequisites)}
    created = (*planned.objects, *passed)
    admitted = (*running.sources, *(item.source for item in unchanged))
    return check_named_objects(fleet, planned.manifests, created, charts, environment, admitted=admitted)


def _written_scalers(manifests: Manifests, environment: Environment) -> "WrittenScalers | None":
    """Return the autoscalers among the objects of other APIs; None without such objects."""
    if not manifests.others:
        return None
    from .scalers import written_scalers

    return written_scalers(manifests.others, environment)


def _scaled_objects(scalers: "WrittenScalers | None", fleet: Fleet) -> frozenset[Key]:
    operated = frozenset(scaler.resource for _, scaler in fleet.autoscalers if scaler.resource is not None)
    if scalers is None:
        return operated
    from .scalers import scaled_objects

    return operated | scaled_objects(scalers, fleet)


def _check_scalers(scalers: "WrittenScalers", fleet: Fleet, environment: Environment) -> Iterator[Problem]:
    from .scalers import check_vertical, replicas_problems

    yield from scalers.problems
    yield from replicas_problems(scalers, fleet)
    yield from check_vertical(scalers, fleet, environment.options.namespace)


def passed_workloads(manifests: Manifests, environment: Environment) -> Iterator[Rendered]:
    """Yield the workloads that are created unchanged."""
    if environment.other_kinds is not OtherKinds.APPLY or not manifests.others:
        return
    from .running_objects import passed_workload

    for other in manifests.others:
        item = passed_workload(other, environment.options.namespace)
        if item is not None:
            yield item


def _configuration(manifests: Manifests, environment: Environment) -> list[Object]:
    """Return the objects of other APIs that can be read, in their namespaces."""
    return [
        in_namespace(other.value, environment.options.namespace)
        for other in manifests.others
        if not unusable_field(other.value)
    ]


def _deployed(fleet: Fleet, running: RunningFleet, passed: Iterable[Rendered]) -> Iterator[tuple[Rendered, Workload]]:
    """Yield the workloads of manifests, including the servers that are created unchanged, each with its resource."""
    exists = {id(source) for source in running.sources}
    yield from ((item, workload) for item, workload in fleet.workloads if id(item.source) not in exists)
    yield from ((item, workload) for item in passed for workload in item.workloads if workload.server.line.engine)


def _unchecked_servers(manifests: Manifests, environment: Environment) -> Iterator[Problem]:
    """Note the servers that are created unchanged, which no check judges."""
    if environment.other_kinds is OtherKinds.APPLY and manifests.others:
        from .running_objects import unchecked_servers

        yield from unchecked_servers(manifests.others, environment.options.namespace)


def _cloud_nodes(fleet: Fleet, environment: Environment) -> "tuple[tuple[NodePlan, ...], list[Problem]]":
    """Return the node groups of the cloud, with problems of nodes, volumes and load balancers."""
    cloud, expose = environment.cloud, environment.door.expose
    if cloud is None:
        return (), []
    groups, problems = cloud.plan_nodes(fleet, environment.file)
    has_volume = environment.install and environment.storage_gib
    claims = ("Prometheus (prerequisites.storageGib)",) if has_volume else ()
    balancer_problems = cloud.check_balancers(
        fleet, groups, every_model=expose == Exposure.LOAD_BALANCER, gateway=expose == Exposure.GATEWAY
    )
    return groups, [*problems, *cloud.check_volumes(fleet, claims, environment.file), *balancer_problems]


def _scaled_cluster(environment: Environment, groups: Sequence["NodePlan"]) -> Environment:
    """Return the environment without a node autoscaler if all nodes exist: what scales them exists too."""
    cluster, cloud = environment.cluster, environment.cloud
    if cluster is None or cloud is None or cloud.general_nodes:
        return environment
    if not all(group.existing for group in groups):
        return environment
    # Without models, nothing is known of the nodes of a program; a stack knows that it creates none.
    if not groups and not (cloud.existing and cloud.node_policy is not None):
        return environment
    return replace(environment, cluster=replace(cluster, node_autoscaler=""))


def _needed(
    fleet: Fleet,
    groups: tuple[NodeGroupDemand, ...],
    environment: Environment,
    in_use: Iterable[tuple[str, str]],
) -> "tuple[tuple[Prerequisite, ...], Iterable[Problem]]":
    """Return the prerequisites and their problems; none if the cluster is unknown."""
    if environment.cluster is None:
        return (), ()
    from .prerequisites.needed import check_ages, check_prerequisites, prerequisites

    needed = prerequisites(fleet, groups, environment.cluster, in_use)
    unmet = itertools.chain(check_prerequisites(needed, environment.cluster), check_controller(needed, environment))
    ages = check_ages(needed, environment.cluster) if environment.install else ()
    return needed, itertools.chain(unmet, ages)


def _check_images(
    fleet: Fleet, others: Iterable[Object], needed: "Iterable[Prerequisite]", environment: Environment
) -> Iterable[Problem]:
    if environment.cloud is None:
        return ()
    from .images import check_images

    return check_images(fleet, others, needed, environment)


def _check_reach(
    fleet: Fleet, others: Iterable[Object], needed: "Iterable[Prerequisite]", environment: Environment
) -> Iterable[Problem]:
    """Report what nodes and pods cannot reach in the network of the cloud."""
    if environment.cloud is None:
        return ()
    from .downloads import downloads

    charts = [prerequisite.chart.name for prerequisite in needed] if environment.install else []
    found = downloads(fleet, others, needed, environment)
    return environment.cloud.check_reach(found, charts, environment.file)


def _node_kinds(groups: tuple[NodeGroupDemand, ...], environment: Environment) -> list[NodeKind]:
    """Return all known kinds of nodes: those of the models, and those of the cluster itself."""
    cloud = environment.cloud
    system = cloud.system_types if cloud else ()
    kinds = [NodeKind.of_group(group) for group in groups]
    kinds += [NodeKind.of_type(f"the node group of the system ({name})", name) for name in system]
    general = cloud.general_nodes if cloud else None
    if general:
        kinds.append(
            NodeKind("the general pool", offered_by(general.name, efa=False), {"kubernetes.io/arch": general.arch})
        )
    return kinds


def _charts_in_use(
    fleet: Fleet, chain: MetricChain, door: FrontDoorPlan, environment: Environment
) -> Iterator[tuple[str, str]]:
    """Yield the charts that metrics, front door and load balancers need, with the reason."""
    yield from ((chart, title) for chart, titles in chain.needs.items() for title in titles)
    for name in charts_for(door, environment):
        yield name, f"expose: {environment.door.expose}"
    if environment.cloud:
        yield from environment.cloud.charts_for_models(fleet)


def _default_class(environment: Environment) -> DefaultClass | None:
    """Return the PriorityClass that the environment sets; a class by name takes precedence over a priority."""
    named = environment.options.overrides.priority_class_name
    if named:
        return DefaultClass(named, "pods.priorityClassName", environment.file)
    created = environment.hardening.class_name
    return DefaultClass(created, "hardening.priority", environment.file) if created else None


def _with_cached_images(planned: Plan) -> Plan:
    """Make pods pull their images through the cache of the environment.

    This must be the last step: earlier ones, such as the check of flags, read the engine and its version from the
    original reference.
    """
    cache = planned.environment.image_cache
    if cache is None:
        return planned
    from ..checks.front_door.proxy_image import with_proxy_image
    from ..fleet.images import cached_fleet, cached_objects

    fleet = cached_fleet(planned.fleet, cache)
    # Verdicts refer to the resources and workloads of the fleet, so they move to the changed ones.
    items = {id(old): new for old, new in zip(planned.fleet.rendered, fleet.rendered, strict=True)}
    pairs = zip(planned.fleet.workloads, fleet.workloads, strict=True)
    workloads = {id(old): new for (_, old), (_, new) in pairs}
    return replace(
        planned,
        fleet=fleet,
        door=planned.door._replace(objects=with_proxy_image(planned.door.objects, cache.reference)),
        others=cached_objects(planned.others, cache),
        verdicts=tuple(
            replace(
                verdict,
                item=items.get(id(verdict.item), verdict.item),
                workload=workloads.get(id(verdict.workload), verdict.workload),
            )
            for verdict in planned.verdicts
        ),
    )
