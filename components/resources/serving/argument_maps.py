"""Argument types that components of several families and clouds share, and what they are generated from."""

from ...fleet.flavors import Flavor
from ...plan.sections.levels import (
    AcceleratorSettings,
    ClassSettings,
    ControllerSettings,
    LevelSettings,
    LoadSettings,
    PromiseSettings,
)
from .mapped_arguments import ArgumentMap, CoreMap, Own

_AUTOSCALING = "io.k8s.api.autoscaling.v2."

AUTOSCALING = (
    CoreMap(
        "MetricTargetArgs",
        _AUTOSCALING + "MetricTarget",
        "Target of a metric.",
        {
            "type": "Utilization, Value or AverageValue.",
            "average_utilization": "Mean over the pods, as a percentage of what they request.",
            "average_value": "Mean over the pods, as a quantity such as 10 or 500m.",
            "value": "The metric itself, as a quantity.",
        },
    ),
    CoreMap(
        "MetricIdentifierArgs",
        _AUTOSCALING + "MetricIdentifier",
        "A metric by its name, and by the labels of its series.",
        {
            "name": "Name of the metric.",
            "selector": "Label selector of the series (meta/v1 LabelSelector, in wire form). Default: all of them.",
        },
    ),
    CoreMap(
        "ResourceMetricArgs",
        _AUTOSCALING + "ResourceMetricSource",
        "CPU or memory of the pods.",
        {
            "name": "cpu or memory.",
            "target": "Its target.",
        },
    ),
    CoreMap(
        "ContainerResourceMetricArgs",
        _AUTOSCALING + "ContainerResourceMetricSource",
        "CPU or memory of one container of the pods.",
        {
            "name": "cpu or memory.",
            "container": "Name of the container.",
            "target": "Its target.",
        },
    ),
    CoreMap(
        "PodsMetricArgs",
        _AUTOSCALING + "PodsMetricSource",
        "A metric that each pod has, such as its queue.",
        {
            "metric": "The metric.",
            "target": "Target of its mean over the pods.",
        },
    ),
    CoreMap(
        "DescribedObjectArgs",
        _AUTOSCALING + "CrossVersionObjectReference",
        "The object that a metric describes.",
        {
            "api_version": "API version of the object.",
            "kind": "Kind of the object.",
            "name": "Name of the object, in the namespace of the autoscaler.",
        },
    ),
    CoreMap(
        "ObjectMetricArgs",
        _AUTOSCALING + "ObjectMetricSource",
        "A metric of one object.",
        {
            "described_object": "The object.",
            "metric": "The metric.",
            "target": "Its target.",
        },
    ),
    CoreMap(
        "ExternalMetricArgs",
        _AUTOSCALING + "ExternalMetricSource",
        "A metric that does not belong to an object in the cluster.",
        {
            "metric": "The metric.",
            "target": "Its target.",
        },
    ),
    CoreMap(
        "MetricSpecArgs",
        _AUTOSCALING + "MetricSpec",
        "One metric of an autoscaler: its type, and the key of that type.",
        {
            "type": "Resource, ContainerResource, Pods, Object or External.",
            "resource": "CPU or memory of the pods.",
            "container_resource": "CPU or memory of one container of the pods.",
            "pods": "A metric that each pod has.",
            "object": "A metric of one object.",
            "external": "A metric that does not belong to an object in the cluster.",
        },
    ),
    CoreMap(
        "ScalingPolicyArgs",
        _AUTOSCALING + "HPAScalingPolicy",
        "How much may change within a time.",
        {
            "type": "Pods or Percent.",
            "value": "Number or percentage of pods.",
            "period_seconds": "The time, 1 to 1800 seconds.",
        },
    ),
    CoreMap(
        "ScalingRulesArgs",
        _AUTOSCALING + "HPAScalingRules",
        "Scaling behavior in one direction.",
        {
            "stabilization_window_seconds": "Stabilization window in seconds, 0 to 3600.",
            "select_policy": "Max, Min or Disabled. Default: Max, the policy that allows the largest change.",
            "policies": "How much may change.",
            "tolerance": "Deviation from the target that is tolerated, as a quantity such as 50m. "
            "Default: that of the cluster.",
        },
    ),
    CoreMap(
        "ScalingBehaviorArgs",
        _AUTOSCALING + "HorizontalPodAutoscalerBehavior",
        "Scaling behavior of an autoscaler.",
        {
            "scale_up": "How replicas are added. Default: that of Kubernetes.",
            "scale_down": "How replicas are removed. Default: that of Kubernetes.",
        },
    ),
)
"""The types of autoscaling/v2, whose published definitions have no documentation."""
VARIANT_CONTROLLER = ArgumentMap("VariantControllerArgs", ControllerSettings)
LEVELS = (
    ArgumentMap("PromiseArgs", PromiseSettings),
    ArgumentMap("ServiceClassArgs", ClassSettings),
    ArgumentMap("LoadArgs", LoadSettings),
    ArgumentMap("AcceleratorArgs", AcceleratorSettings),
    VARIANT_CONTROLLER,
    ArgumentMap("ServiceLevelsArgs", LevelSettings),
)
FLAVOR = ArgumentMap("FlavorArgs", Flavor, doc="A flavor: a kind of accelerator node.")
SIMULATED_NODES = ArgumentMap(
    "SimulatedNodesArgs",
    doc="Arguments of SimulatedNodes: flavors or manifests.",
    own={
        "flavors": Own(
            "list[FlavorArgs]",
            "Flavors of the nodes to simulate.",
        ),
        "manifests": Own(
            "pulumi.Input[list[dict[str, Any]]]",
            "Instead of flavors, the models to simulate nodes for, each an object in wire form.",
        ),
        "namespace": Own(
            "str",
            "Namespace of resources that do not set one. Default: default.",
        ),
        "service_levels": Own(
            "ServiceLevelsArgs",
            "What the models promise and what is asked of them, as in ModelFleet. Default: nothing.",
        ),
    },
)

MAPS = (*AUTOSCALING, *LEVELS, FLAVOR, SIMULATED_NODES)


NAMESPACE = Own("str", "Namespace of the Kubernetes objects. Default: default.")
AUTOSCALED = Own("bool", "Whether an autoscaler of another component owns the replicas. Default: false.")
"""Declared by every component that has replicas of its own."""


def realization(text: str) -> Own:
    """Return the argument that chooses between our rendering and an upstream operator."""
    return Own("str", f"{text} Default: native.")


POD_ARGUMENTS = {
    "tolerations": Own("list[dict[str, Any]]", "Tolerations to add to every pod."),
    "service_account_name": Own("str", "Service account of the pods."),
    "image_pull_secrets": Own("list[str]", "Names of Secrets to pull images with."),
    "priority_class_name": Own("str", "Priority class of the pods."),
    "pod_annotations": Own("dict[str, str]", "Annotations to add to every pod."),
    "pod_labels": Own("dict[str, str]", "Labels to add to every pod."),
}
"""Arguments of components that run pods, where their kind has no fields for them."""
