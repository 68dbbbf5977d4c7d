"""Command lines of pairs."""

import json
from typing import Any

from components.engines.command_line import CommandLine
from components.engines.registry import Engine, engines

VLLM, SGLANG = "v0.20.0", "v0.5.9"
FLAG = "--kv-transfer-config"


def engine(name: str = "vllm") -> Engine:
    return engines()[name]


def vllm(said: dict[str, Any] | None = None, *more: str, tag: str = VLLM) -> CommandLine:
    """Return a line of vLLM that says something of handing over."""
    flag = [] if said is None else [FLAG, json.dumps(said)]
    return CommandLine(
        "vllm", tag, ["--model", "/m", *flag, *more], ["python3", "-m", "vllm.entrypoints.openai.api_server"]
    )


def sglang(*more: str, tag: str = SGLANG) -> CommandLine:
    return CommandLine("sglang", tag, ["--model-path", "/m", *more], ["python3", "-m", "sglang.launch_server"])


def said(connector: str = "NixlConnector", role: str | None = "kv_producer", **config: Any) -> dict[str, Any]:
    found: dict[str, Any] = {"kv_connector": connector}
    if role is not None:
        found["kv_role"] = role
    return found | ({"kv_connector_extra_config": config} if config else {})
