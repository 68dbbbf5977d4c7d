"""What the engines of a ModelServing, or of a ModelBooster, are started with is checked where it is written."""

from typing import Any

import pytest

from tests.families.kthena.serving.support import VLLM, Object, engine, model_serving, pods, role
from tests.fleets import fleet_of

ENTRY = "spec.template.roles[0].entryTemplate.spec.containers[0]"
CONFIG = "spec.backends[0].workers[0].config"


def found(*documents: Object) -> list[tuple[str, str, str]]:
    """Return where something is wrong with arguments, how badly, and what."""
    problems = [problem for problem in fleet_of(*documents).problems if "instance type" not in problem.reason]
    return [(problem.path, problem.severity, problem.reason) for problem in problems]


def booster(config: Object, *others: Object, kind: str = "vLLM", **backend: Any) -> Object:
    """A ModelBooster with a worker for each config."""
    types = ("prefill", "decode") if others else ("server",)
    workers = [
        {"type": each, "image": VLLM, "replicas": 1, "pods": 1, "config": one}
        for each, one in zip(types, (config, *others), strict=True)
    ]
    backend = {
        "name": "b", "type": kind, "modelURI": "hf://org/name", "cacheURI": "hostpath:///cache", "minReplicas": 1,
        "maxReplicas": 1, "workers": workers, **backend,
    }  # fmt: skip
    return {
        "apiVersion": "workload.serving.volcano.sh/v1alpha1",
        "kind": "ModelBooster",
        "metadata": {"name": "m", "namespace": "ns"},
        "spec": {"backends": [backend]},
    }


@pytest.mark.parametrize(
    ("container", "path", "severity", "part"),
    [
        (engine("--port", "x"), f"{ENTRY}.args[3]", "error", "--port must be a whole number"),
        (engine("--maxModelLen", "1"), f"{ENTRY}.args[2]", "error", "did you mean '--max-model-len'?"),
        (engine("--lora-modules", "a=/a", "a=/b"), f"{ENTRY}.args", "error", "two adapters have the name 'a'"),
        (engine(command=["sh", "-c", "vllm serve m --port x"], args=[]), f"{ENTRY}.command", "error", "--port must"),
        (engine(command=["sh", "-c"], args=["ray start && vllm serve m"], image="vllm/vllm-openai:v0.20.0"),
         f"{ENTRY}.args", "warning", "calls ray, and the image"),
    ],
)  # fmt: skip
def test_arguments_of_a_serving(container: Object, path: str, severity: str, part: str) -> None:
    problems = found(model_serving("ms", role(entryTemplate=pods(container))))
    assert [each for each in problems if each[:2] == (path, severity) and part in each[2]], problems


@pytest.mark.parametrize("image", [f"{VLLM.partition(':')[0]}@sha256:{'0' * 64}", "example.com/own:1"])
def test_an_image_whose_version_is_not_known_is_left_alone(image: str) -> None:
    problems = found(model_serving("ms", role(entryTemplate=pods(engine("--port", "x", image=image)))))
    assert not [each for each in problems if "--port" in each[2]]


@pytest.mark.parametrize(
    ("config", "path", "severity", "part"),
    [
        ({"maxModelLen": 4096}, f"{CONFIG}.maxModelLen", "error", "did you mean '--max-model-len'?"),
        (
            {"max_num_seqs": "lots", "a": 1},
            f"{CONFIG}.max_num_seqs",
            "error",
            "found 'lots'; write a number such as 8",
        ),
        (
            {"kv-transfer-config": {"kv_connector": "X"}},
            f"{CONFIG}[kv-transfer-config]",
            "error",
            "kv_role must be one",
        ),
        ({"max-num-seqs": True}, f"{CONFIG}[max-num-seqs]", "error", "found 'true'"),
        ({"lora-modules": ["own=/own"], "seed": "x"}, f"{CONFIG}.seed", "error", "--seed must be a whole number"),
    ],
)
def test_arguments_of_a_booster_are_blamed_on_their_key(config: Object, path: str, severity: str, part: str) -> None:
    adapters = [{"name": "ad", "artifactURL": "hf://org/ad"}]
    problems = found(booster(config, loraAdapters=adapters))
    assert [each for each in problems if each[:2] == (path, severity) and part in each[2]], problems


def test_a_pair_that_cannot_talk_is_blamed_on_its_config() -> None:
    nixl, cache = ({"kv-transfer-config": {"kv_connector": name}} for name in ("NixlConnector", "LMCacheConnectorV1"))
    problems = found(booster(nixl, cache, kind="vLLMDisaggregated"))
    reason = (
        "decode receives the cache with LMCacheConnectorV1 and prefill sends it with NixlConnector; use the same "
        "connector"
    )
    assert [each for each in problems if each[1] == "error"] == [
        ("spec.backends[0].workers[1].config", "error", reason)
    ]


def test_a_pair_that_says_nothing_is_fine() -> None:
    assert not [each for each in found(booster({}, {}, kind="vLLMDisaggregated")) if each[1] == "error"]


def test_a_pair_whose_workers_ask_for_efa_goes_by_it() -> None:
    body = booster({}, {}, kind="vLLMDisaggregated")
    for worker in body["spec"]["backends"][0]["workers"]:
        worker |= {"image": "vllm/vllm-openai:v0.20.0", "resources": {"limits": {"vpc.amazonaws.com/efa": "1"}}}
    assert not [each for each in found(body) if "EFA" in each[2]]
    worker["resources"] = {}
    body["spec"]["backends"][0]["workers"][0]["config"] = {"kv-transfer-config": '{"kv_connector": "NixlConnector"}'}
    reason = "NixlConnector reaches EFA only with backends LIBFABRIC, and prefill has none; set it on both sides"
    assert [each[1:] for each in found(body) if "EFA" in each[2]] == [("warning", reason)]
