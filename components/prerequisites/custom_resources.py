"""The CustomResourceDefinitions of the kinds that a stack uses.

CustomResources
└── CustomResourceDefinition   <name>-<plural>, one per kind
"""

from typing import TypedDict

import pulumi

from ..api.schema.crds import crd
from ..families import kinds
from ..serving.objects import KubernetesObject, kubernetes_object, token


class CustomResourcesArgs(TypedDict):
    """Arguments of CustomResources."""

    kinds: list[str]
    """Names of the kinds, such as LeaderWorkerSet."""


class CustomResources(pulumi.ComponentResource):
    """Teaches the API server kinds of the contract: it validates and defaults them as this package does.

    Does not install the controllers that act on them; install their charts where pods are to run.
    """

    kinds: pulumi.Output[list[str]]
    """The kinds that are known now."""

    def __init__(self, name: str, args: CustomResourcesArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        """Register one definition per kind."""
        super().__init__(token("CustomResources"), name, {}, opts)
        self.definitions: list[KubernetesObject] = []
        for kind in args["kinds"]:
            value = crd(kinds().one(kind))
            child = f"{name}-{value['spec']['names']['plural']}"
            self.definitions.append(kubernetes_object(value, child, pulumi.ResourceOptions(parent=self)))
        self.kinds = pulumi.Output.from_input(list(args["kinds"]))
        self.register_outputs({"kinds": self.kinds})
