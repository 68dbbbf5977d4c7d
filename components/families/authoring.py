"""Authoring: describing a model on given nodes in the kinds of a family."""

from dataclasses import dataclass
from decimal import Decimal
from typing import NamedTuple

from ..contract.kinds import Kind
from ..fleet.objects import Object

_HUB = "hf://"


class WeightsSource(NamedTuple):
    """Where pods load the weights from.

    Attributes:
        uri: Address of the repository, folder or file: ``hf://org/name``, ``s3://``, ``pvc://`` and the like.
        files: The files of a repository to load, of which the first is the model; empty for all.
        secret: Secret with the credentials of a bucket.
    """

    uri: str
    files: tuple[str, ...] = ()
    secret: str = ""

    @property
    def repository(self) -> str:
        """The repository of Hugging Face; empty for another address."""
        return self.uri.removeprefix(_HUB) if self.uri.startswith(_HUB) else ""

    @property
    def scheme(self) -> str:
        return self.uri.partition("://")[0]

    def unsupported(self, family: str, alternatives: str) -> "InexpressibleError":
        """Return the error that a family cannot load weights from here."""
        return InexpressibleError(f"{family} cannot load weights from {self.uri}; use {alternatives}")


@dataclass(frozen=True, slots=True)
class ModelDeployment:
    """A model, its server, and the nodes that it runs on.

    Attributes:
        name: Name of the resources.
        weights: Where its weights come from.
        engine: Name of the engine.
        repository: Repository of its image.
        tag: Tag of that image.
        args: Flags of the engine, without the model and parallelism.
        tensor: Accelerators of a pod.
        pods: Pods of a replica, over which the layers are divided.
        accelerator_resource: Extended resource by which a pod requests accelerators.
        cpu: CPUs that a pod requests.
        memory_gib: Host memory that a pod requests.
    """

    name: str
    weights: WeightsSource
    engine: str
    repository: str
    tag: str
    args: tuple[str, ...]
    replicas: int
    tensor: int
    pods: int
    instance_type: str
    accelerator: str
    accelerator_resource: str
    cpu: Decimal
    memory_gib: int


class InexpressibleError(ValueError):
    """A family has no field for a part of a deployment; the message names it and the alternative."""


def as_object(kind: Kind, name: str, spec: Object) -> Object:
    """Return a manifest in the namespace of the environment."""
    return {"apiVersion": kind.api_version, "kind": kind.kind, "metadata": {"name": name}, "spec": spec}
