"""Arguments in the pods of hand-written Services are held against the engine in the image (LLMKube spec 8)."""

from typing import Any

import pytest

from tests.fleets import container, fleet_of, open_model, runner, service

PLACE = "spec.workloadTemplate.workerTemplate.spec.containers"


def written(*containers: Any, **template: Any) -> Any:
    pod = {"spec": {"containers": list(containers)}}
    return service(workloadTemplate={"workerTemplate": pod, **template})


def found(*documents: Any, **options: Any) -> list[tuple[str, str]]:
    return [(each.severity, each.path) for each in fleet_of(open_model(), *documents, **options).problems]


@pytest.mark.parametrize(
    ("image", "command", "args", "expected"),
    [
        ("vllm/vllm-openai:v0.20.0", [], ["m", "--port", "x"], [("error", "args[2]")]),
        ("vllm/vllm-openai:v0.20.0", [], ["m", "--port", "8080"], []),
        ("vllm/vllm-openai:v0.20.0", ["vllm", "serve"], ["m", "--zzz"], [("warning", "args[1]")]),
        ("mirror.example.com/vllm/vllm-openai:v0.8.3", [], ["--speculative-model", "d"], [("error", "args[0]")]),
        ("vllm/vllm-openai:v0.7.3", [], ["--speculative-model", "d"], []),
        ("vllm/vllm-openai", [], ["--speculative-model", "d"], [("error", "args[0]")]),
        ("vllm/vllm-openai@sha256:" + "0" * 64, [], ["--speculative-model", "d"], []),
        ("vllm/vllm-openai:v0.8.3@sha256:" + "0" * 64, [], ["--speculative-model", "d"], [("error", "args[0]")]),
        ("ghcr.io/ggml-org/llama.cpp:server", [], ["-m", "x", "-fa"], [("error", "args[2]")]),
        ("ghcr.io/ggerganov/llama.cpp:server", [], ["-m", "x", "-fa"], []),
        ("ghcr.io/ggml-org/llama.cpp:full", [], ["--server", "-m", "x"], []),
        ("vllm/vllm-openai:v0.20.0", ["sh", "-c"], ["vllm serve m --zzz"], []),
        ("vllm/vllm-openai:v0.20.0", ["/start"], ["--zzz"], []),
        ("example.com/engine:v1", [], ["--zzz"], []),
        ("ollama/ollama:0.12.6", [], ["--zzz"], []),
    ],
)
def test_arguments_of_a_known_engine_are_checked(
    image: str, command: list[str], args: list[str], expected: list[tuple[str, str]]
) -> None:
    made = written(runner(image=image, args=args, **({"command": command} if command else {})))
    assert found(made) == [(severity, f"{PLACE}[0].{path}") for severity, path in expected]


def test_only_the_model_runner_is_checked_wherever_it_stands() -> None:
    side = {"name": "side", "image": "vllm/vllm-openai:v0.20.0", "args": ["--zzz"]}
    made = written(side, runner(image="vllm/vllm-openai:v0.20.0", args=["m", "--zzz"]))
    assert found(made) == [("warning", f"{PLACE}[1].args[1]")]


def test_leader_and_workers_are_checked() -> None:
    image = "vllm/vllm-openai:v0.20.0"
    leader = {"spec": {"containers": [runner(image=image, args=["m", "--port", "x"])]}}
    made = written(runner(image=image, args=["--seed", "x"]), leaderTemplate=leader, size=2)
    assert sorted(found(made)) == [
        ("error", "spec.workloadTemplate.leaderTemplate.spec.containers[0].args[2]"),
        ("error", f"{PLACE}[0].args[1]"),
    ]


def test_arguments_of_a_service_are_never_rewritten() -> None:
    args = ["-m", "x", "-fa", "--draft-max", "16"]
    made = written(runner(image="ghcr.io/ggml-org/llama.cpp:server-b6000", args=args))
    assert container(open_model(), made)["args"] == args
