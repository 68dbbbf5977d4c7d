"""Forms of later releases natively: the same size from the same numbers, and no promise without a speed."""

from decimal import Decimal
from typing import Any

import pytest

from components.contract.problems import Severity
from components.fleet.levels import LatencyTargets, Load, ServiceLevels
from components.fleet.rendered import Fleet
from components.performance.sizing.cases import Sized
from tests.families.llmd.releases.support import PARAMETERS, of_parameters, of_target, rendered
from tests.families.llmd.support import (
    MODEL,
    Object,
    bounds,
    fleet,
    hpa_in,
    levels,
    of_kthena,
    of_llmkube,
    of_lws,
    per_minute,
    variant,
    variant_in,
)
from tests.fleets import errors

Said = tuple[str, str, str]


def findings(found: Fleet, severity: Severity = Severity.WARNING) -> list[Said]:
    """Rule, path and reason of what is said of variants."""
    return [
        (str(each.rule), each.path, each.reason)
        for each in found.problems
        if each.kind == "VariantAutoscaling" and each.severity is severity
    ]


def rules(found: Fleet, severity: Severity = Severity.WARNING) -> list[str]:
    return [rule for rule, _, _ in findings(found, severity)]


def asked(load: Load, targets: LatencyTargets | None = None, name: str = "chat") -> ServiceLevels:
    return levels(load, targets, name)


def size_of(found: Fleet, name: str = "chat") -> Sized:
    (scaler,) = variant_in(found, name).autoscalers
    assert isinstance(scaler.sized, Sized)
    return scaler.sized


# -- a profile with parameters


def test_parameters_without_a_prefill_are_alpha_and_beta() -> None:
    """The numbers of WVA spec 8.10 give the same autoscaler in both forms."""
    before, after = fleet(variant(), *of_llmkube()), rendered(of_parameters(), *of_llmkube())
    assert hpa_in(after) == hpa_in(before)
    assert bounds(after) == (1, 2)


@pytest.mark.parametrize("release", ["v0.0.5", "v0.4.1", "v0.4.2"])
def test_a_declared_release_changes_nothing(release: str) -> None:
    found = rendered(of_parameters(), *of_llmkube(), release=release)
    assert hpa_in(found) == hpa_in(rendered(of_parameters(), *of_llmkube()))
    assert "release-unset" not in rules(found, Severity.NOTE)


PREFILL = {**PARAMETERS, "prefillParms": {"gamma": "50", "delta": "0.05"}}


def test_a_prefill_counts_with_the_prompts_of_the_load() -> None:
    load = per_minute(40)._replace(input_tokens=Decimal(512))
    without = rendered(of_parameters(), *of_llmkube(), levels=asked(load))
    found = rendered(of_parameters(perfParms=PREFILL), *of_llmkube(), levels=asked(load))
    sized = size_of(found)
    assert sized.most_per_minute < size_of(without).most_per_minute
    assert sized.behaviour
    # gamma + delta * prompt * n, where n is the concurrency that the time between tokens shows.
    at_once = (sized.behaviour.itl_ms - 20.58) / 0.41
    assert sized.behaviour.prefill_ms == pytest.approx(50 + 0.05 * 512 * at_once)
    (note,) = [reason for rule, _, reason in findings(found, Severity.NOTE) if rule == "sizing-bounds"]
    assert "95 % of requests have their first token after at most" in note
    assert "of which the prefill takes" in note


def test_a_prefill_without_prompts_in_the_load_is_not_counted_and_that_is_said() -> None:
    found = rendered(of_parameters(perfParms=PREFILL), *of_llmkube())
    assert size_of(found).most_per_minute == size_of(rendered(of_parameters(), *of_llmkube())).most_per_minute
    (note,) = [reason for rule, _, reason in findings(found, Severity.NOTE) if rule == "sizing-bounds"]
    assert "without the prefill, because the load has no inputTokens" in note


def test_a_promise_that_the_prefill_alone_breaks_is_refused() -> None:
    slow = {**PARAMETERS, "prefillParms": {"gamma": "600", "delta": "0"}}
    load = per_minute(40)._replace(input_tokens=Decimal(512))
    found = rendered(of_parameters(perfParms=slow), *of_llmkube(), levels=asked(load))
    (error,) = errors(found)
    assert "for their first token, of which the prefill takes 600 ms" in error.reason


@pytest.mark.parametrize(
    ("decode", "prefill", "path", "reason"),
    [
        ({"alpha": "20.58"}, {}, "decodeParms.beta", "is required: without it the speed is unknown"),
        ({"alpha": "-1"}, {}, "decodeParms.alpha", "must be a number of at least 0 in quotes"),
        ({"alpha": "NaN"}, {}, "decodeParms.alpha", "must be a number"),
        ({}, {"gamma": "five"}, "prefillParms.gamma", 'found "five"'),
        ({}, {"gamma": None}, "prefillParms.gamma", "is required"),
    ],
)
def test_parameters_that_cannot_be_read_are_refused(decode: Object, prefill: Object, path: str, reason: str) -> None:
    """The controller would skip the variant with a line in its log."""
    numbers = {"alpha": "20.58", "beta": "0.41"} if decode != {"alpha": "20.58"} else {}
    prefills = {"gamma": "0", "delta": "0"} | prefill
    parameters = {
        "decodeParms": numbers | decode,
        "prefillParms": {key: value for key, value in prefills.items() if value is not None},
    }
    (error,) = errors(rendered(of_parameters(perfParms=parameters), *of_llmkube()))
    assert error.path == f"spec.modelProfile.accelerators[0].perfParms.{path}"
    assert reason in error.reason


@pytest.mark.parametrize("text", ["2.058e+1", "+20.58", "020.58", "20.580"])
def test_numbers_are_read_as_go_reads_them(text: str) -> None:
    decode = {"alpha": text, "beta": "0.41"}
    found = rendered(of_parameters(perfParms={**PARAMETERS, "decodeParms": decode}), *of_llmkube())
    assert hpa_in(found) == hpa_in(rendered(of_parameters(), *of_llmkube()))


def test_a_parameter_that_nothing_reads_is_warned_of() -> None:
    decode = {"alpha": "20.58", "beta": "0.41", "bta": "1"}
    found = rendered(of_parameters(perfParms={**PARAMETERS, "decodeParms": decode}), *of_llmkube())
    assert ("field-no-effect", "spec.modelProfile.accelerators[0].perfParms.decodeParms.bta") in [
        said[:2] for said in findings(found)
    ]


# -- no speed


@pytest.mark.parametrize(
    "document",
    [of_target(), of_target(accelerator="L4"), of_parameters(perfParms=None)],
    ids=["target", "label", "entry"],
)
def test_without_a_speed_nothing_is_promised(document: Object) -> None:
    found = rendered(document, *of_llmkube())
    assert not errors(found)
    name = document["metadata"]["name"]
    (scaler,) = variant_in(found, name).autoscalers
    assert scaler.sized is None
    assert bounds(found, name) == (1, 10)
    (said,) = [said for said in findings(found) if said[0] == "sizing-unchecked"]
    assert said[1] == "spec.modelID"
    for word in (
        "without a modelProfile",
        "1 to 10 replicas",
        "itlMs 24, ttftMs 500",
        f"serviceLevels.loads[{name}]",
    ):
        assert word in said[2]


def test_it_is_scaled_at_the_fill_level_of_the_controller() -> None:
    """0.80 - 0.1 of the cache, and 5 - 3 waiting requests (capacityScaling of upstream's chart at v0.5.1)."""
    metrics = hpa_in(rendered(of_target(), *of_llmkube()), "scaler")["spec"]["metrics"]
    assert [(metric["pods"]["metric"]["name"], metric["pods"]["target"]["averageValue"]) for metric in metrics] == [
        ("vllm:kv_cache_usage_perc", "700m"),
        ("vllm:num_requests_waiting", "2"),
    ]


def test_an_engine_without_a_cache_metric_is_scaled_on_its_queue() -> None:
    documents = of_llmkube(runtime="llamacpp", skipModelInit=False, extraArgs=None, image=None)
    documents[0]["spec"] |= {"format": "gguf", "source": "https://example.com/m.gguf"}
    documents[1]["spec"] = {key: value for key, value in documents[1]["spec"].items() if value is not None}
    metrics = hpa_in(rendered(of_target(), *documents), "scaler")["spec"]["metrics"]
    assert [metric["pods"]["metric"]["name"] for metric in metrics] == ["llamacpp:requests_deferred"]


def test_neither_load_nor_class_is_needed() -> None:
    found = rendered(of_target(), *of_llmkube(), levels=ServiceLevels())
    assert not errors(found)
    (said,) = [reason for rule, _, reason in findings(found) if rule == "sizing-unchecked"]
    assert "are enough; they are scaled" in said


@pytest.mark.parametrize(
    ("release", "spec", "expected"),
    [
        ("", {}, (1, 10)),
        ("v0.5.1", {}, (1, 10)),
        ("v0.6.0", {}, (1, 2)),  # the defaults of its definition
        ("4bbb15fa", {"maxReplicas": 4}, (1, 4)),
        ("4bbb15fa", {"minReplicas": 2, "maxReplicas": 4}, (2, 4)),
        ("", {"minReplicas": 2}, (2, 2)),
    ],
)
def test_bounds_are_those_of_the_manifest(release: str, spec: Object, expected: tuple[int, int]) -> None:
    found = rendered(of_target(**spec), *of_llmkube(), release=release)
    assert bounds(found, "scaler") == expected
    (said,) = [reason for rule, _, reason in findings(found) if rule == "sizing-unchecked"]
    assert ("nothing sets bounds" in said) == (expected == (1, 10))


@pytest.mark.parametrize(
    ("spec", "expected", "warned"),
    [
        ({"minReplicas": 1, "maxReplicas": 5}, (1, 2), False),
        ({"minReplicas": 3, "maxReplicas": 5}, (3, 3), False),
        ({"minReplicas": 1, "maxReplicas": 1}, (1, 1), True),
    ],
)
def test_bounds_beside_a_profile_hold(spec: Object, expected: tuple[int, int], warned: bool) -> None:
    """No release has both, but natively both are used."""
    document = variant()
    document["spec"] |= spec
    found = fleet(document, *of_llmkube())
    assert bounds(found) == expected
    assert (("sizing-bounds", "spec.maxReplicas") in [said[:2] for said in findings(found)]) == warned


# -- the workload


def test_the_reference_names_the_workload() -> None:
    hpa = hpa_in(rendered(of_target("scaler", "chat"), *of_llmkube()), "scaler")
    assert hpa["spec"]["scaleTargetRef"] == {"apiVersion": "apps/v1", "kind": "Deployment", "name": "chat"}


@pytest.mark.parametrize(
    ("target", "reason"),
    [("chta", "no workload named 'chta'; did you mean 'chat'"), ("scaler", "no workload named 'scaler'")],
)
def test_a_workload_that_is_not_there_is_refused_at_the_reference(target: str, reason: str) -> None:
    (error,) = errors(rendered(of_target("scaler", target), *of_llmkube()))
    assert error.path == "spec.scaleTargetRef.name"
    assert reason in error.reason
    assert "it has the name and namespace" not in error.reason


@pytest.mark.parametrize(
    ("kind", "field"), [("LeaderWorkerSet", "kind"), ("StatefulSet", "kind"), ("Deployment", "")]
)
def test_another_kind_than_the_workload_has_is_warned_of(kind: str, field: str) -> None:
    found = rendered(of_target(kind=kind), *of_llmkube())
    assert not errors(found)
    paths = [path for rule, path, _ in findings(found) if rule == "field-no-effect"]
    assert paths == ([f"spec.scaleTargetRef.{field}"] if field else [])


@pytest.mark.parametrize(("version", "is_warned"), [("apps/v1", False), ("apps/v1beta1", True), (None, False)])
def test_another_api_than_the_workload_has_is_warned_of(version: str | None, is_warned: bool) -> None:
    document = of_target()
    if version:
        document["spec"]["scaleTargetRef"]["apiVersion"] = version
    paths = [path for rule, path, _ in findings(rendered(document, *of_llmkube())) if rule == "field-no-effect"]
    assert paths == (["spec.scaleTargetRef.apiVersion"] if is_warned else [])


def test_a_leader_worker_set_is_scaled_too() -> None:
    document = of_target(kind="LeaderWorkerSet")
    document["spec"]["scaleTargetRef"]["apiVersion"] = "leaderworkerset.x-k8s.io/v1"
    found = rendered(document, *of_lws())
    assert "field-no-effect" not in rules(found)
    assert hpa_in(found, "scaler")["spec"]["scaleTargetRef"]["kind"] == "LeaderWorkerSet"


def test_two_variants_of_a_workload_are_refused() -> None:
    found = rendered(of_target("one"), of_target("two"), *of_llmkube())
    assert any("chat" in error.reason for error in errors(found))


# -- costs


def test_a_cost_has_no_effect_natively_and_the_price_is_told() -> None:
    found = rendered(of_target(variantCost="10.0"), *of_llmkube())
    (said,) = [said for said in findings(found, Severity.NOTE) if said[0] == "field-no-effect"]
    assert said[1] == "spec.variantCost"
    assert "80.48 cents/h (g6.xlarge at $0.8048/h" in said[2]


def pair(first: str | None, second: str | None, model: str = MODEL) -> list[Object]:
    """A variant on an L4 and one on four, which cost more than four times as much."""
    dear = of_kthena("large")
    resources = {"requests": {"cpu": "2", "memory": "8Gi"}, "limits": {"nvidia.com/gpu": "4", "memory": "8Gi"}}
    template = dear[0]["spec"]["template"]["roles"][0]["entryTemplate"]["spec"]
    template["containers"][0]["resources"] = resources
    template["nodeSelector"] = {"node.kubernetes.io/instance-type": "g6.12xlarge"}
    costs: list[dict[str, Any]] = [{"variantCost": cost} if cost else {} for cost in (first, second)]
    small, large = of_target("small-va", "chat", **costs[0]), of_target("large-va", "large", **costs[1])
    large["spec"]["modelID"] = model
    return [small, large, *of_llmkube(), *dear]


@pytest.mark.parametrize(
    ("first", "second", "warned"),
    [
        ("10", "40", False),
        ("40", "10", True),
        ("10", "10", True),
        ("80", None, True),
        (None, "40", False),
        (None, None, False),
    ],
)
def test_costs_must_be_in_the_order_of_the_prices(first: str | None, second: str | None, warned: bool) -> None:
    found = rendered(*pair(first, second))
    assert not errors(found), [str(error) for error in errors(found)]
    assert ("sizing-inconsistent" in rules(found)) == warned
    assert ("native-differs" in rules(found)) == bool(first or second)


def test_costs_of_different_models_are_not_compared() -> None:
    documents = pair("40", "10", model="other")
    found = rendered(*documents)
    assert not {"sizing-inconsistent", "native-differs"} & set(rules(found))
