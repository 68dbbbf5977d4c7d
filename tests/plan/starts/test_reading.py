"""What is read from a workload for its cold start."""

from typing import Any

import pytest

from components.plan.starts.reading import start_facts


def workload(image: str, **variables: str) -> dict[str, Any]:
    env = [{"name": name, "value": value} for name, value in variables.items()]
    container = {"name": "server", "image": image, "args": ["--model", "m"], "env": env}
    return {"kind": "Deployment", "spec": {"template": {"spec": {"containers": [container]}}}}


@pytest.mark.parametrize(
    ("image", "devices", "variables", "checks"),
    [
        ("vllm/vllm-openai:v0.10.2", 8, {}, True),
        ("vllm/vllm-openai:v0.10.2", 2, {"VLLM_SKIP_P2P_CHECK": "0"}, True),
        ("vllm/vllm-openai:v0.10.2", 1, {}, False),
        ("vllm/vllm-openai:v0.10.2", 8, {"VLLM_SKIP_P2P_CHECK": "1"}, False),
        ("vllm/vllm-openai:v0.11.0", 8, {}, False),
        ("vllm/vllm-openai:latest", 8, {}, False),
        ("example.com/own:1", 8, {}, False),
        ("lmsysorg/sglang:v0.4.6", 8, {}, False),
    ],
)
def test_access_between_devices(image: str, devices: int, variables: dict[str, str], *, checks: bool) -> None:
    facts = start_facts(workload(image, **variables), new_node=False, new_image=False, weights=1, devices=devices)
    assert facts.checks_peers is checks
