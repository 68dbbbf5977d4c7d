"""Enums and capability names that describe how a fleet is rendered."""

from ..contract.words import Word


class Realization(Word):
    """How a resource is deployed."""

    NATIVE = "native"
    """Rendered as plain Kubernetes objects."""
    OPERATOR = "operator"
    """Created unchanged, for the upstream operator."""

    @property
    def is_native(self) -> bool:
        return self is Realization.NATIVE


class WorkloadChoice(Word):
    """Kind of workload for a replica."""

    AUTO = "auto"
    """A Deployment where a replica is one pod, a LeaderWorkerSet where it spans several."""
    LWS = "lws"
    """Always a LeaderWorkerSet, as llmaz does."""
    DEPLOYMENT = "deployment"
    """Always a Deployment; replicas that span several pods are rejected."""


class OtherKinds(Word):
    """How objects of unsupported kinds are handled."""

    ERROR = "error"
    """Reject them."""
    APPLY = "apply"
    """Create them unchanged."""
    SKIP = "skip"
    """Leave them out."""


class HeaderKind(Word):
    """How a header value is matched."""

    EXACT = "exact"
    """The value equals the text."""
    PREFIX = "prefix"
    """The value starts with the text."""
    REGEX = "regex"
    """The regular expression matches somewhere in the value."""


class Routing(Word):
    """A routing feature that only a gateway in front of the models provides."""

    WEIGHTS = "weights"
    """Split requests among backends by weight."""
    HEADERS = "headers"
    """Select backends by request headers."""
    ADAPTERS = "adapters"
    """Send requests for an adapter to the backends that serve it."""
    NAMES = "names"
    """Rewrite the model name to the one that the backend serves."""


class Edition(Word):
    """Edition of the engine images for resources that do not name one."""

    UPSTREAM = "upstream"
    """The tags that the upstream projects ship; some of them float."""
    CURRENT = "current"
    """Newer, fixed tags of the same engines."""


# Capabilities that a cluster must provide: one of these, or the name of a prerequisite chart.
LEADER_WORKER_SET = "leaderworkerset"
RESOURCE_METRICS = "metrics-server"
CUSTOM_METRICS = "custom-metrics"
EXTERNAL_METRICS = "external-metrics"
