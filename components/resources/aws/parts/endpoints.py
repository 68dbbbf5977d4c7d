"""The VPC's own ways to AWS services, which do not cross the internet."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pulumi
from pulumi_aws import ec2, vpc

from .labels import Labels

_HTTPS = 443


@dataclass(frozen=True, slots=True)
class Endpoints:
    """Registers VPC endpoints.

    Attributes:
        region: AWS region.
        vpc_id: The VPC.
        label: Names and tags of the component.
    """

    region: str
    vpc_id: pulumi.Input[str]
    label: Labels

    def gateway(self, service: str, table_ids: Sequence[pulumi.Input[str]]) -> ec2.VpcEndpoint:
        """Register routes to a service."""
        return self._endpoint(service, "Gateway", route_table_ids=list(table_ids))

    def interfaces(
        self, services: Sequence[str], cidrs: Sequence[str], subnet_ids: Sequence[pulumi.Input[str]]
    ) -> list[ec2.VpcEndpoint]:
        """Register interfaces to services, which accept HTTPS from these ranges of the VPC alone."""
        if not services:
            return []
        label = self.label
        group = ec2.SecurityGroup(
            label.called("endpoints"),
            description=f"Interface endpoints of the cluster {label.cluster}",
            vpc_id=self.vpc_id,
            tags=label.tags("endpoints"),
            opts=label.child(),
        )
        suffixes = ("endpoints", "endpoints-pods")
        rules = [self._rule(suffix, group, cidr) for suffix, cidr in zip(suffixes, cidrs, strict=False)]
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

    def _rule(self, suffix: str, group: ec2.SecurityGroup, cidr: str) -> vpc.SecurityGroupIngressRule:
        return vpc.SecurityGroupIngressRule(
            self.label.called(suffix),
            security_group_id=group.id,
            cidr_ipv4=cidr,
            ip_protocol="tcp",
            from_port=_HTTPS,
            to_port=_HTTPS,
            description="HTTPS from within the VPC",
            tags=self.label.tags(suffix),
            opts=self.label.child(),
        )

    def _endpoint(
        self,
        service: str,
        kind: str,
        *after: pulumi.Resource,
        **settings: Any,  # noqa: ANN401  inputs of the kind
    ) -> ec2.VpcEndpoint:
        suffix = service.replace(".", "-")
        return ec2.VpcEndpoint(
            self.label.called(suffix),
            vpc_id=self.vpc_id,
            vpc_endpoint_type=kind,
            service_name=f"com.amazonaws.{self.region}.{service}",
            tags=self.label.tags(suffix),
            opts=self.label.child(*after),
            **settings,
        )
