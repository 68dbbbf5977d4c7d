"""Replacing proxies: what Envoy Gateway and the AWS Load Balancer Controller are told, and what is too short.

Facts: Envoy Gateway v1.9.0 (``ShutdownConfig``: a drain of 60 s unless it is set), AWS Load Balancer Controller
(docs/deploy/pod_readiness_gate.md, docs/guide/service/annotations.md; issues 1834 and 2366), Elastic Load Balancing
("Update the TCP idle timeout": 60 to 6000 s, default 350 s, not for TLS; TargetGroupAttribute: deregistration delay
of 0 to 3600 s), EKS User Guide ("Understand each phase of node updates": 15 minutes).
"""

from dataclasses import replace

import pytest

from components.checks.front_door.balancers import Balancing
from components.checks.front_door.door import Door, Tls, front_door
from components.checks.front_door.rollout import ProxyRollout
from components.checks.front_door.words import Exposure, TlsKind
from components.clouds.aws.environment import AwsEnvironment
from components.contract.texts.durations import duration_text, seconds
from components.fleet.words import Realization
from components.plan.access import check_access, gated_namespaces, placed
from components.plan.environment import Environment
from components.plan.prerequisites.needed import ClusterFacts
from tests.checks.front_door.doors import ARN, AWS, BALANCERS, PRIVATE, PUBLIC, Object, fleet, made, one
from tests.fleets import fleet_of

IDLE = f"{AWS}-listener-attributes"
ENCRYPTED = Tls(TlsKind.ACM, certificate_arn=ARN)
HOUR = 3600


def annotations(door: Door) -> dict[str, str]:
    spec = one(made(door, balancing=Balancing(proxy_protocol=True)), "EnvoyProxy")["spec"]
    found: dict[str, str] = spec["provider"]["kubernetes"]["envoyService"]["annotations"]
    return found


def attributes(found: dict[str, str]) -> dict[str, str]:
    return dict(pair.split("=") for pair in found[f"{AWS}-target-group-attributes"].split(","))


@pytest.mark.parametrize(
    ("request_timeout", "rollout", "drain"),
    [
        ("10m", ProxyRollout(), "13m"),
        ("10m", ProxyRollout(min_drain_duration="2m30s"), "12m30s"),
        ("1h30m", ProxyRollout(), "1h33m"),
        ("1500ms", ProxyRollout(min_drain_duration="1s"), "3s"),
        ("10m", ProxyRollout(drain_timeout="1h"), "1h"),
    ],
)
def test_a_proxy_drains_for_as_long_as_the_longest_request_that_it_takes(
    request_timeout: str, rollout: ProxyRollout, drain: str
) -> None:
    """Requests arrive until load balancers send no more; each has its whole timeout then."""
    proxies = one(made(replace(PUBLIC, request_timeout=request_timeout, rollout=rollout)), "EnvoyProxy")
    assert proxies["spec"]["shutdown"] == {"drainTimeout": drain, "minDrainDuration": rollout.min_drain_duration}


def test_no_proxy_goes_before_another_one_is_ready_and_zones_share_them() -> None:
    kubernetes = one(made(PUBLIC), "EnvoyProxy")["spec"]["provider"]["kubernetes"]
    deployment = kubernetes["envoyDeployment"]
    assert deployment["strategy"]["rollingUpdate"]["maxUnavailable"] == 0
    zone, node = deployment["pod"]["topologySpreadConstraints"]
    assert (zone["topologyKey"], zone["whenUnsatisfiable"]) == ("topology.kubernetes.io/zone", "DoNotSchedule")
    assert (node["topologyKey"], node["whenUnsatisfiable"]) == ("kubernetes.io/hostname", "ScheduleAnyway")
    for each in (zone, node):
        assert each["labelSelector"]["matchLabels"] == {
            "gateway.envoyproxy.io/owning-gateway-name": "inference-gateway",
            "gateway.envoyproxy.io/owning-gateway-namespace": "envoy-gateway-system",
        }
        # Without them a zone with nothing but tainted accelerators, or the proxies that go, would hold a proxy up.
        assert (each["nodeTaintsPolicy"], each["matchLabelKeys"]) == ("Honor", ["pod-template-hash"])
    alone = one(made(replace(PUBLIC, replicas=1)), "EnvoyProxy")["spec"]["provider"]["kubernetes"]
    assert "pod" not in alone["envoyDeployment"]
    assert alone["envoyDeployment"]["strategy"] == deployment["strategy"]


def test_connections_that_idle_end_before_they_could_start_a_request_too_late() -> None:
    door = replace(PUBLIC, rollout=ProxyRollout(min_drain_duration="150s"))
    assert one(made(door), "ClientTrafficPolicy")["spec"]["timeout"]["http"]["idleTimeout"] == "150s"


@pytest.mark.parametrize(
    ("request_timeout", "rollout", "delay"),
    [
        ("10m", ProxyRollout(), "780"),
        ("10m", ProxyRollout(drain_timeout="30m"), "1800"),
        ("2h", ProxyRollout(), "3600"),
    ],
)
def test_targets_count_as_draining_for_as_long(request_timeout: str, rollout: ProxyRollout, delay: str) -> None:
    found = attributes(annotations(replace(PUBLIC, request_timeout=request_timeout, rollout=rollout)))
    assert found["deregistration_delay.timeout_seconds"] == delay
    assert found["proxy_protocol_v2.enabled"] == "true"
    # AWS would end connections with the delay.
    assert "deregistration_delay.connection_termination.enabled" not in found


@pytest.mark.parametrize(
    ("request_timeout", "rollout", "idle"),
    [
        ("10m", ProxyRollout(), "660"),
        ("1m", ProxyRollout(), "350"),
        ("3h", ProxyRollout(), "6000"),
        ("10m", ProxyRollout(idle_timeout="60s"), "60"),
        ("10m", ProxyRollout(idle_timeout="1h40m"), "6000"),
    ],
)
def test_a_silent_stream_outlasts_the_load_balancer(request_timeout: str, rollout: ProxyRollout, idle: str) -> None:
    door = replace(PUBLIC, request_timeout=request_timeout, rollout=rollout)
    assert annotations(door)[f"{IDLE}.TCP-443"] == f"tcp.idle_timeout.seconds={idle}"
    private = annotations(replace(PRIVATE, request_timeout=request_timeout, rollout=rollout))
    assert private[f"{IDLE}.TCP-80"] == f"tcp.idle_timeout.seconds={idle}"
    balanced = one(made(replace(BALANCERS, request_timeout=request_timeout, rollout=rollout)), "Service")
    assert balanced["metadata"]["annotations"][f"{IDLE}.TCP-8080"] == f"tcp.idle_timeout.seconds={idle}"


def test_that_of_a_tls_listener_is_not_touched() -> None:
    """AWS refuses to change it, and the controller would never finish the Service."""
    assert not [key for key in annotations(replace(PUBLIC, tls=ENCRYPTED)) if key.startswith(IDLE)]


def test_a_zone_without_a_proxy_refuses_nobody() -> None:
    assert annotations(PUBLIC)[f"{AWS}-attributes"] == "load_balancing.cross_zone.enabled=true"


MODEL = {
    "apiVersion": "inference.llmkube.dev/v1alpha1",
    "kind": "Model",
    "metadata": {"name": "m"},
    "spec": {"source": "https://example.com/m.gguf"},
}
SERVED: Object = {
    "apiVersion": "inference.llmkube.dev/v1alpha1",
    "kind": "InferenceService",
    "metadata": {"name": "s"},
    "spec": {"modelRef": "m", "skipModelInit": True, "endpoint": {"type": "LoadBalancer"}},
}
CLOUD = AwsEnvironment("us-east-1", cidr="10.0.0.0/16")
KNOWN = Environment(cloud=CLOUD, install=True, cluster=ClusterFacts())


def test_load_balancers_of_models_carry_streams_too() -> None:
    written = fleet_of(MODEL, SERVED)
    ((_, endpoint),) = placed(written, replace(KNOWN, door=Door(request_timeout="20m"))).endpoints
    assert endpoint.body is not None
    found = endpoint.body["metadata"]["annotations"]
    assert found[f"{IDLE}.TCP-8080"] == "tcp.idle_timeout.seconds=1260"
    assert attributes(found)["deregistration_delay.timeout_seconds"] == "1380"
    # What a manifest says itself stays.
    ours = {f"{IDLE}.TCP-8080": "tcp.idle_timeout.seconds=400"}
    ((_, endpoint),) = fleet_of(MODEL, SERVED).endpoints
    assert endpoint.body is not None
    named = replace(endpoint, body={**endpoint.body, "metadata": {**endpoint.body["metadata"], "annotations": ours}})
    (item,) = [each for each in written.rendered if each.endpoints]
    changed = replace(written, rendered=(replace(item, endpoints=(named,)),))
    ((_, endpoint),) = placed(changed, KNOWN).endpoints
    assert endpoint.body is not None
    assert endpoint.body["metadata"]["annotations"][f"{IDLE}.TCP-8080"] == "tcp.idle_timeout.seconds=400"


# --- Which pods are gated


@pytest.mark.parametrize(
    ("environment", "expected"),
    [
        (replace(KNOWN, door=PRIVATE), {"envoy-gateway-system"}),
        (replace(KNOWN, door=BALANCERS), {"models"}),
        (replace(KNOWN, door=replace(PRIVATE, rollout=ProxyRollout(readiness_gates=False))), set()),
        (replace(KNOWN, door=PRIVATE, cloud=None), set()),
        (KNOWN, set()),
    ],
    ids=["gateway", "per model", "turned off", "elsewhere", "closed"],
)
def test_pods_behind_load_balancers_on_aws_wait_for_them(environment: Environment, expected: set[str]) -> None:
    of = placed(fleet("m"), environment)
    door = front_door(of, environment.door, balancing=environment.balancing)
    assert gated_namespaces(of, door, environment) == expected


def test_models_with_a_load_balancer_of_their_own_wait_too() -> None:
    of = placed(fleet_of(MODEL, SERVED, namespace="llms"), KNOWN)
    assert gated_namespaces(of, front_door(of, Door()), KNOWN) == {"llms"}


# --- What is wrong


def warnings(environment: Environment, severity: str = "warning") -> list[tuple[str, str]]:
    of = placed(fleet("m"), environment)
    door = front_door(of, environment.door, balancing=environment.balancing)
    return [
        (each.path.removeprefix("frontDoor."), each.reason)
        for each in check_access(of, door, environment)
        if each.severity == severity and "rollout" in (each.path + str(each.rule))
    ]


WRONG = [
    ("drain", ProxyRollout(drain_timeout="800"), "rollout.drainTimeout", "must be a duration such as 13m or 1h30m"),
    ("least", ProxyRollout(min_drain_duration="0s"), "rollout.minDrainDuration", "must be a duration such as 13m"),
    ("days", ProxyRollout(idle_timeout="1d"), "rollout.idleTimeout", "must be a duration such as 13m"),
    ("short", ProxyRollout(idle_timeout="59s"), "rollout.idleTimeout", "must be from 60s to 6000s"),
    ("long", ProxyRollout(idle_timeout="6001s"), "rollout.idleTimeout", "must be from 60s to 6000s"),
    ("order", ProxyRollout("2m"), "rollout.drainTimeout", "must be at least minDrainDuration (3m), found '2m'"),
]


@pytest.mark.parametrize(("rollout", "path", "reason"), [row[1:] for row in WRONG], ids=[row[0] for row in WRONG])
@pytest.mark.parametrize("door", [PUBLIC, BALANCERS, Door()], ids=["gateway", "per model", "closed"])
def test_durations_that_are_none(door: Door, rollout: ProxyRollout, path: str, reason: str) -> None:
    (problem,) = front_door(fleet("m"), replace(door, rollout=rollout)).problems
    assert (problem.path, problem.severity) == (f"frontDoor.{path}", "error")
    assert reason in problem.reason


@pytest.mark.parametrize(
    ("door", "found"),
    [
        (replace(PUBLIC, rollout=ProxyRollout("9m59s")), True),
        (replace(PUBLIC, rollout=ProxyRollout("10m")), False),
        (replace(PUBLIC, request_timeout="13m1s", rollout=ProxyRollout("13m")), True),
        (replace(BALANCERS, rollout=ProxyRollout("9m")), False),
        (PUBLIC, False),
    ],
)
def test_a_drain_that_is_shorter_than_a_request(door: Door, *, found: bool) -> None:
    problems = front_door(fleet("m"), door).problems
    assert bool(problems) is found
    for each in problems:
        assert (each.path, each.severity) == ("frontDoor.rollout.drainTimeout", "warning")
        assert "longer answers are cut off whenever a proxy is replaced; set it to" in each.reason


ON_AWS = [
    ("connections", replace(PRIVATE, rollout=ProxyRollout(min_drain_duration="119s")), "rollout.minDrainDuration"),
    ("two minutes", replace(PRIVATE, rollout=ProxyRollout(min_drain_duration="2m")), ""),
    ("long requests", replace(PRIVATE, request_timeout="12m1s"), "requestTimeout"),
    ("fifteen minutes", replace(PRIVATE, request_timeout="12m"), ""),
    ("long drain", replace(PRIVATE, rollout=ProxyRollout("901s")), "rollout.drainTimeout"),
    ("one proxy", replace(PRIVATE, replicas=1), "replicas"),
    ("as it is", PRIVATE, ""),
    ("no proxies", replace(BALANCERS, replicas=1, request_timeout="1h"), ""),
]


@pytest.mark.parametrize(("door", "path"), [row[1:] for row in ON_AWS], ids=[row[0] for row in ON_AWS])
def test_what_cuts_requests_off_on_aws(door: Door, path: str) -> None:
    assert [found for found, _ in warnings(replace(KNOWN, door=door))] == ([path] if path else [])
    assert warnings(replace(KNOWN, cloud=None, door=door)) == []


@pytest.mark.parametrize(
    ("environment", "named"),
    [
        (replace(KNOWN, door=PRIVATE), ""),
        (replace(KNOWN, door=PRIVATE, cloud=replace(CLOUD, existing=True)), "envoy-gateway-system"),
        (
            replace(KNOWN, door=PRIVATE, cluster=ClusterFacts(present=frozenset({"envoy-gateway"}))),
            "envoy-gateway-system",
        ),
        (
            replace(
                KNOWN,
                door=replace(PRIVATE, rollout=ProxyRollout(readiness_gates=False)),
                cloud=replace(CLOUD, existing=True),
            ),
            "",
        ),
        (replace(KNOWN, door=PRIVATE, cloud=replace(CLOUD, existing=True), cluster=None), ""),
        (replace(KNOWN, door=BALANCERS, cloud=replace(CLOUD, existing=True)), ""),
    ],
    ids=["created", "existing cluster", "present", "turned off", "nothing is known", "models' namespace"],
)
def test_a_namespace_that_is_not_created_here_has_to_be_labelled(environment: Environment, named: str) -> None:
    found = warnings(environment)
    assert [path for path, _ in found] == (["rollout.readinessGates"] if named else [])
    for _, reason in found:
        command = f"kubectl label namespace {named} elbv2.k8s.aws/pod-readiness-gate-inject=enabled"
        assert command in reason


def test_models_in_the_default_namespace() -> None:
    of = fleet("m", namespace="default")
    environment = replace(KNOWN, door=BALANCERS)
    door = front_door(of, BALANCERS, balancing=environment.balancing)
    (problem,) = [each for each in check_access(of, door, environment) if "readinessGates" in each.path]
    assert "kubectl label namespace default " in problem.reason


@pytest.mark.parametrize(
    ("door", "used"),
    [
        (PUBLIC, True),
        (BALANCERS, True),
        (replace(PUBLIC, tls=ENCRYPTED), False),
        (Door(Exposure.NONE), False),
    ],
)
def test_an_idle_timeout_that_nothing_has(door: Door, *, used: bool) -> None:
    environment = replace(KNOWN, door=replace(door, rollout=ProxyRollout(idle_timeout="10m")))
    found = warnings(environment, "error")
    assert [path for path, _ in found] == ([] if used else ["rollout.idleTimeout"])


@pytest.mark.parametrize(
    ("text", "count"), [("10m", 600), ("1h1m1s", 3661), ("500ms", 1), ("1500ms", 2), ("90m", 5400)]
)
def test_durations(text: str, count: int) -> None:
    assert seconds(text) == count
    assert seconds(duration_text(count)) == count


@pytest.mark.parametrize(("count", "text"), [(780, "13m"), (750, "12m30s"), (HOUR, "1h"), (HOUR + 1, "1h1s")])
def test_durations_as_they_are_written(count: int, text: str) -> None:
    assert duration_text(count) == text


def test_pods_of_operators_are_theirs() -> None:
    of = placed(fleet_of(MODEL, SERVED, realization=Realization.OPERATOR), KNOWN)
    assert gated_namespaces(of, front_door(of, Door()), KNOWN) == frozenset()
