"""Natively the plan sizes a variant, and an autoscaler on the engine's queue moves within what it found."""

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.contract.problems import Severity
from components.fleet.levels import LatencyTargets, ServiceLevels
from components.fleet.words import WorkloadChoice
from tests.families.kthena.serving.support import engine, model_serving, pods, role
from tests.families.llmd import support
from tests.families.llmd.support import (
    MODEL,
    Object,
    bounds,
    fleet,
    hpa_in,
    levels,
    per_minute,
    profile,
    told,
    variant,
    variant_in,
)
from tests.fleets import errors

Make = Callable[[], list[Object]]
LWS: Any = {"workload": WorkloadChoice.LWS}
SCALED: dict[str, tuple[Make, dict[str, Any], str, str, int]] = {
    # what is scaled, options, kind, name, pods of a replica
    "llmaz": (support.of_llmaz, {}, "Deployment", "chat", 1),
    "llmaz as groups": (support.of_llmaz, LWS, "LeaderWorkerSet", "chat", 1),
    "llmkube": (support.of_llmkube, {}, "Deployment", "chat", 1),
    "kthena": (support.of_kthena, {}, "LeaderWorkerSet", "chat", 1),
    "kthena, in groups": (lambda: support.of_kthena(workers=3), {}, "LeaderWorkerSet", "chat", 4),
    "kthena booster": (support.of_booster, {}, "LeaderWorkerSet", "chat-l4", 1),
    "by hand": (support.of_lws, {}, "LeaderWorkerSet", "chat", 1),
    "by hand, in groups": (lambda: support.of_lws(size=2), {}, "LeaderWorkerSet", "chat", 2),
}
API = {"Deployment": "apps/v1", "LeaderWorkerSet": "leaderworkerset.x-k8s.io/v1"}


class TestEveryFamily:
    @pytest.mark.parametrize("case", SCALED)
    def test_the_workload_gets_the_bounds(self, case: str) -> None:
        """WVA spec 8.10: 100 requests a minute need 4 replicas, 40 need 2."""
        make, options, kind, name, size = SCALED[case]
        load = levels(per_minute(100, 40), name=name)
        found = fleet(*make(), variant(name, profile(count=size)), levels=load, **options)
        assert [str(each) for each in errors(found)] == []
        hpa = hpa_in(found, name)
        assert hpa["metadata"] == {"name": f"{name}-va", "namespace": "ns"}
        assert hpa["spec"]["scaleTargetRef"] == {"apiVersion": API[kind], "kind": kind, "name": name}
        assert bounds(found, name) == (2, 4)
        (workload,) = [workload for _, workload in found.workloads if workload.name == name]
        assert "replicas" not in workload.body["spec"]
        assert (workload.replicas, workload.most) == (2, 4)
        assert sum(each.pods for each in workload.pods) == 2 * size
        assert sum(each.max_pods or 0 for each in workload.pods) == 4 * size

    @pytest.mark.parametrize("case", SCALED)
    def test_nothing_but_an_autoscaler_is_made_for_it(self, case: str) -> None:
        make, options, _, name, size = SCALED[case]
        found = fleet(*make(), variant(name, profile(count=size)), levels=levels(name=name), **options)
        assert [body["kind"] for body in variant_in(found, name).objects] == ["HorizontalPodAutoscaler"]

    @pytest.mark.parametrize("case", SCALED)
    def test_its_metrics_are_those_of_the_engine(self, case: str) -> None:
        """Names of vLLM: lws-hpa spec 2.3."""
        make, options, _, name, size = SCALED[case]
        found = fleet(*make(), variant(name, profile(count=size)), levels=levels(name=name), **options)
        names = [metric["pods"]["metric"]["name"] for metric in hpa_in(found, name)["spec"]["metrics"]]
        assert names == ["vllm:num_requests_waiting", "vllm:num_requests_running"]


class TestBounds:
    @pytest.mark.parametrize(
        ("peak", "least", "expected"),
        # WVA spec 8.10: 10/40/100/200 requests a minute need 1/2/4/8.
        [
            (10, 0, (1, 1)),
            (40, 0, (1, 2)),
            (100, 0, (1, 4)),
            (200, 0, (1, 8)),
            (200, 40, (2, 8)),
            (200, 200, (8, 8)),
        ],
    )
    def test_are_what_the_loads_need(self, peak: float, least: float, expected: tuple[int, int]) -> None:
        found = fleet(*support.of_llmkube(), variant(), levels=levels(per_minute(peak, least)))
        assert bounds(found) == expected

    @pytest.mark.parametrize(
        ("accelerator", "output", "targets", "peak", "expected"),
        # WVA spec 8.10, the other rows.
        [
            (profile(alpha="7.77", beta="0.15"), 178, (24, 500), 200, 3),
            (profile(alpha="17.15", beta="0.34"), 178, (24, 500), 200, 7),
            (profile(alpha="6.958", beta="0.042", batch=512), 512, (9, 1000), 1440, 3),
            (profile(alpha="6.973", beta="0.027", batch=64), 128, (9, 1000), 6000, 2),
            (profile(alpha="27.41", beta="0.707", batch=5), 512, (80, 500), 30, 5),
        ],
    )
    def test_vectors(
        self, accelerator: Object, output: float, targets: tuple[int, int], peak: float, expected: int
    ) -> None:
        asked = levels(per_minute(peak, output=output), LatencyTargets(*targets))
        found = fleet(*support.of_llmkube(), variant("chat", accelerator), levels=asked)
        assert bounds(found) == (1, expected)

    @given(
        rates=st.lists(
            st.floats(0.01, 5000, allow_nan=False).map(lambda rate: round(rate, 2)), min_size=3, max_size=3
        ).map(sorted)
    )
    def test_more_to_do_needs_no_fewer_replicas(self, rates: list[float]) -> None:
        quiet, usual, peak = rates
        low = bounds(fleet(*support.of_llmkube(), variant(), levels=levels(per_minute(usual, quiet))))
        high = bounds(fleet(*support.of_llmkube(), variant(), levels=levels(per_minute(peak, usual))))
        assert 1 <= low[0] <= low[1] <= high[1]
        assert low[0] <= high[0]

    def test_the_load_of_the_namespace_goes_before_that_of_the_name(self) -> None:
        both = levels(per_minute(200))
        named = ServiceLevels(both.classes, {**both.loads, "ns/chat": per_minute(40)})
        assert bounds(fleet(*support.of_llmkube(), variant(), levels=named)) == (1, 2)


class TestTargets:
    def test_what_waits_is_at_least_one(self) -> None:
        """At 25.3 requests a minute, bound by the wait, a tenth of a request waits: WVA spec 8.10, first row."""
        waiting, working = hpa_in(fleet(*support.of_llmkube(), variant()))["spec"]["metrics"]
        assert waiting["pods"]["target"] == {"type": "AverageValue", "averageValue": "1"}
        # Little's law: 25.31145 a minute, each 178 tokens of 22.7 ms at that rate (alpha 20.58 and beta 0.41), less a
        # tenth: 1.46 to 1.55 requests.
        assert working["pods"]["target"]["type"] == "AverageValue"
        assert 1400 <= int(working["pods"]["target"]["averageValue"].removesuffix("m")) <= 1560

    def test_what_waits_at_the_largest_rate(self) -> None:
        """Without a promise of the time to the first token, a replica is full and many wait."""
        promised = levels(per_minute(40), LatencyTargets(24, 0))
        waiting, _ = hpa_in(fleet(*support.of_llmkube(), variant(), levels=promised))["spec"]["metrics"]
        target = waiting["pods"]["target"]["averageValue"]
        assert target != "1"
        assert float(target.removesuffix("m")) > 1


class TestPace:
    def test_up_at_once_and_down_slowly(self) -> None:
        """WVA spec 10: at least 240 s down for real models."""
        behavior = hpa_in(fleet(*support.of_llmkube(), variant()))["spec"]["behavior"]
        assert behavior["scaleUp"]["stabilizationWindowSeconds"] == 0
        assert behavior["scaleDown"]["stabilizationWindowSeconds"] >= 240

    def test_groups_go_one_at_a_time(self) -> None:
        """lws-hpa spec 1.9."""
        behavior = hpa_in(fleet(*support.of_lws(size=2), variant("chat", profile(count=2))))["spec"]["behavior"]
        assert behavior["scaleDown"]["stabilizationWindowSeconds"] >= 300
        assert behavior["scaleDown"]["policies"] == [{"type": "Pods", "value": 1, "periodSeconds": 60}]


class TestEngines:
    @pytest.mark.parametrize(
        ("image", "args", "names"),
        [
            # lws-hpa spec 2.3.
            ("lmsysorg/sglang:v0.5.2", ["--enable-metrics"], ["sglang:num_queue_reqs", "sglang:num_running_reqs"]),
            ("ghcr.io/huggingface/text-generation-inference:3.3.4", [], ["tgi_queue_size", "tgi_batch_current_size"]),
        ],
    )
    def test_have_their_own_words(self, image: str, args: list[str], names: list[str]) -> None:
        container = engine("--served-model-name", MODEL, *args, image=image, resources=support.REQUESTS)
        if "text-generation-inference" in image:
            container["args"] = ["--model-id", MODEL]
        serving = model_serving("chat", role(entryTemplate=pods(container, nodeSelector=support.NODES)))
        found = fleet(serving, variant())
        assert [str(each) for each in errors(found)] == []
        metrics = hpa_in(found)["spec"]["metrics"]
        assert [each["pods"]["metric"]["name"] for each in metrics] == names

    def test_one_that_keeps_its_metrics_to_itself(self) -> None:
        container = engine("--served-model-name", MODEL, image="lmsysorg/sglang:v0.5.2", resources=support.REQUESTS)
        serving = model_serving("chat", role(entryTemplate=pods(container, nodeSelector=support.NODES)))
        ((who, path, reason),) = told(serving, variant())
        assert (who, path.rpartition(".")[2]) == ("ModelServing/chat", "args")
        assert reason == (
            "lacks --enable-metrics, without which sglang does not export the metrics that VariantAutoscaling/chat "
            "scales on; add it"
        )

    @pytest.mark.parametrize(
        ("image", "reason"),
        [
            ("ollama/ollama:0.12.0", "ollama exports no metrics, so no autoscaler can follow the queue of"),
            ("example.com/own:v1", "the metrics of image 'example.com/own:v1' are unknown, so no"),
        ],
    )
    def test_one_without_a_queue(self, image: str, reason: str) -> None:
        documents = support.of_lws()
        container = documents[0]["spec"]["leaderWorkerTemplate"]["workerTemplate"]["spec"]["containers"][0]
        container |= {"image": image, "args": []}
        ((who, path, found),) = told(*documents, variant())
        assert (who, path) == ("VariantAutoscaling/chat", "metadata.name")
        assert found.startswith(reason)
        # Nothing is said of bounds that no autoscaler has.
        assert Severity.NOTE not in {problem.severity for problem in fleet(*documents, variant()).problems}
