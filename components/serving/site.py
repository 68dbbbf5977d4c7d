"""The cluster that models are deployed to, as far as their components must be told of it."""

from collections.abc import Callable
from dataclasses import dataclass

import pulumi

Nodes = Callable[[list[pulumi.Resource]], list[pulumi.Resource]]
"""Registers nodes after what it is given, and returns what models come after."""


def _nowhere(_after: list[pulumi.Resource]) -> list[pulumi.Resource]:
    return []


@dataclass(frozen=True, slots=True)
class Site:
    """A cluster.

    Attributes:
        name: Name of the cluster, for controllers that have to know it.
        region: AWS region; empty elsewhere.
        vpc_id: The cluster's VPC on AWS.
        interruption_queue: Queue of the notices for Karpenter.
        after: What must be there before anything is installed, such as identities.
        nodes: Who makes nodes, where some controller must run before.
    """

    name: str = ""
    region: str = ""
    vpc_id: pulumi.Input[str] = ""
    interruption_queue: pulumi.Input[str] = ""
    after: tuple[pulumi.Resource, ...] = ()
    nodes: Nodes = _nowhere
