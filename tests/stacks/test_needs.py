"""What environments install: exactly what their models need, each thing after what it needs itself."""

import functools
from typing import Any

import pytest

from components.plan.prerequisites.charts import charts, providers_of
from tests.recorded import Entry, Recorded
from tests.stacks.shipped import FLEET, ON_AWS, as_shipped, run

RELEASE = "kubernetes:helm.sh/v3:Release"
QUEUE = "stacks/models/gemma-elastic.yaml"
GROUPS = "stacks/models/llama-405b-multinode.yaml"
PLAIN = ["stacks/models/qwen-chat.yaml"]


pytestmark = pytest.mark.usefixtures("here")


def installed(graph: Recorded) -> dict[str, Entry]:
    """The components of the charts that are installed, by the chart's name."""
    return {release.name.removeprefix(f"{FLEET}-"): graph[release.parent] for release in graph.of(RELEASE)}


def before(graph: Recorded, entry: Entry) -> set[str]:
    """Keys of everything that comes before a resource, directly or not."""
    found: set[str] = set()
    left = list(entry.dependencies)
    while left:
        key = left.pop()
        if key not in found:
            found.add(key)
            left += [*graph[key].dependencies, *([graph[key].parent] if graph[key].parent else [])]
    return found


def names(graph: Recorded) -> set[str]:
    assert set(installed(graph)) == set(graph.exports["prerequisites"])
    return set(installed(graph))


class TestExactly:
    def test_dev(self) -> None:
        graph = as_shipped("dev")
        assert names(graph) == {"cluster-autoscaler", "nvidia-device-plugin"}
        assert graph.exports["prerequisites"]["nvidia-device-plugin"] == [
            *("nodes g4dn-2xlarge-spot", "nodes g5-2xlarge-spot", "nodes g6-2xlarge-spot")
        ]

    def test_a_model_over_several_nodes_adds_leader_worker_set(self) -> None:
        more = run("dev", models=[*PLAIN, GROUPS], gpuNodes={})
        assert names(more) - names(run("dev", models=PLAIN, gpuNodes={})) == {"leader-worker-set"}
        assert more.exports["prerequisites"]["leader-worker-set"] == ["Service/llama-405b"]

    def test_an_autoscaler_on_a_queue_adds_the_metric_chain(self) -> None:
        more = run("dev", models=[*PLAIN, QUEUE], gpuNodes={})
        assert names(more) - names(run("dev", models=PLAIN, gpuNodes={})) == {"prometheus", "prometheus-adapter"}

    def test_realization_operator_adds_its_operator(self) -> None:
        plain: dict[str, Any] = {"hardening": {}, "runtimes": "upstream", "models": PLAIN, "gpuNodes": {}}
        more = run("dev", **plain, realization="operator")
        assert names(more) - names(run("dev", **plain)) == {"llmaz", "leader-worker-set"}
        assert installed(more)["leader-worker-set"].key in before(more, installed(more)["llmaz"])

    def test_what_is_there_is_not_installed_again(self) -> None:
        present = ["prometheus", "nvidia-device-plugin"]
        said = {"install": True, "present": present, "prometheusNamespace": "observability"}
        graph = run("dev", models=[*PLAIN, QUEUE], gpuNodes={}, prerequisites=said)
        assert names(graph) == {"cluster-autoscaler", "prometheus-adapter"}

    def test_nothing_is_installed_unasked(self) -> None:
        graph = run("dev", prerequisites={})
        assert graph.of(RELEASE) == []
        assert set(graph.exports["prerequisites"]) == {"cluster-autoscaler", "nvidia-device-plugin"}


@functools.cache
def shipped(stack: str) -> Recorded:
    return run(stack)


@pytest.mark.parametrize("stack", ON_AWS)
class TestOrder:
    def test_a_chart_comes_after_those_that_provide_what_it_needs(self, stack: str) -> None:
        graph = shipped(stack)
        found = installed(graph)
        for name, component in found.items():
            for thing in charts()[name].needs:
                for provider in set(providers_of(thing)) & found.keys():
                    assert found[provider].key in before(graph, component), (name, thing)

    def test_custom_resources_come_after_the_chart_of_their_kind(self, stack: str) -> None:
        graph = shipped(stack)
        found = installed(graph)
        owners = {"monitoring.coreos.com": "prometheus", "leaderworkerset.x-k8s.io": "leader-worker-set"}
        owners |= {"gateway.envoyproxy.io": "envoy-gateway", "aigateway.envoyproxy.io": "ai-gateway"}
        owners |= {"gateway.networking.k8s.io": "envoy-gateway", "cert-manager.io": "cert-manager"}
        owners |= {"karpenter.sh": "karpenter", "karpenter.k8s.aws": "karpenter"}
        seen = set()
        for entry in graph.graph:
            group = entry.type.removeprefix("kubernetes:").partition("/")[0]
            if entry.type.startswith("kubernetes:") and group in owners:
                seen.add(group)
                component = graph[entry.parent]
                assert found[owners[group]].key in before(graph, component) | before(graph, entry), entry.key
        assert bool(seen) is (stack != "dev")

    def test_a_model_comes_after_what_is_there_for_it(self, stack: str) -> None:
        graph = shipped(stack)
        found = installed(graph)
        for name, reasons in graph.exports["prerequisites"].items():
            for model in (m for m in graph.exports["models"] if f"Playground/{m}" in reasons):
                entry = graph[f"inference-platform:index:Playground::{FLEET}-models/{model}"]
                assert found[name].key in before(graph, entry), (name, model)


class TestMetricChain:
    def test_the_autoscalers_metric_is_scraped_adapted_and_named_right(self) -> None:
        graph = run("dev", models=[QUEUE], gpuNodes={})
        (monitor,) = graph.of("kubernetes:monitoring.coreos.com/v1:PodMonitor")
        assert monitor.inputs["metadata"]["namespace"] == "models"
        values = graph[f"{RELEASE}::{FLEET}-prometheus-adapter"].inputs["values"]
        (rule,) = values["rules"]["custom"]
        assert "vllm:num_requests_waiting" in rule["seriesQuery"]
        assert values["rules"]["default"] is False
        hpa = graph[f"{FLEET}-models/gemma-elastic-hpa"].inputs["spec"]["metrics"][0]["pods"]
        assert hpa["metric"]["name"] == "vllm:num_requests_waiting"

    def test_keda_takes_the_place_of_the_autoscaler(self) -> None:
        graph = run("dev", models=[QUEUE], gpuNodes={}, prerequisites={"install": True, "adapter": "keda"})
        assert names(graph) >= {"keda", "prometheus"}
        assert "prometheus-adapter" not in names(graph)
        assert [e.inputs["kind"] for e in graph.graph if e.inputs.get("kind") == "HorizontalPodAutoscaler"] == []
        (scaled,) = (e for e in graph.graph if e.inputs.get("kind") == "ScaledObject")
        (trigger,) = scaled.inputs["spec"]["triggers"]
        assert trigger["metadata"]["serverAddress"].endswith(":9090")
        assert installed(graph)["keda"].key in before(graph, graph[scaled.parent])

    def test_an_existing_prometheus_is_asked_where_it_is(self) -> None:
        said = {
            "install": True,
            "present": ["prometheus"],
            "prometheusUrl": "http://prom.obs.svc",
            "prometheusPort": 80,
        }
        graph = run("dev", models=[QUEUE], gpuNodes={}, prerequisites=said)
        values = graph[f"{RELEASE}::{FLEET}-prometheus-adapter"].inputs["values"]
        assert values["prometheus"] == {"url": "http://prom.obs.svc", "port": 80}
        assert graph.of("kubernetes:monitoring.coreos.com/v1:PodMonitor")

    def test_without_a_prometheus_nothing_is_scraped(self) -> None:
        graph = run("dev", models=[QUEUE], gpuNodes={}, prerequisites={})
        assert graph.of("kubernetes:monitoring.coreos.com/v1:PodMonitor") == []

    def test_an_operators_models_are_scraped_too(self) -> None:
        plain: dict[str, Any] = {"hardening": {}, "runtimes": "upstream", "models": [QUEUE], "gpuNodes": {}}
        graph = run("dev", **plain, realization="operator")
        (monitor,) = graph.of("kubernetes:monitoring.coreos.com/v1:PodMonitor")
        assert monitor.inputs["spec"]["selector"]["matchLabels"]
        assert {"prometheus", "prometheus-adapter", "llmaz"} <= names(graph)

    def test_models_are_watched_where_the_environment_says_so(self) -> None:
        graph = shipped("prod")
        monitored = {e.inputs["metadata"]["name"] for e in graph.of("kubernetes:monitoring.coreos.com/v1:PodMonitor")}
        workloads = {
            name for model in graph.exports["models"].values() for name in model.get("workloads", [model["workload"]])
        }
        # Ollama exports nothing, and of images of one's own and a router of SGLang nothing is known.
        unknown = {"tiny-ollama", "embeddings", "qwen3-pd-router"}
        assert monitored == workloads - unknown | {"inference-gateway.proxies"}
        (rule,) = graph.of("kubernetes:monitoring.coreos.com/v1:PrometheusRule")
        assert len(rule.inputs["spec"]["groups"][0]["rules"]) >= 12
        (shown,) = (
            e
            for e in graph.of("kubernetes:core/v1:ConfigMap")
            if e.parent.endswith(f"Monitoring::{FLEET}-monitoring")
        )
        (text,) = shown.inputs["data"].values()
        assert "Cost per hour" in text
        assert "Tokens per second by model" in text
        assert "p5.48xlarge" in text

    @pytest.mark.parametrize(
        ("region", "there"),
        [
            ("us-west-2", "* 1.212"),  # a g5.2xlarge in the AWS price list of 2025-04-04
            ("eu-north-1", "* 1.28549"),  # the same list, in ec2.shop at 74c9fd8a
        ],
    )
    def test_the_dashboard_has_the_prices_of_its_region(self, region: str, there: str) -> None:
        said: dict[str, Any] = {
            "network": {"zones": [f"{region}a", f"{region}b"]},
            "cluster": {"version": "1.35"},
            "models": PLAIN,
            "gpuNodes": {},
        }
        graph = run("dev", region=region, prerequisites={"install": True, "monitoring": True}, **said)
        (shown,) = (
            e
            for e in graph.of("kubernetes:core/v1:ConfigMap")
            if e.parent.endswith(f"Monitoring::{FLEET}-monitoring")
        )
        assert there in next(iter(shown.inputs["data"].values()))
