"""The settings of the front door and of hardening."""

from pydantic import Field

from ...checks.front_door.limits import BODY_SIZE, RateLimit
from ...checks.front_door.rollout import MIN_DRAIN, ProxyRollout
from ...checks.front_door.settings import MOST_REPLICAS, SUBJECT, Auth, Door, Tls
from ...checks.front_door.words import AuthKind, Exposure, IssuerKind, LimitUnit, TlsKind
from ...checks.hardening.settings import Hardening
from ...checks.hardening.words import PodSecurity, Priority
from ..section import Flag, Section


class TlsSettings(Section):
    """Where TLS is terminated, and with which certificate."""

    kind: TlsKind = TlsKind.NONE
    """Where TLS is terminated: nowhere (none), at the gateway (cert-manager) or at the load balancer (acm)."""
    issuer: str | None = None
    """Name of the cert-manager issuer. Use the DNS-01 challenge: port 80 is closed."""
    issuer_kind: IssuerKind = IssuerKind.CLUSTER
    """Whether the issuer is cluster-wide or in the gateway's namespace."""
    certificate_arn: str | None = None
    """ARN of an AWS Certificate Manager certificate for the host."""


class AuthSettings(Section):
    """How clients authenticate."""

    kind: AuthKind = AuthKind.NONE
    """Who may call the models: everyone, clients with a key, or clients with a token."""
    secrets: list[str] = Field(default_factory=list)
    """Secrets in the gateway's namespace; each entry of a Secret is the name and key of one client."""
    issuer: str | None = None
    """Issuer of the tokens."""
    jwks_uri: str | None = None
    """URL of the issuer's public keys."""
    audiences: list[str] = Field(default_factory=list)
    """Accepted audiences; a token must have one of them."""
    client_claim: str = SUBJECT
    """Claim of a token that identifies the client in the log and for limits."""

    def auth(self) -> Auth:
        audiences = tuple(self.audiences)
        return Auth(
            kind=self.kind,
            secrets=tuple(self.secrets),
            issuer=self.issuer,
            jwks_uri=self.jwks_uri,
            audiences=audiences,
            client_claim=self.client_claim,
        )


class RateLimitSettings(Section):
    """Rate limits of each client at the gateway."""

    requests: int | None = None
    """Requests per client and unit. Default: no limit."""
    tokens: int | None = None
    """Tokens of prompts and answers per client and unit; requires redis. Default: no limit."""
    unit: LimitUnit = LimitUnit.MINUTE
    """Unit of time: second, minute, hour or day."""
    redis: str | None = None
    """host:port of a Redis that counts for all proxies and models; rediss://host:port with TLS. Default: each proxy
    counts separately, per model."""

    def rate_limit(self) -> RateLimit:
        return RateLimit(self.requests, self.tokens, self.unit, self.redis)


class RolloutSettings(Section):
    """Replacement of proxies, and of pods behind load balancers."""

    drain_timeout: str | None = None
    """How long a terminating proxy waits for its requests. Default: requestTimeout plus minDrainDuration."""
    min_drain_duration: str = MIN_DRAIN
    """How long a terminating proxy accepts new connections, until load balancers send it none. Client connections
    that are idle for as long are closed."""
    idle_timeout: str | None = None
    """Idle timeout of connections at load balancers, from 60s to 6000s. With TLS at the load balancer it is always
    350s. Default: requestTimeout plus one minute, but at least 350s."""
    readiness_gates: Flag = True
    """Whether pods behind load balancers on AWS become Ready only once these reach them, after 3 to 5 minutes."""

    def rollout(self) -> ProxyRollout:
        return ProxyRollout(self.drain_timeout, self.min_drain_duration, self.idle_timeout, self.readiness_gates)


class FrontDoorSettings(Section):
    """How clients outside the cluster reach the models."""

    expose: Exposure = Exposure.NONE
    """How clients reach the models: not at all, at one address for all models, or at one address per model."""
    host: str | None = None
    """DNS name of the gateway."""
    tls: TlsSettings = Field(default_factory=TlsSettings.model_construct)
    """Where TLS is terminated, and with which certificate."""
    auth: AuthSettings = Field(default_factory=AuthSettings.model_construct)
    """How clients authenticate."""
    request_timeout: str = "10m"
    """Timeout of a whole request, such as 10m; long generations take minutes."""
    max_body_size: str = BODY_SIZE
    """Maximum size of requests, and of answers that are not streamed. Proxies buffer them in memory."""
    rate_limit: RateLimitSettings = Field(default_factory=RateLimitSettings.model_construct)
    """Rate limits of each client; clients are identified by their keys or tokens."""
    internal: Flag = False
    """Whether the gateway gets a private address."""
    access_log: Flag = True
    """Whether to log requests, without prompts and keys."""
    allow_anonymous: Flag = False
    """Whether a gateway on the internet may serve clients without authentication."""
    replicas: int = Field(default=2, ge=1, le=MOST_REPLICAS)
    """Proxy replicas of the gateway."""
    client_cidrs: list[str] = Field(default_factory=list)
    """CIDR ranges that may connect to load balancers. Default: for the load balancer of a model, the VPC; for a
    gateway, everyone who can reach it."""
    balancer_cidrs: list[str] = Field(default_factory=list)
    """With network policies: CIDR ranges from which load balancers connect to models. Default: on AWS, the created
    VPC; elsewhere none, because connections keep the client's address."""
    rollout: RolloutSettings = Field(default_factory=RolloutSettings.model_construct)
    """Replacement of proxies, and of pods behind load balancers, without interrupting requests."""

    def door(self) -> Door:
        tls = self.tls
        return Door(
            expose=self.expose,
            host=self.host,
            tls=Tls(tls.kind, tls.issuer, tls.issuer_kind, tls.certificate_arn),
            auth=self.auth.auth(),
            request_timeout=self.request_timeout,
            max_body_size=self.max_body_size,
            rate_limit=self.rate_limit.rate_limit(),
            internal=self.internal,
            access_log=self.access_log,
            allow_anonymous=self.allow_anonymous,
            replicas=self.replicas,
            client_cidrs=tuple(self.client_cidrs),
            balancer_cidrs=tuple(self.balancer_cidrs),
            rollout=self.rollout.rollout(),
        )


class HardeningSettings(Section):
    """Security and availability settings of the pods."""

    pod_security: PodSecurity = PodSecurity.NONE
    """Pod Security profile that pods meet as far as their images allow."""
    disruption_budgets: Flag = False
    """Whether a drain may evict only one replica at a time."""
    topology_spread: Flag = False
    """Whether replicas are spread over zones if possible."""
    priority: Priority | None = None
    """Priority of models that do not set one, which decides which others they may preempt. With none, pods have no
    PriorityClass, not even LLMKube's own. Default: that of the family, 10000 for LLMKube and 0 for all others."""
    network_policies: Flag = False
    """Whether only the gateway and the monitoring may connect to the models."""
    new_replicas_first: Flag = False
    """Whether updates start a new replica before they stop an old one (maxSurge 1, maxUnavailable 0), whatever the
    manifest says, except Recreate. They need room for one more replica. Has no effect on StatefulSets, and on pods
    that operators create."""

    def hardening(self) -> Hardening:
        return Hardening(
            pod_security=self.pod_security,
            disruption_budgets=self.disruption_budgets,
            topology_spread=self.topology_spread,
            priority=self.priority,
            new_replicas_first=self.new_replicas_first,
        )
