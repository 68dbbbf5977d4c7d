"""The environment dev with doors and policies of every kind."""

from typing import Any

from pulumi.runtime import mocks

from tests.recorded import Recorded
from tests.stacks.shipped import run

MODELS = ["stacks/models/qwen-chat.yaml", "stacks/models/mistral-tgi.yaml"]
POLICY = "kubernetes:networking.k8s.io/v1:NetworkPolicy"
BASE: dict[str, Any] = {"models": MODELS, "gpuNodes": {}, "hardening": {}}
INTERNAL = {"expose": "load-balancer", "internal": True}


def dev(mock: mocks.Mocks | None = None, *, preview: bool = False, **changes: Any) -> Recorded:
    return run("dev", mock, preview=preview, **{**BASE, **changes})


def policies(graph: Recorded) -> dict[str, Any]:
    return {e.inputs["metadata"]["name"]: e.inputs["spec"] for e in graph.of(POLICY)}
