"""A stack whose variants are the controller's: what is installed, in which order, and what it must be told."""

from typing import Any

import pytest

from components.checks.metrics.chain import MetricSettings
from components.checks.metrics.words import Adapter
from components.families import objects
from components.fleet.levels import ServiceLevels
from components.fleet.options import Options
from components.fleet.words import Realization, WorkloadChoice
from components.plan.environment import Environment
from components.plan.plan import Plan, plan
from components.plan.prerequisites.needed import ClusterFacts
from tests.families.llmd.operated.support import HOME, MODEL, Object, levels, served, variant
from tests.recorded import Entry, Recorded
from tests.resources.serving.manifests import fleet

URL = "https://prometheus.observability.svc:9090"
OWN = {"llmd": Realization.OPERATOR}
VARIANT = "kubernetes:llmd.ai/v1alpha1:VariantAutoscaling"
CONTROLLER = "inference-platform:index:VariantAutoscaler"


def planned(given: ServiceLevels | None = None, metrics: MetricSettings | None = None, **facts: Any) -> Plan:
    options = Options(levels=given or levels(prometheus=URL), realizations=OWN, workload=WorkloadChoice.DEPLOYMENT)
    cluster = ClusterFacts(**{"version": "1.35", **facts})
    environment = Environment(options, metrics or MetricSettings(), cluster, install=True)
    return plan(objects([*served("chat"), variant()]), environment)


def wrong(found: Plan) -> list[str]:
    return [str(problem) for problem in found.problems if problem.is_error]


class TestPlanned:
    def test_it_is_needed_by_the_variants_and_needs_prometheus(self) -> None:
        found = planned()
        assert not wrong(found)
        names = [each.chart.name for each in found.prerequisites]
        assert names.index("prometheus") < names.index("wva")
        assert {"prometheus-adapter", "wva"} <= set(names)
        (own,) = [each for each in found.prerequisites if each.chart.name == "wva"]
        assert own.reasons == ("VariantAutoscaling/chat",)
        assert "prometheus" in own.after

    def test_natively_it_is_not(self) -> None:
        options = Options(levels=levels(), workload=WorkloadChoice.DEPLOYMENT)
        found = plan(objects(served("chat")), Environment(options, cluster=ClusterFacts(), install=True))
        assert "wva" not in [each.chart.name for each in found.prerequisites]

    def test_where_it_is_there_already_nothing_is_asked_of_it(self) -> None:
        found = planned(levels(), present=frozenset({"wva"}))
        assert not wrong(found)
        assert "wva" not in [each.chart.name for each in found.prerequisites]

    def test_without_https_it_would_not_start(self) -> None:
        (problem,) = wrong(planned(levels()))
        assert problem.startswith("<program>: serviceLevels.controller.prometheusUrl: is required")
        assert "http://kube-prometheus-stack-prometheus.monitoring.svc:9090 is not https" in problem

    def test_the_prometheus_of_everybody_is_its_own_too_if_it_is_https(self) -> None:
        assert not wrong(planned(levels(), MetricSettings(prometheus=URL)))

    def test_a_kubernetes_that_is_too_old(self) -> None:
        (problem,) = [line for line in wrong(planned(version="1.31")) if "wva" in line]
        assert "wva c0f645c requires Kubernetes 1.32 or later" in problem

    @pytest.mark.parametrize("adapter", Adapter)
    def test_external_metrics_have_one_provider(self, adapter: Adapter) -> None:
        """WVA spec 10, 14: with two, neither knows that it lost."""
        found = planned(metrics=MetricSettings(adapter=adapter), adapter=adapter)
        assert not wrong(found)
        names = {each.chart.name for each in found.prerequisites}
        assert names & {"keda", "prometheus-adapter"} == {str(adapter)}
        (scaler,) = [each for _, each in found.fleet.autoscalers]
        kind = "ScaledObject" if adapter == Adapter.KEDA else "HorizontalPodAutoscaler"
        assert scaler.body["kind"] == kind

    def test_a_provider_that_is_there_already_keeps_the_other_one_out(self) -> None:
        (problem,) = wrong(planned(present=frozenset({"keda"})))
        assert problem.startswith("<program>: prerequisites.adapter: keda, which is in the cluster already")
        assert "inferno_desired_replicas" in problem
        taken = planned(metrics=MetricSettings(adapter=Adapter.KEDA), present=frozenset({"keda"}))
        assert not wrong(taken)


ARGS: dict[str, Any] = {
    "namespace": "models",
    "workload": "deployment",
    "realizations": {"llmd": "operator"},
    "prerequisites": {"install": True},
    "service_levels": {
        "classes": [{"name": "Premium", "priority": 1, "models": {MODEL: {"itl_ms": 24, "ttft_ms": 500}}}],
        "accelerators": {"A100": {"cents_per_hour": 40.0, "device": "NVIDIA-A100-PCIE-80GB"}},
        "controller": {"prometheus_url": URL},
    },
}


def registered(**args: Any) -> Recorded:
    return fleet([*served("chat"), variant()], **{**ARGS, **args})


def of_kind(recorded: Recorded, kind: str) -> list[Entry]:
    return [each for each in recorded.graph if each.inputs.get("kind") == kind]


class TestRegistered:
    def test_a_variant_comes_after_the_controller_and_that_after_prometheus(self) -> None:
        recorded = registered()
        (own,) = recorded.of(VARIANT)
        (controller,) = recorded.of(CONTROLLER)
        # A component that something comes after stands for all that is in it.
        children = {each.key for each in recorded.graph if each.parent == controller.key}
        assert children <= set(own.dependencies)
        assert "kubernetes:helm.sh/v3:Release::fleet-prometheus" in controller.dependencies
        assert "wva" in recorded.exports["prerequisites"]

    def test_all_three_config_maps_are_there(self) -> None:
        found = {each.inputs["metadata"]["name"]: each for each in of_kind(registered(), "ConfigMap")}
        names = {
            "accelerator-unit-costs",
            "service-classes-config",
            "inferno-autoscaler-variantautoscaling-config",
        }
        assert names <= set(found)
        assert {found[name].inputs["metadata"]["namespace"] for name in names} == {HOME}
        settings = found["inferno-autoscaler-variantautoscaling-config"]
        assert settings.inputs["data"]["PROMETHEUS_BASE_URL"] == URL
        # Its pods start with it, and not after what waits for nodes of the models.
        assert settings.parent.startswith(CONTROLLER)

    def test_its_namespace_is_made_once(self) -> None:
        recorded = registered()
        (namespace,) = [each for each in of_kind(recorded, "Namespace") if each.inputs["metadata"]["name"] == HOME]
        (controller,) = recorded.of(CONTROLLER)
        assert namespace.key in controller.dependencies

    def test_the_kind_is_made_once(self) -> None:
        recorded = registered()
        definitions = [each.inputs["metadata"]["name"] for each in of_kind(recorded, "CustomResourceDefinition")]
        assert definitions == ["variantautoscalings.llmd.ai"]

    def test_one_that_is_there_already_keeps_its_settings(self) -> None:
        recorded = registered(prerequisites={"install": True, "present": ["wva"]})
        assert not recorded.of(CONTROLLER)
        names = {each.inputs["metadata"]["name"] for each in of_kind(recorded, "ConfigMap")}
        assert {"accelerator-unit-costs", "service-classes-config"} <= names
        assert "inferno-autoscaler-variantautoscaling-config" not in names

    @pytest.mark.parametrize("policies", [False, True])
    def test_with_network_policies_prometheus_alone_reaches_it(self, policies: bool) -> None:
        recorded = registered(hardening={"network_policies": policies})
        found = [each for each in of_kind(recorded, "NetworkPolicy") if each.inputs["metadata"]["namespace"] == HOME]
        assert len(found) == policies
        binding = recorded["fleet-wva-clusterrolebinding-inferno-autoscaler-metrics-reader"].inputs
        (subject,) = binding["subjects"]
        assert (subject["name"], subject["namespace"]) == ("kube-prometheus-stack-prometheus", "monitoring")

    def test_another_prometheus_may_read_its_metrics_whatever_its_account(self) -> None:
        prerequisites = {"install": True, "present": ["prometheus"], "prometheus_url": "https://p.observability.svc"}
        binding = registered(prerequisites=prerequisites)[
            "fleet-wva-clusterrolebinding-inferno-autoscaler-metrics-reader"
        ].inputs
        (subject,) = binding["subjects"]
        assert subject["name"] == "system:serviceaccounts:observability"


def test_one_more_variant_changes_one_config_map_and_nothing_of_the_first() -> None:
    """Names are for life, and an edit of one model never touches another one's objects."""

    def inputs(recorded: Recorded) -> dict[str, Object]:
        return {each.key: dict(each.inputs) for each in recorded.graph if each.type.startswith("kubernetes:")}

    workloads = [*served("chat"), *served("code", model="code-model")[1:]]
    before = inputs(fleet([*workloads, variant()], **ARGS))
    documents = [*workloads, variant(), variant("code", model="code-model")]
    classes = [{**ARGS["service_levels"]["classes"][0]}]
    classes[0]["models"] = {**classes[0]["models"], "code-model": {"itl_ms": 24, "ttft_ms": 500}}
    both = {**ARGS, "service_levels": {**ARGS["service_levels"], "classes": classes}}
    after = inputs(fleet(documents, **both))
    changed = {key for key in before if before[key] != after[key]}
    name = "kubernetes:core/v1:ConfigMap::fleet-inferno-autoscaler-system/service-classes-config"
    assert {key for key in changed if "code" not in key and "adapter" not in key} == {name}
