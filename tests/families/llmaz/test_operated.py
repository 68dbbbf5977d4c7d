"""What is left to llmaz's operator, and what it does otherwise (llmaz spec 1.3, 2.6, 2.7)."""

from dataclasses import replace
from typing import Any

import pytest

from components.contract.problems import Problem
from components.fleet.words import Edition, Realization, WorkloadChoice
from tests.families.llmaz.services import HPA, MODEL, template, two
from tests.fleets import (
    GPU,
    endpoint_of,
    errors,
    fleet_of,
    objects,
    open_model,
    playground,
    runner,
    runtime,
    service,
    the_error,
    warnings,
    workload_of,
)

TAINTED = open_model(flavors=[{**GPU, "params": {"INSTANCE-TYPE": "g5.xlarge"}}])
EXISTS = {"key": "nvidia.com/gpu", "operator": "Exists"}
STOPS = {"type": "RollingUpdate", "rollingUpdateConfiguration": {"partition": 1}}
ZONE = {"leaderworkerset.sigs.k8s.io/exclusive-topology": "topology.kubernetes.io/zone"}


def elastic(**bounds: int) -> dict[str, Any]:
    return playground(elasticConfig={"scaleTrigger": HPA, **bounds})


def tolerant(*tolerations: dict[str, Any], **fields: Any) -> dict[str, Any]:
    return service(workloadTemplate={"workerTemplate": template(tolerations=list(tolerations)), **fields})


def left(*documents: dict[str, Any]) -> list[Problem]:
    """What is wrong with documents that are left to the operator."""
    return list(fleet_of(*documents, realization=Realization.OPERATOR).problems)


BROKEN = [
    (
        "no upper bound",
        [MODEL, elastic(minReplicas=1)],
        "spec.elasticConfig.maxReplicas",
        "set it",
        [MODEL, elastic(maxReplicas=3)],
    ),
    (
        "weights on the node",
        [open_model(source="host:///data/m"), playground()],
        "spec.modelClaim.modelName",
        "on each attempt",
        [open_model(), playground()],
    ),
    (
        "several pods",
        [MODEL, service(workloadTemplate=two())],
        "spec.workloadTemplate.size",
        "LeaderReady",
        [MODEL, service(workloadTemplate=two(size=1))],
    ),
    (
        "tainted nodes",
        [TAINTED, playground()],
        "spec.modelClaim.modelName",
        "{key: nvidia.com/gpu, operator: Exists}",
        [TAINTED, tolerant(EXISTS)],
    ),
    (
        "tainted nodes of a Service",
        [TAINTED, tolerant({"key": "nvidia.com/gpu", "value": "present"})],
        "spec.workloadTemplate.workerTemplate.spec.tolerations",
        "stay Pending; add {key: nvidia.com/gpu, operator: Exists}",
        [TAINTED, tolerant({"key": "nvidia.com/gpu", "value": "true"})],
    ),
    (
        "a tag that is code",
        [open_model(source="ollama://q; id"), playground(backendRuntimeConfig={"backendName": "ollama"})],
        "spec.modelClaim.modelName",
        "would execute parts of it",
        [open_model(source="ollama://q:0.5b"), playground(backendRuntimeConfig={"backendName": "ollama"})],
    ),
]


@pytest.mark.parametrize(
    ("documents", "path", "words", "mended"), [row[1:] for row in BROKEN], ids=[r[0] for r in BROKEN]
)
def test_what_the_operator_breaks_is_refused_with_the_way_out(
    documents: list[Any], path: str, words: str, mended: list[Any]
) -> None:
    (problem,) = [problem for problem in left(*documents) if problem.is_error]
    assert problem.path == path
    assert words in problem.reason
    assert "the llmaz operator " in problem.reason
    assert "realization 'native'" in problem.reason
    assert not [str(problem) for problem in left(*mended) if problem.is_error]
    assert not errors(fleet_of(*documents))


DOUBTFUL = [
    (
        "labels",
        [open_model(flavors=[{**GPU, "nodeSelector": {"a": "b"}}]), playground()],
        "spec.modelClaim.modelName",
    ),
    ("topology", [MODEL, playground(annotations=ZONE)], f"metadata.annotations[{next(iter(ZONE))}]"),
    ("restarts", [MODEL, tolerant(restartPolicy="None")], "spec.workloadTemplate.restartPolicy"),
    ("subgroups", [MODEL, tolerant(subGroupPolicy={"subGroupSize": 1})], "spec.workloadTemplate.subGroupPolicy"),
]


@pytest.mark.parametrize(("documents", "path"), [row[1:] for row in DOUBTFUL], ids=[row[0] for row in DOUBTFUL])
def test_what_the_operator_drops_is_told(documents: list[Any], path: str) -> None:
    fleet = fleet_of(*documents, realization=Realization.OPERATOR)
    assert [problem.path for problem in warnings(fleet) if "the llmaz operator" in problem.reason] == [path]
    assert not errors(fleet)
    assert "the llmaz operator" not in str(fleet_of(*documents).problems)


def test_fields_that_no_release_has_are_refused() -> None:
    """The API server rejects them."""
    stopped = tolerant() | {"spec": {**tolerant()["spec"], "rolloutStrategy": STOPS}}
    (problem,) = [problem for problem in left(MODEL, stopped) if problem.is_error]
    assert problem.path == "spec.rolloutStrategy.rollingUpdateConfiguration.partition"
    assert "no release has it" in problem.reason
    assert not errors(fleet_of(MODEL, stopped))


@pytest.mark.parametrize("made", [playground(), service(), tolerant(restartPolicy="RecreateGroupOnPodRestart")])
def test_what_the_operator_does_alike_is_left_to_it(made: dict[str, Any]) -> None:
    assert left(MODEL, made) == []


@pytest.mark.parametrize("made", [playground(), service()])
def test_an_api_server_that_adds_tolerations_needs_none(made: dict[str, Any]) -> None:
    """ExtendedResourceToleration, which EKS has enabled."""
    fleet = fleet_of(TAINTED, made, realization=Realization.OPERATOR, tolerates_devices=True)
    assert not errors(fleet)


def test_pods_that_get_no_device_go_elsewhere() -> None:
    router = {"spec": {"containers": [{"name": "router", "image": "example.com/r:1"}]}}
    group = {"leaderTemplate": router, "workerTemplate": template()}
    found = [p.path for p in left(TAINTED, service(workloadTemplate=group)) if "taint" in p.reason]
    assert found == ["spec.workloadTemplate.workerTemplate.spec.tolerations"]


def test_every_template_must_tolerate_the_taint() -> None:
    group = {"leaderTemplate": template(tolerations=[EXISTS]), "workerTemplate": {"spec": {"containers": [runner()]}}}
    found = [p.path for p in left(TAINTED, service(workloadTemplate=group)) if p.is_error]
    assert found == ["spec.workloadTemplate.workerTemplate.spec.tolerations"]


class TestOperator:
    """The typed resources go to the operator as they were written."""

    DOCUMENTS = (MODEL, runtime(), playground(backendRuntimeConfig={"backendName": "own"}))

    def test_resources_keep_what_was_written(self) -> None:
        made = objects(*self.DOCUMENTS, realization=Realization.OPERATOR, namespace="llm")
        assert set(made) == {"OpenModel", "BackendRuntime", "Playground"}
        assert made["OpenModel"] == MODEL
        assert made["BackendRuntime"] == runtime()
        assert made["Playground"]["spec"] == self.DOCUMENTS[2]["spec"]
        assert made["Playground"]["metadata"] == {"name": "p", "namespace": "llm"}

    def test_models_and_runtimes_come_first(self) -> None:
        kinds = [item.kind for item in fleet_of(*reversed(self.DOCUMENTS), realization=Realization.OPERATOR).rendered]
        assert kinds[-1] == "Playground"
        assert {item.kind for item in fleet_of(*self.DOCUMENTS).rendered} == {"Playground"}

    def test_endpoint_and_demand_are_known_all_the_same(self) -> None:
        flavored = open_model(flavors=[{**GPU, "nodeSelector": {"pool": "gpu"}}])
        item = fleet_of(flavored, playground(), realization=Realization.OPERATOR).rendered[-1]
        native = fleet_of(flavored, playground()).rendered[-1]
        # The operator makes the Service; everything else of the endpoint is the same.
        assert endpoint_of(item) == replace(endpoint_of(native), body=None)
        assert item.pods == native.pods
        assert item.needs == {"llmaz"}
        assert workload_of(item).kind == "LeaderWorkerSet"

    def test_parallelism_that_the_operator_would_ignore_is_refused(self) -> None:
        gpus = {"name": "f", "limits": {"nvidia.com/gpu": 4}, "params": {"TP": "4"}}
        problem = the_error(open_model(flavors=[gpus]), playground(), realization=Realization.OPERATOR)
        assert "TP" in problem.reason
        assert "native" in problem.reason

    @pytest.mark.parametrize("option", [{"workload": WorkloadChoice.DEPLOYMENT}, {"runtimes": Edition.CURRENT}])
    def test_options_that_the_operator_cannot_know_are_refused(self, option: Any) -> None:
        (name,) = option
        problem = the_error(MODEL, playground(), realization=Realization.OPERATOR, **option)
        assert name in problem.reason

    def test_what_is_wrong_is_found_before_the_operator_finds_it(self) -> None:
        assert errors(fleet_of(playground(), realization=Realization.OPERATOR))


@pytest.mark.parametrize(
    ("spec", "twice", "refused"),
    [
        ({}, True, True),
        ({}, False, False),
        (
            {"backendRuntimeConfig": {"backendName": "vllm"}},
            True,
            False,
        ),  # merged by name, so that the last one stays
    ],
)
def test_variables_that_a_backend_runtime_has_twice(spec: dict[str, Any], *, twice: bool, refused: bool) -> None:
    """``buildTemplate`` merges them by name only where the Playground has a ``backendRuntimeConfig``."""
    envs = [{"name": "A", "value": "1"}, {"name": "A" if twice else "B", "value": "2"}]
    found = [problem for problem in left(MODEL, runtime("vllm", envs=envs), playground(**spec)) if problem.is_error]
    assert any("repeated variables" in problem.reason for problem in found) is refused
