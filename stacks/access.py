"""Who reaches the models of a stack, and what their pods may do: computed here, registered with the rest."""

from collections.abc import Iterator
from dataclasses import replace

from components.api.problems import Problem
from components.catalog.charts import charts
from components.cluster.subnets import CIDR
from components.render.core_services import is_balanced
from components.render.front_door import AWS_LOAD_BALANCER_CONTROLLER, ENVOY_NAMESPACE, FrontDoorPlan, front_door
from components.render.gateway_objects import load_balancer_annotations
from components.render.hardening import Hardening, harden, priority_classes, restricted_exemptions
from components.render.network_policies import Allowed, network_policies
from components.render.types import Fleet, Object

from .settings import Settings


def door_of(fleet: Fleet, settings: Settings) -> FrontDoorPlan:
    """Return how the models are reached from outside."""
    return front_door(fleet, settings.front_door.door(), settings.file)


def charts_for(door: FrontDoorPlan, settings: Settings) -> list[str]:
    """Name the charts that a front door needs. Elsewhere than on AWS load balancers are the cluster's own affair."""
    elsewhere = {AWS_LOAD_BALANCER_CONTROLLER} if settings.cloud != "aws" else set[str]()
    return sorted(door.needs - elsewhere)


def check_access(door: FrontDoorPlan, settings: Settings) -> Iterator[Problem]:
    """Report what cannot be had in this environment."""
    yield from door.problems
    said = settings.prerequisites
    missing = [name for name in charts_for(door, settings) if name not in said.present]
    if missing and not said.install:
        reason = (
            f"{settings.front_door.expose!r} needs {', '.join(missing)}; set prerequisites.install to true, or name "
            "those that are in the cluster under prerequisites.present"
        )
        yield Problem(settings.file, 0, "", "", "frontDoor.expose", reason)
    if settings.realization == "operator" and settings.hardening.hardening() != Hardening():
        reason = (
            "has no effect with realization 'operator', which makes the pods; use realization 'native', or leave "
            "networkPolicies alone"
        )
        yield Problem(settings.file, 0, "", "", "hardening", reason)
    if _by_load_balancer(settings) and settings.hardening.network_policies and not _clients(settings):
        reason = "is required with network policies and a VPC that is not made here; name the ranges of the clients"
        yield Problem(settings.file, 0, "", "", "frontDoor.clientCidrs", reason)


def kept_inside(fleet: Fleet, settings: Settings) -> Fleet:
    """Return the fleet with load balancers of models in the private network alone, as far as that is ours to say.

    On AWS a Service of type LoadBalancer is open to the internet otherwise, and an engine asks nobody for a key.
    """
    if settings.cloud != "aws":
        return fleet
    return replace(fleet, rendered=tuple(replace(i, objects=tuple(map(_inside, i.objects))) for i in fleet.rendered))


def _inside(body: Object) -> Object:
    if not is_balanced(body):
        return body
    metadata = body["metadata"]
    annotations = {**load_balancer_annotations(internal=True), **metadata.get("annotations", {})}
    return {**body, "metadata": {**metadata, "annotations": annotations}}


def hardened(fleet: Fleet, settings: Settings) -> Fleet:
    """Return the fleet with what the environment asks of every pod."""
    options = settings.hardening.hardening()
    if settings.realization == "operator":
        return fleet
    return replace(fleet, rendered=tuple(replace(i, objects=harden(i.objects, options)) for i in fleet.rendered))


def check_exemptions(fleet: Fleet, settings: Settings) -> Iterator[Problem]:
    """Warn of pods that stay outside the profile that the environment asks for: one line per reason."""
    if settings.hardening.pod_security != "restricted":
        return
    found: dict[tuple[str, str], list[str]] = {}
    for item in fleet.rendered:
        for each in restricted_exemptions(item.objects):
            found.setdefault((each.rule, each.reason), []).append(f"{item.kind}/{item.name} ({each.part})")
    for (rule, why), pods in sorted(found.items()):
        reason = f"'restricted' is not met ({rule}) by {', '.join(pods)}: {why}"
        yield Problem(settings.file, 0, "", "", "hardening.podSecurity", reason, "warning")


def policies_of(fleet: Fleet, settings: Settings, *, monitored: bool) -> tuple[Object, ...]:
    """Return who may connect to the models: behind a gateway nobody but it and what scrapes."""
    if not settings.hardening.network_policies:
        return ()
    behind = settings.front_door.expose == "gateway"
    allowed = Allowed(
        gateway_namespace=ENVOY_NAMESPACE if behind else None,
        monitoring_namespace=charts()["prometheus"].namespace if monitored else None,
        clients=() if behind else None,
        cidrs=tuple(_clients(settings)) if _by_load_balancer(settings) else (),
    )
    return network_policies(fleet, allowed)


def classes_of(settings: Settings) -> tuple[Object, ...]:
    """Return the priority classes, where pods are given one."""
    return priority_classes() if settings.hardening.priority else ()


def namespace_labels(settings: Settings) -> dict[str, str]:
    """Return labels of the models' namespaces: whoever makes a pod that does not meet the profile is told.

    Nothing is refused: templates of one's own may need more, and their pods would silently not come.
    """
    asked = settings.hardening.pod_security
    if asked == "none" or settings.realization == "operator":
        return {}
    return {f"pod-security.kubernetes.io/{mode}": asked for mode in ("audit", "warn")}


def _by_load_balancer(settings: Settings) -> bool:
    return settings.front_door.expose == "load-balancer"


def _clients(settings: Settings) -> list[str]:
    """Return who may call a load balancer: those named, else the network that is made here."""
    network = settings.network
    known = network.cidr or (None if network.vpc_id or settings.cloud != "aws" else CIDR)
    return settings.front_door.client_cidrs or ([known] if known else [])
