"""The words that say how a fleet is rendered."""

from ..contract.words import Word


class Realization(Word):
    """How a resource is deployed."""

    NATIVE = "native"
    """Rendered here, as plain Kubernetes objects."""
    OPERATOR = "operator"
    """Created as it is, for the upstream operator."""

    @property
    def is_native(self) -> bool:
        """Whether no operator takes part."""
        return self is Realization.NATIVE


class WorkloadChoice(Word):
    """Kind of workload for a replica."""

    AUTO = "auto"
    """A Deployment where a replica is one pod, a LeaderWorkerSet where it spans several."""
    LWS = "lws"
    """Always a LeaderWorkerSet, as llmaz does."""
    DEPLOYMENT = "deployment"
    """Always a Deployment; a replica that spans several pods is refused."""


class OtherKinds(Word):
    """What becomes of objects whose kinds are of no family."""

    ERROR = "error"
    """They are refused."""
    APPLY = "apply"
    """They are created as they are."""
    SKIP = "skip"
    """They are left out."""


class HeaderKind(Word):
    """How the value of a header is compared."""

    EXACT = "exact"
    """It is the text."""
    PREFIX = "prefix"
    """It begins with the text."""
    REGEX = "regex"
    """The regular expression is found in it."""


class Routing(Word):
    """What a gateway in front of the models does with requests."""

    WEIGHTS = "weights"
    """It divides them among backends."""
    HEADERS = "headers"
    """It chooses backends by their headers."""
    ADAPTERS = "adapters"
    """It sends those for an adapter to the backends that have it."""
    NAMES = "names"
    """It asks backends for the model by the name that they know."""


class Edition(Word):
    """Engine images for resources that do not name one."""

    UPSTREAM = "upstream"
    """The tags that the upstream projects ship; some of them float."""
    CURRENT = "current"
    """Newer tags of the same engines, none of them floating."""
