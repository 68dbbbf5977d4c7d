"""The settings about who reaches the models, and what their pods may do."""

from pydantic import Field

from ..front_door.settings import Auth, Door, Tls
from ..front_door.words import AuthKind, Exposure, IssuerKind, TlsKind
from ..hardening.words import PodSecurity, Priority
from ..hardening.workloads import Hardening
from .section import Flag, Section


class TlsSettings(Section):
    """Who encrypts, and with which certificate."""

    kind: TlsKind = TlsKind.NONE
    issuer: str | None = None
    issuer_kind: IssuerKind = IssuerKind.CLUSTER
    certificate_arn: str | None = None


class AuthSettings(Section):
    """Who may call."""

    kind: AuthKind = AuthKind.NONE
    secrets: list[str] = Field(default_factory=list)
    issuer: str | None = None
    jwks_uri: str | None = None
    audiences: list[str] = Field(default_factory=list)


class FrontDoorSettings(Section):
    """How clients outside the cluster reach the models."""

    expose: Exposure = Exposure.NONE
    host: str | None = None
    tls: TlsSettings = Field(default_factory=TlsSettings)
    auth: AuthSettings = Field(default_factory=AuthSettings)
    request_timeout: str = "10m"
    internal: Flag = False
    access_log: Flag = True
    allow_anonymous: Flag = False
    replicas: int = Field(default=2, ge=1)
    client_cidrs: list[str] = Field(default_factory=list)

    def door(self) -> Door:
        """Return what rendering works with."""
        tls, auth = self.tls, self.auth
        return Door(
            expose=self.expose,
            host=self.host,
            tls=Tls(tls.kind, tls.issuer, tls.issuer_kind, tls.certificate_arn),
            auth=Auth(auth.kind, tuple(auth.secrets), auth.issuer, auth.jwks_uri, tuple(auth.audiences)),
            request_timeout=self.request_timeout,
            internal=self.internal,
            access_log=self.access_log,
            allow_anonymous=self.allow_anonymous,
            replicas=self.replicas,
        )


class HardeningSettings(Section):
    """What pods and their workloads are held to."""

    pod_security: PodSecurity = PodSecurity.NONE
    disruption_budgets: Flag = False
    topology_spread: Flag = False
    priority: Priority | None = None
    network_policies: Flag = False

    def hardening(self) -> Hardening:
        """Return what rendering works with."""
        return Hardening(self.pod_security, self.disruption_budgets, self.topology_spread, self.priority)
