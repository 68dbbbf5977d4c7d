"""Kthena's AutoscalingPolicy: the metrics to scale on, the limits of scaling, and since v1.0.0 what is scaled.

AutoscalingPolicy
├── HorizontalPodAutoscaler   <name>-hpa for a target of the policy, or one per target
└── AutoscalingPolicy         <name>, with realization operator instead
"""

from typing import Any

import pulumi

from ...families.kthena.names import WORKLOAD_API
from ...fleet.rendered import Rendered
from ..serving.arguments import Arguments, format_problem, log_warnings
from ..serving.declaration import Declaration
from ..serving.objects import kubernetes_object, token
from ..serving.rendering_options import options_of
from ..serving.workload_component import logical_name, render_one
from .args import AutoscalingPolicyArgs
from .argument_maps import AUTOSCALING_POLICY

_TARGETS = ("homogeneous_target", "heterogeneous_target", "disaggregated_target")


class AutoscalingPolicy(Declaration):
    """Declares the metrics to scale on and the limits of scaling, and scales the targets that it names itself.

    AutoscalingPolicyBindings take the ``manifest`` of a policy without targets, for which realization native creates
    no Kubernetes object: depend on the binding instead. Does not create the targets or the metrics adapter.
    """

    policy: pulumi.Output[str]
    """Name of the policy."""
    autoscalers: pulumi.Output[list[str]]
    """Names of the HorizontalPodAutoscalers; none without targets, and with realization operator."""

    def __init__(self, name: str, args: AutoscalingPolicyArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        """Check, render and register.

        Raises:
            InvalidArguments: the arguments contradict the contract, or a target cannot be scaled.
        """
        arguments = Arguments(name, args, AutoscalingPolicyArgs, AUTOSCALING_POLICY.models)
        spec = AUTOSCALING_POLICY.spec(arguments.values)
        autoscalers: list[str] = []
        if any(key in arguments.values for key in _TARGETS):
            rendered = _render(name, arguments, spec)
            pulumi.ComponentResource.__init__(self, token(type(self).__name__), name, {}, opts)
            log_warnings(rendered.warnings, format_problem, lambda _: self)
            self.manifest, declared = rendered.source.resource.wire(), rendered.name
            for value in rendered.objects:
                options = pulumi.ResourceOptions(parent=self)
                kubernetes_object(value, logical_name(name, rendered.name, value), options)
            autoscalers = [scaler.name for scaler in rendered.autoscalers if not scaler.operated]
        else:
            if "targets" in arguments.values:
                arguments.add_problem(
                    "targets", f"has no effect without {', '.join(_TARGETS[:-1])} or {_TARGETS[-1]}"
                )
            declared = self.declare(name, WORKLOAD_API, arguments, spec, opts, namespaced=True)
        self.policy = pulumi.Output.from_input(declared)
        self.autoscalers = pulumi.Output.from_input(autoscalers)
        self.register_outputs({"manifest": self.manifest, "policy": self.policy, "autoscalers": self.autoscalers})


def _render(name: str, arguments: Arguments, spec: dict[str, Any]) -> Rendered:
    options = options_of(arguments)
    targets = arguments.manifests("targets", "ModelServing")
    arguments.check()
    metadata = {"name": arguments.get("name", name), "namespace": arguments.get("namespace", "default")}
    return render_one(
        arguments.resource(WORKLOAD_API, "AutoscalingPolicy", metadata, spec), targets, options, types=arguments.types
    )
