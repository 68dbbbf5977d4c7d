"""Options of the front door."""

from ...contract.words import Word


class Exposure(Word):
    """How clients outside the cluster reach the models."""

    NONE = "none"
    """Not at all."""
    GATEWAY = "gateway"
    """One address for all models."""
    LOAD_BALANCER = "load-balancer"
    """One address per model."""


class TlsKind(Word):
    """TLS of the gateway."""

    NONE = "none"
    """No TLS."""
    CERT_MANAGER = "cert-manager"
    """The gateway, with a certificate of cert-manager."""
    ACM = "acm"
    """The load balancer, with a certificate of AWS Certificate Manager."""


class IssuerKind(Word):
    """Where cert-manager looks for an issuer."""

    CLUSTER = "ClusterIssuer"
    """In the whole cluster."""
    NAMESPACE = "Issuer"
    """In the namespace of the gateway."""


class LimitUnit(Word):
    """Per what time a limit is."""

    SECOND = "second"
    """A second."""
    MINUTE = "minute"
    """A minute."""
    HOUR = "hour"
    """An hour."""
    DAY = "day"
    """A day."""


class AuthKind(Word):
    """How clients authenticate."""

    NONE = "none"
    """Everybody who reaches the address."""
    API_KEY = "api-key"
    """Who has a key, sent as ``Authorization: Bearer KEY`` as OpenAI's clients do."""
    JWT = "jwt"
    """Who has a token of an issuer."""
