"""``workbench explain --field``: a field is described without any manifest."""

import json

import pytest

from tests.commands.support import workbench


@pytest.mark.parametrize(
    ("field", "expected"),
    [
        ("InferenceService.spec.flashAttention", ["boolean", "releases  all", "--flash-attn on"]),
        ("InferenceService.spec.replicas", ["integer", "default   1", "at least 0; at most 10"]),
        ("ModelBooster.spec.backend.type", ["required  yes", "v0.2.0 to v1.0.0: one of vLLM, vLLMDisaggregated"]),
        ("ModelBooster.spec.backends.workers.image", ["spec.backends[].workers[].image", "LeaderWorkerSet/"]),
        ("Playground.spec.elasticConfig.maxReplicas", ["HorizontalPodAutoscaler/chat: spec.maxReplicas = 3"]),
        ("VariantAutoscaling.spec.modelID", ["string", "required  yes"]),
    ],
)
def test_a_field_is_described(field: str, expected: list[str]) -> None:
    done = workbench("explain", "--field", field)
    assert done.returncode == 0, done.stderr
    for text in expected:
        assert text in done.stdout


def test_json_has_the_same_facts() -> None:
    done = workbench("explain", "--field", "InferenceService.spec.flashAttention", "--output", "json")
    found = json.loads(done.stdout)
    assert (found["type"], found["required"], found["releases"]) == ("boolean", False, "all")
    assert found["becomes"][0]["became"] == ["Deployment/llama: pod containers[llama-server].args --flash-attn on"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--field", "InferenceService.spec.flashAtention"], "did you mean 'spec.flashAttention'"),
        (["--field", "InferenceServices.spec"], "did you mean 'InferenceService'"),
        (["--field", "Playground"], "Playground has no field (none given); fields: spec.replicas"),
        (["--field", "Playground.spec.\x1b[31m"], "Playground has no field"),
        (
            ["Playground/x", "--field", "Playground.spec.replicas"],
            "pass either KIND/NAME, or --field KIND.PATH, or --finding ID",
        ),
        ([], "pass either KIND/NAME, or --field KIND.PATH, or --finding ID"),
    ],
)
def test_wrong_usage_is_a_message(arguments: list[str], message: str) -> None:
    done = workbench("explain", *arguments)
    assert done.returncode == 2
    assert message in done.stderr
    assert "\x1b" not in done.stderr
