"""The controller of each release: what it is given, what its autoscalers follow, and how it is installed."""

from typing import Any

import kubernetes_validate  # type: ignore[import-untyped]
import pytest

from components.checks.metrics.chain import MetricSettings, metric_chain
from components.families import operator_objects, uninstallable
from components.families.family import OperatorSite
from components.families.llmd.kinds import RELEASES
from components.fleet.levels import ServiceLevels, VariantController
from components.fleet.objects import key_of
from components.fleet.rendered import Fleet
from components.fleet.words import WorkloadChoice
from tests.families.llmd.releases.support import of_parameters, of_target, rendered
from tests.families.llmd.support import (
    LABEL,
    Object,
    bounds,
    hpa_in,
    levels,
    of_llmkube,
    of_lws,
    per_minute,
    variant,
    variant_in,
)
from tests.fleets import errors

FIRST, SATURATION, BY_NAME, TARGET, LAST = "c0f645c", "v0.0.5", "v0.4.2", "v0.5.1", "4bbb15fa"
URL = "https://prometheus.observability.svc:9090"
MAPS = {"accelerator-unit-costs", "service-classes-config"}


def operated(document: Object, release: str, *more: Object, **options: Any) -> Fleet:
    return rendered(document, *(more or of_llmkube()), release=release, operator=True, **options)


def of_release(release: str, **fields: Any) -> Object:
    """A manifest of a release."""
    if release == FIRST:
        return variant()
    order = RELEASES.names
    if order.index(release) < order.index("v0.5.0"):
        document = of_parameters(**fields)
        if order.index(release) < order.index("v0.0.5"):
            document["spec"]["sloClassRef"] = variant()["spec"]["sloClassRef"]
        return document
    return of_target("chat", accelerator="L4")


HANDED_OVER = [FIRST, "v0.0.1", "v0.0.4", SATURATION, "v0.4.1", BY_NAME, "v0.5.0", TARGET, "v0.6.0", LAST]


@pytest.mark.parametrize("release", HANDED_OVER)
def test_the_manifest_is_handed_over_as_it_is_written(release: str) -> None:
    document = of_release(release)
    found = operated(document, release)
    assert not errors(found), [str(error) for error in errors(found)]
    (handed,) = [body for body in variant_in(found).others if body["kind"] == "VariantAutoscaling"]
    assert handed["spec"] == document["spec"]


@pytest.mark.parametrize(
    ("release", "refused"), [(SATURATION, True), (BY_NAME, True), ("v0.5.0", False), (TARGET, False)]
)
def test_a_name_with_quotes_is_escaped_by_later_releases(release: str, *, refused: bool) -> None:
    """The controller of v0.5.1 sends a backslash before the quote."""
    document = of_release(release)
    document["spec"]["modelID"] = 'm"x'
    more = of_llmkube(extraArgs=["--served-model-name", 'm"x'])
    found = [error.path for error in errors(operated(document, release, *more)) if "unescaped" in error.reason]
    assert found == (["spec.modelID"] if refused else [])


@pytest.mark.parametrize("release", HANDED_OVER)
def test_the_autoscaler_follows_the_signal_of_the_release(release: str) -> None:
    """internal/constants/metrics.go: renamed in v0.5.0."""
    (metric,) = hpa_in(operated(of_release(release), release))["spec"]["metrics"]
    later = RELEASES.names.index(release) >= RELEASES.names.index("v0.5.0")
    assert metric["external"]["metric"] == {
        "name": "wva_desired_replicas" if later else "inferno_desired_replicas",
        "selector": {"matchLabels": {"variant_name": "chat"}},
    }


def test_the_adapter_serves_the_later_signal_with_one_value_for_each_variant() -> None:
    """config/samples/prometheus-adapter-values.yaml at v0.5.1."""
    (rule,) = metric_chain(operated(of_release(TARGET), TARGET), MetricSettings()).adapter_rules["external"]
    assert rule["seriesQuery"] == 'wva_desired_replicas{variant_name!="",exported_namespace!=""}'
    assert rule["name"] == {"matches": "^wva_desired_replicas", "as": "wva_desired_replicas"}
    assert rule["metricsQuery"].startswith("max(wva_desired_replicas{")


@pytest.mark.parametrize(
    ("release", "spec", "expected"),
    [(TARGET, {}, (1, 10)), (LAST, {}, (1, 2)), (LAST, {"minReplicas": 0, "maxReplicas": 6}, (0, 6))],
)
def test_bounds_are_those_of_the_manifest(release: str, spec: Object, expected: tuple[int, int]) -> None:
    document = of_target("chat", accelerator="L4", **spec)
    assert bounds(operated(document, release)) == expected


def test_up_to_v0_4_2_the_profile_sizes_the_upper_bound() -> None:
    found = operated(of_parameters(), BY_NAME, levels=levels(per_minute(100)))
    assert bounds(found) == (1, 4)


@pytest.mark.parametrize(("release", "read"), [(FIRST, True), (BY_NAME, True), (TARGET, False)])
def test_prices_and_classes_are_for_the_releases_that_read_them(release: str, read: bool) -> None:
    found = operated(of_release(release), release)
    names = {body["metadata"]["name"] for body in found.objects if body["kind"] == "ConfigMap"}
    assert names == (MAPS if read else set())


def test_without_a_release_the_controller_is_the_contracts() -> None:
    found = operated(of_target("chat", accelerator="L4"), "")
    assert [(str(error.rule), error.path) for error in errors(found)] == [("release-mismatch", "spec.scaleTargetRef")]


@pytest.mark.parametrize(("release", "needed"), [(BY_NAME, True), (TARGET, True), ("v0.6.0", False), (LAST, False)])
def test_the_label_is_needed_where_the_controller_skips_a_variant_without_it(release: str, needed: bool) -> None:
    document = of_release(release, perfParms=None)
    document["metadata"].pop("labels", None)
    found = errors(operated(document, release))
    assert bool(found) == needed
    assert all(LABEL in error.reason for error in found)


@pytest.mark.parametrize(("release", "refused"), [(TARGET, True), ("v0.6.0", False), (LAST, False)])
def test_leader_worker_sets_are_scaled_from_v0_6_0_on(release: str, refused: bool) -> None:
    """internal/utils/scaletarget/lws.go is not there before."""
    document = of_target("chat", accelerator="L4", kind="LeaderWorkerSet")
    found = operated(document, release, *of_lws(), workload=WorkloadChoice.AUTO)
    reasons = [error.reason for error in errors(found)]
    assert bool(reasons) == refused, reasons
    assert all("scales Deployments only" in reason for reason in reasons)


def test_a_kind_that_the_controller_would_not_find_is_refused() -> None:
    (error,) = errors(operated(of_target("chat", accelerator="L4", kind="LeaderWorkerSet"), LAST))
    assert (error.path, error.rule) == ("spec.scaleTargetRef.kind", "reference-missing")
    assert "so the controller would not find it" in error.reason


@pytest.mark.parametrize(
    ("image", "release", "series"),
    [
        ("vllm/vllm-openai:v0.9.1", TARGET, "vllm:kv_cache_usage_perc"),
        ("vllm/vllm-openai:v0.11.0", TARGET, ""),
        ("vllm/vllm-openai:v0.9.1", "v0.0.4", ""),
    ],
)
def test_the_engine_must_export_the_series_of_the_release(image: str, release: str, series: str) -> None:
    """v0.9.2 of vLLM renamed gpu_cache_usage_perc, which the controllers from v0.0.5 on read by its new name."""
    (workload,) = of_lws()
    (container,) = workload["spec"]["leaderWorkerTemplate"]["workerTemplate"]["spec"]["containers"]
    container["image"] = image
    found = operated(of_release(release), release, workload)
    missing = [error.reason for error in errors(found) if error.rule == "metrics-not-exported"]
    assert [series in reason for reason in missing] == ([True] if series else [])


def two(first: str, second: str, namespaces: tuple[str, str] = ("ns", "ns")) -> list[Object]:
    variants = [of_target(name, f"{name}-model", accelerator="L4") for name in (first, second)]
    for document, namespace in zip(variants, namespaces, strict=True):
        document["metadata"]["namespace"] = namespace
    served = [
        each
        for name, space in zip((first, second), namespaces, strict=True)
        for each in of_llmkube(f"{name}-model", space)
    ]
    return [*variants, *served]


def test_several_variants_of_a_model_are_the_point_of_later_controllers() -> None:
    """The contract's measures all requests of a model for each of them."""
    assert errors(rendered(*two("one", "two"), release=TARGET, operator=True)) == []


def test_a_name_in_two_namespaces_is_no_conflict_from_v0_5_0_on() -> None:
    """internal/engines/saturation/engine.go keeps results by namespace and name."""
    documents = two("one", "one", ("ns", "other"))
    assert errors(rendered(*documents, release=TARGET, operator=True)) == []
    first, second, *served = documents
    for document in (first, second):
        document["spec"] = of_parameters()["spec"]
        document["metadata"]["name"] = "one-model"
    found = errors(rendered(first, second, *served, release=BY_NAME, operator=True))
    assert [error.rule for error in found] == ["sizing-conflict"]


# -- installed


def installed(release: str) -> dict[str, Object]:
    site = OperatorSite(ServiceLevels(controller=VariantController(URL)), scraper="monitoring", release=release)
    return {f"{kind}/{name}": body for body in operator_objects("wva", site) for kind, _, name in [key_of(body)]}


INSTALLED = [FIRST, SATURATION, "v0.4.1", BY_NAME]


@pytest.mark.parametrize("release", INSTALLED)
def test_each_object_is_what_kubernetes_takes(release: str) -> None:
    for name, body in installed(release).items():
        if not name.startswith("ServiceMonitor/"):
            kubernetes_validate.validate(body, "1.36", strict=True)


def test_the_contracts_release_is_the_default() -> None:
    assert installed("") == installed(FIRST)


@pytest.mark.parametrize("release", INSTALLED)
def test_the_definition_is_that_of_the_release(release: str) -> None:
    (version,) = installed(release)["CustomResourceDefinition/variantautoscalings.llmd.ai"]["spec"]["versions"]
    entry = version["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"]["modelProfile"]["properties"]
    assert ("perfParms" in entry["accelerators"]["items"]["properties"]) == (release != FIRST)


IMAGES = {
    FIRST: "quay.io/infernoautoscaler/inferno-controller:0.0.1-multi-arch",
    SATURATION: "ghcr.io/llm-d/workload-variant-autoscaler:v0.0.5",
    "v0.4.1": "ghcr.io/llm-d-incubation/workload-variant-autoscaler:v0.4.1",
    BY_NAME: "ghcr.io/llm-d-incubation/workload-variant-autoscaler:v0.4.2",
}
"""What .github/workflows of each tag push."""


@pytest.mark.parametrize("release", INSTALLED)
def test_the_pods_are_those_of_the_release(release: str) -> None:
    pod = installed(release)["Deployment/inferno-autoscaler-controller-manager"]["spec"]["template"]["spec"]
    (container,) = pod["containers"]
    assert container["image"] == IMAGES[release]
    variables = {each["name"]: each for each in container["env"]}
    # From v0.0.5 on it reads ConfigMaps of its own namespace, before of one that is compiled in.
    assert ("POD_NAMESPACE" in variables) == (release != FIRST)
    settings = {
        each["valueFrom"]["configMapKeyRef"]["name"] for each in variables.values() if "configMapKeyRef" in str(each)
    }
    (name,) = settings
    assert f"ConfigMap/{name}" in installed(release)
    prefix = "inferno" if release == FIRST else "workload-variant"
    assert name == f"{prefix}-autoscaler-variantautoscaling-config"


def allowed(release: str) -> set[tuple[str, str]]:
    rules = installed(release)["ClusterRole/inferno-autoscaler-manager"]["rules"]
    return {(resource, verb) for rule in rules for resource in rule["resources"] for verb in rule["verbs"]}


def test_later_releases_may_read_pods_and_write_events() -> None:
    """config/rbac/role.yaml at v0.0.5."""
    added = {(resource, verb) for resource in ("pods", "servicemonitors") for verb in ("list", "watch")}
    added |= {("events", "create"), ("events", "patch")}
    for release in INSTALLED[1:]:
        assert allowed(release) - allowed(FIRST) == added


@pytest.mark.parametrize("release", RELEASES.names)
def test_what_cannot_be_installed_has_its_reason(release: str) -> None:
    family, reason = uninstallable("wva", {"llmd": release})
    assert family == "llmd"
    if release in INSTALLED:
        assert reason == ""
        return
    assert "list wva under present" in reason
    order = RELEASES.names.index(release)
    word = "InferencePool"
    if order < RELEASES.names.index(SATURATION):
        word = "compiled in"
    elif release == "v0.9.0":
        word = "no kind VariantAutoscaling"
    assert word in reason
