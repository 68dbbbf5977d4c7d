"""Kthena's AutoscalingPolicy: what replicas follow, and how fast.

AutoscalingPolicy
└── AutoscalingPolicy   <name>, with realization operator
"""

from typing import Required, TypedDict

import pulumi

from ...families.kthena.names import WORKLOAD_API
from ...families.kthena.types.autoscaling import AutoscalingPolicySpec
from ..serving.arguments import Arguments, model_by_argument, wire_names
from ..serving.declaration import Declaration
from .autoscaling_args import AutoscalingPolicyBehaviorArgs, AutoscalingPolicyMetricArgs


class AutoscalingPolicyArgs(TypedDict, total=False):
    """Arguments of an AutoscalingPolicy."""

    name: str
    """Name of the policy. Default: the component's name."""
    namespace: str
    """Namespace of the policy, and of its bindings. Default: default."""
    realization: str
    """native registers no Kubernetes object; operator creates the Kthena resource. Default: native."""
    tolerance_percent: int
    """Deviation from the target that is tolerated, 0 to 100 percent. Default: 10."""
    metrics: Required[list[AutoscalingPolicyMetricArgs]]
    """What to scale on; the metric that asks for most replicas counts."""
    behavior: AutoscalingPolicyBehaviorArgs
    """How replicas are added and removed."""


class AutoscalingPolicy(Declaration):
    """Declares what replicas follow, for AutoscalingPolicyBindings, which take its ``manifest``.

    With realization native a policy is only a declaration: it has no object in the cluster, so depend on the binding,
    not on the policy.
    """

    policy: pulumi.Output[str]
    """Name of the policy."""

    def __init__(self, name: str, args: AutoscalingPolicyArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        """Check and register.

        Raises:
            InvalidArguments: the arguments contradict the contract.
        """
        given = Arguments(name, args, AutoscalingPolicyArgs, model_by_argument(AutoscalingPolicySpec))
        spec = wire_names(given.values, AutoscalingPolicySpec)
        declared = self.declare(name, WORKLOAD_API, given, spec, opts, namespaced=True)
        self.policy = pulumi.Output.from_input(declared)
        self.register_outputs({"manifest": self.manifest, "policy": self.policy})
