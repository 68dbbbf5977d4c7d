"""Kthena's AutoscalingPolicy: what replicas follow, and how fast.

AutoscalingPolicy
└── AutoscalingPolicy   <name>, with realization operator
"""

import pulumi

from ...families.kthena.names import WORKLOAD_API
from ..serving.arguments import Arguments
from ..serving.declaration import Declaration
from .args import AutoscalingPolicyArgs
from .argument_maps import AUTOSCALING_POLICY


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
        given = Arguments(name, args, AutoscalingPolicyArgs, AUTOSCALING_POLICY.models)
        spec = AUTOSCALING_POLICY.spec(given.values)
        declared = self.declare(name, WORKLOAD_API, given, spec, opts, namespaced=True)
        self.policy = pulumi.Output.from_input(declared)
        self.register_outputs({"manifest": self.manifest, "policy": self.policy})
