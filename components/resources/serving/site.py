"""Facts about the cluster that models are deployed to."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import pulumi

Nodes = Callable[[list[pulumi.Resource]], list[pulumi.Resource]]
"""Creates nodes after the given resources, and returns the resources that models depend on."""


def _no_nodes(_after: list[pulumi.Resource]) -> list[pulumi.Resource]:
    return []


@dataclass(frozen=True, slots=True)
class Site:
    """A cluster.

    Attributes:
        name: Name of the cluster, for controllers that require it.
        region: AWS region; empty elsewhere.
        vpc_id: ID of the cluster's VPC on AWS.
        interruption_queue: Name of Karpenter's interruption queue.
        features: Feature gates of Karpenter that the nodes require.
        role_arns: Roles by controller, and of the model loader; None in a cluster with Pod Identity.
        answers_challenges: Whether cert-manager has a role to solve DNS-01 challenges.
        node_bounds: Sizes of node groups for the Cluster Autoscaler; None without groups.
        bounded_only: Whether the autoscaler may scale no other groups.
        longest_grace: Longest time that a pod may take to terminate, in seconds.
        owned: Whether the stack creates the cluster, so that all namespaces are its own.
        after: Resources that must exist before charts are installed, such as identities.
        volumes: Volumes of the models' claims, which must exist before the claims.
        nodes: Creates the nodes, after controllers that must run first.
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
    longest_grace: int = 0
    owned: bool = False
    after: tuple[pulumi.Resource, ...] = ()
    volumes: tuple[pulumi.Resource, ...] = ()
    nodes: Nodes = _no_nodes

    def role_of(self, key: str) -> pulumi.Output[str] | None:
        """Return the role for a service account's annotation; None with Pod Identity."""
        if self.role_arns is None:
            return None
        return pulumi.Output.from_input(self.role_arns).apply(lambda arns: _role(arns, key))


def _role(arns: Mapping[str, str], key: str) -> str:
    if key not in arns:
        raise pulumi.RunError(f"role_arns has no role for {key}, only for {', '.join(sorted(arns))}; add one")
    return arns[key]
