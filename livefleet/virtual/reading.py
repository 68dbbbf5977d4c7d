"""Read what is simulated in virtual time from a plan."""

from collections.abc import Iterator
from decimal import Decimal
from typing import TYPE_CHECKING

from components.checks.metrics.keda import query_of
from components.checks.metrics.scaled_objects import summed_metrics
from components.checks.metrics.uses import Scaler, scalers_of, scrape_targets
from components.fleet.autoscalers import Autoscaler
from components.fleet.cloud_providers import default_provider
from components.fleet.demand import PodDemand
from components.fleet.ending import finishing_seconds
from components.fleet.instances import instance, is_accelerator
from components.fleet.nodes.groups import NodeGroupDemand, lands_on, offered_by
from components.fleet.nodes.policy import NodePolicy
from components.fleet.prices import Buying
from components.fleet.workloads import Workload
from components.performance.simulation.hpa.spec import HpaError, read_spec
from components.plan.costs.nodes import node_item_name
from components.plan.costs.prices import Prices

from ..fleet import PaceSource, ServedEndpoint, ServedWorkload
from ..reading.autoscalers import reads_simulated_metrics
from ..reading.endpoints import key_of_workload, served_endpoints
from ..reading.roles import PodRole
from ..reading.workloads import served_workloads
from .fleet import Gauge, VirtualFleet, VirtualGroup, VirtualPod, VirtualScaler, VirtualWorkload
from .keda import scaler_of

if TYPE_CHECKING:
    from components.plan.costs.bill import Bill
    from components.plan.plan import Plan

_GAUGES = frozenset(Gauge)
_PREFIXES = "Prefix caches are not simulated: every prompt is computed in full, so times are those without a hit."


def virtual_fleet(stack: str, planned: "Plan", bill: "Bill | None" = None) -> VirtualFleet:
    """Return what is simulated of a plan in virtual time: its models, autoscalers, nodes, and what is left out.

    Args:
        stack: Name of the stack.
        planned: Its plan.
        bill: Its bill, with the prices of its nodes; by default on-demand prices.
    """
    with planned.environment.with_types():
        return _virtual_fleet(stack, planned, bill)


def _virtual_fleet(stack: str, planned: "Plan", bill: "Bill | None") -> VirtualFleet:
    served = {workload.key: workload for workload in served_workloads(planned)}
    groups = tuple(planned.groups)
    policy = _policy(planned)
    scalers, at_rest = _scalers(planned)
    workloads = tuple(
        VirtualWorkload(
            served=served[key],
            replicas=workload.replicas,
            pods=tuple(_pod(demand, groups, policy) for demand in workload.pods),
            finishing=finishing_seconds(workload),
            scaler=scalers.get(key),
        )
        for _, workload in planned.fleet.workloads
        if (key := key_of_workload(workload)) in served
    )
    by_key = {workload.served.key: workload for workload in workloads}
    endpoints, refused = [], {}
    for endpoint in served_endpoints(planned):
        reason = _refusal(endpoint, by_key, groups)
        if reason:
            refused[endpoint.title] = reason
        else:
            endpoints.append(endpoint)
    return VirtualFleet(
        stack=stack,
        workloads=workloads,
        endpoints=tuple(endpoints),
        groups=tuple(_groups(planned, bill)),
        refused=refused,
        notes=(_PREFIXES, *at_rest, *_notes(planned, served)),
    )


def _refusal(
    endpoint: ServedEndpoint, workloads: dict[str, VirtualWorkload], groups: tuple[NodeGroupDemand, ...]
) -> str:
    """Return why an endpoint cannot be simulated; empty if it can."""
    if not endpoint.workloads:
        return endpoint.why or "no workload of this stack answers"
    types = {group.name: group.instance_type for group in groups}
    for key in endpoint.workloads:
        workload = workloads.get(key)
        if workload is None:
            return f"{key} has no known port"
        served = workload.served
        if served.embeds:
            return "it serves embeddings, which have no time to the first token"
        if served.role in (PodRole.PREFILL, PodRole.DECODE):
            return "prefill and decode run on separate replicas, whose transfer of the cache is not simulated"
        places = {types[name] for pod in workload.pods[:1] for name in pod.groups} or {""}
        if any(served.pace_on(name).source is PaceSource.ASSUMED for name in places):
            return "the speed of its replicas is unknown: the shape of the model or its node is not known"
    return ""


def _scalers(planned: "Plan") -> tuple[dict[str, VirtualScaler], tuple[str, ...]]:
    """Return the autoscalers by workload, and a sentence for each workload whose autoscaler is not simulated."""
    targets = scrape_targets(planned.fleet)
    readers = {id(scaler.autoscaler): scaler for scaler in scalers_of(planned.fleet, targets)}
    interval = float(planned.environment.metrics.interval.removesuffix("s"))
    scalers: dict[str, VirtualScaler] = {}
    sentences = []
    for _, autoscaler in planned.fleet.autoscalers:
        key = "/".join(autoscaler.target[1:])
        reader = readers.get(id(autoscaler))
        found = _scaler(planned, autoscaler, reader, interval)
        if isinstance(found, VirtualScaler):
            scalers[key] = found
        else:
            sentences.append(f"{key} keeps its replicas: {found}.")
    return scalers, tuple(sorted(sentences))


def _scaler(planned: "Plan", autoscaler: Autoscaler, reader: Scaler | None, interval: float) -> VirtualScaler | str:
    """Return an autoscaler, or why it is not simulated."""
    if autoscaler.operated:
        return "its autoscaler is the controller of its operator, which is not simulated here"
    if autoscaler.is_written and autoscaler.reads_pods:
        return f"its {autoscaler.body['kind']} scales on requests at the proxy of KEDA, which is not simulated"
    if autoscaler.replacement is not None and reader is not None:
        if not reader.target.workload.replicas:
            return "KEDA's start of a workload without replicas is not simulated"
        window = planned.environment.metrics.window
        queries = {
            query_of(use, window): Gauge(use.metric.kind)
            for use in reader.uses
            if use.kind == "Pods"
            and use.metric
            and use.quantile is None
            and use.metric.kind in _GAUGES
            # Labels may select some of the series of a pod.
            and not use.selector
        }
        written = summed_metrics(reader, scrape_targets(planned.fleet))
        queries |= {query: Gauge(metric.kind) for query, metric in written.items() if metric.kind in _GAUGES}
        return scaler_of(autoscaler.replacement["spec"], queries, interval)
    if reader is None or not reads_simulated_metrics(planned, autoscaler):
        return "its autoscaler reads metrics that are not simulated"
    gauges: dict[str, Gauge] = {}
    for use in reader.uses:
        kind = use.metric.kind if use.metric is not None and use.quantile is None else ""
        if use.kind != "Pods" or kind not in _GAUGES:
            return f"its autoscaler reads {use.name} ({use.kind}); only gauges of pods are simulated: " + ", ".join(
                sorted(_GAUGES)
            )
        gauges[use.name] = Gauge(kind)
    try:
        read_spec(autoscaler.hpa["spec"], {})
    except HpaError as error:
        return str(error)
    return VirtualScaler(dict(autoscaler.hpa["spec"]), gauges, interval)


def _pod(demand: PodDemand, groups: tuple[NodeGroupDemand, ...], policy: NodePolicy) -> VirtualPod:
    names: dict[str, None] = {}
    for choice in demand.choices:
        types = (choice.instance_type, *choice.alternatives)
        for group in groups:
            if group.instance_type in types and lands_on(choice, group.labels, group.capacity, policy):
                names[group.name] = None
    if not demand.choices:  # without a choice, any node that repels no pods
        names |= {group.name: None for group in groups if not group.taints}
    requests = {key: float(amount) for key, amount in demand.requests.items()}
    accelerators = sum((amount for key, amount in demand.requests.items() if is_accelerator(key)), Decimal(0))
    return VirtualPod(demand.per_replica, {**requests, "pods": 1.0}, tuple(names), int(accelerators))


def _groups(planned: "Plan", bill: "Bill | None") -> Iterator[VirtualGroup]:
    environment = planned.environment
    elastic = environment.simulated or (environment.cloud is not None and environment.cloud.node_policy is not None)
    sizes = {group.name: (group.minimum, group.maximum) for group in planned.cloud_groups}
    items = {item.name: item for item in (*bill.items, *bill.simulated_items)} if bill else {}
    usual = Prices(default_provider().prices.region)
    for group in planned.groups:
        least, most = sizes.get(group.name, (group.nodes, max(group.max_nodes, group.nodes)))
        item = items.get(node_item_name(group.name))
        price = item.price if item and item.price else usual.node((group.instance_type,), Buying.ON_DEMAND)
        node = instance(group.instance_type)
        yield VirtualGroup(
            name=group.name,
            instance_type=group.instance_type,
            offered={
                key: float(amount)
                for key, amount in offered_by(group.instance_type, efa=group.efa, pods=group.pods).items()
            },
            start=max(least, min(group.nodes, most)),
            least=least if elastic else 0,
            most=most,
            elastic=elastic,
            accelerators=node.accelerators if node else 0,
            usd_per_hour=None if isinstance(price, str) else float(price.usd),
            price_source=price if isinstance(price, str) else f"{price.source}, {price.date}",
        )


def _policy(planned: "Plan") -> NodePolicy:
    cloud = planned.environment.cloud
    own = cloud.node_policy if cloud else None
    return own or NodePolicy(labels=planned.environment.options.overrides.node_selector)


def _notes(planned: "Plan", served: dict[str, ServedWorkload]) -> Iterator[str]:
    """Yield what the simulation leaves out of the features that this fleet uses."""
    adapters = sorted({workload.title for workload in served.values() if workload.adapters})
    if adapters:
        yield f"LoRA adapters take no time of their own: {', '.join(adapters)}."
    speculative = sorted(
        {served[key].title for key, workload in _lines(planned) if key in served and _speculates(workload)}
    )
    if speculative:
        yield f"Speculative decoding is not simulated; steps are those without it: {', '.join(speculative)}."
    environment = planned.environment
    if not environment.simulated and (environment.cloud is None or environment.cloud.node_policy is None):
        yield "This stack does not manage nodes: they exist already, and count while they have pods."


def _lines(planned: "Plan") -> Iterator[tuple[str, Workload]]:
    for _, workload in planned.fleet.workloads:
        yield key_of_workload(workload), workload


def _speculates(workload: Workload) -> bool:
    return any(
        "speculat" in str(word)
        for word in (*workload.container.get("args", ()), *workload.container.get("command", ()))
    )
