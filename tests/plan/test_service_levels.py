"""The settings of service levels: what they become, and what is wrong with them, at its own key."""

from decimal import Decimal
from typing import Any

import pytest
from pydantic import ValidationError

from components.fleet.levels import Accelerator, LatencyTargets, Load, ServiceClass, ServiceLevels, VariantController
from components.fleet.words import Realization
from components.plan.faults import faults
from components.plan.settings import FleetSettings

CLASS = {"name": "Premium", "priority": 1, "models": {"chat": {"itlMs": 24, "ttftMs": 500}}}
LOAD = {"requestsPerMinute": 40.5, "outputTokens": 178}


def levels(**given: Any) -> ServiceLevels:
    return FleetSettings.model_validate({"serviceLevels": given}).options().levels


def wrong(**given: Any) -> list[str]:
    with pytest.raises(ValidationError) as caught:
        FleetSettings.model_validate(given)
    return [f"{'.'.join(map(str, each.path))}: {each.reason}" for each in faults(caught.value, FleetSettings)]


def wrong_levels(**given: Any) -> list[str]:
    return [each.removeprefix("serviceLevels.") for each in wrong(serviceLevels=given)]


def test_everything_reaches_the_rendering() -> None:
    accelerators = {"A100": {"centsPerHour": 40.1, "device": "NVIDIA-A100-PCIE-80GB"}}
    controller = {
        "prometheusUrl": "https://prometheus.monitoring.svc:9090",
        "insecureSkipVerify": "true",  # as pulumi config set stores it
        "scaleToZero": True,
        "interval": "1m30s",
        "image": "registry.example.com/wva:1",
    }
    load = {**LOAD, "inputTokens": 512, "leastRequestsPerMinute": 0.1}
    found = levels(classes=[CLASS], loads={"ns/chat": load}, accelerators=accelerators, controller=controller)
    assert found == ServiceLevels(
        (ServiceClass("Premium", 1, {"chat": LatencyTargets(24, 500)}),),
        {"ns/chat": Load(Decimal("40.5"), Decimal("178.0"), Decimal("512.0"), Decimal("0.1"))},
        {"A100": Accelerator(Decimal("40.1"), "NVIDIA-A100-PCIE-80GB")},
        VariantController(
            "https://prometheus.monitoring.svc:9090",
            skip_verify=True,
            scale_to_zero=True,
            interval="1m30s",
            image="registry.example.com/wva:1",
        ),
    )


def test_defaults_promise_nothing() -> None:
    assert levels() == ServiceLevels()
    found = levels(classes=[{"name": "a", "models": {"m": {}}}], loads={"v": LOAD}, accelerators={"A100": {}})
    assert found.classes == (ServiceClass("a", 100, {"m": LatencyTargets(0, 0)}),)
    assert found.loads["v"].least_per_minute == 0
    assert found.accelerators["A100"] == Accelerator(None, "")


def test_a_load_is_found_by_name_and_better_by_namespace() -> None:
    found = levels(loads={"chat": LOAD, "b/chat": {**LOAD, "requestsPerMinute": 1}})
    per_minute = {namespace: found.load(namespace, "chat") for namespace in ("a", "b")}
    assert [load.per_minute for load in per_minute.values() if load] == [Decimal("40.5"), Decimal("1.0")]
    assert found.load("a", "other") is None


@pytest.mark.parametrize("name", ["Premium", "a", "gold-2", "tier.1"])
def test_names_of_classes_that_are_keys_of_a_config_map(name: str) -> None:
    assert levels(classes=[{**CLASS, "name": name}]).classes[0].name == name


@pytest.mark.parametrize("name", ["", "a b", "-a", "a/b", "a_b", "a\n", "${A}", 'a"', "é"])
def test_other_names_of_classes(name: str) -> None:
    (found,) = wrong_levels(classes=[{**CLASS, "name": name}])
    assert found.startswith("classes.0.name: must be letters, digits, '-' and '.'")


def test_a_key_is_at_most_253_characters() -> None:
    """With .yaml behind the name (k8s.io/apimachinery, IsConfigMapKey)."""
    assert levels(classes=[{**CLASS, "name": "x" * 248}])
    (found,) = wrong_levels(classes=[{**CLASS, "name": "x" * 249}])
    assert found.startswith("classes.0.name: must be at most 248 characters, found 'xxx")


def test_a_class_has_a_name_of_its_own_whatever_its_case() -> None:
    found = wrong_levels(classes=[CLASS, {**CLASS, "name": "other"}, {**CLASS, "name": "PREMIUM"}])
    assert found == ["classes.2.name: is that of another class, 'Premium'; upper and lower case are the same"]


@pytest.mark.parametrize("priority", [1, 100])
def test_priorities(priority: int) -> None:
    assert levels(classes=[{**CLASS, "priority": priority}]).classes[0].priority == priority


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"priority": 0}, "classes.0.priority: must be at least 1, found 0"),
        ({"priority": 101}, "classes.0.priority: must be at most 100, found 101"),
        ({"models": {}}, "classes.0.models: must have at least 1 item, found 0"),
        ({"models": {"": {}}}, "classes.0.models.: must have at least 1 character, found ''"),
        ({"models": {"m": {"itlMs": 24.5}}}, "classes.0.models.m.itlMs: must be an integer, found 24.5"),
        ({"models": {"m": {"itlMs": "24"}}}, "classes.0.models.m.itlMs: must be an integer, found '24'"),
        ({"models": {"m": {"ttftMs": -1}}}, "classes.0.models.m.ttftMs: must be at least 0, found -1"),
        ({"models": {"m": {"ttftMs": 10**9}}}, "classes.0.models.m.ttftMs: must be at most 3600000, found"),
        ({"models": {"m": {"itl": 1}}}, "classes.0.models.m.itl: unknown key; did you mean 'itlMs'?"),
        ({"prio": 1}, "classes.0.prio: unknown key; did you mean 'priority'?"),
    ],
)
def test_what_is_wrong_with_a_class(change: dict[str, Any], expected: str) -> None:
    (found,) = wrong_levels(classes=[{**CLASS, **change}])
    assert found.startswith(expected)


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"requestsPerMinute": -1}, "requestsPerMinute: must be at least 0, found -1"),
        ({"requestsPerMinute": float("nan")}, "requestsPerMinute: must be a finite number, found nan"),
        ({"requestsPerMinute": float("inf")}, "requestsPerMinute: must be a finite number, found inf"),
        ({"requestsPerMinute": 1e300}, "requestsPerMinute: must be at most 1000000000"),
        ({"requestsPerMinute": True}, "requestsPerMinute: must be a number, found True"),
        ({"requestsPerMinute": "40"}, "requestsPerMinute: must be a number, found '40'"),
        ({"outputTokens": 0.5}, "outputTokens: must be at least 1, found 0.5"),
        ({"leastRequestsPerMinute": 41}, "leastRequestsPerMinute: must be at most requestsPerMinute, which is 40.5"),
        ({"least": 1}, "least: unknown key; known keys: requestsPerMinute, outputTokens, "),
    ],
)
def test_what_is_wrong_with_a_load(change: dict[str, Any], expected: str) -> None:
    found = wrong_levels(loads={"chat": {**LOAD, **change}})
    assert any(each.startswith(f"loads.chat.{expected}") for each in found), found


def test_a_load_says_how_many_requests_and_how_long_answers_are() -> None:
    expected = ["loads.chat.requestsPerMinute: is required", "loads.chat.outputTokens: is required"]
    assert wrong_levels(loads={"chat": {}}) == expected


@pytest.mark.parametrize("name", ["", "Chat", "a/b/c", "/chat", "a/", "A/chat", "a.b/chat", "${X}"])
def test_names_that_no_variant_has(name: str) -> None:
    found = wrong_levels(loads={name: LOAD})
    assert found == [f"loads.{name}: must be the name of a variant, or namespace/name, found {name!r}"]


@pytest.mark.parametrize("name", ["H", "", "A100!", "-A100", "a b", "x" * 64])
def test_names_that_no_accelerator_has(name: str) -> None:
    (found,) = wrong_levels(accelerators={name: {}})
    assert found.startswith(f"accelerators.{name}: must be 2 to 63 letters, digits, '-', '_' and '.'")


@pytest.mark.parametrize("interval", ["60s", "1m30s", "500ms", "0.5s", "1h"])
def test_intervals(interval: str) -> None:
    assert levels(controller={"interval": interval}).controller.interval == interval


@pytest.mark.parametrize("interval", ["", "60", "0s", "-5s", "1d", "60 s", "60s\n", "1e3s"])
def test_what_is_no_interval(interval: str) -> None:
    (found,) = wrong_levels(controller={"interval": interval})
    assert found.startswith("controller.interval: must be a duration above zero, such as 30s or 1m30s, found")


@pytest.mark.parametrize("url", ["", "https://a", "https://a.b.svc:9090", "https://a.b/prometheus"])
def test_where_prometheus_may_be(url: str) -> None:
    assert levels(controller={"prometheusUrl": url}).controller.prometheus == url


@pytest.mark.parametrize(
    "url", ["http://a:9090", "prometheus:9090", "https://", "https://a b", "https://a:b", "HTTPS://a", "https://a\n"]
)
def test_where_prometheus_may_not_be(url: str) -> None:
    (found,) = wrong_levels(controller={"prometheusUrl": url})
    assert found.startswith(
        "controller.prometheusUrl: must be an https URL such as https://prometheus.monitoring.svc"
    )


def test_all_mistakes_are_told_at_once() -> None:
    found = wrong_levels(classes=[{**CLASS, "priority": 0}], loads={"chat": {**LOAD, "x": 1}}, lods={})
    assert [each.partition(":")[0] for each in found] == ["classes.0.priority", "loads.chat.x", "lods"]
    assert found[-1].endswith("unknown key; did you mean 'loads'?")


class TestRealizations:
    """A family may be realized otherwise than the others."""

    def test_reach_the_rendering(self) -> None:
        options = FleetSettings.model_validate({"realizations": {"llmd": "operator"}}).options()
        assert options.of_family("llmd").realization is Realization.OPERATOR
        assert options.of_family("llmaz").realization is Realization.NATIVE

    @pytest.mark.parametrize(
        ("given", "expected"),
        [
            (
                {"llmdd": "operator"},
                "realizations.llmdd: must be a family with an operator: kthena, llmaz, llmd, llmkube",
            ),
            # What LeaderWorkerSet becomes is the same with both.
            ({"leaderworkerset": "operator"}, "realizations.leaderworkerset: must be a family with an operator"),
            ({"llmd": "helm"}, "realizations.llmd: must be 'native' or 'operator', found 'helm'"),
        ],
    )
    def test_what_is_wrong(self, given: dict[str, str], expected: str) -> None:
        (found,) = wrong(realizations=given)
        assert found.startswith(expected)

    @pytest.mark.parametrize(
        ("realization", "others", "operated"),
        [
            ("native", {}, False),
            ("operator", {}, True),
            ("native", {"llmd": "operator"}, False),  # its operator makes no pods
            ("native", {"kthena": "operator"}, True),
            ("operator", {"kthena": "native", "llmkube": "native"}, True),
            ("operator", {"kthena": "native", "llmkube": "native", "llmaz": "native"}, False),
        ],
    )
    def test_whether_operators_make_pods(self, realization: str, others: dict[str, str], operated: bool) -> None:
        settings = FleetSettings.model_validate({"realization": realization, "realizations": others})
        assert settings.is_operated is operated
        assert settings.environment().operated is operated
