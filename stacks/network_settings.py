"""Settings of a stack's network."""

from pydantic import Field, model_validator

from components.clouds.aws.reach import Exits
from components.clouds.aws.words import NatGateways
from components.plan.section import Flag
from components.resources.aws.network_settings import NetworkSettings

_S3 = "s3"


class StackNetwork(NetworkSettings):
    """A new or existing VPC, and what is known of its routes."""

    internet_access: Flag | None = None
    """Whether the private subnets reach the internet over IPv4. With false, plans report what nodes and pods cannot
    reach. With true, they do not, although natGateways is none: another route leads there, such as a transit gateway.
    Default: by natGateways; unknown, and not checked, for an existing VPC."""
    existing_endpoints: list[str] = Field(default_factory=list)
    """AWS services with an endpoint in the VPC that the stack does not create, such as s3 and ecr.api of an existing
    VPC. Default: none."""

    @model_validator(mode="after")
    def _consistent(self) -> "StackNetwork":
        twice = [service for service in self.existing_endpoints if service in self.interface_endpoints]
        if twice:
            raise ValueError(
                f"existingEndpoints: {', '.join(twice)} would have a second endpoint in the VPC, which AWS rejects, "
                "because both have the same private DNS name; remove it here or from interfaceEndpoints"
            )
        if self.internet_access is False and not self.vpc_id and self.nat_gateways != NatGateways.NONE:
            raise ValueError(
                "internetAccess: is false, but the VPC has NAT gateways; set natGateways: none, or remove it"
            )
        return self

    @property
    def exits(self) -> Exits:
        """The ways out of the private subnets, as far as they are known."""
        endpoints = {*self.interface_endpoints, *self.existing_endpoints}
        internet = self.internet_access
        if internet is None and not self.vpc_id:
            internet = self.nat_gateways != NatGateways.NONE
        if not self.vpc_id:
            endpoints.add(_S3)
        return Exits(internet, frozenset(endpoints), owned=not self.vpc_id, ipv6=self.ipv6 and not self.vpc_id)
