"""Variants among the manifests of a ModelFleet: what is registered, and what an edit of one changes."""

import copy
from collections.abc import Iterable
from typing import Any

import pytest
import yaml

from components.resources.serving.arguments import InvalidArguments
from tests.layers.modules import ROOT
from tests.recorded import Recorded
from tests.resources.serving.manifests import fleet

LLAMA, MISTRAL = (
    list(yaml.safe_load_all((ROOT / f"stacks/variants/{name}.yaml").read_text()))
    for name in ("llama-8b", "mistral-7b")
)
HPA = "kubernetes:autoscaling/v2:HorizontalPodAutoscaler"
VARIANT = "kubernetes:llmd.ai/v1alpha1:VariantAutoscaling"
CONFIG_MAP = "kubernetes:core/v1:ConfigMap"
CLASSES: list[dict[str, Any]] = [
    {"name": "Premium", "priority": 1, "models": {"llama3-1-8b-instruct": {"itl_ms": 30, "ttft_ms": 1000}}},
    {"name": "Standard", "models": {"mistral-7b-instruct": {"itl_ms": 150, "ttft_ms": 2000}}},
]
CONTROLLER = {"prometheus_url": "https://prometheus.monitoring.svc:9090"}


def levels(llama: float = 480, mistral: float = 60, **more: Any) -> dict[str, Any]:
    loads = {
        "llama-8b": {"requests_per_minute": llama, "output_tokens": 512},
        "models/mistral-7b": {"requests_per_minute": mistral, "output_tokens": 256},
    }
    return {"classes": CLASSES, "loads": loads, **more}


def both(given: dict[str, Any], **args: Any) -> Recorded:
    return fleet([*LLAMA, *MISTRAL], service_levels=given, **args)


def bounds(recorded: Recorded) -> dict[str, tuple[int, int]]:
    scalers = (entry.inputs for entry in recorded.of(HPA))
    return {each["metadata"]["name"]: (each["spec"]["minReplicas"], each["spec"]["maxReplicas"]) for each in scalers}


def test_every_variant_has_an_autoscaler_with_bounds_of_its_own() -> None:
    """WVA spec 8.10 for the first: 155.387 requests a minute each."""
    recorded = both(levels())
    assert bounds(recorded) == {"llama-8b-va": (1, 4), "mistral-7b-va": (1, 3)}
    assert [entry.name for entry in recorded.of(HPA)] == ["fleet-models/llama-8b-va", "fleet-models/mistral-7b-va"]
    for deployment in recorded.of("kubernetes:apps/v1:Deployment"):
        assert "replicas" not in deployment.inputs["spec"]


def changed(before: Recorded, after: Recorded) -> set[str]:
    """Logical names of what an edit touches."""

    def written(entries: Iterable[Any]) -> dict[str, Any]:
        return {entry.key: (entry.inputs, entry.parent) for entry in entries}

    old, new = written(before.graph), written(after.graph)
    return {key.rpartition("::")[2] for key in old.keys() | new.keys() if old.get(key) != new.get(key)}


def test_an_edit_of_one_load_touches_one_autoscaler() -> None:
    assert changed(both(levels()), both(levels(llama=1000))) == {"fleet-models/llama-8b-va"}
    assert changed(both(levels()), both(levels(mistral=10))) == {"fleet-models/mistral-7b-va"}


def test_an_edit_of_one_promise_touches_one_autoscaler() -> None:
    quicker = [{**CLASSES[0], "models": {"llama3-1-8b-instruct": {"itl_ms": 26, "ttft_ms": 1000}}}, CLASSES[1]]
    assert changed(both(levels()), both({**levels(), "classes": quicker})) == {"fleet-models/llama-8b-va"}


def test_with_the_controller_alone_by_realizations() -> None:
    given = levels(controller=CONTROLLER)
    recorded = both(given, realizations={"llmd": "operator"})
    assert {entry.inputs["metadata"]["name"] for entry in recorded.of(VARIANT)} == {"llama-8b", "mistral-7b"}
    assert len(recorded.of("kubernetes:apps/v1:Deployment")) == 2  # models stay native
    maps = {entry.inputs["metadata"]["name"]: entry.inputs["data"] for entry in recorded.of(CONFIG_MAP)}
    assert set(maps["service-classes-config"]) == {"premium.yaml", "standard.yaml"}
    assert set(maps["accelerator-unit-costs"]) == {"L4", "L40S"}


def test_an_operator_that_makes_the_pods_sets_their_replicas_too() -> None:
    documents = copy.deepcopy(MISTRAL)
    documents[1]["spec"]["tolerations"] = [{"key": "nvidia.com/gpu", "operator": "Exists"}]
    with pytest.raises(InvalidArguments) as caught:
        fleet(documents, service_levels=levels(controller=CONTROLLER), realization="operator")
    assert "is left to an operator" in str(caught.value)


@pytest.mark.parametrize(
    ("args", "path", "expected"),
    [
        ({"service_levels": {"clases": []}}, "service_levels.clases", "did you mean 'classes'?"),
        ({"service_levels": {"classes": "x"}}, "service_levels.classes", "must be a list"),
        (
            {"service_levels": {"loads": {"a": {"requests_per_minute": 1, "output_tokens": 0}}}},
            "service_levels.loads.a.output_tokens",
            "must be at least 1, found 0",
        ),
        (
            {"service_levels": {"controller": {"prometheus_url": "http://a"}}},
            "service_levels.controller.prometheus_url",
            "must be an https URL",
        ),
        ({"realizations": {"lmd": "operator"}}, "realizations.lmd", "must be a family with an operator"),
    ],
)
def test_what_is_wrong_with_arguments_is_told_at_its_place(args: dict[str, Any], path: str, expected: str) -> None:
    with pytest.raises(InvalidArguments) as caught:
        fleet(LLAMA, **args)
    found = {error["property_path"]: error["reason"] for error in caught.value.errors or []}
    assert expected in found[path], found
