"""Argument maps of ModelFleet: its settings, plus the arguments that only a program has."""

from ....plan.sections.access import FrontDoorSettings
from ....plan.sections.images import ImageCacheSettings
from ....plan.sections.pods import Pods
from ....plan.sections.shapes import ShapeSettings
from ....plan.settings import Cache, Prerequisites
from ..mapped_arguments import ArgumentMap, Changed, Own
from .settings import FleetCluster, ProgramSettings

_VPC_RANGE = "A program passes the range; a stack creates the VPC."

MODEL_FLEET = ArgumentMap(
    "ModelFleetArgs",
    ProgramSettings,
    doc="Arguments of a ModelFleet: manifests as files, as data, or both. All must be plain values, except IDs.",
    without={"file": "the settings file that messages name; a program has none"},
    changed={
        "manifests": Changed("Manifests may be outputs of components.", "pulumi.Input[list[dict[str, Any]]]"),
        "cluster": Changed("IDs of the cluster may be outputs.", "FleetClusterArgs"),
    },
)
CLUSTER = ArgumentMap(
    "FleetClusterArgs",
    FleetCluster,
    own={
        "vpc_id": Own("pulumi.Input[str]", "ID of the cluster's VPC: Network.vpc_id."),
        "interruption_queue": Own(
            "pulumi.Input[str]", "Name of Karpenter's interruption queue: KarpenterAccess.queue_name."
        ),
        "role_arns": Own(
            "pulumi.Input[dict[str, str]]",
            "IAM roles with which to annotate service accounts in a cluster without Pod Identity: "
            "Identities.role_arns.",
        ),
        "node_bounds": Own(
            "pulumi.Input[list[Any]]",
            "Sizes and priorities of node groups, for the Cluster Autoscaler: GpuNodeGroups.bounds.",
        ),
    },
)

MAPS = (
    MODEL_FLEET,
    CLUSTER,
    ArgumentMap(
        "ModelCacheArgs",
        Cache,
        changed={
            "bound": Changed(
                "A stack creates the volumes itself.",
                doc="Whether to create the claim in each namespace of models, bound to the PersistentVolume "
                "<namespace>.<claim>. The volume must exist; ModelStorage creates such volumes. Default: false.",
            )
        },
    ),
    ArgumentMap("PodsArgs", Pods, doc="Settings of every pod."),
    ArgumentMap("FleetPrerequisitesArgs", Prerequisites),
    ArgumentMap(
        "FleetImageCacheArgs",
        ImageCacheSettings,
        doc="Pull-through cache for images in the private registry (ECR) of an AWS account; ImageCache creates its "
        "rules.",
        changed={
            "account": Changed(
                "Only YAML requires quotes.", doc="ID of the AWS account whose registry caches images."
            )
        },
    ),
    ArgumentMap(
        "FrontDoorArgs",
        FrontDoorSettings,
        changed={
            "client_cidrs": Changed(
                _VPC_RANGE,
                doc="CIDR ranges of clients that may connect to load balancers. Default: cluster.cidr for load "
                "balancers of models; unrestricted for a gateway.",
            ),
            "balancer_cidrs": Changed(
                _VPC_RANGE,
                doc="CIDR ranges from which load balancers connect to models, for network policies. Default: "
                "cluster.cidr on AWS; none elsewhere, where connections keep the client's address.",
            ),
        },
    ),
    ArgumentMap("ModelShapeArgs", ShapeSettings),
)
