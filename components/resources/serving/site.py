"""The cluster that models are deployed to, as far as their components must be told of it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

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
        features: Features of Karpenter that the nodes need and that are off otherwise.
        role_arns: Roles by controller and of the model loader, where the cluster has no Pod Identity.
        answers_challenges: Whether cert-manager has a role, with which it answers DNS-01 challenges.
        node_bounds: Fewest and most nodes of groups, for the Cluster Autoscaler; None where it has no groups.
        bounded_only: Whether these are all groups that it may scale.
        owned: Whether the cluster is made here, so that nobody else has namespaces in it.
        after: What must be there before anything is installed, such as identities.
        volumes: What claims of the models are bound to, so that it must be there before them.
        nodes: Who makes nodes, where some controller must run before.
    """

    name: str = ""
    region: str = ""
    vpc_id: pulumi.Input[str] = ""
    interruption_queue: pulumi.Input[str] = ""
    features: tuple[str, ...] = ()
    role_arns: pulumi.Input[Mapping[str, str]] | None = None
    answers_challenges: bool = False
    node_bounds: pulumi.Input[list[Any]] | None = None
    bounded_only: bool = False
    owned: bool = False
    after: tuple[pulumi.Resource, ...] = ()
    volumes: tuple[pulumi.Resource, ...] = ()
    nodes: Nodes = _nowhere

    def role_of(self, key: str) -> pulumi.Output[str] | None:
        """Return the role that a service account must name itself; None where Pod Identity knows it."""
        if self.role_arns is None:
            return None
        return pulumi.Output.from_input(self.role_arns).apply(lambda arns: _role(arns, key))


def _role(arns: Mapping[str, str], key: str) -> str:
    if key not in arns:
        raise pulumi.RunError(f"role_arns has no role for {key}, only for {', '.join(sorted(arns))}; add one")
    return arns[key]
