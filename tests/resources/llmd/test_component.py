"""The component of a single VariantAutoscaling in a program of anybody's: graphs, outputs, arguments and refusals."""

import json
from collections.abc import Callable
from typing import Any

import pulumi
import pulumi_kubernetes
import pytest

from components.resources.llmd import VariantAutoscaling
from components.resources.serving.arguments import InvalidArguments
from tests.families.llmd.support import MODEL, of_kthena, of_llmaz, of_llmkube, of_lws
from tests.recorded import Recorded, deploy, logged

PROVIDER = "pulumi:providers:kubernetes::cluster"
HPA = "kubernetes:autoscaling/v2:HorizontalPodAutoscaler"
VARIANT = "kubernetes:llmd.ai/v1alpha1:VariantAutoscaling::chat"
COMPONENT = "inference-platform:index:VariantAutoscaling::chat"
PROFILE = {"acc": "L4", "acc_count": 1, "alpha": "20.58", "beta": "0.41", "max_batch_size": 4}


def with_room(documents: list[Any]) -> list[Any]:
    """The same on nodes that also have the CPUs that the runtime of llmaz asks for."""
    found: list[Any] = json.loads(json.dumps(documents).replace("g6.xlarge", "g6.2xlarge"))
    return found


ARGS: dict[str, Any] = {
    "namespace": "ns",
    "targets": with_room(of_llmaz()),
    "accelerator": "L4",
    "model_id": MODEL,
    "model_profile": {"accelerators": [PROFILE]},
    "promise": {"itl_ms": 24, "ttft_ms": 500},
    "load": {"requests_per_minute": 40, "output_tokens": 178},
    "cents_per_hour": 40,
}
"""The first vector of WVA spec 8.10, on another accelerator."""
OUTPUTS = ("autoscaler", "namespace", "min_replicas", "max_replicas", "most_per_minute", "limit", "cents_per_hour")


def program(**changes: Any) -> Callable[[], None]:
    def run() -> None:
        options = pulumi.ResourceOptions(providers=[pulumi_kubernetes.Provider("cluster", kubeconfig="k")])
        given: Any = {key: value for key, value in {**ARGS, **changes}.items() if value is not None}
        component = VariantAutoscaling("chat", given, options)
        for name in OUTPUTS:
            pulumi.export(name, getattr(component, name))

    return run


def deployed(*, preview: bool = False, **changes: Any) -> Recorded:
    return deploy(program(**changes), preview=preview)


def refused(**changes: Any) -> dict[str, str]:
    with pytest.raises(InvalidArguments) as caught:
        deployed(**changes)
    return {error["property_path"]: error["reason"] for error in caught.value.errors or []}


@pytest.mark.parametrize("preview", [False, True])
def test_natively_it_is_an_autoscaler(preview: bool) -> None:
    recorded = deployed(preview=preview)
    assert [(entry.key, entry.parent, entry.provider) for entry in recorded.graph] == [
        (COMPONENT, "", ""),
        (f"{HPA}::chat-va-hpa", COMPONENT, PROVIDER),
        (PROVIDER, "", ""),
    ]
    spec = recorded[f"{HPA}::chat-va-hpa"].inputs["spec"]
    assert spec["scaleTargetRef"] == {"apiVersion": "apps/v1", "kind": "Deployment", "name": "chat"}
    assert (spec["minReplicas"], spec["maxReplicas"]) == (1, 2)


def test_outputs_say_what_was_found() -> None:
    exports = deployed().exports
    assert exports == {
        "autoscaler": "chat-va",
        "namespace": "ns",
        "min_replicas": 1,
        "max_replicas": 2,
        "most_per_minute": pytest.approx(25.31145, abs=1e-4),
        "limit": "ttft",
        "cents_per_hour": 80,
    }


@pytest.mark.parametrize(
    ("changes", "bounds"),
    [
        ({"load": {"requests_per_minute": 10, "output_tokens": 178}}, (1, 1)),
        ({"load": {"requests_per_minute": 200, "output_tokens": 178}}, (1, 8)),
        ({"load": {"requests_per_minute": 200, "least_requests_per_minute": 100, "output_tokens": 178}}, (4, 8)),
        ({"load": {"requests_per_minute": 40.5, "output_tokens": 178.9}}, (1, 2)),
    ],
)
def test_bounds_follow_from_the_load(changes: dict[str, Any], bounds: tuple[int, int]) -> None:
    exports = deployed(**changes).exports
    assert (exports["min_replicas"], exports["max_replicas"]) == bounds


def test_with_the_controller_its_resource_is_created() -> None:
    recorded = deployed(realization="operator", service_class="Premium")
    assert {entry.key for entry in recorded.graph if entry.parent == COMPONENT} == {VARIANT, f"{HPA}::chat-va-hpa"}
    created = recorded[VARIANT].inputs
    assert created["metadata"]["labels"]["inference.optimization/acceleratorName"] == "L4"
    assert created["spec"] == {
        "modelID": MODEL,
        "sloClassRef": {"name": "service-classes-config", "key": "premium.yaml"},
        "modelProfile": {
            "accelerators": [{"acc": "L4", "accCount": 1, "alpha": "20.58", "beta": "0.41", "maxBatchSize": 4}]
        },
    }
    (metric,) = recorded[f"{HPA}::chat-va-hpa"].inputs["spec"]["metrics"]
    assert metric["external"]["metric"]["name"] == "inferno_desired_replicas"


def test_a_form_without_a_profile_needs_no_promise() -> None:
    """That of v0.6.0: the bounds are those that are given, and the metrics are those of a full engine."""
    changes: dict[str, Any] = dict.fromkeys(("model_profile", "promise", "load", "cents_per_hour"))
    recorded = deployed(
        **changes,
        name="variant",
        scale_target_ref={"kind": "Deployment", "name": "chat"},
        min_replicas=2,
        max_replicas=5,
        variant_cost="80.48",
    )
    spec = recorded[f"{HPA}::chat/chat-va-hpa"].inputs["spec"]
    assert spec["scaleTargetRef"]["name"] == "chat"
    assert (recorded.exports["min_replicas"], recorded.exports["max_replicas"]) == (2, 5)
    names = [metric["pods"]["metric"]["name"] for metric in spec["metrics"]]
    assert names == ["vllm:gpu_cache_usage_perc", "vllm:num_requests_waiting"], "of vLLM before v0.9.2"


def test_the_controller_of_a_later_release_is_sent_its_form() -> None:
    changes: dict[str, Any] = dict.fromkeys(("model_profile", "promise", "load", "cents_per_hour"))
    changes |= {"realization": "operator", "scale_target_ref": {"kind": "Deployment", "name": "chat"}}
    changes["targets"] = of_llmkube(image="vllm/vllm-openai:v0.11.0")
    recorded = deployed(**changes, release="v0.5.1")
    assert recorded[VARIANT].inputs["spec"] == {
        "scaleTargetRef": {"kind": "Deployment", "name": "chat"},
        "modelID": MODEL,
    }
    (metric,) = recorded[f"{HPA}::chat-va-hpa"].inputs["spec"]["metrics"]
    assert metric["external"]["metric"]["name"] == "wva_desired_replicas"
    assert "v0.5.0 to 4bbb15fa" in refused(**changes)["spec.scaleTargetRef"]


@pytest.mark.parametrize(("release", "has_class"), [("v0.0.4", True), ("v0.0.5", True), ("v0.4.1", False)])
def test_a_variant_has_the_class_that_its_release_has(release: str, has_class: bool) -> None:
    parameters = {
        "decode_parms": {"alpha": "20.58", "beta": "0.41"},
        "prefill_parms": {"gamma": "5.2", "delta": "0.1"},
    }
    entry = {"acc": "L4", "acc_count": 1, "max_batch_size": 4, "perf_parms": parameters}
    load = {"requests_per_minute": 40, "output_tokens": 178, "input_tokens": 100}
    changes: dict[str, Any] = {"model_profile": {"accelerators": [entry]}, "load": load}
    changes["targets"] = of_llmkube(image="vllm/vllm-openai:v0.11.0")
    recorded = deployed(**changes, release=release, realization="operator")
    assert ("sloClassRef" in recorded[VARIANT].inputs["spec"]) is has_class


def test_an_unknown_release_is_refused() -> None:
    assert "must be a release of llm-d WVA: c0f645c, v0.0.1" in refused(release="v9")["release"]


@pytest.mark.parametrize("missing", ["promise", "load"])
def test_a_profile_needs_what_it_is_sized_for(missing: str) -> None:
    assert missing in refused(**{missing: None})


def test_the_controller_measures_the_load_itself() -> None:
    """Without one the bound is that of upstream's sample, and nothing was sized."""
    exports = deployed(realization="operator", load=None).exports
    assert (exports["max_replicas"], exports["most_per_minute"], exports["limit"]) == (10, 0, "")


def test_the_pointer_to_the_class_can_be_written() -> None:
    pointer = {"name": "service-classes-config", "key": "default.yaml"}
    assert deployed(realization="operator", slo_class_ref=pointer)[VARIANT].inputs["spec"]["sloClassRef"] == pointer


@pytest.mark.parametrize(
    ("targets", "kind"),
    [
        (with_room(of_llmaz()), "Deployment"),
        (of_llmkube(), "Deployment"),
        (of_kthena(), "LeaderWorkerSet"),
        (of_lws(), "LeaderWorkerSet"),
    ],
    ids=["llmaz", "llmkube", "kthena", "leaderworkerset"],
)
def test_workloads_of_every_family(targets: list[Any], kind: str) -> None:
    recorded = deployed(targets=targets)
    assert recorded[f"{HPA}::chat-va-hpa"].inputs["spec"]["scaleTargetRef"]["kind"] == kind


def test_the_targets_are_deployed_as_they_are_elsewhere() -> None:
    recorded = deployed(workload="lws")
    assert recorded[f"{HPA}::chat-va-hpa"].inputs["spec"]["scaleTargetRef"]["kind"] == "LeaderWorkerSet"


@pytest.mark.parametrize(
    ("changes", "path", "expected"),
    [
        ({"targets": []}, "targets", "must be a list of manifests, found none; pass [component.manifest]"),
        ({"targets": ["chat"]}, "targets[0]", "must be the manifest of a resource, found str"),
        ({"accelerator": None}, "accelerator", "is required"),
        ({"promise": None}, "promise", "is required"),
        ({"load": None}, "load", "is required"),
        ({"load": "many"}, "load", "must be a map"),
        ({"promise": {"itl_ms": 24.5}}, "promise.itl_ms", "must be an integer, found 24.5"),
        ({"promise": {"itl": 24}}, "promise.itl", "unknown argument; did you mean 'itl_ms'?"),
        ({"load": {"requests_per_minute": 40}}, "load.output_tokens", "is required"),
        (
            {"load": {"requests_per_minute": 40, "output_tokens": 178, "least_requests_per_minute": 41}},
            "load.least_requests_per_minute",
            "must be at most",
        ),
        ({"service_class": "a b"}, "service_class", "must be letters, digits"),
        ({"service_class": 5}, "service_class", "must be a string, found 5"),
        ({"cents_per_hour": -1}, "cents_per_hour", "must be at least 0, found -1"),
        ({"realization": "helm"}, "realization", "must be 'native' or 'operator', found 'helm'"),
        ({"workload": "pods"}, "workload", "must be 'auto', 'lws' or 'deployment', found 'pods'"),
        ({"model_profile": {"accelerators": []}}, "spec.modelProfile.accelerators", "must have at least 1 item"),
        ({"model_id": ""}, "spec.modelID", "must have at least 1 character"),
        ({"name": "other"}, "metadata.name", "other"),
    ],
)
def test_what_is_wrong_is_told_at_its_argument(changes: dict[str, Any], path: str, expected: str) -> None:
    found = refused(**changes)
    assert path in found, found
    assert expected in found[path]


def test_what_is_wrong_in_two_places_is_told_at_once() -> None:
    found = refused(promise={"itl_ms": -1}, load={"requests_per_minute": "40", "output_tokens": 178})
    assert set(found) == {"promise.itl_ms", "load.requests_per_minute"}


def test_a_promise_that_cannot_be_kept_is_refused() -> None:
    """WVA spec 8.10: 50 ms for a token, promised are 24."""
    slow = {**PROFILE, "alpha": "50", "beta": "0.15"}
    (reason,) = refused(model_profile={"accelerators": [slow]}).values()
    assert "50.15" in reason
    assert "24" in reason


@pytest.mark.parametrize(("changes", "count"), [({"load": {**ARGS["load"], "input_tokens": 1024.5}}, 1), ({}, 0)])
def test_prompts_are_told_to_come_on_top(
    monkeypatch: pytest.MonkeyPatch, changes: dict[str, Any], count: int
) -> None:
    notes = logged(monkeypatch, "INFO")
    deployed(**changes)
    found = [(place, text) for place, text in notes if "inputTokens" in text]
    assert len(found) == count
    for place, text in found:
        assert place.startswith("inference-platform:index:VariantAutoscaling::")
        assert "wait at most 209 ms (target 500), before the prefill of 1024.5 tokens (inputTokens)" in text
