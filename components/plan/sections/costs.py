"""The bill of an environment, from its plan, its other infrastructure, and dated prices."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from decimal import Decimal

from ...checks.front_door.words import Exposure
from ...checks.memory.cases import MemoryCase
from ...checks.memory.weights import weights_of
from ...contract.quantity import GIB, parse_quantity
from ...fleet.cloud import Cloud
from ...fleet.cloud_providers import default_provider
from ...fleet.demand import PodDemand
from ...fleet.images import images_in
from ...fleet.instances import is_accelerator
from ...fleet.nodes.groups import lands_on
from ...fleet.nodes.policy import Capacity, NodePolicy
from ...fleet.objects import Object, is_balanced
from ...fleet.prices import Buying, Flat
from ...fleet.workloads import Workload
from ..costs.bill import HOURS_PER_MONTH, Amounts, Bill, CostItem, CostKind, UnitPrice, cents
from ..costs.cold_starts import ColdPods, nat_traffic
from ..costs.commitments import compared
from ..costs.infrastructure import Infrastructure, fixed, item
from ..costs.models import MostNodes, PriceOf, model_cost
from ..costs.nodes import NodePool, disk_items, pool_made_elsewhere, pool_of, price_of
from ..costs.prices import OwnPrices, Prices
from ..costs.replicas import Counts, minimums, nodes_of, pods_of, replicas_of
from ..downloads import weight_addresses
from ..plan import Plan
from ..prerequisites.images import chart_images

_NOTHING_ELSE, _SHIPPED = Infrastructure(), OwnPrices()
NOT_COUNTED = "Traffic, requests, logs and what is stored in buckets and EFS depend on use and are not counted."
SPOT = (
    "Spot counts at its average price in the 30 days until {until} ({source}), and at most at the on-demand price, "
    "the default price limit of spot instances."
)
ELSEWHERE = "This stack does not manage nodes, so the bill counts as many as the models need."
SIMULATED = (
    "Simulated nodes are free, and this is no bill: costs are what they would be on {cloud}, on demand, in {region}."
)
UNKNOWN = (
    "The cost of this cluster is not known: models show what they would cost on {cloud}, on demand, in {region}."
)


def bill_of(planned: Plan, own: OwnPrices | None = None, paid: Infrastructure = _NOTHING_ELSE) -> Bill:
    """Return the costs of an environment.

    Without a region, nothing is paid for (simulated nodes) or the costs are unknown: the bill only shows what the
    models would cost on demand.

    Args:
        planned: The plan of the environment.
        own: Prices that take precedence over the shipped ones. Default: those of the environment.
        paid: Infrastructure other than the nodes of models.
    """
    with planned.environment.with_types():
        return _bill_of(planned, own, paid)


def _bill_of(planned: Plan, own: OwnPrices | None, paid: Infrastructure) -> Bill:
    own = own or planned.environment.prices or _SHIPPED
    cloud = planned.environment.cloud
    if cloud is None or not cloud.region:
        provider = cloud.provider if cloud else default_provider()
        usual = Prices(provider.prices.region, own, provider.prices)
        text = SIMULATED if planned.environment.simulated else UNKNOWN
        note = text.format(cloud=provider.title, region=usual.region)
        bill = _bill(planned, "", [], [note], lambda demand: usual.node(_types(demand)[:1], Buying.ON_DEMAND))
        return _with_simulated_nodes(bill, planned, usual) if planned.environment.simulated else bill
    prices, policy = Prices(cloud.region, own, cloud.provider.prices), _policy(planned)
    needed, none = nodes_of(planned.fleet, policy), Counts(0, 0, 0)
    if cloud.node_policy is None:
        pools = [pool_made_elsewhere(group, needed.get(group.name, none)) for group in planned.groups]
    else:
        pools = [pool_of(group, needed.get(group.name, none)) for group in planned.cloud_groups]

    def price(demand: PodDemand) -> UnitPrice | str:
        return price_of(_types(demand), policy.capacity_of(demand.choices[0]), prices)

    items = [
        *(pool.item(prices) for pool in pools),
        *paid.items(prices),
        *_balancer_items(planned, prices, paid),
        *disk_items(pools, paid, prices),
        *_volume_items(planned, prices),
        *_cached_images(planned, prices),
    ]
    notes = (*_notes(planned, cloud, items), *paid.remarks(prices), *compared(items))
    most = {group.name: group.maximum for group in planned.cloud_groups if not group.held}
    bill = _bill(
        planned,
        cloud.region,
        items=items,
        notes=notes,
        price=price,
        most_nodes=lambda demand: _most_nodes(demand, planned, most),
    )
    traffic = nat_traffic(_cold_pods(planned, cloud), prices) if paid.nat_gateways else None
    return replace(bill, notes=(*notes, traffic.text), estimates=(traffic,)) if traffic else bill


def _with_simulated_nodes(bill: Bill, planned: Plan, prices: Prices) -> Bill:
    """Add what the simulated nodes would cost on demand; they are free."""
    needed, none = nodes_of(planned.fleet, _policy(planned)), Counts(0, 0, 0)
    pools = (
        NodePool(group.name, (group.instance_type,), Capacity.ON_DEMAND, needed.get(group.name, none).amounts)
        for group in planned.groups
    )
    return replace(bill, simulated_region=prices.region, simulated_items=tuple(pool.item(prices) for pool in pools))


def _cached_images(planned: Plan, prices: Prices) -> Iterator[CostItem]:
    """Yield the images in the pull-through cache; their sizes are unknown before they are pulled."""
    cache = planned.environment.image_cache
    if cache is None:
        return
    images = {image for body in (*planned.objects, *planned.others) for image in images_in(body)}
    kept = {image for image in images if image.startswith(f"{cache.host}/")}
    for prerequisite in planned.prerequisites if planned.environment.install else ():
        rows = chart_images()[prerequisite.chart.name]
        kept |= {row.image for row in rows if row.path and row.registry in cache.registries}
    price = prices.flat(cache.price_item)
    if isinstance(price, str):
        month = price
    else:
        month = (
            f"{cache.service} keeps a GB for {cents(price.usd * HOURS_PER_MONTH)} US dollars a month ({price.source})"
        )
    yield CostItem(
        name="cached images",
        kind=CostKind.STORAGE,
        counts=fixed(len(kept)),
        unpriced=f"their sizes are not known; {month}",
        unit="images",
    )


def _most_nodes(demand: PodDemand, planned: Plan, most: Mapping[str, int]) -> int | None:
    """Return the maximum size of the only node group of a pod; None if there are several, or without a bound."""
    policy = _policy(planned)
    names = [
        group.name
        for choice in demand.choices
        for group in planned.groups
        if group.instance_type == choice.instance_type and lands_on(choice, group.labels, group.capacity, policy)
    ]
    return most.get(names[0]) if len(names) == 1 else None


def _bill(
    planned: Plan,
    region: str,
    items: list[CostItem],
    notes: Iterable[str],
    price: PriceOf,
    most_nodes: MostNodes = lambda _: None,
) -> Bill:
    least = minimums(planned.fleet)
    served = sorted(
        (resource for resource in planned.fleet.rendered if resource.pods),
        key=lambda resource: (resource.namespace, resource.title),
    )
    node_prices = [price(pods) for resource in served for pods in resource.pods if _types(pods)]
    used = [*(entry.price for entry in items), *node_prices]
    dates = sorted({quote.date for quote in used if isinstance(quote, UnitPrice) and quote.date})
    return Bill(
        region=region,
        date=" to ".join(dict.fromkeys((dates[0], dates[-1]))) if dates else "",
        items=tuple(items),
        models=tuple(model_cost(resource, price, least, most_nodes) for resource in served),
        notes=tuple(notes),
    )


def _types(demand: PodDemand) -> tuple[str, ...]:
    """Return the instance types of a pod's first choice, the preferred one first."""
    choice = demand.choices[0] if demand.choices else None
    return (choice.instance_type, *choice.alternatives) if choice and choice.instance_type else ()


def _policy(planned: Plan) -> NodePolicy:
    """Return the node policy of the plan."""
    cloud, options = planned.environment.cloud, planned.environment.options
    return (cloud.node_policy if cloud else None) or NodePolicy(labels=options.overrides.node_selector)


def _balancer_items(planned: Plan, prices: Prices, paid: Infrastructure) -> Iterator[CostItem]:
    """Yield load balancers and public addresses."""
    door = planned.environment.door
    gateways = int(door.expose == Exposure.GATEWAY and bool(planned.door.objects))
    balancers = gateways + sum(map(is_balanced, (*planned.objects, *planned.others)))
    if balancers:
        yield item("load balancers", CostKind.BALANCERS, fixed(balancers), prices.flat(Flat.LOAD_BALANCER))
    addresses = paid.nat_gateways + (0 if door.internal else gateways * paid.zones)
    if addresses:
        yield item("public IPv4 addresses", CostKind.NETWORK, fixed(addresses), prices.flat(Flat.PUBLIC_IPV4))


def _volume_items(planned: Plan, prices: Prices) -> Iterator[CostItem]:
    """Yield dynamically provisioned volumes: of Prometheus, and of claims of the default storage class."""
    environment = planned.environment
    installed = environment.install and any(
        prerequisite.chart.name == "prometheus" for prerequisite in planned.prerequisites
    )
    claims = [body["spec"] for body in planned.fleet.objects if body["kind"] == "PersistentVolumeClaim"]
    sizes = {
        "volume of Prometheus": Decimal((environment.storage_gib if installed else None) or 0),
        "volumes of models": _provisioned(claims),
    }
    amounts = {name: Amounts(gib, gib, gib) for name, gib in sizes.items() if gib}
    least = minimums(planned.fleet)
    for _, workload in planned.fleet.workloads:
        gib = Decimal(0) if workload.operated else _provisioned(workload.claims.values())
        if gib:
            name = f"volumes of the pods of {workload.kind} {workload.namespace}/{workload.name}"
            amounts[name] = replicas_of(workload, least).amounts.times(gib * workload.size)
    for name, amount in amounts.items():
        yield item(name, CostKind.STORAGE, amount, prices.flat(Flat.DISK_GIB), "GiB")


def _provisioned(claims: Iterable[Object]) -> Decimal:
    """Return the total GiB of the claims for which the default storage class provisions volumes."""
    dynamic = [claim for claim in claims if not claim.get("volumeName") and claim.get("storageClassName") is None]
    sizes = (claim.get("resources", {}).get("requests", {}).get("storage", "0") for claim in dynamic)
    return sum((parse_quantity(size) for size in sizes), Decimal(0)) / GIB


def _cold_pods(planned: Plan, cloud: Cloud) -> Iterator[ColdPods]:
    """Yield the pods with accelerators, and what each downloads through a NAT gateway at a cold start."""
    least, policy = minimums(planned.fleet), _policy(planned)
    judged = {name: result.verdict.asked for result in planned.verdicts for name in result.names}
    for resource, workload in planned.fleet.workloads:
        counts = replicas_of(workload, least)
        weights = _downloaded(workload, judged.get(f"{workload.kind} {workload.namespace}/{workload.name}"), cloud)
        image = cloud.image_passes_gateway(workload.container.get("image", ""))
        for demand in workload.pods:
            if demand.choices and any(map(is_accelerator, demand.requests)):
                spot = policy.capacity_of(demand.choices[0]) == Capacity.SPOT
                yield ColdPods(resource.title, pods_of(demand, counts).amounts, spot, weights, image)


def _downloaded(workload: Workload, asked: MemoryCase | None, cloud: Cloud) -> int | None:
    """Return the bytes of weights that a pod downloads through a NAT gateway; None if unknown."""
    spec = workload.front["spec"]
    # Weights in a claim are downloaded only once.
    if any("persistentVolumeClaim" in volume for volume in spec.get("volumes") or ()):
        return 0
    names = weight_addresses(workload)
    if names is None:
        return None
    if not any(map(cloud.weights_pass_gateway, names)):
        return 0
    if asked is None:
        return None
    total = 0
    for shape in asked.downloads:
        size = weights_of(shape)
        if isinstance(size, str):
            return None
        total += size.total
    return total


def _notes(planned: Plan, cloud: Cloud, items: Iterable[CostItem]) -> Iterator[str]:
    """Yield the notes on the bill."""
    yield NOT_COUNTED
    if cloud.node_policy is None:
        yield ELSEWHERE
    days = sorted({item.price.saved_until for item in items if item.price and item.price.saved_until})
    if days:
        until = " to ".join(dict.fromkeys((days[0], days[-1])))
        yield SPOT.format(until=until, source=cloud.provider.prices.spot_source)
    yield from cloud.cost_notes(planned.groups)
