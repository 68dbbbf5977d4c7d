"""Settings of the front door, and their validation."""

import ipaddress
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from ...contract.findings.ids import RuleId
from ...contract.names import is_dns1035_label, is_dns1123_label, is_dns1123_subdomain
from ...contract.problems import Problem
from ...contract.texts.durations import is_duration, seconds
from ...fleet.load_balancers import BalancerSeconds, LoadBalancers
from .limits import BODY_SIZE, NO_LIMIT, RateLimit, check_body_size, check_rate_limit
from .report import Report
from .rollout import AFTER_DRAIN, NO_CHANGES, ProxyRollout
from .words import AuthKind, Exposure, IssuerKind, TlsKind

ENVOY_NAMESPACE = "envoy-gateway-system"
"""Namespace of Envoy Gateway and of all its proxies, whatever the namespace of their Gateway."""
ENVOY_GATEWAY = "envoy-gateway"
ENVOY_AI_GATEWAY = "ai-gateway"
CERT_MANAGER = "cert-manager"
"""Charts that a front door needs, in addition to load balancers."""

MOST_REPLICAS = 2**31 - 1
"""Kubernetes counts replicas in 32 bits."""
_HTTPS = re.compile(r"https://(?P<host>[^/:@?#\s]+)(:[0-9]{1,5})?(/[^\s#]*)?\Z", re.ASCII)
SUBJECT = "sub"
"""The subject claim (RFC 7519, 4.1.2)."""
_CLAIM = re.compile(r"[!-~]{1,253}\Z", re.ASCII)
_LONGEST_TEXT = 253
_MOST_AUDIENCES = 8
"""Bounds of ``JWTProvider`` and ``RemoteJWKS`` (Envoy Gateway, gateway.envoyproxy.io/v1alpha1)."""


@dataclass(frozen=True, slots=True)
class Tls:
    """TLS termination and certificate.

    Attributes:
        issuer: Name of the cert-manager issuer, with the DNS-01 challenge: port 80 is closed.
        certificate_arn: A certificate of AWS Certificate Manager for the host.
    """

    kind: TlsKind = TlsKind.NONE
    issuer: str | None = None
    issuer_kind: IssuerKind = IssuerKind.CLUSTER
    certificate_arn: str | None = None


class Acme(NamedTuple):
    """An ACME account for certificates, with the DNS-01 challenge.

    Attributes:
        solver: Solver of cert-manager, as in an issuer.
        server: Directory URL of the certificate authority.
        email: Contact address for the authority; empty for none.
    """

    solver: Mapping[str, Any]
    server: str
    email: str = ""


@dataclass(frozen=True, slots=True)
class Auth:
    """How clients authenticate.

    Attributes:
        secrets: Secrets in the namespace of the gateway; each entry is a client's name and key (without ``Bearer``).
        issuer: Issuer of the tokens.
        jwks_uri: URL of the issuer's public keys.
        audiences: Accepted audiences; a token needs one of them.
        client_claim: Claim that identifies the client.
    """

    kind: AuthKind = AuthKind.NONE
    secrets: tuple[str, ...] = ()
    issuer: str | None = None
    jwks_uri: str | None = None
    audiences: tuple[str, ...] = ()
    client_claim: str = SUBJECT


@dataclass(frozen=True, slots=True)
class Door:
    """Settings of the access from outside the cluster.

    Attributes:
        host: DNS name of the gateway.
        request_timeout: Timeout of a whole answer. Long generations take minutes; upstream's default is 60 seconds.
        max_body_size: Largest request, and largest answer that is not streamed; prompts may contain images.
        rate_limit: Limits per client.
        namespace: Namespace of the gateway, its routes and the Secrets with keys.
        internal: Whether the address is in the private network.
        access_log: Whether the gateway logs each request, with model and tokens, to stdout.
        allow_anonymous: Whether a public gateway may serve unauthenticated clients.
        name: Name of the gateway and its objects.
        replicas: Proxy replicas.
        client_cidrs: Ranges that may connect to load balancers; empty for the default of each.
        balancer_cidrs: Ranges from which load balancers connect to models; empty for the known ones.
        rollout: How proxies, and pods behind load balancers, are replaced.
        acme: ACME account of the issuer to create; None if the issuer exists.
        awaited: Whether the gateway counts as created only once its load balancer has an address.
    """

    expose: Exposure = Exposure.NONE
    host: str | None = None
    tls: Tls = Tls()
    auth: Auth = Auth()
    request_timeout: str = "10m"
    max_body_size: str = BODY_SIZE
    rate_limit: RateLimit = NO_LIMIT
    namespace: str = ENVOY_NAMESPACE
    internal: bool = False
    access_log: bool = True
    allow_anonymous: bool = False
    name: str = "inference-gateway"
    replicas: int = 2
    client_cidrs: tuple[str, ...] = ()
    balancer_cidrs: tuple[str, ...] = ()
    rollout: ProxyRollout = NO_CHANGES
    acme: Acme | None = None
    awaited: bool = False

    @property
    def longest_request(self) -> int | None:
        """Seconds that a request may take; None if nothing limits them, or if the setting is invalid."""
        if self.expose == Exposure.NONE or not is_duration(self.request_timeout):
            return None
        return seconds(self.request_timeout)

    @property
    def drain_seconds(self) -> int:
        """How long a terminating proxy waits for its requests, in seconds."""
        return self.rollout.drain_seconds(self.request_timeout)

    @property
    def proxy_grace(self) -> int:
        """Termination grace period of a proxy, in seconds; 0 without proxies, or if the setting is invalid."""
        return 0 if self.longest_request is None else self.drain_seconds + AFTER_DRAIN

    def balancer_seconds(self, balancers: LoadBalancers) -> BalancerSeconds:
        """Return idle timeout and deregistration delay of load balancers, in seconds and within their bounds."""
        deregistration = self.rollout.deregistration_seconds(self.request_timeout, balancers)
        return BalancerSeconds(deregistration, self.rollout.idle_seconds(self.request_timeout, balancers))


def check_door(door: Door, file: str, balancers: LoadBalancers) -> tuple[Problem, ...]:
    """Return every problem of the settings; none without exposure."""
    report = Report(file)
    if door.expose == Exposure.NONE:
        return ()
    _check_common_fields(door, report)
    _check_tls(door.tls, report, balancers)
    _check_auth(door.auth, report)
    if door.expose == Exposure.GATEWAY:
        _check_gateway(door, report)
    else:
        _check_load_balancers(door, report)
    return tuple(report.problems)


def _check_common_fields(door: Door, report: Report) -> None:
    if not is_dns1035_label(door.name):
        report.error(
            "name", f"must be lower-case letters, digits and '-', starting with a letter, found {door.name!r}"
        )
    if not is_dns1123_label(door.namespace):
        report.error("namespace", f"must be lower-case letters, digits and '-', found {door.namespace!r}")
    if door.host is not None and not is_host(door.host):
        report.error("host", f"must be a DNS name such as models.example.com, found {door.host!r}")
    if not is_duration(door.request_timeout):
        report.error("requestTimeout", f"must be a duration such as 10m or 1h30m, found {door.request_timeout!r}")
    check_body_size(door.max_body_size, report)
    check_rate_limit(door.rate_limit, report)
    if door.replicas < 1:
        report.error("replicas", f"must be at least 1, found {door.replicas}")
    if door.replicas > MOST_REPLICAS:
        report.error("replicas", f"must be at most {MOST_REPLICAS}, found {door.replicas}")


def is_host(text: str) -> bool:
    """Return whether a text is a fully qualified DNS name, not an IP address, wildcard or single label."""
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return "." in text and is_dns1123_subdomain(text)
    return False


def _check_tls(tls: Tls, report: Report, balancers: LoadBalancers) -> None:
    if tls.kind == TlsKind.CERT_MANAGER:
        if not tls.issuer:
            report.error("tls.issuer", "is required with cert-manager; name the issuer of the certificate")
        elif not is_dns1123_subdomain(tls.issuer):
            report.error("tls.issuer", f"must be the name of an issuer, found {tls.issuer!r}")
    elif tls.issuer:
        report.error("tls.issuer", f"has no effect with tls '{tls.kind}'; remove it, or set tls to 'cert-manager'")
    if tls.kind == TlsKind.ACM:
        if not tls.certificate_arn:
            report.error(
                "tls.certificateArn", "is required with acm; set it to the ARN of the certificate for the host"
            )
        elif not balancers.is_certificate(tls.certificate_arn):
            report.error(
                "tls.certificateArn",
                f"must be of the form {balancers.certificate_form}, found {tls.certificate_arn!r}",
            )
    elif tls.certificate_arn:
        report.error("tls.certificateArn", f"has no effect with tls '{tls.kind}'; remove it, or set tls to 'acm'")


def _check_auth(auth: Auth, report: Report) -> None:
    if auth.kind == AuthKind.API_KEY:
        if not auth.secrets:
            report.error("auth.secrets", "is required with api-key; name a Secret with one key per client")
        for index, name in enumerate(auth.secrets):
            if not is_dns1123_subdomain(name):
                report.error(f"auth.secrets[{index}]", f"must be the name of a Secret, found {name!r}")
            elif name in auth.secrets[:index]:
                report.error(f"auth.secrets[{index}]", f"{name!r} is listed twice; remove one")
    elif auth.secrets:
        report.error("auth.secrets", f"have no effect with auth '{auth.kind}'; remove them, or set auth to 'api-key'")
    if auth.kind == AuthKind.JWT:
        _check_jwt(auth, report)
        return
    jwt_fields = (
        ("issuer", auth.issuer),
        ("jwksUri", auth.jwks_uri),
        ("audiences", auth.audiences),
        ("clientClaim", None if auth.client_claim == SUBJECT else auth.client_claim),
    )
    for field, value in jwt_fields:
        if value:
            report.error(f"auth.{field}", f"has no effect with auth '{auth.kind}'; remove it, or set auth to 'jwt'")


def _check_jwt(auth: Auth, report: Report) -> None:
    if not auth.issuer:
        report.error("auth.issuer", "is required with jwt; without it, tokens of any issuer would be accepted")
    elif len(auth.issuer) > _LONGEST_TEXT:
        report.error("auth.issuer", f"must be at most {_LONGEST_TEXT} characters, found {len(auth.issuer)}")
    if not auth.jwks_uri:
        report.error("auth.jwksUri", "is required with jwt; set it to the URL of the issuer's keys")
    elif not _is_https(auth.jwks_uri):
        report.error("auth.jwksUri", f"must be an https URL, found {auth.jwks_uri!r}")
    if not auth.audiences:
        report.error(
            "auth.audiences", "is required with jwt; without it, a token for another service would be accepted"
        )
    elif len(auth.audiences) > _MOST_AUDIENCES:
        report.error("auth.audiences", f"must be at most {_MOST_AUDIENCES}, found {len(auth.audiences)}")
    if not _CLAIM.match(auth.client_claim):
        report.error("auth.clientClaim", f"must be the name of a claim such as sub, found {auth.client_claim!r}")


def _is_https(text: str) -> bool:
    match = _HTTPS.match(text)
    return match is not None and is_dns1123_subdomain(match["host"].lower()) and len(text) <= _LONGEST_TEXT


def _check_gateway(door: Door, report: Report) -> None:
    if door.tls.kind != TlsKind.NONE and not door.host:
        report.error("host", f"is required with tls '{door.tls.kind}'; set it to the name in the certificate")
    anonymous = door.auth.kind == AuthKind.NONE
    if door.allow_anonymous and not anonymous:
        report.error("allowAnonymous", f"contradicts auth '{door.auth.kind}'; remove one of the two")
    if door.internal:
        if anonymous and not door.allow_anonymous:
            report.warn(
                "auth", "is 'none': everyone in the private network may call every model", RuleId.ACCESS_ANONYMOUS
            )
        if not anonymous and door.tls.kind == TlsKind.NONE:
            report.warn(
                "tls",
                f"is 'none': with auth '{door.auth.kind}', credentials cross the network in clear text",
                RuleId.ACCESS_CLEAR_TEXT,
            )
        return
    if door.tls.kind == TlsKind.NONE:
        report.error(
            "tls", "is 'none' on a public address; set it to 'cert-manager' or 'acm', or set internal to true"
        )
    if anonymous and not door.allow_anonymous:
        report.error(
            "auth",
            "is 'none' on a public address; set it to 'api-key' or 'jwt', set internal to true, or set "
            "allowAnonymous to true to let everyone on the internet use the models",
        )


def _check_load_balancers(door: Door, report: Report) -> None:
    # A load balancer forwards TCP: it can neither check keys nor route by model.
    if not door.internal:
        report.error(
            "internal",
            "must be true with expose 'load-balancer', which has no authentication; set it to true, or use "
            "expose 'gateway'",
        )
    for field, kind, none in (
        ("auth", door.auth.kind, AuthKind.NONE),
        ("tls", door.tls.kind, TlsKind.NONE),
    ):
        if kind != none:
            report.error(field, f"'{kind}' requires expose 'gateway'; a load balancer per model only forwards TCP")
    if door.host:
        report.error("host", "has no effect with expose 'load-balancer': each model has its own address; remove it")
    if door.rate_limit != NO_LIMIT:
        report.error("rateLimit", "requires expose 'gateway'; a load balancer per model only forwards TCP")
    if door.max_body_size != BODY_SIZE:
        report.error("maxBodySize", "has no effect with expose 'load-balancer', which only forwards TCP; remove it")
