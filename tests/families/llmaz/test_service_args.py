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
        ("vllm/vllm-openai:v0.20.0", ["vllm", "serve"], ["m", "--zzz"], [("error", "args[1]")]),
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
    assert found(made) == [("error", f"{PLACE}[1].args[1]")]


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


ROOT = "/workspace/models"
WRONG = f"{ROOT}/models--meta-llama--Meta-Llama-3.1-8B-Instruct"
RIGHT = f"{ROOT}/models--Qwen--Qwen2-0.5B"
SGLANG = {"image": "lmsysorg/sglang:v0.5.4"}
OWN = [{"name": "own", "mountPath": WRONG}]


class TestPath:
    """The engine looks for its model where the loader puts it."""

    @pytest.mark.parametrize(
        ("fields", "field"),
        [
            ({**SGLANG, "command": ["python3", "-m", "sglang.launch_server", "--model-path", WRONG]}, "command"),
            ({**SGLANG, "args": ["--model-path", WRONG]}, "args"),
            ({**SGLANG, "command": ["sh", "-c"], "args": [f"exec serve --model-path {WRONG} --tp 2"]}, "args"),
            ({"image": "vllm/vllm-openai:v0.20.0", "command": ["vllm", "serve"], "args": [WRONG]}, "args"),
            ({"args": ["-m", f"{RIGHT}-Instruct"]}, "args"),
        ],
    )
    def test_another_one_is_pointed_out(self, fields: Any, field: str) -> None:
        (problem,) = fleet_of(open_model(), written(runner(**fields))).problems
        assert (problem.severity, problem.path) == ("warning", f"{PLACE}[0].{field}")
        assert f"is loaded into {RIGHT}" in problem.reason
        assert "make the two match" in problem.reason

    def test_it_is_pointed_out_for_leader_and_workers(self) -> None:
        one = runner(args=["--model-path", WRONG])
        made = written(one, leaderTemplate={"spec": {"containers": [one]}}, size=2)
        assert [path.split(".")[2] for _, path in found(made)] == ["leaderTemplate", "workerTemplate"]

    @pytest.mark.parametrize(
        "fields",
        [
            {"args": ["--model-path", RIGHT]},
            {"args": ["--model-path", f"{RIGHT}/"]},
            {"args": ["--model-path", f"{RIGHT}/original"]},
            {"args": ["--model-path", "org/name"]},
            {"args": ["--model-path", "/data/other"]},
            {"args": ["--model-path", WRONG], "volumeMounts": OWN},
            {"args": ["--port", "8080"]},
        ],
    )
    def test_what_may_be_there_is_not(self, fields: Any) -> None:
        assert not found(written(runner(**fields)))

    def test_any_claimed_model_may_be_served(self) -> None:
        claims = {"models": [{"name": "m"}, {"name": "d", "role": "draft"}]}
        pod = {"spec": {"containers": [runner(args=["-m", f"{ROOT}/models--a--b"])]}}
        made = service(modelClaims=claims, workloadTemplate={"workerTemplate": pod})
        assert not fleet_of(open_model(), open_model("d", "a/b"), made).problems

    def test_without_a_loader_nothing_is_known_of_it(self) -> None:
        pod = {"spec": {"containers": [runner(args=["-m", WRONG])]}}
        notes = {"llmaz.io/skip-model-loader": "true"}
        assert not found(service(annotations=notes, workloadTemplate={"workerTemplate": pod}))
