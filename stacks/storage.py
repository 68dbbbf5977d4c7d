"""The model storage of a stack on AWS."""

from typing import cast

import pulumi

from components.plan.plan import Plan
from components.resources.aws.args import EfsArgs, FsxArgs, ModelStorageArgs
from components.resources.aws.cluster import Cluster
from components.resources.aws.network import Network
from components.resources.aws.storage.model_storage import ModelStorage

from .cloud_args import aws_timeouts
from .settings import Settings


def model_volumes(
    settings: Settings, planned: Plan, network: Network, cluster: Cluster, aws: pulumi.ProviderResource
) -> list[pulumi.Resource]:
    """Create the model storage, if any, and return its volumes."""
    cache = settings.model_cache
    if not cache.on_aws or not planned.namespaces:
        return []
    args: ModelStorageArgs = {
        "cluster_name": settings.cluster_name,
        "region": settings.region,
        "namespaces": planned.namespaces,
        "vpc_id": network.vpc_id,
        "subnets": network.private_by_zone,
        "cluster_security_group_id": cluster.security_group_id,
        "s3": cache.s3,
        "tags": settings.tags,
        "timeouts": aws_timeouts(settings),
    }
    if cache.efs is not None:
        args["efs"] = cast("EfsArgs", cache.efs.model_dump(mode="json", exclude_unset=True))
    if cache.fsx is not None:
        args["fsx"] = cast("FsxArgs", cache.fsx.model_dump(mode="json", exclude_unset=True))
    return list(ModelStorage("storage", args, pulumi.ResourceOptions(providers=[aws, cluster.provider])).volumes)
