"""Infrastructure costs of an environment in addition to its models' nodes, from its settings."""

import datetime
from collections.abc import Iterator
from decimal import Decimal

from components.clouds.aws.environment import AwsEnvironment
from components.clouds.aws.nodes.launch import BASTION_DISK_GIB, BASTION_TYPE, SYSTEM_DISK_GIB
from components.clouds.aws.prices.tables import AwsItem
from components.clouds.aws.versions import extended_soon, is_extended
from components.clouds.aws.words import LustreDeployment
from components.contract import clock
from components.plan.costs.bill import Amounts, Bill, CostKind
from components.plan.costs.infrastructure import FlatUse, Infrastructure, Nodes, fixed
from components.plan.plan import Plan
from components.plan.sections.costs import bill_of
from components.resources.aws.cluster_settings import ClusterSettings

from .clouds import CloudName
from .settings import Settings

_LUSTRE = {
    125: AwsItem.LUSTRE_125,
    250: AwsItem.LUSTRE_250,
    500: AwsItem.LUSTRE_500,
    1000: AwsItem.LUSTRE_1000,
}
EXISTING = "The cluster exists: its control plane and its own nodes are not included."


def environment_bill(settings: Settings, planned: Plan) -> Bill:
    """Return the bill of a stack.

    Args:
        settings: Its settings.
        planned: Its plan.
    """
    cloud = planned.environment.cloud
    # The day of the plan, so that its findings and its costs do not differ around midnight.
    today = cloud.nodes.now.date() if isinstance(cloud, AwsEnvironment) and cloud.nodes else clock.today()
    return bill_of(planned, paid=infrastructure(settings, today))


def infrastructure(settings: Settings, today: datetime.date) -> Infrastructure:
    """Return the billed infrastructure of a stack, except its models' nodes."""
    if settings.cloud != CloudName.AWS:
        return Infrastructure()
    cluster, network = settings.cluster, settings.network
    pool = settings.gpu_nodes.general_pool
    version = cluster.version, today, cluster.support, cluster.described_version
    return Infrastructure(
        zones=len(network.node_zones),
        control_planes=0 if cluster.existing else 1,
        extended_support=is_extended(*version),
        extended_from=None if cluster.existing else extended_soon(*version),
        nodes=() if cluster.existing else tuple(_nodes(cluster)),
        nat_gateways=network.addresses or 0,  # one public address each
        endpoints=len(set(network.interface_endpoints)) * len(network.node_zones),
        keys=0 if cluster.existing or cluster.secrets_key_arn else 1,
        further=tuple(_file_systems(settings)),
        general_vcpus=pool.max_vcpus if pool else 0,
        notes=(EXISTING,) if cluster.existing else (),
    )


def _nodes(cluster: ClusterSettings) -> Iterator[Nodes]:
    least, most = cluster.system_nodes, cluster.system_nodes_max or cluster.system_nodes
    counts = Amounts(Decimal(least), Decimal(least), Decimal(most))
    yield Nodes("system nodes", tuple(cluster.system_instance_types), counts, SYSTEM_DISK_GIB)
    if cluster.bastion:
        yield Nodes("bastion", (BASTION_TYPE,), fixed(1), BASTION_DISK_GIB)


def _file_systems(settings: Settings) -> Iterator[FlatUse]:
    """Yield the flat costs of new file systems: the throughput of EFS, the capacity of FSx."""
    efs, fsx = settings.model_cache.efs, settings.model_cache.fsx
    if efs and not efs.id and efs.mibps:
        yield FlatUse("EFS throughput", CostKind.STORAGE, AwsItem.EFS_THROUGHPUT, efs.mibps, "MiB/s")
    if fsx and not fsx.id:
        scratch = fsx.deployment == LustreDeployment.SCRATCH_2
        item = AwsItem.LUSTRE_SCRATCH if scratch else _LUSTRE[fsx.throughput]
        yield FlatUse("FSx for Lustre", CostKind.STORAGE, item, fsx.capacity_gib, "GiB")
