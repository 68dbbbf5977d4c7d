"""The arguments of a ModelFleet are the settings of a fleet, and each has an effect."""

from collections.abc import Iterator
from typing import Any, is_typeddict

import pytest
from pydantic.alias_generators import to_camel

from components.plan.section import Section
from components.resources.serving.fleet import settings
from components.resources.serving.fleet.args import ModelFleetArgs
from components.resources.serving.typed_args import keys_of
from tests.fleets import open_model, playground
from tests.resources.serving.manifests import A10G, CHAT, fleet

RELEASE = "kubernetes:helm.sh/v3:Release"
SECTION = settings.ProgramSettings


def sections(typed: Any, section: type[Section]) -> Iterator[tuple[Any, type[Section]]]:
    """A TypedDict with the section of settings behind it, and those in it."""
    yield typed, section
    for key, annotation in keys_of(typed).items():
        if is_typeddict(annotation):
            inner = section.model_fields[key].annotation
            assert isinstance(inner, type)
            yield from sections(annotation, inner)


SECTIONS = list(sections(ModelFleetArgs, SECTION))


@pytest.mark.parametrize(("typed", "section"), SECTIONS, ids=lambda each: each.__name__)
def test_a_key_is_a_setting_and_a_setting_is_a_key(typed: Any, section: type[Section]) -> None:
    known = {name for name, field in section.model_fields.items() if not field.exclude}
    assert set(keys_of(typed)) - {"vpc_id", "interruption_queue", "role_arns", "node_bounds"} == known


class TestEffects:
    """Every argument changes what is registered, in the way that it says."""

    def pod(self, **args: Any) -> Any:
        return fleet(CHAT, **args)[f"{DEPLOYMENT}models/chat"].inputs["spec"]["template"]

    def test_image_cache(self) -> None:
        eks = {"cloud": "aws", "name": "c", "region": "us-east-1"}
        cache = {"account": "123456789012", "registries": ["docker.io"], "prefix": "prod"}
        spec = self.pod(cluster=eks, image_cache=cache)["spec"]
        hosts = {each["image"].partition("/")[0] for each in (*spec["initContainers"], *spec["containers"])}
        assert hosts == {"123456789012.dkr.ecr.us-east-1.amazonaws.com"}
        assert "/prod/docker-hub/" in spec["containers"][0]["image"]

    def test_namespace(self) -> None:
        recorded = fleet(CHAT, namespace="elsewhere")
        assert recorded["kubernetes:core/v1:Namespace::fleet-elsewhere"]
        assert recorded[f"{DEPLOYMENT}elsewhere/chat"].inputs["metadata"]["namespace"] == "elsewhere"
        assert set(recorded.exports["models"]) == {"chat"}

    def test_realization(self) -> None:
        eks = {"cloud": "aws", "name": "c", "region": "us-east-1"}
        recorded = fleet(CHAT, cluster=eks, realization="operator", custom_resources=True)
        kinds = {e.inputs["kind"] for e in recorded.graph if "kind" in e.inputs}
        assert kinds == {"CustomResourceDefinition", "Namespace", "OpenModel", "Playground"}
        model = recorded["kubernetes:llmaz.io/v1alpha1:OpenModel::fleet-opt"]
        definitions = {key for key in model.dependencies if "CustomResourceDefinition" in key}
        assert len(definitions) == 1
        assert recorded[ITEM].dependencies

    def test_workload(self) -> None:
        recorded = fleet(CHAT, workload="lws", custom_resources=True)
        (group,) = recorded.of("kubernetes:leaderworkerset.x-k8s.io/v1:LeaderWorkerSet")
        assert group.name == "fleet-models/chat"
        kinds = "inference-platform:index:CustomResources::fleet-kinds"
        definition = recorded["fleet-kinds-leaderworkersets"]
        assert definition.parent == kinds
        assert definition.key in recorded[ITEM].dependencies

    def test_runtimes(self) -> None:
        images = {edition: self.image(edition) for edition in ("upstream", "current")}
        assert images["upstream"] != images["current"]

    def image(self, edition: str) -> str:
        image: str = self.pod(runtimes=edition)["spec"]["containers"][0]["image"]
        return image

    def test_simulated_nodes(self) -> None:
        recorded = fleet(CHAT, simulated_nodes=True)
        nodes = recorded.of("kubernetes:core/v1:Node")
        assert [node.name for node in nodes] == [f"fleet-nodes-g5-2xlarge-{index}" for index in range(8)]
        assert {node.parent for node in nodes} == {"inference-platform:index:SimulatedNodes::fleet-nodes"}
        assert {node.key for node in nodes} <= set(recorded[ITEM].dependencies)

    def test_simulated_nodes_carry_what_every_pod_selects(self) -> None:
        recorded = fleet(CHAT, simulated_nodes=True, pods={"node_selector": {"pool": "gpu"}})
        nodes = recorded.of("kubernetes:core/v1:Node")
        assert {node.inputs["metadata"]["labels"]["pool"] for node in nodes} == {"gpu"}
        assert {node.key for node in nodes} <= set(recorded[ITEM].dependencies)

    @pytest.mark.parametrize(
        ("cache", "volume"),
        [
            ({"claim": "weights"}, {"persistentVolumeClaim": {"claimName": "weights"}}),
            ({"host_path": "/weights"}, {"hostPath": {"path": "/weights", "type": "DirectoryOrCreate"}}),
        ],
    )
    def test_model_cache(self, cache: dict[str, str], volume: dict[str, Any]) -> None:
        volumes = self.pod(model_cache=cache)["spec"]["volumes"]
        assert any(volume.items() <= each.items() for each in volumes), volumes

    def test_pods(self) -> None:
        pods = {
            "tolerations": [{"key": "team", "operator": "Exists"}],
            "service_account_name": "inference",
            "image_pull_secrets": ["registry"],
            "priority_class_name": "high",
            "annotations": {"a": "b"},
            "labels": {"c": "d"},
            "node_selector": {"pool": "gpu"},
        }
        template = self.pod(pods=pods)
        spec = template["spec"]
        assert pods["tolerations"][0] in spec["tolerations"]  # type: ignore[index]
        assert (spec["serviceAccountName"], spec["priorityClassName"]) == ("inference", "high")
        assert spec["imagePullSecrets"] == [{"name": "registry"}]
        assert spec["nodeSelector"]["pool"] == "gpu"
        assert template["metadata"]["annotations"]["a"] == "b"
        assert template["metadata"]["labels"]["c"] == "d"

    def test_model_buckets(self) -> None:
        recorded = fleet(CHAT, model_buckets=["weights"])
        (account,) = recorded.of("kubernetes:core/v1:ServiceAccount")
        assert account.name == "fleet-models-model-loader"
        assert account.dependencies == ("kubernetes:core/v1:Namespace::fleet-models",)
        assert account.key in recorded[ITEM].dependencies
        spec = recorded[f"{DEPLOYMENT}models/chat"].inputs["spec"]["template"]["spec"]
        assert spec["serviceAccountName"] == "model-loader"
        own = fleet(CHAT, model_buckets=["weights"], pods={"service_account_name": "own"})
        assert own.of("kubernetes:core/v1:ServiceAccount") == []

    def test_prerequisites(self) -> None:
        wanted = {
            "install": True,
            "monitoring": True,
            "grafana": False,
            "retention": "3d",
            "storage_gib": 50,
            "gpu_stack": "operator",
        }
        recorded = fleet(CHAT, prerequisites=wanted)
        charts = {release.name: release.inputs["values"] for release in recorded.of(RELEASE)}
        assert set(charts) == {"fleet-gpu-operator", "fleet-prometheus"}
        prometheus = charts["fleet-prometheus"]
        assert prometheus["grafana"] == {"enabled": False}
        assert prometheus["prometheus"]["prometheusSpec"]["retention"] == "3d"
        storage = prometheus["prometheus"]["prometheusSpec"]["storageSpec"]["volumeClaimTemplate"]
        assert storage["spec"]["resources"]["requests"]["storage"] == "50Gi"
        monitoring = recorded["inference-platform:index:Monitoring::fleet-monitoring"]
        assert f"{RELEASE}::fleet-prometheus" in monitoring.dependencies
        present = fleet(CHAT, prerequisites={"install": True, "present": ["nvidia-device-plugin"]})
        assert present.of(RELEASE) == []

    def test_prometheus_elsewhere(self) -> None:
        wanted = {
            "install": True,
            "present": ["prometheus", "nvidia-device-plugin"],
            "prometheus_url": "http://prom.obs.svc",
            "prometheus_port": 80,
        }
        (adapter,) = fleet(ELASTIC, prerequisites=wanted).of(RELEASE)
        assert adapter.inputs["values"]["prometheus"] == {"url": "http://prom.obs.svc", "port": 80}
        keda = fleet(ELASTIC, prerequisites={"install": True, "adapter": "keda"})
        assert "fleet-keda" in {release.name for release in keda.of(RELEASE)}
        assert [e.inputs["kind"] for e in keda.graph if e.inputs.get("kind") == "ScaledObject"]

    def test_front_door(self) -> None:
        door = {
            "expose": "gateway",
            "host": "models.example.com",
            "tls": {"kind": "cert-manager", "issuer": "letsencrypt"},
            "auth": {"kind": "api-key", "secrets": ["keys"]},
            "replicas": 3,
        }
        recorded = fleet(CHAT, front_door=door, prerequisites={"install": True})
        assert recorded.exports["endpoints"]["chat"]["url"] == "https://models.example.com/v1"
        gateway = recorded["inference-platform:index:FrontDoor::fleet-front-door"]
        after = {key.rpartition("::")[2] for key in gateway.dependencies}
        assert after >= {"fleet-envoy-gateway", "fleet-ai-gateway", "fleet-cert-manager", "fleet-models"}

    def test_hardening(self) -> None:
        wanted = {
            "pod_security": "baseline",
            "disruption_budgets": True,
            "topology_spread": True,
            "priority": "critical",
            "network_policies": True,
        }
        recorded = fleet(CHAT, hardening=wanted)
        sets = {"NetworkPolicies::fleet-network-policies", "PriorityClasses::fleet-priority-classes"}
        listed = {f"inference-platform:index:{name}" for name in sets}
        assert listed <= {e.key for e in recorded.graph}
        policies = {e.key for e in recorded.of("kubernetes:networking.k8s.io/v1:NetworkPolicy")}
        assert policies <= set(recorded[ITEM].dependencies)
        spec = recorded[f"{DEPLOYMENT}models/chat"].inputs["spec"]["template"]["spec"]
        assert spec["priorityClassName"] == "inference-critical"
        assert spec["topologySpreadConstraints"]
        labels = recorded["kubernetes:core/v1:Namespace::fleet-models"].inputs["metadata"]["labels"]
        assert labels["pod-security.kubernetes.io/warn"] == "baseline"
        assert recorded.of("kubernetes:policy/v1:PodDisruptionBudget")

    def test_cluster(self) -> None:
        known = {"cloud": "aws", "name": "c", "region": "us-east-1", "vpc_id": "vpc-1", "image": "bottlerocket"}
        door = {"expose": "load-balancer", "internal": True}
        more: dict[str, Any] = {"front_door": door, "prerequisites": {"install": True}}
        recorded = fleet(CHAT, cluster={**known, "node_autoscaler": "cluster-autoscaler"}, **more)
        charts = {release.name: release.inputs["values"] for release in recorded.of(RELEASE)}
        # Bottlerocket brings the device plugin.
        assert set(charts) == {"fleet-cluster-autoscaler", "fleet-load-balancer-controller"}
        controller = charts["fleet-load-balancer-controller"]
        assert (controller["clusterName"], controller["region"], controller["vpcId"]) == ("c", "us-east-1", "vpc-1")
        policies = fleet(CHAT, cluster={**known, "cidr": "10.1.0.0/16"}, hardening={"network_policies": True}, **more)
        blocks = [
            peer["ipBlock"]["cidr"]
            for policy in policies.of("kubernetes:networking.k8s.io/v1:NetworkPolicy")
            for rule in policy.inputs["spec"]["ingress"]
            for peer in rule["from"]
            if "ipBlock" in peer
        ]
        assert blocks == ["10.1.0.0/16"]


DEPLOYMENT = "kubernetes:apps/v1:Deployment::fleet-"
ITEM = "inference-platform:index:Playground::fleet-models/chat"
METRIC = {
    "type": "Pods",
    "pods": {
        "metric": {"name": "vllm:num_requests_waiting"},
        "target": {"type": "AverageValue", "averageValue": "4"},
    },
}
SCALED = {"minReplicas": 1, "maxReplicas": 3, "scaleTrigger": {"hpa": {"metrics": [METRIC]}}}
ELASTIC = [
    open_model("opt", "facebook/opt-125m", [A10G]),
    playground("chat", "opt", elasticConfig=SCALED),
]


def test_names_on_the_wire_are_those_of_the_settings() -> None:
    for typed, section in SECTIONS:
        for key in keys_of(typed):
            if key in section.model_fields:
                assert section.model_fields[key].alias == to_camel(key)
