"""Each field that is set reaches the arguments or a finding."""

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from components.families.llmkube.arguments.facts import read_everywhere, readings
from components.families.llmkube.types.inference_service import InferenceService, InferenceServiceSpec, Model
from tests.families.llmkube.api.documents import inference_services, models
from tests.families.llmkube.api.samples import Document
from tests.families.llmkube.arguments.support import FILE, IMAGES, PORTS, serve, start
from tests.tries import tries


def wire_fields() -> set[str]:
    return {info.alias or name for name, info in InferenceServiceSpec.model_fields.items()}


def test_each_field_of_the_spec_has_its_readers() -> None:
    assert read_everywhere() | set(readings()) == wire_fields()
    assert not read_everywhere() & set(readings())
    assert all(set(reading.runtimes) <= set(PORTS) for reading in readings().values())
    assert all(not set(r.runtimes) & set(r.instead) and set(r.instead) <= set(PORTS) for r in readings().values())


# A value, and what of it must be seen in the arguments or the environment unless a problem names the field.
SEEN: dict[str, tuple[Any, str]] = {
    "contextSize": (4321, "4321"),
    "ropeScaling": ({"type": "yarn", "factor": "7.5"}, "7.5"),
    "parallelSlots": (13, "13"),
    "flashAttention": (True, "--flash-attn"),
    "jinja": (True, "--jinja"),
    "cacheTypeK": ("q5_1", "q5_1"),
    "cacheTypeV": ("q4_1", "q4_1"),
    "cacheTypeCustomK": ("turbo4", "turbo4"),
    "cacheTypeCustomV": ("turbo3", "turbo3"),
    "moeCPUOffload": (True, "--cpu-moe"),
    "moeCPULayers": (17, "17"),
    "noKvOffload": (True, "--no-kv-offload"),
    "tensorOverrides": (["exps=CPU"], "exps=CPU"),
    "batchSize": (2049, "2049"),
    "uBatchSize": (513, "513"),
    "noWarmup": (True, "--no-warmup"),
    "reasoningBudget": (77, "77"),
    "reasoningBudgetMessage": ("enough", "enough"),
    "metadataOverrides": (["a.b=int:1"], "a.b=int:1"),
    "extraArgs": (["--parallel", "3"], "--parallel"),
    "args": (["--verbose"], "--verbose"),
    "vllmConfig": ({"maxModelLen": 999}, "999"),
    "tgiConfig": ({"maxTotalTokens": 998}, "998"),
    "personaPlexConfig": ({"cpuOffload": True}, "--cpu-offload"),
    "sglangConfig": ({"contextLength": 997}, "997"),
    "speculativeDecoding": ({"type": "ngram-mod"}, "ngram-mod"),
    "bindAddress": ("::", "::"),
}


def test_the_sample_above_has_each_field_that_some_runtime_reads() -> None:
    assert set(SEEN) == set(readings())


@pytest.mark.parametrize("runtime", PORTS)
@pytest.mark.parametrize("name", sorted(readings()))
def test_a_field_that_the_runtime_does_not_read_is_told(runtime: str, name: str) -> None:
    started = start(runtime, {name: SEEN[name][0]}, path=FILE, gpus=1)
    found = [problem for problem in started.problems if "does not read" in problem.reason]
    if runtime in readings()[name].runtimes:
        assert not found
    else:
        assert [(p.path, p.severity) for p in found] == [(f"spec.{name}", "warning")]
        assert runtime in found[0].reason
        instead = readings()[name].instead.get(runtime)
        assert (instead in found[0].reason) if instead else found[0].reason.endswith("remove it")


@pytest.mark.parametrize("runtime", [name for name in PORTS if name != "llamacpp"])
@pytest.mark.parametrize("gpu", [{"layers": 1}, {"sharding": {}}])
def test_layers_of_the_model_are_for_llamacpp(runtime: str, gpu: Document) -> None:
    started = start(runtime, gpus=1, gpu=gpu)
    assert f"hardware.gpu.{next(iter(gpu))}" in started.warnings["spec.modelRef"]


services = st.fixed_dictionaries(
    {
        "runtime": st.sampled_from(sorted(PORTS)),
        "names": st.sets(st.sampled_from(sorted(SEEN))),
        "gpus": st.integers(0, 4),
        "tag": st.sampled_from(["", ":server", ":server-b6000", ":v0.7.3", ":1.4.5", ":v0.20.0", "@sha256:abc"]),
    }
)


@given(services)
@settings(deadline=None)
def test_each_set_field_is_in_the_arguments_or_among_the_findings(drawn: dict[str, Any]) -> None:
    runtime, gpus = drawn["runtime"], drawn["gpus"]
    spec = {name: SEEN[name][0] for name in sorted(drawn["names"])}
    image = IMAGES[runtime].rpartition(":")[0] + drawn["tag"]
    started = start(runtime, spec, gpus=gpus, image=image, path=FILE)
    told = {problem.path.split(".")[1] for problem in started.problems}
    for name in spec:
        assert SEEN[name][1] in " ".join(started.args) or name in told, name
    again = start(runtime, dict(reversed(spec.items())), gpus=gpus, image=image, path=FILE)
    assert again.result == started.result
    assert [str(p).partition(": ")[2] for p in again.problems] == [
        str(p).partition(": ")[2] for p in started.problems
    ]


@given(inference_services(), models(), st.integers(0, 8), st.sampled_from(["", FILE]))
@settings(max_examples=tries(300), derandomize=True, deadline=None, suppress_health_check=list(HealthCheck))
def test_whatever_the_contract_allows_is_answered(
    service_document: Document, model_document: Document, gpus: int, path: str
) -> None:
    service = InferenceService.model_validate(service_document)
    served = {"m1": Model.model_validate(model_document)}
    started = serve(service, served, gpus=gpus, path=path)
    assert serve(service, served, gpus=gpus, path=path) == started
    assert all(isinstance(arg, str) for arg in started.args)
    names = [env["name"] for env in started.result.env]
    assert len(set(names)) == len(names)
    assert all("; " in problem.reason for problem in started.problems), started.problems
