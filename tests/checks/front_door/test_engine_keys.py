"""Servers with keys of their own behind a gateway that authenticates clients."""

from dataclasses import replace
from typing import Any

import pytest

from components.checks.front_door.door import Door, front_door
from components.contract.findings.ids import RuleId
from components.contract.problems import Severity
from components.families import objects
from components.plan.environment import Environment
from components.plan.plan import plan
from tests.checks.front_door.doors import BALANCERS, KEYS, PRIVATE, PUBLIC, TOKENS
from tests.families.kthena.serving.support import model_serving, pods, role
from tests.fleets import fleet_of, open_model, playground

FROM_SECRET = {"valueFrom": {"secretKeyRef": {"name": "key", "key": "key"}}}
WITH_FLAG = {"args": ["--api-key", "$(KEY)"]}
WITH_VARIABLE = {"envs": [{"name": "VLLM_API_KEY", **FROM_SECRET}]}


def found(door: Door, **runtime: Any) -> list[tuple[str, str]]:
    fleet = fleet_of(open_model("m"), playground("chat", "m", backendRuntimeConfig=runtime))
    problems = front_door(fleet, door).problems
    return [(each.path, each.reason) for each in problems if each.rule == RuleId.ACCESS_ENGINE_KEY]


@pytest.mark.parametrize("door", [PUBLIC, replace(PUBLIC, auth=TOKENS)], ids=["keys", "tokens"])
@pytest.mark.parametrize(
    ("runtime", "named"),
    [
        (WITH_FLAG, "--api-key"),
        (WITH_VARIABLE, "VLLM_API_KEY"),
        ({"backendName": "sglang", **WITH_FLAG}, "--api-key"),
        ({"backendName": "tgi", "envs": [{"name": "API_KEY", **FROM_SECRET}]}, "API_KEY"),
        ({"backendName": "llamacpp", "args": ["--api-key-file", "/keys"]}, "--api-key-file"),
        ({"backendName": "llamacpp", "envs": [{"name": "LLAMA_API_KEY", **FROM_SECRET}]}, "LLAMA_API_KEY"),
    ],
)
def test_every_client_would_be_rejected(door: Door, runtime: dict[str, Any], named: str) -> None:
    ((path, reason),) = found(door, **runtime)
    assert path.startswith("spec.backendRuntimeConfig")
    assert f"({named})" in reason
    assert "401" in reason


@pytest.mark.parametrize("door", [PRIVATE, BALANCERS, Door()], ids=["anonymous", "load balancers", "none"])
def test_where_nobody_takes_the_key_away_clients_send_it(door: Door) -> None:
    assert found(door, **WITH_FLAG) == []


@pytest.mark.parametrize("runtime", [{}, {"envs": [{"name": "VLLM_API_KEY", "value": ""}]}])
def test_servers_without_a_key_serve(runtime: dict[str, Any]) -> None:
    assert found(replace(PUBLIC, auth=KEYS), **runtime) == []


VLLM = "vllm/vllm-openai:v0.20.0"
SERVER = {"modelServers": [{"modelServerName": "ms"}]}
ROUTE = [
    {
        "apiVersion": "networking.serving.volcano.sh/v1alpha1",
        "kind": "ModelServer",
        "metadata": {"name": "ms", "namespace": "ns"},
        "spec": {
            "model": "m",
            "inferenceEngine": "vLLM",
            "workloadSelector": {"matchLabels": {"modelserving.volcano.sh/name": "ms"}},
            "workloadPort": {"port": 8000},
        },
    },
    {
        "apiVersion": "networking.serving.volcano.sh/v1alpha1",
        "kind": "ModelRoute",
        "metadata": {"name": "r", "namespace": "ns"},
        "spec": {"modelName": "m", "rules": [{"name": "all", "targetModels": [{"modelServerName": "ms"}]}]},
    },
]
SECRET = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "keys", "namespace": "ns"}}


def behind_route(*others: dict[str, Any], routed: bool = True, **container: Any) -> list[tuple[str, str]]:
    """Return the severity and reason of what is found for a ModelServing, whose endpoint the route has, if any."""
    engine = {"name": "engine", "image": VLLM, "ports": [{"containerPort": 8000}], **container}
    documents = [model_serving("ms", role("a", entryTemplate=pods(engine))), *(ROUTE if routed else ()), *others]
    manifests = objects(documents)
    problems = plan(manifests, Environment(door=PUBLIC)).problems
    return [(each.severity, each.reason) for each in problems if each.rule == RuleId.ACCESS_ENGINE_KEY]


def shell(text: str) -> dict[str, Any]:
    return {"command": ["sh", "-c", text]}


@pytest.mark.parametrize(
    ("container", "named"),
    [
        ({"args": ["--model", "m", "--api-key", "$(KEY)"]}, "--api-key"),
        (shell("vllm serve m --api-key $K"), "--api-key"),
        (shell("exec vllm serve m --api-key=$K"), "--api-key"),
        ({**shell("vllm serve m --api-key $K"), "image": "example.com/own:1"}, "--api-key"),
        (shell("export VLLM_API_KEY=$(cat /key)\nexec vllm serve m"), "VLLM_API_KEY"),
        (shell("VLLM_API_KEY=$K vllm serve m"), "VLLM_API_KEY"),
        (shell("exec env VLLM_API_KEY=$K vllm serve m"), "VLLM_API_KEY"),
    ],
)
def test_a_server_behind_the_route_of_another_resource(container: dict[str, Any], named: str) -> None:
    ((severity, reason),) = behind_route(**container)
    assert severity == Severity.ERROR
    assert f"({named})" in reason
    assert behind_route(routed=False, **container) == [(severity, reason)]


@pytest.mark.parametrize(
    "container",
    [
        {"args": ["--model", "m"]},
        shell("curl --api-key $K http://other; exec vllm serve m"),
        shell("export VLLM_API_KEY=; exec vllm serve m"),
        shell("export VLLM_API_KEY=$K; unset VLLM_API_KEY; exec vllm serve m"),
        shell("echo VLLM_API_KEY=x; exec vllm serve m"),
    ],
)
def test_scripts_that_set_no_key(container: dict[str, Any]) -> None:
    assert behind_route(**container) == []


@pytest.mark.parametrize(
    ("content", "prefix", "severity"),
    [
        ({"stringData": {"VLLM_API_KEY": "$(KEY)"}}, "", Severity.ERROR),
        ({"data": {"API_KEY": "eA=="}}, "VLLM_", Severity.ERROR),
        ({"data": {"API_KEY": "eA=="}}, "", None),
        ({"data": {"VLLM_API_KEY": ""}}, "", None),
        (None, "", Severity.NOTE),
        (None, "HF_", None),
    ],
)
def test_variables_of_a_secret(content: dict[str, Any] | None, prefix: str, severity: Severity | None) -> None:
    source = {"secretRef": {"name": "keys"}, "prefix": prefix}
    others = [] if content is None else [{**SECRET, **content}]
    reported = behind_route(*others, envFrom=[source], args=["--model", "m"])
    assert [each for each, _ in reported] == ([severity] if severity else [])
    assert all("VLLM_API_KEY" in reason for _, reason in reported)


def test_other_variables_and_flags_of_engines() -> None:
    from_file = {"backendName": "llamacpp", "envs": [{"name": "LLAMA_ARG_API_KEY_FILE", "value": "/keys"}]}
    assert "(LLAMA_ARG_API_KEY_FILE)" in found(PUBLIC, **from_file)[0][1]
    command: dict[str, Any] = {
        "command": ["trtllm-serve", "m", "--api_key", "$(KEY)"],
        "image": "nvcr.io/nvidia/tensorrt-llm:1.3.0",
    }
    assert "(--api_key)" in behind_route(**command)[0][1]
    assert behind_route(**{**command, "command": ["trtllm-serve", "m"]}) == []
