"""Who reaches the models of an environment: front door, network policies, and what pods may do."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pulumi
import pytest
from pulumi.runtime import mocks

from tests.recorded import Entry, Recorded
from tests.resources.aws.aws_mock import Aws
from tests.stacks.reached import INTERNAL, MODELS, dev, policies
from tests.stacks.shipped import FLEET, as_shipped, run
from workbench.engine.values import UNKNOWN

NAMESPACE = "kubernetes:core/v1:Namespace"
DOOR = f"inference-platform:index:FrontDoor::{FLEET}-front-door"
ADDRESS = "a1.elb.us-east-1.amazonaws.com"
STORAGE_CLASS = "kubernetes:storage.k8s.io/v1:StorageClass"


pytestmark = pytest.mark.usefixtures("here")


class Balanced(Aws):
    """AWS that gives load balancers an address."""

    given: Mapping[str, str] = {"hostname": ADDRESS}

    def new_resource(self, args: mocks.MockResourceArgs) -> tuple[str, dict[str, Any]]:
        id_, outputs = super().new_resource(args)
        if outputs.get("spec", {}).get("type") == "LoadBalancer":
            outputs = {**outputs, "status": {"loadBalancer": {"ingress": [self.given]}}}
        return id_, outputs


def all_before(graph: Recorded, entry: Entry) -> set[str]:
    """Everything that a resource comes after, directly or not, its component included."""
    before: set[str] = set()
    waiting = [entry.key]
    while waiting:
        one = next(each for each in graph.graph if each.key == waiting[-1])
        waiting.pop()
        for key in (*one.dependencies, *([one.parent] if one.parent else ())):
            if key not in before:
                before.add(key)
                waiting.append(key)
    return before


class TestLoadBalancers:
    def test_the_endpoint_is_the_address_that_the_cloud_gives(self) -> None:
        endpoint = dev(Balanced(), frontDoor=INTERNAL).exports["endpoints"]["qwen-chat"]
        assert endpoint == {
            "url": f"http://{ADDRESS}:8080/v1",
            "api": "openai",
            "model": "qwen2-7b",
            "port": 8080,
            "clusterUrl": "http://qwen-chat-lb.models.svc.cluster.local:8080/v1",
        }

    def test_it_is_unknown_before_and_empty_while_there_is_none(self) -> None:
        assert dev(frontDoor=INTERNAL, preview=True).exports["endpoints"]["qwen-chat"]["url"] is UNKNOWN
        assert dev(frontDoor=INTERNAL).exports["endpoints"]["qwen-chat"]["url"] is None

    def test_the_controller_has_its_role_and_comes_first(self) -> None:
        graph = dev(frontDoor=INTERNAL)
        assert "identities-load-balancer-controller" in {e.name for e in graph.of("aws:iam/role:Role")}
        assert f"kubernetes:helm.sh/v3:Release::{FLEET}-load-balancer-controller" in graph[DOOR].dependencies

    def test_without_a_door_there_is_neither(self) -> None:
        graph = dev()
        assert "identities-load-balancer-controller" not in {e.name for e in graph.of("aws:iam/role:Role")}
        assert DOOR not in {e.key for e in graph.graph}
        assert set(graph.exports["endpoints"]["qwen-chat"]) == {"url", "api", "model", "port"}

    def test_an_address_in_numbers_will_do(self) -> None:
        mock = Balanced()
        mock.given = {"ip": "192.0.2.7"}
        assert dev(mock, frontDoor=INTERNAL).exports["endpoints"]["qwen-chat"]["url"] == "http://192.0.2.7:8080/v1"

    def test_outside_aws_the_cluster_has_its_own(self, tmp_path: Any) -> None:
        kubeconfig = tmp_path / "kubeconfig"
        kubeconfig.write_text("")
        graph = run("local", Balanced(), kubeconfig=str(kubeconfig), frontDoor=INTERNAL, models=MODELS)
        assert "load-balancer-controller" not in graph.exports["prerequisites"]
        assert graph.exports["endpoints"]["qwen-chat"]["url"] == f"http://{ADDRESS}:8080/v1"


EXPOSED = """\
apiVersion: inference.llmkube.dev/v1alpha1
kind: Model
metadata: {name: m}
spec: {source: https://example.com/m.gguf}
---
apiVersion: inference.llmkube.dev/v1alpha1
kind: InferenceService
metadata: {name: s}
spec:
  modelRef: m
  skipModelInit: true
  resources: {cpu: "1", memory: 1Gi}
  nodeSelector: {node.kubernetes.io/instance-type: m7i.xlarge}
  endpoint: {type: TYPE}
"""


class TestAModelsOwnLoadBalancer:
    """An InferenceService may ask for one by itself."""

    def graph(self, folder: Path, kind: str = "LoadBalancer", **changes: Any) -> Recorded:
        text = EXPOSED.replace("TYPE", kind)
        if "realization" in changes:  # the operator leaves a server without a download no model
            text = text.replace("  skipModelInit: true\n", "")
        (folder / "m.yaml").write_text(text)
        return dev(Balanced(), models=[str(folder / "m.yaml")], **changes)

    def test_its_address_is_the_endpoint(self, tmp_path: Path) -> None:
        endpoint = self.graph(tmp_path).exports["endpoints"]["s"]
        assert endpoint["url"] == f"http://{ADDRESS}:8080/v1"
        assert endpoint["clusterUrl"] == "http://s.models.svc.cluster.local:8080/v1"

    def test_it_is_in_the_private_network(self, tmp_path: Path) -> None:
        annotations = self.graph(tmp_path)[f"{FLEET}-models/s-lb"].inputs["metadata"]["annotations"]
        assert annotations["service.beta.kubernetes.io/aws-load-balancer-scheme"] == "internal"
        assert "annotations" not in self.graph(tmp_path, "ClusterIP")[f"{FLEET}-models/s-lb"].inputs["metadata"]

    def test_policies_let_it_through(self, tmp_path: Path) -> None:
        """It connects from its own addresses in the VPC, whoever its client is; its clients are named to it."""
        closed: dict[str, Any] = {
            "hardening": {"networkPolicies": True},
            "frontDoor": {"clientCidrs": ["192.0.2.0/24"]},
        }
        graph = self.graph(tmp_path, **closed)
        assert graph[f"{FLEET}-models/s-lb"].inputs["spec"]["loadBalancerSourceRanges"] == ["192.0.2.0/24"]
        blocks = [
            peer["ipBlock"] for rule in policies(graph)["s"]["ingress"] for peer in rule["from"] if "ipBlock" in peer
        ]
        assert blocks == [{"cidr": "10.0.0.0/16"}]
        with pytest.raises(pulumi.RunError, match=r"frontDoor\.clientCidrs: has no effect, because no load balancer"):
            self.graph(tmp_path, "ClusterIP", **closed)

    def test_without_clients_it_is_for_the_vpc(self, tmp_path: Path) -> None:
        spec = self.graph(tmp_path)[f"{FLEET}-models/s-lb"].inputs["spec"]
        assert spec["loadBalancerSourceRanges"] == ["10.0.0.0/16"]

    def test_an_operators_would_be_open_to_the_internet(self, tmp_path: Path) -> None:
        operated: dict[str, Any] = {"realization": "operator", "runtimes": "upstream"}
        with pytest.raises(pulumi.RunError, match=r"InferenceService/s: spec\.endpoint\.type: .* to the internet"):
            self.graph(tmp_path, **operated)
        assert self.graph(tmp_path, "ClusterIP", **operated).exports["models"]

    def test_its_controller_is_installed(self, tmp_path: Path) -> None:
        reasons = self.graph(tmp_path).exports["prerequisites"]
        assert reasons["load-balancer-controller"] == ["InferenceService/s"]
        assert "load-balancer-controller" not in self.graph(tmp_path, "NodePort").exports["prerequisites"]


class TestGateway:
    def test_limits_of_all_proxies_are_counted_in_a_redis(self) -> None:
        """The policy asks Envoy Gateway's service to count, which counts where the chart's values say."""
        redis = "redis.example.com:6379"
        graph = dev(frontDoor={"expose": "gateway", "internal": True, "rateLimit": {"tokens": 9, "redis": redis}})
        (policy,) = [e for e in graph.graph if e.inputs.get("kind") == "BackendTrafficPolicy"]
        assert policy.inputs["spec"]["rateLimit"]["global"]["rules"][0]["limit"]["requests"] == 9
        values = graph[f"kubernetes:helm.sh/v3:Release::{FLEET}-envoy-gateway"].inputs["values"]
        assert values["config"]["envoyGateway"]["rateLimit"]["backend"]["redis"] == {"url": redis}

    def test_all_models_are_at_one_address(self) -> None:
        endpoints = as_shipped("prod").exports["endpoints"]
        assert {(e["url"], e["port"]) for e in endpoints.values()} == {("https://models.example.com/v1", 443)}
        assert len({e["model"] for e in endpoints.values()}) == len(endpoints)

    def test_it_asks_who_calls(self) -> None:
        (policy,) = as_shipped("prod").of("kubernetes:gateway.envoyproxy.io/v1alpha1:SecurityPolicy")
        assert policy.inputs["spec"]["jwt"]["providers"][0]["issuer"] == "https://login.example.com"

    def test_it_comes_after_its_charts(self) -> None:
        after = {
            key.rpartition("::")[2].removeprefix(f"{FLEET}-") for key in as_shipped("staging")[DOOR].dependencies
        }
        assert after >= {"envoy-gateway", "ai-gateway", "cert-manager", "load-balancer-controller"}


CLAIM = ["stacks/models/llmkube-tinyllama-cpu.yaml"]


class TestVolumes:
    """A claim that nobody meets keeps its pods waiting."""

    def test_claims_need_the_driver(self) -> None:
        with pytest.raises(pulumi.RunError) as caught:
            dev(models=CLAIM)
        assert (
            "cluster.addons: PersistentVolumeClaim/llmkube-model-cache in namespace models will stay "
            'Pending, because no add-on provisions volumes; add aws-ebs-csi-driver: ""'
        ) in str(caught.value)

    def test_so_does_prometheus_if_it_keeps_samples(self) -> None:
        with pytest.raises(pulumi.RunError, match=r"cluster\.addons: Prometheus \(prerequisites\.storageGib\)"):
            dev(prerequisites={"install": True, "monitoring": True, "storageGib": 50})
        assert dev(prerequisites={"install": True, "monitoring": True}).exports["models"]

    def test_the_default_class_encrypts_and_comes_before_claims(self) -> None:
        cluster = {
            "version": "1.35",
            "publicAccessCidrs": ["203.0.113.0/24"],
            "addons": {"aws-ebs-csi-driver": ""},
        }
        graph = dev(models=CLAIM, cluster=cluster)
        (addon,) = (e for e in graph.of("aws:eks/addon:Addon") if e.inputs["addonName"] == "aws-ebs-csi-driver")
        assert addon.inputs["configurationValues"] == '{"defaultStorageClass": {"enabled": false}}'
        (encrypted,) = (
            entry
            for entry in graph.of(STORAGE_CLASS)
            if entry.inputs["metadata"]["annotations"]["storageclass.kubernetes.io/is-default-class"] == "true"
        )
        assert encrypted.inputs["parameters"] == {"type": "gp3", "encrypted": "true"}
        claims = graph.of("kubernetes:core/v1:PersistentVolumeClaim")
        assert claims
        for claim in claims:
            assert encrypted.key in all_before(graph, claim)


class TestRefusals:
    @pytest.mark.parametrize(
        ("changes", "expected"),
        [
            ({"frontDoor": {"expose": "load-balancer"}}, "frontDoor.internal: must be true"),
            ({"frontDoor": {"expose": "gatway"}}, "'none', 'gateway' or 'load-balancer'"),
            ({"frontDoor": {"expose": "gatway"}}, "found 'gatway'; did you mean 'gateway'?"),
            ({"frontDoor": {"tls": {"kind": "ACM"}}}, "'cert-manager' or 'acm', found 'ACM'; did you mean 'acm'?"),
            ({"frontDoor": {"tls": {"issuerKind": "clusterissuer"}}}, "did you mean 'ClusterIssuer'?"),
            (
                {"frontDoor": {"auth": {"kind": "apikey"}}},
                "frontDoor.auth.kind: must be 'none', 'api-key' or",
            ),
            ({"hardening": {"podSecurity": "Restricted"}}, "found 'Restricted'; did you mean 'restricted'?"),
            ({"hardening": {"priority": "standart"}}, "hardening.priority: must be 'critical', 'standard'"),
            (
                {"frontDoor": {"expose": "gateway", "internal": True, "rateLimit": {"tokens": 9}}},
                "frontDoor.rateLimit.tokens: requires rateLimit.redis",
            ),
            ({"frontDoor": {"rateLimit": {"unit": "minutes"}}}, "did you mean 'minute'?"),
            ({"frontDoor": {"exposes": "none"}}, "frontDoor.exposes: unknown key; did you mean 'expose'?"),
            (
                {"frontDoor": INTERNAL, "prerequisites": {}},
                "frontDoor.expose: 'load-balancer' requires load-balancer-controller; set prerequisites.install",
            ),
            (
                {"realization": "operator", "runtimes": "upstream", "hardening": {"disruptionBudgets": True}},
                "hardening: has no effect with realization 'operator'",
            ),
            (
                {
                    "frontDoor": INTERNAL,
                    "hardening": {"networkPolicies": True},
                    "network": {
                        "vpcId": "vpc-0a1b",
                        "privateSubnets": {"us-east-1a": "subnet-1", "us-east-1b": "subnet-2"},
                        "zones": ["us-east-1a", "us-east-1b"],
                    },
                },
                "frontDoor.balancerCidrs: is required with network policies and an existing VPC",
            ),
            (
                {"frontDoor": {**INTERNAL, "clientCidrs": ["10.0.0.1/8"]}},
                "frontDoor.clientCidrs[0]: must be an address range whose host bits are zero",
            ),
            ({"hardening": {"priority": "high"}}, "hardening.priority: must be 'critical', 'standard', "),
        ],
    )
    def test_of_settings(self, changes: dict[str, Any], expected: str) -> None:
        with pytest.raises(pulumi.RunError) as caught:
            dev(**changes)
        assert expected in str(caught.value)

    def test_a_controller_that_is_there_will_do(self) -> None:
        graph = dev(frontDoor=INTERNAL, prerequisites={"present": ["load-balancer-controller"]})
        assert DOOR in {e.key for e in graph.graph}

    def test_keda_feeds_no_operators_autoscalers(self) -> None:
        said = {"install": True, "adapter": "keda"}
        changes: dict[str, Any] = {"models": ["stacks/models/gemma-elastic.yaml"], "prerequisites": said}
        with pytest.raises(
            pulumi.RunError, match="keda cannot serve metrics to autoscalers that an operator creates"
        ):
            dev(realization="operator", runtimes="upstream", **changes)
        assert dev(**changes).exports["models"]


GATED = {"elbv2.k8s.aws/pod-readiness-gate-inject": "enabled"}
GATEWAY = {"expose": "gateway", "internal": True, "host": "models.example.com"}


class TestReadinessGates:
    """Pods get them when they are created, by the label of their namespace (AWS Load Balancer Controller,
    docs/deploy/pod_readiness_gate.md): it is there before Envoy Gateway, and before what replaces its proxies."""

    def test_the_namespace_of_the_proxies_is_labelled_before_there_are_any(self) -> None:
        graph = dev(frontDoor=GATEWAY)
        namespace = graph[f"{NAMESPACE}::{FLEET}-envoy-gateway-system"]
        assert namespace.inputs["metadata"]["labels"] == GATED
        assert namespace.key in graph[f"inference-platform:index:EnvoyGateway::{FLEET}-envoy-gateway"].dependencies
        assert f"kubernetes:helm.sh/v3:Release::{FLEET}-envoy-gateway" in graph[DOOR].dependencies
        controller = f"kubernetes:helm.sh/v3:Release::{FLEET}-load-balancer-controller"
        assert controller in namespace.dependencies

    def test_that_of_models_behind_their_own_is_too(self) -> None:
        labels = {
            each.name.removeprefix(f"{FLEET}-"): each.inputs["metadata"].get("labels")
            for each in dev(frontDoor=INTERNAL).of(NAMESPACE)
        }
        assert labels["models"] == GATED
        assert [name for name, each in labels.items() if each == GATED] == ["models"]

    @pytest.mark.parametrize(
        "door", [{}, {**GATEWAY, "rollout": {"readinessGates": False}}], ids=["no door", "turned off"]
    )
    def test_no_others_are(self, door: Mapping[str, Any]) -> None:
        labels = [each.inputs["metadata"].get("labels") for each in dev(frontDoor=dict(door)).of(NAMESPACE)]
        assert GATED not in labels
