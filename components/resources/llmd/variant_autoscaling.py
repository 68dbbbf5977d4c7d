"""llm-d's VariantAutoscaling: scales a workload to keep a latency promise.

VariantAutoscaling
├── HorizontalPodAutoscaler   <name>-hpa
└── VariantAutoscaling        <name>, with realization operator
"""

import pulumi

from ...contract.releases import Span
from ...families.llmd.controller.config_maps import class_key
from ...families.llmd.kinds import RELEASES
from ...families.llmd.names import ACCELERATOR_LABEL, API, CLASSES
from ...families.llmd.types import LAST_WITH_CLASS
from ...fleet.rendered import Rendered
from ..serving.arguments import Arguments, format_problem, log_warnings
from ..serving.objects import kubernetes_object, token
from ..serving.workload_component import logical_name, render_one
from .args import VariantAutoscalingArgs
from .argument_maps import VARIANT_AUTOSCALING
from .service_levels import DEFAULT_CLASS, options_for


class VariantAutoscaling(pulumi.ComponentResource):
    """Scales a workload to keep a latency promise, within bounds that a queueing model finds.

    Does not create the workload, the metrics adapter or the controller, nor the controller's ConfigMaps of classes
    and prices: all variants of a cluster share them, and ModelFleet creates them.
    """

    autoscaler: pulumi.Output[str]
    """Name of the HorizontalPodAutoscaler."""
    namespace: pulumi.Output[str]
    """Namespace of everything that was created."""
    min_replicas: pulumi.Output[int]
    """Replicas at the quietest time."""
    max_replicas: pulumi.Output[int]
    """Replicas at the peak."""
    most_per_minute: pulumi.Output[float]
    """Requests per minute that one replica serves within the promise; 0 if no load is known."""
    limit: pulumi.Output[str]
    """The limiting target: itl, ttft or capacity; empty if no load is known."""
    cents_per_hour: pulumi.Output[float]
    """Price of all replicas at the peak, in US cents per hour; 0 if no load is known."""

    def __init__(self, name: str, args: VariantAutoscalingArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        """Size, render and register.

        Raises:
            InvalidArguments: the arguments contradict the contract, or the promise cannot be kept.
        """
        rendered = _render(name, args)
        super().__init__(token(type(self).__name__), name, {}, opts)
        log_warnings(rendered.warnings, format_problem, lambda _: self)
        for value in rendered.objects:
            options = pulumi.ResourceOptions(parent=self)
            kubernetes_object(value, logical_name(name, rendered.name, value), options)
        (scaler,) = rendered.autoscalers
        sized = scaler.sized
        self.autoscaler = pulumi.Output.from_input(scaler.name)
        self.namespace = pulumi.Output.from_input(rendered.namespace)
        self.min_replicas = pulumi.Output.from_input(scaler.minimum)
        self.max_replicas = pulumi.Output.from_input(scaler.maximum)
        self.most_per_minute = pulumi.Output.from_input(sized.most_per_minute if sized else 0.0)
        self.limit = pulumi.Output.from_input(str(sized.limit) if sized else "")
        self.cents_per_hour = pulumi.Output.from_input(sized.cents_per_hour if sized else 0.0)
        self.register_outputs(
            {
                "autoscaler": self.autoscaler,
                "namespace": self.namespace,
                "minReplicas": self.min_replicas,
                "maxReplicas": self.max_replicas,
                "mostPerMinute": self.most_per_minute,
                "limit": self.limit,
                "centsPerHour": self.cents_per_hour,
            }
        )


def _render(name: str, args: VariantAutoscalingArgs) -> Rendered:
    arguments = Arguments(name, args, VariantAutoscalingArgs, VARIANT_AUTOSCALING.models)
    targets = arguments.manifests("targets")
    own, namespace = arguments.get("name", name), arguments.get("namespace", "default")
    options = options_for(arguments, own, namespace)
    arguments.require("accelerator")
    arguments.check()
    labels = {ACCELERATOR_LABEL: arguments.get("accelerator")}
    spec = VARIANT_AUTOSCALING.spec(arguments.values)
    if "modelProfile" in spec and _has_class(arguments.get("release", "")):
        key = class_key(arguments.get("service_class", DEFAULT_CLASS))
        spec = {"sloClassRef": {"name": CLASSES, "key": key}, **spec}
    metadata = {"name": own, "namespace": namespace, "labels": labels}
    return render_one(
        arguments.resource(API, "VariantAutoscaling", metadata, spec), targets, options, types=arguments.types
    )


def _has_class(release: str) -> bool:
    """Whether variants of a release refer to their service class; unknown releases are reported with the resource."""
    return release not in RELEASES.names or RELEASES.covers(Span(until=LAST_WITH_CLASS), release)
