"""Where the arguments of a ModelFleet go: into its settings, one to one but for what only a program knows."""

from ....plan.sections.access import FrontDoorSettings
from ....plan.sections.images import ImageCacheSettings
from ....plan.sections.shapes import ShapeSettings
from ....plan.settings import Cache, Pods, Prerequisites
from ..mapped_arguments import ArgumentMap, Changed, Own
from .settings import FleetCluster, ProgramSettings

_OF_PROGRAM = "A program names the range itself; a stack creates the VPC."

MODEL_FLEET = ArgumentMap(
    "ModelFleetArgs",
    ProgramSettings,
    doc="Arguments of a ModelFleet: manifests as files, as data, or both. All but IDs are plain.",
    without={"file": "what messages name; a program has no file"},
    changed={
        "manifests": Changed("They may be outputs of components.", "pulumi.Input[list[dict[str, Any]]]"),
        "cluster": Changed("Its IDs may be outputs.", "FleetClusterArgs"),
    },
)
CLUSTER = ArgumentMap(
    "FleetClusterArgs",
    FleetCluster,
    own={
        "vpc_id": Own("pulumi.Input[str]", "VPC of the cluster: Network.vpc_id."),
        "interruption_queue": Own(
            "pulumi.Input[str]", "Queue of interruption notices for Karpenter: KarpenterAccess.queue_name."
        ),
        "role_arns": Own(
            "pulumi.Input[dict[str, str]]",
            "Roles that service accounts name themselves in a cluster without Pod Identity: Identities.role_arns.",
        ),
        "node_bounds": Own(
            "pulumi.Input[list[Any]]",
            "Fewest and most nodes of node groups and their order, for the Cluster Autoscaler: GpuNodeGroups.bounds.",
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
                "A stack makes the volumes itself.",
                doc="Whether to create that claim in every namespace of models, bound to the PersistentVolume "
                "<namespace>.<claim>, which must exist: ModelStorage makes such volumes. Default: false.",
            )
        },
    ),
    ArgumentMap("PodsArgs", Pods, doc="Settings of every pod."),
    ArgumentMap("FleetPrerequisitesArgs", Prerequisites),
    ArgumentMap(
        "FleetImageCacheArgs",
        ImageCacheSettings,
        doc="Images by way of the private registry (ECR) of an AWS account: see ImageCache, which makes its rules.",
        changed={
            "account": Changed("Only YAML needs quotes.", doc="ID of the account whose registry caches images.")
        },
    ),
    ArgumentMap(
        "FrontDoorArgs",
        FrontDoorSettings,
        changed={
            "client_cidrs": Changed(
                _OF_PROGRAM,
                doc="Address ranges that may connect to load balancers. Default: cluster.cidr for the load balancer "
                "of a model, everyone who can reach it for a gateway.",
            ),
            "balancer_cidrs": Changed(
                _OF_PROGRAM,
                doc="With network policies: address ranges from which load balancers connect to models. Default: "
                "cluster.cidr on AWS, none elsewhere, where connections keep the client's address.",
            ),
        },
    ),
    ArgumentMap("ModelShapeArgs", ShapeSettings),
)
