"""Kthena's AutoscalingPolicy: the metrics to scale on, and the limits of scaling.

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
    """Declares the metrics to scale on and the limits of scaling; AutoscalingPolicyBindings take its ``manifest``.

    With realization native it creates no Kubernetes object: depend on the binding instead.
    """

    policy: pulumi.Output[str]
    """Name of the policy."""

    def __init__(self, name: str, args: AutoscalingPolicyArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        """Check and register.

        Raises:
            InvalidArguments: the arguments contradict the contract.
        """
        arguments = Arguments(name, args, AutoscalingPolicyArgs, AUTOSCALING_POLICY.models)
        spec = AUTOSCALING_POLICY.spec(arguments.values)
        declared = self.declare(name, WORKLOAD_API, arguments, spec, opts, namespaced=True)
        self.policy = pulumi.Output.from_input(declared)
        self.register_outputs({"manifest": self.manifest, "policy": self.policy})
