"""A secret in clear among the variables of a pod: found wherever it is written, and never repeated."""

from typing import Any

import pytest

from components.contract.problems import Problem
from components.families import objects
from components.plan.plan import plan
from tests.families.llmkube.support import isvc
from tests.families.llmkube.support import model as gguf
from tests.fleets import open_model, playground, runner, runtime, service

FAKE = "hf_" + "A1b2C3d4" * 4
ENV = {"name": "HF_TOKEN", "value": FAKE}
OTHER = {"name": "PLAIN", "value": "sk-" + "proj0" * 6}
REFERENCE = {"name": "HF_TOKEN", "valueFrom": {"secretKeyRef": {"name": "hub", "key": "token"}}}
GROUP = "spec.leaderWorkerTemplate"
RUNTIME = {"backendName": "own"}


def lws(*env: Any) -> dict[str, Any]:
    pod = {"spec": {"containers": [{"name": "c", "image": "example.com/x:1", "env": list(env)}]}}
    return {
        "apiVersion": "leaderworkerset.x-k8s.io/v1",
        "kind": "LeaderWorkerSet",
        "metadata": {"name": "g"},
        "spec": {"replicas": 1, "leaderWorkerTemplate": {"size": 2, "workerTemplate": pod}},
    }


def handwritten(*env: Any) -> dict[str, Any]:
    return service(workloadTemplate={"workerTemplate": {"spec": {"containers": [runner(env=list(env))]}}})


WRITTEN = {
    "Playground": lambda *env: [open_model(), playground(backendRuntimeConfig={"envs": list(env)})],
    "BackendRuntime": lambda *env: [open_model(), runtime(envs=list(env)), playground(backendRuntimeConfig=RUNTIME)],
    "Service": lambda *env: [open_model(), handwritten(*env)],
    "InferenceService": lambda *env: [gguf(), isvc(env=list(env))],
    "LeaderWorkerSet": lambda *env: [lws(*env)],
}
PLACES = {
    "Playground": "spec.backendRuntimeConfig.envs[{}].value",
    "BackendRuntime": "spec.envs[{}].value",
    "Service": "spec.workloadTemplate.workerTemplate.spec.containers[0].env[{}].value",
    "InferenceService": "spec.env[{}].value",
    "LeaderWorkerSet": f"{GROUP}.workerTemplate.spec.containers[0].env[{{}}].value",
}


def secrets(documents: list[Any]) -> list[Problem]:
    return [problem for problem in plan(objects(documents)).problems if "secret in clear" in problem.reason]


@pytest.mark.parametrize("kind", WRITTEN)
@pytest.mark.parametrize("variable", [ENV, OTHER, {"name": "VLLM_API_KEY", "value": "hunter2"}])
def test_a_secret_in_clear_is_told_where_it_stands(kind: str, variable: dict[str, str]) -> None:
    found = secrets(WRITTEN[kind]({"name": "A", "value": "b"}, variable))
    assert {(p.kind, p.path, p.severity.value) for p in found} == {(kind, PLACES[kind].format(1), "warning")}
    for problem in found:
        assert variable["value"] not in str(problem)
        assert f"key: {variable['name']}" in problem.reason
        assert "secretKeyRef" in problem.reason


@pytest.mark.parametrize("kind", WRITTEN)
@pytest.mark.parametrize(
    "variable",
    [
        REFERENCE,
        {"name": "HF_TOKEN", "value": "$(OTHER)"},
        {"name": "HF_HOME", "value": "/root/hf"},
        {"name": "HF_HUB_ENABLE_HF_TRANSFER", "value": "1"},
        {"name": "OPENAI_API_KEY", "value": "EMPTY"},
        {"name": "TOKENIZERS_PARALLELISM", "value": "false"},
        {"name": "MAX_TOKENS", "value": "4096"},
    ],
)
def test_what_refers_to_a_secret_or_is_none_is_not(kind: str, variable: dict[str, Any]) -> None:
    assert secrets(WRITTEN[kind](variable)) == []


def test_one_variable_in_two_services_is_told_once_for_each_place() -> None:
    documents = [gguf(), isvc("a", env=[ENV]), isvc("b", env=[ENV])]
    assert sorted(problem.name for problem in secrets(documents)) == ["a", "b"]


KEY = "sk-" + "8f4e2c1b9a7d" * 2
SCRIPT = f"exec vllm serve m --api-key {KEY}"


def with_arguments(*args: str, command: list[str] | None = None) -> list[Any]:
    container = {"name": "c", "image": "vllm/vllm-openai:v0.20.0", "args": list(args)}
    container |= {"command": command} if command else {}
    body = lws()
    body["spec"]["leaderWorkerTemplate"]["workerTemplate"] = {"spec": {"containers": [container]}}
    return [body]


@pytest.mark.parametrize(
    ("args", "command", "path", "advice"),
    [
        (["--api-key", KEY], None, "args[1]", "write $(API_KEY)"),
        ([f"--api-key={KEY}"], None, "args[0]", "write $(API_KEY)"),
        (["--api-key", "hunter2", KEY], None, "args[1]", "write $(API_KEY)"),
        (["--hf-token", FAKE], None, "args[1]", "write $(HF_TOKEN)"),
        (["--chat-template", KEY], None, "args[1]", "write $(CHAT_TEMPLATE)"),
        ([SCRIPT], ["sh", "-c"], "args[0]", 'write "$KEY"'),
    ],
)
def test_a_secret_in_arguments_is_told_and_never_repeated(
    args: list[str], command: list[str] | None, path: str, advice: str
) -> None:
    problems = secrets(with_arguments(*args, command=command))
    assert problems[0].path == f"{GROUP}.workerTemplate.spec.containers[0].{path}"
    assert advice in problems[0].reason
    for problem in problems:
        assert not any(secret in str(problem) for secret in (KEY, FAKE, "hunter2"))
    assert len({problem.path for problem in problems}) == len(problems)


def test_the_argument_of_a_family_is_told_at_its_field() -> None:
    (problem,) = secrets([gguf(), isvc(extraArgs=["--api-key", KEY])])
    assert (problem.kind, problem.path) == ("InferenceService", "spec.extraArgs[1]")


@pytest.mark.parametrize(
    "args",
    [
        ["--api-key", "$(API_KEY)"],
        ["--api-key=$(API_KEY)"],
        ["--api-key-file", "/keys/all"],
        ["--api-key", "EMPTY"],
        ["--max-tokens", "4096"],
        ["--tokenizer", "Qwen/Qwen3-8B"],
        ["--model", "sk-learn/model"],
    ],
)
def test_what_refers_to_one_in_arguments_or_is_none_is_not(args: list[str]) -> None:
    assert secrets(with_arguments(*args)) == []


def test_a_script_with_a_variable_has_no_secret() -> None:
    assert secrets(with_arguments('exec vllm serve m --api-key "$API_KEY"', command=["sh", "-c"])) == []
