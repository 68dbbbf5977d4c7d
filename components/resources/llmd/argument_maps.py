"""How the arguments of a VariantAutoscaling map to its resource and to the service levels that it is sized for."""

from ...families.llmd.types import AcceleratorProfile, ConfigMapKeyRef, VariantAutoscalingSpec
from ..serving.argument_maps import INSTANCE_TYPES, realization, release
from ..serving.mapped_arguments import ArgumentMap, Changed, Own

VARIANT_AUTOSCALING = ArgumentMap(
    "VariantAutoscalingArgs",
    VariantAutoscalingSpec,
    doc="Arguments of a VariantAutoscaling. All except the targets are plain: they decide the number of replicas.",
    own={
        "name": Own(
            "str",
            "Name of the VariantAutoscaling and of the workload that it scales. Default: the component's name.",
        ),
        "namespace": Own("str", "Namespace of the VariantAutoscaling and of the workload. Default: default."),
        "realization": realization(
            "native renders a HorizontalPodAutoscaler on metrics of the engine; operator creates the "
            "VariantAutoscaling for llm-d's controller, and an autoscaler that follows it."
        ),
        "release": release("llm-d WVA"),
        "workload": Own("str", "auto, lws or deployment, as the targets are deployed. Default: auto."),
        "targets": Own(
            "pulumi.Input[list[dict[str, Any]]]",
            "The resource whose workload is scaled, and the resources that it refers to, in wire form: the "
            "``manifest`` of each component.",
            required=True,
        ),
        "accelerator": Own(
            "str",
            "The accelerator that the workload runs on, by its name in the profile.",
            required=True,
        ),
        "instance_types": INSTANCE_TYPES,
        "service_class": Own("str", "Name of the service class of the promise. Default: default."),
        "promise": Own("PromiseArgs", "Latency targets of the model. Required with model_profile."),
        "load": Own(
            "LoadArgs",
            "Expected load of the workload. Required with model_profile and realization native. With operator, the "
            "controller measures the load, and this one sets the upper bound of the replicas, which is 10 without "
            "it.",
        ),
        "cents_per_hour": Own(
            "float",
            "Price of one accelerator in US cents per hour. Default: the on-demand price of the nodes in us-east-1.",
        ),
    },
    changed={"slo_class_ref": Changed("The key follows from service_class.", required=False)},
)

MAPS = (
    VARIANT_AUTOSCALING,
    ArgumentMap("ConfigMapKeyRefArgs", ConfigMapKeyRef, doc="A key of a ConfigMap in the controller's namespace."),
    ArgumentMap(
        "AcceleratorProfileArgs",
        AcceleratorProfile,
        doc="Speed of one replica: with n concurrent requests, each token takes alpha + beta * n milliseconds.",
    ),
)
