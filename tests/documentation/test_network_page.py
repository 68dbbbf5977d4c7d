"""The page about the network: its table of contacts and routes is what the plan checks."""

import os
from collections.abc import Iterator

import yaml

from components.clouds.aws.facts.eks import addons
from components.clouds.aws.images import upstream
from components.clouds.aws.reach import (
    Exits,
    Route,
    Setup,
    callers,
    image_route,
    interface_services,
    service_route,
    weights_route,
)
from components.clouds.aws.traffic import hub_of, weights_pass_gateway
from components.engines.images import pull_reference
from components.families import load
from components.fleet.downloads import Download
from components.plan.downloads import downloads
from components.plan.plan import plan
from stacks.settings import from_config
from tests.documentation.blocks import ROOT

PAGE = ROOT / "docs/network.md"
BEGIN, END = "<!-- routes: tests/documentation/test_network_page.py -->\n", "<!-- end of routes -->\n"
REGION = "us-east-1"
S3 = frozenset({"s3"})
FORMS = {
    "NAT gateway": Exits(internet=True, endpoints=S3),
    "no NAT gateway, endpoints": Exits(internet=False, endpoints=S3 | {*interface_services()}),
    "no NAT gateway, no endpoints": Exits(internet=False, endpoints=S3),
    "existing VPC": Exits(internet=None, owned=False),
}
STACKS = ("dev", "staging", "prod")
CHARTS = ("cluster-autoscaler", "karpenter", "load-balancer-controller")


def contacts() -> Iterator[Download]:
    """Yield the images and weights of the shipped stacks."""
    for stack in STACKS:
        file = ROOT / f"Pulumi.{stack}.yaml"
        settings = from_config(yaml.safe_load(file.read_text())["config"], stack)
        planned = plan(load(ROOT / path for path in settings.models), settings.environment())
        yield from downloads(planned.fleet, planned.others, planned.prerequisites, planned.environment)


def service_rows() -> Iterator[str]:
    """Yield a row for each AWS service."""
    everything = Setup(addons=[*addons()], charts=CHARTS, web_identity=True, models_in_s3=True, bastion=True)
    by_service: dict[str, list[str]] = {}
    for caller in callers(everything):
        for service in caller.calls:
            by_service.setdefault(service, []).append(caller.title)
        for service in caller.optional:
            by_service.setdefault(service, []).append(f"({caller.title})")
    for service, titles in sorted(by_service.items()):
        routes = [service_route(service, exits) for exits in FORMS.values()]
        yield row(f"AWS service `{service}`", ", ".join(dict.fromkeys(titles)), routes)


def download_rows() -> Iterator[str]:
    """Yield a row for each registry and each hub."""
    registries: dict[str, tuple[str, set[str]]] = {}
    hubs: dict[str, tuple[str, set[str]]] = {}
    for download in contacts():
        if download.is_image:
            reference = pull_reference(download.address)
            assert reference is not None
            by = download.by.removeprefix("proxies of ") if download.by.startswith(("chart", "proxies")) else "models"
            registries.setdefault(reference.registry, (download.address, set()))[1].add(by)
        elif weights_pass_gateway(download.address):
            hubs.setdefault(hub_of(download.address), (download.address, set()))[1].add("models")
    for registry, (image, titles) in sorted(registries.items()):
        routes = [str(image_route(image, REGION, exits)) for exits in FORMS.values()]
        if upstream(registry) and routes[1] == Route.NONE:
            routes[1] = "interface endpoint, with `imageCache`"
        yield row(f"registry {registry}", ", ".join(sorted(titles)), routes)
    for hub, (address, titles) in sorted(hubs.items()):
        yield row(f"hub {hub}", ", ".join(titles), [weights_route(address, exits) for exits in FORMS.values()])


def row(*cells: object) -> str:
    contact, by, routes = cells
    assert isinstance(routes, list)
    return f"| {contact} | {by} | {' | '.join(map(str, routes))} |"


def table() -> str:
    head = ["contact", "by", *FORMS]
    lines = [f"| {' | '.join(head)} |", "|" + "---|" * len(head), *service_rows(), *download_rows()]
    return "\n".join(["", *lines, "", ""])


def test_the_page_has_the_routes_that_plans_check() -> None:
    """``INFERENCE_PLATFORM_APPROVE=1`` writes them anew."""
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
    _, _, after = rest.partition(END)
    if os.environ.get("INFERENCE_PLATFORM_APPROVE"):
        PAGE.write_text(before + BEGIN + table() + END + after, encoding="utf-8")
    assert PAGE.read_text(encoding="utf-8") == before + BEGIN + table() + END + after
