"""Kthena's AutoscalingPolicyBinding: the targets of an AutoscalingPolicy, and their bounds.

AutoscalingPolicyBinding
├── HorizontalPodAutoscaler    <name>-hpa, or one per target of an optimizer
└── AutoscalingPolicyBinding   <name>, with realization operator instead
"""

import pulumi

from ...families.kthena.names import WORKLOAD_API
from ...fleet.rendered import Rendered
from ..serving.arguments import Arguments, format_problem, log_warnings
from ..serving.objects import kubernetes_object, token
from ..serving.rendering_options import options_of
from ..serving.workload_component import logical_name, render_one
from .args import AutoscalingPolicyBindingArgs
from .argument_maps import AUTOSCALING_POLICY_BINDING


class AutoscalingPolicyBinding(pulumi.ComponentResource):
    """Scales ModelServings: a HorizontalPodAutoscaler for each target, with the metrics of the policy.

    Does not create the policy, the targets or the metrics adapter.
    """

    autoscalers: pulumi.Output[list[str]]
    """Names of the HorizontalPodAutoscalers; none with realization operator."""
    namespace: pulumi.Output[str]
    """Namespace of the created objects."""

    def __init__(
        self, name: str, args: AutoscalingPolicyBindingArgs, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        """Render and register.

        Raises:
            InvalidArguments: the arguments contradict the contract, or a target cannot be scaled.
        """
        rendered = _render(name, args)
        super().__init__(token(type(self).__name__), name, {}, opts)
        log_warnings(rendered.warnings, format_problem, lambda _: self)
        for value in rendered.objects:
            options = pulumi.ResourceOptions(parent=self)
            kubernetes_object(value, logical_name(name, rendered.name, value), options)
        autoscalers = [scaler.name for scaler in rendered.autoscalers if not scaler.operated]
        self.autoscalers = pulumi.Output.from_input(autoscalers)
        self.namespace = pulumi.Output.from_input(rendered.namespace)
        self.register_outputs({"autoscalers": self.autoscalers, "namespace": self.namespace})


def _render(name: str, args: AutoscalingPolicyBindingArgs) -> Rendered:
    arguments = Arguments(name, args, AutoscalingPolicyBindingArgs, AUTOSCALING_POLICY_BINDING.models)
    options = options_of(arguments)
    policy = arguments.manifest("policy", "AutoscalingPolicy")
    targets = arguments.manifests("targets", "ModelServing")
    arguments.check()
    spec = {
        "policyRef": {"name": policy["metadata"]["name"]},
        **AUTOSCALING_POLICY_BINDING.spec(arguments.values),
    }
    metadata = {"name": arguments.get("name", name), "namespace": arguments.get("namespace", "default")}
    resource = arguments.resource(WORKLOAD_API, "AutoscalingPolicyBinding", metadata, spec)
    return render_one(resource, [policy, *targets], options, types=arguments.types)
