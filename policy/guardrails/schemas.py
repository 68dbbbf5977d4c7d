"""Metadata, settings and default values of the policies."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Guardrail:
    """Metadata and settings of a policy.

    Attributes:
        level: Default enforcement level: ``mandatory`` stops a deployment, ``advisory`` warns, ``disabled`` skips it.
        properties: JSON schema of each setting, with its default.
    """

    name: str
    title: str
    description: str
    level: str
    severity: str
    properties: Mapping[str, Json] = field(default_factory=dict)

    def settings(self, config: Mapping[str, Any] | None) -> Json:
        """Return the configured settings, completed with defaults."""
        defaults = {key: schema["default"] for key, schema in self.properties.items() if "default" in schema}
        return {**defaults, **(config or {})}


def _texts(description: str, *default: str) -> Json:
    return {"type": "array", "items": {"type": "string"}, "description": description, "default": list(default)}


_WIDEST = {
    "type": "integer",
    "minimum": 1,
    "maximum": 32,
    "description": "Minimum prefix length of a range of IPv4 clients; for IPv6 ranges, twice as much",
    "default": 8,
}
BUDGET = Guardrail(
    "monthly-budget",
    "Monthly budget",
    "The monthly cost of a stack is within its budget.",
    "mandatory",
    "medium",
    {
        "maxUsdPerMonth": {
            "type": "number",
            "minimum": 0,
            "description": "Maximum in US dollars a month. Default: no limit",
        },
        "when": {
            "type": "string",
            "enum": ["now", "min", "max"],
            "description": "Number of replicas to price: the current one, or the minimum or maximum of autoscalers",
            "default": "max",
        },
        "usdPerHour": {
            "type": "object",
            "additionalProperties": {"type": "number", "minimum": 0},
            "description": "Prices by instance type, for stacks without an output `cost`",
            "default": {},
        },
    },
)
INSTANCE_TYPES = Guardrail(
    "allowed-instance-types",
    "Allowed instance types",
    "Nodes have allowed instance types.",
    "mandatory",
    "medium",
    {
        "allowed": _texts("Patterns of instance types, such as g6e.*", "*"),
        "denied": _texts("Patterns of instance types to reject, even if `allowed` matches"),
    },
)
REGIONS = Guardrail(
    "allowed-regions",
    "Allowed regions",
    "Resources are in allowed regions.",
    "mandatory",
    "high",
    {"allowed": _texts("Patterns of regions, such as eu-*", "*")},
)
CLUSTER_ACCESS = Guardrail(
    "cluster-access",
    "Access to the API server",
    "The API server of a cluster is not open to the whole internet.",
    "mandatory",
    "critical",
    {"widestPrefix": _WIDEST},
)
BALANCERS = Guardrail(
    "public-load-balancers",
    "Public load balancers",
    "Internet-facing load balancers restrict the addresses of their clients, or authenticate them.",
    "mandatory",
    "high",
    {
        "widestPrefix": _WIDEST,
        "allowed": _texts("Exceptions: Services, Ingresses and EnvoyProxies, each as namespace/name"),
    },
)
PROTECTION = Guardrail(
    "production-protection",
    "Protection in production",
    "Critical resources of production stacks are protected against deletion.",
    "mandatory",
    "high",
    {
        "stacks": _texts("Patterns of the names of production stacks", "prod", "prod-*", "*-prod", "production"),
        "protected": _texts(
            "Resource types that need Pulumi's option `protect`",
            "aws:eks/cluster:Cluster",
            "aws:ec2/vpc:Vpc",
            "aws:kms/key:Key",
        ),
    },
)
TAGS = Guardrail(
    "required-tags",
    "Required tags",
    "AWS resources have the tags that are required to allocate costs.",
    "advisory",
    "low",
    {
        "tags": _texts("Names of tags", "project", "environment"),
        "taggable": _texts(
            "Resource types that must have the tags; resources of other types are checked if they have any tags",
            "aws:ec2/instance:Instance",
            "aws:ec2/launchTemplate:LaunchTemplate",
            "aws:ec2/natGateway:NatGateway",
            "aws:ec2/vpc:Vpc",
            "aws:efs/fileSystem:FileSystem",
            "aws:eks/cluster:Cluster",
            "aws:eks/nodeGroup:NodeGroup",
            "aws:fsx/lustreFileSystem:LustreFileSystem",
            "aws:kms/key:Key",
            "aws:s3/bucket:Bucket",
        ),
    },
)
