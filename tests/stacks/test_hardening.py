"""Network policies, profiles, budgets and priorities of an environment."""

import pulumi
import pytest

from tests.stacks.reached import INTERNAL, POLICY, dev, policies
from tests.stacks.shipped import FLEET, as_shipped

pytestmark = pytest.mark.usefixtures("here")


class TestNetworkPolicies:
    def test_behind_a_gateway_only_it_and_the_monitoring_come_in(self) -> None:
        graph = as_shipped("prod")
        namespaces = {
            peer["namespaceSelector"]["matchLabels"]["kubernetes.io/metadata.name"]
            for name, spec in policies(graph).items()
            if not name.endswith(".group")
            for rule in spec["ingress"]
            for peer in rule["from"]
        }
        # Of a pair of prefill and decode, Kthena's router asks both.
        assert namespaces == {"envoy-gateway-system", "monitoring", "kthena-system"}
        workloads = {
            name for model in graph.exports["models"].values() for name in model.get("workloads", [model["workload"]])
        }
        assert {name for name in policies(graph) if "." not in name} == workloads

    def test_they_come_before_the_pods(self) -> None:
        """Each model needs the policies of its own pods alone, so that an edit of one model touches no other one."""
        graph = as_shipped("prod")
        guards = {e.key for e in graph.of(POLICY)}
        # A route leads to pods of others.
        exported = {name: m for name, m in graph.exports["models"].items() if m["kind"] != "ModelRoute"}
        models = {name: (m["kind"], {*m.get("workloads", [m["workload"]])}) for name, m in exported.items()}
        for name, (kind, sets) in (models | {"mistral-nemo": ("ModelServing", {"mistral-nemo"})}).items():
            own = {key for key in guards if key.rpartition("/")[2].removesuffix(".group") in sets}
            assert own, name
            needed = graph[f"inference-platform:index:{kind}::{FLEET}-models/{name}"].dependencies
            assert guards & {*needed} == own

    def test_the_cluster_enforces_them(self) -> None:
        (addon,) = (e for e in as_shipped("dev").of("aws:eks/addon:Addon") if e.inputs["addonName"] == "vpc-cni")
        assert '"enableNetworkPolicy": "true"' in addon.inputs["configurationValues"]

    def test_load_balancers_are_called_from_the_network(self) -> None:
        graph = dev(frontDoor=INTERNAL, hardening={"networkPolicies": True})
        blocks = [
            peer["ipBlock"]["cidr"]
            for spec in policies(graph).values()
            for rule in spec["ingress"]
            for peer in rule["from"]
            if "ipBlock" in peer
        ]
        assert blocks == ["10.0.0.0/16"] * 2

    def test_none_unless_asked_for(self) -> None:
        assert policies(dev()) == {}


class TestHardening:
    def test_pods_have_the_profile_and_the_priority(self) -> None:
        graph = as_shipped("prod")
        spec = graph[f"kubernetes:apps/v1:Deployment::{FLEET}-models/qwen-cpu"].inputs["spec"]["template"]["spec"]
        assert spec["priorityClassName"] == "inference-critical"
        assert spec["automountServiceAccountToken"] is False
        assert spec["topologySpreadConstraints"][0]["topologyKey"] == "topology.kubernetes.io/zone"
        classes = {e.key for e in graph.of("kubernetes:scheduling.k8s.io/v1:PriorityClass") if "inference" in e.name}
        assert len(classes) == 3
        assert classes <= set(graph[f"inference-platform:index:Playground::{FLEET}-models/qwen-cpu"].dependencies)

    def test_a_model_of_several_replicas_has_a_budget(self) -> None:
        budgets = {
            e.inputs["metadata"]["name"] for e in as_shipped("prod").of("kubernetes:policy/v1:PodDisruptionBudget")
        }
        of_kthena = {"mistral-nemo", "phi4-l40s", "qwen2-5-7b-a10g", "qwen2-5-7b-l40s", "qwen3-8b-l40s"}
        pairs = {"qwen3-pd-decode"}  # one over two LeaderWorkerSets
        assert budgets == {"embeddings", "gemma-elastic", "phi4-autoscaled", "qwen-cpu", *of_kthena, *pairs}

    def test_namespaces_say_which_profile_is_meant(self) -> None:
        labels = as_shipped("prod")[f"kubernetes:core/v1:Namespace::{FLEET}-models"].inputs["metadata"]["labels"]
        assert labels == {
            "pod-security.kubernetes.io/audit": "restricted",
            "pod-security.kubernetes.io/warn": "restricted",
        }
        assert "labels" not in dev()[f"kubernetes:core/v1:Namespace::{FLEET}-models"].inputs["metadata"]

    def test_who_stays_outside_the_profile_is_told(self, monkeypatch: pytest.MonkeyPatch) -> None:
        warned: list[str] = []
        monkeypatch.setattr(pulumi.log, "warn", lambda message, _: warned.append(message))
        dev(hardening={"podSecurity": "restricted"}, models=["stacks/models/phi-hostpath.yaml"])
        (line,) = (line for line in warned if "(hostPath)" in line)
        assert line.startswith(
            "Pulumi.test.yaml: inference-platform:hardening.podSecurity: 'restricted' is not met (hostPath) by "
        )
        assert "Playground/phi-hostpath (model-volume)" in line
        warned.clear()
        dev(models=["stacks/models/phi-hostpath.yaml"])
        assert warned == []
