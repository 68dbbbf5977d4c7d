"""What must be installed for which models, why, and in an order that works (lws-hpa spec 2.6)."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.checks.metrics.words import Adapter
from components.fleet.nodes.groups import node_groups
from components.fleet.rendered import Fleet
from components.fleet.words import Edition, Realization
from components.plan.prerequisites.charts import charts
from components.plan.prerequisites.needed import (
    ClusterFacts,
    GpuStack,
    Prerequisite,
    check_prerequisites,
    prerequisites,
)
from tests.clouds.aws.environments import flavor, small
from tests.fleets import fleet_of, open_model

P5 = {"nvidia.com/gpu": 8}
GPU_READY = frozenset({"nvidia.com/gpu"})
AWS: dict[str, Any] = {"version": "1.35", "node_autoscaler": "cluster-autoscaler"}


DOOR = tuple((name, "expose: gateway") for name in ("load-balancer-controller", "envoy-gateway", "ai-gateway"))
"""What a front door asks for."""


def needed(fleet: Fleet, more: Iterable[tuple[str, str]] = (), **facts: Any) -> dict[str, Prerequisite]:
    listed = prerequisites(fleet, node_groups(fleet), ClusterFacts(**facts), more)
    return {each.chart.name: each for each in listed}


def model(kind: str = "g5.xlarge", limits: dict[str, Any] | None = None, **params: str) -> dict[str, Any]:
    made = flavor(kind, limits)
    made["params"] |= params
    return open_model(flavors=[made])


def scaled(*metrics: dict[str, Any]) -> dict[str, Any]:
    made = small("p", "m")
    del made["spec"]["replicas"]
    trigger: dict[str, Any] = {"hpa": {"metrics": list(metrics)}} if metrics else {"hpa": {}}
    made["spec"]["elasticConfig"] = {"minReplicas": 1, "maxReplicas": 3, "scaleTrigger": trigger}
    return made


QUEUE = {
    "type": "Pods",
    "pods": {
        "metric": {"name": "vllm:num_requests_waiting"},
        "target": {"type": "AverageValue", "averageValue": "5"},
    },
}
POLICY = {
    "apiVersion": "workload.serving.volcano.sh/v1alpha1",
    "kind": "AutoscalingPolicy",
    "metadata": {"name": "queue"},
    "spec": {"metrics": [{"metricName": "vllm:num_requests_waiting", "targetValue": "5"}]},
}
PLAIN = fleet_of(open_model(flavors=None), small("p", "m"))
GPU = fleet_of(model(), small("p", "m"))


class TestOnlyWhatIsNeeded:
    def test_a_deployment_alone_needs_nothing(self) -> None:
        assert needed(PLAIN) == {}

    def test_gpus_need_their_device_plugin(self) -> None:
        found = needed(GPU)
        assert set(found) == {"nvidia-device-plugin"}
        assert found["nvidia-device-plugin"].reasons == ("nodes g5-xlarge",)

    def test_a_replica_over_several_nodes_adds_exactly_leader_worker_set(self) -> None:
        fleet = fleet_of(model("p5.48xlarge", P5, TP="8", PP="2"), small("p", "m"))
        assert set(needed(fleet)) - set(needed(GPU)) == {"leader-worker-set"}
        assert needed(fleet)["leader-worker-set"].reasons == ("Playground/p",)

    def test_an_autoscaler_on_cpu_adds_exactly_metrics_server(self) -> None:
        assert set(needed(fleet_of(model(), scaled()))) - set(needed(GPU)) == {"metrics-server"}

    def test_an_autoscaler_on_a_queue_adds_exactly_the_metric_chain(self) -> None:
        fleet = fleet_of(model(), scaled(QUEUE))
        assert set(needed(fleet)) - set(needed(GPU)) == {"prometheus", "prometheus-adapter"}
        assert set(needed(fleet, adapter=Adapter.KEDA)) - set(needed(GPU)) == {"prometheus", "keda"}

    def test_realization_operator_adds_exactly_its_operator_and_what_that_needs(self) -> None:
        fleet = fleet_of(model(), small("p", "m"), realization=Realization.OPERATOR, runtimes=Edition.UPSTREAM)
        assert set(needed(fleet)) - set(needed(GPU)) == {"llmaz", "leader-worker-set"}
        assert needed(fleet)["leader-worker-set"].reasons == ("llmaz",)

    def test_kthenas_operator_comes_with_its_router_and_certificates(self) -> None:
        fleet = fleet_of(POLICY, realization=Realization.OPERATOR)
        assert set(needed(fleet)) == {"kthena", "kthena-router", "cert-manager"}
        assert set(needed(fleet, present=frozenset({"kthena"}))) == {"cert-manager", "kthena-router"}

    @pytest.mark.parametrize("word", ["kthena-router", "volcano", "leader-worker-set"])
    def test_a_need_may_be_the_name_of_a_chart(self, word: str) -> None:
        (item,) = fleet_of(POLICY, realization=Realization.OPERATOR).rendered
        fleet = Fleet((replace(item, requires=frozenset({word})),), ())
        assert set(needed(fleet)) == {word}
        assert needed(fleet)[word].reasons == (item.title,)

    @pytest.mark.parametrize(
        ("kind", "limits", "expected"),
        [
            ("inf2.xlarge", {"aws.amazon.com/neuron": 1}, {"neuron-device-plugin"}),
            ("p5.48xlarge", {**P5, "vpc.amazonaws.com/efa": 32}, {"nvidia-device-plugin", "efa-device-plugin"}),
            ("m7i.xlarge", {"cpu": "1"}, set()),
        ],
    )
    def test_devices(self, kind: str, limits: dict[str, Any], expected: set[str]) -> None:
        assert set(needed(fleet_of(model(kind, limits), small("p", "m")))) == expected

    def test_bottlerocket_has_a_device_plugin_of_its_own(self) -> None:
        assert needed(GPU, on_nodes=GPU_READY) == {}
        assert set(needed(GPU, on_nodes=GPU_READY, monitoring=True)) == {"prometheus", "dcgm-exporter"}

    def test_the_gpu_operator_takes_the_place_of_plugin_and_exporter(self) -> None:
        assert set(needed(GPU, gpu_stack=GpuStack.OPERATOR, monitoring=True)) == {"prometheus", "gpu-operator"}

    def test_a_cloud_needs_its_node_autoscaler(self) -> None:
        assert set(needed(PLAIN, **AWS)) == {"cluster-autoscaler"}
        assert set(needed(PLAIN, **{**AWS, "node_autoscaler": "karpenter"})) == {"karpenter"}

    def test_one_front_door_needs_gateway_and_load_balancers(self) -> None:
        found = needed(PLAIN, DOOR, **AWS)
        assert set(found) == {
            *("cluster-autoscaler", "load-balancer-controller", "envoy-gateway", "ai-gateway-crds", "ai-gateway"),
        }

    def test_what_is_present_is_not_installed_again(self) -> None:
        fleet = fleet_of(model(), scaled(QUEUE))
        assert set(needed(fleet, present=frozenset({"prometheus", "nvidia-device-plugin"}))) == {"prometheus-adapter"}


def before(found: dict[str, Prerequisite], first: str, second: str) -> bool:
    names = list(found)
    return names.index(first) < names.index(second) and first in found[second].after


class TestOrder:
    def test_of_the_metric_chain(self) -> None:
        assert before(needed(fleet_of(model(), scaled(QUEUE))), "prometheus", "prometheus-adapter")

    def test_of_gpu_monitoring(self) -> None:
        found = needed(GPU, monitoring=True)
        assert before(found, "prometheus", "dcgm-exporter")
        assert before(found, "nvidia-device-plugin", "dcgm-exporter")

    def test_of_the_gateway(self) -> None:
        found = needed(PLAIN, DOOR, **AWS)
        assert before(found, "envoy-gateway", "ai-gateway")
        assert before(found, "ai-gateway-crds", "ai-gateway")

    def test_the_load_balancer_controller_comes_before_every_service(self) -> None:
        found = needed(PLAIN, DOOR, **AWS)
        assert next(iter(found)) == "load-balancer-controller"
        assert all(
            "load-balancer-controller" in each.after for name, each in found.items() if name != next(iter(found))
        )

    @given(
        st.sampled_from([PLAIN, GPU, fleet_of(model(), scaled(QUEUE)), fleet_of(model(), scaled())]),
        st.builds(
            dict,
            adapter=st.sampled_from(Adapter),
            gpu_stack=st.sampled_from(GpuStack),
            monitoring=st.booleans(),
            on_nodes=st.sampled_from([frozenset(), GPU_READY]),
            node_autoscaler=st.sampled_from(["", "karpenter", "cluster-autoscaler"]),
            present=st.frozensets(st.sampled_from(sorted(charts())), max_size=4),
        ),
        st.lists(st.sampled_from(DOOR), unique=True),
    )
    def test_everything_comes_after_all_it_needs(
        self, fleet: Fleet, facts: dict[str, Any], more: list[tuple[str, str]]
    ) -> None:
        known = ClusterFacts(**facts)
        listed = prerequisites(fleet, node_groups(fleet), known, more)
        names = [each.chart.name for each in listed]
        assert len(set(names)) == len(names)
        assert not set(names) & known.present
        for index, each in enumerate(listed):
            assert set(each.after) <= set(names[:index])
            assert each.reasons
            there = {thing for name in (*names[:index], *known.present) for thing in charts()[name].provides}
            on_node = set(known.on_nodes)
            assert set(each.chart.needs) <= there | on_node, each


def refused(fleet: Fleet, more: Iterable[tuple[str, str]] = (), **facts: Any) -> list[str]:
    known = ClusterFacts(file="Pulumi.dev.yaml", **facts)
    listed = prerequisites(fleet, node_groups(fleet), known, more)
    return [str(problem) for problem in check_prerequisites(listed, known)]


class TestRefusals:
    def test_two_owners_of_one_thing(self) -> None:
        (text,) = refused(GPU, gpu_stack=GpuStack.OPERATOR, present=frozenset({"nvidia-device-plugin"}))
        assert text.startswith("Pulumi.dev.yaml: prerequisites.present: ")
        assert (
            "gpu-operator (for nodes g5-xlarge) and nvidia-device-plugin both provide nvidia.com/gpu; choose one"
            in text
        )

    def test_two_node_autoscalers(self) -> None:
        (text,) = refused(PLAIN, node_autoscaler="karpenter", present=frozenset({"cluster-autoscaler"}))
        assert "cluster-autoscaler and karpenter (for node autoscaling) both provide node-autoscaler" in text

    def test_adapter_and_keda_share_by_api(self) -> None:
        """Both may be there: the adapter then leaves external metrics to KEDA (lws-hpa spec 2.1)."""
        assert refused(fleet_of(model(), scaled(QUEUE)), present=frozenset({"keda"})) == []

    def test_a_kubernetes_that_is_too_old(self) -> None:
        texts = refused(PLAIN, DOOR, version="1.31")
        assert any(
            "envoy-gateway v1.9.0 requires Kubernetes 1.32 or later, but the cluster runs 1.31" in t for t in texts
        )
        assert refused(PLAIN, DOOR, version="1.32") == []

    def test_an_unknown_name(self) -> None:
        (text,) = refused(PLAIN, present=frozenset({"promtheus"}))
        assert "unknown prerequisite 'promtheus'; did you mean 'prometheus'?" in text

    def test_nothing_is_wrong_with_what_works(self) -> None:
        assert refused(GPU, monitoring=True, **AWS) == []
