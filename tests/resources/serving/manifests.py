"""A small set of models for a ModelFleet: one of each family, in two namespaces."""

import copy
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pulumi
import pulumi_kubernetes
import yaml
from pulumi.runtime import mocks

from components.resources.serving.model_fleet import ModelFleet
from tests.fleets import open_model, playground
from tests.recorded import Recorded, deploy

Object = dict[str, Any]
LLMKUBE = "inference.llmkube.dev/v1alpha1"
A10G: Object = {"name": "a10g", "limits": {"nvidia.com/gpu": 1}, "params": {"INSTANCE-TYPE": "g5.2xlarge"}}
G6 = {"node.kubernetes.io/instance-type": "g6.2xlarge"}
PROVIDER = "pulumi:providers:kubernetes::cluster"


def in_namespace(document: Object, namespace: str) -> Object:
    """The document in a namespace."""
    moved = copy.deepcopy(document)
    moved["metadata"]["namespace"] = namespace
    return moved


def weights(name: str, namespace: str = "team") -> Object:
    """LLMKube's Model, on one GPU."""
    spec = {"source": f"https://example.com/{name}.gguf", "hardware": {"accelerator": "cuda", "gpu": {"count": 1}}}
    return {
        "apiVersion": LLMKUBE,
        "kind": "Model",
        "metadata": {"name": name, "namespace": namespace},
        "spec": spec,
    }


def inference_service(name: str, model: str, namespace: str = "team", **spec: Any) -> Object:
    """LLMKube's InferenceService, on a node with one GPU; it keeps no weights."""
    return {
        "apiVersion": LLMKUBE,
        "kind": "InferenceService",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {"modelRef": model, "skipModelInit": True, "nodeSelector": G6, **spec},
    }


CHAT = [open_model("opt", "facebook/opt-125m", [A10G]), playground("chat", "opt", replicas=2)]
TEAM = [weights("tiny"), inference_service("gguf", "tiny")]
SMALL = [*CHAT, *TEAM]
"""A Playground in the fleet's own namespace, and an InferenceService in another one."""


def as_file(folder: Path, documents: list[Object]) -> str:
    """Write documents into a file."""
    file = folder / "models.yaml"
    file.write_text(yaml.safe_dump_all(documents))
    return str(file)


def program(
    args: Mapping[str, Any], name: str = "fleet", look: Callable[[ModelFleet], None] | None = None
) -> Callable[[], None]:
    """A program with one ModelFleet, whose outputs are exported."""

    def run() -> None:
        provider = pulumi_kubernetes.Provider("cluster", kubeconfig="k")
        fleet = ModelFleet(name, {**args}, pulumi.ResourceOptions(providers=[provider]))  # type: ignore[typeddict-item]
        for output in ("endpoints", "models", "nodes", "prerequisites", "cost"):
            pulumi.export(output, getattr(fleet, output))
        if look:
            look(fleet)

    return run


def fleet(
    documents: list[Object], *, preview: bool = False, mock: mocks.Mocks | None = None, **args: Any
) -> Recorded:
    """What a ModelFleet of documents registers."""
    return deploy(program({"manifests": documents, **args}), preview=preview, mock=mock)
