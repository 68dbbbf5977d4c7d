"""Where clients find an InferenceService, and what stands around it."""

import pytest

from components.checks.front_door.door import Door, front_door
from components.checks.front_door.words import Exposure
from components.checks.hardening.network_policies import Allowed, network_policies
from components.checks.hardening.settings import Hardening
from components.checks.hardening.words import PodSecurity
from components.checks.hardening.workloads import harden
from components.checks.metrics.chain import metric_chain
from components.fleet.endpoints import Endpoint
from components.fleet.rendered import Fleet
from components.plan.prerequisites.needed import ClusterFacts, prerequisites
from tests.families.llmkube.support import (
    HTTP,
    Object,
    isvc,
    model,
    served,
)
from tests.fleets import endpoint_of, fleet_of, workload_of


def warned(fleet: Fleet) -> list[tuple[str, str]]:
    return [(problem.path, problem.reason) for problem in fleet.problems if problem.severity == "warning"]


def the_endpoint(fleet: Fleet) -> Endpoint:
    ((_, endpoint),) = fleet.endpoints
    return endpoint


SELECTOR = {"app": "svc.a", "inference.llmkube.dev/service": "svc.a"}


@pytest.mark.parametrize(
    ("path", "base"),
    [
        (None, "/v1"),
        ("/v1/chat/completions", "/v1"),
        ("/v1/embeddings", "/v1"),
        ("/openai/v1/completions", "/openai/v1"),
        ("/v1/", "/v1"),
        ("/openai/v1", "/openai/v1"),
        ("/embeddings", ""),
        ("", "/v1"),
    ],
)
def test_clients_are_given_the_base_of_the_api(path: str | None, base: str) -> None:
    """Of an image of one's own the path alone tells."""
    endpoint = {"port": 80, **({} if path is None else {"path": path})}
    service = isvc(runtime="generic", image="example.com/x:1", endpoint=endpoint, containerPort=8080)
    item = served(service, model())
    assert endpoint_of(item).url == f"http://svc.ns.svc.cluster.local:80{base}"
    assert warned(fleet_of(service, model())) == []


@pytest.mark.parametrize("path", ["/embed", "/", "/rerank", "/v1x", "/v1/models"])
def test_a_path_of_the_servers_own_is_no_base_of_the_api(path: str) -> None:
    """Text Embeddings Inference has /embed beside /v1/embeddings: /embed/embeddings is nothing.

    Clients of either URL, and the gateway, append /embeddings to the base.
    """
    service = isvc(runtime="generic", image="example.com/tei:1", endpoint={"port": 80, "path": path})
    fleet = fleet_of(service, model())
    assert the_endpoint(fleet).url == "http://svc.ns.svc.cluster.local:80/v1"
    ((field, reason),) = warned(fleet)
    assert field == "spec.endpoint.path"
    assert f"{path!r} is not where the OpenAI API is served" in reason
    assert "such as /v1/chat/completions or /v1/embeddings" in reason
    plan = front_door(fleet, Door(expose=Exposure.GATEWAY, internal=True, host="models.example.com"))
    (backend,) = [body for body in plan.objects if body["kind"] == "AIServiceBackend"]
    assert backend["spec"]["schema"] == {"name": "OpenAI"}, "the gateway's default is /v1"
    assert plan.endpoints[0].url == "http://models.example.com/v1"


@pytest.mark.parametrize("runtime", ["llamacpp", "vllm", "tgi"])
@pytest.mark.parametrize("path", ["/openai/v1/completions", "/", "/chat/completions"])
def test_an_engine_serves_where_it_serves_whatever_the_path(runtime: str, path: str) -> None:
    """/embeddings of llama.cpp without /v1 is not OpenAI's; the others have nothing there."""
    image = "" if runtime == "llamacpp" else "example.com/server:1"
    service = isvc(runtime=runtime, image=image, skipModelInit=True, endpoint={"port": 80, "path": path})
    fleet = fleet_of(service, model(source="org/repo"))
    assert the_endpoint(fleet).url == "http://svc.ns.svc.cluster.local:80/v1"
    assert "spec.endpoint.path" in [field for field, _ in warned(fleet)]


class TestPrefix:
    """llama.cpp serves every path under ``--api-prefix``: API, health and metrics (its issue 22474)."""

    def fleet(self, **endpoint: str) -> Fleet:
        return fleet_of(isvc(extraArgs=["--api-prefix", "/chat"], endpoint={"port": 80, **endpoint}), model())

    @pytest.mark.parametrize(
        ("endpoint", "told"), [({}, False), ({"path": "/chat/v1/completions"}, False), ({"path": "/v1/"}, True)]
    )
    def test_clients_and_gateway_ask_under_it(self, endpoint: Object, told: bool) -> None:
        fleet = self.fleet(**endpoint)
        assert the_endpoint(fleet).url == "http://svc.ns.svc.cluster.local:80/chat/v1"
        plan = front_door(fleet, Door(expose=Exposure.GATEWAY, internal=True))
        (backend,) = [body for body in plan.objects if body["kind"] == "AIServiceBackend"]
        assert backend["spec"]["schema"] == {"name": "OpenAI", "prefix": "/chat/v1"}
        assert ("spec.endpoint.path" in [field for field, _ in warned(fleet)]) is told

    def test_probes_ask_under_it(self) -> None:
        ((_, workload),) = self.fleet().workloads
        (container,) = workload.body["spec"]["template"]["spec"]["containers"]
        for probe in ("startupProbe", "livenessProbe", "readinessProbe"):
            assert container[probe]["httpGet"]["path"] == "/chat/health"

    def test_metrics_are_scraped_under_it(self) -> None:
        (monitor,) = metric_chain(self.fleet()).monitors
        assert monitor["spec"]["podMetricsEndpoints"][0]["path"] == "/chat/metrics"


@pytest.mark.parametrize(
    ("fields", "source", "name"),
    [
        ({}, HTTP, "m1"),
        ({"extraArgs": ["--alias", "chat"]}, HTTP, "chat"),
        ({"runtime": "vllm", "skipModelInit": True}, "org/repo", "org/repo"),
        ({"runtime": "vllm"}, "pvc://c/dir", "/model-source/dir"),
        (
            {"runtime": "vllm", "skipModelInit": True, "extraArgs": ["--served-model-name", "x"]},
            "org/repo",
            "x",
        ),
        ({"runtime": "vllm", "skipModelInit": True, "extraArgs": ["--served-model-name=x"]}, "org/repo", "x"),
        ({"runtime": "tgi"}, "org/repo", "m1"),
        ({"runtime": "generic"}, "org/repo", "m1"),
    ],
)
def test_clients_ask_for_the_name_that_the_server_knows(fields: Object, source: str, name: str) -> None:
    item = served(isvc(image="example.com/x:1", **fields), model(source=source))
    assert endpoint_of(item).model == name


def test_replicas_0_is_a_service_at_rest() -> None:
    item = served(isvc(replicas=0), model())
    assert workload_of(item).replicas == 0
    assert item.pods[0].pods == 0
    assert [body["kind"] for body in item.objects] == ["Deployment", "Service"]
    assert item.objects[0]["spec"]["replicas"] == 0


class TestAround:
    def test_its_pods_are_scraped(self) -> None:
        chain = metric_chain(fleet_of(isvc("svc.a"), model()))
        (monitor,) = chain.monitors
        assert monitor["spec"]["selector"]["matchLabels"] == SELECTOR
        (endpoint,) = monitor["spec"]["podMetricsEndpoints"]
        assert (endpoint["port"], endpoint["path"]) == ("http", "/metrics")
        assert set(chain.needs) == {"prometheus"}

    def test_its_pods_are_closed_but_for_their_port(self) -> None:
        (policy,) = network_policies(fleet_of(isvc("svc.a", containerPort=9000), model()), Allowed())
        assert policy["spec"]["podSelector"]["matchLabels"] == SELECTOR
        assert {p["port"] for rule in policy["spec"]["ingress"] for p in rule["ports"]} == {9000}

    def test_it_can_be_hardened(self) -> None:
        hardening = Hardening(pod_security=PodSecurity.RESTRICTED, disruption_budgets=True, topology_spread=True)
        bodies = harden(served(isvc(replicas=2), model()), hardening).objects
        assert [body["kind"] for body in bodies] == ["Deployment", "Service", "PodDisruptionBudget"]
        spec = bodies[0]["spec"]["template"]["spec"]
        assert spec["containers"][0]["securityContext"]["runAsNonRoot"] is True
        assert spec["securityContext"]["fsGroup"] == 102
        assert spec["topologySpreadConstraints"][0]["labelSelector"] == bodies[0]["spec"]["selector"]

    def test_a_gateway_routes_to_it(self) -> None:
        plan = front_door(
            fleet_of(isvc("svc.a", endpoint={"port": 80}), model()), Door(expose=Exposure.GATEWAY, internal=True)
        )
        (backend,) = [body for body in plan.objects if body["kind"] == "Backend"]
        assert backend["spec"]["endpoints"] == [{"fqdn": {"hostname": "svc-a.ns.svc.cluster.local", "port": 80}}]
        (route,) = [body for body in plan.objects if body["kind"] == "AIGatewayRoute"]
        assert route["spec"]["rules"][0]["matches"][0]["headers"][0]["value"] == "m1"

    def test_a_load_balancer_of_its_own_leads_to_the_same_pods(self) -> None:
        fleet = fleet_of(isvc("svc", containerPort=9000), model())
        (body,) = front_door(fleet, Door(expose=Exposure.LOAD_BALANCER, internal=True)).objects
        assert body["spec"]["selector"] == {"app": "svc", "inference.llmkube.dev/service": "svc"}
        assert body["spec"]["ports"][0]["targetPort"] == 9000

    def test_a_gateway_cannot_route_speech(self) -> None:
        service = isvc(runtime="personaplex", image="example.com/moshi:1")
        plan = front_door(fleet_of(service, model(source="org/repo")), Door(expose=Exposure.GATEWAY, internal=True))
        assert any("moshi" in found.reason for found in plan.problems)
        assert plan.objects == ()

    def test_its_autoscaler_needs_an_adapter(self) -> None:
        fleet = fleet_of(isvc(autoscaling={"maxReplicas": 1}), model())
        listed = prerequisites(fleet, (), ClusterFacts())
        assert "prometheus-adapter" in [each.chart.name for each in listed]
