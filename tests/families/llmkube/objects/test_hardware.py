"""What a pod asks of nodes: the Model's own needs, accelerators and their images."""

import kubernetes_validate  # type: ignore[import-untyped]
import pytest

from components.engines.images import parse_image
from components.engines.registry import engine_of, engines
from components.families.llmkube.facts import llmkube
from components.fleet.words import Edition
from tests.families.llmkube.support import (
    EXISTS,
    G5,
    GPUS,
    Object,
    container,
    gpu,
    isvc,
    model,
    objects,
    pod,
)
from tests.fleets import fleet_of


@pytest.mark.parametrize(
    ("said", "needs", "requests"),
    [
        ({}, {"cpu": "1", "memory": "2Gi"}, {"cpu": "1", "memory": "2Gi"}),
        ({"cpu": "3"}, {"cpu": "1", "memory": "2Gi"}, {"cpu": "3", "memory": "2Gi"}),
        ({"hostMemory": "9Gi"}, {"memory": "2Gi"}, {"memory": "9Gi"}),
        ({"memory": "8Gi"}, {"memory": "2Gi"}, {"memory": "8Gi"}),
    ],
)
def test_the_models_own_needs_count_where_the_service_says_nothing(
    said: Object, needs: Object, requests: Object
) -> None:
    runner = container(isvc(resources=said), model(resources=needs))
    assert runner["resources"] == {"requests": requests}


@pytest.mark.parametrize(
    ("by_model", "by_service", "count"),
    [(3, 1, 3), (0, 2, 2), (None, 2, 2), (2, None, 2), (0, 0, 0), (None, None, 0)],
)
def test_the_models_number_of_gpus_goes_first(by_model: int | None, by_service: int | None, count: int) -> None:
    hardware: Object = {"hardware": {"gpu": {"count": by_model}}} if by_model is not None else {}
    resources: Object = {"resources": {"gpu": by_service}} if by_service is not None else {}
    made = objects(isvc(**resources), model(**hardware))["Deployment"]["spec"]
    (runner,) = made["template"]["spec"]["containers"]
    assert runner.get("resources", {}).get("limits", {}) == ({"nvidia.com/gpu": count} if count else {})
    assert made.get("strategy") == ({"type": "Recreate"} if count else None)
    assert made["template"]["spec"].get("tolerations") == ([EXISTS] if count else None)


@pytest.mark.parametrize(
    ("accelerator", "vendor", "resource", "tag"),
    [
        ("cuda", None, "nvidia.com/gpu", "server-cuda"),
        ("cpu", "nvidia", "nvidia.com/gpu", "server-cuda"),
        ("cpu", "amd", "amd.com/gpu", "server-rocm"),
        ("rocm", None, "amd.com/gpu", "server-rocm"),
        ("rocm", "amd", "amd.com/gpu", "server-rocm"),
        ("intel", None, "gpu.intel.com/i915", "server-intel"),
        ("cpu", "intel", "gpu.intel.com/i915", "server-intel"),
    ],
)
def test_accelerator_or_vendor_choose_resource_and_image(
    accelerator: str, vendor: str | None, resource: str, tag: str
) -> None:
    fields = {"vendor": vendor} if vendor else {}
    spec = pod(isvc(), model(hardware=gpu(1, accelerator, **fields)))
    (runner,) = spec["containers"]
    assert runner["resources"]["limits"] == {resource: 1}
    assert runner["image"] == f"ghcr.io/ggml-org/llama.cpp:{tag}"
    assert spec["tolerations"] == [{**EXISTS, "key": resource}]


@pytest.mark.parametrize(("runtime", "gpus", "has"), [("vllm", 1, False), ("vllm", 2, True), ("tgi", 2, True)])
def test_several_gpus_of_python_servers_share_memory(runtime: str, gpus: int, has: bool) -> None:
    service = isvc(runtime=runtime, skipModelInit=True, resources={"gpu": gpus}, nodeSelector=G5)
    spec = pod(service, model(source="org/repo"))
    assert ("volumes" in spec) is has


def test_llamacpp_needs_no_shared_memory() -> None:
    names = [volume["name"] for volume in pod(isvc(**GPUS), model())["volumes"]]
    assert names == ["model-cache"]


@pytest.mark.parametrize("edition", Edition)
@pytest.mark.parametrize("runtime", ["llamacpp", "vllm", "tgi"])
def test_default_images_hold_the_engine_and_current_ones_are_those_of_the_other_kinds(
    runtime: str, edition: Edition
) -> None:
    images = llmkube().runtimes[runtime].images[edition]
    for hardware, image in images.items():
        repository, _, tag = image.rpartition(":")
        engine = engine_of(repository)
        if hardware in ("vulkan", "rocm"):  # LLMKube's own builds, by digest
            assert repository.startswith("ghcr.io/defilantech/llmkube-llama-")
            continue
        assert engine is not None, image
        assert engine.name == runtime
        assert hardware in ("cpu", *llmkube().resources)
        assert edition == Edition.UPSTREAM or tag not in ("latest", "server")
    plain = images.get("cpu", images["nvidia"])
    assert edition == Edition.UPSTREAM or parse_image(plain) == engines()[runtime].current_image


@pytest.mark.parametrize("name", ["critical", "high", "normal", "low", "batch"])
def test_priority_classes_are_those_of_the_operators_chart(name: str) -> None:
    """The table of LLMKube spec 4.7."""
    values = {"critical": 1000000, "high": 100000, "normal": 10000, "low": 1000, "batch": 100}
    fleet = fleet_of(isvc(priority=name), model())
    (body,) = [body for item in fleet.rendered if item.kind == "PriorityClass" for body in item.objects]
    kubernetes_validate.validate(body, "1.36", strict=True)
    assert (body["metadata"]["name"], body["value"], body["globalDefault"]) == (
        f"llmkube-{name}",
        values[name],
        False,
    )
    assert body["preemptionPolicy"] == ("Never" if name == "batch" else "PreemptLowerPriority")
