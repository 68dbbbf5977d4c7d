"""Access to the models of an environment, and the hardening of their pods."""

from collections.abc import Iterator
from dataclasses import replace

from ..api.problems import Problem, Severity
from ..aws.names import LOAD_BALANCER_CONTROLLER
from ..fleet.objects import Object
from ..fleet.rendered import Fleet
from ..front_door.door import ENVOY_NAMESPACE, FrontDoorPlan
from ..front_door.words import Exposure
from ..hardening.network_policies import Allowed, network_policies
from ..hardening.words import PodSecurity
from ..hardening.workloads import Hardening, harden, restricted_exemptions
from ..prerequisites.charts import charts
from .environment import Environment


def charts_for(door: FrontDoorPlan, environment: Environment) -> list[str]:
    """Name the charts that a front door needs. Outside of AWS, load balancers are up to the cluster."""
    elsewhere = set[str]() if environment.aws else {LOAD_BALANCER_CONTROLLER}
    return sorted(door.needs - elsewhere)


def check_access(door: FrontDoorPlan, environment: Environment) -> Iterator[Problem]:
    """Report what is not possible in this environment."""
    yield from door.problems
    file = environment.file
    missing = [name for name in charts_for(door, environment) if name not in environment.present]
    if missing and environment.cluster and not environment.install:
        reason = (
            f"'{environment.door.expose}' requires {', '.join(missing)}; set prerequisites.install to true, or list "
            "those already in the cluster under prerequisites.present"
        )
        yield Problem(file, 0, "", "", "frontDoor.expose", reason)
    if environment.operated and environment.hardening != Hardening():
        reason = (
            "has no effect with realization 'operator', because the operator creates the pods; use realization "
            "'native', or set only networkPolicies"
        )
        yield Problem(file, 0, "", "", "hardening", reason)
    if _by_load_balancer(environment) and environment.network_policies and not environment.clients:
        reason = "is required with network policies and an existing VPC; list the CIDR ranges of the clients"
        yield Problem(file, 0, "", "", "frontDoor.clientCidrs", reason)


def hardened(fleet: Fleet, environment: Environment) -> Fleet:
    """Return the fleet with what the environment requires of every pod."""
    if environment.hardening == Hardening():
        return fleet
    return replace(fleet, rendered=tuple(harden(item, environment.hardening) for item in fleet.rendered))


def check_exemptions(fleet: Fleet, environment: Environment) -> Iterator[Problem]:
    """Warn of pods that do not meet the profile of the environment: one line per reason."""
    if environment.hardening.pod_security != PodSecurity.RESTRICTED:
        return
    found: dict[tuple[str, str], list[str]] = {}
    for item in fleet.rendered:
        for each in restricted_exemptions(item):
            found.setdefault((each.rule, each.reason), []).append(f"{item.title} ({each.part})")
    for (rule, why), pods in sorted(found.items()):
        reason = f"'restricted' is not met ({rule}) by {', '.join(pods)}: {why}"
        yield Problem(environment.file, 0, "", "", "hardening.podSecurity", reason, Severity.WARNING)


def policies_of(fleet: Fleet, environment: Environment, *, monitored: bool) -> tuple[Object, ...]:
    """Return who may connect to the models: behind a gateway, only the gateway and the scraper."""
    if not environment.network_policies:
        return ()
    behind = environment.door.expose == Exposure.GATEWAY
    allowed = Allowed(
        gateway_namespace=ENVOY_NAMESPACE if behind else None,
        monitoring_namespace=charts()["prometheus"].namespace if monitored else None,
        clients=() if behind else None,
        cidrs=environment.clients if _by_load_balancer(environment) else (),
    )
    return network_policies(fleet, allowed)


def namespace_labels(environment: Environment) -> dict[str, str]:
    """Return labels of the models' namespaces: creating a pod that does not meet the profile gives a warning.

    Nothing is rejected: custom templates may need more, and their pods would silently never appear.
    """
    asked = environment.hardening.pod_security
    if asked == PodSecurity.NONE or environment.operated:
        return {}
    return {f"pod-security.kubernetes.io/{mode}": asked.value for mode in ("audit", "warn")}


def _by_load_balancer(environment: Environment) -> bool:
    return environment.door.expose == Exposure.LOAD_BALANCER
