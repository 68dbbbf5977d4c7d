"""Defects of the operators by release: each is reported in the releases that have it, and in no other."""

from collections.abc import Mapping
from typing import Any

import pytest

from components.contract.problems import Problem
from components.families import objects
from components.families.llmaz.kinds import RELEASES
from components.families.llmaz.operator import PINNED
from components.families.llmaz.shipped import shipped
from components.fleet.options import Options
from components.fleet.rendered import Fleet
from components.fleet.words import Realization
from components.plan.prerequisites.charts import charts
from components.plan.rendering import render_fleet
from tests.families.llmaz.generated import CPU
from tests.families.llmaz.services import template, two
from tests.fleets import Object, endpoint_of, open_model, playground, runner, runtime, service, workload_of

ALL = RELEASES.names
OLD, NEW = ALL[:2], ALL[2:]
HPA: Object = {"hpa": {"metrics": [CPU]}}
ENV = [{"name": "A", "value": "1"}]
DRAFTED = {"models": [{"name": "m"}, {"name": "d", "role": "draft"}]}
SKIP = {"llmaz.io/skip-model-loader": "true"}


def fleet_in(release: str, *documents: Object, realization: Realization = Realization.OPERATOR) -> Fleet:
    """Render documents that are read in a release, as the release has them."""
    releases = {"llmaz": release} if release else {}
    manifests = objects([written(document, release) for document in documents], releases=releases)
    assert not manifests.problems, list(map(str, manifests.problems))
    return render_fleet(manifests.resources, Options(realization=realization, releases=releases))


def written(document: Object, release: str) -> Object:
    """Write a document of the contract's form in the form of a release."""
    spec = dict(document["spec"])
    if release in OLD and document["kind"] == "Service":
        group = spec.pop("workloadTemplate")
        whole: Object = {"leaderWorkerTemplate": {k: v for k, v in group.items() if k != "networkConfig"}}
        whole |= {k: spec.pop(k) for k in ("replicas", "rolloutStrategy") if k in spec}
        spec["workloadTemplate"] = whole
    if release == ALL[0] and document["kind"] == "OpenModel" and "inferenceConfig" in spec:
        flavors = [
            {("requests" if key == "limits" else key): value for key, value in flavor.items()}
            for flavor in spec["inferenceConfig"]["flavors"]
        ]
        spec["inferenceConfig"] = {"flavors": flavors}
    if release == ALL[0] and document["kind"] == "Playground" and "backendRuntimeConfig" in spec:
        config = dict(spec["backendRuntimeConfig"])
        if "backendName" in config:
            config["name"] = config.pop("backendName")
        spec["backendRuntimeConfig"] = config
    if release == ALL[0] and document["kind"] == "BackendRuntime":
        configs = spec.pop("recommendedConfigs")
        spec |= {"args": [{"name": config["name"]} for config in configs], "resources": {}}
    return {**document, "spec": spec}


def found_in(release: str, *documents: Object, severity: str = "error") -> list[Problem]:
    problems = fleet_in(release, *documents).problems
    return [problem for problem in problems if problem.severity == severity and "operator" in problem.reason]


def gpus(**params: str) -> list[Object]:
    return [{"name": "f", "limits": {"nvidia.com/gpu": 2}, "params": params}]


ERRORS: dict[str, tuple[list[Object], str, list[str]]] = {
    "TP and PP": (
        [open_model(flavors=gpus(TP="2", PP="2")), playground()],
        "ignores the flavor's params TP and PP",
        NEW,
    ),
    "TP alone": (
        [open_model(flavors=gpus(TP="2")), playground()],
        "ignores the flavor's param",
        ALL,
    ),
    "a group without commands": (
        [open_model(flavors=gpus(TP="2", PP="2")), playground(backendRuntimeConfig={"backendName": "sglang"})],
        "crashes on groups with BackendRuntime 'sglang'",
        OLD,
    ),
    "workers that wait for their leader": (
        [open_model(), service(workloadTemplate=two())],
        "creates the workers only once the leader is ready",
        NEW,
    ),
    "weights of the node": (
        [open_model(source="host:///data/m"), playground()],
        "adds two volumes of one name",
        ALL[5:],
    ),
    "a token of its own": (
        [open_model(), playground(backendRuntimeConfig={"envs": [{"name": "HF_TOKEN", "value": "x"}]})],
        "gives the model loader HF_TOKEN twice",
        NEW,
    ),
    "a token of a Service": (
        [
            open_model(),
            service(
                workloadTemplate={
                    "workerTemplate": {"spec": {"containers": [runner(env=[{"name": "HF_TOKEN", "value": "x"}])]}}
                }
            ),
        ],
        "gives the model loader HF_TOKEN twice",
        NEW,
    ),
    "a variable that overrides another": (
        [open_model(), runtime(envs=ENV), playground(backendRuntimeConfig={"backendName": "own", "envs": ENV})],
        "copies the repeated variables",
        ALL[:3],
    ),
    "repeated variables of a runtime": (
        [open_model(), runtime("vllm", envs=[*ENV, *ENV]), playground()],
        "copies the repeated variables",
        ALL,
    ),
    "weights that the engine fetches": (
        [open_model(), playground(annotations=SKIP)],
        "ignores it and loads the weights into the pod",
        ALL[:5],
    ),
    "a bucket": (
        [open_model(source="s3://bucket/m"), playground(annotations=SKIP)],
        "rejects s3://",
        ALL[:5],
    ),
}


@pytest.mark.parametrize("name", ERRORS)
def test_errors_are_those_of_the_release(name: str) -> None:
    documents, words, releases = ERRORS[name]
    broken = [r for r in ALL if any(words in problem.reason for problem in found_in(r, *documents))]
    assert broken == releases


def test_without_a_release_the_defects_are_those_of_the_chart_that_is_installed() -> None:
    assert charts()["llmaz"].app == PINNED
    assert RELEASES.find(PINNED).operator == charts()["llmaz"].version
    for documents, words, releases in ERRORS.values():
        is_broken = any(words in problem.reason for problem in found_in("", *documents))
        assert is_broken is (PINNED in releases), words


def elastic(**config: Any) -> Object:
    return playground(
        backendRuntimeConfig={"backendName": "own", **config}, elasticConfig={"minReplicas": 1, "maxReplicas": 3}
    )


def test_a_draft_model_is_not_used_where_the_schema_names_the_configuration() -> None:
    documents = (
        open_model(),
        open_model("d"),
        playground(modelClaims=DRAFTED, backendRuntimeConfig={"version": "v0.7.3"}),
    )
    broken = [r for r in ALL if any("does not use the draft model" in p.reason for p in found_in(r, *documents))]
    assert broken == ["v0.1.3"]


def test_the_trigger_of_another_configuration_is_not_found() -> None:
    own = runtime(recommendedConfigs=[{"name": "default"}, {"name": "other", "scaleTrigger": HPA}])
    broken = [
        release
        for release in ALL[1:]
        if any(
            "looks for a scaleTrigger" in p.reason
            for p in found_in(release, open_model(), own, elastic(configName="other"))
        )
    ]
    assert broken == ALL[1:]
    named = runtime(recommendedConfigs=[{"name": "default", "scaleTrigger": HPA}])
    assert not found_in("v0.1.4", open_model(), named, elastic(configName="default"))


def test_an_upper_bound_is_required_since_v012() -> None:
    bounded = playground(elasticConfig={"minReplicas": 2, "scaleTrigger": HPA})
    assert not found_in("79d833c", open_model(), bounded)
    assert [p.path for p in found_in("", open_model(), bounded)] == ["spec.elasticConfig.maxReplicas"]


WARNINGS: dict[str, tuple[list[Object], str, list[str]]] = {
    "several variables": (
        [
            open_model(),
            playground(backendRuntimeConfig={"envs": [*ENV, {"name": "B", "value": "2"}]}),
        ],
        "orders several variables at random",
        ALL[3:],
    ),
    "bounds of a rollout": (
        [
            open_model(),
            service(rolloutStrategy={"rollingUpdateConfiguration": {"maxUnavailable": 2}}),
        ],
        "updates one replica at a time",
        OLD,
    ),
    "restarts": (
        [open_model(), service(workloadTemplate={"workerTemplate": template(), "restartPolicy": "None"})],
        "ignores it, so RecreateGroupOnPodRestart applies",
        ALL,
    ),
}


@pytest.mark.parametrize("name", WARNINGS)
def test_warnings_are_those_of_the_release(name: str) -> None:
    documents, words, releases = WARNINGS[name]
    told = [r for r in ALL if any(words in p.reason for p in found_in(r, *documents, severity="warning"))]
    assert told == releases


def test_messages_name_the_release() -> None:
    documents, _, _ = ERRORS["weights of the node"]
    (problem,) = found_in("v0.1.4", *documents)
    assert "the llmaz operator v0.1.4 adds two volumes" in problem.reason


@pytest.mark.parametrize("release", ALL)
def test_v010_creates_no_service_for_the_pods(release: str) -> None:
    *_, item = fleet_in(release, open_model(), playground()).rendered
    body = endpoint_of(item).body
    assert (body is not None) is (release == "v0.1.0")
    if body is not None:
        assert body["spec"]["selector"] == {
            "leaderworkerset.sigs.k8s.io/name": "p",
            "leaderworkerset.sigs.k8s.io/worker-index": "0",
        }
        assert body in item.objects


SHIPPED: Mapping[str, tuple[str, dict[str, str | None]]] = {
    "vllm": ("v0.7.3", {"v0.1.0": "v0.6.0", "v0.1.1": "v0.6.0"}),
    "sglang": ("v0.4.5-cu121", dict.fromkeys(ALL[:5], "v0.2.10-cu121")),
    "tensorrt-llm": ("25.03-trtllm-python-py3", dict.fromkeys(ALL[:5])),
    "tgi": ("2.3.1", {}),
}


@pytest.mark.parametrize("name", SHIPPED)
def test_runtimes_are_those_of_the_installed_chart(name: str) -> None:
    """Source: InftyAI/llmaz, chart/templates/backends and chart/values.global.yaml at the tags."""
    newest, earlier = SHIPPED[name]
    for release in ALL:
        found = shipped(name, release=release)
        assert (found and found.spec.version) == earlier.get(release, newest), release


def test_llamacpp_exported_no_metrics_before_v014() -> None:
    for release in ALL:
        found = shipped("llamacpp", release=release)
        assert found is not None
        configs = {config.name: config.args or [] for config in found.spec.recommended_configs or ()}
        assert ("--metrics" in configs["default"]) is (release in ALL[5:])
        assert ("speculative-decoding" in configs) is (release in ALL[5:])


def test_the_installed_operator_runs_its_own_version_of_an_engine() -> None:
    *_, item = fleet_in("v0.1.1", open_model(), playground()).rendered
    assert workload_of(item).container["image"] == "vllm/vllm-openai:v0.6.0"
    *_, native = fleet_in("v0.1.1", open_model(), playground(), realization=Realization.NATIVE).rendered
    assert workload_of(native).container["image"] == "vllm/vllm-openai:v0.7.3"
