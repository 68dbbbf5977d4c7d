"""Settings of a stack on AWS: credentials, and the name of its gateway in Route 53."""

from typing import Annotated

from pydantic import Field, model_validator

from components.clouds.aws.access import ROLE, account_of
from components.clouds.aws.names import HOSTED_ZONE
from components.plan.section import Flag, Section
from components.plan.sections.timeouts import Duration

AccountId = Annotated[str, Field(pattern=r"^\d{12}$")]
"""Quoted in YAML, which would otherwise read a number, and change one with a leading 0."""
REGION = r"^[a-z]{2,4}(-[a-z]+)+-\d+$"


class CredentialsSettings(Section):
    """AWS credentials of Pulumi and the kubeconfig."""

    allowed_account_ids: list[AccountId] = Field(default_factory=list)
    """IDs of the AWS accounts that this stack may deploy to. With credentials of another account, it fails before any
    change. Default: all."""
    profile: str | None = None
    """AWS CLI profile. Default: the AWS CLI's own selection."""
    assume_role_arn: str | None = Field(default=None, pattern=ROLE)
    """ARN of the IAM role to assume. It creates the cluster, and therefore administers it. Default: none."""

    session_duration: Duration | None = None
    """How long the credentials of an update are valid, such as 3h: plans report longer waits. Default: unknown; an
    hour is what CI gets."""

    @model_validator(mode="after")
    def _role_of_an_allowed_account(self) -> "CredentialsSettings":
        role, allowed = self.assume_role_arn or "", self.allowed_account_ids
        if role and allowed and account_of(role) not in allowed:
            raise ValueError(f"assumeRoleArn: {role} is not in any of allowedAccountIds ({', '.join(allowed)})")
        return self


class AcmeSettings(Section):
    """An ACME issuer of cert-manager."""

    email: str = ""
    """Email address for notices of the certificate authority. Default: none."""
    server: str = Field(default="https://acme-v02.api.letsencrypt.org/directory", pattern=r"^https://\S+$")
    """Directory URL of the certificate authority. Default: Let's Encrypt."""


class DnsSettings(Section):
    """DNS of the gateway's name, frontDoor.host, in Route 53."""

    hosted_zone_id: str | None = Field(default=None, pattern=f"^{HOSTED_ZONE}$")
    """ID of the hosted zone of the name. The stack creates the gateway's record in it, and a role with which
    cert-manager solves DNS-01 challenges for the name. Default: neither."""
    record: Flag = True
    """Whether to create the record in the hosted zone."""
    acme: AcmeSettings | None = None
    """ACME issuer to create as the ClusterIssuer frontDoor.tls.issuer; {} is Let's Encrypt. Default: the issuer
    exists."""
