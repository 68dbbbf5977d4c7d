"""Settings of a stack on AWS: credentials, and the name of its gateway in Route 53."""

from typing import Annotated

from pydantic import Field, model_validator

from components.clouds.aws.access import ROLE, account_of
from components.clouds.aws.names import HOSTED_ZONE
from components.plan.section import Flag, Section

AccountId = Annotated[str, Field(pattern=r"^\d{12}$")]
"""In quotes: YAML reads a number otherwise, and one that begins with 0 as another."""
REGION = r"^[a-z]{2,4}(-[a-z]+)+-\d+$"


class CredentialsSettings(Section):
    """As whom AWS is used, by Pulumi and in the kubeconfig alike."""

    allowed_account_ids: list[AccountId] = Field(default_factory=list)
    """Accounts in which this stack may work: with credentials of any other, nothing is done. Default: all."""
    profile: str | None = None
    """Profile of AWS' own tools. Default: what the environment says."""
    assume_role_arn: str | None = Field(default=None, pattern=ROLE)
    """IAM role to take with these credentials. It creates the cluster and administers it."""

    @model_validator(mode="after")
    def _role_of_an_allowed_account(self) -> "CredentialsSettings":
        role, allowed = self.assume_role_arn or "", self.allowed_account_ids
        if role and allowed and account_of(role) not in allowed:
            raise ValueError(f"assumeRoleArn: {role} is in none of allowedAccountIds ({', '.join(allowed)})")
        return self


class AcmeSettings(Section):
    """An ACME issuer of cert-manager."""

    email: str = ""
    """Where the certificate authority sends notices. Default: none."""
    server: str = Field(default="https://acme-v02.api.letsencrypt.org/directory", pattern=r"^https://\S+$")
    """Directory of the certificate authority. Default: Let's Encrypt."""


class DnsSettings(Section):
    """The name of the gateway, frontDoor.host, in Route 53."""

    hosted_zone_id: str | None = Field(default=None, pattern=f"^{HOSTED_ZONE}$")
    """Hosted zone that the name belongs to. The gateway then gets its record in it, and cert-manager a role to answer
    DNS-01 challenges for the name. Default: neither."""
    record: Flag = True
    """Whether the record is made here, where the zone is known."""
    acme: AcmeSettings | None = None
    """Makes the ClusterIssuer of frontDoor.tls.issuer: {} is Let's Encrypt. Default: the issuer exists."""
