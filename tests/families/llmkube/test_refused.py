"""LLMKube spec 5.5: what cannot run is refused and what has no effect is told, natively and for the operator."""

from typing import Any

import kubernetes_validate  # type: ignore[import-untyped]
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from components.contract.findings.ids import FINAL
from components.fleet.nodes.groups import node_groups
from components.fleet.options import ModelCache, Options
from components.fleet.rendered import Fleet
from components.fleet.words import Edition, Realization
from components.plan.rendering import render_fleet
from tests.families.llmkube.api import documents as llmkube_documents
from tests.families.llmkube.support import API, EXISTS, G5, GPUS, Object, gpu, isvc, model, problem, shared
from tests.fleets import endpoint_of, errors, fleet_of, read, warnings
from tests.tries import tries

REFUSED: list[tuple[str, Object, Object, str]] = [
    ("bounds crossed", {"autoscaling": {"minReplicas": 3, "maxReplicas": 2}}, {}, "spec.autoscaling.maxReplicas"),
    ("stopped and scaled", {"autoscaling": {"maxReplicas": 1}, "replicas": 0}, {}, "spec.replicas"),
    ("cpu", {"resources": {"cpu": "two"}}, {}, "spec.resources.cpu"),
    ("memory", {"resources": {"memory": "4GB"}}, {}, "spec.resources.memory"),
    ("negative memory", {"resources": {"memory": "-1"}}, {}, "spec.resources.memory"),
    ("host memory", {"resources": {"hostMemory": "-"}}, {}, "spec.resources.hostMemory"),
    ("model cpu", {}, {"resources": {"cpu": "x"}}, "spec.modelRef"),
    ("gpu memory", {"resources": {"gpu": 1, "gpuMemory": "x"}, "nodeSelector": G5}, {}, "spec.resources.gpuMemory"),
    ("metal", {}, {"hardware": {"accelerator": "metal"}}, "spec.modelRef"),
    ("two vendors", {"nodeSelector": G5}, {"hardware": gpu(1, "cuda", vendor="intel")}, "spec.modelRef"),
    ("generic without image", {"runtime": "generic"}, {"source": "org/repo"}, "spec.image"),
    ("personaplex without image", {"runtime": "personaplex"}, {"source": "org/repo"}, "spec.image"),
    ("vllm without GPU", {"runtime": "vllm", "skipModelInit": True}, {"source": "org/repo"}, "spec.image"),
    ("repository for curl", {}, {"source": "org/repo"}, "spec.skipModelInit"),
    ("bare name for curl", {}, {"source": "gpt2"}, "spec.skipModelInit"),
    ("claim without file", {}, {"source": "pvc://claim"}, "spec.modelRef"),
    ("claim upwards", {}, {"source": "pvc://claim/../x"}, "spec.modelRef"),
    ("no host", {}, {"source": "http://"}, "spec.modelRef"),
    ("blank in address", {}, {"source": "https://example.com/a b"}, "spec.modelRef"),
    ("relative file", {}, {"source": "file://m.gguf"}, "spec.modelRef"),
    ("path without slash", {"endpoint": {"path": "v1"}}, {}, "spec.endpoint.path"),
    ("pod label", {"podLabels": {"a,b": "c"}}, {}, "spec.podLabels[a,b]"),
    ("node label", {"nodeSelector": {"a": "-"}}, {}, "spec.nodeSelector[a]"),
]


@pytest.mark.parametrize(("fields", "of_model", "path"), [r[1:] for r in REFUSED], ids=[r[0] for r in REFUSED])
def test_what_cannot_run_is_refused_at_its_field(fields: Object, of_model: Object, path: str) -> None:
    found = problem(isvc(**fields), model(**of_model))
    assert found.path == path
    assert (found.kind, found.name) == ("InferenceService", "svc")


@pytest.mark.parametrize("name", ["1a", "x" * 64, "a.1"])
def test_the_name_must_be_one_of_a_service(name: str) -> None:
    fleet = fleet_of(isvc(name), model())
    assert [p.path for p in errors(fleet)] == ([] if name == "a.1" else ["metadata.name"])


def test_the_name_of_a_model_must_fit_a_label() -> None:
    name = ".".join(["x" * 40, "y" * 40])
    assert problem(isvc(model=name), model(name)).path == "spec.modelRef"


TOLD: list[tuple[str, Object, Object, str]] = [
    ("eviction", {"evictionProtection": True}, {}, "spec.evictionProtection"),
    ("both priorities", {"priority": "low", "priorityClassName": "mine"}, {}, "spec.priority"),
    ("both memories", {"resources": {"memory": "1Gi", "hostMemory": "2Gi"}}, {}, "spec.resources.memory"),
    ("two numbers of GPUs", GPUS, {"hardware": gpu(3)}, "spec.resources.gpu"),
    ("GPU memory without GPU", {"resources": {"gpuMemory": "1Gi"}}, {}, "spec.resources.gpuMemory"),
    ("accelerator without GPU", {}, {"hardware": {"accelerator": "cuda"}}, "spec.modelRef"),
    ("format of another server", {}, {"format": "safetensors"}, "spec.modelRef"),
    ("memory of a Mac", {}, {"hardware": {"memoryBudget": "1Gi"}}, "spec.modelRef"),
    ("share of a Mac", {}, {"hardware": {"memoryFraction": 0.5}}, "spec.modelRef"),
    ("GPUs switched off", {"nodeSelector": G5}, {"hardware": gpu(1, enabled=False)}, "spec.modelRef"),
    ("pods of several nodes", {"replicas": 2}, {}, "spec.replicas"),
    ("scaled over nodes", {"autoscaling": {"maxReplicas": 2}}, {}, "spec.autoscaling.maxReplicas"),
]


@pytest.mark.parametrize(("fields", "of_model", "path"), [t[1:] for t in TOLD], ids=[t[0] for t in TOLD])
def test_what_has_no_effect_or_hardly_the_meant_one_is_told(fields: Object, of_model: Object, path: str) -> None:
    assert problem(isvc(**fields), model(**of_model), severity="warning").path == path


def test_an_ordinary_service_is_told_nothing() -> None:
    assert not fleet_of(isvc(**GPUS), model()).problems


class TestOperator:
    def rendered(self, *documents: Object, **options: Any) -> Fleet:
        return fleet_of(*documents, realization=Realization.OPERATOR, **options)

    def test_the_resources_are_handed_over_as_they_are_written(self) -> None:
        service, weights = isvc("svc.a", replicas=2, **GPUS, tolerations=[EXISTS]), model()
        service["spec"]["image"] = "example.com/x:1"
        fleet = self.rendered(service, weights)
        assert not fleet.problems or {p.severity for p in fleet.problems} == {"warning"}
        assert [body for item in fleet.rendered for body in item.objects] == [weights, service]
        assert [item.needs for item in fleet.rendered] == [{"llmkube"}, {"llmkube"}]
        item = fleet.rendered[1]
        assert endpoint_of(item).service == "svc-a"
        assert item.pods[0].requests["nvidia.com/gpu"] == 2
        assert shared(fleet) == []

    @pytest.mark.parametrize(
        ("fields", "of_model", "path"),
        [
            ({"containerPort": 9000}, {}, "spec.endpoint.port"),
            ({"runtime": "vllm", "image": "x/y:1", "skipModelInit": True}, {"source": "a/b"}, "spec.endpoint.port"),
            ({"image": "x/y:1"}, {"hardware": gpu(1, "rocm")}, "spec.modelRef"),
            ({"image": "x/y:1", **GPUS}, {}, "spec.tolerations"),
            (
                {
                    "image": "x/y:1",
                    **GPUS,
                    "tolerations": [{"key": "nvidia.com/gpu", "operator": "Equal", "value": "present"}],
                },
                {},
                "spec.tolerations",
            ),
            (
                {
                    "runtime": "tgi",
                    "image": "x/y:1",
                    "endpoint": {"port": 8080},
                    "autoscaling": {"maxReplicas": 1},
                },
                {"source": "a/b"},
                "spec.autoscaling.metrics",
            ),
        ],
    )
    def test_what_the_operator_breaks_is_refused(self, fields: Object, of_model: Object, path: str) -> None:
        (found,) = errors(self.rendered(isvc(**fields), model(**of_model)))
        assert found.path == path

    @pytest.mark.parametrize(
        ("fields", "path"),
        [
            ({"nodeSelector": {"a": "b"}}, "spec.nodeSelector"),
            ({"tolerations": [{"operator": "Exists"}]}, "spec.tolerations"),
            ({**GPUS, "tolerations": [EXISTS]}, "spec.image"),
        ],
    )
    def test_what_it_drops_is_told(self, fields: Object, path: str) -> None:
        (found,) = warnings(self.rendered(isvc(**fields), model()))
        assert found.path == path

    @pytest.mark.parametrize(
        "option",
        [
            {"cache": ModelCache(claim="c")},
            {"grace_seconds": 5},
            {"runtimes": Edition.CURRENT},
            {"scheduler_name": "x"},
        ],
    )
    def test_options_that_it_cannot_be_told_are_refused(self, option: Object) -> None:
        (found,) = errors(self.rendered(isvc(), model(), **option))
        assert next(iter(option)) in found.reason

    def test_services_of_one_service_name_clash_there_too(self) -> None:
        (found,) = errors(self.rendered(isvc("a.b"), isvc("a-b"), model()))
        assert found.path == "metadata.name"


def pairs() -> st.SearchStrategy[tuple[Object, Object]]:
    """A service and the Model that it serves."""

    def together(drawn: tuple[Object, Object]) -> tuple[Object, Object]:
        service, weights = drawn
        weights["metadata"]["name"] = service["spec"]["modelRef"]
        return service, weights

    return st.tuples(llmkube_documents.inference_services(), llmkube_documents.models()).map(together)


@settings(max_examples=tries(800), derandomize=True, deadline=None, suppress_health_check=list(HealthCheck))
@given(pairs(), st.sampled_from(Realization), st.sampled_from([None, ModelCache(claim="c")]))
def test_any_document_is_rendered_or_refused_with_a_path(
    pair: tuple[Object, Object], realization: Realization, cache: ModelCache | None
) -> None:
    fleet = render_fleet(map(read, pair), Options(realization=realization, cache=cache))
    rendered = [item for item in fleet.rendered if item.kind == "InferenceService"]
    assert rendered or errors(fleet)
    assert not (rendered and any(found.rule in FINAL for found in errors(fleet)))
    for found in fleet.problems:
        assert found.path or "option" in found.reason
        assert found.reason
    for item in rendered:
        assert node_groups(fleet) is not None
        for body in item.objects:
            if body["apiVersion"] != API:
                kubernetes_validate.validate(body, "1.36", strict=True)


@pytest.mark.parametrize("source", ["a/b", "https://x/y.gguf", "pvc://claim/y.gguf"])
def test_a_runtime_without_an_init_container_may_skip_it(source: str) -> None:
    """What the field asks for is so: generic has no init container (LLMKube spec 2)."""
    service = isvc(runtime="generic", image="x/y:1", skipModelInit=True)
    assert not fleet_of(service, model(source=source)).problems
