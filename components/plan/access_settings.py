"""The settings about who reaches the models, and what their pods may do."""

from pydantic import Field

from ..front_door.settings import Auth, Door, Tls
from ..front_door.words import AuthKind, Exposure, IssuerKind, TlsKind
from ..hardening.words import PodSecurity, Priority
from ..hardening.workloads import Hardening
from .section import Flag, Section


class TlsSettings(Section):
    """Where TLS ends, and with which certificate."""

    kind: TlsKind = TlsKind.NONE
    """Who encrypts: nobody, the gateway (cert-manager) or the load balancer (acm)."""
    issuer: str | None = None
    """Name of cert-manager's issuer. It must not need port 80, which is closed: DNS-01 does not."""
    issuer_kind: IssuerKind = IssuerKind.CLUSTER
    """Whether the issuer is one of the whole cluster or of the gateway's namespace."""
    certificate_arn: str | None = None
    """ARN of a certificate of AWS Certificate Manager for the host."""


class AuthSettings(Section):
    """How clients authenticate."""

    kind: AuthKind = AuthKind.NONE
    """Who may call: everybody, whoever has a key, or whoever has a token."""
    secrets: list[str] = Field(default_factory=list)
    """Secrets in the gateway's namespace; each entry is a client's name and key."""
    issuer: str | None = None
    """Who signs the tokens."""
    jwks_uri: str | None = None
    """URL of the issuer's public keys."""
    audiences: list[str] = Field(default_factory=list)
    """Audiences that a token may be issued for; one of them is enough."""


class FrontDoorSettings(Section):
    """How clients outside the cluster reach the models."""

    expose: Exposure = Exposure.NONE
    """How models are reached: not at all, by one address for all, or by one address per model."""
    host: str | None = None
    """DNS name of the gateway."""
    tls: TlsSettings = Field(default_factory=TlsSettings)
    """Where TLS ends, and with which certificate."""
    auth: AuthSettings = Field(default_factory=AuthSettings)
    """How clients authenticate."""
    request_timeout: str = "10m"
    """Time for a whole answer, such as 10m; long generations take minutes."""
    internal: Flag = False
    """Whether the address is one of the private network."""
    access_log: Flag = True
    """Whether each request is logged, without prompts and keys."""
    allow_anonymous: Flag = False
    """Whether a gateway on the internet may serve everybody."""
    replicas: int = Field(default=2, ge=1)
    """Proxies of the gateway."""
    client_cidrs: list[str] = Field(default_factory=list)
    """Address ranges that may call a load balancer. Default: the VPC."""

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
    """Security and availability settings of the pods."""

    pod_security: PodSecurity = PodSecurity.NONE
    """Profile of the Pod Security Standards that pods meet as far as their images allow."""
    disruption_budgets: Flag = False
    """Whether a drain may take only one replica at a time."""
    topology_spread: Flag = False
    """Whether replicas are spread over zones, where there is room."""
    priority: Priority | None = None
    """Which other models make room for these. Default: no priority class."""
    network_policies: Flag = False
    """Whether only the gateway and the monitoring reach the models."""

    def hardening(self) -> Hardening:
        """Return what rendering works with."""
        return Hardening(self.pod_security, self.disruption_budgets, self.topology_spread, self.priority)
