"""Argument maps that several families and clouds share."""

from ...fleet.flavors import Flavor
from ...plan.sections.instance_types import InstanceTypeSettings, TypeAcceleratorSettings
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
        "Target value of a metric.",
        {
            "type": "How the target is expressed: Utilization, Value or AverageValue.",
            "average_utilization": "Target mean over the pods, as a percentage of their requests.",
            "average_value": "Target mean over the pods, as a quantity such as 10 or 500m.",
            "value": "Target value of the metric, as a quantity.",
        },
    ),
    CoreMap(
        "MetricIdentifierArgs",
        _AUTOSCALING + "MetricIdentifier",
        "Name of a metric and selector of its series.",
        {
            "name": "Name of the metric.",
            "selector": "Label selector of the series (meta/v1 LabelSelector, in wire form). Default: all series.",
        },
    ),
    CoreMap(
        "ResourceMetricArgs",
        _AUTOSCALING + "ResourceMetricSource",
        "CPU or memory of the pods.",
        {
            "name": "Resource: cpu or memory.",
            "target": "Target of the metric.",
        },
    ),
    CoreMap(
        "ContainerResourceMetricArgs",
        _AUTOSCALING + "ContainerResourceMetricSource",
        "CPU or memory of one container of the pods.",
        {
            "name": "Resource: cpu or memory.",
            "container": "Name of the container.",
            "target": "Target of the metric.",
        },
    ),
    CoreMap(
        "PodsMetricArgs",
        _AUTOSCALING + "PodsMetricSource",
        "A metric of each pod, such as the length of its queue.",
        {
            "metric": "The metric.",
            "target": "Target of the mean over the pods.",
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
            "described_object": "Object that the metric describes.",
            "metric": "The metric.",
            "target": "Target of the metric.",
        },
    ),
    CoreMap(
        "ExternalMetricArgs",
        _AUTOSCALING + "ExternalMetricSource",
        "A metric of no object in the cluster.",
        {
            "metric": "The metric.",
            "target": "Target of the metric.",
        },
    ),
    CoreMap(
        "MetricSpecArgs",
        _AUTOSCALING + "MetricSpec",
        "One metric of an autoscaler: its type, and the field of that type.",
        {
            "type": "Type of the metric: Resource, ContainerResource, Pods, Object or External.",
            "resource": "CPU or memory of the pods.",
            "container_resource": "CPU or memory of one container of the pods.",
            "pods": "A metric of each pod.",
            "object": "A metric of one object.",
            "external": "A metric of no object in the cluster.",
        },
    ),
    CoreMap(
        "ScalingPolicyArgs",
        _AUTOSCALING + "HPAScalingPolicy",
        "Limit on the change of replicas within a period.",
        {
            "type": "Unit of value: Pods or Percent.",
            "value": "Maximum change in the period, as a number or percentage of pods.",
            "period_seconds": "Length of the period in seconds, 1 to 1800.",
        },
    ),
    CoreMap(
        "ScalingRulesArgs",
        _AUTOSCALING + "HPAScalingRules",
        "Scaling behavior in one direction.",
        {
            "stabilization_window_seconds": "Stabilization window in seconds, 0 to 3600.",
            "select_policy": "Policy to use: Max (the one that allows the largest change), Min or Disabled. Default: "
            "Max.",
            "policies": "Limits on the change of replicas.",
            "tolerance": "Deviation from the target without scaling, as a quantity such as 50m. "
            "Default: the cluster-wide tolerance.",
        },
    ),
    CoreMap(
        "ScalingBehaviorArgs",
        _AUTOSCALING + "HorizontalPodAutoscalerBehavior",
        "Scaling behavior of an autoscaler.",
        {
            "scale_up": "Rules for adding replicas. Default: the rules of Kubernetes.",
            "scale_down": "Rules for removing replicas. Default: the rules of Kubernetes.",
        },
    ),
)
"""Types of autoscaling/v2. Documented here, because the published definitions contain no descriptions."""
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
SERVICE_LEVELS = Own("ServiceLevelsArgs", "Service levels and load of the models, as in ModelFleet. Default: none.")
VALUES = Own(
    "dict[str, pulumi.Input[Any]]",
    "Helm values of the chart, overriding those of the component. Leaves may be outputs.",
)
INSTANCE_TYPES = Own(
    "dict[str, InstanceTypeArgs]",
    "Instance types that the tables do not have yet, by name, such as p6e-gb200.36xlarge. Default: none.",
)
"""Declared by every component that plans nodes, or pods for them."""
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
            "Models to simulate nodes for, each a manifest in wire form. Cannot be combined with flavors.",
        ),
        "namespace": Own(
            "str",
            "Namespace of manifests that do not set one. Default: default.",
        ),
        "service_levels": SERVICE_LEVELS,
        "instance_types": INSTANCE_TYPES,
    },
)

TYPES = (
    ArgumentMap("TypeAcceleratorArgs", TypeAcceleratorSettings),
    ArgumentMap("InstanceTypeArgs", InstanceTypeSettings),
)
MAPS = (*AUTOSCALING, *LEVELS, *TYPES, FLAVOR, SIMULATED_NODES)


NAMESPACE = Own("str", "Namespace of the Kubernetes objects. Default: default.")
AUTOSCALED = Own("bool", "Whether an autoscaler of another component manages the replicas. Default: false.")
"""Declared by every component that has replicas of its own."""


WAITING = {
    "wait_until_ready": Own(
        "bool",
        "Whether an update waits until the replicas are ready, and fails if they are not. Default: true.",
    ),
    "ready_timeout": Own(
        "str",
        "How long an update waits for the workload and its Service, such as 45m. Default: computed from the cold "
        "start of a replica, with a margin.",
    ),
}
"""Declared by every component with pods."""


def realization(text: str) -> Own:
    return Own("str", f"{text} Default: native.")


def release(project: str) -> Own:
    return Own(
        "str",
        f"Release of {project} whose API the arguments follow, such as the one whose operator runs in the cluster. "
        "Default: none; native accepts the fields of all releases, operator those of the contract's release.",
    )


POD_ARGUMENTS = {
    "tolerations": Own("list[dict[str, Any]]", "Tolerations added to every pod."),
    "service_account_name": Own("str", "Name of the pods' service account."),
    "image_pull_secrets": Own("list[str]", "Names of the Secrets with registry credentials."),
    "priority_class_name": Own("str", "Name of the pods' PriorityClass."),
    "pod_annotations": Own("dict[str, str]", "Annotations added to every pod."),
    "pod_labels": Own("dict[str, str]", "Labels added to every pod."),
}
"""Pod settings of components whose kind has no fields for them."""
