"""Where the arguments of a VariantAutoscaling go: into its resource, and into the service levels it is sized for."""

from ...families.llmd.types.variant_autoscaling import AcceleratorProfile, ConfigMapKeyRef, VariantAutoscalingSpec
from ..serving.argument_maps import realization
from ..serving.mapped_arguments import ArgumentMap, Changed, Own

VARIANT_AUTOSCALING = ArgumentMap(
    "VariantAutoscalingArgs",
    VariantAutoscalingSpec,
    doc="Arguments of a VariantAutoscaling. All but the targets are plain: they decide how many replicas there are.",
    own={
        "name": Own(
            "str",
            "Name of the VariantAutoscaling, which is that of the workload. Default: the component's name.",
        ),
        "namespace": Own("str", "Namespace of the VariantAutoscaling and of the workload. Default: default."),
        "realization": realization(
            "native renders a HorizontalPodAutoscaler on metrics of the engine; operator creates the "
            "VariantAutoscaling for llm-d's controller, and an autoscaler that follows it."
        ),
        "workload": Own("str", "auto, lws or deployment, as the targets are deployed. Default: auto."),
        "targets": Own(
            "pulumi.Input[list[dict[str, Any]]]",
            "The resource whose workload is scaled, and what it refers to, in wire form: the ``manifest`` of each "
            "component.",
            required=True,
        ),
        "accelerator": Own(
            "str",
            "The accelerator that the workload runs on, by its name in the profile.",
            required=True,
        ),
        "service_class": Own("str", "Name of the service class that the promise is of. Default: default."),
        "promise": Own("PromiseArgs", "What is promised for the model.", required=True),
        "load": Own(
            "LoadArgs",
            "What is asked of the workload. Required unless realization is operator, which measures it: the load "
            "then bounds the replicas, which are 10 at most without.",
        ),
        "cents_per_hour": Own(
            "float",
            "Price of one accelerator in US cents an hour. Default: that of the nodes, on demand in us-east-1.",
        ),
    },
    changed={"slo_class_ref": Changed("It is that of service_class.", required=False)},
)

MAPS = (
    VARIANT_AUTOSCALING,
    ArgumentMap("ConfigMapKeyRefArgs", ConfigMapKeyRef, doc="A key of a ConfigMap in the controller's namespace."),
    ArgumentMap(
        "AcceleratorProfileArgs",
        AcceleratorProfile,
        doc="How fast a replica is on an accelerator: with n requests, each token takes alpha + beta * n "
        "milliseconds.",
    ),
)
