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

    def settings(self, given: Mapping[str, Any] | None) -> Json:
        """Return the settings, with defaults for those that are not given."""
        defaults = {key: schema["default"] for key, schema in self.properties.items() if "default" in schema}
        return {**defaults, **(given or {})}


def _texts(description: str, *default: str) -> Json:
    return {"type": "array", "items": {"type": "string"}, "description": description, "default": list(default)}


_WIDEST = {
    "type": "integer",
    "minimum": 1,
    "maximum": 32,
    "description": "The shortest prefix that a range of IPv4 clients may have; of IPv6 ranges, twice as long",
    "default": 8,
}
BUDGET = Guardrail(
    "monthly-budget",
    "Monthly budget",
    "A stack costs no more a month than its budget.",
    "mandatory",
    "medium",
    {
        "maxUsdPerMonth": {"type": "number", "minimum": 0, "description": "US dollars a month; without it, no limit"},
        "when": {
            "type": "string",
            "enum": ["now", "min", "max"],
            "description": "Which number of replicas counts: that of now, or the least or most of autoscalers",
            "default": "max",
        },
        "usdPerHour": {
            "type": "object",
            "additionalProperties": {"type": "number", "minimum": 0},
            "description": "Price of instance types, for stacks without an output `cost`",
            "default": {},
        },
    },
)
INSTANCE_TYPES = Guardrail(
    "allowed-instance-types",
    "Allowed instance types",
    "Nodes are of instance types that are allowed.",
    "mandatory",
    "medium",
    {
        "allowed": _texts("Patterns of instance types, such as g6e.*", "*"),
        "denied": _texts("Patterns of instance types that are not allowed, whatever is"),
    },
)
REGIONS = Guardrail(
    "allowed-regions",
    "Allowed regions",
    "Everything is in regions that are allowed.",
    "mandatory",
    "high",
    {"allowed": _texts("Patterns of regions, such as eu-*", "*")},
)
CLUSTER_ACCESS = Guardrail(
    "cluster-access",
    "Access to the API server",
    "The API server of a cluster does not answer the whole internet.",
    "mandatory",
    "critical",
    {"widestPrefix": _WIDEST},
)
BALANCERS = Guardrail(
    "public-load-balancers",
    "Public load balancers",
    "Load balancers on the internet know their clients: by their addresses, or by what they present.",
    "mandatory",
    "high",
    {"widestPrefix": _WIDEST, "allowed": _texts("Services, Ingresses and EnvoyProxies, each as namespace/name")},
)
PROTECTION = Guardrail(
    "production-protection",
    "Protection in production",
    "What holds a production stack together does not go with a single command.",
    "mandatory",
    "high",
    {
        "stacks": _texts(
            "Patterns of the names of stacks that are production", "prod", "prod-*", "*-prod", "production"
        ),
        "protected": _texts(
            "Types of resources that Pulumi must protect",
            "aws:eks/cluster:Cluster",
            "aws:ec2/vpc:Vpc",
            "aws:kms/key:Key",
        ),
    },
)
TAGS = Guardrail(
    "required-tags",
    "Required tags",
    "Resources of AWS have the tags by which costs are told apart.",
    "advisory",
    "low",
    {
        "tags": _texts("Names of tags", "project", "environment"),
        "taggable": _texts(
            "Types of resources that must have tags; others are looked at if they have any",
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
