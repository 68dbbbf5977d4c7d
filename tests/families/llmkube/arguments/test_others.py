"""PersonaPlex, servers of any kind, and what all have in common (LLMKube spec 2.4, 2.5)."""

import pytest

from tests.families.llmkube.api.samples import Document
from tests.families.llmkube.arguments.support import PORTS, start


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ({}, []),
        ({"containerPort": 8998}, []),
        ({"containerPort": 9000}, ["--port", "9000"]),
        ({"endpoint": {}}, ["--port", "8080"]),
        ({"personaPlexConfig": {"cpuOffload": False, "quantize4Bit": False}}, []),
    ],
)
def test_personaplex_follows_its_port(spec: Document, expected: list[str]) -> None:
    """Deviation: upstream moves the probes and not the server."""
    started = start("personaplex", spec)
    assert started.args == ["--ssl", "/app/ssl", *expected]
    assert not started.problems


def test_a_generic_server_gets_what_is_written() -> None:
    started = start("generic", {"args": ["--verbose", ""], "command": ["/server"]}, gpus=2)
    assert (started.command, started.args, started.result.env) == (["/server"], ["--verbose", ""], [])
    plain = start("generic")
    assert (plain.command, plain.args, plain.result.env) == (None, [], [])
    assert not started.problems


@pytest.mark.parametrize("runtime", PORTS)
def test_a_command_of_ones_own_wins(runtime: str) -> None:
    assert start(runtime, {"command": ["/mine", "-x"]}).command == ["/mine", "-x"]
    default = {
        "personaplex": ["/app/moshi/.venv/bin/python", "-m", "moshi.server"],
        "sglang": ["python3", "-m", "sglang.launch_server"],
    }
    assert start(runtime, {"command": []}).command == default.get(runtime)


@pytest.mark.parametrize(
    ("runtime", "config"), [("vllm", "vllmConfig"), ("tgi", "tgiConfig"), ("personaplex", "personaPlexConfig")]
)
def test_a_token_needs_the_name_of_its_secret(runtime: str, config: str) -> None:
    named = {config: {"hfTokenSecretRef": {"name": "hf", "key": "k", "optional": True}}}
    started = start(runtime, named)
    assert not started.problems
    assert started.result.env[0]["valueFrom"] == {"secretKeyRef": {"name": "hf", "key": "k", "optional": True}}
    path = f"spec.{config}.hfTokenSecretRef.name"
    assert set(start(runtime, {config: {"hfTokenSecretRef": {"key": "k"}}}).errors) == {path}
