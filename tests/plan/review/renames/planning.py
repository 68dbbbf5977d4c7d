"""Revisions that are planned from manifests, on AWS."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from components.clouds.aws.environment import AwsEnvironment
from components.clouds.aws.nodes.settings_location import SettingsLocation
from components.families import parse
from components.fleet.options import Options
from components.plan.environment import Environment
from components.plan.plan import plan
from components.plan.prerequisites.charts import CLUSTER_AUTOSCALER
from components.plan.prerequisites.needed import ClusterFacts
from components.plan.review.planned import snapshot_of
from components.plan.review.snapshot import Snapshot
from components.plan.sections.costs import bill_of
from components.resources.aws.node_settings import NodeSettings


def planned(
    manifests: str,
    *,
    most: Mapping[str, int] = MappingProxyType({}),
    zones: Sequence[str] = (),
    namespace: str = "models",
    file: str = "models.yaml",
) -> Snapshot:
    """Plan manifests for a cluster of its own.

    Args:
        manifests: What is planned, as YAML.
        most: The most nodes of an instance type.
        zones: Where GPU nodes are.
        namespace: Of what names none.
        file: Where the manifests are.
    """
    settings = NodeSettings.model_validate(
        {"types": {name: {"maxNodes": number} for name, number in most.items()}, "zones": [*zones]}
    )
    nodes = settings.environment("us-east-1", ["us-east-1a", "us-east-1b"], "1.35", {}, SettingsLocation())
    environment = Environment(
        options=Options(namespace=namespace, tolerates_devices=True),
        cluster=ClusterFacts(version="1.35", node_autoscaler=CLUSTER_AUTOSCALER),
        install=True,
        cloud=AwsEnvironment("us-east-1", nodes, system_types=("m7i.large",)),
    )
    found = plan(parse(manifests, file), environment)
    return snapshot_of(found, "dev", bill_of(found))
