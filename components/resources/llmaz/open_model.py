"""A model and where it comes from.

OpenModel
└── OpenModel   <name>, with realization operator
"""

from typing import Any, Required, TypedDict

import pulumi

from ...families.llmaz.types import Flavor, ModelHub
from ..serving.arguments import Arguments, compact, wire_names
from ..serving.declaration import Declaration
from ..serving.flavor_args import FlavorArgs


class OpenModelArgs(TypedDict, total=False):
    """Arguments of an OpenModel: a hub's model_id, or a uri."""

    name: str
    """Name of the model. Default: the component's name."""
    family_name: Required[str]
    """Family of the model, such as llama3; becomes a label."""
    model_id: str
    """Model on a hub, such as Qwen/Qwen2-7B-Instruct."""
    hub: str
    """Huggingface or ModelScope. Default: Huggingface."""
    revision: str
    """Branch, tag or commit on the hub. Default: main."""
    filename: str
    """One file of the repository, such as a GGUF file."""
    allow_patterns: list[str]
    """Files to load, as glob patterns."""
    ignore_patterns: list[str]
    """Files not to load, as glob patterns."""
    uri: str
    """Weights from elsewhere: oss://, ollama:// or host://; s3:// and gcs:// for engines that stream weights."""
    flavors: list[FlavorArgs]
    """Flavors in order of preference."""
    owned_by: str
    """Who provides the model, for lists of models of later versions of llmaz."""
    created_at: str
    """When it was created, such as 2026-01-31T12:00:00Z, for the same lists."""
    realization: str
    """native registers no Kubernetes object; operator creates the llmaz resource. Default: native."""


class OpenModel(Declaration):
    """Declares a model for Playgrounds and Services, which take its ``manifest``.

    With realization native a model is only a declaration: it has no object in the cluster, so depend on the
    Playground that serves it, not on the model.
    """

    model: pulumi.Output[str]
    """Name of the model."""

    def __init__(self, name: str, args: OpenModelArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        """Check and register.

        Raises:
            InvalidArguments: the arguments contradict the contract.
        """
        given = Arguments(name, args, OpenModelArgs, {"flavors": Flavor})
        declared = self.declare(name, "llmaz.io/v1alpha1", given, _spec(given), opts)
        self.model = pulumi.Output.from_input(declared)
        self.register_outputs({"manifest": self.manifest, "model": self.model})


def _spec(given: Arguments) -> dict[str, Any]:
    hub = {**wire_names(given.values, ModelHub), "name": given.get("hub")}
    flavors = given.get("flavors")
    return compact(
        {
            "familyName": given.get("family_name"),
            "source": compact({"modelHub": compact(hub), "uri": given.get("uri")}),
            "inferenceConfig": {"flavors": flavors} if flavors else None,
            "ownedBy": given.get("owned_by"),
            "createdAt": given.get("created_at"),
        }
    )
