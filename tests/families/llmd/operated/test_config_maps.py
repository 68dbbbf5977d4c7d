"""The ConfigMaps of the controller: once for all variants, and read by it as they were meant (WVA spec 4)."""

import json
from typing import Any

import pytest
import yaml
from hypothesis import example, given
from hypothesis import strategies as st

from components.families.llmd.controller.config_maps import (
    MANDATORY,
    class_document,
    cost_entry,
    scalar,
    settings_map,
)
from components.families.llmd.controller.installation import installation_of
from components.fleet.levels import LatencyTargets, ServiceClass, VariantController
from tests.families.llmd.operated.support import (
    FREEMIUM,
    HOME,
    MODEL,
    PREMIUM,
    item,
    levels,
    maps,
    operated,
    served,
    the_error,
    variant,
    working,
)

FIRST = installation_of("c0f645c")
LLAMA, GRANITE = "meta/llama0-70b", "ibm/granite-13b"
"""Models of upstream's classes."""
HOSTILE = [
    *(
        "y",
        "Y",
        "no",
        "On",
        "off",
        "true",
        "null",
        "NULL",
        "~",
        "",
        " ",
        "0x1",
        "0o7",
        "1e3",
        "1_000",
        ".inf",
        ".NaN",
    ),
    *("12:30:45", "2001-12-14", "a: b", "a #b", "- a", "? a", "&a", "*a", "!a", "%a", "@a", "`a", "[a", "{a", ",a"),
    *(
        '"a"',
        "'a'",
        "a'b",
        'a"b',
        "a\\b",
        "a\nb",
        "a\r\nb",
        "a\tb",
        "a\x00b",
        "a\x7fb",
        "a\x85b",
        "a\u2028b",
        "\ufeffa",
    ),
    *(
        "${X}",
        "$(X)",
        "{{x}}",
        "модель",
        "模型",
        "a\U0001f600b",
        "a\u00a0b",
        "---",
        "...",
        "<<",
        "=",
        "a ",
        " a",
        "a:",
    ),
]


def test_the_samples_of_upstream() -> None:
    """deploy/configmap-*.yaml at c0f645c: the same texts, but for line breaks in JSON, which mean nothing there."""
    models = {"A100": MODEL, "G2": LLAMA, "MI300X": GRANITE}
    workloads = [each for name, model in models.items() for each in served(name.lower(), model=model)[1:]]
    variants = [variant(name.lower(), name, model) for name, model in models.items()]
    found = maps(working(served()[0], *workloads, *variants))
    assert found["accelerator-unit-costs"] == {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "accelerator-unit-costs", "namespace": HOME},
        "data": {
            "A100": '{"device": "NVIDIA-A100-PCIE-80GB", "cost": "40.00"}',
            "G2": '{"device": "Intel-Gaudi-2-96GB", "cost": "23.00"}',
            "MI300X": '{"device": "AMD-MI300X-192GB", "cost": "65.00"}',
        },
    }
    assert found["service-classes-config"] == {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "service-classes-config", "namespace": HOME},
        "data": {
            "freemium.yaml": (
                "name: Freemium\npriority: 10\ndata:\n"
                "  - model: ibm/granite-13b\n    slo-tpot: 200\n    slo-ttft: 2000\n"
                "  - model: meta/llama0-7b\n    slo-tpot: 150\n    slo-ttft: 1500\n"
            ),
            "premium.yaml": (
                "name: Premium\npriority: 1\ndata:\n"
                "  - model: default/default\n    slo-tpot: 24\n    slo-ttft: 500\n"
                "  - model: meta/llama0-70b\n    slo-tpot: 80\n    slo-ttft: 500\n"
            ),
        },
    }


def test_the_settings_have_every_mandatory_key() -> None:
    url = "https://prometheus.monitoring.svc:9090"
    assert settings_map(VariantController(url), FIRST)["data"] == {
        "PROMETHEUS_BASE_URL": url,
        "PROMETHEUS_TLS_INSECURE_SKIP_VERIFY": "false",
        "WVA_SCALE_TO_ZERO": "false",
        "GLOBAL_OPT_INTERVAL": "60s",
    }
    found = settings_map(VariantController(skip_verify=True, scale_to_zero=True, interval="2m"), FIRST)
    assert found["metadata"] == {"name": "inferno-autoscaler-variantautoscaling-config", "namespace": HOME}
    assert set(MANDATORY) < set(found["data"])
    assert [*found["data"].values()] == ["", "true", "true", "2m"]


def test_another_variant_changes_nothing_else() -> None:
    workloads = [*served("chat"), *served("code", model=LLAMA)[1:]]
    before = working(*workloads, variant())
    after = working(*workloads, variant(), variant("code", "G2", LLAMA))
    known = {(body["kind"], body["metadata"]["name"]): body for body in before.objects}
    now = {(body["kind"], body["metadata"]["name"]): body for body in after.objects}
    changed = {key for key, body in known.items() if now[key] != body}
    # Its own workload has no replicas any more: they are the autoscaler's.
    assert changed == {("ConfigMap", "accelerator-unit-costs"), ("Deployment", "code")}
    assert now.keys() - known.keys() == {
        ("VariantAutoscaling", "code"),
        ("HorizontalPodAutoscaler", "code-va"),
    }
    assert list(maps(after)["accelerator-unit-costs"]["data"]) == ["A100", "G2"]


def test_they_are_no_variants_and_nothing_is_made_without_one() -> None:
    assert not maps(operated(*served("chat")))
    fleet = working(*served("chat"), variant())
    own = [each for each in fleet.rendered if each.kind == "ConfigMap"]
    assert [(each.namespace, each.requires, len(each.objects)) for each in own] == [(HOME, frozenset(), 1)] * 2
    assert all(each.source is not item(fleet).source for each in own)


@pytest.mark.parametrize("order", [(PREMIUM, FREEMIUM), (FREEMIUM, PREMIUM)])
def test_the_order_of_what_is_written_is_none(order: tuple[ServiceClass, ...]) -> None:
    documents = [*served("a", model=LLAMA), *served("b")[1:], variant("a", "G2", LLAMA), variant("b")]
    one = working(*documents, given=levels(*order))
    other = working(*reversed(documents))
    assert json.dumps(maps(one)) == json.dumps(maps(other))


class TestNames:
    @pytest.mark.parametrize("name", HOSTILE)
    def test_hostile_ones_are_read_as_they_were_written(self, name: str) -> None:
        document = class_document(ServiceClass(name, 3, {name: LatencyTargets(1, 2)}))
        assert read(document) == {"name": name, "priority": 3, "data": [entry(name, 1, 2)]}

    @given(st.dictionaries(st.text(st.characters(exclude_categories=["Cs"])), st.integers(0, 2**31), max_size=5))
    @example(dict.fromkeys(HOSTILE, 1))
    def test_any_are_read_as_they_were_written(self, models: dict[str, int]) -> None:
        targets = {model: LatencyTargets(number, number) for model, number in models.items()}
        document = class_document(ServiceClass("Any", 100, targets))
        assert read(document)["data"] == [entry(model, n, n) for model, n in sorted(models.items())]
        assert document.count("\n") == 3 + 3 * len(models) or not models

    @pytest.mark.parametrize("name", HOSTILE)
    def test_what_could_be_anything_else_is_quoted(self, name: str) -> None:
        assert scalar(name).startswith('"')

    @pytest.mark.parametrize("name", ["Premium", "meta/llama0-70b", "unsloth/Meta-Llama-3.1-8B", "a_b.c"])
    def test_others_stay_as_they_are(self, name: str) -> None:
        assert scalar(name) == name

    @given(st.text(st.characters(exclude_categories=["Cs"])))
    def test_products_of_accelerators(self, device: str) -> None:
        assert json.loads(cost_entry(device, "40.00")) == {"device": device, "cost": "40.00"}


def test_the_key_of_a_class_is_its_name_in_lower_case() -> None:
    """Names are what a key can have: tests/plan/test_service_levels.py."""
    fleet = working(*served("chat"), variant(), given=levels(PREMIUM, ServiceClass("Gold.EU-1")))
    assert list(maps(fleet)["service-classes-config"]["data"]) == ["gold.eu-1.yaml", "premium.yaml"]


def test_half_a_character_stops_nobody() -> None:
    document = class_document(ServiceClass("a\ud800", 1, {"b\udfff": LatencyTargets(1, 1)}))
    assert read(document)["data"] == [entry("b?", 1, 1)]
    assert json.loads(cost_entry("c\ud800", "1.00")) == {"device": "c?", "cost": "1.00"}


def test_what_is_too_large() -> None:
    """1 MiB of values: kubernetes/kubernetes, ValidateConfigMap."""
    many = ServiceClass("Many", 2, {f"{number:05}-{'x' * 1000}": LatencyTargets(1) for number in range(1100)})
    found = the_error(operated(*served("chat"), variant(), given=levels(PREMIUM, many)))
    assert "ConfigMap service-classes-config" in found
    assert "1048576" in found
    few = ServiceClass("Few", 2, {f"{number:05}-{'x' * 1000}": LatencyTargets(1) for number in range(900)})
    assert working(*served("chat"), variant(), given=levels(PREMIUM, few))


def entry(model: str, tpot: int, ttft: int) -> dict[str, Any]:
    return {"model": model, "slo-tpot": tpot, "slo-ttft": ttft}


def read(document: str) -> Any:
    return yaml.safe_load(document)
