"""What nodes and pods contact outside the cluster, and by which route of their network.

One table of AWS services (facts/services.yaml), and the images and weights of a plan. Without a NAT gateway, services
are reached through their VPC endpoints, and everything on the internet not at all.
"""

import functools
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, NamedTuple

from ...contract.findings.ids import RuleId
from ...contract.problems import Problem, Severity
from ...contract.tables import load_table
from ...contract.words import Word
from ...engines.images import pull_reference
from ...fleet.downloads import Download
from .facts.eks import addons
from .images import upstream
from .traffic import hub_of, image_passes_gateway, weights_pass_gateway

DEVICE_PLUGIN = "nvidia-device-plugin"
_SHOWN = 3
"""Images that a message names for each registry."""


class Route(Word):
    """How traffic leaves the private subnets."""

    NAT = "NAT gateway"
    INTERFACE = "interface endpoint"
    GATEWAY = "gateway endpoint"
    INSIDE = "inside the VPC"
    NONE = "none"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Exits:
    """The ways out of the private subnets.

    Attributes:
        internet: Whether they reach the internet; None if unknown.
        endpoints: Services with a VPC endpoint, by the last part of its name.
        owned: Whether the stack creates the VPC.
        ipv6: Whether they reach the internet over IPv6 alone.
    """

    internet: bool | None
    endpoints: frozenset[str] = frozenset()
    owned: bool = True
    ipv6: bool = False


class Caller(NamedTuple):
    """Something that calls AWS services.

    Attributes:
        calls: Services that it needs.
        optional: Services that it can do without.
    """

    title: str
    calls: tuple[str, ...]
    optional: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Setup:
    """What a plan has in a cluster.

    Attributes:
        addons: Names of EKS add-ons.
        charts: Names of the charts that the plan installs.
        pod_identity: Whether service accounts get their roles by EKS Pod Identity.
        web_identity: Whether they get them with their tokens.
        models_in_s3: Whether pods read models in S3.
        bastion: Whether there is a bastion.
        downloads: Images and weights.
        cached: Registries that the image cache is for.
    """

    addons: Collection[str] = ()
    charts: Collection[str] = ()
    pod_identity: bool = True
    web_identity: bool = False
    models_in_s3: bool = False
    bastion: bool = False
    downloads: Sequence[Download] = field(default_factory=tuple)
    cached: Collection[str] = ()


@functools.cache
def _facts() -> Mapping[str, Any]:
    loaded: dict[str, Any] = load_table(f"{__package__}.facts", "services.yaml")
    return MappingProxyType(loaded)


def has_endpoint(service: str) -> bool:
    """Whether a service has a VPC endpoint that can be relied on."""
    return service not in _facts()["without_endpoint"]


def services() -> tuple[str, ...]:
    """Return every service that the table knows, by name."""
    facts = _facts()
    rows = [row for row in facts.values() if isinstance(row, dict) and "calls" in row]
    rows += [*facts["addons"].values(), *facts["charts"].values()]
    names: set[str] = set()
    for row in rows:
        names.update(row["calls"], row.get("optional", ()))
    return tuple(sorted(names))


@functools.cache
def interface_services() -> tuple[str, ...]:
    """Return the services for which interface endpoints can be created, by name."""
    gateways = _facts()["gateways"]
    return tuple(name for name in services() if name not in gateways and has_endpoint(name))


def endpoint_services() -> tuple[str, ...]:
    """Return the services with an endpoint of any kind, by name."""
    return tuple(name for name in services() if has_endpoint(name))


def callers(setup: Setup) -> Iterator[Caller]:
    """Yield what calls AWS services in a cluster."""
    facts = _facts()
    always = {name for name, addon in addons().items() if addon.always}
    yield from (_caller(facts[name]) for name in ("nodes", "images"))
    for name in ("pod_identity", "web_identity", "models_in_s3", "bastion"):
        if getattr(setup, name):
            yield _caller(facts[name.replace("_", "-")])
    for name, row in facts["addons"].items():
        if name in setup.addons or name in always:
            yield _caller({"title": f"add-on {name}", **row})
    yield from (_caller(row) for name, row in facts["charts"].items() if name in setup.charts)


def _caller(row: Mapping[str, Any]) -> Caller:
    return Caller(row["title"], tuple(row["calls"]), tuple(row.get("optional", ())))


def service_route(service: str, exits: Exits) -> Route:
    """Return how an AWS service is reached; its own endpoint takes precedence over the internet."""
    if service in exits.endpoints and has_endpoint(service):
        return Route.GATEWAY if service in _facts()["gateways"] else Route.INTERFACE
    return _internet_route(exits)


def image_route(reference: str, region: str, exits: Exits) -> Route:
    """Return how an image is pulled."""
    if image_passes_gateway(reference, region):
        return _internet_route(exits)
    routes = [service_route(service, exits) for service in _facts()["images"]["calls"]]
    return next((route for route in (Route.NONE, Route.UNKNOWN) if route in routes), routes[0])


def weights_route(address: str, exits: Exits) -> Route:
    """Return how weights are downloaded."""
    if weights_pass_gateway(address):
        return _internet_route(exits)
    is_s3 = address.startswith("s3://") or "amazonaws.com" in hub_of(address)
    return service_route("s3", exits) if is_s3 else Route.INSIDE


def _internet_route(exits: Exits) -> Route:
    if exits.internet is None:
        return Route.UNKNOWN
    return Route.NAT if exits.internet else Route.NONE


def check_reach(setup: Setup, exits: Exits, region: str, file: str) -> Iterator[Problem]:
    """Report what nodes and pods cannot reach, with the setting that changes it; nothing about an unknown network."""
    if exits.internet is not False:
        return
    yield from _services(setup, exits, file)
    yield from _images(setup, exits, region, file)
    yield from _weights(setup, exits)


def _services(setup: Setup, exits: Exits, file: str) -> Iterator[Problem]:
    unreached: dict[str, list[str]] = {}
    for caller in callers(setup):
        for service in caller.calls:
            if service_route(service, exits) is Route.NONE:
                unreached.setdefault(service, []).append(caller.title)
    missing = {service: titles for service, titles in sorted(unreached.items()) if has_endpoint(service)}
    if missing:
        interfaces = [service for service in missing if service not in _facts()["gateways"]]
        steps = [f"add [{', '.join(interfaces)}] to network.interfaceEndpoints"] if interfaces else []
        gateways = [service for service in missing if service in _facts()["gateways"]]
        if gateways:
            steps.append(f"create a gateway endpoint for {', '.join(gateways)} in the VPC")
        existing = (
            "" if exits.owned else ", and list the endpoints that the VPC already has in network.existingEndpoints"
        )
        reason = (
            f"{_lack(exits)}, and there is no endpoint for {_enumeration(missing)}; {' and '.join(steps)}{existing}, "
            f"or {_way_out(exits)}"
        )
        yield _problem(file, "network.interfaceEndpoints", reason)
    without = {service: titles for service, titles in sorted(unreached.items()) if not has_endpoint(service)}
    if without:
        instead = "set gpuNodes.provisioner: managed, or " if "iam" in without else ""
        reason = f"{_lack(exits)}, and {_enumeration(without)} has no endpoint in a VPC; {instead}{_way_out(exits)}"
        yield _problem(file, _exit_key(exits), reason)


def _images(setup: Setup, exits: Exits, region: str, file: str) -> Iterator[Problem]:
    found: dict[str, dict[str, None]] = {}
    charts: dict[str, dict[str, None]] = {}
    for download in setup.downloads:
        # Images in ECR need its endpoints, which are reported as services.
        if not (download.is_image and image_passes_gateway(download.address, region)):
            continue
        reference = pull_reference(download.address)
        if reference and image_route(download.address, region, exits) is Route.NONE:
            found.setdefault(reference.registry, {})[download.address] = None
            charts.setdefault(reference.registry, {})[download.by] = None
    if not found:
        return
    steps = []
    cacheable = [name for name in sorted(found) if upstream(name) and name not in setup.cached]
    if cacheable:
        steps.append(f"add {', '.join(cacheable)} to imageCache.registries")
    others = [name for name in sorted(found) if name not in cacheable]
    if others:
        by = dict.fromkeys(title for name in others for title in charts[name])
        own = [title.removeprefix("chart ") for title in by if title.startswith("chart ")]
        pods = [title for title in by if not title.startswith("chart ")]
        if own:
            plugin = " (Bottlerocket nodes bring the NVIDIA device plugin)" if DEVICE_PLUGIN in own else ""
            steps.append(
                f"install {', '.join(own)} with images of a private registry and list "
                f"{'it' if len(own) == 1 else 'them'} in prerequisites.present{plugin}, because ECR cannot cache "
                f"{', '.join(others)}"
            )
        if pods:
            steps.append(f"name images in a private registry in {', '.join(pods)}")
    lists = []
    for registry, images in sorted(found.items()):
        shown, more = sorted(images)[:_SHOWN], len(images) - _SHOWN
        lists.append(f"{registry} ({', '.join(shown)}{f' and {more} more' if more > 0 else ''})")
    reason = (
        f"{_lack(exits)}, and nodes pull images from {', '.join(lists)}{_maybe(exits)}; {'; '.join(steps)}; or "
        f"{_way_out(exits)}"
    )
    yield _problem(file, "imageCache", reason, _severity(exits))


def _weights(setup: Setup, exits: Exits) -> Iterator[Problem]:
    for download in setup.downloads:
        if not download.is_image and weights_route(download.address, exits) is Route.NONE:
            reason = (
                f"{_lack(exits)}, and its pods download weights from {hub_of(download.address)}"
                f"{_maybe(exits)}; copy the weights to a bucket or a claim and name that as the source, or "
                f"{_way_out(exits)}"
            )
            if download.source:
                yield download.source.problem("", reason, _severity(exits), RuleId.NETWORK_UNREACHABLE)


def _problem(file: str, path: str, reason: str, severity: Severity = Severity.ERROR) -> Problem:
    return Problem(file=file, path=path, reason=reason, severity=severity, rule=RuleId.NETWORK_UNREACHABLE)


def _severity(exits: Exits) -> Severity:
    """A host may have an IPv6 address, which AWS services do not have under the names that programs use."""
    return Severity.WARNING if exits.ipv6 else Severity.ERROR


def _maybe(exits: Exits) -> str:
    return ", which works only from hosts with an IPv6 address" if exits.ipv6 else ""


def _lack(exits: Exits) -> str:
    over = " over IPv4" if exits.ipv6 else ""
    return f"the private subnets do not reach the internet{over}"


def _exit_key(exits: Exits) -> str:
    return "network.natGateways" if exits.owned else "network.internetAccess"


def _way_out(exits: Exits) -> str:
    if exits.owned:
        return "set network.natGateways: one"
    return "give the subnets a NAT gateway and remove network.internetAccess: false"


def _enumeration(unreached: Mapping[str, Iterable[str]]) -> str:
    return ", ".join(f"{service} ({', '.join(dict.fromkeys(titles))})" for service, titles in unreached.items())
