"""Access to the models of an environment, and hardening of their pods."""

from collections.abc import Iterator
from dataclasses import replace

from ..checks.front_door.balancers import guarded
from ..checks.front_door.door import ENVOY_GATEWAY, ENVOY_NAMESPACE, FrontDoorPlan
from ..checks.front_door.pod_ends import node_limits
from ..checks.front_door.rollout_checks import idle_timeout_is_used, rollout_risks
from ..checks.front_door.words import Exposure
from ..checks.hardening.settings import Hardening
from ..checks.hardening.words import PodSecurity, Priority
from ..contract.findings.ids import RuleId
from ..contract.problems import Problem, Severity, errors
from ..fleet.load_balancers import LoadBalancers
from ..fleet.objects import Object, is_balanced
from ..fleet.rendered import Fleet
from ..fleet.workloads import Workload
from .environment import Environment
from .monitoring import scraper_of

_CLIENTS, _BALANCERS = "frontDoor.clientCidrs", "frontDoor.balancerCidrs"


def charts_for(door: FrontDoorPlan, environment: Environment) -> list[str]:
    """Return the charts that a front door needs. Without a cloud, the cluster provides load balancers itself."""
    if not door.needs:
        return []
    # The controllers of the clouds are known by their providers, which take long to import.
    from ..fleet.cloud_providers import balancer_controllers

    balancers = balancers_of(environment)
    own = {balancers.controller} if balancers else set[str]()
    return sorted(door.needs - (balancer_controllers() - own))


def balancers_of(environment: Environment) -> LoadBalancers | None:
    """Return the load balancers of the cloud; None if the cluster provides them itself."""
    return environment.cloud.provider.balancers if environment.cloud else None


def check_access(fleet: Fleet, door: FrontDoorPlan, environment: Environment) -> Iterator[Problem]:
    """Check front door, hardening and network policies against the environment."""
    yield from door.problems
    file = environment.file
    missing = [name for name in charts_for(door, environment) if name not in environment.present]
    if missing and environment.cluster and not environment.install:
        reason = (
            f"'{environment.door.expose}' requires {', '.join(missing)}; set prerequisites.install to true, or list "
            "those already in the cluster under prerequisites.present"
        )
        yield Problem(file=file, path="frontDoor.expose", reason=reason, rule=RuleId.PREREQUISITES_MISSING)
    if environment.door.rate_limit.redis and ENVOY_GATEWAY in environment.present:
        reason = (
            "must also be configured in the existing Envoy Gateway; set the same Redis in its configuration "
            "(rateLimit.backend.redis.url), or no limits apply"
        )
        yield Problem(
            file=file,
            path="frontDoor.rateLimit.redis",
            reason=reason,
            severity=Severity.WARNING,
            rule=RuleId.ACCESS_LIMITS_ELSEWHERE,
        )
    # Priority 'none' with an operator has a finding of its own: models that may preempt others.
    nothing = (Hardening(), Hardening(priority=Priority.NONE))
    if environment.operated and environment.hardening not in nothing:
        reason = (
            "has no effect with realization 'operator', because the operator creates the pods; use realization "
            "'native', or set only networkPolicies"
        )
        yield Problem(file=file, path="hardening", reason=reason, rule=RuleId.SETTINGS)
    yield from (
        Problem(file=file, path=path, reason=reason, rule=RuleId.SETTINGS)
        for path, reason in _wrong_ranges(fleet, environment)
    )
    yield from _operators_balancers(fleet, environment)
    yield from _rollouts(fleet, door, environment)
    if environment.network_policies:
        yield from _node_ports(fleet)
        yield from _open_routers(fleet)


def _operators_balancers(fleet: Fleet, environment: Environment) -> Iterator[Problem]:
    """Reject load balancers of operators: their clients cannot be restricted."""
    cloud, balancers = environment.cloud, balancers_of(environment)
    if cloud and balancers and balancers.internet:
        why = f"on {cloud.provider.title} it exposes an engine without authentication to the internet"
    elif environment.network_policies or environment.door.client_cidrs:
        why = "frontDoor.clientCidrs and network policies do not apply to it"
    else:
        return
    reason = (
        f"the clients of the operator's Service cannot be restricted: {why}; use ClusterIP, or realization 'native'"
    )
    for _, endpoint in fleet.endpoints:
        if endpoint.operators_balancer:
            yield endpoint.operators_balancer.problem(reason, rule=RuleId.ACCESS_LOAD_BALANCER_OPEN)


def _rollouts(fleet: Fleet, door: FrontDoorPlan, environment: Environment) -> Iterator[Problem]:
    """Reject rollout settings without effect, and warn about those that interrupt requests when pods are replaced."""
    balanced = any(endpoint.has_own_balancer for _, endpoint in fleet.endpoints)
    file, idle = environment.file, "frontDoor.rollout.idleTimeout"
    if environment.door.rollout.idle_timeout and not idle_timeout_is_used(environment.door, models_balanced=balanced):
        reason = "has no effect, because no load balancer has a TCP listener without TLS; remove it"
        yield Problem(file=file, path=idle, reason=reason, rule=RuleId.SETTINGS)
    balancers = balancers_of(environment)
    notice = environment.cloud.provider.spot_notice_seconds if environment.cloud else None
    for severity, reason in node_limits(fleet, environment.door, balancers, notice):
        yield Problem(
            file=file, path="frontDoor.requestTimeout", reason=reason, severity=severity, rule=RuleId.DRAIN_SHORT
        )
    if balancers is None:
        return
    for field, reason in rollout_risks(environment.door, balancers):
        yield Problem(
            file=file, path=f"frontDoor.{field}", reason=reason, severity=Severity.WARNING, rule=RuleId.ACCESS_ROLLOUT
        )
    # The namespace of Envoy Gateway gets its labels only where its chart is installed into a cluster created here.
    existing = environment.cloud is None or environment.cloud.existing
    labels_envoy = environment.install and not existing and ENVOY_GATEWAY not in environment.present
    unlabelled = sorted(
        name
        for name in gated_namespaces(fleet, door, environment)
        if not (labels_envoy if name == ENVOY_NAMESPACE else is_created(name))
    )
    if unlabelled and environment.cluster:
        from ..contract.texts.outputs import shell_line

        key, value = next(iter(balancers.readiness_gates.items()))
        command = shell_line(["kubectl", "label", "namespace", *unlabelled, f"{key}={value}"])
        reason = (
            f"is true, but {', '.join(unlabelled)} is not created here: pods there become Ready minutes before their "
            f"load balancer sends them requests; run `{command}`, or set it to false"
        )
        path = "frontDoor.rollout.readinessGates"
        yield Problem(file=file, path=path, reason=reason, severity=Severity.WARNING, rule=RuleId.ACCESS_ROLLOUT)


def is_created(namespace: str) -> bool:
    """Return whether a namespace of models is created here; ``default`` and system namespaces exist already."""
    return namespace != "default" and not namespace.startswith("kube-")


def gated_namespaces(fleet: Fleet, door: FrontDoorPlan, environment: Environment) -> frozenset[str]:
    """Return the namespaces whose pods have readiness gates of load balancers.

    A load balancer takes minutes to register a pod. Without the gates, a rolling update could replace the last
    registered pod before a new one is registered.
    """
    balancers = balancers_of(environment)
    if balancers is None or not balancers.readiness_gates or not environment.door.rollout.readiness_gates:
        return frozenset()
    models = {item.namespace for item, endpoint in fleet.endpoints if endpoint.has_own_balancer}
    models |= {body["metadata"]["namespace"] for body in door.objects if is_balanced(body)}
    proxies = {ENVOY_NAMESPACE for body in door.objects if body["kind"] == "EnvoyProxy"}
    return frozenset(models | proxies)


def _node_ports(fleet: Fleet) -> Iterator[Problem]:
    """Warn about NodePort Services: nodes replace the client's address by their own, which policies do not allow."""
    for item, endpoint in fleet.endpoints:
        if endpoint.body and endpoint.body["spec"].get("type") == "NodePort":
            reason = (
                "its Service has type NodePort, but network policies drop connections that arrive through another "
                "node than the pod's; use a load balancer, or set hardening.networkPolicies to false"
            )
            yield item.source.problem("spec", reason, Severity.WARNING, rule=RuleId.ACCESS_NODE_PORT)


def _open_routers(fleet: Fleet) -> Iterator[Problem]:
    """Warn about routers outside the models' namespaces, each once."""
    seen = set[tuple[str, str]]()
    for _, endpoint in fleet.endpoints:
        for backend in endpoint.backends:
            service = backend.namespace, backend.service
            if not backend.router or service in seen:
                continue
            seen.add(service)
            reason = (
                f"its pods accept requests only from the router in namespace {backend.router.namespace!r}, but every "
                f"pod in the cluster may call that router (Service {backend.service!r}); add a NetworkPolicy there"
            )
            yield endpoint.origin.problem(reason, Severity.WARNING, rule=RuleId.ACCESS_ROUTER_OPEN)


def _wrong_ranges(fleet: Fleet, environment: Environment) -> Iterator[tuple[str, str]]:
    """Report CIDR ranges without effect, and missing ones without which models are unreachable."""
    door, balancing, cloud = environment.door, environment.balancing, environment.cloud
    balancers = balancers_of(environment)
    title = cloud.provider.title if cloud else ""
    network = cloud.provider.network_title if cloud else ""
    before_models = _by_load_balancer(environment) or any(
        endpoint.has_own_balancer for _, endpoint in fleet.endpoints
    )
    if door.client_cidrs and not before_models and door.expose != Exposure.GATEWAY:
        yield _CLIENTS, "has no effect, because no load balancer is created; remove it, or set frontDoor.expose"
    for path, ranges in ((_CLIENTS, door.client_cidrs), (_BALANCERS, door.balancer_cidrs)):
        if balancers and balancers.ipv4_only and any(":" in cidr for cidr in ranges):
            yield path, f"must be IPv4 ranges on {title}, where load balancers have IPv4 addresses"
    if door.balancer_cidrs and not environment.network_policies:
        reason = "has no effect without network policies; remove it, or set hardening.networkPolicies to true"
        yield _BALANCERS, reason
    elif door.balancer_cidrs and not before_models:
        yield _BALANCERS, "has no effect, because no load balancer connects to a model; remove it"
    if not (before_models and environment.network_policies):
        return
    where = f"an existing {network}" if cloud else "load balancers of models"
    if not balancing.clients:
        yield _CLIENTS, f"is required with network policies and {where}; list the CIDR ranges of the clients"
    if not balancing.sources and balancers and balancers.own_addresses:
        yield (
            _BALANCERS,
            f"is required with network policies and {where}; list the ranges of the {network}, from which "
            "load balancers connect to pods and check their health",
        )


def placed(fleet: Fleet, environment: Environment) -> Fleet:
    """Adapt the fleet to the cloud, and restrict the clients of models' own load balancers."""
    if environment.cloud:
        seconds = environment.door.balancer_seconds(environment.balancing.balancers)
        fleet = environment.cloud.adapted(fleet, seconds)
    return guarded(fleet, environment.balancing)


def hardened(fleet: Fleet, environment: Environment) -> Fleet:
    if environment.hardening == Hardening():
        return fleet
    from ..checks.hardening.workloads import harden

    return replace(fleet, rendered=tuple(harden(item, environment.hardening) for item in fleet.rendered))


def classes_of(environment: Environment) -> tuple[Object, ...]:
    """Return the PriorityClasses, if pods use one of them."""
    if not environment.hardening.class_name:
        return ()
    from ..checks.hardening.workloads import priority_classes

    return priority_classes()


def check_exemptions(fleet: Fleet, environment: Environment) -> Iterator[Problem]:
    """Warn about pods that violate the profile of the environment: one finding per reason."""
    if environment.hardening.pod_security != PodSecurity.RESTRICTED:
        return
    from ..checks.hardening.workloads import restricted_exemptions

    parts_by_reason: dict[tuple[str, str], list[str]] = {}
    for item in fleet.rendered:
        for exemption in restricted_exemptions(item):
            parts_by_reason.setdefault((exemption.rule, exemption.reason), []).append(
                f"{item.title} ({exemption.part})"
            )
    for (rule, why), pods in sorted(parts_by_reason.items()):
        reason = f"'restricted' is not met ({rule}) by {', '.join(pods)}: {why}"
        yield Problem(
            file=environment.file,
            path="hardening.podSecurity",
            reason=reason,
            severity=Severity.WARNING,
            rule=RuleId.SECURITY_RESTRICTED_EXEMPT,
        )


def check_budgets(fleet: Fleet, environment: Environment) -> Iterator[Problem]:
    """Note the replicas that no disruption budget protects although the settings ask for budgets."""
    if not environment.hardening.disruption_budgets:
        return
    for item in fleet.rendered:
        workloads = [workload for workload in item.workloads if workload.operated and _is_replicated(workload)]
        if not workloads:
            continue
        selectors = ", or ".join(
            ", ".join(f"{name}: {value}" for name, value in workload.evicted.items()) for workload in workloads
        )
        # With maxUnavailable, the disruption controller asks the owner of the pods for their number: a controller of
        # Kubernetes, or the scale subresource of another kind, whose replicas are no pods here (kubernetes/kubernetes
        # v1.36.3, pkg/controller/disruption: getExpectedScale).
        bound = "minAvailable, as a number" if any(workload.bare for workload in workloads) else "maxUnavailable: 1"
        yield item.source.problem(
            "",
            "has no PodDisruptionBudget, although hardening.disruptionBudgets is true: its operator creates the "
            "pods, so that a drain may evict all replicas at once; create a PodDisruptionBudget that selects "
            f"{selectors}, with {bound}, or use realization 'native'",
            Severity.NOTE,
            rule=RuleId.DRAIN_BUDGET,
        )


def _is_replicated(workload: Workload) -> bool:
    return max(workload.replicas, workload.most or 0) > 1


def policies_of(
    fleet: Fleet, door: FrontDoorPlan, environment: Environment, *, monitored: bool
) -> tuple[Object, ...]:
    """Return the NetworkPolicies; behind a gateway, only the gateway and Prometheus may connect."""
    if not environment.network_policies or errors(door.problems):
        return ()
    from ..checks.hardening.network_policies import Allowed, network_policies

    behind_gateway = environment.door.expose == Exposure.GATEWAY
    allowed = Allowed(
        gateway_namespace=ENVOY_NAMESPACE if behind_gateway else None,
        monitoring_namespace=scraper_of(environment) if monitored else environment.scraper,
        clients=() if behind_gateway else None,
        cidrs=environment.balancing.sources,
        only_balanced=not _by_load_balancer(environment),
    )
    return network_policies(fleet, allowed)


def namespace_labels(environment: Environment) -> dict[str, str]:
    """Return the Pod Security labels of the models' namespaces, which warn about violations.

    They do not enforce the profile: pods of custom templates that need more would silently never be created.
    """
    profile = environment.hardening.pod_security
    if profile == PodSecurity.NONE or environment.operated:
        return {}
    return {f"pod-security.kubernetes.io/{mode}": profile.value for mode in ("audit", "warn")}


def _by_load_balancer(environment: Environment) -> bool:
    return environment.door.expose == Exposure.LOAD_BALANCER
