"""VPC endpoints: private connections to AWS services."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pulumi
from pulumi_aws import ec2, vpc

from ....clouds.aws.api_server import HTTPS
from .common import Labels


@dataclass(frozen=True, slots=True)
class Endpoints:
    """Creates VPC endpoints.

    Attributes:
        region: AWS region.
        vpc_id: The VPC.
        label: Names and tags of the component.
        policies: Policy documents by service; endpoints without one allow all access.
    """

    region: str
    vpc_id: pulumi.Input[str]
    label: Labels
    policies: Mapping[str, Mapping[str, Any]]

    def gateway(self, service: str, table_ids: Sequence[pulumi.Input[str]]) -> ec2.VpcEndpoint:
        return self._endpoint(service, "Gateway", route_table_ids=list(table_ids))

    def interfaces(
        self, services: Sequence[str], cidrs: Sequence[str], subnet_ids: Sequence[pulumi.Input[str]]
    ) -> list[ec2.VpcEndpoint]:
        """Create interface endpoints that accept HTTPS only from these ranges: the VPC's, and that of the pods."""
        if not services:
            return []
        label = self.label
        group = ec2.SecurityGroup(
            label.logical("endpoints"),
            description=f"Interface endpoints of the cluster {label.cluster}",
            vpc_id=self.vpc_id,
            tags=label.tags("endpoints"),
            opts=label.child(),
        )
        suffixes = ("endpoints", "endpoints-pods")
        rules = [
            vpc.SecurityGroupIngressRule(
                label.logical(suffix),
                security_group_id=group.id,
                cidr_ipv4=cidr,
                ip_protocol="tcp",
                from_port=HTTPS,
                to_port=HTTPS,
                description="HTTPS from within the VPC",
                tags=label.tags(suffix),
                opts=label.child(),
            )
            for suffix, cidr in zip(suffixes, cidrs, strict=False)
        ]
        return [
            self._endpoint(
                service,
                "Interface",
                *rules,
                private_dns_enabled=True,
                security_group_ids=[group.id],
                subnet_ids=list(subnet_ids),
            )
            for service in services
        ]

    def _endpoint(
        self,
        service: str,
        kind: str,
        *after: pulumi.Resource,
        **settings: Any,  # noqa: ANN401  inputs of the kind
    ) -> ec2.VpcEndpoint:
        suffix = service.replace(".", "-")
        policy = self.policies.get(service)
        return ec2.VpcEndpoint(
            self.label.logical(suffix),
            vpc_id=self.vpc_id,
            vpc_endpoint_type=kind,
            service_name=f"com.amazonaws.{self.region}.{service}",
            policy=None if policy is None else json.dumps(policy, sort_keys=True),
            tags=self.label.tags(suffix),
            opts=self.label.child(*after),
            **settings,
        )
